/* Sets one value of a tree: to a text of the command line, or to a node of another tree.
 *
 * Lists and maps on the path to the value are copied; the other nodes are shared with the old tree. Therefore a value
 * that several aliases share changes in one place only, and nodes that are in use elsewhere do not change. */
#include "yaml/yaml.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_TOKEN = 80 }; /* maximum bytes of an argument of the command line in messages */

typedef struct assignment {
  cb_tree *tree;
  const char *file;           /* the name in messages: "--set KEY=VALUE", or an argument of the command line */
  int line;                   /* 0: `file` is an argument of the command line */
  const char *text;           /* "KEY=VALUE", or the text of `key` */
  size_t equals;              /* offset of '=', or the length of the text */
  const cb_node *key, *value; /* NULL: key and value are in the text */
} assignment;

static cb_node place(const assignment *a, size_t offset) {
  if (a->key) {
    cb_node at = *a->key;
    if (at.text_column) at.column = at.text_column + (int)cb_count_characters(a->text, offset);
    return (cb_node){.file = at.file, .line = at.line, .column = at.column};
  }
  return (cb_node){.file = a->file, .line = a->line, .column = (int)cb_count_characters(a->text, offset) + 1};
}

static size_t part_length(const assignment *a, size_t from) {
  size_t n = 0;
  while (from + n < a->equals && a->text[from + n] != '.') n++;
  return n;
}

static cb_node *new_node(const assignment *a, cb_node value) {
  cb_node *node = cb_arena_alloc(a->tree->arena, 1, sizeof *node);
  if (node) *node = value;
  return node;
}

static cb_status replace(const assignment *a, const cb_node *old, size_t from, int depth, const cb_node **out);

/* Makes the new value of a key. The key has n bytes and begins at offset `from` of the path. old: the value that the
 * key has; NULL: the key is missing. */
static cb_status next_value(const assignment *a, const cb_node *old, size_t from, size_t n, int depth,
                            const cb_node **out) {
  if (from + n < a->equals) return replace(a, old, from + n + 1, depth + 1, out);
  if (a->value) {
    *out = a->value;
    return CB_OK;
  }
  const char *value = a->text + a->equals + 1;
  int shift = a->line ? (int)cb_count_characters(a->text, a->equals + 1) : -1;
  return cb_yaml_build(a->tree->arena, a->file, value, strlen(value), shift, depth, out);
}

static cb_status replace_in_list(const assignment *a, const cb_node *old, size_t from, size_t n, int depth,
                                 const cb_node **out) {
  cb_node at = place(a, from);
  long long index;
  bool digits = a->text[from] >= '0' && a->text[from] <= '9' && cb_parse_integer(a->text + from, n, &index);
  if (old->count == 0)
    return cb_node_fail(&at, "the list is empty: expected no index, found '%s'", cb_quoted(a->text + from, n).text);
  if (!digits || (unsigned long long)index >= old->count)
    return cb_node_fail(&at, "expected an index from 0 to %zu into a list, found '%s'", old->count - 1,
                        cb_quoted(a->text + from, n).text);

  const cb_node *value;
  cb_status status = next_value(a, old->items[index], from, n, depth, &value);
  if (status != CB_OK) return status;
  cb_node *list = new_node(a, *old);
  const cb_node **items = cb_arena_alloc(a->tree->arena, old->count, sizeof *items);
  if (!list || !items) return cb_tree_no_memory(a->file);
  memcpy(items, old->items, old->count * sizeof *items);
  items[index] = value;
  list->items = items;
  *out = list;
  return CB_OK;
}

static cb_status replace_in_map(const assignment *a, const cb_node *old, size_t from, size_t n, int depth,
                                const cb_node **out) {
  cb_arena *arena = a->tree->arena;
  size_t count = old && old->kind == CB_NODE_MAP ? old->count : 0, i = 0;
  while (i < count && !(strlen(old->keys[i]->text) == n && memcmp(old->keys[i]->text, a->text + from, n) == 0)) i++;

  const cb_node *value;
  cb_status status = next_value(a, i < count ? old->items[i] : NULL, from, n, depth, &value);
  if (status != CB_OK) return status;
  cb_node *map = new_node(a, count ? *old : place(a, from));
  const cb_node **items = cb_arena_alloc(arena, count + 1, sizeof *items);
  const cb_node **keys = cb_arena_alloc(arena, count + 1, sizeof *keys);
  if (!map || !items || !keys) return cb_tree_no_memory(a->file);
  for (size_t j = 0; j < count; j++) {
    items[j] = old->items[j];
    keys[j] = old->keys[j];
  }
  if (i == count) {
    cb_node *key = new_node(a, place(a, from));
    if (!key || !(key->text = cb_arena_strndup(arena, a->text + from, n))) return cb_tree_no_memory(a->file);
    key->kind = CB_NODE_SCALAR;
    key->text_column = key->column;
    keys[i] = key;
    count++;
  }
  items[i] = value;
  map->kind = CB_NODE_MAP;
  map->count = count;
  map->items = items;
  map->keys = keys;
  *out = map;
  return CB_OK;
}

static cb_status replace(const assignment *a, const cb_node *old, size_t from, int depth, const cb_node **out) {
  size_t n = part_length(a, from);
  cb_node at = place(a, from);
  if (n == 0) return cb_node_fail(&at, "expected a key, found '%c'", a->text[from]);
  if (n > CB_YAML_LONGEST_KEY)
    return cb_node_fail(&at, "the key has %zu bytes, expected at most %d", n, CB_YAML_LONGEST_KEY);
  if (depth > CB_YAML_DEEPEST) return cb_node_fail(&at, "expected at most %d nested lists and maps", CB_YAML_DEEPEST);
  if (old && old->kind == CB_NODE_LIST) return replace_in_list(a, old, from, n, depth, out);
  if (old && old->kind == CB_NODE_SCALAR)
    return cb_node_fail(&at, "'%s' is a key of '%s', which is a value without keys: expected a map there",
                        cb_quoted(a->text + from, n).text, cb_quoted(old->text, strlen(old->text)).text);
  return replace_in_map(a, old, from, n, depth, out);
}

static cb_status assign(assignment *a) {
  a->equals = strcspn(a->text, "=");
  if (!a->text[a->equals]) {
    cb_node end = place(a, a->equals);
    return cb_node_fail(&end, "expected KEY=VALUE, found no '='");
  }
  return replace(a, a->tree->root, 0, 1, &a->tree->root);
}

cb_status cb_tree_set(cb_tree *tree, const char *text) {
  cb_text name = {0};
  cb_text_puts(&name, "--set ");
  cb_text_puts(&name, text);
  const char *file = name.failed ? NULL : cb_arena_strndup(tree->arena, name.data, name.length);
  cb_text_free(&name);
  if (!file) return cb_tree_no_memory("--set");

  assignment a = {.tree = tree, .file = file, .line = 1, .text = file + strlen("--set ")};
  return assign(&a);
}

cb_status cb_tree_set_by(cb_tree *tree, const char *token, const char *text) {
  assignment a = {.tree = tree,
                  .file = cb_arena_strndup(tree->arena, token, strnlen(token, LONGEST_TOKEN)),
                  .text = cb_arena_strndup(tree->arena, text, strlen(text))};
  return a.file && a.text ? assign(&a) : cb_tree_no_memory(token);
}

cb_status cb_tree_put(cb_tree *tree, const cb_node *key, const cb_node *value) {
  const assignment a = {.tree = tree, .text = key->text, .equals = strlen(key->text), .key = key, .value = value};
  return replace(&a, tree->root, 0, 1, &tree->root);
}
