/* SUNDIALS IDA: backward differentiation formulae of order 1 to 5 with variable step and order, as a reference.
 *
 *   x' = v - W G^T M',   v' = W (F - G^T L') [- Gamma(v,v)],   0 = g(t,x),   0 = G v + g_t  or  a v - b
 * with the positions x, the velocities v, the forces F, the position constraints g = 0 with G = dg/dx and g_t = dg/dt,
 * and the velocity constraints a v = b, for which G = a. The multipliers L' enforce the rates of all constraints, and
 * M' the position constraints (Gear, Gupta & Leimkuhler), so that the constraints do not drift; M' = 0 up to the error
 * of the integrator. With the integrals L and M of the multipliers as unknowns the index is 1 (Gear's integrated
 * multipliers); they are not part of the error control. In the embedding W = (m I)^-1, and the equations <x,x> = 1/K of
 * the space are part of g; in a chart W = (m g_ij)^-1 with the metric g_ij, and Gamma is its connection. The state is
 * taken from IDA's polynomial and projected to the constraints; IDA's own history does not change. IDA starts anew, at
 * order 1, in these cases: the state is not the one at the end of the last step, the step has the opposite direction,
 * the last step failed, the integrator was reset, or a moving origin has moved.
 * Sources: Brenan, Campbell & Petzold (1996), Numerical Solution of Initial-Value Problems in Differential-Algebraic
 * Equations, chapter 5, doi:10.1137/1.9781611971224; Gear, Gupta & Leimkuhler (1985), J. Comput. Appl. Math. 12, 77,
 * doi:10.1016/0377-0427(85)90008-1; Gear (1988), SIAM J. Sci. Stat. Comput. 9, 39, doi:10.1137/0909004; Hindmarsh et
 * al. (2005), ACM Trans. Math. Softw. 31, 363, doi:10.1145/1089014.1089020.
 */
#include "integrators/ida_private.h"

#include "numerics/dd.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* IDA treats times whose relative difference is below this as equal. The motion between two such times is far below the
 * tolerances of IDA. */
static const double no_time = 4 * DBL_EPSILON;

typedef struct parameters {
  double rtol, atol, max_step;
  int max_order, solver, max_steps;
} parameters;

static const cb_param table[] = {
    {"rtol", CB_PARAM_REAL, offsetof(parameters, rtol), "1e-10", "", "(0, 1)", NULL,
     "relative error tolerance per internal step"},
    {"atol", CB_PARAM_REAL, offsetof(parameters, atol), "1e-12", "", "> 0", NULL,
     "absolute error tolerance per internal step, in positions and in velocities"},
    {"max_order", CB_PARAM_INT, offsetof(parameters, max_order), "5", "", "[1, 5]", NULL, "maximum order"},
    {"max_step", CB_PARAM_REAL, offsetof(parameters, max_step), "0", "time", ">= 0", NULL,
     "maximum internal step; 0: no limit"},
    {"solver", CB_PARAM_CHOICE, offsetof(parameters, solver), "auto", "", "", "auto|dense|klu",
     "solver for Newton's matrix; auto: dense for a small matrix, otherwise klu"},
    {"max_steps", CB_PARAM_INT, offsetof(parameters, max_steps), "100000", "", "[1, 1000000000]", NULL,
     "maximum number of internal steps per `step`"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static void destroy(cb_integrator *in) {
  cb_ida *m = in->self;
  if (!m) return;
  cb_ida_close(m);
  cb_gram_free(m->gram);
  cb_arena_free(m->arena);
}

static cb_status make_rows(cb_ida *m) {
  m->constraints = cb_forces_constraints_with_space(m->forces);
  if (!m->constraints) return cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  m->rows = cb_constraints_rows(m->constraints);
  m->position = cb_arena_alloc(m->arena, (size_t)m->rows->rows, sizeof *m->position);
  if (!m->position) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", m->rows->rows);
  for (int r = 0; r < m->rows->rows; r++) m->position[r] = m->rows->velocity[r] ? -1 : m->n_positions++;
  m->size = 2 * m->nk + m->rows->rows + m->n_positions;
  return m->rows->rows ? cb_gram_create(m->forces, m->constraints, &m->gram) : CB_OK;
}

static cb_status make_arrays(cb_ida *m) {
  if (!(m->pattern = cb_forces_pattern(m->forces))) return cb_fail(CB_ERROR_MEMORY, "no memory for the pattern");
  const size_t rows = (size_t)m->rows->rows, entries = (size_t)m->rows->start[rows] * (size_t)m->k,
               count = (size_t)m->nk, square = (size_t)(m->k * m->k), blocks = (size_t)m->pattern->start[m->n] * square;
  cb_arena_doubles(m->arena, count, &m->x, &m->v, &m->left_x, &m->left_p, &m->force, &m->push, &m->shift);
  cb_arena_doubles(m->arena, count * (size_t)m->k, &m->W);
  cb_arena_doubles(m->arena, rows, &m->g_value, &m->rate, &m->gamma, &m->multiplier);
  cb_arena_doubles(m->arena, entries, &m->G, &m->rate_x);
  cb_arena_doubles(m->arena, blocks, &m->force_x);
  cb_arena_doubles(m->arena, m->damped ? blocks : 0, &m->force_v);
  cb_arena_doubles(m->arena, rows ? blocks : 0, &m->push_x, &m->shift_x);
  if (cb_arena_lost(m->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu coordinates", count);
  for (int a = 0; !m->g->chart && a < m->n; a++)
    for (int i = 0; i < m->k; i++) m->W[(size_t)a * square + (size_t)(i * m->k + i)] = 1 / (m->g->form[i] * m->mass[a]);
  return CB_OK;
}

static cb_status create(cb_integrator *in, const void *params) {
  const parameters *p = params;
  cb_ida *m = cb_arena_object(sizeof *m, "the integrator `ida`");
  if (!m) return CB_ERROR_MEMORY;
  *m = (cb_ida){.arena = m->arena, CB_METHOD_OF(in), .rtol = p->rtol, .atol = p->atol};
  m->k = m->g->k;
  m->nk = m->n * m->k;
  in->self = m;
  const cb_ida_options options = {p->solver, p->max_order, p->max_steps, p->max_step};
  cb_status status = make_rows(m);
  if (!status) status = make_arrays(m);
  if (!status) status = cb_ida_open(m, &options);
  if (status) {
    destroy(in);
    in->self = NULL;
  }
  return status;
}

static void reset(cb_integrator *in) { ((cb_ida *)in->self)->running = false; }

static cb_status step(cb_integrator *in, void *of, double h) {
  cb_state *state = of;
  cb_ida *m = in->self;
  double total = 0, t = state->t, t_low = state->t_low;
  for (int i = 0; i < m->nk; i++) total += fabs(state->x[i]) + fabs(state->p[i]);
  if (!(total < INFINITY))
    return cb_fail(CB_STEP_NOT_FINITE,
                   "ida: the state is not finite before a step of %g: expected finite positions and velocities", h);
  cb_compensated_add_one(&t, &t_low, h);
  in->failed_particle = -1;
  if (fabs(h) <= no_time * (fabs(state->t) + fabs(t))) {
    state->t = t;
    state->t_low = t_low;
    m->running = false;
    return CB_OK;
  }
  const bool restart = !cb_ida_continues(m, state, h);
  m->running = false;
  cb_status status = restart ? cb_ida_start(m, state) : CB_OK;
  if (!status) status = cb_ida_advance(m, restart, state->t, t);
  if (!status) status = cb_ida_output(m, t, t_low, state);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  m->running = true;
  m->direction = h;
  return CB_OK;
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  (void)in;
  *order = 1; /* ida varies its order; this is the lowest one */
  *symplectic = *symmetric = false;
}

const cb_integrator_class cb_integrator_ida = {
    .name = "ida",
    .title = "SUNDIALS IDA",
    .doc =
        "Backward differentiation of order 1 to 5; it chooses its internal steps from tolerances and keeps all "
        "constraints without drift; neither symplectic nor symmetric: a reference.",
    .solves = &cb_problem_hamiltonian,
    .params = table,
    .params_size = sizeof(parameters),
    .create = create,
    .destroy = destroy,
    .step = step,
    .reset = reset,
    .properties = properties,
    .adaptive = true,
    .takes_constraints = true,
    .takes_velocity_constraints = true};
