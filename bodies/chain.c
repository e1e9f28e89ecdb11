/* A chain: particles in a row, each joined to the next by a rod, which keeps their distance, or by a spring.
 *
 *   x_i = exp_from(i length/(count - 1) along/|along|),  or points as listed in `place`
 * x_i: position of particle i, from 0 to count - 1; exp: the exponential map at `from`; length, count, from and along:
 * keys of the body.
 */
#include "bodies/link.h"
#include <math.h>
#include <stdlib.h>

enum { MAXIMUM = 10000000 };

typedef struct params {
  int count, fixed;
  double length;
  const cb_node *link, *from, *along;
  cb_matter matter;
} params;

enum { NONE, FIRST, LAST, BOTH };

static const cb_param rows[] = {
    {"link", CB_PARAM_NODE, offsetof(params, link), "", "", "", "",
     "rod, {rod: {length: ..}} or {spring: {stiffness: 1, rest: .., damping: 0}}; if absent, rods"},
    {"count", CB_PARAM_INT, offsetof(params, count), "0", "", ">= 0", "",
     "number of particles along a geodesic, instead of place.points; 0: the listed points"},
    {"length", CB_PARAM_REAL, offsetof(params, length), "nan", "units of length", "> 0", "",
     "with count: length of the complete chain"},
    {"from", CB_PARAM_NODE, offsetof(params, from), "", "", "", "",
     "with count: position {chart: .., point: [..]} of the first particle; if absent, the base point"},
    {"along", CB_PARAM_NODE, offsetof(params, along), "", "", "", "",
     "with count: direction in the frame at `from`; if absent, its first axis"},
    {"fixed", CB_PARAM_CHOICE, offsetof(params, fixed), "none", "", "", "none|first|last|both",
     "the ends that are held fixed (both: a chain of rods must not be straight at the start)"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

static cb_status check_keys(const params *p, const cb_node *node) {
  static const char *const line[] = {"length", "from", "along"};
  const cb_node *count = cb_node_get(node, "count"), *place = cb_node_get(node, "place");
  if (!p->count) {
    for (int k = 0; k < 3; k++)
      if (cb_node_get(node, line[k]))
        return cb_node_fail(cb_node_get(node, line[k]), "%s: expected `count` next to it", line[k]);
    return CB_OK;
  }
  if (p->count < 2 || p->count > MAXIMUM)
    return cb_node_fail(count, "count: expected an integer from 2 to %d, found %d", MAXIMUM, p->count);
  if (isnan(p->length)) return cb_node_fail(node, "missing key 'length': expected the length of the complete chain");
  if (cb_node_get(place, "points") || cb_node_get(place, "tangent"))
    return cb_node_fail(count, "count: given next to points in `place`, expected one of the two");
  return CB_OK;
}

/* Places the particles on a geodesic. */
static cb_status make(const params *p, const cb_node *node, const cb_space *g, cb_places *places) {
  double along[CB_DIM_MAX] = {1}, size = 0;
  cb_status status = p->along ? cb_node_reals(p->along, (size_t)g->dim, along) : CB_OK;
  if (status) return status;
  for (int a = 0; a < g->dim; a++) size = hypot(size, along[a]);
  if (!(size > 0)) return cb_node_fail(p->along, "along: expected a direction, found a vector of length 0");
  double *tangent = malloc((size_t)p->count * (size_t)g->dim * sizeof *tangent);
  if (!tangent) return cb_fail(CB_ERROR_MEMORY, "no memory for a chain of %d particles", p->count);
  for (int i = 0; i < p->count; i++)
    for (int a = 0; a < g->dim; a++) tangent[i * g->dim + a] = p->length * i / (p->count - 1) * along[a] / size;
  status = cb_places_make(places, node, g, p->from, p->count, tangent);
  free(tangent);
  return status;
}

static cb_status pin(cb_builder *b, const cb_node *where, int i) {
  cb_status status = cb_builder_pin(b, NULL, i, NULL);
  return status ? cb_place_fail(where, status) : CB_OK;
}

static cb_status fill(const params *p, const cb_node *node, const cb_space *space, cb_builder *b, cb_places *places) {
  cb_body_link link;
  int first = 0;
  cb_status status = cb_link_read(b, p->link, true, &link);
  if (!status) status = check_keys(p, node);
  if (!status) status = p->count ? make(p, node, space, places) : cb_places_read(places, node, space, -1, true);
  if (!status && places->n < 2)
    status = cb_node_fail(places->points, "points: expected at least 2 points, found %d", places->n);
  if (!status) status = cb_places_add(places, node, &p->matter, NULL, b, &first);
  for (int i = 0; i + 1 < places->n && !status; i++)
    status = cb_link_add(b, places->points ? places->points->items[i] : node, first + i, first + i + 1, &link);
  const cb_node *fixed = cb_node_get(node, "fixed");
  if (!status && (p->fixed == FIRST || p->fixed == BOTH)) status = pin(b, fixed, first);
  if (!status && (p->fixed == LAST || p->fixed == BOTH)) status = pin(b, fixed, first + places->n - 1);
  return status;
}

static cb_status build(const void *given, const cb_node *node, const cb_space *space, cb_builder *b) {
  cb_places places = {0};
  cb_status status = fill(given, node, space, b, &places);
  cb_places_free(&places);
  return status;
}

const cb_body_class cb_body_chain = {
    .name = "chain",
    .title = "chain",
    .doc = "Particles in a row, each joined to the next by a rod or a spring.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
