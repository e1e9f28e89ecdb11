/* Constraints of a system: rows g(t, x) = 0 and a(t, x) v = b(t, x), their derivatives, their multipliers.
 *
 *   m_i D v_i/dt = F_i - sum_r lambda_r I^-1 dg_r/dx_i        (embedding; normal components left in, as in forces)
 *   dp_i/dt      = ... + F_i - sum_r lambda_r dg_r/dq_i       (chart: F and dg are covectors)
 * lambda_r is the multiplier of row r; m_i, v_i, p_i and F_i are mass, velocity, momentum and force of particle i; I is
 * the form of the embedding. With these signs the multiplier of a rod (g = d - D, d its length and D the required
 * length) is its tension: positive if the rod keeps its ends from moving apart. A velocity row (a v = b) has lambda a
 * in place of lambda dg.
 *
 * Rows keep the order in which they were added. A row depends on few particles. Derivatives are stored in CSR form: an
 * entry is one particle of one row and has k numbers, the ordinary partial derivatives of g in the coordinates of the
 * embedding or of the chart.
 * For users, who build constraints, and for authors of integrators, who evaluate them. Functions for building number
 * particles in the order of adding; functions for evaluation number them by place in the state (cb_system_index and
 * cb_system_particle convert).
 * Source: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), VII.1, doi:10.1007/978-3-642-05221-7.
 */
#ifndef CURVEBODY_CONSTRAINT_H
#define CURVEBODY_CONSTRAINT_H

#include <curvebody/system.h>
#include <stdbool.h>

CB_API_BEGIN

/* --- building (particles by the index that cb_builder_particle returned) --- */

/* name: name of the row, shown to users (NULL: made from the kind of the constraint and its particles). All functions
 * return CB_ERROR_ARGUMENT or CB_ERROR_DOMAIN for impossible arguments, CB_ERROR_INPUT for an error in an expression
 * (see cb_builder_expression_at). */
cb_status cb_builder_rod(cb_builder *b, const char *name, int i, int j, cb_target length); /* d(i,j) = length */
/* Adds d(i, centre) = length: the rod of a pendulum, to a fixed point of the world (centre has k numbers). */
cb_status cb_builder_distance_to_point(cb_builder *b, const char *name, int i, const double *centre, cb_target length);
/* Adds d(p0,p1) + d(p1,p2) + ... = length. */
cb_status cb_builder_path_length(cb_builder *b, const char *name, int n, const int *particle, cb_target length);
/* Prescribes the angle at `vertex` between the geodesics to i and to j, in (0, pi), in any space. */
cb_status cb_builder_angle(cb_builder *b, const char *name, int i, int vertex, int j, cb_target angle);
/* Prescribes the sum of the areas of geodesic triangles, only in spaces of constant curvature, where the sides
 * determine the area. */
cb_status cb_builder_area(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target area);
/* Prescribes the volume inside a closed oriented surface of geodesic triangles, only in a space of one factor and
 * dimension 3. In S^n all vertices must lie within a quarter of a great circle of the first one. */
cb_status cb_builder_volume(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target volume);
/* Adds dim rows that keep the particle at x (k numbers; NULL: at its start position). */
cb_status cb_builder_pin(cb_builder *b, const char *name, int i, const double *x);
/* Adds f(coordinates of a chart of the world, t) = 0, f given by `expression`; chart NULL: the embedding, or the chart
 * of a space with a chart. */
cb_status cb_builder_surface(cb_builder *b, const char *name, int i, const char *chart, const char *expression);
/* Adds the velocity row: sum over n <= 4 particles and coordinates c of coefficient[particle][c] * dq_c/dt = equals, in
 * the coordinates q of a chart of the world (NULL: as for a surface). The texts are expressions of t and of the
 * coordinates of the particles, whose names have the number of the particle appended (x0, y0, z0, x1, ...).
 * coefficient: n * size texts; NULL or "0": none. */
cb_status cb_builder_velocity(cb_builder *b, const char *name, int n, const int *particle, const char *chart,
                              const char *const *coefficient, const char *equals);
/* As cb_builder_velocity, for one particle in the space's own chart; coordinates have their plain names. With
 * CB_ERROR_INPUT, *at is the index of the wrong text (dim: the text `equals`). */
cb_status cb_builder_velocity_of(cb_builder *b, const char *name, int i, const char *const *coefficient,
                                 const char *equals, size_t *at);
/* Adds a knife edge at i along the geodesic to j: the velocity of i perpendicular to this geodesic is zero. Only in
 * spaces of dimension 2. */
cb_status cb_builder_knife_edge(cb_builder *b, const char *name, int i, int j);

/* With drop = true, cb_builder_finish drops rows that are redundant at the start (they follow from other rows) instead
 * of failing with their names; a run watches the dropped rows (cb_system_dropped). A row whose own gradient is zero is
 * still an error. */
void cb_builder_drop_redundant(cb_builder *b, bool drop);

/* --- queries of a system --- */
int cb_system_constraints(const cb_system *s); /* rows */
/* Returns a system of the same particles with the redundant constraints that were dropped, borrowed; NULL: none were
 * dropped. At other positions they may not be redundant. */
const cb_system *cb_system_dropped(const cb_system *s);
const char *cb_system_constraint_name(const cb_system *s, int row);
bool cb_system_constraint_is_velocity(const cb_system *s, int row);
bool cb_system_constraint_is_rod(const cb_system *s, int row, int *i, int *j); /* a distance of two particles */
int cb_system_velocity_constraints(const cb_system *s);                        /* number of velocity rows */
bool cb_system_constraints_depend_on_time(const cb_system *s);

/* --- evaluation --- */
typedef struct cb_constraints cb_constraints;

/* Returns the evaluator of the constraints of f's system (cb_forces_set_origins sets its origins too); NULL: the system
 * has no constraints. Borrowed from f. */
cb_constraints *cb_forces_constraints(cb_forces *f);
/* Returns an evaluator with additional rows (<x,x> - 1/K)/2 (K: curvature) for each particle and curved factor, after
 * the others, for integrators that treat the embedding as a linear space: row = rows + particle * curved factors +
 * factor. NULL only if memory runs out; owned by f, which sets its origins too. In a chart or a flat space there are no
 * additional rows. */
cb_constraints *cb_forces_constraints_with_space(cb_forces *f);

/* The pattern: entry e of row r, start[r] <= e < start[r+1], is for the place particle[e]; places ascend in a row. */
typedef struct cb_rows {
  int rows;             /* number of rows: those of the system and those of the space */
  int own;              /* number of rows of the system, which come first; rows of the space follow */
  const int *start;     /* [rows + 1]: the first entry of each row */
  const int *particle;  /* [entries]: the place in the state */
  const bool *velocity; /* [rows]: the row is a velocity row */
} cb_rows;
const cb_rows *cb_constraints_rows(const cb_constraints *c);

/* Computes g[rows] (0 in velocity rows) and G[entries*k] = dg/dx, or a; either may be NULL. CB_STEP_DOMAIN at positions
 * where a row is not defined. */
cb_status cb_constraints_eval(cb_constraints *c, double t, const double *x, double *g, double *G);
/* Computes rate[rows] = dg/dt = G v + g_t (g_t: derivative by t), or a v - b; G is filled too unless it is NULL. */
cb_status cb_constraints_rate(cb_constraints *c, double t, const double *x, const double *v, double *rate, double *G);
/* Computes gamma[rows] with d(rate)/dt = G dv/dt + gamma; and rate_x[entries*k] = d(rate)/dx (may be NULL). */
cb_status cb_constraints_second(cb_constraints *c, double t, const double *x, const double *v, double *gamma,
                                double *rate_x);
/* Adds sum_r weight[r] dG_r/dx to blocks in the order of cb_forces_pattern, which has a block for every two particles
 * that a row couples: block (i, j) [a*k + b] gets d(G_r)_ia/dx_jb. */
cb_status cb_constraints_hessian(cb_constraints *c, double t, const double *x, const double *weight, double *blocks);

/* Computes, for a rod in the embedding of a space of one factor: the places of its particles, the required value of
 * <x-y, x-y>, and dd/d<x-y, x-y> at that value. Returns false for another kind of row or space. */
bool cb_constraints_chord(const cb_constraints *c, int row, double t, int *i, int *j, double *square, double *slope);

CB_API_END
#endif
