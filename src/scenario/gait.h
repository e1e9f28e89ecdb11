/* Reading the kinds of gaits that a scenario can name (cb_gait_read), for `gait:` itself and for the parts of a
 * sequence. */
#pragma once

#include <curvebody/holonomy.h>

/* n numbers, one a shape variable; what: "start", for messages. */
cb_status cb_gait_read_shape(const cb_bundle *b, const cb_node *list, const char *what, double *r);

extern const cb_param cb_gait_table[]; /* its keys, for `curvebody list` and the resolved scenario */

/* Kinds that are lists of numbers, each from the map below its name. */
cb_status cb_gait_read_fourier(const cb_bundle *b, const cb_node *map, cb_gait **out);
cb_status cb_gait_read_polygon(const cb_bundle *b, const cb_node *map, cb_gait **out);
cb_status cb_gait_read_points(const cb_bundle *b, const cb_node *map, bool timed, cb_gait **out);
cb_status cb_gait_read_arcs(const cb_bundle *b, const cb_node *map, cb_gait **out);

/* Ascending numbers in [0, 1], from malloc; NULL for an absent list. */
cb_status cb_gait_read_times(const cb_node *list, const char *what, double **out, int *count);
/* What a constructor says of its arguments, with the place of node. */
cb_status cb_gait_placed(cb_status status, const cb_node *node);

/* The shape variables: "alpha1, alpha2". */
typedef struct cb_gait_names {
  char text[256];
} cb_gait_names;
cb_gait_names cb_gait_names_of(const cb_bundle *b);
