/* Tests that tableaux satisfy the conditions that define their order, and agree with closed forms. A tableau with s
 * stages has the nodes c, the weights b and the matrix a. */
#include "check.h"
#include "numerics/tableau.h"

/* These functions return the maximum defects of Butcher's simplifying assumptions for k = 1..n. B(n): sum_i b_i
 * c_i^(k-1) = 1/k; C(n): sum_j a_ij c_j^(k-1) = c_i^k/k; D(n): sum_i b_i c_i^(k-1) a_ij = b_j (1 - c_j^k)/k. */
static double defect_b(const cb_tableau *t, int n) {
  double worst = 0;
  for (int k = 1; k <= n; k++) {
    double sum = -1.0 / k;
    for (int i = 0; i < t->s; i++) sum += t->b[i] * pow(t->c[i], k - 1);
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

static double defect_c(const cb_tableau *t, double (*a)[CB_STAGES_MAX], int n) {
  double worst = 0;
  for (int k = 1; k <= n; k++)
    for (int i = 0; i < t->s; i++) {
      double sum = -pow(t->c[i], k) / k;
      for (int j = 0; j < t->s; j++) sum += a[i][j] * pow(t->c[j], k - 1);
      worst = fmax(worst, fabs(sum));
    }
  return worst;
}

static double defect_d(const cb_tableau *t, double (*a)[CB_STAGES_MAX], int n) {
  double worst = 0;
  for (int k = 1; k <= n; k++)
    for (int j = 0; j < t->s; j++) {
      double sum = -t->b[j] * (1 - pow(t->c[j], k)) / k;
      for (int i = 0; i < t->s; i++) sum += t->b[i] * pow(t->c[i], k - 1) * a[i][j];
      worst = fmax(worst, fabs(sum));
    }
  return worst;
}

/* The round-off of sums of at most 8 products. */
static const double round_off = 4e-16;

static void gauss_has_order_2s(void **state) {
  for (int s = 1; s <= 8; s++) {
    cb_tableau t;
    check_ok(cb_tableau_gauss(s, &t));
    check_at_most(defect_b(&t, 2 * s), round_off);
    check_at_most(defect_c(&t, t.a, s), round_off);
    check_at_most(defect_d(&t, t.a, s), round_off);
    check_at_least(defect_b(&t, 2 * s + 1), 1e-11);
  }
}

static void radau_iia_has_order_2s_minus_1(void **state) {
  for (int s = 1; s <= 5; s++) {
    cb_tableau t;
    check_ok(cb_tableau_radau_iia(s, &t));
    check_at_most(defect_b(&t, 2 * s - 1), round_off);
    check_at_most(defect_c(&t, t.a, s), round_off);
    check_at_most(defect_d(&t, t.a, s - 1), round_off);
    check_near(t.c[s - 1], 1, 0);
    for (int j = 0; j < s; j++) check_near(t.a[s - 1][j], t.b[j], 0);
  }
}

static void lobatto_pair_has_order_2s_minus_2(void **state) {
  for (int s = 2; s <= 5; s++) {
    cb_tableau t;
    check_ok(cb_tableau_lobatto(s, &t));
    check_at_most(defect_b(&t, 2 * s - 2), round_off);
    check_at_most(defect_c(&t, t.a, s), round_off);
    check_at_most(defect_d(&t, t.a, s - 2), round_off);
    check_at_most(defect_c(&t, t.a_hat, s - 2), round_off);
    check_at_most(defect_d(&t, t.a_hat, s), round_off);
    for (int i = 0; i < s; i++) {
      check_near(t.a[0][i], 0, 0);
      check_near(t.a[s - 1][i], t.b[i], 0);
      check_near(t.a_hat[i][0], t.b[0], 1e-17);
      check_near(t.a_hat[i][s - 1], 0, 0);
    }
  }
}

static void symplectic_tableaux_satisfy_their_condition(void **state) {
  for (int s = 1; s <= 8; s++) {
    cb_tableau t;
    check_ok(cb_tableau_gauss(s, &t));
    for (int i = 0; i < s; i++)
      for (int j = 0; j < s; j++) check_near(t.b[i] * t.a[i][j] + t.b[j] * t.a[j][i], t.b[i] * t.b[j], 1e-16);
  }
  for (int s = 2; s <= 5; s++) {
    cb_tableau t;
    check_ok(cb_tableau_lobatto(s, &t));
    for (int i = 0; i < s; i++)
      for (int j = 0; j < s; j++) check_near(t.b[i] * t.a_hat[i][j] + t.b[j] * t.a[j][i], t.b[i] * t.b[j], 1e-16);
  }
}

static void small_tableaux_are_the_closed_forms(void **state) {
  cb_tableau t;
  check_ok(cb_tableau_gauss(3, &t));
  check_near(t.c[0], 0.5 - sqrt(15) / 10, 1e-16);
  check_near(t.a[0][1], 2.0 / 9 - sqrt(15) / 15, 1e-16);
  check_near(t.a[0][2], 5.0 / 36 - sqrt(15) / 30, 1e-16);
  check_ok(cb_tableau_radau_iia(3, &t));
  check_near(t.c[0], (4 - sqrt(6)) / 10, 1e-16);
  check_near(t.a[0][0], (88 - 7 * sqrt(6)) / 360, 1e-16);
  check_near(t.a[1][2], (-2 - 3 * sqrt(6)) / 225, 1e-16);
  check_ok(cb_tableau_lobatto(4, &t));
  check_near(t.c[1], (5 - sqrt(5)) / 10, 1e-16);
  check_near(t.a[1][1], (25 - sqrt(5)) / 120, 1e-16);
  check_near(t.a_hat[1][1], (25 + sqrt(5)) / 120, 1e-16); /* a_hat_22 = b_2 - a_22 */
}

/* The sum of the weights b and their low parts b_low is 1 to twice the precision of double. */
static void weights_have_low_parts(void **state) {
  for (int s = 1; s <= 8; s++) {
    cb_tableau t;
    check_ok(cb_tableau_gauss(s, &t));
    double high = -1, low = 0;
    for (int i = 0; i < s; i++) {
      const double sum = high + t.b[i], back = sum - high;
      low += (high - (sum - back)) + (t.b[i] - back) + t.b_low[i];
      high = sum;
    }
    check_near(high + low, 0, 1e-31);
  }
}

static void inverse_is_the_inverse(void **state) {
  for (int s = 1; s <= 8; s++) {
    cb_tableau t;
    double inverse[CB_STAGES_MAX * CB_STAGES_MAX];
    check_ok(cb_tableau_gauss(s, &t));
    cb_tableau_inverse(&t, inverse);
    for (int i = 0; i < s; i++)
      for (int j = 0; j < s; j++) {
        double sum = -(i == j);
        for (int k = 0; k < s; k++) sum += t.a[i][k] * inverse[k * s + j];
        check_near(sum, 0, 1e-14); /* entries of the inverse are up to 60 */
      }
  }
}

static void stages_out_of_range_are_refused(void **state) {
  cb_tableau t;
  assert_int_equal(cb_tableau_gauss(0, &t), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_tableau_gauss(9, &t), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_tableau_radau_iia(6, &t), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_tableau_lobatto(1, &t), CB_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gauss_has_order_2s),
      cmocka_unit_test(radau_iia_has_order_2s_minus_1),
      cmocka_unit_test(lobatto_pair_has_order_2s_minus_2),
      cmocka_unit_test(symplectic_tableaux_satisfy_their_condition),
      cmocka_unit_test(small_tableaux_are_the_closed_forms),
      cmocka_unit_test(weights_have_low_parts),
      cmocka_unit_test(inverse_is_the_inverse),
      cmocka_unit_test(stages_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
