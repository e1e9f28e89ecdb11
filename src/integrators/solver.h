/* Which iteration solves an implicit step: fixed-point, Newton, or `auto`, which starts with the first and goes over
 * to the second when the first fails, or needs many iterations for the size of the system. The choice depends on the
 * steps since the last reset alone, so that a restart repeats it. */
#pragma once

#include <curvebody/integrator.h>
#include <stdbool.h>

/* A Newton step of a small system costs about as much as ten sweeps of the fixed-point iteration; one of a large
 * system, whose factors fill, as much as hundreds. */
enum { CB_SOLVER_SMALL = 256, CB_SOLVER_PATIENCE_SMALL = 25, CB_SOLVER_PATIENCE_LARGE = 200 };
enum { CB_SOLVER_AUTO, CB_SOLVER_FIXED_POINT, CB_SOLVER_NEWTON };

/* Rows for the fields solver, tolerance, iterations and compensated. */
/* clang-format off */
#define CB_SOLVER_PARAMS(type, what_tolerance, most)                                                             \
  {"solver", CB_PARAM_CHOICE, offsetof(type, solver), "auto", "", "", "auto|fixed-point|newton",                 \
   "iteration for the stages; auto goes from fixed-point to newton where the first is slow"},                    \
  {"tolerance", CB_PARAM_REAL, offsetof(type, tolerance), "0", "", ">= 0", NULL, what_tolerance},                \
  {"iterations", CB_PARAM_INT, offsetof(type, iterations), most, "", "[1, 10000]", NULL, "most iterations a step"}, \
  {"compensated", CB_PARAM_BOOL, offsetof(type, compensated), "true", "", "", NULL,                              \
   "carry the low-order part of the state across steps"}

/* What the implicit methods take from their integrator, and from the fields above. */
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
/* Whether Newton's method is made when the integrator is: where it may be needed and is cheap, so that a step allocates
 * nothing. */
static inline bool cb_solver_may_be_newton(const cb_solver_choice *c) {
  return c->newton || (c->asked == CB_SOLVER_AUTO && c->patience == CB_SOLVER_PATIENCE_SMALL);
}
static inline void cb_solver_reset(cb_solver_choice *c) { c->newton = c->asked == CB_SOLVER_NEWTON; }
static inline bool cb_solver_is_newton(const cb_solver_choice *c) { return c->newton; }
static inline const char *cb_solver_name(const cb_solver_choice *c) { return c->newton ? "newton" : "fixed-point"; }
/* Takes note of a step that fixed-point iteration did; true if it should be done again by Newton's method. */
static inline bool cb_solver_after(cb_solver_choice *c, cb_status status, int iterations) {
  if (c->newton || c->asked != CB_SOLVER_AUTO) return false;
  c->newton = status > 0 || (status == CB_OK && iterations > c->patience);
  return c->newton && status != CB_OK;
}
/* The stages of a step by `once`, and again by Newton's method where that is called for. */
static inline cb_status cb_solver_solve(cb_solver_choice *c, const cb_integrator *in, cb_status (*once)(void *method),
                                        void *method) {
  cb_status status = once(method);
  /* an iteration that diverges may also leave a chart or overflow before it runs out of iterations */
  if (!cb_solver_after(c, status, in->iterations)) return status;
  status = once(method);
  if (status) cb_solver_reset(c); /* not the iteration was to blame */
  return status;
}
