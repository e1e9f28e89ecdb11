/* The modules of a search for a family: its equations and points, branches, members, events and states. */
#pragma once

#include "optimum/direct.h"
#include "optimum/family.h"

/* A point of a branch (family.h). z = (coefficients[u], nu[count]/scale, multipliers[extra] of the equations that fix
 * the start shape or the start, mu, amount) */
typedef struct family_point {
  int size, harmonics;
  double *z, *tangent; /* tangent: along the branch, with length 1 if the last entry, the amount, is not counted */
  double cost, s;      /* s: length along the branch */
  int index, flat;     /* numbers of negative and of zero eigenvalues of the second variation */
  double *eigen;       /* the eigenvalues of the reduced Hessian that are not 0, ascending */
  int values;          /* number of entries of eigen */
  int sign;            /* sign of the determinant of the matrix K with the tangent as its last row */
} family_point;

/* The last equation of the system: it fixes the step along a direction, the amount, or mu. */
typedef enum family_row { FAMILY_ALONG, FAMILY_AMOUNT, FAMILY_MU } family_row;

typedef struct family_system {
  const cb_optimum_problem *o;
  cb_gait_target target;
  cb_basis *basis;
  cb_variation *v;
  cb_reduced *reduced;
  /* n: number of shape variables; u: number of coefficients; count: number of conditions; extra: number of equations
   * that fix the start shape or, for a loop without a start shape, the time at which it starts; size: length of z; mu,
   * amount: their indices in z; row: the condition that contains the amount */
  int harmonics, n, u, count, extra, size, mu, amount, row;
  bool smooth;
  double scale;
  double *K, *column, *rows; /* K: [size][size]; column: [size]; rows: [extra][u], the equations that fix the start
                              * shape or the start */
  double *step, *work, *f;
  int *pivot;
} family_system;

/* --- family_system.c --- */
cb_status family_system_create(const cb_optimum_problem *o, int harmonics, double scale, family_system **out);
void family_system_free(family_system *y);
cb_status family_point_create(const family_system *y, family_point **out);
void family_point_free(family_point *p);
/* Copies a point to a new point with the number of harmonics of y, which must be at least that of the point. */
cb_status family_point_copy(const family_system *y, const family_point *from, family_point **out);
/* Solves the equations of a family from the guess p->z. FAMILY_ALONG: p stays in the plane through the guess at right
 * angles to direction[size]; otherwise value is the fixed amount or mu. Returns CB_STEP_NO_CONVERGENCE if the guess is
 * too far from a solution. */
cb_status family_correct(family_system *y, family_row row, const double *direction, double value, family_point *p,
                         int *iterations);
/* Computes the tangent, the eigenvalues and the index of a point that family_correct has computed. The tangent points
 * in the direction of `before`, or of a growing amount if `before` is NULL. */
cb_status family_look(family_system *y, const double *before, family_point *p);
/* Computes direction[size], in which another branch leaves the bifurcation p. It has length 1 and is at right angles to
 * the tangent. */
cb_status family_transverse(family_system *y, const family_point *p, double *direction);
/* Returns the largest of the coefficients of the highest orders, divided by the largest of all coefficients. */
double family_tail(const family_system *y, const family_point *p);
/* Returns true if the gait is too rough to follow the branch further, because the relative error of its cost exceeds
 * about 1e-6 (the square of family_tail). */
static inline bool family_unresolved(const family_system *y, const family_point *p) { return family_tail(y, p) > 1e-3; }
static inline double family_lambda(const family_system *y, const family_point *p) {
  return -p->z[y->u + y->row] * y->scale / p->z[p->size - 2];
}
static inline double family_mu(const family_point *p) { return p->z[p->size - 2]; }
static inline double family_amount(const family_point *p) { return p->z[p->size - 1]; }

/* --- family_branch.c --- */
typedef struct family_branch {
  family_point **knot;
  int knots, capacity;
  bool whole; /* the branch reached the point at which it should end */
} family_branch;

/* A function that is called for each point that was added to a branch. h is the next step of the branch; `whole` says
 * whether the branch is complete. */
typedef cb_status (*family_pushed)(void *context, const family_point *p, double h, bool whole);

typedef struct family_walk {
  family_system *y;
  family_pushed pushed; /* may be NULL */
  void *context;
  double from, to; /* range of the amount, in which the branch is traced */
} family_walk;

/* Traces the branch from its last knot, which must have a tangent. h is the first step; 0: the default step. */
cb_status family_branch_trace(family_walk *w, double h, family_branch *b);
/* Adds the point p to the branch, which then owns it, even after a failure. */
cb_status family_branch_push(family_branch *b, family_point *p);
void family_branch_free(family_branch *b);
/* If the point *p has too few harmonics, replaces it by a corrected point with enough harmonics. The system of the walk
 * gets the same number of harmonics. row and value are as in family_correct. */
cb_status family_resolve(family_walk *w, family_point **p, family_row row, const double *value);
/* These functions find the point of a branch between two knots, at the length s or at an amount. s or the amount must
 * lie between those of the knots. The caller frees *out. */
cb_status family_between(family_walk *w, const family_point *a, const family_point *b, double s, family_point **out);
cb_status family_at_amount(family_walk *w, const family_point *a, const family_point *b, double amount,
                           family_point **out);
/* family_harmonics sets the number of harmonics of the system of the walk. family_pair sets it to that of the finer of
 * two points. */
cb_status family_harmonics(family_walk *w, int harmonics);
static inline cb_status family_pair(family_walk *w, const family_point *a, const family_point *b) {
  return family_harmonics(w, a->harmonics > b->harmonics ? a->harmonics : b->harmonics);
}

/* --- family.c, family_members.c --- */
enum { FAMILY_BRANCHES = 16, FAMILY_FIRST = 8 }; /* maximum number of branches; number of harmonics of a first gait */

typedef struct family_work {
  family_walk walk;
  const cb_family_range *range;
  const cb_family_watch *watch; /* may be NULL */
  cb_family *f;
  family_branch branch[FAMILY_BRANCHES];
  /* now: the branch whose events are reported; other: the second branch of a CB_FAMILY_CHEAPER event */
  int branches, now, other;
  int member_capacity, event_capacity;
  family_point *turning;      /* the turning point at which the branch `now` ends; NULL: none */
  bool held[FAMILY_BRANCHES]; /* the branch ends at a constraint, along which the family continues */
} family_work;

/* Makes sure that an array has capacity for one more item. */
cb_status family_widen(void **array, int count, int *capacity, size_t size);
/* Adds the knot p of the branch with the index `branch` to the members of the family. */
cb_status family_put_knot(family_work *k, int branch, const family_point *p);
/* Adds the members of a complete branch to the family, at the amounts that the range requires. */
cb_status family_members_of(family_work *k, int branch);
/* Marks the members that are the cheapest at their amounts. */
void family_mark(cb_family *f);

/* --- family_events.c --- */
/* family_events calls `found` with each event of a branch that does not involve other branches, and with its point
 * (borrowed), in order along the branch. */
typedef cb_status (*family_found)(void *context, const cb_family_event *event, const family_point *p);
cb_status family_events(family_walk *w, const family_branch *b, family_found found, void *context);

/* Sets *outside to true if p is outside the bounds of the problem, or if its lines cross although no_crossing is set.
 */
cb_status family_outside(family_walk *w, const family_point *p, bool *outside);

/* --- family_branch.c: states --- */
/* Stores a point of a branch, the length h of the next step, and `whole` in an array of numbers, from which the branch
 * can be continued. The caller frees *out. */
cb_status family_state_make(const family_system *y, const family_point *p, double h, bool whole, double **out,
                            int *count);
/* Reads a point from state[count]. If these numbers are not a point of this problem, *out is NULL. Creates the system
 * of the walk if there is none. */
cb_status family_state_read(family_walk *w, const cb_optimum_problem *o, int count, const double *state,
                            family_point **out, double *h, bool *whole);

/* --- family_events.c: comparison of costs --- */
/* Returns the cost at an amount between two points, from the cubic through their costs E and slopes dE/dX = 2 lambda at
 * the amounts X. */
static inline double family_cubic(const double *X, const double *E, const double *lambda, double amount) {
  const double h = X[1] - X[0], x = (amount - X[0]) / h, q = x * x * (3 - 2 * x);
  return (1 - q) * E[0] + q * E[1] + 2 * h * x * (1 - x) * ((1 - x) * lambda[0] - x * lambda[1]);
}
/* Returns true if the branch has a gait with the amount and cost of p. This gait is then p or its mirror image. */
bool family_passes(family_walk *w, const family_branch *b, const family_point *p);
/* Finds the amounts at which one branch becomes cheaper than another. Also finds the amounts at which two cycles of a
 * branch cost as much as one cycle. */
cb_status family_meet(family_walk *w, const family_branch *one, const family_branch *two, family_found found,
                      void *context);
cb_status family_cycles(family_walk *w, const family_branch *b, family_found found, void *context);
