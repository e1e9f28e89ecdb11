/* Gauss collocation in charts that follow the particles: what its files share. See gauss_moving.c for the equations.
 *
 * A unit is one particle in one factor of the space. Stage arrays in charts are [s][n*dim], on the embedding [s][n*k].
 */
#pragma once

#include "integrators/gauss.h"
#include "integrators/moving_chart.h"

typedef struct cb_moving_factor {
  double K;
  int d, k;                 /* dimensions and coordinates */
  int at_d, at_k, at_frame; /* where they begin within a particle */
} cb_moving_factor;

typedef struct cb_gauss_moving {
  int n_factors, frame; /* numbers of a particle's frames */
  cb_moving_factor factor[CB_FACTOR_MAX];
  size_t count, points; /* n*dim, n*k */
  double *xi, *u;       /* coordinates and d xi/dt at the stages */
  double *x, *F, *v;    /* points, forces and (damped) velocities on the embedding */
  double *f0, *f;       /* the forces' components along x0 [s][n*factors] and the frame [s][n*dim] */
  double time[CB_STAGES_MAX];
  const double *x_at[CB_STAGES_MAX], *v_at[CB_STAGES_MAX]; /* the arrays of one stage */
  double *F_at[CB_STAGES_MAX];
  double *E, *P0;  /* frames at the start, and the momentum in them */
  double *e, *dP;  /* eta or xi_1 (see gauss_moving.c); the change of momentum in the carried frame */
  double *dx, *dp; /* of the state */
  double position; /* the largest coordinate of the state */
  double aq[CB_STAGES_MAX][CB_STAGES_MAX], ap[CB_STAGES_MAX][CB_STAGES_MAX];
  double beta[CB_STAGES_MAX], beta_low[CB_STAGES_MAX];
  cb_predictor *predictor;
  struct cb_moving_newton *newton;
} cb_gauss_moving;

/* The chart's centre: at e in the symmetric method, at x0 otherwise. */
static inline cb_moving_centre cb_gauss_moving_centre(const cb_gauss *m, const cb_moving_factor *f, const double *e) {
  static const double origin[CB_DIM_MAX];
  return cb_moving_centre_at(f->d, f->K, m->symmetric ? e : origin);
}

/* Points (and velocities, where forces use them) of the stages from xi, u and e, the forces there, their components. */
cb_status cb_gauss_moving_forces(cb_gauss *m);
/* CB_STEP_DOMAIN, with the particle, where a coordinate is too large for a chart. */
cb_status cb_gauss_moving_too_far(cb_gauss *m, int particle);

cb_status cb_gauss_moving_prepare_newton(cb_gauss *m);
cb_status cb_gauss_moving_residual(cb_gauss *m, double *r, double *norm);
cb_status cb_gauss_moving_matrix(cb_gauss *m, cb_stage_matrix *matrix);
cb_status cb_gauss_moving_correct(cb_gauss *m, const double *step, cb_stage_change *change);

/* |s| = |K| |xi|^2/4 must stay below this: the edge of the chart, and the antipode of a step's start, are at 1. */
#define CB_GAUSS_MOVING_REACH 0.9

/* What the momentum balance makes of the forces: the anchor that pi_i = anchor + h sum_j ap_ij g_j counts from, and the
 * change of momentum over the step. W = h sum_i b_i M(xi_i) (-dV_i), G = h sum_i b_i g_i. */
CB_INLINE void cb_gauss_moving_anchor(int d, double K, bool symmetric, bool balance, const double *e, const double *P0,
                                      const double *W, const double *G, double *anchor, double *dP) {
  const double s = K * cb_dot(d, e, e) / 4;
  double back[CB_DIM_MAX];
  if (balance) {
    cb_moving_carry_back(d, K, e, W, back);
    const double along = symmetric ? 0 : K / 2 * cb_dot(d, e, P0);
    for (int j = 0; j < d; j++) {
      dP[j] = (1 + s) * back[j];
      if (symmetric) {
        anchor[j] = P0[j] / (1 + s) + back[j] / 2;
      } else {
        dP[j] += (2 * s * P0[j] - along * e[j]) / (1 - s);
        anchor[j] = (P0[j] + dP[j]) / (1 + s);
      }
    }
    return;
  }
  for (int j = 0; j < d; j++) {
    anchor[j] = symmetric ? P0[j] / (1 + s) : P0[j];
    dP[j] = (1 + s) * G[j] + (symmetric ? 0 : s * P0[j]);
  }
}
