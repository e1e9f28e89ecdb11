/* Gauss collocation in a fixed chart: what its two files share. Stage arrays are [s][n*dim]. */
#pragma once

#include "dynamics/chart_dynamics.h"
#include "integrators/gauss.h"

typedef struct cb_gauss_chart {
  cb_chart_rate *rate;
  cb_chart_derivatives *derivatives;
  size_t count;          /* n*dim */
  double *q, *z, *F, *w; /* positions q_i, moves q_i - q0, forces, w_i */
  double *rates;         /* [s][2][n*dim]: u_i and W_i */
  double *inverse;       /* g^-1 at the stages */
  double *w0, *u0, *dq;
  double inverse_a[CB_STAGES_MAX][CB_STAGES_MAX]; /* A^-1, packed s x s */
  cb_predictor *predictor;
  cb_chart_jet *jet; /* [s][n], for Newton's method */
  double *block;     /* [(s dim)^2] */
} cb_gauss_chart;

double *cb_gauss_chart_u(const cb_gauss *m, int stage);
double *cb_gauss_chart_rate(const cb_gauss *m, int stage);
/* q_i from z_i, and the forces there. */
cb_status cb_gauss_chart_forces(cb_gauss *m);

cb_status cb_gauss_chart_prepare_newton(cb_gauss *m);
cb_status cb_gauss_chart_residual(cb_gauss *m, double *r, double *norm);
cb_status cb_gauss_chart_matrix(cb_gauss *m, cb_stage_matrix *matrix);
cb_status cb_gauss_chart_correct(cb_gauss *m, const double *step, cb_stage_change *change);
