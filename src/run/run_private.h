/* What a run holds; shared by the files of src/run. */
#ifndef CB_RUN_PRIVATE_H
#define CB_RUN_PRIVATE_H

#include "core/arena.h"
#include "run/measure.h"
#include "run/contacts.h"
#include <curvebody/run.h>

enum { CB_RUN_BLOBS = 7, CB_RUN_DIMENSIONS = 12, CB_RUN_CONSTANTS = 12, CB_RUN_FIELDS = 32 };

struct cb_run {
  cb_arena *arena;
  const cb_system *system;
  cb_integrator *integrator;
  cb_run_options options;
  int64_t full_steps;   /* of length step */
  double last_step;     /* shorter one after them; 0: none */
  cb_state *state, *spare;
  cb_contacts *contacts; /* NULL: nothing can collide */
  bool restored, stopped; /* stopped: by an event of the user's */
  double step_size;
  double start_moved, start_turned; /* largest corrections of a coordinate and a velocity at the start */

  cb_measure measure;
  int n_fields;
  const cb_observable *observable[CB_RUN_FIELDS];
  cb_field field[CB_RUN_FIELDS];
  void *value[CB_RUN_FIELDS];       /* one row */
  const void *row[CB_RUN_FIELDS];
  bool measures_energy, measures_constraints;

  cb_record_layout layout;
  cb_dimension dimension[CB_RUN_DIMENSIONS];
  cb_constant constant[CB_RUN_CONSTANTS];
  double times[2]; /* of a checkpoint: high, low */
  cb_blob blob[CB_RUN_BLOBS];
};

/* Fills layout, fields and the buffers of a row. */
cb_status cb_run_make_layout(cb_run *run);

/* Brings the start to the constraints, or refuses it. */
cb_status cb_run_project_start(cb_run *run);

/* Brings components that have drifted back to the centre of their coordinates. */
cb_status cb_run_recentre(cb_run *run);

/* One step of length h of the state, halved at most `retries` times if it fails; tells the sink of every halving. */
cb_status cb_run_advance(cb_run *run, cb_sink *sink, double h);

#endif
