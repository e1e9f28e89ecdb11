/* YAML text to a tree of values and back.
 *
 * What is read: one document of maps, lists and scalars. Keys are names (scalars of at most CB_YAML_LONGEST_KEY bytes),
 * each once in a map. Scalars keep their text; what kind of value it is, is asked by the one who reads it. An empty
 * plain scalar, `~` and `null` are CB_NODE_NULL. Anchors and aliases may be used as far as they do not blow up a small
 * text. Refused are tags, several documents and what exceeds the bounds below.
 */
#pragma once

#include "core/text.h"
#include <curvebody/node.h>
#include "core/arena.h"

enum {
  CB_YAML_LARGEST = 64 << 20,   /* bytes of a text */
  CB_YAML_MOST_NODES = 8 << 20, /* values and keys in a text */
  CB_YAML_DEEPEST = 64,         /* lists and maps within each other */
  CB_YAML_LONGEST_KEY = 128,    /* bytes */
  CB_YAML_MOST_ANCHORS = 1000,
  CB_YAML_LARGEST_EXPANSION = 16 << 20 /* bytes that all aliases together stand for */
};

/* Reads a file. CB_ERROR_FILE if it cannot be opened or read; CB_ERROR_INPUT, `path:line:column: error: ...`, if its
 * content is wrong. The caller owns *out. */
cb_status cb_yaml_read_file(const char *path, cb_tree **out);

/* The same for text[n], named `name` in messages. Text and name are copied. */
cb_status cb_yaml_read_text(const char *name, const char *text, size_t n, cb_tree **out);

/* The text as it was read, without what was set later. */
const char *cb_tree_source(const cb_tree *tree);

/* Sets one value as `--set KEY=VALUE` does: KEY is a path of keys and list indices (from 0) joined by dots, VALUE is
 * YAML. `integrator.step=0.1`, `bodies.0.mass=2`. Keys that are not there are added, an index must exist. Nodes taken
 * from the tree before stay valid and unchanged. Failures, then and when the value is used, have the place in the
 * assignment: `--set integrator.step=1x:1:18: error: ...`; the tree is then unchanged. */
cb_status cb_tree_set(cb_tree *tree, const char *assignment);
/* The same by a word of the command line that stands for several: failures begin with the word, `h3:curvature=1: error:
 * ...`. */
cb_status cb_tree_set_by(cb_tree *tree, const char *word, const char *assignment);
/* The same of a key that is a scalar's text, to a node of another tree, which lives at least as long. Failures of the key
 * have its place. */
cb_status cb_tree_put(cb_tree *tree, const cb_node *key, const cb_node *value);

/* A tree that begins as `base`, or as what is below a node of it, from where it borrows, and changes by itself. */
cb_status cb_tree_over(const cb_tree *base, const cb_node *root, cb_tree **out);

/* Appends the tree below node to text as YAML that reads back as the same tree. CB_ERROR_MEMORY is the only failure. */
cb_status cb_node_emit(const cb_node *node, cb_text *text);

/* --- what a tree is made of: shared by the files that read and change it --- */

struct cb_tree {
  cb_arena *arena;
  const char *source;
  const cb_node *root;
};

/* Reads text[n] as one YAML document into nodes in arena. `file` names it in messages and must live as long as the
 * arena; columns of the first line are moved right by `column_shift` (characters that stand before the text;
 * < 0: the text is part of a word, its nodes have line 0);
 * `depth` is the number of lists and maps that the value will stand in. */
cb_status cb_yaml_build(cb_arena *arena, const char *file, const char *text, size_t n, int column_shift, int depth,
                        const cb_node **root);

cb_status cb_tree_no_memory(const char *file);
