/* A tree of values with their places in a file: the form of a scenario after it has been read.
 *
 * The tree is independent of YAML, and the code that uses it (spaces, bodies, integrators) is independent of files.
 * A function that reads a value fails with CB_ERROR_INPUT and a text `file:line:column: error: ...`, which says what
 * was expected. The tree owns all text in it; nodes are borrowed and are valid until the tree is freed. A value that
 * the file repeats by an alias is one node with several parents; its place is the place where it was written.
 * For users, who read a text (cb_tree_read), and for authors whose parameters have structure.
 */
#ifndef CURVEBODY_NODE_H
#define CURVEBODY_NODE_H

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>

CB_API_BEGIN

typedef enum cb_node_kind { CB_NODE_NULL, CB_NODE_SCALAR, CB_NODE_LIST, CB_NODE_MAP } cb_node_kind;

typedef struct cb_node cb_node;
struct cb_node {
  cb_node_kind kind;
  const char *file;      /* name of the file, for messages */
  int line, column;      /* counted from 1, in characters; line 0: a node from the command line, which has no lines */
  const char *text;      /* scalar: its text, zero-terminated */
  size_t count;          /* list: items; map: entries */
  const cb_node **items; /* list: items; map: values */
  const cb_node **keys;  /* map: keys (scalars), same order as items */
  int text_column;       /* scalar: column of text[0] if the file has the text literally; otherwise 0 */
};

/* Owns the nodes of a text and the text to which they point. */
typedef struct cb_tree cb_tree;
/* Reads a text in YAML, such as "{links: 3, ratio: 2}", called `name` in messages. The result can be given to every
 * function that takes a node of a scenario. Both texts are copied. The caller frees the tree, after everything that was
 * made from it. CB_ERROR_INPUT, with a message `name:line:column: error: ...`. */
cb_status cb_tree_read(const char *name, const char *text, cb_tree **out);
/* Returns the outermost value: CB_NODE_NULL for an empty text. */
const cb_node *cb_tree_root(const cb_tree *tree);
void cb_tree_free(cb_tree *tree);

/* Returns the value of a key of a map; NULL if the key is missing (or `map` is NULL or not a map). */
const cb_node *cb_node_get(const cb_node *map, const char *key);

/* Read the value of a scalar. A number may be a constant expression (`pi/2`, `3*pi/2`, `1e-3`) and must be finite; an
 * integer may be an expression whose value is an integer. A bool is `true` or `false`. A string is borrowed from the
 * tree. CB_ERROR_INPUT for another value, and for a node that is NULL, empty, a list or a map; *value is then
 * unchanged. */
cb_status cb_node_real(const cb_node *node, double *value);
cb_status cb_node_int(const cb_node *node, long long *value);
cb_status cb_node_bool(const cb_node *node, bool *value);
cb_status cb_node_string(const cb_node *node, const char **value);

/* Reads a list of exactly n numbers into value[n]. */
cb_status cb_node_reals(const cb_node *node, size_t n, double *value);

/* Sets the text of the last error to `file:line:column: error: `, with the place of the node, and the formatted text.
 * Returns CB_ERROR_INPUT. */
cb_status cb_node_fail(const cb_node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does the same as cb_node_fail, with the place of byte `at` of a scalar's text (such as an offset from
 * cb_expression_parse). If the file writes the text in another form, for example with escapes or on several lines, the
 * message has the place of the node. */
cb_status cb_node_fail_at(const cb_node *node, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks that every key of map is in names[count]. CB_ERROR_INPUT for an unknown key, with the nearest name in the
 * message, and for a node that is not a map. A map that is NULL has no keys. */
cb_status cb_node_check_keys(const cb_node *map, const char *const *names, size_t count);

/* Returns the path of the file that the scalar `node` names. A relative name is relative to the folder of the scenario
 * that contains the node, or to the current folder if the name was set on the command line. The caller frees the path
 * with free(); NULL if memory runs out. */
char *cb_node_path(const cb_node *node);

/* Returns that name of names[count] which has the smallest edit distance from text; it is borrowed. The distance must
 * be less than the length of text, and at most the larger of 2 and a third of this length; NULL if no name is so
 * near. */
const char *cb_nearest_name(const char *text, const char *const *names, size_t count);

CB_API_END
#endif
