/* The electrostatic potential in a space of curvature K: V = q1 q2 U, U = a cot(d), a/d, a coth(d) for K = 1, 0, -1
 * (for any K: cb_pair_potential_class.green).
 *
 * d is the distance, q1 and q2 are the charges, and a is the parameter `strength`. The potential is that of gravity
 * (pair_potential_gravity.c) with the opposite sign. */
#include <curvebody/pair_potential.h>

static const cb_param params[] = {{"strength", CB_PARAM_REAL, offsetof(cb_pair_parameters, strength), "1", "", "", NULL,
                                   "a: the Coulomb constant; for a centre this constant times its charge"},
                                  {0}};

static double green(const void *given) { return -((const cb_pair_parameters *)given)->strength; }

const cb_pair_potential_class cb_pair_potential_coulomb = {
    .name = "coulomb",
    .title = "electrostatics in curved space",
    .doc = "U = a cot(d), a/d, a coth(d) for curvature 1, 0, -1; pairs count with q1 q2, a centre with q",
    .params = params,
    .params_size = sizeof(cb_pair_parameters),
    .factor = CB_PAIR_FACTOR_CHARGE,
    .green = green};
