/* Sea turtle along x, its head forward: shell, head and four flippers, each an ellipsoid of volume V = (pi/6) (product
 * of its three axes). A flipper extends outward from its root, a little off the shell, and is swept backward by an
 * angle. */
#include "fluid/shape.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct params {
  double length, width, height, head, front, front_chord, hind, hind_chord, flipper_thickness, front_sweep, hind_sweep;
  int resolution;
} params;

static const cb_param rows[] = {CB_SHAPE_LENGTH(params, length, "0.6", "length of the shell, along x"),
                                CB_SHAPE_LENGTH(params, width, "0.45", "width of the shell, along y"),
                                CB_SHAPE_LENGTH(params, height, "0.2", "height of the shell, along z"),
                                CB_SHAPE_LENGTH(params, head, "0.12", "length of the head"),
                                CB_SHAPE_LENGTH(params, front, "0.4", "length of a front flipper"),
                                CB_SHAPE_LENGTH(params, front_chord, "0.12", "maximum width of a front flipper"),
                                CB_SHAPE_LENGTH(params, hind, "0.2", "length of a hind flipper"),
                                CB_SHAPE_LENGTH(params, hind_chord, "0.1", "maximum width of a hind flipper"),
                                CB_SHAPE_LENGTH(params, flipper_thickness, "0.02", "maximum thickness of a flipper"),
                                {"front_sweep", CB_PARAM_REAL, offsetof(params, front_sweep), "pi/9", "rad", "[-1, 1]",
                                 "", "backward sweep of the front flippers"},
                                {"hind_sweep", CB_PARAM_REAL, offsetof(params, hind_sweep), "pi/4", "rad", "[-1, 1.2]",
                                 "", "backward sweep of the hind flippers"},
                                CB_SHAPE_RESOLUTION(params, "32"),
                                {.name = NULL}};

static void flipper(cb_shape *b, const params *p, bool front, bool left, double size) {
  /* phi: the angle of the root on the outline of the shell */
  double phi = front ? pi / 4 : 3 * pi / 4, sweep = front ? p->front_sweep : p->hind_sweep;
  double length = front ? p->front : p->hind, chord = front ? p->front_chord : p->hind_chord;
  const double a[3] = {chord / 2, length / 2, p->flipper_thickness / 2};
  double c = cos(sweep), s = sin(sweep), y = left ? 1 : -1;
  /* The flipper extends along (-sin sweep, cos sweep) from its root. The root is at 1.05 times the outline, which keeps
   * the flipper off the shell. A right flipper is mirrored. */
  double root[2] = {1.05 * p->length / 2 * cos(phi), 1.05 * p->width / 2 * sin(phi)};
  const double middle[3] = {root[0] - s * length / 2, y * (root[1] + c * length / 2), 0};
  const double frame[3][3] = {{c, -s, 0}, {y * s, y * c, 0}, {0, 0, 1}};
  static const char *const name[2][2] = {{"flipper_hind_right", "flipper_hind_left"},
                                         {"flipper_front_right", "flipper_front_left"}};
  cb_shape_part(b, name[front][left]);
  cb_shape_place(b, frame, middle);
  cb_shape_add_ellipsoid(b, a, a[0], (int)fmax(8, 2 * pi * a[0] / size));
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  const double shell[3] = {p->length / 2, p->width / 2, p->height / 2},
               head[3] = {p->head / 2, p->head * .35, p->head * .3};
  double size = 2 * pi * (shell[0] + shell[1]) / 2 / (4 * cb_shape_quarter(p->resolution));
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "shell");
  cb_shape_add_ellipsoid(&b, shell, shell[1], (int)fmax(8, 2 * pi * shell[1] / size));
  cb_shape_part(&b, "head");
  cb_shape_place(&b, NULL, (const double[3]){shell[0] + 1.05 * head[0], 0, 0});
  cb_shape_add_ellipsoid(&b, head, head[1], (int)fmax(8, 2 * pi * head[1] / size));
  for (int i = 0; i < 4; i++) flipper(&b, p, i < 2, i % 2 == 0, size);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_turtle = {
    .name = "turtle",
    .title = "sea turtle",
    .doc = "Closed shell, head and four flippers, head forward along x.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
