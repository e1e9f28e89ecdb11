/* The exact added mass of a body to a given error, computed on finer and finer faces (fluid/surface_mesh.h): of a rigid
 * body, and of a body whose vertices move (below).
 *
 * Each level of faces is solved by potential/refine.h. A shape of bodies/shapes starts at half or a quarter of its
 * resolution, if that is a multiple of 4 and at least 8. An error that is met on coarser levels does not end the
 * refinement: the level of the given resolution is solved, too. */
#pragma once

#include "potential/refine.h"
#include <curvebody/fluid_model.h>

/* The levels that were solved. The first of them is level `first` of fluid/surface_mesh.h. */
typedef struct cb_exact_levels {
  int n, first;
  cb_potential_level level[CB_POTENTIAL_LEVELS];
} cb_exact_levels;

/* An error of K up to this share is fair (see cb_exact_asked). A larger one gives a warning. */
#define CB_EXACT_FAIR 3e-2

typedef struct cb_exact_asked {
  double error; /* the requested error, in the units of potential/refine.h */
  /* true: a result that misses the error is a failure. false: the error of the result may be above `error`, and
   * refinement also stops if CB_EXACT_FAIR is met and the next level has more than about `faces` faces. */
  bool must;
  int faces;
  int maximum; /* no refined mesh has more faces than this; 0: there is no limit */
} cb_exact_asked;

/* Computes the added mass of a body at rest, and the levels that were solved (levels may be NULL). m->report is called
 * for each level with a large matrix. Returns CB_ERROR_STEP as cb_kirchhoff_refined does, and CB_ERROR_DOMAIN if the
 * body is so far from the origin that round-off exceeds the error. */
cb_status cb_exact_refined(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                           const cb_kirchhoff_options *options, cb_exact_levels *levels, cb_added_mass *out);
/* Computes the matrix G[6 + n][6 + n] of cb_kirchhoff_form for the velocities A_i (x - c) of the points x of a body at
 * rest. The error of G is of the order of the requested error. */
cb_status cb_exact_refined_form(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                                const cb_kirchhoff_options *options, int n, const double (*A)[3][3], const double c[3],
                                double *G);
/* Writes the velocities A_i (x - c) of the vertices x to v[n][vertices]. */
void cb_exact_linear_velocities(const cb_surface *surface, int n, const double (*A)[3][3], const double c[3],
                                double (*v)[3]);

/* Keeps one of `levels`, if possible not coarser than level `least` of fluid/surface_mesh.h. It is the first level
 * whose own K meets the error, or has a fair error while the next level is large; otherwise it is the last level.
 * Returns the error of K on the level that is kept, estimated by comparison with `found`, the result from all levels.
 */
double cb_exact_keep_one(cb_exact_asked asked, const cb_added_mass *found, int least, cb_exact_levels *levels);

/* The exact added mass of a body whose vertices move in its axes, on finer faces: each face is divided into four, once
 * or more (fluid/surface_mesh.h). The faces are flat, because a pose gives the positions of the vertices only.
 *
 * If the error must be met, each pose is solved on as many levels as the body needs at its given vertices, and the
 * result is extrapolated from all of them (potential/refine.h). K, mu0 and the kinetic energy are extrapolated with the
 * same weights, so that they remain parts of one quadratic form. The error is that of the requested pose.
 *
 * Otherwise one level serves all poses. It is the first level whose own K meets the error at the given vertices, or has
 * a fair error while the next level takes long. The error of a pose is the error of this level at the given vertices.
 * If the mesh is coarser at the pose (coarseness: potential/kirchhoff.h), the error is multiplied by the ratio of the
 * two coarsenesses. The preparation depends only on the body, not on the pose that is requested first.
 */

typedef struct cb_exact_posed cb_exact_posed;

/* Makes the data of a body. The first call of one of the functions below solves the levels. m and surface are borrowed.
 * The caller frees *out. */
cb_status cb_exact_posed_create(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                                const cb_kirchhoff_options *options, cb_exact_posed **out);
void cb_exact_posed_free(cb_exact_posed *p);

/* Computes the added mass for vertices at x, which move with v (NULL: at rest). The function may be called from any
 * thread. If the error is not met and asked.must is set, it returns CB_ERROR_STEP. Without asked.must it gives one
 * warning, in a thread that takes warnings, if the error is more than three times the requested one. */
cb_status cb_exact_posed_added_mass(cb_exact_posed *p, const double (*x)[3], const double (*v)[3], cb_added_mass *out);

/* Computes G of the member `form` in curvebody/fluid_model.h, for a body that swims by changing its shape. A call with
 * n = 0 only prepares the levels. The function is for objects without asked.must, which have one level. */
cb_status cb_exact_posed_form(cb_exact_posed *p, const double (*x)[3], int n, const double (*v)[3], double *G);
/* These functions may be called only after the preparation. The first one returns the faces of the level that serves
 * all poses. The second one finds positions or velocities on these faces from those of the given vertices. `buffer` has
 * as many entries as `to`. */
const cb_surface *cb_exact_posed_surface(const cb_exact_posed *p);
void cb_exact_posed_divide(const cb_exact_posed *p, const double (*from)[3], double (*to)[3], double (*buffer)[3]);
/* Returns the error, at the given vertices, of the level that serves all poses, and its number of faces. The function
 * may be called only after the preparation. */
double cb_exact_posed_error(const cb_exact_posed *p, int *faces);
