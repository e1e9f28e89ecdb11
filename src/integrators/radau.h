/* Radau IIA with constraints: what its files share. See integrators/radau_iia.c for the method and its equations.
 *
 * Arrays of stages are [s][count], count = n*k; those of rows [s][R], gradients [s][entries*k].
 */
#pragma once

#include "dynamics/gram.h"
#include "dynamics/chart_dynamics.h"
#include "integrators/iteration.h"
#include "integrators/predictor.h"
#include "integrators/solver.h"
#include "numerics/entries.h"
#include "numerics/sparse.h"
#include "numerics/tableau.h"

enum { CB_RADAU_MAX = 5 };

/* Where a row of position is satisfied: at all stages by itself, at all stages with its rate, or at the end with its
 * first or its first two derivatives. */
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
  const cb_geometry *g;
  const double *mass;
  cb_tableau tableau;
  double inverse_a[CB_RADAU_MAX][CB_RADAU_MAX];  /* A^-1 */
  double from_rows[CB_RADAU_MAX][CB_RADAU_MAX];  /* K^-1: what the conditions of a row of position ask of S lambda_j */
  int s, n, k;
  size_t count;
  bool chart, damped, compensated, published; /* published: `form: velocity` */
  cb_radau_index index;
  cb_solver_choice solver;
  int max_iterations;
  double tolerance; /* 0: round-off */
  double noise;     /* of the stages, in units of round-off of the coordinates */
  cb_predictor *predictor; /* of `rates` */

  /* rows: those of the system and of the space; R = 0: none, and constraints, rows and gram are NULL */
  cb_constraints *constraints;
  const cb_rows *rows;
  cb_gram *gram;
  int R;
  size_t entries; /* numbers in G of a stage */
  bool plain;     /* every rate is G v */

  /* the step being made */
  const cb_state *start;
  double h;
  double *v0;
  cb_stage_change moved; /* by the last correction of Newton's method */

  double *X, *V, *F;                /* positions, velocities, forces */
  double *D, *E;                    /* X - x0 and V - v0 */
  double *rates;                    /* [s][count + R]: dv/dt and lambda, together for the predictor */
  double *mu;                       /* of Gear, Gupta & Leimkuhler, else NULL */
  double *g_rows, *rate, *G;        /* g, its rate at (X, V), its gradient */
  double *gamma;                    /* [R] at the last stage, `acceleration` only */
  double *lift, *drift;             /* [count] scratch; [s][count] W G^T mu, or NULL */
  double *y, *z;                    /* [s][R] corrections of lambda and mu */
  double *inverse;                  /* charts: [s][n*d*d] g^-1 */
  double *next;                     /* [2][s][count]: E and D to come */
  double *multiplier;               /* [R] of the last step */
  cb_radau_newton *newton;
} cb_radau;

static inline double *cb_radau_rate(const cb_radau *m, int i) {
  return m->rates + (size_t)i * (m->count + (size_t)m->R);
}
static inline double *cb_radau_lambda(const cb_radau *m, int i) { return cb_radau_rate(m, i) + m->count; }
static inline double *cb_radau_of(const cb_radau *m, double *stages, int i) { return stages + (size_t)i * m->count; }
static inline double *cb_radau_row(const cb_radau *m, double *rows, int i) { return rows + (size_t)i * (size_t)m->R; }

/* --- radau_stages.c --- */
/* Stages to begin with: from past steps, else from the state (newton: without its forces). */
cb_status cb_radau_predict(cb_radau *m, bool newton);
/* At (x0 + D, v0 + E): X, V, F, g, G, rates, and with them dv/dt under lambda and the drift W G^T mu. */
cb_status cb_radau_evaluate(cb_radau *m);
/* out[count] = W G_i^T y */
void cb_radau_lift(const cb_radau *m, int i, const double *y, double *out);
/* out[R] = G_i v */
void cb_radau_along(const cb_radau *m, int i, const double *v, double *out);
/* out[count] = h sum_j a_ij value_j; stride: from value_j to value_j+1 */
void cb_radau_sum(const cb_radau *m, const double *a, const double *value, size_t stride, double *out);
/* The end of the step into the state, and its multipliers. */
cb_status cb_radau_finish(cb_radau *m, cb_state *state);
cb_status cb_radau_status(cb_status status);

/* --- radau_solve.c --- */
cb_status cb_radau_solve(cb_radau *m);

/* --- radau_sweep.c --- */
/* One pass; the first of a step factors the Gram matrix. */
cb_status cb_radau_sweep(cb_radau *m, bool first, cb_stage_change *change);

/* --- radau_newton.c --- */
cb_status cb_radau_newton_create(cb_radau *m);
void cb_radau_newton_free(cb_radau_newton *w);
/* The residual where cb_radau_evaluate was called last; its length is cb_radau_unknowns. */
double *cb_radau_residual(cb_radau *m);
int cb_radau_unknowns(const cb_radau *m);
/* Its derivative there, to the matrix. */
cb_status cb_radau_matrix(cb_radau *m);
cb_sparse *cb_radau_sparse(const cb_radau *m);
/* Largest move of a position, or of h times a velocity, in a correction; infinite where it is not finite. */
double cb_radau_size(const cb_radau *m, const double *step);
/* The unknowns less scale * step. */
void cb_radau_correct(cb_radau *m, const double *step, double scale, cb_stage_change *change);
double *cb_radau_last(const cb_radau *m); /* [unknowns] room for a correction */

/* Shared by radau_newton.c and radau_matrix.c. Stage i has the unknowns, from i*each on,
 *   D_i [count], h E_i [count], h^2 lambda_i [R] and, with `ggl`, h mu_i [R];
 * equations stand in the same order. */
struct cb_radau_newton {
  int each, unknowns;
  const cb_pattern *pattern;
  size_t blocks;                       /* numbers in the blocks of the pattern */
  double *by_x, *by_v, *by_l, *by_m;   /* [blocks] of one stage: dF/dx, dF/dv, d(G^T lambda)/dx, d(G^T mu)/dx */
  double *rate_x, *gamma_x;            /* [entries] of one stage */
  double *mean, *probe, *away;         /* [count]: G^T lambda; scratch; [entries] scratch */
  double *residual, *last;             /* [unknowns]: and the last correction */
  cb_sparse *matrix;
  cb_entries entries; /* of the matrix */
};

/* Adds all numbers of the matrix. free: without forces, as for short steps. */
cb_status cb_radau_add_all(cb_radau *m, bool free);
