/* What a command writes does not take the place of what it reads. */
#include "cli/cli.h"

enum { PLUGINS = 32 };

/* Set before anything is read. */
static const char *plugin[PLUGINS];
static size_t plugins;

void cb_plugin_named(const char *path) {
  if (plugins < PLUGINS) plugin[plugins++] = path;
}

cb_status cb_check_output(const char *path, cb_files inputs) {
  const cb_status status = cb_output_check(path, &inputs);
  return status ? status : cb_output_check(path, &(cb_files){plugin, plugins});
}
