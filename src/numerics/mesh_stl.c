/* Reads STL: triangles one by one, each with its three corners; equal corners become one vertex.
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
#include "core/text.h"
#include "numerics/mesh.h"
#include "numerics/mesh_builder.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

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
