/* The equations of a family, and points of it. */
#pragma once

#include "optimum/direct.h"
#include "optimum/family.h"

/* z = (c[u], nu[count]/scale, multipliers of base or start [extra], mu, amount) */
typedef struct family_point {
  int size, harmonics;
  double *z, *tangent; /* [size]: of length 1 but for the amount, along the branch */
  double cost, s;      /* s: length along the branch */
  int index, flat;
  double *eigen; /* of the reduced Hessian, ascending, without flat ones */
  int values;
  int sign; /* of the determinant bordered with the tangent */
} family_point;

/* What closes the system: along a direction, at an amount, or at a mu. */
typedef enum family_row { FAMILY_ALONG, FAMILY_AMOUNT, FAMILY_MU } family_row;

typedef struct family_system {
  const cb_optimum_problem *o;
  cb_gait_target target;
  cb_basis *basis;
  cb_variation *v;
  cb_reduced *reduced;
  int harmonics, n, u, count, extra, size, mu, amount, row; /* places in z; the condition that has the amount */
  bool smooth;
  double scale;
  double *K, *column, *rows; /* [size][size]; [size]; of base or start: [extra][u] */
  double *step, *work, *f;
  int *pivot;
} family_system;

/* --- family_system.c --- */
cb_status family_system_create(const cb_optimum_problem *o, int harmonics, double scale, family_system **out);
void family_system_free(family_system *y);
cb_status family_point_create(const family_system *y, family_point **out);
void family_point_free(family_point *p);
/* The same in the harmonics of y. */
cb_status family_point_copy(const family_system *y, const family_point *from, family_point **out);
/* p from its z as a guess; along: direction[size] through that guess (FAMILY_ALONG), or the value that is kept. */
cb_status family_correct(family_system *y, family_row row, const double *direction, double value, family_point *p,
                         int *iterations);
/* tangent (towards `before`, NULL: of growing amount), eigenvalues and index of a corrected point. */
cb_status family_look(family_system *y, const double *before, family_point *p);
/* The direction in which another branch leaves a bifurcation p: across the tangent, of length 1. */
cb_status family_across(family_system *y, const family_point *p, double *direction);
/* The largest of the last coefficients over the largest. */
double family_tail(const family_system *y, const family_point *p);
/* Where a branch is followed no farther: cost errs by about 1e-6. */
static inline bool family_unresolved(const family_system *y, const family_point *p) { return family_tail(y, p) > 1e-3; }
static inline double family_lambda(const family_system *y, const family_point *p) {
  return -p->z[y->u + y->row] * y->scale / p->z[p->size - 2];
}
static inline double family_mu(const family_point *p) { return p->z[p->size - 2]; }
static inline double family_amount(const family_point *p) { return p->z[p->size - 1]; }

/* --- family_branch.c --- */
typedef struct family_branch {
  family_point **knot;
  int knots, room;
  bool whole; /* it came to where it was to end */
} family_branch;

/* Of a point that was pushed on a branch, which goes on from it by a step h unless it is whole. */
typedef cb_status (*family_pushed)(void *context, const family_point *p, double h, bool whole);

typedef struct family_walk {
  family_system *y;
  family_pushed pushed; /* or NULL */
  void *context;
  double from, to;
  double least, most; /* amounts that are passed at no time */
} family_walk;

/* From the last knot, which is looked at, along its tangent; h: the first step, 0 for the usual one. */
cb_status family_branch_trace(family_walk *w, double h, family_branch *b);
/* p is the branch's from then on, in any case. */
cb_status family_branch_push(family_branch *b, family_point *p);
void family_branch_free(family_branch *b);
/* A corrected point (which is replaced) in harmonics of the walk that resolve it. */
cb_status family_resolve(family_walk *w, family_point **p, family_row row, const double *value);
/* The point of the branch between two knots at s, or at an amount between theirs. The caller frees. */
cb_status family_between(family_walk *w, const family_point *a, const family_point *b, double s, family_point **out);
cb_status family_at_amount(family_walk *w, const family_point *a, const family_point *b, double amount,
                           family_point **out);
/* The walk's system in that many harmonics; that of two points. */
cb_status family_harmonics(family_walk *w, int harmonics);
static inline cb_status family_pair(family_walk *w, const family_point *a, const family_point *b) {
  return family_harmonics(w, a->harmonics > b->harmonics ? a->harmonics : b->harmonics);
}

/* --- family.c, family_members.c --- */
enum { FAMILY_BRANCHES = 16, FAMILY_FIRST = 8 }; /* branches at most; harmonics of a first gait */

typedef struct family_work {
  family_walk walk;
  const cb_family_range *range;
  const cb_family_watch *watch; /* or NULL */
  cb_family *f;
  family_branch branch[FAMILY_BRANCHES];
  int branches, now, other; /* now: whose events are told; other: of cheaper */
  int room_members, room_events;
  family_point *turning;      /* of the branch now, where it ends by one */
  bool held[FAMILY_BRANCHES]; /* it ends at a wall, along which the family goes on */
} family_work;

/* Room for one more. */
cb_status family_widen(void **array, int count, int *room, size_t size);
/* A knot as a member. */
cb_status family_put_knot(family_work *k, int branch, const family_point *p);
/* The members of a branch that is whole. */
cb_status family_members_of(family_work *k, int branch);
/* Those that are the cheapest at their amounts. */
void family_mark(cb_family *f);

/* --- family_events.c --- */
/* What is told of a branch but of others: calls `found` with each event and its point (borrowed), along the branch. */
typedef cb_status (*family_found)(void *context, const cb_family_event *event, const family_point *p);
cb_status family_events(family_walk *w, const family_branch *b, family_found found, void *context);

/* True where p is beyond the problem's bounds, or its lines cross though they are to be apart. */
cb_status family_outside(family_walk *w, const family_point *p, bool *outside);

/* --- family_held.c --- */
/* Members at walls: from a gait on towards an amount, at each of `count` of them until none is found; the last is then as
 * near to where they end as bisection tells. `put` takes each, with its gait. */
typedef cb_status (*family_put)(void *context, const cb_family_member *m);
cb_status family_held(const cb_optimum_problem *o, const cb_gait *start, double from, int count, const double *amount,
                      family_put put, void *context);

/* --- family_state.c --- */
/* A point and how its branch goes on from it, as numbers; the caller frees. */
cb_status family_state_make(const family_system *y, const family_point *p, double h, bool whole, double **out,
                            int *count);
/* The point in numbers that may be any; NULL where they are none of this problem's. The walk may lack a system. */
cb_status family_state_read(family_walk *w, const cb_optimum_problem *o, int count, const double *state,
                            family_point **out, double *h, bool *whole);

/* --- family_compare.c --- */
/* Cost at an amount between two of dE/dX = 2 lambda: E + dE'(..) as a cubic. */
static inline double family_cubic(const double *X, const double *E, const double *lambda, double amount) {
  const double h = X[1] - X[0], x = (amount - X[0]) / h, q = x * x * (3 - 2 * x);
  return (1 - q) * E[0] + q * E[1] + 2 * h * x * (1 - x) * ((1 - x) * lambda[0] - x * lambda[1]);
}
/* True where the branch has a gait of p's amount and cost: p, or its mirror image. */
bool family_passes(family_walk *w, const family_branch *b, const family_point *p);
/* Where one branch becomes cheaper than another, and where two cycles of a branch cost what one does. */
cb_status family_meet(family_walk *w, const family_branch *one, const family_branch *two, family_found found,
                      void *context);
cb_status family_cycles(family_walk *w, const family_branch *b, family_found found, void *context);
