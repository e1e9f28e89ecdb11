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

/* The memory to which the values of one field in a row are written. */
typedef struct cb_cell {
  void *out;
  size_t size; /* size of the memory at `out`, in bytes */
  size_t at;   /* cb_observable.at of the field */
} cb_cell;

/* A field of the record. `group` is the name by which a scenario asks for it. A field of the group "" is always
 * recorded, and one of the group "state" unless the scenario switches the state off. */
typedef struct cb_observable {
  const char *group;
  cb_field field;
  cb_status (*fill)(const cb_run *run, cb_cell to); /* writes the values of the present state to to.out */
  size_t at;                                        /* a further argument of fill: an offset or an index */
} cb_observable;

/* A number that belongs to the present state, such as the place of a body along x. The class that finds it gives the
 * members their meaning. */
typedef struct cb_quantity {
  int kind, subject, part;
} cb_quantity;

/* How the states of a configuration space move and are measured. `step` is required. Any other member may be NULL:
 * nothing has to be done, or the class cannot do it. */
typedef struct cb_motion {
  /* Called before the first row and checkpoint of a run that was not restored. */
  cb_status (*begin)(cb_run *run);
  /* Makes one step of length h. If the step fails, the function may repeat it in halved steps. Advances the time and
   * the number of steps (cb_run_clock). */
  cb_status (*step)(cb_run *run, cb_sink *sink, double h);
  /* Computes the quantities from which the fields of a row are filled. On failure *what is the name of the field that
   * could not be computed. */
  cb_status (*measure)(cb_run *run, const char **what);
  /* Updates the changes of conserved quantities (cb_run_changes) from the state that was just measured: all of them if
   * `last` is true; otherwise quantities that are not recorded may be left out. */
  void (*compare)(cb_run *run, bool last);
  /* Deletes the history of the integrator; called before each checkpoint. */
  void (*forget)(cb_run *run);
  /* Called after a state was loaded from a checkpoint or from a row. */
  cb_status (*restored)(cb_run *run);
  void (*free)(cb_run *run);
  /* The names of the fields that determine the state, ended by NULL, and the function that sets the state from the
   * values of these fields in a row. Rows do not have the low-order parts of compensated sums, which become 0. NULL:
   * a row does not determine the state; row_suffices (NULL: always true) tells whether it does in this run. */
  const char *const *state;
  bool (*row_suffices)(const cb_run *run);
  cb_status (*restore_row)(cb_run *run, const cb_row_state *row);
  /* The names of the fields that depend only on the state, ended by NULL. `curvebody verify` computes them again and
   * compares. */
  const char *const *measured;
  /* Makes a tangent vector of the body (an index) at the present state, for the largest Lyapunov exponent
   * (src/run/exponent.h). */
  cb_status (*tangent)(const cb_run *run, int body, struct cb_tangent *out);
  /* For a falling plate, the body with this index: finds which numbers of a state give its position and angle
   * (src/run/falling.h). */
  cb_status (*plate)(const cb_run *run, int body, struct cb_falling_plate *out);
  /* Returns the particles of the run if several runs of this kind can be stepped together by vector instructions
   * (src/run/run_shared.h); otherwise NULL. */
  struct cb_particles *(*lanes)(const cb_run *run);
  /* For the laws of controls: the first function finds the quantity with the name text[length], such as head.x, and
   * returns whether there is one; the second returns its value at the state that was last measured. quantities: which
   * names there are, for messages. */
  bool (*find_quantity)(const cb_run *run, const char *text, size_t length, cb_quantity *out);
  double (*quantity)(const cb_run *run, const cb_quantity *q);
  const char *quantities;
} cb_motion;

/* Makes an empty run with `size` bytes of data, which are 0 and belong to the run, and checks the options
 * (CB_ERROR_ARGUMENT). If the options do not give the number of rows per checkpoint, it is chosen from `numbers`, the
 * approximate number of numbers in the state. The caller fills in the data and the layout, and frees the run with
 * cb_run_free, also if filling in fails: cb_motion.free must accept data that are still 0. */
cb_status cb_run_new(const cb_motion *motion, const cb_run_options *options, size_t numbers, size_t size, cb_run **out);
/* Returns the data of a run, which were made by cb_run_new. */
void *cb_run_own(const cb_run *run);
/* Sets where a run keeps its time (the number *t and the low-order part *t_low of a compensated sum), the number of its
 * steps, and the number of iterations of the last step. The pointers must be valid as long as the run. */
void cb_run_clock(cb_run *run, double *t, double *t_low, int64_t *step, const int *iterations);

/* Make the layout of the record; call them in this order.
 *
 *   cb_run_choose         sets the groups of observables to record: those of the options, otherwise `usual`, which ends
 *                         at NULL. `groups` lists all groups; CB_ERROR_ARGUMENT if the options have a name that is not
 *                         in this list
 *   cb_run_dimension      adds a dimension of this name and length, and returns it, so that labels can be set
 *   cb_run_constant       adds a constant array, unless its dimension has the length 0
 *   cb_run_fields         adds the fields of a table, which ends at a NULL group, and is borrowed. Fields that were not
 *                         asked for, and fields with a dimension of length 0, are left out
 *   cb_run_finish_layout  adds the pieces blob[n] of the restart state, the time, and the controls
 * Texts are borrowed. */
cb_status cb_run_choose(cb_run *run, const cb_observable_doc *groups, const char *const *usual);
bool cb_run_asked(const cb_run *run, const char *group); /* returns whether the group is recorded */
cb_dimension *cb_run_dimension(cb_run *run, const char *name, size_t count, const char *doc);
void cb_run_constant(cb_run *run, const cb_constant *constant);
cb_status cb_run_fields(cb_run *run, const cb_observable *table);
cb_status cb_run_finish_layout(cb_run *run, const cb_blob *blob, size_t n);

/* The state at events. cb_run_event_fields adds, for each of `names` (ended by NULL), the field event_NAME of events,
 * with the dimensions and the function of the field NAME of the table; it may be called for several tables. There are
 * no such fields (cb_run_events_have_state) if the options do not ask for them, or if they have more than
 * CB_EVENT_NUMBERS_MAX numbers. cb_run_event gives an event to the sink. known: the present state of the run is that at
 * the event, and is added to the event. Otherwise the event keeps its values (cb_event_row.state). */
enum { CB_EVENT_NUMBERS_MAX = 1024 };
cb_status cb_run_event_fields(cb_run *run, const cb_observable *table, const char *const *names);
bool cb_run_events_have_state(const cb_run *run);
cb_status cb_run_event(cb_run *run, cb_sink *sink, const cb_event_row *row, bool known);

/* Functions for cb_observable.fill: the fields that all classes have, and a field whose values are in the data of the
 * run at the offset cb_observable.at (cb_fill_own). */
cb_status cb_fill_time(const cb_run *run, cb_cell to);
cb_status cb_fill_step(const cb_run *run, cb_cell to);
cb_status cb_fill_step_size(const cb_run *run, cb_cell to);
cb_status cb_fill_iterations(const cb_run *run, cb_cell to);
cb_status cb_fill_own(const cb_run *run, cb_cell to);

CB_API_END
#endif
