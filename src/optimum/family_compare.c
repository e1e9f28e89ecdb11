/* Costs of branches against each other, and of two cycles against one. */
#include "optimum/family_private.h"

#include <math.h>
#include <stddef.h>

enum { PARTS = 6, NEWTON = 40 };

typedef struct place {
  const family_point *a, *b; /* knots with the amount between them */
} place;

static void row_of(const family_system *y, const family_point *p, double *X, double *E, double *lambda) {
  const int rest = y->size - y->u;
  *X = family_amount(p), *E = p->cost;
  *lambda = -p->z[p->size - rest + y->row] * y->scale / family_mu(p);
}

static double between(const family_system *y, place at, double amount) {
  double X[2], E[2], lambda[2];
  row_of(y, at.a, &X[0], &E[0], &lambda[0]);
  row_of(y, at.b, &X[1], &E[1], &lambda[1]);
  return family_cubic(X, E, lambda, amount);
}

/* Cost at an amount by cubics through knots, the least where the branch passes it more than once; nan where it does
 * not. */
static double cost_at(const family_system *y, const family_branch *b, double amount, place *at) {
  double least = NAN;
  for (int k = 1; k < b->knots; k++) {
    const place here = {b->knot[k - 1], b->knot[k]};
    const double from = family_amount(here.a), to = family_amount(here.b);
    if (from == to || (amount - from) * (amount - to) > 0) continue;
    const double E = between(y, here, amount);
    if (!(E >= least)) least = E, *at = here;
  }
  return least;
}

bool family_passes(family_walk *w, const family_branch *b, const family_point *p) {
  const double amount = family_amount(p), cost = p->cost;
  for (int k = 1; k < b->knots; k++) {
    const family_point *one = b->knot[k - 1], *two = b->knot[k];
    const double from = family_amount(one), to = family_amount(two), slack = 1e-8 * fabs(amount);
    if (amount < fmin(from, to) - slack || amount > fmax(from, to) + slack) continue;
    if (fmin(fabs(cost - one->cost), fabs(cost - two->cost)) > .01 * cost + fabs(two->cost - one->cost)) continue;
    family_point *same;
    if (family_at_amount(w, one, two, amount, &same)) continue;
    const double off = fabs(same->cost - cost);
    family_point_free(same);
    if (off <= 1e-6 * cost) return true; /* as far as it is resolved */
  }
  return false;
}

/* E(X) on a branch less times E(share X) on another, and its derivative, exactly. */
typedef struct difference {
  const family_branch *two;
  double times, share;
} difference;

static cb_status exact(family_walk *w, place at, double amount, double *E, double *slope, family_point **out) {
  double X;
  family_point *p;
  const cb_status status = family_at_amount(w, at.a, at.b, amount, &p);
  if (status) return status;
  row_of(w->y, p, &X, E, slope);
  *slope *= 2;
  if (out)
    *out = p;
  else
    family_point_free(p);
  return CB_OK;
}

static double rough(family_walk *w, const difference *d, place one, double amount) {
  place two;
  return between(w->y, one, amount) - d->times * cost_at(w->y, d->two, d->share * amount, &two);
}

/* By Newton's method from amount, kept within [low, high]. */
static cb_status settle(family_walk *w, const difference *d, place one, double low, double high, double amount,
                        cb_family_event *e, family_found found, void *context) {
  for (int k = 0; k < NEWTON; k++) {
    double E, slope, other, other_slope;
    place two;
    family_point *p = NULL;
    if (isnan(cost_at(w->y, d->two, d->share * amount, &two))) return CB_OK;
    cb_status status = exact(w, two, d->share * amount, &other, &other_slope, NULL);
    if (!status) status = exact(w, one, amount, &E, &slope, &p);
    if (status) return status < 0 ? status : CB_OK;
    const double off = E - d->times * other, step = -off / (slope - d->times * d->share * other_slope);
    if (fabs(step) <= 1e-11 * fabs(amount)) {
      e->amount = amount + step, e->cost = E + slope * step;
      status = found(context, e, p);
      family_point_free(p);
      return status;
    }
    family_point_free(p);
    amount += step;
    if (!(amount > low && amount < high)) return CB_OK;
  }
  return CB_OK;
}

static cb_status changes(family_walk *w, const family_branch *b, const difference *d, cb_family_event e,
                         family_found found, void *context) {
  cb_status status = CB_OK;
  double before = NAN, past = NAN;
  for (int k = 1; k < b->knots && !status; k++) {
    const place one = {b->knot[k - 1], b->knot[k]};
    const double from = family_amount(one.a), to = family_amount(one.b), slack = fabs(to - from) / PARTS;
    for (int j = 0; j <= PARTS && !status; j++) {
      const double amount = from + (to - from) * j / PARTS, now = rough(w, d, one, amount);
      if (j > 0 && before * now < 0)
        status = settle(w, d, one, fmin(past, amount) - slack, fmax(past, amount) + slack,
                        (past * now - amount * before) / (now - before), &e, found, context);
      before = now, past = amount;
    }
  }
  return status;
}

cb_status family_meet(family_walk *w, const family_branch *one, const family_branch *two, family_found found,
                      void *context) {
  const difference d = {two, 1, 1};
  return changes(w, one, &d, (cb_family_event){.kind = CB_FAMILY_CHEAPER, .branch = -1, .other = -1}, found, context);
}

cb_status family_cycles(family_walk *w, const family_branch *b, family_found found, void *context) {
  const difference d = {b, 4, .5};
  return changes(w, b, &d, (cb_family_event){.kind = CB_FAMILY_CYCLES, .branch = -1, .other = -1}, found, context);
}
