/* The stepping thread's side of a record: rows, events and checkpoints go into memory, from which record_writer.c takes
 * them. A row is one copy a field and no lock, except once a batch.
 */
#include "core/failure.h"
#include "io/output.h"
#include "io/record_digest.h"
#include "io/record_driver.h"
#include "io/record_internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BUFFER = 64 << 20, BATCHES = 16 };

/* ---- The sink */

static cb_status writer_failed(const cb_record *record) { return cb_fail(record->status, "%s", record->text); }

/* Wakes the writer; without a thread, does its work. */
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

/* Waits until the table has room for a row. Full rows hold a full batch, which the writer takes by itself. */
static void make_room(cb_record *record, cb_table *table, uint64_t head) {
  if (head - atomic_load_explicit(&table->tail, memory_order_acquire) < table->capacity) return;
  wake(record, table == &record->events);
  pthread_mutex_lock(&record->mutex);
  while (record->threaded && !atomic_load(&record->failed) && head - atomic_load(&table->tail) >= table->capacity)
    pthread_cond_wait(&record->done, &record->mutex);
  pthread_mutex_unlock(&record->mutex);
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
  uint64_t head = atomic_load_explicit(&rows->head, memory_order_relaxed);
  make_room(record, rows, head);
  for (size_t s = 0; s < rows->count; s++) {
    size_t bytes = rows->series[s].row_bytes;
    if (bytes) memcpy(rows->series[s].ring + head % rows->capacity * bytes, data[s], bytes);
  }
  head++;
  if (head % rows->batch == 0)
    record->events_at[(head / rows->batch - 1) % (rows->capacity / rows->batch)] = atomic_load(&record->events.head);
  atomic_store_explicit(&rows->head, head, memory_order_release);
  if (head % rows->batch == 0 || !record->threaded) wake(record, false);
  return CB_OK;
}

static cb_status put_event(void *self, const cb_event_row *event) {
  cb_record *record = self;
  cb_table *events = &record->events;
  cb_status status = check_open(record);
  if (status) return status;
  uint64_t head = atomic_load_explicit(&events->head, memory_order_relaxed), place = head % events->capacity;
  make_room(record, events, head);
  const int64_t index = (int64_t)head;
  memcpy(events->series[0].ring + place * 8, &index, 8);
  for (size_t e = 1; e < CB_EVENT_FIELDS; e++) {
    size_t bytes = events->series[e].row_bytes;
    memcpy(events->series[e].ring + place * bytes, (const char *)event + cb_event_fields[e].offset, bytes);
  }
  atomic_store_explicit(&events->head, head + 1, memory_order_release);
  return CB_OK;
}

static cb_status put_checkpoint(void *self, const cb_blob *state, size_t n_state) {
  cb_record *record = self;
  cb_status status = check_open(record);
  if (status) return status;
  if (n_state != record->n_state)
    return cb_fail(CB_ERROR_ARGUMENT, "checkpoint: %zu pieces of state, the record was made for %zu", n_state,
                   record->n_state);
  for (size_t b = 0; b < n_state; b++)
    if (state[b].count != record->state[b].count || state[b].type != record->state[b].type ||
        strcmp(state[b].name, record->state[b].name))
      return cb_fail(CB_ERROR_ARGUMENT, "checkpoint: piece %zu is %s with %zu values, expected %s with %zu", b,
                     state[b].name, state[b].count, record->state[b].name, record->state[b].count);
  pthread_mutex_lock(&record->mutex);
  while (record->checkpoint_pending) pthread_cond_wait(&record->done, &record->mutex);
  pthread_mutex_unlock(&record->mutex);
  if ((status = check_open(record))) return status;
  for (size_t b = 0; b < n_state; b++)
    if (state[b].count) memcpy(record->state[b].data, state[b].data, state[b].count * cb_hdf5_type_size(state[b].type));
  record->checkpoint.checkpoints++;
  record->checkpoint.rows = atomic_load(&record->rows.head);
  record->checkpoint.events = atomic_load(&record->events.head);
  record->warnings.sealed = record->warnings.length;
  pthread_mutex_lock(&record->mutex);
  record->checkpoint_pending = true;
  pthread_cond_signal(&record->wake);
  pthread_mutex_unlock(&record->mutex);
  if (!record->threaded) cb_writer_work(record, true);
  return atomic_load(&record->failed) ? writer_failed(record) : CB_OK;
}

/* After the writer has stopped: closes the file, which takes the marks of a writer off it. */
static cb_status close_file(cb_record *record, bool completed) {
  bool refused = atomic_load(&record->failed), abandoned = refused;
  if (refused) {
    cb_hdf5_abandon(record->file);
  } else {
    const int yes = 1;
    if (record->warns && !cb_warnings_write(record->file, &record->warnings, record->warnings.length))
      record->status = cb_hdf5_fail(record->path, "write the warnings");
    if (completed && !cb_hdf5_set_integers(record->file, ".", "completed", H5T_NATIVE_INT, 1, &yes))
      record->status = cb_hdf5_fail(record->path, "mark as completed");
    cb_status closing = cb_hdf5_close(record->file, record->path, &abandoned);
    if (!record->status) record->status = closing;
    if (record->status) snprintf(record->text, sizeof record->text, "%s", cb_error_text());
  }
  cb_rescue_free(record->rescue, !abandoned);
  record->rescue = NULL;
  /* As a killed writer leaves it. Where mending is refused too, it can be done later. */
  if (abandoned) cb_record_repair(record->path, NULL);
  return record->status ? writer_failed(record) : CB_OK;
}

static cb_status put_close(void *self, bool completed) {
  cb_record *record = self;
  if (record->closed) return CB_OK;
  cb_writer_stop(record);
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = close_file(record, completed);
  cb_hdf5_quiet_end(quiet);
  record->closed = true;
  return status;
}

cb_status cb_record_warning(void *self, double time, const char *text) {
  cb_record *record = self;
  cb_warnings_add(&record->warnings, time, text);
  return CB_OK;
}

cb_sink cb_record_sink(cb_record *record) {
  return (cb_sink){record, put_row, put_event, put_checkpoint, put_close};
}

/* ---- Making and freeing */

static void free_table(cb_table *table) {
  free(table->digest.ring);
  for (size_t s = 0; table->series && s < table->count; s++) free(table->series[s].ring);
  free(table->series);
}

static void free_record(cb_record *record) {
  free_table(&record->rows);
  free_table(&record->events);
  free(record->events_at);
  free(record->keep);
  for (int slot = 0; slot < CB_SLOTS; slot++) free(record->slots[slot].blobs);
  for (size_t b = 0; record->state && b < record->n_state; b++) {
    free((char *)record->state[b].name);
    free(record->state[b].data);
  }
  free(record->state);
  pthread_cond_destroy(&record->done);
  pthread_cond_destroy(&record->wake);
  pthread_mutex_destroy(&record->mutex);
  free(record->path);
  free(record);
}

void cb_record_free(cb_record *record) {
  if (!record) return;
  put_close(record, false);
  free_record(record);
}

/* Opens the dataset of a series, compares it with what it should be. */
static cb_status open_series(cb_record *record, const char *name, hid_t type, hid_t memory_type, cb_series *series) {
  hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  /* One chunk that is not full; a chunk of rows that are whole passes it by. */
  H5Pset_chunk_cache(access, 521, 2 * CB_CHUNK_BYTES, 1.0);
  series->dataset = H5Dopen2(record->file, name, access);
  H5Pclose(access);
  if (series->dataset < 0) return cb_fail_placed(CB_ERROR_INPUT, "%s: error: no field %s in it", record->path, name);
  hid_t create = H5Dget_create_plist(series->dataset);
  hsize_t dims[4] = {H5S_UNLIMITED}, chunk[4] = {0};
  for (int d = 1; d < series->rank; d++) dims[d] = series->shape[d];
  bool ok = cb_hdf5_dataset_is(series->dataset, type, series->rank, dims) &&
            H5Pget_layout(create) == H5D_CHUNKED && H5Pget_chunk(create, 4, chunk) == series->rank;
  series->memory_type = memory_type;
  series->chunk_rows = chunk[0];
  series->direct = ok && H5Pget_nfilters(create) == 0;
  for (int d = 1; d < series->rank; d++) series->direct &= chunk[d] == series->shape[d];
  H5Pclose(create);
  return ok ? CB_OK
            : cb_fail_placed(CB_ERROR_INPUT, "%s: error: field %s has another type or shape than in this run",
                             record->path, name);
}

static bool make_ring(const cb_table *table, cb_series *series) {
  series->direct &= table->batch >= series->chunk_rows;
  series->ring = malloc(table->capacity * series->row_bytes + 1);
  return series->ring != NULL;
}

/* Rings for as many rows as fit the buffer: whole batches, at most 16, at least two rows. */
static cb_status make_rings(cb_table *table, size_t buffer_bytes) {
  size_t row_bytes = table->digest.row_bytes;
  for (size_t s = 0; s < table->count; s++) row_bytes += table->series[s].row_bytes;
  table->batch = CB_CHUNK_ROWS;
  while (table->batch > 1 && 2 * table->batch * row_bytes > buffer_bytes) table->batch /= 2;
  uint64_t batches = buffer_bytes / (table->batch * row_bytes);
  table->capacity = table->batch * (batches < 2 ? 2 : batches > BATCHES ? BATCHES : batches);
  bool ok = make_ring(table, &table->digest);
  for (size_t s = 0; ok && s < table->count; s++) ok = make_ring(table, &table->series[s]);
  return ok ? CB_OK
            : cb_fail(CB_ERROR_MEMORY, "record: no memory for %llu rows of %zu bytes",
                      (unsigned long long)table->capacity, row_bytes);
}

static void set_position(cb_table *table, uint64_t at) {
  atomic_init(&table->head, at);
  atomic_init(&table->tail, at);
}

static cb_status make_rows(cb_record *record, const cb_record_layout *layout) {
  record->rows.count = layout->n_fields;
  if (!(record->rows.series = calloc(layout->n_fields, sizeof(cb_series))))
    return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  for (size_t f = 0; f < layout->n_fields; f++) {
    const cb_field *field = &layout->fields[f];
    cb_series *series = &record->rows.series[f];
    size_t count = cb_layout_count(layout, field);
    if (!count) continue;
    series->rank = field->rank + 1;
    series->shape[0] = 1;
    cb_layout_shape(layout, field, series->shape + 1);
    series->row_bytes = count * cb_hdf5_type_size(field->type);
    cb_status status = open_series(record, field->name, cb_hdf5_file_type(field->type), cb_hdf5_memory_type(field->type), series);
    if (status) return status;
  }
  return CB_OK;
}

static cb_status make_events(cb_record *record) {
  record->events.count = CB_EVENT_FIELDS;
  if (!(record->events.series = calloc(CB_EVENT_FIELDS, sizeof(cb_series))))
    return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  for (size_t e = 0; e < CB_EVENT_FIELDS; e++) {
    cb_series *series = &record->events.series[e];
    series->rank = 1;
    series->shape[0] = 1;
    series->row_bytes = cb_hdf5_type_size(cb_event_fields[e].type);
    cb_status status = open_series(record, cb_event_fields[e].name, cb_hdf5_file_type(cb_event_fields[e].type),
                                   cb_hdf5_memory_type(cb_event_fields[e].type), series);
    if (status) return status;
  }
  return CB_OK;
}

/* Records of before there were digests go on without. */
static cb_status make_digests(cb_record *record) {
  cb_table *const tables[] = {&record->rows, &record->events};
  cb_status status = CB_OK;
  for (int t = 0; t < 2 && !status && cb_digest_there(record->file); t++) {
    cb_series *series = &tables[t]->digest;
    *series = (cb_series){.rank = 1, .shape = {1}, .row_bytes = sizeof(uint64_t)};
    status = open_series(record, cb_digest_names[t], H5T_STD_U64LE, H5T_NATIVE_UINT64, series);
  }
  return status;
}

/* What the file warns of up to the row that is last. */
static cb_status take_warnings(cb_record *record, uint64_t rows) {
  const hsize_t start = rows ? rows - 1 : 0, one = 1;
  double time = -INFINITY;
  record->warns = cb_warnings_read(record->file, &record->warnings);
  if (rows) {
    const hid_t dataset = record->rows.series[0].dataset, space = H5Dget_space(dataset),
                memory = H5Screate_simple(1, &one, NULL);
    const bool good = space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, NULL) >= 0 &&
                      cb_hdf5_read(dataset, H5T_NATIVE_DOUBLE, memory, space, &time);
    H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    if (!good) return cb_hdf5_fail(record->path, "read /time");
  }
  cb_warnings_cut(&record->warnings, time);
  return CB_OK;
}

/* A copy whose data are filled by checkpoints. */
static bool copy_blob(const cb_blob *from, cb_blob *to) {
  *to = *from;
  to->name = strdup(from->name);
  to->data = calloc(from->count + 1, cb_hdf5_type_size(from->type));
  return to->name && to->data;
}

static cb_status make_state(cb_record *record, const cb_blob *state, size_t n_state) {
  record->n_state = n_state;
  record->state = calloc(n_state + 1, sizeof *record->state);
  record->keep = calloc(n_state + 1, sizeof *record->keep);
  bool ok = record->state && record->keep;
  for (int slot = 0; slot < CB_SLOTS; slot++)
    ok &= (record->slots[slot].blobs = calloc(n_state + 1, sizeof(hid_t))) != NULL;
  for (size_t b = 0; ok && b < n_state; b++) ok = copy_blob(&state[b], &record->state[b]);
  if (!ok) return cb_fail(CB_ERROR_MEMORY, "record: no memory for a copy of the state");
  return cb_slot_open(record->file, record->path, state, n_state, record->slots);
}

cb_status cb_record_attach(const char *path, hid_t file, cb_rescue *rescue, const cb_record_layout *layout,
                           const cb_record_options *options, cb_record_position position, cb_record **out) {
  cb_record *record = calloc(1, sizeof *record);
  pthread_condattr_t monotonic;
  if (!record || !(record->path = strdup(path))) {
    free(record);
    bool abandoned;
    cb_hdf5_close(file, NULL, &abandoned);
    cb_rescue_free(rescue, !abandoned || !position.checkpoints);
    return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  }
  pthread_mutex_init(&record->mutex, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&record->wake, &monotonic);
  pthread_cond_init(&record->done, &monotonic);
  pthread_condattr_destroy(&monotonic);
  record->file = file;
  record->flush_interval = options && options->flush_interval > 0 ? options->flush_interval : 1;
  record->checkpoint = position;
  record->sealed = position.checkpoints;
  record->rescue = rescue;
  if (rescue) cb_driver_guard(file, rescue, options && options->deflate > 0);
  record->sync = options ? options->sync : CB_SYNC_CHECKPOINT;
  size_t buffer = options && options->buffer_bytes ? options->buffer_bytes : DEFAULT_BUFFER;
  cb_status status;
  if (!(status = make_rows(record, layout)) && !(status = make_events(record)) &&
      !(status = make_digests(record)) &&
      !(status = make_rings(&record->rows, buffer)) && !(status = make_rings(&record->events, buffer)) &&
      !(status = make_state(record, layout->state, layout->n_state)) &&
      !(status = take_warnings(record, position.rows))) {
    set_position(&record->rows, position.rows);
    set_position(&record->events, position.events);
    record->events_at = calloc(record->rows.capacity / record->rows.batch, sizeof *record->events_at);
    if (!record->events_at) status = cb_fail(CB_ERROR_MEMORY, "record: no memory");
    else if (!(status = cb_hdf5_unread(path, CB_OK))) /* something of the file may not be open */
      status = cb_writer_start(record);
  }
  if (status) {
    bool abandoned;
    status = cb_hdf5_refused(file, path, status);
    cb_hdf5_close(file, NULL, &abandoned);
    cb_rescue_free(rescue, !abandoned || !position.checkpoints); /* a new one has nothing to be brought back to */
    free_record(record);
    return status;
  }
  *out = record;
  return CB_OK;
}

/* ---- Creating */

static cb_status start_file(hid_t file, const char *path, const cb_record_layout *layout, int deflate) {
  if (file < 0) return cb_hdf5_fail(path, "create");
  const cb_status status = cb_layout_build(file, path, layout, deflate);
  if (status) return status;
  return cb_hdf5_start_swmr(file, path);
}

cb_status cb_record_create(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                           cb_record **out) {
  const int deflate = options ? options->deflate : 0;
  const bool replace = options && options->overwrite;
  cb_output output;
  cb_status status = cb_layout_check(layout);
  if (status) return status;
  if (deflate < 0 || deflate > 9)
    return cb_fail(CB_ERROR_ARGUMENT, "record: deflate is %d, expected 0 to 9", deflate);
  const bool synced = !options || options->sync != CB_SYNC_NEVER;
  if ((status = cb_output_begin(path, replace, &output))) return status;
  output.unsynced = !synced;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_output_create_hdf5(&output);
  status = cb_output_end(&output, replace, start_file(file, path, layout, deflate));
  if (status && file >= 0) cb_hdf5_abandon(file);
  if (!status) cb_rescue_remove(path); /* of a former record of that name */
  cb_rescue *rescue = !status && synced ? cb_rescue_new(path) : NULL;
  if (!status && synced && !rescue) {
    cb_hdf5_abandon(file);
    status = cb_fail(CB_ERROR_MEMORY, "record: no memory");
  }
  if (!status) status = cb_record_attach(path, file, rescue, layout, options, (cb_record_position){0}, out);
  if (status) status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}
