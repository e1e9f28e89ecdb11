/* Gap functions of a system: which ones exist, their values and derivatives, and bounds on their second derivatives in
 * time.
 *
 * A cb_gap names one function s(t, x) of at most four particles, and cb_gaps evaluates it. x are the coordinates of the
 * particles relative to the origins of their components (k numbers each; k is the member of cb_space). Gradients are
 * ordinary partial derivatives in these coordinates, as for constraints; in the embedding they may have normal
 * components.
 */
#pragma once

#include "dynamics/system_private.h"
#include <curvebody/contact.h>

enum { CB_GAP_PARTICLES = 4, CB_GAP_MAX = CB_GAP_PARTICLES * CB_COORD_MAX };

typedef enum cb_gap_kind {
  CB_GAP_SPHERES,     /* the spheres of two particles */
  CB_GAP_WALL,        /* a particle and wall `index` */
  CB_GAP_VERTEX_FACE, /* a particle and the three corners of a geodesic triangle; only in dimension 3 */
  CB_GAP_EDGE_EDGE,   /* two particles for each of two edges; only in dimension 3 */
  /* a particle, the two ends of an edge, and the third corner of its triangle, which marks the inner side; the
   * derivatives with respect to this corner are 0. Only in dimension 2 */
  CB_GAP_VERTEX_EDGE,
  CB_GAP_EVENT, /* event `index`, of one particle or two */
  CB_GAP_SHAPES /* the shapes of two bodies, or of a body and a particle (coupling/coupled_shapes.c) */
} cb_gap_kind;

typedef struct cb_gap {
  int kind, n, particle[CB_GAP_PARTICLES]; /* indices of the particles in the system */
  int index;                               /* index of the wall, the event or the triangle; -1: none of these */
  /* surfaces: the side of the normal on which the points were at the start of the step, +1 or -1 */
  int side;
} cb_gap;

typedef struct cb_gap_value {
  double gap, rate_t;          /* the gap s and its partial derivative in the time t */
  double gradient[CB_GAP_MAX]; /* the gradient of s: particle after particle, k numbers each */
  bool active;                 /* surfaces: the nearest points lie inside the face or the edges; otherwise true */
} cb_gap_value;

typedef struct cb_gaps cb_gaps;
struct cb_bases;

/* The system is borrowed. Each thread needs its own cb_gaps. */
cb_status cb_gaps_create(const cb_system *system, cb_gaps **out);
void cb_gaps_free(cb_gaps *gaps);
/* Sets the origins relative to which positions are given, one per component. They are copied. */
void cb_gaps_set_origins(cb_gaps *gaps, const cb_origin *origin);
/* Sets the bases of these origins (bases.h), which are borrowed. With NULL (the default), the relative places of
 * components follow from the origins alone. Must be called whenever the bases have changed. */
void cb_gaps_set_bases(cb_gaps *gaps, const struct cb_bases *bases);

/* cb_gaps_pair_on returns whether contacts between two particles are on, and cb_gaps_wall_on whether contacts of a
 * particle with a wall are on. */
bool cb_gaps_pair_on(const cb_gaps *gaps, int i, int j);
/* Returns whether contacts between the bodies of two particles are on, whatever the radii. With `named`, returns true
 * only if a switch names both bodies. */
bool cb_gaps_bodies_on(const cb_gaps *gaps, int i, int j, bool named);
bool cb_gaps_wall_on(const cb_gaps *gaps, int wall, int i);
/* cb_gaps_walls returns the number of walls; each branch of an expression (cb_expression_branches) counts as a wall.
 * cb_gaps_wall_given returns the number of the wall from which a branch was made. */
int cb_gaps_walls(const cb_gaps *gaps);
int cb_gaps_wall_given(const cb_gaps *gaps, int wall);
/* Returns whether this wall is only a support for particles that rest at the tip of a cone. Such a wall has no
 * collisions (cb_wall.tip). */
bool cb_gaps_wall_of_tip(const cb_gaps *gaps, int wall);
/* These functions return the restitution, the action (CB_EVENT_REFLECT for contacts) and the direction of a gap. */
double cb_gap_restitution(const cb_gaps *gaps, const cb_gap *gap);
int cb_gap_action(const cb_gaps *gaps, const cb_gap *gap);
int cb_gap_direction(const cb_gaps *gaps, const cb_gap *gap);
/* Returns whether the gap is the distance from something that is at rest or moves with the particles. Then |ds/dt| is
 * at most the sum of the speeds of the particles. Returns false for functions of coordinates, such as expressions. */
bool cb_gap_is_length(const cb_gaps *gaps, const cb_gap *gap);

/* cb_gaps_triangles returns the number of triangles of the system. cb_gaps_triangle sets corner[3] to the three corners
 * of a triangle, as indices of particles in the system. */
int cb_gaps_triangles(const cb_gaps *gaps);
void cb_gaps_triangle(const cb_gaps *gaps, int triangle, int corner[3]);
/* cb_gaps_event sets *out to the gap of an event. cb_gap_event_distance returns the distance D of an event s = d - D
 * that compares a distance d with D, and 0 for other events. */
void cb_gaps_event(const cb_gaps *gaps, int event, cb_gap *out);
double cb_gap_event_distance(const cb_gaps *gaps, const cb_gap *gap);

/* Evaluates the gap at time t and at the positions x[gap->n] of its particles; for order 1 also its derivatives.
 * Returns CB_STEP_DOMAIN where they do not exist. */
cb_status cb_gap_eval(cb_gaps *gaps, const cb_gap *gap, double t, const double *const *x, int order, cb_gap_value *out);

/* Sets the side of a surface gap in dimension 3 to the side on which its points lie at x: on this side s >= -r, where r
 * is the sum of the radii that are subtracted in s. Does not change other gaps. Returns the errors of cb_gap_eval. */
cb_status cb_gap_orient(cb_gaps *gaps, cb_gap *gap, double t, const double *const *x);

/* Returns A >= 0 with s'' >= -A while the particles move from x at t for a time of at most `duration`, with speeds of
 * at most speed[n] and covariant accelerations of at most acceleration[n] (lengths in the metric of the space). For the
 * distance d of two points, with speeds of at most a and b and accelerations of at most acc_a and acc_b, it uses
 * Rauch's comparison
 *   d'' >= -(a^2 + b^2) sqrt(K) tan(sqrt(K) d/2) - acc_a - acc_b,   K = max(0, sectional curvatures)
 * It returns INFINITY if no bound is known. For spheres, and for walls and events that are lengths, it then returns 0
 * instead if the speeds cannot close the gap in this time. For events that are distances, A bounds |s''|. For
 * expressions A follows from the largest sampled derivatives, times a factor of 2 for the points between samples. For
 * surfaces it is an estimate (gap_second_derivative_bound.c). */
double cb_gap_second_derivative_bound(cb_gaps *gaps, const cb_gap *gap, double t, const double *const *x,
                                      const double *speed, const double *acceleration, double duration);

/* Lists the surface gaps of two triangles. A vertex or an edge belongs to several triangles. The gap between it and
 * another feature is listed for only one of them: the first that has no vertex in common with the other feature. A loop
 * over all near pairs of triangles therefore lists each gap once. Returns the number of gaps; out receives at most
 * `maximum` of them. Returns 0 if contacts of the two bodies are off, or if the triangles have a vertex in common. */
int cb_gaps_surfaces(const cb_gaps *gaps, int triangle_a, int triangle_b, int maximum, cb_gap *out);

/* The rest of this file is private to the files gap*.c and those of walls and events. */

/* The frames of two components, prepared for distances between their particles. They are kept for the next call, which
 * often has the same components. */
typedef struct cb_gap_frames {
  int a, b;  /* the two components whose frames are stored; -1: none yet */
  bool same; /* the two frames are the same */
  cb_frames frames;
} cb_gap_frames;

/* The centre of a wall, prepared for distances from the particles of one component. It is kept for the next call, which
 * often has the same component and centre. */
typedef struct cb_gap_anchor {
  int a; /* the component; -1: none yet */
  const double *centre;
  cb_anchor anchor;
} cb_gap_anchor;

struct cb_gaps {
  const cb_system *system;
  const cb_space *space;
  const cb_contact_set *set;
  cb_arena *arena;
  bool moves;            /* the space has moving origins; otherwise all origins are the identity */
  cb_origin *origin;     /* the origin of each component, if origins move */
  const cb_bases *bases; /* borrowed; NULL: only the origins determine the frames */
  cb_origin identity;    /* the identity origin of the space */
  cb_gap_frames *last;
  cb_gap_anchor last_anchor;
};

/* Returns the origin of a particle's component. */
static inline const cb_origin *cb_gap_origin(const cb_gaps *gaps, int particle) {
  return gaps->moves ? &gaps->origin[gaps->system->component[particle]] : &gaps->identity;
}

/* Sets pair[0] and pair[1] to the frames of particles i and j, both relative to the same base. */
static inline void cb_gap_pair(const cb_gaps *gaps, int i, int j, cb_origin pair[2]) {
  const int *component = gaps->system->component;
  pair[0] = *cb_gap_origin(gaps, i);
  pair[1] = *cb_gap_origin(gaps, j);
  if (gaps->moves && gaps->bases && component[i] != component[j])
    cb_bases_pair(gaps->space, gaps->bases, component[i], component[j], pair);
}

/* Returns the function of a wall or of an event; NULL for other gaps. */
const cb_gap_function *cb_gap_function_of(const cb_gaps *gaps, const cb_gap *gap);

/* Evaluates the gap of two surfaces, side * distance - radii (gap_surfaces.c). */
cb_status cb_gap_surface(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, int order, cb_gap_value *out);

/* The distance between two geodesic figures that the points of a gap define: between a point and a plane or line, or
 * between two lines. All points are in one frame, in the embedding of a quadric or of flat space. */
typedef struct cb_gap_figure {
  double distance;                                 /* the signed distance */
  double gradient[CB_GAP_PARTICLES][CB_COORD_MAX]; /* derivatives of the distance by the coordinates of each point */
  /* the coefficients with which the gap's points combine to the two nearest points; for two edges, two coefficients for
   * each edge */
  double weight[CB_GAP_PARTICLES];
  bool active;
} cb_gap_figure;
/* Converts the points x of a gap to the frame of its first particle. jacobian[p] is d(point[p])/dx[p], a matrix of
 * embedding x k numbers, row by row. */
cb_status cb_gap_gather(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, double point[][CB_COORD_MAX],
                        double jacobian[][CB_COORD_MAX * CB_COORD_MAX]);
