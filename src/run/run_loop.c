/* The layout of a record, and the loop of every run: steps, rows and checkpoints at fixed numbers of steps, and
 * warnings. The layout has dimensions, constants, fields with memory for a row, and the restart state. */
#include "run/run_private.h"

#include "core/failure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- the layout, and the rows --- */

cb_dimension *cb_run_dimension(cb_run *run, const char *name, size_t count, const char *doc) {
  cb_dimension *d = &run->dimension[run->layout.n_dimensions++];
  *d = (cb_dimension){.name = name, .count = count, .doc = doc};
  return d;
}

/* Returns the length of a dimension; 0 if there is no dimension with that name. */
static size_t cb_run_extent(const cb_run *run, const char *name) {
  for (size_t i = 0; i < run->layout.n_dimensions; i++)
    if (!strcmp(run->dimension[i].name, name)) return run->dimension[i].count;
  return 0;
}

void cb_run_constant(cb_run *run, const cb_constant *constant) {
  if (cb_run_extent(run, constant->dim)) run->constant[run->layout.n_constants++] = *constant;
}

cb_status cb_run_field(cb_run *run, const cb_observable *observable) {
  const cb_field *field = &observable->field;
  const size_t size = field->type == CB_FIELD_INT32 ? sizeof(int32_t) : sizeof(double);
  size_t count = 1;
  for (int d = 0; d < field->rank; d++) count *= cb_run_extent(run, field->dims[d]);
  if (count == 0 || !cb_run_asked(run, observable->group)) return CB_OK;
  if (run->n_fields == CB_RUN_FIELDS)
    return cb_fail(CB_ERROR_ARGUMENT, "/%s: a record has at most %d fields", field->name, CB_RUN_FIELDS);
  const int f = run->n_fields;
  void *value = cb_arena_alloc_aligned(run->arena, count, sizeof(double), CB_CACHE_LINE);
  if (!value) return cb_fail(CB_ERROR_MEMORY, "no memory for a row of /%s", field->name);
  run->field[f] = *field;
  run->observable[f] = observable;
  run->cell[f] = (cb_cell){value, count * size, observable->at};
  run->row[f] = value;
  run->n_fields++;
  return CB_OK;
}

cb_status cb_run_fields(cb_run *run, const cb_observable *table) {
  cb_status status = CB_OK;
  for (; table->group && !status; table++) status = cb_run_field(run, table);
  return status;
}

static CB_FILL(control) {
  memcpy(to.out, run->control, to.size);
  return CB_OK;
}

/* Adds the controls, if there are any: their names, the field /control, and their values to the restart state blob[*n].
 * A row of a run with controls determines the state only if it contains them. */
static cb_status add_controls(cb_run *run, cb_blob *blob, size_t *n) {
  static const cb_observable field = CB_OBSERVABLE(
      "controls", "control", DOUBLE, "1", "values of the controls in the last step", control, 0, 1, "control_name");
  const cb_run_controls *c = run->options.controls;
  const char *const *state = run->motion->state;
  size_t fields = 0;
  for (; state && state[fields] && fields < CB_RUN_STATE_FIELDS - 2; fields++) run->state_field[fields] = state[fields];
  if (!c || c->n == 0) return CB_OK;
  cb_run_dimension(run, "control_name", c->n, "name of a control")->labels = c->name;
  blob[(*n)++] = (cb_blob){"control", CB_FIELD_DOUBLE, c->n, c->value, true};
  if (fields) run->state_field[fields] = field.field.name;
  if (!cb_run_asked(run, "controls")) run->state_field[0] = NULL;
  return cb_run_field(run, &field);
}

cb_status cb_run_finish_layout(cb_run *run, const cb_blob *blob, size_t n) {
  run->blob[0] = (cb_blob){"time", CB_FIELD_DOUBLE, 2, run->times, false};
  memcpy(run->blob + 1, blob, n * sizeof *blob);
  const cb_status status = add_controls(run, run->blob + 1, &n);
  run->blob[++n] = (cb_blob){"replaced", CB_FIELD_DOUBLE, 1, &run->replaced, true};
  run->layout.dimensions = run->dimension;
  run->layout.constants = run->constant;
  run->layout.fields = run->field;
  run->layout.n_fields = (size_t)run->n_fields;
  run->layout.event_fields = run->event_field;
  run->layout.state = run->blob;
  run->layout.n_state = n + 1;
  return status;
}

bool cb_run_asked(const cb_run *run, const char *group) {
  if (!*group) return true;
  if (!strcmp(group, "state")) return run->options.state;
  if (!strcmp(group, "controls") && run->usual) return true;
  for (const char *const *name = run->options.observables; *name; name++)
    if (!strcmp(*name, group)) return true;
  return false;
}

cb_status cb_run_choose(cb_run *run, const cb_observable_doc *groups, const char *const *usual) {
  run->layout.observables = groups;
  run->usual = !run->options.observables;
  if (run->usual) run->options.observables = usual;
  for (const char *const *name = run->options.observables; *name; name++) {
    const cb_observable_doc *doc = groups;
    while (doc->name && strcmp(doc->name, *name)) doc++;
    if (!doc->name)
      return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                        "there is no observable `%s`; see `curvebody list observables`", *name);
  }
  return CB_OK;
}

/* --- the state at events --- */

bool cb_run_events_have_state(const cb_run *run) { return run->layout.n_event_fields > 0; }

cb_status cb_run_event_fields(cb_run *run, const cb_observable *table, const char *const *names) {
  if (!run->event_values) run->event_values = cb_arena_alloc(run->arena, CB_EVENT_NUMBERS_MAX, sizeof(double));
  for (; *names && run->options.event_state; names++) {
    const cb_observable *row = table;
    while (strcmp(row->field.name, *names)) row++;
    char *name = cb_arena_alloc(run->arena, strlen(*names) + sizeof "event_", 1);
    size_t count = 1;
    for (int d = 0; d < row->field.rank; d++) count *= cb_run_extent(run, row->field.dims[d]);
    if (!name || !run->event_values) return cb_fail(CB_ERROR_MEMORY, "no memory for the state at events");
    if (!count) continue;
    const size_t n = run->event_fields++;
    sprintf(name, "event_%s", *names);
    run->event_field[n] = row->field;
    run->event_field[n].name = name;
    run->event_observable[n] = row;
    run->event_numbers += count;
    run->event_count[n] = count;
  }
  run->layout.n_event_fields = run->event_numbers <= CB_EVENT_NUMBERS_MAX ? run->event_fields : 0;
  return CB_OK;
}

const double *cb_run_event_values(const cb_run *run, double *out) {
  double *value = out;
  for (size_t f = 0; f < run->layout.n_event_fields; value += run->event_count[f++]) {
    const cb_cell cell = {value, run->event_count[f] * sizeof *value, run->event_observable[f]->at};
    const cb_status status = run->event_observable[f]->fill(run, cell);
    for (size_t i = 0; status && i < run->event_count[f]; i++) value[i] = NAN; /* the place has no such coordinates */
  }
  return out;
}

cb_status cb_run_event(cb_run *run, cb_sink *sink, const cb_event_row *row, bool known) {
  cb_event_row with = *row;
  if (!sink->event) return CB_OK;
  if (known && cb_run_events_have_state(run)) with.state = cb_run_event_values(run, run->event_values);
  return sink->event(sink->self, &with);
}

/* --- rows --- */

cb_status cb_run_measure(cb_run *run, const char **what) {
  cb_status status = run->motion->measure ? run->motion->measure(run, what) : CB_OK;
  for (int f = 0; f < run->n_fields && !status; f++) {
    *what = run->field[f].name;
    status = run->observable[f]->fill(run, run->cell[f]);
  }
  return status;
}

CB_FILL(cb_fill_time) {
  *(double *)to.out = *run->t;
  return CB_OK;
}
CB_FILL(cb_fill_step) {
  *(int64_t *)to.out = *run->step;
  return CB_OK;
}
CB_FILL(cb_fill_step_size) {
  *(double *)to.out = run->step_size;
  return CB_OK;
}
CB_FILL(cb_fill_iterations) {
  *(int32_t *)to.out = *run->iterations;
  return CB_OK;
}
CB_FILL(cb_fill_own) {
  memcpy(to.out, (const char *)run->own + to.at, to.size);
  return CB_OK;
}

/* --- the loop --- */

enum { ROWS_PER_CHECKPOINT_MAX = 256, ROWS_PER_CHECKPOINT_MIN = 8, NUMBERS_PER_CHECKPOINT = 1 << 24 };

/* Finds the number of full steps of length h and the length of the remaining step. There is no remaining step if (end -
 * start)/h differs from an integer n by at most 1e-9 max(1, n/1000), the round-off of the three numbers. Returns
 * CB_ERROR_ARGUMENT if an option is not valid. */
static cb_status count_steps(cb_run *run) {
  const cb_run_options *o = &run->options;
  if (!(o->step > 0) || !isfinite(o->step))
    return cb_fail(CB_ERROR_ARGUMENT, "the step: expected a positive number, found %g", o->step);
  if (!isfinite(o->start) || !isfinite(o->end) || o->end < o->start)
    return cb_fail(CB_ERROR_ARGUMENT, "the end: expected a time after the start %g, found %g", o->start, o->end);
  if (o->every < 1 || o->checkpoint < 0 || o->retries < 0)
    return cb_fail(CB_ERROR_ARGUMENT, "every %lld, checkpoint %lld, retries %d: expected at least 1, 0 and 0",
                   (long long)o->every, (long long)o->checkpoint, o->retries);
  const double steps = (o->end - o->start) / o->step;
  if (steps > 9e15) return cb_fail(CB_ERROR_ARGUMENT, "the number of steps: expected at most 9e15, found %g", steps);
  const double whole = round(steps);
  if (fabs(steps - whole) <= 1e-9 * fmax(1, whole * 1e-3)) {
    run->full_steps = (int64_t)whole;
    run->last_step = 0;
  } else {
    run->full_steps = (int64_t)floor(steps);
    run->last_step = o->end - (o->start + (double)run->full_steps * o->step);
  }
  return CB_OK;
}

cb_status cb_run_new(const cb_motion *motion, const cb_run_options *options, size_t numbers, size_t size,
                     cb_run **out) {
  cb_arena *arena = cb_arena_create();
  cb_run *run = arena ? cb_arena_alloc(arena, 1, sizeof *run) : NULL;
  void *own = arena ? cb_arena_alloc(arena, 1, size ? size : 1) : NULL;
  if (!run || !own) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a run");
  }
  run->arena = arena;
  run->motion = motion;
  run->own = own;
  run->options = *options;
  const size_t controls = options->controls ? options->controls->n : 0;
  run->control = cb_arena_alloc(arena, controls, sizeof *run->control);
  if (controls && run->control) memcpy(run->control, options->controls->value, controls * sizeof *run->control);
  run->change = (cb_run_change){options->start, NAN, NAN, NAN};
  if (run->options.checkpoint == 0) {
    const size_t rows = NUMBERS_PER_CHECKPOINT / (numbers ? numbers : 1);
    run->options.checkpoint = rows > ROWS_PER_CHECKPOINT_MAX   ? ROWS_PER_CHECKPOINT_MAX
                              : rows < ROWS_PER_CHECKPOINT_MIN ? ROWS_PER_CHECKPOINT_MIN
                                                               : (int64_t)rows;
  }
  cb_status status = count_steps(run);
  if (!status && !run->control) status = cb_fail(CB_ERROR_MEMORY, "no memory for %zu controls", controls);
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  *out = run;
  return CB_OK;
}

void cb_run_free(cb_run *run) {
  if (!run) return;
  if (run->motion->free) run->motion->free(run);
  for (size_t i = 0; i < run->warnings; i++) free((char *)run->warning[i].text);
  free(run->warning);
  cb_arena_free(run->arena);
}

void *cb_run_own(const cb_run *run) { return run->own; }
const cb_motion *cb_run_motion(const cb_run *run) { return run->motion; }

void cb_run_clock(cb_run *run, double *t, double *t_low, int64_t *step, const int *iterations) {
  run->t = t;
  run->t_low = t_low;
  run->step = step;
  run->iterations = iterations;
}

cb_record_layout *cb_run_layout(cb_run *run) { return &run->layout; }
double cb_run_end(const cb_run *run) { return run->options.end; }
double cb_run_step(const cb_run *run) { return run->options.step; }
int64_t cb_run_rows(const cb_run *run) {
  const int64_t total = run->full_steps + (run->last_step > 0), every = run->options.every;
  return 1 + total / every + (total % every > 0);
}
double cb_run_time(const cb_run *run) { return *run->t; }
int64_t cb_run_steps(const cb_run *run) { return *run->step; }
const char *cb_run_stopped(const cb_run *run) { return run->stopped; }

static cb_status hand_over(const cb_run *run, size_t i) {
  return run->take_warning ? run->take_warning(run->taker, run->warning[i].time, run->warning[i].text) : CB_OK;
}

cb_status cb_run_warn(cb_run *run, double time, char *text) {
  cb_run_warning *more = text ? realloc(run->warning, (run->warnings + 1) * sizeof *more) : NULL;
  if (!more) {
    free(text);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a warning");
  }
  run->warning = more;
  run->warning[run->warnings++] = (cb_run_warning){time, text};
  return hand_over(run, run->warnings - 1);
}

cb_status cb_run_on_warning(cb_run *run, cb_status (*take)(void *self, double time, const char *text), void *self) {
  cb_status status = CB_OK;
  run->take_warning = take;
  run->taker = self;
  for (size_t i = 0; i < run->warnings && !status; i++) status = hand_over(run, i);
  return status;
}

cb_status cb_run_warnf(cb_run *run, double time, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  char *copy = strdup(text);
  return copy ? cb_run_warn(run, time, copy) : cb_fail(CB_ERROR_MEMORY, "no memory for a warning");
}

size_t cb_run_warnings(const cb_run *run, const cb_run_warning **list) {
  *list = run->warning;
  return run->warnings;
}

cb_blob *cb_run_state(cb_run *run, size_t *count) {
  *count = run->layout.n_state;
  return run->blob;
}

/* Stores the present values of the controls in run->control, a part of the state. Returns whether one has changed. */
static bool take_controls(cb_run *run) {
  const cb_run_controls *c = run->options.controls;
  const size_t size = c ? c->n * sizeof *run->control : 0;
  if (!size || !memcmp(run->control, c->value, size)) return false;
  memcpy(run->control, c->value, size);
  return true;
}

static cb_status restored(cb_run *run) {
  take_controls(run);
  if (run->replaced != 0) run->change.energy = run->change.momentum = run->change.constraint = NAN;
  return run->motion->restored ? run->motion->restored(run) : CB_OK;
}

cb_status cb_run_restore(cb_run *run) {
  *run->t = run->times[0];
  *run->t_low = run->times[1];
  run->restored = true;
  run->begun = false;
  run->stopped = NULL;
  return restored(run);
}

const char *const *cb_run_state_fields(const cb_run *run) {
  const cb_motion *m = run->motion;
  return (m->row_suffices && !m->row_suffices(run)) || !run->state_field[0] ? NULL : run->state_field;
}

bool cb_run_is_measured(const cb_run *run, const char *field) {
  const char *const *name = run->motion->measured;
  while (name && *name && strcmp(*name, field)) name++;
  return name && *name;
}

cb_status cb_run_restore_row(cb_run *run, const cb_row_state *row) {
  if (!cb_run_state_fields(run))
    return cb_fail(CB_ERROR_UNSUPPORTED, "a row of this run does not determine its state: expected a checkpoint");
  const cb_status status = run->motion->restore_row(run, row);
  if (status) return status;
  for (size_t i = 0; run->state_field[i]; i++)
    if (!strcmp(run->state_field[i], "control"))
      memcpy(run->options.controls->value, row->field[i], run->options.controls->n * sizeof(double));
  *run->t = row->time;
  *run->t_low = 0;
  *run->step = row->step;
  run->stopped = NULL;
  run->replaced = 1;
  return restored(run);
}

cb_status cb_run_evaluate(cb_run *run, const void *const **row) {
  const char *what = "";
  const cb_status status = cb_run_measure(run, &what);
  if (status) return cb_fail(status, "/%s: %s", what, cb_error_text());
  *row = run->row;
  return CB_OK;
}

/* Writes a row. If the state cannot be measured, the run ends with CB_ERROR_STEP, as after a failed step, or with
 * CB_ERROR_MEMORY. Without a sink for rows the state is measured only at the start and at the end, to compare conserved
 * quantities. */
static cb_status write_row(cb_run *run, cb_sink *sink, bool last) {
  const char *what = "";
  if (!sink->row && !last && *run->step > 0) return CB_OK;
  const cb_status status = cb_run_measure(run, &what);
  if (!status && run->motion->compare && run->integrator && run->replaced == 0) run->motion->compare(run, last);
  if (!status) return sink->row ? sink->row(sink->self, run->row) : CB_OK;
  return cb_fail(status == CB_ERROR_MEMORY ? status : CB_ERROR_STEP,
                 "%s at time %.17g, step %lld: cannot record /%s: %s", cb_status_name(status), *run->t,
                 (long long)*run->step, what, cb_error_text());
}

cb_blob *cb_run_checkpoint(cb_run *run, size_t *count) {
  run->times[0] = *run->t;
  run->times[1] = *run->t_low;
  if (run->motion->forget) run->motion->forget(run);
  return cb_run_state(run, count);
}

static cb_status write_checkpoint(cb_run *run, cb_sink *sink) {
  size_t n;
  const cb_blob *state = cb_run_checkpoint(run, &n);
  return sink->checkpoint ? sink->checkpoint(sink->self, state, n) : CB_OK;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t cb_run_total(const cb_run *run) { return run->full_steps + (run->last_step > 0); }

cb_status cb_run_begin(cb_run *run, cb_sink *sink) {
  cb_status status = CB_OK;
  run->beforehand = run->warnings;
  /* the checkpoint comes first, so that a run that is killed at any later time can be resumed */
  if (!run->restored) {
    status = run->motion->begin ? run->motion->begin(run) : CB_OK;
    if (!status) status = write_checkpoint(run, sink);
  }
  if (!status && *run->step == 0) {
    take_controls(run);
    run->step_size = 0;
    status = write_row(run, sink, cb_run_total(run) == 0);
  }
  run->step_size = run->options.step;
  run->stopped = NULL;
  run->begun = !status;
  return status;
}

cb_status cb_run_interrupted(const cb_run *run) {
  return cb_fail(CB_ERROR_INTERRUPTED, "interrupted at time %.17g, step %lld", *run->t, (long long)*run->step);
}

/* A warning that this thread gives during a step becomes a warning of the run, with the present time of the run. */
static void take_text(void *self, const char *text) {
  cb_run *run = self;
  (void)cb_run_warn(run, *run->t, strdup(text));
}

/* Computes the controls of the next step, and checks all of them. If one has changed, the history of the integrator is
 * deleted, because it contains forces at the present state. */
static cb_status set_controls(cb_run *run) {
  const cb_run_controls *c = run->options.controls;
  if (!c) return CB_OK;
  const cb_status status = c->sample ? c->sample(c->self, run) : CB_OK;
  if (status) return status;
  for (size_t i = 0; i < c->n; i++)
    if (!isfinite(c->value[i]))
      return cb_fail(CB_ERROR_STEP, "at time %.17g, step %lld: control `%s`: expected a finite number, found %g",
                     *run->t, (long long)*run->step, c->name[i], c->value[i]);
  if (take_controls(run) && run->motion->forget) run->motion->forget(run);
  return CB_OK;
}

cb_status cb_run_once(cb_run *run, cb_sink *sink) {
  const double h = *run->step < run->full_steps ? run->options.step : run->last_step;
  const cb_warning_taker before = cb_warnings_to((cb_warning_taker){.take = take_text, .context = run});
  run->step_size = h;
  cb_status status = set_controls(run);
  if (!status) status = run->motion->step(run, sink, h);
  if (!status) status = cb_run_stepped(run, sink);
  cb_warnings_to(before);
  return status;
}

cb_status cb_run_stepped(cb_run *run, cb_sink *sink) {
  const cb_run_options *o = &run->options;
  const bool ends = *run->step == cb_run_total(run) || run->stopped;
  cb_status status = CB_OK;
  if (*run->step % o->every == 0 || ends) status = write_row(run, sink, ends);
  if (!status && !ends && *run->step % (o->every * o->checkpoint) == 0) status = write_checkpoint(run, sink);
  return status;
}

bool cb_run_ended(const cb_run *run) { return *run->step >= cb_run_total(run) || run->stopped; }

cb_status cb_run_set_end(cb_run *run, double end) {
  const cb_run_options before = run->options;
  if (!(end >= *run->t) || (run->last_step > 0 && *run->step > run->full_steps))
    return cb_fail(CB_ERROR_ARGUMENT, "the end: expected a time after %.17g, and full steps so far, found %g", *run->t,
                   end);
  run->options.end = end;
  const cb_status status = count_steps(run);
  if (status) run->options = before;
  return status;
}

/* The caller's function that reports progress, and the clock times for its reports. */
typedef struct reports {
  void (*progress)(void *user, const cb_progress *p);
  void *user;
  double begin, last; /* times of the clock in s: of the first step, and of the last report */
  int64_t first;      /* the step at the time `begin` */
} reports;

static void report(const cb_run *run, reports *to) {
  const double time = now();
  if (time - to->last < 0.2) return;
  to->last = time;
  to->progress(to->user, &(cb_progress){*run->t, run->options.start, run->options.end, *run->step,
                                        (double)(*run->step - to->first) / (time - to->begin)});
}

/* Makes steps until the step number `limit`, the end, or the clock's time `until` (inf: no limit). */
static cb_status make_steps(cb_run *run, cb_sink *sink, int64_t limit, double until, reports *to,
                            const volatile sig_atomic_t *stop) {
  cb_status status = CB_OK;
  while (!status && *run->step < limit && !cb_run_ended(run)) {
    if (stop && *stop) return cb_run_interrupted(run);
    status = cb_run_once(run, sink);
    if (!status && to->progress && (*run->step & 15) == 0) report(run, to);
    if (until < INFINITY && now() >= until) break;
  }
  return status;
}

static cb_status conclude(cb_run *run, cb_status status) {
  if (status == CB_ERROR_INTERRUPTED) run->take_warning = NULL; /* an interrupted run records no warning of a change */
  const cb_status warned = cb_run_warn_of_change(run);
  return status ? status : warned;
}

cb_status cb_run_go(cb_run *run, cb_sink *sink, void (*progress)(void *user, const cb_progress *p), void *user,
                    const volatile sig_atomic_t *stop) {
  cb_status status = cb_run_begin(run, sink);
  const double begin = now();
  reports to = {progress, user, begin, begin, *run->step};
  if (!status) status = make_steps(run, sink, INT64_MAX, INFINITY, &to, stop);
  return conclude(run, status);
}

cb_status cb_run_advance(cb_run *run, cb_sink *sink, int64_t steps, double seconds, const volatile sig_atomic_t *stop) {
  cb_sink none = {.self = NULL};
  reports to = {.progress = NULL};
  const double until = seconds > 0 ? now() + seconds : INFINITY;
  if (steps < 0) return cb_fail(CB_ERROR_ARGUMENT, "expected a number of steps >= 0, found %lld", (long long)steps);
  if (!sink) sink = &none;
  cb_status status = run->begun ? CB_OK : cb_run_begin(run, sink);
  if (!status && cb_run_ended(run)) return CB_OK;
  const int64_t first = *run->step;
  if (!status) status = make_steps(run, sink, steps > INT64_MAX - first ? INT64_MAX : first + steps, until, &to, stop);
  if (status == CB_ERROR_INTERRUPTED) return status; /* the run can continue */
  return status || cb_run_ended(run) ? conclude(run, status) : CB_OK;
}

/* --- the change of conserved quantities --- */

/* The run warns if the change of the energy relative to its scale exceeds `limit`, or if the change of a momentum
 * relative to its size exceeds `lost`. The step that the warning proposes should change the energy by `good`. */
static const double limit = 1e-3, good = 1e-4, lost = 1e-2;

cb_run_change cb_run_changes(const cb_run *run) { return run->change; }

static cb_status warn_of_energy(cb_run *run) {
  const double energy = run->change.energy, h = run->options.step;
  char text[256], advice[128] = "integrator.rtol is too large";
  int order = 0;
  bool symplectic, symmetric;
  if (run->integrator->class_->properties)
    run->integrator->class_->properties(run->integrator, &order, &symplectic, &symmetric);
  if (!run->integrator->class_->adaptive && order < 1)
    snprintf(advice, sizeof advice, "the step of %g is too long", h);
  else if (!run->integrator->class_->adaptive)
    snprintf(advice, sizeof advice, "the step of %g is too long; try an integrator.step of %.2g", h,
             h * pow(good / energy, 1.0 / order));
  snprintf(text, sizeof text,
           "the energy has changed by %.2g of its scale since time %.6g, which no work of a force explains: %s", energy,
           run->change.since, advice);
  return cb_run_warnf(run, *run->t, "%s", text);
}

static cb_status warn_of_momentum(cb_run *run) {
  return cb_run_warnf(
      run, *run->t,
      "a Killing momentum has changed by %.2g of its size since time %.6g, although all forces conserve it: try a "
      "smaller integrator.step",
      run->change.momentum, run->change.since);
}

cb_status cb_run_warn_of_change(cb_run *run) {
  const bool energy = run->change.energy > limit, momentum = run->change.momentum > lost;
  if (!energy && !momentum) return CB_OK;
  const cb_status status = energy ? warn_of_energy(run) : warn_of_momentum(run);
  if (status) return status;
  const cb_run_warning last = run->warning[run->warnings - 1];
  cb_run_warning *const first = run->warning + run->beforehand;
  memmove(first + 1, first, (run->warnings - 1 - run->beforehand) * sizeof last);
  *first = last;
  return CB_OK;
}
