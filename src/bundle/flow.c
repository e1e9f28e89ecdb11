/* The velocity of a body without inertia in a viscous fluid that moves with a linear velocity field. In a perfect fluid
 * the same equations hold if the flow is uniform, L = 0.
 *
 *   u(x) = u0 + L x;   xi = -A r' + (w, v) + S E,   in the axes of the body at the place (R, x):
 *   G = R^T L R,  v = R^T u(x),  w_i = (G_kj - G_jk)/2 for (i, j, k) cyclic,  E = (G + G^T)/2
 * xi: body velocity; A: connection; r': rate of the shape; u: velocity of the fluid, with the constant matrix L. Near
 * the body the flow is the sum of a rigid motion (w, v), which carries the body along, and a pure strain E about the
 * origin of the body frame. The columns of S (cb_bundle_class.strain) are the velocities of the body in strains of rate
 * 1.
 * Units: those of the bundle, and its unit of time. Source: Kim & Karrila, Microhydrodynamics (1991), chapter 5.
 */
#include "bundle/bundle_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

/* The indices of the entries of a symmetric matrix, in the order of the columns of S. */
static const int pair[CB_STRAINS][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};

/* Returns the number of dimensions of the flat space in which the elements of the group are motions; 0 if they are no
 * such motions. */
static int dimensions(const cb_group *G) {
  if (!strcmp(G->name, "se2")) return 2;
  if (!strcmp(G->name, "se3")) return 3;
  return G->abelian && G->name[0] == 'r' && G->dim <= 3 ? G->dim : 0;
}

static int first_of_place(const cb_group *G) { return !strcmp(G->name, "se3") ? 4 : 0; }

bool cb_group_place(const cb_group *G, const double *g, double R[3][3], double x[3]) {
  const int n = dimensions(G);
  double m[16];
  for (int i = 0; i < 9; i++) R[i / 3][i % 3] = i / 3 == i % 3;
  x[0] = x[1] = x[2] = 0;
  if (n == 0) return false;
  G->matrix(G, g, m);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) R[i][j] = m[i * (n + 1) + j];
    x[i] = m[i * (n + 1) + n];
  }
  return true;
}

void cb_group_shift(const cb_group *G, const double d[3], double *g) {
  for (int i = 0; i < dimensions(G); i++) g[first_of_place(G) + i] += d[i];
}

/* Writes the twist with the angular velocity w and the velocity v as an element xi of the algebra of G. */
static void twist_of(const cb_group *G, const double w[3], const double v[3], double *xi) {
  const int n = dimensions(G);
  if (G->dim == 6) memcpy(xi, w, 3 * sizeof *w);
  for (int i = 0; i < n; i++) xi[(G->dim == 6 ? 3 : 0) + i] = v[i];
  if (G->dim == 3 && n == 2) xi[2] = w[2];
}

static void turned(double R[3][3], const double M[3][3], double out[3][3]) { /* computes R^T M R */
  double MR[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) MR[i][j] = M[i][0] * R[0][j] + M[i][1] * R[1][j] + M[i][2] * R[2][j];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = R[0][i] * MR[0][j] + R[1][i] * MR[1][j] + R[2][i] * MR[2][j];
}

bool cb_bundle_flow_strains(const cb_bundle_flow *f) {
  for (int i = 0; i < 9; i++)
    if (f->gradient[i / 3][i % 3] + f->gradient[i % 3][i / 3] != 0) return true;
  return false;
}

void cb_bundle_carried(const cb_bundle *b, const cb_bundle_flow *f, const double *S, const double *g, double *xi) {
  double R[3][3], x[3], u[3], v[3], G[3][3];
  cb_group_place(b->group, g, R, x);
  for (int i = 0; i < 3; i++) u[i] = f->velocity[i] + cb_dot3(f->gradient[i], x);
  for (int i = 0; i < 3; i++) v[i] = R[0][i] * u[0] + R[1][i] * u[1] + R[2][i] * u[2];
  turned(R, f->gradient, G);
  const double w[3] = {(G[2][1] - G[1][2]) / 2, (G[0][2] - G[2][0]) / 2, (G[1][0] - G[0][1]) / 2};
  twist_of(b->group, w, v, xi);
  for (int k = 0; S && k < CB_STRAINS; k++) {
    const double E = (G[pair[k][0]][pair[k][1]] + G[pair[k][1]][pair[k][0]]) / 2;
    for (int a = 0; a < b->group->dim; a++) xi[a] += S[a * CB_STRAINS + k] * E;
  }
}

void cb_bundle_strain_in_frame(const cb_group *G, const double *h, const double *inner, double *S) {
  double R[3][3], d[3], Ad[CB_GROUP_DIM * CB_GROUP_DIM], back[CB_GROUP_SIZE];
  const int dim = G->dim;
  cb_group_place(G, h, R, d);
  G->inverse(G, h, back);
  G->adjoint(G, back, Ad);
  for (int k = 0; k < CB_STRAINS; k++) {
    double own[3][3] = {{0}}, E[3][3], Rt[3][3], xi[CB_GROUP_DIM] = {0}, v[3];
    own[pair[k][0]][pair[k][1]] = own[pair[k][1]][pair[k][0]] = 1;
    for (int i = 0; i < 9; i++) Rt[i / 3][i % 3] = R[i % 3][i / 3];
    turned(Rt, (const double(*)[3])own, E);
    for (int i = 0; i < 3; i++) v[i] = -cb_dot3(E[i], d);
    twist_of(G, (const double[3]){0}, v, xi);
    for (int a = 0; a < dim; a++)
      for (int l = 0; l < CB_STRAINS; l++) xi[a] += inner[a * CB_STRAINS + l] * E[pair[l][0]][pair[l][1]];
    for (int a = 0; a < dim; a++) {
      S[a * CB_STRAINS + k] = 0;
      for (int c = 0; c < dim; c++) S[a * CB_STRAINS + k] += Ad[a * dim + c] * xi[c];
    }
  }
}

cb_status cb_bundle_strain(const cb_bundle *b, const double *r, double *S) {
  cb_status status = b->class_->strain(b, r, S);
  for (int k = 0; !status && k < b->group->dim * CB_STRAINS; k++)
    if (!isfinite(S[k]))
      status = cb_fail(CB_STEP_NOT_FINITE,
                       "the velocity that a strain of the flow gives the body is not finite at this shape");
  return status ? cb_bundle_fail_at(b, r, status) : CB_OK;
}

void cb_bundle_strained(int count, const double D[6], double R[3][3], const double x[3], double *F) {
  for (int k = 0; k < CB_STRAINS; k++) {
    double E[3][3] = {{0}}, own[3][3], u[3], f[3], force[3], torque[3], moment[3];
    E[pair[k][0]][pair[k][1]] = E[pair[k][1]][pair[k][0]] = 1;
    turned(R, (const double(*)[3])E, own);
    for (int i = 0; i < 3; i++) u[i] = cb_dot3(E[i], x);
    for (int i = 0; i < 3; i++) f[i] = D[3 + i] * (R[0][i] * u[0] + R[1][i] * u[1] + R[2][i] * u[2]);
    const double t[3] = {0, -D[1] * own[2][0], D[2] * own[1][0]};
    for (int i = 0; i < 3; i++) {
      force[i] = cb_dot3(R[i], f);
      torque[i] = cb_dot3(R[i], t);
    }
    cb_cross3(x, force, moment);
    for (int i = 0; i < 3; i++) {
      F[i * count + k] += torque[i] + moment[i];
      F[(3 + i) * count + k] += force[i];
    }
  }
}

/* Returns whether the flow at some point of the space of the first n coordinates leads out of this space. */
static bool leaves(const cb_bundle_flow *f, int n) {
  for (int i = n; i < 3; i++) {
    if (f->velocity[i] != 0) return true;
    for (int j = 0; j < n; j++)
      if (f->gradient[i][j] != 0) return true;
  }
  return false;
}

cb_status cb_bundle_check_flow(const cb_bundle *b, const cb_bundle_flow *f) {
  static const char *const space[] = {"", "the x axis", "the plane z = 0"};
  const char *name = b->class_->name;
  const int n = dimensions(b->group);
  bool uniform = true;
  for (int i = 0; i < 9; i++) uniform = uniform && f->gradient[i / 3][i % 3] == 0;
  if (b->resistance != CB_RESISTANCE_DRAG && !b->in_perfect_fluid)
    return cb_fail(CB_ERROR_UNSUPPORTED, "bundle %s is not in a fluid, so no flow can carry it: expected no flow",
                   name);
  if (n == 0)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "bundle %s moves in a curved space, which has no uniform stream: expected no flow", name);
  if (n < 3 && leaves(f, n))
    return cb_fail(CB_ERROR_UNSUPPORTED, "bundle %s moves on %s: expected a flow that stays on it", name, space[n]);
  if (uniform) return CB_OK;
  if (b->in_perfect_fluid)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "bundle %s is in a perfect fluid. In a uniform stream its momentum relative to the stream stays 0, "
                   "but in a flow with a gradient the pressure changes the momentum, and the motion no longer follows "
                   "from the shape alone: expected {uniform: [..]}, or bodies in a `fluid`",
                   name);
  if (!b->class_->strain)
    return cb_fail(CB_ERROR_UNSUPPORTED, "bundle %s has no model of its drag in a strain: expected {uniform: [..]}",
                   name);
  return CB_OK;
}
