/* The sphere S^3 of curvature K > 0: x in R^4 with <x,x> = 1/K, <x,y> = x1 y1 + x2 y2 + x3 y3 + w w'. */
#include <curvebody/geometry.h>

typedef struct s3_params {
  double curvature;
} s3_params;

static const cb_param params[] = {
    {"curvature", CB_PARAM_REAL, offsetof(s3_params, curvature), "1", "1/length^2", "> 0", NULL,
     "1/R^2, R the radius"},
    {0},
};

static cb_status init(cb_geometry *g, const void *p) {
  const s3_params *given = p;
  return cb_geometry_init_constant(g, 3, given->curvature);
}

const cb_geometry_class cb_geometry_s3 = {
    .name = "s3",
    .title = "3-sphere",
    .doc = "points (x, y, z, w) with x^2 + y^2 + z^2 + w^2 = R^2",
    .params = params,
    .params_size = sizeof(s3_params),
    .init = init,
};
