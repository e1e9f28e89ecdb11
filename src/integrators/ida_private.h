/* What the integrator `ida` holds, and its parts: equations, their Jacobian, the state's way in and out, SUNDIALS.
 *
 * Unknowns y = (x, v, L, M): n*k positions and velocities, the integrals L of the multipliers of all rows and M of
 * those that keep the rows of position. See integrators/ida.c for the equations.
 */
#pragma once

#include "dynamics/gram.h"
#include "integrators/solver.h"
#include "numerics/entries.h"

#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

typedef struct cb_ida {
  cb_arena *arena;
  cb_integrator *integrator;
  const cb_geometry *g;
  cb_forces *forces;
  const double *mass;
  int n, k, nk;

  cb_constraints *constraints; /* with the rows of the space */
  const cb_rows *rows;
  cb_gram *gram; /* NULL where there are no rows */
  int *position; /* [rows]: index in M, -1 for a row of velocity */
  int n_positions, size;
  bool damped;

  double rtol, atol;

  SUNContext context;
  void *ida;
  N_Vector y, yp, id, residual, spare;
  bool lacking; /* memory for a vector */
  SUNMatrix matrix;
  SUNLinearSolver linear;
  bool sparse;
  cb_entries entries;
  cb_columns columns; /* of a sparse matrix */

  double *x, *v;                               /* of an output; a start */
  double *W;                                   /* [n*k*k]: (m I)^-1 or (m g)^-1 of each particle */
  double *force, *push, *shift;                /* [n*k]: F, G^T L', G^T M' */
  double *g_value, *rate, *gamma, *multiplier; /* [rows] */
  double *G, *rate_x;                          /* [entries*k] */
  const cb_pattern *pattern;
  double *force_x, *force_v, *push_x, *shift_x; /* in the order of the pattern */

  /* The state that the last step left, to see whether it is handed in again. */
  bool running;
  double direction, left_t, left_t_low;
  double *left_x, *left_p;

  cb_status failure; /* of the last evaluation that failed, with its text */
  char text[512];
} cb_ida;

/* ida_equations.c */
/* Residual r[size] of the equations at (t, y, y'). */
cb_status cb_ida_residual(cb_ida *m, double t, const double *y, const double *yp, double *r);
/* 1/tolerance of every unknown. */
void cb_ida_weights(const cb_ida *m, const double *y, double *weight);

/* ida_jacobian.c */
/* Places the entries of dr/dy + c dr/dy'; then, after cb_entries_begin, adds their values. */
cb_status cb_ida_pattern(cb_ida *m);
cb_status cb_ida_jacobian(cb_ida *m, double t, double c, const double *y, const double *yp);

/* ida_state.c */
/* y and y' from a state: brought to the rows, with the multipliers that keep them. */
cb_status cb_ida_start(cb_ida *m, const cb_state *state);
/* The state at (t, t_low) from y, brought to the rows. */
cb_status cb_ida_output(cb_ida *m, double t, double t_low, cb_state *state);
bool cb_ida_continues(const cb_ida *m, const cb_state *state, double h);

/* ida_sundials.c */
typedef struct cb_ida_options {
  int solver, max_order, max_steps;
  double max_step;
} cb_ida_options;
enum { CB_IDA_AUTO, CB_IDA_DENSE, CB_IDA_KLU };
cb_status cb_ida_open(cb_ida *m, const cb_ida_options *options);
void cb_ida_close(cb_ida *m);
/* Integrates from y, y' at t0 (from where it stands without `restart`) to t; y is the solution there. */
cb_status cb_ida_advance(cb_ida *m, bool restart, double t0, double t);
