/* The key `optimum:` of a scenario: target, bounds, start shape and metric; and results for the gait of a scenario: a
 * cycle, optimal gaits, and its own optimality (scenario/bundle_scenario.h). */
#include "scenario/bundle_scenario.h"

#include "bundle/gait_private.h"
#include "bundle/bundle_private.h"
#include "bundle/samples.h"
#include "optimum/effort.h"
#include "optimum/target.h"
#include "tree/scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct optimum_parameters {
  const cb_node *target, *start_shape, *end_shape, *bounds, *torque, *metric, *add;
  int objective, starts, seed, method;
  double length, duration;
  bool no_crossing;
} optimum_parameters;

#define NODE(field, doc) \
  { #field, CB_PARAM_NODE, offsetof(optimum_parameters, field), "", "", "", NULL, doc }
const cb_param cb_optimum_table[] = {
    {"target", CB_PARAM_NODE, offsetof(optimum_parameters, target), "", "", "", NULL,
     "required without `end_shape`: {move: 0.03}, a distance without rotation (`any` with `objective: efficiency`); "
     "{turn: pi/6}; {element: [..]}, "
     "in the frame at the start; or {parts: {x: 0.03, theta: 0}}, with the group's other numbers free"},
    {"objective", CB_PARAM_CHOICE, offsetof(optimum_parameters, objective), "cost", "", "",
     "cost|efficiency|target|torque|work",
     "the minimum cost at the target; the maximum efficiency; the maximum of the target at a given `length`; or, for "
     "motions with inertia, the minimum of the squared torques or of the mechanical work"},
    {"length", CB_PARAM_REAL, offsetof(optimum_parameters, length), "nan", "sqrt(cost)", "> 0", NULL,
     "with `objective: target`: int sqrt(r'Mr') dt"},
    NODE(start_shape,
         "the shape at which the gait begins and ends; free if absent. With torque and work the motion is "
         "at rest there; without it the motion is a smooth cycle"),
    NODE(end_shape, "with torque and work: the shape at which the motion ends; default: the start shape"),
    {"duration", CB_PARAM_REAL, offsetof(optimum_parameters, duration), "nan", "s", "> 0", NULL,
     "with torque and work: the duration of the motion; default: `period` of the gait"},
    NODE(torque, "with torque and work: {VARIABLE: largest |torque|, ..}, or one number for all shape variables"),
    NODE(bounds, "{VARIABLE: [low, high], ..}, or [low, high] for all shape variables; ~: no bound"),
    {"no_crossing", CB_PARAM_BOOL, offsetof(optimum_parameters, no_crossing), "false", "", "", NULL,
     "true: lines of the body that share no point may touch but not cross"},
    NODE(metric, "`bundle` (the bundle's metric), `identity`, or rows of expressions of the shape variables"),
    NODE(add, "added to the metric, such as a cost of bending: rows of expressions, or a list of the diagonal"),
    {"starts", CB_PARAM_INT, offsetof(optimum_parameters, starts), "24", "", ">= 0", NULL,
     "number of random starts, besides small ellipses and the scenario's gait; 0: only the gait, if there is one"},
    {"seed", CB_PARAM_INT, offsetof(optimum_parameters, seed), "1", "", ">= 0", NULL, "seed of the random starts"},
    {"method", CB_PARAM_CHOICE, offsetof(optimum_parameters, method), "newton", "", "", "newton|flow",
     "Newton steps with the exact second variation, or steps along the negative constrained gradient"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* A given gait may exceed its bounds by this tolerance, because a gait that a search has found may touch its bounds. */
static const double typed = 1e-6;

/* --- the target --- */

static const char *const targets[] = {"move", "turn", "element", "parts"}; /* in the order of cb_gait_target_kind */
enum { TARGETS = sizeof targets / sizeof *targets };

static bool one_of(const char *name, const char *const *list) {
  while (*list && strcmp(*list, name)) list++;
  return *list != NULL;
}

/* Returns whether a group has targets of this kind. `move` and `turn` exist only for groups in which conjugation does
 * not change the distance or the angle. */
static bool has_target(const cb_group *G, cb_gait_target_kind kind) {
  static const char *const turning[] = {"so2", "se2", "so3", "se3", NULL}, *const moving[] = {"se2", "se3", NULL};
  if (kind == CB_GAIT_MOVE) return one_of(G->name, moving) || (G->abelian && strcmp(G->name, "so2"));
  return kind != CB_GAIT_TURN || one_of(G->name, turning);
}

static cb_status unfit(const cb_group *G, const cb_node *node, cb_gait_target_kind kind) {
  char fit[64] = "";
  for (int k = 0; k < TARGETS; k++)
    if (has_target(G, (cb_gait_target_kind)k)) {
      strcat(fit, *fit ? ", " : "");
      strcat(fit, targets[k]);
    }
  return cb_node_fail(node, "%s: %s has no %s that is independent of the start of the cycle; expected one of %s",
                      targets[kind], G->name, kind == CB_GAIT_MOVE ? "distance" : "angle", fit);
}

/* Reads the size of a target, or `any`, which is allowed only for the objective `efficiency`. For `any`, *out becomes
 * 1, and the search finds the size. */
static cb_status read_size(const cb_node *node, const char *name, bool efficient, double *out) {
  if (node->kind != CB_NODE_SCALAR || strcmp(node->text, "any")) return cb_scalar_real(node, name, NULL, out);
  if (!efficient)
    return cb_node_fail(node, "%s: `any` applies only to `objective: efficiency`; expected a number", name);
  *out = 1;
  return CB_OK;
}

static cb_status read_amount(const cb_group *G, const cb_node *node, bool efficient, cb_gait_target *t) {
  static const char *const rotations[] = {"so3", "se3", NULL};
  const bool turn = t->kind == CB_GAIT_TURN;
  const cb_status status = read_size(node, targets[t->kind], efficient, &t->value);
  if (status) return status;
  if (turn && one_of(G->name, rotations) && !(t->value > 0 && t->value < 2 * M_PI))
    return cb_node_fail(node, "turn: expected an angle in (0, 2*pi), found %g", t->value);
  if (!turn && G->size > 1 && !(t->value > 0))
    return cb_node_fail(node, "move: expected a distance > 0, found %g", t->value);
  return t->value == 0
             ? cb_node_fail(node, "%s: expected a number that is not 0: a body that does not move has no cost",
                            targets[t->kind])
             : CB_OK;
}

static cb_status read_target_element(const cb_group *G, const cb_node *node, cb_gait_target *t) {
  double one[CB_GROUP_SIZE], off = 0;
  const cb_status status = cb_scenario_read_element(G, node, "element", t->element);
  if (status) return status;
  G->identity(G, one);
  for (int k = 0; k < G->size; k++) off = fmax(off, fabs(t->element[k] - one[k]));
  return off > 0
             ? CB_OK
             : cb_node_fail(
                   node, "element: expected an element other than the identity: a body that does not move has no cost");
}

static cb_status read_parts(const cb_group *G, const cb_node *node, bool efficient, cb_gait_target *t) {
  if (node->kind != CB_NODE_MAP || node->count == 0)
    return cb_node_fail(node, "parts: expected a map of numbers of %s, such as {%s: 0.03}, found %s", G->name,
                        G->number[0], node->kind == CB_NODE_MAP ? "nothing" : cb_node_found(node).text);
  double one[CB_GROUP_SIZE];
  bool stays = true;
  G->identity(G, one);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < node->count; i++) {
    const cb_node *key = node->keys[i], *value = node->items[i];
    int k = 0;
    while (k < G->size && strcmp(G->number[k], key->text)) k++;
    if (k == G->size) {
      char what[48];
      snprintf(what, sizeof what, "number of %s", G->name);
      cb_errors_add(&errors, key, cb_fail_unknown(key, what, key->text, G->number, (size_t)G->size));
      continue;
    }
    t->asked[k] = true;
    cb_errors_add(&errors, value, read_size(value, key->text, efficient, &t->element[k]));
    stays = stays && t->element[k] == one[k];
  }
  const cb_status status = cb_errors_end(&errors);
  if (status || !stays) return status;
  return cb_node_fail(node,
                      "parts: expected a number that differs from the identity: a body that does not move has no cost");
}

static cb_status read_target(const cb_group *G, const cb_node *map, bool efficient, cb_gait_target *t) {
  const cb_node *node = NULL;
  if (map->kind != CB_NODE_MAP)
    return cb_node_fail(map, "target: expected a map such as {move: 0.03} or {turn: pi/6}, found %s",
                        cb_node_found(map).text);
  cb_status status = cb_node_check_keys(map, targets, TARGETS);
  for (int k = 0; k < TARGETS && !status; k++) {
    const cb_node *given = cb_node_get(map, targets[k]);
    if (given && node)
      return cb_node_fail(given, "`%s` next to `%s`: expected only one target", targets[k], targets[t->kind]);
    if (given) {
      node = given;
      t->kind = (cb_gait_target_kind)k;
    }
  }
  if (status) return status;
  if (!node) return cb_node_fail(map, "target: expected one of move, turn, element, parts");
  if (!has_target(G, t->kind)) return unfit(G, node, t->kind);
  switch (t->kind) {
    case CB_GAIT_MOVE:
    case CB_GAIT_TURN: return read_amount(G, node, efficient, t);
    case CB_GAIT_ELEMENT: return read_target_element(G, node, t);
    case CB_GAIT_PARTS: return read_parts(G, node, efficient, t);
  }
  return CB_OK;
}

static bool is_effort(const optimum_parameters *p) { return cb_objective_is_effort((cb_objective)p->objective); }

static cb_status check_length(const cb_node *map, const optimum_parameters *p) {
  const cb_node *length = cb_node_get(map, "length"), *objective = cb_node_get(map, "objective");
  const bool wanted = p->objective == CB_OBJECTIVE_TARGET;
  if (length && !wanted) return cb_node_fail(length, "`length` applies only to `objective: target`");
  if (length || !wanted) return CB_OK;
  return cb_node_misspelt(map, "length", NULL, 0)
             ? cb_fail_consequence()
             : cb_node_fail(objective, "missing key 'length': expected the length at which the target is maximised");
}

/* Checks that the target t has an amount, if the objective needs one. */
static cb_status check_amount(const cb_group *G, const optimum_parameters *p, const cb_gait_target *t) {
  static const char *const texts[] = {"cost", "efficiency", "target"};
  if (p->objective == CB_OBJECTIVE_COST || is_effort(p) || cb_gait_target_amount(G, t) >= 0) return CB_OK;
  return cb_node_fail(
      p->target, "`objective: %s` needs an amount: expected move, turn, or parts with exactly one number that is not 0",
      texts[p->objective]);
}

/* --- bounds --- */

static cb_status read_end(const cb_node *node, const char *name, double none, double *out) {
  *out = none;
  return node->kind == CB_NODE_NULL ? CB_OK : cb_scalar_real(node, name, NULL, out);
}

static cb_status read_bound(const cb_node *node, const char *name, double *low, double *high) {
  if (node->kind != CB_NODE_LIST || node->count != 2)
    return cb_node_fail(node, "%s: expected [low, high], found %s", name,
                        node->kind == CB_NODE_LIST ? "another list" : cb_node_found(node).text);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node->items[0], read_end(node->items[0], name, -INFINITY, low));
  cb_errors_add(&errors, node->items[1], read_end(node->items[1], name, INFINITY, high));
  if (!errors.status && !(*low < *high))
    cb_errors_add(
        &errors, node,
        cb_node_fail(node, "%s: expected [low, high] with low below high, found [%g, %g]", name, *low, *high));
  return cb_errors_end(&errors);
}

static cb_status read_bounds(const cb_bundle *b, const cb_node *node, cb_optimum_scenario *o) {
  for (int i = 0; i < b->n; i++) {
    o->lower[i] = -INFINITY;
    o->upper[i] = INFINITY;
  }
  if (node->kind == CB_NODE_LIST) {
    const cb_status status = read_bound(node, "bounds", &o->lower[0], &o->upper[0]);
    for (int i = 1; i < b->n; i++) {
      o->lower[i] = o->lower[0];
      o->upper[i] = o->upper[0];
    }
    return status;
  }
  if (node->kind != CB_NODE_MAP)
    return cb_node_fail(node, "bounds: expected {%s: [low, high], ..} or [low, high], found %s", b->shape[0],
                        cb_node_found(node).text);
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < node->count; k++) {
    const cb_node *key = node->keys[k];
    int i = 0;
    while (i < b->n && strcmp(b->shape[i], key->text)) i++;
    cb_errors_add(&errors, key,
                  i < b->n ? read_bound(node->items[k], key->text, &o->lower[i], &o->upper[i])
                           : cb_fail_unknown(key, "shape variable", key->text, b->shape, (size_t)b->n));
  }
  return cb_errors_end(&errors);
}

/* Computes the smallest and the largest value of each shape variable of a gait, from samples and its breaks. */
static void extent(const cb_gait *g, double *low, double *high) {
  enum { SAMPLES = 512 };
  const int n = cb_gait_variables(g);
  const double *at;
  const int breaks = cb_gait_breaks(g, &at);
  for (int i = 0; i < n; i++) {
    low[i] = INFINITY;
    high[i] = -INFINITY;
  }
  for (int k = 0; k < SAMPLES + breaks; k++) {
    double r[CB_SHAPE_MAX];
    cb_gait_at(g, k < SAMPLES ? (double)k / SAMPLES : at[k - SAMPLES], r, NULL);
    for (int i = 0; i < n; i++) {
      low[i] = fmin(low[i], r[i]);
      high[i] = fmax(high[i], r[i]);
    }
  }
}

static double slack(double low, double high) { return typed * fmax(1, fmax(fabs(low), fabs(high))); }

static bool leaves(const cb_bundle *b, const cb_optimum_scenario *o, const double *low, const double *high) {
  for (int i = 0; i < b->n; i++)
    if (low[i] < o->lower[i] - slack(low[i], high[i]) || high[i] > o->upper[i] + slack(low[i], high[i])) return true;
  return false;
}

/* Checks that shapes from low to high are within the bounds. what: the word for them in messages, "start shape" or
 * "gait". */
static cb_status check_within(const cb_bundle *b, const cb_optimum_scenario *o, const cb_node *bounds, const char *what,
                              const double *low, const double *high) {
  cb_errors errors = cb_errors_begin();
  for (int i = 0; i < b->n; i++) {
    const double maximum = slack(low[i], high[i]);
    const cb_node *own = cb_node_get(bounds, b->shape[i]), *node = own ? own : bounds;
    if (low[i] < o->lower[i] - maximum)
      cb_errors_add(
          &errors, node,
          cb_node_fail(node, "%s: expected bounds that contain the %s, whose value is %g; found the lower bound %g",
                       b->shape[i], what, low[i], o->lower[i]));
    else if (high[i] > o->upper[i] + maximum)
      cb_errors_add(
          &errors, node,
          cb_node_fail(node, "%s: expected bounds that contain the %s, whose value is %g; found the upper bound %g",
                       b->shape[i], what, high[i], o->upper[i]));
  }
  return cb_errors_end(&errors);
}

static cb_status read_range(const cb_bundle *b, const optimum_parameters *p, cb_optimum_scenario *o) {
  double low[CB_SHAPE_MAX], high[CB_SHAPE_MAX];
  cb_errors errors = cb_errors_begin();
  cb_status start_shape = CB_OK, bounds = CB_OK;
  if (p->start_shape)
    start_shape =
        cb_errors_add(&errors, p->start_shape, cb_gait_read_shape(b, p->start_shape, "start_shape", o->start_shape));
  if (p->start_shape && !start_shape) o->problem.start_shape = o->start_shape;
  if (p->bounds) bounds = cb_errors_add(&errors, p->bounds, read_bounds(b, p->bounds, o));
  if (p->bounds && !bounds) {
    o->problem.lower = o->lower;
    o->problem.upper = o->upper;
  }
  if (p->bounds && !bounds && p->start_shape && !start_shape)
    cb_errors_add(&errors, p->bounds, check_within(b, o, p->bounds, "start shape", o->start_shape, o->start_shape));
  if (p->bounds && !bounds && o->problem.start) {
    extent(o->problem.start, low, high);
    o->left_out = p->starts > 0 && leaves(b, o, low, high);
    if (o->left_out)
      o->problem.start = NULL;
    else
      cb_errors_add(&errors, p->bounds, check_within(b, o, p->bounds, "gait", low, high));
  }
  return cb_errors_end(&errors);
}

/* --- the metric --- */

/* Checks the metric of the bundle `weighed` at the shape r, if the bundle b is valid at this shape. */
static cb_status check_metric_at(const cb_bundle *b, const cb_bundle *weighed, const cb_node *node, const double *r) {
  double A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
  if (cb_bundle_connection(b, r, A, NULL, NULL, NULL)) return CB_OK;
  return cb_bundle_connection(weighed, r, A, NULL, M, NULL) ? cb_node_fail(node, "%s", cb_error_text()) : CB_OK;
}

/* Checks the metric at the start shape, on the gait, and at shapes that fill the bounds evenly. Coordinate i of shape k
 * is the fractional part of k sqrt(4 i + 2), scaled to the bounds. */
static cb_status check_metric(const cb_bundle *b, const cb_optimum_scenario *o, const cb_node *node) {
  enum { SHAPES = 64 };
  const cb_optimum_problem *p = &o->problem;
  bool bounded = p->lower != NULL;
  for (int i = 0; i < b->n && bounded; i++) bounded = isfinite(p->lower[i]) && isfinite(p->upper[i]);
  cb_status status = p->start_shape ? check_metric_at(b, o->weighed, node, p->start_shape) : CB_OK;
  for (int k = 0; k < SHAPES && !status; k++) {
    double r[CB_SHAPE_MAX];
    if (p->start) cb_gait_at(p->start, (double)k / SHAPES, r, NULL);
    if (p->start) status = check_metric_at(b, o->weighed, node, r);
    for (int i = 0; i < b->n && bounded; i++)
      r[i] = p->lower[i] + (p->upper[i] - p->lower[i]) * fmod(k * sqrt(4 * i + 2), 1);
    if (bounded && !status) status = check_metric_at(b, o->weighed, node, r);
  }
  return status;
}

static cb_status read_metric(const cb_bundle *b, const optimum_parameters *p, cb_optimum_scenario *o) {
  const cb_node *node = p->add ? p->add : p->metric;
  const bool own = !p->metric || (p->metric->kind == CB_NODE_SCALAR && !strcmp(p->metric->text, "bundle"));
  if (own && !p->add) return CB_OK;
  cb_status status = cb_bundle_read_metric(b, p->metric, p->add, &o->weighed);
  if (status) return status;
  status = check_metric(b, o, node);
  o->problem.bundle = o->weighed;
  return status;
}

/* --- the complete map --- */

static cb_status check_bundle(const cb_bundle *b, const cb_node *map, const optimum_parameters *p) {
  const cb_node *no_crossing = cb_node_get(map, "no_crossing");
  cb_errors errors = cb_errors_begin();
  if (b->n == 1 && !(b->period[0] > 0) && !is_effort(p))
    cb_errors_add(&errors, map,
                  cb_node_fail(map,
                               "bundle %s has one shape variable, %s, which is not a phase: every cycle has zero "
                               "holonomy; expected more shape variables, or a phase",
                               b->class_->name, b->shape[0]));
  if (p->no_crossing && (!b->class_->plot || b->lines == 0))
    cb_errors_add(
        &errors, no_crossing,
        cb_node_fail(no_crossing, "no_crossing: bundle %s has no lines that could cross: expected no such key",
                     b->class_->name));
  return cb_errors_end(&errors);
}

cb_status cb_scenario_read_optimum(cb_scenario *s, const cb_node *node) {
  cb_bundle_scenario *m = s->own;
  optimum_parameters p;
  if (!node) return CB_OK;
  if (!m || !m->bundle) return cb_params_bind(cb_optimum_table, node, node, NULL, 0, NULL);
  const cb_bundle *b = m->bundle;
  cb_optimum_scenario *o = m->optimum = cb_arena_alloc(s->arena, 1, sizeof *o);
  if (!o) return cb_fail(CB_ERROR_MEMORY, "no memory for an optimum");
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, node, cb_params_bind(cb_optimum_table, node, node, NULL, 0, &p)))
    cb_params_bind_right(cb_optimum_table, node, &p);
  o->node = node;
  o->problem = (cb_optimum_problem){.bundle = b,
                                    .objective = (cb_objective)p.objective,
                                    .length = p.length,
                                    .no_crossing = p.no_crossing,
                                    .start = m->gait,
                                    .starts = p.starts,
                                    .seed = (uint64_t)p.seed,
                                    .flow = p.method == 1};
  if (p.target &&
      !cb_errors_add(&errors, p.target,
                     read_target(b->group, p.target, p.objective == CB_OBJECTIVE_EFFICIENCY, &o->problem.target)))
    cb_errors_add(&errors, p.target, check_amount(b->group, &p, &o->problem.target));
  if (!p.target) o->problem.target.kind = CB_GAIT_PARTS; /* without target numbers */
  if (!p.target && node->kind == CB_NODE_MAP && !(is_effort(&p) && p.end_shape))
    cb_errors_add(&errors, node,
                  cb_node_misspelt(node, "target", NULL, 0)
                      ? cb_fail_consequence()
                      : cb_node_fail(node, "missing key 'target': expected a map such as {move: 0.03}"));
  cb_errors_add(&errors, node, check_length(node, &p));
  cb_errors_add(&errors, node, read_range(b, &p, o));
  if (!cb_errors_add(&errors, node, cb_scenario_read_motion(s, o, p.duration)) && p.end_shape && p.bounds &&
      o->problem.lower)
    cb_errors_add(&errors, p.bounds, check_within(b, o, p.bounds, "end shape", o->end_shape, o->end_shape));
  if (!is_effort(&p)) cb_errors_add(&errors, node, read_metric(b, &p, o));
  cb_errors_add(&errors, node, check_bundle(b, node, &p));
  return cb_errors_end(&errors);
}

void cb_optimum_scenario_free(cb_optimum_scenario *o) {
  if (o) cb_bundle_free(o->weighed);
}

/* --- results for the gait --- */

double cb_gait_squared_distance(const cb_group *G, const double *log) {
  double shifts = 0, all = 0;
  bool any = false;
  for (int k = 0; k < G->dim; k++) {
    const bool turns = !strncmp(G->axis[k], "omega", 5);
    all += log[k] * log[k];
    if (!turns) shifts += log[k] * log[k];
    any = any || !turns;
  }
  return any ? shifts : all;
}

bool cb_gait_log(const cb_group *G, const double *g, double *log) {
  const bool found = G->log(G, g, log) == CB_OK;
  for (int k = 0; !found && k < G->dim; k++) log[k] = NAN;
  return found;
}

bool cb_gait_has_table(const cb_bundle *b) { return !strcmp(b->class_->name, "samples"); }

cb_status cb_gait_cycle_find(const cb_bundle_scenario *motion, const cb_bundle *b, double error, bool integral,
                             cb_gait_cycle *c) {
  const cb_group *G = b->group;
  *c = (cb_gait_cycle){.has_table = cb_gait_has_table(b)};
  cb_status status = cb_holonomy(b, motion->gait, error, c->g, &c->length, &c->cost);
  if (!status && c->has_table) status = cb_bundle_samples_holonomy_error(b, motion->gait, c->table);
  if (status) return status;
  /* this may fail: a phase that makes one full turn bounds no surface, and a surface may contain singular shapes */
  c->has_integral = integral && cb_body_velocity_integral(b, motion->gait, c->cbvi) == CB_OK;
  for (int k = 0; !c->has_integral && k < G->dim; k++) c->cbvi[k] = NAN;
  c->cost /= motion->period;
  c->has_log = cb_gait_log(G, c->g, c->log);
  c->efficiency = c->has_log && c->length > 0 ? cb_gait_squared_distance(G, c->log) / (c->length * c->length) : NAN;
  G->identity(G, c->repeated);
  for (int k = 0; k < motion->repeat; k++) G->multiply(G, c->repeated, c->g, c->repeated);
  G->project(G, c->repeated);
  return CB_OK;
}

double cb_gait_efficiency(double amount, double cost) { return amount * amount / cost; }

cb_status cb_gait_placed_search(const cb_bundle_scenario *motion, cb_status status) {
  if (status != CB_ERROR_ARGUMENT || !motion->optimum || cb_failure_last().placed) return status;
  return cb_node_fail(motion->optimum->node, "%s", cb_error_text());
}

static cb_status find_check(const cb_bundle *b, const cb_optimum *o, double error, cb_gait_check *check) {
  double g[CB_GROUP_SIZE], length, cost;
  if (isnan(o->length)) { /* a motion with inertia: the metric does not give its cost */
    *check = (cb_gait_check){o->quadrature[0], o->quadrature[1]};
    return CB_OK;
  }
  const cb_status status = cb_holonomy(b, o->gait, error, g, &length, &cost);
  if (status) return status;
  check->cost = fabs(cost - o->cost) / o->cost;
  check->element = 0;
  for (int k = 0; k < b->group->size; k++) check->element = fmax(check->element, fabs(g[k] - o->g[k]));
  return CB_OK;
}

cb_status cb_gait_optima_find(const cb_bundle_scenario *motion, double error, const cb_find_watch *watch,
                              cb_optima **out, cb_gait_check *check) {
  const cb_optimum_problem *p = &motion->optimum->problem;
  cb_optima *all = NULL;
  cb_status status = cb_gait_placed_search(motion, cb_optimum_find_watched(p, watch, &all));
  if (!status) status = find_check(p->bundle, &all->item[0], error, check);
  if (status) {
    cb_optima_free(all);
    return status;
  }
  *out = all;
  return CB_OK;
}

cb_optimum_problem cb_gait_optimality_problem(const cb_bundle_scenario *motion, const cb_bundle *b) {
  return motion->optimum ? motion->optimum->problem
                         : (cb_optimum_problem){.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}};
}

cb_status cb_gait_optimality_find(const cb_bundle_scenario *motion, const cb_bundle *b, cb_optimality *out) {
  const cb_optimum_problem p = cb_gait_optimality_problem(motion, b);
  const cb_status status = cb_gait_refuse_motion(motion);
  if (status) return status;
  if (motion->optimum && motion->optimum->left_out)
    return cb_node_fail(motion->optimum->node,
                        "bounds: expected bounds that contain the gait, because its optimality is tested");
  return cb_gait_placed_search(motion, cb_optimality_of(&p, motion->gait, out));
}
