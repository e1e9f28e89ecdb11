/* A plugin: the catenoid, g = cosh^2 u (du^2 + dv^2) with v of period 2 pi, Gauss curvature -1/cosh^4 u. */
#include <curvebody/intrinsic.h>
#include <curvebody/plugin.h>

#include <math.h>
#include <string.h>

static cb_status metric(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg) {
  (void)g;
  const double c = cosh(q[0]), s = sinh(q[0]);
  memset(gij, 0, 4 * sizeof *gij);
  gij[0] = gij[3] = c * c;
  if (dg) {
    memset(dg, 0, 8 * sizeof *dg);
    dg[0] = dg[3] = 2 * c * s;
  }
  if (ddg) {
    memset(ddg, 0, 16 * sizeof *ddg);
    ddg[0] = ddg[3] = 2 * (c * c + s * s);
  }
  return CB_OK;
}

static void picture(const cb_geometry *g, const double *q, double *x, double *jacobian) {
  (void)g;
  const double c = cosh(q[0]), s = sinh(q[0]), cv = cos(q[1]), sv = sin(q[1]);
  memcpy(x, (double[]){c * cv, c * sv, q[0]}, 3 * sizeof *x);
  memcpy(jacobian, (double[]){s * cv, -c * sv, s * sv, c * cv, 1, 0}, 6 * sizeof *jacobian);
}

static void turn(const cb_geometry *g, int index, const double *q, double *x) {
  (void)g, (void)index, (void)q;
  x[0] = 0;
  x[1] = 1;
}

static cb_status init(cb_geometry *g, const void *params) {
  static const char *const names[] = {"rotation_z", NULL};
  static const cb_intrinsic intrinsic = {
      .killing_names = names, .killing = turn, .period = {0, 6.283185307179586}, .picture = picture};
  static const cb_chart chart = {.name = "isothermal",
                                 .doc = "u along the meridian, v about the axis",
                                 .coordinates = {"u", "v"},
                                 .metric = metric};
  (void)params;
  return cb_geometry_init_intrinsic(g, 2, &chart, &intrinsic);
}

static const cb_geometry_class catenoid = {
    .name = "catenoid", .title = "catenoid", .doc = "minimal surface of revolution in E3", .init = init};

CB_PLUGIN(CB_PLUGIN_SPACE(&catenoid));
