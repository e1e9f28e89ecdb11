/* Fish along x, its head at x = length: a body of elliptical sections and an upright tail behind it.
 *
 *   body   of length l, width w and height h: half axes (w/2) f(s) across, (h/2) f(s) up, at the share s of its length
 *          from the head, f = (3 sqrt(3)/2) sqrt(s) (1 - s), with maximum 1 at s = 1/3. Volume V = (9/64) pi l w h
 *   tail   an ellipsoid, V = (pi/6) length height thickness
 */
#include "fluid/shape.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct params {
  double length, width, height, tail, tail_height, tail_thickness;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, length, "0.3", "length of the body"),
                                CB_SHAPE_LENGTH(params, width, "0.04", "maximum width of the body, along y"),
                                CB_SHAPE_LENGTH(params, height, "0.08", "maximum height of the body, along z"),
                                CB_SHAPE_LENGTH(params, tail, "0.05", "length of the tail"),
                                CB_SHAPE_LENGTH(params, tail_height, "0.1", "height of the tail"),
                                CB_SHAPE_LENGTH(params, tail_thickness, "0.004", "thickness of the tail"),
                                CB_SHAPE_RESOLUTION(params, "24"),
                                {.name = NULL}};

static void body(const void *self, const double *u, double x[3]) {
  const params *p = self;
  /* u_0 is 0 at the tail and 1 at the head: 1 - s = sin^2(pi u_0/2) */
  double a = sin(pi / 2 * u[0]), f = 1.5 * sqrt(3) * cos(pi / 2 * u[0]) * a * a;
  x[0] = p->length * a * a;
  x[1] = p->width / 2 * f * cos(u[1]);
  x[2] = p->height / 2 * f * sin(u[1]);
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  int q = cb_shape_quarter(p->resolution);
  double middle = (p->width + p->height) / 4, size = 2 * pi * middle / (4 * q);
  const double tail[3] = {p->tail / 2, p->tail_thickness / 2, p->tail_height / 2};
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "body");
  cb_shape_add_tube(&b, &(cb_tube){q, 2 * q, true, true, size}, body, p);
  cb_shape_part(&b, "tail");
  /* the tail is behind the body, with a gap of a hundredth of the tail's length */
  cb_shape_place(&b, NULL, (const double[3]){-.51 * p->tail, 0, 0});
  cb_shape_add_ellipsoid(&b, tail, tail[0], (int)fmax(8, 2 * pi * tail[0] / size));
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_fish = {
    .name = "fish",
    .title = "fish",
    .doc = "Closed body and tail along x, head at x = length.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
