/* The bundle of an immersed body: it swims by its shape in an ideal fluid, with total momentum 0: on SE(3), in a
 * space of curvature K > 0 on SO(4), K < 0 on SO(3,1).
 *
 *   T(xi, r') = (1/2) <G (xi, r'), (xi, r')>,  G = ((K, Q), (Q^T, R)),  the kinetic energy of curvebody/immersed.h
 *   K(r) inertia and added mass;  Q_i = mu_0 of the motion r'_i = 1;  R of the shape's motion alone
 *   K xi + Q r' = 0:  A = K^-1 Q,  M = R - Q^T A:  r'^T M r' is twice the kinetic energy
 * The order is (omega, v), the fibre the pose of the body frame; on SO(4) and SO(3,1) v counts radii of curvature.
 * Density 0 is vacuum: the mechanical connection. The fluid is at rest, unbounded and of one density; no weight, no
 * drag. A shape that breathes moves no fluid on the whole, but that of `added_mass: exact`, whose potential flow has a
 * source then (on a sphere none may breathe); its parts feel one another. dA and dM: the shape's second derivatives are
 * exact, G is differentiated along them by differences of order 6: about 1e-11, and of another added mass what its
 * errors give over steps of .005 of the extent. Where all parts move rigidly in flat space without such a model, G is
 * found from one inertia per part, with exact derivatives, and no face is looked at (immersed_bundle_rigid.c). A pose
 * sequence jumps in its second derivatives at each pose: A is continuous, dA that of the cubic it is on. A slow bundle
 * becomes a fast one as a table (bundle/samples.h), and K and mu_0 that another code has tabulated come in as the table
 * of K^-1 mu_0.
 *
 *   bundle: {name: immersed, shape: {name: ellipsoid}, variables: [a, b], motion: {y: "Y + a*X^2 + b*X^3"},
 *            density: 1000, fluid: {density: 998}, added_mass: exact}
 *           or mesh, and poses in place of variables and motion
 * Source: Kanso, Marsden, Rowley & Melli-Huber, J. Nonlinear Science 15 (2005) 255, doi:10.1007/s00332-004-0650-9;
 * fluid/local.h for the added mass.
 */
#pragma once

#include <curvebody/bundle.h>
#include <curvebody/fluid_model.h>
#include "fluid/moving_mass.h"
#include "fluid/shape_surface.h"

typedef struct cb_immersed_bundle_options {
  const cb_material *material; /* [parts] */
  int n_points;
  const cb_point_mass *points;
  bool lumped;
  double density; /* of the fluid, kg/m^3; 0: none */
  const cb_fluid_model *added_mass; /* whose, borrowed; NULL: the local one */
} cb_immersed_bundle_options;

/* shape is borrowed and must outlive the bundle; options are copied. CB_ERROR_ARGUMENT, CB_ERROR_DOMAIN for what cannot
 * be a body. Evaluation: CB_STEP_SINGULAR where K has no inverse, with the axis, or a part has no volume;
 * CB_STEP_NOT_FINITE of the shape. `form` is G, `picture` the vertices and edges. */
cb_status cb_bundle_immersed(const cb_shape_surface *shape, const cb_immersed_bundle_options *options, cb_bundle **out);
/* The same with shape taken over: freed with the bundle, and on failure. */
cb_status cb_bundle_immersed_take(cb_shape_surface *shape, const cb_immersed_bundle_options *options, cb_bundle **out);
