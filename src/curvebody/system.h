/* What bodies in a space become: particles, springs, interactions and potentials, ready to be integrated.
 *
 *   H = sum_i <p_i, p_i> / (2 m_i) + V(t, x),  x_i a point of the space, p_i a tangent vector, in a chart a covector.
 *
 * A cb_system is immutable and shared; cb_forces evaluates it and owns the scratch, one a thread.
 * In the embedding a force is the raised gradient -form^-1 dV/dx of V as a function on R^k: normal components are left
 * in, since every method removes them itself. In a chart it is the covector -dV/dq.
 * For users, who build; and for authors of methods, who evaluate. Building and what is told of particles, bodies and
 * bonds count as the user does, from 0 in the order of adding; arrays of a state, of forces and of masses are by place:
 * cb_system_index(system, particle) and cb_system_particle(system, place) convert.
 */
#ifndef CURVEBODY_SYSTEM_H
#define CURVEBODY_SYSTEM_H

#include <curvebody/geometry.h>
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
  cb_origin *origin; /* n_components */
} cb_state;

cb_status cb_state_create(const cb_system *system, cb_state **out); /* zero, origins identity */
void cb_state_free(cb_state *state);
void cb_state_copy(cb_state *to, const cb_state *from); /* same shape */

/* A law U(d) of the distance between two particles, or between a particle and a centre; scale is what the pair
 * multiplies it by. */
typedef enum cb_law_kind {
  CB_LAW_HARMONIC,      /* (a/2) (d - b)^2 */
  CB_LAW_GRAVITY,       /* -a cot(d) | -a coth(d) | -a/d, of curvature k: sqrt(k) cot(sqrt(k) d) */
  CB_LAW_COULOMB,       /* the same with the opposite sign */
  CB_LAW_LENNARD_JONES, /* 4 a ((b/d)^12 - (b/d)^6) */
  CB_LAW_EXPRESSION     /* text in d, m1, m2, q1, q2, t */
} cb_law_kind;

/* --- building: bodies, potentials and interactions add to a builder, which makes the system --- */
typedef struct cb_builder cb_builder;

cb_status cb_builder_create(const cb_geometry *space, cb_builder **out); /* space is borrowed for the system's life */
void cb_builder_free(cb_builder *b);
/* Begins a body; particles added next belong to it. Returns its index in *index. */
cb_status cb_builder_body(cb_builder *b, const char *name, int *index);
/* The index of a body by its name, -1 if there is none. */
int cb_builder_find_body(const cb_builder *b, const char *name);
/* The bodies so far, the name of one (borrowed), and how many particles it has, numbered from *first (may be NULL). */
int cb_builder_bodies(const cb_builder *b);
const char *cb_builder_body_name(const cb_builder *b, int body);
int cb_builder_body_particles(const cb_builder *b, int body, int *first);
/* A triangle of the surface of the body begun last: what constraints of area and volume of a body are made of. */
cb_status cb_builder_triangle(cb_builder *b, int i, int j, int k);
/* The triangles of a body, borrowed until the next one is added; NULL if it has none. */
const int (*cb_builder_triangles(const cb_builder *b, int body, int *n))[3];
/* The origin that the coordinates of the particles added next are relative to (NULL: the identity, as at first). Only
 * in spaces with moving origins. */
cb_status cb_builder_origin(cb_builder *b, const cb_origin *origin);
/* The same for the fixed points given next: centres of central laws, tethers and pins. */
cb_status cb_builder_centre_origin(cb_builder *b, const cb_origin *origin);
/* A particle at x with velocity v (embedding coordinates, chart coordinates in a chart space). NULL name: numbered. */
cb_status cb_builder_particle(cb_builder *b, const char *name, double mass, double charge, double radius,
                              const double *x, const double *v, int *index);
/* A spring (k/2)(d-D)^2 with damping force -c d' along it. rest < 0: the distance at the start. */
cb_status cb_builder_spring(cb_builder *b, int i, int j, double stiffness, double rest, double damping);
/* A law between all pairs of particles of bodies a and b (a == b: within one body, each pair once; both -1: all).
 * Parameters as in cb_law_kind; gravity multiplies a by m_i m_j, Coulomb by q_i q_j, others by 1. */
cb_status cb_builder_interaction(cb_builder *b, int body_a, int body_b, cb_law_kind law, double a, double rest,
                                 const char *expression);
/* A law of the distance to a fixed centre (a point of the space), for the particles of a body (-1: all). Gravity: a =
 * GM, multiplied by m_i; Coulomb by q_i; harmonic by 1; expression in d, m, q, t. */
cb_status cb_builder_central(cb_builder *b, int body, cb_law_kind law, double a, double rest, const char *expression,
                             const double *centre);
/* V_i(t, coordinates) given by an expression in the coordinates of a chart (NULL: the embedding), t, m and q. */
cb_status cb_builder_potential(cb_builder *b, int body, const char *chart, const char *expression);
/* Generalised forces F_a(q, dq/dt, t), a covector[dim] of texts (NULL or "0": none) in the coordinates of the space's
 * chart, their velocities `NAME_dot`, t, m and q, on every particle of a body (-1: all). Spaces with a chart only. *at:
 * which text a CB_ERROR_INPUT is about. */
cb_status cb_builder_force(cb_builder *b, int body, const char *const *covector, size_t *at);
/* Names that stand for numbers in every expression given from now on (copied), `m` and `q` among them for those of a
 * particle. A name that is a variable's otherwise is CB_ERROR_INPUT in an expression that uses it. */
cb_status cb_builder_parameters(cb_builder *b, size_t n, const char *const *names, const double *values);
/* Where in its text an expression that one of these refused with CB_ERROR_INPUT is wrong. */
size_t cb_builder_expression_at(const cb_builder *b);
/* Ends building: checks (coincident bonded points, masses, indices), finds connected components, reorders particles for
 * locality inside, and makes the system. The builder is then spent and may be freed. */
cb_status cb_builder_finish(cb_builder *b, cb_system **out);

void cb_system_free(cb_system *s);
const cb_geometry *cb_system_space(const cb_system *s);
int cb_system_particles(const cb_system *s);
int cb_system_springs(const cb_system *s);
int cb_system_bonds(const cb_system *s); /* springs, then rods */
int cb_system_components(const cb_system *s);
int cb_system_bodies(const cb_system *s);

/* Particles are reordered inside: arrays of a state are by place, what a user sees by particle, in the order they were
 * added. The particles of a component have consecutive places. */
int cb_system_index(const cb_system *s, int particle);
int cb_system_particle(const cb_system *s, int place);
const double *cb_system_masses(const cb_system *s); /* [n] by place */
/* [components + 1]: component c has the places start[c] .. start[c+1]-1. */
const int *cb_system_component_starts(const cb_system *s);
int cb_system_component(const cb_system *s, int place);

const char *cb_system_particle_name(const cb_system *s, int particle);
const char *cb_system_body_name(const cb_system *s, int body);
int cb_system_body(const cb_system *s, int particle);
double cb_system_charge(const cb_system *s, int particle);
double cb_system_radius(const cb_system *s, int particle);
void cb_system_bond(const cb_system *s, int bond, int *i, int *j); /* the particles that it joins */
void cb_system_spring(const cb_system *s, int spring, double *stiffness, double *rest, double *damping);

/* Does a component's origin stay where it is? So it does where a fixed point far out was told by the same origin. */
int cb_system_held(const cb_system *s, int component);

/* The state at t = 0 that the builder was given, each component at its own origin. */
cb_status cb_system_start(const cb_system *s, cb_state *state);

/* --- what a state is, for users --- */
/* Picture coordinates of a particle (by the user's count) and their velocity (NULL: not wanted), in the world. */
cb_status cb_state_picture(const cb_system *s, const cb_state *state, int particle, double picture[3],
                           double velocity[3]);
/* Momenta <X_i, p> of the whole for every Killing field of the space, momentum[n_killing], in the world. nan where
 * round-off of the frames is above 1e-6 of the momentum and of what these particles would have near the base point: in
 * H^n beyond some 20 radii for what is small there. */
cb_status cb_state_killing_momentum(const cb_system *s, const cb_state *state, double *momentum);
/* The energies of a state at the origins that f has (those of an integrator: i->forces). */
cb_status cb_forces_energy(cb_forces *f, const cb_state *state, double *kinetic, double *potential);

/* --- evaluation --- */
cb_status cb_forces_create(const cb_system *s, cb_forces **out);
void cb_forces_free(cb_forces *f);
/* How many threads an evaluation may use (1 at first). The result does not depend on it. */
cb_status cb_forces_set_threads(cb_forces *f, int threads);
/* Takes the origins that the following evaluations are relative to. Call when a state was loaded or an origin moved. */
cb_status cb_forces_set_origins(cb_forces *f, const cb_origin *origin);
/* force[n*k] at positions x[n*k], velocities v[n*k] (read only where there is damping; may be NULL otherwise). */
cb_status cb_forces_eval(cb_forces *f, double t, const double *x, const double *v, double *force);
/* The same for several stages at once: force[s] at t[s], x[s], v[s] (v may be NULL without damping). Same bytes, less
 * memory to read. */
cb_status cb_forces_eval_stages(cb_forces *f, int stages, const double *t, const double *const *x,
                                const double *const *v, double *const *force);
/* Lengths of the bonds, d[bonds]. */
cb_status cb_forces_separations(cb_forces *f, const double *x, double *d);
cb_status cb_forces_potential(cb_forces *f, double t, const double *x, double *potential);
int cb_forces_uses_velocity(const cb_forces *f);

/* Pattern of dF/dx and dF/dv: blocks k x k in rows of particles, diagonal always there, columns ascending. */
typedef struct cb_pattern {
  int n, block;
  const int *start; /* n+1 */
  const int *column;
} cb_pattern;
const cb_pattern *cb_forces_pattern(cb_forces *f);
/* dF_i/dx_j and dF_i/dv_j in pattern order, row-major blocks; dv may be NULL. */
cb_status cb_forces_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv);

CB_API_END
#endif
