/* Expressions: a text is parsed once into a list of operations, which is evaluated on doubles or on second-order jets
 * (curvebody/jet.h).
 *
 * The operators are, from the lowest precedence to the highest: one comparison of < <= > >= == != (its value is 1 or
 * 0); + and -; * and /; a sign; ^. The operator ^ is right associative, -x^2 is -(x²), and 2^-x is allowed. Every
 * multiplication is written with *. Numbers are decimal. The constants are pi, e and tau, unless a variable or
 * parameter has that name. The functions are listed in cb_expression_functions. if(condition, a, b) has the value and
 * the derivatives of a or of b. A constant integer power with an exponent of at most 32 is computed by multiplications.
 * An expression that occurs several times is computed once.
 * A parsed expression is immutable and may be evaluated from any thread. Evaluation allocates no memory.
 *
 * Derivatives are exact (Griewank & Walther, Evaluating Derivatives, 2nd ed. 2008, chapters 3 and 13). Where a function
 * has a kink or a jump, its line of documentation says which derivative is returned. Outside its domain a function
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
#define CB_EXPRESSION_NAME 31 /* maximum number of bytes in the name of a variable, parameter or control */

/* Parses a text with the variables names[n], n <= CB_EXPRESSION_VARIABLES, which are read only during the call. A name
 * may have dots, such as a.x; each part between dots consists of letters, digits and _. The caller frees *out with
 * cb_expression_free.
 *
 * CB_ERROR_INPUT for an error in the text, and for a text that is too long, too deeply nested or has too many
 * operations. Then *at (at may be NULL) is the offset of the error in bytes. The error text says what was expected
 * there, and for an unknown name gives the nearest known name. CB_ERROR_ARGUMENT for too many variables;
 * CB_ERROR_MEMORY. */
cb_status cb_expression_parse(const char *text, const char *const *names, size_t n, size_t *at, cb_expression **out);
/* The names that an expression may use. A parameter is a name for a constant number. A control is a name for a number
 * that may change after parsing: each evaluation reads it from control_values, which must last as long as the
 * expression and its copies. An expression has no derivatives with respect to controls. */
typedef struct cb_expression_scope {
  const char *const *names; /* [n]: names of the variables */
  size_t n;
  const char *const *parameters; /* [n_parameters]: names of the parameters */
  const double *values;          /* [n_parameters]: values of the parameters */
  size_t n_parameters;
  const char *const *controls;  /* [n_controls]: names of the controls */
  const double *control_values; /* [n_controls]: values of the controls, borrowed */
  size_t n_controls;
} cb_expression_scope;
/* Does the same as cb_expression_parse, with the names of `scope`, which is read only during the call. An expression
 * that uses a name with two meanings, such as a parameter and a variable, is CB_ERROR_INPUT. */
cb_status cb_expression_parse_in(const char *text, const cb_expression_scope *scope, size_t *at, cb_expression **out);
/* Check whether `name` may be added to the scope as a variable, or as a parameter or control. Messages call the
 * variables of the scope by `kind`, such as "coordinate". CB_ERROR_INPUT if the name is too long, begins with a digit,
 * has characters other than letters, digits and _, is the name of a function, or is already in the scope. A parameter
 * or control must also not have the name of a constant. */
cb_status cb_expression_check_variable(const char *name, const cb_expression_scope *scope, const char *kind);
cb_status cb_expression_check_parameter(const char *name, const cb_expression_scope *scope, const char *kind);
void cb_expression_free(cb_expression *e);
/* Makes a copy, which reads its controls from the same addresses. The caller frees it. */
cb_status cb_expression_copy(const cb_expression *e, cb_expression **out);

/* Returns the value where the variables are x[n]. */
double cb_expression_value(const cb_expression *e, const double *x);

/* Returns the value at x[n], and writes to g[m] the derivatives by the first m variables, m <= n. The cost is about
 * three evaluations of the value, for any m. */
double cb_expression_gradient(const cb_expression *e, const double *x, int m, double *g);

/* Evaluates the expression at n points: writes the values to value[n], and the derivatives by the variable number
 * `along` to rate[n] (may be NULL). Variable i is x[i][0] at all points if fixed[i] is true, otherwise x[i][point].
 * Returns whether all results are finite. This is many times faster than cb_expression_value at each point, and the
 * results are equal up to round-off. They do not depend, bit for bit, on n or on the processor. */
bool cb_expression_values(const cb_expression *e, int n, const double *const *x, const bool *fixed, size_t along,
                          double *value, double *rate);

/* Returns the value at x[n], with gradient and Hessian in the first m variables, m <= n and m <= CB_JET_MAX. */
cb_jet cb_expression_jet(const cb_expression *e, const double *x, int m);

/* Returns whether the expression depends on variable i (1) or not (0). */
int cb_expression_uses(const cb_expression *e, size_t i);
/* Returns whether the expression depends on a control. */
bool cb_expression_uses_control(const cb_expression *e);

/* Parses and evaluates an expression without variables. CB_ERROR_INPUT for an error in the text and for a value that is
 * not finite; *at (at may be NULL) is then the offset of the error, or 0. */
cb_status cb_expression_constant(const char *text, size_t *at, double *value);

/* The functions that expressions know, which `curvebody list functions` prints; the last row has a NULL name. */
typedef struct cb_function_doc {
  const char *name;
  int arity;       /* number of arguments */
  const char *doc; /* one line */
} cb_function_doc;
extern const cb_function_doc cb_expression_functions[];

CB_API_END
#endif
