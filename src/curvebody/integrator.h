/* Integrators: a method and its work arrays.
 *
 * A method is one file integrators/NAME.c with one const object cb_integrator_NAME. A step that fails leaves the state
 * untouched and returns a positive status; a smaller step may work.
 * For users, who create a method by name and step, and for authors of methods. States are by place: a user's particle i
 * is at cb_system_index(system, i), place j is the particle cb_system_particle(system, j).
 */
#ifndef CURVEBODY_INTEGRATOR_H
#define CURVEBODY_INTEGRATOR_H

#include <curvebody/param.h>
#include <curvebody/system.h>

CB_API_BEGIN

typedef struct cb_integrator cb_integrator;

/* A kind of configuration space that a method steps in: what its problem and its states are. */
typedef struct cb_configuration {
  const char *words; /* "particles in a space" */
} cb_configuration;
/* Problem cb_system, state cb_state: also a system of coordinates. */
extern const cb_configuration cb_configuration_particles;
/* One body on SE(3): problem cb_rigid_problem, state cb_rigid_state (curvebody/rigid.h). */
extern const cb_configuration cb_configuration_fluid;
/* The fibre over a gait: problem cb_bundle_path, state cb_bundle_state (curvebody/bundle_path.h). */
extern const cb_configuration cb_configuration_bundle;

typedef struct cb_integrator_class {
  const char *name, *title, *doc;
  const cb_configuration *configuration;
  const cb_param *params; /* besides those all methods share: name, step, retries */
  size_t params_size;
  /* Makes the method's own data in i->self; may refuse the problem with CB_ERROR_UNSUPPORTED and a reason. */
  cb_status (*create)(cb_integrator *i, const void *params);
  void (*destroy)(cb_integrator *i); /* NULL: it has no data */
  /* One step of length h (negative: backwards) of a state of its configuration, in place. */
  cb_status (*step)(cb_integrator *i, void *state, double h);
  /* Forgets history (predictors): what follows depends on the state alone. NULL: it has none. */
  void (*reset)(cb_integrator *i);
  /* The local coordinates of a component were moved by an isometry: history goes along. NULL: history is forgotten. */
  void (*moved)(cb_integrator *i, int component, const cb_isometry *isometry);
  /* Order in h, and whether the method is symplectic and symmetric, for these parameters. */
  void (*properties)(const cb_integrator *i, int *order, bool *symplectic, bool *symmetric);
  /* Which constraints the method takes (curvebody/constraint.h): rows of position, rows of velocity. Systems with
   * others are refused by name before `create` is called. */
  bool takes_constraints, takes_velocity_constraints;
  /* Chooses steps and orders of its own by tolerances: `order` is then no order in h. */
  bool adaptive;
} cb_integrator_class;

struct cb_integrator {
  const cb_integrator_class *kind;
  const void *problem;     /* of the configuration, borrowed; of bodies: that of the next step */
  const cb_system *system; /* the same, of particles; NULL for others */
  cb_forces *forces;       /* owned; of particles */
  void *self;         /* of the method */
  const char *solver; /* name of the solver in use: "fixed-point", "newton", "explicit" */
  int iterations;     /* of the last step */
  double residual;    /* of the last step's iteration: its last change, relative */
  int worst;          /* particle (in the state's order) where a failed step went wrong; -1 if not known */
  /* [rows of the system] multipliers at the end of the last step as the method has them; NULL where it has none */
  const double *multipliers;
  void *params; /* of the class, as it was made with */
};

/* Makes an integrator by name; node is its map in the scenario (may be NULL), from which `name`, `step`, `retries`
 * are read elsewhere. */
cb_status cb_integrator_create(const char *name, const cb_node *node, const cb_system *system, cb_integrator **out);
/* The same for a problem of any configuration (of bodies: NULL, `problem` is set before each step). */
cb_status cb_integrator_create_for(const char *name, const cb_node *node, const cb_configuration *configuration,
                                   const void *problem, cb_integrator **out);
/* The same from a class that need not be in the registry. */
cb_status cb_integrator_create_class(const cb_integrator_class *class_, const cb_node *node,
                                     const cb_configuration *configuration, const void *problem, cb_integrator **out);
/* The same method with the same parameters for another problem. One integrator serves one thread. */
cb_status cb_integrator_like(const cb_integrator *i, const void *problem, cb_integrator **out);
void cb_integrator_free(cb_integrator *i);
cb_status cb_integrator_step(cb_integrator *i, void *state, double h);
void cb_integrator_reset(cb_integrator *i);
/* To be called when an origin of the state has moved: component's local coordinates were moved by `isometry`. */
cb_status cb_integrator_moved(cb_integrator *i, const cb_state *state, int component, const cb_isometry *isometry);
/* The history alone, where many components move: cb_forces_set_origins is then to be called once for all. */
void cb_integrator_carry(cb_integrator *i, int component, const cb_isometry *isometry);

extern const cb_integrator_class *const *const cb_integrator_classes;

CB_API_END
#endif
