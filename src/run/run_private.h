/* The data of every run, and the interface of a class of configuration space. The files of src/run share it. */
#pragma once

#include "core/arena.h"
#include "run/run_shared.h"
#include <curvebody/run.h>

#include <math.h>
#include <stdbool.h>

enum { CB_RUN_BLOBS = 16, CB_RUN_DIMENSIONS = 16, CB_RUN_CONSTANTS = 24, CB_RUN_FIELDS = 64 };

/* A class of configuration space: particles in a space, bodies in a fluid, or the fibre of a bundle. */
typedef struct cb_run_class {
  /* Called before the first row and checkpoint (NULL: nothing has to be done). */
  cb_status (*begin)(cb_run *run);
  /* Makes one step of length h, with retries if the class has them, and advances the time and the step number. Sets
   * step_size, and may set stopped. */
  cb_status (*step)(cb_run *run, cb_sink *sink, double h);
  /* Computes the quantities from which the fields of a row are filled. On failure *what is the field that could not be
   * measured. */
  cb_status (*measure)(cb_run *run, const char **what);
  /* Updates run->change with the change of conserved quantities in the state that was just measured. In the last state
   * it compares all of them; in other states it may leave out quantities that are not recorded. */
  void (*compare)(cb_run *run, bool last);
  /* Called before a checkpoint: the history of the integrator ends there. */
  void (*forget)(cb_run *run);
  /* Called after the state was loaded. */
  cb_status (*restored)(cb_run *run);
  void (*free)(cb_run *run);
  /* Restores the state of a row (NULL: a row does not determine the state). */
  void (*restore_row)(cb_run *run, const cb_row_state *row);
} cb_run_class;

/* The memory of one field in a row. */
typedef struct cb_cell {
  void *out;
  size_t size; /* bytes */
  size_t at;   /* cb_observable.at of the field */
} cb_cell;

/* A field of the record. `group` is the name by which a scenario asks for it; "" is always recorded, "state" unless it
 * is switched off. */
typedef struct cb_observable {
  const char *group;
  cb_field field;
  cb_status (*fill)(const cb_run *run, cb_cell to);
  size_t at; /* a further argument of fill: an offset or an index */
} cb_observable;

#define CB_FILL(name) cb_status name(const cb_run *run, cb_cell to)
#define CB_OBSERVABLE(group, name, type, unit, doc, fill, at, rank, ...) \
  { group, {name, CB_FIELD_##type, rank, {__VA_ARGS__}, unit, doc}, fill, at }

struct cb_run {
  cb_arena *arena;
  const cb_run_class *class;
  union {
    struct cb_particles *particles; /* run/particles_run.h */
    struct cb_fluid_run *fluid;     /* run/fluid_private.h */
    struct cb_bundle_run *bundle;   /* run/bundle_run.h */
    const void *own;                /* any of these */
  };
  cb_run_options options;
  double *t, *t_low; /* high and low part of the time of the state */
  int64_t *step;
  const int *iterations; /* the iterations or substeps of the last step */
  int64_t full_steps;    /* the number of steps of length options.step */
  double last_step;      /* the length of a shorter step after them; 0: no such step */
  bool restored;
  const char *stopped; /* the name of the event that stopped the run; NULL: none */
  cb_run_warning *warning;
  size_t warnings, beforehand; /* beforehand: the number of warnings of the scenario, which come first */
  cb_status (*take_warning)(void *self, double time, const char *text); /* NULL: there is no receiver */
  void *taker;
  cb_run_change change;
  const cb_integrator *integrator; /* from its order a warning proposes a step; NULL: changes are not compared */
  double step_size;

  int n_fields;
  cb_field field[CB_RUN_FIELDS];
  const cb_observable *observable[CB_RUN_FIELDS];
  cb_cell cell[CB_RUN_FIELDS]; /* one row */
  const void *row[CB_RUN_FIELDS];

  cb_record_layout layout;
  cb_dimension dimension[CB_RUN_DIMENSIONS];
  cb_constant constant[CB_RUN_CONSTANTS];
  double times[2]; /* the time of a checkpoint: high and low part */
  cb_blob blob[CB_RUN_BLOBS];
};

/* Makes an empty run of the class and checks the options. The state has about `numbers` numbers, which sets the number
 * of rows per checkpoint if the options do not set it. The caller fills in the rest, and calls cb_run_free on
 * failure. */
cb_status cb_run_new(const cb_run_class *class, const cb_run_options *options, size_t numbers, cb_run **out);

/* The parts of cb_run_go: everything before the first step; one step with the row and checkpoint that follow it; only
 * the row and checkpoint, after a step that was made elsewhere; the total number of steps; the failure of an
 * interrupted run. */
cb_status cb_run_begin(cb_run *run, cb_sink *sink);
cb_status cb_run_once(cb_run *run, cb_sink *sink);
cb_status cb_run_stepped(cb_run *run, cb_sink *sink);
int64_t cb_run_total(const cb_run *run);
cb_status cb_run_interrupted(const cb_run *run);

/* cb_run_warn with a text of at most 511 characters. */
__attribute__((format(printf, 3, 4))) cb_status cb_run_warnf(cb_run *run, double time, const char *format, ...);

/* Warns if the energy, or otherwise a momentum, has changed too much. The warning precedes the other warnings of the
 * run, but not those of its scenario. */
cb_status cb_run_warn_of_change(cb_run *run);

/* --- assembling the layout of a record (run/run_layout.c) --- */
cb_dimension *cb_run_dimension(cb_run *run, const char *name, size_t count, const char *doc);
/* Adds a constant, unless its dimension is empty. */
void cb_run_constant(cb_run *run, const cb_constant *constant);
/* Adds a field, which is borrowed, with memory for one row, unless it was not asked for or one of its dimensions is
 * empty. The second function adds all fields of a table, which ends at a NULL group. */
cb_status cb_run_field(cb_run *run, const cb_observable *observable);
cb_status cb_run_fields(cb_run *run, const cb_observable *table);
/* Completes the layout with the restart state blob[n], to which the time is added. */
void cb_run_finish_layout(cb_run *run, const cb_blob *blob, size_t n);
/* Chooses the groups that are recorded: the groups that were asked for, otherwise the usual ones. CB_ERROR_ARGUMENT: a
 * name is not the name of a group. */
cb_status cb_run_choose(cb_run *run, const cb_observable_doc *groups, const char *const *usual);
/* Whether the group is recorded; "" always is. */
bool cb_run_asked(const cb_run *run, const char *group);

/* Measures the state and fills a row. On failure *what is the field that could not be measured. */
cb_status cb_run_measure(cb_run *run, const char **what);
/* Fillers of the fields that all classes have, and of a field that is stored in run->own at an offset. */
CB_FILL(cb_fill_time);
CB_FILL(cb_fill_step);
CB_FILL(cb_fill_step_size);
CB_FILL(cb_fill_iterations);
CB_FILL(cb_fill_own);

/* The change of the energy E = T + V (T: kinetic, V: potential) since the start, where E = E_0 and V = V_0: see
 * cb_run_change. */

typedef struct cb_energy_change {
  double first, potential;      /* E_0, V_0 */
  double largest, scale, level; /* maxima over the rows: |E - E_0|, T + |V - V_0|, |V| */
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

/* The change relative to the scale. The scale is at least 1e-10 of the potential energy, because smaller changes are
 * round-off. */
static inline double cb_energy_ratio(const cb_energy_change *c) {
  return cb_change_by(c->largest, fmax(c->scale, 1e-10 * c->level));
}
