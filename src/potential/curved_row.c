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

/* What the sums run over: the points of a panel as they are seen, their sines S, weights and how many. */
typedef struct points {
  int n;
  const double *weight;
  double w[CB_CURVED_POINTS], S[CB_CURVED_POINTS];
} points;

static void see(const view *v, int n, const double (*node)[4], const double *weight, points *out) {
  out->n = n, out->weight = weight;
  for (int k = 0; k < n; k++) {
    double q[4];
    cb_curved_towards(v->K, v->x, node[k], q);
    out->S[k] = sqrt(cb_dot3(q, q)), out->w[k] = q[3];
  }
}

static double dipole(const view *v, const cb_curved_panel *j, const double p[3][4], const points *q) {
  const bool behind = v->K > 0 && p[0][3] + p[1][3] + p[2][3] < 3 * beyond;
  double sum = 0;
  if (v->K < 0) return -solid_angle(p) / (4 * pi);
  for (int k = 0; k < q->n; k++) {
    const double sine = v->r * q->S[k], t = atan2(sine, q->w[k]);
    /* t - sin cos = pi - ((pi - t) - sin(pi - t) cos(pi - t)): behind, the whole kernel is of the angle left */
    sum += q->weight[k] * (behind ? background(pi - t, sine, -q->w[k]) : background(t, sine, q->w[k]));
  }
  sum *= (cb_dot3(j->plane, v->x) + j->plane[3] * v->x[3]) * v->K * v->r / (4 * pi * pi);
  return behind ? sum : -solid_angle(p) / (4 * pi) - sum;
}

static double near_source(const view *v, const double p[3][4], const points *q) {
  static const double origin[3] = {0};
  double flat[3][3], n[3], whole, sum = 0;
  for (int k = 0; k < q->n; k++) sum += q->weight[k] * smooth(v, q->S[k], q->w[k]);
  for (int k = 0; k < 9; k++) flat[k / 3][k % 3] = p[k / 3][k % 3] / p[k / 3][3];
  cb_normal3(flat[0], flat[1], flat[2], n);
  const double height = cb_dot3(n, flat[0]), square = height * height / cb_dot3(n, n);
  cb_panel_potential((const double(*)[3])flat, origin, &whole, NULL);
  return sum + sqrt(1 + v->K * square) * whole;
}

static double far_source(const view *v, const points *q) {
  double sum = 0;
  for (int k = 0; k < q->n; k++) sum += q->weight[k] * green(v, q->S[k], q->w[k]);
  return sum;
}

void cb_curved_row(double K, int n, const cb_curved_panel *panel, bool few, const double x[4], int self, double *S,
                   double *D) {
  const view v = {K, sqrt(fabs(K)), x};
  for (int i = 0; i < n; i++) {
    const cb_curved_panel *j = panel + i;
    double p[3][4], closest = INFINITY, least = INFINITY;
    for (int k = 0; k < 3; k++) {
      cb_curved_towards(K, x, j->corner[k], p[k]);
      closest = fmin(closest, cb_dot3(p[k], p[k]));
      least = fmin(least, p[k][3]);
    }
    const bool far = closest > near * near * j->size * j->size, singular = !far && least > least_w;
    points q;
    if (far && (few || K < 0))
      see(&v, CB_CURVED_FEW, j->few, j->few_weight, &q);
    else
      see(&v, CB_CURVED_POINTS, j->node, j->weight, &q);
    if (S) S[i] = singular ? near_source(&v, (const double(*)[4])p, &q) : far_source(&v, &q);
    if (D) D[i] = i == self ? 0 : dipole(&v, j, (const double(*)[4])p, &q);
  }
}
