/* Linear systems that may lack a rank, by elimination with rook pivoting (Neal & Poole 1992,
 * doi:10.1016/0024-3795(92)90020-B), complete where a pivot is small: unknowns that nothing tells are 0. */
#pragma once

#include <math.h>
#include <stdbool.h>

/* Pivots below this share of the first are none; below the other the largest of all is looked for. */
static const double family_least_pivot = 1e-12, family_small_pivot = 1e-6;

static inline void family_swap(double *a, double *b) {
  const double t = *a;
  *a = *b, *b = t;
}

/* The pivot from k on that no entry of its row or column exceeds. */
static inline double family_rook(int n, const double *a, int k, int *row, int *column) {
  double most = -1;
  for (int r = k, turn = 0;; turn++) {
    int c = *column;
    const double before = most;
    for (int j = k; j < n; j++)
      if (fabs(a[r * n + j]) > most) most = fabs(a[r * n + j]), c = j;
    if (turn && most == before) return most;
    *row = r, *column = c;
    for (int i = k; i < n; i++)
      if (fabs(a[i * n + c]) > most) most = fabs(a[i * n + c]), r = i;
    if (r == *row) return most;
    *row = r;
  }
}

static inline double family_largest(int n, const double *a, int k, int *row, int *column) {
  double most = -1;
  for (int i = k; i < n; i++)
    for (int j = k; j < n; j++)
      if (fabs(a[i * n + j]) > most) most = fabs(a[i * n + j]), *row = i, *column = j;
  return most;
}

/* In place; place[2][n]: rows and columns. Returns the rank, and the sign of the determinant of that rank. */
static inline int family_factor(int n, double *a, int *place, int *sign) {
  int *row = place, *column = place + n, rank = 0;
  double first = 0;
  *sign = 1;
  for (int i = 0; i < n; i++) row[i] = column[i] = i;
  for (int k = 0; k < n; k++) {
    int r = k, c = k;
    double most = k ? family_rook(n, a, k, &r, &c) : 0;
    if (!(most > family_small_pivot * first)) most = family_largest(n, a, k, &r, &c);
    if (k == 0) first = most;
    if (!(most > family_least_pivot * first)) break;
    for (int j = 0; r != k && j < n; j++) family_swap(a + k * n + j, a + r * n + j);
    for (int i = 0; c != k && i < n; i++) family_swap(a + i * n + k, a + i * n + c);
    const int kr = row[k], kc = column[k];
    row[k] = row[r], row[r] = kr, column[k] = column[c], column[c] = kc;
    if ((r != k) != (c != k)) *sign = -*sign;
    if (a[k * n + k] < 0) *sign = -*sign;
    for (int i = k + 1; i < n; i++) {
      const double s = a[i * n + k] /= a[k * n + k];
      const double *restrict of = a + k * n;
      double *restrict to = a + i * n;
      for (int j = k + 1; j < n; j++) to[j] -= s * of[j];
    }
    rank = k + 1;
  }
  return rank;
}

/* x[n] from right sides b[n] with rank of the factors; work[n]. */
static inline void family_back(int n, const double *a, const int *place, int rank, double *work, double *x) {
  for (int k = rank - 1; k >= 0; k--) {
    for (int j = k + 1; j < rank; j++) work[k] -= a[k * n + j] * work[j];
    work[k] /= a[k * n + k];
  }
  for (int k = 0; k < n; k++) x[place[n + k]] = k < rank ? work[k] : 0;
}

static inline void family_solve(int n, const double *a, const int *place, int rank, const double *b, double *work,
                                double *x) {
  for (int k = 0; k < rank; k++) {
    work[k] = b[place[k]];
    for (int j = 0; j < k; j++) work[k] -= a[k * n + j] * work[j];
  }
  family_back(n, a, place, rank, work, x);
}

/* The direction along which a matrix of rank n - 1 changes nothing. */
static inline void family_null(int n, const double *a, const int *place, double *work, double *x) {
  for (int k = 0; k < n - 1; k++) work[k] = -a[k * n + n - 1];
  family_back(n, a, place, n - 1, work, x);
  x[place[2 * n - 1]] = 1;
}
