/* The equations of a family: residuals, their derivatives, points and tangents. The file also has a solver for linear
 * systems without full rank. */
#include "optimum/family_private.h"

#include "numerics/small.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- linear systems that may lack full rank, by elimination with rook pivoting (Neal & Poole 1992,
 * doi:10.1016/0024-3795(92)90020-B); if a pivot is small, complete pivoting is used; undetermined unknowns become 0 ---
 */

/* Limits of pivots, relative to the first pivot. A pivot below family_least_pivot counts as 0. If a pivot is below
 * family_small_pivot, the largest of all remaining entries is used as the pivot instead. */
static const double family_least_pivot = 1e-12, family_small_pivot = 1e-6;

static inline void family_swap(double *a, double *b) {
  const double t = *a;
  *a = *b;
  *b = t;
}

/* Finds a pivot in the rows and columns from k on. The pivot is the largest entry of its row and also of its column. */
static inline double family_rook(int n, const double *a, int k, int *row, int *column) {
  double maximum = -1;
  for (int r = k, turn = 0;; turn++) {
    int c = *column;
    const double before = maximum;
    for (int j = k; j < n; j++)
      if (fabs(a[r * n + j]) > maximum) {
        maximum = fabs(a[r * n + j]);
        c = j;
      }
    if (turn && maximum == before) return maximum;
    *row = r;
    *column = c;
    for (int i = k; i < n; i++)
      if (fabs(a[i * n + c]) > maximum) {
        maximum = fabs(a[i * n + c]);
        r = i;
      }
    if (r == *row) return maximum;
    *row = r;
  }
}

static inline double family_largest(int n, const double *a, int k, int *row, int *column) {
  double maximum = -1;
  for (int i = k; i < n; i++)
    for (int j = k; j < n; j++)
      if (fabs(a[i * n + j]) > maximum) {
        maximum = fabs(a[i * n + j]);
        *row = i;
        *column = j;
      }
  return maximum;
}

/* Computes the LU factors of a[n][n] in place, with exchanges of rows and columns. place[2][n] becomes the order of the
 * rows and the order of the columns. Returns the rank. *sign becomes the sign of the determinant. */
static inline int family_factor(int n, double *a, int *place, int *sign) {
  int *row = place, *column = place + n, rank = 0;
  double first = 0;
  *sign = 1;
  for (int i = 0; i < n; i++) row[i] = column[i] = i;
  for (int k = 0; k < n; k++) {
    int r = k, c = k;
    double maximum = k ? family_rook(n, a, k, &r, &c) : 0;
    if (!(maximum > family_small_pivot * first)) maximum = family_largest(n, a, k, &r, &c);
    if (k == 0) first = maximum;
    if (!(maximum > family_least_pivot * first)) break;
    for (int j = 0; r != k && j < n; j++) family_swap(a + k * n + j, a + r * n + j);
    for (int i = 0; c != k && i < n; i++) family_swap(a + i * n + k, a + i * n + c);
    const int kr = row[k], kc = column[k];
    row[k] = row[r];
    row[r] = kr;
    column[k] = column[c];
    column[c] = kc;
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

/* Solves for x[n] with the factors of a matrix of this rank. On entry work[n] holds the right side after elimination.
 */
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

/* Computes the null direction x[n] of a matrix of rank n - 1 from its factors. */
static inline void family_null(int n, const double *a, const int *place, double *work, double *x) {
  for (int k = 0; k < n - 1; k++) work[k] = -a[k * n + n - 1];
  family_back(n, a, place, n - 1, work, x);
  x[place[2 * n - 1]] = 1;
}

/* Sizes of Newton's steps, relative to z. After a step below near_tolerance the next step uses the same matrix. A step
 * below `done` is round-off. Near a bifurcation the residual does not change to first order along one direction, so
 * that the steps have a round-off of up to `noise` in this direction. */
static const double near_tolerance = 1e-2, done = 1e-12, noise = 1e-6;
enum { MAXIMUM = 14 };

cb_status family_system_create(const cb_optimum_problem *o, int harmonics, double scale, family_system **out) {
  const cb_bundle *b = o->bundle;
  family_system *y = calloc(1, sizeof *y);
  if (!y) return cb_fail(CB_ERROR_MEMORY, "no memory for a family");
  *y = (family_system){.o = o, .target = o->target, .n = b->n, .harmonics = harmonics, .scale = scale};
  y->smooth = cb_direct_smooth(o);
  y->count = cb_gait_target_count(b->group, &y->target);
  y->row = cb_gait_target_amount(b->group, &y->target);
  const double ends[2] = {0, 1};
  cb_status status = y->smooth ? cb_basis_fourier(harmonics, harmonics + 4, &y->basis)
                               : cb_basis_arcs(1, ends, 2 * harmonics, 0, &y->basis);
  if (!status) status = cb_variation_create(b, y->basis, &y->v);
  if (!status) {
    y->u = y->v->unknowns;
    y->extra = o->start_shape ? y->n : y->smooth;
    y->size = y->u + y->count + y->extra + 2;
    y->mu = y->size - 2;
    y->amount = y->size - 1;
    status = cb_reduced_create(y->u, y->count + y->extra + 1, &y->reduced);
  }
  if (!status) {
    const size_t size = (size_t)y->size;
    y->K = calloc(size * size + 4 * size + (size_t)(y->extra * y->u), sizeof *y->K);
    y->pivot = calloc(2 * size, sizeof *y->pivot);
    if (!y->K || !y->pivot) status = cb_fail(CB_ERROR_MEMORY, "no memory for a family of %d unknowns", y->size);
    if (y->K) {
      y->f = y->K + size * size;
      y->step = y->f + size;
      y->work = y->step + size;
      y->column = y->work + size;
    }
    if (y->K) y->rows = y->column + size;
  }
  if (status) {
    family_system_free(y);
    return status;
  }
  *out = y;
  return CB_OK;
}

void family_system_free(family_system *y) {
  if (!y) return;
  cb_reduced_free(y->reduced);
  cb_variation_free(y->v);
  cb_basis_free(y->basis);
  free(y->K);
  free(y->pivot);
  free(y);
}

cb_status family_point_create(const family_system *y, family_point **out) {
  const size_t size = (size_t)y->size;
  family_point *p = calloc(1, sizeof *p);
  if (p) p->z = calloc(3 * size, sizeof *p->z);
  if (!p || !p->z) {
    free(p);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d unknowns", y->size);
  }
  p->size = y->size;
  p->harmonics = y->harmonics;
  p->tangent = p->z + size;
  p->eigen = p->tangent + size;
  *out = p;
  return CB_OK;
}

void family_point_free(family_point *p) {
  if (!p) return;
  free(p->z);
  free(p);
}

/* Converts coefficients from the layout of one basis to that of another one, which must have at least as many
 * functions. */
static void widen(const family_system *y, const family_point *from, const double *z, double *out) {
  const int rest = y->size - y->u, u = from->size - rest, f = u / y->n, now = y->u / y->n;
  memset(out, 0, (size_t)y->size * sizeof *out);
  for (int i = 0; i < y->n; i++) memcpy(out + i * now, z + i * f, (size_t)f * sizeof *z);
  memcpy(out + y->u, z + u, (size_t)rest * sizeof *z);
}

cb_status family_point_copy(const family_system *y, const family_point *from, family_point **out) {
  const cb_status status = family_point_create(y, out);
  if (status) return status;
  widen(y, from, from->z, (*out)->z);
  widen(y, from, from->tangent, (*out)->tangent);
  (*out)->cost = from->cost;
  (*out)->s = from->s;
  (*out)->index = from->index;
  (*out)->flat = from->flat;
  return CB_OK;
}

double family_tail(const family_system *y, const family_point *p) {
  const int f = y->basis->functions, last = y->smooth ? 4 : 2;
  double maximum = 0, tail = 0;
  for (int a = 0; a < y->u; a++) {
    if (a % f) maximum = fmax(maximum, fabs(p->z[a]));
    if (a % f >= f - last) tail = fmax(tail, fabs(p->z[a]));
  }
  return tail / maximum;
}

/* --- the equations --- */

/* Sets the rows that fix the start shape. If a loop has a free start, there is one row instead, which fixes the start:
 * it forbids a step along r'. */
static void fix(family_system *y, const double *c) {
  const int f = y->basis->functions;
  double size = 0;
  memset(y->rows, 0, (size_t)(y->extra * y->u) * sizeof *y->rows);
  for (int i = 0; y->o->start_shape && i < y->n; i++) y->rows[i * y->u + i * f] = 1;
  if (y->o->start_shape || !y->smooth) return;
  for (int a = 0; a < y->u; a++) {
    const int k = (a % f + 1) / 2;
    y->rows[a] = k == 0 ? 0 : a % f % 2 ? k * c[a + 1] : -k * c[a - 1];
    size += y->rows[a] * y->rows[a];
  }
  for (int a = 0; size > 0 && a < y->u; a++) y->rows[a] /= sqrt(size);
}

typedef struct conditions {
  double c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM];
  double second[CB_CONDITIONS_MAX * CB_GROUP_DIM * CB_GROUP_DIM];
} conditions;

/* Computes the residuals y->f at z, except the last one, and the conditions k. With order 2, also computes the second
 * derivatives of the conditions. */
static cb_status residual(family_system *y, const double *z, int order, conditions *k) {
  const cb_group *G = y->o->bundle->group;
  const int u = y->u, dim = G->dim;
  double *f = y->f;
  cb_gait_target_set(G, &y->target, z[y->amount]);
  cb_status status = cb_variation_at(y->v, z, order);
  if (!status) status = cb_gait_target_at(G, &y->target, y->v->g, k->c, k->first, order > 1 ? k->second : NULL);
  if (status) return status;
  for (int a = 0; a < u; a++) f[a] = z[y->mu] * y->v->dcost[a] / 2;
  for (int i = 0; i < y->count; i++)
    for (int a = 0; a < dim; a++) {
      const double s = y->scale * z[u + i] * k->first[i * dim + a];
      for (int p = 0; p < u; p++) f[p] += s * y->v->dy[a * u + p];
    }
  double unit = z[y->mu] * z[y->mu] - 1;
  for (int i = 0; i < y->count; i++) {
    f[u + i] = k->c[i];
    unit += z[u + i] * z[u + i];
  }
  for (int j = 0; j < y->extra; j++) {
    const double *row = y->rows + j * u;
    for (int p = 0; p < u; p++) f[p] += z[u + y->count + j] * row[p];
    f[u + y->count + j] = y->o->start_shape ? z[j * y->basis->functions] - y->o->start_shape[j] : 0;
  }
  f[y->mu] = unit / 2;
  return CB_OK;
}

static void second_variation(family_system *y, const double *z, const conditions *k, double *H) {
  const int dim = y->o->bundle->group->dim;
  double Lambda[CB_GROUP_DIM] = {0}, W[CB_GROUP_DIM * CB_GROUP_DIM] = {0};
  for (int i = 0; i < y->count; i++)
    for (int a = 0; a < dim; a++) {
      const double nu = y->scale * z[y->u + i];
      Lambda[a] += nu * k->first[i * dim + a];
      for (int b = 0; b < dim; b++) W[a * dim + b] += nu * k->second[(i * dim + a) * dim + b];
    }
  cb_variation_hessian(y->v, z[y->mu], Lambda, W, H);
}

/* Computes the gradients of the conditions and of the rows that fix the start: [count + extra][u]. */
static void gradients(const family_system *y, const conditions *k, double *J) {
  const int u = y->u, dim = y->o->bundle->group->dim;
  memset(J, 0, (size_t)(y->count * u) * sizeof *J);
  for (int i = 0; i < y->count; i++)
    for (int a = 0; a < dim; a++)
      for (int p = 0; p < u; p++) J[i * u + p] += k->first[i * dim + a] * y->v->dy[a * u + p];
  memcpy(J + y->count * u, y->rows, (size_t)(y->extra * u) * sizeof *J);
}

/* Writes the last row of K, which belongs to the last equation (family_row). */
static void close_with(const family_system *y, family_row row, const double *direction, double *K) {
  double *last = K + (y->size - 1) * y->size;
  memset(last, 0, (size_t)y->size * sizeof *last);
  if (row == FAMILY_ALONG)
    memcpy(last, direction, (size_t)(y->size - 1) * sizeof *last);
  else
    last[row == FAMILY_AMOUNT ? y->amount : y->mu] = 1;
}

/* Computes the matrix y->K of the system, and H and J of y->reduced. Must be called after residual() with order 2. */
static void matrix(family_system *y, const double *z, const conditions *k) {
  const int u = y->u, size = y->size, rows = y->count + y->extra;
  double *H = y->reduced->H, *J = y->reduced->J, *K = y->K;
  second_variation(y, z, k, H);
  gradients(y, k, J);
  memset(K, 0, (size_t)size * (size_t)size * sizeof *K);
  for (int p = 0; p < u; p++) {
    memcpy(K + p * size, H + p * u, (size_t)u * sizeof *K);
    for (int i = 0; i < rows; i++) {
      K[p * size + u + i] = J[i * u + p] * (i < y->count ? y->scale : 1);
      K[(u + i) * size + p] = J[i * u + p];
    }
    K[p * size + y->mu] = y->v->dcost[p] / 2;
  }
  K[(u + y->row) * size + y->amount] = -1;
  for (int i = 0; i < y->count; i++) K[y->mu * size + u + i] = z[u + i];
  K[y->mu * size + y->mu] = z[y->mu];
}

/* --- points --- */

cb_status family_correct(family_system *y, family_row row, const double *direction, double value, family_point *p,
                         int *iterations) {
  const int size = y->size;
  conditions k;
  int rank = 0, sign;
  bool keep = false;
  double before = INFINITY;
  if (row != FAMILY_ALONG) p->z[row == FAMILY_AMOUNT ? y->amount : y->mu] = value;
  memcpy(y->column, p->z, (size_t)size * sizeof *p->z); /* a copy of the guess */
  fix(y, p->z);
  for (*iterations = 0; *iterations < MAXIMUM; ++*iterations) {
    const cb_status status = residual(y, p->z, keep ? 1 : 2, &k);
    if (status) return status;
    y->f[size - 1] = 0;
    for (int i = 0; row == FAMILY_ALONG && i < size - 1; i++) y->f[size - 1] += direction[i] * (p->z[i] - y->column[i]);
    if (!keep) {
      matrix(y, p->z, &k);
      close_with(y, row, direction, y->K);
      rank = family_factor(size, y->K, y->pivot, &sign);
    }
    family_solve(size, y->K, y->pivot, rank, y->f, y->work, y->step);
    const double length = sqrt(cb_dot(size, y->step, y->step) / cb_dot(size, p->z, p->z));
    if (!(length < 1) || (*iterations > 1 && length > 2 * before && before > noise)) break;
    for (int i = 0; i < size; i++) p->z[i] -= y->step[i];
    if (length < done || (length > before / 4 && length < noise)) {
      p->cost = y->v->cost;
      return CB_OK;
    }
    keep = length < near_tolerance && (!keep || length < before / 10);
    before = length;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "a family of gaits cannot be followed past the amount %g: try a smaller range, or another start",
                 p->z[y->amount]);
}

cb_status family_look(family_system *y, const double *before, family_point *p) {
  const int size = y->size;
  conditions k;
  fix(y, p->z);
  const cb_status status = residual(y, p->z, 2, &k);
  if (status) return status;
  p->cost = y->v->cost;
  matrix(y, p->z, &k);
  const double *guide = before;
  if (guide)
    close_with(y, FAMILY_ALONG, guide, y->K);
  else
    close_with(y, FAMILY_AMOUNT, NULL, y->K);
  memset(y->f, 0, (size_t)size * sizeof *y->f);
  y->f[size - 1] = 1;
  const int rank = family_factor(size, y->K, y->pivot, &p->sign);
  family_solve(size, y->K, y->pivot, rank, y->f, y->work, p->tangent);
  const double length = sqrt(cb_dot(size - 1, p->tangent, p->tangent));
  for (int i = 0; i < size; i++) p->tangent[i] /= length;
  double rates = 0, c2 = 0;
  for (int a = 0; a < y->u; a++) c2 += a % y->basis->functions ? p->z[a] * p->z[a] : 0;
  rates = p->cost / c2;
  y->reduced->unknowns = y->u;
  y->reduced->rows = y->count + y->extra;
  cb_reduced_eigenvalues(y->reduced);
  /* an eigenvalue up to this size counts as 0; the size is relative to the curvature of the cost alone */
  const double none = 1e-7 * fabs(p->z[y->mu]) * rates;
  p->index = p->flat = p->values = 0;
  for (int i = 0; i < y->reduced->values; i++) {
    const double e = y->reduced->eigen[i];
    if (fabs(e) <= none) {
      p->flat++;
      continue;
    }
    p->index += e < 0;
    p->eigen[p->values++] = e;
  }
  return CB_OK;
}

cb_status family_transverse(family_system *y, const family_point *p, double *direction) {
  const int size = y->size;
  conditions k;
  int sign;
  fix(y, p->z);
  const cb_status status = residual(y, p->z, 2, &k);
  if (status) return status;
  matrix(y, p->z, &k);
  close_with(y, FAMILY_ALONG, p->tangent, y->K);
  family_factor(size, y->K, y->pivot, &sign);
  family_null(size, y->K, y->pivot, y->work, direction);
  const double length = sqrt(cb_dot(size - 1, direction, direction));
  for (int i = 0; i < size; i++) direction[i] /= length;
  return CB_OK;
}
