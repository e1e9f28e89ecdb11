/* Systems of bodies in a space: particles, springs, interactions and potentials, ready to be integrated.
 *
 *   H = sum_i <p_i, p_i> / (2 m_i) + V(t, x),  x_i a point of the space, p_i a tangent vector, in a chart a covector.
 *
 * A cb_system is immutable and shared; cb_forces evaluates it and owns the work arrays; each thread needs its own.
 * In the embedding a force is the raised gradient -form^-1 dV/dx of V as a function on R^k: normal components are left
 * in, since every integrator removes them itself. In a chart it is the covector -dV/dq.
 * For users, who build systems, and for authors of integrators, who evaluate them. Functions for building, and queries
 * of particles, bodies and bonds, number these from 0 in the order of adding. Arrays of a state, of forces and of
 * masses are ordered by place: cb_system_index(system, particle) and cb_system_particle(system, place) convert.
 */
#ifndef CURVEBODY_SYSTEM_H
#define CURVEBODY_SYSTEM_H

#include <curvebody/space.h>
#include <curvebody/status.h>
#include <stdint.h>

CB_API_BEGIN

typedef struct cb_system cb_system;
typedef struct cb_forces cb_forces;

/* Everything a restart needs. x and p have n*k numbers each, with the low-order parts of a compensated sum. */
typedef struct cb_state {
  double t, t_low;
  int64_t step;
  int n, k, n_components;
  double *x, *x_low, *p, *p_low;
  cb_origin *origin; /* [n_components]: the moving origin of each component */
} cb_state;

cb_status cb_state_create(const cb_system *system, cb_state **out); /* all numbers are 0, all origins the identity */
void cb_state_free(cb_state *state);
void cb_state_copy(cb_state *to, const cb_state *from); /* both must have the same n, k and n_components */

/* The required value of a function of the positions: a number; nan: the value at the start; or an expression of t (then
 * `value` is not read). */
typedef struct cb_target {
  double value;
  const char *expression;
} cb_target;

/* --- building: bodies, potentials and interactions add to a builder, which makes the system --- */
typedef struct cb_builder cb_builder;

cb_status cb_builder_create(const cb_space *space, cb_builder **out); /* space is borrowed for the system's life */
void cb_builder_free(cb_builder *b);
/* Begins a body; particles added next belong to it. Returns its index in *index. */
cb_status cb_builder_body(cb_builder *b, const char *name, int *index);
/* Returns the index of the body with this name; -1 if there is none. */
int cb_builder_find_body(const cb_builder *b, const char *name);
/* Return the number of bodies so far, the name of one (borrowed), and its number of particles, of which *first (may be
 * NULL) is the first. */
int cb_builder_bodies(const cb_builder *b);
const char *cb_builder_body_name(const cb_builder *b, int body);
int cb_builder_body_particles(const cb_builder *b, int body, int *first);
/* Adds a triangle to the surface of the body that was begun last; constraints of the area and volume of a body use
 * them. */
cb_status cb_builder_triangle(cb_builder *b, int i, int j, int k);
/* Returns the triangles of a body and their number *n, borrowed until the next one is added; NULL if it has none. */
const int (*cb_builder_triangles(const cb_builder *b, int body, int *n))[3];
/* Sets the origin of the coordinates of the particles that are added next (NULL: the identity, as at first). Only in
 * spaces with moving origins. */
cb_status cb_builder_origin(cb_builder *b, const cb_origin *origin);
/* As cb_builder_origin, for the fixed points given next: centres of central potentials, distances to points and
 * pins. */
cb_status cb_builder_centre_origin(cb_builder *b, const cb_origin *origin);
/* Adds a particle at x with velocity v (embedding coordinates, or chart coordinates in a space with a chart). NULL
 * name: a number. */
cb_status cb_builder_particle(cb_builder *b, const char *name, double mass, double charge, double radius,
                              const double *x, const double *v, int *index);
/* Adds a spring with the energy (k/2)(d-D)^2 and the damping force -c d' along it: d the distance, k `stiffness`,
 * D `rest` (< 0: the distance at the start), c `damping`. */
cb_status cb_builder_spring(cb_builder *b, int i, int j, double stiffness, double rest, double damping);
/* As cb_builder_spring, with numbers or expressions of t (rest nan: the distance at the start). A damping force acts
 * along the spring with d', not with the rate at which the rest length changes. */
cb_status cb_builder_driven_spring(cb_builder *b, int i, int j, cb_target stiffness, cb_target rest, cb_target damping);
/* Adds a pair potential between all pairs of particles of bodies a and b (a == b: within one body, each pair once; both
 * -1: all). The potential is the name of a class (curvebody/pair_potential.h) and its parameters, the struct of its
 * table, which is copied; NULL: the defaults of a class without required parameters. */
cb_status cb_builder_interaction(cb_builder *b, int body_a, int body_b, const char *pair_potential,
                                 const void *parameters);
/* Adds a pair potential of the distance to a fixed centre (a point of the space), for the particles of a body (-1:
 * all). The centre counts as a particle of mass 1 and charge 1. */
cb_status cb_builder_central(cb_builder *b, int body, const char *pair_potential, const void *parameters,
                             const double *centre);
/* Adds V_i(t, coordinates) given by an expression in the coordinates of a chart (NULL: the embedding), t, m and q. */
cb_status cb_builder_potential(cb_builder *b, int body, const char *chart, const char *expression);
/* Adds a force that need not have a potential, on every particle of a body (-1: all): one text for each coordinate of a
 * chart (NULL or "0": none), an expression of these coordinates, their velocities `NAME_dot`, t, m and q. In the
 * embedding they are the components of a vector, whose tangent part acts; in a chart those of a covector. chart NULL:
 * the chart of a space with a chart, otherwise the embedding. With CB_ERROR_INPUT, *at is the index of the wrong
 * text. */
cb_status cb_builder_force(cb_builder *b, int body, const char *chart, const char *const *force, size_t *at);
/* Sets parameters: names of numbers that may be used in every expression given from now on (copied); for expressions of
 * a particle `m` and `q` are parameters too. An expression that uses a name which is both a parameter and a variable is
 * CB_ERROR_INPUT. */
cb_status cb_builder_parameters(cb_builder *b, size_t n, const char *const *names, const double *values);
/* Returns the offset of the error in the text of the expression that the last failing call rejected with
 * CB_ERROR_INPUT. */
size_t cb_builder_expression_at(const cb_builder *b);
/* Ends building: checks (coincident bonded points, masses, indices), finds connected components, reorders particles
 * internally for locality, and makes the system. After this the builder can only be freed. */
cb_status cb_builder_finish(cb_builder *b, cb_system **out);

void cb_system_free(cb_system *s);
const cb_space *cb_system_space(const cb_system *s);
int cb_system_particles(const cb_system *s);
int cb_system_springs(const cb_system *s);
int cb_system_bonds(const cb_system *s); /* number of bonds: the springs, then the rods */
int cb_system_components(const cb_system *s);
int cb_system_bodies(const cb_system *s);

/* Particles are reordered internally: arrays of a state are ordered by place, user functions by particle in the order
 * of adding. The particles of a component have consecutive places. */
int cb_system_index(const cb_system *s, int particle);
int cb_system_particle(const cb_system *s, int place);
const double *cb_system_masses(const cb_system *s); /* [n]: the mass of the particle at each place */
/* [components + 1]: component c has the places start[c] .. start[c+1]-1. */
const int *cb_system_component_starts(const cb_system *s);
int cb_system_component(const cb_system *s, int place);

const char *cb_system_particle_name(const cb_system *s, int particle);
const char *cb_system_body_name(const cb_system *s, int body);
int cb_system_body(const cb_system *s, int particle);
double cb_system_charge(const cb_system *s, int particle);
double cb_system_radius(const cb_system *s, int particle);
void cb_system_bond(const cb_system *s, int bond, int *i, int *j); /* the particles that it joins */
/* The numbers of a spring; at t = 0 if they depend on the time. */
void cb_system_spring(const cb_system *s, int spring, double *stiffness, double *rest, double *damping);

/* Returns whether the origin of this component is fixed: this is so if a fixed point far out, given relative to the
 * same origin, acts on the component. */
int cb_system_held(const cb_system *s, int component);

/* Computes the state at t = 0 as given to the builder; the coordinates of each component are relative to its own
 * origin. */
cb_status cb_system_start(const cb_system *s, cb_state *state);

/* --- quantities of a state, for users --- */
/* Computes plot coordinates of a particle (numbered in the order of adding) and their velocity (may be NULL), in the
 * world. */
cb_status cb_state_plot(const cb_system *s, const cb_state *state, int particle, double plot[3], double velocity[3]);
/* Computes the momenta <X_i, p> of the complete system for every Killing field X_i of the space, momentum[n_killing],
 * in the world. nan if round-off of the frames is above 1e-6 of the momentum and of the momentum that these particles
 * would have near the base point: in H^n for small momenta beyond some 20 radii. */
cb_status cb_state_killing_momentum(const cb_system *s, const cb_state *state, double *momentum);
/* Computes the energies of a state at the origins of f (for an integrator: i->forces). */
cb_status cb_forces_energy(cb_forces *f, const cb_state *state, double *kinetic, double *potential);

/* --- evaluation --- */
cb_status cb_forces_create(const cb_system *s, cb_forces **out);
void cb_forces_free(cb_forces *f);
/* Sets how many threads an evaluation may use (1 at first). The result does not depend on this number. */
cb_status cb_forces_set_threads(cb_forces *f, int threads);
/* Sets the origins of all later evaluations. Call it after a state was loaded or an origin moved. */
cb_status cb_forces_set_origins(cb_forces *f, const cb_origin *origin);
/* Computes force[n*k] at positions x[n*k], velocities v[n*k] (read only where there is damping; may be NULL
 * otherwise). */
cb_status cb_forces_eval(cb_forces *f, double t, const double *x, const double *v, double *force);
/* As cb_forces_eval for several stages at once: force[s] at t[s], x[s], v[s] (v may be NULL without damping). The
 * results are identical bit for bit, with less memory traffic. */
cb_status cb_forces_eval_stages(cb_forces *f, int stages, const double *t, const double *const *x,
                                const double *const *v, double *const *force);
/* Computes the lengths of the bonds, d[bonds]. */
cb_status cb_forces_separations(cb_forces *f, const double *x, double *d);
cb_status cb_forces_potential(cb_forces *f, double t, const double *x, double *potential);
int cb_forces_uses_velocity(const cb_forces *f);

/* Pattern of dF/dx and dF/dv: blocks k x k in rows of particles; the diagonal is always there, columns ascend. */
typedef struct cb_pattern {
  int n, block;
  const int *start; /* n+1 */
  const int *column;
} cb_pattern;
const cb_pattern *cb_forces_pattern(cb_forces *f);
/* Computes dF_i/dx_j and dF_i/dv_j in pattern order, row-major blocks; dv may be NULL. */
cb_status cb_forces_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv);

CB_API_END
#endif
