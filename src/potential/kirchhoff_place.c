/* Where a body lies, and its tensor where it was moved to:
 *   K = X^T K_c X,  X = [[R^T, 0], [-R^T hat(c), R^T]]  for panels that were prepared, rotated by R, with their centre at c
 * so that shifts and rotations of a body change K as they do that of a rigid one, to round-off.
 */
#include "potential/kirchhoff_private.h"

#include "numerics/small.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

/* Axes of three points. */
static void axes_of(const double a[3], const double b[3], const double c[3], double e[3][3]) {
  double n[3];
  cb_normal3(a, b, c, n);
  const double size = sqrt(cb_dot3(n, n));
  double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  const double length = sqrt(cb_dot3(along, along));
  for (int i = 0; i < 3; i++) {
    e[0][i] = along[i] / length;
    e[2][i] = n[i] / size;
  }
  cb_cross3(e[2], e[0], e[1]);
}

static double from_line(const double a[3], const double b[3], const double x[3]) {
  double n[3];
  cb_normal3(a, b, x, n);
  return cb_dot3(n, n);
}

static double apart(const double a[3], const double b[3]) {
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return cb_dot3(d, d);
}

/* Vertices far apart, by which a rigid motion is told to round-off. */
static void choose_reference(cb_kirchhoff *k) {
  int *r = k->reference, first = k->face[0][0];
  r[0] = r[1] = r[2] = first;
  for (int i = 0; i < k->vertices; i++)
    if (apart(k->x[i], k->x[first]) > apart(k->x[r[0]], k->x[first])) r[0] = i;
  for (int i = 0; i < k->vertices; i++)
    if (apart(k->x[i], k->x[r[0]]) > apart(k->x[r[1]], k->x[r[0]])) r[1] = i;
  for (int i = 0; i < k->vertices; i++)
    if (from_line(k->x[r[0]], k->x[r[1]], k->x[i]) > from_line(k->x[r[0]], k->x[r[1]], k->x[r[2]])) r[2] = i;
  k->size = sqrt(apart(k->x[r[0]], k->x[r[1]]));
}

/* Whether x is the prepared body moved; then how. */
bool cb_kirchhoff_moved_rigidly(cb_kirchhoff *k, const double (*x)[3]) {
  const int *r = k->reference;
  double was[3][3], is[3][3], R[3][3], at[3], turned[3];
  axes_of(k->x[r[0]], k->x[r[1]], k->x[r[2]], was);
  axes_of(x[r[0]], x[r[1]], x[r[2]], is);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) R[i][j] = is[0][i] * was[0][j] + is[1][i] * was[1][j] + is[2][i] * was[2][j];
  cb_apply3(R, k->x[r[0]], turned);
  for (int i = 0; i < 3; i++) at[i] = x[r[0]][i] - turned[i];
  const double far = fabs(x[r[0]][0]) + fabs(x[r[0]][1]) + fabs(x[r[0]][2]) + k->size, most = 1e-14 * far;
  for (int i = 0; i < k->vertices; i++) {
    cb_apply3(R, k->x[i], turned);
    for (int c = 0; c < 3; c++)
      if (!(fabs(turned[c] + at[c] - x[i][c]) <= most)) return false;
  }
  memcpy(k->R, R, sizeof R);
  memcpy(k->at, at, sizeof at);
  return true;
}

static void stay(cb_kirchhoff *k) {
  memset(k->R, 0, sizeof k->R);
  memset(k->at, 0, sizeof k->at);
  for (int i = 0; i < 3; i++) k->R[i][i] = 1;
}

/* The six motions about the centre of the panels, as normal velocities. */
static void set_motions(cb_kirchhoff *k) {
  const cb_panels *p = k->panels;
  double area = 0, square = 0;
  memset(k->centre, 0, sizeof k->centre);
  for (int i = 0; i < k->n; i++) {
    area += p->area[i];
    for (int c = 0; c < 3; c++) k->centre[c] += p->area[i] * p->centre[i][c];
  }
  for (int c = 0; c < 3; c++) k->centre[c] /= area;
  for (int i = 0; i < k->n; i++) {
    const double y[3] = {p->centre[i][0] - k->centre[0], p->centre[i][1] - k->centre[1],
                         p->centre[i][2] - k->centre[2]};
    double m[CB_KIRCHHOFF_MOTIONS];
    cb_cross3(y, p->normal[i], m);
    memcpy(m + 3, p->normal[i], 3 * sizeof *m);
    for (int a = 0; a < CB_KIRCHHOFF_MOTIONS; a++) k->w[(size_t)a * (size_t)k->n + (size_t)i] = m[a];
    square += p->area[i] * cb_dot3(y, y);
  }
  k->radius = sqrt(square / area);
}

void cb_kirchhoff_place(cb_kirchhoff *k) {
  choose_reference(k);
  stay(k);
  set_motions(k);
}

/* X, and out = X^T in */
static void moved_by(const cb_kirchhoff *k, double X[6][6]) {
  double c[3], hat[3][3] = {{0}};
  cb_apply3(k->R, k->centre, c);
  for (int i = 0; i < 3; i++) c[i] += k->at[i];
  cb_add_hat3(hat, -1, c);
  memset(X, 0, 36 * sizeof(double));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      X[i][j] = X[3 + i][3 + j] = k->R[j][i];
      for (int l = 0; l < 3; l++) X[3 + i][j] += k->R[l][i] * hat[l][j];
    }
}

void cb_kirchhoff_carry(const cb_kirchhoff *k, cb_kirchhoff_mass *out) {
  double X[6][6], KX[6][6] = {{0}}, mu[6] = {0};
  moved_by(k, X);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int l = 0; l < 6; l++) KX[i][j] += k->K[i][l] * X[l][j];
  memset(out->K, 0, sizeof out->K);
  for (int i = 0; i < 6; i++)
    for (int l = 0; l < 6; l++) {
      for (int j = 0; j < 6; j++) out->K[i][j] += X[l][i] * KX[l][j];
      mu[i] += X[l][i] * out->mu0[l];
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) out->K[i][j] = out->K[j][i] = (out->K[i][j] + out->K[j][i]) / 2;
  memcpy(out->mu0, mu, sizeof mu);
}
