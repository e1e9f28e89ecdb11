/* The added mass K (kirchhoff.h) to a given error: the mesh is refined until the estimate of the error meets the given
 * error. The number of faces grows about fourfold from one mesh (level) to the next.
 */
#pragma once

#include "potential/kirchhoff.h"

/* The estimate: K without the leading errors of constant panels, from several levels, and a bound on the remaining
 * error.
 *
 *   K(h) = K + a h^p + b h^p2 + ...,  h^2 = 4 pi/faces
 * K(h) is the tensor from a mesh whose faces have the size h (for faces on the unit sphere), and a and b do not depend
 * on h. On smooth bodies p = 2 and p2 = 4 (from the volume that flat faces cut off). Next to an edge at which the
 * normal of the surface turns by the angle d, the potential varies like r^(1/(1 + d/pi)) with the distance r from the
 * edge. There p = 2/(1 + d/pi) and p2 = p + 2/3: p = 4/3 and p2 = 2 at right angles, 1 and 5/3 at thin borders
 * (Kondrat'ev 1967, Trans. Moscow Math. Soc. 16, 227). A body counts as smooth if its largest angle d on the last level
 * is below 0.75 of the largest d on the level before. Sheets have the orders 1, 2, 3. Bodies thinner than a tenth of
 * the size of their faces behave like sheets and have the same orders. The extrapolation is Richardson's (doi
 * 10.1098/rsta.1927.0008): two levels remove h^p, and each further level removes one more order. On coarse meshes the
 * measured orders are lower than these (1.1 on a cube of 3000 faces) and approach them from below. Levels are
 * extrapolated only while the number of faces grows by factors of 3.3 to 4.5. With other factors, which result from
 * rounded resolutions of shapes, the faces have other forms, and the error follows no power law (maple seeds of 832,
 * 880 and 1112 faces).
 *
 * The bound of the error, by the number of levels and the type of body. A change is a difference of two tensors, in the
 * units of the errors below. ("measured" is the largest error that was measured, in the same units.)
 *   one level        1.5 times its coarseness (kirchhoff.h; measured: up to 1.2), or 2 times with sheets (measured: up
 *                    to 1.7); at least 1.25 (h^2 max(1, elongation))^(2/3) if the body is thinner than its faces are
 *                    wide (potential/mesh_pieces.h)
 *   two levels       2.5 times the change between them; with edges and borders at least h^p
 *   three and more   the maximum of a tenth of the complete correction, of the change of the result by the last level,
 *                    and of twice the difference between the results with one order and with all orders removed. For
 *                    sheets with four levels or more, the last two of these three are halved. The bound is at least
 *                    the last change of K, if that is above 0.6 of the change before it
 *   four and more,   three times the difference between the results with one order and with two orders removed, if the
 *   smooth           last two measured orders are 1.8 to 2.2 (measured: up to 2.1 times this difference on ellipsoids
 *                    and pairs of spheres). The bound is at least a quarter of the change of the result by the last
 *                    level, and a fiftieth of the complete correction
 * With edges and borders the bound for three and more levels is increased:
 *   - by four times the relative difference between two growths of the number of faces (plates: 56, 224, 798);
 *   - with borders by a further factor of 1.25;
 *   - to at least the last change (half of it with borders), or a quarter of it if the measured order is near p.
 * With three or more levels of a body that is thinner than its faces are wide, the bound is at least half of the last
 * change (measured: up to 0.43 on spheroids) and at least h^(4/3) (measured: up to 0.6 on coins). For other bodies the
 * error of the extrapolated K is at most the bound from the last level alone plus the distance of its K from the
 * extrapolated K. With two levels and edges, K of the last level is used if its bound is smaller. The bound is never
 * below the asymmetry of the computed tensor (kirchhoff.h).
 *
 * The bound is measured (tests/potential/test_potential_error.c, test_shapes_error.c, test_thin.c), not proven. Errors
 * are relative: the error of K_ab about the centre of the area is divided by k s_a s_b. Here k is the largest K of a
 * translation, s is the rms distance of the surface from the centre for rotations, and s = 1 for translations. */

/* The result on one mesh. */
typedef struct cb_potential_level {
  int faces;
  cb_kirchhoff_mass mass;
  cb_kirchhoff_report report;
  bool sheets;              /* the mesh has sheets */
  double bend;              /* the largest angle between the normals of neighbours at a convex edge, 0 to pi */
  double centre[3], radius; /* the centre of the area, and the rms distance of the surface from it */
  double elongation;        /* 12 radius^2/area: about 1 for a thin closed square plate, L/2 for a plate of L by 1 */
} cb_potential_level;

typedef struct cb_potential_estimate {
  cb_kirchhoff_mass mass;
  double error;
  double order; /* measured from the last three levels; NaN if there are fewer, or if the change does not decrease */
} cb_potential_estimate;

enum { CB_POTENTIAL_LEVELS = 12 };

/* Computes the estimate of K and its error from n levels, 1 to CB_POTENTIAL_LEVELS. Each level is finer than the one
 * before it. */
cb_status cb_potential_estimated(int n, const cb_potential_level *level, cb_potential_estimate *out);
/* Returns the largest difference of an entry of the tensor of a level from that of K, relative as the errors above. */
double cb_potential_departure(const cb_potential_level *level, const double K[6][6]);

/* A body with meshes of several levels. mesh() sets the mesh of a level, counted from 0; it is valid until the next
 * call. report() (may be NULL) is called before a level is solved, with the memory in bytes and the time in seconds
 * that it will need. The time is NaN if it is not known. */
typedef struct cb_potential_body {
  void *context;
  cb_status (*mesh)(void *context, int level, int *vertices, const double (**x)[3], int *faces, const int (**face)[3]);
  void (*report)(void *context, int level, int faces, size_t bytes, double seconds);
  int least;                 /* minimum number of levels, even if fewer meet the error */
  cb_potential_level *level; /* [CB_POTENTIAL_LEVELS]: receives the solved levels, *levels of them; NULL: not wanted */
  int *levels;
  /* An error of `fair` is sufficient if the next level would have more than about `faces` faces. fair = 0: there is no
   * such limit. */
  double fair;
  int faces;
  /* [CB_POTENTIAL_WHY]: receives the reason why the error is not met, or ""; NULL: not meeting the error is a
   * failure */
  char *why;
} cb_potential_body;

enum { CB_POTENTIAL_WHY = 640 };

/* Refines the mesh until the estimate of the error is at most the given error > 0. Sets *out to the estimate, and
 * *report and *faces to the report and the number of faces of the last level. The error is not met if the next level
 * does not fit into the memory, cannot be solved, does not exist, or is not used because of `fair`. body->why then
 * receives the reason and the error that was reached, and *out is the estimate from the solved levels. If `why` is
 * NULL, the function then returns CB_ERROR_STEP. If the first level cannot be solved, its error is returned, and so is
 * CB_ERROR_MEMORY on any level.
 */
cb_status cb_kirchhoff_refined(const cb_potential_body *body, double error, const cb_kirchhoff_options *options,
                               cb_potential_estimate *out, cb_kirchhoff_report *report, int *faces);
