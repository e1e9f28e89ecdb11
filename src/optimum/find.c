/* Searching for the best gait: from every start, told apart, refined, the best first.
 *
 * What starts come to is in their order, whatever thread took them: results do not depend on how many there are.
 */
#include "optimum/find.h"

#include "bundle/poles.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 8, STEPS = 100, TOLD = 12 };

typedef struct trial {
  cb_direct *d;
  cb_status status;
  int found;
  double shape[CB_SHAPE_MAX]; /* where the last gait was, if it came to nothing */
  double fallen;              /* what was sought there, if it was at the target and had fallen; else infinite */
  double most;                /* the amount there, if no change of the gait changes it; else 0 */
  bool settled;               /* in more functions of time */
  char hindrance[256];        /* at breaks of the bundle, if it came to nothing there */
} trial;

/* Less is better. */
static double sought(const cb_optimum_problem *p, double cost, double amount) {
  switch (p->seek) {
    case CB_SEEK_COST: return cost;
    case CB_SEEK_EFFICIENCY: return cost / (amount * amount);
    case CB_SEEK_TARGET: return -fabs(amount);
  }
  return NAN;
}

static double value(const trial *t) { return sought(t->d->problem, t->d->v->cost, t->d->amount); }

/* The middle of a loop, or its shape that is farthest from a base. */
static void place(const cb_direct *d, double *r) {
  const int n = d->v->n;
  double most = -1;
  memset(r, 0, (size_t)n * sizeof *r);
  for (int q = 0; q < d->basis->nodes; q++) {
    double far = 0;
    for (int i = 0; i < n; i++) {
      if (d->problem->base) far += pow(d->v->r[q * n + i] - d->problem->base[i], 2);
      r[i] += d->problem->base ? 0 : d->basis->weight[q] * d->v->r[q * n + i];
    }
    if (!d->problem->base || far <= most) continue;
    most = far;
    memcpy(r, d->v->r + q * n, (size_t)n * sizeof *r);
  }
}

/* The amount of the gait as it is, with the sign that is asked for: where the size is free it is no part of the problem. */
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

/* From a start to a gait of least cost, or to any of stationary cost. One that costs nothing beside its start has fallen
 * into a singular shape. */
static bool settle(trial *t, const cb_gait *start, bool stationary, int steps) {
  static const double nothing = 1e-6;
  cb_direct *d = t->d;
  d->stationary = stationary;
  d->target = d->problem->target;
  d->amount = cb_gait_target_get(d->problem->bundle->group, &d->target);
  t->status = cb_direct_from(d, start);
  if (!t->status) t->status = cb_variation_at(d->v, d->c, 0);
  if (!t->status && d->problem->seek == CB_SEEK_EFFICIENCY) t->status = take_own_amount(d);
  const double before = sought(d->problem, d->v->cost, d->amount), asked = d->amount;
  const bool breaks = cb_bundle_has_breaks(d->problem->bundle);
  if (!t->status) t->status = breaks ? cb_direct_across(&t->d, start, FIRST_SIZE, steps) : cb_direct_solve(d, steps);
  d = t->d;
  if (t->status == CB_ERROR_UNSUPPORTED || (t->status && d->crossings))
    snprintf(t->hindrance, sizeof t->hindrance, "%s", cb_error_text());
  const double now = sought(d->problem, d->v->cost, d->amount);
  if (!t->status && d->problem->seek != CB_SEEK_TARGET && now < nothing * before) t->status = CB_STEP_NO_CONVERGENCE;
  if (!t->status && fabs(d->amount) < nothing * fabs(asked)) t->status = CB_STEP_NO_CONVERGENCE; /* it does nothing */
  return !t->status;
}

/* Where a search for the least has come to, if not to rest. */
static void note_end(trial *t, double before) {
  static const double at = .1, fallen = .5, endless = 1e3;
  const cb_direct *d = t->d;
  const cb_optimum_problem *p = d->problem;
  const cb_group *G = p->bundle->group;
  const bool told = isfinite(d->amount);
  const double now = sought(p, d->v->cost, d->amount), size = told ? fabs(d->amount) : 1;
  double most = 0;
  place(d, t->shape);
  for (int a = 0; a < G->dim; a++) most = fmax(most, fabs(d->lambda[a]));
  if (p->seek == CB_SEEK_COST && told && most * size > endless * d->v->cost)
    t->most = d->amount + d->condition[cb_gait_target_amount(G, &d->target)];
  else if (t->status == CB_STEP_NO_CONVERGENCE && p->seek != CB_SEEK_TARGET &&
           d->off < (cb_direct_held(d) ? at / 10 : at) * size && now < fallen * before)
    t->fallen = now;
}

/* Every other random start is led to any gait of stationary cost, and so is what comes to no least one: saddles are told beside
 * the least. */
static void search(const cb_optimum_problem *p, bool any, const cb_gait *start, trial *t) {
  t->found = 1, t->fallen = INFINITY;
  t->status = cb_direct_create(p, FIRST_SIZE, &t->d);
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

static bool at_barrier(const cb_direct *d) { return d->barrier && d->barrier->tau > 0; }

/* A gait that meets walls is known by nodes alone before it is refined: one has its means and squares too. */
static bool near_walls(const trial *s, const trial *t) {
  static const double small = 3e-3, refined = 1e-5, same = .02;
  if (!at_barrier(s->d) || !at_barrier(t->d)) return false;
  if (off(s, t) <= refined) return true;
  for (int i = 0; i < s->d->v->n; i++) {
    double mean[2] = {0}, square[2] = {0};
    for (int k = 0; k < 2; k++) {
      const cb_direct *d = k ? t->d : s->d;
      for (int q = 0; q < d->basis->nodes; q++) {
        const double r = d->v->r[q * d->v->n + i];
        mean[k] += d->basis->weight[q] * r, square[k] += d->basis->weight[q] * r * r;
      }
    }
    if (fabs(mean[0] - mean[1]) > same * sqrt(square[1]) || fabs(square[0] - square[1]) > same * square[1])
      return false;
  }
  return off(s, t) <= small;
}

/* Of those that agree the first is kept. Returns how many are left. */
static int tell_apart(trial *t, int count, double tolerance) {
  int kept = 0;
  qsort(t, (size_t)count, sizeof *t, better);
  for (int k = 0; k < count; k++) {
    if (!t[k].d) continue;
    trial *last = kept ? &t[kept - 1] : NULL;
    if (last && (off(&t[k], last) <= tolerance || near_walls(&t[k], last))) {
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

/* --- what there is none of --- */

/* Saddles at best, and cheaper and cheaper gaits beside them. */
static bool endless(const cb_optimum_problem *p, const cb_optima *all) {
  for (int k = 0; k < all->count; k++)
    if (all->item[k].index == 0) return false;
  return !p->base && isfinite(all->falling);
}

static cb_status no_least(const cb_optimum_problem *p, const double *r) {
  const cb_bundle *b = p->bundle;
  char shape[CB_SHAPE_MAX * 40] = "";
  size_t used = 0;
  for (int i = 0; i < b->n && used < sizeof shape; i++)
    used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%.20s = %.4g", i ? ", " : "", b->shape[i], r[i]);
  return cb_fail(CB_STEP_NO_CONVERGENCE, "no least cost was found: it falls on towards %s; give %sbounds", shape,
                 p->base ? "" : "a base or ");
}

/* The greatest amount from some of the starts, to some thousandths, if it is less than what is asked; else 0. */
static double within_walls(const cb_optimum_problem *p, cb_gait *const *start, int count) {
  enum { TRIES = 6 };
  const double asked = fabs(cb_gait_target_get(p->bundle->group, &p->target));
  double most = 0, amount;
  if (!(p->lower || p->upper || p->apart) || p->seek != CB_SEEK_COST || !isfinite(asked)) return 0;
  for (int k = 0; k < count && k < TRIES; k++)
    if (!cb_direct_most(p, start[k], FIRST_SIZE, &amount)) most = fmax(most, fabs(amount));
  return most < asked ? most : 0;
}

/* From none of the starts. */
static cb_status out_of_reach(const cb_optimum_problem *p, cb_gait *const *start, int count) {
  cb_status status = CB_OK;
  for (int k = 0; k < count; k++) {
    status = cb_target_reachable(p, start[k]);
    if (!status) return CB_OK;
  }
  return status;
}

/* Saddles at best, of gaits that go round more than once, where one cycle does not come so far. */
static bool beyond(const cb_optimum_problem *p, const cb_optima *all, cb_gait *const *start, int count) {
  for (int k = 0; k < all->count; k++)
    if (all->item[k].index == 0) return false;
  return within_walls(p, start, count) > 0;
}

static cb_status no_gait(const cb_optimum_problem *p, cb_gait *const *start, const trial *t, int count,
                         const cb_optima *all) {
  for (int k = 0; k < count; k++)
    if (t[k].status == CB_ERROR_MEMORY) return cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  for (int k = 0; k < count; k++)
    if (t[k].hindrance[0]) return cb_fail(CB_STEP_NO_CONVERGENCE, "no gait was found that does it: %s", t[k].hindrance);
  if (isfinite(all->falling)) return no_least(p, all->towards);
  double most = within_walls(p, start, count);
  if (most > 0)
    return cb_fail(
        CB_STEP_NO_CONVERGENCE,
        "no gait was found that does it within its bounds: a cycle does at most about %.3g of %.9g there, as far as "
        "was found from some starts; repeat one of less",
        most, fabs(cb_gait_target_get(p->bundle->group, &p->target)));
  for (int k = 0; k < count; k++) most = fmax(most, fabs(t[k].most));
  if (most > 0 && !(most >= fabs(cb_gait_target_get(p->bundle->group, &p->target)))) /* else it does not say why */
    return cb_fail(
        CB_STEP_NO_CONVERGENCE,
        "no gait was found that does it, from %d start%s: they end at %.9g, the most of the gaits where they are "
        "stuck, which is no bound: more `starts` or a `gait` that does more may do",
        count, count == 1 ? "" : "s", most);
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "no gait was found that does it, from %d start%s: a smaller target, more `starts` or a `gait` near it "
                 "may do",
                 count, count == 1 ? "" : "s");
}

/* --- all of it --- */

/* A smooth loop that is a smaller one run round some times: of harmonics that are multiples of 2, or of 3. */
static bool repeats(const cb_direct *d) {
  static const double small = 1e-3;
  const int f = d->basis->functions;
  for (int times = 2; times <= 3; times++) {
    double most = 0, other = 0;
    for (int a = 0; a < d->v->unknowns; a++) {
      const int harmonic = (a % f + 1) / 2;
      most = fmax(most, harmonic ? fabs(d->c[a]) : 0);
      other = fmax(other, harmonic % times ? fabs(d->c[a]) : 0);
    }
    if (other < small * most) return d->basis->harmonics > 0;
  }
  return false;
}

/* A stationary gait of few functions of time that has none beside it in more of them, nor in Wong's equations, is none;
 * one of several cycles is not one of one. */
static bool spurious(const trial *t, const cb_optimum *o) {
  return repeats(t->d) ||
         (!t->settled && !o->abnormal && !cb_direct_held(t->d) && !(fabs(o->wong - o->cost) < 1e-6 * o->cost));
}

/* It passes a singular shape, of which the nodes of its functions of time see nothing. */
static bool singular(const cb_optimum_problem *p, const cb_optimum *o) {
  return cb_gait_regular(p->bundle, o->gait) != CB_OK;
}

/* Gaits that walls hold are told apart once they are exact. Returns how many are left. */
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
  if (watch) watch->tell(watch->context, done, starts);
}

static cb_status tell(const cb_optimum_problem *p, trial *t, int kept, const cb_find_watch *watch, cb_optima *all) {
  cb_status status = CB_OK;
  for (int k = 0; !status && k < kept && k < 2 * TOLD; k++) {
    note(watch, all->starts, all->starts);
    status = cb_direct_refine(&t[k].d, &t[k].settled);
  }
  if (status) return status;
  kept = tell_apart(t, kept, 1e-8);
  all->item = calloc((size_t)kept, sizeof *all->item);
  if (!all->item) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", kept);
  for (int k = 0; !status && k < kept && all->count < TOLD; k++) {
    cb_optimum *o = &all->item[all->count];
    note(watch, all->starts, all->starts);
    status = cb_optimum_tell(t[k].d, o);
    if (status) return status;
    o->found = t[k].found;
    if (spurious(&t[k], o) || singular(p, o)) {
      all->failed += o->found;
      cb_gait_free(o->gait), o->gait = NULL;
    } else {
      all->count++;
    }
  }
  all->count = merge(p, all->item, all->count);
  return status;
}

/* What did not settle, and was better than what did. */
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
  if (p->seek == CB_SEEK_EFFICIENCY) cb_gait_target_set(p->bundle->group, &p->target, asked < 0 ? -1 : 1);
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
    const int kept = all->failed < count ? tell_apart(t, count, 1e-5) : 0;
    if (kept) status = tell(p, t, kept, watch, all);
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
  if (status) return cb_optima_free(all), status;
  *out = all;
  return CB_OK;
}

void cb_optima_free(cb_optima *o) {
  if (!o) return;
  for (int k = 0; o->item && k < o->count; k++) cb_gait_free(o->item[k].gait);
  free(o->item);
  free(o);
}
