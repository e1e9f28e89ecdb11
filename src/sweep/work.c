#include "sweep/work.h"

#include <stddef.h>

static const cb_work_class run = {"run", "the run of the scenario: the fields of its record", .layout = NULL};

const cb_work_class *const cb_works[] = {
    &run, &cb_work_holonomy, &cb_work_integral, &cb_work_optimize, &cb_work_verdict, &cb_work_family, &cb_work_steering,
    NULL};
