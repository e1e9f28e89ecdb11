/* Mass properties: inertia tensors 6x6 of solids, sheets and point masses, in the order (angular, linear).
 *
 *   I = [[J, m hat(c)], [-m hat(c), m 1]] about the origin of the body frame, with m the mass, c its centre and J the
 *   inertia of rotation, from exact polynomial integrals over the
 *   surface (divergence theorem; Eberly, Polyhedral Mass Properties (2002); Dobrovolskis, Icarus 124 (1996) 698,
 *   doi:10.1006/icar.1996.0243): integrals of 1, x, x^2, xy over a solid; faces times thickness for a sheet. The
 *   sheet's own m t^2/12 (t: thickness) about axes in its faces is neglected; for a plate of width L this is a
 *   relative error t^2/L^2 of the moment m L^2/12.
 * In a space of curvature K, w^2 + K |x|^2 = 1:  I = [[J, hat(c)], [hat(c)^T, m 1 - K J]],
 *   J = int rho (|x|^2 1 - x x^T) dV, c = int rho w x dV: a translation has the anisotropic mass m 1 - K J
 * For users. SI units; the functions keep no pointers to their arguments.
 */
#ifndef CURVEBODY_MASS_H
#define CURVEBODY_MASS_H

#include <curvebody/surface.h>

CB_API_BEGIN

typedef struct cb_mass {
  double mass, volume, area; /* volume: of closed parts, signed; area: of one side of the sheets */
  double centre[3];
  double volume_centre[3]; /* centre of the volume: the centre of the displaced fluid if its density is uniform */
  double inertia[6][6];    /* about the origin, order (angular, linear) */
  /* curvature of the space, 1/m^2; if it is not 0, centres are normal coordinates of the point where the angular-linear
   * blocks vanish */
  double curvature;
} cb_mass;

/* Material of a part. thickness > 0: a sheet. */
typedef struct cb_material {
  double density, thickness;
} cb_material;

/* A point mass, or a rigid piece given only by its mass properties. */
typedef struct cb_point_mass {
  double mass, x[3]; /* fixed in the body frame, or at the vertex if vertex >= 0 */
  int vertex;
  double inertia[3][3]; /* about x, in the axes of the body frame; 0 for a point */
} cb_point_mass;

/* Computes the mass properties of a surface with material[parts]. x (NULL: s->x): vertices of the same faces in another
 * pose, in the space of the surface. */
cb_status cb_mass_of(const cb_surface *s, const double (*x)[3], const cb_material *material, cb_mass *out);
/* Checks that J is the inertia of a rigid body about its centre: symmetric (to 1e-9 of its trace), with moments > 0,
 * none larger than the sum of the other two (to 1e-9). Otherwise CB_ERROR_DOMAIN with the reason. */
cb_status cb_inertia_check(const double J[3][3]);
/* Computes principal axes and moments about the centre of mass (GSL). axis[i] is the axis of moment[i]; the axes are
 * right-handed. */
cb_status cb_mass_principal(const cb_mass *m, double moment[3], double axis[3][3]);

CB_API_END
#endif
