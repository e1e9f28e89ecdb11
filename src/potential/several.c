/* Prepares several bodies in one fluid, solves their equations, and computes momenta and slopes (equations in
 * several.h). */
#include "potential/several_private.h"

#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "potential/operator.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MOTIONS = CB_SEVERAL_MOTIONS, RESTART = 40 };

static const double tolerance = 1e-13;

/* --- solution --- */

/* Replaces x[columns][total] by F x, or by F^T x if `transposed` is set, where F is the inverse of the own blocks of A.
 * The columns of all bodies of one shape are solved together. */
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

/* Computes x - D' F x (several.h), with D' and F transposed for the adjoint. */
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

/* Solves the equations for `columns` columns of the right-hand side c->b, from column `first` on. Stores in phi_more
 * what the other bodies add to the potentials of these columns. If `transposed` is set, it stores in psi_more what they
 * add to the adjoints. */
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

/* Subtracts the potentials S w of the sources of the other bodies from b, for one column of twists. */
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

/* Solves the equations for the twists c->Y: sets the normal velocities w, the potentials phi and their adjoints psi,
 * with the parts phi_more and psi_more that the other bodies and the wall cause. */
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

/* Computes what the other bodies and the wall add to the momenta, for column k. */
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

/* Adds to form[6 bodies][C][C], the derivatives of the quadratic form along each component of xi, what the points of
 * body i contribute in the flow of body j. If `mirrored` is set, the mirror images of the points are used. Each
 * contribution for the columns a and b is added by halves to the entries (a, b) and (b, a), so that the result is
 * symmetric. */
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

/* Allocates the arrays of `count` columns in the arena. */
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

/* Computes the added mass K[6n][6n] of n bodies. Column c holds the solution for unit twist c. */
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

/* --- shapes ---
 *
 * The shapes of several bodies in one fluid (several.h): the panels, the factors and the potentials of each shape
 * alone, and the sizes of all data.
 */

/* Sets the balls around the panels and around the shape. The ball around the shape has its centre in the middle of the
 * centres of the panels. On a sphere this middle may not exist; the centre of the first panel then replaces it. */
static void set_balls(cb_several_shape *s) {
  double sum[4] = {0};
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < 4; k++) sum[k] += s->centre[i][k] / s->n;
  const double square = sum[3] * sum[3] + s->space.sign * cb_dot3(sum, sum);
  for (int k = 0; k < 4; k++) s->middle[k] = square > 1e-6 ? sum[k] / sqrt(square) : s->centre[0][k];
  for (int i = 0; i < 3 * s->n; i++) {
    const double *y = s->corner[i / 3][i % 3];
    s->reach[i / 3] = fmax(s->reach[i / 3], cb_several_distance(&s->space, y, s->centre[i / 3]));
    s->radius = fmax(s->radius, cb_several_distance(&s->space, y, s->middle));
    s->widest = fmax(s->widest, s->reach[i / 3]);
  }
}

/* Sets the centre and the corners of panel i, and m to its normal velocities for the unit twists. `corner` are the
 * normal coordinates of its corners. */
static void set_points(cb_several_shape *s, int i, const double corner[3][3], double m[MOTIONS]) {
  for (int k = 0; k < 3; k++) {
    double *y = s->corner[i][k];
    cb_curved_point(s->space.K, corner[k], y);
    for (int l = 0; l < 3; l++) y[l] *= s->space.r;
  }
  if (s->panels) {
    const double *x = s->panels->centre[i], *n = s->panels->normal[i];
    memcpy(s->centre[i], (const double[4]){x[0], x[1], x[2], 1}, sizeof *s->centre);
    cb_cross3(x, n, m);
    memcpy(m + 3, n, 3 * sizeof *m);
  } else {
    memcpy(s->centre[i], s->curved.centre[i], sizeof *s->centre);
    memcpy(m, s->curved.flux[i], MOTIONS * sizeof *m);
  }
}

static void set_motions(cb_several_shape *s, const cb_panels *p) {
  for (int i = 0; i < s->n; i++) {
    double m[MOTIONS];
    set_points(s, i, (const double(*)[3])p->corner[i], m);
    for (size_t a = 0; a < MOTIONS; a++) {
      s->w[a * s->stride + (size_t)i] = m[a];
      s->load[a * s->stride + (size_t)i] = s->area[i] * m[a];
    }
  }
}

/* Computes A = I/2 - D and the products S w_a, where w_a are the normal velocities of unit twist a. The array S has
 * space for one row of the matrix S, padded with zeros. */
static void fill(cb_several_shape *s, const cb_panel_kernels *kernels, double *S) {
  for (int i = 0; i < s->n; i++) {
    double *A = s->A + (size_t)i * s->stride, sum[CB_PANEL_COLUMNS] = {0};
    cb_several_range(s, s->centre[i], 0, s->n, i, S, A);
    s->share += 0.5 / s->n;
    for (int k = 0; k < s->n; k++) {
      s->share += A[k] / s->n;
      A[k] = (k == i ? 0.5 : 0) - A[k];
    }
    kernels->product(S, (int)s->stride, MOTIONS, s->w, s->stride, sum);
    for (size_t a = 0; a < MOTIONS; a++) s->source[a * s->stride + (size_t)i] = sum[a];
  }
}

static void solve_unit_twists(cb_several_shape *s, double *b, bool transposed) {
  const size_t n = (size_t)s->n;
  double *to = transposed ? s->psi : s->phi;
  for (size_t a = 0; a < MOTIONS; a++)
    for (size_t i = 0; i < n; i++)
      b[a * n + i] = transposed ? s->load[a * s->stride + i] : -s->source[a * s->stride + i];
  (transposed ? cb_potential_back_transposed : cb_potential_back)(s->n, s->stride, s->A, s->pivots, MOTIONS, b);
  for (size_t a = 0; a < MOTIONS; a++) memcpy(to + a * s->stride, b + a * n, n * sizeof *b);
}

/* Creates the panels of the shape s as copies of the panels p. In a curved space the corners of p are in normal
 * coordinates. */
static cb_status take_panels(cb_arena *arena, const cb_panels *p, cb_several_shape *s) {
  int(*face)[3] = cb_arena_alloc(arena, (size_t)p->n, sizeof *face);
  if (!face) return cb_fail(CB_ERROR_MEMORY, "no memory for %d panels", p->n);
  for (int i = 0; i < 3 * p->n; i++) face[i / 3][i % 3] = i;
  const double(*x)[3] = (const double(*)[3])p->corner[0];
  const int(*corner)[3] = (const int(*)[3])face;
  s->n = p->n;
  if (s->space.K == 0) {
    const cb_status status = cb_panels_create(p->n, x, corner, &s->panels);
    if (!status) s->area = s->panels->area;
    return status;
  }
  cb_status status = cb_curved_panels_take(&s->curved, arena, p->n, s->space.K);
  s->area = s->curved.area;
  if (!status) status = cb_curved_panels_place(&s->curved, x, corner);
  /* with the rule of degree 5 the jumps of the energy (several.h) are a thousand times smaller */
  s->curved.few = false;
  return status;
}

static cb_status take_arrays(cb_arena *arena, cb_several_shape *s, double **some) {
  const size_t n = (size_t)s->n;
  s->stride = (n + CB_PANEL_PAD - 1) / CB_PANEL_PAD * CB_PANEL_PAD;
  s->pivots = cb_arena_alloc(arena, n, sizeof *s->pivots);
  s->centre = cb_arena_alloc(arena, n, sizeof *s->centre);
  s->corner = cb_arena_alloc(arena, n, sizeof *s->corner);
  cb_arena_doubles(arena, n * s->stride, &s->A);
  cb_arena_doubles(arena, n, &s->reach);
  cb_arena_doubles(arena, MOTIONS * s->stride, &s->w, &s->load, &s->phi, &s->psi, &s->source, some);
  return cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the factors of %d panels", s->n) : CB_OK;
}

/* Computes the data of a shape from its panels p. */
static cb_status fill_shape(cb_arena *arena, const cb_panel_kernels *kernels, const cb_panels *p, cb_several_shape *s) {
  double *some = NULL;
  cb_status status = take_panels(arena, p, s);
  if (!status) status = take_arrays(arena, s, &some);
  if (status) return status;
  set_motions(s, p);
  set_balls(s);
  fill(s, kernels, some);
  status = cb_potential_factor(s->n, s->stride, s->A, s->pivots);
  if (status) return status;
  solve_unit_twists(s, some, false);
  solve_unit_twists(s, some, true);
  return CB_OK;
}

/* Computes the added mass of the body alone, and the data of its panels. */
static cb_status create_shape(cb_several *m, const cb_several_body *body, cb_several_shape *s) {
  const cb_kirchhoff_options options = {.method = CB_POTENTIAL_DENSE, .memory = SIZE_MAX, .curvature = m->space.K};
  cb_kirchhoff *k = NULL;
  cb_kirchhoff_mass mass;
  s->body = body;
  s->space = m->space;
  cb_status status = cb_kirchhoff_create(body->vertices, body->x, body->faces, body->face, &options, &k);
  if (!status) status = cb_kirchhoff_added_mass(k, NULL, &mass);
  if (!status) {
    memcpy(s->K, mass.K, sizeof s->K);
    status = fill_shape(m->arena, m->kernels, cb_kirchhoff_panels(k), s);
  }
  cb_kirchhoff_free(k);
  return status;
}

/* --- create and free --- */

static bool same_shape(const cb_several_body *a, const cb_several_body *b) {
  return a->x == b->x && a->face == b->face && a->vertices == b->vertices && a->faces == b->faces;
}

/* Creates the shapes, and sets the shape of each body. */
static cb_status create_shapes(cb_several *m, const cb_several_body *body) {
  cb_status status = CB_OK;
  for (int i = 0; i < m->bodies && !status; i++) {
    int s = 0;
    while (s < m->shapes && !same_shape(m->shape[s].body, body + i)) s++;
    m->of[i] = s;
    if (s < m->shapes) continue;
    m->shapes++;
    status = create_shape(m, body + i, m->shape + s);
    if (status && status != CB_ERROR_MEMORY)
      status = cb_fail(status, "body %s: %s", cb_several_name(m, i).text, cb_error_text());
  }
  return status;
}

/* Checks that the factors and the blocks between bodies fit into the memory. The check uses the number of faces, which
 * is at least the number of panels. */
static cb_status check_memory(const cb_several_body *body, int bodies, const cb_kirchhoff_options *options) {
  const double memory = options->memory ? (double)options->memory : 4e9;
  double own = 0, all = 0, faces = 0;
  for (int i = 0; i < bodies; i++) {
    const double n = body[i].faces, square = 8 * n * n;
    bool again = false;
    for (int j = 0; j < i && !again; j++) again = same_shape(body + j, body + i);
    if (!again) own += square;
    if (options->wall.kind == CB_MIRROR_NONE) all -= square;
    faces += n;
  }
  const double bytes = own + all + 8 * faces * faces;
  if (bytes <= memory) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT,
                 "the matrices of %d bodies with %g faces in one fluid take %.3g GB, more than `memory` = %.3g GB: "
                 "expected fewer faces or more `memory`",
                 bodies, faces, 1e-9 * bytes, 1e-9 * memory);
}

static void set_sizes(cb_several *m) {
  for (int i = 0; i < m->bodies; i++) {
    const cb_several_shape *s = cb_several_shape_of(m, i);
    m->row[i + 1] = m->row[i] + s->n;
    m->at[i + 1] = m->at[i] + s->stride;
  }
  m->rows = m->row[m->bodies];
  m->total = m->at[m->bodies];
  for (int i = 0; i < m->bodies; i++) {
    const cb_several_shape *s = cb_several_shape_of(m, i);
    m->block[i] = m->doubles;
    m->doubles += (size_t)s->n * (m->total - (m->wall.kind == CB_MIRROR_NONE ? s->stride : 0));
  }
}

static cb_status fill_object(cb_several *m, const cb_several_body *body) {
  const size_t n = (size_t)m->bodies;
  m->shape = cb_arena_alloc(m->arena, n, sizeof *m->shape);
  m->of = cb_arena_alloc(m->arena, n, sizeof *m->of);
  m->row = cb_arena_alloc(m->arena, n + 1, sizeof *m->row);
  m->at = cb_arena_alloc(m->arena, n + 1, sizeof *m->at);
  m->block = cb_arena_alloc(m->arena, n, sizeof *m->block);
  m->body = cb_arena_alloc(m->arena, n, sizeof *m->body);
  if (cb_arena_lost(m->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", m->bodies);
  memcpy(m->body, body, n * sizeof *body);
  const cb_status status = create_shapes(m, m->body);
  if (!status) set_sizes(m);
  return status;
}

cb_status cb_several_create(int bodies, const cb_several_body *body, const cb_kirchhoff_options *options,
                            cb_several **out) {
  const cb_kirchhoff_options used = options ? *options : (cb_kirchhoff_options){0};
  cb_mirror wall = used.wall;
  cb_status status = CB_OK;
  if (used.sheets)
    status = cb_fail(CB_ERROR_UNSUPPORTED,
                     "sheets are not supported with several bodies in one fluid: expected closed "
                     "parts");
  else if (used.curvature != 0 && wall.kind != CB_MIRROR_NONE)
    status = cb_fail(CB_ERROR_UNSUPPORTED, "a wall in a curved space is not supported: expected no `wall`");
  else if (wall.kind != CB_MIRROR_NONE)
    status = cb_mirror_check(&wall);
  if (!status) status = check_memory(body, bodies, &used);
  if (status) return status;
  cb_several *m = cb_arena_object(sizeof *m, "several bodies in one fluid");
  if (!m) return CB_ERROR_MEMORY;
  m->bodies = bodies;
  m->wall = wall;
  m->space = (cb_several_space){used.curvature, (used.curvature > 0) - (used.curvature < 0),
                                used.curvature == 0 ? 1 : sqrt(fabs(used.curvature))};
  m->kernels = cb_panel_kernels_of_isa();
  m->iterations = used.iterations > 0 ? used.iterations : 200;
  status = fill_object(m, body);
  if (status) {
    cb_several_free(m);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_several_free(cb_several *m) {
  if (!m) return;
  for (cb_several_work *e; (e = cb_spare_take(&m->work));) cb_several_work_free(e);
  for (int s = 0; s < m->shapes; s++) cb_panels_free(m->shape[s].panels);
  cb_arena_free(m->arena);
}
