/* The headers in C++: a space of its own, used at once and offered as a plugin. */
#include <curvebody/plugin.h>

static cb_status init(cb_space *g, const void *) { return cb_space_init_constant(g, 3, -1); }

static const cb_space_class outside = {"outside", "H3 from outside", "", nullptr, 0, init};
CB_PLUGIN(CB_PLUGIN_SPACE(&outside));

int main() {
  cb_space *g;
  if (cb_space_create_class(static_cast<const cb_space_class *>(curvebody_plugin.classes->of), nullptr, &g)) return 1;
  const bool found = g->class_ == &outside && g->dim == 3;
  cb_space_free(g);
  return found ? 0 : 1;
}
