/* Moments of the cells: of panels in the leaves, carried to the root. */
#include "numerics/vec3.h"
#include "potential/far_private.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <omp.h>
#include <string.h>

int cb_far_terms(const cb_far *f) { return (f->order + 1) * (f->order + 1); }

/* Centre of the box of the corners, and the farthest corner. */
void cb_far_balls(cb_tree *t, const cb_panels *p) {
  for (int i = 0; i < t->cells; i++) {
    cb_tree_cell *c = &t->cell[i];
    double low[3], high[3], square = 0;
    for (int a = 0; a < 3; a++) low[a] = INFINITY, high[a] = -INFINITY;
    for (int j = c->first; j < c->first + c->n; j++)
      for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) {
          const double x = p->corner[t->order[j]][k][a];
          low[a] = fmin(low[a], x), high[a] = fmax(high[a], x);
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

/* Gauss's rule in s and in t/(1 - s): exact for degree 2 points - 2, the highest of a moment. */
cb_status cb_far_rule(cb_far *f) {
  const int n = f->order / 2 + 1;
  f->rule.points = n * n;
  f->rule.at = cb_arena_alloc(f->arena, (size_t)f->rule.points, sizeof *f->rule.at);
  gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc((size_t)n);
  if (!f->rule.at || !table) {
    gsl_integration_glfixed_table_free(table);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a quadrature");
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s, u, t, v;
      gsl_integration_glfixed_point(0, 1, (size_t)i, &s, &u, table);
      gsl_integration_glfixed_point(0, 1, (size_t)j, &t, &v, table);
      double *at = f->rule.at[i * n + j];
      at[0] = s, at[1] = t * (1 - s), at[2] = 2 * u * v * (1 - s);
    }
  gsl_integration_glfixed_table_free(table);
  return CB_OK;
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
    f->kernels->panels(f->order, &f->rule, c->n, f->block + c->first / 8, c->centre, c->radius,
                       sigma ? sigma + row : NULL, mu ? mu + row : NULL, to, work);
    return;
  }
  for (int i = c->child; i < c->child + 2; i++) {
    const cb_tree_cell *child = &f->tree.cell[i];
    double d[3];
    for (int a = 0; a < 3; a++) d[a] = (child->centre[a] - c->centre[a]) / c->radius;
    f->kernels->shift(f->order, d, child->radius / c->radius, cb_far_moments_of(f, i), to, work);
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

void cb_far_finish(int order, double radius, const double *from, double *to) {
  for (int t = 0; t < (order + 1) * (order + 1); t++) {
    const double by = cb_tree_factor.finish[t] / radius;
    for (int k = 0; k < CB_TREE_COLUMNS; k++) to[t * CB_TREE_COLUMNS + k] = by * from[t * CB_TREE_COLUMNS + k];
  }
}
