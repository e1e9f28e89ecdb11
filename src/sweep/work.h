/* What is done with a member: a run, or what else is found of its scenario as one row of numbers. */
#ifndef CB_SWEEP_WORK_H
#define CB_SWEEP_WORK_H

#include "core/arena.h"
#include <curvebody/scenario.h>

typedef struct cb_work_class {
  const char *name, *doc;
  /* The fields of its row; what they point to lives as long as scenario and arena. NULL: of a run. */
  cb_status (*layout)(cb_scenario *scenario, cb_arena *arena, cb_record_layout *out);
  /* The row: pointers to the values of each field, in the arena. */
  cb_status (*compute)(cb_scenario *scenario, cb_arena *arena, const void *const **row);
} cb_work_class;

extern const cb_work_class cb_work_holonomy, cb_work_integral, cb_work_optimize, cb_work_verdict; /* of gaits */
extern const cb_work_class *const cb_works[]; /* ended by NULL; the first is `run` */

#endif
