/* The equations of geodesic panels: the stored matrix, and its solution by factors or by GMRES. */
#include "potential/curved.h"

#include "core/arena.h"
#include "core/threads.h"
#include "numerics/vec3.h"
#include "potential/curved_private.h"
#include "potential/dense.h"
#include "potential/krylov.h"
#include "potential/panel_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACTORED = 400, RESTART = 40 }; /* panels up to which factors are as quick as the iteration */

static const double few_below =
    0.12; /* size of panels, in radii of curvature, whose rows of three points add up to 1e-6 */

struct cb_curved_flow {
  cb_arena *arena;
  int n;
  double K;
  cb_kirchhoff_options options;
  cb_operator_report report;
  cb_curved_panel *panel;
  double *area, *b, *row_sum, *rows; /* rows: of S, one of each thread */
  double *D;                         /* [n][n], or the factors of 1/2 - D */
  int *pivots, threads;
  double share;
  bool filled, dense, few;
  cb_krylov *krylov;
};

/* --- panels --- */

static cb_status no_area(const cb_curved_flow *f, int i, const double *y) {
  return cb_fail(CB_ERROR_DOMAIN,
                 "face %d at (%g, %g, %g) has no area in the space of curvature %g, or reaches too far in it", i + 1,
                 y[0], y[1], y[2], f->K);
}

static cb_status beyond(const cb_curved_flow *f, int i, const double *x) {
  return cb_fail(
      CB_ERROR_DOMAIN,
      "face %d has a vertex at the distance %g from the origin: expected less than %g, where the antipode is", i + 1,
      sqrt(cb_dot3(x, x)), 3.14159265 / sqrt(f->K));
}

static cb_status lay(cb_curved_flow *f, int i, const double (*x)[3], const int face[3]) {
  cb_curved_panel *p = f->panel + i;
  double sum[4] = {0}, flux[6];
  for (int k = 0; k < 3; k++)
    if (f->K > 0 && !(cb_dot3(x[face[k]], x[face[k]]) * f->K < 9.8696044)) return beyond(f, i, x[face[k]]);
  for (int k = 0; k < 3; k++) cb_curved_point(f->K, x[face[k]], p->corner[k]);
  const double(*y)[4] = (const double(*)[4])p->corner;
  const double N = cb_curved_plane(f->K, y[0], y[1], y[2], p->plane);
  p->size = 0;
  for (int k = 0; k < 3; k++) p->size = fmax(p->size, cb_curved_distance(f->K, y[k], y[(k + 1) % 3]));
  f->area[i] = p->area = cb_curved_area(f->K, y[0], y[1], y[2], N);
  if (!(N > 0 && p->area > 0 && isfinite(p->area)) || (f->K > 0 && sqrt(f->K) * p->size > 1.5))
    return no_area(f, i, p->corner[0]);
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    const double c = cb_curved_node(f->K, y, k, p->node[k]);
    p->weight[k] = cb_curved_rule[k][3] * N / (2 * c * sqrt(c));
    for (int l = 0; l < 4; l++) sum[l] += p->weight[k] * p->node[k][l];
  }
  for (int k = 0; k < CB_CURVED_FEW; k++) {
    for (int l = 0; l < 4; l++) p->few[k][l] = (y[0][l] + y[1][l] + y[2][l] + 3 * y[k][l]) / 6;
    const double c = cb_curved_form(f->K, p->few[k], p->few[k]), root = sqrt(c);
    for (int l = 0; l < 4; l++) p->few[k][l] /= root;
    p->few_weight[k] = N / (6 * c * root);
  }
  cb_curved_flux(f->K, p->plane, sum, flux);
  for (int a = 0; a < 6; a++) p->flux[a] = flux[a] / p->area;
  const double root = sqrt(cb_curved_form(f->K, sum, sum));
  for (int l = 0; l < 4; l++) p->centre[l] = sum[l] / root;
  return CB_OK;
}

cb_status cb_curved_flow_move(cb_curved_flow *f, const double (*x)[3], const int (*face)[3]) {
  double largest = 0;
  f->filled = false;
  for (int i = 0; i < f->n; i++) {
    const cb_status status = lay(f, i, x, face[i]);
    if (status) return status;
    largest = fmax(largest, f->panel[i].size);
  }
  f->few = largest * sqrt(fabs(f->K)) < few_below;
  return CB_OK;
}

const double *cb_curved_flow_areas(const cb_curved_flow *f) { return f->area; }

void cb_curved_flow_motions(const cb_curved_flow *f, double *w) {
  for (int a = 0; a < 6; a++)
    for (int i = 0; i < f->n; i++) w[(size_t)a * (size_t)f->n + (size_t)i] = f->panel[i].flux[a];
}

void cb_curved_flow_shape(const cb_curved_flow *f, const double (*x)[3], const double (*v)[3], const int (*face)[3],
                          double *w) {
  for (int i = 0; i < f->n; i++) {
    w[i] = 0;
    for (int k = 0; k < 3; k++) {
      double u[4];
      cb_curved_velocity(f->K, x[face[i][k]], v[face[i][k]], u);
      w[i] += (cb_dot3(u, f->panel[i].plane) + u[3] * f->panel[i].plane[3]) / 3;
    }
  }
}

/* --- equations --- */

typedef struct task {
  cb_curved_flow *f;
  int columns;
  const double *x;
  double *out;
  bool keep;
} task;

/* out = -S x, and D on the way. */
static void source_rows(void *context, int begin, int end) {
  const task *t = context;
  const cb_curved_flow *f = t->f;
  const size_t n = (size_t)f->n;
  double *S = f->rows + n * (size_t)((long long)begin * f->threads / f->n);
  for (int i = begin; i < end; i++) {
    double *D = t->keep ? f->D + (size_t)i * n : NULL;
    cb_curved_row(f->K, f->n, f->panel, f->few, f->panel[i].centre, i, S, D);
    for (int c = 0; c < t->columns; c++) {
      double sum = 0;
      for (size_t j = 0; j < n; j++) sum += S[j] * t->x[(size_t)c * n + j];
      t->out[(size_t)c * n + (size_t)i] = -sum;
    }
    if (!D) continue;
    f->row_sum[i] = 0.5;
    for (size_t j = 0; j < n; j++) f->row_sum[i] += D[j];
  }
}

static void product_rows(void *context, int begin, int end) {
  const task *t = context;
  const size_t n = (size_t)t->f->n;
  for (int i = begin; i < end; i++)
    for (int c = 0; c < t->columns; c++) {
      const double *D = t->f->D + (size_t)i * n, *x = t->x + (size_t)c * n;
      double sum = 0;
      for (size_t j = 0; j < n; j++) sum += D[j] * x[j];
      t->out[(size_t)c * n + (size_t)i] = 0.5 * x[i] - sum;
    }
}

static cb_status product(void *context, int columns, const double *x, double *out) {
  cb_curved_flow *f = context;
  task t = {f, columns, x, out, false};
  cb_threads_range(f->threads, f->n, product_rows, &t);
  return CB_OK;
}

static cb_status check_closed(cb_curved_flow *f) {
  cb_operator_report *r = &f->report;
  f->share = 0;
  for (int i = 0; i < f->n && f->K > 0; i++) f->share += f->row_sum[i] / f->n;
  r->row_sum = 0, r->row = 0;
  for (int i = 0; i < f->n; i++) {
    const double off = fabs(f->row_sum[i] - f->share);
    if (off > r->row_sum) r->row_sum = off, r->row = i;
  }
  if (r->row_sum <= 1e-3 && f->share > -1e-3 && f->share < 1) return CB_OK;
  const double *y = f->panel[r->row].centre;
  return cb_fail(
      CB_ERROR_DOMAIN,
      "the surface is not closed or not oriented outwards in the space of curvature %g, or its faces are too "
      "large in it: the row of face %d at (%g, %g, %g) adds up to %.4g where %.4g is expected",
      f->K, r->row + 1, y[0], y[1], y[2], f->row_sum[r->row] - 0.5, f->share - 0.5);
}

static cb_status factor(cb_curved_flow *f) {
  const size_t n = (size_t)f->n;
  for (size_t i = 0; i < n * n; i++) f->D[i] = -f->D[i];
  for (size_t i = 0; i < n; i++) f->D[i * n + i] += 0.5;
  f->report.method = CB_POTENTIAL_DENSE;
  return cb_potential_factor(f->n, n, f->D, f->pivots);
}

cb_status cb_curved_flow_solve(cb_curved_flow *f, int columns, const double *w, double *phi) {
  task t = {f, columns, w, f->b, !f->filled};
  cb_threads_range(f->threads, f->n, source_rows, &t);
  if (!f->filled) {
    cb_status status = check_closed(f);
    if (!status && f->dense) status = factor(f);
    if (status) return status;
    f->filled = true;
  }
  if (f->dense) {
    cb_potential_back(f->n, (size_t)f->n, f->D, f->pivots, columns, f->b);
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
                   f->K);
  f->dense = f->options.method == CB_POTENTIAL_DENSE || (f->options.method == CB_POTENTIAL_BEST && f->n <= FACTORED);
  f->threads = cb_threads_for(n * n);
  f->report.bytes = n * n * sizeof(double);
  if (f->report.bytes > f->options.memory)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the matrix of %d panels takes %.3g GB, and %.3g GB are allowed: in a curved space it is stored",
                   f->n, 1e-9 * (double)f->report.bytes, 1e-9 * (double)f->options.memory);
  f->panel = cb_arena_alloc(f->arena, n, sizeof *f->panel);
  f->pivots = cb_arena_alloc(f->arena, n, sizeof *f->pivots);
  cb_arena_doubles(f->arena, n, &f->area, &f->row_sum);
  cb_arena_doubles(f->arena, n * CB_PANEL_COLUMNS, &f->b);
  cb_arena_doubles(f->arena, n * (size_t)f->threads, &f->rows);
  f->D = malloc(f->report.bytes);
  if (cb_arena_lost(f->arena) || !f->D)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", f->n);
  return f->dense ? CB_OK : cb_krylov_create(f->n, CB_PANEL_COLUMNS, RESTART, &f->krylov);
}

cb_status cb_curved_flow_create(int n, const double (*x)[3], const int (*face)[3], const cb_kirchhoff_options *options,
                                cb_curved_flow **out) {
  cb_curved_flow *f = cb_arena_object(sizeof *f, "the potential flow in a curved space");
  if (!f) return CB_ERROR_MEMORY;
  f->n = n, f->K = options->curvature, f->options = *options;
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
