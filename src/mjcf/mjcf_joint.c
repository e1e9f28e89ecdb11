/* <joint> of MJCF in a body that is not free: hinges, slides and balls with their springs, dampers, rotors, dry
 * friction and limits.
 *
 * The pose of a body with the joints i = 1 .. n relative to its parent is X exp(s_1 q_1) .. exp(s_n q_n). X is the pose
 * at the reference, and s_i the screw of joint i in the body's frame. Its coordinate q_i is MuJoCo's coordinate less
 * `ref`. A spring has no force at `springref`. MuJoCo's damper of a ball joint, the torque -c w of the relative angular
 * velocity w, pulls the rotation vector a by -c D^T D a',
 *
 *   D^T D = f + (1 - f) a a^T/s^2,   f = 2 (1 - cos s)/s^2,   s = |a|
 *
 * Source: MuJoCo's documentation (kinematic tree, passive forces). Units: rad, m, s, kg.
 *
 * The last part of the file adds notes about limits and contacts, in which the scenario differs from MuJoCo.
 */
#include "mjcf/mjcf_private.h"

#include "mechanism/mechanism.h"
#include "numerics/vec3.h"
#include <curvebody/expression.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

void cb_mjcf_take_joint(cb_xml *e) {
  static const char *const known[] = {"name",
                                      "class",
                                      "type",
                                      "group",
                                      "align",
                                      "pos",
                                      "axis",
                                      "ref",
                                      "springref",
                                      "stiffness",
                                      "damping",
                                      "armature",
                                      "limited",
                                      "frictionloss",
                                      "range",
                                      "actuatorfrcrange",
                                      "actuatorfrclimited",
                                      "margin",
                                      "actuatorgravcomp"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) cb_xml_get(e, known[i]);
}

/* --- reading --- */

/* Reads a number >= least. *out is unchanged if there is none. */
static cb_status read_one(const cb_mjcf_source *source, const char *name, double least, double *out) {
  const cb_node *value = cb_mjcf_value(source, name);
  const cb_status status = value ? cb_mjcf_numbers(value, name, 1, 1, out, NULL) : CB_OK;
  return status || *out >= least ? status
                                 : cb_node_fail(value, "%s: expected a number >= %g, found %g", name, least, *out);
}

static cb_status read_axis(const cb_mjcf_source *source, cb_xml *e, const cb_pose *frame, cb_mjcf_hold *h) {
  double at[3] = {0}, axis[3] = {0, 0, 1}, R[3][3];
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &e->name, cb_mjcf_merged(source, "pos", 3, 3, at));
  cb_errors_add(&errors, &e->name, cb_mjcf_merged(source, "axis", 3, 3, axis));
  if (!errors.status && h->type != CB_MJCF_BALL && !cb_mjcf_normalise(3, axis)) {
    const cb_node *value = cb_mjcf_value(source, "axis");
    cb_errors_add(&errors, value, cb_node_fail(value, "axis: expected a direction, found a vector of length 0"));
  }
  cb_pose_point(frame, at, h->at);
  cb_pose_rotation(frame, R);
  cb_apply3((const double(*)[3])R, axis, h->axis);
  return cb_errors_end(&errors);
}

static cb_status read_ranges(const cb_mjcf_reader *r, const cb_mjcf_source *source, cb_xml *e, double unit,
                             cb_mjcf_hold *h) {
  cb_mjcf_limit limit, effort;
  h->limit[0] = h->effort[0] = -INFINITY;
  h->limit[1] = h->effort[1] = INFINITY;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &e->name, cb_mjcf_read_limit(r, source, "range", "limited", &limit));
  cb_errors_add(&errors, &e->name, cb_mjcf_read_limit(r, source, "actuatorfrcrange", "actuatorfrclimited", &effort));
  if (errors.status) return cb_errors_end(&errors);
  for (int i = 0; i < 2; i++) {
    if (effort.there) h->effort[i] = effort.range[i];
    if (limit.there && r->whole->limits) h->limit[i] = unit * limit.range[i] - h->ref;
  }
  return CB_OK;
}

/* Notes the attributes of a ball joint that are ignored, or have another effect than in MuJoCo. */
static cb_status note_ball(const cb_mjcf_reader *r, cb_xml *e, cb_mjcf_hold *h) {
  const bool limited = isfinite(h->limit[0]) || isfinite(h->limit[1]);
  char text[160];
  snprintf(text, sizeof text, "%s%s%sof a ball joint%s", limited ? "range " : "",
           limited && h->friction != 0 ? "and " : "", h->friction != 0 ? "frictionloss " : "",
           h->armature != 0 ? ": its armature acts on the rates of the rotation vector" : "");
  if (limited || h->friction != 0 || h->armature != 0)
    if (!(e->note = cb_arena_strdup(r->arena, limited || h->friction != 0 ? text : text + strlen("of a "))))
      return cb_mjcf_no_memory(r);
  h->limit[0] = -INFINITY;
  h->limit[1] = INFINITY;
  h->friction = h->ref = h->rest = 0;
  return CB_OK;
}

/* Fails if another joint has the name. */
static cb_status check_name(const cb_mjcf *m, const cb_mjcf_hold *own, cb_xml *e) {
  for (const cb_mjcf_body *b = m->bodies; b && *own->name; b = b->next)
    for (int i = 0; i < b->holds; i++)
      if (&b->hold[i] != own && !strcmp(b->hold[i].name, own->name))
        return cb_node_fail(cb_xml_get(e, "name"), "a second joint is called `%s`: expected different names",
                            own->name);
  return CB_OK;
}

cb_status cb_mjcf_read_joint(const cb_mjcf_scope *scope, cb_xml *e, cb_mjcf_body *body, cb_mjcf_target *target) {
  const cb_mjcf_reader *r = scope->r;
  const cb_mjcf_whole *whole = r->whole;
  cb_mjcf_source source;
  if (body->holds == CB_MJCF_HOLDS)
    return cb_node_fail(&e->name, "expected at most %d joints in a body", CB_MJCF_HOLDS);
  if (body->holds && (target->type == CB_MJCF_BALL || body->hold[0].type == CB_MJCF_BALL))
    return cb_node_fail(&e->name,
                        "a ball joint next to another joint of its body: expected a ball joint alone; a body inside "
                        "this one can have it");
  cb_mjcf_hold *h = &body->hold[body->holds++];
  *h = (cb_mjcf_hold){.name = cb_mjcf_name(scope, e), .type = target->type};
  target->hold = h;
  if (!h->name) return cb_mjcf_no_memory(r);
  const double unit = !r->radians && h->type != CB_MJCF_SLIDE ? M_PI / 180 : 1;
  cb_errors errors = cb_errors_begin();
  const cb_status status = cb_mjcf_source_of(r, e, scope->childclass, &source);
  if (status) return status;
  cb_errors_add(&errors, &e->name, check_name(r->model, h, e));
  cb_errors_add(&errors, &e->name, read_axis(&source, e, &target->scope.frame, h));
  cb_errors_add(&errors, &e->name, read_one(&source, "ref", -INFINITY, &h->ref));
  cb_errors_add(&errors, &e->name, read_one(&source, "springref", -INFINITY, &h->rest));
  cb_errors_add(&errors, &e->name, read_one(&source, "stiffness", 0, &h->stiffness));
  cb_errors_add(&errors, &e->name, read_one(&source, "damping", 0, &h->damping));
  cb_errors_add(&errors, &e->name, read_one(&source, "armature", 0, &h->armature));
  cb_errors_add(&errors, &e->name, read_one(&source, "frictionloss", 0, &h->friction));
  h->ref *= unit;
  h->rest = unit * h->rest - h->ref;
  cb_errors_add(&errors, &e->name, read_ranges(r, &source, e, unit, h));
  if (!whole->springs) h->stiffness = 0;
  if (!whole->dampers) h->damping = 0;
  if (!whole->frictions) h->friction = 0;
  if (h->type == CB_MJCF_BALL) cb_errors_add(&errors, &e->name, note_ball(r, e, h));
  e->read = true;
  cb_mjcf_take_joint(e);
  return cb_errors_end(&errors);
}

/* --- names --- */

/* Returns whether a joint of a scenario can have this name, so that expressions can use it. */
static bool is_usable(const char *name) {
  static const char *const taken[] = {"t", "q", "w", "pi", "e", "tau"};
  const cb_expression_scope scope = {.n = 0};
  size_t n = 0;
  for (; name[n]; n++) {
    const char c = name[n];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_', digit = c >= '0' && c <= '9';
    if (!letter && !(digit && n)) return false;
  }
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (!strcmp(name, taken[i])) return false;
  return n > 0 && n < 16 && strncmp(name, "ctrl", 4) && strncmp(name, "loop", 4) &&
         !cb_expression_check_variable(name, &scope, "joint");
}

static bool is_taken(const cb_mjcf *m, const char *name) {
  for (const cb_mjcf_body *b = m->bodies; b; b = b->next)
    if (b->joint && !strcmp(b->joint, name)) return true;
  for (const cb_mjcf_loop *l = m->loops; l; l = l->next)
    if (l->name && !strcmp(l->name, name)) return true;
  return false;
}

/* Returns the name with _ in place of all characters except letters and digits. If the result is not usable or is
 * taken, it is replaced by `joint` and a number. */
static const char *usable_name(const cb_mjcf_reader *r, const char *name, int number) {
  char text[32];
  size_t n = 0;
  for (; name[n] && n < 16; n++) {
    const char c = name[n];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text[n] = plain ? c : '_';
  }
  text[n] = 0;
  if (!is_usable(text) || is_taken(r->model, text)) snprintf(text, sizeof text, "joint%d", number);
  while (is_taken(r->model, text)) snprintf(text + strlen(text), sizeof text - strlen(text), "_");
  return cb_arena_strdup(r->arena, text);
}

static bool is_near(const double a[3], double x, double y, double z) {
  return fabs(a[0] - x) < 1e-12 && fabs(a[1] - y) < 1e-12 && fabs(a[2] - z) < 1e-12;
}

/* Returns whether the joints of b are two slides along the axes x and y of a planar joint, and a hinge along its axis
 * z. */
static bool is_planar(const cb_mjcf_body *b) {
  double R[3][3], axis[3][3], q[4], F[3][3];
  if (b->holds != 3 || b->hold[0].type != CB_MJCF_SLIDE || b->hold[1].type != CB_MJCF_SLIDE ||
      b->hold[2].type != CB_MJCF_HINGE)
    return false;
  cb_pose_rotation(&b->reference, R);
  for (int i = 0; i < 3; i++) cb_apply3((const double(*)[3])R, b->hold[i].axis, axis[i]);
  cb_joint_axes(axis[2], q);
  cb_quaternion_rotation(q, F);
  return is_near(axis[0], F[0][0], F[1][0], F[2][0]) && is_near(axis[1], F[0][1], F[1][1], F[2][1]);
}

static cb_status set_labels(const cb_mjcf_reader *r, cb_mjcf_body *b) {
  static const char *const planar[] = {".x", ".y", ".angle"}, *const ball[] = {".x", ".y", ".z"},
                           *const parts[] = {".1", ".2", ".3", ".4", ".5", ".6"};
  const bool one = b->holds == 1 && b->hold[0].type != CB_MJCF_BALL;
  const char *const *symbol = !strcmp(b->kind, "planar") ? planar : !strcmp(b->kind, "ball") ? ball : parts;
  const int n = !strcmp(b->kind, "ball") ? 3 : b->holds;
  for (int i = 0; i < n; i++) {
    char text[64];
    snprintf(text, sizeof text, "%s%s", b->joint, one ? "" : symbol[i]);
    const char *label = cb_arena_strdup(r->arena, text);
    if (!label) return cb_mjcf_no_memory(r);
    if (symbol == ball)
      b->hold[0].label[i] = label;
    else
      b->hold[i].label[0] = label;
  }
  return CB_OK;
}

/* Writes the damper of a ball joint as a motor. */
static cb_status damp_ball(const cb_mjcf_reader *r, cb_mjcf_hold *h) {
  if (h->type != CB_MJCF_BALL || h->damping == 0) return CB_OK;
  const char *x = h->label[0], *y = h->label[1], *z = h->label[2];
  char square[200], along[300], f[900], term[3200];
  snprintf(square, sizeof square, "(%s^2 + %s^2 + %s^2)", x, y, z);
  snprintf(along, sizeof along, "(%s*%s_rate + %s*%s_rate + %s*%s_rate)", x, x, y, y, z, z);
  for (int i = 0; i < 3; i++) {
    snprintf(f, sizeof f, "if(%s < 1e-4, 1 - %s/12, 2*(1 - cos(sqrt(%s)))/%s)", square, square, square, square);
    snprintf(term, sizeof term, "%.17g*(%s*%s_rate + if(%s < 1e-4, 1/12 - %s/360, (1 - %s)/%s)*%s*%s)", -h->damping, f,
             h->label[i], square, square, f, square, along, h->label[i]);
    if (!(h->motor[i] = cb_arena_strdup(r->arena, term))) return cb_mjcf_no_memory(r);
  }
  h->damping = 0;
  return CB_OK;
}

static cb_status name_joint(const cb_mjcf_reader *r, cb_mjcf_body *b, int number) {
  static const char *const kinds[] = {"hinge", "free", "ball", "slide"};
  b->kind = b->holds == 1 ? kinds[b->hold[0].type] : is_planar(b) ? "planar" : "compound";
  b->joint = usable_name(r, b->holds == 1 ? b->hold[0].name : b->name, number);
  cb_status status = b->joint ? set_labels(r, b) : cb_mjcf_no_memory(r);
  for (int i = 0; i < b->holds && !status; i++) status = damp_ball(r, &b->hold[i]);
  return status;
}

cb_status cb_mjcf_name_joints(cb_mjcf_reader *r) {
  int number = 0;
  cb_status status = CB_OK;
  for (cb_mjcf_body *b = r->model->bodies; b && !status; b = b->next, number++) {
    char text[32];
    snprintf(text, sizeof text, "body.%d", number);
    b->own = *b->name ? b->name : cb_arena_strdup(r->arena, text);
    status = b->own ? CB_OK : cb_mjcf_no_memory(r);
    if (!status && b->holds) status = name_joint(r, b, r->model->joints++);
  }
  return status;
}

/* --- places --- */

static void move_by(const cb_mjcf_hold *h, cb_pose *pose) {
  cb_pose move = {.q = {1}};
  double moved[3], turned[3][3];
  if (h->type == CB_MJCF_SLIDE) {
    for (int i = 0; i < 3; i++) move.x[i] = h->q[0] * h->axis[i];
  } else {
    const double a[3] = {h->q[0] * h->axis[0], h->q[0] * h->axis[1], h->q[0] * h->axis[2]};
    cb_quaternion_exp(a, move.q);
    cb_quaternion_rotation(move.q, turned);
    cb_apply3((const double(*)[3])turned, h->at, moved);
    for (int i = 0; i < 3; i++) move.x[i] = h->at[i] - moved[i];
  }
  cb_pose_multiply(pose, &move, pose);
}

/* Rotates a pose by a ball joint: about its place in the parent, by a rotation vector in the axes of the parent. */
static void turn_by(const cb_mjcf_hold *h, cb_pose *pose) {
  cb_pose turn = {.q = {1}};
  double place[3], moved[3];
  cb_pose_point(pose, h->at, place);
  cb_quaternion_exp(h->q, turn.q);
  cb_pose_point(&turn, place, moved);
  for (int i = 0; i < 3; i++) turn.x[i] = place[i] - moved[i];
  cb_pose_multiply(&turn, pose, pose);
}

void cb_mjcf_place_bodies(cb_mjcf *m) {
  for (cb_mjcf_body *b = m->bodies; b; b = b->next) {
    if (!b->holds) continue;
    cb_pose pose = b->reference;
    for (int i = 0; i < b->holds; i++)
      if (b->hold[i].type == CB_MJCF_BALL)
        turn_by(&b->hold[i], &pose);
      else
        move_by(&b->hold[i], &pose);
    b->place = pose;
    if (b->parent) cb_pose_multiply(&b->parent->place, &pose, &b->place);
  }
}

/* --- notes --- */

static bool has_limits(const cb_mjcf_hold *h) { return isfinite(h->limit[0]) || isfinite(h->limit[1]); }

/* Drops the range of a coordinate that starts outside of it, because this would be an error in a scenario. */
static cb_status note_limit(const cb_mjcf_reader *r, const cb_mjcf_target *t, bool *first) {
  cb_mjcf_hold *h = t->hold;
  char text[192];
  if (!h || !has_limits(h)) return CB_OK;
  if (h->q[0] < h->limit[0] || h->q[0] > h->limit[1]) {
    const double unit = !t->scope.r->radians && h->type == CB_MJCF_HINGE ? 180 / M_PI : 1;
    snprintf(text, sizeof text, "range of a joint that starts outside of it, at %g, where the range is %g to %g",
             unit * (h->q[0] + h->ref), unit * (h->limit[0] + h->ref), unit * (h->limit[1] + h->ref));
    h->limit[0] = -INFINITY;
    h->limit[1] = INFINITY;
  } else if (*first) {
    snprintf(text, sizeof text, "softness of limits: joints stop at their limits without rebound");
    *first = false;
  } else {
    return CB_OK;
  }
  t->e->note = cb_arena_strdup(r->arena, text);
  return t->e->note ? CB_OK : cb_mjcf_no_memory(r);
}

static bool may_touch(const cb_mjcf_body *a, const cb_mjcf_body *b) {
  if (a->parent == b || b->parent == a) return false;
  for (const cb_mjcf_link *k = a->links; k; k = k->next)
    for (const cb_mjcf_geom *g = k->geoms; g; g = g->next)
      for (const cb_mjcf_link *l = b->links; l; l = l->next)
        for (const cb_mjcf_geom *h = l->geoms; h; h = h->next)
          if ((g->contype & h->conaffinity) || (h->contype & g->conaffinity)) return true;
  return false;
}

/* Returns the first body whose geoms may touch those of another body, if at least one of the two has joints with its
 * parent; NULL: there is none. */
static const cb_mjcf_body *find_touching(const cb_mjcf *m) {
  for (const cb_mjcf_body *a = m->bodies; a; a = a->next)
    for (const cb_mjcf_body *b = a->next; b; b = b->next)
      if ((a->holds || b->holds) && may_touch(a, b)) return a;
  return NULL;
}

static cb_status note_contacts(const cb_mjcf_reader *r) {
  const cb_mjcf_body *a = r->whole->touching ? find_touching(r->model) : NULL;
  if (!a) return CB_OK;
  for (cb_xml *e = r->root->first; e; e = e->next)
    if (!strcmp(e->name.text, "worldbody")) {
      e->note = "contacts between bodies";
      break;
    }
  return CB_OK;
}

cb_status cb_mjcf_note_joints(cb_mjcf_reader *r) {
  bool first = true;
  cb_status status = CB_OK;
  for (const cb_mjcf_target *t = r->whole->targets; t && !status; t = t->next) status = note_limit(r, t, &first);
  return status ? status : note_contacts(r);
}
