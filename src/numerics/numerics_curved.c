/* This file computes points, planes, areas and fluxes in a space of constant curvature (equations:
 * numerics_curved.h). */
#include "numerics/numerics_curved.h"

#include "numerics/vec3.h"

void cb_curved_point(double K, const double v[3], double y[4]) {
  const cb_trig t = cb_trig_of(K);
  const double r = sqrt(cb_dot3(v, v)), f = cb_trig_sinc(t, r);
  for (int i = 0; i < 3; i++) y[i] = f * v[i];
  y[3] = cb_trig_c(t, r);
}

/* Returns (c_K(r) - s_K(r)/r)/r^2, the derivative of s_K(r)/r divided by r. Near 0 it uses the series, because the
 * difference has cancellation there. */
static double slope_of(cb_trig t, double r) {
  const double z = -t.k * r * r;
  if (fabs(z) > 0.01) return (cb_trig_c(t, r) - cb_trig_sinc(t, r)) / (r * r);
  return -t.k * (1. / 3 + z * (1. / 30 + z * (1. / 840 + z * (1. / 45360 + z / 3991680))));
}

void cb_curved_velocity(double K, const double v[3], const double dv[3], double u[4]) {
  const cb_trig t = cb_trig_of(K);
  const double r = sqrt(cb_dot3(v, v)), f = cb_trig_sinc(t, r), along = cb_dot3(v, dv), g = slope_of(t, r) * along;
  for (int i = 0; i < 3; i++) u[i] = f * dv[i] + g * v[i];
  u[3] = -K * f * along;
}

void cb_curved_normal(double K, const double y[4], double v[3]) {
  const double s = sqrt(cb_dot3(y, y)), f = s > 0 ? cb_trig_arc(cb_trig_of(K), s, y[3]) / s : 1;
  for (int i = 0; i < 3; i++) v[i] = f * y[i];
}

void cb_curved_towards(double K, const double p[4], const double y[4], double out[4]) {
  const double along = cb_dot3(p, y), f = K * along / (1 + p[3]) + y[3];
  for (int i = 0; i < 3; i++) out[i] = y[i] - f * p[i];
  out[3] = K * along + p[3] * y[3];
}

double cb_curved_plane(double K, const double a[4], const double b[4], const double c[4], double plane[4]) {
  double bc[3], ca[3], ab[3];
  cb_cross3(b, c, bc);
  cb_cross3(c, a, ca);
  cb_cross3(a, b, ab);
  for (int i = 0; i < 3; i++) plane[i] = a[3] * bc[i] + b[3] * ca[i] + c[3] * ab[i];
  plane[3] = -cb_dot3(a, bc);
  const double norm = sqrt(cb_dot3(plane, plane) + K * plane[3] * plane[3]);
  for (int i = 0; i < 4; i++) plane[i] /= norm;
  return norm;
}

#define A 0.10128650732345634
#define B 0.47014206410511509
const double cb_curved_rule[CB_CURVED_POINTS][4] = {
    {1. / 3, 1. / 3, 1. / 3, 0.225},        {1 - 2 * A, A, A, 0.12593918054482715},
    {A, 1 - 2 * A, A, 0.12593918054482715}, {A, A, 1 - 2 * A, 0.12593918054482715},
    {1 - 2 * B, B, B, 0.13239415278850618}, {B, 1 - 2 * B, B, 0.13239415278850618},
    {B, B, 1 - 2 * B, 0.13239415278850618}};

double cb_curved_form(double K, const double a[4], const double b[4]) { return a[3] * b[3] + K * cb_dot3(a, b); }

double cb_curved_node(double K, const double y[3][4], int k, double q[4]) {
  const double *l = cb_curved_rule[k];
  for (int i = 0; i < 4; i++) q[i] = l[0] * y[0][i] + l[1] * y[1][i] + l[2] * y[2][i];
  const double c = cb_curved_form(K, q, q), root = sqrt(c);
  for (int i = 0; i < 4; i++) q[i] /= root;
  return c;
}

double cb_curved_area(double K, const double a[4], const double b[4], const double c[4], double norm) {
  const double sum = 1 + cb_curved_form(K, a, b) + cb_curved_form(K, b, c) + cb_curved_form(K, c, a);
  return K == 0 ? 2 * norm / sum : 2 / K * atan2(K * norm, sum);
}

void cb_curved_flux(double K, const double plane[4], const double y[4], double m[6]) {
  cb_cross3(y, plane, m);
  for (int i = 0; i < 3; i++) m[3 + i] = y[3] * plane[i] - K * plane[3] * y[i];
}

double cb_curved_distance(double K, const double a[4], const double b[4]) {
  const cb_trig t = cb_trig_of(K);
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]}, e = a[3] - b[3];
  if (K == 0) return sqrt(cb_dot3(d, d));
  const double chord = sqrt(fmax(0, cb_dot3(d, d) + e * e / K)), half = t.r * chord / 2;
  if (K < 0) return 2 * asinh(half) / t.r;
  return half * half < 0.5 ? 2 * asin(half) / t.r : 2 * atan2(half, sqrt(fmax(0, 1 - half * half))) / t.r;
}
