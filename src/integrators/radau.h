/* Definitions shared by the files of Radau IIA with constraints. The equations are in integrators/radau_iia.c.
 *
 * Arrays of stages are [s][count], count = n*k; arrays of rows are [s][R], and gradients are [s][entries].
 * s: number of stages; n: number of particles; k: number of coordinates per particle; h: length of the step; x0, v0:
 * positions and velocities at its start; X, V: those of the stages; F: forces; g(t, x) = 0: the constraints, with R
 * rows; G = dg/dx: gradients; lambda, mu: multipliers; W: (m I)^-1 with the mass m and I = diag(form), in a chart (m
 * g_ij)^-1.
 */
#pragma once

#include "dynamics/gram.h"
#include "dynamics/chart_dynamics.h"
#include "integrators/iteration.h"
#include "numerics/sparse.h"
#include "numerics/tableau.h"

enum { CB_RADAU_MAX = 5 };

/* Where a positional row is satisfied. POSITION: at all stages; GGL: at all stages, with its rate; VELOCITY: at the
 * end, with its rate; ACCELERATION: at the end, with its first two derivatives. */
typedef enum cb_radau_index {
  CB_RADAU_POSITION,
  CB_RADAU_GGL,
  CB_RADAU_VELOCITY,
  CB_RADAU_ACCELERATION
} cb_radau_index;

typedef struct cb_radau_newton cb_radau_newton;

typedef struct cb_radau {
  cb_arena *arena;
  cb_integrator *integrator;
  cb_forces *forces;
  const cb_space *g;
  const double *mass;
  cb_tableau tableau;
  double inverse_a[CB_RADAU_MAX][CB_RADAU_MAX]; /* the inverse of the matrix A = (a_ij) */
  /* the inverse of the matrix that maps the lambda_j of a row of position to the conditions of this row */
  double from_rows[CB_RADAU_MAX][CB_RADAU_MAX];
  int s, n, k;
  size_t count;
  bool chart, damped, compensated, published; /* published: the option `form: velocity` is set */
  cb_radau_index index;
  cb_solver_choice solver;
  int max_iterations;
  double tolerance;        /* relative tolerance of the stages; 0: they are iterated to round-off */
  double noise;            /* the noise of the stages, in units of round-off of the coordinates */
  cb_predictor *predictor; /* the predictor of `rates` */

  /* the rows of the system and of the space; R = 0: there are no rows, and constraints, rows and gram are NULL */
  cb_constraints *constraints;
  const cb_rows *rows;
  cb_gram *gram;
  int R;
  size_t entries; /* how many numbers G has for one stage */
  /* no row is a velocity row or depends on the time, so that the rate of every row is G v */
  bool plain;

  /* the start and the length of the step that is being made */
  const cb_state *start;
  double h;
  double *v0;
  cb_stage_change moved; /* the change in the last correction of Newton's method */

  double *X, *V, *F;         /* at the stages: X: positions; V: velocities; F: forces */
  double *D, *E;             /* D: X - x0; E: V - v0 */
  double *rates;             /* [s][count + R]: dv/dt and lambda, in one array for the predictor */
  double *mu;                /* [s][R]: the multipliers mu of CB_RADAU_GGL, otherwise NULL */
  double *g_rows, *rate, *G; /* g_rows: g; rate: its rate at (X, V); G: its gradient */
  double *gamma;             /* [R]: the part of d2g/dt2 at the last stage that does not depend on accelerations; only
                              * for CB_RADAU_ACCELERATION */
  double *lift, *drift;      /* lift: [count], scratch; drift: [s][count], W G^T mu, NULL without mu */
  double *y, *z;             /* [s][R]: y: corrections of lambda; z: corrections of mu */
  double *inverse;           /* [s][n*d*d], only in a chart: the inverse metric g^-1 at the stages */
  double *next;              /* [2][s][count]: E and D after the next pass of the iteration */
  double *multiplier;        /* [R]: the multipliers at the end of the last step */
  cb_radau_newton *newton;
} cb_radau;

static inline double *cb_radau_rate(const cb_radau *m, int i) {
  return m->rates + (size_t)i * (m->count + (size_t)m->R);
}
static inline double *cb_radau_lambda(const cb_radau *m, int i) { return cb_radau_rate(m, i) + m->count; }
static inline double *cb_radau_of(const cb_radau *m, double *stages, int i) { return stages + (size_t)i * m->count; }
static inline double *cb_radau_row(const cb_radau *m, double *rows, int i) { return rows + (size_t)i * (size_t)m->R; }

/* --- radau_solve.c --- */
/* Predicts the stages from past steps, or from the state if there are none. With `newton`, the prediction from the
 * state leaves out the forces. */
cb_status cb_radau_predict(cb_radau *m, bool newton);
/* Evaluates X, V, F, g, G and rates at (x0 + D, v0 + E), then dv/dt with the multipliers lambda, and the drift W G^T
 * mu. */
cb_status cb_radau_evaluate(cb_radau *m);
/* Computes out[R] = G_i v with the gradients G_i of stage i. */
void cb_radau_along(const cb_radau *m, int i, const double *v, double *out);
/* Sets the state and the multipliers at the end of the step. */
cb_status cb_radau_finish(cb_radau *m, cb_state *state);
cb_status cb_radau_status(cb_status status);
cb_status cb_radau_solve(cb_radau *m);

/* --- radau_newton.c --- */
cb_status cb_radau_newton_create(cb_radau *m);
void cb_radau_newton_free(cb_radau_newton *w);
/* Returns the residual after the last call of cb_radau_evaluate; its length is cb_radau_unknowns. */
double *cb_radau_residual(cb_radau *m);
int cb_radau_unknowns(const cb_radau *m);
/* Writes the derivative of the residual to the matrix. */
cb_status cb_radau_matrix(cb_radau *m);
cb_sparse *cb_radau_sparse(const cb_radau *m);
/* Returns the largest change of a position, or of h times a velocity, in a correction; infinite if the correction is
 * not finite. */
double cb_radau_size(const cb_radau *m, const double *step);
/* Subtracts scale * step from the unknowns. */
void cb_radau_correct(cb_radau *m, const double *step, double scale, cb_stage_change *change);
double *cb_radau_last(const cb_radau *m); /* [unknowns], memory for a correction */

/* Data of Newton's method. Stage i has the unknowns, from i*each on,
 *   D_i [count], h E_i [count], h^2 lambda_i [R] and, with `ggl`, h mu_i [R];
 * the equations are in the same order. */
struct cb_radau_newton {
  int each, unknowns;
  const cb_pattern *pattern;
  size_t blocks;                     /* number of doubles in the blocks of the pattern */
  double *by_x, *by_v, *by_l, *by_m; /* [blocks], for one stage: by_x: dF/dx; by_v: dF/dv; by_l: d(G^T lambda)/dx; by_m:
                                      * d(G^T mu)/dx */
  double *rate_x, *gamma_x;          /* [entries]: derivatives in x of rate and gamma of one stage */
  double *mean, *probe, *away;       /* mean: [count], G^T lambda; probe[count] and away[entries]: scratch */
  double *residual, *last;           /* [unknowns]: the residual, and the last correction */
  cb_sparse *matrix;
  cb_entries entries; /* the entries of the matrix */
};
