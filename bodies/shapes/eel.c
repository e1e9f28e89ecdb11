/* Eel along x, with its head at x = l. l, w, h: length, maximum width and maximum height without taper. At the distance
 * s l from the head, 0 <= s <= 1, the section is an ellipse with the half axes (w/2) f(s) (1 - taper s) and (h/2) f(s),
 * where f(s) = sqrt(1 - (2s - 1)^4). Volume V = (pi/5) l w h (1 - taper/2). */
#include "fluid/shape.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct params {
  double length, width, height, taper;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, length, "0.5", "length"),
                                CB_SHAPE_LENGTH(params, width, "0.03", "width, along y"),
                                CB_SHAPE_LENGTH(params, height, "0.04", "height, along z"),
                                {"taper", CB_PARAM_REAL, offsetof(params, taper), "0.7", "", "[0, 0.95]", "",
                                 "share of its width that the eel loses towards its tail"},
                                CB_SHAPE_RESOLUTION(params, "16"),
                                {.name = NULL}};

static void map(const void *self, const double *u, double x[3]) {
  const params *p = self;
  double c = cos(pi * u[0]), f = sin(pi * u[0]) * sqrt(1 + c * c), s = (1 + c) / 2;
  x[0] = p->length * (1 - s);
  x[1] = p->width / 2 * f * (1 - p->taper * s) * cos(u[1]);
  x[2] = p->height / 2 * f * sin(u[1]);
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  int q = cb_shape_quarter(p->resolution);
  double size = 2 * pi * (p->width + p->height) / 4 / (4 * q);
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "body");
  cb_shape_add_tube(&b, &(cb_tube){q, 2 * q, true, true, size}, map, p);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_eel = {
    .name = "eel",
    .title = "eel",
    .doc = "Closed, along x, head at x = length.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
