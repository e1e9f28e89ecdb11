/* The steps of sequential quadratic programming over gaits (direct.h), and the quadratic program of one step: the
 * objective, the conditions, and their first and second derivatives at a gait. */
#include "optimum/direct.h"

#include "numerics/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool length_is_given(const cb_direct *d) {
  return d->problem->objective == CB_OBJECTIVE_TARGET && isfinite(d->problem->length);
}
static bool shifts(const cb_direct *d) { return cb_direct_smooth(d->problem) && d->corners == 0 && d->crossings == 0; }

/* --- the quadratic program of a step: values --- */

/* Returns the value of the objective. */
static double objective_at(const cb_direct *d, double amount) {
  const double constraint = cb_direct_has_barrier(d) ? d->barrier->value : 0;
  switch (d->problem->objective) {
    case CB_OBJECTIVE_COST:
    case CB_OBJECTIVE_TORQUE:
    case CB_OBJECTIVE_WORK: return d->v->cost / 2 + constraint;
    case CB_OBJECTIVE_EFFICIENCY: return log(d->v->cost) / 2 - log(fabs(amount)) + constraint;
    case CB_OBJECTIVE_TARGET: return (length_is_given(d) ? 0 : d->pace * d->v->cost) - log(fabs(amount)) + constraint;
  }
  return NAN;
}

/* Computes the two conditions of each corner for the coefficients c. With `slopes`, also computes their derivatives,
 * which are stored in the corners. */
static cb_status corners(cb_direct *d, const double *c, bool slopes, double *value_of) {
  cb_status status = CB_OK;
  for (int k = 0; !status && k < d->corners; k++)
    status = cb_corner_at(d->barrier->constraints, &d->corner[k], d->basis->functions, c, slopes, value_of + 2 * k);
  return status;
}

/* Computes the values of the conditions; `first` and `second` are as in cb_gait_target_at. *rows becomes the number of
 * conditions. */
static cb_status conditions_at(cb_direct *d, const double *c, double amount, double *value_of, int *rows, double *first,
                               double *second) {
  const cb_group *G = d->problem->bundle->group;
  cb_gait_target target = d->target;
  if (cb_direct_amount_is_free(d)) cb_gait_target_set(G, &target, amount);
  int count = cb_gait_target_count(G, &target);
  cb_status status = cb_gait_target_at(G, &target, d->v->g, value_of, first, second);
  if (status) return status;
  if (length_is_given(d)) value_of[count++] = (d->v->cost - d->problem->length * d->problem->length) / 2;
  for (int k = 0; k < d->pins; k++) value_of[count++] = cb_direct_off_pin(d, k, c);
  for (int i = 0; cb_direct_rests(d) && i < d->v->n; i++) {
    const int f = d->basis->functions;
    value_of[count++] = d->v->drift[i] + cb_dot(f, d->basis->first, c + i * f);
    value_of[count++] = d->v->drift[i] + cb_dot(f, d->basis->last, c + i * f);
  }
  if (shifts(d)) value_of[count++] = 0;
  status = corners(d, c, first != NULL, value_of + count);
  *rows = count + 2 * d->corners;
  return status;
}

/* A loop with a free start does not change its cost if only its start moves along the loop. The curvature of the cost
 * is 0 in this direction, which would give a useless step. Computes this direction, row[unknowns]; it is the change of
 * the coefficients along r'. For arcs the start is fixed instead. */
static void time_shift(const cb_direct *d, double *row) {
  const int f = d->basis->functions, n = d->v->n;
  double size = 0;
  for (int i = 0; !d->basis->harmonics && i < n; i++) {
    row[i * f] = d->v->v[i]; /* r' at the first node */
    size += row[i * f] * row[i * f];
  }
  for (int a = 0; d->basis->harmonics && a < d->v->unknowns; a++) {
    const int k = (a % f + 1) / 2, partner = a % f % 2 ? a + 1 : a - 1;
    row[a] = k == 0 ? 0 : a % f % 2 ? k * d->c[partner] : -k * d->c[partner];
    size += row[a] * row[a];
  }
  for (int i = 0; d->basis->harmonics && i < n; i++) {
    row[i * f] = d->v->drift[i] / (2 * M_PI);
    size += row[i * f] * row[i * f];
  }
  for (int a = 0; size > 0 && a < d->v->unknowns; a++) row[a] /= sqrt(size);
}

/* --- the quadratic program of a step: derivatives and equations --- */

/* Returns the derivative of the objective by the cost. */
static double share_of_cost(const cb_direct *d) {
  return d->problem->objective == CB_OBJECTIVE_COST || d->effort ? .5
         : d->problem->objective == CB_OBJECTIVE_EFFICIENCY      ? .5 / d->v->cost
         : length_is_given(d)                                    ? 0
                                                                 : d->pace;
}

/* Computes the gradient g of the objective, including its barrier, in all unknowns. */
static void gradient(const cb_direct *d, double *g) {
  const int u = d->v->unknowns;
  const double scale = share_of_cost(d);
  for (int a = 0; a < u; a++) g[a] = scale * d->v->dcost[a];
  if (cb_direct_has_barrier(d)) cb_barrier_gradient(d->barrier, g);
  if (cb_direct_amount_is_free(d)) g[u] = -1; /* the derivative of -log X by the unknown log X, where X is the amount */
}

static void jacobian(const cb_direct *d, const double *first, int rows, double *J) {
  const cb_group *G = d->problem->bundle->group;
  const int u = d->v->unknowns, all = cb_direct_unknowns(d), dim = G->dim;
  const int count = cb_gait_target_count(G, &d->target), amount = cb_gait_target_amount(G, &d->target);
  int row = 0;
  memset(J, 0, (size_t)(rows * all) * sizeof *J);
  for (; row < count; row++) {
    /* with one shape variable, the holonomy changes only through the momentum */
    for (int a = 0; a < dim && (d->v->n > 1 || (d->effort && d->effort->momentum)); a++)
      for (int p = 0; p < u; p++) J[row * all + p] += first[row * dim + a] * d->v->dy[a * u + p];
    if (cb_direct_amount_is_free(d) && row == amount) J[row * all + u] = -d->amount;
  }
  if (length_is_given(d)) {
    for (int p = 0; p < u; p++) J[row * all + p] = d->v->dcost[p] / 2;
    row++;
  }
  for (int k = 0; k < d->pins; k++) J[row++ * all + cb_direct_pinned(d, k)] = 1;
  for (int i = 0; cb_direct_rests(d) && i < d->v->n; i++) {
    const int f = d->basis->functions;
    memcpy(J + row++ * all + i * f, d->basis->first, (size_t)f * sizeof *J);
    memcpy(J + row++ * all + i * f, d->basis->last, (size_t)f * sizeof *J);
  }
  if (shifts(d)) time_shift(d, J + row++ * all);
  for (int k = 0; k < 2 * d->corners; k++, row++)
    for (int i = 0; i < d->v->n; i++)
      J[row * all + i * d->basis->functions + d->corner[k / 2].vertex] = d->corner[k / 2].df[k % 2][i];
}

/* Computes the Hessian of the objective plus the conditions times their multipliers. The parts of the barrier and of
 * the active constraints are included. */
static cb_status hessian(cb_direct *d, int rows, const double *first, const double *second, double *H) {
  const cb_group *G = d->problem->bundle->group;
  const int u = d->v->unknowns, all = cb_direct_unknowns(d), dim = G->dim, n = d->v->n, f = d->basis->functions;
  const int count = cb_gait_target_count(G, &d->target), amount = cb_gait_target_amount(G, &d->target);
  double Lambda[CB_GROUP_DIM] = {0}, W[CB_GROUP_DIM * CB_GROUP_DIM] = {0};
  for (int k = 0; k < count; k++)
    for (int a = 0; a < dim; a++) {
      Lambda[a] += d->nu[k] * first[k * dim + a];
      for (int b = 0; b < dim; b++) W[a * dim + b] += d->nu[k] * second[(k * dim + a) * dim + b];
    }
  const cb_status status = cb_variation_hessian(d->v, d->mu, Lambda, W, H);
  if (status) return status;
  const double *nu = d->qp->multiplier + rows - 2 * d->corners;
  for (int k = 0; k < 2 * d->corners; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const cb_corner *at = &d->corner[k / 2];
        H[(i * f + at->vertex) * u + j * f + at->vertex] += nu[k] * at->ddf[k % 2][i * n + j];
      }
  d->qp->size = 0;
  if (cb_direct_has_barrier(d)) {
    for (int a = 0; a < u; a++) d->qp->size = fmax(d->qp->size, fabs(H[a * u + a]));
    cb_barrier_hessian(d->barrier, u, H);
  }
  if (d->active_constraints) cb_active_constraints_second_variation(d->active_constraints, u, H);
  if (!cb_direct_amount_is_free(d)) return CB_OK;
  for (int i = u - 1; i >= 0; i--) { /* adds a row and a column for the unknown log X, where X is the amount */
    memmove(H + i * all, H + i * u, (size_t)u * sizeof *H);
    H[i * all + u] = 0;
  }
  memset(H + u * all, 0, (size_t)all * sizeof *H);
  H[u * all + u] = -d->nu[amount] * d->amount;
  const double twice = d->problem->objective == CB_OBJECTIVE_EFFICIENCY ? .5 / (d->v->cost * d->v->cost) : 0;
  for (int i = 0; twice > 0 && i < u; i++)
    for (int j = 0; j < u; j++) H[i * all + j] -= twice * d->v->dcost[i] * d->v->dcost[j];
  return CB_OK;
}

/* Freezes the coefficients that stay constant. For each of them, sets the entries of the gradient and of the rows to 0.
 * Also sets its row and column of the Hessian to 0, except for the diagonal entry. */
static void freeze(const cb_direct *d, cb_reduced *qp) {
  const int all = qp->unknowns;
  double size = 0;
  for (int a = 0; a < d->v->unknowns; a++) size = fmax(size, fabs(qp->H[a * all + a]));
  for (int a = 0; d->frozen && a < d->v->unknowns; a++) {
    if (!d->frozen[a]) continue;
    qp->g[a] = 0;
    for (int k = 0; k < qp->rows; k++) qp->J[k * all + a] = 0;
    for (int i = 0; i < all; i++) qp->H[a * all + i] = qp->H[i * all + a] = 0;
    qp->H[a * all + a] = size;
  }
}

/* Appends the rows of those active constraints that press on the gait to the rows of the program, from row `first` on.
 */
static void active_rows(cb_direct *d, int first) {
  cb_reduced *qp = d->qp;
  if (!d->active_constraints) return;
  qp->rows = first + cb_active_constraints_rows(d->active_constraints, qp->J + first * qp->unknowns);
  memset(qp->c + first, 0, (size_t)(qp->rows - first) * sizeof *qp->c);
}

/* Returns |gradient|^2, including the derivative by the drift. The drift is constant and not an unknown, but without
 * its derivative the size would vanish for a gait of stationary cost. */
static double gradient_size(const cb_direct *d, const double *g) {
  const int n = d->v->n;
  double size = 0;
  for (int a = 0; a < cb_direct_unknowns(d); a++) size += g[a] * g[a];
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int q = 0; d->v->drift[i] != 0 && q < d->basis->nodes; q++)
      sum += d->basis->weight[q] * cb_dot(n, d->v->M + (q * n + i) * n, d->v->v + q * n);
    size += pow(2 * share_of_cost(d) * sum, 2);
  }
  return size;
}

/* Computes the values and multipliers at the coefficients c. *rest becomes true if the gait is stationary and meets its
 * conditions, and *rows becomes the number of conditions. The quadratic program is computed too if *rest is false, or
 * if `always` is true. */
static cb_status prepare(cb_direct *d, bool always, bool *rest, int *rows) {
  const cb_group *G = d->problem->bundle->group;
  cb_reduced *qp = d->qp;
  double first[CB_CONDITIONS_MAX * CB_GROUP_DIM], second[CB_CONDITIONS_MAX * CB_GROUP_DIM * CB_GROUP_DIM];
  cb_status status = cb_variation_at(d->v, d->c, 1);
  if (!status) status = conditions_at(d, d->c, d->amount, d->condition, rows, first, second);
  if (!status && cb_direct_has_barrier(d)) status = cb_barrier_at(d->barrier, d->v->r, true);
  if (status) return status;
  qp->unknowns = cb_direct_unknowns(d);
  qp->rows = *rows;
  gradient(d, qp->g);
  jacobian(d, first, *rows, qp->J);
  freeze(d, qp);
  const double size = gradient_size(d, qp->g);
  active_rows(d, *rows);
  cb_reduced_slope(qp);
  const int count = cb_gait_target_count(G, &d->target);
  memcpy(d->nu, qp->multiplier, (size_t)count * sizeof *d->nu);
  d->mu = d->problem->objective == CB_OBJECTIVE_COST || d->effort ? 1
          : d->problem->objective == CB_OBJECTIVE_EFFICIENCY      ? 1 / d->v->cost
          : length_is_given(d)                                    ? qp->multiplier[count]
                                                                  : 2 * d->pace;
  memset(d->lambda, 0, sizeof d->lambda);
  for (int k = 0; k < count; k++)
    for (int a = 0; a < G->dim; a++) d->lambda[a] -= d->nu[k] * first[k * G->dim + a] / d->mu;
  d->off = 0;
  for (int k = 0; k < *rows; k++) d->off = fmax(d->off, fabs(d->condition[k]));
  d->slope = qp->slope / sqrt(size);
  *rest = d->slope <= d->tolerance && d->off <= d->tolerance_off;
  if (*rest && !always) return CB_OK;
  gradient(d, qp->g);
  jacobian(d, first, *rows, qp->J);
  memcpy(qp->c, d->condition, (size_t)*rows * sizeof *qp->c);
  active_rows(d, *rows);
  status = hessian(d, *rows, first, second, qp->H);
  freeze(d, qp);
  return status;
}

/* --- the search and its start --- */

/* Tolerances of cb_direct.slope, which is relative to the gradient, and of cb_direct.off, the largest absolute value of
 * a condition. They are 10 to 100 times the round-off of integrals over a few hundred nodes in time. */
static const double slope_small = 1e-11, off_small = 1e-13;
/* The gradient flow ends if the slope is below this. The relative error of the cost is of the order of the square of
 * the slope. */
static const double slope_of_flow = 1e-5;
/* Tolerance of the slope if the objective is the cost of torques. The second derivatives in time make its round-off
 * larger. */
static const double slope_of_torques = 1e-9;
enum { FLOW = 100 /* a gradient flow may make FLOW times as many steps as other searches */ };

bool cb_direct_smooth(const cb_optimum_problem *problem) {
  const cb_gait_target_kind kind = problem->target.kind;
  return !problem->start_shape && (problem->bundle->group->abelian || kind == CB_GAIT_MOVE || kind == CB_GAIT_TURN);
}

cb_status cb_direct_create_on(const cb_optimum_problem *problem, cb_basis *basis, cb_direct **out) {
  const cb_bundle *b = problem->bundle;
  cb_direct *d = calloc(1, sizeof *d);
  if (!d) {
    cb_basis_free(basis);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  }
  d->problem = problem;
  d->target = problem->target;
  d->amount = cb_gait_target_get(b->group, &d->target);
  d->tolerance = problem->flow ? slope_of_flow : slope_small;
  d->tolerance_off = off_small;
  d->basis = basis;
  for (int i = 0; problem->start_shape && i < b->n; i++) d->pin[d->pins++] = (cb_pin){0, i, problem->start_shape[i]};
  cb_status status = cb_variation_create(b, basis, &d->v);
  if (!status) status = cb_barrier_create(problem, basis, &d->barrier);
  if (!status) status = cb_effort_create(problem, d->v, &d->effort);
  if (!status) {
    const int rows = cb_gait_target_count(b->group, &d->target) + 2 + 3 * b->n + CB_CROSSINGS_MAX + 2 * CB_CORNERS_MAX;
    d->v->effort = d->effort;
    for (int i = 0; d->effort && problem->end_shape && i < b->n; i++)
      d->v->drift[i] = problem->end_shape[i] - problem->start_shape[i];
    if (d->effort) d->tolerance = slope_of_torques;
    status = cb_reduced_create(cb_direct_unknowns(d), rows, &d->qp);
  }
  if (!status) {
    d->c = calloc(2 * (size_t)cb_direct_unknowns(d), sizeof *d->c);
    d->trial = d->c ? d->c + cb_direct_unknowns(d) : NULL;
    if (!d->c) status = cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  }
  if (status) {
    cb_direct_free(d);
    return status;
  }
  *out = d;
  return CB_OK;
}

cb_status cb_direct_create(const cb_optimum_problem *problem, int size, cb_direct **out) {
  const double ends[2] = {0, 1};
  cb_basis *basis;
  const cb_status status =
      cb_direct_smooth(problem) ? cb_basis_fourier(size, 0, &basis) : cb_basis_arcs(1, ends, 2 * size, 0, &basis);
  return status ? status : cb_direct_create_on(problem, basis, out);
}

void cb_direct_free(cb_direct *d) {
  if (!d) return;
  cb_variation_free(d->v);
  cb_effort_free(d->effort);
  cb_barrier_free(d->barrier);
  cb_active_constraints_free(d->active_constraints);
  cb_basis_free(d->basis);
  cb_reduced_free(d->qp);
  free(d->c);
  free(d->frozen);
  free(d);
}

cb_status cb_direct_from(cb_direct *d, const cb_gait *gait) {
  const cb_status status = cb_basis_project(d->basis, gait, d->c);
  for (int k = 0; !status && k < d->pins; k++) d->c[cb_direct_pinned(d, k)] -= cb_direct_off_pin(d, k, d->c);
  return status;
}

/* --- steps --- */

static double sum_of_sizes(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += fabs(x[i]);
  return sum;
}

static void displaced(const cb_direct *d, double s, const double *step, double *amount) {
  const int u = d->v->unknowns;
  for (int a = 0; a < u; a++) d->trial[a] = d->c[a] + s * step[a];
  *amount = cb_direct_amount_is_free(d) ? d->amount * exp(fmin(s * step[u], 1)) : d->amount;
}

/* Returns the merit at the trial gait (direct.h), with the weight rho of the conditions. Returns infinity if the merit
 * cannot be evaluated. */
static double merit(cb_direct *d, double amount, double rho, double *value_of, int *rows) {
  if (cb_variation_at(d->v, d->trial, 0) || conditions_at(d, d->trial, amount, value_of, rows, NULL, NULL))
    return INFINITY;
  if (cb_direct_has_barrier(d) && cb_barrier_at(d->barrier, d->v->r, false)) return INFINITY;
  const double m = objective_at(d, amount) + rho * sum_of_sizes(*rows, value_of);
  return isfinite(m) ? m : INFINITY;
}

/* Returns the largest fraction of the step, at most 1, that may be taken. With this fraction the norm of the change of
 * the coefficients is at most half of their norm (without the first coefficient of each variable) plus .1 for the cost
 * of torques, or plus 1e-3 for other costs. The gait does not cross the barrier, to first order in the step. */
static double longest(const cb_direct *d) {
  const int u = d->v->unknowns, f = d->basis->functions;
  double size = 0, step = 0;
  for (int a = 0; a < u; a++) {
    if (a % f) size += d->c[a] * d->c[a];
    step += d->qp->step[a] * d->qp->step[a];
  }
  const double maximum = .5 * sqrt(size) + (d->effort ? .1 : 1e-3),
               part = step > maximum * maximum ? maximum / sqrt(step) : 1;
  return cb_direct_has_barrier(d) ? fmin(part, cb_barrier_reach(d->barrier, d->qp->step)) : part;
}

static void accept(cb_direct *d, double amount) {
  if (cb_direct_has_barrier(d)) cb_barrier_follow(d->barrier, d->qp->step);
  memcpy(d->c, d->trial, (size_t)d->v->unknowns * sizeof *d->c);
  d->amount = amount;
  if (cb_direct_amount_is_free(d)) cb_gait_target_set(d->problem->bundle->group, &d->target, amount);
}

/* Takes Newton's step with a limited length. Returns false if the gait is outside the domain of the bundle even after
 * 1e-3 of the step. */
static bool leap(cb_direct *d) {
  double amount, now[sizeof d->condition / sizeof *d->condition];
  int rows;
  for (double s = longest(d); s > 1e-3; s /= 2) {
    displaced(d, s, d->qp->step, &amount);
    if (isfinite(merit(d, amount, 0, now, &rows))) {
      accept(d, amount);
      return true;
    }
  }
  return false;
}

/* Changes the gait along the step, with a correction for the curvature of the conditions. Returns false if the merit
 * does not decrease. rho is the weight of the conditions, and `slope` the derivative of the objective along the step.
 */
static bool advance(cb_direct *d, int rows, double rho, double slope) {
  const double off = sum_of_sizes(rows, d->condition), before = objective_at(d, d->amount) + rho * off;
  const double fall = slope - rho * off, noise = 1e-14 * (fabs(before) + rho * off);
  double amount, now[sizeof d->condition / sizeof *d->condition];
  double s = longest(d);
  for (int halves = 0; halves < 30; halves++, s /= 2) {
    displaced(d, s, d->qp->step, &amount);
    if (merit(d, amount, rho, now, &rows) <= before + 1e-4 * s * fall + noise) {
      accept(d, amount);
      return true;
    }
    if (s < 1 || halves) continue;
    double *step = d->qp->g; /* the memory of the gradient, which is not needed here */
    cb_reduced_restore(d->qp, now, step);
    for (int a = 0; a < d->qp->unknowns; a++) step[a] += d->qp->step[a];
    displaced(d, 1, step, &amount);
    if (merit(d, amount, rho, now, &rows) <= before + 1e-4 * fall + noise) {
      accept(d, amount);
      return true;
    }
  }
  return false;
}

/* Replaces the Hessian by the identity times the largest diagonal entry of the Hessian. A step is then along the
 * gradient in the metric int |r'|^2 dt, because the rates of the basis functions have the norm 1 (variation.h). */
static void flatten(cb_direct *d) {
  const int u = d->qp->unknowns;
  double largest = 0, *H = d->qp->H;
  for (int a = 0; a < u; a++) largest = fmax(largest, fabs(H[a * u + a]));
  for (int a = 0; a < u * u; a++) H[a] = a % (u + 1) == 0 ? largest : 0;
}

cb_status cb_direct_settle(cb_direct *d, int maximum) {
  double rho = 0;
  if (d->problem->flow) maximum *= FLOW;
  bool rest = false;
  for (d->iterations = 0;; d->iterations++) {
    int rows;
    cb_status status = prepare(d, false, &rest, &rows);
    if (status || rest) return status;
    if (d->iterations == maximum) break;
    double largest = 0, slope = 0;
    for (int k = 0; k < rows; k++) largest = fmax(largest, fabs(d->qp->multiplier[k]));
    rho = fmax(rho, 2 * largest);
    d->qp->stationary = d->stationary;
    if (d->problem->flow) flatten(d);
    double *gradient_now = d->trial;
    gradient(d, gradient_now);
    status = cb_reduced_solve(d->qp);
    if (status) return status;
    for (int a = 0; a < d->qp->unknowns; a++) slope += gradient_now[a] * d->qp->step[a];
    if (d->off > d->tolerance_off) /* with this weight rho the merit decreases along the step */
      rho = fmax(rho, 2 * slope / sum_of_sizes(rows, d->condition));
    /* if the slope along the step is 0, the step can improve the merit only by round-off */
    if (d->off <= d->tolerance_off && fabs(slope) <= 1e-18 * (1 + fabs(objective_at(d, d->amount)))) return CB_OK;
    if (d->stationary ? !leap(d) : !advance(d, rows, rho, slope)) {
      if (d->slope <= 1e4 * d->tolerance && d->off <= 1e3 * d->tolerance_off) return CB_OK;
      break;
    }
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "the search for a gait did not converge after %d steps (slope %.3g, distance from its target %.3g): "
                 "try another start",
                 d->iterations, d->slope, d->off);
}

cb_status cb_direct_press(cb_direct *d, cb_active_constraints *active_constraints) {
  const int maximum_condition = cb_gait_target_count(d->problem->bundle->group, &d->target) + 2 + d->pins;
  cb_reduced *qp;
  bool rest;
  int rows;
  cb_active_constraints_free(d->active_constraints);
  d->active_constraints = NULL;
  cb_status status = cb_reduced_create(cb_direct_unknowns(d), maximum_condition + active_constraints->rows, &qp);
  if (!status) {
    cb_reduced_free(d->qp);
    d->qp = qp;
    status = prepare(d, true, &rest, &rows);
  }
  if (!status) status = cb_active_constraints_press(active_constraints, rows, d->qp->J, d->qp->g);
  if (status) {
    cb_active_constraints_free(active_constraints);
    return status;
  }
  d->active_constraints = active_constraints;
  return CB_OK;
}

cb_status cb_direct_second_variation(cb_direct *d) {
  bool rest;
  int rows;
  const cb_status status = prepare(d, true, &rest, &rows);
  if (!status) cb_reduced_eigenvalues(d->qp);
  return status;
}

/* An eigenvalue counts as 0 (flat) if it is below 1e-8 of the middle one of the sorted eigenvalues, or below 1e-13 of
 * the largest. The first tolerance is far above the round-off of a few hundred nodes. */
void cb_direct_signs(const cb_direct *d, int *negative, int *flat) {
  static const double small = 1e-8;
  const int n = d->qp->values;
  const double *e = d->qp->eigen, maximum = n ? fmax(fabs(e[0]), fabs(e[n - 1])) : 0;
  /* the scale is the middle eigenvalue and not the largest one, because constraints add large curvatures of their
   * own */
  const double scale = fmax(n ? fabs(e[n / 2]) : 0, 1e-5 * maximum), bound = small * scale;
  *negative = *flat = 0;
  for (int k = 0; k < d->qp->values; k++) {
    *negative += e[k] < -bound;
    *flat += fabs(e[k]) <= bound;
  }
}

cb_status cb_direct_flow(cb_direct *d, double *gain) {
  bool rest;
  int rows;
  double amount, now[sizeof d->condition / sizeof *d->condition], least = INFINITY;
  cb_status status = prepare(d, true, &rest, &rows);
  if (status) return status;
  double rho = 0, beyond = INFINITY;
  for (int k = 0; d->active_constraints && k < d->barrier->constraints->count; k++)
    beyond = fmin(beyond, cb_shape_constraint_slack(d->barrier->constraints, k));
  for (int k = 0; k < rows; k++) rho = fmax(rho, 2 * fabs(d->qp->multiplier[k]));
  flatten(d);
  const double before = objective_at(d, d->amount) + rho * sum_of_sizes(rows, d->condition);
  status = cb_reduced_solve(d->qp);
  for (double s = 1; !status && s > 1e-3; s /= 2) {
    displaced(d, s, d->qp->step, &amount);
    if (d->active_constraints && !(cb_barrier_least(d->barrier, d->trial) >= -beyond)) continue;
    least = fmin(least, merit(d, amount, rho, now, &rows));
  }
  const double saved = fmax(0, before - least);
  if (!status) status = cb_variation_at(d->v, d->c, 0);
  *gain = d->problem->objective == CB_OBJECTIVE_EFFICIENCY ? 1 - exp(-2 * saved) : 2 * saved / d->v->cost;
  return status;
}
