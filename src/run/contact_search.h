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

/* Moves a component: the integrator of the complete system if that has one component; otherwise an integrator like it,
 * for an extract of the system. Equal components of one particle share a mover. */
typedef struct cb_part_mover {
  cb_system *extract; /* owned; NULL: it moves the complete system */
  cb_integrator *integrator;
  cb_state *state;
  bool free;     /* it moves single free particles of any mass */
  int component; /* the component for which it was made */
} cb_part_mover;

typedef struct cb_parts {
  cb_arena *arena;
  const cb_system *system;
  const cb_space *g;
  cb_integrator *whole;
  int n, components, k;
  const int *start; /* the index of the first particle of each component */

  int *mover_of; /* [components]: index of its mover; -1: not made yet */
  cb_part_mover *mover;
  int n_movers, movers_capacity;
  bool *free;     /* [components]: whether it is a single particle on which nothing acts */
  int first_free; /* the first such component */

  double t, t_low, h; /* the start of the step, and its length */
  cb_state *base, *end, *trial;
  double *clock, *trial_at;     /* [components]: the times of its states in base and in trial (nan: none) */
  double *speed, *acceleration; /* [n]: bounds from the clock of the part to the end of the step */
  double fastest;               /* the largest of these bounds of speeds when the step begins */
} cb_parts;

/* Makes the parts of a system; borrows the system and its integrator `whole`. */
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
/* The mover of a component, which is made on the first call. Its state and forces then refer to the origin of this
 * component. */
cb_status cb_parts_mover(cb_parts *p, int component, cb_part_mover **out);

/* The velocity dq/dt or dx/dt of particle i (internal index) in a state. */
cb_status cb_parts_velocity(const cb_parts *p, const cb_state *s, int i, double *v);

/* A gap, with the components of its particles. */
typedef struct cb_candidate {
  cb_gap gap;
  int part[2], parts; /* the components of its particles, each once */
} cb_candidate;

cb_candidate cb_candidate_of(const cb_system *system, const cb_gap *gap);

/* The gap at tau with its first derivatives, and its rate ds/dt. */
cb_status cb_candidate_at(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_gap_value *value,
                          double *rate);

/* Computes *speed: a gap that opens at tau with at most this rate can be closed again within this time, by the bound of
 * the second derivative, or differs from a closed gap by less than the resolution of the search. 0: there is no such
 * bound. */
cb_status cb_candidate_slow(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double time, double *speed);

/* The time from `at` on for which a gap certainly keeps its sign. s and rate are the gap and its rate, both multiplied
 * by that sign. Nothing after `until` is examined. */
cb_status cb_candidate_keeps(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double at, double until, double s,
                             double rate, double *wait);

/* The earliest time in [from, until] (until <= h) at which the gap of a contact vanishes while it closes; *found:
 * whether there is such a time. A zero at the end of a step counts for that step. The call may change the side of the
 * gap. */
cb_status cb_candidate_first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double until, double *tau,
                             bool *found);

/* --- the zeros of events: conditions that are watched and change nothing (event_search.c) --- */

/* The state of an event at the start of the search. */
typedef struct cb_event_memory {
  int side;   /* the sign of its gap at the start of the search; 0: the gap is then at a zero */
  bool known; /* it is at a reported zero, which it must leave before another zero counts */
} cb_event_memory;

/* The earliest zero in [from, until] (until <= h) that counts for the direction of the event: a change of sign (also by
 * a jump), a touch, or a zero at either end. */
cb_status cb_event_first(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, cb_event_memory memory, double from,
                         double until, double *tau, bool *found);

/* Finds the state of an event at tau, after its zeros until then were reported. */
cb_status cb_event_known(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_event_memory *memory);
