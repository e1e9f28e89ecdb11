/* Wong's equations on any group: their curvature form, their derivatives, variables held at bounds.
 * labels: short */
#include "bundles.h"
#include "optimum/wong.h"

enum { N = 3 };

typedef struct sample {
  random_bundle p, moved;
  cb_wong w;
  double x[CB_WONG_MAX];
} sample;

static void draw(uint64_t *seed, const cb_group *G, sample *s) {
  random_bundles(seed, G, N, .5, &s->p, &s->moved);
  cb_wong_init(&s->w, &s->p.b);
  for (int i = 0; i < s->w.size; i++) s->x[i] = check_uniform(seed, -1, 1);
}

/* M_ij r''_j + d_kM_ij v_k v_j - v d_iM v/2 = <lambda, B_ij> v_j, and lambda' = ad*_xi lambda: with the curvature
 * of the bundle and ad*, which fixes both signs. */
static void they_are_a_charge_in_the_field_of_curvature(void **state) {
  (void)state;
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

/* Central differences of order 4: 1e-10 is their error at h = 1e-3. */
static void check_slopes(const sample *s, unsigned held, values of, int rows, const double *D) {
  const double h = 1e-3;
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
  (void)state;
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

/* What a bound does: v_i = 0, v and the momenta of the others as without it; and a force that holds it: with the
 * variable let go at the same point, p_i' of the free equations lacks it. */
static void a_held_variable_stands_still_under_the_force_of_its_bound(void **state) {
  (void)state;
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
    check_ok(cb_wong_contact(&s.w, held, s.x, force));
    assert_true(force[0] == 0 && force[2] == 0);
    memcpy(x, s.x, sizeof x);
    check_ok(cb_wong_release(&s.w, held, x, NULL));
    check_ok(cb_wong_at(&s.w, 0, x, &(cb_wong_rates){.f = free, .v = w}));
    for (int i = 0; i < N; i++) check_near(w[i], v[i], 1e-12);
    check_near(free[N], f[N], 1e-12), check_near(free[N + 2], f[N + 2], 1e-12);
    for (int side = 0; side < 2; side++) {
      for (int c = 0; c < s.w.size; c++) released[side][c] = s.x[c] + (side ? h : -h) * f[c];
      check_ok(cb_wong_release(&s.w, held, released[side], NULL));
    }
    const double rate = (released[1][N + 1] - released[0][N + 1]) / (2 * h);
    check_near(force[1], rate - free[N + 1], 1e-5 * (1 + fabs(rate))); /* h^2 p'''/6 */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(they_are_a_charge_in_the_field_of_curvature),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(a_held_variable_stands_still_under_the_force_of_its_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
