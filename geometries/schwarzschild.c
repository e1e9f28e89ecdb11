/* The slice t = constant of the Schwarzschild solution of mass M (length, G = c = 1) in isotropic coordinates:
 *
 *   g = psi^4 1,   psi = 1 + M/(2 rho),   rho^2 = x^2 + y^2 + z^2,   areal radius R = rho psi^2
 *
 * Outside the throat, rho > M/2 (R > 2M), which is a minimal sphere where the coordinates stay regular. Sectional
 * curvature -M/R^3 of planes with the radius, 2M/R^3 of planes across it, scalar curvature 0. A geodesic is a path of a
 * body in this space, not in spacetime. Isometries: the rotations.
 * Source: Misner, Thorne & Wheeler, Gravitation (1973), eq. 31.22; Wald, General Relativity (1984), section 6.
 */
#include <curvebody/intrinsic.h>
#include "geometry/metric_entry.h"

#include <math.h>
#include <stdlib.h>

typedef struct schwarzschild_params {
  double mass;
} schwarzschild_params;

static const cb_param params[] = {
    {"mass", CB_PARAM_REAL, offsetof(schwarzschild_params, mass), "1", "length", "> 0", NULL,
     "M, half the radius of the horizon"},
    {0},
};

typedef struct slice {
  struct cb_intrinsic intrinsic; /* first: intrinsic points here */
  double mass;
} slice;

static cb_status inside(const cb_geometry *g, const double *q) {
  const slice *own = g->data;
  const double rho = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  if (rho > own->mass / 2) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "point (%.6g, %.6g, %.6g), rho = %.6g: expected rho > M/2 = %.6g, outside the throat",
                 q[0], q[1], q[2], rho, own->mass / 2);
}

static cb_status metric(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_status status = inside(g, q);
  if (status) return status;
  const slice *own = g->data;
  /* psi and its derivatives by s = rho^2 */
  const double s = q[0] * q[0] + q[1] * q[1] + q[2] * q[2], half = own->mass / (2 * sqrt(s));
  const double psi = 1 + half, psi1 = -half / (2 * s), psi2 = 0.75 * half / (s * s);
  const double square = psi * psi, cube = square * psi;
  cb_metric_conformal(cb_metric_begin(g->dim, gij, dg, ddg), q, square * square, 4 * cube * psi1,
                      12 * square * psi1 * psi1 + 4 * cube * psi2);
  return CB_OK;
}

static const cb_chart chart = {
    .name = "isotropic",
    .doc = "isotropic Cartesian coordinates, outside the throat rho = M/2",
    .coordinates = {"x", "y", "z"},
    .metric = metric,
};

static cb_status init(cb_geometry *g, const void *p) {
  const schwarzschild_params *given = p;
  slice *own = g->data = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a Schwarzschild slice");
  own->mass = given->mass;
  own->intrinsic = (struct cb_intrinsic){.killing_names = cb_rotation_names,
                                         .killing = cb_rotation_field,
                                         .inside = inside,
                                         .base = {5 * given->mass, 0, 0}};
  return cb_geometry_init_intrinsic(g, 3, &chart, &own->intrinsic);
}

const cb_geometry_class cb_geometry_schwarzschild = {
    .name = "schwarzschild",
    .title = "spatial slice of Schwarzschild's solution",
    .doc = "(1 + M/2 rho)^4 (dx^2 + dy^2 + dz^2) outside the throat; distances by integrated geodesics",
    .params = params,
    .params_size = sizeof(schwarzschild_params),
    .init = init,
};
