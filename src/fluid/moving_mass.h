/* Mass properties of a body whose shape changes: parts of fixed mass, their inertia and the momentum of the motion.
 *
 *   I = int rho X^T X dV over solids, sheets and point masses,  X (omega, v) = v + omega × x
 *   mu_0 = int rho (x × x', x') dV,  x': velocity of the material in the body frame, rho: its density
 *   solid    Each closed part keeps its mass. Its density is the density at rest times (volume at rest)/volume. The
 *            velocity inside is linear on the tetrahedra from the faces to the part's apex (the mean of its surface,
 *            weighted by the rest shape's areas). The velocity is exact if a part moves rigidly or in an affine way.
 *            The linear part of mu_0 is m c' for a part of mass m and centre c, which is exact for any motion.
 *   sheet    The faces keep their masses; the velocity is linear on each face.
 *   lumped   The masses are at the vertices: a third of each face's mass, as in algorithms 3-4 of the source.
 *
 * (omega, v) is the twist of the body frame and x a point of the body. Source: "Going with the Flow" (see README),
 * algorithms 3-4, corrected; curved_moments.h for the integrals. SI units.
 */
#pragma once

#include "fluid/local.h"
#include <curvebody/mass.h>

typedef struct cb_moving_mass cb_moving_mass; /* immutable once it is made */

/* Makes the data of a body. material[parts] is that of cb_mass_of; points[n] are copied. If `lumped` is set, the masses
 * are at the vertices (see above). Returns CB_ERROR_ARGUMENT for an invalid point mass, CB_ERROR_DOMAIN for a part
 * whose faces point inwards, and the errors of cb_material_check. The caller frees *out. */
cb_status cb_moving_mass_create(const cb_surface *s, const cb_material *material, bool lumped, int n,
                                const cb_point_mass *points, cb_moving_mass **out);
void cb_moving_mass_free(cb_moving_mass *m);
/* Finds the mass properties and the momentum mu0 for the vertices at x[vertices] with velocities v[vertices] (NULL: at
 * rest, mu0 is 0). Returns CB_STEP_SINGULAR for a closed part whose volume is not positive. */
cb_status cb_moving_mass_at(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3], cb_mass *out,
                            double mu0[6]);
/* cb_moving_mass_with does the same as cb_moving_mass_at, but takes the sums over solid parts from the local model l of
 * the same surface. cb_local_pose must have been called for the same x and v. No pass over the faces of the solid parts
 * is then needed. If cb_moving_mass_is_solid returns true, x and v are not read. */
bool cb_moving_mass_is_solid(const cb_moving_mass *m);
cb_status cb_moving_mass_with(const cb_moving_mass *m, const cb_local *l, const double (*x)[3], const double (*v)[3],
                              cb_mass *out, double mu0[6]);
/* Returns (1/2) int rho |x'|^2 dV of the shape's motion, for the velocities x' = v of the vertices. */
double cb_moving_mass_energy(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3]);
/* Finds R[n][n] = int rho <x'_i, x'_j> dV for n motions of the vertices with the velocities v[n][vertices], n at most
 * CB_SHAPE_SURFACE_VARIABLES. The diagonal holds twice the energy of each motion. sum[vertices] is overwritten. */
void cb_moving_mass_form(const cb_moving_mass *m, const double (*x)[3], int n, const double (*v)[3], double (*sum)[3],
                         double *R);

/* Declarations that moving_mass.c and moving_mass_curved.c share. */
struct cb_moving_part {
  int begin, end; /* range of the part's faces in `face` */
  bool closed, sheet;
  double mass; /* mass of the part */
};

struct cb_moving_mass {
  int vertices, parts, points;
  double curvature; /* curvature of the space; if it is not 0, positions are normal coordinates */
  struct cb_moving_part *part;
  int (*face)[3]; /* [faces]: the faces, part by part */
  double *weight; /* [faces]: mass of each face, in proportion to its area at rest */
  /* [faces]: area of each face at rest divided by that of its part; it is the weight of the face in the apex */
  double *share;
  char (*name)[40]; /* [parts] */
  cb_point_mass *point;
};

/* Sets the mass of a closed part to the given density times the volume at x. An open part gets the mass 0. Returns
 * CB_ERROR_UNSUPPORTED for a sheet, and CB_ERROR_DOMAIN for a negative volume. */
cb_status cb_moving_mass_curved_part(const cb_moving_mass *m, struct cb_moving_part *p, const double (*x)[3],
                                     double density);
/* These two functions do the same as cb_moving_mass_at and cb_moving_mass_energy in a curved space, for closed solids
 * and point masses. */
cb_status cb_moving_mass_curved(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3], cb_mass *out,
                                double mu0[6]);
double cb_moving_mass_curved_energy(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3]);
