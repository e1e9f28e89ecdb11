/* Disc of radius r in the plane of x and y: a sheet with its outside along z, of area A = pi r^2, or a coin of
 * thickness t and volume V = pi r^2 t. */
#include "fluid/shape.h"

#include <math.h>

typedef struct params {
  double radius, thickness;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, radius, "0.05", "radius"),
                                {"thickness", CB_PARAM_REAL, offsetof(params, thickness), "0", "m", ">= 0", "",
                                 "thickness of a closed coin; 0: an open sheet"},
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

static void sheet(const void *self, const double *u, double x[3]) {
  const params *p = self;
  /* u[0] is 0 at the rim and 1 in the middle, so that the outside is along z */
  x[0] = p->radius * (1 - u[0]) * cos(u[1]);
  x[1] = p->radius * (1 - u[0]) * sin(u[1]);
  x[2] = 0;
}

/* Returns the number of rows of faces across the thickness at the rim. It is the smallest power of 2 (at most 1024) for
 * which a row is not higher than 0.7 times the width of a ring. */
static int rim(const params *p, int q) {
  const double least = p->thickness * q / (0.7 * p->radius);
  int levels = 1;
  while (levels < least * 0.999 && levels < 1024) levels *= 2;
  return levels;
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  int q = cb_shape_quarter(p->resolution);
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "body");
  if (p->thickness > 0)
    cb_shape_add_cylinder(&b, p->radius, p->thickness, q, rim(p, q), true);
  else
    cb_shape_add_tube(&b, &(cb_tube){q, q, false, true, 0}, sheet, p);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_disc = {
    .name = "disc",
    .title = "disc",
    .doc = "Normal to z; an open sheet, or a closed coin if it has a thickness.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
