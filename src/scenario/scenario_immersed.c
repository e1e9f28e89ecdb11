/* The key `bodies:` of a scenario with a fluid: surfaces, their material, their poses and the forces on them.
 *
 *   - name: seed
 *     shape, mesh, scale, weld, close, poses   scenario/scenario_poses.c
 *     chart: exponential                   or gnomonic, in a curved space: scenario/scenario_curved.c
 *     density: 500, thickness: 5e-4        of all parts (thickness only of open parts); or mass: TOTAL
 *     parts: {wing: {density: 300, thickness: 3e-4}}
 *     points: [{mass: 1e-3, at: [0, 0, -0.05]}, {mass: 1e-3, vertex: 3}]
 *     inertial: {mass: 0.1, ..}            replaces the three lines above: see below
 *     mass_model: solid                    or vertices: masses at vertices, as in the paper
 *     model: local                         fluid model of forces, as in `fluid`, instead of the models of `fluid`
 *     added_mass: true                     or false, none, or a fluid model: NAME, {name: NAME, ..}
 *     buoyancy: true, drag: true, linear_drag: {normal: 0, tangential: 0}
 *     wrenches: [{name: thrust, frame: body, force: ["sin(t)", 0, 0], torque: [0, 0, 0], at: [0, 0, 0]}]
 *     place, motion, repeat                scenario/copies.c
 */
#include "tree/scalar.h"
#include "scenario/fluid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- `inertial:`: known mass properties, which replace those computed from density, masses and points ---
 *
 *   inertial: {mass: 0.4, at: [0, 0, 0.01], inertia: [Ixx, Iyy, Izz], quaternion: [w, x, y, z]}
 *   inertial: {mass: 0.4, inertia: [[Ixx, Ixy, Ixz], [Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]]}
 * The inertia is about the point `at` (default: the origin of the body frame). Its axes are rotated by `quaternion`
 * from the axes of the body frame (default: not rotated). Therefore J = R I R^T, where I is the given inertia and R the
 * rotation. J is constant even if the body has poses. Units: kg, m, kg m^2. */

typedef struct inertial_parameters {
  const cb_node *mass, *at, *inertia, *quaternion;
} inertial_parameters;

#define ROW(field, fallback, unit, doc) \
  { #field, CB_PARAM_NODE, offsetof(inertial_parameters, field), fallback, unit, "", NULL, doc }
const cb_param cb_inertial_table[] = {
    ROW(mass, NULL, "kg", "mass of the complete body, > 0"),
    ROW(at, "", "m", "the centre of mass in the body frame"),
    ROW(inertia, NULL, "kg m2", "[Ixx, Iyy, Izz], or three rows, about the centre of mass"),
    ROW(quaternion, "", "", "[w, x, y, z]: axes of the inertia in the body frame"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* Fails if the body has a key next to `inertial` that would also give a mass. */
static cb_status check_alone(const cb_node *body) {
  static const char *const others[] = {"density", "mass", "points"};
  const cb_node *beside = NULL, *parts = cb_node_get(body, "parts"), *model = cb_node_get(body, "mass_model");
  const char *name = NULL;
  for (size_t i = 0; i < sizeof others / sizeof *others && !beside; i++)
    if ((beside = cb_node_get(body, others[i]))) name = others[i];
  for (size_t i = 0; parts && i < parts->count && !beside; i++)
    if ((beside = cb_node_get(parts->items[i], "density"))) name = "density";
  if (!beside && model && !strcmp(model->text, "vertices")) {
    beside = model;
    name = "mass_model: vertices";
  }
  if (!name) return CB_OK;
  return cb_node_fail(
      beside,
      "`%s` next to `inertial`, which gives the mass of the complete body: expected `inertial` or `%s`, not both", name,
      name);
}

static cb_status read_matrix(const cb_scenario *s, const cb_node *node, double J[3][3]) {
  memset(J, 0, 9 * sizeof **J);
  if (node->kind != CB_NODE_LIST || node->count != 3)
    return cb_node_fail(node, "expected [Ixx, Iyy, Izz] or three rows of three");
  const bool rows = node->items[0]->kind == CB_NODE_LIST;
  double diagonal[3];
  cb_status status = rows ? CB_OK : cb_scenario_vector(s, node, 0, NULL, NULL, diagonal);
  for (int i = 0; i < 3 && !status; i++)
    if (rows)
      status = cb_scenario_vector(s, node->items[i], 0, NULL, NULL, J[i]);
    else
      J[i][i] = diagonal[i];
  return status ? status : cb_scenario_placed(s, cb_inertia_check((const double(*)[3])J), node, false);
}

/* Replaces J by R J R^T, where R is the rotation of the quaternion q, and makes the result exactly symmetric. */
static void turn(const double q[4], double J[3][3]) {
  cb_pose pose = {.q = {q[0], q[1], q[2], q[3]}};
  double R[3][3], out[3][3] = {{0}};
  cb_pose_rotation(&pose, R);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 9; k++) out[i][j] += R[i][k / 3] * J[k / 3][k % 3] * R[j][k % 3];
  for (int i = 0; i < 9; i++) J[i / 3][i % 3] = (out[i / 3][i % 3] + out[i % 3][i / 3]) / 2;
}

static cb_status read_inertial(cb_scenario *s, const cb_node *body, const cb_node *node, cb_immersed_options *options) {
  inertial_parameters p;
  double q[4] = {1};
  cb_point_mass *whole = cb_arena_alloc(s->arena, 1, sizeof *whole);
  if (!whole) return cb_fail(CB_ERROR_MEMORY, "no memory for a mass");
  *whole = (cb_point_mass){.vertex = -1};
  cb_status status = cb_params_bind(cb_inertial_table, node, node, NULL, 0, &p);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, check_alone(body));
  status = cb_scenario_number(s, p.mass, 0, NULL, NULL, &whole->mass);
  if (!status && !(whole->mass > 0)) status = cb_node_fail(p.mass, "expected a mass > 0, found %g", whole->mass);
  cb_errors_add(&errors, p.mass, status);
  if (p.at) cb_errors_add(&errors, p.at, cb_scenario_vector(s, p.at, 0, NULL, NULL, whole->x));
  cb_errors_add(&errors, p.inertia, read_matrix(s, p.inertia, whole->inertia));
  if (p.quaternion) cb_errors_add(&errors, p.quaternion, cb_scenario_quaternion(s, p.quaternion, 0, NULL, NULL, q));
  if (p.quaternion) turn(q, whole->inertia);
  options->points = whole;
  options->n_points = 1;
  return cb_errors_end(&errors);
}

typedef struct immersed_parameters {
  const char *name;
  const cb_node *shape, *mesh, *weld, *close, *chart, *poses, *parts, *points, *inertial, *model, *added_mass,
      *linear_drag, *wrenches, *place, *motion, *repeat, *spheres;
  double scale, density, thickness, mass, charge;
  int mass_model;
  bool buoyancy, drag;
} immersed_parameters;

#define NODE(field, doc) \
  { #field, CB_PARAM_NODE, offsetof(immersed_parameters, field), "", "", "", NULL, doc }
const cb_param cb_immersed_table[] = {
    {"name", CB_PARAM_STRING, offsetof(immersed_parameters, name), "", "", "", NULL,
     "name in records (default: body.NUMBER)"},
    NODE(shape,
         "a name of `curvebody list shapes`, a map with `name` and its parameters, or a list of shapes with positions"),
    NODE(mesh, "an OBJ, PLY, STL or OFF file"),
    {"scale", CB_PARAM_REAL, offsetof(immersed_parameters, scale), "1", "", "> 0", NULL, "metres per unit of files"},
    {"weld", CB_PARAM_NODE, offsetof(immersed_parameters, weld), "false", "m", "", NULL,
     "for files: true joins coinciding vertices (always done for STL); a number joins vertices up to this distance"},
    {"close", CB_PARAM_NODE, offsetof(immersed_parameters, close), "false", "", "", NULL,
     "for files: true closes each hole whose area is at most 0.1 of the area of the part that contains it; a number "
     "replaces 0.1"},
    NODE(chart,
         "map of the surface into a `space`: exponential (default; it preserves distances from the origin) or gnomonic "
         "(it maps flat faces to geodesic planes)"),
    NODE(poses,
         "{x: .., y: .., z: ..} of X, Y, Z, t; {parts: [..]}; {files: .., step: ..}; {sequence: .., step: ..}; "
         "{variables: [a], x: .., y: .., z: .., gait: {..}}"),
    {"density", CB_PARAM_REAL, offsetof(immersed_parameters, density), "1000", "kg/m3", ">= 0", NULL,
     "density of all parts"},
    {"thickness", CB_PARAM_REAL, offsetof(immersed_parameters, thickness), "nan", "m", "> 0", NULL,
     "thickness of open parts; their inertia does not include the term m thickness^2/12"},
    {"mass", CB_PARAM_REAL, offsetof(immersed_parameters, mass), "nan", "kg", "> 0", NULL,
     "mass of the complete body without points; densities are scaled to give this mass"},
    NODE(parts, "{NAME: {density: .., thickness: ..}}"),
    NODE(points, "list of {mass: .., at: [x, y, z]} and {mass: .., vertex: NUMBER}"),
    NODE(inertial, "{mass: .., at: [..], inertia: [..], quaternion: [..]} instead of densities and masses"),
    {"mass_model", CB_PARAM_CHOICE, offsetof(immersed_parameters, mass_model), "solid", "", "", "solid|vertices",
     "solid: mass in the volume; vertices: mass at the vertices"},
    NODE(model, "fluid model of forces: a name, {name: .., ..}, or a list of models (default: `model` of `fluid`)"),
    {"added_mass", CB_PARAM_NODE, offsetof(immersed_parameters, added_mass), "true", "", "", NULL,
     "added mass: true (as in `fluid`), false or none, or a fluid model: a name or {name: .., ..}"},
    {"buoyancy", CB_PARAM_BOOL, offsetof(immersed_parameters, buoyancy), "true", "", "", NULL,
     "includes the weight of the displaced fluid"},
    {"drag", CB_PARAM_BOOL, offsetof(immersed_parameters, drag), "true", "", "", NULL, "includes lift and drag"},
    NODE(linear_drag, "{normal: .., tangential: ..} in Pa s/m"),
    NODE(wrenches, "list of {name: .., frame: body|world, force: [..], torque: [..], at: [..]}"),
    NODE(spheres,
         "list of {at: [x, y, z], radius: r}: spheres on which walls and contacts act (default: walls act on all "
         "vertices)"),
    {"charge", CB_PARAM_REAL, offsetof(immersed_parameters, charge), "0", "", "", NULL,
     "charge at the centre of mass, for interactions and potentials"},
    NODE(place, "{position: [..], rotation: {axis: [..], angle: ..}} or {.., quaternion: [w, x, y, z]}"),
    NODE(motion,
         "{velocity: [..], spin: [..], frame: world|body}; frame: the frame whose axes are used (default: world)"),
    NODE(repeat, "{count: .., seed: ..}: copies, with expressions of i, n and random numbers r1 .. r9"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* --- material --- */

typedef struct part_parameters {
  double density, thickness;
} part_parameters;

const cb_param cb_part_table[] = {{"density", CB_PARAM_REAL, offsetof(part_parameters, density), "nan", "kg/m3", ">= 0",
                                   NULL, "density of the part (default: density of the body)"},
                                  {"thickness", CB_PARAM_REAL, offsetof(part_parameters, thickness), "nan", "m", "> 0",
                                   NULL, "thickness of an open part (default: thickness of the body)"},
                                  {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status find_part(const cb_surface *surface, const cb_node *key, int *part) {
  for (*part = 0; *part < surface->parts; ++*part)
    if (!strcmp(surface->name[*part], key->text)) return CB_OK;
  return cb_fail_unknown(key, "part", key->text, (const char *const *)surface->name, (size_t)surface->parts);
}

/* Fails for an open part without a thickness, because it may be a closed part with a missing face, and not a sheet. */
static cb_status fail_open(const cb_node *body, const cb_surface *surface, int part) {
  char border[CB_SURFACE_BORDER_TEXT];
  const cb_status status = cb_surface_border_text(surface, part, "weld", border);
  if (status) return status;
  const bool file = !cb_surface_is_shape(surface);
  return cb_node_fail(body, "part `%s` is open: expected `thickness`, %sor a density of 0; %s", surface->name[part],
                      file ? "`close: true`, " : "", border);
}

static cb_status read_part(const cb_surface *surface, const cb_node *key, const cb_node *map, cb_material *material) {
  int part;
  part_parameters own;
  cb_errors errors = cb_errors_begin();
  const bool found = !cb_errors_add(&errors, key, find_part(surface, key, &part)),
             right = !cb_errors_add(&errors, map, cb_params_bind(cb_part_table, map, map, NULL, 0, &own));
  if (found && right && !isnan(own.thickness) && !surface->open[part])
    cb_errors_add(
        &errors, map,
        cb_node_fail(cb_node_get(map, "thickness"),
                     "part `%s` is closed: expected no thickness, which only open parts have", surface->name[part]));
  if (found && right && !isnan(own.density)) material[part].density = own.density;
  if (found && right && !isnan(own.thickness)) material[part].thickness = own.thickness;
  return cb_errors_end(&errors);
}

static cb_status read_materials(const cb_node *body, const immersed_parameters *p, const cb_surface *surface,
                                cb_material *material) {
  bool sheets = isnan(p->thickness);
  for (int part = 0; part < surface->parts; part++) {
    material[part] = (cb_material){p->density, surface->open[part] && !isnan(p->thickness) ? p->thickness : 0};
    sheets = sheets || surface->open[part];
  }
  if (!sheets)
    return cb_node_fail(cb_node_get(body, "thickness"),
                        "the body is closed: expected no thickness, which only open parts have");
  if (p->parts && p->parts->kind != CB_NODE_MAP) return cb_node_fail(p->parts, "expected a map of parts by name");
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; p->parts && i < p->parts->count; i++)
    cb_errors_add(&errors, p->parts->items[i], read_part(surface, p->parts->keys[i], p->parts->items[i], material));
  const cb_status read = cb_errors_end(&errors);
  if (read) return read;
  for (int part = 0; part < surface->parts; part++)
    if (surface->open[part] && material[part].thickness == 0 && material[part].density > 0)
      return fail_open(body, surface, part);
  if (isnan(p->mass)) return CB_OK;
  cb_mass whole;
  const cb_status status = cb_mass_of(surface, NULL, material, &whole);
  if (status) return status;
  if (!(whole.mass > 0))
    return cb_node_fail(
        cb_node_get(body, "mass"),
        "the body has no volume: expected `thickness` or a closed surface, so that its density can be scaled");
  for (int part = 0; part < surface->parts; part++) material[part].density *= p->mass / whole.mass;
  return CB_OK;
}

static cb_status read_point(cb_scenario *s, const cb_node *node, const cb_surface *surface, cb_point_mass *out) {
  static const char *const keys[] = {"mass", "at", "vertex"};
  const cb_node *mass = cb_node_get(node, "mass"), *at = cb_node_get(node, "at"), *vertex = cb_node_get(node, "vertex");
  long long number;
  *out = (cb_point_mass){.vertex = -1};
  cb_status status = cb_node_check_keys(node, keys, 3);
  if (status) return status;
  if (!mass || !at == !vertex)
    return cb_node_fail(node, "expected {mass: KG, at: [x, y, z]} or {mass: KG, vertex: NUMBER}");
  status = cb_node_real(mass, &out->mass);
  if (!status && !(out->mass >= 0)) status = cb_node_fail(mass, "expected a mass >= 0, found %g", out->mass);
  if (status) return status;
  if (at) return cb_scenario_vector(s, at, 0, NULL, NULL, out->x);
  if ((status = cb_node_int(vertex, &number))) return status;
  if (number < 1 || number > surface->listed)
    return cb_node_fail(vertex, "expected a vertex from 1 to %d, found %lld", surface->listed, number);
  out->vertex = surface->vertex[number - 1];
  if (out->vertex < 0)
    return cb_node_fail(vertex, "vertex %lld is not in any face: expected `at`, or another vertex", number);
  return CB_OK;
}

static cb_status read_points(cb_scenario *s, const cb_node *list, const cb_surface *surface,
                             cb_immersed_options *options) {
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "expected a list of {mass: KG, at: [x, y, z]}");
  cb_point_mass *point = cb_arena_alloc(s->arena, list->count, sizeof *point);
  if (!point) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu points", list->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++)
    cb_errors_add(&errors, list->items[i], read_point(s, list->items[i], surface, &point[i]));
  options->points = point;
  options->n_points = (int)list->count;
  return cb_errors_end(&errors);
}

static cb_status read_matter(cb_scenario *s, const cb_node *body, const immersed_parameters *p,
                             const cb_surface *surface, cb_immersed_options *options) {
  cb_material *material = cb_arena_alloc(s->arena, (size_t)surface->parts, sizeof *material);
  *options = (cb_immersed_options){.material = material, .lumped = p->mass_model == 1};
  if (!material) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", surface->parts);
  cb_errors errors = cb_errors_begin();
  immersed_parameters own = *p;
  if (p->inertial) {
    own.density = 0;
    own.mass = NAN;
  }
  cb_errors_add(&errors, body, read_materials(body, &own, surface, material));
  cb_errors_add(&errors, p->points, read_points(s, p->points, surface, options));
  if (p->inertial) cb_errors_add(&errors, p->inertial, read_inertial(s, body, p->inertial, options));
  return cb_errors_end(&errors);
}

cb_status cb_scenario_read_matter(cb_scenario *s, const cb_node *body, const cb_surface *surface,
                                  cb_immersed_options *options) {
  static const char *const others[] = {"variables", "period",     "start", "cycle",
                                       "fluid",     "parameters", "space", "chart"};
  immersed_parameters p;
  const cb_status status = cb_params_bind(cb_immersed_table, body, body, others, sizeof others / sizeof *others, &p);
  return status ? status : read_matter(s, body, &p, surface, options);
}

/* --- forces --- */

static cb_status read_linear_drag(const cb_node *node, cb_immersed_options *options) {
  static const char *const keys[] = {"normal", "tangential"};
  if (!node) return CB_OK;
  const cb_node *n = cb_node_get(node, "normal"), *t = cb_node_get(node, "tangential");
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (!status && n) status = cb_node_real(n, &options->c_n);
  if (!status && t) status = cb_node_real(t, &options->c_t);
  if (!status && !(options->c_n >= 0 && options->c_t >= 0))
    return cb_node_fail(node, "expected coefficients >= 0, found %g and %g", options->c_n, options->c_t);
  return status;
}

typedef struct wrench_parameters {
  const char *name;
  int frame;
  const cb_node *force, *torque, *at;
} wrench_parameters;

const cb_param cb_wrench_table[] = {
    {"name", CB_PARAM_STRING, offsetof(wrench_parameters, name), NULL, "", "", NULL, "name in records"},
    {"frame", CB_PARAM_CHOICE, offsetof(wrench_parameters, frame), "body", "", "", "body|world",
     "the frame whose axes are used"},
    {"force", CB_PARAM_NODE, offsetof(wrench_parameters, force), "", "N", "", NULL,
     "expressions of t, of quantities of the body (x, wx, axis_x_x ..), of those of other bodies (a.x ..), and of "
     "controls"},
    {"torque", CB_PARAM_NODE, offsetof(wrench_parameters, torque), "", "N m", "", NULL,
     "expressions of t, of quantities of the body (x, wx, axis_x_x ..), of those of other bodies (a.x ..), and of "
     "controls"},
    {"at", CB_PARAM_NODE, offsetof(wrench_parameters, at), "", "m", "", NULL,
     "the point of the body at which the force acts"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static bool is_name(const char *text) {
  for (const char *c = text; *c; c++)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_')) return false;
  return *text && strlen(text) < 64;
}

static cb_status read_texts(cb_scenario *s, const cb_node *list, const char *text[3], cb_externals *found) {
  const cb_status status = cb_fluid_texts(list, text);
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, list, status)) return cb_errors_end(&errors);
  for (size_t i = 0; i < 3; i++)
    cb_errors_add(&errors, list->items[i], cb_scenario_find_externals(s, list->items[i], found));
  return cb_errors_end(&errors);
}

static cb_status read_wrench(cb_scenario *s, const cb_node *node, cb_wrench_text *out, cb_externals *found) {
  static const char *const taken[] = {"gravity", "buoyancy", "drag",  "linear_drag",
                                      "flow",    "pressure", "floor", "potentials"};
  wrench_parameters p;
  cb_status status = cb_params_bind(cb_wrench_table, node, node, NULL, 0, &p);
  if (status) return status;
  const cb_node *name = cb_node_get(node, "name");
  if (!is_name(p.name)) return cb_node_fail(name, "expected letters, digits and _, found `%s`", p.name);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (!strcmp(p.name, taken[i]))
      return cb_node_fail(name, "`%s` is the name of a wrench of the fluid or the ground: expected another name",
                          p.name);
  if (!p.force && !p.torque) return cb_node_fail(node, "expected `force` or `torque`");
  *out = (cb_wrench_text){.name = p.name, .world = p.frame == 1};
  cb_errors errors = cb_errors_begin();
  if (p.force) cb_errors_add(&errors, p.force, read_texts(s, p.force, out->force, found));
  if (p.torque) cb_errors_add(&errors, p.torque, read_texts(s, p.torque, out->torque, found));
  if (p.at) cb_errors_add(&errors, p.at, cb_scenario_vector(s, p.at, 0, NULL, NULL, out->at));
  return cb_errors_end(&errors);
}

static cb_status read_wrenches(cb_scenario *s, const cb_node *list, cb_immersed_options *options) {
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "expected a list of {name: .., force: [..], torque: [..]}");
  cb_wrench_text *wrench = cb_arena_alloc(s->arena, list->count, sizeof *wrench);
  cb_externals *found = cb_arena_alloc(s->arena, 1, sizeof *found);
  if (!wrench || !found) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu wrenches", list->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++) {
    cb_status status = read_wrench(s, list->items[i], &wrench[i], found);
    for (size_t k = 0; k < i && !status; k++)
      if (wrench[k].name && !strcmp(wrench[k].name, wrench[i].name))
        status = cb_node_fail(cb_node_get(list->items[i], "name"),
                              "two wrenches have the name `%s`: expected different names", wrench[i].name);
    cb_errors_add(&errors, list->items[i], status);
  }
  options->wrenches = wrench;
  options->n_wrenches = (int)list->count;
  options->externals = found->name;
  options->n_externals = found->n;
  return cb_errors_end(&errors);
}

/* --- the body --- */

static cb_status make(cb_scenario *s, const cb_node *body, const immersed_parameters *p,
                      const cb_immersed_options *options, cb_immersed_kind *kind) {
  int which = 0, component = 0;
  size_t at = 0;
  cb_status status = cb_immersed_create(&cb_fluid_scenario_of(s)->fluid, kind->surface, kind->poses, options, &which,
                                        &component, &at, &kind->body);
  if (status != CB_ERROR_INPUT || !p->wrenches) return cb_scenario_placed(s, status, body, false);
  const cb_node *vector = cb_node_get(p->wrenches->items[which], component < 3 ? "torque" : "force");
  return vector ? cb_node_fail_at(vector->items[component % 3], at, "%s", cb_error_text())
                : cb_scenario_placed(s, status, body, false);
}

static cb_status read_name(cb_scenario *s, const cb_node *node, int number, const char *given, const char **out) {
  char numbered[32];
  const cb_fluid_scenario *m = s->own;
  snprintf(numbered, sizeof numbered, "body.%d", number);
  const char *name = given && *given ? given : cb_arena_strdup(s->arena, numbered);
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  *out = name;
  for (int i = 0; i < m->n; i++)
    if (!strcmp(m->body[i].name, name))
      return cb_node_fail(node, "two bodies have the name `%s`: expected different names", name);
  return CB_OK;
}

static bool knows_keys(const cb_node *map) {
  bool known = true;
  for (size_t i = 0; i < map->count && known; i++) {
    const cb_param *row = cb_immersed_table;
    while (row->name && strcmp(row->name, map->keys[i]->text)) row++;
    known = row->name != NULL;
  }
  return known;
}

/* Reads the surface of a body and its material; if a key is wrong (right is false), reads only the surface and the
 * points. Does nothing if the keys of the surface are missing and there is an unknown key, which may be a misspelt key
 * of the surface. */
static cb_status read_made(cb_scenario *s, const cb_node *node, const immersed_parameters *p, bool right,
                           cb_immersed_kind *kind, cb_immersed_options *options) {
  const bool known = knows_keys(node);
  if (!known && !p->shape && !p->mesh) return CB_OK;
  const cb_surface_keys keys = {p->shape, p->mesh, p->weld, p->close, p->poses, p->scale};
  const cb_status status = cb_scenario_read_surface(s, node, &keys, kind);
  if (status) return status;
  const cb_status laid = cb_scenario_embed(s, node, p->chart, kind->surface);
  if (laid) return laid;
  return right ? read_matter(s, node, p, kind->surface, options) : read_points(s, p->points, kind->surface, options);
}

/* Reads one entry of `bodies`. If parameters of the body or of the fluid are wrong, no body is made, but the other keys
 * are read to report their errors. */
static cb_status read_body(cb_scenario *s, const cb_node *node, int number, bool whole, cb_immersed_kind *kind) {
  immersed_parameters p;
  cb_immersed_options options = {0};
  const char *name = NULL;
  const cb_fluid_scenario *m = s->own;
  cb_status status = cb_params_bind(cb_immersed_table, node, node, NULL, 0, &p);
  if (status && node->kind != CB_NODE_MAP) return status;
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, node, status)) cb_params_bind_right(cb_immersed_table, node, &p);
  cb_errors_add(&errors, node, read_name(s, node, number, p.name, &name));
  cb_errors_add(&errors, node, read_made(s, node, &p, !status, kind, &options));
  options.added_mass = m->moves;
  cb_errors_add(&errors, p.added_mass, cb_scenario_read_moving(p.added_mass, &kind->added_mass, &options.added_mass));
  if (p.model) cb_errors_add(&errors, p.model, cb_scenario_read_models(s, p.model, &kind->models));
  options.n_models = kind->models.n;
  options.models = (const cb_fluid_model *const *)kind->models.list;
  options.added_mass_of = kind->added_mass;
  options.potential = (size_t)number < m->n_potentials ? m->potential[number] : NULL;
  cb_errors_add(&errors, node, cb_scenario_check_curved_body(s, node));
  options.drag = p.drag;
  options.no_buoyancy = !p.buoyancy;
  options.n_parameters = m->n_parameters;
  options.names = m->parameter;
  options.values = m->parameter_value;
  cb_expression_scope scope = {.n = 0};
  cb_scenario_add_controls(s, &scope);
  options.n_controls = scope.n_controls;
  options.controls = scope.controls;
  options.control_values = scope.control_values;
  cb_errors_add(&errors, p.linear_drag, read_linear_drag(p.linear_drag, &options));
  cb_errors_add(&errors, p.wrenches, read_wrenches(s, p.wrenches, &options));
  if (whole && !errors.status) cb_errors_add(&errors, node, make(s, node, &p, &options, kind));
  if (name)
    cb_errors_add(&errors, node, cb_scenario_read_copies(s, node, name, p.place, p.motion, p.repeat, kind->body));
  return cb_errors_end(&errors);
}

/* Adds the centres of the bodies from number `first` on, with their charge. */
static cb_status read_centres(cb_scenario *s, const cb_node *item, int first) {
  const cb_node *charge = cb_node_get(item, "charge");
  double value = 0;
  const cb_status status = charge && first < cb_fluid_scenario_of(s)->n ? cb_node_real(charge, &value) : CB_OK;
  return status ? status : cb_scenario_placed(s, cb_scenario_add_centres(s, first, value), item, false);
}

cb_status cb_scenario_read_immersed(cb_scenario *s, const cb_node *list, bool whole) {
  cb_fluid_scenario *m = s->own;
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of bodies, each with `shape` or `mesh`");
  m->bodies = list;
  m->kind = cb_arena_alloc(s->arena, list->count, sizeof *m->kind);
  if (!m->kind) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", list->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++) {
    const cb_node *item = list->items[i];
    const int first = m->n;
    m->n_kinds = i + 1;
    const cb_status status = s->builder && cb_node_get(item, "kind") ? cb_scenario_read_particles(s, item)
                                                                     : read_body(s, item, (int)i, whole, &m->kind[i]);
    if (cb_errors_add(&errors, item, status) && s->builder) s->failed[i] = true;
    if (!status && s->builder && m->points) cb_errors_add(&errors, item, read_centres(s, item, first));
  }
  return cb_errors_end(&errors);
}
