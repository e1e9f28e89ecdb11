/* Constraints on shapes: functions s_k(r) that must be >= 0, the active constraints of a gait, and the barrier of a
 * search.
 *
 *   bounds        r_i - lower_i, upper_i - r_i, for bounds that are finite
 *   no_crossing   for two lines of the plot:  s = max_c min_j f_cj(r),  f_cj = +-(b_j - a).u
 * r: shape; u: one of four axes, along or at right angles to one of the two lines; c: one of the eight pairs of an axis
 * and a sign; b_j, j = 0, 1: the ends of the other line; a: of the two ends of the line that defines u, the one that is
 * farthest along +-u. By the theorem of separating axes two segments in the plane are apart if their projections on one
 * of these four axes are apart: s > 0 if they are apart, s = 0 if they touch, and s < 0 if they cross. Each f_cj is
 * smooth, but s is not: the allowed region may have corners that point inwards, for example where the tips of two links
 * meet.
 *
 * With soft > 0 smooth functions replace max and min (m_c = min_j f_cj), and s becomes lower by at most e log 16:
 *   min_j -> -e log sum_j exp(-f_j/e),   max_c -> e log sum_c exp(m_c/e) - e log 8,   e = soft times the longest line
 * Lines that share a point, or touch at every shape (hinged links), give no constraint. The points of the plot are
 * differentiated by differences of order 8, with errors of about 1e-12 of their distances.
 * Source: Ericson, Real-Time Collision Detection (2005), section 4.4.1.
 */
#pragma once

#include "optimum/variation.h"
#include <curvebody/optimum.h>

enum { CB_SHAPE_CONSTRAINT_TERMS = 16 };

typedef struct cb_shape_constraint {
  int variable;    /* the variable of a bound; -1: the constraint is for two lines */
  double sign, at; /* for a bound: s = sign (r_i - at), i = variable */
  int line[2];     /* indices of the two lines */
} cb_shape_constraint;

typedef struct cb_shape_constraints {
  const cb_bundle *bundle;
  int n, count;
  cb_shape_constraint *constraint;
  double size; /* length of the longest line */
  struct cb_shape_constraints_work *work;
} cb_shape_constraints;

/* Creates the constraints from the members lower, upper and no_crossing of the problem; *out is NULL if there are none.
 * Returns CB_ERROR_ARGUMENT unless lower < upper. With no_crossing, it also returns CB_ERROR_ARGUMENT for a bundle
 * without lines and for a plot in space, where lines can pass one another, and CB_ERROR_UNSUPPORTED for more than
 * CB_JET_MAX shape variables. The caller frees *out. */
cb_status cb_shape_constraints_create(const cb_optimum_problem *o, cb_shape_constraints **out);
void cb_shape_constraints_free(cb_shape_constraints *w);

/* Computes the values s[count] at the shape r, and their derivatives ds[count][n] and dds[count][n][n] in r, which may
 * both be NULL; soft is explained at the top of this file. Returns the status of the plot, and CB_ERROR_UNSUPPORTED for
 * derivatives of a plot of more than 256 points. Only one thread may use w at a time. */
cb_status cb_shape_constraints_at(cb_shape_constraints *w, double soft, const double *r, double *s, double *ds,
                                  double *dds);

/* These functions are for constraint k of two lines. cb_shape_constraints_leading finds the two candidates c with the
 * largest m_c, the larger one first. For each of them it returns the number of the term with f_cj = m_c.
 * cb_shape_constraints_term computes the value f of a term and, unless df is NULL, its derivatives df[n] and ddf[n][n].
 */
cb_status cb_shape_constraints_leading(cb_shape_constraints *w, int k, const double *r, int term[2]);
cb_status cb_shape_constraints_term(cb_shape_constraints *w, int k, int term, const double *r, double *f, double *df,
                                    double *ddf);

/* The active constraints of a given gait, which are those with s = 0, and the forces with which they act on it.
 *
 *   s_k(r(t)) = 0 on complete arcs of its basis, or at a vertex;  admissible changes  ds_k . delta r >= 0 there
 *   -grad E/2 along gaits at the target = x - A'z:  x its projection on the cone of these changes (reduced.h), z >= 0
 *       the forces
 *   critical cone: ds_k . delta r = 0 where z > 0;  the second variation there has - sum z s_k''
 * delta r: change of the gait; ds_k, s_k'': first and second derivatives of s_k in r; A: the rows ds_k phi for the
 * basis functions phi; E: cost. The projection on the cone only decides which constraints press on the gait, those with
 * z > 0. x is then computed as the projection on the space A x = 0, where A has the rows of these constraints only. At
 * a corner of a constraint that points inwards (two terms f_0 = f_1 = 0, direct.h) the gait bends around the corner.
 * There ds is replaced by the normals of the two legs, (f_1'v) f_0' - (f_0'v) f_1', v = r', which point away from the
 * constraint. Source: Bonnans & Shapiro, Perturbation Analysis of Optimization Problems (2000), sections 3.1 and 3.2.
 */

enum { CB_ACTIVE_CONSTRAINTS_MAX = 32, CB_ACTIVE_CONSTRAINT_EDGES_MAX = 32 };

typedef struct cb_active_constraint {
  int constraint;  /* index of the constraint in cb_shape_constraints */
  double from, to; /* times; to > 1 if the gait is still at the constraint after the end of the cycle */
  /* The time integral of the force of the constraint, d(E/2)/ds, where the constraint is s >= 0. For the objective
   * efficiency it is d(log(E)/2)/ds. It is 0 if the constraint has no force on the gait. */
  double impulse;
} cb_active_constraint;

typedef struct cb_active_constraints {
  int count, rows, unknowns;
  cb_active_constraint item[CB_ACTIVE_CONSTRAINTS_MAX];
  bool all; /* option: all active constraints count as equations, also those without a force on the gait */
  /* result: some active constraints have no force on the gait. The critical cone then has an inequality for each of
   * them. */
  bool idle;
  struct cb_active_constraints_work *work;
} cb_active_constraints;

/* Finds the times ends[CB_ACTIVE_CONSTRAINT_EDGES_MAX + 1] at which arcs of a gait end. They are 0, the breaks of the
 * gait (none if it has more than 16), the times at which the gait passes breaks of the bundle, the times at which it
 * meets and leaves constraints (constraints may be NULL), and 1. *at_bounds becomes true if the gait is at a constraint
 * at some time. Returns CB_ERROR_ARGUMENT if the gait violates a constraint, and CB_ERROR_UNSUPPORTED if there are too
 * many ends.
 */
cb_status cb_active_constraint_arcs(const cb_bundle *b, cb_shape_constraints *constraints, const cb_gait *gait,
                                    int *arcs, double *ends, bool *at_bounds);

/* Creates the active constraints of a gait in a basis of arcs that end at the times of cb_active_constraint_arcs.
 * `unknowns` is the length of the gradients that the functions below use; it is at least n times the number of
 * functions of the basis. The caller frees *out. */
cb_status cb_active_constraints_create(cb_shape_constraints *constraints, const cb_basis *basis, const cb_gait *gait,
                                       int unknowns, cb_active_constraints **out);
void cb_active_constraints_free(cb_active_constraints *c);

/* Finds which constraints press on the gait, and with which forces. g[unknowns] is the gradient of the objective, and
 * J[rows][unknowns] are the gradients of the other equations that the gait satisfies. */
cb_status cb_active_constraints_press(cb_active_constraints *c, int rows, const double *J, const double *g);
/* cb_active_constraints_rows writes the gradients of the constraints that press on the gait to the rows of J, and
 * returns their number. cb_active_constraints_second_variation subtracts sum z s'' (see above) from H, whose rows have
 * `columns` numbers. */
int cb_active_constraints_rows(const cb_active_constraints *c, double *J);
void cb_active_constraints_second_variation(const cb_active_constraints *c, int columns, double *H);

/* Returns the tolerance below which the value s_k of constraint k counts as 0. It allows for gaits whose numbers were
 * typed with few digits. */
double cb_shape_constraint_slack(const cb_shape_constraints *w, int k);
/* Writes the name of a constraint, such as "alpha1 <= 0.7" or "lines 0 and 2 apart". */
void cb_shape_constraint_name(const cb_shape_constraints *w, int k, size_t size, char *name);

/* Constraints in a direct search: a logarithmic barrier at the nodes of the basis, and its primal-dual Hessian.
 *
 *   b(c) = -tau sum_q w_q sum_k log s_k(r_q),   r_q = sum_a c_a phi_a(t_q)
 *   b' = -tau sum w s'/s,   b'' ~ sum w (z/s s's'^T - z s''),   z -> tau/s as Newton's method converges
 * b: barrier; tau: its weight; s_k: constraints; c: coefficients of the gait; phi_a: functions of the basis; t_q, w_q:
 * nodes and weights; r_q: shapes at the nodes; s', s'': derivatives in r; z: multipliers of the constraints. Since z is
 * a separate variable, tau may be reduced by a factor of 10 at once. The error of the objective is about tau times the
 * share of time spent at constraints. Constraints are not enforced between nodes, so a gait may cut a corner that
 * points inwards. Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), chapter 19,
 * doi:10.1007/978-0-387-40065-5.
 */

typedef struct cb_barrier {
  cb_shape_constraints *constraints; /* owned */
  const cb_basis *basis;             /* borrowed */
  int n;
  double tau, soft; /* tau = 0: no barrier; soft: the argument of cb_shape_constraints_at */
  double value;     /* the barrier b at the latest shapes */
  /* at the nodes: s, ds and dds from the latest cb_barrier_at with slopes, and z; the first indices of each are
   * [nodes][count] */
  double *s, *ds, *dds, *z;
  double *trial; /* s at the nodes from the latest cb_barrier_at without slopes */
  struct cb_arena *arena;
} cb_barrier;

/* Creates a barrier; *out is NULL if the problem has no constraints. The caller frees *out. */
cb_status cb_barrier_create(const cb_optimum_problem *o, const cb_basis *basis, cb_barrier **out);
void cb_barrier_free(cb_barrier *b);

/* Computes the barrier at the shapes r[nodes][n]. With `slopes`, sets value (infinite if an s is not above 0), s, ds
 * and dds; otherwise only value and trial. */
cb_status cb_barrier_at(cb_barrier *b, const double *r, bool slopes);
/* Sets each multiplier z to tau/s if `afresh`; otherwise moves it into the range from 1e-10 tau/s to 1e10 tau/s. */
void cb_barrier_begin(cb_barrier *b, bool afresh);
/* These functions add the first derivatives of the barrier to g[n functions], and its second derivatives to H, whose
 * rows have `columns` numbers. */
void cb_barrier_gradient(const cb_barrier *b, double *g);
void cb_barrier_hessian(const cb_barrier *b, int columns, double *H);
/* cb_barrier_reach returns the largest fraction, at most 1, of a step that keeps at least .005 of every s, to first
 * order in the step. cb_barrier_follow moves the multipliers z along their own Newton step, shortened so that at least
 * .005 of every z remains. */
double cb_barrier_reach(const cb_barrier *b, const double *step);
void cb_barrier_follow(cb_barrier *b, const double *step);

/* Returns the minimum of s at the nodes of the gait with coefficients c. */
double cb_barrier_least(cb_barrier *b, const double *c);
/* Scales the gait with coefficients c towards an allowed shape until the gait is allowed at all nodes, with some
 * distance from the constraints. Returns CB_STEP_NO_CONVERGENCE if no such shape is found. */
cb_status cb_barrier_enter(cb_barrier *b, const double *start_shape, double *c);
