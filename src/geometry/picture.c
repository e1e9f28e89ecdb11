/* Pictures: three numbers to draw a point by.
 *
 *   embedding                   the coordinates x, where there are at most three
 *   stereographic and poincare  R x_i/(R + w) in each curved factor (chart_stereographic.c), x in flat ones
 */
#include "geometry/intrinsic_private.h"

#include <math.h>
#include <string.h>

/* xi = x_i/s, s = 1 + r w;  xi' = (x_i' - xi_i s')/s */
static int ball(cb_factor f, const double *x, const double *v, double *picture, double *velocity) {
  int n = f.count - 1;
  double r = sqrt(fabs(f.curvature)), w = r * x[n], s = 1 + w;
  if (f.curvature > 0 && w < 0) { /* s without cancellation */
    double square = 0;
    for (int i = 0; i < n; i++) square += x[i] * x[i];
    s = f.curvature * square / (1 - w);
  }
  for (int i = 0; i < n; i++) {
    picture[i] = x[i] / s;
    if (v) velocity[i] = (v[i] - picture[i] * r * v[n]) / s;
  }
  return n;
}

void cb_picture(const cb_geometry *g, const double *x, const double *v, double *picture, double *velocity) {
  if (g->intrinsic) {
    cb_intrinsic_picture(g, x, v, picture, velocity);
    return;
  }
  double p[3] = {0}, rate[3] = {0};
  bool whole = strcmp(g->picture, "embedding") == 0;
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    const double *y = x + factor.offset, *u = v ? v + factor.offset : NULL;
    if (factor.curvature != 0 && !whole) {
      at += ball(factor, y, u, p + at, rate + at);
      continue;
    }
    for (int a = 0; a < factor.count && at < 3; a++, at++) {
      p[at] = y[a];
      if (u) rate[at] = u[a];
    }
  }
  memcpy(picture, p, sizeof p);
  if (v && velocity) memcpy(velocity, rate, sizeof rate);
}
