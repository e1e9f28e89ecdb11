/* Classes of the key `coupling` of `fluid`. They give the forces that bodies in one fluid exert on each other through
 * the flow that they cause.
 *
 *   2 T = <K(g) Y, Y>,   K = diag(own_1, .., own_n) + C(g),   momentum_i = sum_j C_ij Y_j,
 *   slope_i = (1/2) <dC/dg_i Y, Y> along g_i (1 + hat(xi_i))
 * T: kinetic energy of the fluid; g: poses, Y: twists of all bodies, in the body frames; xi_i: a small twist of body i;
 * own_i: the added mass of body i alone; C: what the coupling adds. momentum_i and slope_i must be derivatives of one
 * and the same T up to round-off: then the step (run/body_interaction.c) keeps the momentum of the whole exactly, and
 * its energy without drift. SI units.
 */
#pragma once

#include "potential/kirchhoff.h"
#include "potential/several.h"
#include <curvebody/immersed.h>
#include <curvebody/param.h>

typedef struct cb_body_coupling cb_body_coupling;

/* A joint between two bodies. The number -1 in `body` stands for the world. */
typedef struct cb_coupled_joint {
  int number; /* the number of this joint among all joints */
  const char *name;
  const struct cb_joint_class *class_; /* curvebody/joint.h */
  const struct cb_joint_data *data;
  int body[2];
  cb_pose frame[2]; /* the frames A and B of the joint, relative to the two body frames */
} cb_coupled_joint;

/* The bodies of a run in their order. All pointers are borrowed. Bodies that are copies of each other have the same
 * pointer in `body`.
 */
typedef struct cb_coupled_fluid {
  const cb_fluid *fluid;
  double density; /* density of the fluid, which is the same everywhere */
  int n;
  const cb_immersed *const *body; /* [n] */
  const char *const *name;        /* [n]: the names of the bodies, for messages */
  int joints;
  const cb_coupled_joint *joint; /* [joints] */
} cb_coupled_fluid;

/* The largest estimated error of K, and the two bodies whose block of K has it. The error is relative to the smaller
 * one of the own tensors of these two bodies. */
typedef struct cb_coupling_error {
  double error;
  int body[2];
} cb_coupling_error;

/* C as a function of joint coordinates q, if it depends on nothing else. The function `at` sets C[n (n + 1)/2][6][6]
 * for n bodies, which has the blocks (i, j <= i) row by row. It sets slope[coordinates][..] to the derivatives of C in
 * q, unless slope is NULL. It returns CB_STEP_DOMAIN where C is not known.
 */
enum { CB_COUPLING_AXES = 3 };
typedef struct cb_coupling_by_joints {
  void *self;
  int coordinates;
  /* Coordinate l belongs to the joint with the number joint[l] among all joints, and is its coordinate number
   * coordinate[l]. */
  int joint[CB_COUPLING_AXES], coordinate[CB_COUPLING_AXES];
  cb_status (*at)(void *self, const double *q, double *C, double *slope);
} cb_coupling_by_joints;

typedef struct cb_body_coupling_class {
  const char *name, *title, *doc;
  const cb_param *params;
  size_t params_size; /* size of the struct that `params` fills; cb_body_coupling.params points to it */
  /* Reads those values of the struct that the table of parameters cannot read. NULL: there are none. */
  cb_status (*read)(void *params);
  /* Makes the data for the bodies of a run; `release` frees it. Returns CB_ERROR_UNSUPPORTED for bodies or fluids that
   * the class cannot treat; *which is then the number of the body, or -1. */
  cb_status (*prepare)(const cb_body_coupling *c, const cb_coupled_fluid *of, int *which, void **out);
  void (*release)(void *self);
  /* Computes momentum[n][6], slope[n][6] and energy[n], the share of each body in the energy of the coupling, at time t
   * (slope and energy may be NULL). The results depend only on the arguments. */
  cb_status (*apply)(void *self, double t, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                     double (*slope)[6], double *energy);
  /* Returns whether C depends only on coordinates of joints. If so, sets *out. NULL: C depends on more than these. */
  bool (*by_joints)(void *self, cb_coupling_by_joints *out);
  /* Returns the thickness of the layer of fluid around a body that belongs to its shape in contacts: two bodies are in
   * contact when their layers touch. NULL: the thickness is 0. */
  double (*film)(const void *self, int body);
  /* Estimates the error of K at these poses. */
  cb_status (*estimate)(void *self, double t, const cb_pose *g, cb_coupling_error *out);
  /* Returns the plane at which the fluid ends. */
  cb_mirror (*plane)(const cb_body_coupling *c);
  /* Sets u[points] to the velocity, at the points x, of the flow that the body with the number `body` feels. This flow
   * is caused by all other bodies. NULL: the class computes only the flow around all bodies together. */
  cb_status (*incoming)(void *self, double t, const cb_pose *g, const double (*Y)[6], int body, int points,
                        const double (*x)[3], double (*u)[3]);
} cb_body_coupling_class;

struct cb_body_coupling {
  const cb_body_coupling_class *class_;
  void *params;
};

/* A plane at which the fluid ends. If a class of couplings adds the images of bodies, its parameters begin with this
 * struct, and the member `plane` of the class is cb_coupling_plane_of. */
typedef struct cb_coupling_plane {
  int wall;
  double wall_x, wall_y, wall_z, wall_height;
} cb_coupling_plane;
extern const cb_param cb_coupling_plane_params[];
cb_mirror cb_coupling_plane_of(const cb_body_coupling *c);
/* Returns the plane at which the fluid of a coupling ends, or a plane of the kind CB_MIRROR_NONE if there is none. */
static inline cb_mirror cb_body_coupling_plane(const cb_body_coupling *c) {
  return c->class_->plane ? c->class_->plane(c) : (cb_mirror){.kind = CB_MIRROR_NONE};
}

/* All classes, ended by NULL. */
extern const cb_body_coupling_class *const *const cb_body_coupling_classes;

/* Makes a coupling from its name or from a map with the key `name`; *out is NULL for `none`. The caller frees it. */
cb_status cb_body_coupling_read(const cb_node *node, cb_body_coupling **out);
void cb_body_coupling_free(cb_body_coupling *c);

/* --- a table of the exact coupling ---
 *
 * A table of the exact coupling of joined bodies, whose poses relative to each other follow from up to three
 * coordinates q of their joints.
 *
 *   2 T = sum_ij <C_ij(q) Y_j, Y_i>,  C(q) = sum_k c_k N_k1(q_1) .. N_kd(q_d),  momentum_i = sum_j C_ij(q) Y_j
 *   dT = sum_l t_l dq_l,  t_l = (1/2) sum_ij <dC_ij/dq_l Y_j, Y_i>
 * T: kinetic energy that the coupling adds; Y: twists in the body frames; c_k: coefficients; C: K of all bodies minus
 * the own blocks (potential/several.h); N: B-splines (bundle/samples.h), periodic for an angle without a range.
 * Momentum and slope are derivatives of the same T, so the table only changes T, by O(h^6) for the spacing h of the
 * samples, or O(h^4) with fewer than seven samples; t_l has one order less. At given poses the joints may not hold
 * exactly. Therefore q is defined by the two frames A and B of a joint (R: rotation, x: origin, e_k: unit vector of
 * axis k, t: the t_l of this coordinate):
 *   displacement  q = e_k.R_A^T (x_B - x_A):   a force t R_A e_k on B at x_B, and the opposite force on A at x_B
 *   angle about z of B  q = 2 atan2(z, w):     a torque t R_B ((z x - w y)/n, (z y + w x)/n, 1) on B, and the opposite
 *                                              torque on A
 * with the quaternion (w, x, y, z) of R_A^T R_B and n = w^2 + z^2. These wrenches are the exact derivatives of T. The
 * wrenches on A and B are equal and opposite, so the momentum of the whole is exact. Valid for bodies that hinges,
 * slides, cylindrical and planar joints and welds hold together in flat space, far from a plane. SI units. Derived for
 * this project.
 */

/* The samples of each coordinate. With `given`, they are evenly spaced from range[0] to range[1], and both ends are
 * samples; otherwise they are evenly spaced over one turn. If only one number of samples is given, it is that of all
 * coordinates. */
typedef struct cb_coupling_samples {
  int counts, count[CB_COUPLING_AXES];
  int ranges;
  bool given[CB_COUPLING_AXES];
  double range[CB_COUPLING_AXES][2];
} cb_coupling_samples;

typedef struct cb_coupling_table cb_coupling_table;

/* Computes the table from cb_several_tensor at each sample. `of` and its joints are borrowed. Returns
 * CB_ERROR_UNSUPPORTED if some body is not joined to the others, or if the joints have more than CB_COUPLING_AXES
 * coordinates; *which is then the number of the body, or -1. Returns CB_ERROR_ARGUMENT for numbers of samples or ranges
 * that do not fit the coordinates, and CB_ERROR_DOMAIN if bodies overlap at a sample. The caller frees *out. */
cb_status cb_coupling_table_create(const cb_coupled_fluid *of, cb_several *several, const cb_coupling_samples *samples,
                                   int *which, cb_coupling_table **out);
void cb_coupling_table_free(cb_coupling_table *t);
/* Does what the member `apply` of cb_body_coupling_class does, with C from the table. Returns CB_STEP_DOMAIN if a
 * coordinate is outside its range. */
cb_status cb_coupling_table_apply(cb_coupling_table *t, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                                  double (*slope)[6], double *energy);
/* Describes the table as a function of the coordinates of those joints that connect the bodies in the table. */
void cb_coupling_table_by_joints(cb_coupling_table *t, cb_coupling_by_joints *out);
/* Computes the largest error of an entry of C at the poses g, by comparison with one exact evaluation. The error of an
 * entry (a, b) is relative to sqrt(m_a m_b), where m_a is the diagonal entry a of diag(own_1, .., own_n), the matrix of
 * the added masses of the bodies alone. */
cb_status cb_coupling_table_error(cb_coupling_table *t, cb_several *several, const cb_pose *g, double *error);
