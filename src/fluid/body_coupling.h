/* How bodies in one fluid feel each other through the flow that they cause: classes of the key `coupling` of `fluid`.
 *
 *   2 T = <K(g) Y, Y>,   K = diag(own_1, .., own_n) + C(g),   momentum_i = sum_j C_ij Y_j,
 *   slope_i = (1/2) <dC/dg_i Y, Y> along g_i (1 + hat(xi_i))
 * T: kinetic energy of the fluid; g: poses, Y: twists of all bodies, in the body frames; own_i: the added mass of body
 * i alone; C: what the coupling adds. momentum_i and slope_i must be derivatives of one and the same T up to round-off:
 * then the step (run/body_interaction.c) keeps the momentum of the whole exactly, and its energy without drift. SI
 * units.
 */
#pragma once

#include "potential/kirchhoff.h"
#include <curvebody/immersed.h>
#include <curvebody/param.h>

typedef struct cb_body_coupling cb_body_coupling;

/* A joint between two bodies, or between a body and the world (-1). */
typedef struct cb_coupled_joint {
  int number; /* among all joints */
  const char *name;
  const struct cb_joint_class *class_; /* curvebody/joint.h */
  const struct cb_joint_data *data;
  int body[2];
  cb_pose frame[2]; /* of the joint in the two bodies */
} cb_coupled_joint;

/* The bodies of a run, borrowed. In the order of the run; copies have the same pointer. */
typedef struct cb_coupled_fluid {
  const cb_fluid *fluid;
  double density; /* of the fluid, the same everywhere */
  int n;
  const cb_immersed *const *body; /* [n] */
  const char *const *name;        /* [n]: for messages */
  int joints;
  const cb_coupled_joint *joint; /* [joints] */
} cb_coupled_fluid;

/* The estimated error of K, relative to the smaller of the own tensors of two bodies, where it is largest. */
typedef struct cb_coupling_error {
  double error;
  int body[2];
} cb_coupling_error;

/* C as a function of coordinates q of joints alone. `at` sets C[n (n + 1)/2][6][6] for n bodies, the blocks (i, j <= i)
 * row by row, and slope[coordinates][..], its derivatives in q (NULL: not wanted); CB_STEP_DOMAIN where C is not known. */
enum { CB_COUPLING_AXES = 3 };
typedef struct cb_coupling_by_joints {
  void *self;
  int coordinates;
  int joint[CB_COUPLING_AXES], coordinate[CB_COUPLING_AXES]; /* among the joints of cb_coupled_fluid; of this joint */
  cb_status (*at)(void *self, const double *q, double *C, double *slope);
} cb_coupling_by_joints;

typedef struct cb_body_coupling_class {
  const char *name, *title, *doc;
  const cb_param *params;
  size_t params_size; /* bytes of the struct that `params` fills, to which cb_body_coupling.params points */
  /* Reads values of the struct that the table of parameters cannot read. NULL: there are none. */
  cb_status (*read)(void *params);
  /* Makes the data for the bodies of a run; `release` frees it. CB_ERROR_UNSUPPORTED for bodies or fluids that the
   * class does not know; *which is then the body, or -1. */
  cb_status (*prepare)(const cb_body_coupling *c, const cb_coupled_fluid *of, int *which, void **out);
  void (*release)(void *self);
  /* Computes momentum[n][6], slope[n][6] and the shares energy[n] of the bodies in the energy of the coupling (slope
   * and energy may be NULL) at time t. The results depend only on the arguments. */
  cb_status (*apply)(void *self, double t, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                     double (*slope)[6], double *energy);
  /* Returns whether C depends on coordinates of joints alone, and then sets *out. NULL: it does not. */
  bool (*by_joints)(void *self, cb_coupling_by_joints *out);
  /* Returns the thickness of the layer around a body in which others must not be; contacts of bodies happen at its
   * surface. NULL: 0. */
  double (*film)(const void *self, int body);
  /* Estimates the error at these poses. */
  cb_status (*estimate)(void *self, double t, const cb_pose *g, cb_coupling_error *out);
  /* Returns the plane at which the fluid ends. */
  cb_mirror (*plane)(const cb_body_coupling *c);
  /* Sets u[points] to the velocity of the flow of all bodies but one at points x: the flow that this body feels. NULL:
   * the flow is that around all bodies together. */
  cb_status (*incoming)(void *self, double t, const cb_pose *g, const double (*Y)[6], int body, int points,
                        const double (*x)[3], double (*u)[3]);
} cb_body_coupling_class;

struct cb_body_coupling {
  const cb_body_coupling_class *class_;
  void *params;
};

/* A plane at which the fluid ends: the first parameters of a class that knows the images of bodies, whose member
 * `plane` is then cb_coupling_plane_of. */
typedef struct cb_coupling_plane {
  int wall;
  double wall_x, wall_y, wall_z, wall_height;
} cb_coupling_plane;
extern const cb_param cb_coupling_plane_params[];
cb_mirror cb_coupling_plane_of(const cb_body_coupling *c);
/* Returns the plane at which the fluid of a coupling ends, or one of the kind CB_MIRROR_NONE. */
static inline cb_mirror cb_body_coupling_plane(const cb_body_coupling *c) {
  return c->class_->plane ? c->class_->plane(c) : (cb_mirror){.kind = CB_MIRROR_NONE};
}

/* All classes, ended by NULL. */
extern const cb_body_coupling_class *const *const cb_body_coupling_classes;

/* Makes a coupling from its name or from a map with the key `name`; *out is NULL for `none`. The caller frees it. */
cb_status cb_body_coupling_read(const cb_node *node, cb_body_coupling **out);
void cb_body_coupling_free(cb_body_coupling *c);
