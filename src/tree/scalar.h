/* Reads scalars of a tree. A name and a unit make the message of a failure: `step: expected a dimensionless number (or
 * constant expression), found 'fast'`. cb_node_real and cb_node_int do the same without a name and a unit. */
#pragma once

#include "core/registry.h"
#include <curvebody/expression.h>
#include <curvebody/node.h>

/* The description of a node in a message: 'its text', "a list", "a map" or "nothing". */
typedef struct cb_found {
  char text[64];
} cb_found;
cb_found cb_node_found(const cb_node *node);

/* Returns whether the node comes from the command line (cb_tree_set, cb_tree_set_by) and not from a file. */
bool cb_node_is_set(const cb_node *node);

/* Repeats the last failure, whose status is `status`, with the place of the node added to its message. */
cb_status cb_fail_again(const cb_node *node, cb_status status);

/* Fails for a name that is not among names[count]. The message has the nearest name and the list of names, cut after
 * 512 bytes: "unknown space 'h33', did you mean 'h3'? Expected one of: ...". what: the kind of thing that is named,
 * such as "key" or "space". node: the node whose place the message has, or NULL. For a former name the message is "seek
 * was renamed to objective". Returns CB_ERROR_INPUT. */
cb_status cb_fail_unknown(const cb_node *node, const char *what, const char *name, const char *const *names,
                          size_t count);
/* Returns the name among names[count] that replaced the former name `name`; NULL if it is not a former name of any of
 * them. */
const char *cb_renamed(const char *name, const char *const *names, size_t count);
/* Replaces former names in the scenario of a record by the new names. */
void cb_rename_former(const cb_node *root);
/* Fails for a name that no class of the registry has, with a message like that of cb_fail_unknown. The message has the
 * place of the key `name` of the map `node`, or the place of the node if it has no such key. If node is NULL, the
 * status is CB_ERROR_ARGUMENT. */
cb_status cb_fail_no_class(const cb_node *node, const char *what, const char *name, const cb_registry *classes);

/* Finds a key of the map that resembles `key`, or is a former name of it, and is not among names[count]: probably this
 * key is a misspelt `key`. Returns the value of this key; NULL if there is no such key. */
const cb_node *cb_node_misspelt(const cb_node *map, const char *key, const char *const *names, size_t count);

/* Read a finite number, or an integer. name: NULL for none. unit: NULL if unknown, "" for a dimensionless number. A
 * number followed by a unit fails. */
cb_status cb_scalar_real(const cb_node *node, const char *name, const char *unit, double *value);
cb_status cb_scalar_int(const cb_node *node, const char *name, const char *unit, long long *value);
/* Reads a size in bytes, > 0: a number, or a number with a unit of size, `20 GB`. */
cb_status cb_scalar_bytes(const cb_node *node, const char *name, double *value);
cb_status cb_scalar_bool(const cb_node *node, const char *name, bool *value);
cb_status cb_scalar_string(const cb_node *node, const char *name, const char **value);

/* Parses the text of the node as an expression in this scope; a failure gives the place in the text. The caller frees
 * *out. */
cb_status cb_node_expression(const cb_node *node, const cb_expression_scope *scope, cb_expression **out);

/* A range of numbers: low < x < high, with <= on a closed side; if `except` is set, x != low instead. */
typedef struct cb_range {
  double low, high;
  bool low_open, high_open, except;
} cb_range;

/* Reads a range as parameter tables write it: "", "> 0", ">= 0", "< 1", "<= 1", "!= 0", "[2, 5]", "(0, 1]" or "[0,
 * inf)". Returns false for any other text. */
bool cb_range_parse(const char *text, cb_range *range);

/* Returns whether x is in the range; false for nan. */
bool cb_range_holds(const cb_range *range, double x);
