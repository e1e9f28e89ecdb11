/* The key `controls`: numbers that expressions use, and that change between steps.
 *
 *   controls:
 *     tail: 0.2                                                  its value at the start; others may change it
 *     turn: {start: 0, law: "-0.8*atan2(head.axis_x_y, head.axis_x_x)", every: 4}
 *
 *   c(t) = u(t_n, x_n, c(t_n)),  t_n < t <= t_{n + every},  n = 0, every, 2 every ..
 * n is the number of a step, t_n and x_n are time and state at its start, and u is the law of the control c: a sampled
 * law with zero-order hold. Source: Åström & Wittenmark, Computer-Controlled Systems, 3rd ed. (1997), section 2.3.
 * The laws of one step are computed in the order of the scenario, so that a law uses new values of the controls above
 * it, and held values of its own and of those below it.
 */
#include "scenario/private.h"
#include "numerics/expression_private.h"
#include "run/run_shared.h"
#include "tree/scalar.h"

#include <curvebody/expression.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct keys {
  double start;
  const char *law;
  int every;
} keys;

const cb_param cb_control_table[] = {
    {"start", CB_PARAM_REAL, offsetof(keys, start), "0", "", "", NULL, "value before the first sample"},
    {"law", CB_PARAM_STRING, offsetof(keys, law), "", "", "", NULL,
     "expression of t, of other controls and of the state at the start of a step; if absent, the value is changed from "
     "outside"},
    {"every", CB_PARAM_INT, offsetof(keys, every), "1", "", ">= 1", NULL,
     "number of steps from one evaluation of the law to the next, between which the value is held"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct law {
  const cb_node *key, *value; /* the key and the value of the control in the scenario */
  const cb_node *node;        /* the text of the law; NULL: the control has no law */
  cb_expression *u;           /* the law as an expression of t and of the quantities */
  cb_quantity *quantity;      /* [n] */
  int n, every;
} law;

struct cb_scenario_controls {
  cb_run_controls run;
  law *law;   /* [run.n] */
  bool *used; /* [run.n]: an expression of the scenario uses the control, apart from its own law */
  cb_expression_elsewhere before;
};

static const char where[] =
    "a control can be used only in `motor` and `servo` of joints, in `wrenches`, in `torque` of shape variables, in "
    "expressions of `potentials`, `interactions` and `forces`, in `stiffness`, `rest` and `damping` of springs of "
    "particles, in `potential` and `forces` of a system, and in laws of controls";

void cb_scenario_add_controls(const cb_scenario *s, cb_expression_scope *scope) {
  if (!s->controls) return;
  scope->controls = s->controls->run.name;
  scope->control_values = s->controls->run.value;
  scope->n_controls = s->controls->run.n;
}

cb_status cb_scenario_make_builder(cb_scenario *s, const cb_space *space) {
  cb_expression_scope all = {.n = 0};
  const cb_status status = cb_builder_create(space, &s->builder);
  cb_scenario_add_controls(s, &all);
  if (!status) cb_builder_controls(s->builder, all.n_controls, all.controls, all.control_values);
  return status;
}

const cb_run_controls *cb_scenario_run_controls(const cb_scenario *s) {
  return s->controls && s->controls->run.n ? &s->controls->run : NULL;
}

size_t cb_scenario_controls(cb_scenario *s, const char *const **name, double **value) {
  *name = s->controls ? s->controls->run.name : NULL;
  *value = s->controls ? s->controls->run.value : NULL;
  return s->controls ? s->controls->run.n : 0;
}

/* --- names and values --- */

static cb_status read_name(cb_scenario *s, const cb_node *key, const char **out) {
  cb_expression_scope before = {.n = 0};
  cb_scenario_add_controls(s, &before);
  if (cb_expression_check_parameter(key->text, &before, "")) return cb_node_fail(key, "%s", cb_error_text());
  if (!strcmp(key->text, "t"))
    return cb_node_fail(key, "a control has the name t, which is the time: expected another name");
  *out = key->text;
  return CB_OK;
}

static cb_status read_value(const cb_node *node, double *value, law *out) {
  keys p = {.every = 1};
  if (node->kind != CB_NODE_MAP) return cb_node_real(node, value);
  const cb_node *text = cb_node_get(node, "law"), *every = cb_node_get(node, "every");
  const cb_status status = cb_params_bind(cb_control_table, node, node, NULL, 0, &p);
  if (status) return status;
  if (every && !text) return cb_node_fail(every, "`every` applies only to `law`: expected a law");
  *value = p.start;
  out->node = text;
  out->every = p.every;
  return CB_OK;
}

cb_status cb_scenario_read_controls(cb_scenario *s, const cb_node *map) {
  if (!map) return CB_OK;
  if (map->kind != CB_NODE_MAP || !map->count)
    return cb_node_fail(map, "expected a map of names and numbers, such as {turn: 0}, or of names and maps with `law`");
  struct cb_scenario_controls *c = s->controls = cb_arena_alloc(s->arena, 1, sizeof *c);
  const char **name = cb_arena_alloc(s->arena, map->count, sizeof *name);
  double *value = cb_arena_alloc(s->arena, map->count, sizeof *value);
  law *laws = cb_arena_alloc(s->arena, map->count, sizeof *laws);
  bool *used = cb_arena_alloc(s->arena, map->count, sizeof *used);
  if (!c || !name || !value || !laws || !used)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu controls", map->count);
  *c = (struct cb_scenario_controls){.run = {.name = name, .value = value}, .law = laws, .used = used};
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < map->count; i++) {
    laws[c->run.n].key = map->keys[i];
    laws[c->run.n].value = map->items[i];
    if (!cb_errors_add(&errors, map->keys[i], read_name(s, map->keys[i], &name[c->run.n]))) c->run.n++;
  }
  c->before = cb_expression_explain((cb_expression_elsewhere){name, c->run.n, where, used});
  for (size_t i = 0; i < c->run.n; i++)
    cb_errors_add(&errors, laws[i].value, read_value(laws[i].value, &value[i], &laws[i]));
  return cb_errors_end(&errors);
}

/* Warns of controls that no expression uses. A control with a law that is recorded observes the motion, and gives no
 * warning. */
static void warn_of_unused(const cb_scenario *s) {
  const struct cb_scenario_controls *c = s->controls;
  for (size_t i = 0; i < c->run.n; i++) {
    const bool recorded = cb_run_asked(s->run, "controls"), observes = c->law[i].node && recorded;
    const cb_node *at = c->law[i].key;
    char place[32] = "";
    if (c->used[i] || observes) continue;
    if (at->line) snprintf(place, sizeof place, ":%d:%d", at->line, at->column);
    cb_warn("%.512s%s: controls: %s: is not used by any expression, so %s", at->file, place, c->run.name[i],
            c->law[i].node ? "its law has no effect; with the observable `controls` it would be recorded"
                           : "its value has no effect on the motion");
  }
}

void cb_scenario_controls_read(const cb_scenario *s) {
  if (!s->controls) return;
  cb_expression_explain(s->controls->before);
  if (s->run) warn_of_unused(s);
}

/* --- laws --- */

static bool is_among(const char *const *names, size_t n, const char *text, size_t length) {
  for (size_t i = 0; i < n; i++)
    if (strlen(names[i]) == length && !strncmp(names[i], text, length)) return true;
  return false;
}

/* Finds the quantities that the text of a law uses. names[*n], which begins with t, gets their names. Fails at a name
 * with a dot that is not a quantity, and sets *at to its offset. */
static cb_status find_quantities(cb_scenario *s, const char *text, const char **names, size_t *n, size_t *at,
                                 law *out) {
  const cb_motion *motion = cb_run_motion(s->run);
  cb_quantity found;
  const char *next = text, *begin;
  for (size_t length; (length = cb_expression_next_name(&next, &begin));) {
    const bool known = motion->find_quantity && motion->find_quantity(s->run, begin, length, &found);
    *at = (size_t)(begin - text);
    if (!known && memchr(begin, '.', length))
      return cb_fail(CB_ERROR_INPUT, "unknown name `%.*s`", (int)(length < 60 ? length : 60), begin);
    if (!known || is_among(names, *n, begin, length)) continue;
    if (*n == CB_EXPRESSION_VARIABLES)
      return cb_fail(CB_ERROR_INPUT, "expected at most %d quantities of the state in one law", CB_EXPRESSION_VARIABLES);
    if (!(names[*n] = cb_arena_strndup(s->arena, begin, length)))
      return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
    out->quantity[out->n++] = found;
    ++*n;
  }
  return CB_OK;
}

static cb_status read_law(cb_scenario *s, law *out) {
  const char *names[CB_EXPRESSION_VARIABLES] = {"t"}, *text, *known = cb_run_motion(s->run)->quantities;
  cb_expression_scope scope = {.names = names,
                               .n = 1,
                               .parameters = s->parameters.name,
                               .values = s->parameters.value,
                               .n_parameters = s->parameters.n};
  size_t at = 0;
  cb_status status = cb_node_string(out->node, &text);
  out->quantity = cb_arena_alloc(s->arena, CB_EXPRESSION_VARIABLES, sizeof *out->quantity);
  if (status || !out->quantity) return status ? status : cb_fail(CB_ERROR_MEMORY, "no memory for a law");
  cb_scenario_add_controls(s, &scope);
  status = find_quantities(s, text, names, &scope.n, &at, out);
  if (!status) status = cb_expression_parse_in(text, &scope, &at, &out->u);
  if (status != CB_ERROR_INPUT) return status;
  const char *error = cb_error_text();
  const bool unknown = known && !strncmp(error, "unknown name", 12);
  char copy[600];
  snprintf(copy, sizeof copy, "%s%s%s%s", error, unknown ? " (a law may use parameters, controls, " : "",
           unknown ? known : "", unknown ? ")" : "");
  return cb_node_fail_at(out->node, at, "%s", copy);
}

/* Computes the controls whose laws are due at the present step. */
static cb_status sample(void *self, cb_run *run) {
  struct cb_scenario_controls *c = self;
  const cb_motion *motion = cb_run_motion(run);
  const int64_t step = cb_run_steps(run);
  bool measured = false;
  for (size_t i = 0; i < c->run.n; i++) {
    const law *l = &c->law[i];
    double x[CB_EXPRESSION_VARIABLES] = {cb_run_time(run)};
    const char *what = "";
    if (!l->u || step % l->every) continue;
    if (l->n && !measured && motion->measure) {
      const cb_status status = motion->measure(run, &what);
      if (status)
        return cb_fail(status == CB_ERROR_MEMORY ? status : CB_ERROR_STEP,
                       "at time %.17g, step %lld: control `%s`: /%s: %s", x[0], (long long)step, c->run.name[i], what,
                       cb_error_text());
      measured = true;
    }
    for (int k = 0; k < l->n; k++) x[1 + k] = motion->quantity(run, &l->quantity[k]);
    c->run.value[i] = cb_expression_value(l->u, x);
  }
  return CB_OK;
}

cb_status cb_scenario_read_laws(cb_scenario *s) {
  struct cb_scenario_controls *c = s->controls;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; c && i < c->run.n; i++) {
    if (!c->law[i].node) continue;
    const bool used = c->used[i];
    cb_errors_add(&errors, c->law[i].node, read_law(s, &c->law[i]));
    c->used[i] = used; /* apart from its own law */
    c->run.sample = sample;
    c->run.self = c;
  }
  return cb_errors_end(&errors);
}

void cb_scenario_free_controls(const cb_scenario *s) {
  for (size_t i = 0; s->controls && i < s->controls->run.n; i++) cb_expression_free(s->controls->law[i].u);
}
