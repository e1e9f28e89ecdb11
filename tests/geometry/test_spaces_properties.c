/* Tests of properties of every space: products of quadrics, spaces defined by the metric of a chart, and spaces given
 * as text. Lengths are below 0.4, where every geodesic of these spaces is the unique shortest one. */
#include "check_intrinsic.h"

enum { K = CB_COORD_MAX, TRIALS = CHECK_SANITIZED ? 3 : 40 };

/* --- points and vectors of any space --- */

static void some_point(const cb_space *g, uint64_t *state, double *x) {
  if (g->intrinsic)
    random_coordinates(g, state, x);
  else
    check_random_point(g, state, check_radius(g), x);
}

static double inner(const cb_space *g, const double *x, const double *u, const double *v) {
  if (!g->intrinsic) return cb_inner(g, u, v);
  double gij[N * N], sum = 0;
  metric_at(g, x, gij, NULL, NULL);
  for (int i = 0; i < g->dim; i++)
    for (int j = 0; j < g->dim; j++) sum += gij[i * g->dim + j] * u[i] * v[j];
  return sum;
}

/* Makes a random vector of length 0.15 to 0.4 at x, and returns its length. */
static double some_vector(const cb_space *g, uint64_t *state, const double *x, double *v) {
  const double length = check_uniform(state, 0.15, 0.4);
  check_random_tangent(g, state, x, 1, v);
  const double size = sqrt(inner(g, x, v, v));
  for (int a = 0; a < g->embedding; a++) v[a] *= length / size;
  return length;
}

/* Returns the square of the largest coordinate of x, but at least 1. Tolerances are proportional to it, because digits
 * are lost where the metric or the coordinates are large. */
static double size_of(const cb_space *g, const double *x) {
  double size = 1;
  for (int a = 0; a < g->embedding; a++) size = fmax(size, fabs(x[a]));
  return size * size;
}

/* Returns the maximum difference of a coordinate of x and y. In a periodic space, y is replaced by its image nearest to
 * x. */
static double apart(const cb_space *g, const double *x, const double *y) {
  double most = 0;
  for (int a = 0; a < g->embedding; a++) {
    const double period = g->intrinsic ? g->intrinsic->period[a] : 0;
    const double e = period > 0 ? remainder(y[a] - x[a], period) : y[a] - x[a];
    if (!(fabs(e) <= most)) most = fabs(e);
  }
  return most;
}

/* --- metric and frames --- */

static void frames_in(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], e[N * K], v[K], w[K];
    const int k = g->embedding;
    some_point(g, state, x);
    cb_space_frame(g, x, e);
    for (int i = 0; i < g->dim; i++)
      for (int j = 0; j < g->dim; j++)
        check_near(inner(g, x, e + i * k, e + j * k), i == j, 2e-15 * size_of(g, x) * size_of(g, x));
    check_random_tangent(g, state, x, 1, v);
    check_random_tangent(g, state, x, 1, w);
    assert_true(inner(g, x, v, v) > 0);
    check_near(inner(g, x, v, w), inner(g, x, w, v), 4e-15 * size_of(g, x));
    check_ok(cb_space_check_point(g, x, 1e-13));
  }
}
static void metrics_are_symmetric_and_positive_and_frames_orthonormal(void **s) {
  check_every_space_of_both_kinds(frames_in);
}

/* Compares the Christoffel symbols Gamma with differences of the metric g in every chart that has one: 2 g_lm
 * Gamma^m_ij = d_i g_lj + d_j g_li - d_l g_ij. */
static void symbols_in(const cb_space *space, uint64_t *state) {
  static const double weight[3] = {45. / 60, -9. / 60, 1. / 60}, h = 0.002;
  for (int c = 0; c < space->n_charts; c++) {
    cb_space in = *space, *g = &in;
    const int n = g->dim;
    g->chart = &space->charts[c];
    if (!g->chart->metric) continue;
    for (int trial = 0; trial < TRIALS; trial++) {
      double x[K], q[K], gij[N * N], dg[N][N * N] = {{0}}, gamma[N][N][N], size = 1, least;
      do {
        some_point(g, state, x);
        check_ok(g->chart->from_point(g, x, q));
        metric_at(g, q, gij, NULL, NULL);
        least = 1;
        for (int i = 0; i < n; i++) least = fmin(least, gij[i * n + i]);
      } while (least < 0.05); /* not at the axis of polar coordinates */
      for (int i = 0; i < n * n; i++) size = fmax(size, fabs(gij[i]));
      for (int l = 0; l < n; l++)
        for (int step = 1; step <= 3; step++)
          for (int sign = -1; sign <= 1; sign += 2) {
            double at[K], m[N * N];
            memcpy(at, q, (size_t)n * sizeof *at);
            at[l] += sign * step * h;
            metric_at(g, at, m, NULL, NULL);
            for (int i = 0; i < n * n; i++) dg[l][i] += sign * weight[step - 1] * m[i] / h;
          }
      check_ok(cb_christoffel(g, q, gamma, NULL));
      for (int l = 0; l < n; l++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int m = 0; m < n; m++) sum += gij[l * n + m] * gamma[m][i][j];
            check_near(2 * sum, dg[i][l * n + j] + dg[j][l * n + i] - dg[l][i * n + j], 1e-10 * size);
            check_near(gamma[l][i][j], gamma[l][j][i], 1e-15 * fabs(gamma[l][i][j]));
          }
    }
  }
}
static void christoffel_symbols_agree_with_differences_of_the_metric(void **s) {
  check_every_space_of_both_kinds(symbols_in);
}

/* --- geodesics --- */

/* Speed and momenta are constant along geodesics. A geodesic ends at the same point if it is computed in two halves.
 * From its end, with the opposite velocity, it returns to its start. */
static void geodesics_in(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], v[K], y[K], w[K], half[K], u[K], there[K], before[CB_KILLING_MAX] = {0}, after[CB_KILLING_MAX] = {0};
    some_point(g, state, x);
    const double length = some_vector(g, state, x, v), near = 1e-12 * size_of(g, x);
    cb_exp(g, x, v, y, w);
    check_near(sqrt(inner(g, y, w, w)), length, near);
    cb_killing_momentum_add(g, x, v, before);
    cb_killing_momentum_add(g, y, w, after);
    check_at_most(check_distance_max(g->n_killing, before, after), near);
    for (int a = 0; a < g->embedding; a++) u[a] = v[a] / 2;
    cb_exp(g, x, u, half, there);
    cb_exp(g, half, there, u, NULL);
    check_at_most(apart(g, u, y), near);
    for (int a = 0; a < g->embedding; a++) w[a] = -w[a];
    cb_exp(g, y, w, there, u);
    check_at_most(apart(g, there, x), near);
    for (int a = 0; a < g->embedding; a++) u[a] += v[a];
    check_near(sqrt(fabs(inner(g, x, u, u))), 0, near);
  }
}
static void geodesics_keep_speed_and_momenta_and_return(void **s) { check_every_space_of_both_kinds(geodesics_in); }

/* cb_exp of a space agrees with the integrated geodesic of the metric of each chart. */
static void integrated_in(const cb_space *space, uint64_t *state) {
  for (int c = 0; c < space->n_charts; c++) {
    cb_space in = *space, *g = &in;
    g->chart = &space->charts[c];
    if (!g->chart->metric) continue;
    for (int trial = 0; trial < TRIALS; trial++) {
      double x[K], v[K], y[K], w[K], q[K], u[K], q1[K], u1[K], end[K], velocity[K];
      some_point(g, state, x);
      some_vector(g, state, x, v);
      cb_exp(space, x, v, y, w);
      /* The chart is singular at its axis, so points at the axis are skipped. */
      if (cb_chart_pull(g, g->chart, x, v, q, u) || cb_numeric_exp(g, q, u, q1, u1, NULL)) continue;
      check_ok(cb_chart_push(g, g->chart, q1, u1, end, velocity));
      check_at_most(apart(space, end, y), 1e-11 * size_of(g, x));
    }
  }
}
static void geodesics_are_those_of_the_metric(void **s) { check_every_space_of_both_kinds(integrated_in); }

static void logarithms_in(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], v[K], y[K], u[K], end[K];
    some_point(g, state, x);
    some_vector(g, state, x, v);
    cb_exp(g, x, v, y, NULL);
    check_ok(cb_log(g, x, y, u));
    for (int a = 0; a < g->embedding; a++) end[a] = u[a] - v[a];
    check_near(sqrt(fabs(inner(g, x, end, end))), 0, 1e-11 * size_of(g, x));
    cb_exp(g, x, u, end, NULL);
    check_at_most(apart(g, end, y), 1e-12 * size_of(g, x));
  }
}
static void log_is_the_inverse_of_exp(void **s) { check_every_space_of_both_kinds(logarithms_in); }

static void transport_in(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], v[K], y[K], w[K], a[K], b[K], ta[K], tb[K], back[K];
    some_point(g, state, x);
    some_vector(g, state, x, v);
    some_vector(g, state, x, a);
    some_vector(g, state, x, b);
    const double near = 1e-11 * size_of(g, x);
    cb_exp(g, x, v, y, w);
    check_ok(cb_transport(g, x, y, a, ta));
    check_ok(cb_transport(g, x, y, b, tb));
    check_near(inner(g, y, ta, tb), inner(g, x, a, b), near);
    check_near(inner(g, y, ta, w), inner(g, x, a, v), near); /* w is the velocity v, transported along its geodesic */
    check_ok(cb_transport(g, y, x, ta, back));
    for (int i = 0; i < g->embedding; i++) back[i] -= a[i];
    check_near(sqrt(fabs(inner(g, x, back, back))), 0, near);
  }
}
static void transport_is_isometric_along_the_geodesic(void **s) { check_every_space_of_both_kinds(transport_in); }

/* --- distance --- */

static void distance_in(const cb_space *g, uint64_t *state) {
  const int k = g->embedding;
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], v[K], y[K], w[K], d, gradient[2 * K], hessian[4 * K * K], there, other[2 * K];
    some_point(g, state, x);
    const double length = some_vector(g, state, x, v), near = 1e-12 * size_of(g, x);
    cb_exp(g, x, v, y, w);
    check_near(cb_distance(g, x, y), length, near);
    check_near(cb_distance(g, y, x), cb_distance(g, x, y), near);
    check_near(cb_distance(g, x, x), 0, 0);
    check_ok(cb_distance_derivatives(g, x, y, &d, gradient, hessian));
    check_near(d, length, near);
    check_ok(cb_distance_derivatives(g, y, x, &there, other, NULL));
    check_at_most(check_distance_max(k, gradient, other + k), 10 * near);
    check_at_most(check_distance_max(k, gradient + k, other), 10 * near);
    /* First variation of the length d: by a vector u at x it grows by -<u, v>/d, and by a vector u at y it grows by <u,
     * w>/d. v and w are the velocities at x and y. */
    double u[K], by_x = 0, by_y = 0;
    check_random_tangent(g, state, x, 1, u);
    for (int a = 0; a < k; a++) by_x += gradient[a] * u[a];
    check_near(by_x, -inner(g, x, u, v) / d, 10 * near);
    check_random_tangent(g, state, y, 1, u);
    for (int a = 0; a < k; a++) by_y += gradient[k + a] * u[a];
    check_near(by_y, inner(g, y, u, w) / d, 10 * near);
    for (int i = 0; i < 2 * k; i++)
      for (int j = 0; j < i; j++) check_near(hessian[i * 2 * k + j], hessian[j * 2 * k + i], 1e-13 * size_of(g, x) / d);
  }
}
static void distances_are_symmetric_lengths_of_geodesics(void **s) { check_every_space_of_both_kinds(distance_in); }

/* The Hessian in coordinates agrees with differences of the gradient, in every chart with a distance. */
static void hessian_in(const cb_space *space, uint64_t *state) {
  static const double weight[3] = {45. / 60, -9. / 60, 1. / 60}, arc = 0.001;
  for (int c = 0; c < space->n_charts; c++) {
    cb_space in = *space, *g = &in;
    const int n2 = 2 * g->dim;
    g->chart = &space->charts[c];
    if (!g->chart->distance) continue;
    for (int trial = 0; trial < (TRIALS + 2) / 3; trial++) {
      double x[K], v[K], y[K], z[2 * K], d, gradient[2 * K], hessian[4 * K * K], size = 1, seen[4 * K * K] = {0};
      double gij[N * N], h[2 * N], least;
      do {
        some_point(g, state, x);
        some_vector(g, state, x, v);
        cb_exp(space, x, v, y, NULL);
        check_ok(g->chart->from_point(g, x, z));
        check_ok(g->chart->from_point(g, y, z + g->dim));
        least = 1;
        for (int end = 0; end < 2; end++) {
          metric_at(g, z + end * g->dim, gij, NULL, NULL);
          for (int i = 0; i < g->dim; i++) {
            least = fmin(least, gij[i * g->dim + i]);
            h[end * g->dim + i] = arc / sqrt(gij[i * g->dim + i]);
          }
        }
      } while (least < 0.1);
      check_ok(g->chart->distance(g, z, z + g->dim, &d, gradient, hessian));
      for (int j = 0; j < n2; j++) {
        const double at = z[j];
        for (int step = 1; step <= 3; step++)
          for (int sign = -1; sign <= 1; sign += 2) {
            z[j] = at + sign * step * h[j];
            check_ok(g->chart->distance(g, z, z + g->dim, &d, gradient, NULL));
            for (int i = 0; i < n2; i++) seen[i * n2 + j] += sign * weight[step - 1] * gradient[i] / h[j];
          }
        z[j] = at;
      }
      for (int i = 0; i < n2 * n2; i++) size = fmax(size, fabs(hessian[i]));
      /* The differences have step `arc`. Their errors are of order (arc/d)^6 and round-off/arc at the distance d. */
      check_at_most(check_distance_max(n2 * n2, hessian, seen), 1e-8 * size);
    }
  }
}
static void hessians_of_distances_agree_with_differences(void **s) { check_every_space_of_both_kinds(hessian_in); }

static void means_in(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < (TRIALS + 2) / 3; trial++) {
    enum { COUNT = 4 };
    double centre[K], v[K], x[COUNT * K], weight[COUNT], mean[K], u[K], sum[K] = {0};
    some_point(g, state, centre);
    for (int i = 0; i < COUNT; i++) {
      some_vector(g, state, centre, v);
      for (int a = 0; a < g->embedding; a++) v[a] /= 2;
      cb_exp(g, centre, v, x + i * g->embedding, NULL);
      weight[i] = check_uniform(state, 0.3, 2);
    }
    check_ok(cb_karcher_mean(g, COUNT, x, weight, mean));
    for (int i = 0; i < COUNT; i++) {
      check_ok(cb_log(g, mean, x + i * g->embedding, u));
      for (int a = 0; a < g->embedding; a++) sum[a] += weight[i] * u[a];
    }
    check_near(sqrt(fabs(inner(g, mean, sum, sum))), 0, 1e-11 * size_of(g, centre));
  }
}
static void karcher_means_balance_the_logarithms(void **s) { check_every_space_of_both_kinds(means_in); }

/* --- charts and plots --- */

static void charts_in(const cb_space *g, uint64_t *state) {
  for (size_t c = 0; c < cb_chart_count(g); c++) {
    const cb_chart *chart = cb_chart_at(g, c);
    assert_ptr_equal(cb_chart_find(g, chart->name), chart);
    for (int trial = 0; trial < TRIALS; trial++) {
      double x[K], v[K], q[K], u[K], y[K], w[K], jacobian[K * K];
      some_point(g, state, x);
      some_vector(g, state, x, v);
      check_ok(chart->from_point(g, x, q));
      check_ok(chart->to_point(g, q, y, jacobian));
      check_at_most(check_distance_max(g->embedding, x, y), 1e-14 * size_of(g, x));
      if (cb_chart_pull(g, chart, x, v, q, u)) continue; /* x is on the axis of polar coordinates */
      check_ok(cb_chart_push(g, chart, q, u, y, w));
      check_at_most(check_distance_max(g->embedding, v, w), 1e-11 * size_of(g, x));
      for (int a = 0; a < g->embedding && chart->size == g->dim; a++) {
        double sum = 0;
        for (int i = 0; i < g->dim; i++) sum += jacobian[a * g->dim + i] * u[i];
        check_near(sum, v[a], 1e-11 * size_of(g, x));
      }
    }
  }
}
static void charts_lead_there_and_back(void **s) { check_every_space_of_both_kinds(charts_in); }

static void plots_in(const cb_space *g, uint64_t *state) {
  static const double h = 1e-5;
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], v[K], step[K], y[K], p[3], rate[3], ends[2][3];
    some_point(g, state, x);
    some_vector(g, state, x, v);
    cb_plot_coordinates(g, x, v, p, rate);
    for (int side = 0; side < 2; side++) {
      for (int a = 0; a < g->embedding; a++) step[a] = (side ? h : -h) * v[a];
      cb_exp(g, x, step, y, NULL);
      cb_plot_coordinates(g, y, NULL, ends[side], NULL);
    }
    for (int a = 0; a < 3; a++) check_near(rate[a], (ends[1][a] - ends[0][a]) / (2 * h), 1e-9 * size_of(g, x));
  }
}
static void velocities_of_plots_agree_with_differences(void **s) { check_every_space_of_both_kinds(plots_in); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metrics_are_symmetric_and_positive_and_frames_orthonormal),
      cmocka_unit_test(christoffel_symbols_agree_with_differences_of_the_metric),
      cmocka_unit_test(geodesics_keep_speed_and_momenta_and_return),
      cmocka_unit_test(geodesics_are_those_of_the_metric),
      cmocka_unit_test(log_is_the_inverse_of_exp),
      cmocka_unit_test(transport_is_isometric_along_the_geodesic),
      cmocka_unit_test(distances_are_symmetric_lengths_of_geodesics),
      cmocka_unit_test(hessians_of_distances_agree_with_differences),
      cmocka_unit_test(karcher_means_balance_the_logarithms),
      cmocka_unit_test(charts_lead_there_and_back),
      cmocka_unit_test(velocities_of_plots_agree_with_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
