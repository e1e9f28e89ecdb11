/* One step of shape variables with inertia (bundle/shape_motion.h), from a discrete Lagrangian, of order 2.
 *
 *   m = (r_k + r_{k+1})/2,  v = (r_{k+1} - r_k)/h,  (mu, p) = G(m) (xi, v),  f = <d_r G(m) u, u>/2 + Q(t + h/2, m, v)
 *   (dexp^-1_{h xi})^T mu = mu_k + (h/2) F_k,  p = p_k + (h/2) (f - d_r V_k) + s,  g_{k+1} = g_k exp(h xi)
 *   mu_{k+1} = Ad*_{exp(h xi)} (mu_k + (h/2) F_k) + (h/2) F_{k+1},  p_{k+1} = p + (h/2) (f - d_r V_{k+1})
 * The unknowns are u = (xi, v) without the driven variables, whose v follows from their laws. k and k+1: the nodes at
 * the start and at the end of the step; F and d_r V are those of the nodes. Q is the force of shape_motion.h without
 * -d_r V. s is the impulse of dry friction, |s| <= h friction: a variable rests (v = 0) if such an impulse can hold it,
 * and otherwise s has the largest size and opposes v. A variable that rests at a limit stays there while the limit
 * pushes it. A bundle without a form has M and d_r M in place of G and d_r G, and xi = -A(m) v.
 * The step is symmetric, and symplectic if nothing dissipates energy. Without V it keeps the momentum of the group
 * exactly, because mu_{k+1} depends on the solution of the equations only through exp(h xi).
 * The first guess of Newton's method is a polynomial through the velocities u of the last steps, of the degree that
 * would have been best for the last step. Newton's matrix contains an estimate of B_ij = <d_ij G u, u>/2 in place of
 * the second derivatives of G. Each residual corrects this symmetric matrix, so that it would have predicted the
 * residual (Powell's symmetric Broyden formula), and it is kept from step to step. The method stops as soon as the next
 * correction, as estimated from the rate of convergence, is round-off; then f is corrected to first order, and G is not
 * evaluated again. Source: Bou-Rabee & Marsden, Found. Comput. Math. 9 (2009) 197, doi:10.1007/s10208-008-9030-4 (the
 * group); Marsden & West, Acta Numerica 10 (2001) 357, doi:10.1017/S096249290100006X (the shape); Dennis & Moré, SIAM
 * Review 19 (1977) 46, doi:10.1137/1019005 (Powell's formula).
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

enum { N_MAX = CB_SHAPE_FORM, ITERATIONS = 60, SWAPS = 40 };

/* The functions below with the arguments `dim` and `n` are inlined twice. One version is for dim = 3 and n = 2, which
 * are plane bodies with two variables: loops of constant length are faster. The other version is for all other
 * bundles. */
#define INLINE static inline __attribute__((always_inline))

/* RESTS: dry friction holds the variable; HELD: it rests at a limit, which pushes it. */
typedef enum motion { MOVES, DRIVEN, RESTS, HELD } motion;

/* The data of one step. The form is [N][N] with N = dim + n; dim is 0 for a bundle without a form. */
struct cb_shape_variational {
  int substeps, at; /* substeps: number of steps of a composition, each with its own history; at: index of the next
                     * one */
  cb_shape_history history[CB_SHAPE_SUBSTEPS];
  double rate;                           /* ratio of the first two corrections, as last measured; 1: unknown */
  double B[CB_SHAPE_MAX * CB_SHAPE_MAX]; /* estimate of <d_ij G u, u>/2 */
  const cb_group *group;                 /* the group of the bundle; bracket[i][j] = [e_i, e_j] */
  double bracket[CB_GROUP_DIM * CB_GROUP_DIM * CB_GROUP_DIM];
  const cb_shape_problem *problem;
  int dim, n;
  double h, t, *r, mu[CB_GROUP_DIM], p[CB_SHAPE_MAX]; /* mu, p: momenta at the node, after half a step of its forces */
  double slide[CB_SHAPE_MAX];                         /* impulse of friction of a variable that slides */
  motion how[CB_SHAPE_MAX];
  /* values at the present u (symbols of the head comment); dG: d_r G; dGu: d_r G u; A: the connection */
  double u[N_MAX], m[CB_SHAPE_MAX], G[N_MAX * N_MAX], dG[CB_SHAPE_MAX * N_MAX * N_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX];
  double turn, ad[CB_GROUP_DIM * CB_GROUP_DIM]; /* ad: the matrix of ad_{h xi}; turn: the sum of its squares */
  double momentum[N_MAX], dGu[CB_SHAPE_MAX * N_MAX], f[CB_SHAPE_MAX], residual[N_MAX];
  cb_shape_force force;
  double matrix[N_MAX * N_MAX], change[N_MAX]; /* matrix: the LU factors of Newton's matrix; change: the last correction
                                                * of u */
  int pivot[N_MAX];
};
typedef cb_shape_variational step;

cb_shape_variational *cb_shape_variational_create(int substeps) {
  step *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->substeps = substeps;
  cb_shape_variational_forget(s);
  return s;
}

void cb_shape_variational_free(cb_shape_variational *work) { free(work); }

void cb_shape_variational_forget(cb_shape_variational *work) {
  work->at = 0;
  work->rate = 1;
  memset(work->B, 0, sizeof work->B);
  for (int k = 0; k < work->substeps; k++) work->history[k].count = 0;
}

/* Computes the form G[N][N] and its derivatives dG[n][N][N] at the shape r. For a bundle without a form, computes the
 * metric in place of the form, and the connection A. */
static cb_status form_at(const cb_shape_problem *p, const double *r, double *G, double *dG, double *A) {
  const cb_bundle *b = p->bundle;
  const cb_status status = p->has_form ? b->class_->form(b, r, G, dG) : cb_bundle_evaluate(b, r, A, NULL, G, dG);
  return status ? cb_bundle_fail_at(b, r, status) : CB_OK;
}

/* Sets the group and, if it has changed, its brackets. */
static void set_group(step *s, const cb_group *G) {
  if (s->group == G) return;
  s->group = G;
  for (int i = 0; i < G->dim; i++)
    for (int j = 0; j < G->dim; j++) {
      double unit[2][CB_GROUP_DIM] = {{0}};
      unit[0][i] = unit[1][j] = 1;
      G->bracket(G, unit[0], unit[1], s->bracket + (i * G->dim + j) * G->dim);
    }
}

/* Computes out = G^T u. */
INLINE void times(int N, const double *G, const double *u, double *out) {
  double sum[N_MAX];
  for (int i = 0; i < N; i++) sum[i] = G[i] * u[0];
  for (int j = 1; j < N; j++)
    for (int i = 0; i < N; i++) sum[i] += G[j * N + i] * u[j];
  for (int i = 0; i < N; i++) out[i] = sum[i];
}

/* Computes out[c][a] = <m, [e_c, e_a]>, so that times(out, x) is ad*_x m. */
INLINE void brackets_of(const step *s, int dim, const double *m, double *out) {
  for (int c = 0; c < dim; c++) {
    out[c * dim + c] = 0;
    for (int a = 0; a < c; a++) {
      double sum = 0;
      for (int k = 0; k < dim; k++) sum += s->bracket[(c * dim + a) * dim + k] * m[k];
      out[c * dim + a] = sum;
      out[a * dim + c] = -sum;
    }
  }
}

/* Computes s->ad and out = (dexp^-1_{h xi})^T m. If h xi is small, the series sum_k B_k (ad*)^k m/k! with Bernoulli's
 * numbers B_k is used, up to terms that are round-off. */
INLINE cb_status turn_back(step *s, int dim, const double *m, double *out) {
  double once[CB_GROUP_DIM], term[CB_GROUP_DIM], square = 0, x[CB_GROUP_DIM] = {0};
  for (int a = 0; a < dim; a++) x[a] = s->h * s->u[a];
  for (int j = 0; j < dim; j++)
    for (int k = 0; k < dim; k++) {
      double sum = 0;
      for (int i = 0; i < dim; i++) sum += x[i] * s->bracket[(i * dim + j) * dim + k];
      s->ad[k * dim + j] = sum;
      square += sum * sum;
    }
  s->turn = square;
  if (!(square < .04)) { /* below .04 the series omits terms of at most (.2/2 pi)^12 = 1e-18 */
    double D[CB_GROUP_DIM * CB_GROUP_DIM];
    const cb_status status = cb_group_dexp_inverse(s->group, x, D);
    if (status) return cb_fail(status, "the body turns by a full turn or more in a step: expected a smaller step");
    times(dim, D, m, out);
    return CB_OK;
  }
  times(dim, s->ad, m, once);
  for (int a = 0; a < dim; a++) out[a] = m[a] - once[a] / 2;
  double size = square / 36; /* bound of a term, and of the ratio of two consecutive terms */
  for (int k = 0; k < CB_LIE_TERMS - 1 && size > 1e-17; k++, size *= square / 36) {
    if (k) times(dim, s->ad, term, once);
    times(dim, s->ad, once, term);
    for (int a = 0; a < dim; a++) out[a] += cb_lie_even[k] * term[a];
  }
  return CB_OK;
}

INLINE cb_status evaluate_for(step *s, int dim, int n, bool derivatives) {
  const int N = dim + n;
  const double *v = s->u + dim;
  for (int i = 0; i < n; i++) s->m[i] = s->r[i] + s->h / 2 * v[i];
  const cb_status status = form_at(s->problem, s->m, s->G, s->dG, s->A);
  if (status) return status;
  times(N, s->G, s->u, s->momentum);
  cb_shape_force_at(s->problem, s->t + s->h / 2, s->m, v, derivatives, &s->force);
  const cb_status forced = cb_shape_check_force(s->problem, &s->force, NULL);
  if (forced) return forced;
  for (int i = 0; i < n; i++) {
    times(N, s->dG + i * N * N, s->u, s->dGu + i * N);
    s->f[i] = cb_dot(N, s->dGu + i * N, s->u) / 2 + s->force.Q[i];
    s->residual[dim + i] = s->p[i] + s->slide[i] + s->h / 2 * s->f[i] - s->momentum[dim + i];
  }
  if (!dim) return CB_OK;
  double turned[CB_GROUP_DIM];
  const cb_status failed = turn_back(s, dim, s->momentum, turned);
  for (int a = 0; a < dim && !failed; a++) s->residual[a] = s->mu[a] - turned[a];
  return failed;
}

static cb_status evaluate(step *s, bool derivatives) { return evaluate_for(s, s->dim, s->n, derivatives); }

/* Multiplies Newton's equation of xi by the transpose of dexp_x, x = h xi. The rows of J contain the derivative of the
 * momentum, which stays as it is. The derivative of (dexp_x)^T mu, with the momentum mu of the node, is subtracted from
 * these rows. `right` is the residual, which becomes (dexp_x)^T right. Both use 1 + ad*_x/2 + (ad*_x)^2/6, or only the
 * first power if x is small. */
INLINE void turn_equation(const step *s, int dim, int N, double *J, double *right) {
  double of_mu[CB_GROUP_DIM * CB_GROUP_DIM], once[CB_GROUP_DIM], twice[CB_GROUP_DIM];
  brackets_of(s, dim, s->mu, of_mu);
  times(dim, s->ad, right, once);
  for (int a = 0; a < dim; a++)
    for (int c = 0; c < dim; c++) J[a * N + c] -= s->h / 2 * of_mu[c * dim + a];
  if (s->turn >= 1e-4) {
    double w[CB_GROUP_DIM], of_w[CB_GROUP_DIM * CB_GROUP_DIM];
    times(dim, s->ad, s->mu, w);
    brackets_of(s, dim, w, of_w);
    for (int c = 0; c < dim; c++) {
      double turned[CB_GROUP_DIM];
      times(dim, s->ad, of_mu + c * dim, turned);
      for (int a = 0; a < dim; a++) J[a * N + c] -= s->h / 6 * (of_w[c * dim + a] + turned[a]);
    }
    times(dim, s->ad, once, twice);
    for (int a = 0; a < dim; a++) right[a] += twice[a] / 6;
  }
  for (int a = 0; a < dim; a++) right[a] += once[a] / 2;
}

/* Computes the correction of u from the derivative of minus the residual by u. The rows of variables that do not move
 * are those of the unit matrix. */
INLINE cb_status correct(step *s, int dim, int n) {
  const int N = dim + n;
  const double h = s->h;
  double *J = s->matrix;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < dim; j++) J[i * N + j] = s->G[i * N + j];
    for (int j = 0; j < n; j++) J[i * N + dim + j] = s->G[i * N + dim + j] + h / 2 * s->dGu[j * N + i];
  }
  for (int i = 0; i < n; i++) {
    double *row = J + (dim + i) * N;
    for (int j = 0; j < N; j++) row[j] -= h / 2 * s->dGu[i * N + j];
    for (int j = 0; j < n; j++)
      row[dim + j] -= h / 2 * (s->force.Q_v[i][j] + h / 2 * (s->force.Q_r[i][j] + s->B[i * n + j]));
    s->change[dim + i] = s->residual[dim + i];
    if (s->how[i] == MOVES) continue;
    s->change[dim + i] = 0;
    for (int j = 0; j < N; j++) row[j] = j == dim + i;
  }
  for (int a = 0; a < dim; a++) s->change[a] = s->residual[a];
  if (dim && !s->group->abelian) turn_equation(s, dim, N, J, s->change);
  if (cb_lu_factor(N, J, s->pivot))
    return cb_fail(CB_STEP_SINGULAR,
                   "Newton's matrix of the shape is singular: expected a smaller step, or inertia of "
                   "every free variable");
  cb_lu_solve(N, J, s->pivot, s->change);
  return CB_OK;
}

/* Corrects B so that Newton's matrix at the last u would have predicted the present residual: with the last correction
 * d of the rates, h^2/4 (B' - B) d = residual. */
INLINE void learn(step *s, int dim, int n) {
  double y[CB_SHAPE_MAX], square = 0, product = 0;
  const double *d = s->change + dim;
  for (int i = 0; i < n; i++) {
    y[i] = s->how[i] == MOVES ? 4 / (s->h * s->h) * s->residual[dim + i] : 0;
    square += d[i] * d[i];
    product += d[i] * y[i];
  }
  if (!(square > 0)) return;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      s->B[i * n + j] += (y[i] * d[j] + d[i] * y[j] - product / square * d[i] * d[j]) / square;
}

/* Adds to f, and to the torques force.torque of the variables that have one, the changes that the last correction of u
 * causes, to first order. */
INLINE void correct_forces(step *s, int dim, int n) {
  const double *d = s->change + dim, h = s->h;
  for (int i = 0; i < n; i++) {
    double dQ = 0, bent = 0;
    for (int j = 0; j < n; j++) {
      dQ += (s->force.Q_v[i][j] + h / 2 * s->force.Q_r[i][j]) * d[j];
      bent += h / 2 * s->B[i * n + j] * d[j];
    }
    s->f[i] += cb_dot(dim + n, s->dGu + i * (dim + n), s->change) + bent + dQ;
    const cb_shape_variable *k = &s->problem->variable[i];
    if (k->torque) s->force.torque[i] += dQ + (k->damping + h / 2 * k->stiffness) * d[i];
  }
}

/* Ends Newton's method. If a variable rests or is held, evaluates the residual at the solution, because the residual is
 * the impulse that holds the variable. Otherwise corrects the forces to first order and, for a bundle without a form,
 * evaluates its connection. */
INLINE cb_status settle(step *s, int dim, int n) {
  for (int i = 0; i < n; i++)
    if (s->how[i] == RESTS || s->how[i] == HELD) return evaluate(s, false);
  correct_forces(s, dim, n);
  if (dim) return CB_OK;
  const cb_bundle *bundle = s->problem->bundle;
  for (int i = 0; i < n; i++) s->m[i] = s->r[i] + s->h / 2 * s->u[i];
  const cb_status status = cb_bundle_evaluate(bundle, s->m, s->A, NULL, NULL, NULL);
  return status ? cb_bundle_fail_at(bundle, s->m, status) : CB_OK;
}

/* Iterates Newton's method from the present u until the next correction is round-off, or until corrections do not
 * decrease. */
INLINE cb_status solve(step *s, int dim, int n, int *iterations) {
  const int N = dim + n;
  double last = INFINITY;
  for (int it = 0; it < ITERATIONS; it++) {
    double change = 0, scale = 0;
    cb_status status = evaluate_for(s, dim, n, true);
    if (status) return status;
    for (int i = 0; i < N; i++) scale = fabs(s->u[i]) > scale ? fabs(s->u[i]) : scale;
    if (it && last > 1e-8 * scale) learn(s, dim, n);
    status = correct(s, dim, n);
    if (status) return status;
    ++*iterations;
    for (int i = 0; i < N; i++) {
      change = fabs(s->change[i]) > change ? fabs(s->change[i]) : change;
      s->u[i] += s->change[i];
      if (!isfinite(s->u[i])) return cb_fail(CB_STEP_NOT_FINITE, "the step is not finite");
    }
    const double round_off = DBL_EPSILON * scale, rate = change / last;
    /* a correction that is round-off gives only an upper bound of the rate */
    if (it == 1 && last > 0 && (change > 64 * round_off || rate < s->rate)) s->rate = rate;
    if (change <= 4 * round_off || cb_shape_is_last(change, s->rate, scale) ||
        (change >= last / 2 && change <= 1e-11 * scale))
      return settle(s, dim, n);
    last = change;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "Newton's method did not converge in %d iterations", ITERATIONS);
}

/* Solves with dry friction. The set of variables that rest is changed until two conditions hold: the impulse that holds
 * a variable at rest is at most h friction, and a variable that slides moves against its impulse. */
INLINE cb_status solve_with_friction(step *s, int dim, int n, int *iterations) {
  for (int swap = 0; swap < SWAPS; swap++) {
    bool settled = true;
    const cb_status status = solve(s, dim, n, iterations);
    if (status) return status;
    for (int i = 0; i < n; i++) {
      const double most = s->h * s->problem->variable[i].friction, v = s->u[dim + i];
      if (s->how[i] == HELD) {
        int side;
        cb_shape_gap(&s->problem->variable[i], s->r[i], &side);
        if (side * s->residual[dim + i] * s->h >= 0) continue;
        s->how[i] = MOVES;
        settled = false;
      }
      if (s->how[i] == DRIVEN || !(most > 0)) continue;
      if (s->how[i] == RESTS) { /* residual: the impulse that is missing without friction */
        if (fabs(s->residual[dim + i]) <= most * (1 + 1e-12)) continue;
        s->how[i] = MOVES;
        s->slide[i] = s->residual[dim + i] > 0 ? -most : most;
        settled = false;
      } else if (v == 0 || (v > 0) == (s->slide[i] > 0)) {
        s->how[i] = RESTS;
        s->slide[i] = s->u[dim + i] = 0;
        settled = false;
      }
    }
    if (settled) return CB_OK;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "no combination of sticking and sliding shape variables satisfies dry friction, after %d trials: use "
                 "a smaller `step`",
                 SWAPS);
}

/* Computes the first guess of u: from the polynomial through the last steps, or else the velocity at the node. */
INLINE cb_status first_guess(step *s, int N, cb_shape_state *state) {
  cb_shape_history *past = &s->history[s->at];
  if (cb_shape_history_serves(past, s->h, s->t)) {
    cb_shape_guess(past, N, s->rate, s->u);
    return CB_OK;
  }
  double u[N_MAX];
  const cb_status status = cb_shape_velocity(s->problem, state, u);
  if (status) return status;
  memcpy(s->u, u + s->group->dim - s->dim, (size_t)N * sizeof *u);
  return CB_OK;
}

INLINE void remember(step *s, int N) {
  cb_shape_remember(&s->history[s->at], N, s->u, s->h, s->t);
  s->rate = cb_shape_next_rate(s->rate);
  s->at = s->at + 1 < s->substeps ? s->at + 1 : 0;
}

/* Finds the variables that are at a limit and do not leave it. This needs their rates at the node, which are computed
 * from the momenta. */
INLINE cb_status find_limits(const cb_shape_problem *p, int n, cb_shape_state *state, bool *at_limit) {
  bool any = false;
  for (int i = 0; i < n; i++) {
    int side;
    const cb_shape_variable *v = &p->variable[i];
    const bool limited = !v->driven && (v->lowest > -INFINITY || v->highest < INFINITY);
    at_limit[i] = limited && fabs(cb_shape_gap(v, state->r[i], &side)) <= cb_shape_touch(state->r[i]);
    any |= at_limit[i];
  }
  if (!any) return CB_OK;
  double u[N_MAX], fastest = 0;
  const cb_status status = cb_shape_velocity(p, state, u);
  const double *v = u + p->bundle->group->dim;
  for (int i = 0; !status && i < n; i++) fastest = fmax(fastest, fabs(v[i]));
  for (int i = 0; !status && i < n; i++) at_limit[i] = at_limit[i] && fabs(v[i]) <= 1e-10 * (1 + fastest);
  return status;
}

/* Sets the rates of driven variables. Finds from the first guess which other variables are held by friction or by a
 * limit, and sets the impulse of friction of those that slide. */
INLINE void begin(step *s, int dim, int n, const double *next, const bool *at_limit) {
  const cb_shape_variable *k = s->problem->variable;
  for (int i = 0; i < n; i++) {
    double *v = &s->u[dim + i];
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

INLINE void add_works(const step *s, int dim, int n, cb_shape_state *to) {
  const double *v = s->u + dim;
  for (int i = 0; i < n; i++) {
    const double move = s->h * v[i];
    to->work[CB_SHAPE_MOTOR][i] += (s->force.torque[i] + (s->how[i] == DRIVEN ? to->effort[i] : 0)) * move;
    to->work[CB_SHAPE_DAMPING][i] += s->problem->variable[i].damping * v[i] * move;
    to->work[CB_SHAPE_FRICTION][i] -= s->slide[i] * v[i];
  }
}

/* At a break of the gait the rates of the driven variables jump from v- to v+. The impulses J that change their momenta
 * do the work J (v- + v+)/2. */
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

/* Computes the forces F[dim] and f[n] = -d_r V of the potential at a node. */
INLINE void forces_of_potential(const cb_shape_problem *p, int dim, int n, const cb_shape_state *at, double *F,
                                double *f) {
  for (int a = 0; a < dim; a++) F[a] = 0;
  for (int i = 0; i < n; i++) f[i] = 0;
  if (p->potential) cb_shape_potential(p, at->g, at->r, F, f);
}

/* Moves the state by the step that was solved. */
INLINE cb_status finish(const step *s, int dim, int n, const double *next, cb_shape_state *state) {
  const cb_group *G = s->group;
  double x[CB_GROUP_DIM], y[CB_GROUP_SIZE], Ad[CB_GROUP_DIM * CB_GROUP_DIM], F[CB_GROUP_DIM], f[CB_SHAPE_MAX], later;
  cb_shape_state before;
  bool held[CB_SHAPE_MAX], any = false;
  for (int i = 0; i < n; i++) {
    held[i] = s->how[i] == HELD;
    any |= held[i] || s->how[i] == DRIVEN;
  }
  if (any) cb_shape_copy(s->problem, state, &before);
  for (int a = 0; a < G->dim; a++) {
    x[a] = dim ? s->h * s->u[a] : 0;
    for (int i = 0; !dim && i < n; i++) x[a] -= s->h * s->A[a * n + i] * s->u[i];
  }
  G->exp(G, x, y);
  cb_shape_multiply(G, y, state);
  if (dim) {
    G->adjoint(G, y, Ad);
    times(dim, Ad, s->mu, state->mu);
  }
  cb_compensated_add_one(&state->t, &state->t_low, s->h);
  for (int i = 0; i < n; i++) {
    if (s->how[i] != DRIVEN) {
      cb_compensated_add_one(&state->r[i], &state->r_low[i], s->h * s->u[dim + i]);
      continue;
    }
    state->r[i] = next[i];
    state->r_low[i] = 0;
  }
  forces_of_potential(s->problem, dim, n, state, F, f);
  for (int a = 0; a < dim; a++) state->mu[a] += s->h / 2 * F[a];
  for (int i = 0; i < n; i++) {
    /* for a variable that moves, the momentum in the middle of the step is p + s + (h/2) f */
    const double middle = s->how[i] == MOVES ? s->p[i] + s->slide[i] + s->h / 2 * s->f[i] : s->momentum[dim + i];
    state->p[i] = middle + s->h / 2 * (s->f[i] + f[i]);
  }
  cb_status status = any ? cb_shape_hold(s->problem, held, s->h > 0, state) : CB_OK;
  for (int i = 0; i < n; i++)
    if (s->how[i] == DRIVEN) state->effort[i] = (state->p[i] - s->p[i]) / s->h - s->f[i] - f[i] / 2;
  add_works(s, dim, n, state);
  if (!status && any && !isnan(cb_shape_break(s->problem, state->t, &later))) status = cross_break(s, held, state);
  if (status && any) cb_shape_copy(s->problem, &before, state);
  return status;
}

INLINE cb_status make_step(step *s, int dim, int n, cb_shape_state *state, int *iterations) {
  const cb_shape_problem *p = s->problem;
  double F[CB_GROUP_DIM], f[CB_SHAPE_MAX], next[CB_SHAPE_MAX];
  bool at_limit[CB_SHAPE_MAX];
  forces_of_potential(p, dim, n, state, F, f);
  for (int a = 0; a < dim; a++) s->mu[a] = state->mu[a] + s->h / 2 * F[a];
  for (int i = 0; i < n; i++) s->p[i] = state->p[i] + s->h / 2 * f[i];
  cb_shape_drive(p, state->t + s->h, s->h > 0, next, NULL);
  cb_status status = find_limits(p, n, state, at_limit);
  if (!status) status = first_guess(s, dim + n, state);
  if (status) return status;
  begin(s, dim, n, next, at_limit);
  status = solve_with_friction(s, dim, n, iterations);
  return status ? status : finish(s, dim, n, next, state);
}

/* Makes a step and adds its solution to the history. */
INLINE cb_status advance(step *s, int dim, int n, cb_shape_state *state, int *iterations) {
  const cb_status status = make_step(s, dim, n, state, iterations);
  if (status)
    cb_shape_variational_forget(s);
  else
    remember(s, dim + n);
  return status;
}

cb_status cb_shape_step_variational(const cb_shape_problem *p, cb_shape_variational *s, double h, cb_shape_state *state,
                                    int *iterations) {
  s->problem = p;
  set_group(s, p->bundle->group);
  s->n = p->bundle->n;
  s->dim = p->has_form ? s->group->dim : 0;
  s->h = h;
  s->t = state->t;
  s->r = state->r;
  *iterations = 0;
  return s->dim == 3 && s->n == 2 ? advance(s, 3, 2, state, iterations) : advance(s, s->dim, s->n, state, iterations);
}
