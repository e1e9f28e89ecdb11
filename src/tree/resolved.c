/* A map completed by the defaults of its table. */
#include <curvebody/param.h>

#include "core/arena.h"

#include <string.h>

static const cb_node *new_scalar(cb_arena *arena, const char *text) {
  cb_node *node = cb_arena_alloc(arena, 1, sizeof *node);
  if (node) *node = (cb_node){.kind = CB_NODE_SCALAR, .file = "default", .line = 1, .column = 1, .text = text};
  return node;
}

/* Does a default of this row stand for "absent"? */
static int default_is_absence(const cb_param *row) {
  return !row->fallback || (row->type == CB_PARAM_NODE && !*row->fallback) ||
         (row->type == CB_PARAM_REAL && strcmp(row->fallback, "nan") == 0);
}

static int in_table(const cb_param *table, const char *name) {
  for (; table && table->name; table++)
    if (strcmp(table->name, name) == 0) return 1;
  return 0;
}

const cb_node *cb_params_resolved(const cb_param *table, const cb_node *map, cb_arena *arena) {
  size_t rows = 0, given = map && map->kind == CB_NODE_MAP ? map->count : 0;
  while (table && table[rows].name) rows++;
  cb_node *full = cb_arena_alloc(arena, 1, sizeof *full);
  const cb_node **keys = cb_arena_alloc(arena, rows + given, sizeof *keys);
  const cb_node **items = cb_arena_alloc(arena, rows + given, sizeof *items);
  if (!full || !keys || !items) return NULL;
  *full = (cb_node){.kind = CB_NODE_MAP, .file = "default", .line = 1, .column = 1, .keys = keys, .items = items};
  if (map) {
    full->file = map->file;
    full->line = map->line;
    full->column = map->column;
  }

  for (size_t r = 0; r < rows; r++) {
    const cb_node *item = cb_node_get(map, table[r].name);
    if (!item && default_is_absence(&table[r])) continue;
    if (!item) item = new_scalar(arena, table[r].fallback);
    const cb_node *key = new_scalar(arena, table[r].name);
    if (!item || !key) return NULL;
    keys[full->count] = key;
    items[full->count++] = item;
  }
  for (size_t i = 0; i < given; i++) {
    if (in_table(table, map->keys[i]->text)) continue;
    keys[full->count] = map->keys[i];
    items[full->count++] = map->items[i];
  }
  return full;
}
