/* Loading plugins, and all classes of spaces there are. */
#include "core/failure.h"

#include <curvebody/plugin.h>

#include <dlfcn.h>
#include <string.h>

enum { MOST = 32 };

/* Set before other threads are made, like the instruction set; never taken away. */
static struct {
  const cb_geometry_class *loaded[MOST];
  size_t count;
} plugins;

static size_t built_in(void) {
  size_t n = 0;
  while (cb_geometry_classes[n]) n++;
  return n;
}

const cb_geometry_class *cb_geometry_class_at(size_t index) {
  const size_t n = built_in();
  if (index < n) return cb_geometry_classes[index];
  return index - n < plugins.count ? plugins.loaded[index - n] : NULL;
}

static cb_status check(const char *path, const cb_plugin *p) {
  if (p->version != CB_PLUGIN_VERSION)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: a plugin of version %d: expected %d; compile it with the headers of this "
                          "curvebody",
                          path, p->version, CB_PLUGIN_VERSION);
  if (p->geometry_size != sizeof(cb_geometry) || p->chart_size != sizeof(cb_chart))
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: a plugin compiled with other headers: compile it with those of this "
                          "curvebody",
                          path);
  if (!p->geometries || !p->geometries[0])
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: a plugin without a space", path);
  for (size_t i = 0; p->geometries[i]; i++) {
    const cb_geometry_class *c = p->geometries[i];
    if (!c->name || !c->title || !c->doc || !c->init)
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: space %zu of the plugin: expected name, title, doc and init",
                            path, i);
    for (size_t j = 0; cb_geometry_class_at(j); j++)
      if (!strcmp(cb_geometry_class_at(j)->name, c->name))
        return cb_fail_placed(CB_ERROR_INPUT, "%s: error: there is a space `%s` already", path, c->name);
    if (plugins.count + i >= MOST)
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: more than %d spaces of plugins", path, MOST);
  }
  return CB_OK;
}

cb_status cb_plugin_load(const char *path) {
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
  for (size_t i = 0; plugin->geometries[i]; i++) plugins.loaded[plugins.count++] = plugin->geometries[i];
  return CB_OK;
}
