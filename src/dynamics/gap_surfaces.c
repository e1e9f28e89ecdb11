/* Surfaces: which features (vertices and edges) of two triangles may touch, and the gap between two features.
 *
 *   gap = side * distance - (maximum radius of one feature's points) - (maximum radius of the other's points)
 * Points of different frames are converted to the frame of the first point. In a space with a chart, the points x(q) of
 * the embedding for the coordinates q are used.
 */
#include "dynamics/gap.h"

#include <math.h>
#include <string.h>

enum { K = CB_COORD_MAX };

/* A gap with side * distance < 0 is active down to this depth, relative to the distance between its points 2 and 3
 * (figure_of). */
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

/* Returns the next triangle that contains a feature, from position *at in the list of the triangles around f.a, and
 * moves *at behind it; -1: there is none. */
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

/* Returns whether te and tf are the first pair of triangles, te at edge e and tf at edge f, that have no vertex in
 * common. */
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
      /* thus both orders of the two edges give the same gap */
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

/* Returns the maximum radius of the points 0 .. split-1 of a gap, plus the maximum radius of the points split ..
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

/* Computes the distance between the two features of a gap. In dimension 3, a gap that is deeper than `beyond` on its
 * side is not active: its points have then passed each other beyond the ends of the edges. The sign of the distance is
 * not reliable there, because the common normal of two edges changes sign where they become parallel. */
static cb_status figure_of(const cb_gaps *gaps, const cb_gap *gap, double side, const double *const *x,
                           double jacobian[][K * K], cb_gap_figure *out) {
  double point[CB_GAP_PARTICLES][K];
  cb_status status = cb_gap_gather(gaps, gap, x, point, jacobian);
  if (!status)
    status = (gap->kind == CB_GAP_EDGE_EDGE ? cb_gap_edge_figure : cb_gap_face_figure)(gaps->space, point, out);
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
