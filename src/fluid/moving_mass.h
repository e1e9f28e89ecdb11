/* Mass properties of a body whose shape changes: parts of fixed mass, their inertia and the momentum of the motion.
 *
 *   I = int rho m m^T dV over solids and sheets and point masses,  mu_0 = int rho (x × x', x') dV
 *   solid    each closed part keeps its mass; its density is that of the rest shape times rest volume over volume. The
 *            velocity inside is linear on the tetrahedra from the faces to the part's apex (the mean of its surface,
 *            weighted by the rest shape's areas): exact where a part moves rigidly or in an affine way. The linear part
 *            of mu_0 is m c', exact for any motion
 *   sheet    faces keep their mass, velocity linear on each
 *   lumped   masses at vertices: a third of each face's share, as the paper's algorithms 3-4 have them
 * Source: "Going with the Flow" (see README), algorithms 3-4, corrected; mass.h for the integrals.
 */
#pragma once

#include "fluid/local.h"
#include <curvebody/mass.h>

typedef struct cb_moving_mass cb_moving_mass; /* immutable once made */

/* material[parts] as in cb_mass_of; points[n] copied. */
cb_status cb_moving_mass_create(const cb_surface *s, const cb_material *material, bool lumped, int n,
                                const cb_point_mass *points, cb_moving_mass **out);
void cb_moving_mass_free(cb_moving_mass *m);
/* At positions x[vertices] with velocities v[vertices] (NULL: at rest, mu0 is 0). CB_STEP_SINGULAR for a closed part
 * whose volume is not positive. */
cb_status cb_moving_mass_at(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3], cb_mass *out,
                            double mu0[6]);
/* The same with what the local model of the same surface has summed over solid parts when cb_local_pose gave it these x
 * and v: no pass over their faces, and where cb_moving_mass_is_solid x and v are not read. */
bool cb_moving_mass_is_solid(const cb_moving_mass *m);
cb_status cb_moving_mass_with(const cb_moving_mass *m, const cb_local *l, const double (*x)[3], const double (*v)[3],
                              cb_mass *out, double mu0[6]);
/* (1/2) int rho |x'|^2 of the shape's motion. */
double cb_moving_mass_energy(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3]);
/* R[n][n] = int rho <x'_i, x'_j> of motions v[n][vertices], n at most CB_SHAPE_SURFACE_VARIABLES: on the diagonal twice
 * the energy of each; sum[vertices] is overwritten. */
void cb_moving_mass_form(const cb_moving_mass *m, const double (*x)[3], int n, const double (*v)[3], double (*sum)[3],
                         double *R);

/* What the files of moving masses share. */
struct cb_moving_part {
  int begin, end; /* faces */
  bool closed, sheet;
  double mass; /* of the whole part */
};

struct cb_moving_mass {
  int vertices, parts, points;
  double curvature; /* of the space; then places are normal coordinates */
  struct cb_moving_part *part;
  int (*face)[3];   /* by parts */
  double *weight;   /* [faces]: mass of a sheet's face */
  double *share;    /* [faces]: of the part's rest area, which is the apex's weight */
  char (*name)[40]; /* [parts] */
  cb_point_mass *point;
};

/* The mass of a closed part as it is given; CB_ERROR_UNSUPPORTED for others. */
cb_status cb_moving_mass_curved_part(const cb_moving_mass *m, struct cb_moving_part *p, const double (*x)[3],
                                     double density);
/* cb_moving_mass_at and cb_moving_mass_energy in a curved space, of closed solids and point masses. */
cb_status cb_moving_mass_curved(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3], cb_mass *out,
                                double mu0[6]);
double cb_moving_mass_curved_energy(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3]);
