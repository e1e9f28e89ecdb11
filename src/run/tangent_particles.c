/* The tangent vector of particles (run/exponent.h): first the changes of the coordinates, then those of the momenta. */
#include "run/exponent.h"
#include "run/particles_run.h"
#include <curvebody/contact.h>

typedef struct particles {
  const cb_space *space;
  cb_state *state[3]; /* z, z + e w, z - e w */
  cb_integrator *integrator[3];
} particles;

static cb_status step_particles(cb_tangent *m, double h) {
  particles *o = m->self;
  cb_state *const z = o->state[0], *const plus = o->state[1], *const minus = o->state[2];
  const size_t half = m->n / 2;
  for (int side = 1; side <= 2; side++) {
    cb_state *s = o->state[side];
    const double e = side == 1 ? CB_EXPONENT_NUDGE : -CB_EXPONENT_NUDGE;
    cb_state_copy(s, z);
    for (size_t i = 0; i < half; i++) {
      s->x[i] += e * m->w[i];
      s->p[i] += e * m->w[half + i];
    }
    for (int a = 0; !o->space->chart && a < s->n; a++) {
      cb_space_project_point(o->space, s->x + a * s->k);
      cb_space_project_tangent(o->space, s->x + a * s->k, s->p + a * s->k);
    }
    const cb_status status = cb_integrator_step(o->integrator[side], s, h);
    if (status) return status;
  }
  for (size_t i = 0; i < half; i++) {
    m->w[i] = (plus->x[i] - minus->x[i] + (plus->x_low[i] - minus->x_low[i])) / (2 * CB_EXPONENT_NUDGE);
    m->w[half + i] = (plus->p[i] - minus->p[i] + (plus->p_low[i] - minus->p_low[i])) / (2 * CB_EXPONENT_NUDGE);
  }
  return cb_integrator_step(o->integrator[0], z, h);
}

static void free_particles(cb_tangent *m) {
  particles *o = m->self;
  for (int i = 0; i < 3; i++) {
    cb_state_free(o->state[i]);
    cb_integrator_free(o->integrator[i]);
  }
}

cb_status cb_particles_tangent(const cb_run *run, int body, cb_tangent *m) {
  (void)body;
  const cb_particles *p = run->own;
  if (cb_system_contacts(p->system))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the Lyapunov exponent needs a smooth motion: expected no contacts, walls or events");
  particles *o = m->self = cb_arena_alloc(m->arena, 1, sizeof *o);
  m->n = 2 * (size_t)p->state->n * (size_t)p->state->k;
  m->w = cb_arena_alloc(m->arena, m->n, sizeof *m->w);
  if (!o || !m->w) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  m->step = step_particles;
  m->free = free_particles;
  o->space = cb_system_space(p->system);
  cb_status status = CB_OK;
  for (int i = 0; i < 3 && !status; i++) {
    status = cb_state_create(p->system, &o->state[i]);
    if (!status) status = cb_integrator_like(p->integrator, p->system, &o->integrator[i]);
    if (!status) status = cb_forces_set_origins(o->integrator[i]->forces, p->state->origin);
    if (!status) cb_state_copy(o->state[i], p->state);
  }
  return status;
}
