/* Rectangular plate in the plane of x and y: a sheet with its outside along z, or a closed slab. */
#include "fluid/shape.h"

typedef struct params {
  double length, width, thickness;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, length, "1", "side along x"),
                                CB_SHAPE_LENGTH(params, width, "1", "side along y"),
                                {"thickness", CB_PARAM_REAL, offsetof(params, thickness), "0", "m", ">= 0", "",
                                 "thickness of a closed slab; 0: an open sheet"},
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

static void map(const void *self, const double *u, double x[3]) {
  const params *p = self;
  x[0] = p->length * (u[0] - .5);
  x[1] = p->width * (u[1] - .5);
  x[2] = p->thickness > 0 ? p->thickness * (u[2] - .5) : 0;
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  const double side[3] = {p->length, p->width, p->thickness};
  int n[3];
  cb_shape b = {.failed = false};
  cb_shape_cells(side, p->resolution, n);
  cb_shape_part(&b, "body");
  if (p->thickness > 0)
    cb_shape_add_box(&b, n, map, p);
  else
    cb_shape_add_sheet(&b, n, map, p);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_plate = {
    .name = "plate",
    .title = "plate",
    .doc = "Normal to z; an open sheet, or a closed slab if it has a thickness.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
