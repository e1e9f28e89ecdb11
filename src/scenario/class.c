/* Maps whose keys are those of a class that one of them names, as `integrator: {name: lobatto, stages: 4}`.
 *
 * Where --set names another class, keys of the former one that the new one does not know go with it. Keys that neither
 * knows stay, and are refused when the map is read; so do keys that --set gives itself.
 */
#include "tree/scalar.h"
#include "scenario/bundle.h"
#include "scenario/kind.h"
#include "scenario/warnings.h"

#include <curvebody/body.h>
#include <stdio.h>
#include <string.h>

typedef struct kind {
  const char *name; /* NULL: there is no such class */
  const cb_param *params;
} kind;

#define KIND_AT(function, classes)                                                         \
  static kind function(size_t i) {                                                         \
    return classes[i] ? (kind){classes[i]->name, classes[i]->params} : (kind){NULL, NULL}; \
  }
KIND_AT(integrator_at, cb_integrator_classes)
KIND_AT(body_at, cb_body_classes)
KIND_AT(shape_at, cb_shape_classes)
KIND_AT(space_at, cb_geometry_classes)
KIND_AT(fluid_model_at, cb_fluid_model_classes)

static kind bundle_at(size_t i) {
  size_t n = 0;
  while (cb_bundle_classes[n]) n++;
  if (i < n) return (kind){cb_bundle_classes[i]->name, cb_bundle_classes[i]->params};
  const cb_bundle_kind *other = cb_bundle_kinds[i - n];
  return other ? (kind){other->name, other->params} : (kind){NULL, NULL};
}

typedef struct family {
  const char *path;          /* of its maps; `*`: every item of a list */
  const char *key;           /* that names the class */
  const char *what;          /* a class is called in messages */
  kind (*at)(size_t i);      /* its classes */
  const char *const *shared; /* keys of all of them, ended by NULL */
} family;

static const char *const of_integrator[] = {"name", "step", "retries", NULL},
                         *const of_space[] = {"name", "chart", "picture", NULL},
                         *const of_body[] = {"kind", "name", "place", "motion", NULL},
                         *const of_shape[] = {"name", NULL}, *const of_bundle[] = {"name", "coordinates", NULL};
static const family families[] = {{"integrator", "name", "integrator", integrator_at, of_integrator},
                                  {"space", "name", "space", space_at, of_space},
                                  {"bodies.*", "kind", "kind of body", body_at, of_body},
                                  {"bodies.*.shape", "name", "shape", shape_at, of_shape},
                                  {"fluid.model", "name", "fluid model", fluid_model_at, of_shape},
                                  {"fluid.model.*", "name", "fluid model", fluid_model_at, of_shape},
                                  {"bodies.*.model", "name", "fluid model", fluid_model_at, of_shape},
                                  {"bodies.*.model.*", "name", "fluid model", fluid_model_at, of_shape},
                                  {"fluid.added_mass", "name", "fluid model", fluid_model_at, of_shape},
                                  {"bodies.*.added_mass", "name", "fluid model", fluid_model_at, of_shape},
                                  {"bundle", "name", "bundle", bundle_at, of_bundle},
                                  {"bundle.shape", "name", "shape", shape_at, of_shape},
                                  {"bodies.*.shape.*.shape", "name", "shape", shape_at, of_shape},
                                  {"bundle.shape.*.shape", "name", "shape", shape_at, of_shape},
                                  {"bundle.added_mass", "name", "fluid model", fluid_model_at, of_shape},
                                  {"bundle.space", "name", "space", space_at, of_space}};

static kind find(const family *f, const char *name) {
  size_t i = 0;
  while (name && f->at(i).name && strcmp(f->at(i).name, name)) i++;
  return name ? f->at(i) : (kind){NULL, NULL};
}

static bool has_key(const family *f, kind k, const char *key) {
  for (const char *const *shared = f->shared; *shared; shared++)
    if (!strcmp(*shared, key)) return true;
  for (const cb_param *row = k.params; row && row->name; row++)
    if (!strcmp(row->name, key)) return true;
  return false;
}

static const family *family_of(const char *path) {
  const family *f = families;
  while (strcmp(f->path, path)) f++;
  return f;
}

cb_status cb_scenario_check_class(const char *path, const cb_node *map) {
  const family *f = family_of(path);
  size_t shared = 0;
  while (f->shared[shared]) shared++;
  if (map->kind != CB_NODE_MAP || cb_node_get(map, f->key)) return CB_OK;
  for (size_t i = 0; i < map->count; i++) {
    const char *key = map->keys[i]->text;
    bool known = has_key(f, (kind){NULL, NULL}, key);
    for (size_t k = 0; f->at(k).name && !known; k++) known = has_key(f, f->at(k), key);
    if (!known && cb_nearest_name(key, &f->key, 1)) return cb_fail_unknown(map->keys[i], "key", key, f->shared, shared);
  }
  return CB_OK;
}

cb_status cb_scenario_check_map(const char *path, const cb_node *map) {
  enum { MOST_NAMES = 128 };
  static const cb_param none[] = {{0}};
  const family *f = family_of(path);
  const cb_node *name = map->kind == CB_NODE_SCALAR ? map : cb_node_get(map, f->key);
  size_t shared = 0, n = 0;
  const char *names[MOST_NAMES];
  while (f->shared[shared]) shared++;
  if (!name || name->kind != CB_NODE_SCALAR) return CB_OK; /* its class is not known */
  const kind k = find(f, name->text);
  for (; n < MOST_NAMES && f->at(n).name; n++) names[n] = f->at(n).name;
  if (!k.name) return cb_fail_unknown(name, f->what, name->text, names, n);
  if (map->kind != CB_NODE_MAP) return CB_OK;
  return cb_params_bind(k.params ? k.params : none, map, map, f->shared, shared, NULL);
}

typedef struct change {
  cb_arena *arena;
  const family *family;
  const char *usual; /* class of a map that names none */
  cb_text *notes;
  bool failed; /* no memory */
} change;

static const char *name_of(const change *c, const cb_node *map) {
  const cb_node *name = cb_node_get(map, c->family->key);
  return !name ? c->usual : name->kind == CB_NODE_SCALAR ? name->text : NULL;
}

/* Does --set give this value, or one below it? */
static bool is_set(const cb_node *node) {
  if (cb_node_is_set(node)) return true;
  for (size_t i = 0; i < node->count; i++)
    if (is_set(node->items[i])) return true;
  return false;
}

/* node with room for as many items. */
static cb_node *copy_of(change *c, const cb_node *node) {
  cb_node *copy = cb_arena_alloc(c->arena, 1, sizeof *copy);
  const cb_node **items = cb_arena_alloc(c->arena, node->count, sizeof *items),
                **keys = node->kind == CB_NODE_MAP ? cb_arena_alloc(c->arena, node->count, sizeof *keys) : NULL;
  if (!copy || !items || (node->kind == CB_NODE_MAP && !keys)) return c->failed = true, NULL;
  *copy = *node;
  copy->items = items;
  copy->keys = keys;
  memcpy(items, node->items, node->count * sizeof *items);
  if (keys) memcpy(keys, node->keys, node->count * sizeof *keys);
  return copy;
}

static void take_note(change *c, const char *key, kind was, kind now) {
  char note[512];
  snprintf(note, sizeof note, "# %s: `%s` of %s is left out, %s has no such key\n", c->family->path, key, was.name,
           now.name);
  cb_text_puts(c->notes, note);
}

static const cb_node *without_foreign(change *c, const cb_node *now, const cb_node *was) {
  const kind before = find(c->family, name_of(c, was)), after = find(c->family, name_of(c, now));
  if (!before.name || !after.name || before.name == after.name) return now;
  cb_node *copy = copy_of(c, now);
  if (!copy) return now;
  copy->count = 0;
  for (size_t i = 0; i < now->count; i++) {
    const char *key = now->keys[i]->text;
    if (!is_set(now->items[i]) && has_key(c->family, before, key) && !has_key(c->family, after, key)) {
      take_note(c, key, before, after);
      continue;
    }
    copy->keys[copy->count] = now->keys[i];
    copy->items[copy->count++] = now->items[i];
  }
  return copy;
}

/* The same along the rest of the family's path, below `now` that stood as `was`. */
static const cb_node *changed(change *c, const char *path, const cb_node *now, const cb_node *was) {
  if (!now || !was || now == was || now->kind != was->kind || c->failed) return now;
  if (!*path) return now->kind == CB_NODE_MAP ? without_foreign(c, now, was) : now;
  const size_t length = strcspn(path, ".");
  const char *rest = path + length + (path[length] == '.');
  const bool list = *path == '*';
  if (now->kind != (list ? CB_NODE_LIST : CB_NODE_MAP)) return now;
  cb_node *copy = copy_of(c, now);
  for (size_t i = 0; copy && i < now->count; i++) {
    if (list) {
      if (i < was->count) copy->items[i] = changed(c, rest, now->items[i], was->items[i]);
    } else if (strlen(now->keys[i]->text) == length && !strncmp(now->keys[i]->text, path, length)) {
      copy->items[i] = changed(c, rest, now->items[i], cb_node_get(was, now->keys[i]->text));
    }
  }
  return copy ? copy : now;
}

cb_status cb_scenario_change_classes(cb_scenario *s, const cb_node *was) {
  cb_text notes = {0};
  const cb_scenario_kind *about = cb_scenario_kind_of(was);
  change c = {.arena = s->tree->arena, .notes = &notes};
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    c.family = &families[f];
    c.usual = NULL;
    if (c.family->at == integrator_at) c.usual = about ? about->method : cb_scenario_kind_space.method;
    s->tree->root = changed(&c, c.family->path, s->tree->root, was);
  }
  s->notes = notes.data && !c.failed ? cb_arena_strndup(s->arena, notes.data, notes.length) : "";
  const bool lost = c.failed || notes.failed || !s->notes;
  cb_text_free(&notes);
  return lost ? cb_fail(CB_ERROR_MEMORY, "no memory for what is set") : CB_OK;
}

const char *cb_scenario_notes(const cb_scenario *s) { return s->notes; }
