/* A plugin that states that it was built for another version of the plugin interface. */
#include <curvebody/plugin.h>

CB_API_BEGIN
extern const cb_plugin curvebody_plugin;
CB_API_END
const cb_plugin curvebody_plugin = {CB_PLUGIN_VERSION + 1, NULL};
