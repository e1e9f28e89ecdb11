/* The stiff floor (equations: floor.h). In the body's axes, with n = R^T up, w = v + omega × x + x' of a vertex at x:
 *
 *   d = height - <x_g, up> - <x, n>,  w_n = <w, n>,  w_t = w - w_n n,  s = sqrt(|w_t|^2 + creep^2)
 *   N = share (stiffness d - damping w_n)+,   force N (n - friction w_t/s),   torque x × force
 * Derivatives along dY: dw = dv + domega × x; along g (1 + hat(xi)): dn = n × xi_omega,
 * dd = -<n, xi_v + xi_omega × x>.
 */
#include "fluid/floor.h"
#include <math.h>

typedef struct touch {
  const cb_floor *f;
  double share, n[3];
  double x[3], w[3], depth; /* of a vertex */
  double N, wn, t[3], s;
} touch;

/* N, w_t and s; false where the floor does not push. */
static bool press(touch *c) {
  c->wn = cb_dot3(c->w, c->n);
  c->N = c->share * (c->f->stiffness * c->depth - c->f->damping * c->wn);
  for (int i = 0; i < 3; i++) c->t[i] = c->w[i] - c->wn * c->n[i];
  c->s = sqrt(cb_dot3(c->t, c->t) + c->f->creep * c->f->creep);
  if (!(c->s > 0)) c->s = INFINITY; /* without creep what does not slide has no friction */
  return c->N > 0;
}

static void add_at(const double x[3], const double force[3], double *F, int stride) {
  double torque[3];
  cb_cross3(x, force, torque);
  for (int i = 0; i < 3; i++) F[i * stride] += torque[i], F[(3 + i) * stride] += force[i];
}

/* Adds the change of the wrench with dw, dn and dd to a column of a matrix. */
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

void cb_floor_wrench(const cb_floor *f, int n, const double (*x)[3], const double (*v)[3], const cb_pose *g,
                     const double Y[6], double F[6], double dF[6][6], double dpose[6][6], double *energy) {
  if (f->kind != CB_FLOOR_STIFF) return;
  double r[3][3];
  touch c = {.f = f, .share = 1.0 / n};
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, f->up, c.n);
  const double level = f->height - cb_dot3(g->x, f->up);
  for (int i = 0; i < n; i++) {
    c.depth = level - cb_dot3(x[i], c.n);
    if (!(c.depth > 0)) continue;
    cb_cross3(Y, x[i], c.w);
    for (int k = 0; k < 3; k++) c.x[k] = x[i][k], c.w[k] += Y[3 + k] + (v ? v[i][k] : 0);
    if (energy) *energy += c.share * f->stiffness * c.depth * c.depth / 2;
    if (!press(&c)) continue;
    double force[3];
    for (int k = 0; k < 3; k++) force[k] = c.N * (c.n[k] - f->friction * c.t[k] / c.s);
    if (F) add_at(x[i], force, F, 1);
    if (dF || dpose) differentiate(&c, dF, dpose);
  }
}
