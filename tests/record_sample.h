/* A record for the tests of records. Every number follows from its field and row, so a test can check every number that
 * it reads. Row n of field f has the values f + n/8 + k/1024 for k = 0, 1, ..., which are exact in binary. The integer
 * fields 1 and 10 have the value n modulo 1e9. */
#pragma once

#include "check.h"
#include <curvebody/record.h>
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLE_FIELDS = 12, SAMPLE_VALUES = 16, SAMPLE_EVENT_EVERY = 7 };
#ifndef SAMPLE_STATE
#define SAMPLE_STATE 40 /* number of doubles in the blob `state` of a checkpoint */
#endif

static const char *const sample_axis[] = {"x", "y", "z"};
static const char *const sample_particle[] = {"a0", "a1"};
static const char *const sample_killing[] = {"boost_x", "boost_y", "boost_z", "rotation_x", "rotation_y", "rotation_z"};
static const double sample_mass[] = {1, 2.7};
static const int64_t sample_bond_i[] = {0}, sample_bond_j[] = {1};

static const cb_dimension sample_dimensions[] = {
    {.name = "particle", .count = 2, .labels = sample_particle, .doc = "particle"},
    {.name = "axis", .count = 3, .labels = sample_axis, .doc = "axis of the plot coordinates"},
    {.name = "coordinate", .count = 4, .doc = "coordinate of the embedding"},
    {.name = "bond", .count = 1, .doc = "bonded pair"},
    {.name = "killing", .count = 6, .labels = sample_killing, .doc = "Killing field"},
    {.name = "constraint", .count = 0, .doc = "constraint"},
};

static const cb_constant sample_constants[] = {
    {.name = "particle_mass", .dim = "particle", .values = sample_mass, .units = "1", .doc = "mass"},
    {.name = "bond_i", .dim = "bond", .integers = sample_bond_i, .doc = "first particle of a bond"},
    {.name = "bond_j", .dim = "bond", .integers = sample_bond_j, .doc = "second particle of a bond"},
};

static const cb_field sample_fields[SAMPLE_FIELDS] = {
    {"time", CB_FIELD_DOUBLE, 0, {NULL}, "1", "time"},
    {"step", CB_FIELD_INT64, 0, {NULL}, "1", "step"},
    {"plot_position", CB_FIELD_DOUBLE, 2, {"particle", "axis"}, "1", "plot coordinates"},
    {"plot_velocity", CB_FIELD_DOUBLE, 2, {"particle", "axis"}, "1", "velocity of the plot coordinates"},
    {"position", CB_FIELD_DOUBLE, 2, {"particle", "coordinate"}, "1", "position in the embedding"},
    {"origin", CB_FIELD_DOUBLE, 2, {"coordinate", "coordinate"}, "1", "moving origin"},
    {"separation", CB_FIELD_DOUBLE, 1, {"bond"}, "1", "distance of bonded pairs"},
    {"energy", CB_FIELD_DOUBLE, 0, {NULL}, "1", "total energy"},
    {"kinetic_energy", CB_FIELD_DOUBLE, 0, {NULL}, "1", "kinetic energy"},
    {"killing_momentum", CB_FIELD_DOUBLE, 1, {"killing"}, "1", "momentum of Killing fields"},
    {"solver_iterations", CB_FIELD_INT32, 0, {NULL}, "1", "iterations of the solver"},
    {"constraint_residual", CB_FIELD_DOUBLE, 1, {"constraint"}, "1", "residual of constraints"},
};

static const size_t sample_counts[SAMPLE_FIELDS] = {1, 1, 6, 6, 8, 16, 1, 1, 1, 6, 1, 0};

static const cb_blob sample_state_shape[] = {
    {"state", CB_FIELD_DOUBLE, SAMPLE_STATE, NULL, false},
    {"history", CB_FIELD_INT64, 3, NULL, false},
    {"nothing", CB_FIELD_DOUBLE, 0, NULL, false},
};
enum { SAMPLE_BLOBS = 3 };

static const char *const sample_attributes[] = {"curvebody_version", "0.0.1", "isa", "x86-64", NULL};

static inline cb_record_layout sample_layout(void) {
  return (cb_record_layout){.title = "a sample",
                            .scenario_source = "curvebody: 1\ntitle: größe\n",
                            .scenario_resolved = "curvebody: 1\n",
                            .attributes = sample_attributes,
                            .dimensions = sample_dimensions,
                            .n_dimensions = sizeof sample_dimensions / sizeof *sample_dimensions,
                            .constants = sample_constants,
                            .n_constants = sizeof sample_constants / sizeof *sample_constants,
                            .fields = sample_fields,
                            .n_fields = SAMPLE_FIELDS,
                            .state = sample_state_shape,
                            .n_state = SAMPLE_BLOBS};
}

static inline double sample_value(size_t field, uint64_t row, size_t k) {
  if (field == 1 || field == 10) return (double)(row % 1000000000);
  return (double)field + (double)row / 8 + (double)k / 1024;
}

static inline cb_status sample_put_row(cb_sink sink, uint64_t row) {
  static double values[SAMPLE_FIELDS][SAMPLE_VALUES];
  int64_t step = (int64_t)row;
  int32_t iterations = (int32_t)(row % 1000000000);
  const void *data[SAMPLE_FIELDS];
  for (size_t f = 0; f < SAMPLE_FIELDS; f++) {
    data[f] = values[f];
    for (size_t k = 0; k < sample_counts[f]; k++) values[f][k] = sample_value(f, row, k);
  }
  data[1] = &step;
  data[10] = &iterations;
  return sink.row(sink.self, data);
}

/* Returns the number of events in `rows` rows: there is an event after every seventh row. */
static inline uint64_t sample_events(uint64_t rows) { return rows / SAMPLE_EVENT_EVERY; }
static inline cb_event_row sample_event(uint64_t index) {
  double n = (double)index;
  return (cb_event_row){n / 8, (int32_t)(index % 4), (int32_t)index, (int32_t)index + 1, -1, n + .25, -n, n, 2 * n,
                        NULL};
}
static inline cb_status sample_put_event(cb_sink sink, uint64_t index) {
  cb_event_row event = sample_event(index);
  return sink.event(sink.self, &event);
}

typedef struct sample_state {
  double state[SAMPLE_STATE];
  int64_t history[3];
  cb_blob blobs[SAMPLE_BLOBS];
} sample_state;

static inline void sample_set_state(sample_state *state, uint64_t row) {
  for (size_t i = 0; i < SAMPLE_STATE; i++) state->state[i] = (double)row + (double)i / 64;
  for (size_t i = 0; i < 3; i++) state->history[i] = (int64_t)(row * 3 + i);
  memcpy(state->blobs, sample_state_shape, sizeof sample_state_shape);
  state->blobs[0].data = state->state;
  state->blobs[1].data = state->history;
}

/* Writes the rows from number `from` up to rows - 1 and their events. Writes a checkpoint after each row whose count is
 * a multiple of `every`, unless `every` is 0. */
static inline cb_status sample_write(cb_sink sink, uint64_t from, uint64_t rows, uint64_t every) {
  cb_status status = CB_OK;
  for (uint64_t row = from; !status && row < rows; row++) {
    status = sample_put_row(sink, row);
    if (!status && (row + 1) % SAMPLE_EVENT_EVERY == 0) status = sample_put_event(sink, row / SAMPLE_EVENT_EVERY);
    if (!status && every && (row + 1) % every == 0) {
      sample_state state;
      sample_set_state(&state, row + 1);
      status = sink.checkpoint(sink.self, state.blobs, SAMPLE_BLOBS);
    }
  }
  return status;
}

/* --- a folder for the files of a test --- */

static char sample_folder[64];

static inline int sample_make_folder(void **unused) {
  strcpy(sample_folder, "/tmp/curvebody-test-XXXXXX");
  return mkdtemp(sample_folder) ? 0 : -1;
}

static inline int sample_remove_folder(void **unused) {
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", sample_folder);
  return system(command);
}

/* Returns the path of a file in the folder; the caller frees it. */
static inline char *sample_path(const char *name) {
  char *path = malloc(sizeof sample_folder + strlen(name) + 2);
  assert_non_null(path);
  sprintf(path, "%s/%s", sample_folder, name);
  return path;
}

/* Returns the number of temporary files (*.part) in the folder. */
static inline int sample_parts(void) {
  DIR *folder = opendir(sample_folder);
  int n = 0;
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    const size_t length = strlen(entry->d_name);
    n += length > 5 && !strcmp(entry->d_name + length - 5, ".part");
  }
  if (folder) closedir(folder);
  return n;
}

static inline bool sample_exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0;
}

static inline char *sample_read(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

static inline void sample_copy(const char *from, const char *to) {
  size_t size;
  char *bytes = sample_read(from, &size);
  FILE *file = fopen(to, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
  free(bytes);
}

/* Removes a record: its file, and the folder of its segments if there is one. */
static inline void sample_remove_record(const char *path) {
  char command[400];
  snprintf(command, sizeof command, "rm -rf %s %s.parts", path, path);
  assert_int_equal(system(command), 0);
}

/* Copies a record that is being written. The copy is like the record that a killed writer leaves. */
static inline void sample_copy_record(const char *from, const char *to) {
  char command[600];
  sample_remove_record(to);
  snprintf(command, sizeof command, "if [ -e %s.parts ]; then mkdir %s.parts; cp %s.parts/0*.h5 %s.parts; fi; cp %s %s",
           from, to, from, to, from, to);
  assert_int_equal(system(command), 0);
}

/* Waits until the record has its final file, and readers find exactly this number of rows. The test fails after 1000
 * trials, about 10 s. */
static inline void sample_wait_for_rows(const char *path, uint64_t rows) {
  for (int turn = 0; turn < 1000; turn++) {
    cb_reader *reader = NULL;
    const bool there = cb_reader_open(path, &reader) == CB_OK && cb_reader_position(reader).rows == rows &&
                       access(path, F_OK) == 0; /* the file `path` appears shortly after the first segment */
    cb_reader_close(reader);
    if (there) return;
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  }
  fail_msg("no reader sees %llu rows", (unsigned long long)rows);
}

/* Writes a record of `rows` rows, with a checkpoint after every `every` rows, and closes it. */
static inline void sample_record(const char *path, uint64_t rows, uint64_t every, bool completed,
                                 const cb_record_options *options) {
  cb_record_layout layout = sample_layout();
  cb_record *record = NULL;
  check_ok(cb_record_create(path, &layout, options, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, rows, every));
  check_ok(sink.close(sink.self, completed));
  cb_record_free(record);
}

/* Checks every row and every event of a record, and returns the numbers of its rows and events. */
static inline cb_record_position sample_check(const char *path) {
  enum { BLOCK = 256 };
  static double values[BLOCK * SAMPLE_VALUES];
  static cb_event_row events[BLOCK];
  cb_reader *reader = NULL;
  check_ok(cb_reader_open(path, &reader));
  cb_record_position at = cb_reader_position(reader);
  const cb_reader_field *fields;
  size_t n = cb_reader_fields(reader, &fields);
  assert_int_equal(n, SAMPLE_FIELDS - 1); /* the constraint residuals have no values */
  for (size_t f = 0; f < n; f++) {
    assert_string_equal(fields[f].name, sample_fields[f].name);
    assert_int_equal(fields[f].count, sample_counts[f]);
    for (uint64_t row = 0; row < at.rows; row += BLOCK) {
      uint64_t count = at.rows - row < BLOCK ? at.rows - row : BLOCK;
      check_ok(cb_reader_rows(reader, f, row, count, values));
      for (uint64_t i = 0; i < count; i++)
        for (size_t k = 0; k < sample_counts[f]; k++)
          if (values[i * sample_counts[f] + k] != sample_value(f, row + i, k))
            fail_msg("%s[%llu][%zu] = %.17g, written was %.17g", fields[f].name, (unsigned long long)(row + i), k,
                     values[i * sample_counts[f] + k], sample_value(f, row + i, k));
    }
  }
  for (uint64_t first = 0; first < at.events; first += BLOCK) {
    uint64_t count = at.events - first < BLOCK ? at.events - first : BLOCK;
    memset(events, 0, sizeof events);
    check_ok(cb_reader_events(reader, first, count, events));
    for (uint64_t i = 0; i < count; i++) {
      cb_event_row expected;
      memset(&expected, 0, sizeof expected);
      expected = sample_event(first + i);
      if (events[i].time != expected.time || events[i].kind != expected.kind ||
          events[i].particle != expected.particle || events[i].other != expected.other ||
          events[i].wall != expected.wall || events[i].gap != expected.gap ||
          events[i].speed_before != expected.speed_before || events[i].speed_after != expected.speed_after ||
          events[i].impulse != expected.impulse)
        fail_msg("event %llu is not what was written", (unsigned long long)(first + i));
    }
  }
  cb_reader_close(reader);
  return at;
}
