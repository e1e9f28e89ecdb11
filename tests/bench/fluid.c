/* Nanoseconds a triangle of each kernel of the local fluid model, at 10^3 to 10^6 vertices of a deforming ellipsoid, the
 * share of the arithmetic limit that they reach, and microseconds of a whole step a 1000 vertices.
 *
 * The limit: the kernel's arithmetic (an addition, a product or both fused count one) at two vectors a cycle, as a loop
 * of independent fused operations takes it here. A step: a new pose with velocities, added mass and momentum, and drag
 * with its Jacobian three times, as Newton's method takes it.
 */
#include "bench.h"
#include "core/threads.h"
#include "fluid/local.h"
#include "fluid_mesh.h"

enum { SIZES = 4, KERNELS = 5 };

typedef struct subject {
  cb_local *l;
  cb_surface *s;
  double (*v)[3], K[6][6], mu[6], F[6], J[6][6];
  int turns;
} subject;
static const double Y[6] = {0.1, 0.2, 0.3, 1, 2, 3}, wind[3] = {0.5, 0, 0};

static void pose(void *self) {
  subject *t = self;
  for (int i = 0; i < t->turns; i++) cb_local_pose(t->l, (const double(*)[3])t->s->x, (const double(*)[3])t->v);
}
static void mass(void *self) {
  subject *t = self;
  for (int i = 0; i < t->turns; i++) cb_local_added_mass(t->l, 998, NULL, t->K, t->mu, NULL);
}
static void posed_mass(void *self) {
  subject *t = self;
  for (int i = 0; i < t->turns; i++) {
    cb_local_pose(t->l, (const double(*)[3])t->s->x, (const double(*)[3])t->v);
    cb_local_added_mass(t->l, 998, NULL, t->K, t->mu, NULL);
  }
}
static void force(void *self) {
  subject *t = self;
  for (int i = 0; i < t->turns; i++) cb_local_drag(t->l, 998, NULL, Y, wind, NULL, 0, 0, t->F, NULL);
}
static void jacobian(void *self) {
  subject *t = self;
  for (int i = 0; i < t->turns; i++) cb_local_drag(t->l, 998, NULL, Y, wind, NULL, 0, 0, t->F, t->J);
}

/* Operations a triangle, counted in local_kernel.h: angles are of 1.5 edges. */
static const struct {
  const char *name;
  void (*run)(void *);
  double operations;
} kernels[KERNELS] = {{"pose", pose, 67}, {"added mass", mass, 122}, {"pose, angles, added mass", posed_mass, 295},
                      {"force", force, 55}, {"force and Jacobian", jacobian, 112}};

/* Nanoseconds of one operation on one number. */
static volatile double sink;
#if defined(__x86_64__)
#include <immintrin.h>
#define LIMIT(name, isa, vector, width, fused, spread)                           \
  __attribute__((target(isa))) static void name(void *self) {                    \
    vector a[10], m = spread(0.999), c = spread(*(double *)self);                \
    for (int i = 0; i < 10; i++) a[i] = spread(i);                               \
    for (int n = 0; n < 100000; n++)                                             \
      _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) a[i] = fused(a[i], m, c); \
    for (int i = 1; i < 10; i++) a[0] += a[i];                                   \
    sink = a[0][0];                                                              \
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

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "local fluid model: pose, added mass, drag");
  cb_threads_set(1);
  subject of[SIZES];
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
  bench_add(&b, "limit", limit, &one, 1e6 * width);
  for (int i = 0; i < SIZES; i++) {
    subject *t = of + i;
    *t = (subject){.s = mesh_surface(mesh_ellipsoid(n[i], 3, 2, 1))};
    check_ok(cb_local_create(t->s, &t->l));
    t->v = malloc(sizeof *t->v * (size_t)t->s->vertices);
    for (int k = 0; k < t->s->vertices; k++)
      for (int c = 0; c < 3; c++) t->v[k][c] = sin(3 * t->s->x[k][(c + 1) % 3]);
    t->turns = 1 + 400000 / t->s->faces;
    pose(t);
    for (int k = 0; k < KERNELS; k++)
      bench_add(&b, kernels[k].name, kernels[k].run, t, (double)t->turns * t->s->faces);
  }
  bench_go(&b, 20);

  const double operation = 1e9 * b.subject[0].cpu;
  double slowest = 0, step_most = 0, step_least = INFINITY;
  printf("  %.3f ns an operation\n  %-26s %9s %9s %10s %8s\n", operation, "", "vertices", "triangles", "ns/triangle",
         "of limit");
  for (int i = 0; i < SIZES; i++) {
    const bench_subject *s = &b.subject[1 + KERNELS * i];
    for (int k = 0; k < KERNELS; k++)
      printf("  %-26s %9d %9d %10.2f %7.0f%%\n", kernels[k].name, of[i].s->vertices, of[i].s->faces, 1e9 * s[k].cpu,
             1e11 * kernels[k].operations * b.subject[0].cpu / 1e9 / s[k].cpu);
    const double step = 1e6 * (s[2].cpu + 3 * s[4].cpu) * 1000 * of[i].s->faces / of[i].s->vertices,
                 rigid = 1e6 * 3 * s[4].cpu * 1000 * of[i].s->faces / of[i].s->vertices;
    printf("  step a 1000 vertices: %.1f us; of a rigid body %.1f us\n", step, rigid);
    slowest = fmax(slowest, 1e9 * s[4].cpu);
    step_most = fmax(step_most, step);
    step_least = fmin(step_least, step);
  }
  bench_judge(&b, "local fluid: force and Jacobian", slowest, "<=", 4, "ns a triangle");
  bench_judge(&b, "local fluid: step of a deforming body", step_most, "<=", 40, "us a 1000 vertices");
  bench_judge(&b, "local fluid: slowest/fastest size", step_most / step_least, "<=", 2, "");
  for (int i = 0; i < SIZES; i++) {
    cb_local_free(of[i].l);
    cb_surface_free(of[i].s);
    free(of[i].v);
  }
  return b.missed > 0;
}
