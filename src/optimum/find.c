/* Searches for the best gaits from every start. Equal solutions are merged. The solutions that remain are refined and
 * sorted, the best first.
 *
 * Results are stored in the order of the starts, so that they do not depend on the number of threads.
 */
#include "optimum/find.h"

#include "bundle/bundle_private.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 8, STEPS = 100, TOLD = 12 };

/* Returns the size of the first basis. It is larger with limits of torques, because polynomials of a low degree cannot
 * follow torques that stay at their limits. */
static int first_size(const cb_optimum_problem *p) { return cb_effort_is_limited(p) ? 2 * FIRST_SIZE : FIRST_SIZE; }

typedef struct trial {
  cb_direct *d;
  cb_status status;
  int found;                  /* number of starts that led to this gait */
  double shape[CB_SHAPE_MAX]; /* for a failed search: the shape of its last gait that place() computes */
  /* The objective of the last gait of a failed search. It is set if this gait was near the target and its objective was
   * below half of the objective of the first gait; otherwise it is infinite. */
  double fallen;
  /* The amount of the last gait of a failed search. It is set if no change of this gait changes the amount; otherwise
   * it is 0. */
  double maximum;
  bool settled;        /* the gait was refined: the number of its functions of time was increased */
  char hindrance[256]; /* the error message, if breaks of the bundle or limits of torques made the search fail */
} trial;

/* Returns the value that the objective minimises. */
static double sought(const cb_optimum_problem *p, double cost, double amount) {
  switch (p->objective) {
    case CB_OBJECTIVE_COST:
    case CB_OBJECTIVE_TORQUE:
    case CB_OBJECTIVE_WORK: return cost;
    case CB_OBJECTIVE_EFFICIENCY: return cost / (amount * amount);
    case CB_OBJECTIVE_TARGET: return -fabs(amount);
  }
  return NAN;
}

static double value(const trial *t) { return sought(t->d->problem, t->d->v->cost, t->d->amount); }

/* Sets r to the mean shape of the loop d. If there is a start shape, sets r to the shape of the loop that is farthest
 * from the start shape instead. */
static void place(const cb_direct *d, double *r) {
  const int n = d->v->n;
  double maximum = -1;
  memset(r, 0, (size_t)n * sizeof *r);
  for (int q = 0; q < d->basis->nodes; q++) {
    double far = 0;
    for (int i = 0; i < n; i++) {
      if (d->problem->start_shape) far += pow(d->v->r[q * n + i] - d->problem->start_shape[i], 2);
      r[i] += d->problem->start_shape ? 0 : d->basis->weight[q] * d->v->r[q * n + i];
    }
    if (!d->problem->start_shape || far <= maximum) continue;
    maximum = far;
    memcpy(r, d->v->r + q * n, (size_t)n * sizeof *r);
  }
}

/* Sets the amount of the target of d to the amount that its gait reaches, with the sign of the target. It is used for
 * objectives with a free size, because the problem then gives no amount. */
static cb_status take_own_amount(cb_direct *d) {
  const cb_group *G = d->problem->bundle->group;
  double c[CB_CONDITIONS_MAX];
  const cb_status status = cb_gait_target_at(G, &d->target, d->v->g, c, NULL, NULL);
  if (status) return status;
  const double own = d->amount + c[cb_gait_target_amount(G, &d->target)];
  d->amount = copysign(fmax(fabs(own), 1e-3 * sqrt(d->v->cost)), d->amount);
  cb_gait_target_set(G, &d->target, d->amount);
  return CB_OK;
}

/* Searches from a start for a gait of minimum cost, or, if `stationary`, for any gait of stationary cost. Returns false
 * if the search fails. It also fails if the cost has become negligible relative to the start, because the gait has then
 * converged to a singular shape. */
static bool settle(trial *t, const cb_gait *start, bool stationary, int steps) {
  static const double nothing = 1e-6;
  cb_direct *d = t->d;
  d->stationary = stationary;
  d->target = d->problem->target;
  d->amount = cb_gait_target_get(d->problem->bundle->group, &d->target);
  t->status = cb_direct_from(d, start);
  if (!t->status) t->status = cb_variation_at(d->v, d->c, 0);
  if (!t->status && d->problem->objective == CB_OBJECTIVE_EFFICIENCY) t->status = take_own_amount(d);
  const double before = sought(d->problem, d->v->cost, d->amount), asked = d->amount;
  const bool breaks = cb_bundle_has_breaks(d->problem->bundle);
  if (!t->status)
    t->status = breaks ? cb_direct_multiphase(&t->d, start, FIRST_SIZE, steps) : cb_direct_solve(d, steps);
  d = t->d;
  if (t->status == CB_ERROR_UNSUPPORTED || (t->status && (d->crossings || cb_effort_is_limited(d->problem))))
    snprintf(t->hindrance, sizeof t->hindrance, "%s", cb_error_text());
  const double now = sought(d->problem, d->v->cost, d->amount);
  if (!t->status && d->problem->objective != CB_OBJECTIVE_TARGET && now < nothing * before)
    t->status = CB_STEP_NO_CONVERGENCE;
  if (!t->status && fabs(d->amount) < nothing * fabs(asked))
    t->status = CB_STEP_NO_CONVERGENCE; /* the gait has shrunk until its holonomy is trivial */
  return !t->status;
}

/* Fills the members shape, fallen and maximum of *t for a search for a minimum that failed. `before` is the value of
 * the objective at the start of the search. */
static void note_end(trial *t, double before) {
  static const double at = .1, fallen = .5, endless = 1e3;
  const cb_direct *d = t->d;
  const cb_optimum_problem *p = d->problem;
  const cb_group *G = p->bundle->group;
  const bool has_amount = isfinite(d->amount);
  const double now = sought(p, d->v->cost, d->amount), size = has_amount ? fabs(d->amount) : 1;
  double maximum = 0;
  place(d, t->shape);
  for (int a = 0; a < G->dim; a++) maximum = fmax(maximum, fabs(d->lambda[a]));
  if (p->objective == CB_OBJECTIVE_COST && has_amount && maximum * size > endless * d->v->cost)
    t->maximum = d->amount + d->condition[cb_gait_target_amount(G, &d->target)];
  else if (t->status == CB_STEP_NO_CONVERGENCE && p->objective != CB_OBJECTIVE_TARGET &&
           d->off < (cb_direct_held(d) ? at / 10 : at) * size && now < fallen * before)
    t->fallen = now;
}

/* Searches from one start. If `any` is true (every second random start), first searches for a gait of
 * stationary cost, which may be a saddle, and then for a minimum. Otherwise first searches for a minimum, and then, if
 * there is none and no gradient flow is requested, for a gait of stationary cost. */
static void search(const cb_optimum_problem *p, bool any, const cb_gait *start, trial *t) {
  t->found = 1;
  t->fallen = INFINITY;
  t->status = cb_direct_create(p, first_size(p), &t->d);
  if (t->status || (any && settle(t, start, true, STEPS / 2))) return;
  double before = NAN;
  if (!cb_direct_from(t->d, start) && !cb_variation_at(t->d->v, t->d->c, 0))
    before = sought(p, t->d->v->cost, t->d->amount);
  if (settle(t, start, false, STEPS)) return;
  note_end(t, before);
  const cb_status status = t->status;
  if (!any && !p->flow && settle(t, start, true, STEPS / 2)) return;
  t->status = status;
  cb_direct_free(t->d);
  t->d = NULL;
}

static int better(const void *a, const void *b) {
  const trial *s = a, *t = b;
  if (!s->d || !t->d) return !s->d - !t->d;
  const double x = value(s), y = value(t);
  return (x > y) - (x < y);
}

static double off(const trial *s, const trial *t) { return fabs(value(s) - value(t)) / fabs(value(t)); }

static bool at_barrier(const cb_direct *d) {
  return (d->barrier && d->barrier->tau > 0) || (d->effort && d->effort->barrier > 0);
}

/* Returns whether two gaits at constraints are equal within the accuracy that they have before they are refined. Before
 * that the constraints act only at nodes, so the comparison is rough. It compares the values of the objective, and for
 * each shape variable the means over time of the variable and of its square. */
static bool near_constraints(const trial *s, const trial *t) {
  static const double small = 3e-3, refined = 1e-5, same = .02;
  if (!at_barrier(s->d) || !at_barrier(t->d)) return false;
  if (off(s, t) <= refined) return true;
  for (int i = 0; i < s->d->v->n; i++) {
    double mean[2] = {0}, square[2] = {0};
    for (int k = 0; k < 2; k++) {
      const cb_direct *d = k ? t->d : s->d;
      for (int q = 0; q < d->basis->nodes; q++) {
        const double r = d->v->r[q * d->v->n + i];
        mean[k] += d->basis->weight[q] * r;
        square[k] += d->basis->weight[q] * r * r;
      }
    }
    if (fabs(mean[0] - mean[1]) > same * sqrt(square[1]) || fabs(square[0] - square[1]) > same * square[1])
      return false;
  }
  return off(s, t) <= small;
}

/* Sorts the gaits. Of several equal gaits the first is kept, and the others are freed. Returns the number of gaits that
 * remain. */
static int separate_gaits(trial *t, int count, double tolerance) {
  int kept = 0;
  qsort(t, (size_t)count, sizeof *t, better);
  for (int k = 0; k < count; k++) {
    if (!t[k].d) continue;
    trial *last = kept ? &t[kept - 1] : NULL;
    if (last && (off(&t[k], last) <= tolerance || near_constraints(&t[k], last))) {
      last->found += t[k].found;
      cb_direct_free(t[k].d);
      t[k].d = NULL;
    } else {
      const trial moved = t[k];
      t[k].d = NULL;
      t[kept++] = moved;
    }
  }
  return kept;
}

/* --- messages if no gait was found --- */

/* Returns whether the cost seems to have no minimum: there is no start shape, the search found only saddles, and the
 * cost was still falling when some searches ended. */
static bool endless(const cb_optimum_problem *p, const cb_optima *all) {
  for (int k = 0; k < all->count; k++)
    if (all->item[k].index == 0) return false;
  return !p->start_shape && isfinite(all->falling);
}

static cb_status no_least(const cb_optimum_problem *p, const double *r) {
  const cb_bundle *b = p->bundle;
  char shape[CB_SHAPE_MAX * 40] = "";
  size_t used = 0;
  for (int i = 0; i < b->n && used < sizeof shape; i++)
    used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%.20s = %.4g", i ? ", " : "", b->shape[i], r[i]);
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "no minimum of the cost was found: it still decreases towards the shape %s; give %sbounds", shape,
                 p->start_shape ? "" : "a start shape or ");
}

/* Returns the maximum amount within constraints if it is below the amount of the target, and otherwise 0. Also returns
 * 0 if the objective is not the cost, or if there are no constraints or no amount. The maximum is that of searches from
 * the first 6 starts; its relative error is some thousandths. */
static double within_constraints(const cb_optimum_problem *p, cb_gait *const *start, int count) {
  enum { TRIES = 6 };
  const double asked = fabs(cb_gait_target_get(p->bundle->group, &p->target));
  double maximum = 0, amount;
  if (cb_objective_is_effort(p->objective) || !(p->lower || p->upper || p->no_crossing) ||
      p->objective != CB_OBJECTIVE_COST || !isfinite(asked))
    return 0;
  for (int k = 0; k < count && k < TRIES; k++)
    if (!cb_direct_maximum(p, start[k], FIRST_SIZE, &amount)) maximum = fmax(maximum, fabs(amount));
  return maximum < asked ? maximum : 0;
}

/* Returns the error of cb_target_reachable if no gait with the start shape of any start can reach the target, and
 * otherwise CB_OK. */
static cb_status out_of_reach(const cb_optimum_problem *p, cb_gait *const *start, int count) {
  cb_status status = CB_OK;
  if (p->end_shape || p->momentum || cb_gait_target_count(p->bundle->group, &p->target) == 0) return CB_OK;
  for (int k = 0; k < count; k++) {
    status = cb_target_reachable(p, start[k]);
    if (!status) return CB_OK;
  }
  return status;
}

/* Returns true if one cycle cannot reach the target within the constraints, and every gait that the search found is a
 * saddle of the cost. Such a gait goes through several cycles. */
static bool beyond(const cb_optimum_problem *p, const cb_optima *all, cb_gait *const *start, int count) {
  for (int k = 0; k < all->count; k++)
    if (all->item[k].index == 0) return false;
  return within_constraints(p, start, count) > 0;
}

static cb_status no_gait(const cb_optimum_problem *p, cb_gait *const *start, const trial *t, int count,
                         const cb_optima *all) {
  for (int k = 0; k < count; k++)
    if (t[k].status == CB_ERROR_MEMORY) return cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  for (int k = 0; k < count; k++)
    if (t[k].hindrance[0])
      return cb_fail(CB_STEP_NO_CONVERGENCE, "no gait was found that reaches the target: %s", t[k].hindrance);
  if (isfinite(all->falling)) return no_least(p, all->towards);
  double maximum = within_constraints(p, start, count);
  if (maximum > 0)
    return cb_fail(
        CB_STEP_NO_CONVERGENCE,
        "no gait was found that reaches the target within the bounds: from some starts one cycle reached at most about "
        "%.3g of %.9g; repeat a cycle with a smaller target",
        maximum, fabs(cb_gait_target_get(p->bundle->group, &p->target)));
  for (int k = 0; k < count; k++) maximum = fmax(maximum, fabs(t[k].maximum));
  if (maximum > 0 && !(maximum >= fabs(cb_gait_target_get(p->bundle->group,
                                                          /* a maximum above the target does not explain the failure */
                                                          &p->target))))
    return cb_fail(
        CB_STEP_NO_CONVERGENCE,
        "no gait was found that reaches the target, from %d start%s: they stopped at gaits that reach at most %.9g, "
        "which is not a proven bound; try more `starts`, or a `gait` that reaches more",
        count, count == 1 ? "" : "s", maximum);
  return cb_fail(
      CB_STEP_NO_CONVERGENCE,
      "no gait was found that reaches the target, from %d start%s: try a smaller target, more `starts`, or a "
      "`gait` near it",
      count, count == 1 ? "" : "s");
}

/* --- the complete search --- */

/* Returns whether a smooth loop repeats a smaller loop: its harmonics are all multiples of 2, or all multiples of 3. */
static bool repeats(const cb_direct *d) {
  static const double small = 1e-3;
  const int f = d->basis->functions;
  for (int times = 2; times <= 3; times++) {
    double maximum = 0, other = 0;
    for (int a = 0; a < d->v->unknowns; a++) {
      const int harmonic = (a % f + 1) / 2;
      maximum = fmax(maximum, harmonic ? fabs(d->c[a]) : 0);
      other = fmax(other, harmonic % times ? fabs(d->c[a]) : 0);
    }
    if (other < small * maximum) return d->basis->harmonics > 0;
  }
  return false;
}

/* Returns whether a stationary gait must not be reported. This is so if the gait consists of several cycles. It is also
 * so if the gait exists only in few functions of time: no gait near it was found in more functions or by Wong's
 * equations. */
static bool spurious(const trial *t, const cb_optimum *o) {
  return repeats(t->d) || (!t->settled && !t->d->effort && !o->abnormal && !cb_direct_held(t->d) &&
                           !(fabs(o->wong - o->cost) < 1e-6 * o->cost));
}

/* Returns whether the gait passes a singular shape. This shape may lie between nodes, where the search did not see it.
 */
static bool singular(const cb_optimum_problem *p, const cb_optimum *o) {
  return cb_gait_regular(p->bundle, o->gait) != CB_OK;
}

/* Merges gaits whose values of the objective are equal, and sorts the gaits. Gaits at constraints may be recognised as
 * equal only after they were refined. Returns the number of gaits that remain. */
static int merge(const cb_optimum_problem *p, cb_optimum *o, int count) {
  int kept = 0;
  for (int k = 0; k < count; k++) {
    int at = 0;
    const double x = sought(p, o[k].cost, o[k].amount);
    while (at < kept && !(fabs(x - sought(p, o[at].cost, o[at].amount)) <= 1e-8 * fabs(x))) at++;
    if (at < kept) {
      o[at].found += o[k].found;
      cb_gait_free(o[k].gait);
      continue;
    }
    const cb_optimum moved = o[k];
    for (at = kept++; at > 0 && x < sought(p, o[at - 1].cost, o[at - 1].amount); at--) o[at] = o[at - 1];
    o[at] = moved;
  }
  return kept;
}

static void note(const cb_find_watch *watch, int done, int starts) {
  if (watch) watch->report(watch->context, done, starts);
}

static cb_status report(const cb_optimum_problem *p, trial *t, int kept, const cb_find_watch *watch, cb_optima *all) {
  cb_status status = CB_OK;
  for (int k = 0; !status && k < kept && k < 2 * TOLD; k++) {
    note(watch, all->starts, all->starts);
    status = cb_direct_refine(&t[k].d, &t[k].settled);
  }
  if (status) return status;
  kept = separate_gaits(t, kept, 1e-8);
  all->item = calloc((size_t)kept, sizeof *all->item);
  if (!all->item) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", kept);
  for (int k = 0; !status && k < kept && all->count < TOLD; k++) {
    cb_optimum *o = &all->item[all->count];
    note(watch, all->starts, all->starts);
    status = cb_optimum_certify(t[k].d, o);
    if (status) return status;
    o->found = t[k].found;
    if (spurious(&t[k], o) || singular(p, o)) {
      all->failed += o->found;
      cb_gait_free(o->gait);
      o->gait = NULL;
    } else {
      all->count++;
    }
  }
  all->count = merge(p, all->item, all->count);
  return status;
}

/* Of the searches that did not converge, records the one with the best value of the objective, if this value is better
 * than that of all gaits that were found. */
static void note_falling(const cb_optimum_problem *p, const trial *t, int count, cb_optima *all) {
  const double best = all->count ? sought(p, all->item[0].cost, all->item[0].amount) : INFINITY;
  all->falling = INFINITY;
  for (int k = 0; k < count; k++) {
    if (!(t[k].fallen < .9 * best && t[k].fallen < all->falling)) continue;
    all->falling = t[k].fallen;
    memcpy(all->towards, t[k].shape, sizeof all->towards);
  }
}

cb_status cb_optimum_find(const cb_optimum_problem *problem, cb_optima **out) {
  return cb_optimum_find_watched(problem, NULL, out);
}

cb_status cb_optimum_find_watched(const cb_optimum_problem *problem, const cb_find_watch *watch, cb_optima **out) {
  cb_optimum_problem of = *problem, *p = &of;
  const double asked = cb_gait_target_get(p->bundle->group, &p->target);
  if (p->objective == CB_OBJECTIVE_EFFICIENCY) cb_gait_target_set(p->bundle->group, &p->target, asked < 0 ? -1 : 1);
  cb_gait **start = NULL;
  int count = 0, finished = 0;
  cb_status status = cb_start_gaits(p, &count, &start);
  trial *t = calloc((size_t)count + 1, sizeof *t);
  cb_optima *all = calloc(1, sizeof *all);
  if (!status && (!t || !all)) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d starts", count);
  if (!status) status = out_of_reach(p, start, count);
  if (!status) {
#pragma omp parallel for num_threads(cb_threads_for(CB_THREADS_MIN_ELEMENTS)) schedule(dynamic, 1)
    for (int k = 0; k < count; k++) {
      search(p, !p->flow && k >= count - p->starts && (count - 1 - k) % 2 == 0, start[k], &t[k]);
#pragma omp critical(cb_find_watch)
      note(watch, ++finished, count);
    }
    all->starts = count;
    for (int k = 0; k < count; k++) all->failed += !t[k].d;
    const int kept = all->failed < count ? separate_gaits(t, count, 1e-5) : 0;
    if (kept) status = report(p, t, kept, watch, all);
    if (!status) note_falling(p, t, count, all);
    if (!status && (!all->count || endless(p, all) || beyond(p, all, start, count)))
      status = no_gait(p, start, t, count, all);
  }
  for (int k = 0; k < count; k++) {
    if (t) cb_direct_free(t[k].d);
    cb_gait_free(start[k]);
  }
  free(start);
  free(t);
  if (status) {
    cb_optima_free(all);
    return status;
  }
  *out = all;
  return CB_OK;
}

void cb_optima_free(cb_optima *o) {
  if (!o) return;
  for (int k = 0; o->item && k < o->count; k++) cb_gait_free(o->item[k].gait);
  free(o->item);
  free(o);
}
