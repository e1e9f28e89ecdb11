/* What the first and the second variation share. */
#pragma once

#include "core/arena.h"
#include "optimum/outer.h"
#include "optimum/variation.h"

enum { STAGES = CB_BASIS_STAGES, FORMS = 4, FORM = 3 * FORMS };

struct cb_variation_work {
  struct cb_arena *arena;
  bool cubic; /* ad_z^3 is killing(z, z)/2 ad_z */
  double killing[9];
  double *Ad;            /* [nodes][dim][dim] */
  double *turn, *way;    /* Ad_g d_i A v and Ad_g A_i at the nodes: [nodes][dim][n] */
  double *ddA, *ddM;     /* at a node */
  double *left, *right;  /* whose product with its transpose is the Hessian, but for what is local: [..][unknowns] */
  double *rate, *before; /* of y_1 along a plane, on a panel [STAGES][unknowns], and y_1 where it begins */
  double *form;  /* of (r_i, r_j), (r_i, v_j), (v_i, r_j), (v_i, v_j) at the nodes: [pairs i <= j][nodes][FORM] */
  double *x, *y; /* of a block of the Hessian: [nodes][functions] */
  int pieces;    /* 0: one */
  int *piece;    /* [panels] */
  double *share, *part, *slope; /* of pieces: s_k, E_k, dE_k[unknowns] */
};

static inline int piece_of(const cb_variation *v, int q) { return v->work->pieces ? v->work->piece[q / STAGES] : 0; }
/* cost from the parts of pieces; what E_k counts in its derivative. */
void pieces_cost(cb_variation *v);
double pieces_weight(const cb_variation *v, int piece);
/* dE_k of all nodes are summed up to dcost. */
void pieces_slope(cb_variation *v);
/* H + what the squares of dE_k are of mu E/2. */
void pieces_bend(const cb_variation *v, double mu, double *H);
