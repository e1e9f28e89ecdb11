/* From a YAML file to a run that is ready to start: the class of a scenario, its keys, and reading it. */
#include "scenario/scenario_class.h"
#include "tree/scalar.h"
#include "scenario/member.h"
#include "scenario/warnings.h"

#include <stdlib.h>
#include <string.h>

/* --- the class of a scenario, and the keys that it may have --- */

static const cb_scenario_class *const kinds[] = {&cb_scenario_class_bundle, &cb_scenario_class_fluid,
                                                 &cb_scenario_class_system, &cb_scenario_class_space};
static const char *const keys[] = {
    "curvebody",   "title",    "space", "system", "fluid", "bundle",  "bodies", "potentials", "interactions", "forces",
    "constraints", "contacts", "walls", "events", "gait",  "optimum", "start",  "integrator", "time",         "record"};
static const char *const shared[] = {"curvebody", "title", "integrator", "time", "record", NULL};
enum { KEYS = sizeof keys / sizeof *keys, KINDS = sizeof kinds / sizeof *kinds };

static bool is_among(const char *key, const char *const *list) {
  while (*list && strcmp(*list, key)) list++;
  return *list != NULL;
}

const cb_node *cb_scenario_section(const cb_node *root, const char *key) {
  const cb_node *node = cb_node_get(root, key);
  return node ? node : cb_node_misspelt(root, key, keys, KEYS);
}

const cb_scenario_class *cb_scenario_class_of(const cb_node *root) {
  for (int k = 0; k < KINDS; k++)
    if (cb_node_get(root, kinds[k]->name) ||
        (is_among("space", kinds[k]->keys) && cb_node_get(root, "space") && cb_scenario_section(root, kinds[k]->name)))
      return kinds[k];
  for (int k = 0; k < KINDS; k++)
    if (cb_scenario_section(root, kinds[k]->name)) return kinds[k];
  return NULL;
}

static bool is_of_two(const cb_node *root, const cb_scenario_class *class) {
  if (!is_among("gait", class->keys) && (cb_node_get(root, "gait") || cb_node_get(root, "optimum"))) return true;
  for (int k = 0; k < KINDS; k++)
    if (kinds[k] != class && !is_among(kinds[k]->name, class->keys) && cb_node_get(root, kinds[k]->name)) return true;
  return false;
}

static cb_status check_keys(const cb_node *root, const cb_scenario_class *class) {
  const cb_node *gait = cb_node_get(root, "gait");
  if (!gait) gait = cb_node_get(root, "optimum");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, keys, KEYS));
  if (!class && gait) {
    cb_errors_add(&errors, gait,
                  cb_node_fail(gait, "the key `bundle` is missing: expected the bundle in which the gait moves"));
    return cb_errors_end(&errors);
  }
  if (!class) class = &cb_scenario_class_space;
  for (int k = 0; k < KEYS; k++) {
    const cb_node *node = cb_node_get(root, keys[k]);
    if (!node || is_among(keys[k], shared) || is_among(keys[k], class->keys)) continue;
    cb_errors_add(&errors, node,
                  cb_node_fail(node, "`%s` next to `%s`: expected only one of them", keys[k], class->name));
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

static cb_status read_all(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  const cb_node *sweep = cb_node_get(root, "sweep");
  if (sweep)
    return cb_node_fail(
        sweep, "expected a scenario, found a sweep: run it with `curvebody sweep`, or check it with --dry-run");
  const cb_scenario_class *class = cb_scenario_class_of(root);
  s->class = class ? class : &cb_scenario_class_space;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, check_keys(root, class));
  cb_errors_add(&errors, root, check_format(s, root));
  if (class ? is_of_two(root, class) : cb_node_get(root, "gait") || cb_node_get(root, "optimum"))
    return cb_errors_end(&errors);
  cb_errors_add(&errors, root, s->class->read(s, root));
  if (!errors.status && s->class->finish) cb_errors_add(&errors, root, s->class->finish(s, root));
  cb_errors_add(&errors, root, cb_scenario_read_run(s, root, !errors.status));
  const cb_status status = cb_errors_end(&errors);
  return status || s->plain ? status : cb_scenario_resolve(s, root);
}

/* Reads a bundle, with or without a gait; no run is made. */
static cb_status read_bundle(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  static const char *const of_gait[] = {"curvebody", "title",      "bundle", "gait",  "start",
                                        "optimum",   "integrator", "time",   "record"};
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  if (!cb_scenario_section(root, "bundle"))
    return cb_node_fail(root, "the key `bundle` is missing: see `curvebody list bundles`");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, of_gait, sizeof of_gait / sizeof *of_gait));
  cb_errors_add(&errors, root, check_format(s, root));
  s->class = &cb_scenario_class_bundle;
  cb_errors_add(&errors, root, s->class->read(s, root));
  return cb_errors_end(&errors);
}

/* Makes a scenario from a tree and takes ownership of it; file: the file of the tree; NULL: a text. */
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
  if (!more || !kept) return; /* the arena has failed, which makes the reading fail */
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

/* Reads the scenario from its tree, to which --set was applied; `was` is the root of the tree before that. */
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

void cb_scenario_free(cb_scenario *s) {
  if (!s) return;
  cb_run_free(s->run);
  cb_integrator_free(s->integrator);
  if (s->class) s->class->free(s);
  cb_tree_free(s->tree);
  cb_arena_free(s->arena);
}

const char *cb_scenario_title(const cb_scenario *s) { return s->title; }
const char *cb_scenario_source(const cb_scenario *s) { return cb_tree_source(s->tree); }
const char *cb_scenario_resolved(const cb_scenario *s) { return s->resolved; }
const cb_space *cb_scenario_space(const cb_scenario *s) { return s->space; }
const cb_system *cb_scenario_system(const cb_scenario *s) { return s->system; }
cb_integrator *cb_scenario_integrator(cb_scenario *s) { return s->integrator; }
cb_run *cb_scenario_run(cb_scenario *s) { return s->run; }

cb_record_options cb_scenario_record(const cb_scenario *s) { return s->record; }
