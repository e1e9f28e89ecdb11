/* What a scenario says of a bundle's names: its shape variables, and parameters that stand for numbers. */
#ifndef CB_BUNDLE_READ_H
#define CB_BUNDLE_READ_H

#include <curvebody/bundle.h>
#include <curvebody/expression.h>

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
/* A finite number, by an expression of the parameters. */
cb_status cb_bundle_read_number(const cb_bundle_names *s, const cb_node *node, const char *what, double *value);
/* An expression of variable[n] and the parameters. */
cb_status cb_bundle_read_expression(const cb_bundle_names *s, const cb_node *node, const char *what,
                                    const char *const *variable, int n, cb_expression **out);

#endif
