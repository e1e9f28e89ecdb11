/* PLY: a header in text that says what rows the file has, then the rows, in text or binary.
 *
 * Of the elements, `vertex` (x, y, z), `face` (list vertex_indices or vertex_index) and `edge` (vertex1, vertex2) are
 * read and the others passed over. Indices count from 0. In text a row is a line.
 * Source: G. Turk, The PLY Polygon File Format (1994), version 1.0.
 */
#include "numerics/mesh_ply.h"

#include "core/text.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *other_name;
  cb_ply_type type;
} types[] = {{"char", "int8", CB_PLY_INT8},       {"uchar", "uint8", CB_PLY_UINT8},
             {"short", "int16", CB_PLY_INT16},    {"ushort", "uint16", CB_PLY_UINT16},
             {"int", "int32", CB_PLY_INT32},      {"uint", "uint32", CB_PLY_UINT32},
             {"float", "float32", CB_PLY_FLOAT32}, {"double", "float64", CB_PLY_FLOAT64}};

/* The next word of the line into *word, which must be there. */
static cb_status take_word(cb_ply *ply, const char *what, cb_word *word) {
  return cb_next_word(ply->b, &ply->cursor, word) ? CB_OK : cb_mesh_expected_more(ply->b, &ply->cursor, what);
}

static cb_status take_type(cb_ply *ply, bool integer, cb_ply_type *type) {
  const char *what = integer ? "an integer type such as uchar or int" : "a type such as float, double or list";
  cb_word word;
  cb_status status = take_word(ply, what, &word);
  if (status != CB_OK) return status;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (!cb_word_is(ply->b, word, types[i].name) && !cb_word_is(ply->b, word, types[i].other_name)) continue;
    if (integer && types[i].type >= CB_PLY_FLOAT32) break;
    *type = types[i].type;
    return CB_OK;
  }
  return cb_mesh_expected(ply->b, word, what);
}

static cb_status read_format(cb_ply *ply) {
  static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  static const char what[] = "ascii, binary_little_endian or binary_big_endian";
  cb_word word;
  cb_status status = take_word(ply, what, &word);
  if (status != CB_OK) return status;
  int i = 0;
  while (i < 3 && !cb_word_is(ply->b, word, names[i])) i++;
  if (i == 3) return cb_mesh_expected(ply->b, word, what);
  if (ply->encoding != CB_PLY_UNKNOWN) return cb_mesh_fail(ply->b, word.at, "a second format");
  ply->encoding = (cb_ply_encoding)i;
  status = take_word(ply, "version 1.0", &word);
  if (status == CB_OK && !cb_word_is(ply->b, word, "1.0")) status = cb_mesh_expected(ply->b, word, "version 1.0");
  return status;
}

static cb_status read_element(cb_ply *ply) {
  const cb_mesh_builder *b = ply->b;
  cb_word name, word;
  cb_status status = take_word(ply, "the name of an element", &name);
  if (status == CB_OK) status = take_word(ply, "the number of rows", &word);
  long long count = 0;
  if (status == CB_OK) status = cb_mesh_integer(b, word, "the number of rows", &count);
  if (status != CB_OK) return status;
  if (count < 0) return cb_mesh_expected(b, word, "the number of rows, at least 0");
  if (ply->n_elements == CB_PLY_MOST_ELEMENTS)
    return cb_mesh_fail(b, name.at, "more than %d elements", CB_PLY_MOST_ELEMENTS);
  for (int i = 0; i < ply->n_elements; i++) {
    cb_word other = ply->elements[i].name;
    if (other.length == name.length && memcmp(b->bytes + other.at, b->bytes + name.at, name.length) == 0)
      return cb_mesh_fail(b, name.at, "a second element '%s'", cb_quoted(b->bytes + name.at, name.length).text);
  }
  cb_ply_kind kind = cb_word_is(b, name, "vertex") ? CB_PLY_VERTEX
                     : cb_word_is(b, name, "face") ? CB_PLY_FACE
                     : cb_word_is(b, name, "edge") ? CB_PLY_EDGE
                                                   : CB_PLY_OTHER;
  if (cb_word_is(b, name, "tristrips")) return cb_mesh_expected(b, name, "faces instead of strips of triangles");
  ply->elements[ply->n_elements++] =
      (cb_ply_element){.name = name, .count_word = word, .kind = kind, .count = (unsigned long long)count};
  return CB_OK;
}

/* What the reader makes of a property, CB_PLY_IGNORED if nothing. */
static cb_ply_role role_of(const cb_mesh_builder *b, cb_ply_kind kind, cb_word name) {
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
    if (roles[i].kind == kind && cb_word_is(b, name, roles[i].name)) return roles[i].role;
  return CB_PLY_IGNORED;
}

static cb_status read_property(cb_ply *ply, cb_word statement) {
  const cb_mesh_builder *b = ply->b;
  if (ply->n_elements == 0) return cb_mesh_fail(b, statement.at, "a property before any element");
  cb_ply_element *element = &ply->elements[ply->n_elements - 1];
  if (element->n_properties == CB_PLY_MOST_PROPERTIES)
    return cb_mesh_fail(b, statement.at, "more than %d properties", CB_PLY_MOST_PROPERTIES);

  cb_ply_property property = {.list = false};
  cb_cursor before = ply->cursor;
  cb_word word;
  cb_status status = CB_OK;
  if (cb_next_word(b, &ply->cursor, &word) && cb_word_is(b, word, "list")) {
    property.list = true;
    status = take_type(ply, true, &property.length_type);
  } else {
    ply->cursor = before;
  }
  cb_cursor before_type = ply->cursor;
  cb_word name;
  if (status == CB_OK) status = take_type(ply, false, &property.type);
  if (status == CB_OK) status = take_word(ply, "the name of a property", &name);
  if (status != CB_OK) return status;

  property.role = role_of(b, element->kind, name);
  if (property.role != CB_PLY_IGNORED) {
    cb_quote quote = cb_quoted(b->bytes + name.at, name.length);
    if (element->roles & 1u << property.role) return cb_mesh_fail(b, name.at, "a second property '%s'", quote.text);
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

/* An element that has rows must have the properties that are read from it. */
static cb_status check_element(const cb_mesh_builder *b, const cb_ply_element *element) {
  static const char *const needed[][3] = {
      [CB_PLY_VERTEX] = {"x", "y", "z"}, [CB_PLY_FACE] = {"vertex_indices"}, [CB_PLY_EDGE] = {"vertex1", "vertex2"}};
  static const cb_ply_role first_role[] = {
      [CB_PLY_VERTEX] = CB_PLY_X, [CB_PLY_FACE] = CB_PLY_CORNERS, [CB_PLY_EDGE] = CB_PLY_FIRST};
  if (element->count == 0) return CB_OK;
  if (element->n_properties == 0) return cb_mesh_fail(b, element->name.at, "an element with rows but no properties");
  if (element->kind == CB_PLY_OTHER) return CB_OK;
  for (int i = 0; i < 3 && needed[element->kind][i]; i++)
    if (!(element->roles & 1u << (first_role[element->kind] + i)))
      return cb_mesh_fail(b, element->name.at, "expected property '%s' in this element", needed[element->kind][i]);
  return CB_OK;
}

static cb_status read_header(cb_ply *ply) {
  const cb_mesh_builder *b = ply->b;
  cb_word word;
  if (!cb_next_word(b, &ply->cursor, &word) || word.at != 0 || !cb_word_is(b, word, "ply"))
    return cb_mesh_fail(b, 0, "expected a PLY file, which begins with 'ply'");
  for (;;) {
    cb_word extra;
    bool words_follow = false;
    if (cb_next_word(b, &ply->cursor, &extra)) return cb_mesh_expected(b, extra, "the end of the line");
    do {
      if (!cb_next_line(b, &ply->cursor)) return cb_mesh_expected_more(b, &ply->cursor, "end_header");
    } while (!cb_next_word(b, &ply->cursor, &word));
    cb_status status = CB_OK;
    if (cb_word_is(b, word, "end_header")) break;
    if (cb_word_is(b, word, "format")) status = read_format(ply);
    else if (cb_word_is(b, word, "element")) status = read_element(ply);
    else if (cb_word_is(b, word, "property")) status = read_property(ply, word);
    else if (cb_word_is(b, word, "comment") || cb_word_is(b, word, "obj_info")) words_follow = true;
    else status = cb_mesh_expected(b, word, "format, element, property, comment or end_header");
    if (status != CB_OK) return status;
    while (words_follow && cb_next_word(b, &ply->cursor, &extra)) {}
  }
  if (ply->encoding == CB_PLY_UNKNOWN) return cb_mesh_expected(b, word, "a format before the header ends");
  for (int i = 0; i < ply->n_elements; i++) {
    cb_status status = check_element(b, &ply->elements[i]);
    if (status != CB_OK) return status;
  }
  /* Binary rows begin right after the line break, which may be written in two ways. */
  size_t at = ply->cursor.at;
  at += at < b->n && b->bytes[at] == '\r';
  if (at < b->n && b->bytes[at] != '\n')
    return cb_mesh_expected(b, (cb_word){at, 1}, "the end of the line after end_header");
  ply->cursor.at = at < b->n ? at + 1 : at;
  if (ply->encoding != CB_PLY_TEXT) ply->b->binary = ply->cursor.at;
  return CB_OK;
}

cb_status cb_mesh_read_ply(cb_mesh_builder *b) {
  cb_ply ply = {.b = b, .encoding = CB_PLY_UNKNOWN};
  cb_status status = read_header(&ply);
  return status == CB_OK ? cb_ply_read_rows(&ply) : status;
}
