/* Members of a family that walls hold: bounds, and links that may not cross.
 *
 * Each from the one before: along its bounds by Wong's equations (extremal.h) where they lead on, otherwise by the direct
 * search with barriers. dE/dX = 2 lambda as without walls, which do no work.
 */
#include "bundle/poles.h"
#include "optimum/family_private.h"
#include "optimum/find.h"

#include <math.h>

enum { SIZE = 8, DEGREE = 24, SEARCH = 100, HALVES = 10 };

typedef struct held {
  const cb_optimum_problem *o;
  cb_optimum_problem problem; /* at the last amount */
  cb_direct *d;               /* the last solution, NULL: none */
  cb_family_member last;      /* its numbers; the gait is borrowed */
} held;

static void tell(const cb_direct *d, const cb_optimum *of, cb_family_member *out) {
  const cb_group *G = d->problem->bundle->group;
  const cb_gait_target *target = &d->problem->target;
  *out = (cb_family_member){.amount = cb_gait_target_get(G, target),
                            .cost = of->cost,
                            .multiplier = -d->nu[cb_gait_target_amount(G, target)] / d->mu,
                            .index = of->index,
                            .flat = of->flat,
                            .harmonics = d->basis->harmonics ? d->basis->harmonics : d->basis->degree / 2,
                            .tail = NAN,
                            .gait = of->gait};
}

/* Along the same branch costs rise by the trapezium rule, roughly: dE/dX = 2 lambda. */
static bool goes_on(const cb_family_member *a, const cb_family_member *b) {
  const double rise = (a->multiplier + b->multiplier) * (b->amount - a->amount);
  return b->index == a->index && b->cost > a->cost && fabs(b->cost - a->cost - rise) < .5 * fabs(rise);
}

/* From the last solution along its bounds. */
static cb_status along(held *h, const cb_optimum_problem *at, cb_direct **d, cb_family_member *out) {
  cb_optimum found;
  const double amount = cb_gait_target_get(at->bundle->group, &at->target), before = h->d->amount;
  h->d->problem = at, h->d->amount = amount;
  cb_status status = cb_direct_touch(h->d, DEGREE, d);
  h->d->problem = &h->problem, h->d->amount = before;
  if (!status) status = cb_optimum_tell(*d, &found);
  if (status) return status;
  tell(*d, &found, out);
  if (goes_on(&h->last, out)) return CB_OK;
  cb_gait_free(out->gait);
  return CB_STEP_NO_CONVERGENCE;
}

static cb_status search(const cb_optimum_problem *at, const cb_gait *start, cb_direct **d, cb_family_member *out) {
  cb_optimum found;
  bool settled;
  cb_status status = cb_direct_create(at, SIZE, d);
  if (!status) status = cb_direct_from(*d, start);
  if (!status) status = cb_direct_solve(*d, SEARCH);
  if (!status) status = cb_direct_refine(d, &settled);
  if (!status) status = cb_optimum_tell(*d, &found);
  if (!status) tell(*d, &found, out);
  return status;
}

static cb_status solve(held *h, const cb_gait *start, double amount, cb_family_member *out) {
  cb_optimum_problem at = *h->o;
  cb_direct *d = NULL;
  at.seek = CB_SEEK_COST;
  cb_gait_target_set(at.bundle->group, &at.target, amount);
  cb_status status = h->d && h->d->frozen ? along(h, &at, &d, out) : CB_STEP_NO_CONVERGENCE;
  if (status) {
    cb_direct_free(d);
    d = NULL;
    status = search(&at, start, &d, out);
  }
  if (!status) {
    status = cb_gait_regular(at.bundle, out->gait);
    if (status) cb_gait_free(out->gait);
  }
  if (status) return cb_direct_free(d), status;
  cb_direct_free(h->d);
  h->problem = at, h->d = d, h->last = *out;
  d->problem = &h->problem;
  return CB_OK;
}

cb_status family_held(const cb_optimum_problem *o, const cb_gait *start, double from, int count, const double *amount,
                      family_put put, void *context) {
  held h = {.o = o};
  cb_family_member m, best = {.gait = NULL};
  const cb_gait *last = start;
  cb_status status = CB_OK;
  int k = 0;
  for (; k < count && !status && !solve(&h, last, amount[k], &m); k++) {
    from = amount[k], last = m.gait;
    status = put(context, &m);
  }
  double beyond = k < count ? amount[k] : from;
  for (int i = 0; i < HALVES && k < count && !status; i++) {
    const double middle = (from + beyond) / 2;
    if (solve(&h, best.gait ? best.gait : last, middle, &m)) {
      beyond = middle;
      continue;
    }
    cb_gait_free(best.gait);
    best = m, from = middle;
  }
  cb_direct_free(h.d);
  return best.gait && !status ? put(context, &best) : status;
}
