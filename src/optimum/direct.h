/* Direct search: finds a gait of stationary cost in a basis of functions of time, by sequential quadratic programming.
 *
 *   cost         min E/2                            where c_k(g(1)) = 0
 *   efficiency   min log(E)/2 - log X               X: the amount of the target, unknown
 *   torque, work min E/2                            where c_k(g(1)) = 0, E: the cost of torques (effort.h)
 *   target       min -log X                         where c_k(g(1)) = 0 and E = length^2. If length is infinite (within
 *                                                   constraints), the objective has a small share of E, which fixes
 *                                                   the speed
 * E: cost of the gait (curvebody/optimum.h); g(1): its holonomy; c_k: conditions on g(1), first_k: their derivatives
 * (target.h); nu_k: multipliers of the conditions; mu: weight of E/2; E', c_k': derivatives in the coefficients of the
 * basis. r(0) is given if there is a start shape, and r_i is given where the gait crosses a break of the bundle (see
 * below). All derivatives are exact (variation.h). Negative curvature is replaced by its absolute value. Steps reduce
 * the merit f + rho |c|_1 (f: the objective, c: the conditions, rho: a weight), with a correction of second order
 * (Nocedal & Wright 2006, chapter 18, doi:10.1007/978-0-387-40065-5). At the end mu E'/2 + sum nu_k c_k' = 0. Then
 * lambda(0) = -sum nu_k first_k/mu is the momentum of Wong's equations (extremal.h) at the start.
 */
#pragma once

#include "optimum/effort.h"
#include "optimum/shape_constraint.h"
#include "optimum/reduced.h"
#include "optimum/target.h"
#include "optimum/variation.h"
#include <curvebody/gait.h>

/* Crossings of breaks of the bundle (curvebody/bundle.h), at which its connection A or its cost metric M has a kink or
 * jumps.
 *
 *   r_i(t*) = b;   p_j (j != i) and v'Mv are the same on both sides: p = M v + <lambda, A> of each side's A and M
 * r_i: the variable that crosses the break b at the time t*; v = r'; lambda, p: multipliers and momentum of Wong's
 * equations (extremal.h). p_i jumps. The gait is refracted like light: if A is continuous and M is a multiple of the
 * identity, the sines of the angles are in the inverse ratio of sqrt(M) of both sides (Snell's law). In a basis of arcs
 * that end at t*, r_i = b is an equation at a vertex, and its multiplier is the jump of p_i. The time t* follows from
 * equal speed on both sides. A gait that runs along a break, or crosses two breaks at once, obeys other conditions and
 * is not supported.
 * Source: Erdmann's corner conditions, Gelfand & Fomin, Calculus of Variations (1963), section 15.
 */

enum { CB_CROSSINGS_MAX = 16 };

/* A shape variable that has the given value `at` at a vertex, where two arcs meet. */
typedef struct cb_pin {
  int vertex, variable;
  double at;
} cb_pin;

/* The crossing of a break: shape variable number `variable` passes its break `at` at the time `time`. */
typedef struct cb_crossing {
  int variable;
  double at, time;
} cb_crossing;

/* Returns true if the bundle has breaks. */
bool cb_bundle_has_breaks(const cb_bundle *b);
/* Finds the crossings list[CB_CROSSINGS_MAX] of a gait, in the order of their times from 0. Returns
 * CB_ERROR_UNSUPPORTED, with the names of the variables in the message, if the gait runs along a break, crosses two
 * breaks at once, or has more than CB_CROSSINGS_MAX crossings. */
cb_status cb_gait_crossings(const cb_bundle *b, const cb_gait *gait, int *count, cb_crossing *list);
/* Returns CB_ERROR_UNSUPPORTED if a gait crosses a break, because families are not followed across breaks. */
cb_status cb_gait_uncrossed(const cb_bundle *b, const cb_gait *gait);

/* Corners of constraints around which a gait bends, for example where the tips of two links meet.
 *
 *   at a vertex of its arcs:  f_0(r) = f_1(r) = 0,  terms of one constraint s = max(f_0, f_1) >= 0 (shape_constraint.h)
 *   p(+) - p(-) = nu_0 f_0' + nu_1 f_1',  nu_0, nu_1 <= 0;   v'Mv is the same on both sides
 * r: the shape; v = r'; p(-), p(+): momentum before and after the vertex (extremal.h); f': gradient in r; nu:
 * multipliers; M: cost metric. Only one of f_0 and f_1 has to be positive, so that the path bends around the corner
 * like a string over an edge.
 */
enum { CB_CORNERS_MAX = 8 };

typedef struct cb_corner {
  int constraint, term[2], vertex; /* indices of the constraint, of its terms f_0 and f_1, and of the vertex */
  double df[2][CB_SHAPE_MAX], ddf[2][CB_SHAPE_MAX * CB_SHAPE_MAX]; /* first (df) and second (ddf) derivatives of f_0 and
                                                                    * f_1, set by cb_corner_at */
} cb_corner;

struct cb_direct;

/* Computes the terms f[2] at the vertex of the gait with coefficients c[n][functions]. With `slopes`, also computes the
 * members df and ddf of the corner. */
cb_status cb_corner_at(cb_shape_constraints *w, cb_corner *corner, int functions, const double *c, bool slopes,
                       double *f);

/* Starts from a gait that was found with a barrier, and finds the corners that the gait meets. Then solves, to
 * round-off, for the gait that passes these corners. Between the corners the gait is a polynomial of this degree. *out
 * is NULL if d has no barrier, or if the gait meets no corner. Returns CB_STEP_NO_CONVERGENCE if the gait or the times
 * of its corners do not converge, if the gait is not pressed against the corners, or if it violates a constraint
 * elsewhere. The caller frees *out. */
cb_status cb_direct_sharpen(struct cb_direct *d, int degree, struct cb_direct **out);

typedef struct cb_direct {
  const cb_optimum_problem *problem; /* borrowed; its members start and starts are not used */
  cb_gait_target target;             /* the target of the problem, with the current amount */
  cb_basis *basis;                   /* owned */
  cb_variation *v;
  cb_effort *effort; /* the cost of torques; NULL: the cost is that of the metric */
  cb_reduced *qp;
  cb_barrier *barrier; /* NULL: no constraints */
  int corners;         /* number of corners of constraints, which are at ends of arcs */
  cb_corner corner[CB_CORNERS_MAX];
  int pins, crossings; /* the last `crossings` pins are crossings of breaks */
  cb_pin pin[CB_SHAPE_MAX + CB_CROSSINGS_MAX];
  cb_active_constraints *active_constraints; /* owned: the constraints that a given gait meets; NULL: none */
  bool *frozen;                              /* [unknowns], owned: coefficients that stay constant; NULL: none */
  /* [n][functions]; c: the coefficients of the gait, set by the caller; trial: the coefficients of a trial step */
  double *c, *trial;
  double amount; /* nan if the target has no amount */
  double mu, nu[CB_CONDITIONS_MAX], lambda[CB_GROUP_DIM];
  double condition[CB_CONDITIONS_MAX + 2 + 3 * CB_SHAPE_MAX + CB_CROSSINGS_MAX + 2 * CB_CORNERS_MAX],
      off;      /* the values of the conditions, and the largest absolute value of them */
  double slope; /* |gradient of the objective along gaits that meet the conditions|/|gradient| */
  /* if the length is infinite: the factor of the cost E in the objective, pace E - log(amount) */
  double pace;
  /* the cost of torques in half as many functions of time; 0: it was not computed; infinite: a finer search failed */
  double coarse;
  double tolerance, tolerance_off; /* the search ends when `slope` and `off` are below these two numbers */
  int iterations;
  bool stationary; /* option: takes Newton's steps to any gait of stationary cost, not only to a minimum */
} cb_direct;

/* Creates a search for a gait. If the start is free, the gait is a smooth loop in `size` harmonics. Otherwise it is one
 * arc of degree 2 size, with a corner at the start. The coefficients c are zero. The caller frees *out. */
cb_status cb_direct_create(const cb_optimum_problem *problem, int size, cb_direct **out);
/* Creates a search in a given basis. The search then owns the basis, even after a failure. A basis of Fourier's
 * functions requires a free start. */
cb_status cb_direct_create_on(const cb_optimum_problem *problem, cb_basis *basis, cb_direct **out);
void cb_direct_free(cb_direct *d);
/* Returns true if the start of the cycle is free: there is no start shape, and the conditions depend only on the
 * conjugacy class of the holonomy. */
bool cb_direct_smooth(const cb_optimum_problem *problem);

/* Sets the coefficients c to those nearest to a gait, and then moves the vertices with pins to the values of the
 * pins. */
cb_status cb_direct_from(cb_direct *d, const cb_gait *gait);
/* Searches from the coefficients c. Returns CB_STEP_NO_CONVERGENCE after `maximum` iterations; c are then the
 * coefficients of the last gait. At first the constraints of the problem are ignored. If no gait is found, or the gait
 * violates constraints, the search repeats with a barrier (shape_constraint.h) from the same coefficients, scaled into
 * the allowed region. If the objective is the maximum amount at any length, the search begins with the barrier. The
 * weight tau of the barrier decreases to 1e-7 (times the cost, for the objective cost), or only to a value of at most
 * 1e-4 if lower values do not converge. If no constraint presses at the end, the gait is solved again without the
 * barrier. */
cb_status cb_direct_solve(cb_direct *d, int maximum);
/* Searches from the coefficients c without constraints, or with the current barrier. Returns CB_STEP_NO_CONVERGENCE
 * after `maximum` iterations (100 times as many for a gradient flow), or if no step improves the gait. */
cb_status cb_direct_settle(cb_direct *d, int maximum);
/* Computes the maximum amount of the target within the constraints at any length, by a search from a gait; `size` is as
 * in cb_direct_create. Returns the status of the search. */
cb_status cb_direct_maximum(const cb_optimum_problem *problem, const cb_gait *start, int size, double *amount);
/* Starts from a gait that was found with a barrier, and solves Wong's equations (extremal.h) for the gait that is
 * exactly at its bounds. On each of its arcs, *out has this gait as a polynomial of the given degree. Returns
 * CB_STEP_NO_CONVERGENCE if the equations have no solution near the given gait, or if the solution violates other
 * constraints. The caller frees *out. */
cb_status cb_direct_active_bounds(const cb_direct *d, int degree, cb_direct **out);
/* Computes the forces of the active constraints (shape_constraint.h); d then owns active_constraints, even after a
 * failure. After this call slopes, steps and the second variation are restricted to changes that the constraints allow.
 */
cb_status cb_direct_press(cb_direct *d, cb_active_constraints *active_constraints);
/* After a solution, computes the eigenvalues of the second variation over gaits at the target and stores them in
 * qp->eigen. */
cb_status cb_direct_second_variation(cb_direct *d);
/* Computes the times ends[arcs + 1] at which arcs end if the speed is the same on all arcs. Returns the largest
 * difference between these times and the present ends. */
double cb_direct_pace(const cb_direct *d, double *ends);
/* Adds pins for the crossings of breaks at ends of arcs (if a start shape is given, the start already has its pin).
 * After this call the cost is the cost at the optimal times of these ends (cb_variation_divide). */
cb_status cb_direct_cross(cb_direct *d, int count, const cb_crossing *list);
/* Searches from a gait that crosses breaks of the bundle, on arcs of this degree that end at the crossings. It calls
 * cb_direct_solve for given times of the crossings, and repeats until the times do not change. *d may have any basis;
 * it may be replaced by another search, even after a failure. Returns CB_ERROR_UNSUPPORTED if an intermediate gait runs
 * along a break or crosses two breaks at once, and CB_STEP_NO_CONVERGENCE if a search or the times do not converge. */
cb_status cb_direct_multiphase(cb_direct **d, const cb_gait *start, int degree, int maximum);
/* Counts the eigenvalues in qp->eigen that are negative, and those that are 0 to round-off. */
void cb_direct_signs(const cb_direct *d, int *negative, int *flat);
/* Tries ten steps along the negative gradient, and computes the share of the cost (for the objective efficiency: of
 * cost/amount^2) that the best of them saves at the target. The coefficients c do not change. */
cb_status cb_direct_flow(cb_direct *d, double *gain);

/* --- unknowns and pins --- */

static inline bool cb_direct_amount_is_free(const cb_direct *d) {
  return d->problem->objective == CB_OBJECTIVE_EFFICIENCY || d->problem->objective == CB_OBJECTIVE_TARGET;
}
/* Returns whether the gait begins and ends at rest. */
static inline bool cb_direct_rests(const cb_direct *d) { return d->effort && d->problem->start_shape; }
static inline bool cb_direct_has_barrier(const cb_direct *d) { return d->barrier && d->barrier->tau > 0; }
static inline int cb_direct_unknowns(const cb_direct *d) { return d->v->unknowns + cb_direct_amount_is_free(d); }

/* cb_direct_pinned returns the index of the coefficient that pin k sets. cb_direct_off_pin returns the distance of the
 * shape from the value of pin k. */
static inline int cb_direct_pinned(const cb_direct *d, int k) {
  return d->pin[k].variable * d->basis->functions + d->pin[k].vertex;
}
static inline double cb_direct_off_pin(const cb_direct *d, int k, const double *c) {
  const cb_pin *p = &d->pin[k];
  return c[cb_direct_pinned(d, k)] + d->v->drift[p->variable] * d->basis->end[p->vertex] - p->at;
}
