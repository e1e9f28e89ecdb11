/* <worldbody> of MJCF: the bodies that move, and the bodies that are welded to them.
 *
 * A body with joints becomes a body of the scenario, together with the bodies in it that have no joints. The mass and
 * inertia of a body come from <inertial>, or from its geoms in the groups that <compiler> names, within the bounds of
 * <compiler>. The masses of bodies that are welded together are added.
 */
#include "mjcf/mjcf_private.h"

#include "tree/scalar.h"

#include <stdio.h>
#include <string.h>

/* --- a body and the bodies in it --- */

/* The list of the bodies of the scenario, to which bodies are appended in MuJoCo's order. */
typedef struct world {
  cb_mjcf_reader *r;
  cb_mjcf_body **last; /* end of the list */
} world;

typedef struct within {
  world *u;
  cb_mjcf_body *body;  /* the body of the scenario */
  cb_mjcf_link **last; /* end of the list of its links */
  bool weighed;        /* only the mass is needed, because the body does not move */
} within;

/* The data that is collected while the elements of a body are read. */
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
static cb_status read_moving(world *u, const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_body *parent,
                             const cb_pose *around);

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

static cb_status fail_free(const parts *p, cb_xml *e) {
  if (p->w->body->parent || !p->w->body->top)
    return cb_node_fail(&e->name, "a free joint in a body of another body: expected a body of the world");
  return cb_node_fail(&e->name, "a free joint next to another joint of its body: expected only one of them");
}

static cb_status note_left_out(const cb_mjcf_source *source, cb_xml *e, const char *name) {
  const cb_node *value = cb_mjcf_value(source, name);
  double number = 0;
  const cb_status status = value ? cb_mjcf_numbers(value, name, 1, 1, &number, NULL) : CB_OK;
  if (number != 0) e->note = "stiffness, armature or frictionloss of a free joint";
  return status;
}

/* Reads a free joint. Only its attribute `damping` has an effect. */
static cb_status read_free(const parts *p, const cb_mjcf_scope *scope, cb_xml *e) {
  static const char *const left_out[] = {"stiffness", "armature", "frictionloss"};
  const cb_mjcf_reader *r = scope->r;
  cb_mjcf_source source;
  double damping = 0;
  cb_xml_is(e, e->name.text);
  if (!strcmp(e->name.text, "joint")) {
    cb_status status = cb_mjcf_source_of(r, e, scope->childclass, &source);
    if (!status) status = cb_mjcf_merged(&source, "damping", 1, 1, &damping);
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out && !status; i++)
      status = note_left_out(&source, e, left_out[i]);
    if (status) return status;
    cb_xml_get(e, "type");
  }
  static const char *const known[] = {"name", "class", "group", "align"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(e, known[i]);
  return cb_mjcf_damp(r, p->w->body, r->whole->dampers ? damping : 0);
}

static cb_status add_joint(parts *p, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_body *body = p->w->body;
  cb_mjcf_target *t;
  if (p->w->weighed) return CB_OK;
  const cb_status status = cb_mjcf_add_target(scope, e, body, &p->link->pose, &t);
  if (status) return status;
  const bool free = t->type == CB_MJCF_FREE;
  if (body->free || (free && (body->holds || !body->top))) return fail_free(p, e);
  body->free = free;
  return free ? read_free(p, scope, e) : cb_mjcf_read_joint(scope, e, body, t);
}

static cb_status read_part(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  parts *p = user;
  const char *name = e->name.text;
  cb_mjcf_target *site;
  if (!strcmp(name, "geom")) return add_geom(p, scope, e);
  if (!strcmp(name, "body")) return CB_OK;
  if (cb_mjcf_is_joint(e)) return add_joint(p, scope, e);
  if (!strcmp(name, "site") && !p->w->weighed) return cb_mjcf_add_target(scope, e, p->w->body, &p->link->pose, &site);
  if (strcmp(name, "inertial")) return refuse(p->w, e);
  e->read = true;
  if (p->inertial) return cb_node_fail(&e->name, "a second <inertial>: expected only one");
  p->inertial = e;
  p->scope = *scope;
  return CB_OK;
}

/* A body inside another body moves if it has a joint; otherwise it is welded to the other body. */
static cb_status read_within(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  parts *p = user;
  cb_xml *joint;
  if (strcmp(e->name.text, "body")) return CB_OK;
  const cb_status status = cb_mjcf_first_joint(scope, e, &joint);
  if (status) return status;
  if (joint && p->w->weighed) return CB_OK;
  if (joint) return read_moving(p->w->u, scope, e, p->w->body, &p->link->pose);
  return read_link(p->w, scope, e, &p->link->pose);
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
 * bound of <compiler> gives mass to a body that has none. The place of this mass follows MuJoCo: if the body has the
 * position x in the frame of the surrounding body, the mass is at the point x of the body's own frame. */
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

/* Reads a link into *w->last. around: pose of the body of the file that surrounds the link, in the frame of the body of
 * the scenario (NULL: the link is the body of the scenario itself). */
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
  if (!status) status = weigh(r, e, &p);
  return status ? status : cb_mjcf_each(&inner, e, read_within, &p);
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

static cb_status check_mass(const cb_mjcf_body *body, const cb_xml *e) {
  const double(*I)[3] = (const double(*)[3])body->inertial.inertia;
  if (!(body->inertial.mass > 0))
    return cb_node_fail(&e->name, "a body without mass: expected <inertial>, or a geom with a mass or a density");
  return I[0][0] + I[1][1] + I[2][2] > 0 ? CB_OK
                                         : cb_node_fail(&e->name, "a body without inertia: expected moments > 0");
}

/* Reads a body with joints. around: pose of the surrounding body of the file, in the frame of the parent, or of the
 * world if `parent` is NULL. If `around` is NULL, the body is directly in the world. */
static cb_status read_moving(world *u, const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_body *parent,
                             const cb_pose *around) {
  cb_mjcf_reader *r = u->r;
  cb_mjcf_body *body = cb_arena_alloc(r->arena, 1, sizeof *body);
  cb_mjcf_scope inner;
  if (!body) return cb_mjcf_no_memory(r);
  *body = (cb_mjcf_body){.name = cb_mjcf_name(scope, e),
                         .prefix = scope->prefix,
                         .suffix = scope->suffix,
                         .parent = parent,
                         .top = !parent && !around};
  body->last_wrench = &body->wrenches;
  if (!body->name) return cb_mjcf_no_memory(r);
  cb_status status = cb_mjcf_enter(scope, e, &inner, &body->reference);
  if (status) return status;
  if (around) cb_pose_multiply(around, &body->reference, &body->reference);
  *u->last = body;
  u->last = &body->next;
  r->model->n++;
  within w = {u, body, &body->links, false};
  status = read_link(&w, scope, e, NULL);
  body->place = body->reference;
  if (!status) status = add_masses(r, body);
  return status ? status : check_mass(body, e);
}

/* Adds the mass of a body that does not move to the mass of the bodies that are left out. Does nothing if the file
 * gives no total mass. */
static cb_status weigh_left_out(world *u, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_body body = {.links = NULL};
  within w = {u, &body, &body.links, true};
  if (!(u->r->total > 0)) return CB_OK;
  const bool read = e->read;
  const cb_status status = read_link(&w, scope, e, NULL);
  e->read = read;
  for (const cb_mjcf_link *l = body.links; l; l = l->next) u->r->whole->mass += l->inertial.mass;
  return status;
}

/* Examines an element of the world or of a body that does not move. It may be a plane, which may become the floor, a
 * site, or a body, which may move. */
static cb_status see_still(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  world *u = user;
  cb_mjcf_scope inner;
  cb_mjcf_target *site;
  cb_pose pose;
  cb_xml *joint;
  const char *name = e->name.text;
  if (!strcmp(name, "geom")) return cb_mjcf_see_geom(u->r, scope, e);
  if (!strcmp(name, "composite") || !strcmp(name, "flexcomp")) u->r->whole->unknown = e;
  if (!strcmp(name, "inertial")) e->why = "it does not move";
  if (!strcmp(name, "site")) {
    cb_pose_identity(&pose);
    return cb_mjcf_add_target(scope, e, NULL, &pose, &site);
  }
  if (strcmp(name, "body")) return CB_OK;
  cb_status status = cb_mjcf_first_joint(scope, e, &joint);
  if (status) return status;
  cb_pose_identity(&pose);
  if (joint) return read_moving(u, scope, e, NULL, &pose);
  const int before = u->r->model->n;
  status = cb_mjcf_enter(scope, e, &inner, &pose);
  inner.frame = pose;
  if (!status) status = cb_mjcf_each(&inner, e, see_still, u);
  if (u->r->model->n > before) {
    e->read = true;
    cb_xml_get(e, "name");
  } else
    e->why = "it does not move";
  return status;
}

static cb_status read_top(world *u, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_xml *joint;
  cb_status status = cb_mjcf_first_joint(scope, e, &joint);
  if (status) return status;
  if (joint) return read_moving(u, scope, e, NULL, NULL);
  status = see_still(u, scope, e);
  return status ? status : weigh_left_out(u, scope, e);
}

static cb_status read_child(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  world *u = user;
  if (!strcmp(e->name.text, "body")) return read_top(u, scope, e);
  if (!strcmp(e->name.text, "composite") || !strcmp(e->name.text, "flexcomp")) {
    u->r->whole->unknown = e;
    return u->r->total > 0 ? fail_to_weigh(e) : CB_OK;
  }
  if (!strcmp(e->name.text, "site")) return see_still(u, scope, e);
  if (cb_mjcf_is_joint(e)) return cb_node_fail(&e->name, "a joint outside of a body: expected it in a <body>");
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

/* Reads the elements that refer to bodies and joints by their names. */
static cb_status read_rest(cb_mjcf_reader *r) {
  const cb_node *control = NULL;
  cb_status status = cb_mjcf_name_joints(r);
  cb_mjcf_place_bodies(r->model);
  if (!status) status = cb_mjcf_read_tendons(r);
  if (!status) status = cb_mjcf_read_equalities(r);
  if (!status) status = cb_mjcf_compensate(r);
  if (!status) status = cb_mjcf_read_key(r, &control);
  if (!status) status = cb_mjcf_start_couplings(r);
  cb_mjcf_place_bodies(r->model);
  cb_mjcf_start_loops(r->model);
  if (!status) status = cb_mjcf_read_actuators(r, control);
  if (!status) status = cb_mjcf_note_joints(r);
  return status ? status : cb_mjcf_choose_floor(r);
}

cb_status cb_mjcf_read_world(cb_mjcf_reader *r) {
  world u = {r, &r->model->bodies};
  cb_mjcf_scope scope = {.r = r, .prefix = "", .suffix = ""};
  cb_pose_identity(&scope.frame);
  cb_status status = cb_mjcf_each_of_world(&scope, read_child, &u);
  if (!status && r->total > 0) status = set_total_mass(r);
  return status || !r->model->n ? status : read_rest(r);
}
