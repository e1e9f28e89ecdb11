/* The headers in C++: a space of its own, used at once and offered as a plugin. */
#include <curvebody/plugin.h>

static cb_status init(cb_geometry *g, const void *) { return cb_geometry_init_constant(g, 3, -1); }

static const cb_geometry_class outside = {"outside", "H3 from outside", "", nullptr, 0, init};
CB_PLUGIN(CB_PLUGIN_SPACE(&outside));

int main() {
  cb_geometry *g;
  if (cb_geometry_create_class(static_cast<const cb_geometry_class *>(curvebody_plugin.classes->of), nullptr, &g)) return 1;
  const bool found = g->kind == &outside && g->dim == 3;
  cb_geometry_free(g);
  return found ? 0 : 1;
}
