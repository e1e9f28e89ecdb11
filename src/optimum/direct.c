/* Sequential quadratic programming over gaits. */
#include "optimum/direct.h"

#include "core/failure.h"
#include "numerics/small.h"

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

static bool amount_is_free(const cb_direct *d) { return d->problem->seek != CB_SEEK_COST; }
static bool length_is_given(const cb_direct *d) {
  return d->problem->seek == CB_SEEK_TARGET && isfinite(d->problem->length);
}
static bool shifts(const cb_direct *d) { return cb_direct_smooth(d->problem) && d->corners == 0 && d->crossings == 0; }
static bool walled(const cb_direct *d) { return d->barrier && d->barrier->tau > 0; }
static int unknowns(const cb_direct *d) { return d->v->unknowns + amount_is_free(d); }

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
    status = cb_reduced_create(unknowns(d), rows, &d->qp);
  }
  if (!status) {
    d->c = calloc(2 * (size_t)unknowns(d), sizeof *d->c);
    d->trial = d->c ? d->c + unknowns(d) : NULL;
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

/* The coefficient that a pin gives, and how far the shape is from it. */
static int pinned(const cb_direct *d, int k) { return d->pin[k].variable * d->basis->functions + d->pin[k].vertex; }
static double off_pin(const cb_direct *d, int k, const double *c) {
  const cb_pin *p = &d->pin[k];
  return c[pinned(d, k)] + d->v->drift[p->variable] * d->basis->end[p->vertex] - p->at;
}

cb_status cb_direct_from(cb_direct *d, const cb_gait *gait) {
  const cb_status status = cb_basis_project(d->basis, gait, d->c);
  for (int k = 0; !status && k < d->pins; k++) d->c[pinned(d, k)] -= off_pin(d, k, d->c);
  return status;
}

/* --- values --- */

/* What is sought. */
static double value(const cb_direct *d, double amount) {
  const double wall = walled(d) ? d->barrier->value : 0;
  switch (d->problem->seek) {
    case CB_SEEK_COST: return d->v->cost / 2 + wall;
    case CB_SEEK_EFFICIENCY: return log(d->v->cost) / 2 - log(fabs(amount)) + wall;
    case CB_SEEK_TARGET: return (length_is_given(d) ? 0 : d->pace * d->v->cost) - log(fabs(amount)) + wall;
  }
  return NAN;
}

/* Two rows each, with what their slopes need where they are asked. */
static cb_status corners(cb_direct *d, const double *c, bool slopes, double *value_of) {
  cb_status status = CB_OK;
  for (int k = 0; !status && k < d->corners; k++)
    status = cb_corner_at(d->barrier->walls, &d->corner[k], d->basis->functions, c, slopes, value_of + 2 * k);
  return status;
}

/* The rows' values; first and second as in cb_gait_target_at. Returns how many rows in *rows. */
static cb_status conditions(cb_direct *d, const double *c, double amount, double *value_of, int *rows, double *first,
                            double *second) {
  const cb_group *G = d->problem->bundle->group;
  cb_gait_target target = d->target;
  if (amount_is_free(d)) cb_gait_target_set(G, &target, amount);
  int count = cb_gait_target_count(G, &target);
  cb_status status = cb_gait_target_at(G, &target, d->v->g, value_of, first, second);
  if (status) return status;
  if (length_is_given(d)) value_of[count++] = (d->v->cost - d->problem->length * d->problem->length) / 2;
  for (int k = 0; k < d->pins; k++) value_of[count++] = off_pin(d, k, c);
  if (shifts(d)) value_of[count++] = 0;
  status = corners(d, c, first != NULL, value_of + count);
  *rows = count + 2 * d->corners;
  return status;
}

/* Of a loop whose start is a place like any other, the step along which only the start moves: r' for r. Along it
 * nothing changes, and a step that is led by its curvature, which is none, leads nowhere. Of arcs, what it does to the
 * start is enough. */
static void time_shift(const cb_direct *d, double *row) {
  const int f = d->basis->functions, n = d->v->n;
  double size = 0;
  for (int i = 0; !d->basis->harmonics && i < n; i++) {
    row[i * f] = d->v->v[i]; /* of the first node */
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

static double sum_of_sizes(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += fabs(x[i]);
  return sum;
}

/* --- the quadratic program --- */

/* How E counts in what is sought. */
static double share_of_cost(const cb_direct *d) {
  return d->problem->seek == CB_SEEK_COST         ? .5
         : d->problem->seek == CB_SEEK_EFFICIENCY ? .5 / d->v->cost
         : length_is_given(d)                     ? 0
                                                  : d->pace;
}

static void gradient(const cb_direct *d, double *g) {
  const int u = d->v->unknowns;
  const double scale = share_of_cost(d);
  for (int a = 0; a < u; a++) g[a] = scale * d->v->dcost[a];
  if (walled(d)) cb_barrier_gradient(d->barrier, g);
  if (amount_is_free(d)) g[u] = -1; /* in log X */
}

static void jacobian(const cb_direct *d, const double *first, int rows, double *J) {
  const cb_group *G = d->problem->bundle->group;
  const int u = d->v->unknowns, all = unknowns(d), dim = G->dim;
  const int count = cb_gait_target_count(G, &d->target), amount = cb_gait_target_amount(G, &d->target);
  int row = 0;
  memset(J, 0, (size_t)(rows * all) * sizeof *J);
  for (; row < count; row++) {
    for (int a = 0; a < dim && d->v->n > 1; a++) /* one variable does the same at any pace */
      for (int p = 0; p < u; p++) J[row * all + p] += first[row * dim + a] * d->v->dy[a * u + p];
    if (amount_is_free(d) && row == amount) J[row * all + u] = -d->amount;
  }
  if (length_is_given(d)) {
    for (int p = 0; p < u; p++) J[row * all + p] = d->v->dcost[p] / 2;
    row++;
  }
  for (int k = 0; k < d->pins; k++) J[row++ * all + pinned(d, k)] = 1;
  if (shifts(d)) time_shift(d, J + row++ * all);
  for (int k = 0; k < 2 * d->corners; k++, row++)
    for (int i = 0; i < d->v->n; i++)
      J[row * all + i * d->basis->functions + d->corner[k / 2].vertex] = d->corner[k / 2].df[k % 2][i];
}

/* Of what is sought plus nu times the conditions. */
static cb_status hessian(cb_direct *d, int rows, const double *first, const double *second, double *H) {
  const cb_group *G = d->problem->bundle->group;
  const int u = d->v->unknowns, all = unknowns(d), dim = G->dim, n = d->v->n, f = d->basis->functions;
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
  if (walled(d)) {
    for (int a = 0; a < u; a++) d->qp->size = fmax(d->qp->size, fabs(H[a * u + a]));
    cb_barrier_hessian(d->barrier, u, H);
  }
  if (d->contacts) cb_gait_contacts_bend(d->contacts, u, H);
  if (!amount_is_free(d)) return CB_OK;
  for (int i = u - 1; i >= 0; i--) { /* a row and a column more */
    memmove(H + i * all, H + i * u, (size_t)u * sizeof *H);
    H[i * all + u] = 0;
  }
  memset(H + u * all, 0, (size_t)all * sizeof *H);
  H[u * all + u] = -d->nu[amount] * d->amount;
  const double twice = d->problem->seek == CB_SEEK_EFFICIENCY ? .5 / (d->v->cost * d->v->cost) : 0;
  for (int i = 0; twice > 0 && i < u; i++)
    for (int j = 0; j < u; j++) H[i * all + j] -= twice * d->v->dcost[i] * d->v->dcost[j];
  return CB_OK;
}

/* Coefficients that stay: neither gradients nor curvature but their own. */
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

/* Behind the first rows of the program, those of contacts that press. */
static void contact_rows(cb_direct *d, int first) {
  cb_reduced *qp = d->qp;
  if (!d->contacts) return;
  qp->rows = first + cb_gait_contacts_rows(d->contacts, qp->J + first * qp->unknowns);
  memset(qp->c + first, 0, (size_t)(qp->rows - first) * sizeof *qp->c);
}

/* |gradient|^2, with that in the drift, which stays: alone it does not vanish where E is stationary. */
static double gradient_size(const cb_direct *d, const double *g) {
  const int n = d->v->n;
  double size = 0;
  for (int a = 0; a < unknowns(d); a++) size += g[a] * g[a];
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int q = 0; d->v->drift[i] != 0 && q < d->basis->nodes; q++)
      sum += d->basis->weight[q] * cb_dot(n, d->v->M + (q * n + i) * n, d->v->v + q * n);
    size += pow(2 * share_of_cost(d) * sum, 2);
  }
  return size;
}

/* Values, multipliers and, where it is not at rest or `always`, the quadratic program at c. */
static cb_status prepare(cb_direct *d, bool always, bool *rest, int *rows) {
  const cb_group *G = d->problem->bundle->group;
  cb_reduced *qp = d->qp;
  double first[CB_CONDITIONS_MAX * CB_GROUP_DIM], second[CB_CONDITIONS_MAX * CB_GROUP_DIM * CB_GROUP_DIM];
  cb_status status = cb_variation_at(d->v, d->c, 1);
  if (!status) status = conditions(d, d->c, d->amount, d->condition, rows, first, second);
  if (!status && walled(d)) status = cb_barrier_at(d->barrier, d->v->r, true);
  if (status) return status;
  qp->unknowns = unknowns(d), qp->rows = *rows;
  gradient(d, qp->g);
  jacobian(d, first, *rows, qp->J);
  freeze(d, qp);
  const double size = gradient_size(d, qp->g);
  contact_rows(d, *rows);
  cb_reduced_slope(qp);
  const int count = cb_gait_target_count(G, &d->target);
  memcpy(d->nu, qp->multiplier, (size_t)count * sizeof *d->nu);
  d->mu = d->problem->seek == CB_SEEK_COST         ? 1
          : d->problem->seek == CB_SEEK_EFFICIENCY ? 1 / d->v->cost
          : length_is_given(d)                     ? qp->multiplier[count]
                                                   : 2 * d->pace;
  memset(d->lambda, 0, sizeof d->lambda);
  for (int k = 0; k < count; k++)
    for (int a = 0; a < G->dim; a++) d->lambda[a] -= d->nu[k] * first[k * G->dim + a] / d->mu;
  d->off = 0;
  for (int k = 0; k < *rows; k++) d->off = fmax(d->off, fabs(d->condition[k]));
  d->slope = qp->slope / sqrt(size);
  *rest = d->slope <= d->enough && d->off <= d->enough_off;
  if (*rest && !always) return CB_OK;
  gradient(d, qp->g);
  jacobian(d, first, *rows, qp->J);
  memcpy(qp->c, d->condition, (size_t)*rows * sizeof *qp->c);
  contact_rows(d, *rows);
  status = hessian(d, *rows, first, second, qp->H);
  freeze(d, qp);
  return status;
}

/* --- steps --- */

static void displaced(const cb_direct *d, double s, const double *step, double *amount) {
  const int u = d->v->unknowns;
  for (int a = 0; a < u; a++) d->trial[a] = d->c[a] + s * step[a];
  *amount = amount_is_free(d) ? d->amount * exp(fmin(s * step[u], 1)) : d->amount;
}

/* The merit at the trial gait; infinite where it cannot be told. */
static double merit(cb_direct *d, double amount, double rho, double *value_of, int *rows) {
  if (cb_variation_at(d->v, d->trial, 0) || conditions(d, d->trial, amount, value_of, rows, NULL, NULL))
    return INFINITY;
  if (walled(d) && cb_barrier_at(d->barrier, d->v->r, false)) return INFINITY;
  const double m = value(d, amount) + rho * sum_of_sizes(*rows, value_of);
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
  return walled(d) ? fmin(part, cb_barrier_reach(d->barrier, d->qp->step)) : part;
}

static void accept(cb_direct *d, double amount) {
  if (walled(d)) cb_barrier_follow(d->barrier, d->qp->step);
  memcpy(d->c, d->trial, (size_t)d->v->unknowns * sizeof *d->c);
  d->amount = amount;
  if (amount_is_free(d)) cb_gait_target_set(d->problem->bundle->group, &d->target, amount);
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
  const double off = sum_of_sizes(rows, d->condition), before = value(d, d->amount) + rho * off;
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
    cb_status status = prepare(d, false, &rest, &rows);
    if (status || rest) return status;
    if (d->iterations == most) break;
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
    if (d->off > d->enough_off) rho = fmax(rho, 2 * slope / sum_of_sizes(rows, d->condition)); /* the merit falls */
    /* where nothing is to be gained but round-off, along what is flat */
    if (d->off <= d->enough_off && fabs(slope) <= 1e-18 * (1 + fabs(value(d, d->amount)))) return CB_OK;
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
  cb_status status = cb_reduced_create(unknowns(d), conditions_most + contacts->rows, &qp);
  if (!status) {
    cb_reduced_free(d->qp), d->qp = qp;
    status = prepare(d, true, &rest, &rows);
  }
  if (!status) status = cb_gait_contacts_press(contacts, rows, d->qp->J, d->qp->g);
  if (status) return cb_gait_contacts_free(contacts), status;
  d->contacts = contacts;
  return CB_OK;
}

cb_status cb_direct_bend(cb_direct *d) {
  bool rest;
  int rows;
  const cb_status status = prepare(d, true, &rest, &rows);
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
  cb_status status = prepare(d, true, &rest, &rows);
  if (status) return status;
  double rho = 0, beyond = INFINITY;
  for (int k = 0; d->contacts && k < d->barrier->walls->count; k++)
    beyond = fmin(beyond, cb_wall_slack(d->barrier->walls, k));
  for (int k = 0; k < rows; k++) rho = fmax(rho, 2 * fabs(d->qp->multiplier[k]));
  flatten(d);
  const double before = value(d, d->amount) + rho * sum_of_sizes(rows, d->condition);
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
