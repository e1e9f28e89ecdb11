/* The cycle map of shape variables, Newton's method for its fixed point, and Floquet multipliers (shape_cycle.h). */
#include "run/shape_cycle.h"
#include "numerics/small.h"

#include <float.h>
#include <gsl/gsl_eigen.h>
#include <math.h>
#include <string.h>

enum { Y_MAX = CB_SHAPE_MULTIPLIERS, ITERATIONS = 30, HALVINGS = 10, ROUNDS = 5, CYCLES = 20 };

typedef struct search {
  const cb_shape_problem *problem;
  cb_integrator *integrator;
  cb_shape_state base; /* time, momentum and driven variables of the start */
  double rate[CB_SHAPE_MAX], period;
  int steps, free, index[CB_SHAPE_MAX]; /* index: the free variables */
  int k;                                /* components of y */
  bool known;                           /* J has been computed, at a y near the present one */
  double J[Y_MAX * Y_MAX];              /* [k][k]: the derivative dP/dy of the cycle map */
} search;

/* The extreme values in a cycle, for each shape variable: the largest |effort|, and the range of the variable. */
typedef struct path {
  double effort[CB_SHAPE_MAX], lowest[CB_SHAPE_MAX], highest[CB_SHAPE_MAX];
} path;

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static cb_status begin(search *s, const double *y, cb_shape_state *state) {
  *state = s->base;
  double rate[CB_SHAPE_MAX];
  memcpy(rate, s->rate, sizeof rate);
  for (int i = 0; i < s->free; i++) {
    state->r[s->index[i]] = y[i];
    if (!s->problem->drag) rate[s->index[i]] = y[s->free + i];
  }
  cb_integrator_reset(s->integrator);
  return s->problem->drag ? CB_OK : cb_shape_start(s->problem, rate, state);
}

/* Computes y from a state. */
static cb_status take(const search *s, cb_shape_state *state, double *y) {
  double u[CB_SHAPE_FORM];
  const cb_status status = s->problem->drag ? CB_OK : cb_shape_velocity(s->problem, state, u);
  for (int i = 0; i < s->free && !status; i++) {
    y[i] = state->r[s->index[i]];
    if (!s->problem->drag) y[s->free + i] = u[s->problem->bundle->group->dim + s->index[i]];
  }
  return status;
}

static void look(const search *s, const cb_shape_state *state, path *to) {
  for (int i = 0; i < s->problem->bundle->n; i++) {
    to->effort[i] = fmax(to->effort[i], fabs(state->effort[i]));
    to->lowest[i] = fmin(to->lowest[i], state->r[i]);
    to->highest[i] = fmax(to->highest[i], state->r[i]);
  }
}

/* Moves a state by one period, and stores the extreme values of this motion in *to, which may be NULL. */
static cb_status move(search *s, cb_shape_state *state, path *to) {
  const double h = s->period / s->steps;
  cb_status status = CB_OK;
  for (int n = 0; n < s->steps && !status; n++)
    for (double done = 0; h - done > 1e-12 * h && !status;) {
      const double part = cb_shape_to_break(s->problem, state->t, h - done);
      status = cb_integrator_step(s->integrator, state, part);
      done += part;
      if (to && !status) look(s, state, to);
    }
  return status;
}

/* Computes F = P(y) - y. */
static cb_status residual(search *s, const double *y, double *F) {
  cb_shape_state state;
  cb_status status = begin(s, y, &state);
  if (!status) status = move(s, &state, NULL);
  if (!status) status = take(s, &state, F);
  for (int i = 0; i < s->k && !status; i++) {
    F[i] -= y[i];
    if (!isfinite(F[i])) status = cb_fail(CB_STEP_NOT_FINITE, "the motion over a period is not finite");
  }
  return status;
}

/* Computes dP/dy by central differences of order 4; their error is about 1e-12. */
static cb_status derivative(search *s, const double *y) {
  static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12}, place[4] = {-2, -1, 1, 2};
  double at[Y_MAX], F[Y_MAX];
  memset(s->J, 0, sizeof s->J);
  for (int j = 0; j < s->k; j++) {
    const double h = 1e-3 * (1 + fabs(y[j]));
    for (int q = 0; q < 4; q++) {
      memcpy(at, y, sizeof at);
      at[j] += place[q] * h;
      const cb_status status = residual(s, at, F);
      if (status) return status;
      for (int i = 0; i < s->k; i++) s->J[i * s->k + j] += weight[q] * (F[i] + (i == j ? place[q] * h : 0)) / h;
    }
  }
  return CB_OK;
}

/* Computes Newton's step d from (dP/dy - 1) d = -F. */
static cb_status newton_step(const search *s, const double *F, double *d) {
  double a[Y_MAX * Y_MAX];
  int pivot[Y_MAX];
  for (int i = 0; i < s->k; i++) {
    d[i] = -F[i];
    for (int j = 0; j < s->k; j++) a[i * s->k + j] = s->J[i * s->k + j] - (i == j);
  }
  if (cb_dense_factor(s->k, a, pivot))
    return cb_fail(CB_STEP_SINGULAR, "a Floquet multiplier is 1: the periodic motion is not isolated");
  cb_dense_solve(s->k, a, pivot, d);
  return CB_OK;
}

/* Moves y by the step d, or by the first fraction of d that reduces F. Returns false if no fraction reduces F. */
static bool descend(search *s, const double *d, int halvings, double *y, double *F) {
  const double before = largest(s->k, F);
  double share = 1, at[Y_MAX], there[Y_MAX];
  for (int halving = 0; halving <= halvings; halving++, share /= 2) {
    for (int i = 0; i < s->k; i++) at[i] = y[i] + share * d[i];
    if (residual(s, at, there) || !(largest(s->k, there) <= (1 - share / 4) * before)) continue;
    memcpy(y, at, sizeof at);
    memcpy(F, there, sizeof there);
    return true;
  }
  return false;
}

/* Iterates Newton's method from y until F is round-off or does not decrease. dP/dy is computed again only after a step
 * that does not reduce F to a tenth. The first step uses dP/dy of the first guess, if it is known. */
static cb_status newton(search *s, double *y, double *F) {
  cb_status status = residual(s, y, F);
  for (int it = 0; it < ITERATIONS && !status; it++) {
    const double before = largest(s->k, F), scale = 1 + largest(s->k, y);
    const bool old = s->known;
    double d[Y_MAX];
    if (before <= 4 * DBL_EPSILON * scale) return CB_OK;
    if (!old) status = derivative(s, y);
    if (!status) status = newton_step(s, F, d);
    if (status) return status;
    const bool better = descend(s, d, old ? 0 : HALVINGS, y, F);
    if (!better && before <= 1e-11 * scale) return CB_OK;
    if (!better && !old)
      return cb_fail(CB_STEP_NO_CONVERGENCE, "Newton's method of the cycle map stops at the residual %.2g", before);
    s->known = better && largest(s->k, F) <= .1 * before;
  }
  return status ? status : cb_fail(CB_STEP_NO_CONVERGENCE, "Newton's method of the cycle map did not converge");
}

/* Follows the motion from y for this number of cycles, and sets y to the state that is reached. */
static cb_status run_cycles(search *s, int cycles, double *y) {
  cb_shape_state state;
  cb_status status = begin(s, y, &state);
  for (int n = 0; n < cycles && !status; n++) {
    status = move(s, &state, NULL);
    state.t = s->base.t; /* laws are periodic, so the time can be reset, which avoids its round-off */
    state.t_low = s->base.t_low;
  }
  return status ? status : take(s, &state, y);
}

static cb_status shoot(search *s, double *y, double *F) {
  double from[Y_MAX] = {0};
  memcpy(from, y, sizeof from);
  cb_status status = newton(s, y, F);
  for (int round = 0; round < ROUNDS && status > 0; round++) {
    status = run_cycles(s, CYCLES << round, from);
    if (status) return status;
    memcpy(y, from, sizeof from);
    s->known = false;
    status = newton(s, y, F);
  }
  return status;
}

/* Computes the eigenvalues of dP/dy, sorts them by decreasing absolute value, and finds whether the motion is
 * stable. */
static cb_status find_multipliers(search *s, cb_shape_cycle *out) {
  const size_t k = (size_t)s->k;
  out->stable = true;
  if (!k) return CB_OK;
  gsl_eigen_nonsymm_workspace *work = gsl_eigen_nonsymm_alloc(k);
  gsl_vector_complex *value = gsl_vector_complex_alloc(k);
  gsl_matrix_view J = gsl_matrix_view_array(s->J, k, k);
  cb_status status = work && value ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for multipliers");
  if (!status && gsl_eigen_nonsymm(&J.matrix, value, work))
    status = cb_fail(CB_STEP_NO_CONVERGENCE, "the eigenvalues of the cycle map did not converge");
  for (size_t n = 0; n < k && !status; n++) {
    const gsl_complex z = gsl_vector_complex_get(value, n);
    const double size = hypot(GSL_REAL(z), GSL_IMAG(z));
    size_t at = n;
    for (; at > 0 && hypot(out->real[at - 1], out->imaginary[at - 1]) < size * (1 - 1e-12); at--) {
      out->real[at] = out->real[at - 1];
      out->imaginary[at] = out->imaginary[at - 1];
    }
    out->real[at] = GSL_REAL(z);
    out->imaginary[at] = GSL_IMAG(z);
    out->stable = out->stable && size < 1;
    if (hypot(GSL_REAL(z) - 1, GSL_IMAG(z)) < 1e-8)
      status = cb_fail(CB_STEP_SINGULAR, "a Floquet multiplier is 1: the periodic motion is not isolated");
  }
  out->multipliers = s->k;
  if (work) gsl_eigen_nonsymm_free(work);
  if (value) gsl_vector_complex_free(value);
  return status;
}

/* Fails if a variable passes one of its limits in the cycle, or if the momentum of the group changes in a period. */
static cb_status check(const search *s, const path *along, const cb_shape_state *start, const cb_shape_state *end,
                       int *limited) {
  const cb_bundle *b = s->problem->bundle;
  double change = 0;
  for (int i = 0; i < s->free; i++) {
    const int q = s->index[i];
    const cb_shape_variable *v = &s->problem->variable[q];
    if (along->lowest[q] >= v->lowest && along->highest[q] <= v->highest) continue;
    *limited = q;
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "%s goes from %.6g to %.6g in the cycle: expected limits outside of this range, because the cycle "
                   "map is not smooth at limits",
                   b->shape[q], along->lowest[q], along->highest[q]);
  }
  for (int a = 0; a < b->group->dim; a++) change = fmax(change, fabs(end->mu[a] - start->mu[a]));
  if (change <= 1e-9 * largest(b->group->dim, start->mu)) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the cycle turns the body, which changes its momentum in the body frame by %.3g, so that the motion "
                 "is not periodic: expected the momentum 0, or one that the cycle does not turn",
                 change);
}

/* Computes the results along the cycle that begins at y. */
static cb_status measure(search *s, const double *y, cb_shape_cycle *out) {
  const cb_bundle *b = s->problem->bundle;
  const int n = b->n, dim = b->group->dim;
  cb_shape_state end;
  path along = {.effort = {0}};
  double u[CB_SHAPE_FORM];
  cb_status status = begin(s, y, &out->start);
  if (!status) status = cb_shape_velocity(s->problem, &out->start, u);
  if (status) return status;
  memcpy(out->rate, u + dim, (size_t)n * sizeof *u);
  memcpy(along.lowest, out->start.r, sizeof along.lowest);
  memcpy(along.highest, out->start.r, sizeof along.highest);
  const double before = cb_shape_energy(s->problem, &out->start, u);
  end = out->start;
  status = move(s, &end, &along);
  if (!status) status = cb_shape_velocity(s->problem, &end, u);
  if (!status) status = check(s, &along, &out->start, &end, &out->limited);
  if (status) return status;
  memcpy(out->g, end.g, sizeof end.g);
  memcpy(out->effort, along.effort, sizeof out->effort);
  out->work = 0;
  out->dissipated = 0;
  for (int i = 0; i < n; i++) {
    out->work += end.work[CB_SHAPE_MOTOR][i];
    out->dissipated += end.work[CB_SHAPE_DAMPING][i];
  }
  if (s->problem->drag) out->dissipated = out->work - (cb_shape_energy(s->problem, &end, u) - before);
  return CB_OK;
}

static cb_status prepare(search *s, const cb_shape_cycle *near, double *y) {
  const cb_shape_problem *p = s->problem;
  s->base = (cb_shape_state){.t = near->start.t, .t_low = near->start.t_low};
  p->bundle->group->identity(p->bundle->group, s->base.g);
  memcpy(s->base.mu, near->start.mu, sizeof s->base.mu);
  memcpy(s->base.r, near->start.r, sizeof s->base.r);
  memcpy(s->rate, near->rate, sizeof s->rate);
  cb_shape_drive(p, s->base.t, false, s->base.r, s->rate);
  for (int i = 0; i < p->bundle->n; i++) {
    if (p->variable[i].driven) continue;
    if (p->variable[i].friction > 0)
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "%s has dry friction: expected none, because the cycle map is not smooth with it",
                     p->bundle->shape[i]);
    s->index[s->free++] = i;
  }
  s->k = p->drag ? s->free : 2 * s->free;
  for (int i = 0; i < s->free; i++) {
    y[i] = near->start.r[s->index[i]];
    if (!p->drag) y[s->free + i] = near->rate[s->index[i]];
  }
  s->known = near->components == s->k;
  if (s->known) memcpy(s->J, near->derivative, sizeof s->J);
  return CB_OK;
}

cb_status cb_shape_cycle_find(const cb_shape_problem *p, cb_integrator *integrator, const cb_shape_cycle *near,
                              double period, int steps, bool multipliers, cb_shape_cycle *out) {
  search s = {.problem = p, .integrator = integrator, .period = period, .steps = steps};
  double y[Y_MAX] = {0}, F[Y_MAX] = {0};
  integrator->problem = p;
  *out = (cb_shape_cycle){.period = period, .steps = steps, .limited = -1};
  cb_status status = prepare(&s, near, y);
  if (!status) status = shoot(&s, y, F);
  out->residual = largest(s.k, F);
  if (!status) status = measure(&s, y, out);
  if (!status && multipliers) status = derivative(&s, y);
  out->components = s.known || multipliers ? s.k : 0;
  memcpy(out->derivative, s.J, sizeof s.J);
  if (!status && multipliers) status = find_multipliers(&s, out);
  return status;
}
