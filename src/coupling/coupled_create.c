/* Creation and start of coupled bodies and particles (coupled.h): which points belong to bodies, the masses of
 * particles in the fluid, which points may touch each other and walls, and the checks that the start obeys the
 * constraints.
 */
#include "coupling/coupled_private.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <string.h>

static void take_points(cb_coupled *c, int n_points, const cb_body_point *point) {
  for (int i = 0; i < c->n; i++) c->carried[i].body = -1;
  for (int i = 0; i < n_points; i++) {
    cb_carried *own = &c->carried[cb_system_index(c->system, point[i].particle)];
    double y[4] = {point[i].at[0], point[i].at[1], point[i].at[2], 1};
    if (c->K != 0) cb_curved_point(c->K, point[i].at, y);
    *own = (cb_carried){point[i].body, point[i].touches, point[i].of_shape, {y[0], y[1], y[2]}, y[3]};
  }
}

static cb_status take_particles(cb_coupled *c) {
  for (int i = 0; i < c->n; i++) {
    const int number = cb_system_particle(c->system, i);
    const double mass = cb_system_masses(c->system)[i], radius = cb_system_radius(c->system, number);
    if (c->carried[i].body >= 0) continue;
    if (c->K != 0 && radius > 0 && c->fluid.medium)
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "particle `%s` has a radius in a fluid in curved space, where the forces of the fluid on a small "
                     "sphere are not known: expected radius 0, or `medium: none`",
                     cb_system_particle_name(c->system, number));
    cb_status status = cb_particle_mass(&c->fluid, mass, radius, c->state->x + i * c->k, &c->mass[i]);
    if (status) return status;
    c->feels[i] = c->K == 0 && cb_particle_feels_fluid(&c->fluid, mass, radius);
    for (int a = 0; a < c->k; a++) {
      c->state->p[i * c->k + a] *= mass > 0 ? c->mass[i] / mass : 0;
      c->state->p_low[i * c->k + a] = 0;
    }
  }
  return CB_OK;
}

static cb_status allocate(cb_coupled *c) {
  const size_t n = (size_t)c->n, nk = n * (size_t)c->k, bodies = (size_t)c->bodies.n;
  c->carried = cb_arena_alloc(c->arena, n, sizeof *c->carried);
  c->mass = cb_arena_alloc(c->arena, n, sizeof *c->mass);
  c->feels = cb_arena_alloc(c->arena, n, sizeof *c->feels);
  c->force = cb_arena_alloc(c->arena, nk, sizeof *c->force);
  c->velocity = cb_arena_alloc(c->arena, nk, sizeof *c->velocity);
  c->middle = cb_arena_alloc(c->arena, nk, sizeof *c->middle);
  c->middle_velocity = cb_arena_alloc(c->arena, n, sizeof *c->middle_velocity);
  c->last_force = cb_arena_alloc(c->arena, nk, sizeof *c->last_force);
  c->motion = cb_arena_alloc(c->arena, bodies, sizeof *c->motion);
  c->wrench = cb_arena_alloc(c->arena, bodies, sizeof *c->wrench);
  c->twist = cb_arena_alloc(c->arena, bodies, sizeof *c->twist);
  if (c->carried && c->mass && c->feels && c->force && c->velocity && c->last_force && c->middle &&
      c->middle_velocity && c->motion && c->wrench && c->twist)
    return CB_OK;
  return cb_fail(CB_ERROR_MEMORY, "no memory for %zu points and %zu bodies", n, bodies);
}

/* --- the list of gaps --- */

/* Returns whether other points can touch the point: this is so for spheres of bodies, and for particles that are not
 * tracers. */
static bool touches_points(const cb_coupled *c, int place) {
  const cb_carried *own = &c->carried[place];
  if (own->body < 0) return c->mass[place] > 0;
  return !own->of_shape && cb_system_radius(c->system, cb_system_particle(c->system, place)) > 0;
}

/* Returns whether walls can touch the point. They touch vertices of bodies too, but not a point that only holds springs
 * or rods. */
static bool touches_walls(const cb_coupled *c, int place) {
  return c->carried[place].touches || touches_points(c, place);
}

static cb_status list_limits(cb_coupled *c, cb_coupled_contacts *k) {
  cb_status status = CB_OK;
  for (int i = 0; c->bodies.mechanism && i < cb_mechanism_limits(c->bodies.mechanism) && !status; i++)
    status = cb_contacts_add(k, &(cb_gap){.kind = CB_GAP_WALL, .n = 0, .index = i});
  return status;
}

cb_status cb_coupled_list_gaps(cb_coupled *c, cb_coupled_contacts *k) {
  cb_status status = list_limits(c, k);
  if (!k->gaps) {
    k->contacts = k->fixed = k->n;
    return status;
  }
  for (int i = 0; i < c->n && !status; i++)
    for (int j = i + 1; j < c->n && !status; j++) {
      const bool same = c->carried[i].body >= 0 && c->carried[i].body == c->carried[j].body;
      const cb_gap gap = {CB_GAP_SPHERES, 2, {i, j}, -1, 1};
      if (!same && touches_points(c, i) && touches_points(c, j) && cb_gaps_pair_on(k->gaps, i, j))
        status = cb_contacts_add(k, &gap);
    }
  for (int w = 0; w < cb_gaps_walls(k->gaps); w++)
    for (int i = 0; i < c->n && !status; i++) {
      const cb_gap gap = {CB_GAP_WALL, 1, {i}, w, 1};
      if (touches_walls(c, i) && !cb_gaps_wall_of_tip(k->gaps, w) && cb_gaps_wall_on(k->gaps, w, i))
        status = cb_contacts_add(k, &gap);
    }
  k->contacts = k->fixed = k->n;
  for (int e = 0; e < cb_system_events(c->system) && !status; e++) {
    cb_gap gap;
    cb_gaps_event(k->gaps, e, &gap);
    status = cb_contacts_add(k, &gap);
  }
  return status;
}

/* --- creation and start --- */

cb_status cb_coupled_create(const cb_system *system, int n_points, const cb_body_point *point,
                            const cb_coupled_bodies *bodies, const cb_particles_in_fluid *fluid, cb_coupled **out) {
  cb_arena *arena = cb_arena_create();
  cb_coupled *c = arena ? cb_arena_alloc(arena, 1, sizeof *c) : NULL;
  if (!c) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for coupled bodies");
  }
  c->arena = arena;
  c->system = system;
  c->g = cb_system_space(system);
  c->bodies = *bodies;
  c->fluid = *fluid;
  c->varies = fluid->medium && fluid->added_mass && !cb_medium_is_uniform(fluid->medium);
  c->K = bodies->curvature;
  c->R = c->K == 0 ? 1 : 1 / sqrt(fabs(c->K));
  c->n = cb_system_particles(system);
  c->k = c->g->k;
  cb_status status = allocate(c);
  if (!status) status = cb_state_create(system, &c->state);
  if (!status) status = cb_system_start(system, c->state);
  if (!status) status = cb_forces_create(system, &c->forces);
  if (!status) {
    take_points(c, n_points, point);
    status = take_particles(c);
  }
  if (!status) status = cb_coupled_rows_create(c);
  if (!status) status = cb_coupled_contacts_create(c);
  if (!status) status = cb_coupled_snapshot_create(c, &c->before);
  if (!status) status = cb_coupled_snapshot_create(c, &c->kicked);
  if (status) {
    cb_coupled_free(c);
    return status;
  }
  *out = c;
  return CB_OK;
}

void cb_coupled_free(cb_coupled *c) {
  if (!c) return;
  cb_coupled_rows_free(c);
  cb_coupled_contacts_free(c);
  cb_forces_free(c->forces);
  cb_state_free(c->state);
  cb_coupled_snapshot_free(c->before);
  cb_coupled_snapshot_free(c->kicked);
  cb_arena_free(c->arena);
}

void cb_coupled_restored(cb_coupled *c) {
  c->known_force = false;
  cb_coupled_follow(c);
}

cb_status cb_coupled_start(cb_coupled *c, double t, bool project, double tolerance) {
  double residual = 0;
  int row = 0;
  cb_coupled_restored(c);
  cb_status status = cb_coupled_check_distances(c);
  if (!status) status = cb_coupled_contacts_check(c, t);
  if (status || !c->rows) return status;
  status = cb_coupled_rows_residual(c, t, false, &residual, &row);
  if (!status && residual > tolerance)
    return cb_fail(CB_ERROR_DOMAIN,
                   "the start violates constraint `%s` by %.3g of its size: expected at most %.3g: use other positions "
                   "at the start (next to rigid bodies, `project: auto` changes velocities, but not positions)",
                   cb_system_constraint_name(c->system, row), residual, tolerance);
  if (!status) status = cb_coupled_rows_check(c, t);
  if (!status && project) return cb_coupled_rows_project(c, t);
  if (!status) status = cb_coupled_rows_residual(c, t, true, &residual, &row);
  if (!status && residual > tolerance)
    return cb_fail(CB_ERROR_DOMAIN,
                   "the velocities at the start violate constraint `%s` by %.3g: expected at most %.3g, or `start: "
                   "{project: auto}`",
                   cb_system_constraint_name(c->system, row), residual, tolerance);
  return status;
}
