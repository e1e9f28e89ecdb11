/* A law between two points: see pair.h. */
#include "dynamics/pair.h"
#include "geometry/chord.h"
#include <math.h>

/* Derivatives of f(w) with f_x = phi I e, phi' = dphi: gradient and Hessian in (x, y), e = x - y. */
static void chord_derivatives(const cb_geometry *g, const double *e, double phi, double dphi, double *gradient,
                              double *hessian) {
  int k = g->k, n = 2 * k;
  if (gradient)
    for (int a = 0; a < k; a++) {
      gradient[a] = phi * (g->form[a] * e[a]);
      gradient[k + a] = -gradient[a];
    }
  if (!hessian) return;
  for (int a = 0; a < k; a++)
    for (int b = 0; b < k; b++) {
      double h = 2 * dphi * (g->form[a] * e[a]) * (g->form[b] * e[b]) + (a == b ? phi * g->form[a] : 0);
      hessian[a * n + b] = hessian[(k + a) * n + k + b] = h;
      hessian[a * n + k + b] = hessian[(k + a) * n + b] = -h;
    }
}

static cb_status apart(double d) {
  if (d > 0) return CB_OK;
  return cb_fail(CB_STEP_DOMAIN, "two points have no distance with derivatives: d = %g", d);
}

cb_status cb_pair_distance(const cb_geometry *g, const double *x, const double *y, double *d, double *gradient,
                           double *hessian) {
  if (cb_pair_by_chord(g)) {
    double e[CB_COORD_MAX], curvature = g->factor[0].curvature, w = cb_pair_chord(g, x, y, e);
    double ss = w * (1 - 0.25 * curvature * w), s = sqrt(ss), phi = 1 / s;
    *d = cb_chord_distance(curvature, w);
    if (!(gradient || hessian)) return CB_OK;
    if (!(ss > 0)) return apart(s);
    chord_derivatives(g, e, phi, -0.5 * phi * (1 - 0.5 * curvature * w) / ss, gradient, hessian);
    return CB_OK;
  }
  cb_status status;
  if (g->chart) {
    status = g->chart->distance(g, x, y, d, gradient, hessian);
  } else if (gradient || hessian) {
    status = cb_distance_derivatives(g, x, y, d, gradient, hessian);
  } else {
    *d = cb_distance(g, x, y);
    status = CB_OK;
  }
  /* Where a distance has no derivatives the step may have gone too far: a smaller one may work. */
  return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
}

cb_status cb_pair_law(const cb_geometry *g, const cb_law *law, const cb_law_pair *pair, const double *x,
                      const double *y, double *v, double *gradient, double *hessian) {
  if (cb_pair_by_chord(g)) {
    double e[CB_COORD_MAX], w = cb_pair_chord(g, x, y, e);
    cb_law_chord c = cb_law_at_chord(law, pair, g->factor[0].curvature, w);
    if (!isfinite(c.phi)) return apart(w > 0 ? NAN : w);
    *v = c.u;
    chord_derivatives(g, e, c.phi, c.dphi, gradient, hessian);
    return CB_OK;
  }
  int n = 2 * g->k;
  double d, dg[CB_PAIR_MAX], dh[CB_PAIR_MAX * CB_PAIR_MAX];
  cb_status status = cb_pair_distance(g, x, y, &d, gradient || hessian ? dg : NULL, hessian ? dh : NULL);
  if (status) return status;
  cb_law_value u = cb_law_at(law, pair, d);
  *v = u.u;
  if (gradient)
    for (int a = 0; a < n; a++) gradient[a] = u.du * dg[a];
  if (hessian)
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++) hessian[a * n + b] = u.ddu * dg[a] * dg[b] + u.du * dh[a * n + b];
  return CB_OK;
}
