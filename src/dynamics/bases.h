/* Frames that components share if they may collide. A component is a set of particles with one origin.
 *
 *   origin of component c = base[l] after own[c],  l = leader[c]
 * base[l] is relative to base[parent[l]], or to the world.
 *
 * Two origins that are far from the base point of the space do not determine their relative position
 * (geometry/origin.h), because each has round-off of its own, which grows like exp(distance from the base point in
 * radii). Components that may touch, or whose distance is an event, therefore measure their distance relative to the
 * first base that they have in common. The position of this base in the world does not matter. A base follows its
 * components. A component that leaves the others gets a base of its own, together with those near to it, and the new
 * base remembers the base it came from. In spaces where coordinates do not grow, all components that may collide share
 * one base, which does not move.
 */
#pragma once

#include "core/arena.h"
#include "geometry/origin.h"
#include <curvebody/system.h>

typedef struct cb_bases {
  int n; /* number of components */
  /* [n] components that may collide, directly or through others, have the same number */
  int *family;
  /* [n] the component that represents all components with the same base; only its entries in count, parent and base are
   * used */
  int32_t *leader;
  /* [n] the number of components that share the base of this leader; 0: this component is not a leader */
  int32_t *count;
  /* [n] the parent of this leader, another leader: base[] of this leader is relative to the parent's base; -1: the base
   * is relative to the world */
  int32_t *parent;
  cb_origin *base; /* [n] the base of each leader, relative to the base of its parent */
  cb_origin *own;  /* [n] the origin of each component, relative to its base */
  int children;    /* number of leaders that have a parent */
  /* number of changes of bases so far; after a change, distances between frames must be computed again */
  int changes;
  int partings; /* number of those changes that created new bases */
} cb_bases;

/* Allocates the arrays for n components in the arena; the caller fills them. Returns CB_ERROR_MEMORY if memory runs
 * out. A checkpoint stores three arrays: base, own, and leader, after which count and parent follow in memory (3n
 * numbers). */
cb_status cb_bases_create(cb_arena *arena, int n, cb_bases *out);
void cb_bases_copy(cb_bases *to, const cb_bases *from);
/* Computes `children` from count and parent, and increments `changes`. Must be called after base, own and leader were
 * loaded from a checkpoint. */
void cb_bases_loaded(cb_bases *b);

/* Sets pair[0] and pair[1] to the frames of components c and d relative to the first base that they have in common, or
 * to the world. */
void cb_bases_pair(const cb_space *g, const cb_bases *b, int c, int d, cb_origin pair[2]);
/* Does the same as cb_bases_pair for the bases of the leaders l and m. */
void cb_bases_pair_of(const cb_space *g, const cb_bases *b, int l, int m, cb_origin pair[2]);
/* Returns the error, a length, that round-off causes in the relative position of the bases of components c and d. It
 * grows with the distances of the bases from the first base that they have in common. */
double cb_bases_doubt(const cb_space *g, const cb_bases *b, int c, int d);

/* Joins the bases of components c and d: the components of one of the two bases move to the other base. */
void cb_bases_join(const cb_space *g, cb_bases *b, int c, int d);
/* Does the same as cb_origin_recentre for component c; also updates own[c], so that origin[c] stays the composition of
 * its base after own[c]. */
cb_status cb_bases_recentre(const cb_space *g, cb_bases *b, cb_origin *origin, int c, const double *y,
                            const cb_local_points *points, cb_isometry *isometry);
/* Must be called after components were recentred. Bases follow their components, and a component that is too far from
 * its base gets a base of its own. nearest[n] is scratch. */
void cb_bases_follow(const cb_space *g, cb_bases *b, int *nearest);

/* Does the same as cb_builder_origin. `origin` must be the composition of `move` after `place`. Bodies with the same
 * `move` keep the relative positions that their `place` gives them. */
cb_status cb_builder_moved_origin(cb_builder *b, const cb_origin *origin, const cb_origin *move,
                                  const cb_origin *place);
