/* The gap of two convex bodies (convex.h): supports, and Newton's method for pairs with an ellipsoid.
 *
 *   ellipsoid   max of n.x = n.c + |A^T n|,  at x = c + A A^T n/|A^T n|
 *   H = (M - M n n^T M/|A^T n|^2)/|A^T n|,  M = A A^T:  the second derivative of the maximum
 *   (P (H_A + H_B + s 1) P) t = P (y - x),  n <- (n + t)/|n + t|
 * c, A: centre and half axes (as an index, A is the first body); H_A, H_B: H of the two bodies, 0 for a hull; P: the
 * projection onto the vectors perpendicular to n; s, x and y: those of convex.h; t: the step of n. If B is a hull, F
 * are its vertices that are nearest along n: one vertex, the ends of an edge, or three corners of a face; n is then
 * perpendicular to this edge or face, and y is a vertex of F. A step ends where another vertex is as near; this vertex
 * is added to F. At a maximum for F, a vertex is removed from F if the contact point x + s n lies outside on the
 * opposite side.
 */
#include "coupling/convex.h"

#include "core/failure.h"
#include "fluid/surface_mesh.h"
#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 300 };

/* --- sets --- */

cb_convex cb_convex_ball(const double centre[3], double radius) { return cb_convex_capsule(centre, centre, radius); }

cb_convex cb_convex_capsule(const double from[3], const double to[3], double radius) {
  cb_convex out = {.radius = radius, .n = memcmp(from, to, 3 * sizeof *from) ? 2 : 1};
  double square = 0;
  for (int i = 0; i < 3; i++) {
    out.own[0][i] = from[i];
    out.own[1][i] = to[i];
    out.centre[i] = (from[i] + to[i]) / 2;
    square += (to[i] - from[i]) * (to[i] - from[i]) / 4;
  }
  out.bound = radius + sqrt(square);
  return out;
}

cb_convex cb_convex_ellipsoid(const double centre[3], const double axis[3][3]) {
  cb_convex out = {.n = 0};
  memcpy(out.centre, centre, sizeof out.centre);
  memcpy(out.axis, axis, sizeof out.axis);
  for (int k = 0; k < 3; k++) {
    double square = 0;
    for (int i = 0; i < 3; i++) square += axis[i][k] * axis[i][k];
    out.bound = fmax(out.bound, sqrt(square));
  }
  return out;
}

cb_convex cb_convex_hull(int n, const double (*x)[3]) {
  cb_convex out = {.n = n, .x = x};
  double square = 0;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
      low = fmin(low, x[i][k]);
      high = fmax(high, x[i][k]);
    }
    out.centre[k] = (low + high) / 2;
  }
  for (int i = 0; i < n; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = x[i][k] - out.centre[k];
    square = fmax(square, cb_dot3(d, d));
  }
  out.bound = sqrt(square);
  return out;
}

void cb_convex_place(const cb_convex *c, const cb_pose *g, cb_convex_placed *out) {
  out->set = c;
  memcpy(out->x, g->x, sizeof out->x);
  cb_pose_rotation(g, out->r);
  cb_apply3(out->r, c->centre, out->centre);
  for (int i = 0; i < 3; i++) out->centre[i] += g->x[i];
  for (int i = 0; i < 3 && c->n == 0; i++)
    for (int j = 0; j < 3; j++) {
      out->axis[i][j] = 0;
      for (int k = 0; k < 3; k++) out->axis[i][j] += out->r[i][k] * c->axis[k][j];
    }
}

/* --- supports --- */

static const double (*points_of(const cb_convex *c))[3] { return c->x ? c->x : c->own; }

const double *cb_convex_point(const cb_convex *c, int number) { return points_of(c)[number]; }

static void vertex(const cb_convex_placed *c, int number, double out[3]) {
  cb_apply3(c->r, points_of(c->set)[number], out);
  for (int i = 0; i < 3; i++) out[i] += c->x[i];
}

int cb_convex_support(const cb_convex_placed *c, const double d[3], double out[3]) {
  double e[3];
  if (c->set->n == 0) {
    cb_apply3_transposed(c->axis, d, e);
    const double size = sqrt(cb_dot3(e, e));
    cb_apply3(c->axis, e, out);
    for (int i = 0; i < 3; i++) out[i] = c->centre[i] + out[i] / size;
    return 0;
  }
  const double(*x)[3] = points_of(c->set);
  int best = 0;
  cb_apply3_transposed(c->r, d, e);
  double most = cb_dot3(x[0], e);
  for (int i = 1; i < c->set->n; i++) {
    const double along = cb_dot3(x[i], e);
    if (!(along > most)) continue;
    most = along;
    best = i;
  }
  vertex(c, best, out);
  return best;
}

double cb_convex_width(const cb_convex_pair *p, const double n[3], double x[3], double y[3]) {
  const double back[3] = {-n[0], -n[1], -n[2]};
  cb_convex_support(&p->a, n, x);
  cb_convex_support(&p->b, back, y);
  return n[0] * (y[0] - x[0]) + n[1] * (y[1] - x[1]) + n[2] * (y[2] - x[2]);
}

/* --- Newton's method; a is an ellipsoid --- */

/* The set F of vertices of the hull b (top of this file): their numbers, and their positions y in the world. */
typedef struct feature {
  int n, vertex[3];
  double y[3][3];
} feature;

static bool has_vertex(const feature *f, int number) {
  for (int i = 0; i < f->n; i++)
    if (f->vertex[i] == number) return true;
  return false;
}

/* Returns g(n) for y in F, and sets the points x and y at which it is attained. If B is an ellipsoid, F is empty, and y
 * is in all of B. */
static double width_at(const cb_convex_pair *p, const feature *f, const double n[3], double x[3], double y[3]) {
  const double back[3] = {-n[0], -n[1], -n[2]};
  cb_convex_support(&p->a, n, x);
  if (f->n)
    memcpy(y, f->y[0], sizeof f->y[0]);
  else
    cb_convex_support(&p->b, back, y);
  return n[0] * (y[0] - x[0]) + n[1] * (y[1] - x[1]) + n[2] * (y[2] - x[2]);
}

/* Computes an orthonormal basis t of the directions in which n may change. Returns their number: 0 if F is a face, 1 if
 * F is an edge, otherwise 2. */
static int find_basis(const feature *f, const double n[3], double t[2][3]) {
  double along[3] = {fabs(n[0]) < 0.6, fabs(n[0]) >= 0.6, 0};
  if (f->n > 2) return 0;
  for (int i = 0; i < 3 && f->n == 2; i++) along[i] = f->y[1][i] - f->y[0][i];
  cb_cross3(n, along, t[0]);
  const double size = sqrt(cb_dot3(t[0], t[0]));
  for (int i = 0; i < 3; i++) t[0][i] /= size;
  cb_cross3(n, t[0], t[1]);
  return f->n == 2 ? 1 : 2;
}

/* Adds t_i.H t_j to Q[i][j], for the matrix H of one body (top of this file) and the `dim` vectors t_i perpendicular to
 * n. */
static void add_second(const cb_convex_placed *c, const double n[3], int dim, const double t[2][3], double Q[2][2]) {
  double u[3], v[2][3];
  cb_apply3_transposed(c->axis, n, u);
  const double size = sqrt(cb_dot3(u, u));
  for (int i = 0; i < dim; i++) cb_apply3_transposed(c->axis, t[i], v[i]);
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      Q[i][j] += (cb_dot3(v[i], v[j]) - cb_dot3(v[i], u) * cb_dot3(v[j], u) / (size * size)) / size;
}

/* Computes the coefficients u of the step of Newton's method in the basis t, u = Q^-1 slope, where Q has the entries
 * t_i (H_A + H_B + s 1) t_j. Where g is not concave, s is left out of Q. */
static void find_step(const cb_convex_pair *p, const feature *f, const double n[3], double s, int dim,
                      const double t[2][3], const double slope[2], double u[2]) {
  double Q[2][2] = {{0}};
  add_second(&p->a, n, dim, t, Q);
  if (!f->n) add_second(&p->b, n, dim, t, Q);
  const double trace = Q[0][0] + Q[1][1], det = Q[0][0] * Q[1][1] - Q[0][1] * Q[1][0],
               least = dim == 1 ? Q[0][0] : 2 * det / (trace + sqrt(fmax(trace * trace - 4 * det, 0)));
  if (s > -least / 2)
    for (int i = 0; i < dim; i++) Q[i][i] += s;
  u[0] = slope[0] / Q[0][0];
  u[1] = 0;
  if (dim == 1) return;
  const double D = Q[0][0] * Q[1][1] - Q[0][1] * Q[1][0];
  u[0] = (Q[1][1] * slope[0] - Q[0][1] * slope[1]) / D;
  u[1] = (Q[0][0] * slope[1] - Q[1][0] * slope[0]) / D;
}

/* Returns the fraction of the step t, at most 1, at which another vertex of the hull becomes as near as F. *next
 * becomes this vertex, or -1 if there is none before the end of the step. */
static double until_next(const cb_convex_pair *p, const feature *f, const double n[3], const double t[3], int *next) {
  double least = 1, m[3], d[3], first[2];
  *next = -1;
  if (!f->n) return 1;
  cb_apply3_transposed(p->b.r, n, m);
  cb_apply3_transposed(p->b.r, t, d);
  const double(*x)[3] = points_of(p->b.set);
  first[0] = cb_dot3(m, x[f->vertex[0]]);
  first[1] = cb_dot3(d, x[f->vertex[0]]);
  for (int i = 0; i < p->b.set->n; i++) {
    const double rate = first[1] - cb_dot3(d, x[i]), height = fmax(cb_dot3(m, x[i]) - first[0], 0);
    if (!(height < least * rate) || has_vertex(f, i)) continue;
    least = height / rate;
    *next = i;
  }
  return least;
}

/* Moves n by *factor times t, where *factor is halved until the step does not decrease g. Returns g. */
static double turn_by(const cb_convex_pair *p, const feature *f, const double t[3], double s, double n[3], double x[3],
                      double y[3], double *factor) {
  double next[3], now = s;
  for (int j = 0; j < 40; j++, *factor /= 2) {
    for (int i = 0; i < 3; i++) next[i] = n[i] + *factor * t[i];
    const double length = sqrt(cb_dot3(next, next));
    for (int i = 0; i < 3; i++) next[i] /= length;
    now = width_at(p, f, next, x, y);
    if (now >= s - 8 * DBL_EPSILON * p->size) break;
  }
  memcpy(n, next, sizeof next);
  return now;
}

static void add_vertex(const cb_convex_pair *p, int number, feature *f) {
  f->vertex[f->n] = number;
  vertex(&p->b, number, f->y[f->n++]);
}

/* Makes n perpendicular to the edges of F, up to round-off. */
static void straighten(const feature *f, double n[3]) {
  double e[2][3], across[3];
  if (f->n < 2) return;
  for (int k = 0; k < f->n - 1; k++)
    for (int i = 0; i < 3; i++) e[k][i] = f->y[k + 1][i] - f->y[0][i];
  if (f->n == 2) {
    const double part = cb_dot3(n, e[0]) / cb_dot3(e[0], e[0]);
    for (int i = 0; i < 3; i++) across[i] = n[i] - part * e[0][i];
  } else {
    cb_cross3(e[0], e[1], across);
  }
  const double size = (cb_dot3(across, n) < 0 ? -1 : 1) * sqrt(cb_dot3(across, across));
  for (int i = 0; i < 3; i++) n[i] = across[i] / size;
}

static void remove_vertex(feature *f, int k) {
  for (f->n--; k < f->n; k++) {
    f->vertex[k] = f->vertex[k + 1];
    memcpy(f->y[k], f->y[k + 1], sizeof f->y[k]);
  }
}

/* Returns -1 if the point is inside the edge or triangle F. Otherwise returns the vertex of F that has to be removed,
 * the one with the smallest barycentric coordinate, which is negative. */
static int outside_of(const feature *f, const double point[3]) {
  double e[3], d[3], g[3], n[3], part[3], w[3];
  for (int i = 0; i < 3; i++) d[i] = point[i] - f->y[0][i];
  if (f->n < 2) return -1;
  for (int i = 0; i < 3; i++) e[i] = f->y[1][i] - f->y[0][i];
  if (f->n == 2) {
    w[1] = cb_dot3(d, e) / cb_dot3(e, e);
    w[0] = 1 - w[1];
  } else {
    for (int i = 0; i < 3; i++) g[i] = f->y[2][i] - f->y[0][i];
    cb_cross3(e, g, n);
    const double nn = cb_dot3(n, n);
    cb_cross3(d, g, part);
    w[1] = cb_dot3(part, n) / nn;
    cb_cross3(e, d, part);
    w[2] = cb_dot3(part, n) / nn;
    w[0] = 1 - w[1] - w[2];
  }
  int least = 0;
  for (int k = 1; k < f->n; k++)
    if (w[k] < w[least]) least = k;
  return w[least] < -1e-12 ? least : -1;
}

/* Finds the maximum of g that an ascent from the normal n reaches, and returns it. n becomes the normal of the maximum,
 * and x the point of A at which g is attained. A must be an ellipsoid. */
static double polish(const cb_convex_pair *p, double n[3], double x[3]) {
  double y[3], t[2][3], u[2], d[3], slope[2], last = INFINITY;
  const double back[3] = {-n[0], -n[1], -n[2]};
  feature f = {.n = 0};
  if (p->b.set->n) add_vertex(p, cb_convex_support(&p->b, back, y), &f);
  double s = width_at(p, &f, n, x, y);
  for (int k = 0; k < STEPS_MAX; k++) {
    const int dim = find_basis(&f, n, t);
    int next = -1;
    for (int i = 0; i < 3; i++) d[i] = y[i] - x[i];
    for (int i = 0; i < dim; i++) slope[i] = cb_dot3(t[i], d);
    u[0] = u[1] = 0;
    if (dim) find_step(p, &f, n, s, dim, (const double(*)[3])t, slope, u);
    const double size = hypot(u[0], u[1]), most = size > 1 ? 1 / size : 1;
    if (size < 1e-16 || (size < 1e-9 && size >= last / 2)) { /* the step is only round-off */
      for (int i = 0; i < 3; i++) d[i] = x[i] + s * n[i];
      const int out = outside_of(&f, d);
      if (out < 0) return s;
      remove_vertex(&f, out);
      memcpy(y, f.y[0], sizeof y);
      last = INFINITY;
      continue;
    }
    last = size;
    for (int i = 0; i < 3; i++) d[i] = most * (u[0] * t[0][i] + (dim > 1 ? u[1] * t[1][i] : 0));
    const double limit = until_next(p, &f, n, d, &next);
    double factor = limit;
    s = turn_by(p, &f, d, s, n, x, y, &factor);
    if (next < 0 || factor < limit) continue;
    add_vertex(p, next, &f);
    straighten(&f, n);
    s = width_at(p, &f, n, x, y);
    last = INFINITY;
  }
  return s;
}

/* Finds the gap of the cores if one of them is an ellipsoid. */
static void find_smooth(const cb_convex_pair *p, const double guess[3], cb_convex_contact *out) {
  static const double none[3] = {0, 0, 0};
  const bool swap = p->a.set->n != 0;
  const cb_convex_pair q = swap ? (cb_convex_pair){p->b, p->a, p->size} : *p;
  double n[3], x[3], s = -INFINITY;
  for (int i = 0; i < 3; i++) n[i] = swap ? -guess[i] : guess[i];
  if (cb_dot3(n, n) > 0) s = polish(&q, n, x);
  if (!(s > -0.02 * p->size)) {
    cb_convex_contact start;
    cb_convex_hulls(&q, true, none, &start);
    memcpy(n, start.normal, sizeof n);
    s = polish(&q, n, x);
  }
  out->gap = s;
  for (int i = 0; i < 3; i++) {
    const double y = x[i] + s * n[i];
    out->normal[i] = swap ? -n[i] : n[i];
    out->a[i] = swap ? y : x[i];
    out->b[i] = swap ? x[i] : y;
  }
}

void cb_convex_gap(const cb_convex *a, const cb_pose *ga, const cb_convex *b, const cb_pose *gb, double guess[3],
                   cb_convex_contact *out) {
  cb_convex_pair p;
  cb_convex_place(a, ga, &p.a);
  cb_convex_place(b, gb, &p.b);
  p.size = a->bound + b->bound;
  if (a->n && b->n)
    cb_convex_hulls(&p, false, guess, out);
  else
    find_smooth(&p, guess, out);
  out->gap -= a->radius + b->radius;
  for (int i = 0; i < 3; i++) {
    out->a[i] += a->radius * out->normal[i];
    out->b[i] -= b->radius * out->normal[i];
    guess[i] = out->normal[i];
  }
}

/* --- the convex sets of a surface ---
 *
 * Each part of a body is represented by one convex set, with which it touches other bodies.
 *
 *   ball, ellipsoid, capsule    the set itself, of which the faces are an approximation
 *   other parts                 the hull of the vertices, except those inside a face or an edge of the part: there the
 *                               normals n of the faces around the vertex have det(sum n n^T) = 0
 * A part is convex if no face rises above the plane of a neighbour. The thickness of sheets is left out.
 */

/* A face rises above the plane of a neighbour by more than round-off if the height is above out_of_plane times the size
 * of the body. A vertex is a corner if det(sum n n^T) (above) exceeds flat times the cube of the trace. */
static const double out_of_plane = 1e-9, flat = 1e-20;

static double length_of(const double m[3][3], int column) {
  return sqrt(m[0][column] * m[0][column] + m[1][column] * m[1][column] + m[2][column] * m[2][column]);
}

/* Makes the convex set of a surface that is a ball, an ellipsoid or a capsule. Returns false for other surfaces. */
static bool of_form(const cb_surface_form *form, cb_convex *out) {
  const char *name = form ? form->shape->name : "";
  double axis[3][3], ends[2][3];
  if (!strcmp(name, "ball")) {
    *out = cb_convex_ball(form->origin, cb_surface_form_number(form, "radius") * length_of(form->frame, 0));
    return true;
  }
  if (!strcmp(name, "ellipsoid")) {
    static const char *const half[] = {"a", "b", "c"};
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) axis[i][k] = form->frame[i][k] * cb_surface_form_number(form, half[k]);
    const double a = length_of(axis, 0);
    *out = a == length_of(axis, 1) && a == length_of(axis, 2) ? cb_convex_ball(form->origin, a)
                                                              : cb_convex_ellipsoid(form->origin, axis);
    return true;
  }
  if (strcmp(name, "capsule") != 0) return false;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++)
      ends[k][i] = form->origin[i] + (k - .5) * cb_surface_form_number(form, "length") * form->frame[i][2];
  *out = cb_convex_capsule(ends[0], ends[1], cb_surface_form_number(form, "radius") * length_of(form->frame, 0));
  return true;
}

static void unit_normal(const cb_surface *s, int face, double n[3]) {
  const int *v = s->face[face];
  cb_normal3(s->x[v[0]], s->x[v[1]], s->x[v[2]], n);
}

/* Returns whether the surface is convex at this edge. */
static bool is_convex_at(const cb_surface *s, const cb_surface_edge *e, double size) {
  double n[3];
  if (e->face[1] < 0) return true;
  unit_normal(s, e->face[0], n);
  for (int k = 0; k < 3; k++) {
    const double *x = s->x[s->face[e->face[1]][k]], *a = s->x[e->a];
    if (n[0] * (x[0] - a[0]) + n[1] * (x[1] - a[1]) + n[2] * (x[2] - a[2]) > out_of_plane * size) return false;
  }
  return true;
}

static double size_of(const cb_surface *s) {
  double size = 0;
  for (int i = 0; i < s->vertices; i++) size = fmax(size, sqrt(cb_dot3(s->x[i], s->x[i])));
  return size;
}

static double determinant(const double m[3][3]) {
  double c[3];
  cb_cross3(m[0], m[1], c);
  return cb_dot3(c, m[2]);
}

/* Marks the vertices of a part that may be corners of its hull in keep[vertices]. sum[vertices] is a work array. */
static void find_corners(const cb_surface *s, int part, int edges, const cb_surface_edge *edge, bool *keep,
                         double (*sum)[3][3]) {
  memset(keep, 0, (size_t)s->vertices * sizeof *keep);
  memset(sum, 0, (size_t)s->vertices * sizeof *sum);
  for (int f = 0; f < s->faces; f++) {
    double n[3];
    if (s->part[f] != part) continue;
    unit_normal(s, f, n);
    for (int k = 0; k < 3; k++) cb_add_outer3(sum[s->face[f][k]], 1, n, n);
  }
  for (int i = 0; i < s->vertices; i++) {
    const double trace = sum[i][0][0] + sum[i][1][1] + sum[i][2][2];
    keep[i] = trace > 0 && determinant((const double(*)[3])sum[i]) > flat * trace * trace * trace;
  }
  for (int e = 0; e < edges; e++) /* keep the vertices on the border of a sheet */
    if (edge[e].face[1] < 0 && s->part[edge[e].face[0]] == part) keep[edge[e].a] = keep[edge[e].b] = true;
}

static cb_status make_hull(const cb_surface *s, const bool *keep, cb_arena *arena, cb_convex *out) {
  int n = 0;
  for (int i = 0; i < s->vertices; i++) n += keep[i];
  double(*x)[3] = cb_arena_alloc(arena, (size_t)n, sizeof *x);
  if (!x) return cb_fail(CB_ERROR_MEMORY, "no memory for the %d corners of a body", n);
  n = 0;
  for (int i = 0; i < s->vertices; i++)
    if (keep[i]) memcpy(x[n++], s->x[i], sizeof *x);
  *out = cb_convex_hull(n, (const double(*)[3])x);
  return CB_OK;
}

cb_status cb_convex_of_surface(const cb_surface *s, cb_arena *arena, cb_convex **out, int *hull) {
  cb_surface_edge *edge = NULL;
  int edges = 0;
  const double size = size_of(s);
  bool *keep = malloc((size_t)s->vertices * sizeof *keep);
  double(*sum)[3][3] = malloc((size_t)s->vertices * sizeof *sum);
  *out = cb_arena_alloc(arena, (size_t)s->parts, sizeof **out);
  cb_status status = keep && sum && *out ? cb_surface_edges(s, &edge, &edges)
                                         : cb_fail(CB_ERROR_MEMORY, "no memory for %d parts of a body", s->parts);
  *hull = -1;
  for (int p = 0; p < s->parts && !status; p++) {
    if (of_form(cb_surface_form_of(s, p), &(*out)[p])) continue;
    find_corners(s, p, edges, edge, keep, sum);
    status = make_hull(s, keep, arena, &(*out)[p]);
    for (int e = 0; e < edges && *hull < 0; e++)
      if (s->part[edge[e].face[0]] == p && !is_convex_at(s, &edge[e], size)) *hull = p;
  }
  free(edge);
  free(keep);
  free(sum);
  return status;
}
