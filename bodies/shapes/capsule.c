/* Capsule about z: a cylinder of length l between half spheres of radius r. Volume V = pi r^2 (l + 4r/3), area A = 2 pi
 * r (l + 2r). */
#include "fluid/shape.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct params {
  double radius, length;
  int resolution;
} params;

static const cb_param rows[] = {
    CB_SHAPE_LENGTH(params, radius, "1", "radius"),
    CB_SHAPE_LENGTH(params, length, "2", "length of the cylinder, without the half spheres"),
    CB_SHAPE_RESOLUTION(params, "32"),
    {.name = NULL}};

typedef struct rings {
  const params *p;
  int cap, side;
} rings;

static void map(const void *self, const double *u, double x[3]) {
  const rings *r = self;
  int level = (int)(u[0] * (2 * r->cap + r->side) + .5), up = level - r->cap;
  double theta = pi / 2, z = (double)up / r->side;
  if (up < 0) theta = pi / 2 * level / r->cap;
  if (up > r->side) theta = pi / 2 * (1 + (double)(up - r->side) / r->cap);
  x[0] = r->p->radius * sin(theta) * cos(u[1]);
  x[1] = r->p->radius * sin(theta) * sin(u[1]);
  x[2] = r->p->length * ((z < 0 ? 0 : z > 1 ? 1 : z) - .5) - r->p->radius * cos(theta);
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  int q = cb_shape_quarter(p->resolution);
  double side = p->length * 2 * q / (pi * p->radius);
  const rings r = {p, q, side < 1 ? 1 : (int)(fmin(side, 1e4) + .5)};
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "body");
  cb_shape_add_tube(&b, &(cb_tube){q, 2 * q + r.side, true, true, 0}, map, &r);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_capsule = {
    .name = "capsule",
    .title = "capsule",
    .doc = "Closed, about z; a cylinder between half spheres.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
