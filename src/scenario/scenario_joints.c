/* The key `joints:` of a scenario of bodies in a fluid.
 *
 *   joints:
 *     - {kind: hinge, name: hip, of: [world, thigh], at: [0, 0, 0], in: [-.25, 0, 0], axis: [0, -1, 0], angle: -1.2}
 *     - {kind: hinge, name: knee, of: [thigh, shank], at: [.25, 0, 0], in: [-.2, 0, 0], axis: [0, -1, 0],
 *        motor: sin(t)}
 * `at` is the place of the joint in the frame of the first body, and `in` the place in the frame of the second body.
 * Joints give the places and the motions of bodies. In each group of joined bodies that is not joined to the world, one
 * body has `place`. Loops are closed by Newton's method, which moves all bodies of the loop. Rates that are not given
 * follow from the given rates.
 */
#include "core/registry.h"
#include "numerics/small.h"
#include "numerics/vec3.h"
#include "scenario/fluid.h"
#include "scenario/warnings.h"
#include "tree/scalar.h"
#include <curvebody/expression.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NODE(field, fallback, unit, doc) \
  { #field, CB_PARAM_NODE, offsetof(cb_joint_keys, field), fallback, unit, "", NULL, doc }
const cb_param cb_joint_table[] = {
    {"kind", CB_PARAM_STRING, offsetof(cb_joint_keys, kind), NULL, "", "", NULL, "a name of `curvebody list joints`"},
    {"name", CB_PARAM_STRING, offsetof(cb_joint_keys, name), "", "", "", NULL,
     "name in records and expressions (default: joint.NUMBER)"},
    NODE(of, NULL, "", "[A, B]: names of two bodies; `world` instead of one of them"),
    NODE(at, "", "m", "place of the joint in A"),
    NODE(in, "", "m", "place of the joint in B"),
    NODE(axis, "", "", "axis of the joint in A; of a universal joint, its first axis"),
    NODE(axis_in, "", "",
         "axis of the joint in B (default: `axis`); of a universal joint, its second axis, which is perpendicular"),
    NODE(quaternion, "", "",
         "orientation of B seen from A at coordinates 0 (default: the axes agree); then `axis_in` follows from `axis`"),
    NODE(angle, "", "rad, m", "coordinate at the start, or a list of coordinates; `none` for a driven one"),
    NODE(rate, "", "rad/s, m/s", "rate at the start, or a list; `none` where it follows"),
    NODE(spring, "", "", "{stiffness: .., rest: ..}: force -stiffness (q - rest) on the coordinate q"),
    NODE(damping, "", "N m s/rad, N s/m", "damping of the force -damping q' on a coordinate q; a number or a list"),
    NODE(friction, "", "N m, N", "dry friction: largest force against the rate; a number or a list"),
    NODE(armature, "", "kg m2, kg", "inertia of a rotor on the coordinate; a number or a list"),
    NODE(limits, "", "rad, m", "[lowest, highest] value of the coordinate, or a list of such pairs"),
    {"restitution", CB_PARAM_REAL, offsetof(cb_joint_keys, restitution), "nan", "", "[0, 1]", NULL,
     "rate after a limit is reached, divided by the rate before (default: 0)"},
    NODE(stiff, "", "",
         "{stiffness: .., damping: ..}: a spring and a damper act beyond `limits`, which do not reflect"),
    NODE(
        motor, "", "N m, N",
        "force on the coordinate, an expression of t, of q and its rate w, and of coordinates of joints by their names "
        "(hip, hip_rate) and of controls; or a list"),
    NODE(servo, "", "", "{position: EXPRESSION, kp: .., kv: ..} or {velocity: EXPRESSION, kv: ..}"),
    NODE(drive, "", "rad, m", "the coordinate as an expression of t; or a list, `none` for a free one"),
    NODE(couple, "", "",
         "{to: COORDINATE, polynomial: [c0, c1, ..]}: the coordinate is c0 + c1 r + c2 r^2 + .. of the coordinate r of "
         "another joint; or a list, `none` for a free one"),
    NODE(control, "", "", "[lowest, highest] value of the expression of a motor or servo"),
    NODE(effort, "", "N m, N", "[lowest, highest] force of a motor or servo"),
    NODE(parts, "", "",
         "of a compound joint: a list of {kind: hinge|slide, axis: [x, y, z], at: [x, y, z]} in A, for the position of "
         "B at the coordinates 0"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* The offset of the parameters of the class in the struct that the rows fill; the struct begins with a
 * cb_joint_keys. */
enum { OWN = (sizeof(cb_joint_keys) + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t) };

void cb_scenario_joint_rows(const cb_joint_class *class, cb_param rows[CB_JOINT_ROWS]) {
  size_t n = 0;
  for (const cb_param *row = cb_joint_table; row->name; row++) rows[n++] = *row;
  for (const cb_param *row = class->params; row && row->name && n < CB_JOINT_ROWS - 1; row++) {
    rows[n] = *row;
    rows[n++].offset += OWN;
  }
  rows[n] = (cb_param){NULL, 0, 0, NULL, NULL, NULL, NULL, NULL};
}

/* --- numbers --- */

bool cb_joint_none(const cb_node *node) { return node->kind == CB_NODE_SCALAR && !strcmp(node->text, "none"); }

cb_status cb_joint_item_of(const cb_node *node, int n, int i, const cb_node **out) {
  *out = node;
  if (node->kind != CB_NODE_LIST) return CB_OK;
  if (node->count != (size_t)n)
    return cb_node_fail(node, "expected a list of %d, one per coordinate of the joint, found %zu", n, node->count);
  *out = node->items[i];
  return CB_OK;
}

cb_status cb_joint_read_numbers(const cb_joint_reading *r, const cb_node *node, int n, bool single, double least,
                                double *out) {
  if (!node) return CB_OK;
  if (n == 0) return cb_node_fail(node, "this joint has no coordinates: expected no such key");
  if (single && n > 1 && node->kind != CB_NODE_LIST)
    return cb_node_fail(node, "expected a list of %d numbers, one per coordinate of the joint", n);
  for (int i = 0; i < n; i++) {
    const cb_node *item;
    cb_status status = cb_joint_item_of(node, n, i, &item);
    if (!status && single && cb_joint_none(item)) continue;
    if (!status) status = cb_scenario_number(r->s, item, 0, NULL, NULL, &out[i]);
    if (!status && !(out[i] >= least)) status = cb_node_fail(item, "expected a number >= %g, found %g", least, out[i]);
    if (status) return status;
  }
  return CB_OK;
}

cb_status cb_joint_read_range(const cb_joint_reading *r, const cb_node *node, double out[2]) {
  if (node->kind != CB_NODE_LIST || node->count != 2) return cb_node_fail(node, "expected [lowest, highest]");
  for (int i = 0; i < 2; i++) {
    const cb_status status = cb_scenario_number(r->s, node->items[i], 0, NULL, NULL, &out[i]);
    if (status) return status;
  }
  return out[0] < out[1]
             ? CB_OK
             : cb_node_fail(node, "expected a lowest value below the highest one, found %g and %g", out[0], out[1]);
}

/* --- bodies and frames --- */

static cb_status find_body(const cb_joint_reading *r, const cb_node *node, int *out) {
  const cb_fluid_scenario *m = r->s->own;
  if (node->kind != CB_NODE_SCALAR) return cb_node_fail(node, "expected the name of a body, or `world`");
  *out = -1;
  if (!strcmp(node->text, "world")) return CB_OK;
  for (int i = 0; i < m->n; i++)
    if (!strcmp(m->body[i].name, node->text)) *out = i;
  if (*out >= 0) return CB_OK;
  const char **known = cb_arena_alloc(r->s->arena, (size_t)m->n + 1, sizeof *known);
  if (!known) return cb_fail(CB_ERROR_MEMORY, "no memory for names");
  for (int i = 0; i < m->n; i++) known[i] = m->body[i].name;
  known[m->n] = "world";
  return cb_fail_unknown(node, "body", node->text, known, (size_t)m->n + 1);
}

static cb_status read_bodies(const cb_joint_reading *r, const cb_node *of, cb_joint *j) {
  if (of->kind != CB_NODE_LIST || of->count != 2)
    return cb_node_fail(of, "expected [A, B], the names of two bodies, or `world` and a body");
  cb_errors errors = cb_errors_begin();
  for (int side = 0; side < 2; side++)
    cb_errors_add(&errors, of->items[side], find_body(r, of->items[side], &j->body[side]));
  if (!errors.status && j->body[0] == j->body[1])
    cb_errors_add(&errors, of,
                  cb_node_fail(of, "a joint of `%s` with itself: expected two bodies, or `world` and a body",
                               of->items[0]->text));
  return cb_errors_end(&errors);
}

static cb_status read_axis(const cb_joint_reading *r, const cb_node *node, double out[3]) {
  const cb_status status = cb_scenario_vector(r->s, node, 0, NULL, NULL, out);
  if (!status && !(cb_dot3(out, out) > 0)) return cb_node_fail(node, "expected an axis, found a vector of length 0");
  return status;
}

/* Computes the orientation of the frames of a joint from its one axis, or from its two axes, which must be
 * perpendicular. */
static cb_status set_axes(const cb_joint *j, double axis[2][3], const cb_node *second, cb_joint_frame frame[2]) {
  if (j->class_->axes == 1) {
    for (int side = 0; side < 2; side++) cb_joint_axes(axis[side], frame[side].q);
    return CB_OK;
  }
  const double along = fabs(cb_dot3(axis[0], axis[1])) / sqrt(cb_dot3(axis[0], axis[0]) * cb_dot3(axis[1], axis[1]));
  if (!(along < 1e-6))
    return cb_node_fail(
        second,
        "expected an axis perpendicular to `axis`: at coordinates 0 both bodies have the same axes, found "
        "an angle of %.6g rad",
        acos(fmin(along, 1)));
  cb_joint_two_axes(axis[0], axis[1], frame[0].q);
  memcpy(frame[1].q, frame[0].q, sizeof frame[0].q);
  return CB_OK;
}

/* Reads the unit quaternion Q, the orientation of B relative to A at coordinates 0. */
static cb_status read_reference(const cb_joint_reading *r, const cb_node *node, double Q[4]) {
  Q[0] = 1;
  Q[1] = Q[2] = Q[3] = 0;
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_LIST || node->count != 4)
    return cb_node_fail(node, "expected a list of 4 numbers, a quaternion");
  for (int i = 0; i < 4; i++) {
    const cb_status status = cb_scenario_number(r->s, node->items[i], 0, NULL, NULL, &Q[i]);
    if (status) return status;
  }
  if (!(Q[0] * Q[0] + cb_dot3(Q + 1, Q + 1) > 0))
    return cb_node_fail(node, "expected a quaternion, found one of length 0");
  cb_quaternion_project(Q);
  return CB_OK;
}

/* Reads the frames of a joint in its two bodies A and B. If the key `quaternion` gives Q, the rotation Q^-1 maps the
 * axes of the frame in A to the axes of the frame in B. */
static cb_status read_frames(const cb_joint_reading *r, const cb_node *node, const cb_joint_keys *p, cb_joint *j) {
  double axis[2][3] = {{0}}, Q[4], back[4];
  const cb_node *const axes[2] = {p->axis, p->axis_in};
  const int wanted = j->class_->axes;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, read_reference(r, p->quaternion, Q));
  if (p->quaternion && p->axis_in && wanted == 1)
    cb_errors_add(&errors, p->axis_in, cb_node_fail(p->axis_in, "expected no `axis_in` next to `quaternion`"));
  for (int side = 0; side < 2; side++) {
    j->frame[side].q[0] = 1;
    if (axes[side] && wanted == 0)
      cb_errors_add(&errors, axes[side], cb_node_fail(axes[side], "a joint of kind %s has no axis", j->class_->name));
    else if (axes[side])
      cb_errors_add(&errors, axes[side], read_axis(r, axes[side], axis[side]));
    else if (wanted > side)
      cb_errors_add(
          &errors, node,
          cb_node_fail(node, "a joint of kind %s needs `%s`: [x, y, z]", j->class_->name, side ? "axis_in" : "axis"));
    else
      memcpy(axis[side], axis[0], sizeof *axis);
  }
  if (p->quaternion && wanted == 2) {
    const double in[3] = {axis[1][0], axis[1][1], axis[1][2]};
    double turn[3][3];
    cb_quaternion_rotation(Q, turn);
    cb_apply3((const double(*)[3])turn, in, axis[1]);
  }
  if (!errors.status && wanted) cb_errors_add(&errors, node, set_axes(j, axis, p->axis_in, j->frame));
  if (errors.status || !p->quaternion) return cb_errors_end(&errors);
  cb_quaternion_inverse(Q, back);
  cb_quaternion_multiply(back, j->frame[0].q, j->frame[1].q);
  return cb_errors_end(&errors);
}

/* --- the parts of a compound joint --- */

/* Computes the screw of one part, a hinge or a slide, of a compound joint. The screw is in the frame of the joint,
 * which has the axes of body A and its origin at `at` of the joint. */
static cb_status read_part(const cb_joint_reading *r, const cb_node *node, const cb_joint *j, double screw[6]) {
  static const char *const keys[] = {"kind", "axis", "at"};
  const cb_node *kind = cb_node_get(node, "kind"), *axis = cb_node_get(node, "axis"), *at = cb_node_get(node, "at");
  double along[3], place[3];
  cb_status status = cb_node_check_keys(node, keys, 3);
  if (status) return status;
  const bool hinge = kind && kind->kind == CB_NODE_SCALAR && !strcmp(kind->text, "hinge"),
             slide = kind && kind->kind == CB_NODE_SCALAR && !strcmp(kind->text, "slide");
  if ((!hinge && !slide) || !axis)
    return cb_node_fail(kind && !hinge && !slide ? kind : node,
                        "expected {kind: hinge, axis: [x, y, z], at: [x, y, z]} or {kind: slide, axis: [x, y, z]}");
  memcpy(place, j->frame[0].x, sizeof place);
  status = read_axis(r, axis, along);
  if (!status && at) status = cb_scenario_vector(r->s, at, 0, NULL, NULL, place);
  if (status) return status;
  const double size = sqrt(cb_dot3(along, along)),
               arm[3] = {place[0] - j->frame[0].x[0], place[1] - j->frame[0].x[1], place[2] - j->frame[0].x[2]};
  for (int i = 0; i < 3; i++) {
    along[i] /= size;
    screw[i] = hinge ? along[i] : 0;
    screw[3 + i] = along[i];
  }
  if (hinge) cb_cross3(arm, along, screw + 3); /* the velocity at the origin of the frame: v = -omega × arm */
  return CB_OK;
}

static cb_status read_parts(const cb_joint_reading *r, const cb_node *node, const cb_node *list, cb_joint *j) {
  if (j->class_->coordinates >= 0) return list ? cb_node_fail(list, "only a compound joint has `parts`") : CB_OK;
  if (!list || list->kind != CB_NODE_LIST || list->count < 1 || list->count > 6)
    return cb_node_fail(list ? list : node, "a compound joint needs `parts`, a list of 1 to 6 hinges and slides");
  double(*screw)[6] = cb_arena_alloc(r->s->arena, list->count, sizeof *screw);
  if (!screw) return cb_fail(CB_ERROR_MEMORY, "no memory for the parts of a joint");
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++)
    cb_errors_add(&errors, list->items[i], read_part(r, list->items[i], j, screw[i]));
  j->data.screws = (int)list->count;
  j->data.screw = (const double(*)[6])screw;
  return cb_errors_end(&errors);
}

/* --- one joint --- */

static cb_status find_class(const cb_node *node, const cb_joint_class **out) {
  const char *known[CB_REGISTRY_MAX];
  const cb_node *kind = cb_node_get(node, "kind");
  if (node->kind != CB_NODE_MAP || !kind || kind->kind != CB_NODE_SCALAR)
    return cb_params_bind(cb_joint_table, node, node, NULL, 0, NULL);
  *out = cb_joint_classes[cb_registry_find(&cb_joint_registry, kind->text, strlen(kind->text))];
  return *out ? CB_OK : cb_fail_unknown(kind, "joint", kind->text, known, cb_registry_names(&cb_joint_registry, known));
}

/* Reads the keys of a joint: the keys that every joint has, and the keys of its class. */
static cb_status read_keys(const cb_joint_reading *r, const cb_node *node, cb_joint *j, cb_joint_keys *p) {
  cb_param rows[CB_JOINT_ROWS];
  cb_status status = find_class(node, &j->class_);
  if (!status) status = cb_scenario_check_curved_joint(r->s, node, j->class_);
  if (status) return status;
  char *all = cb_arena_alloc(r->s->arena, OWN + j->class_->size, 1);
  if (!all) return cb_fail(CB_ERROR_MEMORY, "no memory for a joint");
  cb_scenario_joint_rows(j->class_, rows);
  status = cb_params_bind(rows, node, node, NULL, 0, all);
  if (status) return status;
  memcpy(p, all, sizeof *p);
  j->data.params = all + OWN;
  return CB_OK;
}

static bool is_name(const char *text) {
  if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_')) return false;
  return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] == 0 &&
         strlen(text) < 24;
}

static cb_status read_name(cb_joint_reading *r, const cb_node *node, const char *given, int number, const char **out) {
  char numbered[32];
  snprintf(numbered, sizeof numbered, "joint.%d", number);
  const char *name = given && *given ? given : cb_arena_strdup(r->s->arena, numbered);
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  const cb_node *where = cb_node_get(node, "name");
  if (!is_name(name) || !strcmp(name, "t") || !strcmp(name, "q") || !strcmp(name, "w"))
    return cb_node_fail(
        where, "expected a name of at most 23 letters, digits, _ and ., other than t, q and w, found `%s`", name);
  cb_expression_scope taken = {0};
  cb_scenario_add_controls(r->s, &taken);
  if (!strchr(name, '.') && cb_expression_check_parameter(name, &taken, "joint"))
    return cb_node_fail(where, "%s", cb_error_text());
  for (int i = 0; i < number; i++)
    if (r->joint[i].name && !strcmp(r->joint[i].name, name))
      return cb_node_fail(where ? where : node, "two joints have the name `%s`: expected different names", name);
  *out = name;
  return CB_OK;
}

/* Enlarges the arrays of coordinates if they have no space for six more. */
static cb_status reserve(cb_joint_reading *r) {
  if (r->coordinates + 6 <= r->capacity) return CB_OK;
  const size_t n = (size_t)r->coordinates, capacity = 2 * n + 48;
  cb_joint_reading more = *r;
  more.label = cb_arena_alloc(r->s->arena, capacity, sizeof *more.label);
  more.angle = cb_arena_alloc(r->s->arena, capacity, sizeof *more.angle);
  more.rate = cb_arena_alloc(r->s->arena, capacity, sizeof *more.rate);
  more.rate_given = cb_arena_alloc(r->s->arena, capacity, sizeof *more.rate_given);
  more.actuator = cb_arena_alloc(r->s->arena, capacity, sizeof *more.actuator);
  more.drive = cb_arena_alloc(r->s->arena, capacity, sizeof *more.drive);
  more.where = cb_arena_alloc(r->s->arena, capacity, sizeof *more.where);
  more.couple = cb_arena_alloc(r->s->arena, capacity, sizeof *more.couple);
  if (!more.label || !more.angle || !more.rate || !more.rate_given || !more.actuator || !more.drive || !more.where ||
      !more.couple)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu coordinates of joints", capacity);
  if (n) {
    memcpy(more.label, r->label, n * sizeof *more.label);
    memcpy(more.angle, r->angle, n * sizeof *more.angle);
    memcpy(more.rate, r->rate, n * sizeof *more.rate);
    memcpy(more.rate_given, r->rate_given, n * sizeof *more.rate_given);
    memcpy(more.actuator, r->actuator, n * sizeof *more.actuator);
    memcpy(more.drive, r->drive, n * sizeof *more.drive);
    memcpy(more.where, r->where, n * sizeof *more.where);
    memcpy(more.couple, r->couple, n * sizeof *more.couple);
  }
  more.capacity = (int)capacity;
  *r = more;
  return CB_OK;
}

static cb_status name_coordinates(cb_joint_reading *r, const cb_joint *j, int first, int n) {
  for (int i = 0; i < n; i++) {
    char text[64];
    snprintf(text, sizeof text, "%s%s", j->name, j->class_->symbol[i]);
    if (!(r->label[first + i] = cb_arena_strdup(r->s->arena, text)))
      return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  }
  return CB_OK;
}

/* Returns whether the name b is the name of the coordinate a or of its rate. */
static bool clashes(const char *a, const char *b) {
  const size_t length = strlen(a);
  return !strncmp(a, b, length) && (!b[length] || !strcmp(b + length, "_rate"));
}

/* Checks that the names of coordinates and rates differ. They may coincide because a joint may be called `c.x`, like a
 * coordinate of a joint c, or `c_rate`, like the rate of c. */
static cb_status check_labels(const cb_joint_reading *r) {
  for (int k = 0; k < r->n; k++)
    for (int c = r->first[k]; c < r->first[k] + cb_joint_coordinates(&r->joint[k]); c++)
      for (int other = 0; other < r->first[k]; other++) {
        if (!clashes(r->label[c], r->label[other]) && !clashes(r->label[other], r->label[c])) continue;
        const cb_node *node = r->list->items[k], *name = cb_node_get(node, "name");
        return cb_node_fail(name ? name : node,
                            "the coordinates `%s` and `%s`, or their rates, have the same name in expressions: "
                            "expected another name of one of the joints",
                            r->label[other], r->label[c]);
      }
  return CB_OK;
}

/* Returns whether the twists S of the joint's coordinates are linearly dependent. Then the motion of the two bodies
 * does not determine the rates of the coordinates. */
static bool locked(const cb_joint *j, const double S[6][6]) {
  double a[36];
  const int n = cb_joint_coordinates(j);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      a[i * n + k] = cb_dot(6, S[i], S[k]) / sqrt(cb_dot(6, S[i], S[i]) * cb_dot(6, S[k], S[k]));
  return !cb_cholesky(n, a, 1e-12, a);
}

/* Checks the coordinates q at the start: their twists must be independent, and the class must find the same coordinates
 * at the pose that they give. */
static cb_status check_coordinates(const cb_joint_keys *p, const cb_node *node, const cb_joint *j, const double *q) {
  cb_joint_motion motion;
  cb_pose m;
  const int n = cb_joint_coordinates(j);
  if (!n || !j->class_->place) return CB_OK;
  memset(&motion, 0, sizeof motion);
  memcpy(motion.q, q, (size_t)n * sizeof *q);
  j->class_->place(q, &j->data, &m);
  j->class_->find(&m, &j->data, &motion);
  if (locked(j, (const double(*)[6])motion.S))
    return cb_node_fail(p->parts ? p->parts : node,
                        "two coordinates move the bodies in the same way at the start: expected hinges and slides that "
                        "are independent there");
  for (int i = 0; i < n; i++)
    if (!(fabs(motion.q[i] - q[i]) <= 1e-9 * fmax(1, fabs(q[i]))))
      return cb_node_fail(p->angle ? p->angle : node,
                          "these coordinates give the same position as others, in which coordinate %d is %.6g instead "
                          "of %.6g: expected a rotation vector of at most pi",
                          i + 1, motion.q[i], q[i]);
  return CB_OK;
}

/* Checks that the value q of coordinate i is within its limits at the start. */
static cb_status check_limits(const cb_node *node, const cb_joint *j, int i, double q) {
  const cb_node *angle = cb_node_get(node, "angle"), *limits = cb_node_get(node, "limits");
  if (q >= j->limit[i][0] && q <= j->limit[i][1]) return CB_OK;
  return cb_node_fail(angle ? angle : limits,
                      "the start is outside of the limits: expected a coordinate from %g to %g, found %g",
                      j->limit[i][0], j->limit[i][1], q);
}

static cb_status check_start(const cb_joint_reading *r, const cb_node *node, const cb_joint_keys *p, const cb_joint *j,
                             int first, int n) {
  const cb_node *const given[] = {p->angle, p->rate};
  for (int i = 0; i < n; i++) {
    const cb_node *item;
    const bool follows = j->driven[i] || r->couple[first + i];
    for (int k = 0; k < 2 && follows; k++)
      if (given[k] && !cb_joint_item_of(given[k], n, i, &item) && !cb_joint_none(item))
        return cb_node_fail(
            item, "a %s%s",
            j->driven[i] ? "driven coordinate starts at the value and rate of its drive"
                         : "coupled coordinate starts at the value and rate that follow from the other coordinate",
            n > 1 ? ": expected `none`" : "");
    const cb_status status = follows ? CB_OK : check_limits(node, j, i, r->angle[first + i]);
    if (status) return status;
  }
  return check_coordinates(p, node, j, r->angle + first);
}

static cb_status read_joint(cb_joint_reading *r, const cb_node *node, int number) {
  cb_joint_keys p;
  cb_joint *j = &r->joint[number];
  cb_status status = read_keys(r, node, j, &p);
  if (!status) status = reserve(r);
  if (status) return status;
  for (int side = 0; side < 2; side++) {
    const cb_node *at = side ? p.in : p.at;
    if (at) status = cb_scenario_vector(r->s, at, 0, NULL, NULL, j->frame[side].x);
    if (at && !status) status = cb_scenario_check_place(r->s, at, j->frame[side].x);
    if (status) return status;
  }
  status = read_parts(r, node, p.parts, j);
  if (status) return status;
  const int first = r->first[number] = r->coordinates, n = cb_joint_coordinates(j);
  for (int i = 0; i < n; i++) {
    r->angle[first + i] = r->rate[first + i] = 0;
    r->rate_given[first + i] = false;
    r->where[first + i] = r->couple[first + i] = NULL;
  }
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, read_name(r, node, p.name, number, &j->name));
  cb_errors_add(&errors, p.of, read_bodies(r, p.of, j));
  cb_errors_add(&errors, node, read_frames(r, node, &p, j));
  for (int i = 0; i < n && p.rate; i++) {
    const cb_node *item;
    r->rate_given[first + i] = !cb_joint_item_of(p.rate, n, i, &item) && !cb_joint_none(item);
  }
  cb_errors_add(&errors, p.angle, cb_joint_read_numbers(r, p.angle, n, true, -INFINITY, r->angle + first));
  cb_errors_add(&errors, p.rate, cb_joint_read_numbers(r, p.rate, n, true, -INFINITY, r->rate + first));
  if (p.spring) cb_errors_add(&errors, p.spring, cb_joint_read_spring(r, p.spring, n, j));
  cb_errors_add(&errors, p.damping, cb_joint_read_numbers(r, p.damping, n, false, 0, j->damping));
  cb_errors_add(&errors, p.friction, cb_joint_read_numbers(r, p.friction, n, false, 0, j->friction));
  cb_errors_add(&errors, p.armature, cb_joint_read_numbers(r, p.armature, n, false, 0, j->armature));
  cb_errors_add(&errors, node, cb_joint_read_limits(r, node, &p, j));
  cb_errors_add(&errors, node, cb_joint_read_actuators(r, &p, j, first));
  if (p.couple) cb_errors_add(&errors, p.couple, cb_joint_find_couplings(r, &p, j, first));
  if (!errors.status) cb_errors_add(&errors, node, check_start(r, node, &p, j, first, n));
  if (!errors.status) cb_errors_add(&errors, node, name_coordinates(r, j, first, n));
  r->coordinates += n;
  return cb_errors_end(&errors);
}

/* --- all joints --- */

/* Computes the values and rates of driven coordinates at the start. */
static cb_status start_drives(cb_joint_reading *r, cb_joint_laws *laws, double t) {
  const cb_mechanism_laws of = cb_joint_laws_of(laws);
  if (of.drives) of.drives(of.self, t, r->angle, r->rate);
  for (int k = 0; k < r->n; k++)
    for (int i = 0; i < 6; i++) {
      const double q = r->joint[k].driven[i] ? r->angle[r->first[k] + i] : 0;
      if (r->joint[k].driven[i] && !(isfinite(q) && isfinite(r->rate[r->first[k] + i])))
        return cb_node_fail(r->where[r->first[k] + i], "the drive at the start, t = %g, is not finite", t);
    }
  return CB_OK;
}

/* Checks that the forces of motors and servos at the start are finite. */
static cb_status check_efforts(const cb_joint_reading *r, cb_joint_laws *laws, double t) {
  double *force = cb_arena_alloc(r->s->arena, (size_t)r->coordinates, sizeof *force);
  if (!force) return cb_fail(CB_ERROR_MEMORY, "no memory for the forces of joints");
  cb_joint_laws_efforts(laws, t, r->angle, r->rate, force);
  for (int c = 0; c < r->coordinates; c++)
    if (!isfinite(force[c]))
      return cb_node_fail(r->where[c], "expected a finite force at the start, t = %g, found %g", t, force[c]);
  return CB_OK;
}

/* Checks the limits of all coordinates again, because drives, couplings and the closing of loops have changed
 * coordinates. */
static cb_status check_all_limits(const cb_joint_reading *r) {
  cb_status status = CB_OK;
  for (int k = 0; k < r->n; k++)
    for (int i = 0; i < cb_joint_coordinates(&r->joint[k]) && !status; i++)
      status = check_limits(r->list->items[k], &r->joint[k], i, r->angle[r->first[k] + i]);
  return status;
}

/* A law with an error is reported and left out, so that the laws after it are read. */
static cb_status make_laws(cb_joint_reading *r, cb_joint_laws **out) {
  const cb_fluid_scenario *m = r->s->own;
  bool any = false;
  int which = 0;
  size_t at = 0;
  for (int c = 0; c < r->coordinates; c++) any = any || r->drive[c] || r->actuator[c].kind != CB_ACTUATOR_NONE;
  if (!any) return CB_OK;
  cb_expression_scope parameters = {
      .parameters = m->parameter, .values = m->parameter_value, .n_parameters = m->n_parameters};
  cb_scenario_add_controls(r->s, &parameters);
  cb_errors errors = cb_errors_begin();
  for (cb_status status = CB_ERROR_INPUT; status == CB_ERROR_INPUT;) {
    status = cb_joint_laws_create(r->coordinates, r->label, r->actuator, r->drive, &parameters, &which, &at, out);
    if (!status) break;
    const cb_node *where = r->where[which];
    cb_errors_add(&errors, where,
                  status == CB_ERROR_INPUT ? cb_node_fail_at(where, at, "%s", cb_error_text()) : status);
    r->drive[which] = NULL;
    r->actuator[which].kind = CB_ACTUATOR_NONE;
  }
  return cb_errors_end(&errors);
}

cb_status cb_scenario_read_joints(cb_scenario *s, const cb_node *list, double t) {
  cb_fluid_scenario *m = s->own;
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of joints, each with `kind` and `of`");
  cb_joint_reading r = {.s = s, .list = list, .n = (int)list->count};
  r.joint = cb_arena_alloc(s->arena, list->count, sizeof *r.joint);
  r.first = cb_arena_alloc(s->arena, list->count, sizeof *r.first);
  cb_fluid_joints *out = cb_arena_alloc(s->arena, 1, sizeof *out);
  cb_rigid_state *state = cb_arena_alloc(s->arena, (size_t)m->n, sizeof *state);
  bool *placed = cb_arena_alloc(s->arena, (size_t)m->n, sizeof *placed);
  if (!r.joint || !r.first || !out || !state || !placed)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu joints", list->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++)
    cb_errors_add(&errors, list->items[i], read_joint(&r, list->items[i], (int)i));
  if (errors.status) return cb_errors_end(&errors);
  cb_status status = check_labels(&r);
  if (!status) status = cb_joint_read_couplings(&r);
  if (!status) status = make_laws(&r, &m->joint_laws);
  if (!status) status = start_drives(&r, m->joint_laws, t);
  if (!status) cb_joint_start_couplings(&r);
  if (!status) status = cb_joint_place_all(&r, t, placed, state);
  if (!status) status = cb_joint_start_all(&r, t, state);
  if (!status) status = check_all_limits(&r);
  if (!status) status = check_efforts(&r, m->joint_laws, t);
  *out = (cb_fluid_joints){r.n, r.joint, r.label, r.angle, m->joint_laws};
  m->joints = out;
  cb_errors_add(&errors, list, status);
  return cb_errors_end(&errors);
}
