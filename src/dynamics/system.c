/* What a system tells of itself, and its state at the start. */
#include "dynamics/contact_private.h"
#include "dynamics/extract.h"
#include <string.h>

void cb_system_free(cb_system *s) {
  if (!s) return;
  cb_springs_free(s->springs);
  for (int i = 0; i < s->n_expressions && !s->borrowed; i++) cb_expression_free(s->expression[i]);
  for (int r = 0; r < s->n_constraints + s->n_dropped && !s->borrowed; r++) cb_constraint_release(&s->constraint[r]);
  cb_contact_set_free(s->contacts);
  cb_arena_free(s->arena);
}

const cb_bases *cb_system_bases(const cb_system *s) { return &s->bases; }
const cb_geometry *cb_system_space(const cb_system *s) { return s->space; }
int cb_system_particles(const cb_system *s) { return s->n; }
int cb_system_springs(const cb_system *s) { return s->n_springs; }
int cb_system_bonds(const cb_system *s) { return s->n_springs + s->n_rods; }
int cb_system_components(const cb_system *s) { return s->n_components; }
int cb_system_bodies(const cb_system *s) { return s->n_bodies; }

int cb_system_index(const cb_system *s, int particle) { return s->place[particle]; }
int cb_system_particle(const cb_system *s, int place) { return s->particle[place]; }
const double *cb_system_masses(const cb_system *s) { return s->mass; }
const int *cb_system_component_starts(const cb_system *s) { return s->component_start; }
int cb_system_component(const cb_system *s, int place) { return s->component[place]; }

const char *cb_system_particle_name(const cb_system *s, int particle) { return s->name[particle]; }
const char *cb_system_body_name(const cb_system *s, int body) { return s->body_name[body]; }
int cb_system_body(const cb_system *s, int particle) { return s->body[s->place[particle]]; }
double cb_system_charge(const cb_system *s, int particle) { return s->charge[s->place[particle]]; }
double cb_system_radius(const cb_system *s, int particle) { return s->radius[s->place[particle]]; }

void cb_system_spring(const cb_system *s, int spring, double *stiffness, double *rest, double *damping) {
  *stiffness = s->stiffness[spring];
  *rest = s->rest[spring];
  *damping = s->damping[spring];
}

void cb_system_bond(const cb_system *s, int bond, int *i, int *j) {
  if (bond >= s->n_springs) {
    const int *ends = s->constraint[s->rod[bond - s->n_springs]].particle;
    *i = s->particle[ends[0]];
    *j = s->particle[ends[1]];
    return;
  }
  *i = s->particle[s->spring_i[bond]];
  *j = s->particle[s->spring_j[bond]];
}

int cb_system_held(const cb_system *s, int component) { return s->held && s->held[component]; }

cb_status cb_system_start(const cb_system *s, cb_state *state) {
  int k = s->k;
  size_t bytes = (size_t)s->n * (size_t)k * sizeof(double);
  double g[CB_Q_MAX * CB_Q_MAX];
  if (s->space->chart) /* p = m g(q) u */
    for (int i = 0; i < s->n; i++) {
      cb_status status = s->space->chart->metric(s->space, s->x + i * k, g, NULL, NULL);
      if (status) return status;
      for (int a = 0; a < k; a++) {
        double sum = 0;
        for (int b = 0; b < k; b++) sum += g[a * k + b] * s->v[i * k + b];
        state->p[i * k + a] = s->mass[i] * sum;
      }
    }
  else
    for (int i = 0; i < s->n; i++)
      for (int a = 0; a < k; a++) state->p[i * k + a] = s->mass[i] * s->v[i * k + a];
  memcpy(state->x, s->x, bytes);
  memcpy(state->x_low, s->x_low, bytes);
  memset(state->p_low, 0, bytes);
  memcpy(state->origin, s->origin, (size_t)s->n_components * sizeof(cb_origin));
  state->t = state->t_low = 0;
  state->step = 0;
  return CB_OK;
}
