/* Tests of the reflection of the velocities of bodies with constraints. They check the effective mass of a rigid body,
 * the rates of change of constraints, bodies in one system or in separate ones, and cases that cannot be reflected. */
#include "numerics/vec3.h"
#include "reflect.h"

static const char *const spaces[] = {"e2",
                                     "s2",
                                     "h2",
                                     "e3",
                                     "s3",
                                     "h3",
                                     "h2xe",
                                     "s2xe",
                                     "ih",
                                     "h3 {curvature: -0.7}",
                                     "e3 {chart: polar}",
                                     "s3 {chart: polar}",
                                     "h3 {chart: polar}",
                                     "h3 {chart: poincare}",
                                     "h2xe {chart: polar}"};
enum { SPACES = sizeof spaces / sizeof *spaces };

/* Replaces y by I^-1 y, by Cramer's rule. */
static void solve3(double I[3][3], double *y) {
  double det, c[3], out[3];
  cb_cross3(I[1], I[2], c);
  det = cb_dot3(I[0], c);
  for (int i = 0; i < 3; i++) {
    double column[3][3];
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) column[a][b] = b == i ? y[a] : I[a][b];
    cb_cross3(column[1], column[2], c);
    out[i] = cb_dot3(column[0], c) / det;
  }
  memcpy(y, out, sizeof out);
}

/* A rigid triangle in E3 with mass M and inertia tensor I hits a wall that has the normal n. The contact is at the
 * position r relative to the triangle's centre of mass. The inverse of the effective mass is then
 * 1/M + (r × n).I^-1 (r × n). */
static void a_rigid_frame_hits_a_wall_with_its_effective_mass(void **state) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 20; trial++) {
    body_case c;
    cb_gram *gram;
    cb_reflection *r;
    open_figure(&c, "e3", 3, RODS, 1, &seed);
    check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
    check_ok(cb_reflection_create(c.system, &r));
    const double *m = cb_system_masses(c.system), *x = c.state->x;
    double v[MOST], w[MOST], centre[3] = {0}, M = 0, I[3][3] = {{0}}, n[3], rn[3], turn[3], arm[3][3];
    do
      for (int i = 0; i < 3; i++) n[i] = check_uniform(&seed, -1, 1);
    while (cb_dot3(n, n) > 1 || cb_dot3(n, n) < 0.1);
    const double length = sqrt(cb_dot3(n, n));
    for (int i = 0; i < 3; i++) n[i] /= length;
    for (int a = 0; a < 3; a++) M += m[a];
    for (int a = 0; a < 9; a++) centre[a % 3] += m[a / 3] * x[a] / M;
    for (int a = 0; a < 3; a++) {
      for (int i = 0; i < 3; i++) arm[a][i] = x[3 * a + i] - centre[i];
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) I[i][j] += m[a] * ((i == j) * cb_dot3(arm[a], arm[a]) - arm[a][i] * arm[a][j]);
    }
    velocities(&c, v);
    const int hit = trial % 3;
    if (cb_dot3(n, v + 3 * hit) > 0)
      for (int i = 0; i < 3; i++) n[i] = -n[i];
    cb_cross3(arm[hit], n, rn);
    memcpy(turn, rn, sizeof turn);
    solve3(I, turn);
    const double e = trial % 2 ? 1 : 0.3, u = cb_dot3(n, v + 3 * hit), inverse = 1 / M + cb_dot3(rn, turn),
                 l = -(1 + e) * u / inverse, T = kinetic(&c);
    cb_reflection_contact contact = wall(&c, cb_system_particle(c.system, hit), n, 0, e);
    const cb_reflection_part part = whole(&c, gram);
    check_ok(cb_reflect(r, trial % 2 ? CB_CONTACT_SEQUENTIAL : CB_CONTACT_SIMULTANEOUS, 0, 1, &part, 1, &contact));
    check_near(contact.impulse, l, 1e-14 / inverse); /* 1e-14 is the round-off of speeds */
    check_near(contact.after, -e * u, 1e-14);
    velocities(&c, w);
    for (int a = 0; a < 3; a++) {
      double spin[3];
      cb_cross3(turn, arm[a], spin);
      for (int i = 0; i < 3; i++) check_near(w[3 * a + i], v[3 * a + i] + l * (n[i] / M + spin[i]), 1e-13);
    }
    check_at_most(residual(&c), 3e-15);
    check_near(kinetic(&c), T - 0.5 * (1 - e * e) * u * u / inverse, 1e-14 * T);
    cb_reflection_free(r);
    cb_gram_free(gram);
    close_case(&c);
  }
}

/* A rod joins the masses 1 and 10^6; M is their sum and I the rod's moment of inertia. The light end hits a wall whose
 * normal is perpendicular to the rod. The inverse of the effective mass is then 1/M + a^2/I, where a is the distance of
 * the light end from the centre of mass. */
static void a_rod_of_very_unequal_masses_keeps_its_length_and_energy(void **state) {
  const double m[2] = {1, 1e6}, x[2][3] = {{0, 0, 0}, {0.6, 0, 0.8}}, v[3] = {0.3, -1, 0.2}, n[3] = {0, 1, 0};
  body_case c;
  cb_gram *gram;
  cb_reflection *r;
  open_space(&c, "e3");
  for (int a = 0; a < 2; a++) add_particle(&c, m[a], x[a], v);
  check_ok(cb_builder_rod(c.builder, NULL, 0, 1, as_it_starts));
  finish_system(&c);
  check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
  check_ok(cb_reflection_create(c.system, &r));
  const double M = m[0] + m[1], arm = m[1] / M, I = m[0] * m[1] / M, T = kinetic(&c);
  cb_reflection_contact contact = wall(&c, 0, n, 0, 1);
  const cb_reflection_part part = whole(&c, gram);
  check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 1, &contact));
  check_relative(contact.impulse, 2 / (1 / M + arm * arm / I), 1e-14);
  check_at_most(residual(&c), 1e-15);
  check_relative(kinetic(&c), T, 1e-15);
  cb_reflection_free(r);
  cb_gram_free(gram);
  close_case(&c);
}

/* A corner of a figure of rods hits a wall, in all spaces except `ih`. The lengths of the rods are constant, or the
 * length of the first rod changes with time. */
static void rows_keep_their_rates_and_energy_is_kept(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < SPACES; s++)
    for (int kind = 0; kind < 2; kind++) {
      body_case c;
      cb_gram *gram;
      cb_reflection *r;
      if (strstr(spaces[s], "ih")) continue; /* open_figure does not support this space */
      open_figure(&c, spaces[s], 3, kind ? BREATHING : RODS, 1, &seed);
      check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
      check_ok(cb_reflection_create(c.system, &r));
      for (int trial = 0; trial < 6; trial++) {
        double gradient[CB_COORD_MAX];
        for (int a = 0; a < c.g->k; a++) gradient[a] = check_uniform(&seed, -1, 1);
        c.state->t = kind ? 0.4 : 0;
        if (kind) { /* the velocities must fit the rate at which the length of the first rod changes */
          double v[MOST];
          velocities(&c, v);
          check_ok(cb_gram_project(gram, c.state->t, c.state->x, v, 0, NULL, NULL, NULL));
          set_velocities(&c, v);
        }
        cb_reflection_contact contact = wall(&c, trial % 3, gradient, 0, 1);
        if (contact_rate(&c, &contact) > 0)
          for (int a = 0; a < c.g->k; a++) contact.value.gradient[a] = -gradient[a];
        const double T = kinetic(&c), u = contact_rate(&c, &contact);
        const cb_reflection_part part = whole(&c, gram);
        check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, c.state->t, 1, &part, 1, &contact));
        check_near(contact_rate(&c, &contact), -u, 1e-13);
        check_at_most(residual(&c), 3e-14); /* in charts, the metric's condition number magnifies round-off */
        if (!kind) check_relative(kinetic(&c), T, 3e-14);
      }
      cb_reflection_free(r);
      cb_gram_free(gram);
      close_case(&c);
    }
}

/* A rod with a knife edge at one end hits a wall with its other end. Afterwards, the first end still has no velocity
 * across the knife edge. */
static void a_skate_stays_on_its_edge(void **state) {
  uint64_t seed = check_seed();
  static const char *const planes[] = {"e2", "s2", "h2"};
  for (int s = 0; s < 3; s++) {
    body_case c;
    cb_gram *gram;
    cb_reflection *r;
    double v[MOST];
    open_space(&c, planes[s]);
    for (int a = 0; a < 2; a++) {
      double x[CB_COORD_MAX];
      check_random_point(c.g, &seed, 0.8, x);
      check_random_tangent(c.g, &seed, x, 1, v);
      add_particle(&c, 1 + 2.7 * a, x, v);
    }
    check_ok(cb_builder_rod(c.builder, NULL, 0, 1, as_it_starts));
    check_ok(cb_builder_knife_edge(c.builder, NULL, 0, 1));
    finish_system(&c);
    check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
    check_ok(cb_reflection_create(c.system, &r));
    velocities(&c, v);
    check_ok(cb_gram_project(gram, 0, c.state->x, v, 0, NULL, NULL, NULL));
    set_velocities(&c, v);
    double gradient[CB_COORD_MAX];
    for (int a = 0; a < c.g->k; a++) gradient[a] = check_uniform(&seed, -1, 1);
    cb_reflection_contact contact = wall(&c, 1, gradient, 0, 1);
    if (contact_rate(&c, &contact) > 0)
      for (int a = 0; a < c.g->k; a++) contact.value.gradient[a] = -gradient[a];
    const double T = kinetic(&c), u = contact_rate(&c, &contact);
    const cb_reflection_part part = whole(&c, gram);
    check_ok(cb_reflect(r, CB_CONTACT_SIMULTANEOUS, 0, 1, &part, 1, &contact));
    check_near(contact_rate(&c, &contact), -u, 1e-14);
    check_at_most(residual(&c), 3e-15);
    check_relative(kinetic(&c), T, 3e-15);
    cb_reflection_free(r);
    cb_gram_free(gram);
    close_case(&c);
  }
}

/* Two trusses that are separate systems collide in the same way as two parts of one system. */
static void parts_meet_as_the_whole_does(void **state) {
  uint64_t seed = check_seed();
  static const char *const some[] = {"e3", "s3", "h3", "h2xe", "h3 {chart: polar}"};
  for (size_t s = 0; s < sizeof some / sizeof *some; s++) {
    body_case both, one[2];
    cb_gram *gram, *of[2];
    cb_reflection *r;
    double x[MOST], v[MOST], J[CB_KILLING_MAX], after[CB_KILLING_MAX], size;
    open_gas(&both, some[s], 6, 3, &seed);
    const double *mass = cb_system_masses(both.system);
    cb_system *free_system = both.system;
    const int k = both.g->k;
    memcpy(x, both.state->x, (size_t)(6 * k) * sizeof *x);
    velocities(&both, v);
    cb_builder *builder;
    int body;
    check_ok(cb_builder_create(both.g, &builder));
    for (int b = 0; b < 2; b++) {
      check_ok(cb_builder_body(builder, b ? "two" : "one", &body));
      open_space(&one[b], some[s]);
      for (int a = 3 * b; a < 3 * b + 3; a++) {
        check_ok(cb_builder_particle(builder, NULL, mass[a], 0, 0, x + a * k, v + a * k, NULL));
        check_ok(cb_builder_particle(one[b].builder, NULL, mass[a], 0, 0, x + a * k, v + a * k, NULL));
      }
      for (int a = 0; a < 3; a++) {
        check_ok(cb_builder_rod(builder, NULL, 3 * b + a, 3 * b + (a + 1) % 3, as_it_starts));
        check_ok(cb_builder_rod(one[b].builder, NULL, a, (a + 1) % 3, as_it_starts));
      }
      finish_system(&one[b]);
    }
    cb_builder_free(both.builder);
    cb_state_free(both.state);
    cb_forces_free(both.forces);
    both.builder = builder;
    finish_system(&both);
    cb_system_free(free_system);
    check_ok(cb_gram_create(both.forces, cb_forces_constraints(both.forces), &gram));
    velocities(&both, v);
    check_ok(cb_gram_project(gram, 0, both.state->x, v, 0, NULL, NULL, NULL));
    set_velocities(&both, v);
    cb_reflection_part parts[2];
    const int *start = cb_system_component_starts(both.system);
    assert_int_equal(cb_system_components(both.system), 2);
    for (int b = 0; b < 2; b++) {
      parts[b] = whole(&one[b], NULL);
      for (int a = 0; a < 3; a++) { /* the particles of a truss have the same order in both systems */
        assert_int_equal(cb_system_particle(both.system, start[b] + a) % 3, cb_system_particle(one[b].system, a));
        for (int i = 0; i < k; i++) {
          one[b].state->x[a * k + i] = both.state->x[(start[b] + a) * k + i];
          one[b].state->p[a * k + i] = both.state->p[(start[b] + a) * k + i];
        }
      }
      check_ok(cb_gram_create(one[b].forces, cb_forces_constraints(one[b].forces), &of[b]));
      parts[b].gram = of[b];
      parts[b].constraints = cb_forces_constraints(one[b].forces);
      parts[b].first = start[b];
    }
    check_ok(cb_reflection_create(both.system, &r));
    cb_reflection_contact contact[2] = {spheres(&both, 1, 4, 1, 1), spheres(&both, 0, 5, 0.5, 1)}, again[2];
    for (int a = 0; a < 2; a++)
      if (contact_rate(&both, &contact[a]) > 0) contact[a] = spheres(&both, a ? 0 : 1, a ? 5 : 4, a ? 0.5 : 1, -1);
    memcpy(again, contact, sizeof again);
    momenta(&both, J, &size);
    const cb_reflection_part part = whole(&both, gram);
    check_ok(cb_reflect(r, CB_CONTACT_SIMULTANEOUS, 0, 1, &part, 2, contact));
    check_ok(cb_reflect(r, CB_CONTACT_SIMULTANEOUS, 0, 2, parts, 2, again));
    for (int b = 0; b < 2; b++)
      check_at_most(check_distance_max(3 * k, one[b].state->p, both.state->p + start[b] * k), 1e-13 * size);
    momenta(&both, after, &size);
    check_at_most(check_distance_max(both.g->n_killing, J, after), 1e-14 * size);
    check_at_most(residual(&both), 1e-13); /* light particles get large velocities */
    cb_reflection_free(r);
    for (int b = 0; b < 2; b++) {
      cb_gram_free(of[b]);
      close_case(&one[b]);
    }
    cb_gram_free(gram);
    close_case(&both);
  }
}

static void a_pinned_sphere_is_a_wall_and_a_wall_that_crushes_it_is_refused(void **state) {
  const double x[2][3] = {{0, 0, 0}, {1, 0, 0}}, v[2][3] = {{0, 0, 0}, {-1, 0.5, 0}}, n[3] = {0, 0, 1}, none[3] = {0};
  body_case c;
  cb_gram *gram;
  cb_reflection *r;
  double w[MOST], kept[6];
  open_space(&c, "e3");
  for (int a = 0; a < 2; a++) add_particle(&c, 1 + a, x[a], v[a]);
  check_ok(cb_builder_pin(c.builder, NULL, 0, NULL));
  finish_system(&c);
  check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
  check_ok(cb_reflection_create(c.system, &r));
  const cb_reflection_part part = whole(&c, gram);
  cb_reflection_contact contact[2] = {spheres(&c, 0, 1, 1, 1)};
  check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 1, contact));
  velocities(&c, w);
  const double *moved = w + 3 * cb_system_index(c.system, 1);
  check_near(moved[0], 1, 1e-15);
  check_near(moved[1], 0.5, 1e-15);
  check_near(contact[0].impulse, 4, 1e-15);
  for (int rule = 0; rule < 2; rule++) {
    set_velocities(&c, &v[0][0]);
    memcpy(kept, c.state->p, sizeof kept);
    contact[0] = spheres(&c, 0, 1, 1, 1);
    contact[1] = wall(&c, 0, n, -0.1, 1);
    const cb_reflection_contact as_before = contact[0];
    assert_int_equal(cb_reflect(r, (cb_contact_rule)rule, 0, 1, &part, 2, contact), CB_STEP_SINGULAR);
    assert_non_null(strstr(cb_error_text(), "the constraints allow no motion"));
    assert_memory_equal(kept, c.state->p, sizeof kept);
    assert_memory_equal(&as_before, &contact[0], sizeof as_before);
    contact[1] = wall(&c, 1, none, -0.1, 1); /* a gap that depends on no particle */
    assert_int_equal(cb_reflect(r, (cb_contact_rule)rule, 0, 1, &part, 2, contact), CB_STEP_SINGULAR);
    contact[1] = wall(&c, 0, n, 0, 1); /* a pinned particle that rests at a wall causes no failure */
    check_ok(cb_reflect(r, (cb_contact_rule)rule, 0, 1, &part, 2, contact));
    contact[1].value.gradient[0] = NAN;
    assert_int_equal(cb_reflect(r, (cb_contact_rule)rule, 0, 1, &part, 2, contact), CB_STEP_NOT_FINITE);
  }
  contact[0].gap.particle[0] = 2;
  assert_int_equal(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 1, contact), CB_ERROR_ARGUMENT);
  cb_reflection_free(r);
  cb_gram_free(gram);
  close_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_frame_hits_a_wall_with_its_effective_mass),
      cmocka_unit_test(a_rod_of_very_unequal_masses_keeps_its_length_and_energy),
      cmocka_unit_test(rows_keep_their_rates_and_energy_is_kept),
      cmocka_unit_test(a_skate_stays_on_its_edge),
      cmocka_unit_test(parts_meet_as_the_whole_does),
      cmocka_unit_test(a_pinned_sphere_is_a_wall_and_a_wall_that_crushes_it_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
