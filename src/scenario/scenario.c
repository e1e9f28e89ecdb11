/* Reads a scenario from a YAML file and makes a run that is ready to start: the class of the scenario, and its keys.
 * This file also reads the keys `integrator:`, `time:` and `record:`.
 */
#include "scenario/private.h"

#include "bodies/place.h"
#include "scenario/bundle_scenario.h"
#include "scenario/warnings.h"
#include "tree/scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- the keys `integrator:`, `time:` and `record:` --- */

const cb_param cb_time_table[] = {
    {"start", CB_PARAM_REAL, offsetof(cb_time_parameters, start), "0", "", "", NULL, "time at the start"},
    {"end", CB_PARAM_REAL, offsetof(cb_time_parameters, end), NULL, "", "", NULL, "time at the end"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_param cb_step_table[] = {
    {"step", CB_PARAM_REAL, offsetof(cb_step_parameters, step), NULL, "", "> 0", NULL, "length of a step"},
    {"retries", CB_PARAM_INT, offsetof(cb_step_parameters, retries), "4", "", "[0, 30]", NULL,
     "maximum number of times that a failed step is halved"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct record_parameters {
  int every, checkpoint, compress, sync;
  bool state, event_state;
  const cb_node *observables, *chart, *join;
} record_parameters;

const cb_param cb_record_table[] = {
    {"every", CB_PARAM_INT, offsetof(record_parameters, every), "1", "", ">= 1", NULL, "number of steps per row"},
    {"checkpoint", CB_PARAM_INT, offsetof(record_parameters, checkpoint), "0", "", ">= 0", NULL,
     "number of rows per checkpoint; 0: 256, fewer for large systems"},
    {"compress", CB_PARAM_INT, offsetof(record_parameters, compress), "0", "", "[0, 9]", NULL,
     "deflate level; 0: not compressed"},
    {"sync", CB_PARAM_CHOICE, offsetof(record_parameters, sync), "checkpoint", "", "", "checkpoint|never|every flush",
     "when recorded data are synced to the disk: at checkpoints, or at every flush, about once per second"},
    {"state", CB_PARAM_BOOL, offsetof(record_parameters, state), "true", "", "", NULL,
     "record position, momentum and origin"},
    {"event_state", CB_PARAM_BOOL, offsetof(record_parameters, event_state), "true", "", "", NULL,
     "record the state at each event, as event_position, if it has at most 1024 numbers"},
    {"join", CB_PARAM_NODE, offsetof(record_parameters, join), "", "", "", NULL,
     "size, such as 20 GB, above which the record stays in segments at the end; if absent, it is always joined"},
    {"observables", CB_PARAM_NODE, offsetof(record_parameters, observables), "", "", "", NULL, "list of observables"},
    {"chart", CB_PARAM_NODE, offsetof(record_parameters, chart), "", "", "", NULL,
     "chart of the observable `coordinates`"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_node *cb_scenario_blame_start(const cb_node *root, cb_status status) {
  const cb_node *start = cb_node_get(root, "start");
  return cb_node_get(root, status == CB_ERROR_ARGUMENT ? "time" : start ? "start" : "bodies");
}

/* Reports a scenario that cannot start, at the node that causes the error. */
static cb_status fail_at_start(const cb_scenario *s, const cb_node *root, cb_status status) {
  const cb_node *node = s->class->blame ? s->class->blame(root, status) : NULL;
  return cb_node_fail(node ? node : cb_node_get(root, s->class->name), "%s", cb_error_text());
}

static cb_status make_integrator(cb_scenario *s, const cb_node *root, const cb_node *node) {
  const cb_node *name_node = cb_node_get(node, "name");
  const char *name = s->class->integrator;
  cb_status status = name_node ? cb_node_string(name_node, &name) : CB_OK;
  if (status) return status;
  const cb_system *system = cb_scenario_system(s);
  if (s->class->system && !system) return cb_scenario_check_map("integrator", node);
  const cb_problem *const *posed = s->class->posed ? s->class->posed(s) : s->class->problems;
  status = cb_integrator_create_for(name, node, posed, system, &s->integrator);
  return status > 0 ? fail_at_start(s, root, status) : status;
}

static bool has_row(const cb_param *table, const char *name) {
  while (table->name && strcmp(table->name, name)) table++;
  return table->name != NULL;
}

cb_status cb_scenario_read_integrator(cb_scenario *s, const cb_node *root, const cb_node *node,
                                      cb_step_parameters *step) {
  if (!node) return CB_OK; /* the missing key was reported before */
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a map with `name` and `step`");
  static const char *const shared[] = {"name", "step", "retries"};
  const cb_node *retries = cb_node_get(node, "retries");
  /* the other keys are parameters of the integrator and are checked when it is made */
  const char **others = cb_arena_alloc(s->arena, node->count, sizeof *others);
  if (!others) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu keys", node->count);
  for (size_t i = 0; i < node->count; i++) others[i] = node->keys[i]->text;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, make_integrator(s, root, node));
  if (retries && !has_row(cb_scenario_table(s, "integrator"), "retries"))
    cb_errors_add(&errors, retries,
                  cb_node_fail(retries, "`retries` does not apply to gaits: their steps are never halved"));
  if (cb_node_get(node, "step") || !cb_node_misspelt(node, "step", shared, 3))
    cb_errors_add(&errors, node,
                  cb_params_bind(cb_scenario_table(s, "integrator"), node, node, others, node->count, step));
  return cb_errors_end(&errors);
}

static cb_status read_observables(cb_scenario *s, const cb_node *list, const char *const **out) {
  const cb_observable_doc *groups = s->class->observables;
  if (!list || list->kind == CB_NODE_NULL) {
    *out = NULL;
    return CB_OK;
  }
  if (list->kind != CB_NODE_LIST)
    return cb_node_fail(list, "expected a list of observables, such as [separation, energy]");
  const char *known[32];
  size_t count = 0;
  for (; count < 32 && groups[count].name; count++) known[count] = groups[count].name;
  const char **names = cb_arena_alloc(s->arena, list->count + 1, sizeof *names);
  if (!names) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu observables", list->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++) {
    if (cb_errors_add(&errors, list->items[i], cb_node_string(list->items[i], &names[i]))) continue;
    bool found = false;
    for (size_t j = 0; j < count; j++) found = found || !strcmp(known[j], names[i]);
    if (!found)
      cb_errors_add(&errors, list->items[i], cb_fail_unknown(list->items[i], "observable", names[i], known, count));
  }
  const cb_status status = cb_errors_end(&errors);
  if (!status) *out = names;
  return status;
}

static cb_status read_chart(cb_scenario *s, const record_parameters *p, cb_run_options *options) {
  bool coordinates = false;
  const char *name;
  if (!s->class->charts)
    return p->chart ? cb_node_fail(p->chart, "`chart` applies only to scenarios with particles in a space") : CB_OK;
  if (!s->space) return CB_OK; /* the space could not be read */
  for (const char *const *other = options->observables; other && *other; other++)
    coordinates = coordinates || !strcmp(*other, "coordinates");
  if (!p->chart && !coordinates) return CB_OK;
  if (!p->chart) {
    options->chart = s->space->chart ? s->space->chart : cb_chart_find(s->space, "polar");
    return options->chart ? CB_OK
                          : cb_node_fail(p->observables, "the observable `coordinates` needs `chart` in `record`");
  }
  const cb_status status = cb_node_string(p->chart, &name);
  if (status) return status;
  options->chart = cb_chart_find(s->space, name);
  return options->chart ? CB_OK : cb_place_unknown_chart(p->chart, s->space, name);
}

static cb_status read_record(cb_scenario *s, const cb_node *node, const cb_node *root, cb_run_options *options) {
  record_parameters p;
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, node, cb_params_bind(cb_record_table, node, root, NULL, 0, &p)))
    cb_params_bind_right(cb_record_table, node, &p);
  cb_errors_add(&errors, p.observables, read_observables(s, p.observables, &options->observables));
  cb_errors_add(&errors, p.chart, read_chart(s, &p, options));
  s->record.join_bytes = 0;
  if (p.join) cb_errors_add(&errors, p.join, cb_scalar_bytes(p.join, "join", &s->record.join_bytes));
  options->every = p.every;
  options->checkpoint = p.checkpoint;
  options->state = p.state;
  options->event_state = p.event_state;
  s->record.deflate = p.compress;
  s->record.sync = (cb_record_sync)p.sync;
  return cb_errors_end(&errors);
}

static cb_status read_time(cb_scenario *s, const cb_node *node, const cb_node *root, cb_time_parameters *time) {
  if (!node && !s->class->length) return CB_OK; /* the missing key was reported before */
  const cb_status status = cb_params_bind(cb_scenario_table(s, "time"), node, root, NULL, 0, time);
  if (status) return status;
  if (isnan(time->end)) time->end = time->start + s->class->length(s);
  if (time->end < time->start)
    return cb_node_fail(cb_node_get(node, "end"), "the end %g is before the start %g: expected a later end", time->end,
                        time->start);
  return CB_OK;
}

static cb_status start_run(cb_scenario *s, const cb_node *root, const cb_run_options *options) {
  const cb_status status = s->class->make_run(s, options, &s->run);
  if (!status || status == CB_ERROR_MEMORY || status == CB_ERROR_FILE || cb_failure_last().placed) return status;
  const cb_node *coupling = cb_node_get(cb_node_get(root, "fluid"), "coupling");
  if (coupling && cb_failure_last().kind == CB_FAILURE_COUPLING) return cb_node_fail(coupling, "%s", cb_error_text());
  if (status == CB_ERROR_UNSUPPORTED) return cb_node_fail(cb_node_get(root, "integrator"), "%s", cb_error_text());
  const cb_node *observables = cb_node_get(cb_node_get(root, "record"), "observables");
  const bool of_these = observables && cb_failure_last().kind == CB_FAILURE_OBSERVABLE;
  return of_these ? cb_node_fail(observables, "%s", cb_error_text()) : fail_at_start(s, root, status);
}

/* Reads `integrator`, `time` and `record`, and makes the run. whole: everything else was read without errors; otherwise
 * no run is made. */
static cb_status read_run(cb_scenario *s, const cb_node *root, bool whole) {
  const cb_node *time_node = cb_scenario_section(root, "time"), *integrator = cb_scenario_section(root, "integrator"),
                *record = cb_scenario_section(root, "record");
  cb_time_parameters time = {0, 0};
  cb_step_parameters step = {0};
  cb_run_options options = {0};
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, time_node, read_time(s, time_node, root, &time));
  cb_errors_add(&errors, integrator, cb_scenario_read_integrator(s, root, integrator, &step));
  cb_errors_add(&errors, record, read_record(s, record, root, &options));
  options.start = time.start;
  options.end = time.end;
  options.step = step.step;
  options.retries = step.retries;
  options.controls = cb_scenario_run_controls(s);
  if (whole && !errors.status) cb_errors_add(&errors, root, start_run(s, root, &options));
  if (s->run && !errors.status) cb_errors_add(&errors, root, cb_scenario_read_laws(s));
  return cb_errors_end(&errors);
}

/* --- the class of a scenario, and the keys that it may have --- */

static const char *const shared[] = {"curvebody", "title", "integrator", "time", "record", NULL}, *const first[] = {
                                                                                                      "curvebody",
                                                                                                      "title", NULL};
enum { KEYS_MAX = 256 };

typedef struct key_list {
  const char *key[KEYS_MAX + 1]; /* ended by NULL */
  size_t n;
} key_list;

static bool is_among(const char *key, const char *const *list) {
  while (*list && strcmp(*list, key)) list++;
  return *list != NULL;
}

static void add_keys(key_list *all, const char *const *keys) {
  for (; *keys && all->n < KEYS_MAX; keys++)
    if (!is_among(*keys, all->key)) all->key[all->n++] = *keys;
}

/* Lists the keys of a class, or of all classes (class NULL), in the order in which scenarios have them. */
static void list_keys(key_list *all, const cb_configuration *class) {
  *all = (key_list){.n = 0};
  add_keys(all, first);
  add_keys(all, (class ? class : cb_scenario_usual_class())->keys);
  for (size_t c = 0; !class && cb_configurations[c]; c++) add_keys(all, cb_configurations[c]->keys);
  add_keys(all, shared);
}

const cb_node *cb_scenario_section(const cb_node *root, const char *key) {
  const cb_node *node = cb_node_get(root, key);
  key_list all;
  if (node) return node;
  list_keys(&all, NULL);
  return cb_node_misspelt(root, key, all.key, all.n);
}

const cb_configuration *cb_scenario_usual_class(void) {
  size_t c = 0;
  while (!cb_configurations[c]->usual) c++;
  return cb_configurations[c];
}

const cb_configuration *cb_scenario_class_of(const cb_node *root) {
  const cb_configuration *const usual = cb_scenario_usual_class(), *class;
  const bool given = cb_node_get(root, usual->name);
  for (size_t c = 0; (class = cb_configurations[c]); c++)
    if (class != usual && (cb_node_get(root, class->name) ||
                           (given && is_among(usual->name, class->keys) && cb_scenario_section(root, class->name))))
      return class;
  if (given) return usual;
  for (size_t c = 0; (class = cb_configurations[c]); c++)
    if (class != usual && cb_scenario_section(root, class->name)) return class;
  return cb_scenario_section(root, usual->name) ? usual : NULL;
}

/* Returns the value of a key that only another class has, and sets *of to this class; NULL if there is no such key. */
static const cb_node *foreign(const cb_node *root, const cb_configuration *class, const cb_configuration **of) {
  for (size_t c = 0; cb_configurations[c]; c++) {
    *of = cb_configurations[c];
    for (const char *const *key = (*of)->only; *of != class && key && *key; key++)
      if (cb_node_get(root, *key)) return cb_node_get(root, *key);
  }
  return NULL;
}

static bool is_of_two(const cb_node *root, const cb_configuration *class) {
  const cb_configuration *other;
  if (foreign(root, class, &other)) return true;
  for (size_t c = 0; (other = cb_configurations[c]); c++)
    if (other != class && !is_among(other->name, class->keys) && cb_node_get(root, other->name)) return true;
  return false;
}

/* Returns the reason why a key of another class is not allowed in a scenario of this class (cb_configuration.alone of
 * this class, or of a class that has the key); "" if no class gives a reason. */
static const char *reason(const cb_configuration *class, const char *key) {
  for (size_t k = 0; !class->alone && cb_configurations[k]; k++) {
    const cb_configuration *other = cb_configurations[k];
    if (other->alone && (!strcmp(other->name, key) || is_among(key, other->keys))) class = other;
  }
  return class->alone ? class->alone : "";
}

static cb_status check_keys(const cb_node *root, const cb_configuration *class) {
  const cb_configuration *of;
  const cb_node *alone = foreign(root, class, &of);
  key_list all;
  list_keys(&all, NULL);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, all.key, all.n));
  if (!class && alone) {
    cb_errors_add(&errors, alone, cb_node_fail(alone, "the key `%s` is missing: expected %s", of->name, of->without));
    return cb_errors_end(&errors);
  }
  if (!class) class = cb_scenario_usual_class();
  for (size_t k = 0; k < all.n; k++) {
    const cb_node *node = cb_node_get(root, all.key[k]);
    if (!node || is_among(all.key[k], shared) || is_among(all.key[k], class->keys)) continue;
    const char *why = reason(class, all.key[k]);
    cb_errors_add(&errors, node,
                  cb_node_fail(node, "`%s` next to `%s`: expected only one of them%s%s", all.key[k], class->name,
                               *why ? ", because " : "", why));
  }
  for (const char *const *key = class->required; *key && !is_of_two(root, class); key++)
    if (!cb_scenario_section(root, *key))
      cb_errors_add(&errors, root, cb_node_fail(root, "the key `%s` is missing", *key));
  return cb_errors_end(&errors);
}

const cb_param *cb_scenario_table(const cb_scenario *s, const char *key) {
  const cb_section *section = s->class->sections;
  while (section->key && strcmp(section->key, key)) section++;
  return section->table;
}

enum { FORMAT = 1 };

static cb_status check_format(cb_scenario *s, const cb_node *root) {
  const cb_node *format = cb_scenario_section(root, "curvebody"), *title = cb_scenario_section(root, "title");
  long long version;
  if (!format)
    return cb_node_fail(root, "the key `curvebody` is missing: expected `curvebody: %d`, the version of the format",
                        FORMAT);
  s->title = "";
  cb_errors errors = cb_errors_begin();
  if (!cb_errors_add(&errors, format, cb_node_int(format, &version)) && version != FORMAT)
    cb_errors_add(&errors, format,
                  cb_node_fail(format, "curvebody: unknown format %lld of scenarios, expected %d", version, FORMAT));
  if (title) cb_errors_add(&errors, title, cb_node_string(title, &s->title));
  return cb_errors_end(&errors);
}

static cb_status take_class(cb_scenario *s, const cb_configuration *class) {
  s->own = cb_arena_alloc(s->arena, 1, class->size ? class->size : 1);
  if (!s->own) return cb_fail(CB_ERROR_MEMORY, "no memory for a scenario");
  s->class = class;
  return CB_OK;
}

static cb_status read_all(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  const cb_node *sweep = cb_node_get(root, "sweep");
  if (sweep)
    return cb_node_fail(
        sweep, "expected a scenario, found a sweep: run it with `curvebody sweep`, or check it with --dry-run");
  const cb_configuration *class = cb_scenario_class_of(root);
  const cb_status status = take_class(s, class ? class : cb_scenario_usual_class());
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, check_keys(root, class));
  cb_errors_add(&errors, root, check_format(s, root));
  if (is_of_two(root, s->class)) return cb_errors_end(&errors);
  cb_errors_add(&errors, root, cb_scenario_read_controls(s, cb_scenario_section(root, "controls")));
  cb_errors_add(&errors, root, s->class->read(s, root));
  if (!errors.status && s->class->finish) cb_errors_add(&errors, root, s->class->finish(s, root));
  cb_errors_add(&errors, root, read_run(s, root, !errors.status));
  cb_scenario_controls_read(s);
  const cb_status read = cb_errors_end(&errors);
  return read || s->plain ? read : cb_scenario_resolve(s, root);
}

/* Reads a bundle, with or without a gait; no run is made. */
static cb_status read_bundle(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  const cb_configuration *class = NULL;
  key_list all;
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  for (size_t c = 0; cb_configurations[c] && !class; c++)
    if (cb_configurations[c]->gait && cb_scenario_section(root, cb_configurations[c]->name))
      class = cb_configurations[c];
  if (!class) return cb_node_fail(root, "the key `bundle` is missing: see `curvebody list bundles`");
  const cb_status status = take_class(s, class);
  if (status) return status;
  list_keys(&all, class);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, all.key, all.n));
  cb_errors_add(&errors, root, check_format(s, root));
  cb_errors_add(&errors, root, cb_scenario_read_controls(s, cb_scenario_section(root, "controls")));
  cb_errors_add(&errors, root, class->read(s, root));
  cb_scenario_controls_read(s);
  const cb_node *flow = cb_node_get(root, "flow");
  if (flow && !errors.status)
    cb_errors_add(&errors, flow,
                  cb_node_fail(flow,
                               "`flow`: holonomies and optimal gaits are those of a fluid at rest, because in a flow "
                               "the motion depends on the position: expected no flow, or `curvebody run`"));
  return cb_errors_end(&errors);
}

/* Makes a scenario from a tree, and takes ownership of the tree, also on failure. file: the file of the tree; NULL: the
 * tree comes from a text. */
static cb_status make(cb_tree *tree, const char *file, cb_scenario **out) {
  cb_arena *arena = cb_arena_create();
  cb_scenario *s = arena ? cb_arena_alloc(arena, 1, sizeof *s) : NULL;
  if (!s) {
    cb_arena_free(arena);
    cb_tree_free(tree);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a scenario");
  }
  s->arena = arena;
  s->tree = tree;
  const cb_status status = file ? cb_scenario_add_file(s, file) : CB_OK;
  if (status) {
    cb_scenario_free(s);
    return status;
  }
  *out = s;
  return CB_OK;
}

/* Stores a warning that is given while the scenario is read, for the run or for a caller of cb_scenario_warn_again. */
static void keep_warning(void *context, const char *text) {
  cb_scenario *s = context;
  const char **more = cb_arena_alloc(s->arena, s->warnings + 1, sizeof *more);
  const char *kept = cb_arena_strdup(s->arena, text);
  if (!more || !kept) return; /* read_warned finds that the arena has failed, and fails */
  for (size_t i = 0; i < s->warnings; i++) more[i] = s->warned[i];
  more[s->warnings++] = kept;
  s->warned = more;
}

static cb_status read_warned(cb_scenario *s, cb_status (*read)(cb_scenario *s)) {
  cb_warning_taker before = cb_warnings_to((cb_warning_taker){.take = keep_warning, .context = s});
  cb_status status = read(s);
  cb_warnings_to(before);
  if (!status && cb_arena_lost(s->arena)) status = cb_fail(CB_ERROR_MEMORY, "no memory for a scenario");
  return status;
}

void cb_scenario_warn_again(const cb_scenario *s) {
  for (size_t i = 0; i < s->warnings; i++) cb_warn("%s", s->warned[i]);
}

/* Reads the scenario s with the function `read`, after --set was applied to its tree. was: the root of the tree before
 * --set was applied. status: a failure of --set; then nothing is read. */
static cb_status end(cb_scenario *s, cb_status status, const cb_node *was, cb_status (*read)(cb_scenario *s),
                     cb_scenario **out) {
  if (!status) status = cb_scenario_change_classes(s, was);
  if (!status) status = read_warned(s, read);
  if (status) {
    cb_scenario_free(s);
    return status;
  }
  *out = s;
  return CB_OK;
}

static cb_status finish(cb_tree *tree, const char *file, const char *const *sets, size_t n,
                        cb_status (*read)(cb_scenario *s), cb_scenario **out) {
  cb_scenario *s = NULL;
  cb_status status = make(tree, file, &s);
  if (status) return status;
  const cb_node *was = cb_tree_root(tree);
  for (size_t i = 0; i < n && !status; i++) status = cb_tree_set(tree, sets[i]);
  return end(s, status, was, read, out);
}

cb_status cb_scenario_open_member(const cb_tree *base, const cb_node *root, const cb_member_value *values, size_t n,
                                  bool only_bundle, cb_scenario **out) {
  cb_tree *tree;
  cb_scenario *s = NULL;
  cb_status status = cb_tree_over(base, root, &tree);
  if (!status) status = make(tree, NULL, &s);
  if (status) return status;
  s->plain = true;
  for (size_t i = 0; i < n && !status; i++) status = cb_tree_put(tree, values[i].key, values[i].value);
  return end(s, status, root, only_bundle ? read_bundle : read_all, out);
}

cb_status cb_scenario_open(const char *path, const char *const *sets, size_t n, cb_scenario **out) {
  cb_tree *tree;
  const cb_status status = cb_yaml_read_file(path, &tree);
  return status ? status : finish(tree, path, sets, n, read_all, out);
}

cb_status cb_scenario_open_bundle(const char *path, const char *const *sets, size_t n, cb_scenario **out) {
  cb_tree *tree;
  const cb_status status = cb_yaml_read_file(path, &tree);
  return status ? status : finish(tree, path, sets, n, read_bundle, out);
}

cb_status cb_scenario_open_text(const char *name, const char *text, const char *const *sets, size_t n,
                                cb_scenario **out) {
  cb_tree *tree;
  const cb_status status = cb_yaml_read_text(name, text, strlen(text), &tree);
  return status ? status : finish(tree, NULL, sets, n, read_all, out);
}

cb_status cb_scenario_open_record(const char *name, const char *text, const char *const *sets, size_t n,
                                  cb_scenario **out) {
  cb_tree *tree;
  const cb_status status = cb_yaml_read_text(name, text, strlen(text), &tree);
  if (status) return status;
  cb_rename_former(cb_tree_root(tree));
  return finish(tree, NULL, sets, n, read_all, out);
}

cb_status cb_scenario_class_of_record(cb_reader *reader, const char *path, const cb_configuration **out) {
  const char *text;
  cb_tree *tree;
  cb_status status = cb_reader_scenario(reader, "resolved", &text);
  if (!status) status = cb_yaml_read_text(path, text, strlen(text), &tree);
  if (status) return status;
  cb_rename_former(cb_tree_root(tree));
  *out = cb_scenario_class_of(cb_tree_root(tree));
  cb_tree_free(tree);
  return CB_OK;
}

void cb_scenario_free(cb_scenario *s) {
  if (!s) return;
  cb_run_free(s->run);
  cb_integrator_free(s->integrator);
  cb_scenario_free_controls(s);
  if (s->class && s->class->free) s->class->free(s);
  cb_builder_free(s->builder);
  cb_space_free(s->space);
  cb_tree_free(s->tree);
  cb_arena_free(s->arena);
}

const char *cb_scenario_title(const cb_scenario *s) { return s->title; }
const char *cb_scenario_source(const cb_scenario *s) { return cb_tree_source(s->tree); }
const char *cb_scenario_resolved(const cb_scenario *s) { return s->resolved; }
const cb_space *cb_scenario_space(const cb_scenario *s) { return s->space; }
const cb_system *cb_scenario_system(const cb_scenario *s) { return s->class->system ? s->class->system(s) : NULL; }
cb_integrator *cb_scenario_integrator(cb_scenario *s) { return s->integrator; }
cb_run *cb_scenario_run(cb_scenario *s) { return s->run; }

cb_record_options cb_scenario_record(const cb_scenario *s) { return s->record; }

const cb_configuration *cb_scenario_configuration(const cb_scenario *s) { return s->class; }
void *cb_scenario_own(const cb_scenario *s) { return s->own; }

int cb_scenario_bodies(const cb_scenario *s) { return s->class->bodies ? s->class->bodies(s) : 0; }
const char *cb_scenario_body_name(const cb_scenario *s, int i) {
  return s->class->body_name ? s->class->body_name(s, i) : "";
}
const struct cb_immersed *cb_scenario_body(const cb_scenario *s, int i) {
  return s->class->body ? s->class->body(s, i) : NULL;
}
const cb_bundle_scenario *cb_bundle_scenario_of(const cb_scenario *s) {
  return s->class->gait ? s->class->gait(s) : NULL;
}
