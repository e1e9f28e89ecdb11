/* Measuring a state: one function a field of the record. */
#ifndef CB_RUN_MEASURE_H
#define CB_RUN_MEASURE_H

#include "core/arena.h"
#include <curvebody/constraint.h>
#include <curvebody/integrator.h>
#include <curvebody/sink.h>

/* What a field is computed from. */
typedef struct cb_measure {
  const cb_system *system;
  const cb_geometry *space;
  cb_integrator *integrator;
  const cb_state *state;
  const cb_chart *chart;
  double step_size;
  double kinetic, potential;    /* of this row, found once for three fields */
  struct cb_measure_rows *rows; /* of constraints, found once for four fields; NULL: not measured */
  double *points, *mean_weight; /* scratch of the Karcher mean: n*embedding, n */
} cb_measure;

/* A field of the record: `group` is what a scenario asks for by name ("" is always there, "state" unless switched
 * off). */
typedef struct cb_observable {
  const char *group;
  cb_field field;
  cb_status (*evaluate)(cb_measure *m, void *out);
} cb_observable;

extern const cb_observable cb_observables[]; /* ended by a NULL group; time and step first */

/* Fills m->kinetic and m->potential. */
cb_status cb_measure_energy(cb_measure *m);

/* Makes and fills m->rows, for a system that has constraints. */
cb_status cb_measure_rows_create(cb_measure *m, cb_arena *arena);
void cb_measure_rows_free(cb_measure *m);
cb_status cb_measure_rows(cb_measure *m);
cb_status cb_measure_multiplier(cb_measure *m, void *out);
cb_status cb_measure_residual(cb_measure *m, void *out);
cb_status cb_measure_rate_residual(cb_measure *m, void *out);
cb_status cb_measure_acceleration_residual(cb_measure *m, void *out);
cb_status cb_measure_method_multiplier(cb_measure *m, void *out); /* needs no m->rows */

#endif
