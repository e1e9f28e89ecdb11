/* Mass properties: the 6x6 matrices of inertia of solids, sheets and point masses, in the order (angular, linear).
 *
 *   I = [[J, m hat(c)], [-m hat(c), m 1]]
 * I is the inertia about the origin of the body frame. m is the mass, c its centre, J the 3x3 matrix of inertia of
 * rotations, and hat(c) the matrix with hat(c) a = c × a. For a solid J and c are computed exactly from integrals of 1,
 * x, x^2 and xy over the volume, which the divergence theorem turns into integrals over the surface (Eberly, Polyhedral
 * Mass Properties (2002); Dobrovolskis, Icarus 124 (1996) 698, doi:10.1006/icar.1996.0243). For a sheet J and c are
 * integrals over its faces, times the thickness t. The moment m t^2/12 of a sheet about axes in its faces is neglected;
 * for a plate of width L this is the fraction t^2/L^2 of its moment m L^2/12.
 *
 * In a space of curvature K a point has the coordinates (x, w), w^2 + K |x|^2 = 1, and
 *   I = [[J, hat(c)], [hat(c)^T, m 1 - K J]],   J = int rho (|x|^2 1 - x x^T) dV,   c = int rho w x dV,
 * with the density rho. The mass in translations, m 1 - K J, then depends on the direction.
 * For users. SI units; the functions keep no pointers to their arguments.
 */
#ifndef CURVEBODY_MASS_H
#define CURVEBODY_MASS_H

#include <curvebody/surface.h>

CB_API_BEGIN

typedef struct cb_mass {
  /* volume: of the closed parts, negative if their normals point inwards; area: of the faces of all parts, counted once
   * for the two sides of a sheet */
  double mass, volume, area;
  double centre[3];
  double volume_centre[3]; /* centre of the volume, and of the displaced fluid if its density is uniform */
  double inertia[6][6];    /* the matrix I about the origin, in the order (angular, linear) */
  /* curvature of the space, 1/m^2. If it is not 0, a centre is the point about which the blocks of I that couple
   * rotation and translation are 0; it is given in normal coordinates. */
  double curvature;
} cb_mass;

/* The material of a part, in kg/m3 and m. A part with thickness > 0 is a sheet; otherwise it is a solid. */
typedef struct cb_material {
  double density, thickness;
} cb_material;

/* A point mass, or a rigid piece given only by its mass properties. */
typedef struct cb_point_mass {
  double mass, x[3];    /* x: its fixed position in the body frame; not used if vertex >= 0 */
  int vertex;           /* >= 0: the mass is at this vertex of the surface */
  double inertia[3][3]; /* about x, in the axes of the body frame; 0 for a point */
} cb_point_mass;

/* Computes the mass properties of a surface whose parts have the material[parts]. x[vertices] are the positions of its
 * vertices in another pose; NULL: s->x. CB_ERROR_DOMAIN for a position that is not finite. */
cb_status cb_mass_of(const cb_surface *s, const double (*x)[3], const cb_material *material, cb_mass *out);
/* Checks that J can be the inertia of a rigid body about its centre: J must be symmetric and its principal moments must
 * be > 0, each at most the sum of the other two. The tolerance is 1e-9 of the trace. Otherwise CB_ERROR_DOMAIN, with
 * the reason. */
cb_status cb_inertia_check(const double J[3][3]);
/* Computes the principal moments about the centre of mass, in ascending order, and their axes: axis[i] is the axis of
 * moment[i]. The axes are right-handed unit vectors. */
cb_status cb_mass_principal(const cb_mass *m, double moment[3], double axis[3][3]);

CB_API_END
#endif
