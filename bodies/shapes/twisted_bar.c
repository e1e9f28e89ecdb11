/* Bar of length l and rectangular section a x b along z, twisted evenly by `twist` from end to end (right-handed if
 * twist is positive). Its volume is V = a b l for every twist. */
#include "fluid/shape.h"

#include <math.h>

typedef struct params {
  double a, b, length, twist;
  int resolution;
} params;

static const cb_param rows[] = {
    CB_SHAPE_LENGTH(params, a, "1", "side of the section along x in the middle"),
    CB_SHAPE_LENGTH(params, b, "0.2", "side of the section along y in the middle"),
    CB_SHAPE_LENGTH(params, length, "2", "length along z"),
    {"twist", CB_PARAM_REAL, offsetof(params, twist), "pi", "rad", "", "", "angle by which the upper end is twisted"},
    CB_SHAPE_RESOLUTION(params, "48"),
    {.name = NULL}};

static void map(const void *self, const double *u, double x[3]) {
  const params *p = self;
  double angle = p->twist * (u[2] - .5), y = p->a * (u[0] - .5), z = p->b * (u[1] - .5);
  x[0] = y * cos(angle) - z * sin(angle);
  x[1] = y * sin(angle) + z * cos(angle);
  x[2] = p->length * (u[2] - .5);
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  /* the length of the helix along which a corner of the section runs */
  double helix = hypot(p->length, p->twist * hypot(p->a, p->b) / 2);
  const double side[3] = {p->a, p->b, helix};
  return cb_shape_box_by(side, p->resolution, map, p, out);
}

const cb_shape_class cb_shape_twisted_bar = {
    .name = "twisted_bar",
    .title = "twisted bar",
    .doc = "Closed, along z; it turns as it sinks.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
