/* An estimate of the error of the connection A of a bundle from a table.
 *
 *   e = |s_2 - A| at the samples; s_2: the spline through every second sample and the last one, of degree p if possible
 * On a grid twice as coarse the error is 2^(p+1) times larger, so that e/2^(p+1) is the error of the spline through all
 * samples. A coarse table may not have this rate of convergence. Then the factor is the ratio of the largest e with
 * every fourth sample to the largest e with every second sample. It is 2^((p+1)/2) if there are too few samples for
 * this, and 1 if s_2 has a lower degree. The estimate is e divided by a quarter of the factor, or e if this quarter is
 * below 1. The estimate in a cell is the maximum over the samples up to CELLS away on each side, plus the round-off of
 * the table. A single sample is not enough, because near a border e can be 0 although the error is not.
 */
#include "bundle/samples.h"
#include <curvebody/holonomy.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 6 };

/* Chooses the samples 0, d, 2 d, .. of an axis, and the last one if the axis has no period; at least two. Returns their
 * number. */
static int every(const cb_spline_axis *a, int d, int *index) {
  int count = 0;
  for (int i = 0; i < a->points; i += d) index[count++] = i;
  if (!(a->period > 0) && index[count - 1] != a->points - 1) index[count++] = a->points - 1;
  if (count < 2) index[count++] = a->points / 2;
  return count;
}

/* Creates the spline through every d-th sample. *lower: its degree is lower than that of the table, for lack of
 * samples. */
static cb_status coarse_grid(const cb_samples *s, int count, const double *samples, int d, cb_arena *arena,
                             cb_spline_grid *out, bool *lower) {
  const cb_spline_grid *g = &s->grid;
  int *index[CB_SAMPLES_AXES], k[CB_SAMPLES_AXES] = {0}, axis = 0;
  size_t total = 1;
  *out = (cb_spline_grid){.n = g->n, .entries = count};
  *lower = false;
  for (int i = 0; i < g->n; i++) {
    const cb_spline_axis *a = &g->axis[i];
    int degree = a->degree;
    index[i] = cb_arena_alloc(arena, (size_t)a->points + 1, sizeof *index[i]);
    double *x = cb_arena_alloc(arena, (size_t)a->points + 1, sizeof *x);
    if (!index[i] || !x) return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
    const int points = every(a, d, index[i]);
    while (degree >= points) degree -= 2;
    *lower = *lower || degree < a->degree;
    for (int p = 0; p < points; p++) x[p] = a->x[index[i][p]];
    const cb_status status = cb_spline_axis_create(degree, points, x, a->period, arena, &out->axis[i]);
    if (status) return status;
    total *= (size_t)points;
  }
  out->coefficient = cb_arena_alloc(arena, total * (size_t)count, sizeof *out->coefficient);
  if (!out->coefficient) return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
  for (double *c = out->coefficient; axis >= 0; c += count) {
    size_t at = 0;
    for (int i = 0; i < g->n; i++) at = at * (size_t)g->axis[i].points + (size_t)index[i][k[i]];
    memcpy(c, samples + at * (size_t)g->entries, (size_t)count * sizeof *c);
    for (axis = g->n - 1; axis >= 0 && ++k[axis] == out->axis[axis].points; axis--) k[axis] = 0;
  }
  return cb_spline_grid_solve(out);
}

/* Evaluates the spline on axis c at the samples of axis a. The coefficients are from[outer][points of c][inner]; the
 * result is to[outer][points of a][inner]. */
static void expand(const cb_spline_axis *c, const cb_spline_axis *a, size_t outer, size_t inner, const double *from,
                   double *to) {
  memset(to, 0, outer * (size_t)a->points * inner * sizeof *to);
  for (int k = 0; k < a->points; k++) {
    double x = a->x[k], basis[1][CB_SPLINE_BASIS];
    int coefficient[CB_SPLINE_BASIS];
    const int span = cb_spline_span(c, &x); /* x is inside the grid, since the ends are among the samples */
    cb_spline_basis(c, span, x, 0, basis, coefficient);
    for (size_t o = 0; o < outer; o++) {
      double *row = to + (o * (size_t)a->points + (size_t)k) * inner;
      for (int j = 0; j <= c->degree; j++) {
        const double *own = from + (o * (size_t)c->points + (size_t)coefficient[j]) * inner;
        for (size_t i = 0; i < inner; i++) row[i] += basis[0][j] * own[i];
      }
    }
  }
}

/* Computes the values of the spline through every d-th sample at all samples: value[points_1]..[points_n][count]. */
static cb_status at_samples(const cb_samples *s, int count, const double *samples, int d, cb_arena *arena,
                            double *value, bool *lower) {
  const cb_spline_grid *g = &s->grid;
  cb_spline_grid coarse;
  const cb_status status = coarse_grid(s, count, samples, d, arena, &coarse, lower);
  if (status) return status;
  const double *from = coarse.coefficient;
  size_t outer = 1, inner = (size_t)count;
  for (int i = 0; i < g->n; i++) inner *= (size_t)coarse.axis[i].points;
  for (int i = 0; i < g->n; i++) {
    const size_t points = (size_t)g->axis[i].points;
    inner /= (size_t)coarse.axis[i].points;
    double *to = i == g->n - 1 ? value : cb_arena_alloc(arena, outer * points * inner, sizeof *to);
    if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
    expand(&coarse.axis[i], &g->axis[i], outer, inner, from, to);
    from = to;
    outer *= points;
  }
  return CB_OK;
}

/* Computes e (top of this file) from every d-th sample, e[points_1]..[points_n][count], and its maximum
 * greatest[count]. */
static cb_status left_out(const cb_samples *s, int count, const double *samples, int d, double *e, double *greatest,
                          bool *lower) {
  cb_arena *arena = cb_arena_create();
  const cb_status status =
      arena ? at_samples(s, count, samples, d, arena, e, lower) : cb_fail(CB_ERROR_MEMORY, "no memory for a table");
  size_t total = 1;
  for (int i = 0; i < s->grid.n; i++) total *= (size_t)s->grid.axis[i].points;
  for (; !status && total > 0; total--, e += count, samples += s->grid.entries)
    for (int c = 0; c < count; c++) {
      e[c] = fabs(e[c] - samples[c]);
      greatest[c] = fmax(greatest[c], e[c]);
    }
  cb_arena_free(arena);
  return status;
}

/* Returns the number of cells between neighbouring samples along an axis. */
static int cells(const cb_spline_axis *a) { return a->period > 0 ? a->points : a->points - 1; }

/* Computes to[outer][cells][inner], the maximum of from[outer][points][inner] over the samples at most CELLS away from
 * a cell. */
static void spread(const cb_spline_axis *a, size_t outer, size_t inner, const double *from, double *to) {
  const int n = a->points;
  for (size_t o = 0; o < outer; o++)
    for (int c = 0; c < cells(a); c++, to += inner) {
      memset(to, 0, inner * sizeof *to);
      for (int k = c - CELLS; k <= c + 1 + CELLS; k++) {
        if (!(a->period > 0) && (k < 0 || k >= n)) continue;
        const double *row = from + (o * (size_t)n + (size_t)((k % n + n) % n)) * inner;
        for (size_t i = 0; i < inner; i++) to[i] = fmax(to[i], row[i]);
      }
    }
}

cb_status cb_samples_estimate(cb_samples *s, int count, const double *samples) {
  const cb_spline_grid *g = &s->grid;
  const int order = g->axis[0].degree + 1;
  double second[CB_GROUP_DIM * CB_SAMPLES_AXES] = {0}, fourth[CB_GROUP_DIM * CB_SAMPLES_AXES] = {0};
  double size[CB_GROUP_DIM * CB_SAMPLES_AXES] = {0};
  bool lower = false, lowest = false;
  size_t total = 1, inner = (size_t)count, outer = 1;
  for (int i = 0; i < g->n; i++) total *= (size_t)g->axis[i].points;
  double *e = malloc(total * (size_t)count * sizeof *e), *to = malloc(total * (size_t)count * sizeof *to);
  s->greatest = cb_arena_alloc(s->arena, (size_t)count, sizeof *s->greatest);
  s->error = cb_arena_alloc(s->arena, total * (size_t)count, sizeof *s->error);
  cb_status status = e && to && s->greatest && s->error ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a table");
  if (!status) status = left_out(s, count, samples, 4, e, fourth, &lowest);
  if (!status) status = left_out(s, count, samples, 2, e, second, &lower);
  for (size_t i = 0; !status && i < total; i++)
    for (int c = 0; c < count; c++) size[c] = fmax(size[c], fabs(samples[i * (size_t)g->entries + (size_t)c]));
  for (int c = 0; c < count && !status; c++) {
    const double maximum = ldexp(1, order), seen = second[c] > 0 ? fourth[c] / second[c] : maximum;
    const double ratio = lower ? 1 : lowest ? ldexp(1, order / 2) : fmin(seen, maximum);
    for (size_t i = 0; i < total; i++) {
      double *own = &e[i * (size_t)count + (size_t)c];
      *own = *own * (ratio > 4 ? 4 / ratio : 1) + 16 * DBL_EPSILON * size[c];
      s->greatest[c] = fmax(s->greatest[c], *own);
    }
  }
  inner *= total;
  for (int i = 0; i < g->n && !status; i++) {
    inner /= (size_t)g->axis[i].points;
    spread(&g->axis[i], outer, inner, e, to);
    outer *= (size_t)cells(&g->axis[i]);
    double *swap = e;
    e = to;
    to = swap;
  }
  if (!status) memcpy(s->error, e, outer * (size_t)count * sizeof *e);
  free(e);
  free(to);
  return status;
}

/* --- evaluation --- */

static cb_status check_class(const cb_bundle *b) {
  if (b->class_ == &cb_samples_class) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "bundle %s is not from a table: expected a bundle of cb_bundle_samples",
                 b->class_->name);
}

/* Returns the cell of an axis that contains x; x must be inside the grid. */
static int cell(const cb_spline_axis *a, double x) {
  int low = 0, high = a->points;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (a->x[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  return low < cells(a) ? low : cells(a) - 1;
}

cb_status cb_bundle_samples_error(const cb_bundle *b, const double *r, double *error) {
  const cb_status status = check_class(b);
  if (status) return status;
  const cb_samples *s = b->self;
  const size_t count = (size_t)(b->group->dim * b->n);
  const double *from = s->greatest;
  if (r) {
    size_t at = 0;
    for (int i = 0; i < b->n; i++) {
      const cb_spline_axis *a = &s->grid.axis[i];
      double x = r[i];
      if (cb_spline_span(a, &x) < 0)
        return cb_fail(CB_STEP_DOMAIN, "%s = %.9g is outside the table: expected a value from %.9g to %.9g",
                       b->shape[i], r[i], a->low, a->high);
      at = at * (size_t)cells(a) + (size_t)cell(a, x);
    }
    from = s->error + at * count;
  }
  memcpy(error, from, count * sizeof *error);
  return CB_OK;
}

/* The integral uses the midpoint rule, which suffices since the estimate is a step function. */
cb_status cb_bundle_samples_holonomy_error(const cb_bundle *b, const cb_gait *gait, double *bounds) {
  enum { POINTS = 512 };
  cb_status status = check_class(b);
  if (status) return status;
  const cb_group *G = b->group;
  const int dim = G->dim, n = b->n;
  double t[POINTS], sum[CB_GROUP_DIM] = {0}, *g = malloc((size_t)(POINTS * G->size) * sizeof *g);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  for (int k = 0; k < POINTS; k++) t[k] = (k + 0.5) / POINTS;
  status = cb_reconstruct(b, gait, 1e-6, POINTS, t, g);
  for (int k = 0; k < POINTS && !status; k++) {
    double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], error[CB_GROUP_DIM * CB_SAMPLES_AXES], Ad[CB_GROUP_DIM * CB_GROUP_DIM];
    cb_gait_at(gait, t[k], r, rate);
    status = cb_bundle_samples_error(b, r, error);
    if (status) break;
    G->adjoint(G, g + k * G->size, Ad);
    for (int a = 0; a < dim; a++) {
      double xi = 0;
      for (int i = 0; i < n; i++) xi += error[a * n + i] * fabs(rate[i]);
      for (int i = 0; i < dim; i++) sum[i] += fabs(Ad[i * dim + a]) * xi / POINTS;
    }
  }
  free(g);
  if (!status) memcpy(bounds, sum, (size_t)dim * sizeof *bounds);
  return status;
}
