/* What a scenario says of a bundle's names: its shape variables, and parameters that stand for numbers. */
#pragma once

#include <curvebody/bundle.h>

/* Shape variables, then parameters, whose values are known; names are borrowed from the nodes. */
typedef struct cb_bundle_names {
  const char *name[CB_EXPRESSION_VARIABLES];
  double value[CB_EXPRESSION_VARIABLES];
  int shape, count;
} cb_bundle_names;

/* All fail with the place of the node at fault; `what` begins the message. */

/* A list of 1 to `most` names of shape variables, into empty names. */
cb_status cb_bundle_read_shape(cb_bundle_names *s, const cb_node *list, int most);
/* A map of names and numbers (NULL: none), each of which may use those before it. */
cb_status cb_bundle_read_parameters(cb_bundle_names *s, const cb_node *map);
/* A map of shape variables and their periods (NULL: none), to period[shape]. */
cb_status cb_bundle_read_periods(const cb_bundle_names *s, const cb_node *map, double *period);
/* A map of shape variables and lists of where A or M is not smooth in them (NULL: none), ascending, within [0, period)
 * where there is one: count[shape], and in at[shape] what the caller frees. */
cb_status cb_bundle_read_breaks(const cb_bundle_names *s, const cb_node *map, const double *period, int *count,
                                double **at);
/* A finite number, by an expression of the parameters. */
cb_status cb_bundle_read_number(const cb_bundle_names *s, const cb_node *node, const char *what, double *value);
/* An expression of variable[n] and the parameters. */
cb_status cb_bundle_read_expression(const cb_bundle_names *s, const cb_node *node, const char *what,
                                    const char *const *variable, int n, cb_expression **out);

/* Row `row` of a list of rows is a list of `length` expressions? */
cb_status cb_bundle_check_row(const cb_node *list, int row, size_t length, const char *matrix);
/* A symmetric matrix of expressions of the n shape variables: all its rows, those of its lower triangle, or its
 * diagonal, to the lower triangle, packed as in a jet; NULL: 0. Two halves are compared at shapes in (-3, 3). */
cb_status cb_bundle_read_symmetric(const cb_bundle_names *s, const cb_node *list, const char *what,
                                   cb_expression **lower);
/* A bundle like b with the metric of a scenario: `bundle` (or NULL), `identity` or a symmetric matrix; `add` (or NULL): a
 * symmetric matrix to add. b is borrowed and has to outlive it. */
cb_status cb_bundle_read_metric(const cb_bundle *b, const cb_node *metric, const cb_node *add, cb_bundle **out);
