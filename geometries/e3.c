/* Flat space E^3: x in R^3, <x,y> = x.y. */
#include <curvebody/geometry.h>

typedef struct e3_params {
  double curvature;
} e3_params;

static const cb_param params[] = {
    {"curvature", CB_PARAM_REAL, offsetof(e3_params, curvature), "0", "1/length^2", "[0, 0]", NULL,
     "always 0: use s3 or h3 for a curved space"},
    {0},
};

static cb_status init(cb_geometry *g, const void *p) {
  const e3_params *given = p;
  return cb_geometry_init_constant(g, 3, given->curvature);
}

const cb_geometry_class cb_geometry_e3 = {
    .name = "e3",
    .title = "Euclidean space",
    .doc = "flat; points (x, y, z)",
    .params = params,
    .params_size = sizeof(e3_params),
    .init = init,
};
