/* `potentials:` beside `fluid:` in a curved space: those of particles (scenario/forces.c), on the matter of bodies and
 * on the fluid that they displace.
 *
 *   potentials: [{central: {law: gravity, strength: 10, at: .., body: a}}, {expression: {chart: .., value: "m*9.81*z"}}]
 * A body is a continuum: each kg of it, and of the fluid, has what a particle of 1 kg without charge has, so that a
 * potential has to be in proportion to the mass. `body`: entries of `bodies`, with all their copies. Each entry has a
 * system of one particle of 1 kg.
 */
#include "scenario/fluid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what has no meaning --- */

static cb_status check_one(const cb_node *node) {
  const cb_node *map = node->kind == CB_NODE_MAP && node->count == 1 ? node->items[0] : NULL;
  const cb_node *law = map ? cb_node_get(map, "law") : NULL;
  if (!map) return CB_OK; /* told where it is read */
  if (!strcmp(node->keys[0]->text, "harmonic"))
    return cb_node_fail(node->keys[0],
                        "a spring pulls particles, whatever their mass, but a body is a continuum: "
                        "expected `central` with an expression of m, such as m*k*d^2/2");
  if (law && law->text && strcmp(law->text, "gravity") && !cb_node_get(map, "expression"))
    return cb_node_fail(law,
                        "`%s` acts on particles, whatever their mass, but a body is a continuum: expected "
                        "gravity, or an expression of m",
                        law->text);
  return CB_OK;
}

static cb_status check_all(const cb_node *list) {
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; list->kind == CB_NODE_LIST && i < list->count; i++)
    cb_errors_add(&errors, list->items[i], check_one(list->items[i]));
  return cb_errors_end(&errors);
}

/* --- a system for each entry --- */

static const char *name_of(cb_scenario *s, const cb_node *body, size_t i) {
  const cb_node *name = cb_node_get(body, "name");
  char numbered[32];
  snprintf(numbered, sizeof numbered, "body.%zu", i);
  return name && name->kind == CB_NODE_SCALAR && *name->text ? name->text : cb_arena_strdup(s->arena, numbered);
}

/* Entries are all there by name; the particle is that of one. It stands where the potential may be, off the base point. */
static cb_status build(cb_scenario *s, const cb_node *potentials, const cb_node *bodies, size_t own, double mass,
                       cb_system **out) {
  const double K = s->fluid->fluid.curvature, r = 0.3, R = 1 / sqrt(fabs(K)), still[4] = {0},
               side = R * (K > 0 ? sin(r) : sinh(r)) / sqrt(14),
               x[4] = {side, 2 * side, 3 * side, R * (K > 0 ? cos(r) : cosh(r))};
  cb_status status = cb_builder_create(s->space, &s->builder);
  for (size_t i = 0; i < bodies->count && !status; i++) {
    int index;
    const char *name = name_of(s, bodies->items[i], i);
    if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
    status = cb_builder_body(s->builder, name, &index);
    if (!status && i == own) status = cb_builder_particle(s->builder, NULL, mass, 0, 0, x, still, &index);
  }
  if (!status) status = cb_scenario_read_forces(s, potentials, NULL);
  if (!status) status = cb_scenario_placed(s, cb_builder_finish(s->builder, out), potentials, false);
  cb_builder_free(s->builder);
  s->builder = NULL;
  return status;
}

static cb_status value(const cb_system *system, double *out) {
  cb_state *state = NULL;
  cb_forces *forces = NULL;
  cb_status status = cb_state_create(system, &state);
  if (!status) status = cb_system_start(system, state);
  if (!status) status = cb_forces_create(system, &forces);
  if (!status) status = cb_forces_set_origins(forces, state->origin);
  if (!status) status = cb_forces_potential(forces, 0, state->x, out);
  cb_forces_free(forces);
  cb_state_free(state);
  return status;
}

/* Of twice the mass twice the potential? */
static cb_status check_proportion(cb_scenario *s, const cb_node *potentials, const cb_node *bodies, size_t own,
                                  const cb_system *of_one) {
  cb_system *of_two = NULL;
  double one = 0, two = 0;
  cb_status status = build(s, potentials, bodies, own, 2, &of_two);
  if (!status) status = value(of_one, &one);
  if (!status) status = value(of_two, &two);
  cb_system_free(of_two);
  if (status || !isfinite(one) || !isfinite(two) || fabs(two - 2 * one) <= 1e-9 * (fabs(one) + fabs(two)))
    return status;
  return cb_node_fail(potentials,
                      "potentials that are %g for 1 kg and %g for 2 kg at one place: a body is a continuum, expected "
                      "expressions in proportion to m",
                      one, two);
}

cb_status cb_scenario_read_potentials(cb_scenario *s, const cb_node *potentials, const cb_node *bodies) {
  cb_fluid_scenario *m = s->fluid;
  if (!potentials) return CB_OK;
  if (!s->space)
    return cb_node_fail(potentials, "`potentials` beside `fluid`: expected `gravity` in `fluid`, or a curved `space`");
  if (m->fluid.curvature == 0)
    return cb_node_fail(potentials, "`potentials` beside `fluid` are of curved spaces: in e3 expected `gravity`");
  cb_status status = check_all(potentials);
  if (status || !bodies || bodies->kind != CB_NODE_LIST) return status;
  m->potential = cb_arena_alloc(s->arena, bodies->count, sizeof *m->potential);
  s->failed = cb_arena_alloc(s->arena, bodies->count, sizeof *s->failed);
  if (!m->potential || !s->failed) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", bodies->count);
  s->bodies = bodies;
  for (size_t i = 0; i < bodies->count && !status; i++) {
    m->n_potentials = i + 1;
    status = build(s, potentials, bodies, i, 1, &m->potential[i]);
    if (!status) status = check_proportion(s, potentials, bodies, i, m->potential[i]);
  }
  return status;
}
