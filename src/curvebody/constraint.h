/* Constraints of a system, their derivatives, and their multipliers. Each constraint consists of rows: equations
 * g(t, x) = 0 of the positions x, or a(t, x) v = b(t, x) of the velocities v.
 *
 *   m_i D v_i/dt = F_i - sum_r lambda_r I^-1 dg_r/dx_i        in the embedding
 *   dp_i/dt      = f_i - sum_r lambda_r dg_r/dq_i             in a chart with coordinates q
 * m_i, v_i, p_i and F_i are mass, velocity, momentum and force of particle i, lambda_r is the multiplier of row r, and
 * I is the form of the embedding. f_i is dp_i/dt without constraints. The vectors F_i and I^-1 dg_r/dx_i of the
 * embedding may have parts normal to the space. A row for velocities has a in place of dg/dx. With this sign the
 * multiplier of a rod (g = length - required length) is its tension, which is positive if the rod keeps its ends from
 * moving apart.
 *
 * Rows keep the order in which they were added. Derivatives are a sparse matrix in CSR form: an entry is for one
 * particle of one row. It has k numbers, the ordinary partial derivatives of g in the coordinates of the embedding or
 * of the chart.
 * For users, who build constraints, and for authors of integrators, who evaluate them. Functions for building number
 * particles in the order of adding; functions for evaluation number them by place in the state (cb_system_index and
 * cb_system_particle convert).
 * Source: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), VII.1, doi:10.1007/978-3-642-05221-7.
 */
#ifndef CURVEBODY_CONSTRAINT_H
#define CURVEBODY_CONSTRAINT_H

#include <curvebody/jet.h>
#include <curvebody/param.h>
#include <curvebody/system.h>
#include <stdbool.h>

CB_API_BEGIN

/* --- building: particles have the index that cb_builder_particle returned --- */

/* --- classes of constraints, for authors ---
 *
 * A class is one file src/dynamics/constraints/NAME.c with one const object cb_constraint_NAME, or an object in a
 * plugin. NAME is the key in the list `constraints` of a scenario. The function g of a row is the sum of the values of
 * its elements minus a target. An element is a function of the coordinates of one to four points, such as the length of
 * a rod or the area of one triangle. */
enum { CB_ELEMENT_PARTICLES = 4 };

/* An item of the list `constraints` or `interactions` of a scenario: the argument of cb_constraint_class.read. */
typedef struct cb_constraint_entry {
  struct cb_scenario *scenario;
  cb_builder *builder;
  const cb_space *space;
  const cb_node *map; /* the map of the item */
  const char *name;   /* the value of the key `name`, which all classes have; NULL: there is none */
} cb_constraint_entry;

/* Read the index of a particle from a node, or the indices of a list of `least` to `maximum` particles, to
 * particle[maximum]. If maximum is at most 4, the particles of a list must be different. Messages call the list by
 * `key`. CB_ERROR_INPUT if the node is neither of these. */
cb_status cb_constraint_read_particle(const cb_constraint_entry *e, const cb_node *node, int *particle);
cb_status cb_constraint_read_particles(const cb_constraint_entry *e, const char *key, const cb_node *list, size_t least,
                                       size_t maximum, int *particle);
/* Reads a target: a number in `range` (as in cb_param) or an expression of t. If node is NULL, the target is nan, the
 * value at the start. Messages call it by `what`. CB_ERROR_INPUT if the node is neither of these. */
cb_status cb_target_read(const cb_node *node, const char *what, const char *range, cb_target *target);
/* Returns CB_OK if status is CB_OK. Otherwise `status` must be what a function of the builder returned when it failed;
 * this function then adds the place of the node to the error text, and returns the status of the new error. */
cb_status cb_constraint_placed(const cb_constraint_entry *e, cb_status status, const cb_node *node);

struct cb_constraint;
struct cb_constraints;
struct cb_element;
/* A function that computes an element and its derivatives in closed form, for built-in classes
 * (src/dynamics/constraint_private.h). */
typedef cb_status cb_element_function(const struct cb_constraints *c, const struct cb_constraint *row, int element,
                                      double t, const double *const *x, int order, struct cb_element *out);

typedef struct cb_constraint_class {
  const char *name, *title, *doc;
  const cb_param *params; /* the keys of the item's map, without `name` */
  size_t params_size;     /* bytes of the struct that `params` fills */
  /* Adds the rows that an item of a scenario describes, for example with cb_builder_constraint. */
  cb_status (*read)(const cb_constraint_entry *e, const void *params);
  int points; /* number of points of an element, 1 to 4; 0: it varies */
  /* Computes the value of an element on jets (curvebody/jet.h). x[points][coordinates] are the coordinates of the
   * points in the embedding or, in an intrinsic space, in its chart. If per_world is false, they are relative to an
   * origin that moves with the points. The value must then not change under isometries, as is true of functions of
   * distances (cb_constraint_distance). CB_STEP_DOMAIN where the value does not exist. */
  cb_status (*on_jets)(const cb_space *space, const void *params, const cb_jet *const *x, const cb_jet *t,
                       cb_jet *value);
  cb_element_function *element; /* used in place of on_jets; NULL: there is no closed form */
  /* Computes the cosine of the value. Potentials use it for an angle, which has no derivatives at 0 and pi although its
   * cosine has. NULL: there is no such function. */
  cb_element_function *cosine;
  bool velocity;  /* a row is a linear equation of velocities */
  bool timed;     /* an element may depend on t */
  bool per_world; /* an element depends on places in the world: on a fixed point, or on coordinates of a chart */
  bool centred;   /* an element depends on one fixed point; per_world is true as well */
  bool sized;     /* the target is a length, an area or a volume, with which residuals are compared */
  bool bond;      /* a row is the distance of two particles, and counts as a bond */
} cb_constraint_class;

extern const cb_constraint_class *const *const cb_constraint_classes;

/* Computes the distance d of the points with the coordinates x and y, for use in functions on_jets. CB_STEP_DOMAIN
 * where d has no derivatives. */
cb_status cb_constraint_distance(const cb_space *space, const cb_jet *x, const cb_jet *y, cb_jet *d);

/* --- constraints --- */

/* In these functions, name is the name of the row in records and messages; if it is NULL, a name is made from the kind
 * of the constraint and its particles. d(.,.) is the distance. CB_ERROR_ARGUMENT or CB_ERROR_DOMAIN for arguments that
 * are not possible; CB_ERROR_INPUT for an error in an expression, whose offset is the result of
 * cb_builder_expression_at. */
/* Adds the row d(i,j) = length for the particles i and j. */
cb_status cb_builder_rod(cb_builder *b, const char *name, int i, int j, cb_target length);
/* Adds the row d(i, centre) = length for the particle i and a fixed point of the world, centre[k]. */
cb_status cb_builder_distance_to_point(cb_builder *b, const char *name, int i, const double *centre, cb_target length);
/* Adds the row d(p0,p1) + d(p1,p2) + ... = length for the particles p0, p1, ... of particle[n]. */
cb_status cb_builder_path_length(cb_builder *b, const char *name, int n, const int *particle, cb_target length);
/* Adds a row for the angle, in (0, pi), between the geodesics from the particle `vertex` to i and to j. */
cb_status cb_builder_angle(cb_builder *b, const char *name, int i, int vertex, int j, cb_target angle);
/* Adds a row for the sum of the areas of n geodesic triangles. Only in spaces of constant curvature, where the sides of
 * a triangle determine its area. */
cb_status cb_builder_area(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target area);
/* Adds a row for the volume inside a closed oriented surface of n geodesic triangles. Only in spaces of one factor and
 * dimension 3. In S^3 the distance of each vertex from the first one must be less than a quarter of a great circle. */
cb_status cb_builder_volume(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target volume);
/* Adds dim rows that keep the particle i at x[k] (NULL: at its start position). */
cb_status cb_builder_pin(cb_builder *b, const char *name, int i, const double *x);
/* Adds the row expression = 0 for the particle i. The expression depends on t and on the coordinates of the particle in
 * a chart of the world; chart NULL: cb_space.chart if it is set, otherwise the embedding. */
cb_status cb_builder_surface(cb_builder *b, const char *name, int i, const char *chart, const char *expression);
/* Adds the row sum_i sum_c coefficient[i * size + c] dq_ic/dt = equals of velocities. The sum is over particle[n],
 * n <= 4, and over the `size` coordinates q_ic of particle i in a chart of the world (chart NULL: as for
 * cb_builder_surface). The texts are expressions of t and of the coordinates of the particles, whose names have the
 * index i in particle[n] appended: x0, y0, z0, x1, ... A coefficient that is NULL or "0" is 0. */
cb_status cb_builder_velocity(cb_builder *b, const char *name, int n, const int *particle, const char *chart,
                              const char *const *coefficient, const char *equals);
/* Does the same as cb_builder_velocity, for one particle in the coordinates of cb_space.chart, with coefficient[dim];
 * nothing is appended to the names of coordinates. With CB_ERROR_INPUT, *at (at may be NULL) is the index of the wrong
 * coefficient, or dim for the text `equals`. CB_ERROR_UNSUPPORTED if the space has no such chart. */
cb_status cb_builder_velocity_of(cb_builder *b, const char *name, int i, const char *const *coefficient,
                                 const char *equals, size_t *at);
/* Adds a knife edge, a row of velocities: the particle i can move only along its geodesic to the particle j. Only in
 * spaces of dimension 2. */
cb_status cb_builder_knife_edge(cb_builder *b, const char *name, int i, int j);

/* Says what cb_builder_finish does with rows that are redundant, which means that they follow from other rows at the
 * start. drop = true: they are left out, and a run checks that they remain satisfied (cb_system_dropped). drop = false,
 * the initial setting: cb_builder_finish fails with the names of the rows. A row whose gradient is zero is an error in
 * both cases. */
void cb_builder_drop_redundant(cb_builder *b, bool drop);

/* Adds a row of a class for positions: the sum of the values of `elements` elements is equal to target. The particles
 * of the elements are particle[elements][class_->points]. The class_->params_size bytes at params are copied. */
cb_status cb_builder_constraint(cb_builder *b, const cb_constraint_class *class_, const void *params, const char *name,
                                int elements, const int *particle, cb_target target);
/* Returns the number of rows that were added so far. */
int cb_builder_constraints(const cb_builder *b);
/* Makes potentials of all rows except the first `first` rows. Such a row is not a constraint, but adds a potential
 * energy U that depends on the sum s of its elements,
 *   U = (stiffness/2) (s - rest)^2.
 * rest NULL: the target of the row. If `expression` is not NULL, it is an expression of s and t that gives U, and
 * stiffness and rest are not used. CB_ERROR_ARGUMENT for a row of velocities. */
cb_status cb_builder_potentials_of(cb_builder *b, int first, double stiffness, const cb_target *rest,
                                   const char *expression);

/* --- queries of a system --- */
int cb_system_constraints(const cb_system *s); /* returns the number of rows */
/* Returns a borrowed system of the same particles, with the redundant rows that cb_builder_finish left out. NULL: there
 * are none. These rows follow from the others at the start, but not always at other positions. */
const cb_system *cb_system_dropped(const cb_system *s);
const char *cb_system_constraint_name(const cb_system *s, int row);
bool cb_system_constraint_is_velocity(const cb_system *s, int row);
/* Returns whether the row is the distance of two particles, and sets *i and *j to them. */
bool cb_system_constraint_is_rod(const cb_system *s, int row, int *i, int *j);
int cb_system_velocity_constraints(const cb_system *s); /* returns the number of rows of velocities */
bool cb_system_constraints_depend_on_time(const cb_system *s);

/* --- evaluation --- */
typedef struct cb_constraints cb_constraints;

/* Returns the object that evaluates the constraints of the system of f; NULL: the system has none. It belongs to f, and
 * cb_forces_set_origins sets its origins as well. */
cb_constraints *cb_forces_constraints(cb_forces *f);
/* Does the same as cb_forces_constraints, with additional rows after the others, for integrators that treat the
 * embedding as a linear space: g = (<x,x> - 1/K)/2 for each place and each curved factor, which has the curvature K.
 * The row of place i and the curved factor number f is rows + i * (number of curved factors) + f, where rows is the
 * number of rows of the system. In a chart or a flat space there are no additional rows. NULL only if memory runs
 * out. */
cb_constraints *cb_forces_constraints_with_space(cb_forces *f);

/* The pattern of the derivatives. Row r has the entries e with start[r] <= e < start[r+1]; entry e is for the particle
 * at the place particle[e]. In a row the places ascend. */
typedef struct cb_rows {
  int rows;             /* number of rows: those of the system and those of the space */
  int own;              /* number of rows of the system, which come first; rows of the space follow */
  const int *start;     /* [rows + 1]: the first entry of each row */
  const int *particle;  /* [entries]: the place of the particle in the state */
  const bool *velocity; /* [rows]: the row is a velocity row */
} cb_rows;
const cb_rows *cb_constraints_rows(const cb_constraints *c);

/* Computes g[rows], which is 0 in rows of velocities, and G[entries*k], which is dg/dx, or the coefficients a in rows
 * of velocities; either may be NULL. CB_STEP_DOMAIN at positions where a row is not defined. */
cb_status cb_constraints_eval(cb_constraints *c, double t, const double *x, double *g, double *G);
/* Computes rate[rows] at positions x and velocities v: dg/dt = G v + g_t, where g_t is the partial derivative by t; or
 * a v - b in rows of velocities. Also computes G unless it is NULL. */
cb_status cb_constraints_rate(cb_constraints *c, double t, const double *x, const double *v, double *rate, double *G);
/* Computes gamma[rows], the part of d(rate)/dt = G dv/dt + gamma that does not depend on accelerations, and
 * rate_x[entries*k] = d(rate)/dx (rate_x may be NULL). */
cb_status cb_constraints_second(cb_constraints *c, double t, const double *x, const double *v, double *gamma,
                                double *rate_x);
/* Adds sum_r weight[r] dG_r/dx to the blocks of a matrix with the pattern cb_forces_pattern, which has a block for
 * every two particles of a row. The number c*k + d of block (i, j) is increased by weight[r] d(G_r)_ic/dx_jd. */
cb_status cb_constraints_hessian(cb_constraints *c, double t, const double *x, const double *weight, double *blocks);

/* For a rod in the embedding of a space of one factor: finds the places *i and *j of its particles, whose positions are
 * x and y; the required value *square of <x-y, x-y>; and *slope, the derivative of the distance by <x-y, x-y> at this
 * value. Returns false for another kind of row or space. */
bool cb_constraints_chord(const cb_constraints *c, int row, double t, int *i, int *j, double *square, double *slope);

CB_API_END
#endif
