/* Small holes of a mesh are closed by faces between the vertices that are there.
 *
 * The border is walked against its faces; where it comes back to a vertex, a loop of it is cut off and is a hole. A hole
 * is closed when the faces in it are at most the given share of the area of its piece with them (pieces hang together by
 * edges): a missing triangle is, the rim of a cup or of a leaf is not. The faces are those of a polygon
 * (numerics/mesh_polygon.h); where the hole is not plane, a fan from the corner that makes the smallest area.
 */
#include "fluid/surface_private.h"
#include "numerics/mesh_polygon.h"
#include "numerics/vec3.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The way of a hole along an edge: against the face that has it. */
typedef struct way {
  int from, to, face;
  bool gone;
} way;

typedef struct closing {
  cb_mesh *m;
  double share;
  way *way;
  int ways;
  int *piece; /* [faces] */
  double *area;
  int *path, *place; /* of the walk: ways; where in it each vertex is, -1 for nowhere */
  int *corner, (*made)[3];
  size_t room; /* of triangles */
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

/* Pieces with their areas, and the ways of their borders. */
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

/* The first way from a vertex that is not gone; -1: there is none. */
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

/* The faces in a hole of n corners, into made; their area. CB_ERROR_MEMORY */
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
    if (other < *area) best = first, *area = other;
  }
  fan(c, n, best, c->made);
  return CB_OK;
}

static bool make_room(closing *c, size_t more) {
  cb_mesh *m = c->m;
  if (m->n_triangles + more <= c->room) return true;
  c->room = 2 * (m->n_triangles + more);
  int(*triangles)[3] = realloc(m->triangles, c->room * sizeof *triangles);
  if (triangles) m->triangles = triangles;
  int *groups = m->n_groups ? realloc(m->groups, c->room * sizeof *groups) : NULL;
  if (groups) m->groups = groups;
  return triangles && (groups || !m->n_groups);
}

/* The last n ways of the path, which come back to where they began. */
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
  if (!make_room(c, (size_t)n)) return cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", n);
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

/* From a way on until the border ends or all of it is used. */
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

cb_status cb_mesh_close(cb_mesh *m, double share, cb_surface_mended *done) {
  closing c = {.m = m, .share = share, .room = m->n_triangles, .done = done};
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
    n = snprintf(text, size, "%d hole%s of %d edges %s closed by %d face%s, the largest of %.2g %% of its surface",
                 m->holes, m->holes > 1 ? "s" : "", m->edges, m->holes > 1 ? "are" : "is", m->faces,
                 m->faces > 1 ? "s" : "", 100 * m->largest);
  if (m->left && n >= 0 && (size_t)n < size)
    snprintf(text + n, size - (size_t)n, "%s%d hole%s left open, the smallest of %.2g %% of its surface", n ? "; " : "",
             m->left, m->left > 1 ? "s are" : " is", 100 * m->least);
  return m->holes || m->left;
}
