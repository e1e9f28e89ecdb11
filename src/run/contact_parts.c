/* The parts of a system in a step with contacts: their movers, and bounds of speed and acceleration
 * (contacts_private.h).
 *
 * Bounds between two states (x0, v0), (x1, v1) a time T apart: the distance of the path from the geodesic gives the
 * mean covariant acceleration
 *
 *   a = 2 d(exp(T v0), x1)/T^2  from each end;  in charts  a = |(v1 - v0)/T + Gamma(u, u)| at the midpoint
 *
 * where exp(T v0) is the point that the geodesic from x0 with the velocity v0 reaches after the time T, d the distance,
 * Gamma the Christoffel symbols and u = (v0 + v1)/2. Twice the larger value of a bounds the acceleration between the
 * states if the step resolves the forces. The larger speed at the two ends plus T times this bound is the bound of the
 * speed. For a particle on which nothing acts, a is 0 and the bound is its own speed.
 */
#include "run/contacts_private.h"

#include "dynamics/chart_dynamics.h"
#include "dynamics/system_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double between = 2;

cb_status cb_parts_create(const cb_system *system, cb_integrator *whole, cb_parts **out) {
  cb_arena *arena = cb_arena_create();
  cb_parts *p = cb_arena_alloc(arena, 1, sizeof *p);
  if (!p) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
  }
  p->arena = arena;
  p->system = system;
  p->g = cb_system_space(system);
  p->whole = whole;
  p->n = cb_system_particles(system);
  p->k = p->g->k;
  p->components = cb_system_components(system);
  p->start = cb_system_component_starts(system);
  const size_t n = (size_t)p->n, c = (size_t)p->components;
  p->mover_of = cb_arena_alloc(arena, c, sizeof *p->mover_of);
  p->free = cb_arena_alloc(arena, c, sizeof *p->free);
  p->clock = cb_arena_alloc(arena, c, sizeof(double));
  p->trial_at = cb_arena_alloc(arena, c, sizeof(double));
  p->speed = cb_arena_alloc(arena, n, sizeof(double));
  p->acceleration = cb_arena_alloc(arena, n, sizeof(double));
  cb_status status = p->mover_of && p->free && p->clock && p->trial_at && p->speed && p->acceleration
                         ? CB_OK
                         : cb_fail(CB_ERROR_MEMORY, "no memory for contacts of %d particles", p->n);
  if (!status) status = cb_state_create(system, &p->base);
  if (!status) status = cb_state_create(system, &p->end);
  if (!status) status = cb_state_create(system, &p->trial);
  if (status) {
    cb_parts_free(p);
    return status;
  }
  for (int i = p->components - 1; i >= 0; i--) {
    p->mover_of[i] = -1;
    p->free[i] = cb_system_component_free(system, i);
    if (p->free[i]) p->first_free = i;
  }
  *out = p;
  return CB_OK;
}

static void free_mover(cb_parts *p, cb_part_mover *m) {
  cb_state_free(m->state);
  if (m->integrator != p->whole) cb_integrator_free(m->integrator);
  cb_system_free(m->extract);
}

void cb_parts_let_go(cb_parts *p) {
  for (int m = 0; m < p->n_movers; m++) free_mover(p, &p->mover[m]);
  p->n_movers = 0;
  for (int i = 0; i < p->components; i++) p->mover_of[i] = -1;
}

void cb_parts_free(cb_parts *p) {
  if (!p) return;
  for (int m = 0; m < p->n_movers; m++) free_mover(p, &p->mover[m]);
  free(p->mover);
  cb_state_free(p->base);
  cb_state_free(p->end);
  cb_state_free(p->trial);
  cb_arena_free(p->arena);
}

/* --- movers --- */

static cb_status make_mover(cb_parts *p, int component) {
  if (p->n_movers == p->movers_capacity) {
    const int capacity = p->movers_capacity ? 2 * p->movers_capacity : 8;
    cb_part_mover *more = realloc(p->mover, (size_t)capacity * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
    p->mover = more;
    p->movers_capacity = capacity;
  }
  /* all free particles share one mover with the mass of the first free particle, so that the result does not depend on
   * the particle that uses the mover first */
  if (p->free[component]) component = p->first_free;
  cb_part_mover m = {.free = p->free[component], .component = component};
  cb_status status = CB_OK;
  if (p->components == 1) {
    m.integrator = p->whole;
    status = cb_state_create(p->system, &m.state);
  } else {
    status = cb_system_extract(p->system, component, &m.extract);
    if (!status) status = cb_integrator_like(p->whole, m.extract, &m.integrator);
    if (!status) status = cb_state_create(m.extract, &m.state);
  }
  if (status) {
    free_mover(p, &m);
    return status;
  }
  p->mover[p->n_movers++] = m;
  return CB_OK;
}

/* Returns the index of an existing mover that can move this component; -1 if there is none. Only components of one
 * particle share movers. */
static int find_mover(const cb_parts *p, int component) {
  if (p->start[component + 1] - p->start[component] > 1) return -1;
  for (int m = 0; m < p->n_movers; m++) {
    const int other = p->mover[m].component;
    if (p->free[component] ? p->mover[m].free
                           : !p->mover[m].free && cb_system_components_alike(p->system, other, component))
      return m;
  }
  return -1;
}

cb_status cb_parts_mover(cb_parts *p, int component, cb_part_mover **out) {
  if (p->mover_of[component] < 0) {
    const int found = find_mover(p, component);
    const cb_status status = found < 0 ? make_mover(p, component) : CB_OK;
    if (status) return status;
    p->mover_of[component] = found < 0 ? p->n_movers - 1 : found;
  }
  cb_part_mover *m = &p->mover[p->mover_of[component]];
  *out = m;
  cb_origin *origin = m->state->origin;
  if (!memcmp(origin, &p->base->origin[component], sizeof *origin)) return CB_OK;
  *origin = p->base->origin[component];
  return cb_forces_set_origins(m->integrator->forces, origin);
}

/* Moves a component from its base by the time dt, and stores the result in the entries of the component in `to`. */
static cb_status move(cb_parts *p, int component, double dt, cb_state *to) {
  cb_part_mover *m;
  cb_status status = cb_parts_mover(p, component, &m);
  if (status) return status;
  cb_state *s = m->state;
  const size_t at = (size_t)p->start[component] * (size_t)p->k, count = (size_t)s->n * (size_t)p->k,
               bytes = count * sizeof(double);
  const double own = cb_system_masses(p->system)[p->start[component]],
               scale = m->free && m->extract ? cb_system_masses(m->extract)[0] / own : 1;
  memcpy(s->x, p->base->x + at, bytes);
  memcpy(s->x_low, p->base->x_low + at, bytes);
  for (size_t e = 0; e < count; e++) {
    s->p[e] = scale * p->base->p[at + e];
    s->p_low[e] = scale * p->base->p_low[at + e];
  }
  s->t = p->t + p->clock[component];
  s->t_low = p->clock[component] == 0 ? p->t_low : 0;
  cb_integrator_reset(m->integrator);
  status = cb_integrator_step(m->integrator, s, dt);
  cb_integrator_reset(m->integrator);
  if (status) return status;
  memcpy(to->x + at, s->x, bytes);
  memcpy(to->x_low + at, s->x_low, bytes);
  for (size_t e = 0; e < count; e++) {
    to->p[at + e] = s->p[e] / scale;
    to->p_low[at + e] = s->p_low[e] / scale;
  }
  return CB_OK;
}

/* --- bounds --- */

cb_status cb_parts_velocity(const cb_parts *p, const cb_state *s, int i, double *v) {
  const size_t at = (size_t)i * (size_t)p->k;
  const double mass = cb_system_masses(p->system)[i];
  const cb_status status = cb_space_raise(p->g, s->x + at, s->p + at, v);
  for (int a = 0; a < p->k; a++) v[a] /= mass;
  return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
}

/* Returns the speed of the particle at place i: the length of its velocity v in the metric. */
static double speed_of(const cb_parts *p, const cb_state *s, int i, const double *v) {
  const double *momentum = s->p + (size_t)i * (size_t)p->k;
  if (!p->g->chart) return sqrt(fmax(0, cb_inner(p->g, v, v)));
  double square = 0;
  for (int a = 0; a < p->k; a++) square += momentum[a] * v[a];
  return sqrt(fmax(0, square / cb_system_masses(p->system)[i]));
}

static double off_geodesic(const cb_space *g, const double *x, const double *v, double t, const double *y) {
  double end[CB_COORD_MAX], u[CB_COORD_MAX];
  for (int a = 0; a < g->k; a++) u[a] = t * v[a];
  cb_exp(g, x, u, end, NULL);
  return 2 * cb_distance(g, end, y) / (t * t);
}

/* Estimates the covariant acceleration of a particle that moves in a chart from x0 with velocity u0 to x1 with velocity
 * u1 in the time t. Returns |(u1 - u0)/t + Gamma(u, u)| at the midpoint q of x0 and x1, where u = (u0 + u1)/2 and Gamma
 * are the Christoffel symbols. Returns INFINITY if q is outside the chart. */
static double in_chart(const cb_space *g, const double *x0, const double *u0, const double *x1, const double *u1,
                       double t) {
  double metrics[CB_CHART_METRIC_CAPACITY], q[CB_Q_MAX] = {0}, u[CB_Q_MAX] = {0}, rate[CB_Q_MAX], none[CB_Q_MAX] = {0},
                                            square = 0;
  const int d = g->dim;
  const cb_chart_metric metric = cb_chart_metric_in(d, metrics);
  for (int a = 0; a < d; a++) {
    q[a] = (x0[a] + x1[a]) / 2;
    u[a] = (u0[a] + u1[a]) / 2;
  }
  if (cb_chart_metric_at(g, q, 1, &metric)) return INFINITY;
  cb_chart_rate_velocity(d, &metric, 1, u, none, rate); /* -Gamma(u, u) */
  for (int a = 0; a < d; a++) rate[a] = (u1[a] - u0[a]) / t - rate[a];
  for (int a = 0; a < d; a++)
    for (int b = 0; b < d; b++) square += rate[a] * metric.g[a * d + b] * rate[b];
  return sqrt(square);
}

static cb_status bound(cb_parts *p, int component) {
  const cb_space *g = p->g;
  const double t = p->h - p->clock[component], span = fabs(t);
  for (int i = p->start[component]; i < p->start[component + 1]; i++) {
    const size_t at = (size_t)i * (size_t)p->k;
    double v0[CB_Q_MAX], v1[CB_Q_MAX];
    cb_status status = cb_parts_velocity(p, p->base, i, v0);
    if (status) return status;
    p->speed[i] = speed_of(p, p->base, i, v0);
    p->acceleration[i] = 0;
    if (p->free[component] || t == 0) continue;
    if ((status = cb_parts_velocity(p, p->end, i, v1))) return status;
    const double *x0 = p->base->x + at, *x1 = p->end->x + at;
    p->acceleration[i] = between * (g->chart ? in_chart(g, x0, v0, x1, v1, t)
                                             : fmax(off_geodesic(g, x0, v0, t, x1), off_geodesic(g, x1, v1, -t, x0)));
    p->speed[i] = fmax(p->speed[i], speed_of(p, p->end, i, v1)) + p->acceleration[i] * span;
  }
  return CB_OK;
}

/* --- a step --- */

cb_status cb_parts_begin(cb_parts *p, const cb_state *state, double h) {
  cb_state_copy(p->base, state);
  cb_state_copy(p->end, state);
  p->t = state->t;
  p->t_low = state->t_low;
  p->h = h;
  cb_status status = cb_integrator_step(p->whole, p->end, h);
  for (int c = 0; c < p->components && !status; c++) {
    p->clock[c] = 0;
    p->trial_at[c] = NAN;
    status = bound(p, c);
  }
  p->fastest = 0;
  for (int i = 0; i < p->n; i++) p->fastest = fmax(p->fastest, p->speed[i]);
  return status;
}

cb_status cb_parts_at(cb_parts *p, int component, double tau, const cb_state **where) {
  cb_status status = CB_OK;
  if (tau == p->clock[component]) {
    *where = p->base;
  } else if (tau == p->h) {
    *where = p->end;
  } else {
    *where = p->trial;
    if (tau != p->trial_at[component]) {
      status = move(p, component, tau - p->clock[component], p->trial);
      p->trial_at[component] = status ? NAN : tau;
    }
  }
  return status;
}

static void copy_part(const cb_parts *p, int component, cb_state *to, const cb_state *from) {
  const size_t at = (size_t)p->start[component] * (size_t)p->k,
               bytes = ((size_t)p->start[component + 1] * (size_t)p->k - at) * sizeof(double);
  memcpy(to->x + at, from->x + at, bytes);
  memcpy(to->x_low + at, from->x_low + at, bytes);
  memcpy(to->p + at, from->p + at, bytes);
  memcpy(to->p_low + at, from->p_low + at, bytes);
}

cb_status cb_parts_settle(cb_parts *p, int component, double tau) {
  const cb_state *where;
  const cb_status status = cb_parts_at(p, component, tau, &where);
  if (status) return status;
  if (where != p->base) copy_part(p, component, p->base, where);
  p->clock[component] = tau;
  p->trial_at[component] = NAN;
  return CB_OK;
}

cb_status cb_parts_restart(cb_parts *p, int component) {
  const double left = p->h - p->clock[component];
  cb_status status = CB_OK;
  p->trial_at[component] = NAN;
  if (left == 0)
    copy_part(p, component, p->end, p->base);
  else
    status = move(p, component, left, p->end);
  return status ? status : bound(p, component);
}
