/* What joins two particles of a body: a spring or a rod.
 *
 *   spring  V = (k/2) (d - D)^2, damping -c d'          rod  d = length(t), a constraint
 *   link: rod | spring | {rod: {length: 1}} | {rod: {length: "1 + .1*sin(t)"}} | {spring: {stiffness: 1, rest: 1}}
 *
 * A length that is not given is the distance at the start.
 */
#pragma once

#include "bodies/place.h"
#include <curvebody/constraint.h>

typedef int cb_edge[2]; /* its ends */

typedef struct cb_spring_data {
  double stiffness, rest, damping; /* rest: nan where it is the distance at the start */
} cb_spring_data;

/* clang-format off */
#define CB_SPRING_ROWS(type, field)                                                                             \
  {"stiffness", CB_PARAM_REAL, offsetof(type, field.stiffness), "1", "units of mass/time^2", ">= 0", "",        \
   "k of (k/2)(d - D)^2"},                                                                                      \
  {"rest", CB_PARAM_REAL, offsetof(type, field.rest), "nan", "units of length", ">= 0", "",                     \
   "rest length D; if absent, the distance at the start"},                                                      \
  {"damping", CB_PARAM_REAL, offsetof(type, field.damping), "0", "units of mass/time", ">= 0", "",              \
   "c of the force -c d' along the spring"}
/* clang-format on */

typedef struct cb_link {
  bool rigid;
  cb_spring_data spring; /* if not rigid */
  cb_target length;      /* if rigid; its law is borrowed from the node */
  const char *name;      /* of the rod's row; NULL: made up */
} cb_link;

/* Reads `link`; NULL: a rod or a spring with all by default. */
cb_status cb_link_read(const cb_node *node, bool rigid, cb_link *link);
/* Joins i and j; node places the message if that cannot be. */
cb_status cb_link_add(cb_builder *b, const cb_node *node, int i, int j, const cb_link *link);

/* Builds a body of `particles` points with links of its own between ends[count]; *first: its first particle. */
cb_status cb_linked_build(const cb_node *node, const cb_geometry *space, const cb_matter *matter, int particles,
                          int count, const int (*ends)[2], const cb_link *link, cb_builder *b, int *first);

/* What a function of the positions is kept at: a number in `range` (as in cb_param) or an expression of t; NULL: nan,
 * what it is at the start. `what` names it in messages. */
cb_status cb_target_read(const cb_node *node, const char *what, const char *range, cb_target *target);

/* Links listed one by one, the particles of the body numbered from 0. */
typedef struct cb_links {
  int n;
  cb_edge *edge;
  cb_link *link;
  const cb_node **node; /* the entry that says so */
} cb_links;

/* Appends what `springs` (base not rigid) or `rods` (rigid) of a body of n particles lists: pairs [i, j], or maps
 * {between: [i, j], stiffness: .., rest: .., damping: ..} | {between: [i, j], length: .., name: ..}; base is what they
 * are by default. NULL lists nothing. The caller frees, whatever the status. */
cb_status cb_links_read(cb_links *w, const cb_node *list, const cb_link *base, int n);
/* Adds them all; particle 0 of the body is `first` of the builder. */
cb_status cb_links_add(const cb_links *w, int first, cb_builder *b);
void cb_links_free(cb_links *w);
