/* Reads a sweep from YAML, computes the values of its members, and finds the first difference of two sweeps
 * (sweep/plan.h). */
#include "sweep/plan.h"
#include "core/failure.h"
#include "scenario/private.h"
#include "tree/scalar.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <stdio.h>

static const char *const design_names[] = {"grid", "together", "latin_hypercube", "sobol", "halton"};
enum { GRID, TOGETHER, SAMPLED, DESIGNS = 5 };

typedef struct design {
  int kind; /* an index of design_names */
  size_t count;
  uint64_t seed;
} design;

static cb_status read_design(const cb_node *node, design *out) {
  static const char *const keys[] = {"name", "count", "seed"};
  const char *name = "grid";
  *out = (design){GRID, 0, 1};
  if (!node) return CB_OK;
  const bool map = node->kind == CB_NODE_MAP;
  const cb_node *named = map ? cb_node_get(node, "name") : node, *count = map ? cb_node_get(node, "count") : NULL,
                *seed = map ? cb_node_get(node, "seed") : NULL;
  if (!named) return cb_node_fail(node, "the key `name` is missing: expected a design");
  cb_errors errors = cb_errors_begin();
  if (map) cb_errors_add(&errors, node, cb_node_check_keys(node, keys, 3));
  if (!cb_errors_add(&errors, named, cb_node_string(named, &name))) {
    while (out->kind < DESIGNS && strcmp(name, design_names[out->kind])) out->kind++;
    if (out->kind == DESIGNS)
      cb_errors_add(&errors, named, cb_fail_unknown(named, "design", name, design_names, DESIGNS));
  }
  long long number = 0, of = 1;
  if (!errors.status && out->kind < SAMPLED && (count || seed))
    cb_errors_add(
        &errors, node,
        cb_node_fail(count ? count : seed, "`%s` takes no %s: set it for each axis", name, count ? "count" : "seed"));
  else if (!errors.status && out->kind >= SAMPLED && !count)
    cb_errors_add(&errors, node, cb_node_fail(node, "the key `count` is missing: `{name: %s, count: ...}`", name));
  if (count && !cb_errors_add(&errors, count, cb_scalar_int(count, "count", NULL, &number)) &&
      (number < 1 || number > CB_SWEEP_MEMBERS))
    cb_errors_add(&errors, count, cb_node_fail(count, "count: expected 1 to %d, found %lld", CB_SWEEP_MEMBERS, number));
  if (seed && !cb_errors_add(&errors, seed, cb_scalar_int(seed, "seed", NULL, &of)) && of < 0)
    cb_errors_add(&errors, seed, cb_node_fail(seed, "seed: expected at least 0, found %lld", of));
  out->count = (size_t)number;
  out->seed = (uint64_t)of;
  return cb_errors_end(&errors);
}

/* --- the scenario --- */

static cb_status read_scenario(cb_sweep_plan *plan, const cb_node *sweep) {
  const cb_node *node = cb_node_get(sweep, "scenario");
  if (!node) return cb_node_fail(sweep, "the key `scenario` is missing: expected a file, or a scenario");
  plan->scenario = node;
  if (node->kind == CB_NODE_MAP) return CB_OK;
  const char *name;
  cb_status status = cb_node_string(node, &name);
  char *path = status ? NULL : cb_node_path(node);
  if (!status && !path) status = cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  if (!status && !(plan->scenario_file = cb_arena_strdup(plan->arena, path)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  if (!status) {
    status = cb_yaml_read_file(path, &plan->scenario_tree);
    if (status == CB_ERROR_FILE) status = cb_fail_again(node, status);
  }
  if (!status) plan->scenario = cb_tree_root(plan->scenario_tree);
  free(path);
  return status;
}

static cb_status read_set(cb_sweep_plan *plan, const cb_node *node) {
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a map of keys and values, with keys as in --set");
  if (node->count > CB_SWEEP_KEYS)
    return cb_node_fail(node, "expected at most %d keys, found %zu", CB_SWEEP_KEYS, node->count);
  for (size_t i = 0; i < node->count; i++) plan->set[i] = (cb_member_value){node->keys[i], node->items[i]};
  plan->sets = node->count;
  return CB_OK;
}

/* --- axes --- */

/* Distributes the numbers of a design among the axes, in their order. */
static cb_status place_design(cb_sweep_plan *plan, const design *d, const cb_axis_draft *draft, const cb_node *at) {
  const cb_design kind = (cb_design)(CB_DESIGN_LATIN_HYPERCUBE + (d->kind - SAMPLED));
  size_t draws = 0;
  for (size_t a = 0; a < plan->axes; a++) draws += cb_axis_draws(&draft[a]);
  double *point = calloc(d->count * draws + 1, sizeof *point);
  cb_status status = point ? cb_design_points(kind, d->count, draws, d->seed, 0, point)
                           : cb_fail(CB_ERROR_MEMORY, "no memory for a design of %zu points", d->count);
  if (status == CB_ERROR_ARGUMENT) status = cb_node_fail(at, "%s", cb_error_text());
  size_t first = 0;
  for (size_t a = 0; a < plan->axes && !status; a++) {
    status = cb_axis_place(plan, &plan->axis[a], &draft[a], d->count, point, draws, first);
    first += cb_axis_draws(&draft[a]);
  }
  free(point);
  return status;
}

static cb_status check_names(const cb_sweep_plan *plan, const cb_axis_draft *draft) {
  cb_errors errors = cb_errors_begin();
  for (size_t a = 0; a < plan->axes; a++)
    for (size_t k = 0; k < plan->axis[a].keys; k++)
      for (size_t b = 0; b <= a; b++)
        for (size_t l = 0; l < (b < a ? plan->axis[b].keys : k); l++)
          if (!strcmp(plan->axis[a].key[k].key->text, plan->axis[b].key[l].key->text))
            cb_errors_add(&errors, draft[a].node,
                          cb_node_fail(plan->axis[a].key[k].key, "`%s` is varied twice: expected each key once",
                                       plan->axis[a].key[k].key->text));
  for (size_t a = 0; a < plan->axes; a++)
    for (size_t b = 0; b < a; b++)
      if (!strcmp(plan->axis[a].name, plan->axis[b].name))
        cb_errors_add(
            &errors, draft[a].node,
            cb_node_fail(draft[a].node, "two axes have the name `%s`: expected different names", plan->axis[a].name));
  return cb_errors_end(&errors);
}

static cb_status count_members(cb_sweep_plan *plan, const design *d, const cb_axis_draft *draft, const cb_node *over) {
  if (d->kind >= SAMPLED) {
    plan->members = (int64_t)d->count;
    return CB_OK;
  }
  double product = 1;
  plan->members = 1;
  for (size_t a = 0; a < plan->axes; a++) {
    const size_t count = plan->axis[a].count;
    if (!plan->grid && count != plan->axis[0].count)
      return cb_node_fail(draft[a].node,
                          "axes that are varied together need the same number of values: expected %zu, found %zu",
                          plan->axis[0].count, count);
    product *= plan->grid ? (double)count : 1;
    if (product <= CB_SWEEP_MEMBERS) plan->members = plan->grid ? plan->members * (int64_t)count : (int64_t)count;
  }
  if (product > CB_SWEEP_MEMBERS)
    return cb_node_fail(over, "the sweep has %.6g members: expected at most %d", product, CB_SWEEP_MEMBERS);
  return CB_OK;
}

/* Reads the axes of a design. `whole`: the design was read without errors. */
static cb_status read_over(cb_sweep_plan *plan, const cb_node *sweep, const cb_node *design_node, const design *d,
                           bool whole) {
  const cb_node *over = cb_node_get(sweep, "over");
  if (!over) return cb_node_fail(sweep, "the key `over` is missing: expected a list of axes");
  if (over->kind != CB_NODE_LIST || !over->count || over->count > CB_SWEEP_AXES)
    return cb_node_fail(over, "expected a list of 1 to %d axes", CB_SWEEP_AXES);
  plan->axes = over->count;
  plan->grid = d->kind == GRID;
  cb_axis_draft *draft = calloc(plan->axes, sizeof *draft);
  if (!draft) return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  const cb_axis_counted counted = !whole ? CB_AXIS_UNKNOWN : d->kind < SAMPLED ? CB_AXIS_COUNTED : CB_AXIS_BY_DESIGN;
  cb_errors errors = cb_errors_begin();
  for (size_t a = 0; a < plan->axes; a++)
    cb_errors_add(&errors, over, cb_axis_read(plan, over->items[a], counted, &plan->axis[a], &draft[a]));
  if (!errors.status) cb_errors_add(&errors, over, check_names(plan, draft));
  if (!errors.status && whole) cb_errors_add(&errors, over, count_members(plan, d, draft, over));
  cb_status status = cb_errors_end(&errors);
  if (!status && whole && d->kind >= SAMPLED) status = place_design(plan, d, draft, design_node);
  for (size_t a = 0; a < plan->axes && !status && whole && d->kind < SAMPLED; a++)
    status = cb_axis_fill(plan, &plan->axis[a], &draft[a], a);
  free(draft);
  return status;
}

static cb_status read_axes(cb_sweep_plan *plan, const cb_node *sweep) {
  const cb_node *node = cb_node_get(sweep, "design");
  design d;
  cb_errors errors = cb_errors_begin();
  const bool whole = !cb_errors_add(&errors, sweep, read_design(node, &d));
  cb_errors_add(&errors, sweep, read_over(plan, sweep, node, &d, whole));
  return cb_errors_end(&errors);
}

/* --- the results that are kept --- */

static cb_status read_kept(cb_sweep_plan *plan, const cb_node *sweep) {
  static const char *const choices[] = {"rows", "last"};
  const cb_node *keep = cb_node_get(sweep, "keep"), *collect = cb_node_get(sweep, "collect");
  const char *text = NULL;
  cb_errors errors = cb_errors_begin();
  if (keep && !cb_errors_add(&errors, keep, cb_node_string(keep, &text))) {
    plan->keep = !strcmp(text, "rows") ? CB_KEEP_ROWS : !strcmp(text, "last") ? CB_KEEP_LAST : CB_KEEP_NOTHING;
    if (!plan->keep) cb_errors_add(&errors, keep, cb_fail_unknown(keep, "keep", text, choices, 2));
  }
  if (!keep && !collect)
    cb_errors_add(&errors, sweep,
                  cb_node_fail(sweep, "expected `keep` or `collect`: the results that are stored for each member"));
  if (collect && (collect->kind != CB_NODE_MAP || !collect->count || collect->count > CB_SWEEP_COLLECTS))
    cb_errors_add(&errors, collect,
                  cb_node_fail(collect, "expected a map of 1 to %d names and reductions, such as {top: max(energy)}",
                               CB_SWEEP_COLLECTS));
  else if (collect)
    for (size_t i = 0; i < collect->count; i++)
      plan->collect[plan->collects++] = (cb_sweep_collect){collect->keys[i]->text, collect->keys[i], collect->items[i]};
  return cb_errors_end(&errors);
}

/* --- the complete sweep --- */

static cb_status read_task(cb_sweep_plan *plan, const cb_node *node) {
  plan->task = &cb_sweep_task_run;
  if (!node) return CB_OK;
  const char *text;
  const cb_status status = cb_node_string(node, &text);
  if (status) return status;
  const cb_sweep_task_class *task =
      cb_sweep_task_classes[cb_registry_find(&cb_sweep_task_registry, text, strlen(text))];
  if (!task) return cb_fail_no_class(node, "task", text, &cb_sweep_task_registry);
  plan->task = task;
  return CB_OK;
}

static cb_status read_sweep(cb_sweep_plan *plan) {
  static const char *const top[] = {"curvebody", "title", "sweep"}, *const keys[] = {"scenario", "set",    "task",
                                                                                     "over",     "design", "keep",
                                                                                     "collect"};
  const cb_node *root = cb_tree_root(plan->tree), *sweep = cb_node_get(root, "sweep");
  if (root->kind != CB_NODE_MAP || !sweep)
    return cb_node_fail(root, "the key `sweep` is missing: expected a map with `scenario`, `over` and `collect`");
  if (sweep->kind != CB_NODE_MAP) return cb_node_fail(sweep, "expected a map with `scenario`, `over` and `collect`");
  const cb_node *title = cb_node_get(root, "title"), *version = cb_node_get(root, "curvebody");
  long long number = 0;
  plan->title = "";
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, top, 3));
  if (!version)
    cb_errors_add(&errors, root, cb_node_fail(root, "the key `curvebody` is missing: expected `curvebody: 1`"));
  else if (!cb_errors_add(&errors, version, cb_node_int(version, &number)) && number != 1)
    cb_errors_add(&errors, version,
                  cb_node_fail(version, "curvebody: unknown format %lld of sweeps, expected 1", number));
  if (title) cb_errors_add(&errors, title, cb_node_string(title, &plan->title));
  cb_errors_add(&errors, sweep, cb_node_check_keys(sweep, keys, sizeof keys / sizeof *keys));
  cb_errors_add(&errors, sweep, read_task(plan, cb_node_get(sweep, "task")));
  cb_errors_add(&errors, sweep, read_axes(plan, sweep));
  cb_errors_add(&errors, sweep, read_kept(plan, sweep));
  cb_errors_add(&errors, sweep, read_set(plan, cb_node_get(sweep, "set")));
  cb_errors_add(&errors, sweep, read_scenario(plan, sweep));
  return cb_errors_end(&errors);
}

/* Makes plan->resolved: the sweep with the scenario itself in place of the name of its file. */
static cb_status resolve(cb_sweep_plan *plan) {
  static const char text[] = "sweep.scenario";
  const cb_node key = {.kind = CB_NODE_SCALAR, .file = plan->path, .line = 1, .column = 1, .text = text};
  cb_tree *whole = NULL;
  cb_text out = {0};
  cb_status status = cb_tree_over(plan->tree, cb_tree_root(plan->tree), &whole);
  if (!status) status = cb_tree_put(whole, &key, plan->scenario);
  if (!status) status = cb_node_emit(cb_tree_root(whole), &out);
  if (!status && !(plan->resolved = cb_arena_strndup(plan->arena, out.data, out.length)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for the text of a sweep");
  cb_text_free(&out);
  cb_tree_free(whole);
  return status;
}

static cb_status open_plan(const char *path, const char *text, const char *const *sets, size_t n, cb_sweep_plan **out) {
  cb_arena *arena = cb_arena_create();
  cb_sweep_plan *plan = arena ? cb_arena_alloc(arena, 1, sizeof *plan) : NULL;
  if (!plan) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  }
  plan->arena = arena;
  cb_status status = (plan->path = cb_arena_strdup(arena, path)) ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory");
  if (!status)
    status = text ? cb_yaml_read_text(path, text, strlen(text), &plan->tree) : cb_yaml_read_file(path, &plan->tree);
  for (size_t i = 0; i < n && !status; i++) status = cb_tree_set(plan->tree, sets[i]);
  if (!status) status = read_sweep(plan);
  if (!status) status = resolve(plan);
  if (status) {
    cb_sweep_plan_free(plan);
    return status;
  }
  *out = plan;
  return CB_OK;
}

cb_status cb_sweep_plan_open(const char *path, const char *const *sets, size_t n, cb_sweep_plan **out) {
  return open_plan(path, NULL, sets, n, out);
}

cb_status cb_sweep_plan_open_text(const char *name, const char *text, cb_sweep_plan **out) {
  return open_plan(name, text, NULL, 0, out);
}

void cb_sweep_plan_free(cb_sweep_plan *plan) {
  if (!plan) return;
  cb_tree_free(plan->scenario_tree);
  cb_tree_free(plan->tree);
  cb_arena_free(plan->arena);
}

/* --- the values and the description of one member --- */

size_t cb_sweep_index(const cb_sweep_plan *plan, int64_t m, size_t a) {
  if (!plan->grid) return (size_t)m;
  size_t rest = (size_t)m;
  for (size_t b = plan->axes; b-- > a + 1;) rest /= plan->axis[b].count;
  return rest % plan->axis[a].count;
}

const cb_node *cb_sweep_number(cb_arena *arena, const cb_node *at, double value) {
  char text[32];
  cb_export_number(text, value);
  cb_node *node = cb_arena_alloc(arena, 1, sizeof *node);
  if (!node || !(node->text = cb_arena_strdup(arena, text))) return NULL;
  node->kind = CB_NODE_SCALAR;
  node->file = at->file;
  node->line = at->line;
  node->column = at->column;
  return node;
}

/* Makes the node of a computed value: a number, or a list of numbers. */
static const cb_node *computed(cb_arena *arena, const cb_sweep_key *key, const double *number) {
  if (!key->shape) return cb_sweep_number(arena, key->at, *number);
  cb_node *list = cb_arena_alloc(arena, 1, sizeof *list);
  const cb_node **items = cb_arena_alloc(arena, key->components, sizeof *items);
  if (!list || !items) return NULL;
  for (size_t c = 0; c < key->components; c++)
    if (!(items[c] = cb_sweep_number(arena, key->shape->items[c], number[c]))) return NULL;
  *list = (cb_node){.kind = CB_NODE_LIST,
                    .file = key->at->file,
                    .line = key->at->line,
                    .column = key->at->column,
                    .count = key->components,
                    .items = items};
  return list;
}

static const cb_node *value_of(cb_arena *arena, const cb_sweep_key *key, size_t i) {
  return key->value ? key->value[i] : computed(arena, key, key->number + i * key->components);
}

cb_status cb_sweep_values(const cb_sweep_plan *plan, int64_t m, cb_arena *arena, cb_member_value *values, size_t *n) {
  size_t count = 0;
  for (size_t i = 0; i < plan->sets; i++) values[count++] = plan->set[i];
  for (size_t a = 0; a < plan->axes && !plan->task->all; a++)
    for (size_t k = 0; k < plan->axis[a].keys; k++) {
      const cb_sweep_key *key = &plan->axis[a].key[k];
      if (count == CB_SWEEP_VALUES)
        return cb_fail(CB_ERROR_INPUT, "too many keys are varied: expected at most %d", CB_SWEEP_VALUES);
      values[count] = (cb_member_value){key->key, value_of(arena, key, cb_sweep_index(plan, m, a))};
      if (!values[count++].value) return cb_fail(CB_ERROR_MEMORY, "no memory for the values of a member");
    }
  *n = count;
  return CB_OK;
}

static void put_value(cb_text *text, const cb_node *value) {
  enum { SHOWN = 40 };
  if (value->kind == CB_NODE_SCALAR) {
    cb_text_put(text, value->text, strnlen(value->text, SHOWN));
  } else if (value->kind == CB_NODE_LIST) {
    cb_text_puts(text, "[");
    for (size_t i = 0; i < value->count; i++) {
      if (i) cb_text_puts(text, ", ");
      put_value(text, value->items[i]);
    }
    cb_text_puts(text, "]");
  } else if (value->kind == CB_NODE_MAP) {
    cb_text_puts(text, "{");
    for (size_t i = 0; i < value->count; i++) {
      if (i) cb_text_puts(text, ", ");
      cb_text_puts(text, value->keys[i]->text);
      cb_text_puts(text, ": ");
      put_value(text, value->items[i]);
    }
    cb_text_puts(text, "}");
  } else {
    cb_text_puts(text, "null");
  }
}

char *cb_sweep_value_text(const cb_node *value) {
  cb_text text = {0};
  put_value(&text, value);
  if (text.failed) cb_text_free(&text);
  return text.data;
}

char *cb_sweep_member_text(const cb_sweep_plan *plan, int64_t m) {
  cb_arena *arena = cb_arena_create();
  cb_member_value values[CB_SWEEP_VALUES];
  size_t n = 0;
  cb_text text = {0};
  char number[48];
  snprintf(number, sizeof number, "member %lld", (long long)m);
  cb_text_puts(&text, number);
  if (!arena || cb_sweep_values(plan, m, arena, values, &n)) n = 0;
  for (size_t i = plan->sets; i < n; i++) {
    cb_text_puts(&text, i == plan->sets ? " (" : ", ");
    cb_text_puts(&text, values[i].key->text);
    cb_text_puts(&text, " = ");
    put_value(&text, values[i].value);
  }
  if (n > plan->sets) cb_text_puts(&text, ")");
  cb_arena_free(arena);
  if (text.failed) cb_text_free(&text);
  return text.data;
}

/* --- the first difference of two trees, in the order of the second --- */

enum { PATH = 512 };

static void describe(const cb_node *node, cb_found *out) {
  if (node)
    *out = cb_node_found(node);
  else
    snprintf(out->text, sizeof out->text, "missing");
}

static cb_status differ(const char *path, const cb_node *was, const cb_node *is) {
  cb_found before, after;
  describe(was, &before);
  describe(is, &after);
  return cb_fail(CB_ERROR_INPUT, "%s was %s, now it is %s", *path ? path : "the sweep", before.text, after.text);
}

static cb_status compare(char *path, const cb_node *was, const cb_node *is);

static cb_status below(char *path, const char *key, const cb_node *was, const cb_node *is) {
  const size_t length = strlen(path);
  snprintf(path + length, PATH - length, "%s%s", length ? "." : "", key);
  const cb_status status = compare(path, was, is);
  path[length] = 0;
  return status;
}

static cb_status compare(char *path, const cb_node *was, const cb_node *is) {
  if (!was || !is || was->kind != is->kind) return was == is ? CB_OK : differ(path, was, is);
  if (is->kind == CB_NODE_NULL) return CB_OK;
  if (is->kind == CB_NODE_SCALAR) return strcmp(was->text, is->text) ? differ(path, was, is) : CB_OK;
  cb_status status = CB_OK;
  char number[24];
  if (is->kind == CB_NODE_LIST) {
    const size_t maximum = was->count > is->count ? was->count : is->count;
    for (size_t i = 0; i < maximum && !status; i++) {
      snprintf(number, sizeof number, "%zu", i);
      status = below(path, number, i < was->count ? was->items[i] : NULL, i < is->count ? is->items[i] : NULL);
    }
    return status;
  }
  for (size_t i = 0; i < is->count && !status; i++)
    status = below(path, is->keys[i]->text, cb_node_get(was, is->keys[i]->text), is->items[i]);
  for (size_t i = 0; i < was->count && !status; i++)
    if (!cb_node_get(is, was->keys[i]->text)) status = below(path, was->keys[i]->text, was->items[i], NULL);
  return status;
}

cb_status cb_sweep_changed(const char *was_name, const char *was, const char *is) {
  if (!strcmp(was, is)) return CB_OK;
  cb_tree *before = NULL, *after = NULL;
  char path[PATH] = "";
  cb_status status = cb_yaml_read_text(was_name, was, strlen(was), &before);
  if (!status) status = cb_yaml_read_text("sweep", is, strlen(is), &after);
  if (!status) status = compare(path, cb_tree_root(before), cb_tree_root(after));
  cb_tree_free(before);
  cb_tree_free(after);
  return status;
}
