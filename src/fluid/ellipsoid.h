/* Ellipsoids that a body is seen as by fluid models, and the fluid that moves along with one.
 *
 *   kappa_i = r_x r_y r_z int_0^inf dl/((r_i^2 + l) sqrt((r_x^2 + l)(r_y^2 + l)(r_z^2 + l))),  sum kappa_i = 2
 *   m_i = V kappa_i/(2 - kappa_i),
 *   I_i = (V/5)(r_j^2 - r_k^2)^2 (kappa_k - kappa_j)/(2 (r_j^2 - r_k^2) + (r_j^2 + r_k^2)(kappa_j - kappa_k))
 * Lamb, Hydrodynamics (1932), articles 114 and 115. By Carlson's R_D, or as MuJoCo 3.14 has it, by Kronrod's rule of 15
 * points in x, l = (r_i^3 r_j r_k)^(2/5) x^3/(1 - x)^2, whose nodes and weights are rounded to 8 decimals.
 * SI units; a fluid of density 1.
 */
#pragma once

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
  /* about each axis: s^2 = (r_j r_k)^2; (4 pi/3) r_i max(r_j, r_k)^2; (8 pi/15) r_i max(r_j, r_k)^4 */
  double side2[3], chord[3], spin[3];
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
 * the half sides of the surface's box. coefficient: where none are given; NULL: none may be. CB_ERROR_INPUT. The caller
 * frees *out. */
cb_status cb_ellipsoids_read(const cb_node *list, const cb_surface *surface,
                             const double coefficient[CB_ELLIPSOID_COEFFICIENTS], cb_ellipsoid_rule rule,
                             cb_ellipsoids **out);
/* `quaternion: [w, x, y, z]` of an entry of a list called `what`: columns are the axes; NULL: not turned. */
cb_status cb_axes_read(const cb_node *node, const char *what, double axes[3][3], bool *turned);
void cb_ellipsoids_free(cb_ellipsoids *e);
/* K += that of one about its centre, in the body's axes; of all of them, about the body's origin. */
void cb_ellipsoid_mass(const cb_ellipsoid *e, double K[6][6]);
void cb_ellipsoids_add_mass(const cb_ellipsoids *e, double K[6][6]);

/* --- for classes whose `body` is a cb_ellipsoids --- */
/* Rows of the parameters `viscosity`, `coefficient` and `geoms` of a struct, with the coefficients' defaults. */
#define CB_ELLIPSOID_ROW(type, name, index, fallback, doc) \
  { name, CB_PARAM_REAL, offsetof(type, coefficient) + (index) * sizeof(double), fallback, "", ">= 0", NULL, doc }
#define CB_ELLIPSOID_ROWS(type, blunt, slender, angular, kutta, magnus)                                             \
  {"viscosity", CB_PARAM_REAL, offsetof(type, viscosity), "0", "Pa s", ">= 0", NULL, "of the fluid"},               \
      CB_ELLIPSOID_ROW(type, "blunt", CB_ELLIPSOID_BLUNT, blunt, "drag of the area across the velocity"),           \
      CB_ELLIPSOID_ROW(type, "slender", CB_ELLIPSOID_SLENDER, slender, "drag of the rest of the greatest section"), \
      CB_ELLIPSOID_ROW(type, "angular", CB_ELLIPSOID_ANGULAR, angular, "drag of spinning"),                         \
      CB_ELLIPSOID_ROW(type, "kutta", CB_ELLIPSOID_KUTTA, kutta, "lift at an angle of attack"),                     \
      CB_ELLIPSOID_ROW(type, "magnus", CB_ELLIPSOID_MAGNUS, magnus, "lift of spinning"),                            \
      CB_ELLIPSOID_GEOMS(type, ", coefficients: [blunt, slender, angular, kutta, magnus]")
#define CB_ELLIPSOID_GEOMS(type, more)                                                            \
  {                                                                                               \
    "geoms", CB_PARAM_NODE, offsetof(type, geoms), "", "", "", NULL,                              \
        "list of {type: sphere|capsule|cylinder|ellipsoid|box|mesh, size: [..], position: [..], " \
        "quaternion: [..]" more                                                                   \
        "}; without it one of the half "                                                          \
        "sides of the body's box"                                                                 \
  }
int cb_ellipsoids_places(const cb_fluid_model *m, const void *body, const double (**at)[3]);
/* Twists in the ellipsoid's axes; wrenches and their derivatives (NULL: none) back in the body's. */
void cb_ellipsoid_turn(const cb_ellipsoid *e, const double V[6], double out[6]);
void cb_ellipsoid_turn_back(const cb_ellipsoid *e, double F[6], double (*dF)[6]);
void cb_ellipsoids_release(const cb_fluid_model *m, void *body);
