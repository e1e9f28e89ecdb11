/* One step of hamilton_pontryagin and of rkmk4 in a curved space (equations and symbols: fluid/rigid_step.h).
 * Hamilton–Pontryagin uses Newton's matrix J on the six unknowns Y:
 *
 *   ds s^-1 = X dY,  A (1 + Ad_s) X = h          s^-1 ds = Z dY,  Z = Ad_s^-1 X
 *   dB B^-1 = (X_omega + K X_v × t) dY,  t = tan_K(|y|/2) y/|y|,  tan_K = s_K/c_K
 *   J = A^T (K + mu_g Z) + h d(A^T mu)/d(hY) - h/2 (B (F_Y + F_g Z) + dB B^-1 × B F)
 * A = dtau^-1_{hY}; mu = K Y + mu0; K: the inertia, but the curvature in the line of dB; s = T(y) B: the half step, s s
 * = tau(h Y), with the transvection T by y and the rotation B; X_omega, X_v: the angular and linear rows of X; mu_g,
 * F_g: derivatives in the pose; F_Y: derivative in the twist. The matrix is reused while each change is at most a
 * fiftieth of the previous one. The wrench G of fluid/rigid_step.h is shared between the two nodes, as in that file: 2
 * (1 + Ad_s)^-T G is added to B F, and 2 (1 + Ad_s^-1)^-T G to B^T F.
 */
#include "fluid/rigid_step.h"
#include "numerics/vec3.h"

#include <string.h>

enum { MAXIMUM = 40 };

typedef cb_rigid_curved_trial step;

static cb_status not_finite(const step *e) {
  return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", e->h,
                 e->s->t);
}

/* Adds 2 (1 + Ad_m)^-T G to a load. */
static cb_status share_slope(const step *e, const cb_pose *m, const double G[6], double load[6]) {
  double Ad[6][6], transposed[6][6], x[6];
  cb_pose_adjoint_in(e->curvature, m, Ad);
  for (int i = 0; i < 36; i++) transposed[i / 6][i % 6] = Ad[i % 6][i / 6] + (i % 7 ? 0 : 1);
  memcpy(x, G, sizeof x);
  if (!cb_solve6((const double(*)[6])transposed, 1, x))
    return cb_fail(CB_STEP_SINGULAR, "a step of %g at t = %g moves the body too far: use a smaller `step`", e->h,
                   e->s->t);
  cb_add6(2, x, load);
  return CB_OK;
}

/* Adds the wrench G to the loads of both nodes. The derivative of G in Y is left out of Newton's matrix, because it is
 * of the order h^2. */
static cb_status place_slope(step *e, const double Y[6]) {
  double G[6] = {0};
  cb_pose s, back;
  const cb_status status = e->p->inertia_wrench(e->p->self, e->t, &e->middle, Y, G, NULL);
  if (status) return status;
  cb_biquaternion_pose(e->curvature, &e->half, 0, &s, NULL);
  cb_pose_inverse(&s, &back);
  const cb_status shared = share_slope(e, &s, G, e->first);
  return shared ? shared : share_slope(e, &back, G, e->last);
}

/* Computes the poses that follow from the twist Y, and the values of mu and F at them; with `first` also K and mu0, and
 * with with_derivative also the derivatives of F. */
static cb_status place(step *e, const double Y[6], bool first, bool with_derivative) {
  const cb_rigid_problem *p = e->p;
  cb_biquaternion there;
  double hY[6], r[3][3];
  for (int i = 0; i < 6; i++) hY[i] = e->h * Y[i];
  cb_biquaternion_tau(e->map, e->curvature, hY, &e->move);
  cb_biquaternion_half(e->curvature, &e->move, &e->half);
  if (!isfinite(e->half.a[0] + e->half.b[0]))
    return cb_fail(CB_STEP_NO_CONVERGENCE,
                   "a step of %g at t = %g moves the body farther than its map can represent: use a smaller `step`",
                   e->h, e->s->t);
  cb_biquaternion_screw(&e->half, &e->turn);
  if (first || p->wrench || p->inertia_wrench) {
    cb_biquaternion_multiply(e->curvature, &e->at, &e->half, &there);
    cb_biquaternion_pose(e->curvature, &there, e->scale, &e->middle, NULL);
  }
  if (first) {
    if (p->expect) p->expect(p->self, e->t, &e->middle, Y);
    const cb_status status = p->inertia(p->self, e->t, &e->middle, e->K, e->mu0);
    if (status) return status;
  }
  cb_apply6(e->K, Y, e->mu);
  cb_add6(1, e->mu0, e->mu);
  memset(e->F, 0, sizeof e->F);
  memset(e->dF, 0, sizeof e->dF);
  cb_status status = CB_OK;
  if (p->wrench) status = p->wrench(p->self, e->t, &e->middle, Y, e->F, with_derivative ? e->dF : NULL);
  cb_quaternion_rotation(e->turn.q, r);
  cb_turn6(r, e->F, e->first);
  cb_turn6_transposed(r, e->F, e->last);
  return status || !p->inertia_wrench ? status : place_slope(e, Y);
}

/* Computes X and Z of the comment at the top of this file. */
static bool variations(const step *e, const double hY[6], double X[6][6], double Z[6][6]) {
  double A[6][6], Ad[6][6], product[6][6] = {{0}}, inverse[6][6];
  cb_pose s, back;
  cb_biquaternion_pose(e->curvature, &e->half, 0, &s, NULL);
  cb_pose_adjoint_in(e->curvature, &s, Ad);
  for (int i = 0; i < 6; i++) Ad[i][i] += 1;
  cb_pose_dtau_inverse_in(e->map == CB_SE3_TLN ? CB_SE3_CAYLEY : e->map, e->curvature, hY, A);
  cb_add_product6((const double(*)[6])A, (const double(*)[6])Ad, product);
  for (int i = 0; i < 36; i++) X[i / 6][i % 6] = i / 6 == i % 6 ? e->h : 0;
  if (!cb_solve6((const double(*)[6])product, 6, X[0])) return false;
  cb_pose_inverse(&s, &back);
  cb_pose_adjoint_in(e->curvature, &back, inverse);
  memset(Z, 0, 36 * sizeof **Z);
  cb_add_product6((const double(*)[6])inverse, (const double(*)[6])X, Z);
  return true;
}

/* Computes the derivative of B F in Y, and M = K + mu_g Z. */
static cb_status load_derivative(step *e, const double Y[6], const double hY[6], double M[6][6]) {
  double X[6][6], Z[6][6], r[3][3], t[3];
  if (!variations(e, hY, X, Z))
    return cb_fail(CB_STEP_SINGULAR, "a step of %g at t = %g moves the body too far: use a smaller `step`", e->h,
                   e->s->t);
  if (e->p->pose_derivative) {
    double mu_g[6][6] = {{0}}, F_g[6][6] = {{0}};
    const cb_status status = e->p->pose_derivative(e->p->self, e->t, &e->middle, Y, mu_g, F_g);
    if (status) return status;
    cb_add_product6((const double(*)[6])mu_g, (const double(*)[6])Z, M);
    cb_add_product6((const double(*)[6])F_g, (const double(*)[6])Z, e->dF);
  }
  cb_quaternion_rotation(e->turn.q, r);
  for (int i = 0; i < 3; i++) t[i] = e->turn.s[i] / e->turn.C;
  for (int j = 0; j < 6; j++) {
    const double moved[3] = {X[3][j], X[4][j], X[5][j]};
    double change[6], turned[6], by[3], column[6];
    for (int i = 0; i < 6; i++) column[i] = e->dF[i][j];
    cb_turn6(r, column, turned);
    cb_cross3(moved, t, by);
    for (int i = 0; i < 3; i++) by[i] = X[i][j] + e->curvature * by[i];
    cb_cross3(by, e->first, change);
    cb_cross3(by, e->first + 3, change + 3);
    for (int i = 0; i < 6; i++) e->dfirst[i][j] = turned[i] + change[i];
  }
  return CB_OK;
}

/* Computes Newton's matrix J at Y. */
static cb_status linearise(step *e, const double Y[6], const double hY[6], double J[6][6]) {
  double D[6][6], M[6][6];
  memcpy(M, e->K, sizeof M);
  const cb_status status = e->p->wrench ? load_derivative(e, Y, hY, M) : CB_OK;
  if (status) return status;
  cb_pose_dtau_inverse_transpose_derivative_in(e->map, e->curvature, hY, e->mu, D);
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) J[i][j] = e->h * D[i][j] - e->h / 2 * e->dfirst[i][j];
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) J[i][j] += e->A[k][i] * M[k][j];
    if (!cb_finite6(J[i])) return not_finite(e);
  }
  return CB_OK;
}

void cb_rigid_curved_trial_begin(const cb_rigid_problem *p, cb_se3_map map, double h, const cb_rigid_state *s,
                                 cb_rigid_curved_trial *e) {
  e->p = p;
  e->map = map;
  e->s = s;
  e->h = h;
  e->t = s->t + h / 2;
  e->curvature = p->curvature;
  memset(e->dfirst, 0, sizeof e->dfirst);
  e->scale = cb_biquaternion_of(p->curvature, &s->g, &e->at);
}

void cb_rigid_curved_trial_residual(const cb_rigid_curved_trial *e, double residual[6]) {
  cb_apply6_transposed((const double(*)[6])e->A, e->mu, residual);
  for (int i = 0; i < 6; i++) residual[i] = e->s->momentum[i] - residual[i] + e->h / 2 * e->first[i];
}

cb_status cb_rigid_curved_trial_at(cb_rigid_curved_trial *e, const double Y[6], bool first, double residual[6],
                                   double J[6][6]) {
  double hY[6];
  cb_status status = place(e, Y, first, J != NULL);
  if (status) return status;
  for (int i = 0; i < 6; i++) hY[i] = e->h * Y[i];
  cb_pose_dtau_inverse_in(e->map, e->curvature, hY, e->A);
  if (J && (status = linearise(e, Y, hY, J))) return status;
  cb_rigid_curved_trial_residual(e, residual);
  return CB_OK;
}

cb_status cb_rigid_curved_trial_arrive(cb_rigid_curved_trial *e, const double Y[6]) {
  double hY[6];
  for (int i = 0; i < 6; i++) hY[i] = e->h * Y[i];
  cb_pose_dtau_inverse_in(e->map, e->curvature, hY, e->A);
  return place(e, Y, false, false);
}

/* Computes the update of Y that removes the residual of A^T mu = p_k + h/2 B F. */
static cb_status newton(step *e, const double Y[6], bool first, bool fresh, cb_factors6 *matrix, double update[6]) {
  double residual[6], J[6][6];
  const cb_status status = cb_rigid_curved_trial_at(e, Y, first, residual, fresh ? J : NULL);
  if (status) return status;
  if (fresh && !cb_factor6((const double(*)[6])J, matrix))
    return cb_fail(
        CB_STEP_SINGULAR,
        "Newton's matrix of a step of %g at t = %g is singular: expected a body with mass, or a smaller `step`", e->h,
        e->s->t);
  cb_back6(matrix, residual, update);
  return cb_finite6(update) ? CB_OK : not_finite(e);
}

/* Iterates to round-off. The iteration ends when the next change would be below 1e-15 of the twist. It also ends when
 * changes no longer decrease, and are below 1e-10 of the twist or below the resolution of the pose. */
static cb_status solve(step *e, double Y[6], int *count) {
  double last = 0, scale = 0, rate = 1;
  const double far = sqrt(cb_dot3(e->s->g.x, e->s->g.x)) / fabs(e->h), turn = 1 / fabs(e->h);
  cb_factors6 matrix;
  for (int n = 0; n < MAXIMUM; n++) {
    double update[6];
    const bool fresh = rate > 0.02;
    const cb_status status = newton(e, Y, n == 0, fresh, &matrix, update);
    if (status) return status;
    const double change = cb_rigid_size(e->K, update);
    scale = fmax(fmax(scale, change), cb_rigid_size(e->K, Y));
    rate = change / (n > 0 ? last : scale);
    cb_add6(1, update, Y);
    *count = n + 1;
    const double next = 2 * rate * change / (1 - 2 * rate),
                 blur = 1e-15 * cb_rigid_size(e->K, (double[6]){turn, turn, turn, far, far, far});
    if (change <= 1e-15 * scale || (n > 0 && rate < 0.25 && next <= 1e-15 * scale) ||
        (n > 0 && change >= last && change <= fmax(1e-10 * scale, blur)))
      return cb_rigid_curved_trial_arrive(e, Y);
    last = change;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "Newton's method of a step of %g at t = %g did not converge in %d iterations: use a smaller `step`",
                 e->h, e->s->t, MAXIMUM);
}

cb_status cb_rigid_curved_trial_turn(const cb_rigid_curved_trial *e, const double Y[6], const double *impulse,
                                     double *turn) {
  double K[6][6], momentum[6], spin[6];
  for (int i = 0; i < 6; i++) momentum[i] = e->s->momentum[i] + (impulse ? impulse[i] : 0) + e->h / 2 * e->first[i];
  memcpy(K, e->K, sizeof K);
  cb_status status = cb_rigid_velocity(K, momentum, e->mu0, spin);
  if (status) return status;
  *turn = fabs(e->h) * fmax(sqrt(cb_dot3(Y, Y)), sqrt(cb_dot3(spin, spin)));
  status = cb_rigid_curved_far(e->curvature, e->h, e->s->t, Y);
  return status ? status : cb_rigid_curved_far(e->curvature, e->h, e->s->t, spin);
}

/* For the map tln: sets the momentum to p_{k+1} = (1 + h ad_Y/2)^T mu + h/2 B^T F. */
static void keep_tln(const step *e, const double Y[6], const double after[6], cb_rigid_state *s) {
  double back[6], A[6][6], r[3][3];
  for (int i = 0; i < 6; i++) back[i] = -e->h * Y[i];
  cb_pose_dtau_inverse_in(e->map, e->curvature, back, A);
  cb_apply6_transposed((const double(*)[6])A, e->mu, s->momentum);
  cb_add6(1, after, s->momentum);
  cb_pose_rotation(&s->g, r);
  cb_turn6(r, s->momentum, s->world);
  memset(s->world_low, 0, sizeof s->world_low);
}

cb_status cb_rigid_curved_trial_finish(const cb_rigid_curved_trial *e, const double Y[6], const double *impulse,
                                       double turn, cb_rigid_state *s) {
  double before[6], after[6];
  cb_rigid_state next = *s;
  cb_screw move;
  cb_biquaternion_screw(&e->move, &move);
  for (int i = 0; i < 6; i++) {
    before[i] = e->h / 2 * e->first[i] + (impulse ? impulse[i] : 0);
    after[i] = e->h / 2 * e->last[i];
  }
  cb_rigid_curved_move(e->curvature, &next, &e->move, &move, before, after);
  if (e->map == CB_SE3_TLN) keep_tln(e, Y, after, &next);
  next.t = s->t + e->h;
  next.turn = turn;
  cb_rigid_remember(&next, e->h, Y);
  memcpy(next.mu, e->mu, sizeof next.mu);
  if (!cb_finite6(next.world) || !cb_finite6(Y)) return not_finite(e);
  *s = next;
  return CB_OK;
}

cb_status cb_rigid_curved_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                     int *iterations) {
  step e;
  double Y[6], turn;
  int count = 0;
  cb_rigid_curved_trial_begin(p, map, h, s, &e);
  cb_status status = cb_rigid_curved_takes(p);
  cb_rigid_guess(s, h, Y);
  if (!status) status = solve(&e, Y, &count);
  if (!status) status = cb_rigid_curved_trial_turn(&e, Y, NULL, &turn);
  if (!status) status = cb_rigid_curved_trial_finish(&e, Y, NULL, turn, s);
  if (!status && iterations) *iterations = count;
  return status;
}

/* --- rkmk4: integrators/rkmk4.c with g = g_k exp(u) in the group of the space ---
 *
 *   u' = dexp^-1_{-u} Y,  P' = Ad*_{exp(-u)} F,  K Y = Ad*_{exp(u)} P - mu0
 * P is the momentum in the body's axes at g_k; it is transformed to the next node in double-double arithmetic
 * (numerics/numerics_curved.h).
 */

/* The problem, the state at the start of a step, and its pose as a biquaternion `at` with its scale. */
typedef struct node {
  const cb_rigid_problem *p;
  const cb_rigid_state *s;
  double scale;
  cb_biquaternion at;
} node;

/* Computes the rates du = u' and dP = P', and the twist Y, at time t, displacement u and momentum P. */
static cb_status rates(const node *n, double t, const double u[6], const double P[6], double du[6], double dP[6],
                       double Y[6]) {
  const cb_rigid_problem *p = n->p;
  const double K = p->curvature;
  cb_biquaternion move;
  cb_screw m;
  cb_pose at = n->s->g;
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
  node n = {.p = p, .s = s};
  n.scale = cb_biquaternion_of(p->curvature, &s->g, &n.at);
  cb_status status = cb_rigid_curved_takes(p);
  cb_rigid_state next = *s;
  for (int stage = 0; stage < 4 && !status; stage++) {
    double z[6], P[6];
    for (int i = 0; i < 6; i++) {
      z[i] = h * at[stage] * du[i];
      P[i] = s->momentum[i] + h * at[stage] * dP[i];
    }
    status = cb_rigid_curved_far(p->curvature, h * at[stage], s->t, du);
    if (!status) status = rates(&n, s->t + at[stage] * h, z, P, du, dP, next.Y);
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
    return cb_fail(CB_STEP_NOT_FINITE, "the result of a step of %g at t = %g is not finite: use a smaller `step`", h,
                   s->t);
  status = cb_rigid_twist(p, &next, next.Y);
  if (status) return status;
  memcpy(next.mu, next.momentum, sizeof next.mu);
  *s = next;
  return CB_OK;
}
