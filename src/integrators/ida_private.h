/* The data of the integrator `ida` and its parts: its equations and their Jacobian, and SUNDIALS (ida_solver.c).
 *
 * The unknowns are y = (x, v, L, M): n*k positions and velocities, the integrals L of the multipliers of all rows, and
 * the integrals M of the multipliers that enforce the rows of position. L', M' and y' are rates. F: forces; g: values
 * of the rows; G: their gradients; m: mass. See integrators/ida.c for the equations.
 */
#pragma once

#include "dynamics/gram.h"
#include "integrators/iteration.h"
#include "numerics/sparse.h"

#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <stdbool.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_types.h>
#include <sundials/sundials_version.h>

typedef struct cb_ida {
  cb_arena *arena;
  cb_integrator *integrator;
  const cb_space *g;
  cb_forces *forces;
  const double *mass;
  int n, k, nk;

  cb_constraints *constraints; /* the evaluator of the rows of the system and of the space */
  const cb_rows *rows;
  cb_gram *gram; /* NULL if there are no rows */
  int *position; /* [rows]: index in M, or -1 for a row of velocity */
  int n_positions, size;
  bool damped;

  double rtol, atol;

  SUNContext context;
  void *ida;
  N_Vector y, yp, id, residual, spare;
  bool lacking; /* there was no memory for a vector */
  SUNMatrix matrix;
  SUNLinearSolver linear;
  bool sparse;
  cb_entries entries;
  cb_columns columns; /* the compressed columns of the matrix, if it is sparse */

  double *x, *v;                               /* scratch: positions and velocities of an output or of a start state */
  double *W;                                   /* [n*k*k]: of each particle: (m I)^-1 with I = diag(form) in the
                                                * embedding, (m g)^-1 with the metric g in a chart */
  double *force, *push, *shift;                /* [n*k]: F, G^T L', G^T M', where F are the forces and G the gradients
                                                * of the rows */
  double *g_value, *rate, *gamma, *multiplier; /* [rows]: values g of the rows, their rates, gamma and multipliers
                                                * (integrators/ida.c) */
  double *G, *rate_x;                          /* [entries*k]: gradients of the rows, and derivatives of their rates in
                                                * x */
  const cb_pattern *pattern;
  double *force_x, *force_v, *push_x,
      *shift_x; /* blocks dF/dx, dF/dv, d(push)/dx, d(shift)/dx in the order of the pattern */

  /* The state after the last step, to test whether the next step starts from it. */
  bool running;
  double direction, left_t, left_t_low;
  double *left_x, *left_p;

  cb_status failure; /* the status of the last evaluation that failed, with its text */
  char text[512];
} cb_ida;

/* --- equations --- */

/* Computes the residual r[size] of the equations at (t, y, y'); yp is y'. */
cb_status cb_ida_residual(cb_ida *m, double t, const double *y, const double *yp, double *r);

/* Adds the values of the entries of dr/dy + c dr/dy'. It is called after cb_entries_begin. */
cb_status cb_ida_jacobian(cb_ida *m, double t, double c, const double *y, const double *yp);

/* Sets y and y' from a state. Before that the state is projected so that it satisfies the rows (the equations of the
 * constraints), and the multipliers of the rows are computed. */
cb_status cb_ida_start(cb_ida *m, const cb_state *state);
/* Sets the state at the time (t, t_low) from y, and projects it to the constraints. */
cb_status cb_ida_output(cb_ida *m, double t, double t_low, cb_state *state);
bool cb_ida_continues(const cb_ida *m, const cb_state *state, double h);

/* --- SUNDIALS --- */
typedef struct cb_ida_options {
  int solver, max_order, max_steps;
  double max_step;
} cb_ida_options;
enum { CB_IDA_AUTO, CB_IDA_DENSE, CB_IDA_KLU };
cb_status cb_ida_open(cb_ida *m, const cb_ida_options *options);
void cb_ida_close(cb_ida *m);
/* Integrates to t: with `restart` from y and y' at t0, otherwise from IDA's present time. y is then the solution at
 * t. */
cb_status cb_ida_advance(cb_ida *m, bool restart, double t0, double t);

/* --- one interface for SUNDIALS 6 and 7 ---
 *
 * Two things differ: the communicator of a context (a pointer in 6, an MPI_Comm or a number in 7), and the receiver of
 * the text of an error (a handler of each solver in 6, of the context in 7).
 * Source: the SUNDIALS user guides of 6.4 and 7.1, sections "SUNContext" and "Error checking".
 */

/* Defines the error handler `name`; its body follows and has the parameters int code, const char *text and void
 * *self. */
#if SUNDIALS_VERSION_MAJOR >= 7
#define CB_SUNDIALS_HANDLER(name)                                                                                   \
  static void name##_text(int code, const char *text, void *self);                                                  \
  static void name(int line, const char *function, const char *file, const char *text, SUNErrCode code, void *self, \
                   SUNContext context) {                                                                            \
    (void)line, (void)function, (void)file, (void)context;                                                          \
    name##_text(code, text, self);                                                                                  \
  }                                                                                                                 \
  static void name##_text(int code, const char *text, void *self)
/* Sends the text of errors to the handler only, so that nothing is printed. `set` is the function of the solver that
 * does this in SUNDIALS 6. */
#define CB_SUNDIALS_LISTEN(context, set, solver, handler, self) \
  (!SUNContext_ClearErrHandlers(context) && !SUNContext_PushErrHandler(context, handler, self))
#else
#define SUN_COMM_NULL NULL
#define CB_SUNDIALS_HANDLER(name)                                                                \
  static void name##_text(int code, const char *text, void *self);                               \
  static void name(int code, const char *module, const char *function, char *text, void *self) { \
    (void)module, (void)function;                                                                \
    name##_text(code, text, self);                                                               \
  }                                                                                              \
  static void name##_text(int code, const char *text, void *self)
#define CB_SUNDIALS_LISTEN(context, set, solver, handler, self) (!set(solver, handler, self))
#endif
