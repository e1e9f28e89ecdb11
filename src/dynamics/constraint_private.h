/* How rows of constraints are stored and evaluated. A row is a sum of elements of at most four particles (a rod, one
 * segment of a string, one triangle of an area) minus a target; a kind of constraint is one function that evaluates an
 * element. The rest, sums over elements, rates, second derivatives, patterns, is common: constraints.c. */
#pragma once

#include "core/arena.h"
#include "geometry/origin.h"
#include <curvebody/expression.h>
#include <curvebody/constraint.h>

enum { CB_ELEMENT_PARTICLES = 4, CB_ELEMENT_MAX = CB_ELEMENT_PARTICLES * CB_COORD_MAX };

typedef struct cb_constraint cb_constraint;

/* One element: particles p of it have coordinates p*k .. p*k+k-1. For a velocity row gradient is a, value is -b (so is
 * t1: d(-b)/dt), tx is da/dt and hessian da/dx; time parts of a positional row are those of g at fixed x. `order` 0
 * asks for value, 1 for gradient and t1 too, 2 for all. What is zero is left: the caller clears. */
typedef struct cb_element {
  double value, t1, t2;
  double gradient[CB_ELEMENT_MAX], tx[CB_ELEMENT_MAX];
  double b_x[CB_ELEMENT_MAX];                      /* of a velocity row: d(-b)/dx */
  double hessian[CB_ELEMENT_MAX * CB_ELEMENT_MAX]; /* row-major with stride size = particles*k of the element */
} cb_element;

/* x: coordinates of the element's particles (k numbers each), local to their component's origin. */
typedef cb_status cb_element_function(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                      const double *const *x, int order, cb_element *out);

typedef struct cb_constraint_kind {
  const char *name;
  cb_element_function *element;
  bool velocity;
  bool timed;     /* elements may depend on t */
  bool per_world; /* uses centre, chart or expression in the world's frame: needs origins */
  bool sized;     /* the target is a length, area or volume, the size of what is kept */
} cb_constraint_kind;

extern const cb_constraint_kind cb_constraint_rod, cb_constraint_string, cb_constraint_tether, cb_constraint_angle,
    cb_constraint_area, cb_constraint_volume, cb_constraint_pin, cb_constraint_surface, cb_constraint_velocity,
    cb_constraint_blade;

/* A row. While it is with the builder, `particle` holds indices as given; in a system, places. */
struct cb_constraint {
  const cb_constraint_kind *kind;
  const char *name;
  int elements, width;                        /* width: particles an element */
  int *particle;                              /* elements * width */
  double target;                              /* value; nan until known */
  cb_expression *law;                         /* of t, instead; owned */
  cb_fixed centre;                            /* tether, pin */
  int axis;                                   /* pin: which direction of the frame at centre */
  const cb_chart *chart;                      /* surface, velocity: NULL the embedding */
  cb_expression *expression;                  /* surface; velocity: b (NULL: 0); owned */
  cb_expression *coefficient[CB_ELEMENT_MAX]; /* velocity: by particle and coordinate, NULL: 0; owned */
  int world;                                  /* number of the row among those whose kind is per_world; -1 */
};

/* A row that needs the world's frame, seen from the frame of its first particle's component. */
typedef struct cb_constraint_world {
  cb_anchor anchor;         /* tether, pin: the centre */
  cb_isometry world, local; /* local to world, and back; spaces with moving origins, else identity */
} cb_constraint_world;

struct cb_constraints {
  cb_arena *arena;
  const cb_system *system;
  const cb_geometry *space;
  cb_rows rows;
  int curved; /* rows of the space for each particle */
  cb_forces *forces;
  int *slot;       /* entry of each particle of each element, row after row */
  int *slot_start; /* own + 1 */
  cb_constraint_world *world;
  cb_element *scratch;
};

/* Adds a row to the builder: checks its particles, copies its arrays and name, and takes its expressions, also when it
 * fails. name NULL: made from the kind and the particles. */
cb_status cb_builder_add_constraint(cb_builder *b, const cb_constraint *row);
/* Sets the target of a row, or parses its law. */
cb_status cb_builder_target(cb_builder *b, const cb_target *target, cb_constraint *row);
/* Frees the expressions of a row. */
void cb_constraint_release(cb_constraint *row);

/* Rows of the evaluator: of the system, and of the space where with_space. */
cb_status cb_constraints_create(cb_forces *f, bool with_space, cb_constraints **out);
void cb_constraints_free(cb_constraints *c);
void cb_constraints_set_origins(cb_constraints *c, const cb_origin *origin);

/* f(d_1 ... d_p) of distances: what angle, area and volume are made of. Adds nothing: fills value, gradient[p] and,
 * where not NULL, hessian[p*p]. CB_STEP_DOMAIN where it has none. */
typedef cb_status cb_distance_function(const cb_geometry *g, const double *d, double *value, double *gradient,
                                       double *hessian);

/* Elements of constraints in spaces that are known by the metric of one chart. */

/* The angle at x[1] between the geodesics to x[0] and x[2]. */
cb_status cb_angle_by_metric(const cb_geometry *g, const double *const *x, int order, cb_element *out);
/* A blade at x[0] along the geodesic to x[1], in a space of dimension 2. */
cb_status cb_blade_by_metric(const cb_geometry *g, const double *const *x, int order, cb_element *out);
