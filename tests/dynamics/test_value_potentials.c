/* Tests of potentials of angles. Forces are compared with differences in every space, for harmonic potentials and for
 * chains that are straight or nearly so. Other tests concern a closed form, kinks, arguments that are refused, and what
 * is conserved.
 */
#include "check_constraints.h"
#include "check_system.h"
#include "dynamics/system_facts.h"

static const double pi = 3.14159265358979323846;

/* Three particles, with the potential (stiffness/2)(s - rest)^2 of the angle s at particle 1. n is the number of
 * particles, k the number of coordinates of a position, and x the positions. */
typedef struct hinge {
  cb_system *s;
  cb_forces *f;
  int n, k;
  double x[ALL];
} hinge;

static hinge hinge_at(const cb_space *g, double (*x)[COORDS], double stiffness, double rest) {
  hinge u = {.n = 3, .k = g->k};
  const cb_target start = {.value = NAN}, target = {.value = rest};
  cb_builder *b;
  double q[3][COORDS];
  cb_origin origin[3];
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  for (int i = 0; i < 3; i++) {
    if (g->chart)
      check_ok(g->chart->from_point(g, x[i], q[i]));
    else
      memcpy(q[i], x[i], sizeof q[i]);
    check_ok(cb_builder_particle(b, NULL, 1 + i, 0, 0, q[i], NULL, NULL));
    cb_origin_identity(g, &origin[i]);
  }
  check_ok(cb_builder_angle(b, NULL, 0, 1, 2, start));
  check_ok(cb_builder_potentials_of(b, 0, stiffness, &target, NULL));
  check_ok(cb_builder_finish(b, &u.s));
  cb_builder_free(b);
  check_ok(cb_forces_create(u.s, &u.f));
  check_ok(cb_forces_set_origins(u.f, origin));
  for (int i = 0; i < 3; i++) memcpy(u.x + i * u.k, q[i], (size_t)u.k * sizeof(double));
  return u;
}

static void drop(hinge *u) {
  cb_forces_free(u->f);
  cb_system_free(u->s);
}

/* Removes the components of v that are normal to the space at x. */
static void remove_normal(const cb_space *g, const double *x, double *v) {
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    double along = 0;
    for (int a = factor.offset; a < factor.offset + factor.count; a++)
      along += factor.curvature * g->form[a] * x[a] * v[a];
    for (int a = factor.offset; a < factor.offset + factor.count; a++) v[a] -= along * x[a];
  }
}

/* Moves one particle at a time along curves in the space and takes differences with step h. *of_force is the largest
 * difference between the force along a curve and the slope of the potential. *of_slope is the largest difference
 * between the Jacobian times the curve's tangent and the slope of the force. */
static void errors_of(const cb_space *g, hinge *u, double h, double *of_force, double *of_slope) {
  const int n = u->n * u->k, k = u->k;
  double force[ALL], blocks[ALL * ALL], x[ALL];
  const cb_pattern *pattern = cb_forces_pattern(u->f);
  check_ok(cb_forces_eval(u->f, 0, u->x, NULL, force));
  check_ok(cb_forces_jacobian(u->f, 0, u->x, NULL, blocks, NULL));
  *of_force = *of_slope = 0;
  for (int b = 0; b < n; b++) {
    const int i = b / k;
    double v[4], F[4][ALL], along[COORDS] = {0}, rate = 0;
    along[b % k] = 1;
    remove_normal(g, u->x + i * k, along);
    for (int side = 0; side < 4; side++) {
      memcpy(x, u->x, sizeof x);
      for (int a = 0; a < k; a++) x[i * k + a] += h * (side < 2 ? side - 2 : side - 1) * along[a];
      cb_space_project_point(g, x + i * k);
      check_ok(cb_forces_potential(u->f, 0, x, &v[side]));
      check_ok(cb_forces_eval(u->f, 0, x, NULL, F[side]));
    }
    for (int a = 0; a < k; a++) rate -= g->form[a] * along[a] * force[i * k + a];
    *of_force = fmax(*of_force, fabs(rate - (v[0] - 8 * v[1] + 8 * v[2] - v[3]) / (12 * h)));
    for (int a = 0; a < n; a++) {
      const double *block = blocks + cb_pattern_find(pattern, a / k, i) * k * k, *row = block + a % k * k;
      double slope = 0;
      for (int c = 0; c < k; c++) slope += row[c] * along[c];
      *of_slope = fmax(*of_slope, fabs(slope - (F[0][a] - 8 * F[1][a] + 8 * F[2][a] - F[3][a]) / (12 * h)));
    }
  }
}

static void harmonic_in(const cb_space *g, uint64_t *seed) {
  for (int n = 0; n < 3; n++) {
    double x[POINTS + 1][COORDS], of_force, of_slope;
    some_points(g, seed, 0.9, x);
    hinge u = hinge_at(g, x, 1.7, 1.1);
    errors_of(g, &u, 1e-4, &of_force, &of_slope);
    check_at_most(of_force, 2e-9); /* the differences have errors of order 4 in the step */
    check_at_most(of_slope, 1e-7);
    drop(&u);
  }
}

static void forces_and_slopes_are_those_of_the_potential(void **state) { check_every_space(harmonic_in); }

/* Writes three points of a chain that is bent by the angle `bend` at the second point. With bend = 0 they lie on a
 * geodesic. */
static void chain_at(const cb_space *g, double bend, double (*x)[COORDS]) {
  double at[COORDS], c[CB_DIM_MAX] = {0.2, 0.1, 0.15}, e[COORDS * COORDS], v[2][COORDS] = {{0}};
  check_point_at(g, c, at);
  cb_space_frame(g, at, e);
  for (int a = 0; a < g->embedding; a++) {
    v[0][a] = -0.4 * e[a];
    v[1][a] = 0.3 * (cos(bend) * e[a] + sin(bend) * e[g->embedding + a]);
  }
  memcpy(x[1], at, sizeof at);
  cb_exp(g, at, v[0], x[0], NULL);
  cb_exp(g, at, v[1], x[2], NULL);
}

static void bending_in(const cb_space *g, uint64_t *seed) {
  static const double bend[] = {0, 1e-12, 1e-9, 3e-8, 1e-6, 1e-4, 1e-2, 0.3};
  for (size_t n = 0; n < sizeof bend / sizeof *bend; n++) {
    double x[3][COORDS], v, force[ALL], of_force, of_slope;
    if (g->dim < 2) return;
    chain_at(g, bend[n], x);
    hinge u = hinge_at(g, x, 2, pi);
    check_ok(cb_forces_potential(u.f, 0, u.x, &v));
    check_near(v, bend[n] * bend[n], 1e-13);
    check_ok(cb_forces_eval(u.f, 0, u.x, NULL, force));
    for (int i = 0; i < 3 && !bend[n]; i++) {
      remove_normal(g, u.x + i * u.k, force + i * u.k);
      /* The tolerance is the round-off of an angle near pi. */
      for (int a = 0; a < u.k; a++) check_near(force[i * u.k + a], 0, 1e-7);
    }
    /* The error of differences with the step h is h^4 times a derivative of about (1/0.3)^5. */
    errors_of(g, &u, 1e-3, &of_force, &of_slope);
    check_at_most(of_force, 1e-7);
    check_at_most(of_slope, 1e-5);
    drop(&u);
  }
}

static void bending_is_smooth_where_the_chain_is_straight(void **state) { check_every_space(bending_in); }

/* In flat space, the force on an end of the chain is stiffness × bend/length, where `bend` is the angle between the two
 * rods and `length` that of the rod at this end. The force is perpendicular to this rod. */
static void bending_force_has_its_closed_form(void **state) {
  cb_space *g = check_space("{name: e3}");
  for (double bend = 1e-10; bend < 2; bend *= 7) {
    double x[3][COORDS] = {{-0.4}, {0}, {0.3 * cos(bend), 0.3 * sin(bend)}}, force[ALL];
    hinge u = hinge_at(g, x, 2.5, pi);
    check_ok(cb_forces_eval(u.f, 0, u.x, NULL, force));
    check_near(force[1], -2.5 * bend / 0.4, 1e-14 + 1e-14 * bend);
    check_near(force[6], 2.5 * bend / 0.3 * sin(bend), 1e-13);
    check_near(force[7], -2.5 * bend / 0.3 * cos(bend), 1e-13);
    drop(&u);
  }
  cb_space_free(g);
}

static void a_kink_is_a_failure(void **state) {
  cb_space *g = check_space("{name: e3}");
  double x[3][COORDS] = {{-0.4}, {0}, {0.3}}, force[ALL], v;
  hinge u = hinge_at(g, x, 2.5, 3);
  check_ok(cb_forces_eval(u.f, 0, (double[]){-0.4, 0, 0, 0, 0, 0, 0.3, 0.01, 0}, NULL, force));
  assert_int_equal(cb_forces_eval(u.f, 0, u.x, NULL, force), CB_STEP_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "has a kink at the value 3.14159"));
  assert_int_equal(cb_forces_potential(u.f, 0, u.x, &v), CB_STEP_DOMAIN);
  drop(&u);
  cb_space_free(g);
}

static void wrong_arguments_are_refused(void **state) {
  const cb_target start = {.value = NAN}, two = {.value = 2};
  const double x[3][COORDS] = {{0}, {1}, {0, 1}};
  cb_space *g = check_space("{name: e2}");
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  for (int i = 0; i < 3; i++) check_ok(cb_builder_particle(b, NULL, 1, 0, 0, x[i], NULL, NULL));
  check_ok(cb_builder_knife_edge(b, NULL, 0, 1));
  assert_int_equal(cb_builder_potentials_of(b, 0, 1, NULL, NULL), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "knife_edge: expected a function of positions"));
  check_ok(cb_builder_angle(b, NULL, 0, 1, 2, two));
  assert_int_equal(cb_builder_potentials_of(b, 1, 1, &two, NULL), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "angle: a target next to `rest`"));
  assert_int_equal(cb_builder_potentials_of(b, 1, INFINITY, NULL, NULL), CB_ERROR_ARGUMENT);
  check_ok(cb_builder_angle(b, NULL, 0, 1, 2, start));
  assert_int_equal(cb_builder_potentials_of(b, 2, 1, NULL, "s*u"), CB_ERROR_INPUT);
  assert_int_equal(cb_builder_expression_at(b), 2);
  cb_builder_free(b);
  cb_space_free(g);
}

/* Energy is not conserved if the rest value or the potential depends on time. With a fixed point, the momenta of
 * motions that would move this point are not conserved. */
static void what_is_conserved_is_known(void **state) {
  static const struct {
    const char *rest, *energy;
    bool centred, keeps_energy, keeps_translation;
  } cases[] = {{NULL, NULL, false, true, true},
               {"1 + t", NULL, false, false, true},
               {NULL, "s^2", false, true, true},
               {NULL, "s^2*t", false, false, true},
               {NULL, NULL, true, true, false}};
  cb_space *g = check_space("{name: e3}");
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    const cb_target start = {.value = NAN}, rest = {.expression = cases[n].rest};
    const double x[2][COORDS] = {{0}, {1}}, centre[COORDS] = {0, 2};
    cb_builder *b;
    cb_system *s;
    check_ok(cb_builder_create(g, &b));
    check_ok(cb_builder_body(b, "a", NULL));
    for (int i = 0; i < 2; i++) check_ok(cb_builder_particle(b, NULL, 1, 0, 0, x[i], NULL, NULL));
    check_ok(cases[n].centred ? cb_builder_distance_to_point(b, NULL, 0, centre, start)
                              : cb_builder_rod(b, NULL, 0, 1, start));
    check_ok(cb_builder_potentials_of(b, 0, 1, cases[n].rest ? &rest : NULL, cases[n].energy));
    check_ok(cb_builder_finish(b, &s));
    const cb_conserved conserved = cb_system_conserved(s);
    assert_int_equal(conserved.energy, cases[n].keeps_energy);
    assert_int_equal(conserved.momentum[0], cases[n].keeps_translation);
    assert_int_equal(cb_system_constraints(s), 0);
    assert_int_equal(cb_system_bonds(s), 0);
    assert_int_equal(cb_system_components(s), cases[n].centred ? 2 : 1);
    cb_system_free(s);
    cb_builder_free(b);
  }
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_and_slopes_are_those_of_the_potential),
      cmocka_unit_test(bending_is_smooth_where_the_chain_is_straight),
      cmocka_unit_test(bending_force_has_its_closed_form),
      cmocka_unit_test(a_kink_is_a_failure),
      cmocka_unit_test(wrong_arguments_are_refused),
      cmocka_unit_test(what_is_conserved_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
