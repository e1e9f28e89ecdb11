/* A plugin: the catenoid, the metric g = cosh^2 u (du^2 + dv^2) in the coordinates u and v, with v of period 2 pi and
 * the Gauss curvature -1/cosh^4 u. The metric is written once, on jets. */
#include <curvebody/intrinsic.h>
#include <curvebody/plugin.h>

#include <math.h>
#include <string.h>

static cb_status metric(const cb_space *g, const cb_jet *q, cb_jet *gij) {
  (void)g;
  const cb_jet c = cb_jet_cosh(&q[0]);
  gij[0] = gij[3] = cb_jet_mul(&c, &c);
  gij[1] = gij[2] = cb_jet_constant(2, 0);
  return CB_OK;
}

static void plot(const cb_space *g, const double *q, double *x, double *jacobian) {
  (void)g;
  const double c = cosh(q[0]), s = sinh(q[0]), cv = cos(q[1]), sv = sin(q[1]);
  memcpy(x, (double[]){c * cv, c * sv, q[0]}, 3 * sizeof *x);
  memcpy(jacobian, (double[]){s * cv, -c * sv, s * sv, c * cv, 1, 0}, 6 * sizeof *jacobian);
}

static void turn(const cb_space *g, int index, const double *q, double *x) {
  (void)g;
  (void)index;
  (void)q;
  x[0] = 0;
  x[1] = 1;
}

static cb_status init(cb_space *g, const void *params) {
  static const char *const names[] = {"rotation_z", NULL};
  static const cb_intrinsic intrinsic = {.killing_names = names,
                                         .killing = turn,
                                         .period = {0, 6.283185307179586},
                                         .plot = plot,
                                         .metric_on_jets = metric};
  static const cb_chart chart = {
      .name = "isothermal", .doc = "u along the meridian, v about the axis", .coordinates = {"u", "v"}};
  (void)params;
  return cb_space_init_intrinsic(g, 2, &chart, &intrinsic);
}

static const cb_space_class catenoid = {
    .name = "catenoid", .title = "catenoid", .doc = "minimal surface of revolution in E3", .init = init};

CB_PLUGIN(CB_PLUGIN_SPACE(&catenoid));
