/* <worldbody> of MJCF: the bodies that a free joint lets move, with those that are welded to them.
 *
 * A <frame> stands for its pose. Mass and inertia are those of <inertial>, or of the geoms of the groups that <compiler>
 * names, each body's by itself; those of bodies that are welded together are added for the whole.
 */
#include "io/mjcf_private.h"

#include <stdio.h>
#include <string.h>

/* --- joints --- */

/* The first joint below e but in bodies (all: in these too) that is not `but`. */
static cb_xml *find_joint(cb_xml *e, bool all, const cb_xml *but) {
  for (cb_xml *child = e->first; child; child = child->next) {
    const char *name = child->name.text;
    const bool joint = !strcmp(name, "joint") || !strcmp(name, "freejoint");
    if (joint && !(but && child == but)) return child;
    cb_xml *within = !strcmp(name, "frame") || (all && !strcmp(name, "body")) ? find_joint(child, all, but) : NULL;
    if (within) return within;
  }
  return NULL;
}

static cb_status is_free(const cb_mjcf_reader *r, cb_xml *joint, const char *childclass, bool *out) {
  static const char *const types[] = {"hinge", "free", "ball", "slide"};
  cb_mjcf_source source;
  int type = 0;
  *out = !strcmp(joint->name.text, "freejoint");
  if (*out) return CB_OK;
  cb_status status = cb_mjcf_source_of(r, joint, childclass, &source);
  const cb_node *value = status ? NULL : cb_mjcf_value(&source, "type");
  if (value) status = cb_mjcf_choice(value, "type of joint", 4, types, &type);
  *out = type == 1;
  return status;
}

static void take_joint(cb_xml *joint) {
  static const char *const known[] = {"name", "class", "type", "group"};
  cb_xml_is(joint, joint->name.text);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(joint, known[i]);
}

/* --- a body and those in it --- */

typedef struct within {
  cb_mjcf_reader *r;
  cb_mjcf_body *body;  /* the free one */
  cb_mjcf_link **last; /* of its links */
} within;

/* What stands in a body, in its frames too. */
typedef struct parts {
  cb_mjcf_link *link;
  cb_mjcf_geom **last;
  cb_xml *inertial;
  cb_pose inertial_frame;
} parts;

static cb_status read_class(const cb_mjcf_reader *r, cb_xml *e, const char **childclass) {
  const cb_node *value = cb_xml_get(e, "childclass");
  const cb_mjcf_class *c = r->classes;
  if (!value) return CB_OK;
  while (c && strcmp(c->name, value->text)) c = c->next;
  if (!c) return cb_node_fail(value, "no <default> has the class `%s`", value->text);
  *childclass = value->text;
  return CB_OK;
}

static cb_status read_frame(const cb_mjcf_reader *r, cb_xml *e, const cb_pose *around, cb_pose *out,
                            const char **childclass) {
  const cb_mjcf_source source = {{e}, 1};
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &e->name, read_class(r, e, childclass));
  cb_errors_add(&errors, &e->name, cb_mjcf_pose(r, &source, out, NULL));
  cb_pose_multiply(around, out, out);
  return cb_errors_end(&errors);
}

/* An <inertial> stands for the geoms' masses unless these are always asked for. */
static cb_xml *find_inertial(cb_xml *e) {
  for (cb_xml *child = e->first; child; child = child->next) {
    cb_xml *found = !strcmp(child->name.text, "inertial") ? child
                    : !strcmp(child->name.text, "frame")  ? find_inertial(child)
                                                          : NULL;
    if (found) return found;
  }
  return NULL;
}

static cb_status read_link(within *w, cb_xml *e, const cb_pose *around, const char *childclass);

static cb_status read_parts(within *w, cb_xml *e, const cb_pose *frame, bool massive, const char *childclass,
                            parts *p) {
  cb_errors errors = cb_errors_begin();
  for (cb_xml *child = e->first; child; child = child->next) {
    cb_status status = CB_OK;
    if (cb_xml_is(child, "inertial")) {
      if (p->inertial) status = cb_node_fail(&child->name, "a second <inertial>: expected one");
      p->inertial = child, p->inertial_frame = *frame;
    } else if (cb_xml_is(child, "geom")) {
      status = cb_mjcf_read_geom(w->r, child, childclass, frame, massive, p->last);
      if (!status) p->last = &(*p->last)->next;
    } else if (cb_xml_is(child, "frame")) {
      const char *own = childclass;
      cb_pose pose;
      status = read_frame(w->r, child, frame, &pose, &own);
      if (!status) status = read_parts(w, child, &pose, massive, own, p);
    } else if (cb_xml_is(child, "body")) {
      cb_pose pose;
      cb_pose_multiply(&p->link->pose, frame, &pose);
      status = read_link(w, child, &pose, childclass);
    }
    cb_errors_add(&errors, &child->name, status);
  }
  return cb_errors_end(&errors);
}

static cb_status weigh(const cb_mjcf_reader *r, cb_mjcf_link *link) {
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

/* Reads it into *w->last; around: the frame that it stands in, in the free body; of that itself, in the world. */
static cb_status read_link(within *w, cb_xml *e, const cb_pose *around, const char *childclass) {
  cb_mjcf_reader *r = w->r;
  const cb_node *name = cb_xml_get(e, "name");
  cb_mjcf_link *link = cb_arena_alloc(r->arena, 1, sizeof *link);
  cb_pose identity;
  if (!link) return cb_mjcf_no_memory(r);
  *link = (cb_mjcf_link){.name = name ? name->text : ""};
  const bool first = !w->body->links;
  *w->last = link;
  w->last = &link->next;
  cb_pose_identity(&identity);
  link->pose = link->inertial.centre = identity;
  cb_status status = read_frame(r, e, around, first ? &w->body->place : &link->pose, &childclass);
  if (status) return status;
  const bool massive = r->from_geoms == CB_MJCF_ALWAYS || (r->from_geoms == CB_MJCF_AUTO && !find_inertial(e));
  parts p = {.link = link, .last = &link->geoms};
  status = read_parts(w, e, &identity, massive, childclass, &p);
  if (status) return status;
  if (massive) status = weigh(r, link);
  if (status || link->inertial.mass > 0) return status; /* no geom of the groups: <inertial> stands */
  return p.inertial ? cb_mjcf_read_inertial(r, p.inertial, &p.inertial_frame, &link->inertial) : CB_OK;
}

/* --- the free ones --- */

static cb_status add_masses(const cb_mjcf_reader *r, cb_mjcf_body *body) {
  int n = 0;
  for (const cb_mjcf_link *l = body->links; l; l = l->next) n++;
  const cb_mjcf_inertial **of = cb_arena_alloc(r->arena, (size_t)n, sizeof *of);
  const cb_pose **pose = cb_arena_alloc(r->arena, (size_t)n, sizeof *pose);
  if (!of || !pose) return cb_mjcf_no_memory(r);
  n = 0;
  for (const cb_mjcf_link *l = body->links; l; l = l->next, n++) of[n] = &l->inertial, pose[n] = &l->pose;
  body->inertial = (cb_mjcf_inertial){.mass = 0};
  cb_mjcf_add(n, of, pose, &body->inertial);
  return CB_OK;
}

static cb_status read_free(cb_mjcf_reader *r, cb_xml *e, cb_xml *joint, const cb_pose *around, const char *childclass,
                           cb_mjcf_body ***last) {
  cb_mjcf_body *body = cb_arena_alloc(r->arena, 1, sizeof *body);
  if (!body) return cb_mjcf_no_memory(r);
  *body = (cb_mjcf_body){.links = NULL};
  within w = {r, body, &body->links};
  take_joint(joint);
  cb_status status = read_link(&w, e, around, childclass);
  if (status) return status;
  body->name = body->links->name;
  status = add_masses(r, body);
  if (!status && !(body->inertial.mass > 0))
    status = cb_node_fail(&e->name, "a body without mass: expected <inertial>, or a geom with a mass or a density");
  if (status) return status;
  **last = body;
  *last = &body->next;
  r->model->n++;
  return CB_OK;
}

static cb_status leave_out(cb_mjcf_reader *r, cb_xml *e, const cb_xml *joint) {
  char text[160];
  if (joint)
    snprintf(text, sizeof text, "it moves by the <%s> in line %d, which is not its one free joint", joint->name.text,
             joint->name.line);
  e->why = joint ? cb_arena_strdup(r->arena, text) : "it does not move";
  return e->why ? CB_OK : cb_mjcf_no_memory(r);
}

static cb_status read_top(cb_mjcf_reader *r, cb_xml *e, const cb_pose *around, const char *childclass,
                          cb_mjcf_body ***last) {
  cb_xml *joint = find_joint(e, false, NULL), *other = find_joint(e, true, joint);
  const cb_node *named = cb_xml_get(e, "childclass");
  bool is = false;
  const cb_status status = joint ? is_free(r, joint, named ? named->text : childclass, &is) : CB_OK;
  if (status) return status;
  if (!is || other) return leave_out(r, e, is || !joint ? other : joint);
  cb_xml_is(e, "body");
  return read_free(r, e, joint, around, childclass, last);
}

static cb_status read_children(cb_mjcf_reader *r, cb_xml *e, const cb_pose *around, const char *childclass,
                               cb_mjcf_body ***last) {
  cb_errors errors = cb_errors_begin();
  for (cb_xml *child = e->first; child; child = child->next) {
    cb_status status = CB_OK;
    if (!strcmp(child->name.text, "body")) {
      status = read_top(r, child, around, childclass, last);
    } else if (cb_xml_is(child, "frame")) {
      const char *own = childclass;
      cb_pose pose;
      status = read_frame(r, child, around, &pose, &own);
      if (!status) status = read_children(r, child, &pose, own, last);
    } else if (!strcmp(child->name.text, "geom")) {
      child->why = "it does not move";
    }
    cb_errors_add(&errors, &child->name, status);
  }
  return cb_errors_end(&errors);
}

cb_status cb_mjcf_read_world(cb_mjcf_reader *r) {
  cb_mjcf_body **last = &r->model->bodies;
  cb_pose identity;
  cb_pose_identity(&identity);
  cb_errors errors = cb_errors_begin();
  for (cb_xml *e = r->root->first; e; e = e->next) {
    const char *childclass = NULL;
    if (!cb_xml_is(e, "worldbody")) continue;
    cb_status status = read_class(r, e, &childclass);
    if (!status) status = read_children(r, e, &identity, childclass, &last);
    cb_errors_add(&errors, &e->name, status);
  }
  return cb_errors_end(&errors);
}
