/* Contacts of coupled bodies: what coupled_contacts.c (gaps, reflections, parts of a step) and coupled_resting.c
 * (contacts that rest) share. The equations are in those files. */
#pragma once

#include "coupling/convex.h"
#include "coupling/coupled_private.h"
#include "dynamics/gap.h"

/* A gap s and its rate. size: 1 + sum |G x| over the coordinates x of its points, the scale of the round-off of s;
 * speed: sum |G v| over their velocities v, that of the rate; G is the gradient. */
typedef struct cb_gap_look {
  double s, rate, size, speed;
} cb_gap_look;

/* A gap below `cb_gap_closed` times look.size counts as closed; a gap of at most `cb_gap_zero` times look.size counts
 * as 0. */
static const double cb_gap_closed = 1e-11, cb_gap_zero = 1e-13;
/* A gap whose rate is above this counts as not closing. */
static const double cb_gap_rest = -1e-14;

/* The gradient of a gap in one of its points: a wrench on a body, in its frame and in the world's axes, or a covector
 * at a particle. own: the change of the twist, or of the velocity, by a unit impulse, if the body has no joints. */
typedef struct cb_gap_entry {
  int unit; /* a body, or the number of bodies + the place of a particle */
  double W[6], world[6], own[6];
} cb_gap_entry;

/* Contacts that rest, and the work arrays of their impulses. */
typedef struct cb_resting {
  int n, *gap;     /* the numbers of the gaps of these contacts */
  double *impulse; /* [n]: at the start of a flight of length `length` */
  double length;
  double (*gradient)[CB_GAP_MAX];          /* [n]: of the gaps at the start of the flight */
  cb_gap_entry (*entry)[CB_GAP_PARTICLES]; /* [n] */
  double (*push)[6], (*answer)[6];         /* [bodies] */
  double *D;            /* [n*n]: the change of each rate by a unit impulse at the start of the flight */
  bool known, measured; /* D belongs to these contacts and this start; D is the change of gaps after `length` */
  /* [closed]: rates of an impact before and after it, and its impulses */
  double *before, *after, *pushed;
  double *q, *tolerance, *buffer;
  int *list, *closed, capacity;
} cb_resting;

/* A convex set that can touch: a part of a body or one of its `spheres`, or a particle. */
typedef struct cb_shape_side {
  int body, place;     /* the body, -1: a particle; the particle, or a point of the body */
  bool solid;          /* a part of a body; others touch only those */
  cb_convex set;       /* in the frame of the body, or relative to the particle */
  double at[3], reach; /* at the start of a step: the centre of the ball around it, and how far this may move */
} cb_shape_side;

/* Two sides that may touch in a step. guess: the last normal. */
typedef struct cb_shape_pair {
  int side[2];
  double guess[3];
  cb_convex_patch patch;
} cb_shape_pair;

typedef struct cb_shape_span {
  double low, high;
  int side;
} cb_shape_span;

typedef struct cb_coupled_shapes {
  int sides, pairs, capacity_sides, capacity_pairs;
  cb_shape_side *side;
  cb_shape_pair *pair; /* of the present step */
  cb_shape_span *span; /* [sides] */
  bool left;           /* a side has left its reach in a flight */
} cb_coupled_shapes;

struct cb_coupled_contacts {
  cb_gaps *gaps;
  int n, contacts, capacity_gaps; /* the gaps of contacts come first, then those of events */
  int fixed;                      /* the first contacts, which are in all steps; those of shapes follow */
  cb_gap *gap;
  cb_coupled_shapes shapes;
  cb_gap_look *start, *end;
  bool *known; /* [n]: the time of this contact was found */
  cb_coupled_snapshot *first, *last;
  cb_event_row *row; /* the events of the last step */
  int rows, capacity;
  bool calm;   /* the step has had so many impacts that those of restitution below 1 do not bounce any more */
  double step; /* length of the present step */
  int cuts;    /* how often flights of the present step were shortened */
  bool rests;  /* contacts may rest, instead of ending the run when they accumulate */
  cb_resting resting;
};

/* A limit of a joint: a gap of no points, whose index is the number of the limit. */
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
/* Pushes the points of a gap along its gradient by an impulse. */
void cb_coupled_push(cb_coupled *c, const cb_gap *gap, const double *gradient, double impulse);

/* The restitution of a contact or a limit. */
double cb_coupled_restitution(const cb_coupled *c, const cb_gap *gap);

/* Adds a gap to the list. */
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
/* Finds the patches of hulls that touch each other, of all pairs or of those that have none. */
void cb_coupled_find_patches(cb_coupled *c, bool all);
void cb_coupled_look_at_shapes(cb_coupled *c, const cb_gap *gap, cb_gap_value *value, cb_gap_look *out);
void cb_coupled_push_shapes(cb_coupled *c, const cb_gap *gap, const double *gradient, double impulse);
/* Returns the unit (cb_gap_entry) of a side of the gap. */
int cb_coupled_unit_of_shapes(const cb_coupled *c, const cb_gap *gap, int which);

/* --- zeros of gaps (coupled_zeros.c) --- */

/* A flight of length h from k->first, which belongs to the time t. k->start and k->end are its gaps at both ends. */
typedef struct cb_flight {
  cb_coupled *c;
  double t, h;
} cb_flight;

/* Returns the sign of a gap; 0 if the gap is 0 up to round-off. */
int cb_gap_sign(const cb_gap_look *l);
/* Makes the flight with the length tau, and evaluates a gap at its end. */
cb_status cb_flight_gap(const cb_flight *f, const cb_gap *gap, double tau, cb_gap_look *out);
/* Finds the first zero of gap i after the time `from`, at which its values are `start`; *side: its sign before the
 * zero, or 0 if there is none. */
cb_status cb_flight_zero(const cb_flight *f, int i, double from, const cb_gap_look *start, double *tau, int *side);
/* Finds the time *first of the first contact; *any: whether there is one. The contact that is expected first is found
 * first. Then the flight is shortened to its time, and a contact that is still open there is not searched for. k->end
 * and k->last become those of the shortened flight. *again: a contact rests that did not rest in this flight. */
cb_status cb_flight_contact(const cb_flight *f, double *first, bool *any, bool *again);

/* Lets contact i rest, which is pressed; fails if it may not rest. */
cb_status cb_contact_press(const cb_flight *f, int i);

/* --- contacts that rest (coupled_resting.c) --- */

void cb_resting_free(cb_resting *r);
bool cb_resting_holds(const cb_resting *r, int gap);
/* Lets contact number `gap` rest until cb_resting_clear. */
cb_status cb_resting_add(cb_resting *r, int gap);
void cb_resting_clear(cb_resting *r);
/* Call it when the start of flights, the state k->first, has changed. */
void cb_resting_begin(cb_resting *r);
/* Finds the state after a flight of length tau from k->first, which belongs to the time t, while contacts rest. */
cb_status cb_coupled_fly(cb_coupled *c, double t, double tau, int *body, int *iterations);
/* If a contact of those that rest, or of all contacts and limits of joints, is closed and closes further, makes one
 * impact of all of them that are closed: l_i >= 0, ds_i/dt >= -e_i (the rate before, if it closes; otherwise 0), and
 * one of both is an equation. *count contacts, with the numbers `closed`, took part; 0: none closes. */
cb_status cb_coupled_impact(cb_coupled *c, double t, bool all, int *count);
/* Takes away the closing rates of contacts that rest and whose gap is closed, by an impact without restitution. */
cb_status cb_coupled_press(cb_coupled *c, double t);
