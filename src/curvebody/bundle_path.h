/* The motion along the fibre of a bundle, over a shape that follows a gait: the problem of the integrators of
 * cb_problem_group_path.
 *
 *   r(t) = the gait at t/T, T its period in seconds;  g' = g xi, xi = -A(r) r';  length' = sqrt(r'Mr'), cost' = r'Mr'
 * r, g, xi, A and M are as in curvebody/bundle.h.
 * For authors of integrators: the problem is a cb_bundle_path, the state a cb_bundle_state. A step changes g, length
 * and cost; the caller advances the time.
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

/* Everything that a restart needs, with the low parts of compensated sums. */
typedef struct cb_bundle_state {
  double t, t_low, length, length_low, cost, cost_low;
  double g[CB_GROUP_SIZE];
} cb_bundle_state;

/* Computes r and r' (per second) at the time of the state. */
void cb_bundle_shape(const cb_bundle_path *p, const cb_bundle_state *s, double *r, double *rate);

CB_API_END
#endif
