/* Geoms and poses of MJCF: <geom> with the attributes that MuJoCo uses for the mass of a body and for the fluid, and
 * the positions and orientations of all elements.
 *
 * One of the planes of the world becomes the floor. Its z axis is the normal, and it is unbounded: `size` is only for
 * drawing.
 *
 * The floor stops a body if a geom of the body collides with it: the `contype` of one geom and the `conaffinity` of the
 * other must have a common bit. MuJoCo's contacts do not rebound by default. If a body starts with less than half of
 * its height below the floor, the floor is lowered to the body's lowest point, because in MuJoCo bodies rest slightly
 * below the plane. Source: MuJoCo's documentation (geom, collision detection).
 */
#include "mjcf/mjcf_private.h"

#include "numerics/vec3.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const types[] = {"sphere", "capsule", "cylinder", "ellipsoid", "box",
                                    "mesh",   "plane",   "hfield",   "sdf"};
enum { ALL_TYPES = sizeof types / sizeof *types };
static const int sizes[CB_MJCF_TYPES] = {1, 2, 2, 3, 3, 0};

static cb_status read_type(const cb_mjcf_source *source, const cb_xml *e, cb_mjcf_type *out) {
  const cb_node *value = cb_mjcf_value(source, "type");
  int type = CB_MJCF_SPHERE;
  const cb_status status = value ? cb_mjcf_choice(value, "type of geom", ALL_TYPES, types, &type) : CB_OK;
  if (status) return status;
  if (type >= CB_MJCF_TYPES)
    return cb_node_fail(value, "a geom of type %s on a body that moves: expected one with a volume", types[type]);
  const cb_node *mesh = cb_mjcf_value(source, "mesh");
  if (mesh && type != CB_MJCF_MESH)
    return cb_node_fail(mesh, "mesh of a geom of type %s: expected type=\"mesh\", because shapes are not fitted",
                        types[type]);
  if (!mesh && type == CB_MJCF_MESH) return cb_node_fail(&e->name, "expected `mesh`, the name of a mesh");
  *out = (cb_mjcf_type)type;
  return CB_OK;
}

/* Reads `fromto`: the geom extends from one point to another along its z axis. In MuJoCo z points to the first
 * point. */
static cb_status read_ends(const cb_node *value, cb_mjcf_geom *g) {
  double x[6], along[3], length;
  const cb_status status = cb_mjcf_numbers(value, "fromto", 6, 6, x, NULL);
  if (status) return status;
  if (g->type == CB_MJCF_SPHERE || g->type == CB_MJCF_MESH)
    return cb_node_fail(value, "fromto: expected a capsule, cylinder, ellipsoid or box, found a %s", types[g->type]);
  for (int i = 0; i < 3; i++) {
    along[i] = x[i] - x[3 + i];
    g->pose.x[i] = (x[i] + x[3 + i]) / 2;
  }
  length = sqrt(cb_dot3(along, along));
  if (!(length > 1e-14)) return cb_node_fail(value, "fromto: expected two different points");
  for (int i = 0; i < 3; i++) along[i] /= length;
  cb_mjcf_turn_to(along, g->pose.q);
  g->size[1] = length / 2;
  if (sizes[g->type] == 3) {
    g->size[2] = g->size[1];
    g->size[1] = g->size[0];
  }
  return CB_OK;
}

static cb_status read_size(const cb_mjcf_reader *r, const cb_mjcf_source *source, const cb_xml *e, cb_mjcf_geom *g) {
  const cb_node *ends = cb_mjcf_value(source, "fromto"), *size = cb_mjcf_value(source, "size");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &e->name, cb_mjcf_pose(r, source, &g->pose, NULL));
  cb_errors_add(&errors, &e->name, cb_mjcf_merged(source, "size", 1, 3, g->size));
  if (ends) cb_errors_add(&errors, ends, read_ends(ends, g));
  for (int i = 0; i < sizes[g->type] && !errors.status; i++)
    if (!(g->size[i] > 0))
      cb_errors_add(&errors, &e->name,
                    cb_node_fail(size ? size : &e->name, "a geom without volume: expected %d size%s > 0, found %g",
                                 sizes[g->type], sizes[g->type] > 1 ? "s" : "", g->size[i]));
  return cb_errors_end(&errors);
}

static cb_status read_mesh(const cb_mjcf_reader *r, const cb_node *value, bool measured, cb_mjcf_geom *g) {
  cb_mjcf_mesh *mesh = r->meshes;
  while (mesh && strcmp(mesh->name, value->text)) mesh = mesh->next;
  if (!mesh) return cb_node_fail(value, "no <mesh> is called `%s`", value->text);
  if (!mesh->file) return cb_node_fail(value, "mesh `%s`: expected `file`, a path", mesh->name);
  g->mesh = mesh;
  const cb_status status = measured ? cb_mjcf_measure(mesh, value) : CB_OK;
  if (status || !measured) return status;
  memcpy(g->size, mesh->half, sizeof g->size);
  cb_pose_multiply(&g->pose, &mesh->centre, &g->centre);
  return CB_OK;
}

static cb_status read_fluid(const cb_mjcf_source *source, cb_mjcf_geom *g) {
  static const char *const shapes[] = {"none", "ellipsoid"};
  static const double usual[CB_MJCF_COEFFICIENTS] = {0.5, 0.25, 1.5, 1, 1};
  const cb_node *shape = cb_mjcf_value(source, "fluidshape"), *given = cb_mjcf_value(source, "fluidcoef");
  int choice = 0;
  memcpy(g->coefficient, usual, sizeof usual);
  cb_status status = shape ? cb_mjcf_choice(shape, "fluidshape", 2, shapes, &choice) : CB_OK;
  g->fluid = choice == 1;
  if (!status) status = cb_mjcf_merged(source, "fluidcoef", 1, CB_MJCF_COEFFICIENTS, g->coefficient);
  for (int i = 0; i < CB_MJCF_COEFFICIENTS && !status; i++)
    if (!(g->coefficient[i] >= 0))
      status = cb_node_fail(given, "fluidcoef: expected coefficients >= 0, found %g", g->coefficient[i]);
  return status;
}

/* Reads a number >= 0. *out is unchanged if there is no value. */
static cb_status read_one(const cb_mjcf_source *source, const char *name, double *out) {
  const cb_node *value = cb_mjcf_value(source, name);
  const cb_status status = value ? cb_mjcf_numbers(value, name, 1, 1, out, NULL) : CB_OK;
  return !status && value && !(*out >= 0) ? cb_node_fail(value, "%s: expected a number >= 0, found %g", name, *out)
                                          : status;
}

/* Reads the mass (-1: none is given) and the density. *hollow: the geom has `shellinertia`, so its mass is in its
 * surface. */
static cb_status read_mass(const cb_mjcf_source *source, double mass[1], double density[1], bool *hollow) {
  const cb_node *shell = cb_mjcf_value(source, "shellinertia");
  *mass = -1;
  *density = 1000;
  cb_status status = read_one(source, "mass", mass);
  if (!status) status = read_one(source, "density", density);
  *hollow = shell && !strcmp(shell->text, "true");
  return status;
}

/* Reads `contype` and `conaffinity`, 1 by default. (Two geoms collide if the contype of one and the conaffinity of the
 * other have a bit in common.) */
cb_status cb_mjcf_touching(const cb_mjcf_source *source, unsigned *type, unsigned *affinity) {
  double mask[2] = {1, 1};
  cb_status status = read_one(source, "contype", &mask[0]);
  if (!status) status = read_one(source, "conaffinity", &mask[1]);
  *type = (unsigned)fmin(mask[0], INT_MAX);
  *affinity = (unsigned)fmin(mask[1], INT_MAX);
  return status;
}

static bool in_group(const cb_mjcf_reader *r, double group) { return group >= r->group[0] && group <= r->group[1]; }

cb_status cb_mjcf_read_geom(const cb_mjcf_scope *scope, cb_xml *e, bool needs_mass, cb_mjcf_geom **out) {
  const cb_mjcf_reader *r = scope->r;
  cb_mjcf_source source;
  cb_mjcf_geom *g = cb_arena_alloc(r->arena, 1, sizeof *g);
  const char *name = cb_mjcf_name(scope, e);
  double mass = 0, density = 0, group = 0;
  bool hollow = false;
  if (!g || !name) return cb_mjcf_no_memory(r);
  *g = (cb_mjcf_geom){.name = name};
  cb_status status = cb_mjcf_source_of(r, e, scope->childclass, &source);
  if (!status) status = read_type(&source, e, &g->type);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &e->name, read_size(r, &source, e, g));
  cb_errors_add(&errors, &e->name, read_fluid(&source, g));
  cb_errors_add(&errors, &e->name, read_mass(&source, &mass, &density, &hollow));
  cb_errors_add(&errors, &e->name, read_one(&source, "group", &group));
  cb_errors_add(&errors, &e->name, cb_mjcf_touching(&source, &g->contype, &g->conaffinity));
  needs_mass = needs_mass && in_group(r, group) && (mass < 0 ? density > 0 : mass > 0);
  if (needs_mass && hollow)
    cb_errors_add(&errors, &e->name,
                  cb_node_fail(cb_mjcf_value(&source, "shellinertia"), "shellinertia: expected false, or <inertial>"));
  cb_pose_multiply(&scope->frame, &g->pose, &g->pose);
  g->centre = g->pose;
  if (g->type == CB_MJCF_MESH)
    cb_errors_add(&errors, &e->name, read_mesh(r, cb_mjcf_value(&source, "mesh"), needs_mass || g->fluid, g));
  const cb_status read = cb_errors_end(&errors);
  if (read) return read;
  if (needs_mass) {
    g->mass = mass < 0 ? density * cb_mjcf_volume(g) : mass;
    cb_mjcf_moments(g);
  }
  *out = g;
  return CB_OK;
}

/* --- drawing --- */

cb_pose cb_mjcf_looks_at(const cb_mjcf_link *l, const cb_mjcf_geom *g) {
  cb_pose pose;
  cb_pose_multiply(&l->pose, &g->pose, &pose);
  if (g->mesh) cb_pose_multiply(&pose, &g->mesh->place, &pose);
  return pose;
}

cb_mjcf_geom cb_mjcf_looks_without_geoms(const cb_mjcf_body *body, cb_pose *pose) {
  cb_mjcf_geom box = {.name = "inertia", .type = CB_MJCF_BOX};
  double moment[3];
  cb_mjcf_box(&body->inertial, box.size, pose, moment);
  for (int i = 0; i < 3; i++) box.size[i] = fmax(box.size[i], 1e-6 * (box.size[0] + box.size[1] + box.size[2]));
  return box;
}

/* Reading of positions and orientations. The position is `pos`. The orientation is quat, axisangle, xyaxes, zaxis or
 * euler, with the unit of angles and the sequence that <compiler> sets. If the defaults and the element give several
 * orientations, the last one in this order is used, as in MuJoCo. */

static const double least = 1e-14; /* minimum of a length: MuJoCo's mjEPS */

/* The vector is first divided by its largest component, because squares may overflow or underflow. */
bool cb_mjcf_normalise(int n, double *v) {
  double maximum = 0, square = 0;
  for (int i = 0; i < n; i++) maximum = fmax(maximum, fabs(v[i]));
  if (maximum < least) return false;
  for (int i = 0; i < n; i++) square += v[i] / maximum * (v[i] / maximum);
  for (int i = 0; i < n; i++) v[i] = v[i] / maximum / sqrt(square);
  return maximum * sqrt(square) >= least;
}

static cb_status too_short(const cb_node *value, const char *name) {
  return cb_node_fail(value, "%s: expected a direction, found a vector of length 0", name);
}

static void turn_about(const double axis[3], double angle, double q[4]) {
  q[0] = cos(angle / 2);
  for (int i = 0; i < 3; i++) q[1 + i] = sin(angle / 2) * axis[i];
}

void cb_mjcf_turn_to(const double v[3], double q[4]) {
  double axis[3] = {-v[1], v[0], 0}; /* z × v */
  const double s = hypot(v[0], v[1]);
  if (s < 1e-10) {
    axis[0] = 1;
    axis[1] = 0;
  } else {
    axis[0] /= s;
    axis[1] /= s;
  }
  turn_about(axis, atan2(s, v[2]), q);
}

/* --- the five orientations --- */

static cb_status from_quat(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  (void)r;
  const cb_status status = cb_mjcf_numbers(value, "quat", 4, 4, q, NULL);
  return status || cb_mjcf_normalise(4, q) ? status : cb_node_fail(value, "quat: expected a quaternion that is not 0");
}

static cb_status from_axisangle(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  double a[4];
  const cb_status status = cb_mjcf_numbers(value, "axisangle", 4, 4, a, NULL);
  if (status) return status;
  if (!cb_mjcf_normalise(3, a)) return too_short(value, "axisangle");
  turn_about(a, r->radians ? a[3] : a[3] * M_PI / 180, q);
  return CB_OK;
}

static cb_status from_xyaxes(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  double a[6], z[3], axes[3][3];
  (void)r;
  const cb_status status = cb_mjcf_numbers(value, "xyaxes", 6, 6, a, NULL);
  if (status) return status;
  if (!cb_mjcf_normalise(3, a)) return too_short(value, "xyaxes");
  const double along = cb_dot3(a, a + 3);
  for (int i = 0; i < 3; i++) a[3 + i] -= along * a[i];
  if (!cb_mjcf_normalise(3, a + 3)) return cb_node_fail(value, "xyaxes: expected two different directions");
  cb_cross3(a, a + 3, z);
  for (int i = 0; i < 3; i++) {
    axes[i][0] = a[i];
    axes[i][1] = a[3 + i];
    axes[i][2] = z[i];
  }
  cb_quaternion_of_rotation((const double(*)[3])axes, q);
  return CB_OK;
}

static cb_status from_zaxis(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  double z[3];
  (void)r;
  const cb_status status = cb_mjcf_numbers(value, "zaxis", 3, 3, z, NULL);
  if (status) return status;
  if (!cb_mjcf_normalise(3, z)) return too_short(value, "zaxis");
  cb_mjcf_turn_to(z, q);
  return CB_OK;
}

/* Lower-case letters of the sequence are rotations about axes that rotate with the body, upper-case letters about fixed
 * axes. */
void cb_mjcf_euler(const cb_mjcf_reader *r, const double angle[3], double q[4]) {
  for (int i = 0; i < 4; i++) q[i] = i == 0;
  for (int i = 0; i < 3; i++) {
    const char letter = r->sequence[i];
    const bool along = letter >= 'x';
    double axis[3] = {0}, turn[4];
    axis[letter - (along ? 'x' : 'X')] = 1;
    turn_about(axis, r->radians ? angle[i] : angle[i] * M_PI / 180, turn);
    if (along)
      cb_quaternion_multiply(q, turn, q);
    else
      cb_quaternion_multiply(turn, q, q);
  }
  cb_quaternion_project(q);
}

static cb_status from_euler(const cb_mjcf_reader *r, const cb_node *value, double q[4]) {
  double angle[3];
  const cb_status status = cb_mjcf_numbers(value, "euler", 3, 3, angle, NULL);
  if (!status) cb_mjcf_euler(r, angle, q);
  return status;
}

static const struct {
  const char *name;
  cb_status (*read)(const cb_mjcf_reader *r, const cb_node *value, double q[4]);
} ways[] = {{"quat", from_quat},
            {"axisangle", from_axisangle},
            {"xyaxes", from_xyaxes},
            {"zaxis", from_zaxis},
            {"euler", from_euler}};
enum { WAYS = sizeof ways / sizeof *ways };

cb_status cb_mjcf_pose(const cb_mjcf_reader *r, const cb_mjcf_source *source, cb_pose *out, bool *oriented) {
  cb_xml *own = source->from[source->n - 1];
  const cb_node *first = NULL;
  cb_pose_identity(out);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &own->name, cb_mjcf_merged(source, "pos", 3, 3, out->x));
  for (int i = 0; i < WAYS; i++) {
    const cb_node *value = cb_mjcf_value(source, ways[i].name), *here = cb_xml_get(own, ways[i].name);
    if (value) cb_errors_add(&errors, value, ways[i].read(r, value, out->q));
    if (first && here)
      cb_errors_add(&errors, here,
                    cb_node_fail(here, "%s next to another orientation: expected only one orientation", ways[i].name));
    if (here) first = here;
    if (oriented && value) *oriented = true;
  }
  return cb_errors_end(&errors);
}

/* --- the floor --- */

typedef struct cb_mjcf_plane {
  cb_xml *e;
  double normal[3], height;
  unsigned contype, conaffinity;
  struct cb_mjcf_plane *next;
} cb_mjcf_plane;

static const char still[] = "it does not move";

static cb_status add_plane(cb_mjcf_reader *r, const cb_mjcf_scope *scope, cb_xml *e, const cb_mjcf_source *source) {
  cb_mjcf_plane *p = cb_arena_alloc(r->arena, 1, sizeof *p);
  cb_pose pose;
  double R[3][3];
  if (!p) return cb_mjcf_no_memory(r);
  *p = (cb_mjcf_plane){.e = e};
  cb_status status = cb_mjcf_pose(scope->r, source, &pose, NULL);
  if (!status) status = cb_mjcf_touching(source, &p->contype, &p->conaffinity);
  if (status) return status;
  cb_pose_multiply(&scope->frame, &pose, &pose);
  cb_pose_rotation(&pose, R);
  for (int i = 0; i < 3; i++) p->normal[i] = R[i][2];
  p->height = cb_dot3(p->normal, pose.x);
  *r->whole->last_plane = p;
  r->whole->last_plane = &p->next;
  return CB_OK;
}

cb_status cb_mjcf_see_geom(cb_mjcf_reader *r, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_source source;
  const cb_status status = cb_mjcf_source_of(scope->r, e, scope->childclass, &source);
  const cb_node *type = status ? NULL : cb_mjcf_value(&source, "type");
  e->why = still;
  return type && !strcmp(type->text, "plane") ? add_plane(r, scope, e, &source) : status;
}

/* --- the choice of a plane --- */

static bool touches(const cb_mjcf_plane *p, const cb_mjcf_body *body) {
  for (const cb_mjcf_link *l = body->links; l; l = l->next)
    for (const cb_mjcf_geom *g = l->geoms; g; g = g->next)
      if ((p->contype & g->conaffinity) || (g->contype & p->conaffinity)) return true;
  return false;
}

static int count_touching(const cb_mjcf_reader *r, const cb_mjcf_plane *p) {
  int n = 0;
  for (const cb_mjcf_body *b = r->model->bodies; b; b = b->next) n += touches(p, b);
  return n;
}

/* Returns the first plane with which a body collides, or the highest one of those with the same normal; NULL if no body
 * collides with a plane. */
static const cb_mjcf_plane *choose(const cb_mjcf_reader *r) {
  const cb_mjcf_plane *best = NULL;
  for (const cb_mjcf_plane *p = r->whole->planes; p; p = p->next) {
    if (!count_touching(r, p)) continue;
    if (!best || (cb_dot3(p->normal, best->normal) > 1 - 1e-12 && p->height > best->height)) best = p;
  }
  return best;
}

static cb_status report_others(const cb_mjcf_reader *r, const cb_mjcf_plane *floor) {
  char text[160];
  for (const cb_mjcf_plane *p = r->whole->planes; p; p = p->next) {
    if (!r->whole->touching || !count_touching(r, p)) {
      p->e->why = "no moving body collides with it";
    } else if (p->e != floor->e) {
      snprintf(text, sizeof text, "only one plane is read as the floor, the plane in line %d", floor->e->name.line);
      p->e->why = cb_arena_strdup(r->arena, text);
      if (!p->e->why) return cb_mjcf_no_memory(r);
    }
  }
  return CB_OK;
}

/* --- the height at which bodies start --- */

/* An interval along a normal. */
typedef struct span {
  double from, to;
} span;

static cb_status mesh_span(const cb_mjcf_mesh *mesh, const double a[3], double at, span *out) {
  cb_surface *s;
  const cb_status status = cb_surface_read(mesh->file, true, &s);
  if (status) return status;
  for (int v = 0; v < s->vertices; v++) {
    double along = at;
    for (int i = 0; i < 3; i++) along += a[i] * mesh->scale[i] * s->x[v][i];
    out->from = fmin(out->from, along);
    out->to = fmax(out->to, along);
  }
  cb_surface_free(s);
  return CB_OK;
}

/* Returns half of the height of a geom along a direction with the components a in the geom's axes. */
static double half_height(const cb_mjcf_geom *g, const double a[3]) {
  const double *s = g->size;
  switch (g->type) {
    case CB_MJCF_SPHERE: return s[0];
    case CB_MJCF_CAPSULE: return s[0] + s[1] * fabs(a[2]);
    case CB_MJCF_CYLINDER: return s[0] * hypot(a[0], a[1]) + s[1] * fabs(a[2]);
    case CB_MJCF_ELLIPSOID: return hypot(hypot(s[0] * a[0], s[1] * a[1]), s[2] * a[2]);
    default: return s[0] * fabs(a[0]) + s[1] * fabs(a[1]) + s[2] * fabs(a[2]);
  }
}

static cb_status add_span(const cb_mjcf_body *body, const cb_mjcf_geom *g, const cb_pose *pose, const double normal[3],
                          span *out) {
  cb_pose world;
  double R[3][3], a[3];
  cb_pose_multiply(&body->place, pose, &world);
  cb_pose_rotation(&world, R);
  cb_apply3_transposed((const double(*)[3])R, normal, a);
  const double at = cb_dot3(normal, world.x);
  if (g->mesh) return mesh_span(g->mesh, a, at, out);
  const double half = half_height(g, a);
  out->from = fmin(out->from, at - half);
  out->to = fmax(out->to, at + half);
  return CB_OK;
}

static cb_status find_span(const cb_mjcf_body *body, const double normal[3], span *out) {
  bool any = false;
  cb_status status = CB_OK;
  *out = (span){INFINITY, -INFINITY};
  for (const cb_mjcf_link *l = body->links; l; l = l->next)
    for (const cb_mjcf_geom *g = l->geoms; g && !status; g = g->next, any = true) {
      const cb_pose pose = cb_mjcf_looks_at(l, g);
      status = add_span(body, g, &pose, normal, out);
    }
  if (any) return status;
  cb_pose pose;
  const cb_mjcf_geom box = cb_mjcf_looks_without_geoms(body, &pose);
  return add_span(body, &box, &pose, normal, out);
}

/* Lowers *height, the height of the floor, to the lowest point of all bodies if that point is below the floor. *buried
 * becomes a body that starts with more than half of its own height below the given floor. If there is no such body,
 * *buried becomes NULL. */
static cb_status lower(const cb_mjcf_reader *r, double *height, const double normal[3], const cb_mjcf_body **buried) {
  const double given = *height;
  *buried = NULL;
  for (const cb_mjcf_body *b = r->model->bodies; b; b = b->next) {
    span s;
    const cb_status status = find_span(b, normal, &s);
    if (status) return status;
    const double below = given - s.from, capacity = 8 * DBL_EPSILON * (fabs(given) + fabs(s.from) + s.to - s.from);
    if (below > capacity && below > 0.5 * (1 + 1e-9) * (s.to - s.from)) *buried = b;
    if (below > capacity) *height = fmin(*height, s.from);
  }
  return CB_OK;
}

static cb_status report(const cb_mjcf_reader *r, const cb_mjcf_plane *floor, const cb_mjcf_body *buried) {
  cb_mjcf *m = r->model;
  char text[256];
  if (buried) {
    snprintf(text, sizeof text, "the body `%s` begins below this plane",
             cb_quoted(buried->name, strlen(buried->name)).text);
  } else {
    snprintf(text, sizeof text, "friction of the floor; %s%s",
             m->joints ? "it is a spring and a damper for bodies with joints" : "no body rebounds from it",
             count_touching(r, floor) < m->n ? "; it also stops bodies that do not collide with it in MuJoCo" : "");
    if (m->height < floor->height)
      snprintf(text + strlen(text), sizeof text - strlen(text),
               "; it is lowered by %.3g to the lowest point of a body at its start", floor->height - m->height);
  }
  const char *reported = cb_arena_strdup(r->arena, text);
  if (!reported) return cb_mjcf_no_memory(r);
  floor->e->why = buried ? reported : NULL;
  floor->e->note = buried ? NULL : reported;
  return CB_OK;
}

static void take(const cb_mjcf_plane *floor) {
  static const char *const known[] = {"name",  "class",     "type",        "size",  "pos",
                                      "quat",  "axisangle", "xyaxes",      "zaxis", "euler",
                                      "group", "contype",   "conaffinity", "mass",  "density"};
  for (cb_xml *p = floor->e; p; p = p->parent) p->read = true;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(floor->e, known[i]);
}

cb_status cb_mjcf_choose_floor(cb_mjcf_reader *r) {
  cb_mjcf *m = r->model;
  const cb_mjcf_plane *floor = r->whole->touching ? choose(r) : NULL;
  const cb_mjcf_body *buried;
  cb_status status = report_others(r, floor);
  if (status || !floor) return status;
  memcpy(m->normal, floor->normal, sizeof m->normal);
  m->height = floor->height;
  status = lower(r, &m->height, m->normal, &buried);
  m->floor = !buried;
  if (m->floor) take(floor);
  return status ? status : report(r, floor, buried);
}
