/* The keys that all bodies read in the same way: the positions of their particles, their motion, and their masses.
 * Links are in link.h.
 *
 *   place:  {chart: polar, points: [[..], ..]}         coordinates of a chart, or of the embedding (default)
 *        |  {at: {chart: .., point: [..]},             x = exp_at(sum_a tangent_a e_a), e the frame at `at`
 *            tangent: [[..], ..]}
 *        +  move: [{killing: boost_x, by: 300}, ..]    isometries that are applied afterwards, in order
 *   motion: {killing: boost_x, speed: 1} | {chart: polar, velocities: [[..], ..]} | a list of these, which add
 *
 * Velocities are those at the place before `move`; `move` transforms them too. The coordinates of a body are relative
 * to its origin, an isometry that moves the base point of the space to a place near the body (geometry/origin.h). In
 * H^n, E^n, products with these, and for left translations of groups, `move` becomes the origin of the body, so that
 * the coordinates of the body keep their digits at any distance. If coordinates grow like exp(distance), a place more
 * than two radii of curvature away gets an origin too. Every error has the file:line:column of its cause.
 */
#pragma once

#include "geometry/given_point.h"
#include <curvebody/body.h>

/* Placed particles: positions x[n*embedding] and velocities v[n*embedding] in the embedding; if the space is used in a
 * chart, also the coordinates q[n*dim] in this chart and their rates u[n*dim]. One additional point, number n, may be
 * stored (cb_places_hold); it moves together with the particles. */
typedef struct cb_places {
  const cb_space *space;
  int n;
  double *x, *v, *q, *u;
  cb_origin *origin;     /* [n_origins]: the origins to which coordinates are relative */
  int n_origins, *frame; /* [n + 1]: the index of the origin of each point */
  /* move: the product of those last isometries of the key `move` that several bodies may have in common (motion.c).
   * placed: [n_origins], the origins without these isometries: origin[i] is placed[i] moved by `move`. Bodies with the
   * same `move` then keep the relative positions of their `placed` origins. NULL: `placed` is not needed */
  cb_origin *placed, move;
  bool held;             /* a point has been stored by cb_places_hold */
  cb_isometry moved;     /* the isometry of `move`, if an origin cannot represent it */
  const cb_node *node;   /* the node of `place`, for messages */
  const cb_node *points; /* the list of points; NULL: the points do not come from a list */
  const cb_chart *chart; /* the chart of the given points; NULL: the embedding */
  double *given;         /* [n*dim]: the given coordinates, in `chart` */
} cb_places;

/* Reads `place` of the map of a body: n points (n < 0: any number, at least one). The particles of a `joined` body
 * share one origin. The caller frees p with cb_places_free, whatever the status. */
cb_status cb_places_read(cb_places *p, const cb_node *body, const cb_space *g, int n, bool joined);
/* Places n points exp_at(tangent) for a body that makes its own shape: tangent[n*dim] in the frame at `at` (NULL: the
 * base point). */
cb_status cb_places_make(cb_places *p, const cb_node *body, const cb_space *g, const cb_node *at, int n,
                         const double *tangent);
void cb_places_free(cb_places *p);

/* Stores a point {chart: .., point: [..]}, which moves with the first particle. Its number is p->n. Fails if the point
 * is too far from the origin of the first particle. */
cb_status cb_places_hold(cb_places *p, const cb_node *map, const char *what);
/* Returns the coordinates of particle i, or of the additional point (i = p->n), in the chart or embedding in which the
 * space is used. */
const double *cb_places_at(const cb_places *p, int i);

/* --- masses, charges and radii of particles --- */
typedef struct cb_matter {
  double mass, charge, radius;
  const cb_node *masses, *charges;
} cb_matter;

/* clang-format off */
#define CB_MATTER_ROWS(type, field)                                                                             \
  {"mass", CB_PARAM_REAL, offsetof(type, field.mass), "1", "units of mass", ">= 0", "",                         \
   "mass of each particle"},                                                                                    \
  {"masses", CB_PARAM_NODE, offsetof(type, field.masses), "", "units of mass", "", "",                          \
   "list of masses, instead of mass"},                                                                         \
  {"charge", CB_PARAM_REAL, offsetof(type, field.charge), "0", "units of charge", "", "",                       \
   "charge of each particle"},                                                                                  \
  {"charges", CB_PARAM_NODE, offsetof(type, field.charges), "", "units of charge", "", "",                      \
   "list of charges, instead of charge"},                                                                      \
  {"radius", CB_PARAM_REAL, offsetof(type, field.radius), "0", "units of length", ">= 0", "",                   \
   "radius of each particle"}
/* clang-format on */

/* Reads `motion`, applies `move` of `place`, and adds the particles to the body that the builder has begun. mass[n]:
 * their masses (NULL: those of matter). *first is the index of the first particle. */
cb_status cb_places_add(cb_places *p, const cb_node *body, const cb_matter *matter, const double *mass, cb_builder *b,
                        int *first);

/* Returns the distance of two points, given in the coordinates in which the space is used. nan: the space has no
 * distance, or it cannot be computed. */
double cb_place_apart(const cb_space *g, const double *x, const double *y);
