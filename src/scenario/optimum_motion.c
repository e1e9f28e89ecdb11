/* The keys of `optimum:` for motions with inertia, the objectives `torque` and `work` (optimum/effort.h).
 *
 *   optimum: {objective: torque, duration: 2, target: {turn: 0.3}, start_shape: [0, 0], end_shape: [0, 1],
 *       torque: {alpha1: 0.5}}
 * Springs, dampers and the momentum are those of the key `shape`.
 */
#include "bundle/gait_private.h"
#include "optimum/effort.h"
#include "scenario/bundle_scenario.h"
#include "tree/scalar.h"

#include <math.h>
#include <string.h>

/* Reads the maximum torque of each shape variable into o->torque; INFINITY: it has no maximum. */
static cb_status read_torques(const cb_bundle *b, const cb_node *node, cb_optimum_scenario *o) {
  for (int i = 0; i < b->n; i++) o->torque[i] = INFINITY;
  o->problem.largest_torque = o->torque;
  if (node->kind == CB_NODE_LIST)
    return cb_node_fail(node, "torque: expected {%s: 0.5, ..} or one number for all shape variables, found a list",
                        b->shape[0]);
  cb_errors errors = cb_errors_begin();
  const bool map = node->kind == CB_NODE_MAP;
  for (size_t k = 0; k < (map ? node->count : 1); k++) {
    const cb_node *key = map ? node->keys[k] : node, *value = map ? node->items[k] : node;
    double limit = INFINITY;
    int i = 0;
    while (map && i < b->n && strcmp(b->shape[i], key->text)) i++;
    cb_status status = i < b->n ? cb_scalar_real(value, map ? key->text : "torque", NULL, &limit)
                                : cb_fail_unknown(key, "shape variable", key->text, b->shape, (size_t)b->n);
    if (!status && !(limit > 0))
      status = cb_node_fail(value, "%s: expected a largest torque > 0, found %g", map ? key->text : "torque", limit);
    cb_errors_add(&errors, key, status);
    for (int j = 0; !status && j < b->n; j++)
      if (!map || j == i) o->torque[j] = limit;
  }
  return cb_errors_end(&errors);
}

/* Returns whether a variable has this key, except with the value 0, which counts as absent because it is the
 * default. */
static bool is_there(const cb_node *variable, const char *key) {
  const cb_node *node = cb_node_get(variable, key);
  double value;
  return node && !(node->kind == CB_NODE_SCALAR && cb_node_real(node, &value) == CB_OK && value == 0);
}

/* Takes springs, dampers and the momentum from the key `shape`; other forces are not part of the search. */
static cb_status take_shape(const cb_scenario *s, const cb_node *shape, cb_optimum_scenario *o) {
  static const char *const others[] = {"start", "rate", "torque", "friction", "limits"};
  enum { OTHERS = sizeof others / sizeof *others };
  const cb_bundle_scenario *m = s->own;
  const cb_bundle *b = m->bundle;
  cb_errors errors = cb_errors_begin();
  for (int i = 0; i < b->n; i++) {
    const cb_node *own = cb_node_get(shape, b->shape[i]);
    const cb_shape_variable *v = &m->moving->variable[i];
    o->stiffness[i] = v->stiffness;
    o->rest[i] = v->rest;
    o->damping[i] = v->damping;
    for (int k = 0; own && own->kind == CB_NODE_MAP && k < OTHERS; k++)
      if (is_there(own, others[k]))
        cb_errors_add(
            &errors, cb_node_get(own, others[k]),
            cb_node_fail(cb_node_get(own, others[k]),
                         "`%s` of %s next to `objective: torque` or `work`: expected none, because the motion "
                         "is sought with springs and dampers only",
                         others[k], b->shape[i]));
    if (v->drive)
      cb_errors_add(
          &errors, own,
          cb_node_fail(cb_node_get(own, "drive"),
                       "`drive` of %s next to `objective: torque` or `work`: expected none, because the motion "
                       "is sought",
                       b->shape[i]));
  }
  if (m->moving->potential)
    cb_errors_add(
        &errors, shape,
        cb_node_fail(cb_node_get(shape, "potential"),
                     "`potential` next to `objective: torque` or `work`: expected none, because the motion is "
                     "sought with springs and dampers only"));
  cb_group_adjoint_dual(b->group, m->start, m->moving->momentum, o->momentum);
  o->problem.stiffness = o->stiffness;
  o->problem.rest = o->rest;
  o->problem.damping = o->damping;
  for (int a = 0; a < b->group->dim; a++)
    if (o->momentum[a] != 0) o->problem.momentum = o->momentum;
  return cb_errors_end(&errors);
}

/* Fails if the bundle or the keys of `optimum` do not allow a motion with inertia. */
static cb_status check_motion(const cb_scenario *s, const cb_optimum_scenario *o) {
  const cb_bundle_scenario *m = s->own;
  const cb_bundle *b = m->bundle;
  const cb_optimum_problem *q = &o->problem;
  const cb_node *map = o->node, *objective = cb_node_get(map, "objective"), *torque = cb_node_get(map, "torque"),
                *metric = cb_node_get(map, "metric"), *add = cb_node_get(map, "add");
  if (b->resistance == CB_RESISTANCE_DRAG)
    return cb_node_fail(objective, "bundle %s has drag and no inertia: expected cost, efficiency or target",
                        b->class_->name);
  for (int i = 0; i < b->n; i++)
    if (b->breaks[i])
      return cb_node_fail(objective,
                          "the inertia of bundle %s is not smooth in %s: expected cost, efficiency or target",
                          b->class_->name, b->shape[i]);
  if (m->plain)
    return cb_node_fail(objective,
                        "objective next to `coordinates` of the bundle: expected cost, efficiency or target");
  if (metric || add)
    return cb_node_fail(metric ? metric : add,
                        "a metric with `objective: torque` or `work`: expected none, because the inertia gives it");
  if (q->flow)
    return cb_node_fail(cb_node_get(map, "method"), "method: expected newton with `objective: torque` or `work`");
  if (!(q->duration > 0))
    return cb_node_get(map, "duration")
               ? cb_fail_consequence()
               : cb_node_fail(objective, "missing key 'duration': expected the duration of the motion in s");
  if (b->n == 1 && !(b->period[0] > 0) && !q->momentum && cb_node_get(map, "target"))
    return cb_node_fail(cb_node_get(map, "target"),
                        "bundle %s has one shape variable, %s, and the momentum is 0: every motion between two shapes "
                        "has the same displacement; expected no target, but `start_shape` and `end_shape`",
                        b->class_->name, b->shape[0]);
  const bool bound = q->objective == CB_OBJECTIVE_WORK;
  for (int i = 0; bound && i < b->n; i++)
    if (!q->largest_torque || !isfinite(o->torque[i]))
      return cb_node_fail(torque ? torque : objective,
                          "`objective: work` without a largest torque of %s: expected `torque: {%s: ..}`, because the "
                          "least work needs impulses otherwise",
                          b->shape[i], b->shape[i]);
  const bool cycle = b->group->abelian || q->target.kind == CB_GAIT_MOVE || q->target.kind == CB_GAIT_TURN;
  if (q->start_shape || (cycle && !q->momentum)) return CB_OK;
  return cb_node_fail(map, "missing key 'start_shape': expected the shape at which the motion begins at rest%s",
                      q->momentum ? ", because the displacement of a cycle with momentum depends on its start" : "");
}

cb_status cb_scenario_read_motion(const cb_scenario *s, cb_optimum_scenario *o, double duration) {
  static const char *const own[] = {"duration", "end_shape", "torque"};
  const cb_bundle_scenario *m = s->own;
  const cb_node *map = o->node, *shape = cb_node_get(cb_tree_root(s->tree), "shape"),
                *end_shape = cb_node_get(map, "end_shape"), *torque = cb_node_get(map, "torque");
  cb_errors errors = cb_errors_begin();
  if (!cb_objective_is_effort(o->problem.objective)) {
    for (int k = 0; k < 3; k++)
      if (cb_node_get(map, own[k]))
        cb_errors_add(
            &errors, cb_node_get(map, own[k]),
            cb_node_fail(cb_node_get(map, own[k]), "`%s` applies only to `objective: torque` and `work`", own[k]));
    return cb_errors_end(&errors);
  }
  o->problem.duration = isfinite(duration) ? duration : m->gait ? m->period : 0;
  if (end_shape && !cb_node_get(map, "start_shape"))
    cb_errors_add(&errors, end_shape, cb_node_fail(end_shape, "`end_shape` without `start_shape`: expected both"));
  else if (end_shape &&
           !cb_errors_add(&errors, end_shape, cb_gait_read_shape(m->bundle, end_shape, "end_shape", o->end_shape)))
    o->problem.end_shape = o->end_shape;
  if (torque) cb_errors_add(&errors, torque, read_torques(m->bundle, torque, o));
  if (shape && m->moving) cb_errors_add(&errors, shape, take_shape(s, shape, o));
  if (!errors.status) cb_errors_add(&errors, map, check_motion(s, o));
  return cb_errors_end(&errors);
}

cb_status cb_gait_refuse_motion(const cb_bundle_scenario *motion) {
  const cb_optimum_scenario *o = motion->optimum;
  if (!o || !cb_objective_is_effort(o->problem.objective)) return CB_OK;
  return cb_node_fail(cb_node_get(o->node, "objective"),
                      "objective: torque and work are for `optimize` only: expected cost, efficiency or target");
}
