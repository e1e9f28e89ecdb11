/* How rows of constraints are stored and evaluated.
 *
 * A row is a sum of elements minus a target. An element has at most four particles (a rod, one segment of a path, one
 * triangle of an area). A class of constraints (src/dynamics/constraints/) evaluates an element and reads its keys.
 * Sums over elements, rates, second derivatives and patterns are computed in the same way for all classes
 * (constraint_rows.c).
 */
#pragma once

#include "core/arena.h"
#include "geometry/origin.h"
#include <curvebody/constraint.h>
#include <curvebody/expression.h>

#include <stddef.h>

enum { CB_ELEMENT_MAX = CB_ELEMENT_PARTICLES * CB_COORD_MAX };

typedef struct cb_constraint cb_constraint;

/* The value and the derivatives of one element. Its particle p has the k coordinates p*k .. p*k+k-1. A velocity row is
 * the equation a(x, t) v = b(x, t) of the velocities v: gradient is a, value is -b, t1 is d(-b)/dt, tx is da/dt and
 * hessian is da/dx. For a positional row, t1, t2 and tx are derivatives in t at fixed x. Order 0 asks for value, order
 * 1 also for gradient and t1, order 2 for everything. The function does not write zeros: the caller clears the element
 * first. */
typedef struct cb_element {
  double value, t1, t2;
  double gradient[CB_ELEMENT_MAX], tx[CB_ELEMENT_MAX];
  double b_x[CB_ELEMENT_MAX];                      /* for a velocity row: d(-b)/dx */
  double hessian[CB_ELEMENT_MAX * CB_ELEMENT_MAX]; /* row-major; the stride is the size of the element, particles*k */
} cb_element;

/* For cb_element_function, x are the coordinates of the element's particles (k numbers each), relative to the origin of
 * their component. */

/* A row of constraints. In a builder, particles are numbered in the order in which they were added; in a system, in its
 * own order. */
struct cb_constraint {
  const cb_constraint_class *class;
  const char *name;
  int elements, width; /* width: particles per element */
  int *particle;       /* [elements][width]: the particles of each element */
  /* the required value; nan: it is not known yet, and will be the value at the start */
  double target;
  cb_expression *target_expression; /* the required value as an expression of t; NULL: `target`; owned */
  cb_fixed centre;                  /* for distance_to_point and pin: the point */
  int axis;                         /* for pin: the index of a vector of the frame at the centre */
  const cb_chart *chart;            /* for surface and velocity: the chart of the coordinates; NULL: the embedding */
  cb_expression *expression;        /* for surface: the function; for velocity: the right side b (NULL: 0); owned */
  /* for velocity: the coefficients, particle after particle, of each coordinate (NULL: 0); owned */
  cb_expression *coefficient[CB_ELEMENT_MAX];
  void *params;          /* for a class on jets: its parameters; NULL: none */
  int world;             /* number among the rows whose class is per_world, or -1 */
  bool is_potential;     /* the row is not a constraint, but has an energy U(s) of its value s */
  double stiffness;      /* U = (stiffness/2) (s - target)^2 if energy is NULL */
  cb_expression *energy; /* U as an expression of s and t; NULL: none; owned */
};

/* Data of a row that needs the world's frame, relative to the frame of its first particle's component. */
typedef struct cb_constraint_world {
  cb_anchor anchor;         /* for distance_to_point and pin: the centre */
  cb_isometry world, local; /* local to world and its inverse; the identity in spaces without moving origins */
} cb_constraint_world;

struct cb_constraints {
  cb_arena *arena;
  const cb_system *system;
  const cb_constraint *row; /* [rows.own] the rows of the list */
  const cb_space *space;
  cb_rows rows;
  int curved; /* number of rows of the space per particle */
  cb_forces *forces;
  int *slot;       /* the entry in `rows` of each particle of each element, row after row */
  int *slot_start; /* [own + 1]: where each row begins in slot */
  cb_constraint_world *world;
  cb_element *scratch;
};

/* Rows of one purpose: the constraints of a system, or its potentials. */
typedef struct cb_constraint_list {
  int n, n_world; /* n_world: the number of rows whose class is per_world */
  cb_constraint *row;
} cb_constraint_list;

/* Frees the expressions of a row. */
void cb_constraint_release(cb_constraint *row);

/* Creates the evaluator of rows of the system and, if with_space, of the space's rows. */
cb_status cb_constraints_create(cb_forces *f, const cb_constraint_list *list, bool with_space, cb_constraints **out);
void cb_constraints_free(cb_constraints *c);
void cb_constraints_set_origins(cb_constraints *c, const cb_origin *origin);
/* Returns the list of the constraints of a system. */
cb_constraint_list cb_constraints_of(const cb_system *s);

/* Evaluates element e of a row into c->scratch, by `function` or, if this is NULL, by the function of the row's class.
 */
cb_status cb_constraints_element(cb_constraints *c, const cb_constraint *row, cb_element_function *function, int e,
                                 double t, const double *x, int order);
/* Computes the target at time t and its first two derivatives. */
cb_status cb_constraint_target(const cb_constraint *row, double t, double value[3]);

/* Computes the distance of two particles (constraints/rod.c). */
cb_element_function cb_element_distance;

/* --- triangles (constraint_charts.c) --- */

enum { CB_TRIANGLE_SIDES = 3 };

/* A function f(d_1 ... d_p) of distances, from which angles and areas are made in spaces of one factor. It sets (does
 * not add to) value and, unless NULL, gradient[p] and hessian[p*p]. Returns CB_STEP_DOMAIN where the function has no
 * value. */
typedef cb_status cb_distance_function(const cb_space *g, const double *d, double *value, double *gradient,
                                       double *hessian);

/* Computes sigma[4], half the sum of the sides d[3] of a triangle and this half sum minus each side. */
void cb_triangle_half_sums(const double *d, double *sigma);
/* Let f_i be one function of sigma_i for each i. Given first[i] = f_i' and second[i] = f_i'', computes the gradient and
 * the Hessian of the sum of the f_i(sigma_i) in the sides. */
void cb_triangle_in_sides(const double *first, const double *second, double *gradient, double *hessian);
/* Converts the derivatives of log X to those of F(X), where X is a function of the three sides. l and ll are the first
 * and second derivatives of log X, f1 = X F' and f2 = X (X F')'. hessian may be NULL. */
void cb_triangle_by_logarithm(double f1, double f2, const double *l, const double *ll, double *gradient,
                              double *hessian);
/* Computes the element f(d_0, d_1, d_2) of three points. d_s is the distance of the points with the numbers ends[s][0]
 * and ends[s][1]. */
cb_status cb_triangle_by_sides(const cb_space *g, cb_distance_function *f, const int ends[CB_TRIANGLE_SIDES][2],
                               const double *const *x, int order, cb_element *out);

/* The metric at a point of the space's own chart, its derivatives and its inverse. */
typedef struct cb_local_metric {
  double g[CB_DIM_MAX * CB_DIM_MAX], dg[CB_DIM_MAX * CB_DIM_MAX * CB_DIM_MAX], inverse[CB_DIM_MAX * CB_DIM_MAX];
  double root; /* sqrt(det g) */
} cb_local_metric;

cb_status cb_local_metric_at(const cb_space *g, const double *q, cb_local_metric *m);
/* Computes A[n] = g^-1 a with the inverse metric g^-1 of m. */
void cb_local_metric_raise(int n, const cb_local_metric *m, const double *a, double *A);

/* --- charts (constraint_charts.c) --- */

/* The following functions convert elements between the embedding and charts (constraint_charts.c).
 *
 * Let x(q) be a chart of a space of quadrics and flat factors, J = dx/dq, x_ij = d^2 x/dq_i dq_j, g the chart's metric
 * and Gamma its Christoffel symbols, K_f the curvature of a factor, and <,>_f and x_f the parts in that factor:
 *   x_ij = Gamma^c_ij J_c - sum_f K_f <J_i, J_j>_f x_f                                (Gauss's formula)
 * Let q be extended to a function on the embedding that is constant along the ray through x_f:
 *   B = dq/dx = g^-1 J^T I,   n_f = K_f I x_f,   I = diag(form)
 *   q^c_ab = -Gamma^c_ij B^i_a B^j_b - sum_f (B^c_a n_b + n_a B^c_b)_f
 * q^c_ab is d^2 q^c/dx_a dx_b. Gamma follows from the exact derivatives of g: no derivative here is a finite
 * difference.
 * Source: do Carmo, Riemannian Geometry (1992), chapter 6. */

/* The coordinates of a point in a chart of the world, and their derivatives in the point's local embedding. */
typedef struct cb_coordinates {
  int size;
  double q[CB_Q_MAX];
  double first[CB_Q_MAX][CB_Q_MAX];            /* [c][a]: dq_c/dx_a */
  double second[CB_Q_MAX][CB_Q_MAX][CB_Q_MAX]; /* [c][a][b]: d^2 q_c/dx_a dx_b */
} cb_coordinates;

/* Evaluates the coordinates. If chart is NULL, they are those of the world's embedding. `world` maps local to world
 * coordinates. Order 0 gives q, order 1 also `first`, order 2 everything. Returns CB_STEP_DOMAIN outside the chart and
 * where it is singular. */
cb_status cb_coordinates_at(const cb_space *g, const cb_chart *chart, const cb_isometry *world, const double *x,
                            int order, cb_coordinates *out);

/* Evaluates an element that is written for the embedding. In a space with a chart it is evaluated at the points x(q),
 * and its derivatives are converted to the chart. With the gradient a and the second derivatives H in the embedding
 * they are J^T a and J^T H J + a.x_ij. */
cb_status cb_element_by_embedding(cb_element_function *in_embedding, const cb_constraints *c, const cb_constraint *row,
                                  int element, double t, const double *const *x, int order, cb_element *out);

/* Computes the coordinates that an expression of a row uses. If `own` is true, the expression uses the space's own
 * chart; x are then already these coordinates, unless origins move. */
cb_status cb_constraint_coordinates(const cb_constraints *c, const cb_constraint *row, bool own, const double *x,
                                    int order, cb_coordinates *out);
/* Returns whether the space is used in a chart and the row uses the same chart. */
bool cb_constraint_own_chart(const cb_constraints *c, const cb_constraint *row);
/* Fails if a value or one of the n derivatives of an expression is not finite. */
cb_status cb_constraint_check_finite(double value, int n, const double *derivative, const char *what);

/* --- keys of a class in a scenario --- */

/* A row of a class's table of keys. `field` is a member of `type` that is a const cb_node *. If `fallback` is NULL, the
 * scenario must give the key. */
#define CB_CONSTRAINT_KEY(type, key, field, fallback, unit, doc) \
  { key, CB_PARAM_NODE, offsetof(type, field), fallback, unit, "", "", doc }
#define CB_CONSTRAINT_NAME(type, field) \
  CB_CONSTRAINT_KEY(type, "name", field, "", "", "name of the constraint, for messages and /constraint_name")
#define CB_CONSTRAINT_TARGET(type, key, field, unit) \
  CB_CONSTRAINT_KEY(type, key, field, "", unit, "a number or an expression of t; if absent, the value at the start")

/* Functions that read values of an item, in addition to those of curvebody/constraint.h
 * (src/scenario/scenario_constraints.c). cb_constraint_reserve allocates an array of `count` particles, which the
 * scenario owns; cb_constraint_read_body finds the body that a node names. */
cb_status cb_constraint_reserve(const cb_constraint_entry *e, size_t count, int **particle);
cb_status cb_constraint_read_body(const cb_constraint_entry *e, const cb_node *node, int *body);
/* Reads the point `at` and its origin, relative to which x is given. Sets the origin in the builder
 * (cb_builder_centre_origin). */
cb_status cb_constraint_read_point(const cb_constraint_entry *e, const cb_node *node, double *x);
/* Finds a chart and its name. If node is NULL, *name becomes NULL, and *chart the chart in which the space is used. */
cb_status cb_constraint_read_chart(const cb_constraint_entry *e, const cb_node *node, const char **name,
                                   const cb_chart **chart);
/* Sets *text to the text of node, which must be an expression of the variables names[count]. */
cb_status cb_constraint_read_expression(const cb_node *node, const char *const *names, size_t count, const char **text);
/* Reads a target and triangles, and adds a constraint of the area or the volume of these triangles. They are those of
 * the node `list`, or those of the surface of the node `body`. `what` is the key of the target, `range` the range of
 * the target (as in cb_param), and `add` the function that adds the constraint. */
typedef cb_status cb_triangle_measure(cb_builder *b, const char *name, int n, const int (*triangle)[3],
                                      cb_target target);
cb_status cb_constraint_read_triangles(const cb_constraint_entry *e, const cb_node *body, const cb_node *list,
                                       const cb_node *target, const char *what, const char *range,
                                       cb_triangle_measure *add);
/* Does the same as cb_constraint_placed for a failure in the expression that is the text of node. */
cb_status cb_constraint_placed_in(const cb_constraint_entry *e, cb_status status, const cb_node *node);
