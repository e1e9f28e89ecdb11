/* Tests of a body in a uniform flow u, compared with the same body in a fluid at rest in a moving frame. The equations
 * are:
 *
 *   mu = I_b Y + I_f (Y - U) + mu0,   mu' = ad*_Y mu - ad*_U (I_f (Y - U) + mu0_f) + F,   U = (0, R^T u)
 *
 * mu is the momentum of body and fluid, Y the twist, I_b the inertia of the body, I_f the added mass, mu0 the momentum
 * of the changing shape, mu0_f the part of the fluid in mu0, F the wrench, and R the rotation of the pose. Further
 * tests: the equations without U, as the paper "Going with the Flow" (fluid/local.h) prints them, and an inertia that
 * depends on the pose, for which steps remain symplectic. */
#include "rigid.h"

typedef struct carried {
  double J[3][3], mass, centre[3]; /* I_b = [[J, m hat(c)], [-m hat(c), m]], c = centre + sin t own_v/m */
  double fluid[6][6];
  double u[3];
  /* mu0 = cos t (own + around); own: from the body, whose centre moves with m c' = own_v cos t; around: from the
   * fluid */
  double own[6], around[6];
  double moment[3], weight, g[3];
  bool paper; /* whether the equations are those of the paper, without U */
} carried;

static void flow_twist(const carried *c, const cb_pose *g, double U[6]) {
  double r[3][3];
  cb_pose_rotation(g, r);
  memset(U, 0, 6 * sizeof *U);
  if (!c->paper) cb_apply3_transposed(r, c->u, U + 3);
}

static cb_status carried_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const carried *c = self;
  double U[6], moment[3], upper[3][3] = {{0}};
  flow_twist(c, g, U);
  for (int i = 0; i < 6; i++) {
    mu0[i] = cos(t) * (c->own[i] + c->around[i]);
    for (int j = 0; j < 6; j++) {
      K[i][j] = c->fluid[i][j];
      mu0[i] -= c->fluid[i][j] * U[j];
    }
  }
  for (int i = 0; i < 3; i++) {
    moment[i] = c->mass * c->centre[i] + sin(t) * c->own[3 + i];
    K[3 + i][3 + i] += c->mass;
  }
  cb_add_hat3(upper, 1, moment);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      K[i][j] += c->J[i][j];
      K[i][j + 3] += upper[i][j];
      K[j + 3][i] += upper[i][j];
    }
  return CB_OK;
}

static void fluid_momentum(const carried *c, double t, const double Y[6], const double U[6], double q[6]) {
  for (int i = 0; i < 6; i++) {
    q[i] = cos(t) * c->around[i];
    for (int j = 0; j < 6; j++) q[i] += c->fluid[i][j] * (Y[j] - U[j]);
  }
}

static cb_status carried_wrench(void *self, double t, const cb_pose *g, const double Y[6], double F[6],
                                double dF[6][6]) {
  const carried *c = self;
  double U[6], q[6], down[3], r[3][3], torque[3];
  flow_twist(c, g, U);
  fluid_momentum(c, t, Y, U, q);
  cb_se3_ad_star(U, q, F);
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, c->g, down);
  cb_cross3(c->moment, down, torque);
  for (int i = 0; i < 6; i++) F[i] = (i < 3 ? torque[i] : c->weight * down[i - 3]) - F[i];
  for (int j = 0; dF && j < 6; j++) {
    double column[6], change[6];
    for (int i = 0; i < 6; i++) column[i] = c->fluid[i][j];
    cb_se3_ad_star(U, column, change);
    for (int i = 0; i < 6; i++) dF[i][j] = -change[i];
  }
  return CB_OK;
}

static cb_status carried_derivative(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                                    double dF[6][6]) {
  const carried *c = self;
  double U[6], q[6], r[3][3], down[3];
  flow_twist(c, g, U);
  fluid_momentum(c, t, Y, U, q);
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, c->g, down);
  for (int j = 0; j < 3; j++) {
    double e[3] = {0}, dU[6] = {0}, dq[6], a[6], b[6], turned[3], torque[3];
    e[j] = 1;
    cb_cross3(U + 3, e, dU + 3);
    for (int i = 0; i < 6; i++) {
      dq[i] = 0;
      for (int k = 0; k < 6; k++) dq[i] -= c->fluid[i][k] * dU[k];
      dmu[i][j] = dq[i];
    }
    cb_se3_ad_star(dU, q, a);
    cb_se3_ad_star(U, dq, b);
    cb_cross3(down, e, turned);
    cb_cross3(c->moment, turned, torque);
    for (int i = 0; i < 6; i++) dF[i][j] = (i < 3 ? torque[i] : c->weight * turned[i - 3]) - a[i] - b[i];
  }
  return CB_OK;
}

static carried generic_carried(void) {
  carried c = {.u = {1.2, -0.7, 0.9},
               .own = {.1, -.2, .3, .2, -.1, .2},
               .around = {-.3, .1, .2, .4, .3, -.2},
               .moment = {.2, -.3, .4},
               .weight = .7,
               .g = {0, 0, -3}};
  generic_tensor(c.fluid);
  c.mass = 1.7;
  for (int i = 0; i < 3; i++) {
    c.J[i][i] = 1 + 0.4 * i;
    c.centre[i] = 0.2 * (i - 1);
  }
  c.J[0][1] = c.J[1][0] = 0.1;
  return c;
}

static cb_rigid_problem carried_problem(carried *c) {
  return (cb_rigid_problem){.self = c,
                            .inertia = carried_inertia,
                            .pose_dependent = true,
                            .wrench = carried_wrench,
                            .pose_derivative = carried_derivative};
}

/* A uniform flow u adds u t to the positions of the body and U to its twists. */
static void a_uniform_flow_is_a_moving_frame(void **unused) {
  carried flowing = generic_carried(), resting = generic_carried();
  memset(resting.u, 0, sizeof resting.u);
  const cb_rigid_problem p = carried_problem(&flowing), q = carried_problem(&resting);
  const double time = 2;
  double Y[6], U[6], error[4];
  flow_twist(&flowing, &generic_pose, U);
  for (int i = 0; i < 6; i++) Y[i] = generic_twist[i] + U[i];
  const cb_rigid_state still = run_by(&q, RKMK4, &generic_pose, generic_twist, time, 4000);
  for (int method = 0; method < 4; method++) {
    for (int i = 0; i < 4; i++) {
      const cb_rigid_state s = run_by(&p, method, &generic_pose, Y, time, method == RKMK4 ? 4000 : 100 << i);
      error[i] = 0;
      for (int k = 0; k < 3; k++) error[i] = fmax(error[i], fabs(s.g.x[k] - flowing.u[k] * time - still.g.x[k]));
      for (int k = 0; k < 4; k++) error[i] = fmax(error[i], fabs(s.g.q[k] - still.g.q[k]));
      if (method == RKMK4) break;
    }
    if (method == RKMK4)
      check_at_most(error[0], 1e-11);
    else
      check_near(fitted_order(error, 4), 2, 0.05);
  }
}

/* In the equations of the paper, without U, the same start gives another path. */
static void the_form_without_the_flow_is_not(void **unused) {
  carried flowing = generic_carried(), paper = generic_carried();
  paper.paper = true;
  const cb_rigid_problem p = carried_problem(&flowing), q = carried_problem(&paper);
  const cb_rigid_state right = run_by(&p, RKMK4, &generic_pose, generic_twist, 2, 400);
  const cb_rigid_state wrong = run_by(&q, RKMK4, &generic_pose, generic_twist, 2, 400);
  check_at_least(fabs(right.g.x[0] - wrong.g.x[0]), 0.1);
}

/* A plate that moves with the flow has no torque. In the equations without U there is the torque (M_f v) × v = (-0.33,
 * 0.495, 0), with the added mass M_f and the velocity v. */
static void a_carried_plate_feels_a_torque_in_the_paper_only(void **unused) {
  static const double added[6] = {.1, .1, 0, .65, .65, 2.3};
  carried c = {.u = {.3, .2, 1}};
  c.mass = 0.5;
  for (int i = 0; i < 3; i++) c.J[i][i] = 0.2;
  for (int i = 0; i < 6; i++) c.fluid[i][i] = added[i];
  const cb_rigid_problem p = carried_problem(&c);
  const cb_pose start = {{1, 0, 0, 0}, {0, 0, 0}};
  const double Y[6] = {0, 0, 0, .3, .2, 1}, h = 1e-6;
  for (int method = 0; method < 4; method++) {
    const cb_rigid_state s = run_by(&p, method, &start, Y, 10, 1000);
    for (int i = 0; i < 3; i++) {
      check_near(s.g.x[i], 10 * c.u[i], 1e-12);
      check_near(s.g.q[1 + i], 0, 1e-14);
      check_near(s.Y[i], 0, 1e-14);
    }
    c.paper = true;
    const cb_rigid_state turned = run_by(&p, method, &start, Y, h, 1);
    static const double torque[3] = {-.33, .495, 0};
    for (int i = 0; i < 3; i++) check_near((turned.momentum[i]) / h, torque[i], 1e-6);
    c.paper = false;
  }
}

/* --- an inertia K0 + z S that depends on the height z; its wrench (0, R^T e_z Y.S Y/2) conserves the energy --- */

static double layered_S[6][6];

static cb_status layered_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  generic_tensor(K);
  for (int i = 0; i < 6; i++) {
    mu0[i] = 0;
    for (int j = 0; j < 6; j++) K[i][j] += g->x[2] * layered_S[i][j];
  }
  return CB_OK;
}

static cb_status layered_wrench(void *self, double t, const cb_pose *g, const double Y[6], double F[6],
                                double dF[6][6]) {
  static const double ez[3] = {0, 0, 1};
  double r[3][3], up[3], SY[6], twice = 0;
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, ez, up);
  for (int i = 0; i < 6; i++) {
    SY[i] = 0;
    for (int j = 0; j < 6; j++) SY[i] += layered_S[i][j] * Y[j];
    twice += SY[i] * Y[i];
  }
  for (int i = 0; i < 3; i++) {
    F[i] = 0;
    F[3 + i] = up[i] * twice / 2;
    for (int j = 0; dF && j < 6; j++) {
      dF[i][j] = 0;
      dF[3 + i][j] = up[i] * SY[j];
    }
  }
  return CB_OK;
}

static void energy_is_kept_where_the_inertia_depends_on_the_pose(void **unused) {
  for (int i = 0; i < 6; i++) layered_S[i][i] = 0.1 + 0.05 * i;
  layered_S[0][4] = layered_S[4][0] = 0.05;
  cb_rigid_problem p = {.inertia = layered_inertia, .pose_dependent = true, .inertia_wrench = layered_wrench};
  const double rise[6] = {.7, -.4, .9, .3, .5, .4};
  double energy[2], error[4];
  for (int with = 1; with >= 0; with--) {
    p.inertia_wrench = with ? layered_wrench : NULL;
    for (int late = 0; late < 2; late++) {
      cb_rigid_state s = run_by(&p, RKMK4, &generic_pose, rise, late ? 2 : 1e-9, late ? 2000 : 1);
      energy[late] = 0;
      for (int i = 0; i < 6; i++) energy[late] += s.Y[i] * s.momentum[i] / 2;
    }
    if (with)
      check_near(energy[1], energy[0], 1e-8);
    else
      check_at_least(fabs(energy[1] - energy[0]), 1e-3);
  }
  p.inertia_wrench = layered_wrench;
  const cb_rigid_state exact = run_by(&p, RKMK4, &generic_pose, rise, 2, 4000);
  for (int map = 0; map < 3; map++) {
    for (int i = 0; i < 4; i++) {
      const cb_rigid_state s = run_by(&p, map, &generic_pose, rise, 2, 100 << i);
      error[i] = state_distance(&s, &exact);
    }
    check_near(fitted_order(error, 4), 2, 0.05);
  }
}

/* --- the symplectic two-form <dp1, eta2> - <dp2, eta1> - <p, [eta1, eta2]> of two changes (eta, dp) of the pose and
 * the momentum p, in the axes of the body --- */

typedef struct variation {
  double eta[6], dp[6];
} variation;

static double two_form(const double p[6], const variation *a, const variation *b) {
  double bracket[6], other[3], sum = 0;
  cb_cross3(a->eta, b->eta, bracket);
  cb_cross3(a->eta, b->eta + 3, bracket + 3);
  cb_cross3(b->eta, a->eta + 3, other);
  for (int i = 0; i < 3; i++) bracket[3 + i] -= other[i];
  for (int i = 0; i < 6; i++) sum += a->dp[i] * b->eta[i] - b->dp[i] * a->eta[i] - p[i] * bracket[i];
  return sum;
}

/* Returns the state s after the change e times `by`: the pose is g exp(e hat(eta)) and the momentum p + e dp. */
static cb_rigid_state varied(const cb_rigid_state *s, const variation *by, double e) {
  cb_rigid_state out = *s;
  cb_pose move;
  double xi[6], r[3][3];
  for (int i = 0; i < 6; i++) {
    xi[i] = e * by->eta[i];
    out.momentum[i] += e * by->dp[i];
  }
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &move);
  cb_pose_multiply(&s->g, &move, &out.g);
  cb_pose_rotation(&out.g, r);
  cb_turn6(r, out.momentum, out.world);
  memset(out.world_low, 0, sizeof out.world_low);
  memset(out.x_low, 0, sizeof out.x_low);
  return out;
}

/* Returns the maximum change of the symplectic two-form by one step, relative to its maximum value. */
static double change_of_form(const cb_rigid_problem *p, int map) {
  const double e = 2e-5, h = 0.2;
  variation is[12], was[12];
  double before[6], worst = 0, size = 0;
  cb_rigid_state s, end;
  check_ok(cb_rigid_start(p, 0, &generic_pose, generic_twist, &s));
  memcpy(before, s.momentum, sizeof before);
  end = s;
  step_by(p, map, h, &end);
  for (int k = 0; k < 12; k++) {
    was[k] = (variation){{0}, {0}};
    *(k < 6 ? &was[k].eta[k] : &was[k].dp[k - 6]) = 1;
    cb_rigid_state side[2];
    double xi[2][6];
    for (int i = 0; i < 2; i++) {
      cb_pose back, by;
      side[i] = varied(&s, &was[k], i ? e : -e);
      step_by(p, map, h, &side[i]);
      cb_pose_inverse(&end.g, &back);
      cb_pose_multiply(&back, &side[i].g, &by);
      cb_se3_log(&by, xi[i]);
    }
    for (int i = 0; i < 6; i++) {
      is[k].eta[i] = (xi[1][i] - xi[0][i]) / (2 * e);
      is[k].dp[i] = (side[1].momentum[i] - side[0].momentum[i]) / (2 * e);
    }
  }
  for (int k = 0; k < 12; k++)
    for (int l = 0; l < k; l++) {
      const double first = two_form(before, &was[k], &was[l]);
      size = fmax(size, fabs(first));
      worst = fmax(worst, fabs(two_form(end.momentum, &is[k], &is[l]) - first));
    }
  return worst / size;
}

static void steps_are_symplectic_where_the_inertia_depends_on_the_pose(void **unused) {
  for (int i = 0; i < 6; i++) layered_S[i][i] = 0.1 + 0.05 * i;
  layered_S[0][4] = layered_S[4][0] = 0.05;
  carried flowing = generic_carried();
  memset(flowing.moment, 0, sizeof flowing.moment); /* no weight: only the wrench due to the varying inertia acts */
  flowing.weight = 0;
  cb_rigid_problem layers = {.inertia = layered_inertia, .pose_dependent = true, .inertia_wrench = layered_wrench},
                   flow = carried_problem(&flowing);
  flow.wrench = NULL;
  flow.inertia_wrench = carried_wrench;
  for (int map = CB_SE3_CAYLEY; map <= CB_SE3_EXPONENTIAL; map++) {
    print_message("  map %d: %.1e, %.1e\n", map, change_of_form(&layers, map), change_of_form(&flow, map));
    /* change_of_form takes differences with the step e = 2e-5, whose errors are of the size e^2 and 1e-15/e */
    check_at_most(change_of_form(&layers, map), 1e-8);
    check_at_most(change_of_form(&flow, map), 1e-8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_uniform_flow_is_a_moving_frame),
      cmocka_unit_test(the_form_without_the_flow_is_not),
      cmocka_unit_test(a_carried_plate_feels_a_torque_in_the_paper_only),
      cmocka_unit_test(energy_is_kept_where_the_inertia_depends_on_the_pose),
      cmocka_unit_test(steps_are_symplectic_where_the_inertia_depends_on_the_pose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
