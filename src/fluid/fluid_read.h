/* Numbers of a fluid: expressions of its parameters, and of variables. */
#pragma once

#include <curvebody/expression.h>
#include <curvebody/node.h>

/* Reads a list of three texts. */
cb_status cb_fluid_texts(const cb_node *list, const char *text[3]);
/* Evaluates an expression in this scope at x, and a list of three expressions. A parameter that could not be read has
 * the value nan: a result nan is then the consequence of that failure, which was reported. */
cb_status cb_fluid_number(const cb_node *node, const cb_expression_scope *scope, const double *x, double *out);
cb_status cb_fluid_vector(const cb_node *list, const cb_expression_scope *scope, const double *x, double out[3]);
/* Is the value of a parameter nan? */
bool cb_fluid_lacks_parameter(const cb_expression_scope *scope);
