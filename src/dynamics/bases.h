/* Common frames of components that may meet.
 *
 *   origin of component c = base[l] after own[c],  l = leader[c];   base[l] in the frame of base[parent[l]], or the world
 *
 * Two origins that are far out do not know their relative place (geometry/origin.h): each has round-off of its own, and
 * exp(length) of it is a distance. Components whose contacts are on, or whose distance is an event, therefore measure
 * each other by what differs on the way up to the first base that they have in common, wherever in the world that is.
 * A base follows its components; one that leaves the others gets a base of its own, with those near to it, which knows
 * the base it came from.
 * In spaces where numbers do not grow, all components that may meet have one base, which stays.
 */
#pragma once

#include "core/arena.h"
#include "geometry/origin.h"
#include <curvebody/system.h>

typedef struct cb_bases {
  int n;           /* components */
  int *family;     /* [n] components that may meet, directly or through others, are of one family */
  int32_t *leader; /* [n] one component of all that have the same base, which its numbers below stand for */
  int32_t *count;  /* [n] how many have it; 0: no leader */
  int32_t *parent; /* [n] a leader, or -1: the world */
  cb_origin *base; /* [n] */
  cb_origin *own;  /* [n] */
  int children;    /* leaders that have a parent */
  int changes;     /* counts what makes distances between frames be found anew */
  int partings;    /* counts what makes new bases */
} cb_bases;

/* What a restart needs is in three pieces: base, own, and leader with count and parent, 3n numbers. */
cb_status cb_bases_create(cb_arena *arena, int n, cb_bases *out);
void cb_bases_copy(cb_bases *to, const cb_bases *from);
/* Call when the three pieces were loaded. */
void cb_bases_loaded(cb_bases *b);

/* The frames of two components relative to the first base that they have in common, or the world. */
void cb_bases_pair(const cb_geometry *g, const cb_bases *b, int c, int d, cb_origin pair[2]);
/* The same of the bases of two leaders. */
void cb_bases_pair_of(const cb_geometry *g, const cb_bases *b, int l, int m, cb_origin pair[2]);
/* How much the relative place of the bases of two components may be off by round-off of this, a length: the distances
 * that they have come from what they have in common. */
double cb_bases_doubt(const cb_geometry *g, const cb_bases *b, int c, int d);

/* Gives the components that have the base of one of the two that of the other. */
void cb_bases_join(const cb_geometry *g, cb_bases *b, int c, int d);
/* What cb_origin_recentre does to the frame of a component, for its own part and its origin. */
cb_status cb_bases_recentre(const cb_geometry *g, cb_bases *b, cb_origin *origin, int c, const double *y, int n,
                            double *x, double *x_low, double *p, double *p_low, cb_isometry *isometry);
/* May a component that is so far from a base, in radii, have it? */
bool cb_bases_reaches(double radii);
/* After components were recentred: bases follow, and what has left takes a base of its own. nearest: scratch[n]. */
void cb_bases_follow(const cb_geometry *g, cb_bases *b, int *nearest);

/* cb_builder_origin for an origin that is `move` after `place`: bodies that have one `move` stand to one another as
 * their places do. */
cb_status cb_builder_moved_origin(cb_builder *b, const cb_origin *origin, const cb_origin *move,
                                  const cb_origin *place);
