/* The axes of a sweep: distributions of their numbers, designs, and values. */
#include "sweep/plan.h"
#include "core/failure.h"
#include "core/text.h"
#include "tree/scalar.h"
#include "numerics/random.h"
#include <curvebody/param.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_qrng.h>

typedef struct form {
  const char *name;
  cb_quantile_kind kind;
  size_t arguments;
} form;

static const form forms[] = {{"uniform", CB_QUANTILE_UNIFORM, 2},
                             {"log_uniform", CB_QUANTILE_LOG, 2},
                             {"normal", CB_QUANTILE_NORMAL, 2},
                             {"exponential", CB_QUANTILE_EXPONENTIAL, 1}};
enum { FORMS = sizeof forms / sizeof *forms };

/* Returns the offset in the text of the comma or parenthesis that ends the argument which begins at `from`. */
static size_t argument_end(const char *text, size_t from) {
  int depth = 0;
  size_t i = from;
  for (; text[i]; i++) {
    if (depth == 0 && (text[i] == ',' || text[i] == ')')) break;
    depth += (text[i] == '(') - (text[i] == ')');
  }
  return i;
}

static cb_status read_argument(const cb_node *node, size_t from, size_t to, double *value) {
  char *text = strndup(node->text + from, to - from);
  if (!text) return cb_fail(CB_ERROR_MEMORY, "no memory for a number");
  size_t at = 0;
  const cb_status status = cb_expression_constant(text, &at, value);
  free(text);
  return status == CB_ERROR_INPUT ? cb_node_fail_at(node, from + at, "%s", cb_error_text()) : status;
}

static cb_status check(const cb_node *node, const cb_quantile *distribution) {
  if ((distribution->kind == CB_QUANTILE_UNIFORM || distribution->kind == CB_QUANTILE_LOG) &&
      !(distribution->a < distribution->b))
    return cb_node_fail(node, "expected a range from a smaller to a larger number, found %g to %g", distribution->a,
                        distribution->b);
  if (distribution->kind == CB_QUANTILE_LOG && !(distribution->a > 0))
    return cb_node_fail(node, "expected positive numbers for a logarithm, found %g", distribution->a);
  if (distribution->kind == CB_QUANTILE_NORMAL && !(distribution->b > 0))
    return cb_node_fail(node, "expected a positive standard deviation, found %g", distribution->b);
  if (distribution->kind == CB_QUANTILE_EXPONENTIAL && !(distribution->a > 0))
    return cb_node_fail(node, "expected a positive mean, found %g", distribution->a);
  return CB_OK;
}

static cb_status read_quantile(const cb_node *node, cb_quantile *distribution) {
  const char *text;
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  const size_t name = strcspn(text, "("), length = strlen(text);
  const form *f = forms;
  while (f < forms + FORMS && !(strlen(f->name) == name && !strncmp(f->name, text, name))) f++;
  if (f == forms + FORMS) {
    const char *names[FORMS];
    for (size_t i = 0; i < FORMS; i++) names[i] = forms[i].name;
    char function[32] = "";
    memcpy(function, text, name < sizeof function ? name : sizeof function - 1);
    const bool call =
        text[name] == '(' && name > 0 && strspn(function, "abcdefghijklmnopqrstuvwxyz_") == strlen(function);
    *distribution = (cb_quantile){CB_QUANTILE_NUMBER, 0, 0};
    status = cb_node_real(node, &distribution->a);
    return status == CB_ERROR_INPUT && call ? cb_fail_unknown(node, "distribution", function, names, FORMS) : status;
  }
  double value[2] = {0, 0};
  size_t from = name + 1, found = 0;
  for (; text[name] == '(' && found <= f->arguments && !status; found++) {
    const size_t to = argument_end(text, from);
    if (!text[to]) return cb_node_fail_at(node, length, "expected `)`");
    if (found < f->arguments) status = read_argument(node, from, to, &value[found]);
    from = to + 1;
    if (text[to] == ')') {
      found++;
      break;
    }
  }
  if (status) return status;
  if (found != f->arguments || text[from - 1] != ')' || text[from])
    return cb_node_fail(node, "expected %s with %zu number%s in parentheses, found '%s'", f->name, f->arguments,
                        f->arguments == 1 ? "" : "s", text);
  *distribution = (cb_quantile){f->kind, value[0], value[1]};
  return check(node, distribution);
}

static double quantile_at(const cb_quantile *distribution, double u) {
  switch (distribution->kind) {
    case CB_QUANTILE_UNIFORM: return distribution->a + (distribution->b - distribution->a) * u;
    case CB_QUANTILE_LOG: return distribution->a * pow(distribution->b / distribution->a, u);
    case CB_QUANTILE_NORMAL: return distribution->a + gsl_cdf_gaussian_Pinv(fmax(u, 0x1p-54), distribution->b);
    case CB_QUANTILE_EXPONENTIAL: return -distribution->a * log1p(-u);
    case CB_QUANTILE_NUMBER: break;
  }
  return distribution->a;
}

static double quantile_step(const cb_quantile *distribution, size_t i, size_t n) {
  if (i == 0) return distribution->a;
  if (i + 1 >= n) return distribution->b;
  const double x = quantile_at(distribution, (double)i / (double)(n - 1));
  return distribution->kind == CB_QUANTILE_UNIFORM && fabs(x) < 1e-12 * fabs(distribution->b - distribution->a)
             ? 0
             : x; /* 0 instead of round-off */
}

size_t cb_design_axes_max(cb_design design) {
  return design == CB_DESIGN_SOBOL    ? gsl_qrng_sobol->max_dimension
         : design == CB_DESIGN_HALTON ? gsl_qrng_halton->max_dimension
                                      : 0;
}

/* Returns a state of the random generator, a different one for every axis of every stream. The generator runs once
 * after each of the three numbers, so that the states of neighbouring axes are unrelated. */
static uint64_t state_of(uint64_t seed, uint64_t stream, size_t axis) {
  uint64_t state = seed;
  cb_uniform(&state);
  state ^= stream * UINT64_C(0xd1342543de82ef95);
  cb_uniform(&state);
  state ^= (uint64_t)axis * UINT64_C(0xaf251af3b0f025b5);
  cb_uniform(&state);
  return state;
}

static cb_status latin(size_t count, size_t axes, uint64_t seed, uint64_t stream, double *point) {
  size_t *part = malloc(count * sizeof *part);
  if (!part) return cb_fail(CB_ERROR_MEMORY, "no memory for a design of %zu points", count);
  for (size_t a = 0; a < axes; a++) {
    uint64_t state = state_of(seed, stream, a);
    for (size_t i = 0; i < count; i++) part[i] = i;
    for (size_t i = count; i > 1; i--) {
      const size_t j = (size_t)(cb_uniform(&state) * (double)i), other = part[i - 1];
      part[i - 1] = part[j];
      part[j] = other;
    }
    for (size_t i = 0; i < count; i++)
      point[i * axes + a] = fmin(((double)part[i] + cb_uniform(&state)) / (double)count, 1 - 0x1p-53);
  }
  free(part);
  return CB_OK;
}

static cb_status sequence(const gsl_qrng_type *type, size_t count, size_t axes, uint64_t seed, uint64_t stream,
                          double *point) {
  gsl_qrng *q = gsl_qrng_alloc(type, (unsigned)axes);
  double *shift = calloc(axes + 1, sizeof *shift);
  const cb_status status = q && shift ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a design");
  for (size_t a = 0; !status && seed && a < axes; a++) {
    uint64_t state = state_of(seed, stream, a);
    shift[a] = cb_uniform(&state);
  }
  for (size_t i = 0; !status && i < count; i++) {
    gsl_qrng_get(q, point + i * axes);
    for (size_t a = 0; a < axes; a++) {
      double *x = &point[i * axes + a];
      *x += shift[a];
      if (*x >= 1) *x -= 1;
    }
  }
  if (q) gsl_qrng_free(q);
  free(shift);
  return status;
}

cb_status cb_design_points(cb_design design, size_t count, size_t axes, uint64_t seed, uint64_t stream, double *point) {
  const size_t maximum = cb_design_axes_max(design);
  if (maximum && axes > maximum) return cb_fail(CB_ERROR_ARGUMENT, "%zu axes, expected at most %zu", axes, maximum);
  if (!axes || !count) return CB_OK;
  switch (design) {
    case CB_DESIGN_LATIN_HYPERCUBE: return latin(count, axes, seed, stream, point);
    case CB_DESIGN_SOBOL: return sequence(gsl_qrng_sobol, count, axes, seed, stream, point);
    case CB_DESIGN_HALTON: return sequence(gsl_qrng_halton, count, axes, seed, stream, point);
    case CB_DESIGN_RANDOM: break;
  }
  for (size_t a = 0; a < axes; a++) {
    uint64_t state = state_of(seed, stream, a);
    for (size_t i = 0; i < count; i++) point[i * axes + a] = cb_uniform(&state);
  }
  return CB_OK;
}

static cb_status no_memory(void) { return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep"); }

/* --- reading --- */

static cb_status read_keys(const cb_node *node, cb_sweep_axis *axis) {
  const cb_node *key = cb_node_get(node, "key");
  if (!key)
    return cb_node_fail(node, "the key `key` is missing: expected the key that is varied, as in --set KEY=VALUE");
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

/* Returns whether a node is a number, or a list of `components` numbers. The numbers are stored in out. */
static bool numbers_of(const cb_node *node, size_t components, double *out) {
  if (node->kind == CB_NODE_LIST) {
    if (node->count != components) return false;
    for (size_t c = 0; c < components; c++)
      if (node->items[c]->kind != CB_NODE_SCALAR || cb_node_real(node->items[c], &out[c])) return false;
    return true;
  }
  return components == 1 && node->kind == CB_NODE_SCALAR && !cb_node_real(node, out);
}

/* Stores listed values as numbers if all of them are numbers. */
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
  draft->distributions = 1;
  draft->range = true;
  draft->distribution[0].kind = CB_QUANTILE_UNIFORM;
  const char *text = "linear";
  cb_errors errors = cb_errors_begin();
  if (!from || !to)
    cb_errors_add(&errors, node,
                  cb_node_fail(node, "the key `%s` is missing: expected `from` and `to`", from ? "to" : "from"));
  else {
    cb_errors_add(&errors, from, cb_scalar_real(from, "from", NULL, &draft->distribution[0].a));
    cb_errors_add(&errors, to, cb_scalar_real(to, "to", NULL, &draft->distribution[0].b));
  }
  if (spacing && !cb_errors_add(&errors, spacing, cb_node_string(spacing, &text)) && strcmp(text, "linear") &&
      strcmp(text, "log"))
    cb_errors_add(&errors, spacing, cb_fail_unknown(spacing, "spacing", text, spacings, 2));
  if (!strcmp(text, "log")) {
    draft->distribution[0].kind = CB_QUANTILE_LOG;
    if (!errors.status && !(draft->distribution[0].a > 0 && draft->distribution[0].b > 0))
      cb_errors_add(&errors, spacing, cb_node_fail(spacing, "expected `from` and `to` > 0 for a logarithm"));
  }
  return cb_errors_end(&errors);
}

static int depth(const char *text) {
  int depth = 0;
  for (; *text; text++) depth += (*text == '(') - (*text == ')');
  return depth;
}

/* In a list in brackets, the comma inside `normal(0, 1)` separates two items. This function joins such items again. */
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
  draft->distributions = list ? node->count : 1;
  if (!draft->distributions || draft->distributions > CB_SWEEP_COMPONENTS)
    return cb_node_fail(node, "expected 1 to %d numbers or distributions", CB_SWEEP_COMPONENTS);
  cb_errors errors = cb_errors_begin();
  for (size_t c = 0; c < draft->distributions; c++)
    cb_errors_add(&errors, node, read_quantile(list ? node->items[c] : node, &draft->distribution[c]));
  return cb_errors_end(&errors);
}

static cb_status read_count(const cb_node *node, cb_axis_counted counted, cb_axis_draft *draft) {
  const cb_node *count = cb_node_get(node, "count"), *seed = cb_node_get(node, "seed");
  long long number = 0, of = 1;
  cb_errors errors = cb_errors_begin();
  if (count && !draft->distributions)
    cb_errors_add(&errors, count,
                  cb_node_fail(count, "expected no `count` next to `values`: the count is the length of the list"));
  else if (count && counted == CB_AXIS_BY_DESIGN)
    cb_errors_add(&errors, count, cb_node_fail(count, "expected no `count` for an axis: the design sets it"));
  else if (!count && counted == CB_AXIS_COUNTED && draft->distributions)
    cb_errors_add(&errors, node, cb_node_fail(node, "the key `count` is missing: expected the number of values"));
  else if (count && !cb_errors_add(&errors, count, cb_scalar_int(count, "count", NULL, &number)) &&
           (number < 1 || number > CB_SWEEP_MEMBERS))
    cb_errors_add(&errors, count, cb_node_fail(count, "count: expected 1 to %d, found %lld", CB_SWEEP_MEMBERS, number));
  if (seed && (draft->range || !draft->distributions || counted == CB_AXIS_BY_DESIGN))
    cb_errors_add(&errors, seed,
                  cb_node_fail(seed, "`seed` applies only to `random`%s",
                               counted == CB_AXIS_BY_DESIGN ? ", or to the design" : ""));
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
    cb_errors_add(&errors, node, cb_node_fail(node, "expected `values` for an axis with several keys"));
  else
    cb_errors_add(&errors, node,
                  values   ? read_values(plan, values, axis)
                  : random ? read_random(plan, &random, draft)
                           : read_range(node, draft));
  if (cb_node_get(node, "spacing") && !range)
    cb_errors_add(&errors, node,
                  cb_node_fail(cb_node_get(node, "spacing"), "`spacing` applies only to `from` and `to`"));
  if (!errors.status) cb_errors_add(&errors, node, read_count(node, counted, draft));
  if (!values && !errors.status) {
    axis->count = draft->count;
    axis->key[0].at = random ? random : range;
    axis->key[0].components = draft->distributions;
    axis->key[0].shape = random && random->kind == CB_NODE_LIST ? random : NULL;
  }
  return cb_errors_end(&errors);
}

/* --- values --- */

size_t cb_axis_draws(const cb_axis_draft *draft) {
  size_t draws = draft->distributions == 0;
  for (size_t c = 0; c < draft->distributions; c++) draws += draft->distribution[c].kind != CB_QUANTILE_NUMBER;
  return draws;
}

static double *make_numbers(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft) {
  return axis->key[0].number = cb_arena_alloc(plan->arena, axis->count * draft->distributions, sizeof(double));
}

cb_status cb_axis_fill(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, uint64_t stream) {
  if (!draft->distributions) return CB_OK;
  if (draft->range) {
    double *number = make_numbers(plan, axis, draft);
    for (size_t i = 0; number && i < axis->count; i++) number[i] = quantile_step(draft->distribution, i, axis->count);
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

/* Replaces the n listed values of the axis by one of them per point of the design. A point has a number u in [0, 1) for
 * this axis, which selects the listed value with the index floor(u n). */
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
  if (!draft->distributions) return choose(plan, axis, count, points, stride, first);
  axis->count = count;
  double *number = make_numbers(plan, axis, draft);
  if (!number) return no_memory();
  for (size_t i = 0; i < count; i++) {
    size_t draw = first;
    for (size_t c = 0; c < draft->distributions; c++) {
      const cb_quantile *distribution = &draft->distribution[c];
      number[i * draft->distributions + c] =
          quantile_at(distribution, distribution->kind == CB_QUANTILE_NUMBER ? 0 : points[i * stride + draw++]);
    }
  }
  return CB_OK;
}
