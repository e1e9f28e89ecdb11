/* Polygons as triangles. See mesh_polygon.h. */
#include "numerics/mesh_polygon.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Shares of a polygon's size: farther from its plane a corner may not be, for whatever digits, and two of its triangles
 * may not reach into each other; thinner than the last it lies on a line. */
static const double plane = 1e-3, plane_of_digits = 1e-2, reach = 1e-6, line = 1e-10;
static const double sixth_digit = 1e-5;
/* Less than this share of size^2, which is round-off, is no area. */
static const double no_area = 1e-12;

typedef struct outline {
  int n;
  double (*u)[3];    /* corners from the first one, the largest number being 1 */
  double (*p)[2];    /* in the plane, counterclockwise */
  int *next, *last;  /* of the corners that are left */
  int (*triangle)[3]; /* of corners */
} outline;

/* ---- the plane ---- */

/* False where all corners lie on a line. */
static bool scale(outline *o, const int *corner, const double (*vertices)[3], double *unit) {
  const double *first = vertices[corner[0]];
  double most = 0, width = 0;
  int far = 0;
  for (int i = 0; i < o->n; i++)
    for (int k = 0; k < 3; k++) {
      o->u[i][k] = vertices[corner[i]][k] - first[k];
      if (fabs(o->u[i][k]) <= most) continue;
      most = fabs(o->u[i][k]);
      far = i;
    }
  for (int i = 0; i < o->n && most > 0; i++)
    for (int k = 0; k < 3; k++) o->u[i][k] /= most;
  for (int i = 0; i < o->n; i++) {
    double across[3];
    cb_cross3(o->u[far], o->u[i], across);
    width = fmax(width, cb_dot3(across, across));
  }
  *unit = most;
  return !(width <= line * line);
}

/* Diagonal of the box about the corners. */
static double size_of(const outline *o) {
  double square = 0;
  for (int k = 0; k < 3; k++) {
    double low = 0, high = 0;
    for (int i = 1; i < o->n; i++) low = fmin(low, o->u[i][k]), high = fmax(high, o->u[i][k]);
    square += (high - low) * (high - low);
  }
  return sqrt(square);
}

static cb_status fail_cut(const outline *o) {
  return cb_fail(CB_ERROR_DOMAIN, "a polygon of %d corners that cuts itself, expected one that does not, or triangles",
                 o->n);
}

/* digit: the sixth one of the largest coordinate. */
static cb_status check_plane(const outline *o, double digit, double normal[3]) {
  double mean[3] = {0}, most = 0;
  int worst = 0;
  memset(normal, 0, 3 * sizeof *normal);
  for (int i = 0; i < o->n; i++) {
    double twice[3];
    cb_cross3(o->u[i], o->u[(i + 1) % o->n], twice);
    for (int k = 0; k < 3; k++) normal[k] += twice[k], mean[k] += o->u[i][k] / o->n;
  }
  const double length = sqrt(cb_dot3(normal, normal)), size = size_of(o);
  if (!(length > no_area)) return fail_cut(o);
  for (int i = 0; i < o->n; i++) {
    const double off = fabs(cb_dot3(o->u[i], normal) - cb_dot3(mean, normal)) / length;
    if (off <= most) continue;
    most = off;
    worst = i;
  }
  if (most <= fmax(plane * size, fmin(digit, plane_of_digits * size))) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "a polygon of %d corners that is not plane: corner %d is %.2g of its size from its plane, expected at "
                 "most %g, or triangles",
                 o->n, worst + 1, most / size, plane);
}

/* Along the axis that is nearest to the normal. */
static void project(outline *o, const double normal[3]) {
  int drop = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(normal[k]) > fabs(normal[drop])) drop = k;
  const bool turned = normal[drop] < 0;
  const int first = (drop + 1 + turned) % 3, second = (drop + 2 - turned) % 3;
  for (int i = 0; i < o->n; i++) o->p[i][0] = o->u[i][first], o->p[i][1] = o->u[i][second];
}

/* ---- sides ---- */

static double cross(const double a[2], const double b[2], const double c[2]) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Is c to the left of the line from a to b: 1, to its right: -1, on it as far as round-off lets see: 0. Numbers are at
 * most 1. */
static int side(const outline *o, int i, int j, int k) {
  const double *a = o->p[i], *b = o->p[j], *c = o->p[k], x = cross(a, b, c),
               unsure = 1e-15 * (fabs(b[0] - a[0]) + fabs(b[1] - a[1]) + fabs(c[0] - a[0]) + fabs(c[1] - a[1]));
  return (x > unsure) - (x < -unsure);
}

static bool same(const outline *o, int i, int j) { return o->p[i][0] == o->p[j][0] && o->p[i][1] == o->p[j][1]; }

/* ---- a fan ---- */

static bool make_fan(const outline *o) {
  double turn = 0;
  bool good = true;
  for (int i = 1; i + 1 < o->n; i++) {
    const double *a = o->p[0], *b = o->p[i], *c = o->p[i + 1];
    good = good && side(o, 0, i, i + 1) > 0;
    turn += atan2(cross(a, b, c), (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1]));
    memcpy(o->triangle[i - 1], (const int[3]){0, i, i + 1}, sizeof *o->triangle);
  }
  return good && turn < 6.283185307179586;
}

/* ---- ears ---- */

/* Goes the outline from b back the way that it came, or not on at all? */
static bool is_spike(const outline *o, int b) {
  const double *a = o->p[o->last[b]], *c = o->p[o->next[b]], *at = o->p[b];
  if (same(o, o->last[b], b) || same(o, b, o->next[b])) return true;
  return side(o, o->last[b], b, o->next[b]) == 0 &&
         (a[0] - at[0]) * (c[0] - at[0]) + (a[1] - at[1]) * (c[1] - at[1]) > 0;
}

/* May the corner be cut off: does nothing of what is left come into it, and no corner onto the cut? */
static bool is_ear(const outline *o, int b) {
  const int a = o->last[b], c = o->next[b];
  if (side(o, a, b, c) <= 0) return false;
  for (int v = c; v != a; v = o->next[v]) {
    const int w = o->next[v], beyond = side(o, c, a, v);
    if (beyond >= 0 && side(o, a, b, v) > 0 && side(o, b, c, v) > 0) return false;
    /* What comes in at a place that it shares with a corner. */
    if (beyond * side(o, c, a, w) < 0 && side(o, v, w, a) * side(o, v, w, c) < 0) return false;
  }
  return true;
}

/* Cuts off b; the corner to look at next. */
static int cut(outline *o, int b, int *made) {
  const int a = o->last[b], c = o->next[b];
  memcpy(o->triangle[(*made)++], (const int[3]){a, b, c}, sizeof *o->triangle);
  o->next[a] = c;
  o->last[c] = a;
  return a;
}

/* Spikes first, as soon as they are there: an outline that runs there and back along a way seems to have ears. */
static int cut_spikes(outline *o, int b, int *made) {
  while (*made < o->n - 3 && (is_spike(o, b) || is_spike(o, o->next[b])))
    b = cut(o, is_spike(o, b) ? b : o->next[b], made);
  return b;
}

static bool cut_ears(outline *o) {
  for (int i = 0; i < o->n; i++) o->next[i] = (i + 1) % o->n, o->last[i] = (i + o->n - 1) % o->n;
  int b = 0, made = 0, misses = 0;
  for (int i = 0; i < o->n; i++) b = o->next[cut_spikes(o, b, &made)];
  while (made < o->n - 3) {
    if (is_ear(o, b)) {
      b = cut_spikes(o, cut(o, b, &made), &made);
      misses = 0;
    } else {
      b = o->next[b];
      if (++misses == o->n - made) return false;
    }
  }
  const int a = o->last[b], c = o->next[b];
  memcpy(o->triangle[made], (const int[3]){a, b, c}, sizeof *o->triangle);
  return side(o, a, b, c) >= 0;
}

/* ---- does it cut itself? ---- */

/* Is the other triangle beyond a side of this one? */
static bool beyond_a_side(const outline *o, const int triangle[3], const int other[3]) {
  for (int k = 0; k < 3; k++) {
    const double *a = o->p[triangle[k]], *b = o->p[triangle[(k + 1) % 3]];
    const double slack = reach * hypot(b[0] - a[0], b[1] - a[1]);
    if (cross(a, b, o->p[other[0]]) <= slack && cross(a, b, o->p[other[1]]) <= slack &&
        cross(a, b, o->p[other[2]]) <= slack)
      return true;
  }
  return false;
}

static bool boxes_meet(const outline *o, const int s[3], const int t[3]) {
  for (int k = 0; k < 2; k++) {
    const double low = fmin(fmin(o->p[s[0]][k], o->p[s[1]][k]), o->p[s[2]][k]),
                 high = fmax(fmax(o->p[s[0]][k], o->p[s[1]][k]), o->p[s[2]][k]);
    if (o->p[t[0]][k] >= high && o->p[t[1]][k] >= high && o->p[t[2]][k] >= high) return false;
    if (o->p[t[0]][k] <= low && o->p[t[1]][k] <= low && o->p[t[2]][k] <= low) return false;
  }
  return true;
}

/* Triangles that turn as the polygon does fill it without gaps; they do so once each. */
static bool cuts_itself(const outline *o) {
  for (int i = 0; i < o->n - 2; i++) {
    const int *s = o->triangle[i];
    if (side(o, s[0], s[1], s[2]) == 0) continue;
    for (int j = 0; j < i; j++) {
      const int *t = o->triangle[j];
      if (side(o, t[0], t[1], t[2]) && boxes_meet(o, s, t) && !beyond_a_side(o, s, t) && !beyond_a_side(o, t, s))
        return true;
    }
  }
  return false;
}

/* ---- the whole ---- */

static cb_status triangulate(outline *o, const int *corner, const double (*vertices)[3]) {
  double unit, normal[3], largest = 0;
  const bool area = scale(o, corner, vertices, &unit);
  for (int i = 0; i < o->n; i++)
    for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(vertices[corner[i]][k]));
  cb_status status = area ? check_plane(o, sixth_digit * (largest / unit), normal) : CB_OK;
  if (status) return status;
  if (area) project(o, normal);
  if (make_fan(o) || !area) return CB_OK;
  if (o->n > CB_POLYGON_MOST_EARS)
    return cb_fail(CB_ERROR_DOMAIN, "a polygon of %d corners that is not convex, expected at most %d, or triangles",
                   o->n, CB_POLYGON_MOST_EARS);
  return cut_ears(o) && !cuts_itself(o) ? CB_OK : fail_cut(o);
}

cb_status cb_polygon_triangles(int n, const int *corner, const double (*vertices)[3], int (*triangle)[3]) {
  if (n == 3) return memcpy(triangle, corner, sizeof *triangle), CB_OK;
  const size_t count = (size_t)n;
  outline o = {.n = n, .triangle = triangle};
  void *room = calloc(count, sizeof *o.u + sizeof *o.p + 2 * sizeof *o.next);
  if (!room) return cb_fail(CB_ERROR_MEMORY, "no memory for a polygon of %d corners", n);
  o.u = room;
  o.p = (void *)(o.u + n);
  o.next = (void *)(o.p + n);
  o.last = o.next + n;
  const cb_status status = triangulate(&o, corner, vertices);
  for (int i = 0; i < n - 2 && !status; i++)
    for (int k = 0; k < 3; k++) triangle[i][k] = corner[triangle[i][k]];
  free(room);
  return status;
}
