/* The Gram matrix of constraints (gram.h), the multipliers of a state, and its projection onto the constraints. With
 * rows of the space, the matrix has blocks for the rows of the system (A) and for those of the space (D):
 *
 *   [A B; B^T D] (y, z) = (r, q),   D = <x,x>/m,  B = (G.x)/m,   A - B D^-1 B^T = the Gram matrix of tangential parts
 *
 * r and q are the right sides for the rows of the system and of the space, y and z the solutions, x is the part of a
 * particle's position in a factor, G a gradient and m the mass. With the last matrix the rows of the space are
 * eliminated exactly, and the matrix that is factored is small and positive.
 */
#include "dynamics/gram.h"

#include "core/failure.h"
#include "dynamics/chart_dynamics.h"
#include "geometry/quadric.h"

#include <amd.h>
#include <ldl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { K = CB_Q_MAX, D = CB_Q_MAX };

/* A row counts as dependent on the others if the part of its gradient that is orthogonal to the other gradients is
 * small. This is so if the square of this part is at most this number times the square of the gradient. */
static const double dependent = 1e-13;

void cb_gram_free(cb_gram *g) {
  if (g) cb_arena_free(g->arena);
}

typedef struct by_particle {
  int *start, *entry; /* entry[start[i] .. start[i+1]): the entries of the system's rows at particle i */
  int *row_of;        /* the row of an entry */
} by_particle;

static bool group_entries(const cb_gram *g, cb_arena *scratch, by_particle *out) {
  const cb_rows *r = &g->rows;
  const int n = g->system->n, entries = r->start[r->own];
  out->start = cb_arena_alloc(scratch, (size_t)n + 2, sizeof(int));
  out->entry = cb_arena_alloc(scratch, (size_t)entries, sizeof(int));
  out->row_of = cb_arena_alloc(scratch, (size_t)entries, sizeof(int));
  if (!out->start || !out->entry || !out->row_of) return false;
  for (int e = 0; e < entries; e++) out->start[r->particle[e] + 2]++;
  for (int i = 0; i < n; i++) out->start[i + 2] += out->start[i + 1];
  for (int row = 0; row < r->own; row++)
    for (int e = r->start[row]; e < r->start[row + 1]; e++) {
      out->row_of[e] = row;
      out->entry[out->start[r->particle[e] + 1]++] = e;
    }
  return true;
}

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Sets key[p] to the position of pair p in the upper triangle of the matrix of the `own` rows of the system. This
 * position is column * own + row, with column >= row. place[row] is the number of a row in the permuted matrix; NULL:
 * rows keep their order. */
static void find_keys(const cb_gram *g, const by_particle *at, const int *place, int64_t *key) {
  for (size_t p = 0; p < g->pairs; p++) {
    int64_t r = at->row_of[g->first[p]], c = at->row_of[g->second[p]];
    if (place) {
      r = place[r];
      c = place[c];
    }
    key[p] = r > c ? r * g->rows.own + c : c * g->rows.own + r;
  }
}

/* Sorts the keys, and makes from them the arrays of compressed columns, start and row. Repeated keys are kept once.
 * Returns the number of different keys. */
static int compress(int own, size_t pairs, int64_t *key, int *start, int *row) {
  int kept = 0;
  qsort(key, pairs, sizeof *key, compare);
  for (size_t p = 0; p < pairs; p++) {
    if (p && key[p] == key[kept - 1]) continue;
    start[key[p] / own + 1]++;
    row[kept] = (int)(key[p] % own);
    key[kept++] = key[p];
  }
  for (int r = 0; r < own; r++) start[r + 1] += start[r];
  return kept;
}

/* Lists the pairs of entries that share a particle. Then finds an order of the rows in which the factor of S (gram.h)
 * has few entries. */
static bool order_rows(cb_gram *g, cb_arena *scratch, const by_particle *at, int64_t *key, int *kept) {
  const int own = g->rows.own;
  int *start = cb_arena_alloc(scratch, (size_t)own + 1, sizeof(int));
  int *row = cb_arena_alloc(scratch, 2 * g->pairs + 1, sizeof(int));
  g->first = cb_arena_alloc(g->arena, g->pairs, sizeof(int));
  g->second = cb_arena_alloc(g->arena, g->pairs, sizeof(int));
  g->permutation = cb_arena_alloc(g->arena, (size_t)own, sizeof(int));
  g->inverse = cb_arena_alloc(g->arena, (size_t)own, sizeof(int));
  if (!start || !row || !g->first || !g->second || !g->permutation || !g->inverse) return false;
  size_t p = 0;
  for (int i = 0; i < g->system->n; i++)
    for (int a = at->start[i]; a < at->start[i + 1]; a++)
      for (int b = at->start[i]; b <= a; b++, p++) {
        g->first[p] = at->entry[a];
        g->second[p] = at->entry[b];
      }
  find_keys(g, at, NULL, key);
  *kept = compress(own, g->pairs, key, start, row);
  if (own && amd_order(own, start, row, g->permutation, NULL, NULL) < AMD_OK) return false;
  for (int r = 0; r < own; r++) g->inverse[g->permutation[r]] = r;
  return true;
}

/* Makes the upper triangle of S with permuted rows, and finds for each pair the element of S to which it is added. */
static bool place_pairs(cb_gram *g, const by_particle *at, int64_t *key, int64_t *sorted, int kept) {
  const int own = g->rows.own;
  g->slot = cb_arena_alloc(g->arena, g->pairs, sizeof(int));
  g->column = cb_arena_alloc(g->arena, (size_t)own + 1, sizeof(int));
  g->row = cb_arena_alloc(g->arena, (size_t)kept, sizeof(int));
  g->value = cb_arena_alloc(g->arena, (size_t)kept, sizeof(double));
  if (!g->slot || !g->column || !g->row || !g->value) return false;
  find_keys(g, at, g->inverse, key);
  memcpy(sorted, key, g->pairs * sizeof *key);
  compress(own, g->pairs, sorted, g->column, g->row);
  for (size_t p = 0; p < g->pairs; p++) {
    const int64_t *found = bsearch(&key[p], sorted, (size_t)kept, sizeof *sorted, compare);
    g->slot[p] = (int)(found - sorted);
  }
  return true;
}

static bool find_fill(cb_gram *g) {
  const size_t own = (size_t)g->rows.own;
  int **const whole[] = {&g->parent, &g->l_count, &g->flag, &g->pattern};
  double **const real[] = {&g->d, &g->diagonal, &g->work};
  bool lost = !(g->l_start = cb_arena_alloc(g->arena, own + 1, sizeof(int)));
  for (int i = 0; i < 4; i++) lost |= !(*whole[i] = cb_arena_alloc(g->arena, own, sizeof(int)));
  for (int i = 0; i < 3; i++) lost |= !(*real[i] = cb_arena_alloc(g->arena, own, sizeof(double)));
  if (lost) return false;
  ldl_symbolic(g->rows.own, g->column, g->row, g->l_start, g->parent, g->l_count, g->flag, NULL, NULL);
  g->l_row = cb_arena_alloc(g->arena, (size_t)g->l_start[own], sizeof(int));
  g->l_value = cb_arena_alloc(g->arena, (size_t)g->l_start[own], sizeof(double));
  return g->l_row && g->l_value;
}

/* Finds the pattern of S, the order of its rows and the symbolic factor. */
static cb_status analyse(cb_gram *g) {
  cb_arena *scratch = cb_arena_create();
  by_particle at;
  int kept;
  bool done = group_entries(g, scratch, &at);
  for (int i = 0; done && i < g->system->n; i++) {
    const size_t count = (size_t)(at.start[i + 1] - at.start[i]);
    g->pairs += count * (count + 1) / 2;
  }
  int64_t *key = done ? cb_arena_alloc(scratch, 2 * g->pairs, sizeof *key) : NULL;
  done = key && order_rows(g, scratch, &at, key, &kept) && place_pairs(g, &at, key, key + g->pairs, kept);
  done = done && find_fill(g);
  cb_arena_free(scratch);
  return done ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", g->rows.own);
}

cb_status cb_gram_create(cb_forces *f, cb_constraints *c, cb_gram **out) {
  cb_gram *g = cb_arena_object(sizeof *g, "constraints");
  if (!g) return CB_ERROR_MEMORY;
  g->forces = f;
  g->c = c;
  g->system = c->system;
  g->space = c->space;
  g->k = c->space->k;
  g->rows = c->rows;
  const size_t n = (size_t)g->system->n * (size_t)g->k, entries = (size_t)g->rows.start[g->rows.rows] * (size_t)g->k;
  cb_arena_doubles(g->arena, n, &g->x, &g->trial_x, &g->trial_v, &g->force);
  cb_arena_doubles(g->arena, 3 * entries, &g->G);
  cb_arena_doubles(g->arena, 3 * (size_t)g->rows.rows, &g->z);
  if (cb_arena_lost(g->arena)) {
    cb_arena_free(g->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  }
  g->T = g->G + entries;
  g->trial_g = g->T + entries;
  const cb_status status = analyse(g);
  if (status) {
    cb_arena_free(g->arena);
    return status;
  }
  *out = g;
  return CB_OK;
}

/* Returns u.x/<x,x> in a factor, where u is a covector at x. */
static double along(const cb_space *g, const cb_factor *f, const double *u, const double *x) {
  double ux = 0, xx = 0;
  for (int a = f->offset; a < f->offset + f->count; a++) {
    ux += u[a] * x[a];
    xx += g->form[a] * x[a] * x[a];
  }
  return ux / xx;
}

/* Sets T = I^-1 G without its normal part (in a chart: g^-1 G) for each entry of the gradients G. */
static cb_status raise(cb_gram *g, const double *x) {
  const cb_space *s = g->space;
  const int k = g->k, entries = g->rows.start[g->rows.own];
  for (int e = 0; e < entries; e++) {
    const double *G = g->G + (size_t)e * k, *at = x + (size_t)g->rows.particle[e] * k;
    double *T = g->T + (size_t)e * k;
    if (s->chart) {
      const cb_status status = cb_space_raise(s, at, G, T);
      if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
      continue;
    }
    for (int a = 0; a < k; a++) T[a] = G[a] / s->form[a];
    for (int f = 0; f < s->n_factors; f++) {
      const cb_factor *factor = &s->factor[f];
      if (factor->curvature == 0) continue;
      const double normal = along(s, factor, G, at);
      for (int a = factor->offset; a < factor->offset + factor->count; a++) T[a] -= normal * at[a];
    }
  }
  return CB_OK;
}

cb_status cb_gram_factor(cb_gram *g, const double *x, const double *G, int *row) {
  const int k = g->k, own = g->rows.own;
  const size_t n = (size_t)g->system->n * (size_t)k;
  if (x != g->x) memcpy(g->x, x, n * sizeof *x);
  if (G != g->G) memcpy(g->G, G, (size_t)g->rows.start[g->rows.rows] * (size_t)k * sizeof *G);
  const cb_status status = raise(g, x);
  if (status) return status;
  if (own == 0) return CB_OK;
  memset(g->value, 0, (size_t)g->column[own] * sizeof *g->value);
  for (size_t p = 0; p < g->pairs; p++) {
    const int first = g->first[p];
    g->value[g->slot[p]] += cb_gram_product(k, g->G + (size_t)first * k, g->T + (size_t)g->second[p] * k) /
                            g->system->mass[g->rows.particle[first]];
  }
  for (int r = 0; r < own; r++) g->diagonal[r] = g->value[g->column[r + 1] - 1];
  const int done = ldl_numeric(own, g->column, g->row, g->value, g->l_start, g->parent, g->l_count, g->l_row,
                               g->l_value, g->d, g->work, g->pattern, g->flag, NULL, NULL);
  for (int r = 0; r < own; r++)
    if (r >= done || !(g->d[r] > dependent * g->diagonal[r]) || !(g->d[r] < INFINITY)) {
      if (row) *row = g->permutation[r];
      return cb_fail_as(CB_FAILURE_CONSTRAINT, CB_STEP_SINGULAR,
                        "constraint `%s` depends on the others at this state: leave it out, or use a smaller `step`",
                        cb_system_constraint_name(g->system, g->permutation[r]));
    }
  return CB_OK;
}

double cb_gram_weakest(const cb_gram *g, int *row) {
  double least = 1;
  for (int r = 0; r < g->rows.own; r++)
    if (!(g->d[r] / g->diagonal[r] >= least)) {
      least = g->d[r] / g->diagonal[r];
      *row = g->permutation[r];
    }
  return least;
}

/* Solves S y = r for the system's rows; y[own] is r on entry and the solution on return. */
static void solve_own(const cb_gram *g, double *y) {
  const int own = g->rows.own;
  double *w = g->work; /* the contents of `work` are not needed after ldl_numeric */
  for (int r = 0; r < own; r++) w[r] = y[g->permutation[r]];
  ldl_lsolve(own, w, g->l_start, g->l_row, g->l_value);
  for (int r = 0; r < own; r++) w[r] /= g->d[r];
  ldl_ltsolve(own, w, g->l_start, g->l_row, g->l_value);
  for (int r = 0; r < own; r++) {
    y[g->permutation[r]] = w[r];
    w[r] = 0;
  }
}

void cb_gram_solve(const cb_gram *g, double *y) {
  const cb_rows *r = &g->rows;
  const int k = g->k, own = r->own;
  if (r->rows == own) {
    if (own) solve_own(g, y);
    return;
  }
  const int n = g->c->curved;
  for (int row = 0; row < own; row++)
    for (int e = r->start[row]; e < r->start[row + 1]; e++)
      for (int f = 0; f < n; f++) {
        const int i = r->particle[e];
        y[row] -= along(g->space, cb_curved_factor(g->space, f), g->G + (size_t)e * k, g->x + (size_t)i * k) *
                  y[own + i * n + f];
      }
  if (own) solve_own(g, y);
  for (int q = own; q < r->rows; q++) {
    const int i = (q - own) / n;
    const cb_factor *f = cb_curved_factor(g->space, (q - own) % n);
    double square = 0;
    for (int a = f->offset; a < f->offset + f->count; a++)
      square += g->space->form[a] * g->x[(size_t)i * k + a] * g->x[(size_t)i * k + a];
    y[q] *= g->system->mass[i] / square;
  }
  for (int row = 0; row < own; row++)
    for (int e = r->start[row]; e < r->start[row + 1]; e++)
      for (int f = 0; f < n; f++) {
        const int i = r->particle[e];
        y[own + i * n + f] -=
            along(g->space, cb_curved_factor(g->space, f), g->G + (size_t)e * k, g->x + (size_t)i * k) * y[row];
      }
}

void cb_gram_lift(const cb_gram *g, const double *y, double scale, double *u) {
  const cb_rows *r = &g->rows;
  const int k = g->k;
  /* If there are rows of the space, u need not be tangent, so the gradient I^-1 G with I = diag(form) replaces its
   * tangent part T. */
  const bool linear = r->rows > r->own;
  for (int row = 0; row < r->own; row++)
    for (int e = r->start[row]; e < r->start[row + 1]; e++) {
      const int i = r->particle[e];
      const double weight = scale * y[row] / g->system->mass[i], *G = g->G + (size_t)e * k, *T = g->T + (size_t)e * k;
      for (int a = 0; a < k; a++) u[(size_t)i * k + a] += weight * (linear ? G[a] / g->space->form[a] : T[a]);
    }
  if (!linear) return;
  const int n = g->c->curved;
  for (int q = r->own; q < r->rows; q++) {
    const int i = (q - r->own) / n;
    const cb_factor *f = cb_curved_factor(g->space, (q - r->own) % n);
    const double weight = scale * y[q] / g->system->mass[i];
    for (int a = f->offset; a < f->offset + f->count; a++) u[(size_t)i * k + a] += weight * g->x[(size_t)i * k + a];
  }
}

/* The multipliers of a state and its projection onto the constraints, by S = G W G^T:
 *
 *   S lambda = G a + gamma,   a the acceleration without the constraints      (d(rate)/dt = 0)
 *   x <- x - W G^T S^-1 g(x)  until g = 0,   v <- v - W G^T S^-1 rate(x, v)
 *
 * lambda are the multipliers, g, rate and gamma are those of constraint_rows.c, and the other symbols those of gram.h.
 * Source: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), VII.1 and VII.2,
 * doi:10.1007/978-3-642-05221-7. */

/* Computes the acceleration a that particles would have without the constraints of the system. If the Gram matrix has
 * no rows of the space, a includes the normal part that keeps each particle in the space. */
static cb_status free_acceleration(cb_gram *g, const double *x, const double *v, const double *force, double *a) {
  const cb_space *s = g->space;
  const int k = g->k;
  for (int i = 0; i < g->system->n; i++) {
    const double m = g->system->mass[i], *F = force + (size_t)i * k, *u = v + (size_t)i * k, *at = x + (size_t)i * k;
    double *out = a + (size_t)i * k;
    if (s->chart) {
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric metric = cb_chart_metric_in(k, buffer);
      const cb_status status = cb_chart_metric_at(s, at, 1, &metric);
      if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
      cb_chart_rate_velocity(k, &metric, m, u, F, out);
      continue;
    }
    for (int c = 0; c < k; c++) out[c] = F[c] / m;
    for (int f = 0; g->rows.rows == g->rows.own && f < s->n_factors; f++) {
      const cb_factor *factor = &s->factor[f];
      if (factor->curvature == 0) continue;
      double ax = 0, uu = 0, xx = 0;
      for (int c = factor->offset; c < factor->offset + factor->count; c++) {
        ax += s->form[c] * out[c] * at[c];
        uu += s->form[c] * u[c] * u[c];
        xx += s->form[c] * at[c] * at[c];
      }
      for (int c = factor->offset; c < factor->offset + factor->count; c++) out[c] -= (ax + uu) / xx * at[c];
    }
  }
  return CB_OK;
}

cb_status cb_gram_multipliers(cb_gram *g, double t, const double *x, const double *v, double *lambda,
                              double *acceleration) {
  const cb_rows *r = &g->rows;
  const int k = g->k;
  double *a = acceleration ? acceleration : g->trial_x, *y = g->z + r->rows;
  cb_status status = cb_constraints_eval(g->c, t, x, NULL, g->trial_g);
  if (!status) status = cb_gram_factor(g, x, g->trial_g, NULL);
  if (!status) status = cb_constraints_second(g->c, t, x, v, y, NULL);
  if (!status) status = cb_forces_eval(g->forces, t, x, v, g->force);
  if (!status) status = free_acceleration(g, x, v, g->force, a);
  if (status) return status;
  for (int row = 0; row < r->rows; row++)
    for (int e = r->start[row]; e < r->start[row + 1]; e++)
      y[row] += cb_gram_product(k, g->G + (size_t)e * k, a + (size_t)r->particle[e] * k);
  cb_gram_solve(g, y);
  if (acceleration) cb_gram_lift(g, y, -1, acceleration);
  memcpy(lambda, y, (size_t)r->rows * sizeof *lambda);
  return CB_OK;
}

static double largest(int n, const double *y, const bool *skip, int *at) {
  double maximum = 0;
  for (int r = 0; r < n; r++) {
    if (skip && skip[r]) continue;
    if (!(fabs(y[r]) <= maximum)) {
      maximum = fabs(y[r]);
      *at = r;
    }
  }
  return maximum;
}

cb_status cb_gram_project(cb_gram *g, double t, double *x, double *v, double tolerance, double *moved, double *turned,
                          int *row) {
  enum { MAXIMUM = 50 };
  const cb_rows *r = &g->rows;
  const cb_space *s = g->space;
  const int k = g->k;
  const size_t n = (size_t)g->system->n * (size_t)k;
  const double accepted = tolerance > 0 ? tolerance : 1e-15;
  double *y = g->z + 2 * (size_t)r->rows, *u = g->trial_x, *w = g->trial_v, before = INFINITY;
  int worst = 0;
  memcpy(u, x, n * sizeof *u);
  memcpy(w, v, n * sizeof *w);
  cb_status status;
  for (int iteration = 0;; iteration++) {
    if ((status = cb_constraints_eval(g->c, t, u, y, g->trial_g))) return status;
    const double off = largest(r->rows, y, r->velocity, &worst);
    if ((status = cb_gram_factor(g, u, g->trial_g, row))) return status;
    if (off <= accepted || (off <= 1e-12 && off > 0.5 * before)) break;
    if (iteration == MAXIMUM || !isfinite(off)) {
      if (row) *row = worst;
      return cb_fail_as(CB_FAILURE_CONSTRAINT, CB_STEP_NO_CONVERGENCE,
                        "constraint `%s` cannot be satisfied together with the others: its residual is %.3g; expected "
                        "another start or other constraints",
                        worst < r->own ? cb_system_constraint_name(g->system, worst) : "of the space", off);
    }
    before = off;
    cb_gram_solve(g, y);
    cb_gram_lift(g, y, -1, u);
    for (int i = 0; !s->chart && i < g->system->n; i++) cb_space_project_point(s, u + (size_t)i * k);
  }
  for (int i = 0; !s->chart && i < g->system->n; i++) cb_space_project_tangent(s, u + (size_t)i * k, w + (size_t)i * k);
  for (int pass = 0; pass < 2; pass++) {
    if ((status = cb_constraints_rate(g->c, t, u, w, y, NULL))) return status;
    cb_gram_solve(g, y);
    cb_gram_lift(g, y, -1, w);
  }
  double far = 0, fast = 0;
  for (size_t e = 0; e < n; e++) {
    far = fmax(far, fabs(u[e] - x[e]));
    fast = fmax(fast, fabs(w[e] - v[e]));
    if (!isfinite(u[e]) || !isfinite(w[e]))
      return cb_fail(CB_STEP_NOT_FINITE,
                     "a state is not finite after its projection to the constraints: use a smaller `step`");
  }
  memcpy(x, u, n * sizeof *x);
  memcpy(v, w, n * sizeof *v);
  if (moved) *moved = far;
  if (turned) *turned = fast;
  return CB_OK;
}
