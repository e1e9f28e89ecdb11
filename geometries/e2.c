/* The plane E^2: x in R^2, <x,y> = x.y. */
#include <curvebody/geometry.h>

typedef struct e2_params {
  double curvature;
} e2_params;

static const cb_param params[] = {
    {"curvature", CB_PARAM_REAL, offsetof(e2_params, curvature), "0", "1/length^2", "[0, 0]", NULL,
     "always 0: use s2 or h2 for a curved surface"},
    {0},
};

static cb_status init(cb_geometry *g, const void *p) {
  const e2_params *given = p;
  return cb_geometry_init_constant(g, 2, given->curvature);
}

const cb_geometry_class cb_geometry_e2 = {
    .name = "e2",
    .title = "Euclidean plane",
    .doc = "flat; points (x, y)",
    .params = params,
    .params_size = sizeof(e2_params),
    .init = init,
};
