/* Sol, a solvable group with a left-invariant metric:
 *
 *   ds^2 = e^2z dx^2 + e^-2z dy^2 + dz^2;   (a, b, c)(x, y, z) = (a + e^-c x, b + e^c y, c + z)
 *
 * In the frame e1 = e^-z d_x, e2 = e^z d_y, e3 = d_z: K(e1, e2) = 1, K(e1, e3) = K(e2, e3) = -1.
 * Isometries: the group from the left, and seven more classes of turns and reflections. Complete; valid everywhere.
 * Sources: Scott, The geometries of 3-manifolds, Bull. London Math. Soc. 15 (1983) 401, section 4,
 * doi:10.1112/blms/15.5.401; curvature: Milnor, Curvatures of left invariant metrics on Lie groups, Adv. Math. 21
 * (1976) 293, section 4, doi:10.1016/S0001-8708(76)80002-3.
 */
#include <curvebody/intrinsic.h>
#include "geometry/metric_entry.h"
#include "numerics/dd.h"

#include <math.h>
#include <string.h>

static cb_status metric(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_metric_entries m = cb_metric_begin(g->dim, gij, dg, ddg);
  const double grow = exp(2 * q[2]), decay = exp(-2 * q[2]);
  cb_metric_value(m, 0, 0, grow);
  cb_metric_value(m, 1, 1, decay);
  cb_metric_value(m, 2, 2, 1);
  cb_metric_first(m, 2, 0, 0, 2 * grow);
  cb_metric_first(m, 2, 1, 1, -2 * decay);
  cb_metric_second(m, 2, 2, 0, 0, 4 * grow);
  cb_metric_second(m, 2, 2, 1, 1, 4 * decay);
  return CB_OK;
}

static const char *const names[] = {"translation_x", "translation_y", "translation_z", NULL};

static void killing(const cb_geometry *g, int index, const double *q, double *v) {
  (void)g;
  const double fields[][3] = {{1, 0, 0}, {0, 1, 0}, {-q[0], q[1], 1}};
  memcpy(v, fields[index], sizeof fields[index]);
}

/* L_a q = a + m q, m = diag(e^-c, e^c, 1) */
static void translation(const cb_geometry *g, const double *a, double *m, double *low) {
  (void)g;
  const cb_dd shrink = cb_dd_exp(-a[2]), grow = cb_dd_exp(a[2]);
  memcpy(m, (double[9]){shrink.hi, 0, 0, 0, grow.hi, 0, 0, 0, 1}, 9 * sizeof *m);
  if (low) memcpy(low, (double[9]){[0] = shrink.lo, [4] = grow.lo}, 9 * sizeof *low);
}

static const cb_chart chart = {
    .name = "solvable",
    .doc = "coordinates of the group, (a, b, c)(x, y, z) = (a + e^-c x, b + e^c y, c + z)",
    .coordinates = {"x", "y", "z"},
    .metric = metric,
};
static const struct cb_intrinsic intrinsic = {.killing_names = names, .killing = killing, .translation = translation};

static cb_status init(cb_geometry *g, const void *p) {
  (void)p;
  return cb_geometry_init_intrinsic(g, 3, &chart, &intrinsic);
}

const cb_geometry_class cb_geometry_sol = {
    .name = "sol",
    .title = "Sol",
    .doc = "solvable group, e^2z dx^2 + e^-2z dy^2 + dz^2; distances by integrated geodesics",
    .init = init,
};
