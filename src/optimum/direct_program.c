/* The quadratic program of a step at a gait: the objective, the conditions, their slopes and curvature (direct.h). */
#include "optimum/direct.h"

#include "numerics/small.h"

#include <math.h>
#include <string.h>

static bool length_is_given(const cb_direct *d) {
  return d->problem->objective == CB_OBJECTIVE_TARGET && isfinite(d->problem->length);
}
static bool shifts(const cb_direct *d) { return cb_direct_smooth(d->problem) && d->corners == 0 && d->crossings == 0; }

/* --- values --- */

double cb_direct_value(const cb_direct *d, double amount) {
  const double constraint = cb_direct_has_barrier(d) ? d->barrier->value : 0;
  switch (d->problem->objective) {
    case CB_OBJECTIVE_COST: return d->v->cost / 2 + constraint;
    case CB_OBJECTIVE_EFFICIENCY: return log(d->v->cost) / 2 - log(fabs(amount)) + constraint;
    case CB_OBJECTIVE_TARGET: return (length_is_given(d) ? 0 : d->pace * d->v->cost) - log(fabs(amount)) + constraint;
  }
  return NAN;
}

/* Computes the two conditions of each corner for the coefficients c; with slopes also their derivatives, which are
 * stored in the corners. */
static cb_status corners(cb_direct *d, const double *c, bool slopes, double *value_of) {
  cb_status status = CB_OK;
  for (int k = 0; !status && k < d->corners; k++)
    status = cb_corner_at(d->barrier->constraints, &d->corner[k], d->basis->functions, c, slopes, value_of + 2 * k);
  return status;
}

cb_status cb_direct_conditions(cb_direct *d, const double *c, double amount, double *value_of, int *rows, double *first,
                               double *second) {
  const cb_group *G = d->problem->bundle->group;
  cb_gait_target target = d->target;
  if (cb_direct_amount_is_free(d)) cb_gait_target_set(G, &target, amount);
  int count = cb_gait_target_count(G, &target);
  cb_status status = cb_gait_target_at(G, &target, d->v->g, value_of, first, second);
  if (status) return status;
  if (length_is_given(d)) value_of[count++] = (d->v->cost - d->problem->length * d->problem->length) / 2;
  for (int k = 0; k < d->pins; k++) value_of[count++] = cb_direct_off_pin(d, k, c);
  if (shifts(d)) value_of[count++] = 0;
  status = corners(d, c, first != NULL, value_of + count);
  *rows = count + 2 * d->corners;
  return status;
}

/* Computes, for a loop with a free start, the direction row[unknowns] along which only the start moves, which is r'.
 * The cost does not change along it, and its zero curvature would give a useless step. For arcs it suffices to fix the
 * start. */
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

/* --- the quadratic program --- */

/* Returns the derivative of the objective by the cost. */
static double share_of_cost(const cb_direct *d) {
  return d->problem->objective == CB_OBJECTIVE_COST         ? .5
         : d->problem->objective == CB_OBJECTIVE_EFFICIENCY ? .5 / d->v->cost
         : length_is_given(d)                               ? 0
                                                            : d->pace;
}

void cb_direct_gradient(const cb_direct *d, double *g) {
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
    for (int a = 0; a < dim && d->v->n > 1; a++) /* with one variable, the holonomy does not change with the gait */
      for (int p = 0; p < u; p++) J[row * all + p] += first[row * dim + a] * d->v->dy[a * u + p];
    if (cb_direct_amount_is_free(d) && row == amount) J[row * all + u] = -d->amount;
  }
  if (length_is_given(d)) {
    for (int p = 0; p < u; p++) J[row * all + p] = d->v->dcost[p] / 2;
    row++;
  }
  for (int k = 0; k < d->pins; k++) J[row++ * all + cb_direct_pinned(d, k)] = 1;
  if (shifts(d)) time_shift(d, J + row++ * all);
  for (int k = 0; k < 2 * d->corners; k++, row++)
    for (int i = 0; i < d->v->n; i++)
      J[row * all + i * d->basis->functions + d->corner[k / 2].vertex] = d->corner[k / 2].df[k % 2][i];
}

/* Computes the Hessian of the objective plus the multipliers times the conditions, with the parts of the barrier and of
 * the active constraints. */
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

/* For each coefficient that stays constant, sets its entries of the gradient and of the rows to 0, and also its row and
 * column of the Hessian except on the diagonal. */
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

/* Appends the rows of the active constraints that press to the rows of the program, from row `first` on. */
static void active_rows(cb_direct *d, int first) {
  cb_reduced *qp = d->qp;
  if (!d->active_constraints) return;
  qp->rows = first + cb_active_constraints_rows(d->active_constraints, qp->J + first * qp->unknowns);
  memset(qp->c + first, 0, (size_t)(qp->rows - first) * sizeof *qp->c);
}

/* Returns |gradient|^2 including the derivative by the drift, which is constant. Without that part the gradient would
 * vanish for a gait of stationary cost. */
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

cb_status cb_direct_prepare(cb_direct *d, bool always, bool *rest, int *rows) {
  const cb_group *G = d->problem->bundle->group;
  cb_reduced *qp = d->qp;
  double first[CB_CONDITIONS_MAX * CB_GROUP_DIM], second[CB_CONDITIONS_MAX * CB_GROUP_DIM * CB_GROUP_DIM];
  cb_status status = cb_variation_at(d->v, d->c, 1);
  if (!status) status = cb_direct_conditions(d, d->c, d->amount, d->condition, rows, first, second);
  if (!status && cb_direct_has_barrier(d)) status = cb_barrier_at(d->barrier, d->v->r, true);
  if (status) return status;
  qp->unknowns = cb_direct_unknowns(d);
  qp->rows = *rows;
  cb_direct_gradient(d, qp->g);
  jacobian(d, first, *rows, qp->J);
  freeze(d, qp);
  const double size = gradient_size(d, qp->g);
  active_rows(d, *rows);
  cb_reduced_slope(qp);
  const int count = cb_gait_target_count(G, &d->target);
  memcpy(d->nu, qp->multiplier, (size_t)count * sizeof *d->nu);
  d->mu = d->problem->objective == CB_OBJECTIVE_COST         ? 1
          : d->problem->objective == CB_OBJECTIVE_EFFICIENCY ? 1 / d->v->cost
          : length_is_given(d)                               ? qp->multiplier[count]
                                                             : 2 * d->pace;
  memset(d->lambda, 0, sizeof d->lambda);
  for (int k = 0; k < count; k++)
    for (int a = 0; a < G->dim; a++) d->lambda[a] -= d->nu[k] * first[k * G->dim + a] / d->mu;
  d->off = 0;
  for (int k = 0; k < *rows; k++) d->off = fmax(d->off, fabs(d->condition[k]));
  d->slope = qp->slope / sqrt(size);
  *rest = d->slope <= d->tolerance && d->off <= d->tolerance_off;
  if (*rest && !always) return CB_OK;
  cb_direct_gradient(d, qp->g);
  jacobian(d, first, *rows, qp->J);
  memcpy(qp->c, d->condition, (size_t)*rows * sizeof *qp->c);
  active_rows(d, *rows);
  status = hessian(d, *rows, first, second, qp->H);
  freeze(d, qp);
  return status;
}
