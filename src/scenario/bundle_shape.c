/* The key `shape` next to `bundle`: shape variables that move by themselves (bundle/shape_motion.h).
 *
 *   shape: {momentum: [3, -1, 2], potential: "2*group.y + alpha1^2",
 *           alpha1: {start: .8, rate: 0, spring: {stiffness: .5, rest: .1}, damping: .01, friction: .02,
 *                    torque: ".2*sin(2*t) - .1*alpha2_rate", limits: [-1, 1], restitution: .5},
 *           alpha2: {drive: "a*sin(w*t)"}, alpha3: gait,
 *           alpha4: {drive: gait, spring: {stiffness: 1}}, parameters: {a: .5, w: 2}, period: "2*pi/w"}
 * A variable without an entry follows the gait if there is one; otherwise it is free and starts at 0. The drives and
 * torques must repeat after the period, which is the duration of a cycle.
 */
#include "scenario/bundle_scenario.h"
#include "tree/scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 1 + 2 * CB_SHAPE_MAX };

typedef struct keys {
  double start, rate, damping, friction, restitution;
  const cb_node *spring, *torque, *drive, *limits;
} keys;

#define REAL(field, fallback, unit, range, doc) \
  { #field, CB_PARAM_REAL, offsetof(keys, field), fallback, unit, range, NULL, doc }
#define NODE(field, doc) \
  { #field, CB_PARAM_NODE, offsetof(keys, field), "", "", "", NULL, doc }
const cb_param cb_shape_variable_table[] = {
    REAL(start, "0", "", "", "value at the start"),
    REAL(rate, "0", "s-1", "", "rate at the start; with inertia only"),
    NODE(spring, "{stiffness: k, rest: r_0}: the force -k (r - r_0)"),
    REAL(damping, "0", "", ">= 0", "the force -c r'"),
    REAL(friction, "0", "", ">= 0", "largest force of dry friction; with inertia only"),
    NODE(torque, "expression of t, the shape variables, their rates NAME_rate, and controls"),
    NODE(drive, "expression of t that the variable follows, or `gait`; the needed force is recorded as /effort"),
    NODE(limits, "[lowest, highest]: the variable is reflected there; with inertia only"),
    REAL(restitution, "1", "", "[0, 1]", "of the limits"),
    {0}};

const cb_param cb_shape_table[] = {
    {"NAME", CB_PARAM_NODE, 0, "", "", "", NULL, "the keys of the shape variable with this name, or the word gait"},
    {"momentum", CB_PARAM_NODE, 0, "0", "", "", NULL,
     "list of the momenta at the start, along the axes of the world; with inertia only"},
    {"potential", CB_PARAM_NODE, 0, "0", "", "", NULL,
     "expression of the shape variables and of the numbers of the group element, with the prefix group."},
    {"parameters", CB_PARAM_NODE, 0, "", "", "", NULL, "{NAME: number}: names for the expressions of `shape`"},
    {"period", CB_PARAM_NODE, 0, "", "s", "> 0", NULL, "duration of a cycle, for `curvebody gait .. cycle`"},
    {0}};

bool cb_bundle_scenario_follows(const cb_bundle_scenario *m, int *other) {
  if (other) *other = -1;
  if (!m->gait) return false;
  for (int i = 0; m->moving && i < m->bundle->n; i++)
    if (!m->moving->variable[i].driven || m->moving->variable[i].drive) {
      if (other) *other = i;
      return false;
    }
  return true;
}

/* Keys that a driven variable does not have, and keys that need inertia; the lists end with NULL. */
static const char *const of_free[] = {"start", "rate", "friction", "limits", "restitution", NULL},
                         *const of_inertia[] = {"rate", "friction", "limits", NULL};

static bool is_among(const char *key, const char *const *list) {
  while (*list && strcmp(*list, key)) list++;
  return *list != NULL;
}

void cb_shape_variable_rows(const cb_node *map, bool drag, cb_param rows[CB_SHAPE_ROWS]) {
  int n = 0;
  for (const cb_param *row = cb_shape_variable_table; row->name; row++) {
    if (!strcmp(row->name, "restitution") && !cb_node_get(map, "limits")) continue;
    if (drag && is_among(row->name, of_inertia)) continue;
    if (cb_node_get(map, "drive") && is_among(row->name, of_free)) continue;
    rows[n++] = *row;
  }
  rows[n] = (cb_param){.name = NULL};
}

typedef struct reading {
  cb_scenario *s;
  cb_bundle_scenario *m;
  cb_shape_scenario *shape;
  const char *name[NAMES]; /* t, the variables, their rates */
  cb_named_numbers parameters;
} reading;

/* Makes the names of the arguments of torques. */
static cb_status name_arguments(reading *r) {
  const cb_bundle *b = r->m->bundle;
  r->name[0] = "t";
  for (int i = 0; i < b->n; i++) {
    char *rate = cb_arena_alloc(r->s->arena, strlen(b->shape[i]) + 6, 1);
    if (!rate) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
    sprintf(rate, "%s_rate", b->shape[i]);
    r->name[1 + i] = b->shape[i];
    r->name[1 + b->n + i] = rate;
  }
  return CB_OK;
}

/* Parses an expression, which belongs to the scenario. Only torques may use controls. */
static cb_status parse_with(reading *r, const cb_node *node, const char *const *names, int n, bool controls,
                            const cb_expression **out) {
  cb_expression *e;
  cb_shape_scenario *own = r->shape;
  if (node->kind != CB_NODE_SCALAR) return cb_node_fail(node, "expected an expression");
  const cb_named_numbers *k = &r->parameters;
  cb_expression_scope scope = {
      .names = names, .n = (size_t)n, .parameters = k->name, .values = k->value, .n_parameters = k->n};
  if (controls) cb_scenario_add_controls(r->s, &scope);
  const cb_status status = cb_node_expression(node, &scope, &e);
  if (status) return status;
  *out = own->expression[own->expressions++] = e;
  return CB_OK;
}

static cb_status parse(reading *r, const cb_node *node, const char *const *names, int n, const cb_expression **out) {
  return parse_with(r, node, names, n, false, out);
}

static cb_status read_spring(const cb_node *node, cb_shape_variable *v) {
  static const char *const known[] = {"stiffness", "rest"};
  const cb_node *stiffness = cb_node_get(node, "stiffness"), *rest = cb_node_get(node, "rest");
  cb_status status = node->kind == CB_NODE_MAP ? cb_node_check_keys(node, known, 2) : CB_OK;
  if (!status && (node->kind != CB_NODE_MAP || !stiffness))
    status = cb_node_fail(node, "spring: expected a map with `stiffness`, such as {stiffness: 1, rest: 0}");
  if (!status) status = cb_node_real(stiffness, &v->stiffness);
  if (!status && !(v->stiffness >= 0))
    status = cb_node_fail(stiffness, "stiffness: expected a number >= 0, found %g", v->stiffness);
  return status || !rest ? status : cb_node_real(rest, &v->rest);
}

static cb_status read_limits(const cb_node *node, double start, cb_shape_variable *v) {
  double at[2];
  if (node->kind != CB_NODE_LIST || node->count != 2 || cb_node_reals(node, 2, at) || !(at[0] < at[1]))
    return cb_node_fail(node, "limits: expected [lowest, highest], two finite numbers in this order");
  v->lowest = at[0];
  v->highest = at[1];
  if (!(start >= at[0] && start <= at[1]))
    return cb_node_fail(node, "limits: expected the start %g within [%g, %g]", start, at[0], at[1]);
  return CB_OK;
}

/* Fails if a driven variable has a key that only free variables may have. */
static cb_status check_driven(const cb_node *node) {
  for (int k = 0; of_free[k]; k++)
    if (cb_node_get(node, of_free[k]))
      return cb_node_fail(cb_node_get(node, of_free[k]),
                          "`%s` next to `drive`: expected only one of them, because the law gives the motion",
                          of_free[k]);
  return CB_OK;
}

static cb_status read_variable(reading *r, const cb_node *node, int i) {
  cb_shape_variable *v = &r->shape->variable[i];
  const cb_bundle *b = r->m->bundle;
  keys k;
  if (node->kind == CB_NODE_SCALAR && !strcmp(node->text, "gait")) {
    if (!r->m->gait) return cb_node_fail(node, "%s: expected the key `gait` next to `shape`", b->shape[i]);
    v->driven = true;
    return CB_OK;
  }
  if (node->kind != CB_NODE_MAP)
    return cb_node_fail(node, "%s: expected a map such as {start: 0, spring: {stiffness: 1}}, or `gait`, found %s",
                        b->shape[i], cb_node_found(node).text);
  v->driven = false;
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, node, cb_params_bind(cb_shape_variable_table, node, node, NULL, 0, &k)))
    cb_params_bind_right(cb_shape_variable_table, node, &k);
  v->damping = k.damping;
  v->friction = k.friction;
  v->restitution = k.restitution;
  r->shape->start[i] = k.start;
  r->shape->rate[i] = k.rate;
  if (k.spring) cb_errors_add(&errors, k.spring, read_spring(k.spring, v));
  if (k.torque) cb_errors_add(&errors, k.torque, parse_with(r, k.torque, r->name, 1 + 2 * b->n, true, &v->torque));
  const bool by_gait = k.drive && k.drive->kind == CB_NODE_SCALAR && !strcmp(k.drive->text, "gait");
  if (by_gait) {
    v->driven = true;
    cb_errors_add(&errors, k.drive, check_driven(node));
    if (!r->m->gait)
      cb_errors_add(&errors, k.drive, cb_node_fail(k.drive, "drive: expected the key `gait` next to `shape`"));
  } else if (k.drive) {
    v->driven = true;
    cb_errors_add(&errors, k.drive, check_driven(node));
    cb_errors_add(&errors, k.drive, parse(r, k.drive, r->name, 1, &v->drive));
  } else if (k.limits) {
    cb_errors_add(&errors, k.limits, read_limits(k.limits, k.start, v));
  } else if (cb_node_get(node, "restitution")) {
    const cb_node *restitution = cb_node_get(node, "restitution");
    cb_errors_add(&errors, restitution,
                  cb_node_fail(restitution, "`restitution` applies only to `limits`: expected limits"));
  }
  return cb_errors_end(&errors);
}

/* Reads the potential, an expression of the numbers of the group, whose names have the prefix `group.`, and of the
 * shape variables. */
static cb_status read_potential(reading *r, const cb_node *node) {
  const cb_bundle *b = r->m->bundle;
  const cb_group *G = b->group;
  const char *name[CB_GROUP_SIZE + CB_SHAPE_MAX];
  for (int k = 0; k < G->size; k++) {
    char *text = cb_arena_alloc(r->s->arena, strlen(G->number[k]) + 7, 1);
    if (!text) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
    sprintf(text, "group.%s", G->number[k]);
    name[k] = text;
  }
  for (int i = 0; i < b->n; i++) name[G->size + i] = b->shape[i];
  return parse(r, node, name, G->size + b->n, &r->shape->potential);
}

/* Fails if a control has the name of an argument of torques. */
static cb_status check_controls(const reading *r, const cb_node *node) {
  cb_expression_scope scope = {.n = 0};
  cb_scenario_add_controls(r->s, &scope);
  for (size_t k = 0; k < scope.n_controls; k++)
    for (int i = 0; i < 1 + 2 * r->m->bundle->n; i++)
      if (!strcmp(scope.controls[k], r->name[i]))
        return cb_node_fail(node, "the name '%s' is given twice: to a shape variable or its rate, and to a control",
                            r->name[i]);
  return CB_OK;
}

static cb_status read_momentum(reading *r, const cb_node *node) {
  const cb_group *G = r->m->bundle->group;
  if (node->kind != CB_NODE_LIST || node->count != (size_t)G->dim) {
    char axes[200] = "";
    for (int a = 0; a < G->dim; a++)
      snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "%s%s", a ? ", " : "", G->axis[a]);
    return cb_node_fail(node, "momentum: expected a list of %d number%s, along the axes %s of the group %s", G->dim,
                        G->dim == 1 ? "" : "s", axes, G->name);
  }
  return cb_node_reals(node, node->count, r->shape->momentum);
}

/* Reads the duration of a cycle, an expression of the parameters. */
static cb_status read_period(reading *r, const cb_node *node) {
  const cb_expression *e = NULL;
  if (r->m->gait)
    return cb_node_fail(node, "`period` next to `gait`: expected only one of them, because the gait has a period");
  const cb_status status = parse(r, node, NULL, 0, &e);
  if (status) return status;
  r->shape->period = cb_expression_value(e, NULL);
  if (r->parameters.lost && isnan(r->shape->period)) return cb_fail_consequence();
  if (!(r->shape->period > 0 && isfinite(r->shape->period)))
    return cb_node_fail(node, "period: expected a finite number > 0, found %g", r->shape->period);
  r->m->period = r->shape->period;
  return CB_OK;
}

cb_status cb_scenario_read_shape(cb_scenario *s, const cb_node *node) {
  cb_bundle_scenario *m = s->own;
  if (!node) return CB_OK;
  if (!m->bundle) return CB_OK; /* the error was reported */
  reading r = {.s = s, .m = m};
  const cb_bundle *b = m->bundle;
  static const char *const keys_of_all[] = {"momentum", "potential", "parameters", "period"};
  const char *known[CB_SHAPE_MAX + 4];
  if (node->kind != CB_NODE_MAP)
    return cb_node_fail(node, "shape: expected a map such as {%s: {start: 0, spring: {stiffness: 1}}}, found %s",
                        b->shape[0], cb_node_found(node).text);
  r.shape = m->moving = cb_arena_alloc(s->arena, 1, sizeof *m->moving);
  if (!r.shape) return cb_fail(CB_ERROR_MEMORY, "no memory for a shape");
  cb_status status = name_arguments(&r);
  if (status) return status;
  for (int i = 0; i < b->n; i++) {
    known[i] = b->shape[i];
    r.shape->variable[i] = (cb_shape_variable){.driven = m->gait != NULL, .lowest = -INFINITY, .highest = INFINITY};
  }
  memcpy(known + b->n, keys_of_all, sizeof keys_of_all);
  const cb_node *parameters = cb_node_get(node, "parameters"), *period = cb_node_get(node, "period");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, cb_node_check_keys(node, known, (size_t)b->n + 4));
  cb_errors_add(&errors, parameters, cb_scenario_read_named(s, parameters, &r.parameters));
  s->parameters = r.parameters;
  cb_errors_add(&errors, node, check_controls(&r, node));
  if (period) cb_errors_add(&errors, period, read_period(&r, period));
  for (int i = 0; i < b->n; i++) {
    const cb_node *own = cb_node_get(node, b->shape[i]);
    if (own) cb_errors_add(&errors, own, read_variable(&r, own, i));
  }
  const cb_node *momentum = cb_node_get(node, "momentum"), *potential = cb_node_get(node, "potential");
  if (momentum) cb_errors_add(&errors, momentum, read_momentum(&r, momentum));
  if (potential) cb_errors_add(&errors, potential, read_potential(&r, potential));
  if (m->plain)
    cb_errors_add(&errors, node,
                  cb_node_fail(node,
                               "`shape` next to `coordinates` of the bundle: expected only one of "
                               "them, because the form is not known in other coordinates"));
  return cb_errors_end(&errors);
}

/* --- the run --- */

/* Fails unless drives, torques and the forces of the potential are finite at the start. */
static cb_status check_start(const cb_shape_problem *p, const cb_node *shape, const cb_shape_state *s,
                             const double *rate) {
  const cb_bundle *b = p->bundle;
  double F[CB_GROUP_DIM], f[CB_SHAPE_MAX];
  cb_shape_force force;
  for (int i = 0; i < b->n; i++)
    if (!isfinite(s->r[i]) || !isfinite(rate[i]))
      return cb_node_fail(cb_node_get(shape, b->shape[i]), "%s: the drive at the start, t = %g, is not finite",
                          b->shape[i], s->t);
  cb_shape_force_at(p, s->t, s->r, rate, false, &force);
  for (int i = 0; i < b->n; i++)
    if (!isfinite(force.torque[i]))
      return cb_node_fail(cb_node_get(cb_node_get(shape, b->shape[i]), "torque"),
                          "torque: expected a finite number at the start, t = %g, found %g", s->t, force.torque[i]);
  bool finite = isfinite(cb_shape_potential(p, s->g, s->r, F, f));
  for (int a = 0; a < b->group->dim; a++) finite &= isfinite(F[a]);
  for (int i = 0; i < b->n; i++) finite &= isfinite(f[i]);
  return finite ? CB_OK
                : cb_node_fail(cb_node_get(shape, "potential"),
                               "potential: expected a finite number, with finite derivatives, at the start");
}

static cb_status fail_at(const cb_node *map, const char *key, const char *text, const cb_bundle *b) {
  const cb_node *at = cb_node_get(map, key);
  return cb_node_fail(at ? at : map, text, b->class_->name);
}

/* Fails for keys of `shape` that are not allowed with drag, with inertia, or with an integrator of order 4. */
static cb_status check(const cb_bundle_scenario *m, const cb_node *shape, bool drag, bool order_4) {
  const cb_bundle *b = m->bundle;
  const cb_node *momentum = cb_node_get(shape, "momentum"), *potential = cb_node_get(shape, "potential");
  if (momentum && drag)
    return cb_node_fail(momentum, "`momentum` with drag: expected none, because there is no inertia");
  if (momentum && !b->class_->form)
    return fail_at(shape, "momentum", "bundle %s has no form of inertia, so its momentum is 0: leave `momentum` out",
                   b);
  bool of_place = false;
  for (int k = 0; potential && k < b->group->size; k++) of_place |= cb_expression_uses(m->moving->potential, (size_t)k);
  if (of_place && !b->class_->form)
    return fail_at(shape, "potential",
                   "bundle %s has no form, so no force can act on its place: expected a potential "
                   "of the shape variables only",
                   b);
  for (int i = 0; i < b->n; i++) {
    const cb_node *own = cb_node_get(shape, b->shape[i]);
    for (int k = 0; drag && own && own->kind == CB_NODE_MAP && of_inertia[k]; k++) {
      const cb_node *at = cb_node_get(own, of_inertia[k]);
      if (at)
        return cb_node_fail(at, "`%s` is for shapes with inertia: bundle %s moves against drag", of_inertia[k],
                            b->class_->name);
    }
    if (order_4 && m->moving->variable[i].friction > 0)
      return cb_node_fail(cb_node_get(own, "friction"),
                          "dry friction with `order: 4`, whose steps also run backwards: expected `order: 2`");
  }
  return CB_OK;
}

cb_status cb_scenario_shape_problem(cb_scenario *s, double t, cb_shape_problem *problem, cb_shape_state *start) {
  const cb_bundle_scenario *m = s->own;
  cb_shape_scenario *own = m->moving;
  const cb_bundle *b = m->bundle;
  const cb_node *root = cb_tree_root(s->tree), *shape = cb_node_get(root, "shape");
  const bool drag = s->integrator->class_->solves == &cb_problem_shapes_with_drag;
  int count;
  *problem = (cb_shape_problem){.bundle = b,
                                .drag = drag,
                                .has_form = b->class_->form != NULL,
                                .gait = m->gait,
                                .period = m->period,
                                .variable = own->variable,
                                .potential = own->potential};
  *start = (cb_shape_state){.t = t};
  int followers = 0;
  for (int i = 0; i < b->n; i++) followers += own->variable[i].driven && !own->variable[i].drive;
  if (m->gait && !followers)
    return cb_node_fail(cb_node_get(root, "gait"),
                        "no shape variable follows the gait: expected one without an entry in `shape`, or no `gait`");
  if (m->flow_node)
    return cb_node_fail(cb_node_get(root, "flow"),
                        "`flow` next to `shape`: expected only one of them, because the forces of a flow on the shape "
                        "variables are not computed");
  cb_integrator_substeps(s->integrator, &count);
  cb_status status = check(m, shape, drag, count > 1);
  if (status) return status;
  memcpy(start->g, m->start, sizeof start->g);
  memcpy(start->r, own->start, sizeof own->start);
  cb_group_adjoint_dual(b->group, start->g, own->momentum, start->mu);
  cb_shape_drive(problem, t, false, start->r, own->rate);
  status = check_start(problem, shape, start, own->rate);
  return status || drag ? status : cb_shape_start(problem, own->rate, start);
}

/* Fails if two values, at time t and one period later, differ. whole: the period of an angle, 0: none. */
static cb_status check_repeats(const cb_node *node, double t, double period, double value, double later, double whole) {
  const double change = whole > 0 ? remainder(later - value, whole) : later - value;
  if (fabs(change) <= 1e-9 * (1 + fabs(value))) return CB_OK;
  return cb_node_fail(node,
                      "expected the period %.9g of the cycle, found the value %.9g at t = %.6g, and %.9g a period "
                      "later",
                      period, value, t, later);
}

cb_status cb_scenario_check_cycle(const cb_scenario *s, double t, double period) {
  enum { TIMES = 17 };
  const cb_bundle_scenario *m = s->own;
  const cb_shape_scenario *own = m->moving;
  const cb_bundle *b = m->bundle;
  const cb_node *shape = cb_node_get(cb_tree_root(s->tree), "shape");
  for (int k = 0; own->potential && k < b->group->size; k++)
    if (cb_expression_uses(own->potential, (size_t)k))
      return cb_node_fail(
          cb_node_get(shape, "potential"),
          "a cycle with a potential that depends on the place: expected a potential of the shape variables only, "
          "because the place does not return");
  for (int i = 0; i < b->n; i++) {
    const cb_shape_variable *v = &own->variable[i];
    const cb_node *map = cb_node_get(shape, b->shape[i]);
    if (v->friction > 0)
      return cb_node_fail(cb_node_get(map, "friction"),
                          "a cycle with dry friction: expected none, because the map of the cycle is not smooth");
    if (v->torque && cb_expression_uses_control(v->torque))
      return cb_node_fail(cb_node_get(map, "torque"),
                          "a cycle with a control: expected a torque without controls, because they need not repeat");
    for (int k = 0; k < TIMES; k++) {
      double x[2][NAMES] = {{t + k * period / TIMES}, {t + k * period / TIMES + period}};
      cb_status status = CB_OK;
      for (int q = 0; q < b->n; q++) x[0][1 + q] = x[1][1 + q] = own->start[q];
      if (v->drive)
        status = check_repeats(cb_node_get(map, "drive"), x[0][0], period, cb_expression_value(v->drive, x[0]),
                               cb_expression_value(v->drive, x[1]), b->period[i]);
      if (!status && v->torque)
        status = check_repeats(cb_node_get(map, "torque"), x[0][0], period, cb_expression_value(v->torque, x[0]),
                               cb_expression_value(v->torque, x[1]), 0);
      if (status) return status;
    }
  }
  return CB_OK;
}

cb_status cb_scenario_make_shape_run(cb_scenario *s, const cb_run_options *options, cb_run **out) {
  const cb_bundle_scenario *m = s->own;
  const cb_node *root = cb_tree_root(s->tree), *time = cb_node_get(root, "time");
  cb_shape_problem problem;
  cb_shape_state start;
  if (!m->gait && !(m->moving->period > 0) && !cb_node_get(time, "end"))
    return cb_node_fail(time ? time : root,
                        "the key `end` of `time` is missing: a shape without `gait` and without `period` has no cycle");
  const cb_status status = cb_scenario_shape_problem(s, options->start, &problem, &start);
  return status ? status : cb_run_create_shape(&problem, &start, s->integrator, options, out);
}

void cb_shape_scenario_free(cb_shape_scenario *own) {
  for (int k = 0; own && k < own->expressions; k++) cb_expression_free(own->expression[k]);
}
