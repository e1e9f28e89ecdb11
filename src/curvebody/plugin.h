/* Plugins: shared objects with spaces of the user's own, loaded with `curvebody --plugin FILE.so COMMAND ...`.
 *
 * A plugin is one C file with the class of a space, as in geometries/, and one line:
 *
 *     #include <curvebody/plugin.h>
 *     static const cb_geometry_class my_space = {...};
 *     CB_PLUGIN(&my_space);
 *
 *     cc -shared -fPIC $(pkg-config --cflags curvebody) my_space.c -o my_space.so
 *
 * For authors. The functions of the library that it calls are those of the program that loads it.
 */
#ifndef CURVEBODY_PLUGIN_H
#define CURVEBODY_PLUGIN_H

#include <curvebody/geometry.h>

CB_API_BEGIN

enum { CB_PLUGIN_VERSION = 2 };

/* What a plugin exports under the name curvebody_plugin. */
typedef struct cb_plugin {
  int version;                                /* CB_PLUGIN_VERSION of the headers it was compiled with */
  size_t geometry_size, chart_size;           /* sizeof(cb_geometry) and sizeof(cb_chart), likewise */
  const cb_geometry_class *const *geometries; /* ended by NULL */
} cb_plugin;

#define CB_PLUGIN(...)                                                                \
  static const cb_geometry_class *const cb_plugin_geometries[] = {__VA_ARGS__, NULL}; \
  CB_API_BEGIN                                                                        \
  extern const cb_plugin curvebody_plugin;                                            \
  CB_API_END                                                                          \
  const cb_plugin curvebody_plugin = {CB_PLUGIN_VERSION, sizeof(cb_geometry), sizeof(cb_chart), cb_plugin_geometries}

/* Loads a plugin for the rest of the process; before other threads are made. CB_ERROR_FILE where it cannot be loaded,
 * CB_ERROR_INPUT for what is no plugin, one made with other headers, or a space whose name is taken. */
cb_status cb_plugin_load(const char *path);

/* Every class of spaces: the built-in ones, then those of plugins; NULL behind the last. */
const cb_geometry_class *cb_geometry_class_at(size_t index);

CB_API_END
#endif
