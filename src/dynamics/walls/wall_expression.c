/* A wall that is an expression: particles stay where f(q, t, r) > 0. q are coordinates in a chart of the world, t the
 * time and r the particle's radius. The derivatives are those of the expression (numerics/expression_private.h). */
#include "dynamics/gap_class.h"

static const cb_param params[] = {
    CB_GAP_CHART_ROW,
    {"value", CB_PARAM_NODE, offsetof(cb_gap_expression, value), NULL, "", "", NULL,
     "the gap, an expression of coordinates, t and the radius r that is > 0 where bodies are"},
    {0}};

const cb_wall_class cb_wall_expression = {.name = "expression",
                                          .title = "bodies stay where an expression is positive",
                                          .doc = "",
                                          .params = params,
                                          .params_size = sizeof(cb_gap_expression),
                                          .init = cb_gap_expression_init,
                                          .forms = &cb_gap_expression_forms};

cb_status cb_builder_wall_expression(cb_builder *b, const char *name, int body, const char *chart,
                                     const char *expression, double restitution) {
  cb_gap_expression f;
  const cb_status status = cb_gap_expression_parse(b, chart, expression, &f);
  return status ? status : cb_builder_wall(b, &cb_wall_expression, &f, name, body, restitution);
}
