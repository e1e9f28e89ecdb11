/* See fluid/rigid_curved.h. */
#include "fluid/rigid_curved.h"

#include "fluid/rigid_step_private.h"
#include "numerics/pose_curved.h"

#include <math.h>
#include <string.h>

enum { MOST = 60 };

void cb_rigid_casimirs(double K, const double mu[6], double out[2]) {
  out[0] = cb_dot3(mu + 3, mu + 3) + K * cb_dot3(mu, mu);
  out[1] = cb_dot3(mu, mu + 3);
}

static cb_status check(const cb_rigid_problem *p, double h) {
  if (!isfinite(h) || h == 0) return cb_fail(CB_ERROR_ARGUMENT, "a step of length %g", h);
  if (p->pose_dependent || p->inertia_wrench)
    return cb_fail(CB_ERROR_UNSUPPORTED, "an inertia that depends on the place is for flat space: expected none where "
                                         "the curvature is %g",
                   p->curvature);
  return CB_OK;
}

/* By the size of a step in units of the map: a turn, and a way in radii of curvature. */
static cb_status check_reach(const cb_rigid_problem *p, double h, double t, const double hY[6]) {
  return cb_rigid_half_turn(h, t, sqrt(cb_dot3(hY, hY)) + sqrt(fabs(p->curvature) * cb_dot3(hY + 3, hY + 3)));
}

static cb_status end(const cb_rigid_problem *p, double h, const cb_pose *move, const double momentum[6],
                     cb_rigid_state *next) {
  double r[3][3];
  cb_pose_multiply_in(p->curvature, &next->g, move, &next->g);
  cb_pose_rotation(&next->g, r);
  memcpy(next->momentum, momentum, sizeof next->momentum);
  cb_turn6((const double(*)[3])r, momentum, next->world);
  memset(next->world_low, 0, sizeof next->world_low);
  memset(next->x_low, 0, sizeof next->x_low);
  if (!cb_finite6(next->world) || !isfinite(next->g.x[0] + next->g.x[1] + next->g.x[2]))
    return cb_fail(CB_STEP_NOT_FINITE, "a step of %g at t = %g is not finite", h, next->t);
  next->t += h;
  next->known = 0;
  return CB_OK;
}

/* --- Runge-Kutta-Munthe-Kaas --- */

/* du, and dpi at time t, displacement u and momentum pi. */
static cb_status rates(const cb_rigid_problem *p, const cb_rigid_state *s, double t, const double u[6],
                       const double pi[6], double du[6], double dpi[6], double Y[6]) {
  const double K = p->curvature;
  double mu[6], F[6], minus[6];
  cb_pose move, back, at;
  cb_pose_exp_in(K, u, &move);
  cb_pose_inverse_in(K, &move, &back);
  cb_pose_multiply_in(K, &s->g, &move, &at);
  cb_pose_coadjoint_in(K, &move, pi, mu);
  cb_status status = cb_rigid_twist_of(p, t, &at, mu, Y);
  if (!status) status = cb_rigid_wrenches(p, t, &at, Y, F, NULL);
  if (status) return status;
  for (int i = 0; i < 6; i++) minus[i] = -u[i];
  cb_dexp_inverse_in(K, minus, Y, du);
  cb_pose_coadjoint_in(K, &back, F, dpi);
  return CB_OK;
}

cb_status cb_rigid_curved_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s) {
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  double u[6] = {0}, gained[6] = {0}, du[6] = {0}, dpi[6] = {0}, mu[6];
  cb_rigid_state next = *s;
  cb_pose move;
  cb_status status = check(p, h);
  for (int stage = 0; stage < 4 && !status; stage++) {
    double z[6], pi[6];
    for (int i = 0; i < 6; i++) z[i] = h * at[stage] * du[i], pi[i] = s->momentum[i] + h * at[stage] * dpi[i];
    status = check_reach(p, h, s->t, z);
    if (!status) status = rates(p, s, s->t + at[stage] * h, z, pi, du, dpi, next.Y);
    cb_add6(h * weight[stage], du, u);
    cb_add6(h * weight[stage], dpi, gained);
  }
  if (!status) status = check_reach(p, h, s->t, u);
  if (status) return status;
  cb_add6(1, s->momentum, gained);
  cb_pose_exp_in(p->curvature, u, &move);
  cb_pose_coadjoint_in(p->curvature, &move, gained, mu);
  status = end(p, h, &move, mu, &next);
  if (!status) status = cb_rigid_twist(p, &next, next.Y);
  if (status) return status;
  memcpy(next.mu, next.momentum, sizeof next.mu);
  *s = next;
  return CB_OK;
}

/* --- Hamilton-Pontryagin --- */

typedef struct middle {
  cb_pose move, half, back; /* tau(hY), s and its inverse */
  double K[6][6], mu0[6], mu[6], F[6];
} middle;

static cb_status find_middle(const cb_rigid_problem *p, const cb_rigid_state *s, double h, const double Y[6],
                             middle *m) {
  double hY[6];
  cb_pose at;
  for (int i = 0; i < 6; i++) hY[i] = h * Y[i];
  cb_status status = check_reach(p, h, s->t, hY);
  if (status) return status;
  cb_pose_cayley_in(p->curvature, hY, &m->move);
  cb_pose_half_in(p->curvature, &m->move, &m->half);
  cb_pose_inverse_in(p->curvature, &m->half, &m->back);
  cb_pose_multiply_in(p->curvature, &s->g, &m->half, &at);
  if (p->constant) {
    memcpy(m->K, p->constant->K, sizeof m->K);
    memcpy(m->mu0, p->constant->mu0, sizeof m->mu0);
  } else {
    if (p->expect) p->expect(p->self, s->t + h / 2, &at, Y);
    status = p->inertia(p->self, s->t + h / 2, &at, m->K, m->mu0);
  }
  if (!status) status = cb_rigid_wrenches(p, s->t + h / 2, &at, Y, m->F, NULL);
  if (status) return status;
  cb_apply6((const double(*)[6])m->K, Y, m->mu);
  cb_add6(1, m->mu0, m->mu);
  return CB_OK;
}

/* Newton's matrix to O(h^2): K - h/2 d(ad*_Y mu), mu = K Y + mu0. */
static void matrix(const cb_rigid_problem *p, double h, const double Y[6], const middle *m, double J[6][6]) {
  for (int j = 0; j < 6; j++) {
    double e[6] = {0}, Ke[6], first[6], second[6];
    e[j] = 1;
    for (int i = 0; i < 6; i++) Ke[i] = m->K[i][j];
    cb_ad_star_in(p->curvature, e, m->mu, first);
    cb_ad_star_in(p->curvature, Y, Ke, second);
    for (int i = 0; i < 6; i++) J[i][j] = Ke[i] - h / 2 * (first[i] + second[i]);
  }
}

/* Changes of the twist fall by h^2 |Y|^2 a time. They have come to round-off where they are below 1e-15 of it, or no
 * longer fall below 1e-10. */
static cb_status solve(const cb_rigid_problem *p, const cb_rigid_state *s, double h, double Y[6], middle *m,
                       double first[6], int *count) {
  double last = INFINITY;
  for (int n = 0; n < MOST; n++) {
    double hY[6], A[6][6], J[6][6], left[6], change[6], size = 0, moved = 0;
    cb_factors6 f;
    cb_status status = find_middle(p, s, h, Y, m);
    if (status) return status;
    for (int i = 0; i < 6; i++) hY[i] = h * Y[i];
    cb_dcayley_inverse_in(p->curvature, hY, A);
    cb_apply6_transposed((const double(*)[6])A, m->mu, left);
    cb_pose_coadjoint_in(p->curvature, &m->back, m->F, first);
    for (int i = 0; i < 6; i++) {
      first[i] = s->momentum[i] + h / 2 * first[i];
      left[i] = first[i] - left[i];
    }
    matrix(p, h, Y, m, J);
    if (!cb_factor6((const double(*)[6])J, &f))
      return cb_fail(CB_STEP_SINGULAR, "the matrix of a step of %g at t = %g is singular", h, s->t);
    cb_back6(&f, left, change);
    cb_add6(1, change, Y);
    for (int i = 0; i < 6; i++) size = fmax(size, fabs(Y[i])), moved = fmax(moved, fabs(change[i]));
    *count = n + 1;
    if (!cb_finite6(Y)) break;
    if (moved <= 1e-15 * size || (moved >= last && moved <= 1e-10 * size)) return find_middle(p, s, h, Y, m);
    last = moved;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "Newton's method of a step of %g at t = %g did not converge in %d iterations",
                 h, s->t, *count);
}

cb_status cb_rigid_curved_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                     int *iterations) {
  double Y[6], first[6], mu[6], second[6], change[6];
  int count = 0;
  middle m;
  cb_status status = check(p, h);
  if (!status && map != CB_SE3_CAYLEY)
    status = cb_fail(CB_ERROR_UNSUPPORTED, "a map that is for flat space: expected cayley where the curvature is %g",
                     p->curvature);
  if (status) return status;
  memcpy(Y, s->Y, sizeof Y);
  status = solve(p, s, h, Y, &m, first, &count);
  if (status) return status;
  cb_rigid_state next = *s;
  cb_pose_coadjoint_in(p->curvature, &m.back, m.F, change);
  for (int i = 0; i < 6; i++) first[i] = s->momentum[i] + h / 2 * change[i];
  cb_pose_coadjoint_in(p->curvature, &m.move, first, mu);
  cb_pose_coadjoint_in(p->curvature, &m.half, m.F, second);
  cb_add6(h / 2, second, mu);
  status = end(p, h, &m.move, mu, &next);
  if (status) return status;
  memcpy(next.Y, Y, sizeof Y);
  memcpy(next.mu, m.mu, sizeof m.mu);
  next.turn = fabs(h) * sqrt(cb_dot3(Y, Y));
  *s = next;
  if (iterations) *iterations = count;
  return CB_OK;
}
