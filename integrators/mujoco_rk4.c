/* MuJoCo's Runge–Kutta method for bodies in a fluid: the classical tableau 0, 1/2, 1/2, 1; 1/6, 1/3, 1/3, 1/6 for the
 * position x, the orientation q, the linear momentum P in the world and the angular momentum l in the body:
 *
 *   x' = R v,  q' = q w/2,  P' = R F_force,  l' = l × w + p × v + F_torque,   K (w, v) = (l, p) - mu0,  p = R^T P
 * with R the rotation of q, the velocity v and angular velocity w in the body, the wrench (F_torque, F_force) in the
 * body, the inertia K and the momentum mu0 of a body at rest. The pose of a stage is (x + h a R v, q exp(h a w)), where
 * (x, q) is the pose at the start of the step, (R v, w) the twist of the stage before, and a the node of the stage. The
 * pose at the end of the step is moved in the same way by the mean of the four twists. The exponential of a mean of w
 * is not the rotation about a changing axis, so the order is 2; it is 4 if the body rotates about a fixed axis or only
 * its position matters. For a body about its centre of mass without added mass the momenta are MuJoCo's velocities
 * times constants, and each step equals MuJoCo's step up to round-off.
 * Source: MuJoCo 3.14, mj_RungeKutta and mj_integratePos, integrator="RK4".
 */
#include "fluid/rigid_step.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"
#include <curvebody/integrator.h>

/* The rates at a stage: moved = (w, R v), gained = (l', P'). */
typedef struct rates {
  double moved[6], gained[6];
} rates;

static cb_status find_rates(const cb_rigid_problem *p, double t, const cb_pose *g, const double l[3], const double P[3],
                            rates *out, double Y[6]) {
  double r[3][3], mu[6], F[6], turn[6];
  cb_pose_rotation(g, r);
  memcpy(mu, l, 3 * sizeof *mu);
  cb_apply3_transposed(r, P, mu + 3);
  cb_status status = cb_rigid_twist_of(p, t, g, mu, Y);
  if (!status) status = cb_rigid_wrenches(p, t, g, Y, F, NULL);
  if (status) return status;
  cb_se3_ad_star(Y, mu, turn);
  for (int i = 0; i < 3; i++) {
    out->moved[i] = Y[i];
    out->gained[i] = turn[i] + F[i];
  }
  cb_apply3(r, Y + 3, out->moved + 3);
  cb_apply3(r, F + 3, out->gained + 3);
  return CB_OK;
}

/* Replaces q by q exp(h w). Fails if this rotates the body by half a turn or more (cb_rigid_half_turn,
 * fluid/rigid_step.h). */
static cb_status turn(double t, double h, const double w[3], double q[4]) {
  const double hw[6] = {h * w[0], h * w[1], h * w[2]};
  cb_pose by;
  cb_se3_tau(CB_SE3_EXPONENTIAL, hw, &by);
  cb_quaternion_multiply(q, by.q, q);
  cb_quaternion_project(q);
  return cb_rigid_half_turn(h, t, sqrt(cb_dot3(hw, hw)));
}

/* Replaces the state at the start of a step of length h by the state at its end, from the mean m of the rates at the
 * stages. */
static cb_status finish(const cb_rigid_problem *p, double h, const rates *m, cb_rigid_state *s) {
  double r[3][3];
  const cb_status status = turn(s->t, h, m->moved, s->g.q);
  if (status) return status;
  cb_pose_rotation(&s->g, r);
  for (int i = 0; i < 3; i++) {
    cb_compensated_add_one(&s->g.x[i], &s->x_low[i], h * m->moved[3 + i]);
    cb_compensated_add_one(&s->world[3 + i], &s->world_low[3 + i], h * m->gained[3 + i]);
    s->momentum[i] += h * m->gained[i];
    s->world_low[i] = 0;
  }
  cb_apply3(r, s->momentum, s->world);
  cb_apply3_transposed(r, s->world + 3, s->momentum + 3);
  if (!cb_finite6(s->world) || !cb_finite6(m->moved))
    return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", h,
                   s->t);
  s->t += h;
  s->known = 0;
  memcpy(s->mu, s->momentum, sizeof s->mu);
  return cb_rigid_twist(p, s, s->Y);
}

static cb_status step(cb_integrator *in, void *state, double h) {
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const cb_rigid_problem *p = in->problem;
  cb_rigid_state *s = state, next = *s;
  if (p->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED, "mujoco_rk4 works only in flat space: expected rkmk4 or hamilton_pontryagin");
  if (!isfinite(h) || h == 0)
    return cb_fail(CB_ERROR_ARGUMENT, "expected a step that is not 0 and is finite, found %g", h);
  rates k = {.moved = {0}}, mean = {.moved = {0}};
  for (int stage = 0; stage < 4; stage++) {
    const double a = h * at[stage];
    double l[3], P[3];
    cb_pose g = s->g;
    cb_status status = stage ? turn(s->t, a, k.moved, g.q) : CB_OK;
    for (int i = 0; i < 3; i++) {
      g.x[i] = s->g.x[i] + (s->x_low[i] + a * k.moved[3 + i]);
      l[i] = s->momentum[i] + a * k.gained[i];
      P[i] = s->world[3 + i] + (s->world_low[3 + i] + a * k.gained[3 + i]);
    }
    if (!status) status = find_rates(p, s->t + a, &g, l, P, &k, next.Y);
    if (status) return status;
    cb_add6(weight[stage], k.moved, mean.moved);
    cb_add6(weight[stage], k.gained, mean.gained);
  }
  const cb_status status = finish(p, h, &mean, &next);
  if (!status) *s = next;
  return status;
}

static const cb_param table[] = {{NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status create(cb_integrator *in, const void *params) {
  (void)params;
  in->solver = "explicit";
  return CB_OK;
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  (void)in;
  *order = 2;
  *symplectic = *symmetric = false;
}

const cb_integrator_class cb_integrator_mujoco_rk4 = {
    .name = "mujoco_rk4",
    .title = "MuJoCo's Runge-Kutta",
    .doc = "Explicit, the same as MuJoCo's RK4: order 2 if the axis of rotation changes; for bodies in a fluid.",
    .solves = &cb_problem_lie_group,
    .params = table,
    .create = create,
    .properties = properties,
    .step = step,
};
