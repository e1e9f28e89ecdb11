/* Tests of the reflection at one contact of free particles: the formula for two bodies in all spaces, conserved
 * quantities, moving walls, overlaps, and cases that cannot be reflected.
 */
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

/* Computes the unit vectors at two points x and y, each in the direction of the other point. */
static void towards(const cb_space *g, const double *x, const double *y, double *at_x, double *at_y) {
  check_ok(cb_log(g, x, y, at_x));
  check_ok(cb_log(g, y, x, at_y));
  const double d = cb_distance(g, x, y);
  for (int a = 0; a < g->embedding; a++) {
    at_x[a] /= d;
    at_y[a] /= d;
  }
}

/* Returns <u,v> at the point x. */
static double inner_at(const cb_space *g, const double *x, const double *u, const double *v) {
  double metric[CB_DIM_MAX * CB_DIM_MAX], sum = 0;
  if (!g->intrinsic) return cb_inner(g, u, v);
  check_ok(g->chart->metric(g, x, metric, NULL, NULL));
  for (int i = 0; i < g->dim; i++)
    for (int j = 0; j < g->dim; j++) sum += metric[i * g->dim + j] * u[i] * v[j];
  return sum;
}

/* A contact of two spheres changes the velocity v1 to v1 - (1+e) m2/(m1+m2) c e1, and v2 to v2 - (1+e) m1/(m1+m2) c e2.
 * m1 and m2 are the masses, e the restitution, e1 and e2 the unit vectors towards the other sphere, and c = <v1,e1> +
 * <v2,e2> the speed at which the spheres approach each other. Velocities from charts are converted to the embedding. */
static void two_spheres_follow_the_formula_of_two_bodies(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < SPACES; s++)
    for (int trial = 0; trial < 40; trial++) {
      body_case c;
      cb_reflection *r;
      open_gas(&c, spaces[s], 2, 6, &seed);
      check_ok(cb_reflection_create(c.system, &r));
      const double e = trial % 2 ? check_uniform(&seed, 0, 1) : 1;
      cb_reflection_contact contact = spheres(&c, 0, 1, e, 1);
      double u = contact_rate(&c, &contact);
      for (int a = 0; u > 0 && a < 2 * c.g->k; a++) c.state->p[a] = -c.state->p[a];
      u = contact_rate(&c, &contact);
      double x[2][CB_COORD_MAX], v[2][CB_COORD_MAX], unit[2][CB_COORD_MAX], before[CB_KILLING_MAX],
          after[CB_KILLING_MAX], size;
      const double *m = cb_system_masses(c.system), T = kinetic(&c);
      for (int a = 0; a < 2; a++) embedded(&c, a, x[a], v[a]);
      towards(c.g, x[0], x[1], unit[0], unit[1]);
      momenta(&c, before, &size);
      const double closing = inner_at(c.g, x[0], v[0], unit[0]) + inner_at(c.g, x[1], v[1], unit[1]);
      check_near(u, -closing, 1e-13);
      const cb_reflection_part part = whole(&c, NULL);
      check_ok(cb_reflect(r, trial % 3 ? CB_CONTACT_SEQUENTIAL : CB_CONTACT_SIMULTANEOUS, 0, 1, &part, 1, &contact));
      /* round-off of points, logarithms and charts */
      const double near = 1e-12;
      double w[CB_COORD_MAX];
      for (int a = 0; a < 2; a++) {
        double y[CB_COORD_MAX];
        embedded(&c, a, y, w);
        for (int i = 0; i < c.g->embedding; i++)
          check_near(w[i], v[a][i] - (1 + e) * m[1 - a] / (m[0] + m[1]) * closing * unit[a][i], near);
      }
      check_near(contact.before, u, near);
      check_near(contact.after, -e * u, near);
      check_near(contact_rate(&c, &contact), -e * u, near);
      const double reduced = m[0] * m[1] / (m[0] + m[1]);
      check_near(contact.impulse, (1 + e) * closing * reduced, near * reduced);
      double more;
      momenta(&c, after, &more);
      /* the tolerance is for round-off of the momenta and, in charts, of their conversion */
      check_at_most(check_distance_max(c.g->n_killing, before, after), 1e-14 * (size + more));
      check_near(kinetic(&c), T - 0.5 * (1 - e * e) * closing * closing * reduced, 2e-14 * T);
      cb_reflection_free(r);
      close_case(&c);
    }
}

/* Random pairs of particles at fixed points are reflected many times, as spheres outside or inside each other. Their
 * masses range over six decades. */
static void ten_thousand_reflections_keep_energy_and_momenta(void **state) {
  uint64_t seed = check_seed();
  static const char *const some[] = {"e3", "s3", "h3", "h2xe", "h3 {chart: polar}"};
  enum { N = 10 };
  for (size_t s = 0; s < sizeof some / sizeof *some; s++) {
    body_case c;
    cb_reflection *r;
    open_gas(&c, some[s], N, 6, &seed);
    check_ok(cb_reflection_create(c.system, &r));
    double before[CB_KILLING_MAX], after[CB_KILLING_MAX], size, now;
    momenta(&c, before, &size);
    const double T = kinetic(&c);
    const cb_reflection_part part = whole(&c, NULL);
    const int contacts = CHECK_SANITIZED ? 1000 : 10000;
    for (int n = 0; n < contacts; n++) {
      const int i = (int)check_uniform(&seed, 0, N), j = (i + 1 + (int)check_uniform(&seed, 0, N - 1)) % N;
      cb_reflection_contact contact = spheres(&c, i, j, 1, 1);
      if (contact_rate(&c, &contact) > 0) contact = spheres(&c, i, j, 1, -1);
      check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 1, &contact));
    }
    momenta(&c, after, &now);
    const double drift = check_distance_max(c.g->n_killing, before, after) / size, gain = fabs(kinetic(&c) / T - 1);
    print_message("%s: energy %.1e, momenta %.1e\n", some[s], gain, drift);
    check_at_most(gain, 1e-13); /* random round-off: 1e-16 sqrt(10^4), with a margin */
    check_at_most(drift, 1e-13);
    cb_reflection_free(r);
    close_case(&c);
  }
}

static void a_moving_wall_reflects_in_its_own_frame(void **state) {
  const double x[3] = {0.1, 0.2, 0.3}, v[3] = {-1, 0.5, 0.25}, n[3] = {0.6, 0, 0.8}, mass = 1e-3;
  body_case c;
  cb_reflection *r;
  double w[MOST];
  open_balls(&c, "e3", 1, &mass, x, v);
  check_ok(cb_reflection_create(c.system, &r));
  for (int trial = 0; trial < 3; trial++) {
    const double e = 0.5 * trial, rate = -0.7, u = -0.6 + 0.2 + rate;
    cb_reflection_contact contact = wall(&c, 0, n, rate, e);
    const cb_reflection_part part = whole(&c, NULL);
    set_velocities(&c, v);
    check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 1, &contact));
    velocities(&c, w);
    for (int a = 0; a < 3; a++) check_near(w[a], v[a] - (1 + e) * u * n[a], 1e-15);
    check_near(contact.after, -e * u, 1e-15);
    /* a contact whose gap increases is not reflected */
    memcpy(w, c.state->p, 3 * sizeof *w);
    if (e > 0) check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 1, &contact));
    assert_memory_equal(w, c.state->p, 3 * sizeof *w);
    if (e > 0) assert_true(contact.impulse == 0);
  }
  cb_reflection_free(r);
  close_case(&c);
}

/* A part of the gradient that is normal to the space does not change the velocities after a reflection. */
static void normal_parts_of_gradients_do_not_matter(void **state) {
  uint64_t seed = check_seed();
  static const char *const some[] = {"s3", "h3", "h2xe"};
  for (int s = 0; s < 3; s++) {
    body_case c;
    cb_reflection *r;
    open_gas(&c, some[s], 2, 2, &seed);
    check_ok(cb_reflection_create(c.system, &r));
    cb_state *copy = clone_state(&c);
    cb_reflection_contact contact = spheres(&c, 0, 1, 1, 1);
    if (contact_rate(&c, &contact) > 0) contact = spheres(&c, 0, 1, 1, -1);
    cb_reflection_part part = whole(&c, NULL);
    check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 1, &contact));
    for (int a = 0; a < 2; a++)
      for (int i = 0; i < c.g->factor[0].count; i++)
        contact.value.gradient[a * c.g->k + i] += 1e3 * c.g->form[i] * c.state->x[a * c.g->k + i];
    part.p = copy->p;
    part.p_low = copy->p_low;
    check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 1, &contact));
    /* the tolerance is for the round-off of the large gradient */
    check_at_most(check_distance_max(2 * c.g->k, copy->p, c.state->p), 1e-11);
    cb_state_free(copy);
    cb_reflection_free(r);
    close_case(&c);
  }
}

/* Spheres that overlap slightly are moved apart. An error of second order in the overlap remains, and the centre of
 * mass does not move. */
static void an_overlap_is_lifted(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < SPACES; s++) {
    body_case c;
    cb_reflection *r;
    open_gas(&c, spaces[s], 2, 2, &seed);
    check_ok(cb_reflection_create(c.system, &r));
    cb_reflection_contact contact = spheres(&c, 0, 1, 1, 1);
    const double *m = cb_system_masses(c.system);
    double d;
    check_ok(cb_pair_distance(c.g, c.state->x, c.state->x + c.g->k, &d, NULL, NULL));
    double before[2][CB_COORD_MAX], moved[2];
    for (int a = 0; a < 2; a++) memcpy(before[a], c.state->x + a * c.g->k, (size_t)c.g->k * sizeof(double));
    const cb_reflection_part part = whole(&c, NULL);
    contact.value.gap = 0;
    check_ok(cb_reflection_lift(r, 0, 1, &part, &contact));
    assert_memory_equal(before[0], c.state->x, (size_t)c.g->k * sizeof(double));
    contact.value.gap = -1e-6;
    check_ok(cb_reflection_lift(r, 0, 1, &part, &contact));
    double gap;
    for (int a = 0; a < 2; a++) {
      if (c.g->chart)
        check_ok(c.g->chart->distance(c.g, before[a], c.state->x + a * c.g->k, &moved[a], NULL, NULL));
      else
        moved[a] = cb_distance(c.g, before[a], c.state->x + a * c.g->k);
    }
    if (c.g->chart) {
      double old;
      check_ok(c.g->chart->distance(c.g, before[0], before[1], &old, NULL, NULL));
      check_ok(c.g->chart->distance(c.g, c.state->x, c.state->x + c.g->k, &gap, NULL, NULL));
      gap -= old;
    } else {
      gap = cb_distance(c.g, c.state->x, c.state->x + c.g->k) - d;
    }
    check_near(gap, 1e-6, 1e-11); /* the error is of the size of the square of the overlap */
    check_relative(m[0] * moved[0], m[1] * moved[1], 1e-5);
    cb_reflection_free(r);
    close_case(&c);
  }
}

/* A ball that two walls touch while they move towards each other cannot be reflected by either rule. */
static void a_ball_that_walls_crush_is_refused_by_either_rule(void **state) {
  const double x[3] = {0}, v[3] = {0}, n[2][3] = {{1, 0, 0}, {-1, 0, 0}};
  body_case c;
  cb_reflection *r;
  open_balls(&c, "e3", 1, NULL, x, v);
  check_ok(cb_reflection_create(c.system, &r));
  cb_reflection_contact contact[2] = {wall(&c, 0, n[0], -0.5, 1), wall(&c, 0, n[1], -0.5, 1)};
  const cb_reflection_part part = whole(&c, NULL);
  assert_int_equal(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 1, &part, 2, contact), CB_STEP_NO_CONVERGENCE);
  assert_int_equal(cb_reflect(r, CB_CONTACT_SIMULTANEOUS, 0, 1, &part, 2, contact), CB_STEP_SINGULAR);
  for (int i = 0; i < 3; i++) assert_true(c.state->p[i] == 0);
  cb_reflection_free(r);
  close_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_spheres_follow_the_formula_of_two_bodies),
      cmocka_unit_test(ten_thousand_reflections_keep_energy_and_momenta),
      cmocka_unit_test(a_moving_wall_reflects_in_its_own_frame),
      cmocka_unit_test(normal_parts_of_gradients_do_not_matter),
      cmocka_unit_test(an_overlap_is_lifted),
      cmocka_unit_test(a_ball_that_walls_crush_is_refused_by_either_rule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
