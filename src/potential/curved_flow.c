/* This file places geodesic panels, stores the matrix of their equations, and solves the equations by LU factors or by
 * GMRES (equations in curved_flow.h).
 */
#include "potential/curved_flow.h"

#include "core/threads.h"
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "potential/linear_solvers.h"
#include "potential/panel_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- geodesic panels of a surface, in the layout of the kernels --- */

/* S of a panel is split into a singular and a smooth part at points nearer than `near` times the panel's size. If all
 * panels are smaller than few_below radii of curvature, the rule of degree 2 gives row sums of D with errors below
 * 1e-6. `largest` is the maximum length of a side on a sphere, in radii of the sphere. */
static const double near = 5, few_below = 0.12, largest = 1.5;

static const cb_curved_kernels *kernels_of_isa(void) {
#if defined(__x86_64__)
  const cb_isa isa = cb_isa_get();
  if (isa == CB_ISA_AVX512) return &cb_curved_kernels_avx512;
  if (isa == CB_ISA_AVX2) return &cb_curved_kernels_avx2;
#endif
  return &cb_curved_kernels_x86_64;
}

static size_t stride_of(int n) { return ((size_t)n / CB_PANEL_PAD + 2) * CB_PANEL_PAD; }

static size_t panels_bytes(int n) {
  return (CB_CURVED_LANES * stride_of(n) + (4 + 4 + 6 + 1) * (size_t)n) * sizeof(double);
}

cb_status cb_curved_panels_take(cb_curved_panels *p, cb_arena *arena, int n, double K) {
  *p = (cb_curved_panels){.n = n, .K = K, .r = sqrt(fabs(K)), .stride = stride_of(n), .kernels = kernels_of_isa()};
  p->centre = cb_arena_alloc(arena, (size_t)n, sizeof *p->centre);
  p->plane = cb_arena_alloc(arena, (size_t)n, sizeof *p->plane);
  p->flux = cb_arena_alloc(arena, (size_t)n, sizeof *p->flux);
  cb_arena_doubles(arena, (size_t)n, &p->area);
  cb_arena_doubles(arena, CB_CURVED_LANES * p->stride, &p->lanes);
  return cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %d panels", n) : CB_OK;
}

static cb_status no_area(const cb_curved_panels *p, int i, const double *y) {
  return cb_fail(CB_ERROR_DOMAIN,
                 "face %d at (%g, %g, %g) has no area in the space of curvature %g, or is too large for it: expected a "
                 "smaller face with an area > 0",
                 i + 1, y[0], y[1], y[2], p->K);
}

static cb_status beyond(const cb_curved_panels *p, int i, const double *x) {
  return cb_fail(
      CB_ERROR_DOMAIN,
      "face %d has a vertex at the distance %g from the origin: expected less than %g, the distance of the antipode",
      i + 1, sqrt(cb_dot3(x, x)), 3.14159265 / p->r);
}

/* Stores the point y = (x, w) of panel i as (r x, w), in four rows of `lanes`, from row `row` on. */
static void put(const cb_curved_panels *p, int i, int row, const double y[4]) {
  for (int l = 0; l < 4; l++) p->lanes[(size_t)(row + l) * p->stride + (size_t)i] = l < 3 ? p->r * y[l] : y[l];
}

static void put_one(const cb_curved_panels *p, int i, int row, double a) {
  p->lanes[(size_t)row * p->stride + (size_t)i] = a;
}

/* Returns the squared chord q between y and z (potential/curved_kernel.h), in squared radii of curvature. */
static double chord(const cb_curved_panels *p, const double y[4], const double z[4]) {
  const double d[3] = {y[0] - z[0], y[1] - z[1], y[2] - z[2]}, e = y[3] - z[3];
  return p->K * cb_dot3(d, d) * (p->K > 0 ? 1 : -1) + (p->K > 0 ? e * e : -e * e);
}

static cb_status place_panel(cb_curved_panels *p, int i, const double (*x)[3], const int face[3], double *size) {
  const double K = p->K;
  double y[3][4], sum[4] = {0}, centroid[4], flux[6];
  for (int k = 0; k < 3; k++)
    if (K > 0 && !(cb_dot3(x[face[k]], x[face[k]]) * K < 9.8696044)) return beyond(p, i, x[face[k]]);
  for (int k = 0; k < 3; k++) cb_curved_point(K, x[face[k]], y[k]);
  const double N = cb_curved_plane(K, y[0], y[1], y[2], p->plane[i]);
  *size = 0;
  for (int k = 0; k < 3; k++) *size = fmax(*size, p->r * cb_curved_distance(K, y[k], y[(k + 1) % 3]));
  p->area[i] = cb_curved_area(K, y[0], y[1], y[2], N);
  if (!(N > 0 && p->area[i] > 0 && isfinite(p->area[i])) || (K > 0 && *size > largest)) return no_area(p, i, y[0]);
  const double scaled = fabs(K) * N;
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    double q[4];
    const double c = cb_curved_node(K, (const double(*)[4])y, k, q),
                 weight = cb_curved_rule[k][3] * scaled / (2 * c * sqrt(c));
    put(p, i, CB_CURVED_NODE + 4 * k, q);
    put_one(p, i, CB_CURVED_NODE + 4 * CB_CURVED_NODES + k, weight);
    for (int l = 0; l < 4; l++) sum[l] += weight * q[l];
  }
  cb_curved_flux(K, p->plane[i], sum, flux);
  for (int a = 0; a < 6; a++) p->flux[i][a] = flux[a] / (fabs(K) * p->area[i]);
  const double root = sqrt(cb_curved_form(K, sum, sum));
  for (int l = 0; l < 4; l++) p->centre[i][l] = (l < 3 ? p->r : 1) * sum[l] / root;
  const double c = cb_curved_node(K, (const double(*)[4])y, 0, centroid);
  for (int k = 0; k < 3; k++) put(p, i, CB_CURVED_CORNER + 4 * k, y[k]);
  put(p, i, CB_CURVED_CENTROID, centroid);
  put_one(p, i, CB_CURVED_WEIGHT, 0.75 * scaled / (2 * c * sqrt(c)));
  for (int l = 0; l < 4; l++) put_one(p, i, CB_CURVED_PLANE + l, (l < 3 ? 1 : p->r) * p->plane[i][l]);
  put_one(p, i, CB_CURVED_NORM, scaled);
  for (int k = 0; k < 3; k++) put_one(p, i, CB_CURVED_SIDE + k, chord(p, y[k], y[(k + 1) % 3]));
  put_one(p, i, CB_CURVED_NEAR, near * near * *size * *size);
  return CB_OK;
}

cb_status cb_curved_panels_place(cb_curved_panels *p, const double (*x)[3], const int (*face)[3]) {
  double maximum = 0;
  for (int i = 0; i < p->n; i++) {
    double size = 0;
    const cb_status status = place_panel(p, i, x, face[i], &size);
    if (status) return status;
    maximum = fmax(maximum, size);
  }
  p->few = maximum < few_below;
  /* The kernels read past the last panel, so copies of it fill the padding. */
  for (size_t row = 0; row < CB_CURVED_LANES; row++)
    for (size_t j = (size_t)p->n; j < p->stride; j++)
      p->lanes[row * p->stride + j] = p->lanes[row * p->stride + (size_t)p->n - 1];
  return CB_OK;
}

void cb_curved_panels_range(const cb_curved_panels *p, const double x[4], int first, int n, int self, double *S,
                            double *D) {
  const cb_curved_view v = {{x[0], x[1], x[2], x[3]}, p->K > 0 ? 1 : -1, p->few};
  p->kernels->row(p->lanes + first, p->stride, &v, n, S, D);
  if (self >= 0 && D) D[self] = 0;
}

void cb_curved_panels_gradients(const cb_curved_panels *p, const double x[4], int first, int n, size_t width, double *S,
                                double *D) {
  const cb_curved_view v = {{x[0], x[1], x[2], x[3]}, p->K > 0 ? 1 : -1, p->few};
  p->kernels->gradient(p->lanes + first, p->stride, &v, n, width, S, D);
}

enum { FACTORED = 400, RESTART = 40, LARGE_PAGE = 1 << 21, ROWS = 32, TILE = 256 };

struct cb_curved_flow {
  cb_arena *arena;
  int n;
  cb_kirchhoff_options options;
  cb_operator_report report;
  cb_curved_panels panels;
  double *b, *row_sum, *padded; /* b: [columns][n], right-hand sides; row_sum: [n], 1/2 plus the sum of each row of D;
                                 * padded: [columns][stride], the input of a product */
  size_t stride;                /* length of a row: n, rounded up to whole vectors */
  double *D;                    /* rows of D, or the factors of I/2 - D */
  int *pivots, threads;
  double share;
  bool filled, dense;
  const cb_panel_kernels *kernels;
  cb_krylov *krylov;
};

/* --- panels --- */

cb_status cb_curved_flow_move(cb_curved_flow *f, const double (*x)[3], const int (*face)[3]) {
  f->filled = false;
  return cb_curved_panels_place(&f->panels, x, face);
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
  const double *x; /* [columns][stride]: the input of a product */
  double *out;     /* [columns][n]: the result of the product */
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

/* Computes the rows begin..end - 1 of out = -S x. If t->keep is set, it also stores these rows of D, and sets row_sum
 * to 1/2 plus the sum of each row. */
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
  r->row_sum = 0;
  r->row = 0;
  for (int i = 0; i < f->n; i++) {
    const double off = fabs(f->row_sum[i] - f->share);
    if (off > r->row_sum) {
      r->row_sum = off;
      r->row = i;
    }
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
  return cb_fail(CB_ERROR_STEP, "the potentials of %d panels did not converge in %d iterations: try method: dense",
                 f->n, f->options.iterations);
}

cb_operator_report cb_curved_flow_report(const cb_curved_flow *f) { return f->report; }
double cb_curved_flow_share(const cb_curved_flow *f) { return f->share; }

/* --- create and free --- */

static cb_status take(cb_curved_flow *f) {
  const size_t n = (size_t)f->n;
  if (f->options.method == CB_POTENTIAL_HLU)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "the method `hlu` is only for flat space: expected best, dense or iterative in a space of curvature %g",
        f->options.curvature);
  f->dense = f->options.method == CB_POTENTIAL_DENSE || (f->options.method == CB_POTENTIAL_BEST && f->n <= FACTORED);
  f->threads = cb_threads_for(n * n);
  f->kernels = cb_panel_kernels_of_isa();
  f->stride = (n + CB_PANEL_PAD - 1) / CB_PANEL_PAD * CB_PANEL_PAD;
  const size_t matrix = f->stride * n * sizeof(double), pages = (matrix + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
  f->report.bytes = matrix + panels_bytes(f->n) + CB_PANEL_COLUMNS * (n + f->stride) * sizeof(double) +
                    (f->dense ? 0 : cb_krylov_bytes(f->n, CB_PANEL_COLUMNS, RESTART));
  if (f->report.bytes > f->options.memory)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the matrix of %d panels takes %.3g GB, more than `memory` = %.3g GB: expected fewer faces or more "
                   "`memory` (in a curved space the matrix is stored)",
                   f->n, 1e-9 * (double)f->report.bytes, 1e-9 * (double)f->options.memory);
  f->pivots = cb_arena_alloc(f->arena, n, sizeof *f->pivots);
  cb_arena_doubles(f->arena, n, &f->row_sum);
  cb_arena_doubles(f->arena, n * CB_PANEL_COLUMNS, &f->b);
  cb_arena_doubles(f->arena, f->stride * CB_PANEL_COLUMNS, &f->padded);
  f->D = aligned_alloc(LARGE_PAGE, pages);
  if (cb_arena_lost(f->arena) || !f->D)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", f->n);
#if defined(MADV_HUGEPAGE)
  (void)madvise(f->D, pages, MADV_HUGEPAGE); /* large pages; without them a solution takes a fifth more time */
#endif
  const cb_status status = cb_curved_panels_take(&f->panels, f->arena, f->n, f->options.curvature);
  if (status || f->dense) return status;
  return cb_krylov_create(f->n, CB_PANEL_COLUMNS, RESTART, &f->krylov);
}

cb_status cb_curved_flow_create(int n, const double (*x)[3], const int (*face)[3], const cb_kirchhoff_options *options,
                                cb_curved_flow **out) {
  cb_curved_flow *f = cb_arena_object(sizeof *f, "the potential flow in a curved space");
  if (!f) return CB_ERROR_MEMORY;
  f->n = n;
  f->options = *options;
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
