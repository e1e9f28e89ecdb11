/* Maps that name a class, which determines their other keys, such as `integrator: {name: lobatto, stages: 4}`; and the
 * list of the maps that have no class.
 *
 * If --set names another class, keys of the former class that the new class does not have are removed. Keys that
 * neither class has are not removed, and cause an error when the map is read. Keys of another class that --set itself
 * gives cause an error, too.
 *
 * The last part loads plugins, which add their classes to the registries.
 */
#include "scenario/bundle_scenario.h"

#include "bodies/link.h"
#include "core/file.h"
#include "core/registry.h"
#include "scenario/private.h"
#include "scenario/warnings.h"
#include "tree/scalar.h"
#include <curvebody/body.h>
#include <curvebody/pair_potential.h>
#include <curvebody/plugin.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct kind {
  const char *name; /* NULL: no such class */
  const cb_param *params;
} kind;

static const kind no_kind = {NULL, NULL};

static kind integrator_at(size_t i) {
  const cb_integrator_class *class = cb_integrator_classes[i];
  return class ? (kind){class->name, class->params} : no_kind;
}

static kind body_at(size_t i) {
  const cb_body_class *class = cb_body_classes[i];
  return class ? (kind){class->name, class->params} : no_kind;
}

static kind shape_at(size_t i) {
  const cb_shape_class *class = cb_shape_classes[i];
  return class ? (kind){class->name, class->params} : no_kind;
}

static kind space_at(size_t i) {
  const cb_space_class *class = cb_space_classes[i];
  return class ? (kind){class->name, class->params} : no_kind;
}

static kind fluid_model_at(size_t i) {
  const cb_fluid_model_class *class = cb_fluid_model_classes[i];
  return class ? (kind){class->name, class->params} : no_kind;
}

static kind pair_potential_at(size_t i) {
  const cb_pair_potential_class *class = cb_pair_potential_classes[i];
  return class ? (kind){class->name, class->params} : no_kind;
}

static kind bundle_at(size_t i) {
  size_t n = 0;
  while (cb_bundle_classes[n]) n++;
  if (i < n) return (kind){cb_bundle_classes[i]->name, cb_bundle_classes[i]->params};
  const cb_scenario_bundle_class *other = cb_scenario_bundles[i - n];
  return other ? (kind){other->name, other->params} : no_kind;
}

typedef struct family {
  const char *path;          /* the path of the maps in a scenario; `*`: every item of a list */
  const char *key;           /* the key that names the class */
  const char *what;          /* the word for a class in messages */
  kind (*at)(size_t i);      /* class number i */
  const char *const *shared; /* keys that all classes have; the list ends at NULL */
} family;

static const char *const of_integrator[] = {"name", "step", "retries", NULL},
                         *const of_space[] = {"name", "chart", "plot", NULL},
                         *const of_body[] = {"kind", "name", "place", "motion", NULL},
                         *const of_shape[] = {"name", NULL}, *const of_bundle[] = {"name", "coordinates", NULL},
                         *const of_interaction[] = {"pair_potential", "between", "within", NULL},
                         *const of_centre[] = {"pair_potential", "at", "body", NULL};
static const family families[] = {
    {"integrator", "name", "integrator", integrator_at, of_integrator},
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
    {"bundle.space", "name", "space", space_at, of_space},
    {"interactions.*", "pair_potential", "pair potential", pair_potential_at, of_interaction},
    {"potentials.*.central", "pair_potential", "pair potential", pair_potential_at, of_centre}};

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
  enum { MAX_NAMES = 128 };
  static const cb_param none[] = {{0}};
  const family *f = family_of(path);
  const cb_node *name = map->kind == CB_NODE_SCALAR ? map : cb_node_get(map, f->key);
  size_t shared = 0, n = 0;
  const char *names[MAX_NAMES];
  while (f->shared[shared]) shared++;
  if (!name || name->kind != CB_NODE_SCALAR) return CB_OK; /* without a name there is no class to compare with */
  const kind k = find(f, name->text);
  for (; n < MAX_NAMES && f->at(n).name; n++) names[n] = f->at(n).name;
  if (!k.name) return cb_fail_unknown(name, f->what, name->text, names, n);
  if (map->kind != CB_NODE_MAP) return CB_OK;
  return cb_params_bind(k.params ? k.params : none, map, map, f->shared, shared, NULL);
}

typedef struct change {
  cb_arena *arena;
  const family *family;
  const char *usual; /* the default class of a map that names none */
  cb_text *notes;
  bool failed; /* there was no memory */
} change;

static const char *name_of(const change *c, const cb_node *map) {
  const cb_node *name = cb_node_get(map, c->family->key);
  return !name ? c->usual : name->kind == CB_NODE_SCALAR ? name->text : NULL;
}

/* Returns whether --set gives this value, or a value inside it. */
static bool is_set(const cb_node *node) {
  if (cb_node_is_set(node)) return true;
  for (size_t i = 0; i < node->count; i++)
    if (is_set(node->items[i])) return true;
  return false;
}

/* Returns a copy of node with its own memory for the items. */
static cb_node *copy_of(change *c, const cb_node *node) {
  cb_node *copy = cb_arena_alloc(c->arena, 1, sizeof *copy);
  const cb_node **items = cb_arena_alloc(c->arena, node->count, sizeof *items),
                **keys = node->kind == CB_NODE_MAP ? cb_arena_alloc(c->arena, node->count, sizeof *keys) : NULL;
  if (!copy || !items || (node->kind == CB_NODE_MAP && !keys)) {
    c->failed = true;
    return NULL;
  }
  *copy = *node;
  copy->items = items;
  copy->keys = keys;
  memcpy(items, node->items, node->count * sizeof *items);
  if (keys) memcpy(keys, node->keys, node->count * sizeof *keys);
  return copy;
}

static void take_note(change *c, const char *key, kind was, kind now) {
  char note[512];
  snprintf(note, sizeof note, "# %s: `%s` of %s is left out: %s has no such key\n", c->family->path, key, was.name,
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

/* Applies without_foreign to every map to which the path leads from the node `now`. was: the value of this node before
 * --set was applied. Returns the changed node. */
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
  const cb_configuration *about = cb_scenario_class_of(was);
  change c = {.arena = s->tree->arena, .notes = &notes};
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    c.family = &families[f];
    c.usual = NULL;
    if (c.family->at == integrator_at) c.usual = (about ? about : cb_scenario_usual_class())->integrator;
    s->tree->root = changed(&c, c.family->path, s->tree->root, was);
  }
  s->notes = notes.data && !c.failed ? cb_arena_strndup(s->arena, notes.data, notes.length) : "";
  const bool lost = c.failed || notes.failed || !s->notes;
  cb_text_free(&notes);
  return lost ? cb_fail(CB_ERROR_MEMORY, "no memory for the values of --set") : CB_OK;
}

const char *cb_scenario_notes(const cb_scenario *s) { return s->notes; }

/* --- the maps without a class, and the tables that read them --- */

/* Maps of particles. src/bodies/place.c and motion.c read these without a table, because their forms exclude each
 * other. */
#define KEY(key, type, fallback, doc) \
  { key, CB_PARAM_##type, 0, fallback, "", "", NULL, doc }
#define END \
  { NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }
static const cb_param place[] = {
    KEY("chart", STRING, "", "chart of `points`; if absent, the embedding, or the chart in which the space is used"),
    KEY("points", NODE, "", "list of points, one per particle"),
    KEY("at", NODE, "", "{chart: .., point: [..]}: the base point of `tangent`, instead of `points`"),
    KEY("tangent", NODE, "", "list of vectors in the frame at `at`: the exponential map of each gives a particle"),
    KEY("move", NODE, "", "list of {killing: NAME, by: NUMBER}: isometries applied afterwards, in order"),
    END};
static const cb_param motion[] = {
    KEY("killing", STRING, "", "Killing field that all particles follow, with `speed`"),
    KEY("speed", REAL, "nan", "factor of the Killing field"),
    KEY("chart", STRING, "",
        "chart of `velocities`; if absent, the embedding, or the chart in which the space is used"),
    KEY("velocities", NODE, "", "list of velocities, one per particle; the motions in a list of maps add up"), END};
static const cb_param link_rod[] = {{"length", CB_PARAM_NODE, 0, "", "units of length", "> 0", NULL,
                                     "a number or an expression of t; if absent, the distance at the start"},
                                    END};
typedef struct spring_keys {
  cb_spring_nodes spring;
} spring_keys;
static const cb_param link_spring[] = {CB_SPRING_ROWS(spring_keys, spring), END};

const cb_map_doc cb_map_docs[] = {
    {"time", "for particles, systems and bodies in a fluid", "", cb_time_table},
    {"time", "for gaits", "", cb_cycle_time_table},
    {"integrator", "for all scenarios except gaits, besides the keys of its class", "", cb_step_table},
    {"integrator", "for gaits, besides the keys of its class", "", cb_cycle_step_table},
    {"record", "for all scenarios", "", cb_record_table},
    {"start", "for particles and systems with constraints", "", cb_scenario_start_table},
    {"start", "for gaits", "", cb_group_table},
    {"controls.*", "for all scenarios with forces",
     "A number that expressions of forces use, and that changes between steps; or a number in place of the map",
     cb_control_table},
    {"shape", "for bundles whose shape moves by itself", "", cb_shape_table},
    {"shape.*", "for bundles whose shape moves by itself", "The keys of one shape variable", cb_shape_variable_table},
    {"bodies.*.place", "for particles", "`points`, or `at` and `tangent`", place},
    {"bodies.*.motion", "for particles", "A map, or a list of maps, which add up", motion},
    {"bodies.*.link.rod", "for particles", "", link_rod},
    {"bodies.*.link.spring", "for particles", "", link_spring},
    {"potentials.*.central", "for particles, and for bodies in a fluid in a curved space",
     "Besides the keys of its pair potential", cb_central_table},
    {"potentials.*.harmonic", "for particles", "", cb_harmonic_table},
    {"potentials.*.expression", "for particles, and for bodies in a fluid in a curved space", "", cb_field_table},
    {"interactions.*", "for particles", "Besides the keys of its pair potential", cb_interaction_table},
    {"interactions.*", "for particles, besides the key of a constraint", "A potential of the value s of the constraint",
     cb_value_table},
    {"interactions.*.spring", "for particles", "", cb_spring_table},
    {"forces.*", "for particles", "A force that need not have a potential", cb_force_table},
    {"bodies.*.place", "for bodies in a fluid", "", cb_place_table},
    {"bodies.*.motion", "for bodies in a fluid", "", cb_motion_table},
    {"bodies.*.repeat", "for bodies in a fluid", "", cb_repeat_table},
    {"bodies.*.parts.*", "for bodies in a fluid", "", cb_part_table},
    {"bodies.*.shape.*", "for bodies in a fluid", "Besides the keys of its class, if `shape` is a list",
     cb_piece_table},
    {"bodies.*.inertial", "for bodies in a fluid", "", cb_inertial_table},
    {"bodies.*.wrenches.*", "for bodies in a fluid", "", cb_wrench_table},
    {"joints.*", "for bodies in a fluid", "", cb_joint_table},
    {"bodies.*.poses", "for bodies in a fluid", "A sequence of meshes", cb_sequence_table},
    {NULL, NULL, NULL, NULL}};

/* --- plugins --- */

/* A type of class, such as spaces or integrators. text: its name; size: the size that the struct of a plugin must have;
 * registry: the list of its classes. A class needs further members besides name, title and doc: `expected` lists them
 * in an error message, and `whole` returns whether a class has them. */
typedef struct plugin_kind {
  const char *text, *expected;
  size_t size;
  const cb_registry *registry;
  bool (*whole)(const void *of);
} plugin_kind;

/* The first members of every class. */
typedef struct named {
  const char *name, *title, *doc;
} named;

static bool space_whole(const void *of) { return ((const cb_space_class *)of)->init; }

static bool integrator_whole(const void *of) {
  const cb_integrator_class *c = of;
  return c->solves && c->step;
}

static bool bundle_whole(const void *of) {
  const cb_bundle_class *c = of;
  return c->init && (c->on_jets || c->connection);
}

static bool body_whole(const void *of) { return ((const cb_body_class *)of)->build; }
static bool shape_whole(const void *of) { return ((const cb_shape_class *)of)->make; }

static bool fluid_model_whole(const void *of) {
  const cb_fluid_model_class *c = of;
  return (c->on_twist || c->on_face || c->added_mass) && !(c->on_twist && c->on_face);
}

static bool constraint_whole(const void *of) {
  const cb_constraint_class *c = of;
  return c->read && c->on_jets && c->points >= 1 && c->points <= CB_ELEMENT_PARTICLES && !c->velocity && !c->centred;
}

static bool flow_whole(const void *of) {
  const cb_fluid_flow_class *c = of;
  return c->velocity || c->at;
}

static bool medium_whole(const void *of) {
  const cb_fluid_medium_class *c = of;
  return !c->scalar && (c->density || c->at || c->init || c->uniform > 0);
}

static bool pair_potential_whole(const void *of) {
  const cb_pair_potential_class *c = of;
  return c->potential || c->closed || c->green || c->expression;
}

static bool configuration_whole(const void *of) {
  const cb_configuration *c = of;
  return !c->usual && c->problems && c->problems[0] && c->integrator && c->keys && c->required && c->sections &&
         c->observables && c->read && c->make_run && c->attribute && c->subject;
}

static bool gap_whole(const cb_gap_class *c, int least, int maximum) {
  return (c->on_jets || c->forms) && c->particles >= least && c->particles <= maximum;
}

static bool wall_whole(const void *of) { return gap_whole(of, 0, 1); }
static bool event_whole(const void *of) { return gap_whole(of, 1, 2); }

static bool gait_whole(const void *of) {
  const cb_gait_kind_class *c = of;
  return c->read && !c->basis;
}

static bool reduction_whole(const void *of) {
  const cb_reduction_class *c = of;
  int n = 0;
  for (const cb_param *row = c->arguments; row && row->name; row++, n++)
    if (row->type != CB_PARAM_REAL && row->type != CB_PARAM_INT) return false;
  return c->take && c->value && n <= CB_REDUCTION_ARGUMENTS;
}

static bool joint_whole(const void *of) {
  const cb_joint_class *c = of;
  bool symbols = true;
  for (int i = 0; i < c->coordinates && i < 6; i++) symbols = symbols && c->symbol[i];
  return c->find && symbols && c->coordinates >= 0 && c->gaps >= 0 && c->coordinates + c->gaps <= 6 && c->axes >= 0 &&
         c->axes <= 2 && (c->place || c->coordinates + c->gaps < 6);
}

static const plugin_kind kinds[] = {
    [CB_PLUGIN_IS_SPACE] = {"space", "init", CB_PLUGIN_SIZE_SPACE, &cb_space_registry, space_whole},
    [CB_PLUGIN_IS_INTEGRATOR] = {"integrator", "the problem that it solves and step", CB_PLUGIN_SIZE_INTEGRATOR,
                                 &cb_integrator_registry, integrator_whole},
    [CB_PLUGIN_IS_BUNDLE] = {"bundle", "init, and on_jets or connection", CB_PLUGIN_SIZE_BUNDLE, &cb_bundle_registry,
                             bundle_whole},
    [CB_PLUGIN_IS_BODY] = {"kind of body", "build", CB_PLUGIN_SIZE_BODY, &cb_body_registry, body_whole},
    [CB_PLUGIN_IS_SHAPE] = {"shape", "make", CB_PLUGIN_SIZE_SHAPE, &cb_shape_registry, shape_whole},
    [CB_PLUGIN_IS_FLUID_MODEL] = {"fluid model", "one of on_twist and on_face, or added_mass",
                                  CB_PLUGIN_SIZE_FLUID_MODEL, &cb_fluid_model_registry, fluid_model_whole},
    [CB_PLUGIN_IS_FLOW] = {"flow", "velocity or at", CB_PLUGIN_SIZE_FLOW, &cb_fluid_flow_registry, flow_whole},
    [CB_PLUGIN_IS_MEDIUM] = {"medium", "one of density, at, init and uniform", CB_PLUGIN_SIZE_MEDIUM,
                             &cb_fluid_medium_registry, medium_whole},
    [CB_PLUGIN_IS_PAIR_POTENTIAL] = {"pair potential", "one of potential, closed, green and expression",
                                     CB_PLUGIN_SIZE_PAIR_POTENTIAL, &cb_pair_potential_registry, pair_potential_whole},
    [CB_PLUGIN_IS_CONFIGURATION] = {"configuration space",
                                    "problems, integrator, keys, required, sections, observables, read, make_run, "
                                    "attribute and subject",
                                    CB_PLUGIN_SIZE_CONFIGURATION, &cb_configurations_registry, configuration_whole},
    [CB_PLUGIN_IS_WALL] = {"wall", "on_jets, and at most 1 particle", CB_PLUGIN_SIZE_WALL, &cb_wall_registry,
                           wall_whole},
    [CB_PLUGIN_IS_EVENT] = {"event", "on_jets, and 1 or 2 particles", CB_PLUGIN_SIZE_EVENT, &cb_event_registry,
                            event_whole},
    [CB_PLUGIN_IS_CONSTRAINT] = {"constraint", "read, on_jets and points (1 to 4) of a function of positions",
                                 CB_PLUGIN_SIZE_CONSTRAINT, &cb_constraint_registry, constraint_whole},
    [CB_PLUGIN_IS_GAIT] = {"kind of gait", "read", CB_PLUGIN_SIZE_GAIT, &cb_gait_kind_registry, gait_whole},
    [CB_PLUGIN_IS_REDUCTION] = {"reduction", "take, value, and at most 4 arguments that are numbers",
                                CB_PLUGIN_SIZE_REDUCTION, &cb_reduction_registry, reduction_whole},
    [CB_PLUGIN_IS_JOINT] = {"kind of joint",
                            "find, at most 6 coordinates and gaps, a symbol for each coordinate, place if they are 6",
                            CB_PLUGIN_SIZE_JOINT, &cb_joint_registry, joint_whole}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *plugin_name_of(const cb_plugin_class *c) { return ((const named *)c->of)->name; }

static bool is_taken(const cb_plugin *p, const cb_plugin_class *c) {
  const char *name = plugin_name_of(c), *other;
  for (size_t i = 0; (other = kinds[c->kind].registry->name(i)); i++)
    if (!strcmp(other, name)) return true;
  for (size_t i = 0; c->kind == CB_PLUGIN_IS_BUNDLE && cb_scenario_bundles[i]; i++)
    if (!strcmp(cb_scenario_bundles[i]->name, name)) return true;
  for (const cb_plugin_class *earlier = p->classes; earlier < c; earlier++)
    if (earlier->kind == c->kind && !strcmp(plugin_name_of(earlier), name)) return true;
  return false;
}

static cb_status check_class(const char *path, const cb_plugin *p, const cb_plugin_class *c) {
  static const char other_headers[] =
      "%s: error: the plugin was compiled with other headers: compile it with the headers of this "
      "curvebody";
  if ((unsigned)c->kind >= KINDS || c->size != kinds[c->kind].size)
    return cb_fail_placed(CB_ERROR_INPUT, other_headers, path);
  const plugin_kind *k = &kinds[c->kind];
  const named *n = c->of;
  if (!n->name || !*n->name || !n->title || !n->doc || !k->whole(c->of))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s `%s` of the plugin: expected name, title, doc, %s", path,
                          k->text, n->name ? n->name : "", k->expected);
  if (is_taken(p, c))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: a %s `%s` already exists: expected another name", path, k->text,
                          n->name);
  size_t count = 0;
  while (k->registry->name(count)) count++;
  if (count + (size_t)(c - p->classes) >= CB_REGISTRY_MAX)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: too many classes: expected at most %d of type %s", path,
                          CB_REGISTRY_MAX, k->text);
  return CB_OK;
}

static cb_status check(const char *path, const cb_plugin *p) {
  if (p->version != CB_PLUGIN_VERSION)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: the plugin has version %d, expected %d: compile it with the headers of this "
                          "curvebody",
                          path, p->version, CB_PLUGIN_VERSION);
  if (!p->classes || !p->classes->of)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: the plugin has no class: expected at least one", path);
  cb_status status = CB_OK;
  for (const cb_plugin_class *c = p->classes; c->of && !status; c++) status = check_class(path, p, c);
  return status;
}

/* Checks the file of a plugin if its name has a slash and is therefore a path. The dynamic loader searches for other
 * names itself. */
static cb_status check_file(const char *path) {
  if (!strchr(path, '/')) return CB_OK;
  const char *why;
  const int fd = cb_open_regular(path, O_RDONLY, &why);
  if (fd < 0) return cb_fail_placed(CB_ERROR_FILE, "%s: error: cannot load the plugin: %s", path, why);
  close(fd);
  return CB_OK;
}

cb_status cb_plugin_load(const char *path) {
  const cb_status unread = check_file(path);
  if (unread) return unread;
  void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!object) return cb_fail_placed(CB_ERROR_FILE, "%s: error: cannot load the plugin: %s", path, dlerror());
  const cb_plugin *plugin = dlsym(object, "curvebody_plugin");
  cb_status status =
      plugin ? check(path, plugin)
             : cb_fail_placed(CB_ERROR_INPUT, "%s: error: this is not a plugin: expected the symbol `curvebody_plugin`",
                              path);
  if (status) {
    dlclose(object);
    return status;
  }
  for (const cb_plugin_class *c = plugin->classes; c->of; c++) kinds[c->kind].registry->add(c->of);
  return CB_OK;
}

const char *cb_version(void) { return CB_VERSION; }
