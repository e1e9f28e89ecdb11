/* This file prepares several bodies in one fluid, solves their equations, and computes momenta and slopes (equations in
 * several.h).
 */
#include "potential/several_private.h"

#include <math.h>
#include <string.h>

enum { MOTIONS = CB_SEVERAL_MOTIONS, RESTART = 40 };

static const double tolerance = 1e-13;

/* --- solution --- */

/* Replaces x[columns][total] by F x or F^T x. The columns of all bodies of one shape are solved together. */
static void solve_own(const cb_several_work *e, int columns, bool transposed, double *x) {
  const cb_several *m = e->m;
  for (int s = 0; s < m->shapes; s++) {
    const cb_several_shape *shape = m->shape + s;
    const size_t n = (size_t)shape->n;
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
      double *own = e->own;
      for (int i = 0; i < m->bodies; i++)
        for (int c = 0; c < columns && m->of[i] == s; c++, own += n) {
          double *at = x + (size_t)c * m->total + m->at[i];
          memcpy(pass ? at : own, pass ? own : at, n * sizeof *x);
          count += !pass;
        }
      if (pass) break;
      (transposed ? cb_potential_back_transposed : cb_potential_back)(shape->n, shape->stride, shape->A, shape->pivots,
                                                                      count, e->own);
    }
  }
}

/* Computes x - D F x, with D and F transposed for the adjoint. */
static void subtract_others(cb_several_work *e, int columns, bool transposed, const double *x, double *out) {
  const size_t count = (size_t)columns * e->m->total;
  memcpy(e->in, x, count * sizeof *x);
  solve_own(e, columns, transposed, e->in);
  (transposed ? cb_several_product_transposed : cb_several_product)(e, columns, e->in, out);
  for (size_t i = 0; i < count; i++) out[i] = x[i] - out[i];
}

static cb_status forward(void *context, int columns, const double *x, double *out) {
  subtract_others(context, columns, false, x, out);
  return CB_OK;
}

static cb_status adjoint(void *context, int columns, const double *x, double *out) {
  subtract_others(context, columns, true, x, out);
  return CB_OK;
}

/* Solves for columns of the right-hand side c->b and adds the solution to `more`, which becomes what the others add to
 * the potentials or their adjoints. */
static cb_status solve(cb_several_work *e, cb_several_columns *c, int first, int columns, bool transposed) {
  const cb_several *m = e->m;
  double *more = (transposed ? c->psi_more : c->phi_more) + (size_t)first * m->total;
  const cb_krylov_problem problem = {
      .product = transposed ? adjoint : forward, .context = e, .tolerance = tolerance, .iterations = m->iterations};
  cb_krylov_result result = {0};
  memset(more, 0, (size_t)columns * m->total * sizeof *more);
  const cb_status status = cb_krylov_solve(c->krylov, &problem, columns, c->b, more, &result);
  if (status == CB_STEP_NO_CONVERGENCE)
    return cb_fail(status,
                   "the potential of %d bodies has not converged in %d iterations: residual %.3g, expected at most "
                   "%.3g; the smallest gap is %g",
                   m->bodies, result.iterations, result.residual, tolerance, e->report.gap);
  if (status == CB_ERROR_DOMAIN)
    return cb_fail(CB_STEP_NOT_FINITE, "the potential of %d bodies is not finite: expected finite twists", m->bodies);
  if (status) return status;
  solve_own(e, columns, transposed, more);
  e->report.iterations = result.iterations > e->report.iterations ? result.iterations : e->report.iterations;
  e->report.residual = fmax(e->report.residual, result.residual);
  return CB_OK;
}

/* Subtracts S w of the other bodies from b, for one column of twists. */
static void subtract_sources(const cb_several_work *e, const double *Y, double *b) {
  const cb_several *m = e->m;
  for (int i = 0; i < m->bodies; i++)
    for (int r = m->row[i]; r < m->row[i + 1]; r++) {
      const double *more = e->more + (size_t)r * (size_t)(MOTIONS * m->bodies);
      double sum = 0;
      for (int a = 0; a < MOTIONS * m->bodies; a++) sum += more[a] * Y[a];
      b[m->at[i] + (size_t)(r - m->row[i])] -= sum;
    }
}

/* Sets w, and the potentials and adjoints of each body alone, for one column of twists. */
static void set_alone(const cb_several *m, const double *Y, double *w, double *phi, double *psi) {
  for (int i = 0; i < m->bodies; i++) {
    const cb_several_shape *s = cb_several_shape_of(m, i);
    for (size_t k = 0; k < s->stride; k++) {
      double sum[3] = {0};
      for (size_t a = 0; a < MOTIONS; a++) {
        const double y = Y[(size_t)(MOTIONS * i) + a];
        sum[0] += y * s->w[a * s->stride + k];
        sum[1] += y * s->phi[a * s->stride + k];
        sum[2] += y * s->psi[a * s->stride + k];
      }
      w[m->at[i] + k] = sum[0];
      phi[m->at[i] + k] = sum[1];
      psi[m->at[i] + k] = sum[2];
    }
  }
}

/* Sets all arrays of the columns from c->Y. */
static cb_status solve_columns(cb_several_work *e, cb_several_columns *c) {
  const cb_several *m = e->m;
  const size_t total = m->total;
  cb_status status = CB_OK;
  for (int first = 0; first < c->count && !status; first += MOTIONS) {
    const int columns = c->count - first < MOTIONS ? c->count - first : MOTIONS;
    const size_t at = (size_t)first * total, count = (size_t)columns * total;
    const double *Y = c->Y + first * MOTIONS * m->bodies;
    for (int k = 0; k < columns; k++) {
      const size_t to = at + (size_t)k * total;
      set_alone(m, Y + k * MOTIONS * m->bodies, c->w + to, c->phi + to, c->psi + to);
    }
    cb_several_product(e, columns, c->phi + at, c->b);
    for (int k = 0; k < columns; k++) subtract_sources(e, Y + k * MOTIONS * m->bodies, c->b + (size_t)k * total);
    status = solve(e, c, first, columns, false);
    if (status) break;
    cb_several_product_transposed(e, columns, c->psi + at, c->b);
    status = solve(e, c, first, columns, true);
    for (size_t k = at; k < at + count && !status; k++) {
      c->phi[k] += c->phi_more[k];
      c->psi[k] += c->psi_more[k];
    }
  }
  return status;
}

/* --- momentum and slope --- */

/* Computes what the others add to the momenta, for column k. */
static void find_momentum(const cb_several_work *e, const cb_several_columns *c, int k, double (*momentum)[6]) {
  const cb_several *m = e->m;
  const size_t from = (size_t)k * m->total;
  memset(momentum, 0, (size_t)m->bodies * sizeof *momentum);
  for (int i = 0; i < m->bodies; i++) {
    const cb_several_shape *s = cb_several_shape_of(m, i);
    const double *phi = c->phi_more + from + m->at[i], *psi = c->psi_more + from + m->at[i],
                 *all = c->psi + from + m->at[i];
    for (int r = 0; r < s->n; r++) {
      for (size_t a = 0; a < MOTIONS; a++) {
        const size_t at = a * s->stride + (size_t)r;
        momentum[i][a] += (psi[r] * s->source[at] - phi[r] * s->load[at]) / 2;
      }
      const double *more = e->more + (size_t)(m->row[i] + r) * (size_t)(MOTIONS * m->bodies);
      for (int a = 0; a < MOTIONS * m->bodies; a++) momentum[a / MOTIONS][a % MOTIONS] += all[r] * more[a] / 2;
    }
  }
}

/* Adds the part of a view of body j from body i to the derivatives of the form along each component of xi,
 * [6 bodies][C][C]. The derivative for columns a and b has one half from (a, b) and one from (b, a). */
static void add_slope(const cb_several_work *e, const cb_several_columns *c, int i, int j, int mirrored, double *form) {
  const cb_several *m = e->m;
  const cb_several_view *v = cb_several_view_of(e, i, j, mirrored);
  const cb_several_shape *s = cb_several_shape_of(m, i);
  const size_t count = (size_t)c->count;
  for (size_t a = 0; a < count; a++)
    for (size_t b = 0; b < count; b++) {
      double on[6] = {0}, back[6] = {0};
      const double *psi = c->psi + b * m->total + m->at[i];
      for (int r = 0; r < s->n; r++) {
        const double *V = c->flow + 3 * (count * (size_t)r + a), scale = v->sign * psi[r],
                     f[3] = {scale * V[0], scale * V[1], scale * V[2]};
        double y[4];
        cb_several_seen(v, s->centre[r], y);
        cb_several_add_force(&m->space, y, f, on);
      }
      for (int k = 0; k < 36; k++) back[k / 6] += v->carry[k / 6][k % 6] * on[k % 6];
      for (size_t k = 0; k < MOTIONS; k++)
        for (int half = 0; half < 2; half++) {
          const size_t at = half ? a * count + b : b * count + a;
          form[((size_t)(MOTIONS * j) + k) * count * count + at] += on[k] / 2;
          form[((size_t)(MOTIONS * i) + k) * count * count + at] -= back[k] / 2;
        }
    }
}

static void find_slopes(cb_several_work *e, const cb_several_columns *c, double *form) {
  const cb_several *m = e->m;
  memset(form, 0, (size_t)(MOTIONS * m->bodies * c->count * c->count) * sizeof *form);
  for (int i = 0; i < m->bodies; i++)
    for (int j = 0; j < m->bodies; j++)
      for (int mirrored = 0; mirrored < 2; mirrored++) {
        if (cb_several_view_of(e, i, j, mirrored)->sign == 0) continue;
        cb_several_flow(e, c, i, j, mirrored);
        add_slope(e, c, i, j, mirrored, form);
      }
}

/* --- the work memory of one thread --- */

/* Takes the arrays of `count` columns from the arena. */
static cb_status take_columns(const cb_several *m, cb_arena *arena, int count, cb_several_columns *c) {
  const size_t columns = (size_t)count, block = count < MOTIONS ? columns : MOTIONS;
  int rows = 0;
  for (int s = 0; s < m->shapes; s++) rows = m->shape[s].n > rows ? m->shape[s].n : rows;
  c->count = count;
  cb_arena_doubles(arena, columns * m->total, &c->w, &c->phi, &c->psi, &c->phi_more, &c->psi_more);
  cb_arena_doubles(arena, block * m->total, &c->b);
  cb_arena_doubles(arena, 3 * columns * (size_t)rows, &c->flow);
  if (cb_arena_lost(arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d bodies", m->bodies);
  return cb_krylov_create((int)m->total, (int)block, RESTART, &c->krylov);
}

void cb_several_work_free(cb_several_work *e) {
  cb_krylov_free(e->one.krylov);
  cb_arena_free(e->arena);
}

static cb_status create_work(const cb_several *m, cb_several_work **out) {
  cb_several_work *e = cb_arena_object(sizeof *e, "several bodies in one fluid");
  if (!e) return CB_ERROR_MEMORY;
  const size_t n = (size_t)m->bodies, rows = (size_t)m->rows;
  e->m = m;
  e->view = cb_arena_alloc(e->arena, 2 * n * n, sizeof *e->view);
  e->inside = cb_arena_alloc(e->arena, rows, sizeof *e->inside);
  cb_arena_doubles(e->arena, m->doubles, &e->D);
  cb_arena_doubles(e->arena, MOTIONS * n * rows, &e->more);
  cb_arena_doubles(e->arena, MOTIONS * m->total, &e->in, &e->own);
  const cb_status status = take_columns(m, e->arena, 1, &e->one);
  if (status)
    cb_several_work_free(e);
  else
    *out = e;
  return status;
}

/* Takes work memory and prepares it for the poses g. */
static cb_status begin(cb_several *m, const cb_pose *g, cb_several_work **out) {
  cb_several_work *e = cb_spare_take(&m->work);
  cb_status status = e ? CB_OK : create_work(m, &e);
  if (status) return status;
  *out = e;
  status = cb_several_place(e, g);
  return status ? status : cb_several_fill(e);
}

static void end(cb_several *m, cb_several_work *e) {
  if (e && !cb_spare_leave(&m->work, e)) cb_several_work_free(e);
}

cb_status cb_several_apply(cb_several *m, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                           double (*slope)[6], cb_several_report *report) {
  cb_several_work *e = NULL;
  cb_status status = begin(m, g, &e);
  if (!status) {
    e->one.Y = Y[0];
    status = solve_columns(e, &e->one);
  }
  if (!status) {
    find_momentum(e, &e->one, 0, momentum);
    if (slope) find_slopes(e, &e->one, slope[0]);
    for (int k = 0; slope && k < MOTIONS * m->bodies; k++) slope[k / MOTIONS][k % MOTIONS] /= 2;
    if (report) *report = e->report;
  }
  end(m, e);
  return status;
}

/* Computes K from the columns of unit twists. */
static void find_tensor(const cb_several_work *e, const cb_several_columns *c, double (*momentum)[6], double *K) {
  const cb_several *m = e->m;
  const int size = MOTIONS * m->bodies;
  for (int b = 0; b < size; b++) {
    find_momentum(e, c, b, momentum);
    for (int a = 0; a < size; a++) {
      const double own =
          a / MOTIONS == b / MOTIONS ? cb_several_shape_of(m, a / MOTIONS)->K[a % MOTIONS][b % MOTIONS] : 0;
      K[a * size + b] = own + momentum[a / MOTIONS][a % MOTIONS];
    }
  }
  for (int a = 0; a < size; a++)
    for (int b = 0; b < a; b++) K[a * size + b] = K[b * size + a] = (K[a * size + b] + K[b * size + a]) / 2;
}

cb_status cb_several_tensor(cb_several *m, const cb_pose *g, double *K, double *dK) {
  const size_t size = (size_t)(MOTIONS * m->bodies);
  cb_several_columns c = {0};
  cb_several_work *e = NULL;
  cb_arena *arena = cb_arena_create();
  double *Y = cb_arena_alloc(arena, size * size, sizeof *Y);
  double(*momentum)[6] = cb_arena_alloc(arena, (size_t)m->bodies, sizeof *momentum);
  cb_status status = take_columns(m, arena, (int)size, &c);
  for (size_t a = 0; a < size && !status; a++) Y[a * size + a] = 1;
  if (!status) status = begin(m, g, &e);
  c.Y = Y;
  if (!status) status = solve_columns(e, &c);
  if (!status) {
    find_tensor(e, &c, momentum, K);
    if (dK) find_slopes(e, &c, dK);
  }
  end(m, e);
  cb_krylov_free(c.krylov);
  cb_arena_free(arena);
  return status;
}

void cb_several_own(const cb_several *m, int body, double K[6][6]) {
  memcpy(K, cb_several_shape_of(m, body)->K, sizeof m->shape->K);
}
