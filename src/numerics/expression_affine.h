/* Is an expression affine in some of its variables? */
#ifndef CB_NUMERICS_EXPRESSION_AFFINE_H
#define CB_NUMERICS_EXPRESSION_AFFINE_H

#include <curvebody/expression.h>

/* In variables first .. first + count - 1, whatever the others are: a0 + sum a_i x_i with a_i of the others. False where
 * that cannot be read off its operations, as of X*X/X. */
bool cb_expression_is_affine(const cb_expression *e, int first, int count);

#endif
