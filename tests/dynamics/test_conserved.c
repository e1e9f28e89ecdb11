/* Tests that quantities which are reported as conserved are constant to the order of the integrator, and that
 * quantities that are not reported change. The tests run in all spaces, in their embedding and in charts, with all
 * integrators. Some systems conserve the energy and all momenta, others do not. */
#include "check_spaces.h"
#include "dynamics/system_facts.h"
#include "memory_sink.h"
#include <curvebody/pair_potential.h>
#include <curvebody/contact.h>

typedef enum kind { FREE, CENTRE, FIELD, DAMPED, TIMED, KINDS } kind;
static const char *const names[KINDS] = {"free", "centre", "field", "damped", "timed"};

typedef struct found {
  cb_conserved is;
  cb_run_change change;
  double energy, momentum[CB_KILLING_MAX]; /* maximum changes in the recorded rows */
} found;

/* Makes the random start x and velocity v of particle `number` in the coordinates of the space. The point is away from
 * the poles of charts and from other particles, because a step of 0.1 would be too long there. */
static void random_start(const cb_space *g, uint64_t *state, int number, double *x, double *v) {
  static const double middle[4][CB_DIM_MAX] = {{0.2, 0.8, 0.3}, {0.8, 0.7, 0.4}, {0.7, 0.2, 0.1}, {0.2, 0.1, 0.7}};
  double c[CB_DIM_MAX], y[CB_Q_MAX], w[CB_Q_MAX];
  for (int a = 0; a < g->dim; a++) c[a] = middle[number][a] + check_uniform(state, -0.1, 0.1);
  check_point_at(g, c, y);
  check_random_tangent(g, state, y, 0.3, w);
  if (g->chart && !g->intrinsic) {
    check_ok(cb_chart_pull(g, g->chart, y, w, x, v));
  } else {
    memcpy(x, y, sizeof y);
    memcpy(v, w, sizeof w);
  }
}

static cb_system *make(const cb_space *g, uint64_t seed, kind what) {
  cb_builder *b;
  cb_system *s;
  int index[3];
  double centre[CB_Q_MAX], velocity[CB_Q_MAX];
  uint64_t state = seed;
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", &index[0]));
  for (int i = 0; i < 3; i++) {
    double x[CB_Q_MAX], v[CB_Q_MAX];
    random_start(g, &state, i, x, v);
    check_ok(cb_builder_particle(b, NULL, 1 + 0.4 * i, 0, 0, x, v, &index[i]));
  }
  for (int i = 0; i < 2; i++) check_ok(cb_builder_spring(b, index[i], index[i + 1], 1.5, -1, what == DAMPED ? 0.2 : 0));
  random_start(g, &state, 3, centre, velocity);
  if (what == CENTRE && !g->chart) cb_space_base_point(g, centre);
  if (what == CENTRE) check_ok(cb_builder_central(b, -1, "harmonic", &(cb_pair_parameters){0.8, 0, NULL}, centre));
  if (what == TIMED)
    check_ok(cb_builder_central(b, -1, "expression", &(cb_pair_parameters){.expression = "0.4*sin(3*t)*d^2"}, centre));
  if (what == FIELD) {
    const cb_chart *chart = g->chart ? g->chart : cb_chart_find(g, "embedding");
    char text[64];
    snprintf(text, sizeof text, "0.4*sin(1 + %.20s)", chart->coordinates[0]);
    check_ok(cb_builder_potential(b, -1, chart->name, text));
  }
  check_ok(cb_builder_finish(b, &s));
  cb_builder_free(b);
  return s;
}

/* Runs to t = 1.6 with steps h, and measures the maximum changes of the energy and the momenta. Returns false if the
 * run fails, for example because the motion leaves the chart. */
static bool measure(const cb_system *s, cb_integrator *in, double h, found *out) {
  static const char *const observables[] = {"energy", "killing_momentum", NULL};
  const cb_run_options options = {.end = 1.6, .step = h, .every = 1, .observables = observables, .project = true};
  memory_sink m;
  cb_run *run;
  check_ok(cb_run_create(s, in, &options, &run));
  cb_sink sink = memory_open(&m, run);
  const cb_status status = cb_run_go(run, &sink, NULL, NULL, NULL);
  out->is = cb_system_conserved(s);
  out->change = cb_run_changes(run);
  out->energy = 0;
  memset(out->momentum, 0, sizeof out->momentum);
  for (size_t r = 0; r < m.n_rows; r++) {
    out->energy = fmax(out->energy, fabs(memory_value(&m, r, "energy", 0) - memory_value(&m, 0, "energy", 0)));
    for (int i = 0; i < cb_system_space(s)->n_killing; i++)
      out->momentum[i] = fmax(out->momentum[i], fabs(memory_value(&m, r, "killing_momentum", (size_t)i) -
                                                     memory_value(&m, 0, "killing_momentum", (size_t)i)));
  }
  memory_free(&m);
  cb_run_free(run);
  return status == CB_OK;
}

static bool is_of_particles(const cb_integrator_class *class) { return class->solves == &cb_problem_hamiltonian; }

/* For one integrator: the number of measured halvings of the step, and the sum over them of the measured order minus
 * the order of the integrator. */
typedef struct score {
  int halvings;
  double beyond;
} score;
enum { METHODS = 16 };
static score scores[METHODS];

/* Returns the value below which changes are round-off, or the error of distances that are found by integration. */
static double least(const cb_space *g) { return g->intrinsic ? 1e-8 : 1e-11; }

/* Checks that the change `half` with half the step is at most half of the change `one`, and adds the measured order to
 * the score. In a single case the leading term of the error may be small, so that the next one dominates; the mean over
 * all cases shows the order. Changes below least(g) are not used, and neither are changes above a hundredth: there the
 * step is too long, for example near the pole of a chart. */
static void check_falls(const cb_space *g, const char *where, double one, double half, int order, score *of) {
  if (half < least(g) || one > 1e-2) return;
  if (!(half <= one / 2)) print_error("%s: order %d, a change of %g goes to %g\n", where, order, one, half);
  check_at_most(half, one / 2);
  of->halvings++;
  of->beyond += log2(one / half) - order;
}

static void check_found(const cb_space *g, kind what, const char *where, int order, const found *one, const found *half,
                        score *of) {
  bool any = false;
  for (int i = 0; i < g->n_killing; i++) any = any || half->is.momentum[i];
  assert_int_equal(isfinite(half->change.energy), half->is.energy);
  assert_int_equal(isfinite(half->change.momentum), any);
  assert_true(isnan(half->change.constraint));
  assert_int_equal(half->is.energy, what != DAMPED && what != TIMED);
  if (order && half->is.energy) check_falls(g, where, one->change.energy, half->change.energy, order, of);
  if (order && any) check_falls(g, where, one->change.momentum, half->change.momentum, order, of);
  if (!order && half->is.energy) check_at_most(half->change.energy, 1e-6); /* an adaptive integrator has this error */
  if (!order && any) check_at_most(half->change.momentum, 1e-6);
  if (!half->is.energy) check_at_least(half->energy, 1e-5);
  for (int i = 0; i < g->n_killing; i++) {
    if (what == FREE || what == DAMPED) assert_true(half->is.momentum[i]);
    if (!half->is.momentum[i] && !(half->momentum[i] > 1e-6))
      print_error("%s: %s changes by %g alone\n", where, g->killing[i].name, half->momentum[i]);
    if (!half->is.momentum[i]) check_at_least(half->momentum[i], 1e-6);
  }
}

/* Returns whether the step is too long to show the order: a change above round-off is not halved with half the step. */
static bool stands(const cb_space *g, const found *one, const found *half) {
  return (half->change.energy > fmax(least(g), one->change.energy / 2)) ||
         (half->change.momentum > fmax(least(g), one->change.momentum / 2));
}

static void by_method(const cb_space *g, const cb_system *s, kind what, const cb_integrator_class *class, score *of) {
  cb_integrator *in;
  found one, half;
  char where[160];
  int order;
  bool symplectic, symmetric;
  if (cb_integrator_create(class->name, NULL, s, &in)) return;
  class->properties(in, &order, &symplectic, &symmetric);
  snprintf(where, sizeof where, "%s%s%s, %s, %s", g->class_->name, g->chart ? " in " : "",
           g->chart ? g->chart->name : "", class->name, names[what]);
  double h = 0.1;
  bool done = measure(s, in, h, &one) && measure(s, in, h / 2, &half);
  for (; done && h > 0.03 && stands(g, &one, &half); h /= 2) {
    one = half;
    done = measure(s, in, h / 4, &half);
  }
  if (done) check_found(g, what, where, class->adaptive ? 0 : order, &one, &half, of);
  cb_integrator_free(in);
}

/* Tests all integrators in one space, or only `gauss` in intrinsic spaces, where distances are found by integration.
 * Spaces of one dimension are left out, because particles pass through one another there, and then a spring has a
 * kink. */
static void in_space(const cb_space *g, uint64_t *state) {
  if (g->dim < 2) return;
  for (kind what = FREE; what < KINDS; what++) {
    cb_system *s = make(g, *state, what);
    for (int i = 0; cb_integrator_classes[i]; i++) {
      const cb_integrator_class *class = cb_integrator_classes[i];
      assert_true(i < METHODS);
      if (is_of_particles(class) && (!g->intrinsic || !strcmp(class->name, "gauss")))
        by_method(g, s, what, class, &scores[i]);
    }
    cb_system_free(s);
  }
  check_uniform(state, 0, 1);
}

static void in_charts(const cb_space *g, uint64_t *state) { check_every_chart_of(g, state, in_space); }

static void what_is_called_conserved_is_kept_to_the_order(void **unused) {
  memset(scores, 0, sizeof scores);
  check_every_space(in_charts);
  for (int i = 0; cb_integrator_classes[i]; i++) {
    const cb_integrator_class *class = cb_integrator_classes[i];
    if (!is_of_particles(class) || class->adaptive) continue;
    print_message("%s: %d halvings, %.2f beyond the order in the mean\n", class->name, scores[i].halvings,
                  scores[i].beyond / scores[i].halvings);
    check_at_least(scores[i].halvings, 10);
    check_at_least(scores[i].beyond / scores[i].halvings, -0.3);
  }
}

static void so_it_is_where_distances_are_integrated(void **unused) { check_every_intrinsic_space(in_space); }

/* --- conserved quantities of systems, compared with lists made by hand --- */

static const char two[] =
    "curvebody: 1\nspace: e3\nbodies:\n  - {kind: rod, name: a, link: {spring: {stiffness: 1}}, "
    "place: {points: [[1, 0, 0], [2, 0, 0]]}}\nintegrator: {name: radau_iia, step: 0.1}\ntime: {end: 1}\n";

/* Writes the conserved quantities as letters: E for the energy, x, y, z for the first three Killing fields, which move
 * the base point, and u, v, w for rotations about the base point. */
static void told(const cb_system *s, char out[16]) {
  const cb_conserved is = cb_system_conserved(s);
  const cb_space *g = cb_system_space(s);
  int n = 0;
  if (is.energy) out[n++] = 'E';
  for (int i = 0; i < g->n_killing; i++)
    if (is.momentum[i]) out[n++] = "xyzuvw"[i];
  out[n] = 0;
}

static void each_part_breaks_what_it_does_not_respect(void **unused) {
  static const char *const far = "bodies.0.place={chart: polar, points: [[0.3, 1, 0], [0.6, 1, 1]]}";
  static const struct {
    const char *set[3], *expected;
  } cases[] = {
      {{"title=free"}, "Exyzuvw"},
      {{"interactions=[{between: [a, a], expression: d*t}]"}, "xyzuvw"},
      {{"potentials=[{central: {pair_potential: gravity, strength: 1, at: {point: [0, 0, 0]}}}]"}, "Euvw"},
      {{"potentials=[{central: {pair_potential: gravity, strength: 1, at: {point: [0, 0, 3]}}}]"}, "Ew"},
      {{"potentials=[{central: {pair_potential: gravity, strength: 1, at: {point: [1, 2, 3]}}}]"}, "E"},
      {{"potentials=[{expression: {value: z}}]"}, "Exyw"},
      {{"potentials=[{expression: {value: z*t}}]"}, "xyw"},
      {{"potentials=[{expression: {chart: polar, value: a}}]"}, "Euvw"},
      {{"potentials=[{expression: {chart: polar, value: b}}]"}, "Ew"},
      {{"walls=[{plane: {at: {point: [0, 0, -3]}, normal: [0, 0, 1]}}]"}, "Exyw"},
      {{"walls=[{plane: {at: {point: [0, 0, -3]}, normal: [0, 0, 1], restitution: 0.5}}]"}, "xyw"},
      {{"walls=[{ball: {at: {point: [0, 0, 0]}, radius: 9, side: inside}}]"}, "Euvw"},
      {{"walls=[{ball: {at: {point: [0, 2, 0]}, radius: 9, side: inside}}]"}, "Ev"},
      {{"walls=[{expression: {value: 5 + z}}]"}, "Exyw"},
      {{"walls=[{expression: {value: 5 + z + t}}]"}, "xyw"},
      {{"contacts={restitution: 1}"}, "Exyzuvw"},
      {{"contacts={restitution: 0.9}"}, "xyzuvw"},
      {{"contacts={restitution: 1, accumulation: rest}"}, "xyzuvw"},
      {{"constraints=[{rod: {between: [[a, 0], [a, 1]]}}]"}, "Exyzuvw"},
      {{"constraints=[{rod: {between: [[a, 0], [a, 1]], length: 1 + 0.1*sin(t)}}]"}, "xyzuvw"},
      {{"constraints=[{distance_to_point: {particle: [a, 0], at: {point: [0, 0, 0]}}}]"}, "Euvw"},
      {{"constraints=[{pin: {particle: [a, 0]}}]"}, "Eu"},
      {{"constraints=[{surface: {particle: [a, 0], value: z}}]"}, "Exyw"},
      {{"constraints=[{surface: {particle: [a, 0], value: z - t}}]"}, "xyw"},
      {{"constraints=[{velocity: {particles: [[a, 0]], coefficients: [[0, 0, 1]]}}]"}, "E"},
      {{"constraints=[{velocity: {particles: [[a, 0]], coefficients: [[0, 0, 1]], equals: 1}}]"}, ""},
      {{"bodies.0.link.spring.damping=0.1"}, "xyzuvw"},
      {{"space=h3", far,
        "potentials=[{central: {pair_potential: gravity, strength: 1, at: {chart: polar, point: [2, 0, 0]}}}]"},
       "Ew"},
      {{"space=s3", far, "walls=[{plane: {at: {point: [0, 0, 0, 1]}, normal: [0, 0, 1, 0]}}]"}, "Exyw"},
      {{"space=h3", far, "potentials=[{expression: {value: w}}]"}, "Euvw"},
      {{"space={name: h3, chart: polar}", far, "potentials=[{expression: {chart: polar, value: cos(b)}}]"}, "Ew"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_scenario *s;
    char found[16];
    size_t n = 1;
    while (n < 3 && cases[i].set[n]) n++;
    check_ok(cb_scenario_open_text("two", two, cases[i].set, n, &s));
    told(cb_scenario_system(s), found);
    if (strcmp(found, cases[i].expected)) fail_msg("%s: %s", cases[i].set[n - 1], found);
    cb_scenario_free(s);
  }
}

/* Two classes of walls whose gaps are computed with jets: a tube x^2 + y^2 < 4 about the z axis, and a screw
 * z < atan2(y, x) + 3 about the z axis. */
static cb_status tube(const void *of, const cb_space *g, const cb_jet *x, const cb_jet *t, const double *radius,
                      cb_jet *s) {
  const cb_jet xx = cb_jet_mul(&x[0], &x[0]), yy = cb_jet_mul(&x[1], &x[1]), square = cb_jet_add(&xx, &yy),
               minus = cb_jet_scale(&square, -1);
  *s = cb_jet_shift(&minus, 4);
  return CB_OK;
}

static cb_status screw(const void *of, const cb_space *g, const cb_jet *x, const cb_jet *t, const double *radius,
                       cb_jet *s) {
  const cb_jet angle = cb_jet_atan2(&x[1], &x[0]), above = cb_jet_sub(&angle, &x[2]);
  *s = cb_jet_shift(&above, 3);
  return CB_OK;
}

static void a_wall_on_jets_keeps_the_momenta_that_its_values_keep(void **unused) {
  static const struct {
    cb_wall_class class;
    double restitution;
    const char *expected;
  } cases[] = {{{.name = "tube", .on_jets = tube}, 1, "Ezw"},
               {{.name = "tube", .on_jets = tube, .timed = true}, 1, "zw"},
               {{.name = "tube", .on_jets = tube}, 0.5, "zw"},
               {{.name = "screw", .on_jets = screw}, 1, "E"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_space *g;
    cb_builder *b;
    cb_system *s;
    char found[16];
    check_ok(cb_space_create("e3", NULL, &g));
    check_ok(cb_builder_create(g, &b));
    check_ok(cb_builder_body(b, "a", NULL));
    check_ok(cb_builder_particle(b, NULL, 1, 0, 0, (const double[]){0.5, 0, 0}, (const double[]){1, 0, 0}, NULL));
    check_ok(cb_builder_wall(b, &cases[i].class, NULL, NULL, -1, cases[i].restitution));
    check_ok(cb_builder_finish(b, &s));
    told(s, found);
    assert_string_equal(found, cases[i].expected);
    cb_system_free(s);
    cb_builder_free(b);
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_part_breaks_what_it_does_not_respect),
                                     cmocka_unit_test(a_wall_on_jets_keeps_the_momenta_that_its_values_keep),
                                     cmocka_unit_test(what_is_called_conserved_is_kept_to_the_order),
                                     cmocka_unit_test(so_it_is_where_distances_are_integrated)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
