/* Quadratic programs with equality constraints, and projections on cones (reduced.h). */
#include "optimum/reduced.h"

#include "core/arena.h"
#include "numerics/small.h"
#include "optimum/symmetric.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <string.h>

/* A curvature below least_curvature, relative to the largest curvature, is raised to this value. An equation whose
 * remaining gradient is below least_gradient, relative to the largest gradient, counts as dependent on the others. */
static const double least_curvature = 1e-6, least_gradient = 1e-11;
/* The least pivot, relative to its diagonal entry, of a matrix that counts as positive definite if the option `size` is
 * set. It is the round-off of a matrix whose entries differ by many decades. */
static const double least_pivot = 1e-14;

struct cb_reduced_work {
  struct cb_arena *arena;
  double *beta, *pivot; /* beta: [rows], the factors of Householder's reflections; pivot: [rows][rows], the matrix R' */
  int *row;             /* [rows]: the index of the equation that became row k of the factors */
  double *a, *factor, *x, *y, *value, *off, *reflection, *pair; /* a, factor: [unknowns][unknowns]; pair: [2 unknowns];
                                                                 * the others: [unknowns] */
  cb_rotation *rotation;
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
  w->rotation = cb_arena_alloc(arena, (size_t)cb_symmetric_rotations(unknowns), sizeof *w->rotation);
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

/* Factors J. Each step takes the equation with the largest remaining gradient. pivot[k][i], i <= k: the component of
 * gradient k along column i of Q. */
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
    cb_symmetric_times(u, u, r->H, v, p);
    for (int i = 0; i < u; i++) p[i] *= beta;
    const double s = beta / 2 * cb_dot(u - k, p + k, v + k);
    for (int i = k; i < u; i++) p[i] -= s * v[i];
    cb_symmetric_take(u, u, v, p, r->H);
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
  cb_symmetric_reduce(m, w->a, w->value, w->off, w->reflection, w->pair);
  if (z) cb_symmetric_reflect(m, w->a, w->reflection, false, z);
  const int count = cb_symmetric_diagonal(m, w->value, w->off, z, w->rotation);
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

/* Replaces the right side z by the solution, where the eigenvalues are replaced by their absolute values, but at least
 * by least_curvature of their scale. With the option `stationary` they keep their signs. */
static cb_status solve_indefinite(cb_reduced *r, int m, double *z) {
  struct cb_reduced_work *w = r->work;
  const int count = eigen(r, m, z);
  if (count < 0) return cb_fail(CB_STEP_NOT_FINITE, "a quadratic program has no finite solution: try another start");
  const double floor = least_curvature * (r->size > 0 ? r->size : fmax(fabs(r->eigen[0]), fabs(r->eigen[m - 1])));
  for (int k = 0; k < m; k++) {
    const double size = fmax(fabs(w->value[k]), floor);
    z[k] /= r->stationary && w->value[k] < 0 ? -size : size;
  }
  cb_symmetric_rotate_back(count, w->rotation, z);
  cb_symmetric_reflect(m, w->a, w->reflection, true, z);
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
  r->convex = cb_symmetric_factor(m, r->size > 0 ? least_pivot : least_curvature, w->a, w->factor);
  const cb_status status = r->convex ? CB_OK : solve_indefinite(r, m, z);
  if (status) return status;
  if (r->convex) cb_symmetric_solve(m, w->factor, z);
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

/* Factors K, which is G with y_i/z_i added to its diagonal. Because G has round-off, a shift of the diagonal is
 * increased until K is positive definite. Returns false if no shift suffices. */
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

/* Computes Newton's step dz, dy towards y_i z_i = tau - second_i (second NULL: 0). */
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
  static const double tolerance = 1e-13; /* limit of y'z, which is the square of the error of x; the round-off of G
                                          * leaves about 1e-15 */
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
