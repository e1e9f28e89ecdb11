/* Gaits given by expressions of t over [0, 1], one per shape variable. Such a gait counts as closed if r(1) = r(0) to
 * round-off; r(1) is then set to r(0).
 */
#include "bundle/gait_private.h"
#include "core/failure.h"

#include <stdlib.h>

extern const cb_gait_kind_class cb_gait_kind_expressions;

static void at(const cb_gait *g, double t, double *r, double *rate) {
  for (int i = 0; i < g->n; i++)
    if (!rate)
      r[i] = cb_expression_value(g->text[i], &t);
    else {
      const double value = cb_expression_gradient(g->text[i], &t, 1, &rate[i]);
      if (r) r[i] = value;
    }
}

cb_status cb_gait_expressions(int n, const cb_expression *const *r, int breaks, const double *times, cb_gait **out) {
  cb_status status = cb_gait_check_arguments("expressions", n, 1, 1, NULL);
  if (status) return status;
  for (int i = 0; i < n; i++)
    for (size_t other = 1; other < CB_EXPRESSION_VARIABLES; other++)
      if (cb_expression_uses(r[i], other))
        return cb_fail(CB_ERROR_ARGUMENT,
                       "variable %d of a gait depends on more than the time: expected an expression of only `t`", i);
  if ((status = cb_gait_check_breaks(breaks, times))) return status;
  /* a break at time 0 is added if the caller gives none, because the derivatives may jump between end and start */
  const int first = breaks == 0 || times[0] > 0;
  cb_gait *g = NULL;
  const cb_gait_contents contents = {.texts = n, .text = r};
  status = cb_gait_compose(&cb_gait_kind_expressions, n, first + breaks, 0, &contents, &g);
  if (status) return status;
  for (int k = 0; k < breaks; k++) g->data[first + k] = times[k];
  g->pieces = 1 + CB_GAIT_STEPS / (first + breaks);
  g->open = true;
  status = cb_gait_look(g);
  if (status)
    cb_gait_free(g);
  else
    *out = g;
  return status;
}

typedef struct expressions {
  const cb_node *breaks;
} expressions;

static cb_status read_value(const cb_bundle *b, const cb_node *map, const void *params, cb_gait **out) {
  const cb_node *breaks = ((const expressions *)params)->breaks;
  cb_expression *r[CB_SHAPE_MAX] = {0};
  if (map->kind != CB_NODE_MAP)
    return cb_node_fail(map, "expected a map of expressions of t, one per shape variable (%s)",
                        cb_gait_names_of(b).text);
  double *t = NULL;
  int count = 0;
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < map->count; k++)
    if (cb_gait_variable(b, map->keys[k]->text) < 0)
      cb_errors_add(&errors, map->keys[k], cb_gait_unknown_variable(b, map->keys[k]));
  cb_errors_add(&errors, breaks, cb_gait_read_times(breaks, "breaks", &t, &count));
  for (int i = 0; i < b->n; i++) {
    const cb_node *given = cb_node_get(map, b->shape[i]);
    if (given)
      cb_errors_add(&errors, given, cb_gait_read_expression(given, &r[i]));
    else if (!errors.status) /* an unknown key may be the misspelt name of the variable */
      cb_errors_add(&errors, map,
                    cb_node_fail(map, "the shape variable `%s` is missing: expected an expression of t", b->shape[i]));
  }
  cb_status status = cb_errors_end(&errors);
  if (!status) status = cb_gait_expressions(b->n, (const cb_expression *const *)r, count, t, out);
  for (int i = 0; i < b->n; i++) cb_expression_free(r[i]);
  free(t);
  return status;
}

static const cb_param beside[] = {
    CB_GAIT_NODE(expressions, breaks, "times in [0, 1) at which a derivative jumps, ascending"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_gait_kind_class cb_gait_kind_expressions = {.name = "expressions",
                                                     .title = "Expressions of t in [0, 1]",
                                                     .doc = "{VARIABLE: \"..\", ..}, one for each shape variable",
                                                     .beside = beside,
                                                     .params_size = sizeof(expressions),
                                                     .read = read_value,
                                                     .at = at};
