/* A density rho(x, y, z) given by a number or by an expression, with its exact derivatives (curvebody/expression.h).
 * SI units: kg/m^3. */
#include "core/failure.h"
#include "fluid/fluid_shared.h"
#include "fluid/medium_surfaces.h"

#include <math.h>

static const char *const variables[] = {"x", "y", "z"};

typedef struct density {
  cb_expression *e; /* NULL: the density is `number` */
  double number;
} density;

static double at(const void *medium, const double x[3], double gradient[3]) {
  const density *d = medium;
  if (!d->e) return d->number;
  return gradient ? cb_expression_gradient(d->e, x, 3, gradient) : cb_expression_value(d->e, x);
}

static bool values(const void *medium, int n, const double *const x[3], int k, double *rho, double *slope) {
  return cb_expression_values(((const density *)medium)->e, n, x, (const _Bool[3]){0}, (size_t)k, rho, slope);
}

static cb_status parse(density *d, const char *text, const cb_expression_scope *parameters, size_t *offset,
                       cb_medium_facts *facts) {
  const cb_expression_scope scope = {.names = variables,
                                     .n = 3,
                                     .parameters = parameters->parameters,
                                     .values = parameters->values,
                                     .n_parameters = parameters->n_parameters};
  const cb_status status = cb_expression_parse_in(text, &scope, offset, &d->e);
  if (status) return status;
  for (size_t i = 0; i < 3; i++) facts->uses[i] = cb_expression_uses(d->e, i);
  if (facts->uses[0] || facts->uses[1] || facts->uses[2]) return CB_OK;
  const double value = cb_expression_value(d->e, (double[3]){0});
  if (value >= 0 && isfinite(value)) return CB_OK;
  if (offset) *offset = 0;
  return cb_fail(CB_ERROR_INPUT, "density '%s' is %g: expected a number >= 0", text, value);
}

static cb_status init(void *medium, const cb_node *value, const cb_expression_scope *parameters,
                      cb_medium_facts *facts) {
  density *d = medium;
  const char *text;
  size_t offset = 0;
  cb_status status = cb_node_string(value, &text);
  if (status) return status;
  status = cb_expression_constant(text, &offset, &d->number);
  if (!status) *facts = (cb_medium_facts){.levels = 0};
  if (!status || status == CB_ERROR_MEMORY) return status;
  status = parse(d, text, parameters, &offset, facts);
  if (status != CB_ERROR_INPUT) return status;
  return cb_fluid_lacks_parameter(parameters) ? cb_fail_consequence()
                                              : cb_node_fail_at(value, offset, "%s", cb_error_text());
}

static void release(void *medium) { cb_expression_free(((density *)medium)->e); }

const cb_fluid_medium_class cb_fluid_medium_density = {
    .name = "density",
    .title = "A density in kg/m3",
    .doc = "The value is a number, or an expression of x, y, z; `medium: RHO` is short for `medium: {density: RHO}`",
    .size = sizeof(density),
    .scalar = true,
    .init = init,
    .release = release,
    .at = at,
    .values = values,
};

cb_status cb_medium_uniform(double number, cb_medium **out) {
  cb_medium *m = NULL;
  const cb_status status = cb_medium_new(&cb_fluid_medium_density, (const double[3]){0, 0, 1}, &m);
  if (status) return status;
  ((density *)m->data)->number = number;
  m->facts = (cb_medium_facts){.levels = 0};
  return cb_medium_complete(m, CB_OK, out);
}

cb_status cb_medium_expression(const char *text, size_t n, const char *const *names, const double *numbers,
                               const double up[3], size_t *offset, cb_medium **out) {
  const cb_expression_scope parameters = {.parameters = names, .values = numbers, .n_parameters = n};
  cb_medium *m = NULL;
  const cb_status status = cb_medium_new(&cb_fluid_medium_density, up, &m);
  return status ? status : cb_medium_complete(m, parse(m->data, text, &parameters, offset, &m->facts), out);
}
