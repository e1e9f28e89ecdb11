/* Measures the time for a body in a fluid, for ellipsoids of 10^3 to 10^6 vertices.
 *
 * Kernels: the program prints nanoseconds per triangle, and the arithmetic limit as a fraction of this time. The limit
 * is the number of operations of the kernel times the time of one operation. An addition, a product, or a fused pair of
 * both counts as one operation. The time of an operation is measured with a loop of independent fused operations.
 *
 * Steps: these are steps of hamilton_pontryagin in water with gravity, in microseconds per 1000 vertices. The body is
 * rigid, or its poses come from a sequence or from expressions. A step includes poses, the mass of the moving shape,
 * added mass, buoyancy, and lift and drag at each iteration of Newton's method.
 *
 * Fluids: the rigid body with about 8000 triangles makes the same steps in flows and media that vary with position or
 * time. These times have no target.
 *
 * Leaves: a thousand leaves of 256 triangles fall in wind with steps of 1/200 s, on at most 16 processors. The result
 * is the ratio of simulated to real time. */
#include "bench.h"
#include "core/threads.h"
#include "fluid/immersed_run.h"
#include "fluid_mesh.h"

enum { SIZES = 4, KERNELS = 3, KINDS = 3, FLUIDS = 8, POSES = 8, LEAVES = 1000, LEAF_STEPS = 10 };
typedef double vector[3];

/* --- kernels --- */

typedef struct subject {
  cb_local *l;
  cb_surface *s;
  vector *v;
  double F[6], J[6][6];
  int turns;
} subject;
static const double Y[6] = {0.1, 0.2, 0.3, 1, 2, 3}, wind[3] = {0.5, 0, 0};

static void pose(void *self) {
  subject *t = self;
  for (int i = 0; i < t->turns; i++) cb_local_pose(t->l, (const vector *)t->s->x, (const vector *)t->v);
}
static void force(void *self) {
  subject *t = self;
  for (int i = 0; i < t->turns; i++) cb_local_drag(t->l, &(cb_local_stream){.rho1 = 998, .flow1 = wind}, Y, t->F, NULL);
}
static void jacobian(void *self) {
  subject *t = self;
  for (int i = 0; i < t->turns; i++) cb_local_drag(t->l, &(cb_local_stream){.rho1 = 998, .flow1 = wind}, Y, t->F, t->J);
}

/* The number of operations per triangle in local_kernel.h, for small bending angles. */
static const struct {
  const char *name;
  void (*run)(void *);
  double operations;
} kernels[KERNELS] = {{"pose, masses, angles", pose, 312}, {"force", force, 55}, {"force and Jacobian", jacobian, 112}};

/* Receives results, so that a compiler does not remove the loop that measures the time of an operation. */
static volatile double sink;
#if defined(__x86_64__)
#include <immintrin.h>
#define LIMIT(name, isa, vector, width, fused, spread)                                                               \
  __attribute__((target(isa))) static void name(void *self) {                                                        \
    vector a[10], m = spread(0.999), c = spread(*(double *)self);                                                    \
    for (int i = 0; i < 10; i++) a[i] = spread(i);                                                                   \
    for (int n = 0; n < 100000; n++) _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) a[i] = fused(a[i], m, c); \
    for (int i = 1; i < 10; i++) a[0] += a[i];                                                                       \
    sink = a[0][0];                                                                                                  \
  }
LIMIT(limit_avx512, "avx512f", __m512d, 8, _mm512_fmadd_pd, _mm512_set1_pd)
LIMIT(limit_avx2, "avx2,fma", __m256d, 4, _mm256_fmadd_pd, _mm256_set1_pd)
#endif
static void limit_any(void *self) {
  double a[10] = {0}, c = *(double *)self;
  for (int n = 0; n < 100000; n++)
    for (int i = 0; i < 10; i++) a[i] = a[i] * 0.999 + c;
  for (int i = 0; i < 10; i++) sink = a[i];
}

/* --- steps --- */

typedef struct walker {
  cb_immersed *body;
  cb_immersed_workspace *workspace;
  cb_poses *poses;
  cb_rigid_state state;
  int turns;
  long steps, iterations;
} walker;

static void steps(void *self) {
  walker *w = self;
  for (int i = 0; i < w->turns; i++) {
    int n;
    check_ok(
        cb_rigid_step_pontryagin(cb_immersed_workspace_problem(w->workspace), CB_SE3_CAYLEY, 0.005, &w->state, &n));
    w->steps++;
    w->iterations += n;
  }
}

static cb_fluid water, air;

static void immerse(const cb_fluid *fluid, const cb_surface *s, const cb_poses *poses, cb_material material,
                    cb_immersed **out) {
  const cb_immersed_options options = {.material = &material, .added_mass = true, .drag = true};
  check_ok(cb_immersed_create(fluid, s, poses, &options, NULL, NULL, NULL, out));
}

static void walk_begin(walker *w, const cb_fluid *fluid, const cb_surface *s) {
  immerse(fluid, s, w->poses, (cb_material){.density = 1100}, &w->body);
  check_ok(cb_immersed_workspace_create(w->body, &w->workspace));
  check_ok(cb_rigid_start(cb_immersed_workspace_problem(w->workspace), 0, &(cb_pose){.q = {1, 0, 0, 0}},
                          (double[6]){0.3, 0.2, 0.1, 0.5, 0.1, 0}, &w->state));
}

/* Creates a walker whose body is rigid (kind 0), or has poses from a sequence (kind 1) or from expressions (kind 2). */
static void walk(walker *w, const cb_surface *s, int kind, int turns) {
  const cb_poses_motion wave = {NULL, {"X", "Y + 0.1*(0.2 + X^2)*sin(2*pi*(0.7*X - 1.3*t))", "Z"}};
  cb_poses *moving;
  *w = (walker){.turns = turns};
  check_ok(cb_poses_from_expressions(s, &wave, 1, NULL, NULL, NULL, NULL, &moving));
  if (kind == 1) {
    vector *x = malloc(sizeof *x * POSES * (size_t)s->vertices);
    const cb_poses_times times = {.step = 1 / 1.3 / POSES, .end = CB_POSES_PERIODIC};
    for (int i = 0; i < POSES; i++) check_ok(cb_poses_at(moving, i * times.step, x + (size_t)i * s->vertices, NULL));
    check_ok(cb_poses_from_arrays(s->vertices, POSES, (const vector *)x, &times, &w->poses));
    free(x);
  }
  if (kind == 2)
    w->poses = moving;
  else
    cb_poses_free(moving);
  walk_begin(w, &water, s);
}
static void walk_end(walker *w) {
  cb_immersed_workspace_free(w->workspace);
  cb_immersed_free(w->body);
  cb_poses_free(w->poses);
}

/* --- fluids that vary --- */

static const char *const fluid_name[FLUIDS] = {
    "shear flow",         "vortex",           "flow by expressions", "layers, 20 m away",
    "layers at the body", "layers and shear", "density of height",   "density of place"};

static void fluids(cb_fluid out[FLUIDS], const cb_medium *uniform) {
  const double up[3] = {0, 0, 1}, far = 20, near = 0.05, density[2] = {1025, 998}, u[3] = {0.5, 0.2, 0};
  const double gradient[3][3] = {{0, 0, 0.5}, {0.1, 0, 0}, {0, 0, 0}};
  const char *const text[3] = {"0.5*sin(2*y)*cos(x)", "0.3*cos(x + t)", "0.1*sin(z - t)*y"};
  cb_flow *shear, *vortex, *waves;
  cb_medium *away, *at, *height, *place;
  check_ok(cb_flow_shear(u, gradient, &shear));
  check_ok(cb_flow_vortex(u, up, 1, 0.5, &vortex));
  check_ok(cb_flow_expressions(text, 0, NULL, NULL, NULL, NULL, &waves));
  check_ok(cb_medium_layers(1, &far, density, up, &away));
  check_ok(cb_medium_layers(1, &near, density, up, &at));
  check_ok(cb_medium_expression("1000 + 25*exp(-z)", 0, NULL, NULL, up, NULL, &height));
  check_ok(cb_medium_expression("1000 + 25*exp(-z) + sin(x)", 0, NULL, NULL, up, NULL, &place));
  const cb_medium *const media[FLUIDS] = {uniform, uniform, uniform, away, at, at, height, place};
  const cb_flow *const flows[FLUIDS] = {shear, vortex, waves, NULL, NULL, shear, NULL, NULL};
  for (int i = 0; i < FLUIDS; i++) out[i] = (cb_fluid){.medium = media[i], .flow = flows[i], .gravity = {0, 0, -9.81}};
}

static void fluids_end(cb_fluid f[FLUIDS]) { /* the uniform medium is freed elsewhere */
  const int flow[3] = {0, 1, 2}, medium[4] = {3, 4, 6, 7};
  for (int i = 0; i < 3; i++) cb_flow_free((cb_flow *)f[flow[i]].flow);
  for (int i = 0; i < 4; i++) cb_medium_free((cb_medium *)f[medium[i]].medium);
}

/* --- leaves --- */

enum { THREADS = 16 };
typedef struct leaves {
  cb_immersed *leaf;
  cb_immersed_workspace *workspace[THREADS];
  int threads;
  cb_rigid_state state[LEAVES];
} leaves;

static void fall(void *self) {
  leaves *l = self;
#pragma omp parallel for num_threads(l->threads) schedule(static, 1)
  for (int k = 0; k < l->threads; k++)
    for (int i = LEAVES * k / l->threads; i < LEAVES * (k + 1) / l->threads; i++)
      for (int n = 0; n < LEAF_STEPS; n++)
        check_ok(cb_rigid_step_pontryagin(cb_immersed_workspace_problem(l->workspace[k]), CB_SE3_CAYLEY, 1. / 200,
                                          l->state + i, NULL));
}

static void drop(leaves *l, const cb_surface *s) {
  uint64_t seed = 1;
  cb_threads_set(0);
  l->threads = (int)fmin(THREADS, cb_threads_for(1 << 30));
  cb_threads_set(1);
  immerse(&air, s, NULL, (cb_material){700, 3e-4}, &l->leaf);
  for (int k = 0; k < l->threads; k++) check_ok(cb_immersed_workspace_create(l->leaf, &l->workspace[k]));
  for (int i = 0; i < LEAVES; i++) {
    double q[4], size = 0, twist[6] = {0};
    for (int k = 0; k < 4; k++) {
      q[k] = check_uniform(&seed, -1, 1);
      size += q[k] * q[k];
    }
    cb_pose g = {.x = {0, 0, 0}};
    for (int k = 0; k < 4; k++) g.q[k] = q[k] / sqrt(size);
    for (int k = 0; k < 6; k++) twist[k] = check_uniform(&seed, -1, 1);
    check_ok(cb_rigid_start(cb_immersed_workspace_problem(l->workspace[0]), 0, &g, twist, l->state + i));
  }
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "bodies in a fluid");
  cb_threads_set(1);
  subject of[SIZES];
  static walker walkers[SIZES][KINDS], in_fluid[FLUIDS];
  cb_fluid fluid[FLUIDS];
  static leaves many;
  const char *const kind_name[KINDS] = {"rigid", "sequence of poses", "expressions"};
  const int n[SIZES] = {13, 41, 129, b.quick ? 41 : 408};
  double one = 1;
#if defined(__x86_64__)
  const cb_isa isa = cb_isa_get();
  const double width = isa == CB_ISA_AVX512 ? 8 : isa == CB_ISA_AVX2 ? 4 : 1;
  void (*const limit)(void *) = isa == CB_ISA_AVX512 ? limit_avx512 : isa == CB_ISA_AVX2 ? limit_avx2 : limit_any;
#else
  const double width = 1;
  void (*const limit)(void *) = limit_any;
#endif
  cb_medium *dense, *thin;
  cb_flow *breeze;
  check_ok(cb_medium_uniform(998, &dense));
  check_ok(cb_medium_uniform(1.225, &thin));
  check_ok(cb_flow_uniform((double[3]){1, 0.5, 0}, &breeze));
  water = (cb_fluid){.medium = dense, .gravity = {0, 0, -9.81}};
  air = (cb_fluid){.medium = thin, .flow = breeze, .gravity = {0, 0, -9.81}};

  bench_add(&b, "limit", limit, &one, 1e6 * width);
  for (int i = 0; i < SIZES; i++) {
    subject *t = of + i;
    *t = (subject){.s = mesh_surface(mesh_ellipsoid(n[i], 1, 0.3, 0.2))};
    check_ok(cb_local_create(t->s, &t->l));
    t->v = malloc(sizeof *t->v * (size_t)t->s->vertices);
    for (int k = 0; k < t->s->vertices; k++)
      for (int c = 0; c < 3; c++) t->v[k][c] = sin(3 * t->s->x[k][(c + 1) % 3]);
    t->turns = b.quick ? 1 : 1 + 100000 / t->s->faces;
    pose(t);
    for (int k = 0; k < KERNELS; k++) bench_add(&b, kernels[k].name, kernels[k].run, t, (double)t->turns * t->s->faces);
    for (int k = 0; k < KINDS; k++) {
      walk(&walkers[i][k], t->s, k, t->turns);
      bench_add(&b, kind_name[k], steps, &walkers[i][k], (double)t->turns * t->s->vertices / 1000);
    }
  }
  cb_surface *swims = mesh_surface(mesh_ellipsoid(26, 1, 0.3, 0.2)), *leaf;
  fluids(fluid, dense);
  for (int i = 0; i < FLUIDS; i++) {
    in_fluid[i] = (walker){.turns = b.quick || i == FLUIDS - 1 ? 1 : 5};
    walk_begin(&in_fluid[i], &fluid[i], swims);
    bench_add(&b, fluid_name[i], steps, &in_fluid[i], (double)in_fluid[i].turns * swims->vertices / 1000);
  }
  check_ok(cb_shape_create("leaf", NULL, &leaf));
  drop(&many, leaf);
  bench_add(&b, "leaves", fall, &many, LEAVES * LEAF_STEPS);
  bench_go(&b, 20);

  enum { EACH = KERNELS + KINDS };
  const double operation = 1e9 * b.subject[0].cpu;
  printf("  %.3f ns an operation\n  %-26s %9s %9s %11s %8s\n", operation, "", "vertices", "triangles", "ns/triangle",
         "of limit");
  for (int i = 0; i < SIZES; i++)
    for (int k = 0; k < KERNELS; k++) {
      const double took = 1e9 * b.subject[1 + EACH * i + k].cpu;
      printf("  %-26s %9d %9d %11.2f %7.0f%%\n", kernels[k].name, of[i].s->vertices, of[i].s->faces, took,
             100 * kernels[k].operations * operation / took);
    }
  double most[KINDS] = {0}, least[KINDS] = {INFINITY, INFINITY, INFINITY};
  printf("  %-26s %9s %9s %11s %11s %10s\n", "a step", "vertices", "triangles", "us/1000 v.", "ns/triangle",
         "iterations");
  for (int k = 0; k < KINDS; k++)
    for (int i = 0; i < SIZES; i++) {
      const double took = 1e6 * b.subject[1 + EACH * i + KERNELS + k].cpu;
      const walker *w = &walkers[i][k];
      printf("  %-26s %9d %9d %11.1f %11.1f %10.2f\n", kind_name[k], of[i].s->vertices, of[i].s->faces, took,
             took * of[i].s->vertices / of[i].s->faces, (double)w->iterations / (double)w->steps);
      most[k] = fmax(most[k], took);
      least[k] = fmin(least[k], took);
    }
  for (int i = 0; i < FLUIDS; i++) {
    const walker *w = &in_fluid[i];
    const double took = 1e6 * b.subject[1 + EACH * SIZES + i].cpu;
    printf("  %-26s %9d %9d %11.1f %11.1f %10.2f\n", fluid_name[i], swims->vertices, swims->faces, took,
           took * swims->vertices / swims->faces, (double)w->iterations / (double)w->steps);
  }
  const bench_subject *flight = &b.subject[b.n - 1];
  const double faster = 1 / (LEAVES * 200 * flight->wall);
  printf("  a thousand leaves of %d triangles: %.2f us a step of one, %d threads\n", leaf->faces, 1e6 * flight->wall,
         many.threads);
  bench_judge(&b, "fluid: force and Jacobian, 10^3 vertices", 1e9 * b.subject[KERNELS].cpu, "<=", 5, "ns a triangle");
  for (int k = 0; k < KINDS; k++) {
    char what[80];
    snprintf(what, sizeof what, "fluid: step, %s", kind_name[k]);
    bench_judge(&b, what, most[k], "<=", 40, "us a 1000 vertices");
    snprintf(what, sizeof what, "fluid: step, %s, slowest/fastest size", kind_name[k]);
    bench_judge(&b, what, most[k] / least[k], "<=", 2, "");
  }
  bench_judge(&b, "fluid: a thousand leaves at h = 1/200", faster, ">=", 1, "times real time");
  for (int i = 0; i < SIZES; i++) {
    for (int k = 0; k < KINDS; k++) walk_end(&walkers[i][k]);
    cb_local_free(of[i].l);
    cb_surface_free(of[i].s);
    free(of[i].v);
  }
  for (int i = 0; i < FLUIDS; i++) walk_end(&in_fluid[i]);
  fluids_end(fluid);
  cb_surface_free(swims);
  for (int k = 0; k < many.threads; k++) cb_immersed_workspace_free(many.workspace[k]);
  cb_immersed_free(many.leaf);
  cb_surface_free(leaf);
  cb_medium_free(dense);
  cb_medium_free(thin);
  cb_flow_free(breeze);
  return b.missed > 0;
}
