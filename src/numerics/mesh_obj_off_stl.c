/* Reads the formats Wavefront OBJ and OFF, which are always text, and STL.
 *
 * OBJ has one statement per line:
 *   v x y z ...           a vertex (a weight or a colour may follow: it is checked and skipped)
 *   f a b c ...           a polygon; each corner a, a/t, a//n or a/t/n
 *   l a b ...             a line through the vertices
 *   g name, o name        polygons that follow belong to the group of this name
 *
 * Vertices count from 1; -1 is the last vertex before the statement. Source: Wavefront OBJ specification, version 3.0.
 *
 * STL has triangles one by one, each with its three corners; equal corners become one vertex.
 *
 *   text      solid NAME, then facet normal x y z, outer loop, vertex x y z (three times), endloop, endfacet ...,
 *             endsolid NAME; several solids may follow one another: each is a group. Words may be in any case
 *   binary    80 bytes, the number of facets (32 bits, little-endian), then for each facet 12 floats (normal, corners)
 *             and two bytes that are skipped
 *
 * A file is binary if it is at least as long as its number of facets requires (exactly as long if this number is 0). In
 * a text file the bytes of this number are letters, which would give more facets than a file may have. Bytes after the
 * facets are skipped, because some programs append a signature; if they are facets or a second solid, this is an error.
 * Normals are skipped: the order of the corners says which side is outside. A facet with two equal corners has no area
 * and is dropped. Its other two sides coincide, so that a closed surface stays closed.
 * Source: M. Burns, Automated Fabrication (1993), section 6.5.
 */
#include "numerics/mesh_builder.h"

#include "core/text.h"
#include "numerics/mesh.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- OBJ and OFF --- */

static const char *const passed_over[] = {"vt",       "vn",       "vp",         "p",        "s",   "mg",
                                          "usemtl",   "mtllib",   "usemap",     "maplib",   "lod", "bevel",
                                          "c_interp", "d_interp", "shadow_obj", "trace_obj"};

static bool is_passed_over(const cb_mesh_builder *b, cb_token token) {
  for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
    if (cb_token_is(b, token, passed_over[i])) return true;
  return false;
}

static cb_status read_vertex(cb_mesh_builder *b, cb_cursor *cursor) {
  static const char *const names[] = {"x", "y", "z", "w", "colour", "colour", "colour"};
  double x[7];
  int n = 0;
  for (cb_token token; cb_next_token(b, cursor, &token); n++) {
    if (n == 7) return cb_mesh_expected(b, token, "the end of the line after 7 numbers");
    cb_status status = cb_mesh_number(b, token, names[n], &x[n]);
    if (status != CB_OK) return status;
  }
  if (n < 3) return cb_mesh_expected_more(b, cursor, names[n]);
  memcpy(b->vertices[b->n_vertices++], x, sizeof *b->vertices);
  return CB_OK;
}

/* Reads the corner a, a/t, a//n or a/t/n as a vertex, counted from 0. */
static cb_status read_corner(const cb_mesh_builder *b, cb_token token, size_t n_vertices, int *vertex) {
  const char *text = b->bytes + token.at, *slash = memchr(text, '/', token.length);
  long long index;
  size_t digits = slash ? (size_t)(slash - text) : token.length, slashes = 0;
  bool good = cb_parse_integer(text, digits, &index);
  for (size_t i = digits; i < token.length && good; i++) {
    slashes += text[i] == '/';
    good = slashes <= 2 && strchr("/-0123456789", text[i]) && text[i];
  }
  if (!good) return cb_mesh_expected(b, token, "a corner such as 1, 1/2, 1//3 or 1/2/3");
  if (index > 0 && (unsigned long long)index <= n_vertices)
    *vertex = (int)(index - 1);
  else if (index < 0 && index >= -(long long)b->n_vertices)
    *vertex = (int)((long long)b->n_vertices + index);
  else
    return cb_mesh_fail(b, token.at, "index %s is out of range, expected 1 to %zu or -1 to -%zu",
                        cb_quoted(text, digits).text, n_vertices, b->n_vertices);
  return CB_OK;
}

static cb_status read_corners(cb_mesh_builder *b, cb_cursor *cursor, cb_token statement, size_t n_vertices) {
  bool polygon = cb_token_is(b, statement, "f");
  for (cb_token token; cb_next_token(b, cursor, &token);) {
    int vertex = 0;
    cb_status status = read_corner(b, token, n_vertices, &vertex);
    if (status == CB_OK) status = cb_mesh_add_corner(b, vertex);
    if (status != CB_OK) return status;
  }
  if (cb_mesh_corners(b) < (polygon ? 3 : 2))
    return cb_mesh_expected_more(b, cursor, polygon ? "at least 3 corners" : "at least 2 vertices");
  int vertex;
  if (cb_mesh_repeats(b, polygon, &vertex))
    return cb_mesh_fail(b, statement.at, "an edge joins vertex %d to itself: expected different vertices", vertex + 1);
  return polygon ? cb_mesh_end_polygon(b, statement.at) : cb_mesh_end_line(b);
}

static size_t count_vertices(const cb_mesh_builder *b) {
  cb_cursor cursor = {.obj = true};
  size_t count = 0;
  do {
    cb_token token;
    if (cb_next_token(b, &cursor, &token)) count += cb_token_is(b, token, "v");
  } while (cb_next_line(b, &cursor));
  return count;
}

cb_status cb_mesh_read_obj(cb_mesh_builder *b) {
  /* Vertices are counted first, because a polygon may come before its vertices. The shortest line of a vertex is `v 0 0
   * 0`; a file that seems to have more vertices than this allows contains a wrong one. */
  size_t n_vertices = count_vertices(b), maximum = b->n / 8 + 1;
  cb_status status = cb_mesh_reserve(b, n_vertices < maximum ? n_vertices : maximum);
  cb_cursor cursor = {.obj = true};
  b->base = 1;
  while (status == CB_OK) {
    cb_token token;
    if (cb_next_token(b, &cursor, &token)) {
      if (cb_token_is(b, token, "v"))
        status = read_vertex(b, &cursor);
      else if (cb_token_is(b, token, "f") || cb_token_is(b, token, "l"))
        status = read_corners(b, &cursor, token, n_vertices);
      else if (cb_token_is(b, token, "g") || cb_token_is(b, token, "o"))
        status = cb_mesh_begin_group(b, &cursor);
      else if (!is_passed_over(b, token))
        status = cb_mesh_expected(b, token, "a statement such as v, f or l");
    }
    if (status == CB_OK && !cb_next_line(b, &cursor)) break;
  }
  return status;
}

/* --- OFF ---
 *
 * The file has the word `OFF`, the numbers of vertices, faces and edges, then a line x y z for each vertex and a line
 * n i1 ... in for each face. `#` begins a comment. The number of vertices may follow the first word without a blank
 * (OFF8, as in files of ModelNet). The prefixes ST, C and N of the first word (textures, colours, normals) are
 * accepted, and the rest of a line is skipped; 4OFF, nOFF and binary files are errors. The number of edges may have any
 * value or be missing. Indices count from 0.
 * Source: Geomview manual, version 1.9, section 4.2.5.
 */

/* The lengths in bytes of the shortest rows, "0 0 0\n" and "3 0 1 2\n". */
enum { VERTEX = 6, FACE = 8 };

/* Reads the next word, on this line or a later one; returns false at the end of the file. */
static bool next_row(const cb_mesh_builder *b, cb_cursor *cursor, cb_token *token) {
  while (!cb_next_token(b, cursor, token))
    if (!cb_next_line(b, cursor)) return false;
  return true;
}

/* Returns whether this word is the header of an OFF file. *length is the length of the header itself, which a number
 * may follow. */
static bool is_header(const cb_mesh_builder *b, cb_token token, size_t *length) {
  const char *text = b->bytes + token.at;
  size_t i = 0;
  if (token.length >= 2 && memcmp(text, "ST", 2) == 0) i = 2;
  i += i < token.length && text[i] == 'C';
  i += i < token.length && text[i] == 'N';
  *length = i + 3;
  if (token.length < i + 3 || memcmp(text + i, "OFF", 3) != 0) return false;
  for (size_t k = i + 3; k < token.length; k++)
    if (text[k] < '0' || text[k] > '9') return false;
  return true;
}

bool cb_mesh_is_off(const cb_mesh_builder *b) {
  cb_cursor cursor = {.obj = true};
  cb_token token;
  size_t length;
  return next_row(b, &cursor, &token) && is_header(b, token, &length);
}

static cb_status read_count(const cb_mesh_builder *b, cb_cursor *cursor, const char *what, size_t row, size_t *count) {
  cb_token token;
  long long value = 0;
  if (!next_row(b, cursor, &token)) return cb_mesh_expected_more(b, cursor, what);
  cb_status status = cb_mesh_integer(b, token, what, &value);
  if (status != CB_OK) return status;
  if (value < 0) return cb_mesh_fail(b, token.at, "expected %s, at least 0, found %lld", what, value);
  /* The last line may have no line break, so one more byte is counted. */
  size_t rest = b->n - cursor->at;
  if ((unsigned long long)value > (rest + 1) / row)
    return cb_mesh_fail(b, token.at,
                        "%lld rows need at least %zu bytes each, but only %zu bytes follow: expected a complete file",
                        value, row, rest);
  *count = (size_t)value;
  return CB_OK;
}

static cb_status read_off_vertex(cb_mesh_builder *b, cb_cursor *cursor) {
  static const char *const axis[] = {"x", "y", "z"};
  double x[3];
  cb_token token;
  if (!next_row(b, cursor, &token)) return cb_mesh_expected_more(b, cursor, "a vertex");
  for (int k = 0; k < 3; k++) {
    if (k && !cb_next_token(b, cursor, &token)) return cb_mesh_expected_more(b, cursor, axis[k]);
    cb_status status = cb_mesh_number(b, token, axis[k], &x[k]);
    if (status != CB_OK) return status;
  }
  memcpy(b->vertices[b->n_vertices++], x, sizeof x);
  return CB_OK;
}

static cb_status read_face(cb_mesh_builder *b, cb_cursor *cursor) {
  cb_token token, first;
  long long corners, index;
  int vertex;
  if (!next_row(b, cursor, &first)) return cb_mesh_expected_more(b, cursor, "a face");
  cb_status status = cb_mesh_integer(b, first, "the number of corners", &corners);
  if (status == CB_OK && corners < 3)
    status = cb_mesh_fail(b, first.at, "expected a face of at least 3 corners, found %lld", corners);
  for (long long i = 0; i < corners && status == CB_OK; i++) {
    if (!cb_next_token(b, cursor, &token)) return cb_mesh_expected_more(b, cursor, "the index of a vertex");
    status = cb_mesh_integer(b, token, "the index of a vertex", &index);
    if (status != CB_OK) break;
    if (index < 0 || (unsigned long long)index >= b->n_vertices)
      return cb_mesh_fail(b, token.at, "index %lld is out of range, expected 0 to %lld", index,
                          (long long)b->n_vertices - 1);
    status = cb_mesh_add_corner(b, (int)index);
  }
  if (status != CB_OK) return status;
  if (cb_mesh_repeats(b, true, &vertex))
    return cb_mesh_fail(b, first.at, "an edge joins vertex %d to itself: expected different vertices", vertex);
  return cb_mesh_end_polygon(b, first.at);
}

cb_status cb_mesh_read_off(cb_mesh_builder *b) {
  cb_cursor cursor = {.obj = true};
  size_t vertices = 0, faces = 0, length;
  cb_token token;
  if (!next_row(b, &cursor, &token)) return cb_mesh_expected_more(b, &cursor, "OFF");
  if (!is_header(b, token, &length))
    return cb_mesh_expected(b, token, "an OFF file, which begins with OFF, COFF, NOFF or STOFF");
  cursor.at = token.at + length;
  cb_cursor after = cursor;
  if (cb_next_token(b, &after, &token) && cb_token_is(b, token, "BINARY"))
    return cb_mesh_expected(b, token, "an OFF file in text");
  cb_status status = read_count(b, &cursor, "the number of vertices", VERTEX, &vertices);
  if (status == CB_OK) status = read_count(b, &cursor, "the number of faces", FACE, &faces);
  if (status == CB_OK) status = cb_mesh_reserve(b, vertices);
  while (cb_next_token(b, &cursor, &token)) {
  } /* skips the number of edges */
  for (size_t i = 0; i < vertices && status == CB_OK; i++) {
    status = read_off_vertex(b, &cursor);
    while (cb_next_token(b, &cursor, &token)) {
    }
  }
  for (size_t i = 0; i < faces && status == CB_OK; i++) {
    status = read_face(b, &cursor);
    while (cb_next_token(b, &cursor, &token)) {
    }
  }
  if (status == CB_OK && next_row(b, &cursor, &token)) status = cb_mesh_expected(b, token, "the end of the file");
  return status;
}

/* --- STL --- */

enum { HEAD = 84, FACET = 50, SHORTEST_VERTEX = 13 }; /* lengths in bytes; the last one is that of "vertex 0 0 0\n" */

/* Adds the facet with the corners x, which begins at byte `at`. */
static cb_status add_facet(cb_mesh_builder *b, cb_distinct *places, size_t at, double x[3][3]) {
  cb_status status = CB_OK;
  int v[3];
  for (int i = 0; i < 3; i++) v[i] = cb_distinct_add(places, x[i]);
  if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) return CB_OK;
  for (int i = 0; i < 3 && status == CB_OK; i++) status = cb_mesh_add_corner(b, v[i]);
  return status == CB_OK ? cb_mesh_end_polygon(b, at) : status;
}

/* ---- binary ---- */

static uint32_t read_u32(const char *bytes) {
  const unsigned char *p = (const unsigned char *)bytes;
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t claimed(const char *head) { return HEAD + (uint64_t)FACET * read_u32(head + HEAD - 4); }

static bool is_binary(const cb_mesh_builder *b) {
  return b->n >= HEAD && (b->n == claimed(b->bytes) || (claimed(b->bytes) > HEAD && b->n > claimed(b->bytes)));
}

/* Fails if the bytes after the last facet are more facets or a second solid. */
static cb_status check_rest(const cb_mesh_builder *b) {
  const size_t at = claimed(b->bytes), rest = b->n - at;
  bool zeros = true;
  for (size_t i = at; i < b->n && zeros; i++) zeros = !b->bytes[i];
  if (zeros) return CB_OK;
  if (rest % FACET == 0)
    return cb_mesh_fail(b, HEAD - 4,
                        "the file states %u facets, but %zu more follow: expected the number of all facets",
                        read_u32(b->bytes + HEAD - 4), rest / FACET);
  if (rest > HEAD && claimed(b->bytes + at) <= rest && claimed(b->bytes + at) > HEAD)
    return cb_mesh_fail(b, at, "a second solid of %u facets follows the first: expected one solid per file",
                        read_u32(b->bytes + at + HEAD - 4));
  return CB_OK;
}

static cb_status read_binary(cb_mesh_builder *b, cb_distinct *places) {
  const size_t facets = read_u32(b->bytes + HEAD - 4);
  const cb_status rest = check_rest(b);
  if (rest != CB_OK) return rest;
  for (size_t f = 0; f < facets; f++) {
    double x[3][3];
    for (int i = 0; i < 9; i++) {
      size_t at = HEAD + f * FACET + 12 + 4 * (size_t)i;
      uint32_t bits = read_u32(b->bytes + at);
      float value;
      memcpy(&value, &bits, sizeof value);
      if (!isfinite(value))
        return cb_mesh_fail(b, at, "expected %c of a corner of facet %zu, a finite number, found %g", "xyz"[i % 3],
                            f + 1, (double)value);
      x[i / 3][i % 3] = value;
    }
    cb_status status = add_facet(b, places, HEAD + f * FACET, x);
    if (status != CB_OK) return status;
  }
  return CB_OK;
}

/* ---- text ---- */

static bool token_is(const cb_mesh_builder *b, cb_token text, const char *lower) {
  if (strlen(lower) != text.length) return false;
  for (size_t i = 0; i < text.length; i++) {
    char c = b->bytes[text.at + i];
    if ((c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c) != lower[i]) return false;
  }
  return true;
}

/* Reads the next word, on this line or a later one. Returns false at the end of the file. */
static bool next_token(const cb_mesh_builder *b, cb_cursor *cursor, cb_token *text) {
  while (!cb_next_token(b, cursor, text))
    if (!cb_next_line(b, cursor)) return false;
  return true;
}

static cb_status take(const cb_mesh_builder *b, cb_cursor *cursor, const char *lower) {
  cb_token text;
  if (!next_token(b, cursor, &text)) return cb_mesh_expected_more(b, cursor, lower);
  return token_is(b, text, lower) ? CB_OK : cb_mesh_expected(b, text, lower);
}

static cb_status take_corner(const cb_mesh_builder *b, cb_cursor *cursor, double x[3]) {
  static const char *const axis[] = {"x", "y", "z"};
  cb_token text;
  cb_status status = take(b, cursor, "vertex");
  for (int k = 0; k < 3 && status == CB_OK; k++)
    status = next_token(b, cursor, &text) ? cb_mesh_number(b, text, axis[k], &x[k])
                                          : cb_mesh_expected_more(b, cursor, axis[k]);
  return status;
}

/* Reads the text after `facet`, which is at byte `at`, up to `endfacet`. */
static cb_status read_facet(cb_mesh_builder *b, cb_cursor *cursor, cb_distinct *places, size_t at) {
  static const char *const between[] = {"normal", "outer", "loop", "endloop", "endfacet"};
  double x[3][3];
  cb_token text;
  cb_status status = take(b, cursor, between[0]);
  for (int k = 0; k < 3 && status == CB_OK; k++)
    if (!next_token(b, cursor, &text)) status = cb_mesh_expected_more(b, cursor, "a normal of three numbers");
  for (int i = 1; i < 3 && status == CB_OK; i++) status = take(b, cursor, between[i]);
  for (int i = 0; i < 3 && status == CB_OK; i++) status = take_corner(b, cursor, x[i]);
  for (int i = 3; i < 5 && status == CB_OK; i++) status = take(b, cursor, between[i]);
  return status == CB_OK ? add_facet(b, places, at, x) : status;
}

static cb_status read_text(cb_mesh_builder *b, cb_distinct *places) {
  cb_cursor cursor = {.at = cb_text_mark(b->bytes, b->n)};
  cb_status status = CB_OK;
  bool inside = false;
  cb_token text;
  while (status == CB_OK && next_token(b, &cursor, &text)) {
    if (!inside && token_is(b, text, "solid")) {
      inside = true;
      status = cb_mesh_begin_group(b, &cursor);
    } else if (inside && token_is(b, text, "endsolid")) {
      inside = false;
      while (cb_next_token(b, &cursor, &text)) {
      } /* skips the repeated name */
    } else if (inside && token_is(b, text, "facet")) {
      status = read_facet(b, &cursor, places, text.at);
    } else {
      status = cb_mesh_expected(b, text, inside ? "facet or endsolid" : "solid");
    }
  }
  return status == CB_OK && inside ? cb_mesh_expected_more(b, &cursor, "facet or endsolid") : status;
}

static bool is_text(const cb_mesh_builder *b) {
  cb_cursor cursor = {.at = cb_text_mark(b->bytes, b->n)};
  cb_token text;
  return next_token(b, &cursor, &text) && token_is(b, text, "solid");
}

bool cb_mesh_is_stl(const cb_mesh_builder *b) { return is_binary(b) || is_text(b); }

cb_status cb_mesh_read_stl(cb_mesh_builder *b) {
  bool binary = is_binary(b);
  if (!binary && !is_text(b)) {
    if (b->n < HEAD) return cb_mesh_fail(b, 0, "expected an STL file: 'solid', or at least %d bytes", HEAD);
    unsigned long long facets = read_u32(b->bytes + HEAD - 4);
    b->binary = 0;
    return cb_mesh_fail(b, HEAD - 4,
                        "%llu facets need %llu bytes in total, but the file has %zu: expected a complete file", facets,
                        HEAD + FACET * facets, b->n);
  }
  if (binary) b->binary = 0;
  size_t maximum = binary ? 3 * (size_t)read_u32(b->bytes + HEAD - 4) : b->n / SHORTEST_VERTEX + 1;
  cb_distinct places = {.slot = NULL};
  cb_status status = cb_mesh_reserve(b, maximum);
  if (status == CB_OK) status = cb_distinct_begin(&places, maximum, b->vertices);
  if (status == CB_OK) status = binary ? read_binary(b, &places) : read_text(b, &places);
  b->n_vertices = places.n;
  cb_distinct_end(&places);
  return status;
}
