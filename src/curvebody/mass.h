/* Mass properties: inertia tensors 6x6 of solids, sheets and point masses, in the order (angular, linear).
 *
 *   I = [[J, m hat(c)], [-m hat(c), m 1]] about the origin of the body frame, from exact polynomial integrals over the
 *   surface (divergence theorem; Eberly, Polyhedral Mass Properties (2002); Dobrovolskis, Icarus 124 (1996) 698,
 *   doi:10.1006/icar.1996.0243): integrals of 1, x, x^2, xy over a solid; faces times thickness for a sheet,
 *   whose own m t^2/12 about axes in its faces is left out: t^2/L^2 of the moment m L^2/12 of a plate L wide.
 * In a space of curvature K, w^2 + K |x|^2 = 1:  I = [[J, hat(c)], [hat(c)^T, m 1 - K J]],
 *   J = int rho (|x|^2 1 - x x^T) dV, c = int rho w x dV: a translation has the anisotropic mass m 1 - K J
 * For users. SI units; nothing is kept of what is given.
 */
#ifndef CURVEBODY_MASS_H
#define CURVEBODY_MASS_H

#include <curvebody/surface.h>

CB_API_BEGIN

typedef struct cb_mass {
  double mass, volume, area; /* volume: of closed parts, signed; area: of one side of sheets */
  double centre[3];
  double volume_centre[3]; /* of the displaced fluid */
  double inertia[6][6];    /* about the origin, order (angular, linear) */
  double curvature;        /* of the space, 1/m^2; then centres are normal coordinates of where the blocks between
                              angular and linear vanish */
} cb_mass;

/* What a part is made of. thickness > 0: a sheet. */
typedef struct cb_material {
  double density, thickness;
} cb_material;

/* A point, or a rigid piece that is known by its mass properties alone. */
typedef struct cb_point_mass {
  double mass, x[3]; /* fixed in the body frame, or where vertex >= 0, there */
  int vertex;
  double inertia[3][3]; /* about x, in the axes of the body frame; 0 of a point */
} cb_point_mass;

/* material[parts]. x (NULL: s->x): another pose of the same faces, in the space of the surface. */
cb_status cb_mass_of(const cb_surface *s, const double (*x)[3], const cb_material *material, cb_mass *out);
/* Is it the inertia of a rigid body about its centre: symmetric (to 1e-9 of its trace), with moments > 0 of which none
 * is above the sum of the others (to 1e-9)? CB_ERROR_DOMAIN with what is wrong. */
cb_status cb_inertia_check(const double J[3][3]);
/* Principal axes and moments about the centre of mass (GSL). axis[i] belongs to moment[i], right-handed. */
cb_status cb_mass_principal(const cb_mass *m, double moment[3], double axis[3][3]);

CB_API_END
#endif
