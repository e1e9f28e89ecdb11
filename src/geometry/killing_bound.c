/* How many Killing fields the curvature at a point allows.
 *
 * A Killing field is given by its value xi_a and its derivative omega_ab = -omega_ba at one point, so there are at most
 * n (n + 1)/2 of them. Each leaves the curvature as it is:
 *
 *   0 = (L_X R)_abcd = X^e d_e R_abcd + R_ebcd d_a X^e + R_aecd d_b X^e + R_abed d_c X^e + R_abce d_d X^e
 *   X^e = E^e_p xi_p,   d_a X^e = E^e_p omega_pq E^-1_qa - Gamma^e_af X^f,   E an orthonormal frame
 *
 * These equations are linear in (xi, omega); the dimension of their solutions, the least of some points, is the bound.
 * d_e R by central differences.
 * Source: Kobayashi & Nomizu, Foundations of Differential Geometry I (1963), section VI.3.
 */
#include "geometry/numeric.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { D = CB_DIM_MAX, UNKNOWNS = D * (D + 1) / 2, COMPONENTS = D * D * D * D };

/* Step of the differences, relative to the coordinate or 1, and what they leave of an equation that holds, relative. */
static const double step = 1e-4, holds = 1e-5;
/* Curvature below this times Christoffel's symbols squared is round-off of a flat metric. */
static const double flat = 1e-10;

typedef double tensor[D][D][D][D];

/* R_abcd */
static cb_status lowered(const cb_geometry *g, const double *q, tensor r) {
  cb_curvature at;
  double metric[D * D];
  cb_status status = cb_curvature_at(g, q, &at);
  if (!status) status = cb_numeric_metric(g, q, metric, NULL, NULL);
  if (status) return status;
  const int n = g->dim;
  memset(r, 0, sizeof(tensor));
  for (int a = 0; a < n; a++)
    for (int i = 0; i < n; i++)
      for (int b = 0; b < n; b++)
        for (int c = 0; c < n; c++)
          for (int d = 0; d < n; d++) r[a][b][c][d] += metric[a * n + i] * at.riemann[i][b][c][d];
  return CB_OK;
}

/* d_e R_abcd */
static cb_status differences(const cb_geometry *g, const double *q, tensor dr[D]) {
  for (int e = 0; e < g->dim; e++) {
    tensor side[2];
    const double h = step * fmax(1, fabs(q[e]));
    for (int s = 0; s < 2; s++) {
      double at[D];
      memcpy(at, q, (size_t)g->dim * sizeof *q);
      at[e] += s ? h : -h;
      const cb_status status = lowered(g, at, side[s]);
      if (status) return status;
    }
    const double *less = &side[0][0][0][0][0], *more = &side[1][0][0][0][0];
    for (int k = 0; k < COMPONENTS; k++) (&dr[e][0][0][0][0])[k] = (more[k] - less[k]) / (2 * h);
  }
  return CB_OK;
}

/* x^e dr_e + r with dx^e_a = d_a X^e in each of its places */
static void lie_derivative(int n, tensor dr[D], tensor r, const double *x, double dx[D][D], tensor out) {
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      for (int c = 0; c < n; c++)
        for (int d = 0; d < n; d++) {
          double sum = 0;
          for (int e = 0; e < n; e++)
            sum += x[e] * dr[e][a][b][c][d] + r[e][b][c][d] * dx[e][a] + r[a][e][c][d] * dx[e][b] +
                   r[a][b][e][d] * dx[e][c] + r[a][b][c][e] * dx[e][d];
          out[a][b][c][d] = sum;
        }
}

/* Components in the frame; the largest. */
static double in_frame(int n, double frame[D][D], tensor t, double out[COMPONENTS]) {
  double largest = 0;
  for (int k = 0; k < COMPONENTS; k++) {
    const int p[4] = {k % D, k / D % D, k / (D * D) % D, k / (D * D * D)};
    out[k] = 0;
    if (p[0] >= n || p[1] >= n || p[2] >= n || p[3] >= n) continue;
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++)
        for (int c = 0; c < n; c++)
          for (int d = 0; d < n; d++)
            out[k] += frame[a][p[0]] * frame[b][p[1]] * frame[c][p[2]] * frame[d][p[3]] * t[a][b][c][d];
    largest = fmax(largest, fabs(out[k]));
  }
  return largest;
}

/* Columns whose part that is independent of the others is larger than this, by Gram and Schmidt with pivots. */
static int rank(int columns, double m[UNKNOWNS][COMPONENTS], double least) {
  for (int done = 0; done < columns; done++) {
    double most = 0;
    int pivot = done;
    for (int c = done; c < columns; c++) {
      double square = 0;
      for (int k = 0; k < COMPONENTS; k++) square += m[c][k] * m[c][k];
      if (square > most) {
        most = square;
        pivot = c;
      }
    }
    if (sqrt(most) <= least) return done;
    for (int k = 0; k < COMPONENTS; k++) {
      const double swap = m[done][k];
      m[done][k] = m[pivot][k] / sqrt(most);
      if (pivot != done) m[pivot][k] = swap;
    }
    for (int c = done + 1; c < columns; c++) {
      double along = 0;
      for (int k = 0; k < COMPONENTS; k++) along += m[done][k] * m[c][k];
      for (int k = 0; k < COMPONENTS; k++) m[c][k] -= along * m[done][k];
    }
  }
  return columns;
}

static cb_status bound_at(const cb_geometry *g, const double *q, int *count) {
  const int n = g->dim, unknowns = n * (n + 1) / 2;
  double gamma[D][D][D], metric[D * D], factor[D * D], frame[D][D] = {{0}}, column[UNKNOWNS][COMPONENTS];
  tensor r, dr[D], out;
  cb_status status = cb_christoffel(g, q, gamma, NULL);
  if (!status) status = cb_numeric_metric(g, q, metric, NULL, NULL);
  if (!status) status = cb_numeric_factor(g, q, metric, factor);
  if (!status) status = lowered(g, q, r);
  if (!status) status = differences(g, q, dr);
  if (status) return status;
  for (int p = 0; p < n; p++) { /* g = c c^T, E = c^-T */
    double unit[D] = {0};
    unit[p] = 1;
    for (int i = n - 1; i >= 0; i--) {
      for (int j = i + 1; j < n; j++) unit[i] -= factor[j * n + i] * frame[j][p];
      frame[i][p] = unit[i] / factor[i * n + i];
    }
  }
  double bend = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) /* |Gamma| in the frame, to a factor */
        bend = fmax(bend, fabs(gamma[i][j][k]) * sqrt(metric[i * n + i]) * frame[j][j] * frame[k][k]);
  const double size = in_frame(n, frame, r, column[0]);
  *count = unknowns;
  if (size <= flat * bend * bend) return CB_OK;
  int at = 0;
  for (int p = 0; p < n; p++)
    for (int k = p; k < n; k++) { /* k = p: xi_p, in units of the radius of curvature; else omega_pk */
      double x[D] = {0}, dx[D][D] = {{0}};
      for (int e = 0; e < n; e++) {
        if (k == p) x[e] = frame[e][p] / sqrt(size);
        for (int a = 0; a < n && k > p; a++)
          dx[e][a] = frame[e][p] * factor[a * n + k] - frame[e][k] * factor[a * n + p];
      }
      for (int e = 0; e < n && k == p; e++)
        for (int a = 0; a < n; a++)
          for (int f = 0; f < n; f++) dx[e][a] -= gamma[e][a][f] * x[f];
      lie_derivative(n, dr, r, x, dx, out);
      in_frame(n, frame, out, column[at++]);
    }
  const double noise = 100 * DBL_EPSILON * bend * bend / (step * sqrt(size));
  *count = unknowns - rank(unknowns, column, fmax(holds * size, noise));
  return CB_OK;
}

cb_status cb_killing_bound(const cb_geometry *g, const double *q, int *count) {
  static const double aside[D] = {0.1, 0.07, 0.04};
  cb_status status = bound_at(g, q, count);
  for (int k = 1; k <= 3 && !status; k++) { /* a point of symmetry allows more than its neighbours */
    double near[D];
    int there;
    for (int i = 0; i < g->dim; i++) near[i] = q[i] + k * aside[i] * fmax(1, fabs(q[i]));
    if (bound_at(g, near, &there) == CB_OK && there < *count) *count = there;
  }
  /* no space of dimension n has one field fewer than the most: its curvature would be constant all the same */
  if (!status && *count == g->dim * (g->dim + 1) / 2 - 1) --*count;
  return status;
}
