/* The members of a family: gaits along its branches, and along the constraints that the branches reach. */
#include "optimum/family_private.h"

#include "bundle/bundle_private.h"
#include "optimum/find.h"

#include <math.h>
#include <stdlib.h>

/* --- members at constraints: bounds, and lines that may not cross ---
 *
 * Each member is found from the previous one: by Wong's equations along its bounds (extremal.h) if these have a
 * solution, and otherwise by the direct search with barriers. As without constraints, d(cost)/d(amount) = 2 multiplier,
 * because constraints do no work.
 */

/* A function that is called with each member at constraints. m->gait is the gait of the member. */
typedef cb_status (*family_put)(void *context, const cb_family_member *m);

enum { SIZE = 8, DEGREE = 24, SEARCH = 100, HALVES = 10 };

typedef struct held {
  const cb_optimum_problem *o;
  cb_optimum_problem problem; /* the problem at the last amount */
  cb_direct *d;               /* the last solution; NULL: none */
  cb_family_member last;      /* the values of the last solution; its gait is borrowed */
} held;

static void report(const cb_direct *d, const cb_optimum *of, cb_family_member *out) {
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

/* Returns whether b is on the same branch as a: both must have the same index, and the cost must rise from a to b by
 * about as much as the trapezium rule predicts from d(cost)/d(amount) = 2 multiplier. */
static bool goes_on(const cb_family_member *a, const cb_family_member *b) {
  const double rise = (a->multiplier + b->multiplier) * (b->amount - a->amount);
  return b->index == a->index && b->cost > a->cost && fabs(b->cost - a->cost - rise) < .5 * fabs(rise);
}

/* Solves Wong's equations for the gait of the problem `at`, starting from the last solution h->d. In contrast to the
 * search with barriers, the parts of this gait that run along a bound are exactly on the bound. Returns
 * CB_STEP_NO_CONVERGENCE also if this gait is not on the branch of the last one. */
static cb_status along(held *h, const cb_optimum_problem *at, cb_direct **d, cb_family_member *out) {
  cb_optimum found;
  const double amount = cb_gait_target_get(at->bundle->group, &at->target), before = h->d->amount;
  h->d->problem = at;
  h->d->amount = amount;
  cb_status status = cb_direct_active_bounds(h->d, DEGREE, d);
  h->d->problem = &h->problem;
  h->d->amount = before;
  if (!status) status = cb_optimum_certify(*d, &found);
  if (status) return status;
  report(*d, &found, out);
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
  if (!status) status = cb_optimum_certify(*d, &found);
  if (!status) report(*d, &found, out);
  return status;
}

static cb_status solve(held *h, const cb_gait *start, double amount, cb_family_member *out) {
  cb_optimum_problem at = *h->o;
  cb_direct *d = NULL;
  at.objective = CB_OBJECTIVE_COST;
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
  if (status) {
    cb_direct_free(d);
    return status;
  }
  cb_direct_free(h->d);
  h->problem = at;
  h->d = d;
  h->last = *out;
  d->problem = &h->problem;
  return CB_OK;
}

static cb_status family_held(const cb_optimum_problem *o, const cb_gait *start, double from, int count,
                             const double *amount, family_put put, void *context) {
  held h = {.o = o};
  cb_family_member m, best = {.gait = NULL};
  const cb_gait *last = start;
  cb_status status = CB_OK;
  int k = 0;
  for (; k < count && !status && !solve(&h, last, amount[k], &m); k++) {
    from = amount[k];
    last = m.gait;
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
    best = m;
    from = middle;
  }
  cb_direct_free(h.d);
  return best.gait && !status ? put(context, &best) : status;
}

cb_status family_widen(void **array, int count, int *capacity, size_t size) {
  if (count < *capacity) return CB_OK;
  void *wide = realloc(*array, (size_t)(2 * count + 16) * size);
  if (!wide) return cb_fail(CB_ERROR_MEMORY, "no memory for a family of %d gaits", count);
  *array = wide;
  *capacity = 2 * count + 16;
  return CB_OK;
}

static cb_status put(family_work *k, int branch, const family_point *p, int index, int flat) {
  cb_family *f = k->f;
  const cb_status status = family_widen((void **)&f->member, f->members, &k->member_capacity, sizeof *f->member);
  if (status) return status;
  f->member[f->members] = (cb_family_member){.amount = family_amount(p),
                                             .cost = p->cost,
                                             .multiplier = family_lambda(k->walk.y, p),
                                             .index = index,
                                             .flat = flat,
                                             .branch = branch,
                                             .harmonics = p->harmonics,
                                             .tail = family_tail(k->walk.y, p)};
  const cb_status made = cb_basis_gait(k->walk.y->basis, k->walk.y->n, p->z, &f->member[f->members].gait);
  if (!made) f->members++;
  return made;
}

cb_status family_put_knot(family_work *k, int branch, const family_point *p) {
  const cb_status status = family_harmonics(&k->walk, p->harmonics);
  return status ? status : put(k, branch, p, p->index, p->flat);
}

/* Adds the point p between the knots a and b as a member, and frees it. */
static cb_status put_between(family_work *k, int branch, const family_point *a, const family_point *b,
                             family_point *p) {
  cb_status status = CB_OK;
  if (a->index != b->index || a->flat != b->flat) {
    status = family_look(k->walk.y, p->tangent, p);
    if (!status) status = put(k, branch, p, p->index, p->flat);
  } else {
    status = put(k, branch, p, a->index, a->flat);
  }
  family_point_free(p);
  return status;
}

/* Adds members at equal distances along the branch. */
static cb_status members_by_length(family_work *k, int branch, const family_branch *b) {
  const double all = b->knot[b->knots - 1]->s;
  const int members = k->range->members;
  cb_status status = family_put_knot(k, branch, b->knot[0]);
  int i = 1;
  for (int m = 1; m < members - 1 && !status && b->knots > 1; m++) {
    const double s = all * m / (members - 1);
    family_point *p;
    while (i < b->knots - 1 && b->knot[i]->s < s) i++;
    status = family_between(&k->walk, b->knot[i - 1], b->knot[i], s, &p);
    if (!status) status = put_between(k, branch, b->knot[i - 1], b->knot[i], p);
    if (status > 0) status = CB_OK;
  }
  return status || b->knots < 2 ? status : family_put_knot(k, branch, b->knot[b->knots - 1]);
}

/* Adds members at amounts that are the same for all branches. Each time the branch passes one of these amounts, one
 * member is added; another one is added at the end of the branch. */
static cb_status members_by_amount(family_work *k, int branch, const family_branch *b) {
  const cb_family_range *r = k->range;
  const double step = (r->to - r->from) / (r->members - 1);
  cb_status status = CB_OK;
  for (int i = 1; i < b->knots && !status; i++) {
    const family_point *a = b->knot[i - 1], *e = b->knot[i];
    const double low = (family_amount(a) - r->from) / step, high = (family_amount(e) - r->from) / step, tiny = 1e-9;
    const int way = high > low ? 1 : -1;
    int m = way > 0 ? (int)ceil(low + (i > 1 ? tiny : -tiny)) : (int)floor(low - (i > 1 ? tiny : -tiny));
    for (; way * (m - high) <= tiny && !status; m += way) {
      family_point *p;
      const double amount = m == 0 ? r->from : m == r->members - 1 ? r->to : r->from + m * step;
      if (m < 0 || m >= r->members) continue;
      status = family_at_amount(&k->walk, a, e, amount, &p);
      if (!status) status = put_between(k, branch, a, e, p);
      if (status > 0) status = CB_OK;
    }
  }
  const family_point *last = b->knot[b->knots - 1];
  const double place = (family_amount(last) - r->from) / step;
  return status || fabs(place - round(place)) <= 1e-6 ? status : family_put_knot(k, branch, last);
}

typedef struct held_members {
  family_work *k;
  int branch;
} held_members;

static cb_status put_held(void *context, const cb_family_member *m) {
  const held_members *h = context;
  cb_family *f = h->k->f;
  const cb_status status = family_widen((void **)&f->member, f->members, &h->k->member_capacity, sizeof *f->member);
  if (status) {
    cb_gait_free(m->gait);
    return status;
  }
  f->member[f->members] = *m;
  f->member[f->members++].branch = h->branch;
  return CB_OK;
}

/* Adds members along the constraints that a branch reaches. If the range is finite, they have the amounts of the range;
 * otherwise their amounts go up to the maximum amount within the constraints. */
static cb_status members_held(family_work *k, int branch, const family_branch *b) {
  const cb_family_range *r = k->range;
  const cb_optimum_problem *o = k->walk.y->o;
  const family_point *last = b->knot[b->knots - 1];
  held_members h = {k, branch};
  double from = family_amount(last), to = r->to, *amount = calloc((size_t)r->members, sizeof *amount);
  cb_gait *start = NULL;
  int count = 0;
  cb_status status = amount ? family_harmonics(&k->walk, last->harmonics)
                            : cb_fail(CB_ERROR_MEMORY, "no memory for the members of a family");
  if (!status) status = cb_basis_gait(k->walk.y->basis, k->walk.y->n, last->z, &start);
  if (!status && b->knots == 1) from = r->from;
  if (!status && isinf(to)) {
    cb_optimum_problem maximum = *o;
    cb_gait_target_set(o->bundle->group, &maximum.target, from);
    if (cb_direct_maximum(&maximum, start, FAMILY_FIRST, &to)) to = 2 * from;
    for (int m = b->knots > 1; m < r->members; m++) amount[count++] = from + (to - from) * m / (r->members - 1);
  } else if (!status) {
    for (int m = 0; m < r->members; m++) {
      const double at = m == r->members - 1 ? r->to : r->from + (r->to - r->from) * m / (r->members - 1);
      const double past = (at - from) / (r->to - r->from);
      if (past > (b->knots > 1 ? 1e-9 : -1e-9)) amount[count++] = at;
    }
  }
  if (!status) status = family_held(o, start, from, count, amount, put_held, &h);
  cb_gait_free(start);
  free(amount);
  return status;
}

cb_status family_members_of(family_work *k, int branch) {
  const family_branch *b = &k->branch[branch];
  const bool outside = k->held[branch] && b->knots == 1;
  cb_status status = CB_OK;
  if (!outside) status = isinf(k->range->to) ? members_by_length(k, branch, b) : members_by_amount(k, branch, b);
  return status || !k->held[branch] ? status : members_held(k, branch, b);
}

/* Marks each member as the cheapest, unless another branch is cheaper at its amount. The costs of other branches are
 * cubics between their members. */
void family_mark(cb_family *f) {
  for (int m = 0; m < f->members; m++) {
    cb_family_member *one = &f->member[m];
    one->cheapest = true;
    for (int i = 1; i < f->members && one->cheapest; i++) {
      const cb_family_member *a = &f->member[i - 1], *b = &f->member[i];
      if (a->branch != b->branch || a->branch == one->branch || a->amount == b->amount) continue;
      if ((one->amount - a->amount) * (one->amount - b->amount) > 0) continue;
      const double X[2] = {a->amount, b->amount}, E[2] = {a->cost, b->cost}, l[2] = {a->multiplier, b->multiplier};
      one->cheapest = family_cubic(X, E, l, one->amount) >= one->cost * (1 - 1e-12);
    }
  }
}
