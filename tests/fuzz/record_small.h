/* Records as small as they get, for what is damaged thousands of times: rows and events whose every number follows from
 * their number, a field of each type, labels, bonds, and two pieces of state. */
#ifndef CB_TESTS_RECORD_SMALL_H
#define CB_TESTS_RECORD_SMALL_H

#include <curvebody/record.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_FIELDS = 5, SMALL_STATE = 6, SMALL_ROWS = 20, SMALL_MOST = 8 };

static const char *const small_axis[] = {"x", "y", "z"};
static const double small_mass[] = {1, 2.5};
static const int64_t small_i[] = {0}, small_j[] = {1};
static const cb_dimension small_dimensions[] = {{.name = "particle", .count = 2, .doc = "particle"},
                                                {.name = "axis", .count = 3, .labels = small_axis, .doc = "axis"},
                                                {.name = "bond", .count = 1, .doc = "bond"}};
static const cb_constant small_constants[] = {{.name = "particle_mass", .dim = "particle", .values = small_mass},
                                              {.name = "bond_i", .dim = "bond", .integers = small_i},
                                              {.name = "bond_j", .dim = "bond", .integers = small_j}};
static const cb_field small_fields[SMALL_FIELDS] = {{"time", CB_FIELD_DOUBLE, 0, {NULL}, "1", "time"},
                                                    {"step", CB_FIELD_INT64, 0, {NULL}, "1", "step"},
                                                    {"x", CB_FIELD_DOUBLE, 2, {"particle", "axis"}, "1", "places"},
                                                    {"energy", CB_FIELD_DOUBLE, 0, {NULL}, "1", "energy"},
                                                    {"turns", CB_FIELD_INT32, 0, {NULL}, "1", "iterations"}};
static const size_t small_counts[SMALL_FIELDS] = {1, 1, 6, 1, 1};
static const cb_blob small_state[] = {{"state", CB_FIELD_DOUBLE, SMALL_STATE, NULL}, {"turn", CB_FIELD_INT64, 2, NULL}};

static inline cb_record_layout small_layout(void) {
  return (cb_record_layout){.title = "small",
                            .scenario_source = "curvebody: 1\n",
                            .scenario_resolved = "curvebody: 1\n",
                            .dimensions = small_dimensions,
                            .n_dimensions = 3,
                            .constants = small_constants,
                            .n_constants = 3,
                            .fields = small_fields,
                            .n_fields = SMALL_FIELDS,
                            .state = small_state,
                            .n_state = 2};
}

static inline double small_value(size_t field, uint64_t row, size_t k) {
  return field == 1 || field == 4 ? (double)row : (double)field + (double)row / 8 + (double)k / 64;
}

static inline cb_status small_row(cb_sink sink, uint64_t row) {
  double values[SMALL_FIELDS][SMALL_MOST];
  const int64_t step = (int64_t)row;
  const int32_t turns = (int32_t)row;
  for (size_t f = 0; f < SMALL_FIELDS; f++)
    for (size_t k = 0; k < small_counts[f]; k++) values[f][k] = small_value(f, row, k);
  const void *data[SMALL_FIELDS] = {values[0], &step, values[2], values[3], &turns};
  return sink.row(sink.self, data);
}

typedef struct small_blobs {
  double state[SMALL_STATE];
  int64_t turn[2];
  cb_blob blob[2];
} small_blobs;

static inline void small_fill(small_blobs *b, uint64_t row) {
  for (size_t i = 0; i < SMALL_STATE; i++) b->state[i] = (double)row + (double)i / 64;
  b->turn[0] = (int64_t)row, b->turn[1] = -(int64_t)row;
  memcpy(b->blob, small_state, sizeof small_state);
  b->blob[0].data = b->state, b->blob[1].data = b->turn;
}

static inline cb_event_row small_event(uint64_t n) {
  return (cb_event_row){(double)n / 8, (int32_t)(n % 4), 0, 1, (double)n + 0.25, -(double)n, (double)n, 2 * (double)n};
}

/* Rows [from, to), a checkpoint after every fifth, an event after every third. */
static inline cb_status small_write(cb_sink sink, uint64_t from, uint64_t to) {
  cb_status status = CB_OK;
  small_blobs blobs;
  for (uint64_t row = from; row < to && !status; row++) {
    status = small_row(sink, row);
    const cb_event_row event = small_event(row / 3);
    if (!status && row % 3 == 2) status = sink.event(sink.self, &event);
    small_fill(&blobs, row + 1);
    if (!status && row % 5 == 4) status = sink.checkpoint(sink.self, blobs.blob, 2);
  }
  return status;
}

static inline void small_copy(const char *from, const char *to) {
  char bytes[4096];
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  if (!in || !out) exit(2);
  for (size_t n; (n = fread(bytes, 1, sizeof bytes, in));)
    if (fwrite(bytes, 1, n, out) != n) exit(2);
  fclose(in), fclose(out);
}

/* A record at `path`; killed: what its writer had left when it was killed after its last checkpoint and some rows, with
 * what lies beside it (record_rescue.h). */
static inline void small_record(const char *path, int deflate, bool killed) {
  char live[256], beside[300], to[300];
  const cb_record_layout layout = small_layout();
  cb_record *record = NULL;
  snprintf(live, sizeof live, "%s.live", path);
  snprintf(beside, sizeof beside, "%s.rescue", live);
  snprintf(to, sizeof to, "%s.rescue", path);
  if (cb_record_create(live, &layout, &(cb_record_options){.deflate = deflate, .sync = CB_SYNC_FLUSH}, &record))
    exit(2);
  const cb_sink sink = cb_record_sink(record);
  if (small_write(sink, 0, SMALL_ROWS)) exit(2);
  if (killed) { /* a checkpoint waits until the one before it, with all rows up to it, is in the file */
    small_blobs blobs;
    small_fill(&blobs, SMALL_ROWS);
    for (int i = 0; i < 2; i++)
      if (sink.checkpoint(sink.self, blobs.blob, 2)) exit(2);
    small_copy(live, path);
    small_copy(beside, to);
  }
  if (sink.close(sink.self, true)) exit(2);
  cb_record_free(record);
  if (!killed) small_copy(live, path);
  remove(live);
}

#endif
