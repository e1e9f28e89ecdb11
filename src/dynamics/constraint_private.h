/* How rows of constraints are stored and evaluated.
 *
 * A row is a sum of elements minus a target. An element has at most four particles (a rod, one segment of a path, one
 * triangle of an area). A class of constraints is one function that evaluates an element. All classes share the rest:
 * sums over elements, rates, second derivatives and patterns (constraint_rows.c).
 */
#pragma once

#include "core/arena.h"
#include "geometry/origin.h"
#include <curvebody/constraint.h>
#include <curvebody/expression.h>

enum { CB_ELEMENT_PARTICLES = 4, CB_ELEMENT_MAX = CB_ELEMENT_PARTICLES * CB_COORD_MAX };

typedef struct cb_constraint cb_constraint;

/* One element. Its particle p has the coordinates p*k .. p*k+k-1. For a velocity row, gradient is a, value is -b, t1 is
 * d(-b)/dt, tx is da/dt and hessian is da/dx. For a positional row, t1, t2 and tx are derivatives in t at fixed x.
 * Order 0 asks for value, order 1 also for gradient and t1, order 2 for everything. The function does not write zeros:
 * the caller clears the element first. */
typedef struct cb_element {
  double value, t1, t2;
  double gradient[CB_ELEMENT_MAX], tx[CB_ELEMENT_MAX];
  double b_x[CB_ELEMENT_MAX];                      /* velocity row: d(-b)/dx */
  double hessian[CB_ELEMENT_MAX * CB_ELEMENT_MAX]; /* row-major; the stride is the size of the element, particles*k */
} cb_element;

/* x: the coordinates of the element's particles (k numbers each), relative to the origin of their component. */
typedef cb_status cb_element_function(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                      const double *const *x, int order, cb_element *out);

typedef struct cb_constraint_class {
  const char *name;
  cb_element_function *element;
  bool velocity;
  bool timed;     /* the elements may depend on t */
  bool per_world; /* the class uses a centre, a chart or an expression in the world's frame, and so needs origins */
  bool sized;     /* the target is a length, an area or a volume, which is the scale of the residual */
} cb_constraint_class;

extern const cb_constraint_class cb_constraint_rod, cb_constraint_path_length, cb_constraint_distance_to_point,
    cb_constraint_angle, cb_constraint_area, cb_constraint_volume, cb_constraint_pin, cb_constraint_surface,
    cb_constraint_velocity, cb_constraint_knife_edge;

/* A row of constraints. The builder stores indices of particles as given, the system stores places. */
struct cb_constraint {
  const cb_constraint_class *class;
  const char *name;
  int elements, width;                        /* width: particles per element */
  int *particle;                              /* [elements][width]: the particles of each element */
  double target;                              /* the required value; nan: not yet known (the value at the start) */
  cb_expression *target_expression;           /* the required value as an expression of t; NULL: `target`; owned */
  cb_fixed centre;                            /* distance to a point, pin: the point */
  int axis;                                   /* pin: which direction of the frame at centre */
  const cb_chart *chart;                      /* surface, velocity: the chart of the coordinates; NULL: the embedding */
  cb_expression *expression;                  /* surface: the function; velocity: b (NULL: 0); owned */
  cb_expression *coefficient[CB_ELEMENT_MAX]; /* velocity: A by particle and coordinate (NULL: 0); owned */
  int world;                                  /* number among the rows whose class is per_world, or -1 */
};

/* Data of a row that needs the world's frame, relative to the frame of its first particle's component. */
typedef struct cb_constraint_world {
  cb_anchor anchor;         /* distance to a point, pin: the centre */
  cb_isometry world, local; /* local to world and its inverse; the identity in spaces without moving origins */
} cb_constraint_world;

struct cb_constraints {
  cb_arena *arena;
  const cb_system *system;
  const cb_space *space;
  cb_rows rows;
  int curved; /* rows of the space per particle */
  cb_forces *forces;
  int *slot;       /* the entry in `rows` of each particle of each element, row after row */
  int *slot_start; /* [own + 1]: where each row begins in slot */
  cb_constraint_world *world;
  cb_element *scratch;
};

/* Frees the expressions of a row. */
void cb_constraint_release(cb_constraint *row);

/* Creates the evaluator of the system's rows and, if with_space, of the space's rows. */
cb_status cb_constraints_create(cb_forces *f, bool with_space, cb_constraints **out);
void cb_constraints_free(cb_constraints *c);
void cb_constraints_set_origins(cb_constraints *c, const cb_origin *origin);

/* A function f(d_1 ... d_p) of distances, from which angles and areas are made in spaces of one factor. It sets (does
 * not add to) value and, unless NULL, gradient[p] and hessian[p*p]. CB_STEP_DOMAIN where the function has no value. */
typedef cb_status cb_distance_function(const cb_space *g, const double *d, double *value, double *gradient,
                                       double *hessian);

/* A knife edge at x[0] along the geodesic to x[1], in a space of dimension 2 that is given by the metric of one chart.
 */
cb_status cb_knife_edge_by_metric(const cb_space *g, const double *const *x, int order, cb_element *out);

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

/* Evaluates the coordinates. chart NULL: those of the world's embedding. world: local to world. Order 0 gives q, order
 * 1 also `first`, order 2 everything. CB_STEP_DOMAIN outside the chart and where it is singular. */
cb_status cb_coordinates_at(const cb_space *g, const cb_chart *chart, const cb_isometry *world, const double *x,
                            int order, cb_coordinates *out);

/* Evaluates an element that is written for the embedding. In a space with a chart it is evaluated at the points x(q),
 * and its derivatives are converted to the chart: g_i = J^T g, g_ij = J^T H J + g.x_ij. */
cb_status cb_element_by_embedding(cb_element_function *in_embedding, const cb_constraints *c, const cb_constraint *row,
                                  int element, double t, const double *const *x, int order, cb_element *out);
