/* STL: triangles one by one, each with its three corners; equal corners become one vertex.
 *
 *   text      solid NAME, then facet normal x y z, outer loop, vertex x y z (three times), endloop, endfacet ...,
 *             endsolid NAME; several solids may follow one another: each is a group. Words in any case
 *   binary    80 bytes, the number of facets (32 bits, little-endian), then for each 12 floats (normal, corners) and
 *             two bytes that are passed over
 *
 * A file is binary if it is as long as the facets that it claims, or longer; words there would claim more than a file may
 * have. What follows the facets is passed over, since some programs sign their files, unless it is facets or a second
 * solid. Normals are passed over: the order of corners says which side is outside. A facet with two equal corners has no
 * area and is dropped: its other two sides fall on each other, so a closed surface stays closed.
 * Source: M. Burns, Automated Fabrication (1993), section 6.5.
 */
#include "core/text.h"
#include "numerics/distinct.h"
#include "numerics/mesh_builder.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { HEAD = 84, FACET = 50, SHORTEST_VERTEX = 13 }; /* bytes; "vertex 0 0 0\n" */

/* The facet that stands at byte `at`. */
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

/* Bytes that follow the last facet must not be what the body lacks. */
static cb_status check_rest(const cb_mesh_builder *b) {
  const size_t at = claimed(b->bytes), rest = b->n - at;
  bool zeros = true;
  for (size_t i = at; i < b->n && zeros; i++) zeros = !b->bytes[i];
  if (zeros) return CB_OK;
  if (rest % FACET == 0)
    return cb_mesh_fail(b, HEAD - 4, "%u facets are claimed, but %zu more follow", read_u32(b->bytes + HEAD - 4),
                        rest / FACET);
  if (rest > HEAD && claimed(b->bytes + at) <= rest && claimed(b->bytes + at) > HEAD)
    return cb_mesh_fail(b, at, "a second solid of %u facets follows the first: expected one solid a file",
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

static bool word_is(const cb_mesh_builder *b, cb_word word, const char *lower) {
  if (strlen(lower) != word.length) return false;
  for (size_t i = 0; i < word.length; i++) {
    char c = b->bytes[word.at + i];
    if ((c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c) != lower[i]) return false;
  }
  return true;
}

/* The next word, on whatever line. */
static bool next_word(const cb_mesh_builder *b, cb_cursor *cursor, cb_word *word) {
  while (!cb_next_word(b, cursor, word))
    if (!cb_next_line(b, cursor)) return false;
  return true;
}

static cb_status take(const cb_mesh_builder *b, cb_cursor *cursor, const char *lower) {
  cb_word word;
  if (!next_word(b, cursor, &word)) return cb_mesh_expected_more(b, cursor, lower);
  return word_is(b, word, lower) ? CB_OK : cb_mesh_expected(b, word, lower);
}

static cb_status take_corner(const cb_mesh_builder *b, cb_cursor *cursor, double x[3]) {
  static const char *const axis[] = {"x", "y", "z"};
  cb_word word;
  cb_status status = take(b, cursor, "vertex");
  for (int k = 0; k < 3 && status == CB_OK; k++)
    status = next_word(b, cursor, &word) ? cb_mesh_number(b, word, axis[k], &x[k])
                                         : cb_mesh_expected_more(b, cursor, axis[k]);
  return status;
}

/* From after `facet`, which stands at byte `at`, to `endfacet`. */
static cb_status read_facet(cb_mesh_builder *b, cb_cursor *cursor, cb_distinct *places, size_t at) {
  static const char *const between[] = {"normal", "outer", "loop", "endloop", "endfacet"};
  double x[3][3];
  cb_word word;
  cb_status status = take(b, cursor, between[0]);
  for (int k = 0; k < 3 && status == CB_OK; k++)
    if (!next_word(b, cursor, &word)) status = cb_mesh_expected_more(b, cursor, "a normal of three numbers");
  for (int i = 1; i < 3 && status == CB_OK; i++) status = take(b, cursor, between[i]);
  for (int i = 0; i < 3 && status == CB_OK; i++) status = take_corner(b, cursor, x[i]);
  for (int i = 3; i < 5 && status == CB_OK; i++) status = take(b, cursor, between[i]);
  return status == CB_OK ? add_facet(b, places, at, x) : status;
}

static cb_status read_text(cb_mesh_builder *b, cb_distinct *places) {
  cb_cursor cursor = {.at = cb_text_mark(b->bytes, b->n)};
  cb_status status = CB_OK;
  bool inside = false;
  cb_word word;
  while (status == CB_OK && next_word(b, &cursor, &word)) {
    if (!inside && word_is(b, word, "solid")) {
      inside = true;
      status = cb_mesh_begin_group(b, &cursor);
    } else if (inside && word_is(b, word, "endsolid")) {
      inside = false;
      while (cb_next_word(b, &cursor, &word)) {} /* its name again */
    } else if (inside && word_is(b, word, "facet")) {
      status = read_facet(b, &cursor, places, word.at);
    } else {
      status = cb_mesh_expected(b, word, inside ? "facet or endsolid" : "solid");
    }
  }
  return status == CB_OK && inside ? cb_mesh_expected_more(b, &cursor, "facet or endsolid") : status;
}

static bool is_text(const cb_mesh_builder *b) {
  cb_cursor cursor = {.at = cb_text_mark(b->bytes, b->n)};
  cb_word word;
  return next_word(b, &cursor, &word) && word_is(b, word, "solid");
}

bool cb_mesh_is_stl(const cb_mesh_builder *b) { return is_binary(b) || is_text(b); }

cb_status cb_mesh_read_stl(cb_mesh_builder *b) {
  bool binary = is_binary(b);
  if (!binary && !is_text(b)) {
    if (b->n < HEAD) return cb_mesh_fail(b, 0, "expected an STL file: 'solid', or at least %d bytes", HEAD);
    unsigned long long facets = read_u32(b->bytes + HEAD - 4);
    b->binary = 0;
    return cb_mesh_fail(b, HEAD - 4, "%llu facets take %llu bytes in all, but the file has %zu", facets,
                        HEAD + FACET * facets, b->n);
  }
  if (binary) b->binary = 0;
  size_t most = binary ? 3 * (size_t)read_u32(b->bytes + HEAD - 4) : b->n / SHORTEST_VERTEX + 1;
  cb_distinct places = {.slot = NULL};
  cb_status status = cb_mesh_room(b, most);
  if (status == CB_OK) status = cb_distinct_begin(&places, most, b->vertices);
  if (status == CB_OK) status = binary ? read_binary(b, &places) : read_text(b, &places);
  b->n_vertices = places.n;
  cb_distinct_end(&places);
  return status;
}
