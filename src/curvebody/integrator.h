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

/* A problem that integrators solve: it fixes the types of the problem's data and of the state. */
typedef struct cb_problem {
  const char *text; /* "Hamiltonian systems", in messages */
  /* Makes what an integrator of this problem needs before its own data (cb_integrator.problem is set); NULL: nothing. */
  cb_status (*prepare)(cb_integrator *i);
} cb_problem;
/* A Hamiltonian system with constraints: data cb_system, state cb_state. */
extern const cb_problem cb_problem_hamiltonian;
/* A first-order equation on a Lie group and the dual of its algebra, and the discrete Lagrangian of the same motion:
 * data cb_rigid_problem, state cb_rigid_state (curvebody/rigid.h). */
extern const cb_problem cb_problem_lie_group, cb_problem_discrete_lagrangian;
/* A path in a group, over a given path of shapes: data cb_bundle_path, state cb_bundle_state
 * (curvebody/bundle_path.h). */
extern const cb_problem cb_problem_group_path;

typedef struct cb_integrator_class {
  const char *name, *title, *doc;
  const cb_problem *solves;
  const cb_param *params; /* in addition to the keys of all integrators: name, step, retries */
  size_t params_size;
  /* Makes the integrator's own data in i->self; may fail with CB_ERROR_UNSUPPORTED and a reason. */
  cb_status (*create)(cb_integrator *i, const void *params);
  void (*destroy)(cb_integrator *i); /* NULL: there is no data */
  /* One step of length h (negative: backwards) of a state of its problem, in place. */
  cb_status (*step)(cb_integrator *i, void *state, double h);
  /* Deletes history (predictors): the next steps depend on the state only. NULL: the integrator has no history. */
  void (*reset)(cb_integrator *i);
  /* The local coordinates of a component were moved by an isometry: moves the history with them. NULL: history is
   * deleted. */
  void (*moved)(cb_integrator *i, int component, const cb_isometry *isometry);
  /* Order in h, and whether the integrator is symplectic and symmetric, for these parameters. */
  void (*properties)(const cb_integrator *i, int *order, bool *symplectic, bool *symmetric);
  /* Which constraints the integrator accepts (curvebody/constraint.h): position rows, velocity rows. For systems with
   * other constraints cb_integrator_create fails with their names before it calls `create`. */
  bool takes_constraints, takes_velocity_constraints;
  /* The integrator chooses steps and orders itself to meet tolerances: `order` is then not an order in h. */
  bool adaptive;
  /* A step of a body is a discrete Lagrangian, so that impulses of forces between bodies may be added at its ends. */
  bool takes_impulses;
  /* Moves bodies that hang together by joints from t to t + h (mechanism/mechanism.h). On failure *failed is the body, or
   * -1. NULL: the integrator cannot. */
  cb_status (*drift_joined)(cb_integrator *i, struct cb_mechanism *m, const struct cb_mechanism_bodies *b, double t,
                            double h, int *failed);
  /* The same for trees, in coordinates of joints (cb_mechanism_move_coordinates), next to which nothing acts on bodies
   * through impulses. At the end nothing is left to settle. NULL: the integrator cannot. */
  cb_status (*step_joined)(cb_integrator *i, struct cb_mechanism *m, const struct cb_mechanism_bodies *b, double t,
                           double h, int *failed);
} cb_integrator_class;

struct cb_integrator {
  const cb_integrator_class *class_;
  /* data of the problem, borrowed; for bodies in a fluid: the problem of the next step */
  const void *problem;
  const cb_system *system; /* the problem as a system, for particles; NULL otherwise */
  cb_forces *forces;       /* owned; only for particles */
  void *self;              /* data of the integrator */
  const char *solver;      /* name of the solver in use: "fixed-point", "newton", "explicit" */
  int iterations;          /* number of iterations in the last step */
  double residual;         /* the last change in the last step's iteration, relative to the displacement in the step */
  int failed_particle;     /* particle (in the state's order) where a failed step went wrong; -1 if not known */
  /* [rows of the system]: multipliers at the end of the last step; NULL if the integrator computes none */
  const double *multipliers;
  void *params; /* parameters of the class, as given at creation */
  /* A step is composed of steps of the class, of lengths substep[substeps] times h (symmetric composition). 0: one
   * step. Set by `create` of the class. */
  int substeps;
  const double *substep;
};

/* Makes an integrator by name; node is its map in the scenario (may be NULL). The keys `name`, `step`, `retries` of the
 * map are read elsewhere. */
cb_status cb_integrator_create(const char *name, const cb_node *node, const cb_system *system, cb_integrator **out);
/* As cb_integrator_create, for data that pose any of several problems, ended by NULL (for bodies in a fluid: the data
 * are NULL, and `problem` is set before each step). */
cb_status cb_integrator_create_for(const char *name, const cb_node *node, const cb_problem *const *posed,
                                   const void *problem, cb_integrator **out);
/* As cb_integrator_create_for, with a class that need not be in the registry. */
cb_status cb_integrator_create_class(const cb_integrator_class *class_, const cb_node *node,
                                     const cb_problem *const *posed, const void *problem, cb_integrator **out);
/* Makes a new integrator with the same class and parameters for another problem. One integrator serves one thread. */
cb_status cb_integrator_like(const cb_integrator *i, const void *problem, cb_integrator **out);
void cb_integrator_free(cb_integrator *i);
/* A failed step leaves the state as it was, or, if it is composed of several, after some of them. */
cb_status cb_integrator_step(cb_integrator *i, void *state, double h);
/* The lengths of the steps of which a step of length 1 is composed, and their number; and one of these, for callers that
 * compose steps themselves. */
const double *cb_integrator_substeps(const cb_integrator *i, int *count);
cb_status cb_integrator_substep(cb_integrator *i, void *state, double h);
void cb_integrator_reset(cb_integrator *i);
/* To be called when an origin of the state has moved: `isometry` moved the local coordinates of the component. */
cb_status cb_integrator_moved(cb_integrator *i, const cb_state *state, int component, const cb_isometry *isometry);
/* Moves only the history, for cases in which many components move: then call cb_forces_set_origins once for all. */
void cb_integrator_carry(cb_integrator *i, int component, const cb_isometry *isometry);

extern const cb_integrator_class *const *const cb_integrator_classes;

CB_API_END
#endif
