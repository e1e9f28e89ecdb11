/* Points of bodies next to `fluid:`, and the keys that act on them: `interactions`, `constraints`, `potentials` and
 * particles among the `bodies`.
 *
 *   bodies:       [{name: a, shape: .., charge: 1}, {kind: chain, name: rope, ..}]
 *   interactions: [{pair_potential: gravity, between: [a, rope]}]
 *   constraints:  [{rod: {between: [{body: a, at: [0, 0, .5]}, [rope, 0]]}}]
 * Forces act on a rigid body at its centre of mass, [a, 0], which has the mass and the charge of the body. {body: a,
 * at: [x, y, z]} is another point, in the frame of the body; only items that name this point act on it. Points and
 * particles are the particles of one cb_system, in the space that the fluid fills. Walls and contacts act on the
 * `spheres` of a body, a list of {at: [x, y, z], radius: r}. Walls act on all vertices of a body without spheres; with
 * `contacts: {shapes: true}` contacts act on its shape, and walls on balls and capsules themselves.
 */
#include "coupling/convex.h"
#include "dynamics/builder_points.h"
#include "dynamics/builder_private.h"
#include "dynamics/system_private.h"
#include "numerics/numerics_curved.h"
#include "scenario/fluid.h"
#include "tree/scalar.h"
#include <curvebody/body.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const acting[] = {"interactions", "forces", "constraints", "contacts", "walls", "events", "start"};

bool cb_scenario_has_joints(const cb_node *root) { return cb_node_get(root, "joints"); }

bool cb_scenario_has_points(const cb_node *root) {
  const cb_node *bodies = cb_node_get(root, "bodies"), *space = cb_node_get(root, "space"),
                *name = space && space->kind == CB_NODE_MAP ? cb_node_get(space, "name") : space;
  for (size_t i = 0; i < sizeof acting / sizeof *acting; i++)
    if (cb_node_get(root, acting[i])) return true;
  for (size_t i = 0; bodies && bodies->kind == CB_NODE_LIST && i < bodies->count; i++)
    if (cb_node_get(bodies->items[i], "kind")) return true;
  return cb_node_get(root, "potentials") && (!name || !name->text || !strcmp(name->text, "e3"));
}

const cb_space *cb_scenario_points_space(const cb_scenario *s) {
  return s->space ? s->space : cb_fluid_scenario_of(s)->flat;
}

cb_status cb_scenario_points_begin(cb_scenario *s, const cb_node *bodies) {
  cb_status status = s->space ? CB_OK : cb_space_create("e3", NULL, &cb_fluid_scenario_of(s)->flat);
  if (!status) status = cb_scenario_make_builder(s, cb_scenario_points_space(s));
  if (status) return status;
  cb_builder_couple(s->builder, cb_fluid_scenario_of(s)->fluid.curvature == 0);
  s->bodies = bodies;
  s->failed = cb_arena_alloc(s->arena, bodies && bodies->kind == CB_NODE_LIST ? bodies->count : 0, sizeof *s->failed);
  return s->failed ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for bodies");
}

cb_status cb_scenario_read_particles(cb_scenario *s, const cb_node *body) {
  const cb_node *mesh = cb_node_get(cb_node_get(body, "mesh"), "file");
  const char *path;
  cb_status status = cb_scenario_check_class("bodies.*", body);
  if (!status) status = cb_body_build(body, cb_scenario_points_space(s), s->builder);
  return status || !mesh ? status : cb_scenario_file(s, mesh, &path);
}

/* Computes the place of the point `at` of a body in the coordinates of the space. */
static void place(const cb_scenario *s, const cb_body_start *of, const double at[3], double out[4]) {
  const double K = cb_fluid_scenario_of(s)->fluid.curvature;
  double x[3];
  cb_pose_point_in(K, &of->pose, at, x);
  if (K == 0) {
    memcpy(out, x, sizeof x);
    return;
  }
  cb_curved_point(K, x, out);
  out[3] /= sqrt(fabs(K));
}

/* Adds a point to the list of points of bodies. */
static cb_status note(cb_scenario *s, cb_body_point point) {
  cb_fluid_scenario *m = s->own;
  if (m->n_points == m->capacity_points) {
    const int capacity = m->capacity_points ? 2 * m->capacity_points : 16;
    cb_body_point *more = cb_arena_alloc(s->arena, (size_t)capacity, sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d points of bodies", capacity);
    if (m->n_points) memcpy(more, m->point, (size_t)m->n_points * sizeof *more);
    m->point = more;
    m->capacity_points = capacity;
  }
  m->point[m->n_points++] = point;
  return CB_OK;
}

cb_status cb_scenario_add_centres(cb_scenario *s, int first, double charge) {
  cb_fluid_scenario *m = s->own;
  cb_status status = CB_OK;
  for (int i = first; i < m->n && !status; i++) {
    const cb_body_start *of = &m->body[i];
    cb_mass mass;
    double x[4];
    int index = -1;
    if (!of->body) return CB_OK; /* the error in the body was reported */
    status = cb_immersed_mass(of->body, 0, &mass, NULL);
    if (!status) status = cb_builder_body(s->builder, of->name, NULL);
    if (status) return status;
    place(s, of, mass.centre, x);
    /* a body that has added mass but no mass of its own has no centre of mass */
    status = mass.mass > 0 ? cb_builder_particle(s->builder, of->name, mass.mass, charge, 0, x, NULL, &index)
                           : cb_fail(CB_ERROR_DOMAIN, "body `%s` has no mass, so it has no centre of mass", of->name);
    if (!status)
      status = note(
          s, (cb_body_point){.particle = index, .body = i, .at = {mass.centre[0], mass.centre[1], mass.centre[2]}});
  }
  return status;
}

/* Returns the time at the start; 0 if it is wrong, which is reported elsewhere. */
static double start_of(const cb_node *root) {
  const cb_node *start = cb_node_get(cb_scenario_section(root, "time"), "start");
  double t = 0;
  return start && !cb_node_real(start, &t) ? t : 0;
}

cb_status cb_scenario_place_by_joints(cb_scenario *s, const cb_node *root) {
  const cb_fluid_scenario *m = s->own;
  const cb_status status = cb_scenario_read_joints(s, cb_scenario_section(root, "joints"), start_of(root));
  for (int i = 0; i < m->n_points && !status; i++)
    place(s, &m->body[m->point[i].body], m->point[i].at, s->builder->point[m->point[i].particle].x);
  return status;
}

bool cb_scenario_body_is_rigid(const cb_scenario *s, int body, int *number) {
  const cb_fluid_scenario *m = s->own;
  const char *name = cb_builder_body_name(s->builder, body);
  for (int i = 0; m && i < m->n; i++)
    if (!strcmp(m->body[i].name, name)) {
      *number = i;
      return true;
    }
  return false;
}

/* Adds the point `at` of rigid body `number`. Its name consists of the name of the body and the coordinates `at`. */
static cb_status add_auxiliary(cb_scenario *s, const cb_node *node, int number, const double at[3], double radius,
                               bool touches, int *index) {
  const cb_body_start *of = &cb_fluid_scenario_of(s)->body[number];
  char text[128];
  double x[4];
  snprintf(text, sizeof text, "%.60s[%.6g, %.6g, %.6g]", of->name, at[0], at[1], at[2]);
  place(s, of, at, x);
  const int body = cb_builder_find_body(s->builder, of->name);
  const cb_status status =
      cb_scenario_placed(s, cb_builder_auxiliary(s->builder, body, text, radius, x, index), node, false);
  return status ? status
                : note(s, (cb_body_point){.particle = *index,
                                          .body = number,
                                          .at = {at[0], at[1], at[2]},
                                          .auxiliary = true,
                                          .touches = touches});
}

cb_status cb_scenario_read_body_point(cb_scenario *s, const cb_node *node, int *index) {
  static const char *const keys[] = {"body", "at"};
  const cb_node *name = cb_node_get(node, "body"), *at = cb_node_get(node, "at");
  int body = -1, number = -1;
  double local[3];
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (status) return status;
  if (!s->class->body)
    return cb_node_fail(node,
                        "{body: .., at: ..} is a point of a rigid body, which needs `fluid`: expected [body, number]");
  if (!name || !at) return cb_node_fail(node, "expected {body: NAME, at: [x, y, z]}, a point in the frame of the body");
  status = cb_scenario_find_body(s, name, &body);
  if (!status && !cb_scenario_body_is_rigid(s, body, &number))
    status = cb_node_fail(name, "`%s` is a body of particles: expected [%s, number]",
                          cb_builder_body_name(s->builder, body), cb_builder_body_name(s->builder, body));
  if (!status) status = cb_scenario_vector(s, at, 0, NULL, NULL, local);
  if (status) return status;
  const cb_fluid_scenario *m = s->own;
  for (int i = 0; i < m->n_points; i++)
    if (m->point[i].body == number && !memcmp(m->point[i].at, local, sizeof local) && m->point[i].auxiliary) {
      *index = m->point[i].particle; /* this point was already added */
      return CB_OK;
    }
  return add_auxiliary(s, node, number, local, 0, false, index);
}

/* --- spheres of rigid bodies, and vertices --- */

static cb_status read_sphere(cb_scenario *s, const cb_node *node, int body) {
  static const char *const keys[] = {"at", "radius"};
  const cb_node *at = cb_node_get(node, "at"), *radius = cb_node_get(node, "radius");
  double local[3], r = 0;
  int index;
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (status) return status;
  if (!at || !radius)
    return cb_node_fail(node, "expected {at: [x, y, z], radius: r}, a sphere in the frame of the body");
  status = cb_scenario_vector(s, at, 0, NULL, NULL, local);
  if (!status) status = cb_node_real(radius, &r);
  if (!status && !(r > 0)) status = cb_node_fail(radius, "expected a radius > 0, found %g", r);
  return status ? status : add_auxiliary(s, node, body, local, r, true, &index);
}

/* Adds the spheres of one entry of `bodies`, to the body and all its copies. */
static cb_status add_spheres(cb_scenario *s, const cb_node *list, const cb_immersed *of) {
  const cb_fluid_scenario *m = s->own;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "expected a list of {at: [x, y, z], radius: r}");
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < list->count; k++)
    for (int i = 0; i < m->n; i++)
      if (m->body[i].body == of) cb_errors_add(&errors, list->items[k], read_sphere(s, list->items[k], i));
  return cb_errors_end(&errors);
}

/* Returns whether a wall acts on the body with this name. */
static bool meets_wall(const cb_scenario *s, const char *name) {
  const cb_contact_set *set = s->builder->contacts;
  for (int w = 0; set && w < set->n_walls; w++)
    if (set->wall[w].body < 0 || !strcmp(cb_builder_body_name(s->builder, set->wall[w].body), name)) return true;
  return false;
}

/* Finds the points of a body on which walls act. If the body touches by its shape, these points are the centres of
 * balls and the ends of capsules, with their radii, and the vertices of the other parts. In other cases they are all
 * vertices. */
static cb_status find_wall_points(cb_scenario *s, const cb_surface *surface, bool shapes, int *n, double (**point)[4]) {
  bool *keep = cb_arena_alloc(s->arena, (size_t)surface->vertices, sizeof *keep);
  cb_convex *set = NULL;
  int hull = -1;
  cb_status status = shapes ? cb_convex_of_surface(surface, s->arena, &set, &hull) : CB_OK;
  if (status) return status;
  *point = cb_arena_alloc(s->arena, (size_t)surface->vertices + 2 * (size_t)surface->parts, sizeof **point);
  if (!keep || !*point) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", surface->vertices);
  for (int f = 0; f < surface->faces; f++)
    for (int k = 0; k < 3 && !(set && set[surface->part[f]].radius > 0); k++) keep[surface->face[f][k]] = true;
  *n = 0;
  for (int p = 0; p < surface->parts && set; p++)
    for (int k = 0; k < set[p].n && set[p].radius > 0; k++, ++*n) {
      memcpy((*point)[*n], set[p].own[k], sizeof set[p].own[k]);
      (*point)[*n][3] = set[p].radius;
    }
  for (int v = 0; v < surface->vertices; v++)
    if (keep[v]) memcpy((*point)[(*n)++], surface->x[v], sizeof surface->x[v]);
  return CB_OK;
}

/* If a wall acts on a body that has no spheres, adds the points of this body on which walls act. */
static cb_status add_vertices(cb_scenario *s, const cb_node *node, const cb_immersed *of) {
  cb_fluid_scenario *m = s->own;
  int n = 0;
  double(*point)[4];
  bool meets = false;
  for (int i = 0; i < m->n; i++) meets = meets || (m->body[i].body == of && meets_wall(s, m->body[i].name));
  if (!meets) return CB_OK;
  cb_status status = find_wall_points(s, cb_immersed_surface(of), m->shapes && m->fluid.curvature == 0, &n, &point);
  if (status) return status;
  if (cb_immersed_poses(of) || n > 5000)
    return cb_node_fail(node,
                        "walls push all vertices of a body, but this body %s: expected `spheres`, on which walls act",
                        cb_immersed_poses(of) ? "changes its shape" : "has more than 5000");
  for (int i = 0; i < m->n; i++)
    for (int v = 0; m->body[i].body == of && meets_wall(s, m->body[i].name) && v < n && !status; v++) {
      int index;
      status = add_auxiliary(s, node, i, point[v], point[v][3], true, &index);
      if (status) break;
      m->point[m->n_points - 1].of_shape = m->shapes;
      m->n_vertices++;
    }
  return status;
}

static cb_status add_touching(cb_scenario *s, const cb_node *bodies) {
  const cb_fluid_scenario *m = s->own;
  cb_errors errors = cb_errors_begin();
  for (int pass = 0; pass < 2; pass++) /* vertices are added in the second pass, because they must be the last points */
    for (size_t i = 0; i < m->n_kinds; i++) {
      const cb_node *item = bodies->items[i], *spheres = cb_node_get(item, "spheres");
      const cb_immersed *of = m->kind[i].body;
      if (!of) continue;
      if (pass == 0 && spheres) cb_errors_add(&errors, spheres, add_spheres(s, spheres, of));
      if (pass == 1 && !spheres) cb_errors_add(&errors, item, add_vertices(s, item, of));
    }
  return cb_errors_end(&errors);
}

/* Fails if contacts by shapes are not possible: in a curved space, or for a body that changes its shape. */
static cb_status check_shapes(cb_scenario *s, const cb_node *root) {
  const cb_fluid_scenario *m = s->own;
  const cb_node *bodies = cb_node_get(root, "bodies"),
                *key = cb_node_get(cb_scenario_section(root, "contacts"), "shapes");
  if (m->fluid.curvature != 0)
    return cb_node_fail(key, "shapes: expected false, found true in a curved space, where bodies touch by `spheres`");
  for (size_t i = 0; i < m->n_kinds; i++)
    if (m->kind[i].body && cb_immersed_poses(m->kind[i].body) && !cb_node_get(bodies->items[i], "spheres"))
      return cb_node_fail(cb_node_get(bodies->items[i], "poses"),
                          "poses: expected `spheres` next to them, found `contacts: {shapes: true}`: a body that "
                          "changes its shape cannot touch other bodies by its shape");
  return CB_OK;
}

cb_status cb_scenario_points_finish(cb_scenario *s, const cb_node *root) {
  cb_fluid_scenario *m = s->own;
  const cb_node *list = cb_node_get(root, "bodies");
  cb_status status = add_touching(s, list);
  if (status) return status;
  if (m->shapes) status = check_shapes(s, root);
  if (status) return status;
  if (cb_node_get(root, "contacts") && !m->shapes) cb_scenario_warn_of_contacts(s, "`spheres`");
  status = cb_builder_finish(s->builder, &m->system);
  const cb_node *constraints = cb_node_get(root, "constraints");
  if (!status || status == CB_ERROR_MEMORY || status == CB_ERROR_INPUT) return status;
  return cb_node_fail(constraints && cb_failure_last().kind == CB_FAILURE_CONSTRAINT ? constraints : list, "%s",
                      cb_error_text());
}

/* Makes a plane among the walls from a reflecting floor, on which bodies come to rest. */
static cb_status add_floor(cb_scenario *s) {
  const cb_floor *floor = &cb_fluid_scenario_of(s)->wall;
  double foot[3];
  if (floor->kind == CB_FLOOR_NONE || !s->builder) return CB_OK;
  for (int i = 0; i < 3; i++) foot[i] = floor->height * floor->up[i];
  const cb_status status = cb_builder_wall_plane(s->builder, "floor", -1, foot, floor->up, floor->restitution);
  return status ? status
                : cb_builder_wall_contacts(s->builder, s->builder->contacts->options.rule, CB_ACCUMULATION_REST);
}

/* The functions that read forces, constraints, contacts, walls and events use the space s->space. If the scenario has
 * no key `space`, it is e3 during these calls. */
cb_status cb_scenario_read_acting(cb_scenario *s, const cb_node *root) {
  cb_fluid_scenario *m = s->own;
  cb_space *const given = s->space;
  if (!given) s->space = m->flat;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(
      &errors, root,
      cb_scenario_read_forces(s, cb_scenario_section(root, "potentials"), cb_scenario_section(root, "interactions"),
                              cb_scenario_section(root, "forces")));
  cb_errors_add(&errors, root, cb_scenario_read_constraints(s, cb_scenario_section(root, "constraints")));
  cb_errors_add(&errors, root,
                cb_scenario_read_contacts(s, cb_scenario_section(root, "contacts"), cb_scenario_section(root, "walls"),
                                          cb_scenario_section(root, "events")));
  cb_errors_add(&errors, root, add_floor(s));
  cb_errors_add(&errors, root, cb_scenario_read_start(s, cb_scenario_section(root, "start"), &m->start));
  s->space = given;
  return cb_errors_end(&errors);
}

/* --- `particles: {viscosity: 1e-3, drag_coefficient: .47, added_mass: true}` in `fluid` --- */

const cb_param cb_particles_table[] = {
    {"viscosity", CB_PARAM_REAL, offsetof(cb_particles_in_fluid, viscosity), "0", "Pa s", ">= 0", NULL,
     "viscosity of the fluid: Stokes drag 6 pi viscosity radius of particles with a radius"},
    {"drag_coefficient", CB_PARAM_REAL, offsetof(cb_particles_in_fluid, drag_coefficient), "0", "", ">= 0", NULL,
     "C of the quadratic drag of particles with a radius"},
    {"added_mass", CB_PARAM_BOOL, offsetof(cb_particles_in_fluid, added_mass), "true", "", "", NULL,
     "whether particles with a radius have half the mass of the displaced fluid as added mass"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_scenario_read_particles_in_fluid(cb_scenario *s, const cb_node *node) {
  cb_fluid_scenario *m = s->own;
  const cb_status status = cb_params_bind(cb_particles_table, node, node, NULL, 0, &m->particles);
  m->particles.medium = m->medium;
  m->particles.flow = m->flow;
  memcpy(m->particles.gravity, m->fluid.gravity, sizeof m->particles.gravity);
  return status;
}
