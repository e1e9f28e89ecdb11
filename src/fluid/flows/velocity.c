/* A flow given by three expressions u_i(x, y, z, t), with their exact derivatives (curvebody/expression.h).
 * SI units. */
#include "core/failure.h"
#include "fluid/fluid_shared.h"

#include <string.h>

static const char *const variables[] = {"x", "y", "z", "t"};
enum { VARIABLES = 4, TIME = 3 };

typedef struct velocity {
  cb_expression *e[3];
} velocity;

static void at(const void *flow, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const velocity *v = flow;
  const double place[VARIABLES] = {x[0], x[1], x[2], t};
  for (int i = 0; i < 3; i++) {
    double g[VARIABLES];
    p->u[i] = slopes ? cb_expression_gradient(v->e[i], place, VARIABLES, g) : cb_expression_value(v->e[i], place);
    if (!slopes) continue;
    memcpy(p->gradient[i], g, sizeof p->gradient[i]);
    p->rate[i] = g[TIME];
  }
}

static bool block(const void *flow, double t, int n, bool slopes, bool rate, cb_flow_block *b) {
  const velocity *v = flow;
  const double *const x[VARIABLES] = {b->x[0], b->x[1], b->x[2], &t};
  const _Bool fixed[VARIABLES] = {[TIME] = 1};
  bool finite = true;
  for (int i = 0; i < 3; i++) {
    bool known = false;
    for (size_t k = 0; slopes && k < VARIABLES; k++) {
      double *slope = k < TIME ? b->gradient[i][k] : b->rate[i];
      if (k == TIME && !rate) continue;
      if (!cb_expression_uses(v->e[i], k))
        memset(slope, 0, (size_t)n * sizeof *slope);
      else {
        finite &= cb_expression_values(v->e[i], n, x, fixed, k, b->u[i], slope);
        known = true;
      }
    }
    if (!known) finite &= cb_expression_values(v->e[i], n, x, fixed, 0, b->u[i], NULL);
  }
  return finite;
}

static cb_status parse(velocity *v, const char *const text[3], const cb_expression_scope *parameters, size_t *which,
                       size_t *offset, cb_flow_facts *facts) {
  const cb_expression_scope scope = {.names = variables,
                                     .n = VARIABLES,
                                     .parameters = parameters->parameters,
                                     .values = parameters->values,
                                     .n_parameters = parameters->n_parameters};
  facts->even = facts->steady = true;
  for (size_t i = 0; i < 3; i++) {
    const cb_status status = cb_expression_parse_in(text[i], &scope, offset, &v->e[i]);
    if (status) {
      if (which) *which = i;
      return status;
    }
    for (size_t k = 0; k < TIME; k++) facts->even &= !cb_expression_uses(v->e[i], k);
    facts->steady &= !cb_expression_uses(v->e[i], TIME);
  }
  return CB_OK;
}

static cb_status init(void *flow, const cb_node *value, const cb_expression_scope *parameters, cb_flow_facts *facts) {
  const char *text[3];
  size_t which = 0, offset = 0;
  cb_status status = cb_fluid_texts(value, text);
  if (!status && cb_fluid_lacks_parameter(parameters)) status = cb_fail_consequence();
  if (status) return status;
  status = parse(flow, text, parameters, &which, &offset, facts);
  return status == CB_ERROR_INPUT ? cb_node_fail_at(value->items[which], offset, "%s", cb_error_text()) : status;
}

static void release(void *flow) {
  for (int i = 0; i < 3; i++) cb_expression_free(((velocity *)flow)->e[i]);
}

const cb_fluid_flow_class cb_fluid_flow_velocity = {
    .name = "velocity",
    .title = "A velocity given by expressions",
    .doc = "The value is a list of three expressions of x, y, z and the time t, in m/s",
    .size = sizeof(velocity),
    .init = init,
    .release = release,
    .at = at,
    .block = block,
};

cb_status cb_flow_expressions(const char *const text[3], size_t n, const char *const *names, const double *values,
                              size_t *which, size_t *at_, cb_flow **out) {
  const cb_expression_scope parameters = {.parameters = names, .values = values, .n_parameters = n};
  cb_flow *f = NULL;
  cb_status status = cb_flow_new(&cb_fluid_flow_velocity, &f);
  if (status) return status;
  status = parse(f->data, text, &parameters, which, at_, &f->facts);
  if (status)
    cb_flow_free(f);
  else
    *out = f;
  return status;
}
