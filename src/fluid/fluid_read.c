/* Reads numbers of a fluid (see fluid/fluid_read.h). */
#include "fluid/fluid_read.h"

#include "core/failure.h"
#include "tree/scalar.h"

#include <math.h>

cb_status cb_fluid_texts(const cb_node *list, const char *text[3]) {
  if (!list || list->kind != CB_NODE_LIST)
    return cb_node_fail(list, "expected a list of three, along x, y, z, found %s", cb_node_found(list).text);
  if (list->count != 3) return cb_node_fail(list, "expected a list of three, along x, y, z, found %zu", list->count);
  cb_status status = CB_OK;
  for (size_t i = 0; i < 3 && !status; i++) status = cb_node_string(list->items[i], &text[i]);
  return status;
}

bool cb_fluid_lacks_parameter(const cb_expression_scope *scope) {
  size_t i = 0;
  while (i < scope->n_parameters && !isnan(scope->values[i])) i++;
  return i < scope->n_parameters;
}

cb_status cb_fluid_number(const cb_node *node, const cb_expression_scope *scope, const double *x, double *out) {
  cb_expression *e;
  const cb_status status = cb_node_expression(node, scope, &e);
  if (status) return status;
  *out = cb_expression_value(e, x);
  cb_expression_free(e);
  if (isnan(*out) && cb_fluid_lacks_parameter(scope)) return cb_fail_consequence();
  return isfinite(*out) ? CB_OK : cb_node_fail(node, "expected a finite number, found %g", *out);
}

cb_status cb_fluid_vector(const cb_node *list, const cb_expression_scope *scope, const double *x, double out[3]) {
  const char *text[3];
  const cb_status status = cb_fluid_texts(list, text);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < 3; i++)
    cb_errors_add(&errors, list->items[i], cb_fluid_number(list->items[i], scope, x, &out[i]));
  return cb_errors_end(&errors);
}
