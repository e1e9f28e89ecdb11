/* Ellipsoid x^2/a^2 + y^2/b^2 + z^2/c^2 = 1, with its vertices on this surface. Volume V = (4/3) pi a b c. */
#include "fluid/shape.h"

typedef struct params {
  double a, b, c;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, a, "1", "half axis along x"),
                                CB_SHAPE_LENGTH(params, b, "1", "half axis along y"),
                                CB_SHAPE_LENGTH(params, c, "1", "half axis along z"),
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  const double a[3] = {p->a, p->b, p->c};
  /* the half axis of middle length sets the size of the faces */
  double low = p->a < p->b ? p->a : p->b, high = p->a < p->b ? p->b : p->a;
  double middle = p->c < low ? low : p->c > high ? high : p->c;
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "body");
  cb_shape_add_ellipsoid(&b, a, middle, 4 * cb_shape_quarter(p->resolution));
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_ellipsoid = {
    .name = "ellipsoid",
    .title = "ellipsoid",
    .doc = "Closed; half axes along x, y, z; a sphere by default.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
