/* Hyperbolic space H^3 of curvature K < 0: x in R^4 with <x,x> = 1/K, w > 0, <x,y> = x1 y1 + x2 y2 + x3 y3 - w w'. */
#include <curvebody/geometry.h>

typedef struct h3_params {
  double curvature;
} h3_params;

static const cb_param params[] = {
    {"curvature", CB_PARAM_REAL, offsetof(h3_params, curvature), "-1", "1/length^2", "< 0", NULL,
     "-1/R^2, R the radius of curvature"},
    {0},
};

static cb_status init(cb_geometry *g, const void *p) {
  const h3_params *given = p;
  return cb_geometry_init_constant(g, 3, given->curvature);
}

const cb_geometry_class cb_geometry_h3 = {
    .name = "h3",
    .title = "hyperbolic space",
    .doc = "points (x, y, z, w) with x^2 + y^2 + z^2 - w^2 = -R^2, w > 0",
    .params = params,
    .params_size = sizeof(h3_params),
    .init = init,
};
