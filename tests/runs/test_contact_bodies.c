/* Tests of contacts of bodies: rigid rods and trusses, whose impulses are in the tangent space of their constraints,
 * spring triangles, and surfaces. The end 1 of a rod, with the masses m1 and m2 at its ends, hits a wall with the
 * normal n and the closing speed u. With the effective mass m_eff and the unit vector a along the rod:
 *
 *   1/m_eff = 1/m1 - (<n,a>/m1)^2/(1/m1 + 1/m2),   impulse = 2 m_eff |u|
 */
#include "collide.h"
#include "geodesic_balls.h"
#include "linked.h"
#include "run/contacts_step.h"

/* Adds a ball. `at` contains the components of its position in the tangent space of the base point, and `velocity`
 * those of its velocity in the frame at its position. */
static void place_ball(collision *k, double mass, double radius, const double *at, const double *velocity) {
  double x[CB_COORD_MAX] = {0}, v[CB_COORD_MAX] = {0};
  check_point_at(k->c.g, at, x);
  check_vector_at(k->c.g, x, velocity, v);
  add_ball(k, mass, radius, x, v);
}

static void add_room(collision *k, double radius) {
  double base[CB_COORD_MAX];
  cb_space_base_point(k->c.g, base);
  check_ok(cb_builder_wall_ball(k->c.builder, "room", -1, base, radius, true, 1));
}

/* Returns the sum of kinetic and potential energy. */
static double energy_of(const collision *k) {
  double sum = 0, potential;
  for (int b = 0; b < k->balls; b++) {
    double x[CB_COORD_MAX], v[CB_COORD_MAX];
    where_is(k, b, x, v);
    sum += 0.5 * cb_system_masses(k->c.system)[cb_system_index(k->c.system, b)] * cb_inner(k->c.g, v, v);
  }
  check_ok(cb_forces_potential(k->c.forces, k->c.state->t, k->c.state->x, &potential));
  return sum + potential;
}

/* Computes the momenta J of the rotations about the base point, under which the room is invariant, and returns their
 * number. */
static int rotations_of(const collision *k, double *J) {
  const cb_space *g = k->c.g;
  double all[CB_KILLING_MAX] = {0};
  int n = 0;
  for (int b = 0; b < k->balls; b++) {
    double x[CB_COORD_MAX], v[CB_COORD_MAX];
    where_is(k, b, x, v);
    for (int e = 0; e < g->embedding; e++) v[e] *= cb_system_masses(k->c.system)[cb_system_index(k->c.system, b)];
    cb_killing_momentum_add(g, x, v, all);
  }
  for (int i = 0; i < g->n_killing; i++)
    if (!strncmp(g->killing[i].name, "rotation", 8) && !strchr(g->killing[i].name, 'w')) J[n++] = all[i];
  return n;
}

static const char *const spaces[] = {"e3", "s3", "h3"};
static const char *const methods[] = {"lobatto {stages: 4}", "radau_iia {stages: 3}", "ida {rtol: 1e-11, atol: 1e-13}"};

/* The impulse and the speeds of the first contact of a rod's end with the wall of the room agree with the effective
 * mass. */
static void a_rigid_rod_hits_a_wall_with_its_effective_mass(void **unused) {
  static const double m[2] = {1, 2.6}, at[2][3] = {{0.5, 0.2, 0.1}, {-0.1, -0.3, 0.2}},
                      speed[2][3] = {{0.7, 0.4, 0.1}, {0.7, 0.4, 0.1}};
  for (int s = 0; s < 3; s++)
    for (int method = 0; method < 3; method++) {
      collision k;
      open_collision(&k, spaces[s], NULL);
      add_room(&k, 1.2);
      for (int b = 0; b < 2; b++) place_ball(&k, m[b], 0.1, at[b], speed[b]);
      check_ok(cb_builder_rod(k.c.builder, NULL, 0, 1, as_it_starts));
      collide(&k, methods[method], 0.02, 1.2);
      assert_true(k.events >= 1);
      const cb_event_row first = k.event[0];
      assert_int_equal(first.particle, 0);
      /* The run is repeated up to the time of the contact, to get the positions. */
      collide(&k, methods[method], 0.02, first.time);
      const oracle o = {.g = k.c.g};
      double x[2][CB_COORD_MAX], v[2][CB_COORD_MAX], centre[CB_COORD_MAX], n[CB_COORD_MAX], a[CB_COORD_MAX];
      for (int b = 0; b < 2; b++) where_is(&k, b, x[b], v[b]);
      cb_space_base_point(k.c.g, centre);
      const double tolerance = method == 2 ? 1e-7 : 1e-11;
      check_near(oracle_distance(&o, x[0], centre, NULL), 1.1, tolerance);
      oracle_away(&o, x[0], centre, n);
      oracle_away(&o, x[0], x[1], a);
      const double along = cb_inner(k.c.g, n, a),
                   inverse = 1 / m[0] - along * along / (m[0] * m[0]) / (1 / m[0] + 1 / m[1]);
      assert_true(fabs(along) > 0.1 && fabs(along) < 0.95);
      check_near(first.impulse, 2 * fabs(first.speed_before) / inverse, 10 * tolerance);
      check_near(first.speed_after, -first.speed_before, 10 * tolerance);
      close_collision(&k);
    }
}

/* Two rods, or two trusses, are in a room and touch the room and each other. Their constraints and the rates of these
 * are satisfied, and energy and angular momenta are conserved. */
static void rigid_bodies_in_a_room_keep_their_shapes_energy_and_angular_momenta(void **unused) {
  static const double at[2][3][3] = {{{-0.5, 0.1, 0.1}, {-0.9, -0.2, 0.15}, {-0.6, -0.1, 0.6}},
                                     {{0.5, 0.2, 0.0}, {0.9, -0.1, -0.2}, {0.55, -0.3, -0.5}}},
                      speed[2][3] = {{0.8, 0.1, -0.15}, {-0.7, 0.15, 0.1}};
  for (int s = 0; s < 3; s++)
    for (int corners = 2; corners <= 3; corners++)
      for (int method = 0; method < 2; method++) {
        collision k;
        open_collision(&k, spaces[s], NULL);
        add_room(&k, 1.4);
        for (int body = 0; body < 2; body++)
          for (int b = 0; b < corners; b++) place_ball(&k, 0.6 + 0.5 * b + 0.3 * body, 0.18, at[body][b], speed[body]);
        for (int body = 0; body < 2; body++)
          for (int b = 0; b < (corners == 2 ? 1 : 3); b++)
            check_ok(cb_builder_rod(k.c.builder, NULL, corners * body + b, corners * body + (b + 1) % corners,
                                    as_it_starts));
        check_ok(prepare(&k, methods[method], 0.01, 8));
        cb_state_copy(k.c.state, cb_run_current(k.run)); /* the start of the run, with velocities that the rods allow */
        double J0[CB_KILLING_MAX], J1[CB_KILLING_MAX];
        const double energy = energy_of(&k);
        const int n = rotations_of(&k, J0);
        check_ok(go_on(&k));
        int with_room = 0, together = 0;
        for (size_t e = 0; e < k.events; e++) {
          with_room += k.event[e].other < 0;
          together += k.event[e].other >= 0 && k.event[e].particle / corners != k.event[e].other / corners;
        }
        rotations_of(&k, J1);
        const double off = residual(&k.c), drift = fabs(energy_of(&k) - energy) / energy,
                     turn = check_distance_max(n, J0, J1);
        if (getenv("CB_TEST_SHOW"))
          print_message("%s, %d corners, %-22s %d with the room, %d together: rows %.3g, energy %.3g, momenta %.3g\n",
                        spaces[s], corners, methods[method], with_room, together, off, drift, turn);
        assert_true(with_room >= 4 && together >= 1);
        /* the bounds allow for the errors of the integrators, which have the orders 6 and 5 */
        check_at_most(off, 1e-10);
        check_at_most(drift, 1e-8);
        check_at_most(turn, method ? 1e-8 : 1e-11);
        close_collision(&k);
      }
}

/* Two spring triangles collide in each space. The balls at their corners do not overlap at the ends of steps. */
static void spring_triangles_collide_and_do_not_overlap(void **unused) {
  static const char *const all[] = {"e3", "s3", "h3", "h2xe"};
  static const double at[2][3][3] = {{{-0.9, 0.1, 0.1}, {-1.3, -0.2, 0.15}, {-1.0, -0.1, 0.55}},
                                     {{0.3, 0.15, 0.05}, {0.7, -0.1, -0.2}, {0.35, -0.3, -0.45}}},
                      speed[2][3] = {{0.9, 0.05, 0}, {-0.6, 0.02, 0.1}};
  for (int s = 0; s < 4; s++) {
    collision k;
    open_collision(&k, all[s], NULL);
    for (int body = 0; body < 2; body++)
      for (int b = 0; b < 3; b++) place_ball(&k, 1 + 0.4 * b + 0.3 * body, 0.2, at[body][b], speed[body]);
    for (int body = 0; body < 2; body++)
      for (int b = 0; b < 3; b++)
        check_ok(cb_builder_spring(k.c.builder, 3 * body + b, 3 * body + (b + 1) % 3, 8, -1, 0));
    check_ok(prepare(&k, "lobatto {stages: 5}", 0.01, 1));
    const double energy = energy_of(&k);
    cb_contacts *loop;
    cb_run_free(k.run);
    k.run = NULL;
    check_ok(cb_contacts_create(k.c.system, k.c.integrator, &loop));
    cb_sink sink = {&k, collision_row, collision_event, collision_checkpoint, NULL};
    double least = INFINITY;
    for (int i = 0; i < 300; i++) {
      cb_contacts_stop stopped;
      check_ok(cb_contacts_step(loop, k.c.state, 0.01, &sink, &stopped));
      for (int a = 0; a < 6; a++)
        for (int b = 0; b < a; b++) least = fmin(least, apart(&k, a, b) - 0.4);
    }
    if (getenv("CB_TEST_SHOW"))
      print_message("%s: %zu contacts, least gap %.3g, energy %.3g\n", all[s], k.events, least,
                    fabs(energy_of(&k) - energy) / energy);
    assert_true(k.events >= 2);
    check_at_least(least, -1e-12);
    check_near(energy_of(&k), energy, 1e-11 * energy);
    cb_contacts_free(loop);
    close_collision(&k);
  }
}

/* --- surfaces --- */

/* Adds a body of three particles of radius 0, which are joined by springs and form a triangle. Returns its first
 * particle. */
static int add_triangle(collision *k, const double at[3][3], const double *speed, double mass) {
  int body;
  check_ok(cb_builder_body(k->c.builder, k->balls ? "b" : "a", &body));
  const int first = k->balls;
  for (int b = 0; b < 3; b++) place_ball(k, mass * (1 + 0.3 * b), 0, at[b], speed);
  for (int b = 0; b < 3; b++) check_ok(cb_builder_spring(k->c.builder, first + b, first + (b + 1) % 3, 5, -1, 0));
  check_ok(cb_builder_triangle(k->c.builder, first, first + 1, first + 2));
  return first;
}

/* Returns the determinant of n points (its rows), with n = 3 in dimension 2 and n = 4 in dimension 3. It is 0 if the
 * points are on one line in dimension 2, or in one plane in dimension 3. */
static double coplanar(const cb_space *g, int n, double x[][CB_COORD_MAX]) {
  double m[4][4], det = 1;
  const bool flat = g->factor[0].curvature == 0;
  for (int i = 0; i < n; i++)
    for (int e = 0; e < n; e++) m[i][e] = flat && e == n - 1 ? 1 : x[i][e];
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int r = c; r < n; r++)
      if (fabs(m[r][c]) > fabs(m[pivot][c])) pivot = r;
    for (int e = 0; e < n; e++) {
      const double t = m[c][e];
      m[c][e] = m[pivot][e];
      m[pivot][e] = t;
    }
    if (pivot != c) det = -det;
    det *= m[c][c];
    for (int r = c + 1; r < n; r++) {
      const double factor = m[c][c] == 0 ? 0 : m[r][c] / m[c][c];
      for (int e = 0; e < n; e++) m[r][e] -= factor * m[c][e];
    }
  }
  return det;
}

typedef struct surfaces {
  const char *space, *what;
  double a[3][3], b[3][3], speed[3];
} surfaces;

/* At the first contact of two triangle bodies, the points of the features that touch (corner and edge, corner and face,
 * or two edges) are on one line in dimension 2, or in one plane in dimension 3. Energy and angular momenta are
 * conserved. */
static void surfaces_meet_where_their_points_come_to_lie_in_one_plane(void **unused) {
  static const surfaces cases[] = {
      {"e2", "corner on edge", {{0, 0.6}, {0, -0.6}, {-0.7, 0}}, {{0.5, 0.1}, {1.1, 0.5}, {1.2, -0.3}}, {-0.8, 0.1}},
      {"s2", "corner on edge", {{0, 0.6}, {0, -0.6}, {-0.7, 0}}, {{0.4, 0.1}, {0.9, 0.5}, {1, -0.3}}, {-0.8, 0.1}},
      {"h2", "corner on edge", {{0, 0.6}, {0, -0.6}, {-0.7, 0}}, {{0.5, 0.1}, {1.1, 0.5}, {1.2, -0.3}}, {-0.8, 0.1}},
      {"e3",
       "corner on face",
       {{0.6, 0, 0}, {-0.5, 0.5, 0}, {-0.4, -0.6, 0}},
       {{0.05, 0, 0.4}, {0.3, 0.2, 0.9}, {-0.3, 0.1, 0.8}},
       {0.05, 0, -0.9}},
      {"s3",
       "corner on face",
       {{0.6, 0, 0}, {-0.5, 0.5, 0}, {-0.4, -0.6, 0}},
       {{0.05, 0, 0.4}, {0.3, 0.2, 0.9}, {-0.3, 0.1, 0.8}},
       {0.05, 0, -0.9}},
      {"h3",
       "corner on face",
       {{0.6, 0, 0}, {-0.5, 0.5, 0}, {-0.4, -0.6, 0}},
       {{0.05, 0, 0.4}, {0.3, 0.2, 0.9}, {-0.3, 0.1, 0.8}},
       {0.05, 0, -0.9}},
      {"e3",
       "edge on edge",
       {{0.6, 0, 0}, {-0.6, 0.05, 0}, {0, 0.1, -0.7}},
       {{0.05, 0.5, 0.4}, {0, -0.6, 0.45}, {0.1, 0, 1.1}},
       {0, 0.05, -0.9}},
      {"s3",
       "edge on edge",
       {{0.6, 0, 0}, {-0.6, 0.05, 0}, {0, 0.1, -0.7}},
       {{0.05, 0.5, 0.4}, {0, -0.6, 0.45}, {0.1, 0, 1.1}},
       {0, 0.05, -0.9}},
      {"h3",
       "edge on edge",
       {{0.6, 0, 0}, {-0.6, 0.05, 0}, {0, 0.1, -0.7}},
       {{0.05, 0.5, 0.4}, {0, -0.6, 0.45}, {0.1, 0, 1.1}},
       {0, 0.05, -0.9}}};
  static const double still[3] = {0};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const surfaces *s = &cases[c];
    for (int fast = 0; fast < 2; fast++) {
      collision k;
      double speed[3], J0[CB_KILLING_MAX], J1[CB_KILLING_MAX];
      memset(&k, 0, sizeof k);
      open_space(&k.c, s->space);
      check_ok(cb_builder_contacts(k.c.builder, &elastic));
      add_triangle(&k, s->a, still, 1);
      for (int i = 0; i < 3; i++) speed[i] = (fast ? 8 : 1) * s->speed[i];
      add_triangle(&k, s->b, speed, 0.7);
      const double end = fast ? 0.11 : 0.8, step = fast ? 0.05 : 0.01;
      check_ok(prepare(&k, "lobatto {stages: 5}", step, end));
      const double energy = energy_of(&k);
      const int n = rotations_of(&k, J0);
      check_ok(go_on(&k));
      if (k.events < 1) fail_msg("%s, %s: no contact", s->space, s->what);
      const cb_event_row first = k.event[0];
      rotations_of(&k, J1);
      if (getenv("CB_TEST_SHOW"))
        print_message("%s, %s: %zu contacts, the first at %.6f of %d and %d, gap %.2g; energy %.3g, momenta %.3g\n",
                      s->space, s->what, k.events, first.time, first.particle, first.other, first.gap,
                      fabs(energy_of(&k) - energy), check_distance_max(n, J0, J1));
      /* a fast body moves by about a third of a unit of length per step */
      check_near(energy_of(&k), energy, (fast ? 1e-6 : 1e-11) * energy);
      check_at_most(check_distance_max(n, J0, J1), 1e-11);
      check_near(first.gap, 0, 1e-12);
      /* the same run up to the contact, to get the positions */
      collide(&k, "lobatto {stages: 5}", step, first.time);
      double x[4][CB_COORD_MAX], v[CB_COORD_MAX];
      const bool plane = k.c.g->dim == 2, face = !strcmp(s->what, "corner on face");
      const int features[3][4] = {{3, 0, 1}, {3, 0, 1, 2}, {0, 1, 3, 4}}, *who = features[plane ? 0 : face ? 1 : 2];
      for (int i = 0; i < (plane ? 3 : 4); i++) where_is(&k, who[i], x[i], v);
      check_near(coplanar(k.c.g, plane ? 3 : 4, x), 0, 1e-12);
      close_collision(&k);
    }
  }
}

/* A strip of four triangles folds along its middle. Without contacts one half of it passes through the other; with
 * contacts within the body it does not. The outer corners of the halves are 0, 1 and 4, 5; the common edge is 2, 3. */
static void a_body_folds_onto_itself_and_not_through(void **unused) {
  static const double at[6][3] = {{-0.55, -0.4, 0.35}, {-0.5, 0.45, 0.3},   {0, -0.5, 0},
                                  {0.02, 0.5, 0.03},   {0.35, -0.25, 0.45}, {0.4, 0.3, 0.4}},
                      speed[6][3] = {{0.9, 0.02, 0.6}, {0.8, 0, 0.55},   {0, 0, 0},
                                     {0, 0, 0},        {-0.15, 0, -0.1}, {-0.1, 0, -0.05}};
  static const int face[4][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {3, 5, 4}};
  for (int s = 0; s < 3; s++) {
    int crossed[2];
    for (int on = 0; on < 2; on++) {
      collision k;
      memset(&k, 0, sizeof k);
      open_space(&k.c, spaces[s]);
      check_ok(cb_builder_contacts(k.c.builder, &elastic));
      if (on) check_ok(cb_builder_contact_bodies(k.c.builder, 0, 0, true));
      for (int b = 0; b < 6; b++) place_ball(&k, 1 + 0.2 * b, 0, at[b], speed[b]);
      static const int edge[][2] = {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}, {3, 5}, {4, 5}};
      for (int e = 0; e < 9; e++) check_ok(cb_builder_spring(k.c.builder, edge[e][0], edge[e][1], 30, -1, 0));
      for (int f = 0; f < 4; f++) check_ok(cb_builder_triangle(k.c.builder, face[f][0], face[f][1], face[f][2]));
      check_ok(prepare(&k, "lobatto {stages: 4}", 0.01, 1.6));
      const double energy = energy_of(&k);
      double x[4][CB_COORD_MAX], v[CB_COORD_MAX], before;
      static const int who[4] = {4, 0, 1, 2};
      for (int i = 0; i < 4; i++) where_is(&k, who[i], x[i], v);
      before = coplanar(k.c.g, 4, x);
      check_ok(go_on(&k));
      for (int i = 0; i < 4; i++) where_is(&k, who[i], x[i], v);
      crossed[on] = before * coplanar(k.c.g, 4, x) < 0;
      if (getenv("CB_TEST_SHOW"))
        print_message("%s %s: %zu contacts, %s, energy %.3g\n", spaces[s], on ? "on" : "off", k.events,
                      crossed[on] ? "through" : "not through", fabs(energy_of(&k) - energy) / energy);
      check_near(energy_of(&k), energy, 1e-6 * energy);
      assert_true(on ? k.events > 0 : k.events == 0);
      close_collision(&k);
    }
    assert_true(crossed[0] && !crossed[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_rod_hits_a_wall_with_its_effective_mass),
      cmocka_unit_test(rigid_bodies_in_a_room_keep_their_shapes_energy_and_angular_momenta),
      cmocka_unit_test(spring_triangles_collide_and_do_not_overlap),
      cmocka_unit_test(surfaces_meet_where_their_points_come_to_lie_in_one_plane),
      cmocka_unit_test(a_body_folds_onto_itself_and_not_through),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
