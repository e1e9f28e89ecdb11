/* The parameters of walls and events that are expressions of a particle's coordinates, of t and of its radius r. */
#pragma once

#include "dynamics/gap_class.h"
#include <curvebody/expression.h>

typedef struct cb_gap_expression {
  const cb_node *chart_node, *value; /* nodes of the scenario; used only by cb_gap_expression_init */
  const cb_chart *chart;             /* NULL: the embedding */
  const cb_expression *expression;   /* owned by the contact set */
  /* whole: the given expression, if `expression` is one of its branches, otherwise NULL. guard: the branch is valid
   * where this expression is >= 0; NULL: everywhere */
  const cb_expression *whole, *guard;
} cb_gap_expression;

extern const cb_gap_forms cb_gap_expression_forms;

/* The row `chart` in the tables of cb_wall_expression and cb_event_expression. */
#define CB_GAP_CHART_ROW                                                               \
  {                                                                                    \
    "chart", CB_PARAM_NODE, offsetof(cb_gap_expression, chart_node), "", "", "", NULL, \
        "chart of the coordinates; if absent, the embedding, or the space's own chart" \
  }

/* The `init` of cb_wall_expression and cb_event_expression: parses the expression. */
cb_status cb_gap_expression_init(void *params, const cb_space *space, cb_builder *b);
/* Parses an expression of the coordinates of a chart (NULL: the space's own chart, or the embedding), of the time t and
 * of the radius r. The contact set of the builder owns the expression. */
cb_status cb_gap_expression_parse(cb_builder *b, const char *chart, const char *text, cb_gap_expression *out);
