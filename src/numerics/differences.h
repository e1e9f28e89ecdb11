/* First derivatives by central differences of order 8: f'(x) = sum_k w_k (f(x + k h) - f(x - k h))/h, k = 1..4.
 *
 * Error about h^8 f^(9)/630 and round-off/h. Source: Fornberg, Math. Comp. 51 (1988) 699,
 * doi:10.1090/S0025-5718-1988-0935077-0, table 1. */
#pragma once

static const double cb_central_weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
