/* A plugin: two layers of water with a smooth transition, as in the sea.
 *
 *   rho = mean - (difference/2) tanh((z - height)/thickness)
 *
 * rho is the density at the height z; `difference` is the density far below minus that far above. SI units.
 */
#include <curvebody/plugin.h>

typedef struct transition {
  double mean, difference, height, thickness;
} transition;

static cb_jet density(const void *medium, const cb_jet x[3]) {
  const transition *p = medium;
  const cb_jet above = cb_jet_shift(&x[2], -p->height), scaled = cb_jet_scale(&above, 1 / p->thickness),
               step = cb_jet_tanh(&scaled), rho = cb_jet_scale(&step, -p->difference / 2);
  return cb_jet_shift(&rho, p->mean);
}

/* The density depends only on z. */
static cb_status init(void *medium, const cb_node *value, const cb_expression_scope *parameters,
                      cb_medium_facts *facts) {
  (void)medium;
  (void)value;
  (void)parameters;
  facts->uses[0] = facts->uses[1] = false;
  return CB_OK;
}

static const cb_param params[] = {
    {"mean", CB_PARAM_REAL, offsetof(transition, mean), "1000", "kg/m3", "> 0", NULL, "density at the height"},
    {"difference", CB_PARAM_REAL, offsetof(transition, difference), "20", "kg/m3", "", NULL, "below minus above"},
    {"height", CB_PARAM_REAL, offsetof(transition, height), "0", "m", "", NULL, "height of the transition"},
    {"thickness", CB_PARAM_REAL, offsetof(transition, thickness), "1", "m", "> 0", NULL, "of the transition"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_fluid_medium_class pycnocline = {.name = "pycnocline",
                                                 .title = "A smooth transition between two densities",
                                                 .doc = "The density depends on the height z",
                                                 .params = params,
                                                 .size = sizeof(transition),
                                                 .init = init,
                                                 .density = density};

CB_PLUGIN(CB_PLUGIN_MEDIUM(&pycnocline));
