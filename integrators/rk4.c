/* The classical Runge-Kutta method of order 4: explicit, neither symplectic nor symmetric; a simple reference.
 *
 *   k1 = f(t, y), k2 = f(t+h/2, y+h k1/2), k3 = f(t+h/2, y+h k2/2), k4 = f(t+h, y+h k3),  y1 = y + h (k1+2k2+2k3+k4)/6
 *   embedding   x' = p/m,        p' = F - (<F,x> + <p,p>/m)/<x,x> x   in each curved factor
 *   chart       q' = g^-1 p/m,   p' = F + (m/2) dg(q', q')
 *
 * with the state y = (x, p) or (q, p), its rate f, the force F, the mass m and the metric g. In the embedding the end
 * of the step is projected to the space.
 * Source: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), table II.1.2,
 * doi:10.1007/978-3-540-78862-1.
 */
#include <curvebody/integrator.h>

#include "dynamics/chart_dynamics.h"
#include "numerics/dd.h"

#include <math.h>
#include <string.h>

typedef struct method {
  cb_arena *arena;
  size_t count;
  double *x, *p, *F;     /* a stage: position, momentum, force */
  double *dx, *dp;       /* x' and p' of the stage */
  double *sum_x, *sum_p; /* k1 + 2 k2 + 2 k3 + k4 for x and for p */
} method;

static void destroy(cb_integrator *in) {
  const method *m = in->self;
  if (m) cb_arena_free(m->arena);
}

static cb_status create(cb_integrator *in, const void *params) {
  (void)params;
  method *m = cb_arena_object(sizeof *m, "the integrator `rk4`");
  if (!m) return CB_ERROR_MEMORY;
  m->count = (size_t)cb_system_particles(in->system) * (size_t)cb_system_space(in->system)->k;
  cb_arena_doubles(m->arena, m->count, &m->x, &m->p, &m->F, &m->dx, &m->dp, &m->sum_x, &m->sum_p);
  if (cb_arena_lost(m->arena)) {
    cb_fail(CB_ERROR_MEMORY, "no memory for %zu coordinates", m->count);
    cb_arena_free(m->arena);
    return CB_ERROR_MEMORY;
  }
  in->self = m;
  in->solver = "explicit";
  return CB_OK;
}

static cb_status chart_rates(const cb_integrator *in, method *m, double t) {
  const cb_space *g = cb_system_space(in->system);
  const double *mass = cb_system_masses(in->system);
  double buffer[CB_Q_MAX * CB_Q_MAX * (2 + CB_Q_MAX)]; /* memory for the metric and its first derivatives */
  const cb_chart_metric metric = cb_chart_metric_in(g->dim, buffer);
  cb_status status;
  for (int a = 0; a < cb_system_particles(in->system); a++) {
    const size_t at = (size_t)(a * g->k);
    if ((status = cb_chart_metric_at(g, m->x + at, 0, &metric))) return status;
    cb_chart_velocity_of(g->k, &metric, mass[a], m->p + at, m->dx + at);
  }
  if ((status = cb_forces_eval(in->forces, t, m->x, m->dx, m->F))) return status;
  for (int a = 0; a < cb_system_particles(in->system); a++) {
    const size_t at = (size_t)(a * g->k);
    if ((status = cb_chart_metric_at(g, m->x + at, 1, &metric))) return status;
    cb_chart_rate_canonical(g->k, &metric, mass[a], m->dx + at, m->F + at, m->dp + at);
  }
  return CB_OK;
}

static cb_status embedding_rates(const cb_integrator *in, method *m, double t) {
  const cb_space *g = cb_system_space(in->system);
  const double *mass = cb_system_masses(in->system);
  for (size_t e = 0; e < m->count; e++) m->dx[e] = m->p[e] / mass[e / (size_t)g->k];
  const cb_status status = cb_forces_eval(in->forces, t, m->x, m->dx, m->F);
  if (status) return status;
  memcpy(m->dp, m->F, m->count * sizeof(double));
  for (int a = 0; a < cb_system_particles(in->system); a++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *factor = &g->factor[f];
      if (factor->curvature == 0) continue;
      const size_t at = (size_t)(a * g->k + factor->offset);
      double xx = 0, fx = 0, pp = 0;
      for (int e = 0; e < factor->count; e++) {
        const double form = g->form[factor->offset + e], x = m->x[at + (size_t)e], p = m->p[at + (size_t)e];
        xx += form * x * x;
        fx += form * m->F[at + (size_t)e] * x;
        pp += form * p * p;
      }
      for (int e = 0; e < factor->count; e++) m->dp[at + (size_t)e] -= (fx + pp / mass[a]) / xx * m->x[at + (size_t)e];
    }
  return CB_OK;
}

static cb_status step(cb_integrator *in, void *of, double h) {
  cb_state *state = of;
  static const double time[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  method *m = in->self;
  const cb_space *g = cb_system_space(in->system);
  const size_t bytes = m->count * sizeof(double);
  for (int i = 0; i < 4; i++) {
    for (size_t e = 0; e < m->count; e++) {
      m->x[e] = state->x[e] + (i ? h * time[i] * m->dx[e] : 0);
      m->p[e] = state->p[e] + (i ? h * time[i] * m->dp[e] : 0);
    }
    const double t = state->t + time[i] * h;
    const cb_status status = g->chart ? chart_rates(in, m, t) : embedding_rates(in, m, t);
    if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
    for (size_t e = 0; e < m->count; e++) {
      m->sum_x[e] = (i ? m->sum_x[e] : 0) + weight[i] * m->dx[e];
      m->sum_p[e] = (i ? m->sum_p[e] : 0) + weight[i] * m->dp[e];
    }
  }
  double total = 0;
  for (size_t e = 0; e < m->count; e++) {
    m->x[e] = state->x[e] + h / 6 * m->sum_x[e];
    m->p[e] = state->p[e] + h / 6 * m->sum_p[e];
    total += fabs(m->x[e]) + fabs(m->p[e]);
  }
  if (!(total < INFINITY))
    return cb_fail(CB_STEP_NOT_FINITE, "rk4: the state is not finite after a step of %g: use a smaller `step`", h);
  for (int a = 0; !g->chart && a < cb_system_particles(in->system); a++) {
    const size_t at = (size_t)(a * g->k);
    cb_space_project_point(g, m->x + at);
    cb_space_project_tangent(g, m->x + at, m->p + at);
  }
  memcpy(state->x, m->x, bytes);
  memcpy(state->p, m->p, bytes);
  memset(state->x_low, 0, bytes);
  memset(state->p_low, 0, bytes);
  cb_compensated_add_one(&state->t, &state->t_low, h);
  return CB_OK;
}

/* Does nothing, because the integrator has no history that an isometry would have to move. */
static void moved(cb_integrator *in, int component, const cb_isometry *isometry) {
  (void)in;
  (void)component;
  (void)isometry;
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  (void)in;
  *order = 4;
  *symplectic = *symmetric = false;
}

static const cb_param table[] = {{NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_integrator_class cb_integrator_rk4 = {
    .name = "rk4",
    .title = "classical Runge-Kutta",
    .doc = "Explicit, order 4, neither symplectic nor symmetric: a simple reference.",
    .solves = &cb_problem_hamiltonian,
    .params = table,
    .create = create,
    .destroy = destroy,
    .step = step,
    .moved = moved,
    .properties = properties};
