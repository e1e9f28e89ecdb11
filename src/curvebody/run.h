/* A run: the loop that steps a system, measures it and hands rows and checkpoints to a sink.
 *
 * The results are a function of the scenario only: rows and checkpoints are at fixed step numbers, and at a checkpoint
 * the integrator deletes its history in an uninterrupted run too, so a resumed run gives bit for bit the results of a
 * run that was not stopped.
 * For users.
 */
#ifndef CURVEBODY_RUN_H
#define CURVEBODY_RUN_H

#include <curvebody/integrator.h>
#include <curvebody/sink.h>
#include <signal.h>

CB_API_BEGIN

typedef struct cb_run cb_run;

typedef struct cb_run_options {
  double start, end;  /* start time and end time */
  double step;        /* > 0; the last step is shortened if end - start is not a multiple of it */
  int retries;        /* maximum number of times a failed step may be halved */
  int64_t every;      /* steps per row */
  int64_t checkpoint; /* rows per checkpoint; 0: 256, fewer for large systems */
  /* names of groups, ended by NULL; NULL: for particles separation, energy, killing_momentum and constraints */
  const char *const *observables;
  const cb_chart *chart; /* the chart of the observable `coordinates` */
  bool state;            /* record /position, /momentum and /origin */
  /* true: project the start to the constraints; false: a start that violates them is an error */
  bool project;
  double start_tolerance; /* if the start is not projected: maximum violation of a constraint; 0: 1e-9 */
} cb_run_options;

/* Argument of a progress function, which is called a few times per second. */
typedef struct cb_progress {
  double time, start, end;
  int64_t step;
  double steps_a_second;
} cb_progress;

/* Creates a run; system and integrator are borrowed. CB_ERROR_ARGUMENT for options out of range or an unknown
 * observable. */
cb_status cb_run_create(const cb_system *system, cb_integrator *integrator, const cb_run_options *options,
                        cb_run **out);
void cb_run_free(cb_run *run);

/* Returns the layout of the record: everything except title, texts and attributes, which the caller fills in. Owned by
 * the run. */
cb_record_layout *cb_run_layout(cb_run *run);

/* Returns the restart state: pieces whose data point into the run. To resume, fill them and call cb_run_restore. */
cb_blob *cb_run_state(cb_run *run, size_t *count);
cb_status cb_run_restore(cb_run *run);

/* Makes all steps to the end. Writes the row and the checkpoint of the start unless the run was restored. When *stop
 * (may be NULL) becomes nonzero the run ends after the current step with CB_ERROR_INTERRUPTED. A step that fails after
 * all retries is CB_ERROR_STEP with a text that names time, step, body and cause; the sink has received all rows before
 * it. */
cb_status cb_run_go(cb_run *run, cb_sink *sink, void (*progress)(void *user, const cb_progress *p), void *user,
                    const volatile sig_atomic_t *stop);

/* Warnings of the run since it was made or restored. First come the warnings of its scenario, with the time nan; then
 * one for energy that has changed by more than 1e-3 (cb_run_changes), when the run has ended; then the others in the
 * order of /event: each of these is a row there. Borrowed until the next step. */
typedef struct cb_run_warning {
  double time;
  const char *text;
} cb_run_warning;
size_t cb_run_warnings(const cb_run *run, const cb_run_warning **list);
/* Calls `take` at once with each existing warning, and later with each new one: for example cb_record_warning and a
 * record, which must last until the run has ended. If `take` fails, the run ends with its status. NULL: stop
 * calling. */
cb_status cb_run_on_warning(cb_run *run, cb_status (*take)(void *self, double time, const char *text), void *self);

/* Change of conserved quantities since time `since`, the start of the scenario (also for a resumed run): the maximum
 * deviation over the rows so far if the quantity is recorded in each, otherwise over rows at least 256 steps apart and
 * the last one. nan: the quantity is not conserved, does not exist, or is not known any more because bodies are too far
 * out.
 *
 *   energy      |E - E_0| divided by the maximum of T + |V - V_0| (E = T + V: kinetic plus potential energy; 0: at the
 *               start), so that a constant in V does not matter (except for
 *               round-off: the divisor is at least 1e-10 |V|); for bodies in a fluid the maximum over the bodies
 *   momentum    of Killing fields X_i, |J_i - J_i0| divided by the maximum of the sum over particles of |p| max |X_i|;
 *               for bodies in a fluid the maximum of |P - P_0| and |L - L_0|/(r + |x|), divided by |P| + |l|/r, l the
 *               angular momentum about the body's origin, r the radius of gyration
 *   constraint  the maximum |g|, or |a v - b|, in its own unit
 * Energy and momentum of a body at rest (within 1e-9 of its start coordinates) count as 0. */
typedef struct cb_run_change {
  double since, energy, momentum, constraint;
} cb_run_change;
cb_run_change cb_run_changes(const cb_run *run);

/* These functions return the end time of the run, and the length of a step. */
double cb_run_end(const cb_run *run);
double cb_run_step(const cb_run *run);

/* Returns the total number of rows, if nothing stops the run. */
int64_t cb_run_rows(const cb_run *run);

/* Return how much the start was changed to satisfy the constraints: the maximum change of a coordinate, and of a
 * velocity. */
double cb_run_start_position_change(const cb_run *run);
double cb_run_start_velocity_change(const cb_run *run);

/* Returns the name of the `stop` event that ended the run; NULL: none. */
const char *cb_run_stopped(const cb_run *run);

/* Return the time, and the number of steps so far. */
double cb_run_time(const cb_run *run);
int64_t cb_run_steps(const cb_run *run);
/* Returns the state of a run of particles, borrowed; NULL for other runs. */
const cb_state *cb_run_current(const cb_run *run);

/* Groups of observables, for `curvebody list observables`. */
extern const cb_observable_doc cb_observable_groups[];  /* for runs of particles */
extern const cb_observable_doc cb_fluid_observables[];  /* for runs of bodies in a fluid */
extern const cb_observable_doc cb_bundle_observables[]; /* for runs of a gait in a bundle */

CB_API_END
#endif
