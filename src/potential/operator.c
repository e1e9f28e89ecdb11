/* The operator on closed surfaces (operator.h). The stored matrix is filled together with the first right-hand side,
 * because S and D share most of their work; later right-hand sides compute S again. If GMRES takes more than SLOW
 * steps, the method `best` continues with a preconditioner: factors of a hierarchical matrix. The method `best` factors
 * small matrices completely. It also factors larger matrices completely if the preconditioned iteration does not
 * converge and the factors fit into the memory.
 */
#include "potential/operator.h"

#include "core/arena.h"
#include "core/threads.h"
#include "numerics/vec3.h"
#include "potential/far.h"
#include "potential/linear_solvers.h"
#include "potential/panel_kernel.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  FACTORED = 400, /* up to this number of panels LU factors are as fast as the iteration */
  /* up to this number of panels, if the iteration is slow, factors of the complete matrix are faster than a
   * preconditioner */
  SMALL = 2000,
  SLOW = 20,           /* number of steps of the iteration that take about as long as the computation of the factors */
  PRECONDITIONED = 60, /* maximum number of preconditioned steps; good preconditioners need far fewer */
  RESTART = 40,
  LARGE_PAGE = 1 << 21,
  ROWS = 32,
  TILE = 512 /* number of panels in a tile of the matrix, whose data stays in the cache */
};

static const double coarse_tolerance = 1e-2; /* tolerance of the preconditioner */

struct cb_operator {
  const cb_panels *p;
  cb_images *images; /* near a wall this member replaces all members below; NULL: there is no wall */
  cb_kirchhoff_options options;
  cb_operator_report report;
  size_t stride; /* length of a row: n, rounded up to whole vectors */
  double *D;     /* rows of D, or the factors of I/2 - D; NULL: none */
  int *pivots;   /* the pivots of the factors; NULL: none */
  bool filled, tree, dense, factored;
  cb_far *far;
  bool coarse; /* GMRES uses the preconditioner `hlu` */
  cb_hlu *hlu; /* NULL: not computed yet */
  cb_krylov *krylov;
  /* padded: [columns][stride], the columns of a product, padded with zeros; b: [columns][n], the right sides; row_sum:
   * [n], for each row of D 1/2 plus the sum of its entries */
  double *padded, *b, *row_sum;
};

static size_t stored_bytes(const cb_operator *o) { return o->stride * (size_t)o->p->n * sizeof(double); }

static cb_status too_large(const cb_operator *o, const char *what, size_t bytes) {
  return cb_fail(CB_ERROR_ARGUMENT,
                 "%s of %d panels takes %.3g GB, more than `memory` = %.3g GB: expected fewer faces or more `memory`",
                 what, o->p->n, 1e-9 * (double)bytes, 1e-9 * (double)o->options.memory);
}

static cb_status no_memory(const cb_operator *o) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", o->p->n);
}

static cb_status take_matrix(cb_operator *o) {
  if (o->D) return CB_OK;
  if (stored_bytes(o) > o->options.memory) return too_large(o, "the matrix", stored_bytes(o));
  const size_t bytes = (stored_bytes(o) + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
  o->D = aligned_alloc(LARGE_PAGE, bytes);
  if (!o->D) return no_memory(o);
#if defined(MADV_HUGEPAGE)
  (void)madvise(o->D, bytes, MADV_HUGEPAGE); /* large pages; without them a solution takes a fifth more time */
#endif
  if (o->tree) o->report.bytes += stored_bytes(o);
  return CB_OK;
}

/* --- the stored matrix --- */

typedef struct task {
  cb_operator *o;
  int columns;
  const double *x; /* [columns][stride]: the input of a product */
  double *out;     /* [columns][n]: the result of the product */
  bool keep;       /* store the rows of D */
} task;

static void source_piece(const task *t, int begin, int end) {
  const cb_operator *o = t->o;
  const cb_panels *p = o->p;
  double sum[ROWS][CB_PANEL_COLUMNS] = {{0}}, row_sum[ROWS][CB_PANEL_PAD] = {{0}}, S[TILE];
  for (int j = 0; j < p->n; j += TILE) {
    const int count = p->n - j < TILE ? p->n - j : TILE, padded = (count + CB_PANEL_PAD - 1) & ~(CB_PANEL_PAD - 1);
    for (int i = begin; i < end; i++) {
      double *D = t->keep ? o->D + (size_t)i * o->stride + j : NULL;
      const int self = i >= j && i < j + count ? i - j : -1;
      cb_panels_range(p, p->centre[i], j, count, self, S, D);
      for (int k = count; k < padded; k++) {
        S[k] = 0;
        if (D) D[k] = 0;
      }
      p->kernels->product(S, padded, t->columns, t->x + j, o->stride, sum[i - begin]);
      for (int k = 0; D && k < count; k += CB_PANEL_PAD)
        for (int l = 0; l < CB_PANEL_PAD; l++) row_sum[i - begin][l] += D[k + l];
    }
  }
  for (int i = begin; i < end; i++) {
    for (int c = 0; c < t->columns; c++) t->out[(size_t)c * (size_t)p->n + (size_t)i] = -sum[i - begin][c];
    if (!t->keep) continue;
    o->row_sum[i] = 0.5;
    for (int l = 0; l < CB_PANEL_PAD; l++) o->row_sum[i] += row_sum[i - begin][l];
  }
}

static void source_rows(void *context, int begin, int end) {
  for (int i = begin; i < end; i += ROWS) source_piece(context, i, i + ROWS < end ? i + ROWS : end);
}

static void product_rows(void *context, int begin, int end) {
  const task *t = context;
  const cb_operator *o = t->o;
  for (int i = begin; i < end; i++) {
    double sum[CB_PANEL_COLUMNS] = {0};
    o->p->kernels->product(o->D + (size_t)i * o->stride, (int)o->stride, t->columns, t->x, o->stride, sum);
    for (int c = 0; c < t->columns; c++)
      t->out[(size_t)c * (size_t)o->p->n + (size_t)i] = 0.5 * t->x[(size_t)c * o->stride + (size_t)i] - sum[c];
  }
}

static const double *pad(cb_operator *o, int columns, const double *x) {
  const size_t n = (size_t)o->p->n;
  for (int c = 0; c < columns; c++) memcpy(o->padded + (size_t)c * o->stride, x + (size_t)c * n, n * sizeof *x);
  return o->padded;
}

static int threads_of(const cb_operator *o) { return cb_threads_for((size_t)o->p->n * (size_t)o->p->n); }

static void note_row_sums(cb_operator *o) {
  o->report.row_sum = 0;
  o->report.row = 0;
  for (int i = 0; i < o->p->n; i++) {
    if (fabs(o->row_sum[i]) <= o->report.row_sum) continue;
    o->report.row_sum = fabs(o->row_sum[i]);
    o->report.row = i;
  }
}

/* Computes b = -S w. With `keep` it also stores D and its row sums plus 1/2. */
static void stored_source(cb_operator *o, int columns, const double *w, bool keep) {
  task t = {o, columns, pad(o, columns, w), o->b, keep};
  cb_threads_range(threads_of(o), o->p->n, source_rows, &t);
  if (!keep) return;
  note_row_sums(o);
  o->filled = true;
}

/* --- products --- */

static cb_status stored_product(void *context, int columns, const double *x, double *out) {
  cb_operator *o = context;
  task t = {o, columns, pad(o, columns, x), out, false};
  cb_threads_range(threads_of(o), o->p->n, product_rows, &t);
  return CB_OK;
}

static cb_status tree_product(void *context, int columns, const double *x, double *out) {
  cb_operator *o = context;
  const size_t count = (size_t)columns * (size_t)o->p->n;
  memset(out, 0, count * sizeof *out);
  const cb_status status = cb_far_apply(o->far, columns, NULL, x, out);
  for (size_t i = 0; i < count; i++) out[i] = 0.5 * x[i] - out[i];
  return status;
}

static cb_status tree_source(cb_operator *o, int columns, const double *w) {
  const size_t n = (size_t)o->p->n;
  memset(o->b, 0, (size_t)columns * n * sizeof *o->b);
  cb_status status = cb_far_apply(o->far, columns, w, NULL, o->b);
  for (size_t i = 0; i < (size_t)columns * n; i++) o->b[i] = -o->b[i];
  if (status || o->filled) return status;
  for (size_t i = 0; i < n; i++) {
    o->padded[i] = 1;
    o->row_sum[i] = 0.5;
  }
  status = cb_far_apply(o->far, 1, NULL, o->padded, o->row_sum);
  note_row_sums(o);
  o->filled = true;
  return status;
}

static cb_status precondition(void *context, int columns, const double *x, double *out) {
  const cb_operator *o = context;
  memcpy(out, x, (size_t)columns * (size_t)o->p->n * sizeof *out);
  return cb_hlu_solve(o->hlu, columns, out);
}

/* --- solutions --- */

static cb_status factor(cb_operator *o) {
  const size_t n = (size_t)o->p->n;
  cb_status status = take_matrix(o);
  if (!status && !o->pivots) {
    o->pivots = malloc(n * sizeof *o->pivots);
    if (!o->pivots) status = no_memory(o);
  }
  if (status) return status;
  for (size_t i = 0; i < n; i++) {
    double *row = o->D + i * o->stride;
    for (size_t j = 0; j < n; j++) row[j] = -row[j];
    row[i] += 0.5;
  }
  status = cb_potential_factor(o->p->n, o->stride, o->D, o->pivots);
  o->factored = !status;
  o->report.method = CB_POTENTIAL_DENSE;
  return status;
}

static void solve_dense(cb_operator *o, int columns, double *phi) {
  const size_t n = (size_t)o->p->n;
  cb_potential_back(o->p->n, o->stride, o->D, o->pivots, columns, o->b);
  memcpy(phi, o->b, (size_t)columns * n * sizeof *phi);
  o->report.solved = (cb_krylov_result){0};
}

static cb_status check_closed(const cb_operator *o) {
  const double *c = o->p->centre[o->report.row];
  if (o->report.row_sum <= 1e-3) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the surface is not closed or not oriented outwards: seen from face %d at (%g, %g, %g) it has a "
                 "solid angle of %.4g pi: expected 2 pi",
                 o->report.row + 1, c[0], c[1], c[2], 4 * fabs(o->row_sum[o->report.row] - 0.5));
}

/* Computes the right-hand side b from w. At the first call also computes the far field, or the matrix or its factors,
 * and checks that the surface is closed. */
static cb_status prepare(cb_operator *o, int columns, const double *w) {
  const bool had = o->filled;
  cb_status status = CB_OK;
  if (o->tree) {
    if (!o->far) status = cb_far_create(o->p, o->options.far_error, &o->far);
    if (!status) status = tree_source(o, columns, w);
  } else {
    status = take_matrix(o);
    if (!status) stored_source(o, columns, w, !had);
  }
  if (!status && !had) status = check_closed(o);
  if (!status && !had && o->dense) status = factor(o);
  return status;
}

/* Returns whether factors of the complete matrix may replace the iteration. */
static bool may_factor(const cb_operator *o) {
  return o->options.method == CB_POTENTIAL_BEST && stored_bytes(o) <= o->options.memory;
}

static size_t bytes_left(const cb_operator *o) {
  return o->options.memory > o->report.bytes ? o->options.memory - o->report.bytes : 0;
}

/* Returns whether the iteration may continue with a preconditioner. */
static bool may_precondition(const cb_operator *o) {
  return o->options.method == CB_POTENTIAL_BEST && !o->coarse && o->p->n > SMALL &&
         cb_hlu_estimate(o->p->n) <= bytes_left(o);
}

static cb_status iterate(cb_operator *o, int columns, double *phi) {
  const bool best = o->options.method == CB_POTENTIAL_BEST;
  const int limit = best && o->coarse                                ? PRECONDITIONED
                    : best && (may_precondition(o) || may_factor(o)) ? SLOW
                                                                     : INT_MAX;
  const cb_krylov_problem problem = {.product = o->tree ? tree_product : stored_product,
                                     .precondition = o->coarse ? precondition : NULL,
                                     .context = o,
                                     .tolerance = o->options.tolerance,
                                     .iterations = limit < o->options.iterations ? limit : o->options.iterations};
  cb_status status = CB_OK;
  if (!o->krylov) status = cb_krylov_create(o->p->n, CB_PANEL_COLUMNS, RESTART, &o->krylov);
  if (!status && o->coarse && !o->hlu) {
    status = cb_hlu_create(o->p, coarse_tolerance, &o->hlu);
    if (!status) o->report.bytes += cb_hlu_bytes(o->hlu);
  }
  return status ? status : cb_krylov_solve(o->krylov, &problem, columns, o->b, phi, &o->report.solved);
}

static cb_status not_converged(const cb_operator *o) {
  return cb_fail(CB_ERROR_STEP,
                 "the potential of %d panels has not converged in %d iterations: residual %.3g, expected at most %.3g; "
                 "the method dense takes %.3g GB, and `memory` is %.3g GB%s",
                 o->p->n, o->report.solved.iterations, o->report.solved.residual, o->options.tolerance,
                 1e-9 * (double)stored_bytes(o), 1e-9 * (double)o->options.memory,
                 cb_hlu_check() ? "; this program was built without hmat-oss, which would help the iteration" : "");
}

static void precondition_from_here(cb_operator *o) {
  o->coarse = true;
  o->report.method = CB_POTENTIAL_HLU;
}

/* Computes the LU factors of the complete matrix. All later solutions use LU factors, also after cb_operator_renew. */
static cb_status turn_dense(cb_operator *o, int columns, const double *w) {
  cb_status status = take_matrix(o);
  if (!status && o->tree) stored_source(o, columns, w, true);
  o->tree = false;
  o->dense = true;
  return status ? status : factor(o);
}

cb_status cb_operator_solve(cb_operator *o, int columns, const double *w, double *phi) {
  if (o->images) return cb_images_solve(o->images, columns, w, phi);
  cb_status status = prepare(o, columns, w);
  if (!status && !o->factored) {
    status = iterate(o, columns, phi);
    if (status == CB_STEP_NO_CONVERGENCE && may_precondition(o)) {
      const int before = o->report.solved.iterations;
      precondition_from_here(o);
      status = iterate(o, columns, phi);
      o->report.solved.iterations += before;
    }
    if (status != CB_STEP_NO_CONVERGENCE) return status;
    status = may_factor(o) ? turn_dense(o, columns, w) : not_converged(o);
  }
  if (!status) solve_dense(o, columns, phi);
  return status;
}

/* --- create and free --- */

void cb_operator_renew(cb_operator *o) {
  if (o->images) cb_images_renew(o->images);
  cb_far_free(o->far);
  if (o->hlu) o->report.bytes -= cb_hlu_bytes(o->hlu);
  cb_hlu_free(o->hlu);
  o->far = NULL;
  o->hlu = NULL;
  o->filled = o->factored = false;
}

cb_status cb_operator_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_operator **out) {
  const cb_status built = options->method == CB_POTENTIAL_HLU ? cb_hlu_check() : CB_OK;
  if (built) return built;
  cb_operator *o = calloc(1, sizeof *o);
  if (!o) return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", p->n);
  if (options->wall.kind != CB_MIRROR_NONE) {
    const cb_status status = cb_images_create(p, options, &o->images);
    if (status)
      free(o);
    else
      *out = o;
    return status;
  }
  const size_t n = (size_t)p->n;
  *o = (cb_operator){.p = p, .options = *options};
  o->stride = (n + CB_PANEL_PAD - 1) / CB_PANEL_PAD * CB_PANEL_PAD;
  const size_t work =
      CB_PANEL_COLUMNS * (n + o->stride) * sizeof(double) + cb_krylov_bytes(p->n, CB_PANEL_COLUMNS, RESTART);
  const bool fits = stored_bytes(o) + work <= options->memory;
  o->tree = options->method != CB_POTENTIAL_DENSE && (p->n > CB_OPERATOR_STORED || !fits);
  cb_status status = CB_OK;
  if (!o->tree && !fits)
    status = too_large(o, "the matrix", stored_bytes(o) + work);
  else if (o->tree) {
    const size_t far = cb_far_bytes(p, p->n, options->far_error);
    if (far == 0)
      status = CB_ERROR_MEMORY;
    else if (far + work > options->memory)
      status = too_large(o, "the tree", far + work);
    o->report.bytes = far;
  }
  o->report.bytes += o->tree ? work : work + stored_bytes(o);
  o->coarse = options->method == CB_POTENTIAL_HLU;
  o->dense = options->method == CB_POTENTIAL_DENSE || (options->method == CB_POTENTIAL_BEST && p->n <= FACTORED);
  o->report.method = o->dense ? CB_POTENTIAL_DENSE : o->coarse ? CB_POTENTIAL_HLU : CB_POTENTIAL_ITERATIVE;
  if (!status && o->coarse) {
    const size_t all = o->report.bytes + cb_hlu_estimate(p->n);
    if (all > options->memory)
      status = too_large(o, "the hierarchical matrix, with the operator that GMRES multiplies,", all);
  }
  o->padded = aligned_alloc(CB_CACHE_LINE, CB_PANEL_COLUMNS * o->stride * sizeof(double));
  o->b = malloc(CB_PANEL_COLUMNS * n * sizeof(double));
  o->row_sum = malloc(n * sizeof(double));
  if (!status && !(o->padded && o->b && o->row_sum)) status = no_memory(o);
  if (status) {
    cb_operator_free(o);
    return status;
  }
  memset(o->padded, 0, CB_PANEL_COLUMNS * o->stride * sizeof(double));
  *out = o;
  return CB_OK;
}

void cb_operator_free(cb_operator *o) {
  if (!o) return;
  cb_images_free(o->images);
  cb_far_free(o->far);
  cb_hlu_free(o->hlu);
  cb_krylov_free(o->krylov);
  free(o->D);
  free(o->pivots);
  free(o->padded);
  free(o->b);
  free(o->row_sum);
  free(o);
}

cb_operator_report cb_operator_report_of(const cb_operator *o) {
  return o->images ? cb_images_report_of(o->images) : o->report;
}

/* --- bodies near a plane ---
 *
 * The operator of bodies near a plane. Each column holds the panels of the body and then those of the image. The panels
 * are mirrored at creation, and again at the first solution after cb_images_renew.
 */

struct cb_images {
  cb_arena *arena;
  const cb_panels *p;
  cb_mirror wall; /* the wall; its normal has length 1 */
  cb_kirchhoff_options options;
  double (*x)[3]; /* [6 n]: the corners of the body and of its image */
  int (*face)[3];
  cb_panels *both;
  cb_operator *operator;
  bool fresh;      /* the panels of body and image are up to date */
  double *w, *phi; /* [columns][2 n]: normal velocities and potentials on the panels of body and image */
};

static cb_status mirror(cb_images *m) {
  const int n = m->p->n;
  for (int i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      const double *x = m->p->corner[i][c], from = cb_dot3(x, m->wall.normal) - m->wall.height;
      if (!(from > 0))
        return cb_fail(CB_ERROR_DOMAIN,
                       "a body is behind its wall: a corner at (%g, %g, %g) is at the height %g above the wall: "
                       "expected more than 0 along the normal (%g, %g, %g)",
                       x[0], x[1], x[2], from, m->wall.normal[0], m->wall.normal[1], m->wall.normal[2]);
      memcpy(m->x[3 * i + c], x, sizeof *m->x);
      for (int k = 0; k < 3; k++) m->x[3 * (n + i) + 2 - c][k] = x[k] - 2 * from * m->wall.normal[k];
    }
  return CB_OK;
}

static cb_status place(cb_images *m) {
  cb_status status = mirror(m);
  if (status) return status;
  if (m->both) {
    status = cb_panels_move(m->both, (const double(*)[3])m->x, (const int(*)[3])m->face);
    if (!status) cb_operator_renew(m->operator);
  } else {
    status = cb_panels_create(2 * m->p->n, (const double(*)[3])m->x, (const int(*)[3])m->face, &m->both);
    if (!status) status = cb_operator_create(m->both, &m->options, &m->operator);
  }
  m->fresh = !status;
  return status;
}

static void reflect(const cb_images *m, int columns, const double *from, double *to) {
  const size_t n = (size_t)m->p->n;
  const double sign = m->wall.kind == CB_MIRROR_FREE ? -1 : 1;
  for (size_t c = 0; c < (size_t)columns; c++)
    for (size_t i = 0; i < n; i++) {
      to[2 * n * c + i] = from[n * c + i];
      to[2 * n * c + n + i] = sign * from[n * c + i];
    }
}

cb_status cb_images_solve(cb_images *m, int columns, const double *w, double *phi) {
  const size_t n = (size_t)m->p->n;
  cb_status status = m->fresh ? CB_OK : place(m);
  if (status) return status;
  reflect(m, columns, w, m->w);
  reflect(m, columns, phi, m->phi);
  status = cb_operator_solve(m->operator, columns, m->w, m->phi);
  for (size_t c = 0; c < (size_t)columns; c++) memcpy(phi + n * c, m->phi + 2 * n * c, n * sizeof *phi);
  return status;
}

void cb_images_renew(cb_images *m) { m->fresh = false; }

cb_operator_report cb_images_report_of(const cb_images *m) {
  cb_operator_report r = cb_operator_report_of(m->operator);
  if (r.row >= m->p->n) r.row -= m->p->n;
  return r;
}

cb_status cb_mirror_check(cb_mirror *wall) {
  const double length = sqrt(cb_dot3(wall->normal, wall->normal));
  if (!(length > 0) || !isfinite(length + wall->height))
    return cb_fail(CB_ERROR_ARGUMENT, "a wall with the normal (%g, %g, %g) at the height %g: expected a direction",
                   wall->normal[0], wall->normal[1], wall->normal[2], wall->height);
  for (int k = 0; k < 3; k++) wall->normal[k] /= length;
  return CB_OK;
}

cb_status cb_images_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_images **out) {
  const size_t n = (size_t)p->n;
  cb_mirror wall = options->wall;
  cb_status status = cb_mirror_check(&wall);
  if (status) return status;
  cb_images *m = cb_arena_object(sizeof *m, "the images of a body");
  if (!m) return CB_ERROR_MEMORY;
  m->p = p;
  m->wall = wall;
  m->options = *options;
  m->options.wall.kind = CB_MIRROR_NONE;
  m->x = cb_arena_alloc(m->arena, 6 * n, sizeof *m->x);
  m->face = cb_arena_alloc(m->arena, 2 * n, sizeof *m->face);
  cb_arena_doubles(m->arena, 2 * n * CB_PANEL_COLUMNS, &m->w, &m->phi);
  status = cb_arena_lost(m->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the images of %d panels", p->n) : CB_OK;
  for (int i = 0; i < 6 * p->n && !status; i++) m->face[i / 3][i % 3] = i;
  if (!status) status = place(m);
  if (status) {
    cb_images_free(m);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_images_free(cb_images *m) {
  if (!m) return;
  cb_operator_free(m->operator);
  cb_panels_free(m->both);
  cb_arena_free(m->arena);
}
