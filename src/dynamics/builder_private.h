/* The data that a builder collects, and the functions that make a system of them. */
#pragma once

#include "dynamics/builder_points.h"
#include "dynamics/system_private.h"

#include <stdbool.h>

typedef struct cb_builder_point {
  double mass, charge, radius;
  double x[CB_Q_MAX], v[CB_Q_MAX];
  int body, origin;
  /* a point of a rigid body; potentials and interactions of whole bodies do not act on it */
  bool auxiliary;
  const char *name; /* NULL: the name is made of the name of the body and a number */
} cb_builder_point;

typedef struct cb_builder_bond {
  int i, j;
  double value[3]; /* stiffness, rest length (< 0: the distance at the start), damping */
  /* the same three numbers as functions of the time t; NULL: the number in `value` is used. The system takes ownership
   */
  cb_expression *expression[3];
} cb_builder_bond;

/* An interaction, a central potential or a field: the bodies it acts on, and its potential or force. */
typedef struct cb_builder_term {
  enum { CB_TERM_INTERACTION, CB_TERM_CENTRAL, CB_TERM_FIELD } kind;
  int body_a, body_b; /* the bodies; -1: all bodies */
  cb_pair_potential pair_potential;
  cb_fixed centre;
  const cb_chart *chart;
  bool uses_velocity;
  cb_expression *expression;      /* owned until a system takes it */
  cb_expression *force[CB_Q_MAX]; /* the components of a force; owned until a system takes them */
} cb_builder_term;

/* The two parts of an origin, which is the composition of `move` after `place`. Bodies that are moved together have the
 * same `move`. */
typedef struct cb_builder_frame {
  cb_origin move, place;
} cb_builder_frame;

struct cb_builder {
  const cb_space *space;
  cb_arena *texts;
  int n_bodies, n_points, n_bonds, n_terms, n_origins, n_constraints, n_triangles,
      n_auxiliary; /* number of auxiliary points, which are the last points */
  int capacity_bodies, capacity_points, capacity_bonds, capacity_terms, capacity_origins, capacity_frames,
      capacity_constraints, capacity_triangles;
  const char **body;
  cb_builder_point *point;
  cb_builder_bond *bond;
  cb_builder_term *term;
  /* rows of constraints and of potentials, with particles numbered in the order of adding; the system takes over the
   * expressions */
  cb_constraint *constraint;
  int (*triangle)[3];      /* triangles of surfaces, body after body */
  cb_origin *origin;       /* [n_origins]: the origins that were given; origin[0] is the identity */
  cb_builder_frame *frame; /* the parts `move` and `place` of each origin */
  int current_origin;
  cb_origin centre_origin; /* the origin of the fixed points that are given next (cb_builder_centre_origin) */
  bool drop_redundant;
  bool couples; /* the system couples bodies with joints, so it needs no particles */
  /* tracers: particles may have no mass; in_world: all coordinates are those of the world (builder_points.h) */
  bool tracers, in_world;
  /* parameters, stored in `texts`, and controls that expressions may use in addition to their variables */
  cb_expression_scope parameters;
  struct cb_contact_set *contacts; /* NULL: no contacts, walls or events were added */
  size_t expression_at;            /* position of the error in the last expression that failed */
};

/* Parses an expression of the variables names[n] and of the parameters of the builder. Sets expression_at if the text
 * is wrong. The caller owns *out. */
cb_status cb_builder_parse(cb_builder *b, const char *text, const char *const *names, size_t n, cb_expression **out);
/* Does the same as cb_builder_parse, for a force or a potential, which may also use the controls. */
cb_status cb_builder_parse_force(cb_builder *b, const char *text, const char *const *names, size_t n,
                                 cb_expression **out);
/* Returns `status`. If the failure has no position in the input yet, the position of `node` is added to the message. If
 * `expression` is true, the text of the node is an expression, and the position inside this text is added to the
 * message. */
cb_status cb_builder_placed(const cb_builder *b, cb_status status, const cb_node *node, bool expression);
/* Copies a given point to x. If the point is off the space by round-off only, x is moved onto the space. Fails if the
 * point is farther off, outside of the chart, or not finite. `what` names the point in a message. x and `given` may be
 * the same array. */
cb_status cb_builder_settle(const cb_space *g, const char *what, const double *given, double *x);
/* Does the same as cb_builder_settle for a fixed point whose coordinates are relative to b->centre_origin. */
cb_status cb_builder_fix(const cb_builder *b, const char *what, const double *given, cb_fixed *centre);
/* Makes sure that a growing array has capacity for one more element. */
cb_status cb_builder_grow(void **array, int count, int *capacity, size_t size);
/* Computes the distance of two points that a spring may join. Fails if the points coincide or are antipodal. */
cb_status cb_builder_check_apart(const cb_space *g, const double *x, const double *y, double *distance);

/* Checks the particles and the target of a row. */
cb_status cb_builder_check_row(const cb_builder *b, const cb_constraint *row);
/* Adds a row to the builder. Checks the particles and copies the arrays and the name. Takes ownership of the
 * expressions, even if it fails. With name NULL, the name is made from the class and the particles. */
cb_status cb_builder_add_row(cb_builder *b, const cb_constraint *row);
/* Does the same as cb_builder_add_row, but first sets the target of the row. If the target has an expression, it is
 * parsed. */
cb_status cb_builder_add_targeted(cb_builder *b, cb_constraint *row, const cb_target *target);
/* Fails unless the n particles exist. In this function and the next ones `what` names the class of constraints in the
 * message. */
cb_status cb_builder_check_particles(const cb_builder *b, const char *what, int n, const int *particle);
/* Fails unless the space is made of at least one and at most `maximum` quadrics and flat factors. Fails also in a space
 * that is given by the metric of a chart, because in such a space the sides of a figure do not determine the figure. */
cb_status cb_builder_check_factors(const cb_builder *b, const char *what, int maximum);
/* Fails if the target is a number that is not between `low` and `high`. An expression and nan (the value at the start)
 * pass. */
cb_status cb_builder_check_range(const char *what, const char *quantity, cb_target target, double low, double high);
/* Fails unless n >= 1 and each triangle has three different particles that exist. */
cb_status cb_builder_check_triangles(const cb_builder *b, const char *what, int n, const int (*triangle)[3]);
/* Finds a chart by its name. If name is NULL, *found is the space's own chart, or the embedding in a space without a
 * chart. *row is the chart as a row stores it: NULL for the embedding. Returns CB_ERROR_ARGUMENT if there is no such
 * chart. For a chart other than the space's own, also fails like cb_builder_check_factors. */
cb_status cb_builder_find_chart(const cb_builder *b, const char *what, const char *name, const cb_chart **found,
                                const cb_chart **row);

/* Returns whether a particle belongs to this body (-1: to any body). Returns false for auxiliary points. */
static inline bool cb_builder_in_body(const cb_builder *b, int particle, int body) {
  return !b->point[particle].auxiliary && (body < 0 || b->point[particle].body == body);
}
/* Chooses an origin and a base for each component of s, and converts positions and velocities to these origins. The
 * order of the particles in s is already known. */
cb_status cb_origins_settle(const cb_builder *b, cb_system *s);
/* Moves the rows of b into s: indices of particles become their indices in s, and unknown targets take their values at
 * the start. Everything else in s must be complete. */
cb_status cb_constraints_settle(cb_builder *b, cb_system *s);
/* Finds rows that depend on others at the start, and drops them or fails. */
cb_status cb_constraints_check_rank(const cb_builder *b, cb_system *s);
/* Sets the options of contacts with walls, in a system in which particles do not touch one another. */
cb_status cb_builder_wall_contacts(cb_builder *b, cb_contact_rule rule, cb_contact_accumulation accumulation);
/* Moves the builder's contacts, walls and events into the system: indices of particles become their indices in the
 * system. Lists the triangles, and makes the checks that need all particles. */
cb_status cb_contacts_settle(cb_builder *b, cb_system *s);
