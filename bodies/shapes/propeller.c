/* Propeller about z: a hub (ellipsoid) and blades. Each blade is an ellipsoid with its long axis along a radius; at the
 * distance r from the axis its section is rotated by the angle beta of a screw, tan beta = pitch/(2 pi r). The
 * propeller is right-handed if the pitch is positive.
 *
 *   volume of a blade = (4/3) pi (span/2)(chord/2)(thickness/2), span its length, since every section keeps its area
 */
#include "fluid/shape.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

typedef struct params {
  int blades;
  double radius, hub_radius, hub_length, chord, thickness, pitch;
  int resolution;
} params;

static const cb_param rows[] = {
    {"blades", CB_PARAM_INT, offsetof(params, blades), "3", "", "[1, 12]", "", "number of blades, evenly spaced"},
    CB_SHAPE_LENGTH(params, radius, "0.05", "radius from the axis to the tips"),
    CB_SHAPE_LENGTH(params, hub_radius, "0.01", "half axis of the hub across z"),
    CB_SHAPE_LENGTH(params, hub_length, "0.03", "length of the hub along z"),
    CB_SHAPE_LENGTH(params, chord, "0.018", "maximum width of a blade"),
    CB_SHAPE_LENGTH(params, thickness, "0.003", "maximum thickness of a blade"),
    {"pitch", CB_PARAM_REAL, offsetof(params, pitch), "0.12", "m", "", "",
     "advance of the screw per turn; negative: left-handed"},
    CB_SHAPE_RESOLUTION(params, "32"),
    {.name = NULL}};

/* Maps u to a blade along x, from just outside the hub. */
static void blade(const void *self, const double *u, double x[3]) {
  const params *p = self;
  double root = 1.02 * p->hub_radius, span = p->radius - root, width = sin(pi * u[0]);
  double r = root + span * (1 - cos(pi * u[0])) / 2, beta = atan(p->pitch / (2 * pi * r));
  double y = p->chord / 2 * width * cos(u[1]), z = p->thickness / 2 * width * sin(u[1]);
  x[0] = r;
  x[1] = y * cos(beta) - z * sin(beta);
  x[2] = y * sin(beta) + z * cos(beta);
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  if (!(1.02 * p->hub_radius < p->radius))
    return cb_fail(CB_ERROR_INPUT, "propeller: hub_radius %g, expected less than the radius %g", p->hub_radius,
                   p->radius);
  double size = 2 * pi * p->hub_radius / p->resolution;
  int q = cb_shape_quarter_of(2 * p->chord, size);
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "hub");
  cb_shape_add_ellipsoid(&b, (const double[3]){p->hub_radius, p->hub_radius, p->hub_length / 2}, p->hub_radius,
                         p->resolution);
  for (int i = 0; i < p->blades; i++) {
    double angle = 2 * pi * i / p->blades, c = cos(angle), s = sin(angle);
    char name[32];
    snprintf(name, sizeof name, "blade%d", i + 1);
    cb_shape_part(&b, name);
    cb_shape_place(&b, (const double[3][3]){{c, -s, 0}, {s, c, 0}, {0, 0, 1}}, (const double[3]){0, 0, 0});
    cb_shape_add_tube(&b, &(cb_tube){q, 2 * q, true, true, 2 * p->chord / (4 * q)}, blade, p);
  }
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_propeller = {
    .name = "propeller",
    .title = "propeller",
    .doc = "Closed hub and blades, about z; it begins to spin as it sinks.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
