/* Circular cylinder about z, -length/2 < z < length/2. V = pi r^2 l, A = 2 pi r l, with caps 2 pi r (l + r). */
#include "fluid/shape.h"

#include <math.h>

typedef struct params {
  double radius, length;
  bool caps;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, radius, "1", "radius"),
                                CB_SHAPE_LENGTH(params, length, "2", "length along z"),
                                {"caps", CB_PARAM_BOOL, offsetof(params, caps), "true", "", "", "",
                                 "closed by discs at both ends; false: an open tube, the outer side of a sheet"},
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

typedef struct rings {
  const params *p;
  int cap, side; /* levels of a cap and of the side */
} rings;

static void map(const void *self, const double *u, double x[3]) {
  const rings *r = self;
  int level = (int)(u[0] * (2 * r->cap + r->side) + .5), up = level - r->cap;
  double radius = r->p->radius, z = (double)up / r->side;
  if (up < 0) radius *= (double)level / r->cap;
  if (up > r->side) radius *= (double)(r->cap - (up - r->side)) / r->cap;
  x[0] = radius * cos(u[1]);
  x[1] = radius * sin(u[1]);
  x[2] = r->p->length * ((z < 0 ? 0 : z > 1 ? 1 : z) - .5);
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  int q = cb_shape_quarter(p->resolution);
  double around = p->length * 2 * q / (3.14159265358979 * p->radius);
  const rings r = {p, p->caps ? q : 0, around < 1 ? 1 : (int)(fmin(around, 1e4) + .5)};
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "body");
  cb_shape_add_tube(&b, &(cb_tube){q, 2 * r.cap + r.side, p->caps, p->caps, 0}, map, &r);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_cylinder = {
    .name = "cylinder",
    .title = "cylinder",
    .doc = "About z; closed, or an open tube without caps.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
