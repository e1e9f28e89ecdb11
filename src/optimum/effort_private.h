/* Types and functions that the files of the cost of torques share. As in effort.h: r: shape; M: metric; A: connection;
 * P: inertia of the locked body; g: group element; mu: momentum in the body frame, mu_0 at the start; tau: torques. */
#pragma once

#include "numerics/small.h"
#include "optimum/effort.h"
#include "optimum/reduced.h"
#include "optimum/variation_private.h"

#include <math.h>
#include <string.h>

enum { N = CB_SHAPE_MAX, D = CB_GROUP_DIM, FORM_MAX = D + N };

/* The inertia of the locked body at a shape, and the connection, for motions with momentum. */
typedef struct cb_effort_locked {
  double A[D * N], dA[N * D * N], inverse[D * D], dP[N * D * D]; /* inverse: P^-1; dP: dP/dr */
} cb_effort_locked;

struct cb_effort_work {
  cb_arena *arena;
  double *c;                      /* [unknowns]: the coefficients of the latest evaluation */
  double *curve;                  /* [nodes][n]: the second derivative of r by time/duration */
  double *ddM, *around[2];        /* [n][n][n][n]: ddM: second derivatives of M at a node; around: scratch for ddM near
                                   * this node */
  cb_effort_locked *at;           /* [nodes]: inertia and connection at each node; NULL without momentum */
  double *pull, *lambda, *big[2]; /* [nodes][dim], [nodes][dim] and [nodes][3 n + dim][unknowns]: work arrays for the
                                   * Hessian of a motion with momentum (effort_momentum.c) */
  double *y;                      /* [nodes][dim][unknowns]: derivatives of the change y of the group element by the
                                   * coefficients */
  double *node, *left;            /* [nodes][3 n][3 n] and [nodes][functions]: work arrays for the Hessian at momentum
                                   * 0 */
};

/* The torques at a node, and their derivatives in x = (r, r', r'') and in mu. Rates are those in the time from 0 to 1.
 */
typedef struct cb_effort_node {
  double tau[N], x[N][3 * N], mu[N][D];
} cb_effort_node;

/* t, v: the first derivatives of the cost at a node by the torque and by the rate of one variable; tt, tv, vv: the
 * second derivatives. */
typedef struct cb_effort_price {
  double t, v, tt, tv, vv;
} cb_effort_price;

/* Computes the torques at node q and, with slopes, their derivatives. */
cb_status cb_effort_node_at(cb_variation *v, int q, bool slopes, cb_effort_node *out);
/* Returns the cost of variable i at a node, and computes its derivatives. The cost is infinite beyond the limit of the
 * torque. */
double cb_effort_price_of(const cb_effort *e, int i, double tau, double v, cb_effort_price *d);

/* --- motions with momentum (effort_momentum.c) --- */

/* Fills the inverse of P and the derivatives of P at the shape r. */
cb_status cb_effort_lock(const cb_bundle *b, const double *r, cb_effort_locked *at);
/* Adds the torques that are due to the momentum at node q. With `slopes`, also adds their derivatives. */
cb_status cb_effort_add_gyroscopic(cb_variation *v, int q, bool slopes, cb_effort_node *out);
/* A change of the motion changes the group element at node q from g to exp(y) g, and mu by Ad_g^T ad_y^T mu_0. Computes
 * K[dim][dim], the derivative of the rate y' with respect to y, and moved[dim][dim], whose column b is the change of mu
 * for y = e_b. */
void cb_effort_feedback(const cb_variation *v, int q, double *moved, double *K);
