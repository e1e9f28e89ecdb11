/* Axes of a sweep, read from `over`, and their values. */
#pragma once

#include "sweep/quantile.h"
#include "sweep/plan.h"

/* What an axis is while it is read. */
typedef struct cb_axis_draft {
  cb_quantile law[CB_SWEEP_COMPONENTS]; /* of the numbers that are computed */
  size_t laws;                          /* 0: values are listed */
  bool range;                           /* from .. to, not random */
  size_t count;                         /* given; 0: by the design */
  uint64_t seed;
  const cb_node *node;
} cb_axis_draft;

/* Whether a computed axis has its own count, as it must in a grid and may not where a design has one. */
typedef enum cb_axis_counted { CB_AXIS_COUNTED, CB_AXIS_BY_DESIGN, CB_AXIS_UNKNOWN } cb_axis_counted;
cb_status cb_axis_read(cb_sweep_plan *plan, const cb_node *node, cb_axis_counted counted, cb_sweep_axis *axis,
                       cb_axis_draft *draft);
/* How many numbers in [0, 1) a point of a design has for it. */
size_t cb_axis_draws(const cb_axis_draft *draft);
/* By itself: even steps, or random numbers of its own; `stream` tells axes apart. */
cb_status cb_axis_fill(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, uint64_t stream);
/* From points[count][stride] of a design, of which the axis has those from `first` on. */
cb_status cb_axis_place(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, size_t count,
                        const double *points, size_t stride, size_t first);
