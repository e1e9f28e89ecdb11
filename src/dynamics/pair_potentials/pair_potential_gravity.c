/* Newtonian gravity in a space of curvature K: V = m1 m2 U, U = -a cot(d), -a/d, -a coth(d) for K = 1, 0, -1 (for any
 * K: cb_pair_potential_class.green).
 *
 * d is the distance, m1 and m2 are the masses, and a is the parameter `strength`. U is the Green's function of the
 * Laplacian in three dimensions. Source: Serret (1860); Borisov & Mamaev, Regular and Chaotic Dynamics 11 (2006),
 * doi:10.1070/RD2006v011n01ABEH000331. */
#include <curvebody/pair_potential.h>

static const cb_param params[] = {
    {"strength", CB_PARAM_REAL, offsetof(cb_pair_parameters, strength), "1", "", "", NULL, "a: G; for a centre G M"},
    {0}};

static double green(const void *given) { return ((const cb_pair_parameters *)given)->strength; }

const cb_pair_potential_class cb_pair_potential_gravity = {
    .name = "gravity",
    .title = "gravity in curved space",
    .doc = "U = -a cot(d), -a/d, -a coth(d) for curvature 1, 0, -1; pairs count with m1 m2, a centre with m",
    .params = params,
    .params_size = sizeof(cb_pair_parameters),
    .factor = CB_PAIR_FACTOR_MASS,
    .green = green};
