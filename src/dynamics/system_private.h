/* What a cb_system holds. Particles, and every index of one, are in the order of the state: components follow one
 * another and neighbours stand close. Springs stay in the order they were given. */
#pragma once

#include "dynamics/bases.h"
#include "dynamics/constraint_private.h"
#include "dynamics/law.h"
#include "dynamics/springs.h"
#include <curvebody/system.h>
#include <stdbool.h>

typedef struct cb_particle_set { /* a set of particles, ascending */
  int n;
  const int *particle;
} cb_particle_set;

typedef struct cb_interaction { /* every pair of one of a and one of b; same: every pair of a once */
  cb_law law;
  cb_particle_set a, b;
  bool same;
} cb_interaction;

typedef struct cb_central {
  cb_law law;
  cb_particle_set group;
  cb_fixed centre;
} cb_central;

typedef struct cb_potential_field { /* an expression in the coordinates of a chart; NULL: the embedding */
  const cb_expression *expression;
  const cb_chart *chart;
  cb_particle_set group;
} cb_potential_field;

typedef struct cb_generalised { /* a covector of expressions of q, dq/dt, t, m and q; NULL: none */
  const cb_expression *force[CB_Q_MAX];
  cb_particle_set group;
} cb_generalised;

struct cb_system {
  cb_arena *arena;
  const cb_geometry *space;
  int n, k, n_springs, n_components, n_bodies, n_interactions, n_centrals, n_fields, n_generalised, n_constraints;

  int *place;    /* of a particle as given, in the state */
  int *particle; /* the inverse */
  double *mass, *charge, *radius;
  int *body, *component;
  int *component_start; /* n_components + 1 */
  const char **name, **body_name;

  int *spring_i, *spring_j;
  double *stiffness, *rest, *damping;
  bool damped;
  cb_springs *springs; /* their plan; NULL in a static chart, or without springs */

  cb_interaction *interaction;
  cb_central *central;
  cb_potential_field *field;
  cb_generalised *generalised;

  double *x, *x_low, *v, *v_low; /* at the start, n*k */
  cb_origin *origin;             /* n_components */
  cb_bases bases;                /* of n_components; empty: an extract's */
  bool *held;                    /* n_components: its origin does not move; NULL: an extract's */

  cb_constraint *constraint; /* particles by place; expressions owned */
  int n_dropped;             /* further rows behind them that were dropped as implied */
  struct cb_system *dropped; /* the same particles with these rows; NULL: none; in the arena */
  int n_world;               /* of them need the world's frame */
  int n_rods, *rod;          /* rows that are distances of two particles: bonds after the springs */

  bool borrowed;             /* an extract: expressions and names are another system's */
  struct cb_contact_set *contacts; /* NULL: none; owned; contact_private.h */

  int n_expressions;
  cb_expression **expression; /* owned */
};

/* Arrays of its n particles with k coordinates each; false: no memory. */
bool cb_system_allocate_particles(cb_system *s);
