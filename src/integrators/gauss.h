/* Definitions that the forms of Gauss collocation (integrators/gauss.c) share. The forms are in gauss_chart.c and
 * gauss_moving.c.
 *
 * Newton's method has one block of s*dim unknowns per particle, ordered by stage, then by coordinate; s is the number
 * of stages, dim the dimension of the space.
 */
#pragma once

#include "core/arena.h"
#include "integrators/iteration.h"
#include "numerics/tableau.h"

typedef struct cb_gauss cb_gauss;

/* A form of the integrator. Its functions return a positive status if a stage cannot be evaluated. */
typedef struct cb_gauss_form {
  cb_status (*create)(cb_gauss *m);
  void (*destroy)(cb_gauss *m);
  /* Predicts the stages at which the iteration starts, from the state and, if there are any, from past steps. */
  cb_status (*predict)(cb_gauss *m);
  /* Makes one pass of the fixed-point iteration. */
  cb_status (*sweep)(cb_gauss *m, cb_stage_change *change);
  /* Creates m->matrix and the other data of Newton's method. */
  cb_status (*prepare_newton)(cb_gauss *m);
  /* Computes the residual r[n*s*dim] of the stage equations, and its norm relative to the largest term of these
   * equations. */
  cb_status (*residual)(cb_gauss *m, double *r, double *norm);
  /* Computes the matrix dr/d(unknowns) at the stages for which the residual was computed last. */
  cb_status (*matrix)(cb_gauss *m, cb_stage_matrix *matrix);
  /* Subtracts step[n*s*dim] from the unknowns. */
  cb_status (*correct)(cb_gauss *m, const double *step, cb_stage_change *change);
  /* Sets the state at the end of the step and keeps the stages for the next step. */
  cb_status (*finish)(cb_gauss *m, cb_state *state);
  void (*reset)(cb_gauss *m);
  void (*moved)(cb_gauss *m, int component,
                const cb_isometry *isometry); /* NULL in a chart, where `reset` is called instead */
} cb_gauss_form;

extern const cb_gauss_form cb_gauss_chart_form, cb_gauss_moving_form;

struct cb_gauss {
  cb_arena *arena;
  const cb_gauss_form *form;
  cb_integrator *integrator;
  cb_forces *forces;
  const cb_space *g;
  const double *mass;
  cb_tableau tableau;
  int s, n, k, dim, threads;
  bool symmetric, balance, compensated, damped;
  bool canonical; /* in a fixed chart: the variables are positions and momenta (q, p), not (q, dq/dt) */
  cb_solver_choice solver;
  int max_iterations;
  double tolerance;   /* relative tolerance of the stages; 0: round-off */
  double contraction; /* the last measured contraction of the fixed-point iteration; 0: not yet measured */

  /* the step being made */
  const cb_state *start;
  double h;

  void *self; /* the data of the form */

  /* data of Newton's method, created when they are first needed */
  cb_stage_matrix *matrix;
  double *residual;
  double *jacobian_x, *jacobian_v; /* [pattern entries * k * k] */
};

/* Changes CB_ERROR_DOMAIN of a stage to CB_STEP_DOMAIN, because a smaller step may stay in the domain. */
cb_status cb_gauss_stage_status(cb_status status);

/* Creates the matrix; mask and pivots are those of cb_stage_matrix_create. */
cb_status cb_gauss_make_matrix(cb_gauss *m, const bool *mask, const double *pivots);

/* Solves for the stages of the step to round-off or the tolerance (gauss_solve.c). */
cb_status cb_gauss_solve(cb_gauss *m);
