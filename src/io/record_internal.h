/* The parts of a record. Internal to src/io.
 *
 * record.c          the stepping thread's side: rows, events and checkpoints go into memory
 * record_writer.c   the writing side: from memory to HDF5
 * record_layout.c   what a new file consists of        record_slot.c   the two checkpoint slots
 * record_series.c   the datasets that grow              record_reader.c   reading
 * record_check.c    what is refused                     record_heap.c     texts
 * record_header.c   object headers, beside HDF5         record_structure.c  what HDF5 believes
 * record_warnings.c what the run warned of
 * record_driver.c   the file under HDF5                 record_journal.c  writes that a kill would stop half-way
 * record_digest.c   what a row has to be           record_rescue.c   what a power cut can take, kept aside
 * restart.c, repair.c   files of runs that ended or were killed
 */
#ifndef CB_IO_RECORD_INTERNAL_H
#define CB_IO_RECORD_INTERNAL_H

#include "io/record_hdf5.h"
#include "io/record_rescue.h"
#include "io/record_warnings.h"
#include <curvebody/record.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum {
  CB_RECORD_VERSION = 1,    /* root attribute curvebody_record: changes when a reader of old files would go wrong */
  CB_CHUNK_ROWS = 256,      /* most rows of a chunk */
  CB_CHUNK_BYTES = 1 << 20, /* most bytes of a chunk */
  CB_EVENT_FIELDS = 9,
  CB_SLOTS = 2
};

/* A dataset that grows along its first dimension, and the rows of it that are in memory: row n is at place
 * n % capacity of the ring. */
typedef struct cb_series {
  hid_t dataset, memory_type;
  int rank;         /* with the growing dimension */
  hsize_t shape[4]; /* of one row: shape[0] = 1 */
  hsize_t chunk_rows;
  bool direct; /* not filtered and a chunk is whole rows: full chunks need not pass through HDF5's cache */
  size_t row_bytes;
  unsigned char *ring;
} cb_series;

/* Series that grow together. The stepping thread moves head, the writer moves tail; both count from the file's
 * first row. */
typedef struct cb_table {
  cb_series *series; /* row_bytes 0: a field without values, not in the file */
  size_t count;
  cb_series digest; /* of its rows; row_bytes 0: the file has none */
  uint64_t capacity, batch; /* rows in memory; rows written at once, a power of two that divides capacity */
  _Atomic uint64_t head, tail;
} cb_table;

/* One slot of a checkpoint, open for writing. */
typedef struct cb_slot {
  hid_t seal;   /* checkpoints, rows, events, checksum */
  hid_t *blobs; /* H5I_INVALID_HID where count is 0 */
} cb_slot;

struct cb_record {
  char *path;
  hid_t file;
  double flush_interval;
  cb_record_sync sync;
  cb_rescue *rescue; /* NULL: never synced */
  double next_sync;  /* the writer's; on the clock of deadline */

  cb_table rows, events;
  uint64_t *events_at; /* events before the end of each batch of rows in memory */

  cb_slot slots[CB_SLOTS];
  cb_blob *state; /* copy of the checkpoint to be written */
  size_t n_state;
  cb_record_position checkpoint;
  uint64_t sealed;  /* checkpoints in the file; the writer's, as is what follows */
  cb_stretch *keep; /* [n_state + 1] */

  cb_record_warnings warnings;
  bool warns; /* the file has a place for them: records of before there were any have not */

  bool threaded, looked; /* it has a thread, which has looked for its memory */
  pthread_t thread;
  pthread_mutex_t mutex; /* guards what follows, and sleeping on tail */
  pthread_cond_t wake, done;
  bool urgent, closing, checkpoint_pending;
  struct timespec deadline; /* of the next flush; the writer's */

  bool closed;
  atomic_bool failed;
  cb_status status; /* once failed: what the writer met */
  char text[600];
};

/* ---- record_layout.c: what a new file consists of */
cb_status cb_layout_check(const cb_record_layout *layout);
void cb_layout_shape(const cb_record_layout *layout, const cb_field *field, hsize_t *shape); /* of a row */
size_t cb_layout_count(const cb_record_layout *layout, const cb_field *field); /* values a row */
bool cb_layout_takes(const char *name); /* a path from the root that every record has, or that is below one */
cb_status cb_layout_build(hid_t file, const char *path, const cb_record_layout *layout, int deflate);

/* The fields of cb_event_row as they lie in the file: /event and /event_NAME. */
typedef struct cb_event_field {
  const char *name;
  cb_field_type type;
  size_t offset; /* in cb_event_row; unused for the first, the index */
  const char *doc;
} cb_event_field;
extern const cb_event_field cb_event_fields[CB_EVENT_FIELDS];

/* ---- record_slot.c: the checkpoints of a file */
cb_status cb_slot_create(hid_t file, const char *path, const cb_blob *state, size_t n_state);
cb_status cb_slot_open(hid_t file, const char *path, const cb_blob *state, size_t n_state, cb_slot slots[CB_SLOTS]);
cb_status cb_slot_write(const cb_record *record);
/* Where the newest of those written lies in the file, into record->keep; how many stretches. */
size_t cb_slot_stretches(cb_record *record);
/* The newest whole checkpoint with no more rows and events than there are, of whatever state; zeros: there is none. */
cb_status cb_slot_newest(hid_t file, const char *path, cb_record_position have, cb_record_position *position);
/* The newest whole checkpoint with no more rows and events than there are. Data only if all of it is good. */
cb_status cb_slot_read(hid_t file, const char *path, cb_record_position have, cb_blob *state, size_t n_state,
                       cb_record_position *position);

/* ---- record_writer.c: from memory to HDF5 */
cb_status cb_writer_start(cb_record *record);
void cb_writer_stop(cb_record *record);
/* Without a thread: what the thread would do now. Called by the stepping thread with the mutex free. */
void cb_writer_work(cb_record *record, bool everything);

/* ---- record.c */
/* A record on an open file in SWMR mode that stands at `position`: opens the datasets, makes the rings, starts the
 * writer. Takes the file, and what guards it, in any case. */
cb_status cb_record_attach(const char *path, hid_t file, cb_rescue *rescue, const cb_record_layout *layout,
                           const cb_record_options *options, cb_record_position position, cb_record **out);

struct cb_taken; /* record_taken.h */

/* ---- record_check.c: CB_ERROR_INPUT if the file, whatever it has the mark of, is not a record in itself, which
 * takes several looks where a writer is at work on it; if all is to be whole, CB_ERROR_FILE where something cannot be
 * read. taken is told where what lies; or NULL. */
cb_status cb_record_check(hid_t file, const char *path, bool whole, struct cb_taken *taken);
/* The same of the root's own header, which its attributes are read by. */
cb_status cb_record_check_root(hid_t file, const char *path);

/* ---- repair.c */
/* Takes the marks of a killed writer off a record, under the file's lock, and brings one that a loss of power took
 * parts of back to its last sync. *left: it was not closed as it should be; *synced: then, what it has at least. */
cb_status cb_record_mend(const char *path, bool *left, cb_record_position *synced);
/* Opens a record without such marks for reading, once all of it could be read: in SWMR mode HDF5 asks a hundred times
 * for what has a wrong checksum, and waits twice as long each time. */
cb_status cb_record_open_checked(const char *path, struct cb_taken *taken, hid_t *out);
/* Rows and events that every series has and that, from `synced` on, are as they were written. most may be NULL. */
cb_status cb_record_extent(hid_t file, const char *path, cb_record_position synced, cb_record_position *whole,
                           uint64_t *most);
/* The same of all rows. Those before `synced`, and all in one that was closed, are to be as they were written:
 * CB_ERROR_INPUT. */
cb_status cb_record_compare(hid_t file, const char *path, bool left, cb_record_position synced,
                            cb_record_position *whole, uint64_t *most);
/* Opens one that was closed for writing, guarded (record_rescue.h; NULL: not): what it has now, with rows and events of
 * `at`, is what a loss of power leaves. Takes the rescue where it fails. */
cb_status cb_record_open_writing(const char *path, cb_rescue *rescue, cb_record_position at, hid_t *out);

/* ---- record_series.c: for each dataset that grows: those at the root in order of creation, then the digests, which
 * have a path for their name. */
typedef cb_status (*cb_series_visit)(void *context, hid_t dataset, const char *name, bool is_event);
cb_status cb_series_each(hid_t file, const char *path, cb_series_visit visit, void *context);
/* Rows and events that every series has, and the most rows that any has. */
cb_status cb_series_extent(hid_t file, const char *path, cb_record_position *whole, uint64_t *most);
/* Cuts every series to that length. Killed in the middle of it, the file has the rows that are to be kept and no
 * others. */
cb_status cb_series_cut(hid_t file, const char *path, cb_record_position keep);
/* Gives a new file what cutting it needs: on a disk that is full there is no room for more. */
bool cb_series_prepare_cut(hid_t checkpoint);
/* CB_ERROR_INPUT unless the file has the mark of a record of a version we know. */
cb_status cb_record_check_mark(hid_t file, const char *path);

#endif
