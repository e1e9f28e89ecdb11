/* Functions for all readers of mesh files: words, errors, vertices and polygons, and distinct points. */
#include "numerics/mesh_builder.h"
#include "core/arena.h"
#include "core/failure.h"
#include "core/text.h"
#include "numerics/mesh.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/* Returns the length of a backslash at `at` and the line break after it, or 0 if there is no such pair. */
static size_t joined_break(const cb_mesh_builder *b, size_t at) {
  if (at + 1 < b->n && b->bytes[at] == '\\') {
    if (b->bytes[at + 1] == '\n') return 2;
    if (at + 2 < b->n && b->bytes[at + 1] == '\r' && b->bytes[at + 2] == '\n') return 3;
  }
  return 0;
}

bool cb_next_token(const cb_mesh_builder *b, cb_cursor *cursor, cb_token *token) {
  size_t at = cursor->at, joined;
  while (at < b->n) {
    if (is_blank(b->bytes[at]))
      at++;
    else if (cursor->obj && (joined = joined_break(b, at)))
      at += joined;
    else
      break;
  }
  if (cursor->obj && at < b->n && b->bytes[at] == '#')
    while (at < b->n && b->bytes[at] != '\n') at++;
  size_t end = at;
  while (end < b->n && b->bytes[end] != '\n' && !is_blank(b->bytes[end]) && !(cursor->obj && joined_break(b, end)))
    end++;
  *token = (cb_token){.at = at, .length = end - at};
  cursor->at = end;
  return end > at;
}

bool cb_next_line(const cb_mesh_builder *b, cb_cursor *cursor) {
  cb_token token;
  while (cb_next_token(b, cursor, &token)) {
  }
  if (cursor->at == b->n) return false;
  cursor->at++;
  return true;
}

bool cb_token_is(const cb_mesh_builder *b, cb_token token, const char *text) {
  return strlen(text) == token.length && memcmp(b->bytes + token.at, text, token.length) == 0;
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
  size_t line = 1, start = 0, end = at < b->binary ? at : b->binary;
  for (size_t i = 0; i < end; i++)
    if (b->bytes[i] == '\n') {
      line++;
      start = i + 1;
    }
  char byte[40] = "";
  if (at >= b->binary) snprintf(byte, sizeof byte, "byte %zu: ", at);
  return cb_fail_placed(CB_ERROR_INPUT, "%s:%zu:%zu: error: %s%s", b->name, line,
                        cb_count_characters(b->bytes + start, end - start) + 1, byte, text);
}

cb_status cb_mesh_expected(const cb_mesh_builder *b, cb_token token, const char *what) {
  return cb_mesh_fail(b, token.at, "expected %s, found '%s'", what, cb_quoted(b->bytes + token.at, token.length).text);
}

cb_status cb_mesh_expected_more(const cb_mesh_builder *b, const cb_cursor *cursor, const char *what) {
  return cb_mesh_fail(b, cursor->at, "expected %s, found the end of the %s", what, cursor->at < b->n ? "line" : "file");
}

cb_status cb_mesh_number(const cb_mesh_builder *b, cb_token token, const char *what, double *value) {
  double v;
  const char *text = b->bytes + token.at;
  const bool parsed = cb_parse_decimal(text, token.length, &v);
  if (!parsed && token.length && cb_decimal_length(text, token.length) == token.length) return cb_mesh_no_memory(b);
  if (!parsed || !isfinite(v)) {
    char expected[96];
    snprintf(expected, sizeof expected, "%s, a finite number", what);
    return cb_mesh_expected(b, token, expected);
  }
  *value = v;
  return CB_OK;
}

cb_status cb_mesh_integer(const cb_mesh_builder *b, cb_token token, const char *what, long long *value) {
  long long v;
  if (!cb_parse_integer(b->bytes + token.at, token.length, &v)) {
    char expected[96];
    snprintf(expected, sizeof expected, "%s, an integer", what);
    return cb_mesh_expected(b, token, expected);
  }
  *value = v;
  return CB_OK;
}

/* ---- vertices, polygons and lines ---- */

cb_status cb_mesh_reserve(cb_mesh_builder *b, size_t n_vertices) {
  b->vertices = calloc(n_vertices + 1, sizeof *b->vertices);
  if (!b->vertices) return cb_mesh_no_memory(b);
  b->capacity = n_vertices;
  return CB_OK;
}

static bool push(cb_index_list *list, int index) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    int *data = realloc(list->data, capacity * sizeof *data);
    if (!data) return false;
    list->data = data;
    list->capacity = capacity;
  }
  list->data[list->count++] = index;
  return true;
}

cb_status cb_mesh_add_corner(cb_mesh_builder *b, int vertex) {
  return push(&b->corners, vertex) ? CB_OK : cb_mesh_no_memory(b);
}

/* Returns the index at which the corners of the polygon or line that is being read begin. */
static size_t begin(const cb_mesh_builder *b) { return b->ends.count ? (size_t)b->ends.data[b->ends.count - 1] : 0; }

size_t cb_mesh_corners(const cb_mesh_builder *b) { return b->corners.count - begin(b); }

bool cb_mesh_repeats(const cb_mesh_builder *b, bool closed, int *vertex) {
  const int *corner = b->corners.data + begin(b);
  size_t n = cb_mesh_corners(b);
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

static bool push_edges(cb_mesh_builder *b) {
  const int *corner = b->corners.data + begin(b);
  bool good = true;
  for (size_t i = 1; i < cb_mesh_corners(b) && good; i++) good = push_edge(b, corner[i - 1], corner[i]);
  return good;
}

cb_status cb_mesh_end_line(cb_mesh_builder *b) {
  const bool good = push_edges(b);
  b->corners.count = begin(b);
  return good ? CB_OK : cb_mesh_no_memory(b);
}

/* An int is large enough for offsets and counts of corners, because they are below the number of bytes. */
cb_status cb_mesh_end_polygon(cb_mesh_builder *b, size_t at) {
  const bool good = push_edges(b) && push_edge(b, b->corners.data[b->corners.count - 1], b->corners.data[begin(b)]) &&
                    push(&b->places, (int)at) && push(&b->groups, b->group) && push(&b->ends, (int)b->corners.count);
  return good ? CB_OK : cb_mesh_no_memory(b);
}

static bool is_group(const cb_mesh_builder *b, int group, cb_token name) {
  cb_token other = b->group_names[group];
  return other.length == name.length && memcmp(b->bytes + other.at, b->bytes + name.at, name.length) == 0;
}

cb_status cb_mesh_begin_group(cb_mesh_builder *b, cb_cursor *cursor) {
  cb_token name = {.length = 0}, token;
  while (cb_next_token(b, cursor, &token)) {
    if (!name.length) name.at = token.at;
    name.length = token.at + token.length - name.at;
  }
  b->group = -1;
  if (!name.length) return CB_OK;
  for (int i = b->n_groups; i-- > 0 && b->group < 0;)
    if (is_group(b, i, name)) b->group = i;
  if (b->group >= 0) return CB_OK;
  if (b->n_groups == CB_MESH_MAX_GROUPS)
    return cb_mesh_fail(b, name.at, "expected at most %d groups", CB_MESH_MAX_GROUPS);
  if (!b->group_names) b->group_names = malloc(CB_MESH_MAX_GROUPS * sizeof *b->group_names);
  if (!b->group_names) return cb_mesh_no_memory(b);
  b->group = b->n_groups;
  b->group_names[b->n_groups++] = name;
  return CB_OK;
}

/* ---- the mesh ---- */

cb_status cb_mesh_read_text(const char *name, const char *bytes, size_t n, cb_mesh_format format,
                            const cb_mesh_reading *how, cb_mesh **out) {
  if (n > CB_MESH_LARGEST)
    return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: the mesh has %zu bytes, expected at most %d", name, n,
                          CB_MESH_LARGEST);
  static cb_status (*const readers[])(cb_mesh_builder *) = {[CB_MESH_OBJ] = cb_mesh_read_obj,
                                                            [CB_MESH_PLY] = cb_mesh_read_ply,
                                                            [CB_MESH_STL] = cb_mesh_read_stl,
                                                            [CB_MESH_OFF] = cb_mesh_read_off};
  static const cb_mesh_reading plainly = {.like = NULL};
  /* mesh_obj_off_stl.c handles the byte order mark of STL */
  const size_t mark = format == CB_MESH_STL ? 0 : cb_text_mark(bytes, n);
  cb_mesh_builder b = {.name = name, .bytes = bytes + mark, .n = n - mark, .binary = SIZE_MAX, .group = -1};
  cb_status status = readers[format](&b);
  if (status == CB_OK) status = cb_mesh_finish(&b, how ? how : &plainly, out);
  free(b.vertices);
  free(b.edges.data);
  free(b.corners.data);
  free(b.ends.data);
  free(b.places.data);
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

static bool format_of_name(const char *path, cb_mesh_format *out) {
  static const char *const ending[] = {
      [CB_MESH_OBJ] = ".obj", [CB_MESH_PLY] = ".ply", [CB_MESH_STL] = ".stl", [CB_MESH_OFF] = ".off"};
  for (size_t f = 0; f < sizeof ending / sizeof *ending; f++)
    if (ends_in(path, ending[f])) {
      *out = (cb_mesh_format)f;
      return true;
    }
  return false;
}

cb_mesh_format cb_mesh_format_of(const char *path, const char *bytes, size_t n) {
  cb_mesh_format format = CB_MESH_OBJ;
  const size_t mark = cb_text_mark(bytes, n);
  const cb_mesh_builder whole = {.name = "", .bytes = bytes, .n = n, .binary = SIZE_MAX},
                        text = {.name = "", .bytes = bytes + mark, .n = n - mark, .binary = SIZE_MAX};
  const char *first = text.bytes;
  if (text.n > 3 && memcmp(first, "ply", 3) == 0 && (first[3] == '\n' || is_blank(first[3]))) return CB_MESH_PLY;
  if (cb_mesh_is_stl(&whole)) return CB_MESH_STL;
  if (cb_mesh_is_off(&text)) return CB_MESH_OFF;
  format_of_name(path, &format);
  return format;
}

cb_status cb_mesh_read_file(const char *path, const cb_mesh_reading *how, cb_mesh **out) {
  cb_mesh_format format;
  if (!format_of_name(path, &format))
    return cb_fail_placed(
        CB_ERROR_INPUT,
        "%s:1:1: error: unknown mesh format, expected a file name that ends in .obj, .ply, .stl or .off", path);

  char *bytes;
  size_t n;
  cb_status status = cb_read_whole_file(path, CB_MESH_LARGEST, &bytes, &n);
  if (status != CB_OK) return status;
  status = cb_mesh_read_text(path, bytes, n, format, how, out);
  free(bytes);
  return status;
}

void cb_mesh_free(cb_mesh *mesh) {
  if (mesh) cb_arena_free(mesh->arena);
}

/* ---- distinct points, by open addressing ---- */

cb_status cb_distinct_begin(cb_distinct *d, size_t maximum, double (*x)[3]) {
  size_t capacity = 16;
  while (capacity < 2 * maximum) capacity *= 2;
  *d = (cb_distinct){.x = x, .slot = malloc(capacity * sizeof *d->slot), .mask = capacity - 1};
  if (!d->slot) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu points", maximum);
  memset(d->slot, 0xff, capacity * sizeof *d->slot);
  return CB_OK;
}

void cb_distinct_end(cb_distinct *d) { free(d->slot); }

/* Returns the hash of Fowler, Noll and Vo of three 64-bit words, with additional shifts. */
static uint64_t hash(const double x[3]) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (int k = 0; k < 3; k++) {
    uint64_t bits;
    memcpy(&bits, &x[k], sizeof bits);
    h = (h ^ bits) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
  }
  return h ^ h >> 32;
}

int cb_distinct_add(cb_distinct *d, const double point[3]) {
  /* Adding 0 makes -0 and 0 the same number. */
  const double x[3] = {point[0] + 0.0, point[1] + 0.0, point[2] + 0.0};
  for (size_t i = hash(x) & d->mask;; i = (i + 1) & d->mask) {
    int v = d->slot[i];
    if (v >= 0 && memcmp(d->x[v], x, sizeof x) != 0) continue;
    if (v < 0) {
      v = d->slot[i] = (int)d->n;
      memcpy(d->x[d->n++], x, sizeof x);
    }
    return v;
  }
}
