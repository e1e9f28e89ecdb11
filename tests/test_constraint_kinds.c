/* Constraints of every kind but rods and strings: derivatives, invariance, known values, moved origins, messages.
 * labels: medium */
#include "check_constraints.h"
#include "check_error.h"
#include "check_origins.h"
#include <gsl/gsl_integration.h>

enum { ALL = POINTS * COORDS };

static const double pi = 3.14159265358979323846;

/* The difference quotient of fourth order of f(s) at s = 0 has errors h^4 f^(5)/30 and eps f/h; points stand about 0.2
 * apart, so that f^(5) may be 1e5 times f. */
static const double h = 2e-4;
static const int side[4] = {-2, -1, 1, 2};
static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};

static const char *shown(const cb_geometry *g, kind which) {
  static char text[256];
  snprintf(text, sizeof text, "%s, curvature %g, %s, %s", g->class->name, g->n_factors ? g->factor[0].curvature : 0,
           g->chart ? g->chart->name : "embedding", kind_names[which]);
  return text;
}

/* |a - b| relative to the size of b and of what it was computed from. */
static void check_same(const char *what, const char *where, int i, double a, double b, double scale, double tolerance) {
  if (fabs(a - b) <= tolerance * scale) return;
  print_error("%s: %s [%d] = %.15g, expected %.15g: error %.3g > %.3g\n", where, what, i, a, b, fabs(a - b),
              tolerance * scale);
  fail();
}

static double largest(int n, const double *x) {
  double max = 1;
  for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
  return max;
}

static int entry_of(const cb_rows *rows, int row, int place) {
  for (int e = rows->start[row]; e < rows->start[row + 1]; e++)
    if (rows->particle[e] == place) return e;
  return -1;
}

/* Gradient, rate, gamma, d(rate)/dx and Hessian of all rows at (t, x), against differences in any direction. */
static void check_derivatives(const setup *u, const char *where, double t, const double *x, uint64_t *seed,
                              double tolerance) {
  const int n = POINTS * u->k;
  const cb_rows *rows = cb_constraints_rows(u->c);
  const int entries = rows->start[rows->rows];
  double g[ROWS_MAX], G[ROWS_MAX * ALL], G2[ROWS_MAX * ALL], rate[ROWS_MAX], gamma[ROWS_MAX], rate_x[ROWS_MAX * ALL];
  double v[ALL], y[ALL], lambda[ROWS_MAX];
  for (int i = 0; i < n; i++) v[i] = check_uniform(seed, -1, 1);
  for (int r = 0; r < u->rows; r++) lambda[r] = check_uniform(seed, 0.5, 1.5);
  check_ok(cb_constraints_eval(u->c, t, x, g, G));
  check_ok(cb_constraints_rate(u->c, t, x, v, rate, G2));
  check_ok(cb_constraints_second(u->c, t, x, v, gamma, rate_x));
  for (int e = 0; e < entries * u->k; e++) assert_true(G[e] == G2[e]);
  const double scale_G = largest(entries * u->k, G);

  /* rate = d/ds g(t + s, x + s v), gamma = d/ds rate(t + s, x + s v; v) */
  double by_g[ROWS_MAX] = {0}, by_rate[ROWS_MAX] = {0};
  for (int m = 0; m < 4; m++) {
    double s = side[m] * h, g_s[ROWS_MAX], rate_s[ROWS_MAX];
    for (int i = 0; i < n; i++) y[i] = x[i] + s * v[i];
    check_ok(cb_constraints_eval(u->c, t + s, y, g_s, NULL));
    check_ok(cb_constraints_rate(u->c, t + s, y, v, rate_s, NULL));
    for (int r = 0; r < u->rows; r++) {
      by_g[r] += weight[m] / h * g_s[r];
      by_rate[r] += weight[m] / h * rate_s[r];
    }
  }
  for (int r = 0; r < u->rows; r++) {
    if (!rows->velocity[r]) check_same("rate", where, r, rate[r], by_g[r], scale_G, tolerance);
    check_same("gamma", where, r, gamma[r], by_rate[r], largest(u->rows, gamma) * scale_G, tolerance);
  }

  /* G = dg/dx in rows of position and d(rate)/dv in those of velocity; rate_x; Hessian = d(lambda G)/dx */
  const cb_pattern *pattern = cb_forces_pattern(u->f);
  const size_t blocks = (size_t)pattern->start[pattern->n] * (size_t)(u->k * u->k);
  double *hessian = calloc(blocks, sizeof *hessian), *seen = calloc(blocks, sizeof *seen);
  check_ok(cb_constraints_hessian(u->c, t, x, lambda, hessian));
  double scale_H = largest((int)blocks, hessian);
  for (int j = 0; j < n; j++) {
    double dg[ROWS_MAX] = {0}, dv[ROWS_MAX] = {0}, dr[ROWS_MAX] = {0}, dG[ROWS_MAX * ALL] = {0};
    for (int m = 0; m < 4; m++) {
      double g_s[ROWS_MAX], rate_s[ROWS_MAX], G_s[ROWS_MAX * ALL], w = weight[m] / h;
      memcpy(y, v, sizeof y);
      y[j] += side[m] * h;
      check_ok(cb_constraints_rate(u->c, t, x, y, rate_s, NULL));
      for (int r = 0; r < u->rows; r++) dv[r] += w * rate_s[r];
      memcpy(y, x, (size_t)n * sizeof *y);
      y[j] += side[m] * h;
      check_ok(cb_constraints_eval(u->c, t, y, g_s, G_s));
      check_ok(cb_constraints_rate(u->c, t, y, v, rate_s, NULL));
      for (int r = 0; r < u->rows; r++) dg[r] += w * g_s[r], dr[r] += w * rate_s[r];
      for (int e = 0; e < entries * u->k; e++) dG[e] += w * G_s[e];
    }
    const int place = j / u->k, a = j % u->k;
    for (int r = 0; r < u->rows; r++) {
      int e = entry_of(rows, r, place);
      double G_j = e < 0 ? 0 : G[e * u->k + a], R_j = e < 0 ? 0 : rate_x[e * u->k + a];
      check_same("gradient", where, j, G_j, rows->velocity[r] ? dv[r] : dg[r], scale_G, tolerance);
      check_same("d(rate)/dx", where, j, R_j, dr[r], scale_H * scale_G, tolerance);
      for (int i = 0; i < POINTS; i++) {
        int at = entry_of(rows, r, i);
        if (at < 0 || e < 0) continue;
        double *block = seen + (size_t)cb_pattern_find(pattern, i, place) * (size_t)(u->k * u->k);
        for (int c = 0; c < u->k; c++) block[c * u->k + a] += lambda[r] * dG[at * u->k + c];
      }
    }
  }
  for (size_t e = 0; e < blocks; e++) check_same("hessian", where, (int)e, hessian[e], seen[e], scale_H, tolerance);
  free(hessian);
  free(seen);
}

/* Runs test in the embedding of a space and in each of its static charts. */
static void in_every_chart(const cb_geometry *given, uint64_t *seed, void (*test)(cb_geometry *, uint64_t *)) {
  cb_geometry *g = (cb_geometry *)(uintptr_t)given; /* the suite's own: back as it was at the end */
  test(g, seed);
  for (int i = 0; i < g->n_charts; i++) {
    if (!g->charts[i].metric || !g->charts[i].distance) continue;
    g->chart = &g->charts[i];
    g->k = g->dim;
    test(g, seed);
  }
  g->chart = NULL;
  g->k = g->embedding;
}

static void derivatives_in(cb_geometry *g, uint64_t *seed) {
  for (kind which = 0; which < KINDS; which++) {
    if (!kind_applies(g, which)) continue;
    double x[POINTS + 1][COORDS];
    some_points(g, seed, 0.5, x);
    setup u = setup_at(g, which, x);
    check_derivatives(&u, shown(g, which), 0.4, u.x, seed, 1e-7);
    setup_free(&u);
  }
}

static void derivatives_of(const cb_geometry *g, uint64_t *seed) { in_every_chart(g, seed, derivatives_in); }

static void derivatives_are_those_of_differences_in_every_space_and_chart(void **state) {
  (void)state;
  check_every_space(derivatives_of);
}

/* Sides of a radius of curvature and more, where series give way to closed forms. */
static void wide_derivatives_of(const cb_geometry *g, uint64_t *seed) {
  double size = 1.5;
  for (int f = 0; f < g->n_factors; f++) {
    if (g->factor[f].curvature > 0) size = 0.6;
    if (g->factor[f].curvature < 0) size = 1.5 / sqrt(-g->factor[f].curvature);
  }
  for (int n = 0; n < 15; n++) {
    const kind which = (const kind[]){ANGLE, AREA, VOLUME}[n % 3];
    if (!kind_applies(g, which)) continue;
    double x[POINTS + 1][COORDS];
    some_points(g, seed, size, x);
    setup u = setup_at(g, which, x);
    check_derivatives(&u, shown(g, which), 0.4, u.x, seed, 1e-7);
    setup_free(&u);
  }
}

static void derivatives_of_wide_shapes_are_those_of_differences(void **state) {
  (void)state;
  check_every_space(wide_derivatives_of);
}

/* --- charts --- */

static void same_as_in_embedding(const cb_geometry *given, uint64_t *seed) {
  cb_geometry *g = (cb_geometry *)(uintptr_t)given;
  for (kind which = 0; which < KINDS; which++) {
    if (!kind_applies(g, which) || which == PIN) continue; /* a pin is another function in a chart */
    double x[POINTS + 1][COORDS], v[POINTS][COORDS], flat[ALL], value, rate, gamma = 0, t = 0.7;
    some_points(g, seed, 0.5, x);
    setup u = setup_at(g, which, x);
    for (int i = 0; i < POINTS; i++) {
      check_random_tangent(g, seed, x[i], 1, v[i]);
      memcpy(flat + cb_system_index(u.s, i) * u.k, v[i], (size_t)u.k * sizeof(double));
    }
    check_ok(cb_constraints_eval(u.c, t, u.x, &value, NULL));
    check_ok(cb_constraints_rate(u.c, t, u.x, flat, &rate, NULL));
    check_ok(cb_constraints_second(u.c, t, u.x, flat, &gamma, NULL));
    setup_free(&u);
    for (int i = 0; i < g->n_charts; i++) {
      if (!g->charts[i].metric || !g->charts[i].distance) continue;
      double value_q, rate_q, q[COORDS], w[COORDS];
      g->chart = &g->charts[i];
      g->k = g->dim;
      setup chart = setup_at(g, which, x);
      for (int p = 0; p < POINTS; p++) {
        check_ok(cb_chart_pull(g, g->chart, x[p], v[p], q, w));
        memcpy(flat + cb_system_index(chart.s, p) * chart.k, w, (size_t)g->dim * sizeof(double));
      }
      check_ok(cb_constraints_eval(chart.c, t, chart.x, &value_q, NULL));
      check_ok(cb_constraints_rate(chart.c, t, chart.x, flat, &rate_q, NULL));
      check_same("value", shown(g, which), 0, value_q, value, fmax(1, fabs(value)), 1e-12);
      check_same("rate", shown(g, which), 0, rate_q, rate, fmax(1, fabs(rate)), 1e-11);
      setup_free(&chart);
      g->chart = NULL;
      g->k = g->embedding;
    }
  }
}

static void charts_give_the_rows_of_the_embedding(void **state) {
  (void)state;
  check_every_space(same_as_in_embedding);
}

/* --- invariance --- */

static void unmoved_by(const cb_geometry *g, uint64_t *seed) {
  static const kind invariant[] = {TETHER, ANGLE, AREA, VOLUME, BLADE};
  for (size_t n = 0; n < sizeof invariant / sizeof *invariant; n++) {
    const kind which = invariant[n];
    if (!kind_applies(g, which)) continue;
    double x[POINTS + 1][COORDS], v[ALL], moved[ALL], value[2], rate[2], centre[COORDS];
    cb_isometry m;
    some_points(g, seed, 0.5, x);
    check_random_isometry(g, seed, 0.5, &m);
    setup u = setup_at(g, which, x);
    for (int i = 0; i < POINTS; i++) check_random_tangent(g, seed, x[i], 1, v + cb_system_index(u.s, i) * u.k);
    check_ok(cb_constraints_eval(u.c, 0.2, u.x, &value[0], NULL));
    check_ok(cb_constraints_rate(u.c, 0.2, u.x, v, &rate[0], NULL));
    for (int i = 0; i < POINTS; i++) {
      cb_isometry_point(g, &m, u.x + i * u.k, moved + i * u.k);
      cb_isometry_vector(g, &m, v + i * u.k, v + i * u.k);
    }
    if (which == TETHER) { /* the centre goes along */
      cb_isometry_point(g, &m, x[POINTS], centre);
      memcpy(x[POINTS], centre, sizeof centre);
      setup_free(&u);
      u = setup_at(g, which, x);
    }
    check_ok(cb_constraints_eval(u.c, 0.2, moved, &value[1], NULL));
    check_ok(cb_constraints_rate(u.c, 0.2, moved, v, &rate[1], NULL));
    check_same("value", shown(g, which), 0, value[1], value[0], 1 + fabs(value[0]), 1e-12);
    check_same("rate", shown(g, which), 0, rate[1], rate[0], 1 + fabs(rate[0]), 1e-11);
    setup_free(&u);
  }
}

static void isometries_change_no_tether_angle_area_volume_or_blade(void **state) {
  (void)state;
  check_every_space(unmoved_by);
}

/* --- known values --- */

/* The value of one element at points of the embedding. */
static double element_value(const cb_geometry *g, const cb_constraint_kind *type, int width, double (*x)[COORDS]) {
  cb_constraints c = {.space = g};
  cb_constraint row = {.kind = type, .elements = 1, .width = width, .world = -1};
  const double *at[CB_ELEMENT_PARTICLES];
  static cb_element e;
  for (int i = 0; i < width; i++) at[i] = x[i];
  memset(&e, 0, sizeof e);
  check_ok(type->element(&c, &row, 0, 0, at, 0, &e));
  return e.value;
}

/* Points at the ends of geodesics of length d from the base point along `n` directions, in the orthonormal frame. */
static void star(const cb_geometry *g, int n, const double (*direction)[CB_DIM_MAX], const double *d,
                 double (*x)[COORDS]) {
  double base[COORDS], frame[CB_DIM_MAX * COORDS];
  cb_geometry_base_point(g, base);
  cb_geometry_frame(g, base, frame);
  for (int i = 0; i < n; i++) {
    double v[COORDS] = {0};
    for (int a = 0; a < g->dim; a++)
      for (int b = 0; b < g->embedding; b++) v[b] += d[i] * direction[i][a] * frame[a * g->embedding + b];
    cb_exp(g, base, v, x[i], NULL);
  }
}

static void angles_in(const cb_geometry *g, uint64_t *seed) {
  for (int n = 0; n < 20; n++) {
    double x[POINTS + 1][COORDS], u[COORDS], v[COORDS];
    some_points(g, seed, 0.9, x);
    check_ok(cb_log(g, x[1], x[0], u));
    check_ok(cb_log(g, x[1], x[2], v));
    double cosine = cb_inner(g, u, v) / sqrt(cb_inner(g, u, u) * cb_inner(g, v, v));
    double angle = element_value(g, &cb_constraint_angle, 3, x);
    check_near(angle, acos(cosine), 1e-13 / sqrt(1 - cosine * cosine));
    if (g->n_factors > 1) continue;
    /* K A = sum of angles - pi */
    double area = element_value(g, &cb_constraint_area, 3, x), sum = angle - pi;
    for (int i = 0; i < 2; i++) {
      double first[COORDS];
      memcpy(first, x[0], sizeof first);
      memmove(x[0], x[1], 2 * sizeof *x);
      memcpy(x[2], first, sizeof first);
      sum += element_value(g, &cb_constraint_angle, 3, x);
    }
    check_near(g->factor[0].curvature * area, sum, 1e-12);
  }
}

static void angles_are_those_of_tangents_and_areas_their_excess(void **state) {
  (void)state;
  check_every_space(angles_in);
}

static void equilateral_triangles_have_their_angles_and_areas(void **state) {
  static const char *const name[] = {"e3", "s3", "h3", "s2", "h2", "e2"};
  (void)state;
  for (int n = 0; n < 6; n++) {
    cb_geometry *g;
    check_ok(cb_geometry_create(name[n], NULL, &g));
    const double curvature = g->factor[0].curvature;
    for (double a = 1e-5; a < 1.2; a *= 3) {
      double x[3][COORDS], angle = pi / 3;
      if (curvature > 0) angle = acos(cos(a) / (1 + cos(a)));
      if (curvature < 0) angle = acos(cosh(a) / (1 + cosh(a)));
      star(g, 2, (const double[2][CB_DIM_MAX]){{1}, {cos(angle), sin(angle)}}, (double[]){a, a}, x + 1);
      cb_geometry_base_point(g, x[0]);
      double at[3][COORDS];
      for (int i = 0; i < 3; i++) memcpy(at[i], x[(i + 2) % 3], sizeof at[i]);
      check_near(element_value(g, &cb_constraint_angle, 3, at), angle, 2e-16 / a + 1e-14);
      /* tan(K A/4) has a series in a^2: A = sqrt(3)/4 a^2 (1 + K a^2/8 + ...) */
      if (a < 1e-3)
        check_relative(element_value(g, &cb_constraint_area, 3, at), sqrt(3) / 4 * a * a * (1 + curvature * a * a / 8),
                       1e-9 * a + 3e-16 / a);
    }
    cb_geometry_free(g);
  }
}

static void octant_of_a_sphere_has_area_and_volume(void **state) {
  cb_geometry *g;
  (void)state;
  check_ok(cb_geometry_create("s2", NULL, &g));
  double x[3][COORDS] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  check_near(element_value(g, &cb_constraint_area, 3, x), pi / 2, 4e-15);
  check_near(element_value(g, &cb_constraint_angle, 3, x), pi / 2, 4e-15);
  cb_geometry_free(g);
  /* a sixteenth of S^3, a cell of the 16-cell: 2 pi^2/16; and of the 600-cell, edges pi/5: 2 pi^2/600 */
  check_ok(cb_geometry_create("s3", NULL, &g));
  double y[4][COORDS] = {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  check_near(element_value(g, &cb_constraint_volume, 4, y), pi * pi / 8, 1e-11);
  double c = cos(pi / 5), cosine = c / (1 + c); /* of the angle between edges */
  double s = sqrt(1 - cosine * cosine), z = cosine * (1 - cosine) / s, d = pi / 5;
  star(g, 3, (const double[3][CB_DIM_MAX]){{1}, {cosine, s}, {cosine, z, sqrt(1 - cosine * cosine - z * z)}},
       (double[]){d, d, d}, y + 1);
  check_relative(element_value(g, &cb_constraint_volume, 4, y), pi * pi / 300, 1e-14);
  cb_geometry_free(g);
}

static void cube_has_volume_signed_by_its_orientation(void **state) {
  static const int face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                  {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  (void)state;
  for (int inside_out = 0; inside_out < 2; inside_out++)
    for (int chart = 0; chart < 2; chart++) {
      cb_geometry *g;
      cb_builder *b;
      cb_system *s;
      cb_forces *f;
      int turned[12][3];
      double value;
      check_map m;
      check_ok(cb_geometry_create("e3", chart ? check_map_fill(&m, "chart", "polar", NULL, NULL) : NULL, &g));
      check_ok(cb_builder_create(g, &b));
      check_ok(cb_builder_body(b, "cube", NULL));
      for (int i = 0; i < 8; i++) {
        double x[COORDS] = {(i & 1) + 0.3, (i >> 1 & 1) + 0.2, (i >> 2) + 0.4}, q[COORDS];
        memcpy(q, x, sizeof q);
        if (chart) check_ok(g->chart->from_point(g, x, q));
        check_ok(cb_builder_particle(b, NULL, 1, 0, 0, q, NULL, NULL));
      }
      memcpy(turned, face, sizeof face);
      for (int t = 0; inside_out && t < 12; t++) turned[t][1] = face[t][2], turned[t][2] = face[t][1];
      check_ok(cb_builder_volume(b, "bag", 12, (const int(*)[3])turned, (cb_target){.value = 0.25}));
      check_ok(cb_builder_finish(b, &s));
      cb_builder_free(b);
      check_ok(cb_forces_create(s, &f));
      double x[8 * COORDS];
      cb_state *start;
      check_ok(cb_state_create(s, &start));
      check_ok(cb_system_start(s, start));
      memcpy(x, start->x, (size_t)(8 * g->k) * sizeof *x);
      check_ok(cb_constraints_eval(cb_forces_constraints(f), 0, x, &value, NULL));
      check_near(value + 0.25, inside_out ? -1 : 1, 1e-14);
      assert_string_equal(cb_system_constraint_name(s, 0), "bag");
      cb_state_free(start);
      cb_forces_free(f);
      cb_system_free(s);
      cb_geometry_free(g);
    }
}

/* The projective model: with y = x/w, dV = R^3 dy / (1 + sign(K) |y|^2)^2 over the straight tetrahedron. */
static double projective_volume(const cb_geometry *g, double (*x)[COORDS]) {
  enum { N = 32 };
  const double curvature = g->factor[0].curvature, r = 1 / sqrt(fabs(curvature));
  double y[4][3], e[3][3], sum = 0;
  for (int i = 0; i < 4; i++)
    for (int a = 0; a < 3; a++) y[i][a] = x[i][a] / x[i][3];
  for (int i = 0; i < 3; i++)
    for (int a = 0; a < 3; a++) e[i][a] = y[i + 1][a] - y[0][a];
  double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
               e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(N);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++)
      for (size_t l = 0; l < N; l++) {
        double a, b, c, wa, wb, wc, square = 0;
        gsl_integration_glfixed_point(0, 1, i, &a, &wa, table);
        gsl_integration_glfixed_point(0, 1, j, &b, &wb, table);
        gsl_integration_glfixed_point(0, 1, l, &c, &wc, table);
        for (int n = 0; n < 3; n++) { /* collapsed: 1-a, a(1-b), a b (1-c), a b c */
          double z = y[0][n] + a * (e[0][n] + b * (e[1][n] - e[0][n] + c * (e[2][n] - e[1][n])));
          square += z * z;
        }
        double q = 1 + (curvature > 0 ? square : -square);
        sum += wa * wb * wc * a * a * b / (q * q);
      }
  gsl_integration_glfixed_table_free(table);
  return r * r * r * det * sum;
}

static void tetrahedra_have_the_volume_of_the_projective_model(void **state) {
  static const char *const name[] = {"s3", "h3", "s3", "h3"}, *const curvature[] = {"1", "-1", "2.5", "-0.3"};
  static const double edge[] = {1e-4, 0.03, 0.3, 1, 1.5};
  uint64_t seed = check_seed();
  (void)state;
  for (int n = 0; n < 4; n++)
    for (int i = 0; i < 5; i++)
      for (int repeat = 0; repeat < 4; repeat++) {
        cb_geometry *g;
        check_map m;
        double x[4][COORDS];
        check_ok(cb_geometry_create(name[n], check_map_fill(&m, "curvature", curvature[n], NULL, NULL), &g));
        const double radius = 1 / sqrt(fabs(g->factor[0].curvature)), d = edge[i] * radius;
        double direction[3][CB_DIM_MAX], length[3];
        for (int p = 0; p < 3; p++) {
          double square = 0;
          for (int a = 0; a < 3; a++) {
            direction[p][a] = (a == p) + check_uniform(&seed, -0.3, 0.3);
            square += direction[p][a] * direction[p][a];
          }
          for (int a = 0; a < 3; a++) direction[p][a] /= sqrt(square);
          length[p] = d * check_uniform(&seed, 0.6, 0.9);
        }
        cb_geometry_base_point(g, x[0]);
        star(g, 3, (const double(*)[CB_DIM_MAX])direction, length, x + 1);
        check_relative(element_value(g, &cb_constraint_volume, 4, x), projective_volume(g, x), 1e-12);
        cb_geometry_free(g);
      }
}

static void a_blade_takes_the_velocity_to_its_left(void **state) {
  static const char *const name[] = {"e2", "s2", "h2"};
  uint64_t seed = check_seed();
  (void)state;
  for (int n = 0; n < 3; n++) {
    cb_geometry *g;
    check_ok(cb_geometry_create(name[n], NULL, &g));
    double x[POINTS + 1][COORDS], along[COORDS], v[ALL] = {0}, rate, left[COORDS], frame[CB_DIM_MAX * COORDS];
    some_points(g, &seed, 0.8, x);
    setup u = setup_at(g, BLADE, x);
    check_ok(cb_log(g, x[3], x[1], along));
    double d = cb_distance(g, x[3], x[1]);
    double *w = v + cb_system_index(u.s, 3) * u.k;
    memcpy(w, along, (size_t)u.k * sizeof *w);
    check_ok(cb_constraints_rate(u.c, 0, u.x, v, &rate, NULL));
    check_near(rate, 0, 1e-14);
    cb_geometry_frame(g, x[3], frame);
    double c = 0, s = 0;
    for (int a = 0; a < g->embedding; a++) {
      c += g->form[a] * along[a] * frame[a] / d;
      s += g->form[a] * along[a] * frame[g->embedding + a] / d;
    }
    for (int a = 0; a < g->embedding; a++) left[a] = -s * frame[a] + c * frame[g->embedding + a];
    memcpy(w, left, (size_t)u.k * sizeof *w);
    check_ok(cb_constraints_rate(u.c, 0, u.x, v, &rate, NULL));
    check_near(rate, 1, 1e-14);
    setup_free(&u);
    cb_geometry_free(g);
  }
}

/* --- moved origins --- */

static void rows_of_the_world_stay_there_when_an_origin_moves(void **state) {
  uint64_t seed = check_seed();
  (void)state;
  for (int n = 0; n < SPACES; n++) {
    cb_geometry *g = space(n);
    for (kind which = 0; which < KINDS; which++) {
      if (!kind_applies(g, which)) continue;
      cb_origin origin;
      cb_isometry world, local;
      double x[POINTS + 1][COORDS], v[ALL], y[ALL], w[ALL], a[ROWS_MAX], b[ROWS_MAX], ra[ROWS_MAX], rb[ROWS_MAX];
      some_points(g, &seed, 0.5, x);
      setup u = setup_at(g, which, x);
      for (int i = 0; i < POINTS; i++) check_random_tangent(g, &seed, u.x + i * u.k, 1, v + i * u.k);
      check_ok(cb_constraints_eval(u.c, 0.3, u.x, a, NULL));
      check_ok(cb_constraints_rate(u.c, 0.3, u.x, v, ra, NULL));
      random_origin(g, &seed, 0.3, &origin, &world);
      cb_isometry_inverse(g, &world, &local);
      for (int i = 0; i < POINTS; i++) {
        cb_isometry_point(g, &local, u.x + i * u.k, y + i * u.k);
        cb_isometry_vector(g, &local, v + i * u.k, w + i * u.k);
      }
      cb_origin *origins = calloc(POINTS, sizeof *origins);
      for (int c = 0; c < POINTS; c++) origins[c] = origin;
      check_ok(cb_forces_set_origins(u.f, origins));
      check_ok(cb_constraints_eval(u.c, 0.3, y, b, NULL));
      check_ok(cb_constraints_rate(u.c, 0.3, y, w, rb, NULL));
      for (int r = 0; r < u.rows; r++) {
        check_same("value", shown(g, which), r, b[r], a[r], 1 + fabs(a[r]), 2e-12);
        check_same("rate", shown(g, which), r, rb[r], ra[r], 1 + largest(u.rows, ra), 1e-11);
      }
      /* far away a distance is extended off the space in another way than its derivatives */
      const bool far = which == TETHER && u.c->world[0].anchor.frames.far;
      if (!far) check_derivatives(&u, shown(g, which), 0.3, y, &seed, 1e-7);
      free(origins);
      setup_free(&u);
    }
    cb_geometry_free(g);
  }
}

/* A tether across 40 radii, and a pin at 4, where particles stand at origins of their own. */
static void far_particles_are_held_from_their_own_origin(void **state) {
  cb_geometry *g;
  cb_builder *b;
  cb_system *s;
  cb_forces *f;
  cb_origin far, near, askew;
  double base[COORDS], value[4], G[4 * COORDS], v[3 * COORDS] = {0};
  (void)state;
  check_ok(cb_geometry_create("h3", NULL, &g));
  cb_geometry_base_point(g, base);
  check_ok(cb_origin_flow(g, cb_killing_find(g, "boost_x"), 40, &far));
  check_ok(cb_origin_flow(g, cb_killing_find(g, "boost_y"), 4, &near));
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  check_ok(cb_builder_origin(b, &far));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, base, NULL, NULL));
  check_ok(cb_builder_origin(b, &near));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, base, NULL, NULL));
  cb_origin_compose(g, &near, &far, &askew);
  check_ok(cb_builder_origin(b, &askew));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, (double[]){0.3, -0.2, 0.4, sqrt(1.29)}, NULL, NULL));
  check_ok(cb_builder_tether(b, NULL, 0, base, (cb_target){.value = 39}));
  check_ok(cb_builder_pin(b, "foot", 1, NULL));
  check_error_begins(cb_builder_pin(b, NULL, 2, NULL), CB_ERROR_DOMAIN, "pin: particle 2 is too far (");
  check_ok(cb_builder_finish(b, &s));
  cb_builder_free(b);
  check_ok(cb_forces_create(s, &f));
  cb_constraints *c = cb_forces_constraints(f);
  cb_state *start;
  check_ok(cb_state_create(s, &start));
  check_ok(cb_system_start(s, start));
  check_ok(cb_forces_set_origins(f, start->origin));
  check_ok(cb_constraints_eval(c, 0, start->x, value, G));
  check_near(value[0], 1, 1e-13);
  check_near(G[0], 1, 1e-14); /* away from the world's base point */
  for (int r = 1; r < 4; r++) check_near(value[r], 0, 1e-12);
  assert_string_equal(cb_system_constraint_name(s, 2), "foot y");
  /* the frame of the pin is the world's, carried along y: the identity here */
  for (int axis = 0; axis < 3; axis++) {
    double rate[4];
    memset(v, 0, sizeof v);
    v[cb_system_index(s, 1) * COORDS + axis] = 1;
    check_ok(cb_constraints_rate(c, 0, start->x, v, rate, NULL));
    for (int r = 0; r < 3; r++) check_near(rate[1 + r], r == axis, 1e-14);
  }
  cb_state_free(start);
  cb_forces_free(f);
  cb_system_free(s);
  cb_geometry_free(g);
}

/* --- where there is no value --- */

static void degenerate_shapes_are_outside_the_domain(void **state) {
  static const char *const name[] = {"e3", "s3", "h3"};
  (void)state;
  for (int n = 0; n < 3; n++) {
    cb_geometry *g;
    check_ok(cb_geometry_create(name[n], NULL, &g));
    cb_constraints c = {.space = g};
    cb_constraint row = {.elements = 1, .width = 3, .world = -1};
    static cb_element e;
    double x[3][COORDS];
    star(g, 2, (const double[2][CB_DIM_MAX]){{1}, {1}}, (double[]){0.25, 0.5}, x + 1);
    cb_geometry_base_point(g, x[0]);
    memcpy(x[1], x[2], sizeof x[1]); /* two coincide */
    const double *at[3] = {x[0], x[1], x[2]};
    for (int order = 1; order < 3; order++) {
      memset(&e, 0, sizeof e);
      assert_int_equal(cb_constraint_area.element(&c, &row, 0, 0, at, order, &e), CB_STEP_DOMAIN);
      assert_int_equal(cb_constraint_angle.element(&c, &row, 0, 0, at, order, &e), CB_STEP_DOMAIN);
    }
    cb_geometry_free(g);
  }
}

/* --- messages --- */

typedef struct refused {
  cb_geometry *g;
  cb_builder *b;
} refused;

static refused refused_in(const cb_geometry_class *class_, const char *name) {
  refused u;
  check_ok(class_ ? cb_geometry_create_class(class_, NULL, &u.g) : cb_geometry_create(name, NULL, &u.g));
  check_ok(cb_builder_create(u.g, &u.b));
  check_ok(cb_builder_body(u.b, "a", NULL));
  for (int i = 0; i < 5; i++) {
    double x[COORDS], v[COORDS] = {0}, base[COORDS];
    cb_geometry_base_point(u.g, base);
    v[0] = 0.1 + 0.2 * (i == 1);
    v[1] = 0.25 * (i == 2);
    if (u.g->dim > 2)
      v[2] = 0.2 * (i == 3) - 0.3 * (i == 4);
    else
      v[0] -= 0.3 * (i == 3) + 0.5 * (i == 4);
    cb_exp(u.g, base, v, x, NULL);
    check_ok(cb_builder_particle(u.b, NULL, 1, 0, 0, x, NULL, NULL));
  }
  return u;
}

static void refused_free(refused *u) {
  cb_builder_free(u->b);
  cb_geometry_free(u->g);
}

static void builders_say_what_cannot_be(void **state) {
  const cb_target start = {.value = NAN};
  double base[COORDS], off[COORDS] = {0.2, 0, 0, 3};
  (void)state;
  refused u = refused_in(NULL, "s3");
  cb_geometry_base_point(u.g, base);
  check_error(cb_builder_tether(u.b, NULL, 5, base, start), CB_ERROR_ARGUMENT, "tether: particle 5: expected 0 to 4");
  check_error(cb_builder_tether(u.b, NULL, 0, base, (cb_target){.value = -1}), CB_ERROR_ARGUMENT,
              "tether: length -1: expected > 0");
  check_error_begins(cb_builder_tether(u.b, NULL, 0, off, start), CB_ERROR_DOMAIN, "");
  check_error(cb_builder_tether(u.b, NULL, 0, (double[]){NAN, 0, 0, 1}, start), CB_ERROR_DOMAIN,
              "tether: a coordinate is not finite");
  check_error(cb_builder_pin(u.b, NULL, -1, NULL), CB_ERROR_ARGUMENT, "pin: particle -1: expected 0 to 4");
  check_error_begins(cb_builder_pin(u.b, NULL, 1, off), CB_ERROR_DOMAIN, "");
  check_error(cb_builder_angle(u.b, NULL, 0, 1, 0, start), CB_ERROR_ARGUMENT,
              "angle: expected different particles, found 0 twice");
  check_error(cb_builder_angle(u.b, NULL, 0, 1, 2, (cb_target){.value = 3.2}), CB_ERROR_ARGUMENT,
              "angle: value 3.2: expected > 0 and < 3.14159");
  check_error(cb_builder_area(u.b, NULL, 0, NULL, start), CB_ERROR_ARGUMENT,
              "area: expected a triangle or more, found 0");
  check_error(cb_builder_area(u.b, NULL, 1, (const int[1][3]){{0, 1, 9}}, start), CB_ERROR_ARGUMENT,
              "area: particle 9: expected 0 to 4");
  check_error(cb_builder_area(u.b, NULL, 1, (const int[1][3]){{0, 2, 0}}, start), CB_ERROR_ARGUMENT,
              "area: triangle 0 has particle 0 twice");
  check_error(cb_builder_area(u.b, NULL, 1, (const int[1][3]){{0, 1, 2}}, (cb_target){.value = 0}), CB_ERROR_ARGUMENT,
              "area: value 0: expected > 0");
  check_error(cb_builder_area(u.b, NULL, 1, (const int[1][3]){{0, 1, 2}}, (cb_target){.law = "2 + x"}), CB_ERROR_INPUT,
              "unknown name `x`: the variables here are: t");
  check_error(cb_builder_volume(u.b, NULL, 5, bipyramid, start), CB_ERROR_ARGUMENT,
              "volume: the surface is not closed: edge 0-4 has one triangle");
  int bad[6][3];
  memcpy(bad, bipyramid, sizeof bad);
  bad[1][0] = 2, bad[1][1] = 1;
  check_error_begins(cb_builder_volume(u.b, NULL, 6, (const int(*)[3])bad, start), CB_ERROR_ARGUMENT,
                     "volume: two triangles run along the edge 1-3 in the same direction");
  check_error(cb_builder_volume(u.b, NULL, 6, bipyramid, (cb_target){.value = 0}), CB_ERROR_ARGUMENT,
              "volume: value 0: expected a number other than 0");
  check_error(cb_builder_surface(u.b, NULL, 0, "nowhere", "x"), CB_ERROR_ARGUMENT,
              "surface: the space has no chart 'nowhere'");
  check_error(cb_builder_surface(u.b, NULL, 0, NULL, "1 + sin(t)"), CB_ERROR_ARGUMENT,
              "surface: '1 + sin(t)' does not depend on the position");
  check_error_begins(cb_builder_surface(u.b, NULL, 0, "polar", "a + q"), CB_ERROR_INPUT, "unknown name `q`");
  assert_int_equal(cb_builder_expression_at(u.b), 4);
  const char *none[4] = {NULL, "0", NULL, "0"}, *wrong[4] = {"x0", "x1", NULL, NULL};
  check_error(cb_builder_velocity(u.b, NULL, 1, (int[]){0}, NULL, none, NULL), CB_ERROR_ARGUMENT,
              "velocity: expected a coefficient other than 0");
  check_error_begins(cb_builder_velocity(u.b, NULL, 1, (int[]){0}, NULL, wrong, NULL), CB_ERROR_INPUT,
                     "unknown name `x1`");
  check_error(cb_builder_velocity(u.b, NULL, 5, (int[]){0, 1, 2, 3, 4}, NULL, none, NULL), CB_ERROR_ARGUMENT,
              "velocity: 5 particles: expected 1 to 4");
  check_error(cb_builder_blade(u.b, NULL, 0, 1), CB_ERROR_ARGUMENT, "blade: expected a space of dimension 2, found 3");
  refused_free(&u);

  u = refused_in(NULL, "s2");
  check_error(cb_builder_blade(u.b, NULL, 0, 0), CB_ERROR_ARGUMENT,
              "blade: expected different particles, found 0 twice");
  check_error(cb_builder_volume(u.b, NULL, 6, bipyramid, start), CB_ERROR_ARGUMENT,
              "volume: expected a space of dimension 3, found 2");
  refused_free(&u);

  u = refused_in(NULL, "h2xe");
  check_error(cb_builder_volume(u.b, NULL, 6, bipyramid, start), CB_ERROR_ARGUMENT,
              "volume: expected a space of one factor, found a product");
  check_error(cb_builder_area(u.b, NULL, 1, bipyramid, start), CB_ERROR_ARGUMENT,
              "area: expected a space of one factor, found a product");
  check_error(cb_builder_blade(u.b, NULL, 0, 1), CB_ERROR_ARGUMENT,
              "blade: expected a space of one factor, found a product");
  refused_free(&u);

  cb_geometry *g;
  cb_builder *b;
  check_map m;
  check_ok(cb_geometry_create("e3", check_map_fill(&m, "chart", "polar", NULL, NULL), &g));
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, (double[]){1, 1, 1}, NULL, NULL));
  check_ok(cb_builder_surface(b, NULL, 0, NULL, "a - 2*sin(b)")); /* a chart space speaks its own coordinates */
  check_error_begins(cb_builder_surface(b, NULL, 0, NULL, "x - 2"), CB_ERROR_INPUT, "unknown name `x`");
  check_error_begins(cb_builder_pin(b, NULL, 0, (double[]){0, 0, 0}), CB_ERROR_DOMAIN, "");
  cb_builder_free(b);
  cb_geometry_free(g);

  u = refused_in(NULL, "s3");
  double x[COORDS] = {0, 0, -1, 0};
  check_ok(cb_builder_particle(u.b, NULL, 1, 0, 0, x, NULL, NULL)); /* 5: more than a quarter turn from 0 */
  const int big[4][3] = {{3, 0, 1}, {0, 5, 1}, {3, 1, 5}, {3, 5, 0}};
  check_error_begins(cb_builder_volume(u.b, NULL, 4, big, start), CB_ERROR_DOMAIN, "volume: particle 5 is ");
  refused_free(&u);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_differences_in_every_space_and_chart),
      cmocka_unit_test(derivatives_of_wide_shapes_are_those_of_differences),
      cmocka_unit_test(charts_give_the_rows_of_the_embedding),
      cmocka_unit_test(isometries_change_no_tether_angle_area_volume_or_blade),
      cmocka_unit_test(angles_are_those_of_tangents_and_areas_their_excess),
      cmocka_unit_test(equilateral_triangles_have_their_angles_and_areas),
      cmocka_unit_test(octant_of_a_sphere_has_area_and_volume),
      cmocka_unit_test(cube_has_volume_signed_by_its_orientation),
      cmocka_unit_test(tetrahedra_have_the_volume_of_the_projective_model),
      cmocka_unit_test(a_blade_takes_the_velocity_to_its_left),
      cmocka_unit_test(rows_of_the_world_stay_there_when_an_origin_moves),
      cmocka_unit_test(far_particles_are_held_from_their_own_origin),
      cmocka_unit_test(degenerate_shapes_are_outside_the_domain),
      cmocka_unit_test(builders_say_what_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
