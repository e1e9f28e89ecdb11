/* Fluid models: how a fluid that is not simulated acts on a body that moves in it, by forces and by added mass.
 *
 *   fluid: {medium: air, model: NAME}             the model, which is `local` if there is no such key
 *   fluid: {.., model: {name: NAME, ..}}          a model with parameters
 *   fluid: {.., model: [MODEL, MODEL]}            several models, whose forces add up
 *   fluid: {.., added_mass: NAME}                 the model of the added mass, if it differs from `model`
 * A body may have its own keys `model` and `added_mass`. A model has forces, or an added mass, or both. Its forces are
 * wrenches about places of the body, or a force on each face.
 * A class of models is one file src/fluid/models/NAME.c with one const object cb_fluid_model_NAME, or an object in a
 * plugin. SI units. Twists, wrenches and matrices are in the order (angular, linear), in the axes of the body frame and
 * about its origin. The caller frees a model, after the bodies that use it.
 * For authors of models, and for users, who give models to cb_fluid (curvebody/immersed.h).
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

/* A face of a body. A face of a sheet counts as two faces with opposite normals, one for each side. */
typedef struct cb_fluid_face {
  int number, part;      /* index of the face, and index of its part, in the surface */
  double area, place[3]; /* area, and position of the centre */
  double normal[3];      /* unit vector that points into the fluid */
  double density;        /* density of the fluid at the centre */
} cb_fluid_face;

/* The added mass of a body in a fluid of density 1. If the body has the twist Y, the fluid has the momentum K Y + mu0
 * and the kinetic energy <K Y, Y>/2 + <mu0, Y> + kinetic. K is symmetric. mu0 and kinetic come from the motion of the
 * body's shape. The other members are information about K, which are 0 or NULL if the model does not give them. */
typedef struct cb_added_mass {
  double K[6][6], mu0[6], kinetic;
  /* estimated error of K, taken about the centre of the surface's area. Errors of entries for translations are relative
   * to the largest of these entries; errors of entries for rotations are relative to this entry times the mean square
   * distance of the faces from the centre. */
  double error;
  /* asymmetry of the computed K before it was made symmetric, relative to the same numbers as `error` */
  double asymmetry;
  /* a mean over the faces of closed parts: the thickness of the body at a face divided by the size of the face, or 1 if
   * this ratio is larger than 1 */
  double thickness;
  int faces;          /* number of faces on which K was computed */
  int iterations;     /* number of iterations of the linear solver */
  const char *method; /* name of the linear solver, static memory */
  double tolerance;   /* if `error` is larger, a warning is given; 0: no warnings */
} cb_added_mass;

typedef struct cb_fluid_model_class {
  const char *name, *title, *doc;
  const cb_param *params;
  size_t params_size; /* bytes of the struct that `params` fills, to which cb_fluid_model.params points */
  /* Makes the data that the model keeps for a body, from the surface and the mass properties of the body at time 0, and
   * sets *body to them; *body is NULL at first. NULL: there are no such data. */
  cb_status (*prepare)(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body);
  /* Frees the data that `prepare` made; called once for each body that was prepared. NULL: there is nothing to free. */
  void (*release)(const cb_fluid_model *m, void *body);
  /* --- forces: a class has on_twist, or on_face, or neither of them. They do not act if the body's `drag` is switched
   * off. The functions must be callable from any thread. --- */
  /* The names of the terms of the forces in records, ended by NULL. NULL: there is one term, `drag`. */
  const char *const *terms;
  /* Returns the number of places at which on_twist needs the flow, and sets *at to their positions in the body frame.
   * The array must last as long as the data of the body. NULL: there is one place, the origin. */
  int (*places)(const cb_fluid_model *m, const void *body, const double (**at)[3]);
  /* Computes the wrenches F[terms][6] about the place number `place`, and their derivatives dF[terms][6][6] by V (dF
   * may be NULL); both are 0 on entry. V consists of the angular velocity minus half the vorticity of the flow at the
   * place, and of the velocity of the place minus that of the flow. density is the density of the fluid there. The
   * library returns CB_ERROR_UNSUPPORTED for a body whose poses move a part of the surface if no place moves with this
   * part (part_of). */
  cb_status (*on_twist)(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                        double (*F)[6], double (*dF)[6][6]);
  /* Computes the forces f[terms][3] on a face whose centre has the velocity u relative to the flow, and their
   * derivatives df[terms][3][3] by u (df may be NULL); both are 0 on entry. Where a value is not finite, the function
   * must write nan. The library adds up the forces of the faces in a fixed order. */
  void (*on_face)(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3], double *f,
                  double *df);
  /* --- added mass: the functions may be NULL. The added mass is 0 if it is switched off for the body. --- */
  /* Computes the added mass K of that part of the body that belongs to one place (of `places`), about this place and in
   * the body's axes; the function added_mass gives the sum over all parts. It is used for bodies whose shape does not
   * change, and for places that follow parts (part_of). NULL: the model is CB_ERROR_UNSUPPORTED in a fluid whose
   * density varies with the place, and in a flow that varies with the place (except with linear_form). */
  void (*added_mass_of)(const cb_fluid_model *m, const void *body, int place, double K[6][6]);
  /* Computes the added mass with the vertices at x[vertices], which have the velocities v[vertices] (NULL: 0); out is 0
   * on entry. It is called once for a rigid body, and at each required time, from any thread, for a body with poses. A
   * model that does not use x and v gives no momentum and energy of a moving shape, and is CB_ERROR_UNSUPPORTED for a
   * body whose poses change its shape. A model without added_mass_of, other than the local model, needs a medium of one
   * density, and, unless it has the function linear_form, a flow that is the same everywhere. */
  cb_status (*added_mass)(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                          const double (*v)[3], cb_added_mass *out);
  /* For a body that swims by changing its shape: computes the matrix G[6 + n][6 + n] of the fluid's kinetic energy
   * (1/2) <G (Y, r'), (Y, r')>. r' are the rates of the n shape variables, and the vertices have the velocities
   * sum_i v_i r'_i, v[n][vertices]. When the body is made, the function is called with n = 0, only to find out whether
   * the model can do this; the values of G are not read then. NULL: the library computes G from added_mass. */
  cb_status (*form)(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3], int n,
                    const double (*v)[3], double *G);
  /* For a body whose poses have a period, or a first and a last pose: the library may compute the added mass at some
   * times only, store it in a table, and interpolate it between these times. Returns the requested error of this table
   * (units: src/fluid/immersed_model.c). 0, or NULL: there is no table. */
  double (*table)(const cb_fluid_model *m);
  /* Returns whether the fluid ends at a plane <x, up> = height and is below it, and sets the unit vector up and
   * *height. The added mass then depends on the place, and the function added_mass assumes that the axes of the body
   * are those of the world. NULL: there is no plane. */
  bool (*placed)(const cb_fluid_model *m, double up[3], double *height);
  /* If `placed` returns true: computes the added mass with the body frame at the pose g, and the derivatives slope[i]
   * of G along g (1 + hat(xi)) for each component xi_i of a twist. G is the 7x7 matrix of the fluid's kinetic energy
   * (1/2) <G (Y, 1), (Y, 1)>. If g is NULL, the body is at rest far from the plane, and slope is not computed. The
   * thread that called `prepare` first makes a call with g NULL; in this call v is NULL for a rigid body and 0
   * otherwise. If the member is NULL, this added mass cannot be used for bodies that move. */
  cb_status (*added_mass_at)(const cb_fluid_model *m, void *body, const cb_surface *surface, const double (*x)[3],
                             const double (*v)[3], const cb_pose *g, cb_added_mass *out, double (*slope)[7][7]);
  bool curved; /* true: the added mass is valid in spaces of any curvature; false: only in flat space */
  /* --- places that move with parts of the surface, for a body with poses; the functions may be NULL --- */
  /* For a body with poses: it is called in place of `prepare`, and does the same. moves[i]: whether the poses move part
   * i. NULL: `prepare` is called. */
  cb_status (*prepare_posed)(const cb_fluid_model *m, const cb_surface *surface, const bool *moves, const cb_mass *mass,
                             void **body);
  /* Returns the number of the part with which the place number `place` moves, or -1 for a place that is fixed in the
   * body frame. *named becomes the node of the scenario that names the part, for messages, or NULL. The library finds
   * the rigid motion of the part, and calls on_twist and added_mass_of as for the body at rest: V contains the motion
   * of the place in the body frame, and V, F, dF and K have axes that turn with the part. The added mass of the body,
   * with the momentum and the energy of the shape's motion, is then that of all places (added_mass_of). NULL: all
   * places are fixed. */
  int (*part_of)(const cb_fluid_model *m, const void *body, int place, const cb_node **named);
  /* For a rigid body in a flow with a gradient. The motion of such a body is computed relative to a linear flow, which
   * is fitted to the flow around it. Computes the matrix G of `form` for n motions of the surface from its position at
   * rest: in motion i the point x has the velocity A[i] (x - c). NULL: a model without added_mass_of is
   * CB_ERROR_UNSUPPORTED in a flow that varies with the place. */
  cb_status (*linear_form)(const cb_fluid_model *m, const void *body, const cb_surface *surface, int n,
                           const double (*A)[3][3], const double c[3], double *G);
} cb_fluid_model_class;

/* The functions of the local model, which do not use m and body. A class may have these functions as members, or call
 * them. If they are members, the library uses its own vectorised sums over the faces, which also allow a density and a
 * flow that vary over the body. */
void cb_fluid_local_on_face(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3],
                            double *f, double *df);
cb_status cb_fluid_local_added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface,
                                    const double (*x)[3], const double (*v)[3], cb_added_mass *out);

struct cb_fluid_model {
  const cb_fluid_model_class *class_;
  void *params; /* the struct that the parameters of the class fill */
  /* A function that is called with a line of text before a computation that takes much time or memory. The owner of the
   * model sets it. NULL: there are no reports. */
  void (*report)(void *context, const char *line);
  void *context;
};

/* All classes of fluid models: the built-in ones, then those of plugins; ended by NULL. */
extern const cb_fluid_model_class *const *const cb_fluid_model_classes;

/* Makes a model of the class with this name; the caller frees it. node: its map in a scenario, with the keys of its
 * parameters; a key `name` is ignored. If node is NULL or a scalar, all parameters have their defaults. CB_ERROR_INPUT
 * for an error in the map. */
cb_status cb_fluid_model_create(const char *name, const cb_node *node, cb_fluid_model **out);
/* Does the same as cb_fluid_model_create, with a class that need not be in cb_fluid_model_classes. */
cb_status cb_fluid_model_create_class(const cb_fluid_model_class *class_, const cb_node *node, cb_fluid_model **out);
void cb_fluid_model_free(cb_fluid_model *m);

CB_API_END
#endif
