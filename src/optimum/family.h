/* Families of gaits of stationary cost that reach a target, followed as the amount X of the target grows; and steering:
 * gaits of minimum cost over a grid of targets.
 *
 *   mu E'/2 + sum_k nu_k c_k' = 0,  c_k(g(1); X) = 0,  mu^2 + |nu|^2/scale^2 = 1
 * E is the cost of a gait, and c_k are the conditions of the target on its holonomy g(1) (target.h). E' and c_k' are
 * derivatives in the coefficients of the gait's functions of time. mu and nu_k are multipliers, and `scale` is |nu|/mu
 * of the first gait. For the condition k that contains X, lambda = -nu_k/mu is the momentum, and dE/dX = 2 lambda.
 * Units are those of the bundle.
 *
 * Solutions are followed by pseudo-arclength. A branch is smooth up to its gait of maximum X: there mu = 0, lambda
 * diverges, and the branch ends. A branch also ends where it meets a bound, or where lines touch that may not cross.
 * Beyond this point more members are found along these constraints, each from the member before it, as far as possible.
 * Sources: Keller, Lectures on Numerical Methods in Bifurcation Problems (1987); Choi, Bass & Hatton, arXiv 2502.17672
 * (families of gaits by the amount).
 */
#pragma once

#include <curvebody/optimum.h>

typedef enum cb_family_event_kind {
  CB_FAMILY_FARTHEST, /* the weight mu of the cost becomes 0: the branch ends at its maximum amount */
  /* the amount has an extremum along the branch, and mu > 0: the cost as a function of the amount has a cusp */
  CB_FAMILY_TURNING,
  CB_FAMILY_BIFURCATION, /* an eigenvalue of the second variation changes sign, and the amount has no extremum there */
  CB_FAMILY_BOUND,       /* variable `other` meets or leaves a bound */
  CB_FAMILY_CROSSING,    /* lines of the drawing start or stop crossing */
  CB_FAMILY_CHEAPER,     /* branch `other` becomes cheaper, or stops being cheaper */
  CB_FAMILY_CYCLES,      /* 4 E(X/2) = E(X) for the cost E at the amount X: two cycles to X/2, each in half the time,
                          * cost as much as one to X */
  CB_FAMILY_EFFICIENT,   /* lambda X = E: the efficiency X^2/E is stationary (amount X, cost E, multiplier lambda) */
  CB_FAMILY_UNRESOLVED,  /* the branch ends because the functions of time cannot resolve its gaits */
  CB_FAMILY_EVENTS
} cb_family_event_kind;
extern const char *const cb_family_event_names[CB_FAMILY_EVENTS];

typedef struct cb_family_event {
  cb_family_event_kind kind;
  double amount, cost; /* the amount has a relative error of 1e-8 */
  int branch, other;   /* other: the variable (for a bound), the other branch (for CB_FAMILY_CHEAPER), or -1 */
} cb_family_event;

typedef struct cb_family_member {
  double amount, cost, multiplier; /* multiplier: lambda, with d(cost)/d(amount) = 2 lambda */
  int index, flat; /* numbers of negative and of zero eigenvalues of the second variation over gaits at the target */
  int branch, harmonics; /* harmonics: the number of harmonics of the gait, or half the degree of its arcs */
  /* the largest of the coefficients of the highest orders, divided by the largest of all coefficients of the gait. The
   * relative error of the cost is about the square of this number. It is nan for a member at constraints */
  double tail;
  bool cheapest; /* at the amount of this member, no branch has a cheaper gait */
  cb_gait *gait;
  int states; /* while the family is incomplete: the length of `state`, from which the branch continues; otherwise 0 */
  double *state;
} cb_family_member;

typedef struct cb_family {
  int members, events, branches;
  cb_family_member *member; /* the members of one branch after the other, in their order along the branch */
  cb_family_event *event;
} cb_family;

typedef struct cb_family_range {
  double from, to; /* range of the amount; if `to` is infinite, the family is followed as far as it exists */
  int members;     /* members per branch, >= 2, evenly spaced by amount, or by length if `to` is infinite */
} cb_family_range;

/* Reports of an incomplete family, and members that an earlier search reported.
 *
 * While a family is incomplete, its members are the starts, with branch -1, and all steps of its branches so far; each
 * has a state. report is called once for all new starts, and after each new member of a branch; its failure ends the
 * search. `known` is the number of members that were reported earlier for the same problem and range. They are used
 * without a new search, and no starts are needed. The result is bit for bit the same as without known members. A branch
 * whose first point differs from the known point is traced again. */
typedef struct cb_family_watch {
  cb_status (*report)(void *context, const cb_family *so_far);
  void *context;
  int known, states;   /* number of known members; length of the state of each of them */
  const int *branch;   /* [known]: the branch of each known member; -1: a start */
  const double *state; /* [known][states]: the states of the known members */
} cb_family_watch;

/* Follows branches from starts, which are gaits near the amount range->from, and branches that leave these branches at
 * bifurcations. It uses the bundle, the class of the target, and the members start_shape, lower, upper and no_crossing
 * of the problem. A branch that does not reach range->to ends with an event. Returns CB_ERROR_ARGUMENT if the target
 * has no amount, and CB_STEP_NO_CONVERGENCE if no start leads to a gait. watch may be NULL. The caller frees *out. */
cb_status cb_family_follow(const cb_optimum_problem *problem, int starts, const cb_gait *const *start,
                           const cb_family_range *range, const cb_family_watch *watch, cb_family **out);
void cb_family_free(cb_family *f);

/* --- steering: gaits of minimum cost over a grid of two numbers of the holonomy --- */

/* A node of the grid. The nodes are searched one after the other. Each of these searches is called a turn, and turns
 * are numbered. */
typedef struct cb_family_node {
  double cost;          /* nan if no gait was found; 0 at the identity */
  double multiplier[2]; /* half the derivatives of the cost in the two numbers of the holonomy */
  int index;            /* number of negative eigenvalues of the second variation; -1: no gait was found */
  int first, last;      /* the turns in which the first gait and the cheapest gait of this node were found */
  cb_gait *gait;        /* NULL at the identity, and if no gait was found */
} cb_family_node;

typedef struct cb_family_axis {
  int number,
      count; /* number: which of the numbers of the holonomy g varies along this axis; count: number of values */
  const double *value;
} cb_family_axis;

/* Finds gaits of minimum cost over a grid: two numbers of the holonomy have the values of axis[0] and axis[1], and the
 * other numbers are free. Node k of node[axis[0].count times axis[1].count] has value k/axis[1].count of the first axis
 * and value k % axis[1].count of the second. The members start_shape, lower, upper, no_crossing and starts of the
 * problem are used.
 *
 * The function searches at some nodes, and continues from their gaits to their neighbours: first outwards, and then in
 * at most six sweeps in alternating directions until no node becomes cheaper. Each node keeps its cheapest gait.
 * `report` is called after each turn with the node k of the turn, and with `changed`, which says whether the node
 * changed; a failure of `report` ends the search. Nodes that have gaits at the beginning were reported earlier for the
 * same problem and axes. If all reported nodes are given, the result is bit for bit the same as without the
 * interruption. Returns CB_STEP_NO_CONVERGENCE if no gait was found at any node. The caller frees the gaits of the
 * nodes in any case. */
typedef cb_status (*cb_family_grid_report)(void *context, int k, bool changed);
cb_status cb_family_grid(const cb_optimum_problem *problem, const cb_family_axis *axis, cb_family_grid_report report,
                         void *context, cb_family_node *node);
