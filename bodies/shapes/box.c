/* Box of sides a, b, c about the origin. Volume V = abc. */
#include "fluid/shape.h"

typedef struct params {
  double a, b, c;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, a, "1", "side along x"),
                                CB_SHAPE_LENGTH(params, b, "1", "side along y"),
                                CB_SHAPE_LENGTH(params, c, "1", "side along z"),
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

static void map(const void *self, const double *u, double x[3]) {
  const params *p = self;
  x[0] = p->a * (u[0] - .5);
  x[1] = p->b * (u[1] - .5);
  x[2] = p->c * (u[2] - .5);
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  const double side[3] = {p->a, p->b, p->c};
  return cb_shape_box_by(side, p->resolution, map, p, out);
}

const cb_shape_class cb_shape_box = {
    .name = "box",
    .title = "box",
    .doc = "Closed; sides along x, y, z.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
