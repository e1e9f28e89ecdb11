/* Expressions: text parsed once to a tape of operations, evaluated on doubles or on second-order jets.
 *
 * Grammar, loosest first: one comparison < <= > >= == != (1 or 0), + -, * /, sign, ^ (right associative, binds tighter
 * than a sign: -x^2 is -(x²), and 2^-x is allowed), then numbers, names, parentheses and calls. Multiplication is
 * always written. Numbers are decimal. Constants pi, e, tau, unless a variable has that name. Functions: see
 * cb_expression_functions. if(condition, a, b) takes value and derivatives of the chosen side only.
 * A constant integer power up to 32 is done by multiplications. Common subexpressions are computed once.
 * A parsed expression is immutable and may be evaluated from any thread; evaluation allocates nothing.
 *
 * Derivatives are exact (Griewank & Walther, Evaluating Derivatives, 2nd ed. 2008, chapters 3 and 13). At a kink they
 * are those from the right, as each function's line of documentation says. Outside its domain a function gives nan,
 * value and derivatives; where a derivative is infinite others may be nan.
 * For users and authors. The caller frees what is parsed.
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
#define CB_EXPRESSION_NAME 31 /* letters of a name that a scenario gives */

/* Parses text in the variables names[n] (n <= CB_EXPRESSION_VARIABLES; borrowed during the call only). The caller owns
 * *out. On CB_ERROR_INPUT *at (may be NULL) is the offset in text of what is wrong, and the error text names what was
 * expected there and the nearest known name. Length, nesting and number of operations are bounded; too much of either
 * is CB_ERROR_INPUT as well. */
cb_status cb_expression_parse(const char *text, const char *const *names, size_t n, size_t *at, cb_expression **out);
/* The same with parameters: names that stand for numbers. One that is a variable's too is CB_ERROR_INPUT where it is
 * used. */
typedef struct cb_expression_scope {
  const char *const *names; /* variables */
  size_t n;
  const char *const *parameters;
  const double *values; /* of the parameters */
  size_t n_parameters;
} cb_expression_scope;
cb_status cb_expression_parse_in(const char *text, const cb_expression_scope *scope, size_t *at, cb_expression **out);
/* Whether a name may join those of the scope, whose variables are of a kind such as "coordinate": CB_ERROR_INPUT where it
 * is long or not of letters, digits and _, a function's, or there already; a parameter's also where it is a constant's. */
cb_status cb_expression_check_variable(const char *name, const cb_expression_scope *scope, const char *kind);
cb_status cb_expression_check_parameter(const char *name, const cb_expression_scope *scope, const char *kind);
void cb_expression_free(cb_expression *e);
cb_status cb_expression_copy(const cb_expression *e, cb_expression **out);

/* Value at x[n]. */
double cb_expression_value(const cb_expression *e, const double *x);

/* Value, and in g[m] the gradient with respect to the first m variables (m <= n; the others are held fixed). Its cost
 * is about that of three values, whatever m. */
double cb_expression_gradient(const cb_expression *e, const double *x, int m, double *g);

/* At n points: value[n] and in rate[n] (NULL: not wanted) the derivative in variable `along`; is all of it finite?
 * Variable i is x[i][0] at all points where fixed[i], else x[i][point]. Many times faster than point by point; equal to
 * it but for the rounding of sin, cos, exp and of sums. The same bits whatever n and on any processor. */
bool cb_expression_values(const cb_expression *e, int n, const double *const *x, const bool *fixed, size_t along,
                           double *value, double *rate);

/* Value, gradient and Hessian with respect to the first m variables (m <= n and m <= CB_JET_MAX). */
cb_jet cb_expression_jet(const cb_expression *e, const double *x, int m);

/* Does the expression depend on variable i? */
int cb_expression_uses(const cb_expression *e, size_t i);

/* Parses and evaluates an expression without variables; must be finite. at as above. */
cb_status cb_expression_constant(const char *text, size_t *at, double *value);

/* Rows {name, number of arguments, one line of documentation}, ended by a NULL name: for `curvebody list functions`. */
typedef struct cb_function_doc { const char *name; int arity; const char *doc; } cb_function_doc;
extern const cb_function_doc cb_expression_functions[];

CB_API_END
#endif
