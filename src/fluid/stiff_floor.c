/* The stiff floor (equations: floor.h), and steps that outrun it (below). For a vertex at x in the body's axes:
 *
 *   n = R^T up,  w = v + omega × x + x',  d = height - <x_g, up> - <x, n>
 *   w_n = <w, n>,  w_t = w - w_n n,  s = sqrt(|w_t|^2 + creep^2)
 *   N = share (stiffness d - damping w_n), or 0 if this is negative,   force N (n - friction w_t/s),   torque x × force
 *
 * (R, x_g) is the pose, (omega, v) the twist, x' the velocity of the vertex in the body frame, d its depth, and N the
 * normal force on it; its share is 1/vertices. Derivatives in the twist follow from dw = dv + domega × x, those along
 * g (1 + hat(xi)) from dn = n × xi_omega and dd = -<n, xi_v + xi_omega × x>, with xi = (xi_omega, xi_v).
 */
#include "fluid/floor.h"
#include "numerics/small.h"

#include <math.h>
#include <string.h>

typedef struct touch {
  const cb_floor *f;
  double share, n[3];
  double x[3], w[3], depth; /* position, velocity and depth of one vertex */
  double N, wn, t[3], s;
} touch;

/* Finds N, w_n, w_t and s of a vertex (equations above). Returns false if the floor does not push the vertex. */
static bool press(touch *c) {
  c->wn = cb_dot3(c->w, c->n);
  c->N = c->share * (c->f->stiffness * c->depth - c->f->damping * c->wn);
  for (int i = 0; i < 3; i++) c->t[i] = c->w[i] - c->wn * c->n[i];
  c->s = sqrt(cb_dot3(c->t, c->t) + c->f->creep * c->f->creep);
  if (!(c->s > 0)) c->s = INFINITY; /* s is 0 only if creep is 0 and the vertex does not slide: no friction */
  return c->N > 0;
}

static void add_at(const double x[3], const double force[3], double *F, int stride) {
  double torque[3];
  cb_cross3(x, force, torque);
  for (int i = 0; i < 3; i++) {
    F[i * stride] += torque[i];
    F[(3 + i) * stride] += force[i];
  }
}

/* Adds to a column of a matrix the change of a vertex's wrench that belongs to the changes dw, dn and dd of w, n and d.
 */
static void vary(const touch *c, const double dw[3], const double dn[3], double dd, double *column) {
  const double dwn = cb_dot3(dw, c->n) + cb_dot3(c->w, dn), mu = c->f->friction;
  const double dN = c->share * (c->f->stiffness * dd - c->f->damping * dwn);
  double dt[3], force[3];
  for (int i = 0; i < 3; i++) dt[i] = dw[i] - dwn * c->n[i] - c->wn * dn[i];
  const double ds = cb_dot3(c->t, dt) / c->s;
  for (int i = 0; i < 3; i++)
    force[i] = dN * (c->n[i] - mu * c->t[i] / c->s) + c->N * (dn[i] - mu * (dt[i] - c->t[i] * ds / c->s) / c->s);
  add_at(c->x, force, column, 6);
}

static void differentiate(const touch *c, double dF[6][6], double dpose[6][6]) {
  static const double still[3];
  for (int j = 0; j < 3; j++) {
    double e[3] = {0}, turned[3], dn[3];
    e[j] = 1;
    cb_cross3(e, c->x, turned);
    cb_cross3(c->n, e, dn);
    if (dF) {
      vary(c, turned, still, 0, &dF[0][j]);
      vary(c, e, still, 0, &dF[0][3 + j]);
    }
    if (dpose) {
      vary(c, still, dn, -cb_dot3(c->n, turned), &dpose[0][j]);
      vary(c, still, still, -c->n[j], &dpose[0][3 + j]);
    }
  }
}

void cb_floor_wrench(const cb_floor *f, const cb_floor_body *body, double F[6], double dF[6][6], double dpose[6][6],
                     double *energy) {
  if (f->kind != CB_FLOOR_STIFF) return;
  const double(*x)[3] = body->x, (*v)[3] = body->v, *Y = body->Y;
  double r[3][3];
  touch c = {.f = f, .share = 1.0 / body->n};
  cb_pose_rotation(body->g, r);
  cb_apply3_transposed(r, f->up, c.n);
  const double level = f->height - cb_dot3(body->g->x, f->up);
  for (int i = 0; i < body->n; i++) {
    c.depth = level - cb_dot3(x[i], c.n);
    if (!(c.depth > 0)) continue;
    cb_cross3(Y, x[i], c.w);
    for (int k = 0; k < 3; k++) {
      c.x[k] = x[i][k];
      c.w[k] += Y[3 + k] + (v ? v[i][k] : 0);
    }
    if (energy) *energy += c.share * f->stiffness * c.depth * c.depth / 2;
    if (!press(&c)) continue;
    double force[3];
    for (int k = 0; k < 3; k++) force[k] = c.N * (c.n[k] - f->friction * c.t[k] / c.s);
    if (F) add_at(x[i], force, F, 1);
    if (dF || dpose) differentiate(&c, dF, dpose);
  }
}

/* Steps that outrun the damping or friction of a stiff floor (equations: floor.h). The push is the force F of the floor
 * at the twist Y+ of the end of the step. Y- is the twist at the end of a step without the floor, g' the pose half a
 * step before that end, K the inertia, and h the length of the step:
 *
 *   R(Y+) = K (Y+ - Y-) - h F(g', Y+) = 0,   with damping + h stiffness/2 as the damping in F
 *
 * The damping is increased because with Y+ the body moves h/2 (Y- - Y+) less far than without the floor. The springs
 * are thus evaluated at the pose that the body reaches, and a body that lies on the floor stays where the springs hold
 * it. Newton's method with J = K - h dF/dY begins at Y+ = 0, where friction changes fastest. For one vertex the method
 * then approaches the root from one side and does not overshoot. Each Newton step is halved until <R, K^-1 R>
 * decreases.
 */

enum { MAXIMUM = 100, HALVINGS = 30 };

typedef struct contact {
  const cb_floor *f;
  int n;
  const double (*x)[3], (*v)[3];
  const cb_pose *g;
  double h, K[6][6], factor[6][6], before[6]; /* factor: Cholesky's factor of K; before: Y- */
} contact;

bool cb_floor_outruns(const cb_floor *f, double mass, double gravity, double h) {
  return f->kind == CB_FLOOR_STIFF && (h * f->damping > mass || h * f->friction * gravity > f->creep);
}

/* Returns sqrt <K Y, Y>. */
static double size(const contact *c, const double Y[6]) {
  double KY[6], sum = 0;
  cb_apply6(c->K, Y, KY);
  for (int i = 0; i < 6; i++) sum += KY[i] * Y[i];
  return sqrt(fmax(sum, 0));
}

/* Finds R at the twist Y, and J unless J is NULL (equations above). Returns sqrt <R, K^-1 R>. */
static double residual(const contact *c, const double Y[6], double R[6], double J[6][6]) {
  double F[6] = {0}, dF[6][6] = {{0}}, gained[6], change[6], sum = 0;
  cb_floor_wrench(c->f, &(cb_floor_body){c->n, c->x, c->v, c->g, Y}, F, J ? dF : NULL, NULL, NULL);
  for (int i = 0; i < 6; i++) gained[i] = Y[i] - c->before[i];
  cb_apply6(c->K, gained, R);
  for (int i = 0; i < 6; i++) R[i] -= c->h * F[i];
  for (int i = 0; J && i < 36; i++) J[i / 6][i % 6] = c->K[i / 6][i % 6] - c->h * dF[i / 6][i % 6];
  memcpy(change, R, sizeof change);
  cb_cholesky_solve(6, c->factor[0], change);
  for (int i = 0; i < 6; i++) sum += R[i] * change[i];
  return sqrt(fmax(sum, 0));
}

/* Adds `change`, or a part of `change`, to Y, so that the residual becomes smaller than `from`. Returns false if this
 * is not possible. */
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

/* Finds Y+ to round-off. The iteration ends when a change is at most 1e-13 of the twist. If the residual cannot
 * decrease further, a change of at most 1e-9 of the twist is accepted, too. Otherwise returns CB_STEP_NO_CONVERGENCE.
 */
static cb_status solve(const contact *c, double t, double Y[6]) {
  double R[6], change[6], J[6][6];
  const double known = size(c, c->before);
  memset(Y, 0, 6 * sizeof *Y);
  for (int n = 0; n < MAXIMUM; n++) {
    const double from = residual(c, Y, R, J);
    for (int i = 0; i < 6; i++) change[i] = -R[i];
    if (from == 0) return CB_OK;
    if (!cb_solve6(J, 1, change) || !cb_finite6(change)) break;
    const double by = size(c, change), scale = fmax(known, size(c, Y));
    const bool fell = descend(c, from, change, Y);
    if (by <= (fell ? 1e-13 : 1e-9) * scale) return CB_OK;
    if (!fell) break;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "the floor's damping and friction at t = %g did not converge: try a smaller step", t);
}

cb_status cb_floor_push(const cb_floor *f, const cb_floor_shape *shape, const cb_rigid_problem *p, double t, double h,
                        const cb_rigid_state *s, double push[6], bool *met) {
  static const double still[6];
  cb_floor implicit = *f;
  contact c = {.f = &implicit, .h = h};
  cb_pose back, g;
  double K[6][6], mu0[6], Y[6], F[6] = {0}, r[3][3], move[6], normal_force = 0;
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
  cb_floor_wrench(&implicit, &(cb_floor_body){c.n, c.x, c.v, c.g, still}, NULL, NULL, NULL, &normal_force);
  if (!(normal_force > 0)) return CB_OK;
  if (!cb_cholesky(6, c.K[0], 1e-14, c.factor[0]))
    return cb_fail(
        CB_STEP_SINGULAR,
        "the inertia tensor of the body at t = %g is singular: expected mass or added mass in every direction", t);
  status = solve(&c, t, Y);
  if (status) return status;
  cb_floor_wrench(&implicit, &(cb_floor_body){c.n, c.x, c.v, c.g, Y}, F, NULL, NULL, NULL);
  cb_pose_rotation(&g, r);
  cb_turn6(r, F, push);
  *met = true;
  return CB_OK;
}
