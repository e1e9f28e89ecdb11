/* See fluid/picture.h. */
#include "fluid/picture.h"

#include "numerics/vec3.h"

#include <math.h>

/* At any distance: tanh and 1/(1 + cosh) do not overflow. */
void cb_picture_place(double K, const double v[3], double out[3]) {
  const double d = sqrt(cb_dot3(v, v)), r = sqrt(fabs(K)), half = r * d / 2;
  const double f = K == 0 || d == 0 ? (K == 0 ? 1 : 0.5) : (K < 0 ? tanh(half) : tan(half)) / (r * d);
  for (int i = 0; i < 3; i++) out[i] = f * v[i];
}

double cb_picture_factor(double K, const double v[3]) {
  const double half = sqrt(fabs(K) * cb_dot3(v, v)) / 2, c = K < 0 ? cosh(half) : cos(half);
  return K == 0 ? 1 : 0.5 / (c * c);
}
