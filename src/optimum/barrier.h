/* Walls in a direct search: a logarithmic barrier at the nodes of its basis, and its primal-dual Hessian.
 *
 *   b(c) = -tau sum_q w_q sum_k log s_k(r_q),   r_q = sum_a c_a phi_a(t_q)
 *   b' = -tau sum w s'/s,   b'' ~ sum w (z/s s's'^T - z s''),   z -> tau/s as Newton's method settles
 * With z of its own, tau may fall by a decade at once. The error of what is sought is about tau times the share of time
 * that is spent at walls. Between nodes nothing is kept: a corner of a wall that points inwards is cut there.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), chapter 19, doi:10.1007/978-0-387-40065-5.
 */
#pragma once

#include "optimum/basis.h"
#include "optimum/wall.h"

typedef struct cb_barrier {
  cb_walls *walls;       /* own */
  const cb_basis *basis; /* borrowed */
  int n;
  double tau, soft;         /* tau 0: none; of wall.h */
  double value;             /* b at the shapes that were last asked */
  double *s, *ds, *dds, *z; /* at the nodes, [nodes][count]..., where slopes were last asked */
  double *trial;            /* s at the nodes, where they were not */
  struct cb_arena *arena;
} cb_barrier;

/* *out is NULL where the problem has no walls. The caller frees. */
cb_status cb_barrier_create(const cb_optimum_problem *o, const cb_basis *basis, cb_barrier **out);
void cb_barrier_free(cb_barrier *b);

/* value (infinite where a shape is not within), and s, ds, dds with slopes, at shapes r[nodes][n]. */
cb_status cb_barrier_at(cb_barrier *b, const double *r, bool slopes);
/* Sets z to tau/s, or keeps it within decades of that. */
void cb_barrier_begin(cb_barrier *b, bool afresh);
/* Added to g[n functions] and H[.. columns]. */
void cb_barrier_gradient(const cb_barrier *b, double *g);
void cb_barrier_hessian(const cb_barrier *b, int columns, double *H);
/* The longest part of a step that keeps a part of every s, as far as slopes tell; then z after a part of it. */
double cb_barrier_reach(const cb_barrier *b, const double *step);
void cb_barrier_follow(cb_barrier *b, const double *step);

/* The least s at the nodes of the gait of c. */
double cb_barrier_least(cb_barrier *b, const double *c);
/* Scales the gait c towards a shape within until it is within. CB_STEP_NO_CONVERGENCE where none is found. */
cb_status cb_barrier_enter(cb_barrier *b, const double *base, double *c);
