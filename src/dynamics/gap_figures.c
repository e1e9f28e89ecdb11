/* Distances between two geodesics, and between a point and a geodesic plane.
 *
 * K is the curvature, r = sqrt|K|, I = diag(form), and *(..) is the Hodge dual. A point as an index of d or u means the
 * derivative by this point. s_K(x) = sin(r x)/r and c_K(x) = cos(r x), with sinh and cosh for K < 0
 * (numerics/numerics_curved.h); s_0(x) = x and c_0(x) = 1.
 *
 * Two geodesics of a space of dimension 3, which start at x_0 and x_2 with the unit tangents f_1 and f_2, have a common
 * perpendicular. Its feet are p = c_K(a) x_0 + s_K(a) f_1 and q = c_K(b) x_2 + s_K(b) f_2 at the arc lengths a and b.
 * For K > 0, with C = cos and S = sin (for K < 0: cosh and sinh), and with e = 1 (for K < 0: e = -1),
 *   K <p, q> = m_11 C(ra) C(rb) + m_12 C(ra) S(rb) + m_21 S(ra) C(rb) + m_22 S(ra) S(rb),
 *   m_11 = K <x_0, x_2>,  m_12 = e r <x_0, f_2>,  m_21 = e r <f_1, x_2>,  m_22 = e <f_1, f_2>
 * This splits into functions of a + b and of a - b, which are extremal at
 *   sphere      tan(ra - rb) = (m_21 - m_12)/(m_11 + m_22),  tan(ra + rb) = (m_21 + m_12)/(m_11 - m_22)
 *   hyperbolic  tanh(ra + rb) = -(m_12 + m_21)/(m_11 + m_22),  tanh(ra - rb) = -(m_21 - m_12)/(m_11 - m_22)
 * In flat space a and b solve two linear equations. The perpendicular at p is n = *(p ^ t_1 ^ t_2)/|.| with the
 * tangents t_1 at p and t_2 at q, because span(p, q) is orthogonal to both tangents. Then
 *   s_K(d) = <q - p, n>,   d_q = c_K(d) I n - K s_K(d) I p,   d_p = -I n
 * This distance is signed, and accurate even where the geodesics intersect. The foot p is a combination of the two ends
 * of its edge, of length l, with the weights s_K(l - a)/s_K(l) and s_K(a)/s_K(l); they count as constants. The same
 * holds for q. Parallel geodesics have no unique perpendicular; then the gap is not active.
 */
#include "dynamics/gap.h"

#include "numerics/small.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
/* Geodesics count as parallel if the sine of their angle is below this. */
static const double parallel = 1e-9;

typedef struct line {
  double start[CB_COORD_MAX], tangent[CB_COORD_MAX], length;
} line;

/* The nearest points p and q of two lines, at the arc lengths a and b, and the unit tangents t and u there. */
typedef struct nearest {
  double a, b, p[CB_COORD_MAX], q[CB_COORD_MAX], t[CB_COORD_MAX], u[CB_COORD_MAX];
} nearest;

static bool line_through(const cb_space *g, const double *x, const double *y, line *out) {
  const double curvature = g->factor[0].curvature;
  double e[CB_COORD_MAX], square = 0;
  for (int a = 0; a < g->embedding; a++) e[a] = y[a] - x[a];
  const double along = curvature * cb_inner(g, x, e);
  for (int a = 0; a < g->embedding; a++) out->tangent[a] = e[a] - along * x[a];
  square = cb_inner(g, out->tangent, out->tangent);
  if (!(square > 0)) return false;
  for (int a = 0; a < g->embedding; a++) out->tangent[a] /= sqrt(square);
  memcpy(out->start, x, sizeof out->start);
  out->length = cb_distance(g, x, y);
  return true;
}

static void along(const cb_space *g, const line *l, double s, double *p, double *t) {
  const cb_trig trig = cb_trig_of(g->factor[0].curvature);
  const double cosine = cb_trig_c(trig, s), sine = cb_trig_s(trig, s);
  for (int a = 0; a < g->embedding; a++) {
    p[a] = cosine * l->start[a] + sine * l->tangent[a];
    t[a] = cosine * l->tangent[a] - trig.k * sine * l->start[a];
  }
  if (trig.k == 0)
    for (int a = 0; a < g->embedding; a++) {
      p[a] = l->start[a] + s * l->tangent[a];
      t[a] = l->tangent[a];
    }
}

/* Finds the nearest points. Returns false for parallels in flat space, and for geodesics of hyperbolic space that meet
 * at infinity: their nearest points are not unique or do not exist. On a sphere it always returns true. */
static bool find(const cb_space *g, const line *l, const line *m, nearest *out) {
  const double curvature = g->factor[0].curvature, r = sqrt(fabs(curvature)), sign = curvature < 0 ? -1 : 1;
  if (curvature == 0) {
    double w[CB_COORD_MAX] = {0};
    for (int a = 0; a < g->embedding; a++) w[a] = m->start[a] - l->start[a];
    const double e = cb_inner(g, l->tangent, m->tangent), wl = cb_inner(g, w, l->tangent),
                 wm = cb_inner(g, w, m->tangent), det = (1 - e) * (1 + e);
    if (!(det > parallel * parallel)) return false;
    out->a = (wl - e * wm) / det;
    out->b = (e * wl - wm) / det;
  } else {
    const double m11 = curvature * cb_inner(g, l->start, m->start), m12 = sign * r * cb_inner(g, l->start, m->tangent),
                 m21 = sign * r * cb_inner(g, l->tangent, m->start), m22 = sign * cb_inner(g, l->tangent, m->tangent);
    double sum, difference;
    if (curvature > 0) {
      sum = atan2(m21 + m12, m11 - m22);
      difference = atan2(m21 - m12, m11 + m22);
    } else {
      if (!(fabs(m12 + m21) < m11 + m22) || !(fabs(m21 - m12) < m11 - m22)) return false;
      sum = -atanh((m12 + m21) / (m11 + m22));
      difference = -atanh((m21 - m12) / (m11 - m22));
    }
    double a = (sum + difference) / 2, b = (sum - difference) / 2;
    if (curvature > 0) { /* two antipodal points of each great circle are solutions; the one near the edge is taken */
      const double turns = round((a - r * l->length / 2) / pi);
      a -= turns * pi;
      b -= turns * pi;
      b -= 2 * pi * round((b - r * m->length / 2) / (2 * pi));
    }
    out->a = a / r;
    out->b = b / r;
  }
  along(g, l, out->a, out->p, out->t);
  along(g, m, out->b, out->q, out->u);
  return true;
}

/* Sets n[k] such that n.w = det(p, t, u, w) for every vector w; in flat space n.w = det(t, u, w). */
static void perpendicular(const cb_space *g, const double *p, const double *t, const double *u, double *n) {
  if (g->embedding == 3) {
    for (int a = 0; a < 3; a++) n[a] = t[(a + 1) % 3] * u[(a + 2) % 3] - t[(a + 2) % 3] * u[(a + 1) % 3];
    return;
  }
  for (int a = 0; a < 4; a++) {
    int c[3] = {0}, at = 0;
    for (int b = 0; b < 4; b++)
      if (b != a) c[at++] = b;
    const double det = p[c[0]] * (t[c[1]] * u[c[2]] - t[c[2]] * u[c[1]]) -
                       p[c[1]] * (t[c[0]] * u[c[2]] - t[c[2]] * u[c[0]]) +
                       p[c[2]] * (t[c[0]] * u[c[1]] - t[c[1]] * u[c[0]]);
    n[a] = a % 2 ? det : -det;
  }
}

static void weights(cb_trig trig, double at, double length, double *w) {
  w[0] = cb_trig_s(trig, length - at) / cb_trig_s(trig, length);
  w[1] = cb_trig_s(trig, at) / cb_trig_s(trig, length);
}

cb_status cb_gap_edge_figure(const cb_space *g, const double x[][CB_COORD_MAX], cb_gap_figure *out) {
  const cb_trig trig = cb_trig_of(g->factor[0].curvature);
  const int k = g->embedding;
  line l, m;
  nearest at;
  double n[CB_COORD_MAX] = {0}, square = 0, u = 0;
  memset(out, 0, sizeof *out);
  if (!line_through(g, x[0], x[1], &l) || !line_through(g, x[2], x[3], &m))
    return cb_fail(CB_STEP_DOMAIN, "an edge of a surface has length 0: expected two different ends");
  const bool found = find(g, &l, &m, &at);
  if (found) {
    perpendicular(g, at.p, at.t, at.u, n);
    for (int a = 0; a < k; a++) square += n[a] * n[a] * g->form[a];
    if (trig.k != 0) square *= fabs(trig.k);
  }
  if (!(square > parallel * parallel)) {
    out->distance = cb_distance(g, x[0], x[2]);
    return CB_OK;
  }
  const double size = trig.k != 0 ? sqrt(square / fabs(trig.k)) : sqrt(square);
  for (int a = 0; a < k; a++) u += (n[a] /= size) * (at.q[a] - at.p[a]);
  const double cosine = trig.k > 0 ? trig.k * cb_inner(g, at.p, at.q) : sqrt(fmax(0, 1 - trig.k * u * u));
  out->distance = cb_trig_arc(trig, u, cosine);
  out->active = at.a >= 0 && at.a <= l.length && at.b >= 0 && at.b <= m.length;
  weights(trig, at.a, l.length, out->weight);
  weights(trig, at.b, m.length, out->weight + 2);
  for (int i = 0; i < 4; i++)
    for (int a = 0; a < k; a++) {
      const double slope = i < 2 ? -n[a] : cosine * n[a] - trig.k * u * g->form[a] * at.p[a];
      out->gradient[i][a] = out->weight[i] * slope;
    }
  return CB_OK;
}

/* The point x_0 and the geodesic plane through the points x_1 .. x_m, where m is the dimension of the space (a line for
 * m = 2). d is the signed distance, n the unit normal, and l_i are the coefficients of x_0 in the basis of the x_i and
 * n.
 *
 *   n = *(x_1 ^ ... ^ x_m)/|.|, flat *(x_2 - x_1 ^ ...)/|.|,   x_0 = sum_i l_i x_i + u n   (flat: sum l_i = 1)
 *   u = <x_0 - x_1, n>,   s_K(d) = u,   u_x0 = I n,   u_xi = -l_i I n
 * These derivatives are valid because <n, x_i> = 0 and <n, n> = 1 give dn = -sum_i x^i <n, dx_i>, with the dual basis
 * <x^i, x_j> = delta_ij and l_i = <x^i, x_0>. The foot of the perpendicular is in the face where all l_i >= 0. The
 * difference from x_1 keeps all digits near the plane. */

/* Sets n[k] such that n.w = det(v[0], ..., v[k-2], w) for every vector w. */
static void cross(int k, const double v[3][CB_COORD_MAX], double *n) {
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

/* Writes to part[count] the coefficients of w in the basis of `count` vectors v, from their inner products. Returns
 * false if the vectors v depend on one another. */
static bool parts_of(const cb_space *g, int count, const double v[3][CB_COORD_MAX], const double *w, double *part) {
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

/* Dimension 2: the point x[0] lies on the inner side of the edge from x[1] to x[2]. Returns whether it also lies on the
 * inner sides of the other two edges of the triangle x[1], x[2], x[3]. `from` is x[0] - x[1]. */
static bool inside(const cb_space *g, bool curved, const double x[][CB_COORD_MAX], const double *from) {
  double v[3][CB_COORD_MAX], part[3];
  const int o = curved;
  memcpy(v[0], x[1], sizeof v[0]);
  minus(g->embedding, x[2], x[1], v[o]);
  minus(g->embedding, x[3], x[1], v[o + 1]);
  if (!parts_of(g, o + 2, v, from, part)) return false;
  return part[o] >= 0 && 1 + (curved ? part[0] : 0) - part[o] - part[o + 1] >= 0;
}

cb_status cb_gap_face_figure(const cb_space *g, const double x[][CB_COORD_MAX], cb_gap_figure *out) {
  const cb_factor factor = g->factor[0];
  const int k = g->embedding, m = g->dim;
  const bool curved = factor.curvature != 0;
  double v[3][CB_COORD_MAX] = {{0}}, n[CB_COORD_MAX], from[CB_COORD_MAX], part[3], square = 0, u = 0, opposite = 0;
  memset(out, 0, sizeof *out);
  memcpy(v[0], x[1], sizeof v[0]);
  for (int i = 2; i <= m; i++) minus(k, x[i], x[1], v[curved + i - 2]);
  minus(k, x[0], x[1], from);
  cross(k, v, n);
  for (int a = 0; a < k; a++) square += n[a] * n[a] * g->form[a];
  if (!(square > 0) || !parts_of(g, curved + m - 1, v, from, part))
    return cb_fail(CB_STEP_DOMAIN, "a face of a surface has area 0: expected three corners that are not on one line");
  double size = sqrt(square);
  if (m == 2) { /* the outer side is the one away from point 3 */
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
  /* u = s_K(d), and slope = du/dd = c_K(d). On a sphere c_K(d) is the length, in radii, of the part of x_0 across n. */
  double slope = 1;
  if (factor.curvature > 0) {
    double across = 0;
    for (int a = 0; a < k; a++) across += (x[0][a] - u * n[a]) * (x[0][a] - u * n[a]);
    slope = sqrt(factor.curvature * across);
  } else if (curved) {
    slope = sqrt(1 - factor.curvature * u * u);
  }
  out->distance = cb_trig_arc(cb_trig_of(factor.curvature), u, slope);
  if (!(slope > 0)) return CB_OK; /* x_0 is the pole of the plane, where the distance has no derivative */
  for (int i = 0; i <= m; i++)
    for (int a = 0; a < k; a++) out->gradient[i][a] = (i ? -out->weight[i] : 1) * n[a] / slope;
  return CB_OK;
}
