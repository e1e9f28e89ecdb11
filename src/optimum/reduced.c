/* Quadratic programs with equations. */
#include "optimum/reduced.h"

#include "core/arena.h"
#include "numerics/small.h"
#include "optimum/symmetric.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <string.h>

/* Below this share of the largest a curvature is no curvature, and a gradient of an equation depends on others. */
static const double least_curvature = 1e-6, least_gradient = 1e-11;
/* Of a matrix whose entries differ by many decades, what round-off leaves. */
static const double least_pivot = 1e-14;

struct cb_reduced_work {
  struct cb_arena *arena;
  double *beta, *pivot;                                         /* Householder's; R's rows in J */
  int *row;                                                     /* which equation is the k-th */
  double *a, *factor, *x, *y, *value, *off, *reflection, *pair; /* [unknowns], pair twice that */
  cb_rotation *rotation;
};

cb_status cb_reduced_create(int unknowns, int rows, cb_reduced **out) {
  struct cb_arena *arena = cb_arena_create();
  cb_reduced *r = cb_arena_alloc(arena, 1, sizeof *r);
  struct cb_reduced_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  if (!r || !w) return cb_arena_free(arena), cb_fail(CB_ERROR_MEMORY, "no memory for a quadratic program");
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
  bool room = (w->row = cb_arena_alloc(arena, k, sizeof *w->row)) != NULL;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    room = (*parts[i].at = cb_arena_alloc(arena, parts[i].count, sizeof(double))) && room;
  w->rotation = cb_arena_alloc(arena, (size_t)cb_symmetric_rotations(unknowns), sizeof *w->rotation);
  room = w->rotation && room;
  if (!room) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a quadratic program of %d unknowns", unknowns);
  }
  *out = r;
  return CB_OK;
}

void cb_reduced_free(cb_reduced *r) {
  if (r) cb_arena_free(r->work->arena);
}

/* x <- (1 - beta v v') x, v = (0 .. 0, 1 at k, ...) in J's row */
static void reflect(const cb_reduced *r, int k, double *x) {
  const double *v = r->J + k * r->unknowns;
  const double s = r->work->beta[k] * cb_dot(r->unknowns - k, v + k, x + k);
  for (int i = k; i < r->unknowns; i++) x[i] -= s * v[i];
}

static void swap_rows(cb_reduced *r, int k, int best) {
  struct cb_reduced_work *w = r->work;
  const int row = w->row[k];
  w->row[k] = w->row[best], w->row[best] = row;
  for (int i = 0; best != k && i < r->unknowns; i++) {
    const double t = r->J[k * r->unknowns + i];
    r->J[k * r->unknowns + i] = r->J[best * r->unknowns + i], r->J[best * r->unknowns + i] = t;
  }
  for (int i = 0; best != k && i < k; i++) {
    const double t = w->pivot[k * r->rows + i];
    w->pivot[k * r->rows + i] = w->pivot[best * r->rows + i], w->pivot[best * r->rows + i] = t;
  }
}

/* With the largest remaining gradient first. pivot[k][i], i <= k: J_k in the first columns of Q. */
static void factor(cb_reduced *r) {
  struct cb_reduced_work *w = r->work;
  const int u = r->unknowns;
  double largest = 0;
  r->rank = 0;
  for (int k = 0; k < r->rows; k++) w->row[k] = k;
  for (int k = 0; k < r->rows && k < u; k++) {
    int best = k;
    double most = -1;
    for (int j = k; j < r->rows; j++) {
      const double size = cb_dot(u - k, r->J + j * u + k, r->J + j * u + k);
      if (size > most) most = size, best = j;
    }
    largest = fmax(largest, most);
    if (!(most > least_gradient * least_gradient * largest)) return;
    swap_rows(r, k, best);
    double *v = r->J + k * u, norm = sqrt(most);
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

/* g <- Q'g; nu by R nu = -(Q'g)_1 */
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

/* H <- Q'HQ */
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

/* The reduced Hessian to a[m][m]. */
static int reduced_hessian(cb_reduced *r) {
  const int u = r->unknowns, k = r->rank, m = u - k;
  for (int i = 0; i < m; i++) memcpy(r->work->a + i * m, r->H + (i + k) * u + k, (size_t)m * sizeof(double));
  return m;
}

/* Its eigenvalues, z by rotations: how many of these, -1 where it is not finite. */
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

/* z in place of its right side, by eigenvalues' sizes. */
static cb_status solve_indefinite(cb_reduced *r, int m, double *z) {
  struct cb_reduced_work *w = r->work;
  const int count = eigen(r, m, z);
  if (count < 0) return cb_fail(CB_STEP_NOT_FINITE, "a quadratic program has no solution");
  const double floor = least_curvature * (r->size > 0 ? r->size : fmax(fabs(r->eigen[0]), fabs(r->eigen[m - 1])));
  for (int k = 0; k < m; k++) {
    const double size = fmax(fabs(w->value[k]), floor);
    z[k] /= r->stationary && w->value[k] < 0 ? -size : size;
  }
  cb_symmetric_rotate_back(count, w->rotation, z);
  cb_symmetric_reflect(m, w->a, w->reflection, true, z);
  return CB_OK;
}

/* R' x = -c */
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
    if (!isfinite(x[i])) return cb_fail(CB_STEP_NOT_FINITE, "a quadratic program has no solution");
  return CB_OK;
}
