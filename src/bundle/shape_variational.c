/* One step of shape variables with inertia (shape_motion.h), from a discrete Lagrangian, of order 2.
 *
 *   m = (r_k + r_{k+1})/2,  v = (r_{k+1} - r_k)/h,  (mu, p) = G(m) (xi, v),  f = <d_r G(m) u, u>/2 + Q(t + h/2, m, v)
 *   (dexp^-1_{h xi})^T mu = mu_k + (h/2) F_k,  p = p_k + (h/2) (f - d_r V_k) + s,  g_{k+1} = g_k exp(h xi)
 *   mu_{k+1} = Ad*_{exp(h xi)} (mu_k + (h/2) F_k) + (h/2) F_{k+1},  p_{k+1} = p + (h/2) (f - d_r V_{k+1})
 * The unknowns are u = (xi, v) without the driven variables, whose v follows from their laws. F and d_r V are those of
 * the nodes. s is the impulse of dry friction, |s| <= h friction: a variable rests (v = 0) if such an impulse can hold
 * it, and otherwise s has the largest size and opposes v. A variable that rests at a limit stays there while the limit
 * pushes it. A bundle without a form has M and d_r M in place of G and d_r G,
 * and xi = -A(m) v.
 * The step is symmetric, symplectic without losses, and keeps the momentum of the group by construction, because
 * mu_{k+1} does not contain the solution of the equations but for exp(h xi).
 * Newton's method has the matrix of the first guess, without second derivatives of G.
 * Source: Bou-Rabee & Marsden, Found. Comput. Math. 9 (2009) 197, doi:10.1007/s10208-008-9030-4 (the group); Marsden &
 * West, Acta Numerica 10 (2001) 357, doi:10.1017/S096249290100006X (the shape).
 */
#include "bundle/shape_motion.h"
#include "numerics/dd.h"
#include "numerics/small.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAX = CB_SHAPE_FORM, ITERATIONS = 60, SWAPS = 40 };

/* RESTS: dry friction holds the variable; HELD: it rests at a limit, which pushes it. */
typedef enum motion { MOVES, DRIVEN, RESTS, HELD } motion;

/* The velocities u at the middles of up to three steps, the last one first. */
typedef struct history {
  int n;
  double t[3], u[3][N_MAX];
} history;

/* One step. The form is [N][N] with N = dim + n; dim is 0 for a bundle without a form. */
struct cb_shape_variational {
  history history;
  const cb_shape_problem *problem;
  const cb_group *group;
  int dim, n, N;
  double h, t, *r, mu[CB_GROUP_DIM], p[CB_SHAPE_MAX]; /* mu, p: with the forces and impulses of the node */
  double slide[CB_SHAPE_MAX];                         /* impulse of friction of a variable that slides */
  motion how[CB_SHAPE_MAX];
  int unknowns, index[N_MAX]; /* the component of u that each unknown is */
  /* at the present u: */
  double u[N_MAX], m[CB_SHAPE_MAX], G[N_MAX * N_MAX], dG[CB_SHAPE_MAX * N_MAX * N_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX];
  double momentum[N_MAX], dGu[CB_SHAPE_MAX][N_MAX], f[CB_SHAPE_MAX], residual[N_MAX];
  cb_shape_force force;
  double matrix[N_MAX * N_MAX];
  int pivot[N_MAX];
};
typedef cb_shape_variational step;

cb_shape_variational *cb_shape_variational_create(void) { return calloc(1, sizeof(cb_shape_variational)); }
void cb_shape_variational_free(cb_shape_variational *work) { free(work); }
void cb_shape_variational_forget(cb_shape_variational *work) { work->history.n = 0; }

/* Computes the form and its derivatives at the shape r: G[N][N] and dG[n][N][N]. */
static cb_status form_at(const cb_shape_problem *p, const double *r, double *G, double *dG, double *A) {
  const cb_bundle *b = p->bundle;
  const cb_status status = p->has_form ? b->class_->form(b, r, G, dG) : cb_bundle_evaluate(b, r, A, NULL, G, dG);
  return status ? cb_bundle_fail_at(b, r, status) : CB_OK;
}

static void times(int N, const double *G, const double *u, double *out) {
  for (int i = 0; i < N; i++) out[i] = cb_dot(N, G + i * N, u);
}

static cb_status evaluate(step *s, bool derivatives) {
  const int dim = s->dim, n = s->n, N = s->N;
  const double *v = s->u + dim;
  for (int i = 0; i < n; i++) s->m[i] = s->r[i] + s->h / 2 * v[i];
  const cb_status status = form_at(s->problem, s->m, s->G, s->dG, s->A);
  if (status) return status;
  times(N, s->G, s->u, s->momentum);
  cb_shape_force_at(s->problem, s->t + s->h / 2, s->m, v, derivatives, &s->force);
  const cb_status forced = cb_shape_check_force(s->problem, &s->force, NULL);
  if (forced) return forced;
  for (int i = 0; i < n; i++) {
    times(N, s->dG + i * N * N, s->u, s->dGu[i]);
    s->f[i] = cb_dot(N, s->dGu[i], s->u) / 2 + s->force.Q[i];
    s->residual[dim + i] = s->p[i] + s->slide[i] + s->h / 2 * s->f[i] - s->momentum[dim + i];
  }
  if (!dim) return CB_OK;
  double D[CB_GROUP_DIM * CB_GROUP_DIM], x[CB_GROUP_DIM];
  for (int a = 0; a < dim; a++) x[a] = s->h * s->u[a];
  const cb_status turned = cb_group_dexp_inverse(s->group, x, D);
  if (turned) return cb_fail(turned, "the body turns by a full turn or more in a step: expected a smaller step");
  for (int a = 0; a < dim; a++) {
    double sum = s->mu[a];
    for (int b = 0; b < dim; b++) sum -= D[b * dim + a] * s->momentum[b];
    s->residual[a] = sum;
  }
  return CB_OK;
}

/* Factors the derivative of minus the residual by the unknowns, without second derivatives of G. (dexp^-1_x)^T is taken
 * as 1 - ad*_x/2. */
static cb_status factor(step *s) {
  const int dim = s->dim, n = s->n, N = s->N, k = s->unknowns;
  const double h = s->h;
  double J[N_MAX][N_MAX], ad[CB_GROUP_DIM * CB_GROUP_DIM], x[CB_GROUP_DIM], e[CB_GROUP_DIM] = {0}, turned[CB_GROUP_DIM];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) J[i][j] = s->G[i * N + j] + (j < dim ? 0 : h / 2 * s->dGu[j - dim][i]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++) {
      J[dim + i][j] -= h / 2 * s->dGu[i][j];
      if (j >= dim) J[dim + i][j] -= h / 2 * (s->force.Q_v[i][j - dim] + h / 2 * s->force.Q_r[i][j - dim]);
    }
  if (dim) {
    for (int a = 0; a < dim; a++) x[a] = h / 2 * s->u[a];
    cb_group_ad(s->group, x, ad);
    double top[CB_GROUP_DIM][N_MAX];
    for (int a = 0; a < dim; a++)
      for (int j = 0; j < N; j++) {
        top[a][j] = J[a][j];
        for (int b = 0; b < dim; b++) top[a][j] -= ad[b * dim + a] * J[b][j];
      }
    for (int c = 0; c < dim; c++) {
      e[c] = h / 2;
      cb_group_ad_dual(s->group, e, s->momentum, turned);
      e[c] = 0;
      for (int a = 0; a < dim; a++) top[a][c] -= turned[a];
    }
    for (int a = 0; a < dim; a++) memcpy(J[a], top[a], (size_t)N * sizeof **J);
  }
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) s->matrix[i * k + j] = J[s->index[i]][s->index[j]];
  if (cb_dense_factor(k, s->matrix, s->pivot))
    return cb_fail(CB_STEP_SINGULAR,
                   "Newton's matrix of the shape is singular: expected a smaller step, or inertia of "
                   "every free variable");
  return CB_OK;
}

/* The unknowns of the step: xi, and the rates of the variables that move. */
static void choose_unknowns(step *s) {
  s->unknowns = 0;
  for (int i = 0; i < s->N; i++)
    if (i < s->dim || s->how[i - s->dim] == MOVES) s->index[s->unknowns++] = i;
}

/* Newton's method from the present u, until its correction is round-off or does not become smaller. */
static cb_status solve(step *s, int *iterations) {
  const int k = s->unknowns;
  double last = INFINITY;
  bool fresh = false;
  for (int it = 0; it < ITERATIONS; it++) {
    double b[N_MAX], change = 0, scale = 0;
    cb_status status = evaluate(s, !fresh);
    if (!status && !fresh) status = factor(s);
    if (status) return status;
    fresh = true;
    ++*iterations;
    for (int i = 0; i < k; i++) b[i] = s->residual[s->index[i]];
    cb_dense_solve(k, s->matrix, s->pivot, b);
    for (int i = 0; i < k; i++) {
      change = fmax(change, fabs(b[i]));
      scale = fmax(scale, fabs(s->u[s->index[i]] += b[i]));
    }
    for (int i = 0; i < s->N; i++) scale = fmax(scale, fabs(s->u[i]));
    if (!isfinite(change)) return cb_fail(CB_STEP_NOT_FINITE, "the step is not finite");
    if (change <= 4 * DBL_EPSILON * scale || (change >= last / 2 && change <= 1e-11 * scale)) return evaluate(s, false);
    if (change > last / 4) fresh = false; /* the matrix is no longer good enough */
    last = change;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "Newton's method did not converge in %d iterations", ITERATIONS);
}

/* Solves with dry friction: changes which variables rest until the impulse of each that rests is possible, and each that
 * slides moves against its impulse. */
static cb_status solve_with_friction(step *s, int *iterations) {
  for (int swap = 0; swap < SWAPS; swap++) {
    bool settled = true;
    choose_unknowns(s);
    const cb_status status = solve(s, iterations);
    if (status) return status;
    for (int i = 0; i < s->n; i++) {
      const double most = s->h * s->problem->variable[i].friction, v = s->u[s->dim + i];
      if (s->how[i] == HELD) {
        int side;
        cb_shape_gap(&s->problem->variable[i], s->r[i], &side);
        if (side * s->residual[s->dim + i] * s->h >= 0) continue;
        s->how[i] = MOVES;
        settled = false;
      }
      if (s->how[i] == DRIVEN || !(most > 0)) continue;
      if (s->how[i] == RESTS) { /* residual: the impulse that is missing without friction */
        if (fabs(s->residual[s->dim + i]) <= most * (1 + 1e-12)) continue;
        s->how[i] = MOVES;
        s->slide[i] = s->residual[s->dim + i] > 0 ? -most : most;
        settled = false;
      } else if (v == 0 || (v > 0) == (s->slide[i] > 0)) {
        s->how[i] = RESTS;
        s->slide[i] = s->u[s->dim + i] = 0;
        settled = false;
      }
    }
    if (settled) return CB_OK;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "dry friction of the shape variables found no state in %d changes", SWAPS);
}

/* The first guess of u: a polynomial through the last steps, or the velocity of the node. */
static cb_status first_guess(step *s, cb_shape_state *state) {
  const history *guess = &s->history;
  const int keep = guess->n;
  const double t = s->t + s->h / 2;
  if (!keep) {
    double u[N_MAX];
    const cb_status status = cb_shape_velocity(s->problem, state, u);
    if (status) return status;
    memcpy(s->u, u + s->group->dim - s->dim, (size_t)s->N * sizeof *u);
    return CB_OK;
  }
  memset(s->u, 0, (size_t)s->N * sizeof *s->u);
  for (int k = 0; k < keep; k++) {
    double w = 1;
    for (int l = 0; l < keep; l++)
      if (l != k) w *= (t - guess->t[l]) / (guess->t[k] - guess->t[l]);
    for (int i = 0; i < s->N; i++) s->u[i] += w * guess->u[k][i];
  }
  return CB_OK;
}

static void remember(step *s) {
  history *guess = &s->history;
  const double t = s->t + s->h / 2;
  int keep = guess->n < 2 ? guess->n : 2;
  for (int k = 0; k < keep; k++)
    if (fabs(guess->t[k] - t) < 0.1 * fabs(s->h)) keep = k;
  for (int k = keep; k > 0; k--) {
    guess->t[k] = guess->t[k - 1];
    memcpy(guess->u[k], guess->u[k - 1], sizeof guess->u[k]);
  }
  guess->t[0] = t;
  memcpy(guess->u[0], s->u, (size_t)s->N * sizeof *s->u);
  guess->n = keep + 1;
}

/* Finds the variables that are at a limit and do not leave it. Their rates have no predictor, so the velocity of the node
 * is computed. */
static cb_status find_limits(const cb_shape_problem *p, cb_shape_state *state, bool *at_limit) {
  bool any = false;
  for (int i = 0; i < p->bundle->n; i++) {
    int side;
    const double gap = p->variable[i].driven ? INFINITY : cb_shape_gap(&p->variable[i], state->r[i], &side);
    any |= at_limit[i] = fabs(gap) <= cb_shape_touch(state->r[i]);
  }
  if (!any) return CB_OK;
  double u[N_MAX], fastest = 0;
  const cb_status status = cb_shape_velocity(p, state, u);
  const double *v = u + p->bundle->group->dim;
  for (int i = 0; !status && i < p->bundle->n; i++) fastest = fmax(fastest, fabs(v[i]));
  for (int i = 0; !status && i < p->bundle->n; i++) at_limit[i] = at_limit[i] && fabs(v[i]) <= 1e-10 * (1 + fastest);
  return status;
}

/* Sets the driven rates, and whether friction or a limit holds or slows the others, from the first guess. */
static void begin(step *s, const double *next, const bool *at_limit) {
  const cb_shape_variable *k = s->problem->variable;
  for (int i = 0; i < s->n; i++) {
    double *v = &s->u[s->dim + i];
    const double most = s->h * k[i].friction;
    s->how[i] = k[i].driven ? DRIVEN : MOVES;
    s->slide[i] = 0;
    if (k[i].driven) {
      *v = (next[i] - s->r[i]) / s->h;
    } else if (at_limit[i]) {
      s->how[i] = HELD;
      *v = 0;
    } else if (most > 0 && fabs(*v) <= 1e-9) {
      s->how[i] = RESTS;
      *v = 0;
    } else if (most > 0) {
      s->slide[i] = *v > 0 ? -most : most;
    }
  }
}

static void add_works(const step *s, cb_shape_state *to) {
  const double *v = s->u + s->dim;
  for (int i = 0; i < s->n; i++) {
    const double move = s->h * v[i];
    to->work[CB_SHAPE_MOTOR][i] += (s->force.torque[i] + (s->how[i] == DRIVEN ? to->effort[i] : 0)) * move;
    to->work[CB_SHAPE_DAMPING][i] += s->problem->variable[i].damping * v[i] * move;
    to->work[CB_SHAPE_FRICTION][i] -= s->slide[i] * v[i];
  }
}

/* At a break of the gait the rates of the driven variables jump from v- to v+. Their momenta need the impulses J, whose
 * work is J (v- + v+)/2. */
static cb_status cross_break(const step *s, const bool *held, cb_shape_state *to) {
  const cb_shape_problem *p = s->problem;
  double r[CB_SHAPE_MAX], before[CB_SHAPE_MAX], after[CB_SHAPE_MAX], momentum[CB_SHAPE_MAX];
  memcpy(momentum, to->p, sizeof momentum);
  cb_shape_drive(p, to->t, s->h > 0, r, before);
  cb_shape_drive(p, to->t, s->h < 0, r, after);
  const cb_status status = cb_shape_hold(p, held, s->h < 0, to);
  for (int i = 0; i < s->n; i++) {
    if (s->how[i] != DRIVEN) continue;
    const double J = to->p[i] - momentum[i];
    to->impulse[i] += J;
    to->work[CB_SHAPE_MOTOR][i] += J * (before[i] + after[i]) / 2;
  }
  return status;
}

/* Moves the state by the step that was solved. */
static cb_status finish(const step *s, const double *next, cb_shape_state *state) {
  const cb_group *G = s->group;
  cb_shape_state to = *state;
  double x[CB_GROUP_DIM], y[CB_GROUP_SIZE], F[CB_GROUP_DIM], f[CB_SHAPE_MAX], later;
  for (int a = 0; a < G->dim; a++) {
    x[a] = s->dim ? s->h * s->u[a] : 0;
    for (int i = 0; !s->dim && i < s->n; i++) x[a] -= s->h * s->A[a * s->n + i] * s->u[i];
  }
  G->exp(G, x, y);
  cb_shape_multiply(G, y, &to);
  if (s->dim) cb_group_adjoint_dual(G, y, s->mu, to.mu);
  cb_compensated_add_one(&to.t, &to.t_low, s->h);
  for (int i = 0; i < s->n; i++) {
    if (s->how[i] == DRIVEN)
      to.r[i] = next[i], to.r_low[i] = 0;
    else
      cb_compensated_add_one(&to.r[i], &to.r_low[i], s->h * s->u[s->dim + i]);
  }
  cb_shape_potential(s->problem, to.g, to.r, F, f);
  for (int a = 0; a < s->dim; a++) to.mu[a] += s->h / 2 * F[a];
  for (int i = 0; i < s->n; i++) to.p[i] = s->momentum[s->dim + i] + s->h / 2 * (s->f[i] + f[i]);
  cb_status status = CB_OK;
  bool held[CB_SHAPE_MAX], any = false;
  for (int i = 0; i < s->n; i++) {
    held[i] = s->how[i] == HELD;
    any |= held[i] || s->how[i] == DRIVEN;
  }
  if (any) status = cb_shape_hold(s->problem, held, s->h > 0, &to);
  for (int i = 0; i < s->n; i++)
    if (s->how[i] == DRIVEN) to.effort[i] = (to.p[i] - s->p[i]) / s->h - s->f[i] - f[i] / 2;
  add_works(s, &to);
  if (!status && !isnan(cb_shape_break(s->problem, to.t, &later))) status = cross_break(s, held, &to);
  if (!status) *state = to;
  return status;
}

cb_status cb_shape_step_variational(const cb_shape_problem *p, cb_shape_variational *s, double h, cb_shape_state *state,
                                    int *iterations) {
  const int n = p->bundle->n;
  double F[CB_GROUP_DIM], f[CB_SHAPE_MAX], next[CB_SHAPE_MAX];
  bool at_limit[CB_SHAPE_MAX];
  s->problem = p;
  s->group = p->bundle->group;
  s->dim = p->has_form ? s->group->dim : 0;
  s->n = n;
  s->N = s->dim + n;
  s->h = h;
  s->t = state->t;
  s->r = state->r;
  *iterations = 0;
  cb_shape_potential(p, state->g, state->r, F, f);
  for (int a = 0; a < s->dim; a++) s->mu[a] = state->mu[a] + h / 2 * F[a];
  for (int i = 0; i < n; i++) s->p[i] = state->p[i] + h / 2 * f[i];
  cb_shape_drive(p, state->t + h, h > 0, next, NULL);
  cb_status status = find_limits(p, state, at_limit);
  if (!status) status = first_guess(s, state);
  if (status) return status;
  begin(s, next, at_limit);
  status = solve_with_friction(s, iterations);
  if (!status) status = finish(s, next, state);
  if (!status) remember(s);
  return status;
}
