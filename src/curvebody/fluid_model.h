/* Fluid models: how a fluid that is not simulated acts on a body that moves in it.
 *
 *   fluid: {medium: air, model: NAME}   or   {name: NAME, ..} with parameters; `local` where none is named
 * For authors of models, who write the force once on jets (cb_fluid_model_class; curvebody/plugin.h), and for users,
 * who give a model to cb_fluid (curvebody/immersed.h). A kind of model is one file src/fluid/models/NAME.c with one
 * const object cb_fluid_model_NAME. SI units; (angular, linear) in the axes of the body frame, about its origin. The caller
 * frees a model, after the bodies in it.
 */
#ifndef CURVEBODY_FLUID_MODEL_H
#define CURVEBODY_FLUID_MODEL_H

#include <curvebody/jet.h>
#include <curvebody/mass.h>
#include <curvebody/param.h>
#include <curvebody/surface.h>

CB_API_BEGIN

typedef struct cb_fluid_model cb_fluid_model;

typedef struct cb_fluid_model_class {
  const char *name, *title, *doc;
  const cb_param *params;
  size_t params_size;
  /* Does the fluid move along by the local model's added mass, where a body does not switch that off? */
  bool added_mass;
  /* What the model knows of a body, in *body (NULL at first), from its surface and its mass properties at time 0. NULL:
   * nothing. release is called once for each body that was prepared; NULL: there is nothing to give back. */
  cb_status (*prepare)(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body);
  void (*release)(const cb_fluid_model *m, void *body);
  /* The wrench F[6] of a fluid of this density, on jets in V[6], the body's twist relative to the flow at its origin:
   * the `drag` of a body, where that is not switched off. Called from any thread. NULL: lift and drag of the local
   * model; a plugin's has one. */
  cb_status (*on_jets)(const cb_fluid_model *m, const void *body, double density, const cb_jet *V, cb_jet *F);
} cb_fluid_model_class;

struct cb_fluid_model {
  const cb_fluid_model_class *kind;
  void *params; /* of the class */
};

extern const cb_fluid_model_class *const *const cb_fluid_model_classes; /* then those of plugins; ended by NULL */

/* A model by its name; node: its map (`name` and its parameters), or a scalar or NULL for all defaults. */
cb_status cb_fluid_model_create(const char *name, const cb_node *node, cb_fluid_model **out);
/* The same from a class that need not be in the registry. */
cb_status cb_fluid_model_create_class(const cb_fluid_model_class *class_, const cb_node *node, cb_fluid_model **out);
void cb_fluid_model_free(cb_fluid_model *m);

CB_API_END
#endif
