/* What a builder gathers before it becomes a system. */
#pragma once

#include "dynamics/constraint_private.h"
#include "dynamics/law.h"
#include <stdbool.h>

typedef struct cb_builder_point {
  double mass, charge, radius;
  double x[CB_Q_MAX], v[CB_Q_MAX];
  int body, origin;
  const char *name; /* NULL: numbered */
} cb_builder_point;

typedef struct cb_builder_bond {
  int i, j;
  double stiffness, rest, damping;
} cb_builder_bond;

/* A force of the other three kinds: which bodies, which law. */
typedef struct cb_builder_term {
  enum { CB_TERM_INTERACTION, CB_TERM_CENTRAL, CB_TERM_FIELD, CB_TERM_FORCE } kind;
  int body_a, body_b; /* -1: all */
  cb_law law;
  cb_fixed centre;
  const cb_chart *chart;
  cb_expression *expression;      /* owned until a system takes it */
  cb_expression *force[CB_Q_MAX]; /* the same; CB_TERM_FORCE */
} cb_builder_term;

/* How an origin came about: first `place`, then `move`, which bodies that are moved together have in common. */
typedef struct cb_builder_frame {
  cb_origin move, place;
} cb_builder_frame;

struct cb_builder {
  const cb_geometry *space;
  cb_arena *texts;
  int n_bodies, n_points, n_bonds, n_terms, n_origins, n_constraints, n_triangles;
  int room_bodies, room_points, room_bonds, room_terms, room_origins, room_frames, room_constraints, room_triangles;
  const char **body;
  cb_builder_point *point;
  cb_builder_bond *bond;
  cb_builder_term *term;
  cb_constraint *constraint; /* particles as given; expressions owned until a system takes them */
  int (*triangle)[3]; /* of surfaces, body after body */
  cb_origin *origin; /* origin[0] is the identity */
  cb_builder_frame *frame; /* of each */
  int current_origin;
  cb_origin centre_origin; /* of fixed points */
  bool drop_redundant;
  cb_expression_scope parameters; /* what expressions may use beside their variables; in `texts` */
  struct cb_contact_set *contacts; /* NULL: none; contact_private.h */
  size_t expression_at; /* where the last expression that failed is wrong */
};

/* cb_expression_parse with the parameters; says in expression_at where the text is wrong. */
cb_status cb_builder_parse(cb_builder *b, const char *text, const char *const *names, size_t n, cb_expression **out);
/* A given point onto the space (not where it is off by more than rounding), or what is wrong with it, as of `what`. x
 * may be given. */
cb_status cb_builder_settle(const cb_geometry *g, const char *what, const double *given, double *x);
/* The same for a fixed point, relative to the origin that the builder has for them. */
cb_status cb_builder_fix(const cb_builder *b, const char *what, const double *given, cb_fixed *centre);
/* Room for one more element in a growing array. */
cb_status cb_builder_grow(void **array, int count, int *room, size_t size);
/* The distance of two points that a spring may join; fails where they coincide or are antipodal. */
cb_status cb_builder_check_apart(const cb_geometry *g, const double *x, const double *y, double *distance);

/* Is a particle of this body (-1: of any)? */
static inline bool cb_builder_in_body(const cb_builder *b, int particle, int body) {
  return body < 0 || b->point[particle].body == body;
}
/* The origins of the components of s, whose particles have their places. */
cb_status cb_origins_settle(const cb_builder *b, cb_system *s);
/* The bases of components that may meet, which have the origins of the builder that given[component] says. */
cb_status cb_bases_settle(const cb_builder *b, cb_system *s, const int *given);
/* The rows of b into s: places for particles, targets that are what they are at the start. The system is otherwise
 * complete. */
cb_status cb_constraints_settle(cb_builder *b, cb_system *s);
/* Finds rows that depend on others at the start: drops them, or refuses the system. */
cb_status cb_constraints_check_rank(const cb_builder *b, cb_system *s);
