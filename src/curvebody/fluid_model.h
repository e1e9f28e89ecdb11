/* Fluid models: how a fluid that is not simulated acts on a body that moves in it, by forces and by added mass.
 *
 *   fluid: {medium: air, model: NAME}   or   {name: NAME, ..} with parameters; `local` where none is named; a list of
 *                                       them: the forces add up. A body has its own by the same key
 *   fluid: {.., added_mass: NAME}       whose added mass it is, where it is not that of `model`
 * A model has forces, on the body as a whole or on each face, or an added mass, or both. For authors of models
 * (cb_fluid_model_class; curvebody/plugin.h), and for users, who give models to cb_fluid (curvebody/immersed.h). A kind
 * of model is one file src/fluid/models/NAME.c with one const object cb_fluid_model_NAME. SI units; (angular, linear)
 * in the axes of the body frame, about its origin. The caller frees a model, after the bodies in it.
 */
#ifndef CURVEBODY_FLUID_MODEL_H
#define CURVEBODY_FLUID_MODEL_H

#include <curvebody/mass.h>
#include <curvebody/param.h>
#include <curvebody/se3.h>
#include <curvebody/surface.h>

CB_API_BEGIN

typedef struct cb_fluid_model cb_fluid_model;

enum { CB_FLUID_TERMS = 16 }; /* of a model, at most */

/* A face of a body. One of a sheet is two, with either side's normal. */
typedef struct cb_fluid_face {
  int number, part;      /* of the surface */
  double area, place[3]; /* its centre */
  double normal[3];      /* into the fluid, of length 1 */
  double density;        /* of the fluid there */
} cb_fluid_face;

/* How a fluid of density 1 moves along with a body of twist Y: its momentum is K Y + mu0, its kinetic energy
 * <K Y, Y>/2 + <mu0, Y> + kinetic. K is symmetric; mu0 and kinetic are of the motion of the body's shape. */
typedef struct cb_added_mass {
  double K[6][6], mu0[6], kinetic;
  /* what the model tells of K: 0 and NULL where it does not */
  double error;       /* estimated, of K about the centre of the area, relative to the greatest of a translation, of
                         rotations times the mean square distance of the faces from there */
  double asymmetry;   /* of K as it was found, relative likewise, before it was made symmetric */
  double thickness;   /* of closed parts over the size of the faces there, 1 where it is more, on the mean */
  int faces;          /* that it was found on */
  int iterations;     /* of the linear equations */
  const char *method; /* of their solution, static */
  double tolerance;   /* of the error: users are warned of one above it */
} cb_added_mass;

typedef struct cb_fluid_model_class {
  const char *name, *title, *doc;
  const cb_param *params;
  size_t params_size;
  /* What the model knows of a body, in *body (NULL at first), from its surface and its mass properties at time 0. NULL:
   * nothing. release is called once for each body that was prepared; NULL: there is nothing to give back. */
  cb_status (*prepare)(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body);
  void (*release)(const cb_fluid_model *m, void *body);
  /* --- forces, where a body's `drag` is not switched off: one of on_twist and on_face; both NULL: none --- */
  /* What they consist of, by names in records, ended by NULL; NULL: one term, `drag`. */
  const char *const *terms;
  /* Where the body feels the fluid: their number, in the body frame at *at, which lasts as long as the body. NULL: at
   * its origin. */
  int (*places)(const cb_fluid_model *m, const void *body, const double (**at)[3]);
  /* Of the body as it was prepared: one whose poses move its vertices is refused (CB_ERROR_UNSUPPORTED).
   * The wrenches F[terms][6] about a place (its number), and their derivatives dF[terms][6][6] in V (NULL: not wanted),
   * 0 on entry: V is the angular velocity less half the flow's vorticity there, and the velocity of the place less that
   * of the flow; density that of the fluid there. Called from any thread. */
  cb_status (*on_twist)(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                        double (*F)[6], double (*dF)[6][6]);
  /* The forces f[terms][3] on a face whose centre moves with u relative to the flow there, and their derivatives
   * df[terms][3][3] in u (NULL: not wanted), 0 on entry; nan where there are none. The library sums them over the faces
   * in a fixed order. Called from any thread. */
  void (*on_face)(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3], double *f,
                  double *df);
  /* --- added mass, where a body's is not switched off; NULL: none --- */
  /* Of a part of the body by itself, about its place (of `places`) in the body's axes: added_mass is that of all, and
   * no shape moves: with poses that move it is refused. NULL: a fluid or flow that varies is refused. */
  void (*added_mass_of)(const cb_fluid_model *m, const void *body, int place, double K[6][6]);
  /* With the vertices at x, moving with v (NULL: at rest); out is 0 on entry. Called once for a rigid body, and at each
   * time that is asked for of one with poses, from any thread. One that does not see x and v, without momentum and
   * energy of a moving shape, is refused for such a body. All but the local one are for a medium of one density and a
   * flow that is the same everywhere. */
  cb_status (*added_mass)(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                          const double (*v)[3], cb_added_mass *out);
  /* Of a body that swims by its shape, where one solution serves all: G[6 + n][6 + n], twice the kinetic energy is
   * <G (Y, r'), (Y, r')>, the vertices moving with sum v_i r'_i, v[n][vertices]. Asked with n = 0 when the body is
   * made: whether it can; G[6][6] is not read. NULL: put together from added_mass. */
  cb_status (*form)(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3], int n,
                    const double (*v)[3], double *G);
  /* The error of a table along poses that end or have a period, from which added_mass may be taken; relative to its
   * greatest. NULL, or 0: none. */
  double (*table)(const cb_fluid_model *m);
  /* Whether the fluid ends at a plane <x, up> = height, |up| = 1, below it: the added mass then depends on the place,
   * and that above is that where the body's axes are the world's. NULL: no. */
  bool (*placed)(const cb_fluid_model *m, double up[3], double *height);
  /* Then, with the body frame at g, and what G changes by along g (1 + hat(xi)), slope[6][7][7]: twice the kinetic
   * energy is <G (Y, 1), (Y, 1)>. g NULL: far from the plane, asked for first, of the body at rest as it was given,
   * by the thread that prepared, with v (0) where the body has poses; slope is not found then. NULL: bodies that move
   * do not take such an added mass. */
  cb_status (*added_mass_at)(const cb_fluid_model *m, void *body, const cb_surface *surface, const double (*x)[3],
                             const double (*v)[3], const cb_pose *g, cb_added_mass *out, double (*slope)[7][7]);
} cb_fluid_model_class;

/* Those of the local model, to take or to call; m and body are not read. A class that takes one gets the library's sums
 * over vectors of faces, which also see a density and a flow that vary over the body. */
void cb_fluid_local_on_face(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3],
                            double *f, double *df);
cb_status cb_fluid_local_added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface,
                                    const double (*x)[3], const double (*v)[3], cb_added_mass *out);

struct cb_fluid_model {
  const cb_fluid_model_class *kind;
  void *params; /* of the class */
  /* Takes a line about what is going to take long or much memory, before it does; NULL: not wanted. The owner's. */
  void (*say)(void *context, const char *line);
  void *context;
};

extern const cb_fluid_model_class *const *const cb_fluid_model_classes; /* then those of plugins; ended by NULL */

/* A model by its name; node: its map (`name` and its parameters), or a scalar or NULL for all defaults. */
cb_status cb_fluid_model_create(const char *name, const cb_node *node, cb_fluid_model **out);
/* The same from a class that need not be in the registry. */
cb_status cb_fluid_model_create_class(const cb_fluid_model_class *class_, const cb_node *node, cb_fluid_model **out);
void cb_fluid_model_free(cb_fluid_model *m);

CB_API_END
#endif
