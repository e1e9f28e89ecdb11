/* Reads the names of a bundle in a scenario (shape variables, and parameters with constant values), and expressions and
 * symmetric matrices in these names. */
#pragma once

#include <curvebody/bundle.h>

/* Shape variables, followed by parameters with their values. The nodes own the names. */
typedef struct cb_bundle_names {
  const char *name[CB_EXPRESSION_VARIABLES];
  double value[CB_EXPRESSION_VARIABLES];
  int shape, count;
} cb_bundle_names;

/* The error messages of all these functions give the position of the wrong node. `what` is the name of the quantity in
 * messages. */

/* Reads a list of 1 to `maximum` names of shape variables into *s, which has no names on entry. */
cb_status cb_bundle_read_shape(cb_bundle_names *s, const cb_node *list, int maximum);
/* Reads a map of names and numbers (NULL: none); a number may be an expression of the parameters before it. */
cb_status cb_bundle_read_parameters(cb_bundle_names *s, const cb_node *map);
/* Reads a map of shape variables and their periods (NULL: none) into period[shape]. */
cb_status cb_bundle_read_periods(const cb_bundle_names *s, const cb_node *map, double *period);
/* Reads a map of shape variables and lists of the values at which A or M is not smooth (NULL: none). Values must
 * increase, and be within [0, period) if the variable has a period. Fills count[shape] and at[shape], which the caller
 * frees. */
cb_status cb_bundle_read_breaks(const cb_bundle_names *s, const cb_node *map, const double *period, int *count,
                                double **at);
/* Reads a finite number: an expression of the parameters. */
cb_status cb_bundle_read_number(const cb_bundle_names *s, const cb_node *node, const char *what, double *value);
/* Reads an expression of variable[n] and the parameters. */
cb_status cb_bundle_read_expression(const cb_bundle_names *s, const cb_node *node, const char *what,
                                    const char *const *variable, int n, cb_expression **out);

/* Fails unless row number `row` of a list of rows is a list of `length` expressions. matrix: the name of the matrix in
 * messages. */
cb_status cb_bundle_check_row(const cb_node *list, int row, size_t length, const char *matrix);
/* Reads a symmetric matrix of expressions of the n shape variables, given by all its rows, by the rows of its lower
 * triangle, or by its diagonal. The result is the lower triangle, packed as in a jet, with NULL for 0. The two
 * triangles are compared at shapes in (-3, 3). */
cb_status cb_bundle_read_symmetric(const cb_bundle_names *s, const cb_node *list, const char *what,
                                   cb_expression **lower);
/* Creates a copy of the bundle b with the metric of a scenario: `bundle` (or NULL), `identity`, or a symmetric matrix.
 * add: a symmetric matrix that is added, or NULL. The new bundle borrows b, so that b must outlive it. */
cb_status cb_bundle_read_metric(const cb_bundle *b, const cb_node *metric, const cb_node *add, cb_bundle **out);
