/* Tests of Wong's equations on any group: their form with the curvature, their derivatives, and variables that are
 * constant at bounds. */
#include "bundles.h"
#include "optimum/extremal.h"

enum { N = 3 };

typedef struct sample {
  random_bundle p, moved;
  cb_wong w;
  double x[CB_WONG_MAX];
} sample;

static void draw_of(uint64_t *seed, const cb_group *G, int n, sample *s) {
  random_bundles(seed, G, n, .5, &s->p, &s->moved);
  cb_wong_init(&s->w, &s->p.b);
  for (int i = 0; i < s->w.size; i++) s->x[i] = check_uniform(seed, -1, 1);
}

static void draw(uint64_t *seed, const cb_group *G, sample *s) { draw_of(seed, G, N, s); }

/* In each shape variable r_i, M_ij r''_j + d_kM_ij v_k v_j - v d_iM v/2 = <lambda, B_ij> v_j, with v = r'. The
 * multipliers obey lambda' = ad*_xi lambda. M is the cost metric, B the curvature, lambda the multiplier, and xi the
 * body velocity. The test fixes the signs of B and ad*. */
static void they_are_a_charge_in_the_field_of_curvature(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++) {
    sample s;
    double f[CB_WONG_MAX], v[N], xi[CB_GROUP_DIM], V[N * CB_WONG_MAX], B[3 * CB_GROUP_DIM], M[N * N], dM[N * N * N];
    draw(&seed, G, &s);
    const double *lambda = s.x + 2 * N;
    check_ok(cb_wong_at(&s.w, 0, s.x, &(cb_wong_rates){.f = f, .v = v, .xi = xi, .V = V}));
    check_ok(cb_bundle_curvatures(&s.p.b, s.x, B));
    check_ok(cb_bundle_connection(&s.p.b, s.x, NULL, NULL, M, dM));
    for (int i = 0; i < N; i++) {
      double left = 0, right = 0;
      for (int j = 0; j < N; j++) {
        double a = 0;
        for (int c = 0; c < s.w.size; c++) a += V[j * s.w.size + c] * f[c];
        left += M[i * N + j] * a;
        for (int l = 0; l < N; l++) left += (dM[(l * N + i) * N + j] - dM[(i * N + l) * N + j] / 2) * v[l] * v[j];
        const int low = i < j ? i : j, high = i < j ? j : i, pair = low == 0 ? high - 1 : 2;
        for (int a2 = 0; i != j && a2 < G->dim; a2++)
          right += (i < j ? 1 : -1) * lambda[a2] * B[pair * G->dim + a2] * v[j];
      }
      check_near(left, right, 1e-12 * (1 + fabs(right)));
    }
    double turned[CB_GROUP_DIM];
    cb_group_ad_dual(G, xi, lambda, turned);
    for (int a = 0; a < G->dim; a++) check_near(f[2 * N + a], turned[a], 1e-13 * (1 + fabs(turned[a])));
  }
}

typedef void (*values)(const sample *s, unsigned held, const double *x, double *out);

static void rate_values(const sample *s, unsigned held, const double *x, double *out) {
  check_ok(cb_wong_at(&s->w, held, x, &(cb_wong_rates){.f = out}));
}
static void fibre_values(const sample *s, unsigned held, const double *x, double *out) {
  check_ok(cb_wong_at(&s->w, held, x, &(cb_wong_rates){.xi = out}));
}
static void shape_values(const sample *s, unsigned held, const double *x, double *out) {
  check_ok(cb_wong_at(&s->w, held, x, &(cb_wong_rates){.v = out}));
}
static void released_values(const sample *s, unsigned held, const double *x, double *out) {
  memcpy(out, x, (size_t)s->w.size * sizeof *x);
  check_ok(cb_wong_release(&s->w, held, out, NULL));
}

/* Compares the derivatives D with central differences of order 4. Their errors are at most 1e-10 for h = 3e-4, since
 * fifth derivatives are about 1e5. */
static void check_slopes(const sample *s, unsigned held, values of, int rows, const double *D) {
  const double h = 3e-4;
  for (int c = 0; c < s->w.size; c++) {
    double y[4][CB_WONG_MAX], x[CB_WONG_MAX];
    memcpy(x, s->x, sizeof x);
    for (int k = 0; k < 4; k++) {
      x[c] = s->x[c] + (k < 2 ? k - 2 : k - 1) * h;
      of(s, held, x, y[k]);
    }
    for (int i = 0; i < rows; i++)
      check_near(D[i * s->w.size + c], (y[0][i] - 8 * y[1][i] + 8 * y[2][i] - y[3][i]) / (12 * h), 1e-9);
  }
}

static void derivatives_agree_with_differences(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++)
    for (unsigned held = 0; held < 7; held++) {
      sample s;
      double J[CB_WONG_MAX * CB_WONG_MAX], X[CB_GROUP_DIM * CB_WONG_MAX], V[N * CB_WONG_MAX], x[CB_WONG_MAX];
      draw(&seed, G, &s);
      check_ok(cb_wong_at(&s.w, held, s.x, &(cb_wong_rates){.J = J, .X = X, .V = V}));
      check_slopes(&s, held, rate_values, s.w.size, J);
      check_slopes(&s, held, fibre_values, G->dim, X);
      check_slopes(&s, held, shape_values, N, V);
      memcpy(x, s.x, sizeof x);
      check_ok(cb_wong_release(&s.w, held, x, J));
      check_slopes(&s, held, released_values, s.w.size, J);
    }
}

/* If a variable is held at a bound, v_i = 0. The other variables follow the same equations. The force of the bound on
 * the variable is the difference of two rates of p_i: that along the arc, and that of the equations of the released
 * variable at the same point. */
static void a_held_variable_stands_still_under_the_force_of_its_bound(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++) {
    sample s;
    const unsigned held = 2;
    const double h = 1e-4;
    double f[CB_WONG_MAX], v[N], x[CB_WONG_MAX], released[2][CB_WONG_MAX], force[N], free[CB_WONG_MAX], w[N];
    draw(&seed, G, &s);
    check_ok(cb_wong_at(&s.w, held, s.x, &(cb_wong_rates){.f = f, .v = v}));
    assert_true(v[1] == 0);
    check_ok(cb_wong_bound_force(&s.w, held, s.x, force));
    assert_true(force[0] == 0 && force[2] == 0);
    memcpy(x, s.x, sizeof x);
    check_ok(cb_wong_release(&s.w, held, x, NULL));
    check_ok(cb_wong_at(&s.w, 0, x, &(cb_wong_rates){.f = free, .v = w}));
    for (int i = 0; i < N; i++) check_near(w[i], v[i], 1e-12);
    check_near(free[N], f[N], 1e-12);
    check_near(free[N + 2], f[N + 2], 1e-12);
    for (int side = 0; side < 2; side++) {
      for (int c = 0; c < s.w.size; c++) released[side][c] = s.x[c] + (side ? h : -h) * f[c];
      check_ok(cb_wong_release(&s.w, held, released[side], NULL));
    }
    const double rate = (released[1][N + 1] - released[0][N + 1]) / (2 * h);
    check_near(force[1], rate - free[N + 1], 1e-5 * (1 + fabs(rate))); /* the error is h^2 p'''/6 */
  }
}

/* --- homogeneous multipliers --- */

static const double some_mu = .3, some_cost = 1.7;

typedef struct homogeneous {
  double f[CB_WONG_MAX], P[CB_WONG_MAX], xi[CB_GROUP_DIM], s;
} homogeneous;

static homogeneous homogeneous_at(const sample *s, double mu, double cost, const double *x) {
  homogeneous h;
  const cb_wong_homogeneous out = {.f = h.f, .P = h.P, .xi = h.xi, .s = &h.s};
  check_ok(cb_wong_homogeneous_at(&s->w, mu, cost, x, &out));
  return h;
}

static void rates_of_P(const sample *s, unsigned held, const double *x, double *out) {
  const homogeneous h = homogeneous_at(s, some_mu, some_cost, x);
  memcpy(out, h.f, sizeof h.f);
}
static void values_of_P(const sample *s, unsigned held, const double *x, double *out) {
  const homogeneous h = homogeneous_at(s, some_mu, some_cost, x);
  memcpy(out, h.P, sizeof h.P);
}
static void fibre_of_v(const sample *s, unsigned held, const double *x, double *out) {
  const homogeneous h = homogeneous_at(s, some_mu, some_cost, x);
  memcpy(out, h.xi, sizeof h.xi);
}
static void speed_of_v(const sample *s, unsigned held, const double *x, double *out) {
  *out = homogeneous_at(s, some_mu, some_cost, x).s;
}

/* Checks the derivatives of the rates f and the momenta P with respect to mu and to the cost. f and P are linear in mu,
 * so differences in mu have no truncation error. The derivatives with respect to the cost are compared with differences
 * of order 2, whose error is 1e-6. */
static void check_globals(const sample *s, const double *JG, const double *DG) {
  const double h = 1e-3;
  const homogeneous up = homogeneous_at(s, some_mu + h, some_cost, s->x),
                    own = homogeneous_at(s, some_mu, some_cost, s->x);
  const homogeneous more = homogeneous_at(s, some_mu, some_cost + h, s->x),
                    less = homogeneous_at(s, some_mu, some_cost - h, s->x);
  for (int i = 0; i < s->w.size; i++) {
    check_near(JG[2 * i], (up.f[i] - own.f[i]) / h, 1e-11);
    check_near(DG[2 * i], (up.P[i] - own.P[i]) / h, 1e-11);
    check_near(JG[2 * i + 1], (more.f[i] - less.f[i]) / (2 * h), 2e-5);
    check_near(DG[2 * i + 1], (more.P[i] - less.P[i]) / (2 * h), 2e-5);
  }
}

/* Wong's equations with a weight mu of the cost (optimum/extremal.h, homogeneous multipliers) have the state
 * (r, v, lambda). With mu = 1 their rates equal those of the usual equations, whose state is (r, p, lambda) with the
 * momentum p = M v + A^T lambda. If lambda and mu are multiplied by the same factor, the rate of r does not change. */
static void homogeneous_multipliers_tell_the_same(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++) {
    sample s;
    double f[CB_WONG_MAX], J[CB_WONG_MAX * CB_WONG_MAX], D[CB_WONG_MAX * CB_WONG_MAX], X[CB_GROUP_DIM * CB_WONG_MAX];
    double ds[CB_WONG_MAX], JG[2 * CB_WONG_MAX], DG[2 * CB_WONG_MAX], x[CB_WONG_MAX], times = 7;
    homogeneous h;
    draw(&seed, G, &s);
    const cb_wong_homogeneous out = {h.f, h.P, h.xi, &h.s, J, D, X, ds, JG, DG};
    check_ok(cb_wong_homogeneous_at(&s.w, some_mu, some_cost, s.x, &out));
    check_slopes(&s, 0, rates_of_P, s.w.size, J);
    check_slopes(&s, 0, values_of_P, s.w.size, D);
    check_slopes(&s, 0, fibre_of_v, G->dim, X);
    check_slopes(&s, 0, speed_of_v, 1, ds);
    check_globals(&s, JG, DG);
    const homogeneous one = homogeneous_at(&s, 1, h.s, s.x);
    check_ok(cb_wong_at(&s.w, 0, one.P, &(cb_wong_rates){.f = f}));
    for (int i = 0; i < s.w.size; i++) check_near(one.f[i], f[i], 1e-12 * (1 + fabs(f[i])));
    memcpy(x, s.x, sizeof x);
    for (int a = 0; a < G->dim; a++) x[2 * N + a] *= times;
    const homogeneous many = homogeneous_at(&s, times, h.s, x);
    for (int i = 0; i < s.w.size; i++) check_near(many.f[i], (i < N ? 1 : times) * f[i], 1e-11 * (1 + fabs(f[i])));
  }
}

/* --- abnormal extremals --- */

/* Tests abnormal extremals (extremal.h) with two and three variables. Their speed is constant. With three variables the
 * momentum is p = A^T lambda, so p' is the time derivative of A^T lambda. With two variables <lambda, B_12> keeps its
 * value; on an extremal this value is 0, but the test starts from random values. A is the connection and B the
 * curvature. Differences are less accurate where the rate v of the shape rotates fast over one step, so such states are
 * left out. */
static void an_abnormal_extremal_stays_one(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++)
    for (int n = 2; n <= 3; n++) {
      sample s;
      double f[CB_WONG_MAX], v[N], H, J[CB_WONG_MAX * CB_WONG_MAX], X[CB_GROUP_DIM * CB_WONG_MAX], V[N * CB_WONG_MAX];
      double maximum = INFINITY, A[N * CB_GROUP_DIM], dA[N * N * CB_GROUP_DIM], b, db[CB_WONG_MAX];
      while (maximum > 3) {
        maximum = 0;
        draw_of(&seed, G, n, &s);
        s.w.speed = -.7;
        check_ok(cb_wong_at(&s.w, 0, s.x, &(cb_wong_rates){.f = f, .v = v, .H = &H, .J = J, .X = X, .V = V}));
        for (int i = 0; i < n * s.w.size; i++) maximum = fmax(maximum, fabs(V[i]));
      }
      check_slopes(&s, 0, rate_values, s.w.size, J);
      check_slopes(&s, 0, fibre_values, G->dim, X);
      check_slopes(&s, 0, shape_values, n, V);
      check_near(2 * H, .49, 1e-13);
      check_ok(cb_bundle_connection(&s.p.b, s.x, A, dA, NULL, NULL));
      for (int i = 0; i < n && n == 3; i++) {
        double rate = 0;
        for (int a = 0; a < G->dim; a++) {
          rate += f[2 * n + a] * A[a * n + i];
          for (int j = 0; j < n; j++) rate += s.x[2 * n + a] * dA[(j * G->dim + a) * n + i] * v[j];
        }
        check_near(f[n + i], rate, 1e-12);
      }
      if (n == 3) continue;
      check_ok(cb_wong_singular(&s.w, s.x, &b, db));
      double rate = 0;
      for (int c = 0; c < s.w.size; c++) rate += db[c] * f[c];
      check_near(rate, 0, 1e-11);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(they_are_a_charge_in_the_field_of_curvature),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(homogeneous_multipliers_tell_the_same),
      cmocka_unit_test(an_abnormal_extremal_stays_one),
      cmocka_unit_test(a_held_variable_stands_still_under_the_force_of_its_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
