/* Radau IIA with s stages and order 2s-1, for stiff systems with and without constraints; neither symplectic nor
 * symmetric.
 *
 *   X_i = x0 + h sum_j a_ij (V_j + W G_j^T mu_j)           i = 1..s, x1 = X_s and v1 = V_s
 *   V_i = v0 + h sum_j a_ij (F_j/m - W G_j^T lambda_j)     W = (m I)^-1, G = dg/dx
 * with the stages X_i, V_i of positions and velocities, the forces F_j, the mass m, the multipliers lambda_j, mu_j,
 * and c_i the zeros of P_s(2c-1) - P_{s-1}(2c-1), P_s Legendre's polynomial. In the embedding of a curved space the
 * quadric equations of a point are also part of g, so that the space is a linear space with constraints. In a fixed
 * chart x = q, v = dq/dt, W = (m g_ij)^-1, and the acceleration from the metric is added. `constraints` selects the
 * conditions that determine the multipliers of a position constraint g(t, x) = 0:
 *   ggl           g = 0 and dg/dt = 0 at all stages, with lambda and mu          Gear, Gupta & Leimkuhler (1985)
 *   position      g = 0 at all stages, mu = 0; v1 is projected to dg/dt = 0 along W G^T at the end        (index 3)
 *   velocity      s = 2: g = 0 and dg/dt = 0 at the end, mu = 0                   Schweizer & Li (2016)
 *   acceleration  s = 3: g = 0, dg/dt = 0 and d2g/dt2 = 0 at the end, mu = 0
 * Observed orders on generic data, s >= 2: 2s-1 in positions and velocities for all four; in lambda_s: s (ggl), s-1
 * (position), 2 (velocity), 5 (acceleration). Velocity constraints, a v = b, are satisfied as a V_i = b at all stages
 * with lambda; with ggl they also have mu, which makes the correction W G^T mu satisfy them too.
 * Sources: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), IV.5, VII.1, VII.4,
 * doi:10.1007/978-3-642-05221-7; Gear, Gupta & Leimkuhler, J. Comput. Appl. Math. 12-13 (1985) 77,
 * doi:10.1016/0377-0427(85)90008-1; Schweizer & Li, Solving differential-algebraic equation systems: alternative
 * index-2 and index-1 approaches for constrained mechanical systems, J. Comput. Nonlinear Dynam. 11 (2016) 044501.
 */
#include "integrators/radau.h"
#include "integrators/shapes.h"

#include "numerics/dd.h"
#include "numerics/small.h"

#include <math.h>
#include <stddef.h>

enum { FORM_SCALED, FORM_VELOCITY };

typedef struct parameters {
  int stages, constraints, form, solver, iterations;
  bool compensated;
  double tolerance;
} parameters;

static const cb_param table[] = {
    {"stages", CB_PARAM_INT, offsetof(parameters, stages), "3", "", "[1, 5]", NULL,
     "number of stages; the order is 2 stages - 1"},
    {"constraints", CB_PARAM_CHOICE, offsetof(parameters, constraints), "ggl", "", "",
     "position|ggl|velocity|acceleration",
     "points at which constraints are satisfied: at all stages (position), at all stages with their rates (ggl), at "
     "the end with their rates "
     "(velocity: 2 stages), at the end also with second derivatives (acceleration: 3 stages)"},
    {"form", CB_PARAM_CHOICE, offsetof(parameters, form), "scaled", "", "", "scaled|velocity",
     "scaled: multipliers are scaled by the step and solved to round-off; velocity: in a fixed chart, without scaling, "
     "as in the publication; it iterates until the last correction is below the tolerance or 102 systems have been "
     "solved"},
    CB_SOLVER_PARAMS(parameters,
                     "error of the stages relative to their displacement in the step; 0: round-off (`form: velocity`: "
                     "1e-11, absolute)",
                     "100"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static void destroy(cb_integrator *in) {
  cb_radau *m = in->self;
  if (!m) return;
  cb_radau_newton_free(m->newton);
  cb_gram_free(m->gram);
  cb_predictor_free(m->predictor);
  cb_arena_free(m->arena);
}

/* Computes K^-1, where K maps the lambda_j of a position constraint to its conditions. Its rows are those of A^2 (ggl,
 * position), or b A and b (velocity), or b A, b and e_s (acceleration), with A = (a_ij), its last row b and the unit
 * vector e_s. */
static cb_status invert_conditions(cb_radau *m) {
  const int s = m->s;
  double K[CB_RADAU_MAX * CB_RADAU_MAX], square[CB_RADAU_MAX][CB_RADAU_MAX];
  int pivot[CB_RADAU_MAX];
  for (int i = 0; i < s; i++)
    for (int j = 0; j < s; j++) {
      square[i][j] = 0;
      for (int l = 0; l < s; l++) square[i][j] += m->tableau.a[i][l] * m->tableau.a[l][j];
    }
  for (int i = 0; i < s; i++)
    for (int j = 0; j < s; j++)
      K[i * s + j] = m->index == CB_RADAU_GGL || m->index == CB_RADAU_POSITION ? square[i][j]
                     : i == 0                                                  ? square[s - 1][j]
                     : i == 1                                                  ? m->tableau.a[s - 1][j]
                                                                               : j == s - 1;
  const cb_status status = cb_dense_factor(s, K, pivot);
  if (status) return status;
  for (int j = 0; j < s; j++) {
    double column[CB_RADAU_MAX] = {0};
    column[j] = 1;
    cb_dense_solve(s, K, pivot, column);
    for (int i = 0; i < s; i++) m->from_rows[i][j] = column[i];
  }
  return CB_OK;
}

static cb_status prepare_rows(cb_radau *m) {
  const cb_system *system = m->integrator->system;
  cb_constraints *c = cb_forces_constraints_with_space(m->forces);
  if (!c) return CB_ERROR_MEMORY;
  const cb_rows *rows = cb_constraints_rows(c);
  if (!rows->own) m->index = CB_RADAU_GGL;
  if (!rows->rows) return CB_OK;
  m->constraints = c;
  m->rows = rows;
  m->R = rows->rows;
  m->entries = (size_t)rows->start[rows->rows] * (size_t)m->k;
  m->plain = !cb_system_constraints_depend_on_time(system) && !cb_system_velocity_constraints(system);
  return cb_gram_create(m->forces, c, &m->gram);
}

static cb_status allocate(cb_radau *m) {
  cb_arena *arena = m->arena;
  const size_t s = (size_t)m->s, all = s * m->count, rows = s * (size_t)m->R;
  cb_arena_doubles(arena, m->count, &m->v0, &m->lift);
  cb_arena_doubles(arena, all, &m->X, &m->V, &m->F, &m->D, &m->E);
  cb_arena_doubles(arena, 2 * all, &m->next);
  cb_arena_doubles(arena, all + rows, &m->rates);
  cb_arena_doubles(arena, rows, &m->g_rows, &m->rate, &m->y, &m->z);
  cb_arena_doubles(arena, (size_t)m->R, &m->gamma, &m->multiplier);
  cb_arena_doubles(arena, s * m->entries, &m->G);
  if (m->R && m->index == CB_RADAU_GGL) cb_arena_doubles(arena, all, &m->drift);
  if (m->R && m->index == CB_RADAU_GGL) cb_arena_doubles(arena, rows, &m->mu);
  if (m->chart) cb_arena_doubles(arena, all * (size_t)m->k, &m->inverse);
  if (cb_arena_lost(arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for the stages of %d particles", m->n);
  return cb_predictor_create(m->s, m->tableau.c, m->s <= 3 ? 2 : 1, m->count + (size_t)m->R, &m->predictor);
}

static cb_status check(const cb_integrator *in, const parameters *p) {
  const cb_space *g = cb_system_space(in->system);
  if (p->constraints == CB_RADAU_VELOCITY && p->stages != 2)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "`constraints: velocity` has two multipliers per row: expected `stages: 2`, found %d; with other "
                   "numbers of stages use `ggl` or `position`",
                   p->stages);
  if (p->constraints == CB_RADAU_ACCELERATION && p->stages != 3)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "`constraints: acceleration` has three multipliers per row: expected `stages: 3`, found %d; with other "
        "numbers of stages use `ggl` or `position`",
        p->stages);
  if (p->form == FORM_VELOCITY && !g->chart)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "`form: velocity` works in a fixed chart: set `chart` of the space, or use `form: scaled`");
  return CB_OK;
}

static cb_status create(cb_integrator *in, const void *params) {
  const parameters *p = params;
  const cb_space *g = cb_system_space(in->system);
  cb_status status = check(in, p);
  if (status) return status;
  cb_radau *m = cb_arena_object(sizeof *m, "the integrator `radau_iia`");
  if (!m) return CB_ERROR_MEMORY;
  *m = (cb_radau){.arena = m->arena,
                  CB_METHOD_OF(in),
                  CB_METHOD_OPTIONS(p),
                  .k = g->k,
                  .chart = g->chart,
                  .index = (cb_radau_index)p->constraints,
                  .published = p->form == FORM_VELOCITY};
  m->count = (size_t)m->n * (size_t)m->k;
  m->compensated = p->compensated && !m->published;
  cb_solver_start(&m->solver, m->published ? CB_SOLVER_NEWTON : p->solver, m->n);
  in->self = m;
  status = cb_tableau_radau_iia(m->s, &m->tableau);
  if (!status) {
    double inverse[CB_RADAU_MAX * CB_RADAU_MAX];
    cb_tableau_inverse(&m->tableau, inverse);
    for (int i = 0; i < m->s; i++) {
      double sum = 0;
      for (int j = 0; j < m->s; j++) {
        m->inverse_a[i][j] = inverse[i * m->s + j];
        sum += fabs(m->inverse_a[i][j]);
      }
      m->noise = fmax(m->noise, 8 + 2 * sum);
    }
    status = prepare_rows(m);
  }
  if (!status) status = invert_conditions(m);
  if (!status) status = allocate(m);
  if (!status && cb_solver_may_be_newton(&m->solver)) status = cb_radau_newton_create(m);
  if (status) {
    destroy(in);
    in->self = NULL;
    return status;
  }
  in->solver = cb_solver_name(&m->solver);
  in->multipliers = m->R && m->rows->own ? m->multiplier : NULL;
  return CB_OK;
}

static void reset(cb_integrator *in) {
  cb_radau *m = in->self;
  cb_predictor_reset(m->predictor);
  cb_solver_reset(&m->solver);
  in->solver = cb_solver_name(&m->solver);
}

/* Accelerations are vectors of the embedding, so an isometry acts on them by its linear part. */
static void moved(cb_integrator *in, int component, const cb_isometry *isometry) {
  cb_radau *m = in->self;
  const int *start = cb_system_component_starts(in->system);
  double *past;
  for (int age = 0; age < 2 && (past = cb_predictor_past(m->predictor, age)); age++)
    for (int i = 0; i < m->s; i++)
      for (int a = start[component]; a < start[component + 1]; a++) {
        double *rate = past + (size_t)i * (m->count + (size_t)m->R) + (size_t)a * (size_t)m->k;
        cb_isometry_vector(m->g, isometry, rate, rate);
      }
}

static cb_status step(cb_integrator *in, void *of, double h) {
  cb_state *state = of;
  cb_radau *m = in->self;
  m->start = state;
  m->h = h;
  cb_status status = cb_radau_solve(m);
  if (!status) status = cb_radau_finish(m, state);
  if (status) {
    cb_predictor_reset(m->predictor);
    return status;
  }
  cb_compensated_add(1, &state->t, &state->t_low, &h, true, 1);
  return CB_OK;
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  const cb_radau *m = in->self;
  *order = 2 * m->s - 1;
  *symplectic = *symmetric = false;
}

const cb_integrator_class cb_integrator_radau_iia = {
    .name = "radau_iia",
    .title = "Radau IIA",
    .doc =
        "Implicit, for stiff systems and constraints: order 2 stages - 1, damps fast modes; not symplectic. "
        "Also for shapes of a bundle with drag.",
    .solves = &cb_problem_hamiltonian,
    .other = &cb_radau_of_shapes,
    .params = table,
    .params_size = sizeof(parameters),
    .create = create,
    .destroy = destroy,
    .step = step,
    .reset = reset,
    .moved = moved,
    .properties = properties,
    .takes_constraints = true,
    .takes_velocity_constraints = true};
