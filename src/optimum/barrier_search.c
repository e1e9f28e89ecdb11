/* The direct search within constraints. It first searches without a barrier. If the result violates a constraint, it
 * searches with barriers that decrease. Then it solves for the gait that passes exactly through corners of constraints,
 * or that is exactly at bounds along arcs. */
#include "optimum/direct.h"
#include "optimum/extremal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights tau of the barrier (shape_constraint.h). They decrease from first_tau to last_tau by the factor `decade`; for
 * the objective cost they are relative to the cost. last_tau determines how far a gait stays from a constraint that it
 * touches. Searches with a small weight may not converge, because nodes can move along the gait without changing it.
 * Then the result for a weight up to acceptable_tau is accepted. */
static const double first_tau = 1e-2, last_tau = 1e-7, acceptable_tau = 1e-4, decade = .1;
/* A gait with a barrier of weight tau is accepted below this slope, or below 1e-2 tau if that is larger. The relative
 * error of the cost is of the order of the square of the slope. */
static const double rest = 1e-6;
/* If no node of a gait is nearer to a constraint than this, no constraint presses on the gait. */
static const double clear = 1e-4;
/* If the length is free, the objective contains the cost with the factor cb_direct.pace. pace_share is the value of
 * this term of the objective. It is small, because the term rounds the corners at constraints. It is not smaller,
 * because otherwise a gait could run through its loop twice. */
static const double pace_share = .05;

/* Returns whether the objective is the maximum amount at any length. Such a maximum exists only within constraints. */
static bool longest(const cb_direct *d) {
  return d->problem->objective == CB_OBJECTIVE_TARGET && !isfinite(d->problem->length);
}

static void restore(cb_direct *d, const double *c, double amount) {
  memcpy(d->c, c, (size_t)d->v->unknowns * sizeof *c);
  d->amount = amount;
  if (d->problem->objective != CB_OBJECTIVE_COST) cb_gait_target_set(d->problem->bundle->group, &d->target, amount);
}

/* Solves for the gait with the current barrier, starting from the coefficients of d. With `rough`, the conditions need
 * not be met to round-off. The multipliers z of the barrier continue from the previous barrier unless `afresh` is true.
 */
static cb_status settle(cb_direct *d, bool rough, bool afresh, int maximum) {
  const double slope = d->tolerance, off = d->tolerance_off;
  cb_status status = cb_barrier_at(d->barrier, d->v->r, true);
  if (status) return status;
  cb_barrier_begin(d->barrier, afresh);
  d->tolerance = fmax(rest, 1e-2 * d->barrier->soft);
  d->tolerance_off = rough ? fmax(off, 1e-3 * d->barrier->soft) : off;
  status = cb_direct_settle(d, maximum);
  d->tolerance = slope;
  d->tolerance_off = off;
  return status;
}

/* Solves again without the barrier, for a gait on which no constraint presses. If no gait is found, or if the gait
 * violates a constraint, returns to the gait with the barrier. */
static cb_status without(cb_direct *d, int maximum) {
  cb_barrier *b = d->barrier;
  const double tau = b->tau, amount = d->amount;
  double *c = malloc((size_t)d->v->unknowns * sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  memcpy(c, d->c, (size_t)d->v->unknowns * sizeof *c);
  b->tau = 0;
  cb_status status = cb_direct_settle(d, maximum);
  if (status || !(cb_barrier_least(b, d->c) >= 0)) {
    restore(d, c, amount);
    b->tau = tau;
    status = cb_variation_at(d->v, d->c, 0);
    if (!status) status = settle(d, false, true, maximum);
  }
  free(c);
  return status;
}

/* Solves for the gait with barriers whose weights decrease by factors of 10. `held` is memory for the coefficients of
 * the last gait that converged. */
static cb_status fall(cb_direct *d, int maximum, double *held) {
  double amount = d->amount, pace = 0;
  cb_barrier *b = d->barrier, before = {0};
  int iterations = 0;
  cb_status status = cb_barrier_enter(b, d->problem->start_shape, d->c);
  for (double tau = first_tau; !status && tau > last_tau * sqrt(decade); tau *= decade) {
    status = cb_variation_at(d->v, d->c, 0);
    if (status) return status;
    d->pace = pace_share / d->v->cost;
    b->tau = d->problem->objective == CB_OBJECTIVE_COST ? tau * d->v->cost : tau;
    b->soft = tau;
    status = settle(d, tau * sqrt(decade) > acceptable_tau, tau == first_tau, maximum);
    iterations += d->iterations;
    if (!status) {
      before = *b;
      amount = d->amount;
      pace = d->pace;
      memcpy(held, d->c, (size_t)d->v->unknowns * sizeof *held);
    } else if (status == CB_STEP_NO_CONVERGENCE && before.tau == 0 && !(d->off > 1e-3 * fabs(d->amount))) {
      status = CB_OK; /* the next barrier may converge, unless the target is out of reach */
    }
  }
  if (status == CB_STEP_NO_CONVERGENCE && before.tau > 0 && before.soft * sqrt(decade) < acceptable_tau) {
    restore(d, held, amount);
    b->tau = before.tau;
    b->soft = before.soft;
    d->pace = pace;
    status = cb_variation_at(d->v, d->c, 0);
    if (!status) status = settle(d, false, true, maximum);
  }
  if (!status && !longest(d) && cb_barrier_least(b, d->c) > clear) status = without(d, maximum);
  d->iterations = iterations;
  return status;
}

/* --- limits of torques --- */

/* Constants for limits of torques that are relaxed (cb_effort.relaxed). The first limits exceed the largest torque by
 * the fraction near_limit. If the limits decrease too slowly, the weight of the barrier grows by the factor `stiffer`.
 * The search fails if this weight exceeds `stiffest`. */
static const double near_limit = .05, stiffer = 3, stiffest = 1e3;

/* Sets the weight of the barrier of constraints to tau times the cost. Sets the weight of the barrier of torques to the
 * same number divided by the duration and by the number of torques. Sets the smoothing of |x| to the mean power of a
 * torque times the larger of tau and `smooth`. */
static void weigh(cb_direct *d, double tau, double smooth) {
  cb_effort *e = d->effort;
  const double time = d->problem->duration * d->v->n;
  e->barrier = cb_effort_is_limited(d->problem) ? tau * e->cost / time : 0;
  if (!e->squared) e->smooth = fmax(tau, smooth) * e->mechanical / time;
  if (!d->barrier) return;
  d->barrier->tau = tau * e->cost;
  d->barrier->soft = tau;
}

/* Solves for the gait with the current weights of the barriers, starting from the coefficients of d. */
static cb_status settle_torques(cb_direct *d, bool afresh, int maximum) {
  const double slope = d->tolerance;
  cb_status status = cb_variation_at(d->v, d->c, 0);
  if (!status && d->barrier) status = cb_barrier_at(d->barrier, d->v->r, true);
  if (status) return status;
  if (d->barrier) cb_barrier_begin(d->barrier, afresh);
  d->tolerance = rest;
  status = cb_direct_settle(d, maximum);
  d->tolerance = slope;
  return status;
}

/* Lowers the relaxed limits step by step to the given ones. In each step the gait keeps the present limits, and a
 * barrier presses its torques below them. The next limits lie between the largest torque and the present limits. */
static cb_status tighten(cb_direct *d, int maximum) {
  cb_effort *e = d->effort;
  double tau = first_tau, near = 1 + near_limit;
  e->relaxed = fmax(1, near * e->share);
  for (bool first = true;; first = false) {
    weigh(d, tau, first_tau);
    cb_status status = settle_torques(d, first, maximum);
    if (status && status != CB_STEP_NO_CONVERGENCE) return status;
    status = cb_variation_at(d->v, d->c, 0);
    if (status || e->relaxed <= 1) return status;
    const double next = fmax(1, sqrt(e->share * near * e->relaxed));
    const bool slow = next > 1 + (e->relaxed - 1) * .9;
    if (slow) near = sqrt(near);
    if (slow && (tau *= stiffer) > stiffest)
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "no motion within the torques was found: some torque is %.3g times its bound; expected a longer "
                     "duration or larger torques",
                     e->share);
    if (e->share < next) e->relaxed = fmin(e->relaxed, next);
  }
}

/* Solves for the gait with limits of torques, or with the objective `work`. The first solution is without limits and
 * with the objective `torque`; then the barriers and the smoothing decrease by factors of 10. `held` is memory for the
 * coefficients of the last gait that converged. */
static cb_status solve_torques(cb_direct *d, int maximum, double *held) {
  cb_effort *e = d->effort;
  cb_barrier *b = d->barrier;
  const bool squared = e->squared, limited = cb_effort_is_limited(d->problem);
  int iterations = 0;
  bool any = false;
  e->squared = true;
  e->barrier = e->smooth = 0;
  e->relaxed = 1;
  if (b) b->tau = 0;
  cb_status status = cb_direct_settle(d, maximum);
  const bool within = !b || cb_barrier_least(b, d->c) >= 0;
  iterations += d->iterations;
  e->squared = squared;
  if (squared && !status && within && (!limited || e->share <= 1)) return CB_OK;
  if (!within) status = cb_barrier_enter(b, d->problem->start_shape, d->c);
  if (!status) status = cb_variation_at(d->v, d->c, 0);
  if (!status) status = tighten(d, maximum);
  for (double tau = first_tau; !status && tau > last_tau * sqrt(decade); tau *= decade) {
    weigh(d, tau, 0);
    status = settle_torques(d, tau == first_tau, maximum);
    iterations += d->iterations;
    if (!status) memcpy(held, d->c, (size_t)d->v->unknowns * sizeof *held);
    any = any || (!status && tau * sqrt(decade) < acceptable_tau);
    /* the search with the next weights may converge */
    if (status == CB_STEP_NO_CONVERGENCE && !any) status = cb_variation_at(d->v, d->c, 0);
  }
  if (!status && !any)
    status = cb_fail(CB_STEP_NO_CONVERGENCE, "the search within the torques did not converge: try other `starts`");
  if (status == CB_STEP_NO_CONVERGENCE && any) {
    memcpy(d->c, held, (size_t)d->v->unknowns * sizeof *held);
    status = cb_variation_at(d->v, d->c, 0);
  }
  d->iterations = iterations;
  return status;
}

cb_status cb_direct_solve(cb_direct *d, int maximum) {
  cb_barrier *b = d->barrier;
  if (d->effort && (b || cb_effort_is_limited(d->problem) || d->problem->objective == CB_OBJECTIVE_WORK)) {
    double *held = malloc((size_t)d->v->unknowns * sizeof *held);
    const cb_status status =
        held ? solve_torques(d, maximum, held) : cb_fail(CB_ERROR_MEMORY, "no memory for a search");
    free(held);
    return status;
  }
  if (!b) return cb_direct_settle(d, maximum);
  const double amount = d->amount;
  const size_t unknowns = (size_t)d->v->unknowns;
  double *c = malloc(2 * unknowns * sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  memcpy(c, d->c, unknowns * sizeof *c);
  b->tau = 0;
  cb_status status = CB_OK;
  if (longest(d) || cb_direct_settle(d, maximum) || !(cb_barrier_least(b, d->c) >= 0)) {
    restore(d, c, amount);
    status = fall(d, maximum, c + unknowns);
  }
  free(c);
  return status;
}

cb_status cb_direct_maximum(const cb_optimum_problem *problem, const cb_gait *start, int size, double *amount) {
  cb_optimum_problem maximum = *problem;
  cb_direct *d = NULL;
  maximum.objective = CB_OBJECTIVE_TARGET;
  maximum.length = INFINITY;
  cb_status status = cb_direct_create(&maximum, size, &d);
  if (!status) status = cb_direct_from(d, start);
  if (!status) status = cb_direct_solve(d, 60);
  if (!status) *amount = d->amount;
  cb_direct_free(d);
  return status;
}

/* --- corners of constraints around which a gait bends: located with a barrier, then solved by equations at vertices of
 * arcs --- */

/* A gait through corners may violate constraints by at most off_small, relative to the longest line. The force of a
 * corner that pulls the gait may be at most pull_small times the largest force of a corner. */
static const double off_small = 1e-9, pull_small = 1e-8;

cb_status cb_corner_at(cb_shape_constraints *w, cb_corner *corner, int functions, const double *c, bool slopes,
                       double *f) {
  double r[CB_SHAPE_MAX];
  for (int i = 0; i < w->n; i++) r[i] = c[i * functions + corner->vertex];
  cb_status status = CB_OK;
  for (int e = 0; !status && e < 2; e++)
    status = cb_shape_constraints_term(w, corner->constraint, corner->term[e], r, &f[e], slopes ? corner->df[e] : NULL,
                                       slopes ? corner->ddf[e] : NULL);
  return status;
}

/* --- locating corners --- */

typedef struct meeting {
  cb_corner corner;
  double time;
} meeting;

/* Moves r to the nearest shape at which both terms of the corner vanish, by Newton's method with steps of minimum norm.
 * Returns false if no such shape is nearby. */
static bool nearest(cb_shape_constraints *w, cb_corner *corner, double *r) {
  double f[2] = {0};
  for (int k = 0; k < 20; k++) {
    double gram[3] = {0};
    if (cb_corner_at(w, corner, 1, r, true, f)) return false;
    if (fmax(fabs(f[0]), fabs(f[1])) < 1e-14 * w->size) return true;
    for (int i = 0; i < w->n; i++) {
      gram[0] += corner->df[0][i] * corner->df[0][i];
      gram[1] += corner->df[0][i] * corner->df[1][i];
      gram[2] += corner->df[1][i] * corner->df[1][i];
    }
    const double det = gram[0] * gram[2] - gram[1] * gram[1];
    if (!(det > 1e-10 * gram[0] * gram[2])) return false;
    const double x = (gram[2] * f[0] - gram[1] * f[1]) / det, y = (gram[0] * f[1] - gram[1] * f[0]) / det;
    for (int i = 0; i < w->n; i++) r[i] -= x * corner->df[0][i] + y * corner->df[1][i];
  }
  return fmax(fabs(f[0]), fabs(f[1])) < 1e-12 * w->size;
}

/* If node q is nearer to constraint k than the nodes next to it, looks for a corner of this constraint near q. The
 * distance from q to the corner must be at most twice the distance from q to the nodes next to it. */
static bool meets(const cb_direct *d, int k, int q, meeting *m) {
  const cb_basis *s = d->basis;
  cb_shape_constraints *w = d->barrier->constraints;
  const int n = w->n, count = w->count, before = (q + s->nodes - 1) % s->nodes, after = (q + 1) % s->nodes;
  const double here = d->barrier->s[q * count + k], *r = d->v->r + q * n, *v = d->v->v + q * n;
  double at[CB_SHAPE_MAX], step = 0, way = 0, along = 0, speed = 0;
  if (here > d->barrier->s[before * count + k] || here >= d->barrier->s[after * count + k]) return false;
  *m = (meeting){.corner = {.constraint = k}};
  memcpy(at, r, (size_t)n * sizeof *at);
  if (cb_shape_constraints_leading(w, k, r, m->corner.term) || !nearest(w, &m->corner, at)) return false;
  for (int i = 0; i < n; i++) {
    const double spread = fmax(fabs(d->v->r[before * n + i] - r[i]), fabs(d->v->r[after * n + i] - r[i]));
    step += spread * spread;
    way += (at[i] - r[i]) * (at[i] - r[i]);
    along += v[i] * (at[i] - r[i]);
    speed += v[i] * v[i];
  }
  m->time = s->time[q] + along / speed;
  m->time -= floor(m->time);
  return way <= 4 * step;
}

static int by_time(const void *a, const void *b) {
  const double s = ((const meeting *)a)->time, t = ((const meeting *)b)->time;
  return s < t ? -1 : s > t;
}

/* Finds the corners, sorts them by time, and keeps one of several corners whose times differ by less than 4/nodes.
 * Returns the number of corners. */
static int find(const cb_direct *d, meeting *list) {
  const cb_basis *s = d->basis;
  int count = 0, kept = 0;
  for (int k = 0; k < d->barrier->constraints->count; k++)
    for (int q = 0; q < s->nodes && d->barrier->constraints->constraint[k].variable < 0; q++)
      if (count < CB_CORNERS_MAX && meets(d, k, q, &list[count])) count++;
  qsort(list, (size_t)count, sizeof *list, by_time);
  for (int k = 0; k < count; k++)
    if (kept == 0 || list[k].time - list[kept - 1].time > 4. / s->nodes) list[kept++] = list[k];
  if (kept > 1 && list[0].time + 1 - list[kept - 1].time < 4. / s->nodes) kept--;
  return kept;
}

/* --- the gait --- */

/* Returns CB_OK if all corners push the gait, none pulls it, and the gait violates no other constraint. */
static cb_status holds(cb_direct *d) {
  const double *nu = d->qp->multiplier + d->qp->rows - 2 * d->corners; /* the rows of corners are the last ones */
  double largest = 0;
  for (int k = 0; k < 2 * d->corners; k++) largest = fmax(largest, fabs(nu[k]));
  for (int k = 0; k < 2 * d->corners; k++)
    if (nu[k] > pull_small * largest)
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "the gait is not pressed against a corner where lines touch: try other `starts`");
  if (!(cb_barrier_least(d->barrier, d->c) >= -off_small * d->barrier->constraints->size))
    return cb_fail(CB_STEP_NO_CONVERGENCE,
                   "the gait at corners where lines touch violates a constraint elsewhere: try other `starts`");
  return CB_OK;
}

/* Solves for the gait on arcs whose ends are `ends`, starting from a given gait. The gait must pass through the corners
 * of the list, which are at the last `count` vertices between arcs. */
static cb_status solve(const cb_direct *d, const cb_gait *gait, const meeting *list, int count, const double *ends,
                       int arcs, int degree, cb_direct **out) {
  cb_basis *basis = NULL;
  cb_direct *fine = NULL;
  cb_status status = cb_basis_arcs(arcs, ends, degree, 0, &basis);
  if (!status) status = cb_direct_create_on(d->problem, basis, &fine);
  if (status) return status;
  fine->corners = count;
  fine->amount = d->amount;
  fine->target = d->target;
  for (int k = 0; k < count; k++) {
    fine->corner[k] = list[k].corner;
    fine->corner[k].vertex = arcs - count + k;
  }
  status = cb_direct_from(fine, gait);
  if (!status) status = cb_direct_settle(fine, 60);
  if (status) {
    cb_direct_free(fine);
    return status;
  }
  *out = fine;
  return CB_OK;
}

cb_status cb_direct_sharpen(cb_direct *d, int degree, cb_direct **out) {
  enum { ROUNDS = 30 };
  meeting list[CB_CORNERS_MAX];
  double ends[CB_CORNERS_MAX + 2] = {0};
  cb_gait *gait = NULL, *shifted = NULL;
  cb_direct *fine = NULL;
  *out = NULL;
  if (!d->barrier || !(d->barrier->tau > 0)) return CB_OK;
  cb_status status = cb_variation_at(d->v, d->c, 0);
  if (!status) status = cb_barrier_at(d->barrier, d->v->r, true);
  if (status) return status;
  const int count = find(d, list);
  if (count == 0) return CB_OK;
  /* if the start may be anywhere, the cycle begins at the first corner */
  const double start = d->basis->harmonics ? list[0].time : 0;
  const int arcs = d->basis->harmonics ? count : count + 1;
  for (int k = 0; k < count; k++) ends[arcs - count + k] = list[k].time - start;
  ends[arcs] = 1;
  status = cb_basis_gait(d->basis, d->v->n, d->c, &gait);
  if (!status) status = cb_gait_shifted(gait, start, &shifted);
  for (int round = 0; !status; round++) {
    cb_direct_free(fine);
    fine = NULL;
    status = solve(d, shifted, list, count, ends, arcs, degree, &fine);
    /* the relative error of the cost is about the square of this change */
    if (status || cb_direct_pace(fine, ends) < 1e-8) break;
    if (round == ROUNDS) status = cb_fail(CB_STEP_NO_CONVERGENCE, "contact times did not converge");
  }
  cb_gait_free(gait);
  cb_gait_free(shifted);
  if (!status) status = holds(fine);
  if (status) {
    cb_direct_free(fine);
    return status;
  }
  *out = fine;
  return CB_OK;
}

/* Gaits along bounds, on arcs that end where the gait meets or leaves a bound. A variable that is held at its bound is
 * constant on its arc.
 *
 * The arcs are those of the extremal (extremal.h). Because the forces of all held bounds press, the second variation
 * over gaits that keep the held variables decides whether the gait is a minimum.
 */

/* Tolerance of a violation of constraints, in the units of the constraints. */
static const double violation_small = 1e-9;

/* Holds variable i at its nearer bound from vertex `arc` to the next: sets its coefficients and freezes them. */
static void hold(cb_direct *d, int arc, int i) {
  const cb_basis *s = d->basis;
  const cb_optimum_problem *o = d->problem;
  const int next = (arc + 1) % s->arcs;
  double *c = d->c + i * s->functions, lower = o->lower ? o->lower[i] : -INFINITY,
         upper = o->upper ? o->upper[i] : INFINITY;
  const double middle = (c[arc] + c[next]) / 2, bound = fabs(middle - lower) < fabs(upper - middle) ? lower : upper;
  bool *frozen = d->frozen + i * s->functions;
  c[arc] = c[next] = bound;
  frozen[arc] = frozen[next] = true;
  for (int k = 0; k < s->degree - 1; k++) {
    const int at = s->arcs + arc * (s->degree - 1) + k;
    c[at] = 0;
    frozen[at] = true;
  }
}

static cb_status follow(const cb_direct *d, const cb_extremal *e, int degree, cb_direct **out) {
  cb_gait *gait = NULL;
  cb_basis *basis = NULL;
  cb_direct *fine = NULL;
  cb_status status = cb_extremal_gait(e, &gait);
  if (!status) status = cb_basis_arcs(e->arcs, e->end, degree, 0, &basis);
  if (!status) status = cb_direct_create_on(d->problem, basis, &fine);
  if (!status) status = cb_direct_from(fine, gait);
  cb_gait_free(gait);
  if (!status && !(fine->frozen = calloc((size_t)fine->v->unknowns, sizeof *fine->frozen)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for a gait at its bounds");
  if (status) {
    cb_direct_free(fine);
    return status;
  }
  for (int arc = 0; arc < e->arcs; arc++)
    for (int i = 0; i < d->v->n; i++)
      if (e->held[arc] >> i & 1) hold(fine, arc, i);
  fine->amount = e->amount;
  if (d->problem->objective != CB_OBJECTIVE_COST)
    cb_gait_target_set(d->problem->bundle->group, &fine->target, e->amount);
  *out = fine;
  return CB_OK;
}

cb_status cb_direct_active_bounds(const cb_direct *d, int degree, cb_direct **out) {
  cb_gait *gait = NULL;
  cb_extremal *e = NULL;
  cb_direct *fine = NULL;
  *out = NULL;
  cb_status status = cb_basis_gait(d->basis, d->v->n, d->c, &gait);
  if (!status) status = cb_extremal_solve(d->problem, gait, d->lambda, d->amount, &e);
  cb_gait_free(gait);
  if (!status) status = follow(d, e, degree, &fine);
  cb_extremal_free(e);
  if (!status) {
    fine->stationary = true; /* the gait is at its bounds already, so that Newton's steps suffice */
    status = cb_direct_settle(fine, 20);
  }
  if (!status && !(cb_barrier_least(fine->barrier, fine->c) >= -violation_small))
    status =
        cb_fail(CB_STEP_NO_CONVERGENCE, "the gait at its bounds violates a constraint elsewhere: try other `starts`");
  if (status) {
    cb_direct_free(fine);
    return status;
  }
  *out = fine;
  return CB_OK;
}
