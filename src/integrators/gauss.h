/* Definitions that the forms of Gauss collocation (integrators/gauss.c) share: the solver, and charts that follow the
 * particles. The forms are in gauss_chart.c, and in gauss_moving.c (equations) with gauss_moving_newton.c.
 *
 * Newton's method has one block of s*dim unknowns per particle, ordered by stage, then by coordinate; s is the number
 * of stages, dim the dimension of the space. In moving charts a unit is one particle in one factor of the space. Stage
 * arrays in charts are [s][n*dim], and those in the embedding are [s][n*k], for n particles with k coordinates each.
 */
#pragma once

#include "core/arena.h"
#include "integrators/iteration.h"
#include "numerics/small.h"
#include "numerics/tableau.h"
#include <curvebody/space.h>

#include <math.h>

typedef struct cb_gauss cb_gauss;

/* One form of the integrator: in a fixed chart, or in charts that follow the particles. The functions return a positive
 * status if a stage cannot be evaluated. */
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

  /* the start and the length of the step that is being made */
  const cb_state *start;
  double h;

  void *self; /* the data of the form */

  /* data of Newton's method, created when they are first needed */
  cb_stage_matrix *matrix;
  double *residual;
  double *jacobian_x, *jacobian_v; /* [pattern entries * k * k]: jacobian_x: dF/dx; jacobian_v: dF/dv */
};

/* Changes CB_ERROR_DOMAIN of a stage to CB_STEP_DOMAIN, because a smaller step may stay in the domain. */
cb_status cb_gauss_stage_status(cb_status status);

/* Creates the matrix; mask and pivots are those of cb_stage_matrix_create (iteration.h). */
cb_status cb_gauss_make_matrix(cb_gauss *m, const bool *mask, const double *pivots);

/* Solves for the stages of the step to round-off or the tolerance. */
cb_status cb_gauss_solve(cb_gauss *m);

/* --- conformal charts that follow a particle, in one factor of curvature K (0: flat), d dimensions, k coordinates ---
 *
 * The chart at c with the orthonormal frame E_c has
 *   x(xi) = ((1-s) c + E_c xi)/(1+s),   s = K|xi|^2/4,   metric |dxi|^2/(1+s)^2.
 * Its centre c has the coordinates e in the same kind of chart at x0 with the frame E. E_c is E transported along the
 * geodesic from x0 to c, so that all quantities are combinations of x0 and E. For a covector phi on the embedding with
 * components f0 = phi(x0), f_j = phi(E_j), and D = 1/(1+s), De = 1/(1+s_e), s_e = K|e|^2/4,
 *   phi(x) = (2D-1) C + D lambda.xi,   C = (2De-1) f0 + De e.f,   lambda = f - K De (f0 + e.f/2) e,
 * and the derivatives below follow from this line. A small transvection that moves c by a moves xi by M(xi) a,
 *   M = (1-s) I + (K/2) xi xi^T,   M^-1 = I/(1-s) - (K/2) xi xi^T/((1-s)(1+s)),
 * where I is the unit matrix. Valid for |s| < 1. Source: Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed.
 * (2006), sections 4.2-4.5.
 */

#define CB_INLINE static inline __attribute__((always_inline))

/* Returns the larger of a and b. It replaces fmax, which would be a function call. A nan is detected elsewhere. */
CB_INLINE double cb_larger(double a, double b) { return a > b ? a : b; }

/* Returns <u,v> of a factor. If the curvature is negative, the last coordinate has a minus sign. */
CB_INLINE double cb_factor_inner(int k, double K, const double *u, const double *v) {
  double sum = cb_dot(k - 1, u, v), last = u[k - 1] * v[k - 1];
  return K < 0 ? sum - last : sum + last;
}

/* Computes an orthonormal frame E[d][k] at x. The results of a step do not depend on the choice of the frame, except
 * for round-off. */
CB_INLINE void cb_moving_frame(int d, int k, double K, const double *x, double *E) {
  if (K == 0) {
    for (int j = 0; j < d; j++)
      for (int a = 0; a < k; a++) E[j * k + a] = a == j;
    return;
  }
  const double r = sqrt(fabs(K)), side = x[k - 1] < 0 ? -r : r, scale = K / (1 + side * x[k - 1]);
  for (int j = 0; j < d; j++) {
    for (int a = 0; a < d; a++) E[j * k + a] = (a == j) - scale * x[j] * x[a];
    E[j * k + d] = K > 0 ? -side * x[j] : side * x[j];
  }
}

/* Returns f0, and writes f_j to f[d], for the covector <F, .>. */
CB_INLINE double cb_moving_components(int d, int k, double K, const double *x0, const double *E, const double *F,
                                      double *f) {
  for (int j = 0; j < d; j++) f[j] = cb_factor_inner(k, K, E + j * k, F);
  return cb_factor_inner(k, K, x0, F);
}

/* Numbers that depend only on the centre of the chart. */
typedef struct cb_moving_centre {
  double e[CB_DIM_MAX], s, D; /* e: coordinates of the centre; s: s_e = K|e|^2/4; D: De = 1/(1 + s_e) */
} cb_moving_centre;

CB_INLINE cb_moving_centre cb_moving_centre_at(int d, double K, const double *e) {
  cb_moving_centre c = {.s = K * cb_dot(d, e, e) / 4};
  for (int j = 0; j < d; j++) c.e[j] = e[j];
  c.D = 1 / (1 + c.s);
  return c;
}

/* Computes the point x(xi) of the embedding. */
CB_INLINE void cb_moving_point(int d, int k, double K, const double *x0, const double *E, const cb_moving_centre *c,
                               const double *xi, double *x) {
  const double s = K * cb_dot(d, xi, xi) / 4, D = 1 / (1 + s), two = 2 * D - 1, along = K * c->D * cb_dot(d, c->e, xi);
  const double alpha = two * (2 * c->D - 1) - D * along;
  double w[CB_DIM_MAX];
  for (int j = 0; j < d; j++) w[j] = two * c->D * c->e[j] + D * (xi[j] - along * c->e[j] / 2);
  for (int a = 0; a < k; a++) {
    double sum = alpha * x0[a];
    for (int j = 0; j < d; j++) sum += w[j] * E[j * k + a];
    x[a] = sum;
  }
}

/* Computes out[d] = d phi(x(xi))/d xi for the covector phi with the components f0 and f. */
CB_INLINE void cb_moving_pull(int d, double K, double f0, const double *f, const cb_moving_centre *c, const double *xi,
                              double *out) {
  const double s = K * cb_dot(d, xi, xi) / 4, D = 1 / (1 + s);
  const double ef = cb_dot(d, c->e, f), C = (2 * c->D - 1) * f0 + c->D * ef, weight = K * c->D * (f0 + ef / 2);
  double lambda[CB_DIM_MAX], L = 0;
  for (int j = 0; j < d; j++) {
    lambda[j] = f[j] - weight * c->e[j];
    L += lambda[j] * xi[j];
  }
  const double radial = -D * D * (K / 2) * (2 * C + L);
  for (int j = 0; j < d; j++) out[j] = radial * xi[j] + D * lambda[j];
}

/* The derivatives of phi(x), where x is the point xi of the chart with the centre e: the first ones in xi and e, the
 * second ones in xi, and the mixed ones in xi and e. */
typedef struct cb_moving_jet {
  double xi[CB_DIM_MAX], e[CB_DIM_MAX]; /* d phi/d xi_a, d phi/d e_a */
  double xi_xi[CB_DIM_MAX][CB_DIM_MAX], xi_e[CB_DIM_MAX][CB_DIM_MAX];
} cb_moving_jet;

static inline void cb_moving_jet_of(int d, double K, double f0, const double *f, const cb_moving_centre *c,
                                    const double *xi, cb_moving_jet *out) {
  const double s = K * cb_dot(d, xi, xi) / 4, D = 1 / (1 + s), De = c->D, ef = cb_dot(d, c->e, f);
  const double C = (2 * De - 1) * f0 + De * ef, half = f0 + ef / 2;
  double dD[CB_DIM_MAX], dDe[CB_DIM_MAX], C_e[CB_DIM_MAX], lambda[CB_DIM_MAX], lambda_e[CB_DIM_MAX][CB_DIM_MAX], L = 0;
  for (int a = 0; a < d; a++) {
    dD[a] = -D * D * (K / 2) * xi[a];
    dDe[a] = -De * De * (K / 2) * c->e[a];
    C_e[a] = (2 * f0 + ef) * dDe[a] + De * f[a];
    lambda[a] = f[a] - K * De * half * c->e[a];
    L += lambda[a] * xi[a];
  }
  for (int a = 0; a < d; a++)
    for (int b = 0; b < d; b++)
      lambda_e[a][b] = -K * ((a == b ? De * half : 0) + c->e[a] * (De * f[b] / 2 + half * dDe[b]));
  for (int b = 0; b < d; b++) {
    double L_e = 0;
    for (int a = 0; a < d; a++) L_e += xi[a] * lambda_e[a][b];
    out->xi[b] = (2 * C + L) * dD[b] + D * lambda[b];
    out->e[b] = (2 * D - 1) * C_e[b] + D * L_e;
    for (int a = 0; a < d; a++) {
      const double ddD = (a == b ? -D * D * K / 2 : 0) + D * D * D * (K * K / 2) * xi[a] * xi[b];
      out->xi_xi[a][b] = (2 * C + L) * ddD + dD[a] * lambda[b] + lambda[a] * dD[b];
      out->xi_e[a][b] = dD[a] * (2 * C_e[b] + L_e) + D * lambda_e[a][b];
    }
  }
}

/* cb_moving_carry computes out = M(xi) y, cb_moving_carry_back computes out = M(xi)^-1 y. */
CB_INLINE void cb_moving_carry(int d, double K, const double *xi, const double *y, double *out) {
  const double s = K * cb_dot(d, xi, xi) / 4, along = K / 2 * cb_dot(d, xi, y);
  for (int j = 0; j < d; j++) out[j] = (1 - s) * y[j] + along * xi[j];
}

CB_INLINE void cb_moving_carry_back(int d, double K, const double *xi, const double *y, double *out) {
  const double s = K * cb_dot(d, xi, xi) / 4, along = K / 2 * cb_dot(d, xi, y) / (1 + s);
  for (int j = 0; j < d; j++) out[j] = (y[j] - along * xi[j]) / (1 - s);
}

/* Computes the increments dx = x1 - x0 and dp = p1 - p0 of a step that ends at theta in the chart at x0. The momentum
 * at the end has the components P0 + dP in the frame E transported there. */
CB_INLINE void cb_moving_end(int d, int k, double K, const double *x0, const double *E, const double *theta,
                             const double *P0, const double *dP, double *dx, double *dp) {
  const double s = K * cb_dot(d, theta, theta) / 4, D = 1 / (1 + s);
  const double turn = K * D * (cb_dot(d, theta, P0) + cb_dot(d, theta, dP));
  for (int a = 0; a < k; a++) {
    double along = 0, change = 0;
    for (int j = 0; j < d; j++) {
      along += theta[j] * E[j * k + a];
      change += dP[j] * E[j * k + a];
    }
    dx[a] = K == 0 ? along : D * (along - 2 * s * x0[a]);
    dp[a] = K == 0 ? change : change - turn * (x0[a] + along / 2);
  }
}

/* --- definitions that gauss_moving.c and gauss_moving_newton.c share --- */

typedef struct cb_moving_factor {
  double K;
  int d, k;                 /* d: dimension of the factor; k: number of its coordinates in the embedding */
  int at_d, at_k, at_frame; /* where the factor begins in the arrays of a particle: in charts, in the embedding, and in
                             * its frame */
} cb_moving_factor;

typedef struct cb_gauss_moving {
  int n_factors, frame; /* frame: how many numbers the frames of one particle have */
  cb_moving_factor factor[CB_FACTOR_MAX];
  size_t count, points; /* count: n*dim; points: n*k */
  double *xi, *u;       /* coordinates and d xi/dt at the stages */
  double *x, *F, *v;    /* values at the stages in the embedding: x: points; F: forces; v: velocities, only with
                         * damping */
  double *f0, *f;       /* components of the forces: f0[s][n*factors] along x0, f[s][n*dim] in the frame */
  double time[CB_STAGES_MAX];
  const double *x_at[CB_STAGES_MAX], *v_at[CB_STAGES_MAX]; /* [s]: where each stage begins in x, v and F */
  double *F_at[CB_STAGES_MAX];
  double *E, *P0; /* E: the frame of each particle at the start of the step; P0: the components of its momentum there */
  /* e: coordinates in the chart at x0. In the symmetric form they are eta, the coordinates of the centre of the step's
   * chart; otherwise they are xi_1, the coordinates of the end of the step (gauss_moving.c). dP: the change of
   * momentum, in the frame transported to the end of the step. */
  double *e, *dP;
  double *dx, *dp; /* the changes of position and momentum of the state in the step */
  double position; /* the largest absolute value of a coordinate of the state */
  /* The coefficients of a step, with the symbols of gauss_moving.c (u_j = dxi/dt and the force g_j at stage j):
   * xi_i = h sum_j aq_ij u_j and the coordinates e of the chart's centre or of the end, h sum_j (beta_j + beta_low_j)
   * u_j; pi_i is a constant of the step + h sum_j ap_ij g_j. beta_low_j is the low-order part of the coefficient. */
  double aq[CB_STAGES_MAX][CB_STAGES_MAX], ap[CB_STAGES_MAX][CB_STAGES_MAX];
  double beta[CB_STAGES_MAX], beta_low[CB_STAGES_MAX];
  cb_predictor *predictor;
  struct cb_moving_newton *newton;
} cb_gauss_moving;

/* Returns the centre of the chart: the point with the coordinates e in the symmetric form, otherwise x0. */
static inline cb_moving_centre cb_gauss_moving_centre(const cb_gauss *m, const cb_moving_factor *f, const double *e) {
  static const double origin[CB_DIM_MAX];
  return cb_moving_centre_at(f->d, f->K, m->symmetric ? e : origin);
}

/* Computes the points of the stages from xi, u and e (and velocities, where forces use them), the forces there, and
 * their components. */
cb_status cb_gauss_moving_forces(cb_gauss *m);
/* Fails with CB_STEP_DOMAIN for this particle, whose coordinates are too large for a chart. */
cb_status cb_gauss_moving_too_far(cb_gauss *m, int particle);

cb_status cb_gauss_moving_prepare_newton(cb_gauss *m);
cb_status cb_gauss_moving_residual(cb_gauss *m, double *r, double *norm);
cb_status cb_gauss_moving_matrix(cb_gauss *m, cb_stage_matrix *matrix);
cb_status cb_gauss_moving_correct(cb_gauss *m, const double *step, cb_stage_change *change);

/* |s| = |K| |xi|^2/4 must stay below this. At |s| = 1 the chart ends if K < 0, and M(xi) has no inverse if K > 0. */
#define CB_GAUSS_MOVING_REACH 0.9

/* Computes the anchor in pi_i = anchor + h sum_j ap_ij g_j, and the change dP of momentum in the step. With `balance`
 * they contain the correction of momenta and follow from W = h sum_i b_i M(xi_i) (-dV_i). Otherwise they follow from G
 * = h sum_i b_i g_i. The symbols are those of gauss_moving.c. */
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
