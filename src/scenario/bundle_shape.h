/* The key `shape` of a scenario with a bundle: shape variables that move by themselves (scenario/bundle_shape.c). */
#pragma once

#include "run/shape_run.h"
#include <curvebody/scenario.h>

typedef struct cb_shape_scenario {
  cb_shape_variable variable[CB_SHAPE_MAX];
  double start[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], momentum[CB_GROUP_DIM]; /* momentum: in the world's frame */
  const cb_expression *potential;                                         /* NULL: none */
  double period;                                   /* duration of a cycle in s; 0: not given, or that of the gait */
  cb_expression *expression[2 * CB_SHAPE_MAX + 2]; /* [expressions], owned: all that the others point to */
  int expressions;
} cb_shape_scenario;

extern const cb_param cb_shape_table[];          /* the keys next to the variables */
extern const cb_param cb_shape_variable_table[]; /* the keys of one variable */

/* Writes the rows that apply to the variable in this map, with drag or with inertia, and a last row with a NULL name. */
enum { CB_SHAPE_ROWS = 12 };
void cb_shape_variable_rows(const cb_node *map, bool drag, cb_param rows[CB_SHAPE_ROWS]);

/* Reads `shape` after the bundle and the gait; node NULL: the key is absent. */
cb_status cb_scenario_read_shape(cb_scenario *s, const cb_node *node);
/* Makes the problem and the state at time t of the scenario, which has an integrator. */
cb_status cb_scenario_shape_problem(cb_scenario *s, double t, cb_shape_problem *problem, cb_shape_state *start);
/* Fails, with the place in the scenario, if the motion that starts at time t has no smooth cycle map: the laws and torques do not have this
 * period, the potential depends on the place, or there is dry friction. */
cb_status cb_scenario_check_cycle(const cb_scenario *s, double t, double period);
cb_status cb_scenario_make_shape_run(cb_scenario *s, const cb_run_options *options, cb_run **out);
void cb_shape_scenario_free(cb_shape_scenario *own); /* own may be NULL; its memory is the scenario's */
