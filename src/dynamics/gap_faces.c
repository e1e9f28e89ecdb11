/* A point and a geodesic plane through as many points as the space has dimensions (a line in dimension 2).
 *
 *   n = *(x_1 ^ ... ^ x_m)/|.|, flat *(x_2 - x_1 ^ ...)/|.|,   x_0 = sum_i l_i x_i + u n   (flat: sum l_i = 1)
 *   u = <x_0 - x_1, n>,   s_K(d) = u,   u_x0 = I n,   u_xi = -l_i I n
 * since <n, x_i> = 0 and <n, n> = 1 leave dn = -sum_i x^i <n, dx_i> with the dual basis <x^i, x_j> = delta_ij, and
 * l_i = <x^i, x_0>. The foot is in the face where all l_i >= 0. Taken at x_1, no digits are lost near the plane.
 */
#include "dynamics/gap_private.h"
#include "numerics/trig.h"
#include "numerics/small.h"
#include <math.h>
#include <string.h>

enum { K = CB_COORD_MAX };

/* n[k] with n.w = det(v_1, ..., v_(k-1), w). */
static void cross(int k, const double v[3][K], double *n) {
  if (k == 2) {
    n[0] = -v[0][1];
    n[1] = v[0][0];
    return;
  }
  for (int a = 0; a < k; a++) {
    int c[3] = {0}, at = 0;
    for (int b = 0; b < k; b++)
      if (b != a) c[at++] = b;
    const double sign = (k - 1 + a) % 2 ? -1 : 1;
    const double two = v[0][c[0]] * v[1][c[1]] - v[0][c[1]] * v[1][c[0]];
    if (k == 3)
      n[a] = sign * two;
    else
      n[a] = sign * (two * v[2][c[2]] - (v[0][c[0]] * v[1][c[2]] - v[0][c[2]] * v[1][c[0]]) * v[2][c[1]] +
                     (v[0][c[1]] * v[1][c[2]] - v[0][c[2]] * v[1][c[1]]) * v[2][c[0]]);
  }
}

/* The parts of w in `count` vectors v, by their inner products. */
static bool parts_of(const cb_geometry *g, int count, const double v[3][K], const double *w, double *part) {
  double m[9];
  int pivot[3];
  for (int i = 0; i < count; i++) {
    part[i] = cb_inner(g, v[i], w);
    for (int j = 0; j < count; j++) m[i * count + j] = cb_inner(g, v[i], v[j]);
  }
  if (cb_dense_factor(count, m, pivot)) return false;
  cb_dense_solve(count, m, pivot, part);
  return true;
}

static void minus(int k, const double *a, const double *b, double *out) {
  for (int i = 0; i < k; i++) out[i] = a[i] - b[i];
}

/* In dimension 2, is point 0 where the triangle 1, 2, 3 is, seen from the edge 1, 2? */
static bool inside(const cb_geometry *g, bool curved, const double x[][K], const double *from) {
  double v[3][K], part[3];
  const int o = curved;
  memcpy(v[0], x[1], sizeof v[0]);
  minus(g->embedding, x[2], x[1], v[o]);
  minus(g->embedding, x[3], x[1], v[o + 1]);
  if (!parts_of(g, o + 2, v, from, part)) return false;
  return part[o] >= 0 && 1 + (curved ? part[0] : 0) - part[o] - part[o + 1] >= 0;
}

cb_status cb_gap_face_figure(const cb_geometry *g, const double x[][K], cb_gap_figure *out) {
  const cb_factor factor = g->factor[0];
  const int k = g->embedding, m = g->dim;
  const bool curved = factor.curvature != 0;
  double v[3][K] = {{0}}, n[K], from[K], part[3], square = 0, u = 0, opposite = 0;
  memset(out, 0, sizeof *out);
  memcpy(v[0], x[1], sizeof v[0]);
  for (int i = 2; i <= m; i++) minus(k, x[i], x[1], v[curved + i - 2]);
  minus(k, x[0], x[1], from);
  cross(k, v, n);
  for (int a = 0; a < k; a++) square += n[a] * n[a] * g->form[a];
  if (!(square > 0) || !parts_of(g, curved + m - 1, v, from, part))
    return cb_fail(CB_STEP_DOMAIN, "a face of a surface has no area");
  double size = sqrt(square);
  if (m == 2) { /* out is away from point 3 */
    for (int a = 0; a < k; a++) opposite += n[a] * (x[3][a] - x[1][a]);
    if (opposite > 0) size = -size;
  }
  for (int a = 0; a < k; a++) u += (n[a] /= size) * from[a];
  out->weight[0] = 1;
  out->weight[1] = 1 + (curved ? part[0] : 0);
  out->active = true;
  for (int i = 2; i <= m; i++) {
    out->weight[i] = part[curved + i - 2];
    out->weight[1] -= out->weight[i];
    out->active = out->active && out->weight[i] >= 0;
  }
  out->active = out->active && out->weight[1] >= 0;
  if (m == 2 && u < 0) out->active = out->active && inside(g, curved, x, from);
  /* u = s_K(d), and du/dd = c_K(d): by the length of what is across n on a sphere. */
  double slope = 1;
  if (factor.curvature > 0) {
    double across = 0;
    for (int a = 0; a < k; a++) across += (x[0][a] - u * n[a]) * (x[0][a] - u * n[a]);
    slope = sqrt(factor.curvature * across);
  } else if (curved) {
    slope = sqrt(1 - factor.curvature * u * u);
  }
  out->distance = cb_trig_arc(cb_trig_of(factor.curvature), u, slope);
  if (!(slope > 0)) return CB_OK; /* the pole of the plane */
  for (int i = 0; i <= m; i++)
    for (int a = 0; a < k; a++) out->gradient[i][a] = (i ? -out->weight[i] : 1) * n[a] / slope;
  return CB_OK;
}
