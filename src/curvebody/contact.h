/* Contacts: gap functions of the positions, the impulses at their zeros, and the walls that bodies hit.
 *
 *   s(t, x) >= 0:  spheres  d(x_i, x_j) - (r_i + r_j);  a wall, its distance - r_i;  surfaces, their signed distance
 *   at s = 0 with ds/dt < 0:  v <- v - (1 + e) (ds/dt) n / <n, n>,  n = M^-1 ds/dx  in the kinetic metric
 *
 * x_i, r_i: place and radius of particle i; d: distance; v: velocities; e: restitution; M: masses. The impulse acts
 * along n, projected to the tangent space of the constraints. A contact is located by ending a step on the zero of s.
 * Lengths are in units of the scenario, the restitution e is in [0, 1].
 * For users, and for authors of walls and events (cb_gap_class). Particles are numbered in the order of adding.
 * Source: J. J. Moreau in Nonsmooth Mechanics and Applications (1988), doi:10.1007/978-3-7091-2624-0_1.
 */
#ifndef CURVEBODY_CONTACT_H
#define CURVEBODY_CONTACT_H

#include <curvebody/event.h>
#include <curvebody/jet.h>
#include <curvebody/param.h>
#include <curvebody/system.h>
#include <stdbool.h>

CB_API_BEGIN

/* Rules for several contacts at the same time. Both conserve energy (e = 1) and the momentum of every isometry that is
 * a symmetry of the objects that are hit.
 *   sequential one contact after another, the one that closes fastest first (ties: the one with the lowest particle
 *                 numbers), until none closes: Newton's cradle passes the impulse through; a break shot with three
 *                 balls does not stay symmetric
 *   simultaneous all at once, one impulse each, v <- v - (1 + e) N (N^T M N)^-1 N^T M v with impulses >= 0, N the
 *                 matrix of the n of all contacts, M the masses: symmetric cases stay symmetric; in the cradle all
 *                 balls move */
typedef enum cb_contact_rule { CB_CONTACT_SEQUENTIAL, CB_CONTACT_SIMULTANEOUS } cb_contact_rule;
/* Infinitely many contacts in a finite time: the run stops with a status of its own, or every pair that closes more
 * slowly than `slow` comes to rest in contact. */
typedef enum cb_contact_accumulation { CB_ACCUMULATION_STOP, CB_ACCUMULATION_REST } cb_contact_accumulation;

typedef struct cb_contact_options {
  double restitution; /* coefficient e of contacts between particles */
  cb_contact_rule rule;
  cb_contact_accumulation accumulation;
  bool all_pairs; /* every pair is tested, not only pairs near each other: the result is the same */
} cb_contact_options;

/* --- building --- */
/* Switches on contacts between particles of different bodies; at first for all pairs of bodies. Surfaces: bodies with
 * triangles (cb_builder_triangle) collide with their faces and edges too, in spaces of one factor and dimension 2 or 3;
 * in other spaces only with the spheres of their particles. */
cb_status cb_builder_contacts(cb_builder *b, const cb_contact_options *options);
/* Switches contacts between two bodies on or off (a == b: within one body, off at first); -1: any body (a = b = -1: all
 * pairs of different bodies). Later calls take precedence. */
cb_status cb_builder_contact_bodies(cb_builder *b, int body_a, int body_b, bool on);

/* --- classes of walls and events ---
 *
 * A class is a function s(x, t) of one or two particles: of a wall, its gap, which is > 0 where particles are allowed;
 * an event happens where it is 0. One file src/dynamics/walls/wall_NAME.c or src/dynamics/events/event_NAME.c has one
 * const object cb_wall_NAME or cb_event_NAME. The author writes s once, on jets; the library derives its gradient, its
 * rates and bounds on its second derivatives along the motion. */
typedef struct cb_gap_class {
  const char *name, *title, *doc; /* name: the key of its map in `walls` or `events` */
  /* Rows besides those of all walls (name, restitution, body) or all events (particle or between, action, direction,
   * name). `init` may store more in the struct, after the fields of the rows. */
  const cb_param *params;
  size_t params_size;
  int particles;     /* of an event: 1 (key `particle`) or 2 (key `between`); a wall has 1 */
  bool timed;        /* s depends on t */
  const char *chart; /* x are coordinates of this chart; NULL: of the embedding, or of the chart of a space with one */
  /* Reads and checks what the table cannot: parameters of type CB_PARAM_NODE become numbers in the struct `params`,
   * which is then copied. space: that of the builder b. NULL: nothing. */
  cb_status (*init)(void *params, const cb_space *space, cb_builder *b);
  /* Computes s. x[particles][size]: coordinates in the world; the jets x and t are the variables themselves, or, if
   * only the value is needed, have no derivatives (n = 0). radius[particles]: radii of the particles. A value that is
   * not finite fails the step. Called from any thread. */
  cb_status (*on_jets)(const void *params, const cb_space *space, const cb_jet *x, const cb_jet *t,
                       const double *radius, cb_jet *s);
  const struct cb_gap_forms *forms; /* closed forms of built-in classes (dynamics/gap_class.h); NULL: on_jets */
} cb_gap_class;
typedef cb_gap_class cb_wall_class, cb_event_class;

/* All classes: the built-in ones, then those of plugins; ended by NULL. */
extern const cb_wall_class *const *const cb_wall_classes;
extern const cb_event_class *const *const cb_event_classes;

/* Adds a wall for the particles of a body (-1: all). params: the struct of the class, after its `init`; copied.
 * name NULL: "wall 1", "wall 2", ... */
cb_status cb_builder_wall(cb_builder *b, const cb_wall_class *class_, const void *params, const char *name, int body,
                          double restitution);
/* A ball at centre (k numbers, a point of the world); bodies are outside or inside the ball. */
cb_status cb_builder_wall_ball(cb_builder *b, const char *name, int body, const double *centre, double radius,
                               bool inside, double restitution);
/* The totally geodesic plane through a point with a normal (a tangent vector at the point); bodies are on the side to
 * which the normal points. Only in spaces of one factor, and in products if the normal lies in one flat or curved
 * factor. */
cb_status cb_builder_wall_plane(cb_builder *b, const char *name, int body, const double *point, const double *normal,
                                double restitution);
/* A wall by its gap, an expression of t, r (the particle's radius) and the coordinates of a chart (NULL: the embedding,
 * or the chart of a space with a chart). The gap is positive where bodies are allowed. */
cb_status cb_builder_wall_expression(cb_builder *b, const char *name, int body, const char *chart,
                                     const char *expression, double restitution);

typedef enum cb_event_direction { CB_EVENT_BOTH, CB_EVENT_FALLING, CB_EVENT_RISING } cb_event_direction;
/* Adds an event of the particles particle[class_->particles]: the run stops, or a row of /event is written, when the
 * function of the class is 0 or changes sign. A zero at the start does not stop the run. params: the struct of the
 * class, after its `init`; copied. */
cb_status cb_builder_event(cb_builder *b, const cb_event_class *class_, const void *params, const char *name,
                           const int *particle, cb_event_action action, cb_event_direction direction);
/* The function d(i, j) - value, or an expression of t, of particle i's coordinates and of its radius r. */
cb_status cb_builder_event_distance(cb_builder *b, const char *name, int i, int j, double value, cb_event_action action,
                                    cb_event_direction direction);
cb_status cb_builder_event_expression(cb_builder *b, const char *name, int i, const char *chart, const char *expression,
                                      cb_event_action action, cb_event_direction direction);

/* --- queries of a system --- */
bool cb_system_contacts(const cb_system *s); /* true: there are contacts, walls or events */
cb_contact_options cb_system_contact_options(const cb_system *s);
int cb_system_walls(const cb_system *s);
const char *cb_system_wall_name(const cb_system *s, int wall);
int cb_system_events(const cb_system *s);
const char *cb_system_event_name(const cb_system *s, int event);

CB_API_END
#endif
