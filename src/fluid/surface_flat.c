/* The same surface without faces of no area, whose neighbours would not be joined if they were left out.
 *
 *   a corner m on the opposite side from a to b:   (a, b, m), (b, a, c)  ->  (m, a, c), (m, c, b)
 *   without a face behind that side                it is left out
 *   two corners at one place                       become one, and what has both is left out
 * Faces without area are made by cutting polygons with a corner on a side, and fill the gap between three edges of one
 * line. The places of the surface stay what they were, to 1e-9 of an edge.
 */
#include "fluid/surface_private.h"
#include "numerics/vec3.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Corners nearer than this share of the longest side are at one place. */
static const double together = 1e-9;

static double distance(const cb_mesh *m, int a, int b) {
  double d[3];
  for (int i = 0; i < 3; i++) d[i] = m->vertices[b][i] - m->vertices[a][i];
  return hypot(hypot(d[0], d[1]), d[2]);
}

/* *longest: where its longest side begins; *shortest: its shortest, -1 where no two corners are at one place. */
static bool is_flat(const cb_mesh *m, size_t f, int *longest, int *shortest) {
  const int *c = m->triangles[f];
  double side[3], n[3];
  *longest = *shortest = 0;
  for (int k = 0; k < 3; k++) {
    side[k] = distance(m, c[k], c[(k + 1) % 3]);
    if (side[k] > side[*longest]) *longest = k;
    if (side[k] < side[*shortest]) *shortest = k;
  }
  cb_normal3(m->vertices[c[0]], m->vertices[c[1]], m->vertices[c[2]], n);
  if (!cb_face_is_flat(sqrt(cb_dot3(n, n)), side[*longest])) return false;
  if (side[*shortest] > together * side[*longest]) *shortest = -1;
  return true;
}

static int third(const int *c, int a, int b) {
  return c[0] != a && c[0] != b ? c[0] : c[1] != a && c[1] != b ? c[1] : c[2];
}

/* Faces without area that have the same corners and are turned round cancel each other; n sides of one edge. */
static bool cancel(const cb_mesh *m, const cb_side *side, size_t n, bool *gone) {
  enum { MOST = 32 };
  bool any = false;
  int longest, shortest;
  for (size_t i = 0; i < n && n <= MOST; i++)
    for (size_t j = i + 1; j < n; j++) {
      const int f = side[i].face, o = side[j].face;
      if (gone[f] || gone[o] || side[i].forward == side[j].forward) continue;
      if (third(m->triangles[f], side[i].lo, side[i].hi) != third(m->triangles[o], side[i].lo, side[i].hi)) continue;
      if (is_flat(m, (size_t)f, &longest, &shortest)) any = gone[f] = gone[o] = true;
    }
  return any;
}

/* behind[f][k]: the face on the other side of its side from corner k; -1: none, -2: more than one, or one that runs the
 * same way. *more: faces have cancelled each other. */
static bool find_behind(const cb_mesh *m, int (*behind)[3], bool *gone, bool *more) {
  const size_t n = 3 * m->n_triangles;
  cb_side *side = cb_sides_sorted((int)m->n_vertices, (int)m->n_triangles, (const int(*)[3])m->triangles, NULL);
  if (!side) return false;
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, NULL);
    if (end > i + 2) *more |= cancel(m, side + i, end - i, gone);
    const bool pair = end == i + 2 && side[i].forward != side[i + 1].forward;
    for (size_t j = i; j < end; j++) {
      const int *c = m->triangles[side[j].face], from = side[j].forward ? side[j].lo : side[j].hi;
      const int k = c[0] == from ? 0 : c[1] == from ? 1 : 2;
      behind[side[j].face][k] = pair ? side[i + (j == i)].face : end == i + 1 ? -1 : -2;
    }
  }
  free(side);
  return true;
}

/* Of a face without area behind the longest side of another the two change together where it is the longest of both, so
 * that longest sides get shorter; otherwise the one with the longer side comes first. */
static bool may_flip(const cb_mesh *m, int other, int a, int b) {
  int longest, shortest;
  if (!is_flat(m, (size_t)other, &longest, &shortest)) return true;
  const int *c = m->triangles[other];
  return shortest < 0 && c[longest] == b && c[(longest + 1) % 3] == a;
}

/* One face without area; touched: faces that were changed in this round. Is it done? */
static bool mend(cb_mesh *m, size_t f, const int (*behind)[3], bool *touched, bool *gone, int *first) {
  int longest, shortest;
  if (touched[f] || !is_flat(m, f, &longest, &shortest)) return false;
  int *t = m->triangles[f];
  if (shortest >= 0) {
    const int a = t[shortest], b = t[(shortest + 1) % 3], low = a < b ? a : b, high = a < b ? b : a;
    if (first[low] != low || first[high] != high) return false;
    first[high] = low;
    return touched[f] = true;
  }
  const int other = behind[f][longest];
  if (other < -1 || (other >= 0 && touched[other])) return false;
  const int a = t[longest], b = t[(longest + 1) % 3], top = t[(longest + 2) % 3];
  if (other >= 0 && !may_flip(m, other, a, b)) return false;
  touched[f] = true;
  if (other < 0) return gone[f] = true;
  touched[other] = true;
  int *o = m->triangles[other];
  const int c = third(o, a, b);
  if (c == top) return gone[f] = gone[other] = true;
  memcpy(t, (const int[3]){top, a, c}, sizeof m->triangles[f]);
  memcpy(o, (const int[3]){top, c, b}, sizeof m->triangles[other]);
  return true;
}

static void drop(cb_mesh *m, const bool *gone) {
  size_t kept = 0;
  for (size_t f = 0; f < m->n_triangles; f++) {
    if (gone[f]) continue;
    memmove(m->triangles[kept], m->triangles[f], sizeof m->triangles[f]);
    if (m->n_groups) m->groups[kept] = m->groups[f];
    kept++;
  }
  m->n_triangles = kept;
}

cb_status cb_mesh_unflatten(cb_mesh *m, int *first) {
  enum { WORK = 200000000 }; /* faces looked at */
  const size_t n = m->n_triangles + 1;
  int(*behind)[3] = malloc(n * sizeof *behind), *joined = malloc((m->n_vertices + 1) * sizeof *joined);
  bool *touched = malloc(2 * n * sizeof *touched), more = m->n_triangles < INT_MAX / 3;
  cb_status status =
      behind && joined && touched ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a mesh of %zu triangles", n - 1);
  for (size_t work = 0; more && work < WORK && !status; work += n) {
    memset(touched, 0, 2 * n * sizeof *touched);
    for (size_t v = 0; v < m->n_vertices; v++) joined[v] = (int)v;
    more = false;
    if (!find_behind(m, behind, touched + n, &more))
      status = cb_fail(CB_ERROR_MEMORY, "no memory for a mesh of %zu triangles", n - 1);
    const bool cancelled = more;
    for (size_t f = 0; f < m->n_triangles && !status && !cancelled; f++)
      more |= mend(m, f, (const int(*)[3])behind, touched, touched + n, joined);
    if (status) break;
    drop(m, touched + n);
    cb_mesh_renumber(m, joined);
    for (size_t v = 0; v < m->n_vertices; v++) first[v] = joined[first[v]];
  }
  free(behind);
  free(joined);
  free(touched);
  return status;
}

bool cb_mesh_has_flat(const cb_mesh *m) {
  int longest, shortest;
  for (size_t f = 0; f < m->n_triangles; f++)
    if (is_flat(m, f, &longest, &shortest)) return true;
  return false;
}
