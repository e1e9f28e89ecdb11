/* Writes the joints of an MJCF file as the key `joints:` of a scenario. A body has one joint with its parent: a hinge,
 * slide or ball, a planar joint, or a compound one of several hinges and slides. */
#include "mjcf/mjcf_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

/* `coordinates` returns the number of coordinates of a body's joints. The other two functions return the joint that has
 * coordinate i, and the number of this coordinate in that joint. */
static int coordinates(const cb_mjcf_body *b) { return b->hold[0].type == CB_MJCF_BALL ? 3 : b->holds; }
static const cb_mjcf_hold *hold_of(const cb_mjcf_body *b, int i) {
  return &b->hold[b->hold[0].type == CB_MJCF_BALL ? 0 : i];
}
static int component_of(const cb_mjcf_body *b, int i) { return b->hold[0].type == CB_MJCF_BALL ? i : 0; }

/* --- bodies, places and axes of a joint --- */

static void put_bodies(cb_text *out, const char *first, const char *second) {
  cb_text_puts(out, "    of:\n");
  cb_mjcf_put_text(out, "      - ", first);
  cb_mjcf_put_text(out, "      - ", second);
}

static void put_line(cb_text *out, const char *key, int n, const double *x) {
  cb_text_puts(out, "    ");
  cb_mjcf_put_list(out, key, n, x);
  cb_text_puts(out, "\n");
}

static bool is_turned(const double q[4]) { return q[1] != 0 || q[2] != 0 || q[3] != 0; }

static void in_parent(const cb_mjcf_body *b, const cb_mjcf_hold *h, double at[3], double axis[3]) {
  double R[3][3];
  cb_pose_rotation(&b->reference, R);
  cb_pose_point(&b->reference, h->at, at);
  cb_apply3((const double(*)[3])R, h->axis, axis);
}

static void put_part(cb_text *out, const cb_mjcf_body *b, const cb_mjcf_hold *h) {
  double at[3], axis[3];
  in_parent(b, h, at, axis);
  cb_text_puts(out, h->type == CB_MJCF_SLIDE ? "      - {kind: slide, " : "      - {kind: hinge, ");
  cb_mjcf_put_list(out, "axis", 3, axis);
  if (h->type == CB_MJCF_HINGE) {
    cb_text_puts(out, ", ");
    cb_mjcf_put_list(out, "at", 3, at);
  }
  cb_text_puts(out, "}\n");
}

/* Writes the place and the axes of the joint of a body. A planar joint has the place and axes of the last joint of the
 * body, which is a hinge. A compound joint is at the body's origin. */
static void put_geometry(cb_text *out, const cb_mjcf_body *b) {
  static const double zero[3] = {0};
  const bool compound = !strcmp(b->kind, "compound");
  const cb_mjcf_hold *last = &b->hold[b->holds - 1];
  double at[3], axis[3];
  in_parent(b, last, at, axis);
  put_line(out, "at", 3, compound ? b->reference.x : at);
  put_line(out, "in", 3, compound ? zero : last->at);
  if (!compound && last->type != CB_MJCF_BALL) put_line(out, "axis", 3, axis);
  if (is_turned(b->reference.q)) put_line(out, "quaternion", 4, b->reference.q);
  if (compound) cb_text_puts(out, "    parts:\n");
  for (int i = 0; i < b->holds && compound; i++) put_part(out, b, &b->hold[i]);
}

/* --- numbers and expressions of the coordinates of a joint --- */

/* Writes a number, or a list of several, unless all are 0. */
static void put_numbers(cb_text *out, const char *key, int n, const double *x) {
  bool any = false;
  for (int i = 0; i < n; i++) any = any || x[i] != 0;
  if (!any) return;
  if (n > 1) {
    put_line(out, key, n, x);
    return;
  }
  cb_text_puts(out, "    ");
  cb_text_puts(out, key);
  cb_text_puts(out, ": ");
  cb_mjcf_put_number(out, x[0]);
  cb_text_puts(out, "\n");
}

static void put_spring(cb_text *out, int n, const double *stiffness, const double *rest) {
  bool any = false;
  for (int i = 0; i < n; i++) any = any || stiffness[i] != 0;
  if (!any) return;
  cb_text_puts(out, "    spring:\n");
  put_numbers(out, "  stiffness", n, stiffness);
  put_numbers(out, "  rest", n, rest);
}

static void put_pair(cb_text *out, const double limit[2]) {
  if (!isfinite(limit[0]) && !isfinite(limit[1])) {
    cb_text_puts(out, "none");
    return;
  }
  cb_text_puts(out, "[");
  cb_mjcf_put_number(out, limit[0]);
  cb_text_puts(out, ", ");
  cb_mjcf_put_number(out, limit[1]);
  cb_text_puts(out, "]");
}

static void put_limits(cb_text *out, const cb_mjcf_body *b, int n) {
  bool any = false;
  for (int i = 0; i < n; i++) any = any || isfinite(hold_of(b, i)->limit[0]) || isfinite(hold_of(b, i)->limit[1]);
  if (!any) return;
  cb_text_puts(out, n > 1 ? "    limits: [" : "    limits: ");
  for (int i = 0; i < n; i++) {
    if (i) cb_text_puts(out, ", ");
    put_pair(out, hold_of(b, i)->limit);
  }
  cb_text_puts(out, n > 1 ? "]\n" : "\n");
}

/* Writes the force of actuators within its range, and other forces. */
static void put_force(cb_text *out, const cb_mjcf_hold *h, int component) {
  const char *actuation = component ? NULL : h->actuation, *motor = h->motor[component];
  cb_text s = {0};
  if (!actuation && !motor) {
    cb_text_puts(out, "none");
    return;
  }
  cb_text_puts(out, "\"");
  if (actuation)
    cb_mjcf_put_clamped(
        &s, actuation,
        &(cb_mjcf_limit){isfinite(h->effort[0]) || isfinite(h->effort[1]), {h->effort[0], h->effort[1]}});
  if (actuation && motor) cb_text_puts(&s, " + ");
  if (motor) cb_text_puts(&s, motor);
  if (!s.failed) cb_text_puts(out, s.data);
  out->failed = out->failed || s.failed;
  cb_text_free(&s);
  cb_text_puts(out, "\"");
}

static void put_coupling(cb_text *out, const cb_mjcf_hold *h) {
  int n = CB_MJCF_POLYNOMIAL;
  while (n > 1 && h->poly[n - 1] == 0) n--;
  cb_text_puts(out, "{to: ");
  cb_text_puts(out, h->to->label[0]);
  cb_text_puts(out, ", ");
  cb_mjcf_put_list(out, "polynomial", n, h->poly);
  cb_text_puts(out, "}");
}

typedef enum given { MOTOR, DRIVE, COUPLE, GIVEN } given;

static bool has(const cb_mjcf_body *b, int i, given what) {
  const cb_mjcf_hold *h = hold_of(b, i);
  const bool constant = h->by && !h->to;
  return what == DRIVE    ? constant
         : what == COUPLE ? h->to != NULL
                          : !constant && (h->actuation || h->motor[component_of(b, i)]);
}

/* Writes the motors, the drives to constants, or the couplings of all coordinates, if there are any. */
static void put_given(cb_text *out, const cb_mjcf_body *b, int n, given what) {
  static const char *const keys[] = {"    motor: ", "    drive: ", "    couple: "};
  bool any = false;
  for (int i = 0; i < n; i++) any = any || has(b, i, what);
  if (!any) return;
  cb_text_puts(out, keys[what]);
  if (n > 1) cb_text_puts(out, "[");
  for (int i = 0; i < n; i++) {
    const cb_mjcf_hold *h = hold_of(b, i);
    if (i) cb_text_puts(out, ", ");
    if (!has(b, i, what))
      cb_text_puts(out, "none");
    else if (what == MOTOR)
      put_force(out, h, component_of(b, i));
    else if (what == DRIVE)
      cb_mjcf_put_number(out, h->poly[0]);
    else
      put_coupling(out, h);
  }
  cb_text_puts(out, n > 1 ? "]\n" : "\n");
}

/* Writes the coordinates at the start, or their rates if `rate` is set. Coordinates that a constraint gives are left
 * out. */
static void put_start(cb_text *out, const cb_mjcf_body *b, bool rate, int n) {
  double x[6] = {0};
  bool free[6], any = false, all = true;
  for (int i = 0; i < n; i++) {
    const cb_mjcf_hold *h = hold_of(b, i);
    free[i] = !h->by;
    x[i] = (rate ? h->rate : h->q)[component_of(b, i)];
    any = any || (free[i] && x[i] != 0);
    all = all && free[i];
  }
  if (!any) return;
  if (all) {
    put_numbers(out, rate ? "rate" : "angle", n, x);
    return;
  }
  cb_text_puts(out, rate ? "    rate: [" : "    angle: [");
  for (int i = 0; i < n; i++) {
    if (i) cb_text_puts(out, ", ");
    if (free[i])
      cb_mjcf_put_number(out, x[i]);
    else
      cb_text_puts(out, "none");
  }
  cb_text_puts(out, "]\n");
}

static void put_laws(cb_text *out, const cb_mjcf_body *b) {
  const int n = coordinates(b);
  double stiffness[6], rest[6], damping[6], armature[6], friction[6];
  for (int i = 0; i < n; i++) {
    const cb_mjcf_hold *h = hold_of(b, i);
    stiffness[i] = h->stiffness;
    rest[i] = h->rest;
    damping[i] = h->damping;
    armature[i] = h->armature;
    friction[i] = h->friction;
  }
  put_start(out, b, false, n);
  put_start(out, b, true, n);
  put_spring(out, n, stiffness, rest);
  put_numbers(out, "damping", n, damping);
  put_numbers(out, "armature", n, armature);
  put_numbers(out, "friction", n, friction);
  put_limits(out, b, n);
  for (int what = 0; what < GIVEN; what++) put_given(out, b, n, (given)what);
}

/* --- all joints --- */

static void put_loop(cb_text *out, const cb_mjcf_loop *l) {
  double back[4], q[4];
  cb_text_puts(out, "  - kind: ");
  cb_text_puts(out, l->kind);
  cb_text_puts(out, "\n    name: ");
  cb_text_puts(out, l->name);
  cb_text_puts(out, "\n");
  put_bodies(out, l->body[0] ? l->body[0]->own : "world", l->body[1] ? l->body[1]->own : "world");
  put_line(out, "at", 3, l->pose.x);
  put_line(out, "in", 3, l->in.x);
  cb_quaternion_inverse(l->in.q, back);
  cb_quaternion_multiply(l->pose.q, back, q);
  if (is_turned(q)) put_line(out, "quaternion", 4, q);
  if (l->holds && !strcmp(l->kind, "ball")) put_numbers(out, "angle", 3, l->q);
}

void cb_mjcf_write_joints(const cb_mjcf *m, cb_text *out) {
  if (m->joints) cb_text_puts(out, "joints:\n");
  for (const cb_mjcf_body *b = m->bodies; b; b = b->next) {
    if (!b->holds) continue;
    cb_text_puts(out, "  - kind: ");
    cb_text_puts(out, b->kind);
    cb_text_puts(out, "\n    name: ");
    cb_text_puts(out, b->joint);
    cb_text_puts(out, "\n");
    put_bodies(out, b->parent ? b->parent->own : "world", b->own);
    put_geometry(out, b);
    put_laws(out, b);
  }
  for (const cb_mjcf_loop *l = m->loops; l; l = l->next) put_loop(out, l);
}
