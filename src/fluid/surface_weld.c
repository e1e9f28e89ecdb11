/* Vertices that stand at one place, or within a tolerance of each other, become one.
 *
 * Vertices are taken in order. One joins the first that was kept within the tolerance, and is kept where there is none,
 * so that kept ones are more than the tolerance apart. Those within reach are looked for in a grid of cells as wide as
 * the tolerance; with a tolerance of 0 numbers are compared.
 */
#include "fluid/surface_private.h"
#include "numerics/distinct.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct cb_clusters {
  double tolerance;
  cb_distinct distinct; /* tolerance 0 */
  double (*x)[3];       /* [kept] */
  int *first;           /* [kept] the number of each */
  int *head, *next;     /* of the grid: the last one kept in a cell, and the one before it; -1 for none */
  size_t kept, mask;
};

void cb_clusters_free(cb_clusters *p) {
  if (!p) return;
  cb_distinct_end(&p->distinct);
  free(p->x);
  free(p->first);
  free(p->head);
  free(p->next);
  free(p);
}

cb_status cb_clusters_create(size_t most, double tolerance, cb_clusters **out) {
  size_t room = 16;
  while (room < 2 * most) room *= 2;
  cb_clusters *p = calloc(1, sizeof *p);
  if (!p) return cb_fail(CB_ERROR_MEMORY, "no memory for places");
  *p = (cb_clusters){.tolerance = tolerance,
                     .x = malloc((most + 1) * sizeof *p->x),
                     .first = malloc((most + 1) * sizeof *p->first),
                     .mask = room - 1};
  if (tolerance > 0) p->head = malloc(room * sizeof *p->head), p->next = malloc((most + 1) * sizeof *p->next);
  cb_status status = p->x && p->first && (!(tolerance > 0) || (p->head && p->next))
                         ? CB_OK
                         : cb_fail(CB_ERROR_MEMORY, "no memory for %zu places", most);
  if (!status && tolerance > 0) memset(p->head, 0xff, room * sizeof *p->head);
  if (!status && !(tolerance > 0)) status = cb_distinct_begin(&p->distinct, most, p->x);
  if (status)
    cb_clusters_free(p);
  else
    *out = p;
  return status;
}

static size_t bucket(const cb_clusters *p, const double cell[3]) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (int k = 0; k < 3; k++) {
    const double at = cell[k] + 0.0; /* one zero instead of two */
    uint64_t bits;
    memcpy(&bits, &at, sizeof bits);
    h = (h ^ bits) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
  }
  return (h ^ h >> 32) & p->mask;
}

/* The lowest of those kept within the tolerance of x; -1: there is none. Cells are twice as wide, so that those are in
 * the cell of x and the ones on the nearer sides. */
static int find_near(const cb_clusters *p, const double x[3], const double cell[3]) {
  double side[3];
  int found = -1;
  for (int k = 0; k < 3; k++) side[k] = x[k] / (2 * p->tolerance) - cell[k] < 0.5 ? -1 : 1;
  for (int i = 0; i < 8; i++) {
    const double beside[3] = {cell[0] + (i & 1) * side[0], cell[1] + (i >> 1 & 1) * side[1],
                              cell[2] + (i >> 2) * side[2]};
    for (int q = p->head[bucket(p, beside)]; q >= 0; q = p->next[q]) {
      const double *y = p->x[q], d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
      if ((found < 0 || q < found) && sqrt(cb_dot3(d, d)) <= p->tolerance) found = q;
    }
  }
  return found;
}

int cb_clusters_add(cb_clusters *p, int number, const double x[3]) {
  if (!(p->tolerance > 0)) {
    const size_t before = p->distinct.n;
    const int place = cb_distinct_add(&p->distinct, x);
    if (p->distinct.n > before) p->first[place] = number;
    return p->first[place];
  }
  const double width = 2 * p->tolerance, cell[3] = {floor(x[0] / width), floor(x[1] / width), floor(x[2] / width)};
  const int found = find_near(p, x, cell);
  if (found >= 0) return p->first[found];
  const size_t at = bucket(p, cell);
  memcpy(p->x[p->kept], x, sizeof *p->x);
  p->first[p->kept] = number;
  p->next[p->kept] = p->head[at];
  p->head[at] = (int)p->kept++;
  return number;
}

void cb_mesh_renumber(cb_mesh *m, const int *first) {
  size_t kept = 0;
  for (size_t f = 0; f < m->n_triangles; f++) {
    const int *c = m->triangles[f], v[3] = {first[c[0]], first[c[1]], first[c[2]]};
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
    memcpy(m->triangles[kept], v, sizeof v);
    if (m->n_groups) m->groups[kept] = m->groups[f];
    kept++;
  }
  m->n_triangles = kept;
}

cb_status cb_weld(cb_mesh *m, double tolerance, int *first) {
  cb_clusters *p = NULL;
  const cb_status status = cb_clusters_create(m->n_vertices, tolerance, &p);
  if (status) return status;
  for (size_t i = 0; i < m->n_vertices; i++) first[i] = -1;
  for (size_t f = 0; f < m->n_triangles; f++)
    for (int k = 0; k < 3; k++) first[m->triangles[f][k]] = 0;
  for (size_t i = 0; i < m->n_vertices; i++)
    first[i] = first[i] < 0 ? (int)i : cb_clusters_add(p, (int)i, m->vertices[i]);
  cb_clusters_free(p);
  cb_mesh_renumber(m, first);
  return CB_OK;
}

int cb_surface_torn(const cb_surface *s, const double (*listed)[3]) {
  const double within = ((const cb_surface_owned *)s)->mended.tolerance;
  for (int i = 0; i < s->listed; i++) {
    if (s->vertex[i] < 0) continue;
    const double *a = listed[i], *b = listed[s->number[s->vertex[i]] - 1];
    if (!(hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]) <= within)) return i;
  }
  return -1;
}
