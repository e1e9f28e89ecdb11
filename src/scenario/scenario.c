/* From a YAML file to a run that is ready to go. */
#include "scenario/kind.h"
#include "scenario/member.h"
#include "scenario/warnings.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

static cb_status check_format(cb_scenario *s, const cb_node *root) {
  const cb_node *format = cb_scenario_section(root, "curvebody"), *title = cb_scenario_section(root, "title");
  long long version;
  if (!format)
    return cb_node_fail(root, "the key `curvebody` is missing: `curvebody: %d` says which form the scenario has",
                        FORMAT);
  s->title = "";
  cb_errors errors = cb_errors_begin();
  if (!cb_errors_add(&errors, format, cb_node_int(format, &version)) && version != FORMAT)
    cb_errors_add(&errors, format,
                  cb_node_fail(format, "scenarios of form %lld are not known; expected %d", version, FORMAT));
  if (title) cb_errors_add(&errors, title, cb_node_string(title, &s->title));
  return cb_errors_end(&errors);
}

static cb_status read_all(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  const cb_node *sweep = cb_node_get(root, "sweep");
  if (sweep) return cb_node_fail(sweep, "a sweep, expected a scenario: `curvebody sweep` runs it, --dry-run checks it");
  const cb_scenario_kind *kind = cb_scenario_kind_of(root);
  s->kind = kind ? kind : &cb_scenario_kind_space;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_scenario_check_keys(root, kind));
  cb_errors_add(&errors, root, check_format(s, root));
  if (kind ? cb_scenario_is_of_two(root, kind) : cb_node_get(root, "gait") || cb_node_get(root, "optimum"))
    return cb_errors_end(&errors);
  cb_errors_add(&errors, root, s->kind->read(s, root));
  if (!errors.status && s->kind->finish) cb_errors_add(&errors, root, s->kind->finish(s, root));
  cb_errors_add(&errors, root, cb_scenario_read_run(s, root, !errors.status));
  const cb_status status = cb_errors_end(&errors);
  return status || s->plain ? status : cb_scenario_resolve(s, root);
}

/* A bundle by itself or with its gait: no run is made. */
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
  s->kind = &cb_scenario_kind_bundle;
  cb_errors_add(&errors, root, s->kind->read(s, root));
  return cb_errors_end(&errors);
}

/* A scenario of a tree, which it takes; file: that the tree was read from; NULL: a text. */
static cb_status make(cb_tree *tree, const char *file, cb_scenario **out) {
  cb_arena *arena = cb_arena_create();
  cb_scenario *s = arena ? cb_arena_alloc(arena, 1, sizeof *s) : NULL;
  if (!s) return cb_arena_free(arena), cb_tree_free(tree), cb_fail(CB_ERROR_MEMORY, "no memory for a scenario");
  s->arena = arena;
  s->tree = tree;
  const cb_status status = file ? cb_scenario_add_file(s, file) : CB_OK;
  return status ? cb_scenario_free(s), status : (*out = s, CB_OK);
}

/* Warnings while it is read are kept for its run, or for whoever asks (cb_scenario_warn_again). */
static void keep_warning(void *context, const char *text) {
  cb_scenario *s = context;
  const char **more = cb_arena_alloc(s->arena, s->warnings + 1, sizeof *more);
  const char *kept = cb_arena_strdup(s->arena, text);
  if (!more || !kept) return; /* the arena is lost, which fails the reading */
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

/* Reads what the tree has become, whose root was `was`. */
static cb_status end(cb_scenario *s, cb_status status, const cb_node *was, cb_status (*read)(cb_scenario *s),
                     cb_scenario **out) {
  if (!status) status = cb_scenario_change_classes(s, was);
  if (!status) status = read_warned(s, read);
  return status ? cb_scenario_free(s), status : (*out = s, CB_OK);
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

void cb_scenario_free(cb_scenario *s) {
  if (!s) return;
  cb_run_free(s->run);
  cb_integrator_free(s->integrator);
  if (s->kind) s->kind->free(s);
  cb_tree_free(s->tree);
  cb_arena_free(s->arena);
}

const char *cb_scenario_title(const cb_scenario *s) { return s->title; }
const char *cb_scenario_source(const cb_scenario *s) { return cb_tree_source(s->tree); }
const char *cb_scenario_resolved(const cb_scenario *s) { return s->resolved; }
const cb_geometry *cb_scenario_space(const cb_scenario *s) { return s->space; }
const cb_system *cb_scenario_system(const cb_scenario *s) { return s->system; }
cb_integrator *cb_scenario_integrator(cb_scenario *s) { return s->integrator; }
cb_run *cb_scenario_run(cb_scenario *s) { return s->run; }

cb_record_options cb_scenario_record(const cb_scenario *s) { return s->record; }
