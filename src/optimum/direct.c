/* Sequential quadratic programming over gaits. */
#include "optimum/direct_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to what is sought, its gradient and the conditions: a decade or two above round-off of a few hundred nodes. */
static const double slope_small = 1e-11, off_small = 1e-13;
/* Its error in the cost is of the order of the square. */
static const double slope_of_flow = 1e-5;
enum { FLOW = 100 /* times as many steps */ };

bool cb_direct_smooth(const cb_optimum_problem *problem) {
  const cb_gait_target_kind kind = problem->target.kind;
  return !problem->base && (problem->bundle->group->abelian || kind == CB_GAIT_MOVE || kind == CB_GAIT_TURN);
}

cb_status cb_direct_create_on(const cb_optimum_problem *problem, cb_basis *basis, cb_direct **out) {
  const cb_bundle *b = problem->bundle;
  cb_direct *d = calloc(1, sizeof *d);
  if (!d) return cb_basis_free(basis), cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  d->problem = problem;
  d->target = problem->target;
  d->amount = cb_gait_target_get(b->group, &d->target);
  d->enough = problem->flow ? slope_of_flow : slope_small, d->enough_off = off_small;
  d->basis = basis;
  for (int i = 0; problem->base && i < b->n; i++) d->pin[d->pins++] = (cb_pin){0, i, problem->base[i]};
  cb_status status = cb_variation_create(b, basis, &d->v);
  if (!status) status = cb_barrier_create(problem, basis, &d->barrier);
  if (!status) {
    const int rows = cb_gait_target_count(b->group, &d->target) + 2 + b->n + CB_CROSSINGS_MAX + 2 * CB_CORNERS_MAX;
    status = cb_reduced_create(cb_direct_unknowns(d), rows, &d->qp);
  }
  if (!status) {
    d->c = calloc(2 * (size_t)cb_direct_unknowns(d), sizeof *d->c);
    d->trial = d->c ? d->c + cb_direct_unknowns(d) : NULL;
    if (!d->c) status = cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  }
  if (status) return cb_direct_free(d), status;
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
  cb_barrier_free(d->barrier);
  cb_gait_contacts_free(d->contacts);
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

/* The merit at the trial gait; infinite where it cannot be told. */
static double merit(cb_direct *d, double amount, double rho, double *value_of, int *rows) {
  if (cb_variation_at(d->v, d->trial, 0) || cb_direct_conditions(d, d->trial, amount, value_of, rows, NULL, NULL))
    return INFINITY;
  if (cb_direct_walled(d) && cb_barrier_at(d->barrier, d->v->r, false)) return INFINITY;
  const double m = cb_direct_value(d, amount) + rho * sum_of_sizes(*rows, value_of);
  return isfinite(m) ? m : INFINITY;
}

/* Sizes of rates are those of coefficients: a step changes a gait by at most half of itself. */
static double longest(const cb_direct *d) {
  const int u = d->v->unknowns, f = d->basis->functions;
  double size = 0, step = 0;
  for (int a = 0; a < u; a++) {
    if (a % f) size += d->c[a] * d->c[a];
    step += d->qp->step[a] * d->qp->step[a];
  }
  const double most = .5 * sqrt(size) + 1e-3, part = step > most * most ? most / sqrt(step) : 1;
  return cb_direct_walled(d) ? fmin(part, cb_barrier_reach(d->barrier, d->qp->step)) : part;
}

static void accept(cb_direct *d, double amount) {
  if (cb_direct_walled(d)) cb_barrier_follow(d->barrier, d->qp->step);
  memcpy(d->c, d->trial, (size_t)d->v->unknowns * sizeof *d->c);
  d->amount = amount;
  if (cb_direct_amount_is_free(d)) cb_gait_target_set(d->problem->bundle->group, &d->target, amount);
}

/* Newton's step as it is, but for its length; false where the bundle does not let it. */
static bool leap(cb_direct *d) {
  double amount, now[sizeof d->condition / sizeof *d->condition];
  int rows;
  for (double s = longest(d); s > 1e-3; s /= 2) {
    displaced(d, s, d->qp->step, &amount);
    if (isfinite(merit(d, amount, 0, now, &rows))) return accept(d, amount), true;
  }
  return false;
}

/* Along the step, with a correction where the conditions bend; false where the merit does not fall. */
static bool advance(cb_direct *d, int rows, double rho, double slope) {
  const double off = sum_of_sizes(rows, d->condition), before = cb_direct_value(d, d->amount) + rho * off;
  const double fall = slope - rho * off, noise = 1e-14 * (fabs(before) + rho * off);
  double amount, now[sizeof d->condition / sizeof *d->condition];
  double s = longest(d);
  for (int halves = 0; halves < 30; halves++, s /= 2) {
    displaced(d, s, d->qp->step, &amount);
    if (merit(d, amount, rho, now, &rows) <= before + 1e-4 * s * fall + noise) return accept(d, amount), true;
    if (s < 1 || halves) continue;
    double *step = d->qp->g; /* no longer needed */
    cb_reduced_restore(d->qp, now, step);
    for (int a = 0; a < d->qp->unknowns; a++) step[a] += d->qp->step[a];
    displaced(d, 1, step, &amount);
    if (merit(d, amount, rho, now, &rows) <= before + 1e-4 * fall + noise) return accept(d, amount), true;
  }
  return false;
}

/* Instead of the Hessian its size: coefficients are of rates, so that a step is down the gradient in int |r'|^2 dt. */
static void flatten(cb_direct *d) {
  const int u = d->qp->unknowns;
  double largest = 0, *H = d->qp->H;
  for (int a = 0; a < u; a++) largest = fmax(largest, fabs(H[a * u + a]));
  for (int a = 0; a < u * u; a++) H[a] = a % (u + 1) == 0 ? largest : 0;
}

cb_status cb_direct_settle(cb_direct *d, int most) {
  double rho = 0;
  if (d->problem->flow) most *= FLOW;
  bool rest = false;
  for (d->iterations = 0;; d->iterations++) {
    int rows;
    cb_status status = cb_direct_prepare(d, false, &rest, &rows);
    if (status || rest) return status;
    if (d->iterations == most) break;
    double largest = 0, slope = 0;
    for (int k = 0; k < rows; k++) largest = fmax(largest, fabs(d->qp->multiplier[k]));
    rho = fmax(rho, 2 * largest);
    d->qp->stationary = d->stationary;
    if (d->problem->flow) flatten(d);
    double *gradient_now = d->trial;
    cb_direct_gradient(d, gradient_now);
    status = cb_reduced_solve(d->qp);
    if (status) return status;
    for (int a = 0; a < d->qp->unknowns; a++) slope += gradient_now[a] * d->qp->step[a];
    if (d->off > d->enough_off) rho = fmax(rho, 2 * slope / sum_of_sizes(rows, d->condition)); /* the merit falls */
    /* where nothing is to be gained but round-off, along what is flat */
    if (d->off <= d->enough_off && fabs(slope) <= 1e-18 * (1 + fabs(cb_direct_value(d, d->amount)))) return CB_OK;
    if (d->stationary ? !leap(d) : !advance(d, rows, rho, slope)) {
      if (d->slope <= 1e4 * d->enough && d->off <= 1e3 * d->enough_off) return CB_OK;
      break;
    }
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "the search for a gait does not settle after %d steps: slope %.3g, off its target by %.3g",
                 d->iterations, d->slope, d->off);
}

cb_status cb_direct_press(cb_direct *d, cb_gait_contacts *contacts) {
  const int conditions_most = cb_gait_target_count(d->problem->bundle->group, &d->target) + 2 + d->pins;
  cb_reduced *qp;
  bool rest;
  int rows;
  cb_gait_contacts_free(d->contacts), d->contacts = NULL;
  cb_status status = cb_reduced_create(cb_direct_unknowns(d), conditions_most + contacts->rows, &qp);
  if (!status) {
    cb_reduced_free(d->qp), d->qp = qp;
    status = cb_direct_prepare(d, true, &rest, &rows);
  }
  if (!status) status = cb_gait_contacts_press(contacts, rows, d->qp->J, d->qp->g);
  if (status) return cb_gait_contacts_free(contacts), status;
  d->contacts = contacts;
  return CB_OK;
}

cb_status cb_direct_bend(cb_direct *d) {
  bool rest;
  int rows;
  const cb_status status = cb_direct_prepare(d, true, &rest, &rows);
  if (!status) cb_reduced_eigenvalues(d->qp);
  return status;
}

/* What is negative or flat is so beside the largest; round-off of a few hundred nodes is far below. */
void cb_direct_signs(const cb_direct *d, int *negative, int *flat) {
  static const double small = 1e-8;
  const int n = d->qp->values;
  const double *e = d->qp->eigen, most = n ? fmax(fabs(e[0]), fabs(e[n - 1])) : 0;
  /* beside the middle one, since walls have curvatures of their own */
  const double scale = fmax(n ? fabs(e[n / 2]) : 0, 1e-5 * most), bound = small * scale;
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
  cb_status status = cb_direct_prepare(d, true, &rest, &rows);
  if (status) return status;
  double rho = 0, beyond = INFINITY;
  for (int k = 0; d->contacts && k < d->barrier->walls->count; k++)
    beyond = fmin(beyond, cb_wall_slack(d->barrier->walls, k));
  for (int k = 0; k < rows; k++) rho = fmax(rho, 2 * fabs(d->qp->multiplier[k]));
  flatten(d);
  const double before = cb_direct_value(d, d->amount) + rho * sum_of_sizes(rows, d->condition);
  status = cb_reduced_solve(d->qp);
  for (double s = 1; !status && s > 1e-3; s /= 2) {
    displaced(d, s, d->qp->step, &amount);
    if (d->contacts && !(cb_barrier_least(d->barrier, d->trial) >= -beyond)) continue;
    least = fmin(least, merit(d, amount, rho, now, &rows));
  }
  const double saved = fmax(0, before - least);
  if (!status) status = cb_variation_at(d->v, d->c, 0);
  *gain = d->problem->seek == CB_SEEK_EFFICIENCY ? 1 - exp(-2 * saved) : 2 * saved / d->v->cost;
  return status;
}
