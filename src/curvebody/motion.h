/* The motion of a configuration space: how its states are stepped and measured, and which fields they have in a record.
 *
 * A run (curvebody/run.h) has one motion, data of its own, and the layout of its record.
 * For authors of configuration spaces (curvebody/configuration.h).
 */
#ifndef CURVEBODY_MOTION_H
#define CURVEBODY_MOTION_H

#include <curvebody/run.h>

CB_API_BEGIN

struct cb_tangent;
struct cb_falling_plate;
struct cb_particles;

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

/* The part of a state that a row records: the fields cb_motion.state, as they are in the record. */
typedef struct cb_row_state {
  double time;
  int64_t step;
  const double *const *field;
} cb_row_state;

/* How the states of a configuration space move and are measured. NULL: nothing has to be done, or it is not
 * available. */
typedef struct cb_motion {
  /* Called before the first row and checkpoint. */
  cb_status (*begin)(cb_run *run);
  /* Makes one step of length h, with retries if the class has them, and advances the time and the step number
   * (cb_run_clock). */
  cb_status (*step)(cb_run *run, cb_sink *sink, double h);
  /* Computes the quantities from which the fields of a row are filled. On failure *what is the field that could not be
   * measured. */
  cb_status (*measure)(cb_run *run, const char **what);
  /* Updates the change of conserved quantities (cb_run_changes) with the state that was just measured. In the last state
   * it compares all of them; in other states it may leave out quantities that are not recorded. */
  void (*compare)(cb_run *run, bool last);
  /* Called before a checkpoint: the history of the integrator ends there. */
  void (*forget)(cb_run *run);
  /* Called after the state was loaded. */
  cb_status (*restored)(cb_run *run);
  void (*free)(cb_run *run);
  /* The fields of a row that determine the state, except for the low-order parts of its numbers (ended by NULL), and the
   * function that restores it. NULL: a row does not determine the state. */
  const char *const *state;
  void (*restore_row)(cb_run *run, const cb_row_state *row);
  /* The fields that depend only on the state, ended by NULL: `verify` computes them again. */
  const char *const *measured;
  /* Makes a tangent vector at the present state, for the largest Lyapunov exponent (run/exponent.h). */
  cb_status (*tangent)(const cb_run *run, int body, struct cb_tangent *out);
  /* Finds how the motion of a falling plate is read from a row (run/falling.h). */
  cb_status (*plate)(const cb_run *run, int body, struct cb_falling_plate *out);
  /* The particles of a run that the lanes of a vector can step; NULL: they cannot (run/run_shared.h). */
  struct cb_particles *(*lanes)(const cb_run *run);
} cb_motion;

/* Makes an empty run with `size` bytes of data, which are 0 and belong to the run, and checks the options. The state has
 * about `numbers` numbers, which sets the number of rows per checkpoint if the options do not set it. The caller fills
 * in the rest, and calls cb_run_free on failure: cb_motion.free must accept data that are still 0. */
cb_status cb_run_new(const cb_motion *motion, const cb_run_options *options, size_t numbers, size_t size, cb_run **out);
/* The data of a run. */
void *cb_run_own(const cb_run *run);
/* Sets where a run keeps its time (high and low part), its number of steps, and the iterations of the last step. */
void cb_run_clock(cb_run *run, double *t, double *t_low, int64_t *step, const int *iterations);

/* The layout of the record, in this order: the groups of observables that are recorded (the groups that were asked for,
 * otherwise the usual ones; CB_ERROR_ARGUMENT for another name); dimensions and constants; tables of fields, which end
 * at a NULL group; the restart state blob[n], to which the time is added. Constants and fields with an empty dimension,
 * and fields that were not asked for, are left out. Fields are borrowed. */
cb_status cb_run_choose(cb_run *run, const cb_observable_doc *groups, const char *const *usual);
bool cb_run_asked(const cb_run *run, const char *group); /* whether the group is recorded */
cb_dimension *cb_run_dimension(cb_run *run, const char *name, size_t count, const char *doc);
void cb_run_constant(cb_run *run, const cb_constant *constant);
cb_status cb_run_fields(cb_run *run, const cb_observable *table);
void cb_run_finish_layout(cb_run *run, const cb_blob *blob, size_t n);

/* Fillers of the fields that all classes have, and of a field that is stored in the run's data at an offset. */
cb_status cb_fill_time(const cb_run *run, cb_cell to);
cb_status cb_fill_step(const cb_run *run, cb_cell to);
cb_status cb_fill_step_size(const cb_run *run, cb_cell to);
cb_status cb_fill_iterations(const cb_run *run, cb_cell to);
cb_status cb_fill_own(const cb_run *run, cb_cell to);

CB_API_END
#endif
