/* The undisturbed fluid at one place (see fluid/fluid_point.h). */
#include "fluid/fluid_point.h"

#include "fluid/medium_surfaces.h"

cb_status cb_fluid_point_at(const cb_flow *flow, const cb_medium *medium, double t, const double x[3],
                            cb_fluid_point *out) {
  *out = (cb_fluid_point){.density = 0};
  cb_status status = flow ? cb_flow_at(flow, t, 1, (const double(*)[3])x, &out->u, &out->gradient, &out->rate) : CB_OK;
  if (!status && medium) status = cb_medium_gradient(medium, x, &out->density, out->density_gradient);
  for (int i = 0; i < 3; i++) out->acceleration[i] = out->rate[i] + cb_dot3(out->gradient[i], out->u);
  return status;
}
