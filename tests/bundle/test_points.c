/* Tests of bundles of points: charts with second derivatives, groups as isometries, derivatives of the connection A,
 * its form G, plots, singular shapes, and errors in scenarios. r: shape; xi: body velocity; M: cost metric; P, Q and R:
 * blocks of G = ((P, Q), (Q^T, R)). */
#include "points.h"
#include "check_spaces.h"

/* Returns a difference quotient of order 6 from the values at -3h .. 3h. */
static double slope(const double f[7], double h) {
  return ((f[6] - f[0]) / 60 - 3 * (f[5] - f[1]) / 20 + 3 * (f[4] - f[2]) / 4) / h;
}

static void one_space(const cb_space *g, uint64_t *seed) {
  const double h = 2e-3;
  int known = 0;
  for (int c = 0; c < g->n_charts; c++) {
    const cb_chart *chart = &g->charts[c];
    if (!cb_points_knows(chart)) continue;
    known++;
    double x[CB_COORD_MAX], q[CB_COORD_MAX], jacobian[7][CB_COORD_MAX * CB_COORD_MAX];
    check_random_point(g, seed, check_radius(g), x);
    check_ok(chart->from_point(g, x, q));
    cb_point_jet jet;
    check_ok(cb_points_chart(g, chart, q, &jet));
    check_ok(chart->to_point(g, q, x, jacobian[0]));
    for (int a = 0; a < g->embedding; a++) {
      check_near(jet.x[a], x[a], 1e-14);
      for (int i = 0; i < chart->size; i++) check_near(jet.d[i][a], jacobian[0][a * chart->size + i], 1e-13);
    }
    if (chart->size > g->dim) continue; /* coordinates of the embedding, in which x is linear */
    for (int j = 0; j < chart->size; j++) {
      for (int s = 0; s < 7; s++) {
        double moved[CB_COORD_MAX];
        memcpy(moved, q, sizeof moved);
        moved[j] += (s - 3) * h;
        check_ok(chart->to_point(g, moved, x, jacobian[s]));
      }
      for (int a = 0; a < g->embedding; a++)
        for (int i = 0; i < chart->size; i++) {
          double f[7];
          for (int s = 0; s < 7; s++) f[s] = jacobian[s][a * chart->size + i];
          /* The differences with the step h have errors of about 1e-16/h and h^6. */
          check_near(jet.dd[i][j][a], slope(f, h), 1e-9 * (1 + fabs(jet.dd[i][j][a])));
        }
    }
  }
  assert_true(known >= 3);
}

static void charts_of_points_have_exact_derivatives(void **state) { check_every_space(one_space); }

/* For each space, some lists of axes and the subgroup of isometries that these axes span. */
static const struct {
  const char *space, *axes, *group;
} subgroups[] = {
    {"e2", "[translation_x]", "r1"},
    {"e2", "[shift_y, shift_x]", "r2"},
    {"e2", "[rotation_z]", "r1"},
    {"e3", "[shift_x, shift_y, shift_z]", "r3"},
    {"e3", "[shift_y, shift_x, rotation_z]", "se2"},
    {"e3", "[rotation_x, rotation_y, rotation_z]", "so3"},
    {"e3", "[shift_z, rotation_z]", "r2"},
    {"s2", "[rotation_wx]", "r1"},
    {"s3", "[shift_x]", "r1"},
    {"s3", "[rotation_wz, rotation_z]", "r2"},
    {"s3", "[shift_x, shift_y, rotation_z]", "so3"},
    {"s3", "[rotation_x, rotation_y, rotation_z]", "so3"},
    {"h2", "[boost_x]", "r1"},
    {"h3", "[boost_y, rotation_y]", "r2"},
    {"h3", "[boost_x, boost_y, rotation_z]", "so21"},
    {"h3", "[rotation_x, rotation_y, rotation_z]", "so3"},
    {"h2xe", "[shift_z, shift_x]", "r2"},
    {"h2xe", "[boost_x, boost_y, rotation_z]", "so21"},
    {"{name: s3, curvature: 3}", "[shift_x, shift_y, rotation_z]", "so3"},
    {"{name: h3, curvature: -0.3}", "[boost_x, boost_y, rotation_z]", "so21"},
};
enum { SUBGROUPS = sizeof subgroups / sizeof *subgroups };

static void check_group(const cb_bundle *b, uint64_t *seed) {
  const cb_group *G = b->group;
  const cb_space *g = cb_points_space(b);
  double a[CB_GROUP_DIM], x[CB_COORD_MAX], y[CB_COORD_MAX], z[CB_COORD_MAX], v[CB_COORD_MAX];
  double one[CB_GROUP_SIZE], two[CB_GROUP_SIZE], both[CB_GROUP_SIZE];
  cb_isometry first, second, product;
  check_random_point(g, seed, check_radius(g), x);
  for (int k = 0; k < G->dim; k++) a[k] = check_uniform(seed, -1, 1);
  G->exp(G, a, one);
  for (int k = 0; k < G->dim; k++) a[k] = check_uniform(seed, -1, 1);
  G->exp(G, a, two);
  G->multiply(G, one, two, both);
  cb_points_isometry(b, one, &first);
  cb_points_isometry(b, two, &second);
  cb_points_isometry(b, both, &product);
  cb_isometry_point(g, &second, x, y);
  cb_isometry_point(g, &first, y, y);
  cb_isometry_point(g, &product, x, z);
  for (int e = 0; e < g->embedding; e++) check_near(z[e], y[e], 1e-13);
  check_ok(cb_space_check_point(g, z, 1e-13));
  for (int k = 0; k < G->dim; k++) { /* the field of the basis vector e_k is d/ds exp(s e_k) x at s = 0 */
    const double h = 1e-2;
    double f[CB_COORD_MAX][7];
    for (int s = 0; s < 7; s++) {
      for (int i = 0; i < G->dim; i++) a[i] = i == k ? (s - 3) * h : 0;
      G->exp(G, a, one);
      cb_points_isometry(b, one, &first);
      cb_isometry_point(g, &first, x, y);
      for (int e = 0; e < g->embedding; e++) f[e][s] = y[e];
    }
    cb_points_field(b, k, x, v);
    for (int e = 0; e < g->embedding; e++) check_near(v[e], slope(f[e], h), 1e-10);
  }
}

static void elements_of_the_group_are_isometries_with_its_products_and_fields(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < POINTS_SPACES; s++) {
    cb_bundle *b = random_points(&seed, &points_spaces[s], 4);
    check_group(b, &seed);
    cb_bundle_free(b);
  }
  for (int s = 0; s < SUBGROUPS; s++) {
    char text[512], at[64];
    const bool plane = strstr(subgroups[s].space, "2") && !strstr(subgroups[s].space, "h2xe");
    snprintf(at, sizeof at, "%s", plane ? "[u, 0.3]" : "[u, 0.3, 0.2*v]");
    snprintf(text, sizeof text,
             "{space: %s, chart: translation, shape: [u, v], group: %s, points: [{mass: 1, at: %s}]}",
             subgroups[s].space, subgroups[s].axes, at);
    cb_bundle *b = points_from(text);
    assert_string_equal(b->group->name, subgroups[s].group);
    check_group(b, &seed);
    cb_bundle_free(b);
  }
}

static void derivatives_of_connection_and_metric_agree_with_differences(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < POINTS_SPACES; s++) {
    cb_bundle *b = random_points(&seed, &points_spaces[s], 5);
    enum { MOST = CB_GROUP_DIM * 2 };
    const int n = b->n, count = b->group->dim * n;
    const double h = 5e-3;
    double r[2], A[7][MOST], M[7][4], dA[2 * MOST], dM[8];
    for (int i = 0; i < n; i++) r[i] = check_uniform(&seed, -0.5, 0.5);
    check_ok(cb_bundle_connection(b, r, A[0], dA, M[0], dM));
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < 7; k++) {
        double moved[2] = {r[0], r[1]};
        moved[i] += (k - 3) * h;
        check_ok(cb_bundle_connection(b, moved, A[k], NULL, M[k], NULL));
      }
      for (int c = 0; c < count + n * n; c++) {
        double f[7];
        for (int k = 0; k < 7; k++) f[k] = c < count ? A[k][c] : M[k][c - count];
        const double exact = c < count ? dA[i * count + c] : dM[i * n * n + c - count];
        /* The error of differences with the step h is h^6 times seventh derivatives. */
        check_near(exact, slope(f, h), 1e-9 * (1 + fabs(exact)));
      }
    }
    cb_bundle_free(b);
  }
}

/* If a body moves by xi while its shape changes by r', G(z, z) with z = (xi, r') equals the sum of m |v|^2 over its
 * points with mass m and velocity v. */
static void the_form_is_twice_the_kinetic_energy(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < POINTS_SPACES; s++) {
    cb_bundle *b = random_points(&seed, &points_spaces[s], 5);
    const cb_space *g = cb_points_space(b);
    const int dim = b->group->dim, n = b->n, w = dim + n, k = g->embedding;
    double r[2], z[CB_GROUP_DIM + 2], G[(CB_GROUP_DIM + 2) * (CB_GROUP_DIM + 2)], x[5 * CB_COORD_MAX],
        dx[10 * CB_COORD_MAX], A[CB_GROUP_DIM * 2], M[4], energy = 0, form = 0, square = 0;
    for (int i = 0; i < n; i++) r[i] = check_uniform(&seed, -0.5, 0.5);
    for (int i = 0; i < w; i++) z[i] = check_uniform(&seed, -1, 1);
    double P[CB_GROUP_DIM * CB_GROUP_DIM];
    check_ok(b->class_->form(b, r, G, NULL));
    check_ok(cb_bundle_locked(b, r, P));
    for (int a = 0; a < dim * dim; a++) check_near(P[a], G[a / dim * w + a % dim], 0);
    check_ok(cb_points_place(b, r, x, dx));
    for (int m = 0; m < 5; m++) {
      double v[CB_COORD_MAX] = {0}, field[CB_COORD_MAX];
      for (int a = 0; a < dim; a++) {
        cb_points_field(b, a, x + m * k, field);
        for (int e = 0; e < k; e++) v[e] += z[a] * field[e];
      }
      for (int i = 0; i < n; i++)
        for (int e = 0; e < k; e++) v[e] += z[dim + i] * dx[(m * n + i) * k + e];
      energy += cb_points_masses(b)[m] * cb_inner(g, v, v);
    }
    for (int i = 0; i < w; i++)
      for (int j = 0; j < w; j++) form += G[i * w + j] * z[i] * z[j];
    check_near(form, energy, 1e-13 * energy);
    check_ok(cb_bundle_connection(b, r, A, NULL, M, NULL)); /* G = ((P, Q), (Q^T, R)), P A = Q */
    for (int a = 0; a < dim; a++)
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int c = 0; c < dim; c++) sum += G[a * w + c] * A[c * n + i];
        check_near(sum, G[a * w + dim + i], 1e-13);
      }
    for (int a = 0; a < dim; a++) { /* for xi = -A r' the value of the form G is r'^T M r' */
      z[a] = 0;
      for (int i = 0; i < n; i++) z[a] -= A[a * n + i] * z[dim + i];
    }
    form = 0;
    for (int i = 0; i < w; i++)
      for (int j = 0; j < w; j++) form += G[i * w + j] * z[i] * z[j];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) square += M[i * n + j] * z[dim + i] * z[dim + j];
    check_near(square, form, 1e-13);
    cb_bundle_free(b);
  }
}

static void a_plot_shows_the_points_where_the_group_takes_them(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < POINTS_SPACES; s++) {
    char *text = random_points_text(&seed, &points_spaces[s], 3, "lines: [[0, 1], [0, 2]],");
    cb_bundle *b = points_from(text);
    free(text);
    assert_int_equal(b->points, 3);
    assert_int_equal(b->lines, 2);
    assert_int_equal(b->line[1][1], 2);
    const cb_space *g = cb_points_space(b);
    const double r[2] = {0.2, -0.3};
    double a[CB_GROUP_DIM], element[CB_GROUP_SIZE], x[3 * CB_COORD_MAX], drawn[3][3], expected[3];
    cb_isometry move;
    for (int k = 0; k < b->group->dim; k++) a[k] = check_uniform(&seed, -1, 1);
    b->group->exp(b->group, a, element);
    check_ok(b->class_->plot(b, r, element, drawn));
    check_ok(cb_points_place(b, r, x, NULL));
    cb_points_isometry(b, element, &move);
    for (int m = 0; m < 3; m++) {
      double y[CB_COORD_MAX];
      cb_isometry_point(g, &move, x + m * g->embedding, y);
      cb_plot_coordinates(g, y, NULL, expected, NULL);
      for (int i = 0; i < 3; i++) check_near(drawn[m][i], expected[i], 1e-15);
    }
    cb_bundle_free(b);
  }
}

static void a_locked_inertia_that_is_singular_names_its_axis(void **state) {
  static const struct {
    const char *text, *axis;
  } cases[] = {
      {"{space: e3, chart: cartesian, shape: [d], points: [{mass: 1, at: [d, 0, 0]}, {mass: 2, at: [-d, 0, 0]}]}",
       "axis omega_x"},
      {"{space: e3, chart: cartesian, shape: [d], points: [{mass: 1, at: [d, d, 0]}, {mass: 2, at: [-d, -d, 0]}]}",
       "axis omega_x + omega_y"},
      {"{space: s3, chart: polar, shape: [d], points: [{mass: 1, at: [d, pi/2, 0.4]}, {mass: 2, at: [0.3, 0, 0]}, "
       "{mass: 1, at: [0, 0, 0]}]}",
       NULL},
      {"{space: h3, chart: polar, shape: [d], points: [{mass: 1, at: [d, 0, 0]}, {mass: 2, at: [2*d, pi, 0]}]}",
       "axis omega_z"},
      {"{space: e2, chart: cartesian, shape: [d], points: [{mass: 1, at: [0, 0]}, {mass: 2, at: [0, 0]}]}",
       "axis omega"},
      {"{space: s2, chart: polar, shape: [d], points: [{mass: 1, at: [0, d]}]}", "axis omega_z"},
      {"{space: s2, chart: embedding, shape: [d], points: [{mass: 1, at: [0.6, 0, 0.8]}]}", "axis"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_bundle *b = points_from(cases[i].text);
    const double r[1] = {0.7};
    double A[CB_GROUP_DIM];
    const cb_status status = cb_bundle_connection(b, r, A, NULL, NULL, NULL);
    if (!cases[i].axis) {
      check_ok(status);
    } else {
      assert_int_equal(status, CB_STEP_SINGULAR);
      if (!strstr(cb_error_text(), cases[i].axis)) fail_msg("'%s' lacks '%s'", cb_error_text(), cases[i].axis);
    }
    cb_bundle_free(b);
  }
}

static void a_shape_outside_the_chart_is_a_failed_step(void **state) {
  static const char *const texts[] = {
      "{space: h2, chart: poincare, shape: [d], points: [{mass: 1, at: [d, 0]}, {mass: 1, at: [0, 0.1]}]}",
      "{space: e2, chart: cartesian, shape: [d], points: [{mass: 1, at: [\"sqrt(1 - d)\", 0]}, {mass: 1, at: [0, 1]}]}",
      "{space: s2, chart: embedding, shape: [d], points: [{mass: 1, at: [d, 0, 1]}, {mass: 1, at: [0, 0, 1]}]}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cb_bundle *b = points_from(texts[i]);
    const double r[1] = {1.5};
    double A[CB_GROUP_DIM];
    assert_int_equal(cb_bundle_connection(b, r, A, NULL, NULL, NULL), CB_STEP_DOMAIN);
    if (!strstr(cb_error_text(), "point 0")) fail_msg("'%s' does not name the point", cb_error_text());
    cb_bundle_free(b);
  }
}

static void parameters_and_periods_are_read(void **state) {
  cb_bundle *b = points_from(
      "{space: e2, chart: cartesian, shape: [l, a], parameters: {m: 2, k: m + 1}, period: {a: 2*pi}, "
      "points: [{mass: k, at: [0, 0]}, {mass: m/4, at: [\"k*l*cos(a)\", \"m*l*sin(a)\"]}]}");
  const double r[2] = {0.5, 0.25};
  double x[4];
  check_ok(cb_points_place(b, r, x, NULL));
  check_near(x[2], 1.5 * cos(0.25), 1e-15);
  check_near(x[3], sin(0.25), 1e-15);
  check_near(cb_points_masses(b)[0], 3, 0);
  check_near(cb_points_masses(b)[1], 0.5, 0);
  check_near(b->period[0], 0, 0);
  check_near(b->period[1], 2 * M_PI, 0);
  cb_bundle_free(b);
}

static void what_is_wrong_is_named_with_its_place(void **state) {
  static const char *const cases[][2] = {
      {"{space: e4, chart: polar, shape: [l], points: [{mass: 1, at: [l, 0]}]}", "test:1:9: error: unknown space 'e4'"},
      {"{space: nil, chart: polar, shape: [l], points: [{mass: 1, at: [l, 0, 0]}]}",
       "test:1:9: error: space: expected"},
      {"{space: {name: s2, chart: polar}, chart: polar, shape: [l], points: [{mass: 1, at: [l, 0]}]}",
       "test:1:27: error: space: expected no `chart`"},
      {"{space: e2, chart: polr, shape: [l], points: [{mass: 1, at: [l, 0]}]}",
       "test:1:20: error: chart: expected one"},
      {"{space: e2, chart: polar, shape: l, points: [{mass: 1, at: [l, 0]}]}",
       "test:1:34: error: shape: expected a list"},
      {"{space: e2, chart: polar, shape: [l, l], points: [{mass: 1, at: [l, 0]}]}",
       "test:1:38: error: shape: the name"},
      {"{space: e2, chart: polar, shape: [sin], points: [{mass: 1, at: [0, 0]}]}", "is the name of a function"},
      {"{space: e2, chart: polar, shape: [l], parameters: {l: 1}, points: [{mass: 1, at: [0, 0]}]}",
       "test:1:52: error: parameters: the name 'l' is given twice: it is already a shape variable"},
      {"{space: e2, chart: polar, shape: [l], parameters: {m: l}, points: [{mass: 1, at: [0, 0]}]}",
       "test:1:55: error: m: "},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: l, at: [0, 0]}]}", "test:1:55: error: mass: "},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: -1, at: [0, 0]}]}", "mass: expected a number > 0"},
      {"{space: e2, chart: polar, shape: [l], points: [{at: [0, 0]}]}", "test:1:48: error: points: missing key 'mass'"},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: 1, at: [0, 0, l]}]}", "at: expected a list of 2"},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: 1, at: [0, 2*k]}]}", "test:1:68: error: g: "},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: 1, at: [0, l]}], lines: [[0, 1]]}",
       "test:1:84: error: lines: expected a point from 0 to 0"},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: 1, at: [0, l]}], group: [boost_x]}",
       "test:1:80: error: unknown axis 'boost_x'"},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: 1, at: [0, l]}], group: [shift_x, rotation_z]}",
       "do not commute"},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: 1, at: [0, l]}], group: [shift_x, translation_x]}",
       "is listed twice"},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: 1, at: [0, l]}], period: {l: -1}}",
       "period: expected a number > 0"},
      {"{space: e2, chart: polar, shape: [l], points: [{mass: 1, at: [0, l]}], period: {k: 1}}", "'k'"},
      {"{space: s2xe, chart: polar, shape: [l], points: [{mass: 1, at: [1, 0, l]}]}", "are not a supported group"},
      {"{chart: polar, shape: [l], points: [{mass: 1, at: [0, l]}]}", "space"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_bundle *b = NULL;
    const cb_status status = points_create(cases[i][0], &b);
    if (status != CB_ERROR_INPUT || !strstr(cb_error_text(), cases[i][1]))
      fail_msg("%s: %s: '%s' lacks '%s'", cases[i][0], cb_status_name(status), cb_error_text(), cases[i][1]);
    assert_null(b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(charts_of_points_have_exact_derivatives),
      cmocka_unit_test(elements_of_the_group_are_isometries_with_its_products_and_fields),
      cmocka_unit_test(derivatives_of_connection_and_metric_agree_with_differences),
      cmocka_unit_test(the_form_is_twice_the_kinetic_energy),
      cmocka_unit_test(a_plot_shows_the_points_where_the_group_takes_them),
      cmocka_unit_test(a_locked_inertia_that_is_singular_names_its_axis),
      cmocka_unit_test(a_shape_outside_the_chart_is_a_failed_step),
      cmocka_unit_test(parameters_and_periods_are_read),
      cmocka_unit_test(what_is_wrong_is_named_with_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
