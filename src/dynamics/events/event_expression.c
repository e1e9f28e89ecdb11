/* The event that an expression of a particle's coordinates q, of the time t and of its radius r vanishes: f(q, t, r) =
 * 0. The derivatives are those of the expression (numerics/expression_private.h). */
#include "dynamics/gap_class.h"

static const cb_param params[] = {CB_GAP_CHART_ROW,
                                  {"value", CB_PARAM_NODE, offsetof(cb_gap_expression, value), NULL, "", "", NULL,
                                   "expression of the coordinates and t; the event happens at its zeros"},
                                  {0}};

const cb_event_class cb_event_expression = {.name = "expression",
                                            .title = "an expression of a particle's coordinates vanishes",
                                            .doc = "",
                                            .params = params,
                                            .params_size = sizeof(cb_gap_expression),
                                            .particles = 1,
                                            .init = cb_gap_expression_init,
                                            .forms = &cb_gap_expression_forms};

cb_status cb_builder_event_expression(cb_builder *b, const char *name, int i, const char *chart, const char *expression,
                                      cb_event_action action, cb_event_direction direction) {
  cb_gap_expression f;
  const cb_status status = cb_gap_expression_parse(b, chart, expression, &f);
  return status ? status : cb_builder_event(b, &cb_event_expression, &f, name, &i, action, direction);
}
