#include "potential/streamline.h"

#include "numerics/vec3.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stream {
  cb_stream_velocity velocity;
  void *context;
  int lines;
  cb_status status;
} stream;

static int direction(double s, const double y[], double dy[], void *given) {
  stream *all = given;
  (void)s;
  for (int i = 0; i < 3 * all->lines; i++)
    if (!isfinite(y[i])) return GSL_EBADFUNC;
  double(*u)[3] = (double(*)[3])dy;
  all->status = all->velocity(all->context, all->lines, (const double(*)[3])y, u);
  if (all->status) return GSL_EBADFUNC;
  for (int i = 0; i < all->lines; i++) {
    const double speed = sqrt(cb_dot3(u[i], u[i]));
    for (int k = 0; k < 3; k++) u[i][k] = speed > 0 ? u[i][k] / speed : 0;
  }
  return GSL_SUCCESS;
}

static cb_status follow(stream *all, gsl_odeiv2_driver *driver, const double (*seed)[3], int points, double apart,
                        double *y, double (*x)[3]) {
  double s = 0;
  memcpy(y, seed, (size_t)all->lines * sizeof *seed);
  for (int p = 0; p < points; p++) {
    const int failed = p ? gsl_odeiv2_driver_apply(driver, &s, p * apart, y) : GSL_SUCCESS;
    if (all->status) return all->status;
    if (failed)
      return cb_fail(CB_ERROR_STEP,
                     "streamlines: %s, at length %g of %g: expected seeds farther from the bodies, or finer faces",
                     gsl_strerror(failed), s, (points - 1) * apart);
    for (int i = 0; i < all->lines; i++) memcpy(x[(size_t)i * (size_t)points + (size_t)p], y + 3 * i, sizeof *x);
  }
  return CB_OK;
}

cb_status cb_streamlines(cb_stream_velocity velocity, void *context, int lines, const double (*seed)[3], int points,
                         double apart, double error, double (*x)[3], double (*u)[3]) {
  if (lines < 1 || points < 1) return CB_OK;
  stream all = {velocity, context, lines, CB_OK};
  const gsl_odeiv2_system system = {direction, NULL, 3 * (size_t)lines, &all};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rkf45, apart, error, 0);
  double *y = malloc(3 * (size_t)lines * sizeof *y);
  cb_status status = CB_ERROR_MEMORY;
  if (!driver || !y)
    cb_fail(status, "no memory for %d streamlines", lines);
  else {
    gsl_odeiv2_driver_set_nmax(driver, 100000);
    status = follow(&all, driver, seed, points, apart, y, x);
  }
  if (driver) gsl_odeiv2_driver_free(driver);
  free(y);
  return status ? status : velocity(context, lines * points, (const double(*)[3])x, u);
}
