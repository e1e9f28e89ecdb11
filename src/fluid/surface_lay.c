/* A flat surface laid into a curved space, and the middles of its geodesic edges. */
#include "fluid/lay.h"
#include "fluid/surface_private.h"

#include "numerics/curved.h"
#include "numerics/vec3.h"

#include <math.h>

cb_status cb_surface_lay(cb_surface *s, double K, cb_surface_chart chart) {
  const cb_laying to = {K, chart};
  if (!isfinite(K)) return cb_fail(CB_ERROR_ARGUMENT, "a surface in a space of curvature %g", K);
  if (s->curvature != 0)
    return cb_fail(CB_ERROR_ARGUMENT, "the surface lies in a space of curvature %g: expected a flat one", s->curvature);
  if (K == 0) return CB_OK;
  const double reach = cb_lay_reach(to);
  for (int v = 0; v < s->vertices; v++) {
    const double *x = s->x[v], far = sqrt(cb_dot3(x, x));
    if (!(far < reach))
      return cb_fail(CB_ERROR_DOMAIN,
                     "vertex %d at (%g, %g, %g) is %g from the origin: the %s chart of the space of curvature %g "
                     "reaches to %g",
                     s->number[v], x[0], x[1], x[2], far, chart == CB_CHART_GNOMONIC ? "gnomonic" : "exponential", K,
                     reach);
  }
  for (int v = 0; v < s->vertices; v++) {
    const double x[3] = {s->x[v][0], s->x[v][1], s->x[v][2]};
    cb_lay(to, x, s->x[v]);
  }
  s->curvature = K;
  ((cb_surface_owned *)s)->chart = chart;
  return CB_OK;
}

void cb_surface_middle(double K, const double a[3], const double b[3], double out[3]) {
  double p[4], q[4];
  for (int i = 0; i < 3; i++) out[i] = 0.5 * (a[i] + b[i]);
  if (K == 0) return;
  cb_curved_point(K, a, p);
  cb_curved_point(K, b, q);
  for (int i = 0; i < 4; i++) p[i] += q[i];
  const double root = sqrt(p[3] * p[3] + K * cb_dot3(p, p));
  for (int i = 0; i < 4; i++) p[i] /= root;
  cb_curved_normal(K, p, out);
}
