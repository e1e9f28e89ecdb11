/* Springs, motors, servos, drives and limits of the key `joints` (scenario_joints.c):
 *
 *   spring: {stiffness: .., rest: ..}, motor: EXPRESSION, servo: {position: .., kp: .., kv: ..}, drive: EXPRESSION,
 *   limits: [lowest, highest], restitution: .., stiff: {stiffness: .., damping: ..}
 * A joint with several coordinates has lists. The meaning of the keys is described in mechanism/mechanism.h and
 * mechanism/joint_laws.h.
 */
#include "scenario/joint_reading.h"
#include "core/registry.h"
#include "numerics/vec3.h"
#include "scenario/warnings.h"
#include "tree/scalar.h"

#include <math.h>
#include <string.h>

cb_status cb_joint_read_spring(const cb_joint_reading *r, const cb_node *node, int n, cb_joint *j) {
  static const char *const keys[] = {"stiffness", "rest"};
  const cb_node *stiffness = cb_node_get(node, "stiffness");
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (!status && !stiffness) status = cb_node_fail(node, "expected {stiffness: .., rest: ..}");
  if (!status) status = cb_joint_read_numbers(r, stiffness, n, false, 0, j->stiffness);
  return status ? status : cb_joint_read_numbers(r, cb_node_get(node, "rest"), n, false, -INFINITY, j->rest);
}

/* What gives the force on coordinate i, or the coordinate: the item of `motor`, `servo` or `drive`, and which of
 * them. */
static cb_status find_actuator(const cb_node *const given[3], int n, int i, const cb_node **item, int *which) {
  *item = NULL;
  for (int k = 0; k < 3; k++) {
    const cb_node *own;
    if (!given[k]) continue;
    const cb_status status = cb_joint_item_of(given[k], n, i, &own);
    if (status) return status;
    if (cb_joint_none(own)) continue;
    if (*item) return cb_node_fail(own, "expected only one of `motor`, `servo` and `drive`");
    *item = own;
    *which = k;
  }
  return CB_OK;
}

static cb_status text_of(const cb_node *node, const char **out) {
  if (node->kind != CB_NODE_SCALAR) return cb_node_fail(node, "expected an expression");
  *out = node->text;
  return CB_OK;
}

static cb_status read_servo(const cb_joint_reading *r, const cb_node *node, cb_actuator *a) {
  static const char *const keys[] = {"position", "velocity", "kp", "kv"};
  const cb_node *position = cb_node_get(node, "position"), *velocity = cb_node_get(node, "velocity"),
                *kp = cb_node_get(node, "kp"), *kv = cb_node_get(node, "kv");
  cb_status status = cb_node_check_keys(node, keys, 4);
  if (!status && (!position == !velocity || (position && !kp) || (velocity && (kp || !kv))))
    status = cb_node_fail(node, "expected {position: EXPRESSION, kp: .., kv: ..} or {velocity: EXPRESSION, kv: ..}");
  if (status) return status;
  a->kind = position ? CB_ACTUATOR_POSITION : CB_ACTUATOR_VELOCITY;
  status = text_of(position ? position : velocity, &a->text);
  if (!status && kp) status = cb_joint_read_numbers(r, kp, 1, false, 0, &a->kp);
  if (!status && kv) status = cb_joint_read_numbers(r, kv, 1, false, 0, &a->kv);
  return status;
}

cb_status cb_joint_read_actuators(cb_joint_reading *r, const cb_joint_keys *p, cb_joint *j, int first) {
  const int n = cb_joint_coordinates(j);
  const cb_node *const given[] = {p->motor, p->servo, p->drive};
  for (int k = 0; k < 3; k++) {
    if (given[k] && n == 0)
      return cb_node_fail(given[k], "this joint has no coordinates: expected no motor, servo or drive");
    if (given[k] && n > 1 && given[k]->kind != CB_NODE_LIST)
      return cb_node_fail(given[k],
                          "expected a list of %d, one per coordinate of the joint, `none` where there is none", n);
  }
  if ((p->control || p->effort) && !p->motor && !p->servo)
    return cb_node_fail(p->control ? p->control : p->effort,
                        "`control` and `effort` are ranges of a motor or servo: expected one of them");
  for (int i = 0; i < n; i++) {
    cb_actuator *a = &r->actuator[first + i];
    const cb_node *item;
    int kind = 0;
    cb_status status = find_actuator(given, n, i, &item, &kind);
    *a = (cb_actuator){.control = {-INFINITY, INFINITY}, .effort = {-INFINITY, INFINITY}};
    r->drive[first + i] = NULL;
    r->where[first + i] = item;
    if (status || !item) {
      if (status) return status;
      continue;
    }
    if (kind == 1) {
      status = read_servo(r, item, a);
      const cb_node *target = cb_node_get(item, "position");
      r->where[first + i] = target ? target : cb_node_get(item, "velocity");
    }
    if (kind == 0) {
      a->kind = CB_ACTUATOR_MOTOR;
      status = text_of(item, &a->text);
    }
    if (kind == 2) {
      status = text_of(item, &r->drive[first + i]);
      j->driven[i] = true;
    }
    if (!status && p->control) status = cb_joint_read_range(r, p->control, a->control);
    if (!status && p->effort) status = cb_joint_read_range(r, p->effort, a->effort);
    if (status) return status;
  }
  return CB_OK;
}

static cb_status read_stiff(const cb_joint_reading *r, const cb_node *node, cb_joint *j) {
  static const char *const keys[] = {"stiffness", "damping"};
  const cb_node *stiffness = cb_node_get(node, "stiffness"), *damping = cb_node_get(node, "damping");
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (!status && !stiffness) status = cb_node_fail(node, "expected {stiffness: .., damping: ..}");
  if (!status) status = cb_joint_read_numbers(r, stiffness, 1, false, 0, &j->stiff[0]);
  if (!status && !(j->stiff[0] > 0)) status = cb_node_fail(stiffness, "expected a stiffness > 0");
  return status ? status : cb_joint_read_numbers(r, damping, 1, false, 0, &j->stiff[1]);
}

cb_status cb_joint_read_limits(const cb_joint_reading *r, const cb_node *node, const cb_joint_keys *p, cb_joint *j) {
  const int n = cb_joint_coordinates(j);
  for (int i = 0; i < 6; i++) {
    j->limit[i][0] = -INFINITY;
    j->limit[i][1] = INFINITY;
  }
  j->restitution = isnan(p->restitution) ? 0 : p->restitution;
  if (p->stiff) {
    const cb_status status = read_stiff(r, p->stiff, j);
    if (status) return status;
    if (!p->limits) return cb_node_fail(p->stiff, "`stiff` applies only to `limits`: expected limits");
  }
  if (!p->limits && cb_node_get(node, "restitution"))
    return cb_node_fail(cb_node_get(node, "restitution"), "`restitution` applies only to `limits`: expected limits");
  if (!p->limits) return CB_OK;
  if (n == 0) return cb_node_fail(p->limits, "this joint has no coordinates: expected no limits");
  if (n == 1) return cb_joint_read_range(r, p->limits, j->limit[0]);
  if (p->limits->kind != CB_NODE_LIST || p->limits->count != (size_t)n)
    return cb_node_fail(p->limits, "expected a list of %d pairs [lowest, highest], `none` where there is none", n);
  for (int i = 0; i < n; i++) {
    const cb_status status =
        cb_joint_none(p->limits->items[i]) ? CB_OK : cb_joint_read_range(r, p->limits->items[i], j->limit[i]);
    if (status) return status;
  }
  return CB_OK;
}
