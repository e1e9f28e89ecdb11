/* Families of gaits of stationary cost, followed as the amount of their target grows.
 *
 *   mu E_c/2 + sum nu_k c_k,c = 0,  c_k(g(1); X) = 0,  mu^2 + |nu|^2/scale^2 = 1
 * in the coefficients c of a basis of time, by pseudo-arclength: so that a family comes without a kink to its gait of
 * greatest X, where mu = 0 and the momentum lambda = -nu/mu grows without bound, dE/dX = 2 lambda. A branch ends where
 * it meets a bound, or links that may not cross; its members go on along these walls, from gait to gait, as far as they
 * lead.
 * Source: Keller, Lectures on Numerical Methods in Bifurcation Problems (1987); Choi, Bass & Hatton, arXiv 2502.17672
 * (families of gaits by the amount). Units are the bundle's.
 */
#pragma once

#include <curvebody/optimum.h>

typedef enum cb_family_event_kind {
  CB_FAMILY_FARTHEST,    /* mu = 0: the greatest amount of the branch, which ends */
  CB_FAMILY_TURNING,     /* the amount turns with mu > 0: cost has a cusp over the amount */
  CB_FAMILY_BIFURCATION, /* an eigenvalue of the second variation passes 0, and the amount does not turn */
  CB_FAMILY_BOUND,       /* variable `other` meets or leaves a bound */
  CB_FAMILY_CROSSING,    /* lines of the picture begin or cease to cross */
  CB_FAMILY_CHEAPER,     /* branch `other` becomes cheaper, or ceases to be */
  CB_FAMILY_CYCLES,      /* 4 E(X/2) = E(X): two cycles in the time of one cost the same */
  CB_FAMILY_EFFICIENT,   /* lambda X = E: X^2/E is stationary */
  CB_FAMILY_UNRESOLVED,  /* the branch ends: its gaits have features finer than its functions of time */
  CB_FAMILY_EVENTS
} cb_family_event_kind;
extern const char *const cb_family_event_names[CB_FAMILY_EVENTS];

typedef struct cb_family_event {
  cb_family_event_kind kind;
  double amount, cost; /* the amount to 1e-8 of itself */
  int branch, other;   /* of bound: the variable; of cheaper: the branch; else -1 */
} cb_family_event;

typedef struct cb_family_member {
  double amount, cost, multiplier; /* lambda: dE/dX = 2 lambda */
  int index, flat;                 /* negative eigenvalues of the second variation at the target; symmetries */
  int branch, harmonics;           /* or half the degree of an arc */
  double tail; /* the last of its coefficients over the largest: cost errs by about its square; nan: at walls */
  bool cheapest;                   /* of all branches at this amount */
  cb_gait *gait;
  int states; /* before the family is whole: what it takes to go on from here; else 0 */
  double *state;
} cb_family_member;

typedef struct cb_family {
  int members, events, branches;
  cb_family_member *member; /* branch after branch, along it */
  cb_family_event *event;
} cb_family;

typedef struct cb_family_range {
  double from, to; /* of the amount; to infinite: as far as it goes */
  int members;     /* of a branch, evenly along it by amount, or by length to its end where `to` is infinite; >= 2 */
} cb_family_range;

/* A family before it is whole has as members the starts, of branch -1, and each step of its branches so far, with states.
 * tell: after each of them; its failure ends the search. known: members of the same problem and range as they were told
 * earlier: they are taken as they are, starts need not be given, and what follows is the same to the last digit. A branch
 * that does not begin as it did is traced anew. */
typedef struct cb_family_watch {
  cb_status (*tell)(void *context, const cb_family *so_far);
  void *context;
  int known, states;   /* rows, and the length of each */
  const int *branch;   /* [known] */
  const double *state; /* [known][states] */
} cb_family_watch;

/* Branches from starts, gaits near those that are sought at range->from, and those that leave them at bifurcations. The
 * problem's bundle, target (its kind), base, lower, upper and apart count. A branch that does not reach range->to ends
 * with an event. CB_ERROR_ARGUMENT where the target has no amount; CB_STEP_NO_CONVERGENCE where no start comes to a
 * gait. watch may be NULL. The caller frees. */
cb_status cb_family_follow(const cb_optimum_problem *problem, int starts, const cb_gait *const *start,
                           const cb_family_range *range, const cb_family_watch *watch, cb_family **out);
void cb_family_free(cb_family *f);
