/* A space whose metric is given as text:
 *
 *   space:
 *     metric: [[1], [0, "m*sinh(u)^2"]]    the lower triangle, or all of it: numbers and expressions
 *     coordinates: [u, v]                  one to three names; default u, v, w
 *     parameters: {m: 1}                   named constants, each an expression of those before it
 *     domain: u > 0                        an expression, or a list: where none is 0, nor of another sign than at the base
 *     periodic: [0, 2*pi]                  periods of the coordinates, 0 for none
 *     base: [1, 0]                         a point of the space; default 0
 *     picture: [u*cos(v), u*sin(v), 0]     three expressions to draw a point by; default the coordinates
 *
 * Value, gradient and Hessian of every entry come from second-order jets, so that dg and ddg are exact. Everything else
 * follows from them as in intrinsic.h. Evaluation allocates nothing.
 */
#pragma once

#include <curvebody/geometry.h>

/* Is this map of a scenario's `space` such a metric: one with `metric` and without `name`? */
bool cb_text_metric_is(const cb_node *node);

/* Makes the space. CB_ERROR_INPUT with the place of what is wrong, within expressions too. The caller frees; node need
 * not live on. */
cb_status cb_text_metric_create(const cb_node *node, cb_geometry **out);

/* The same for a configuration space, of dimension 1 to CB_Q_MAX; node may have further keys extra[n], which the caller
 * reads. */
cb_status cb_text_metric_create_system(const cb_node *node, const char *const *extra, size_t n, cb_geometry **out);
/* Its parameters: names and values, borrowed from the space. names[CB_EXPRESSION_VARIABLES] is filled. */
size_t cb_text_metric_parameters(const cb_geometry *g, const char **names, const double **values);

/* Its class, which is not in the registry: name, documentation and keys. */
extern const cb_geometry_class cb_text_metric_class;
