/* From memory to HDF5: the record's own thread.
 *
 * It wakes when a batch of rows (as a rule 256, one chunk of every field) is full, when a row has waited for the flush
 * interval, for a checkpoint, and at the end. A batch is written field by field, then its events, then the file is
 * flushed: the order of writes, and so every byte of the file, depends on time only through flushes of partial
 * batches.
 *
 * H5Fflush, not H5Dflush: it writes the data first and then the metadata, children before parents, the superblock
 * last, so that a writer killed at any moment leaves a file that a SWMR reader can follow.
 */
#include "io/record_digest.h"
#include "io/record_internal.h"
#include "io/record_driver.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static bool write_slab(const cb_series *series, uint64_t first, uint64_t count, const void *data) {
  hsize_t start[4] = {first}, size[4] = {count};
  for (int d = 1; d < series->rank; d++) size[d] = series->shape[d];
  hid_t memory = H5Screate_simple(series->rank, size, NULL), space = H5Dget_space(series->dataset);
  bool ok = memory >= 0 && space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
            H5Dwrite(series->dataset, series->memory_type, memory, space, H5P_DEFAULT, data) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return ok;
}

/* Rows first .. first+count-1, which lie together in the ring. */
static bool write_series(const cb_series *series, uint64_t first, uint64_t count, uint64_t capacity) {
  hsize_t size[4] = {first + count};
  for (int d = 1; d < series->rank; d++) size[d] = series->shape[d];
  if (H5Dset_extent(series->dataset, size) < 0) return false;
  const unsigned char *data = series->ring + first % capacity * series->row_bytes;
  uint64_t chunk = series->chunk_rows;
  if (!series->direct || first % chunk || count % chunk) return write_slab(series, first, count, data);
  for (uint64_t row = 0; row < count; row += chunk) {
    hsize_t offset[4] = {first + row};
    if (H5Dwrite_chunk(series->dataset, H5P_DEFAULT, 0, offset, chunk * series->row_bytes,
                       data + row * series->row_bytes) < 0)
      return false;
  }
  return true;
}

/* Digests of rows first .. end-1, which lie together in the ring. */
static void make_digests(cb_table *table, uint64_t first, uint64_t end) {
  for (uint64_t row = first; row < end; row++) {
    const uint64_t place = row % table->capacity;
    uint64_t hash = cb_digest_begin(row);
    for (size_t s = 0; s < table->count; s++) {
      const size_t bytes = table->series[s].row_bytes;
      if (bytes) hash = cb_digest_bytes(hash, table->series[s].ring + place * bytes, bytes);
    }
    memcpy(table->digest.ring + place * sizeof hash, &hash, sizeof hash);
  }
}

/* Rows up to `end`, batch by batch; their place in memory is free afterwards. */
static cb_status write_table(const cb_record *record, cb_table *table, uint64_t end) {
  uint64_t tail = atomic_load_explicit(&table->tail, memory_order_relaxed);
  while (tail < end) {
    uint64_t next = (tail / table->batch + 1) * table->batch;
    if (next > end) next = end;
    if (table->digest.row_bytes) make_digests(table, tail, next);
    for (size_t s = 0; s <= table->count; s++) {
      const cb_series *series = s < table->count ? &table->series[s] : &table->digest;
      if (series->row_bytes && !write_series(series, tail, next - tail, table->capacity))
        return cb_hdf5_fail(record->path, "write %s %llu", table == &record->rows ? "row" : "event",
                            (unsigned long long)tail);
    }
    tail = next;
    atomic_store_explicit(&table->tail, tail, memory_order_release);
  }
  return CB_OK;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What is in the file lasts from here on. The next sync at a checkpoint waits a second, or 32 times what this one took. */
static cb_status sync_file(cb_record *record) {
  const double begin = now();
  const cb_record_position at = {atomic_load(&record->rows.tail), atomic_load(&record->events.tail), record->sealed};
  cb_driver_sync(record->file, at, record->keep, cb_slot_stretches(record));
  const double end = now();
  record->next_sync = end + fmax(1, 32 * (end - begin));
  return cb_driver_refused(record->file) ? cb_hdf5_fail(record->path, "write") : CB_OK;
}

static cb_status flush(cb_record *record) {
  if (cb_hdf5_flush_refused(record->file)) return cb_hdf5_fail(record->path, "write");
  return record->sync == CB_SYNC_FLUSH ? sync_file(record) : CB_OK;
}

static cb_status write_checkpoint(cb_record *record) {
  if (record->warns && !cb_warnings_write(record->file, &record->warnings, record->warnings.sealed))
    return cb_hdf5_fail(record->path, "write the warnings");
  cb_status status = cb_slot_write(record);
  if (!status) record->sealed = record->checkpoint.checkpoints;
  if (!status) status = flush(record);
  const bool due = record->sync == CB_SYNC_CHECKPOINT && now() >= record->next_sync;
  return status || !due ? status : sync_file(record);
}

/* How far the stepping thread is. By who holds the mutex: whatever checkpoint comes later is no earlier than that. */
static cb_record_position find_head(cb_record *record) {
  /* Events first: every event that a row we see followed is then seen as well. */
  const uint64_t events = atomic_load_explicit(&record->events.head, memory_order_acquire);
  const uint64_t rows = atomic_load_explicit(&record->rows.head, memory_order_acquire);
  return (cb_record_position){.rows = rows, .events = events};
}

/* Full batches of rows with their events up to `head`, and if `everything` what else there is. */
static cb_status write_pending(cb_record *record, cb_record_position head, bool everything) {
  cb_table *rows = &record->rows, *events = &record->events;
  uint64_t tail = atomic_load_explicit(&rows->tail, memory_order_relaxed);
  cb_status status;
  while (head.rows / rows->batch > tail / rows->batch) {
    uint64_t batch = tail / rows->batch, end = (batch + 1) * rows->batch;
    uint64_t event_end = record->events_at[batch % (rows->capacity / rows->batch)];
    if ((status = write_table(record, rows, end)) || (status = write_table(record, events, event_end)) ||
        (status = flush(record)))
      return status;
    tail = end;
    pthread_mutex_lock(&record->mutex);
    pthread_cond_broadcast(&record->done);
    pthread_mutex_unlock(&record->mutex);
  }
  if (!everything) return CB_OK;
  if ((status = write_table(record, rows, head.rows)) || (status = write_table(record, events, head.events)))
    return status;
  return flush(record);
}

/* The other threads see the failure at their next call; what was written stays. */
static void fail(cb_record *record, cb_status status) {
  pthread_mutex_lock(&record->mutex);
  record->status = status;
  snprintf(record->text, sizeof record->text, "%s", cb_error_text());
  atomic_store(&record->failed, true);
  record->checkpoint_pending = false;
  pthread_cond_broadcast(&record->done);
  pthread_mutex_unlock(&record->mutex);
}

static void set_deadline(cb_record *record) {
  double whole = record->flush_interval;
  clock_gettime(CLOCK_MONOTONIC, &record->deadline);
  record->deadline.tv_sec += (time_t)whole;
  record->deadline.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
  if (record->deadline.tv_nsec >= 1000000000) record->deadline.tv_sec++, record->deadline.tv_nsec -= 1000000000;
}

static bool past_deadline(const cb_record *record) {
  return now() >= (double)record->deadline.tv_sec + 1e-9 * (double)record->deadline.tv_nsec;
}

/* One round, with the mutex free. A checkpoint is written after everything before it is in the file, and before what
 * comes after it, however late the writer is: the bytes of the file depend on it. */
static void work(cb_record *record, cb_record_position head, bool everything, bool checkpoint) {
  cb_status status = CB_OK;
  if (!atomic_load(&record->failed)) {
    if (checkpoint) status = write_pending(record, record->checkpoint, true);
    if (!status && checkpoint) status = write_checkpoint(record);
    if (!status) status = write_pending(record, head, everything);
    if (status) fail(record, status);
  }
  set_deadline(record);
  pthread_mutex_lock(&record->mutex);
  if (checkpoint) record->checkpoint_pending = false;
  if (everything) record->urgent = false;
  pthread_cond_broadcast(&record->done);
  pthread_mutex_unlock(&record->mutex);
}

static uint64_t waiting(cb_table *table) { return atomic_load(&table->head) - atomic_load(&table->tail); }

static void *writer(void *self) {
  cb_record *record = self;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  pthread_mutex_lock(&record->mutex);
  record->threaded = quiet.started;
  record->looked = true;
  pthread_cond_broadcast(&record->done);
  for (bool last = !quiet.started; !last;) {
    bool full =
        atomic_load(&record->rows.head) / record->rows.batch > atomic_load(&record->rows.tail) / record->rows.batch;
    bool failed = atomic_load(&record->failed), everything = record->closing || record->urgent;
    if (failed ? !record->closing : !full && !everything && !record->checkpoint_pending) {
      int wait = pthread_cond_timedwait(&record->wake, &record->mutex, &record->deadline);
      if (wait != ETIMEDOUT) continue;
      everything = !failed && waiting(&record->rows) + waiting(&record->events) > 0;
      if (!everything) set_deadline(record);
      if (!everything) continue;
    }
    bool checkpoint = record->checkpoint_pending;
    const cb_record_position head = find_head(record);
    last = record->closing;
    pthread_mutex_unlock(&record->mutex);
    work(record, head, everything, checkpoint);
    pthread_mutex_lock(&record->mutex);
  }
  pthread_mutex_unlock(&record->mutex);
  cb_hdf5_quiet_end(quiet);
  return NULL;
}

void cb_writer_work(cb_record *record, bool everything) {
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  work(record, find_head(record), everything || past_deadline(record), record->checkpoint_pending);
  cb_hdf5_quiet_end(quiet);
}

/* Whether the writer has what HDF5 takes in a thread; else it has ended. */
static bool is_ready(cb_record *record) {
  pthread_mutex_lock(&record->mutex);
  while (!record->looked) pthread_cond_wait(&record->done, &record->mutex);
  pthread_mutex_unlock(&record->mutex);
  return record->threaded || (pthread_join(record->thread, NULL), false);
}

cb_status cb_writer_start(cb_record *record) {
  hbool_t safe = false;
  if (record->rescue) {
    const cb_status status = sync_file(record);
    if (status) return status;
  }
  set_deadline(record);
  H5is_library_threadsafe(&safe);
  if (!safe) return CB_OK;
  /* Signals are for the threads of the program, but those of what the thread does itself; a SIGXFSZ of ours becomes the error
   * EFBIG. */
  static const int own[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
  sigset_t others, before;
  sigfillset(&others);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&others, own[i]);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  int error = pthread_create(&record->thread, NULL, writer, record);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!error && !is_ready(record)) error = ENOMEM;
  return error ? cb_fail(CB_ERROR_MEMORY, "%s: no thread for writing: %s", record->path, strerror(error)) : CB_OK;
}

void cb_writer_stop(cb_record *record) {
  if (!record->threaded) {
    cb_writer_work(record, true);
    return;
  }
  pthread_mutex_lock(&record->mutex);
  record->closing = true;
  pthread_cond_signal(&record->wake);
  pthread_mutex_unlock(&record->mutex);
  pthread_join(record->thread, NULL);
  record->threaded = false;
}
