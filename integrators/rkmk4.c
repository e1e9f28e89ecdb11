/* Munthe-Kaas's Runge–Kutta method of order 4 on SE(3), SO(4) and SO(3,1), for bodies in a fluid that are rigid or have
 * a prescribed shape. It is explicit, and an independent check of hamilton_pontryagin.
 *
 * With g = g_k exp(u) and the momentum (l, P) in the axes of the world about the position x_k (curvebody/rigid.h):
 *   u' = dexp^-1_{-u} Y,  K Y = p - mu0,  p = R^T (l - (x - x_k) × P, P);   l' = R F_torque + (x - x_k) × R F_force,
 *   P' = R F_force;   the classical tableau 0, 1/2, 1/2, 1; 1/6, 1/3, 1/3, 1/6,
 * where x is the position of g, Y the twist, K the inertia, mu0 the momentum at Y = 0, R the rotation of g, and
 * (F_torque, F_force) the sum of the wrenches in the body frame. Trees of joined bodies move in the coordinates of
 * their joints (mechanism/mechanism_tree.h). Source: Munthe-Kaas, Appl. Numer. Math. 29 (1999) 115,
 * doi:10.1016/S0168-9274(98)00030-0.
 */
#include "fluid/rigid_step.h"
#include "mechanism/mechanism.h"
#include "numerics/vec3.h"
#include "numerics/lie_private.h"
#include <curvebody/integrator.h>
#include <math.h>
#include <string.h>

/* The start of a step: the problem, the state, and the rotation matrix of the state. */
typedef struct node {
  const cb_rigid_problem *p;
  const cb_rigid_state *s;
  double rotation[3][3];
} node;

/* Computes the displacement dx of the position by exp(u), in the world's axes, and the orientation q after it. */
static void moved(const node *n, const double u[6], double dx[3], double q[4]) {
  cb_pose move;
  cb_se3_tau(CB_SE3_EXPONENTIAL, u, &move);
  cb_quaternion_multiply(n->s->g.q, move.q, q);
  cb_apply3(n->rotation, move.x, dx);
}

/* Computes the rates du = u' and dl = (l', P'), the twist Y and the momentum mu in the body frame, at the time t. u:
 * the displacement since the start of the step (NULL: 0); gained: the change of the momentum since then. */
static cb_status rates(const node *n, double t, const double u[6], const double gained[6], double du[6], double dl[6],
                       double Y[6], double mu[6]) {
  const cb_rigid_problem *p = n->p;
  const cb_rigid_state *s = n->s;
  double r[3][3], dx[3] = {0}, F[6], minus[6], world[6], across[3];
  cb_pose at = s->g;
  if (u) moved(n, u, dx, at.q);
  for (int i = 0; i < 3; i++) at.x[i] = s->g.x[i] + (s->x_low[i] + dx[i]);
  for (int i = 0; i < 6; i++) world[i] = s->world[i] + (s->world_low[i] + gained[i]);
  cb_cross3(dx, world + 3, across);
  for (int i = 0; i < 3; i++) world[i] -= across[i];
  cb_pose_rotation(&at, r);
  cb_turn6_transposed(r, world, mu);
  cb_status status = cb_rigid_twist_of(p, t, &at, mu, Y);
  if (!status) status = cb_rigid_wrenches(p, t, &at, Y, F, NULL);
  if (status) return status;
  for (int i = 0; u && i < 6; i++) minus[i] = -u[i];
  if (u)
    cb_se3_dexp_inverse(minus, Y, du);
  else
    memcpy(du, Y, 6 * sizeof *du);
  cb_turn6(r, F, dl);
  cb_cross3(dx, dl + 3, across);
  for (int i = 0; i < 3; i++) dl[i] += across[i];
  return CB_OK;
}

cb_status cb_rigid_step_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s) {
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  if (!isfinite(h) || h == 0)
    return cb_fail(CB_ERROR_ARGUMENT, "expected a step that is not 0 and is finite, found %g", h);
  if (p->curvature != 0) return cb_rigid_curved_rkmk4(p, h, s);
  node n = {.p = p, .s = s};
  double u[6] = {0}, gained[6] = {0}, du[6] = {0}, dl[6] = {0}, dx[3], q[4];
  cb_rigid_state next; /* without the twists of earlier steps, which are not used */
  next.g = s->g;
  memcpy(next.x_low, s->x_low, sizeof next.x_low);
  memcpy(next.world, s->world, sizeof next.world);
  memcpy(next.world_low, s->world_low, sizeof next.world_low);
  cb_pose_rotation(&s->g, n.rotation);
  for (int stage = 0; stage < 4; stage++) {
    double z[6], l[6];
    for (int i = 0; i < 6; i++) {
      z[i] = h * at[stage] * du[i];
      l[i] = h * at[stage] * dl[i];
    }
    cb_status status = cb_rigid_half_turn(h, s->t, sqrt(cb_dot3(z, z)));
    if (!status) status = rates(&n, s->t + at[stage] * h, stage ? z : NULL, l, du, dl, next.Y, next.mu);
    if (status) return status;
    cb_add6(h * weight[stage], du, u);
    cb_add6(h * weight[stage], dl, gained);
  }
  cb_status status = cb_rigid_half_turn(h, s->t, sqrt(cb_dot3(u, u)));
  if (status) return status;
  moved(&n, u, dx, q);
  cb_quaternion_project(q);
  cb_rigid_move(&next, dx, q, gained);
  next.t = s->t + h;
  if (!cb_finite6(next.world) || !cb_finite6(u))
    return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", h,
                   s->t);
  status = cb_rigid_twist(p, &next, next.Y);
  if (status) return status;
  s->t = next.t;
  s->known = 0;
  for (int i = 0; i < 4; i++) s->g.q[i] = next.g.q[i];
  for (int i = 0; i < 3; i++) {
    s->g.x[i] = next.g.x[i];
    s->x_low[i] = next.x_low[i];
  }
  for (int i = 0; i < 6; i++) {
    s->world[i] = next.world[i];
    s->world_low[i] = next.world_low[i];
    s->Y[i] = next.Y[i];
    s->mu[i] = s->momentum[i] = next.momentum[i];
  }
  return CB_OK;
}

static const cb_param table[] = {{NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status create(cb_integrator *in, const void *params) {
  (void)params;
  in->solver = "explicit";
  return CB_OK;
}

static cb_status step(cb_integrator *in, void *state, double h) { return cb_rigid_step_rkmk4(in->problem, h, state); }

static cb_status step_joined(cb_integrator *in, cb_mechanism *m, const cb_mechanism_bodies *b, double t, double h,
                             int *failed) {
  (void)in;
  return cb_mechanism_step_rkmk4(m, b, t, h, failed);
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  (void)in;
  *order = 4;
  *symplectic = *symmetric = false;
}

const cb_integrator_class cb_integrator_rkmk4 = {
    .name = "rkmk4",
    .title = "Runge-Kutta-Munthe-Kaas of order 4 on SE(3), SO(4), SO(3,1)",
    .doc = "Explicit, order 4; for bodies in a fluid.",
    .solves = &cb_problem_lie_group,
    .params = table,
    .create = create,
    .properties = properties,
    .step = step,
    .step_joined = step_joined,
};
