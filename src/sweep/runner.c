/* Runs members in one thread. Rows are reduced or kept as they arrive, and the result is put into the store at the end.
 * A member that takes long is saved at its checkpoints. */
#include "core/text.h"
#include "core/failure.h"
#include "scenario/warnings.h"
#include "run/run_shared.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A member is saved at a checkpoint if at least this time, in s, has passed since its start or its last save. After a
 * save that took the time t, the member waits (SAVING_SHARE - 1) t longer, so that saving takes at most one part in
 * SAVING_SHARE of the time. */
static const double save_after = 1;
enum {
  SAVING_SHARE = 100,
  PIECES = 16,
  OWN_PIECES = 5,
  LANES = 8,
  ROW_BYTES_MAX = 1 << 28 /* maximum bytes of rows in memory if several members run at once */
};
typedef struct member {
  struct cb_runner *runner;
  int64_t number;
  cb_arena *arena;
  cb_scenario *scenario;
  cb_reduction *own[CB_SWEEP_COLLECTS]; /* used if its rows differ from the rows of the model */
  cb_reduction *const *reduction;
  double *state; /* the state of the reductions */
  double *kept;  /* all rows, or only the last one; a row has row_units numbers of 8 bytes */
  int64_t rows;
  int32_t warned; /* the number of its warnings; `warning`: the first of them */
  char warning[CB_STORE_TEXT];
  const double *next; /* [nexts]: the state from which later members continue; it is put into the store */
  size_t nexts;
  double begin, saved,
      before; /* in s: the clock at the start and at the last save, and the running time before an interruption */
} member;

struct cb_runner {
  const cb_sweep *sweep;
  const cb_member_checkpoint *checkpoint;
  cb_batch *batch;
  cb_store *store;      /* the store for the running members; NULL: none */
  member member[LANES]; /* the members that run together */
  size_t width, bytes;  /* bytes: size of the values of a member */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cb_status no_memory(void) { return cb_fail(CB_ERROR_MEMORY, "no memory for members of a sweep"); }

static bool keeps_rows(const cb_sweep *s) { return s->plan->keep == CB_KEEP_ROWS; }

static size_t bytes_of(const cb_store_field *field) {
  return cb_store_field_count(field) * (field->type == CB_FIELD_INT32 ? 4 : 8);
}

cb_status cb_runner_create(const cb_sweep *sweep, const cb_member_checkpoint *checkpoint, cb_runner **out) {
  cb_runner *r = calloc(1, sizeof *r);
  if (!r) return no_memory();
  r->sweep = sweep;
  r->checkpoint = checkpoint;
  r->width = sweep->task->layout ? 1 : cb_batch_width(cb_scenario_run(sweep->model));
  const size_t rows = keeps_rows(sweep) ? (size_t)sweep->rows_max : 1;
  while (r->width > 1 && rows * sweep->row_units * sizeof(double) > ROW_BYTES_MAX / r->width) r->width /= 2;
  for (size_t f = 0; f < sweep->layout.n_fields; f++) r->bytes += bytes_of(&sweep->field[f]);
  bool lost = cb_batch_create(&r->batch);
  for (size_t i = 0; i < r->width; i++) {
    member *m = &r->member[i];
    m->runner = r;
    m->state = calloc(sweep->doubles + 1, sizeof(double));
    m->kept = sweep->plan->keep ? calloc(rows * sweep->row_units + 1, sizeof(double)) : NULL;
    lost = lost || !m->state || (sweep->plan->keep && !m->kept);
  }
  if (lost) {
    cb_runner_free(r);
    return no_memory();
  }
  *out = r;
  return CB_OK;
}

size_t cb_runner_width(const cb_runner *r) { return r->width; }

void cb_runner_free(cb_runner *r) {
  if (!r) return;
  for (size_t i = 0; i < LANES; i++) {
    free(r->member[i].state);
    free(r->member[i].kept);
  }
  cb_batch_free(r->batch);
  free(r);
}

/* --- rows, events and warnings that the run of a member reports --- */

static cb_status take_row(void *self, const void *const *row) {
  member *m = self;
  const cb_sweep *s = m->runner->sweep;
  double *state = m->state;
  for (size_t c = 0; c < s->plan->collects; c++) {
    cb_reduction_row(m->reduction[c], row, state);
    state += cb_reduction_doubles(m->reduction[c]);
  }
  if (m->kept) {
    double *at = m->kept + (keeps_rows(s) ? (size_t)m->rows * s->row_units : 0);
    for (size_t f = 0; f < s->rows.n_fields; f++) {
      memcpy(at, row[f], s->row_bytes[f]);
      at += (s->row_bytes[f] + 7) / 8;
    }
  }
  m->rows++;
  return CB_OK;
}

static cb_status take_event(void *self, const cb_event_row *event) {
  member *m = self;
  double *state = m->state;
  for (size_t c = 0; c < m->runner->sweep->plan->collects; c++) {
    cb_reduction_event(m->reduction[c], event, state);
    state += cb_reduction_doubles(m->reduction[c]);
  }
  return CB_OK;
}

static cb_status take_warning(void *self, double time, const char *text) {
  member *m = self;
  char line[1200];
  snprintf(line, sizeof line, "at time %.6g, %s", time, text);
  if (m->warned++ == 0) cb_store_text(isnan(time) ? text : line, m->warning);
  return CB_OK;
}

static void take_text(void *self, const char *text) { (void)take_warning(self, NAN, text); }

static size_t doubles_of(const member *m) {
  size_t doubles = 0;
  for (size_t c = 0; c < m->runner->sweep->plan->collects; c++) doubles += cb_reduction_doubles(m->reduction[c]);
  return doubles;
}

/* Lists the pieces of a checkpoint: the state of the run, the reductions, and the rows. rows: the number of rows so
 * far, or, to load a checkpoint, the maximum number. */
static size_t pieces(member *m, const cb_blob *state, size_t n, size_t rows, double *numbers, cb_blob *out) {
  const cb_sweep *s = m->runner->sweep;
  memcpy(out, state, n * sizeof *out);
  numbers[0] = (double)m->rows;
  numbers[1] = m->before + now() - m->begin;
  out[n++] = (cb_blob){"numbers", CB_FIELD_DOUBLE, 2, numbers, false};
  out[n++] = (cb_blob){"warned", CB_FIELD_INT32, 1, &m->warned, false};
  out[n++] = (cb_blob){"warning", CB_FIELD_INT32, sizeof m->warning / 4, m->warning, false};
  out[n++] = (cb_blob){"reductions", CB_FIELD_DOUBLE, doubles_of(m), m->state, false};
  out[n++] = (cb_blob){"rows", CB_FIELD_DOUBLE, keeps_rows(s) ? rows * s->row_units : 0, m->kept, false};
  return n;
}

static cb_status take_checkpoint(void *self, const cb_blob *state, size_t n) {
  member *m = self;
  const double begin = now();
  if (!m->runner->checkpoint || begin - m->saved < save_after || n + OWN_PIECES > PIECES) return CB_OK;
  cb_blob piece[PIECES];
  double numbers[2];
  const size_t count = pieces(m, state, n, (size_t)m->rows, numbers, piece);
  const cb_status status = cb_member_checkpoint_save(m->runner->checkpoint, m->number, piece, count);
  m->saved = now();
  m->saved += (SAVING_SHARE - 1) * (m->saved - begin);
  return status;
}

/* Loads the member's checkpoint if there is one; returns whether the member continues from it. */
static bool go_on(member *m) {
  cb_run *run = cb_scenario_run(m->scenario);
  size_t n, last;
  const cb_blob *state = cb_run_state(run, &n);
  cb_blob piece[PIECES];
  double numbers[2];
  if (!m->runner->checkpoint || n + OWN_PIECES > PIECES) return false;
  const size_t count = pieces(m, state, n, (size_t)m->runner->sweep->rows_max, numbers, piece);
  if (!cb_member_checkpoint_load(m->runner->checkpoint, m->number, piece, count, &last)) return false;
  m->rows = (int64_t)numbers[0];
  m->before = numbers[1];
  return true;
}

/* --- a member --- */

/* Makes reductions for the rows of this member if they differ from the rows of the model. */
static cb_status find_reductions(member *m, const cb_record_layout *rows) {
  const cb_sweep *s = m->runner->sweep;
  m->reduction = s->reduction;
  cb_status status = cb_sweep_same_rows(s, rows);
  if (!status || s->plan->keep) return status;
  m->reduction = m->own;
  status = CB_OK;
  for (size_t c = 0; c < s->plan->collects && !status; c++)
    status = cb_reduction_parse(s->plan->collect[c].text, rows, &m->own[c]);
  return status;
}

static void start(member *m) {
  double *state = m->state;
  m->rows = 0;
  m->warned = 0;
  for (size_t c = 0; c < m->runner->sweep->plan->collects; c++) {
    cb_reduction_start(m->reduction[c], state);
    state += cb_reduction_doubles(m->reduction[c]);
  }
}

static cb_status compute(member *m) {
  const void *const *row;
  const cb_warning_taker before = cb_warnings_to((cb_warning_taker){.take = take_text, .context = m});
  cb_scenario_warn_again(m->scenario);
  cb_status status = cb_scenario_warn_of_bundle(m->scenario);
  const cb_sweep_task_class *task = m->runner->sweep->task;
  cb_task_call call = {m->runner->sweep, m->number, m->runner->store, m->scenario, m->arena, NULL, 0};
  if (!status) status = task->go_on ? task->go_on(&call, &row) : task->compute(m->scenario, m->arena, &row);
  m->next = call.state;
  m->nexts = call.states;
  cb_warnings_to(before);
  return status ? status : take_row(m, row);
}

/* Opens the member. If the task is not a run, also computes its row. */
static cb_status open_member(member *m) {
  const cb_sweep *s = m->runner->sweep;
  cb_record_layout rows;
  cb_status status = cb_sweep_open(s, m->number, m->arena, &m->scenario);
  if (!status) status = cb_sweep_rows_of(s, m->scenario, m->arena, &rows);
  if (!status) status = find_reductions(m, &rows);
  if (status) return status;
  start(m);
  if (s->task->layout) return compute(m);
  /* a member may have more rows than rows_max if cb_sweep_check has not opened every member */
  if (keeps_rows(s) && cb_run_rows(cb_scenario_run(m->scenario)) > s->rows_max)
    return cb_fail(CB_ERROR_INPUT,
                   "it has %lld rows: expected at most %lld, the maximum among the members that were checked",
                   (long long)cb_run_rows(cb_scenario_run(m->scenario)), (long long)s->rows_max);
  const bool goes_on = go_on(m);
  if (!goes_on) start(m);
  status = cb_run_on_warning(cb_scenario_run(m->scenario), take_warning, m);
  if (status || !goes_on) return status ? status : cb_scenario_warn(m->scenario);
  return cb_run_restore(cb_scenario_run(m->scenario));
}

/* --- to the store --- */

/* Copies all rows of field f of the record to `to`, one after another. Rows that do not exist become nan, or 0 for
 * integers. */
static void gather(const member *m, size_t f, size_t at, size_t rows, unsigned char *to) {
  const cb_sweep *s = m->runner->sweep;
  const size_t bytes = s->row_bytes[f], have = (size_t)m->rows < rows ? (size_t)m->rows : rows;
  for (size_t r = 0; r < have; r++) memcpy(to + r * bytes, m->kept + r * s->row_units + at, bytes);
  to += have * bytes;
  memset(to, 0, (rows - have) * bytes);
  for (size_t i = 0; s->rows.fields[f].type == CB_FIELD_DOUBLE && i < (rows - have) * bytes; i += sizeof(double))
    memcpy(to + i, &(double){NAN}, sizeof(double));
}

/* Fills the values of a member. A failed member keeps its rows, but values that need the complete run are missing. */
static void fill(const member *m, bool failed, unsigned char *to) {
  const cb_sweep *s = m->runner->sweep;
  const bool all = keeps_rows(s);
  const double *state = m->state;
  const int64_t rows = failed && !all ? 0 : m->rows;
  size_t f = 0, at = 0;
  if (all) {
    memcpy(to, &rows, sizeof rows);
    to += bytes_of(&s->field[f++]);
  }
  for (size_t k = 0; s->plan->keep && k < s->rows.n_fields; k++) {
    member shown = *m;
    shown.rows = rows;
    gather(&shown, k, at, all ? (size_t)s->rows_max : 1, to);
    to += bytes_of(&s->field[f++]);
    at += (s->row_bytes[k] + 7) / 8;
  }
  for (size_t c = 0; c < s->plan->collects; c++, to += sizeof(double)) {
    const double value = failed ? NAN : cb_reduction_value(m->reduction[c], state);
    if (!failed) state += cb_reduction_doubles(m->reduction[c]);
    memcpy(to, &value, sizeof value);
  }
}

/* Puts the result of an ended member into the store. */
static cb_status put(const member *m, cb_member_status status, const char *failure, double seconds, cb_store *store) {
  cb_member_result r = {.member = m->number,
                        .status = status,
                        .warned = m->warned,
                        .seconds = seconds,
                        .values = malloc(m->runner->bytes + 1),
                        .state = m->nexts ? malloc(m->nexts * sizeof *r.state) : NULL,
                        .states = m->nexts};
  if (!r.values || (m->nexts && !r.state)) {
    free(r.values);
    free(r.state);
    return no_memory();
  }
  if (m->nexts) memcpy(r.state, m->next, m->nexts * sizeof *r.state);
  cb_store_text(failure ? failure : "", r.failure);
  if (m->warned) memcpy(r.warning, m->warning, sizeof r.warning);
  fill(m, failure != NULL, r.values);
  return cb_store_put(store, &r);
}

/* Copies the first line of the last error message to out. */
static void first_line(char *out, size_t size) {
  const char *text = cb_error_text();
  size_t n = strcspn(text, "\n");
  if (n >= size) n = size - 1;
  memcpy(out, text, n);
  out[n] = 0;
}

static void clear(member *m) {
  for (size_t c = 0; c < CB_SWEEP_COLLECTS; c++) {
    cb_reduction_free(m->own[c]);
    m->own[c] = NULL;
  }
  cb_scenario_free(m->scenario);
  cb_arena_free(m->arena);
  m->scenario = NULL;
  m->arena = NULL;
}

/* Returns whether the member itself caused a failure, and not the machine or the user. */
static bool is_own(cb_status status) {
  return status && status != CB_ERROR_INTERRUPTED && status != CB_ERROR_FILE && status != CB_ERROR_MEMORY;
}

static void begin(member *m, int64_t number) {
  m->number = number;
  m->rows = 0;
  m->warned = 0;
  m->before = 0;
  m->nexts = 0;
  m->begin = m->saved = now();
}

cb_status cb_runner_put(cb_runner *r, int64_t number, cb_member_status status, const void *const *row,
                        const double *state, size_t states, cb_store *store) {
  member *m = &r->member[0];
  begin(m, number);
  m->reduction = r->sweep->reduction;
  start(m);
  m->next = state;
  m->nexts = states;
  const cb_status taken = take_row(m, row);
  return taken ? taken : put(m, status, NULL, 0, store);
}

/* Puts the results of an ended member into the store, with status done or failed. A failure that the member itself did
 * not cause is returned. */
static cb_status end(member *m, cb_status status, const char *text, double seconds, cb_store *store, size_t *failed) {
  const bool own = is_own(status);
  if (status && !own) return cb_fail(status, "%s", text);
  *failed += own;
  return store ? put(m, own ? CB_MEMBER_FAILED : CB_MEMBER_DONE, own ? text : NULL, seconds, store) : CB_OK;
}

/* Runs the members number[n], where n is at most the width, and puts their results into the store. Adds the number of
 * failed members to *failed. */
static cb_status go(cb_runner *r, const int64_t *number, size_t n, cb_store *store, const volatile sig_atomic_t *stop,
                    size_t *failed) {
  cb_batch_member of[LANES];
  cb_sink sink[LANES];
  cb_status opened[LANES], status = CB_OK;
  char text[LANES][CB_STORE_TEXT * 2];
  size_t index[LANES], count = 0;
  const double first = now();
  r->store = store;
  for (size_t i = 0; i < n && !status; i++) {
    member *m = &r->member[i];
    begin(m, number[i]);
    if (!(m->arena = cb_arena_create())) status = no_memory();
    if (!status) opened[i] = open_member(m);
    if (!status && opened[i]) first_line(text[i], sizeof text[i]);
    if (status || opened[i] || r->sweep->task->layout) continue;
    sink[count] = (cb_sink){m, take_row, take_event, take_checkpoint, NULL};
    of[count] = (cb_batch_member){.run = cb_scenario_run(m->scenario), .sink = &sink[count]};
    index[count++] = i;
  }
  if (!status && count) cb_batch_run(r->batch, of, count, stop);
  for (size_t k = 0; k < count && !status; k++) {
    opened[index[k]] = of[k].status;
    snprintf(text[index[k]], sizeof text[0], "%s", of[k].text);
  }
  const double seconds = (now() - first) / (double)n; /* the time is divided equally among the members of the batch */
  cb_status last = CB_OK;
  for (size_t i = 0; i < n && !status; i++) {
    const cb_status ended = end(&r->member[i], opened[i], text[i], r->member[i].before + seconds, store, failed);
    if (ended) last = ended;
  }
  for (size_t i = 0; i < n; i++) clear(&r->member[i]);
  return status ? status : last;
}

cb_status cb_runner_go(cb_runner *r, const int64_t *m, size_t n, cb_store *store, const volatile sig_atomic_t *stop,
                       size_t *failed) {
  cb_status status = CB_OK;
  for (size_t i = 0; i < n && !status; i += r->width)
    status = go(r, m + i, n - i < r->width ? n - i : r->width, store, stop, failed);
  return status;
}
