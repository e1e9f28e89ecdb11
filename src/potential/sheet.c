/* The matrix is stored: rows of solids as those of a body without sheets, rows of sheets times the root of the panel's
 * area, so that all are of one size. Its condition goes like 1/h, that of rings of vortices.
 */
#include "potential/sheet.h"

#include "core/arena.h"
#include "core/threads.h"
#include "numerics/vec3.h"
#include "potential/dense.h"
#include "potential/panel_kernel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FOUR_PI 12.566370614359172954

enum {
  FACTORED = 8000, /* panels up to which factors are as quick as the iteration */
  SLOW = 80,       /* steps of an iteration after which factors take over */
  RESTART = 80
};

struct cb_sheet {
  const cb_panels *p;
  int solids;
  cb_kirchhoff_options options;
  cb_operator_report report;
  size_t stride;
  double *a; /* rows, or their factors */
  int *pivots;
  bool filled, factored;
  cb_krylov *krylov;
  double *padded, *b, *row_sum; /* [columns][stride], [columns][n], [n] of D of solids */
};

/* n.grad D of panels at x: about each border, (R1 + R2)/(R1 R2 (R1 R2 + a.b)) (a × b).n, where R1 R2 + a.b does not
 * cancel beside an edge. */
static void ring_row(const cb_panels *p, const double x[3], const double n[3], double *restrict row) {
  const size_t s = p->stride;
  for (int j = 0; j < p->n; j++) row[j] = 0;
  for (int k = 0; k < 3; k++) {
    const double *restrict from = p->lanes + (size_t)(CB_PANEL_CORNER + 3 * k) * s, *restrict to =
                                                                                        p->lanes +
                                                                                        (size_t)(CB_PANEL_CORNER +
                                                                                                 3 * ((k + 1) % 3)) *
                                                                                            s;
    for (int j = 0; j < p->n; j++) {
      const size_t i = (size_t)j;
      const double ax = from[i] - x[0], ay = from[s + i] - x[1], az = from[2 * s + i] - x[2];
      const double bx = to[i] - x[0], by = to[s + i] - x[1], bz = to[2 * s + i] - x[2];
      const double cx = ay * bz - az * by, cy = az * bx - ax * bz, cz = ax * by - ay * bx;
      const double R1 = sqrt(ax * ax + ay * ay + az * az), R2 = sqrt(bx * bx + by * by + bz * bz);
      const double both = R1 * R2, dot = ax * bx + ay * by + az * bz, cross2 = cx * cx + cy * cy + cz * cz;
      const double product = dot < 0 ? cross2 / (both - dot) : both + dot;
      row[j] -= (R1 + R2) / (both * product * FOUR_PI) * (cx * n[0] + cy * n[1] + cz * n[2]);
    }
  }
}

/* --- the matrix and right-hand sides --- */

typedef struct task {
  cb_sheet *s;
  int columns;
  const double *x; /* [columns][stride] */
  double *out;     /* [columns][n] */
  bool keep;
  double *rows; /* [threads][stride] */
  atomic_int next;
} task;

static void source_row(const task *t, int i, double *S) {
  const cb_sheet *s = t->s;
  const cb_panels *p = s->p;
  const size_t n = (size_t)p->n;
  const double scale = sqrt(p->area[i]);
  double *row = t->keep ? s->a + (size_t)i * s->stride : NULL, sum[CB_PANEL_COLUMNS] = {0};
  if (i < s->solids) {
    if (row) cb_panels_range(p, p->centre[i], 0, p->n, i, NULL, row);
    cb_panels_range(p, p->centre[i], 0, s->solids, i, S, NULL);
  } else {
    if (row && s->solids) { /* where it lies */
      cb_panels_range(p, p->centre[i], 0, s->solids, -1, NULL, row);
      s->row_sum[i] = 0;
      for (int j = 0; j < s->solids; j++) s->row_sum[i] += row[j];
    }
    if (row) ring_row(p, p->centre[i], p->normal[i], row);
    for (int j = 0; j < s->solids; j++) {
      double gradient[3];
      cb_panel_velocity((const double(*)[3])p->corner[j], p->centre[i], gradient, NULL);
      S[j] = -cb_dot3(gradient, p->normal[i]);
    }
  }
  memset(S + s->solids, 0, (s->stride - (size_t)s->solids) * sizeof *S);
  p->kernels->product(S, (int)s->stride, t->columns, t->x, s->stride, sum);
  for (int c = 0; c < t->columns; c++)
    t->out[(size_t)c * n + (size_t)i] =
        i < s->solids ? -sum[c] : -scale * (t->x[(size_t)c * s->stride + (size_t)i] - sum[c]);
  if (!row) return;
  memset(row + n, 0, (s->stride - n) * sizeof *row);
  if (i < s->solids) {
    s->row_sum[i] = 0;
    for (int j = 0; j < s->solids; j++) s->row_sum[i] += row[j];
    for (size_t j = 0; j < n; j++) row[j] = -row[j];
    row[i] += 0.5;
  } else
    for (size_t j = 0; j < n; j++) row[j] *= -scale;
}

static void source_rows(void *context, int begin, int end) {
  task *t = context;
  double *S = t->rows + (size_t)atomic_fetch_add(&t->next, 1) * t->s->stride;
  for (int i = begin; i < end; i++) source_row(t, i, S);
}

static void product_rows(void *context, int begin, int end) {
  const task *t = context;
  const cb_sheet *s = t->s;
  for (int i = begin; i < end; i++) {
    double sum[CB_PANEL_COLUMNS] = {0};
    s->p->kernels->product(s->a + (size_t)i * s->stride, (int)s->stride, t->columns, t->x, s->stride, sum);
    for (int c = 0; c < t->columns; c++) t->out[(size_t)c * (size_t)s->p->n + (size_t)i] = sum[c];
  }
}

static const double *pad(cb_sheet *s, int columns, const double *x) {
  const size_t n = (size_t)s->p->n;
  for (int c = 0; c < columns; c++) memcpy(s->padded + (size_t)c * s->stride, x + (size_t)c * n, n * sizeof *x);
  return s->padded;
}

static int threads_of(const cb_sheet *s) { return cb_threads_for((size_t)s->p->n * (size_t)s->p->n); }

static cb_status product(void *context, int columns, const double *x, double *out) {
  cb_sheet *s = context;
  task t = {.s = s, .columns = columns, .x = pad(s, columns, x), .out = out};
  cb_threads_range(threads_of(s), s->p->n, product_rows, &t);
  return CB_OK;
}

/* Rows of D add up to -1/2 on the solids; on the sheets to 0 outside of them and to -1 inside. */
static cb_status check_places(cb_sheet *s) {
  s->report.row_sum = 0, s->report.row = 0;
  for (int i = 0; i < s->p->n; i++) {
    const double *c = s->p->centre[i];
    if (i >= s->solids && s->row_sum[i] < -0.5)
      return cb_fail(CB_ERROR_DOMAIN, "the sheet's face at (%g, %g, %g) is inside of a solid", c[0], c[1], c[2]);
    if (i >= s->solids || fabs(s->row_sum[i] + 0.5) <= s->report.row_sum) continue;
    s->report.row_sum = fabs(s->row_sum[i] + 0.5);
    s->report.row = i;
  }
  if (s->report.row_sum <= 1e-3) return CB_OK;
  const double *c = s->p->centre[s->report.row];
  return cb_fail(CB_ERROR_DOMAIN,
                 "a solid is not closed or not oriented outwards: its face at (%g, %g, %g) sees a solid angle of "
                 "%.4g pi of it where 2 pi are expected",
                 c[0], c[1], c[2], 4 * fabs(s->row_sum[s->report.row]));
}

/* --- solutions --- */

static cb_status no_memory(const cb_sheet *s) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", s->p->n);
}

static cb_status prepare(cb_sheet *s, int columns, const double *w, bool keep) {
  const int threads = threads_of(s) < 1 ? 1 : threads_of(s);
  if (keep && s->solids) /* of sheets alone nothing is seen */
    memset(s->row_sum, 0, (size_t)s->p->n * sizeof *s->row_sum);
  double *rows = aligned_alloc(CB_CACHE_LINE, (size_t)threads * s->stride * sizeof *rows);
  if (!rows) return no_memory(s);
  task t = {.s = s, .columns = columns, .x = pad(s, columns, w), .out = s->b, .keep = keep, .rows = rows};
  cb_threads_range(threads, s->p->n, source_rows, &t);
  free(rows);
  if (!keep) return CB_OK;
  s->filled = true;
  return check_places(s);
}

static cb_status factor(cb_sheet *s) {
  const cb_status status = cb_potential_factor(s->p->n, s->stride, s->a, s->pivots);
  s->factored = !status;
  s->report.method = CB_POTENTIAL_DENSE;
  return status;
}

cb_status cb_sheet_solve(cb_sheet *s, int columns, const double *w, double *phi) {
  const size_t count = (size_t)columns * (size_t)s->p->n;
  const bool may_factor = s->options.method != CB_POTENTIAL_ITERATIVE;
  cb_status status = prepare(s, columns, w, !s->filled);
  if (!status && !s->factored && s->report.method == CB_POTENTIAL_DENSE) status = factor(s);
  if (!status && !s->factored) {
    const cb_krylov_problem problem = {
        .product = product,
        .context = s,
        .tolerance = s->options.tolerance,
        .iterations = may_factor && s->options.iterations > SLOW ? SLOW : s->options.iterations};
    if (!s->krylov) status = cb_krylov_create(s->p->n, CB_PANEL_COLUMNS, RESTART, &s->krylov);
    if (!status) status = cb_krylov_solve(s->krylov, &problem, columns, s->b, phi, &s->report.solved);
    if (status != CB_STEP_NO_CONVERGENCE) return status;
    if (!may_factor)
      return cb_fail(CB_ERROR_STEP,
                     "the potential of %d panels has not converged in %d iterations: residual %.3g where %.3g is asked "
                     "for: try the method dense",
                     s->p->n, s->report.solved.iterations, s->report.solved.residual, s->options.tolerance);
    status = factor(s);
  }
  if (status) return status;
  cb_potential_back(s->p->n, s->stride, s->a, s->pivots, columns, s->b);
  memcpy(phi, s->b, count * sizeof *phi);
  s->report.solved = (cb_krylov_result){0};
  return CB_OK;
}

/* --- life --- */

void cb_sheet_renew(cb_sheet *s) { s->filled = s->factored = false; }

cb_status cb_sheet_create(const cb_panels *p, int solids, const cb_kirchhoff_options *options, cb_sheet **out) {
  if (options->method == CB_POTENTIAL_HLU)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "no factors of hierarchical matrices for bodies with sheets: expected best, "
                   "dense or iterative");
  cb_sheet *s = calloc(1, sizeof *s);
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", p->n);
  const size_t n = (size_t)p->n;
  *s = (cb_sheet){.p = p, .solids = solids, .options = *options};
  s->stride = (n + CB_PANEL_PAD - 1) / CB_PANEL_PAD * CB_PANEL_PAD;
  const bool dense =
      options->method == CB_POTENTIAL_DENSE || (options->method == CB_POTENTIAL_BEST && p->n <= FACTORED);
  s->report.method = dense ? CB_POTENTIAL_DENSE : CB_POTENTIAL_ITERATIVE;
  s->report.bytes = s->stride * n * sizeof(double) + CB_PANEL_COLUMNS * (n + s->stride) * sizeof(double) +
                    (dense ? 0 : cb_krylov_bytes(p->n, CB_PANEL_COLUMNS, RESTART));
  if (s->report.bytes > options->memory) {
    const double bytes = (double)s->report.bytes;
    cb_sheet_free(s);
    return cb_fail(CB_ERROR_ARGUMENT, "the matrix of %d panels with sheets takes %.3g GB, and %.3g GB are allowed",
                   p->n, 1e-9 * bytes, 1e-9 * (double)options->memory);
  }
  s->a = aligned_alloc(CB_CACHE_LINE, s->stride * n * sizeof *s->a);
  s->padded = aligned_alloc(CB_CACHE_LINE, CB_PANEL_COLUMNS * s->stride * sizeof *s->padded);
  s->pivots = malloc(n * sizeof *s->pivots);
  s->b = malloc(CB_PANEL_COLUMNS * n * sizeof *s->b);
  s->row_sum = calloc(n, sizeof *s->row_sum);
  if (!(s->a && s->padded && s->pivots && s->b && s->row_sum)) {
    const cb_status status = no_memory(s);
    cb_sheet_free(s);
    return status;
  }
  memset(s->padded, 0, CB_PANEL_COLUMNS * s->stride * sizeof *s->padded);
  *out = s;
  return CB_OK;
}

void cb_sheet_free(cb_sheet *s) {
  if (!s) return;
  cb_krylov_free(s->krylov);
  free(s->a);
  free(s->padded);
  free(s->pivots);
  free(s->b);
  free(s->row_sum);
  free(s);
}

cb_operator_report cb_sheet_report_of(const cb_sheet *s) { return s->report; }
