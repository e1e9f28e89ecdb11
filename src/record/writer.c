/* The writer: the record's own thread, which writes rows from memory to segments.
 *
 * It wakes when a batch of rows is full (usually 256 rows, one chunk of every field of a short record), when data have
 * waited for the flush interval, on request (cb_record.urgent), and at the end. Rows are written into the current
 * segment, an HDF5 file in memory, so that a full disk is no error for HDF5. At the flush interval the segment is
 * written into the folder, and the virtual file over all segments is written under the record's name. A segment that
 * has become large is final, and the next one begins. At the end all segments are joined.
 */
#include "core/failure.h"
#include "record/internal.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIRTUAL_SHARE = 20 }; /* at most 1/20 of the time is spent on the virtual file */

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

/* Writes `count` rows, which are contiguous in the ring from index `place` on, as rows first .. first + count - 1 of
 * the segment. */
static bool write_series(const cb_series *series, uint64_t first, uint64_t count, uint64_t place) {
  hsize_t size[4] = {first + count};
  for (int d = 1; d < series->rank; d++) size[d] = series->shape[d];
  return H5Dset_extent(series->dataset, size) >= 0 &&
         write_slab(series, first, count, series->ring + place * series->row_bytes);
}

/* Writes the rows up to `end` batch by batch. Afterwards their memory can be used again. */
static cb_status write_table(cb_record *record, cb_table *table, uint64_t end) {
  cb_piece *piece = &record->pieces.piece[record->pieces.count - 1];
  const bool is_rows = table == &record->rows;
  const uint64_t before = is_rows ? piece->first.rows : piece->first.events;
  uint64_t tail = atomic_load_explicit(&table->tail, memory_order_relaxed);
  while (tail < end) {
    uint64_t next = (tail / table->batch + 1) * table->batch;
    const uint64_t place =
        is_rows ? cb_row_batch_of(record, tail / table->batch)->place + tail % table->batch : tail % table->capacity;
    if (next > end) next = end;
    for (size_t s = 0; s < table->count; s++)
      if (table->series[s].row_bytes && !write_series(&table->series[s], tail - before, next - tail, place))
        return cb_hdf5_fail(record->path, "write %s %llu", is_rows ? "row" : "event", (unsigned long long)tail);
    tail = next;
    *(is_rows ? &piece->have.rows : &piece->have.events) = tail - before;
    *(is_rows ? &record->pieces.have.rows : &record->pieces.have.events) = tail;
    atomic_store_explicit(&table->tail, tail, memory_order_release);
  }
  return CB_OK;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- Segments */

static bool put_first(hid_t file, const char *name, uint64_t value) {
  const hid_t space = H5Screate(H5S_SCALAR),
              attribute = H5Acreate2(file, name, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_UINT64, &value) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  return ok;
}

/* Opens a dataset with a cache of only one chunk. HDF5 then writes all other chunks to the file at once, so that
 * H5Fget_filesize returns the true size of the record. */
static hid_t open_series(hid_t file, const char *name, hid_t access) {
  if (H5Pset_chunk_cache(access, 1, CB_CHUNK_BYTES, 1) < 0) return H5I_INVALID_HID;
  return H5Dopen2(file, name, access);
}

static bool open_table(hid_t file, cb_table *table) {
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  bool ok = access >= 0;
  for (size_t s = 0; ok && s < table->count; s++)
    if (table->series[s].row_bytes)
      ok = (table->series[s].dataset = open_series(file, table->series[s].name, access)) >= 0;
  if (access >= 0) H5Pclose(access);
  return ok;
}

/* Makes the layout for a file of `rows` rows: an HDF5 file in memory without rows (image) and, if this file is large, a
 * second one that also lacks the constants, which are in segment 0 (lean). After a failure the record keeps its
 * previous layout. */
static cb_status take_image(cb_record *record, uint64_t rows) {
  const cb_filing filing = {record->filing.deflate, cb_layout_chunk_rows(record->layout, rows)};
  cb_image image = {NULL, 0}, lean = {NULL, 0};
  if (filing.chunk_rows == record->filing.chunk_rows) return CB_OK;
  cb_status status = cb_layout_image(record->path, record->layout, &filing, NULL, &image);
  if (!status && image.size > CB_LARGE_BYTES)
    status = cb_layout_image(record->path, record->layout, &filing, cb_segment_base, &lean);
  if (status) {
    free(image.bytes);
    return status;
  }
  free(record->image.bytes);
  free(record->lean.bytes);
  record->filing = filing;
  record->image = image;
  record->lean = lean;
  record->numbered = false;
  return CB_OK;
}

cb_status cb_writer_begin_segment(cb_record *record) {
  cb_record_pieces *pieces = &record->pieces;
  const cb_status taken = take_image(record, pieces->have.rows);
  if (taken) return taken;
  const cb_piece *last = pieces->count ? &pieces->piece[pieces->count - 1] : NULL;
  const cb_piece piece = {.number = last ? last->number + 1 : 1, .first = pieces->have};
  if (record->file >= 0) H5Fclose(record->file);
  record->file = pieces->file = H5I_INVALID_HID;
  const hid_t file = cb_memory_open_in(&record->memory, record->lean.bytes ? &record->lean : &record->image);
  bool ok = file >= 0 && put_first(file, "first_row", piece.first.rows) &&
            put_first(file, "first_event", piece.first.events) && open_table(file, &record->rows) &&
            open_table(file, &record->events);
  if (!ok) {
    const cb_status status = cb_hdf5_fail(record->path, "begin a segment");
    if (file >= 0) H5Fclose(file);
    return status;
  }
  record->file = pieces->file = file;
  record->kept = record->in_file;
  record->fresh = true;
  return cb_pieces_add(pieces, &piece) ? CB_OK : cb_fail(CB_ERROR_MEMORY, "record: no memory");
}

/* Copies the newest checkpoint for the writer. The numbers of rows and events at this checkpoint are not larger than
 * those that find_head returns afterwards. */
static void take_checkpoint(cb_record *record) {
  pthread_mutex_lock(&record->mutex);
  const bool newer = record->checkpoint.checkpoints != record->captured_at.checkpoints;
  for (size_t b = 0; newer && b < record->n_state; b++)
    if (record->state[b].count)
      memcpy(record->captured[b].data, record->state[b].data,
             record->state[b].count * cb_hdf5_type_size(record->state[b].type));
  record->captured_at = record->checkpoint;
  record->captured_warnings = record->warnings.sealed;
  pthread_mutex_unlock(&record->mutex);
}

static bool fits(const cb_record *record) {
  return record->captured_at.rows <= record->pieces.have.rows &&
         record->captured_at.events <= record->pieces.have.events;
}

/* Writes the captured checkpoint into the segment, if the rows before it have been written; otherwise it is written at
 * the next call. A large state is written into only one segment. */
static cb_status put_checkpoint(cb_record *record, bool all_warnings, cb_virtual *v) {
  cb_record_warnings *warnings = &record->warnings;
  const cb_record_position at = record->captured_at;
  const bool there = cb_checkpoint_is_large(record->state, record->n_state) && at.checkpoints == record->kept;
  bool ok = true;
  if (at.checkpoints && !there && fits(record)) {
    ok = cb_checkpoint_write(record->file, record->captured, record->n_state, at);
    record->in_file = at.checkpoints;
  }
  pthread_mutex_lock(&record->mutex);
  v->warnings_length = all_warnings ? warnings->length : record->captured_warnings;
  warnings->written = SIZE_MAX;
  ok = ok && cb_warnings_write(record->file, warnings, v->warnings_length);
  pthread_mutex_unlock(&record->mutex);
  return ok ? CB_OK : cb_hdf5_fail(record->path, "write the checkpoint");
}

static bool is_synced(const cb_record *record) { return record->options.sync != CB_SYNC_NEVER; }

/* The virtual file refers to every array in every segment, so that writing it takes longer the more segments there are.
 * It is written once per flush interval, or less often if it would take more than its share of the time
 * (VIRTUAL_SHARE). */
static cb_status publish_virtual(cb_record *record, const cb_virtual *v, bool must) {
  const double begin = now();
  if (!must && begin < record->virtual_due) return CB_OK;
  const cb_status status = cb_virtual_write(&record->pieces, v);
  record->virtual_due = begin + fmax(record->flush_interval, VIRTUAL_SHARE * (now() - begin));
  record->put = record->pieces.have;
  record->put.checkpoints = record->captured_at.checkpoints;
  return status;
}

/* Writes the record without rows as segment 0. */
static cb_status publish_layout(cb_record *record) {
  char *name = cb_segment_name(&record->pieces.folder, 0);
  if (!name) return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  const cb_status status = cb_image_save(&record->image, name, is_synced(record), NULL);
  free(name);
  record->numbered = !status;
  return status;
}

/* Writes the segment, then the virtual file. A file that already has the name of the record is replaced only when the
 * first virtual file is complete. If the run is killed before that, it has recorded nothing, and the existing file
 * keeps its name. */
static cb_status publish(cb_record *record, cb_virtual *v) {
  cb_piece *piece = &record->pieces.piece[record->pieces.count - 1];
  cb_status status = record->numbered ? CB_OK : publish_layout(record);
  char *name = status ? NULL : cb_segment_name(&record->pieces.folder, piece->number);
  if (!status && !name) status = cb_fail(CB_ERROR_MEMORY, "record: no memory");
  if (!status)
    status = cb_memory_save(record->file, record->path, name, is_synced(record), piece->digest, &piece->bytes);
  free(name);
  if (!status) status = publish_virtual(record, v, !record->published || record->ended);
  if (!status) record->published = true;
  return status;
}

static cb_virtual describe(cb_record *record, bool completed) {
  return (cb_virtual){
      .layout = record->layout, .warnings = &record->warnings, .completed = completed, .synced = is_synced(record)};
}

cb_status cb_writer_publish(cb_record *record, bool completed) {
  cb_virtual v = describe(record, completed);
  const int done = completed;
  cb_status status = put_checkpoint(record, completed, &v);
  if (!status && completed && !cb_hdf5_set_integers(record->file, ".", "completed", H5T_NATIVE_INT, 1, &done))
    status = cb_hdf5_fail(record->path, "write");
  return status ? status : publish(record, &v);
}

/* Informs the prober that this process has written the last segment, because joining opens it again. */
static void trust(const cb_record_pieces *pieces) {
  char *name = cb_segment_name(&pieces->folder, pieces->piece[pieces->count - 1].number);
  if (name) cb_probe_trust(name);
  free(name);
}

/* A segment of at least CB_SEGMENT_BYTES ends after a complete chunk of rows, so that the chunks of the next segment
 * are those of the joined file. If the segment reaches twice this size before the chunk is complete, it ends within the
 * chunk. A segment with the small chunks of a short record also ends when the record has become long. */
static cb_status end_segment(cb_record *record) {
  hsize_t bytes = 0;
  if (H5Fget_filesize(record->file, &bytes) < 0) return cb_hdf5_fail(record->path, "write");
  const uint64_t rows = record->pieces.have.rows;
  const bool whole = rows % cb_layout_chunk_rows(record->layout, UINT64_MAX) == 0;
  const bool limit = cb_layout_chunk_rows(record->layout, rows) > record->filing.chunk_rows;
  if (!limit && (bytes < CB_SEGMENT_BYTES || (!whole && bytes < 2 * CB_SEGMENT_BYTES))) return CB_OK;
  const cb_status status = cb_writer_publish(record, false);
  if (status) return status;
  trust(&record->pieces);
  return cb_writer_begin_segment(record);
}

/* ---- Rounds */

/* Returns the numbers of rows and events that the stepping thread has produced so far. */
static cb_record_position find_head(cb_record *record) {
  /* Events are read first, so that the rows include every row that preceded one of these events. */
  const uint64_t events = atomic_load_explicit(&record->events.head, memory_order_acquire);
  const uint64_t rows = atomic_load_explicit(&record->rows.head, memory_order_acquire);
  return (cb_record_position){.rows = rows, .events = events};
}

/* Writes the full batches of rows up to `head` with their events; with `everything` also the last rows, which do not
 * fill a batch. */
static cb_status write_pending(cb_record *record, cb_record_position head, bool everything) {
  cb_table *rows = &record->rows, *events = &record->events;
  uint64_t tail = atomic_load_explicit(&rows->tail, memory_order_relaxed);
  cb_status status;
  while (head.rows / rows->batch > tail / rows->batch) {
    const cb_row_batch *batch = cb_row_batch_of(record, tail / rows->batch);
    const uint64_t event_end = batch->events, end = (tail / rows->batch + 1) * rows->batch;
    if ((status = write_table(record, rows, end)) || (status = write_table(record, events, event_end))) return status;
    tail = end;
    pthread_mutex_lock(&record->mutex);
    pthread_cond_broadcast(&record->done);
    pthread_mutex_unlock(&record->mutex);
    if (!everything && (status = end_segment(record))) return status;
  }
  if (!everything) return CB_OK;
  if ((status = write_table(record, rows, head.rows))) return status;
  return write_table(record, events, head.events);
}

/* Stores a failure, which the stepping thread gets at its next call. What was published remains on the disk. */
static void fail(cb_record *record, cb_status status) {
  pthread_mutex_lock(&record->mutex);
  record->status = status;
  snprintf(record->text, sizeof record->text, "%s", cb_error_text());
  atomic_store(&record->failed, true);
  pthread_cond_broadcast(&record->done);
  pthread_mutex_unlock(&record->mutex);
}

static void set_deadline(cb_record *record) {
  double whole = record->flush_interval;
  clock_gettime(CLOCK_MONOTONIC, &record->deadline);
  record->deadline.tv_sec += (time_t)whole;
  record->deadline.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
  if (record->deadline.tv_nsec >= 1000000000) {
    record->deadline.tv_sec++;
    record->deadline.tv_nsec -= 1000000000;
  }
}

static bool past_deadline(const cb_record *record) {
  return now() >= (double)record->deadline.tv_sec + 1e-9 * (double)record->deadline.tv_nsec;
}

/* Returns whether there are data that are not published. The caller holds the mutex. */
static bool has_news(cb_record *record) {
  const cb_record_position head = find_head(record);
  return head.rows != record->put.rows || head.events != record->put.events ||
         record->checkpoint.checkpoints != record->put.checkpoints;
}

/* Does one round of the writer's work. It is called without the mutex. everything: also writes incomplete batches.
 * publishes: also writes incomplete batches, the segment and the virtual file to the disk. */
static void work(cb_record *record, bool everything, bool publishes) {
  cb_status status = CB_OK;
  if (publishes) set_deadline(record); /* the interval begins now, not after the rows were written */
  if (!atomic_load(&record->failed)) {
    if (publishes || (record->fresh && fits(record))) {
      take_checkpoint(record);
      record->fresh = false;
    }
    const cb_record_position head = find_head(record);
    status = write_pending(record, head, false);
    if (!status && (everything || publishes)) status = write_pending(record, head, true);
    if (!status) status = end_segment(record);
    if (!status && publishes) status = cb_writer_publish(record, false);
    if (status) fail(record, status);
  }
  pthread_mutex_lock(&record->mutex);
  if (everything) record->urgent = false;
  pthread_cond_broadcast(&record->done);
  pthread_mutex_unlock(&record->mutex);
}

/* ---- The end */

/* Writes the remaining data and joins the segments. If they are not joined, the last segment and the virtual file are
 * written to the disk. If joining failed, for example because the disk is full, that failure is returned, but the
 * record is complete in segments. */
static cb_status finish(cb_record *record) {
  cb_virtual v = describe(record, record->completing);
  record->ended = true;
  take_checkpoint(record);
  cb_status status = write_pending(record, find_head(record), true);
  if (!status) status = put_checkpoint(record, true, &v);
  if (!status && H5Fflush(record->file, H5F_SCOPE_GLOBAL) < 0) status = cb_hdf5_fail(record->path, "write");
  if (status) return status;
  status = take_image(record, record->pieces.have.rows);
  const cb_join how = {.layout = &record->image,
                       .state = record->checkpoint.checkpoints ? record->state : NULL,
                       .n_state = record->n_state,
                       .checkpoint = record->checkpoint,
                       .warnings = &record->warnings,
                       .completed = record->completing,
                       .synced = is_synced(record),
                       .maximum_bytes = record->options.join_bytes};
  if (!status) status = cb_join_write(&record->pieces, &how, &record->joined);
  if (record->joined) return CB_OK;
  if (status == CB_ERROR_INPUT)
    status = cb_hdf5_unread(record->path, status); /* a segment is damaged, or a read was refused */
  const cb_failure why = cb_failure_last();
  char text[sizeof record->text];
  snprintf(text, sizeof text, "%s", cb_error_text());
  cb_hdf5_forget();
  const cb_status published = cb_writer_publish(record, record->completing);
  record->in_segments = !published;
  return published ? published : status ? cb_fail_known(&why, status, "%s", text) : CB_OK;
}

static void end(cb_record *record) {
  if (atomic_load(&record->failed)) return;
  const cb_status status = finish(record);
  if (status) fail(record, status);
}

static void *writer(void *self) {
  cb_record *record = self;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  pthread_mutex_lock(&record->mutex);
  record->threaded = quiet.started;
  record->looked = true;
  pthread_cond_broadcast(&record->done);
  while (quiet.started && !record->closing) {
    const bool full =
        atomic_load(&record->rows.head) / record->rows.batch > atomic_load(&record->rows.tail) / record->rows.batch;
    const bool failed = atomic_load(&record->failed), due = past_deadline(record);
    bool publishes = due && !failed && has_news(record);
    if (failed || (!full && !record->urgent && !publishes)) {
      if (due) set_deadline(record);
      pthread_cond_timedwait(&record->wake, &record->mutex, &record->deadline);
      continue;
    }
    const bool everything = record->urgent;
    pthread_mutex_unlock(&record->mutex);
    work(record, everything, publishes);
    pthread_mutex_lock(&record->mutex);
  }
  pthread_mutex_unlock(&record->mutex);
  if (quiet.started) end(record);
  cb_hdf5_quiet_end(quiet);
  return NULL;
}

void cb_writer_work(cb_record *record, bool everything) {
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  work(record, everything, past_deadline(record) && has_news(record));
  cb_hdf5_quiet_end(quiet);
}

/* Returns whether HDF5 has the memory that it needs in the thread of the writer. If not, the thread has ended. */
static bool is_ready(cb_record *record) {
  pthread_mutex_lock(&record->mutex);
  while (!record->looked) pthread_cond_wait(&record->done, &record->mutex);
  pthread_mutex_unlock(&record->mutex);
  if (!record->threaded) pthread_join(record->thread, NULL);
  return record->threaded;
}

cb_status cb_writer_start(cb_record *record) {
  hbool_t safe = false;
  set_deadline(record);
  H5is_library_threadsafe(&safe);
  if (!safe) return CB_OK;
  /* The thread blocks all signals except those that its own instructions cause; the threads of the program get the
   * other signals. A blocked SIGXFSZ becomes the error EFBIG. */
  static const int own[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
  sigset_t others, before;
  sigfillset(&others);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&others, own[i]);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  int error = pthread_create(&record->thread, NULL, writer, record);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!error && !is_ready(record)) error = ENOMEM;
  return error ? cb_fail(CB_ERROR_MEMORY, "%s: cannot start a thread for writing: %s", record->path, strerror(error))
               : CB_OK;
}

void cb_writer_stop(cb_record *record) {
  if (!record->threaded) {
    cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
    end(record);
    cb_hdf5_quiet_end(quiet);
    return;
  }
  pthread_mutex_lock(&record->mutex);
  record->closing = true;
  pthread_cond_signal(&record->wake);
  pthread_mutex_unlock(&record->mutex);
  pthread_join(record->thread, NULL);
  record->threaded = false;
}
