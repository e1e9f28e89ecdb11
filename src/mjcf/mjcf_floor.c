/* The planes of the world of MJCF, one of which becomes the floor. Its z axis is the normal, and it is unbounded:
 * `size` is only for drawing.
 *
 * The floor stops a body if a geom of the body collides with it: the `contype` of one geom and the `conaffinity` of the
 * other must have a common bit. MuJoCo's contacts do not rebound by default. If a body starts with less than half of
 * its height below the floor, the floor is lowered to the body's lowest point, because in MuJoCo bodies rest slightly
 * below the plane. Source: MuJoCo's documentation (geom, collision detection).
 */
#include "mjcf/mjcf_private.h"

#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Lowers *height, the height of the floor, to the lowest point of all bodies if that point is below it. *buried: a body
 * that starts with more than half of its own height below the given floor, or NULL. */
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
