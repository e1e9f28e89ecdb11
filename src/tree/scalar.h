/* Scalars of a tree read with a name and a unit for the message: `step: expected a dimensionless number (or constant
 * expression), found 'fast'`. cb_node_real and cb_node_int are these without name and unit. */
#pragma once

#include "core/registry.h"
#include <curvebody/expression.h>
#include <curvebody/node.h>

/* How a node reads in a message: 'its text', "a list", "a map" or "nothing". */
typedef struct cb_found { char text[64]; } cb_found;
cb_found cb_node_found(const cb_node *node);

/* Does it come from the command line (cb_tree_set, cb_tree_set_by), not from a file? */
bool cb_node_is_set(const cb_node *node);

/* The last failure, of that status, as it is known, with the node for its place. */
cb_status cb_fail_again(const cb_node *node, cb_status status);

/* Fails for a name that is none of names[count], with the nearest and with all: "unknown space 'h33', did you mean
 * 'h3'? Expected one of: ...". what: "key", "space". node: its place, or NULL. Returns CB_ERROR_INPUT. */
cb_status cb_fail_unknown(const cb_node *node, const char *what, const char *name, const char *const *names,
                          size_t count);
/* The same for a name that no class of the registry has, at `name` of node or at node; CB_ERROR_ARGUMENT for no node. */
cb_status cb_fail_no_class(const cb_node *node, const char *what, const char *name, const cb_registry *classes);

/* The value of a key of map, none of names[count], that is near to `key`; NULL: `key` is missing, not misspelt. */
const cb_node *cb_node_misspelt(const cb_node *map, const char *key, const char *const *names, size_t count);

/* name: NULL for none. unit: NULL if unknown, "" for a dimensionless number. A number that a unit follows fails. */
cb_status cb_scalar_real(const cb_node *node, const char *name, const char *unit, double *value);
cb_status cb_scalar_int(const cb_node *node, const char *name, const char *unit, long long *value);
/* A size in bytes, above 0: a number, or a number and a unit of size, `20 GB`. */
cb_status cb_scalar_bytes(const cb_node *node, const char *name, double *value);
cb_status cb_scalar_bool(const cb_node *node, const char *name, bool *value);
cb_status cb_scalar_string(const cb_node *node, const char *name, const char **value);

/* The expression that node is, in the scope; failures have their place in it. The caller frees *out. */
cb_status cb_node_expression(const cb_node *node, const cb_expression_scope *scope, cb_expression **out);

/* What a text that is nearly a number should have been: units, products without a sign, letters of other alphabets. */
typedef struct cb_number_hint {
  size_t at;      /* offset of what is wrong */
  char text[400]; /* what is wrong, and what to write */
} cb_number_hint;

/* Of text[n], which begins with a decimal number and goes on with a unit, a name or a bracket. own: the unit of the
 * key, "" for a dimensionless one, NULL where it is not known. What is told to be written has the value that the text
 * means; where that is not plain no text is proposed. False: the text is of another kind, and the parser says what is
 * wrong. */
bool cb_number_hint_of(const char *text, size_t n, const char *own, cb_number_hint *out);

/* A range of numbers as parameter tables write it: low < x < high, or <= on a closed side; or x != low where `except`. */
typedef struct cb_range {
  double low, high;
  bool low_open, high_open, except;
} cb_range;

/* Reads "", "> 0", ">= 0", "< 1", "<= 1", "!= 0", "[2, 5]", "(0, 1]", "[0, inf)". False if text is none of these. */
bool cb_range_parse(const char *text, cb_range *range);

/* False for nan. */
bool cb_range_holds(const cb_range *range, double x);
