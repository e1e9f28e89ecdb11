/* The numerical geodesics and distances of Nil, Sol and the cover of SL(2, R) agree with Hamilton's equations, which
 * are written out here and integrated by GSL's Prince-Dormand 8(9). The coordinates are (x, y, z), or (x, w, t) for
 * SL2, and px, py, ... are their momenta. The Hamiltonian H is
 *
 *   Nil  H = (px^2 + (py + x pz)^2 + pz^2)/2      Sol  H = (e^-2z px^2 + e^2z py^2 + pz^2)/2
 *   SL2  H = ((e^w px - pt)^2 + pw^2 + pt^2)/2 */
#include "check_spaces.h"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

static int nil(double t, const double *s, double *ds, void *unused) {
  const double x = s[0], b = s[4] + x * s[5];
  ds[0] = s[3];
  ds[1] = b;
  ds[2] = s[5] + x * b;
  ds[3] = -b * s[5];
  ds[4] = 0;
  ds[5] = 0;
  return GSL_SUCCESS;
}

static int sol(double t, const double *s, double *ds, void *unused) {
  const double grow = exp(2 * s[2]), decay = exp(-2 * s[2]);
  ds[0] = decay * s[3];
  ds[1] = grow * s[4];
  ds[2] = s[5];
  ds[3] = 0;
  ds[4] = 0;
  ds[5] = decay * s[3] * s[3] - grow * s[4] * s[4];
  return GSL_SUCCESS;
}

static int sl2(double t, const double *s, double *ds, void *unused) {
  const double y = exp(s[1]), a = y * s[3] - s[5];
  ds[0] = y * a;
  ds[1] = s[4];
  ds[2] = s[5] - a;
  ds[3] = 0;
  ds[4] = -a * y * s[3];
  ds[5] = 0;
  return GSL_SUCCESS;
}

typedef int equations(double, const double *, double *, void *);
static const struct {
  const char *name;
  equations *f;
} groups[] = {{"nil", nil}, {"sol", sol}, {"sl2", sl2}};

static void integrate(equations *f, double *s) {
  gsl_odeiv2_system system = {f, NULL, 6, NULL};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rk8pd, 1e-2, 1e-15, 1e-15);
  double t = 0;
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &t, 1, s), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
}

/* Makes a random geodesic from q to q1 with the initial velocity u, and returns its length, 0.05 to 1.5. This is well
 * inside the cut locus, since the curvature is at most 1. */
static double random_geodesic(const cb_space *g, equations *f, uint64_t *state, double *q, double *u, double *q1) {
  double s[6], ds[6], gij[9], square = 0, length = check_uniform(state, 0.05, 1.5);
  for (int i = 0; i < 3; i++) {
    q[i] = check_uniform(state, -1, 1);
    u[i] = check_uniform(state, -1, 1);
  }
  check_ok(g->chart->metric(g, q, gij, NULL, NULL));
  for (int i = 0; i < 9; i++) square += gij[i] * u[i / 3] * u[i % 3];
  for (int i = 0; i < 3; i++) {
    u[i] *= length / sqrt(square);
    s[i] = q[i];
  }
  for (int i = 0; i < 3; i++) s[3 + i] = gij[i * 3] * u[0] + gij[i * 3 + 1] * u[1] + gij[i * 3 + 2] * u[2];
  f(0, s, ds, NULL); /* x' of Hamilton's equations is u if H has the metric of the space */
  for (int i = 0; i < 3; i++) check_near(ds[i], u[i], 1e-13);
  integrate(f, s);
  memcpy(q1, s, 3 * sizeof *q1);
  return length;
}

static void distances_are_lengths_of_integrated_geodesics(void **unused) {
  uint64_t state = check_seed();
  for (size_t which = 0; which < sizeof groups / sizeof *groups; which++) {
    cb_space *g;
    check_ok(cb_space_create(groups[which].name, NULL, &g));
    double worst = 0, worst_end = 0, worst_log = 0, worst_gradient = 0;
    for (int repeat = 0; repeat < 300; repeat++) {
      double q[3], u[3], q1[3], end[3], found[3], d, gradient[6], gij[9];
      const double length = random_geodesic(g, groups[which].f, &state, q, u, q1);
      check_ok(g->chart->distance(g, q, q1, &d, gradient, NULL));
      worst = fmax(worst, fabs(d - length) / length);
      cb_exp(g, q, u, end, NULL);
      worst_end = fmax(worst_end, check_distance_max(3, end, q1));
      check_ok(cb_log(g, q, q1, found));
      worst_log = fmax(worst_log, check_distance_max(3, found, u));
      check_ok(g->chart->metric(g, q, gij, NULL, NULL));
      for (int i = 0; i < 3; i++) {
        const double covector = -(gij[i * 3] * u[0] + gij[i * 3 + 1] * u[1] + gij[i * 3 + 2] * u[2]) / length;
        worst_gradient = fmax(worst_gradient, fabs(gradient[i] - covector));
      }
    }
    print_message("%s: errors of distance %.1e, exp %.1e, log %.1e, gradient %.1e\n", groups[which].name, worst,
                  worst_end, worst_log, worst_gradient);
    check_at_most(worst, 1e-11);
    check_at_most(worst_end, 1e-11);
    check_at_most(worst_log, 1e-11);
    check_at_most(worst_gradient, 1e-8);
    cb_space_free(g);
  }
}

static void distance_is_symmetric_and_keeps_the_triangle_inequality(void **unused) {
  uint64_t state = check_seed();
  for (size_t which = 0; which < sizeof groups / sizeof *groups; which++) {
    cb_space *g;
    check_ok(cb_space_create(groups[which].name, NULL, &g));
    for (int repeat = 0; repeat < 50; repeat++) {
      double x[3][3];
      for (int i = 0; i < 9; i++) x[i / 3][i % 3] = check_uniform(&state, -0.4, 0.4);
      const double ab = cb_distance(g, x[0], x[1]), bc = cb_distance(g, x[1], x[2]), ac = cb_distance(g, x[0], x[2]);
      check_relative(cb_distance(g, x[1], x[0]), ab, 1e-11);
      check_at_most(ac, ab + bc + 1e-11);
    }
    cb_space_free(g);
  }
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_are_lengths_of_integrated_geodesics),
      cmocka_unit_test(distance_is_symmetric_and_keeps_the_triangle_inequality),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
