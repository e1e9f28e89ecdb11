/* The parts of a system in a step with contacts: one a connected component, each with a clock of its own.
 *
 * A part's base is its state at its clock: the start of the step, or its last contact. `end` is where it is at the end
 * of the step if it meets nothing more. Times are measured from the start of the step.
 */
#pragma once

#include "core/arena.h"
#include <curvebody/integrator.h>
#include <stdbool.h>

/* What moves a component: the whole method where there is one component, otherwise one like it for an extract of the
 * system, shared by components that are alike. */
typedef struct cb_part_mover {
  cb_system *extract; /* owned; NULL: the whole system */
  cb_integrator *integrator;
  cb_state *state;
  bool free;     /* moves single particles of any mass */
  int component; /* the one that it was made for */
} cb_part_mover;

typedef struct cb_parts {
  cb_arena *arena;
  const cb_system *system;
  const cb_geometry *g;
  cb_integrator *whole;
  int n, components, k;
  const int *start; /* of components, in places */

  int *mover_of; /* [components]: index, -1: not yet made */
  cb_part_mover *mover;
  int n_movers, room_movers;
  bool *free; /* [components] */
  int first_free;

  double t, t_low, h; /* the step */
  cb_state *base, *end, *trial;
  double *clock, *trial_at;     /* [components] */
  double *speed, *acceleration; /* [n]: bounds from the clock to the end of the step */
  double fastest;               /* the greatest speed when the step began */
} cb_parts;

cb_status cb_parts_create(const cb_system *system, cb_integrator *whole, cb_parts **out);
void cb_parts_free(cb_parts *p);
/* Frees all movers: they are made again when they are needed. */
void cb_parts_let_go(cb_parts *p);
/* Begins a step: all bases at `state`, and the regular step of all. */
cb_status cb_parts_begin(cb_parts *p, const cb_state *state, double h);
/* The state of a component at time tau from its clock on, as pointers to its first particle in some cb_state. */
cb_status cb_parts_at(cb_parts *p, int component, double tau, const cb_state **where);
/* Makes its state at tau the base; momenta there may then be changed, after which cb_parts_restart must be called. */
cb_status cb_parts_settle(cb_parts *p, int component, double tau);
/* Finds the end of the step and the bounds anew, from the base. */
cb_status cb_parts_restart(cb_parts *p, int component);
/* The mover of a component (made when first asked for), its state and forces at the origin of the component. */
cb_status cb_parts_mover(cb_parts *p, int component, cb_part_mover **out);

/* Velocity dq/dt or dx/dt of the particle at place i in a state. */
cb_status cb_parts_velocity(const cb_parts *p, const cb_state *s, int i, double *v);
