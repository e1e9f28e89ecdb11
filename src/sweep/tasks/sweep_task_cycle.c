/* The periodic motion of shape variables that move by themselves (scenario/cycle.h): its start, displacement,
 * work and Floquet multipliers. */
#include "scenario/cycle.h"
#include "sweep/task.h"

#include <math.h>
#include <stddef.h>

typedef struct periodic {
  cb_motion_cycle cycle;
  double start[CB_SHAPE_MAX], stable;
} periodic;

#define OF(member) offsetof(periodic, cycle.of.member)
#define IN(member) offsetof(periodic, cycle.member)
static const cb_task_column columns[] = {
    {"period", NULL, "duration of a cycle", OF(period), 0},
    {"start", "variable", "shape at the start of the cycle", offsetof(periodic, start), 0},
    {"rate", "variable", "rate of the shape at the start of the cycle", OF(rate), 0},
    {"g", "number", "displacement in a cycle", OF(g), 0},
    {"log", "axis", "logarithm of the displacement", IN(log), 0},
    {"distance", NULL, "norm of the translation in the logarithm, or of the logarithm if there is none", IN(distance),
     0},
    {"work", NULL, "work of motors in a cycle", OF(work), 0},
    {"dissipated", NULL, "energy that dampers and drag dissipate in a cycle", OF(dissipated), 0},
    {"per_work", NULL, "distance divided by work", IN(per_work), 0},
    {"efficiency", NULL, "square of the distance divided by work and period", IN(efficiency), 0},
    {"effort", "variable", "largest effort of driven variables", OF(effort), 0},
    {"multiplier_real", "multiplier", "real parts of the Floquet multipliers; nan: there are fewer", OF(real), 0},
    {"multiplier_imaginary", "multiplier", "imaginary parts of the Floquet multipliers", OF(imaginary), 0},
    {"stable", NULL, "1: all multipliers are inside the unit circle", offsetof(periodic, stable), 0},
    {"residual", NULL, "distance of the shape after a cycle from its start", OF(residual), 0},
    {"error", NULL, "relative change of the results when steps are halved", IN(error), 0},
    {NULL, NULL, NULL, 0, 0}};

static cb_status make_layout(const struct cb_sweep *all, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  (void)all;
  if (!cb_bundle_scenario_of(s)->moving)
    return cb_fail(CB_ERROR_INPUT,
                   "the key `shape` is missing: the task `cycle` needs shape variables that move by themselves");
  return cb_task_layout(s, arena, columns, 0, NULL, out);
}

static cb_status compute(cb_scenario *s, cb_arena *arena, const void *const **row) {
  periodic *to = cb_arena_alloc(arena, 1, sizeof *to);
  if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for a cycle");
  const cb_status status = cb_motion_cycle_find(s, &(cb_cycle_options){.tolerance = 0}, &to->cycle);
  if (status) return status;
  cb_shape_cycle *of = &to->cycle.of;
  for (int i = 0; i < CB_SHAPE_MAX; i++) to->start[i] = of->start.r[i];
  for (int k = of->multipliers; k < CB_SHAPE_MULTIPLIERS; k++) of->real[k] = of->imaginary[k] = NAN;
  to->stable = of->stable;
  return cb_task_row(arena, columns, 0, to, row);
}

const cb_sweep_task_class cb_sweep_task_cycle = {.name = "cycle",
                                                 .title = "periodic motion of a shape that moves by itself",
                                                 .doc = "start, g, work, efficiency, multipliers",
                                                 .layout = make_layout,
                                                 .compute = compute};
