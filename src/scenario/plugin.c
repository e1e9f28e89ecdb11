/* Loads plugins: their classes are added to the registries. */
#include "core/file.h"
#include "core/registry.h"
#include "scenario/bundle_scenario.h"

#include <curvebody/plugin.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A type of class: its name, the members that a class must have besides name, title and doc (as a text, and as a test),
 * the size that plugins must have, and its registry. */
typedef struct kind {
  const char *text, *expected;
  size_t size;
  const cb_registry *registry;
  bool (*whole)(const void *of);
} kind;

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

static const kind kinds[] = {
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

static const char *name_of(const cb_plugin_class *c) { return ((const named *)c->of)->name; }

static bool is_taken(const cb_plugin *p, const cb_plugin_class *c) {
  const char *name = name_of(c), *other;
  for (size_t i = 0; (other = kinds[c->kind].registry->name(i)); i++)
    if (!strcmp(other, name)) return true;
  for (size_t i = 0; c->kind == CB_PLUGIN_IS_BUNDLE && cb_scenario_bundles[i]; i++)
    if (!strcmp(cb_scenario_bundles[i]->name, name)) return true;
  for (const cb_plugin_class *earlier = p->classes; earlier < c; earlier++)
    if (earlier->kind == c->kind && !strcmp(name_of(earlier), name)) return true;
  return false;
}

static cb_status check_class(const char *path, const cb_plugin *p, const cb_plugin_class *c) {
  static const char other_headers[] =
      "%s: error: the plugin was compiled with other headers: compile it with the headers of this "
      "curvebody";
  if ((unsigned)c->kind >= KINDS || c->size != kinds[c->kind].size)
    return cb_fail_placed(CB_ERROR_INPUT, other_headers, path);
  const kind *k = &kinds[c->kind];
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
