/* Joints and sites of MJCF, and <keyframe> (below): their order, and the index of each joint in MuJoCo's vectors of
 * coordinates and velocities.
 *
 * A body's own joints come first, then those of the bodies in it. A free joint has 7 coordinates and 6 velocities, a
 * ball joint 4 and 3, a hinge or a slide 1 and 1. Source: MuJoCo's documentation (mjModel, jnt_qposadr).
 */
#include "mjcf/mjcf_private.h"
#include "numerics/vec3.h"
#include "tree/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool cb_mjcf_is_joint(const cb_xml *e) { return !strcmp(e->name.text, "joint") || !strcmp(e->name.text, "freejoint"); }

static cb_status see_own(void *user, const cb_mjcf_scope *scope, cb_xml *e) {
  cb_xml **first = user;
  (void)scope;
  if (cb_mjcf_is_joint(e) && !*first) *first = e;
  return CB_OK;
}

cb_status cb_mjcf_first_joint(const cb_mjcf_scope *scope, cb_xml *body, cb_xml **out) {
  cb_mjcf_scope inner;
  *out = NULL;
  const cb_status status = cb_mjcf_enter(scope, body, &inner, NULL);
  return status ? status : cb_mjcf_each(&inner, body, see_own, out);
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

cb_status cb_mjcf_add_target(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_body *body, const cb_pose *at,
                             cb_mjcf_target **out) {
  static const int coordinates[] = {1, 7, 4, 1}, velocities[] = {1, 6, 3, 1};
  cb_mjcf_whole *whole = scope->r->whole;
  cb_mjcf_target *t = cb_arena_alloc(scope->r->arena, 1, sizeof *t);
  if (!t) return cb_mjcf_no_memory(scope->r);
  *t = (cb_mjcf_target){
      .e = e, .scope = *scope, .body = body, .joint = cb_mjcf_is_joint(e), .q = whole->nq, .v = whole->nv};
  cb_pose_multiply(at, &scope->frame, &t->scope.frame);
  const cb_status status = t->joint ? cb_mjcf_joint_type(scope, e, &t->type) : CB_OK;
  if (status) return status;
  if (t->joint) {
    whole->nq += coordinates[t->type];
    whole->nv += velocities[t->type];
  }
  *whole->last_target = t;
  whole->last_target = &t->next;
  *out = t;
  return CB_OK;
}

/* Reads `fromto`: the site is at the middle of the two points, and its z axis points to the first point. */
static cb_status read_ends(const cb_mjcf_source *source, cb_pose *pose) {
  const cb_node *value = cb_mjcf_value(source, "fromto");
  double x[6], along[3];
  const cb_status status = value ? cb_mjcf_numbers(value, "fromto", 6, 6, x, NULL) : CB_OK;
  if (status || !value) return status;
  for (int i = 0; i < 3; i++) {
    along[i] = x[i] - x[3 + i];
    pose->x[i] = (x[i] + x[3 + i]) / 2;
  }
  if (!cb_mjcf_normalise(3, along)) return cb_node_fail(value, "fromto: expected two different points");
  cb_mjcf_turn_to(along, pose->q);
  return CB_OK;
}

cb_status cb_mjcf_site_pose(const cb_mjcf_target *site, cb_pose *out) {
  cb_mjcf_source source;
  site->e->read = true;
  cb_xml_get(site->e, "name");
  cb_status status = cb_mjcf_source_of(site->scope.r, site->e, site->scope.childclass, &source);
  if (!status) status = cb_mjcf_pose(site->scope.r, &source, out, NULL);
  if (!status) status = read_ends(&source, out);
  if (!status) cb_pose_multiply(&site->scope.frame, out, out);
  return status;
}

bool cb_mjcf_is_called(const cb_mjcf_reader *r, const cb_mjcf_target *t, const char *name) {
  const cb_node *own = cb_xml_get(t->e, "name");
  if (!own || !*own->text) return false;
  if (t->scope.r == r && !strcmp(own->text, name)) return true;
  const size_t before = strlen(t->scope.prefix), middle = strlen(own->text);
  return !r->parent && strlen(name) == before + middle + strlen(t->scope.suffix) &&
         !strncmp(name, t->scope.prefix, before) && !strncmp(name + before, own->text, middle) &&
         !strcmp(name + before + middle, t->scope.suffix);
}

const cb_mjcf_target *cb_mjcf_find_target(const cb_mjcf_reader *r, const char *name, bool joint, int *copies) {
  const cb_mjcf_target *found = NULL;
  *copies = 0;
  for (const cb_mjcf_target *t = r->whole->targets; t; t = t->next) {
    if (t->joint != joint || !cb_mjcf_is_called(r, t, name)) continue;
    if (!found) found = t;
    ++*copies;
  }
  return found;
}

/* <keyframe>: a <key> is a start. It gives the coordinates and velocities of all joints and the controls of all
 * actuators.
 *
 * The coordinates of a free joint are the position and the quaternion of its body. The first three velocities are the
 * velocity of the body's origin in the world's axes, the last three are the angular velocity in the body's axes.
 * Source: MuJoCo's documentation (mjData, floating objects).
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

/* Fails if MuJoCo moves the body's frame to its centre, because the coordinates of a key then do not refer to the frame
 * in the file. */
static cb_status check_frame(const cb_mjcf_target *t) {
  static const char *const texts[] = {"false", "true", "auto"};
  const cb_node *align = cb_xml_get(t->e, "align");
  int choice = 2;
  const cb_status status = align ? cb_mjcf_choice(align, "align", 3, texts, &choice) : CB_OK;
  if (status || !(choice == 1 || (choice == 2 && t->scope.r->align))) return status;
  return cb_node_fail(align ? align : &t->e->name, "a key for a joint of an aligned body: expected align=\"false\"");
}

static cb_status place_free(const cb_mjcf_target *t, const cb_node *key, const double *q, const double *v) {
  cb_pose *pose = &t->body->place;
  double R[3][3];
  const cb_status status = check_frame(t);
  if (status) return status;
  if (q) {
    memcpy(pose->x, q + t->q, sizeof pose->x);
    memcpy(pose->q, q + t->q + 3, sizeof pose->q);
    if (!cb_mjcf_normalise(4, pose->q))
      return cb_node_fail(key, "qpos: expected a quaternion that is not 0, found four zeros from number %d on",
                          t->q + 4);
  }
  if (!v) return CB_OK;
  cb_pose_rotation(pose, R);
  cb_apply3_transposed((const double(*)[3])R, v + t->v, t->body->velocity);
  memcpy(t->body->spin, v + t->v + 3, sizeof t->body->spin);
  return CB_OK;
}

/* Sets the rotation vector a of a ball joint, and its rate a', for the angular velocity w. a is in the axes of the
 * parent. w is in axes that are fixed in the body and agree with those of the parent at the reference.
 *   a' = w + a × w/2 + c a × (a × w),  c = (1 - (s/2) cot(s/2))/s^2,  s = |a| */
static cb_status place_ball(const cb_mjcf_target *t, const cb_node *key, const double *q, const double *v) {
  cb_mjcf_hold *h = t->hold;
  double turn[4] = {1}, R[3][3], a[3], w[3], once[3], twice[3];
  if (q) memcpy(turn, q + t->q, sizeof turn);
  if (!cb_mjcf_normalise(4, turn))
    return cb_node_fail(key, "qpos: expected a quaternion that is not 0, found four zeros from number %d on", t->q + 1);
  for (int i = 0; turn[0] < 0 && i < 4; i++) turn[i] = i ? -turn[i] : turn[i];
  turn[0] = fabs(turn[0]);
  cb_pose_rotation(&t->body->reference, R);
  cb_quaternion_log(turn, a);
  cb_apply3((const double(*)[3])R, a, h->q);
  if (!v) return CB_OK;
  cb_apply3((const double(*)[3])R, v + t->v, w);
  cb_cross3(h->q, w, once);
  cb_cross3(h->q, once, twice);
  const double s2 = cb_dot3(a, a), s = sqrt(s2), c = s > 1e-2 ? (1 - s / 2 / tan(s / 2)) / s2 : 1. / 12 + s2 / 720;
  for (int i = 0; i < 3; i++) h->rate[i] = w[i] + once[i] / 2 + c * twice[i];
  return CB_OK;
}

static cb_status place(const cb_mjcf_target *t, const cb_node *key, const double *q, const double *v) {
  if (!t->hold) return place_free(t, key, q, v);
  if (t->type == CB_MJCF_BALL) return place_ball(t, key, q, v);
  if (q) t->hold->q[0] = q[t->q] - t->hold->ref;
  if (v) t->hold->rate[0] = v[t->v];
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
  if (status || !r->whole->choices.key) return status;
  status = find_key(r, &k, r->whole->choices.key, &key);
  if (status) return status;
  key->why = NULL;
  return take_key(r, key, control);
}
