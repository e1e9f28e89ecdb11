/* A spring without damping between two points: U = (a/2) (d - b)^2 at the distance d, with the stiffness a and the rest
 * length b. */
#include <curvebody/pair_potential.h>

static const cb_param params[] = {{"strength", CB_PARAM_REAL, offsetof(cb_pair_parameters, strength), "1",
                                   "units of mass/time^2", "", NULL, "stiffness a of (a/2) (d - b)^2"},
                                  {"length", CB_PARAM_REAL, offsetof(cb_pair_parameters, length), "1",
                                   "units of length", ">= 0", NULL, "rest length b"},
                                  {0}};

static cb_jet potential(const void *given, const cb_pair *pair, const cb_jet *d) {
  const cb_pair_parameters *p = given;
  (void)pair;
  const cb_jet e = cb_jet_shift(d, -p->length), square = cb_jet_mul(&e, &e);
  return cb_jet_scale(&square, p->strength / 2);
}

static cb_pair_value closed(const void *given, const cb_pair *pair, double d) {
  const cb_pair_parameters *p = given;
  const double a = p->strength, e = d - p->length;
  (void)pair;
  return (cb_pair_value){0.5 * a * e * e, a * e, a};
}

const cb_pair_potential_class cb_pair_potential_harmonic = {.name = "harmonic",
                                                            .title = "spring",
                                                            .doc = "U = (a/2) (d - b)^2",
                                                            .params = params,
                                                            .params_size = sizeof(cb_pair_parameters),
                                                            .potential = potential,
                                                            .closed = closed};
