/* S^2 x E, the product of the sphere of curvature K > 0 and a line: (x, y, w) with x^2 + y^2 + w^2 = 1/K,
 * then z; d^2 = d_S2^2 + (z1 - z2)^2. Isometries: those of the sphere and the translations of the line. */
#include <curvebody/geometry.h>

typedef struct s2xe_params {
  double curvature;
} s2xe_params;

static const cb_param params[] = {
    {"curvature", CB_PARAM_REAL, offsetof(s2xe_params, curvature), "1", "1/length^2", "> 0", NULL,
     "1/R^2, R the radius of S2"},
    {0},
};

static cb_status init(cb_geometry *g, const void *p) {
  const s2xe_params *given = p;
  return cb_geometry_init_product(g, 2, (int[]){2, 1}, (double[]){given->curvature, 0});
}

const cb_geometry_class cb_geometry_s2xe = {
    .name = "s2xe",
    .title = "sphere times a line",
    .doc = "points (x, y, w, z) with x^2 + y^2 + w^2 = R^2",
    .params = params,
    .params_size = sizeof(s2xe_params),
    .init = init,
};
