/* A space whose metric is given as text in a scenario:
 *
 *   space:
 *     metric: [[1], [0, "m*sinh(u)^2"]]    the lower triangle, or the full matrix: numbers and expressions
 *     coordinates: [u, v]                  one to three names; default u, v, w
 *     parameters: {m: 1}                   named constants, each an expression of the constants before it
 *     domain: u > 0                        an expression or a list; each has the same sign in the domain as at the base
 *     periodic: [0, 2*pi]                  periods of the coordinates, 0 for none
 *     base: [1, 0]                         a point of the space; default 0
 *     plot: [u*cos(v), u*sin(v), 0]        three expressions: plot coordinates; default the coordinates. Or a list of
 *                                          points, such as the joints of a pendulum: the last one is plotted, and
 *                                          `view` draws lines (arms) from point to point
 *
 * The value, gradient and Hessian of every entry come from second-order jets, so that the derivatives dg and ddg of the
 * metric are exact. All other functions follow from the metric as in curvebody/intrinsic.h. Evaluation allocates
 * nothing.
 */
#pragma once

#include <curvebody/space.h>
#include <curvebody/intrinsic.h>
#include <curvebody/expression.h>

/* Returns whether `node`, the map `space` of a scenario, gives the metric as text: it has the key `metric` and no
 * `name`. */
bool cb_text_metric_is(const cb_node *node);

/* Creates the space that the map `node` describes. The message of an error (CB_ERROR_INPUT) gives the place in the
 * file, also inside expressions. The caller frees the space, and may free `node` before it. */
cb_status cb_text_metric_create(const cb_node *node, cb_space **out);

/* Creates a configuration space from its map, as cb_text_metric_create does for a space. Its dimension is 1 to
 * CB_Q_MAX. `node` may have further keys extra[n], which the caller reads. */
cb_status cb_text_metric_create_system(const cb_node *node, const char *const *extra, size_t n, cb_space **out);
/* Writes the names of the space's parameters to names[CB_EXPRESSION_VARIABLES], and sets *values to their values. Both
 * stay owned by the space. Returns their number. */
size_t cb_text_metric_parameters(const cb_space *g, const char **names, const double **values);

/* Computes the points of `plot` before the last one at q, in x[CB_TEXT_POINTS][3], and returns their number. The number
 * is 0 if there are none, or if the space is not of this class. */
int cb_text_metric_arms(const cb_space *g, const double *q, double (*x)[3]);

/* The class of spaces whose metric is given as text. It is not in the registry, and has only name, documentation and
 * keys. */
extern const cb_space_class cb_text_metric_class;

/* --- the data of such a space --- */
enum { CB_TEXT_POINTS = 16 }; /* maximum number of points of `plot` */
enum { CB_TEXT_ENTRIES = CB_Q_MAX * (CB_Q_MAX + 1) / 2, CB_TEXT_DOMAINS = 8, CB_TEXT_NAME = CB_EXPRESSION_NAME + 1 };

/* The variables of the expressions are the coordinates, then the parameters. */
typedef struct cb_text_metric {
  cb_intrinsic hooks;
  int dim, n_values;                     /* n_values: number of coordinates and parameters */
  double value[CB_EXPRESSION_VARIABLES]; /* the values of the parameters, from value[dim] on */
  char name[CB_EXPRESSION_VARIABLES][CB_TEXT_NAME];
  int n_entries; /* number of different expressions that depend on the coordinates */
  cb_expression *entry[CB_TEXT_ENTRIES];
  int index[CB_Q_MAX][CB_Q_MAX]; /* the index of g_ij in `entry`; -1: g_ij is constant[i][j] */
  double constant[CB_Q_MAX][CB_Q_MAX];
  int n_domains;
  cb_expression *domain[CB_TEXT_DOMAINS];
  char *domain_text[CB_TEXT_DOMAINS];
  double domain_at_base[CB_TEXT_DOMAINS]; /* 0 until the base is known */
  int n_arms;                             /* number of points of `plot` before the last one; the last point is
                                           * arm[n_arms] */
  cb_expression *arm[CB_TEXT_POINTS][3];  /* expressions of the points; NULL: there is no `plot`, so the coordinates are
                                           * plotted */
  /* the coordinates on which the metric does not depend; each of them gives a Killing field */
  int cyclic[CB_KILLING_MAX];
  char killing[CB_KILLING_MAX][CB_TEXT_NAME + sizeof "translation_"];
} cb_text_metric;
