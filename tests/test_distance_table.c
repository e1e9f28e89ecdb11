/* Tables of distances against the distances that they were made from, and against closed forms.
 * labels: medium
 * timeout: 300
 */
#include "check.h"
#include "core/threads.h"
#include "geometry/distance_table.h"

#include <curvebody/integrator.h>
#include <curvebody/scenario.h>
#include <curvebody/system.h>

enum { N = 3, PAIRS = 1000 };

#define H3_TEXT \
  "metric: [[1, 0, 0], [0, 'sinh(a)^2', 0], [0, 0, 'sinh(a)^2*sin(b)^2']], coordinates: [a, b, g], " \
  "base: [1, 1, 1]"

/* Spaces with a table, and where pairs are drawn from. */
static const struct subject {
  const char *space, *table, *point;
  double error, reach, low[N], high[N], covered;
} subjects[] = {
    {"name: ih", "box: [[-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5]]", "[0, 0, 0]", 1e-9, 0.4,
     {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}, 1},
    {"name: nil", "", "[0, 0, 0]", 1e-8, 0.3, {-0.2, -0.2, -0.2}, {0.2, 0.2, 0.2}, 1},
    {"name: sol", "", "[0, 0, 0]", 1e-8, 0.3, {-0.2, -0.2, -0.2}, {0.2, 0.2, 0.2}, 1},
    {"name: sl2", "", "[0, 0, 0]", 1e-8, 0.3, {-0.2, -0.2, -0.2}, {0.2, 0.2, 0.2}, 1},
    {"name: schwarzschild", "", "[4, 0, 0]", 1e-8, 0.3, {3.9, -0.1, -0.1}, {4.1, 0.1, 0.1}, 1},
    {"name: ellipsoid", "box: [[0, 1], [-0.5, 0.5]]", "[0, 0]", 1e-8, 0.3, {0, -0.5}, {1, 0.5}, 1},
    {"name: torus", "", "[0, 0]", 1e-8, 0.3, {-7, -7}, {7, 7}, 1},
    /* to the left of x there is a length of exp(x) only: balls of the reach do not fit everywhere */
    {"metric: [['exp(2*x)']], coordinates: [x]", "box: [[-2, 2]]", "[0]", 1e-10, 0.5, {-2}, {2}, 0.8},
    {H3_TEXT, "box: [[0.9, 1.2], [1.2, 1.6], []]", "[1, 1.4, 0]", 1e-8, 0.2, {0.9, 1.2, -4}, {1.2, 1.6, 4}, 1},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static cb_status open_space(const char *space, const char *keys, const char *point, cb_scenario **out) {
  char text[1200];
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: {%s%s}\nbodies:\n  - kind: particles\n    masses: [1]\n    place: {points: [%s]}\n"
           "integrator: {name: gauss, stages: 2, step: 0.01}\ntime: {end: 1}\n",
           space, keys, point);
  return cb_scenario_open_text("test", text, NULL, 0, out);
}

static cb_scenario *open_subject(const struct subject *s) {
  char keys[300], own[200] = "";
  if (strncmp(s->table, "box", 3)) { /* the region that pairs are drawn from */
    int used = snprintf(own, sizeof own, "box: [");
    const int n = strstr(s->space, "torus") ? 2 : N;
    for (int i = 0; i < n; i++)
      used += snprintf(own + used, sizeof own - (size_t)used, n == 2 ? "[], " : "[%g, %g], ", s->low[i], s->high[i]);
    snprintf(own + used - 2, sizeof own - (size_t)used, "]");
  }
  snprintf(keys, sizeof keys, ", table: {error: %g, reach: %g, %s%s}", s->error, s->reach, s->table, own);
  cb_scenario *scenario;
  check_ok(open_space(s->space, keys, s->point, &scenario));
  return scenario;
}

/* A pair that the table answers for. */
static void draw(const cb_geometry *g, const struct subject *s, uint64_t *seed, double *q, double *y) {
  for (int tries = 0; tries < 100000; tries++) {
    for (int i = 0; i < g->dim; i++) {
      q[i] = check_uniform(seed, s->low[i], s->high[i]);
      y[i] = q[i] + check_uniform(seed, -s->reach, s->reach);
    }
    if (cb_distance_table_covers(g, q, y)) return;
  }
  fail_msg("no pair is covered in %s", s->space);
}

static double norm(const cb_geometry *g, const double *q, const double *p) {
  double u[N], square = 0;
  check_ok(cb_geometry_raise(g, q, p, u));
  for (int i = 0; i < g->dim; i++) square += u[i] * p[i];
  return sqrt(square);
}

/* The bound of second derivatives in coordinates: they lose the degree of the polynomials over the boxes' size. */
static const double second_derivatives = 1000;

static void a_table_is_as_exact_as_asked_in_every_space(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  for (int k = 0; k < SUBJECTS; k++) {
    const struct subject *s = &subjects[k];
    cb_scenario *scenario = open_subject(s);
    const cb_geometry *g = cb_scenario_space(scenario);
    const int n = g->dim, ends = 2 * n;
    double worst[3] = {0};
    check_at_least(cb_distance_table_size_of(g)->covered, s->covered);
    for (int pair = 0; pair < PAIRS; pair++) {
      double q[N], y[N], d[2], by[2][2 * N], bend[2][4 * N * N], length;
      draw(g, s, &seed, q, y);
      check_ok(cb_distance_exact(g, q, y, &d[0], by[0], bend[0]));
      check_ok(g->chart->distance(g, q, y, &d[1], by[1], bend[1]));
      check_ok(g->chart->distance(g, q, y, &length, NULL, NULL));
      check_near(length, d[1], 1e-14);
      for (int i = 0; i < ends; i++) by[1][i] -= by[0][i];
      worst[0] = fmax(worst[0], fabs(d[1] - d[0]));
      worst[1] = fmax(worst[1], fmax(norm(g, q, by[1]), norm(g, y, by[1] + n)));
      for (int i = 0; i < ends * ends; i++) worst[2] = fmax(worst[2], fabs(bend[1][i] - bend[0][i]));
    }
    const cb_distance_table_size *size = cb_distance_table_size_of(g);
    print_message("%.20s: %zu boxes (%zu bare), %d variables, degree %d, %.2f MiB: %.1e %.1e %.1e\n", s->space,
                  size->boxes, size->bare, size->variables, size->degree, (double)size->bytes * 0x1p-20, worst[0],
                  worst[1], worst[2]);
    check_at_most(worst[0], s->error);
    check_at_most(worst[1], s->error);
    check_at_most(worst[2], second_derivatives * s->error);
    cb_scenario_free(scenario);
  }
}

static void a_table_of_h3_as_text_has_the_distances_of_its_closed_form(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  const struct subject *s = &subjects[SUBJECTS - 1];
  cb_scenario *scenario = open_subject(s), *closed;
  check_ok(open_space("name: h3, chart: polar", "", s->point, &closed));
  const cb_geometry *g = cb_scenario_space(scenario), *h3 = cb_scenario_space(closed);
  for (int pair = 0; pair < PAIRS; pair++) {
    double q[N], y[N], a, b;
    draw(g, s, &seed, q, y);
    check_ok(g->chart->distance(g, q, y, &a, NULL, NULL));
    check_ok(h3->chart->distance(h3, q, y, &b, NULL, NULL));
    check_near(a, b, s->error);
  }
  cb_scenario_free(scenario);
  cb_scenario_free(closed);
}

static void derivatives_are_those_of_the_interpolated_distance(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  const struct subject *s = &subjects[0];
  cb_scenario *scenario = open_subject(s);
  const cb_geometry *g = cb_scenario_space(scenario);
  const double h = 1e-5;
  for (int pair = 0; pair < 50; pair++) {
    double x[2 * N], d, by[2 * N], bend[4 * N * N];
    do draw(g, s, &seed, x, x + N);
    while (cb_distance(g, x, x + N) < 0.1);
    check_ok(g->chart->distance(g, x, x + N, &d, by, bend));
    for (int i = 0; i < 2 * N; i++) {
      double up, down, by_up[2 * N], by_down[2 * N], to[2 * N];
      memcpy(to, x, sizeof to);
      to[i] = x[i] + h;
      check_ok(g->chart->distance(g, to, to + N, &up, by_up, NULL));
      to[i] = x[i] - h;
      check_ok(g->chart->distance(g, to, to + N, &down, by_down, NULL));
      check_near((up - down) / (2 * h), by[i], 1e-7); /* d''' h^2, and a jump of the error over 2h where boxes meet */
      for (int j = 0; j < 2 * N; j++) check_near((by_up[j] - by_down[j]) / (2 * h), bend[i * 2 * N + j], 2e-4);
    }
  }
  cb_scenario_free(scenario);
}

static void distances_jump_between_boxes_by_no_more_than_the_error(void **state) {
  (void)state;
  const struct subject *s = &subjects[5];
  cb_scenario *scenario = open_subject(s);
  const cb_geometry *g = cb_scenario_space(scenario);
  double before = 0, by_before[4] = {0};
  for (int k = 0; k <= 20000; k++) { /* m through the whole region; pairs of one delta */
    const double u = 0.1 + 0.8 * k / 20000, v = -0.4 + 0.8 * k / 20000;
    double d, by[4];
    check_ok(g->chart->distance(g, (double[]){u, v}, (double[]){u + 0.1, v + 0.05}, &d, by, NULL));
    double smooth = 0; /* what the step changes by itself */
    for (int i = 0; k && i < 4; i++) smooth += (by[i] + by_before[i]) / 2 * (i % 2 ? 0.8 : 0.8) / 20000;
    if (k) check_near(d - before - smooth, 0, 2 * s->error);
    before = d;
    memcpy(by_before, by, sizeof by);
  }
  cb_scenario_free(scenario);
}

static void tables_are_the_same_bytes_for_any_number_of_threads(void **state) {
  (void)state;
  const struct subject *s = &subjects[0];
  uint64_t seed = check_seed();
  cb_threads_set(1);
  cb_scenario *one = open_subject(s);
  cb_threads_set(3);
  cb_scenario *three = open_subject(s);
  cb_threads_set(0);
  const cb_geometry *a = cb_scenario_space(one), *b = cb_scenario_space(three);
  assert_memory_equal(cb_distance_table_size_of(a), cb_distance_table_size_of(b), sizeof(cb_distance_table_size));
  for (int pair = 0; pair < PAIRS; pair++) {
    double q[N], y[N], d[2], by[2][2 * N];
    draw(a, s, &seed, q, y);
    check_ok(a->chart->distance(a, q, y, &d[0], by[0], NULL));
    check_ok(b->chart->distance(b, q, y, &d[1], by[1], NULL));
    assert_memory_equal(&d[0], &d[1], sizeof *d);
    assert_memory_equal(by[0], by[1], sizeof *by);
  }
  cb_scenario_free(one);
  cb_scenario_free(three);
}

static void refused(const char *space, const char *keys, const char *expected) {
  cb_scenario *scenario;
  assert_int_equal(open_space(space, keys, "[0, 0, 0]", &scenario), CB_ERROR_INPUT);
  if (!strstr(cb_error_text(), expected)) fail_msg("`%s` does not say `%s`", cb_error_text(), expected);
  if (strncmp(cb_error_text(), "test:2:", 7)) fail_msg("`%s` has no place", cb_error_text());
}

static void a_table_that_cannot_be_is_refused_with_its_place(void **state) {
  (void)state;
  refused("name: ih", ", table: {error: 1e-8}", "the metric depends on x: expected its range in the key `box`");
  refused("name: ih", ", table: {eror: 1e-8}", "error");
  refused("name: ih", ", table: {error: 1e-20}", "error");
  refused("name: ih", ", table: {box: [[0, 1]]}", "a list of 3 ranges");
  refused("name: ih", ", table: {box: [[1, 0], [0, 1], [0, 1]]}", "lowest < highest");
  refused("name: e3", ", table: {error: 1e-8}", "in closed form");
  refused("name: ih", ", table: {error: 1e-8, memory: 0.01, box: [[-1, 1], [-1, 1], [-1, 1]]}", "`memory` allows");
  refused("name: schwarzschild", ", table: {error: 1e-8, box: [[-0.1, 0.1], [-0.1, 0.1], [-0.1, 0.1]]}", "table:");
}

enum { SIDE = 3, PARTICLES = SIDE * SIDE * SIDE };
static const double stiffness = 10, rest = 0.2;

static double mass(int i) { return 1 + 0.1 * (i % SIDE); }

/* The neighbour of particle i along an axis, or -1. */
static int neighbour(int i, int way) {
  const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE}, stride[3] = {1, SIDE, SIDE * SIDE};
  return at[way] + 1 < SIDE ? i + stride[way] : -1;
}

/* Particles stand in the state in the order that they were given in: they are fewer than the builder reorders. */
static double energy(const cb_geometry *g, const cb_state *s) {
  double sum = 0;
  for (int i = 0; i < PARTICLES; i++) {
    const double p = norm(g, s->x + N * i, s->p + N * i);
    sum += p * p / (2 * mass(i));
    for (int way = 0; way < 3; way++) {
      double d;
      const int j = neighbour(i, way);
      if (j < 0) continue;
      check_ok(g->chart->distance(g, s->x + N * i, s->x + N * j, &d, NULL, NULL));
      sum += stiffness * (d - rest) * (d - rest) / 2;
    }
  }
  return sum;
}

/* A lattice of springs, stretched and let go. */
static cb_system *lattice(const cb_geometry *g, cb_builder **builder) {
  int body;
  check_ok(cb_builder_create(g, builder));
  check_ok(cb_builder_body(*builder, "lattice", &body));
  for (int i = 0; i < PARTICLES; i++) {
    const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    double q[N], u[N] = {0.1 * at[1], -0.1 * at[0], 0.05 * (at[2] - 1)};
    for (int a = 0; a < 3; a++) q[a] = 0.12 * (at[a] - 1);
    check_ok(cb_builder_particle(*builder, NULL, mass(i), 0, 0, q, u, NULL));
  }
  for (int i = 0; i < PARTICLES; i++)
    for (int way = 0; way < 3; way++)
      if (neighbour(i, way) >= 0)
        check_ok(cb_builder_spring(*builder, i, neighbour(i, way), stiffness, rest, 0));
  cb_system *system;
  check_ok(cb_builder_finish(*builder, &system));
  return system;
}

static void a_network_moves_as_with_exact_distances_and_keeps_its_energy(void **state) {
  (void)state;
  const double error = 1e-9;
  double end[2][81], drift = 0;
  for (int table = 0; table < 2; table++) {
    cb_scenario *scenario;
    check_ok(open_space("name: ih", table ? ", table: {error: 1e-9, reach: 0.5, box: [[-1, 1], [-1, 1], [-1, 1]]}" : "",
                        "[0, 0, 0]", &scenario));
    cb_builder *builder;
    cb_system *system = lattice(cb_scenario_space(scenario), &builder);
    cb_state *s;
    cb_integrator *integrator;
    check_ok(cb_integrator_create("gauss", NULL, system, &integrator));
    check_ok(cb_state_create(system, &s));
    check_ok(cb_system_start(system, s));
    const cb_geometry *g = cb_scenario_space(scenario);
    const double before = energy(g, s);
    assert_int_equal(cb_distance_table_covers(g, s->x, s->x + N), table);
    for (int step = 0; step < 200; step++) check_ok(cb_integrator_step(integrator, s, 0.01));
    memcpy(end[table], s->x, sizeof end[table]);
    for (int step = 0; table && step < 4000; step++) {
      check_ok(cb_integrator_step(integrator, s, 0.01));
      drift = fmax(drift, fabs(energy(g, s) - before));
    }
    cb_integrator_free(integrator);
    cb_state_free(s);
    cb_system_free(system);
    cb_builder_free(builder);
    cb_scenario_free(scenario);
  }
  double apart = 0;
  for (int i = 0; i < 81; i++) apart = fmax(apart, fabs(end[1][i] - end[0][i]));
  print_message("after t = 2 apart by %.1e; energy within %.1e over t = 42\n", apart, drift);
  check_at_most(apart, error); /* forces err by 10 error at most, and mostly by much less */
  check_at_most(drift, error); /* 54 springs of stiffness 10 that cross boxes, each by less than 10 error */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_table_is_as_exact_as_asked_in_every_space),
      cmocka_unit_test(a_table_of_h3_as_text_has_the_distances_of_its_closed_form),
      cmocka_unit_test(derivatives_are_those_of_the_interpolated_distance),
      cmocka_unit_test(distances_jump_between_boxes_by_no_more_than_the_error),
      cmocka_unit_test(tables_are_the_same_bytes_for_any_number_of_threads),
      cmocka_unit_test(a_table_that_cannot_be_is_refused_with_its_place),
      cmocka_unit_test(a_network_moves_as_with_exact_distances_and_keeps_its_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
