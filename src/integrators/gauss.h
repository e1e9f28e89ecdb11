/* Gauss collocation: what its forms share. See integrators/gauss.c for the method, gauss_chart.c and gauss_moving.c for
 * the forms.
 *
 * Newton's method has one block of s*dim unknowns a particle, ordered by stage, then coordinate.
 */
#pragma once

#include "core/arena.h"
#include "integrators/iteration.h"
#include "integrators/predictor.h"
#include "integrators/solver.h"
#include "integrators/stage_matrix.h"
#include "numerics/tableau.h"

typedef struct cb_gauss cb_gauss;

/* A form of the method. Functions return a positive status where a stage cannot be evaluated. */
typedef struct cb_gauss_form {
  cb_status (*create)(cb_gauss *m);
  void (*destroy)(cb_gauss *m);
  /* Stages to begin the iteration with, from the state and from past steps where they are known. */
  cb_status (*predict)(cb_gauss *m);
  /* One pass of the fixed-point iteration. */
  cb_status (*sweep)(cb_gauss *m, cb_stage_change *change);
  /* Makes m->matrix and what else Newton's method needs. */
  cb_status (*prepare_newton)(cb_gauss *m);
  /* r[n*s*dim] of the stage equations, and its norm relative to the largest momentum. */
  cb_status (*residual)(cb_gauss *m, double *r, double *norm);
  /* dr/d(unknowns) where the residual was evaluated last. */
  cb_status (*matrix)(cb_gauss *m, cb_stage_matrix *matrix);
  /* The unknowns less step[n*s*dim]. */
  cb_status (*correct)(cb_gauss *m, const double *step, cb_stage_change *change);
  /* The state at the end of the step; keeps the stages for the next one. */
  cb_status (*finish)(cb_gauss *m, cb_state *state);
  void (*reset)(cb_gauss *m);
  void (*moved)(cb_gauss *m, int component, const cb_isometry *isometry); /* NULL: reset */
} cb_gauss_form;

extern const cb_gauss_form cb_gauss_chart_form, cb_gauss_moving_form;

struct cb_gauss {
  cb_arena *arena;
  const cb_gauss_form *form;
  cb_integrator *integrator;
  cb_forces *forces;
  const cb_geometry *g;
  const double *mass;
  cb_tableau tableau;
  int s, n, k, dim, threads;
  bool symmetric, balance, compensated, damped;
  bool canonical; /* in a fixed chart: (q, p), not (q, u) */
  cb_solver_choice solver;
  int max_iterations;
  double tolerance;   /* 0: round-off */
  double contraction; /* of the fixed-point iteration, as last measured; 0: not yet */

  /* the step being made */
  const cb_state *start;
  double h;

  void *self; /* of the form */

  /* Newton's method, made when it is first needed */
  cb_stage_matrix *matrix;
  double *residual;
  double *jacobian_x, *jacobian_v; /* [pattern entries * k * k] */
};

/* DOMAIN errors of a stage become CB_STEP_DOMAIN: a smaller step may stay inside. */
cb_status cb_gauss_stage_status(cb_status status);

/* Makes the matrix, mask: entries of a block off the diagonal, NULL: all; pivots: see cb_stage_matrix_create. */
cb_status cb_gauss_make_matrix(cb_gauss *m, const bool *mask, const double *pivots);

/* gauss_solve.c: the stages of the step to round-off or the tolerance. */
cb_status cb_gauss_solve(cb_gauss *m);
