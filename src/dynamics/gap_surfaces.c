/* Surfaces: which features (vertices and edges) of two triangles may touch, and the gap between two features.
 *
 *   gap = side * distance - (maximum radius of one feature's points) - (maximum radius of the other's points)
 * Points of different frames are converted to the frame of the first point. In a space with a chart, the points x(q) of
 * the embedding for the coordinates q are used.
 *
 * The distances are those between two geodesics, and between a point and a geodesic plane.
 *
 * K is the curvature, r = sqrt|K|, I = diag(form), and *(..) is the Hodge dual. If d or u has a point as its index,
 * this is the derivative by this point. s_K(x) = sin(r x)/r and c_K(x) = cos(r x), with sinh and cosh for K < 0
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
 * of its edge, of length l, with the weights s_K(l - a)/s_K(l) and s_K(a)/s_K(l), and q likewise. In the derivatives of
 * d, the weights count as constants. Parallel geodesics have no unique perpendicular; then the gap is not active.
 */
#include "dynamics/gap.h"

#include "numerics/numerics_curved.h"
#include "numerics/small.h"

#include <math.h>
#include <string.h>

/* --- distances between figures --- */

static const double pi = 3.14159265358979323846;
/* Two geodesics count as parallel if the sine of the angle between them is below this. */
static const double parallel = 1e-9;

typedef struct line {
  double start[CB_COORD_MAX], tangent[CB_COORD_MAX], length;
} line;

/* The nearest points p and q of two lines, their arc lengths a and b, and the unit tangents t at p and u at q. */
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

/* Finds the points of the geodesics l and m that are nearest to each other. Returns false if they are not unique or do
 * not exist: for parallel lines in flat space, and for geodesics of hyperbolic space that meet at infinity. On a sphere
 * it always returns true. */
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
    if (curvature > 0) { /* each great circle has two antipodal solutions; the one near the edge is taken */
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

/* Computes the distance of the geodesic through points 0 and 1 from the geodesic through points 2 and 3; only in
 * dimension 3. */
static cb_status gap_edge_figure(const cb_space *g, const double x[][CB_COORD_MAX], cb_gap_figure *out) {
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
 * <x^i, x_j> = delta_ij and l_i = <x^i, x_0>. The foot of the perpendicular is in the face if all l_i >= 0. u is
 * computed from the difference x_0 - x_1, which keeps all digits near the plane. */

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

/* Computes the distance of point 0 from the geodesic plane through the points 1 .. dim. In dimension 2, point 3 marks
 * the inner side. */
static cb_status gap_face_figure(const cb_space *g, const double x[][CB_COORD_MAX], cb_gap_figure *out) {
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
  /* u = s_K(d), and slope = du/dd = c_K(d). On a sphere c_K(d) is the length, in radii, of x_0 without its part along
   * n. */
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

/* --- surfaces --- */

enum { K = CB_COORD_MAX };

/* In dimension 3, a gap with side * distance < 0 is active only down to this depth, relative to the distance between
 * its points number 2 and 3 (figure_of below). */
static const double beyond = 1e-7;
/* Particles whose frames are farther apart than this, in radii, cannot touch. */
static const double far = 100;

int cb_gaps_triangles(const cb_gaps *gaps) { return gaps->set->n_triangles; }

void cb_gaps_triangle(const cb_gaps *gaps, int triangle, int corner[3]) {
  memcpy(corner, gaps->set->triangle[triangle], 3 * sizeof *corner);
}

/* --- which features may touch --- */

static bool has(const cb_contact_set *s, int triangle, int place) {
  const int *t = s->triangle[triangle];
  return t[0] == place || t[1] == place || t[2] == place;
}

static bool share(const cb_contact_set *s, int a, int b) {
  const int *t = s->triangle[a];
  return has(s, b, t[0]) || has(s, b, t[1]) || has(s, b, t[2]);
}

/* A vertex with the index a (then b < 0), or the edge between the vertices a and b, a < b. */
typedef struct feature {
  int a, b;
} feature;

/* Returns the next triangle that contains a feature, or -1 if there is none. The search begins at position *at in the
 * list of the triangles around f.a, and *at becomes the position after this triangle. */
static int next_of(const cb_contact_set *s, feature f, int *at) {
  for (; *at < s->around_start[f.a + 1]; (*at)++) {
    const int t = s->around[*at];
    if (f.b < 0 || has(s, t, f.b)) {
      (*at)++;
      return t;
    }
  }
  return -1;
}

/* Returns the first triangle of a feature that has no vertex in common with triangle `face`; -1: there is none. */
static int responsible_for_face(const cb_contact_set *s, feature f, int face) {
  for (int at = s->around_start[f.a], t; (t = next_of(s, f, &at)) >= 0;)
    if (!share(s, t, face)) return t;
  return -1;
}

/* Loops over the pairs of a triangle at edge e and a triangle at edge f. Returns whether te and tf are the first such
 * pair without a common vertex. */
static bool responsible_for_edges(const cb_contact_set *s, feature e, feature f, int te, int tf) {
  for (int at = s->around_start[e.a], t; (t = next_of(s, e, &at)) >= 0;) {
    const int other = responsible_for_face(s, f, t);
    if (other >= 0) return t == te && other == tf;
  }
  return false;
}

static feature edge_of(const cb_contact_set *s, int triangle, int e) {
  const int i = s->triangle[triangle][e], j = s->triangle[triangle][(e + 1) % 3];
  return (feature){i < j ? i : j, i < j ? j : i};
}

static bool is_boundary(const cb_contact_set *s, feature edge) {
  int count = 0;
  for (int at = s->around_start[edge.a]; next_of(s, edge, &at) >= 0;) count++;
  return count == 1;
}

typedef struct list {
  int n, maximum;
  cb_gap *out;
} list;

static void add(list *l, cb_gap gap) {
  if (l->n < l->maximum) l->out[l->n] = gap;
  l->n++;
}

/* Lists the gaps of the vertices of triangle a with triangle b (dimension 3), or with those edges of b that belong to
 * no other triangle (dimension 2). */
static void vertices(const cb_gaps *gaps, int a, int b, list *out) {
  const cb_contact_set *s = gaps->set;
  const int *face = s->triangle[b];
  for (int v = 0; v < 3; v++) {
    const int vertex = s->triangle[a][v];
    if (responsible_for_face(s, (feature){vertex, -1}, b) != a) continue;
    if (gaps->space->dim == 3) {
      add(out, (cb_gap){CB_GAP_VERTEX_FACE, 4, {vertex, face[0], face[1], face[2]}, b, 1});
      continue;
    }
    for (int e = 0; e < 3; e++)
      if (is_boundary(s, edge_of(s, b, e)))
        add(out, (cb_gap){CB_GAP_VERTEX_EDGE, 4, {vertex, face[e], face[(e + 1) % 3], face[(e + 2) % 3]}, b, 1});
  }
}

static void edges(const cb_gaps *gaps, int a, int b, list *out) {
  const cb_contact_set *s = gaps->set;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const feature e = edge_of(s, a, i), f = edge_of(s, b, j);
      /* the edge with the lower vertices comes first, so that the same pair of edges always gives the same gap */
      const bool first = e.a < f.a || (e.a == f.a && e.b < f.b);
      if (first ? responsible_for_edges(s, e, f, a, b) : responsible_for_edges(s, f, e, b, a))
        add(out, first ? (cb_gap){CB_GAP_EDGE_EDGE, 4, {e.a, e.b, f.a, f.b}, b, 1}
                       : (cb_gap){CB_GAP_EDGE_EDGE, 4, {f.a, f.b, e.a, e.b}, a, 1});
    }
}

int cb_gaps_surfaces(const cb_gaps *gaps, int triangle_a, int triangle_b, int maximum, cb_gap *out) {
  const cb_contact_set *s = gaps->set;
  const int *body = gaps->system->body;
  if (triangle_a == triangle_b || share(s, triangle_a, triangle_b) ||
      !cb_contact_set_bodies_on(s, body[s->triangle[triangle_a][0]], body[s->triangle[triangle_b][0]]))
    return 0;
  list l = {0, maximum, out};
  vertices(gaps, triangle_a, triangle_b, &l);
  vertices(gaps, triangle_b, triangle_a, &l);
  if (gaps->space->dim == 3) edges(gaps, triangle_a, triangle_b, &l);
  return l.n;
}

/* --- distances of features --- */

/* Returns the distance of the frame of the gap's particle p from the frame of its first particle; 0 in flat space. */
static double frame_distance(const cb_gaps *gaps, const cb_gap *gap, int p) {
  cb_origin frame[2], relative;
  if (gaps->space->factor[0].curvature == 0) return 0;
  cb_gap_pair(gaps, gap->particle[0], gap->particle[p], frame);
  cb_origin_relative(gaps->space, &frame[0], &frame[1], &relative);
  return relative.length;
}

cb_status cb_gap_gather(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, double point[][K],
                        double jacobian[][K * K]) {
  const cb_space *g = gaps->space;
  const int k = g->embedding;
  for (int p = 0; p < gap->n; p++) {
    cb_origin frame[2];
    if (g->chart) {
      const cb_status status = g->chart->to_point(g, x[p], point[p], jacobian[p]);
      if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
      continue;
    }
    cb_isometry change;
    cb_isometry_identity(g, &change);
    cb_gap_pair(gaps, gap->particle[0], gap->particle[p], frame);
    if (!cb_origin_same(g, &frame[0], &frame[1])) {
      cb_origin relative;
      cb_origin_relative(g, &frame[0], &frame[1], &relative);
      cb_origin_isometry(g, &relative, &change);
      cb_isometry_point(g, &change, x[p], point[p]);
    } else {
      memcpy(point[p], x[p], (size_t)k * sizeof *x[p]);
    }
    for (int a = 0; a < k; a++)
      for (int b = 0; b < k; b++) jacobian[p][a * k + b] = change.m[a][b];
  }
  return CB_OK;
}

/* Returns the sum of two maximum radii: that of the points 0 .. split-1 of a gap, and that of the points split ..
 * used-1. */
static double radii(const cb_gaps *gaps, const cb_gap *gap, int split, int used) {
  const double *radius = gaps->system->radius;
  double first = 0, second = 0;
  for (int p = 0; p < used; p++) {
    double *maximum = p < split ? &first : &second;
    *maximum = fmax(*maximum, radius[gap->particle[p]]);
  }
  return first + second;
}

/* Computes the distance between the two features of a gap. In dimension 3, a gap with side * distance below -`beyond`
 * (times the distance between its points 2 and 3) is not active, because its points have passed each other beyond the
 * ends of the edges. The sign of such a distance is not reliable, because the common normal of two edges changes sign
 * where they become parallel. */
static cb_status figure_of(const cb_gaps *gaps, const cb_gap *gap, double side, const double *const *x,
                           double jacobian[][K * K], cb_gap_figure *out) {
  double point[CB_GAP_PARTICLES][K];
  cb_status status = cb_gap_gather(gaps, gap, x, point, jacobian);
  if (!status) status = (gap->kind == CB_GAP_EDGE_EDGE ? gap_edge_figure : gap_face_figure)(gaps->space, point, out);
  if (!status && gaps->space->dim == 3 && side * out->distance < -beyond * cb_distance(gaps->space, point[2], point[3]))
    out->active = false;
  return status;
}

cb_status cb_gap_surface(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, int order, cb_gap_value *out) {
  const cb_space *g = gaps->space;
  const int k = g->k, used = gap->kind == CB_GAP_VERTEX_EDGE ? 3 : 4;
  const double side = gap->side < 0 ? -1 : 1;
  double jacobian[CB_GAP_PARTICLES][K * K];
  cb_gap_figure figure;
  for (int p = 1; gaps->moves && p < gap->n; p++) {
    const double apart = frame_distance(gaps, gap, p);
    if (!(apart * sqrt(fabs(g->factor[0].curvature)) > far)) continue;
    memset(out->gradient, 0, sizeof out->gradient);
    out->gap = apart;
    out->active = false;
    return CB_OK;
  }
  const cb_status status = figure_of(gaps, gap, side, x, jacobian, &figure);
  if (status) return status;
  out->gap = side * figure.distance - radii(gaps, gap, gap->kind == CB_GAP_EDGE_EDGE ? 2 : 1, used);
  out->active = figure.active;
  for (int p = 0; order && p < gap->n; p++)
    for (int i = 0; i < k; i++) {
      double sum = 0;
      for (int a = 0; a < g->embedding; a++) sum += figure.gradient[p][a] * jacobian[p][a * k + i];
      out->gradient[p * k + i] = side * sum;
    }
  return CB_OK;
}

cb_status cb_gap_orient(cb_gaps *gaps, cb_gap *gap, double t, const double *const *x) {
  cb_gap_value value;
  cb_gap plain = *gap;
  if (gap->kind != CB_GAP_VERTEX_FACE && gap->kind != CB_GAP_EDGE_EDGE) return CB_OK;
  plain.side = 1;
  const cb_status status = cb_gap_eval(gaps, &plain, t, x, 0, &value);
  if (status) return status;
  const double r = radii(gaps, gap, gap->kind == CB_GAP_EDGE_EDGE ? 2 : 1, 4);
  gap->side = value.gap + r < 0 ? -1 : 1;
  return CB_OK;
}
