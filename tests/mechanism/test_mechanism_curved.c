/* Tests of joined bodies in spaces of constant curvature K: known results, orders, conserved quantities, the limit of
 * flat space, and large distances from the base point (equations: mechanism/mechanism_curved.c). */
#include "numerics/numerics_curved.h"
#include "numerics/small.h"
#include "random_joints.h"

/* --- two bodies with a ball joint --- */

/* Computes the normal coordinates of the point whose first three coordinates in the embedding are p. */
static void normal_of(double K, const double p[3], double out[3]) {
  const double y[4] = {p[0], p[1], p[2], sqrt(1 - K * cb_dot3(p, p))};
  cb_curved_normal(K, y, out);
}

/* Adds a body whose inertia is a diagonal matrix with the entries `inertia`. */
static void add_diagonal(joined *s, const double inertia[6]) {
  joined_body *b = &s->body[s->n++];
  double K[6][6] = {{0}};
  for (int i = 0; i < 6; i++) K[i][i] = inertia[i];
  check_ok(cb_rigid_constant_of((const double(*)[6])K, (double[6]){0}, &b->constant));
  b->problem = (cb_rigid_problem){
      .self = b, .inertia = joined_inertia, .constant = &b->constant, .exact = true, .curvature = s->curvature};
}

static void rates_of_spin(const cb_joint *j, const double q[3], const double spin[3], double rate[3]) {
  cb_joint_motion motion = {.q = {q[0], q[1], q[2]}};
  double D[9];
  int pivot[3];
  cb_pose m;
  j->class_->place(q, &j->data, &m);
  j->class_->find(&m, &j->data, &motion);
  for (int i = 0; i < 9; i++) D[i] = motion.S[i % 3][i / 3];
  memcpy(rate, spin, 3 * sizeof *rate);
  check_ok(cb_dense_factor(3, D, pivot));
  cb_dense_solve(3, D, pivot, rate);
}

/* Starts two bodies with the moments of inertia J and the masses m = 1.2 and 0.9. In a space of curvature K their
 * translational inertia is m - K J. fluid: 1 adds the added mass of a fluid, 0 does not. place: the pose of the first
 * body. */
static void start_pair(joined *s, double K, double fluid, const cb_pose *place) {
  static const double moment[2][3] = {{.02, .03, .05}, {.03, .01, .025}}, mass[2] = {1.2, .9},
                      added[2][6] = {{.005, .02, .01, .3, .5, .7}, {.01, .004, .015, .4, .2, .6}};
  *s = (joined){.t = 0, .curvature = K};
  for (int b = 0; b < 2; b++) {
    double inertia[6];
    for (int i = 0; i < 3; i++) {
      inertia[i] = moment[b][i] + fluid * added[b][i];
      inertia[3 + i] = mass[b] - K * moment[b][i] + fluid * added[b][3 + i];
    }
    add_diagonal(s, inertia);
  }
  double at[3], in[3], turned[3], turn[3] = {.4 / sqrt(2), .4 / sqrt(2), 0}, U[4], q[3], rate[3];
  const double axis[3] = {.3, -.5, .8}, size = sqrt(cb_dot3(axis, axis));
  normal_of(K, (double[]){.3, .05, 0}, at);
  normal_of(K, (double[]){-.25, 0, .1}, in);
  cb_quaternion_exp(turn, U);
  cb_quaternion_turn(U, in, turned);
  cb_joint *j = joined_hold(s, "ball", 0, at, NULL, 1, turned, NULL);
  memcpy(j->frame[1].q, U, sizeof U);
  for (int k = 0; k < 3; k++) q[k] = .9 * axis[k] / size;
  rates_of_spin(j, q, (double[]){-.6, .9, .3}, rate);
  check_ok(cb_rigid_start(&s->body[0].problem, 0, place, (double[]){.5, -.3, .7, .2, .4, -.1}, &s->state[0]));
  joined_place(s, j, q, rate, 0);
  joined_start(s, NULL);
}

static const cb_pose origin = {.q = {1}};

/* Starts the two bodies in S3 with the fluid, or in H3 without it. */
static void start_known_ball(joined *s, double K) { start_pair(s, K, K > 0, &origin); }

/* Starts the same two bodies in vacuum, on a hinge with a spring. */
static void start_known_hinge(joined *s, double K) {
  start_pair(s, K, 0, &origin);
  const cb_joint_frame zero = {{0}, {1, 0, 0, 0}};
  cb_mechanism_free(s->mechanism);
  s->joints = s->coordinates = 0;
  cb_joint *j = joined_hold(s, "hinge", 0, zero.x, (double[]){.2, .9, .3}, 1, zero.x, (double[]){.5, -.2, .8});
  memcpy(j->frame[0].x, (double[]){.3, .05, 0}, sizeof j->frame[0].x);
  memcpy(j->frame[1].x, (double[]){-.25, 0, .1}, sizeof j->frame[1].x);
  j->stiffness[0] = .3;
  j->rest[0] = .2;
  joined_place(s, j, (double[]){.7}, (double[]){-1.2}, 0);
  joined_start(s, NULL);
}

typedef void starter(joined *s, double K);

/* Returns the largest error of the positions of both bodies at t = 2. `right` contains the expected points of the
 * embedding. */
static double pair_error(double K, starter *start, double h, int order, const double right[2][4]) {
  joined s;
  double error = 0;
  start(&s, K);
  const int steps = (int)lround(2 / h);
  for (int i = 0; i < steps; i++) check_ok(joined_step(&s, h, order));
  check_at_most(joined_gap(&s), 1e-14);
  for (int b = 0; b < 2; b++) {
    double y[4];
    cb_curved_point(K, s.state[b].g.x, y);
    for (int k = 0; k < 4; k++) error = fmax(error, fabs(y[k] - right[b][k]));
  }
  cb_mechanism_free(s.mechanism);
  return error;
}

static void check_pair(double K, starter *start, const double right[2][4]) {
  double error[2][2];
  for (int i = 0; i < 4; i++)
    error[i / 2][i % 2] = pair_error(K, start, (i / 2 ? .05 : .02) / (1 << i % 2), i / 2 ? 4 : 2, right);
  const double small = pair_error(K, start, .005, 4, right);
  print_message("K = %g: order 2: %.2e %.2e, %.3f; order 4: %.2e %.2e, %.3f; at a small step %.2e\n", K, error[0][0],
                error[0][1], log2(error[0][0] / error[0][1]), error[1][0], error[1][1], log2(error[1][0] / error[1][1]),
                small);
  assert_true(log2(error[0][0] / error[0][1]) > 1.95);
  assert_true(log2(error[1][0] / error[1][1]) > 3.9);
  check_at_most(small, 1e-9);
}

/* The expected positions were computed by another program, which solves for accelerations and multipliers with a dense
 * matrix. */
static void two_bodies_with_a_ball_move_as_known_in_s3_and_h3(void **unused) {
  static const double sphere[2][4] = {{.4300825217, .8003357487, -.1590156738, .3862715747},
                                      {.1302744900, .9752547853, .0001505898, .1786242939}},
                      hyperbolic[2][4] = {{.8308640197, 1.3060922676, -.2120086882, 1.8550363108},
                                          {.8477833127, 2.2510207404, -.1865209248, 2.6116318604}};
  (void)unused;
  check_pair(1, start_known_ball, sphere);
  check_pair(-1, start_known_ball, hyperbolic);
}

/* The expected positions are from analysis/reference/joints_curved.py. There two runs with different tolerances agree
 * in all of these digits. */
static void two_bodies_on_a_spring_hinge_move_as_known_in_s3_and_h3(void **unused) {
  static const double sphere[2][4] = {{.40477617022, .75602800615, -.28130991517, .43063051163},
                                      {.33858769320, .86222867108, -.26409939928, .26864772486}},
                      hyperbolic[2][4] = {{.62427125318, 1.13729797719, -.45660530163, 1.70048513312},
                                          {.70054192753, 1.47417959509, -.52215189751, 1.98408847456}};
  (void)unused;
  check_pair(1, start_known_hinge, sphere);
  check_pair(-1, start_known_hinge, hyperbolic);
}

/* --- conserved quantities --- */

/* Computes the total momentum about the base point, in a space in which the bodies stay near this point. */
static void spatial_momentum(const joined *s, double out[6]) {
  memset(out, 0, 6 * sizeof *out);
  for (int i = 0; i < s->n; i++) {
    double own[6];
    cb_rigid_spatial_momentum(s->curvature, &s->state[i], own);
    cb_add6(1, own, out);
  }
}

/* Computes the two Casimirs of the total momentum of a pair, in the frame of the first body. The pose of the second
 * body relative to the first one comes from the coordinates of the joint, so the distance from the base point has no
 * effect. */
static void pair_casimirs(const joined *s, double out[2]) {
  const cb_joint *j = &s->joint[0];
  cb_pose frame[2], m, back, relative;
  double X[6][6], all[6], second[6];
  for (int side = 0; side < 2; side++) {
    memcpy(frame[side].q, j->frame[side].q, sizeof frame[side].q);
    memcpy(frame[side].x, j->frame[side].x, sizeof frame[side].x);
  }
  j->class_->place(cb_mechanism_q(s->mechanism), &j->data, &m);
  cb_pose_multiply_in(s->curvature, &frame[0], &m, &relative);
  cb_pose_inverse(&frame[1], &back);
  cb_pose_multiply_in(s->curvature, &relative, &back, &relative);
  cb_pose_inverse(&relative, &back);
  cb_pose_adjoint_in(s->curvature, &back, X); /* X maps a twist from the first body's frame to the second one's */
  cb_apply6_transposed((const double(*)[6])X, s->state[1].momentum, second);
  memcpy(all, s->state[0].momentum, sizeof all);
  cb_add6(1, second, all);
  cb_rigid_casimirs(s->curvature, all, out);
}

enum { STEPS = 20000, PARTS = 10 };

/* Makes STEPS steps of h. Returns the largest change of the n numbers that `find` computes, relative to their size at
 * the start. *trend: the largest error of the energy in the last half of the time, divided by that in the first one. */
static double run_long(joined *s, double h, int n, void (*find)(const joined *s, double *out), double *trend) {
  double first[6], now[6], size = 0, change = 0, error[PARTS] = {0}, half[2] = {0};
  const double energy = joined_energy(s);
  find(s, first);
  for (int k = 0; k < n; k++) size = fmax(size, fabs(first[k]));
  for (int i = 0; i < STEPS; i++) {
    check_ok(joined_step(s, h, 2));
    error[i / (STEPS / PARTS)] = fmax(error[i / (STEPS / PARTS)], fabs(joined_energy(s) / energy - 1));
    if (i % 100) continue;
    check_at_most(joined_gap(s), 1e-14);
    find(s, now);
    for (int k = 0; k < n; k++) change = fmax(change, fabs(now[k] - first[k]) / size);
  }
  for (int k = 0; k < PARTS; k++) half[k / (PARTS / 2)] = fmax(half[k / (PARTS / 2)], error[k]);
  *trend = half[1] / half[0];
  return change;
}

static void momentum_is_kept_to_round_off_and_the_energy_has_no_trend(void **unused) {
  joined s;
  double trend;
  (void)unused;
  start_pair(&s, 1, 1, &origin);
  const double sphere = run_long(&s, .02, 6, spatial_momentum, &trend);
  cb_mechanism_free(s.mechanism);
  print_message("S3: momentum %.2e, energy %.3f\n", sphere, trend);
  check_at_most(sphere, 1e-13);
  check_at_most(trend, 1.5);
  start_pair(&s, -1, 0, &origin);
  const double hyperbolic = run_long(&s, .02, 2, pair_casimirs, &trend);
  print_message("H3, %.3g radii away at the end: Casimirs %.2e, energy %.3f\n",
                sqrt(cb_dot3(s.state[0].g.x, s.state[0].g.x)), hyperbolic, trend);
  cb_mechanism_free(s.mechanism);
  check_at_most(hyperbolic, 1e-13);
  check_at_most(trend, 1.5);
}

static void a_step_and_the_step_back_lead_to_the_start(void **unused) {
  joined s;
  (void)unused;
  for (int K = -1; K < 2; K += 2) {
    start_pair(&s, K, 1, &origin);
    const cb_rigid_state start[2] = {s.state[0], s.state[1]};
    double change = 0;
    for (int i = 0; i < 40; i++) check_ok(joined_step(&s, i < 20 ? .05 : -.05, 2));
    for (int b = 0; b < 2; b++)
      for (int k = 0; k < 6; k++) change = fmax(change, fabs(s.state[b].momentum[k] - start[b].momentum[k]));
    for (int b = 0; b < 2; b++)
      for (int k = 0; k < 3; k++) change = fmax(change, fabs(s.state[b].g.x[k] - start[b].g.x[k]));
    check_at_most(change, 1e-13); /* round-off of 40 steps */
    cb_mechanism_free(s.mechanism);
  }
}

/* At half a turn the rotation vector of a ball joint changes to the opposite vector. This may also happen in the part
 * of a composed step that goes backwards in time. */
static void a_ball_joint_passes_half_a_turn(void **unused) {
  (void)unused;
  for (int K = -1; K < 2; K++) {
    joined s;
    double last[3], energy = 0;
    int jumps = 0;
    start_pair(&s, K, 0, &origin);
    const double first = joined_energy(&s), *q = cb_mechanism_q(s.mechanism);
    for (int i = 0; i < 2000; i++) {
      memcpy(last, q, sizeof last);
      check_ok(joined_step(&s, .02, 4));
      energy = fmax(energy, fabs(joined_energy(&s) / first - 1));
      jumps += cb_dot3(last, q) < -5;
    }
    print_message("K = %d: %d jumps, energy %.2e\n", K, jumps, energy);
    assert_true(jumps > 0);
    check_at_most(energy, 1e-5); /* the error of the energy is of order 4 in the step */
    cb_mechanism_free(s.mechanism);
  }
}

/* --- other places --- */

/* In hyperbolic space a pair of bodies that is 17 radii of curvature away, where the last coordinate of the embedding
 * is 1.2e7, moves as at the base point. */
static void far_from_the_base_point_a_joint_is_as_accurate_as_near_it(void **unused) {
  const cb_pose away = {.q = {.5, .5, -.5, .5}, .x = {17 * .6, 0, 17 * -.8}};
  joined near, far;
  double change = 0;
  (void)unused;
  start_pair(&near, -1, 0, &origin);
  start_pair(&far, -1, 0, &away);
  for (int i = 0; i < 200; i++) {
    check_ok(joined_step(&near, .02, 4));
    check_ok(joined_step(&far, .02, 4));
    check_at_most(joined_gap(&far), 1e-15);
    for (int k = 0; k < 3; k++)
      change = fmax(change, fabs(cb_mechanism_q(near.mechanism)[k] - cb_mechanism_q(far.mechanism)[k]));
    for (int b = 0; b < 2; b++)
      for (int k = 0; k < 6; k++) change = fmax(change, fabs(near.state[b].momentum[k] - far.state[b].momentum[k]));
  }
  print_message("differences far from the base point: %.2e\n", change);
  check_at_most(change, 1e-12); /* round-off of 1000 steps, which the motion amplifies */
  cb_mechanism_free(near.mechanism);
  cb_mechanism_free(far.mechanism);
}

/* At the start the coordinates of joints determine the poses. A pose that differs from them by less than the tolerance
 * is replaced, and the momentum in the frame of the body stays the same. */
static void a_pose_at_the_start_gives_way_to_the_coordinates(void **unused) {
  const double turn[3] = {3e-10, -2e-10, 1e-10};
  joined s;
  (void)unused;
  start_pair(&s, -1, 0, &origin);
  const cb_rigid_state right = s.state[1];
  double r[3][3], momentum[6];
  cb_pose g = right.g, small = {.q = {1}};
  cb_quaternion_exp(turn, small.q);
  cb_pose_multiply_in(-1, &g, &small, &g);
  check_ok(cb_rigid_start(&s.body[1].problem, 0, &g, right.Y, &s.state[1]));
  cb_mechanism_free(s.mechanism);
  joined_start(&s, NULL);
  cb_pose_rotation(&s.state[1].g, r);
  cb_turn6_transposed((const double(*)[3])r, s.state[1].world, momentum);
  for (int k = 0; k < 4; k++) check_near(s.state[1].g.q[k], right.g.q[k], 1e-15);
  for (int k = 0; k < 6; k++) check_near(momentum[k], right.momentum[k], 1e-15);
  cb_mechanism_free(s.mechanism);
}

static void a_pose_that_contradicts_the_coordinates_is_refused(void **unused) {
  joined s;
  int which = -1;
  (void)unused;
  start_pair(&s, 1, 0, &origin);
  cb_mechanism_q(s.mechanism)[1] += 1e-3;
  check_error_begins(cb_mechanism_start(s.mechanism, &s.bodies, 0, 1e-9, &which), CB_ERROR_DOMAIN,
                     "joint `ball` is open by 0.000");
  assert_int_equal(which, 0);
  cb_mechanism_free(s.mechanism);
}

/* --- the limit of flat space --- */

/* Makes a tree of bodies with joints of the kinds that exist in every space. */
static void start_tree(joined *s, double K, int n, bool free, uint64_t seed) {
  static const char *const kinds[] = {"hinge", "ball", "universal", "weld"};
  *s = (joined){.t = 0, .curvature = K};
  for (int b = 0; b < n; b++) {
    const int parent = b == 0 ? -1 : (int)check_uniform(&seed, 0, b), kind = b % 4,
              side = check_uniform(&seed, 0, 1) < .5 ? 0 : 1;
    random_body(&seed, s, 0);
    s->body[b].problem.curvature = K;
    if (b == 0 && free) {
      random_place(&seed, s, 0);
      continue;
    }
    cb_joint *j = random_joint_of(&seed, s, kinds[kind], parent, b, side);
    random_springs(&seed, j, true);
    random_hang(&seed, s, j, side);
  }
  joined_start(s, NULL);
}

static void in_an_almost_flat_space_trees_move_as_in_flat_space(void **unused) {
  (void)unused;
  for (int i = 0; i < 8; i++) {
    joined s[3];
    double change = 0;
    static const double curvature[3] = {0, 1e-12, -1e-12};
    for (int k = 0; k < 3; k++) {
      start_tree(&s[k], curvature[k], 6, i % 2, 100 + (uint64_t)i);
      for (int n = 0; n < 50; n++) check_ok(joined_step(&s[k], .02, 2));
      check_at_most(joined_gap(&s[k]), 1e-14);
    }
    for (int k = 1; k < 3; k++)
      for (int b = 0; b < 6; b++) {
        const cb_rigid_state *flat = &s[0].state[b], *curved = &s[k].state[b];
        for (int c = 0; c < 3; c++) change = fmax(change, fabs(flat->g.x[c] - curved->g.x[c]));
        for (int c = 0; c < 6; c++) change = fmax(change, fabs(flat->momentum[c] - curved->momentum[c]));
      }
    for (int k = 1; k < 3; k++)
      for (int c = 0; c < cb_mechanism_coordinates(s[0].mechanism); c++)
        change = fmax(change, fabs(cb_mechanism_rates(s[0].mechanism)[c] - cb_mechanism_rates(s[k].mechanism)[c]));
    print_message("tree %d: %.2e\n", i, change);
    check_at_most(change, 1e-10); /* the effect of |K| = 1e-12 on bodies at distances of some metres, and round-off */
    for (int k = 0; k < 3; k++) cb_mechanism_free(s[k].mechanism);
  }
}

/* --- exact motions --- */

/* A body on a hinge at a fixed point of the space, with a spring of stiffness k, oscillates as q = q_0 cos(w t) with
 * w^2 = k/(S^T K S). S is the twist of the hinge, and K the inertia of the body. */
static void a_body_on_a_spring_hinge_of_the_space_oscillates_harmonically(void **unused) {
  (void)unused;
  for (int K = -1; K < 2; K += 2)
    for (int side = 0; side < 2; side++) {
      double error[2];
      for (int i = 0; i < 2; i++) {
        joined s = {.t = 0, .curvature = K};
        double Ad[6][6], S[6], IS[6], inertia = 0;
        const double data[6] = {.02, .03, .05, 1.2 - K * .02, 1.3 - K * .03, 1.1 - K * .05}, axis[3] = {.2, -.4, .7};
        add_diagonal(&s, data);
        cb_joint *j = joined_hold(&s, "hinge", -1, (double[]){.4, -.8, .3}, axis, 0, (double[]){.3, .1, -.2}, axis);
        if (side == 0) {
          const cb_joint_frame first = j->frame[0];
          j->frame[0] = j->frame[1];
          j->frame[1] = first;
          j->body[0] = 0;
          j->body[1] = -1;
        }
        j->stiffness[0] = 2;
        j->rest[0] = .1;
        joined_hang(&s, j, side, (double[]){.9}, (double[]){0});
        joined_start(&s, NULL);
        const cb_joint_frame *own = &j->frame[side];
        const cb_pose frame = {.q = {own->q[0], own->q[1], own->q[2], own->q[3]},
                               .x = {own->x[0], own->x[1], own->x[2]}};
        cb_pose_adjoint_in(K, &frame, Ad);
        for (int k = 0; k < 6; k++) S[k] = Ad[k][2];
        cb_apply6((const double(*)[6])s.body[0].constant.K, S, IS);
        for (int k = 0; k < 6; k++) inertia += S[k] * IS[k];
        const int steps = 100 << i;
        for (int n = 0; n < steps; n++) check_ok(joined_step(&s, 3. / steps, 4));
        error[i] = fabs(cb_mechanism_q(s.mechanism)[0] - (.1 + .8 * cos(sqrt(2 / inertia) * 3)));
        check_at_most(joined_gap(&s), 1e-15);
        cb_mechanism_free(s.mechanism);
      }
      print_message("K = %d, side %d: %.2e %.2e\n", K, side, error[0], error[1]);
      assert_true(log2(error[0] / error[1]) > 3.9);
    }
}

/* Two welded bodies move as one with the sum of both inertias. */
static void welded_bodies_move_as_one(void **unused) {
  (void)unused;
  for (int K = -1; K < 2; K += 2) {
    joined two = {.t = 0, .curvature = K}, one = {.t = 0, .curvature = K};
    const double data[2][6] = {{.02, .03, .05, 1.2, 1.3, 1.1}, {.03, .01, .025, .9, .7, .8}},
                 twist[6] = {.5, -.3, .7, .2, .4, -.1};
    double X[6][6], sum[6][6] = {{0}}, half[6][6] = {{0}}, change = 0;
    for (int b = 0; b < 2; b++) add_diagonal(&two, data[b]);
    cb_joint *j = joined_hold(&two, "weld", 0, (double[]){.5, .1, 0}, (double[]){1, 2, 0}, 1, (double[]){-.2, 0, .3},
                              (double[]){0, 1, 1});
    check_ok(cb_rigid_start(&two.body[0].problem, 0, &origin, twist, &two.state[0]));
    joined_place(&two, j, NULL, NULL, 0);
    joined_start(&two, NULL);
    cb_pose back;
    cb_pose_inverse(&two.state[1].g, &back);
    cb_pose_adjoint_in(K, &back, X);
    add_diagonal(&one, data[0]);
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) half[i][k] = data[1][i] * X[i][k];
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) {
        sum[i][k] = i == k ? data[0][i] : 0;
        for (int n = 0; n < 6; n++) sum[i][k] += X[n][i] * half[n][k];
      }
    check_ok(cb_rigid_constant_of((const double(*)[6])sum, (double[6]){0}, &one.body[0].constant));
    check_ok(cb_rigid_start(&one.body[0].problem, 0, &origin, twist, &one.state[0]));
    for (int n = 0; n < 200; n++) {
      const double p = 0.41449077179437573714, part[5] = {p, p, 1 - 4 * p, p, p};
      check_ok(joined_step(&two, .01, 4));
      for (int i = 0; i < 5; i++)
        check_ok(cb_rigid_step_pontryagin(&one.body[0].problem, CB_SE3_CAYLEY, .01 * part[i], &one.state[0], NULL));
    }
    for (int k = 0; k < 3; k++) change = fmax(change, fabs(two.state[0].g.x[k] - one.state[0].g.x[k]));
    print_message("K = %d: %.2e\n", K, change);
    check_at_most(change, 1e-13); /* the difference is round-off, because both motions have the same discrete action */
    cb_mechanism_free(two.mechanism);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_bodies_with_a_ball_move_as_known_in_s3_and_h3),
                                     cmocka_unit_test(two_bodies_on_a_spring_hinge_move_as_known_in_s3_and_h3),
                                     cmocka_unit_test(momentum_is_kept_to_round_off_and_the_energy_has_no_trend),
                                     cmocka_unit_test(a_step_and_the_step_back_lead_to_the_start),
                                     cmocka_unit_test(a_ball_joint_passes_half_a_turn),
                                     cmocka_unit_test(far_from_the_base_point_a_joint_is_as_accurate_as_near_it),
                                     cmocka_unit_test(a_pose_at_the_start_gives_way_to_the_coordinates),
                                     cmocka_unit_test(a_pose_that_contradicts_the_coordinates_is_refused),
                                     cmocka_unit_test(in_an_almost_flat_space_trees_move_as_in_flat_space),
                                     cmocka_unit_test(a_body_on_a_spring_hinge_of_the_space_oscillates_harmonically),
                                     cmocka_unit_test(welded_bodies_move_as_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
