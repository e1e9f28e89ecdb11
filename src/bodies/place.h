/* What all bodies read alike from a scenario: where their particles are, how they move, what they weigh. What joins
 * them is in link.h.
 *
 *   place:  {chart: polar, points: [[..], ..]}         coordinates of a chart, or of the embedding (default)
 *        |  {at: {chart: .., point: [..]},             x = exp_at(sum_a tangent_a e_a), e the frame at `at`
 *            tangent: [[..], ..]}
 *        +  move: [{killing: boost_x, by: 300}, ..]    isometries applied afterwards, in order
 *   motion: {killing: boost_x, speed: 1} | {chart: polar, velocities: [[..], ..]} | a list of these, which add
 *
 * Velocities are those at the place before `move`, which carries them along. Where origins move (H^n, E^n, these as
 * factors, left translations of groups) `move` becomes the body's origin and costs its coordinates no digits, however
 * far it goes. Where numbers grow like exp(distance) so does a place further out than two radii: the particles' numbers
 * are then those near that origin, never those of the world. Everything that is wrong fails with file:line:column of
 * what is wrong.
 */
#pragma once

#include <curvebody/body.h>

/* Particles placed: x[n*embedding], v in the embedding; in a static chart space also q[n*dim], u = dq/dt. One more
 * point may be held: number n, which goes along. */
typedef struct cb_places {
  const cb_geometry *space;
  int n;
  double *x, *v, *q, *u;
  cb_origin *origin;     /* n_origins; what coordinates are relative to */
  int n_origins, *frame; /* [n + 1]: which of them */
  cb_origin *placed, move; /* origin = move after placed */
  bool held;
  cb_isometry moved;     /* by `move`, where origins do not move so: before the origin */
  const cb_node *node;   /* of `place`, for messages */
  const cb_node *points; /* the list of points, NULL if they were made otherwise */
  const cb_chart *chart; /* in which the points were given, NULL for the embedding */
  double *given;         /* n*dim coordinates in that chart */
} cb_places;

/* The chart that `chart` of a map names, NULL for the embedding; if absent, what the space is used in. */
cb_status cb_place_chart(const cb_node *map, const cb_geometry *g, const cb_chart **chart);
/* Fails for a name that is no chart of the space. */
cb_status cb_place_unknown_chart(const cb_node *node, const cb_geometry *g, const char *name);
/* A point {chart: .., point: [..]} in the embedding, relative to *origin (NULL: to the world, or it is refused where it
 * is too far out for that); `what` names it in messages. */
cb_status cb_place_point(const cb_node *map, const char *what, const cb_geometry *g, cb_origin *origin, double *x);
/* The same in the coordinates that the space is used in: of the embedding, or of its static chart. */
cb_status cb_place_space_point(const cb_node *map, const char *what, const cb_geometry *g, cb_origin *origin,
                               double *x);

/* Reads `place` of the body's map: n points (n < 0: any number, at least one). Those of a body whose particles are
 * `joined` have one origin. The caller frees what it is given with cb_places_free, whatever the status. */
cb_status cb_places_read(cb_places *p, const cb_node *body, const cb_geometry *g, int n, bool joined);
/* n points exp_at(tangent) for a body that makes its own shape: tangent[n*dim] in the frame at `at` (NULL: the base
 * point). */
cb_status cb_places_make(cb_places *p, const cb_node *body, const cb_geometry *g, const cb_node *at, int n,
                         const double *tangent);
void cb_places_free(cb_places *p);

/* Holds a point {chart: .., point: [..]} that goes along with the first particle: its number is p->n. */
cb_status cb_places_hold(cb_places *p, const cb_node *map, const char *what);
/* Coordinates of particle or held point i, those that the space is used in. */
const double *cb_places_at(const cb_places *p, int i);

/* --- what particles are made of --- */
typedef struct cb_matter {
  double mass, charge, radius;
  const cb_node *masses, *charges;
} cb_matter;

/* clang-format off */
#define CB_MATTER_ROWS(type, field)                                                                             \
  {"mass", CB_PARAM_REAL, offsetof(type, field.mass), "1", "units of mass", "> 0", "",                          \
   "mass of each particle"},                                                                                    \
  {"masses", CB_PARAM_NODE, offsetof(type, field.masses), "", "units of mass", "", "",                          \
   "list of masses, in place of mass"},                                                                         \
  {"charge", CB_PARAM_REAL, offsetof(type, field.charge), "0", "units of charge", "", "",                       \
   "charge of each particle"},                                                                                  \
  {"charges", CB_PARAM_NODE, offsetof(type, field.charges), "", "units of charge", "", "",                      \
   "list of charges, in place of charge"},                                                                      \
  {"radius", CB_PARAM_REAL, offsetof(type, field.radius), "0", "units of length", ">= 0", "",                   \
   "radius of each particle"}
/* clang-format on */

/* Reads `motion`, applies `move` of `place`, and adds the particles to the body that the builder has begun. mass[n]
 * (NULL: by matter). *first is the index of the first. */
cb_status cb_places_add(cb_places *p, const cb_node *body, const cb_matter *matter, const double *mass, cb_builder *b,
                        int *first);
/* The first two of these. */
cb_status cb_places_set_moving(cb_places *p, const cb_node *body);

/* Distance of two points in the coordinates that the space is used in; nan where it has none. */
double cb_place_apart(const cb_geometry *g, const double *x, const double *y);
/* The error of a library call, placed at node; a failure that is not the scenario's is passed on. */
cb_status cb_place_fail(const cb_node *node, cb_status status);
