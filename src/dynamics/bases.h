/* Frames that components share if they may collide.
 *
 *   origin of component c = base[l] after own[c],  l = leader[c]; base[l] in the frame of base[parent[l]], or the world
 *
 * Two origins that are far out do not determine their relative place (geometry/origin.h): each has round-off of its
 * own, which the factor exp(length) amplifies to a distance. Components whose contacts are on, or whose distance is an
 * event, therefore measure each other along the way up to the first base that they have in common, wherever in the
 * world that base is. A base follows its components. A component that leaves the others gets a base of its own,
 * together with those near to it, and the new base remembers the base it came from. In spaces where coordinates do not
 * grow, all components that may collide share one base, which does not move.
 */
#pragma once

#include "core/arena.h"
#include "geometry/origin.h"
#include <curvebody/system.h>

typedef struct cb_bases {
  int n;       /* number of components */
  int *family; /* [n] components that may collide, directly or through others, have the same family */
  /* [n] the component that represents all those with the same base: its index in count, parent and base */
  int32_t *leader;
  int32_t *count;  /* [n] how many components share this leader's base; 0: not a leader */
  int32_t *parent; /* [n] the leader whose base is the parent, or -1: the world */
  cb_origin *base; /* [n] the base of each leader, relative to its parent */
  cb_origin *own;  /* [n] the origin of each component, relative to its base */
  int children;    /* number of leaders that have a parent */
  int changes;     /* number of changes after which distances between frames must be computed again */
  int partings;    /* number of changes that created new bases */
} cb_bases;

/* Allocates the arrays for n components in the arena; the caller fills them. CB_ERROR_MEMORY. A restart needs three
 * arrays: base, own, and leader with count and parent (3n numbers). */
cb_status cb_bases_create(cb_arena *arena, int n, cb_bases *out);
void cb_bases_copy(cb_bases *to, const cb_bases *from);
/* Must be called after the three arrays were loaded from a checkpoint. */
void cb_bases_loaded(cb_bases *b);

/* The frames of two components relative to the first base that they have in common, or the world. */
void cb_bases_pair(const cb_space *g, const cb_bases *b, int c, int d, cb_origin pair[2]);
/* As cb_bases_pair, for the bases of two leaders. */
void cb_bases_pair_of(const cb_space *g, const cb_bases *b, int l, int m, cb_origin pair[2]);
/* The uncertainty of the relative place of the bases of two components because of round-off. The result is a length and
 * follows from the distances to the base that they have in common. */
double cb_bases_doubt(const cb_space *g, const cb_bases *b, int c, int d);

/* Gives all components that share the base of one of the two components the base of the other. */
void cb_bases_join(const cb_space *g, cb_bases *b, int c, int d);
/* As cb_origin_recentre, for component c; also updates own[c], so that origin[c] stays the base after own[c]. */
cb_status cb_bases_recentre(const cb_space *g, cb_bases *b, cb_origin *origin, int c, const double *y,
                            const cb_local_points *points, cb_isometry *isometry);
/* May a component at this distance from a base, in radii, have this base? */
bool cb_bases_reaches(double radii);
/* Must be called after components were recentred: bases follow their components, and a component that has left takes a
 * base of its own. nearest[n] is scratch. */
void cb_bases_follow(const cb_space *g, cb_bases *b, int *nearest);

/* As cb_builder_origin for the origin `move` after `place`. Bodies with the same `move` keep the relative positions
 * that their places give them. */
cb_status cb_builder_moved_origin(cb_builder *b, const cb_origin *origin, const cb_origin *move,
                                  const cb_origin *place);
