/* Maple seed (samara): a flat solid nut, a thin wing to one side of it, and the vein along the leading edge of the
 * wing.
 *
 *   nut   an ellipsoid about the origin with half axes a, b, c, volume V = (4/3) pi a b c
 *   wing  a sheet along x from the end of the nut, with the outside along z. At the share s of its length its width is
 *         (3 sqrt(3)/2) w s (1 - s)^(1/2), w the maximum; its area is A = (2 sqrt(3)/5) length w if it is flat. The
 *         leading edge is straight and on the side y > 0. The wing is cambered, and twisted evenly: for a twist < 0 the
 *         leading edge of the tip is down
 *   vein  an ellipsoid of revolution along the straight leading edge, just in front of it, V = (pi/6) length vein^2
 * Nut and vein put the centre of mass near the leading edge, ahead of the point where the air pushes the wing. The
 * leading edge therefore goes down and forward, and the seed turns.
 * Sizes after A. Azuma & K. Yasuda, J. Theor. Biol. 138 (1989) 23, doi:10.1016/S0022-5193(89)80176-3.
 */
#include "fluid/shape.h"

#include <math.h>

typedef struct params {
  double nut_length, nut_width, nut_thickness, length, width, vein, camber, twist, offset;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, nut_length, "0.008", "length of the nut along x"),
                                CB_SHAPE_LENGTH(params, nut_width, "0.006", "width of the nut along y"),
                                CB_SHAPE_LENGTH(params, nut_thickness, "0.004", "thickness of the nut along z"),
                                CB_SHAPE_LENGTH(params, length, "0.028", "length of the wing"),
                                CB_SHAPE_LENGTH(params, width, "0.012", "maximum width of the wing"),
                                CB_SHAPE_LENGTH(params, vein, "0.0014", "maximum thickness of the vein"),
                                {"camber", CB_PARAM_REAL, offsetof(params, camber), "0", "m", "", "",
                                 "height of the wing's middle over its leading and trailing edges"},
                                {"twist", CB_PARAM_REAL, offsetof(params, twist), "-0.35", "rad", "", "",
                                 "angle by which the tip is twisted about x"},
                                {"offset", CB_PARAM_REAL, offsetof(params, offset), "0.002", "m", "", "",
                                 "distance of the leading edge from the nut's middle, along y"},
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

/* Returns the width at the share s of the length, relative to the maximum width, which is at s = 2/3. */
static double width_at(double s) { return 1.5 * sqrt(3) * s * sqrt(fmax(0, 1 - s)); }

/* Maps the disc of the points (e, f) to the wing: at each e the chord, |f| <= sqrt(1 - e^2), is stretched to the width
 * of the wing. */
static void wing(const void *self, const double *u, double x[3]) {
  const params *p = self;
  double e = (1 - u[0]) * cos(u[1]), f = (1 - u[0]) * sin(u[1]), half = sqrt(fmax(0, 1 - e * e));
  double s = (1 + e) / 2, c = half > 0 ? f / half : 0, w = p->width * width_at(s);
  double y = p->offset - w / 2 * (1 - c), z = p->camber * (1 - c * c), angle = p->twist * s;
  x[0] = p->nut_length / 2 + p->length * s;
  x[1] = y * cos(angle) - z * sin(angle);
  x[2] = y * sin(angle) + z * cos(angle);
}

/* Adds an ellipsoid about `origin` with the half axes a[0], a[1], a[2] along x, y, z. It is a unit sphere with 4 q
 * faces around the x axis, stretched along each axis. */
static void add_stretched_sphere(cb_shape *b, const double a[3], const double origin[3], int q) {
  const double stretch[3][3] = {{0, 0, a[0]}, {a[1], 0, 0}, {0, a[2], 0}};
  cb_shape_place(b, stretch, origin);
  cb_shape_add_ellipsoid(b, (const double[3]){1, 1, 1}, 1, 4 * q);
}

/* Nut, wing and vein have the same number of faces around them. A mesh of twice the resolution therefore halves the
 * sides of all faces, and masses, areas and the motion converge with order 2. */
static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  const double nut[3] = {p->nut_length / 2, p->nut_width / 2, p->nut_thickness / 2},
               vein[3] = {p->length / 2, p->vein / 2, p->vein / 2};
  const int q = cb_shape_quarter(p->resolution);
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "nut");
  add_stretched_sphere(&b, nut, (const double[3]){0, 0, 0}, q);
  cb_shape_part(&b, "wing");
  cb_shape_add_tube(&b, &(cb_tube){q, q, false, true, 0}, wing, p);
  cb_shape_part(&b, "vein");
  /* the vein begins just off the end of the nut */
  add_stretched_sphere(&b, vein, (const double[3]){1.02 * (nut[0] + vein[0]), p->offset + 1.05 * vein[1], 0}, q);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_maple_seed = {
    .name = "maple_seed",
    .title = "maple seed",
    .doc = "A solid nut, a wing (a sheet to one side of it) and the vein along its edge; it spins as it falls.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
