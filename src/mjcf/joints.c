/* Joints and sites of MJCF, and <keyframe> (below). This file finds the joints of a body, and the index of each joint
 * in MuJoCo's vectors of coordinates.
 *
 * A body's own joints come first, then those of the bodies in it. A free joint has 7 coordinates and 6 velocities, a
 * ball joint 4 and 3, a hinge or a slide 1 and 1. Source: MuJoCo's documentation (mjModel, jnt_qposadr).
 */
#include "mjcf/mjcf_private.h"
#include "numerics/vec3.h"
#include "tree/scalar.h"

#include <string.h>
#include <stdio.h>

static bool is_joint(const cb_xml *e) { return !strcmp(e->name.text, "joint") || !strcmp(e->name.text, "freejoint"); }

/* --- the joints of one body --- */

static cb_status see_own(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_mjcf_joints *j = user;
  if (!is_joint(e)) return CB_OK;
  if (j->first && !j->other) j->other = e;
  if (!j->first) {
    j->first = e;
    j->scope = *scope;
  }
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

/* --- all joints and sites --- */

typedef struct marking {
  cb_mjcf_whole *whole;
  cb_mjcf_body *of;
  cb_pose at; /* pose of the surrounding body in the free body */
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
  if (t->joint) {
    m->whole->nq += coordinates[t->type];
    m->whole->nv += velocities[t->type];
  }
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

/* <keyframe>: a <key> is a start. It gives the coordinates and velocities of all joints and the controls of all
 * actuators.
 *
 * The coordinates of a free joint are the position and the quaternion of its body. The first three velocities are the
 * velocity of the body's origin in the world's axes, the others are the angular velocity in the body's axes. Source:
 * MuJoCo's documentation (mjData, floating objects).
 */

/* --- finding a key --- */

typedef struct keys {
  cb_xml **key;
  const char **name;
  size_t n;
} keys;

static void count_or_keep(const cb_mjcf_reader *r, keys *k, bool keep) {
  k->n = 0;
  for (cb_xml *e = r->root->first; e; e = e->next) {
    if (!cb_xml_is(e, "keyframe")) continue;
    for (cb_xml *key = e->first; key; key = key->next) {
      if (strcmp(key->name.text, "key")) continue;
      const cb_node *name = cb_xml_get(key, "name");
      if (keep) {
        k->key[k->n] = key;
        k->name[k->n] = name ? name->text : "";
      }
      k->n++;
    }
  }
}

static cb_status list_keys(const cb_mjcf_reader *r, keys *k) {
  count_or_keep(r, k, false);
  k->key = cb_arena_alloc(r->arena, k->n, sizeof *k->key);
  k->name = cb_arena_alloc(r->arena, k->n, sizeof *k->name);
  if (!k->key || !k->name) return cb_mjcf_no_memory(r);
  count_or_keep(r, k, true);
  return CB_OK;
}

static cb_status note_keys(const cb_mjcf_reader *r, const keys *k) {
  for (size_t i = 0; i < k->n; i++) {
    char text[128];
    if (*k->name[i])
      snprintf(text, sizeof text, "another start; select it with `--key %s`",
               cb_quoted(k->name[i], strlen(k->name[i])).text);
    else
      snprintf(text, sizeof text, "another start; select it with `--key %zu`", i);
    k->key[i]->why = cb_arena_strdup(r->arena, text);
    if (!k->key[i]->why) return cb_mjcf_no_memory(r);
  }
  return CB_OK;
}

/* The message lists the names of keys for `--key`, or the number of a key without a name. */
static cb_status fail_unknown_key(const cb_mjcf_reader *r, const keys *k, const char *asked) {
  for (size_t i = 0; i < k->n; i++) {
    char number[24];
    if (*k->name[i]) continue;
    snprintf(number, sizeof number, "%zu", i);
    k->name[i] = cb_arena_strdup(r->arena, number);
    if (!k->name[i]) return cb_mjcf_no_memory(r);
  }
  return cb_fail_unknown(&k->key[0]->name, "key", asked, k->name, k->n);
}

static cb_status find_key(const cb_mjcf_reader *r, const keys *k, const char *asked, cb_xml **out) {
  long long number;
  *out = NULL;
  for (size_t i = 0; i < k->n && !*out; i++)
    if (*asked && !strcmp(k->name[i], asked)) *out = k->key[i];
  if (*out) return CB_OK;
  if (cb_parse_integer(asked, strlen(asked), &number) && number >= 0 && number < (long long)k->n) {
    *out = k->key[number];
    return CB_OK;
  }
  if (!k->n) return cb_node_fail(&r->root->name, "--key: expected a <key> in the file, found none");
  return fail_unknown_key(r, k, asked);
}

/* --- reading a key --- */

static cb_status read_vector(const cb_mjcf_reader *r, cb_xml *key, const char *name, int n, double **out) {
  const cb_node *value = cb_xml_get(key, name);
  if (!value) return CB_OK;
  if (r->whole->unknown)
    return cb_node_fail(value, "%s: the joints of <%s> in line %d are not known: expected no such element", name,
                        r->whole->unknown->name.text, r->whole->unknown->name.line);
  *out = cb_arena_alloc(r->arena, (size_t)n, sizeof **out);
  return *out ? cb_mjcf_numbers(value, name, n, n, *out, NULL) : cb_mjcf_no_memory(r);
}

/* If MuJoCo moves a body's frame to its centre, the coordinates of a key do not refer to the frame in the file. */
static cb_status check_frame(const cb_mjcf_target *t) {
  static const char *const texts[] = {"false", "true", "auto"};
  const cb_node *align = cb_xml_get(t->e, "align");
  int choice = 2;
  const cb_status status = align ? cb_mjcf_choice(align, "align", 3, texts, &choice) : CB_OK;
  if (status || !(choice == 1 || (choice == 2 && t->scope.r->align))) return status;
  return cb_node_fail(align ? align : &t->e->name, "a key for a joint of an aligned body: expected align=\"false\"");
}

static cb_status place(const cb_mjcf_target *t, const cb_node *key, const double *q, const double *v) {
  cb_pose *pose = &t->body->place;
  double R[3][3];
  const cb_status status = check_frame(t);
  if (status) return status;
  if (q) {
    memcpy(pose->x, q + t->q, sizeof pose->x);
    memcpy(pose->q, q + t->q + 3, sizeof pose->q);
    if (!cb_mjcf_normalise(4, pose->q))
      return cb_node_fail(key, "qpos: expected a quaternion that is not 0, found 0 from number %d", t->q + 4);
  }
  if (!v) return CB_OK;
  cb_pose_rotation(pose, R);
  cb_apply3_transposed((const double(*)[3])R, v + t->v, t->body->velocity);
  memcpy(t->body->spin, v + t->v + 3, sizeof t->body->spin);
  return CB_OK;
}

static cb_status take_key(cb_mjcf_reader *r, cb_xml *key, const cb_node **control) {
  const cb_node *time = cb_xml_get(key, "time"), *qpos = cb_xml_get(key, "qpos");
  double *q = NULL, *v = NULL;
  cb_xml_is(key, "key");
  *control = cb_xml_get(key, "ctrl");
  cb_errors errors = cb_errors_begin();
  if (time) cb_errors_add(&errors, time, cb_mjcf_numbers(time, "time", 1, 1, &r->model->start, NULL));
  cb_errors_add(&errors, &key->name, read_vector(r, key, "qpos", r->whole->nq, &q));
  cb_errors_add(&errors, &key->name, read_vector(r, key, "qvel", r->whole->nv, &v));
  for (const cb_mjcf_target *t = r->whole->targets; t && !errors.status && (q || v); t = t->next)
    if (t->joint && t->body) cb_errors_add(&errors, &key->name, place(t, qpos ? qpos : &key->name, q, v));
  return cb_errors_end(&errors);
}

cb_status cb_mjcf_read_key(cb_mjcf_reader *r, const cb_node **control) {
  keys k;
  cb_xml *key;
  *control = NULL;
  cb_status status = list_keys(r, &k);
  if (!status) status = note_keys(r, &k);
  if (status || !r->whole->key) return status;
  status = find_key(r, &k, r->whole->key, &key);
  if (status) return status;
  key->why = NULL;
  return take_key(r, key, control);
}
