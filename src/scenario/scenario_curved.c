/* The keys `space:` and `potentials:` next to `fluid:`: the space that the fluid fills, the keys that have no meaning
 * in a curved space, and potentials.
 *
 *   space: {name: h3, curvature: -1}     e3, s3 or h3: isometries move a body from any point to any other and rotate it
 *   fluid: {medium: 1, added_mass: exact}                    exact, local or none; at rest, with one density
 *   bodies: [{shape: {name: ball, radius: 0.5}, chart: exponential, place: {position: [0.5, 0, 0]}}]
 * The key `chart` of a body selects the embedding of its flat surface in the space (curvebody/surface.h).
 * place.position is a tangent vector at the base point: after `rotation` the body is moved along the geodesic with this
 * initial velocity. The motion along the geodesic also moves the axes of the world, to which `motion` and wrenches
 * refer.
 */
#include "scenario/fluid.h"
#include "numerics/numerics_curved.h"
#include "tree/scalar.h"
#include <curvebody/pair_potential.h>

#include <math.h>
#include <string.h>
#include <stdio.h>

static double curvature(const cb_scenario *s) { return cb_fluid_scenario_of(s)->fluid.curvature; }

/* --- the space --- */

cb_status cb_scenario_read_filled(cb_scenario *s, const cb_node *node) {
  const cb_status status = cb_scenario_read_space(s, node);
  if (status) return status;
  const cb_space *g = s->space;
  if (g->intrinsic || g->n_factors != 1 || g->dim != 3)
    return cb_node_fail(node->kind == CB_NODE_MAP && cb_node_get(node, "name") ? cb_node_get(node, "name") : node,
                        "`%s` has no isometries that can move a body to every point and rotate it: expected e3, s3 or "
                        "h3 for a fluid",
                        g->class_ ? g->class_->name : "it");
  if (cb_node_get(node, "chart"))
    return cb_node_fail(cb_node_get(node, "chart"),
                        "bodies in a fluid are moved by isometries, not by coordinates: expected no `chart` of the "
                        "space; set `chart` of the body instead");
  cb_fluid_scenario_of(s)->fluid.curvature = g->factor[0].curvature;
  return CB_OK;
}

/* --- the fluid --- */

static cb_status none(const cb_node *node, const char *name, const char *why) {
  return cb_node_fail(node, "`%s` has no meaning in a curved space: %s", name, why);
}

static const cb_node *model_name(const cb_node *model) {
  return model->kind == CB_NODE_MAP ? cb_node_get(model, "name") : model;
}

/* Fails for a fluid model that is not valid in a curved space. Only the local model, and the exact model without a
 * wall, are valid there. */
static cb_status check_model(const cb_node *node, const cb_fluid_model *m, bool forces) {
  const char *why = cb_immersed_curved_model(m, forces);
  const cb_node *wall = node->kind == CB_NODE_MAP ? cb_node_get(node, "wall") : NULL;
  if (why) return cb_node_fail(model_name(node), "in a curved space: the fluid model `%s` %s", m->class_->name, why);
  if (wall && wall->text && strcmp(wall->text, "none"))
    return none(wall, "wall", "it uses mirror images in a flat plane; expected no wall");
  return CB_OK;
}

static cb_status check_models(const cb_node *node, const cb_fluid_models *models) {
  if (!node) return CB_OK;
  cb_errors errors = cb_errors_begin();
  for (int i = 0; i < models->n; i++) {
    const cb_node *item = node->kind == CB_NODE_LIST ? node->items[i] : node;
    cb_status status = check_model(item, models->list[i], true);
    if (!status) status = check_model(item, models->list[i], false);
    cb_errors_add(&errors, item, status);
  }
  return cb_errors_end(&errors);
}

static bool rests(const cb_flow *flow) {
  static const double origin[1][3];
  double u[1][3];
  if (!flow) return true;
  if (!cb_flow_is_even(flow) || !cb_flow_is_steady(flow) || cb_flow_at(flow, 0, 1, origin, u, NULL, NULL)) return false;
  return u[0][0] == 0 && u[0][1] == 0 && u[0][2] == 0;
}

cb_status cb_scenario_check_filling(const cb_scenario *s, const cb_node *fluid) {
  const cb_fluid_scenario *m = s->own;
  const double *g = m->fluid.gravity;
  const cb_node *gravity = cb_node_get(fluid, "gravity"), *flow = cb_node_get(fluid, "flow"),
                *medium = cb_node_get(fluid, "medium"), *floor = cb_node_get(fluid, "floor"),
                *compat = cb_node_get(fluid, "compat"), *added = cb_node_get(fluid, "added_mass");
  if (curvature(s) == 0) return CB_OK;
  cb_errors errors = cb_errors_begin();
  if (gravity && (g[0] != 0 || g[1] != 0 || g[2] != 0))
    cb_errors_add(&errors, gravity,
                  none(gravity, "gravity", "there is no uniform direction; expected `potentials` next to `fluid`"));
  if (flow && !rests(m->flow))
    cb_errors_add(&errors, flow,
                  none(flow, "flow",
                       "a motion of the space with velocity v has the vorticity 2 K v, so there is no uniform stream; "
                       "expected a fluid at rest"));
  if (medium && m->medium && !cb_medium_is_uniform(m->medium))
    cb_errors_add(&errors, medium,
                  cb_node_fail(medium,
                               "a fluid in a curved space has one density, because there are no heights for layers and "
                               "expressions: expected a number"));
  if (floor)
    cb_errors_add(
        &errors, floor,
        none(floor, "floor", "there is no plane at a height; expected `potentials` to keep a body in a region"));
  if (m->fluid.paper)
    cb_errors_add(
        &errors, compat,
        none(compat, "compat: paper", "the paper's momentum is defined only in flat space; expected relative"));
  cb_errors_add(&errors, cb_node_get(fluid, "model"), check_models(cb_node_get(fluid, "model"), &m->models));
  if (added && m->added_mass) cb_errors_add(&errors, added, check_model(added, m->added_mass, false));
  return cb_errors_end(&errors);
}

/* --- bodies --- */

static cb_status refuse(const cb_node *body, const char *key, const char *why) {
  const cb_node *node = cb_node_get(body, key);
  return node ? cb_node_fail(node, "`%s` in a curved space: %s", key, why) : CB_OK;
}

cb_status cb_scenario_check_curved_body(const cb_scenario *s, const cb_node *body) {
  const cb_node *chart = cb_node_get(body, "chart"), *lumped = cb_node_get(body, "mass_model"),
                *added = cb_node_get(body, "added_mass");
  const cb_immersed_kind *kind = cb_fluid_scenario_of(s)->kind + cb_fluid_scenario_of(s)->n_kinds - 1;
  cb_errors errors = cb_errors_begin();
  if (chart && !s->space)
    cb_errors_add(&errors, chart,
                  cb_node_fail(chart, "`chart` maps a body into a curved space: expected `space` next to `fluid`"));
  if (curvature(s) == 0) return cb_errors_end(&errors);
  cb_errors_add(&errors, body, refuse(body, "poses", "expected no poses: bodies are rigid there"));
  cb_errors_add(&errors, body,
                refuse(body, "thickness", "expected no thickness: bodies are solids there, without open parts"));
  if (lumped && lumped->text && !strcmp(lumped->text, "vertices"))
    cb_errors_add(&errors, lumped, refuse(body, "mass_model", "expected solid"));
  cb_errors_add(&errors, cb_node_get(body, "model"), check_models(cb_node_get(body, "model"), &kind->models));
  if (added && kind->added_mass) cb_errors_add(&errors, added, check_model(added, kind->added_mass, false));
  return cb_errors_end(&errors);
}

static cb_status read_chart(const cb_node *node, cb_surface_chart *out) {
  static const char *const names[] = {"exponential", "gnomonic"};
  const char *text;
  *out = CB_CHART_EXPONENTIAL;
  if (!node) return CB_OK;
  const cb_status status = cb_node_string(node, &text);
  if (status) return status;
  for (int i = 0; i < 2; i++)
    if (!strcmp(text, names[i])) {
      *out = (cb_surface_chart)i;
      return CB_OK;
    }
  return cb_fail_unknown(node, "chart", text, names, 2);
}

/* Checks that no edge of a face on a sphere is longer than a quarter of a great circle. */
static cb_status check_edges(const cb_node *at, const cb_surface *surface) {
  const double K = surface->curvature;
  for (int f = 0; K > 0 && f < surface->faces; f++)
    for (int k = 0; k < 3; k++) {
      const double *a = surface->x[surface->face[f][k]], *b = surface->x[surface->face[f][(k + 1) % 3]];
      double p[4], q[4];
      cb_curved_point(K, a, p);
      cb_curved_point(K, b, q);
      if (cb_curved_form(K, p, q) < 0)
        return cb_node_fail(at,
                            "face %d has an edge that is longer than a quarter of a great circle, so its triangle is "
                            "ambiguous: expected finer faces, or a smaller body",
                            f + 1);
    }
  return CB_OK;
}

cb_status cb_scenario_embed(cb_scenario *s, const cb_node *body, const cb_node *chart, cb_surface *surface) {
  cb_surface_chart by;
  const cb_node *shape = cb_node_get(body, "shape"), *at = shape ? shape : cb_node_get(body, "mesh");
  cb_status status = read_chart(chart, &by);
  if (status || curvature(s) == 0) return status;
  if (!at) at = body;
  int p = 0;
  while (p < surface->parts && !surface->open[p]) p++;
  if (p < surface->parts) {
    char border[CB_SURFACE_BORDER_TEXT];
    if ((status = cb_surface_border_text(surface, p, "weld", border))) return status;
    return cb_node_fail(at, "part `%s` is open: expected closed parts, because bodies in a curved space are solids; %s",
                        surface->name[p], border);
  }
  status = cb_scenario_placed(s, cb_surface_embed(surface, curvature(s), by), at, false);
  return status ? status : check_edges(at, surface);
}

cb_status cb_scenario_check_place(const cb_scenario *s, const cb_node *position, const double x[3]) {
  const double K = curvature(s), far = sqrt(cb_dot3(x, x));
  if (K > 0 && far > M_PI / sqrt(K))
    return cb_node_fail(
        position, "the tangent vector has length %g: expected at most %g, the distance to the antipode on this sphere",
        far, M_PI / sqrt(K));
  return CB_OK;
}

/* --- joints --- */

cb_status cb_scenario_check_curved_joint(const cb_scenario *s, const cb_node *joint, const cb_joint_class *class) {
  const cb_node *couple = cb_node_get(joint, "couple");
  char known[256] = "";
  size_t length = 0;
  if (curvature(s) == 0) return CB_OK;
  if (class->curved && couple)
    return cb_node_fail(couple, "coordinates of joints are coupled only in flat space: expected no `couple`");
  if (class->curved) return CB_OK;
  for (int i = 0; cb_joint_classes[i] && length < sizeof known; i++)
    if (cb_joint_classes[i]->curved)
      length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", length ? ", " : "",
                                 cb_joint_classes[i]->name);
  return cb_node_fail(cb_node_get(joint, "kind"),
                      "a joint of kind %s exists only in flat space: expected one of %s in a curved space", class->name,
                      known);
}

/* --- the run --- */

cb_status cb_scenario_check_curved_run(const cb_scenario *s) {
  const cb_integrator *in = s->integrator;
  int order = 0;
  bool symplectic, symmetric;
  if (curvature(s) == 0 || !in) return CB_OK;
  if (!strcmp(in->class_->name, "mujoco_rk4"))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the integrator mujoco_rk4 works only in flat space: expected hamilton_pontryagin or rkmk4");
  if (cb_fluid_scenario_of(s)->joints && !in->class_->drift_joined)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the integrator %s does not move bodies with joints in a curved space: expected hamilton_pontryagin",
                   in->class_->name);
  in->class_->properties(in, &order, &symplectic, &symmetric);
  if (cb_fluid_scenario_of(s)->joints && order == 1)
    return cb_fail(CB_ERROR_UNSUPPORTED, "`damped: true` works only in flat space: expected no `damped`");
  return CB_OK;
}

/* --- potentials ---
 *
 * The potentials of particles (scenario/scenario_forces.c) act on the matter of bodies and on the displaced fluid.
 * In e3 they act on the centre of mass of a body (scenario/scenario_points.c).
 *
 *   potentials: [{central: {pair_potential: gravity, strength: 10, at: .., body: a}},
 *                {expression: {chart: .., value: "m*9.81*z"}}]
 * A body is a continuum: each kg of it, and of the fluid, has the potential of a particle of 1 kg without charge. A
 * potential must therefore be proportional to the mass. `body` names entries of `bodies`, with all their copies. Each
 * entry has a system with one particle of 1 kg.
 */

/* --- potentials without a meaning for bodies --- */

static cb_status check_one(const cb_node *node) {
  const cb_node *at;
  const cb_pair_potential_class *c = cb_scenario_pair_potential_of(node, &at);
  /* check_proportion checks these potentials */
  if (!c || c->expression || c->factor == CB_PAIR_FACTOR_MASS) return CB_OK;
  return cb_node_fail(at,
                      "the force of `%s` does not depend on mass, but a body is a continuum: expected gravity, or an "
                      "expression of m, such as m*k*d^2/2",
                      c->name);
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

/* Makes the system of entry number `own`: all entries are bodies, so that `body` can name them, but only this one has a
 * particle. The particle is not at the base point, where a potential may be undefined. */
static cb_status build(cb_scenario *s, const cb_node *potentials, const cb_node *bodies, size_t own, double mass,
                       cb_system **out) {
  const double K = cb_fluid_scenario_of(s)->fluid.curvature, r = 0.3, R = 1 / sqrt(fabs(K)), still[4] = {0},
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
  if (!status) status = cb_scenario_read_forces(s, potentials, NULL, NULL);
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

/* Checks that the potential of twice the mass is twice as large, to 1e-9, at the point of the particle. A potential
 * that is not finite there is accepted. */
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
                      "the potential is %g for 1 kg and %g for 2 kg at the same point: expected expressions "
                      "proportional to m, because a body is a continuum",
                      one, two);
}

cb_status cb_scenario_read_potentials(cb_scenario *s, const cb_node *potentials, const cb_node *bodies) {
  cb_fluid_scenario *m = s->own;
  if (!potentials || m->fluid.curvature == 0) return CB_OK;
  cb_status status = check_all(potentials);
  if (status || !bodies || bodies->kind != CB_NODE_LIST) return status;
  m->potential = cb_arena_alloc(s->arena, bodies->count, sizeof *m->potential);
  s->failed = cb_arena_alloc(s->arena, bodies->count, sizeof *s->failed);
  if (!m->potential || !s->failed) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", bodies->count);
  s->bodies = bodies;
  for (size_t i = 0; i < bodies->count && !status; i++) {
    m->n_potentials = i + 1;
    if (cb_node_get(bodies->items[i], "kind")) continue; /* particles */
    status = build(s, potentials, bodies, i, 1, &m->potential[i]);
    if (!status) status = check_proportion(s, potentials, bodies, i, m->potential[i]);
  }
  return status;
}
