/* Two geodesics of a space of dimension 3: their common perpendicular.
 *
 * p = c(a) x_0 + s(a) f_1 and q = c(b) x_2 + s(b) f_2, f the unit tangents, c and s of numerics/trig.h (s in units of
 * the radius), and <p, q> = m_11 c(a) c(b) + m_12 c(a) s(b) + ... splits in a + b and a - b:
 *   sphere      tan(a - b) = (m_21 - m_12)/(m_11 + m_22),  tan(a + b) = (m_21 + m_12)/(m_11 - m_22)
 *   hyperbolic  tanh(a + b) = -(m_12 + m_21)/(m_11 + m_22),  tanh(a - b) = -(m_21 - m_12)/(m_11 - m_22)
 * The perpendicular at p is n = *(p ^ t_1 ^ t_2)/|.| with the tangents t there: span(p, q) is orthogonal to both. Then
 *   s_K(d) = <q - p, n>,   d_q = c_K(d) I n - K s_K(d) I p,   d_p = -I n
 * signed, with nothing lost where the geodesics meet; p and q carried to the ends at fixed weights
 * s_K(l - a)/s_K(l), s_K(a)/s_K(l). Parallels have no perpendicular of their own: not active.
 */
#include "dynamics/gap_private.h"
#include "numerics/trig.h"
#include <math.h>
#include <string.h>

enum { K = CB_COORD_MAX };

static const double pi = 3.14159265358979323846;
/* The sine of an angle below which geodesics count as parallel. */
static const double parallel = 1e-9;

typedef struct line {
  double start[K], tangent[K], length;
} line;

/* Nearest points of two lines: at arc lengths a and b, with the tangents there. */
typedef struct nearest {
  double a, b, p[K], q[K], t[K], u[K];
} nearest;

static bool line_through(const cb_geometry *g, const double *x, const double *y, line *out) {
  const double curvature = g->factor[0].curvature;
  double e[K], square = 0;
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

static void along(const cb_geometry *g, const line *l, double s, double *p, double *t) {
  const cb_trig trig = cb_trig_of(g->factor[0].curvature);
  const double cosine = cb_trig_c(trig, s), sine = cb_trig_s(trig, s);
  for (int a = 0; a < g->embedding; a++) {
    p[a] = cosine * l->start[a] + sine * l->tangent[a];
    t[a] = cosine * l->tangent[a] - trig.k * sine * l->start[a];
  }
  if (trig.k == 0)
    for (int a = 0; a < g->embedding; a++) p[a] = l->start[a] + s * l->tangent[a], t[a] = l->tangent[a];
}

/* False where there is none: parallels. */
static bool find(const cb_geometry *g, const line *l, const line *m, nearest *out) {
  const double curvature = g->factor[0].curvature, r = sqrt(fabs(curvature)), sign = curvature < 0 ? -1 : 1;
  if (curvature == 0) {
    double w[K] = {0};
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
    if (curvature > 0) { /* of the two ends of the circles, that around the edge */
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

/* n[k] with n.w = det(p, t, u, w); in flat space det(t, u, w). */
static void perpendicular(const cb_geometry *g, const double *p, const double *t, const double *u, double *n) {
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

cb_status cb_gap_edge_figure(const cb_geometry *g, const double x[][K], cb_gap_figure *out) {
  const cb_trig trig = cb_trig_of(g->factor[0].curvature);
  const int k = g->embedding;
  line l, m;
  nearest at;
  double n[K] = {0}, square = 0, u = 0;
  memset(out, 0, sizeof *out);
  if (!line_through(g, x[0], x[1], &l) || !line_through(g, x[2], x[3], &m))
    return cb_fail(CB_STEP_DOMAIN, "an edge of a surface has no length");
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
