/* Loading plugins: their classes join the registries. */
#include "core/file.h"
#include "core/registry.h"
#include "scenario/bundle.h"

#include <curvebody/plugin.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What each kind of class is called, and what one must have beside name, title and doc. */
typedef struct kind {
  const char *word, *expected;
  size_t size;
  const cb_registry *registry;
  bool (*whole)(const void *of);
} kind;

/* All classes begin so. */
typedef struct named {
  const char *name, *title, *doc;
} named;

#define WHOLE(type, condition)               \
  static bool type##_whole(const void *of) { \
    const cb_##type##_class *c = of;         \
    return condition;                        \
  }
WHOLE(geometry, c->init)
WHOLE(integrator, (c->configuration == &cb_configuration_particles || c->configuration == &cb_configuration_fluid ||
                   c->configuration == &cb_configuration_bundle) &&
                      c->step)
WHOLE(bundle, c->init && (c->on_jets || c->connection))
WHOLE(body, c->build)
WHOLE(shape, c->make)
WHOLE(fluid_model, (c->on_twist || c->on_face || c->added_mass) && !(c->on_twist && c->on_face))

static const kind kinds[] = {
    [CB_PLUGIN_IS_SPACE] = {"space", "init", CB_PLUGIN_SIZE_SPACE, &cb_geometry_registry, geometry_whole},
    [CB_PLUGIN_IS_INTEGRATOR] = {"integrator", "a configuration (one of cb_configuration_...) and step",
                                 CB_PLUGIN_SIZE_INTEGRATOR, &cb_integrator_registry, integrator_whole},
    [CB_PLUGIN_IS_BUNDLE] = {"bundle", "init, and on_jets or connection", CB_PLUGIN_SIZE_BUNDLE, &cb_bundle_registry,
                             bundle_whole},
    [CB_PLUGIN_IS_BODY] = {"kind of body", "build", CB_PLUGIN_SIZE_BODY, &cb_body_registry, body_whole},
    [CB_PLUGIN_IS_SHAPE] = {"shape", "make", CB_PLUGIN_SIZE_SHAPE, &cb_shape_registry, shape_whole},
    [CB_PLUGIN_IS_FLUID_MODEL] = {"fluid model", "one of on_twist and on_face, or added_mass",
                                  CB_PLUGIN_SIZE_FLUID_MODEL, &cb_fluid_model_registry, fluid_model_whole}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *name_of(const cb_plugin_class *c) { return ((const named *)c->of)->name; }

static bool is_taken(const cb_plugin *p, const cb_plugin_class *c) {
  const char *name = name_of(c), *other;
  for (size_t i = 0; (other = kinds[c->kind].registry->name(i)); i++)
    if (!strcmp(other, name)) return true;
  for (size_t i = 0; c->kind == CB_PLUGIN_IS_BUNDLE && cb_bundle_kinds[i]; i++)
    if (!strcmp(cb_bundle_kinds[i]->name, name)) return true;
  for (const cb_plugin_class *earlier = p->classes; earlier < c; earlier++)
    if (earlier->kind == c->kind && !strcmp(name_of(earlier), name)) return true;
  return false;
}

static cb_status check_class(const char *path, const cb_plugin *p, const cb_plugin_class *c) {
  static const char other_headers[] =
      "%s: error: a plugin compiled with other headers: compile it with those of this "
      "curvebody";
  if ((unsigned)c->kind >= KINDS || c->size != kinds[c->kind].size)
    return cb_fail_placed(CB_ERROR_INPUT, other_headers, path);
  const kind *k = &kinds[c->kind];
  const named *n = c->of;
  if (!n->name || !*n->name || !n->title || !n->doc || !k->whole(c->of))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s `%s` of the plugin: expected name, title, doc, %s", path,
                          k->word, n->name ? n->name : "", k->expected);
  if (is_taken(p, c))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: there is a %s `%s` already", path, k->word, n->name);
  size_t count = 0;
  while (k->registry->name(count)) count++;
  if (count + (size_t)(c - p->classes) >= CB_REGISTRY_MOST)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: more than %d classes of one kind (%s)", path, CB_REGISTRY_MOST,
                          k->word);
  return CB_OK;
}

static cb_status check(const char *path, const cb_plugin *p) {
  if (p->version != CB_PLUGIN_VERSION)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: a plugin of version %d: expected %d; compile it with the headers of this "
                          "curvebody",
                          path, p->version, CB_PLUGIN_VERSION);
  if (!p->classes || !p->classes->of)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: a plugin without a class", path);
  cb_status status = CB_OK;
  for (const cb_plugin_class *c = p->classes; c->of && !status; c++) status = check_class(path, p, c);
  return status;
}

/* A name with a slash is of a file; others are looked for by the loader. */
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
  cb_status status = plugin
                         ? check(path, plugin)
                         : cb_fail_placed(CB_ERROR_INPUT, "%s: error: no plugin: it has no `curvebody_plugin`", path);
  if (status) {
    dlclose(object);
    return status;
  }
  for (const cb_plugin_class *c = plugin->classes; c->of; c++) kinds[c->kind].registry->add(c->of);
  return CB_OK;
}
