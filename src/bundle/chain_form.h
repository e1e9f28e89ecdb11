/* The form of a plane chain and what its reduction needs, for chain.c and chain_second.c.
 *
 * Everything in the frame of the base, about its middle, by the hinges h (shape variables) of one side, inner ones first:
 *   S_h  twist of a hinge;   C_h = sum of the tensors of the links beyond it;   Q_h = C_h S_h
 *   P = D_base + sum of C of the two innermost,   R_hk = S_h.Q_k, k not within h;   0 for hinges of two sides
 * What lies beyond a hinge a is turned by r_a as a whole, X by L_a X (covectors q: -ad_a^T q):
 *   d_a P = K_a = L_a C_a      d_a Q_h = L_a Q_h, or K_a S_h where a is beyond h      d_a R_hk = S_h.d_a Q_k where a is
 *   beyond h, else 0
 */
#pragma once

#include "bundle/chain.h"

enum { CB_CHAIN_HINGES = CB_CHAIN_LINKS - 1 };

typedef double cb_chain_columns[3][CB_CHAIN_HINGES]; /* rows: x, y, theta */

typedef struct cb_chain_form {
  int n, base;
  double S[CB_CHAIN_HINGES][3], C[CB_CHAIN_HINGES][3][3], Q[CB_CHAIN_HINGES][3];
  double inverse[3][3]; /* of P */
  cb_chain_columns A;
  /* with derivatives */
  double K[CB_CHAIN_HINGES][3][3];
  cb_chain_columns dQ[CB_CHAIN_HINGES], E[CB_CHAIN_HINGES]; /* E_a = d_a Q - d_a P A */
} cb_chain_form;

/* CB_STEP_SINGULAR where P is not positive definite. */
cb_status cb_chain_form_at(const cb_chain *c, const double *r, bool derivatives, cb_chain_form *f);

static inline bool cb_chain_same_side(const cb_chain_form *f, int h, int k) { return (h >= f->base) == (k >= f->base); }
/* Of one side: is k beyond h? */
static inline bool cb_chain_beyond(const cb_chain_form *f, int k, int h) { return h >= f->base ? k > h : k < h; }

static inline double cb_chain_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* L_S q */
static inline void cb_chain_turn(const double *S, const double *q, double *out) {
  const double x = q[0], y = q[1];
  out[0] = -S[2] * y;
  out[1] = S[2] * x;
  out[2] = S[0] * y - S[1] * x;
}

/* L_S C = X + X^T, X = -ad_S^T C; C symmetric */
static inline void cb_chain_turn_tensor(const double *S, const double (*C)[3], double (*out)[3]) {
  double X[3][3];
  for (int i = 0; i < 3; i++) cb_chain_turn(S, C[i], X[i]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = X[i][j] + X[j][i];
}

static inline void cb_chain_times(const double (*C)[3], const double *S, double *out) {
  for (int i = 0; i < 3; i++) out[i] = cb_chain_dot(C[i], S);
}
