/* Constraints of position in Lobatto IIIA-IIIB in the embedding, beside those of the space:
 *
 *   P_i = p0 + h sum_j a^_ij (F_j - Lambda_j X_j - I^-1 G_j^T lambda_j),  g(t_i, X_i) = 0, i = 2..s,
 *   and the last multiplier from rate(t1, x1, v1) = 0.
 *
 * A sweep corrects lambda by a Newton step with
 *   d g(X_i) / d (h^2 lambda_k) = -W_ik T_i.T_k / m,   T the tangential gradients at the predicted stages,
 * kept dense and factored once a step where (s-1) rows are few, else W (x) S with S = T.T/m of the middle stage. What
 * is neglected is of the order of the prediction's error, or of h, times the correction.
 *
 * Source: Jay, SIAM J. Numer. Anal. 33 (1996) 368, doi:10.1137/0733019 (the method); the iteration is this project's.
 */
#pragma once

#include "integrators/lobatto.h"
#include "integrators/stage_matrix.h"
#include <curvebody/constraint.h>
#include "dynamics/gram.h"

typedef struct cb_lobatto_constraints cb_lobatto_constraints;

/* NULL in *out where the system has no constraints. */
cb_status cb_lobatto_constraints_create(cb_integrator *in, const cb_lobatto *l, cb_lobatto_constraints **out);
void cb_lobatto_constraints_free(cb_lobatto_constraints *c);

/* Begins a step: multipliers extrapolated from the last step, or those of the state if there was none; l->F[0] is the
 * force at x0 and gets its pulls. */
cb_status cb_lobatto_constraints_begin(cb_lobatto_constraints *c, cb_lobatto *l, double t, const cb_state *state,
                                       double h);
/* After the prediction of the stages: the matrix of the sweeps. */
cb_status cb_lobatto_constraints_prepare(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h);
/* Corrects the multipliers by g(X_i) and adds the pulls to the forces l->F[k], k < s-1. */
cb_status cb_lobatto_constraints_sweep(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h);
/* --- in Newton's method (lobatto_newton.c), with y = h^2 lambda unknown beside the others --- */
/* Are they few enough for a border about the matrix of the stages? */
bool cb_lobatto_constraints_bordered(const cb_lobatto_constraints *c);
/* Takes the memory that the following two need, once, for blocks of this many unknowns a particle. */
cb_status cb_lobatto_constraints_reserve(cb_lobatto_constraints *c, cb_integrator *in, const cb_lobatto *l, int block);
/* Adds pulls to the forces and, where dx[stage] (in the order of the forces' pattern) is not NULL, their derivatives
 * to those of the forces; keeps g(X_i). */
cb_status cb_lobatto_constraints_pulls(cb_lobatto_constraints *c, cb_integrator *in, cb_lobatto *l, double t, double h,
                                       double *const *dx);
/* The border's part of the solution: factors it anew where `fresh`, changes rhs[n*block], the solution of the matrix
 * alone, into that of the whole, and the multipliers. Places of unknowns as in lobatto_newton.c: D_i from (i-1)*k, Q_k
 * from q + k*k (q == block: none). */
cb_status cb_lobatto_constraints_border(cb_lobatto_constraints *c, const cb_lobatto *l, cb_stage_matrix *matrix,
                                        int block, int q, double h, bool fresh, double *rhs);

/* Before the state is touched: gradients at the end of the step, and the last stage's pull by a guess. */
cb_status cb_lobatto_constraints_end(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h);
/* Completes dp[n*k] (the change of p0) so that rate(t1, x1, p1/m) = 0. */
cb_status cb_lobatto_constraints_close(cb_lobatto_constraints *c, cb_lobatto *l, double t, const double *x1,
                                       const double *p0, double h, double *dp);
/* What was kept of the last step no longer holds; its coordinates were moved by an isometry. */
void cb_lobatto_constraints_forget(cb_lobatto_constraints *c);
void cb_lobatto_constraints_moved(cb_lobatto_constraints *c, const cb_integrator *in, int component,
                                  const cb_isometry *isometry);

/* What the constraints of Lobatto hold. */

/* Up to this many unknown multipliers the matrix of all stages is kept dense in sweeps, and bordered in Newton's
 * method. */
enum { CB_LOBATTO_DENSE = 24, CB_LOBATTO_BORDER = 160 };

/* A rod by the square of its chord, e = x_i - x_j: <e,e> of a stage less what it is kept at, from the moves D of its
 * ends, with an error of round-off of D and not of x. */
typedef struct cb_chord {
  int i, j;
  double e[CB_COORD_MAX];
  double excess; /* <e,e> at the state less `square`, in twice the precision */
  double square, slope;
} cb_chord;

struct cb_lobatto_constraints {
  cb_arena *arena;
  const cb_system *system;
  const cb_geometry *space;
  cb_constraints *c;
  cb_gram *gram;
  const cb_rows *rows;
  int m, entries, size;                  /* rows, entries, m*(s-1) */
  double *raw;                           /* force at the state, without pulls */
  double *lambda[CB_LOBATTO_MAX];        /* [m] of the stages */
  double *G[CB_LOBATTO_MAX];             /* gradients at the stages, [entries*k] */
  double *T[CB_LOBATTO_MAX];             /* raised tangential gradients */
  double *g;                             /* [(s-1)*m] */
  cb_chord *chord;                       /* [m]; slope 0: not a rod by its chord */
  bool dense, has_history, has_gradient; /* G[0] is that of the state */
  double h;
  double *matrix;
  int *pivot;
  double *velocity, *y;

  /* Newton's method: made when first used */
  double *border;         /* [m*(s-1)][n*block]: the matrix' inverse on the columns of y */
  double *schur, *blocks; /* [(m*(s-1))^2]; of the forces' pattern */
};

/* d - D of the rods at a stage, over what the plain distance gave in out[m]. */
void cb_lobatto_constraints_chords(const cb_lobatto_constraints *c, const cb_lobatto *l, double t, int stage,
                                   double *out);
