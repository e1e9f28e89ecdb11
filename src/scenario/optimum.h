/* What a scenario asks of an optimal gait: `optimum:` beside `bundle:`.
 *
 *   optimum: {target: {move: 0.03}, seek: cost, base: [0.5, -0.3], bounds: {alpha1: [-pi/2, pi/2]}, starts: 24}
 */
#ifndef CB_SCENARIO_OPTIMUM_H
#define CB_SCENARIO_OPTIMUM_H

#include "scenario/private.h"
#include <curvebody/optimum.h>

typedef struct cb_optimum_scenario {
  const cb_node *node;        /* of the key */
  cb_optimum_problem problem; /* its arrays are those below, its gait the scenario's, and its bundle */
  double base[CB_SHAPE_MAX], lower[CB_SHAPE_MAX], upper[CB_SHAPE_MAX];
  bool left_out;      /* the scenario's gait leaves the bounds, and is no start of a search */
  cb_bundle *weighed; /* the bundle with the metric that is asked for; NULL: its own */
} cb_optimum_scenario;

/* Of a bundle and gait that were read; node NULL: absent. */
cb_status cb_scenario_read_optimum(cb_scenario *s, const cb_node *node);
void cb_optimum_scenario_free(cb_optimum_scenario *o);

extern const cb_param cb_optimum_table[];

#endif
