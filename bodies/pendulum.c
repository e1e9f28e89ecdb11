/* A spherical pendulum: one particle x, joined to a point of the space by a rod of length D, d(x, pivot) = D, or by a
 * spring of stiffness k and rest length D, of energy V = (k/2) (d(x, pivot) - D)^2; d is the distance. The particle is
 * the single point of `place`, or exp_pivot(tangent). */
#include "bodies/link.h"
#include <curvebody/pair_potential.h>
#include <math.h>
#include <stdio.h>

typedef struct params {
  const cb_node *link, *pivot, *tangent;
  cb_matter matter;
} params;

static const cb_param rows[] = {
    {"pivot", CB_PARAM_NODE, offsetof(params, pivot), NULL, "", "", "",
     "the pivot {chart: .., point: [..]}; `move` of place also moves it"},
    {"tangent", CB_PARAM_NODE, offsetof(params, tangent), "", "units of length", "", "",
     "vector from the pivot to the particle, in the frame there; instead of place.points"},
    {"link", CB_PARAM_NODE, offsetof(params, link), "", "", "", "",
     "rod, {rod: {length: ..}} or {spring: {stiffness: 1, rest: ..}}; if absent, a rod"},
    CB_MATTER_ROWS(params, matter),
    {.name = NULL},
};

static cb_status place(const params *p, const cb_node *node, const cb_space *g, cb_places *places) {
  if (!p->tangent) return cb_places_read(places, node, g, 1, true);
  const cb_node *given = cb_node_get(node, "place");
  double tangent[CB_DIM_MAX];
  if (cb_node_get(given, "points") || cb_node_get(given, "tangent"))
    return cb_node_fail(p->tangent, "tangent: given next to a point in `place`, expected one of the two");
  cb_status status = cb_node_reals(p->tangent, (size_t)g->dim, tangent);
  return status ? status : cb_places_make(places, node, g, p->pivot, 1, tangent);
}

/* Returns a number of the spring as text for an expression. */
static const char *text_of(cb_target target, char text[32]) {
  snprintf(text, 32, "%.17g", target.value);
  return target.expression ? target.expression : text;
}

/* Adds the spring to the pivot. If its numbers depend on the time, its energy is an expression of d and t. */
static cb_status add_spring(const cb_spring_data *spring, const double *pivot, cb_builder *b) {
  const int body = cb_builder_bodies(b) - 1;
  const cb_target k = spring->stiffness, rest = spring->rest;
  if (!k.expression && !rest.expression)
    return cb_builder_central(b, body, "harmonic", &(cb_pair_parameters){k.value, rest.value, NULL}, pivot);
  char stiffness[32], length[32], text[4096];
  const int size = snprintf(text, sizeof text, "(%s)/2*(d - (%s))^2", text_of(k, stiffness), text_of(rest, length));
  if (size >= (int)sizeof text) return cb_fail(CB_ERROR_ARGUMENT, "spring: expected shorter expressions of t");
  return cb_builder_central(b, body, "expression", &(cb_pair_parameters){.expression = text}, pivot);
}

static cb_status join(const params *p, const cb_node *where, const cb_body_link *link, const double *pivot, int i,
                      const cb_origin *origin, cb_builder *b) {
  const cb_target damping = link->spring.damping;
  char found[32];
  if (!link->rigid && (damping.expression || damping.value > 0))
    return cb_node_fail(p->link, "link: expected a spring without damping, found %s", text_of(damping, found));
  cb_status status = cb_builder_centre_origin(b, origin);
  if (!status)
    status = link->rigid ? cb_builder_distance_to_point(b, NULL, i, pivot, link->length)
                         : add_spring(&link->spring, pivot, b);
  if (!status) status = cb_builder_centre_origin(b, NULL);
  return status ? cb_place_fail(where, status) : CB_OK;
}

static cb_status fill(const params *p, const cb_node *node, const cb_space *space, cb_builder *b, cb_places *places) {
  cb_body_link link;
  int i = 0;
  cb_status status = cb_link_read(b, p->link, true, &link);
  if (!status) status = place(p, node, space, places);
  if (!status) status = cb_places_hold(places, p->pivot, "pivot");
  if (status) return status;
  const double length = cb_place_apart(space, cb_places_at(places, 0), cb_places_at(places, 1));
  if (isnan(link.spring.rest.value) && !link.spring.rest.expression) link.spring.rest.value = length;
  status = cb_places_add(places, node, &p->matter, NULL, b, &i);
  return status ? status : join(p, p->pivot, &link, cb_places_at(places, 1), i, places->origin, b);
}

static cb_status build(const void *given, const cb_node *node, const cb_space *space, cb_builder *b) {
  cb_places places = {0};
  cb_status status = fill(given, node, space, b, &places);
  cb_places_free(&places);
  return status;
}

const cb_body_class cb_body_pendulum = {
    .name = "pendulum",
    .title = "spherical pendulum",
    .doc = "A particle joined to a point of the space by a rod or a spring.",
    .params = rows,
    .params_size = sizeof(params),
    .build = build,
};
