/* A surface over shape space: the positions of its vertices as functions of the shape variables, with derivatives.
 *
 *   x(r), dx_i = dx/dr_i, d2x_ij = d2x/dr_i dr_j, in the body frame;  x: a vertex, r: the shape variables
 *
 * A pose sequence or a motion in time has one shape variable, its phase from 0 to 1. The phase has the period 1 if the
 * poses at both ends are the same. Expressions have one shape variable per name. Lengths have the unit of the surface.
 * Evaluation allocates nothing and may run in any thread.
 */
#pragma once

#include "fluid/poses_private.h"
#include "fluid/surface_mesh.h"
#include <curvebody/bundle.h>
#include <curvebody/jet.h>
#include <curvebody/surface.h>

#include <stdbool.h>

/* --- embeddings of flat coordinates ---
 *
 * Embeddings: flat coordinates x of a body become normal coordinates v about its origin in a space of curvature K.
 *
 *   exponential  v = x: distances from the origin do not change;  |x| < pi R on a sphere
 *   gnomonic     y = x w, w = 1/sqrt(1 + K |x|^2): flat faces become geodesic planes; |x| < R if K < 0, and only half
 *                of a sphere is covered
 *   shift s      afterwards y goes to T y, with the transvection T from the origin to the normal coordinates s; x + s
 *                if K = 0
 *   v = y g(w),  g = arccos(w)/sqrt(1 - w^2), analytic for w > -1:  (1 - w^2) g' = w g - 1
 *
 * (y, w) is the point of the space (numerics/numerics_curved.h), and R = 1/sqrt|K|. The maps act on truncated Taylor
 * series, so that all derivatives are exact. Lengths are in metres.
 */

typedef struct cb_surface_embedding {
  double K;
  cb_surface_chart chart;
} cb_surface_embedding;

/* Returns the upper limit of |x| for flat coordinates x, or INFINITY if there is no limit. */
double cb_surface_embedding_reach(cb_surface_embedding to);
void cb_surface_embedding_point(cb_surface_embedding to, const double x[3], double v[3]);
/* Returns whether the shift is finite and, on a sphere, nearer than the antipode of the origin. */
bool cb_surface_embedding_shifts(double K, const cb_jet shift[3]);
/* Replaces the flat coordinates x by the normal coordinates v. `shift` (NULL: none) holds the normal coordinates s of
 * the shift, as series in the same variables. The result is nan outside the range of the chart or of shifts. */
void cb_surface_embedding_jets(cb_surface_embedding to, const cb_jet shift[3], cb_jet x[3]);

/* --- the surface --- */

enum { CB_SHAPE_SURFACE_VARIABLES = 8 };

typedef struct cb_shape_surface cb_shape_surface;
struct cb_shape_surface {
  const cb_surface *surface; /* connectivity and parts; borrowed */
  int n;
  const char *name[CB_SHAPE_SURFACE_VARIABLES];
  double period[CB_SHAPE_SURFACE_VARIABLES]; /* 0: the variable has no period */
  int breaks[CB_SHAPE_SURFACE_VARIABLES];    /* number of breaks (cb_bundle); a sequence has them at its poses */
  const double *break_at[CB_SHAPE_SURFACE_VARIABLES];
  /* Finds x[vertices][3], and dx[n][vertices][3] (or NULL), at the shape variables r. It may be called from any thread:
   * work has `work_size` bytes and belongs to the caller. */
  cb_status (*at)(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], void *work);
  size_t work_size;
  /* Finds d2x[n(n+1)/2][vertices][3], the derivatives by r_i and r_j, i >= j, at i(i + 1)/2 + j. NULL: not available.
   * For a sequence these are the second derivatives of its cubics. */
  cb_status (*second)(const cb_shape_surface *s, const double *r, double (*d2x)[3], void *work);
  void (*free)(cb_shape_surface *s);
  void *self;
};

/* Makes a shape surface from poses (borrowed): the shape variable "phase" runs over `duration` seconds from `start` on.
 * It has the period 1 if the poses at both ends are the same (to 1e-9 of their extent), otherwise no period. Returns
 * CB_ERROR_ARGUMENT if poses and surface have different numbers of vertices. The caller frees *out. */
cb_status cb_shape_surface_of_poses(const cb_poses *poses, const cb_surface *surface, double start, double duration,
                                    cb_shape_surface **out);
/* Makes a shape surface from expressions of the rest coordinates X, Y, Z and of the n shape variables, for each part or
 * for all parts, as in cb_poses_motion. Names are copied. Periods are 0; a caller for whom a variable is an angle sets
 * period[i]. The caller frees *out. */
cb_status cb_shape_surface_expressions(const cb_surface *surface, int n, const char *const *names, int motions,
                                       const cb_poses_motion *motion, cb_shape_surface **out);
/* Does the same as cb_shape_surface_expressions, with parameters of the expressions (may be NULL). For CB_ERROR_INPUT,
 * *which, *coordinate and *at are the position of the error, as in cb_poses_from_expressions. */
cb_status cb_shape_surface_expressions_in(const cb_surface *surface, const cb_shape_text *text, size_t *which,
                                          int *coordinate, size_t *at, cb_shape_surface **out);
/* Embeds a shape surface into a curved space. The chart maps its flat positions. Then each part is moved by its shift,
 * a transvection that three expressions of the shape variables give (see above). All derivatives are
 * exact.
 *
 * The result owns `flat`, which is also freed on failure. flat->surface must be embedded as well. For CB_ERROR_INPUT
 * the error is in shift[*which], in the text of *coordinate at the offset *at. Evaluation returns CB_STEP_DOMAIN
 * outside the chart. */
typedef struct cb_shape_shift {
  const char *part; /* NULL: the shift is for all parts without a shift of their own */
  const char *text[3];
} cb_shape_shift;
typedef struct cb_shape_shifts {
  int n;
  const cb_shape_shift *shift;
  const cb_poses_parameters *parameters; /* the parameters of the texts; may be NULL */
} cb_shape_shifts;
cb_status cb_shape_surface_embed(cb_shape_surface *flat, cb_surface_embedding to, const cb_shape_shifts *shifts,
                                 size_t *which, int *coordinate, size_t *at, cb_shape_surface **out);
/* Makes a shape surface whose `at` and `second` compute only the `count` listed vertices and leave the others
 * unchanged. This is possible if all positions are affine functions of the rest positions. If they are not, or if this
 * cannot be recognised, *out is NULL. The result borrows from s. */
cb_status cb_shape_surface_affine(const cb_shape_surface *s, int count, const int *vertex, cb_shape_surface **out);
/* Checks whether n variables may have these names next to X, Y, Z and the parameters (may be NULL). If not, returns
 * CB_ERROR_INPUT about names[*which] (`which` may be NULL), or CB_ERROR_ARGUMENT for a wrong n. */
cb_status cb_shape_surface_check_names(int n, const char *const *names, const cb_poses_parameters *parameters,
                                       int *which);
void cb_shape_surface_free(cb_shape_surface *s);

/* Fills in the members of a bundle that follow from the surface: the group SE(3) (SO(4) or SO(3,1) in a curved space),
 * the shape variables with periods and breaks, points, and lines along the edges. *line is from malloc, and the bundle
 * must free it. */
cb_status cb_shape_surface_of_bundle(const cb_shape_surface *s, cb_bundle *b, int (**line)[2]);
