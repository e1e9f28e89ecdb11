/* The convex sets of a surface: each part of a body touches others by one of them.
 *
 *   ball, ellipsoid, capsule    the set itself, of which the faces are an approximation
 *   other parts                 the hull of the vertices; without those that are inside a face or an edge of the part, where
 *                               the normals n of the faces around them have det(sum n n^T) = 0
 * A part is convex if no face rises above the plane of a neighbour. The thickness of sheets is left out.
 */
#include "coupling/convex.h"
#include "core/failure.h"
#include "fluid/surface_mesh.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A corner is out of a plane, or normals differ from those of an edge, by more than this, relative to the size. */
static const double out_of_plane = 1e-9, flat = 1e-20;

static double length_of(const double m[3][3], int column) {
  return sqrt(m[0][column] * m[0][column] + m[1][column] * m[1][column] + m[2][column] * m[2][column]);
}

/* Makes the set of a shape with a formula; returns whether the shape has one. */
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

/* Returns whether the part of an edge is convex there. */
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

/* Takes the vertices of a part that may be corners of its hull: keep[vertices]. sum: work, [vertices]. */
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
  for (int e = 0; e < edges; e++) /* the border of a sheet */
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
