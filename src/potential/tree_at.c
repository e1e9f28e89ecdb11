/* Evaluates the far field at any points, and at the panels themselves (far.h). The points of a call get a
 * tree of their own, and the leaves of this tree are the groups. */
#include "potential/tree_kernels.h"

#include "core/threads.h"
#include "numerics/vec3.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* --- moments ---
 *
 * These functions compute the moments of cells: first those of the panels in the leaves, which are then shifted up to
 * the root.
 */

int cb_far_terms(const cb_far *f) { return (f->order + 1) * (f->order + 1); }

/* Sets the ball of each cell. Its centre is the centre of the bounding box of the panels' corners, and its radius is
 * the distance of the farthest corner. */
void cb_far_balls(cb_panel_tree *t, const cb_panels *p) {
  for (int i = 0; i < t->cells; i++) {
    cb_tree_cell *c = &t->cell[i];
    double low[3], high[3], square = 0;
    for (int a = 0; a < 3; a++) {
      low[a] = INFINITY;
      high[a] = -INFINITY;
    }
    for (int j = c->first; j < c->first + c->n; j++)
      for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) {
          const double x = p->corner[t->order[j]][k][a];
          low[a] = fmin(low[a], x);
          high[a] = fmax(high[a], x);
        }
    for (int a = 0; a < 3; a++) c->centre[a] = (low[a] + high[a]) / 2;
    for (int j = c->first; j < c->first + c->n; j++)
      for (int k = 0; k < 3; k++) {
        const double *x = p->corner[t->order[j]][k],
                     d[3] = {x[0] - c->centre[0], x[1] - c->centre[1], x[2] - c->centre[2]};
        square = fmax(square, cb_dot3(d, d));
      }
    c->radius = sqrt(square);
  }
}

/* Makes the product of Gauss's rules of n points in s and in t/(1 - s), which is exact for degree 2n - 2. s and t are
 * those of cb_tree_rule. */
static bool make_rule(cb_far *f, int n) {
  cb_tree_rule *rule = &f->rule[n];
  rule->points = n * n;
  rule->at = cb_arena_alloc(f->arena, (size_t)rule->points, sizeof *rule->at);
  gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc((size_t)n);
  for (int i = 0; rule->at && table && i < n * n; i++) {
    double s, u, t, v, *at = rule->at[i];
    gsl_integration_glfixed_point(0, 1, (size_t)(i / n), &s, &u, table);
    gsl_integration_glfixed_point(0, 1, (size_t)(i % n), &t, &v, table);
    at[0] = s;
    at[1] = t * (1 - s);
    at[2] = 2 * u * v * (1 - s);
  }
  const bool good = rule->at && table;
  if (table) gsl_integration_glfixed_table_free(table);
  return good;
}

cb_status cb_far_rules(cb_far *f) {
  for (int n = 1; n <= (f->order + 1) / 2 + 1; n++)
    if (!make_rule(f, n)) return cb_fail(CB_ERROR_MEMORY, "no memory for a quadrature");
  return CB_OK;
}

/* Returns the number of points on a side of a rule that is sufficient for the panels of a leaf. At a distance r from
 * the centre of a panel of radius s, a rule of degree d has an error of about (s/r)^(d + 1), relative to the potential.
 * The degree of the rule need not be above that of the moments. */
int cb_far_rule_of(const cb_far *f, const cb_tree_cell *c) {
  double square = 0;
  for (int j = c->first; j < c->first + c->n; j++)
    for (int k = 0; k < 3; k++) {
      const double *x = f->p->corner[j][k], *y = f->p->centre[j], d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
      square = fmax(square, cb_dot3(d, d));
    }
  const double ratio = sqrt(square) / (c->radius * (1 / cb_far_opening - 1));
  const double degree = ratio < 1 ? f->log_share / log(ratio) - 1 : f->order;
  return (int)ceil(fmin(fmax(degree, 0), f->order) / 2) + 1;
}

static void rows_of(const cb_far *f, int columns, const double *density, double *rows) {
  const int n = f->tree.n;
#pragma omp parallel for num_threads(f->threads) schedule(static)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < CB_TREE_COLUMNS; k++)
      rows[(size_t)j * CB_TREE_COLUMNS + (size_t)k] =
          k < columns ? density[(size_t)k * (size_t)n + (size_t)f->tree.order[j]] : 0;
}

/* Returns the moments of a cell: cb_far_terms(f) rows of CB_TREE_COLUMNS numbers. */
static double *far_moments_of(const cb_far *f, int cell) {
  return f->moments + (size_t)cell * (size_t)cb_far_terms(f) * CB_TREE_COLUMNS;
}

static void cell_moments(const cb_far *f, int cell, const double *sigma, const double *mu, double *work) {
  const cb_tree_cell *c = &f->tree.cell[cell];
  double *to = far_moments_of(f, cell);
  memset(to, 0, (size_t)cb_far_terms(f) * CB_TREE_COLUMNS * sizeof *to);
  if (!c->child) {
    const size_t row = (size_t)c->first * CB_TREE_COLUMNS;
    f->kernels->panels(&f->factor, f->order, &f->rule[c->rule], c->n, f->block + c->first / 8, c->centre, c->radius,
                       sigma ? sigma + row : NULL, mu ? mu + row : NULL, to, work);
    return;
  }
  for (int i = c->child; i < c->child + 2; i++) {
    const cb_tree_cell *child = &f->tree.cell[i];
    double d[3];
    for (int a = 0; a < 3; a++) d[a] = (child->centre[a] - c->centre[a]) / c->radius;
    f->kernels->shift(&f->factor, f->order, d, child->radius / c->radius, far_moments_of(f, i), to, work);
  }
}

/* Computes the moments of all cells, for `columns` columns of densities in the caller's order of the panels. */
static void far_moments(cb_far *f, int columns, const double *sigma, const double *mu) {
  if (sigma) rows_of(f, columns, sigma, f->sigma);
  if (mu) rows_of(f, columns, mu, f->mu);
  for (int l = f->tree.levels - 1; l >= 0; l--) {
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 4)
    for (int i = f->tree.level[l]; i < f->tree.level[l + 1]; i++)
      cell_moments(f, i, sigma ? f->sigma : NULL, mu ? f->mu : NULL, f->work[omp_get_thread_num()].harmonics);
  }
}

/* Converts moments to the coefficients that the kernels evaluate, for a cell of this radius; `to` may be `from`. For a
 * gradient, pass the square of the radius. */
static void far_finish(const cb_tree_factors *f, int order, double radius, const double *from, double *to) {
  for (int t = 0; t < (order + 1) * (order + 1); t++) {
    const double by = f->finish[t] / radius;
    for (int k = 0; k < CB_TREE_COLUMNS; k++) to[t * CB_TREE_COLUMNS + k] = by * from[t * CB_TREE_COLUMNS + k];
  }
}

/* --- factors of the recurrences of solid harmonics, and the gradient of an expansion --- */

void cb_tree_factors_fill(cb_tree_factors *f) {
  double odd = 1; /* (2l - 1)!! */
  for (int l = 0; l < CB_TREE_ORDER + 2; l++) {
    if (l) odd *= 2 * l - 1;
    for (int i = 0; i < 2 * l + 1; i++) {
      const int m = (i + 1) / 2, term = l * l + i, last = l - 1;
      f->finish[term] = odd * (m ? 2 : 1) / (4 * M_PI);
      if (m >= l) continue;
      const double below = l * l - m * m;
      f->up[term] = (2 * last + 1) / below;
      f->down[term] = 1 / below;
      f->across[term] = last ? (last * last - m * m) / (4.0 * last * last - 1) : 0;
    }
  }
}

const cb_tree_kernels *cb_tree_kernels_of_isa(void) {
#if defined(__x86_64__)
  if (cb_isa_get() == CB_ISA_AVX512) return &cb_tree_kernels_avx512;
  if (cb_isa_get() == CB_ISA_AVX2) return &cb_tree_kernels_avx2;
#endif
  return &cb_tree_kernels_x86_64;
}

/* Returns the row of the real or imaginary part of the moment M_l^m, and zeros if m > l. */
static const double *part(const double *moments, int l, int m, bool imaginary) {
  static const double zero[CB_TREE_COLUMNS];
  if (m > l || (imaginary && m == 0)) return zero;
  return moments + (l * l + (m ? 2 * m - !imaginary : 0)) * CB_TREE_COLUMNS;
}

/* Sets to[a] to the moments of component a of the gradient of the potential, from the moments of the potential up to
 * degree `order`. The moments of the gradient have degrees up to order + 1. They are minus the moments with the
 * derivatives of the harmonics along axis a. Lengths are in radii of the cell. */
static void tree_gradient(int order, const double *moments, double *const to[3]) {
  for (int c = 0; c < 3 * CB_TREE_COLUMNS; c++) to[c / CB_TREE_COLUMNS][c % CB_TREE_COLUMNS] = 0;
  for (int l = 1; l <= order + 1; l++)
    for (int m = 0; m <= l; m++) {
      /* for m = -1 the moments are M^{-1} = -conj(M^1) */
      const double sign = m ? 1 : -1, *u = part(moments, l - 1, m, false), *v = part(moments, l - 1, m, true),
                   *up = part(moments, l - 1, m + 1, false), *vp = part(moments, l - 1, m + 1, true),
                   *um = part(moments, l - 1, m ? m - 1 : 1, false), *vm = part(moments, l - 1, m ? m - 1 : 1, true);
      const size_t at = (size_t)(l * l + (m ? 2 * m - 1 : 0)) * CB_TREE_COLUMNS;
      double *x = to[0] + at, *y = to[1] + at, *z = to[2] + at;
      for (int c = 0; c < CB_TREE_COLUMNS; c++) {
        x[c] = (up[c] - sign * um[c]) / 2;
        y[c] = (vp[c] + vm[c]) / 2;
        z[c] = -u[c];
      }
      for (int c = 0; c < CB_TREE_COLUMNS && m; c++) {
        x[CB_TREE_COLUMNS + c] = (vp[c] - vm[c]) / 2;
        y[CB_TREE_COLUMNS + c] = -(up[c] + um[c]) / 2;
        z[CB_TREE_COLUMNS + c] = -v[c];
      }
    }
}

/* --- evaluation --- */

/* Component a of the velocity is a sum of three terms: sign times the derivative of column `column` along axis `axis`.
 * Together they are rot (columns 0, 1, 2) + grad (column 3). */
static const struct {
  int axis, column, sign;
} velocity[3][3] = {
    {{1, 2, 1}, {2, 1, -1}, {0, 3, 1}}, {{2, 0, 1}, {0, 2, -1}, {1, 3, 1}}, {{0, 1, 1}, {1, 0, -1}, {2, 3, 1}}};

struct cb_far_field {
  cb_arena *arena;
  const cb_far *f;
  cb_far_kind kind;
  int rows;                 /* number of columns of moments and of results */
  const double *sigma, *mu; /* rows of CB_TREE_COLUMNS densities in the tree's order, or NULL */
  size_t terms;
  double *moments;   /* the moments of each cell after far_finish */
  cb_far_list *list; /* one per thread, with capacity for any group */
  cb_far_work *work;
};

/* The points x of one call of cb_far_field_at, and a tree of them. */
typedef struct call {
  const cb_far_field *a;
  cb_arena *arena;
  cb_panel_tree tree;
  int points;
  const double (*x)[3];
  double *at[3]; /* the coordinates of the points, in the order of the tree, padded to whole vectors */
  double *out;
} call;

/* --- densities --- */

/* Computes the moments of the three components of the flow velocity that the panels of a cell cause. They follow from
 * the cell's moments of the density columns 0 to 3 by derivatives (see the table `velocity`). */
static void velocity_moments(const cb_far *f, int cell, double *const slope[3], double *to) {
  const int order = f->order + 1;
  tree_gradient(f->order, far_moments_of(f, cell), slope);
  for (int t = 0; t < (order + 1) * (order + 1); t++)
    for (int a = 0; a < 3; a++) {
      double sum = 0;
      for (int i = 0; i < 3; i++)
        sum += velocity[a][i].sign * slope[velocity[a][i].axis][t * CB_TREE_COLUMNS + velocity[a][i].column];
      to[t * CB_TREE_COLUMNS + a] = sum;
    }
  far_finish(&f->factor, order, f->tree.cell[cell].radius * f->tree.cell[cell].radius, to, to);
}

static void keep_moments(cb_far_field *a, double *slopes) {
  const cb_far *f = a->f;
  const size_t size = a->terms * CB_TREE_COLUMNS;
#pragma omp parallel for num_threads(f->threads) schedule(static)
  for (int i = 0; i < f->tree.cells; i++) {
    double *own = slopes + (size_t)omp_get_thread_num() * 3 * size, *to = a->moments + (size_t)i * size;
    if (a->kind == CB_FAR_VELOCITY)
      velocity_moments(f, i, (double *[]){own, own + size, own + 2 * size}, to);
    else
      far_finish(&f->factor, f->order, f->tree.cell[i].radius, far_moments_of(f, i), to);
  }
}

static double *copy_of(cb_arena *arena, size_t n, const double *rows) {
  double *to = cb_arena_alloc_aligned(arena, n * CB_TREE_COLUMNS, sizeof *to, CB_CACHE_LINE);
  if (to) memcpy(to, rows, n * CB_TREE_COLUMNS * sizeof *to);
  return to;
}

cb_status cb_far_field_create(cb_far *f, cb_far_kind kind, int columns, const double *sigma, const double *mu,
                              cb_far_field **out) {
  if (columns < 1 || columns > CB_TREE_COLUMNS || (kind == CB_FAR_VELOCITY && columns != 4))
    return cb_fail(CB_ERROR_ARGUMENT, "a field of %d columns: expected 1 to 8, or 4 for velocities", columns);
  cb_far_field *a = cb_arena_object(sizeof *a, "a field of panels");
  if (!a) return CB_ERROR_MEMORY;
  const size_t n = (size_t)f->tree.n, cells = (size_t)f->tree.cells, order = (size_t)f->order + 1;
  a->f = f;
  a->kind = kind;
  a->rows = kind == CB_FAR_VELOCITY ? 3 : columns;
  a->terms = (order + 1) * (order + 1);
  a->moments = cb_arena_alloc_aligned(a->arena, cells * a->terms * CB_TREE_COLUMNS, sizeof(double), CB_CACHE_LINE);
  a->list = cb_arena_alloc(a->arena, (size_t)f->threads, sizeof *a->list);
  a->work = cb_far_work_create(a->arena, f->threads);
  for (int i = 0; a->list && i < f->threads; i++) {
    a->list[i].far = cb_arena_alloc(a->arena, cells, sizeof *a->list[i].far);
    a->list[i].near = cb_arena_alloc(a->arena, (size_t)f->tree.groups, sizeof *a->list[i].near);
  }
  cb_arena *some = cb_arena_create();
  double *slopes = NULL;
  cb_arena_doubles(some, (size_t)f->threads * 3 * a->terms * CB_TREE_COLUMNS, &slopes);
  if (!cb_arena_lost(a->arena) && slopes) {
    far_moments(f, columns, sigma, mu);
    if (sigma) a->sigma = copy_of(a->arena, n, f->sigma);
    if (mu) a->mu = copy_of(a->arena, n, f->mu);
    keep_moments(a, slopes);
  }
  const bool good = slopes && !cb_arena_lost(a->arena);
  cb_arena_free(some);
  if (!good) {
    cb_far_field_free(a);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the field of %d panels", f->tree.n);
  }
  *out = a;
  return CB_OK;
}

void cb_far_field_free(cb_far_field *a) {
  if (a) cb_arena_free(a->arena);
}

/* --- points --- */

static cb_status open_call(call *c) {
  c->arena = cb_arena_create();
  const size_t n = (size_t)c->points + CB_TREE_CHUNK;
  bool good = c->arena && cb_tree_build(c->arena, c->points, c->x, CB_TREE_CHUNK, &c->tree);
  if (good) cb_arena_doubles(c->arena, n, &c->at[0], &c->at[1], &c->at[2]);
  if (!good || cb_arena_lost(c->arena)) {
    cb_arena_free(c->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the flow at %d points", c->points);
  }
  for (size_t j = 0; j < n; j++)
    for (int k = 0; k < 3; k++) c->at[k][j] = c->x[c->tree.order[j < (size_t)c->points ? j : (size_t)c->points - 1]][k];
  return CB_OK;
}

/* Returns where component or column `row` of the result of point i is stored. */
static double *result(const call *c, int row, int i) {
  return c->a->kind == CB_FAR_VELOCITY ? c->out + 3 * (size_t)i + row
                                       : c->out + (size_t)row * (size_t)c->points + (size_t)i;
}

static void far_of(const call *c, const cb_tree_cell *group, const cb_far_list *list, const cb_far_work *w) {
  const cb_far *f = c->a->f;
  const int more = c->a->kind == CB_FAR_VELOCITY;
  memset(w->far, 0, (size_t)c->a->rows * CB_TREE_LEAF * sizeof *w->far);
  for (int i = 0; i < list->fars; i++) {
    const cb_tree_cell *cell = &f->tree.cell[list->far[i].cell];
    f->kernels->evaluate(&f->factor, list->far[i].order + more, c->a->rows,
                         c->a->moments + (size_t)list->far[i].cell * c->a->terms * CB_TREE_COLUMNS, cell->centre,
                         1 / cell->radius, group->n, c->at[0] + group->first, c->at[1] + group->first,
                         c->at[2] + group->first, w->far, w->harmonics);
  }
  for (int k = 0; k < c->a->rows; k++)
    for (int t = 0; t < group->n; t++) *result(c, k, c->tree.order[group->first + t]) = w->far[k * CB_TREE_LEAF + t];
}

static void near_potential(const cb_far_field *a, const cb_tree_cell *leaf, const double x[3], double *row,
                           double *sum) {
  const size_t first = (size_t)leaf->first * CB_TREE_COLUMNS;
  double *S = a->sigma ? row : NULL, *D = a->mu ? row + CB_TREE_LEAF : NULL;
  cb_panels_range(a->f->p, x, leaf->first, leaf->n, -1, S, D);
  if (S) a->f->kernels->rows(1, leaf->n, 0, S, a->sigma + first, sum);
  if (D) a->f->kernels->rows(1, leaf->n, 0, D, a->mu + first, sum);
}

static void near_velocity(const cb_far_field *a, const cb_tree_cell *leaf, const double x[3], double *row,
                          double *slope) {
  const size_t first = (size_t)leaf->first * CB_TREE_COLUMNS;
  double *S = a->sigma ? row : NULL, *D = a->mu ? row + 3 * CB_TREE_LEAF : NULL;
  cb_panels_gradients(a->f->p, x, leaf->first, leaf->n, CB_TREE_LEAF, S, D);
  if (S) a->f->kernels->rows(3, leaf->n, CB_TREE_LEAF, S, a->sigma + first, slope);
  if (D) a->f->kernels->rows(3, leaf->n, CB_TREE_LEAF, D, a->mu + first, slope);
}

static void near_of(const call *c, const cb_tree_cell *group, const cb_far_list *list, const cb_far_work *w) {
  const cb_far_field *a = c->a;
  for (int t = 0; t < group->n; t++) {
    const int number = c->tree.order[group->first + t];
    double sum[3 * CB_TREE_COLUMNS] = {0};
    for (int i = 0; i < list->nears; i++) {
      const cb_tree_cell *leaf = &a->f->tree.cell[list->near[i]];
      (a->kind == CB_FAR_VELOCITY ? near_velocity : near_potential)(a, leaf, c->x[number], w->row, sum);
    }
    for (int k = 0; k < a->rows; k++) {
      double *to = result(c, k, number);
      if (a->kind == CB_FAR_POTENTIAL) *to += sum[k];
      for (int i = 0; i < 3 && a->kind == CB_FAR_VELOCITY; i++)
        *to += velocity[k][i].sign * sum[velocity[k][i].axis * CB_TREE_COLUMNS + velocity[k][i].column];
    }
  }
}

static void list_of(const cb_far_field *a, const cb_tree_cell *group, cb_far_list *list) {
  list->fars = list->nears = list->panels = 0;
  cb_far_find(a->f, group, list);
}

/* Returns an estimate of the time of a list for this number of points, in any unit. A far cell takes about as long for
 * half a chunk (CB_TREE_CHUNK/2) of points as a near leaf for one point. */
static double work_of(const cb_far_list *list, int points) {
  const int halves = (points + CB_TREE_CHUNK / 2 - 1) / (CB_TREE_CHUNK / 2);
  return (double)list->fars * halves + (double)list->nears * points;
}

/* Computes the field at a group of points. If the points are far from each other, each of them becomes a group. */
static void group_field(const call *c, int g, int thread) {
  const cb_tree_cell *group = &c->tree.cell[c->tree.leaf[g]];
  const cb_far_work *work = &c->a->work[thread];
  cb_far_list *list = &c->a->list[thread];
  list_of(c->a, group, list);
  const double together = work_of(list, group->n);
  bool alone = false;
  for (int t = 0; t < group->n; t++) {
    const double *x = c->x[c->tree.order[group->first + t]];
    const cb_tree_cell point = {
        .first = group->first + t, .n = 1, .low = {x[0], x[1], x[2]}, .high = {x[0], x[1], x[2]}};
    list_of(c->a, &point, list);
    if (t == 0) alone = together > group->n * work_of(list, 1);
    if (!alone) break;
    far_of(c, &point, list, work);
    near_of(c, &point, list, work);
  }
  if (alone) return;
  list_of(c->a, group, list);
  far_of(c, group, list, work);
  near_of(c, group, list, work);
}

cb_status cb_far_field_at(cb_far_field *a, int points, const double (*x)[3], double *out) {
  if (points < 1) return CB_OK;
  call c = {.a = a, .x = x, .points = points, .out = out};
  const cb_status status = open_call(&c);
  if (status) return status;
#pragma omp parallel for num_threads(cb_threads_for((size_t)points *CB_TREE_LEAF) > 1 ? a->f->threads : 1) \
    schedule(dynamic, 1)
  for (int g = 0; g < c.tree.groups; g++) group_field(&c, g, omp_get_thread_num());
  cb_arena_free(c.arena);
  return CB_OK;
}

/* --- evaluation at the panels themselves --- */

void cb_far_near_row(const cb_far *f, const cb_tree_cell *group, const cb_tree_cell *leaf, int t, double *S,
                     double *D) {
  const int at = group->first + t, self = leaf == group ? t : -1;
  const double *x = f->p->centre[at];
  if (cb_far_has_slope(f, at))
    cb_panels_slopes(f->p, x, f->p->normal[at], (cb_panel_choice){leaf->first, leaf->n, NULL, self}, S, D);
  else
    cb_panels_range(f->p, x, leaf->first, leaf->n, self, S, D);
}

static void near_anew(const cb_far *f, const cb_tree_cell *group, const cb_tree_cell *leaf, bool sigma, bool mu,
                      const cb_far_work *w) {
  double *S = sigma ? w->row : NULL, *D = mu ? w->row + CB_TREE_LEAF : NULL;
  const size_t row = (size_t)leaf->first * CB_TREE_COLUMNS;
  for (int t = 0; t < group->n; t++) {
    cb_far_near_row(f, group, leaf, t, S, D);
    if (S) f->kernels->rows(1, leaf->n, 0, S, f->sigma + row, w->near + t * CB_TREE_COLUMNS);
    if (D) f->kernels->rows(1, leaf->n, 0, D, f->mu + row, w->near + t * CB_TREE_COLUMNS);
  }
}

/* Adds the far field to the sums of the panels of group g. For axis 3 the function adds the potential, at the panels
 * that need the potential. For axis < 3 it adds n_axis times the derivative along this axis, at the panels that need
 * the derivative along their normal n. */
static void add_far(const cb_far *f, int g, int columns, int axis, const cb_far_work *w) {
  const cb_far_list *list = &f->list[g];
  const cb_tree_cell *group = &f->tree.cell[f->tree.leaf[g]];
  const double *x = f->x + group->first, *y = f->y + group->first, *z = f->z + group->first;
  const bool slope = axis < 3;
  bool any = false;
  for (int t = 0; t < group->n && !any; t++) any = cb_far_has_slope(f, group->first + t) == slope;
  if (!any) return;
  memset(w->far, 0, CB_TREE_LEAF * CB_TREE_COLUMNS * sizeof(double));
  for (int i = 0; i < list->fars; i++) {
    const size_t cell = (size_t)list->far[i].cell;
    const cb_tree_cell *c = &f->tree.cell[cell];
    const double *moments = slope ? f->slopes + ((size_t)axis * (size_t)f->tree.cells + cell) * cb_far_slope_size(f)
                                  : far_moments_of(f, list->far[i].cell);
    f->kernels->evaluate(&f->factor, list->far[i].order + slope, columns, moments, c->centre, 1 / c->radius, group->n,
                         x, y, z, w->far, w->harmonics);
  }
  for (int t = 0; t < group->n; t++) {
    if (cb_far_has_slope(f, group->first + t) != slope) continue;
    const double by = slope ? f->p->normal[group->first + t][axis] : 1;
    for (int k = 0; k < columns; k++) w->near[t * CB_TREE_COLUMNS + k] += by * w->far[k * CB_TREE_LEAF + t];
  }
}

static void group_potential(const cb_far *f, int g, int columns, bool sigma, bool mu, const cb_far_work *w,
                            double *out) {
  const cb_far_list *list = &f->list[g];
  const cb_tree_cell *group = &f->tree.cell[f->tree.leaf[g]];
  memset(w->near, 0, CB_TREE_LEAF * CB_TREE_COLUMNS * sizeof(double));
  size_t at = 0;
  for (int i = 0; i < list->nears; i++) {
    const cb_tree_cell *leaf = &f->tree.cell[list->near[i]];
    if (mu && list->D)
      f->kernels->rows(group->n, leaf->n, (size_t)list->panels, list->D + at,
                       f->mu + (size_t)leaf->first * CB_TREE_COLUMNS, w->near);
    if (sigma || (mu && !list->D)) near_anew(f, group, leaf, sigma, mu && !list->D, w);
    at += (size_t)leaf->n;
  }
  for (int axis = 0; axis < 4; axis++) add_far(f, g, columns, axis, w);
  for (int k = 0; k < columns; k++)
    for (int t = 0; t < group->n; t++)
      out[(size_t)k * (size_t)f->tree.n + (size_t)f->tree.order[group->first + t]] += w->near[t * CB_TREE_COLUMNS + k];
}

static void finish(const cb_far *f, int cell) {
  double *moments = far_moments_of(f, cell);
  const double radius = f->tree.cell[cell].radius;
  if (f->slopes) {
    const size_t step = (size_t)f->tree.cells * cb_far_slope_size(f);
    double *own = f->slopes + (size_t)cell * cb_far_slope_size(f), *slope[3] = {own, own + step, own + 2 * step};
    tree_gradient(f->order, moments, slope);
    for (int a = 0; a < 3; a++) far_finish(&f->factor, f->order + 1, radius * radius, slope[a], slope[a]);
  }
  far_finish(&f->factor, f->order, radius, moments, moments);
}

cb_status cb_far_apply(cb_far *f, int columns, const double *sigma, const double *mu, double *out) {
  for (; columns > 0; columns -= CB_TREE_COLUMNS) {
    const int some = columns < CB_TREE_COLUMNS ? columns : CB_TREE_COLUMNS;
    const size_t step = (size_t)some * (size_t)f->tree.n;
    far_moments(f, some, sigma, mu);
#pragma omp parallel for num_threads(f->threads) schedule(static)
    for (int i = 0; i < f->tree.cells; i++) finish(f, i);
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1)
    for (int g = 0; g < f->tree.groups; g++)
      group_potential(f, g, some, sigma != NULL, mu != NULL, &f->work[omp_get_thread_num()], out);
    if (sigma) sigma += step;
    if (mu) mu += step;
    out += step;
  }
  return CB_OK;
}
