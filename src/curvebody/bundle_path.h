/* The motion in the group of a bundle while the shape follows a gait. It is the problem that integrators of
 * cb_problem_group_path solve.
 *
 *   g' = g xi,  xi = -A(r) r',   length' = sqrt(r'Mr'),   cost' = r'Mr'
 * In a fluid that moves, the velocity with which the flow carries the body is added to xi (bundle/flow.c); length and
 * cost are those in a fluid at rest.
 * r(t) is the gait at the time t/T, where T is its period in seconds. g is an element of the group, xi the body
 * velocity, A the connection and M the cost metric (curvebody/bundle.h).
 * For authors of integrators: the problem is a cb_bundle_path, and the state is a cb_bundle_state. A step changes g,
 * length and cost; the caller of the step advances the time.
 */
#ifndef CURVEBODY_BUNDLE_PATH_H
#define CURVEBODY_BUNDLE_PATH_H

#include <curvebody/gait.h>

CB_API_BEGIN

/* The velocity u(x) = velocity + gradient x of the fluid, per second, in the axes of the space. */
typedef struct cb_bundle_flow {
  double velocity[3], gradient[3][3];
} cb_bundle_flow;

typedef struct cb_bundle_path {
  const cb_bundle *bundle;
  const cb_gait *gait;
  double period;              /* the time T of one cycle of the gait, in s */
  const cb_bundle_flow *flow; /* NULL: the fluid is at rest, or there is none */
} cb_bundle_path;

/* A state, with everything that a restart needs. The members whose names end in _low are the low-order parts of
 * compensated sums. */
typedef struct cb_bundle_state {
  double t, t_low, length, length_low, cost, cost_low;
  double g[CB_GROUP_SIZE];
} cb_bundle_state;

/* Checks whether a bundle may move in this flow. CB_ERROR_UNSUPPORTED for a bundle that is not in a fluid or is in a
 * curved space, for a flow that leaves the plane or line of the bundle, and for a gradient if the fluid has no
 * viscosity or the bundle has no cb_bundle_class.strain. */
cb_status cb_bundle_check_flow(const cb_bundle *b, const cb_bundle_flow *f);
/* Computes the body velocity xi[dim] with which the flow carries a body at the group element g. S: the result of
 * cb_bundle_strain, or NULL if the flow has no strain. */
void cb_bundle_carried(const cb_bundle *b, const cb_bundle_flow *f, const double *S, const double *g, double *xi);
/* Computes the shape r[n] and its rate of change per second, rate[n], at the time of the state. */
void cb_bundle_shape(const cb_bundle_path *p, const cb_bundle_state *s, double *r, double *rate);

CB_API_END
#endif
