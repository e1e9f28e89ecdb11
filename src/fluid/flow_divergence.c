/* Is a flow one of an incompressible fluid? By its gradient at fixed random places and times, of all sizes from a
 * hundredth to a hundred. */
#include "fluid/flow.h"
#include "numerics/random.h"

#include <math.h>
#include <stdint.h>

/* What numbers typed with six digits leave of a divergence that is 0, relative to the gradient. */
static const double small = 1e-6;

static double some_size(uint64_t *state) { return pow(100, 2 * cb_uniform(state) - 1); }

double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size) {
  double traces = 0, squares = 0;
  for (int p = 0; p < n; p++) {
    const double *g = gradient[p][0], trace = g[0] + g[4] + g[8];
    traces += trace * trace;
    for (int i = 0; i < 9; i++) squares += g[i] * g[i];
  }
  *size = sqrt(squares / n);
  return sqrt(traces / n);
}

cb_status cb_flow_check_divergence(const cb_flow *f) {
  enum { PLACES = 64 };
  uint64_t state = 1;
  double first[3] = {0}, when = 0, found = 0, beside = 0;
  bool any = false;
  for (int p = 0; p < PLACES; p++) {
    double x[1][3] = {{0}}, u[1][3], G[1][3][3], size, t = 0;
    for (int i = 0; p && i < 3; i++) x[0][i] = (cb_uniform(&state) < 0.5 ? -1 : 1) * some_size(&state);
    if (p) t = some_size(&state);
    if (cb_flow_at(f, t, 1, (const double(*)[3])x, u, G, NULL)) continue; /* such as on the axis of a vortex */
    const double divergence = cb_flow_divergence(1, (const double(*)[3][3])G, &size);
    if (!(size > 0)) continue;
    if (divergence <= small * size) return CB_OK; /* everywhere, or not everywhere else */
    if (any) continue;
    any = true;
    for (int i = 0; i < 3; i++) first[i] = x[0][i];
    when = t, found = G[0][0][0] + G[0][1][1] + G[0][2][2], beside = size;
  }
  if (!any) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the fluid is incompressible: expected a flow without divergence, found %.3g/s at (%.3g, %.3g, %.3g), "
                 "t = %.3g, beside a gradient of %.3g/s",
                 found, first[0], first[1], first[2], when, beside);
}
