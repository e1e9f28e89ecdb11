/* Tests of bundles from tables: order and derivatives of the spline, and errors. A: the connection; M: the cost metric;
 * dA, dM: their derivatives. */
#include "bundle/samples.h"
#include "bundles.h"
#include "models.h"

#include <gsl/gsl_bspline.h>
#include <gsl/gsl_matrix.h>

/* --- splines --- */

/* The B-splines and their derivatives equal the B-splines of GSL on the same knots. */
static void the_basis_is_that_of_gsl(void **unused) {
  uint64_t seed = check_seed();
  for (int degree = 3; degree <= 5; degree += 2) {
    enum { POINTS = 13 };
    double x[POINTS] = {-1};
    for (int i = 1; i < POINTS; i++) x[i] = x[i - 1] + check_uniform(&seed, 0.1, 1);
    cb_arena *arena = cb_arena_create();
    cb_spline_axis a;
    check_ok(cb_spline_axis_create(degree, POINTS, x, 0, arena, &a));
    gsl_bspline_workspace *w = gsl_bspline_alloc((size_t)degree + 1, (size_t)a.spans + 1);
    gsl_vector_view breaks = gsl_vector_view_array(a.knot + degree, (size_t)a.spans + 1);
    gsl_bspline_knots(&breaks.vector, w);
    assert_int_equal(gsl_bspline_ncoeffs(w), POINTS);
    gsl_matrix *d = gsl_matrix_alloc(POINTS, 3);
    for (int trial = 0; trial < 200; trial++) {
      double at = trial < POINTS ? x[trial] : check_uniform(&seed, a.low, a.high), basis[3][CB_SPLINE_BASIS];
      int k[CB_SPLINE_BASIS];
      const int span = cb_spline_span(&a, &at);
      cb_spline_basis(&a, span, at, 2, basis, k);
      gsl_bspline_deriv_eval(at, 2, d, w);
      for (int i = 0; i < POINTS; i++)
        for (int order = 0; order < 3; order++) {
          double own = 0;
          for (int j = 0; j <= degree; j++)
            if (k[j] == i) own = basis[order][j];
          check_near(own, gsl_matrix_get(d, (size_t)i, (size_t)order), 1e-13 * pow(40, order));
        }
    }
    gsl_matrix_free(d);
    gsl_bspline_free(w);
    cb_arena_free(arena);
  }
}

/* Returns the smooth function number `entry` of n variables r, which serves as an entry of A or M. It has the period 2
 * pi in each variable. slope[n] (may be NULL) is its gradient. */
static double smooth(int entry, int n, const double *r, double *slope) {
  double phase = 0.7 * entry, value = 0;
  for (int i = 0; i < n; i++) phase += (i % 2 ? -1 : 1) * r[i];
  value = sin(phase) + 0.5 * cos(r[0] + entry);
  for (int i = 0; slope && i < n; i++)
    slope[i] = (i % 2 ? -1 : 1) * cos(phase) - (i == 0 ? 0.5 * sin(r[0] + entry) : 0);
  return value;
}

typedef struct grid {
  cb_bundle_table t;
  double axis[CB_SAMPLES_AXES][200];
} grid;

/* Fills the table with values of `smooth` on a grid. If `uneven` is set, the axes are stretched by a smooth map. */
static void fill(grid *g, int n, int points, double low, double high, bool periodic, bool uneven) {
  static const char *const names[] = {"p", "q", "s", "u"};
  *g = (grid){.t = {.group = cb_group_find("r2"), .n = n}};
  size_t total = 1;
  for (int i = 0; i < n; i++) {
    g->t.shape[i] = names[i];
    g->t.points[i] = points;
    g->t.axis[i] = g->axis[i];
    g->t.period[i] = periodic ? 2 * M_PI : 0;
    for (int k = 0; k < points; k++) {
      double u = (double)k / (periodic ? points : points - 1);
      if (uneven) u += 0.1 * sin(2 * M_PI * u);
      g->axis[i][k] = low + u * (periodic ? 2 * M_PI : high - low);
    }
    total *= (size_t)points;
  }
  double *A = malloc(total * (size_t)(2 * n) * sizeof *A), *M = malloc(total * (size_t)(n * n) * sizeof *M);
  g->t.connection = A;
  g->t.metric = M;
  for (size_t at = 0; at < total; at++) {
    double r[CB_SAMPLES_AXES];
    size_t rest = at;
    for (int i = n - 1; i >= 0; i--) {
      r[i] = g->axis[i][rest % (size_t)points];
      rest /= (size_t)points;
    }
    for (int e = 0; e < 2 * n; e++) *A++ = smooth(e, n, r, NULL);
    for (int e = 0; e < n * n; e++)
      *M++ = smooth(20 + e / n + e % n + (e / n) * (e % n), n, r, NULL) + 3 * (e % (n + 1) == 0);
  }
}
static void empty(grid *g) {
  free((double *)g->t.connection);
  free((double *)g->t.metric);
}

static double order_of(const double *error, const double *h, int count) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < count; i++) {
    const double x = log(h[i]), y = log(error[i]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

/* Computes the maximum errors of A and M and of dA and dM, at two places of each interval of both axes. If the axes
 * have periods, some shapes are up to two periods outside the table. */
static void errors(const cb_bundle *b, const grid *g, double *value, double *slope) {
  const int n = b->n, cells = 2 * (g->t.points[0] - 1);
  *value = *slope = 0;
  for (int cell = 0; cell < cells * cells; cell++) {
    double r[2], A[4], dA[8], M[4], dM[8], d[2];
    for (int i = 0; i < 2; i++) {
      const int k = i ? cell / cells : cell % cells;
      const double *x = g->axis[i] + k / 2;
      r[i] = x[0] + (k % 2 ? 0.5 : 0.2) * (x[1] - x[0]) + g->t.period[i] * (k % 5 - 2);
    }
    check_ok(cb_bundle_connection(b, r, A, dA, M, dM));
    for (int e = 0; e < 2 * n + n * n; e++) {
      const int k = e - 2 * n, number = k < 0 ? e : 20 + k / n + k % n + (k / n) * (k % n);
      const double exact = smooth(number, n, r, d) + (k >= 0 && k % (n + 1) == 0 ? 3 : 0);
      *value = fmax(*value, fabs((k < 0 ? A[e] : M[k]) - exact));
      for (int i = 0; i < n; i++) *slope = fmax(*slope, fabs((k < 0 ? dA[i * 2 * n + e] : dM[i * n * n + k]) - d[i]));
    }
  }
}

static void splines_are_of_their_order(void **unused) {
  for (int degree = 3; degree <= 5; degree += 2)
    for (int kind = 0; kind < 4; kind++) { /* bit 0: periodic axes, bit 1: uneven axes */
      const bool periodic = kind & 1, uneven = kind & 2;
      static const int points[3] = {32, 46, 66};
      double value[3], slope[3], h[3];
      for (int i = 0; i < 3; i++) {
        grid g;
        cb_bundle *b;
        fill(&g, 2, points[i], -1, 4, periodic, uneven);
        check_ok(cb_bundle_samples(&g.t, degree, &b));
        errors(b, &g, &value[i], &slope[i]);
        h[i] = 1. / points[i];
        cb_bundle_free(b);
        empty(&g);
      }
      print_message("  degree %d %s %s: order %.2f, of slopes %.2f, errors %.1e %.1e\n", degree,
                    periodic ? "periodic" : "with ends", uneven ? "uneven" : "even", order_of(value, h, 3),
                    order_of(slope, h, 3), value[2], slope[2]);
      check_near(order_of(value, h, 3), degree + 1, 0.2);
      check_near(order_of(slope, h, 3), degree, 0.2);
    }
}

static void a_spline_goes_through_its_samples_and_keeps_polynomials(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 1; n <= 4; n++) {
    const int points = 7 + n % 2;
    grid g;
    cb_bundle *b;
    fill(&g, n, points, -1, 2, false, true);
    /* The first entry of A is a product of polynomials of degree 5, one per axis. */
    size_t total = 1, at = 0;
    for (int i = 0; i < n; i++) total *= (size_t)points;
    for (at = 0; at < total; at++) {
      double value = 1;
      size_t rest = at;
      for (int i = n - 1; i >= 0; i--, rest /= (size_t)points) {
        const double x = g.axis[i][rest % (size_t)points];
        value *= pow(x, 5) - 2 * x * x + i;
      }
      ((double *)g.t.connection)[at * (size_t)(2 * n)] = value;
    }
    check_ok(cb_bundle_samples(&g.t, 5, &b));
    for (int trial = 0; trial < 50; trial++) {
      double r[4], A[8], exact = 1;
      for (int i = 0; i < n; i++) {
        r[i] = check_uniform(&seed, -1, 2);
        exact *= pow(r[i], 5) - 2 * r[i] * r[i] + i;
      }
      check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
      check_near(A[0], exact, 1e-11 * pow(30, n)); /* round-off of values up to 27^n */
    }
    for (int trial = 0; trial < 50; trial++) {
      double r[4], A[8];
      size_t index = 0;
      for (int i = 0; i < n; i++) {
        const int k = (int)check_uniform(&seed, 0, points - 1e-9);
        r[i] = g.axis[i][k];
        index = index * (size_t)points + (size_t)k;
      }
      check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
      for (int e = 1; e < 2 * n; e++) check_near(A[e], g.t.connection[index * (size_t)(2 * n) + (size_t)e], 1e-13);
    }
    cb_bundle_free(b);
    empty(&g);
  }
}

/* First and second derivatives are exact derivatives of the spline. They are compared with differences, with and
 * without jets. */
static void derivatives_are_of_the_spline(void **unused) {
  uint64_t seed = check_seed();
  for (int periodic = 0; periodic < 2; periodic++) {
    grid g;
    cb_bundle *b;
    fill(&g, 3, 9, -1, 2, periodic, true);
    check_ok(cb_bundle_samples(&g.t, 5, &b));
    for (int trial = 0; trial < 10; trial++) {
      double r[3], A[6], dA[18], M[9], dM[27], change[2][27], moved[2][9];
      cb_jet x[3], jA[6], jM[9];
      for (int i = 0; i < 3; i++) r[i] = check_uniform(&seed, -0.8, 1.8);
      check_ok(cb_bundle_connection(b, r, A, dA, M, dM));
      for (int i = 0; i < 3; i++) x[i] = cb_jet_variable(3, i, r[i]);
      check_ok(b->class_->on_jets(b, x, jA, jM));
      for (int e = 0; e < 15; e++) {
        const cb_jet *jet = e < 6 ? &jA[e] : &jM[e - 6];
        assert_true(jet->v == (e < 6 ? A[e] : M[e - 6]));
        for (int i = 0; i < 3; i++) check_near(jet->g[i], e < 6 ? dA[i * 6 + e] : dM[i * 9 + e - 6], 1e-13);
      }
      for (int i = 0; i < 3; i++) {
        const double h = 1e-5, at = r[i];
        for (int back = 0; back < 2; back++) {
          r[i] = at + (back ? -h : h);
          check_ok(cb_bundle_connection(b, r, moved[back], change[back], NULL, NULL));
        }
        r[i] = at;
        for (int e = 0; e < 6; e++) {
          check_near(dA[i * 6 + e], (moved[0][e] - moved[1][e]) / (2 * h), 1e-8);
          for (int j = 0; j < 3; j++)
            check_near(jA[e].h[cb_jet_packed(i, j)], (change[0][j * 6 + e] - change[1][j * 6 + e]) / (2 * h), 1e-7);
        }
      }
      double only[27];
      check_ok(cb_bundle_connection(b, r, NULL, NULL, NULL, only));
      for (int e = 0; e < 27; e++) assert_true(only[e] == dM[e]);
    }
    cb_bundle_free(b);
    empty(&g);
  }
}

/* --- errors --- */

static void refused_by_axis_and_sample(void **unused) {
  grid g;
  cb_bundle *b = NULL;
  fill(&g, 2, 8, 0, 1, false, false);
  double *A = (double *)g.t.connection, *M = (double *)g.t.metric;
#define REFUSED(degree, text) check_error(cb_bundle_samples(&g.t, degree, &b), CB_ERROR_ARGUMENT, text)
  REFUSED(4, "splines of degree 4: expected 3 or 5");
  g.t.points[1] = 5;
  REFUSED(5, "axis q has 5 points, expected at least 6 for splines of degree 5");
  g.t.points[1] = 3;
  REFUSED(0, "axis q has 3 points: expected at least 4");
  g.t.points[1] = 8;
  g.axis[1][3] = g.axis[1][2];
  REFUSED(0, "axis q: value 4 is 0.285714286 after 0.285714286, expected values that increase");
  g.axis[1][3] = NAN;
  REFUSED(0, "axis q: value 4 is nan, expected a finite number");
  g.axis[1][3] = 3. / 7;
  A[(3 * 8 + 4) * 4 + 2] = NAN;
  REFUSED(0, "connection at p = 0.428571429, q = 0.571428571: its entry (x2, p) is nan, expected a finite number");
  A[(3 * 8 + 4) * 4 + 2] = 0;
  M[(7 * 8 + 1) * 4 + 3] = INFINITY;
  REFUSED(0, "metric at p = 1, q = 0.142857143: its entry (q, q) is inf, expected a finite number");
  M[(7 * 8 + 1) * 4 + 3] = 1;
  M[(7 * 8 + 1) * 4 + 1] = M[(7 * 8 + 1) * 4 + 2] = 0.5;
  M[(7 * 8 + 1) * 4 + 1] += 0.01;
  REFUSED(0, "metric at p = 1, q = 0.142857143 is not symmetric: 0.5 and 0.51 for q, p");
  M[(7 * 8 + 1) * 4 + 1] = 0.5;
  g.t.period[0] = 0.9;
  REFUSED(0, "axis p is from 0 to 1: expected a range of at most its period, 0.9");
  g.t.period[0] = 1;
  check_error_begins(cb_bundle_samples(&g.t, 0, &b), CB_ERROR_ARGUMENT,
                     "the connection is not periodic: its entry (x1, p) is ");
  g.t.period[0] = -1;
  REFUSED(0, "axis p has the period -1: expected 0 (none) or a positive number");
  g.t.period[0] = 0;
  g.t.n = 5;
  REFUSED(0, "the table has 5 shape variables: expected 1 to 4");
  g.t.n = 2;
  assert_null(b);
  check_ok(cb_bundle_samples(&g.t, 0, &b));
  double entries[4], bound[2];
  check_error(cb_bundle_connection(b, (double[2]){0.5, 1.25}, entries, NULL, NULL, NULL), CB_STEP_DOMAIN,
              "bundle samples at p = 0.5, q = 1.25: q = 1.25 is outside the table: expected a value from 0 to 1");
  check_error(cb_bundle_samples_error(b, (double[2]){-0.5, 0}, entries), CB_STEP_DOMAIN,
              "p = -0.5 is outside the table: expected a value from 0 to 1");
  cb_bundle_free(b);
  b = model("heisenberg", "");
  check_error(cb_bundle_samples_error(b, NULL, entries), CB_ERROR_ARGUMENT,
              "bundle heisenberg is not from a table: expected a bundle of cb_bundle_samples");
  check_error(cb_bundle_samples_holonomy_error(b, NULL, bound), CB_ERROR_ARGUMENT,
              "bundle heisenberg is not from a table: expected a bundle of cb_bundle_samples");
  cb_bundle_free(b);
  empty(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_basis_is_that_of_gsl),
      cmocka_unit_test(splines_are_of_their_order),
      cmocka_unit_test(a_spline_goes_through_its_samples_and_keeps_polynomials),
      cmocka_unit_test(derivatives_are_of_the_spline),
      cmocka_unit_test(refused_by_axis_and_sample),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
