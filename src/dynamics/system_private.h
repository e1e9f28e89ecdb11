/* The contents of a cb_system.
 *
 * Particles, and all indices of particles, are in the order of the state (places): components follow one another, and
 * neighbours have near places. Only `place` and `name` are in the order in which particles were added. Springs keep the
 * order in which they were given.
 */
#pragma once

#include "dynamics/bases.h"
#include "dynamics/constraint_private.h"
#include "dynamics/pair_potential_private.h"
#include "dynamics/springs.h"
#include <curvebody/contact.h>
#include <curvebody/system.h>

#include <stdbool.h>

typedef struct cb_particle_set { /* places of particles, ascending */
  int n;
  const int *particle;
} cb_particle_set;

/* A potential between each particle of a and each particle of b. If `same` is true, b is the same group as a, and each
 * pair counts once. */
typedef struct cb_interaction {
  cb_pair_potential pair_potential;
  cb_particle_set a, b;
  bool same;
} cb_interaction;

typedef struct cb_central {
  cb_pair_potential pair_potential;
  cb_particle_set group;
  cb_fixed centre;
} cb_central;

/* A potential V(t, q), or a force F(q, dq/dt, t), that is given as expressions of the coordinates q of a chart. */
typedef struct cb_force_field {
  /* an expression of q, the time t, the mass and the charge; NULL: the field has forces instead of a potential */
  const cb_expression *potential;
  /* expressions of q, dq/dt, the time t, the mass and the charge; NULL: 0 */
  const cb_expression *force[CB_Q_MAX];
  const cb_chart *chart; /* NULL: the coordinates are those of the embedding */
  bool uses_velocity;
  cb_particle_set group;
} cb_force_field;

/* A spring whose numbers depend on the time. A number without an expression (NULL) keeps its value in `start`. In the
 * arrays of all springs this spring has the stiffness, rest length and damping 0. */
typedef struct cb_driven_spring {
  int spring;
  const cb_expression *expression[3]; /* the stiffness, the rest length and the damping as expressions of the time t */
  double start[3];
} cb_driven_spring;

struct cb_system {
  cb_arena *arena;
  const cb_space *space;
  int n, k, n_springs, n_components, n_bodies, n_interactions, n_centrals, n_fields, n_driven, n_constraints;

  int *place;    /* [n]: the place in the state of the particle that was added as number i */
  int *particle; /* [n]: the inverse of `place` */
  double *mass, *charge, *radius;
  int *body, *component;
  int *component_start; /* [n_components + 1]: the first place of each component */
  const char **name, **body_name;

  int *spring_i, *spring_j;
  double *stiffness, *rest, *damping;
  bool damped;         /* a force depends on velocities */
  cb_springs *springs; /* the plan of the springs; NULL in a space with a chart, or without springs */

  cb_interaction *interaction;
  cb_central *central;
  cb_force_field *field;
  cb_driven_spring *driven;

  double *x, *x_low, *v, *v_low; /* [n*k]: positions and velocities at the start, with their low-order parts */
  cb_origin *origin;             /* [n_components]: the origins at the start */
  cb_bases bases;                /* the bases of the components at the start; empty in an extract */
  bool *held;                    /* [n_components]: the origin does not move; NULL in an extract */

  cb_constraint *constraint; /* [n_constraints], with particles by place; the expressions are owned */
  /* Rows that are not constraints: each has a potential energy that is a function of the row's value. In memory they
   * follow the dropped rows. */
  cb_constraint_list potentials;
  int n_dropped; /* rows that were dropped because they are redundant */
  struct cb_system
      *dropped;     /* a system of the same particles with the dropped rows, in the arena; NULL: none dropped */
  int n_world;      /* number of rows that need the frame of the world */
  int n_rods, *rod; /* rows that are distances of two particles: they count as bonds, after the springs */

  bool borrowed;                   /* made by cb_system_extract: expressions and names belong to another system */
  struct cb_contact_set *contacts; /* owned; NULL: there are no contacts, walls or events */

  int n_expressions;
  cb_expression **expression; /* owned */
};

/* Allocates the arrays of n particles with k coordinates each. Returns false if memory runs out. */
bool cb_system_allocate_particles(cb_system *s);

/* Lists the rows that are distances of two particles; they count as bonds. */
cb_status cb_system_list_rods(cb_system *s);

/* Returns whether there are no forces except those of springs that do not depend on the time. */
static inline bool cb_system_springs_alone(const cb_system *s) {
  return !s->n_interactions && !s->n_centrals && !s->n_fields && !s->n_driven && !s->potentials.n;
}

/* Contacts, walls and events. The builder fills the set, with particles numbered in the order of adding. The system
 * then takes the set over, with particles by place. */

/* The function of a wall or of an event. */
typedef struct cb_gap_function {
  const cb_gap_class *class;
  const void *of; /* its parameters, the struct of the class; owned by the set */
  const char *name;
} cb_gap_function;

typedef struct cb_wall {
  cb_gap_function function;
  int body; /* the wall acts on the particles of this body; -1: of all bodies */
  double restitution;
  bool tip;  /* the wall only supports particles that rest at the tip of a cone; it is not searched for collisions */
  int given; /* the number of the wall of which this is a branch, or its own number */
} cb_wall;

typedef struct cb_event {
  cb_gap_function function;
  int n, particle[2];
  cb_event_action action;
  cb_event_direction direction;
} cb_event;

typedef struct cb_contact_switch {
  int a, b; /* the two bodies; -1: any body */
  bool on;
} cb_contact_switch;

typedef struct cb_contact_set {
  cb_arena *texts;
  bool on;
  cb_contact_options options;
  int n_switches, n_walls, n_events, n_expressions;
  /* number of walls that were added; in a system, the other branches of their expressions follow these walls */
  int n_given;
  int capacity_switches, capacity_walls, capacity_events, capacity_expressions;
  cb_contact_switch *bodies; /* the last switch that matches a pair of bodies decides whether their contacts are on */
  cb_wall *wall;
  cb_event *event;
  cb_expression **expression; /* owned */
  int n_triangles;
  int (*triangle)[3]; /* [n_triangles]: the places of the three corners */
  /* around[around_start[i] .. around_start[i+1]): the triangles with a corner at place i, ascending */
  int *around_start;
  int *around;
} cb_contact_set;

void cb_contact_set_free(cb_contact_set *set);
/* Returns whether contacts between particles of these bodies are on. */
bool cb_contact_set_bodies_on(const cb_contact_set *set, int a, int b);
