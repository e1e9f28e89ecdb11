/* Queries of a system that a run needs beyond the public interface: components as separate systems, conserved
 * quantities, antipodal points, and scales of quantities.
 */
#pragma once

#include <curvebody/system.h>

#include <stdbool.h>

/* Makes a system of one component. The places of the component become the places 0, 1, .. of the new system; bodies
 * keep their numbers. Names and expressions are borrowed, so `s` must outlive the new system. The new system has no
 * contacts. */
cb_status cb_system_extract(const cb_system *s, int component, cb_system **out);

/* A wall measures distances from a point (cb_gap_forms.centre), whose coordinates are rounded. Returns the error of the
 * position of this point, as a length. */
double cb_system_wall_doubt(const cb_system *s, int wall);

struct cb_bases;
/* Returns the bases of the system's components at the start. */
const struct cb_bases *cb_system_bases(const cb_system *s);

struct cb_arena;
/* Makes the labels of all bonds in the arena, "a.1-a.2" for the particles a.1 and a.2; NULL if there is no memory. */
const char *const *cb_system_bond_labels(const cb_system *s, struct cb_arena *arena);

/* Returns whether anything acts on the particles: a force, a constraint, a contact, a wall or an event. */
bool cb_system_acts(const cb_system *s);
/* Returns whether particles can touch each other. */
bool cb_system_touches(const cb_system *s);

/* Returns whether the component is a single particle without forces and constraints. Such a particle follows a
 * geodesic, for any mass. */
bool cb_system_component_free(const cb_system *s, int component);
/* Returns whether the particles of two components move in the same potentials. This is so if both components are single
 * particles of equal mass and charge, under the same potentials and forces, without constraints. The system that
 * cb_system_extract makes of one component can then also move the other. */
bool cb_system_components_alike(const cb_system *s, int a, int b);

/* The quantities that the motion of a system conserves for any initial state, if this follows from its parts:
 *
 *   energy    is conserved unless something dissipates (damping, forces without a potential, restitution < 1, contacts
 *             that come to rest) or depends on time (a spring, a pair potential, a potential, a wall, a constraint of
 *             positions, or a constraint of velocities with b not 0). Constraints of velocities a v = 0 do no work, for
 *             any a.
 *   momentum  is conserved for a Killing field X that is a symmetry of all forces. Everything that depends only on
 *             distances (springs with their damping, interactions, rods, areas, contacts) has all Killing fields as
 *             symmetries. A centre, a pin and a ball have the fields that vanish at their point; a plane has the fields
 *             that preserve it; an expression of coordinates has the fields that change none of the coordinates it
 *             uses. A constraint of velocities has none: its force has a moment even if the constraint is symmetric.
 *             Forces without a potential have none either.
 *
 * Symmetries of the values of an expression, such as rotations for x^2 + y^2, are not detected. */

typedef struct cb_conserved {
  bool energy;
  bool momentum[CB_KILLING_MAX]; /* the momentum of this Killing field is conserved */
} cb_conserved;

cb_conserved cb_system_conserved(const cb_system *s);
struct cb_fixed;
/* Marks as not conserved the momenta of all Killing fields that move the fixed point `at`. It is called for the centre
 * of a potential, a wall or a constraint that acts on particles. */
void cb_conserved_keep_point(const cb_space *g, const struct cb_fixed *at, cb_conserved *out);

/* Some forces between two points, such as those of springs, change direction where the points are antipodal
 * (pair_potential.c). */

/* Two points count as near antipodal if the cosine of their distance, in radii, is below this. One of them may then
 * pass the antipode of the other within a step. */
static const double cb_antipodes_cosine = -0.6;

/* Returns whether the system may have forces that change direction where two points are antipodal. */
bool cb_antipodes_matter(const cb_system *s);

/* Returns whether the ends of any spring are so close to antipodal that one may pass the antipode of the other within a
 * step. Returns false in a chart. */
bool cb_antipodes_near(const cb_system *s, const cb_state *state);

/* For h > 0, returns CB_STEP_DOMAIN if in the last step, of length h, a point has passed the antipode of another so
 * closely that no step of this length resolves the passage; a smaller step may resolve it. For h < 0, returns
 * CB_STEP_DOMAIN if such a passage will happen in the next step, of length |h|. *place is then the place of one of the
 * points. Otherwise returns CB_OK. */
cb_status cb_antipodes_check(const cb_system *s, const cb_state *state, double h, int *place);
/* Explains why a step of length h from this state failed. If `failed` is a status of a step (> 0) and a point will pass
 * the antipode of another within two steps, returns CB_STEP_DOMAIN. Otherwise returns `failed` with its message. */
cb_status cb_antipodes_explain(const cb_system *s, const cb_state *state, double h, cb_status failed, int *place);

/* --- quantities of a state --- */

/* Computes the embedding coordinates x of the particle at a place, and v, its momentum as a vector divided by the mass.
 * Both are relative to the origin of its component. */
cb_status cb_state_local(const cb_system *s, const cb_state *state, int place, double *x, double *v);
/* Computes the sum over particles of |p| max |X_i|, with the momentum p and the Killing fields X_i at the particle. It
 * bounds each Killing momentum. */
cb_status cb_state_killing_size(const cb_system *s, const cb_state *state, double *size);
/* Returns the length, area or volume that a row keeps at time t, which is the scale of its residual; 1 for rows that
 * keep none of these. */
double cb_system_constraint_size(const cb_system *s, int row, double t);
