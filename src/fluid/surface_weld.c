/* Vertices that stand at one place, number by number: joined, or counted where a surface has borders. */
#include "fluid/surface_private.h"
#include "numerics/distinct.h"

#include <stdlib.h>
#include <string.h>

/* Points one after another: the number of the first that stood where each does. */
typedef struct places {
  cb_distinct distinct;
  double (*x)[3];
  int *first; /* [distinct] */
} places;

static void end(places *p) {
  cb_distinct_end(&p->distinct);
  free(p->x);
  free(p->first);
}

static cb_status begin(places *p, size_t most) {
  *p = (places){.x = malloc((most + 1) * sizeof *p->x), .first = malloc((most + 1) * sizeof *p->first)};
  const cb_status status = p->x && p->first ? cb_distinct_begin(&p->distinct, most, p->x)
                                            : cb_fail(CB_ERROR_MEMORY, "no memory for %zu places", most);
  if (status) end(p);
  return status;
}

static int first_at(places *p, int number, const double x[3]) {
  const size_t before = p->distinct.n;
  const int place = cb_distinct_add(&p->distinct, x);
  if (p->distinct.n > before) p->first[place] = number;
  return p->first[place];
}

cb_status cb_weld(cb_mesh *m, int *first) {
  places p;
  const cb_status status = begin(&p, m->n_vertices);
  if (status) return status;
  for (size_t i = 0; i < m->n_vertices; i++) first[i] = -1;
  for (size_t f = 0; f < m->n_triangles; f++)
    for (int k = 0; k < 3; k++) first[m->triangles[f][k]] = 0;
  for (size_t i = 0; i < m->n_vertices; i++)
    first[i] = first[i] < 0 ? (int)i : first_at(&p, (int)i, m->vertices[i]);
  end(&p);
  size_t kept = 0;
  for (size_t f = 0; f < m->n_triangles; f++) {
    const int *c = m->triangles[f], v[3] = {first[c[0]], first[c[1]], first[c[2]]};
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
    memcpy(m->triangles[kept], v, sizeof v);
    if (m->n_groups) m->groups[kept] = m->groups[f];
    kept++;
  }
  m->n_triangles = kept;
  return CB_OK;
}

int cb_surface_torn(const cb_surface *s, const double (*listed)[3]) {
  for (int i = 0; i < s->listed; i++) {
    if (s->vertex[i] < 0) continue;
    const double *a = listed[i], *b = listed[s->number[s->vertex[i]] - 1];
    if (a[0] != b[0] || a[1] != b[1] || a[2] != b[2]) return i;
  }
  return -1;
}

cb_status cb_surface_seams(const cb_surface *s, int *n) {
  cb_surface_edge *edge;
  int edges;
  bool *border = calloc((size_t)s->vertices, sizeof *border);
  if (!border) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  cb_status status = cb_surface_edges(s, &edge, &edges);
  if (status) return free(border), status;
  for (int i = 0; i < edges; i++)
    if (edge[i].face[1] < 0) border[edge[i].a] = border[edge[i].b] = true;
  free(edge);
  places p;
  *n = 0;
  if (!(status = begin(&p, (size_t)s->vertices))) {
    for (int v = 0; v < s->vertices; v++)
      if (border[v]) *n += first_at(&p, v, s->x[v]) != v;
    end(&p);
  }
  free(border);
  return status;
}
