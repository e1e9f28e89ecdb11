/* Parachute along z: a canopy, and a load, a ball below it. The canopy is the part of a sphere of radius R within the
 * angle alpha of its top: a sheet with its outside up, of area A = 2 pi R^2 (1 - cos alpha). Lines are left out: all
 * parts are rigidly connected. The origin is the centre of the load; the rim of the canopy is `line` above it. */
#include "fluid/shape.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct params {
  double radius, angle, line, load;
  int resolution;
} params;

static const cb_param rows[] = {
    CB_SHAPE_LENGTH(params, radius, "0.3", "radius of the canopy's sphere"),
    {"angle", CB_PARAM_REAL, offsetof(params, angle), "pi/3", "rad", "(0, 3.1]", "",
     "angle from the canopy's top to its rim"},
    CB_SHAPE_LENGTH(params, line, "0.6", "height of the canopy's rim over the load's middle"),
    CB_SHAPE_LENGTH(params, load, "0.05", "radius of the load"),
    CB_SHAPE_RESOLUTION(params, "32"),
    {.name = NULL}};

/* Maps (u_0, u_1) to the canopy. u_0 is from 0 at the rim to 1 at the top; u_1 is the angle about z. */
static void canopy(const void *self, const double *u, double x[3]) {
  const params *p = self;
  double theta = p->angle * (1 - u[0]);
  x[0] = p->radius * sin(theta) * cos(u[1]);
  x[1] = p->radius * sin(theta) * sin(u[1]);
  x[2] = p->line + p->radius * (cos(theta) - cos(p->angle));
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  int q = cb_shape_quarter(p->resolution);
  double size = 2 * pi * p->radius * sin(fmin(p->angle, pi / 2)) / (4 * q);
  int levels = (int)(p->radius * p->angle / size + .5);
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "canopy");
  cb_shape_add_tube(&b, &(cb_tube){q, levels > q ? levels : q, false, true, 0}, canopy, p);
  cb_shape_part(&b, "load");
  cb_shape_add_ellipsoid(&b, (const double[3]){p->load, p->load, p->load}, p->load,
                         4 * cb_shape_quarter_of(2 * pi * p->load, size));
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_parachute = {
    .name = "parachute",
    .title = "parachute",
    .doc = "A canopy (an open sheet) over a closed load, along z.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
