/* The hyperbolic plane H^2 of curvature K < 0: x in R^3 with <x,x> = 1/K, w > 0, <x,y> = x1 y1 + x2 y2 - w w'. */
#include <curvebody/geometry.h>

typedef struct h2_params {
  double curvature;
} h2_params;

static const cb_param params[] = {
    {"curvature", CB_PARAM_REAL, offsetof(h2_params, curvature), "-1", "1/length^2", "< 0", NULL,
     "-1/R^2, R the radius of curvature"},
    {0},
};

static cb_status init(cb_geometry *g, const void *p) {
  const h2_params *given = p;
  return cb_geometry_init_constant(g, 2, given->curvature);
}

const cb_geometry_class cb_geometry_h2 = {
    .name = "h2",
    .title = "hyperbolic plane",
    .doc = "points (x, y, w) with x^2 + y^2 - w^2 = -R^2, w > 0",
    .params = params,
    .params_size = sizeof(h2_params),
    .init = init,
};
