/* What a tree is made of: shared by the files that read and change it. */
#ifndef CB_YAML_TREE_H
#define CB_YAML_TREE_H

#include "core/arena.h"
#include "yaml/yaml.h"

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

#endif
