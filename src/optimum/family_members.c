/* Members of a family: gaits along its branches, and along the walls that these come to. */
#include "optimum/family_private.h"

#include <math.h>
#include <stdlib.h>

cb_status family_widen(void **array, int count, int *room, size_t size) {
  if (count < *room) return CB_OK;
  void *wide = realloc(*array, (size_t)(2 * count + 16) * size);
  if (!wide) return cb_fail(CB_ERROR_MEMORY, "no memory for a family of %d gaits", count);
  *array = wide, *room = 2 * count + 16;
  return CB_OK;
}

static cb_status put(family_work *k, int branch, const family_point *p, int index, int flat) {
  cb_family *f = k->f;
  const cb_status status = family_widen((void **)&f->member, f->members, &k->room_members, sizeof *f->member);
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

/* p between knots a and b, which it belongs to where it is NULL. */
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

/* Evenly by length. */
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

/* At amounts that are the same for all branches, as often as it passes them; and its end. */
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
  const cb_status status = family_widen((void **)&f->member, f->members, &h->k->room_members, sizeof *f->member);
  if (status) return cb_gait_free(m->gait), status;
  f->member[f->members] = *m;
  f->member[f->members++].branch = h->branch;
  return CB_OK;
}

/* Along the walls that a branch comes to: at the range's amounts, or to the greatest there. */
static cb_status members_held(family_work *k, int branch, const family_branch *b) {
  const cb_family_range *r = k->range;
  const cb_optimum_problem *o = k->walk.y->o;
  const family_point *last = b->knot[b->knots - 1];
  held_members h = {k, branch};
  double from = family_amount(last), to = r->to, *amount = calloc((size_t)r->members, sizeof *amount);
  cb_gait *start = NULL;
  int count = 0;
  cb_status status = amount ? family_harmonics(&k->walk, last->harmonics) : CB_ERROR_MEMORY;
  if (!status) status = cb_basis_gait(k->walk.y->basis, k->walk.y->n, last->z, &start);
  if (!status && b->knots == 1) from = r->from;
  if (!status && isinf(to)) {
    cb_optimum_problem most = *o;
    cb_gait_target_set(o->bundle->group, &most.target, from);
    if (cb_direct_most(&most, start, FAMILY_FIRST, &to)) to = 2 * from;
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

/* By cubics through the members of other branches. */
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
