/* Declarations that are shared by the files of src/record. Internal.
 *
 * A record is never overwritten in place. During a run its rows are in segments: complete HDF5 files with the layout of
 * a record, in the folder OUT.h5.parts (folder.h). OUT.h5 is then a virtual file over the segments. At the end the
 * segments are joined to one plain file. Every file is made in memory or under a temporary name, and gets its name by a
 * rename.
 *
 * In these comments the stepping thread is the thread that computes the run and gives its rows to the record. The
 * writer is the record's own thread, which writes them. A series is a dataset that grows by one row, or event, at a
 * time. An image is the content of a complete HDF5 file in memory.
 *
 *   record.c           the stepping thread: copies rows, events and checkpoints into memory
 *   writer.c           the writer: from memory to segments
 *   segment.c          HDF5 files in memory and their images; the virtual file over the segments
 *   join.c             one plain file made of the segments
 *   record_layout.c    the contents of a file of a record
 *   record_contents.c  iterating over a file: links, datasets that grow, old names, content that is rejected;
 *                      the attribute `warnings`
 *   record_pieces.c    the files that a record consists of
 *   reader.c           reading
 *   resume.c           /checkpoint, also in the format of version 0.1; continuing a record; joining the segments of a
 *                      killed run
 */
#pragma once

#include "core/arena.h"
#include "record/record_contents.h"
#include "record/folder.h"
#include "record/output.h"
#include <curvebody/record.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum {
  CB_RECORD_VERSION =
      2, /* root attribute curvebody_record: changes when a reader for old files would read new files wrongly */
  CB_RECORD_OLD = 1,           /* version 0.1: one file with two checkpoint slots */
  CB_CHUNK_ROWS = 256,         /* rows of a chunk of a short file; events of a chunk */
  CB_LONG_CHUNK_ROWS = 4096,   /* maximum number of rows of a chunk of a long file */
  CB_CHUNK_BYTES = 1 << 20,    /* maximum size of a chunk */
  CB_SEGMENT_BYTES = 16 << 20, /* a segment of this size is final */
  CB_LARGE_BYTES = 64 << 10,   /* larger arrays that do not change are in only one file of the folder */
  CB_EVENT_FIELDS = 10
};

/* ---- record_pieces.c: the files that a record consists of */

typedef struct cb_piece {
  uint64_t number;                /* number of the segment; 0: OUT.h5 itself */
  cb_record_position first, have; /* first: numbers of rows and events of the record before this piece; have: numbers of
                                   * those that this piece adds to the record */
  uint64_t bytes;
  char digest[CB_SHA256];
} cb_piece;

typedef struct cb_record_pieces {
  const char *path; /* as the caller gave it; the caller owns it */
  cb_segments folder;
  bool plain; /* the record is one file */
  cb_piece *piece;
  size_t count, capacity;
  cb_record_position have; /* the rows and events of all pieces */
  bool stale;       /* segments after the last piece exist; they are removed when the next segment is on the disk */
  size_t lost;      /* number of segments that cannot be read or do not follow the one before */
  char damage[200]; /* the reason why OUT.h5 cannot be read, if the segments are read instead; "" otherwise */
  hid_t file;       /* the last piece, which gives the record its structure and constants */
  hid_t other;      /* another piece that is open */
  size_t open;      /* the index of `other` */
  hid_t base;       /* segment 0; 0: not open */
  hid_t before;     /* `file` before the record was joined, kept open for callers that still iterate over it; 0: none */
} cb_record_pieces;

/* Opens the record at path: a plain file, or segments that are being written or remained after a kill. The content of
 * the last piece is checked. */
cb_status cb_pieces_open(const char *path, cb_record_pieces *out);
/* Does the same as cb_pieces_open, if the caller has locked the folder of the record. The folder moves to *out. */
cb_status cb_pieces_open_own(const char *path, cb_segments *folder, cb_record_pieces *out);
void cb_pieces_close(cb_record_pieces *p);
/* Returns whether a file of that name exists and is not a virtual file over segments. */
bool cb_record_is_plain(const char *path);
bool cb_pieces_add(cb_record_pieces *p, const cb_piece *piece);
/* Reads `count` rows, or events, of the dataset `name` from number `first` on, and converts them to memory_type. width:
 * the number of values per row. */
cb_status cb_pieces_read(cb_record_pieces *p, const char *name, bool is_event, size_t width, hid_t memory_type,
                         uint64_t first, uint64_t count, void *out);
/* Opens piece i. *p owns the file. */
cb_status cb_pieces_file(cb_record_pieces *p, size_t i, hid_t *file);
/* Opens the newest piece with a checkpoint; the last piece if no piece has one. *p owns the file. */
cb_status cb_pieces_checkpoint(cb_record_pieces *p, hid_t *file);
/* Opens a dataset that does not grow. It is in the last piece, or in segment 0 if the last piece only refers to it. */
cb_status cb_pieces_constant(cb_record_pieces *p, const char *name, hid_t *out);

/* ---- record_layout.c: the contents of a file */

/* The way in which rows are stored. */
typedef struct cb_filing {
  int deflate;         /* level of compression; 0: none */
  uint64_t chunk_rows; /* maximum number of rows of a chunk */
} cb_filing;

/* Returns CB_ERROR_ARGUMENT if the first fields are not time and step, or names, dimensions or ranks are not valid. */
cb_status cb_layout_check(const cb_record_layout *layout);
void cb_layout_shape(const cb_record_layout *layout, const cb_field *field, hsize_t *shape); /* shape of a row */
size_t cb_layout_count(const cb_record_layout *layout, const cb_field *field);               /* values per row */
/* Returns whether a path from the root is reserved: every record contains it, or it is below a group that every record
 * contains. */
bool cb_layout_takes(const char *name);
/* Writes the layout into a new file. over: the datasets of rows and events are virtual datasets over these pieces;
 * NULL: they can grow. base: the name of the file that contains large constants; NULL: this file contains them. */
cb_status cb_layout_build(hid_t file, const char *path, const cb_record_layout *layout, const cb_filing *how,
                          const cb_record_pieces *over, const char *base);
/* Makes the image of a record of that layout without rows. base: as for cb_layout_build. */
cb_status cb_layout_image(const char *path, const cb_record_layout *layout, const cb_filing *how, const char *base,
                          cb_image *out);
/* Returns the number of rows of a chunk in a file of `rows` rows. A long file has chunks of N rows, where
 * N >= CB_CHUNK_ROWS is a power of two that depends only on the layout. A file of fewer than 16 N rows has chunks of
 * CB_CHUNK_ROWS rows. For rows = UINT64_MAX the result is N. */
uint64_t cb_layout_chunk_rows(const cb_record_layout *layout, uint64_t rows);
int cb_layout_deflate(hid_t file); /* the level of compression of its rows; 0: none */
/* Copies a layout into the arena, without the data of the state; NULL if there is no memory. */
const cb_record_layout *cb_layout_copy(cb_arena *arena, const cb_record_layout *layout);
/* Takes the origin of a record from its file: title, attributes, texts of the scenario. */
cb_status cb_layout_take_origin(cb_arena *arena, hid_t file, const char *path, cb_record_layout *layout);

/* The fields of cb_event_row in the file: /event and /event_NAME. */
typedef struct cb_event_field {
  const char *name;
  cb_field_type type;
  size_t offset; /* offset of the member in cb_event_row; not used for the first field, the index of the event */
  const char *doc;
} cb_event_field;
extern const cb_event_field cb_event_fields[CB_EVENT_FIELDS];

/* Returns the number of fields of an event in a record. A record with old names (record_contents.h) does not have the
 * last field, the wall. */
static inline size_t cb_event_fields_of(bool old_names) { return CB_EVENT_FIELDS - old_names; }

/* ---- segment.c: the virtual file */

/* Makes the creation properties of the virtual dataset `name`, which shows the rows of all pieces in `over`. Sets
 * dims[0] to its length. Returns a negative number on failure. */
hid_t cb_virtual_properties(const cb_record_pieces *over, const char *name, bool is_event, hid_t type, int rank,
                            hsize_t *dims);
typedef struct cb_virtual {
  const cb_record_layout *layout;
  cb_record_warnings *warnings;
  size_t warnings_length;
  bool completed, synced;
} cb_virtual;
/* Writes the virtual file, which has the name of the record and shows the rows of all segments. */
cb_status cb_virtual_write(const cb_record_pieces *over, const cb_virtual *v);
/* Returns whether the file is a virtual file over segments. */
bool cb_virtual_is(hid_t file);
/* Reports each segment whose digest differs from the digest in the virtual file. Returns CB_ERROR_FILE or
 * CB_ERROR_MEMORY if a segment cannot be read. */
cb_status cb_virtual_check(const cb_record_pieces *pieces, cb_verify_listener report, void *user);

/* ---- join.c */

/* The content of the joined file besides the rows and events of the pieces. */
typedef struct cb_join {
  const cb_image *layout;
  const cb_blob *state; /* NULL: no checkpoint */
  size_t n_state;
  cb_record_position checkpoint;
  cb_record_warnings *warnings;
  bool completed, synced;
  double maximum_bytes; /* a larger record is not joined; 0: no limit */
} cb_join;
/* Joins the pieces. With CB_OK, *joined is false if the record is larger than maximum_bytes. If the pieces are not
 * joined, for this reason or because of a failure, nothing has changed. */
cb_status cb_join_write(cb_record_pieces *pieces, const cb_join *j, bool *joined);

/* A file that is opened from an image and then filled. A small file is made in memory; a large one on the disk under a
 * temporary name, after `capacity` bytes were reserved on the disk. Then it gets the name of the record. */
typedef struct cb_whole {
  const char *path, *record; /* path: the record's path in messages; record: the same path with links followed */
  const cb_image *start;
  double bytes, capacity; /* bytes: an estimate of the file's size; capacity: the bytes to be reserved on the disk */
  bool synced;
  cb_status (*fill)(void *context, hid_t file);
  void *context;
} cb_whole;
/* Writes the file. After a failure, an existing file with the name of the record is unchanged. */
cb_status cb_whole_write(const cb_whole *whole);

/* ---- resume.c: checkpoints */

/* Creates the group /checkpoint. Its dataset `seal`, the numbers of checkpoints, rows and events, is zero. Datasets for
 * the state are created only if the state is not large. */
cb_status cb_checkpoint_create(hid_t file, const char *path, const cb_blob *state, size_t n_state);
/* Returns whether the state is so large that it is written into only one segment. */
bool cb_checkpoint_is_large(const cb_blob *state, size_t n_state);
bool cb_checkpoint_write(hid_t file, const cb_blob *state, size_t n_state, cb_record_position at);
/* Finds the position of the newest checkpoint in a file; zeros if there is none. Checkpoints after the rows and events
 * in `have` do not count. */
cb_status cb_checkpoint_position(hid_t file, const char *path, cb_record_position have, cb_record_position *at);
/* Reads the newest checkpoint in a file into the data of `state`. Checkpoints after the rows and events in `have` do
 * not count. Returns CB_ERROR_INPUT if there is no other checkpoint. */
cb_status cb_checkpoint_read(hid_t file, const char *path, cb_record_position have, cb_blob *state, size_t n_state,
                             cb_record_position *position);

/* ---- record_contents.c */

/* Returns CB_ERROR_INPUT unless the file is a complete record of a supported version. based: the file is a segment,
 * whose large constants may be virtual datasets over segment 0. */
cb_status cb_record_check(hid_t file, const char *path, bool based);
/* Checks only the root attribute curvebody_record, and returns its value in *version. */
cb_status cb_record_check_mark(hid_t file, const char *path, int *version);

/* Calls visit for each growing dataset in the root group, in order of creation. is_event: the dataset has one entry per
 * event; otherwise it has one per row. */
typedef cb_status (*cb_series_visit)(void *context, hid_t dataset, const char *name, bool is_event);
cb_status cb_series_each(hid_t file, const char *path, cb_series_visit visit, void *context);
/* Sets whole->rows and whole->events to the numbers of rows and events that all datasets have; whole->checkpoints is
 * unchanged. */
cb_status cb_series_extent(hid_t file, const char *path, cb_record_position *whole);

/* ---- record.c */

/* A dataset that grows along its first dimension, with a ring buffer for its newest rows. Event n has the index n %
 * capacity in the ring; for a row the index follows from that of its batch (cb_row_batch). */
typedef struct cb_series {
  const char *name;
  hid_t dataset, memory_type; /* in the segment in memory */
  int rank;                   /* includes the growing dimension */
  hsize_t shape[4];           /* shape of one row: shape[0] = 1 */
  size_t row_bytes;           /* 0: the field has no values and is not in the file */
  unsigned char *ring;
} cb_series;

/* Datasets that grow together. The stepping thread increments `head` when it adds a row, and the writer increments
 * `tail` when it has written a row. Both count from the first row of the record. */
typedef struct cb_table {
  cb_series *series;
  size_t count;
  uint64_t capacity, batch; /* maximum rows in memory; rows per write, a power of two that divides capacity */
  _Atomic uint64_t head, tail;
} cb_table;

typedef struct cb_row_batch {
  uint64_t place, events; /* index of its first row in the rings; events of the record before the end of the batch */
} cb_row_batch;

struct cb_record {
  char *path;
  cb_arena *arena;
  const cb_record_layout *layout;
  cb_filing filing;
  cb_image image; /* a record without rows */
  cb_image lean;  /* `image` without the large constants, which are in segment 0; empty: segments begin with `image` */
  cb_record_options options;
  double flush_interval;

  cb_table rows, events;
  cb_row_batch *batch; /* batches of the rows in memory */

  /* The following members are used by the writer only. */
  cb_record_pieces pieces;  /* the segments on the disk, then the segment in memory; the record's folder and path */
  hid_t file;               /* the segment in memory */
  cb_file_memory memory;    /* the memory of that segment */
  bool numbered, published; /* numbered: segment 0 is on the disk; published: OUT.h5 is the virtual file */
  cb_record_position put;   /* the position that was published last */
  double virtual_due;       /* time before which OUT.h5 need not be written again */
  cb_blob *captured;        /* copy of the state of the newest checkpoint that the writer has taken */
  cb_record_position captured_at; /* the position of that checkpoint */
  size_t captured_warnings;       /* the length of the warnings at that checkpoint */
  uint64_t in_file, kept;         /* numbers of checkpoints: in_file: the newest one in the segment in memory; kept: the
                                   * newest one in earlier segments */
  bool fresh, ended;              /* fresh: the segment in memory has just begun; ended: there are no more rows */

  /* The following members are set by the stepping thread, and read by the writer under the mutex. */
  cb_blob *state; /* state of the newest checkpoint */
  size_t n_state;
  cb_record_position checkpoint;
  cb_record_warnings warnings;

  bool threaded, looked; /* threaded: the writer has a thread; looked: that thread has tried to start HDF5 */
  pthread_t thread;
  pthread_mutex_t mutex; /* guards the data that both threads use; held while a thread waits for `wake` or `done` */
  pthread_cond_t wake, done;
  bool urgent, closing, completing;
  struct timespec deadline; /* time of the next flush; used by the writer only */

  bool closed, joined;
  bool in_segments; /* the record is complete, but its segments were not joined and remain in the folder */
  atomic_bool failed;
  cb_status status; /* the failure of the writer, if `failed` */
  char text[600];
};

static inline cb_row_batch *cb_row_batch_of(const cb_record *record, uint64_t batch) {
  return &record->batch[batch % (record->rows.capacity / record->rows.batch)];
}

/* What the writer of a record needs to start, for a new record or for one that is continued. */
typedef struct cb_record_start {
  const char *path;
  cb_arena *arena;
  cb_record_pieces *pieces;
  const cb_record_layout *layout;
  int deflate;
  const cb_record_options *options;
  const cb_blob *state;        /* state of the checkpoint from which the run continues; NULL: there is none yet */
  cb_record_position position; /* position of this checkpoint, at which writing begins */
} cb_record_start;
/* Makes the rings (cb_series) and starts the writer. Takes ownership of the arena and the pieces, also on failure. */
cb_status cb_record_attach(const cb_record_start *start, cb_record **out);

/* ---- writer.c */
cb_status cb_writer_start(cb_record *record);
void cb_writer_stop(cb_record *record);
/* Does the work of the writer if the writer has no thread. The stepping thread calls it without the mutex. */
void cb_writer_work(cb_record *record, bool everything);
/* Writes the segment in memory and the virtual file to the disk. */
cb_status cb_writer_publish(cb_record *record, bool completed);
/* Begins a new segment in memory after the last piece. */
cb_status cb_writer_begin_segment(cb_record *record);
