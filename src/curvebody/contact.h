/* Contacts: gaps between bodies, the impulses when a gap closes, and the walls that bodies hit.
 *
 * A gap s(t, x) >= 0 is a function of the time and of the positions x_i of particles, which have the radii r_i. Between
 * two spheres it is d(x_i, x_j) - (r_i + r_j) with the distance d; for a wall it is the distance of the wall minus r_i;
 * for surfaces it is their signed distance. If s = 0 and ds/dt < 0, the velocities v change by an impulse,
 *   v <- v - (1 + e) (ds/dt) n / <n, n>,   n = M^-1 ds/dx,   <a, b> = a^T M b.
 * M is the matrix of the masses and e the restitution, from 0 to 1. If there are constraints, n is projected to the
 * velocities that they allow. A step ends at the time at which s = 0. Lengths are in units of the scenario.
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

/* Rules for several contacts at the same time.
 *   sequential    The contact whose gap closes fastest is resolved first, then again the fastest, until no gap closes.
 *                 In Newton's cradle the impulse passes to the last ball. A symmetric impact of three balls does not
 *                 stay symmetric.
 *   simultaneous  All contacts have their impulse at once, v <- v - (1 + e) N (N^T M N)^-1 N^T M v. The columns of the
 *                 matrix N are the vectors n of the contacts; contacts whose impulse would be negative have none. A
 *                 symmetric impact stays symmetric. In Newton's cradle all balls move.
 * With both rules the energy is conserved if e = 1, and the momentum of a Killing field is conserved if its flow does
 * not move the walls that are hit. */
typedef enum cb_contact_rule { CB_CONTACT_SEQUENTIAL, CB_CONTACT_SIMULTANEOUS } cb_contact_rule;
/* Says what happens if there are infinitely many contacts in a finite time. CB_ACCUMULATION_STOP: the run ends with
 * CB_ERROR_CONTACT_ACCUMULATION. CB_ACCUMULATION_REST: two bodies come to rest at each other if the time between two of
 * their contacts is less than 1e-6 of a step (1e-2 of a step if one of them slides or rests on another; 1e-3 of a step
 * in a system with rigid bodies). */
typedef enum cb_contact_accumulation { CB_ACCUMULATION_STOP, CB_ACCUMULATION_REST } cb_contact_accumulation;

typedef struct cb_contact_options {
  double restitution; /* coefficient e of contacts between particles */
  cb_contact_rule rule;
  cb_contact_accumulation accumulation;
  bool all_pairs; /* true: every pair is tested, and not only pairs near each other; the result is the same */
} cb_contact_options;

/* --- building --- */
/* Switches on contacts between particles of different bodies, for all pairs of bodies unless cb_builder_contact_bodies
 * excludes them. In spaces of one factor, the faces and edges of bodies with triangles (cb_builder_triangle) collide as
 * well; in other spaces only the spheres of particles do. CB_ERROR_ARGUMENT for a restitution outside [0, 1];
 * CB_ERROR_UNSUPPORTED in a space without distances. */
cb_status cb_builder_contacts(cb_builder *b, const cb_contact_options *options);
/* Switches contacts between the bodies body_a and body_b on or off. If both are the same body, these are contacts
 * between its own particles, which are off at first. -1 stands for every body; if both are -1, for all pairs of
 * different bodies. Later calls take precedence. */
cb_status cb_builder_contact_bodies(cb_builder *b, int body_a, int body_b, bool on);

/* --- classes of walls and events ---
 *
 * A class is a function s(x, t) of the positions x of one or two particles. For a wall it is the gap, which is positive
 * where particles are allowed; an event happens where s is 0. A class is one const object cb_wall_NAME or cb_event_NAME
 * in a file src/dynamics/walls/wall_NAME.c or src/dynamics/events/event_NAME.c. Its author writes s once, on jets
 * (curvebody/jet.h), from which the library computes its gradient and its derivatives by the time. */
typedef struct cb_gap_class {
  const char *name, *title, *doc; /* name: the key of the map in `walls` or `events` of a scenario */
  /* The parameters besides those that all walls have (name, restitution, body) or all events (particle or between,
   * action, direction, name). */
  const cb_param *params;
  size_t params_size; /* bytes of the struct that `params` fills, to which the class may add more members at the end */
  int particles;      /* for an event: 1 (key `particle`) or 2 (key `between`); for a wall: 1 */
  bool timed;         /* the gap or function s depends on the time t */
  const char *chart;  /* x are coordinates of this chart; NULL: of cb_space.chart if set, otherwise of the embedding */
  /* Reads and checks what the table `params` cannot describe, and fills the added members of the struct: for example it
   * turns a parameter of type CB_PARAM_NODE into numbers. The struct is then copied. space: the space of the builder b.
   * NULL: there is nothing to do. */
  cb_status (*init)(void *params, const cb_space *space, cb_builder *b);
  /* Computes s from the coordinates x[particles][size] of the particles in the world, the time t and the
   * radius[particles]. The variables of the jets are the coordinates and the time; if only the value is needed, the
   * jets have no variables (n = 0). If s is not finite, the step fails. The function must be callable from any
   * thread. */
  cb_status (*on_jets)(const void *params, const cb_space *space, const cb_jet *x, const cb_jet *t,
                       const double *radius, cb_jet *s);
  const struct cb_gap_forms *forms; /* closed forms of built-in classes (dynamics/gap_class.h); NULL: on_jets */
} cb_gap_class;
typedef cb_gap_class cb_wall_class, cb_event_class;

/* All classes: the built-in ones, then those of plugins; ended by NULL. */
extern const cb_wall_class *const *const cb_wall_classes;
extern const cb_event_class *const *const cb_event_classes;

/* Adds a wall that the particles of a body hit (-1: of all bodies). params: the filled struct of the class, which is
 * copied. If name is NULL, the wall is called "wall 1", "wall 2", ... CB_ERROR_ARGUMENT for a wrong body or a
 * restitution outside [0, 1]; CB_ERROR_UNSUPPORTED if the class does not work in the space. */
cb_status cb_builder_wall(cb_builder *b, const cb_wall_class *class_, const void *params, const char *name, int body,
                          double restitution);
/* Adds a wall that is the border of a ball with this centre, a point of the world with k numbers, and radius. Bodies
 * are inside the ball if `inside` is true, otherwise outside. */
cb_status cb_builder_wall_ball(cb_builder *b, const char *name, int body, const double *centre, double radius,
                               bool inside, double restitution);
/* Adds a wall that is the totally geodesic plane through a point, perpendicular to the tangent vector `normal` there.
 * Bodies are on the side to which the normal points. In a product the normal must lie in one factor. */
cb_status cb_builder_wall_plane(cb_builder *b, const char *name, int body, const double *point, const double *normal,
                                double restitution);
/* Adds a wall whose gap is an expression of t, of the coordinates of the particle in a chart, and of its radius r. The
 * gap is positive where particles are allowed. chart NULL: cb_space.chart if it is set, otherwise the embedding. */
cb_status cb_builder_wall_expression(cb_builder *b, const char *name, int body, const char *chart,
                                     const char *expression, double restitution);

typedef enum cb_event_direction { CB_EVENT_BOTH, CB_EVENT_FALLING, CB_EVENT_RISING } cb_event_direction;
/* Adds an event of the particles particle[class_->particles]. When the function of the class is 0 or changes sign in
 * the given direction, the run stops (CB_EVENT_STOP) or only writes a row of /event (CB_EVENT_MARK). A zero at the
 * start does not stop the run. params: the filled struct of the class, which is copied. name NULL: "event 1", ... */
cb_status cb_builder_event(cb_builder *b, const cb_event_class *class_, const void *params, const char *name,
                           const int *particle, cb_event_action action, cb_event_direction direction);
/* Add an event whose function is d - value, where d is the distance of the particles i and j, or an event whose
 * function is an expression of t, of the coordinates of particle i in a chart, and of its radius r (chart as for
 * cb_builder_wall_expression). */
cb_status cb_builder_event_distance(cb_builder *b, const char *name, int i, int j, double value, cb_event_action action,
                                    cb_event_direction direction);
cb_status cb_builder_event_expression(cb_builder *b, const char *name, int i, const char *chart, const char *expression,
                                      cb_event_action action, cb_event_direction direction);

/* --- queries of a system --- */
bool cb_system_contacts(const cb_system *s); /* returns whether there are contacts, walls or events */
cb_contact_options cb_system_contact_options(const cb_system *s);
int cb_system_walls(const cb_system *s);
const char *cb_system_wall_name(const cb_system *s, int wall);
int cb_system_events(const cb_system *s);
const char *cb_system_event_name(const cb_system *s, int event);

CB_API_END
#endif
