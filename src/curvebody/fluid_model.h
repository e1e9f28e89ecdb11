/* Fluid models: how a fluid that is not simulated acts on a body that moves in it, by forces and by added mass.
 *
 *   fluid: {medium: air, model: NAME}   or   {name: NAME, ..} with parameters; `local` if none is named; a list of
 *                                       models: the forces add up. The same key of a body sets its own models
 *   fluid: {.., added_mass: NAME}       the model of the added mass, if it differs from `model`
 * A model has forces (one wrench on the body, or a force on each face), or an added mass, or both. For authors of
 * models (cb_fluid_model_class; curvebody/plugin.h), and for users, who give models to cb_fluid (curvebody/immersed.h).
 * A class of models is one file src/fluid/models/NAME.c with one const object cb_fluid_model_NAME. SI units; (angular,
 * linear) in the axes of the body frame, about its origin. The caller frees a model, after the bodies in it.
 */
#ifndef CURVEBODY_FLUID_MODEL_H
#define CURVEBODY_FLUID_MODEL_H

#include <curvebody/mass.h>
#include <curvebody/param.h>
#include <curvebody/se3.h>
#include <curvebody/surface.h>

CB_API_BEGIN

typedef struct cb_fluid_model cb_fluid_model;

enum { CB_FLUID_TERMS = 16 }; /* maximum number of terms of a model */

/* A face of a body. A face of a sheet counts as two, one for each side, with opposite normals. */
typedef struct cb_fluid_face {
  int number, part;      /* index of the face, and of its part, in the surface */
  double area, place[3]; /* area, and centre of the face */
  double normal[3];      /* points into the fluid, of length 1 */
  double density;        /* density of the fluid at the centre */
} cb_fluid_face;

/* Momentum of a fluid of density 1 around a body of twist Y: the momentum is K Y + mu0, the kinetic energy <K Y, Y>/2 +
 * <mu0, Y> + kinetic. K is symmetric; mu0 and kinetic come from the motion of the body's shape. */
typedef struct cb_added_mass {
  double K[6][6], mu0[6], kinetic;
  /* information of the model on K: 0 and NULL where it gives none */
  /* estimated error of K about the centre of the area, relative to the largest entry for a translation; for rotations,
   * relative to that times the mean square distance of the faces from the centre */
  double error;
  /* asymmetry of the computed K before it was made symmetric, relative to the same numbers as `error` */
  double asymmetry;
  /* mean over the faces of closed parts of thickness divided by face size, at most 1 for each face */
  double thickness;
  int faces;          /* number of faces on which K was computed */
  int iterations;     /* number of iterations of the linear solver */
  const char *method; /* name of the linear solver, static memory */
  double tolerance;   /* tolerance of `error`: a larger error gives a warning */
} cb_added_mass;

typedef struct cb_fluid_model_class {
  const char *name, *title, *doc;
  const cb_param *params;
  size_t params_size;
  /* Data that the model keeps for a body, in *body (NULL at first), made from its surface and its mass properties at
   * time 0. NULL: no data. release is called once for each body that was prepared; NULL: nothing to free. */
  cb_status (*prepare)(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body);
  void (*release)(const cb_fluid_model *m, void *body);
  /* --- forces, unless the body's `drag` is switched off: on_twist or on_face, not both; both NULL: none --- */
  /* Names of the terms in records, ended by NULL; NULL: one term, `drag`. */
  const char *const *terms;
  /* Places where the model evaluates the flow: returns their number; *at are their positions in the body frame and
   * lasts as long as the body. NULL: one place, the origin. */
  int (*places)(const cb_fluid_model *m, const void *body, const double (**at)[3]);
  /* Forces from the twist. With this function a body whose poses move its vertices is an error (CB_ERROR_UNSUPPORTED).
   * F[terms][6] are the wrenches about a place (given by its number), dF[terms][6][6] their derivatives in V (may be
   * NULL); both are 0 on entry. V is the angular velocity minus half the vorticity of the flow at the place, and the
   * velocity of the place minus the velocity of the flow; density is the fluid's density at the place. Called from any
   * thread. */
  cb_status (*on_twist)(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                        double (*F)[6], double (*dF)[6][6]);
  /* The forces f[terms][3] on a face whose centre moves with u relative to the flow, and their derivatives
   * df[terms][3][3] in u (may be NULL); both are 0 on entry; nan if there are no finite values. The library sums them
   * over the faces in a fixed order. Called from any thread. */
  void (*on_face)(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3], double *f,
                  double *df);
  /* --- added mass, unless it is switched off for the body; NULL: none --- */
  /* Added mass of only the part of the body at one place (of `places`), about this place, in the body's axes;
   * added_mass gives the sum over all parts. Only for bodies whose shape does not change: poses that change it are an
   * error. NULL: a fluid or a flow that varies with the place is an error. */
  void (*added_mass_of)(const cb_fluid_model *m, const void *body, int place, double K[6][6]);
  /* Added mass with the vertices at x, moving with velocity v (NULL: at rest); out is 0 on entry. Called once for a
   * rigid body, and at each required time for a body with poses, from any thread. A model that does not use x and v,
   * and so gives no momentum and energy of a moving shape, is an error for a body with poses. All models except the
   * local one need a medium of one density and a flow that is the same everywhere. */
  cb_status (*added_mass)(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                          const double (*v)[3], cb_added_mass *out);
  /* For a body that swims by changing its shape, if one solution serves all shape velocities: G[6 + n][6 + n], where
   * twice the kinetic energy is <G (Y, r'), (Y, r')> and the vertices move with sum v_i r'_i, v[n][vertices]. It is
   * called with n = 0 when the body is made, only to find out whether the model can do this; G[6][6] is not read then.
   * NULL: the library computes G from added_mass. */
  cb_status (*form)(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3], int n,
                    const double (*v)[3], double *G);
  /* Tolerance of a table of the added mass along poses that end or have a period, relative to the largest entry. NULL,
   * or 0: no table. */
  double (*table)(const cb_fluid_model *m);
  /* Does the fluid end at a plane <x, up> = height, |up| = 1, and lie below it? Then the added mass depends on the
   * place, and added_mass gives the value for a body whose axes are the world's axes. NULL: no. */
  bool (*placed)(const cb_fluid_model *m, double up[3], double *height);
  /* If `placed` returns true: G with the body frame at g, and its derivative along g (1 + hat(xi)), slope[6][7][7];
   * twice the kinetic energy is <G (Y, 1), (Y, 1)>. g NULL: far from the plane, with the body at rest in the given
   * position; the thread that called prepare asks for this first, with v = 0 if the body has poses; slope is not
   * computed then. The member is NULL: bodies that move cannot use this added mass. */
  cb_status (*added_mass_at)(const cb_fluid_model *m, void *body, const cb_surface *surface, const double (*x)[3],
                             const double (*v)[3], const cb_pose *g, cb_added_mass *out, double (*slope)[7][7]);
  /* The added mass is that in the space of the surface, of any curvature; false: it is for flat space only. */
  bool curved;
} cb_fluid_model_class;

/* The functions of the local model, to use in a class or to call; m and body are not read. For a class that uses them,
 * the library takes sums over vectors of faces, which also handle a density and a flow that vary over the body. */
void cb_fluid_local_on_face(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3],
                            double *f, double *df);
cb_status cb_fluid_local_added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface,
                                    const double (*x)[3], const double (*v)[3], cb_added_mass *out);

struct cb_fluid_model {
  const cb_fluid_model_class *class_;
  void *params; /* parameters of the class */
  /* Reports a line before a computation that takes much time or memory; NULL: no reports. Set by the owner. */
  void (*report)(void *context, const char *line);
  void *context;
};

/* All classes of fluid models: the built-in ones, then those of plugins; ended by NULL. */
extern const cb_fluid_model_class *const *const cb_fluid_model_classes;

/* Makes a model by its name; node: its map (`name` and its parameters), or a scalar or NULL for all defaults. */
cb_status cb_fluid_model_create(const char *name, const cb_node *node, cb_fluid_model **out);
/* As cb_fluid_model_create, with a class that need not be in the registry. */
cb_status cb_fluid_model_create_class(const cb_fluid_model_class *class_, const cb_node *node, cb_fluid_model **out);
void cb_fluid_model_free(cb_fluid_model *m);

CB_API_END
#endif
