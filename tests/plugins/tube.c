/* A plugin: a wall that is a tube about the z axis, and the event that two particles are at the same height, in E3.
 * Each function is written once, on jets.
 *
 *   wall   s = R(t) - sqrt(x^2 + y^2) - r,  R(t) = radius + rate t;      event  s = z_1 - z_2
 *
 * s is the distance of a particle at (x, y, z) from the wall, and r is the radius of the particle. The event is at
 * s = 0, where z_1 and z_2 are the heights of the particles. Lengths are in units of the scenario. */
#include <curvebody/plugin.h>

typedef struct tube {
  double radius, rate;
} tube;

static const cb_param params[] = {
    {"radius", CB_PARAM_REAL, offsetof(tube, radius), NULL, "units of length", "> 0", NULL,
     "radius of the tube at t = 0"},
    {"rate", CB_PARAM_REAL, offsetof(tube, rate), "0", "units of length per time", "", NULL, "d radius/dt"},
    {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status init(void *of, const cb_space *space, cb_builder *b) {
  (void)of, (void)b;
  if (space->dim == 3 && space->n_factors == 1 && space->factor[0].curvature == 0) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED, "a tube is a wall of the space e3, found %s", space->class_->name);
}

static cb_status inside(const void *of, const cb_space *space, const cb_jet *x, const cb_jet *t, const double *radius,
                        cb_jet *s) {
  (void)space;
  const tube *p = of;
  const cb_jet xx = cb_jet_mul(&x[0], &x[0]), yy = cb_jet_mul(&x[1], &x[1]), square = cb_jet_add(&xx, &yy),
               out = cb_jet_sqrt(&square), grown = cb_jet_scale(t, p->rate), wall = cb_jet_shift(&grown, p->radius),
               gap = cb_jet_sub(&wall, &out);
  *s = cb_jet_shift(&gap, -radius[0]);
  return CB_OK;
}

static cb_status level(const void *of, const cb_space *space, const cb_jet *x, const cb_jet *t, const double *radius,
                       cb_jet *s) {
  (void)of, (void)space, (void)t, (void)radius;
  *s = cb_jet_sub(&x[2], &x[5]);
  return CB_OK;
}

static const cb_wall_class my_tube = {.name = "tube",
                                      .title = "bodies stay inside of a tube",
                                      .doc = "about the z axis",
                                      .params = params,
                                      .params_size = sizeof(tube),
                                      .timed = true,
                                      .init = init,
                                      .on_jets = inside};
static const cb_event_class my_level = {.name = "level",
                                        .title = "two particles are at the same height",
                                        .doc = "in e3",
                                        .particles = 2,
                                        .init = init,
                                        .on_jets = level};

CB_PLUGIN(CB_PLUGIN_WALL(&my_tube), CB_PLUGIN_EVENT(&my_level));
