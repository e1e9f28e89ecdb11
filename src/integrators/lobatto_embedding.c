/* Lobatto IIIA-IIIB in the embedding of a space made of quadrics and flat factors. The integrator is symplectic and
 * symmetric, and keeps isometry momenta exactly.
 *
 * H = sum <p,p>/2m + V(t,x) with <x,x> = 1/K in each curved factor; s stages, order 2s-2 (s = 2 is RATTLE):
 *   X_i = x0 + (h/m) sum_j a_ij P_j,      P_i = p0 + h sum_j a^_ij G_j,   G_j = F_j - Lambda_j X_j,
 *   b_i a^_ij + b_j a_ji = b_i b_j,       <X_i,X_i> = 1/K,   x1 = X_s,   p1 = p0 + h sum_i b_i G_i,   <x1,p1> = 0.
 * with the forces F_j, the multipliers Lambda_j of the space, and the coefficients a, c of IIIA, a^ of IIIB and b.
 * Elimination of P gives D_i = X_i - x0 = h c_i p0/m + (h^2/m) sum_k W_ik G_k, W = A A^. This equation is solved by
 * fixed-point iteration (lobatto_sweep.c) or by Newton's method (lobatto_newton.c).
 *
 * Source: Jay, Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian systems, SIAM J. Numer. Anal. 33
 * (1996) 368, doi:10.1137/0733019; Hairer, Lubich & Wanner, Geometric Numerical Integration, 2nd ed. (2006), VII.1.
 * Valid for every space made of quadrics and flat factors, in its embedding.
 *
 * The last change of the positions decides when the iteration stops. It is reduced once more by a factor of about h^2
 * before it enters p1, so that a change of a few units of round-off of D leaves an error of at most 1e-20 in a step
 * with h = 0.01. A larger error would be visible as a drift over 1e5 steps.
 */
#include "integrators/lobatto.h"

#include "core/threads.h"
#include "integrators/iteration.h"
#include "integrators/lobatto_constraints.h"
#include "numerics/dd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- memory --- */

static void destroy(void *form) {
  cb_lobatto *l = form;
  cb_lobatto_newton_free(l->newton);
  cb_lobatto_constraints_free(l->rods);
  cb_arena_free(l->arena);
}

static cb_status allocate(cb_lobatto *l) {
  const size_t count = (size_t)l->n * l->k;
  for (int i = 0; i < l->s; i++) /* 8 more numbers, because the sweeps read beyond the end of X and F */
    cb_arena_doubles(l->arena, count + 8, &l->X[i], &l->D[i], &l->F[i], &l->G[i]);
  cb_arena_doubles(l->arena, count, &l->dp, &l->p_low);
  if (cb_forces_uses_velocity(l->in->forces)) cb_arena_doubles(l->arena, count, &l->V);
  cb_arena_doubles(l->arena, (size_t)l->n * l->g->n_factors, &l->residual);
  return cb_arena_lost(l->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the stages of %d particles", l->n) : CB_OK;
}

static cb_status prepare(cb_lobatto *l, int solver) {
  cb_status status = cb_lobatto_tables(l);
  if (!status) status = allocate(l);
  if (!status) status = cb_lobatto_constraints_create(l->in, l, &l->rods);
  if (status) return status;
  const bool by_blocks = l->rods && !cb_lobatto_constraints_bordered(l->rods);
  if (by_blocks && solver == CB_SOLVER_NEWTON)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "integrator `lobatto`: `solver: newton` works only with few constraints; use `fixed-point`, or `radau_iia`");
  cb_solver_start(&l->solver, by_blocks ? CB_SOLVER_FIXED_POINT : solver, l->n);
  return cb_solver_may_be_newton(&l->solver) ? cb_lobatto_newton_create(l) : CB_OK;
}

static const cb_lobatto_kernel *kernel(void) {
#if defined(__x86_64__)
  if (cb_isa_get() >= CB_ISA_AVX2) return &cb_lobatto_kernel_avx2;
#endif
  return &cb_lobatto_kernel_x86_64;
}

static void take_kernel(cb_lobatto *l, const cb_space *g) {
  l->kernel = kernel();
  l->n_factors = g->n_factors;
  while (g->factor[l->curved].curvature == 0) l->curved++;
  const cb_factor factor = g->factor[l->curved];
  l->K = factor.curvature;
  for (int a = factor.offset; a < factor.offset + factor.count; a++) {
    l->form[a] = g->form[a];
    l->on[a] = 1;
  }
}

static cb_status create(cb_integrator *in, const cb_lobatto_options *o, void **out) {
  const cb_space *g = cb_system_space(in->system);
  cb_lobatto *l = cb_arena_object(sizeof *l, "the integrator `lobatto`");
  if (!l) return CB_ERROR_MEMORY;
  *l = (cb_lobatto){.arena = l->arena,
                    .in = in,
                    .g = g,
                    .s = o->stages,
                    .n = cb_system_particles(in->system),
                    .k = g->k,
                    .mass = cb_system_masses(in->system),
                    .max_iterations = o->iterations,
                    .tolerance = o->tolerance > 0 ? o->tolerance : 16 * DBL_EPSILON,
                    .compensated = o->compensated};
  l->threads = cb_threads_for((size_t)l->n);
  if (g->k == 4) take_kernel(l, g);
  const cb_status status = prepare(l, o->solver);
  if (status) {
    destroy(l);
    return status;
  }
  in->solver = cb_solver_name(&l->solver);
  *out = l;
  return CB_OK;
}

static void reset(void *form) {
  cb_lobatto *l = form;
  l->has_history = l->has_force = false;
  if (l->rods) cb_lobatto_constraints_forget(l->rods);
  cb_solver_reset(&l->solver);
  l->in->solver = cb_solver_name(&l->solver);
}

/* Stage values are vectors of the embedding, so that an isometry acts on them by its linear part. */
static void moved(void *form, int component, const cb_isometry *isometry) {
  cb_lobatto *l = form;
  if (l->rods) cb_lobatto_constraints_moved(l->rods, l->in, component, isometry);
  const int *start = cb_system_component_starts(l->in->system);
  for (int a = start[component]; a < start[component + 1]; a++) {
    const size_t at = (size_t)a * l->k;
    for (int i = 0; i < l->s; i++) cb_isometry_vector(l->g, isometry, l->G[i] + at, l->G[i] + at);
    cb_isometry_vector(l->g, isometry, l->F[0] + at, l->F[0] + at);
  }
}

/* --- stages --- */

/* A thread does all its work on this number of particles before it continues with the next, so that they stay in its
 * cache. */
enum { PORTION = 256 };

/* Computes l->residual, <x0,x0> - 1/K with the low-order part of x0, from exact products. */
static void residuals(cb_lobatto *l, int begin, int end) {
  const cb_space *g = l->g;
  if (l->kernel) {
    l->kernel->residuals(l, begin, end, l->start->x, l->start->x_low);
    return;
  }
  for (int a = begin; a < end; a++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *factor = &g->factor[f];
      if (factor->curvature == 0) continue;
      const size_t at = (size_t)a * l->k + factor->offset;
      l->residual[a * g->n_factors + f] = cb_compensated_norm(factor->count, g->form + factor->offset, l->start->x + at,
                                                              l->start->x_low + at, 1 / factor->curvature);
    }
}

/* Sets G of all stages to the tangential force at x0 plus the normal part -K <p,p>/m x. For Newton's method the force
 * is left out: it is used for stiff forces, which would move the body far away in a step if they stayed constant. */
static void start_from_force(cb_lobatto *l, int a) {
  const double force = cb_solver_is_newton(&l->solver) ? 0 : 1;
  for (int f = 0; f < l->g->n_factors; f++) {
    const cb_factor *factor = &l->g->factor[f];
    const double K = factor->curvature, *form = l->g->form + factor->offset;
    const size_t at = (size_t)a * l->k + factor->offset;
    const double *x = l->start->x + at, *p = l->start->p + at, *F = l->F[0] + at;
    double normal = 0;
    for (int e = 0; K != 0 && e < factor->count; e++)
      normal += K * form[e] * (p[e] * p[e] / l->mass[a] + force * F[e] * x[e]);
    for (int i = 0; i < l->s; i++)
      for (int e = 0; e < factor->count; e++) l->G[i][at + e] = force * F[e] - normal * x[e];
  }
}

/* Computes the G_i, D_i and X_i at which the iteration starts: G is extrapolated from the last step if it had the same
 * length. */
static void predict_portion(cb_lobatto *l, int begin, int end) {
  const int s = l->s;
  const double *x0 = l->start->x, *p0 = l->start->p, h = l->h;
  const bool known = l->has_history && l->past_h == l->h;
  if (known && l->kernel) {
    l->kernel->predict(l, begin, end, x0, p0, h);
    return;
  }
  for (int a = begin; a < end; a++) {
    if (!known) start_from_force(l, a);
    for (int e = 0; e < l->k; e++) {
      const size_t at = (size_t)a * l->k + e;
      double G[CB_LOBATTO_MAX];
      for (int i = 0; i < s; i++) {
        G[i] = known ? 0 : l->G[i][at];
        for (int j = 0; known && j < s; j++) G[i] += l->E[i][j] * l->G[j][at];
      }
      for (int i = 0; i < s; i++) l->G[i][at] = G[i];
      l->X[0][at] = x0[at];
      for (int i = 1; i < s; i++) {
        double sum = 0;
        for (int j = 0; j < s - 1; j++) sum += l->W[i][j] * G[j];
        l->D[i][at] = h / l->mass[a] * (l->c[i] * p0[at] + h * sum);
        l->X[i][at] = x0[at] + l->D[i][at];
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

/* Computes the forces at the inner stages. If forces depend on the velocity, the velocity is computed for one stage
 * after another, and the forces at the first stage are computed again too. */
static cb_status stage_forces(cb_lobatto *l) {
  const int inner = l->s - 2;
  if (!l->V && !inner) return CB_OK;
  if (!l->V) {
    double time[CB_LOBATTO_MAX];
    for (int i = 1; i <= inner; i++) time[i] = l->start->t + l->c[i] * l->h;
    return cb_forces_eval_stages(l->in->forces, inner, time + 1, (const double *const *)(l->X + 1), NULL, l->F + 1);
  }
  for (int i = 0; i <= inner; i++) {
    cb_lobatto_velocity(l, l->g, l->start->p, l->h, i);
    const cb_status status = cb_forces_eval(l->in->forces, l->start->t + l->c[i] * l->h, l->X[i], l->V, l->F[i]);
    if (status) return status;
  }
  return CB_OK;
}

static cb_status sweep(void *method, cb_stage_change *c) {
  cb_lobatto *l = method;
  cb_status status = stage_forces(l);
  if (!status && l->rods) status = cb_lobatto_constraints_sweep(l->rods, l, l->start->t, l->h);
  if (!status) c->change = cb_lobatto_sweep(l, l->g, l->start->x, l->start->p, l->h, &c->size);
  return status;
}

static cb_status fixed_point(cb_lobatto *l) {
  const cb_iteration how = {"lobatto",
                            CB_FIXED_POINT,
                            sweep,
                            cb_end_by_change,
                            .target = l->tolerance,
                            .noise = l->noise,
                            .stall = 0.8,
                            .lost = 1e3,
                            .maximum = l->max_iterations,
                            .rounding = l->rounding};
  const cb_status status = l->rods ? cb_lobatto_constraints_prepare(l->rods, l, l->start->t, l->h) : CB_OK;
  return status ? status : cb_iterate(&how, l->in, l);
}

/* Returns the round-off of the displacements D, relative to their size. The equation <X,X> = 1/K holds only up to some
 * units of round-off of <x,D>, whose terms have the size |x| |D| and cancel if x is far from the base point of H^n. The
 * error is corrected along x, which has coordinates of the size |x|: together this gives an error of |x|^2 |D|, with x
 * in radii. */
static double rounding_of(const cb_space *g, int n, const double *x) {
  double maximum = 0;
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor *factor = &g->factor[f];
    for (int a = 0; a < n && factor->curvature < 0; a++) {
      const double last = x[(size_t)a * (size_t)g->k + factor->offset + factor->count - 1];
      maximum = fmax(maximum, -2 * factor->curvature * last * last);
    }
  }
  return 8 * DBL_EPSILON * maximum;
}

/* Computes the force at the start, unless it is known from the last step, begins the step of the constraints, and sets
 * the levels of round-off. */
static cb_status begin(cb_lobatto *l, const cb_state *state) {
  const bool known = l->V ? l->has_history : l->has_force;
  for (int a = 0; l->V && !known && a < l->n; a++)
    for (int e = 0; e < l->k; e++) l->V[(size_t)a * l->k + e] = state->p[(size_t)a * l->k + e] / l->mass[a];
  cb_status status = known ? CB_OK : cb_forces_eval(l->in->forces, state->t, state->x, l->V, l->F[0]);
  if (!status && l->rods) status = cb_lobatto_constraints_begin(l->rods, l, state->t, state, l->h);
  l->rounding = rounding_of(l->g, l->n, state->x);
  if (status || !l->rods) return status;
  /* The noise is the round-off of the coordinates. The round-off of the displacements would be too small a number for a
   * body that is nearly at rest. */
  double size = 0;
  for (int e = 0; e < l->n * l->k; e++) size = fmax(size, fabs(state->x[e]));
  l->noise = 16 * DBL_EPSILON * size;
  return CB_OK;
}

static cb_status solve(cb_lobatto *l) {
  cb_status status;
  do {
    const bool newton = cb_solver_is_newton(&l->solver);
    cb_threads_range(l->threads, l->n, predict_range, l);
    if (newton && !l->newton && (status = cb_lobatto_newton_create(l))) return status;
    status = newton ? cb_lobatto_newton_solve(l) : fixed_point(l);
    if (status) l->has_history = false;
  } while (cb_solver_after(&l->solver, status, l->in->iterations));
  l->in->solver = cb_solver_name(&l->solver);
  return status;
}

/* --- the end of the step --- */

typedef struct ending {
  cb_lobatto *l;
  cb_state *state;
} ending;

static void end_range(void *context, int begin, int end) {
  const ending *w = context;
  cb_lobatto *l = w->l;
  cb_state *state = w->state;
  for (int a = begin; a < end; a += PORTION) {
    const int last = end - a < PORTION ? end : a + PORTION;
    const size_t at = (size_t)a * l->k, count = (size_t)(last - a) * l->k;
    cb_compensated_add(count, state->x + at, state->x_low + at, l->D[l->s - 1] + at, l->compensated, 1);
    cb_lobatto_end(l, a, last, state->x, state->p, l->h, state->p_low, l->dp);
    cb_compensated_add(count, state->p + at, state->p_low + at, l->dp + at, l->compensated, 1);
  }
}

/* Ends a step of a system with constraints; the last multiplier follows from rate(t1, x1, v1) = 0. */
static cb_status end_constrained(cb_lobatto *l, cb_state *state) {
  const size_t count = (size_t)l->n * l->k;
  const double *x1 = l->X[l->s - 1];
  memset(l->p_low, 0, count * sizeof *l->p_low);
  cb_lobatto_end(l, 0, l->n, x1, state->p, l->h, l->p_low, l->dp);
  const cb_status status = cb_lobatto_constraints_close(l->rods, l, state->t, x1, state->p, l->h, l->dp);
  if (status) return status;
  cb_compensated_add(count, state->x, state->x_low, l->D[l->s - 1], l->compensated, 1);
  for (size_t e = 0; e < count; e++) state->p_low[e] += l->p_low[e];
  cb_compensated_add(count, state->p, state->p_low, l->dp, l->compensated, 1);
  return CB_OK;
}

static cb_status advance(cb_lobatto *l, cb_state *state) {
  const double h = l->h;
  const int s = l->s;
  cb_status status = begin(l, state);
  if (!status) status = solve(l);
  if (status) return status;
  if (l->V) cb_lobatto_velocity(l, l->g, state->p, h, s - 1);
  status = cb_forces_eval(l->in->forces, state->t + h, l->X[s - 1], l->V, l->F[s - 1]);
  if (!status && l->rods) status = cb_lobatto_constraints_end(l->rods, l, state->t, h);
  if (!status && l->rods) return end_constrained(l, state);
  if (!status) cb_threads_range(l->threads, l->n, end_range, &(ending){l, state});
  return status;
}

static cb_status step(void *form, cb_state *state, double h) {
  cb_lobatto *l = form;
  l->start = state;
  l->h = h;
  const cb_status status = advance(l, state);
  l->has_force = l->has_history = !status;
  if (status) return status;
  cb_compensated_add(1, &state->t, &state->t_low, &h, true, 1);
  double *swap = l->F[0];
  l->F[0] = l->F[l->s - 1];
  l->F[l->s - 1] = swap;
  l->past_h = h;
  return CB_OK;
}

const cb_lobatto_form cb_lobatto_embedding_form = {create, destroy, step, reset, moved};
