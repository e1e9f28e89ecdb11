/* A tree of values with their places in a file: what a scenario is once it has been read.
 *
 * The tree knows nothing of YAML, and what consumes it (spaces, bodies, integrators) knows nothing of files. Every
 * failure here is CB_ERROR_INPUT with a text `file:line:column: error: ...` that names what was expected.
 * The tree owns all text in it; nodes are borrowed and live as long as the tree. A value that the file names by an
 * alias is one node with several parents; it stands at the place where it was written.
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
  int line, column;      /* from 1, in characters; line 0: of a word of the command line */
  const char *text;      /* scalar: its text, zero-terminated */
  size_t count;          /* list: items; map: entries */
  const cb_node **items; /* list: items; map: values */
  const cb_node **keys;  /* map: keys (scalars), same order as items */
  int text_column;       /* scalar: column of text[0] where the text stands in the file as it is; otherwise 0 */
};

/* Owns the nodes of a text and the text they point to. */
typedef struct cb_tree cb_tree;
/* Reads a text in YAML, such as "{links: 3, ratio: 2}", called `name` in messages: what scenarios have in place of a
 * node can be given to every function that takes one. Both are copied; the caller frees, after what was made from it.
 * CB_ERROR_INPUT, `name:line:column: error: ...`. */
cb_status cb_tree_read(const char *name, const char *text, cb_tree **out);
/* The outermost value: CB_NODE_NULL for an empty text. */
const cb_node *cb_tree_root(const cb_tree *tree);
void cb_tree_free(cb_tree *tree);

/* The value of a key of a map, NULL if it is not there (or `map` is NULL or not a map). */
const cb_node *cb_node_get(const cb_node *map, const char *key);

/* Scalars. A number may be a constant expression (`pi/2`, `3*pi/2`, `1e-3`) and must be finite; an integer may be one
 * whose value is an integer. A bool is `true` or `false`. A node that is NULL or is empty fails as a wrong one. */
cb_status cb_node_real(const cb_node *node, double *value);
cb_status cb_node_int(const cb_node *node, long long *value);
cb_status cb_node_bool(const cb_node *node, bool *value);
cb_status cb_node_string(const cb_node *node, const char **value);

/* A list of exactly n numbers into value[n]. */
cb_status cb_node_reals(const cb_node *node, size_t n, double *value);

/* Fails with the place of node: `file:line:column: error: ` and the text. Returns CB_ERROR_INPUT. */
cb_status cb_node_fail(const cb_node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, with the place of byte `at` of a scalar's text (such as an offset from cb_expression_parse). Where the file
 * writes the text in another way (escapes, several lines), the place of the node. */
cb_status cb_node_fail_at(const cb_node *node, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Every key of map must be in names[count]; an unknown one fails with the nearest name as a suggestion. Duplicate keys
 * were refused when the tree was read. NULL has no keys; what is not a map fails. */
cb_status cb_node_check_keys(const cb_node *map, const char *const *names, size_t count);

/* The path of the file that node names: relative to the folder of the scenario that node stands in, or to the current
 * one where the name was set on the command line. From malloc; NULL if there is no memory. */
char *cb_node_path(const cb_node *node);

/* The name among names[count] that is nearest to text (edit distance at most 2, or a third of its length), or NULL. */
const char *cb_nearest_name(const char *text, const char *const *names, size_t count);

CB_API_END
#endif
