/* Tests of second derivatives of the connection A and the cost metric M of bundles. For chains, the closed forms are
 * compared with derivatives computed by jets. Other tests use shapes that are singular, or near breaks (places where a
 * derivative of A jumps), or near the end of a domain. curvature_claims.h compares second derivatives of every class
 * with differences. */
#include "bundle/chain.h"
#include "bundles.h"
#include "models.h"

enum { MOST = 11 };

static double worst_of(const double *a, const double *b, int n) {
  double worst = 0, largest = 0;
  for (int i = 0; i < n; i++) {
    worst = fmax(worst, fabs(a[i] - b[i]));
    largest = fmax(largest, fabs(a[i]));
  }
  return worst / largest;
}

/* A copy of a bundle without the closed form of its second derivatives. Without `jets`, the copy also has no jets, so
 * second derivatives are computed by differences. */
typedef struct plain {
  cb_bundle_class class;
  cb_bundle b;
} plain;

static void make_plain(const cb_bundle *b, bool jets, plain *p) {
  p->class = *b->class_;
  p->class.second = NULL;
  if (!jets) p->class.on_jets = NULL;
  p->b = *b;
  p->b.class_ = &p->class;
}

static void chains_have_the_second_derivatives_of_jets(void **state) {
  static double ddA[2][MOST * MOST * 3 * MOST], ddM[2][MOST * MOST * MOST * MOST];
  static const char *const form[] = {"purcell links %d base %d ratio 2.7", "purcell links %d base %d turn 0.02",
                                     "floating_snake links %d base %d length 2"};
  uint64_t seed = check_seed();
  double worst = 0;
  for (int links = 2; links <= MOST + 1; links++)
    for (int base = 1; base <= links; base += 1 + links / 6)
      for (size_t k = 0; k < sizeof form / sizeof *form; k++) {
        char text[256], shares[100] = " shares [";
        for (int i = 0; i < links; i++)
          snprintf(shares + strlen(shares), sizeof shares - strlen(shares), "%s%d", i ? "," : "", 1 + (3 * i) % 5);
        snprintf(text, sizeof text, form[k], links, base);
        strcat(strcat(text, shares), "]");
        char *space = strchr(text, ' ');
        *space = 0;
        cb_bundle *b = model(text, space + 1);
        const int n = b->n;
        double r[MOST];
        plain p;
        make_plain(b, true, &p);
        for (int i = 0; i < n; i++) r[i] = check_uniform(&seed, -2.5, 2.5);
        check_ok(cb_bundle_second(b, r, ddA[0], ddM[0]));
        check_ok(cb_bundle_second(&p.b, r, ddA[1], ddM[1]));
        const double off = fmax(worst_of(ddA[0], ddA[1], 3 * n * n * n), worst_of(ddM[0], ddM[1], n * n * n * n));
        worst = fmax(worst, off);
        /* The difference is round-off, times the condition number of the locked tensor (the 3 x 3 form of the chain
         * with its hinges locked). That number is large if a chain is folded. */
        check_at_most(off, 1e-11);
        /* each result is the same if it is requested alone */
        check_ok(cb_bundle_second(b, r, ddA[1], NULL));
        check_ok(cb_bundle_second(b, r, NULL, ddM[1]));
        check_at_most(worst_of(ddA[0], ddA[1], 3 * n * n * n), 0);
        check_at_most(worst_of(ddM[0], ddM[1], n * n * n * n), 0);
        cb_bundle_free(b);
      }
  print_message("  relative difference from jets at most %.1e\n", worst);
}

static void a_singular_shape_is_told(void **state) {
  double ddA[12], ddM[16];
  struct {
    const char *name, *text;
    double r[2];
    cb_status status;
    const char *message;
  } row[] = {
      {"kinematic_snake", "", {.4, .4}, CB_STEP_SINGULAR, "bundle kinematic_snake at "},
      {"pmpy", "", {-1, 2}, CB_STEP_DOMAIN, "bundle pmpy at l = -1, v = 2"},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    cb_bundle *b = model(row[k].name, row[k].text);
    assert_int_equal(cb_bundle_second(b, row[k].r, ddA, ddM), row[k].status);
    assert_non_null(strstr(cb_error_text(), row[k].message));
    plain p;
    make_plain(b, true, &p);
    assert_int_equal(cb_bundle_second(&p.b, row[k].r, ddA, ddM), row[k].status);
    assert_non_null(strstr(cb_error_text(), row[k].message));
    cb_bundle_free(b);
  }
  const cb_chain without_drag = {.links = 3, .base = 1, .length = {1, 1, 1}};
  assert_int_equal(cb_chain_second(&without_drag, (double[]){.3, .4}, ddA, ddM), CB_STEP_SINGULAR);
  assert_non_null(strstr(cb_error_text(), "the tensor P of the locked chain is not positive definite"));
}

/* The connection is random_connection of bundles.h, but it is defined only where each variable is in [0, 1]. */
static cb_status within(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  for (int i = 0; i < b->n; i++)
    if (!(r[i] >= 0 && r[i] <= 1)) return cb_fail(CB_STEP_DOMAIN, "beyond the window");
  return random_connection(b, r, A, dA, M, dM);
}

static void differences_stay_within_the_domain(void **state) {
  static const double at[] = {0, .013, .4, .99, 1};
  static const cb_bundle_class windowed = {.name = "windowed", .connection = within};
  uint64_t seed = check_seed();
  random_bundle p, moved;
  random_bundles(&seed, cb_group_find("se2"), 2, .5, &p, &moved);
  cb_bundle window = p.b;
  window.class_ = &windowed;
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) {
      double ddA[2][24], ddM[2][16];
      const double r[2] = {at[i], at[j]};
      check_ok(cb_bundle_second(&p.b, r, ddA[0], ddM[0]));
      check_ok(cb_bundle_second(&window, r, ddA[1], ddM[1]));
      for (int e = 0; e < 24; e++) check_near(ddA[0][e], ddA[1][e], 1e-10); /* the round-off of one-sided differences */
      for (int e = 0; e < 16; e++) check_near(ddM[0][e], ddM[1][e], 1e-10);
    }
  assert_int_equal(cb_bundle_second(&window, (double[]){.5, 1.0001}, (double[24]){0}, NULL), CB_STEP_DOMAIN);
}

/* The connection A = |sin 2x| on a circle. It has breaks at x = 0 and pi/2, and the period pi. */
static cb_status kinked(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const double s = sin(2 * r[0]), sign = fmod(fmod(r[0], M_PI) + M_PI, M_PI) < M_PI / 2 ? 1 : -1;
  if (A) *A = sign * s;
  if (dA) *dA = 2 * sign * cos(2 * r[0]);
  if (M) *M = 1;
  if (dM) *dM = 0;
  return CB_OK;
}

static void differences_do_not_cross_a_break(void **state) {
  static const double at[] = {0, M_PI / 2};
  static const cb_bundle_class kind = {.name = "kinked", .connection = kinked};
  const cb_group line = cb_group_rn(1);
  const cb_bundle b = {
      .class_ = &kind, .group = &line, .n = 1, .shape = {"x"}, .period = {M_PI}, .breaks = {2}, .at = {at}};
  static const double from[] = {0, M_PI / 2, -M_PI / 2, 7 * M_PI};
  static const double off[] = {1e-9, 1e-4, .015, .3, -1e-9, -1e-4, -.015, -.3};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 8; k++) {
      const double x = from[i] + off[k], sign = fmod(fmod(x, M_PI) + M_PI, M_PI) < M_PI / 2 ? 1 : -1;
      double dd, ddM;
      check_ok(cb_bundle_second(&b, &x, &dd, &ddM));
      check_near(dd, -4 * sign * sin(2 * x), 1e-9);
      check_near(ddM, 0, 1e-9);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_have_the_second_derivatives_of_jets),
      cmocka_unit_test(a_singular_shape_is_told),
      cmocka_unit_test(differences_stay_within_the_domain),
      cmocka_unit_test(differences_do_not_cross_a_break),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
