/* <worldbody> of MJCF: the bodies with a free joint, and the bodies that are welded to them.
 *
 * The mass and inertia of a body come from <inertial>, or from its geoms in the groups that <compiler> names, within
 * the bounds of <compiler>. The masses of bodies that are welded together are added.
 */
#include "mjcf/mjcf_private.h"

#include "tree/scalar.h"

#include <stdio.h>
#include <string.h>

/* --- a body and the bodies in it --- */

static void take_joint(cb_xml *joint) {
  static const char *const known[] = {"name", "class", "type", "group", "align"};
  cb_xml_is(joint, joint->name.text);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(joint, known[i]);
}

typedef struct within {
  cb_mjcf_reader *r;   /* of the main file; for a body that is left out, of its file */
  cb_mjcf_body *body;  /* the free body */
  cb_mjcf_link **last; /* end of the list of its links */
  bool weighed;        /* only the mass is needed, because the body is left out */
} within;

/* The elements in a body. */
typedef struct parts {
  within *w;
  cb_mjcf_link *link;
  cb_mjcf_geom **last;
  bool needs_mass;
  cb_xml *inertial;
  cb_mjcf_scope scope; /* the scope of <inertial> */
} parts;

static cb_status find_inertial(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  (void)scope;
  if (!strcmp(e->name.text, "inertial")) *(bool *)user = true;
  return CB_OK;
}

static cb_status read_link(within *w, const cb_mjcf_scope *scope, cb_xml *e, const cb_pose *around);

static cb_status fail_to_weigh(const cb_xml *e) {
  return cb_node_fail(&e->name, "the mass of <%s> is not known: expected no settotalmass", e->name.text);
}

/* Fails for elements that have mass or move in a way that this reader does not support. It also fails for unknown
 * elements, unless only the mass of the body is needed. */
static cb_status refuse(const within *w, cb_xml *e) {
  static const char *const made[] = {"composite", "flexcomp", "plugin"}, *const known[] = {
                                                                             "inertial",  "joint",  "freejoint",
                                                                             "geom",      "site",   "camera",
                                                                             "light",     "body",   "frame",
                                                                             "replicate", "attach", "include"};
  const char *name = e->name.text;
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    if (!strcmp(name, made[i]))
      return w->weighed ? fail_to_weigh(e)
                        : cb_node_fail(&e->name, "<%s> in a body that moves: expected geoms and bodies", name);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(name, known[i])) return CB_OK;
  return *name == '#' || w->weighed
             ? CB_OK
             : cb_fail_unknown(&e->name, "element of a body", name, known, sizeof known / sizeof *known);
}

/* A plane or a height field has no volume, so it has no mass. */
static cb_status has_volume(const cb_mjcf_scope *scope, cb_xml *e, bool *out) {
  cb_mjcf_source source;
  const cb_status status = cb_mjcf_source_of(scope->r, e, scope->childclass, &source);
  const cb_node *type = status ? NULL : cb_mjcf_value(&source, "type");
  *out = !type || (strcmp(type->text, "plane") && strcmp(type->text, "hfield"));
  return status;
}

static cb_status add_geom(parts *p, const cb_mjcf_scope *scope, cb_xml *e) {
  bool solid = true;
  cb_status status = p->w->weighed ? has_volume(scope, e, &solid) : CB_OK;
  if (status || !solid) return status;
  e->read = true;
  status = cb_mjcf_read_geom(scope, e, p->needs_mass, p->last);
  if (!status) p->last = &(*p->last)->next;
  return status;
}

static cb_status read_part(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  parts *p = user;
  const char *name = e->name.text;
  if (!strcmp(name, "geom")) return add_geom(p, scope, e);
  if (!strcmp(name, "body")) return read_link(p->w, scope, e, &p->link->pose);
  if (strcmp(name, "inertial")) return refuse(p->w, e);
  e->read = true;
  if (p->inertial) return cb_node_fail(&e->name, "a second <inertial>: expected only one");
  p->inertial = e;
  p->scope = *scope;
  return CB_OK;
}

static cb_status add_geoms(const cb_mjcf_reader *r, cb_mjcf_link *link) {
  int n = 0;
  for (const cb_mjcf_geom *g = link->geoms; g; g = g->next) n++;
  cb_mjcf_inertial *one = cb_arena_alloc(r->arena, (size_t)n, sizeof *one);
  const cb_mjcf_inertial **of = cb_arena_alloc(r->arena, (size_t)n, sizeof *of);
  if (!one || !of) return cb_mjcf_no_memory(r);
  n = 0;
  for (const cb_mjcf_geom *g = link->geoms; g; g = g->next, n++) {
    one[n] = (cb_mjcf_inertial){.mass = g->mass, .centre = g->centre};
    for (int i = 0; i < 3; i++) one[n].inertia[i][i] = g->moment[i];
    of[n] = &one[n];
  }
  cb_mjcf_add(n, of, NULL, &link->inertial);
  return CB_OK;
}

/* An <inertial> replaces the masses of geoms, unless <compiler> requests the masses of geoms and there are geoms. A
 * bound of <compiler> gives mass to a body that has none. MuJoCo puts this mass at the point of the body's own frame
 * whose coordinates are those of the body in the surrounding body. */
static cb_status weigh(const cb_mjcf_reader *r, cb_xml *e, const parts *p) {
  const cb_mjcf_source source = {{e}, 1};
  cb_mjcf_inertial *own = &p->link->inertial;
  cb_status status = p->needs_mass ? add_geoms(r, p->link) : CB_OK;
  if (status) return status;
  if (p->inertial && !(own->mass > 0)) return cb_mjcf_read_inertial(&p->scope, p->inertial, own);
  if (!(own->mass > 0)) status = cb_mjcf_pose(r, &source, &own->centre, NULL);
  if (status) return status;
  return r->bound_mass > 0 || r->bound_inertia > 0 || r->balance ? cb_mjcf_bound(r, &e->name, own) : CB_OK;
}

static cb_status read_gravcomp(cb_xml *e, double *out) {
  const cb_node *value = cb_xml_get(e, "gravcomp");
  return value ? cb_mjcf_numbers(value, "gravcomp", 1, 1, out, NULL) : CB_OK;
}

/* Reads a link into *w->last. around: pose of the surrounding body in the free body (NULL: the link is the free
 * body). */
static cb_status read_link(within *w, const cb_mjcf_scope *scope, cb_xml *e, const cb_pose *around) {
  const cb_mjcf_reader *r = scope->r;
  cb_mjcf_link *link = cb_arena_alloc(r->arena, 1, sizeof *link);
  const char *name = cb_mjcf_name(scope, e);
  cb_mjcf_scope inner;
  cb_pose pose;
  bool given = false;
  if (!link || !name) return cb_mjcf_no_memory(r);
  *link = (cb_mjcf_link){.name = name};
  *w->last = link;
  w->last = &link->next;
  e->read = true;
  cb_pose_identity(&link->pose);
  link->inertial.centre = link->pose;
  cb_status status = cb_mjcf_enter(scope, e, &inner, &pose);
  if (status) return status;
  if (around)
    cb_pose_multiply(around, &pose, &link->pose);
  else
    w->body->place = pose;
  status = read_gravcomp(e, &link->gravcomp);
  if (!status) status = cb_mjcf_each(&inner, e, find_inertial, &given);
  parts p = {.w = w, .link = link, .last = &link->geoms};
  p.needs_mass = r->from_geoms == CB_MJCF_ALWAYS || (r->from_geoms == CB_MJCF_AUTO && !given);
  if (!status) status = cb_mjcf_each(&inner, e, read_part, &p);
  return status ? status : weigh(r, e, &p);
}

/* --- the free bodies --- */

static cb_status add_masses(const cb_mjcf_reader *r, cb_mjcf_body *body) {
  int n = 0;
  for (const cb_mjcf_link *l = body->links; l; l = l->next) n++;
  const cb_mjcf_inertial **of = cb_arena_alloc(r->arena, (size_t)n, sizeof *of);
  const cb_pose **pose = cb_arena_alloc(r->arena, (size_t)n, sizeof *pose);
  if (!of || !pose) return cb_mjcf_no_memory(r);
  n = 0;
  for (const cb_mjcf_link *l = body->links; l; l = l->next, n++) {
    of[n] = &l->inertial;
    pose[n] = &l->pose;
  }
  body->inertial = (cb_mjcf_inertial){.mass = 0};
  cb_mjcf_add(n, of, pose, &body->inertial);
  return CB_OK;
}

typedef struct world {
  cb_mjcf_reader *r;
  cb_mjcf_body **last;
  bool wanted; /* a key or actuators need the joints and sites */
} world;

static cb_status read_free(world *u, const cb_mjcf_scope *scope, cb_xml *e, cb_xml *joint) {
  cb_mjcf_reader *r = u->r;
  cb_mjcf_body *body = cb_arena_alloc(r->arena, 1, sizeof *body);
  if (!body) return cb_mjcf_no_memory(r);
  *body = (cb_mjcf_body){.links = NULL};
  body->last_wrench = &body->wrenches;
  within w = {r, body, &body->links, false};
  take_joint(joint);
  cb_status status = read_link(&w, scope, e, NULL);
  if (status) return status;
  body->name = body->links->name;
  body->prefix = scope->prefix;
  body->suffix = scope->suffix;
  status = add_masses(r, body);
  const double(*I)[3] = (const double(*)[3])body->inertial.inertia;
  if (!status && !(body->inertial.mass > 0))
    status = cb_node_fail(&e->name, "a body without mass: expected <inertial>, or a geom with a mass or a density");
  else if (!status && !(I[0][0] + I[1][1] + I[2][2] > 0))
    status = cb_node_fail(&e->name, "a body without inertia: expected moments > 0");
  if (status) return status;
  *u->last = body;
  u->last = &body->next;
  r->model->n++;
  return u->wanted ? cb_mjcf_add_targets(r->whole, scope, e, body) : CB_OK;
}

/* Adds the mass of a body that is left out. It counts if the file gives a total mass for all bodies. */
static cb_status weigh_left_out(const cb_mjcf_reader *r, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_body body = {.links = NULL};
  within w = {scope->r, &body, &body.links, true};
  if (!(r->total > 0)) return CB_OK;
  const bool read = e->read;
  const cb_status status = read_link(&w, scope, e, NULL);
  e->read = read;
  for (const cb_mjcf_link *l = body.links; l; l = l->next) r->whole->mass += l->inertial.mass;
  return status;
}

static cb_status report_joint(const cb_mjcf_reader *r, cb_xml *e, cb_xml *joint) {
  const cb_node *name = cb_xml_get(joint, "name");
  const cb_quote own = cb_quoted(name ? name->text : "", name ? strlen(name->text) : 0);
  char text[224];
  snprintf(text, sizeof text, "it has the <%s>%s%s%s in line %d, but its only joint must be a free joint",
           joint->name.text, name ? " `" : "", own.text, name ? "`" : "", joint->name.line);
  e->why = cb_arena_strdup(r->arena, text);
  if (!r->whole->joint) {
    r->whole->blocked = e;
    r->whole->joint = joint;
  }
  return e->why ? CB_OK : cb_mjcf_no_memory(r);
}

/* Looks for planes in a body that does not move, because one may be the floor. */
static cb_status see_still(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_scope inner;
  cb_pose pose;
  if (!strcmp(e->name.text, "geom")) return cb_mjcf_see_geom(user, scope, e);
  if (strcmp(e->name.text, "body")) return CB_OK;
  const cb_status status = cb_mjcf_enter(scope, e, &inner, &pose);
  inner.frame = pose;
  return status ? status : cb_mjcf_each(&inner, e, see_still, user);
}

static cb_status leave_out(const world *u, const cb_mjcf_scope *scope, cb_xml *e, cb_xml *joint) {
  cb_status status = joint ? report_joint(u->r, e, joint) : see_still(u->r, scope, e);
  if (!joint) e->why = "it does not move";
  if (!status && u->wanted) status = cb_mjcf_add_targets(u->r->whole, scope, e, NULL);
  return status ? status : weigh_left_out(u->r, scope, e);
}

static cb_status read_top(world *u, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_joints j;
  cb_mjcf_joint type = CB_MJCF_HINGE;
  cb_status status = cb_mjcf_find_joints(scope, e, &j);
  if (!status && j.first) status = cb_mjcf_joint_type(&j.scope, j.first, &type);
  if (status) return status;
  const bool is = j.first && type == CB_MJCF_FREE;
  if (is && !j.other) return read_free(u, scope, e, j.first);
  return leave_out(u, scope, e, is || !j.first ? j.other : j.first);
}

static cb_status read_child(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  world *u = user;
  if (!strcmp(e->name.text, "body")) return read_top(u, scope, e);
  if (!strcmp(e->name.text, "composite") || !strcmp(e->name.text, "flexcomp")) {
    u->r->whole->unknown = e;
    return u->r->total > 0 ? fail_to_weigh(e) : CB_OK;
  }
  return strcmp(e->name.text, "geom") ? CB_OK : cb_mjcf_see_geom(u->r, scope, e);
}

/* Scales all masses so that their sum, including the bodies that are left out, is the given total. */
static cb_status set_total_mass(const cb_mjcf_reader *r) {
  double mass = r->whole->mass;
  cb_status status = CB_OK;
  for (const cb_mjcf_body *b = r->model->bodies; b; b = b->next) mass += b->inertial.mass;
  for (cb_mjcf_body *b = r->model->bodies; b && !status; b = b->next) {
    for (cb_mjcf_link *l = b->links; l; l = l->next) {
      l->inertial.mass *= r->total / mass;
      for (int i = 0; i < 9; i++) l->inertial.inertia[i / 3][i % 3] *= r->total / mass;
    }
    status = add_masses(r, b);
  }
  return status;
}

static bool are_targets_wanted(const cb_mjcf_reader *r) {
  bool wanted = r->whole->key != NULL;
  for (const cb_mjcf_reader *own = r->whole->readers; own; own = own->next)
    for (const cb_xml *e = own->root->first; e; e = e->next) wanted = wanted || !strcmp(e->name.text, "actuator");
  return wanted;
}

cb_status cb_mjcf_read_world(cb_mjcf_reader *r) {
  const cb_node *control = NULL;
  world u = {r, &r->model->bodies, are_targets_wanted(r)};
  cb_mjcf_scope scope = {.r = r, .prefix = "", .suffix = ""};
  cb_pose_identity(&scope.frame);
  cb_status status = cb_mjcf_each_of_world(&scope, read_child, &u);
  if (!status && r->total > 0) status = set_total_mass(r);
  if (!status) status = cb_mjcf_compensate(r);
  if (!status) status = cb_mjcf_read_key(r, &control);
  if (!status) status = cb_mjcf_read_actuators(r, control);
  return status ? status : cb_mjcf_choose_floor(r);
}
