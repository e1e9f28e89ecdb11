/* The run of the scenario of each member, as `curvebody run` does it. This is the default task. */
#include "sweep/task.h"

const cb_sweep_task_class cb_sweep_task_run = {
    .name = "run", .title = "the run of the scenario", .doc = "the fields of its record", .layout = NULL};
