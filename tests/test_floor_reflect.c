/* labels: medium
 * Reflections off a floor: times and heights of bounces in closed form, what an impulse keeps, several vertices at
 * once, what rests, what piles up, what moves by itself, what is not to be passed over, and failures. */
#include "floor_drop.h"
#include "fluid_mesh.h"

static const cb_pose upright = {{1, 0, 0, 0}, {0, 0, 1}};

/* --- a ball --- */

/* Of radius 1/4 with its lowest vertex below its centre. */
static drop *ball(double restitution, int method) {
  mesh m = mesh_ellipsoid(4, 0.25, 0.25, 0.25); /* of even division: has poles */
  const body b = drop_body(0.02, 0.02, 0.02);
  drop *d = drop_create(&b, restitution, m.vertices, (const double(*)[3])m.x, method);
  free(m.x), free(m.face), free(m.part);
  return d;
}

/* From rest at a height z of its lowest vertex it meets the floor at T, then after 2 e^k T again: heights e^2k z. */
static void a_ball_bounces_at_the_times_and_to_the_heights_of_the_parabola(void **unused) {
  (void)unused;
  for (int method = 0; method <= RKMK4; method++) {
    if (method == CB_SE3_TLN) continue;
    drop *d = ball(0.8, method);
    cb_rigid_state s;
    static const double rest[6];
    check_ok(cb_rigid_start(&d->p, 0, &upright, rest, &s));
    const double T = sqrt(2 * 0.75 / 10), h = 0.01;
    double time = T, speed = 10 * T, highest = 0;
    int seen = 0;
    for (int n = 0; n < 300; n++) {
      check_ok(drop_try(d, h, &s));
      check_near(s.t, h * (n + 1), 1e-13);
      check_at_least(drop_gap(d, &s), -1e-15);
      /* the highest of the parabola that it is on, from height and speed */
      highest = s.g.x[2] - 0.25 + s.momentum[5] * s.momentum[5] / 20;
      check_near(highest, 0.75 * pow(0.8, 2 * d->hits), 1e-13);
      if (d->hits == seen) continue;
      assert_int_equal(d->hits, seen + 1);
      seen++;
      check_near(d->last.time, time, 1e-12);
      check_near(d->last.speed_before, -speed, 1e-12);
      check_near(d->last.speed_after, 0.8 * speed, 1e-12);
      check_near(d->last.impulse, 1.8 * speed, 1e-12);
      check_near(d->last.gap, 0, 1e-15);
      speed *= 0.8;
      time += 2 * speed / 10;
    }
    assert_int_equal(seen, 9);
    for (int i = 0; i < 3; i++) assert_true(s.momentum[i] == 0);
    drop_free(d);
  }
}

/* A tripod of restitution 1/2: an infinite number of bounces by 3 T, then it stands where it is for ever. */
static void bounces_without_end_pile_up_and_rest(void **unused) {
  (void)unused;
  static const double foot[3][3] = {{0.1, 0, -0.25}, {-0.05, 0.1, -0.25}, {-0.06, -0.09, -0.25}};
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    const body b = drop_body(0.02, 0.02, 0.02);
    drop *d = drop_create(&b, 0.5, 3, foot, method);
    cb_rigid_state s, lies;
    /* stages of rkmk4 turn a body that falls and glides, by O(h^5) a step: it would not land flat */
    const double glide = method == RKMK4 ? 0 : 0.3, Y[6] = {0, 0, 0, glide, -glide, 0};
    check_ok(cb_rigid_start(&d->p, 0, &upright, Y, &s));
    const double h = 0.01;
    for (int n = 0; n < 130; n++) check_ok(drop_try(d, h, &s));
    check_at_least(d->hits, 15);
    check_near(d->last.time, 3 * sqrt(0.15), 3e-5); /* flights below 1e-3 h = 1e-5 are none */
    lies = s;
    const int steps = d->steps;
    for (int n = 0; n < 1000; n++) check_ok(drop_try(d, h, &s));
    print_message("  method %d: %d reflections, then %.1f trials a step at rest\n", method, d->hits,
                  (d->steps - steps) / 1000.);
    check_near(s.g.x[2], 0.25, 1e-15);
    check_near(s.momentum[5], 0, 1e-13);
    check_near(s.g.x[0] - lies.g.x[0], 10 * glide, 1e-12); /* it glides on, without friction */
    check_near(s.momentum[3], glide, 1e-14);
    for (int i = 0; i < 3; i++) check_near(s.momentum[i], 0, 1e-14);
    check_at_most((d->steps - steps) / 1000., 5);
    drop_free(d);
  }
}

/* Of restitution 0.99 it would bounce some 2000 times before the flights are too short to tell: it is held before. */
static void a_pile_is_held_before_it_costs_much(void **unused) {
  (void)unused;
  static const double foot[3][3] = {{0.1, 0, -0.25}, {-0.05, 0.1, -0.25}, {-0.06, -0.09, -0.25}};
  const body b = drop_body(0.02, 0.02, 0.02);
  drop *d = drop_create(&b, 0.99, 3, foot, CB_SE3_CAYLEY);
  const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.25 + 0.001}};
  static const double rest[6];
  cb_rigid_state s;
  check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
  for (int n = 0; n < 300; n++) check_ok(drop_try(d, 0.01, &s));
  check_near(s.g.x[2], 0.25, 1e-15);
  check_near(d->last.time, 1.99 / 0.01 * sqrt(0.0002), 0.01);
  assert_true(d->hits < 3 * 1000);
  drop_free(d);
}

/* --- what a blow keeps --- */

static const double rod[2][3] = {{0.5, 0, 0}, {-0.5, 0, 0}};
static const cb_pose tilted = {{0.9, 0.1, 0.3, -0.3}, {0, 0, 1}};

static cb_pose unit(cb_pose g) {
  double size = 0;
  for (int i = 0; i < 4; i++) size += g.q[i] * g.q[i];
  for (int i = 0; i < 4; i++) g.q[i] /= sqrt(size);
  return g;
}

static void box_points(const double a[3], double x[8][3]) {
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++) x[i][k] = (i >> k & 1 ? 1 : -1) * a[k];
}

/* A box with a full tensor (as of added mass), restitution 1: no blow of 1000 changes the energy, nor all of them. */
static void a_thousand_blows_keep_the_energy_with_a_full_tensor(void **unused) {
  (void)unused;
  body b = {.weight = 1.5, .moment = {.1, -.05, .08}, .g = {0, 0, -10}};
  generic_tensor(b.K0);
  double x[8][3];
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    drop *d = drop_create(&b, 1, 8, (const double(*)[3])x, method);
    const cb_pose g = unit(tilted);
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
  (void)unused;
  body b = {.weight = 1.5, .moment = {.1, -.05, .08}, .g = {0, 0, -10}};
  generic_tensor(b.K0);
  double x[8][3];
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  drop *d = drop_create(&b, 0.9, 8, (const double(*)[3])x, CB_SE3_CAYLEY);
  const cb_pose g = unit(tilted);
  cb_rigid_state s;
  check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
  s.g.x[2] = 2;
  for (int n = 0; n < 2000; n++) check_ok(drop_try(d, 0.01, &s));
  check_at_least(d->blows, 20);
  check_at_most(d->energy_gained, 1e-14);
  check_at_least(d->energy_lost, 0.1);
  drop_free(d);
}

/* The impulse is along up at the vertex: of the momentum about it only the part along up changes, by the impulse, and
 * nothing turns about it. */
static void a_tilted_rod_keeps_its_angular_momentum_about_the_place_of_contact(void **unused) {
  (void)unused;
  for (int tensor = 0; tensor < 2; tensor++) {
    body b = drop_body(0.01, 1. / 12, 1. / 12);
    if (tensor) generic_tensor(b.K0);
    drop *d = drop_create(&b, 0.7, 2, rod, CB_SE3_CAYLEY);
    const cb_pose g = unit(tilted);
    cb_rigid_state s, before;
    check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
    while (d->hits == 0) {
      before = s;
      check_ok(drop_try(d, 0.01, &s));
    }
    /* up to the contact and after it by single steps */
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
      for (int i = 0; i < 3; i++) m[k][i] = at->world[i] + turn[i], m[k][3 + i] = at->world[3 + i];
      check_ok(d->p.inertia(d->p.self, 0, &at->g, K, mu0));
      check_ok(cb_rigid_velocity(K, at->momentum, mu0, Y[k]));
    }
    for (int i = 0; i < 5; i++) check_near(m[1][i], m[0][i], 1e-12);
    check_near(m[1][5] - m[0][5], d->last.impulse, 1e-12);
    /* v+ = -e v-, J = -(1 + e) v-/(w^T K^-1 w) */
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

/* --- several vertices in one instant --- */

static void a_box_that_lands_flat_does_not_spin(void **unused) {
  (void)unused;
  double x[8][3];
  box_points((double[3]){0.4, 0.3, 0.2}, x);
  for (int method = 0; method <= RKMK4; method += RKMK4)
    for (int turned = 0; turned < 3; turned++) {
      const body b = drop_body(0.13 / 3, 0.2 / 3, 0.25 / 3);
      drop *d = drop_create(&b, 0.8, 8, (const double(*)[3])x, method);
      cb_rigid_state s;
      cb_pose g = upright; /* turned: its up is not exactly the world's, or by no more than meets together */
      if (turned) g = unit((cb_pose){{1, turned > 1 ? 1e-13 : 1e-17, 0, 0.3}, {0, 0, 1}});
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

/* A disc with a thousand vertices at its rim: as many meet the floor at once. */
static void a_disc_of_a_thousand_vertices_lands_flat(void **unused) {
  (void)unused;
  static double x[1000][3];
  for (int i = 0; i < 1000; i++) x[i][0] = cos(2 * PI * i / 1000), x[i][1] = sin(2 * PI * i / 1000);
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
  for (int n = 0; n < 150; n++) check_ok(drop_try(d, 0.01, &s)); /* piled up by 3 T */
  check_near(s.g.x[2], 0, 1e-15);
  check_near(s.momentum[5], 0, 1e-13);
  check_near(s.momentum[2], 1, 1e-12);
  drop_free(d);
}

/* A cube on an edge of its floor, of restitution 0.5, from every tilt: falls over, rocks, comes to rest flat. */
static void tilted_boxes_come_to_rest_flat(void **unused) {
  (void)unused;
  double x[8][3];
  uint64_t seed = check_seed();
  box_points((double[3]){0.4, 0.3, 0.2}, x);
  const body b = drop_body(0.13 / 3, 0.2 / 3, 0.25 / 3);
  for (int trial = 0; trial < 8; trial++) {
    drop *d = drop_create(&b, 0.3, 8, (const double(*)[3])x, trial % 2 ? RKMK4 : CB_SE3_CAYLEY);
    cb_pose g = {{0}, {0, 0, 1}};
    double Y[6];
    for (int i = 0; i < 4; i++) g.q[i] = check_uniform(&seed, -1, 1);
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -2, 2);
    g = unit(g);
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, Y, &s));
    double energy = drop_energy(d, &s);
    int most = 0;
    for (int n = 0; n < 1500; n++) {
      const int steps = d->steps;
      check_ok(drop_try(d, 0.005, &s));
      if (d->steps - steps > most) most = d->steps - steps;
      check_at_least(drop_gap(d, &s), -3e-14);
      const double now = drop_energy(d, &s);
      check_at_most(now, energy + 2e-3);
      energy = fmin(now, energy);
    }
    /* without friction it glides and turns about up; a face lies on the floor */
    double r[3][3];
    cb_pose_rotation(&s.g, r);
    double flat = 0;
    for (int i = 0; i < 3; i++) flat = fmax(flat, fabs(r[2][i]));
    print_message("  height %.6f, %d reflections, at most %d trials a step\n", s.g.x[2], d->hits, most);
    check_near(flat, 1, 1e-13);
    check_near(drop_gap(d, &s), 0, 1e-14);
    check_near(s.momentum[5] * r[2][2] + s.momentum[4] * r[2][1] + s.momentum[3] * r[2][0], 0, 1e-12);
    drop_free(d);
  }
}

/* --- order, symmetry --- */

static body tumbling_body(void) {
  body b = {.weight = 1.5, .moment = {.1, -.05, .08}, .g = {0, 0, -10}};
  generic_tensor(b.K0);
  return b;
}

static cb_rigid_state run_down(int method, int steps, double time, int *hits) {
  double x[8][3];
  const body b = tumbling_body();
  const cb_pose g = unit(tilted);
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  drop *d = drop_create(&b, 0.8, 8, (const double(*)[3])x, method);
  cb_rigid_state s;
  check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
  s.g.x[2] = 2;
  for (int n = 0; n < steps; n++) {
    check_ok(drop_try(d, time / steps, &s));
    s.t = time * (n + 1) / steps;
  }
  *hits = d->hits;
  drop_free(d);
  return s;
}

/* Three blows in the run, wherever they are in a step. */
static void second_order_and_rkmk4_fourth_with_reflections(void **unused) {
  (void)unused;
  enum { COUNT = 6 };
  const double time = 2.2;
  int hits;
  const cb_rigid_state exact = run_down(RKMK4, 12000, time, &hits);
  print_message("  %d reflections\n", hits);
  assert_true(hits >= 3);
  for (int method = 0; method <= RKMK4; method++) {
    double error[COUNT];
    for (int i = 0; i < COUNT; i++) {
      int own;
      const cb_rigid_state s = run_down(method, (method == RKMK4 ? 70 : 100) << i, time, &own);
      assert_int_equal(own, hits);
      error[i] = state_distance(&s, &exact);
    }
    print_message("  method %d: errors %.2e .. %.2e, order %.3f\n", method, error[0], error[COUNT - 1],
                  fitted_order(error, COUNT));
    check_near(fitted_order(error, COUNT), method == RKMK4 ? 4 : 2, method == RKMK4 ? 0.15 : 0.05);
  }
}

/* With restitution 1: forward, turned round, back. */
static void symmetric_in_time(void **unused) {
  (void)unused;
  double x[8][3];
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  for (int map = 0; map < 3; map++) {
    const body b = tumbling_body();
    const cb_pose g = unit(tilted);
    drop *d = drop_create(&b, 1, 8, (const double(*)[3])x, map);
    cb_rigid_state first, s;
    check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &first));
    first.g.x[2] = 2;
    s = first;
    for (int way = 0; way < 2; way++) {
      for (int n = 0; n < 100; n++) check_ok(drop_try(d, 0.025, &s));
      for (int i = 0; i < 6; i++) s.world[i] *= -1, s.world_low[i] *= -1, s.momentum[i] *= -1;
      if (!way) assert_true(d->hits >= 3);
      if (!way) check_at_least(state_distance(&s, &first), 0.1);
    }
    print_message("  map %d: %d reflections, back to %.1e\n", map, d->hits, state_distance(&s, &first));
    check_at_most(state_distance(&s, &first), 1e-9); /* round-off, grown by tumbling */
    drop_free(d);
  }
}

/* A rod of half length l and moment of inertia I that stands at an angle q from upright with its foot on the floor: its
 * centre falls straight down, and the foot never leaves,
 *   q'^2 (I + l^2 sin^2 q) = 2 g l (cos q0 - cos q) */
static void a_rod_slides_down_on_its_foot(void **unused) {
  (void)unused;
  static const double foot[1][3] = {{0, 0, -0.5}};
  const double start = 0.3, I = 1. / 12;
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    double error[4];
    for (int i = 0; i < 4; i++) {
      const body b = drop_body(I, I, 0.01);
      drop *d = drop_create(&b, 0.5, 1, foot, method);
      const cb_pose g = {{cos(start / 2), sin(start / 2), 0, 0}, {0.2, 0.1, 0.5 * cos(start)}};
      static const double rest[6];
      cb_rigid_state s;
      check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
      error[i] = 0;
      for (int n = 0; n < 25 << i; n++) {
        check_ok(drop_try(d, 0.5 / (25 << i), &s));
        const double q = 2 * atan2(s.g.q[1], s.g.q[0]), speed = s.momentum[0] / I;
        check_near(drop_gap(d, &s), 0, 1e-14);
        for (int k = 0; k < 2; k++) /* stages of rkmk4 drift by O(h^5) */
          check_near(s.g.x[k] + s.x_low[k], g.x[k], method == RKMK4 ? 1e-4 : 1e-14);
        error[i] = fmax(error[i], fabs(speed * speed * (I + sin(q) * sin(q) / 4) - 10 * (cos(start) - cos(q))));
        if (n + 1 == 25 << i) check_at_least(q, 1);
      }
      assert_int_equal(d->hits, 0);
      drop_free(d);
    }
    print_message("  method %d: errors %.1e .. %.1e, order %.2f\n", method, error[0], error[3], fitted_order(error, 4));
    check_near(fitted_order(error, 4), 2, 0.15);
  }
}

/* --- shapes that move, what is not passed over, failures --- */

/* A body at rest on the floor, without gravity, pushes a vertex out: v of the vertex is that of the shape. */
static void a_vertex_that_moves_pushes_off(void **unused) {
  (void)unused;
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    body b = drop_body(0.02, 0.02, 0.02);
    memset(b.g, 0, sizeof b.g);
    static const double x[1][3] = {{0, 0, -0.25}};
    drop *d = drop_create(&b, 0.5, 1, x, method);
    d->move[0][2] = -0.1, d->beat = 2;
    const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.25 + 0.05}};
    static const double rest[6];
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
    /* 0.05 = 0.1 sin 2t: t = pi/12, speed 0.2 cos(pi/6); then v- = -speed, v+ = speed/2: the body rises by 3/2 speed */
    while (d->hits == 0) check_ok(drop_try(d, 0.01, &s));
    const double speed = 0.2 * cos(PI / 6);
    check_near(d->last.time, PI / 12, 1e-13);
    check_near(d->last.speed_before, -speed, 1e-13);
    check_near(d->last.speed_after, speed / 2, 1e-13);
    check_near(s.momentum[5], 1.5 * speed, 1e-13);
    for (int n = 0; n < 200; n++) check_ok(drop_try(d, 0.01, &s));
    assert_int_equal(d->hits, 1);
    drop_free(d);
  }
}

/* It rests on three feet in gravity, draws them up and pushes them out again, gently and with 0.97 of gravity: the feet
 * stay on the floor. */
static void a_resting_body_stands_on_feet_that_move(void **unused) {
  (void)unused;
  static const double foot[3][3] = {{0.1, 0, -0.25}, {-0.05, 0.1, -0.25}, {-0.06, -0.09, -0.25}};
  for (int method = 0; method <= RKMK4; method += RKMK4)
    for (int quick = 0; quick < 2; quick++) {
      const body b = drop_body(0.02, 0.02, 0.02);
      drop *d = drop_create(&b, 0.5, 3, foot, method);
      for (int i = 0; i < 3; i++) d->move[i][2] = 0.02;
      d->beat = quick ? 22 : 3;
      const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.25}};
      const double speed = 0.02 * d->beat, Y[6] = {0, 0, 0, 0, 0, -speed};
      cb_rigid_state s;
      check_ok(cb_rigid_start(&d->p, 0, &g, Y, &s));
      for (int n = 0; n < 500; n++) {
        check_ok(drop_try(d, 0.01, &s));
        check_near(s.g.x[2], 0.25 - 0.02 * sin(d->beat * s.t), 1e-14);
        check_near(s.momentum[5], -speed * cos(d->beat * s.t), 1e-14);
      }
      assert_int_equal(d->hits, 0);
      drop_free(d);
    }
}

/* What begins below the floor is not let deeper, and may rise. */
static void what_begins_below_stays_or_rises(void **unused) {
  (void)unused;
  static const double foot[3][3] = {{0.1, 0, -0.25}, {-0.05, 0.1, -0.25}, {-0.06, -0.09, -0.25}};
  const body b = drop_body(0.02, 0.02, 0.02);
  for (int rises = 0; rises < 2; rises++) {
    drop *d = drop_create(&b, 0.5, 3, foot, CB_SE3_CAYLEY);
    const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.24}};
    const double Y[6] = {0, 0, 0, 0, 0, rises ? 1 : -1};
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, Y, &s));
    check_ok(drop_try(d, 0.01, &s));
    if (rises) check_near(s.g.x[2], 0.24 + 0.01 - 0.0005, 1e-15);
    if (!rises) check_near(d->last.speed_after, 0.5, 1e-14);
    for (int n = 0; n < 100; n++) {
      check_ok(drop_try(d, 0.01, &s));
      check_at_least(drop_gap(d, &s), -0.01 - 1e-14);
    }
    check_near(s.g.x[2], 0.25, 1e-14);
    s.g.x[2] = 0.24;
    for (int n = 0; n < 100; n++) check_ok(drop_try(d, 0.01, &s));
    check_near(s.g.x[2], 0.24, 1e-13);
    drop_free(d);
  }
}

/* A rod that turns by 2.9 (or 3.14) in a step without gravity: an end passes below the floor by 1e-7 to 0.05 and comes
 * back. */
static void a_dip_within_a_step_is_not_passed_over(void **unused) {
  (void)unused;
  for (int method = CB_SE3_EXPONENTIAL; method <= RKMK4; method += 2) { /* both turn it as it turns */
    for (int k = 0; k < (method == RKMK4 ? 40 : 20); k++) {
      body b = drop_body(0.01, 1. / 12, 1. / 12);
      memset(b.g, 0, sizeof b.g);
      drop *d = drop_create(&b, 1, 2, rod, method);
      const double angle = 0.1 * k / 20, low = 1e-7 * pow(10, 0.3 * (k % 20)), spin = k < 20 ? 2.9 : 3.14;
      const cb_pose g = {{cos(angle), 0, sin(angle), 0}, {0, 0, 0.5 - fmin(low, 0.05)}};
      const double Y[6] = {0, spin};
      cb_rigid_state s;
      check_ok(cb_rigid_start(&d->p, 0, &g, Y, &s));
      check_ok(drop_try(d, 1, &s));
      assert_true(k >= 20 ? d->hits >= 1 : d->hits == 1);
      check_near(sin(2 * angle + spin * d->first.time), 2 * g.x[2], 1e-13);
      drop_free(d);
    }
  }
}

/* A vertex that beats out and back within a step. */
static void a_beat_of_the_shape_within_a_step_is_not_passed_over(void **unused) {
  (void)unused;
  body b = drop_body(0.02, 0.02, 0.02);
  memset(b.g, 0, sizeof b.g);
  static const double x[1][3] = {{0, 0, -0.25}};
  for (int k = 0; k < 10; k++) {
    drop *d = drop_create(&b, 1, 1, x, CB_SE3_CAYLEY);
    d->move[0][2] = -0.1, d->beat = 3;
    const double depth = 0.05 * pow(10, -0.7 * k);
    const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.25 + 0.1 - depth}};
    static const double rest[6];
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
    check_ok(drop_try(d, 1, &s)); /* beats out by 0.1 sin 3t */
    assert_int_equal(d->hits, 1);
    check_near(sin(3 * d->last.time), 1 - 10 * depth, 1e-13);
    drop_free(d);
  }
}

static void failures_leave_the_state_untouched(void **unused) {
  (void)unused;
  drop *d = ball(0.5, CB_SE3_CAYLEY);
  static const double rest[6];
  cb_rigid_state s, before;
  check_ok(cb_rigid_start(&d->p, 0, &upright, rest, &s));
  for (int n = 0; n < 38; n++) check_ok(drop_try(d, 0.01, &s));
  before = s;
  const int steps = d->steps;
  check_ok(drop_try(d, 0.01, &s));
  const int needed = d->steps - steps, hits = d->hits;
  const cb_rigid_state after = s;
  assert_int_equal(hits, 1);
  for (int k = 1; k <= needed; k++) { /* whichever trial fails */
    s = before;
    d->fail_at = d->steps + k;
    assert_int_equal(drop_try(d, 0.01, &s), CB_STEP_DOMAIN);
    assert_memory_equal(&s, &before, sizeof s);
    assert_int_equal(d->hits, hits); /* nothing is told of it */
  }
  d->fail_at = 0;
  check_ok(drop_try(d, 0.01, &s));
  assert_memory_equal(&s, &after, sizeof s);
  for (int k = 0; k < 3; k++) {
    s = before;
    assert_int_equal(drop_try(d, (double[]){0, -0.01, NAN}[k], &s), CB_ERROR_ARGUMENT);
    assert_memory_equal(&s, &before, sizeof s);
  }
  d->x[3][0] = NAN;
  assert_int_equal(drop_try(d, 0.01, &s), CB_STEP_NOT_FINITE);
  assert_memory_equal(&s, &before, sizeof s);
  drop_free(d);
}

/* The same bits from a copy of the state and other work arrays. */
static void a_copy_continues_with_the_same_bits(void **unused) {
  (void)unused;
  double x[8][3];
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  const body b = tumbling_body();
  const cb_pose g = unit(tilted);
  drop *d = drop_create(&b, 0.5, 8, (const double(*)[3])x, CB_SE3_CAYLEY);
  cb_rigid_state s, copy;
  check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
  s.g.x[2] = 2;
  for (int n = 0; n < 150; n++) check_ok(drop_try(d, 0.01, &s));
  copy = s;
  for (int n = 0; n < 150; n++) check_ok(drop_try(d, 0.01, &s));
  drop *other = drop_create(&b, 0.5, 8, (const double(*)[3])x, CB_SE3_CAYLEY);
  for (int n = 0; n < 150; n++) check_ok(drop_try(other, 0.01, &copy));
  assert_memory_equal(&s, &copy, sizeof s);
  drop_free(d);
  drop_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_bounces_at_the_times_and_to_the_heights_of_the_parabola),
      cmocka_unit_test(bounces_without_end_pile_up_and_rest),
      cmocka_unit_test(a_pile_is_held_before_it_costs_much),
      cmocka_unit_test(a_thousand_blows_keep_the_energy_with_a_full_tensor),
      cmocka_unit_test(of_lesser_restitution_no_blow_gains_energy),
      cmocka_unit_test(a_tilted_rod_keeps_its_angular_momentum_about_the_place_of_contact),
      cmocka_unit_test(a_box_that_lands_flat_does_not_spin),
      cmocka_unit_test(a_disc_of_a_thousand_vertices_lands_flat),
      cmocka_unit_test(tilted_boxes_come_to_rest_flat),
      cmocka_unit_test(second_order_and_rkmk4_fourth_with_reflections),
      cmocka_unit_test(symmetric_in_time),
      cmocka_unit_test(a_rod_slides_down_on_its_foot),
      cmocka_unit_test(a_vertex_that_moves_pushes_off),
      cmocka_unit_test(a_resting_body_stands_on_feet_that_move),
      cmocka_unit_test(what_begins_below_stays_or_rises),
      cmocka_unit_test(a_dip_within_a_step_is_not_passed_over),
      cmocka_unit_test(a_beat_of_the_shape_within_a_step_is_not_passed_over),
      cmocka_unit_test(failures_leave_the_state_untouched),
      cmocka_unit_test(a_copy_continues_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
