/* Searching for the best gait: from every start, told apart, refined, the best first.
 *
 * What starts come to is in their order, whatever thread took them: results do not depend on how many there are.
 */
#include "optimum/find.h"

#include "core/failure.h"
#include "core/threads.h"
#include "optimum/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 8, STEPS = 100, TOLD = 12 };

typedef struct trial {
  cb_direct *d;
  cb_status status;
  int found;
  double shape[CB_SHAPE_MAX]; /* the mean of the last gait, where it came to nothing */
  bool runaway;               /* it was at the target, and cheaper and cheaper */
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

static void mean_shape(const cb_direct *d, double *r) {
  for (int i = 0; i < d->v->n; i++) {
    r[i] = 0;
    for (int q = 0; q < d->basis->nodes; q++) r[i] += d->basis->weight[q] * d->v->r[q * d->v->n + i];
  }
}

/* From a third of the starts to any gait of stationary cost: saddles are told beside the least. */
static void search(const cb_optimum_problem *p, int k, const cb_gait *start, trial *t) {
  t->status = cb_direct_create(p, FIRST_SIZE, &t->d);
  if (!t->status && k % 3 == 2) {
    t->d->stationary = true;
    t->status = cb_direct_from(t->d, start);
    if (!t->status && !cb_direct_solve(t->d, STEPS / 2)) return (void)(t->found = 1);
    t->d->stationary = false;
  }
  if (!t->status) t->status = cb_direct_from(t->d, start);
  if (!t->status) t->status = cb_variation_at(t->d->v, t->d->c, 0);
  const double before = t->status ? NAN : t->d->v->cost;
  if (!t->status) t->status = cb_direct_solve(t->d, STEPS);
  t->found = 1;
  if (!t->status || !t->d) return;
  const double size = isfinite(t->d->amount) ? fabs(t->d->amount) : 1;
  mean_shape(t->d, t->shape);
  t->runaway = t->status == CB_STEP_NO_CONVERGENCE && t->d->off < .1 * size && t->d->v->cost < .1 * before;
  cb_direct_free(t->d);
  t->d = NULL;
}

static int better(const void *a, const void *b) {
  const trial *s = a, *t = b;
  if (!s->d || !t->d) return !s->d - !t->d;
  const double x = value(s), y = value(t);
  return (x > y) - (x < y);
}

/* Of those that agree the first is kept. Returns how many are left. */
static int tell_apart(trial *t, int count, double tolerance) {
  int kept = 0;
  qsort(t, (size_t)count, sizeof *t, better);
  for (int k = 0; k < count; k++) {
    if (!t[k].d) continue;
    trial *last = kept ? &t[kept - 1] : NULL;
    if (last && fabs(value(&t[k]) - value(last)) <= tolerance * fabs(value(last))) {
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

static cb_status no_gait(const cb_optimum_problem *p, const trial *t, int count) {
  const cb_bundle *b = p->bundle;
  for (int k = 0; k < count; k++) {
    if (!t[k].runaway) continue;
    char shape[CB_SHAPE_MAX * 40] = "";
    size_t used = 0;
    for (int i = 0; i < b->n && used < sizeof shape; i++)
      used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%.20s = %.4g", i ? ", " : "", b->shape[i],
                               t[k].shape[i]);
    return cb_fail(CB_STEP_NO_CONVERGENCE, "no least cost was found: it falls on towards %s; give a base or bounds",
                   shape);
  }
  for (int k = 0; k < count; k++)
    if (t[k].status == CB_ERROR_MEMORY) return cb_fail(CB_ERROR_MEMORY, "no memory for a search");
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "no gait was found that does it, from %d start%s: a smaller target, more `starts` or a `gait` near it "
                 "may do",
                 count, count == 1 ? "" : "s");
}

/* --- all of it --- */

static cb_status tell(const cb_optimum_problem *p, trial *t, int kept, cb_optima *all) {
  cb_status status = CB_OK;
  for (int k = 0; !status && k < kept && k < 2 * TOLD; k++) status = cb_direct_refine(&t[k].d);
  if (status) return status;
  kept = tell_apart(t, kept, 1e-8);
  all->item = calloc((size_t)kept, sizeof *all->item);
  if (!all->item) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", kept);
  for (int k = 0; !status && k < kept && k < TOLD; k++) {
    status = cb_optimum_tell(t[k].d, &all->item[k]);
    all->item[k].found = t[k].found;
    if (!status) all->count++;
  }
  (void)p;
  return status;
}

cb_status cb_optimum_find(const cb_optimum_problem *p, cb_optima **out) {
  cb_gait **start = NULL;
  int count = 0;
  cb_status status = cb_start_gaits(p, &count, &start);
  trial *t = calloc((size_t)count + 1, sizeof *t);
  cb_optima *all = calloc(1, sizeof *all);
  if (!status && (!t || !all)) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d starts", count);
  if (!status) {
    const int threads = cb_threads_for(CB_THREADS_MIN_ELEMENTS);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int k = 0; k < count; k++) search(p, k, start[k], &t[k]);
    all->starts = count;
    for (int k = 0; k < count; k++) all->failed += !t[k].d;
    const int kept = all->failed < count ? tell_apart(t, count, 1e-5) : 0;
    status = kept ? tell(p, t, kept, all) : no_gait(p, t, count);
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
