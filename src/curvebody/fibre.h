/* The motion along the fibre of a bundle, over a shape that moves as a gait: what methods of cb_configuration_bundle
 * step.
 *
 *   r(t) = the gait at t/T, T its period in seconds;  g' = g xi, xi = -A(r) r';  length' = sqrt(r'Mr'), cost' = r'Mr'
 * For authors of methods: the problem is a cb_fibre_path, the state a cb_fibre_state. A step adds to g, length and
 * cost; the time is left to the caller.
 */
#ifndef CURVEBODY_FIBRE_H
#define CURVEBODY_FIBRE_H

#include <curvebody/gait.h>

CB_API_BEGIN

typedef struct cb_fibre_path {
  const cb_bundle *bundle;
  const cb_gait *gait;
  double period; /* s */
} cb_fibre_path;

/* All that a restart needs; low parts of compensated sums. */
typedef struct cb_fibre_state {
  double t, t_low, length, length_low, cost, cost_low;
  double g[CB_GROUP_SIZE];
} cb_fibre_state;

/* r and r' (per second) at the time of the state. */
void cb_fibre_shape(const cb_fibre_path *p, const cb_fibre_state *s, double *r, double *rate);

CB_API_END
#endif
