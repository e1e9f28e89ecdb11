/* `start: {project: auto, redundant: refuse, tolerance: 0}`: what is done where a start is off the constraints. */
#include "scenario/private.h"

#include <curvebody/constraint.h>
#include <stddef.h>

typedef struct start_parameters {
  int project, redundant;
  double tolerance;
} start_parameters;

enum { PROJECT_AUTO, PROJECT_NEVER };
enum { REDUNDANT_REFUSE, REDUNDANT_DROP };

const cb_param cb_scenario_start_table[] = {
    {"project", CB_PARAM_CHOICE, offsetof(start_parameters, project), "auto", "", "", "auto|never",
     "auto: positions and velocities are brought to the constraints; never: those off them are refused"},
    {"redundant", CB_PARAM_CHOICE, offsetof(start_parameters, redundant), "refuse", "", "", "refuse|drop",
     "constraints that depend on others"},
    {"tolerance", CB_PARAM_REAL, offsetof(start_parameters, tolerance), "0", "", ">= 0", NULL,
     "how far off a constraint is met with `project: never`; 0: 1e-9, as places are typed"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_scenario_read_start(cb_scenario *s, const cb_node *node) {
  start_parameters p;
  const cb_status status = cb_params_bind(cb_scenario_start_table, node, node, NULL, 0, &p);
  if (status || !s->builder) return status;
  s->project = p.project == PROJECT_AUTO;
  s->start_tolerance = p.tolerance;
  cb_builder_drop_redundant(s->builder, p.redundant == REDUNDANT_DROP);
  return CB_OK;
}
