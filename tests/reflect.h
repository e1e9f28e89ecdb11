/* Systems whose contacts are given by the tests and not found by the library, for the tests of reflections. */
#pragma once

#include "dynamics/reflection.h"
#include "linked.h"

/* Returns the complete system as one part for a reflection. */
static inline cb_reflection_part whole(const body_case *c, cb_gram *gram) {
  return (cb_reflection_part){0,
                              c->state->n,
                              cb_system_masses(c->system),
                              c->state->x,
                              c->state->p,
                              c->state->p_low,
                              gram,
                              gram ? cb_forces_constraints(c->forces) : NULL};
}

/* Returns a contact of the spheres i and j, numbered in the order in which they were added. The gradient of the gap is
 * the gradient of their distance times `sign`; sign = -1 means that one sphere is inside the other. */
static inline cb_reflection_contact spheres(const body_case *c, int i, int j, double restitution, double sign) {
  cb_reflection_contact contact = {.restitution = restitution};
  const int k = c->g->k, at[2] = {cb_system_index(c->system, i), cb_system_index(c->system, j)};
  const double *x = c->state->x + at[0] * k, *y = c->state->x + at[1] * k;
  double d;
  contact.gap = (cb_gap){.kind = CB_GAP_SPHERES, .n = 2, .particle = {at[0], at[1]}, .index = -1};
  contact.value.active = true;
  if (c->g->chart)
    check_ok(c->g->chart->distance(c->g, x, y, &d, contact.value.gradient, NULL));
  else
    check_ok(cb_distance_derivatives(c->g, x, y, &d, contact.value.gradient, NULL));
  for (int a = 0; a < 2 * k; a++) contact.value.gradient[a] *= sign;
  return contact;
}

/* Returns a contact of particle i with a wall. gradient[k] is the gradient of the gap in the k coordinates of the
 * particle, and rate_t is the rate of the gap at a fixed position. */
static inline cb_reflection_contact wall(const body_case *c, int i, const double *gradient, double rate_t,
                                         double restitution) {
  cb_reflection_contact contact = {.restitution = restitution};
  contact.gap = (cb_gap){.kind = CB_GAP_WALL, .n = 1, .particle = {cb_system_index(c->system, i)}, .index = 0};
  contact.value.active = true;
  contact.value.rate_t = rate_t;
  memcpy(contact.value.gradient, gradient, (size_t)c->g->k * sizeof *gradient);
  return contact;
}

/* Returns the rate of the gap of a contact, from the velocities of the state. */
static inline double contact_rate(const body_case *c, const cb_reflection_contact *contact) {
  double v[MOST], sum = contact->value.rate_t;
  const int k = c->g->k;
  velocities(c, v);
  for (int i = 0; i < contact->gap.n; i++)
    for (int a = 0; a < k; a++) sum += contact->value.gradient[i * k + a] * v[contact->gap.particle[i] * k + a];
  return sum;
}

static inline double kinetic(const body_case *c) {
  double v[MOST], sum = 0;
  const int k = c->g->k;
  velocities(c, v);
  for (int a = 0; a < c->state->n * k; a++) sum += 0.5 * c->state->p[a] * v[a] * (c->g->chart ? 1 : c->g->form[a % k]);
  return sum;
}

/* Computes the position x and the velocity v of particle number `place` of the state, in the embedding or, in an
 * intrinsic space, in its coordinates. */
static inline void embedded(const body_case *c, int place, double *x, double *v) {
  double u[MOST];
  const int k = c->g->k;
  velocities(c, u);
  if (c->g->chart && !c->g->intrinsic) {
    check_ok(cb_chart_push(c->g, c->g->chart, c->state->x + place * k, u + place * k, x, v));
    return;
  }
  memcpy(x, c->state->x + place * k, (size_t)k * sizeof *x);
  memcpy(v, u + place * k, (size_t)k * sizeof *v);
}

/* Computes the Killing momenta J of the system, and *size, the largest absolute momentum of one particle. */
static inline void momenta(const body_case *c, double *J, double *size) {
  *size = 0;
  for (int i = 0; i < c->g->n_killing; i++) J[i] = 0;
  for (int a = 0; a < c->state->n; a++) {
    double x[CB_COORD_MAX], p[CB_COORD_MAX], one[CB_KILLING_MAX] = {0};
    embedded(c, a, x, p);
    for (int e = 0; e < c->g->embedding; e++) p[e] *= cb_system_masses(c->system)[a];
    cb_killing_momentum_add(c->g, x, p, one);
    for (int i = 0; i < c->g->n_killing; i++) {
      J[i] += one[i];
      *size = fmax(*size, fabs(one[i]));
    }
  }
}

/* Creates n free particles at random points with random velocities. Their masses are between 10^(-decades/2) and
 * 10^(decades/2). In a chart the points are away from the base point, where polar coordinates are singular. In an
 * intrinsic space all coordinates are in [-1, 1]. */
static inline void open_gas(body_case *c, const char *space, int n, double decades, uint64_t *seed) {
  open_space(c, space);
  const cb_space *g = c->g;
  cb_isometry move;
  if (!g->intrinsic) aside(g, &move);
  for (int a = 0; a < n; a++) {
    double x[CB_COORD_MAX], v[CB_COORD_MAX], near[CB_COORD_MAX];
    const double mass = pow(10, check_uniform(seed, -0.5 * decades, 0.5 * decades));
    if (g->intrinsic) {
      for (int e = 0; e < g->dim; e++) {
        x[e] = check_uniform(seed, -1, 1);
        v[e] = check_uniform(seed, -1, 1);
      }
      check_ok(cb_builder_particle(c->builder, NULL, mass, 0, 0, x, v, NULL));
      continue;
    }
    check_random_point(g, seed, 0.8, near);
    cb_isometry_point(g, &move, near, x);
    check_random_tangent(g, seed, x, 1, v);
    add_particle(c, mass, x, v);
  }
  finish_system(c);
}

/* Creates n balls at the points x of a Euclidean space with the velocities v. Their masses are 1 if `mass` is NULL. */
static inline void open_balls(body_case *c, const char *space, int n, const double *mass, const double *x,
                              const double *v) {
  open_space(c, space);
  for (int a = 0; a < n; a++) add_particle(c, mass ? mass[a] : 1, x + a * c->g->k, v + a * c->g->k);
  finish_system(c);
}
