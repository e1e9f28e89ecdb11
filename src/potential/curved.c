/* The equations of geodesic panels: the stored matrix, and its solution by factors or by GMRES. */
#include "potential/curved.h"

#include "core/threads.h"
#include "numerics/curved.h"
#include "numerics/vec3.h"
#include "potential/dense.h"
#include "potential/panel_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FACTORED = 400, RESTART = 40, LARGE_PAGE = 1 << 21, ROWS = 32, TILE = 256 };

struct cb_curved_flow {
  cb_arena *arena;
  int n;
  cb_kirchhoff_options options;
  cb_operator_report report;
  cb_curved_panels panels;
  double *b, *row_sum, *padded; /* [columns][n], [n], [columns][stride] */
  size_t stride;                /* of rows: n and what fills the last vector */
  double *D;                    /* rows of D, or the factors of 1/2 - D */
  int *pivots, threads;
  double share;
  bool filled, dense;
  const cb_panel_kernels *kernels;
  cb_krylov *krylov;
};

/* --- panels --- */

cb_status cb_curved_flow_move(cb_curved_flow *f, const double (*x)[3], const int (*face)[3]) {
  f->filled = false;
  return cb_curved_panels_lay(&f->panels, x, face);
}

const double *cb_curved_flow_areas(const cb_curved_flow *f) { return f->panels.area; }

void cb_curved_flow_motions(const cb_curved_flow *f, double *w) {
  for (int a = 0; a < 6; a++)
    for (int i = 0; i < f->n; i++) w[(size_t)a * (size_t)f->n + (size_t)i] = f->panels.flux[i][a];
}

void cb_curved_flow_shape(const cb_curved_flow *f, const double (*x)[3], const double (*v)[3], const int (*face)[3],
                          double *w) {
  for (int i = 0; i < f->n; i++) {
    w[i] = 0;
    for (int k = 0; k < 3; k++) {
      double u[4];
      cb_curved_velocity(f->panels.K, x[face[i][k]], v[face[i][k]], u);
      w[i] += (cb_dot3(u, f->panels.plane[i]) + u[3] * f->panels.plane[i][3]) / 3;
    }
  }
}

/* --- equations --- */

typedef struct task {
  cb_curved_flow *f;
  int columns;
  const double *x; /* [columns][stride] */
  double *out;     /* [columns][n] */
  bool keep;
} task;

static void source_piece(const task *t, int begin, int end) {
  const cb_curved_flow *f = t->f;
  const double unit = 1 / f->panels.r;
  double sum[ROWS][CB_PANEL_COLUMNS] = {{0}}, row_sum[ROWS][CB_PANEL_PAD] = {{0}}, S[TILE];
  for (int j = 0; j < f->n; j += TILE) {
    const int count = f->n - j < TILE ? f->n - j : TILE, padded = (count + CB_PANEL_PAD - 1) & ~(CB_PANEL_PAD - 1);
    for (int i = begin; i < end; i++) {
      double *D = t->keep ? f->D + (size_t)i * f->stride + j : NULL;
      cb_curved_panels_range(&f->panels, f->panels.centre[i], j, count, i >= j && i < j + count ? i - j : -1, S, D);
      for (int k = count; k < padded; k++) {
        S[k] = 0;
        if (D) D[k] = 0;
      }
      f->kernels->product(S, padded, t->columns, t->x + j, f->stride, sum[i - begin]);
      for (int k = 0; D && k < count; k += CB_PANEL_PAD)
        for (int l = 0; l < CB_PANEL_PAD; l++) row_sum[i - begin][l] += D[k + l];
    }
  }
  for (int i = begin; i < end; i++) {
    for (int c = 0; c < t->columns; c++) t->out[(size_t)c * (size_t)f->n + (size_t)i] = -unit * sum[i - begin][c];
    if (!t->keep) continue;
    f->row_sum[i] = 0.5;
    for (int l = 0; l < CB_PANEL_PAD; l++) f->row_sum[i] += row_sum[i - begin][l];
  }
}

/* out = -S x, and D on the way. */
static void source_rows(void *context, int begin, int end) {
  for (int i = begin; i < end; i += ROWS) source_piece(context, i, i + ROWS < end ? i + ROWS : end);
}

static void product_rows(void *context, int begin, int end) {
  const task *t = context;
  const cb_curved_flow *f = t->f;
  for (int i = begin; i < end; i++) {
    double sum[CB_PANEL_COLUMNS] = {0};
    f->kernels->product(f->D + (size_t)i * f->stride, (int)f->stride, t->columns, t->x, f->stride, sum);
    for (int c = 0; c < t->columns; c++)
      t->out[(size_t)c * (size_t)f->n + (size_t)i] = 0.5 * t->x[(size_t)c * f->stride + (size_t)i] - sum[c];
  }
}

static const double *pad(cb_curved_flow *f, int columns, const double *x) {
  const size_t n = (size_t)f->n;
  for (int c = 0; c < columns; c++) memcpy(f->padded + (size_t)c * f->stride, x + (size_t)c * n, n * sizeof *x);
  return f->padded;
}

static cb_status product(void *context, int columns, const double *x, double *out) {
  cb_curved_flow *f = context;
  task t = {f, columns, pad(f, columns, x), out, false};
  cb_threads_range(f->threads, f->n, product_rows, &t);
  return CB_OK;
}

static cb_status check_closed(cb_curved_flow *f) {
  cb_operator_report *r = &f->report;
  f->share = 0;
  for (int i = 0; i < f->n && f->panels.K > 0; i++) f->share += f->row_sum[i] / f->n;
  r->row_sum = 0, r->row = 0;
  for (int i = 0; i < f->n; i++) {
    const double off = fabs(f->row_sum[i] - f->share);
    if (off > r->row_sum) r->row_sum = off, r->row = i;
  }
  if (r->row_sum <= 1e-3 && f->share > -1e-3 && f->share < 1) return CB_OK;
  const double *y = f->panels.centre[r->row], unit = 1 / f->panels.r;
  return cb_fail(
      CB_ERROR_DOMAIN,
      "the surface is not closed or not oriented outwards in the space of curvature %g, or its faces are too "
      "large in it: the row of face %d at (%g, %g, %g) adds up to %.4g where %.4g is expected",
      f->panels.K, r->row + 1, unit * y[0], unit * y[1], unit * y[2], f->row_sum[r->row] - 0.5, f->share - 0.5);
}

static cb_status factor(cb_curved_flow *f) {
  const size_t n = (size_t)f->n;
  for (size_t i = 0; i < n; i++) {
    double *row = f->D + i * f->stride;
    for (size_t j = 0; j < n; j++) row[j] = -row[j];
    row[i] += 0.5;
  }
  f->report.method = CB_POTENTIAL_DENSE;
  return cb_potential_factor(f->n, f->stride, f->D, f->pivots);
}

cb_status cb_curved_flow_solve(cb_curved_flow *f, int columns, const double *w, double *phi) {
  task t = {f, columns, pad(f, columns, w), f->b, !f->filled};
  cb_threads_range(f->threads, f->n, source_rows, &t);
  if (!f->filled) {
    cb_status status = check_closed(f);
    if (!status && f->dense) status = factor(f);
    if (status) return status;
    f->filled = true;
  }
  if (f->dense) {
    cb_potential_back(f->n, f->stride, f->D, f->pivots, columns, f->b);
    memcpy(phi, f->b, (size_t)columns * (size_t)f->n * sizeof *phi);
    return CB_OK;
  }
  const cb_krylov_problem problem = {
      .product = product, .context = f, .tolerance = f->options.tolerance, .iterations = f->options.iterations};
  f->report.method = CB_POTENTIAL_ITERATIVE;
  const cb_status status = cb_krylov_solve(f->krylov, &problem, columns, f->b, phi, &f->report.solved);
  if (status != CB_STEP_NO_CONVERGENCE) return status;
  return cb_fail(CB_ERROR_STEP, "the potentials of %d panels do not converge in %d iterations: expected method: dense",
                 f->n, f->options.iterations);
}

cb_operator_report cb_curved_flow_report(const cb_curved_flow *f) { return f->report; }
double cb_curved_flow_share(const cb_curved_flow *f) { return f->share; }

/* --- life --- */

static cb_status take(cb_curved_flow *f) {
  const size_t n = (size_t)f->n;
  if (f->options.method == CB_POTENTIAL_HLU)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the method `hlu` is for flat space: expected best, dense or iterative in one "
                   "of curvature %g",
                   f->options.curvature);
  f->dense = f->options.method == CB_POTENTIAL_DENSE || (f->options.method == CB_POTENTIAL_BEST && f->n <= FACTORED);
  f->threads = cb_threads_for(n * n);
  f->kernels = cb_panel_kernels_of_isa();
  f->stride = (n + CB_PANEL_PAD - 1) / CB_PANEL_PAD * CB_PANEL_PAD;
  const size_t matrix = f->stride * n * sizeof(double), pages = (matrix + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
  f->report.bytes = matrix + cb_curved_panels_bytes(f->n) + CB_PANEL_COLUMNS * (n + f->stride) * sizeof(double) +
                    (f->dense ? 0 : cb_krylov_bytes(f->n, CB_PANEL_COLUMNS, RESTART));
  if (f->report.bytes > f->options.memory)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the matrix of %d panels takes %.3g GB, and %.3g GB are allowed: in a curved space it is stored",
                   f->n, 1e-9 * (double)f->report.bytes, 1e-9 * (double)f->options.memory);
  f->pivots = cb_arena_alloc(f->arena, n, sizeof *f->pivots);
  cb_arena_doubles(f->arena, n, &f->row_sum);
  cb_arena_doubles(f->arena, n * CB_PANEL_COLUMNS, &f->b);
  cb_arena_doubles(f->arena, f->stride * CB_PANEL_COLUMNS, &f->padded);
  f->D = aligned_alloc(LARGE_PAGE, pages);
  if (cb_arena_lost(f->arena) || !f->D)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", f->n);
#if defined(MADV_HUGEPAGE)
  (void)madvise(f->D, pages, MADV_HUGEPAGE); /* a fifth of the time goes into small ones */
#endif
  const cb_status status = cb_curved_panels_take(&f->panels, f->arena, f->n, f->options.curvature);
  if (status || f->dense) return status;
  return cb_krylov_create(f->n, CB_PANEL_COLUMNS, RESTART, &f->krylov);
}

cb_status cb_curved_flow_create(int n, const double (*x)[3], const int (*face)[3], const cb_kirchhoff_options *options,
                                cb_curved_flow **out) {
  cb_curved_flow *f = cb_arena_object(sizeof *f, "the potential flow in a curved space");
  if (!f) return CB_ERROR_MEMORY;
  f->n = n, f->options = *options;
  cb_status status = take(f);
  if (!status) status = cb_curved_flow_move(f, x, face);
  if (status) {
    cb_curved_flow_free(f);
    return status;
  }
  *out = f;
  return CB_OK;
}

void cb_curved_flow_free(cb_curved_flow *f) {
  if (!f) return;
  cb_krylov_free(f->krylov);
  free(f->D);
  cb_arena_free(f->arena);
}
