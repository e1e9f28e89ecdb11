/* The data that a builder collects before it becomes a system, and the functions that turn it into one. */
#pragma once

#include "dynamics/builder_points.h"
#include "dynamics/system_private.h"

#include <stdbool.h>

typedef struct cb_builder_point {
  double mass, charge, radius;
  double x[CB_Q_MAX], v[CB_Q_MAX];
  int body, origin;
  bool auxiliary;   /* a point of a rigid body that no group has: only what names the point acts on it */
  const char *name; /* NULL: the point is known by its number */
} cb_builder_point;

typedef struct cb_builder_bond {
  int i, j;
  double value[3];              /* stiffness, rest length (< 0: the distance at the start), damping */
  cb_expression *expression[3]; /* the same as functions of t; NULL: the value. Owned until a system takes them */
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

/* How an origin was built: `place` first, then `move`, which is the same for bodies that are moved together. */
typedef struct cb_builder_frame {
  cb_origin move, place;
} cb_builder_frame;

struct cb_builder {
  const cb_space *space;
  cb_arena *texts;
  int n_bodies, n_points, n_bonds, n_terms, n_origins, n_constraints, n_triangles,
      n_auxiliary; /* auxiliary points, which are the last ones */
  int capacity_bodies, capacity_points, capacity_bonds, capacity_terms, capacity_origins, capacity_frames,
      capacity_constraints, capacity_triangles;
  const char **body;
  cb_builder_point *point;
  cb_builder_bond *bond;
  cb_builder_term *term;
  cb_constraint *constraint; /* with particle indices as given; the system takes over the expressions */
  int (*triangle)[3];        /* triangles of surfaces, body after body */
  cb_origin *origin;         /* origin[0] is the identity */
  cb_builder_frame *frame;   /* one for each origin */
  int current_origin;
  cb_origin centre_origin; /* the origin of the fixed points that are given next (cb_builder_centre_origin) */
  bool drop_redundant;
  bool tracers, in_world; /* particles may have no mass; all coordinates are those of the world (builder_points.h) */
  /* names that expressions may use in addition to their variables; stored in `texts` */
  cb_expression_scope parameters;
  struct cb_contact_set *contacts; /* NULL: no contacts, walls or events were added */
  size_t expression_at;            /* position of the error in the last expression that failed */
};

/* As cb_expression_parse with the parameters of the builder; sets expression_at if the text is wrong. */
cb_status cb_builder_parse(cb_builder *b, const char *text, const char *const *names, size_t n, cb_expression **out);
/* Moves a given point onto the space if it is off by rounding only; otherwise fails with a message about `what`. x may
 * be `given`. */
cb_status cb_builder_settle(const cb_space *g, const char *what, const double *given, double *x);
/* As cb_builder_settle, for a fixed point; the result is relative to the builder's origin for fixed points. */
cb_status cb_builder_fix(const cb_builder *b, const char *what, const double *given, cb_fixed *centre);
/* Makes sure that a growing array has capacity for one more element. */
cb_status cb_builder_grow(void **array, int count, int *capacity, size_t size);
/* The distance of two points that a spring may join. Fails where the points coincide or are antipodal. */
cb_status cb_builder_check_apart(const cb_space *g, const double *x, const double *y, double *distance);

/* Does a particle belong to this body (-1: to any body)? */
static inline bool cb_builder_in_body(const cb_builder *b, int particle, int body) {
  return !b->point[particle].auxiliary && (body < 0 || b->point[particle].body == body);
}
/* Sets the origins of the components of s. The particles of s already have their places. */
cb_status cb_origins_settle(const cb_builder *b, cb_system *s);
/* Moves the rows of b into s: particles become places, and unknown targets take their values at the start. Everything
 * else in s must be complete. */
cb_status cb_constraints_settle(cb_builder *b, cb_system *s);
/* Finds rows that depend on others at the start, and drops them or fails. */
cb_status cb_constraints_check_rank(const cb_builder *b, cb_system *s);
/* Moves the builder's contacts, walls and events into the system: particles become places. Lists the triangles, and
 * makes the checks that need all particles. */
cb_status cb_contacts_settle(cb_builder *b, cb_system *s);
