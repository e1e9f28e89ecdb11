/* The data of a step with contacts (contacts_step.h), and the functions of its stages.
 *
 * Parts of a system move on their own. contact_search.c searches for the first time at which a gap between them closes,
 * or the gap of an event is 0. contacts_predict.c stores these times in a heap. contacts_resolve.c reflects velocities
 * at a contact, and keeps gaps closed at which the bounces have ended.
 */
#pragma once

#include "core/arena.h"
#include "dynamics/gap.h"
#include "dynamics/reflection.h"
#include "run/broad_phase.h"
#include "run/contacts_step.h"
#include <curvebody/integrator.h>

#include <stdbool.h>

/* --- the parts (contact_parts.c) ---
 *
 * A part is one connected component of the system, with its own clock. Its base is its state at its clock: at the start
 * of the step, or at its last contact. `end` is its state at the end of the step if no further contact happens. Times
 * are measured from the start of the step.
 */

/* An integrator that moves a component, with the state that it moves. If the complete system has only one component,
 * this is the system's integrator; otherwise it is an integrator of the same class for an extract of the system. Equal
 * components of one particle share a mover. */
typedef struct cb_part_mover {
  cb_system *extract; /* the component as a system, owned; NULL: the mover moves the complete system */
  cb_integrator *integrator;
  cb_state *state;
  bool free;     /* the mover moves single particles of any mass on which nothing acts */
  int component; /* the component for which the mover was made */
} cb_part_mover;

typedef struct cb_parts {
  cb_arena *arena;
  const cb_system *system;
  const cb_space *g;
  cb_integrator *whole;
  int n, components, k;
  const int *start; /* the index of the first particle of each component */

  int *mover_of; /* [components]: index in `mover`; -1: the mover is not made yet */
  cb_part_mover *mover;
  int n_movers, movers_capacity;
  bool *free;     /* [components]: true: the component is a single particle on which nothing acts */
  int first_free; /* the first component that is free in this sense */

  double t, t_low, h; /* the start of the step, and its length */
  cb_state *base, *end, *trial;
  double *clock, *trial_at;     /* [components]: the times of the states in base and in trial (nan: no state) */
  double *speed, *acceleration; /* [n]: bounds for each particle, valid from the clock of its part to the step's end */
  double fastest;               /* the largest number in `speed` when the step begins */
} cb_parts;

/* Makes the parts of a system. The system and its integrator `whole` are borrowed. */
cb_status cb_parts_create(const cb_system *system, cb_integrator *whole, cb_parts **out);
void cb_parts_free(cb_parts *p);
/* Frees all movers; they are made again when needed. */
void cb_parts_let_go(cb_parts *p);
/* Begins a step: sets all bases to `state` and makes the regular step of the complete system. */
cb_status cb_parts_begin(cb_parts *p, const cb_state *state, double h);
/* Sets *where to a state that contains this component at time tau, which is not before its clock. */
cb_status cb_parts_at(cb_parts *p, int component, double tau, const cb_state **where);
/* Makes the state at tau the base of the component. The caller may then change momenta, and must call
 * cb_parts_restart. */
cb_status cb_parts_settle(cb_parts *p, int component, double tau);
/* Computes the state at the end of the step and the bounds again, from the base. */
cb_status cb_parts_restart(cb_parts *p, int component);
/* Sets *out to the mover of a component, which is made on the first call. The state and the forces of the mover then
 * refer to the origin of this component. */
cb_status cb_parts_mover(cb_parts *p, int component, cb_part_mover **out);

/* Computes the velocity of the particle at place i of a state: dq/dt in a chart, dx/dt in the embedding. */
cb_status cb_parts_velocity(const cb_parts *p, const cb_state *s, int i, double *v);

/* A gap, with the components of its particles. */
typedef struct cb_candidate {
  cb_gap gap;
  int part[2], parts; /* the components of its particles, each once */
} cb_candidate;

cb_candidate cb_candidate_of(const cb_system *system, const cb_gap *gap);

/* Computes the gap s at tau with its first derivatives, and its rate ds/dt. */
cb_status cb_candidate_at(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_gap_value *value,
                          double *rate);

/* Computes *speed, a threshold for the rate at which a gap opens at tau. A gap that opens more slowly may close again
 * within the duration `time`, because the bound of its second derivative does not exclude this; or it may stay so
 * small that the search cannot distinguish it from a closed gap. *speed is 0 if no bound of the second derivative is
 * known. */
cb_status cb_candidate_slow(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double time, double *speed);

/* Finds the earliest time *tau in [from, until] (until <= h) at which the gap of a contact is 0 and closes. Sets *found
 * to whether there is such a time. A zero at the end of a step belongs to that step. The call may change
 * c->gap.side. */
cb_status cb_candidate_first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double until, double *tau,
                             bool *found);

/* --- the zeros of events: conditions that are watched and change nothing (contact_search.c) --- */

/* The state of an event at the start of the search. */
typedef struct cb_event_memory {
  int side;   /* the sign of the event's gap at the start of the search; 0: the gap is at a zero */
  bool known; /* the gap is at a reported zero: it must leave this zero before another zero counts */
} cb_event_memory;

/* Finds the earliest zero of an event's gap in [from, until] (until <= h). A change of sign (also by a jump), a touch,
 * and a zero at either end count, if the event has this direction. Sets *tau to the time of the zero, and *found to
 * whether there is one. */
cb_status cb_event_first(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, cb_event_memory memory, double from,
                         double until, double *tau, bool *found);

/* Sets *memory to the state of an event at the time tau in the step. If its gap is 0 at tau, this zero counts as
 * reported. */
cb_status cb_event_known(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_event_memory *memory);

/* --- steps --- */

enum { CB_CONTACTS_MEETINGS = 64 };

/* Gaps that are smaller than this times max(1, |h|) belong to the contact that is being resolved. h is the length of
 * the step. */
static const double cb_contacts_touching = 1e-11;

/* Two parts, their versions, and the earliest known time at which they meet; this time is the length of the step if
 * none is known. The entry is void as soon as the version of a part has changed. */
typedef struct cb_contacts_meeting {
  int part[2], version[2];
  double until;
} cb_contacts_meeting;

/* An entry of the heap: a gap that closes, or an event that is 0, at the time tau after the start of the step. */
typedef struct cb_contacts_entry {
  double tau;
  cb_candidate what;
  int version[2];
} cb_contacts_entry;

struct cb_contacts {
  cb_parts *parts;
  const cb_system *system;
  const cb_space *g;
  cb_gaps *gaps;
  cb_broad *balls, *faces; /* the broad phases of particles and of triangles */
  cb_reflection *reflection;
  cb_contact_options options;
  int n, walls, events, triangles;
  /* [n*k], [n]: world are the centres of the balls at the start of the step, in the frames of the bases
   * (dynamics/bases.h). A reach is the radius of a ball plus the largest distance that it may move in this step. */
  double *world, *reach;
  double *face_world, *face_reach;
  /* [components]: version counts the changes of a part in this step. An entry of the heap is void if the version of its
   * part has changed since. count is the number of contacts of the part, which reveals an accumulation of contacts. */
  int *version, *count;
  /* [components]: a bound on the distance that any particle of the part has moved from the start of the step to the
   * clock of the part */
  double *way;
  double moved; /* maximum distance by which a ball may move beyond its reach, because contacts change speeds */
  /* [components]: the first known time at which the part meets a wall or itself; the length of the step if none is
   * known. Contacts of the part after this time are not searched for until this contact has been resolved. */
  double *until;
  cb_contacts_meeting meeting[CB_CONTACTS_MEETINGS];
  cb_origin *origin; /* [components]: the origins that were passed to `gaps` */
  bool known_origins;
  bool antipodes; /* whether a force changes its direction where two points are antipodal (cb_antipodes_matter) */
  cb_event_memory *memory, *last; /* [events]: the states of events at the present time, and at the end of the last
                                   * step */
  double start, last_end;         /* the times at which the run starts and the last step ended */
  cb_bases bases;
  int known_bases; /* bases.changes when the bases were last passed to `gaps` */
  double *extent;  /* [components]: for a leader (dynamics/bases.h), the maximum distance of its balls from its base */
  /* A lower bound of the gaps between particles of different bases at the end of the step. No bases must be joined
   * while it is positive. */
  double apart;
  int known_partings; /* bases.partings when the gaps in `apart` were last computed */
  cb_contacts_doubt doubt;

  cb_contacts_entry *heap;
  int entries, entries_capacity;
  cb_event_row *row;
  int rows, rows_capacity;
  /* [rows][2][n*k]: positions and momenta of the parts that take part in these events, at their times; nan for other
   * parts. Filled if `keeps_states`. */
  double *row_state;
  int row_states_capacity;
  bool keeps_states;

  int *member, members;         /* the components that take part in the current contact */
  int *stamp, stamp_now;        /* [components]: stamp[part] is equal to stamp_now for a member */
  cb_reflection_contact *touch; /* [touches]: the closed gaps of the current contact */
  int touches, touches_capacity;
  bool settling;            /* gaps that have sunk below 0 count as closed */
  cb_reflection_part *part; /* [members]: the members of the current contact */
  cb_gram **gram;           /* [components], each made when it is first needed and kept for later steps */
  cb_candidate *resting;    /* [restings]: gaps that stay closed until the end of the step */
  int restings, restings_capacity;
};

/* Makes the capacity of a growing array sufficient for one more element. */
cb_status cb_contacts_grow(void **array, int count, int *capacity, size_t size);

/* Removes the first entry of the heap and returns it. The heap is ordered by time, then by particles. */
cb_contacts_entry cb_contacts_pop(cb_contacts *c);

/* Returns whether both gaps have the same kind, the same particles and the same wall, event or triangle. */
bool cb_contacts_same_gap(const cb_gap *a, const cb_gap *b);
bool cb_contacts_is_resting(const cb_contacts *c, const cb_gap *gap);
/* Computes the point x of particle i relative to the base of its component. */
void cb_contacts_point(const cb_contacts *c, const cb_state *s, int i, double *x);
/* Joins bases whose particles may come near each other in a step of length h, by the bounds on their speeds. Returns
 * CB_ERROR_UNSUPPORTED if the relative position of such particles is not known well enough. */
cb_status cb_contacts_join_bases(cb_contacts *c, const cb_state *s, double h);
/* Finds the balls that may touch ball i, in a list that is borrowed from the broad phase. reach: the radius of the
 * search. x becomes the centre of ball i at the clock of its part. */
cb_status cb_contacts_around(cb_contacts *c, int i, double reach, double *x, const int **ball, int *count);
/* Returns whether particle j, starting from its position at the clock of its part, certainly cannot come near the ball
 * with centre x and this reach before the time `until`. */
bool cb_contacts_out_of_reach(const cb_contacts *c, const double *x, double reach, int j, double until);

/* These functions search from the time `from` on and put the contacts that they find on the heap: the zero of a gap
 * (predict); a contact of two balls (predict_pair), of a ball and the walls (predict_walls), of the ball and wall of a
 * part that will probably meet first (predict_likely_wall), of two triangles (predict_faces). cb_contacts_begin_event
 * searches for a zero of an event from the start of the step on. cb_contacts_end_events stores the states of all events
 * at the end of the step, from which the next step begins. */
cb_status cb_contacts_predict(cb_contacts *c, cb_candidate what, double from);
cb_status cb_contacts_predict_pair(cb_contacts *c, int i, int j, double from);
cb_status cb_contacts_predict_walls(cb_contacts *c, int i, double from);
cb_status cb_contacts_predict_likely_wall(cb_contacts *c, int part, double from);
cb_status cb_contacts_begin_event(cb_contacts *c, int event);
cb_status cb_contacts_end_events(cb_contacts *c);
cb_status cb_contacts_predict_faces(cb_contacts *c, int a, int b, double from);
/* These functions search from tau on for events and contacts of the members of the current contact:
 * cb_contacts_predict_all for contacts of balls and walls, cb_contacts_predict_others for contacts of faces and for
 * events. */
cb_status cb_contacts_predict_all(cb_contacts *c, double tau);
cb_status cb_contacts_predict_others(cb_contacts *c, double tau);

cb_event_row cb_contacts_row_of(const cb_contacts *c, const cb_gap *gap, double tau);
/* Adds a row of /event for the gap `what`, at tau. */
cb_status cb_contacts_note(cb_contacts *c, const cb_event_row *row, const cb_candidate *what, double tau);
cb_status cb_contacts_reflect(cb_contacts *c, const cb_contacts_entry *e);

/* At the end of a step, moves the gaps that rested in it back to 0, and stops their closing. */
cb_status cb_contacts_settle_resting(cb_contacts *c);
