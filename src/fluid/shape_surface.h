/* A surface over shape space: where its vertices are as functions of shape variables, with derivatives.
 *
 *   x(r), dx_i = dx/dr_i, in the body frame
 * A pose sequence or a motion in time has one shape variable, its phase in [0, 1), of period 1; expressions of shape
 * variables have as many as are named. Lengths as the surface's. Nothing is allocated where places are read; any thread
 * may read.
 */
#pragma once

#include <curvebody/bundle.h>
#include "fluid/lay.h"
#include "fluid/poses.h"
#include "fluid/surface.h"

enum { CB_SHAPE_SURFACE_VARIABLES = 8 };

typedef struct cb_shape_surface cb_shape_surface;
struct cb_shape_surface {
  const cb_surface *surface; /* connectivity, parts, masses; borrowed */
  int n;
  const char *name[CB_SHAPE_SURFACE_VARIABLES];
  double period[CB_SHAPE_SURFACE_VARIABLES]; /* 0: none */
  int breaks[CB_SHAPE_SURFACE_VARIABLES]; /* of cb_bundle; those of a sequence are its poses */
  const double *break_at[CB_SHAPE_SURFACE_VARIABLES];
  /* x[vertices][3]; dx[n][vertices][3] or NULL. Thread-safe: work is the caller's, `work_size` bytes. */
  cb_status (*at)(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], void *work);
  size_t work_size;
  /* d2x[n(n+1)/2][vertices][3], i >= j at i(i + 1)/2 + j; NULL: there are none. Of a sequence those of its cubics. */
  cb_status (*second)(const cb_shape_surface *s, const double *r, double (*d2x)[3], void *work);
  void (*free)(cb_shape_surface *s);
  void *self;
};

/* The poses (borrowed) over `duration` seconds from `start` on as a phase, named "phase". Its period is 1 where the
 * poses are the same at both ends (to 1e-9 of their extent), otherwise 0: an open phase. CB_ERROR_ARGUMENT where poses
 * and surface have not the same vertices. */
cb_status cb_shape_surface_of_poses(const cb_poses *poses, const cb_surface *surface, double start, double duration,
                                    cb_shape_surface **out);
/* Expressions of the rest coordinates X, Y, Z and of the n shape variables, by part (NULL: all parts), as in
 * cb_poses_motion; names are copied. Periods are 0; who knows that a variable is an angle sets period[i]. */
cb_status cb_shape_surface_expressions(const cb_surface *surface, int n, const char *const *names, int motions,
                                       const cb_poses_motion *motion, cb_shape_surface **out);
/* The same with parameters (may be NULL) and, on CB_ERROR_INPUT, where: see cb_poses_from_expressions. */
cb_status cb_shape_surface_expressions_in(const cb_surface *surface, int n, const char *const *names, int motions,
                                          const cb_poses_motion *motion, const cb_poses_parameters *parameters,
                                          size_t *which, int *coordinate, size_t *at, cb_shape_surface **out);
/* One that is laid into a curved space: its flat places by the chart, then each part by its shift, a transvection by
 * three expressions of the shape variables (fluid/lay.h); all derivatives are exact. `flat` is taken over, also on
 * failure; its surface is to be laid too. CB_ERROR_INPUT about texts of shift[*which], coordinate and place, as above.
 * Evaluation: CB_STEP_DOMAIN beyond the chart. */
typedef struct cb_shape_shift {
  const char *part; /* NULL: all that have none by name */
  const char *text[3];
} cb_shape_shift;
cb_status cb_shape_surface_lay(cb_shape_surface *flat, cb_laying to, int shifts, const cb_shape_shift *shift,
                               const cb_poses_parameters *parameters, size_t *which, int *coordinate, size_t *at,
                               cb_shape_surface **out);
/* One whose at and second find these vertices alone, and leave the others as they are, where places are affine
 * functions of the rest shape's; *out is NULL where they are not, or cannot be seen to be. It borrows from s. */
cb_status cb_shape_surface_affine(const cb_shape_surface *s, int count, const int *vertex, cb_shape_surface **out);
/* Whether n variables may be called so beside X, Y, Z and the parameters (may be NULL): CB_ERROR_INPUT about
 * names[*which] (may be NULL). */
cb_status cb_shape_surface_check_names(int n, const char *const *names, const cb_poses_parameters *parameters,
                                       int *which);
void cb_shape_surface_free(cb_shape_surface *s);

/* What a bundle has of its surface: group SE(3), shape variables with periods and breaks, points, and lines along the
 * edges, which are in *line, from malloc, and the bundle's. */
cb_status cb_shape_surface_of_bundle(const cb_shape_surface *s, cb_bundle *b, int (**line)[2]);
