/* The vortex of Lamb and Oseen, which is smooth on its axis.
 *
 *   u = Gamma/(2 pi a^2) phi(s) k × r,   s = r^2/a^2,   phi = (1 - e^-s)/s
 *   grad u = Gamma/(2 pi a^2) (phi hat(k) + (2/a^2) phi'(s) (k × r) r^T),   phi' = ((1 + s) e^-s - 1)/s^2
 *
 * u is the velocity at the point x, a the radius of the core, k the unit axis, hat(k) b = k × b, and r the part of
 * x - centre perpendicular to k. The curl is Gamma/(pi a^2) e^-s k; the circulation far away is Gamma. Source: P. G.
 * Saffman, Vortex Dynamics (1992), section 13.1, doi:10.1017/CBO9780511624063. SI units; Gamma is in m^2/s. */
#include "fluid/fluid_shared.h"

#include <math.h>
#include <string.h>

typedef struct vortex {
  const cb_node *centre_given, *axis_given;
  double circulation, core;
  double centre[3], axis[3], strength; /* strength = Gamma/(2 pi a^2) */
} vortex;

static const cb_param params[] = {
    {"centre", CB_PARAM_NODE, offsetof(vortex, centre_given), "", "", "", NULL, "a point of the axis"},
    {"axis", CB_PARAM_NODE, offsetof(vortex, axis_given), "", "", "", NULL, "direction (default [0, 0, 1])"},
    {"circulation", CB_PARAM_REAL, offsetof(vortex, circulation), NULL, "m2/s", "", NULL,
     "circulation around the axis"},
    {"core", CB_PARAM_REAL, offsetof(vortex, core), NULL, "m", "> 0", NULL, "radius of the core"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* Computes phi and its derivative phi' (slope). Up to s = 1/2, phi is the series sum (-s)^n/(n + 1)! up to n = 15,
 * whose remainder is below 1e-17. */
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

static void at(const void *flow, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const vortex *v = flow;
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

/* Checks the numbers, makes the axis a unit vector, and computes the strength. */
static cb_status complete(vortex *v) {
  const double *centre = v->centre, *axis = v->axis, size = sqrt(cb_dot3(axis, axis));
  if (!isfinite(centre[0] + centre[1] + centre[2]))
    return cb_fail(CB_ERROR_ARGUMENT, "vortex: centre is (%g, %g, %g): expected finite numbers", centre[0], centre[1],
                   centre[2]);
  if (!(size > 0) || !isfinite(size))
    return cb_fail(CB_ERROR_ARGUMENT, "vortex: axis is (%g, %g, %g): expected a direction", axis[0], axis[1], axis[2]);
  if (!isfinite(v->circulation))
    return cb_fail(CB_ERROR_ARGUMENT, "vortex: circulation is %g: expected a finite number", v->circulation);
  if (!(v->core > 0) || !isfinite(v->core))
    return cb_fail(CB_ERROR_ARGUMENT, "vortex: core is %g: expected a radius > 0", v->core);
  v->strength = v->circulation / (2 * M_PI * v->core * v->core);
  for (int i = 0; i < 3; i++) v->axis[i] /= size;
  return CB_OK;
}

static cb_status init(void *flow, const cb_node *value, const cb_expression_scope *parameters, cb_flow_facts *facts) {
  vortex *v = flow;
  cb_status status = CB_OK;
  (void)value;
  facts->steady = true;
  v->axis[2] = 1;
  if (v->centre_given) status = cb_fluid_vector(v->centre_given, parameters, NULL, v->centre);
  if (!status && v->axis_given) status = cb_fluid_vector(v->axis_given, parameters, NULL, v->axis);
  return status ? status : complete(v);
}

const cb_fluid_flow_class cb_fluid_flow_vortex = {
    .name = "vortex",
    .title = "The vortex of Lamb and Oseen",
    .doc = "At the distance r from its axis the speed is circulation/(2 pi r) (1 - exp(-r^2/core^2))",
    .params = params,
    .size = sizeof(vortex),
    .init = init,
    .at = at,
};

cb_status cb_flow_vortex(const double centre[3], const double axis[3], double circulation, double core, cb_flow **out) {
  vortex given = {.circulation = circulation, .core = core};
  memcpy(given.centre, centre, sizeof given.centre);
  memcpy(given.axis, axis, sizeof given.axis);
  cb_status status = complete(&given);
  if (!status) status = cb_flow_new(&cb_fluid_flow_vortex, out);
  if (status) return status;
  memcpy((*out)->data, &given, sizeof given);
  (*out)->facts.steady = true;
  return CB_OK;
}
