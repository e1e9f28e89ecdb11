/* Reads gaits of a scenario: a kind of gait, and the keys that every kind has. */
#include "bundle/gait_private.h"
#include "core/failure.h"
#include "tree/scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- values of any kind: lists of numbers, expressions --- */

cb_gait_names cb_gait_names_of(const cb_bundle *b) {
  cb_gait_names out = {""};
  size_t used = 0;
  for (int i = 0; i < b->n && used < sizeof out.text; i++)
    used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%s", i ? ", " : "", b->shape[i]);
  return out;
}

cb_status cb_gait_read_shape(const cb_bundle *b, const cb_node *list, const char *what, double *r) {
  if (!list || list->kind != CB_NODE_LIST || list->count != (size_t)b->n) {
    char found[64];
    if (list && list->kind == CB_NODE_LIST)
      snprintf(found, sizeof found, "%zu", list->count);
    else
      snprintf(found, sizeof found, "%s", cb_node_found(list).text);
    return cb_node_fail(list, "%s: expected a list of %d number%s, one per shape variable (%s), found %s", what, b->n,
                        b->n == 1 ? "" : "s", cb_gait_names_of(b).text, found);
  }
  return cb_node_reals(list, (size_t)b->n, r);
}

cb_status cb_gait_read_rows(const cb_bundle *b, const cb_node *list, const char *what, double **r, int *count) {
  *r = NULL;
  *count = 0;
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of %ss, each a list of %d number%s, one per shape variable (%s)", what,
                        b->n, b->n == 1 ? "" : "s", cb_gait_names_of(b).text);
  const size_t n = (size_t)b->n;
  double *rows = malloc(list->count * n * sizeof *rows);
  if (!rows) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu %ss", list->count, what);
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < list->count; k++) {
    char name[32];
    snprintf(name, sizeof name, "%s %zu", what, k + 1);
    cb_errors_add(&errors, list->items[k], cb_gait_read_shape(b, list->items[k], name, rows + k * n));
  }
  const cb_status status = cb_errors_end(&errors);
  if (status) {
    free(rows);
    return status;
  }
  *r = rows;
  *count = (int)list->count;
  return CB_OK;
}

cb_status cb_gait_read_times(const cb_node *list, const char *what, double **out, int *count) {
  *out = NULL;
  *count = 0;
  if (!list) return CB_OK;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "%s: expected a list of times in [0, 1]", what);
  double *t = malloc((list->count ? list->count : 1) * sizeof *t);
  if (!t) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu times", list->count);
  cb_status status = cb_node_reals(list, list->count, t);
  for (size_t k = 0; k < list->count && !status; k++) {
    if (!(t[k] >= 0 && t[k] <= 1))
      status =
          cb_node_fail(list->items[k], "%s: expected times in [0, 1], as fractions of the cycle, found %g", what, t[k]);
    else if (k && !(t[k] > t[k - 1]))
      status = cb_node_fail(list->items[k], "%s: expected ascending times, found %g after %g", what, t[k], t[k - 1]);
  }
  if (status) {
    free(t);
    return status;
  }
  *out = t;
  *count = (int)list->count;
  return CB_OK;
}

cb_status cb_gait_placed(cb_status status, const cb_node *node) {
  const bool of_input =
      status == CB_ERROR_ARGUMENT || status == CB_ERROR_DOMAIN || status == CB_ERROR_INPUT || status > 0;
  return of_input && !cb_failure_last().placed ? cb_node_fail(node, "%s", cb_error_text()) : status;
}

cb_status cb_gait_read_expression(const cb_node *node, cb_expression **out) {
  static const char *const time[] = {"t"};
  return cb_node_expression(node, &(cb_expression_scope){.names = time, .n = 1}, out);
}

int cb_gait_variable(const cb_bundle *b, const char *name) {
  int i = 0;
  while (i < b->n && strcmp(b->shape[i], name)) i++;
  return i < b->n ? i : -1;
}

cb_status cb_gait_unknown_variable(const cb_bundle *b, const cb_node *node) {
  return cb_fail_unknown(node, "shape variable", node->text, b->shape, (size_t)b->n);
}

/* --- keys that every kind has --- */

typedef struct gait_parameters {
  const cb_node *pace, *offset, *scale;
  const cb_node *file;
  bool reversed;
  double start, period;
  int repeat;
} gait_parameters;

const cb_param cb_gait_table[] = {
    CB_GAIT_NODE(
        gait_parameters, file,
        "a scenario, such as `curvebody gait .. optimize -o best.yaml` writes: its gait is used, and keys that "
        "are next to `file` replace those of its gait"),
    {"reversed", CB_PARAM_BOOL, offsetof(gait_parameters, reversed), "false", "", "", NULL, "true: runs backwards"},
    {"start", CB_PARAM_REAL, offsetof(gait_parameters, start), "0", "", "[0, 1]", NULL,
     "fraction of the cycle at which the gait begins"},
    CB_GAIT_NODE(gait_parameters, pace, "s(t) with s(0) = 0, s(1) = 1, s' > 0: the same path with another pace"),
    CB_GAIT_NODE(gait_parameters, offset, "list, one per variable: r is offset + scale times the gait"),
    CB_GAIT_NODE(gait_parameters, scale, "a number, or a list, one per variable"),
    {"repeat", CB_PARAM_INT, offsetof(gait_parameters, repeat), "1", "", ">= 1", NULL, "number of cycles"},
    {"period", CB_PARAM_REAL, offsetof(gait_parameters, period), "1", "s", "> 0", NULL, "duration of a cycle"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* If `status` is CB_OK, replaces *g by *made, which is a gait that was made from *g, and frees the old gait. Otherwise
 * reports the failure at the node. */
static cb_status become(cb_status status, const cb_node *node, cb_gait *const *made, cb_gait **g) {
  if (status) return cb_gait_placed(status, node);
  cb_gait_free(*g);
  *g = *made;
  return CB_OK;
}

static cb_status move(const cb_bundle *b, const gait_parameters *p, cb_gait **g) {
  double offset[CB_SHAPE_MAX] = {0}, scale[CB_SHAPE_MAX];
  cb_gait *made = NULL;
  cb_status status = CB_OK;
  for (int i = 0; i < b->n; i++) scale[i] = 1;
  cb_errors errors = cb_errors_begin();
  if (p->offset) cb_errors_add(&errors, p->offset, cb_gait_read_shape(b, p->offset, "offset", offset));
  if (p->scale && p->scale->kind == CB_NODE_LIST) {
    status = cb_gait_read_shape(b, p->scale, "scale", scale);
  } else if (p->scale) {
    status = cb_scalar_real(p->scale, "scale", "", &scale[0]);
    for (int i = 1; i < b->n; i++) scale[i] = scale[0];
  }
  cb_errors_add(&errors, p->scale, status);
  status = cb_errors_end(&errors);
  return status || !*g ? status
                       : become(cb_gait_moved(*g, scale, offset, &made), p->scale ? p->scale : p->offset, &made, g);
}

static cb_status pace(const gait_parameters *p, cb_gait **g) {
  cb_expression *s;
  cb_gait *made = NULL;
  cb_status status = cb_gait_read_expression(p->pace, &s);
  if (status) return status;
  if (*g) status = become(cb_gait_paced(*g, s, &made), p->pace, &made, g);
  cb_expression_free(s);
  return status;
}

/* Applies the keys that stand next to the kind (offset, scale, start, reversed, pace) to the gait *g. *g is NULL if the
 * kind of gait could not be read. */
static cb_status read_beside(const cb_bundle *b, const cb_node *map, const gait_parameters *p, cb_gait **g) {
  const cb_node *start = cb_node_get(map, "start"), *reversed = cb_node_get(map, "reversed");
  cb_gait *made = NULL;
  cb_errors errors = cb_errors_begin();
  if (p->offset || p->scale) cb_errors_add(&errors, map, move(b, p, g));
  if (*g && p->start > 0) cb_errors_add(&errors, start, become(cb_gait_shifted(*g, p->start, &made), start, &made, g));
  if (*g && p->reversed) cb_errors_add(&errors, reversed, become(cb_gait_reversed(*g, &made), reversed, &made, g));
  if (p->pace) cb_errors_add(&errors, p->pace, pace(p, g));
  return cb_errors_end(&errors);
}

/* --- the kind --- */

typedef const cb_gait_kind_class kind_class;

/* Sets *out to the class of the only kind of gait in the map. Fails if the map has none, or more than one. */
static cb_status one_kind(const cb_node *map, kind_class **out) {
  kind_class *found = NULL;
  char known[512] = "";
  size_t used = 0;
  for (size_t k = 0; cb_gait_kind_classes[k]; k++) {
    kind_class *c = cb_gait_kind_classes[k];
    const cb_node *given = cb_node_get(map, c->name);
    const char *between = !k ? "" : cb_gait_kind_classes[k + 1] ? ", " : " or ";
    if (used < sizeof known) used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", between, c->name);
    if (given && found)
      return cb_node_fail(given, "`%s` next to `%s`: expected only one kind of gait", c->name, found->name);
    if (given) found = c;
  }
  if (!found) return cb_node_fail(map, "expected a kind of gait: %s", known);
  *out = found;
  return CB_OK;
}

static bool has_row(const cb_param *table, const char *name) {
  while (table && table->name && strcmp(table->name, name)) table++;
  return table && table->name;
}

/* Returns whether the map has a kind of gait that accepts this key next to it. Some keys apply only to certain
 * kinds. */
static bool applies(const cb_node *map, const char *key) {
  for (size_t k = 0; cb_gait_kind_classes[k]; k++)
    if (cb_node_get(map, cb_gait_kind_classes[k]->name) && has_row(cb_gait_kind_classes[k]->beside, key)) return true;
  return false;
}

/* Checks that the keys next to the kind belong to this kind. `part` says whether this gait is a part of a sequence. */
static cb_status check_beside(const cb_node *map, bool part) {
  static const char *const whole[] = {"repeat", "period"};
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; cb_gait_kind_classes[k]; k++)
    for (const cb_param *row = cb_gait_kind_classes[k]->beside; row && row->name; row++) {
      const cb_node *given = cb_node_get(map, row->name);
      if (given && !applies(map, row->name))
        cb_errors_add(&errors, given,
                      cb_node_fail(given, "`%s` applies only to `%s`", row->name, cb_gait_kind_classes[k]->name));
    }
  for (int i = 0; i < 2 && part; i++) {
    const cb_node *given = cb_node_get(map, whole[i]);
    if (given)
      cb_errors_add(&errors, given,
                    cb_node_fail(given, "`%s` applies only to the complete gait, not to a part", whole[i]));
  }
  return cb_errors_end(&errors);
}

enum { KEYS = 200 }; /* maximum number of names of kinds and of other keys */

static cb_status bind(const cb_node *map, void *out) {
  const char *names[KEYS];
  size_t n = cb_registry_names(&cb_gait_kind_registry, names);
  for (size_t k = 0; cb_gait_kind_classes[k]; k++)
    for (const cb_param *row = cb_gait_kind_classes[k]->beside; row && row->name && n < KEYS; row++)
      names[n++] = row->name;
  return cb_params_bind(cb_gait_table, map, map, names, n, out);
}

static cb_status read_kind(kind_class *c, const cb_bundle *b, const cb_node *map, cb_gait **out) {
  const char *others[KEYS];
  const size_t n = map->count < KEYS ? map->count : KEYS;
  const cb_node *value = cb_node_get(map, c->name);
  void *params = calloc(1, c->params_size + 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  for (size_t k = 0; k < n; k++) others[k] = map->keys[k]->text;
  cb_errors errors = cb_errors_begin();
  if (c->params) cb_errors_add(&errors, value, cb_params_bind(c->params, value, value, NULL, 0, params));
  if (c->beside) cb_errors_add(&errors, map, cb_params_bind(c->beside, map, map, others, n, params));
  cb_status status = cb_errors_end(&errors);
  if (!status) status = cb_gait_placed(c->read(b, value, params, out), value);
  free(params);
  return status;
}

cb_status cb_gait_check_keys(const cb_node *map) { return bind(map, NULL); }

/* Adds the defaults to the value of the kind. Keys of type CB_PARAM_NODE have no defaults. */
static bool resolve_value(kind_class *c, const cb_node *map, struct cb_arena *arena) {
  const cb_param *row = c->params;
  while (row && row->name && row->type == CB_PARAM_NODE) row++;
  for (size_t k = 0; row && row->name && k < map->count; k++)
    if (!strcmp(map->keys[k]->text, c->name) && !(map->items[k] = cb_params_resolved(c->params, map->items[k], arena)))
      return false;
  return true;
}

const cb_node *cb_gait_resolved(const cb_node *map, struct cb_arena *arena) {
  kind_class *c;
  cb_param first[KEYS] = {{.type = CB_PARAM_NODE, .fallback = ""}};
  const cb_node *full = cb_params_resolved(cb_gait_table, map, arena); /* a new map, which may be changed */
  if (!full || one_kind(map, &c)) return full;
  if (!resolve_value(c, full, arena)) return NULL;
  first[0].name = c->name;
  for (int k = 1; c->beside && c->beside[k - 1].name && k + 1 < KEYS; k++) first[k] = c->beside[k - 1];
  return cb_params_resolved(first, full, arena);
}

cb_status cb_gait_read(const cb_bundle *b, const cb_node *map, int *repeat, double *period, cb_gait **out) {
  gait_parameters p;
  kind_class *kind = NULL;
  cb_gait *g = NULL;
  if (map->kind != CB_NODE_MAP)
    return cb_node_fail(map, "expected a gait: a map such as {polygon: {corners: [..]}}, found %s",
                        cb_node_found(map).text);
  cb_errors errors = cb_errors_begin();
  const cb_status bound = cb_errors_add(&errors, map, bind(map, &p));
  if (bound) cb_params_bind_right(cb_gait_table, map, &p);
  cb_status status = one_kind(map, &kind);
  /* an unknown key may be the misspelt name of the kind; then the kind is not reported as missing, too */
  if (kind || !bound) cb_errors_add(&errors, map, status);
  cb_errors_add(&errors, map, check_beside(map, !repeat));
  if (!bound && p.file)
    cb_errors_add(&errors, p.file, cb_node_fail(p.file, "`file` applies only to the complete gait of a scenario"));
  if (kind) cb_errors_add(&errors, cb_node_get(map, kind->name), read_kind(kind, b, map, &g));
  cb_errors_add(&errors, map, read_beside(b, map, &p, &g));
  if ((status = cb_errors_end(&errors))) {
    cb_gait_free(g);
    return status;
  }
  if (repeat) {
    *repeat = p.repeat;
    *period = p.period;
  }
  *out = g;
  return CB_OK;
}
