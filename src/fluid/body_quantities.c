/* The quantities of a body that expressions may use, and their derivatives (body_quantities.h). */
#include "fluid/body_quantities.h"
#include "numerics/vec3.h"

const char *const cb_body_quantities[CB_BODY_QUANTITIES + 1] = {
    "wx",         "wy",         "wz",         "vx",       "vy",       "vz",       "x",        "y",        "z",
    "axis_x_x",   "axis_x_y",   "axis_x_z",   "axis_y_x", "axis_y_y", "axis_y_z", "axis_z_x", "axis_z_y", "axis_z_z",
    "velocity_x", "velocity_y", "velocity_z", "spin_x",   "spin_y",   "spin_z",   NULL};

void cb_body_quantities_of(const cb_pose *g, const double r[3][3], const double Y[6], double out[CB_BODY_QUANTITIES]) {
  memcpy(out + CB_BODY_TWIST, Y, 6 * sizeof *out);
  memcpy(out + CB_BODY_PLACE, g->x, 3 * sizeof *out);
  for (int axis = 0; axis < 3; axis++)
    for (int i = 0; i < 3; i++) out[CB_BODY_AXES + 3 * axis + i] = r[i][axis];
  cb_apply3(r, Y + 3, out + CB_BODY_VELOCITY);
  cb_apply3(r, Y, out + CB_BODY_SPIN);
}

void cb_body_quantity_slopes(const double r[3][3], const double Y[6], int i, double dY[6], double dxi[6]) {
  memset(dY, 0, 6 * sizeof *dY);
  memset(dxi, 0, 6 * sizeof *dxi);
  if (i < CB_BODY_PLACE) {
    dY[i] = 1;
    return;
  }
  const double *row = r[i % 3]; /* each group of three begins at a multiple of 3, so i % 3 is the component */
  double carried[3] = {0};      /* the quantity is a component of R carried; for positions this stays 0 */
  if (i < CB_BODY_AXES)
    memcpy(dxi + 3, row, 3 * sizeof *dxi);
  else if (i < CB_BODY_VELOCITY)
    carried[(i - CB_BODY_AXES) / 3] = 1;
  else
    memcpy(carried, i < CB_BODY_SPIN ? Y + 3 : Y, sizeof carried);
  if (i >= CB_BODY_VELOCITY) memcpy(i < CB_BODY_SPIN ? dY + 3 : dY, row, 3 * sizeof *dY);
  cb_cross3(carried, row, dxi); /* the derivative is row.(xi × carried) = xi.(carried × row) */
}
