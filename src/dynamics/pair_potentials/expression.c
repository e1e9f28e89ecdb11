/* A pair potential that is given as text: U(d, m1, m2, q1, q2, t) of the distance d, the masses m1 and m2, the charges
 * q1 and q2 and the time t; for a centre U(d, m, q, t). */
#include <curvebody/pair_potential.h>

static const cb_param params[] = {{"expression", CB_PARAM_STRING, offsetof(cb_pair_parameters, expression), NULL, "",
                                   "", NULL, "U of d, m1, m2, q1, q2, t; for a centre of d, m, q, t"},
                                  {0}};

static const char *expression(const void *given) { return ((const cb_pair_parameters *)given)->expression; }

const cb_pair_potential_class cb_pair_potential_expression = {
    .name = "expression",
    .title = "expression of the distance",
    .doc = "`expression: U` stands for `pair_potential: expression, expression: U`",
    .params = params,
    .params_size = sizeof(cb_pair_parameters),
    .expression = expression};
