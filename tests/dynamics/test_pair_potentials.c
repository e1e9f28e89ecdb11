/* Tests of pair potentials: derivatives, potentials as functions of the chord (the distance in the embedding), closed
 * forms, and limits. */
#include "check.h"
#include "geometry/quadric.h"
#include "dynamics/pair_potential_private.h"

static const double curvatures[] = {1, 0.3, 0, -1, -2.5};
static const cb_pair_parameters parameters = {1.7, 0.4, NULL};

static cb_expression *parse(const char *text) {
  cb_expression *e;
  check_ok(cb_expression_parse(text, cb_pair_names, CB_PAIR_VARIABLES, NULL, &e));
  return e;
}

/* Returns a potential of the class c in a space of curvature k. e is its expression, if it has one. */
static cb_pair_potential make(const cb_pair_potential_class *c, double k, const cb_expression *e) {
  return (cb_pair_potential){c, &parameters, c->green ? c->green(&parameters) : 0, k, c->expression ? e : NULL};
}

static cb_pair_potential make_named(const char *name, double k, const cb_expression *e) {
  return make(cb_pair_potential_find(name), k, e);
}

static void derivatives_are_those_of_the_potential(void **state) {
  uint64_t seed = check_seed();
  cb_expression *e = parse("exp(-d)/d*m1*m2 + q1*q2*cos(d*t)");
  for (int c = 0; c < 5; c++)
    for (int n = 0; cb_pair_potential_classes[n]; n++)
      for (int repeat = 0; repeat < 20; repeat++) {
        cb_pair_potential pair_potential = make(cb_pair_potential_classes[n], curvatures[c], e);
        cb_pair_values pair = cb_pair_values_of(&pair_potential, 0.3, 1.5, 0.7, -0.4, 0.9);
        double d = check_uniform(&seed, 0.7, 2), h = 1e-3, u[5], du[5];
        for (int i = 0; i < 5; i++) {
          cb_pair_value v = cb_pair_potential_at(&pair_potential, &pair, d + (i - 2) * h);
          u[i] = v.u;
          du[i] = v.du;
        }
        cb_pair_value v = cb_pair_potential_at(&pair_potential, &pair, d);
        double size = 1 + fabs(v.u) + fabs(v.du) + fabs(v.ddu);
        /* The error of differences with the step h is h^4 times fifth derivatives of d^-12 at d = .7. */
        check_near(v.du, (u[0] - 8 * u[1] + 8 * u[3] - u[4]) / (12 * h), 1e-7 * size);
        check_near(v.ddu, (du[0] - 8 * du[1] + 8 * du[3] - du[4]) / (12 * h), 1e-7 * size);
      }
  cb_expression_free(e);
}

static void the_chord_form_is_the_same_potential(void **state) {
  uint64_t seed = check_seed();
  cb_expression *e = parse("sinh(d) + m1*d^2*q2");
  for (int c = 0; c < 5; c++)
    for (int n = 0; cb_pair_potential_classes[n]; n++)
      for (int repeat = 0; repeat < 20; repeat++) {
        double k = curvatures[c], w = check_uniform(&seed, 0.05, 3), h = 1e-4 * w, u[5], phi[5];
        cb_pair_potential pair_potential = make(cb_pair_potential_classes[n], k, e);
        cb_pair_values pair = cb_pair_values_of(&pair_potential, 0.3, 1.5, 0.7, -0.4, 0.9);
        for (int i = 0; i < 5; i++) {
          cb_pair_potential_chord v = cb_pair_potential_at_chord(&pair_potential, &pair, k, w + (i - 2) * h);
          u[i] = v.u;
          phi[i] = v.phi;
        }
        cb_pair_potential_chord v = cb_pair_potential_at_chord(&pair_potential, &pair, k, w);
        double plain = cb_pair_potential_at(&pair_potential, &pair, cb_chord_distance(k, w)).u;
        check_near(v.u, plain, 1e-13 * (1 + fabs(plain)));
        /* phi is 2 dU/dw, where U is the potential and w the square of the chord */
        check_near(v.phi, 2 * (u[0] - 8 * u[1] + 8 * u[3] - u[4]) / (12 * h), 1e-9 * (1 + fabs(v.phi) + fabs(v.u) / w));
        check_near(v.dphi, (phi[0] - 8 * phi[1] + 8 * phi[3] - phi[4]) / (12 * h),
                   1e-9 * (1 + fabs(v.dphi) + fabs(v.phi) / w));
      }
  cb_expression_free(e);
}

/* Gravity has no sources away from its centre: (S^2 U')' = 0 for the potential U at the distance d, where 4 pi S^2 is
 * the area of a sphere of radius d in the space of curvature k. */
static void gravity_is_harmonic(void **state) {
  uint64_t seed = check_seed();
  for (int c = 0; c < 5; c++)
    for (int repeat = 0; repeat < 20; repeat++) {
      double k = curvatures[c], r = sqrt(fabs(k)), d = check_uniform(&seed, 0.2, 1.4);
      cb_pair_potential pair_potential = make_named("gravity", k, NULL);
      cb_pair_values pair = cb_pair_values_of_centre(&pair_potential, 0, 2, 0);
      cb_pair_value v = cb_pair_potential_at(&pair_potential, &pair, d);
      double cotangent = k > 0 ? r / tan(r * d) : k < 0 ? r / tanh(r * d) : 1 / d;
      check_near(v.ddu + 2 * cotangent * v.du, 0, 1e-13 * fabs(v.ddu));
      check_relative(v.u, -2 * 1.7 * cotangent, 1e-15);
    }
}

static void gravity_attracts_and_like_charges_repel(void **state) {
  cb_pair_potential gravity = make_named("gravity", -1, NULL), coulomb = make_named("coulomb", -1, NULL);
  cb_pair_values masses = cb_pair_values_of(&gravity, 0, 2, 3, 0, 0),
                 like = cb_pair_values_of(&coulomb, 0, 1, 1, -2, -3);
  cb_pair_value g = cb_pair_potential_at(&gravity, &masses, 0.8), q = cb_pair_potential_at(&coulomb, &like, 0.8);
  assert_true(g.du > 0 && q.du < 0);
  check_near(g.u + q.u, 0, 0);
  check_near(g.ddu + q.ddu, 0, 0);
}

static void lennard_jones_has_its_depth_and_place(void **state) {
  cb_pair_potential pair_potential = make_named("lennard_jones", 0, NULL);
  cb_pair_values pair = cb_pair_values_of(&pair_potential, 0, 1, 1, 0, 0);
  cb_pair_value at = cb_pair_potential_at(&pair_potential, &pair, 0.4 * pow(2, 1. / 6));
  check_relative(at.u, -1.7, 1e-14);
  check_near(at.du, 0, 1e-12);
  check_near(cb_pair_potential_at(&pair_potential, &pair, 0.4).u, 0, 1e-14);
}

static void pair_potentials_stay_finite_far_away(void **state) {
  for (int n = 0; cb_pair_potential_classes[n]; n++) {
    if (cb_pair_potential_classes[n]->expression) continue;
    cb_pair_potential pair_potential = make(cb_pair_potential_classes[n], -1, NULL);
    cb_pair_values pair = cb_pair_values_of(&pair_potential, 0, 1, 1, 1, 1);
    for (double d = 10; d < 1e5; d *= 3) {
      cb_pair_value v = cb_pair_potential_at(&pair_potential, &pair, d);
      assert_true(isfinite(v.u) && isfinite(v.du) && isfinite(v.ddu));
    }
    for (double w = 10; w < 1e120; w *= 1e5) {
      cb_pair_potential_chord v = cb_pair_potential_at_chord(&pair_potential, &pair, -1, w);
      assert_true(isfinite(v.u) && isfinite(v.phi) && isfinite(v.dphi));
    }
  }
}

/* A spring with rest length 0 is smooth where its ends meet. */
static void a_spring_of_no_rest_length_is_smooth_at_zero(void **state) {
  for (int c = 0; c < 5; c++) {
    const cb_pair_parameters loose = {3, 0, NULL};
    cb_pair_potential pair_potential = {cb_pair_potential_find("harmonic"), &loose, 0, 0, NULL};
    cb_pair_values pair = {.factor = 1};
    cb_pair_potential_chord zero = cb_pair_potential_at_chord(&pair_potential, &pair, curvatures[c], 0),
                            near = cb_pair_potential_at_chord(&pair_potential, &pair, curvatures[c], 1e-4);
    check_near(zero.phi, 3, 0);
    check_near(near.phi, zero.phi + 1e-4 * zero.dphi, 1e-7);
    check_near(near.dphi, zero.dphi, 1e-3);
  }
}

static void an_expression_is_the_potential_it_spells(void **state) {
  cb_expression *e = parse("-1.7*m1*m2/tanh(d)");
  cb_pair_potential text = make_named("expression", -1, e), closed = make_named("gravity", -1, NULL);
  for (double d = 0.1; d < 5; d += 0.3) {
    cb_pair_values a = cb_pair_values_of(&text, 0, 2, 3, 0, 0), b = cb_pair_values_of(&closed, 0, 2, 3, 0, 0);
    cb_pair_value u = cb_pair_potential_at(&text, &a, d), v = cb_pair_potential_at(&closed, &b, d);
    check_relative(u.u, v.u, 1e-14);
    check_relative(u.du, v.du, 1e-10); /* the difference 1 - tanh^2 loses digits */
    check_relative(u.ddu, v.ddu, 1e-10);
  }
  cb_expression_free(e);
}

/* The closed form of a class gives the same values and derivatives as its potential on jets. */
static void closed_forms_are_those_of_jets(void **state) {
  uint64_t seed = check_seed();
  int count = 0;
  for (int n = 0; cb_pair_potential_classes[n]; n++) {
    const cb_pair_potential_class *c = cb_pair_potential_classes[n];
    cb_pair_potential_class plain = *c;
    plain.closed = NULL;
    for (int repeat = 0; repeat < 20 && c->potential && c->closed; repeat++, count++) {
      const cb_pair_potential closed = make(c, 0, NULL), jets = make(&plain, 0, NULL);
      const cb_pair_values pair = cb_pair_values_of(&closed, 0.3, 1.5, 0.7, -0.4, 0.9);
      const double d = check_uniform(&seed, 0.3, 2);
      const cb_pair_value v = cb_pair_potential_at(&closed, &pair, d), w = cb_pair_potential_at(&jets, &pair, d);
      const double size = fabs(v.u) + fabs(v.du) + fabs(v.ddu);
      check_near(v.u, w.u, 1e-13 * size);
      check_near(v.du, w.du, 1e-13 * size);
      check_near(v.ddu, w.ddu, 1e-13 * size);
    }
  }
  assert_in_range(count, 40, 1000);
}

/* A builder checks the parameters of a pair potential. */
static void parameters_are_checked(void **state) {
  static const double nothing[CB_Q_MAX] = {0}, one[CB_Q_MAX] = {1};
  cb_space *g;
  cb_builder *b;
  check_ok(cb_space_create("e3", NULL, &g));
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, nothing, NULL, NULL));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, one, NULL, NULL));
  check_ok(cb_builder_interaction(b, 0, 0, "gravity", NULL));
  check_error_begins(cb_builder_interaction(b, 0, 0, "lennard_jones", &(cb_pair_parameters){1, 0, NULL}),
                     CB_ERROR_ARGUMENT, "pair potential `lennard_jones`: length 0: expected a finite number > 0");
  check_error_begins(cb_builder_interaction(b, 0, 0, "harmonic", &(cb_pair_parameters){NAN, 0, NULL}),
                     CB_ERROR_ARGUMENT, "pair potential `harmonic`: strength nan: expected a finite number");
  check_error_begins(cb_builder_interaction(b, 0, 0, "gravty", NULL), CB_ERROR_ARGUMENT,
                     "unknown pair potential 'gravty', did you mean 'gravity'?");
  check_error_begins(cb_builder_interaction(b, 0, 0, "expression", &(cb_pair_parameters){0}), CB_ERROR_ARGUMENT,
                     "pair potential `expression`: expected an expression");
  cb_builder_free(b);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_the_potential),
      cmocka_unit_test(the_chord_form_is_the_same_potential),
      cmocka_unit_test(gravity_is_harmonic),
      cmocka_unit_test(gravity_attracts_and_like_charges_repel),
      cmocka_unit_test(lennard_jones_has_its_depth_and_place),
      cmocka_unit_test(pair_potentials_stay_finite_far_away),
      cmocka_unit_test(a_spring_of_no_rest_length_is_smooth_at_zero),
      cmocka_unit_test(an_expression_is_the_potential_it_spells),
      cmocka_unit_test(closed_forms_are_those_of_jets),
      cmocka_unit_test(parameters_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
