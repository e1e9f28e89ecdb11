/* The motion along the fibre of a bundle, over a shape that moves as a gait: what methods of cb_configuration_bundle
 * step.
 *
 *   r(t) = the gait at t/T, T its period in seconds;  g' = g xi, xi = -A(r) r';  length' = sqrt(r'Mr'), cost' = r'Mr'
 * For authors of methods: the problem is a cb_bundle_path, the state a cb_bundle_state. A step adds to g, length and
 * cost; the time is left to the caller.
 */
#ifndef CURVEBODY_BUNDLE_PATH_H
#define CURVEBODY_BUNDLE_PATH_H

#include <curvebody/gait.h>

CB_API_BEGIN

typedef struct cb_bundle_path {
  const cb_bundle *bundle;
  const cb_gait *gait;
  double period; /* s */
} cb_bundle_path;

/* All that a restart needs; low parts of compensated sums. */
typedef struct cb_bundle_state {
  double t, t_low, length, length_low, cost, cost_low;
  double g[CB_GROUP_SIZE];
} cb_bundle_state;

/* r and r' (per second) at the time of the state. */
void cb_bundle_shape(const cb_bundle_path *p, const cb_bundle_state *s, double *r, double *rate);

CB_API_END
#endif
