/* The part of a record that runs in the stepping thread, the thread that computes the run. It copies rows, events and
 * checkpoints into memory, from which writer.c takes them. A row costs one copy per field; a lock is taken only once
 * per batch of rows. */
#include "core/failure.h"
#include "core/file.h"
#include "record/output.h"
#include "record/internal.h"
#include "record/record_contents.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DEFAULT_BUFFER and MAX_BATCH: size of the memory for rows, and maximum size of a batch of rows, in bytes. BATCHES:
 * maximum number of batches in memory. */
enum { DEFAULT_BUFFER = 64 << 20, BATCHES = 256, MAX_BATCH = 4 << 20 };

/* ---- The sink */

static cb_status writer_failed(const cb_record *record) { return cb_fail(record->status, "%s", record->text); }

/* Wakes the writer; if it has no thread, does its work. */
static void wake(cb_record *record, bool everything) {
  if (!record->threaded) {
    cb_writer_work(record, everything);
    return;
  }
  pthread_mutex_lock(&record->mutex);
  if (everything) record->urgent = true;
  pthread_cond_signal(&record->wake);
  pthread_mutex_unlock(&record->mutex);
}

static bool has_memory(cb_table *table, uint64_t head) {
  const uint64_t tail = atomic_load_explicit(&table->tail, memory_order_acquire);
  return head / table->batch - tail / table->batch < table->capacity / table->batch;
}

/* Waits until the table has space for a batch. If the rows are full, they contain a full batch, which the writer
 * writes without being urged; if the events are full, the writer must be urged to write everything. Returns the
 * failure of the writer if it has failed. */
static cb_status make_space(cb_record *record, cb_table *table, uint64_t head) {
  if (has_memory(table, head)) return CB_OK;
  wake(record, table == &record->events);
  pthread_mutex_lock(&record->mutex);
  while (record->threaded && !atomic_load(&record->failed) && !has_memory(table, head))
    pthread_cond_wait(&record->done, &record->mutex);
  pthread_mutex_unlock(&record->mutex);
  return has_memory(table, head) ? CB_OK : writer_failed(record);
}

/* Returns the index in the rings at which a new batch of rows begins: the first index that no unwritten batch uses. A
 * freed place is reused at once, because the system needs about as long as a time step to provide a page that is new to
 * the process. */
static uint64_t find_place(cb_record *record, uint64_t head) {
  const cb_table *rows = &record->rows;
  const uint64_t tail = atomic_load_explicit(&rows->tail, memory_order_acquire) / rows->batch;
  bool used[BATCHES] = {false};
  uint64_t place = 0;
  for (uint64_t b = tail; b < head / rows->batch; b++) used[cb_row_batch_of(record, b)->place / rows->batch] = true;
  while (used[place]) place++;
  return place * rows->batch;
}

static cb_status check_open(const cb_record *record) {
  if (atomic_load_explicit(&record->failed, memory_order_acquire)) return writer_failed(record);
  if (record->closed) return cb_fail(CB_ERROR_ARGUMENT, "%s: the record is closed", record->path);
  return CB_OK;
}

static cb_status put_row(void *self, const void *const *data) {
  cb_record *record = self;
  cb_table *rows = &record->rows;
  cb_status status = check_open(record);
  if (status) return status;
  const uint64_t head = atomic_load_explicit(&rows->head, memory_order_relaxed), in_batch = head & (rows->batch - 1);
  cb_row_batch *batch = cb_row_batch_of(record, head / rows->batch);
  if (in_batch == 0) {
    if ((status = make_space(record, rows, head))) return status;
    batch->place = find_place(record, head);
  }
  for (size_t s = 0; s < rows->count; s++) {
    const size_t bytes = rows->series[s].row_bytes;
    if (bytes) memcpy(rows->series[s].ring + (batch->place + in_batch) * bytes, data[s], bytes);
  }
  const bool full = in_batch + 1 == rows->batch;
  if (full) batch->events = atomic_load(&record->events.head);
  atomic_store_explicit(&rows->head, head + 1, memory_order_release);
  if (full || !record->threaded) wake(record, false);
  return CB_OK;
}

static cb_status put_event(void *self, const cb_event_row *event) {
  cb_record *record = self;
  cb_table *events = &record->events;
  cb_status status = check_open(record);
  if (status) return status;
  uint64_t head = atomic_load_explicit(&events->head, memory_order_relaxed), place = head % events->capacity;
  if ((status = make_space(record, events, head))) return status;
  const int64_t index = (int64_t)head;
  memcpy(events->series[0].ring + place * 8, &index, 8);
  cb_event_row row = *event;
  if (record->layout->old_names && row.wall >= 0) row.other = -2 - row.wall;
  const size_t own = cb_event_fields_of(record->layout->old_names);
  const double *state = row.state;
  for (size_t e = 1; e < events->count; e++) {
    const size_t bytes = events->series[e].row_bytes, count = bytes / sizeof *state;
    void *to = events->series[e].ring + place * bytes;
    if (e < own)
      memcpy(to, (const char *)&row + cb_event_fields[e].offset, bytes);
    else if (state)
      memcpy(to, state, bytes);
    else
      for (size_t i = 0; i < count; i++) ((double *)to)[i] = NAN;
    if (e >= own && state) state += count;
  }
  atomic_store_explicit(&events->head, head + 1, memory_order_release);
  return CB_OK;
}

static cb_status put_checkpoint(void *self, const cb_blob *state, size_t n_state) {
  cb_record *record = self;
  cb_status status = check_open(record);
  if (status) return status;
  if (n_state != record->n_state)
    return cb_fail(CB_ERROR_ARGUMENT, "checkpoint: %zu pieces of state, expected %zu as in the layout of the record",
                   n_state, record->n_state);
  for (size_t b = 0; b < n_state; b++)
    if (state[b].count != record->state[b].count || state[b].type != record->state[b].type ||
        strcmp(state[b].name, record->state[b].name))
      return cb_fail(CB_ERROR_ARGUMENT,
                     "checkpoint: piece %zu of the state is %s with %zu values, expected %s with %zu", b, state[b].name,
                     state[b].count, record->state[b].name, record->state[b].count);
  pthread_mutex_lock(&record->mutex);
  for (size_t b = 0; b < n_state; b++)
    if (state[b].count) memcpy(record->state[b].data, state[b].data, state[b].count * cb_hdf5_type_size(state[b].type));
  record->checkpoint.checkpoints++;
  record->checkpoint.rows = atomic_load(&record->rows.head);
  record->checkpoint.events = atomic_load(&record->events.head);
  record->warnings.sealed = record->warnings.length;
  pthread_mutex_unlock(&record->mutex);
  if (!record->threaded) cb_writer_work(record, true);
  return atomic_load(&record->failed) ? writer_failed(record) : CB_OK;
}

static cb_status put_close(void *self, bool completed) {
  cb_record *record = self;
  if (record->closed) return CB_OK;
  record->completing = completed;
  cb_writer_stop(record);
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  if (record->file >= 0) H5Fclose(record->file); /* a file in memory: closing cannot fail */
  record->file = record->pieces.file = H5I_INVALID_HID;
  cb_segments_leave(&record->pieces.folder, record->joined);
  cb_pieces_close(&record->pieces);
  cb_hdf5_quiet_end(quiet);
  record->closed = true;
  return record->status ? writer_failed(record) : CB_OK;
}

cb_record_outcome cb_record_outcome_of(const cb_record *record) {
  return record->joined        ? CB_OUTCOME_JOINED
         : record->in_segments ? CB_OUTCOME_SEGMENTS
         : record->published   ? CB_OUTCOME_PARTLY
                               : CB_OUTCOME_NOTHING;
}

cb_status cb_record_warning(void *self, double time, const char *text) {
  cb_record *record = self;
  pthread_mutex_lock(&record->mutex);
  cb_warnings_add(&record->warnings, time, text);
  pthread_mutex_unlock(&record->mutex);
  return CB_OK;
}

cb_sink cb_record_sink(cb_record *record) { return (cb_sink){record, put_row, put_event, put_checkpoint, put_close}; }

/* ---- Creating and freeing a record */

static void free_table(cb_table *table) {
  for (size_t s = 0; table->series && s < table->count; s++) free(table->series[s].ring);
  free(table->series);
}

static void free_record(cb_record *record) {
  free_table(&record->rows);
  free_table(&record->events);
  free(record->batch);
  free(record->image.bytes);
  free(record->lean.bytes);
  if (!record->memory.taken) free(record->memory.bytes); /* taken: a file that HDF5 could not close uses it */
  pthread_cond_destroy(&record->done);
  pthread_cond_destroy(&record->wake);
  pthread_mutex_destroy(&record->mutex);
  cb_arena_free(record->arena);
  free(record->path);
  free(record);
}

void cb_record_free(cb_record *record) {
  if (!record) return;
  put_close(record, false);
  free_record(record);
}

/* Makes rings for the number of rows for which the buffer is large enough: complete batches, at least two and at most
 * BATCHES of them. */
static cb_status make_rings(cb_table *table, size_t buffer_bytes) {
  size_t row_bytes = 1;
  for (size_t s = 0; s < table->count; s++) row_bytes += table->series[s].row_bytes;
  table->batch = CB_CHUNK_ROWS;
  while (table->batch > 1 && (2 * table->batch * row_bytes > buffer_bytes || table->batch * row_bytes > MAX_BATCH))
    table->batch /= 2;
  uint64_t batches = buffer_bytes / (table->batch * row_bytes);
  table->capacity = table->batch * (batches < 2 ? 2 : batches > BATCHES ? BATCHES : batches);
  bool ok = true;
  for (size_t s = 0; ok && s < table->count; s++)
    ok = (table->series[s].ring = malloc(table->capacity * table->series[s].row_bytes + 1)) != NULL;
  return ok ? CB_OK
            : cb_fail(CB_ERROR_MEMORY, "record: no memory for %llu rows of %zu bytes",
                      (unsigned long long)table->capacity, row_bytes);
}

static void set_position(cb_table *table, uint64_t at) {
  atomic_init(&table->head, at);
  atomic_init(&table->tail, at);
}

static cb_series series_of(const char *name, cb_field_type type, int rank, size_t count) {
  return (cb_series){.name = name,
                     .dataset = H5I_INVALID_HID,
                     .memory_type = cb_hdf5_memory_type(type),
                     .rank = rank + 1,
                     .shape = {1},
                     .row_bytes = count * cb_hdf5_type_size(type)};
}

static cb_status make_tables(cb_record *record, const cb_record_layout *layout) {
  record->rows.count = layout->n_fields;
  const size_t own = cb_event_fields_of(layout->old_names);
  record->events.count = own + layout->n_event_fields;
  record->rows.series = calloc(layout->n_fields, sizeof(cb_series));
  record->events.series = calloc(record->events.count, sizeof(cb_series));
  if (!record->rows.series || !record->events.series) return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  for (size_t f = 0; f < layout->n_fields; f++) {
    const cb_field *field = &layout->fields[f];
    record->rows.series[f] = series_of(field->name, field->type, field->rank, cb_layout_count(layout, field));
    cb_layout_shape(layout, field, record->rows.series[f].shape + 1);
  }
  for (size_t f = 0; f < layout->n_event_fields; f++) {
    const cb_field *field = &layout->event_fields[f];
    cb_series *series = &record->events.series[own + f];
    *series = series_of(field->name, field->type, field->rank, cb_layout_count(layout, field));
    cb_layout_shape(layout, field, series->shape + 1);
  }
  for (size_t e = 0; e < own; e++) {
    const char *name = cb_record_name(cb_event_fields[e].name, layout->old_names);
    record->events.series[e] = series_of(name, cb_event_fields[e].type, 0, 1);
  }
  return CB_OK;
}

static cb_blob *copy_state(cb_arena *arena, const cb_record_layout *layout, const cb_blob *from) {
  cb_blob *state = cb_arena_alloc(arena, layout->n_state, sizeof *state);
  for (size_t b = 0; state && b < layout->n_state; b++) {
    const size_t bytes = layout->state[b].count * cb_hdf5_type_size(layout->state[b].type);
    state[b] = layout->state[b];
    state[b].data = cb_arena_alloc(arena, bytes, 1);
    if (from && bytes && state[b].data) memcpy(state[b].data, from[b].data, bytes);
  }
  return state;
}

/* Allocates record->state and record->captured, and copies the state of the checkpoint to both. */
static cb_status make_state(cb_record *record, const cb_blob *state) {
  record->n_state = record->layout->n_state;
  record->state = copy_state(record->arena, record->layout, state);
  record->captured = copy_state(record->arena, record->layout, state);
  record->captured_at = record->checkpoint;
  return cb_arena_lost(record->arena) ? cb_fail(CB_ERROR_MEMORY, "record: no memory for a copy of the state") : CB_OK;
}

/* Reads the warnings of the record, without those that are later than its last row. */
static cb_status take_warnings(cb_record *record) {
  cb_record_pieces *pieces = &record->pieces;
  const uint64_t rows = pieces->have.rows;
  double time = -INFINITY;
  if (pieces->file < 0) return CB_OK;
  cb_warnings_read(pieces->file, &record->warnings);
  const cb_status status =
      rows ? cb_pieces_read(pieces, "time", false, 1, H5T_NATIVE_DOUBLE, rows - 1, 1, &time) : CB_OK;
  cb_warnings_cut(&record->warnings, time);
  return status;
}

/* Closes the pieces, which were open for reading. Afterwards a new segment is written. */
static void stop_reading(cb_record_pieces *pieces) {
  if (pieces->file >= 0) cb_hdf5_close_read(pieces->file, pieces->path);
  if (pieces->other >= 0) cb_hdf5_close_read(pieces->other, pieces->path);
  pieces->file = pieces->other = H5I_INVALID_HID;
}

/* Removes the segments that a killed run wrote after its newest checkpoint. Before that, the new segment, which
 * contains that checkpoint, must be on the disk. */
static cb_status drop_stale(cb_record *record) {
  const cb_status status = cb_writer_publish(record, false);
  if (status) return status;
  const int error = cb_segments_cut(&record->pieces.folder, record->pieces.piece[record->pieces.count - 1].number + 1);
  return error ? cb_fail_file(record->path, "write", error) : CB_OK;
}

static cb_status begin(cb_record *record, const cb_record_layout *layout, const cb_blob *state) {
  const size_t buffer = record->options.buffer_bytes ? record->options.buffer_bytes : DEFAULT_BUFFER;
  const cb_record_position at = record->pieces.have;
  record->layout = cb_layout_copy(record->arena, layout);
  if (!record->layout) return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  cb_status status = make_tables(record, record->layout);
  if (!status) status = make_rings(&record->rows, buffer);
  if (!status) status = make_rings(&record->events, buffer);
  if (!status) status = make_state(record, state);
  if (!status) status = take_warnings(record);
  if (status) return status;
  record->captured_warnings = record->warnings.sealed;
  set_position(&record->rows, at.rows);
  set_position(&record->events, at.events);
  record->batch = calloc(record->rows.capacity / record->rows.batch, sizeof *record->batch);
  if (!record->batch) return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  stop_reading(&record->pieces);
  status = cb_writer_begin_segment(record);
  return status || !record->pieces.stale ? status : drop_stale(record);
}

cb_status cb_record_attach(const cb_record_start *start, cb_record **out) {
  cb_record *record = calloc(1, sizeof *record);
  pthread_condattr_t monotonic;
  if (!record || !(record->path = strdup(start->path))) {
    free(record);
    cb_pieces_close(start->pieces);
    cb_arena_free(start->arena);
    return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  }
  pthread_mutex_init(&record->mutex, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&record->wake, &monotonic);
  pthread_cond_init(&record->done, &monotonic);
  pthread_condattr_destroy(&monotonic);
  record->arena = start->arena;
  record->filing.deflate = start->deflate;
  record->options = start->options ? *start->options : (cb_record_options){.overwrite = false};
  record->flush_interval = record->options.flush_interval > 0 ? record->options.flush_interval : 1;
  record->file = H5I_INVALID_HID;
  record->pieces = *start->pieces;
  record->pieces.path = record->path;
  record->checkpoint = record->put = start->position;
  cb_status status = begin(record, start->layout, start->state);
  if (!status) status = cb_writer_start(record);
  if (!status) {
    *out = record;
    return CB_OK;
  }
  cb_pieces_close(&record->pieces);
  free_record(record);
  return status;
}

/* Checks whether a file with that name may be created or replaced, by beginning one. */
static cb_status check_new(const char *path, bool replace) {
  cb_output output;
  const cb_status status = cb_output_begin_own(path, replace, &output);
  if (status) return status;
  cb_output_end(&output, replace, CB_ERROR_INTERRUPTED);
  return CB_OK;
}

/* Empties the folder. discard: also removes the rows of a killed run; without `discard` such rows are an error. */
static cb_status empty_folder(const char *path, const cb_segments *folder, bool discard) {
  cb_segments_tidy(folder);
  bool found;
  const cb_status status = cb_segments_look(folder, &found);
  if (status || !found) return status;
  if (!discard && cb_segments_needed(folder)) return cb_segments_left(folder, path);
  const int error = cb_segments_clear(folder);
  return error ? cb_fail_file(path, "write", error) : CB_OK;
}

static cb_status create(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                        cb_record **out) {
  cb_record_pieces pieces = {.path = path, .folder = {.lock = -1}, .file = H5I_INVALID_HID, .other = H5I_INVALID_HID};
  cb_arena *arena = cb_arena_create();
  cb_status status = arena ? cb_segments_name(path, &pieces.folder) : cb_fail(CB_ERROR_MEMORY, "record: no memory");
  if (!status) status = cb_segments_take(&pieces.folder);
  if (!status) status = check_new(path, options && options->overwrite);
  if (!status) status = empty_folder(path, &pieces.folder, options && options->discard);
  if (!status) {
    const int deflate = options ? options->deflate : 0;
    return cb_record_attach(&(cb_record_start){path, arena, &pieces, layout, deflate, options, NULL, {0}}, out);
  }
  cb_pieces_close(&pieces);
  cb_arena_free(arena);
  return status;
}

cb_status cb_record_create(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                           cb_record **out) {
  const int deflate = options ? options->deflate : 0;
  cb_status status = cb_layout_check(layout);
  if (status) return status;
  if (deflate < 0 || deflate > 9) return cb_fail(CB_ERROR_ARGUMENT, "record: deflate is %d, expected 0 to 9", deflate);
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  status = create(path, layout, options, out);
  if (status) status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}
