/* A plugin with a new space, and a bundle whose name is already in use: the program must register neither of them. */
#include <curvebody/plugin.h>

static cb_status flat(cb_space *g, const void *params) {
  (void)params;
  return cb_space_init_constant(g, 3, 0);
}
static cb_status none(cb_bundle *b, const void *params) {
  (void)b;
  (void)params;
  return CB_ERROR_ARGUMENT;
}
static cb_status nothing(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  (void)b;
  (void)r;
  (void)A;
  (void)M;
  return CB_ERROR_ARGUMENT;
}

static const cb_space_class first = {.name = "first", .title = "", .doc = "", .init = flat};
static const cb_bundle_class second = {.name = "purcell", .title = "", .doc = "", .init = none, .on_jets = nothing};

CB_PLUGIN(CB_PLUGIN_SPACE(&first), CB_PLUGIN_BUNDLE(&second));
