/* A table of the exact coupling of joined bodies, whose poses relative to each other follow from up to three
 * coordinates q of their joints.
 *
 *   2 T = sum_ij <C_ij(q) Y_j, Y_i>,  C(q) = sum_k c_k N_k1(q_1) .. N_kd(q_d),  momentum_i = sum_j C_ij(q) Y_j
 *   dT = sum_l t_l dq_l,  t_l = (1/2) sum_ij <dC_ij/dq_l Y_j, Y_i>
 * T: kinetic energy that the coupling adds; Y: twists in the body frames; C: K of all bodies minus the own blocks
 * (potential/several.h); N: B-splines (bundle/samples.h), periodic for an angle without a range. Momentum and slope are
 * derivatives of the same T, so the table only changes T, by O(h^6) for the spacing h of the samples, or O(h^4) with
 * fewer than seven samples; t_l has one order less. For given poses, at which the joints may not hold exactly, q is
 * defined by the two frames A and B of a joint:
 *   displacement  q = e_k.R_A^T (x_B - x_A):   a force t R_A e_k on B at x_B, and the opposite force on A at x_B
 *   angle about z of B  q = 2 atan2(z, w):     a torque t R_B ((z x - w y)/n, (z y + w x)/n, 1) on B, and the opposite one on A
 * with the quaternion (w, x, y, z) of R_A^T R_B and n = w^2 + z^2. These are the exact derivatives. They are equal and
 * opposite, so the momentum of the whole is exact. Valid for bodies that hinges, slides, cylindrical and planar joints
 * and welds hold together, far from a plane. SI units. Derived for this project.
 */
#pragma once

#include "fluid/body_coupling.h"
#include "potential/several.h"

/* The samples of each coordinate. With `given`, they are evenly spaced from range[0] to range[1], with both ends;
 * otherwise in one turn. One number of samples stands for all coordinates. */
typedef struct cb_coupling_samples {
  int counts, count[CB_COUPLING_AXES];
  int ranges;
  bool given[CB_COUPLING_AXES];
  double range[CB_COUPLING_AXES][2];
} cb_coupling_samples;

typedef struct cb_coupling_table cb_coupling_table;

/* Computes the table from cb_several_tensor at each sample. of and its joints are borrowed. Returns
 * CB_ERROR_UNSUPPORTED if joints do not hold all bodies together by at most CB_COUPLING_AXES coordinates; *which is
 * then the body, or -1. CB_ERROR_ARGUMENT for numbers of samples or ranges that do not fit the coordinates.
 * CB_ERROR_DOMAIN if bodies overlap at a sample. The caller frees *out. */
cb_status cb_coupling_table_create(const cb_coupled_fluid *of, cb_several *several, const cb_coupling_samples *samples,
                                   int *which, cb_coupling_table **out);
void cb_coupling_table_free(cb_coupling_table *t);
/* Does the same as `apply` of a class (fluid/body_coupling.h), for poses g. CB_STEP_DOMAIN outside of a range. */
cb_status cb_coupling_table_apply(cb_coupling_table *t, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                                  double (*slope)[6], double *energy);
/* Describes the table as a function of coordinates of joints, which are those of its tree. */
void cb_coupling_table_by_joints(cb_coupling_table *t, cb_coupling_by_joints *out);
/* Computes the largest error of C at the poses g, relative to the geometric mean of the two diagonal entries of the own
 * blocks, by one exact evaluation. */
cb_status cb_coupling_table_error(cb_coupling_table *t, cb_several *several, const cb_pose *g, double *error);
