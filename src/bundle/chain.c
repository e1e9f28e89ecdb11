/* Connection of a plane chain: the equations of chain.h and chain_form.h in doubles. */
#include "bundle/chain_form.h"

#include <math.h>

const char *const cb_chain_names[CB_CHAIN_LINKS - 1] = {"alpha1", "alpha2", "alpha3", "alpha4",  "alpha5", "alpha6",
                                                        "alpha7", "alpha8", "alpha9", "alpha10", "alpha11"};

cb_status cb_chain_shape(cb_chain *c, int links, double total, const cb_node *shares, int base) {
  double length[CB_CHAIN_LINKS], sum = 0;
  if (links < 2 || links > CB_CHAIN_LINKS)
    return cb_fail(CB_ERROR_ARGUMENT, "links: %d: expected 2 to %d", links, CB_CHAIN_LINKS);
  if (base < 0 || base > links) return cb_fail(CB_ERROR_ARGUMENT, "base: %d: expected 0 to %d", base, links);
  for (int k = 0; k < links; k++) length[k] = 1;
  const cb_status status = shares ? cb_node_reals(shares, (size_t)links, length) : CB_OK;
  if (status) return status;
  for (int k = 0; k < links; k++) {
    if (!(length[k] > 0)) return cb_fail(CB_ERROR_ARGUMENT, "shares: %.6g: expected > 0", length[k]);
    sum += length[k];
  }
  for (int k = 0; k < links; k++) c->length[k] = total * (length[k] / sum);
  c->links = links;
  c->base = base ? base - 1 : (links - 1) / 2;
  return CB_OK;
}

/* Twists of the hinges of one side, sign +1: after the base, and the tensors of what is beyond each. */
static void sum_side(const cb_chain *c, const double *r, int sign, cb_chain_form *f) {
  const int inner = sign > 0 ? c->base : c->base - 1, links = sign > 0 ? c->links - 1 - c->base : c->base;
  double x = 0.5 * sign * c->length[c->base], y = 0, angle = 0; /* of the hinge; heading of the link beyond it */
  for (int k = 0, h = inner; k < links; k++, h += sign) {
    const int link = c->base + sign * (k + 1);
    angle += sign * r[h];
    const double cs = cos(angle), sn = sin(angle), half = 0.5 * sign * c->length[link], *D = c->D[link];
    f->S[h][0] = sign * y, f->S[h][1] = -sign * x, f->S[h][2] = sign;
    x += half * cs, y += half * sn;
    const double xx = D[0] * cs * cs + D[1] * sn * sn, xy = (D[0] - D[1]) * cs * sn;
    const double yy = D[0] * sn * sn + D[1] * cs * cs, xt = x * xy - y * xx, yt = x * yy - y * xy;
    double(*const C)[3] = f->C[h];
    C[0][0] = xx, C[1][1] = yy, C[2][2] = D[2] + x * yt - y * xt;
    C[0][1] = C[1][0] = xy, C[0][2] = C[2][0] = xt, C[1][2] = C[2][1] = yt;
    x += half * cs, y += half * sn;
  }
  for (int k = links - 1, h = inner + sign * k; k >= 0; k--, h -= sign) {
    for (int i = 0; i < 3 && k < links - 1; i++)
      for (int j = 0; j < 3; j++) f->C[h][i][j] += f->C[h + sign][i][j];
    cb_chain_times((const double(*)[3])f->C[h], f->S[h], f->Q[h]);
  }
}

/* Inverse of a symmetric matrix by cofactors; false if it is not positive definite to round-off. */
static bool invert(double P[3][3], double inv[3][3]) {
  const double c00 = P[1][1] * P[2][2] - P[2][1] * P[2][1], c10 = P[2][0] * P[2][1] - P[1][0] * P[2][2];
  const double c20 = P[1][0] * P[2][1] - P[1][1] * P[2][0], det = P[0][0] * c00 + P[1][0] * c10 + P[2][0] * c20;
  const double minor = P[0][0] * P[1][1] - P[1][0] * P[1][0];
  if (!(P[0][0] > 0 && minor > 1e-15 * P[0][0] * P[1][1] && det > 1e-15 * minor * P[2][2])) return false;
  const double over = 1 / det;
  inv[0][0] = c00 * over;
  inv[0][1] = inv[1][0] = c10 * over;
  inv[0][2] = inv[2][0] = c20 * over;
  inv[1][1] = (P[0][0] * P[2][2] - P[2][0] * P[2][0]) * over;
  inv[1][2] = inv[2][1] = (P[1][0] * P[2][0] - P[0][0] * P[2][1]) * over;
  inv[2][2] = minor * over;
  return true;
}

static void add_derivatives(cb_chain_form *f) {
  const int n = f->n;
  for (int a = 0; a < n; a++) {
    cb_chain_turn_tensor(f->S[a], (const double(*)[3])f->C[a], f->K[a]);
    for (int h = 0; h < n; h++) {
      double q[3] = {0};
      if (cb_chain_same_side(f, a, h)) {
        if (cb_chain_beyond(f, a, h))
          cb_chain_times((const double(*)[3])f->K[a], f->S[h], q);
        else
          cb_chain_turn(f->S[a], f->Q[h], q);
      }
      for (int i = 0; i < 3; i++) f->dQ[a][i][h] = q[i];
    }
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++)
        f->E[a][i][j] =
            f->dQ[a][i][j] - (f->K[a][i][0] * f->A[0][j] + f->K[a][i][1] * f->A[1][j] + f->K[a][i][2] * f->A[2][j]);
  }
}

cb_status cb_chain_form_at(const cb_chain *c, const double *r, bool derivatives, cb_chain_form *f) {
  const int n = f->n = c->links - 1, b = f->base = c->base;
  double P[3][3] = {{c->D[b][0]}, {0, c->D[b][1]}, {0, 0, c->D[b][2]}};
  sum_side(c, r, 1, f);
  sum_side(c, r, -1, f);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P[i][j] += (b < n ? f->C[b][i][j] : 0) + (b > 0 ? f->C[b - 1][i][j] : 0);
  if (!invert(P, f->inverse))
    return cb_fail(CB_STEP_SINGULAR, "the tensor of the locked chain is not positive definite");
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n; j++) f->A[i][j] = cb_chain_dot(f->inverse[i], f->Q[j]);
  if (derivatives) add_derivatives(f);
  return CB_OK;
}

static void write_metric(const cb_chain_form *f, double *M) {
  const int n = f->n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double R = 0;
      if (cb_chain_same_side(f, i, j))
        R = cb_chain_beyond(f, i, j) ? cb_chain_dot(f->S[j], f->Q[i]) : cb_chain_dot(f->S[i], f->Q[j]);
      for (int k = 0; k < 3; k++) R -= f->Q[i][k] * f->A[k][j];
      M[i * n + j] = M[j * n + i] = R;
    }
}

/* d_a M */
static void write_slope(const cb_chain_form *f, int a, double *dM) {
  const int n = f->n;
  const double(*dQ)[CB_CHAIN_HINGES] = f->dQ[a], (*E)[CB_CHAIN_HINGES] = f->E[a];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double R = 0;
      if (cb_chain_same_side(f, i, j)) {
        const int h = cb_chain_beyond(f, i, j) ? j : i, k = i + j - h;
        if (cb_chain_same_side(f, a, h) && cb_chain_beyond(f, a, h))
          for (int d = 0; d < 3; d++) R += f->S[h][d] * dQ[d][k];
      }
      for (int k = 0; k < 3; k++) R -= dQ[k][i] * f->A[k][j] + f->A[k][i] * E[k][j];
      dM[i * n + j] = dM[j * n + i] = R;
    }
}

cb_status cb_chain_connection(const cb_chain *c, const double *r, double *A, double *dA, double *M, double *dM) {
  cb_chain_form f;
  const cb_status status = cb_chain_form_at(c, r, dA || dM, &f);
  if (status) return status;
  const int n = f.n;
  for (int i = 0; A && i < 3; i++)
    for (int j = 0; j < n; j++) A[i * n + j] = f.A[i][j];
  if (M) write_metric(&f, M);
  for (int a = 0; dA && a < n; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++)
        dA[(a * 3 + i) * n + j] =
            f.inverse[i][0] * f.E[a][0][j] + f.inverse[i][1] * f.E[a][1][j] + f.inverse[i][2] * f.E[a][2][j];
  for (int a = 0; dM && a < n; a++) write_slope(&f, a, dM + a * n * n);
  return CB_OK;
}
