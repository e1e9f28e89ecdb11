/* Quantities of a state: positions for plots, kinetic energy and Killing momenta.
 *
 *   kinetic energy  sum <p,p>/2m (embedding), sum g^ij p_i p_j/2m (chart)
 * The sums are over particles of momentum p and mass m, and g^ij is the inverse metric. Plot coordinates are computed
 * by way of the moving origin.
 */
#include "dynamics/system_facts.h"

#include "core/arena.h"
#include "dynamics/forces_private.h"
#include "geometry/origin.h"
#include "geometry/quadric.h"
#include <curvebody/system.h>

#include <float.h>
#include <math.h>
#include <string.h>

cb_status cb_state_local(const cb_system *s, const cb_state *state, int place, double *x, double *v) {
  const cb_space *g = cb_system_space(s);
  const double *q = state->x + (size_t)place * g->k, *p = state->p + (size_t)place * g->k;
  const double mass = cb_system_masses(s)[place];
  if (!g->chart) {
    for (int a = 0; a < g->k; a++) {
      x[a] = q[a];
      v[a] = p[a] / mass;
    }
    return CB_OK;
  }
  double velocity[CB_Q_MAX];
  const cb_status status = cb_space_raise(g, q, p, velocity);
  if (status) return status;
  for (int a = 0; a < g->dim; a++) velocity[a] /= mass;
  return cb_chart_push(g, g->chart, q, velocity, x, v);
}

cb_status cb_state_plot(const cb_system *s, const cb_state *state, int particle, double plot[3], double velocity[3]) {
  if (particle < 0 || particle >= state->n)
    return cb_fail(CB_ERROR_ARGUMENT, "particle %d: expected 0 to %d", particle, state->n - 1);
  double x[CB_Q_MAX], v[CB_Q_MAX], at[3], rate[3];
  const int place = cb_system_index(s, particle);
  const cb_status status = cb_state_local(s, state, place, x, v);
  if (status) return status;
  cb_origin_plot(cb_system_space(s), &state->origin[cb_system_component(s, place)], x, v, at, rate);
  for (int a = 0; a < 3; a++) {
    plot[a] = at[a];
    if (velocity) velocity[a] = rate[a];
  }
  return CB_OK;
}

cb_status cb_forces_energy(cb_forces *f, const cb_state *state, double *kinetic, double *potential) {
  const cb_system *s = f->system;
  const cb_space *g = cb_system_space(s);
  const double *mass = cb_system_masses(s);
  double sum = 0;
  for (int a = 0; a < state->n; a++) {
    const double *q = state->x + (size_t)a * g->k, *p = state->p + (size_t)a * g->k;
    if (!g->chart) {
      sum += cb_inner(g, p, p) / (2 * mass[a]);
    } else {
      double raised[CB_Q_MAX];
      const cb_status status = cb_space_raise(g, q, p, raised);
      if (status) return status;
      for (int e = 0; e < g->dim; e++) sum += p[e] * raised[e] / (2 * mass[a]);
    }
  }
  const cb_status status = cb_forces_potential(f, state->t, state->x, potential);
  if (!status) *kinetic = sum;
  return status;
}

/* --- states --- */

/* An allocated state; the arena owns the arrays and the struct itself. */
typedef struct owned_state {
  cb_state state;
  cb_arena *arena;
} owned_state;

cb_status cb_state_create(const cb_system *system, cb_state **out) {
  cb_arena *arena = cb_arena_create();
  owned_state *s = cb_arena_alloc(arena, 1, sizeof *s);
  if (!s) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a state");
  }
  s->arena = arena;
  s->state.n = cb_system_particles(system);
  s->state.k = cb_system_space(system)->k;
  s->state.n_components = cb_system_components(system);
  size_t count = (size_t)s->state.n * (size_t)s->state.k;
  double **array[4] = {&s->state.x, &s->state.x_low, &s->state.p, &s->state.p_low};
  for (int i = 0; i < 4; i++) *array[i] = cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE);
  s->state.origin = cb_arena_alloc(arena, (size_t)s->state.n_components, sizeof(cb_origin));
  if (!s->state.x || !s->state.x_low || !s->state.p || !s->state.p_low || !s->state.origin) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a state of %zu coordinates", count);
  }
  for (int c = 0; c < s->state.n_components; c++) cb_origin_identity(cb_system_space(system), &s->state.origin[c]);
  *out = &s->state;
  return CB_OK;
}

void cb_state_free(cb_state *state) {
  if (state) cb_arena_free(((owned_state *)state)->arena);
}

void cb_state_copy(cb_state *to, const cb_state *from) {
  size_t bytes = (size_t)from->n * (size_t)from->k * sizeof(double);
  to->t = from->t;
  to->t_low = from->t_low;
  to->step = from->step;
  memcpy(to->x, from->x, bytes);
  memcpy(to->x_low, from->x_low, bytes);
  memcpy(to->p, from->p, bytes);
  memcpy(to->p_low, from->p_low, bytes);
  memcpy(to->origin, from->origin, (size_t)from->n_components * sizeof(cb_origin));
}

/* Killing momenta J_i = sum <X_i(x), p> about the world's axes, bounds on their size, and a test whether they are
 * known. The sum is over particles at x of momentum p, and X_i are the Killing fields.
 *
 * A frame far from the base point has round-off of its own. X_i grows with the distance from the base point, in H^n
 * like exp(distance). J_i therefore has an error of some units of round-off of sum |p| |X_i|. It also has an error of
 * some units of round-off of the other momenta J_j, because an error in the rotation of the frame mixes the momenta. A
 * small conserved momentum is lost in this round-off, and a state has no data that would restore it. The result is nan
 * if too many digits are lost. */

/* The relative round-off of a frame after some thousand changes. */
static const double units = 16 * DBL_EPSILON;
/* A Killing momentum is known if its error is at most this, relative to the momentum itself, or relative to the
 * momentum that the same particles would have near the base point. */
static const double lost = 1e-6;
/* If all Killing fields are smaller than this, the momenta lose no relevant digits. */
static const double harmless = 1e6;

/* Sets world[] to the Killing momenta of one component about the world's axes. */
static cb_status world_of(const cb_system *s, const cb_state *state, int component, double *world) {
  const cb_space *g = cb_system_space(s);
  const cb_origin *origin = &state->origin[component];
  const size_t k = (size_t)g->k;
  double here[CB_KILLING_MAX] = {0}, x[CB_Q_MAX], v[CB_Q_MAX];
  const int first = cb_system_component_starts(s)[component], end = cb_system_component_starts(s)[component + 1];
  if (!g->chart)
    cb_killing_momenta_add(g, end - first, state->x + (size_t)first * k, state->p + (size_t)first * k, here);
  for (int a = first; a < end && g->chart; a++) {
    if (g->intrinsic) {
      cb_origin_killing_add(g, origin, state->x + (size_t)a * k, state->p + (size_t)a * k, here);
      continue;
    }
    const cb_status status = cb_state_local(s, state, a, x, v);
    if (status) return status;
    for (int e = 0; e < g->embedding; e++) v[e] *= cb_system_masses(s)[a];
    cb_killing_momentum_add(g, x, v, here);
  }
  cb_origin_killing(g, origin, here, world);
  return CB_OK;
}

/* Computes |p|, the size of the momentum of the particle at a place. */
static cb_status momentum_size(const cb_system *s, const cb_state *state, int place, double *size) {
  const cb_space *g = cb_system_space(s);
  const double *p = state->p + (size_t)place * (size_t)g->k;
  double raised[CB_Q_MAX], square = g->chart ? 0 : cb_inner(g, p, p);
  const cb_status status = g->chart ? cb_space_raise(g, state->x + (size_t)place * (size_t)g->k, p, raised) : CB_OK;
  for (int e = 0; e < g->k && g->chart && !status; e++) square += p[e] * raised[e];
  *size = sqrt(fmax(0, square));
  return status;
}

/* For the particles of a component, with momenta p and Killing fields X_i: sets sizes[i] to the sum of |p| |X_i|, and
 * adds the sum of |p| max |X_i| to *all and the sum of |p| to *p_all. */
static cb_status sizes_of(const cb_system *s, const cb_state *state, int component, double *sizes, double *all,
                          double *p_all) {
  const cb_space *g = cb_system_space(s);
  const int *start = cb_system_component_starts(s);
  for (int i = 0; i < g->n_killing; i++) sizes[i] = 0;
  for (int a = start[component]; a < start[component + 1]; a++) {
    double norm[CB_KILLING_MAX] = {0}, maximum = 0, p;
    cb_status status = momentum_size(s, state, a, &p);
    if (!status)
      status = cb_origin_killing_sizes(g, &state->origin[component], state->x + (size_t)a * (size_t)g->k, norm);
    if (status) return status;
    *p_all += p;
    for (int i = 0; i < g->n_killing && p > 0; i++) { /* avoids 0 times infinity */
      maximum = fmax(maximum, norm[i]);
      sizes[i] += p * norm[i];
    }
    *all += p > 0 ? p * maximum : 0;
  }
  return CB_OK;
}

cb_status cb_state_killing_size(const cb_system *s, const cb_state *state, double *size) {
  double sizes[CB_KILLING_MAX], all = 0, p = 0;
  for (int c = 0; c < state->n_components; c++) {
    const cb_status status = sizes_of(s, state, c, sizes, &all, &p);
    if (status) return status;
  }
  *size = all;
  return CB_OK;
}

/* --- whether the Killing momenta are known --- */

/* Returns whether all particles are so near the base point that their momenta are certainly known. */
static bool is_near(const cb_system *s, const cb_state *state) {
  const cb_space *g = cb_system_space(s);
  const int *start = cb_system_component_starts(s);
  if (!cb_origin_moves(g)) return true;
  if (g->intrinsic) return false;
  for (int c = 0; c < state->n_components; c++) {
    const cb_origin *origin = &state->origin[c];
    const double grow = cb_origin_grows(g) ? exp(cb_origin_radii(g, origin)) : 1;
    double shift = 1 + origin->length;
    for (int e = 0; e < CB_DIM_MAX; e++) shift += fabs(origin->shift[e]);
    for (int a = start[c]; a < start[c + 1]; a++) {
      double size = shift;
      for (int e = 0; e < g->k; e++) size += grow * fabs(state->x[(size_t)a * (size_t)g->k + (size_t)e]);
      if (!(size < harmless)) return false;
    }
  }
  return true;
}

/* Returns the scale of a Killing field near the base point. It is 1, except for a rotation of a hyperbolic factor. Such
 * a field vanishes at the base point, and its scale is the radius of curvature, which is about its size at a distance
 * of one radius. */
static double at_base(const cb_space *g, int field) {
  for (int f = 0; f < g->n_factors; f++) {
    const int n = cb_factor_dim(g->factor[f]), fields = n * (n + 1) / 2;
    if (field < fields) return field < n || g->factor[f].curvature >= 0 ? 1 : 1 / sqrt(-g->factor[f].curvature);
    field -= fields;
  }
  return 1;
}

cb_status cb_state_killing_momentum(const cb_system *s, const cb_state *state, double *momentum) {
  const cb_space *g = cb_system_space(s);
  const bool near = is_near(s, state);
  double total[CB_KILLING_MAX] = {0}, world[CB_KILLING_MAX], sizes[CB_KILLING_MAX], noise[CB_KILLING_MAX] = {0},
         all = 0, level = 0;
  for (int c = 0; c < state->n_components; c++) {
    cb_status status = world_of(s, state, c, world);
    if (!status && !near) status = sizes_of(s, state, c, sizes, &all, &level);
    if (status) return status;
    for (int i = 0; i < g->n_killing; i++) total[i] += world[i];
    if (!near) cb_origin_killing_noise(g, &state->origin[c], sizes, world, noise);
  }
  for (int i = 0; i < g->n_killing; i++) {
    const double off = units * noise[i];
    const bool known = off <= lost * fabs(total[i]) || off <= lost * level * at_base(g, i);
    momentum[i] = known && isfinite(total[i]) ? total[i] : NAN;
  }
  return CB_OK;
}
