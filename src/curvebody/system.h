/* Systems of bodies in a space: particles, springs, interactions and potentials, ready to be integrated.
 *
 *   H = sum_i <p_i, p_i> / (2 m_i) + V(t, x)
 *
 * H is the energy and V the potential energy at the time t. The particle i has the mass m_i, the position x_i, which is
 * a point of the space (curvebody/space.h), and the momentum p_i, which is a tangent vector, or a covector in a chart.
 * A cb_system does not change after it was made, and threads may share it. A cb_forces evaluates the forces of a system
 * and owns the work arrays; each thread needs its own.
 * In a chart the force is the covector -dV/dq of the coordinates q. In the embedding R^k it is the vector
 * -form^-1 dV/dx of V as a function on R^k. This vector may have a part normal to the space, which every integrator
 * removes.
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

/* A state, with everything that a restart needs. The low-order parts t_low, x_low and p_low are those of compensated
 * sums. */
typedef struct cb_state {
  double t, t_low;
  int64_t step;                  /* number of steps so far */
  int n, k, n_components;        /* numbers of particles, of coordinates of a particle, and of components */
  double *x, *x_low, *p, *p_low; /* [n*k]: positions and momenta, ordered by place */
  cb_origin *origin;             /* [n_components]: the moving origin of each component */
} cb_state;

/* Makes a state in which all numbers are 0 and all origins are the identity; the caller frees it. */
cb_status cb_state_create(const cb_system *system, cb_state **out);
void cb_state_free(cb_state *state);
void cb_state_copy(cb_state *to, const cb_state *from); /* both must have the same n, k and n_components */

/* A number, or a function of the time. */
typedef struct cb_target {
  double value;           /* nan: the value that the required length, angle, ... has at the start */
  const char *expression; /* not NULL: an expression of t, which is used instead of `value` */
} cb_target;

/* --- building: bodies, potentials and interactions are added to a builder, which then makes the system ---
 *
 * Texts and arrays are copied. These functions return CB_ERROR_ARGUMENT, CB_ERROR_DOMAIN or CB_ERROR_UNSUPPORTED for
 * arguments that are not possible, CB_ERROR_INPUT for an error in an expression, and CB_ERROR_MEMORY. */
typedef struct cb_builder cb_builder;

/* Makes a builder, which the caller frees. `space` is borrowed, and must outlive the system. */
cb_status cb_builder_create(const cb_space *space, cb_builder **out);
void cb_builder_free(cb_builder *b);
/* Begins a body with this name. The particles that are added next belong to it. *index (index may be NULL) is the index
 * of the body. */
cb_status cb_builder_body(cb_builder *b, const char *name, int *index);
/* Returns the index of the body with this name; -1 if there is none. */
int cb_builder_find_body(const cb_builder *b, const char *name);
/* Return the number of bodies so far, the name of a body (borrowed), and the number of its particles. *first (first may
 * be NULL) is the index of its first particle; the others follow. */
int cb_builder_bodies(const cb_builder *b);
const char *cb_builder_body_name(const cb_builder *b, int body);
int cb_builder_body_particles(const cb_builder *b, int body, int *first);
/* Adds a triangle with the particles i, j and k to the surface of the body that was begun last. The triangles of a body
 * are used by constraints of its area and volume, and by contacts. */
cb_status cb_builder_triangle(cb_builder *b, int i, int j, int k);
/* Returns the triangles of a body, and sets *n to their number; NULL if the body has none. The array is valid until the
 * next triangle is added. */
const int (*cb_builder_triangles(const cb_builder *b, int body, int *n))[3];
/* Sets the moving origin (curvebody/space.h) for the particles that are added next: their coordinates are relative to
 * it. NULL: the identity, which is the initial setting. Only in spaces with moving origins. */
cb_status cb_builder_origin(cb_builder *b, const cb_origin *origin);
/* Does the same as cb_builder_origin, for the fixed points that are given next. These are centres of central
 * potentials, and the points of cb_builder_distance_to_point and cb_builder_pin. */
cb_status cb_builder_centre_origin(cb_builder *b, const cb_origin *origin);
/* Adds a particle at x[k] with the velocity v[k], in coordinates of the embedding, or of cb_space.chart if it is set.
 * Mass, charge, radius and coordinates are in units of the scenario. If name is NULL, the name is a number. *index
 * (index may be NULL) is the index of the particle. */
cb_status cb_builder_particle(cb_builder *b, const char *name, double mass, double charge, double radius,
                              const double *x, const double *v, int *index);
/* Adds a spring between the particles i and j. With their distance d, its energy is (stiffness/2) (d - rest)^2, and a
 * force -damping dd/dt acts along it. rest < 0: the distance at the start. */
cb_status cb_builder_spring(cb_builder *b, int i, int j, double stiffness, double rest, double damping);
/* Does the same as cb_builder_spring, with numbers or expressions of t. The value nan of `rest` means the distance at
 * the start. The damping force is -damping dd/dt, also if the rest length changes. */
cb_status cb_builder_driven_spring(cb_builder *b, int i, int j, cb_target stiffness, cb_target rest, cb_target damping);
/* Adds a pair potential between each particle of body_a and each particle of body_b. If both are the same body, it acts
 * between all pairs of its particles; if both are -1, between all pairs of particles. pair_potential is the name of a
 * class (curvebody/pair_potential.h), and `parameters` the struct that its table fills, which is copied. NULL: the
 * defaults of a class that has no required parameters. */
cb_status cb_builder_interaction(cb_builder *b, int body_a, int body_b, const char *pair_potential,
                                 const void *parameters);
/* Adds a pair potential of the distance to a fixed point centre[k], for the particles of a body (-1: of all bodies).
 * The centre counts as a particle of mass 1 and charge 1. */
cb_status cb_builder_central(cb_builder *b, int body, const char *pair_potential, const void *parameters,
                             const double *centre);
/* Adds a potential energy of each particle of a body (-1: of all bodies). It is an expression of the time t, of the
 * coordinates of the particle in a chart (NULL: the embedding), of its mass m and of its charge q. */
cb_status cb_builder_potential(cb_builder *b, int body, const char *chart, const char *expression);
/* Adds a force, which need not have a potential, on each particle of a body (-1: of all bodies). `force` has one text
 * for each coordinate of a chart; NULL or "0": this component is 0. A text is an expression of these coordinates, of
 * their velocities NAME_dot, of the time t, the mass m and the charge q. In the embedding the texts are the components
 * of a vector, whose tangent part acts; in another chart they are those of a covector. chart NULL: cb_space.chart if it
 * is set, otherwise the embedding. With CB_ERROR_INPUT, *at (at may be NULL) is the index of the wrong text. */
cb_status cb_builder_force(cb_builder *b, int body, const char *chart, const char *const *force, size_t *at);
/* Sets the parameters: names[n] stand for values[n] in all expressions that are given after this call. In expressions
 * of one particle, m and q are parameters as well. An expression that uses a name which is both a parameter and a
 * variable is CB_ERROR_INPUT. */
cb_status cb_builder_parameters(cb_builder *b, size_t n, const char *const *names, const double *values);
/* Sets the controls: names[n] stand for values[n], which may change at any time (curvebody/expression.h), in the
 * expressions of potentials, forces, interactions and springs that are given after this call. The arrays are borrowed
 * and must outlive the system. Constraints, walls and events cannot use controls, because their jumps would have no
 * velocity. */
void cb_builder_controls(cb_builder *b, size_t n, const char *const *names, const double *values);
/* Returns the offset in bytes of the error in an expression, after a call that failed with CB_ERROR_INPUT. */
size_t cb_builder_expression_at(const cb_builder *b);
/* Makes the system, which the caller frees. Checks masses, indices, and that joined points do not coincide; finds the
 * connected components; and orders the particles so that particles that are joined are near each other in memory. After
 * this the builder can only be freed. */
cb_status cb_builder_finish(cb_builder *b, cb_system **out);

void cb_system_free(cb_system *s);
const cb_space *cb_system_space(const cb_system *s);
int cb_system_particles(const cb_system *s);
int cb_system_springs(const cb_system *s);
int cb_system_bonds(const cb_system *s); /* number of bonds: the springs, then the rods */
int cb_system_components(const cb_system *s);
int cb_system_bodies(const cb_system *s);

/* Return the place of a particle, and the particle at a place. A particle is numbered in the order of adding; its place
 * is its position in the arrays of a state. The particles of a component have consecutive places. */
int cb_system_index(const cb_system *s, int particle);
int cb_system_particle(const cb_system *s, int place);
const double *cb_system_masses(const cb_system *s); /* returns masses[n], the mass of the particle at each place */
/* Returns start[components + 1], borrowed: the component c has the places start[c] .. start[c+1]-1. */
const int *cb_system_component_starts(const cb_system *s);
int cb_system_component(const cb_system *s, int place);

const char *cb_system_particle_name(const cb_system *s, int particle);
const char *cb_system_body_name(const cb_system *s, int body);
int cb_system_body(const cb_system *s, int particle);
double cb_system_charge(const cb_system *s, int particle);
double cb_system_radius(const cb_system *s, int particle);
void cb_system_bond(const cb_system *s, int bond, int *i, int *j); /* finds the particles i and j that a bond joins */
/* Finds the stiffness, the rest length and the damping of a spring. A value that depends on the time is the one at
 * t=0. */
void cb_system_spring(const cb_system *s, int spring, double *stiffness, double *rest, double *damping);

/* Returns whether the origin of this component does not move. This is so if a fixed point acts on the component, and if
 * this point was given relative to the same moving origin as the component, or relative to another origin that is near
 * the origin of the component and far from the base point. */
int cb_system_held(const cb_system *s, int component);

/* Sets the state to that given to the builder, at t = 0. The coordinates of each component are relative to its own
 * origin. */
cb_status cb_system_start(const cb_system *s, cb_state *state);

/* --- quantities of a state, for users --- */
/* Computes the plot coordinates of a particle in the world (cb_plot_coordinates), and their velocity, which may be
 * NULL. The particle is numbered in the order of adding. */
cb_status cb_state_plot(const cb_system *s, const cb_state *state, int particle, double plot[3], double velocity[3]);
/* Computes momentum[n_killing]: for each Killing field X_i of the world the momentum <X_i, p> of the complete system. A
 * momentum is nan if the round-off of the moving origins exceeds 1e-6 of its value, and also 1e-6 of the momentum that
 * the same particles would have near the base point. In H^n this happens to small momenta of particles beyond about 20
 * radii of curvature. */
cb_status cb_state_killing_momentum(const cb_system *s, const cb_state *state, double *momentum);
/* Computes the kinetic and the potential energy of a state whose origins were set with cb_forces_set_origins. */
cb_status cb_forces_energy(cb_forces *f, const cb_state *state, double *kinetic, double *potential);

/* --- evaluation --- */
cb_status cb_forces_create(const cb_system *s, cb_forces **out);
void cb_forces_free(cb_forces *f);
/* Sets how many threads an evaluation may use, which is 1 at first. The results do not depend on this number. */
cb_status cb_forces_set_threads(cb_forces *f, int threads);
/* Sets origin[n_components] for all later evaluations. Call it after a state was loaded, and after an origin has
 * moved. */
cb_status cb_forces_set_origins(cb_forces *f, const cb_origin *origin);
/* Computes force[n*k] at the time t, the positions x[n*k] and the velocities v[n*k], all ordered by place. v may be
 * NULL if the forces do not depend on velocities (cb_forces_uses_velocity). The status is > 0 if a force does not exist
 * there, for example at coincident points. */
cb_status cb_forces_eval(cb_forces *f, double t, const double *x, const double *v, double *force);
/* Does the same as cb_forces_eval, for several states at once: computes force[s] at t[s], x[s] and v[s], s < stages.
 * The results are bit for bit those of cb_forces_eval, and the data of springs are read only once. */
cb_status cb_forces_eval_stages(cb_forces *f, int stages, const double *t, const double *const *x,
                                const double *const *v, double *const *force);
/* Computes the lengths d[bonds] of the bonds at the positions x[n*k]. */
cb_status cb_forces_separations(cb_forces *f, const double *x, double *d);
cb_status cb_forces_potential(cb_forces *f, double t, const double *x, double *potential);
int cb_forces_uses_velocity(const cb_forces *f);

/* The pattern of the sparse matrices dF/dx and dF/dv of the forces F. They consist of blocks with `block` = k rows and
 * columns. Row i of blocks, for the place i, has the blocks start[i] .. start[i+1]-1. The columns of a row ascend, and
 * the block on the diagonal is always there. */
typedef struct cb_pattern {
  int n, block;
  const int *start;  /* [n + 1]: the index of the first block of each row */
  const int *column; /* [start[n]]: the place of each block's column */
} cb_pattern;
const cb_pattern *cb_forces_pattern(cb_forces *f);
/* Computes the blocks dF_i/dx_j in dx and dF_i/dv_j in dv (dv may be NULL), in the order of cb_forces_pattern, each in
 * row-major order. */
cb_status cb_forces_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv);

CB_API_END
#endif
