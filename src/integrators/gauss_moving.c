/* Gauss collocation in conformal charts that follow each particle (gauss.h), on quadrics and flat factors.
 *
 * In the chart H = (1+s)^2 |pi|^2/(2m) + V, s = K|xi|^2/4, and Gauss collocation reads
 *   u_j = (1+s_j)^2 pi_j/m,   g_j = -dV_j - (K/2)(1+s_j)|pi_j|^2/m xi_j,
 *   xi_i = xi_0 + h sum_j a_ij u_j,   pi_i = pi_0 + h sum_j a_ij g_j,   xi_1, pi_1 likewise with b_j.
 * xi, pi: coordinates and momentum of a particle of mass m in the chart; V: potential; -dV_j: force in the chart at
 * stage j; a_ij, b_j: coefficients of gauss.c. The chart depends on the points that the step joins, so the momenta of
 * the state are not those at the ends of the chart's step. They follow from the derivatives of the discrete action
 * S(x0, x1), which include those of the chart. With M(xi) of gauss.h,
 *   chart at x0 (xi_0 = 0):        M(xi_1) pi_1 = P0 + W,   P1 = (1+s_1) pi_1,   W = h sum_i b_i M(xi_i)(-dV_i)
 *   chart at the midpoint of x0 and x1 (xi_1 = -xi_0 = eta = (h/2) sum_j b_j u_j):
 *     (pi_0+pi_1)/2 = P0/(1+s) + M(eta)^-1 W/2,   P1 = P0 + (1+s) M(eta)^-1 W
 * where P0 and P1 are components in a frame at x0 and in the same frame transported to x1. Both forms are variational:
 * symplectic and of order 2s, and they keep every isometry momentum exactly; the second is also symmetric. Without this
 * correction (pi_0, pi_1 taken as the momenta of the state) the order is 2s, but the integrator is not symplectic and
 * does not keep momenta. Source: Marsden & West, Discrete mechanics and variational integrators, Acta Numerica 10
 * (2001) 357, sections 1.3 and 2.3, doi:10.1017/S096249290100006X. Valid for steps that stay in the chart: |s| < 0.9 at
 * every stage.
 */
#include "integrators/gauss.h"

#include "core/threads.h"
#include "numerics/dd.h"

#include <limits.h>
#include <string.h>

static cb_status create(cb_gauss *m) {
  cb_arena *arena = m->arena;
  cb_gauss_moving *w = m->self = cb_arena_alloc(arena, 1, sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `gauss`");
  w->n_factors = m->g->n_factors;
  int at_d = 0;
  for (int f = 0; f < w->n_factors; f++) {
    const cb_factor *from = &m->g->factor[f];
    cb_moving_factor *to = &w->factor[f];
    *to = (cb_moving_factor){.K = from->curvature,
                             .d = from->count - (from->curvature != 0),
                             .k = from->count,
                             .at_d = at_d,
                             .at_k = from->offset,
                             .at_frame = w->frame};
    at_d += to->d;
    w->frame += to->d * to->k;
  }
  const size_t n = (size_t)m->n, count = w->count = n * (size_t)m->dim, points = w->points = n * (size_t)m->k,
               s = (size_t)m->s;
  cb_arena_doubles(arena, s * count, &w->xi, &w->u, &w->f);
  cb_arena_doubles(arena, s * points, &w->x, &w->F);
  if (m->damped) cb_arena_doubles(arena, s * points, &w->v);
  cb_arena_doubles(arena, s * n * (size_t)w->n_factors, &w->f0);
  cb_arena_doubles(arena, n * (size_t)w->frame, &w->E);
  cb_arena_doubles(arena, count, &w->P0, &w->e, &w->dP);
  cb_arena_doubles(arena, points, &w->dx, &w->dp);
  if (cb_arena_lost(arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for the stages of %d particles", m->n);
  for (int i = 0; i < m->s; i++) {
    w->x_at[i] = w->x + (size_t)i * points;
    w->F_at[i] = w->F + (size_t)i * points;
    w->v_at[i] = m->damped ? w->v + (size_t)i * points : NULL;
    const double half = m->symmetric ? 0.5 : 1;
    w->beta[i] = half * m->tableau.b[i];
    w->beta_low[i] = half * m->tableau.b_low[i];
    for (int j = 0; j < m->s; j++) {
      const double a = m->tableau.a[i][j], b = m->tableau.b[j];
      w->aq[i][j] = m->symmetric ? a - b / 2 : a;
      w->ap[i][j] = !m->balance ? a : m->symmetric ? a - b / 2 : a - b;
    }
  }
  return cb_predictor_create(m->s, m->tableau.c, m->s <= 3 ? 2 : 1, points, &w->predictor);
}

static void destroy(cb_gauss *m) {
  const cb_gauss_moving *w = m->self;
  if (w) cb_predictor_free(w->predictor);
}

static void reset(cb_gauss *m) { cb_predictor_reset(((cb_gauss_moving *)m->self)->predictor); }

/* Forces are vectors of the embedding, so that an isometry acts on them by its linear part. */
static void moved(cb_gauss *m, int component, const cb_isometry *isometry) {
  const cb_gauss_moving *w = m->self;
  const int *start = cb_system_component_starts(m->integrator->system);
  for (int age = 0; age < 2; age++) {
    double *past = cb_predictor_past(w->predictor, age);
    for (int i = 0; past && i < m->s; i++)
      for (int a = start[component]; a < start[component + 1]; a++) {
        double *F = past + (size_t)i * w->points + (size_t)(a * m->k);
        cb_isometry_vector(m->g, isometry, F, F);
      }
  }
}

cb_status cb_gauss_moving_too_far(cb_gauss *m, int particle) {
  m->integrator->failed_particle = particle;
  return cb_fail(CB_STEP_DOMAIN, "gauss: a step of %g moves a particle out of its chart: use a smaller `step`", m->h);
}

/* One particle in one factor: the positions of its numbers in the arrays of charts and of the embedding, its frame and
 * its start. */
typedef struct unit {
  const cb_moving_factor *f;
  int particle, factor;
  size_t d, k;
  double *E;
  const double *x0;
} unit;

typedef void unit_work(const cb_gauss *m, const cb_gauss_moving *w, const unit *u);

typedef struct all_work {
  const cb_gauss *m;
  unit_work *work;
} all_work;

static void work_range(void *context, int begin, int end) {
  const all_work *all = context;
  const cb_gauss *m = all->m;
  const cb_gauss_moving *w = m->self;
  for (int a = begin; a < end; a++)
    for (int j = 0; j < w->n_factors; j++) {
      const cb_moving_factor *f = &w->factor[j];
      const size_t d = (size_t)(a * m->dim + f->at_d), k = (size_t)(a * m->k + f->at_k);
      const unit u = {f, a, j, d, k, w->E + (size_t)a * (size_t)w->frame + f->at_frame, m->start->x + k};
      all->work(m, w, &u);
    }
}

static void for_units(const cb_gauss *m, unit_work *work) {
  all_work all = {m, work};
  cb_threads_range(m->threads, m->n, work_range, &all);
}

static void stage_points(const cb_gauss *m, const cb_gauss_moving *w, const unit *u) {
  const cb_moving_factor *f = u->f;
  const cb_moving_centre c = cb_gauss_moving_centre(m, f, w->e + u->d);
  for (int i = 0; i < m->s; i++) {
    const double *xi = w->xi + (size_t)i * w->count + u->d;
    double *x = w->x + (size_t)i * w->points + u->k;
    if (f->d == 3 && f->k == 4)
      cb_moving_point(3, 4, f->K, u->x0, u->E, &c, xi, x);
    else
      cb_moving_point(f->d, f->k, f->K, u->x0, u->E, &c, xi, x);
  }
}

/* Computes v = (dx/dxi) u at the stages, for forces that use the velocity. */
static void stage_velocities(const cb_gauss *m, const cb_gauss_moving *w, const unit *u) {
  const cb_moving_factor *f = u->f;
  const cb_moving_centre c = cb_gauss_moving_centre(m, f, w->e + u->d);
  for (int i = 0; i < m->s; i++)
    for (int b = 0; b < f->k; b++) {
      const size_t in_stage = (size_t)i * w->count + u->d;
      double column[CB_DIM_MAX], gradient[CB_DIM_MAX];
      for (int l = 0; l < f->d; l++) column[l] = u->E[l * f->k + b];
      cb_moving_pull(f->d, f->K, u->x0[b], column, &c, w->xi + in_stage, gradient);
      w->v[(size_t)i * w->points + u->k + (size_t)b] = cb_dot(f->d, gradient, w->u + in_stage);
    }
}

static void force_components(const cb_gauss *m, const cb_gauss_moving *w, const unit *u) {
  const cb_moving_factor *f = u->f;
  for (int i = 0; i < m->s; i++) {
    double *to = w->f + (size_t)i * w->count + u->d;
    double *f0 = w->f0 + (size_t)((i * m->n + u->particle) * w->n_factors + u->factor);
    const double *F = w->F + (size_t)i * w->points + u->k;
    *f0 = f->d == 3 && f->k == 4 ? cb_moving_components(3, 4, f->K, u->x0, u->E, F, to)
                                 : cb_moving_components(f->d, f->k, f->K, u->x0, u->E, F, to);
  }
}

cb_status cb_gauss_moving_forces(cb_gauss *m) {
  cb_gauss_moving *w = m->self;
  for_units(m, stage_points);
  if (m->damped) for_units(m, stage_velocities);
  for (int i = 0; i < m->s; i++) w->time[i] = m->start->t + m->tableau.c[i] * m->h;
  const cb_status status =
      cb_forces_eval_stages(m->forces, m->s, w->time, w->x_at, m->damped ? w->v_at : NULL, w->F_at);
  if (status) return cb_gauss_stage_status(status);
  for_units(m, force_components);
  return CB_OK;
}

/* The result of a pass over some particles. */
typedef struct pass_result {
  double change, size, reach; /* change: largest change of xi and of the chart centre e; size: largest displacement;
                               * reach: largest |s| */
  double total;               /* the sum of all changes, which is nan if one of them is */
  int far;                    /* the first particle with |s| beyond the chart; INT_MAX: none */
} pass_result;

/* Makes one pass over one unit: computes new u, xi, e and dP from the components of the forces. */
CB_INLINE void pass_unit(const cb_gauss *m, const cb_gauss_moving *w, int a, int factor, const int d, pass_result *r) {
  const cb_moving_factor *f = &w->factor[factor];
  const size_t at = (size_t)(a * m->dim + f->at_d);
  const int s = m->s;
  if (s < 1) return; /* this never happens; without this line gcc 12 for aarch64 warns that u is not set */
  const double K = f->K, h = m->h, mass = m->mass[a], per_mass = 1 / mass, *P0 = w->P0 + at;
  double *e = w->e + at;
  const cb_moving_centre c = cb_gauss_moving_centre(m, f, e);
  double g[CB_STAGES_MAX][CB_DIM_MAX], u[CB_STAGES_MAX][CB_DIM_MAX], grow[CB_STAGES_MAX];
  double W[CB_DIM_MAX] = {0}, G[CB_DIM_MAX] = {0}, anchor[CB_DIM_MAX];
  r->reach = cb_larger(r->reach, fabs(K) * cb_dot(d, e, e) / 4);
  for (int i = 0; i < s; i++) {
    const double *xi = w->xi + (size_t)i * w->count + at, *old = w->u + (size_t)i * w->count + at;
    double pulled[CB_DIM_MAX], carried[CB_DIM_MAX];
    cb_moving_pull(d, K, w->f0[(size_t)((i * m->n + a) * w->n_factors + factor)], w->f + (size_t)i * w->count + at, &c,
                   xi, pulled);
    const double si = K * cb_dot(d, xi, xi) / 4, D = 1 / (1 + si),
                 kinetic = K / 2 * mass * cb_dot(d, old, old) * D * D * D;
    r->reach = cb_larger(r->reach, fabs(si));
    grow[i] = (1 + si) * (1 + si) * per_mass;
    cb_moving_carry(d, K, xi, pulled, carried);
    const double b = h * m->tableau.b[i], low = h * m->tableau.b_low[i];
    for (int j = 0; j < d; j++) {
      g[i][j] = pulled[j] - kinetic * xi[j];
      W[j] += b * carried[j] + low * carried[j];
      G[j] += b * g[i][j] + low * g[i][j];
    }
  }
  cb_gauss_moving_anchor(d, K, m->symmetric, m->balance, e, P0, W, G, anchor, w->dP + at);
  for (int i = 0; i < s; i++)
    for (int j = 0; j < d; j++) {
      double sum = 0;
      for (int l = 0; l < s; l++) sum += w->ap[i][l] * g[l][j];
      w->u[(size_t)i * w->count + at + (size_t)j] = u[i][j] = grow[i] * (anchor[j] + h * sum);
    }
  for (int i = 0; i <= s; i++) {
    double *to = i < s ? w->xi + (size_t)i * w->count + at : e;
    const double *weight = i < s ? w->aq[i] : w->beta;
    for (int j = 0; j < d; j++) {
      double sum = 0;
      for (int l = 0; l < s; l++) sum += weight[l] * u[l][j];
      if (i == s)
        for (int l = 0; l < s; l++) sum += w->beta_low[l] * u[l][j];
      sum *= h;
      const double by = fabs(sum - to[j]);
      r->total += by;
      r->change = cb_larger(r->change, by);
      r->size = cb_larger(r->size, fabs(sum));
      to[j] = sum;
    }
  }
}

static void pass_particle(const cb_gauss *m, const cb_gauss_moving *w, int a, pass_result *r) {
  r->reach = 0;
  for (int j = 0; j < w->n_factors; j++) {
    if (w->factor[j].d == 3)
      pass_unit(m, w, a, j, 3, r);
    else if (w->factor[j].d == 2)
      pass_unit(m, w, a, j, 2, r);
    else
      pass_unit(m, w, a, j, 1, r);
  }
  if (r->reach > CB_GAUSS_MOVING_REACH && a < r->far) r->far = a;
}

/* The data of several passes over all particles. The forces are not evaluated again between these passes. */
typedef struct pass_work {
  const cb_gauss *m;
  int passes;
  pass_result all;
} pass_work;

static const pass_result no_result = {.far = INT_MAX};

static void pass_range(void *context, int begin, int end) {
  pass_work *work = context;
  pass_result r = no_result;
  for (int a = begin; a < end; a++)
    for (int i = 0; i < work->passes; i++) pass_particle(work->m, work->m->self, a, &r);
  if (work->m->threads <= 1) {
    work->all = r;
    return;
  }
#pragma omp critical(cb_gauss_pass)
  {
    work->all.change = cb_larger(work->all.change, r.change);
    work->all.size = cb_larger(work->all.size, r.size);
    work->all.total += r.total - r.total; /* 0 or nan, independent of the order of the threads */
    if (r.far < work->all.far) work->all.far = r.far;
  }
}

static cb_status passes(cb_gauss *m, int count, cb_stage_change *c) {
  const cb_gauss_moving *w = m->self;
  pass_work work = {m, count, no_result};
  cb_threads_range(m->threads, m->n, pass_range, &work);
  if (work.all.far < INT_MAX) return cb_gauss_moving_too_far(m, work.all.far);
  c->change = work.all.total < INFINITY ? work.all.change : NAN;
  c->size = work.all.size;
  c->position = w->position;
  return CB_OK;
}

/* Sets the frames, the momenta in them, and the stages that the particle would have without forces. */
static void start_stages(const cb_gauss *m, const cb_gauss_moving *w, const unit *u) {
  const cb_moving_factor *f = u->f;
  cb_moving_frame(f->d, f->k, f->K, u->x0, u->E);
  cb_moving_components(f->d, f->k, f->K, u->x0, u->E, m->start->p + u->k, w->P0 + u->d);
  for (size_t l = u->d; l < u->d + (size_t)f->d; l++) {
    const double rate = w->P0[l] / m->mass[u->particle];
    w->e[l] = (m->symmetric ? 0.5 : 1) * m->h * rate;
    for (int i = 0; i < m->s; i++) {
      w->u[(size_t)i * w->count + l] = rate;
      w->xi[(size_t)i * w->count + l] = (m->tableau.c[i] - (m->symmetric ? 0.5 : 0)) * m->h * rate;
    }
  }
}

static cb_status predict(cb_gauss *m) {
  cb_gauss_moving *w = m->self;
  enum {
    PASSES = 2
  }; /* number of passes with the kinetic terms and extrapolated forces; each reduces the error by a factor O(h^2) */
  for_units(m, start_stages);
  w->position = 0;
  for (size_t j = 0; j < w->points; j++) w->position = cb_larger(w->position, fabs(m->start->x[j]));
  if (!cb_predictor_next(w->predictor, m->h, w->F)) return CB_OK;
  for_units(m, force_components);
  cb_stage_change c = {0};
  return passes(m, PASSES, &c);
}

static cb_status sweep(cb_gauss *m, cb_stage_change *c) {
  const cb_status status = cb_gauss_moving_forces(m);
  return status ? status : passes(m, 1, c);
}

/* Returns <x, p> in twice the precision, with the low-order parts of x and p. */
static double accurate_inner(int k, double K, const double *x, const double *x_low, const double *p,
                             const double *p_low) {
  double sum = 0, rest = 0;
  for (int a = 0; a < k; a++) {
    const double sign = K < 0 && a == k - 1 ? -1 : 1, product = sign * x[a] * p[a],
                 error = fma(sign * x[a], p[a], -product);
    const double next = sum + product, back = next - sum;
    rest += (sum - (next - back)) + (product - back) + error + sign * (x[a] * p_low[a] + x_low[a] * p[a]);
    sum = next;
  }
  return sum + rest;
}

/* Subtracts from the increments dx and dp the normal errors of x and p: x is off the quadric, and p off its tangent
 * space, by round-off. Otherwise these errors would remain while the tangent space rotates, and in H^n they would grow
 * like exp(distance). */
static void take_normal_parts(int k, double K, const double *form, const cb_state *state, size_t at, double *dx,
                              double *dp) {
  const double *x = state->x + at, *x_low = state->x_low + at, *p = state->p + at, *p_low = state->p_low + at;
  const double off = K / 2 * cb_compensated_norm(k, form, x, x_low, 1 / K),
               along = K * accurate_inner(k, K, x, x_low, p, p_low);
  for (int a = 0; a < k; a++) {
    dx[a] -= off * x[a];
    dp[a] -= along * x[a];
  }
}

static void increments(const cb_gauss *m, const cb_gauss_moving *w, const unit *u) {
  const cb_moving_factor *f = u->f;
  const double *e = w->e + u->d, s = f->K * cb_dot(f->d, e, e) / 4;
  double theta[CB_DIM_MAX], *dx = w->dx + u->k, *dp = w->dp + u->k;
  for (int l = 0; l < f->d; l++) theta[l] = m->symmetric ? 2 * e[l] / (1 - s) : e[l];
  cb_moving_end(f->d, f->k, f->K, u->x0, u->E, theta, w->P0 + u->d, w->dP + u->d, dx, dp);
  if (f->K != 0) take_normal_parts(f->k, f->K, m->g->form + f->at_k, m->start, u->k, dx, dp);
}

static cb_status finish(cb_gauss *m, cb_state *state) {
  const cb_gauss_moving *w = m->self;
  for_units(m, increments);
  cb_compensated_add(w->points, state->x, state->x_low, w->dx, m->compensated, m->threads);
  cb_compensated_add(w->points, state->p, state->p_low, w->dp, m->compensated, m->threads);
  cb_predictor_push(w->predictor, m->h, w->F);
  return CB_OK;
}

const cb_gauss_form cb_gauss_moving_form = {create,
                                            destroy,
                                            predict,
                                            sweep,
                                            cb_gauss_moving_prepare_newton,
                                            cb_gauss_moving_residual,
                                            cb_gauss_moving_matrix,
                                            cb_gauss_moving_correct,
                                            finish,
                                            reset,
                                            moved};
