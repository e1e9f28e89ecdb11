/* Gauss collocation with s stages and order 2s; symplectic, except with `form: velocity`, `balance: false` or forces
 * that depend on velocities.
 *
 *   Y_i = y0 + h sum_j a_ij f(Y_j),   y1 = y0 + h sum_j b_j f(Y_j),   c_i the zeros of P_s(2c-1)
 *
 * with the state y, its rate f, the stages Y_i at the times t + c_i h, the length h of the step, the coefficients a_ij
 * and b_j of the collocation at the nodes c_i, and Legendre's polynomial P_s. In a fixed chart y = (q, p), or (q,
 * dq/dt) in the velocity form (gauss_chart.c). In the embedding of a quadric space each step is made in charts that
 * follow the particles, with momenta that are corrected for this motion (gauss_moving.c). Source: Hairer, Lubich &
 * Wanner, Geometric Numerical Integration, 2nd ed. (2006), II.1.3 and VI.4, doi:10.1007/3-540-30666-8.
 */
#include "integrators/gauss.h"
#include "integrators/shapes.h"

#include "core/threads.h"
#include "numerics/dd.h"

#include <stddef.h>

enum { FORM_CANONICAL, FORM_VELOCITY };

typedef struct parameters {
  int stages, form, solver, iterations;
  bool symmetric, balance, compensated;
  double tolerance;
} parameters;

static const cb_param table[] = {
    {"stages", CB_PARAM_INT, offsetof(parameters, stages), "3", "", "[1, 8]", NULL,
     "number of stages; the order is 2 stages"},
    {"form", CB_PARAM_CHOICE, offsetof(parameters, form), "canonical", "", "", "canonical|velocity",
     "variables in a fixed chart: canonical (q, p), or velocity (q, dq/dt), which is not symplectic"},
    {"symmetric", CB_PARAM_BOOL, offsetof(parameters, symmetric), "true", "", "", NULL,
     "in moving charts: true puts the chart at the midpoint of the step, so that the integrator is symmetric; false "
     "puts "
     "it at the start"},
    {"balance", CB_PARAM_BOOL, offsetof(parameters, balance), "true", "", "", NULL,
     "in moving charts: true corrects the momenta for the motion of the chart; with false the integrator is not "
     "symplectic and does not conserve momenta"},
    CB_SOLVER_PARAMS(parameters,
                     "error of the stages relative to the moves in the step (newton: residual relative to the "
                     "momenta); 0: round-off",
                     "100"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static void destroy(cb_integrator *in) {
  cb_gauss *m = in->self;
  if (!m) return;
  m->form->destroy(m);
  cb_stage_matrix_free(m->matrix);
  cb_arena_free(m->arena);
}

static cb_status create(cb_integrator *in, const void *params) {
  const parameters *p = params;
  const cb_space *g = cb_system_space(in->system);
  if (!g->chart && p->form == FORM_VELOCITY)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "`form: velocity` works in a fixed chart: set `chart` of the space, or use `form: canonical`");
  cb_gauss *m = cb_arena_object(sizeof *m, "the integrator `gauss`");
  if (!m) return CB_ERROR_MEMORY;
  *m = (cb_gauss){.arena = m->arena,
                  CB_METHOD_OF(in),
                  CB_METHOD_OPTIONS(p),
                  .k = g->k,
                  .dim = g->dim,
                  .form = g->chart ? &cb_gauss_chart_form : &cb_gauss_moving_form,
                  .canonical = p->form == FORM_CANONICAL,
                  .symmetric = p->symmetric,
                  .balance = p->balance};
  m->threads = cb_threads_for((size_t)m->n);
  cb_solver_start(&m->solver, p->solver, m->n);
  in->self = m;
  cb_status status = cb_tableau_gauss(p->stages, &m->tableau);
  if (!status) status = m->form->create(m);
  if (!status && cb_solver_may_be_newton(&m->solver)) status = m->form->prepare_newton(m);
  if (status) {
    destroy(in);
    in->self = NULL;
    return status;
  }
  in->solver = cb_solver_name(&m->solver);
  return CB_OK;
}

static void reset(cb_integrator *in) {
  cb_gauss *m = in->self;
  m->form->reset(m);
  m->contraction = 0;
  cb_solver_reset(&m->solver);
  in->solver = cb_solver_name(&m->solver);
}

static void moved(cb_integrator *in, int component, const cb_isometry *isometry) {
  cb_gauss *m = in->self;
  if (m->form->moved) m->form->moved(m, component, isometry);
}

static cb_status step(cb_integrator *in, void *of, double h) {
  cb_state *state = of;
  cb_gauss *m = in->self;
  m->start = state;
  m->h = h;
  cb_status status = cb_gauss_solve(m);
  if (!status) status = m->form->finish(m, state);
  if (status) {
    m->form->reset(m);
    return status;
  }
  cb_compensated_add(1, &state->t, &state->t_low, &h, true, 1);
  return CB_OK;
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  const cb_gauss *m = in->self;
  const bool moving = !m->g->chart;
  *order = 2 * m->s;
  *symplectic = !m->damped && (moving ? m->balance : m->canonical);
  *symmetric = !m->damped && (!moving || m->symmetric);
}

const cb_integrator_class cb_integrator_gauss = {
    .name = "gauss",
    .title = "Gauss collocation",
    .doc =
        "Symplectic, order 2 stages; canonical in a fixed chart, otherwise in charts that follow the body, with "
        "corrected momenta. Also for shapes of a bundle with drag, then without symplecticity.",
    .solves = &cb_problem_hamiltonian,
    .other = &cb_gauss_of_shapes,
    .params = table,
    .params_size = sizeof(parameters),
    .create = create,
    .destroy = destroy,
    .step = step,
    .reset = reset,
    .moved = moved,
    .properties = properties};
