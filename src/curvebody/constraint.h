/* Constraints of a system: rows g(t, x) = 0 and a(t, x) v = b(t, x), their derivatives, their multipliers.
 *
 *   m_i D v_i/dt = F_i - sum_r lambda_r I^-1 dg_r/dx_i        (embedding; normal components left in, as in forces)
 *   dp_i/dt      = ... + F_i - sum_r lambda_r dg_r/dq_i       (chart: F and dg are covectors)
 * so that a multiplier of a rod (g = d - D) is the pull along it: positive where it keeps its ends from flying apart.
 * A velocity row (a v = b) has lambda a in the place of lambda dg.
 *
 * Rows keep the order in which they were added. A row touches few particles; derivatives are kept by entries, an entry
 * being one particle of one row (CSR), with k numbers each: the ordinary partial derivatives of g as a function on the
 * embedding, or of the coordinates of the chart.
 * For users, who build constraints, and for authors of methods, who evaluate them. Building counts particles as the
 * user does, evaluation by place in the state (cb_system_index, cb_system_particle).
 * Source: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), VII.1, doi:10.1007/978-3-642-05221-7.
 */
#ifndef CURVEBODY_CONSTRAINT_H
#define CURVEBODY_CONSTRAINT_H

#include <curvebody/system.h>
#include <stdbool.h>

CB_API_BEGIN

/* --- building (particles by the index that cb_builder_particle gave) --- */

/* What a function of the positions is kept at: a number; nan: what it is at the start; or a law, an expression of t
 * (value is then not read). */
typedef struct cb_target {
  double value;
  const char *law;
} cb_target;

/* name: of the row, shown to users (NULL: made up from the kind and the particles).
 * All return CB_ERROR_ARGUMENT or CB_ERROR_DOMAIN for what cannot be, CB_ERROR_INPUT for an expression (see
 * cb_builder_expression_at). */
cb_status cb_builder_rod(cb_builder *b, const char *name, int i, int j, cb_target length); /* d(i,j) = length */
/* d(i, centre) = length: a pendulum's rod to a fixed point of the world (k numbers). */
cb_status cb_builder_tether(cb_builder *b, const char *name, int i, const double *centre, cb_target length);
/* d(p0,p1) + d(p1,p2) + ... = length */
cb_status cb_builder_string(cb_builder *b, const char *name, int n, const int *particle, cb_target length);
/* The angle at `vertex` between the geodesics to i and to j, in (0, pi). In any space. */
cb_status cb_builder_angle(cb_builder *b, const char *name, int i, int vertex, int j, cb_target angle);
/* Sum of the areas of geodesic triangles. Spaces of constant curvature: elsewhere the sides do not tell the area. */
cb_status cb_builder_area(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target area);
/* Volume inside a closed oriented surface of geodesic triangles; space of one factor, of dimension 3. In S^n all
 * vertices lie within a quarter turn of the first one. */
cb_status cb_builder_volume(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target volume);
/* The particle stays at x (k numbers; NULL: where it starts): dim rows. */
cb_status cb_builder_pin(cb_builder *b, const char *name, int i, const double *x);
/* f(coordinates of a chart of the world, t) = 0; NULL chart: the embedding, or the chart of a chart space. */
cb_status cb_builder_surface(cb_builder *b, const char *name, int i, const char *chart, const char *expression);
/* sum over n <= 4 particles and coordinates c of coefficient[particle][c] * dq_c/dt = equals, in the coordinates q of a
 * chart of the world (NULL: as for a surface). Texts in the particles' coordinates with a number behind (x0, y0, z0,
 * x1, ...) and t. coefficient: n * size texts, NULL or "0": none. */
cb_status cb_builder_velocity(cb_builder *b, const char *name, int n, const int *particle, const char *chart,
                              const char *const *coefficient, const char *equals);
/* The same for one particle in the space's own chart, its coordinates by their names. *at: which text a
 * CB_ERROR_INPUT is about, dim: equals. */
cb_status cb_builder_velocity_of(cb_builder *b, const char *name, int i, const char *const *coefficient,
                                 const char *equals, size_t *at);
/* A blade at i along the geodesic to j: no velocity across it. Spaces of dimension 2. */
cb_status cb_builder_blade(cb_builder *b, const char *name, int i, int j);

/* Rows that depend on others at the start are dropped by cb_builder_finish where the others imply them there, instead
 * of being refused by name; a run watches them (cb_system_dropped). One that alone has no gradient is refused. */
void cb_builder_drop_redundant(cb_builder *b, bool drop);

/* --- what a system has --- */
int cb_system_constraints(const cb_system *s); /* rows */
/* The same particles with the constraints that were dropped as implied by the others, borrowed; NULL: there are none.
 * They may not be implied where the particles go. */
const cb_system *cb_system_dropped(const cb_system *s);
const char *cb_system_constraint_name(const cb_system *s, int row);
bool cb_system_constraint_is_velocity(const cb_system *s, int row);
bool cb_system_constraint_is_rod(const cb_system *s, int row, int *i, int *j); /* a distance of two particles */
int cb_system_velocity_constraints(const cb_system *s);                        /* how many rows are of velocity */
bool cb_system_constraints_depend_on_time(const cb_system *s);

/* --- evaluation --- */
typedef struct cb_constraints cb_constraints;

/* The evaluator of i->forces (origins are set with theirs); NULL: the system has no constraints. Borrowed. */
cb_constraints *cb_forces_constraints(cb_forces *f);
/* One with further rows (<x,x> - 1/K)/2 for each particle and curved factor, after the others, for methods that treat
 * the embedding as a linear space: row = rows + particle * curved factors + factor. Never NULL but without memory;
 * owned by f, which sets its origins too. In a chart or a flat space there are no further rows. */
cb_constraints *cb_forces_constraints_with_space(cb_forces *f);

/* The pattern: entry e of row r, start[r] <= e < start[r+1], is the place particle[e], ascending in a row. */
typedef struct cb_rows {
  int rows;             /* all */
  int own;              /* of the system, first; those of the space follow */
  const int *start;     /* rows + 1 */
  const int *particle;  /* places in the state */
  const bool *velocity; /* [rows] */
} cb_rows;
const cb_rows *cb_constraints_rows(const cb_constraints *c);

/* g[rows] (0 in rows of velocity) and G[entries*k] = dg/dx, or a; either may be NULL. CB_STEP_DOMAIN where there are
 * none. */
cb_status cb_constraints_eval(cb_constraints *c, double t, const double *x, double *g, double *G);
/* rate[rows] = dg/dt = G v + g_t, or a v - b; G is filled too unless it is NULL. */
cb_status cb_constraints_rate(cb_constraints *c, double t, const double *x, const double *v, double *rate, double *G);
/* gamma[rows] with d(rate)/dt = G dv/dt + gamma; and rate_x[entries*k] = d(rate)/dx (NULL: not wanted). */
cb_status cb_constraints_second(cb_constraints *c, double t, const double *x, const double *v, double *gamma,
                                double *rate_x);
/* Adds sum_r weight[r] dG_r/dx to blocks in the order of cb_forces_pattern, which has a block for every two particles
 * that a row couples: block (i, j) [a*k + b] gets d(G_r)_ia/dx_jb. */
cb_status cb_constraints_hessian(cb_constraints *c, double t, const double *x, const double *weight, double *blocks);

/* A rod in the embedding of a space of one factor: its places, what <x-y, x-y> is kept at, and dd/d<x-y, x-y> there.
 * false: another kind of row or space. */
bool cb_constraints_chord(const cb_constraints *c, int row, double t, int *i, int *j, double *square, double *slope);

CB_API_END
#endif
