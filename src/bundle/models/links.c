/* A tree of links in the plane or in space, by resistive-force theory or without momentum (equations: bundle/links.h).
 *
 * Links and base are counted from 0, parents before children; the first link has no parent. The body frame is that of
 * the base: x along it. Radians, lengths; k_t in force time/length^2. Singular where a motion of the locked body has
 * no drag, or no mass.
 */
#include "bundle/links.h"

#include <stdlib.h>

#define NUMBER(field, fallback, unit, range, doc) \
  { #field, CB_PARAM_REAL, offsetof(cb_link_tree_params, field), fallback, unit, range, NULL, doc }
#define NODE(field, fallback, doc) \
  { #field, CB_PARAM_NODE, offsetof(cb_link_tree_params, field), fallback, "", "", NULL, doc }

static const cb_param params[] = {
    {"space", CB_PARAM_CHOICE, offsetof(cb_link_tree_params, space), "plane", "", "", "plane|space", "where links are"},
    {"of", CB_PARAM_CHOICE, offsetof(cb_link_tree_params, of), "drag", "", "", "drag|inertia", "what resists"},
    NODE(shape, NULL, "list: names of the shape variables"),
    NODE(parameters, "", "map: names that stand for numbers; each may use those before it"),
    NODE(links, NULL, "list of {length, parent, at, axis, angle, offset, rest, drag, ratio, turn, spin, mass, radius}"),
    NODE(period, "", "map: periods of shape variables that are angles"),
    {"base", CB_PARAM_INT, offsetof(cb_link_tree_params, base), "0", "", ">= 0", NULL, "link of the body frame"},
    NUMBER(origin, "0.5", "", "[0, 1]", "of the body frame, on the base's length"),
    NUMBER(drag, "1", "force time/length^2", ">= 0", "k_t, along a link, by length"),
    NUMBER(ratio, "2", "", ">= 0", "of drag across to drag along"),
    NUMBER(turn, "nan", "", ">= 0", "rotational drag/(k_t l^3); ratio/12"),
    NUMBER(spin, "0", "", ">= 0", "rotational drag about the own axis/(k_t l^3)"),
    NUMBER(density, "1", "mass/length", ">= 0", "of links of inertia"),
    NUMBER(radius, "0", "length", ">= 0", "of links of inertia"),
    {0},
};

static void destroy(cb_bundle *b) {
  cb_link_tree_free(b->self);
  b->self = NULL;
}

static cb_status init(cb_bundle *b, const void *given) {
  b->self = calloc(1, sizeof(cb_link_tree));
  return b->self ? cb_link_tree_read(b, b->self, given) : cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  return cb_link_tree_connection(b->self, r, A, dA, M, dM);
}

static cb_status form(const cb_bundle *b, const double *r, double *G) { return cb_link_tree_form(b->self, r, G); }

static cb_status picture(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  return cb_link_tree_picture(b->self, r, g, x);
}

const cb_bundle_class cb_bundle_links = {
    .name = "links",
    .title = "a tree of links",
    .doc = "links joined by hinges, in the plane or in space, by drag or without momentum",
    .params = params,
    .params_size = sizeof(cb_link_tree_params),
    .init = init,
    .destroy = destroy,
    .connection = connection,
    .form = form,
    .picture = picture,
};
