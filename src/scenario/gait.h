/* Reading the kinds of gaits that a scenario can name (cb_gait_read), for `gait:` itself and for the parts of a
 * sequence. */
#ifndef CB_SCENARIO_GAIT_H
#define CB_SCENARIO_GAIT_H

#include <curvebody/holonomy.h>
#include <curvebody/param.h>

/* n numbers, one a shape variable; what: "start", for messages. */
cb_status cb_gait_read_shape(const cb_bundle *b, const cb_node *list, const char *what, double *r);

extern const cb_param cb_gait_table[]; /* its keys, for `curvebody list` and the resolved scenario */

#endif
