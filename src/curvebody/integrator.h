/* Integrators: the algorithm of a time step and its work arrays.
 *
 * A class of integrators is one file integrators/NAME.c with one const object cb_integrator_NAME. A step that fails
 * leaves the state untouched and returns a positive status; a smaller step may work.
 * For users, who create an integrator by name and make steps, and for authors of integrators. States are ordered by
 * place: the user's particle i is at place cb_system_index(system, i), and place j holds the particle
 * cb_system_particle(system, j).
 */
#ifndef CURVEBODY_INTEGRATOR_H
#define CURVEBODY_INTEGRATOR_H

#include <curvebody/param.h>
#include <curvebody/system.h>

CB_API_BEGIN

typedef struct cb_integrator cb_integrator;
struct cb_mechanism;
struct cb_mechanism_bodies;

/* A kind of problem that integrators solve. It determines the types of the problem's data and of the state. */
typedef struct cb_problem {
  const char *text; /* its name in messages, such as "Hamiltonian systems" */
  /* Makes the objects that every integrator of this problem needs, such as i->forces. It is called before `create` of
   * the class, when i->problem is already set. NULL: nothing is needed. */
  cb_status (*prepare)(cb_integrator *i);
} cb_problem;
/* A Hamiltonian system with constraints: data cb_system, state cb_state. */
extern const cb_problem cb_problem_hamiltonian;
/* The motion of a rigid body, as a first-order equation on a Lie group and the dual of its algebra, and as a discrete
 * Lagrangian: data cb_rigid_problem, state cb_rigid_state (curvebody/rigid.h). */
extern const cb_problem cb_problem_lie_group, cb_problem_discrete_lagrangian;
/* A path in a group, over a given path of shapes: data cb_bundle_path, state cb_bundle_state
 * (curvebody/bundle_path.h). */
extern const cb_problem cb_problem_group_path;
/* Shape variables of a bundle that move by themselves, with inertia or with drag: data and state of
 * src/bundle/shape_motion.h. */
extern const cb_problem cb_problem_shapes_with_inertia, cb_problem_shapes_with_drag;

typedef struct cb_integrator_class cb_integrator_class;
struct cb_integrator_class {
  const char *name, *title, *doc;
  const cb_problem *solves;
  /* A class of the same name that solves another problem; its parameters are some of those of this class. NULL: there
   * is none. */
  const cb_integrator_class *other;
  const cb_param *params; /* in addition to the keys of all integrators: name, step, retries */
  size_t params_size;
  /* Makes the integrator's own data in i->self, from the struct params. CB_ERROR_UNSUPPORTED, with a reason, for a
   * problem that it cannot solve. NULL: there are no data. */
  cb_status (*create)(cb_integrator *i, const void *params);
  void (*destroy)(cb_integrator *i); /* frees i->self; NULL: there are no data */
  /* Makes one step of length h (negative: backwards), and replaces the state of its problem by the state after it. */
  cb_status (*step)(cb_integrator *i, void *state, double h);
  /* Deletes history (predictors): the next steps depend on the state only. NULL: the integrator has no history. */
  void (*reset)(cb_integrator *i);
  /* Called after an isometry moved the local coordinates of a component: moves the history by the same isometry. NULL:
   * the history is deleted. */
  void (*moved)(cb_integrator *i, int component, const cb_isometry *isometry);
  /* For the parameters of this integrator, returns the order in h, and whether it is symplectic and whether it is
   * symmetric. */
  void (*properties)(const cb_integrator *i, int *order, bool *symplectic, bool *symmetric);
  /* Whether the integrator accepts constraints of positions, and constraints of velocities (curvebody/constraint.h).
   * For a system with other constraints cb_integrator_create fails; the message names a constraint, and integrators
   * that accept it. */
  bool takes_constraints, takes_velocity_constraints;
  /* The integrator chooses its steps and orders itself to meet tolerances. The order that `properties` returns is then
   * not an order in h. */
  bool adaptive;
  /* true: the step follows from a discrete Lagrangian, so that impulses of forces between bodies may be added at its
   * two ends */
  bool takes_impulses;
  /* Moves bodies that are joined by joints from t to t + h (mechanism/mechanism.h). On failure *failed is the index of
   * the body, or -1. NULL: the integrator cannot move joined bodies. */
  cb_status (*drift_joined)(cb_integrator *i, struct cb_mechanism *m, const struct cb_mechanism_bodies *b, double t,
                            double h, int *failed);
  /* Does the same as drift_joined, for bodies whose joints form a tree: moves the coordinates of the joints
   * (cb_mechanism_move_coordinates). It is used only if no other impulses act on the bodies; the joints then need no
   * correction at the end of the step. NULL: the integrator cannot do this. */
  cb_status (*step_joined)(cb_integrator *i, struct cb_mechanism *m, const struct cb_mechanism_bodies *b, double t,
                           double h, int *failed);
};

struct cb_integrator {
  const cb_integrator_class *class_;
  /* data of the problem, borrowed; for bodies in a fluid: the problem of the next step */
  const void *problem;
  const cb_system *system; /* the system, if the problem is one of particles; otherwise NULL */
  cb_forces *forces;       /* owned; only if the problem is one of particles */
  void *self;              /* data of the integrator */
  const char *solver;      /* name of the solver in use: "fixed-point", "newton", "explicit" */
  int iterations;          /* number of iterations in the last step */
  double residual;         /* the last change in the last step's iteration, relative to the displacement in the step */
  int failed_particle;     /* place in the state of the particle at which a step failed; -1: not known */
  /* [rows of the system]: multipliers at the end of the last step; NULL if the integrator computes none */
  const double *multipliers;
  void *params; /* parameters of the class, as given at creation */
  /* cb_integrator_step makes `substeps` steps of the class one after another, of lengths substep[i] h, for a symmetric
   * composition. substeps 0: one step of length h. Set by `create` of the class; substep is borrowed. */
  int substeps;
  const double *substep;
};

/* Makes an integrator of the class `name` for a system, which is borrowed. node: the map of its parameters (NULL: all
 * defaults); this function ignores the keys `name`, `step` and `retries`. CB_ERROR_INPUT for an unknown name or wrong
 * parameters, CB_ERROR_UNSUPPORTED for a system that the class cannot solve. The caller frees. */
cb_status cb_integrator_create(const char *name, const cb_node *node, const cb_system *system, cb_integrator **out);
/* Does the same as cb_integrator_create, for other problems. posed: the problems of which the class must solve one; the
 * list ends with NULL. problem: a borrowed pointer to the data of this problem. It may be NULL if the caller sets
 * i->problem before each step, as is done for bodies in a fluid. */
cb_status cb_integrator_create_for(const char *name, const cb_node *node, const cb_problem *const *posed,
                                   const void *problem, cb_integrator **out);
/* Does the same as cb_integrator_create_for, with a class that need not be in the registry. */
cb_status cb_integrator_create_class(const cb_integrator_class *class_, const cb_node *node,
                                     const cb_problem *const *posed, const void *problem, cb_integrator **out);
/* Makes a new integrator with the class and parameters of i, for the data `problem`. Two threads must not use one
 * integrator at the same time. */
cb_status cb_integrator_like(const cb_integrator *i, const void *problem, cb_integrator **out);
void cb_integrator_free(cb_integrator *i);
/* Makes a step of length h. If the step fails, the state is unchanged; but if the step is composed of several steps,
 * the state is the one after those that succeeded. */
cb_status cb_integrator_step(cb_integrator *i, void *state, double h);
/* For callers that compose steps themselves. cb_integrator_substeps returns a borrowed array of *count numbers: the
 * lengths of the steps that make up a step of length 1. cb_integrator_substep makes one step of the class, of length
 * h. */
const double *cb_integrator_substeps(const cb_integrator *i, int *count);
cb_status cb_integrator_substep(cb_integrator *i, void *state, double h);
/* Deletes the history of the integrator. */
void cb_integrator_reset(cb_integrator *i);
/* Call it after the origin of a component of the state has moved, which moved the local coordinates by `isometry`. Sets
 * the origins of the forces, and moves the history. */
cb_status cb_integrator_moved(cb_integrator *i, const cb_state *state, int component, const cb_isometry *isometry);
/* Moves only the history of the integrator, after an origin has moved; the origins of the forces stay. If several
 * components move, call this function for each of them, and then cb_forces_set_origins once. */
void cb_integrator_carry(cb_integrator *i, int component, const cb_isometry *isometry);

extern const cb_integrator_class *const *const cb_integrator_classes;

CB_API_END
#endif
