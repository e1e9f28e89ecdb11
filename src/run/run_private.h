/* The data of every run, which the files of src/run share. The functions that make these data are declared in
 * curvebody/motion.h. */
#pragma once

#include "core/arena.h"
#include "run/run_shared.h"
#include <curvebody/motion.h>

#include <math.h>
#include <stdbool.h>

enum { CB_RUN_BLOBS = 18, CB_RUN_DIMENSIONS = 20, CB_RUN_CONSTANTS = 24, CB_RUN_FIELDS = 64 };
enum { CB_RUN_STATE_FIELDS = 8, CB_RUN_EVENT_FIELDS = 8 };

#define CB_FILL(name) cb_status name(const cb_run *run, cb_cell to)
#define CB_OBSERVABLE(group, name, type, unit, doc, fill, at, rank, ...) \
  { group, {name, CB_FIELD_##type, rank, {__VA_ARGS__}, unit, doc}, fill, at }

struct cb_run {
  cb_arena *arena;
  const cb_motion *motion;
  void *own; /* the data of the motion */
  cb_run_options options;
  double *t, *t_low; /* high and low part of the time of the state */
  int64_t *step;
  const int *iterations; /* the iterations or substeps of the last step */
  int64_t full_steps;    /* the number of steps of length options.step */
  double last_step;      /* the length of a shorter step after them; 0: no such step */
  bool restored, begun;  /* begun: the checkpoint and the row of the start were written */
  bool usual;            /* the options name no observables */
  double *control;       /* [controls]: values of the controls in the last step, or in the state that was restored */
  /* the names of the fields of a row from which the state can be restored, followed by NULL */
  const char *state_field[CB_RUN_STATE_FIELDS];
  const char *stopped; /* the name of the event that stopped the run; NULL: none */
  cb_run_warning *warning;
  size_t warnings, beforehand; /* number of all warnings; number of those of the scenario, which come first */
  cb_status (*take_warning)(void *self, double time, const char *text); /* NULL: there is no receiver */
  void *taker;
  cb_run_change change;
  const cb_integrator *integrator; /* its order determines the step that a warning proposes; NULL: changes of conserved
                                    * quantities are not compared */
  double step_size;

  int n_fields;
  cb_field field[CB_RUN_FIELDS];
  const cb_observable *observable[CB_RUN_FIELDS];
  cb_cell cell[CB_RUN_FIELDS]; /* the memory for one row of each field */
  const void *row[CB_RUN_FIELDS];

  cb_field event_field[CB_RUN_EVENT_FIELDS];
  const cb_observable *event_observable[CB_RUN_EVENT_FIELDS];
  size_t event_count[CB_RUN_EVENT_FIELDS]; /* the number of values that each field has per event */
  size_t event_fields, event_numbers;      /* the number of fields, and the sum of their event_count */
  double *event_values;                    /* the values of all fields, one field after another */

  cb_record_layout layout;
  cb_dimension dimension[CB_RUN_DIMENSIONS];
  cb_constant constant[CB_RUN_CONSTANTS];
  double times[2]; /* the time of a checkpoint: high and low part */
  double replaced; /* not 0: a state was set from outside, so that quantities are not compared with the start */
  cb_blob blob[CB_RUN_BLOBS];
};

/* The parts of cb_run_go. cb_run_begin does everything before the first step. cb_run_once makes one step, with the row
 * and the checkpoint that follow it; cb_run_stepped writes only this row and checkpoint, after a step that was made
 * elsewhere. cb_run_total returns the total number of steps. cb_run_interrupted sets and returns the failure of an
 * interrupted run. */
cb_status cb_run_begin(cb_run *run, cb_sink *sink);
cb_status cb_run_once(cb_run *run, cb_sink *sink);
cb_status cb_run_stepped(cb_run *run, cb_sink *sink);
int64_t cb_run_total(const cb_run *run);
cb_status cb_run_interrupted(const cb_run *run);

/* Does the same as cb_run_warn, with a formatted text, which is cut after 511 bytes. */
__attribute__((format(printf, 3, 4))) cb_status cb_run_warnf(cb_run *run, double time, const char *format, ...);

/* Warns if the energy has changed too much since the start. If it has not, warns if a momentum has changed too much.
 * The warning is put before the other warnings of the run, but after those of its scenario. */
cb_status cb_run_warn_of_change(cb_run *run);

/* Adds one field of a table (cb_run_fields). */
cb_status cb_run_field(cb_run *run, const cb_observable *observable);

/* Writes the values of all fields of events (cb_run_event_fields) at the present state, one field after another, to
 * out[event_numbers], and returns out. */
const double *cb_run_event_values(const cb_run *run, double *out);

/* Measures the state and fills a row. On failure *what is the name of the field that could not be measured. */
cb_status cb_run_measure(cb_run *run, const char **what);

/* The change of the energy E = T + V since the start (cb_run_change). T is the kinetic and V the potential energy; E_0
 * and V_0 are the values at the start. */

typedef struct cb_energy_change {
  double first, potential;      /* E_0, V_0 */
  double largest, scale, level; /* the maxima over the rows of |E - E_0|, of T + |V - V_0| and of |V| */
} cb_energy_change;

static inline void cb_energy_begin(cb_energy_change *c, double kinetic, double potential) {
  *c = (cb_energy_change){kinetic + potential, potential, 0, kinetic, fabs(potential)};
}

static inline void cb_energy_see(cb_energy_change *c, double kinetic, double potential) {
  c->largest = fmax(c->largest, fabs(kinetic + potential - c->first));
  c->scale = fmax(c->scale, kinetic + fabs(potential - c->potential));
  c->level = fmax(c->level, fabs(potential));
}

static inline double cb_change_by(double change, double scale) { return change > 0 ? change / scale : 0; }

/* Returns the largest change of the energy divided by c->scale, or by 1e-10 times the largest |V| if that is more:
 * smaller changes of a large potential energy are round-off. */
static inline double cb_energy_ratio(const cb_energy_change *c) {
  return cb_change_by(c->largest, fmax(c->scale, 1e-10 * c->level));
}
