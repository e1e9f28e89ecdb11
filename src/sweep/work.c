#include "sweep/work.h"

static const cb_work_class run = {"run", "the run of the scenario: its record's fields", NULL, NULL};

const cb_work_class *const cb_works[] = {&run, NULL};
