/* A plugin: the vortices of Taylor and Green, an exact solution of the equations of Navier and Stokes.
 *
 *   u = U exp(-2 nu k^2 t) (sin(k x) cos(k y), -cos(k x) sin(k y), 0)
 *
 * u is the velocity at the point (x, y, z) and the time t, U is the speed in m/s, k the wave number in 1/m and nu the
 * kinematic viscosity in m^2/s. Source: G. I. Taylor & A. E. Green, Proc. R. Soc. A 158 (1937) 499,
 * doi:10.1098/rspa.1937.0036.
 */
#include <curvebody/plugin.h>

typedef struct vortices {
  double speed, wave_number, viscosity;
} vortices;

static void velocity(const void *flow, const cb_jet x[4], cb_jet u[3]) {
  const vortices *p = flow;
  const double k = p->wave_number;
  const cb_jet kx = cb_jet_scale(&x[0], k), ky = cb_jet_scale(&x[1], k),
               rate = cb_jet_scale(&x[3], -2 * p->viscosity * k * k), decay = cb_jet_exp(&rate),
               size = cb_jet_scale(&decay, p->speed);
  const cb_jet sx = cb_jet_sin(&kx), cx = cb_jet_cos(&kx), sy = cb_jet_sin(&ky), cy = cb_jet_cos(&ky);
  const cb_jet a = cb_jet_mul(&sx, &cy), b = cb_jet_mul(&cx, &sy), minus = cb_jet_scale(&size, -1);
  u[0] = cb_jet_mul(&size, &a);
  u[1] = cb_jet_mul(&minus, &b);
  u[2] = cb_jet_constant(4, 0);
}

static const cb_param params[] = {
    {"speed", CB_PARAM_REAL, offsetof(vortices, speed), "1", "m/s", "", NULL, "maximum speed at t = 0"},
    {"wave_number", CB_PARAM_REAL, offsetof(vortices, wave_number), NULL, "1/m", "> 0", NULL, "along x and along y"},
    {"viscosity", CB_PARAM_REAL, offsetof(vortices, viscosity), "0", "m2/s", ">= 0", NULL, "kinematic viscosity"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_fluid_flow_class taylor_green = {.name = "taylor_green",
                                                 .title = "The vortices of Taylor and Green",
                                                 .doc = "A periodic array of decaying vortices",
                                                 .params = params,
                                                 .size = sizeof(vortices),
                                                 .velocity = velocity};

CB_PLUGIN(CB_PLUGIN_FLOW(&taylor_green));
