/* Reads numbers of a fluid from a scenario: each is an expression of the fluid's parameters, and of variables. */
#pragma once

#include <curvebody/expression.h>
#include <curvebody/node.h>

/* Reads a list of three texts. */
cb_status cb_fluid_texts(const cb_node *list, const char *text[3]);
/* The first function evaluates one expression in this scope, with the variables at x, and the second one a list of
 * three. A parameter that could not be read has the value nan. A result nan is then not reported again, because the
 * failure of the parameter was reported. */
cb_status cb_fluid_number(const cb_node *node, const cb_expression_scope *scope, const double *x, double *out);
cb_status cb_fluid_vector(const cb_node *list, const cb_expression_scope *scope, const double *x, double out[3]);
/* Returns whether the value of a parameter is nan. */
bool cb_fluid_lacks_parameter(const cb_expression_scope *scope);
