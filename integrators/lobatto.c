/* Lobatto IIIA-IIIB in the embedding of a quadric space: symplectic, symmetric, isometry momenta exact.
 *
 * H = sum <p,p>/2m + V(t,x) with <x,x> = 1/K in each curved factor; s stages, order 2s-2 (s = 2 is RATTLE):
 *   X_i = x0 + (h/m) sum_j a_ij P_j,      P_i = p0 + h sum_j a^_ij G_j,   G_j = F_j - Lambda_j X_j,
 *   b_i a^_ij + b_j a_ji = b_i b_j,       <X_i,X_i> = 1/K,   x1 = X_s,   p1 = p0 + h sum_i b_i G_i,   <x1,p1> = 0.
 * Eliminating P gives D_i = X_i - x0 = h c_i p0/m + (h^2/m) sum_k W_ik G_k, W = A A^, which is iterated for G
 * (lobatto_sweep.c) or solved by Newton's method (lobatto_newton.c).
 *
 * Source: Jay, Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian systems, SIAM J. Numer. Anal. 33
 * (1996) 368, doi:10.1137/0733019; Hairer, Lubich & Wanner, Geometric Numerical Integration, 2nd ed. (2006), VII.1.
 * Valid for every space made of quadrics and flat factors, in its embedding; in a fixed chart the work is done by
 * src/integrators/lobatto_chart.c.
 *
 * What sets the stop of the iteration: the last change of the positions is damped once more by about h^2 before it
 * enters p1, so a change of a few units of D's round-off leaves an error of 1e-20 or less in a step at h = 0.01; more
 * would show as a drift over 1e5 steps.
 */
#include "integrators/lobatto.h"

#include "core/arena.h"
#include "core/isa.h"
#include "core/threads.h"
#include "integrators/lobatto_chart.h"
#include "integrators/lobatto_constraints.h"
#include "integrators/lobatto_newton.h"
#include "integrators/solver.h"
#include "numerics/compensated.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct parameters {
  int stages, solver, iterations;
  double tolerance;
  bool compensated;
} parameters;

static const cb_param table[] = {
    {"stages", CB_PARAM_INT, offsetof(parameters, stages), "4", "", "[2, 5]", NULL,
     "stages; the order is 2 stages - 2"},
    CB_SOLVER_PARAM(parameters, solver),
    {"tolerance", CB_PARAM_REAL, offsetof(parameters, tolerance), "0", "", ">= 0", NULL,
     "last change of the positions relative to the largest move in the step; 0: round-off"},
    {"iterations", CB_PARAM_INT, offsetof(parameters, iterations), "250", "", "[1, 10000]", NULL,
     "most iterations a step"},
    {"compensated", CB_PARAM_BOOL, offsetof(parameters, compensated), "true", "", "", NULL,
     "carry the low-order part of the state across steps"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct method {
  cb_lobatto l;
  cb_arena *arena;
  cb_solver_choice solver;
  cb_lobatto_newton *newton;    /* NULL until the solver is needed */
  cb_lobatto_chart *chart;      /* where the space is used in a chart: does all the work */
  cb_lobatto_constraints *rods; /* NULL: none */
  double *dp, *p_low;
} method;

static cb_status create(cb_integrator *in, const void *params) {
  const parameters *p = params;
  const cb_geometry *g = cb_system_space(in->system);
  cb_arena *arena = cb_arena_create();
  method *m = arena ? cb_arena_alloc(arena, 1, sizeof *m) : NULL;
  if (!m) return cb_arena_free(arena), cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `lobatto`");
  cb_lobatto *l = &m->l;
  m->arena = arena;
  l->s = p->stages;
  if (g->chart) {
    const cb_lobatto_chart_options o = {p->stages, p->solver, p->iterations, p->tolerance, p->compensated};
    const cb_status made = cb_lobatto_chart_create(in, &o, &m->chart);
    if (made) return cb_arena_free(arena), made;
    in->self = m;
    return CB_OK;
  }
  l->n = cb_system_particles(in->system);
  l->k = g->k;
  l->threads = cb_threads_for((size_t)l->n);
  l->max_iterations = p->iterations;
  l->tolerance = p->tolerance > 0 ? p->tolerance : 16 * 2.220446049250313e-16;
  l->compensated = p->compensated;
  if (g->n_factors == 1 && g->factor[0].curvature != 0 && g->k == 4)
    l->kernel = cb_isa_get() >= CB_ISA_AVX2 ? &cb_lobatto_kernel_avx2 : &cb_lobatto_kernel_x86_64;
  l->mass = cb_system_masses(in->system);

  cb_status status = cb_lobatto_tables(l);
  if (status) return cb_arena_free(arena), status;
  const size_t count = (size_t)l->n * l->k;
  for (int i = 0; i < l->s; i++) {
    l->X[i] = cb_arena_alloc_aligned(arena, count + 8, sizeof(double), CB_CACHE_LINE);
    l->D[i] = cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE);
    l->F[i] = cb_arena_alloc_aligned(arena, count + 8, sizeof(double), CB_CACHE_LINE);
    l->G[i] = cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE);
    if (!l->X[i] || !l->D[i] || !l->F[i] || !l->G[i]) status = CB_ERROR_MEMORY;
  }
  m->dp = cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE);
  m->p_low = cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE);
  l->V =
      cb_forces_uses_velocity(in->forces) ? cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE) : NULL;
  l->residual = cb_arena_alloc(arena, (size_t)l->n * g->n_factors, sizeof(double));
  if (status || !m->dp || !m->p_low || !l->residual || (cb_forces_uses_velocity(in->forces) && !l->V))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for the stages of %d particles", l->n);
  if (!status) status = cb_lobatto_constraints_create(in, l, &m->rods);
  if (status) return cb_arena_free(arena), status;
  if (m->rods && !cb_lobatto_constraints_bordered(m->rods)) {
    if (p->solver == CB_SOLVER_NEWTON) {
      cb_lobatto_constraints_free(m->rods);
      cb_arena_free(arena);
      return cb_fail(
          CB_ERROR_UNSUPPORTED,
          "integrator `lobatto`: `solver: newton` is for few constraints; use `fixed-point`, or `radau_iia`");
    }
    cb_solver_start(&m->solver, CB_SOLVER_FIXED_POINT, l->n);
  } else {
    cb_solver_start(&m->solver, p->solver, l->n);
  }
  /* made now where it may be needed and is cheap, so that a step allocates nothing */
  if (p->solver == CB_SOLVER_NEWTON || (m->solver.asked == CB_SOLVER_AUTO && l->n <= CB_SOLVER_SMALL)) {
    status = cb_lobatto_newton_create(in, l, m->rods, &m->newton);
    if (status) return cb_lobatto_constraints_free(m->rods), cb_arena_free(arena), status;
  }
  in->self = m;
  in->solver = cb_solver_name(&m->solver);
  return CB_OK;
}

static void destroy(cb_integrator *in) {
  method *m = in->self;
  if (!m) return;
  cb_lobatto_chart_free(m->chart);
  cb_lobatto_newton_free(m->newton);
  cb_lobatto_constraints_free(m->rods);
  cb_arena_free(m->arena);
}

static void reset(cb_integrator *in) {
  method *m = in->self;
  if (m->chart) {
    cb_lobatto_chart_reset(m->chart);
    return;
  }
  m->l.has_history = m->l.has_force = false;
  if (m->rods) cb_lobatto_constraints_forget(m->rods);
  cb_solver_reset(&m->solver);
  in->solver = cb_solver_name(&m->solver);
}

/* Stage values are vectors of the embedding: an isometry acts on them by its linear part. */
static void moved(cb_integrator *in, int component, const cb_isometry *isometry) {
  if (((method *)in->self)->chart) return; /* charts have no moving origins */
  method *m = in->self;
  cb_lobatto *l = &m->l;
  if (m->rods) cb_lobatto_constraints_moved(m->rods, in, component, isometry);
  const cb_geometry *g = cb_system_space(in->system);
  const int *start = cb_system_component_starts(in->system);
  for (int a = start[component]; a < start[component + 1]; a++) {
    const size_t at = (size_t)a * l->k;
    for (int i = 0; i < l->s; i++) cb_isometry_vector(g, isometry, l->G[i] + at, l->G[i] + at);
    cb_isometry_vector(g, isometry, l->F[0] + at, l->F[0] + at);
  }
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  const method *m = in->self;
  *order = 2 * m->l.s - 2;
  *symplectic = *symmetric = !cb_forces_uses_velocity(in->forces);
}

/* Particles that a thread does one thing after another with, so that they stay in its cache. */
enum { PORTION = 256 };

typedef struct prediction {
  cb_lobatto *l;
  const cb_geometry *g;
  const double *x0, *x0_low, *p0;
  double h;
  bool extrapolates;
  double force; /* 1 or 0: how much of the force at x0 to start from */
} prediction;

/* <x0,x0> - 1/K with the low-order part of x0, from exact products. */
static void residuals(const prediction *w, int begin, int end) {
  cb_lobatto *l = w->l;
  const cb_geometry *g = w->g;
  if (l->kernel) {
    l->kernel->residuals(l, g->form, g->factor[0].curvature, begin, end, w->x0, w->x0_low);
    return;
  }
  for (int a = begin; a < end; a++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *factor = &g->factor[f];
      if (factor->curvature == 0) continue;
      const size_t at = (size_t)a * l->k + factor->offset;
      l->residual[a * g->n_factors + f] = cb_compensated_norm(factor->count, g->form + factor->offset, w->x0 + at,
                                                              w->x0_low + at, 1 / factor->curvature);
    }
}

/* G at the start for all stages: the acceleration at x0 with the normal part -K <p,p>/m x. For Newton's method
 * without the force: where that is called for, a step under the constant force may lead far away. */
static void start_from_force(const prediction *w, int a) {
  cb_lobatto *l = w->l;
  for (int f = 0; f < w->g->n_factors; f++) {
    const cb_factor *factor = &w->g->factor[f];
    const double K = factor->curvature, *form = w->g->form + factor->offset;
    const size_t at = (size_t)a * l->k + factor->offset;
    const double *x = w->x0 + at, *p = w->p0 + at, *F = l->F[0] + at;
    double normal = 0;
    for (int e = 0; K != 0 && e < factor->count; e++)
      normal += K * form[e] * (p[e] * p[e] / l->mass[a] + w->force * F[e] * x[e]);
    for (int i = 0; i < l->s; i++)
      for (int e = 0; e < factor->count; e++) l->G[i][at + e] = w->force * F[e] - normal * x[e];
  }
}

static void predict_portion(const prediction *w, int begin, int end) {
  cb_lobatto *l = w->l;
  const int s = l->s;
  if (w->extrapolates && l->kernel) {
    l->kernel->predict(l, begin, end, w->x0, w->p0, w->h);
    return;
  }
  for (int a = begin; a < end; a++) {
    if (!w->extrapolates) start_from_force(w, a);
    for (int e = 0; e < l->k; e++) {
      const size_t at = (size_t)a * l->k + e;
      double G[CB_LOBATTO_MAX];
      for (int i = 0; i < s; i++) {
        G[i] = w->extrapolates ? 0 : l->G[i][at];
        for (int j = 0; w->extrapolates && j < s; j++) G[i] += l->E[i][j] * l->G[j][at];
      }
      for (int i = 0; i < s; i++) l->G[i][at] = G[i];
      l->X[0][at] = w->x0[at];
      for (int i = 1; i < s; i++) {
        double sum = 0;
        for (int j = 0; j < s - 1; j++) sum += l->W[i][j] * G[j];
        l->D[i][at] = w->h / l->mass[a] * (l->c[i] * w->p0[at] + w->h * sum);
        l->X[i][at] = w->x0[at] + l->D[i][at];
      }
    }
  }
}

static void predict_range(void *context, int begin, int end) {
  for (int a = begin; a < end; a += PORTION) {
    const int last = end - a < PORTION ? end : a + PORTION;
    residuals(context, a, last);
    predict_portion(context, a, last);
  }
}

/* G_i, D_i and X_i to start the iteration from: G extrapolated from the last step, if it had the same length. */
static void predict(cb_lobatto *l, const cb_geometry *g, const cb_state *state, double h, bool newton) {
  prediction w = {l, g, state->x, state->x_low, state->p, h, l->has_history && l->h == h, newton ? 0 : 1};
  cb_threads_range(l->threads, l->n, predict_range, &w);
}

/* Forces at the inner stages (and at the first where they depend on the velocity, which is made stage by stage). */
static cb_status stage_forces(cb_integrator *in, cb_lobatto *l, const cb_geometry *g, double t, const double *p0,
                              double h) {
  const int inner = l->s - 2;
  double time[CB_LOBATTO_MAX];
  for (int i = 0; i < l->s; i++) time[i] = t + l->c[i] * h;
  if (!l->V)
    return inner ? cb_forces_eval_stages(in->forces, inner, time + 1, (const double *const *)(l->X + 1), NULL, l->F + 1)
                 : CB_OK;
  for (int i = 0; i <= inner; i++) {
    cb_lobatto_velocity(l, g, p0, h, i);
    const cb_status status = cb_forces_eval(in->forces, time[i], l->X[i], l->V, l->F[i]);
    if (status) return status;
  }
  return CB_OK;
}

static cb_status fixed_point(cb_integrator *in, method *m, const cb_geometry *g, double t, const double *x0,
                             const double *p0, double h) {
  const double noise = 1e-12;
  cb_lobatto *l = &m->l;
  double before = INFINITY;
  if (m->rods) {
    const cb_status status = cb_lobatto_constraints_prepare(m->rods, l, t, h);
    if (status) return status;
  }
  for (int it = 1; it <= l->max_iterations; it++) {
    cb_status status = stage_forces(in, l, g, t, p0, h);
    if (!status && m->rods) status = cb_lobatto_constraints_sweep(m->rods, l, t, h);
    if (status) return status;
    double size = 0;
    const double change = cb_lobatto_sweep(l, g, x0, p0, h, &size);
    if (!(change < INFINITY)) return cb_fail(CB_STEP_NOT_FINITE, "lobatto: a stage is not finite in iteration %d", it);
    in->iterations = it;
    in->residual = size > 0 ? change / size : 0;
    if (in->residual <= l->tolerance) return CB_OK;
    /* below what the iteration can resolve, it no longer contracts: that is the end too */
    const bool unresolved = change <= l->noise;
    if (it > 1 && ((in->residual <= noise && change > before / 4) || (unresolved && change > 0.8 * before)))
      return CB_OK;
    if (it > 3 && change > 1e3 * before && in->residual > noise && !unresolved) break;
    before = change;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "lobatto: the fixed-point iteration stands at a relative change of %.2g after %d "
                 "iterations; a smaller step or `solver: newton` may do",
                 in->residual, in->iterations);
}

typedef struct ending {
  method *m;
  const cb_geometry *g;
  cb_state *state;
  double h;
} ending;

static void end_range(void *context, int begin, int end) {
  const ending *w = context;
  cb_lobatto *l = &w->m->l;
  cb_state *state = w->state;
  for (int a = begin; a < end; a += PORTION) {
    const int last = end - a < PORTION ? end : a + PORTION;
    const size_t at = (size_t)a * l->k, count = (size_t)(last - a) * l->k;
    cb_compensated_add(count, state->x + at, state->x_low + at, l->D[l->s - 1] + at, l->compensated, 1);
    cb_lobatto_end(l, w->g, a, last, state->x, state->p, w->h, state->p_low, w->m->dp);
    cb_compensated_add(count, state->p + at, state->p_low + at, w->m->dp + at, l->compensated, 1);
  }
}

/* Takes the step into the state. */
static void end_step(method *m, const cb_geometry *g, cb_state *state, double h) {
  ending w = {m, g, state, h};
  cb_threads_range(m->l.threads, m->l.n, end_range, &w);
}

/* The same with the last multiplier from the velocities' constraint. */
static cb_status end_constrained(method *m, const cb_geometry *g, cb_state *state, double h) {
  cb_lobatto *l = &m->l;
  const size_t count = (size_t)l->n * l->k;
  const double *x1 = l->X[l->s - 1];
  memset(m->p_low, 0, count * sizeof *m->p_low);
  cb_lobatto_end(l, g, 0, l->n, x1, state->p, h, m->p_low, m->dp);
  const cb_status status = cb_lobatto_constraints_close(m->rods, l, state->t, x1, state->p, h, m->dp);
  if (status) return status;
  cb_compensated_add(count, state->x, state->x_low, l->D[l->s - 1], l->compensated, 1);
  for (size_t e = 0; e < count; e++) state->p_low[e] += m->p_low[e];
  cb_compensated_add(count, state->p, state->p_low, m->dp, l->compensated, 1);
  return CB_OK;
}

/* Some units of round-off of the coordinates: where a body is nearly at rest, more than round-off of its moves. */
static double row_noise(const cb_lobatto *l, const double *x) {
  double size = 0;
  for (int e = 0; e < l->n * l->k; e++) size = fmax(size, fabs(x[e]));
  return 16 * 2.220446049250313e-16 * size;
}

static cb_status step(cb_integrator *in, void *of, double h) {
  cb_state *state = of;
  method *m = in->self;
  if (m->chart) return cb_lobatto_chart_step(m->chart, state, h);
  cb_lobatto *l = &m->l;
  const cb_geometry *g = cb_system_space(in->system);
  const int s = l->s;
  const double t = state->t;

  if (!l->has_force && !l->V) {
    const cb_status status = cb_forces_eval(in->forces, t, state->x, NULL, l->F[0]);
    if (status) return status;
  } else if (l->V && !l->has_history) {
    for (int a = 0; a < l->n; a++)
      for (int e = 0; e < l->k; e++) l->V[(size_t)a * l->k + e] = state->p[(size_t)a * l->k + e] / l->mass[a];
    const cb_status status = cb_forces_eval(in->forces, t, state->x, l->V, l->F[0]);
    if (status) return status;
  }
  cb_status status = m->rods ? cb_lobatto_constraints_begin(m->rods, l, t, state, h) : CB_OK;
  if (status) return status;
  if (m->rods) l->noise = row_noise(l, state->x);
  do {
    predict(l, g, state, h, cb_solver_is_newton(&m->solver));
    if (cb_solver_is_newton(&m->solver)) {
      if (!m->newton && (status = cb_lobatto_newton_create(in, l, m->rods, &m->newton))) return status;
      status = cb_lobatto_newton_solve(m->newton, in, l, m->rods, t, state->x, state->p, h);
    } else {
      status = fixed_point(in, m, g, t, state->x, state->p, h);
    }
    if (status) l->has_history = false;
  } while (cb_solver_after(&m->solver, status, in->iterations));
  in->solver = cb_solver_name(&m->solver);
  if (status) return l->has_history = l->has_force = false, status;

  if (l->V) cb_lobatto_velocity(l, g, state->p, h, s - 1);
  status = cb_forces_eval(in->forces, t + h, l->X[s - 1], l->V, l->F[s - 1]);
  if (!status && m->rods) status = cb_lobatto_constraints_end(m->rods, l, t, h);
  if (status) return l->has_history = l->has_force = false, status;

  if (m->rods) {
    if ((status = end_constrained(m, g, state, h))) return l->has_history = l->has_force = false, status;
  } else {
    end_step(m, g, state, h);
  }
  cb_compensated_add(1, &state->t, &state->t_low, &h, true, 1);

  double *swap = l->F[0];
  l->F[0] = l->F[s - 1];
  l->F[s - 1] = swap;
  l->has_force = l->has_history = true;
  l->h = h;
  return CB_OK;
}

const cb_integrator_class cb_integrator_lobatto = {
    .name = "lobatto",
    .title = "Lobatto IIIA-IIIB",
    .doc =
        "Symplectic, symmetric, order 2 stages - 2; in the embedding of a quadric space, with isometry momenta "
        "exact, or in a fixed chart.",
    .configuration = &cb_configuration_particles,
    .params = table,
    .params_size = sizeof(parameters),
    .create = create,
    .destroy = destroy,
    .step = step,
    .reset = reset,
    .moved = moved,
    .properties = properties,
    .takes_constraints = true};
