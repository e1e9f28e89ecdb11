/* Joints and sites of MJCF: which joints a body moves by, and where each stands in MuJoCo's vectors of coordinates. A body's
 * own joints come first, then those of the bodies in it; a free joint has 7 coordinates and 6 velocities, a ball 4 and 3, a
 * hinge or a slide one of each. Source: MuJoCo's documentation (mjModel, jnt_qposadr). */
#include "mjcf/private.h"

#include <string.h>

static bool is_joint(const cb_xml *e) { return !strcmp(e->name.text, "joint") || !strcmp(e->name.text, "freejoint"); }

/* --- of one body --- */

static cb_status see_own(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_joints *j = user;
  if (!is_joint(e)) return CB_OK;
  if (j->first && !j->other) j->other = e;
  if (!j->first) j->first = e, j->scope = *scope;
  return CB_OK;
}

static cb_status see_all(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_joints *j = user;
  cb_mjcf_scope inner;
  if (is_joint(e) && !j->other) j->other = e;
  if (strcmp(e->name.text, "body")) return CB_OK;
  const cb_status status = cb_mjcf_enter(scope, e, &inner, NULL);
  return status ? status : cb_mjcf_each(&inner, e, see_all, user);
}

static cb_status see_those_of_bodies(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  return strcmp(e->name.text, "body") ? CB_OK : see_all(user, scope, e);
}

cb_status cb_mjcf_find_joints(const cb_mjcf_scope *scope, cb_xml *body, cb_mjcf_joints *out) {
  cb_mjcf_scope inner;
  *out = (cb_mjcf_joints){.first = NULL};
  cb_status status = cb_mjcf_enter(scope, body, &inner, NULL);
  if (!status) status = cb_mjcf_each(&inner, body, see_own, out);
  return status ? status : cb_mjcf_each(&inner, body, see_those_of_bodies, out);
}

cb_status cb_mjcf_joint_type(const cb_mjcf_scope *scope, cb_xml *joint, cb_mjcf_joint *out) {
  static const char *const types[] = {"hinge", "free", "ball", "slide"};
  cb_mjcf_source source;
  int type = 0;
  *out = CB_MJCF_FREE;
  if (!strcmp(joint->name.text, "freejoint")) return CB_OK;
  cb_status status = cb_mjcf_source_of(scope->r, joint, scope->childclass, &source);
  const cb_node *value = status ? NULL : cb_mjcf_value(&source, "type");
  if (value) status = cb_mjcf_choice(value, "type of joint", 4, types, &type);
  *out = (cb_mjcf_joint)type;
  return status;
}

/* --- of all --- */

typedef struct marking {
  cb_mjcf_whole *whole;
  cb_mjcf_body *of;
  cb_pose at; /* of the body around, in the free one */
} marking;

static cb_status mark_bodies(void *user, const cb_mjcf_scope *scope, cb_xml *e);

static cb_status mark_own(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  static const int coordinates[] = {1, 7, 4, 1}, velocities[] = {1, 6, 3, 1};
  marking *m = user;
  const char *name = e->name.text;
  if (!strcmp(name, "composite") || !strcmp(name, "flexcomp")) m->whole->unknown = e;
  if (!is_joint(e) && strcmp(name, "site")) return CB_OK;
  cb_mjcf_target *t = cb_arena_alloc(scope->r->arena, 1, sizeof *t);
  if (!t) return cb_mjcf_no_memory(scope->r);
  *t = (cb_mjcf_target){
      .e = e, .scope = *scope, .body = m->of, .joint = is_joint(e), .q = m->whole->nq, .v = m->whole->nv};
  cb_pose_multiply(&m->at, &scope->frame, &t->scope.frame);
  const cb_status status = t->joint ? cb_mjcf_joint_type(scope, e, &t->type) : CB_OK;
  if (status) return status;
  if (t->joint) m->whole->nq += coordinates[t->type], m->whole->nv += velocities[t->type];
  *m->whole->last_target = t;
  m->whole->last_target = &t->next;
  return CB_OK;
}

static cb_status mark_within(marking *m, const cb_mjcf_scope *scope, cb_xml *body, bool first) {
  cb_mjcf_scope inner;
  cb_pose pose;
  cb_status status = cb_mjcf_enter(scope, body, &inner, m->of && !first ? &pose : NULL);
  if (!status && m->of && !first) cb_pose_multiply(&m->at, &pose, &m->at);
  if (!status) status = cb_mjcf_each(&inner, body, mark_own, m);
  return status ? status : cb_mjcf_each(&inner, body, mark_bodies, m);
}

static cb_status mark_bodies(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  marking inner = *(const marking *)user;
  return strcmp(e->name.text, "body") ? CB_OK : mark_within(&inner, scope, e, false);
}

cb_status cb_mjcf_add_targets(cb_mjcf_whole *whole, const cb_mjcf_scope *scope, cb_xml *body, cb_mjcf_body *of) {
  marking m = {.whole = whole, .of = of};
  cb_pose_identity(&m.at);
  return mark_within(&m, scope, body, true);
}
