/* Lobatto IIIA-IIIB in a fixed chart: what its files share. Stage arrays are [s][n*dim]; stages count from 0. */
#pragma once

#include "dynamics/gram.h"
#include "dynamics/chart_dynamics.h"
#include "integrators/lobatto.h"
#include "integrators/lobatto_form.h"
#include "integrators/iteration.h"
#include "integrators/predictor.h"
#include "numerics/tableau.h"

typedef struct cb_lobatto_chart cb_lobatto_chart;
typedef struct cb_lobatto_chart_newton cb_lobatto_chart_newton;

struct cb_lobatto_chart {
  cb_arena *arena;
  cb_integrator *integrator;
  cb_forces *forces;
  const cb_geometry *g;
  const double *mass;
  int s, n, d;
  size_t count; /* n*d */
  bool damped, compensated;
  int max_iterations;
  double tolerance; /* 0: round-off */
  cb_solver_choice solver;
  cb_tableau tableau;                                  /* a: IIIA, a_hat: IIIB */
  double Winv[CB_LOBATTO_MAX - 1][CB_LOBATTO_MAX - 1]; /* see integrators/lobatto.h */

  /* the step being made */
  const cb_state *start;
  double h;
  bool has_start;          /* F, G and the factors of S are known where the state is */
  cb_chart_metric *metric; /* [n] there */

  double *q, *z, *u, *w, *F; /* Q_i, Q_i - q0, dq/dt, P_i, forces */
  double *rates;             /* [s-1][count + rows]: dp/dt with the pull of constraints, then the multipliers */
  double *inverse;           /* [s][n*d*d]: g^-1 */
  double *x1, *x1_low, *p1, *p1_low, *change;
  cb_predictor *predict_u, *predict_rates;

  /* constraints; none where rows = 0 */
  cb_constraints *constraints;
  const cb_rows *pattern;
  cb_gram *gram;
  int rows;
  size_t entries; /* numbers in the gradients of all rows */
  double *G;      /* [s][entries] */
  double *gap;    /* [s-1][rows]: g at stages 1 .. s-1 */

  cb_lobatto_chart_newton *newton; /* NULL until it is needed */
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

/* Q_i from z_i. */
void cb_lobatto_chart_place(cb_lobatto_chart *m);
/* Forces at the stages 0 .. s-2 (the first only where it may have changed), and g and G at the stages 1 .. s-1. */
cb_status cb_lobatto_chart_forces(cb_lobatto_chart *m);
/* to -= G_i^T y, the gradients being those of stage i */
void cb_lobatto_chart_pull(const cb_lobatto_chart *m, int i, const double *y, double *to);
/* sum[n*d] = h sum_j a_j value_j over so many stages, value_j being `stride` apart */
static inline void cb_lobatto_chart_sum(const cb_lobatto_chart *m, int stages, const double *a, const double *value,
                                        size_t stride, double *sum) {
  cb_stage_sum(m->count, stages, m->h, a, value, stride, sum);
}
/* The status of a stage that cannot be evaluated, with the particle that is to blame (-1: not known). */
cb_status cb_lobatto_chart_fail(cb_lobatto_chart *m, int particle, cb_status status);

/* lobatto_chart_sweep.c: stages to start from, by rates and velocities extrapolated from past steps or, without any, by
 * the velocity at the start; and the stages by fixed-point iteration. */
void cb_lobatto_chart_predict(cb_lobatto_chart *m);
cb_status cb_lobatto_chart_fixed_point(cb_lobatto_chart *m);

/* lobatto_chart_newton.c: the stages by Newton's method, from the prediction that is in z, u and the multipliers. */
cb_status cb_lobatto_chart_newton_create(cb_lobatto_chart *m, cb_lobatto_chart_newton **out);
void cb_lobatto_chart_newton_free(cb_lobatto_chart_newton *w);
cb_status cb_lobatto_chart_newton_solve(cb_lobatto_chart *m);
/* Its parts. Unknowns are those of the file's head, by particle, stage and coordinate, then by row and stage; y_0
 * stands in z where the others do. */
int cb_lobatto_chart_newton_unknowns(const cb_lobatto_chart_newton *w);
/* residual[unknowns] where the unknowns are now; derivatives: also what the matrix is made of. */
cb_status cb_lobatto_chart_newton_residual(cb_lobatto_chart_newton *w, cb_lobatto_chart *m, bool derivatives,
                                           double *residual);
/* The matrix where derivatives were wanted last, and x := matrix^-1 x. */
cb_status cb_lobatto_chart_newton_factor(cb_lobatto_chart_newton *w, const cb_lobatto_chart *m);
void cb_lobatto_chart_newton_apply(cb_lobatto_chart_newton *w, double *x);
/* The unknowns less step; the change is nan once a number is not finite. */
void cb_lobatto_chart_newton_correct(cb_lobatto_chart *m, const double *step, cb_stage_change *c);
