/* Points with masses whose positions are functions of the shape, without momentum (equations: bundle/points.h).
 *
 * The positions are coordinates in a chart of the space, given as expressions of the shape variables. Units: lengths,
 * masses. A shape is singular if a motion of the space leaves every point at rest, such as points on one line in E3, S3
 * or H3.
 */
#include "bundle/points.h"

#define NODE(field, fallback, doc) \
  { #field, CB_PARAM_NODE, offsetof(cb_points_params, field), fallback, "", "", NULL, doc }

static const cb_param params[] = {
    NODE(space, NULL, "e2, e3, s2, s3, h2, h3, h2xe, or {name: s2, curvature: 4}"),
    NODE(shape, NULL, "list: names of the shape variables"),
    NODE(chart, NULL, "chart of the positions: polar, translation, stereographic (poincare), embedding (cartesian)"),
    NODE(parameters, "", "map: names of constants; a value may use the names before it"),
    NODE(points, NULL, "list of {mass: ..., at: [expressions of the shape]}"),
    NODE(lines, "", "list of pairs of points, counted from 0; drawings join each pair by a line"),
    NODE(group, "", "list: axes of a subgroup, such as [shift_x] or [translation_x, translation_y]"),
    NODE(period, "", "map: periods of shape variables that are angles"),
    {0},
};

static void destroy(cb_bundle *b) {
  cb_points_free(b->self);
  b->self = NULL;
}

static cb_status init(cb_bundle *b, const void *given) {
  cb_arena *arena = cb_arena_create();
  cb_points *p = cb_arena_alloc(arena, 1, sizeof *p);
  if (!p) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  }
  p->arena = arena;
  b->self = p;
  return cb_points_read(b, p, given);
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  return cb_points_connection(b->self, b->group, r, A, dA, M, dM);
}

static cb_status form(const cb_bundle *b, const double *r, double *G, double *dG) {
  return cb_points_form(b->self, r, G, dG);
}

static cb_status plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  return cb_points_plot(b, r, g, x);
}

const cb_bundle_class cb_bundle_points = {
    .name = "points",
    .title = "points with masses",
    .doc = "points whose positions are expressions of the shape, in a space with isometries, without momentum",
    .params = params,
    .params_size = sizeof(cb_points_params),
    .resistance = CB_RESISTANCE_INERTIA,
    .init = init,
    .destroy = destroy,
    .connection = connection,
    .form = form,
    .plot = plot,
};
