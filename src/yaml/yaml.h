/* YAML text to a tree of values and back.
 *
 * A text is one document of maps, lists and scalars. Keys are names (scalars of at most CB_YAML_LONGEST_KEY bytes), and
 * a map has each key once. Scalars keep their text; the code that uses a scalar decides which kind of value it is. An
 * empty plain scalar, `~` and `null` (also `Null`, `NULL`) are CB_NODE_NULL. Anchors and aliases are allowed, but they
 * must not expand to a huge tree. Tags, several documents and texts beyond the limits below are errors.
 */
#pragma once

#include "core/text.h"
#include <curvebody/node.h>
#include "core/arena.h"

enum {
  CB_YAML_LARGEST = 64 << 20,  /* maximum bytes of a text */
  CB_YAML_MAX_NODES = 8 << 20, /* maximum number of values and keys in a text */
  CB_YAML_DEEPEST = 64,        /* maximum number of nested lists and maps */
  CB_YAML_LONGEST_KEY = 128,   /* maximum bytes of a key */
  CB_YAML_MAX_ANCHORS = 1000,
  CB_YAML_LARGEST_EXPANSION = 16 << 20 /* maximum bytes of all aliases together if they were written out */
};

/* Reads a file; "-" is the standard input. Fails with CB_ERROR_FILE if it cannot be opened or read, and with
 * CB_ERROR_INPUT and a message `path:line:column: error: ...` if its content is wrong. The caller owns *out. */
cb_status cb_yaml_read_file(const char *path, cb_tree **out);

/* Reads YAML from text[n]. Messages use `name` as the name of the file. Text and name are copied. */
cb_status cb_yaml_read_text(const char *name, const char *text, size_t n, cb_tree **out);

/* Returns the text as it was read, without values that were set later. */
const char *cb_tree_source(const cb_tree *tree);

/* Sets one value as `--set KEY=VALUE` does: KEY is a path of keys and list indices (from 0) joined by dots, VALUE is
 * YAML. Examples: `integrator.step=0.1`, `bodies.0.mass=2`. Missing keys are added; an index must exist. Nodes that
 * the caller already has stay valid and unchanged. The message of a failure, also of a later failure about this value,
 * has the place in the assignment: `--set integrator.step=1x:1:18: error: ...`. If setting fails, the tree is
 * unchanged. */
cb_status cb_tree_set(cb_tree *tree, const char *assignment);
/* Sets one value like cb_tree_set. An argument of the command line can stand for several assignments, of which this is
 * one. Messages begin with this argument: `h3:curvature=1: error: ...`. */
cb_status cb_tree_set_by(cb_tree *tree, const char *argument, const char *assignment);
/* Sets one value like cb_tree_set, at the path in the text of the scalar `key`. The new value is the node `value`. Both
 * nodes may belong to another tree, which must not be freed before this one. Messages about the path have the place of
 * `key`. */
cb_status cb_tree_put(cb_tree *tree, const cb_node *key, const cb_node *value);

/* Makes a tree with the root `root`, a node of `base`. The new tree shares the nodes of `base`, which must not be freed
 * first, but changes of the new tree do not change `base`. */
cb_status cb_tree_over(const cb_tree *base, const cb_node *root, cb_tree **out);

/* Appends the tree below node to text as YAML that reads back as the same tree. Fails only with CB_ERROR_MEMORY. */
cb_status cb_node_emit(const cb_node *node, cb_text *text);

/* --- the structure of a tree, for the files that read and change it --- */

struct cb_tree {
  cb_arena *arena;
  const char *source;
  const cb_node *root;
};

/* Reads text[n] as one YAML document into nodes in the arena. `file` is its name in messages and must live as long as
 * the arena. column_shift is the number of characters before the text in its first line; if it is negative, the text is
 * part of an argument of the command line and its nodes have line 0. `depth` is the number of lists and maps around the
 * value. */
cb_status cb_yaml_build(cb_arena *arena, const char *file, const char *text, size_t n, int column_shift, int depth,
                        const cb_node **root);

/* Fails with a message about missing memory for the values of a file. */
cb_status cb_tree_no_memory(const char *file);
