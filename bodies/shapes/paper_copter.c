/* Paper copter: a strip of paper along z, cut from above along its middle down to the fold. Its two wings are bent to
 * opposite sides, so that a rotation by pi about z maps the copter to itself. It is one sheet of area A = width length.
 *
 * The stem is in the plane of x and z, with the fold at z = 0. The wing of x > 0 is bent towards y > 0 up to `angle`
 * above the horizontal. A clip at the lower end, (0, 0, -(length - wing)), can be added as a point mass of the
 * scenario.
 */
#include "fluid/shape.h"

#include <math.h>

typedef struct params {
  double length, width, wing, angle;
  int resolution;
} params;

static const cb_param rows[] = {
    CB_SHAPE_LENGTH(params, length, "0.16", "length of the strip before it is bent"),
    CB_SHAPE_LENGTH(params, width, "0.04", "width of the strip"),
    CB_SHAPE_LENGTH(params, wing, "0.08", "length of a wing, less than the length of the strip"),
    {"angle", CB_PARAM_REAL, offsetof(params, angle), "pi/12", "rad", "[-1.57, 1.57]", "",
     "angle of the wings above the horizontal"},
    CB_SHAPE_RESOLUTION(params, "32"),
    {.name = NULL}};

/* Makes the sheet. The stem has 2 * half columns of cells, and each wing has `half`. */
static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  if (!(p->wing < p->length))
    return cb_fail(CB_ERROR_INPUT, "paper_copter: wing %g, expected less than the length %g", p->wing, p->length);
  double stem = p->length - p->wing, size = 2 * (p->length + p->width) / p->resolution;
  int half = (int)fmax(1, p->width / 2 / size + .5), n = (int)fmax(1, stem / size + .5),
      m = (int)fmax(1, p->wing / size + .5), row = 2 * half + 1;
  cb_shape b = {.failed = false};
  cb_shape_part(&b, "paper");
  for (int j = 0; j <= n; j++)
    for (int i = 0; i < row; i++)
      cb_shape_vertex(&b, (const double[3]){p->width * ((double)i / (2 * half) - .5), 0, stem * ((double)j / n - 1)});
  for (int j = 0; j < n; j++)
    for (int i = 0; i + 1 < row; i++) {
      int at = j * row + i;
      cb_shape_quad(&b, at, at + 1, at + row + 1, at + row, i < half ? i + j : i + j + 1);
    }
  for (int side = 0; side < 2; side++) {
    /* column i of a wing begins at column i of the fold (first wing) or at column half + i (second wing) */
    int fold = n * row + (side ? half : 0), first = b.vertices, towards = side ? 1 : -1;
    for (int j = 1; j <= m; j++)
      for (int i = 0; i <= half; i++) {
        double l = p->wing * j / m, x = p->width * ((double)(side ? half + i : i) / (2 * half) - .5);
        cb_shape_vertex(&b, (const double[3]){x, towards * l * cos(p->angle), l * sin(p->angle)});
      }
    for (int j = 0; j < m; j++)
      for (int i = 0; i < half; i++) {
        int below = j ? first + (j - 1) * (half + 1) + i : fold + i, above = first + j * (half + 1) + i;
        cb_shape_quad(&b, below, below + 1, above + 1, above, side ? i + j + 1 : half - 1 - i + j + 1);
      }
  }
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_paper_copter = {
    .name = "paper_copter",
    .title = "paper copter",
    .doc = "An open sheet with two bent wings; with a clip at its lower end it spins as it falls.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
