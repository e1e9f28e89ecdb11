/* From a YAML file to a run that is ready to go. */
#include "io/scenario_bundle.h"
#include "io/scenario_fluid.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

/* What a scenario is about, by its own keys: particles in a space, a system of coordinates, bodies in a fluid, a gait
 * in a bundle. */
typedef struct about {
  const char *key;             /* that says so */
  const char *const *required; /* ended by NULL */
  const char *const *foreign;  /* keys of others */
} about;

static const char *const of_space[] = {"integrator", "time", "space", "bodies", NULL},
                         *const of_system[] = {"integrator", "time", NULL},
                         *const of_fluid[] = {"integrator", "time", "bodies", NULL},
                         *const of_bundle[] = {"gait", "integrator", NULL};
static const char *const not_of_space[] = {"gait", NULL}, *const not_of_system[] = {"space",       "bodies",
                                                                                    "potentials",  "interactions",
                                                                                    "constraints", "fluid",
                                                                                    "gait",        NULL},
                         *const not_of_fluid[] = {"space",       "system",   "potentials", "interactions",
                                                  "constraints", "contacts", "walls",      "events",
                                                  "start",       "gait",     NULL},
                         *const not_of_bundle[] = {"space",      "system",       "fluid",       "bodies",
                                                   "potentials", "interactions", "constraints", "contacts",
                                                   "walls",      "events",       NULL};
static const about kinds[] = {{"bundle", of_bundle, not_of_bundle},
                              {"fluid", of_fluid, not_of_fluid},
                              {"system", of_system, not_of_system},
                              {"space", of_space, not_of_space}};

/* The kind of a scenario: a gait by itself lacks its bundle. */
static cb_status kind_of(const cb_node *root, const about **out) {
  const about *kind = kinds;
  while (strcmp(kind->key, "space") && !cb_node_get(root, kind->key)) kind++;
  const cb_node *gait = cb_node_get(root, "gait");
  if (gait && !cb_node_get(root, kind->key))
    return cb_node_fail(gait, "the key `bundle` is missing: the bundle that the gait moves in");
  *out = kind;
  return CB_OK;
}

static cb_status check_keys(const cb_node *root, const about **out) {
  static const char *const keys[] = {"curvebody", "title",      "space",        "system",      "fluid",    "bundle",
                                     "bodies",    "potentials", "interactions", "constraints", "contacts", "walls",
                                     "events",    "gait",       "start",        "integrator",  "time",     "record"};
  cb_status status = cb_node_check_keys(root, keys, sizeof keys / sizeof *keys);
  if (status) return status;
  const about *kind = NULL;
  if ((status = kind_of(root, &kind))) return status;
  for (const char *const *key = kind->foreign; *key; key++)
    if (cb_node_get(root, *key))
      return cb_node_fail(cb_node_get(root, *key), "`%s` beside `%s`: expected one or the other", *key, kind->key);
  for (const char *const *key = kind->required; *key; key++)
    if (!cb_node_get(root, *key)) return cb_node_fail(root, "the key `%s` is missing", *key);
  *out = kind;
  return CB_OK;
}

static cb_status check_format(cb_scenario *s, const cb_node *root) {
  const cb_node *format = cb_node_get(root, "curvebody"), *title = cb_node_get(root, "title");
  long long version;
  if (!format)
    return cb_node_fail(root, "the key `curvebody` is missing: `curvebody: %d` says which form the scenario has",
                        FORMAT);
  const cb_status status = cb_node_int(format, &version);
  if (status) return status;
  if (version != FORMAT)
    return cb_node_fail(format, "scenarios of form %lld are not known; expected %d", version, FORMAT);
  s->title = "";
  return title ? cb_node_string(title, &s->title) : CB_OK;
}

/* A failure of the builder at its end, with the place of what it is about. */
static cb_status place_failure(const cb_node *root, const cb_node *system) {
  const cb_node *constraints = cb_node_get(system ? system : root, "constraints");
  const bool of_constraint = constraints && !strncmp(cb_error_text(), "constraint `", 12);
  return cb_node_fail(of_constraint ? constraints
                      : system      ? system
                                    : cb_node_get(root, "bodies"),
                      "%s", cb_error_text());
}

static cb_status read_particles(cb_scenario *s, const cb_node *root) {
  const cb_node *system = cb_node_get(root, "system");
  cb_status status;
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
  if (status) return status;
  status = cb_builder_finish(s->builder, &s->system);
  return status && status != CB_ERROR_MEMORY && status != CB_ERROR_INPUT ? place_failure(root, system) : status;
}

static cb_status read_locomotion(cb_scenario *s, const cb_node *root) {
  cb_status status = cb_scenario_read_bundle(s, cb_node_get(root, "bundle"));
  if (!status) status = cb_scenario_read_gait(s, cb_node_get(root, "gait"));
  if (!status) status = cb_scenario_read_group(s, cb_node_get(root, "start"));
  return status;
}

static cb_status read_all(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  const about *kind = NULL;
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  cb_status status = check_keys(root, &kind);
  if (!status) status = check_format(s, root);
  if (status) return status;
  const cb_node *fluid = cb_node_get(root, "fluid");
  if (cb_node_get(root, "bundle")) {
    status = read_locomotion(s, root);
  } else if (fluid) {
    status = cb_scenario_read_fluid(s, fluid);
    if (!status) status = cb_scenario_read_immersed(s, cb_node_get(root, "bodies"));
  } else {
    status = read_particles(s, root);
  }
  if (!status) status = cb_scenario_read_run(s, root);
  if (!status) status = cb_scenario_resolve(s, root);
  return status;
}

/* A bundle by itself or with its gait: no run is made. */
static cb_status read_bundle(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  static const char *const keys[] = {"curvebody", "title", "bundle", "gait", "start", "integrator", "time", "record"};
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  if (!cb_node_get(root, "bundle"))
    return cb_node_fail(root, "the key `bundle` is missing: see `curvebody list bundles`");
  cb_status status = cb_node_check_keys(root, keys, sizeof keys / sizeof *keys);
  if (!status) status = check_format(s, root);
  return status ? status : read_locomotion(s, root);
}

/* file: that the tree was read from; NULL: a text. */
static cb_status finish(cb_tree *tree, const char *file, const char *const *sets, size_t n,
                        cb_status (*read)(cb_scenario *s), cb_scenario **out) {
  cb_arena *arena = cb_arena_create();
  cb_scenario *s = arena ? cb_arena_alloc(arena, 1, sizeof *s) : NULL;
  if (!s) return cb_arena_free(arena), cb_tree_free(tree), cb_fail(CB_ERROR_MEMORY, "no memory for a scenario");
  s->arena = arena;
  s->tree = tree;
  cb_status status = file ? cb_scenario_add_file(s, file) : CB_OK;
  const cb_node *was = cb_tree_root(tree);
  for (size_t i = 0; i < n && !status; i++) status = cb_tree_set(tree, sets[i]);
  if (!status) status = cb_scenario_change_classes(s, was);
  if (!status) status = read(s);
  if (status) return cb_scenario_free(s), status;
  *out = s;
  return CB_OK;
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
  cb_system_free(s->system);
  cb_builder_free(s->builder);
  cb_geometry_free(s->space);
  cb_immersion_free(s->immersion);
  cb_locomotion_free(s->locomotion);
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

int cb_scenario_bodies(const cb_scenario *s) { return s->immersion ? s->immersion->n : 0; }
const char *cb_scenario_body_name(const cb_scenario *s, int i) { return s->immersion->body[i].name; }
const cb_immersed *cb_scenario_body(const cb_scenario *s, int i) { return s->immersion->body[i].body; }

int cb_scenario_compression(const cb_scenario *s) { return s->compression; }
