/* Factors and eigenvalues of symmetric matrices with some hundred rows, and sums of outer products (symmetric.h). */
#include "optimum/symmetric.h"

#include "numerics/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- Cholesky --- */

CB_LANES bool cb_symmetric_factor(int n, double least, const double *a, double *u) {
  memcpy(u, a, (size_t)n * (size_t)n * sizeof *u);
  for (int k = 0; k < n; k++) {
    const double *row = u + k * n, pivot = row[k];
    if (!(pivot > least * a[k * n + k] && pivot < INFINITY)) return false;
    for (int i = k + 1; i < n; i++) {
      double *restrict below = u + i * n;
      const double part = row[i] / pivot;
      for (int j = i; j < n; j++) below[j] -= part * row[j];
    }
  }
  for (int k = 0; k < n; k++) {
    double *row = u + k * n;
    const double root = sqrt(row[k]);
    for (int j = k; j < n; j++) row[j] /= root;
  }
  return true;
}

void cb_symmetric_solve(int n, const double *u, double *x) {
  for (int k = 0; k < n; k++) {
    const double *row = u + k * n;
    x[k] /= row[k];
    for (int j = k + 1; j < n; j++) x[j] -= row[j] * x[k];
  }
  for (int k = n - 1; k >= 0; k--) x[k] = (x[k] - cb_dot(n - k - 1, u + k * n + k + 1, x + k + 1)) / u[k * n + k];
}

/* --- tridiagonal form --- */

/* p[n] = sum_i x_i a_i, where a_i are rows of a, four in one pass. */
CB_LANES void cb_symmetric_times(int n, int stride, const double *a, const double *x, double *restrict p) {
  int i = 0;
  memset(p, 0, (size_t)n * sizeof *p);
  for (; i + 4 <= n; i += 4) {
    const double *b = a + i * stride, *c = b + stride, *d = c + stride, *e = d + stride;
    for (int j = 0; j < n; j++) p[j] += x[i] * b[j] + x[i + 1] * c[j] + x[i + 2] * d[j] + x[i + 3] * e[j];
  }
  for (; i < n; i++)
    for (int j = 0; j < n; j++) p[j] += x[i] * a[i * stride + j];
}

CB_LANES void cb_symmetric_take(int n, int stride, const double *x, const double *y, double *restrict a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * stride + j] -= x[i] * y[j] + y[i] * x[j];
}

void cb_symmetric_reduce(int n, double *a, double *d, double *e, double *beta, double *scratch) {
  for (int k = 0; k < n; k++) {
    double *v = a + k * n + k + 1, *p = scratch;
    const int m = n - k - 1;
    d[k] = a[k * n + k];
    e[k] = beta[k] = 0;
    if (m == 0) break;
    e[k] = v[0];
    const double size = sqrt(cb_dot(m, v, v));
    if (m == 1 || !(size > 0)) continue;
    e[k] = v[0] > 0 ? -size : size;
    v[0] -= e[k];
    beta[k] = -1 / (e[k] * v[0]);
    double *block = a + (k + 1) * n + k + 1;
    cb_symmetric_times(m, n, block, v, p);
    for (int i = 0; i < m; i++) p[i] *= beta[k];
    const double part = beta[k] / 2 * cb_dot(m, p, v);
    for (int i = 0; i < m; i++) p[i] -= part * v[i];
    cb_symmetric_take(m, n, v, p, block);
  }
}

void cb_symmetric_reflect(int n, const double *a, const double *beta, bool back, double *x) {
  for (int step = 0; step < n; step++) {
    const int k = back ? n - 1 - step : step, m = n - k - 1;
    const double *v = a + k * n + k + 1;
    if (beta[k] == 0) continue;
    const double part = beta[k] * cb_dot(m, v, x + k + 1);
    for (int i = 0; i < m; i++) x[k + 1 + i] -= part * v[i];
  }
}

/* --- diagonal form --- */

int cb_symmetric_rotations(int n) { return n * n + 40 * n; }

/* Takes one step of implicit QR with Wilkinson's shift on rows low to high. Returns the number of rotations so far. */
static int step(int low, int high, double *d, double *e, double *x, int count, cb_rotation *kept) {
  const double half = (d[high - 1] - d[high]) / 2, last = e[high - 1];
  const double shift = d[high] - last * last / (half + copysign(hypot(half, last), half));
  double y = d[low] - shift, z = e[low];
  for (int k = low; k < high; k++) {
    const double r = hypot(y, z), c = r > 0 ? y / r : 1, s = r > 0 ? z / r : 0;
    if (k > low) e[k - 1] = r;
    const double p = d[k], q = d[k + 1], off = e[k];
    d[k] = c * c * p + 2 * c * s * off + s * s * q;
    d[k + 1] = s * s * p - 2 * c * s * off + c * c * q;
    e[k] = (c * c - s * s) * off + c * s * (q - p);
    y = e[k];
    if (k + 1 < high) {
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
    if (!x) continue;
    const double a = x[k], b = x[k + 1];
    x[k] = c * a + s * b;
    x[k + 1] = c * b - s * a;
    kept[count++] = (cb_rotation){c, s, k};
  }
  return count;
}

int cb_symmetric_diagonal(int n, double *d, double *e, double *x, cb_rotation *kept) {
  int high = n - 1, count = 0;
  for (long turns = 0, maximum = cb_symmetric_rotations(n); high > 0;) {
    int low = high;
    while (low > 0 && !(fabs(e[low - 1]) <= DBL_EPSILON / 2 * (fabs(d[low - 1]) + fabs(d[low])))) low--;
    if (low > 0) e[low - 1] = 0;
    if (low == high) {
      high--;
      continue;
    }
    turns += high - low;
    if (turns > maximum) return -1;
    count = step(low, high, d, e, x, count, kept);
  }
  return count;
}

void cb_symmetric_rotate_back(int count, const cb_rotation *kept, double *x) {
  for (int k = count - 1; k >= 0; k--) {
    const cb_rotation *r = &kept[k];
    const double a = x[r->at], b = x[r->at + 1];
    x[r->at] = r->c * a - r->s * b;
    x[r->at + 1] = r->s * a + r->c * b;
  }
}

/* --- sums of outer products, in tiles that fit in registers --- */

enum { HIGH = 4, WIDE = CB_OUTER_SLACK };

CB_LANES void cb_outer_add(int count, int rows, const double *A, int columns, const double *B, double *C, int stride) {
  for (int j = 0; j < columns; j += WIDE)
    for (int i = 0; i < rows; i += HIGH) {
      double sum[HIGH][WIDE] = {{0}};
      const double *a = A + i, *b = B + j;
      for (int q = 0; q < count; q++, a += rows, b += columns)
        for (int k = 0; k < HIGH; k++)
          for (int l = 0; l < WIDE; l++) sum[k][l] += a[k] * b[l];
      for (int k = 0; k < HIGH && i + k < rows; k++)
        for (int l = 0; l < WIDE && j + l < columns; l++) C[(i + k) * stride + j + l] += sum[k][l];
    }
}
