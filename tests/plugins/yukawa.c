/* A plugin: the Yukawa potential as a pair potential, between charges.
 *
 *   U = a exp(-d/b)/d
 *
 * U is written on jets, from which its derivatives follow. d is the distance of the pair, a is the strength and b the
 * screening length. Source: H. Yukawa, Proc. Phys.-Math. Soc. Japan 17 (1935) 48, doi:10.11429/ppmsj1919.17.0_48.
 */
#include <curvebody/plugin.h>

typedef struct yukawa {
  double strength, screening;
} yukawa;

static cb_jet potential(const void *params, const cb_pair *pair, const cb_jet *d) {
  const yukawa *p = params;
  (void)pair;
  const cb_jet exponent = cb_jet_scale(d, -1 / p->screening), decay = cb_jet_exp(&exponent),
               scaled = cb_jet_scale(&decay, p->strength);
  return cb_jet_div(&scaled, d);
}

static const cb_param params[] = {
    {"strength", CB_PARAM_REAL, offsetof(yukawa, strength), "1", "", "", NULL, "a"},
    {"screening", CB_PARAM_REAL, offsetof(yukawa, screening), NULL, "units of length", "> 0", NULL, "length b"},
    {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_pair_potential_class my_yukawa = {.name = "yukawa",
                                                  .title = "screened electrostatics",
                                                  .doc = "U = a exp(-d/b)/d; pairs count with q1 q2",
                                                  .params = params,
                                                  .params_size = sizeof(yukawa),
                                                  .factor = CB_PAIR_FACTOR_CHARGE,
                                                  .potential = potential};

CB_PLUGIN(CB_PLUGIN_PAIR_POTENTIAL(&my_yukawa));
