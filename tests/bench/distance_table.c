/* Distances with gradient from a table and from the geodesic boundary-value problem, and the forces of a lattice of
 * about 10^4 springs with either. Pairs are nearer than the reach; the building of a table is told by the clock. */
#include "bench/bench.h"
#include "geometry/distance_table.h"

#include <curvebody/scenario.h>
#include <curvebody/system.h>

enum { N = 3, PAIRS = 500 };

static const struct space {
  const char *name, *space, *box, *point;
  double error, reach, low[N], high[N];
} spaces[] = {
    {"ellipsoid", "name: ellipsoid", "[[0, 2], [-0.6, 0.6]]", "[1, 0]", 1e-8, 0.3, {0, -0.6}, {2, 0.6}},
    {"ellipsoid", "name: ellipsoid", "[[0, 2], [-0.6, 0.6]]", "[1, 0]", 1e-10, 0.3, {0, -0.6}, {2, 0.6}},
    {"h3, text",
     "metric: [[1], [0, 'sinh(a)^2'], [0, 0, 'sinh(a)^2*sin(b)^2']], coordinates: [a, b, g], base: [1, 1, 0]",
     "[[0.9, 1.4], [1.2, 1.9], []]", "[1, 1.4, 0]", 1e-8, 0.2, {0.9, 1.2, 0}, {1.4, 1.9, 1}},
    {"ih, text",
     "metric: [['x^2+y^2+z^2+2'], [0, 'x^2+y^2+z^2+2'], [0, 0, 'x^2+y^2+z^2+2']], coordinates: [x, y, z]",
     "[[-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5]]", "[0, 0, 0]", 1e-8, 0.3, {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
};
enum { SPACES = sizeof spaces / sizeof *spaces };

typedef struct pairs {
  const cb_geometry *g;
  double q[PAIRS][N], y[PAIRS][N];
} pairs;

static void by_table(void *self) {
  pairs *p = self;
  double d, gradient[2 * N];
  for (int i = 0; i < PAIRS; i++) check_ok(p->g->chart->distance(p->g, p->q[i], p->y[i], &d, gradient, NULL));
}

static void by_geodesics(void *self) {
  pairs *p = self;
  double d, gradient[2 * N];
  for (int i = 0; i < PAIRS; i++) check_ok(cb_distance_exact(p->g, p->q[i], p->y[i], &d, gradient, NULL));
}

static cb_scenario *open_space(const struct space *s, bool table) {
  char text[1000], keys[300] = "";
  if (table)
    snprintf(keys, sizeof keys, ", table: {error: %g, reach: %g, box: %s}", s->error, s->reach, s->box);
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: {%s%s}\nbodies:\n  - kind: particles\n    masses: [1]\n    place: {points: [%s]}\n"
           "integrator: {name: gauss, stages: 2, step: 0.01}\ntime: {end: 1}\n",
           s->space, keys, s->point);
  cb_scenario *scenario;
  check_ok(cb_scenario_open_text("bench", text, NULL, 0, &scenario));
  return scenario;
}

/* --- a lattice of springs --- */

typedef struct lattice {
  cb_scenario *scenario;
  cb_builder *builder;
  cb_system *system;
  cb_forces *forces;
  cb_state *state;
  double *force;
  int springs;
} lattice;

static void evaluate(void *self) {
  lattice *w = self;
  check_ok(cb_forces_eval(w->forces, 0, w->state->x, NULL, w->force));
}

static lattice open_lattice(const struct space *s, bool table, int side) {
  lattice w = {.scenario = open_space(s, table)};
  const int n = side * side * side;
  int body;
  check_ok(cb_builder_create(cb_scenario_space(w.scenario), &w.builder));
  check_ok(cb_builder_body(w.builder, "lattice", &body));
  for (int i = 0; i < n; i++) {
    const int at[N] = {i % side, i / side % side, i / side / side};
    double q[N], u[N] = {0};
    for (int a = 0; a < N; a++) q[a] = s->low[a] + (s->high[a] - s->low[a]) * (at[a] + 0.5) / side;
    check_ok(cb_builder_particle(w.builder, NULL, 1, 0, 0, q, u, NULL));
  }
  for (int i = 0; i < n; i++) {
    const int at[N] = {i % side, i / side % side, i / side / side}, stride[N] = {1, side, side * side};
    for (int way = 0; way < N; way++) {
      if (at[way] + 1 == side) continue;
      check_ok(cb_builder_spring(w.builder, i, i + stride[way], 1, 0.05, 0));
      w.springs++;
    }
  }
  check_ok(cb_builder_finish(w.builder, &w.system));
  check_ok(cb_state_create(w.system, &w.state));
  check_ok(cb_system_start(w.system, w.state));
  check_ok(cb_forces_create(w.system, &w.forces));
  check_ok(cb_forces_set_threads(w.forces, 1));
  w.force = calloc((size_t)(N * n), sizeof *w.force);
  return w;
}

static void close_lattice(lattice *w) {
  free(w->force);
  cb_forces_free(w->forces);
  cb_state_free(w->state);
  cb_system_free(w->system);
  cb_builder_free(w->builder);
  cb_scenario_free(w->scenario);
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "distance_table: nanoseconds a distance with its gradient");
  printf("  %-10s %8s %6s %8s %8s %9s %9s %9s %7s\n", "", "error", "reach", "build, s", "MiB", "measured", "table",
         "geodesic", "ratio");
  for (int k = 0; k < SPACES; k++) {
    const struct space *s = &spaces[k];
    static pairs p;
    const double from = bench_clock(CLOCK_MONOTONIC);
    cb_scenario *scenario = open_space(s, true);
    const double build = bench_clock(CLOCK_MONOTONIC) - from;
    uint64_t seed = 1;
    p.g = cb_scenario_space(scenario);
    for (int i = 0; i < PAIRS;) {
      for (int a = 0; a < p.g->dim; a++) {
        p.q[i][a] = check_uniform(&seed, s->low[a], s->high[a]);
        p.y[i][a] = p.q[i][a] + check_uniform(&seed, -s->reach / 2, s->reach / 2);
      }
      i += cb_distance_table_covers(p.g, p.q[i], p.y[i]);
    }
    b.n = 0;
    bench_add(&b, s->name, by_table, &p, PAIRS);
    bench_add(&b, s->name, by_geodesics, &p, PAIRS);
    bench_go(&b, 10);
    const cb_distance_table_size *size = cb_distance_table_size_of(p.g);
    const double table = 1e9 * b.subject[0].cpu, geodesic = 1e9 * b.subject[1].cpu;
    printf("  %-10s %8.0e %6.2f %8.2f %8.2f %9.1e %9.0f %9.0f %7.1f\n", s->name, s->error, s->reach, build,
           (double)size->bytes * 0x1p-20, size->gradient, table, geodesic, geodesic / table);
    char what[96];
    snprintf(what, sizeof what, "distances, %s, error %.0e: geodesic over table", s->name, s->error);
    bench_judge(&b, what, geodesic / table, ">=", 2, "times the time");
    cb_scenario_free(scenario);
  }
  printf("\n  a lattice of springs in ih, text: microseconds an evaluation of all forces\n");
  const int side = b.quick ? 4 : 15;
  lattice of[2] = {open_lattice(&spaces[SPACES - 1], true, side), open_lattice(&spaces[SPACES - 1], false, side)};
  b.n = 0;
  for (int i = 0; i < 2; i++) bench_add(&b, i ? "geodesics" : "table", evaluate, &of[i], 1);
  bench_go(&b, 10);
  for (int i = 0; i < 2; i++)
    printf("  %-10s %6d springs %10.0f, a spring %.3f\n", b.subject[i].name, of[i].springs, 1e6 * b.subject[i].cpu,
           1e6 * b.subject[i].cpu / of[i].springs);
  bench_judge(&b, "a lattice of springs: geodesics over table", b.subject[1].cpu / b.subject[0].cpu, ">=", 1.3,
              "times the time");
  for (int i = 0; i < 2; i++) close_lattice(&of[i]);
  return b.missed > 0;
}
