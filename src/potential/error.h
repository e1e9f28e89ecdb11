/* Kirchhoff's tensor without the leading errors of constant panels, from meshes of falling fineness, and a bound on what
 * is left.
 *
 *   K(h) = K + a h^p + b h^p2 + ...,  h^2 ~ 1/faces
 * p = 2, p2 = 4 on smooth bodies (the volume that flat faces cut off). An edge that bends by d has a potential
 * ~ r^(1/(1 + d/pi)) next to it, and p = 2/(1 + d/pi), p2 = p + 2/3: 4/3 and 2 at right angles, 1 and 5/3 at thin borders
 * (Kondrat'ev 1967, Trans. Moscow Math. Soc. 16, 227). Smooth is what bends less on a finer mesh. Sheets, and bodies
 * thinner than a tenth of their faces' size, which are solved as sheets are, have orders of 1, 2, 3. Richardson's
 * extrapolation: doi 10.1098/rsta.1927.0008; without h^p by two levels, one order more by each further one. Measured
 * orders come up to these from below on meshes that are still coarse, 1.1 on a cube of 3000 faces. Levels are
 * extrapolated as long as their faces grow 3.3 to 4.5 times: shapes round their resolutions, and where they grow
 * otherwise the faces have other forms and no power holds (maple seeds of 832, 880 and 1112 faces).
 *
 * What is told of the error, by the number of levels and the kind of body:
 *   one level        1.5 times its coarseness (potential/kirchhoff.h), of which up to 1.2 was left; with sheets 2 times,
 *                    of which up to 1.7 was left; at least 1.25 (h^2 elongation)^(2/3) where the body is thinner than
 *                    its faces are wide (potential/thin.h)
 *   two levels       2.5 times their change, at least h^p of the unit sphere with edges and borders
 *   three and more   the greatest of a tenth of the whole correction, what the last level has changed in the result, and
 *                    twice the change between one and two orders; of sheets by four levels half of the latter two
 *   four, smooth     three times the change between one and two orders, where the measured orders are 1.8 to 2.2: up to
 *                    2.1 of it was left on ellipsoids and pairs of spheres
 * With edges and borders that of three and more is larger by four times the part by which one growth of the number of
 * faces exceeds another (plates of 56, 224 and 798 faces); with borders it is 1.25 times that; and it is no less than the
 * last change (half of it with borders), or a quarter of it where the measured order comes up to the stated one. Where
 * the body is thinner than its faces are wide it is no less than half of the last change, of which up to 0.43 was left
 * on spheroids, and h^(4/3) of the unit sphere, of which up to 0.6 was left on coins.
 * What is extrapolated is off by no more than the last level is, and its distance from there. Of two levels with edges
 * the last one's K is taken where that tells less. The asymmetry of the raw tensor is told at least.
 *
 * It is a measured bound (tests/potential/test_potential_error.c, test_shapes_error.c, test_thin.c), not a proven one. Errors are
 * relative: of K_ab about the centre of the area, to k s_a s_b with k the greatest K of a translation and s the rms
 * distance of the surface from the centre for rotations, 1 for translations.
 */
#pragma once

#include "potential/kirchhoff.h"

/* Of one mesh. */
typedef struct cb_potential_level {
  int faces;
  cb_kirchhoff_mass mass;
  cb_kirchhoff_report report;
  bool sheets;              /* has it any? */
  double bend;              /* greatest, between neighbours that are convex, 0 to pi */
  double centre[3], radius; /* of the area */
  double elongation;        /* 12 radius^2/area of both sides: about 1 for a thin square plate, L/2 for one of L by 1 */
} cb_potential_level;

typedef struct cb_potential_estimate {
  cb_kirchhoff_mass mass;
  double error;
  double order; /* as measured by the last three levels; nan: there are fewer, or the change does not fall */
} cb_potential_estimate;

enum { CB_POTENTIAL_LEVELS = 12 };

/* From n levels, 1 to CB_POTENTIAL_LEVELS, each finer than the one before it. */
cb_status cb_potential_estimated(int n, const cb_potential_level *level, cb_potential_estimate *out);
/* How far the level's own tensor is from K, relative as errors are. */
double cb_potential_departure(const cb_potential_level *level, const double K[6][6]);
