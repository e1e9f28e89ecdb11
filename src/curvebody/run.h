/* A run: the loop that steps a system, measures it and hands rows and checkpoints to a sink.
 *
 * A run that was stopped and resumed gives bit for bit the results of a run that was not stopped. For this, rows and
 * checkpoints are at fixed step numbers, and the integrator deletes its history at each checkpoint in every run.
 * For users.
 */
#ifndef CURVEBODY_RUN_H
#define CURVEBODY_RUN_H

#include <curvebody/integrator.h>
#include <curvebody/sink.h>
#include <signal.h>

CB_API_BEGIN

typedef struct cb_run cb_run;

/* Numbers that may change between steps. The expressions of forces read `value`. */
typedef struct cb_run_controls {
  size_t n;
  const char *const *name; /* [n]: the names of the numbers in expressions */
  double *value;           /* [n]: the present values */
  /* Called before each step; may compute new values from the present state. NULL: nothing is computed. */
  cb_status (*sample)(void *self, cb_run *run);
  void *self;
} cb_run_controls;

typedef struct cb_run_options {
  double start, end;  /* start time and end time */
  double step;        /* > 0; the last step is shorter if end - start is not a multiple of `step` */
  int retries;        /* a step that fails is repeated as two halves; this is the maximum depth of such halving */
  int64_t every;      /* steps per row */
  int64_t checkpoint; /* rows per checkpoint; 0: 256, fewer for large systems */
  /* names of groups of observables, ended by NULL; NULL: the usual groups, which for particles are separation, energy,
   * killing_momentum and constraints */
  const char *const *observables;
  const cb_chart *chart; /* the chart of the observable `coordinates` */
  bool state;            /* true: record the fields that determine the state, as /position and /momentum */
  bool event_state;      /* true: record the state at each event, as /event_position, unless it is large */
  /* true: project the start to the constraints; false: a start that violates them is an error */
  bool project;
  double start_tolerance;          /* if the start is not projected: maximum violation of a constraint; 0: 1e-9 */
  const cb_run_controls *controls; /* borrowed; NULL: none */
} cb_run_options;

/* The argument of a progress function, which is called at most five times per second. Times are in the unit of the
 * scenario; `step` is the number of steps so far. */
typedef struct cb_progress {
  double time, start, end;
  int64_t step;
  double steps_a_second;
} cb_progress;

/* Creates a run of particles; the caller frees it with cb_run_free. system and integrator are borrowed and must outlive
 * the run. CB_ERROR_ARGUMENT for options out of range or an unknown observable; CB_ERROR_DOMAIN for a start that
 * violates a constraint, or in which bodies overlap; CB_ERROR_UNSUPPORTED; CB_ERROR_MEMORY. */
cb_status cb_run_create(const cb_system *system, cb_integrator *integrator, const cb_run_options *options,
                        cb_run **out);
void cb_run_free(cb_run *run);

/* Returns the layout of the record, which belongs to the run. The caller fills in title, texts of the scenario and
 * attributes; the run has filled in everything else. */
cb_record_layout *cb_run_layout(cb_run *run);

/* cb_run_state returns the restart state: *count pieces, whose data point to memory of the run. To resume a run, fill
 * this memory from a checkpoint, and then call cb_run_restore. */
cb_blob *cb_run_state(cb_run *run, size_t *count);
cb_status cb_run_restore(cb_run *run);

/* Makes all steps to the end, and gives rows, events and checkpoints to the sink. A run that was not restored first
 * writes a checkpoint of the start; a run at step 0 writes the row of the start. progress (may be NULL) is called with
 * `user` from time to time.
 *
 * If *stop (stop may be NULL) becomes nonzero, the run ends after the current step with CB_ERROR_INTERRUPTED. If a step
 * fails after all retries, the status is CB_ERROR_STEP, and the text names time, step, body and cause. The sink has
 * then received all rows before this step. A failure of the sink ends the run with the status of the sink. */
cb_status cb_run_go(cb_run *run, cb_sink *sink, void (*progress)(void *user, const cb_progress *p), void *user,
                    const volatile sig_atomic_t *stop);

/* Does a part of cb_run_go: makes at most `steps` steps, none beyond the end, and none after an event has stopped the
 * run. If seconds > 0, the function also returns after the first step that ends later than this time from its start, so
 * that the caller can look at a clock or a keyboard. The next call continues; all calls together give the same rows and
 * states as one cb_run_go. sink may be NULL, and its members may be NULL: then no rows, events or checkpoints are
 * written. Errors are those of cb_run_go. */
cb_status cb_run_advance(cb_run *run, cb_sink *sink, int64_t steps, double seconds, const volatile sig_atomic_t *stop);

/* Does the same as cb_run_advance(run[i], NULL, steps, 0, NULL) for each of n different runs, in several threads (0: as
 * many as the process has) and with vector instructions where runs of equal systems allow it; the states are the same,
 * bit for bit. status[n] and text[n] are the results of the runs and the texts of their failures. No other thread may
 * use the runs or their scenarios. CB_ERROR_ARGUMENT for a negative number of steps; CB_ERROR_MEMORY. */
enum { CB_RUN_TEXT = 600 };
cb_status cb_runs_advance(cb_run *const *run, size_t n, int64_t steps, int threads, cb_status *status,
                          char (*text)[CB_RUN_TEXT]);

/* Returns whether the run has made all its steps, or an event has stopped it. */
bool cb_run_ended(const cb_run *run);

/* Changes the end time of a run. CB_ERROR_ARGUMENT if the end is not finite or before the present time, or if the last
 * step was made and was shorter than the others. */
cb_status cb_run_set_end(cb_run *run, double end);

/* Deletes the history of the integrator, as each checkpoint does, and returns the restart state with the present time:
 * pieces as in cb_run_state, which can be copied to another run of the same scenario, or back to this run later. */
cb_blob *cb_run_checkpoint(cb_run *run, size_t *count);

/* A state as it is in a row of the record: field[i] has the values of field i in the list that cb_run_state_fields
 * returns. */
typedef struct cb_row_state {
  double time;
  int64_t step;
  const double *const *field;
} cb_row_state;

/* Returns the names of the fields of a row that determine the state, except for the low-order parts of its numbers; the
 * list ends with NULL. NULL: a row does not determine the state. */
const char *const *cb_run_state_fields(const cb_run *run);
/* Sets the state of the run to that of a row. After this call, the changes of conserved quantities (cb_run_changes) are
 * not computed. Returns CB_ERROR_UNSUPPORTED if a row does not determine the state, as for joined bodies. */
cb_status cb_run_restore_row(cb_run *run, const cb_row_state *row);

/* Measures the present state. Sets *row to the values of the fields in the order of the run's layout, borrowed until
 * the next step or call. */
cb_status cb_run_evaluate(cb_run *run, const void *const **row);

/* cb_run_warnings returns the number of warnings of the run since it was made or restored, and sets *list to them. The
 * list is valid until the next step. First come the warnings about the scenario, whose time is nan. When the run has
 * ended, at most one warning about conserved quantities follows: the energy has changed by more than 1e-3, or else a
 * momentum has changed by more than 1e-2 (both as in cb_run_changes). Then come the warnings of the steps, in the order
 * of time. */
typedef struct cb_run_warning {
  double time;
  const char *text;
} cb_run_warning;
size_t cb_run_warnings(const cb_run *run, const cb_run_warning **list);
/* Calls take(self, ...) at once with each existing warning, and later with each new one. An example of `take` is
 * cb_record_warning, with a record as `self`; the record must then last until the run has ended. Returns the status of
 * the first call that fails. If a later call fails, the run ends with its status. take NULL: no more calls. */
cb_status cb_run_on_warning(cb_run *run, cb_status (*take)(void *self, double time, const char *text), void *self);

/* The change of conserved quantities since the time `since`, the start of the scenario, also in a resumed run. Each
 * number is the largest change in the rows so far. For particles, a quantity that is not recorded is compared only in
 * rows at least 256 steps apart and in the last row. nan: the quantity is not conserved, does not exist, or cannot be
 * computed any more because bodies are too far from the base point.
 *
 *   energy      |E - E_0| divided by the maximum of T + |V - V_0|, and by at least 1e-10 |V|. E = T + V is the energy,
 *               T the kinetic and V the potential energy; the index 0 means the start. For bodies in a fluid this is
 *               the maximum over the bodies.
 *   momentum    for particles the maximum over i of |J_i - J_i0|, where J_i is the momentum of the Killing field X_i.
 *               It is divided by the maximum over time of the sum over particles of |p| max_i |X_i|, p the momentum of
 *               the particle. For bodies in a fluid the maximum of |P - P_0| and |L - L_0|/(r + |x|), divided by the
 *               maximum of |P| + |l|/r. P is the momentum, L and l are the angular momentum about the origins of the
 *               world and of the body, x is the body's position and r its radius of gyration. In a curved space the
 *               invariants |p|^2 + K |l|^2 and l.p are compared instead (K: curvature; p: momentum in the body frame).
 *               nan for bodies in a fluid that are coupled to points.
 *   constraint  the maximum of |g| for a constraint g = 0, and of |a v - b| for a constraint a v = b of velocities v,
 *               in the unit of the constraint
 * As long as nothing has moved by more than 1e-9, relative to its coordinates, energy and momentum count as 0. */
typedef struct cb_run_change {
  double since, energy, momentum, constraint;
} cb_run_change;
cb_run_change cb_run_changes(const cb_run *run);

/* Return the end time of the run, and the length of a full step, in the time unit of the scenario. */
double cb_run_end(const cb_run *run);
double cb_run_step(const cb_run *run);

/* Returns the number of rows that the run has when it reaches its end, including the row of the start. */
int64_t cb_run_rows(const cb_run *run);

/* Return how much the start was changed to satisfy the constraints: the maximum change of a coordinate, and of a
 * component of a velocity. */
double cb_run_start_position_change(const cb_run *run);
double cb_run_start_velocity_change(const cb_run *run);

/* Returns the name of the event with the action `stop` that ended the run, which is valid as long as the run; NULL if
 * no such event has ended it. */
const char *cb_run_stopped(const cb_run *run);

/* Return the present time, and the number of steps so far. */
double cb_run_time(const cb_run *run);
int64_t cb_run_steps(const cb_run *run);
/* Returns the present state of a run of particles, which belongs to the run; NULL for other runs. */
const cb_state *cb_run_current(const cb_run *run);

/* The groups of observables, which `curvebody list observables` prints. Each list ends at a NULL name. */
extern const cb_observable_doc cb_observable_groups[];  /* for runs of particles */
extern const cb_observable_doc cb_fluid_observables[];  /* for runs of bodies in a fluid */
extern const cb_observable_doc cb_bundle_observables[]; /* for runs of a gait in a bundle */

CB_API_END
#endif
