/* A tree of links in the plane or in space, by resistive-force theory or without momentum (equations: bundle/links.h).
 *
 * Links and base are counted from 0. A parent has a lower number than its children; the first link has no parent. The
 * body frame is the frame of the base, with x along it. Units: radians, lengths; drag k_t per length in force
 * time/length^2. A shape is singular if a motion of the locked body has no drag, or no mass.
 */
#include "bundle/links.h"

#include <stdlib.h>

#define NUMBER(field, fallback, unit, range, doc) \
  { #field, CB_PARAM_REAL, offsetof(cb_link_tree_params, field), fallback, unit, range, NULL, doc }
#define NODE(field, fallback, doc) \
  { #field, CB_PARAM_NODE, offsetof(cb_link_tree_params, field), fallback, "", "", NULL, doc }

static const cb_param params[] = {
    {"space", CB_PARAM_CHOICE, offsetof(cb_link_tree_params, space), "plane", "", "", "plane|space",
     "space of the links"},
    {"of", CB_PARAM_CHOICE, offsetof(cb_link_tree_params, of), "drag", "", "", "drag|inertia",
     "drag: resistive-force theory; inertia: no momentum"},
    NODE(shape, NULL, "list: names of the shape variables"),
    NODE(parameters, "", "map: names of constants; a value may use the names before it"),
    NODE(links, NULL, "list of {length, parent, at, axis, angle, offset, rest, drag, ratio, turn, spin, mass, radius}"),
    NODE(period, "", "map: periods of shape variables that are angles"),
    {"base", CB_PARAM_INT, offsetof(cb_link_tree_params, base), "0", "", ">= 0", NULL,
     "link that carries the body frame"},
    NUMBER(origin, "0.5", "", "[0, 1]", "origin of the body frame, as a fraction of the length of the base"),
    NUMBER(drag, "1", "force time/length^2", ">= 0", "drag k_t along a link, per length"),
    NUMBER(ratio, "2", "", ">= 0", "drag across a link divided by drag along it"),
    NUMBER(turn, "nan", "", ">= 0", "rotational drag divided by k_t l^3; default: ratio/12"),
    NUMBER(spin, "0", "", ">= 0", "rotational drag about the axis of the link, divided by k_t l^3"),
    NUMBER(density, "1", "mass/length", ">= 0", "mass per length of links with `of: inertia`"),
    NUMBER(radius, "0", "length", ">= 0", "radius of links with `of: inertia`"),
    {0},
};

static void destroy(cb_bundle *b) {
  cb_link_tree_free(b->self);
  b->self = NULL;
}

static cb_status init(cb_bundle *b, const void *given) {
  b->resistance = ((const cb_link_tree_params *)given)->of ? CB_RESISTANCE_INERTIA : CB_RESISTANCE_DRAG;
  b->self = calloc(1, sizeof(cb_link_tree));
  return b->self ? cb_link_tree_read(b, b->self, given) : cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  return cb_link_tree_connection(b->self, r, A, dA, M, dM);
}

static cb_status form(const cb_bundle *b, const double *r, double *G, double *dG) {
  return cb_link_tree_form(b->self, r, G, dG);
}

static cb_status strain(const cb_bundle *b, const double *r, double *S) { return cb_link_tree_strain(b->self, r, S); }

static cb_status plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  return cb_link_tree_plot(b->self, r, g, x);
}

const cb_bundle_class cb_bundle_links = {
    .name = "links",
    .title = "a tree of links",
    .doc = "links joined by hinges, in the plane or in space, with drag or without momentum",
    .params = params,
    .params_size = sizeof(cb_link_tree_params),
    .init = init,
    .destroy = destroy,
    .connection = connection,
    .form = form,
    .plot = plot,
    .strain = strain,
};
