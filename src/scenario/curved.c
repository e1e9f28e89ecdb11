/* `space:` beside `fluid:`, the space that it fills, and what has no meaning there.
 *
 *   space: {name: h3, curvature: -1}     e3, s3 or h3: isometries carry a body from any place to any other and turn it
 *   fluid: {medium: 1, added_mass: exact}                    exact, local or none; at rest, of one density
 *   bodies: [{shape: {name: ball, radius: 0.5}, chart: exponential, place: {position: [0.5, 0, 0]}}]
 * chart (of a body): how its flat surface is laid into the space (curvebody/surface.h). place.position: the tangent vector
 * at the base point along whose geodesic the body is carried there, after `rotation`; the world's axes of `motion` and of
 * wrenches are carried along with it.
 */
#include "scenario/fluid.h"

#include "numerics/curved.h"
#include "tree/scalar.h"

#include <math.h>
#include <string.h>

static double curvature(const cb_scenario *s) { return s->fluid->fluid.curvature; }

/* --- the space --- */

cb_status cb_scenario_read_filled(cb_scenario *s, const cb_node *node) {
  const cb_status status = cb_scenario_read_space(s, node);
  if (status) return status;
  const cb_geometry *g = s->space;
  if (g->intrinsic || g->n_factors != 1 || g->dim != 3)
    return cb_node_fail(node->kind == CB_NODE_MAP && cb_node_get(node, "name") ? cb_node_get(node, "name") : node,
                        "`%s` has no isometries that carry a body to every place and turn it: expected e3, s3 or h3 "
                        "for a fluid",
                        g->kind ? g->kind->name : "it");
  if (cb_node_get(node, "chart"))
    return cb_node_fail(cb_node_get(node, "chart"),
                        "bodies in a fluid are moved by isometries, not by coordinates: "
                        "expected no `chart` of the space (that of a body lays its surface)");
  s->fluid->fluid.curvature = g->factor[0].curvature;
  return CB_OK;
}

/* --- the fluid --- */

static cb_status none(const cb_node *node, const char *name, const char *why) {
  return cb_node_fail(node, "`%s` has no meaning in a curved space: %s", name, why);
}

static const cb_node *model_name(const cb_node *model) {
  return model->kind == CB_NODE_MAP ? cb_node_get(model, "name") : model;
}

/* The local model, and the exact one without a wall; others as they are told apart by the library. */
static cb_status check_model(const cb_node *node, const cb_fluid_model *m, bool forces) {
  const char *why = cb_immersed_curved_model(m, forces);
  const cb_node *wall = node->kind == CB_NODE_MAP ? cb_node_get(node, "wall") : NULL;
  if (why) return cb_node_fail(model_name(node), "in a curved space: the fluid model `%s` %s", m->kind->name, why);
  if (wall && wall->text && strcmp(wall->text, "none"))
    return none(wall, "wall", "it is a plane that flat images are in; expected none");
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
  const cb_fluid_scenario *m = s->fluid;
  const double *g = m->fluid.gravity;
  const cb_node *gravity = cb_node_get(fluid, "gravity"), *flow = cb_node_get(fluid, "flow"),
                *medium = cb_node_get(fluid, "medium"), *floor = cb_node_get(fluid, "floor"),
                *compat = cb_node_get(fluid, "compat"), *added = cb_node_get(fluid, "added_mass");
  if (curvature(s) == 0) return CB_OK;
  cb_errors errors = cb_errors_begin();
  if (gravity && (g[0] != 0 || g[1] != 0 || g[2] != 0))
    cb_errors_add(
        &errors, gravity,
        none(gravity, "gravity", "no direction is the same everywhere; expected `potentials` beside `fluid`"));
  if (flow && !rests(m->flow))
    cb_errors_add(&errors, flow,
                  none(flow, "flow",
                       "a motion of the space with velocity v has the vorticity 2 K v, so there is no uniform stream; "
                       "expected a fluid at rest"));
  if (medium && m->medium && !cb_medium_is_uniform(m->medium))
    cb_errors_add(&errors, medium,
                  cb_node_fail(medium,
                               "in a curved space a fluid is of one density: layers and expressions are along "
                               "heights, of which there are none"));
  if (floor)
    cb_errors_add(&errors, floor,
                  none(floor, "floor", "it is a plane at a height; expected `potentials` to hold a body"));
  if (m->fluid.paper)
    cb_errors_add(&errors, compat,
                  none(compat, "compat: paper", "the paper's momentum is that of flat space; expected relative"));
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
  const cb_immersed_kind *kind = s->fluid->kind + s->fluid->n_kinds - 1;
  cb_errors errors = cb_errors_begin();
  if (chart && !s->space)
    cb_errors_add(&errors, chart,
                  cb_node_fail(chart, "`chart` lays a body into a space: expected `space` beside `fluid`"));
  if (curvature(s) == 0) return cb_errors_end(&errors);
  cb_errors_add(&errors, body, refuse(body, "poses", "bodies are rigid there"));
  cb_errors_add(&errors, body, refuse(body, "thickness", "bodies are solids there, without open parts"));
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
    if (!strcmp(text, names[i])) return *out = (cb_surface_chart)i, CB_OK;
  return cb_fail_unknown(node, "chart", text, names, 2);
}

/* On a sphere geodesics have no length beyond half of it. */
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
                            "face %d has an edge of more than a quarter of a great circle, so that it is not plain "
                            "which triangle it is: expected finer faces, or a smaller body",
                            f + 1);
    }
  return CB_OK;
}

cb_status cb_scenario_lay(cb_scenario *s, const cb_node *body, const cb_node *chart, cb_surface *surface) {
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
    return cb_node_fail(at, "part `%s` is open: in a curved space bodies are solids, expected closed parts; %s",
                        surface->name[p], border);
  }
  status = cb_scenario_placed(s, cb_surface_lay(surface, curvature(s), by), at, false);
  return status ? status : check_edges(at, surface);
}

cb_status cb_scenario_check_place(const cb_scenario *s, const cb_node *position, const double x[3]) {
  const double K = curvature(s), far = sqrt(cb_dot3(x, x));
  if (K > 0 && far > M_PI / sqrt(K))
    return cb_node_fail(position, "a tangent vector of length %g: on this sphere expected at most %g, to the antipode",
                        far, M_PI / sqrt(K));
  return CB_OK;
}

/* --- the run --- */

cb_status cb_scenario_check_curved_run(const cb_scenario *s) {
  if (curvature(s) == 0 || !s->integrator || strcmp(s->integrator->kind->name, "mujoco_rk4")) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED, "the method mujoco_rk4 is of flat space: expected hamilton_pontryagin or rkmk4");
}
