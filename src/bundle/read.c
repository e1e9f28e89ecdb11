/* Names of a bundle in a scenario: shape variables, parameters, periods. */
#include "bundle/read.h"

#include <math.h>
#include <string.h>

/* The parameters, beside variable[n]. */
static cb_expression_scope scope_of(const cb_bundle_names *s, const char *const *variable, int n) {
  return (cb_expression_scope){.names = variable,
                               .n = (size_t)n,
                               .parameters = s->name + s->shape,
                               .values = s->value + s->shape,
                               .n_parameters = (size_t)(s->count - s->shape)};
}

typedef cb_status check(const char *name, const cb_expression_scope *scope, const char *kind);

static cb_status add_name(cb_bundle_names *s, const cb_node *node, const char *what, check *checked) {
  const char *text;
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  const cb_expression_scope scope = scope_of(s, s->name, s->shape);
  status = checked(text, &scope, "shape variable");
  if (status) return cb_node_fail(node, "%s: %s", what, cb_error_text());
  if (s->count == CB_EXPRESSION_VARIABLES)
    return cb_node_fail(node, "%s: more than %d names", what, CB_EXPRESSION_VARIABLES);
  s->name[s->count++] = text;
  return CB_OK;
}

cb_status cb_bundle_read_expression(const cb_bundle_names *s, const cb_node *node, const char *what,
                                    const char *const *variable, int n, cb_expression **out) {
  const char *text;
  size_t at = 0;
  const cb_expression_scope scope = scope_of(s, variable, n);
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  status = cb_expression_parse_in(text, &scope, &at, out);
  return status == CB_ERROR_INPUT ? cb_node_fail_at(node, at, "%s: %s", what, cb_error_text()) : status;
}

cb_status cb_bundle_read_number(const cb_bundle_names *s, const cb_node *node, const char *what, double *value) {
  cb_expression *e = NULL;
  const cb_status status = cb_bundle_read_expression(s, node, what, NULL, 0, &e);
  if (status) return status;
  const double x = cb_expression_value(e, NULL);
  cb_expression_free(e);
  if (!isfinite(x)) return cb_node_fail(node, "%s: expected a finite number, found %g", what, x);
  *value = x;
  return CB_OK;
}

cb_status cb_bundle_read_shape(cb_bundle_names *s, const cb_node *list, int most) {
  if (list->kind != CB_NODE_LIST || list->count < 1 || list->count > (size_t)most)
    return cb_node_fail(list, "shape: expected a list of 1 to %d names of shape variables", most);
  for (size_t i = 0; i < list->count; i++) {
    const cb_status status = add_name(s, list->items[i], "shape", cb_expression_check_variable);
    if (status) return status;
    s->shape = s->count;
  }
  return CB_OK;
}

cb_status cb_bundle_read_parameters(cb_bundle_names *s, const cb_node *map) {
  if (!map) return CB_OK;
  if (map->kind != CB_NODE_MAP) return cb_node_fail(map, "parameters: expected a map of names and numbers");
  for (size_t i = 0; i < map->count; i++) {
    double value = 0;
    cb_status status = cb_bundle_read_number(s, map->items[i], map->keys[i]->text, &value);
    if (!status) status = add_name(s, map->keys[i], "parameters", cb_expression_check_parameter);
    if (status) return status;
    s->value[s->count - 1] = value;
  }
  return CB_OK;
}

cb_status cb_bundle_read_periods(const cb_bundle_names *s, const cb_node *map, double *period) {
  if (!map) return CB_OK;
  cb_status status = cb_node_check_keys(map, s->name, (size_t)s->shape);
  for (int i = 0; !status && i < s->shape; i++) {
    const cb_node *item = cb_node_get(map, s->name[i]);
    if (!item) continue;
    status = cb_bundle_read_number(s, item, "period", &period[i]);
    if (!status && !(period[i] > 0)) status = cb_node_fail(item, "period: expected a number > 0, found %g", period[i]);
  }
  return status;
}
