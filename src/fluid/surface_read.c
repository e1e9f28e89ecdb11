/* Reads surfaces from files of meshes, and repairs the meshes: holes are closed, and faces without area are removed. */
#include "fluid/surface_mesh.h"

#include "core/failure.h"
#include "core/text.h"
#include "numerics/mesh.h"
#include "numerics/vec3.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- closing ---
 *
 * Repairs of a mesh: small holes are closed by faces between existing vertices, and faces without area are removed
 * (below).
 *
 * A path follows the border against the direction of the faces. When the path returns to a vertex, the loop from this
 * vertex to itself is a hole and is removed from the path. A hole is closed if the area of the faces that fill it is at
 * most the given share of the area of its piece, including these faces (pieces are connected by edges). So a missing
 * triangle is closed, and the rim of a cup or of a leaf is not. The hole is filled as a polygon (numerics/mesh.h). If
 * it is not plane, it is filled by a fan of triangles from the corner that gives the smallest area.
 */

/* An edge of the border, in the direction opposite to that in its face. A hole is followed in these directions. */
typedef struct way {
  int from, to, face;
  bool gone;
} way;

typedef struct closing {
  cb_mesh *m;
  double share;
  way *way;
  int ways;
  /* [faces]: the parents of disjoint sets of faces (cb_union_find). Each set is a piece, which is known by its root. */
  int *piece;
  double *area; /* [faces]: for the root of a piece, the area of the piece */
  /* path: indices in `way` of the border edges on the present path; place: for each vertex, the index in `path` of the
   * edge that begins there, or -1 if the vertex is not on the path */
  int *path, *place;
  int *corner, (*made)[3];
  size_t capacity; /* number of triangles for which m has memory */
  cb_surface_mended *done;
} closing;

static double area_of(const cb_mesh *m, const int *c) {
  double n[3];
  cb_area3(m->vertices[c[0]], m->vertices[c[1]], m->vertices[c[2]], n);
  return sqrt(cb_dot3(n, n));
}

static int compare(const void *a, const void *b) {
  const way *p = a, *q = b;
  if (p->from != q->from) return p->from < q->from ? -1 : 1;
  return (p->to > q->to) - (p->to < q->to);
}

/* Finds the pieces with their areas, and lists the edges of their borders in c->way. */
static bool find_border(closing *c) {
  const cb_mesh *m = c->m;
  const size_t n = 3 * m->n_triangles;
  cb_side *side = cb_sides_sorted((int)m->n_vertices, (int)m->n_triangles, (const int(*)[3])m->triangles, NULL);
  c->way = malloc((n + 1) * sizeof *c->way);
  c->piece = malloc((m->n_triangles + 1) * sizeof *c->piece);
  c->area = calloc(m->n_triangles + 1, sizeof *c->area);
  const bool good = side && c->way && c->piece && c->area;
  for (size_t f = 0; good && f < m->n_triangles; f++) c->piece[f] = (int)f;
  for (size_t i = 0, end; good && i < n; i = end) {
    end = cb_sides_same(side, n, i, NULL);
    for (size_t j = i + 1; j < end; j++) cb_union_join(c->piece, side[i].face, side[j].face);
    const cb_side *s = &side[i];
    if (end == i + 1) c->way[c->ways++] = (way){s->forward ? s->hi : s->lo, s->forward ? s->lo : s->hi, s->face, false};
  }
  for (size_t f = 0; good && f < m->n_triangles; f++)
    c->area[cb_union_find(c->piece, (int)f)] += area_of(m, m->triangles[f]);
  if (good) qsort(c->way, (size_t)c->ways, sizeof *c->way, compare);
  free(side);
  return good;
}

/* Returns the index in c->way of the first unused edge that begins at the vertex `from`; -1: there is none. */
static int next_way(const closing *c, int from) {
  int low = 0, high = c->ways;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (c->way[middle].from < from)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < c->ways && c->way[low].from == from; low++)
    if (!c->way[low].gone) return low;
  return -1;
}

static double fan(const closing *c, int n, int first, int (*out)[3]) {
  double sum = 0;
  for (int k = 0; k < n - 2; k++) {
    const int t[3] = {c->corner[first], c->corner[(first + k + 1) % n], c->corner[(first + k + 2) % n]};
    sum += area_of(c->m, t);
    if (out) memcpy(out[k], t, sizeof t);
  }
  return sum;
}

/* Writes the faces of a hole with n corners into c->made and finds their area. A hole that is not plane gets a fan of
 * faces around one of its corners: the one with the smallest area, or around the first corner if the hole has more than
 * TRIED corners. Returns CB_ERROR_MEMORY if there is no memory. */
static cb_status fill(closing *c, int n, double *area) {
  enum { TRIED = 200 };
  const cb_status status = cb_polygon_triangles(n, c->corner, (const double(*)[3])c->m->vertices, c->made);
  *area = 0;
  for (int k = 0; k < n - 2 && !status; k++) *area += area_of(c->m, c->made[k]);
  if (status != CB_ERROR_DOMAIN) return status;
  int best = 0;
  *area = fan(c, n, 0, NULL);
  for (int first = 1; first < n && n <= TRIED; first++) {
    const double other = fan(c, n, first, NULL);
    if (other < *area) {
      best = first;
      *area = other;
    }
  }
  fan(c, n, best, c->made);
  return CB_OK;
}

static bool reserve(closing *c, size_t more) {
  cb_mesh *m = c->m;
  if (m->n_triangles + more <= c->capacity) return true;
  c->capacity = 2 * (m->n_triangles + more);
  int(*triangles)[3] = realloc(m->triangles, c->capacity * sizeof *triangles);
  if (triangles) m->triangles = triangles;
  int *groups = m->n_groups ? realloc(m->groups, c->capacity * sizeof *groups) : NULL;
  if (groups) m->groups = groups;
  return triangles && (groups || !m->n_groups);
}

/* Closes the hole whose border is the loop of the n edges c->way[path[k]], if its area is at most the share c->share of
 * the area of its piece with this hole closed. A larger hole is counted as left open. */
static cb_status close_hole(closing *c, const int *path, int n) {
  const way *first = &c->way[path[0]];
  cb_mesh *m = c->m;
  double area = 0;
  if (n < 3) return CB_OK;
  for (int k = 0; k < n; k++) c->corner[k] = c->way[path[k]].from;
  const cb_status status = fill(c, n, &area);
  if (status) return status;
  const double share = area / (area + c->area[cb_union_find(c->piece, first->face)]);
  if (!(share <= c->share)) {
    c->done->least = c->done->left++ ? fmin(c->done->least, share) : share;
    return CB_OK;
  }
  if (!reserve(c, (size_t)n)) return cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", n);
  for (int k = 0; k < n - 2; k++) {
    if (m->n_groups) m->groups[m->n_triangles] = m->groups[first->face];
    memcpy(m->triangles[m->n_triangles++], c->made[k], sizeof c->made[k]);
  }
  c->done->holes++;
  c->done->edges += n;
  c->done->faces += n - 2;
  c->done->largest = fmax(c->done->largest, share);
  return CB_OK;
}

/* Follows the border from the edge c->way[start], as long as an unused edge begins where the last one ends. Closes each
 * hole that the path surrounds. */
static cb_status walk(closing *c, int start) {
  cb_status status = CB_OK;
  int n = 0;
  for (int at = start; at >= 0 && !status;) {
    way *w = &c->way[at];
    w->gone = true;
    c->place[w->from] = n;
    c->path[n++] = at;
    const int back = c->place[w->to];
    if (back >= 0) {
      status = close_hole(c, c->path + back, n - back);
      for (; n > back; n--) c->place[c->way[c->path[n - 1]].from] = -1;
    }
    at = next_way(c, w->to);
  }
  for (; n > 0; n--) c->place[c->way[c->path[n - 1]].from] = -1;
  return status;
}

/* Closes each hole whose area is at most `share` of the area that its piece has with the hole closed. *done counts the
 * holes. */
static cb_status mesh_close(cb_mesh *m, double share, cb_surface_mended *done) {
  closing c = {.m = m, .share = share, .capacity = m->n_triangles, .done = done};
  bool good = m->n_vertices < INT_MAX && m->n_triangles < INT_MAX / 3 && find_border(&c);
  const size_t n = (size_t)c.ways + 1;
  c.path = malloc(n * sizeof *c.path);
  c.corner = malloc(n * sizeof *c.corner);
  c.made = malloc(n * sizeof *c.made);
  c.place = malloc((m->n_vertices + 1) * sizeof *c.place);
  good = good && c.path && c.corner && c.made && c.place;
  cb_status status = good ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a mesh of %zu triangles", m->n_triangles);
  for (size_t v = 0; v < m->n_vertices && !status; v++) c.place[v] = -1;
  for (int i = 0; i < c.ways && !status; i++)
    if (!c.way[i].gone) status = walk(&c, i);
  free(c.way);
  free(c.piece);
  free(c.area);
  free(c.path);
  free(c.corner);
  free(c.made);
  free(c.place);
  return status;
}

const cb_surface_mended *cb_surface_how_mended(const cb_surface *s) { return &((const cb_surface_owned *)s)->mended; }

bool cb_surface_is_unscaled(const cb_surface *s) { return ((const cb_surface_owned *)s)->of_file; }

void cb_surface_know_unit(cb_surface *s) { ((cb_surface_owned *)s)->of_file = false; }

bool cb_surface_mended_text(const cb_surface *s, char *text, size_t size) {
  const cb_surface_mended *m = cb_surface_how_mended(s);
  int n = 0;
  if (m->holes)
    n = snprintf(text, size, "%d hole%s of %d edges %s closed by %d face%s, the largest is %.2g %% of its surface",
                 m->holes, m->holes > 1 ? "s" : "", m->edges, m->holes > 1 ? "are" : "is", m->faces,
                 m->faces > 1 ? "s" : "", 100 * m->largest);
  if (m->left && n >= 0 && (size_t)n < size)
    snprintf(text + n, size - (size_t)n, "%s%d hole%s left open, the smallest is %.2g %% of its surface", n ? "; " : "",
             m->left, m->left > 1 ? "s are" : " is", 100 * m->least);
  return m->holes || m->left;
}

/* Removes faces without area from a mesh. If these faces were only deleted, their neighbours would not be connected. In
 * a face (a, b, m) without area the corner m lies on the opposite side a-b, or two corners are at one place. Such a
 * face is removed in one of these ways:
 *
 *   the face (b, a, c) is behind the side a-b    (a, b, m), (b, a, c)  ->  (m, a, c), (m, c, b)
 *   no face is behind the side a-b               the face is deleted
 *   two corners are at one place                 they become one, and each face with both is deleted
 *
 * Faces without area arise when polygons with a corner on a side are cut. They fill the gap between three edges on one
 * line. The surface moves by no more than 1e-9 of an edge.
 */

/* Corners closer than this share of the longest side are at the same place. */
static const double together = 1e-9;

static double distance(const cb_mesh *m, int a, int b) {
  double d[3];
  for (int i = 0; i < 3; i++) d[i] = m->vertices[b][i] - m->vertices[a][i];
  return hypot(hypot(d[0], d[1]), d[2]);
}

/* Returns whether the face f has no area. *longest and *shortest become the corners where the longest and the shortest
 * side begin. *shortest is -1 if no two corners are at one place. */
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

/* Marks faces without area as gone if two of them have the same corners and opposite orientation, because they cancel
 * each other. `side` has the n sides of one edge. Returns whether there are such faces. */
static bool cancel(const cb_mesh *m, const cb_side *side, size_t n, bool *gone) {
  enum { MAXIMUM = 32 };
  bool any = false;
  int longest, shortest;
  for (size_t i = 0; i < n && n <= MAXIMUM; i++)
    for (size_t j = i + 1; j < n; j++) {
      const int f = side[i].face, o = side[j].face;
      if (gone[f] || gone[o] || side[i].forward == side[j].forward) continue;
      if (third(m->triangles[f], side[i].lo, side[i].hi) != third(m->triangles[o], side[i].lo, side[i].hi)) continue;
      if (is_flat(m, (size_t)f, &longest, &shortest)) any = gone[f] = gone[o] = true;
    }
  return any;
}

/* Finds behind[f][k], the face behind the side of face f that begins at corner k. The entry is -1 if there is no such
 * face, and -2 if there are several, or if one runs along the side in the same direction. *more becomes true if some
 * faces have cancelled each other, so that another round is needed. Returns false if there is no memory. */
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

/* Returns whether the face `other`, which is behind the longest side a-b of a face without area, may change in this
 * round. If `other` has no area either, both are changed together if a-b is the longest side of both. Otherwise `other`
 * has to be changed first. */
static bool may_flip(const cb_mesh *m, int other, int a, int b) {
  int longest, shortest;
  if (!is_flat(m, (size_t)other, &longest, &shortest)) return true;
  const int *c = m->triangles[other];
  return shortest < 0 && c[longest] == b && c[(longest + 1) % 3] == a;
}

/* Mends the face f if it has no area. Returns whether the mesh was changed. `touched` marks the faces that were changed
 * in this round, and `gone` those that are deleted after the round. first[v] is the vertex that replaces vertex v.
 *
 * The mesh is not changed if the face has an area, or if several faces, or one with the same direction, are behind its
 * longest side. It is also not changed if the face or a neighbour was changed in this round, or if a neighbour has to
 * change first; a later round may then mend the face. */
static bool mend_face(cb_mesh *m, size_t f, const int (*behind)[3], bool *touched, bool *gone, int *first) {
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

/* Removes faces without area. Vertices may be joined. Each entry of first[n_vertices] is the number of a vertex, and is
 * replaced by the number of the vertex with which this one is joined. */
static cb_status mesh_unflatten(cb_mesh *m, int *first) {
  enum { WORK = 200000000 }; /* maximum number of faces that are examined */
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
      more |= mend_face(m, f, (const int(*)[3])behind, touched, touched + n, joined);
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

/* Returns whether the mesh has a face without area. */
static bool mesh_has_flat(const cb_mesh *m) {
  int longest, shortest;
  for (size_t f = 0; f < m->n_triangles; f++)
    if (is_flat(m, f, &longest, &shortest)) return true;
  return false;
}

/* --- reading --- */

/* Finds the group of every face. All faces without a group get the number m->n_groups. */
static void face_groups(const cb_mesh *m, int *group) {
  for (size_t f = 0; f < m->n_triangles; f++) group[f] = m->groups[f] < 0 ? (int)m->n_groups : m->groups[f];
}

/* If an edge has two faces that belong to two groups, the groups bound one volume together or form one sheet. They
 * therefore become one part. */
static bool unite_groups(const cb_mesh *m, const int *group, int *parent) {
  size_t n = 3 * m->n_triangles;
  cb_side *side = cb_sides_sorted((int)m->n_vertices, (int)m->n_triangles, (const int(*)[3])m->triangles, NULL);
  if (!side) return false;
  for (int g = 0; g <= (int)m->n_groups; g++) parent[g] = g;
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, NULL);
    if (end == i + 2) cb_union_join(parent, group[side[i].face], group[side[i + 1].face]);
  }
  free(side);
  return true;
}

/* Numbers the parts by their first faces. Their names are those of their groups, joined by '+'. */
static int number_parts(const cb_mesh *m, int *group, int *parent, int *number, cb_text *name) {
  int parts = 0, none = (int)m->n_groups;
  for (int g = 0; g <= none; g++) number[g] = -1;
  for (size_t f = 0; f < m->n_triangles; f++) {
    int root = cb_union_find(parent, group[f]);
    if (number[root] < 0) number[root] = parts++;
    if (group[f] != root && number[group[f]] < 0) number[group[f]] = number[root];
    group[f] = number[root];
  }
  for (int g = 0; g <= none; g++) {
    if (number[g] < 0) continue;
    cb_text *text = &name[number[g]];
    if (text->length) cb_text_puts(text, "+");
    cb_text_puts(text, g == none ? "default" : m->group_names[g]);
  }
  return parts;
}

static cb_status build_groups(const cb_mesh *m, cb_surface **out) {
  size_t groups = m->n_groups + 1;
  int *group = malloc(m->n_triangles * sizeof *group), *parent = malloc(2 * groups * sizeof *parent);
  cb_text *name = calloc(groups, sizeof *name);
  const char **names = calloc(groups, sizeof *names);
  bool good = group && parent && name && names;
  if (good) {
    face_groups(m, group);
    good = unite_groups(m, group, parent);
  }
  int parts = good ? number_parts(m, group, parent, parent + groups, name) : 0;
  for (int p = 0; p < parts; p++) {
    good = good && !name[p].failed;
    names[p] = name[p].data;
  }
  cb_status status = good ? cb_surface_build((int)m->n_vertices, (const double(*)[3])m->vertices, (int)m->n_triangles,
                                             (const int(*)[3])m->triangles, group, names, out)
                          : cb_fail(CB_ERROR_MEMORY, "no memory for the groups of a mesh");
  for (size_t g = 0; name && g < groups; g++) cb_text_free(&name[g]);
  free(group);
  free(parent);
  free(name);
  free(names);
  return status;
}

static cb_status build(const cb_mesh *m, cb_surface **out) {
  if (m->n_vertices > INT_MAX || m->n_triangles > INT_MAX / 3)
    return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: a mesh of %zu triangles: expected at most %d", m->name,
                          m->n_triangles, INT_MAX / 3);
  if (m->n_triangles == 0 || m->n_vertices < 3)
    return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: the mesh has no faces: expected at least one", m->name);
  if (m->n_groups) return build_groups(m, out);
  cb_surface *s = NULL;
  bool cavities = false;
  cb_status status = cb_surface_build((int)m->n_vertices, (const double(*)[3])m->vertices, (int)m->n_triangles,
                                      (const int(*)[3])m->triangles, NULL, NULL, &s);
  if (!status) status = cb_surface_unite_cavities(s, &cavities);
  if (!status && cavities)
    status = cb_surface_build((int)m->n_vertices, (const double(*)[3])m->vertices, (int)m->n_triangles,
                              (const int(*)[3])m->triangles, s->part, NULL, out);
  else if (!status)
    *out = s;
  if (status || cavities) cb_surface_free(s);
  return status;
}

static void *copied(const void *from, size_t n, size_t size) {
  void *to = malloc((n + 1) * size);
  if (to && n) memcpy(to, from, n * size);
  return to;
}

/* Mends the mesh. Vertices are joined first, because this closes many holes. Faces without area are removed last,
 * unless how->posed is set. first[v] becomes the vertex with which vertex v is joined. */
static cb_status mend(cb_mesh *m, const cb_mending *how, int *first, cb_surface_mended *done) {
  cb_status status = CB_OK;
  *done = (cb_surface_mended){.tolerance = how->weld ? how->tolerance : 0};
  if (how->weld)
    status = cb_weld(m, how->tolerance, first);
  else
    for (size_t i = 0; i < m->n_vertices; i++) first[i] = (int)i;
  if (!status && how->close > 0) status = mesh_close(m, how->close, done);
  if (!status && !how->posed && mesh_has_flat(m)) status = mesh_unflatten(m, first);
  return status;
}

static cb_status make(const cb_mesh *m, const cb_mending *how, cb_surface **out) {
  static const cb_mending nothing = {.weld = false};
  if (!how) how = &nothing;
  if (!how->weld && !(how->close > 0) && (how->posed || !mesh_has_flat(m))) return build(m, out);
  cb_mesh mended = *m;
  cb_surface_mended done;
  int *first = malloc((m->n_vertices + 1) * sizeof *first);
  mended.triangles = copied(m->triangles, m->n_triangles, sizeof *m->triangles);
  mended.groups = copied(m->groups, m->n_groups ? m->n_triangles : 0, sizeof *m->groups);
  cb_status status = first && mended.triangles && mended.groups
                         ? mend(&mended, how, first, &done)
                         : cb_fail(CB_ERROR_MEMORY, "no memory for a mesh of %zu triangles", m->n_triangles);
  if (!status) status = build(&mended, out);
  for (size_t i = 0; !status && i < m->n_vertices; i++) (*out)->vertex[i] = (*out)->vertex[first[i]];
  if (!status) ((cb_surface_owned *)*out)->mended = done;
  free(first);
  free(mended.triangles);
  free(mended.groups);
  return status;
}

cb_status cb_surface_of_mesh(const cb_mesh *m, const cb_mending *how, cb_surface **out) {
  const cb_status status = make(m, how, out);
  if (!status) ((cb_surface_owned *)*out)->of_file = true;
  return status;
}

cb_status cb_surface_read_mesh(const char *path, const cb_mesh_reading *how, cb_mesh **out) {
  char *bytes;
  size_t n;
  cb_status status = cb_read_whole_file(path, CB_MESH_LARGEST, &bytes, &n);
  if (status) return status;
  status = cb_mesh_read_text(path, bytes, n, cb_mesh_format_of(path, bytes, n), how, out);
  free(bytes);
  return status;
}

cb_status cb_surface_read_mended(const char *path, const cb_mending *how, cb_surface **out) {
  cb_mesh *mesh = NULL;
  cb_status status = cb_surface_read_mesh(path, NULL, &mesh);
  if (!status) status = cb_surface_of_mesh(mesh, how, out);
  cb_mesh_free(mesh);
  return status;
}

cb_status cb_surface_read(const char *path, bool weld, cb_surface **out) {
  const cb_mending how = {.weld = weld};
  return cb_surface_read_mended(path, &how, out);
}
