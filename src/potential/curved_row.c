/* Rows of S and D of geodesic panels (equations: potential/curved.h). */
#include "potential/curved_private.h"

#include "numerics/vec3.h"
#include "potential/panels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double pi = 3.14159265358979323846, near = 4, /* sizes of a panel within which S is singular */
    least_w = 0.3,                                         /* of corners that have a gnomonic image */
    beyond = -0.5;

/* A space, and the point that all is seen from. */
typedef struct view {
  double K, r;
  const double *x;
} view;

/* (t - sin t cos t)/sin^3 t, with the series of 2 t - sin 2t where it cancels. */
static double background(double t, double sine, double cosine) {
  const double z = t * t;
  if (t > 0.5) return (t - sine * cosine) / (sine * sine * sine);
  const double q = sine > 0 ? t / sine : 1,
               sum = 2. / 3 - z * (2. / 15 - z * (4. / 315 - z * (2. / 2835 - z * (4. / 155925 - z * (4. / 6081075)))));
  return q * q * q * sum;
}

/* G at a point of sine S and cosine w. */
static double green(const view *v, double S, double w) {
  if (v->K < 0) return (w / S - v->r) / (4 * pi);
  const double t = atan2(v->r * S, w), rest = pi - t;
  /* at the antipode (pi - t) cot t -> -1 */
  return rest < 1e-8 ? -v->r / (4 * pi * pi) : rest * w / (S * 4 * pi * pi);
}

/* G - 1/(4 pi S w^2), smooth at x. */
static double smooth(const view *v, double S, double w) {
  const double rest = -v->K * S * (w * w + w + 1) / ((1 + w) * w * w);
  if (v->K < 0) return (rest - v->r) / (4 * pi);
  const double t = atan2(v->r * S, w);
  return (rest - (t > 1e-8 ? t * w / (S * pi) : v->r / pi)) / (4 * pi);
}

static double solid_angle(const double p[3][4]) {
  double cross[3];
  cb_cross3(p[1], p[2], cross);
  const double A = sqrt(cb_dot3(p[0], p[0])), B = sqrt(cb_dot3(p[1], p[1])), C = sqrt(cb_dot3(p[2], p[2]));
  return 2 * atan2(cb_dot3(p[0], cross),
                   A * B * C + cb_dot3(p[0], p[1]) * C + cb_dot3(p[1], p[2]) * A + cb_dot3(p[2], p[0]) * B);
}

static double dipole(const view *v, const cb_curved_panel *j, const double p[3][4], const double (*q)[4]) {
  const double s = cb_dot3(j->plane, v->x) + j->plane[3] * v->x[3];
  const bool behind = v->K > 0 && p[0][3] + p[1][3] + p[2][3] < 3 * beyond;
  double sum = 0;
  if (v->K < 0) return -solid_angle(p) / (4 * pi);
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    const double sine = v->r * sqrt(cb_dot3(q[k], q[k])), t = atan2(sine, q[k][3]);
    /* t - sin cos = pi - ((pi - t) - sin(pi - t) cos(pi - t)): behind, the whole kernel is of the angle left */
    sum += j->weight[k] * (behind ? background(pi - t, sine, -q[k][3]) : background(t, sine, q[k][3]));
  }
  sum *= s * v->K * v->r / (4 * pi * pi);
  return behind ? sum : -solid_angle(p) / (4 * pi) - sum;
}

static double source(const view *v, const cb_curved_panel *j, const double p[3][4], const double (*q)[4]) {
  const double least = fmin(p[0][3], fmin(p[1][3], p[2][3]));
  double closest = INFINITY, sum = 0;
  for (int k = 0; k < 3; k++) closest = fmin(closest, cb_dot3(p[k], p[k]));
  const bool is_near = closest < near * near * j->size * j->size && least > least_w;
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    const double S = sqrt(cb_dot3(q[k], q[k]));
    sum += j->weight[k] * (is_near ? smooth(v, S, q[k][3]) : green(v, S, q[k][3]));
  }
  if (!is_near) return sum;
  static const double origin[3] = {0};
  double flat[3][3], n[3], whole;
  for (int k = 0; k < 9; k++) flat[k / 3][k % 3] = p[k / 3][k % 3] / p[k / 3][3];
  cb_normal3(flat[0], flat[1], flat[2], n);
  const double height = cb_dot3(n, flat[0]), square = height * height / cb_dot3(n, n);
  cb_panel_potential((const double(*)[3])flat, origin, &whole, NULL);
  return sum + sqrt(1 + v->K * square) * whole;
}

void cb_curved_row(double K, int n, const cb_curved_panel *panel, const double x[4], int self, double *S, double *D) {
  const view v = {K, sqrt(fabs(K)), x};
  for (int i = 0; i < n; i++) {
    const cb_curved_panel *j = panel + i;
    double p[3][4], q[CB_CURVED_POINTS][4];
    for (int k = 0; k < 3; k++) cb_curved_towards(K, x, j->corner[k], p[k]);
    if (S || K > 0)
      for (int k = 0; k < CB_CURVED_POINTS; k++) cb_curved_towards(K, x, j->node[k], q[k]);
    if (S) S[i] = source(&v, j, (const double(*)[4])p, (const double(*)[4])q);
    if (D) D[i] = i == self ? 0 : dipole(&v, j, (const double(*)[4])p, (const double(*)[4])q);
  }
}
