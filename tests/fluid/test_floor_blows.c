/* Tests of impacts on the floor. An impact conserves the angular momentum about the point of contact. With restitution
 * 1 it conserves the energy, and with less restitution it never increases the energy. If several vertices reach the
 * floor at the same time, the motion stays symmetric. */
#include "floor_bodies.h"

/* --- one vertex --- */

/* A box with a full inertia matrix, as bodies with added mass have, falls with restitution 1. Neither single impacts
 * nor all 1000 together change the energy. */
static void a_thousand_blows_keep_the_energy_with_a_full_tensor(void **unused) {
  const body b = tumbling_body();
  double x[8][3];
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    drop *d = drop_create(&b, 1, 8, (const double(*)[3])x, method);
    const cb_pose g = unit_pose(tilted);
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
    s.g.x[2] = 2;
    const double first = drop_energy(d, &s), h = 0.02;
    double drift = 0;
    for (int n = 0; n < 200000 && d->blows < 1000; n++) {
      check_ok(drop_try(d, h, &s));
      check_at_least(drop_gap(d, &s), -3e-14);
      drift = fmax(drift, fabs(drop_energy(d, &s) / first - 1));
    }
    print_message("  method %d: %d blows to t = %.1f, energy of all blows %.1e, worst %.1e; of flights %.1e\n", method,
                  d->blows, s.t, d->energy_lost / first, d->worst_energy, drift);
    assert_true(d->blows >= 1000);
    check_near(d->energy_lost / first, 0, 1e-12);
    check_at_most(d->worst_energy, 1e-13);
    drop_free(d);
  }
}

static void of_lesser_restitution_no_blow_gains_energy(void **unused) {
  const body b = tumbling_body();
  double x[8][3];
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  drop *d = drop_create(&b, 0.9, 8, (const double(*)[3])x, CB_SE3_CAYLEY);
  const cb_pose g = unit_pose(tilted);
  cb_rigid_state s;
  check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
  s.g.x[2] = 2;
  for (int n = 0; n < 2000; n++) check_ok(drop_try(d, 0.01, &s));
  check_at_least(d->blows, 20);
  check_at_most(d->energy_gained, 1e-14);
  check_at_least(d->energy_lost, 0.1);
  drop_free(d);
}

/* The impulse is vertical and acts at the vertex. So it changes only the vertical component of the linear momentum, and
 * the angular momentum about the vertex is constant. */
static void a_tilted_rod_keeps_its_angular_momentum_about_the_place_of_contact(void **unused) {
  for (int tensor = 0; tensor < 2; tensor++) {
    body b = drop_body(0.01, 1. / 12, 1. / 12);
    if (tensor) generic_tensor(b.K0);
    drop *d = drop_create(&b, 0.7, 2, rod, CB_SE3_CAYLEY);
    const cb_pose g = unit_pose(tilted);
    cb_rigid_state s, before;
    check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
    while (d->hits == 0) {
      before = s;
      check_ok(drop_try(d, 0.01, &s));
    }
    /* `end` is the state just before the impact, and `back` the state just after it */
    const double t1 = d->last.time - before.t, t2 = s.t - d->last.time;
    cb_rigid_state end = before, back = s;
    step_by(&d->p, CB_SE3_CAYLEY, t1, &end);
    step_by(&d->p, CB_SE3_CAYLEY, -t2, &back);
    double p[3], m[2][6], K[6][6], mu0[6], Y[2][6], up[3], w[6], r[3][3], u[2] = {0};
    cb_pose_point(&end.g, rod[d->last.vertex], p);
    check_near(p[2], 0, 1e-14);
    for (int i = 0; i < 4; i++) check_near(end.g.q[i], back.g.q[i], 1e-13);
    for (int k = 0; k < 2; k++) {
      const cb_rigid_state *at = k ? &back : &end;
      double arm[3], turn[3];
      for (int i = 0; i < 3; i++) arm[i] = at->g.x[i] + at->x_low[i] - p[i];
      cb_cross3(arm, at->world + 3, turn);
      for (int i = 0; i < 3; i++) {
        m[k][i] = at->world[i] + turn[i];
        m[k][3 + i] = at->world[3 + i];
      }
      check_ok(d->p.inertia(d->p.self, 0, &at->g, K, mu0));
      check_ok(cb_rigid_velocity(K, at->momentum, mu0, Y[k]));
    }
    for (int i = 0; i < 5; i++) check_near(m[1][i], m[0][i], 1e-12);
    check_near(m[1][5] - m[0][5], d->last.impulse, 1e-12);
    /* The vertex rises at the rate w.Y, where w is the wrench of an upward unit force at the vertex. With the
     * restitution e the rate changes from v- to v+ = -e v-, and the impulse is -(1 + e) v-/(w^T K^-1 w). */
    cb_pose_rotation(&end.g, r);
    cb_apply3_transposed(r, d->floor.up, up);
    cb_cross3(rod[d->last.vertex], up, w);
    memcpy(w + 3, up, sizeof up);
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < 6; i++) u[k] += w[i] * Y[k][i];
    check_near(u[0], d->last.speed_before, 1e-12);
    check_near(u[1], d->last.speed_after, 1e-11);
    check_near(u[1], -0.7 * u[0], 1e-11);
    check_at_most(u[0], -1);
    check_ok(d->p.inertia(d->p.self, 0, &end.g, K, mu0));
    double solution[6], wKw = 0;
    memcpy(solution, w, sizeof w);
    assert_true(cb_solve6(K, 1, solution));
    for (int i = 0; i < 6; i++) wKw += w[i] * solution[i];
    check_near(d->last.impulse, -1.7 * u[0] / wKw, 1e-12);
    drop_free(d);
  }
}

/* --- several vertices at the same time --- */

static void a_box_that_lands_flat_does_not_spin(void **unused) {
  double x[8][3];
  box_points((double[3]){0.4, 0.3, 0.2}, x);
  for (int method = 0; method <= RKMK4; method += RKMK4)
    for (int turned = 0; turned < 3; turned++) {
      const body b = drop_body(0.13 / 3, 0.2 / 3, 0.25 / 3);
      drop *d = drop_create(&b, 0.8, 8, (const double(*)[3])x, method);
      cb_rigid_state s;
      /* If `turned` is not 0, the body is rotated around the vertical, and tilted so little that all vertices of a face
       * count as simultaneous. */
      cb_pose g = upright;
      if (turned) g = unit_pose((cb_pose){{1, turned > 1 ? 1e-13 : 1e-17, 0, 0.3}, {0, 0, 1}});
      static const double rest[6];
      check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
      const double T = sqrt(2 * 0.8 / 10);
      double time = T, highest;
      int blows = 0;
      for (int n = 0; n < 200; n++) {
        const int hits = d->hits;
        check_ok(drop_try(d, 0.01, &s));
        if (d->hits > hits) {
          check_near(d->last.time, time, 1e-12);
          time += 2 * pow(0.8, ++blows) * T;
        }
        highest = s.g.x[2] - 0.2 + s.momentum[5] * s.momentum[5] / 20;
        check_near(highest, 0.8 * pow(0.8, 2 * blows), 1e-12);
        for (int i = 0; i < 3; i++) check_near(s.momentum[i], 0, turned > 1 ? 1e-11 : 1e-13);
      }
      check_at_least(blows, 4);
      drop_free(d);
    }
}

/* A disc has a thousand vertices at its rim, and all of them reach the floor at the same time. */
static void a_disc_of_a_thousand_vertices_lands_flat(void **unused) {
  static double x[1000][3];
  for (int i = 0; i < 1000; i++) {
    x[i][0] = cos(2 * PI * i / 1000);
    x[i][1] = sin(2 * PI * i / 1000);
  }
  const body b = drop_body(0.25, 0.25, 0.5);
  drop *d = drop_create(&b, 0.5, 1000, (const double(*)[3])x, CB_SE3_CAYLEY);
  cb_rigid_state s;
  const double Y[6] = {0, 0, 2};
  check_ok(cb_rigid_start(&d->p, 0, &upright, Y, &s));
  for (int n = 0; n < 50; n++) check_ok(drop_try(d, 0.01, &s));
  const double T = sqrt(0.2), v = 5 * T - 10 * (0.5 - T);
  check_near(s.momentum[5], v, 1e-11);
  check_near(s.momentum[0], 0, 1e-12);
  check_near(s.momentum[1], 0, 1e-12);
  check_near(s.momentum[2], 1, 1e-12);
  for (int n = 0; n < 150; n++)
    check_ok(drop_try(d, 0.01, &s)); /* the bounces end before 3 T; T: time of the first impact */
  check_near(s.g.x[2], 0, 1e-15);
  check_near(s.momentum[5], 0, 1e-13);
  check_near(s.momentum[2], 1, 1e-12);
  drop_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_blows_keep_the_energy_with_a_full_tensor),
      cmocka_unit_test(of_lesser_restitution_no_blow_gains_energy),
      cmocka_unit_test(a_tilted_rod_keeps_its_angular_momentum_about_the_place_of_contact),
      cmocka_unit_test(a_box_that_lands_flat_does_not_spin),
      cmocka_unit_test(a_disc_of_a_thousand_vertices_lands_flat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
