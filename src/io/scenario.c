/* From a YAML file to a run that is ready to go. */
#include "io/scenario_private.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

static cb_status read_all(cb_scenario *s) {
  static const char *const keys[] = {"curvebody",    "title",       "space", "system",     "bodies", "potentials",
                                     "interactions", "constraints", "contacts", "walls", "events", "start", "integrator", "time",   "record"};
  static const char *const required[] = {"integrator", "time", "space", "bodies"};
  static const char *const bodily[] = {"space", "bodies", "potentials", "interactions", "constraints"};
  const cb_node *root = cb_tree_root(s->tree);
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  cb_status status = cb_node_check_keys(root, keys, sizeof keys / sizeof *keys);
  if (status) return status;

  const cb_node *format = cb_node_get(root, "curvebody");
  long long version;
  if (!format)
    return cb_node_fail(root, "the key `curvebody` is missing: `curvebody: %d` says which form the scenario has",
                        FORMAT);
  if ((status = cb_node_int(format, &version))) return status;
  if (version != FORMAT)
    return cb_node_fail(format, "scenarios of form %lld are not known; expected %d", version, FORMAT);
  const cb_node *title = cb_node_get(root, "title");
  s->title = "";
  if (title && (status = cb_node_string(title, &s->title))) return status;
  const cb_node *system = cb_node_get(root, "system");
  for (size_t k = 0; system && k < sizeof bodily / sizeof *bodily; k++)
    if (cb_node_get(root, bodily[k]))
      return cb_node_fail(cb_node_get(root, bodily[k]), "`%s` beside `system`: expected one or the other", bodily[k]);
  for (size_t k = 0; k < (system ? 2 : 4); k++)
    if (!cb_node_get(root, required[k])) return cb_node_fail(root, "the key `%s` is missing", required[k]);

  if (system) {
    status = cb_scenario_read_system(s, system);
  } else {
    status = cb_scenario_read_space(s, cb_node_get(root, "space"));
    if (!status) status = cb_builder_create(s->space, &s->builder);
    if (!status) status = cb_scenario_read_bodies(s, cb_node_get(root, "bodies"));
  }
  if (!status) status = cb_scenario_read_forces(s, cb_node_get(root, "potentials"), cb_node_get(root, "interactions"));
  if (!status) status = cb_scenario_read_constraints(s, cb_node_get(root, "constraints"));
  if (!status)
    status = cb_scenario_read_contacts(s, cb_node_get(root, "contacts"), cb_node_get(root, "walls"),
                                       cb_node_get(root, "events"));
  if (!status) status = cb_scenario_read_start(s, cb_node_get(root, "start"));
  if (!status && (status = cb_builder_finish(s->builder, &s->system)) && status != CB_ERROR_MEMORY &&
      status != CB_ERROR_INPUT) {
    char text[1024];
    strncpy(text, cb_error_text(), sizeof text - 1);
    text[sizeof text - 1] = 0;
    const cb_node *constraints = cb_node_get(system ? system : root, "constraints");
    const bool of_constraint = constraints && !strncmp(text, "constraint `", 12);
    const cb_node *made = system ? system : cb_node_get(root, "bodies");
    status = cb_node_fail(of_constraint ? constraints : made, "%s", text);
  }
  if (!status) status = cb_scenario_read_run(s, root);
  if (!status) status = cb_scenario_resolve(s, root);
  return status;
}

static cb_status finish(cb_tree *tree, const char *name, const char *const *sets, size_t n, cb_scenario **out) {
  cb_arena *arena = cb_arena_create();
  cb_scenario *s = arena ? cb_arena_alloc(arena, 1, sizeof *s) : NULL;
  if (!s) return cb_arena_free(arena), cb_tree_free(tree), cb_fail(CB_ERROR_MEMORY, "no memory for a scenario");
  s->arena = arena;
  s->tree = tree;
  s->name = cb_arena_strdup(arena, name);
  cb_status status = CB_OK;
  for (size_t i = 0; i < n && !status; i++) status = cb_tree_set(tree, sets[i]);
  if (!status) status = read_all(s);
  if (status) return cb_scenario_free(s), status;
  *out = s;
  return CB_OK;
}

cb_status cb_scenario_open(const char *path, const char *const *sets, size_t n, cb_scenario **out) {
  cb_tree *tree;
  const cb_status status = cb_yaml_read_file(path, &tree);
  return status ? status : finish(tree, path, sets, n, out);
}

cb_status cb_scenario_open_text(const char *name, const char *text, const char *const *sets, size_t n,
                                cb_scenario **out) {
  cb_tree *tree;
  const cb_status status = cb_yaml_read_text(name, text, strlen(text), &tree);
  return status ? status : finish(tree, name, sets, n, out);
}

void cb_scenario_free(cb_scenario *s) {
  if (!s) return;
  cb_run_free(s->run);
  cb_integrator_free(s->integrator);
  cb_system_free(s->system);
  cb_builder_free(s->builder);
  cb_geometry_free(s->space);
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
int cb_scenario_compression(const cb_scenario *s) { return s->compression; }
