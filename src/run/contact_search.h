/* Parts of a system that move on their own in a step with contacts, and the search for the first time at which a gap
 * between them closes (contact_search.c) or an event vanishes (event_search.c). The steps are described in
 * contacts_step.h. */
#pragma once

#include "dynamics/gap.h"
#include "core/arena.h"
#include <curvebody/integrator.h>

#include <stdbool.h>

/* --- the parts (contact_parts.c) ---
 *
 * A part is one connected component of the system, with its own clock. Its base is its state at its clock: at the start
 * of the step, or at its last contact. `end` is its state at the end of the step if no further contact happens. Times
 * are measured from the start of the step.
 */

/* An integrator that moves a component, with its state. If the complete system has only one component, this is the
 * system's integrator; otherwise it is an integrator of the same class for an extract of the system. Equal components
 * of one particle share a mover. */
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
  bool *free;     /* [components]: whether it is a single particle on which nothing acts */
  int first_free; /* the first such component */

  double t, t_low, h; /* the start of the step, and its length */
  cb_state *base, *end, *trial;
  double *clock, *trial_at;     /* [components]: the times of the states in base and in trial (nan: no state) */
  double *speed, *acceleration; /* [n]: bounds from the clock of the part to the end of the step */
  double fastest;               /* the largest of these bounds of speeds when the step begins */
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

/* Computes *speed, a limit for the rate at which a gap opens at tau. A gap that opens with at most this rate may be
 * closed again after the duration `time`, by the bound of its second derivative; or it stays so small that the search
 * cannot distinguish it from a closed gap. *speed is 0 if there is no such bound. */
cb_status cb_candidate_slow(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double time, double *speed);

/* Computes *wait, the duration from `at` on for which a gap certainly keeps its sign. s and rate: the gap and its rate
 * at `at`, both multiplied by this sign. Only the time until `until` is examined. */
cb_status cb_candidate_keeps(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double at, double until, double s,
                             double rate, double *wait);

/* Finds the earliest time *tau in [from, until] (until <= h) at which the gap of a contact is 0 and closes; *found
 * tells whether there is such a time. A zero at the end of a step belongs to that step. The call may change
 * c->gap.side. */
cb_status cb_candidate_first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double until, double *tau,
                             bool *found);

/* --- the zeros of events: conditions that are watched and change nothing (event_search.c) --- */

/* The state of an event at the start of the search. */
typedef struct cb_event_memory {
  int side;   /* the sign of the event's gap at the start of the search; 0: the gap is at a zero */
  bool known; /* the gap is at a reported zero: it must leave this zero before another zero counts */
} cb_event_memory;

/* Finds the earliest zero in [from, until] (until <= h) that counts for the direction of the event: a change of sign
 * (also by a jump), a touch, or a zero at either end. Sets *tau to its time and *found to whether there is one. */
cb_status cb_event_first(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, cb_event_memory memory, double from,
                         double until, double *tau, bool *found);

/* Finds the state *memory of an event at tau. A zero at tau counts as reported. */
cb_status cb_event_known(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_event_memory *memory);
