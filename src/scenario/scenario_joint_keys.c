/* Keys of a joint in the key `joints` (scenario_joints.c), and the start of joined bodies.
 *
 * Springs, motors, servos, drives and limits:
 *
 *   spring: {stiffness: .., rest: ..}, motor: EXPRESSION, servo: {position: .., kp: .., kv: ..}, drive: EXPRESSION,
 *   limits: [lowest, highest], restitution: .., stiff: {stiffness: .., damping: ..}
 * A joint with several coordinates has lists. The meaning of the keys is described in mechanism/mechanism.h.
 *
 * With the key `couple` a coordinate is a polynomial of the coordinate of another joint.
 *
 *   couple: {to: elbow, polynomial: [0, -2]}                 q = c_0 + c_1 r + .. + c_4 r^4,  r the coordinate elbow
 * A joint with several coordinates has a list. At the start the coordinate and its rate follow from those of the other
 * joint: q = p(r) and q' = p'(r) r' with the polynomial p. The equations are in mechanism/mechanism_loops.c.
 *
 * Joints give places and velocities to bodies at the start. In each group of joined bodies that is not joined to the
 * world, one body has `place`. The places of the other bodies follow from the joints, g_b = g_a A M(q) B^-1 (symbols:
 * curvebody/joint.h). Loops are closed by Newton's method (cb_mechanism_close).
 */
#include "scenario/fluid.h"

#include "core/registry.h"
#include "numerics/small.h"
#include "numerics/vec3.h"
#include "scenario/warnings.h"
#include "tree/scalar.h"

#include <math.h>
#include <string.h>

/* --- couplings --- */

cb_status cb_joint_find_couplings(cb_joint_reading *r, const cb_joint_keys *p, const cb_joint *j, int first) {
  const int n = cb_joint_coordinates(j);
  if (n == 0) return cb_node_fail(p->couple, "this joint has no coordinates: expected no `couple`");
  if (n > 1 && p->couple->kind != CB_NODE_LIST)
    return cb_node_fail(p->couple, "expected a list of %d, one per coordinate of the joint, `none` where there is none",
                        n);
  for (int i = 0; i < n; i++) {
    const cb_node *item;
    const cb_status status = cb_joint_item_of(p->couple, n, i, &item);
    if (status) return status;
    if (cb_joint_none(item)) continue;
    if (j->driven[i])
      return cb_node_fail(item, "expected only one of `drive` and `couple`, which both give the coordinate");
    r->couple[first + i] = item;
  }
  return CB_OK;
}

static cb_status read_polynomial(const cb_joint_reading *r, const cb_node *node, double c[CB_JOINT_POLYNOMIAL]) {
  if (node->kind != CB_NODE_LIST || node->count < 1 || node->count > CB_JOINT_POLYNOMIAL)
    return cb_node_fail(node, "expected a list of 1 to %d coefficients [c0, c1, ..]", CB_JOINT_POLYNOMIAL);
  for (size_t k = 0; k < node->count; k++) {
    const cb_status status = cb_scenario_number(r->s, node->items[k], 0, NULL, NULL, &c[k]);
    if (status) return status;
  }
  return CB_OK;
}

static cb_status read_coupling(const cb_joint_reading *r, int own, cb_joint_coupling *out) {
  static const char *const keys[] = {"to", "polynomial"};
  const cb_node *node = r->couple[own];
  const cb_status status = cb_node_check_keys(node, keys, 2);
  if (status) return status;
  const cb_node *to = cb_node_get(node, "to"), *polynomial = cb_node_get(node, "polynomial");
  if (!to || !polynomial || to->kind != CB_NODE_SCALAR)
    return cb_node_fail(node, "expected {to: COORDINATE, polynomial: [c0, c1, ..]}");
  out->there = true;
  for (out->to = 0; out->to < r->coordinates && strcmp(r->label[out->to], to->text);) out->to++;
  if (out->to == r->coordinates) return cb_fail_unknown(to, "coordinate", to->text, r->label, (size_t)r->coordinates);
  return read_polynomial(r, polynomial, out->c);
}

/* Returns the coupling of coordinate c; NULL: it has none. */
static cb_joint_coupling *coupling_of(const cb_joint_reading *r, int c) {
  int k = r->n - 1;
  while (r->first[k] > c) k--;
  return r->couple[c] ? &r->joint[k].coupling[c - r->first[k]] : NULL;
}

cb_status cb_joint_read_couplings(cb_joint_reading *r) {
  cb_errors errors = cb_errors_begin();
  for (int c = 0; c < r->coordinates; c++)
    if (r->couple[c]) cb_errors_add(&errors, r->couple[c], read_coupling(r, c, coupling_of(r, c)));
  for (int c = 0; c < r->coordinates && !errors.status; c++) {
    int steps = 0, last = c;
    for (; r->couple[last] && steps <= r->coordinates; steps++) last = coupling_of(r, last)->to;
    if (steps > r->coordinates)
      cb_errors_add(&errors, r->couple[c],
                    cb_node_fail(r->couple[c],
                                 "the coordinate `%s` is coupled to itself, directly or by others: "
                                 "expected a coordinate that does not depend on it",
                                 r->label[c]));
  }
  return cb_errors_end(&errors);
}

/* Computes coordinate c and its rate at the start. First computes these numbers for the coordinate to which c is
 * coupled. */
static void start_one(cb_joint_reading *r, int c) {
  const cb_joint_coupling *own = coupling_of(r, c);
  double slope;
  if (!own) return;
  start_one(r, own->to);
  r->angle[c] = cb_joint_polynomial(own, r->angle[own->to], &slope);
  r->rate[c] = slope * r->rate[own->to];
}

void cb_joint_start_couplings(cb_joint_reading *r) {
  for (int c = 0; c < r->coordinates; c++) start_one(r, c);
}

/* --- forces and limits --- */

cb_status cb_joint_read_spring(const cb_joint_reading *r, const cb_node *node, int n, cb_joint *j) {
  static const char *const keys[] = {"stiffness", "rest"};
  const cb_node *stiffness = cb_node_get(node, "stiffness");
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (!status && !stiffness) status = cb_node_fail(node, "expected {stiffness: .., rest: ..}");
  if (!status) status = cb_joint_read_numbers(r, stiffness, n, false, 0, j->stiffness);
  return status ? status : cb_joint_read_numbers(r, cb_node_get(node, "rest"), n, false, -INFINITY, j->rest);
}

/* Finds the item of `motor`, `servo` or `drive` that gives the force on coordinate i, or the coordinate itself. *which
 * becomes the index of its key in `given`; *item is NULL if there is no such item. */
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

/* --- the start --- */

static cb_status inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  (void)self;
  (void)t;
  (void)g;
  memset(K, 0, 36 * sizeof **K);
  memset(mu0, 0, 6 * sizeof *mu0);
  for (int i = 0; i < 6; i++) K[i][i] = 1;
  return CB_OK;
}

/* The inertia affects the places and velocities only if joints form a loop: the loop is closed by the motion that is
 * smallest in the metric of this inertia. */
static const cb_rigid_problem unit_body = {.inertia = inertia};
static const cb_rigid_problem *unit_problem(void *self, int body) {
  (void)self;
  (void)body;
  return &unit_body;
}

static double curvature_of(const cb_joint_reading *r) { return cb_fluid_scenario_of(r->s)->fluid.curvature; }

/* Finds the state of the second (side 1) or the first (side 0) body of a joint from the state of the other body. */
static cb_status place(cb_joint_reading *r, int joint, int side, double t, cb_rigid_state *state) {
  const cb_joint *j = &r->joint[joint];
  const int n = cb_joint_coordinates(j), first = r->first[joint];
  const double *q = r->angle + first, *rate = r->rate + first;
  const cb_pose A = {.q = {j->frame[0].q[0], j->frame[0].q[1], j->frame[0].q[2], j->frame[0].q[3]},
                     .x = {j->frame[0].x[0], j->frame[0].x[1], j->frame[0].x[2]}},
                B = {.q = {j->frame[1].q[0], j->frame[1].q[1], j->frame[1].q[2], j->frame[1].q[3]},
                     .x = {j->frame[1].x[0], j->frame[1].x[1], j->frame[1].x[2]}};
  cb_joint_motion motion;
  memset(&motion, 0, sizeof motion);
  cb_pose m, back, ab, g;
  double relative[6] = {0}, own[6], Ad[6][6], Y[6] = {0};
  j->class_->place(q, &j->data, &m);
  if (n) memcpy(motion.q, q, (size_t)n * sizeof *q);
  j->class_->find(&m, &j->data, &motion);
  for (int i = 0; i < n; i++)
    cb_add6(rate[i], motion.S[i], relative); /* the twist of frame B relative to frame A, in the axes of B */
  const double K = curvature_of(r);
  cb_pose_inverse(&B, &back);
  cb_pose_multiply_in(K, &A, &m, &ab);
  cb_pose_multiply_in(K, &ab, &back, &ab); /* the pose of body B relative to body A */
  cb_pose_adjoint_in(K, &B, Ad);
  cb_apply6((const double(*)[6])Ad, relative, own); /* the twist of body B relative to body A, in the frame of body B */
  if (side == 0) {                                  /* own becomes the twist of A relative to B, in the frame of A */
    cb_pose_adjoint_in(K, &ab, Ad);
    cb_apply6((const double(*)[6])Ad, own, relative);
    for (int i = 0; i < 6; i++) own[i] = -relative[i];
    cb_pose_inverse(&ab, &ab);
  }
  const int from = j->body[1 - side];
  g = ab;
  if (from >= 0) {
    cb_pose_multiply_in(K, &state[from].g, &ab, &g);
    cb_pose_inverse(&ab, &back);
    cb_pose_adjoint_in(K, &back, Ad);
    cb_apply6((const double(*)[6])Ad, state[from].Y, Y);
  }
  cb_add6(1, own, Y);
  if (!isfinite(cb_dot3(g.x, g.x) + cb_dot(6, Y, Y)))
    return cb_node_fail(r->list->items[joint],
                        "the place or the velocity of body `%s` at the start is too large: expected smaller numbers",
                        cb_fluid_scenario_of(r->s)->body[j->body[side]].name);
  return cb_rigid_start(&unit_body, t, &g, Y, &state[j->body[side]]);
}

/* Returns the value of the key `key` (`place` or `motion`) in the entry of `bodies` that describes the body or its
 * copies; NULL: the key is absent. */
static const cb_node *given(const cb_joint_reading *r, int body, const char *key) {
  const cb_fluid_scenario *m = r->s->own;
  for (size_t i = 0; i < m->n_kinds; i++)
    if (m->kind[i].body == m->body[body].body) return cb_node_get(m->bodies->items[i], key);
  return NULL;
}

static bool has_place(const cb_joint_reading *r, int body) {
  return given(r, body, "place") || given(r, body, "motion");
}

static bool agree(int n, const double *a, const double *b) {
  bool all = true;
  for (int i = 0; i < n; i++) all = all && fabs(a[i] - b[i]) <= 1e-9 * (1 + fabs(b[i]));
  return all;
}

/* Computes the velocities in the axes that the key `frame` of the map `motion` selects: the axes of the world, or those
 * of the body. */
static void velocities(const cb_node *motion, const cb_pose *g, const double Y[6], double out[6]) {
  const cb_node *frame = cb_node_get(motion, "frame");
  double r[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (!frame || !strcmp(frame->text, "world")) cb_pose_rotation(g, r);
  cb_turn6((const double(*)[3])r, Y, out);
}

/* Checks a body whose state follows from a joint: if its map has the keys `place` or `motion`, they must give the same
 * state. */
static cb_status check_given(const cb_joint_reading *r, int body, const cb_joint *j, const cb_rigid_state *s) {
  const cb_body_start *start = &cb_fluid_scenario_of(r->s)->body[body];
  const cb_node *at = given(r, body, "place"), *motion = given(r, body, "motion");
  cb_pose back, between;
  double own[6], found[6];
  cb_pose_inverse(&s->g, &back);
  cb_pose_multiply_in(curvature_of(r), &back, &start->pose, &between);
  if (between.q[0] < 0)
    for (int k = 0; k < 4; k++) between.q[k] = -between.q[k];
  if (at && agree(3, start->pose.x, s->g.x) && agree(4, between.q, (double[]){1, 0, 0, 0})) at = NULL;
  velocities(motion, &start->pose, start->twist, own);
  velocities(motion, &s->g, s->Y, found);
  if (motion && agree(6, own, found)) motion = NULL;
  if (!at && !motion) return CB_OK;
  return cb_node_fail(
      at ? at : motion,
      "joint `%s` already gives the place and the motion of body `%s`: expected no `place` and `motion` here, or "
      "values that agree with the joint (only one of several joined bodies has these keys, and none if a joint "
      "connects "
      "them to the world)",
      j->name, start->name);
}

/* Finds the states of all bodies that joints connect to the world or to bodies whose states are known
 * (placed[bodies]). */
static cb_status spread(cb_joint_reading *r, double t, bool *placed, cb_rigid_state *state) {
  for (bool any = true; any;) {
    any = false;
    for (int k = 0; k < r->n; k++)
      for (int side = 0; side < 2; side++) {
        const cb_joint *j = &r->joint[k];
        const int to = j->body[side], from = j->body[1 - side];
        if (!cb_joint_holds(j) || to < 0 || placed[to] || (from >= 0 && !placed[from])) continue;
        cb_status status = place(r, k, side, t, state);
        if (!status) status = check_given(r, to, j, &state[to]);
        if (status) return status;
        placed[to] = any = true;
      }
  }
  return CB_OK;
}

cb_status cb_joint_place_all(cb_joint_reading *r, double t, bool *placed, cb_rigid_state *state) {
  const cb_fluid_scenario *m = r->s->own;
  cb_status status = spread(r, t, placed, state);
  for (int pass = 0; pass < 2 && !status; pass++) /* bodies with a place, then those without */
    for (int i = 0; i < m->n && !status; i++) {
      if (placed[i] || (pass == 0 && !has_place(r, i))) continue;
      status = cb_rigid_start(&unit_body, t, &m->body[i].pose, m->body[i].twist, &state[i]);
      placed[i] = true;
      if (!status) status = spread(r, t, placed, state);
    }
  return status;
}

/* Returns the coordinates and rates that were read, as the drives of the mechanism that closes loops at the start. If
 * some rates were not given, the coordinates whose rates were given are driven, so that these rates are kept. */
static void give_rates(void *self, double t, double *q, double *rate) {
  const cb_joint_reading *r = self;
  (void)t;
  for (int c = 0; c < r->coordinates; c++) {
    q[c] = r->angle[c];
    rate[c] = r->rate[c];
  }
}

cb_status cb_joint_start_all(cb_joint_reading *r, double t, cb_rigid_state *state) {
  cb_fluid_scenario *m = r->s->own;
  const cb_mechanism_bodies bodies = {state, NULL, unit_problem};
  cb_mechanism *mechanism = NULL;
  cb_joint *joint = cb_arena_alloc(r->s->arena, (size_t)r->n, sizeof *joint);
  int which = 0, free = 0;
  double moved = 0, turned = 0;
  if (!joint) return cb_fail(CB_ERROR_MEMORY, "no memory for joints");
  for (int c = 0; c < r->coordinates; c++) free += !r->rate_given[c] && !r->drive[c] && !r->couple[c];
  for (int k = 0; k < r->n; k++) {
    joint[k] = (cb_joint){.name = r->joint[k].name, .class_ = r->joint[k].class_, .data = r->joint[k].data};
    memcpy(joint[k].body, r->joint[k].body, sizeof joint[k].body);
    memcpy(joint[k].frame, r->joint[k].frame, sizeof joint[k].frame);
    memcpy(joint[k].coupling, r->joint[k].coupling, sizeof joint[k].coupling);
    for (int i = 0; i < cb_joint_coordinates(&joint[k]); i++)
      joint[k].driven[i] = r->drive[r->first[k] + i] || (free && r->rate_given[r->first[k] + i]);
  }
  const cb_mechanism_laws laws = {.self = r, .drives = give_rates};
  cb_status status = cb_mechanism_create_in(curvature_of(r), m->n, r->n, joint, &laws, &which, &mechanism);
  if (status) return cb_node_fail(r->list->items[which], "%s", cb_error_text());
  if (r->coordinates) memcpy(cb_mechanism_q(mechanism), r->angle, (size_t)r->coordinates * sizeof(double));
  if (cb_mechanism_loops(mechanism)) {
    status = cb_mechanism_close(mechanism, &bodies, t, &moved, &which);
    if (!status) status = cb_mechanism_restart(mechanism, &bodies, t, &turned);
    if (status) status = cb_node_fail(r->list->items[which], "%s", cb_error_text());
    if (!status && moved > 1e-9)
      cb_warn("loops of joints are closed at the start: bodies are moved by up to %.3g m or rad", moved);
    if (!status && free == 0 && turned > 1e-6)
      status = cb_node_fail(r->list,
                            "the rates at the start open a loop: they differ by up to %.3g from rates that keep "
                            "it closed: expected %s",
                            turned,
                            r->coordinates ? "joints of the loop without `rate`, which then follows from the others"
                                           : "a `motion` of the bodies that keeps the distances constant");
    if (!status && r->coordinates) memcpy(r->angle, cb_mechanism_q(mechanism), (size_t)r->coordinates * sizeof(double));
  }
  cb_mechanism_free(mechanism);
  for (int i = 0; i < m->n && !status; i++) {
    m->body[i].pose = state[i].g;
    memcpy(m->body[i].twist, state[i].Y, sizeof state[i].Y);
  }
  return status;
}
