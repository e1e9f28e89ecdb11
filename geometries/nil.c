/* Nil, the Heisenberg group with a left-invariant metric:
 *
 *   ds^2 = dx^2 + dy^2 + (dz - x dy)^2;   (a, b, c)(x, y, z) = (a + x, b + y, c + z + a y)
 *
 * In the frame e1 = d_x, e2 = d_y + x d_z, e3 = d_z, [e1, e2] = e3: K(e1, e2) = -3/4, K(e1, e3) = K(e2, e3) = 1/4.
 * Isometries: the group from the left, and rotations about the z axis. Complete; valid everywhere.
 * Sources: Scott, The geometries of 3-manifolds, Bull. London Math. Soc. 15 (1983) 401, section 4,
 * doi:10.1112/blms/15.5.401; curvature: Milnor, Curvatures of left invariant metrics on Lie groups, Adv. Math. 21
 * (1976) 293, section 4, doi:10.1016/S0001-8708(76)80002-3.
 */
#include <curvebody/intrinsic.h>
#include "geometry/metric_entry.h"

#include <string.h>

static cb_status metric(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_metric_entries m = cb_metric_begin(g->dim, gij, dg, ddg);
  const double x = q[0];
  cb_metric_value(m, 0, 0, 1);
  cb_metric_value(m, 1, 1, 1 + x * x);
  cb_metric_value(m, 1, 2, -x);
  cb_metric_value(m, 2, 2, 1);
  cb_metric_first(m, 0, 1, 1, 2 * x);
  cb_metric_first(m, 0, 1, 2, -1);
  cb_metric_second(m, 0, 0, 1, 1, 2);
  return CB_OK;
}

static const char *const names[] = {"translation_x", "translation_y", "translation_z", "rotation_z", NULL};

static void killing(const cb_geometry *g, int index, const double *q, double *v) {
  (void)g;
  const double x = q[0], y = q[1];
  const double fields[][3] = {{1, 0, y}, {0, 1, 0}, {0, 0, 1}, {-y, x, (x * x - y * y) / 2}};
  memcpy(v, fields[index], sizeof fields[index]);
}

/* L_a q = a + m q */
static void translation(const cb_geometry *g, const double *a, double *m, double *low) {
  (void)g, (void)low;
  memcpy(m, (double[9]){1, 0, 0, 0, 1, 0, 0, a[0], 1}, 9 * sizeof *m);
}

static const cb_chart chart = {
    .name = "heisenberg",
    .doc = "coordinates of the Heisenberg group, (a, b, c)(x, y, z) = (a + x, b + y, c + z + a y)",
    .coordinates = {"x", "y", "z"},
    .metric = metric,
};
static const struct cb_intrinsic intrinsic = {.killing_names = names, .killing = killing, .translation = translation};

static cb_status init(cb_geometry *g, const void *p) {
  (void)p;
  return cb_geometry_init_intrinsic(g, 3, &chart, &intrinsic);
}

const cb_geometry_class cb_geometry_nil = {
    .name = "nil",
    .title = "Nil",
    .doc = "Heisenberg group, dx^2 + dy^2 + (dz - x dy)^2; distances by integrated geodesics",
    .init = init,
};
