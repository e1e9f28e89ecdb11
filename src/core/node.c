/* Trees of values: looking up, and failing with a place. */
#include "core/scalar.h"
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cb_node *cb_node_get(const cb_node *map, const char *key) {
  if (!map || map->kind != CB_NODE_MAP) return NULL;
  for (size_t i = 0; i < map->count; i++)
    if (strcmp(map->keys[i]->text, key) == 0) return map->items[i];
  return NULL;
}

cb_found cb_node_found(const cb_node *node) {
  cb_found found;
  switch (node ? node->kind : CB_NODE_NULL) {
    case CB_NODE_NULL: snprintf(found.text, sizeof found.text, "nothing"); break;
    case CB_NODE_LIST: snprintf(found.text, sizeof found.text, "a list"); break;
    case CB_NODE_MAP: snprintf(found.text, sizeof found.text, "a map"); break;
    case CB_NODE_SCALAR:
      snprintf(found.text, sizeof found.text, "'%s'", cb_quoted(node->text, strlen(node->text)).text);
  }
  return found;
}

static cb_status fail_in_column(const cb_node *node, int column, const char *format, va_list args) {
  char text[1536];
  vsnprintf(text, sizeof text, format, args);
  if (!node || !node->file) return cb_fail(CB_ERROR_INPUT, "error: %s", text);
  return cb_fail(CB_ERROR_INPUT, "%s:%d:%d: error: %s", node->file, node->line, column, text);
}

cb_status cb_node_fail(const cb_node *node, const char *format, ...) {
  va_list args;
  va_start(args, format);
  cb_status status = fail_in_column(node, node ? node->column : 0, format, args);
  va_end(args);
  return status;
}

cb_status cb_node_fail_at(const cb_node *node, size_t at, const char *format, ...) {
  int column = node ? node->column : 0;
  if (node && node->kind == CB_NODE_SCALAR && node->text_column > 0 && at <= strlen(node->text))
    column = node->text_column + (int)cb_count_characters(node->text, at);
  va_list args;
  va_start(args, format);
  cb_status status = fail_in_column(node, column, format, args);
  va_end(args);
  return status;
}

cb_status cb_node_check_keys(const cb_node *map, const char *const *names, size_t count) {
  if (!map) return CB_OK;
  if (map->kind != CB_NODE_MAP) return cb_node_fail(map, "expected a map of keys and values, found %s",
                                                    cb_node_found(map).text);
  for (size_t i = 0; i < map->count; i++) {
    const cb_node *key = map->keys[i];
    size_t known = 0;
    while (known < count && strcmp(key->text, names[known]) != 0) known++;
    if (known < count) continue;

    char list[512];
    size_t used = 0;
    list[0] = '\0';
    for (size_t j = 0; j < count && used < sizeof list; j++)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", j ? ", " : "", names[j]);
    if (count == 0) snprintf(list, sizeof list, "no key");
    cb_quote quote = cb_quoted(key->text, strlen(key->text));
    const char *nearest = cb_nearest_name(key->text, names, count);
    if (nearest)
      return cb_node_fail(key, "unknown key '%s', did you mean '%s'? Expected %s%s", quote.text, nearest,
                          count > 1 ? "one of: " : "", list);
    return cb_node_fail(key, "unknown key '%s', expected %s%s", quote.text, count > 1 ? "one of: " : "", list);
  }
  return CB_OK;
}

bool cb_node_is_set(const cb_node *node) { return node->file && !strncmp(node->file, "--set ", 6); }

char *cb_node_path(const cb_node *node) {
  const char *path = node->text;
  const char *slash = node->file && !cb_node_is_set(node) ? strrchr(node->file, '/') : NULL;
  size_t folder = path[0] == '/' || !slash ? 0 : (size_t)(slash - node->file) + 1, length = strlen(path);
  char *out = malloc(folder + length + 1);
  if (!out) return NULL;
  if (folder) memcpy(out, node->file, folder);
  memcpy(out + folder, path, length + 1);
  return out;
}
