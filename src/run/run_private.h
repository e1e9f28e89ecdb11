/* What every run holds, and what a kind of configuration space does in it; shared by the files of src/run. */
#pragma once

#include "core/arena.h"
#include "run/recall.h"
#include <curvebody/run.h>

enum { CB_RUN_BLOBS = 12, CB_RUN_DIMENSIONS = 16, CB_RUN_CONSTANTS = 24, CB_RUN_FIELDS = 64 };

/* A kind of configuration space: particles in a space, bodies in a fluid, the fibre of a bundle. */
typedef struct cb_run_class {
  /* Before the first row and checkpoint (NULL: nothing). */
  cb_status (*begin)(cb_run *run);
  /* One step of length h with its retries: time and step go on. Sets step_size, may set stopped. */
  cb_status (*step)(cb_run *run, cb_sink *sink, double h);
  /* Finds what the fields of a row are filled from; *what: the field that could not be measured. */
  cb_status (*measure)(cb_run *run, const char **what);
  /* Takes to run->change how far the state just measured has gone from what is conserved; all of it for the last. */
  void (*compare)(cb_run *run, bool last);
  /* Histories of methods end here: before a checkpoint. */
  void (*forget)(cb_run *run);
  /* The state was loaded. */
  cb_status (*restored)(cb_run *run);
  void (*free)(cb_run *run);
  /* Loads the state of a row (NULL: a row has not enough). */
  void (*recall)(cb_run *run, const cb_recalled *row);
} cb_run_class;

/* Where a field of one row goes. */
typedef struct cb_cell {
  void *out;
  size_t size; /* bytes */
  size_t at;   /* of the field's row in its table */
} cb_cell;

/* A field of the record: `group` is what a scenario asks for by name ("" is always there, "state" unless switched
 * off). */
typedef struct cb_observable {
  const char *group;
  cb_field field;
  cb_status (*fill)(const cb_run *run, cb_cell to);
  size_t at; /* what else fill is to know: an offset, an index */
} cb_observable;

#define CB_FILL(name) cb_status name(const cb_run *run, cb_cell to)
#define CB_OBSERVABLE(group, name, type, unit, doc, fill, at, rank, ...) \
  { group, {name, CB_FIELD_##type, rank, {__VA_ARGS__}, unit, doc}, fill, at }

struct cb_run {
  cb_arena *arena;
  const cb_run_class *kind;
  union {
    struct cb_particles *particles; /* run/particles.h */
    struct cb_fluid_run *fluid;     /* run/fluid_private.h */
    struct cb_bundle_run *bundle;   /* run/bundle.h */
    const void *own;                /* any of them */
  };
  cb_run_options options;
  double *t, *t_low; /* of the state */
  int64_t *step;
  const int *iterations; /* of the last step */
  int64_t full_steps; /* of length step */
  double last_step;   /* shorter one after them; 0: none */
  bool restored;
  const char *stopped; /* by an event of the user's: its name */
  cb_run_warning *warning;
  size_t warnings, beforehand; /* of the scenario, which come first */
  cb_status (*take_warning)(void *self, double time, const char *text); /* NULL: nobody */
  void *taker;
  cb_run_change change;
  const cb_integrator *method; /* whose order tells of a better step; NULL: nothing is conserved */
  double step_size;

  int n_fields;
  cb_field field[CB_RUN_FIELDS];
  const cb_observable *observable[CB_RUN_FIELDS];
  cb_cell cell[CB_RUN_FIELDS]; /* one row */
  const void *row[CB_RUN_FIELDS];

  cb_record_layout layout;
  cb_dimension dimension[CB_RUN_DIMENSIONS];
  cb_constant constant[CB_RUN_CONSTANTS];
  double times[2]; /* of a checkpoint: high, low */
  cb_blob blob[CB_RUN_BLOBS];
};

/* An empty run of the class with checked options, whose state is of about `numbers` numbers (for the rows a checkpoint,
 * where the options leave it open). The caller fills the rest and calls cb_run_free on failure. */
cb_status cb_run_new(const cb_run_class *class, const cb_run_options *options, size_t numbers, cb_run **out);

/* The parts of cb_run_go: what comes before the first step; one step, with the row and the checkpoint it may lead to;
 * these alone, after a step that was made otherwise; all steps there are; what an interrupted run fails with. */
cb_status cb_run_begin(cb_run *run, cb_sink *sink);
cb_status cb_run_once(cb_run *run, cb_sink *sink);
cb_status cb_run_stepped(cb_run *run, cb_sink *sink);
int64_t cb_run_total(const cb_run *run);
cb_status cb_run_interrupted(const cb_run *run);

/* cb_run_warn with a text of at most 511 characters. */
__attribute__((format(printf, 3, 4))) cb_status cb_run_warnf(cb_run *run, double time, const char *format, ...);

/* Warns of energy, or else of a momentum, that has changed too much, before all other warnings of the run. */
cb_status cb_run_warn_of_change(cb_run *run);

/* --- the layout of a record, put together (run/layout.c) --- */
cb_dimension *cb_run_dimension(cb_run *run, const char *name, size_t count, const char *doc);
/* A constant, left out where its dimension is empty. */
void cb_run_constant(cb_run *run, const cb_constant *constant);
/* Adds a field, borrowed, with room for one row: unless nobody asked for it, or a dimension is empty. The second adds a
 * table ended by a NULL group. */
cb_status cb_run_field(cb_run *run, const cb_observable *observable);
cb_status cb_run_fields(cb_run *run, const cb_observable *table);
/* Ends it with the restart state blob[n], besides time. */
void cb_run_finish_layout(cb_run *run, const cb_blob *blob, size_t n);
/* The groups that are recorded: those asked for, else the usual ones. CB_ERROR_ARGUMENT where a name is of no group. */
cb_status cb_run_choose(cb_run *run, const cb_observable_doc *groups, const char *const *usual);
/* Is the group among them? "" always is. */
bool cb_run_asked(const cb_run *run, const char *group);

/* Measures the state, and fills a row; *what: the field that could not be. */
cb_status cb_run_measure(cb_run *run, const char **what);
/* Fields that all kinds have, and one that stands in run->own at an offset. */
CB_FILL(cb_fill_time);
CB_FILL(cb_fill_step);
CB_FILL(cb_fill_step_size);
CB_FILL(cb_fill_iterations);
CB_FILL(cb_fill_own);
