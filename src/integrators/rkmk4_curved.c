/* One step of rkmk4 in a curved space: integrators/rkmk4.c with g = g_k exp(u) in the group of the space,
 *
 *   u' = dexp^-1_{-u} Y,  P' = Ad*_{exp(-u)} F,  K Y = Ad*_{exp(u)} P - mu0
 * P the momentum in the body's axes at g_k; it is carried to the next node in twice the precision (rigid_curved.h).
 */
#include "fluid/rigid_curved.h"
#include <string.h>

typedef struct node {
  double scale;
  cb_biquaternion at;
} node;

/* du, dP and the twist at time t, displacement u and momentum P. */
static cb_status rates(const cb_rigid_problem *p, const cb_rigid_state *s, const node *n, double t, const double u[6],
                       const double P[6], double du[6], double dP[6], double Y[6]) {
  const double K = p->curvature;
  cb_biquaternion move;
  cb_screw m;
  cb_pose at = s->g;
  double mu[6], F[6], minus[6];
  cb_biquaternion_tau(CB_SE3_EXPONENTIAL, K, u, &move);
  cb_biquaternion_screw(&move, &m);
  cb_screw_momentum(K, &m, P, mu);
  if (p->wrench || !p->constant) {
    cb_biquaternion there;
    cb_biquaternion_multiply(K, &n->at, &move, &there);
    cb_biquaternion_pose(K, &there, n->scale, &at, NULL);
  }
  cb_status status = cb_rigid_twist_of(p, t, &at, mu, Y);
  if (!status) status = cb_rigid_wrenches(p, t, &at, Y, F, NULL);
  if (status) return status;
  for (int i = 0; i < 6; i++) minus[i] = -u[i];
  cb_pose_dexp_inverse_in(K, minus, Y, du);
  cb_screw_momentum_back(K, &m, F, dP);
  return CB_OK;
}

cb_status cb_rigid_curved_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s) {
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  double u[6] = {0}, gained[6] = {0}, du[6] = {0}, dP[6] = {0};
  node n;
  n.scale = cb_biquaternion_of(p->curvature, &s->g, &n.at);
  cb_status status = cb_rigid_curved_takes(p);
  cb_rigid_state next = *s;
  for (int stage = 0; stage < 4 && !status; stage++) {
    double z[6], P[6];
    for (int i = 0; i < 6; i++) z[i] = h * at[stage] * du[i], P[i] = s->momentum[i] + h * at[stage] * dP[i];
    status = cb_rigid_curved_far(p->curvature, h * at[stage], s->t, du);
    if (!status) status = rates(p, s, &n, s->t + at[stage] * h, z, P, du, dP, next.Y);
    if (status) break;
    cb_add6(h * weight[stage], du, u);
    cb_add6(h * weight[stage], dP, gained);
  }
  for (int i = 0; i < 6; i++) du[i] = u[i] / h;
  if (!status) status = cb_rigid_curved_far(p->curvature, h, s->t, du);
  if (status) return status;
  cb_biquaternion move;
  cb_screw m;
  cb_biquaternion_tau(CB_SE3_EXPONENTIAL, p->curvature, u, &move);
  cb_biquaternion_screw(&move, &m);
  cb_rigid_curved_move(p->curvature, &next, &move, &m, gained, NULL);
  next.t = s->t + h;
  next.known = 0;
  if (!cb_finite6(next.world) || !cb_finite6(u))
    return cb_fail(CB_STEP_NOT_FINITE, "a step of %g at t = %g is not finite", h, s->t);
  status = cb_rigid_twist(p, &next, next.Y);
  if (status) return status;
  memcpy(next.mu, next.momentum, sizeof next.mu);
  *s = next;
  return CB_OK;
}
