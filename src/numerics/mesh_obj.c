/* Wavefront OBJ: one statement a line.
 *
 *   v x y z ...           a vertex (what follows, a weight or a colour, is checked and passed over)
 *   f a b c ...           a polygon; each corner a, a/t, a//n or a/t/n
 *   l a b ...             a line through the vertices
 *   g name, o name        polygons that follow belong to the group of this name
 *
 * Vertices count from 1; -1 is the last one before the statement. Source: Wavefront OBJ specification, version 3.0.
 */
#include "numerics/mesh_builder.h"

#include "core/text.h"

#include <stdio.h>
#include <string.h>

static const char *const passed_over[] = {
    "vt", "vn", "vp", "p", "s", "mg", "usemtl", "mtllib", "usemap", "maplib",
    "lod", "bevel", "c_interp", "d_interp", "shadow_obj", "trace_obj"};

static bool is_passed_over(const cb_mesh_builder *b, cb_word word) {
  for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
    if (cb_word_is(b, word, passed_over[i])) return true;
  return false;
}

static cb_status read_vertex(cb_mesh_builder *b, cb_cursor *cursor) {
  static const char *const names[] = {"x", "y", "z", "w", "colour", "colour", "colour"};
  double x[7];
  int n = 0;
  for (cb_word word; cb_next_word(b, cursor, &word); n++) {
    if (n == 7) return cb_mesh_expected(b, word, "the end of the line after 7 numbers");
    cb_status status = cb_mesh_number(b, word, names[n], &x[n]);
    if (status != CB_OK) return status;
  }
  if (n < 3) return cb_mesh_expected_more(b, cursor, names[n]);
  memcpy(b->vertices[b->n_vertices++], x, sizeof *b->vertices);
  return CB_OK;
}

/* The corner a, a/t, a//n or a/t/n as a vertex from 0. */
static cb_status read_corner(const cb_mesh_builder *b, cb_word word, size_t n_vertices, int *vertex) {
  const char *text = b->bytes + word.at, *slash = memchr(text, '/', word.length);
  long long index;
  size_t digits = slash ? (size_t)(slash - text) : word.length, slashes = 0;
  bool good = cb_parse_integer(text, digits, &index);
  for (size_t i = digits; i < word.length && good; i++) {
    slashes += text[i] == '/';
    good = slashes <= 2 && strchr("/-0123456789", text[i]) && text[i];
  }
  if (!good) return cb_mesh_expected(b, word, "a corner such as 1, 1/2, 1//3 or 1/2/3");
  if (index > 0 && (unsigned long long)index <= n_vertices) *vertex = (int)(index - 1);
  else if (index < 0 && index >= -(long long)b->n_vertices) *vertex = (int)((long long)b->n_vertices + index);
  else
    return cb_mesh_fail(b, word.at, "index %s out of range, expected 1 to %zu or -1 to -%zu",
                        cb_quoted(text, digits).text, n_vertices, b->n_vertices);
  return CB_OK;
}

static cb_status read_corners(cb_mesh_builder *b, cb_cursor *cursor, cb_word statement, size_t n_vertices) {
  bool polygon = cb_word_is(b, statement, "f");
  for (cb_word word; cb_next_word(b, cursor, &word);) {
    int vertex = 0;
    cb_status status = read_corner(b, word, n_vertices, &vertex);
    if (status == CB_OK) status = cb_mesh_add_corner(b, vertex);
    if (status != CB_OK) return status;
  }
  if (cb_mesh_corners(b) < (polygon ? 3 : 2))
    return cb_mesh_expected_more(b, cursor, polygon ? "at least 3 corners" : "at least 2 vertices");
  int vertex;
  if (cb_mesh_repeats(b, polygon, &vertex))
    return cb_mesh_fail(b, statement.at, "an edge from vertex %d to itself", vertex + 1);
  return polygon ? cb_mesh_end_polygon(b, statement.at) : cb_mesh_end_line(b);
}

static size_t count_vertices(const cb_mesh_builder *b) {
  cb_cursor cursor = {.obj = true};
  size_t count = 0;
  do {
    cb_word word;
    if (cb_next_word(b, &cursor, &word)) count += cb_word_is(b, word, "v");
  } while (cb_next_line(b, &cursor));
  return count;
}

cb_status cb_mesh_read_obj(cb_mesh_builder *b) {
  /* A polygon may come before its vertices. The shortest vertex is `v 0 0 0`: a file with more has a wrong one. */
  size_t n_vertices = count_vertices(b), most = b->n / 8 + 1;
  cb_status status = cb_mesh_room(b, n_vertices < most ? n_vertices : most);
  cb_cursor cursor = {.obj = true};
  b->base = 1;
  while (status == CB_OK) {
    cb_word word;
    if (cb_next_word(b, &cursor, &word)) {
      if (cb_word_is(b, word, "v")) status = read_vertex(b, &cursor);
      else if (cb_word_is(b, word, "f") || cb_word_is(b, word, "l"))
        status = read_corners(b, &cursor, word, n_vertices);
      else if (cb_word_is(b, word, "g") || cb_word_is(b, word, "o")) status = cb_mesh_begin_group(b, &cursor);
      else if (!is_passed_over(b, word)) status = cb_mesh_expected(b, word, "a statement such as v, f or l");
    }
    if (status == CB_OK && !cb_next_line(b, &cursor)) break;
  }
  return status;
}
