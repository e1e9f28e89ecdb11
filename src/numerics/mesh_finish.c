/* What a reader has taken from a file becomes a mesh: polygons as triangles, places as vertices, edges in order. */
#include "numerics/mesh_builder.h"
#include "numerics/mesh_polygon.h"

#include "core/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- triangles ---- */

static size_t count_triangles(const cb_mesh_builder *b) {
  const size_t polygons = b->ends.count;
  return polygons ? (size_t)b->ends.data[polygons - 1] - 2 * polygons : 0;
}

/* *triangle, from malloc, and their groups, likewise. */
static cb_status make_triangles(const cb_mesh_builder *b, int (**triangle)[3], int **group) {
  const size_t n = count_triangles(b);
  *triangle = malloc((n + 1) * sizeof **triangle);
  *group = malloc((n + 1) * sizeof **group);
  if (!*triangle || !*group) return cb_mesh_no_memory(b);
  for (size_t i = 0, first = 0, made = 0; i < b->ends.count; first = (size_t)b->ends.data[i++]) {
    const int corners = b->ends.data[i] - (int)first;
    const cb_status status = cb_polygon_triangles(corners, b->corners.data + first, (const double(*)[3])b->vertices,
                                                  *triangle + made);
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

/* Without those that have a vertex twice, of a polygon that comes back to a corner. */
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

/* Names and groups of triangles; groups without triangles are dropped. */
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

/* Stable counting sort of pairs by their member `by`: start[v] is where the pairs of vertex v go. */
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

/* Sorts the edges, by the second vertex and then by the first, and drops repeats. */
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

/* The polygons are those of the other mesh. */
static cb_status check_like(const cb_mesh_builder *b, const cb_mesh *like) {
  if (b->n_vertices != like->n_vertices || b->ends.count != like->n_polygons)
    return cb_mesh_fail(b, 0, "%zu vertices and %zu faces, expected %zu and %zu as in '%s'", b->n_vertices,
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

/* ---- the whole ---- */

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
  if (b->n_vertices == 0) return cb_mesh_fail(b, 0, "a mesh without vertices");
  cb_arena *arena = cb_arena_create();
  cb_mesh *mesh = cb_arena_alloc(arena, 1, sizeof *mesh);
  if (mesh) mesh->arena = arena;
  const cb_status status = mesh ? fill(b, how, mesh) : cb_mesh_no_memory(b);
  if (status == CB_OK) *out = mesh;
  else cb_arena_free(arena);
  return status;
}
