/* Zeppelin along x, its nose forward: hull, four fins with rudders behind them, two propellers.
 *
 *   hull         an ellipsoid of revolution, volume V = (pi/6) length diameter^2
 *   fins         sheets in the planes z = 0 and y = 0, from just off the hull to the distance `fin` from the axis
 *   rudders      rectangular sheets behind the fins; those at top and bottom are in the plane y = 0 and steer sideways
 *   propellers   twisted two-bladed sheets next to and below the hull about axes along x. At the distance r from its
 *                axis a blade has the angle beta of a screw, tan beta = pitch/(2 pi r). The left propeller, y > 0, is
 *                a right-handed screw, and the right one its mirror image. They push forward when the left one turns
 *                about x and the right one about -x
 */
#include "fluid/shape.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

typedef struct params {
  double length, diameter, fin, fin_chord, rudder_chord, propeller, propeller_chord, pitch;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, length, "75", "length of the hull"),
                                CB_SHAPE_LENGTH(params, diameter, "14", "diameter of the hull"),
                                CB_SHAPE_LENGTH(params, fin, "8.5", "distance of the fins' outer edges from the axis"),
                                CB_SHAPE_LENGTH(params, fin_chord, "9", "length of a fin along x"),
                                CB_SHAPE_LENGTH(params, rudder_chord, "3", "length of a rudder along x"),
                                CB_SHAPE_LENGTH(params, propeller, "3", "diameter of a propeller"),
                                CB_SHAPE_LENGTH(params, propeller_chord, "0.4", "width of a propeller's blade"),
                                CB_SHAPE_LENGTH(params, pitch, "3", "advance of a propeller's screw per turn"),
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

static double hull_radius(const params *p, double x) {
  double s = 2 * x / p->length;
  return p->diameter / 2 * sqrt(fmax(0, 1 - s * s));
}

/* stern returns x at the rear end of the rudders, which is a fiftieth of the length before the rear end of the hull;
 * fin_end returns x at the rear end of the fins. */
static double stern(const params *p) { return -.48 * p->length; }
static double fin_end(const params *p) { return stern(p) + 1.05 * p->rudder_chord; }

/* Maps u to a fin in the plane of x and y (y > 0, outside along z), which is later rotated about x. */
static void fin(const void *self, const double *u, double x[3]) {
  const params *p = self;
  x[0] = fin_end(p) + p->fin_chord * u[0];
  double root = 1.02 * hull_radius(p, x[0]), tip = p->fin;
  /* the leading edge is oblique: from .3 of the span at the front to the tip within the first third of the chord */
  double lead = fmin(1, (1 - u[0]) * 3);
  x[1] = root + u[1] * lead * (tip - root) + u[1] * (1 - lead) * .3 * (tip - root);
  x[2] = 0;
}

static void rudder(const void *self, const double *u, double x[3]) {
  const params *p = self;
  double root = 1.05 * hull_radius(p, fin_end(p));
  x[0] = stern(p) + p->rudder_chord * u[0];
  x[1] = root + u[1] * (p->fin - root);
  x[2] = 0;
}

/* Maps u to a propeller about the x axis. Its two blades are along y. */
static void propeller(const void *self, const double *u, double x[3]) {
  const params *p = self;
  double r = p->propeller * (u[1] - .5), c = p->propeller_chord * (u[0] - .5);
  /* the chord is tangent to the helix x = pitch phi/(2 pi), phi the angle about x; the two blades are inclined in
   * opposite senses */
  double cot = 2 * pi * r / p->pitch, h = sqrt(1 + cot * cot);
  x[0] = c / h;
  x[1] = r;
  x[2] = c * cot / h;
}

static void cells(double a, double b, double size, int n[2]) {
  n[0] = (int)fmax(2, a / size + .5);
  n[1] = (int)fmax(2, b / size + .5);
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  static const char *const where[] = {"left", "top", "right", "bottom"};
  static const double turn[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const double hull[3] = {p->length / 2, p->diameter / 2, p->diameter / 2};
  double size = pi * p->diameter / (4 * cb_shape_quarter(p->resolution));
  if (!(p->fin > 1.1 * hull_radius(p, fin_end(p) + p->fin_chord)))
    return cb_fail(CB_ERROR_INPUT,
                   "zeppelin: fin %g: expected more than %g, 1.1 times the radius of the hull at the fins", p->fin,
                   1.1 * hull_radius(p, fin_end(p) + p->fin_chord));
  cb_shape b = {.failed = false};
  int n[2];
  char name[32];
  cb_shape_part(&b, "hull");
  cb_shape_add_ellipsoid(&b, hull, hull[1], p->resolution);
  for (int kind = 0; kind < 2; kind++) {
    cells(kind ? p->rudder_chord : p->fin_chord, p->fin - hull_radius(p, fin_end(p)), size, n);
    for (int i = 0; i < 4; i++) {
      double c = turn[i][0], s = turn[i][1];
      snprintf(name, sizeof name, "%s_%s", kind ? "rudder" : "fin", where[i]);
      cb_shape_part(&b, name);
      cb_shape_place(&b, (const double[3][3]){{1, 0, 0}, {0, c, -s}, {0, s, c}}, (const double[3]){0, 0, 0});
      cb_shape_add_sheet(&b, n, kind ? rudder : fin, p);
    }
  }
  cells(p->propeller_chord, p->propeller, fmin(size, p->propeller / 8), n);
  for (int i = 0; i < 2; i++) {
    double y = (i ? -1 : 1) * .45 * p->diameter;
    cb_shape_part(&b, i ? "propeller_right" : "propeller_left");
    /* the propeller is next to and below the hull, whose radius at its middle is p->diameter/2 */
    cb_shape_place(&b, (const double[3][3]){{1, 0, 0}, {0, i ? -1 : 1, 0}, {0, 0, 1}},
                   (const double[3]){0, y, -.45 * p->diameter - p->propeller / 2});
    cb_shape_add_sheet(&b, n, propeller, p);
  }
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_zeppelin = {
    .name = "zeppelin",
    .title = "zeppelin",
    .doc = "A closed hull with fins, rudders and propellers (sheets), nose forward along x.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
