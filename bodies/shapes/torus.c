/* Torus about z: a tube of radius r around a circle of radius R. Volume V = 2 pi^2 R r^2, area A = 4 pi^2 R r. */
#include "fluid/shape.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct params {
  double radius, tube;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, radius, "1", "radius of the circle in the middle of the tube"),
                                CB_SHAPE_LENGTH(params, tube, "0.5", "radius of the tube, less than radius"),
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  if (!(p->tube < p->radius))
    return cb_fail(CB_ERROR_INPUT, "torus: tube %g, expected less than the radius %g", p->tube, p->radius);
  int n = 4 * cb_shape_quarter(p->resolution), m = 2 * (int)(n * p->tube / p->radius / 2 + .5);
  if (m < 4) m = 4;
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "body");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double phi = 2 * pi * i / n, theta = 2 * pi * j / m, radius = p->radius + p->tube * cos(theta);
      cb_shape_vertex(&b, (const double[3]){radius * cos(phi), radius * sin(phi), p->tube * sin(theta)});
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      int k = (i + 1) % n, l = (j + 1) % m;
      cb_shape_quad(&b, i * m + j, k * m + j, k * m + l, i * m + l, i + j);
    }
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_torus = {
    .name = "torus",
    .title = "torus",
    .doc = "Closed, about z.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
