/* Ellipsoids that a body is seen as by fluid models, and the fluid that moves along with one.
 *
 *   kappa_i = r_x r_y r_z int_0^inf dl/((r_i^2 + l) sqrt((r_x^2 + l)(r_y^2 + l)(r_z^2 + l))),  sum kappa_i = 2
 *   m_i = V kappa_i/(2 - kappa_i),
 *   I_i = (V/5)(r_j^2 - r_k^2)^2 (kappa_k - kappa_j)/(2 (r_j^2 - r_k^2) + (r_j^2 + r_k^2)(kappa_j - kappa_k))
 * Lamb, Hydrodynamics (1932), articles 114 and 115. By Carlson's R_D, or as MuJoCo 3.14 has it, by Kronrod's rule of 15
 * points in x, l = (r_i^3 r_j r_k)^(2/5) x^3/(1 - x)^2, whose nodes and weights are rounded to 8 decimals.
 * SI units; a fluid of density 1.
 */
#ifndef CB_FLUID_ELLIPSOID_H
#define CB_FLUID_ELLIPSOID_H

#include <curvebody/fluid_model.h>

enum {
  CB_ELLIPSOID_BLUNT,
  CB_ELLIPSOID_SLENDER,
  CB_ELLIPSOID_ANGULAR,
  CB_ELLIPSOID_KUTTA,
  CB_ELLIPSOID_MAGNUS,
  CB_ELLIPSOID_COEFFICIENTS
};
typedef enum cb_ellipsoid_rule { CB_ELLIPSOID_EXACT, CB_ELLIPSOID_MUJOCO } cb_ellipsoid_rule;

typedef struct cb_ellipsoid {
  double r[3];                 /* semi-axes */
  double place[3], axes[3][3]; /* in the body frame; columns are the axes */
  bool turned;                 /* axes is not the identity */
  double coefficient[CB_ELLIPSOID_COEFFICIENTS];
  double volume, mass[3], inertia[3]; /* of the fluid */
  double greatest, spun, stokes;      /* pi r_max r_mid; (8 pi/15) r_mid r_max^4; mean of r */
} cb_ellipsoid;

typedef struct cb_ellipsoids {
  int n;
  cb_ellipsoid *of;
  double (*place)[3]; /* [n] */
} cb_ellipsoids;

void cb_ellipsoid_kappa(const double r[3], cb_ellipsoid_rule rule, double kappa[3]);
/* All that follows from r. */
void cb_ellipsoid_finish(cb_ellipsoid *e, cb_ellipsoid_rule rule);

/* Of a list of {type: .., size: [..], position: [..], quaternion: [..], coefficients: [..]}, or where it is NULL one of
 * the half sides of the surface's box. coefficient: where none are given. CB_ERROR_INPUT. The caller frees *out. */
cb_status cb_ellipsoids_read(const cb_node *list, const cb_surface *surface,
                             const double coefficient[CB_ELLIPSOID_COEFFICIENTS], cb_ellipsoid_rule rule,
                             cb_ellipsoids **out);
void cb_ellipsoids_free(cb_ellipsoids *e);
/* K += that of all of them, about the body's origin. */
void cb_ellipsoids_add_mass(const cb_ellipsoids *e, double K[6][6]);

/* For classes whose `body` is a cb_ellipsoids. */
int cb_ellipsoids_places(const cb_fluid_model *m, const void *body, const double (**at)[3]);
void cb_ellipsoids_release(const cb_fluid_model *m, void *body);

#endif
