/* Leaf of length l and width w: a sheet with two pointed ends along x and the half width (w/2)(1 - s^2) at x = (l/2) s.
 * Its area is A = (2/3) l w if it is flat. The outside is along z. The leaf is bent up to z = camber at its ends and to
 * z = cup at the middle of its sides. */
#include "fluid/shape.h"

#include <math.h>

typedef struct params {
  double length, width, camber, cup;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, length, "0.06", "length along x"),
                                CB_SHAPE_LENGTH(params, width, "0.035", "maximum width, along y"),
                                {"camber", CB_PARAM_REAL, offsetof(params, camber), "0.004", "m", "", "",
                                 "how much higher the ends are than the middle"},
                                {"cup", CB_PARAM_REAL, offsetof(params, cup), "0.002", "m", "", "",
                                 "how much higher the sides are than the midrib"},
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

/* Maps the disc of the points (s, e) to the leaf: at each s the chord, |e| <= sqrt(1 - s^2), is stretched to the width
 * of the leaf. */
static void map(const void *self, const double *u, double x[3]) {
  const params *p = self;
  double s = (1 - u[0]) * cos(u[1]), e = (1 - u[0]) * sin(u[1]), c = e * sqrt(fmax(0, 1 - s * s));
  x[0] = p->length / 2 * s;
  x[1] = p->width / 2 * c;
  x[2] = p->camber * s * s + p->cup * c * c;
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  int q = cb_shape_quarter(p->resolution);
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "blade");
  cb_shape_add_tube(&b, &(cb_tube){q, q, false, true, 0}, map, p);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_leaf = {
    .name = "leaf",
    .title = "leaf",
    .doc = "An open sheet normal to z, pointed at both ends, bent along and across.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
