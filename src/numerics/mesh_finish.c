/* This file makes the mesh from the data that a reader has read from a file: polygons become triangles, and edges are
 * sorted. */
#include "numerics/mesh_builder.h"
#include "numerics/mesh.h"
#include "core/arena.h"
#include "numerics/vec3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <stdbool.h>

/* ---- triangles ---- */

static size_t count_triangles(const cb_mesh_builder *b) {
  const size_t polygons = b->ends.count;
  return polygons ? (size_t)b->ends.data[polygons - 1] - 2 * polygons : 0;
}

/* Makes the triangles of all polygons, and the group of each triangle; both arrays come from malloc. */
static cb_status make_triangles(const cb_mesh_builder *b, int (**triangle)[3], int **group) {
  const size_t n = count_triangles(b);
  *triangle = malloc((n + 1) * sizeof **triangle);
  *group = malloc((n + 1) * sizeof **group);
  if (!*triangle || !*group) return cb_mesh_no_memory(b);
  for (size_t i = 0, first = 0, made = 0; i < b->ends.count; first = (size_t)b->ends.data[i++]) {
    const int corners = b->ends.data[i] - (int)first;
    const cb_status status =
        cb_polygon_triangles(corners, b->corners.data + first, (const double(*)[3])b->vertices, *triangle + made);
    if (status == CB_ERROR_DOMAIN) {
      char text[256];
      snprintf(text, sizeof text, "%s", cb_error_text());
      return cb_mesh_fail(b, (size_t)b->places.data[i], "%s", text);
    }
    if (status != CB_OK) return status;
    for (int k = 0; k < corners - 2; k++) (*group)[made++] = b->groups.data[i];
  }
  return CB_OK;
}

/* Drops triangles that have a vertex twice; they come from polygons that return to a corner. Returns the number of
 * triangles that remain. */
static size_t drop_triangles(size_t n, int (*triangle)[3], int *group) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    const int v[3] = {triangle[i][0], triangle[i][1], triangle[i][2]};
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
    memcpy(triangle[kept], v, sizeof v);
    group[kept++] = group[i];
  }
  return kept;
}

/* Writes the names of groups and the group of each triangle to the mesh; groups without triangles are dropped. */
static bool name_groups(const cb_mesh_builder *b, const int *group, cb_mesh *mesh) {
  size_t n = mesh->n_triangles;
  int *number = malloc(((size_t)b->n_groups + 1) * sizeof *number);
  mesh->groups = cb_arena_alloc(mesh->arena, n, sizeof *mesh->groups);
  mesh->group_names = cb_arena_alloc(mesh->arena, (size_t)b->n_groups, sizeof *mesh->group_names);
  bool good = number && mesh->groups && mesh->group_names;
  for (int g = 0; good && g < b->n_groups; g++) number[g] = -1;
  for (size_t i = 0; good && i < n; i++) {
    int g = group[i];
    mesh->groups[i] = g;
    if (g < 0) continue;
    if (number[g] < 0) {
      number[g] = (int)mesh->n_groups;
      char *name = cb_arena_strndup(mesh->arena, b->bytes + b->group_names[g].at, b->group_names[g].length);
      mesh->group_names[mesh->n_groups++] = name;
      good = name != NULL;
    }
    mesh->groups[i] = number[g];
  }
  free(number);
  return good;
}

/* ---- edges ---- */

/* Sorts n pairs by their member number `by` with a counting sort, which is stable; start[n_vertices + 1] is work
 * space. */
static void sort_pairs(int (*from)[2], int (*to)[2], size_t n, int by, size_t *start, size_t n_vertices) {
  memset(start, 0, (n_vertices + 1) * sizeof *start);
  for (size_t i = 0; i < n; i++) start[from[i][by] + 1]++;
  for (size_t v = 0; v < n_vertices; v++) start[v + 1] += start[v];
  for (size_t i = 0; i < n; i++) {
    size_t at = start[from[i][by]]++;
    to[at][0] = from[i][0];
    to[at][1] = from[i][1];
  }
}

/* Sorts the edges by their first vertex, and edges with the same first vertex by the second, and drops repeats. */
static bool sort_edges(cb_mesh_builder *b) {
  size_t n = b->edges.count / 2;
  if (n < 2) return true;
  int(*edges)[2] = (int(*)[2])b->edges.data, (*other)[2] = malloc(n * sizeof *other);
  size_t *start = malloc((b->n_vertices + 1) * sizeof *start);
  if (other && start) {
    sort_pairs(edges, other, n, 1, start, b->n_vertices);
    sort_pairs(other, edges, n, 0, start, b->n_vertices);
    size_t kept = 1;
    for (size_t i = 1; i < n; i++) {
      if (edges[i][0] == edges[kept - 1][0] && edges[i][1] == edges[kept - 1][1]) continue;
      edges[kept][0] = edges[i][0];
      edges[kept++][1] = edges[i][1];
    }
    b->edges.count = 2 * kept;
  }
  bool good = other && start;
  free(other);
  free(start);
  return good;
}

/* ---- vertices and polygons ---- */

/* Checks that the polygons are those of the mesh `like`. */
static cb_status check_like(const cb_mesh_builder *b, const cb_mesh *like) {
  if (b->n_vertices != like->n_vertices || b->ends.count != like->n_polygons)
    return cb_mesh_fail(b, 0, "the file has %zu vertices and %zu faces, expected %zu and %zu as in '%s'", b->n_vertices,
                        b->ends.count, like->n_vertices, like->n_polygons, like->name);
  for (size_t i = 0, at = 0; i < b->ends.count; i++) {
    const size_t first = at, at_byte = (size_t)b->places.data[i];
    if (b->ends.data[i] != like->ends[i])
      return cb_mesh_fail(b, at_byte, "face %zu has %zu corners, expected %zu as in '%s'", i + 1,
                          (size_t)b->ends.data[i] - first, (size_t)like->ends[i] - first, like->name);
    for (; at < (size_t)b->ends.data[i]; at++)
      if (b->corners.data[at] != like->corners[at])
        return cb_mesh_fail(b, at_byte, "face %zu has vertex %d at its corner %zu, expected %d as in '%s'", i + 1,
                            b->corners.data[at] + b->base, at - first + 1, like->corners[at] + b->base, like->name);
  }
  return CB_OK;
}

/* ---- the mesh ---- */

static void *copied(cb_arena *arena, const void *from, size_t n, size_t size) {
  void *to = cb_arena_alloc_aligned(arena, n, size, CB_CACHE_LINE);
  if (to && n) memcpy(to, from, n * size);
  return to;
}

static cb_status put_polygons(const cb_mesh_builder *b, cb_mesh *mesh) {
  mesh->name = cb_arena_strdup(mesh->arena, b->name);
  mesh->n_polygons = b->ends.count;
  mesh->ends = copied(mesh->arena, b->ends.data, b->ends.count, sizeof *mesh->ends);
  mesh->corners = copied(mesh->arena, b->corners.data, b->corners.count, sizeof *mesh->corners);
  return mesh->name && mesh->ends && mesh->corners ? CB_OK : cb_mesh_no_memory(b);
}

static bool put_rest(cb_mesh_builder *b, size_t triangles, int (*triangle)[3], int *group, cb_mesh *mesh) {
  if (!sort_edges(b)) return false;
  mesh->n_vertices = b->n_vertices;
  mesh->n_edges = b->edges.count / 2;
  mesh->n_triangles = drop_triangles(triangles, triangle, group);
  mesh->vertices = copied(mesh->arena, b->vertices, mesh->n_vertices, sizeof *mesh->vertices);
  mesh->edges = copied(mesh->arena, b->edges.data, mesh->n_edges, sizeof *mesh->edges);
  mesh->triangles = copied(mesh->arena, triangle, mesh->n_triangles, sizeof *mesh->triangles);
  return mesh->vertices && mesh->edges && mesh->triangles && name_groups(b, group, mesh);
}

static cb_status fill(cb_mesh_builder *b, const cb_mesh_reading *how, cb_mesh *mesh) {
  const size_t triangles = how->like ? 0 : count_triangles(b);
  int(*triangle)[3] = NULL, *group = NULL;
  cb_status status = put_polygons(b, mesh);
  if (status == CB_OK) status = how->like ? check_like(b, how->like) : make_triangles(b, &triangle, &group);
  if (status == CB_OK && !put_rest(b, triangles, triangle, group, mesh)) status = cb_mesh_no_memory(b);
  free(triangle);
  free(group);
  return status;
}

cb_status cb_mesh_finish(cb_mesh_builder *b, const cb_mesh_reading *how, cb_mesh **out) {
  if (b->n_vertices == 0) return cb_mesh_fail(b, 0, "expected at least one vertex, found none");
  cb_arena *arena = cb_arena_create();
  cb_mesh *mesh = cb_arena_alloc(arena, 1, sizeof *mesh);
  if (mesh) mesh->arena = arena;
  const cb_status status = mesh ? fill(b, how, mesh) : cb_mesh_no_memory(b);
  if (status == CB_OK)
    *out = mesh;
  else
    cb_arena_free(arena);
  return status;
}

/* ---- polygons as triangles (mesh.h) ---- */

/* Fractions of the size of a polygon. plane: the maximum distance of a corner from the plane; plane_of_digits: this
 * distance for coordinates with few digits; reach: the maximum overlap of two triangles; line: the width below which
 * the polygon counts as a line. */
static const double plane = 1e-3, plane_of_digits = 1e-2, reach = 1e-6, line = 1e-10;
static const double sixth_digit = 1e-5;
/* If twice the area of a polygon, in the scaled coordinates u, is below this, the area is round-off. */
static const double no_area = 1e-12;

typedef struct outline {
  int n;
  double (*u)[3];     /* [n]: the corners relative to the first, scaled so that the largest number is 1 */
  double (*p)[2];     /* [n]: the corners in the plane, counterclockwise */
  int *next, *last;   /* [n]: the next and the previous corner among the corners that are not cut off */
  int (*triangle)[3]; /* the triangles, as indices of corners */
} outline;

/* ---- the plane ---- */

/* Sets o->u to the corners relative to the first corner, divided by *unit. Returns false if all corners lie on a
 * line. */
static bool scale(outline *o, const int *corner, const double (*vertices)[3], double *unit) {
  const double *first = vertices[corner[0]];
  double maximum = 0, width = 0;
  int far = 0;
  for (int i = 0; i < o->n; i++)
    for (int k = 0; k < 3; k++) {
      o->u[i][k] = vertices[corner[i]][k] - first[k];
      if (fabs(o->u[i][k]) <= maximum) continue;
      maximum = fabs(o->u[i][k]);
      far = i;
    }
  for (int i = 0; i < o->n && maximum > 0; i++)
    for (int k = 0; k < 3; k++) o->u[i][k] /= maximum;
  for (int i = 0; i < o->n; i++) {
    double across[3];
    cb_cross3(o->u[far], o->u[i], across);
    width = fmax(width, cb_dot3(across, across));
  }
  *unit = maximum;
  return !(width <= line * line);
}

/* Returns the diagonal of the box around the corners. */
static double size_of(const outline *o) {
  double square = 0;
  for (int k = 0; k < 3; k++) {
    double low = 0, high = 0;
    for (int i = 1; i < o->n; i++) {
      low = fmin(low, o->u[i][k]);
      high = fmax(high, o->u[i][k]);
    }
    square += (high - low) * (high - low);
  }
  return sqrt(square);
}

static cb_status fail_cut(const outline *o) {
  return cb_fail(CB_ERROR_DOMAIN,
                 "a polygon of %d corners intersects itself: expected a polygon that does not, or triangles", o->n);
}

/* Computes the normal, and fails if the polygon is not plane. digit is one unit of the sixth digit of the largest
 * coordinate, in scaled coordinates. */
static cb_status check_plane(const outline *o, double digit, double normal[3]) {
  double mean[3] = {0}, maximum = 0;
  int worst = 0;
  memset(normal, 0, 3 * sizeof *normal);
  for (int i = 0; i < o->n; i++) {
    double twice[3];
    cb_cross3(o->u[i], o->u[(i + 1) % o->n], twice);
    for (int k = 0; k < 3; k++) {
      normal[k] += twice[k];
      mean[k] += o->u[i][k] / o->n;
    }
  }
  const double length = sqrt(cb_dot3(normal, normal)), size = size_of(o);
  if (!(length > no_area)) return fail_cut(o);
  for (int i = 0; i < o->n; i++) {
    const double off = fabs(cb_dot3(o->u[i], normal) - cb_dot3(mean, normal)) / length;
    if (off <= maximum) continue;
    maximum = off;
    worst = i;
  }
  if (maximum <= fmax(plane * size, fmin(digit, plane_of_digits * size))) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "a polygon of %d corners is not planar: the distance of corner %d from its plane is %.2g of its size, "
                 "expected at most %g, or triangles",
                 o->n, worst + 1, maximum / size, plane);
}

/* Projects the corners along the coordinate axis that is nearest to the normal. */
static void project(outline *o, const double normal[3]) {
  int drop = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(normal[k]) > fabs(normal[drop])) drop = k;
  const bool turned = normal[drop] < 0;
  const int first = (drop + 1 + turned) % 3, second = (drop + 2 - turned) % 3;
  for (int i = 0; i < o->n; i++) {
    o->p[i][0] = o->u[i][first];
    o->p[i][1] = o->u[i][second];
  }
}

/* ---- sides ---- */

static double cross(const double a[2], const double b[2], const double c[2]) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Returns 1 if corner k is to the left of the line from corner i to corner j, -1 if it is to the right, and 0 if it is
 * on the line up to round-off. No coordinate of a corner is above 1. */
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

/* Returns whether the outline turns back on itself at corner b, or a neighbour of b is the same point as b. */
static bool is_spike(const outline *o, int b) {
  const double *a = o->p[o->last[b]], *c = o->p[o->next[b]], *at = o->p[b];
  if (same(o, o->last[b], b) || same(o, b, o->next[b])) return true;
  return side(o, o->last[b], b, o->next[b]) == 0 &&
         (a[0] - at[0]) * (c[0] - at[0]) + (a[1] - at[1]) * (c[1] - at[1]) > 0;
}

/* Returns whether the corner b may be cut off: no other part of the polygon lies in the triangle of b and its two
 * neighbours, and no corner lies on the side that joins the neighbours. */
static bool is_ear(const outline *o, int b) {
  const int a = o->last[b], c = o->next[b];
  if (side(o, a, b, c) <= 0) return false;
  for (int v = c; v != a; v = o->next[v]) {
    const int w = o->next[v], beyond = side(o, c, a, v);
    if (beyond >= 0 && side(o, a, b, v) > 0 && side(o, b, c, v) > 0) return false;
    /* The edge from v to w of the remaining polygon enters the triangle through the side from c to a. */
    if (beyond * side(o, c, a, w) < 0 && side(o, v, w, a) * side(o, v, w, c) < 0) return false;
  }
  return true;
}

/* Cuts off corner b, and returns the next corner to test. */
static int cut(outline *o, int b, int *made) {
  const int a = o->last[b], c = o->next[b];
  memcpy(o->triangle[(*made)++], (const int[3]){a, b, c}, sizeof *o->triangle);
  o->next[a] = c;
  o->last[c] = a;
  return a;
}

/* Cuts off spikes at b and next to it, and returns the next corner to test. Spikes are cut off first, because an
 * outline that goes back and forth along a line seems to have ears. */
static int cut_spikes(outline *o, int b, int *made) {
  while (*made < o->n - 3 && (is_spike(o, b) || is_spike(o, o->next[b])))
    b = cut(o, is_spike(o, b) ? b : o->next[b], made);
  return b;
}

static bool cut_ears(outline *o) {
  for (int i = 0; i < o->n; i++) {
    o->next[i] = (i + 1) % o->n;
    o->last[i] = (i + o->n - 1) % o->n;
  }
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

/* ---- self-intersection ---- */

/* Returns whether the triangle `other` lies entirely beyond one side of `triangle`, up to an overlap of `reach`. */
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

/* Returns whether the polygon intersects itself. Its triangles have the orientation of the polygon and fill it without
 * gaps, so it intersects itself if two of them overlap. */
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

/* ---- the polygon ---- */

static cb_status triangulate(outline *o, const int *corner, const double (*vertices)[3]) {
  double unit, normal[3], largest = 0;
  const bool area = scale(o, corner, vertices, &unit);
  for (int i = 0; i < o->n; i++)
    for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(vertices[corner[i]][k]));
  cb_status status = area ? check_plane(o, sixth_digit * (largest / unit), normal) : CB_OK;
  if (status) return status;
  if (area) project(o, normal);
  if (make_fan(o) || !area) return CB_OK;
  if (o->n > CB_POLYGON_MAX_EARS)
    return cb_fail(CB_ERROR_DOMAIN, "a polygon that is not convex has %d corners: expected at most %d, or triangles",
                   o->n, CB_POLYGON_MAX_EARS);
  return cut_ears(o) && !cuts_itself(o) ? CB_OK : fail_cut(o);
}

cb_status cb_polygon_triangles(int n, const int *corner, const double (*vertices)[3], int (*triangle)[3]) {
  if (n == 3) {
    memcpy(triangle, corner, sizeof *triangle);
    return CB_OK;
  }
  const size_t count = (size_t)n;
  outline o = {.n = n, .triangle = triangle};
  void *capacity = calloc(count, sizeof *o.u + sizeof *o.p + 2 * sizeof *o.next);
  if (!capacity) return cb_fail(CB_ERROR_MEMORY, "no memory for a polygon of %d corners", n);
  o.u = capacity;
  o.p = (void *)(o.u + n);
  o.next = (void *)(o.p + n);
  o.last = o.next + n;
  const cb_status status = triangulate(&o, corner, vertices);
  for (int i = 0; i < n - 2 && !status; i++)
    for (int k = 0; k < 3; k++) triangle[i][k] = corner[triangle[i][k]];
  free(capacity);
  return status;
}
