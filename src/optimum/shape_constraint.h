/* Constraints on shapes: the functions s_k(r) >= 0, the active constraints of a gait, and the barrier of a search.
 *
 *   bounds        r_i - lower_i, upper_i - r_i, for bounds that are finite
 *   no_crossing   for two lines of the plot:  s = max_c min_j f_cj(r),  f_cj = +-(b_j - a).u
 * u is one of four axes: along or at right angles to one of the lines. b_j are the ends of the other line, and a is the
 * end of the line that defines u, farthest along +-u. By the theorem of separating axes two segments in the plane are
 * apart if their projections on one of these four axes are apart: s > 0 if they are apart, s = 0 if they touch, and s <
 * 0 if they cross. Each f_cj is smooth, but s is not: the allowed region may have corners that point inwards, for
 * example where the tips of two links meet. With soft > 0 max and min (m_c = min_j f_cj) are replaced by smooth
 * functions, and s becomes lower by at most e log 16:
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
  double sign, at; /* of a bound: s = sign (r - at) */
  int line[2];     /* indices of the two lines */
} cb_shape_constraint;

typedef struct cb_shape_constraints {
  const cb_bundle *bundle;
  int n, count;
  cb_shape_constraint *constraint;
  double size; /* length of the longest line */
  struct cb_shape_constraints_work *work;
} cb_shape_constraints;

/* Creates the constraints lower, upper and no_crossing of the problem; *out is NULL if there are none.
 * CB_ERROR_ARGUMENT unless lower < upper, and with no_crossing for a bundle without lines or with a plot in space,
 * where lines can pass one another; CB_ERROR_UNSUPPORTED for no_crossing with more than CB_JET_MAX shape variables. The
 * caller frees. */
cb_status cb_shape_constraints_create(const cb_optimum_problem *o, cb_shape_constraints **out);
void cb_shape_constraints_free(cb_shape_constraints *w);

/* Computes s[count], ds[count][n] and dds[count][n][n]; ds and dds may both be NULL. Returns the status of the plot,
 * and CB_ERROR_UNSUPPORTED for derivatives of a plot of more than 256 points. Only one thread may use w at a time. */
cb_status cb_shape_constraints_at(cb_shape_constraints *w, double soft, const double *r, double *s, double *ds,
                                  double *dds);

/* For two lines: `leading` finds the terms f_cj of the two largest candidates c, the larger first; `term` computes the
 * value and derivatives of a term. */
cb_status cb_shape_constraints_leading(cb_shape_constraints *w, int k, const double *r, int term[2]);
cb_status cb_shape_constraints_term(cb_shape_constraints *w, int k, int term, const double *r, double *f, double *df,
                                    double *ddf);

/* The active constraints of a given gait, which are those with s = 0, and the forces with which they act on it.
 *
 *   s_k(r(t)) = 0 on complete arcs of its basis, or at a vertex;  admissible changes  ds_k . delta r >= 0 there
 *   -grad E/2 along gaits at the target = x - A'z:  x its projection on the cone of these changes (reduced.h), z >= 0
 *       the forces
 *   critical cone: ds_k . delta r = 0 where z > 0;  the second variation there has - sum z s_k''
 * delta r: change of the gait; A: the rows ds_k phi for the basis functions phi; E: cost.
 * The projection on the cone only decides which constraints press, z > 0; x is then computed as the projection on A x =
 * 0 of their rows. At a corner of a constraint that points inwards (two terms f_0 = f_1 = 0, direct.h) the gait bends
 * around the corner: ds is replaced by the normals of the two legs, (f_1'v) f_0' - (f_0'v) f_1', which point away from
 * the constraint.
 * Source: Bonnans & Shapiro, Perturbation Analysis of Optimization Problems (2000), sections 3.1 and 3.2.
 */

enum { CB_ACTIVE_CONSTRAINTS_MAX = 32, CB_ACTIVE_CONSTRAINT_EDGES_MAX = 32 };

typedef struct cb_active_constraint {
  int constraint;  /* index in cb_shape_constraints */
  double from, to; /* times; to > 1 if the gait stays at the constraint past the end of the cycle */
  double
      impulse; /* impulse of the force, d(E/2)/ds; for the objective efficiency: d(log(E)/2)/ds; 0: the constraint does
                * not press */
} cb_active_constraint;

typedef struct cb_active_constraints {
  int count, rows, unknowns;
  cb_active_constraint item[CB_ACTIVE_CONSTRAINTS_MAX];
  bool all;  /* option: the rows of all active constraints are equations, not only of those that press */
  bool idle; /* result: some rows have neither a force nor a motion away, so that the critical cone has another span */
  struct cb_active_constraints_work *work;
} cb_active_constraints;

/* Finds the times at which arcs of a gait end: 0, its breaks (none if it has more than 16), the breaks of the bundle
 * that it passes, the times at which it meets and leaves constraints (constraints may be NULL), and 1.
 * ends[CB_ACTIVE_CONSTRAINT_EDGES_MAX + 1]. at_bounds: the gait is at a constraint at some time. CB_ERROR_ARGUMENT if
 * it violates a constraint; CB_ERROR_UNSUPPORTED if there are too many ends. */
cb_status cb_active_constraint_arcs(const cb_bundle *b, cb_shape_constraints *constraints, const cb_gait *gait,
                                    int *arcs, double *ends, bool *at_bounds);

/* Creates the active constraints of a gait in a basis of such arcs; unknowns >= n functions. The caller frees. */
cb_status cb_active_constraints_create(cb_shape_constraints *constraints, const cb_basis *basis, const cb_gait *gait,
                                       int unknowns, cb_active_constraints **out);
void cb_active_constraints_free(cb_active_constraints *c);

/* Computes the forces from the gradient g and the equations J[rows], both in `unknowns`. */
cb_status cb_active_constraints_press(cb_active_constraints *c, int rows, const double *J, const double *g);
/* Writes to J the rows of the directions in which the gait cannot move, and returns their number; the second function
 * subtracts sum z s'' from the first `columns` of H. */
int cb_active_constraints_rows(const cb_active_constraints *c, double *J);
void cb_active_constraints_second_variation(const cb_active_constraints *c, int columns, double *H);

/* Returns the tolerance below which s_k counts as 0. It allows for gaits whose numbers were typed with few digits. */
double cb_shape_constraint_slack(const cb_shape_constraints *w, int k);
/* Writes the name of a constraint: "alpha1 <= 0.7", "lines 0 and 2 apart". */
void cb_shape_constraint_name(const cb_shape_constraints *w, int k, size_t size, char *name);

/* Constraints in a direct search: a logarithmic barrier at the nodes of the basis, and its primal-dual Hessian.
 *
 *   b(c) = -tau sum_q w_q sum_k log s_k(r_q),   r_q = sum_a c_a phi_a(t_q)
 *   b' = -tau sum w s'/s,   b'' ~ sum w (z/s s's'^T - z s''),   z -> tau/s as Newton's method converges
 * c: coefficients of the gait; phi_a: functions of the basis; t_q, w_q: nodes and weights; s': gradient in r. Since z
 * is a separate variable, tau may be reduced by a factor of 10 at once. The error of the objective is about tau times
 * the share of time spent at constraints. Constraints are not enforced between nodes: a gait cuts an inward corner
 * there.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), chapter 19, doi:10.1007/978-0-387-40065-5.
 */

typedef struct cb_barrier {
  cb_shape_constraints *constraints; /* owned */
  const cb_basis *basis;             /* borrowed */
  int n;
  double tau, soft;         /* tau = 0: no barrier; soft: see cb_shape_constraints_at */
  double value;             /* b at the latest shapes */
  double *s, *ds, *dds, *z; /* at the nodes, [nodes][count]..., from the latest call with slopes */
  double *trial;            /* s at the nodes, from the latest call without slopes */
  struct cb_arena *arena;
} cb_barrier;

/* Creates a barrier; *out is NULL if the problem has no constraints. The caller frees. */
cb_status cb_barrier_create(const cb_optimum_problem *o, const cb_basis *basis, cb_barrier **out);
void cb_barrier_free(cb_barrier *b);

/* Computes value (infinite if an s is not above 0) and s, ds and dds at the shapes r[nodes][n]; without slopes only
 * value and trial. */
cb_status cb_barrier_at(cb_barrier *b, const double *r, bool slopes);
/* Sets z to tau/s (afresh), or limits z to within a factor 1e10 of tau/s. */
void cb_barrier_begin(cb_barrier *b, bool afresh);
/* Add b' to g[n functions], and b'' to H, whose rows have `columns` numbers. */
void cb_barrier_gradient(const cb_barrier *b, double *g);
void cb_barrier_hessian(const cb_barrier *b, int columns, double *H);
/* reach: returns the largest fraction, at most 1, of a step that keeps at least .005 of every s, to first order in the
 * step. follow: moves z along its own Newton step, shortened so that at least .005 of every z remains. */
double cb_barrier_reach(const cb_barrier *b, const double *step);
void cb_barrier_follow(cb_barrier *b, const double *step);

/* Returns the minimum of s at the nodes of the gait with coefficients c. */
double cb_barrier_least(cb_barrier *b, const double *c);
/* Scales the gait c towards an allowed shape until the gait is allowed at all nodes, with some distance from the
 * constraints. CB_STEP_NO_CONVERGENCE if no such shape is found. */
cb_status cb_barrier_enter(cb_barrier *b, const double *start_shape, double *c);
