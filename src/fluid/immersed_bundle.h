/* The bundle of an immersed body, which swims by changing its shape in an ideal fluid, with total momentum 0. The group
 * is SE(3); in a space of positive curvature it is SO(4), in a space of negative curvature SO(3,1).
 *
 *   T(xi, r') = (1/2) <G (xi, r'), (xi, r')>,  G = ((K, Q), (Q^T, R)):  the kinetic energy of body and fluid
 *   K(r): inertia and added mass;  column i of Q: the momentum mu_0 of the motion r'_i = 1;  R: only the shape moves
 *   K xi + Q r' = 0:  A = K^-1 Q,  M = R - Q^T A:  r'^T M r' is twice the kinetic energy
 *
 * xi = (omega, v) is the twist of the body frame, r are the shape variables and r' their rates. A is the connection and
 * M the metric of the shape space. The fibre is the pose of the body frame. On SO(4) and SO(3,1) v is measured in radii
 * of curvature. Density 0 is vacuum, which gives the mechanical connection. The fluid is at rest, unbounded and of one
 * density; there is no weight and no drag.
 *
 * If a shape changes its volume, the mean normal velocity of its surface is subtracted. With `added_mass: exact` it is
 * not: the potential flow then has a source. On a sphere the volume must be constant. With `exact` the parts of the
 * body interact through the fluid.
 *
 * The second derivatives of the shape are exact. For dA and dM, G is differentiated along the first and second
 * derivatives of the vertices by differences of order 6; the error is about 1e-11. With the added mass of another model
 * the accuracy is limited by the errors of that model, divided by steps that move the vertices by about .005 of the
 * extent. If all parts move rigidly in flat space and the added mass is that of the local model, G is found from one
 * inertia per part with exact derivatives, and the faces are not used (immersed_bundle_rigid.c). The second derivatives
 * of a pose sequence jump at each pose. A is then continuous, and dA is that of the cubic on which r lies. A table
 * (bundle/samples.h) makes a slow bundle fast. If another code has tabulated K and mu_0, a table of K^-1 mu_0 can be
 * used.
 *
 *   bundle: {name: immersed, shape: {name: ellipsoid}, variables: [a, b], motion: {y: "Y + a*X^2 + b*X^3"},
 *            density: 1000, fluid: {density: 998}, added_mass: exact}
 *           or with mesh in place of shape, and with poses in place of variables and motion
 *
 * Source: Kanso, Marsden, Rowley & Melli-Huber, J. Nonlinear Science 15 (2005) 255, doi:10.1007/s00332-004-0650-9;
 * fluid/local.h for the added mass.
 */
#pragma once

#include "fluid/moving_mass.h"
#include "fluid/shape_surface.h"
#include <curvebody/bundle.h>
#include <curvebody/fluid_model.h>

typedef struct cb_immersed_bundle_options {
  const cb_material *material; /* [parts] */
  int n_points;
  const cb_point_mass *points;
  bool lumped;
  double density;                   /* density of the fluid, kg/m^3; 0: there is no fluid */
  const cb_fluid_model *added_mass; /* the model of the added mass, borrowed; NULL: the local one */
} cb_immersed_bundle_options;

/* Makes the bundle. shape is borrowed and must outlive the bundle; options are copied. Returns CB_ERROR_ARGUMENT or
 * CB_ERROR_DOMAIN if no body can have these options. In the bundle, `form` gives G, and `plot` the vertices and edges.
 *
 * Evaluation returns CB_STEP_SINGULAR if K has no inverse (the message names the axis) or a part has no volume,
 * CB_STEP_NOT_FINITE if the shape is not finite, and CB_STEP_DOMAIN if the volume changes on a sphere or the model's
 * added mass is not finite. */
cb_status cb_bundle_immersed(const cb_shape_surface *shape, const cb_immersed_bundle_options *options, cb_bundle **out);
/* Does the same as cb_bundle_immersed and takes ownership of the shape: it is freed with the bundle, or on failure. */
cb_status cb_bundle_immersed_take(cb_shape_surface *shape, const cb_immersed_bundle_options *options, cb_bundle **out);

/* The kinetic energy of an immersed body over its shape space, from which its bundle is made. */

enum { CB_IMMERSED_FORM = 6 + CB_SHAPE_SURFACE_VARIABLES };

/* Inertias of the parts, which may move rigidly (immersed_bundle_rigid.c). */
typedef struct cb_immersed_rigid cb_immersed_rigid;

/* The data of a body. It is immutable and may be used by any number of threads. */
typedef struct cb_immersed_energy {
  const cb_shape_surface *shape;
  cb_moving_mass *mass;
  double density;
  const cb_fluid_model *model; /* the model of the added mass; NULL: the local one */
  void *body;                  /* the model's data about the body */
  cb_immersed_rigid *rigid;    /* owned; NULL: the form is always summed over faces */
} cb_immersed_energy;

/* Adds density times the form of a fluid of density 1 to G, for vertices at x and the motions dx[n][vertices].
 * sum[vertices] is overwritten. */
cb_status cb_immersed_energy_of_model(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3],
                                      double (*sum)[3], double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* The work arrays of one thread. */
typedef struct cb_immersed_work cb_immersed_work;
cb_status cb_immersed_work_create(const cb_immersed_energy *e, cb_immersed_work **out);
void cb_immersed_work_free(cb_immersed_work *w);
/* Returns CB_ERROR_DOMAIN if the shape changes its volume in a fluid that fills a sphere. This is checked only where
 * all shape variables are 0, and only if the shape is defined there. */
cb_status cb_immersed_begin(const cb_immersed_energy *e, cb_immersed_work *w);
/* Finds the vertices at r. *x points into w and is overwritten when the next form is computed. */
cb_status cb_immersed_places(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, double (**x)[3]);
/* Finds G and its derivatives dG[n] (NULL: not wanted) at r. The block R is found only if `motion` is set. */
cb_status cb_immersed_form_of(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, bool motion,
                              double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM],
                              double (*dG)[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* Finds G without derivatives for vertices at x and the motions dx[n][vertices]. The block R is found only if `motion`
 * is set. */
cb_status cb_immersed_form_of_motion(const cb_immersed_energy *e, cb_immersed_work *w, const double (*x)[3],
                                     const double (*dx)[3], bool motion, double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* --- parts that move rigidly --- */
/* Finds the inertias of the parts. *out becomes NULL for a body that cannot have rigid parts: in curved space, or
 * with another model's added mass. It also becomes NULL if some vertex belongs to no part or to more than one part, or
 * if the vertices of a part lie on a line. The function does not set e->rigid. */
cb_status cb_immersed_rigid_create(const cb_immersed_energy *e, cb_immersed_work *w, cb_immersed_rigid **out);
void cb_immersed_rigid_free(cb_immersed_rigid *own);
/* The vertices x of a body with their first and second derivatives dx and d2x by the shape variables; d2x is only
 * needed for dG. */
typedef struct cb_immersed_places_at {
  const double (*x)[3], (*dx)[3], (*d2x)[3];
} cb_immersed_places_at;
/* Returns a shape whose function finds only those vertices that the form needs. */
const cb_shape_surface *cb_immersed_rigid_shape(const cb_immersed_energy *e);
/* Finds G and its derivatives dG (may be NULL) if all parts are rigid to round-off; otherwise returns false. */
bool cb_immersed_rigid_form(const cb_immersed_energy *e, const cb_immersed_places_at *at,
                            double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM],
                            double (*dG)[CB_IMMERSED_FORM][CB_IMMERSED_FORM]);

/* --- drag at low Reynolds number ---
 *
 * A surface that deforms at low Reynolds number. Each piece of it resists its own motion, independently of the others.
 *
 *   force on a piece of area a, normal n, velocity u:  -D u a,  D = k_n n n^T + k_t (1 - n n^T)
 *   u = omega × x + v + sum_i (dx/dr_i) r_i' = J (xi, r')
 *   G = sum over faces of int J^T D J dA = ((P, Q), (Q^T, R))
 *   no force and no torque in total:  P xi + Q r' = 0,  so that xi = -A r' with the connection A = P^-1 Q
 *   power:  r'^T M r',  M = R - Q^T A
 *
 * k_n and k_t are the normal and tangential drag coefficients, in units of force times time/length^3, and 1 is the unit
 * matrix. r are the shape variables and r' their rates, x(r) the vertices in the body frame, and xi = (omega, v) the
 * twist of the body frame. J is the matrix that gives u from xi and r'. P is the 6 x 6 block of G for xi, R the block
 * for r', and Q the block that couples xi and r'. The group is SE(3).
 *
 * Velocities are linear on a face, so that a rule with the midpoints of the three edges gives the integrals exactly.
 * The derivatives dA and dM in r are exact, from second derivatives of the surface. A sequence of poses is interpolated
 * by cubics: A is then continuous, and dA jumps at the poses. The time is proportional to the number of faces.
 *
 * The model is valid if the flow of a piece does not affect the other pieces, as for slender bodies (resistive-force
 * theory). The ratio of the drag across the body to the drag along it is k_n/k_t for a thin ribbon that moves in its
 * normal direction, and (1 + k_n/k_t)/2 for a thin tube. For a filament this ratio is about 2. Sources: Gross, Soliman,
 * Padilla, Knoeppel, Pinkall & Schroeder, ACM Trans. Graphics 42(4) (2023) 107, doi:10.1145/3592417; Gray & Hancock, J.
 * Exp. Biology 32 (1955) 802, doi:10.1242/jeb.32.4.802 (resistive forces).
 *
 * In a scenario:
 *
 *   bundle: {name: surface_drag, mesh: eel.obj, normal: k_n, tangential: k_t, poses: ..}    cb_shape_surface_of_poses
 *   bundle: {name: surface_drag, mesh: eel.obj, normal: k_n, tangential: k_t, variables: [a, b],
 *            motion: {y: "Y + a*X^2"}}                                          cb_shape_surface_expressions_in
 */

/* Makes the bundle on the group SE(3). Shape variables and periods are those of s (borrowed, with its surface). normal
 * and tangential are k_n and k_t, >= 0 and not both 0; otherwise the function returns CB_ERROR_ARGUMENT. The plot shows
 * the vertices and edges. The caller frees *out.
 *
 * At a shape for which some rigid motion has no drag (such as a body of revolution with k_t = 0), evaluation returns
 * CB_STEP_SINGULAR. It returns CB_ERROR_UNSUPPORTED for dA and dM if s has no second derivatives.
 */
cb_status cb_bundle_surface_drag(const cb_shape_surface *s, double normal, double tangential, cb_bundle **out);
