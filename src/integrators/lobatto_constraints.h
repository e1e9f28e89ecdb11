/* Positional constraints in Lobatto IIIA-IIIB in the embedding, in addition to the constraints of the space:
 *
 *   P_i = p0 + h sum_j a^_ij (F_j - Lambda_j X_j - I^-1 G_j^T lambda_j),  g(t_i, X_i) = 0, i = 2..s,
 *   and the last multiplier from rate(t1, x1, v1) = 0.
 *
 * with the multipliers lambda_j, the gradients G_j = dg/dx at X_j, I = diag(form), and the other symbols of
 * lobatto_embedding.c. A sweep corrects lambda by a Newton step with
 *   d g(X_i) / d (h^2 lambda_k) = -W_ik T_i.T_k / m,   T the tangential gradients at the predicted stages.
 * This matrix is dense and factored once per step if (s-1) times the number of rows is at most CB_LOBATTO_DENSE;
 * otherwise it is replaced by the Kronecker product of W and S, with S = T.T/m of the middle stage. The neglected part
 * is of the order of the error of the prediction, or of h, times the correction.
 *
 * Source: Jay, SIAM J. Numer. Anal. 33 (1996) 368, doi:10.1137/0733019 (the integrator); the iteration is this
 * project's.
 */
#pragma once

#include "integrators/lobatto.h"
#include "integrators/iteration.h"
#include <curvebody/constraint.h>
#include "dynamics/gram.h"

typedef struct cb_lobatto_constraints cb_lobatto_constraints;

/* Makes the data of the constraints. *out becomes NULL if the system has no constraints. */
cb_status cb_lobatto_constraints_create(cb_integrator *in, const cb_lobatto *l, cb_lobatto_constraints **out);
void cb_lobatto_constraints_free(cb_lobatto_constraints *c);

/* Begins a step. The multipliers are extrapolated from the last step if it had the same length, and otherwise computed
 * from the state; the constraint forces are added to l->F[0], the force at x0. */
cb_status cb_lobatto_constraints_begin(cb_lobatto_constraints *c, cb_lobatto *l, double t, const cb_state *state,
                                       double h);
/* Makes the matrix of the sweeps, after the prediction of the stages. */
cb_status cb_lobatto_constraints_prepare(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h);
/* Corrects the multipliers by a Newton step from the values g(X_i), and adds the constraint forces to the forces
 * l->F[k], k < s-1. */
cb_status cb_lobatto_constraints_sweep(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h);
/* --- functions for Newton's method (lobatto_newton.c), which has the additional unknowns y = h^2 lambda --- */

/* Returns whether there are few enough constraints for a border around the matrix of the stages: one additional row and
 * column per multiplier. */
bool cb_lobatto_constraints_bordered(const cb_lobatto_constraints *c);
/* Allocates the memory of cb_lobatto_constraints_pulls and cb_lobatto_constraints_border, for `block` unknowns per
 * particle. Must be called once before them. */
cb_status cb_lobatto_constraints_reserve(cb_lobatto_constraints *c, cb_integrator *in, const cb_lobatto *l, int block);
/* Adds the constraint forces to the forces, and stores g(X_i). If dx is not NULL, also adds the derivatives of the
 * constraint forces to those of the forces, dx[stage], which are in the order of the pattern of the forces. */
cb_status cb_lobatto_constraints_pulls(cb_lobatto_constraints *c, cb_integrator *in, cb_lobatto *l, double t, double h,
                                       double *const *dx);
/* Applies the border to the solution; `fresh`: factors the border again. On entry rhs[n*block] is the solution of the
 * matrix without border, on return the solution of the complete system. The multipliers are updated. The places of the
 * unknowns are those of lobatto_newton.c: D_i from (i-1)*k, Q_i from q + i*k (q == block: none). */
cb_status cb_lobatto_constraints_border(cb_lobatto_constraints *c, const cb_lobatto *l, cb_stage_matrix *matrix,
                                        int block, int q, double h, bool fresh, double *rhs);

/* Computes the gradients at the end of the step, and the constraint force of the last stage from a guess, before the
 * state changes. */
cb_status cb_lobatto_constraints_end(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h);
/* Completes dp[n*k] (the change of p0) so that rate(t1, x1, p1/m) = 0. */
cb_status cb_lobatto_constraints_close(cb_lobatto_constraints *c, cb_lobatto *l, double t, const double *x1,
                                       const double *p0, double h, double *dp);
/* cb_lobatto_constraints_forget discards the data of the last step. cb_lobatto_constraints_moved applies to these data
 * an isometry that has moved the coordinates of a component. */
void cb_lobatto_constraints_forget(cb_lobatto_constraints *c);
void cb_lobatto_constraints_moved(cb_lobatto_constraints *c, const cb_integrator *in, int component,
                                  const cb_isometry *isometry);

/* The maximum number of unknown multipliers for a dense matrix of all stages in sweeps, and for the border in Newton's
 * method. */
enum { CB_LOBATTO_DENSE = 24, CB_LOBATTO_BORDER = 160 };

/* A rod whose row is computed from the square of its chord e = x_i - x_j. The difference of <e,e> at a stage from its
 * required value follows from the displacements D of its ends, with the round-off of D and not of x. The value of the
 * row is slope (<e,e> - square). */
typedef struct cb_chord {
  int i, j;
  double e[CB_COORD_MAX];
  double excess; /* <e,e> - square at the state, in double-double precision */
  double square, slope;
} cb_chord;

struct cb_lobatto_constraints {
  cb_arena *arena;
  const cb_system *system;
  const cb_space *space;
  cb_constraints *c;
  cb_gram *gram;
  const cb_rows *rows;
  int m, entries, size;                  /* m: number of rows; entries: number of their entries; size: m*(s-1) */
  double *raw;                           /* the force at the state, without constraint forces */
  double *lambda[CB_LOBATTO_MAX];        /* [m]: the multipliers at each stage */
  double *G[CB_LOBATTO_MAX];             /* [entries*k]: gradients of the rows at the stages */
  double *T[CB_LOBATTO_MAX];             /* tangential parts of these gradients, as vectors */
  double *g;                             /* [(s-1)*m]: values g of the rows at the stages 2 .. s */
  cb_chord *chord;                       /* [m]: the chord of each row that is a rod; for all other rows slope is 0 */
  bool dense, has_history, has_gradient; /* has_gradient: G[0] holds the gradients at the state */
  double h;
  double *matrix;
  int *pivot;
  double *velocity, *y;

  /* data of Newton's method: created when first used */
  double *border; /* [m*(s-1)][n*block]: N^-1 B; N: the matrix without border, B: its additional columns */
  /* schur[(m*(s-1))^2]: C N^-1 B with the additional rows C; blocks: scratch for blocks in the pattern of the forces */
  double *schur, *blocks;
};
