/* Contacts: gap functions of the positions, what happens at their zeros, and the walls that bodies meet.
 *
 *   s(t, x) >= 0,  eqs 2.48-2.50:  spheres  d(x_i, x_j) - (r_i + r_j);  a wall, its distance - r_i;  surfaces, signed
 *   at s = 0 with ds/dt < 0:  v <- v - (1 + e) (ds/dt) n / <n, n>,  n = M^-1 ds/dx  in the kinetic metric
 *
 * with n brought to the tangent space of the constraints. A contact is located by ending a step on the zero of s.
 * Radii and masses are those of the particles, lengths units of the scenario, restitution e in [0, 1].
 * For users. Particles are by the user's count.
 * Source: J. J. Moreau in Nonsmooth Mechanics and Applications (1988), doi:10.1007/978-3-7091-2624-0_1.
 */
#ifndef CURVEBODY_CONTACT_H
#define CURVEBODY_CONTACT_H

#include <curvebody/event.h>
#include <curvebody/system.h>
#include <stdbool.h>

CB_API_BEGIN

/* Several contacts in one instant. Both keep energy (e = 1) and every isometry momentum of what they hit.
 *   sequential    one contact after another, the one that closes fastest first (ties: the first by particles), until
 *                 none closes: Newton's cradle passes the blow through; the symmetric three-ball break comes out
 *                 unsymmetric
 *   simultaneous  all at once, one impulse each, v <- v - (1 + e) N (N^T M N)^-1 N^T v with impulses >= 0: symmetric
 *                 cases stay symmetric; in the cradle all balls move */
typedef enum cb_contact_rule { CB_CONTACT_SEQUENTIAL, CB_CONTACT_SIMULTANEOUS } cb_contact_rule;
/* Contacts without end in a finite time: the run ends with a status by name, or what closes slower than `slow` comes to
 * rest against what it touches. */
typedef enum cb_contact_pile { CB_PILE_STOP, CB_PILE_REST } cb_contact_pile;

typedef struct cb_contact_options {
  double restitution; /* of particles with one another */
  cb_contact_rule rule;
  cb_contact_pile pile;
  bool all_pairs; /* every pair is looked at, instead of those near each other: the same contacts */
} cb_contact_options;

/* --- building --- */
/* Contacts of particles of different bodies, all pairs of bodies at first. Surfaces: bodies with triangles
 * (cb_builder_triangle) meet with their faces and edges too, in spaces of one factor and dimension 2 or 3; elsewhere
 * the spheres of their particles do. */
cb_status cb_builder_contacts(cb_builder *b, const cb_contact_options *options);
/* Between two bodies (a == b: within one, off at first), on or off; -1: any body (a = b = -1: all pairs of different
 * bodies). Later calls go before earlier ones. */
cb_status cb_builder_contact_bodies(cb_builder *b, int body_a, int body_b, bool on);

/* Walls, for the particles of a body (-1: all). A ball at centre (k numbers, a point of the world): bodies outside of
 * it, or inside. */
cb_status cb_builder_wall_ball(cb_builder *b, const char *name, int body, const double *centre, double radius,
                               bool inside, double restitution);
/* The totally geodesic plane through a point with a normal (a tangent vector there); bodies on the side it points to.
 * Spaces of one factor, and flat or curved factors of a product where the normal lies in one factor. */
cb_status cb_builder_wall_plane(cb_builder *b, const char *name, int body, const double *point, const double *normal,
                                double restitution);
/* gap = expression of the coordinates of a chart (NULL: embedding, or the chart of a chart space), t and r, the
 * particle's radius: positive where bodies may be. */
cb_status cb_builder_wall_expression(cb_builder *b, const char *name, int body, const char *chart,
                                     const char *expression, double restitution);

typedef enum cb_event_direction { CB_EVENT_BOTH, CB_EVENT_FALLING, CB_EVENT_RISING } cb_event_direction;
/* The run ends, or a row of /event is written, where d(i, j) - value, or an expression of a particle's coordinates, t
 * and r, is 0 or changes its sign; a run does not end where it starts. */
cb_status cb_builder_event_distance(cb_builder *b, const char *name, int i, int j, double value, cb_event_action action,
                                    cb_event_direction direction);
cb_status cb_builder_event_expression(cb_builder *b, const char *name, int i, const char *chart, const char *expression,
                                      cb_event_action action, cb_event_direction direction);

/* --- what a system has --- */
bool cb_system_contacts(const cb_system *s); /* anything that can happen: contacts, walls, events */
cb_contact_options cb_system_contact_options(const cb_system *s);
int cb_system_walls(const cb_system *s);
const char *cb_system_wall_name(const cb_system *s, int wall);
int cb_system_events(const cb_system *s);
const char *cb_system_event_name(const cb_system *s, int event);

CB_API_END
#endif
