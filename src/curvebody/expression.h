/* Expressions: text parsed once into a tape of operations, evaluated on doubles or on second-order jets.
 *
 * Grammar, loosest first: one comparison < <= > >= == != (1 or 0), + -, * /, sign, ^ (right associative, binds tighter
 * than a sign: -x^2 is -(x²), and 2^-x is allowed), then numbers, names, parentheses and calls. Multiplication always
 * needs the sign *. Numbers are decimal. Constants pi, e, tau, unless a variable has that name. For functions see
 * cb_expression_functions. if(condition, a, b) uses the value and derivatives of the chosen side only. A constant
 * integer power up to 32 is computed by multiplications. Common subexpressions are computed once.
 * A parsed expression is immutable and may be evaluated from any thread; evaluation allocates nothing.
 *
 * Derivatives are exact (Griewank & Walther, Evaluating Derivatives, 2nd ed. 2008, chapters 3 and 13). At a kink they
 * are the derivatives from the right; the documentation line of each function says so. Outside its domain a function
 * returns nan as value and derivatives; where one derivative is infinite, others may be nan. For users and authors. The
 * caller frees parsed expressions.
 */
#ifndef CURVEBODY_EXPRESSION_H
#define CURVEBODY_EXPRESSION_H

#include <curvebody/jet.h>
#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>

CB_API_BEGIN

typedef struct cb_expression cb_expression;

#define CB_EXPRESSION_VARIABLES 64
#define CB_EXPRESSION_NAME 31 /* maximum number of bytes in the name of a variable or parameter */

/* Parses text in the variables names[n] (n <= CB_EXPRESSION_VARIABLES; borrowed during the call only). A name may have
 * dots, as a.x has: each part between dots consists of letters, digits and _. The caller owns *out. On CB_ERROR_INPUT
 * *at (may be NULL) is the offset of the error in text, and the error text says what was expected there and gives the
 * nearest known name. Length, nesting and number of operations are bounded; a text beyond a bound is CB_ERROR_INPUT as
 * well. */
cb_status cb_expression_parse(const char *text, const char *const *names, size_t n, size_t *at, cb_expression **out);
/* As cb_expression_parse, with parameters: names that stand for numbers. An expression that uses a name which is both a
 * parameter and a variable is CB_ERROR_INPUT. */
typedef struct cb_expression_scope {
  const char *const *names; /* variables */
  size_t n;
  const char *const *parameters;
  const double *values; /* values of the parameters */
  size_t n_parameters;
} cb_expression_scope;
cb_status cb_expression_parse_in(const char *text, const cb_expression_scope *scope, size_t *at, cb_expression **out);
/* Checks whether a name may be added to the scope; `kind` ("coordinate") is its kind in messages. CB_ERROR_INPUT if
 * the name is too long, has characters other than letters, digits and _, is the name of a function, or is already in
 * the scope; for a parameter also if it is the name of a constant. */
cb_status cb_expression_check_variable(const char *name, const cb_expression_scope *scope, const char *kind);
cb_status cb_expression_check_parameter(const char *name, const cb_expression_scope *scope, const char *kind);
void cb_expression_free(cb_expression *e);
cb_status cb_expression_copy(const cb_expression *e, cb_expression **out);

/* Returns the value at x[n]. */
double cb_expression_value(const cb_expression *e, const double *x);

/* Returns the value, and computes in g[m] the gradient with respect to the first m variables (m <= n; the others are
 * held fixed). The cost is about three evaluations of the value, for any m. */
double cb_expression_gradient(const cb_expression *e, const double *x, int m, double *g);

/* Computes, at n points, value[n] and, in rate[n] (may be NULL), the derivative in variable `along`; returns whether
 * all results are finite. Variable i is x[i][0] at all points if fixed[i], otherwise x[i][point]. Many times faster
 * than point by point, and equal to that up to round-off of sin, cos, exp and sums. The bits do not depend on n or on
 * the processor. */
bool cb_expression_values(const cb_expression *e, int n, const double *const *x, const bool *fixed, size_t along,
                          double *value, double *rate);

/* Returns value, gradient and Hessian with respect to the first m variables (m <= n and m <= CB_JET_MAX). */
cb_jet cb_expression_jet(const cb_expression *e, const double *x, int m);

/* Returns whether the expression depends on variable i. */
int cb_expression_uses(const cb_expression *e, size_t i);

/* Parses and evaluates an expression without variables. A value that is not finite is CB_ERROR_INPUT; `at` as for
 * cb_expression_parse. */
cb_status cb_expression_constant(const char *text, size_t *at, double *value);

/* Rows {name, number of arguments, one line of documentation}, for `curvebody list functions`; the last row has a NULL
 * name. */
typedef struct cb_function_doc {
  const char *name;
  int arity;
  const char *doc;
} cb_function_doc;
extern const cb_function_doc cb_expression_functions[];

CB_API_END
#endif
