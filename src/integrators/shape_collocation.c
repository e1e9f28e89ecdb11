/* One step of shape variables with drag (bundle/shape_motion.h), by collocation with s stages.
 *
 *   r_i = r_0 + h sum_j a_ij v_j,   M_ff v_f,i + M_fd v_d,i = Q_f(t_i, r_i, v_i) - (d_r V)_f - A_f^T F
 *   omega_i = h sum_j a_ij k_j,  k_j = dexp^-1_{-omega_j} (P^-1 F - A(r_j) v_j),   g_i = g_0 exp(omega_i)
 *   r_1 = r_0 + h sum_j b_j v_j,   g_1 = g_0 exp(h sum_j b_j k_j)
 * a_ij, b_j, c_i: the tableau; t_i = t + c_i h; v_i, g_i: rates and group element at stage i; omega_i: the logarithm of
 * the change of g; f: free variables; d: driven variables, which have the values and rates of their laws.
 * Q is the force of shape_motion.h without -d_r V. Newton's method solves for the rates v_f; the elements g_i follow by
 * iteration, because F depends on them only weakly, and without V not at all. The order is that of the tableau for r
 * and for g, because the tableau is applied to one differential equation for (r, omega). The first guess is that of
 * shape_history.h. Without V the method stops as soon as the next correction, as estimated from the rate of
 * convergence, is round-off; then A and M are evaluated for the last rates. Radau IIA is for stiff springs, where Gauss
 * loses its order. Source: Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.5 and IV.8,
 * doi:10.1007/978-3-642-05221-7; Munthe-Kaas, BIT 38 (1998) 92, doi:10.1007/BF02510919.
 */
#include "integrators/shape_history.h"
#include "integrators/shapes.h"
#include "numerics/dd.h"
#include "numerics/lie_private.h"
#include "numerics/small.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 60 };

typedef struct stage {
  double t, r[CB_SHAPE_MAX], v[CB_SHAPE_MAX], g[CB_GROUP_SIZE];
  double A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], dM[CB_SHAPE_MAX * CB_SHAPE_MAX * CB_SHAPE_MAX];
  double F[CB_GROUP_DIM], f[CB_SHAPE_MAX], xi[CB_GROUP_DIM], omega[CB_GROUP_DIM], k[CB_GROUP_DIM];
  cb_shape_force force;
} stage;

struct cb_shape_collocation {
  cb_shape_history history; /* the rates of all stages in earlier steps */
  double rate;              /* ratio of the first two corrections, as last measured; 1: unknown */
  const cb_shape_problem *problem;
  const cb_tableau *tableau;
  const cb_shape_state *start;
  double h;
  int n, dim, unknowns, index[CB_SHAPE_MAX]; /* index: the numbers of the free variables */
  stage at[CB_STAGES_MAX];
  double J[CB_STAGES_MAX * CB_SHAPE_MAX * CB_STAGES_MAX * CB_SHAPE_MAX];
  int pivot[CB_STAGES_MAX * CB_SHAPE_MAX];
};
typedef cb_shape_collocation step;

static void place_stages(step *s) {
  const cb_tableau *T = s->tableau;
  for (int i = 0; i < T->s; i++) {
    stage *at = &s->at[i];
    for (int a = 0; a < s->unknowns; a++) {
      const int q = s->index[a];
      at->r[q] = s->start->r[q];
      for (int j = 0; j < T->s; j++) at->r[q] += s->h * T->a[i][j] * s->at[j].v[q];
    }
    cb_shape_drive(s->problem, at->t, s->h > 0, at->r, at->v); /* the last stage may be at a break of the gait; then it
                                                                * has the rates before the break */
  }
}

/* Computes the residual of stage i, which is the force minus the drag of the free variables; with `derivatives` also
 * the derivatives of M and of the force. */
static cb_status evaluate(step *s, int i, bool derivatives, double *residual) {
  const cb_bundle *b = s->problem->bundle;
  stage *at = &s->at[i];
  const cb_status status = cb_bundle_evaluate(b, at->r, at->A, NULL, at->M, derivatives ? at->dM : NULL);
  if (status) return cb_bundle_fail_at(b, at->r, status);
  cb_shape_potential(s->problem, at->g, at->r, at->F, at->f);
  cb_shape_force_at(s->problem, at->t, at->r, at->v, derivatives, &at->force);
  const cb_status forced = cb_shape_check_force(s->problem, &at->force, at->f);
  if (forced) return forced;
  for (int a = 0; a < s->unknowns; a++) {
    const int q = s->index[a];
    residual[a] = at->force.Q[q] + at->f[q] - cb_dot(s->n, at->M + q * s->n, at->v);
    for (int c = 0; c < s->dim; c++) residual[a] -= at->A[c * s->n + q] * at->F[c];
  }
  return CB_OK;
}

/* Factors Newton's matrix, which is the derivative of minus the residuals by the rates of all stages. Second
 * derivatives of V and the derivatives of A and F are left out. */
static cb_status factor(step *s) {
  const cb_tableau *T = s->tableau;
  const int n = s->n, k = s->unknowns, all = T->s * k;
  for (int i = 0; i < T->s; i++) {
    const stage *at = &s->at[i];
    for (int a = 0; a < k; a++)
      for (int c = 0; c < k; c++) {
        const int q = s->index[a], w = s->index[c];
        double by_r = -at->force.Q_r[q][w];
        for (int e = 0; e < n; e++) by_r += at->dM[(w * n + q) * n + e] * at->v[e];
        for (int j = 0; j < T->s; j++)
          s->J[(i * k + a) * all + j * k + c] =
              s->h * T->a[i][j] * by_r + (i == j ? at->M[q * n + w] - at->force.Q_v[q][w] : 0);
      }
  }
  if (cb_dense_factor(all, s->J, s->pivot))
    return cb_fail(CB_STEP_SINGULAR, "Newton's matrix of the shape is singular: expected a smaller step");
  return CB_OK;
}

/* Computes the body velocity xi of a stage. */
static cb_status find_xi(step *s, stage *at) {
  for (int c = 0; c < s->dim; c++) at->xi[c] = -cb_dot(s->n, at->A + c * s->n, at->v);
  return cb_shape_add_drift(s->problem, at->r, at->F, at->xi);
}

/* Finds omega, k and g of the stages for the present rates. */
static cb_status follow_group(step *s) {
  const cb_group *G = s->problem->bundle->group;
  const cb_tableau *T = s->tableau;
  for (int i = 0; i < T->s; i++) {
    const cb_status status = find_xi(s, &s->at[i]);
    if (status) return status;
  }
  for (int it = 0; it < ITERATIONS; it++) {
    double change = 0, scale = 0;
    for (int i = 0; i < T->s; i++) {
      const cb_status status = cb_lie_left_rate(G, s->at[i].omega, s->at[i].xi, s->at[i].k);
      if (status) return cb_fail(status, "the body turns by a full turn or more in a step: expected a smaller step");
    }
    for (int i = 0; i < T->s; i++)
      for (int c = 0; c < s->dim; c++) {
        double sum = 0;
        for (int j = 0; j < T->s; j++) sum += s->h * T->a[i][j] * s->at[j].k[c];
        change = fmax(change, fabs(sum - s->at[i].omega[c]));
        scale = fmax(scale, fabs(s->at[i].omega[c] = sum));
      }
    if (!(change > 2 * DBL_EPSILON * scale)) break;
  }
  for (int i = 0; i < T->s; i++) {
    G->exp(G, s->at[i].omega, s->at[i].g);
    G->multiply(G, s->start->g, s->at[i].g, s->at[i].g);
  }
  return CB_OK;
}

/* Evaluates all stages for the present rates, with the residuals b. */
static cb_status evaluate_all(step *s, bool derivatives, double *b) {
  cb_status status = CB_OK;
  place_stages(s);
  for (int i = 0; i < s->tableau->s && !status; i++) status = evaluate(s, i, derivatives, b + i * s->unknowns);
  return status;
}

static cb_status solve(step *s, int *iterations) {
  const int k = s->unknowns, stages = s->tableau->s, all = stages * k;
  const bool moves_by_V = s->problem->potential != NULL;
  double last = INFINITY, b[CB_STAGES_MAX * CB_SHAPE_MAX];
  for (int it = 0; it < ITERATIONS; it++) {
    double change = 0, scale = 0;
    cb_status status = evaluate_all(s, true, b);
    if (!status) status = factor(s);
    if (status) return status;
    ++*iterations;
    cb_dense_solve(all, s->J, s->pivot, b);
    for (int i = 0; i < stages; i++) {
      for (int a = 0; a < k; a++) {
        change = fmax(change, fabs(b[i * k + a]));
        s->at[i].v[s->index[a]] += b[i * k + a];
      }
      for (int q = 0; q < s->n; q++) scale = fmax(scale, fabs(s->at[i].v[q]));
    }
    if (!isfinite(change)) return cb_fail(CB_STEP_NOT_FINITE, "the step is not finite");
    const double round_off = DBL_EPSILON * scale, rate = change / last;
    /* a correction that is round-off gives only an upper bound of the rate */
    if (it == 1 && last > 0 && (change > 64 * round_off || rate < s->rate)) s->rate = rate;
    const bool exact = change <= 4 * round_off || (change >= last / 2 && change <= 1e-10 * scale),
               done = exact || (!moves_by_V && cb_shape_is_last(change, s->rate, scale));
    last = change;
    if (done && !exact) status = evaluate_all(s, false, b);
    if (!status && (done || moves_by_V)) status = follow_group(s);
    if (status || done) return status;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "Newton's method did not converge in %d iterations", ITERATIONS);
}

static cb_status finish(const step *s, cb_shape_state *state) {
  const cb_group *G = s->problem->bundle->group;
  const cb_tableau *T = s->tableau;
  cb_shape_state to;
  double omega[CB_GROUP_DIM] = {0}, moved[CB_GROUP_SIZE], u[CB_SHAPE_FORM];
  cb_shape_copy(s->problem, state, &to);
  for (int i = 0; i < T->s; i++) {
    const stage *at = &s->at[i];
    const double w = s->h * T->b[i];
    for (int c = 0; c < s->dim; c++) omega[c] += w * at->k[c];
    for (int q = 0; q < s->n; q++) {
      const cb_shape_variable *x = &s->problem->variable[q];
      double effort = at->force.torque[q];
      if (x->driven) {
        effort += cb_dot(s->n, at->M + q * s->n, at->v) - at->force.Q[q] - at->f[q];
        for (int c = 0; c < s->dim; c++) effort += at->A[c * s->n + q] * at->F[c];
      }
      to.work[CB_SHAPE_MOTOR][q] += w * effort * at->v[q];
      to.work[CB_SHAPE_DAMPING][q] += w * x->damping * at->v[q] * at->v[q];
    }
  }
  G->exp(G, omega, moved);
  cb_shape_multiply(G, moved, &to);
  for (int a = 0; a < s->unknowns; a++) {
    const int q = s->index[a];
    double move = 0;
    for (int i = 0; i < T->s; i++) move += s->h * T->b[i] * s->at[i].v[q];
    cb_compensated_add_one(&to.r[q], &to.r_low[q], move);
  }
  cb_compensated_add_one(&to.t, &to.t_low, s->h);
  cb_shape_drive(s->problem, to.t, false, to.r, NULL);
  /* sets the effort of the driven variables */
  const cb_status status = s->unknowns < s->n ? cb_shape_velocity(s->problem, &to, u) : CB_OK;
  if (!status) cb_shape_copy(s->problem, &to, state);
  return status;
}

cb_shape_collocation *cb_shape_collocation_create(void) {
  step *s = calloc(1, sizeof *s);
  if (s) cb_shape_collocation_forget(s);
  return s;
}

void cb_shape_collocation_free(cb_shape_collocation *work) { free(work); }

void cb_shape_collocation_forget(cb_shape_collocation *work) {
  work->history.count = 0;
  work->rate = 1;
}

/* Computes the first guess of the rates of the stages: from the last steps, or else from the rates at the node. */
static cb_status first_guess(step *s, cb_shape_state *state) {
  const int n = s->n, stages = s->tableau->s;
  if (cb_shape_history_serves(&s->history, s->h, state->t)) {
    double v[CB_SHAPE_HISTORY];
    cb_shape_guess(&s->history, stages * n, s->rate, v);
    for (int i = 0; i < stages; i++) memcpy(s->at[i].v, v + i * n, (size_t)n * sizeof *v);
    return CB_OK;
  }
  double u[CB_SHAPE_FORM];
  const cb_status status = cb_shape_velocity(s->problem, state, u);
  for (int i = 0; i < stages && !status; i++) memcpy(s->at[i].v, u + s->dim, (size_t)n * sizeof *u);
  return status;
}

static void remember(step *s, double t) {
  double v[CB_SHAPE_HISTORY];
  for (int i = 0; i < s->tableau->s; i++) memcpy(v + i * s->n, s->at[i].v, (size_t)s->n * sizeof *v);
  cb_shape_remember(&s->history, s->tableau->s * s->n, v, s->h, t);
  s->rate = cb_shape_next_rate(s->rate);
}

cb_status cb_shape_step_collocation(const cb_shape_problem *p, cb_shape_collocation *s, const cb_tableau *tableau,
                                    double h, cb_shape_state *state, int *iterations) {
  const double t = state->t;
  s->problem = p;
  s->tableau = tableau;
  s->start = state;
  s->h = h;
  s->n = p->bundle->n;
  s->dim = p->bundle->group->dim;
  s->unknowns = 0;
  for (int q = 0; q < s->n; q++)
    if (!p->variable[q].driven) s->index[s->unknowns++] = q;
  for (int i = 0; i < tableau->s; i++) {
    s->at[i].t = t + tableau->c[i] * h;
    memcpy(s->at[i].g, state->g, sizeof state->g);
    memset(s->at[i].omega, 0, sizeof s->at[i].omega);
  }
  *iterations = 0;
  cb_status status = first_guess(s, state);
  if (!status) status = solve(s, iterations);
  if (!status) status = finish(s, state);
  if (status)
    cb_shape_collocation_forget(s);
  else
    remember(s, t);
  return status;
}
