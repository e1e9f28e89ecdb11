/* Functions that the steps in a curved space share, and the update of the states of these steps (equations:
 * rigid_step.h). */
#include "fluid/rigid_step.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"
#include <float.h>

cb_status cb_rigid_curved_takes(const cb_rigid_problem *p) {
  if (!p->pose_dependent) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED, "the inertia of the body depends on its position: expected flat space");
}

cb_status cb_rigid_curved_far(double K, double h, double t, const double Y[6]) {
  const cb_status status = cb_rigid_half_turn(h, t, fabs(h) * sqrt(cb_dot3(Y, Y)));
  const double radii = fabs(h) * sqrt(fabs(K) * cb_dot3(Y + 3, Y + 3));
  if (status || !(radii >= 3.14159)) return status;
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "a step of %g at t = %g moves the body by %g radii of curvature, more than pi: try a smaller step", h,
                 t, radii);
}

static void add(cb_dd m[6], const double r[3][3], const double wrench[6]) {
  double turned[6];
  cb_turn6(r, wrench, turned);
  for (int i = 0; i < 6; i++) m[i] = cb_dd_add_d(m[i], turned[i]);
}

/* Ends a step. The pose T(x) R times the step T(y') S is T(x) T(y) R S with y = R y', and T(x) T(y) = T(x') W with a
 * rotation W. The momentum `now` is rotated by W, and the state's quaternion becomes that of W R S. turn: the
 * quaternion of W; turned: that of R S. */
static void arrive(cb_rigid_state *s, cb_dd now[6], const double turn[4], const double turned[4]) {
  cb_screw_turn(turn, now);
  cb_screw_turn(turn, now + 3);
  cb_quaternion_multiply(turn, turned, s->g.q);
  cb_quaternion_project(s->g.q);
}

void cb_rigid_curved_move(double K, cb_rigid_state *s, const cb_biquaternion *Q, const cb_screw *m,
                          const double before[6], const double after[6]) {
  double r[3][3], y[3], turned[4], turn[4], dx[3];
  cb_dd now[6];
  for (int i = 0; i < 6; i++) now[i] = (cb_dd){s->world[i], s->world_low[i]};
  cb_pose_rotation(&s->g, r);
  if (before) add(now, r, before);
  cb_apply3(r, m->s, y);
  cb_screw_carry(K, m->C, y, now, now + 3);
  cb_quaternion_multiply(s->g.q, m->q, turned);
  if (cb_screw_shift(K, s->g.x, s->x_low, m->C, y, dx, turn)) {
    for (int i = 0; i < 3; i++) cb_compensated_add_one(&s->g.x[i], &s->x_low[i], dx[i]);
  } else {
    cb_biquaternion at;
    double back[4];
    const cb_pose near = {{s->g.q[0], s->g.q[1], s->g.q[2], s->g.q[3]},
                          {s->g.x[0] + s->x_low[0], s->g.x[1] + s->x_low[1], s->g.x[2] + s->x_low[2]}};
    cb_biquaternion_of(K, &near, &at);
    cb_biquaternion_multiply(K, &at, Q, &at);
    cb_biquaternion_pose(K, &at, 0, &s->g, s->x_low);
    cb_quaternion_inverse(turned, back);
    cb_quaternion_multiply(s->g.q, back, turn);
  }
  arrive(s, now, turn, turned);
  cb_pose_rotation(&s->g, r);
  if (after) add(now, r, after);
  for (int i = 0; i < 6; i++) {
    s->world[i] = now[i].hi;
    s->world_low[i] = now[i].lo;
  }
  cb_turn6_transposed(r, s->world, s->momentum);
}

void cb_rigid_casimirs(double K, const double momentum[6], double out[2]) {
  const double *l = momentum, *p = momentum + 3;
  out[0] = cb_dot3(p, p) + K * cb_dot3(l, l);
  out[1] = cb_dot3(l, p);
}

/* Applies Ad* of T(-x) to the momentum in the axes that T(x) carries along, and returns a bound of the round-off. (An
 * error e of x perpendicular to x moves the point by e s_K(r)/r, r = |x|, and changes the momentum by the same factor.)
 * In a hyperbolic space, beyond 5 radii of curvature, the result is nan and the bound infinite. */
double cb_rigid_spatial_momentum(double K, const cb_rigid_state *s, double out[6]) {
  const double r = sqrt(cb_dot3(s->g.x, s->g.x)), root = sqrt(fabs(K)), radii = root * r;
  const double *m = s->world, unit = K == 0 ? 1 : root, size = sqrt(cb_dot3(m, m)) * unit + sqrt(cb_dot3(m + 3, m + 3));
  if (K < 0 && radii > 5) {
    for (int i = 0; i < 6; i++) out[i] = NAN;
    return INFINITY;
  }
  if (K == 0) {
    double across[3];
    cb_cross3(s->g.x, m + 3, across);
    for (int i = 0; i < 3; i++) {
      out[i] = m[i] + across[i];
      out[3 + i] = m[3 + i];
    }
    return 8 * DBL_EPSILON * (1 + r) * size;
  }
  cb_biquaternion T;
  const cb_pose at = {{1, 0, 0, 0},
                      {-(s->g.x[0] + s->x_low[0]), -(s->g.x[1] + s->x_low[1]), -(s->g.x[2] + s->x_low[2])}};
  cb_biquaternion_of(K, &at, &T);
  cb_dd now[6];
  for (int i = 0; i < 6; i++) now[i] = (cb_dd){m[i], s->world_low[i]};
  cb_screw_carry(K, T.a[0], T.b + 1, now, now + 3);
  for (int i = 0; i < 6; i++) out[i] = cb_dd_double(now[i]);
  return 8 * DBL_EPSILON * (1 + radii) * (K < 0 ? exp(2 * radii) : 1) * size;
}
