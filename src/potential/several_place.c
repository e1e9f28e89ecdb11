/* Where several bodies are, seen from each other, and the smallest gap between them (several.h).
 *
 *   y = R_j^T (R_i x + p_i - p_j);  mirror image: y = R_j^T (M (R_i x + p_i) + 2 h n - p_j),  M = 1 - 2 n n^T
 * x is a point in the axes of body i, y the same point or its mirror image in the axes of body j, R and p are the
 * rotation and position of a pose, and <x, n> = h is the wall. In a curved space y = g_j^-1 g_i x. The gap of two
 * triangles is the smallest distance of a corner from a triangle or of two edges, and 0 if an edge crosses a triangle.
 * Only pairs of panels whose balls are nearer than the smallest gap so far are compared. Source: Ericson, Real-Time
 * Collision Detection (2005), sections 5.1.5 and 5.1.9.
 */
#include "potential/several_private.h"

#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include <curvebody/pose.h>

#include <math.h>
#include <string.h>

/* The smallest gap that panels of size h resolve, divided by h (several.h). */
static const double resolved = 1. / 3;

/* Sets a view in flat space. The mirror image of a torque has the opposite sign. */
static void set_view(const cb_several *m, const cb_pose *gi, const cb_pose *gj, bool mirrored, cb_several_view *v) {
  double ri[3][3], rj[3][3], x[3], t[3], hat[3][3] = {{0}};
  cb_pose_rotation(gi, ri);
  cb_pose_rotation(gj, rj);
  for (int k = 0; k < 3; k++) x[k] = gi->x[k] - gj->x[k];
  if (mirrored) {
    const double *n = m->wall.normal, height = cb_dot3(n, gi->x) - m->wall.height;
    for (int k = 0; k < 3; k++) x[k] -= 2 * height * n[k];
    for (int l = 0; l < 3; l++) {
      const double along = n[0] * ri[0][l] + n[1] * ri[1][l] + n[2] * ri[2][l];
      for (int k = 0; k < 3; k++) ri[k][l] -= 2 * along * n[k];
    }
  }
  cb_apply3_transposed((const double(*)[3])rj, x, t);
  cb_add_hat3(hat, mirrored ? -1 : 1, t);
  memset(v, 0, sizeof *v);
  v->sign = mirrored && m->wall.kind == CB_MIRROR_FREE ? -1 : 1;
  v->T[3][3] = 1;
  for (int k = 0; k < 3; k++) {
    v->T[k][3] = t[k];
    for (int l = 0; l < 3; l++) v->T[k][l] = rj[0][k] * ri[0][l] + rj[1][k] * ri[1][l] + rj[2][k] * ri[2][l];
  }
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++) {
      v->carry[k][l] = (mirrored ? -1 : 1) * v->T[l][k];
      v->carry[3 + k][3 + l] = v->T[l][k];
      for (int c = 0; c < 3; c++) v->carry[k][3 + l] -= v->T[c][k] * hat[c][l];
    }
}

/* Sets a view in a curved space. In the units of the points, T_x (y, w) = (y + x (w - s x.y/(1 + c)), c w - s x.y) for
 * the transvection to the point (x, c), with the sign s of the curvature. */
static void set_curved_view(const cb_several_space *space, const cb_pose *gi, const cb_pose *gj, cb_several_view *v) {
  cb_pose back, g;
  double x[4], r[4][4] = {{0}}, turn[3][3], adjoint[6][6];
  cb_pose_inverse(gj, &back);
  cb_pose_multiply_in(space->K, &back, gi, &g);
  cb_curved_point(space->K, g.x, x);
  for (int k = 0; k < 3; k++) x[k] *= space->r;
  cb_pose_rotation(&g, turn);
  for (int k = 0; k < 9; k++) r[k / 3][k % 3] = turn[k / 3][k % 3];
  r[3][3] = 1;
  for (int l = 0; l < 4; l++) {
    const double along = space->sign * (x[0] * r[0][l] + x[1] * r[1][l] + x[2] * r[2][l]);
    for (int k = 0; k < 3; k++) v->T[k][l] = r[k][l] + x[k] * (r[3][l] - along / (1 + x[3]));
    v->T[3][l] = x[3] * r[3][l] - along;
  }
  cb_pose_adjoint_in(space->K, &g, adjoint);
  for (int k = 0; k < 36; k++) v->carry[k / 6][k % 6] = adjoint[k % 6][k / 6];
  v->sign = 1;
}

/* --- distances of triangles --- */

/* Returns the distance of the segments from p to p + u and from q to q + v. */
static double segments(const double p[3], const double u[3], const double q[3], const double v[3]) {
  const double r[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  const double a = cb_dot3(u, u), e = cb_dot3(v, v), f = cb_dot3(v, r), c = cb_dot3(u, r), b = cb_dot3(u, v),
               below = a * e - b * b;
  double s = below > 0 ? fmin(fmax((b * f - c * e) / below, 0), 1) : 0, t = (b * s + f) / e;
  if (t < 0) {
    t = 0;
    s = fmin(fmax(-c / a, 0), 1);
  } else if (t > 1) {
    t = 1;
    s = fmin(fmax((b - c) / a, 0), 1);
  }
  double d[3];
  for (int k = 0; k < 3; k++) d[k] = r[k] + s * u[k] - t * v[k];
  return sqrt(cb_dot3(d, d));
}

/* Returns whether p, moved along the normal n of the triangle to its plane, is inside the triangle. */
static bool above(const double t[3][3], const double n[3], const double p[3]) {
  for (int k = 0; k < 3; k++) {
    const double *a = t[k], *b = t[(k + 1) % 3], edge[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 to[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    double m[3];
    cb_cross3(edge, to, m);
    if (cb_dot3(m, n) < 0) return false;
  }
  return true;
}

/* Returns the distance of the corners of b from the inner points of a; 0 if an edge of b crosses a. */
static double corners(const double a[3][3], const double b[3][3]) {
  double n[3], height[3], least = INFINITY;
  cb_normal3(a[0], a[1], a[2], n);
  const double size = sqrt(cb_dot3(n, n));
  for (int k = 0; k < 3; k++) {
    const double to[3] = {b[k][0] - a[0][0], b[k][1] - a[0][1], b[k][2] - a[0][2]};
    height[k] = cb_dot3(to, n) / size;
    if (fabs(height[k]) < least && above(a, n, b[k])) least = fabs(height[k]);
  }
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3;
    if (height[k] * height[next] > 0 || height[k] == height[next]) continue;
    const double s = height[k] / (height[k] - height[next]);
    double p[3];
    for (int l = 0; l < 3; l++) p[l] = b[k][l] + s * (b[next][l] - b[k][l]);
    if (above(a, n, p)) return 0;
  }
  return least;
}

static double triangles(const double a[3][3], const double b[3][3]) {
  double least = fmin(corners(a, b), corners(b, a));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double u[3], v[3];
      for (int k = 0; k < 3; k++) {
        u[k] = a[(i + 1) % 3][k] - a[i][k];
        v[k] = b[(j + 1) % 3][k] - b[j][k];
      }
      least = fmin(least, segments(a[i], u, b[j], v));
    }
  return least;
}

/* --- the gap --- */

/* Computes the gap of the panels a of `p`, in the view v, and b of `q`. In a curved space it is computed in the
 * gnomonic picture about the middle of their centres, in which panels are flat, unless they are too far from each
 * other. */
static void compare(cb_several_report *r, const cb_several_view *v, const cb_several_shape *p, int a,
                    const cb_several_shape *q, int b) {
  const cb_several_space *space = &p->space;
  double corner[2][3][3], centre[4], middle[4];
  cb_several_seen(v, p->centre[a], centre);
  for (int k = 0; k < 4; k++) middle[k] = centre[k] + q->centre[b][k];
  const double square = middle[3] * middle[3] + space->sign * cb_dot3(middle, middle);
  bool near = square > 1;
  for (int k = 0; k < 4; k++) middle[k] /= sqrt(square);
  for (int k = 0; k < 6 && near; k++) {
    double y[4], seen[4];
    if (k < 3)
      cb_several_seen(v, p->corner[a][k], y);
    else
      memcpy(y, q->corner[b][k - 3], sizeof y);
    if (space->sign != 0)
      cb_curved_towards(space->sign, middle, y, seen);
    else
      memcpy(seen, y, sizeof seen);
    near = seen[3] > 0.5;
    for (int l = 0; l < 3; l++) corner[k / 3][k % 3][l] = seen[l] / (space->r * seen[3]);
  }
  const double gap = near ? triangles((const double(*)[3])corner[0], (const double(*)[3])corner[1])
                          : cb_several_distance(space, centre, q->centre[b]);
  if (gap >= r->gap) return;
  r->gap = gap;
  r->resolved = resolved * sqrt(fmax(p->area[a], q->area[b]));
}

/* Returns the panel whose centre, in the view v (NULL: none), is nearest to x. */
static int nearest(const cb_several_shape *s, const cb_several_view *v, const double x[4]) {
  double least = INFINITY, y[4];
  int at = 0;
  for (int k = 0; k < s->n; k++) {
    if (v) cb_several_seen(v, s->centre[k], y);
    const double d = cb_several_distance(&s->space, v ? y : s->centre[k], x);
    if (d < least) at = k;
    least = fmin(least, d);
  }
  return at;
}

/* Returns the squared chord (potential/curved_kernel.h) of points at this distance, or more than any chord. */
static double chord_of(const cb_several_space *space, double distance) {
  const double half = space->r * distance / 2;
  if (space->sign > 0 && half >= 1.57) return INFINITY;
  const double chord = 2 * (space->sign > 0 ? sin(half) : space->sign < 0 ? sinh(half) : half);
  return chord * chord;
}

/* Compares all panels of body i with those of body j. The first pair is near the smallest gap of convex bodies. */
static void find_gap(cb_several_work *e, int i, int j, const cb_several_view *v) {
  const cb_several_shape *p = cb_several_shape_of(e->m, i), *q = cb_several_shape_of(e->m, j);
  const cb_several_space *space = &e->m->space;
  cb_several_report *r = &e->report, was = *r;
  double at[4];
  cb_several_seen(v, p->middle, at);
  if (cb_several_distance(space, at, q->middle) - p->radius - q->radius >= r->gap) return;
  const int first = nearest(p, v, q->middle);
  cb_several_seen(v, p->centre[first], at);
  compare(r, v, p, first, q, nearest(q, NULL, at));
  for (int k = 0; k < p->n; k++) {
    cb_several_seen(v, p->centre[k], at);
    if (cb_several_distance(space, at, q->middle) - p->reach[k] - q->radius >= r->gap) continue;
    const double limit = chord_of(space, r->gap + p->reach[k] + q->widest);
    for (int l = 0; l < q->n; l++) {
      const double d[4] = {at[0] - q->centre[l][0], at[1] - q->centre[l][1], at[2] - q->centre[l][2],
                           at[3] - q->centre[l][3]};
      if (cb_dot3(d, d) + space->sign * d[3] * d[3] >= limit) continue;
      if (cb_several_distance(space, at, q->centre[l]) - p->reach[k] - q->reach[l] < r->gap) compare(r, v, p, k, q, l);
    }
  }
  if (r->gap >= was.gap) return;
  r->body[0] = i;
  r->body[1] = j;
}

static cb_status check_wall(const cb_several *m, int i, const cb_pose *g) {
  const cb_several_shape *s = cb_several_shape_of(m, i);
  double r[3][3], n[3], least = INFINITY;
  cb_pose_rotation(g, r);
  cb_apply3_transposed((const double(*)[3])r, m->wall.normal, n);
  for (int k = 0; k < 3 * s->n; k++) least = fmin(least, cb_dot3(s->corner[k / 3][k % 3], n));
  least += cb_dot3(m->wall.normal, g->x) - m->wall.height;
  if (least > 0) return CB_OK;
  return cb_fail(CB_STEP_DOMAIN,
                 "body %s is behind its wall: a corner is at the height %g above the wall: expected more than 0",
                 cb_several_name(m, i).text, least);
}

static cb_status check_gap(const cb_several *m, const cb_several_report *r) {
  if (r->gap >= r->resolved) return CB_OK;
  const cb_name_text first = cb_several_name(m, r->body[0]), second = cb_several_name(m, r->body[1]);
  const char *i = first.text, *j = second.text;
  if (r->gap == 0)
    return cb_fail(CB_STEP_DOMAIN, "bodies %s and %s overlap: expected a gap of at least %g between them", i, j,
                   r->resolved);
  if (r->body[0] == r->body[1])
    return cb_fail(CB_STEP_DOMAIN,
                   "body %s is at the distance %g from the wall, but its faces resolve only distances above %g: "
                   "expected an earlier end of the run, or smaller faces",
                   i, r->gap / 2, r->resolved / 2);
  return cb_fail(CB_STEP_DOMAIN,
                 "the gap between bodies %s and %s is %g, but their faces resolve only gaps above %g: expected an "
                 "earlier end of the run, or smaller faces",
                 i, j, r->gap, r->resolved);
}

static cb_status check_finite(const cb_several *m, const cb_pose *g) {
  for (int i = 0; i < m->bodies; i++) {
    const double *q = g[i].q, *x = g[i].x;
    if (!isfinite(q[0] + q[1] + q[2] + q[3] + x[0] + x[1] + x[2]))
      return cb_fail(CB_STEP_NOT_FINITE, "the pose of body %s is not finite: expected finite poses",
                     cb_several_name(m, i).text);
  }
  return CB_OK;
}

cb_status cb_several_place(cb_several_work *e, const cb_pose *g) {
  const cb_several *m = e->m;
  const bool wall = m->wall.kind != CB_MIRROR_NONE;
  e->report = (cb_several_report){.gap = INFINITY};
  cb_status status = check_finite(m, g);
  for (int i = 0; i < m->bodies && wall && !status; i++) status = check_wall(m, i, g + i);
  if (status) return status;
  for (int i = 0; i < m->bodies; i++)
    for (int j = 0; j < m->bodies; j++) {
      cb_several_view *v = e->view + ((size_t)i * (size_t)m->bodies + (size_t)j) * 2;
      if (i != j && m->space.K == 0) set_view(m, g + i, g + j, false, v);
      if (i != j && m->space.K != 0) set_curved_view(&m->space, g + i, g + j, v);
      if (wall) set_view(m, g + i, g + j, true, v + 1);
      if (i < j || (i == j && wall)) find_gap(e, i, j, i == j ? v + 1 : v);
    }
  return check_gap(m, &e->report);
}
