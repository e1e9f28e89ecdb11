/* The universal cover of SL(2, R) with a left-invariant metric, as the cover of the unit tangent bundle of H^2. A point
 * consists of a point (x, y = e^w) of the half-plane and a unit vector there, at the angle theta (not reduced modulo 2
 * pi) from the x axis.
 *
 *   ds^2 = (dx^2 + dy^2)/y^2 + (dtheta + dx/y)^2 = e^-2w dx^2 + dw^2 + (dtheta + e^-w dx)^2
 *
 * omega = dtheta + dx/y is the Levi-Civita connection of H^2, and d omega is the area form of H^2. Let e1, e2 be the
 * lifts of an orthonormal frame of H^2 and e3 = d_theta. The sectional curvatures are K(e1, e2) = -1 - 3/4, K(e1, e3) =
 * K(e2, e3) = 1/4. (Milnor 1976, section 4: structure constants lambda = (-1, -1, 1), mu = (1/2, 1/2, -3/2), Ricci =
 * (-3/2, -3/2, 1/2).) The continuous isometries are those of H^2, lifted, and the rotations of the fibres. The lift of
 * the rotation about the point x = 0, y = 1 is chosen so that its field is 0 at the origin. The space is complete, and
 * the coordinates are regular everywhere.
 * Sources: Scott, The geometries of 3-manifolds, Bull. London Math. Soc. 15 (1983) 401, section 4,
 * doi:10.1112/blms/15.5.401; Milnor, Curvatures of left invariant metrics on Lie groups, Adv. Math. 21 (1976) 293,
 * doi:10.1016/S0001-8708(76)80002-3.
 */
#include <curvebody/intrinsic.h>
#include "geometry/space_class.h"
#include "numerics/dd.h"

#include <math.h>
#include <string.h>

static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_metric_entries m = cb_metric_begin(g->dim, gij, dg, ddg);
  const double e = exp(-q[1]), square = e * e;
  cb_metric_value(m, 0, 0, 2 * square);
  cb_metric_value(m, 0, 2, e);
  cb_metric_value(m, 1, 1, 1);
  cb_metric_value(m, 2, 2, 1);
  cb_metric_first(m, 1, 0, 0, -4 * square);
  cb_metric_first(m, 1, 0, 2, -e);
  cb_metric_second(m, 1, 1, 0, 0, 8 * square);
  cb_metric_second(m, 1, 1, 0, 2, e);
  return CB_OK;
}

static const char *const names[] = {"translation_x", "boost_w", "rotation_xw", "rotation_theta", NULL};

static void killing(const cb_space *g, int index, const double *q, double *v) {
  (void)g;
  const double x = q[0];
  /* the fields, with y = e^w: d_x, x d_x + y d_y, (1 + x^2 - y^2)/2 d_x + x y d_y + (y - 1) d_theta, d_theta */
  const double fields[][3] = {{1, 0, 0}, {x, 1, 0}, {(x * x - expm1(2 * q[1])) / 2, x, expm1(q[1])}, {0, 0, 1}};
  memcpy(v, fields[index], sizeof fields[index]);
}

/* Sets the matrix of L_a q = a + diag(e^(a_1), 1, 1) q. These maps are the subgroup of isometries that acts simply
 * transitively: the affine maps x + i y -> a_0 + e^(a_1) (x + i y) of the half-plane, which keep angles with the x
 * axis, and the rotations of the fibres by a_2. */
static void translation(const cb_space *g, const double *a, double *m, double *low) {
  (void)g;
  const cb_dd grow = cb_dd_exp(a[1]);
  memcpy(m, (double[9]){grow.hi, 0, 0, 0, 1, 0, 0, 0, 1}, 9 * sizeof *m);
  if (low) memcpy(low, (double[9]){grow.lo}, 9 * sizeof *low);
}

static const cb_chart chart = {
    .name = "bundle",
    .doc = "half-plane point (x, e^w) and the angle theta of a unit vector there, unrolled",
    .coordinates = {"x", "w", "theta"},
    .metric = metric,
};
static const struct cb_intrinsic intrinsic = {.killing_names = names, .killing = killing, .translation = translation};

static cb_status init(cb_space *g, const void *p) {
  (void)p;
  return cb_space_init_intrinsic(g, 3, &chart, &intrinsic);
}

const cb_space_class cb_space_sl2 = {
    .name = "sl2",
    .title = "universal cover of SL(2,R)",
    .doc = "unit tangent bundle of H2, e^-2w dx^2 + dw^2 + (dtheta + e^-w dx)^2; distances by integrated geodesics",
    .init = init,
};
