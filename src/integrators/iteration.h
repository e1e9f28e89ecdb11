/* Functions that the implicit integrators share: the loop that solves for the stages of a step, the prediction of the
 * stages, the choice between fixed-point iteration and Newton's method, and the matrix of Newton's method.
 *
 * An iteration that changes the stages by delta, and reduces errors by the factor rho, leaves an error of delta
 * rho/(1-rho). It ends when this error is below the tolerance, or when the changes are noise and no longer contract.
 * Source: Hairer, McLachlan & Razakarivony, Achieving Brouwer's law with implicit Runge-Kutta methods, BIT 48 (2008)
 * 231, doi:10.1007/s10543-008-0170-3.
 */
#pragma once

#include <curvebody/integrator.h>
#include <curvebody/status.h>
#include <curvebody/system.h>

#include <float.h>
#include <stddef.h>
#include <stdbool.h>

/* The changes of the stages in one iteration, and data from earlier iterations. change is the largest change of a
 * stage, size the largest displacement in the step, position the largest coordinate, and multiplier the largest change
 * of a multiplier. */
typedef struct cb_stage_change {
  double change, size, position, multiplier;
  int iteration;   /* counts from 1 */
  double before;   /* `change` of the previous iteration; infinite in the first iteration */
  double relative; /* change/size; during an iteration, the value of the previous iteration */
  double rho;      /* contraction: change/before unless the iteration measured it; -1: not measured */
  bool noise;      /* the correction is noise; set by an iteration whose `change` is a residual */
} cb_stage_change;

/* Returns whether the change is at most 256 units of round-off of the displacements in the step, or at most `units`
 * units of round-off of the coordinates at which forces are evaluated. */
static inline bool cb_stage_change_is_noise(const cb_stage_change *c, double units) {
  return c->change <= 256 * DBL_EPSILON * c->size || c->change <= units * DBL_EPSILON * c->position;
}
/* Returns whether Newton's matrix should be computed again. With the factors of an earlier matrix, an iteration
 * multiplies the change by about the relative change of the matrix since then. If the last change, relative to the
 * displacements, was below 1e-5, one more iteration with these factors reaches round-off. */
static inline bool cb_stage_change_asks_matrix(const cb_stage_change *c) {
  return c->iteration == 1 || c->relative > 1e-5;
}

typedef enum cb_stage_end { CB_STAGE_ON, CB_STAGE_ENDED, CB_STAGE_LOST } cb_stage_end;

typedef struct cb_iteration cb_iteration;
struct cb_iteration {
  const char *name, *what,
      *advice; /* texts for messages: name: the integrator; what: the quantity whose size is reported; advice: what the
                * user can change */
  cb_status (*pass)(void *method, cb_stage_change *c);
  cb_stage_end (*end)(const cb_iteration *how, const cb_stage_change *c);
  double target;   /* tolerance, relative to the largest displacement in the step */
  double noise;    /* changes up to this are round-off of the stage equations; its unit depends on the `end` function */
  double rounding; /* changes up to this, relative to the largest displacement in the step, are round-off as well */
  /* stall: changes that are noise do not decrease any more if their contraction is above this; lost: the iteration has
   * failed if its contraction is above this */
  double stall, lost;
  int maximum;         /* maximum number of iterations */
  double *contraction; /* the last measured contraction, 0: not yet measured; NULL: not kept from step to step */
};
#define CB_FIXED_POINT "the fixed-point iteration stalls at a relative change", "use a smaller step or `solver: newton`"
#define CB_NEWTON "Newton's method stalls at a relative change", "use a smaller step"

/* Iterates until the `end` function ends the iteration, and records the number of iterations and the residual in `in`.
 * Returns CB_STEP_NOT_FINITE if a change is not finite. Returns CB_STEP_NO_CONVERGENCE if `end` gives up, or after the
 * maximum number of iterations. */
cb_status cb_iterate(const cb_iteration *how, cb_integrator *in, void *method);

/* Ends when the change, or the error estimated from the contraction, is at most the target. Also ends when the changes
 * are noise (in the units of cb_stage_change_is_noise) and their contraction is above `stall`. Gives up after the
 * fourth iteration if the contraction is above `lost`. Keeps the contraction in how->contraction. */
cb_stage_end cb_end_by_contraction(const cb_iteration *how, const cb_stage_change *c);
/* Ends when the change, relative to the largest displacement, is at most the target. Also ends when this relative
 * change is at most 1e-12 (or `rounding`, if that is larger) and the change is more than a quarter of the previous
 * change. Also ends when the change is at most `noise` and more than `stall` times the previous change. Gives up after
 * the third iteration if the change is above both limits, 1e-12 (or `rounding`) and `noise`, and is more than `lost`
 * times the previous change. */
cb_stage_end cb_end_by_change(const cb_iteration *how, const cb_stage_change *c);

/* Computes sum[count] = h sum_j a_j value_j over s stages, where value_j begins at value + j stride. */
void cb_stage_sum(size_t count, int s, double h, const double *a, const double *value, size_t stride, double *sum);
/* Replaces the displacements `moves` of a stage from x0 by those in `next`, and records the changes in c. Returns the
 * sum of the changes, which is not finite if one of them is not. */
double cb_stage_move(size_t count, const double *next, const double *x0, double *moves, cb_stage_change *c);

/* Fails with CB_STEP_NOT_FINITE and a message with the name of the integrator and the iteration. */
cb_status cb_stage_not_finite(const char *name, int iteration);

/* --- the stage values of the next step, extrapolated from those of the last one or two steps ---
 *
 * The values y_j at the times c_j of past steps define a polynomial in t, which is evaluated at the stages of the next
 * step. The error is O(h^s) from one step and O(h^2s) from two. Source: Hairer, Lubich & Wanner, Geometric Numerical
 * Integration, 2nd ed. (2006), VIII.6.1.
 */

typedef struct cb_predictor cb_predictor;

/* Creates a predictor for s stages at times c[s] in [0, 1] with `count` numbers each. depth is the maximum number of
 * past steps that it uses, 1 or 2. Returns CB_ERROR_MEMORY if there is no memory. */
cb_status cb_predictor_create(int s, const double *c, int depth, size_t count, cb_predictor **out);
void cb_predictor_free(cb_predictor *p);

/* Forgets all past steps. */
void cb_predictor_reset(cb_predictor *p);
/* Stores stage[s*count] of a step of length h that succeeded. */
void cb_predictor_push(cb_predictor *p, double h, const double *stage);
/* Fills stage[s*count] for a step of length h that begins where the last one ended (h may have another size or sign).
 * Returns the number of past steps that it used. If this is 0, stage is unchanged. */
int cb_predictor_next(cb_predictor *p, double h, double *stage);

/* Returns the values of the last step (age 0) or of the one before (age 1), so that an isometry can be applied to them;
 * NULL if there are none. */
double *cb_predictor_past(cb_predictor *p, int age);

/* --- which iteration solves an implicit step ---
 *
 * The user asks for fixed-point iteration, for Newton's method, or for `auto`. `auto` starts with fixed-point
 * iteration. It changes to Newton's method when a fixed-point iteration fails, or needs many iterations for the size of
 * the system. The choice depends only on the steps since the last reset, so that a restart repeats it.
 */
/* CB_SOLVER_PATIENCE_..: numbers of iterations after which `auto` changes to Newton's method, for up to CB_SOLVER_SMALL
 * particles and for more. A Newton step of a small system costs about as much as ten sweeps of the fixed-point
 * iteration. In a large system the factors of the matrix have many entries, and a Newton step costs as much as hundreds
 * of sweeps. */
enum { CB_SOLVER_SMALL = 256, CB_SOLVER_PATIENCE_SMALL = 25, CB_SOLVER_PATIENCE_LARGE = 200 };
enum { CB_SOLVER_AUTO, CB_SOLVER_FIXED_POINT, CB_SOLVER_NEWTON };

/* Table rows of the parameters solver, tolerance, iterations and compensated. */
/* clang-format off */
#define CB_SOLVER_PARAMS(type, what_tolerance, maximum)                                                             \
  {"solver", CB_PARAM_CHOICE, offsetof(type, solver), "auto", "", "", "auto|fixed-point|newton",                 \
   "iteration for the stages; auto changes from fixed-point to newton if fixed-point is slow"},                     \
  {"tolerance", CB_PARAM_REAL, offsetof(type, tolerance), "0", "", ">= 0", NULL, what_tolerance},                \
  {"iterations", CB_PARAM_INT, offsetof(type, iterations), maximum, "", "[1, 10000]", NULL, "maximum number of iterations per step"}, \
  {"compensated", CB_PARAM_BOOL, offsetof(type, compensated), "true", "", "", NULL,                              \
   "true: keeps the low-order part of the state from step to step"}

/* The members that an implicit integrator copies from its cb_integrator, and from the options above. */
#define CB_METHOD_OF(in)                                                                                            \
  .integrator = (in), .forces = (in)->forces, .g = cb_system_space((in)->system),                                   \
  .mass = cb_system_masses((in)->system), .n = cb_system_particles((in)->system),                                   \
  .damped = cb_forces_uses_velocity((in)->forces)
#define CB_METHOD_OPTIONS(p)                                                                                        \
  .s = (p)->stages, .max_iterations = (p)->iterations, .tolerance = (p)->tolerance, .compensated = (p)->compensated
/* clang-format on */

typedef struct cb_solver_choice {
  int asked, patience;
  bool newton;
} cb_solver_choice;

static inline void cb_solver_start(cb_solver_choice *c, int asked, int particles) {
  c->asked = asked;
  c->patience = particles <= CB_SOLVER_SMALL ? CB_SOLVER_PATIENCE_SMALL : CB_SOLVER_PATIENCE_LARGE;
  c->newton = asked == CB_SOLVER_NEWTON;
}
/* Returns whether Newton's method should be created with the integrator, so that a step allocates nothing. This is so
 * if the user asks for it, or with `auto` for up to CB_SOLVER_SMALL particles. */
static inline bool cb_solver_may_be_newton(const cb_solver_choice *c) {
  return c->newton || (c->asked == CB_SOLVER_AUTO && c->patience == CB_SOLVER_PATIENCE_SMALL);
}
static inline void cb_solver_reset(cb_solver_choice *c) { c->newton = c->asked == CB_SOLVER_NEWTON; }
static inline bool cb_solver_is_newton(const cb_solver_choice *c) { return c->newton; }
static inline const char *cb_solver_name(const cb_solver_choice *c) { return c->newton ? "newton" : "fixed-point"; }
/* Records the result of the fixed-point iteration in a step; returns true if the step should be repeated with Newton's
 * method. */
static inline bool cb_solver_after(cb_solver_choice *c, cb_status status, int iterations) {
  if (c->newton || c->asked != CB_SOLVER_AUTO) return false;
  c->newton = status > 0 || (status == CB_OK && iterations > c->patience);
  return c->newton && status != CB_OK;
}
/* Solves for the stages of a step with the function `once`, and again by Newton's method if cb_solver_after requires
 * it. */
static inline cb_status cb_solver_solve(cb_solver_choice *c, const cb_integrator *in, cb_status (*once)(void *method),
                                        void *method) {
  cb_status status = once(method);
  /* Every failure counts as a failure of the fixed-point iteration, because an iteration that diverges may leave a
   * chart or overflow before it reaches the maximum number of iterations. */
  if (!cb_solver_after(c, status, in->iterations)) return status;
  status = once(method);
  /* The fixed-point iteration was not the cause of the failure, because Newton's method failed too. */
  if (status) cb_solver_reset(c);
  return status;
}

/* --- the matrix of Newton's method: one B x B block per pair of particles that a force couples ---
 *
 * Particle i has the unknowns i*B .. i*B+B-1, where B is usually stages x coordinates. Blocks follow the pattern of the
 * forces (cb_forces_pattern). Blocks off the diagonal may themselves be sparse, all with the same mask.
 */

typedef struct cb_stage_matrix cb_stage_matrix;

/* Creates the matrix for blocks of B = `block` rows and columns. mask[B*B] tells which entries of the blocks off the
 * diagonal may differ from 0 (NULL: all of them). The order of the pivots is chosen for a matrix whose diagonal blocks
 * are pivots[B*B] and whose other blocks are 0; `pivots` should be the diagonal block of a particle without forces in a
 * short step. The pattern is copied. Returns CB_ERROR_UNSUPPORTED if the matrix has more than 2^31 - 1 entries. */
cb_status cb_stage_matrix_create(const cb_pattern *pattern, int block, const bool *mask, const double *pivots,
                                 cb_stage_matrix **out);
void cb_stage_matrix_free(cb_stage_matrix *m);

/* Sets entry e of the pattern, a block in the row of `particle`, from block[B*B], row-major. */
void cb_stage_matrix_set(cb_stage_matrix *m, int particle, int e, const double *block);

/* Factors the matrix, all of whose blocks have been set. May return CB_STEP_SINGULAR. */
cb_status cb_stage_matrix_factor(cb_stage_matrix *m);
/* Replaces the right-hand side x[n*B] by the solution. */
void cb_stage_matrix_solve(cb_stage_matrix *m, double *x);

/* Adds an increment to arrays of `count` numbers, as cb_compensated_add_one (numerics/dd.h) does for one number. If
 * `keep` is false, the low parts are set to 0. */
void cb_compensated_add(size_t count, double *high, double *low, const double *increment, bool keep, int threads);
