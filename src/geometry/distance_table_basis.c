/* Polynomials that a table of distances is made of, and least squares for their coefficients.
 *
 *   terms of m:      T_i(x) T_j(y) T_k(z), i + j + k <= P, in order of i + j + k
 *   terms of delta': x^i y^j z^k, i + j + k = 4, 6, ..., 14
 *
 * Points are of Halton's sequence, denser at the edges of the box and of the ball as Chebyshev's are; a fit is the
 * pseudo-inverse by Householder's reflections, made once and used for every box.
 * Source: Halton, Numer. Math. 2 (1960) 84, doi:10.1007/BF01386213; Golub & Van Loan, Matrix Computations, 4th ed.
 * (2013), sections 5.2 and 5.3.
 */
#include "geometry/distance_table_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = CB_TABLE_DIM };

/* Samples for one unknown. */
static const double surplus_m = 1.3, surplus_delta = 1.5;

void cb_table_chebyshev(int degree, double x, double *t, double *dt, double *ddt) {
  t[0] = 1, t[1] = x;
  for (int k = 2; k <= degree; k++) t[k] = 2 * x * t[k - 1] - t[k - 2];
  if (!dt) return;
  dt[0] = 0, dt[1] = 1;
  for (int k = 2; k <= degree; k++) dt[k] = 2 * t[k - 1] + 2 * x * dt[k - 1] - dt[k - 2];
  if (!ddt) return;
  ddt[0] = ddt[1] = 0;
  for (int k = 2; k <= degree; k++) ddt[k] = 4 * dt[k - 1] + 2 * x * ddt[k - 1] - ddt[k - 2];
}

void cb_table_terms(const cb_table_basis *b, const double *x, double *value) {
  double t[N][CB_TABLE_DEGREE + 2];
  for (int i = 0; i < b->kept; i++) cb_table_chebyshev(b->degree, x[i], t[i], NULL, NULL);
  for (int k = 0; k < b->terms; k++) {
    value[k] = 1;
    for (int i = 0; i < b->kept; i++) value[k] *= t[i][b->term[k][i]];
  }
  for (int k = b->terms; k % CB_TABLE_LANES; k++) value[k] = 0;
}

/* --- indices --- */

/* All powers of total degree p in `n` variables, appended. */
static int powers(int n, int p, unsigned char (*out)[N], int count) {
  if (n == 0) {
    if (p == 0) memset(out[count++], 0, N);
    return count;
  }
  for (int i = n > 1 ? p : 0; i >= 0; i--)
    for (int j = n > 2 ? p - i : 0; j >= 0; j--) {
      const int last = n > 2 ? p - i - j : n > 1 ? p - i : p;
      out[count][0] = (unsigned char)(n > 1 ? i : last);
      out[count][1] = (unsigned char)(n > 2 ? j : n > 1 ? last : 0);
      out[count][2] = (unsigned char)(n > 2 ? last : 0);
      count++;
    }
  return count;
}

static double radical_inverse(int base, int index) {
  double value = 0, part = 1;
  for (; index; index /= base) value += (index % base) * (part /= base);
  return value;
}

/* --- least squares --- */

/* out[columns][rows] = (a^T a)^-1 a^T of a[rows][columns], which is overwritten. */
static bool pseudo_inverse(int rows, int columns, double *a, double *out) {
  double *q = calloc((size_t)rows * (size_t)rows, sizeof *q), *v = malloc((size_t)rows * sizeof *v);
  if (!q || !v) return free(q), free(v), false;
  for (int i = 0; i < rows; i++) q[i * rows + i] = 1; /* becomes Q^T */
  for (int k = 0; k < columns; k++) {
    double square = 0;
    for (int i = k; i < rows; i++) {
      v[i] = a[i * columns + k];
      square += v[i] * v[i];
    }
    const double size = copysign(sqrt(square), v[k]);
    v[k] += size;
    const double factor = 1 / (size * v[k]);
    for (int pass = 0; pass < 2; pass++) {
      double *m = pass ? q : a;
      const int width = pass ? rows : columns, from = pass ? 0 : k;
      double own[CB_TABLE_MONOMIALS], *sum = pass ? out : own; /* out is not in use yet */
      for (int j = from; j < width; j++) sum[j] = 0;
      for (int i = k; i < rows; i++)
        for (int j = from; j < width; j++) sum[j] += v[i] * m[i * width + j];
      for (int i = k; i < rows; i++)
        for (int j = from; j < width; j++) m[i * width + j] -= factor * v[i] * sum[j];
    }
  }
  for (int k = columns - 1; k >= 0; k--)
    for (int r = 0; r < rows; r++) {
      double sum = q[k * rows + r];
      for (int j = k + 1; j < columns; j++) sum -= a[k * columns + j] * out[j * rows + r];
      out[k * rows + r] = sum / a[k * columns + k];
    }
  free(q);
  free(v);
  return true;
}

static void direction(int n, int index, double *u) {
  if (n == 1) {
    u[0] = 1;
  } else if (n == 2) {
    const double angle = M_PI * radical_inverse(2, index);
    u[0] = cos(angle), u[1] = sin(angle);
  } else {
    const double z = radical_inverse(2, index), angle = 2 * M_PI * radical_inverse(3, index);
    u[0] = sqrt(1 - z * z) * cos(angle), u[1] = sqrt(1 - z * z) * sin(angle), u[2] = z;
  }
}

static bool create_fit(cb_table_basis *b, int order) {
  const int n = b->n, unknowns = b->first[order + 1];
  cb_table_fit *f = &b->fit[order];
  f->points = (int)ceil(surplus_delta * unknowns / (1 + n)) + 2;
  f->rows = f->points * (1 + n);
  f->point = malloc((size_t)(f->points * n) * sizeof *f->point);
  f->fit = malloc((size_t)unknowns * (size_t)f->rows * sizeof *f->fit);
  double *a = malloc((size_t)unknowns * (size_t)f->rows * sizeof *a);
  bool made = f->point && f->fit && a;
  for (int p = 0; made && p < f->points; p++) {
    double *x = f->point + p * n, u[N], r = cos(M_PI_2 * 0.95 * radical_inverse(n == 1 ? 2 : 5, p));
    direction(n, p + 1, u);
    for (int i = 0; i < n; i++) x[i] = r * u[i];
    double power[N][2 * CB_TABLE_ORDER + 1];
    for (int i = 0; i < n; i++) {
      power[i][0] = 1;
      for (int e = 1; e <= 2 * order; e++) power[i][e] = power[i][e - 1] * x[i];
    }
    for (int k = 0; k < unknowns; k++)
      for (int row = 0; row <= n; row++) { /* the value, then derivatives; all count by their effect on the distance */
        double value = 1 / r;
        for (int i = 0; i < n; i++) {
          const int e = b->monomial[k][i];
          value *= i == row - 1 ? (e ? e * power[i][e - 1] : 0) : power[i][e];
        }
        a[(p * (1 + n) + row) * unknowns + k] = value;
      }
  }
  made = made && pseudo_inverse(f->rows, unknowns, a, f->fit);
  for (int k = 0; made && k < unknowns; k++)
    for (int row = 0; row < f->rows; row++) {
      double square = 0;
      for (int i = 0; i < n; i++) square += f->point[row / (1 + n) * n + i] * f->point[row / (1 + n) * n + i];
      f->fit[k * f->rows + row] /= sqrt(square);
    }
  free(a);
  return made;
}

static bool create_nodes(cb_table_basis *b) {
  static const int bases[N] = {2, 3, 5};
  b->nodes = b->kept ? (int)ceil(surplus_m * b->terms) + 2 : 1;
  b->node = malloc((size_t)(b->nodes * N) * sizeof *b->node);
  b->terms_fit = malloc((size_t)(b->nodes * b->terms) * sizeof *b->terms_fit);
  double *a = malloc((size_t)(b->nodes * (b->terms + CB_TABLE_LANES)) * sizeof *a);
  bool made = b->node && b->terms_fit && a;
  for (int p = 0; made && p < b->nodes; p++) {
    double value[CB_TABLE_TERMS + CB_TABLE_LANES];
    for (int i = 0; i < b->kept; i++) b->node[p * b->kept + i] = cos(M_PI * radical_inverse(bases[i], p + 1));
    cb_table_terms(b, b->node + p * b->kept, value);
    memcpy(a + p * b->terms, value, (size_t)b->terms * sizeof *a);
  }
  made = made && pseudo_inverse(b->nodes, b->terms, a, b->terms_fit);
  free(a);
  return made;
}

cb_status cb_table_basis_create(cb_table_basis *b, int n, int kept, const int *axis) {
  static const int degrees[] = {0, CB_TABLE_DEGREE, 10, 7};
  *b = (cb_table_basis){.n = n, .kept = kept, .degree = degrees[kept]};
  memcpy(b->axis, axis, (size_t)kept * sizeof *axis);
  for (int p = 0; p <= b->degree; p++) {
    b->terms_to[p] = b->terms;
    b->terms = powers(kept, p, b->term, b->terms);
  }
  b->terms_to[b->degree + 1] = b->terms;
  int count = 0;
  for (int k = 2; k <= CB_TABLE_ORDER; k++) {
    b->first[k] = count;
    count = powers(n, 2 * k, b->monomial, count);
  }
  b->first[CB_TABLE_ORDER + 1] = count;
  bool made = create_nodes(b);
  for (int k = 2; made && k <= CB_TABLE_ORDER; k++) made = create_fit(b, k);
  if (made) return CB_OK;
  cb_table_basis_free(b);
  return cb_fail(CB_ERROR_MEMORY, "no memory for a table of distances");
}

void cb_table_basis_free(cb_table_basis *b) {
  for (int k = 2; k <= CB_TABLE_ORDER; k++) free(b->fit[k].point), free(b->fit[k].fit);
  free(b->node);
  free(b->terms_fit);
  *b = (cb_table_basis){0};
}
