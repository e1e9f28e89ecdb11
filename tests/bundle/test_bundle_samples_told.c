/* Tests of the error estimate of a table of the connection A, compared with the model from which it was sampled. */
#include <curvebody/holonomy.h>
#include "models.h"
#include "sampled.h"

static const double low[2] = {-2.2, -2.2}, high[2] = {2.2, 2.2};

/* Computes the maximum true error of each entry of A, and in *above the maximum ratio of error to estimate at the same
 * shape. */
static void true_error(const cb_bundle *table, const cb_bundle *b, uint64_t *seed, double *error, double *above) {
  const int count = b->group->dim * b->n;
  memset(error, 0, (size_t)count * sizeof *error);
  *above = 0;
  for (int trial = 0; trial < 20000; trial++) {
    double r[2], exact[6], A[6], estimate[6];
    for (int i = 0; i < 2; i++) r[i] = check_uniform(seed, low[i], high[i]);
    check_ok(cb_bundle_connection(table, r, A, NULL, NULL, NULL));
    check_ok(cb_bundle_connection(b, r, exact, NULL, NULL, NULL));
    check_ok(cb_bundle_samples_error(table, r, estimate));
    for (int k = 0; k < count; k++) {
      error[k] = fmax(error[k], fabs(A[k] - exact[k]));
      *above = fmax(*above, fabs(A[k] - exact[k]) / estimate[k]);
    }
  }
}

static void the_error_of_purcells_table_is_told(void **unused) {
  uint64_t seed = check_seed();
  cb_bundle *b = model("purcell", "ratio 2");
  for (int degree = 3; degree <= 5; degree += 2)
    for (int points = 9; points <= 129; points = 2 * points - 1) {
      cb_bundle *table = sampled(b, low, high, (int[]){points, points}, degree);
      double error[6], estimate[6];
      double above;
      true_error(table, b, &seed, error, &above);
      check_ok(cb_bundle_samples_error(table, NULL, estimate));
      double worst = 0, all = 0;
      for (int k = 0; k < 6; k++) {
        check_at_most(error[k], estimate[k]);
        worst = fmax(worst, estimate[k] / error[k]);
        all = fmax(all, error[k]);
      }
      print_message("  degree %d, %d points: error %.2e, estimate at most %.2g times that; anywhere %.2g of it\n",
                    degree, points, all, worst, above);
      check_at_most(above, 1);
      check_at_most(worst, points >= 65 ? 6 : 30);
      cb_bundle_free(table);
    }
  cb_bundle_free(b);
}

/* The error estimate of tables with few points, and of tables of a constant connection, is not too small. */
static void small_tables_tell_their_error_too(void **unused) {
  uint64_t seed = check_seed();
  cb_bundle *b = model("purcell", "ratio 2");
  for (int points = 4; points <= 11; points++) {
    cb_bundle *table = sampled(b, low, high, (int[]){points, 15 - points}, 0);
    double error[6], estimate[6], above;
    true_error(table, b, &seed, error, &above);
    check_ok(cb_bundle_samples_error(table, NULL, estimate));
    for (int k = 0; k < 6; k++) check_at_most(error[k], estimate[k]);
    cb_bundle_free(table);
  }
  cb_bundle_free(b);
  b = model("rolling_ball", "radius 0.3");
  cb_bundle *table = sampled(b, low, high, (int[]){20, 30}, 5);
  double error[6], estimate[6], above;
  true_error(table, b, &seed, error, &above);
  check_at_most(above, 1);
  check_ok(cb_bundle_samples_error(table, NULL, estimate));
  for (int k = 0; k < 6; k++) check_at_most(estimate[k], 1e-13);
  cb_bundle_free(table);
  cb_bundle_free(b);
}

/* A table over one period of its angles is periodic if the bundle has this period. */
static void a_period_is_taken_from_the_bundle(void **unused) {
  uint64_t seed = check_seed();
  cb_bundle *b = model("purcell", "ratio 2");
  for (int i = 0; i < 2; i++) b->period[i] = 2 * M_PI;
  cb_bundle *table = sampled(b, (double[2]){-M_PI, 0}, (double[2]){M_PI, 2 * M_PI}, (int[]){129, 129}, 5);
  for (int i = 0; i < 2; i++) check_near(table->period[i], 2 * M_PI, 1e-15);
  double estimate[6];
  check_ok(cb_bundle_samples_error(table, NULL, estimate));
  for (int trial = 0; trial < 1000; trial++) {
    double r[2], A[6], exact[6];
    for (int i = 0; i < 2; i++) r[i] = check_uniform(&seed, -30, 30);
    check_ok(cb_bundle_connection(table, r, A, NULL, NULL, NULL));
    check_ok(cb_bundle_connection(b, r, exact, NULL, NULL, NULL));
    for (int k = 0; k < 6; k++) check_near(A[k], exact[k], estimate[k]);
  }
  cb_bundle_free(table);
  cb_bundle_free(b);
}

static void the_error_of_a_holonomy_is_told(void **unused) {
  cb_bundle *b = model("purcell", "ratio 2");
  for (int points = 17; points <= 65; points = 2 * points - 1) {
    cb_bundle *table = sampled(b, low, high, (int[]){points, points}, 0);
    for (int k = 0; k < 3; k++) {
      cb_gait *gait;
      const double size = 0.7 + 0.6 * k, mean[2] = {0.1 * k, -0.1}, cosine[2] = {size, 0.2}, sine[2] = {0.3, size};
      check_ok(cb_gait_fourier(2, 1, mean, cosine, sine, &gait));
      double exact[3], g[3], estimate[3], log_[3], back[3];
      check_ok(cb_holonomy(b, gait, 0, exact, NULL, NULL));
      check_ok(cb_holonomy(table, gait, 1e-13, g, NULL, NULL));
      check_ok(cb_bundle_samples_holonomy_error(table, gait, estimate));
      b->group->inverse(b->group, g, back);
      b->group->multiply(b->group, exact, back, back);
      check_ok(b->group->log(b->group, back, log_));
      print_message("  %d points, size %.1f: errors %.1e %.1e %.1e, estimates %.1e %.1e %.1e\n", points, size, log_[0],
                    log_[1], log_[2], estimate[0], estimate[1], estimate[2]);
      for (int i = 0; i < 3; i++) check_at_most(fabs(log_[i]), estimate[i]);
      cb_gait_free(gait);
    }
    cb_bundle_free(table);
  }
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_error_of_purcells_table_is_told),
      cmocka_unit_test(small_tables_tell_their_error_too),
      cmocka_unit_test(a_period_is_taken_from_the_bundle),
      cmocka_unit_test(the_error_of_a_holonomy_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
