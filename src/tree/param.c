/* Parameter tables: a map of values is read into a struct, or completed by the defaults of its table. */
#include <curvebody/param.h>

#include "core/arena.h"
#include "core/failure.h"
#include "tree/scalar.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAXIMUM = 256 };

typedef union value {
  double real;
  int integer;
  bool truth;
  const char *string;
  const cb_node *node;
} value;

/* A text for messages that describes which values a parameter accepts: "a number > 0, in m", "one of fixed-point,
 * newton, auto". */
typedef struct description {
  char text[256];
} description;

static description describe(const cb_param *row) {
  description d;
  const char *unit = row->unit ? row->unit : "", *range = row->range ? row->range : "";
  bool interval = *range == '[' || *range == '(';
  switch (row->type) {
    case CB_PARAM_REAL:
    case CB_PARAM_INT:
      snprintf(d.text, sizeof d.text, "%s%s%s%s%s%s",
               row->type == CB_PARAM_INT ? "an integer"
               : *unit                   ? "a number"
                                         : "a dimensionless number",
               *range ? " " : "", interval ? "in " : "", range, *unit ? ", in " : "", unit);
      break;
    case CB_PARAM_BOOL: snprintf(d.text, sizeof d.text, "true or false"); break;
    case CB_PARAM_STRING: snprintf(d.text, sizeof d.text, "a text"); break;
    case CB_PARAM_NODE: snprintf(d.text, sizeof d.text, "a value"); break;
    case CB_PARAM_CHOICE: {
      size_t used = (size_t)snprintf(d.text, sizeof d.text, "one of ");
      for (const char *c = row->choices ? row->choices : ""; *c && used + 3 < sizeof d.text; c++) {
        if (*c == '|') d.text[used++] = ',';
        d.text[used++] = *c == '|' ? ' ' : *c;
      }
      d.text[used] = '\0';
    }
  }
  return d;
}

static cb_status fail_range(const cb_param *row, const cb_node *node) {
  return cb_node_fail(node, "%s: expected %s, found %s", row->name, describe(row).text, cb_node_found(node).text);
}

static cb_status bind_choice(const cb_param *row, const cb_node *node, int *index) {
  if (!node || node->kind != CB_NODE_SCALAR) return fail_range(row, node);
  char texts[512];
  const char *list[64];
  size_t count = 0;
  if ((size_t)snprintf(texts, sizeof texts, "%s", row->choices ? row->choices : "") >= sizeof texts)
    return cb_fail(CB_ERROR_ARGUMENT, "parameter '%s': too many choices: expected fewer", row->name);
  for (char *text = texts; text && count < sizeof list / sizeof *list;) {
    char *bar = strchr(text, '|');
    if (bar) *bar++ = '\0';
    if (strcmp(text, node->text) == 0) {
      *index = (int)count;
      return CB_OK;
    }
    list[count++] = text;
    text = bar;
  }
  const char *nearest = cb_nearest_name(node->text, list, count);
  if (!nearest) return fail_range(row, node);
  return cb_node_fail(node, "%s: expected %s, found %s, did you mean '%s'?", row->name, describe(row).text,
                      cb_node_found(node).text, nearest);
}

static cb_status bind_value(const cb_param *row, const cb_node *node, value *v) {
  cb_range range;
  if (!cb_range_parse(row->range, &range))
    return cb_fail(CB_ERROR_ARGUMENT, "parameter '%s': expected a range, found '%s'", row->name, row->range);
  const char *unit = row->unit ? row->unit : "";
  cb_status status = CB_OK;
  switch (row->type) {
    case CB_PARAM_REAL:
      status = cb_scalar_real(node, row->name, unit, &v->real);
      if (status == CB_OK && !cb_range_holds(&range, v->real)) status = fail_range(row, node);
      break;
    case CB_PARAM_INT: {
      long long wide = 0;
      status = cb_scalar_int(node, row->name, unit, &wide);
      if (status != CB_OK) break;
      if (!cb_range_holds(&range, (double)wide))
        status = fail_range(row, node);
      else if (wide < INT_MIN || wide > INT_MAX)
        status = cb_node_fail(node, "%s: expected an integer from %d to %d, found %s", row->name, INT_MIN, INT_MAX,
                              cb_node_found(node).text);
      v->integer = (int)wide;
      break;
    }
    case CB_PARAM_BOOL: status = cb_scalar_bool(node, row->name, &v->truth); break;
    case CB_PARAM_STRING: status = cb_scalar_string(node, row->name, &v->string); break;
    case CB_PARAM_CHOICE: status = bind_choice(row, node, &v->integer); break;
    case CB_PARAM_NODE: v->node = node; break;
  }
  return status;
}

static cb_status bind_fallback(const cb_param *row, value *v) {
  if (row->type == CB_PARAM_REAL && strcmp(row->fallback, "nan") == 0) {
    v->real = NAN;
    return CB_OK;
  }
  if (row->type == CB_PARAM_NODE) {
    v->node = NULL;
    return CB_OK;
  }
  cb_node node = {.kind = CB_NODE_SCALAR, .text = row->fallback, .file = "default", .line = 1, .column = 1};
  cb_status status = bind_value(row, &node, v);
  return status == CB_ERROR_INPUT ? cb_fail(CB_ERROR_ARGUMENT, "parameter table: %s", cb_error_text()) : status;
}

static void store(const cb_param *row, const value *v, void *out) {
  char *field = (char *)out + row->offset;
  switch (row->type) {
    case CB_PARAM_REAL: memcpy(field, &v->real, sizeof v->real); break;
    case CB_PARAM_INT:
    case CB_PARAM_CHOICE: memcpy(field, &v->integer, sizeof v->integer); break;
    case CB_PARAM_BOOL: memcpy(field, &v->truth, sizeof v->truth); break;
    case CB_PARAM_STRING: memcpy(field, &v->string, sizeof v->string); break;
    case CB_PARAM_NODE: memcpy(field, &v->node, sizeof v->node); break;
  }
}

typedef struct names {
  const char *name[NAMES_MAXIMUM];
  size_t count;
} names;

static cb_status find_names(const cb_param *table, const char *const *extra, size_t n_extra, names *all) {
  all->count = 0;
  for (const cb_param *row = table; row && row->name && all->count < NAMES_MAXIMUM; row++)
    all->name[all->count++] = row->name;
  if (n_extra > NAMES_MAXIMUM - all->count)
    return cb_fail(CB_ERROR_ARGUMENT, "expected at most %d parameters", NAMES_MAXIMUM);
  for (size_t i = 0; i < n_extra; i++) all->name[all->count++] = extra[i];
  return CB_OK;
}

static cb_status bind_row(const cb_param *row, const cb_node *map, const cb_node *where, const names *all, value *v) {
  const cb_node *node = cb_node_get(map, row->name);
  if (node) return bind_value(row, node, v);
  if (row->fallback) return bind_fallback(row, v);
  if (cb_node_misspelt(map, row->name, all->name, all->count)) return cb_fail_consequence();
  return cb_node_fail(map ? map : where, "missing key '%s': expected %s%s%s", row->name, describe(row).text,
                      row->doc && *row->doc ? ": " : "", row->doc ? row->doc : "");
}

cb_status cb_params_bind(const cb_param *table, const cb_node *map, const cb_node *where, const char *const *extra,
                         size_t n_extra, void *out) {
  names all;
  cb_status status = find_names(table, extra, n_extra, &all);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, map, cb_node_check_keys(map, all.name, all.count));
  const bool is_map = !map || map->kind == CB_NODE_MAP;

  /* All rows are read before any is stored, so that a failure leaves the struct unchanged. */
  for (const cb_param *row = table; row && row->name && is_map; row++) {
    value v = {0};
    const cb_node *node = cb_node_get(map, row->name);
    cb_errors_add(&errors, node ? node : map ? map : where, bind_row(row, map, where, &all, &v));
  }
  status = cb_errors_end(&errors);
  for (const cb_param *row = table; row && row->name && out && !status; row++) {
    value v = {0};
    status = bind_row(row, map, where, &all, &v);
    if (!status) store(row, &v, out);
  }
  return status;
}

void cb_params_bind_right(const cb_param *table, const cb_node *map, void *out) {
  const names none = {.count = 0};
  for (const cb_param *row = table; row && row->name; row++) {
    value v = {0};
    if (bind_row(row, map, NULL, &none, &v) && row->fallback) bind_fallback(row, &v);
    store(row, &v, out);
  }
}

/* --- a map completed by the defaults of its table --- */

static const cb_node *new_scalar(cb_arena *arena, const char *text) {
  cb_node *node = cb_arena_alloc(arena, 1, sizeof *node);
  if (node) *node = (cb_node){.kind = CB_NODE_SCALAR, .file = "default", .line = 1, .column = 1, .text = text};
  return node;
}

/* Returns whether the default of this row is the absence of a value. */
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
