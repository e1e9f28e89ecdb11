/* A run: the loop that steps a system, measures it and hands rows and checkpoints to a sink.
 *
 * What is computed is a function of the scenario alone: rows and checkpoints fall on fixed numbers of steps, and at a
 * checkpoint the integrator forgets its history in the uninterrupted run too, so a resumed run repeats the bytes of
 * one that was not stopped.
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
  double start, end;              /* time */
  double step;                    /* > 0; the last one is shortened where end - start is no multiple of it */
  int retries;                    /* times a failed step may be halved */
  int64_t every;                  /* steps a row */
  int64_t checkpoint;             /* rows a checkpoint; 0: 256, fewer for large systems */
  const char *const *observables; /* names of groups, ended by NULL; NULL: separation, energy, killing_momentum */
  const cb_chart *chart;          /* of the observable `coordinates` */
  bool state;                     /* record /position, /momentum and /origin */
  bool project;                   /* bring the start to the constraints; otherwise refuse one that is off them */
  double start_tolerance;         /* how far off a constraint counts as met where it is not projected; 0: 1e-9 */
} cb_run_options;

/* What a progress function is told, a few times a second. */
typedef struct cb_progress {
  double time, start, end;
  int64_t step;
  double steps_a_second;
} cb_progress;

/* system and integrator are borrowed. CB_ERROR_ARGUMENT for options out of range or an unknown observable. */
cb_status cb_run_create(const cb_system *system, cb_integrator *integrator, const cb_run_options *options,
                        cb_run **out);
void cb_run_free(cb_run *run);

/* The layout of the record: everything but title, texts and attributes, which the caller fills in. Owned by the run. */
cb_record_layout *cb_run_layout(cb_run *run);

/* The restart state: pieces whose data point into the run. A resume fills them and calls cb_run_restore. */
cb_blob *cb_run_state(cb_run *run, size_t *count);
cb_status cb_run_restore(cb_run *run);

/* Steps to the end. Writes the row and the checkpoint of the start unless the run was restored. When *stop (may be
 * NULL) becomes nonzero the run ends after the step in hand with CB_ERROR_INTERRUPTED. A step that fails after all
 * retries is CB_ERROR_STEP with a text that names time, step, body and cause; rows before it have been handed to the
 * sink. */
cb_status cb_run_go(cb_run *run, cb_sink *sink, void (*progress)(void *user, const cb_progress *p), void *user,
                    const volatile sig_atomic_t *stop);

/* What the run has warned of since it was made or restored. First those of its scenario, with the time nan; then one of
 * energy that has changed by more than 1e-3 (cb_run_changes), when the run has ended; then the others in the order of
 * /event: each is a row there. Borrowed until the next step. */
typedef struct cb_run_warning {
  double time;
  const char *text;
} cb_run_warning;
size_t cb_run_warnings(const cb_run *run, const cb_run_warning **list);
/* Hands each of them to `take` as soon as it is there, and at once those that are: cb_record_warning and a record,
 * which must last until the run has ended. What `take` fails with ends the run. NULL: to nobody any more. */
cb_status cb_run_on_warning(cb_run *run, cb_status (*take)(void *self, double time, const char *text), void *self);

/* How far what the motion conserves has gone from what it was at `since`, the start of the scenario (of a resumed run
 * too): the largest deviation of rows so far, where what counts is recorded at each, else of rows at least 256 steps
 * apart and the last. nan: it is not conserved, or there is none, or far out it is no longer known.
 *
 *   energy      |E - E_0| by the largest T + |V - V_0|, so that a constant in V does not matter (but as round-off: the
 *               scale is at least 1e-10 |V|); of bodies in a fluid the largest of theirs
 *   momentum    of Killing fields X_i, |J_i - J_i0| by the largest sum over particles of |p| max |X_i|; of bodies in a
 *               fluid the largest of their |P - P_0| and |L - L_0|/(r + |x|) by |P| + |l|/r, l the angular momentum
 *               about the body's origin, r the radius of gyration
 *   constraint  the largest |g|, or |a v - b|, in its own unit
 * Energy and momentum of what rests, by no more than 1e-9 of its coordinates from where it was, are 0. */
typedef struct cb_run_change {
  double since, energy, momentum, constraint;
} cb_run_change;
cb_run_change cb_run_changes(const cb_run *run);

/* The time at which it ends, and the length of a step. */
double cb_run_end(const cb_run *run);
double cb_run_step(const cb_run *run);

/* How many rows it has, if nothing stops it. */
int64_t cb_run_rows(const cb_run *run);

/* How far the start was moved to meet the constraints: largest change of a coordinate, and of a velocity. */
double cb_run_start_moved(const cb_run *run);
double cb_run_start_turned(const cb_run *run);

/* The name of the `stop` event that has ended it; NULL: none. */
const char *cb_run_stopped(const cb_run *run);

/* Where the run is: time, and steps so far. */
double cb_run_time(const cb_run *run);
int64_t cb_run_steps(const cb_run *run);
/* The state of a run of particles, borrowed; NULL for other runs. */
const cb_state *cb_run_current(const cb_run *run);

/* Groups of observables, for `curvebody list observables`: rows {name, doc}, ended by a NULL name. */
typedef struct cb_observable_doc {
  const char *name, *fields, *doc;
} cb_observable_doc;
extern const cb_observable_doc cb_observable_groups[]; /* of particles */
extern const cb_observable_doc cb_fluid_observables[]; /* of bodies in a fluid */
extern const cb_observable_doc cb_bundle_observables[]; /* of a gait in a bundle */

CB_API_END
#endif
