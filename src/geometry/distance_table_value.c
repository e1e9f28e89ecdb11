/* Distances from a box of a table, with the exact derivatives of what it holds:
 *
 *   sigma = g(m)(delta, delta)/2 + sum_a delta'^a c_a(m),   c_a(m) = sum_b c_ab T_b(x),  x in [-1, 1] over the box
 *   s_b = sum_a delta'^a c_ab,  v_a = sum_b c_ab T_b:   sigma_m = sum_b s_b dT_b,  sigma_delta = sum_a v_a d(delta'^a)
 *   q1, q2 = m -+ delta/2:   d_q1 = d_m/2 - d_delta,  d_q2 = d_m/2 + d_delta;   d = sqrt(2 sigma)
 *
 * s and v come from one pass over the coefficients.
 */
#include "geometry/distance_table_private.h"

#include <math.h>
#include <string.h>

enum { N = CB_TABLE_DIM, LANES = CB_TABLE_LANES, TERMS = CB_TABLE_TERMS + LANES, POWERS = 2 * CB_TABLE_ORDER + 1 };
/* Rows that are multiplied at once, and the most of one degree. */
enum { ROWS = 4, GROUP = 120 };

/* Loops of products and sums by element, the same to the last bit in registers of any width. (clang 14 gives a function
 * that has clones a name that other files do not find.) */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define SIMD __attribute__((target_clones("avx2", "default")))
#else
#define SIMD
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* sigma less its quadratic part with derivatives in x and delta'. */
typedef struct higher {
  double value, x[N], e[N];            /* first derivatives */
  double xx[N][N], xe[N][N], ee[N][N]; /* second */
} higher;

typedef struct terms {
  double t[TERMS], dt[N][TERMS], ddt[N][N][TERMS];
} terms;

/* Factors are gathered first, then multiplied in whole loops. */
ALWAYS_INLINE void expand_terms(const cb_table_basis *b, int most, const double *x, bool first, bool second,
                                terms *out) {
  double f[N][TERMS], df[N][TERMS], ddf[N][TERMS];
  const int n = b->kept, count = b->terms < most ? b->terms : most;
  for (int i = 0; i < N; i++) {
    double t[CB_TABLE_DEGREE + 2], dt[CB_TABLE_DEGREE + 2], ddt[CB_TABLE_DEGREE + 2];
    if (i < n) cb_table_chebyshev(b->degree, x[i], t, first ? dt : NULL, second ? ddt : NULL);
    for (int k = 0; k < count; k++) f[i][k] = i < n ? t[b->term[k][i]] : 1;
    for (int k = 0; first && i < n && k < count; k++) df[i][k] = dt[b->term[k][i]];
    for (int k = 0; second && i < n && k < count; k++) ddf[i][k] = ddt[b->term[k][i]];
  }
  for (int k = 0; k < count; k++) out->t[k] = f[0][k] * f[1][k] * f[2][k];
  for (int i = 0; first && i < n; i++) {
    const double *one = f[(i + 1) % N], *other = f[(i + 2) % N];
    for (int k = 0; k < count; k++) out->dt[i][k] = df[i][k] * one[k] * other[k];
    for (int k = 0; second && k < count; k++) out->ddt[i][i][k] = ddf[i][k] * one[k] * other[k];
    for (int j = 0; second && j < i; j++)
      for (int k = 0; k < count; k++) out->ddt[i][j][k] = df[i][k] * df[j][k] * f[N - i - j][k];
  }
  for (int k = count; k % LANES; k++) {
    out->t[k] = 0;
    for (int i = 0; first && i < n; i++) out->dt[i][k] = 0;
  }
}

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

#define LOAD(p) (*(const lanes *)(p))

ALWAYS_INLINE double dot(int length, const double *a, const double *b) {
  lanes sum = {0};
  for (int k = 0; k < length; k += LANES) sum += LOAD(a + k) * LOAD(b + k);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* v_a of ROWS rows, and s_b becomes larger by sum_a y_a c_ab: several rows at once wait less for their sums. */
ALWAYS_INLINE void block(int count, int length, const double *c, const double *t, const double *y, double *v,
                         double *s) {
  lanes sum[ROWS] = {{0}};
  for (int k = 0; k < length; k += LANES) {
    const lanes at = LOAD(t + k);
    lanes total = LOAD(s + k);
#pragma GCC unroll 4
    for (int r = 0; r < count; r++) {
      const lanes of = LOAD(c + r * length + k);
      total += y[r] * of;
      sum[r] += of * at;
    }
    *(lanes *)(s + k) = total;
  }
  for (int r = 0; r < count; r++) v[r] = (sum[r][0] + sum[r][2]) + (sum[r][1] + sum[r][3]);
}

ALWAYS_INLINE void rows(int count, int length, const double *c, const double *t, const double *y, double *v,
                        double *s) {
  int r = 0;
  for (; r + ROWS <= count; r += ROWS) block(ROWS, length, c + r * length, t, y + r, v + r, s);
  for (; r < count; r++) block(1, length, c + r * length, t, y + r, v + r, s);
}

/* delta'^a of rows first ... last-1. */
ALWAYS_INLINE void monomials(const cb_table_basis *b, int first, int last, double power[N][POWERS + 1], double *y) {
  for (int a = first; a < last; a++) {
    const unsigned char *p = b->monomial[a];
    y[a - first] = power[0][p[0]] * power[1][p[1]] * power[2][p[2]];
  }
}

SIMD static void expand(const cb_table_basis *b, const cb_table_box *box, int order, const double *x, const double *e,
                        bool first, bool second, higher *out) {
  terms t;
  double s[TERMS] = {0}, power[N][POWERS + 1], rate[N][POWERS + 1], bend[N][POWERS + 1];
  const int n = b->n, kept = b->kept, longest = box->length[2];
  memset(out, 0, sizeof *out);
  expand_terms(b, longest, x, first, second, &t);
  for (int i = 0; i < N; i++) {
    power[i][0] = 1, rate[i][0] = bend[i][0] = 0;
    for (int k = 1; i < n && k <= 2 * order; k++) {
      power[i][k] = power[i][k - 1] * e[i];
      rate[i][k] = k * power[i][k - 1];
      bend[i][k] = k * rate[i][k - 1];
    }
  }
  const double *c = box->c;
  for (int k = 2; k <= order; k++) {
    const int from = b->first[k], count = b->first[k + 1] - from, length = box->length[k];
    double y[GROUP], v[GROUP];
    monomials(b, from, from + count, power, y);
    rows(count, length, c, t.t, y, v, s);
    for (int a = 0; a < count; a++) out->value += y[a] * v[a];
    for (int a = 0; first && a < count; a++) {
      const unsigned char *p = b->monomial[from + a];
      const double f[N] = {power[0][p[0]], power[1][p[1]], power[2][p[2]]};
      const double by[N] = {f[1] * f[2], f[0] * f[2], f[0] * f[1]};
      double dy[N];
      for (int i = 0; i < n; i++) out->e[i] += v[a] * (dy[i] = rate[i][p[i]] * by[i]);
      if (!second) continue;
      for (int i = 0; i < n; i++) {
        out->ee[i][i] += v[a] * (bend[i][p[i]] * by[i]);
        for (int j = 0; j < i; j++) out->ee[i][j] += v[a] * (rate[i][p[i]] * rate[j][p[j]] * f[N - i - j]);
      }
      for (int i = 0; i < kept; i++) {
        const double dv = dot(length, c + a * length, t.dt[i]);
        for (int j = 0; j < n; j++) out->xe[i][j] += dv * dy[j];
      }
    }
    c += count * length;
  }
  for (int i = 0; first && i < kept; i++) {
    out->x[i] = dot(longest, s, t.dt[i]);
    for (int k = 0; second && k < longest && k < b->terms; k++)
      for (int j = 0; j <= i; j++) out->xx[i][j] += s[k] * t.ddt[i][j][k];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) out->xx[j][i] = out->xx[i][j], out->ee[j][i] = out->ee[i][j];
}

bool cb_table_box_distance(const cb_geometry *g, const cb_distance_table *t, const cb_table_box *box, const double *m,
                           const double *x, const double *delta, double *d, double *gradient, double *hessian) {
  const cb_table_basis *b = &t->basis;
  const int n = b->n, ends = 2 * n;
  const bool first = gradient || hessian, second = hessian != NULL;
  double gij[N * N], dg[N * N * N], ddg[N * N * N * N];
  if (g->chart->metric(g, m, gij, first ? dg : NULL, second ? ddg : NULL)) return false;
  double sigma = 0, by_m[N] = {0}, by_delta[N] = {0}, mm[N][N] = {{0}}, md[N][N] = {{0}}, dd[N][N] = {{0}};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const double product = delta[i] * delta[j] / 2;
      sigma += gij[i * n + j] * product;
      by_delta[i] += gij[i * n + j] * delta[j];
      dd[i][j] = gij[i * n + j];
      for (int l = 0; first && l < n; l++) {
        by_m[l] += dg[(l * n + i) * n + j] * product;
        md[l][i] += dg[(l * n + i) * n + j] * delta[j];
        for (int k = 0; second && k < n; k++) mm[k][l] += ddg[((k * n + l) * n + i) * n + j] * product;
      }
    }
  double e[N], square = 0;
  for (int i = 0; i < n; i++) {
    e[i] = 0;
    for (int j = 0; j < n; j++) e[i] += box->scale[i * n + j] * delta[j];
    square += e[i] * e[i];
  }
  int order = box->order;
  while (order > 1 && square < box->enough[order]) order--;
  if (order > 1) {
    higher h;
    double rate[N] = {0};
    for (int i = 0; i < b->kept; i++) rate[i] = 2 / (box->high[i] - box->low[i]);
    expand(b, box, order, x, e, first, second, &h);
    sigma += h.value;
    for (int i = 0; i < b->kept; i++) {
      by_m[b->axis[i]] += rate[i] * h.x[i];
      for (int j = 0; j < b->kept; j++) mm[b->axis[i]][b->axis[j]] += rate[i] * rate[j] * h.xx[i][j];
    }
    for (int i = 0; i < n; i++)
      for (int a = 0; a < n; a++) {
        by_delta[i] += h.e[a] * box->scale[a * n + i];
        for (int k = 0; k < b->kept; k++) md[b->axis[k]][i] += rate[k] * h.xe[k][a] * box->scale[a * n + i];
        for (int j = 0; second && j < n; j++)
          for (int c = 0; c < n; c++) dd[i][j] += box->scale[a * n + i] * h.ee[a][c] * box->scale[c * n + j];
      }
  }
  if (!(sigma > 0)) return false;
  const double length = sqrt(2 * sigma);
  double by[2 * N];
  *d = length;
  if (!first) return true;
  for (int i = 0; i < n; i++) {
    by[i] = (by_m[i] / 2 - by_delta[i]) / length;
    by[n + i] = (by_m[i] / 2 + by_delta[i]) / length;
  }
  for (int i = 0; second && i < n; i++)
    for (int j = 0; j < n; j++) {
      const double even = mm[i][j] / 4 + dd[i][j], cross = (md[i][j] + md[j][i]) / 2;
      const double odd = mm[i][j] / 4 - dd[i][j], turn = (md[i][j] - md[j][i]) / 2;
      hessian[i * ends + j] = (even - cross - by[i] * by[j]) / length;
      hessian[(n + i) * ends + n + j] = (even + cross - by[n + i] * by[n + j]) / length;
      hessian[i * ends + n + j] = hessian[(n + j) * ends + i] = (odd + turn - by[i] * by[n + j]) / length;
    }
  if (gradient) memcpy(gradient, by, (size_t)ends * sizeof *by);
  return true;
}
