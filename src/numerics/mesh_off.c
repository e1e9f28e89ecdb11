/* OFF: `OFF`, the numbers of vertices, faces and edges, then a line x y z for each vertex and n i1 ... in for each
 * face.
 *
 * `#` begins a comment. The number of vertices may stand on the first word (OFF8, as files of ModelNet have it). Prefixes
 * ST, C and N of the first word (textures, colours, normals) are taken, and what follows on a line is passed over; 4OFF,
 * nOFF and binary files are refused. The number of edges may be anything or missing. Indices count from 0.
 * Source: Geomview manual, version 1.9, section 4.2.5.
 */
#include "numerics/mesh_builder.h"

#include <string.h>

/* The shortest rows: "0 0 0\n" and "3 0 1 2\n". */
enum { VERTEX = 6, FACE = 8 };

/* The next line that has a word, and this word. */
static bool next_row(const cb_mesh_builder *b, cb_cursor *cursor, cb_word *word) {
  while (!cb_next_word(b, cursor, word))
    if (!cb_next_line(b, cursor)) return false;
  return true;
}

/* *length: of the header itself, after which a number may stand. */
static bool is_header(const cb_mesh_builder *b, cb_word word, size_t *length) {
  const char *text = b->bytes + word.at;
  size_t i = 0;
  if (word.length >= 2 && memcmp(text, "ST", 2) == 0) i = 2;
  i += i < word.length && text[i] == 'C';
  i += i < word.length && text[i] == 'N';
  *length = i + 3;
  if (word.length < i + 3 || memcmp(text + i, "OFF", 3) != 0) return false;
  for (size_t k = i + 3; k < word.length; k++)
    if (text[k] < '0' || text[k] > '9') return false;
  return true;
}

bool cb_mesh_is_off(const cb_mesh_builder *b) {
  cb_cursor cursor = {.obj = true};
  cb_word word;
  size_t length;
  return next_row(b, &cursor, &word) && is_header(b, word, &length);
}

static cb_status read_count(const cb_mesh_builder *b, cb_cursor *cursor, const char *what, size_t row, size_t *count) {
  cb_word word;
  long long value = 0;
  if (!next_row(b, cursor, &word)) return cb_mesh_expected_more(b, cursor, what);
  cb_status status = cb_mesh_integer(b, word, what, &value);
  if (status != CB_OK) return status;
  if (value < 0) return cb_mesh_fail(b, word.at, "expected %s, at least 0, found %lld", what, value);
  /* One byte more: the last line may lack its break. */
  size_t rest = b->n - cursor->at;
  if ((unsigned long long)value > (rest + 1) / row)
    return cb_mesh_fail(b, word.at, "%lld rows of at least %zu bytes, but %zu bytes follow", value, row, rest);
  *count = (size_t)value;
  return CB_OK;
}

static cb_status read_vertex(cb_mesh_builder *b, cb_cursor *cursor) {
  static const char *const axis[] = {"x", "y", "z"};
  double x[3];
  cb_word word;
  if (!next_row(b, cursor, &word)) return cb_mesh_expected_more(b, cursor, "a vertex");
  for (int k = 0; k < 3; k++) {
    if (k && !cb_next_word(b, cursor, &word)) return cb_mesh_expected_more(b, cursor, axis[k]);
    cb_status status = cb_mesh_number(b, word, axis[k], &x[k]);
    if (status != CB_OK) return status;
  }
  memcpy(b->vertices[b->n_vertices++], x, sizeof x);
  return CB_OK;
}

static cb_status read_face(cb_mesh_builder *b, cb_cursor *cursor) {
  cb_word word, first;
  long long corners, index;
  int vertex;
  if (!next_row(b, cursor, &first)) return cb_mesh_expected_more(b, cursor, "a face");
  cb_status status = cb_mesh_integer(b, first, "the number of corners", &corners);
  if (status == CB_OK && corners < 3)
    status = cb_mesh_fail(b, first.at, "expected a face of at least 3 corners, found %lld", corners);
  for (long long i = 0; i < corners && status == CB_OK; i++) {
    if (!cb_next_word(b, cursor, &word)) return cb_mesh_expected_more(b, cursor, "the index of a vertex");
    status = cb_mesh_integer(b, word, "the index of a vertex", &index);
    if (status != CB_OK) break;
    if (index < 0 || (unsigned long long)index >= b->n_vertices)
      return cb_mesh_fail(b, word.at, "index %lld out of range, expected 0 to %lld", index,
                          (long long)b->n_vertices - 1);
    status = cb_mesh_add_corner(b, (int)index);
  }
  if (status != CB_OK) return status;
  if (cb_mesh_repeats(b, true, &vertex)) return cb_mesh_fail(b, first.at, "an edge from vertex %d to itself", vertex);
  return cb_mesh_end_polygon(b, first.at);
}

cb_status cb_mesh_read_off(cb_mesh_builder *b) {
  cb_cursor cursor = {.obj = true};
  size_t vertices = 0, faces = 0, length;
  cb_word word;
  if (!next_row(b, &cursor, &word)) return cb_mesh_expected_more(b, &cursor, "OFF");
  if (!is_header(b, word, &length))
    return cb_mesh_expected(b, word, "an OFF file, which begins with OFF, COFF, NOFF or STOFF");
  cursor.at = word.at + length;
  cb_cursor after = cursor;
  if (cb_next_word(b, &after, &word) && cb_word_is(b, word, "BINARY"))
    return cb_mesh_expected(b, word, "an OFF file in text");
  cb_status status = read_count(b, &cursor, "the number of vertices", VERTEX, &vertices);
  if (status == CB_OK) status = read_count(b, &cursor, "the number of faces", FACE, &faces);
  if (status == CB_OK) status = cb_mesh_room(b, vertices);
  while (cb_next_word(b, &cursor, &word)) {} /* the number of edges */
  for (size_t i = 0; i < vertices && status == CB_OK; i++) {
    status = read_vertex(b, &cursor);
    while (cb_next_word(b, &cursor, &word)) {}
  }
  for (size_t i = 0; i < faces && status == CB_OK; i++) {
    status = read_face(b, &cursor);
    while (cb_next_word(b, &cursor, &word)) {}
  }
  if (status == CB_OK && next_row(b, &cursor, &word)) status = cb_mesh_expected(b, word, "the end of the file");
  return status;
}
