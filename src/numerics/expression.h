/* Expressions: text parsed once to a tape of operations, evaluated on doubles or on second-order jets.
 *
 * Grammar: numbers, names, + - * / ^ (right associative, binds tighter than unary minus), parentheses, function calls,
 * comparisons (1 or 0) and if(condition, a, b). Constants pi, e, tau. Functions: see cb_expression_functions.
 * A parsed expression is immutable and may be evaluated from any thread; evaluation allocates nothing.
 */
#ifndef CB_NUMERICS_EXPRESSION_H
#define CB_NUMERICS_EXPRESSION_H

#include "numerics/jet.h"
#include <curvebody/status.h>
#include <stddef.h>

typedef struct cb_expression cb_expression;

/* Parses text in the variables names[n] (n <= 64). On failure CB_ERROR_INPUT, *at (may be NULL) is the offset in text
 * of what is wrong, and the error text names what was expected there and the nearest known name. The caller owns *out.
 * Tape length, nesting depth and stack are bounded; too long a text is an error. */
cb_status cb_expression_parse(const char *text, const char *const *names, size_t n, size_t *at, cb_expression **out);
void cb_expression_free(cb_expression *e);

/* Value at x[n]. A value outside a function's domain gives nan, as in C. */
double cb_expression_value(const cb_expression *e, const double *x);

/* Value, gradient and Hessian with respect to the first m <= CB_JET_MAX variables (the others are held fixed). */
cb_jet cb_expression_jet(const cb_expression *e, const double *x, int m);

/* Does the expression depend on variable i? */
int cb_expression_uses(const cb_expression *e, size_t i);

/* Parses and evaluates an expression without variables; must be finite. at as above. */
cb_status cb_expression_constant(const char *text, size_t *at, double *value);

/* Rows {name, number of arguments, one line of documentation}, ended by a NULL name: for `curvebody list functions`. */
typedef struct cb_function_doc { const char *name; int arity; const char *doc; } cb_function_doc;
extern const cb_function_doc cb_expression_functions[];

#endif
