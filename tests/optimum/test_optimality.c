/* Tests of the optimality of gaits that are not results of a search. A: connection; M: cost metric. */
#include "bundle/gait_private.h"
#include "gaits.h"
#include "optimum/find.h"

static cb_bundle *bundle(const char *name) {
  cb_bundle *b;
  check_ok(cb_bundle_create(name, NULL, &b));
  return b;
}

/* A search for the same target finds a lower cost than that of the circle. The reported relative gain of one step is
 * at most the relative difference of these two costs. */
static void a_circle_is_not_optimal_for_purcell(void **state) {
  cb_bundle *b = bundle("purcell");
  cb_gait *gait = circle(0, 0, .6);
  cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_MOVE}};
  cb_optimality v;
  cb_optima *o;
  check_ok(cb_optimality_of(&p, gait, &v));
  assert_false(v.stationary);
  check_at_least(v.slope, .1);
  check_near(v.amount, hypot(v.g[0], v.g[1]), 1e-12);
  p.target.value = v.amount;
  p.start = gait;
  check_ok(cb_optimum_find(&p, &o));
  const double least = o->item[0].cost;
  check_at_least(v.gain, 1e-3);
  check_at_most(v.gain, (v.cost - least) / v.cost);
  check_ok(cb_optimality_of(&p, o->item[0].gait, &v));
  assert_true(v.stationary);
  check_at_most(v.slope, 1e-8);
  check_at_most(v.gain, 1e-12);
  check_relative(v.wong, least, 1e-10);
  assert_int_equal(v.index, 0);
  cb_optima_free(o);
  cb_gait_free(gait);
  cb_bundle_free(b);
}

/* The holonomy of a loop is its area. Circles through a start shape are stationary, and among them only those with one
 * round are minima. A circle with two rounds is a saddle, whose first conjugate time is half of the cycle. */
static void a_circle_twice_round_is_a_saddle(void **state) {
  cb_bundle *b = bundle("heisenberg");
  const double start_shape[2] = {.7, 0}, mean[2] = {.2, 0};
  cb_optimality v;
  for (int turns = 1; turns <= 2; turns++) {
    const double cosine[4] = {turns == 1 ? .5 : 0, 0, turns == 2 ? .5 : 0, 0};
    const double sine[4] = {0, turns == 1 ? .5 : 0, 0, turns == 2 ? .5 : 0};
    cb_gait *gait;
    check_ok(cb_gait_fourier(2, 2, mean, cosine, sine, &gait));
    const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}, .start_shape = start_shape};
    check_ok(cb_optimality_of(&p, gait, &v));
    assert_true(v.stationary);
    assert_int_equal(v.flat > 0, 1); /* flat: the gait can be rotated around its start shape */
    assert_int_equal(v.index > 0, turns == 2);
    check_relative(v.cost, 4 * M_PI * fabs(v.g[0]) * turns, 1e-12);
    cb_gait_free(gait);
  }
  cb_bundle_free(b);
}

/* A bundle on the group R in two shape variables: phi, which has the period 2 pi, and d. With the integer q at b->self,
 * M = diag(1 + d^2, 1) and A = (d^(q+1)/(q+1), 0). */
static cb_status round_on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const int q = *(const int *)b->self;
  if (A) {
    A[0] = cb_jet_powi(&r[1], q + 1);
    A[0] = cb_jet_scale(&A[0], 1. / (q + 1));
    A[1] = cb_jet_constant(2, 0);
  }
  if (M) {
    M[0] = cb_jet_mul(&r[1], &r[1]);
    M[0] = cb_jet_shift(&M[0], 1);
    M[1] = M[2] = cb_jet_constant(2, 0);
    M[3] = cb_jet_constant(2, 1);
  }
  return CB_OK;
}
static const cb_bundle_class round_class = {.name = "round", .on_jets = round_on_jets};

static cb_bundle round_bundle(int *q) {
  return (cb_bundle){.class_ = &round_class,
                     .group = cb_group_find("r1"),
                     .n = 2,
                     .shape = {"phi", "d"},
                     .period = {2 * M_PI, 0},
                     .self = q};
}

static cb_gait *gait_of_texts(const char *phi, const char *d) {
  cb_expression *e[2] = {expression(phi), expression(d)};
  cb_gait *g;
  check_ok(cb_gait_expressions(2, (const cb_expression *const *)e, 0, NULL, &g));
  cb_expression_free(e[0]);
  cb_expression_free(e[1]);
  return g;
}

/* The loop d = c with k rounds of phi is stationary for every c. Let u be a change of d with mean 0, together with the
 * best change of phi. Then the second variation is int u'^2 - (2 pi k)^2 K u^2 dt, with
 * K = m'^2/4m + m' A''/2A' - m''/2 = c^2/(1 + c^2) + q - 1. Here m = 1 + d^2 and A = A_phi, and their primes are
 * derivatives by d at c. The second variation has two negative directions for each wave with j < k sqrt(K) periods. The
 * multiplier lambda is half the derivative of the cost by the holonomy. */
static void circles_once_and_more_round_an_axis(void **state) {
  const double c = .5;
  for (int q = 1; q <= 3; q += 2)
    for (int k = 1; k <= 3; k++)
      for (int based = 0; based < 2; based++) {
        const cb_bundle b = round_bundle(&q);
        const double start_shape[2] = {.3, c}, K = c * c / (1 + c * c) + q - 1;
        const cb_optimum_problem p = {
            .bundle = &b, .target = {.kind = CB_GAIT_ELEMENT}, .start_shape = based ? start_shape : NULL};
        char phi[32];
        snprintf(phi, sizeof phi, "0.3 + %d*2*pi*t", k);
        cb_gait *gait = gait_of_texts(phi, "0.5");
        cb_optimality v;
        check_ok(cb_optimality_of(&p, gait, &v));
        assert_true(v.stationary);
        check_at_most(v.slope, 1e-10); /* the tolerance is round-off */
        check_relative(v.cost, pow(2 * M_PI * k, 2) * (1 + c * c), 1e-13);
        check_relative(v.lambda[0], -2 * M_PI * k * c / pow(c, q), 1e-12);
        check_relative(v.wong, v.cost, 1e-12);
        if (based)
          assert_int_equal(v.conjugates, v.index);
        else
          assert_int_equal(v.index, 2 * ((int)ceil(k * sqrt(K)) - 1));
        assert_int_equal(v.flat, 0);
        cb_gait_free(gait);
      }
}

/* A wavy circle costs more than the circle with the same holonomy, wherever the cycle begins. */
static void a_wave_round_an_axis_is_not_optimal(void **state) {
  int q = 1;
  const cb_bundle b = round_bundle(&q);
  const cb_optimum_problem p = {.bundle = &b, .target = {.kind = CB_GAIT_ELEMENT}};
  cb_gait *gait = gait_of_texts("-2*pi*t", "0.5 + 0.2*cos(4*pi*t)"), *later;
  cb_optimality v, w;
  check_ok(cb_optimality_of(&p, gait, &v));
  assert_false(v.stationary);
  /* Of all circles d = c, the one with the same holonomy has c^2 = `circle`, and its cost is `least`. */
  const double circle = 2 * v.g[0] / (2 * M_PI), least = 4 * M_PI * M_PI * (1 + circle);
  check_at_least(v.slope, .05);
  check_at_least(v.gain, 1e-3);
  check_at_most(v.gain, 1 - least / v.cost);
  check_ok(cb_gait_shifted(gait, .37, &later));
  check_ok(cb_optimality_of(&p, later, &w));
  check_relative(w.slope, v.slope, 1e-10);
  check_relative(w.gain, v.gain, .1); /* the gain depends on the basis of functions of time */
  assert_int_equal(w.index, v.index);
  cb_gait_free(gait);
  cb_gait_free(later);
}

/* A bundle with one shape variable, whose holonomy is the same for any function of time. A uniform speed is a minimum,
 * and any other speed costs more. */
static cb_status ring_on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const cb_jet s = cb_jet_sin(&r[0]), m = cb_jet_shift(&s, 2);
  if (A) {
    A[0] = cb_jet_cos(&r[0]);
    A[1] = s;
    A[2] = cb_jet_constant(b->n, .1);
  }
  if (M) M[0] = cb_jet_mul(&m, &m);
  return CB_OK;
}

static void one_variable_is_a_matter_of_pace(void **state) {
  static const cb_bundle_class ring = {.name = "ring", .on_jets = ring_on_jets};
  const cb_bundle b = {.class_ = &ring, .group = cb_group_find("se2"), .n = 1, .shape = {"phi"}, .period = {2 * M_PI}};
  const cb_optimum_problem p = {.bundle = &b, .target = {.kind = CB_GAIT_ELEMENT}};
  const double at[1] = {0};
  cb_gait *gait, *paced;
  cb_optimality v;
  check_ok(cb_gait_loop(1, 0, at, 2 * M_PI, &gait));
  check_ok(cb_optimality_of(&p, gait, &v));
  assert_false(v.stationary);
  const double least = pow(4 * M_PI, 2); /* (int m dphi)^2 over one round, with m = 2 + sin phi */
  check_at_most(v.gain, 1 - least / v.cost);
  check_at_least(v.gain, 1e-3);
  /* At a uniform speed, int m dphi = 4 pi t, with m = 2 + sin phi. Newton's method solves this equation for phi(t). */
  enum { POINTS = 400 };
  double r[POINTS + 1], value[POINTS + 1];
  for (int k = 0; k <= POINTS; k++) {
    const double t = (1 - cos(M_PI * k / POINTS)) / 2;
    r[k] = 2 * M_PI * t;
    for (int pass = 0; pass < 20; pass++) r[k] -= (2 * r[k] + 1 - cos(r[k]) - 4 * M_PI * t) / (2 + sin(r[k]));
    value[k] = r[k] - 2 * M_PI * t;
  }
  value[POINTS] = value[0];
  const double ends[2] = {0, 1}, drift[1] = {2 * M_PI};
  cb_gait *loop;
  check_ok(cb_gait_arcs(1, 1, ends, POINTS, value, &loop));
  check_ok(cb_gait_drifting(loop, drift, &paced));
  check_ok(cb_optimality_of(&p, paced, &v));
  assert_true(v.stationary);
  check_relative(v.cost, least, 1e-12);
  check_at_most(v.gain, 1e-12);
  assert_int_equal(v.index, 0);
  cb_gait_free(gait);
  cb_gait_free(loop);
  cb_gait_free(paced);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_circle_is_not_optimal_for_purcell), cmocka_unit_test(a_circle_twice_round_is_a_saddle),
      cmocka_unit_test(circles_once_and_more_round_an_axis), cmocka_unit_test(a_wave_round_an_axis_is_not_optimal),
      cmocka_unit_test(one_variable_is_a_matter_of_pace)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
