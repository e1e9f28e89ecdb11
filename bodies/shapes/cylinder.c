/* Circular cylinder of radius r and length l about z, -l/2 < z < l/2. Volume V = pi r^2 l; area A = 2 pi r l, plus 2 pi
 * r^2 with caps. */
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
                                 "true: discs close both ends; false: an open tube, a sheet with fluid on both sides"},
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  int q = cb_shape_quarter(p->resolution);
  double around = p->length * 2 * q / (3.14159265358979 * p->radius);
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "body");
  cb_shape_add_cylinder(&b, p->radius, p->length, q, around < 1 ? 1 : (int)(fmin(around, 1e4) + .5), p->caps);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_cylinder = {
    .name = "cylinder",
    .title = "cylinder",
    .doc = "About z; closed, or an open tube without caps, whose faces represent both sides.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
