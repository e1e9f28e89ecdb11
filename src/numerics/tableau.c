/* Computes the tableaux of tableau.h: the nodes c_i by Newton's method on Legendre polynomials, and the weights a_ij
 * from sum_j a_ij c_j^(k-1) = c_i^k/k, k = 1..s. For s <= 8 the Vandermonde systems lose at most eight of the 33 digits
 * of quadruple precision. */
#include "numerics/tableau.h"

#include <float.h>
#include <stdbool.h>

#if LDBL_MANT_DIG >= 113 /* for example on aarch64, where compilers have no __float128 */
typedef long double quad;
#else
typedef __float128 quad;
#endif
enum { S = CB_STAGES_MAX };

static quad magnitude(quad x) { return x < 0 ? -x : x; }

/* Returns Legendre's polynomial P_n(x) and sets *derivative to P_n'(x), for n >= 0 and |x| < 1. */
static quad legendre(int n, quad x, quad *derivative) {
  quad before = 0, now = 1;
  for (int k = 1; k <= n; k++) {
    quad next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
    before = now;
    now = next;
  }
  *derivative = n ? n * (before - x * now) / (1 - x * x) : 0;
  return now;
}

/* A function that returns the value of a polynomial and sets *derivative. The zeros of the polynomial in (-1, 1) are
 * the inner nodes. */
typedef quad polynomial(int s, quad x, quad *derivative);

static quad gauss_polynomial(int s, quad x, quad *derivative) { return legendre(s, x, derivative); }

/* Returns (P_s - P_{s-1})/(1 - x), a polynomial without the zero of P_s - P_{s-1} at x = 1. */
static quad radau_polynomial(int s, quad x, quad *derivative) {
  quad d0, d1, f = legendre(s, x, &d1) - legendre(s - 1, x, &d0);
  *derivative = ((d1 - d0) + f / (1 - x)) / (1 - x);
  return f / (1 - x);
}

/* Returns P'_{s-1}(x). The derivative follows from Legendre's equation (1 - x²) P'' = 2x P' - n(n+1) P with n = s -
 * 1. */
static quad lobatto_polynomial(int s, quad x, quad *derivative) {
  quad d, p = legendre(s - 1, x, &d);
  *derivative = (2 * x * d - s * (s - 1) * p) / (1 - x * x);
  return d;
}

/* Finds the n zeros of f in (-1, 1), ascending. Newton's method starts at the middle of each change of sign on a grid,
 * which is fine enough for 8 stages. */
static void zeros(polynomial *f, int s, int n, quad *x) {
  enum { GRID = 32 };
  quad d, right = -1 + (quad)1 / GRID;
  bool below = f(s, right, &d) < 0;
  int found = 0;
  for (int i = 1; i < GRID && found < n; i++) {
    const quad left = right;
    const bool before = below;
    right = -1 + (quad)(2 * i + 1) / GRID;
    below = f(s, right, &d) < 0;
    if (below == before) continue;
    quad z = (left + right) / 2;
    for (int k = 0; k < 10; k++) {
      quad value = f(s, z, &d);
      z -= value / d;
    }
    x[found++] = z;
  }
}

/* Solves the n x n system m x = r for n_right right-hand sides in place, by elimination with pivoting. */
static void solve(int n, int n_right, quad m[S][S], quad r[S][S]) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (magnitude(m[i][k]) > magnitude(m[best][k])) best = i;
    for (int j = 0; j < n; j++) {
      quad t = m[k][j];
      m[k][j] = m[best][j];
      m[best][j] = t;
    }
    for (int j = 0; j < n_right; j++) {
      quad t = r[k][j];
      r[k][j] = r[best][j];
      r[best][j] = t;
    }
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      quad factor = m[i][k] / m[k][k];
      for (int j = k; j < n; j++) m[i][j] -= factor * m[k][j];
      for (int j = 0; j < n_right; j++) r[i][j] -= factor * r[k][j];
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n_right; j++) r[i][j] /= m[i][i];
}

/* Computes the collocation tableau for the nodes c[s]. The first pass computes a; the second pass computes b, from
 * integrals up to 1 instead of c_i.
 */
static void collocation(int s, const quad *c, quad a[S][S], quad *b) {
  quad m[S][S], r[S][S];
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < s; k++)
      for (int j = 0; j < s; j++) {
        quad power = 1, upper = pass ? 1 : c[j], integral = upper;
        for (int l = 0; l < k; l++) {
          power *= c[j];
          integral *= upper;
        }
        m[k][j] = power;
        r[k][j] = integral / (k + 1);
      }
    solve(s, s, m, r);
    for (int i = 0; i < s; i++) {
      if (pass)
        b[i] = r[i][0];
      else
        for (int j = 0; j < s; j++) a[i][j] = r[j][i];
    }
  }
}

static void finish(int s, const quad *c, bool lobatto, cb_tableau *out) {
  quad a[S][S], b[S];
  collocation(s, c, a, b);
  *out = (cb_tableau){.s = s};
  for (int i = 0; i < s; i++) {
    out->c[i] = (double)c[i];
    out->b[i] = (double)b[i];
    out->b_low[i] = (double)(b[i] - (quad)out->b[i]);
    for (int j = 0; j < s; j++) {
      out->a[i][j] = (double)a[i][j];
      out->a_hat[i][j] = lobatto ? (double)(b[j] - b[j] * a[j][i] / b[i]) : out->a[i][j];
    }
  }
}

static void gauss(int s, cb_tableau *out) {
  quad c[S];
  zeros(gauss_polynomial, s, s, c);
  for (int i = 0; i < s; i++) c[i] = (1 + c[i]) / 2;
  finish(s, c, false, out);
}

/* Each thread stores the tableaux that it has computed, because the same tableau is often requested many times. */
cb_status cb_tableau_gauss(int s, cb_tableau *out) {
  static _Thread_local cb_tableau kept[S + 1];
  if (s < 1 || s > 8) return cb_fail(CB_ERROR_ARGUMENT, "gauss: expected 1 to 8 stages, found %d", s);
  if (kept[s].s == 0) gauss(s, &kept[s]);
  *out = kept[s];
  return CB_OK;
}

cb_status cb_tableau_radau_iia(int s, cb_tableau *out) {
  if (s < 1 || s > 5) return cb_fail(CB_ERROR_ARGUMENT, "radau_iia: expected 1 to 5 stages, found %d", s);
  quad c[S];
  zeros(radau_polynomial, s, s - 1, c);
  for (int i = 0; i < s - 1; i++) c[i] = (1 + c[i]) / 2;
  c[s - 1] = 1;
  finish(s, c, false, out);
  return CB_OK;
}

cb_status cb_tableau_lobatto(int s, cb_tableau *out) {
  if (s < 2 || s > 5) return cb_fail(CB_ERROR_ARGUMENT, "lobatto: expected 2 to 5 stages, found %d", s);
  quad c[S];
  zeros(lobatto_polynomial, s, s - 2, c + 1);
  c[0] = 0;
  for (int i = 1; i < s - 1; i++) c[i] = (1 + c[i]) / 2;
  c[s - 1] = 1;
  finish(s, c, true, out);
  return CB_OK;
}

void cb_tableau_inverse(const cb_tableau *t, double *inverse) {
  quad m[S][S], r[S][S];
  for (int i = 0; i < t->s; i++)
    for (int j = 0; j < t->s; j++) {
      m[i][j] = t->a[i][j];
      r[i][j] = i == j;
    }
  solve(t->s, t->s, m, r);
  for (int i = 0; i < t->s; i++)
    for (int j = 0; j < t->s; j++) inverse[i * t->s + j] = (double)r[i][j];
}
