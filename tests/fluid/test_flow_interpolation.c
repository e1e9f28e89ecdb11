/* Tests of flows between the points of a grid: polynomials, the order of the error, periodic grids, grids that are
 * constant outside their border, and errors. */
#include "flow_slopes.h"

/* A flow u(x, t) that is sampled on a grid. An example is `cubics`, of degree 3 in each variable. */
typedef void field(const vec x, double t, vec u);

typedef struct layout {
  int n[4]; /* numbers of points along x, y, z, t */
  double origin[4], spacing[4];
  bool periodic[4];
} layout;

static cb_flow *grid_of(const layout *l, field *value) {
  const int *n = l->n;
  vec *u = malloc(sizeof *u * (size_t)n[0] * (size_t)n[1] * (size_t)n[2] * (size_t)n[3]), *to = u;
  for (int m = 0; m < n[3]; m++)
    for (int i = 0; i < n[0]; i++)
      for (int j = 0; j < n[1]; j++)
        for (int k = 0; k < n[2]; k++, to++)
          value((const vec){l->origin[0] + i * l->spacing[0], l->origin[1] + j * l->spacing[1],
                            l->origin[2] + k * l->spacing[2]},
                l->origin[3] + m * l->spacing[3], *to);
  cb_flow_grid g = {.times = n[3], .start = l->origin[3], .interval = l->spacing[3], .u = u[0]};
  memcpy(g.n, n, sizeof g.n);
  memcpy(g.origin, l->origin, sizeof g.origin);
  memcpy(g.spacing, l->spacing, sizeof g.spacing);
  memcpy(g.periodic, l->periodic, sizeof g.periodic);
  cb_flow *f;
  check_ok(cb_flow_from_grid(&g, &f));
  free(u);
  return f;
}

static double cubic(double a, double b, double c, double d, double x) { return a + x * (b + x * (c + x * d)); }
static void cubics(const vec x, double t, vec u) {
  u[0] = cubic(1, -2, 0.5, 0.3, x[0]) * cubic(0.2, 1, -1, 0.7, x[1]) * cubic(1, 1, 0.4, -0.2, x[2]);
  u[1] = cubic(0, 1, 2, -1, x[2]) * cubic(1, 0.1, -0.2, 0.3, t) + x[0] * x[1];
  u[2] = cubic(0.5, 0, 0, 1, x[0]) - t * x[1] * x[1] * x[1] + t * t * t;
}

/* In directions with at least 4 points the splines ("not-a-knot") are exact for cubic polynomials, including their
 * gradient and rate. */
static void grid_of_cubics_is_exact(void **unused) {
  const layout l = {{7, 4, 9, 5}, {-1, -0.5, -1, 0.2}, {0.3, 0.4, 0.25, 0.3}, {0}};
  cb_flow *f = grid_of(&l, cubics);
  assert_true(!cb_flow_is_uniform(f) && !cb_flow_is_steady(f));
  uint64_t seed = check_seed();
  for (int s = 0; s < 200; s++) {
    vec x, u, exact;
    for (int i = 0; i < 3; i++) x[i] = l.origin[i] + check_uniform(&seed, 0, 1) * (l.n[i] - 1) * l.spacing[i];
    const double t = l.origin[3] + check_uniform(&seed, 0.1, 0.9) * (l.n[3] - 1) * l.spacing[3];
    at(f, t, x, u, NULL, NULL);
    cubics(x, t, exact);
    for (int i = 0; i < 3; i++) check_near(u[i], exact[i], 2e-14);
    /* Whether all points of the differences are inside the grid. The differences are exact for cubic polynomials. */
    bool inner = true;
    for (int i = 0; i < 3; i++)
      inner &= fabs(x[i] - l.origin[i] - (l.n[i] - 1) * l.spacing[i] / 2) < (l.n[i] - 1) * l.spacing[i] / 2 - 0.02;
    if (inner) check_slopes(f, t, x, 1e-2, 1e-11);
  }
  /* at a corner of the grid */
  vec u, exact, corner = {0.8, 0.7, 1};
  at(f, 1.4, corner, u, NULL, NULL);
  cubics(corner, 1.4, exact);
  for (int i = 0; i < 3; i++) check_near(u[i], exact[i], 2e-14);
  cb_flow_free(f);
}

static void line_and_parabola(const vec x, double t, vec u) {
  u[0] = 1 + 2 * x[0] - x[0] * x[1] * x[1];
  u[1] = t * (x[1] - 0.5);
  u[2] = x[0] * t;
}

/* A direction with 1 point gives a constant, with 2 points a linear function, and with 3 points a parabola. */
static void short_directions_are_lines_and_parabolas(void **unused) {
  const layout l = {{2, 3, 1, 2}, {0, 0, 0, 0}, {0.7, 0.6, 0, 1.5}, {0}};
  cb_flow *f = grid_of(&l, line_and_parabola);
  uint64_t seed = check_seed();
  for (int s = 0; s < 50; s++) {
    const vec x = {check_uniform(&seed, 0.1, 0.6), check_uniform(&seed, 0.1, 1.1), check_uniform(&seed, -9, 9)};
    const double t = check_uniform(&seed, 0.1, 1.4);
    vec u, exact;
    at(f, t, x, u, NULL, NULL);
    line_and_parabola(x, t, exact);
    for (int i = 0; i < 3; i++) check_near(u[i], exact[i], 1e-14);
    check_slopes(f, t, x, 1e-2, 1e-12);
  }
  cb_flow_free(f);
}

static void waves(const vec x, double t, vec u) {
  u[0] = sin(2 * PI * x[0]) * cos(2 * PI * (x[1] - t));
  u[1] = cos(2 * PI * (x[0] + x[2])) + 0.3 * sin(2 * PI * t);
  u[2] = exp(sin(2 * PI * x[2])) * sin(2 * PI * x[1]);
}

static double error_of(const layout *l, double *slope) {
  cb_flow *f = grid_of(l, waves);
  uint64_t seed = 7;
  double worst = 0;
  *slope = 0;
  for (int s = 0; s < 300; s++) {
    vec x, u, exact;
    mat g;
    vec rate;
    for (int i = 0; i < 3; i++) x[i] = check_uniform(&seed, 0, 1);
    const double t = check_uniform(&seed, 0, 1);
    at(f, t, x, u, g, rate);
    waves(x, t, exact);
    for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(u[i] - exact[i]));
    const double d = 2 * PI * cos(2 * PI * x[0]) * cos(2 * PI * (x[1] - t)),
                 r = 2 * PI * sin(2 * PI * x[0]) * sin(2 * PI * (x[1] - t));
    *slope = fmax(*slope, fmax(fabs(g[0][0] - d), fabs(rate[0] - r)));
  }
  cb_flow_free(f);
  return worst;
}

static void error_of_the_grid_is_of_fourth_order(void **unused) {
  for (int periodic = 0; periodic < 2; periodic++) {
    double error[2], slope[2];
    for (int k = 0; k < 2; k++) {
      const int cells = 12 << k, n = cells + !periodic;
      const double h = 1. / cells;
      const bool p = periodic;
      error[k] = error_of(&(layout){{n, n, n, n}, {0}, {h, h, h, h}, {p, p, p, p}}, &slope[k]);
    }
    print_message("%s: errors %.3g %.3g of u, %.3g %.3g of its derivatives\n", periodic ? "periodic" : "held", error[0],
                  error[1], slope[0], slope[1]);
    check_near(log2(error[0] / error[1]), 4, 0.35);
    check_at_least(log2(slope[0] / slope[1]), 2.65);
  }
}

/* A periodic flow is the same at places and times that differ by whole periods. */
static void periodic_grid_goes_on(void **unused) {
  uint64_t seed = check_seed();
  for (int cells = 1; cells < 9; cells++) {
    const double h = 1. / cells;
    const layout l = {{cells, cells, cells, cells}, {0.2, -3, 0, 10}, {h, h, h, h}, {true, true, true, true}};
    cb_flow *f = grid_of(&l, waves);
    for (int s = 0; s < 20; s++) {
      vec x, y, u, v;
      const double t = check_uniform(&seed, -1, 1);
      random_place(&seed, 3, x);
      for (int i = 0; i < 3; i++) y[i] = x[i] + (i - 1) * 2 + 1;
      at(f, t, x, u, NULL, NULL);
      at(f, t + 3, y, v, NULL, NULL);
      for (int i = 0; i < 3; i++) check_near(v[i], u[i], 2e-12);
      check_slopes(f, t, x, 1e-4, cells < 2 ? 1e-9 : 1e-6); /* the third derivative jumps at nodes */
    }
    /* at the nodes */
    vec u, exact, node = {0.2 + h * (cells - 1), -3, h * (cells / 2)};
    at(f, 10 + h, node, u, NULL, NULL);
    waves(node, 10 + (cells > 1) * h, exact);
    for (int i = 0; i < 3; i++) check_near(u[i], exact[i], 1e-13);
    cb_flow_free(f);
  }
}

static void grid_is_held_beyond_its_border(void **unused) {
  const layout l = {{5, 6, 7, 4}, {0, 0, 0, 0}, {0.2, 0.2, 0.2, 0.2}, {0}};
  cb_flow *f = grid_of(&l, waves);
  const struct {
    vec out, in;
    double t, held;
  } row[] = {
      {{-3, 0.5, 0.33}, {0, 0.5, 0.33}, 0.1, 0.1},
      {{1e300, 0.5, -1}, {0.8, 0.5, 0}, 0.1, 0.1},
      {{0.1, 1.00001, 0.4}, {0.1, 1, 0.4}, 99, 0.6},
      {{0.1, 0.2, 1.3}, {0.1, 0.2, 1.2}, -5, 0},
  };
  for (int i = 0; i < 4; i++) {
    vec u, v, rate;
    mat g;
    at(f, row[i].t, row[i].out, u, g, rate);
    at(f, row[i].held, row[i].in, v, NULL, NULL);
    for (int k = 0; k < 3; k++) {
      check_near(u[k], v[k], 1e-14);
      for (int j = 0; j < 3; j++)
        if (row[i].out[j] != row[i].in[j]) check_near(g[k][j], 0, 0);
      if (row[i].t != row[i].held) check_near(rate[k], 0, 0);
    }
  }
  cb_flow_free(f);
}

static void grid_of_one_point_is_uniform(void **unused) {
  cb_flow *f;
  vec u;
  const cb_flow_grid g = {.n = {1, 1, 1}, .times = 1, .u = (const double[]){1, 2, 3}};
  check_ok(cb_flow_from_grid(&g, &f));
  assert_true(cb_flow_is_uniform(f) && cb_flow_is_steady(f));
  at(f, 3, (const vec){1, 2, 3}, u, NULL, NULL);
  for (int i = 0; i < 3; i++) check_near(u[i], i + 1, 0);
  cb_flow_free(f);
}

static void wrong_grids_are_refused_by_name(void **unused) {
  double u[2 * 2 * 3 * 2 * 3] = {0};
  const cb_flow_grid good = {{2, 3, 2}, {0}, {1, 1, 1}, 2, 0, 1, {0}, u};
  cb_flow *f = NULL;
  cb_flow_grid g = good;
  u[((1 * 2 + 0) * 3 + 2) * 2 * 3 + 1 * 3 + 1] = NAN;
  check_error(cb_flow_from_grid(&g, &f), CB_ERROR_DOMAIN,
              "flow grid: velocity y is nan at time 1, point (0, 2, 1), counted from 0: expected a finite number");
  memset(u, 0, sizeof u);
  g.n[1] = 0;
  check_error(cb_flow_from_grid(&g, &f), CB_ERROR_ARGUMENT, "flow grid: 0 points along y: expected from 1 to 2^30");
  g = good;
  g.times = 0;
  check_error(cb_flow_from_grid(&g, &f), CB_ERROR_ARGUMENT, "flow grid: 0 points along t: expected from 1 to 2^30");
  g = good;
  g.spacing[2] = -1;
  check_error(cb_flow_from_grid(&g, &f), CB_ERROR_ARGUMENT,
              "flow grid: along z from 0 with spacing -1: expected finite numbers, and a spacing > 0");
  g = good;
  g.n[0] = g.n[1] = g.n[2] = g.times = 1 << 30;
  check_error_begins(cb_flow_from_grid(&g, &f), CB_ERROR_MEMORY, "no memory for a flow grid of 1073741824 x");
  assert_null(f);
  check_ok(cb_flow_from_grid(&good, &f));
  vec v;
  check_error(cb_flow_at(f, 0, 1, (const vec[]){{0, NAN, 3}}, &v, NULL, NULL), CB_STEP_NOT_FINITE,
              "flow at (0, nan, 3), t = 0: velocity (nan, nan, nan): expected finite numbers");
  cb_flow_free(f);
  cb_flow_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grid_of_cubics_is_exact),
      cmocka_unit_test(short_directions_are_lines_and_parabolas),
      cmocka_unit_test(error_of_the_grid_is_of_fourth_order),
      cmocka_unit_test(periodic_grid_goes_on),
      cmocka_unit_test(grid_is_held_beyond_its_border),
      cmocka_unit_test(grid_of_one_point_is_uniform),
      cmocka_unit_test(wrong_grids_are_refused_by_name),
  };
  return cmocka_run_group_tests_name("flow_interpolation", tests, NULL, NULL);
}
