/* The work arrays that the first and the second variation share. */
#pragma once

#include "core/arena.h"
#include "optimum/reduced.h"
#include "optimum/variation.h"

enum { STAGES = CB_BASIS_STAGES, FORMS = 4, FORM = 3 * FORMS };

struct cb_variation_work {
  struct cb_arena *arena;
  bool cubic; /* true if ad_z^3 = killing(z, z)/2 ad_z for all z of the algebra */
  double killing[9];
  double *Ad;            /* [nodes][dim][dim]: Ad_g at the nodes */
  double *turn, *way;    /* turn: Ad_g (dA/dr_i) v; way: Ad_g A_i (column i of A); at the nodes, [nodes][dim][n] */
  double *ddA, *ddM;     /* second derivatives of A and M at one node */
  double *left, *right;  /* rows of length unknowns: left'right + right'left is the part of the Hessian that is not
                          * local in time (variation_hessian.c) */
  double *rate, *before; /* for one plane (a, b) (variation.h): rate is a.y_1' at the nodes of a panel,
                          * [STAGES][unknowns]; before is a.y_1 at the beginning of the panel */
  /* [pairs i <= j][nodes][FORM]: the second derivatives of mu v'Mv/2 - <lambda, A v> by (r_i, r_j), (r_i, v_j), (v_i,
   * r_j) and (v_i, v_j), times the weights of the nodes */
  double *form;
  double *x, *y;                /* work arrays for one block of the Hessian: [nodes][functions] */
  int pieces;                   /* number of pieces; 0: the gait is not divided */
  int *piece;                   /* [panels]: the piece of each panel */
  double *share, *part, *slope; /* for each piece: its share of time s_k, cost E_k, and dE_k[unknowns] (variation.c) */
};

static inline int piece_of(const cb_variation *v, int q) { return v->work->pieces ? v->work->piece[q / STAGES] : 0; }
double pieces_weight(const cb_variation *v, int piece);
/* Adds to H those terms of the Hessian of mu E/2 that are products of the derivatives dE_k of the costs of two pieces
 * (variation.c). */
void pieces_second_variation(const cb_variation *v, double mu, double *H);
