/* The ellipsoid in E^3 with semi-axes a, b, c, in longitude u and (parametric) latitude v:
 *
 *   (X, Y, Z) = (a cos u cos v, b sin u cos v, c sin v),   K = 1/(a b c h)^2,  h = X^2/a^4 + Y^2/b^4 + Z^2/c^4
 *
 * K is the Gaussian curvature. u has period 2 pi and -pi/2 < v < pi/2; the coordinates are singular at the poles. If a
 * = b, the translations of u are isometries. K is largest at the ends of the longest axis: a^2/(b c)^2 for a >= b, c.
 * The injectivity radius is at least pi/sqrt(max K).
 * Source: do Carmo, Differential Geometry of Curves and Surfaces (1976), sections 2-5 and 3-3; do Carmo, Riemannian
 * Geometry (1992), chapter 13, proposition 3.4 (Klingenberg).
 */
#include <curvebody/intrinsic.h>
#include "geometry/space_class.h"

#include <math.h>
#include <stdlib.h>

static const double TURN = 6.28318530717958647692;

typedef struct ellipsoid_params {
  double a, b, c;
} ellipsoid_params;

static const cb_param params[] = {
    {"a", CB_PARAM_REAL, offsetof(ellipsoid_params, a), "1.5", "length", "> 0", NULL, "semi-axis along x"},
    {"b", CB_PARAM_REAL, offsetof(ellipsoid_params, b), "1.2", "length", "> 0", NULL, "semi-axis along y"},
    {"c", CB_PARAM_REAL, offsetof(ellipsoid_params, c), "1", "length", "> 0", NULL, "semi-axis along z"},
    {0},
};

typedef struct ellipsoid {
  struct cb_intrinsic intrinsic; /* the first member; g->intrinsic points to it */
  double a, b, c;
} ellipsoid;

static cb_status inside(const cb_space *g, const double *q) {
  (void)g;
  if (fabs(q[1]) < TURN / 4) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "latitude v = %.6g: expected -pi/2 < v < pi/2, away from the poles", q[1]);
}

static void profile(const ellipsoid *own, double v, cb_profile b) {
  const double c = cos(v), s = sin(v);
  const double even[4] = {c, -s, -c, s}, odd[4] = {s, c, -s, -c};
  for (int k = 0; k < 4; k++) {
    b[k][0] = own->a * even[k];
    b[k][1] = own->b * even[k];
    b[k][2] = own->c * odd[k];
  }
}

static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_status status = inside(g, q);
  if (status) return status;
  cb_profile b;
  profile(g->data, q[1], b);
  cb_surface_metric(q[0], b, gij, dg, ddg);
  return CB_OK;
}

static void plot(const cb_space *g, const double *q, double *x, double *jacobian) {
  cb_profile b;
  profile(g->data, q[1], b);
  cb_surface_plot(q[0], b, x, jacobian);
}

static const cb_chart chart = {
    .name = "angles",
    .doc = "longitude u and parametric latitude v, away from the poles",
    .coordinates = {"u", "v"},
    .metric = metric,
};

static cb_status init(cb_space *g, const void *p) {
  const ellipsoid_params *given = p;
  ellipsoid *own = g->data = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for an ellipsoid");
  own->a = given->a;
  own->b = given->b;
  own->c = given->c;
  own->intrinsic =
      (struct cb_intrinsic){.killing = cb_surface_rotation, .inside = inside, .period = {TURN, 0}, .plot = plot};
  const double longest = fmax(own->a, fmax(own->b, own->c));
  own->intrinsic.injectivity = TURN / 2 * own->a * own->b * own->c / (longest * longest);
  if (given->a == given->b) own->intrinsic.killing_names = cb_surface_rotation_names;
  return cb_space_init_intrinsic(g, 2, &chart, &own->intrinsic);
}

const cb_space_class cb_space_ellipsoid = {
    .name = "ellipsoid",
    .title = "ellipsoid",
    .doc = "surface with semi-axes a, b, c in E3, without its poles; distances by integrated geodesics",
    .params = params,
    .params_size = sizeof(ellipsoid_params),
    .init = init,
};
