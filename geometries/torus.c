/* The torus of revolution in E^3 with tube radius r around a circle of radius R > r:
 *
 *   X = ((R + r cos v) cos u, (R + r cos v) sin u, r sin v)
 *   g = diag((R + r cos v)^2, r^2),   K = cos v/(r (R + r cos v))
 *
 * X is the point, g the metric in (u, v), and K the Gaussian curvature. u and v have period 2 pi. The continuous
 * isometries are the translations of u. On the inner equator v = pi geodesics are unstable, and the shortest geodesic
 * to a point of the cut locus may not be unique. The injectivity radius is at least min(pi/sqrt(max K), half of the
 * length of the shortest closed geodesic), where max K = 1/(r (R + r)). By Clairaut's relation u is monotonic along a
 * geodesic. A closed geodesic therefore goes around the axis or is a meridian, with a length of at least 2 pi (R - r)
 * or 2 pi r.
 * Source: do Carmo, Differential Geometry of Curves and Surfaces (1976), section 3-3, example 5; do Carmo, Riemannian
 * Geometry (1992), chapter 13, proposition 2.12 (Klingenberg).
 */
#include <curvebody/intrinsic.h>
#include "geometry/space_class.h"

#include <math.h>
#include <stdlib.h>

static const double TURN = 6.28318530717958647692;

typedef struct torus_params {
  double major, minor;
} torus_params;

static const cb_param params[] = {
    {"major_radius", CB_PARAM_REAL, offsetof(torus_params, major), "2", "length", "> 0", NULL,
     "R, the radius of the circle at the centre of the tube"},
    {"minor_radius", CB_PARAM_REAL, offsetof(torus_params, minor), "1", "length", "> 0", NULL,
     "r, the radius of the tube, less than R"},
    {0},
};

typedef struct torus {
  struct cb_intrinsic intrinsic; /* the first member; g->intrinsic points to it */
  double R, r;
} torus;

static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  const torus *own = g->data;
  const cb_metric_entries m = cb_metric_begin(g->dim, gij, dg, ddg);
  const double r = own->r, s = r * sin(q[1]), c = r * cos(q[1]), rho = own->R + c;
  cb_metric_value(m, 0, 0, rho * rho);
  cb_metric_value(m, 1, 1, r * r);
  cb_metric_first(m, 1, 0, 0, -2 * rho * s);
  cb_metric_second(m, 1, 1, 0, 0, 2 * (s * s - rho * c));
  return CB_OK;
}

static void plot(const cb_space *g, const double *q, double *x, double *jacobian) {
  const torus *own = g->data;
  const double s = own->r * sin(q[1]), c = own->r * cos(q[1]), rho = own->R + c;
  const cb_profile b = {{rho, rho, s}, {-s, -s, c}, {-c, -c, -s}, {s, s, -c}};
  cb_surface_plot(q[0], b, x, jacobian);
}

static const cb_chart chart = {
    .name = "angles",
    .doc = "angle u around the axis, angle v around the tube from its outer equator",
    .coordinates = {"u", "v"},
    .metric = metric,
};

static cb_status init(cb_space *g, const void *p) {
  const torus_params *given = p;
  if (!(given->minor < given->major))
    return cb_fail(CB_ERROR_ARGUMENT, "minor_radius %.6g: expected less than major_radius %.6g", given->minor,
                   given->major);
  torus *own = g->data = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a torus");
  own->R = given->major;
  own->r = given->minor;
  own->intrinsic = (struct cb_intrinsic){
      .killing_names = cb_surface_rotation_names, .killing = cb_surface_rotation, .period = {TURN, TURN}, .plot = plot};
  own->intrinsic.injectivity = TURN / 2 * fmin(sqrt(own->r * (own->R + own->r)), fmin(own->r, own->R - own->r));
  return cb_space_init_intrinsic(g, 2, &chart, &own->intrinsic);
}

const cb_space_class cb_space_torus = {
    .name = "torus",
    .title = "torus of revolution",
    .doc = "surface of a tube around a circle in E3; distances by integrated geodesics",
    .params = params,
    .params_size = sizeof(torus_params),
    .init = init,
};
