#include "sweep/plan.h"

#include "core/errors.h"
#include "scenario/kind.h"
#include "sweep/axis.h"
#include "sweep/design.h"
#include "tree/scalar.h"

#include <stdlib.h>
#include <string.h>

static const char *const design_names[] = {"grid", "together", "latin_hypercube", "sobol", "halton"};
enum { GRID, TOGETHER, SAMPLED, DESIGNS = 5 };

typedef struct design {
  int kind; /* of design_names */
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
  if (!named) return cb_node_fail(node, "the key `name` is missing: a design");
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
        cb_node_fail(count ? count : seed, "`%s` has no %s of its own: its axes have", name, count ? "count" : "seed"));
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
  if (!node) return cb_node_fail(sweep, "the key `scenario` is missing: a file, or a scenario");
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
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a map of keys, as --set has them, and values");
  if (node->count > CB_SWEEP_KEYS)
    return cb_node_fail(node, "expected at most %d keys, found %zu", CB_SWEEP_KEYS, node->count);
  for (size_t i = 0; i < node->count; i++) plan->set[i] = (cb_member_value){node->keys[i], node->items[i]};
  plan->sets = node->count;
  return CB_OK;
}

/* --- axes --- */

/* The numbers of a design are shared out to the axes, in their order. */
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
            cb_errors_add(
                &errors, draft[a].node,
                cb_node_fail(plan->axis[a].key[k].key, "`%s` is varied twice", plan->axis[a].key[k].key->text));
  for (size_t a = 0; a < plan->axes; a++)
    for (size_t b = 0; b < a; b++)
      if (!strcmp(plan->axis[a].name, plan->axis[b].name))
        cb_errors_add(&errors, draft[a].node,
                      cb_node_fail(draft[a].node, "two axes of the name `%s`", plan->axis[a].name));
  return cb_errors_end(&errors);
}

static cb_status count_members(cb_sweep_plan *plan, const design *d, const cb_axis_draft *draft, const cb_node *over) {
  if (d->kind >= SAMPLED) return plan->members = (int64_t)d->count, CB_OK;
  double product = 1;
  plan->members = 1;
  for (size_t a = 0; a < plan->axes; a++) {
    const size_t count = plan->axis[a].count;
    if (!plan->grid && count != plan->axis[0].count)
      return cb_node_fail(draft[a].node, "axes that go together have as many values: expected %zu, found %zu",
                          plan->axis[0].count, count);
    product *= plan->grid ? (double)count : 1;
    if (product <= CB_SWEEP_MEMBERS) plan->members = plan->grid ? plan->members * (int64_t)count : (int64_t)count;
  }
  if (product > CB_SWEEP_MEMBERS)
    return cb_node_fail(over, "%.6g members are too many: expected at most %d", product, CB_SWEEP_MEMBERS);
  return CB_OK;
}

/* The axes of a design, which is whole or could not be read. */
static cb_status read_over(cb_sweep_plan *plan, const cb_node *sweep, const cb_node *design_node, const design *d,
                           bool whole) {
  const cb_node *over = cb_node_get(sweep, "over");
  if (!over) return cb_node_fail(sweep, "the key `over` is missing: a list of what is varied");
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

/* --- what is kept --- */

static cb_status read_kept(cb_sweep_plan *plan, const cb_node *sweep) {
  static const char *const words[] = {"rows", "last"};
  const cb_node *keep = cb_node_get(sweep, "keep"), *collect = cb_node_get(sweep, "collect");
  const char *word = NULL;
  cb_errors errors = cb_errors_begin();
  if (keep && !cb_errors_add(&errors, keep, cb_node_string(keep, &word))) {
    plan->keep = !strcmp(word, "rows") ? CB_KEEP_ROWS : !strcmp(word, "last") ? CB_KEEP_LAST : CB_KEEP_NOTHING;
    if (!plan->keep) cb_errors_add(&errors, keep, cb_fail_unknown(keep, "keep", word, words, 2));
  }
  if (!keep && !collect)
    cb_errors_add(&errors, sweep, cb_node_fail(sweep, "expected `keep` or `collect`: what is wanted of a member"));
  if (collect && (collect->kind != CB_NODE_MAP || !collect->count || collect->count > CB_SWEEP_COLLECTS))
    cb_errors_add(&errors, collect,
                  cb_node_fail(collect, "expected a map of 1 to %d names and reductions, such as {top: max(energy)}",
                               CB_SWEEP_COLLECTS));
  else if (collect)
    for (size_t i = 0; i < collect->count; i++)
      plan->collect[plan->collects++] = (cb_sweep_collect){collect->keys[i]->text, collect->keys[i], collect->items[i]};
  return cb_errors_end(&errors);
}

/* --- all of it --- */

static cb_status read_work(cb_sweep_plan *plan, const cb_node *node) {
  const char *known[16];
  size_t n = 0;
  plan->work = cb_works[0];
  if (!node) return CB_OK;
  const char *word;
  const cb_status status = cb_node_string(node, &word);
  if (status) return status;
  for (; n < 16 && cb_works[n]; n++) {
    known[n] = cb_works[n]->name;
    if (!strcmp(known[n], word)) return plan->work = cb_works[n], CB_OK;
  }
  return cb_fail_unknown(node, "work", word, known, n);
}

static cb_status read_sweep(cb_sweep_plan *plan) {
  static const char *const top[] = {"curvebody", "title", "sweep"}, *const keys[] = {"scenario", "set",    "work",
                                                                                     "over",     "design", "keep",
                                                                                     "collect"};
  const cb_node *root = cb_tree_root(plan->tree), *sweep = cb_node_get(root, "sweep");
  if (root->kind != CB_NODE_MAP || !sweep)
    return cb_node_fail(root, "the key `sweep` is missing: what is varied in which scenario");
  if (sweep->kind != CB_NODE_MAP) return cb_node_fail(sweep, "expected a map with `scenario`, `over` and `collect`");
  const cb_node *title = cb_node_get(root, "title"), *version = cb_node_get(root, "curvebody");
  long long number = 0;
  plan->title = "";
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, top, 3));
  if (!version)
    cb_errors_add(&errors, root, cb_node_fail(root, "the key `curvebody` is missing: `curvebody: 1`"));
  else if (!cb_errors_add(&errors, version, cb_node_int(version, &number)) && number != 1)
    cb_errors_add(&errors, version, cb_node_fail(version, "sweeps of form %lld are not known; expected 1", number));
  if (title) cb_errors_add(&errors, title, cb_node_string(title, &plan->title));
  cb_errors_add(&errors, sweep, cb_node_check_keys(sweep, keys, sizeof keys / sizeof *keys));
  cb_errors_add(&errors, sweep, read_work(plan, cb_node_get(sweep, "work")));
  cb_errors_add(&errors, sweep, read_axes(plan, sweep));
  cb_errors_add(&errors, sweep, read_kept(plan, sweep));
  cb_errors_add(&errors, sweep, read_set(plan, cb_node_get(sweep, "set")));
  cb_errors_add(&errors, sweep, read_scenario(plan, sweep));
  return cb_errors_end(&errors);
}

/* The sweep with the scenario in place of its file. */
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
  if (!plan) return cb_arena_free(arena), cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  plan->arena = arena;
  cb_status status = (plan->path = cb_arena_strdup(arena, path)) ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory");
  if (!status)
    status = text ? cb_yaml_read_text(path, text, strlen(text), &plan->tree) : cb_yaml_read_file(path, &plan->tree);
  for (size_t i = 0; i < n && !status; i++) status = cb_tree_set(plan->tree, sets[i]);
  if (!status) status = read_sweep(plan);
  if (!status) status = resolve(plan);
  return status ? cb_sweep_plan_free(plan), status : (*out = plan, CB_OK);
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
