/* Bundles of a surface that deforms: `surface_drag` and `immersed`.
 *
 *   bundle: {name: surface_drag, mesh: eel.obj, poses: {y: "Y + 0.1*sin(2*pi*(X - t))"}, normal: 2, tangential: 1}
 *           one shape variable, `phase`: the poses over `cycle` seconds, beginning at `start`
 *   bundle: {name: immersed, shape: {name: ellipsoid}, variables: [a, b], motion: {y: "Y + a*X^2 + b*X^3"},
 *            density: 1000, fluid: {density: 998}, added_mass: exact}
 *           expressions of X, Y, Z and of the shape variables, for all parts or {parts: [{part: .., y: ..}]}
 *   with space: {name: h3, curvature: -1}, chart, and shift: ["l*cos(a)", "l*sin(a)", 0] next to a motion's x, y, z:
 *           parts are embedded around the origin; then the transvection to the point with the normal coordinates
 *           `shift` moves them
 * The keys shape, mesh, scale and poses are read in scenario/scenario_poses.c; density, thickness, mass, parts, points
 * and mass_model in scenario/scenario_immersed.c; and parameters as in `fluid`.
 */
#include "fluid/immersed_bundle.h"
#include "scenario/bundle_scenario.h"
#include "scenario/fluid.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct surface_parameters {
  const cb_node *shape, *mesh, *weld, *close, *poses, *variables, *motion, *period, *parameters;
  double scale, start, cycle;
  double normal, tangential; /* keys of `surface_drag` only */
  /* keys of `immersed` only */
  const cb_node *space, *fluid, *added_mass, *density, *thickness, *mass, *parts, *points;
  const char *mass_model;
  int chart;
} surface_parameters;

#define NODE(field, doc) \
  { #field, CB_PARAM_NODE, offsetof(surface_parameters, field), "", "", "", NULL, doc }
#define SURFACE                                                                                                        \
  NODE(shape, "a name of `curvebody list shapes`, or a map of it and its parameters"),                                 \
      NODE(mesh, "an OBJ, PLY, STL or OFF file"),                                                                      \
      {"scale", CB_PARAM_REAL, offsetof(surface_parameters, scale), "1", "", "> 0", NULL, "metres per unit of files"}, \
      NODE(weld, "for files: true joins coinciding vertices; a number joins vertices up to this distance"),            \
      NODE(close, "for files: true closes small holes; a number is their maximum share of the area"),                  \
      NODE(poses, "poses as for a body in a fluid: the shape variable is their phase"),                                \
      {"start", CB_PARAM_REAL, offsetof(surface_parameters, start), "0", "s",                                          \
       "",      NULL,          "with `poses`: time of phase 0"},                                                       \
      {"cycle",                                                                                                        \
       CB_PARAM_REAL,                                                                                                  \
       offsetof(surface_parameters, cycle),                                                                            \
       "nan",                                                                                                          \
       "s",                                                                                                            \
       "> 0",                                                                                                          \
       NULL,                                                                                                           \
       "with `poses`: duration of a cycle of the phase (default: the period of `poses`, or 1)"},                       \
      NODE(variables, "list of names of shape variables, instead of `poses`"),                                         \
      NODE(motion, "with `variables`: {x: .., y: .., z: ..} of X, Y, Z and them, or {parts: [{part: .., y: ..}]}"),    \
      NODE(period, "with `variables`: {NAME: PERIOD} for variables that are angles"),                                  \
      NODE(parameters, "map of named numbers for expressions")

static const cb_param drag_table[] = {SURFACE,
                                      {"normal", CB_PARAM_REAL, offsetof(surface_parameters, normal), "2", "N s/m3",
                                       ">= 0", NULL, "k_n, drag across a face per area and velocity"},
                                      {"tangential", CB_PARAM_REAL, offsetof(surface_parameters, tangential), "1",
                                       "N s/m3", ">= 0", NULL, "k_t, drag along a face per area and velocity"},
                                      {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_param immersed_table[] = {
    SURFACE,
    NODE(space,
         "space that the fluid fills: e3, s3 or h3, or {name: .., curvature: ..} "
         "(default: e3)"),
    {"chart", CB_PARAM_CHOICE, offsetof(surface_parameters, chart), "exponential", "", "", "exponential|gnomonic",
     "map from flat to curved space: `exponential` preserves distances from the origin, `gnomonic` maps flat faces to "
     "geodesic planes"},
    NODE(fluid, "{density: KG/M3} (default: none)"),
    NODE(added_mass,
         "fluid model of the added mass: a name, or {name: .., ..} "
         "(default: local)"),
    NODE(density, "as for a body in a fluid"),
    NODE(thickness, "as for a body in a fluid"),
    NODE(mass, "as for a body in a fluid"),
    NODE(parts, "as for a body in a fluid"),
    NODE(points, "as for a body in a fluid"),
    {"mass_model", CB_PARAM_STRING, offsetof(surface_parameters, mass_model), "solid", "", "", NULL,
     "solid or vertices, as for a body in a fluid"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status bind(const cb_param *table, const cb_node *map, surface_parameters *p) {
  static const char *const name[] = {"name"};
  const cb_status status = cb_params_bind(table, map, map, name, 1, p);
  if (status) return status;
  static const char *const of_gait[] = {"gait", "variables"};
  for (int i = 0; i < 2; i++)
    if (cb_node_get(p->poses, of_gait[i]))
      return cb_node_fail(cb_node_get(p->poses, of_gait[i]),
                          "`%s` in `poses` applies only to bodies in a `fluid`: expected the key `%s` of the %s",
                          of_gait[i], of_gait[i], i ? "bundle" : "scenario");
  if (p->motion && p->poses) return cb_node_fail(p->motion, "`motion` next to `poses`: expected only one of them");
  if (p->motion && !p->variables) return cb_node_fail(map, "expected `variables`, the names that `motion` uses");
  if (p->variables && !p->motion) return cb_node_fail(map, "expected `motion`, the motion that the variables describe");
  if (!p->motion && !p->poses) return cb_node_fail(map, "expected `poses`, or `variables` and `motion`");
  if (p->period && !p->variables) return cb_node_fail(p->period, "`period` applies only to `variables`");
  return CB_OK;
}

/* --- poses --- */

static cb_status over_phase(const cb_node *map, const surface_parameters *p, cb_bundle_scenario *m) {
  const cb_poses *poses = m->body->poses;
  const bool sequence = cb_poses_count(poses) > 0;
  const double start = p->start + (sequence && !cb_node_get(map, "start") ? cb_poses_time(poses, 0) : 0),
               cycle = !isnan(p->cycle)    ? p->cycle
                       : poses->period > 0 ? poses->period
                                           : 1;
  return cb_shape_surface_of_poses(poses, m->body->surface, start, cycle, &m->shape);
}

/* --- in a curved space --- */

static cb_status read_curvature(const cb_node *node, double *K) {
  cb_space *g = NULL;
  if (!node) return CB_OK;
  const cb_status status = cb_space_read(node, &g);
  if (status) return status;
  const bool even = !g->intrinsic && g->n_factors == 1 && g->dim == 3, chart = g->chart;
  if (even) *K = g->factor[0].curvature;
  cb_space_free(g);
  const cb_node *name = node->kind == CB_NODE_MAP ? cb_node_get(node, "name") : node;
  if (!even)
    return cb_node_fail(name ? name : node,
                        "space: expected e3, s3 or h3, whose isometries can move a body to every point "
                        "and rotate it");
  return chart
             ? cb_node_fail(cb_node_get(node, "chart"), "space: expected no `chart`: set `chart` of the bundle instead")
             : CB_OK;
}

static cb_status read_shifts(cb_scenario *s, const cb_node *const *from, size_t count, cb_shape_shift **out, int *n,
                             const cb_node ***nodes) {
  cb_shape_shift *shift = cb_arena_alloc(s->arena, count, sizeof *shift);
  const cb_node **node = cb_arena_alloc(s->arena, count, sizeof *node);
  if (!shift || !node) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu motions", count);
  for (size_t i = 0; i < count; i++) {
    const cb_node *given = cb_node_get(from[i], "shift"), *part = cb_node_get(from[i], "part");
    if (!given) continue;
    if (given->kind != CB_NODE_LIST || given->count != 3)
      return cb_node_fail(given, "shift: expected [x, y, z], three expressions of the variables");
    cb_status status = part ? cb_node_string(part, &shift[*n].part) : CB_OK;
    for (int k = 0; k < 3 && !status; k++) status = cb_node_string(given->items[k], &shift[*n].text[k]);
    if (status) return status;
    node[(*n)++] = given;
  }
  *out = shift;
  *nodes = node;
  return CB_OK;
}

/* Embeds the deforming surface in the curved space, and then the surface of the body. This order is necessary, because
 * the motion of the deforming surface refers to the flat surface of the body. Does nothing in flat space without
 * shifts. */
static cb_status embed(cb_scenario *s, const cb_node *map, const surface_parameters *p, cb_bundle_scenario *m,
                       const cb_poses_parameters *parameters, const cb_node *const *from, size_t count) {
  cb_surface_embedding to = {0, (cb_surface_chart)p->chart};
  cb_shape_shift *shift = NULL;
  const cb_node **node = NULL;
  size_t which = 0, at = 0;
  int n = 0, coordinate = 0;
  cb_status status = read_curvature(p->space, &to.K);
  if (!status) status = read_shifts(s, from, count, &shift, &n, &node);
  if (status || (to.K == 0 && n == 0)) return status;
  cb_shape_surface *flat = m->shape;
  m->shape = NULL;
  const cb_shape_shifts shifts = {n, shift, parameters};
  status = cb_shape_surface_embed(flat, to, &shifts, &which, &coordinate, &at, &m->shape);
  if (status == CB_ERROR_INPUT) return cb_node_fail_at(node[which]->items[coordinate], at, "%s", cb_error_text());
  const cb_node *body = p->mesh ? p->mesh : p->shape ? p->shape : map;
  return status ? status : cb_scenario_placed(s, cb_surface_embed(m->body->surface, to.K, to.chart), body, false);
}

static cb_status by_variables(cb_scenario *s, const cb_node *map, const surface_parameters *p, cb_bundle_scenario *m) {
  const cb_fluid_scenario *i = s->own;
  const cb_poses_parameters parameters = {i->parameter, i->parameter_value, i->n_parameters};
  const char **name = NULL;
  cb_poses_motion *motion = NULL;
  const cb_node **from = NULL;
  size_t count = 0, which = 0, at = 0;
  int n = 0, coordinate = 0;
  cb_status status = cb_scenario_read_variables(s, p->variables, &parameters, &n, &name);
  if (!status) status = cb_scenario_read_motions(s, p->motion, false, &motion, &from, &count);
  if (status) return status;
  const cb_shape_text text = {n, name, count, motion, &parameters};
  status = cb_shape_surface_expressions_in(m->body->surface, &text, &which, &coordinate, &at, &m->shape);
  if (status == CB_ERROR_INPUT) {
    static const char *const coordinates[] = {"x", "y", "z"};
    const cb_node *given = cb_node_get(from[which], coordinates[coordinate]);
    return given ? cb_node_fail_at(given, at, "%s", cb_error_text()) : cb_node_fail(from[which], "%s", cb_error_text());
  }
  if (!status) status = cb_scenario_read_periods(p->period, n, name, m->shape->period);
  return status ? status : embed(s, map, p, m, &parameters, from, count);
}

/* --- the surface, then the bundle --- */

static cb_status read_shape(cb_scenario *s, const cb_node *map, const surface_parameters *p, cb_bundle_scenario *m) {
  m->body = cb_arena_alloc(s->arena, 1, sizeof *m->body);
  if (!m->body) return cb_fail(CB_ERROR_MEMORY, "no memory for a surface");
  cb_status status = cb_scenario_read_parameters(s, p->parameters);
  const cb_surface_keys keys = {p->shape, p->mesh, p->weld, p->close, p->poses, p->scale};
  if (!status) status = cb_scenario_read_surface(s, map, &keys, m->body);
  if (!status) status = p->poses ? over_phase(map, p, m) : by_variables(s, map, p, m);
  return status || !p->poses ? status : embed(s, map, p, m, NULL, NULL, 0);
}

typedef cb_status make_bundle(cb_scenario *s, const cb_node *map, const surface_parameters *p, cb_bundle_scenario *m,
                              cb_bundle **out);

/* Reads a bundle. During this call s->own is a cb_fluid_scenario, because the functions that read a body in a fluid
 * need one; this struct also contains the parameters that expressions of the body use. */
static cb_status within(cb_scenario *s, const cb_node *map, const surface_parameters *p, make_bundle *make,
                        cb_bundle **out) {
  cb_bundle_scenario *m = s->own;
  cb_fluid_scenario *fluid = cb_arena_alloc(s->arena, 1, sizeof *fluid);
  if (!fluid) return cb_fail(CB_ERROR_MEMORY, "no memory for a surface");
  s->own = fluid;
  cb_status status = read_shape(s, map, p, m);
  if (!status) status = make(s, map, p, m, out);
  s->own = m;
  return status;
}

static cb_status make_drag(cb_scenario *s, const cb_node *map, const surface_parameters *p, cb_bundle_scenario *m,
                           cb_bundle **out) {
  (void)s, (void)map;
  return cb_bundle_surface_drag(m->shape, p->normal, p->tangential, out);
}

static cb_status read_drag(cb_scenario *s, const cb_node *map, cb_bundle **out) {
  surface_parameters p = {.space = NULL};
  const cb_status status = bind(drag_table, map, &p);
  return status ? status : within(s, map, &p, make_drag, out);
}

static cb_status make_immersed(cb_scenario *s, const cb_node *map, const surface_parameters *p, cb_bundle_scenario *m,
                               cb_bundle **out) {
  static const char *const keys[] = {"density"};
  cb_immersed_options matter;
  cb_immersed_bundle_options options = {.density = 0};
  cb_status status = CB_OK;
  if (p->fluid) {
    const cb_node *density = cb_node_get(p->fluid, "density"), *flow = cb_node_get(p->fluid, "flow");
    if (flow) return cb_node_fail(flow, "`flow`: expected no flow: the fluid around the body of a bundle is at rest");
    status = cb_node_check_keys(p->fluid, keys, 1);
    if (!status)
      status = density ? cb_node_real(density, &options.density) : cb_node_fail(p->fluid, "expected `density`");
    if (!status && !(options.density >= 0)) status = cb_node_fail(density, "expected a density >= 0");
  }
  if (!status && p->added_mass && !p->fluid)
    status = cb_node_fail(p->added_mass, "`added_mass` without `fluid`: expected `fluid: {density: ..}`");
  if (!status && p->added_mass) status = cb_scenario_read_added_mass(p->added_mass, &m->body->added_mass);
  if (!status) status = cb_scenario_read_matter(s, map, m->body->surface, &matter);
  if (status) return status;
  options.material = matter.material;
  options.n_points = matter.n_points;
  options.points = matter.points;
  options.lumped = matter.lumped;
  options.added_mass = m->body->added_mass;
  m->material = matter.material;
  m->fluid = options.density;
  return cb_bundle_immersed(m->shape, &options, out);
}

static cb_status read_immersed(cb_scenario *s, const cb_node *map, cb_bundle **out) {
  surface_parameters p = {.space = NULL};
  const cb_status status = bind(immersed_table, map, &p);
  return status ? status : within(s, map, &p, make_immersed, out);
}

const cb_scenario_bundle_class cb_scenario_bundle_surface_drag = {
    "surface_drag", "Surface at low Reynolds number", "each piece of the surface has drag from its own motion; SE(3)",
    drag_table, read_drag};
const cb_scenario_bundle_class cb_scenario_bundle_immersed = {
    "immersed", "Body in an ideal fluid",
    "inertia and added mass of a surface that deforms; SE(3), SO(4) in s3, SO(3,1) in h3", immersed_table,
    read_immersed};
