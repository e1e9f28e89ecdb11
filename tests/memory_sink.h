/* A sink that stores the data that a run passes to it, and scenarios of a small body for the tests of the run loop. */
#pragma once

#include "check.h"
#include <curvebody/scenario.h>

enum { MOST_FIELDS = 48, MOST_ROWS = 4096, MOST_CHECKPOINTS = 64, MOST_EVENTS = 2048 };

typedef struct memory_sink {
  const cb_record_layout *layout;
  size_t width[MOST_FIELDS], row_bytes; /* sizes of the fields and of a row, in bytes */
  unsigned char *rows[MOST_ROWS];
  size_t n_rows;
  struct {
    size_t after_rows;
    unsigned char *data; /* all blobs of the state, one after another */
  } checkpoint[MOST_CHECKPOINTS];
  size_t n_checkpoints;
  cb_event_row event[MOST_EVENTS];
  size_t n_events;
  size_t interrupt_after, fail_after; /* number of rows after which `stop` is set, or the sink fails; 0: never */
  volatile sig_atomic_t stop;
} memory_sink;

static inline size_t type_bytes(cb_field_type type) { return type == CB_FIELD_INT32 ? 4 : 8; }

static inline size_t blobs_bytes(const cb_blob *state, size_t n) {
  size_t bytes = 0;
  for (size_t b = 0; b < n; b++) bytes += state[b].count * type_bytes(state[b].type);
  return bytes;
}

static inline cb_status memory_row(void *self, const void *const *data) {
  memory_sink *m = self;
  if (m->fail_after && m->n_rows == m->fail_after) return cb_fail(CB_ERROR_FILE, "the sink is full");
  assert_true(m->n_rows < MOST_ROWS);
  unsigned char *row = m->rows[m->n_rows++] = malloc(m->row_bytes);
  for (size_t f = 0; f < m->layout->n_fields; f++) {
    memcpy(row, data[f], m->width[f]);
    row += m->width[f];
  }
  if (m->n_rows == m->interrupt_after) m->stop = 1;
  return CB_OK;
}

static inline cb_status memory_event(void *self, const cb_event_row *event) {
  memory_sink *m = self;
  assert_true(m->n_events < MOST_EVENTS);
  m->event[m->n_events++] = *event;
  return CB_OK;
}

static inline cb_status memory_checkpoint(void *self, const cb_blob *state, size_t n) {
  memory_sink *m = self;
  assert_true(m->n_checkpoints < MOST_CHECKPOINTS && n == m->layout->n_state);
  unsigned char *to = malloc(blobs_bytes(state, n));
  m->checkpoint[m->n_checkpoints].after_rows = m->n_rows;
  m->checkpoint[m->n_checkpoints++].data = to;
  for (size_t b = 0; b < n; b++) {
    memcpy(to, state[b].data, state[b].count * type_bytes(state[b].type));
    to += state[b].count * type_bytes(state[b].type);
  }
  return CB_OK;
}

static inline cb_status memory_close(void *self, bool completed) { return CB_OK; }

static inline cb_sink memory_open(memory_sink *m, cb_run *run) {
  memset(m, 0, sizeof *m);
  m->layout = cb_run_layout(run);
  assert_true(m->layout->n_fields <= MOST_FIELDS);
  for (size_t f = 0; f < m->layout->n_fields; f++) {
    const cb_field *field = &m->layout->fields[f];
    m->width[f] = type_bytes(field->type);
    for (int d = 0; d < field->rank; d++)
      for (size_t k = 0; k < m->layout->n_dimensions; k++)
        if (!strcmp(m->layout->dimensions[k].name, field->dims[d])) m->width[f] *= m->layout->dimensions[k].count;
    m->row_bytes += m->width[f];
  }
  return (cb_sink){
      .self = m, .row = memory_row, .event = memory_event, .checkpoint = memory_checkpoint, .close = memory_close};
}

static inline void memory_free(memory_sink *m) {
  for (size_t i = 0; i < m->n_rows; i++) free(m->rows[i]);
  for (size_t i = 0; i < m->n_checkpoints; i++) free(m->checkpoint[i].data);
}

/* Sets a run to the state of a stored checkpoint. */
static inline void memory_restore(const memory_sink *m, size_t checkpoint, cb_run *run) {
  size_t n;
  cb_blob *state = cb_run_state(run, &n);
  const unsigned char *from = m->checkpoint[checkpoint].data;
  for (size_t b = 0; b < n; b++) {
    memcpy(state[b].data, from, state[b].count * type_bytes(state[b].type));
    from += state[b].count * type_bytes(state[b].type);
  }
  check_ok(cb_run_restore(run));
}

static inline bool same_event(const cb_event_row *a, const cb_event_row *b) {
  return a->time == b->time && a->kind == b->kind && a->particle == b->particle && a->other == b->other &&
         a->wall == b->wall && a->gap == b->gap && a->speed_before == b->speed_before &&
         a->speed_after == b->speed_after && a->impulse == b->impulse;
}

/* Runs the scenario `rest` from a checkpoint of an earlier run to the end. Checks that its rows and events are
 * identical to those of the earlier run, bit for bit. Frees `rest`. */
static inline void check_rest(const char *what, const memory_sink *whole, size_t checkpoint, cb_scenario *rest) {
  memory_sink m;
  memory_restore(whole, checkpoint, cb_scenario_run(rest));
  const size_t first = whole->checkpoint[checkpoint].after_rows;
  cb_sink sink = memory_open(&m, cb_scenario_run(rest));
  check_ok(cb_run_go(cb_scenario_run(rest), &sink, NULL, NULL, NULL));
  assert_int_equal(first + m.n_rows, whole->n_rows);
  assert_int_equal(whole->n_checkpoints - 1 - checkpoint, m.n_checkpoints);
  for (size_t row = 0; row < m.n_rows; row++)
    if (memcmp(m.rows[row], whole->rows[first + row], whole->row_bytes))
      fail_msg("%s: row %zu after checkpoint %zu is another", what, row, checkpoint);
  assert_true(m.n_events <= whole->n_events);
  for (size_t e = 0; e < m.n_events; e++)
    if (!same_event(&m.event[e], &whole->event[whole->n_events - m.n_events + e]))
      fail_msg("%s: event %zu after checkpoint %zu is another", what, e, checkpoint);
  memory_free(&m);
  cb_scenario_free(rest);
}

/* Returns the field with this name, and where it begins in a row. */
static inline const cb_field *memory_find(const memory_sink *m, const char *name, size_t *at) {
  *at = 0;
  for (size_t f = 0; f < m->layout->n_fields; *at += m->width[f++])
    if (!strcmp(m->layout->fields[f].name, name)) return &m->layout->fields[f];
  fail_msg("no field `%s`", name);
  return NULL;
}

/* Returns the numbers of a field of doubles in a row of the sink. */
static inline const double *memory_field(const memory_sink *m, size_t row, const char *name) {
  size_t at;
  assert_int_equal(memory_find(m, name, &at)->type, CB_FIELD_DOUBLE);
  return (const double *)(m->rows[row] + at);
}

/* Opens a scenario and runs it into a new sink. The caller frees both. */
static inline cb_scenario *memory_go(memory_sink *m, const char *text) {
  cb_scenario *s;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  cb_sink sink = memory_open(m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
  return s;
}

/* Returns the number at `index` of the field `name` in a row. */
static inline double memory_value(const memory_sink *m, size_t row, const char *name, size_t index) {
  size_t at;
  double real;
  int64_t wide;
  int32_t integer;
  const cb_field *field = memory_find(m, name, &at);
  const unsigned char *from = m->rows[row] + at;
  switch (field->type) {
    case CB_FIELD_DOUBLE: memcpy(&real, from + 8 * index, 8); return real;
    case CB_FIELD_INT64: memcpy(&wide, from + 8 * index, 8); return (double)wide;
    case CB_FIELD_INT32: memcpy(&integer, from + 4 * index, 4); return (double)integer;
  }
  return 0;
}

/* Opens a scenario of two unequal particles and a spring that runs until the time `end`. `space`, `integrator` and
 * `record` are the texts of the maps with these keys, without braces. */
static inline cb_scenario *rod_scenario(const char *space, const char *integrator, double end, const char *record) {
  char text[2048];
  const bool sphere = strstr(space, "s3") != NULL, flat = strstr(space, "e3") != NULL,
             chart = strstr(space, "chart") != NULL;
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: {%s}\nbodies:\n"
           "  - {kind: rod, name: a, masses: [1, 2.7], link: {spring: {stiffness: 2, rest: 0.8}},\n"
           "     place: {chart: polar, points: [[0.7, 1.4, 0.3], [0.5, 1.1, 2.7]]}, motion: [{killing: %s, speed: 1}, "
           "{killing: rotation_x, "
           "speed: 0.3}]}\n"
           "integrator: {%s}\ntime: {end: %.17g}\nrecord: {%s}\n",
           space,
           chart    ? "rotation_z"
           : sphere ? "rotation_wx"
           : flat   ? "translation_x"
                    : "boost_x",
           integrator, end, record);
  cb_scenario *scenario;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &scenario));
  return scenario;
}
