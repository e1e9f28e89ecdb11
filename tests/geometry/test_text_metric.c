/* Tests that metrics given as text agree with the closed forms of the same spaces, and that errors have their place in
 * the file. */
#include "geometry/numeric.h"
#include "geometry/text_metric.h"
#include "yaml/yaml.h"
#include "simulate.h"

enum { D = CB_DIM_MAX, POINTS = 50, PAIRS = 20 };

/* --- spaces --- */

static cb_space *text_space(const char *text, cb_tree **tree) {
  cb_space *g = NULL;
  check_ok(cb_yaml_read_text("test", text, strlen(text), tree));
  check_ok(cb_text_metric_create(cb_tree_root(*tree), &g));
  return g;
}

/* A space as text, and the name of the built-in space. Random points are between low and high. */
typedef struct pair {
  const char *name, *text;
  double low[D], high[D];
} pair;

static const pair pairs[] = {
    {"e3",
     "{metric: [[1], [0, a^2], [0, 0, (a*sin(b))^2]], coordinates: [a, b, g], domain: a > 0, base: [1, 1, 0]}",
     {0.4, 0.5, -1},
     {2, 2.6, 1}},
    {"s3",
     "{metric: [[1, 0, 0], [0, sin(a)^2, 0], [0, 0, sin(a)^2*sin(b)^2]], coordinates: [a, b, g], "
     "domain: [a > 0, a < pi, sin(b) > 0], base: [1, pi/2, 0]}",
     {0.5, 0.6, -0.7},
     {1.5, 2.5, 0.7}},
    {"h3",
     "{metric: [[1], [0, (exp(a) - exp(-a))^2/4], [0, 0, sinh(a)*sin(b)*sin(b)*sinh(a)]], coordinates: [a, b, g], "
     "base: [1, 1, 0]}",
     {0.4, 0.5, -1},
     {1.8, 2.6, 1}},
    {"h2xe",
     "{metric: [[1], [0, sinh(a)^2], [0, 0, one]], coordinates: [a, g, z], parameters: {k: 2, one: k/2}, "
     "base: [1, 0, 0]}",
     {0.4, -1, -1},
     {1.8, 1, 1}},
    {"ih",
     "{metric: [[x^2+y^2+z^2+c], [0, x^2+y^2+z^2+c], [0, 0, x^2+y^2+z^2+c]], coordinates: [x, y, z], "
     "parameters: {c: 2}}",
     {-3, -3, -3},
     {3, 3, 3}}};

typedef struct twins {
  cb_tree *tree;
  cb_space *text, *closed; /* text: the space from its metric; closed: the built-in space in the same chart */
} twins;

static twins open_twins(const pair *p) {
  twins t;
  t.text = text_space(p->text, &t.tree);
  check_ok(cb_space_create(p->name, NULL, &t.closed));
  if (!t.closed->chart) t.closed->chart = cb_chart_find(t.closed, "polar");
  t.closed->k = t.closed->dim;
  return t;
}

static void close_twins(twins *t) {
  cb_space_free(t->text);
  cb_space_free(t->closed);
  cb_tree_free(t->tree);
}

static void random_point(const pair *p, uint64_t *state, double *q) {
  for (int i = 0; i < D; i++) q[i] = check_uniform(state, p->low[i], p->high[i]);
}

static void check_arrays(const char *what, size_t n, const double *a, const double *b, double tolerance) {
  double size = 1, error = 0;
  for (size_t i = 0; i < n; i++) {
    size = fmax(size, fabs(b[i]));
    error = fmax(error, fabs(a[i] - b[i]));
  }
  if (error <= tolerance * size) return;
  print_error("%s: error %.3g of %.3g\n", what, error, size);
  fail();
}

#define EACH_PAIR(p) for (const pair *p = pairs; p < pairs + sizeof pairs / sizeof *pairs; p++)

/* --- against closed forms --- */

static void metric_and_derivatives_are_those_of_the_built_in_chart(void **s) {
  uint64_t state = check_seed();
  EACH_PAIR(p) {
    twins t = open_twins(p);
    for (int k = 0; k < POINTS; k++) {
      double q[D], a[D * D], da[D * D * D], dda[D * D * D * D], b[D * D], db[D * D * D], ddb[D * D * D * D], c[D * D];
      random_point(p, &state, q);
      check_ok(t.text->chart->metric(t.text, q, a, da, dda));
      check_ok(t.closed->chart->metric(t.closed, q, b, db, ddb));
      check_arrays(p->name, D * D, a, b, 1e-13);
      check_arrays(p->name, D * D * D, da, db, 1e-13);
      check_arrays(p->name, D * D * D * D, dda, ddb, 1e-13);
      check_ok(t.text->chart->metric(t.text, q, c, NULL, NULL));
      check_arrays(p->name, D * D, c, a, 1e-15);
      check_ok(t.text->chart->metric(t.text, q, c, db, NULL));
      check_arrays(p->name, D * D * D, db, da, 1e-14);
    }
    close_twins(&t);
  }
}

static void christoffel_symbols_and_curvature_are_those_of_the_built_in_chart(void **s) {
  uint64_t state = check_seed();
  EACH_PAIR(p) {
    twins t = open_twins(p);
    for (int k = 0; k < POINTS; k++) {
      double q[D], gamma[2][D][D][D];
      cb_curvature c[2];
      random_point(p, &state, q);
      for (int i = 0; i < 2; i++) {
        const cb_space *g = i ? t.closed : t.text;
        check_ok(cb_christoffel(g, q, gamma[i], NULL));
        check_ok(cb_curvature_at(g, q, &c[i]));
      }
      check_arrays(p->name, D * D * D, &gamma[0][0][0][0], &gamma[1][0][0][0], 1e-12);
      check_arrays(p->name, D * D * D * D, &c[0].riemann[0][0][0][0], &c[1].riemann[0][0][0][0], 1e-11);
      check_arrays(p->name, D * D, &c[0].ricci[0][0], &c[1].ricci[0][0], 1e-11);
      check_arrays(p->name, D * D, &c[0].sectional[0][0], &c[1].sectional[0][0], 1e-11);
      const double rr = q[0] * q[0] + q[1] * q[1] + q[2] * q[2], f = rr + 2;
      const double expected = !strcmp(p->name, "e3")     ? 0
                              : !strcmp(p->name, "s3")   ? 6
                              : !strcmp(p->name, "h3")   ? -6
                              : !strcmp(p->name, "h2xe") ? -2
                                                         : -6 * (rr + 4) / (f * f * f);
      check_near(c[0].scalar, expected, 1e-11);
    }
    close_twins(&t);
  }
}

static void distance_and_derivatives_are_those_of_the_built_in_chart(void **s) {
  uint64_t state = check_seed();
  EACH_PAIR(p) {
    twins t = open_twins(p);
    for (int k = 0; k < PAIRS; k++) {
      double q1[D], q2[D], d, e, ga[2 * D], gb[2 * D], ha[4 * D * D], hb[4 * D * D];
      random_point(p, &state, q1);
      random_point(p, &state, q2);
      check_ok(t.text->chart->distance(t.text, q1, q2, &d, ga, ha));
      check_ok(t.closed->chart->distance(t.closed, q1, q2, &e, gb, hb));
      check_relative(d, e, 1e-11);
      check_arrays(p->name, 2 * D, ga, gb, 1e-10);
      check_arrays(p->name, 4 * D * D, ha, hb, 1e-8);
    }
    close_twins(&t);
  }
}

/* --- bodies --- */

/* A built-in space, the same space given by the text of its metric, and three points at distances of about one unit. */
typedef struct stage {
  const char *closed, *text, *points[3];
} stage;

#define POLAR "[0.7, 1.2, 0.3]", "[0.9, 1.5, 1.4]", "[1.1, 0.8, 0.9]"
#define IH_METRIC "metric: [[x^2+y^2+z^2+2], [0, x^2+y^2+z^2+2], [0, 0, x^2+y^2+z^2+2]], coordinates: [x, y, z]"

static const stage stages[] = {
    {"{name: e3, chart: polar}",
     "{metric: [[1], [0, a^2], [0, 0, (a*sin(b))^2]], coordinates: [a, b, g], base: [1, 1, 0]}",
     {POLAR}},
    {"{name: s3, chart: polar}",
     "{metric: [[1], [0, sin(a)^2], [0, 0, (sin(a)*sin(b))^2]], coordinates: [a, b, g], base: [1, 1, 0]}",
     {POLAR}},
    {"{name: h3, chart: polar}",
     "{metric: [[1], [0, sinh(a)^2], [0, 0, (sinh(a)*sin(b))^2]], coordinates: [a, b, g], base: [1, 1, 0]}",
     {POLAR}},
    {"{name: h2xe, chart: polar}",
     "{metric: [[1], [0, sinh(a)^2], [0, 0, 1]], coordinates: [a, b, z], base: [1, 0, 0]}",
     {"[0.7, 0.3, 0.3]", "[0.9, 1.5, -0.2]", "[1.2, 0.9, 0.6]"}},
    {"{name: ih}", "{" IH_METRIC "}", {"[0.7, 0.3, 0.3]", "[0.2, 0.9, -0.2]", "[-0.3, 0.1, 0.6]"}},
    {"{name: s3, chart: stereographic}",
     "{metric: [[c/(1+x^2+y^2+z^2)^2], [0, c/(1+x^2+y^2+z^2)^2], [0, 0, c/(1+x^2+y^2+z^2)^2]], parameters: {c: 4}, "
     "coordinates: [x, y, z]}",
     {"[0.4, 0.1, 0.1]", "[-0.1, 0.3, -0.2]", "[-0.2, -0.3, 0.3]"}},
    {"{name: h3, chart: poincare}",
     "{metric: [[c/(1-x^2-y^2-z^2)^2], [0, c/(1-x^2-y^2-z^2)^2], [0, 0, c/(1-x^2-y^2-z^2)^2]], parameters: {c: 4}, "
     "coordinates: [x, y, z], domain: x^2+y^2+z^2 < 1}",
     {"[0.4, 0.1, 0.1]", "[-0.1, 0.3, -0.2]", "[-0.2, -0.3, 0.3]"}},
    {"{name: h2xe, chart: poincare}",
     "{metric: [[4/(1-x^2-y^2)^2], [0, 4/(1-x^2-y^2)^2], [0, 0, 1]], coordinates: [x, y, z], domain: x^2+y^2 < 1}",
     {"[0.4, 0.1, 0.1]", "[-0.1, 0.3, -0.2]", "[-0.2, -0.3, 0.5]"}}};
enum { STAGES = sizeof stages / sizeof *stages };

static const char *const bodies[] = {
    "kind: rod\n    link: {spring: {stiffness: 1, rest: 1}}\n    masses: [1, 2]",
    "kind: rod\n    link: rod\n    masses: [1, 2]",
    "kind: triangle\n    link: {spring: {stiffness: 3, rest: 0.8}}\n    masses: [1, 2, 0.7]",
    "kind: triangle\n    link: rod\n    masses: [1, 2, 0.7]"};

/* Elastic and rigid bodies with unequal masses. The given velocities of a rigid body do not fit its rods: they are
 * projected onto those that the rods allow. */
static void bodies_move_as_in_the_built_in_chart(void **s) {
  static const char form[] =
      "curvebody: 1\nspace: %s\nbodies:\n  - %s\n    name: r\n    place: {points: [%s, %s%s%s]}\n"
      "    motion: {velocities: [[0.1, 0.3, -0.2], [-0.2, 0.1, 0.1]%s]}\n"
      "integrator: {name: %s, step: 0.1}\ntime: {end: 1}\n"
      "record: {every: 1, observables: [separation, energy]}\n";
  static const char *const fields[] = {"position", "momentum", "separation", "energy"};
  double worst[4] = {0};
  for (int i = 0; i < STAGES; i++)
    for (int body = 0; body < 4; body++) {
      const bool three = body > 1, rigid = body % 2;
      simulation *run[2];
      for (int k = 0; k < 2; k++) {
        char text[2048];
        const stage *at = &stages[i];
        snprintf(text, sizeof text, form, k ? at->closed : at->text, bodies[body], at->points[0], at->points[1],
                 three ? ", " : "", three ? at->points[2] : "", three ? ", [0.1, -0.1, 0.2]" : "",
                 rigid ? "lobatto" : "gauss");
        run[k] = simulate(text, NULL, 0, (const char *const[]){fields[0], fields[1], fields[2], fields[3], NULL});
        assert_int_equal(run[k]->rows, 11);
      }
      for (int f = 0; f < 4; f++) {
        assert_int_equal(run[0]->width[f], run[1]->width[f]);
        const size_t n = run[0]->rows * run[0]->width[f];
        for (size_t e = 0; e < n; e++) worst[f] = fmax(worst[f], fabs(run[0]->value[f][e] - run[1]->value[f][e]));
        check_arrays(stages[i].closed, n, run[0]->value[f], run[1]->value[f], 1e-11);
      }
      for (int k = 0; k < 2; k++) simulation_free(run[k]);
    }
  for (int f = 0; f < 4; f++) print_message("%s %.1e  ", fields[f], worst[f]);
  print_message("\n");
}

/* The resolved scenario reads back as the same space, also after its tree has been freed. */
static void resolved_scenario_has_the_metric(void **s) {
  static const char text[] =
      "curvebody: 1\nspace: {metric: [[\"1 + u^2\"]], parameters: {m: 1}, coordinates: [u]}\n"
      "bodies: [{kind: particles, name: p, place: {points: [[0.5]]}}]\n"
      "integrator: {name: gauss, step: 0.1}\ntime: {end: 1}\n";
  cb_scenario *first, *second;
  check_ok(cb_scenario_open_text("first", text, NULL, 0, &first));
  check_ok(cb_scenario_open_text("second", cb_scenario_resolved(first), NULL, 0, &second));
  assert_string_equal(cb_scenario_resolved(first), cb_scenario_resolved(second));
  assert_non_null(strstr(cb_scenario_resolved(first), "1 + u^2"));
  const cb_space *g = cb_scenario_space(second);
  double metric, q = 3;
  check_ok(g->chart->metric(g, &q, &metric, NULL, NULL));
  check_near(metric, 10, 0);
  cb_scenario_free(first);
  cb_scenario_free(second);
}

/* --- plot, period, domain --- */

static void the_last_point_of_a_plot_is_the_position_and_the_others_are_its_arms(void **s) {
  cb_tree *tree;
  cb_space *g = text_space("{metric: [[1], [0, 1]], plot: [[0, 0, 0], [sin(u), -cos(u), 0], [u, v, 2]]}", &tree);
  cb_tree_free(tree);
  const double q[] = {0.4, -0.3}, v[] = {1, 0};
  double x[3], w[3], arm[CB_TEXT_POINTS][3];
  cb_plot_coordinates(g, q, v, x, w);
  assert_int_equal(cb_text_metric_arms(g, q, arm), 2);
  const double expected[] = {0.4, -0.3, 2, 0, 0, 0, sin(0.4), -cos(0.4), 0};
  for (int i = 0; i < 3; i++) check_near(x[i], expected[i], 0);
  for (int i = 0; i < 6; i++) check_near(arm[i / 3][i % 3], expected[3 + i], 1e-15); /* sin and cos are rounded once */
  check_near(w[0], 1, 0);
  cb_space_free(g);
}

static void plot_and_its_derivative_are_the_expressions(void **s) {
  cb_tree *tree;
  cb_space *g = text_space(
      "{metric: [[1], [0, u^2]], parameters: {c: 2}, periodic: [0, pi*c], base: [1, 0], "
      "plot: [u*cos(v), u*sin(v), c*u]}",
      &tree);
  cb_tree_free(tree);
  const double q[] = {1.5, 0.7}, v[] = {0.3, -2};
  double x[3], w[3];
  cb_plot_coordinates(g, q, v, x, w);
  check_near(x[0], 1.5 * cos(0.7), 1e-15);
  check_near(x[1], 1.5 * sin(0.7), 1e-15);
  check_near(x[2], 3, 0);
  check_near(w[0], 0.3 * cos(0.7) + 3 * sin(0.7), 1e-15);
  check_near(w[1], 0.3 * sin(0.7) - 3 * cos(0.7), 1e-15);
  check_near(w[2], 0.6, 1e-15);
  check_near(g->intrinsic->period[0], 0, 0);
  check_near(g->intrinsic->period[1], 2 * acos(-1), 1e-15);
  cb_space_free(g);
}

/* The bound that is computed from the curvature equals the known number of independent Killing fields of each space. */
static void the_curvature_bounds_the_number_of_killing_fields(void **state) {
  static const struct {
    const char *text;
    int count;
  } known[] = {
      {"{metric: [[1], [0, cosh(u)^2]], coordinates: [u, v]}", 3},
      {"{metric: [[1e6/v^2], [0, 1e6/v^2]], coordinates: [u, v], domain: v > 0, base: [0, 1]}", 3},
      {"{metric: [[1], [0, u^2]], coordinates: [u, v], domain: u > 0, base: [1, 0]}", 3},
      /* the space has a reflection symmetry about its base, u = 0, which is no Killing field */
      {"{metric: [[1], [0, 1+u^4]], coordinates: [u, v]}", 1},
      {"{metric: [[1], [0, 1], [0, -u, 1+u^2]], coordinates: [u, v, w]}", 4},          /* nil */
      {"{metric: [[1], [0, cosh(u)^2], [0, 0, 1]], coordinates: [u, v, w]}", 4},       /* H2 x E */
      {"{metric: [[1], [0, exp(2*u)], [0, 0, exp(2*u)]], coordinates: [u, v, w]}", 6}, /* H3 */
      {"{metric: [[1], [0, sin(u)^2], [0, 0, 1+u*v]], coordinates: [u, v, w], base: [1, 1, 0]}", 1},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    cb_tree *tree;
    cb_space *g = text_space(known[k].text, &tree);
    int count;
    check_ok(cb_killing_bound(g, g->intrinsic->base, &count));
    if (count != known[k].count) fail_msg("%s: %d, expected %d", known[k].text, count, known[k].count);
    cb_space_free(g);
    cb_tree_free(tree);
  }
  EACH_PAIR(p) {
    twins t = open_twins(p);
    double middle[D];
    int count;
    for (int i = 0; i < t.text->dim; i++) middle[i] = 0.6 * p->low[i] + 0.4 * p->high[i];
    check_ok(cb_killing_bound(t.text, middle, &count));
    assert_int_equal(count, t.closed->n_killing);
    close_twins(&t);
  }
}

static void outside_the_domain_says_where_and_what_was_expected(void **s) {
  cb_tree *tree;
  cb_space *g = text_space("{metric: [[1], [u*v, 4]], domain: [u > -1, u + v < 8], coordinates: [u, v]}", &tree);
  double metric[4];
  const double left[] = {-1.5, 2}, steep[] = {2, 1}, nowhere[] = {NAN, 0};
  assert_int_equal(g->chart->metric(g, left, metric, NULL, NULL), CB_ERROR_DOMAIN);
  assert_string_equal(cb_error_text(), "u = -1.5, v = 2 is outside the domain of the space: expected u > -1");
  assert_int_equal(g->chart->metric(g, steep, metric, NULL, NULL), CB_ERROR_DOMAIN);
  assert_string_equal(cb_error_text(), "the metric is not positive definite at u = 2, v = 1: pivot 2 of 2 is 0");
  assert_int_equal(g->chart->metric(g, nowhere, metric, NULL, NULL), CB_ERROR_DOMAIN);
  assert_int_equal(cb_space_check_point(g, left, 0), CB_ERROR_DOMAIN);
  cb_space_free(g);
  cb_tree_free(tree);
}

/* Points on the other side of a zero of a function of the domain are outside, although no function is 0 at these
 * points. */
static void beyond_a_zero_of_the_domain_is_outside(void **s) {
  cb_tree *tree;
  cb_space *g = text_space("{metric: [[1], [0, u^2]], domain: [u, 4 - u], coordinates: [u, v], base: [1, 0]}", &tree);
  double metric[4];
  const double inside[] = {3, 2}, before[] = {-1, 2}, behind[] = {5, 1};
  check_ok(g->chart->metric(g, inside, metric, NULL, NULL));
  assert_int_equal(g->chart->metric(g, before, metric, NULL, NULL), CB_ERROR_DOMAIN);
  assert_string_equal(
      cb_error_text(),
      "u = -1, v = 2 is outside the domain of the space: expected u, with the sign that it has at the base");
  assert_int_equal(g->chart->metric(g, behind, metric, NULL, NULL), CB_ERROR_DOMAIN);
  cb_space_free(g);
  cb_tree_free(tree);
}

/* --- messages --- */

static void wrong_metrics_are_refused_with_their_place(void **s) {
  static const struct {
    const char *text, *message;
  } wrong[] = {
      {"{metric: 3}", "test:1:10: error: metric: expected a list of 1 to 3 rows"},
      {"{metric: [[1], [0, 1], [0, 0, 1], [0, 0, 0, -1]]}",
       "test:1:10: error: metric: expected a list of 1 to 3 rows; the metric must be Riemannian: Lorentzian metrics"},
      {"{metric: [1]}", "test:1:11: error: metric: expected row 1 as a list"},
      {"{metric: [[1], [0]]}",
       "test:1:16: error: metric: expected a matrix of 2 rows and columns, or its lower "
       "triangle; row 2 has 1 entry"},
      {"{metric: [[1, 0], [0]]}", "row 2 has 1 entry"},
      {"{metric: [[1], [0, 1 + w]], coordinates: [u, v]}", "test:1:24: error: unknown name `w`"},
      {"{metric: [[1], [0, \"sinh(u)^\"]]}", "test:1:29: error: the expression ends"},
      {"{metric: [[1], [0, 1 +* u]]}", "test:1:23: error: unexpected `*`"},
      {"{metric: [[1], [0, []]]}", "test:1:20: error: "},
      {"{metric: [[1, u], [v, 1]]}",
       "test:1:15: error: metric: entry 1, 2 is `u`, expected the same as entry 2, 1, "
       "`v`"},
      {"{metric: [[1, 2], [3, 20]]}", "test:1:15: error: metric: entry 1, 2 is `2`"},
      {"{metric: [[-1], [0, 1]], base: [1, 1]}", "the metric must be Riemannian: Lorentzian metrics"},
      {"{metric: [[-1], [0, 1]]}", "the metric must be Riemannian: Lorentzian metrics"},
      {"{metric: [[1], [2, 1]]}", "not positive definite at u = 0, v = 0: pivot 2 of 2 is -3; expected a point where"},
      {"{metric: [[1], [0, u]], base: [-2, 1]}",
       "test:1:31: error: the metric is not positive definite at u = -2, "
       "v = 1: pivot 2 of 2 is -2"},
      {"{metric: [[1/u]]}", "test:1:10: error: the metric is not finite at u = 0"},
      {"{metric: [[1]], domain: u > 1, base: [0]}",
       "test:1:38: error: u = 0 is outside the domain of the space: "
       "expected u > 1"},
      {"{metric: [[1]], domain: u > x}", "test:1:29: error: unknown name `x`"},
      {"{metric: [[1]], coordinates: [u, v]}", "test:1:30: error: coordinates: expected a list of 1 name"},
      {"{metric: [[1], [0, 1]], coordinates: [u, u]}",
       "test:1:42: error: the name 'u' is given twice: it is already a coordinate"},
      {"{metric: [[1]], parameters: {u: 1}}", "test:1:30: error: the name 'u' is given twice"},
      {"{metric: [[1]], parameters: {sinh: 1}}",
       "test:1:30: error: the name 'sinh' is the name of a function: expected another name"},
      {"{metric: [[1]], coordinates: [2x]}", "test:1:31: error: expected a name of at most 31 letters"},
      {"{metric: [[1]], parameters: {a: b, b: 1}}", "test:1:33: error: unknown name `b`"},
      {"{metric: [[1]], parameters: {a: 2*u}}", "test:1:33: error: a: expected a constant, found the coordinate 'u'"},
      {"{metric: [[1]], parameters: {a: 1/0}}", "test:1:33: error: a: expected a finite number, found inf"},
      {"{metric: [[1]], periodic: [-1]}", "test:1:28: error: periodic: expected a period, or 0 for none, found -1"},
      {"{metric: [[2 + sin(u)]], periodic: [6]}",
       "test:1:37: error: periodic: expected a metric that is the same one period away, but it differs by"},
      {"{metric: [[1]], periodic: [1, 2]}", "test:1:27: error: periodic: expected a list of 1 number"},
      {"{metric: [[1]], plot: [u, 0]}", "test:1:23: error: plot: expected a list of 3 expressions"},
      {"{metric: [[1]], plot: [[u, 0, 0], [u, 0]]}", "test:1:35: error: plot: expected a list of 3 expressions"},
      {"{metric: [[1]], plot: [[u, 0, 0], 1]}", "test:1:35: error: plot: expected a list of 3 expressions"},
      {"{metric: [[1]], plot: [u, 0, x]}", "test:1:30: error: unknown name `x`"},
      {"{metric: [[1]], coordinate: [u]}", "test:1:17: error: unknown key 'coordinate', did you mean 'coordinates'?"},
      {"{metric: [[1]], chart: polar}", "test:1:17: error: unknown key 'chart'"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cb_tree *tree;
    cb_space *g = NULL;
    check_ok(cb_yaml_read_text("test", wrong[i].text, strlen(wrong[i].text), &tree));
    const cb_status status = cb_text_metric_create(cb_tree_root(tree), &g);
    if (status != CB_ERROR_INPUT || g || !strstr(cb_error_text(), wrong[i].message))
      print_error("%s\n  expected ...%s...\n  found %d %s\n", wrong[i].text, wrong[i].message, status, cb_error_text());
    assert_int_equal(status, CB_ERROR_INPUT);
    assert_null(g);
    assert_non_null(strstr(cb_error_text(), wrong[i].message));
    cb_tree_free(tree);
  }
}

/* Straight lines of the plane pass a round hole of radius r at a distance of `by` radii from its centre. A line through
 * the hole leaves the domain, even if its part in the hole is very short, in cartesian and polar coordinates and for
 * every way to write the domain. */
static void a_geodesic_notices_a_hole_of_any_size(void **state) {
  static const struct {
    const char *text;
    double r, length, by;
    bool polar;
  } known[] = {
      {"{metric: [[1], [0, 1]], coordinates: [x, y], domain: (x - 0.3)^2 + (y - 1)^2 > 1e-4}", 1e-2, 4, 0.9, false},
      {"{metric: [[1], [0, 1]], coordinates: [x, y], domain: (x - 0.3)^2 + (y - 1)^2 > 1e-10}", 1e-5, 4, 0.9, false},
      {"{metric: [[1], [0, 1]], coordinates: [x, y], domain: '1e-6 <= hypot(x - 0.3, y - 1)'}", 1e-6, 2000, 0.9, false},
      {"{metric: [[1], [0, 1]], coordinates: [x, y], domain: [x < 9e3, '(y > -9e3)*(hypot(x - 0.3, y - 1) > 1e-5)']}",
       1e-5, 400, 0.9, false},
      {"{metric: [[1], [0, r^2]], coordinates: [r, v], base: [1, 0], domain: [r > 0, (r*cos(v) - 0.3)^2 + (r*sin(v) - "
       "1)^2 > 1e-8]}",
       1e-4, 50, 0.9, true},
      {"{metric: [[1], [0, r^2]], coordinates: [r, v], base: [1, 0], domain: [r > 0, (r*cos(v) - 0.3)^2 + (r*sin(v) - "
       "1)^2 > 1e-8]}",
       1e-4, 5, 0.98, true},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    for (int way = 0; way < 4; way++) {
      /* If `beside` is set, the line passes outside the hole, at 1.02 radii from its centre. If `back` is set, it
       * starts on the other side of the hole. */
      const bool beside = way & 1, back = way & 2;
      cb_tree *tree;
      cb_space *g = text_space(known[k].text, &tree);
      const double from[] = {back ? -1.4 : 2, back ? 2.5 : -0.5}, to[] = {0.3 - from[0], 1 - from[1]},
                   d = hypot(to[0], to[1]), off = known[k].r * (beside ? 1.02 : known[k].by),
                   t[] = {to[0] / d, to[1] / d}, x = from[0] - off * t[1], y = from[1] + off * t[0], r = hypot(x, y);
      double q[] = {x, y}, u[] = {known[k].length * t[0], known[k].length * t[1]}, q1[D], u1[D];
      if (known[k].polar) {
        const double v = u[0] * y - u[1] * x;
        u[0] = (u[0] * x + u[1] * y) / r;
        u[1] = -v / (r * r);
        q[0] = r;
        q[1] = atan2(y, x);
      }
      const cb_status status = cb_numeric_exp(g, q, u, q1, u1, NULL);
      if (status != (beside ? CB_OK : CB_ERROR_DOMAIN)) fail_msg("%zu %d: %s", k, way, cb_error_text());
      if (!beside) assert_non_null(strstr(cb_error_text(), "is outside the domain of the space: expected "));
      /* a line that ends before the hole is valid */
      for (int i = 0; i < 2; i++) u[i] *= 0.9 * d / known[k].length;
      check_ok(cb_numeric_exp(g, q, u, q1, u1, NULL));
      cb_space_free(g);
      cb_tree_free(tree);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_geodesic_notices_a_hole_of_any_size),
      cmocka_unit_test(metric_and_derivatives_are_those_of_the_built_in_chart),
      cmocka_unit_test(christoffel_symbols_and_curvature_are_those_of_the_built_in_chart),
      cmocka_unit_test(distance_and_derivatives_are_those_of_the_built_in_chart),
      cmocka_unit_test(bodies_move_as_in_the_built_in_chart),
      cmocka_unit_test(resolved_scenario_has_the_metric),
      cmocka_unit_test(plot_and_its_derivative_are_the_expressions),
      cmocka_unit_test(the_last_point_of_a_plot_is_the_position_and_the_others_are_its_arms),
      cmocka_unit_test(the_curvature_bounds_the_number_of_killing_fields),
      cmocka_unit_test(beyond_a_zero_of_the_domain_is_outside),
      cmocka_unit_test(outside_the_domain_says_where_and_what_was_expected),
      cmocka_unit_test(wrong_metrics_are_refused_with_their_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
