/* The vortex of Lamb and Oseen, which is smooth on its axis.
 *
 *   u = Gamma/(2 pi a^2) phi(s) k × r,   s = r^2/a^2,   phi = (1 - e^-s)/s
 *   grad u = Gamma/(2 pi a^2) (phi hat(k) + (2/a^2) phi'(s) (k × r) r^T),   phi' = ((1 + s) e^-s - 1)/s^2
 *
 * a is the radius of the core, k is the unit axis and r the part of x - centre perpendicular to it. The curl is
 * Gamma/(pi a^2) e^-s k; the circulation far away is Gamma. Source: P. G. Saffman, Vortex Dynamics (1992), section
 * 13.1, doi:10.1017/CBO9780511624063. SI units; Gamma is in m^2/s.
 */
#include "fluid/flow_divergence.h"

#include <math.h>
#include <string.h>

typedef struct vortex {
  cb_flow flow;
  double centre[3], axis[3], strength, core; /* strength = Gamma/(2 pi a^2) */
} vortex;

/* Computes phi and phi' (slope). Up to s = 1/2 phi is the series sum (-s)^n/(n + 1)!, of which 15 terms are exact to
 * 1e-17 below 1/2. */
static void profile(double s, double *phi, double *slope) {
  if (s > 0.5) {
    *phi = -expm1(-s) / s;
    *slope = ((1 + s) * exp(-s) - 1) / (s * s);
    if (s > 700) *slope = -1 / (s * s); /* avoids 0 times infinity */
    return;
  }
  double term = 1, sum = 1, d = 0; /* term = (-s)^(n-1)/n! */
  for (int n = 1; n < 16; n++) {
    d -= term * n / (n + 1);
    term *= -s / (n + 1);
    sum += term;
  }
  *phi = sum;
  *slope = d;
}

static void vortex_at(const cb_flow *f, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const vortex *v = (const vortex *)f;
  double r[3], swirl[3], phi, slope;
  (void)t;
  for (int i = 0; i < 3; i++) r[i] = x[i] - v->centre[i];
  const double along = cb_dot3(r, v->axis);
  for (int i = 0; i < 3; i++) r[i] -= along * v->axis[i];
  cb_cross3(v->axis, r, swirl);
  profile(cb_dot3(r, r) / (v->core * v->core), &phi, &slope);
  for (int i = 0; i < 3; i++) p->u[i] = v->strength * phi * swirl[i];
  if (!slopes) return;
  memset(p->gradient, 0, sizeof p->gradient);
  memset(p->rate, 0, sizeof p->rate);
  cb_add_hat3(p->gradient, v->strength * phi, v->axis);
  cb_add_outer3(p->gradient, 2 * v->strength * slope / (v->core * v->core), swirl, r);
}

cb_status cb_flow_vortex(const double centre[3], const double axis[3], double circulation, double core, cb_flow **out) {
  const double size = sqrt(cb_dot3(axis, axis));
  if (!isfinite(centre[0] + centre[1] + centre[2]))
    return cb_fail(CB_ERROR_ARGUMENT, "vortex: centre is (%g, %g, %g): expected finite numbers", centre[0], centre[1],
                   centre[2]);
  if (!(size > 0) || !isfinite(size))
    return cb_fail(CB_ERROR_ARGUMENT, "vortex: axis is (%g, %g, %g): expected a direction", axis[0], axis[1], axis[2]);
  if (!isfinite(circulation))
    return cb_fail(CB_ERROR_ARGUMENT, "vortex: circulation is %g: expected a finite number", circulation);
  if (!(core > 0) || !isfinite(core))
    return cb_fail(CB_ERROR_ARGUMENT, "vortex: core is %g: expected a radius > 0", core);
  vortex *v = cb_flow_new(sizeof *v);
  if (!v) return CB_ERROR_MEMORY;
  v->flow = (cb_flow){.at = vortex_at, .steady = true};
  v->strength = circulation / (2 * M_PI * core * core);
  v->core = core;
  for (int i = 0; i < 3; i++) {
    v->centre[i] = centre[i];
    v->axis[i] = axis[i] / size;
  }
  *out = &v->flow;
  return CB_OK;
}
