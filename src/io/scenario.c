/* From a YAML file to a run that is ready to go. */
#include "core/scalar.h"
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
  cb_status (*read)(cb_scenario *s, const cb_node *root);
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
static cb_status read_particles(cb_scenario *s, const cb_node *root),
    read_swimmers(cb_scenario *s, const cb_node *root), read_locomotion(cb_scenario *s, const cb_node *root);
static const about kinds[] = {{"bundle", of_bundle, not_of_bundle, read_locomotion},
                              {"fluid", of_fluid, not_of_fluid, read_swimmers},
                              {"system", of_system, not_of_system, read_particles},
                              {"space", of_space, not_of_space, read_particles}};

static const char *const keys[] = {"curvebody", "title",      "space",        "system",      "fluid",    "bundle",
                                   "bodies",    "potentials", "interactions", "constraints", "contacts", "walls",
                                   "events",    "gait",       "start",        "integrator",  "time",     "record"};
enum { KEYS = sizeof keys / sizeof *keys, KINDS = sizeof kinds / sizeof *kinds };

const cb_node *cb_scenario_section(const cb_node *root, const char *key) {
  const cb_node *node = cb_node_get(root, key);
  return node ? node : cb_node_misspelt(root, key, keys, KEYS);
}

/* NULL where no key says so. */
static const about *kind_of(const cb_node *root) {
  for (int k = 0; k < KINDS; k++)
    if (cb_node_get(root, kinds[k].key)) return &kinds[k];
  for (int k = 0; k < KINDS; k++)
    if (cb_scenario_section(root, kinds[k].key)) return &kinds[k];
  return NULL;
}

/* Is there the key of another kind too? Then nothing is known of the rest. */
static bool is_of_two(const cb_node *root, const about *kind) {
  if (kind->read != read_locomotion && cb_node_get(root, "gait")) return true;
  for (int k = 0; k < KINDS; k++)
    if (&kinds[k] != kind && cb_node_get(root, kinds[k].key)) return true;
  return false;
}

static cb_status check_keys(const cb_node *root, const about *kind) {
  const cb_node *gait = cb_node_get(root, "gait");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, keys, KEYS));
  if (!kind && gait) {
    cb_errors_add(&errors, gait, cb_node_fail(gait, "the key `bundle` is missing: the bundle that the gait moves in"));
    return cb_errors_end(&errors);
  }
  if (!kind) kind = &kinds[KINDS - 1];
  for (const char *const *key = kind->foreign; *key; key++) {
    const cb_node *node = cb_node_get(root, *key);
    if (!node) continue;
    cb_errors_add(&errors, node, cb_node_fail(node, "`%s` beside `%s`: expected one or the other", *key, kind->key));
  }
  for (const char *const *key = kind->required; *key && !is_of_two(root, kind); key++)
    if (!cb_scenario_section(root, *key))
      cb_errors_add(&errors, root, cb_node_fail(root, "the key `%s` is missing", *key));
  return cb_errors_end(&errors);
}

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

/* A failure of the builder at its end, with the place of what it is about. */
static cb_status place_failure(const cb_node *root, const cb_node *system) {
  const cb_node *constraints = cb_node_get(system ? system : root, "constraints");
  const bool of_constraint = constraints && cb_failure_last().kind == CB_FAILURE_CONSTRAINT;
  return cb_node_fail(of_constraint ? constraints
                      : system      ? system
                                    : cb_scenario_section(root, "bodies"),
                      "%s", cb_error_text());
}

/* What everything else is in: a builder, unless that fails. */
static cb_status read_world(cb_scenario *s, const cb_node *root) {
  const cb_node *system = cb_scenario_section(root, "system"), *space = cb_scenario_section(root, "space");
  cb_status status = CB_OK;
  if (system) {
    if ((status = cb_scenario_read_system(s, system))) cb_builder_free(s->builder), s->builder = NULL;
  } else if (space && !(status = cb_scenario_read_space(s, space))) {
    status = cb_builder_create(s->space, &s->builder);
  }
  return status;
}

static cb_status read_particles(cb_scenario *s, const cb_node *root) {
  const cb_node *system = cb_scenario_section(root, "system"), *bodies = cb_scenario_section(root, "bodies");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, read_world(s, root));
  if (!system && bodies) cb_errors_add(&errors, bodies, cb_scenario_read_bodies(s, bodies));
  if (!system)
    cb_errors_add(
        &errors, root,
        cb_scenario_read_forces(s, cb_scenario_section(root, "potentials"), cb_scenario_section(root, "interactions")));
  if (!system) cb_errors_add(&errors, root, cb_scenario_read_constraints(s, cb_scenario_section(root, "constraints")));
  cb_errors_add(&errors, root,
                cb_scenario_read_contacts(s, cb_scenario_section(root, "contacts"), cb_scenario_section(root, "walls"),
                                          cb_scenario_section(root, "events")));
  cb_errors_add(&errors, root, cb_scenario_read_start(s, cb_scenario_section(root, "start")));
  return cb_errors_end(&errors);
}

static cb_status finish_particles(cb_scenario *s, const cb_node *root) {
  const cb_status status = cb_builder_finish(s->builder, &s->system);
  return status && status != CB_ERROR_MEMORY && status != CB_ERROR_INPUT
             ? place_failure(root, cb_scenario_section(root, "system"))
             : status;
}

static cb_status read_swimmers(cb_scenario *s, const cb_node *root) {
  const cb_node *fluid = cb_scenario_section(root, "fluid"), *bodies = cb_scenario_section(root, "bodies");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, fluid, cb_scenario_read_fluid(s, fluid));
  if (bodies && s->immersion) cb_errors_add(&errors, bodies, cb_scenario_read_immersed(s, bodies, !errors.status));
  return cb_errors_end(&errors);
}

static cb_status read_locomotion(cb_scenario *s, const cb_node *root) {
  const cb_node *bundle = cb_scenario_section(root, "bundle");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, bundle, cb_scenario_read_bundle(s, bundle));
  cb_errors_add(&errors, cb_scenario_section(root, "gait"),
                cb_scenario_read_gait(s, cb_scenario_section(root, "gait")));
  cb_errors_add(&errors, cb_scenario_section(root, "start"),
                cb_scenario_read_group(s, cb_scenario_section(root, "start")));
  return cb_errors_end(&errors);
}

static cb_status read_all(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  const about *kind = kind_of(root);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, check_keys(root, kind));
  cb_errors_add(&errors, root, check_format(s, root));
  if (kind ? is_of_two(root, kind) : cb_node_get(root, "gait") != NULL) return cb_errors_end(&errors);
  cb_errors_add(&errors, root, (kind ? kind->read : read_particles)(s, root));
  if (!errors.status && s->builder) cb_errors_add(&errors, root, finish_particles(s, root));
  cb_errors_add(&errors, root, cb_scenario_read_run(s, root, !errors.status));
  const cb_status status = cb_errors_end(&errors);
  return status ? status : cb_scenario_resolve(s, root);
}

/* A bundle by itself or with its gait: no run is made. */
static cb_status read_bundle(cb_scenario *s) {
  const cb_node *root = cb_tree_root(s->tree);
  static const char *const of_gait[] = {"curvebody", "title",      "bundle", "gait",
                                        "start",     "integrator", "time",   "record"};
  if (root->kind != CB_NODE_MAP)
    return cb_node_fail(root, "expected a scenario: a map that begins with `curvebody: %d`", FORMAT);
  if (!cb_scenario_section(root, "bundle"))
    return cb_node_fail(root, "the key `bundle` is missing: see `curvebody list bundles`");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root, cb_node_check_keys(root, of_gait, sizeof of_gait / sizeof *of_gait));
  cb_errors_add(&errors, root, check_format(s, root));
  cb_errors_add(&errors, root, read_locomotion(s, root));
  return cb_errors_end(&errors);
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
