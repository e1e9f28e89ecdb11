/* A plugin with a space of its own, and a bundle whose name is taken: nothing of it is there. */
#include <curvebody/plugin.h>

static cb_status flat(cb_geometry *g, const void *params) { return (void)params, cb_geometry_init_constant(g, 3, 0); }
static cb_status none(cb_bundle *b, const void *params) { return (void)b, (void)params, CB_ERROR_ARGUMENT; }
static cb_status nothing(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  return (void)b, (void)r, (void)A, (void)M, CB_ERROR_ARGUMENT;
}

static const cb_geometry_class first = {.name = "first", .title = "", .doc = "", .init = flat};
static const cb_bundle_class second = {.name = "purcell", .title = "", .doc = "", .init = none, .on_jets = nothing};

CB_PLUGIN(CB_PLUGIN_SPACE(&first), CB_PLUGIN_BUNDLE(&second));
