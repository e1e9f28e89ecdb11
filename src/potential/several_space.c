/* Points, panels and wrenches of flat and of curved spaces, for several bodies in one fluid (several_private.h).
 *
 *   a force F at y, in the frame T_y:  F_x = f - s y (y.f)/(1 + w);  torque = y × F_x/r,  force = w F_x + s y (y.f)
 * y is a point (r x, w), and s the sign of the curvature. The wrench is that of F on the Killing fields of
 * numerics/numerics_curved.h. In flat space the torque is y × f.
 */
#include "potential/several_private.h"

#include "numerics/vec3.h"

#include <math.h>

void cb_several_range(const cb_several_shape *s, const double y[4], int first, int count, int self, double *S,
                      double *D) {
  if (s->panels) {
    cb_panels_range(s->panels, y, first, count, self, S, D);
    return;
  }
  cb_curved_panels_range(&s->curved, y, first, count, self, S, D);
  for (int k = 0; k < count; k++) S[k] /= s->space.r;
}

void cb_several_gradients(const cb_several_shape *s, const double y[4], int first, int count, size_t width, double *S,
                          double *D) {
  if (s->panels) {
    cb_panels_gradients(s->panels, y, first, count, width, S, D);
    return;
  }
  cb_curved_panels_gradients(&s->curved, y, first, count, width, S, D);
  for (size_t k = 0; k < 3; k++)
    for (int l = 0; l < count; l++) D[k * width + (size_t)l] *= s->space.r;
}

void cb_several_add_force(const cb_several_space *space, const double y[4], const double f[3], double wrench[6]) {
  const double along = space->sign * cb_dot3(y, f);
  double F[3], torque[3];
  for (int k = 0; k < 3; k++) F[k] = f[k] - along / (1 + y[3]) * y[k];
  cb_cross3(y, F, torque);
  for (int k = 0; k < 3; k++) {
    wrench[k] += torque[k] / space->r;
    wrench[3 + k] += y[3] * F[k] + along * y[k];
  }
}

double cb_several_distance(const cb_several_space *space, const double a[4], const double b[4]) {
  const double d[4] = {a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]},
               chord = sqrt(fmax(0, cb_dot3(d, d) + space->sign * d[3] * d[3]));
  if (space->sign == 0) return chord;
  return 2 * (space->sign > 0 ? asin(fmin(chord / 2, 1)) : asinh(chord / 2)) / space->r;
}
