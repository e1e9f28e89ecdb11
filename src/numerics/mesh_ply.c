/* Reads PLY: a header in text that describes the rows of the file, then the rows, in text or binary.
 *
 * The reader uses the elements `vertex` (x, y, z), `face` (list vertex_indices or vertex_index) and `edge` (vertex1,
 * vertex2) and skips other elements. Indices count from 0. In text each row is one line.
 * Source: G. Turk, The PLY Polygon File Format (1994), version 1.0.
 */
#include "numerics/mesh_builder.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>
#include <math.h>
#include <stdint.h>

enum { CB_PLY_MAX_ELEMENTS = 16, CB_PLY_MAX_PROPERTIES = 64 };

typedef enum cb_ply_encoding { CB_PLY_TEXT, CB_PLY_LITTLE, CB_PLY_BIG, CB_PLY_UNKNOWN } cb_ply_encoding;

/* The integer types come before the types of real numbers. */
typedef enum cb_ply_type {
  CB_PLY_INT8,
  CB_PLY_UINT8,
  CB_PLY_INT16,
  CB_PLY_UINT16,
  CB_PLY_INT32,
  CB_PLY_UINT32,
  CB_PLY_FLOAT32,
  CB_PLY_FLOAT64
} cb_ply_type;

typedef enum cb_ply_kind { CB_PLY_VERTEX, CB_PLY_FACE, CB_PLY_EDGE, CB_PLY_OTHER } cb_ply_kind;

/* The role of a property in the mesh. From CB_PLY_CORNERS on, the property is an index of a vertex. */
typedef enum cb_ply_role {
  CB_PLY_IGNORED,
  CB_PLY_X,
  CB_PLY_Y,
  CB_PLY_Z,
  CB_PLY_CORNERS,
  CB_PLY_FIRST,
  CB_PLY_SECOND
} cb_ply_role;

typedef struct cb_ply_property {
  bool list;
  cb_ply_type type, length_type; /* length_type: the type of the number of items in a list */
  cb_ply_role role;
} cb_ply_property;

typedef struct cb_ply_element {
  cb_token name, count_word;
  cb_ply_kind kind;
  unsigned long long count; /* number of rows, as stated in the header */
  int n_properties;
  unsigned roles; /* bit r: the element has a property of role r */
  cb_ply_property properties[CB_PLY_MAX_PROPERTIES];
} cb_ply_element;

typedef struct cb_ply {
  cb_mesh_builder *b;
  cb_cursor cursor;
  cb_ply_encoding encoding;
  unsigned long long n_vertices;
  int n_elements;
  cb_ply_element elements[CB_PLY_MAX_ELEMENTS];
} cb_ply;

static cb_status cb_ply_read_rows(cb_ply *ply);

static const struct {
  const char *name, *other_name;
  cb_ply_type type;
} types[] = {{"char", "int8", CB_PLY_INT8},        {"uchar", "uint8", CB_PLY_UINT8},
             {"short", "int16", CB_PLY_INT16},     {"ushort", "uint16", CB_PLY_UINT16},
             {"int", "int32", CB_PLY_INT32},       {"uint", "uint32", CB_PLY_UINT32},
             {"float", "float32", CB_PLY_FLOAT32}, {"double", "float64", CB_PLY_FLOAT64}};

/* Reads the next word of the line, which must exist, into *token. */
static cb_status take_token(cb_ply *ply, const char *what, cb_token *token) {
  return cb_next_token(ply->b, &ply->cursor, token) ? CB_OK : cb_mesh_expected_more(ply->b, &ply->cursor, what);
}

static cb_status take_type(cb_ply *ply, bool integer, cb_ply_type *type) {
  const char *what = integer ? "an integer type such as uchar or int" : "a type such as float, double or list";
  cb_token token;
  cb_status status = take_token(ply, what, &token);
  if (status != CB_OK) return status;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (!cb_token_is(ply->b, token, types[i].name) && !cb_token_is(ply->b, token, types[i].other_name)) continue;
    if (integer && types[i].type >= CB_PLY_FLOAT32) break;
    *type = types[i].type;
    return CB_OK;
  }
  return cb_mesh_expected(ply->b, token, what);
}

static cb_status read_format(cb_ply *ply) {
  static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  static const char what[] = "ascii, binary_little_endian or binary_big_endian";
  cb_token token;
  cb_status status = take_token(ply, what, &token);
  if (status != CB_OK) return status;
  int i = 0;
  while (i < 3 && !cb_token_is(ply->b, token, names[i])) i++;
  if (i == 3) return cb_mesh_expected(ply->b, token, what);
  if (ply->encoding != CB_PLY_UNKNOWN)
    return cb_mesh_fail(ply->b, token.at, "found a second format, expected only one");
  ply->encoding = (cb_ply_encoding)i;
  status = take_token(ply, "version 1.0", &token);
  if (status == CB_OK && !cb_token_is(ply->b, token, "1.0")) status = cb_mesh_expected(ply->b, token, "version 1.0");
  return status;
}

static cb_status read_element(cb_ply *ply) {
  const cb_mesh_builder *b = ply->b;
  cb_token name, token;
  cb_status status = take_token(ply, "the name of an element", &name);
  if (status == CB_OK) status = take_token(ply, "the number of rows", &token);
  long long count = 0;
  if (status == CB_OK) status = cb_mesh_integer(b, token, "the number of rows", &count);
  if (status != CB_OK) return status;
  if (count < 0) return cb_mesh_expected(b, token, "the number of rows, at least 0");
  if (ply->n_elements == CB_PLY_MAX_ELEMENTS)
    return cb_mesh_fail(b, name.at, "expected at most %d elements", CB_PLY_MAX_ELEMENTS);
  for (int i = 0; i < ply->n_elements; i++) {
    cb_token other = ply->elements[i].name;
    if (other.length == name.length && memcmp(b->bytes + other.at, b->bytes + name.at, name.length) == 0)
      return cb_mesh_fail(b, name.at, "found a second element '%s', expected different names",
                          cb_quoted(b->bytes + name.at, name.length).text);
  }
  cb_ply_kind kind = cb_token_is(b, name, "vertex") ? CB_PLY_VERTEX
                     : cb_token_is(b, name, "face") ? CB_PLY_FACE
                     : cb_token_is(b, name, "edge") ? CB_PLY_EDGE
                                                    : CB_PLY_OTHER;
  if (cb_token_is(b, name, "tristrips")) return cb_mesh_expected(b, name, "faces instead of strips of triangles");
  ply->elements[ply->n_elements++] =
      (cb_ply_element){.name = name, .count_word = token, .kind = kind, .count = (unsigned long long)count};
  return CB_OK;
}

/* Returns the role of a property, CB_PLY_IGNORED if the reader skips it. */
static cb_ply_role role_of(const cb_mesh_builder *b, cb_ply_kind kind, cb_token name) {
  static const struct {
    cb_ply_kind kind;
    const char *name;
    cb_ply_role role;
  } roles[] = {{CB_PLY_VERTEX, "x", CB_PLY_X},
               {CB_PLY_VERTEX, "y", CB_PLY_Y},
               {CB_PLY_VERTEX, "z", CB_PLY_Z},
               {CB_PLY_FACE, "vertex_indices", CB_PLY_CORNERS},
               {CB_PLY_FACE, "vertex_index", CB_PLY_CORNERS},
               {CB_PLY_EDGE, "vertex1", CB_PLY_FIRST},
               {CB_PLY_EDGE, "vertex2", CB_PLY_SECOND}};
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
    if (roles[i].kind == kind && cb_token_is(b, name, roles[i].name)) return roles[i].role;
  return CB_PLY_IGNORED;
}

static cb_status read_property(cb_ply *ply, cb_token statement) {
  const cb_mesh_builder *b = ply->b;
  if (ply->n_elements == 0)
    return cb_mesh_fail(b, statement.at, "found a property before any element, expected an element first");
  cb_ply_element *element = &ply->elements[ply->n_elements - 1];
  if (element->n_properties == CB_PLY_MAX_PROPERTIES)
    return cb_mesh_fail(b, statement.at, "expected at most %d properties", CB_PLY_MAX_PROPERTIES);

  cb_ply_property property = {.list = false};
  cb_cursor before = ply->cursor;
  cb_token token;
  cb_status status = CB_OK;
  if (cb_next_token(b, &ply->cursor, &token) && cb_token_is(b, token, "list")) {
    property.list = true;
    status = take_type(ply, true, &property.length_type);
  } else {
    ply->cursor = before;
  }
  cb_cursor before_type = ply->cursor;
  cb_token name;
  if (status == CB_OK) status = take_type(ply, false, &property.type);
  if (status == CB_OK) status = take_token(ply, "the name of a property", &name);
  if (status != CB_OK) return status;

  property.role = role_of(b, element->kind, name);
  if (property.role != CB_PLY_IGNORED) {
    cb_quote quote = cb_quoted(b->bytes + name.at, name.length);
    if (element->roles & 1u << property.role)
      return cb_mesh_fail(b, name.at, "found a second property '%s', expected different properties", quote.text);
    if (property.list != (property.role == CB_PLY_CORNERS))
      return cb_mesh_fail(b, name.at, "property '%s': expected %s", quote.text, property.list ? "a number" : "a list");
    if (property.role >= CB_PLY_CORNERS && property.type >= CB_PLY_FLOAT32) {
      ply->cursor = before_type;
      return take_type(ply, true, &property.type);
    }
    element->roles |= 1u << property.role;
  }
  element->properties[element->n_properties++] = property;
  return CB_OK;
}

/* Fails if an element that has rows lacks a property that the reader needs. */
static cb_status check_element(const cb_mesh_builder *b, const cb_ply_element *element) {
  static const char *const needed[][3] = {
      [CB_PLY_VERTEX] = {"x", "y", "z"}, [CB_PLY_FACE] = {"vertex_indices"}, [CB_PLY_EDGE] = {"vertex1", "vertex2"}};
  static const cb_ply_role first_role[] = {
      [CB_PLY_VERTEX] = CB_PLY_X, [CB_PLY_FACE] = CB_PLY_CORNERS, [CB_PLY_EDGE] = CB_PLY_FIRST};
  if (element->count == 0) return CB_OK;
  if (element->n_properties == 0)
    return cb_mesh_fail(b, element->name.at, "the element has rows but no properties: expected at least one property");
  if (element->kind == CB_PLY_OTHER) return CB_OK;
  for (int i = 0; i < 3 && needed[element->kind][i]; i++)
    if (!(element->roles & 1u << (first_role[element->kind] + i)))
      return cb_mesh_fail(b, element->name.at, "expected property '%s' in this element", needed[element->kind][i]);
  return CB_OK;
}

static cb_status read_header(cb_ply *ply) {
  const cb_mesh_builder *b = ply->b;
  cb_token token;
  if (!cb_next_token(b, &ply->cursor, &token) || token.at != 0 || !cb_token_is(b, token, "ply"))
    return cb_mesh_fail(b, 0, "expected a PLY file, which begins with 'ply'");
  for (;;) {
    cb_token extra;
    bool tokens_follow = false;
    if (cb_next_token(b, &ply->cursor, &extra)) return cb_mesh_expected(b, extra, "the end of the line");
    do {
      if (!cb_next_line(b, &ply->cursor)) return cb_mesh_expected_more(b, &ply->cursor, "end_header");
    } while (!cb_next_token(b, &ply->cursor, &token));
    cb_status status = CB_OK;
    if (cb_token_is(b, token, "end_header")) break;
    if (cb_token_is(b, token, "format"))
      status = read_format(ply);
    else if (cb_token_is(b, token, "element"))
      status = read_element(ply);
    else if (cb_token_is(b, token, "property"))
      status = read_property(ply, token);
    else if (cb_token_is(b, token, "comment") || cb_token_is(b, token, "obj_info"))
      tokens_follow = true;
    else
      status = cb_mesh_expected(b, token, "format, element, property, comment or end_header");
    if (status != CB_OK) return status;
    while (tokens_follow && cb_next_token(b, &ply->cursor, &extra)) {
    }
  }
  if (ply->encoding == CB_PLY_UNKNOWN) return cb_mesh_expected(b, token, "a format before the header ends");
  for (int i = 0; i < ply->n_elements; i++) {
    cb_status status = check_element(b, &ply->elements[i]);
    if (status != CB_OK) return status;
  }
  /* Binary rows begin directly after the line break, which may be one byte or two. */
  size_t at = ply->cursor.at;
  at += at < b->n && b->bytes[at] == '\r';
  if (at < b->n && b->bytes[at] != '\n')
    return cb_mesh_expected(b, (cb_token){at, 1}, "the end of the line after end_header");
  ply->cursor.at = at < b->n ? at + 1 : at;
  if (ply->encoding != CB_PLY_TEXT) ply->b->binary = ply->cursor.at;
  return CB_OK;
}

cb_status cb_mesh_read_ply(cb_mesh_builder *b) {
  cb_ply ply = {.b = b, .encoding = CB_PLY_UNKNOWN};
  cb_status status = read_header(&ply);
  return status == CB_OK ? cb_ply_read_rows(&ply) : status;
}

/* --- the rows, in text and in both orders of bytes --- */

static const size_t type_size[] = {1, 1, 2, 2, 4, 4, 4, 8};

/* Returns the n bytes at p as an unsigned integer. The bytes are in the order of the file; the byte order of the
 * processor does not matter. */
static uint64_t read_bytes(const unsigned char *p, size_t n, cb_ply_encoding encoding) {
  uint64_t bits = 0;
  for (size_t i = 0; i < n; i++) bits = bits << 8 | p[encoding == CB_PLY_BIG ? i : n - 1 - i];
  return bits;
}

/* Reads a number as a double, which can represent the values of all types. */
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

/* Reads the next value of the row, and sets *at to its byte. `what` is its name in messages; if it is NULL, any value
 * is skipped. */
static cb_status take_value(cb_ply *ply, cb_ply_type type, const char *what, double *value, size_t *at) {
  const cb_mesh_builder *b = ply->b;
  if (ply->encoding != CB_PLY_TEXT) {
    *at = ply->cursor.at;
    if (b->n - *at < type_size[type])
      return cb_mesh_fail(ply->b, b->n, "expected %s, found the end of the file", what ? what : "a value");
    *value = read_binary((const unsigned char *)b->bytes + *at, type, ply->encoding);
    ply->cursor.at += type_size[type];
    if (what && !isfinite(*value))
      return cb_mesh_fail(ply->b, *at, "expected %s, a finite number, found %g", what, *value);
    return CB_OK;
  }
  cb_token text;
  if (!cb_next_token(b, &ply->cursor, &text)) return cb_mesh_expected_more(b, &ply->cursor, what ? what : "a value");
  *at = text.at;
  if (!what) return CB_OK;
  if (type >= CB_PLY_FLOAT32) return cb_mesh_number(b, text, what, value);
  long long integer;
  cb_status status = cb_mesh_integer(b, text, what, &integer);
  if (status == CB_OK) *value = (double)integer;
  return status;
}

static cb_status take_vertex(cb_ply *ply, cb_ply_type type, int *vertex) {
  double value;
  size_t at;
  cb_status status = take_value(ply, type, "the index of a vertex", &value, &at);
  if (status != CB_OK) return status;
  if (!(value >= 0 && value < (double)ply->n_vertices))
    return cb_mesh_fail(ply->b, at, "index %.0f is out of range, expected 0 to %lld", value,
                        (long long)ply->n_vertices - 1);
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
    if (corners)
      status = take_vertex(ply, property->type, &vertex);
    else
      status = take_value(ply, property->type, NULL, &ignored, &ignored_at);
    if (status == CB_OK && corners) status = cb_mesh_add_corner(ply->b, vertex);
    if (status != CB_OK) return status;
  }
  if (!corners) return CB_OK;
  int vertex;
  if (cb_mesh_repeats(ply->b, true, &vertex))
    return cb_mesh_fail(ply->b, at, "an edge joins vertex %d to itself: expected different vertices", vertex);
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
    if (property->list)
      status = take_list(ply, property);
    else if (role == CB_PLY_IGNORED)
      status = take_value(ply, property->type, NULL, &ignored, &at);
    else if (role >= CB_PLY_FIRST)
      status = take_vertex(ply, property->type, &ends[role - CB_PLY_FIRST]);
    else
      status = take_value(ply, property->type, axis[role], &point[role - CB_PLY_X], &at);
    if (status != CB_OK) return status;
  }
  if (element->kind == CB_PLY_VERTEX) memcpy(ply->b->vertices[ply->b->n_vertices++], point, sizeof point);
  if (element->kind != CB_PLY_EDGE) return CB_OK;

  if (ends[0] == ends[1])
    return cb_mesh_fail(ply->b, start, "an edge joins vertex %d to itself: expected different vertices", ends[0]);
  cb_status status = cb_mesh_add_corner(ply->b, ends[0]);
  if (status == CB_OK) status = cb_mesh_add_corner(ply->b, ends[1]);
  return status == CB_OK ? cb_mesh_end_line(ply->b) : status;
}

/* Returns the minimum number of bytes of a row. In text each value takes a character and a blank or line break. */
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
  /* The last line may have no line break, so one more byte is counted. */
  size_t rest = ply->b->n - ply->cursor.at, least = least_row(ply, element);
  if (element->count <= (rest + 1) / least) return CB_OK;
  return cb_mesh_fail(ply->b, element->count_word.at,
                      "%llu rows need at least %zu bytes each, but only %zu bytes follow: expected a complete file",
                      element->count, least, rest);
}

static cb_status take_element(cb_ply *ply, const cb_ply_element *element) {
  cb_mesh_builder *b = ply->b;
  if (element->count == 0) return CB_OK;
  /* This check is repeated here, because other elements have used some of the bytes. */
  cb_status status = check_fits(ply, element);
  if (status == CB_OK && element->kind == CB_PLY_VERTEX) status = cb_mesh_reserve(b, (size_t)element->count);
  if (status != CB_OK) return status;
  for (unsigned long long row = 0; row < element->count; row++) {
    cb_token extra;
    if (ply->encoding == CB_PLY_TEXT) {
      /* Empty lines between rows are allowed. */
      cb_cursor ahead = ply->cursor;
      while (!cb_next_token(b, &ahead, &extra) && cb_next_line(b, &ahead)) ply->cursor = ahead;
    }
    status = take_row(ply, element);
    if (status != CB_OK) return status;
    if (ply->encoding != CB_PLY_TEXT) continue;
    if (cb_next_token(b, &ply->cursor, &extra)) return cb_mesh_expected(b, extra, "the end of the line");
    cb_next_line(b, &ply->cursor);
  }
  return CB_OK;
}

static cb_status cb_ply_read_rows(cb_ply *ply) {
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
  cb_token extra;
  do {
    if (cb_next_token(b, &ply->cursor, &extra)) return cb_mesh_expected(b, extra, "the end of the file");
  } while (cb_next_line(b, &ply->cursor));
  return CB_OK;
}
