#include "sweep/axis.h"

#include "core/errors.h"
#include "core/text.h"
#include "sweep/design.h"
#include "tree/scalar.h"

#include <curvebody/param.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static cb_status no_memory(void) { return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep"); }

/* --- reading --- */

static cb_status read_keys(const cb_node *node, cb_sweep_axis *axis) {
  const cb_node *key = cb_node_get(node, "key");
  if (!key) return cb_node_fail(node, "the key `key` is missing: what is varied, as in --set KEY=VALUE");
  const bool list = key->kind == CB_NODE_LIST;
  axis->keys = list ? key->count : 1;
  if (!axis->keys || axis->keys > CB_SWEEP_KEYS)
    return cb_node_fail(key, "expected 1 to %d keys, found %zu", CB_SWEEP_KEYS, axis->keys);
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < axis->keys; k++) {
    const char *text;
    axis->key[k].key = list ? key->items[k] : key;
    if (!cb_errors_add(&errors, key, cb_node_string(axis->key[k].key, &text)) && !*text)
      cb_errors_add(&errors, key, cb_node_fail(axis->key[k].key, "expected a key, found nothing"));
  }
  return cb_errors_end(&errors);
}

static cb_status read_name(const cb_node *node, cb_sweep_axis *axis) {
  const cb_node *name = cb_node_get(node, "name");
  axis->name = axis->key[0].key->text;
  axis->at = name ? name : axis->key[0].key;
  axis->named = name != NULL;
  return name ? cb_node_string(name, &axis->name) : CB_OK;
}

/* Whether a node is a number, or a list of `components` numbers, into out. */
static bool numbers_of(const cb_node *node, size_t components, double *out) {
  if (node->kind == CB_NODE_LIST) {
    if (node->count != components) return false;
    for (size_t c = 0; c < components; c++)
      if (node->items[c]->kind != CB_NODE_SCALAR || cb_node_real(node->items[c], &out[c])) return false;
    return true;
  }
  return components == 1 && node->kind == CB_NODE_SCALAR && !cb_node_real(node, out);
}

/* Listed values as numbers, where all of them are. */
static cb_status find_numbers(cb_sweep_plan *plan, cb_sweep_axis *axis, cb_sweep_key *key) {
  const cb_node *first = key->value[0];
  const size_t components = first->kind == CB_NODE_LIST ? first->count : 1;
  key->components = components;
  if (!components || components > CB_SWEEP_COMPONENTS) return CB_OK;
  double *number = cb_arena_alloc(plan->arena, axis->count * components, sizeof *number);
  if (!number) return no_memory();
  for (size_t i = 0; i < axis->count; i++)
    if ((key->value[i]->kind == CB_NODE_LIST) != (first->kind == CB_NODE_LIST) ||
        !numbers_of(key->value[i], components, number + i * components))
      return CB_OK;
  key->number = number;
  return CB_OK;
}

static cb_status read_values(cb_sweep_plan *plan, const cb_node *values, cb_sweep_axis *axis) {
  if (values->kind != CB_NODE_LIST || !values->count)
    return cb_node_fail(values, "expected a list of values, found %s", cb_node_found(values).text);
  axis->count = values->count;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; axis->keys > 1 && i < values->count; i++)
    if (values->items[i]->kind != CB_NODE_LIST || values->items[i]->count != axis->keys)
      cb_errors_add(&errors, values,
                    cb_node_fail(values->items[i], "expected a list of %zu values, one for each key", axis->keys));
  cb_status status = cb_errors_end(&errors);
  for (size_t k = 0; k < axis->keys && !status; k++) {
    cb_sweep_key *key = &axis->key[k];
    key->value = cb_arena_alloc(plan->arena, values->count, sizeof *key->value);
    if (!key->value) return no_memory();
    for (size_t i = 0; i < values->count; i++)
      key->value[i] = axis->keys > 1 ? values->items[i]->items[k] : values->items[i];
    status = find_numbers(plan, axis, key);
  }
  return status;
}

static cb_status read_range(const cb_node *node, cb_axis_draft *draft) {
  static const char *const spacings[] = {"linear", "log"};
  const cb_node *from = cb_node_get(node, "from"), *to = cb_node_get(node, "to"),
                *spacing = cb_node_get(node, "spacing");
  draft->laws = 1;
  draft->range = true;
  draft->law[0].kind = CB_QUANTILE_UNIFORM;
  const char *word = "linear";
  cb_errors errors = cb_errors_begin();
  if (!from || !to)
    cb_errors_add(&errors, node,
                  cb_node_fail(node, "the key `%s` is missing: expected `from` and `to`", from ? "to" : "from"));
  else
    cb_errors_add(&errors, from, cb_scalar_real(from, "from", NULL, &draft->law[0].a)),
        cb_errors_add(&errors, to, cb_scalar_real(to, "to", NULL, &draft->law[0].b));
  if (spacing && !cb_errors_add(&errors, spacing, cb_node_string(spacing, &word)) && strcmp(word, "linear") &&
      strcmp(word, "log"))
    cb_errors_add(&errors, spacing, cb_fail_unknown(spacing, "spacing", word, spacings, 2));
  if (!strcmp(word, "log")) {
    draft->law[0].kind = CB_QUANTILE_LOG;
    if (!errors.status && !(draft->law[0].a > 0 && draft->law[0].b > 0))
      cb_errors_add(&errors, spacing, cb_node_fail(spacing, "expected `from` and `to` > 0 for a logarithm"));
  }
  return cb_errors_end(&errors);
}

static int depth(const char *text) {
  int depth = 0;
  for (; *text; text++) depth += (*text == '(') - (*text == ')');
  return depth;
}

/* A comma parts the items of a list in brackets within `normal(0, 1)` too: what it has parted is one item again. */
static const cb_node *joined(cb_sweep_plan *plan, const cb_node *list) {
  cb_node *out = cb_arena_alloc(plan->arena, 1, sizeof *out);
  const cb_node **items = cb_arena_alloc(plan->arena, list->count, sizeof *items);
  if (!out || !items) return NULL;
  *out = *list;
  out->items = items;
  out->count = 0;
  for (size_t i = 0; i < list->count; i++) {
    cb_node *item = cb_arena_alloc(plan->arena, 1, sizeof *item);
    cb_text text = {0};
    if (!item) return NULL;
    *item = *list->items[i];
    if (item->kind == CB_NODE_SCALAR && depth(item->text) > 0) {
      cb_text_puts(&text, item->text);
      while (depth(text.data) > 0 && i + 1 < list->count && list->items[i + 1]->kind == CB_NODE_SCALAR) {
        cb_text_puts(&text, ", ");
        cb_text_puts(&text, list->items[++i]->text);
      }
      item->text = text.failed ? NULL : cb_arena_strdup(plan->arena, text.data);
      cb_text_free(&text);
      if (!item->text) return NULL;
    }
    items[out->count++] = item;
  }
  return out;
}

static cb_status read_random(cb_sweep_plan *plan, const cb_node **random, cb_axis_draft *draft) {
  const bool list = (*random)->kind == CB_NODE_LIST;
  if (list && !(*random = joined(plan, *random))) return no_memory();
  const cb_node *node = *random;
  draft->laws = list ? node->count : 1;
  if (!draft->laws || draft->laws > CB_SWEEP_COMPONENTS)
    return cb_node_fail(node, "expected 1 to %d numbers or distributions", CB_SWEEP_COMPONENTS);
  cb_errors errors = cb_errors_begin();
  for (size_t c = 0; c < draft->laws; c++)
    cb_errors_add(&errors, node, cb_quantile_read(list ? node->items[c] : node, &draft->law[c]));
  return cb_errors_end(&errors);
}

static cb_status read_count(const cb_node *node, cb_axis_counted counted, cb_axis_draft *draft) {
  const cb_node *count = cb_node_get(node, "count"), *seed = cb_node_get(node, "seed");
  long long number = 0, of = 1;
  cb_errors errors = cb_errors_begin();
  if (count && !draft->laws)
    cb_errors_add(&errors, count, cb_node_fail(count, "`count` beside `values`: there are as many as are listed"));
  else if (count && counted == CB_AXIS_BY_DESIGN)
    cb_errors_add(&errors, count, cb_node_fail(count, "the design has the count: expected none for an axis"));
  else if (!count && counted == CB_AXIS_COUNTED && draft->laws)
    cb_errors_add(&errors, node, cb_node_fail(node, "the key `count` is missing"));
  else if (count && !cb_errors_add(&errors, count, cb_scalar_int(count, "count", NULL, &number)) &&
           (number < 1 || number > CB_SWEEP_MEMBERS))
    cb_errors_add(&errors, count, cb_node_fail(count, "count: expected 1 to %d, found %lld", CB_SWEEP_MEMBERS, number));
  if (seed && (draft->range || !draft->laws || counted == CB_AXIS_BY_DESIGN))
    cb_errors_add(
        &errors, seed,
        cb_node_fail(seed, "a seed is for `random`%s", counted == CB_AXIS_BY_DESIGN ? ", or for the design" : ""));
  else if (seed && !cb_errors_add(&errors, seed, cb_scalar_int(seed, "seed", NULL, &of)) && of < 0)
    cb_errors_add(&errors, seed, cb_node_fail(seed, "seed: expected at least 0, found %lld", of));
  draft->count = (size_t)number;
  draft->seed = (uint64_t)of;
  return cb_errors_end(&errors);
}

cb_status cb_axis_read(cb_sweep_plan *plan, const cb_node *node, cb_axis_counted counted, cb_sweep_axis *axis,
                       cb_axis_draft *draft) {
  static const char *const keys[] = {"key", "name", "values", "from", "to", "count", "spacing", "random", "seed"};
  *draft = (cb_axis_draft){.node = node};
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a map with `key` and its values");
  const cb_node *values = cb_node_get(node, "values"), *random = cb_node_get(node, "random"),
                *range = cb_node_get(node, "from");
  if (!range) range = cb_node_get(node, "to");
  const cb_node *parted = random && random->kind == CB_NODE_SCALAR && depth(random->text) > 0 ? random : NULL;
  if (parted)
    return cb_node_fail(parted,
                        "expected quotes around a distribution between braces, where a comma ends a value: "
                        "\"normal(0, 1)\"");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, cb_node_check_keys(node, keys, sizeof keys / sizeof *keys));
  if (!cb_errors_add(&errors, node, read_keys(node, axis))) cb_errors_add(&errors, node, read_name(node, axis));
  if (errors.status) return cb_errors_end(&errors);
  if (!values + !random + !range != 2)
    cb_errors_add(&errors, node, cb_node_fail(node, "expected one of `values`, `from` and `to`, or `random`"));
  else if (!values && axis->keys > 1)
    cb_errors_add(&errors, node, cb_node_fail(node, "several keys move together by `values`"));
  else
    cb_errors_add(&errors, node,
                  values   ? read_values(plan, values, axis)
                  : random ? read_random(plan, &random, draft)
                           : read_range(node, draft));
  if (cb_node_get(node, "spacing") && !range)
    cb_errors_add(&errors, node, cb_node_fail(cb_node_get(node, "spacing"), "spacing is for `from` and `to`"));
  if (!errors.status) cb_errors_add(&errors, node, read_count(node, counted, draft));
  if (!values && !errors.status) {
    axis->count = draft->count;
    axis->key[0].at = random ? random : range;
    axis->key[0].components = draft->laws;
    axis->key[0].shape = random && random->kind == CB_NODE_LIST ? random : NULL;
  }
  return cb_errors_end(&errors);
}

/* --- values --- */

size_t cb_axis_draws(const cb_axis_draft *draft) {
  size_t draws = draft->laws == 0;
  for (size_t c = 0; c < draft->laws; c++) draws += draft->law[c].kind != CB_QUANTILE_NUMBER;
  return draws;
}

static double *make_numbers(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft) {
  return axis->key[0].number = cb_arena_alloc(plan->arena, axis->count * draft->laws, sizeof(double));
}

cb_status cb_axis_fill(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, uint64_t stream) {
  if (!draft->laws) return CB_OK;
  if (draft->range) {
    double *number = make_numbers(plan, axis, draft);
    for (size_t i = 0; number && i < axis->count; i++) number[i] = cb_quantile_step(draft->law, i, axis->count);
    return number ? CB_OK : no_memory();
  }
  const size_t draws = cb_axis_draws(draft);
  double *point = calloc(axis->count * draws + 1, sizeof *point);
  cb_status status =
      point ? cb_design_points(CB_DESIGN_RANDOM, axis->count, draws, draft->seed, stream, point) : no_memory();
  if (!status) status = cb_axis_place(plan, axis, draft, axis->count, point, draws, 0);
  free(point);
  return status;
}

/* Listed values in the order of a design. */
static cb_status choose(cb_sweep_plan *plan, cb_sweep_axis *axis, size_t count, const double *points, size_t stride,
                        size_t first) {
  const size_t listed = axis->count;
  axis->count = count;
  for (size_t k = 0; k < axis->keys; k++) {
    cb_sweep_key *key = &axis->key[k];
    const cb_node **value = cb_arena_alloc(plan->arena, count, sizeof *value);
    if (!value) return no_memory();
    for (size_t i = 0; i < count; i++) value[i] = key->value[(size_t)(points[i * stride + first] * (double)listed)];
    key->value = value;
    key->number = NULL;
    const cb_status status = find_numbers(plan, axis, key);
    if (status) return status;
  }
  return CB_OK;
}

cb_status cb_axis_place(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, size_t count,
                        const double *points, size_t stride, size_t first) {
  if (!draft->laws) return choose(plan, axis, count, points, stride, first);
  axis->count = count;
  double *number = make_numbers(plan, axis, draft);
  if (!number) return no_memory();
  for (size_t i = 0; i < count; i++) {
    size_t draw = first;
    for (size_t c = 0; c < draft->laws; c++) {
      const cb_quantile *law = &draft->law[c];
      number[i * draft->laws + c] =
          cb_quantile_at(law, law->kind == CB_QUANTILE_NUMBER ? 0 : points[i * stride + draw++]);
    }
  }
  return CB_OK;
}
