/* The values of one member, and what it is called. */
#include "core/text.h"
#include "sweep/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t cb_sweep_dimensions(const cb_sweep_plan *plan) { return plan->grid ? plan->axes : 1; }

size_t cb_sweep_index(const cb_sweep_plan *plan, int64_t m, size_t a) {
  if (!plan->grid) return (size_t)m;
  size_t rest = (size_t)m;
  for (size_t b = plan->axes; b-- > a + 1;) rest /= plan->axis[b].count;
  return rest % plan->axis[a].count;
}

const cb_node *cb_sweep_number(cb_arena *arena, const cb_node *at, double value) {
  char text[32];
  cb_export_number(text, value);
  cb_node *node = cb_arena_alloc(arena, 1, sizeof *node);
  if (!node || !(node->text = cb_arena_strdup(arena, text))) return NULL;
  node->kind = CB_NODE_SCALAR;
  node->file = at->file;
  node->line = at->line;
  node->column = at->column;
  return node;
}

/* A computed value: a number, or a list of them. */
static const cb_node *computed(cb_arena *arena, const cb_sweep_key *key, const double *number) {
  if (!key->shape) return cb_sweep_number(arena, key->at, *number);
  cb_node *list = cb_arena_alloc(arena, 1, sizeof *list);
  const cb_node **items = cb_arena_alloc(arena, key->components, sizeof *items);
  if (!list || !items) return NULL;
  for (size_t c = 0; c < key->components; c++)
    if (!(items[c] = cb_sweep_number(arena, key->shape->items[c], number[c]))) return NULL;
  *list = (cb_node){.kind = CB_NODE_LIST,
                    .file = key->at->file,
                    .line = key->at->line,
                    .column = key->at->column,
                    .count = key->components,
                    .items = items};
  return list;
}

static const cb_node *value_of(cb_arena *arena, const cb_sweep_key *key, size_t i) {
  return key->value ? key->value[i] : computed(arena, key, key->number + i * key->components);
}

cb_status cb_sweep_values(const cb_sweep_plan *plan, int64_t m, cb_arena *arena, cb_member_value *values, size_t *n) {
  size_t count = 0;
  for (size_t i = 0; i < plan->sets; i++) values[count++] = plan->set[i];
  for (size_t a = 0; a < plan->axes && !plan->work->all; a++)
    for (size_t k = 0; k < plan->axis[a].keys; k++) {
      const cb_sweep_key *key = &plan->axis[a].key[k];
      if (count == CB_SWEEP_VALUES) return cb_fail(CB_ERROR_INPUT, "more than %d keys are varied", CB_SWEEP_VALUES);
      values[count] = (cb_member_value){key->key, value_of(arena, key, cb_sweep_index(plan, m, a))};
      if (!values[count++].value) return cb_fail(CB_ERROR_MEMORY, "no memory for the values of a member");
    }
  *n = count;
  return CB_OK;
}

static void put_value(cb_text *text, const cb_node *value) {
  enum { SHOWN = 40 };
  if (value->kind == CB_NODE_SCALAR) {
    cb_text_put(text, value->text, strnlen(value->text, SHOWN));
  } else if (value->kind == CB_NODE_LIST) {
    cb_text_puts(text, "[");
    for (size_t i = 0; i < value->count; i++) {
      if (i) cb_text_puts(text, ", ");
      put_value(text, value->items[i]);
    }
    cb_text_puts(text, "]");
  } else if (value->kind == CB_NODE_MAP) {
    cb_text_puts(text, "{");
    for (size_t i = 0; i < value->count; i++) {
      if (i) cb_text_puts(text, ", ");
      cb_text_puts(text, value->keys[i]->text);
      cb_text_puts(text, ": ");
      put_value(text, value->items[i]);
    }
    cb_text_puts(text, "}");
  } else {
    cb_text_puts(text, "null");
  }
}

char *cb_sweep_value_text(const cb_node *value) {
  cb_text text = {0};
  put_value(&text, value);
  if (text.failed) cb_text_free(&text);
  return text.data;
}

char *cb_sweep_member_text(const cb_sweep_plan *plan, int64_t m) {
  cb_arena *arena = cb_arena_create();
  cb_member_value values[CB_SWEEP_VALUES];
  size_t n = 0;
  cb_text text = {0};
  char number[48];
  snprintf(number, sizeof number, "member %lld", (long long)m);
  cb_text_puts(&text, number);
  if (!arena || cb_sweep_values(plan, m, arena, values, &n)) n = 0;
  for (size_t i = plan->sets; i < n; i++) {
    cb_text_puts(&text, i == plan->sets ? " (" : ", ");
    cb_text_puts(&text, values[i].key->text);
    cb_text_puts(&text, " = ");
    put_value(&text, values[i].value);
  }
  if (n > plan->sets) cb_text_puts(&text, ")");
  cb_arena_free(arena);
  if (text.failed) cb_text_free(&text);
  return text.data;
}
