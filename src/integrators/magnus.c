/* A step along the fibre by Magnus's method (bundle/holonomy.c), cut at the breaks of the gait
 * (bundle/bundle_private.h). */
#include "bundle/bundle_private.h"

#include "bundle/gait_private.h"
#include "numerics/dd.h"

#include <math.h>

/* A break nearer to the end of a step than this, in units of the period, counts as the end, because times are sums with
 * round-off. */
static const double at_end = 1e-12;

/* Returns the time in the present cycle in units of the period, from 0 to 1; 0 if it is 1 up to `at_end`. */
static double phase_of(const cb_bundle_path *p, double t, double t_low) {
  double u = (fmod(t, p->period) + t_low) / p->period;
  if (u < 0) u += 1;
  return fabs(u - 1) <= at_end ? 0 : u;
}

void cb_bundle_shape(const cb_bundle_path *p, const cb_bundle_state *s, double *r, double *rate) {
  cb_gait_at(p->gait, phase_of(p, s->t, s->t_low), r, rate);
  for (int i = 0; rate && i < p->bundle->n; i++) rate[i] /= p->period;
}

/* Returns the first break after u, in the cycle that begins at 0; 1 if there is none. */
static double next_break(const cb_gait *gait, double u) {
  const double *at;
  const int n = cb_gait_breaks(gait, &at);
  for (int k = 0; k < n; k++)
    if (at[k] > u + at_end) return at[k];
  return 1;
}

cb_status cb_bundle_step(const cb_bundle_path *p, int order, double error, double h, cb_bundle_state *state,
                         int *steps) {
  const cb_group *G = p->bundle->group;
  cb_bundle_sum sum = {.length = 0};
  double u = phase_of(p, state->t, state->t_low);
  const double end = u + h / p->period;
  cb_status status = CB_OK;
  *steps = 0;
  G->identity(G, sum.g);
  for (double cycle = 0; !status && u + cycle < end - at_end;) {
    double to = next_break(p->gait, u);
    if (to + cycle > end - at_end) to = end - cycle;
    status = cb_bundle_along(p->bundle, p->gait, order, error, u, to, &sum, steps);
    u = to;
    if (u >= 1 - at_end) {
      u = 0;
      cycle += 1;
    }
  }
  if (status) return status;
  G->multiply(G, state->g, sum.g, state->g);
  G->project(G, state->g);
  cb_compensated_add_one(&state->length, &state->length_low, sum.length);
  cb_compensated_add_one(&state->cost, &state->cost_low, sum.cost / p->period);
  return CB_OK;
}
