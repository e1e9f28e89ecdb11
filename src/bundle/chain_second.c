/* Second derivatives of the connection and the metric of a plane chain, in the letters of chain_form.h.
 *
 * For a and b on one side, b not within a:
 *   d_ab P = W = L_a K_b
 *   d_ab Q_h = L_a L_b Q_h (b not beyond h);  L_a (K_b S_h) (b beyond h, a not);  W S_h (both beyond h)
 *   d_ab R_hk = S_h.d_ab Q_k where a is beyond h, k not within h; else 0
 * All of them are 0 for a and b on two sides. Then, with D_a = d_a A = P^-1 E_a:
 *   F = d_ab Q - d_ab P A;   d_ab A = P^-1 (F - K_a D_b - K_b D_a)
 *   d_ab M = d_ab R - (d_ab Q)^T A - A^T F - E_a^T D_b - D_b^T E_a
 * Least work: n (n + 1)/2 pairs of 9 n products for F, 18 n + 9 n for A, and 12 n (n + 1)/2 for M, half of it for pairs on
 * two sides: 4e4 operations for ten links.
 */
#include "bundle/chain_form.h"

#include <string.h>

/* d_ab P and the columns of d_ab Q. */
static void turn_twice(const cb_chain_form *f, int a, int b, double W[3][3], cb_chain_columns ddQ) {
  const int sign = a >= f->base ? 1 : -1, first = sign > 0 ? f->base : 0, end = sign > 0 ? f->n : f->base;
  const double(*K)[3] = (const double(*)[3])f->K[b];
  for (int i = 0; i < 3; i++) memset(ddQ[i], 0, (size_t)f->n * sizeof(double));
  cb_chain_turn_tensor(f->S[a], K, W);
  for (int h = first; h < end; h++) {
    double q[3];
    if (cb_chain_beyond(f, a, h)) {
      cb_chain_times((const double(*)[3])W, f->S[h], q);
    } else {
      if (cb_chain_beyond(f, b, h))
        cb_chain_times(K, f->S[h], q);
      else
        cb_chain_turn(f->S[b], f->Q[h], q);
      cb_chain_turn(f->S[a], q, q);
    }
    for (int i = 0; i < 3; i++) ddQ[i][h] = q[i];
  }
}

static void write_connection(const cb_chain_form *f, const cb_chain_columns *D, int a, int b,
                             const double (*F)[CB_CHAIN_HINGES], double *out) {
  const int n = f->n;
  cb_chain_columns right;
  for (int i = 0; i < 3; i++) {
    const double *p = f->K[a][i], *q = f->K[b][i];
    for (int j = 0; j < n; j++)
      right[i][j] = (F ? F[i][j] : 0) - (p[0] * D[b][0][j] + p[1] * D[b][1][j] + p[2] * D[b][2][j]) -
                    (q[0] * D[a][0][j] + q[1] * D[a][1][j] + q[2] * D[a][2][j]);
  }
  for (int i = 0; i < 3; i++) {
    const double *p = f->inverse[i];
    for (int j = 0; j < n; j++) out[i * n + j] = p[0] * right[0][j] + p[1] * right[1][j] + p[2] * right[2][j];
  }
}

/* The lower triangle of -(X^T Y + Z^T V), in place of or beside what is there, by rows. */
static void take_products(int n, const double (*X)[CB_CHAIN_HINGES], const double (*Y)[CB_CHAIN_HINGES],
                          const double (*Z)[CB_CHAIN_HINGES], const double (*V)[CB_CHAIN_HINGES], double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      out[i * n + j] -= X[0][i] * Y[0][j] + X[1][i] * Y[1][j] + X[2][i] * Y[2][j] + Z[0][i] * V[0][j] +
                        Z[1][i] * V[1][j] + Z[2][i] * V[2][j];
}

static void write_metric(const cb_chain_form *f, const cb_chain_columns *D, int a, int b,
                         const double (*ddQ)[CB_CHAIN_HINGES], const double (*F)[CB_CHAIN_HINGES], double *out) {
  const int n = f->n;
  const double(*E)[CB_CHAIN_HINGES] = f->E[a], (*Db)[CB_CHAIN_HINGES] = D[b];
  for (int i = 0; i < n; i++) memset(out + i * n, 0, (size_t)(i + 1) * sizeof *out);
  if (F) {
    const bool right = a >= f->base;
    for (int i = right ? f->base : 0; i < (right ? f->n : f->base); i++)
      for (int j = right ? f->base : 0; j <= i; j++) {
        const int h = right ? j : i, k = i + j - h; /* h the inner of the two */
        if (!cb_chain_beyond(f, a, h)) continue;
        for (int d = 0; d < 3; d++) out[i * n + j] += f->S[h][d] * ddQ[d][k];
      }
    take_products(n, ddQ, f->A, f->A, F, out);
  }
  take_products(n, E, Db, Db, E, out);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
}

cb_status cb_chain_second(const cb_chain *c, const double *r, double *ddA, double *ddM) {
  cb_chain_form f;
  const cb_status status = cb_chain_form_at(c, r, true, &f);
  if (status) return status;
  const int n = f.n;
  cb_chain_columns D[CB_CHAIN_HINGES], ddQ, F;
  for (int a = 0; a < n; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++)
        D[a][i][j] = f.inverse[i][0] * f.E[a][0][j] + f.inverse[i][1] * f.E[a][1][j] + f.inverse[i][2] * f.E[a][2][j];
  for (int k = 0; k < n; k++)
    for (int l = 0; l <= k; l++) {
      const bool same = cb_chain_same_side(&f, k, l);
      const int a = k >= f.base ? l : k, b = k + l - a; /* the inner one first */
      if (same) {
        double W[3][3];
        turn_twice(&f, a, b, W, ddQ);
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < n; j++)
            F[i][j] = ddQ[i][j] - (W[i][0] * f.A[0][j] + W[i][1] * f.A[1][j] + W[i][2] * f.A[2][j]);
      }
      const int at = k * n + l, mirrored = l * n + k;
      if (ddA) {
        write_connection(&f, D, a, b, same ? F : NULL, ddA + at * 3 * n);
        if (k != l) memcpy(ddA + mirrored * 3 * n, ddA + at * 3 * n, (size_t)(3 * n) * sizeof *ddA);
      }
      if (ddM) {
        write_metric(&f, D, a, b, ddQ, same ? F : NULL, ddM + at * n * n);
        if (k != l) memcpy(ddM + mirrored * n * n, ddM + at * n * n, (size_t)(n * n) * sizeof *ddM);
      }
    }
  return CB_OK;
}
