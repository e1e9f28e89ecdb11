/* A plugin that says it was made for another version. */
#include <curvebody/plugin.h>

static const cb_geometry_class *const none[] = {0};
CB_API_BEGIN
extern const cb_plugin curvebody_plugin;
CB_API_END
const cb_plugin curvebody_plugin = {CB_PLUGIN_VERSION + 1, sizeof(cb_geometry), sizeof(cb_chart), none};
