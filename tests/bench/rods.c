/* Benchmark of rods. It measures the time of a step per rod, for 10 to 10^5 rods and the integrators Lobatto, Radau IIA
 * and IDA. It also measures the rigid rod and triangle of figures 2.16 to 2.21 of the thesis (see analysis/README.md)
 * in H3 and S3, and error against time for a tumbling tetrahedron in S3 with a potential.
 *
 * A chain has rods between neighbours. `tetrahedra` are rigid trusses of six rods, each joined to the next at a corner.
 * Both are placed along a curve that does not intersect itself: a helix in E3, or a line on the torus
 * x^2 + y^2 = z^2 + w^2 in S3. Lengths and speeds are the same at every size. A lattice is cubic with one rod per edge;
 * the factors of its matrix grow faster than the number of rods, as for every body that is not thin. */
#include "bench.h"
#include "constrained.h"
#include "linked.h"

typedef enum shape { CHAIN, TETRAHEDRA, LATTICE } shape;
static const char *const shape_names[] = {"chain", "tetrahedra", "lattice"};

static const double spacing = 0.1, h = 0.01;

typedef struct many {
  body_case c;
  cb_state *start;
  int rods, steps;
} many;

/* Writes the point x of the curve at the parameter s, displaced by along[2] in two directions normal to the curve. In
 * S3, s is the arc length. */
static void on_curve(bool sphere, double s, const double *along, double *x) {
  if (sphere) { /* a^2 + b^2 = 2, a/b is irrational */
    const double a = 1.3, b = sqrt(2 - a * a), r = sqrt(0.5) * (1 + along[0]), q = sqrt(0.5) * (1 - along[0]);
    const double u = a * s + b * along[1], w = b * s - a * along[1];
    x[0] = r * cos(u);
    x[1] = r * sin(u);
    x[2] = q * cos(w);
    x[3] = q * sin(w);
  } else {
    const double pitch = 0.05, r = 1 + along[0];
    x[0] = r * cos(s);
    x[1] = r * sin(s);
    x[2] = pitch * s + along[1];
  }
}

static int frame_edge(int rods) {
  int edge = 2;
  while (3 * edge * edge * (edge - 1) < rods) edge++;
  return edge;
}

static void place(const body_case *c, shape what, int rods, int i, double *x) {
  const bool sphere = c->g->factor[0].curvature > 0;
  if (what == CHAIN) {
    on_curve(sphere, spacing * i, (double[]){0, 0}, x);
  } else if (what == TETRAHEDRA) { /* i % 3 = 0 is a joint; 1 and 2 are corners between it and the next joint */
    const double out = 0.5 * spacing;
    on_curve(sphere, spacing * (i / 3 + (i % 3 ? 0.5 : 0)), (double[]){out * (i % 3 == 1), out * (i % 3 == 2)}, x);
    cb_space_project_point(c->g, x);
  } else {
    const int edge = frame_edge(rods);
    double base[4], frame[12], u[4] = {0};
    const int at[3] = {i % edge, i / edge % edge, i / (edge * edge)};
    cb_space_base_point(c->g, base);
    cb_space_frame(c->g, base, frame);
    for (int a = 0; a < 3; a++)
      for (int e = 0; e < c->g->k; e++) u[e] += spacing * (at[a] - 0.5 * edge) * frame[a * c->g->k + e];
    cb_exp(c->g, base, u, x, NULL);
  }
}

static void join(many *m, int i, int j) {
  check_ok(cb_builder_rod(m->c.builder, NULL, i, j, as_it_starts));
  m->rods++;
}

/* Removes the components of the momenta that the rods do not allow. */
static void let_go(many *m) {
  const size_t count = (size_t)m->c.state->n * (size_t)m->c.g->k;
  const double *mass = cb_system_masses(m->c.system);
  double *v = calloc(count, sizeof *v);
  cb_gram *gram;
  for (size_t e = 0; e < count; e++) v[e] = m->c.state->p[e] / mass[e / (size_t)m->c.g->k];
  check_ok(cb_gram_create(m->c.forces, cb_forces_constraints(m->c.forces), &gram));
  check_ok(cb_gram_project(gram, 0, m->c.state->x, v, 0, NULL, NULL, NULL));
  for (size_t e = 0; e < count; e++) m->c.state->p[e] = mass[e / (size_t)m->c.g->k] * v[e];
  cb_gram_free(gram);
  free(v);
}

static many *open_many(const char *space, shape what, int rods, const char *method) {
  many *m = calloc(1, sizeof *m);
  open_space(&m->c, space);
  const int edge = frame_edge(rods), cells = (rods + 5) / 6;
  const int n = what == CHAIN ? rods + 1 : what == TETRAHEDRA ? 3 * cells + 1 : edge * edge * edge;
  for (int i = 0; i < n; i++) {
    double x[4], v[4] = {0};
    place(&m->c, what, rods, i, x);
    const double s = spacing * (what == TETRAHEDRA ? i / 3 : i);
    for (int e = 0; e < 3; e++) v[e] = 0.2 * sin((3 + e) * s + e);
    cb_space_project_tangent(m->c.g, x, v);
    check_ok(cb_builder_particle(m->c.builder, NULL, 1 + 0.5 * (i % 3), 0, 0, x, v, NULL));
  }
  const int stride[3] = {1, edge, edge * edge};
  for (int i = 0; i < n; i++)
    for (int way = 0; way < 3; way++)
      if (what == LATTICE && i / stride[way] % edge + 1 < edge) join(m, i, i + stride[way]);
  for (int i = 0; what == CHAIN && i < rods; i++) join(m, i, i + 1);
  for (int i = 0; what == TETRAHEDRA && i < cells; i++)
    for (int a = 0; a < 4; a++)
      for (int e = a + 1; e < 4; e++) join(m, 3 * i + a, 3 * i + e);
  finish_system(&m->c);
  let_go(m);
  use_method(&m->c, method);
  m->start = clone_state(&m->c);
  const int steps = 20000 / m->rods;
  m->steps = steps < 2 ? 2 : steps > 100 ? 100 : steps;
  return m;
}

static void close_many(many *m) {
  cb_state_free(m->start);
  close_case(&m->c);
  free(m);
}

static void restart(void *self) {
  many *m = self;
  cb_state_copy(m->c.state, m->start);
  cb_integrator_reset(m->c.integrator);
  check_ok(cb_forces_set_origins(m->c.integrator->forces, m->start->origin));
  check_ok(cb_integrator_step(m->c.integrator, m->c.state, h)); /* the first step is special: no step precedes it */
}

static void steps(void *self) {
  many *m = self;
  for (int i = 0; i < m->steps; i++) check_ok(cb_integrator_step(m->c.integrator, m->c.state, h));
}

static const struct {
  const char *name, *method;
  int most; /* maximum number of rods for which the integrator is measured */
} methods[] = {{"lobatto, 3 stages", "lobatto {stages: 3}", 100000},
               {"lobatto, 4 stages", "lobatto {stages: 4}", 100000},
               {"radau_iia, 2 stages", "radau_iia {stages: 2}", 100000},
               {"radau_iia, 3 stages", "radau_iia {stages: 3}", 100000},
               {"ida, rtol 1e-8", "ida {rtol: 1e-8, atol: 1e-10}", 10000}};
enum { METHODS = sizeof methods / sizeof *methods, IDA = METHODS - 1, SIZES = 5 };

/* Times every integrator for bodies of up to five sizes. */
static void by_size(bench *b, const char *space, shape what) {
  printf("\n%s in %s: microseconds a step and rod (iterations of the last), h = %g\n  %-20s", shape_names[what], space,
         h, "rods");
  for (int k = 0, rods = 10; k < SIZES; k++, rods *= 10) printf(" %14d", rods);
  printf("\n");
  for (int j = 0; j < METHODS; j++) {
    double each[SIZES] = {0};
    printf("  %-20s", methods[j].name);
    fflush(stdout);
    for (int k = 0, rods = 10; k < SIZES; k++, rods *= 10) {
      if (rods > methods[j].most || (b->quick && rods > 100) || (what == LATTICE && rods > (j == IDA ? 100 : 1000)))
        continue;
      many *m = open_many(space, what, rods, methods[j].method);
      if (j == IDA) m->steps = 20; /* the same for every size: IDA begins with short steps and low order */
      b->n = 0;
      bench_add(b, space, steps, m, m->steps)->ready = restart;
      bench_go(b, rods > (j == IDA ? 1000 : 10000) ? 1 : 5);
      each[k] = 1e6 * b->subject[0].cpu / m->rods;
      printf(" %9.2f (%2d)", each[k], m->c.integrator->iterations);
      fflush(stdout);
      close_many(m);
    }
    printf("\n");
    if (what == LATTICE) continue;
    int last = SIZES - 1;
    while (last > 1 && each[last] == 0) last--;
    const int first = j == IDA ? 2 : 1; /* IDA uses sparse factors only from this size on */
    char text[96];
    snprintf(text, sizeof text, "%s, %s, %s: a rod of 10^%d over one of 10^%d", shape_names[what], space,
             methods[j].name, last + 1, first + 1);
    bench_judge(b, text, each[last] / each[first], "<=", 2, "times");
  }
}

/* --- the rigid rod and triangle --- */

typedef struct rigid {
  body_case c;
  cb_state *start;
} rigid;

static void rigid_restart(void *self) {
  rigid *r = self;
  cb_state_copy(r->c.state, r->start);
  cb_integrator_reset(r->c.integrator);
  check_ok(cb_forces_set_origins(r->c.integrator->forces, r->start->origin));
}

static void rigid_steps(void *self) {
  rigid *r = self;
  for (int i = 0; i < 1000; i++) {
    check_ok(cb_integrator_step(r->c.integrator, r->c.state, h));
    recentre(&r->c);
  }
}

static void thesis_bodies(bench *b) {
  static const struct {
    const char *name, *method;
    double limit; /* the maximum time of a step of the rod in H3, in microseconds, or 0 if there is none */
  } rows[] = {{"lobatto, 3 stages", "lobatto {stages: 3}", 0},
              {"lobatto, 4 stages", "lobatto {stages: 4}", 5},
              {"radau_iia, 2 stages", "radau_iia {stages: 2}", 0},
              {"radau_iia, 3 stages", "radau_iia {stages: 3}", 40},
              {"radau_iia, 3 stages, acceleration", "radau_iia {stages: 3, constraints: acceleration}", 40},
              {"ida, rtol 1e-8", "ida {rtol: 1e-8, atol: 1e-10}", 0}};
  static const char *const spaces[] = {"h3", "s3"};
  printf(
      "\nrigid rod and triangle of figures 2.16 to 2.21: microseconds a step (iterations of the last), h = %g, [0, "
      "10]\n"
      "  %-34s %14s %14s %14s %14s\n",
      h, "", "rod H3", "rod S3", "triangle H3", "triangle S3");
  for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
    b->n = 0;
    for (int i = 0; i < 4; i++) {
      rigid *r = calloc(1, sizeof *r);
      open_rigid(&r->c, spaces[i % 2], i / 2);
      use_method(&r->c, rows[j].method);
      r->start = clone_state(&r->c);
      bench_add(b, rows[j].name, rigid_steps, r, 1000)->ready = rigid_restart;
    }
    bench_go(b, 15);
    printf("  %-34s", rows[j].name);
    for (int i = 0; i < 4; i++) {
      rigid *r = b->subject[i].self;
      printf(" %9.2f (%2d)", 1e6 * b->subject[i].cpu, r->c.integrator->iterations);
      cb_state_free(r->start);
      close_case(&r->c);
      free(r);
    }
    printf("\n");
    char text[96];
    snprintf(text, sizeof text, "rigid rod, H3, %s", rows[j].name);
    if (rows[j].limit > 0) bench_judge(b, text, 1e6 * b->subject[0].cpu, "<=", rows[j].limit, "us a step");
  }
}

/* --- error against time --- */

static const double end_ = 10;

static void tetrahedron(body_case *c, const char *method) {
  uint64_t seed = 11;
  open_frame(c, "s3", 4, false, true, &seed);
  use_method(c, method);
}

/* Solves up to the time end_, writes the positions to x and returns the seconds that this takes. */
static double solve(const char *method, double step, double *x) {
  body_case c;
  tetrahedron(&c, method);
  const long n = lround(end_ / step);
  const double begin = bench_clock(CLOCK_THREAD_CPUTIME_ID);
  for (long i = 0; i < n; i++) check_ok(cb_integrator_step(c.integrator, c.state, end_ / (double)n));
  const double took = bench_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
  memcpy(x, c.state->x, sizeof(double) * 16);
  close_case(&c);
  return took;
}

static void work_precision(bench *b) {
  static const struct {
    const char *name, *method;
    bool tolerance;
    double first, factor;
    int n;
  } rows[] = {{"lobatto, 3 stages (step)", "lobatto {stages: 3}", false, 0.1, 2, 7},
              {"lobatto, 4 stages (step)", "lobatto {stages: 4}", false, 0.25, 1.6, 8},
              {"lobatto, 5 stages (step)", "lobatto {stages: 5}", false, 0.4, 1.5, 8},
              {"radau_iia, 2 stages (step)", "radau_iia {stages: 2}", false, 0.1, 2, 7},
              {"radau_iia, 3 stages (step)", "radau_iia {stages: 3}", false, 0.25, 1.6, 8},
              {"radau_iia, 5 stages (step)", "radau_iia {stages: 5}", false, 0.5, 1.5, 6},
              {"ida (tolerance)", "ida", true, 1e-4, 10, 9}};
  enum { ROWS = sizeof rows / sizeof *rows };
  static const double wanted = 1e-8;
  double exact[16], other[16], time[ROWS];
  solve("radau_iia {stages: 5}", b->quick ? 0.1 : 0.01, exact);
  solve("lobatto {stages: 5}", b->quick ? 0.1 : 0.01, other);
  printf(
      "\ntetrahedron in S3 under a potential: error of the positions at t = %g, milliseconds, steps\n  two "
      "references "
      "differ by %.1e\n",
      end_, check_distance_max(16, exact, other));
  for (int j = 0; j < ROWS; j++) {
    printf("  %s", rows[j].name);
    double setting = rows[j].first, before = INFINITY, before_time = 0;
    time[j] = NAN;
    for (int k = 0; k < (b->quick ? 2 : rows[j].n); k++, setting /= rows[j].factor) {
      char method[96];
      double x[16], took = INFINITY;
      snprintf(method, sizeof method, rows[j].tolerance ? "ida {rtol: %g, atol: %g}" : rows[j].method, setting,
               setting / 100);
      for (int turn = 0; turn < bench_turns(b, 5); turn++)
        took = fmin(took, solve(method, rows[j].tolerance ? end_ : setting, x));
      const double error = check_distance_max(16, x, exact);
      printf("%s%8.2e: %7.1e %8.3f", k % 4 ? "   " : "\n    ", setting, error, 1e3 * took);
      if (isnan(time[j]) && before > wanted && error <= wanted) {
        const double part = isinf(before) ? 1 : log(before / wanted) / log(before / error);
        time[j] = isinf(before) ? took : exp(log(before_time) + part * log(took / before_time));
      }
      before = error;
      before_time = took;
    }
    printf("\n");
  }
  printf("  milliseconds at error %g:", wanted);
  for (int j = 0; j < ROWS; j++) printf("  %s %.3f", rows[j].name, 1e3 * time[j]);
  printf("\n");
  bench_judge(b, "tetrahedron, S3, error 1e-8 at t = 10: Lobatto faster than IDA by",
              time[6] / fmin(fmin(time[0], time[1]), time[2]), ">=", 2, "times");
  bench_judge(b, "tetrahedron, S3, error 1e-8 at t = 10: Radau faster than IDA by",
              time[6] / fmin(fmin(time[3], time[4]), time[5]), ">=", 1, "times");
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "rods: time by their number and by accuracy, one thread, default tolerances");
  thesis_bodies(&b);
  work_precision(&b);
  static const char *const spaces[] = {"e3", "s3"};
  for (int i = 0; i < 2; i++)
    for (shape what = CHAIN; what <= LATTICE; what++) by_size(&b, spaces[i], what);
  return b.missed > 0;
}
