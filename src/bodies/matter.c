/* Masses and charges of bodies: see place.h. */
#include "bodies/place.h"
#include "dynamics/bases.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* n numbers of a list, or the one number for all. */
static cb_status read_list(const cb_node *list, const char *name, const char *single, const cb_node *body, int n,
                           double one, double *value) {
  for (int i = 0; i < n; i++) value[i] = one;
  if (!list) return CB_OK;
  if (cb_node_get(body, single))
    return cb_node_fail(list, "%s: given beside `%s`, expected one of the two", name, single);
  if (list->kind != CB_NODE_LIST || list->count != (size_t)n)
    return cb_node_fail(list, "%s: expected a list of %d numbers, found %zu", name, n, list->count);
  return cb_node_reals(list, (size_t)n, value);
}

static cb_status add_particles(const cb_places *p, const cb_node *body, const cb_matter *matter, const double *mass,
                               const double *charge, cb_builder *b, int *first) {
  const cb_geometry *g = p->space;
  cb_status status = CB_OK;
  for (int i = 0; i < p->n && !status; i++) {
    const double *x = cb_places_at(p, i);
    const double *v = g->chart ? p->u + (size_t)i * (size_t)g->dim : p->v + (size_t)i * (size_t)g->embedding;
    int index;
    if (!(mass[i] > 0) || !isfinite(mass[i]))
      return cb_node_fail(matter->masses ? matter->masses->items[i] : body,
                          "mass of particle %d: expected a number > 0, found %g", i, mass[i]);
    const int f = p->frame[i];
    status = p->placed ? cb_builder_moved_origin(b, &p->origin[f], &p->move, &p->placed[f])
                       : cb_builder_origin(b, &p->origin[f]);
    if (status) return status;
    status = cb_builder_particle(b, NULL, mass[i], charge[i], matter->radius, x, v, &index);
    if (status) return cb_place_fail(p->points ? p->points->items[i] : p->node, status);
    if (i == 0) *first = index;
  }
  return status;
}

cb_status cb_places_add(cb_places *p, const cb_node *body, const cb_matter *matter, const double *mass, cb_builder *b,
                        int *first) {
  cb_status status = cb_places_set_moving(p, body);
  if (status) return status;
  double *value = malloc(2 * (size_t)p->n * sizeof *value);
  if (!value) return cb_fail(CB_ERROR_MEMORY, "no memory for %d masses", p->n);
  double *charge = value + p->n;
  if (mass)
    memcpy(value, mass, (size_t)p->n * sizeof *value);
  else
    status = read_list(matter->masses, "masses", "mass", body, p->n, matter->mass, value);
  if (!status) status = read_list(matter->charges, "charges", "charge", body, p->n, matter->charge, charge);
  if (!status) status = add_particles(p, body, matter, value, charge, b, first);
  free(value);
  return status;
}
