/* Definitions that the files of Lobatto IIIA-IIIB in a fixed chart share. The equations are in lobatto_chart.c. Stage
 * arrays are [s][n*dim]; stages count from 0.
 *
 * q0: coordinates at the start of the step; h: its length; Q_i, P_i, u_i: coordinates, momenta and rates dq/dt of stage
 * i; g(t, q) = 0: the constraints; G = dg/dq: their gradients; M = m g_ij, with the mass m and the metric g_ij, whose
 * inverse is g^-1. */
#pragma once

#include "dynamics/gram.h"
#include "dynamics/chart_dynamics.h"
#include "integrators/lobatto.h"
#include "integrators/iteration.h"
#include "numerics/tableau.h"

typedef struct cb_lobatto_chart cb_lobatto_chart;
typedef struct cb_lobatto_chart_newton cb_lobatto_chart_newton;

struct cb_lobatto_chart {
  cb_arena *arena;
  cb_integrator *integrator;
  cb_forces *forces;
  const cb_space *g;
  const double *mass;
  int s, n, d;
  size_t count; /* n*d */
  bool damped, compensated;
  int max_iterations;
  double tolerance; /* relative tolerance of the stages; 0: round-off */
  cb_solver_choice solver;
  cb_tableau tableau;                                  /* a: coefficients of IIIA; a_hat: those of IIIB */
  double Winv[CB_LOBATTO_MAX - 1][CB_LOBATTO_MAX - 1]; /* the inverse of a block of W (integrators/lobatto.h) */

  /* the start and the length of the step that is being made */
  const cb_state *start;
  double h;
  bool has_start;          /* F, G and the factors of S = G M^-1 G^T are known at the state */
  cb_chart_metric *metric; /* [n]: the metric at the position of the state */

  double *q, *z, *u, *w, *F; /* values at the stages: q: Q_i; z: Q_i - q0; u: dq/dt; w: P_i; F: forces */
  double *rates;             /* [s-1][count + rows]: dp/dt with the forces of constraints, then the multipliers */
  double *inverse;           /* [s][n*d*d]: the inverse metric g^-1 at the stages */
  double *x1, *x1_low, *p1, *p1_low, *change;
  cb_predictor *predict_u, *predict_rates;

  /* constraints; rows = 0: there are none */
  cb_constraints *constraints;
  const cb_rows *pattern;
  cb_gram *gram;
  int rows;
  size_t entries; /* how many numbers the gradients of all rows have */
  double *G;      /* [s][entries]: the gradients at the stages */
  double *gap;    /* [s-1][rows]: values g of the constraints at the stages 1 .. s-1 */

  cb_lobatto_chart_newton *newton; /* the data of Newton's method; NULL until they are needed */
};

static inline double *cb_lobatto_chart_rate(const cb_lobatto_chart *m, int i) {
  return m->rates + (size_t)i * (m->count + (size_t)m->rows);
}
static inline double *cb_lobatto_chart_multipliers(const cb_lobatto_chart *m, int i) {
  return cb_lobatto_chart_rate(m, i) + m->count;
}
static inline double cb_lobatto_chart_time(const cb_lobatto_chart *m, int i) {
  return m->start->t + m->tableau.c[i] * m->h;
}

/* Computes the positions Q_i from the displacements z_i = Q_i - q0. */
void cb_lobatto_chart_place(cb_lobatto_chart *m);
/* Computes forces at the stages 0 .. s-2 (at stage 0 only if forces depend on velocities), and the values g and
 * gradients G of constraints at the stages 1 .. s-1. */
cb_status cb_lobatto_chart_forces(cb_lobatto_chart *m);
/* Subtracts G_i^T y from to[n*d], with the gradients G_i of stage i. */
void cb_lobatto_chart_pull(const cb_lobatto_chart *m, int i, const double *y, double *to);
/* Computes sum[n*d] = h sum_j a_j value_j over the first `stages` stages, where value_j begins at value + j stride. */
static inline void cb_lobatto_chart_sum(const cb_lobatto_chart *m, int stages, const double *a, const double *value,
                                        size_t stride, double *sum) {
  cb_stage_sum(m->count, stages, m->h, a, value, stride, sum);
}
/* Returns the status of a stage that cannot be evaluated. `particle` is the one that failed (-1: not known). */
cb_status cb_lobatto_chart_fail(cb_lobatto_chart *m, int particle, cb_status status);

/* --- lobatto_chart_newton.c: the stages by Newton's method, from the prediction in z, u and the multipliers --- */
cb_status cb_lobatto_chart_newton_create(cb_lobatto_chart *m, cb_lobatto_chart_newton **out);
void cb_lobatto_chart_newton_free(cb_lobatto_chart_newton *w);
cb_status cb_lobatto_chart_newton_solve(cb_lobatto_chart *m);
/* Functions of Newton's method. A vector of unknowns has the stages first, ordered by particle, stage and coordinate,
 * and then the multipliers, ordered by row and stage. The unknown y_0 = h u_0 (lobatto_chart_newton.c) must be in z
 * when these functions are called. */
int cb_lobatto_chart_newton_unknowns(const cb_lobatto_chart_newton *w);
/* Computes residual[unknowns] at the present unknowns and, with `derivatives`, the derivatives for the matrix. */
cb_status cb_lobatto_chart_newton_residual(cb_lobatto_chart_newton *w, cb_lobatto_chart *m, bool derivatives,
                                           double *residual);
/* cb_lobatto_chart_newton_factor factors the matrix of the last derivatives. cb_lobatto_chart_newton_apply replaces
 * x[unknowns] by matrix^-1 x. */
cb_status cb_lobatto_chart_newton_factor(cb_lobatto_chart_newton *w, const cb_lobatto_chart *m);
void cb_lobatto_chart_newton_apply(cb_lobatto_chart_newton *w, double *x);
/* Subtracts step from the unknowns; the change is nan if a number is not finite. */
void cb_lobatto_chart_newton_correct(cb_lobatto_chart *m, const double *step, cb_stage_change *c);
