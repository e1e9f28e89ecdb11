/* Poses whose shape variables follow a gait.
 *
 *   x(t) = x(r(t/T)),   v(t) = sum_i (dx/dr_i) r_i'(t/T)/T
 *   poses over their phase r:  x(t) = X(s + d r(t/T)),  v(t) = (d/T) r'(t/T) X'(s + d r(t/T))
 * x: the position of a vertex; r: the shape variables; T: the period of the gait in s. X: the poses as functions of
 * their own time, of which the phase runs over d seconds from s on.
 */
#include "fluid/poses_private.h"

#include <math.h>

/* Times are sums with round-off: a break that is nearer than this, in units of the period, counts as reached. */
static const double near = 1e-12;

/* Returns the time in its cycle, in units of the period, from 0 to 1 (without 1). Close before a break it is the time
 * of the break, so that velocities there are those after the break. */
static double time_in_cycle(const cb_poses *p, double t) {
  const double *at;
  const int breaks = cb_gait_breaks(p->gait, &at);
  double u = fmod(t, p->cycle) / p->cycle;
  if (u < 0) u += 1;
  for (int k = 0; k < breaks; k++)
    if (at[k] > u && at[k] - u <= near) u = at[k];
  return 1 - u <= near ? 0 : u;
}

cb_status cb_poses_follow(cb_poses *p, cb_gait *gait, double period, const cb_poses_phase *phase) {
  const int n = phase ? 1 : p->variables;
  cb_status status = CB_OK;
  if (p->gait) status = cb_fail(CB_ERROR_ARGUMENT, "the poses follow a gait already: expected one gait");
  if (!status && cb_gait_variables(gait) != n)
    status = cb_fail(CB_ERROR_ARGUMENT, "the gait has %d shape variables: expected those of the poses, %d",
                     cb_gait_variables(gait), n);
  if (!status && (!(period > 0) || !isfinite(period)))
    status = cb_fail(CB_ERROR_ARGUMENT, "the period of a gait is %g: expected a number > 0", period);
  if (!status && (phase ? !(phase->duration > 0) : p->poses > 0))
    status = cb_fail(CB_ERROR_ARGUMENT, "a gait of poses over their phase: expected a phase with a duration > 0");
  if (status) {
    cb_gait_free(gait);
    return status;
  }
  p->gait = gait;
  p->cycle = period;
  if (phase) p->phase = *phase;
  return CB_OK;
}

double cb_poses_next_break(const cb_poses *p, double t) {
  const double *at;
  const int breaks = p->gait ? cb_gait_breaks(p->gait, &at) : 0;
  if (!breaks) return INFINITY;
  const double cycle = floor(t / p->cycle + near), u = t / p->cycle - cycle;
  for (int k = 0; k < breaks; k++)
    if (at[k] > u + near) return (cycle + at[k]) * p->cycle;
  return (cycle + 1 + at[0]) * p->cycle;
}

cb_status cb_poses_gait_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]) {
  static const double one = 1;
  double r[CB_POSES_VARIABLES], rate[CB_POSES_VARIABLES];
  if (!isfinite(t)) return cb_fail(CB_STEP_NOT_FINITE, "poses at the time %g", t);
  cb_gait_at(p->gait, time_in_cycle(p, t), r, rate);
  if (!(p->phase.duration > 0)) {
    for (int i = 0; i < p->variables; i++) rate[i] /= p->cycle;
    return cb_poses_expressions_at(p, r, rate, x, v);
  }
  const double own = p->phase.start + p->phase.duration * (p->phase.turns ? r[0] - floor(r[0]) : r[0]);
  const double speed = p->phase.duration * rate[0] / p->cycle;
  const cb_status status = p->poses ? cb_poses_sequence_at(p, own, x, v) : cb_poses_expressions_at(p, &own, &one, x, v);
  for (int i = 0; !status && v && i < p->vertices; i++)
    for (int k = 0; k < 3; k++) v[i][k] *= speed;
  return status;
}
