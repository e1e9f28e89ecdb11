/* This file computes the moments of cells: first those of the panels in the leaves, which are then shifted up to the
 * root. */
#include "numerics/vec3.h"

#include "core/isa.h"
#include "potential/far_private.h"
#include "potential/tree_kernels.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <omp.h>
#include <string.h>

int cb_far_terms(const cb_far *f) { return (f->order + 1) * (f->order + 1); }

/* The centre of the ball is that of the bounding box of the corners, and the ball reaches the farthest corner. */
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

double *cb_far_moments_of(const cb_far *f, int cell) {
  return f->moments + (size_t)cell * (size_t)cb_far_terms(f) * CB_TREE_COLUMNS;
}

static void cell_moments(const cb_far *f, int cell, const double *sigma, const double *mu, double *work) {
  const cb_tree_cell *c = &f->tree.cell[cell];
  double *to = cb_far_moments_of(f, cell);
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
    f->kernels->shift(&f->factor, f->order, d, child->radius / c->radius, cb_far_moments_of(f, i), to, work);
  }
}

void cb_far_moments(cb_far *f, int columns, const double *sigma, const double *mu) {
  if (sigma) rows_of(f, columns, sigma, f->sigma);
  if (mu) rows_of(f, columns, mu, f->mu);
  for (int l = f->tree.levels - 1; l >= 0; l--) {
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 4)
    for (int i = f->tree.level[l]; i < f->tree.level[l + 1]; i++)
      cell_moments(f, i, sigma ? f->sigma : NULL, mu ? f->mu : NULL, f->work[omp_get_thread_num()].harmonics);
  }
}

void cb_far_finish(const cb_tree_factors *f, int order, double radius, const double *from, double *to) {
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

void cb_tree_gradient(int order, const double *moments, double *const to[3]) {
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
