/* The Lennard-Jones potential U = 4 a ((b/d)^12 - (b/d)^6) at the distance d, of depth a. It vanishes at d = b.
 *
 * Source: J. E. Lennard-Jones, Proc. Phys. Soc. 43 (1931) 461, doi:10.1088/0959-5309/43/5/301. */
#include <curvebody/pair_potential.h>

static const cb_param params[] = {
    {"strength", CB_PARAM_REAL, offsetof(cb_pair_parameters, strength), "1", "", "", NULL, "depth a"},
    {"length", CB_PARAM_REAL, offsetof(cb_pair_parameters, length), "1", "units of length", "> 0", NULL,
     "distance b at which U = 0"},
    {0}};

static cb_jet potential(const void *given, const cb_pair *pair, const cb_jet *d) {
  const cb_pair_parameters *p = given;
  (void)pair;
  const cb_jet inverse = cb_jet_powi(d, -1), s = cb_jet_scale(&inverse, p->length), s6 = cb_jet_powi(&s, 6),
               s12 = cb_jet_mul(&s6, &s6), difference = cb_jet_sub(&s12, &s6);
  return cb_jet_scale(&difference, 4 * p->strength);
}

static cb_pair_value closed(const void *given, const cb_pair *pair, double d) {
  const cb_pair_parameters *p = given;
  const double a = p->strength, s = p->length / d, s6 = s * s * s * s * s * s;
  (void)pair;
  return (cb_pair_value){4 * a * s6 * (s6 - 1), -24 * a * s6 * (2 * s6 - 1) / d, 24 * a * s6 * (26 * s6 - 7) / (d * d)};
}

const cb_pair_potential_class cb_pair_potential_lennard_jones = {.name = "lennard_jones",
                                                                 .title = "Lennard-Jones potential",
                                                                 .doc = "U = 4 a ((b/d)^12 - (b/d)^6)",
                                                                 .params = params,
                                                                 .params_size = sizeof(cb_pair_parameters),
                                                                 .potential = potential,
                                                                 .closed = closed};
