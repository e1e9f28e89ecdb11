/* Masses, charges and springs of bodies: see place.h. */
#include "bodies/place.h"
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
  cb_status status = cb_builder_origin(b, &p->origin);
  for (int i = 0; i < p->n && !status; i++) {
    const double *x = g->chart ? p->q + (size_t)i * (size_t)g->dim : p->x + (size_t)i * (size_t)g->embedding;
    const double *v = g->chart ? p->u + (size_t)i * (size_t)g->dim : p->v + (size_t)i * (size_t)g->embedding;
    int index;
    if (!(mass[i] > 0) || !isfinite(mass[i]))
      return cb_node_fail(matter->masses ? matter->masses->items[i] : body,
                          "mass of particle %d: expected a number > 0, found %g", i, mass[i]);
    status = cb_builder_particle(b, NULL, mass[i], charge[i], matter->radius, x, v, &index);
    if (status) return cb_place_fail(p->points ? p->points->items[i] : p->node, status);
    if (i == 0) *first = index;
  }
  return status;
}

cb_status cb_places_add(const cb_places *p, const cb_node *body, const cb_matter *matter, const double *mass,
                        cb_builder *b, int *first) {
  cb_status status = CB_OK;
  double *value = malloc(2 * (size_t)p->n * sizeof *value), *charge = value + p->n;
  if (!value) return cb_fail(CB_ERROR_MEMORY, "no memory for %d masses", p->n);
  if (mass)
    memcpy(value, mass, (size_t)p->n * sizeof *value);
  else
    status = read_list(matter->masses, "masses", "mass", body, p->n, matter->mass, value);
  if (!status) status = read_list(matter->charges, "charges", "charge", body, p->n, matter->charge, charge);
  if (!status) status = add_particles(p, body, matter, value, charge, b, first);
  free(value);
  return status;
}

cb_status cb_link_read(const cb_node *link, cb_spring_data *spring) {
  static const cb_param rows[] = {CB_SPRING_ROWS(
                                      struct { cb_spring_data s; }, s),
                                  {.name = NULL}};
  static const char *const keys[] = {"spring"};
  cb_status status = cb_node_check_keys(link, keys, 1);
  if (status) return status;
  const cb_node *node = cb_node_get(link, "spring");
  if (link && !node) return cb_node_fail(link, "link: expected {spring: {stiffness: .., rest: ..}}");
  return cb_params_bind(rows, node && node->kind == CB_NODE_NULL ? NULL : node, node, NULL, 0, spring);
}

cb_status cb_link_add(cb_builder *b, const cb_node *node, int i, int j, const cb_spring_data *spring) {
  double rest = isnan(spring->rest) ? -1 : spring->rest;
  cb_status status = cb_builder_spring(b, i, j, spring->stiffness, rest, spring->damping);
  return status ? cb_place_fail(node, status) : CB_OK;
}
