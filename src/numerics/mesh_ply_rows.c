/* The rows of a PLY file, in text and in both orders of bytes. */
#include "numerics/mesh_ply.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const size_t type_size[] = {1, 1, 2, 2, 4, 4, 4, 8};

/* The bytes at p as an unsigned integer, in either order, whatever the order of this machine. */
static uint64_t read_bytes(const unsigned char *p, size_t n, cb_ply_encoding encoding) {
  uint64_t bits = 0;
  for (size_t i = 0; i < n; i++) bits = bits << 8 | p[encoding == CB_PLY_BIG ? i : n - 1 - i];
  return bits;
}

/* All types fit into a double. */
static double read_binary(const unsigned char *p, cb_ply_type type, cb_ply_encoding encoding) {
  uint64_t bits = read_bytes(p, type_size[type], encoding);
  uint32_t bits32 = (uint32_t)bits;
  float single;
  double value;
  switch (type) {
    case CB_PLY_INT8: return bits < 0x80 ? (double)bits : (double)bits - 0x1p8;
    case CB_PLY_INT16: return bits < 0x8000 ? (double)bits : (double)bits - 0x1p16;
    case CB_PLY_INT32: return bits < 0x80000000 ? (double)bits : (double)bits - 0x1p32;
    case CB_PLY_FLOAT32: memcpy(&single, &bits32, sizeof single); return single;
    case CB_PLY_FLOAT64: memcpy(&value, &bits, sizeof value); return value;
    default: return (double)bits;
  }
}

/* The next value of the row and where it stands. `what` names it; NULL: any value, passed over. */
static cb_status take_value(cb_ply *ply, cb_ply_type type, const char *what, double *value, size_t *at) {
  const cb_mesh_builder *b = ply->b;
  if (ply->encoding != CB_PLY_TEXT) {
    *at = ply->cursor.at;
    if (b->n - *at < type_size[type])
      return cb_mesh_fail(ply->b, b->n, "expected %s, found the end of the file", what ? what : "a value");
    *value = read_binary((const unsigned char *)b->bytes + *at, type, ply->encoding);
    ply->cursor.at += type_size[type];
    if (what && !isfinite(*value)) return cb_mesh_fail(ply->b, *at, "expected %s, a finite number, found %g", what, *value);
    return CB_OK;
  }
  cb_word word;
  if (!cb_next_word(b, &ply->cursor, &word))
    return cb_mesh_expected_more(b, &ply->cursor, what ? what : "a value");
  *at = word.at;
  if (!what) return CB_OK;
  if (type >= CB_PLY_FLOAT32) return cb_mesh_number(b, word, what, value);
  long long integer;
  cb_status status = cb_mesh_integer(b, word, what, &integer);
  if (status == CB_OK) *value = (double)integer;
  return status;
}

static cb_status take_vertex(cb_ply *ply, cb_ply_type type, int *vertex) {
  double value;
  size_t at;
  cb_status status = take_value(ply, type, "the index of a vertex", &value, &at);
  if (status != CB_OK) return status;
  if (!(value >= 0 && value < (double)ply->n_vertices))
    return cb_mesh_fail(ply->b, at, "index %.0f out of range, expected 0 to %lld", value, (long long)ply->n_vertices - 1);
  *vertex = (int)value;
  return CB_OK;
}

static cb_status take_list(cb_ply *ply, const cb_ply_property *property) {
  bool corners = property->role == CB_PLY_CORNERS;
  double length, ignored;
  size_t at, ignored_at;
  cb_status status = take_value(ply, property->length_type, "the length of a list", &length, &at);
  if (status != CB_OK) return status;
  if (length < 0) return cb_mesh_fail(ply->b, at, "expected the length of a list, at least 0, found %.0f", length);
  if (corners && length < 3)
    return cb_mesh_fail(ply->b, at, "expected a face of at least 3 corners, found %.0f", length);
  for (double i = 0; i < length; i++) {
    int vertex = 0;
    if (corners) status = take_vertex(ply, property->type, &vertex);
    else status = take_value(ply, property->type, NULL, &ignored, &ignored_at);
    if (status == CB_OK && corners) status = cb_mesh_add_corner(ply->b, vertex);
    if (status != CB_OK) return status;
  }
  if (!corners) return CB_OK;
  int vertex;
  if (cb_mesh_repeats(ply->b, true, &vertex)) return cb_mesh_fail(ply->b, at, "an edge from vertex %d to itself", vertex);
  return cb_mesh_end_polygon(ply->b, at);
}

static cb_status take_row(cb_ply *ply, const cb_ply_element *element) {
  static const char *const axis[] = {[CB_PLY_X] = "x", [CB_PLY_Y] = "y", [CB_PLY_Z] = "z"};
  double point[3] = {0}, ignored;
  int ends[2] = {0};
  size_t at = 0, start = ply->cursor.at;
  for (int i = 0; i < element->n_properties; i++) {
    const cb_ply_property *property = &element->properties[i];
    cb_ply_role role = property->role;
    cb_status status;
    if (property->list) status = take_list(ply, property);
    else if (role == CB_PLY_IGNORED) status = take_value(ply, property->type, NULL, &ignored, &at);
    else if (role >= CB_PLY_FIRST) status = take_vertex(ply, property->type, &ends[role - CB_PLY_FIRST]);
    else status = take_value(ply, property->type, axis[role], &point[role - CB_PLY_X], &at);
    if (status != CB_OK) return status;
  }
  if (element->kind == CB_PLY_VERTEX) memcpy(ply->b->vertices[ply->b->n_vertices++], point, sizeof point);
  if (element->kind != CB_PLY_EDGE) return CB_OK;

  if (ends[0] == ends[1]) return cb_mesh_fail(ply->b, start, "an edge from vertex %d to itself", ends[0]);
  cb_status status = cb_mesh_add_corner(ply->b, ends[0]);
  if (status == CB_OK) status = cb_mesh_add_corner(ply->b, ends[1]);
  return status == CB_OK ? cb_mesh_end_line(ply->b) : status;
}

/* The least a row can take: in text a letter and a blank or line break for each value. */
static size_t least_row(const cb_ply *ply, const cb_ply_element *element) {
  size_t bytes = 0;
  for (int i = 0; i < element->n_properties; i++) {
    const cb_ply_property *property = &element->properties[i];
    bytes += ply->encoding == CB_PLY_TEXT ? 2 : type_size[property->list ? property->length_type : property->type];
  }
  return bytes;
}

static cb_status check_fits(const cb_ply *ply, const cb_ply_element *element) {
  if (element->count == 0) return CB_OK;
  /* One byte more: the last line may lack its break. */
  size_t rest = ply->b->n - ply->cursor.at, least = least_row(ply, element);
  if (element->count <= (rest + 1) / least) return CB_OK;
  return cb_mesh_fail(ply->b, element->count_word.at, "%llu rows of at least %zu bytes, but %zu bytes follow",
                      element->count, least, rest);
}

static cb_status take_element(cb_ply *ply, const cb_ply_element *element) {
  cb_mesh_builder *b = ply->b;
  if (element->count == 0) return CB_OK;
  /* Again, for what other elements have left. */
  cb_status status = check_fits(ply, element);
  if (status == CB_OK && element->kind == CB_PLY_VERTEX) status = cb_mesh_room(b, (size_t)element->count);
  if (status != CB_OK) return status;
  for (unsigned long long row = 0; row < element->count; row++) {
    cb_word extra;
    if (ply->encoding == CB_PLY_TEXT) {
      /* Empty lines between rows do no harm. */
      cb_cursor ahead = ply->cursor;
      while (!cb_next_word(b, &ahead, &extra) && cb_next_line(b, &ahead)) ply->cursor = ahead;
    }
    status = take_row(ply, element);
    if (status != CB_OK) return status;
    if (ply->encoding != CB_PLY_TEXT) continue;
    if (cb_next_word(b, &ply->cursor, &extra)) return cb_mesh_expected(b, extra, "the end of the line");
    cb_next_line(b, &ply->cursor);
  }
  return CB_OK;
}

cb_status cb_ply_read_rows(cb_ply *ply) {
  cb_mesh_builder *b = ply->b;
  for (int i = 0; i < ply->n_elements; i++) {
    cb_status status = check_fits(ply, &ply->elements[i]);
    if (status != CB_OK) return status;
    if (ply->elements[i].kind == CB_PLY_VERTEX) ply->n_vertices = ply->elements[i].count;
  }
  for (int i = 0; i < ply->n_elements; i++) {
    cb_status status = take_element(ply, &ply->elements[i]);
    if (status != CB_OK) return status;
  }
  if (ply->encoding != CB_PLY_TEXT) {
    if (ply->cursor.at < b->n) return cb_mesh_fail(ply->b, ply->cursor.at, "expected the end of the file");
    return CB_OK;
  }
  cb_word extra;
  do {
    if (cb_next_word(b, &ply->cursor, &extra)) return cb_mesh_expected(b, extra, "the end of the file");
  } while (cb_next_line(b, &ply->cursor));
  return CB_OK;
}
