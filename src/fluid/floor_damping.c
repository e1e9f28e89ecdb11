/* Damping and friction of a stiff floor that a step outruns (equations: floor.h): the push that is the floor's for the
 * twist Y+ that the step ends with. With Y- and the pose of a step without the floor, and the pose g' that is half a
 * step of Y- before
 *
 *   R(Y+) = K (Y+ - Y-) - h F(g', Y+) = 0,   damping + h stiffness/2 in F
 * since with Y+ the body gets less far than without the floor by h/2 (Y- - Y+): springs are those of where it gets, and
 * what lies on the floor stays where they bear it. Newton's method with J = K - h dF/dY begins at rest, from where it
 * comes to the root of one vertex on the side on which friction flattens and does not pass it; its steps are halved
 * until <R, K^-1 R> falls.
 */
#include "fluid/floor.h"
#include "numerics/small.h"
#include <math.h>
#include <string.h>

enum { MOST = 100, HALVINGS = 30 };

typedef struct contact {
  const cb_floor *f;
  int n;
  const double (*x)[3], (*v)[3];
  const cb_pose *g;
  double h, K[6][6], factor[6][6], before[6]; /* factor: Cholesky's of K; before: Y- */
} contact;

bool cb_floor_outruns(const cb_floor *f, double mass, double gravity, double h) {
  return f->kind == CB_FLOOR_STIFF && (h * f->damping > mass || h * f->friction * gravity > f->creep);
}

/* sqrt <K Y, Y> */
static double size(const contact *c, const double Y[6]) {
  double KY[6], sum = 0;
  cb_apply6(c->K, Y, KY);
  for (int i = 0; i < 6; i++) sum += KY[i] * Y[i];
  return sqrt(fmax(sum, 0));
}

/* R, and J where it is not NULL; returns sqrt <R, K^-1 R>. */
static double residual(const contact *c, const double Y[6], double R[6], double J[6][6]) {
  double F[6] = {0}, dF[6][6] = {{0}}, gained[6], change[6], sum = 0;
  cb_floor_wrench(c->f, c->n, c->x, c->v, c->g, Y, F, J ? dF : NULL, NULL, NULL);
  for (int i = 0; i < 6; i++) gained[i] = Y[i] - c->before[i];
  cb_apply6(c->K, gained, R);
  for (int i = 0; i < 6; i++) R[i] -= c->h * F[i];
  for (int i = 0; J && i < 36; i++) J[i / 6][i % 6] = c->K[i / 6][i % 6] - c->h * dF[i / 6][i % 6];
  memcpy(change, R, sizeof change);
  cb_cholesky_solve(6, c->factor[0], change);
  for (int i = 0; i < 6; i++) sum += R[i] * change[i];
  return sqrt(fmax(sum, 0));
}

/* Y + change, or less of it, where the residual is smaller than `from`; false: nowhere. */
static bool descend(const contact *c, double from, const double change[6], double Y[6]) {
  double share = 1, R[6];
  for (int half = 0; half < HALVINGS; half++, share /= 2) {
    double next[6];
    memcpy(next, Y, sizeof next);
    cb_add6(share, change, next);
    if (!(residual(c, next, R, NULL) <= (1 - 1e-4 * share) * from)) continue;
    memcpy(Y, next, sizeof next);
    return true;
  }
  return false;
}

/* To round-off: where the residual falls no longer, changes are below 1e-9 of the twist. */
static cb_status solve(const contact *c, double t, double Y[6]) {
  double R[6], change[6], J[6][6];
  const double known = size(c, c->before);
  memset(Y, 0, 6 * sizeof *Y);
  for (int n = 0; n < MOST; n++) {
    const double from = residual(c, Y, R, J);
    for (int i = 0; i < 6; i++) change[i] = -R[i];
    if (from == 0) return CB_OK;
    if (!cb_solve6(J, 1, change) || !cb_finite6(change)) break;
    const double by = size(c, change), scale = fmax(known, size(c, Y));
    const bool fell = descend(c, from, change, Y);
    if (by <= (fell ? 1e-13 : 1e-9) * scale) return CB_OK;
    if (!fell) break;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "the floor's damping and friction at t = %g did not converge", t);
}

cb_status cb_floor_push(const cb_floor *f, const cb_floor_shape *shape, const cb_rigid_problem *p, double t, double h,
                        const cb_rigid_state *s, double push[6], bool *met) {
  static const double still[6];
  cb_floor implicit = *f;
  contact c = {.f = &implicit, .h = h};
  cb_pose back, g;
  double K[6][6], mu0[6], Y[6], F[6] = {0}, r[3][3], move[6], pressed = 0;
  implicit.damping += h * f->stiffness / 2;
  *met = false;
  cb_status status = shape->at(shape->self, t, &c.n, &c.x, &c.v);
  if (!status) status = p->inertia(p->self, t, &s->g, c.K, mu0);
  memcpy(K, c.K, sizeof K);
  if (!status) status = cb_rigid_velocity(K, s->momentum, mu0, c.before);
  if (status) return status;
  for (int i = 0; i < 6; i++) move[i] = -h / 2 * c.before[i];
  cb_se3_tau(CB_SE3_EXPONENTIAL, move, &back);
  cb_pose_multiply(&s->g, &back, &g);
  c.g = &g;
  cb_floor_wrench(&implicit, c.n, c.x, c.v, c.g, still, NULL, NULL, NULL, &pressed);
  if (!(pressed > 0)) return CB_OK;
  if (!cb_cholesky(6, c.K[0], 1e-14, c.factor[0]))
    return cb_fail(CB_STEP_SINGULAR, "the inertia tensor of the body at t = %g is singular", t);
  status = solve(&c, t, Y);
  if (status) return status;
  cb_floor_wrench(&implicit, c.n, c.x, c.v, c.g, Y, F, NULL, NULL, NULL);
  cb_pose_rotation(&g, r);
  cb_turn6(r, F, push);
  *met = true;
  return CB_OK;
}
