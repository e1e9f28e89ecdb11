/* The data of coupled bodies and particles (coupled.h), which the files of this folder share. Arrays [n] are ordered by
 * place in the state of the system. */
#pragma once

#include "core/arena.h"
#include "core/failure.h"
#include "coupling/convex.h"
#include "coupling/coupled.h"
#include "dynamics/gap.h"
#include "fluid/rigid_step.h"
#include "numerics/sparse.h"

#include <stdbool.h>

/* A point of the system. If it is fixed in a body, (x, w) is its place in the body frame, in the coordinates of
 * numerics/numerics_curved.h; w = 1 in E3. touches and of_shape are those of cb_body_point. */
typedef struct cb_carried {
  int body; /* the body in which the point is fixed; -1: the point is a particle that moves by itself */
  bool touches, of_shape;
  double x[3], w;
} cb_carried;

/* The pose g = T(p) R of a body as it acts on points and covectors: rotation r, transvection T to the point with normal
 * coordinates p + p_low, along the unit vector n; s and c are the sine and cosine of |p| in the curvature K
 * (numerics/numerics_curved.h). */
typedef struct cb_placing {
  double r[3][3], p[3], p_low[3], n[3], s, c;
} cb_placing;

/* The rows of constraints, their gradients, and the responses of bodies and particles to unit impulses along them. A
 * unit is a body (numbers 0 to bodies.n - 1) or a particle (number bodies.n + its place). */
typedef struct cb_coupled_rows {
  cb_constraints *own;
  const cb_rows *pattern;
  int rows, entries, pairs;
  int *row, *unit; /* [entries]: the row and the unit of each entry */
  /* unit_entry[unit_start[u] .. unit_start[u+1] - 1]: the entries of unit u */
  int *unit_start, *unit_entry;
  /* [rows]: residuals g; [entries*k]: G = dg/dx at the present places, and first_G, G at node k, the step's start */
  double *g, *G, *first_G;
  double *impulse, *change; /* [rows]: the impulses lambda, and their change in one iteration */
  /* [entries]: gradients at node k, as a wrench on a body or a covector at a particle */
  double (*first)[6];
  /* [entries]: left: gradients at node k+1; right: velocity changes by unit impulses along the gradients at node k */
  double (*left)[6], (*right)[6];
  bool *joined; /* [rows]: the row acts on a body that has joints */
  /* [entries]: for bodies with joints: gradients at nodes k (first) and k+1 (left), in the world's axes */
  double (*first_world)[6], (*left_world)[6];
  /* [bodies]: impulses on each body, and its response to them (cb_mechanism_respond); work arrays */
  double (*push)[6], (*answer)[6];
  double residual; /* the largest residual in the last iteration */
  cb_sparse *matrix;
  cb_entries list;
} cb_coupled_rows;

typedef struct cb_coupled_contacts cb_coupled_contacts;

struct cb_coupled_snapshot {
  cb_state *state;
  cb_rigid_state *bodies; /* [bodies]: the state of each body */
  double *impulse;        /* [rows]: the impulses of the rows */
  double *joint;          /* the state of all joints */
  double last_length;
};

struct cb_coupled {
  cb_arena *arena;
  const cb_system *system;
  const cb_space *g;
  cb_forces *forces;
  cb_coupled_bodies bodies;
  cb_particles_in_fluid fluid;
  double K, R; /* curvature; R = 1/sqrt|K| (1 in E3): the last coordinate of the embedding is R w */
  int n, k;
  cb_state *state;
  /* before: the state at the start of a step. kicked: the state after the first kick of a part of the step, and later
   * the one before its last kick */
  cb_coupled_snapshot *before, *kicked;
  cb_placing *motion;  /* [bodies.n]: the present poses */
  cb_carried *carried; /* [n]: the point at each place */
  double *mass;        /* [n]: mass M of particles, with their added mass */
  bool varies;         /* M depends on the place, because the density of the fluid varies */
  double last_length;  /* length of the last part of the last step */
  bool *feels;         /* [n]: the fluid acts on the particle */
  /* [n*k], for each point: present force and velocity; sum of the impulses of the rows; force one iteration before */
  double *force, *velocity, *force_of_rows, *last_force;
  /* [n*k], [n]: place and velocity of each particle in the middle of the last drift; only in flat space */
  double *middle, (*middle_velocity)[3];
  double (*wrench)[6];           /* [bodies]: impulses on bodies, which are added to their momenta */
  double (*twist)[6];            /* [bodies]: present twists, in the world's axes */
  bool known_force;              /* `force` is the force at the present places */
  cb_coupled_contacts *contacts; /* NULL: there are no contacts, walls or events */
  cb_coupled_rows *rows;         /* NULL: there are no constraints */
};

/* Places the points of bodies at the present poses. */
void cb_coupled_place(cb_coupled *c);
/* Computes, in the body frame, the wrench W of the covector f (k numbers) at a point of a body: W.Y = f.v for every
 * twist Y, v the velocity of the point for this twist. */
void cb_coupled_wrench(const cb_coupled *c, int place, const double *f, double W[6]);
/* Finds the factors of the inertia K of a body at time t and its pose. */
cb_status cb_coupled_factor(const cb_coupled *c, double t, int body, cb_factors6 *out);
/* Computes the tangent vector that belongs to the covector f at a particle: raises the index of f with the metric, and
 * projects the result onto the tangent space. */
void cb_coupled_raise(const cb_coupled *c, int place, const double *f, double *out);
/* Adds `factor` times the covectors f[n*k] at all points to the momenta of the particles and bodies. */
void cb_coupled_kick(cb_coupled *c, double factor, const double *f);
/* Adds `factor` times a wrench in the world's axes to the momentum of a body or, if body is -1, a covector to that of a
 * particle. */
void cb_coupled_push_one(cb_coupled *c, int body, int place, double factor, const double *f);
/* Adds `factor` times the covector f (k numbers) at a point to the momentum of its body, or of the particle. */
void cb_coupled_push_point(cb_coupled *c, int place, double factor, const double *f);
/* Computes the velocities of all points, and the twists of their bodies, from the present momenta. */
cb_status cb_coupled_find_velocities(cb_coupled *c, double t);

/* Adds the impulses of the joints that follow from other impulses at the present node (mechanism/mechanism.h). */
cb_status cb_coupled_settle(cb_coupled *c, double t);
bool cb_coupled_has_joints(const cb_coupled *c, int body);

/* Updates the data that depends on the places: the points of bodies, and the masses M of particles. */
void cb_coupled_follow(cb_coupled *c);
/* Returns CB_ERROR_DOMAIN if a point is so far from the origin of a hyperbolic space that its coordinates have too few
 * digits. */
cb_status cb_coupled_check_distances(const cb_coupled *c);

/* Makes one step of length h (of any sign), composed of its parts, without contacts. On failure the state is
 * undefined. */
cb_status cb_coupled_whole(cb_coupled *c, double t, double h, int *body, int *iterations);

/* --- contacts, walls and events (coupled_contacts.c) --- */
cb_status cb_coupled_contacts_create(cb_coupled *c);
void cb_coupled_contacts_free(cb_coupled *c);
/* Fails with CB_ERROR_DOMAIN if the gap of a contact is negative at the start of the run, by more than round-off. */
cb_status cb_coupled_contacts_check(cb_coupled *c, double t);
/* Does the same as cb_coupled_step, except that the state is undefined on failure. */
cb_status cb_coupled_step_to_events(cb_coupled *c, double t, double *h, const char **stop, int *body, int *iterations);

/* --- constraints (coupled_rows.c) --- */
cb_status cb_coupled_rows_create(cb_coupled *c);
void cb_coupled_rows_free(cb_coupled *c);
/* Checks the rows at the start of the run. Returns CB_ERROR_UNSUPPORTED if a constraint already follows from the joints
 * of the bodies. */
cb_status cb_coupled_rows_check(cb_coupled *c, double t);
/* Stores the gradients at the present places as those of node k. The impulses of the last step stay as the first
 * guess. */
cb_status cb_coupled_rows_begin(cb_coupled *c, double t);
/* Adds the impulses lambda of the rows to the momenta at node k, the start of the step. */
void cb_coupled_rows_apply(cb_coupled *c);
/* Computes the residuals of the constraints after a drift. *done becomes true if they are small enough. Otherwise the
 * function corrects the impulses, and the drift must be repeated. */
cb_status cb_coupled_rows_correct(cb_coupled *c, double t, double h, int iteration, bool *done);
/* Changes the momenta so that the rates of all rows vanish at the present places. */
cb_status cb_coupled_rows_project(cb_coupled *c, double t);
/* Finds the largest residual g (rate false) or rate dg/dt (rate true), relative to the size of its row, and this
 * row. */
cb_status cb_coupled_rows_residual(cb_coupled *c, double t, bool rate, double *residual, int *row);

/* --- contacts ---
 *
 * Contacts of coupled bodies: the data and functions that coupled_contacts.c (gaps, reflections, parts of a step) and
 * coupled_resting.c (contacts that rest) share. The equations are in those files.
 */

/* A gap s and its rate ds/dt. With the gradient G of the gap and the coordinates x and velocities v of its points, size
 * is 1 + sum |G x| and determines the round-off of s; speed is sum |G v| and determines the round-off of the rate. */
typedef struct cb_gap_look {
  double s, rate, size, speed;
} cb_gap_look;

/* A gap s counts as closed if s <= cb_gap_closed * size, and as 0 if |s| <= cb_gap_zero * size, where size is that of
 * cb_gap_look. */
static const double cb_gap_closed = 1e-11, cb_gap_zero = 1e-13;
/* A closed gap counts as closing further if its rate ds/dt is below this. */
static const double cb_gap_rest = -1e-14;

/* The gradient of a gap with respect to one of its points. For a point of a body it is a wrench, in the frame of the
 * body (W) and in the axes of the world (world); for a particle it is the covector W. own: the change of the twist of
 * the body, or of the velocity of the particle, by a unit impulse; it is not set for a body with joints. */
typedef struct cb_gap_entry {
  int unit; /* a body, or the number of bodies + the place of a particle */
  double W[6], world[6], own[6];
} cb_gap_entry;

/* Contacts that rest, and the work arrays of their impulses. */
typedef struct cb_resting {
  int n, *gap;     /* the numbers of the gaps of these contacts */
  double *impulse; /* [n]: impulse of each contact at the start of a flight whose length is `length` */
  double length;
  double (*gradient)[CB_GAP_MAX];          /* [n]: gradient of each gap at the start of the flight */
  cb_gap_entry (*entry)[CB_GAP_PARTICLES]; /* [n]: for each point of each gap: the gradient of the gap by this point */
  double (*push)[6], (*answer)[6];         /* [bodies]: work arrays, as in cb_coupled_rows */
  double *D; /* [n*n]: the change of each rate by a unit impulse at the start of the flight */
  /* known: D was computed for the present list of contacts and the present start of the flight; measured: D holds
   * changes of gaps at the end of the flight, and not changes of rates */
  bool known, measured;
  /* for each contact of the list `closed`: its rate before and after an impact, and its impulse */
  double *before, *after, *pushed;
  double *q, *tolerance, *buffer;
  int *list, *closed, capacity;
} cb_resting;

/* A convex set that can touch others: a part of a body, a sphere of a body (key `spheres`), or a particle. */
typedef struct cb_shape_side {
  int body, place; /* body: -1 for a particle; place: the place of the particle, or of a point of the body */
  bool solid;      /* the side is a part of a body; each pair has at least one such side */
  cb_convex set;   /* in the frame of the body, or relative to the particle */
  /* ball around the set at the start of a step: its centre, and how far the centre may move in the step */
  double at[3], reach;
} cb_shape_side;

/* Two sides that may touch in a step. guess: the normal that was found last, from which the next search begins. */
typedef struct cb_shape_pair {
  int side[2];
  double guess[3];
  cb_convex_patch patch;
} cb_shape_pair;

/* The interval [low, high] of the coordinate x that the ball of a side covers during a step. side: index of the side */
typedef struct cb_shape_span {
  double low, high;
  int side;
} cb_shape_span;

typedef struct cb_coupled_shapes {
  int sides, pairs, capacity_sides, capacity_pairs;
  cb_shape_side *side;
  cb_shape_pair *pair; /* the pairs of the present step */
  cb_shape_span *span; /* [sides]: sorted by `low` */
  bool left;           /* the centre of a side has moved farther than its reach in a flight */
} cb_coupled_shapes;

struct cb_coupled_contacts {
  cb_gaps *gaps;
  int n, contacts, capacity_gaps; /* the gaps of contacts come first, then those of events */
  /* number of contacts that are listed in every step; contacts between shapes come after them */
  int fixed;
  cb_gap *gap;
  cb_coupled_shapes shapes;
  cb_gap_look *start, *end;
  bool *known; /* [n]: the time of this contact was found */
  cb_coupled_snapshot *first, *last;
  cb_event_row *row; /* the events of the last step */
  int rows, capacity;
  bool calm;   /* the step has had more than BOUNCES_MAX impacts (see cb_coupled_restitution) */
  double step; /* length of the present step */
  int cuts;    /* how often flights of the present step were shortened */
  bool rests;  /* contacts may rest, instead of ending the run when they accumulate */
  cb_resting resting;
};

/* Returns whether the gap is a limit of a joint. Such a gap has no points, and its index is the number of the limit. */
static inline bool cb_gap_is_limit(const cb_gap *gap) { return gap->n == 0 && gap->kind == CB_GAP_WALL; }
/* Returns whether contact i is closed at the end of the flight, by more than round-off. */
static inline bool cb_gap_closed_at_end(const cb_coupled_contacts *k, int i) {
  return k->end[i].s <= -cb_gap_closed * k->end[i].size;
}

/* Finds the velocities of all points, and the rates of joints if they have limits, at the present state. */
cb_status cb_coupled_find_rates(cb_coupled *c, double t);
/* Evaluates a gap at the present state, whose velocities are known. */
cb_status cb_coupled_look(cb_coupled *c, const cb_gap *gap, double t, cb_gap_value *value, cb_gap_look *out);
/* Evaluates all gaps at the present state. */
cb_status cb_coupled_look_all(cb_coupled *c, double t, cb_gap_look *out);
/* Changes the momenta of the points of a gap by `impulse` times the gradient of the gap. */
void cb_coupled_push(cb_coupled *c, const cb_gap *gap, const double *gradient, double impulse);

/* Returns the restitution of a contact or a limit. */
double cb_coupled_restitution(const cb_coupled *c, const cb_gap *gap);

/* Lists the gaps that exist in all steps: limits of joints, contacts of points and walls, and events. */
cb_status cb_coupled_list_gaps(cb_coupled *c, cb_coupled_contacts *k);
/* Adds a copy of a gap to the list k->gap. */
cb_status cb_contacts_add(cb_coupled_contacts *k, const cb_gap *gap);

/* --- contacts of bodies by their shapes (coupled_shapes.c) ---
 *
 * A gap of kind CB_GAP_SHAPES has the number of its pair as `index`; `side` is 0 for the gap of both sets, or i + 1 for
 * point i of their patch. Its gradient has six numbers for each of two sides: a wrench on a body in the world's axes,
 * or a covector at a particle. */
cb_status cb_coupled_shapes_create(cb_coupled *c);
void cb_coupled_shapes_free(cb_coupled_shapes *s);
/* Lists the gaps of shapes that may touch in a step of length h from the present state. again: the step is made again,
 * with a larger reach of the sides that left it. */
cb_status cb_coupled_list_shapes(cb_coupled *c, double t, double h, bool again);
/* Returns whether a side has left its reach in the flight to the present state; then its reach becomes larger. */
bool cb_coupled_leaves_reach(cb_coupled *c);
/* Finds the patches (cb_convex_patch) of pairs of hulls that touch each other: for all pairs if `all` is set, otherwise
 * for the pairs that have no patch. */
void cb_coupled_find_patches(cb_coupled *c, bool all);
void cb_coupled_look_at_shapes(cb_coupled *c, const cb_gap *gap, cb_gap_value *value, cb_gap_look *out);
void cb_coupled_push_shapes(cb_coupled *c, const cb_gap *gap, const double *gradient, double impulse);
/* Returns the unit (cb_gap_entry) of a side of the gap. */
int cb_coupled_unit_of_shapes(const cb_coupled *c, const cb_gap *gap, int which);

/* --- zeros of gaps (coupled_shapes.c) --- */

/* A flight of length h from the state c->contacts->first, which belongs to the time t. c->contacts->start and
 * c->contacts->end are the gaps at the start and at the end of the flight. */
typedef struct cb_flight {
  cb_coupled *c;
  double t, h;
} cb_flight;

/* Returns the sign of a gap; 0 if the gap is 0 up to round-off. */
int cb_gap_sign(const cb_gap_look *l);
/* Makes the flight with the length tau, and evaluates a gap at its end. */
cb_status cb_flight_gap(const cb_flight *f, const cb_gap *gap, double tau, cb_gap_look *out);
/* Finds the first zero *tau of gap i after the time `from`. start: the gap at the time `from`; *side: the sign of the
 * gap before the zero, or 0 if there is no zero. */
cb_status cb_flight_zero(const cb_flight *f, int i, double from, const cb_gap_look *start, double *tau, int *side);
/* Finds the time *first of the first contact; *any: whether there is one. The contact that is expected first is found
 * first. Then the flight is shortened to its time, and a contact that is still open at this time is not searched for.
 * c->contacts->end and c->contacts->last become those of the shortened flight. *again becomes true if a contact has
 * come to rest; the flight must then be computed again with this contact. */
cb_status cb_flight_contact(const cb_flight *f, double *first, bool *any, bool *again);

/* Lets contact i, which is pressed, come to rest. Fails if it may not rest. */
cb_status cb_contact_press(const cb_flight *f, int i);

/* --- contacts that rest (coupled_resting.c) --- */

void cb_resting_free(cb_resting *r);
bool cb_resting_holds(const cb_resting *r, int gap);
/* Lets contact number `gap` rest until cb_resting_clear. */
cb_status cb_resting_add(cb_resting *r, int gap);
void cb_resting_clear(cb_resting *r);
/* Must be called when the state at the start of flights (cb_coupled_contacts.first) has changed: sets all impulses to 0
 * and discards D. */
void cb_resting_begin(cb_resting *r);
/* Finds the state after a flight of length tau while contacts rest. The flight starts at the time t, in the state
 * c->contacts->first. */
cb_status cb_coupled_fly(cb_coupled *c, double t, double tau, int *body, int *iterations);
/* Makes one impact of closed contacts. all: of all contacts and limits of joints; otherwise only of the contacts that
 * rest. If none of these is closed and closes further, nothing changes and *count is 0. Otherwise *count is the number
 * of closed contacts, whose numbers are in `closed`. The impulses l_i >= 0 of the impact satisfy ds_i/dt >= -e_i r_i,
 * with equality where l_i > 0. Here e_i is the restitution, and r_i is the rate before the impact if the gap closes,
 * otherwise 0. */
cb_status cb_coupled_impact(cb_coupled *c, double t, bool all, int *count);
/* Removes the closing rates of contacts that rest and whose gaps are closed, by an impact without restitution. */
cb_status cb_coupled_press(cb_coupled *c, double t);
