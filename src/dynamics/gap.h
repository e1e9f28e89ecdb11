/* Gap functions of a system: which there are, their values and derivatives, and how fast they may bend.
 *
 * A cb_gap names one function s(t, x) of at most four particles; cb_gaps evaluates it. x are the particles' coordinates
 * local to their components' origins (g->k numbers each), gradients ordinary partial derivatives in those coordinates,
 * as of constraints (in the embedding normal components may be in them).
 */
#pragma once

#include <curvebody/contact.h>

enum { CB_GAP_PARTICLES = 4, CB_GAP_MAX = CB_GAP_PARTICLES * CB_COORD_MAX };

typedef enum cb_gap_kind {
  CB_GAP_SPHERES,     /* particles i, j */
  CB_GAP_WALL,        /* particle i, wall `index` */
  CB_GAP_VERTEX_FACE, /* particle, and the three of a geodesic triangle; dimension 3 */
  CB_GAP_EDGE_EDGE,   /* two particles each; dimension 3 */
  CB_GAP_VERTEX_EDGE, /* particle, the two of an edge, the triangle's third (no gradient): inside; dimension 2 */
  CB_GAP_EVENT        /* event `index`: one particle or two */
} cb_gap_kind;

typedef struct cb_gap {
  int kind, n, particle[CB_GAP_PARTICLES]; /* by place */
  int index;                               /* of the wall or event, or of the triangle; otherwise -1 */
  int side;                                /* surfaces: which side is out, +1 or -1, as it was where the step began */
} cb_gap;

typedef struct cb_gap_value {
  double gap, rate_t;          /* s and its partial derivative in t */
  double gradient[CB_GAP_MAX]; /* particle after particle, k numbers each */
  bool active;                 /* surfaces: the nearest points lie inside the face or the edges; otherwise true */
} cb_gap_value;

typedef struct cb_gaps cb_gaps;
struct cb_bases;

/* system is borrowed. One a thread. */
cb_status cb_gaps_create(const cb_system *system, cb_gaps **out);
void cb_gaps_free(cb_gaps *gaps);
/* Origins that positions are relative to, one a component. */
void cb_gaps_set_origins(cb_gaps *gaps, const cb_origin *origin);
/* What they have in common, borrowed (NULL, as at first: only the world). Call when it has changed. */
void cb_gaps_set_bases(cb_gaps *gaps, const struct cb_bases *bases);

/* Are contacts of these two particles on, and of this particle with this wall? */
bool cb_gaps_pair_on(const cb_gaps *gaps, int i, int j);
bool cb_gaps_wall_on(const cb_gaps *gaps, int wall, int i);
/* Walls, each branch of an expression for itself (cb_expression_branches), and the wall as it was given. */
int cb_gaps_walls(const cb_gaps *gaps);
int cb_gaps_wall_given(const cb_gaps *gaps, int wall);
/* Does it only hold what has come to rest at the tip of a cone, and strike nothing? */
bool cb_gaps_wall_of_tip(const cb_gaps *gaps, int wall);
/* Restitution and action (CB_EVENT_REFLECT for contacts) and direction of a gap. */
double cb_gap_restitution(const cb_gaps *gaps, const cb_gap *gap);
int cb_gap_action(const cb_gaps *gaps, const cb_gap *gap);
int cb_gap_direction(const cb_gaps *gaps, const cb_gap *gap);
/* Is it a distance of things that rest or go along with the particles, so that |ds/dt| is at most the sum of their
 * speeds? Not so for expressions. */
bool cb_gap_is_length(const cb_gaps *gaps, const cb_gap *gap);

/* The triangles of the system, and the places of one's particles. */
int cb_gaps_triangles(const cb_gaps *gaps);
void cb_gaps_triangle(const cb_gaps *gaps, int triangle, int corner[3]);
/* The gap of an event, and the distance that it compares with; 0: an expression. */
void cb_gaps_event(const cb_gaps *gaps, int event, cb_gap *out);
double cb_gap_event_distance(const cb_gaps *gaps, const cb_gap *gap);

/* Value, and for order 1 the derivatives too. CB_STEP_DOMAIN where there are none. */
cb_status cb_gap_eval(cb_gaps *gaps, const cb_gap *gap, double t, const double *const *x, int order,
                      cb_gap_value *out);

/* Sets the side of a surface gap (dimension 3) to the one that its points stand on at x: s + r > 0 there. */
cb_status cb_gap_orient(cb_gaps *gaps, cb_gap *gap, double t, const double *const *x);

/* A >= 0 such that s'' >= -A while the particles move for a time no longer than `duration` with speeds at most
 * speed[n] and covariant accelerations at most acceleration[n] (lengths in the space's metric), from x at t. From
 *   d'' >= -(a^2 + b^2) sqrt(K) tan(sqrt(K) d/2) - |acc_a| - |acc_b|,   K the greatest sectional curvature, 0 if < 0
 * (Rauch's comparison) for distances of points; INFINITY where no bound is known, but 0 where the speeds do not let
 * the gap vanish. Events that are distances: |s''| <= A. Expressions: |s''|, from their second derivatives, sampled,
 * with a factor for what lies between. Surfaces: an estimate (gap_bend_surfaces.c). */
double cb_gap_bend(cb_gaps *gaps, const cb_gap *gap, double t, const double *const *x, const double *speed,
                   const double *acceleration, double duration);

/* The surface gaps that particle pairs (i, j) near each other stand for: those of the faces and edges that have these
 * particles among theirs are listed with the face or edge of smallest index responsible, so that going over all near
 * pairs lists each once. Returns their number; out[most]. 0 where neither body has triangles. */
int cb_gaps_surfaces(const cb_gaps *gaps, int triangle_a, int triangle_b, int most, cb_gap *out);
