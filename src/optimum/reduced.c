/* Quadratic programs with equality constraints, projections on cones, and sums of outer products (reduced.h). The
 * first part computes Cholesky factors and functions of symmetric matrices a[n][n] with some hundred rows, which are
 * stored in full by rows. Results are the same, bit for bit, for vector registers of any width.
 *
 *   a = U'U;   a = Q T Q', T tridiagonal, Q: reflections 1 - beta v v';   T = Z D Z', Z: rotations
 * U: upper triangular; D: diagonal; v, beta: a vector and a number for each reflection; a prime: the transpose. Q and Z
 * are products of reflections and of rotations. For a function f and a vector b, f(a) b = Q Z f(D) Z' Q' b: reflections
 * and rotations are applied to vectors, and Q Z is never formed.
 * Source: Golub & Van Loan, Matrix Computations, 4th ed. (2013), sections 4.2 and 8.3.
 */
#include "optimum/reduced.h"

#include "core/arena.h"
#include "numerics/small.h"

#include <float.h>
#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <string.h>

/* Compiles a function for wider registers too, with the same results bit for bit. The loops of the function may contain
 * only elementwise products and sums. The macro is empty for clang, because clang 14 gives a cloned function a name
 * that other files do not find. */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define CB_LANES __attribute__((target_clones("avx2", "default")))
#else
#define CB_LANES
#endif

typedef struct rotation {
  double c, s;
  int at;
} rotation;

/* --- symmetric matrices: Cholesky factors --- */

/* Writes the Cholesky factor U of a to the upper triangle of u, which must not be the array a. Returns false if a pivot
 * is not finite, or not above `least` times the diagonal entry of a in its row. */
static CB_LANES bool symmetric_factor(int n, double least, const double *a, double *u) {
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

/* Replaces x by a^-1 x, given the factor u of a. */
static void symmetric_solve(int n, const double *u, double *x) {
  for (int k = 0; k < n; k++) {
    const double *row = u + k * n;
    x[k] /= row[k];
    for (int j = k + 1; j < n; j++) x[j] -= row[j] * x[k];
  }
  for (int k = n - 1; k >= 0; k--) x[k] = (x[k] - cb_dot(n - k - 1, u + k * n + k + 1, x + k + 1)) / u[k * n + k];
}

/* --- tridiagonal form --- */

/* Computes p = a x for a block a of n rows; consecutive rows are `stride` numbers apart. The sum p = sum_i x_i a_i over
 * the rows a_i takes four rows in one pass. */
static CB_LANES void symmetric_times(int n, int stride, const double *a, const double *x, double *restrict p) {
  int i = 0;
  memset(p, 0, (size_t)n * sizeof *p);
  for (; i + 4 <= n; i += 4) {
    const double *b = a + i * stride, *c = b + stride, *d = c + stride, *e = d + stride;
    for (int j = 0; j < n; j++) p[j] += x[i] * b[j] + x[i + 1] * c[j] + x[i + 2] * d[j] + x[i + 3] * e[j];
  }
  for (; i < n; i++)
    for (int j = 0; j < n; j++) p[j] += x[i] * a[i * stride + j];
}

/* Subtracts x y' + y x' from a block a of n rows; consecutive rows are `stride` numbers apart. */
static CB_LANES void symmetric_take(int n, int stride, const double *x, const double *y, double *restrict a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * stride + j] -= x[i] * y[j] + y[i] * x[j];
}

/* Reduces the symmetric matrix a to a tridiagonal matrix T by Householder's reflections. d[n] becomes the diagonal of
 * T, and e[n] its entries next to the diagonal (the last one is 0). The rows of a are overwritten by the vectors v of
 * the reflections; beta[n] are their factors. scratch[n] is work memory. */
static void symmetric_reduce(int n, double *a, double *d, double *e, double *beta, double *scratch) {
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
    symmetric_times(m, n, block, v, p);
    for (int i = 0; i < m; i++) p[i] *= beta[k];
    const double part = beta[k] / 2 * cb_dot(m, p, v);
    for (int i = 0; i < m; i++) p[i] -= part * v[i];
    symmetric_take(m, n, v, p, block);
  }
}

/* Replaces x by Q'x, or, if `back` is true, by Q x. a and beta are those of symmetric_reduce. */
static void symmetric_reflect(int n, const double *a, const double *beta, bool back, double *x) {
  for (int step = 0; step < n; step++) {
    const int k = back ? n - 1 - step : step, m = n - k - 1;
    const double *v = a + k * n + k + 1;
    if (beta[k] == 0) continue;
    const double part = beta[k] * cb_dot(m, v, x + k + 1);
    for (int i = 0; i < m; i++) x[k + 1 + i] -= part * v[i];
  }
}

/* --- diagonal form --- */

/* Returns the maximum number of rotations in the computation of the n eigenvalues of a tridiagonal matrix. */
static int symmetric_rotations(int n) { return n * n + 40 * n; }

/* Takes one step of implicit QR with Wilkinson's shift on the rows `low` to `high`. `count` is the number of rotations
 * before the step; returns the number after it. */
static int qr_step(int low, int high, double *d, double *e, double *x, int count, rotation *kept) {
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
    kept[count++] = (rotation){c, s, k};
  }
  return count;
}

/* Computes the eigenvalues of the tridiagonal matrix T with the diagonal d and the entries e next to it: T = Z D Z',
 * where D is diagonal and Z is a product of rotations. d is replaced by the eigenvalues D, e by zero, and x (NULL:
 * none) by Z'x. Returns the number of rotations, or -1 if the iteration does not converge, for example because a number
 * is not finite. The rotations are stored in `kept` if x is not NULL. */
static int symmetric_diagonal(int n, double *d, double *e, double *x, rotation *kept) {
  int high = n - 1, count = 0;
  for (long turns = 0, maximum = symmetric_rotations(n); high > 0;) {
    int low = high;
    while (low > 0 && !(fabs(e[low - 1]) <= DBL_EPSILON / 2 * (fabs(d[low - 1]) + fabs(d[low])))) low--;
    if (low > 0) e[low - 1] = 0;
    if (low == high) {
      high--;
      continue;
    }
    turns += high - low;
    if (turns > maximum) return -1;
    count = qr_step(low, high, d, e, x, count, kept);
  }
  return count;
}

/* Replaces x by Z x, from the rotations that symmetric_diagonal kept. */
static void symmetric_rotate_back(int count, const rotation *kept, double *x) {
  for (int k = count - 1; k >= 0; k--) {
    const rotation *r = &kept[k];
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

/* --- quadratic programs --- */

/* A curvature below least_curvature times the largest curvature is raised to this product. In the factorisation of J,
 * an equation counts as dependent on the others if the rest of its gradient is below least_gradient times the largest
 * gradient. */
static const double least_curvature = 1e-6, least_gradient = 1e-11;
/* If the option `size` is set, a matrix counts as positive definite if each pivot is at least this number times its
 * diagonal entry. This is the round-off of a matrix whose entries differ by many powers of 10. */
static const double least_pivot = 1e-14;

struct cb_reduced_work {
  struct cb_arena *arena;
  double *beta, *pivot; /* beta: [rows], the factors of Householder's reflections; pivot: [rows][rows], the matrix R' */
  int *row;             /* [rows]: the index of the equation that became row k of the factors */
  /* Scratch: a and factor have [unknowns][unknowns] numbers, pair has [2 unknowns], the other arrays have
   * [unknowns]. */
  double *a, *factor, *x, *y, *value, *off, *reflection, *pair;
  rotation *rotation;
};

cb_status cb_reduced_create(int unknowns, int rows, cb_reduced **out) {
  struct cb_arena *arena = cb_arena_create();
  cb_reduced *r = cb_arena_alloc(arena, 1, sizeof *r);
  struct cb_reduced_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  if (!r || !w) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a quadratic program");
  }
  const size_t u = (size_t)unknowns, k = (size_t)rows;
  *r = (cb_reduced){.unknowns = unknowns, .rows = rows, .work = w};
  w->arena = arena;
  const struct {
    double **at;
    size_t count;
  } parts[] = {{&r->H, u * u},      {&r->J, k * u},   {&r->g, u},    {&r->c, k},         {&r->step, u},
               {&r->multiplier, k}, {&r->eigen, u},   {&w->beta, k}, {&w->pivot, k * k}, {&w->a, u * u},
               {&w->factor, u * u}, {&w->x, u},       {&w->y, u},    {&w->value, u},     {&w->off, u},
               {&w->reflection, u}, {&w->pair, 2 * u}};
  bool allocated = (w->row = cb_arena_alloc(arena, k, sizeof *w->row)) != NULL;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    allocated = (*parts[i].at = cb_arena_alloc(arena, parts[i].count, sizeof(double))) && allocated;
  w->rotation = cb_arena_alloc(arena, (size_t)symmetric_rotations(unknowns), sizeof *w->rotation);
  allocated = w->rotation && allocated;
  if (!allocated) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a quadratic program of %d unknowns", unknowns);
  }
  *out = r;
  return CB_OK;
}

void cb_reduced_free(cb_reduced *r) {
  if (r) cb_arena_free(r->work->arena);
}

/* Replaces x by (1 - beta v v') x. The vector v is row k of J: its entries before k count as 0, and entry k is 1. */
static void reflect(const cb_reduced *r, int k, double *x) {
  const double *v = r->J + k * r->unknowns;
  const double s = r->work->beta[k] * cb_dot(r->unknowns - k, v + k, x + k);
  for (int i = k; i < r->unknowns; i++) x[i] -= s * v[i];
}

static void swap_rows(cb_reduced *r, int k, int best) {
  struct cb_reduced_work *w = r->work;
  const int row = w->row[k];
  w->row[k] = w->row[best];
  w->row[best] = row;
  for (int i = 0; best != k && i < r->unknowns; i++) {
    const double t = r->J[k * r->unknowns + i];
    r->J[k * r->unknowns + i] = r->J[best * r->unknowns + i];
    r->J[best * r->unknowns + i] = t;
  }
  for (int i = 0; best != k && i < k; i++) {
    const double t = w->pivot[k * r->rows + i];
    w->pivot[k * r->rows + i] = w->pivot[best * r->rows + i];
    w->pivot[best * r->rows + i] = t;
  }
}

/* Factors J. Each step takes the equation with the largest remaining gradient. pivot[k][i] with i <= k becomes the
 * component of gradient k along column i of Q. */
static void factor(cb_reduced *r) {
  struct cb_reduced_work *w = r->work;
  const int u = r->unknowns;
  double largest = 0;
  r->rank = 0;
  for (int k = 0; k < r->rows; k++) w->row[k] = k;
  for (int k = 0; k < r->rows && k < u; k++) {
    int best = k;
    double maximum = -1;
    for (int j = k; j < r->rows; j++) {
      const double size = cb_dot(u - k, r->J + j * u + k, r->J + j * u + k);
      if (size > maximum) {
        maximum = size;
        best = j;
      }
    }
    largest = fmax(largest, maximum);
    if (!(maximum > least_gradient * least_gradient * largest)) return;
    swap_rows(r, k, best);
    double *v = r->J + k * u, norm = sqrt(maximum);
    const double first = v[k] > 0 ? -norm : norm, pivot = v[k] - first;
    w->pivot[k * r->rows + k] = first;
    for (int i = k + 1; i < u; i++) v[i] /= pivot;
    v[k] = 1;
    w->beta[k] = -pivot / first;
    r->rank = k + 1;
    for (int j = k + 1; j < r->rows; j++) {
      reflect(r, k, r->J + j * u);
      w->pivot[j * r->rows + k] = r->J[j * u + k];
    }
  }
}

/* Replaces g by Q'g, and computes slope = |(Q'g)_2| and the multipliers nu from R nu = -(Q'g)_1. */
static void slope(cb_reduced *r) {
  struct cb_reduced_work *w = r->work;
  for (int k = 0; k < r->rank; k++) reflect(r, k, r->g);
  r->slope = sqrt(cb_dot(r->unknowns - r->rank, r->g + r->rank, r->g + r->rank));
  for (int k = 0; k < r->rows; k++) r->multiplier[k] = 0;
  for (int k = r->rank - 1; k >= 0; k--) {
    double sum = -r->g[k];
    for (int j = k + 1; j < r->rank; j++) sum -= w->pivot[j * r->rows + k] * r->multiplier[w->row[j]];
    r->multiplier[w->row[k]] = sum / w->pivot[k * r->rows + k];
  }
}

void cb_reduced_slope(cb_reduced *r) {
  factor(r);
  slope(r);
}

/* Replaces H by Q'HQ. */
static void rotate(cb_reduced *r) {
  const int u = r->unknowns;
  double *p = r->work->x, *v = r->work->y;
  for (int k = 0; k < r->rank; k++) {
    const double beta = r->work->beta[k];
    memset(v, 0, (size_t)k * sizeof *v);
    memcpy(v + k, r->J + k * u + k, (size_t)(u - k) * sizeof *v);
    symmetric_times(u, u, r->H, v, p);
    for (int i = 0; i < u; i++) p[i] *= beta;
    const double s = beta / 2 * cb_dot(u - k, p + k, v + k);
    for (int i = k; i < u; i++) p[i] -= s * v[i];
    symmetric_take(u, u, v, p, r->H);
  }
}

/* Copies the reduced Hessian to work->a[m][m]; returns m. */
static int reduced_hessian(cb_reduced *r) {
  const int u = r->unknowns, k = r->rank, m = u - k;
  for (int i = 0; i < m; i++) memcpy(r->work->a + i * m, r->H + (i + k) * u + k, (size_t)m * sizeof(double));
  return m;
}

/* Computes the eigenvalues of the reduced Hessian, and replaces z (NULL: none) by its components along the
 * eigenvectors. Returns the number of rotations, or -1 if a number is not finite. */
static int eigen(cb_reduced *r, int m, double *z) {
  struct cb_reduced_work *w = r->work;
  symmetric_reduce(m, w->a, w->value, w->off, w->reflection, w->pair);
  if (z) symmetric_reflect(m, w->a, w->reflection, false, z);
  const int count = symmetric_diagonal(m, w->value, w->off, z, w->rotation);
  memcpy(r->eigen, w->value, (size_t)m * sizeof *w->value);
  gsl_sort(r->eigen, 1, (size_t)m);
  r->values = m;
  return count;
}

void cb_reduced_eigenvalues(cb_reduced *r) {
  factor(r);
  rotate(r);
  eigen(r, reduced_hessian(r), NULL);
}

/* Solves the equations with the reduced matrix, and replaces the right side z by the solution. Each eigenvalue is
 * replaced by its absolute value, or by a minimum if this is larger. The minimum is least_curvature times r->size, or
 * times the largest absolute value if r->size is 0. With the option `stationary`, negative eigenvalues then get their
 * sign back. */
static cb_status solve_indefinite(cb_reduced *r, int m, double *z) {
  struct cb_reduced_work *w = r->work;
  const int count = eigen(r, m, z);
  if (count < 0) return cb_fail(CB_STEP_NOT_FINITE, "a quadratic program has no finite solution: try another start");
  const double floor = least_curvature * (r->size > 0 ? r->size : fmax(fabs(r->eigen[0]), fabs(r->eigen[m - 1])));
  for (int k = 0; k < m; k++) {
    const double size = fmax(fabs(w->value[k]), floor);
    z[k] /= r->stationary && w->value[k] < 0 ? -size : size;
  }
  symmetric_rotate_back(count, w->rotation, z);
  symmetric_reflect(m, w->a, w->reflection, true, z);
  return CB_OK;
}

/* Solves R' x = -c. */
static void forward(const cb_reduced *r, const double *c, double *x) {
  const struct cb_reduced_work *w = r->work;
  for (int k = 0; k < r->rank; k++) {
    double sum = -c[w->row[k]];
    for (int j = 0; j < k; j++) sum -= w->pivot[k * r->rows + j] * x[j];
    x[k] = sum / w->pivot[k * r->rows + k];
  }
}

void cb_reduced_restore(const cb_reduced *r, const double *c, double *step) {
  memset(step, 0, (size_t)r->unknowns * sizeof *step);
  forward(r, c, step);
  for (int k = r->rank - 1; k >= 0; k--) reflect(r, k, step);
}

cb_status cb_reduced_solve(cb_reduced *r) {
  struct cb_reduced_work *w = r->work;
  const int u = r->unknowns;
  factor(r);
  slope(r);
  rotate(r);
  double *x = r->step;
  forward(r, r->c, x);
  const int m = reduced_hessian(r);
  double *z = x + r->rank;
  for (int i = 0; i < m; i++) z[i] = -r->g[i + r->rank] - cb_dot(r->rank, r->H + (i + r->rank) * u, x);
  r->convex = symmetric_factor(m, r->size > 0 ? least_pivot : least_curvature, w->a, w->factor);
  const cb_status status = r->convex ? CB_OK : solve_indefinite(r, m, z);
  if (status) return status;
  if (r->convex) symmetric_solve(m, w->factor, z);
  for (int k = r->rank - 1; k >= 0; k--) reflect(r, k, x);
  for (int i = 0; i < u; i++)
    if (!isfinite(x[i]))
      return cb_fail(CB_STEP_NOT_FINITE, "a quadratic program has no finite solution: try another start");
  return CB_OK;
}

/* --- interior points for the projection on a cone: G z - b = y, G = A A', b = A g/|g| (reduced.h) --- */

typedef struct cone {
  int m;
  double *G, *K, *b, *z, *y, *dz, *dy, *off;
  cb_arena *arena;
} cone;

static cb_status create(int m, int n, const double *A, const double *g, double *z, double *y, cone *c) {
  const size_t square = (size_t)m * (size_t)m;
  *c = (cone){.m = m, .z = z, .y = y, .arena = cb_arena_create()};
  cb_arena_doubles(c->arena, square, &c->G, &c->K);
  cb_arena_doubles(c->arena, (size_t)m, &c->b, &c->dz, &c->dy, &c->off);
  if (cb_arena_lost(c->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for %d active constraints", m);
  const double size = sqrt(cb_dot(n, g, g));
  for (int i = 0; i < m; i++) {
    c->b[i] = size > 0 ? cb_dot(n, A + i * n, g) / size : 0;
    for (int j = 0; j <= i; j++) c->G[i * m + j] = c->G[j * m + i] = cb_dot(n, A + i * n, A + j * n);
  }
  return CB_OK;
}

/* Factors K, which is G with y_i/z_i added to its diagonal. G has round-off, so K may not be positive definite.
 * Therefore a number is added to the whole diagonal, and increased until K is positive definite. Returns false if no
 * number suffices. */
static bool factor_cone(cone *c) {
  const int m = c->m;
  double maximum = 0;
  for (int i = 0; i < m; i++) maximum = fmax(maximum, c->G[i * m + i]);
  for (double ridge = 1e-15 * maximum; ridge < maximum; ridge *= 100) {
    memcpy(c->K, c->G, (size_t)(m * m) * sizeof *c->K);
    for (int i = 0; i < m; i++) c->K[i * m + i] += c->y[i] / c->z[i] + ridge;
    if (cb_cholesky(m, c->K, 0, c->K)) return true;
  }
  return false;
}

/* Computes the step dz, dy of Newton's method for the equations G z - b = y and y_i z_i = tau - second_i. If `second`
 * is NULL, second_i is 0. */
static void step(cone *c, double tau, const double *second) {
  const int m = c->m;
  for (int i = 0; i < m; i++) c->dz[i] = -c->off[i] + (tau - (second ? second[i] : 0)) / c->z[i] - c->y[i];
  cb_cholesky_solve(m, c->K, c->dz);
  for (int i = 0; i < m; i++) c->dy[i] = (tau - (second ? second[i] : 0) - c->y[i] * c->dz[i]) / c->z[i] - c->y[i];
}

/* Returns the largest fraction, at most 1, of the step dz, dy that reduces each y_i and z_i by at most `share` of its
 * value. */
static double reach(const cone *c, double share) {
  double s = 1;
  for (int i = 0; i < c->m; i++) {
    if (c->dz[i] < 0) s = fmin(s, -share * c->z[i] / c->dz[i]);
    if (c->dy[i] < 0) s = fmin(s, -share * c->y[i] / c->dy[i]);
  }
  return s;
}

static void move(cone *c, double s) {
  for (int i = 0; i < c->m; i++) {
    c->z[i] += s * c->dz[i];
    c->y[i] += s * c->dy[i];
  }
}

static cb_status iterate(cone *c, double *second) {
  enum { ROUNDS = 100 };
  /* limit of y'z, which is about the square of the error of x; the round-off of G leaves y'z at about 1e-15 */
  static const double tolerance = 1e-13;
  const int m = c->m;
  double maximum = 0;
  for (int i = 0; i < m; i++) maximum = fmax(maximum, sqrt(c->G[i * m + i]));
  for (int i = 0; i < m; i++) {
    c->y[i] = maximum;
    c->z[i] = 1 / maximum;
  }
  for (int round = 0; round < ROUNDS; round++) {
    const double tau = cb_dot(m, c->y, c->z) / m;
    double off = 0, after = 0;
    for (int i = 0; i < m; i++) {
      c->off[i] = cb_dot(m, c->G + i * m, c->z) - c->b[i] - c->y[i];
      off = fmax(off, fabs(c->off[i]));
    }
    if (tau * m < tolerance && off < 1e-12 * maximum) return CB_OK;
    if (!factor_cone(c)) break;
    step(c, 0, NULL);
    const double s = reach(c, 1);
    for (int i = 0; i < m; i++) {
      after += (c->y[i] + s * c->dy[i]) * (c->z[i] + s * c->dz[i]) / m;
      second[i] = c->dy[i] * c->dz[i];
    }
    step(c, tau * pow(fmax(after, 0) / tau, 3), second);
    move(c, reach(c, .99));
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "the forces of %d active constraints did not converge: try a gait with fewer active constraints", m);
}

cb_status cb_cone_projection(int rows, int n, const double *A, const double *g, double *z, double *y) {
  cone c;
  cb_status status = create(rows, n, A, g, z, y, &c);
  double *second = status ? NULL : cb_arena_alloc(c.arena, (size_t)rows, sizeof *second);
  if (!status && !second) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d active constraints", rows);
  if (!status) status = iterate(&c, second);
  cb_arena_free(c.arena);
  return status;
}
