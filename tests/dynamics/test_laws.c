/* Laws of the distance: derivatives, the chord form, closed forms, limits. */
#include "check.h"
#include "geometry/chord.h"
#include "dynamics/law.h"

static const double curvatures[] = {1, 0.3, 0, -1, -2.5};
static const cb_law_kind kinds[] = {CB_LAW_HARMONIC, CB_LAW_GRAVITY, CB_LAW_COULOMB, CB_LAW_LENNARD_JONES,
                                    CB_LAW_EXPRESSION};

static cb_expression *parse(const char *text) {
  cb_expression *e;
  check_ok(cb_expression_parse(text, cb_law_names_pair, 6, NULL, &e));
  return e;
}

static cb_law make(cb_law_kind kind, double k, const cb_expression *e) {
  return (cb_law){kind, 1.7, kind == CB_LAW_LENNARD_JONES ? 0.6 : 0.4, k, e};
}

static void derivatives_are_those_of_the_potential(void **state) {
  uint64_t seed = check_seed();
  cb_expression *e = parse("exp(-d)/d*m1*m2 + q1*q2*cos(d*t)");
  for (int c = 0; c < 5; c++)
    for (int n = 0; n < 5; n++)
      for (int repeat = 0; repeat < 20; repeat++) {
        cb_law law = make(kinds[n], curvatures[c], e);
        cb_law_pair pair = cb_law_pair_of(&law, 0.3, 1.5, 0.7, -0.4, 0.9);
        double d = check_uniform(&seed, 0.5, 2), h = 1e-3, u[5], du[5];
        for (int i = 0; i < 5; i++) {
          cb_law_value v = cb_law_at(&law, &pair, d + (i - 2) * h);
          u[i] = v.u;
          du[i] = v.du;
        }
        cb_law_value v = cb_law_at(&law, &pair, d);
        double size = 1 + fabs(v.u) + fabs(v.du) + fabs(v.ddu);
        /* h^4 times fifth derivatives of d^-12 at .5 */
        check_near(v.du, (u[0] - 8 * u[1] + 8 * u[3] - u[4]) / (12 * h), 1e-7 * size);
        check_near(v.ddu, (du[0] - 8 * du[1] + 8 * du[3] - du[4]) / (12 * h), 1e-7 * size);
      }
  cb_expression_free(e);
}

static void the_chord_form_is_the_same_law(void **state) {
  uint64_t seed = check_seed();
  cb_expression *e = parse("sinh(d) + m1*d^2*q2");
  for (int c = 0; c < 5; c++)
    for (int n = 0; n < 5; n++)
      for (int repeat = 0; repeat < 20; repeat++) {
        double k = curvatures[c], w = check_uniform(&seed, 0.05, 3), h = 1e-4 * w, u[5], phi[5];
        cb_law law = make(kinds[n], k, e);
        cb_law_pair pair = cb_law_pair_of(&law, 0.3, 1.5, 0.7, -0.4, 0.9);
        for (int i = 0; i < 5; i++) {
          cb_law_chord v = cb_law_at_chord(&law, &pair, k, w + (i - 2) * h);
          u[i] = v.u;
          phi[i] = v.phi;
        }
        cb_law_chord v = cb_law_at_chord(&law, &pair, k, w);
        double plain = cb_law_at(&law, &pair, cb_chord_distance(k, w)).u;
        check_near(v.u, plain, 1e-13 * (1 + fabs(plain)));
        /* phi = 2 dU/dw */
        check_near(v.phi, 2 * (u[0] - 8 * u[1] + 8 * u[3] - u[4]) / (12 * h), 1e-9 * (1 + fabs(v.phi) + fabs(v.u) / w));
        check_near(v.dphi, (phi[0] - 8 * phi[1] + 8 * phi[3] - phi[4]) / (12 * h),
                   1e-9 * (1 + fabs(v.dphi) + fabs(v.phi) / w));
      }
  cb_expression_free(e);
}

/* (S^2 U')' = 0: no sources away from the centre, in a space of curvature k. */
static void gravity_is_harmonic(void **state) {
  uint64_t seed = check_seed();
  for (int c = 0; c < 5; c++)
    for (int repeat = 0; repeat < 20; repeat++) {
      double k = curvatures[c], r = sqrt(fabs(k)), d = check_uniform(&seed, 0.2, 1.4);
      cb_law law = make(CB_LAW_GRAVITY, k, NULL);
      cb_law_pair pair = cb_law_pair_of_centre(&law, 0, 2, 0);
      cb_law_value v = cb_law_at(&law, &pair, d);
      double cotangent = k > 0 ? r / tan(r * d) : k < 0 ? r / tanh(r * d) : 1 / d;
      check_near(v.ddu + 2 * cotangent * v.du, 0, 1e-13 * fabs(v.ddu));
      check_relative(v.u, -2 * 1.7 * cotangent, 1e-15);
    }
}

static void gravity_attracts_and_like_charges_repel(void **state) {
  cb_law gravity = make(CB_LAW_GRAVITY, -1, NULL), coulomb = make(CB_LAW_COULOMB, -1, NULL);
  cb_law_pair masses = cb_law_pair_of(&gravity, 0, 2, 3, 0, 0), like = cb_law_pair_of(&coulomb, 0, 1, 1, -2, -3);
  cb_law_value g = cb_law_at(&gravity, &masses, 0.8), q = cb_law_at(&coulomb, &like, 0.8);
  assert_true(g.du > 0 && q.du < 0);
  check_near(g.u + q.u, 0, 0);
  check_near(g.ddu + q.ddu, 0, 0);
}

static void lennard_jones_has_its_depth_and_place(void **state) {
  cb_law law = make(CB_LAW_LENNARD_JONES, 0, NULL);
  cb_law_pair pair = cb_law_pair_of(&law, 0, 1, 1, 0, 0);
  cb_law_value at = cb_law_at(&law, &pair, 0.6 * pow(2, 1. / 6));
  check_relative(at.u, -1.7, 1e-14);
  check_near(at.du, 0, 1e-12);
  check_near(cb_law_at(&law, &pair, 0.6).u, 0, 1e-14);
}

static void laws_stay_finite_far_away(void **state) {
  for (int n = 0; n < 4; n++) {
    cb_law law = make(kinds[n], -1, NULL);
    cb_law_pair pair = cb_law_pair_of(&law, 0, 1, 1, 1, 1);
    for (double d = 10; d < 1e5; d *= 3) {
      cb_law_value v = cb_law_at(&law, &pair, d);
      assert_true(isfinite(v.u) && isfinite(v.du) && isfinite(v.ddu));
    }
    for (double w = 10; w < 1e120; w *= 1e5) {
      cb_law_chord v = cb_law_at_chord(&law, &pair, -1, w);
      assert_true(isfinite(v.u) && isfinite(v.phi) && isfinite(v.dphi));
    }
  }
}

/* A spring without rest length is smooth where its ends meet. */
static void a_spring_of_no_rest_length_is_smooth_at_zero(void **state) {
  for (int c = 0; c < 5; c++) {
    cb_law law = {CB_LAW_HARMONIC, 3, 0, 0, NULL};
    cb_law_pair pair = {.scale = 1};
    cb_law_chord zero = cb_law_at_chord(&law, &pair, curvatures[c], 0),
                 near = cb_law_at_chord(&law, &pair, curvatures[c], 1e-4);
    check_near(zero.phi, 3, 0);
    check_near(near.phi, zero.phi + 1e-4 * zero.dphi, 1e-7);
    check_near(near.dphi, zero.dphi, 1e-3);
  }
}

static void an_expression_is_the_law_it_spells(void **state) {
  cb_expression *e = parse("-1.7*m1*m2/tanh(d)");
  cb_law text = make(CB_LAW_EXPRESSION, -1, e), closed = make(CB_LAW_GRAVITY, -1, NULL);
  for (double d = 0.1; d < 5; d += 0.3) {
    cb_law_pair a = cb_law_pair_of(&text, 0, 2, 3, 0, 0), b = cb_law_pair_of(&closed, 0, 2, 3, 0, 0);
    cb_law_value u = cb_law_at(&text, &a, d), v = cb_law_at(&closed, &b, d);
    check_relative(u.u, v.u, 1e-14);
    check_relative(u.du, v.du, 1e-10); /* 1 - tanh^2 cancels */
    check_relative(u.ddu, v.ddu, 1e-10);
  }
  cb_expression_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_the_potential),
      cmocka_unit_test(the_chord_form_is_the_same_law),
      cmocka_unit_test(gravity_is_harmonic),
      cmocka_unit_test(gravity_attracts_and_like_charges_repel),
      cmocka_unit_test(lennard_jones_has_its_depth_and_place),
      cmocka_unit_test(laws_stay_finite_far_away),
      cmocka_unit_test(a_spring_of_no_rest_length_is_smooth_at_zero),
      cmocka_unit_test(an_expression_is_the_law_it_spells),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
