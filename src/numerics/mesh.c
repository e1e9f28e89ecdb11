/* Meshes from files: what the formats have in common. */
#include "numerics/mesh_builder.h"

#include "core/arena.h"
#include "core/text.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/* Length of a line break after a backslash at `at`, 0 if there is none. */
static size_t joined_break(const cb_mesh_builder *b, size_t at) {
  if (at + 1 < b->n && b->bytes[at] == '\\') {
    if (b->bytes[at + 1] == '\n') return 2;
    if (at + 2 < b->n && b->bytes[at + 1] == '\r' && b->bytes[at + 2] == '\n') return 3;
  }
  return 0;
}

bool cb_next_word(const cb_mesh_builder *b, cb_cursor *cursor, cb_word *word) {
  size_t at = cursor->at, joined;
  while (at < b->n) {
    if (is_blank(b->bytes[at])) at++;
    else if (cursor->obj && (joined = joined_break(b, at))) at += joined;
    else break;
  }
  if (cursor->obj && at < b->n && b->bytes[at] == '#')
    while (at < b->n && b->bytes[at] != '\n') at++;
  size_t end = at;
  while (end < b->n && b->bytes[end] != '\n' && !is_blank(b->bytes[end]) && !(cursor->obj && joined_break(b, end)))
    end++;
  *word = (cb_word){.at = at, .length = end - at};
  cursor->at = end;
  return end > at;
}

bool cb_next_line(const cb_mesh_builder *b, cb_cursor *cursor) {
  cb_word word;
  while (cb_next_word(b, cursor, &word)) {}
  if (cursor->at == b->n) return false;
  cursor->at++;
  return true;
}

bool cb_word_is(const cb_mesh_builder *b, cb_word word, const char *text) {
  return strlen(text) == word.length && memcmp(b->bytes + word.at, text, word.length) == 0;
}

/* ---- failing ---- */

cb_status cb_mesh_no_memory(const cb_mesh_builder *b) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for the mesh %s", b->name);
}

cb_status cb_mesh_fail(const cb_mesh_builder *b, size_t at, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  size_t line = 1, start = 0;
  for (size_t i = 0; i < at; i++)
    if (b->bytes[i] == '\n') {
      line++;
      start = i + 1;
    }
  return cb_fail(CB_ERROR_INPUT, "%s:%zu:%zu: error: %s", b->name, line,
                 cb_count_characters(b->bytes + start, at - start) + 1, text);
}

cb_status cb_mesh_expected(const cb_mesh_builder *b, cb_word word, const char *what) {
  return cb_mesh_fail(b, word.at, "expected %s, found '%s'", what, cb_quoted(b->bytes + word.at, word.length).text);
}

cb_status cb_mesh_expected_more(const cb_mesh_builder *b, const cb_cursor *cursor, const char *what) {
  return cb_mesh_fail(b, cursor->at, "expected %s, found the end of the %s", what,
                      cursor->at < b->n ? "line" : "file");
}

cb_status cb_mesh_number(const cb_mesh_builder *b, cb_word word, const char *what, double *value) {
  double v;
  const char *text = b->bytes + word.at;
  const bool parsed = cb_parse_decimal(text, word.length, &v);
  if (!parsed && word.length && cb_decimal_length(text, word.length) == word.length) return cb_mesh_no_memory(b);
  if (!parsed || !isfinite(v)) {
    char expected[96];
    snprintf(expected, sizeof expected, "%s, a finite number", what);
    return cb_mesh_expected(b, word, expected);
  }
  *value = v;
  return CB_OK;
}

cb_status cb_mesh_integer(const cb_mesh_builder *b, cb_word word, const char *what, long long *value) {
  long long v;
  if (!cb_parse_integer(b->bytes + word.at, word.length, &v)) {
    char expected[96];
    snprintf(expected, sizeof expected, "%s, an integer", what);
    return cb_mesh_expected(b, word, expected);
  }
  *value = v;
  return CB_OK;
}

/* ---- vertices, polygons and lines ---- */

cb_status cb_mesh_room(cb_mesh_builder *b, size_t n_vertices) {
  b->vertices = calloc(n_vertices + 1, sizeof *b->vertices);
  if (!b->vertices) return cb_mesh_no_memory(b);
  b->room = n_vertices;
  return CB_OK;
}

static bool push(cb_index_list *list, int index) {
  if (list->count == list->room) {
    size_t room = list->room ? 2 * list->room : 64;
    int *data = realloc(list->data, room * sizeof *data);
    if (!data) return false;
    list->data = data;
    list->room = room;
  }
  list->data[list->count++] = index;
  return true;
}

cb_status cb_mesh_add_corner(cb_mesh_builder *b, int vertex) {
  return push(&b->corners, vertex) ? CB_OK : cb_mesh_no_memory(b);
}

bool cb_mesh_repeats(const cb_mesh_builder *b, bool closed, int *vertex) {
  const int *corner = b->corners.data;
  size_t n = b->corners.count;
  for (size_t i = 0; i + !closed < n; i++)
    if (corner[i] == corner[(i + 1) % n]) {
      *vertex = corner[i];
      return true;
    }
  return false;
}

static bool push_edge(cb_mesh_builder *b, int i, int j) {
  return push(&b->edges, i < j ? i : j) && push(&b->edges, i < j ? j : i);
}

static bool push_triangle(cb_mesh_builder *b, int i, int j, int k) {
  if (i == j || j == k || k == i) return true; /* of a polygon that comes back to a corner: no area */
  return push(&b->triangles, i) && push(&b->triangles, j) && push(&b->triangles, k) && push(&b->groups, b->group);
}

cb_status cb_mesh_end_line(cb_mesh_builder *b) {
  const int *corner = b->corners.data;
  bool good = true;
  for (size_t i = 1; i < b->corners.count && good; i++) good = push_edge(b, corner[i - 1], corner[i]);
  b->corners.count = 0;
  return good ? CB_OK : cb_mesh_no_memory(b);
}

cb_status cb_mesh_end_polygon(cb_mesh_builder *b) {
  const int *corner = b->corners.data;
  size_t n = b->corners.count;
  bool good = push_edge(b, corner[n - 1], corner[0]);
  for (size_t i = 1; i + 1 < n && good; i++) good = push_triangle(b, corner[0], corner[i], corner[i + 1]);
  return good ? cb_mesh_end_line(b) : cb_mesh_no_memory(b);
}

static bool is_group(const cb_mesh_builder *b, int group, cb_word name) {
  cb_word other = b->group_names[group];
  return other.length == name.length && memcmp(b->bytes + other.at, b->bytes + name.at, name.length) == 0;
}

cb_status cb_mesh_begin_group(cb_mesh_builder *b, cb_cursor *cursor) {
  cb_word name = {.length = 0}, word;
  while (cb_next_word(b, cursor, &word)) {
    if (!name.length) name.at = word.at;
    name.length = word.at + word.length - name.at;
  }
  b->group = -1;
  if (!name.length) return CB_OK;
  for (int i = b->n_groups; i-- > 0 && b->group < 0;)
    if (is_group(b, i, name)) b->group = i;
  if (b->group >= 0) return CB_OK;
  if (b->n_groups == CB_MESH_MOST_GROUPS)
    return cb_mesh_fail(b, name.at, "more than %d groups", CB_MESH_MOST_GROUPS);
  if (!b->group_names) b->group_names = malloc(CB_MESH_MOST_GROUPS * sizeof *b->group_names);
  if (!b->group_names) return cb_mesh_no_memory(b);
  b->group = b->n_groups;
  b->group_names[b->n_groups++] = name;
  return CB_OK;
}

/* ---- the whole ---- */

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

/* Names and groups of triangles; groups without triangles are dropped. */
static bool finish_groups(cb_mesh_builder *b, cb_mesh *mesh) {
  size_t n = mesh->n_triangles;
  int *number = malloc(((size_t)b->n_groups + 1) * sizeof *number);
  mesh->groups = cb_arena_alloc(mesh->arena, n, sizeof *mesh->groups);
  mesh->group_names = cb_arena_alloc(mesh->arena, (size_t)b->n_groups, sizeof *mesh->group_names);
  bool good = number && mesh->groups && mesh->group_names;
  for (int g = 0; good && g < b->n_groups; g++) number[g] = -1;
  for (size_t i = 0; good && i < n; i++) {
    int g = b->groups.data[i];
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

static cb_status finish(cb_mesh_builder *b, cb_mesh **out) {
  if (b->n_vertices == 0) return cb_mesh_fail(b, 0, "a mesh without vertices");
  if (!sort_edges(b)) return cb_mesh_no_memory(b);
  cb_arena *arena = cb_arena_create();
  cb_mesh *mesh = cb_arena_alloc(arena, 1, sizeof *mesh);
  if (!mesh) {
    cb_arena_free(arena);
    return cb_mesh_no_memory(b);
  }
  mesh->arena = arena;
  mesh->n_vertices = b->n_vertices;
  mesh->n_edges = b->edges.count / 2;
  mesh->n_triangles = b->triangles.count / 3;
  mesh->vertices = cb_arena_alloc_aligned(arena, mesh->n_vertices, sizeof *mesh->vertices, CB_CACHE_LINE);
  mesh->edges = cb_arena_alloc_aligned(arena, mesh->n_edges, sizeof *mesh->edges, CB_CACHE_LINE);
  mesh->triangles = cb_arena_alloc_aligned(arena, mesh->n_triangles, sizeof *mesh->triangles, CB_CACHE_LINE);
  if (!mesh->vertices || !mesh->edges || !mesh->triangles || !finish_groups(b, mesh)) {
    cb_arena_free(arena);
    return cb_mesh_no_memory(b);
  }
  memcpy(mesh->vertices, b->vertices, mesh->n_vertices * sizeof *mesh->vertices);
  if (mesh->n_edges) memcpy(mesh->edges, b->edges.data, mesh->n_edges * sizeof *mesh->edges);
  if (mesh->n_triangles) memcpy(mesh->triangles, b->triangles.data, mesh->n_triangles * sizeof *mesh->triangles);
  *out = mesh;
  return CB_OK;
}

cb_status cb_mesh_read_text(const char *name, const char *bytes, size_t n, cb_mesh_format format, cb_mesh **out) {
  if (n > CB_MESH_LARGEST)
    return cb_fail(CB_ERROR_INPUT, "%s:1:1: error: a mesh of %zu bytes, expected at most %d", name, n, CB_MESH_LARGEST);
  static cb_status (*const readers[])(cb_mesh_builder *) = {[CB_MESH_OBJ] = cb_mesh_read_obj,
                                                            [CB_MESH_PLY] = cb_mesh_read_ply,
                                                            [CB_MESH_STL] = cb_mesh_read_stl,
                                                            [CB_MESH_OFF] = cb_mesh_read_off};
  cb_mesh_builder b = {.name = name, .bytes = bytes, .n = n, .group = -1};
  cb_status status = readers[format](&b);
  if (status == CB_OK) status = finish(&b, out);
  free(b.vertices);
  free(b.edges.data);
  free(b.triangles.data);
  free(b.corners.data);
  free(b.groups.data);
  free(b.group_names);
  return status;
}

static bool ends_in(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  if (n < m) return false;
  for (size_t i = 0; i < m; i++) {
    char c = path[n - m + i];
    if ((c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c) != ending[i]) return false;
  }
  return true;
}

cb_mesh_format cb_mesh_format_of(const char *bytes, size_t n) {
  const cb_mesh_builder b = {.name = "", .bytes = bytes, .n = n};
  if (n > 3 && memcmp(bytes, "ply", 3) == 0 && (bytes[3] == '\n' || is_blank(bytes[3]))) return CB_MESH_PLY;
  if (cb_mesh_is_stl(&b)) return CB_MESH_STL;
  return cb_mesh_is_off(&b) ? CB_MESH_OFF : CB_MESH_OBJ;
}

cb_status cb_mesh_read_file(const char *path, cb_mesh **out) {
  cb_mesh_format format;
  if (ends_in(path, ".obj")) format = CB_MESH_OBJ;
  else if (ends_in(path, ".ply")) format = CB_MESH_PLY;
  else if (ends_in(path, ".stl")) format = CB_MESH_STL;
  else if (ends_in(path, ".off")) format = CB_MESH_OFF;
  else
    return cb_fail(CB_ERROR_INPUT,
                   "%s:1:1: error: a mesh of unknown format, expected a name in .obj, .ply, .stl or .off", path);

  char *bytes;
  size_t n;
  cb_status status = cb_read_whole_file(path, CB_MESH_LARGEST, &bytes, &n);
  if (status != CB_OK) return status;
  status = cb_mesh_read_text(path, bytes, n, format, out);
  free(bytes);
  return status;
}

void cb_mesh_free(cb_mesh *mesh) {
  if (mesh) cb_arena_free(mesh->arena);
}
