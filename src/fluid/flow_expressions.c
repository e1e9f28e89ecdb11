/* A flow by three expressions of place and time, with their exact derivatives. */
#include "fluid/flow.h"
#include <curvebody/expression.h>

#include <string.h>

static const char *const variables[] = {"x", "y", "z", "t"};
enum { VARIABLES = 4, TIME = 3 };

typedef struct expressions {
  cb_flow flow;
  cb_expression *e[3];
} expressions;

static void expressions_at(const cb_flow *f, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const expressions *v = (const expressions *)f;
  const double at[VARIABLES] = {x[0], x[1], x[2], t};
  for (int i = 0; i < 3; i++) {
    double g[VARIABLES];
    p->u[i] = slopes ? cb_expression_gradient(v->e[i], at, VARIABLES, g) : cb_expression_value(v->e[i], at);
    if (!slopes) continue;
    memcpy(p->gradient[i], g, sizeof p->gradient[i]);
    p->rate[i] = g[TIME];
  }
}

static bool expressions_block(const cb_flow *f, double t, int n, bool slopes, bool rate, cb_flow_block *b) {
  const expressions *v = (const expressions *)f;
  const double *const x[VARIABLES] = {b->x[0], b->x[1], b->x[2], &t};
  const _Bool fixed[VARIABLES] = {[TIME] = 1};
  bool finite = true;
  for (int i = 0; i < 3; i++) {
    bool known = false;
    for (size_t k = 0; slopes && k < VARIABLES; k++) {
      double *slope = k < TIME ? b->gradient[i][k] : b->rate[i];
      if (k == TIME && !rate) continue;
      if (!cb_expression_uses(v->e[i], k)) memset(slope, 0, (size_t)n * sizeof *slope);
      else finite &= cb_expression_values(v->e[i], n, x, fixed, k, b->u[i], slope), known = true;
    }
    if (!known) finite &= cb_expression_values(v->e[i], n, x, fixed, 0, b->u[i], NULL);
  }
  return finite;
}

static void release(cb_flow *f) {
  for (int i = 0; i < 3; i++) cb_expression_free(((expressions *)f)->e[i]);
}

cb_status cb_flow_expressions(const char *const text[3], size_t n, const char *const *names, const double *values,
                              size_t *which, size_t *at, cb_flow **out) {
  const cb_expression_scope scope = {variables, VARIABLES, names, values, n};
  expressions *v = cb_flow_new(sizeof *v);
  if (!v) return CB_ERROR_MEMORY;
  v->flow = (cb_flow){expressions_at, expressions_block, release, .even = true, .steady = true};
  for (size_t i = 0; i < 3; i++) {
    const cb_status status = cb_expression_parse_in(text[i], &scope, at, &v->e[i]);
    if (status) {
      if (which) *which = i;
      cb_flow_free(&v->flow);
      return status;
    }
    for (size_t k = 0; k < TIME; k++) v->flow.even &= !cb_expression_uses(v->e[i], k);
    v->flow.steady &= !cb_expression_uses(v->e[i], TIME);
  }
  v->flow.uniform = v->flow.even && v->flow.steady;
  *out = &v->flow;
  return CB_OK;
}
