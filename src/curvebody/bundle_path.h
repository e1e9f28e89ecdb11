/* The motion in the group of a bundle while the shape follows a gait. It is the problem that integrators of
 * cb_problem_group_path solve.
 *
 *   g' = g xi,  xi = -A(r) r',   length' = sqrt(r'Mr'),   cost' = r'Mr'
 * r(t) is the gait at the time t/T, where T is its period in seconds. g is an element of the group, xi the body
 * velocity, A the connection and M the cost metric (curvebody/bundle.h).
 * For authors of integrators: the problem is a cb_bundle_path, and the state is a cb_bundle_state. A step changes g,
 * length and cost; the caller of the step advances the time.
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

/* A state, with everything that a restart needs. The members _low are the low-order parts of compensated sums. */
typedef struct cb_bundle_state {
  double t, t_low, length, length_low, cost, cost_low;
  double g[CB_GROUP_SIZE];
} cb_bundle_state;

/* Computes the shape r[n] and its rate of change per second, rate[n], at the time of the state. */
void cb_bundle_shape(const cb_bundle_path *p, const cb_bundle_state *s, double *r, double *rate);

CB_API_END
#endif
