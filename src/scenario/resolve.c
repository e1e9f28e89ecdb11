/* Makes the resolved scenario: every map with its defaults, as YAML that has the same meaning in any folder. Numbers
 * keep their text, so that a run from the resolved scenario repeats the original run bit for bit.
 *
 * The first part makes the title, the texts and the attributes of a record, which document its origin, and the digests
 * of its inputs.
 */
#include "scenario/private.h"

#include "bodies/place.h"
#include "bundle/gait_private.h"
#include "core/file.h"
#include "core/threads.h"
#include "core/registry.h"
#include "optimum/effort.h"
#include "scenario/bundle_scenario.h"
#include "scenario/cycle.h"
#include "scenario/fluid.h"
#include <curvebody/constraint.h>

#include <errno.h>
#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_version.h>
#include <yaml.h>

/* --- title, texts and attributes of a record --- */

#ifndef CURVEBODY_GIT_COMMIT
#define CURVEBODY_GIT_COMMIT "unknown"
#endif

static const char *compiler(void) {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

const cb_record_layout *cb_scenario_layout(cb_scenario *s) {
  cb_record_layout *layout = cb_run_layout(s->run);
  /* the version of the headers is also that of the library: HDF5 works with no other version */
  snprintf(s->hdf5, sizeof s->hdf5, "%d.%d.%d", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
  if (SUNDIALSGetVersion(s->sundials, sizeof s->sundials)) strcpy(s->sundials, "unknown");
  snprintf(s->moved, sizeof s->moved, "%.17g", cb_run_start_position_change(s->run));
  snprintf(s->turned, sizeof s->turned, "%.17g", cb_run_start_velocity_change(s->run));
  cb_scenario_sha256(cb_tree_source(s->tree), strlen(cb_tree_source(s->tree)), s->source_digest);
  const cb_system *system = cb_scenario_system(s);
  const bool constrained = system && cb_system_constraints(system) > 0;
  const char *const pairs[] = {"curvebody_version",
                               CB_VERSION,
                               "git_commit",
                               CURVEBODY_GIT_COMMIT,
                               "scenario_sha256",
                               s->source_digest,
                               "compiler",
                               compiler(),
                               "isa",
                               cb_isa_name(),
                               s->class->attribute,
                               s->class->subject(s),
                               "integrator",
                               s->integrator->class_->name,
                               "solver",
                               s->integrator->solver,
                               "gsl_version",
                               gsl_version,
                               "sundials_version",
                               s->sundials,
                               "hdf5_version",
                               s->hdf5,
                               "libyaml_version",
                               yaml_get_version_string(),
                               *s->inputs ? "inputs_sha256" : "inputs",
                               *s->inputs ? s->inputs : "none",
                               constrained ? "start_position_change" : NULL,
                               s->moved,
                               "start_velocity_change",
                               s->turned,
                               NULL};
  memcpy(s->attributes, pairs, sizeof pairs);
  layout->title = s->title;
  layout->scenario_source = cb_tree_source(s->tree);
  layout->scenario_resolved = s->resolved;
  layout->attributes = s->attributes;
  return layout;
}

/* --- digests of the scenario's text and of its input files ---
 *
 * A record contains neither meshes nor poses, but the digests show whether a mesh or poses have changed since the start
 * of the run.
 */

enum { LARGEST = 1 << 30 };

void cb_scenario_sha256(const void *data, size_t n, char hex[CB_SCENARIO_DIGEST]) {
  struct sha256_ctx context;
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&context);
  sha256_update(&context, n, data);
  sha256_digest(&context, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* Replaces s->inputs by the digest of the text of s->inputs followed by the digest of the data. */
void cb_scenario_add_data(cb_scenario *s, const void *data, size_t n) {
  char own[CB_SCENARIO_DIGEST], both[2 * CB_SCENARIO_DIGEST];
  cb_scenario_sha256(data, n, own);
  const int length = snprintf(both, sizeof both, "%s%s", s->inputs, own);
  cb_scenario_sha256(both, (size_t)length, s->inputs);
}

static cb_status add_input(cb_scenario *s, const char *path) {
  char *data;
  size_t n;
  const cb_status status = cb_read_whole_file(path, LARGEST, &data, &n);
  if (status) return status;
  cb_scenario_add_data(s, data, n);
  free(data);
  return CB_OK;
}

cb_status cb_scenario_add_file(cb_scenario *s, const char *path) {
  const bool full = (s->files & (s->files - 1)) == 0; /* the capacity is the next power of two */
  const char **file = full ? cb_arena_alloc(s->arena, s->files ? 2 * s->files : 1, sizeof *file) : s->file;
  const char *copy = cb_arena_strdup(s->arena, path);
  if (!file || !copy) return cb_fail(CB_ERROR_MEMORY, "no memory for the name %s", path);
  for (size_t i = 0; full && i < s->files; i++) file[i] = s->file[i];
  s->file = file;
  s->file[s->files++] = copy;
  return CB_OK;
}

cb_status cb_scenario_file(cb_scenario *s, const cb_node *node, const char **path) {
  char *name = cb_node_path(node);
  const cb_status status = name ? cb_scenario_add_file(s, name) : cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  free(name);
  if (!status) *path = s->file[s->files - 1];
  return status;
}

cb_files cb_scenario_files(const cb_scenario *s) { return (cb_files){s->file, s->files}; }

const char *cb_scenario_inputs(const cb_scenario *s) { return s->inputs; }

/* --- the resolved scenario --- */

static cb_node *new_map(cb_scenario *s, size_t count) {
  cb_node *map = cb_arena_alloc(s->arena, 1, sizeof *map);
  if (!map) return NULL;
  *map = (cb_node){.kind = CB_NODE_MAP, .file = "resolved", .line = 1, .column = 1, .count = count};
  map->keys = cb_arena_alloc(s->arena, count, sizeof *map->keys);
  map->items = cb_arena_alloc(s->arena, count, sizeof *map->items);
  return map->keys && map->items ? map : NULL;
}

/* Returns a copy of a node with new memory for its items, which are not copied. */
static cb_node *copy_of_list(cb_scenario *s, const cb_node *node) {
  cb_node *list = cb_arena_alloc(s->arena, 1, sizeof *list);
  if (!list) return NULL;
  *list = *node;
  list->items = cb_arena_alloc(s->arena, node->count, sizeof *list->items);
  return list->items ? list : NULL;
}

static const cb_node *new_text(cb_scenario *s, const char *text) {
  cb_node *node = cb_arena_alloc(s->arena, 1, sizeof *node);
  if (node) *node = (cb_node){.kind = CB_NODE_SCALAR, .file = "resolved", .line = 1, .column = 1, .text = text};
  return node;
}

/* Turns a scalar in short form, such as `space: h3`, into a map with the key `name`; returns other nodes unchanged. */
static const cb_node *as_map(cb_scenario *s, const cb_node *node) {
  if (!node || node->kind != CB_NODE_SCALAR) return node;
  cb_node *map = new_map(s, 1);
  if (!map || !(map->keys[0] = new_text(s, "name"))) return NULL;
  map->items[0] = node;
  return map;
}

/* Returns a map with the defaults of a table added; NULL if map is NULL, because it could not be made. */
static const cb_node *with_defaults(cb_scenario *s, const cb_param *table, const cb_node *map) {
  return map ? cb_params_resolved(table, map, s->arena) : NULL;
}

/* Makes a node with the absolute path of an input file, because the resolved scenario is also read from a record, which
 * may be in another folder. Adds the file to the digest of the inputs. Returns NULL on failure; if the file cannot be
 * read, s->unread is set. */
static const cb_node *absolute(cb_scenario *s, const cb_node *file) {
  char *path = cb_node_path(file), *real = path ? realpath(path, NULL) : NULL;
  const char *text = real ? cb_arena_strdup(s->arena, real) : NULL;
  cb_status status = path && !real ? cb_fail_file(path, "read", errno) : CB_OK;
  if (text) status = add_input(s, text);
  if (status) text = NULL;
  if (!s->unread) s->unread = status;
  free(path);
  free(real);
  return text ? new_text(s, text) : NULL;
}

/* Copies map with another value for one of its keys. */
static const cb_node *replaced(cb_scenario *s, const cb_node *map, const char *key, const cb_node *value) {
  cb_node *copy = value ? new_map(s, map->count) : NULL;
  for (size_t i = 0; copy && i < map->count; i++) {
    copy->keys[i] = map->keys[i];
    copy->items[i] = strcmp(map->keys[i]->text, key) ? map->items[i] : value;
  }
  return copy;
}

/* Adds the defaults of the body, but not the default masses and charges if other keys of the body give them. */
const cb_node *cb_scenario_resolve_body(cb_scenario *s, const cb_node *node) {
  const cb_node *full = cb_body_resolved(node, s->arena), *mesh = cb_node_get(node, "mesh"),
                *file = cb_node_get(mesh, "file");
  cb_node *copy = full ? new_map(s, full->count) : NULL;
  if (!copy) return NULL;
  const bool masses = cb_node_get(node, "masses") || cb_node_get(node, "density"),
             charges = cb_node_get(node, "charges");
  copy->count = 0;
  for (size_t i = 0; i < full->count; i++) {
    const char *key = full->keys[i]->text;
    if (!cb_node_get(node, key) && ((masses && !strcmp(key, "mass")) || (charges && !strcmp(key, "charge")))) continue;
    copy->keys[copy->count] = full->keys[i];
    copy->items[copy->count++] = full->items[i];
  }
  return file ? replaced(s, copy, "mesh", replaced(s, mesh, "file", absolute(s, file))) : copy;
}

/* Copies map with the absolute path of the file at `key`, if it has that key. */
static const cb_node *placed(cb_scenario *s, const cb_node *map, const char *key) {
  const cb_node *file = cb_node_get(map, key);
  return file ? replaced(s, map, key, absolute(s, file)) : map;
}

/* Makes the path of numbered files at `key` absolute. The pattern is not the name of a file, so realpath is applied
 * only to its folder. */
static const cb_node *placed_pattern(cb_scenario *s, const cb_node *map, const char *key) {
  const cb_node *pattern = cb_node_get(map, key);
  if (!pattern) return map;
  char *path = cb_node_path(pattern), *slash = path ? strrchr(path, '/') : NULL;
  if (slash) *slash = 0;
  char *folder = path ? realpath(slash ? path : ".", NULL) : NULL;
  const char *name = slash ? slash + 1 : path;
  const size_t size = folder ? strlen(folder) + strlen(name) + 2 : 1;
  char *text = cb_arena_alloc(s->arena, size, 1);
  if (folder && text) snprintf(text, size, "%s/%s", folder, name);
  free(folder);
  free(path);
  return text && *text ? replaced(s, map, key, new_text(s, text)) : NULL;
}

/* Copies map without a key. */
static const cb_node *without(cb_scenario *s, const cb_node *map, const char *key) {
  cb_node *copy = map ? new_map(s, map->count) : NULL;
  if (!copy) return NULL;
  copy->count = 0;
  for (size_t i = 0; i < map->count; i++) {
    if (!strcmp(map->keys[i]->text, key)) continue;
    copy->keys[copy->count] = map->keys[i];
    copy->items[copy->count++] = map->items[i];
  }
  return copy;
}

/* Returns a gait with its defaults, and the gait itself in place of the name of its file. *bundle: as in
 * cb_scenario_find_gait. */
static const cb_node *resolved_gait(cb_scenario *s, const cb_node *node, const cb_node **bundle) {
  if (cb_scenario_find_gait(s, node, &node, bundle)) return NULL;
  return cb_gait_resolved(node, s->arena);
}

/* Copies map with the absolute paths of the files of its poses, and with their gait. */
static const cb_node *placed_poses(cb_scenario *s, const cb_node *map) {
  const cb_node *poses = cb_node_get(map, "poses"), *gait = cb_node_get(poses, "gait"), *full, *bundle;
  if (!poses) return map;
  if (gait && cb_scenario_gait_poses(s, poses, &poses, &full)) return NULL;
  if (gait) poses = replaced(s, poses, "gait", without(s, resolved_gait(s, full, &bundle), "repeat"));
  return poses ? replaced(s, map, "poses", placed_pattern(s, placed(s, poses, "sequence"), "files")) : NULL;
}

/* Returns the node of a fluid model with its defaults. */
static const cb_node *fluid_model(cb_scenario *s, const cb_node *node) {
  const cb_node *name = node->kind == CB_NODE_MAP ? cb_node_get(node, "name") : NULL;
  const cb_fluid_model_class *const *c = cb_fluid_model_classes;
  while (name && *c && strcmp((*c)->name, name->text)) c++;
  return name && *c ? with_defaults(s, (*c)->params, node) : node;
}

static const cb_node *fluid_models(cb_scenario *s, const cb_node *node) {
  if (node->kind != CB_NODE_LIST) return fluid_model(s, node);
  cb_node *list = copy_of_list(s, node);
  for (size_t i = 0; list && i < node->count; i++)
    if (!(list->items[i] = fluid_model(s, node->items[i]))) return NULL;
  return list;
}

/* Copies map with the defaults of the fluid models at `key`. */
static const cb_node *with_models(cb_scenario *s, const cb_node *map, const char *key) {
  const cb_node *given = map ? cb_node_get(map, key) : NULL;
  return given ? replaced(s, map, key, fluid_models(s, given)) : map;
}

/* Copies map with the absolute paths of the files of the pieces of its shape. */
static const cb_node *placed_pieces(cb_scenario *s, const cb_node *map) {
  const cb_node *shape = map ? cb_node_get(map, "shape") : NULL;
  if (!shape || shape->kind != CB_NODE_LIST) return map;
  cb_node *list = copy_of_list(s, shape);
  for (size_t i = 0; list && i < shape->count; i++)
    if (!(list->items[i] = placed(s, shape->items[i], "mesh"))) return NULL;
  return replaced(s, map, "shape", list);
}

const cb_node *cb_scenario_resolve_immersed(cb_scenario *s, const cb_node *node) {
  const cb_node *full =
      with_models(s, with_models(s, with_defaults(s, cb_immersed_table, node), "model"), "added_mass");
  if (cb_node_get(node, "inertial")) full = without(s, full, "density");
  return full ? placed_poses(s, placed_pieces(s, placed(s, full, "mesh"))) : NULL;
}

/* Returns the node of a flow with the defaults of its class, or with the absolute path of its file. */
static const cb_node *flow_of(cb_scenario *s, const cb_node *node) {
  const char *name = node->keys[0]->text;
  const cb_fluid_flow_class *c = cb_fluid_flow_classes[cb_registry_find(&cb_fluid_flow_registry, name, strlen(name))];
  if (c->from_grid) return placed(s, node, name);
  return c->params ? replaced(s, node, name, with_defaults(s, c->params, node->items[0])) : node;
}

static const cb_node *flows_of(cb_scenario *s, const cb_node *node) {
  if (node->kind != CB_NODE_LIST) return flow_of(s, node);
  cb_node *list = copy_of_list(s, node);
  for (size_t i = 0; list && i < node->count; i++)
    if (!(list->items[i] = flow_of(s, node->items[i]))) return NULL;
  return list;
}

/* Returns the node of a medium with the defaults of its class; NAME becomes {NAME: ..} if the class has keys. */
static const cb_node *medium_of(cb_scenario *s, const cb_node *node) {
  const bool named = node->kind != CB_NODE_MAP;
  const cb_node *key = named ? node : node->keys[0];
  const cb_fluid_medium_class *c =
      cb_fluid_medium_classes[cb_registry_find(&cb_fluid_medium_registry, key->text, strlen(key->text))];
  if (!c || !c->params) return node;
  cb_node *map = new_map(s, 1);
  if (!map) return NULL;
  map->keys[0] = key;
  map->items[0] = cb_params_resolved(c->params, named ? NULL : node->items[0], s->arena);
  return map->items[0] ? map : NULL;
}

const cb_node *cb_scenario_resolve_fluid(cb_scenario *s, const cb_node *node) {
  const cb_node *full = cb_params_resolved(cb_fluid_table, node, s->arena), *flow = cb_node_get(full, "flow"),
                *floor = cb_node_get(full, "floor"), *medium = cb_node_get(full, "medium");
  if (flow) full = replaced(s, full, "flow", flows_of(s, flow));
  if (full && medium) full = replaced(s, full, "medium", medium_of(s, medium));
  full = with_models(s, with_models(s, full, "model"), "added_mass");
  return full && floor ? replaced(s, full, "floor", cb_params_resolved(cb_floor_table, floor, s->arena)) : full;
}

/* Besides adding the defaults, this function makes the paths of the bundle's files absolute. */
const cb_node *cb_scenario_resolve_bundle(cb_scenario *s, const cb_node *node) {
  const cb_node *map = as_map(s, node);
  const char *name = map ? cb_node_get(map, "name")->text : "";
  const cb_param *params = NULL;
  for (const cb_bundle_class *const *c = cb_bundle_classes; *c; c++)
    if (!strcmp((*c)->name, name)) params = (*c)->params;
  for (const cb_scenario_bundle_class *const *k = cb_scenario_bundles; *k; k++)
    if (!strcmp((*k)->name, name)) params = (*k)->params;
  if (params) map = with_defaults(s, params, map);
  return placed_poses(s, placed_pieces(s, placed(s, placed(s, map, "mesh"), "file")));
}

/* Returns the node of a joint with the defaults of the keys that all joints have, and of the keys of its class. */
static const cb_node *joint_of(cb_scenario *s, const cb_node *node) {
  const char *kind = cb_node_get(node, "kind")->text;
  cb_param rows[CB_JOINT_ROWS];
  cb_scenario_joint_rows(cb_joint_classes[cb_registry_find(&cb_joint_registry, kind, strlen(kind))], rows);
  return with_defaults(s, rows, node);
}

static const cb_node *completed(cb_scenario *s, const char *key, const cb_node *node) {
  const cb_node *bundle;
  if (!strcmp(key, "space")) {
    const cb_node *map = as_map(s, node);
    return with_defaults(s, s->space->class_->params, map);
  }
  if (!strcmp(key, "integrator"))
    return with_defaults(s, s->integrator->class_->params, with_defaults(s, cb_scenario_table(s, key), node));
  if (!strcmp(key, s->class->name) && s->class->resolve) return s->class->resolve(s, node);
  if (!strcmp(key, "gait")) return resolved_gait(s, node, &bundle);
  if (!strcmp(key, "flow")) return flows_of(s, node);
  if (!strcmp(key, "shape")) {
    cb_node *map = new_map(s, node->count);
    for (size_t i = 0; map && i < node->count; i++) {
      const cb_node *item = node->items[i];
      map->keys[i] = node->keys[i];
      const bool variable = item->kind == CB_NODE_MAP && strcmp(node->keys[i]->text, "parameters") != 0;
      cb_param rows[CB_SHAPE_ROWS];
      cb_shape_variable_rows(item, s->integrator->class_->solves == &cb_problem_shapes_with_drag, rows);
      map->items[i] = variable ? with_defaults(s, rows, item) : item;
      if (!map->items[i]) return NULL;
    }
    return map;
  }
  if (!strcmp(key, "bodies")) {
    cb_node *list = copy_of_list(s, node);
    for (size_t i = 0; list && i < node->count; i++)
      if (!(list->items[i] = s->class->resolve_body(s, node->items[i]))) return NULL;
    return list;
  }
  if (!strcmp(key, "joints")) {
    cb_node *list = copy_of_list(s, node);
    for (size_t i = 0; list && i < node->count; i++)
      if (!(list->items[i] = joint_of(s, node->items[i]))) return NULL;
    return list;
  }
  const cb_param *table = cb_scenario_table(s, key);
  return table ? cb_params_resolved(table, node, s->arena) : node;
}

cb_status cb_scenario_resolve(cb_scenario *s, const cb_node *root) {
  const char *added[2];
  size_t more = 0;
  if (!cb_node_get(root, "record")) added[more++] = "record";
  if (!cb_node_get(root, "start") && cb_scenario_system(s) && cb_system_constraints(cb_scenario_system(s)))
    added[more++] = "start";
  cb_node *full = new_map(s, root->count + more);
  bool lost = !full;
  for (size_t i = 0; !lost && i < full->count; i++) {
    const bool given = i < root->count;
    full->keys[i] = given ? root->keys[i] : new_text(s, added[i - root->count]);
    full->items[i] = full->keys[i] ? completed(s, full->keys[i]->text, given ? root->items[i] : NULL) : NULL;
    lost = !full->items[i];
  }
  cb_text text = {0};
  if (!lost) cb_text_puts(&text, s->notes);
  if (!lost) lost = text.failed || cb_node_emit(full, &text) != CB_OK;
  if (!lost) s->resolved = cb_arena_strndup(s->arena, text.data, text.length);
  cb_text_free(&text);
  if (s->resolved || s->unread) return s->resolved ? CB_OK : s->unread;
  return cb_fail(CB_ERROR_MEMORY, "no memory for the resolved scenario");
}

/* Sets the key `gait` to the map of another gait. The keys `repeat` and `period` of the old map (the number of cycles
 * and the duration of a cycle) are kept, because a cb_gait does not contain these numbers. */
static cb_status set_gait(cb_scenario *s, const cb_gait *gait) {
  static const char *const kept[] = {"repeat", "period"};
  const cb_node *was = cb_node_get(cb_tree_root(s->tree), "gait"), *value[2], *bundle;
  cb_text text = {0};
  const cb_status found = cb_scenario_find_gait(s, was, &was, &bundle);
  if (found) return found;
  for (int k = 0; k < 2; k++) value[k] = cb_node_get(was, kept[k]);
  cb_text_puts(&text, "gait=");
  cb_status status = cb_gait_write(gait, &text);
  if (!status) status = cb_tree_set(s->tree, text.data);
  for (int k = 0; k < 2 && !status; k++) {
    if (!value[k]) continue;
    text.length = 0;
    cb_text_puts(&text, "gait.");
    cb_text_puts(&text, kept[k]);
    cb_text_puts(&text, "=");
    cb_text_puts(&text, value[k]->text);
    status = text.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a gait") : cb_tree_set(s->tree, text.data);
  }
  cb_text_free(&text);
  return status;
}

/* Copies the key `shape` for a scenario in which variables follow a gait. Leaves out the keys that would be errors in
 * such a scenario: `period`, and for driven variables the keys that only free variables may have. Searches for motions
 * allow such keys with the value 0. */
static const cb_node *shape_of_gait(cb_scenario *s, const cb_node *shape) {
  cb_node *copy = new_map(s, shape->count);
  if (copy) copy->count = 0;
  for (size_t i = 0; copy && i < shape->count; i++) {
    const cb_node *item = shape->items[i];
    if (!strcmp(shape->keys[i]->text, "period")) continue;
    copy->keys[copy->count] = shape->keys[i];
    copy->items[copy->count++] = item;
    if (item->kind != CB_NODE_MAP || !cb_node_get(item, "drive")) continue;
    cb_node *own = new_map(s, item->count);
    if (!own) return NULL;
    copy->items[copy->count - 1] = own;
    own->count = 0;
    cb_param rows[CB_SHAPE_ROWS];
    cb_shape_variable_rows(item, false, rows);
    for (size_t k = 0; k < item->count; k++)
      for (const cb_param *row = rows; row->name; row++) {
        if (strcmp(row->name, item->keys[k]->text)) continue;
        own->keys[own->count] = item->keys[k];
        own->items[own->count++] = item->items[k];
      }
  }
  return copy;
}

/* Appends a scenario with a bundle, in which the paths of the bundle's files are absolute. */
static cb_status emit_bundle(cb_scenario *s, cb_text *out) {
  const cb_node *root = cb_tree_root(s->tree), *own = cb_scenario_resolve_bundle(s, cb_node_get(root, "bundle")),
                *shape = cb_node_get(root, "gait") ? cb_node_get(root, "shape") : NULL;
  const cb_node *full = own ? replaced(s, root, "bundle", own) : NULL;
  if (full && shape && shape->kind == CB_NODE_MAP) full = replaced(s, full, "shape", shape_of_gait(s, shape));
  if (!full) return cb_fail(CB_ERROR_MEMORY, "no memory for a scenario");
  return cb_node_emit(full, out);
}

static cb_status set_number(cb_scenario *s, const char *key, double value) {
  char text[80];
  snprintf(text, sizeof text, "%s=%.17g", key, value);
  return cb_tree_set(s->tree, text);
}

/* Makes all shape variables follow the gait from the time 0, where its first cycle begins, for the duration of a motion
 * with inertia. A motion between two shapes is the first half of its gait. An integrator of another problem, such as
 * `magnus`, is replaced. */
static cb_status set_motion(cb_scenario *s) {
  const cb_bundle_scenario *m = cb_bundle_scenario_of(s);
  const cb_optimum_problem *p = &m->optimum->problem;
  char text[160];
  bool open = false;
  for (int i = 0; p->end_shape && i < m->bundle->n; i++) open |= p->end_shape[i] != p->start_shape[i];
  cb_status status = set_number(s, "gait.period", open ? 2 * p->duration : p->duration);
  if (!status) status = set_number(s, "optimum.duration", p->duration);
  if (!status && cb_node_get(cb_node_get(cb_tree_root(s->tree), "time"), "start"))
    status = set_number(s, "time.start", 0);
  if (!status) status = set_number(s, "time.end", p->duration);
  for (int i = 0; i < m->bundle->n && !status; i++) {
    const cb_node *own = cb_node_get(cb_node_get(cb_tree_root(s->tree), "shape"), m->bundle->shape[i]);
    if (own && own->kind == CB_NODE_SCALAR) continue;
    snprintf(text, sizeof text, "shape.%s.drive=gait", m->bundle->shape[i]);
    status = cb_tree_set(s->tree, text);
  }
  const cb_node *name = cb_node_get(cb_node_get(cb_tree_root(s->tree), "integrator"), "name");
  if (status || (name && name->kind == CB_NODE_SCALAR && !strcmp(name->text, "hamilton_pontryagin"))) return status;
  snprintf(text, sizeof text, "integrator={name: hamilton_pontryagin, step: %.17g}", p->duration / 1000);
  return cb_tree_set(s->tree, text);
}

cb_status cb_scenario_with_gait(cb_scenario *s, const cb_gait *gait, cb_text *out) {
  const cb_optimum_scenario *o = cb_bundle_scenario_of(s)->optimum;
  cb_status status = set_gait(s, gait);
  if (!status && o && cb_objective_is_effort(o->problem.objective)) status = set_motion(s);
  if (!status && !cb_node_get(cb_tree_root(s->tree), "integrator")) {
    char text[96];
    snprintf(text, sizeof text, "integrator={name: magnus, step: %.17g}", cb_bundle_scenario_of(s)->period / 100);
    status = cb_tree_set(s->tree, text);
  }
  return status ? status : emit_bundle(s, out);
}

cb_status cb_scenario_with_start(cb_scenario *s, const cb_shape_cycle *c, cb_text *out) {
  const cb_bundle_scenario *m = cb_bundle_scenario_of(s);
  const cb_bundle *b = m->bundle;
  const bool rates = s->integrator->class_->solves == &cb_problem_shapes_with_inertia;
  cb_status status = CB_OK;
  for (int i = 0; i < b->n; i++)
    for (int rate = 0; rate <= rates && !m->moving->variable[i].driven && !status; rate++) {
      char text[256];
      snprintf(text, sizeof text, "shape.%s.%s=%.17g", b->shape[i], rate ? "rate" : "start",
               rate ? c->rate[i] : c->start.r[i]);
      status = cb_tree_set(s->tree, text);
    }
  return status ? status : emit_bundle(s, out);
}
