/* The parts of a record. Internal.
 *
 * A record is never overwritten in place. While a run goes on its rows are in segments, whole HDF5 files of the layout of
 * a record, in the folder OUT.h5.parts (folder.h); OUT.h5 is then a virtual file over them. At the end they are joined.
 * Every file is made in memory, or under a name of its own, and takes its name by a rename.
 *
 * record.c      the stepping thread's side: rows, events and checkpoints go into memory
 * writer.c      the writing side: from memory to segments      segment.c   a file in memory, and its image
 * layout.c      what a file consists of                        series.c    the datasets that grow
 * checkpoint.c  /checkpoint, and that of version 0.1           virtual.c   the virtual file over the segments
 * pieces.c      the files that a record consists of            join.c      one plain file of them
 * reader.c      reading                                        check.c     what is refused
 * resume.c, repair.c   records of runs that ended or were killed
 */
#pragma once

#include "core/arena.h"
#include "record/hdf5.h"
#include "record/warnings.h"
#include "record/folder.h"
#include <curvebody/record.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum {
  CB_RECORD_VERSION = 2,       /* root attribute curvebody_record: changes when a reader of old files would go wrong */
  CB_RECORD_OLD = 1,           /* of version 0.1: one file, two checkpoint slots */
  CB_CHUNK_ROWS = 256,         /* rows per chunk of a short file, and events per chunk */
  CB_LONG_CHUNK_ROWS = 4096,   /* maximum of rows per chunk of a long file */
  CB_CHUNK_BYTES = 1 << 20,    /* most bytes of a chunk */
  CB_SEGMENT_BYTES = 16 << 20, /* a segment of so many bytes is final */
  CB_LARGE_BYTES = 64 << 10,   /* what is larger and stays the same is in one file of the folder, not in all */
  CB_EVENT_FIELDS = 9,
  CB_SHA256 = 65 /* a digest in hexadecimal digits */
};

/* ---- segment.c: files in memory */

typedef struct cb_image {
  unsigned char *bytes; /* malloc'd */
  size_t size;
} cb_image;

/* Memory that files in memory have one after the other: a new one would cost a fault for each page. Zeros: none yet. Its owner
 * frees it after them, unless it is `taken`. */
typedef struct cb_file_memory {
  void *bytes; /* malloc'd */
  size_t size;
  bool taken;
} cb_file_memory;

/* A new HDF5 file in memory, or one of an image, in that memory if it is free. Negative on failure. */
hid_t cb_memory_create(void);
hid_t cb_memory_open(const cb_image *image);
hid_t cb_memory_open_in(cb_file_memory *m, const cb_image *image);
/* The access and creation properties of every file of a record. */
hid_t cb_record_access(void);
hid_t cb_record_creation(void);
/* What the file would be on a disk. */
cb_status cb_memory_image(hid_t file, const char *path, cb_image *out);
/* Writes that to `name`, as cb_image_save does. digest and bytes may be NULL. */
cb_status cb_memory_save(hid_t file, const char *path, const char *name, bool synced, char digest[CB_SHA256],
                         uint64_t *bytes);
/* Writes the image to `path`, by a rename; the caller is the writer of the record. digest may be NULL. */
cb_status cb_image_save(const cb_image *image, const char *path, bool synced, char digest[CB_SHA256]);
void cb_image_digest(const cb_image *image, char digest[CB_SHA256]);
cb_status cb_image_read(const char *path, cb_image *out);

/* ---- pieces.c: the files that a record consists of */

typedef struct cb_piece {
  uint64_t number;                /* of its segment; 0: OUT.h5 itself */
  cb_record_position first, have; /* before it; rows and events of it that count */
  uint64_t bytes;
  char digest[CB_SHA256];
} cb_piece;

typedef struct cb_record_pieces {
  const char *path; /* as it was asked for; the caller's */
  cb_segments folder;
  bool plain; /* one file */
  cb_piece *piece;
  size_t count, room;
  cb_record_position have;
  bool stale;  /* there are segments after the last piece, which are of no use once the next one has its name */
  size_t lost; /* segments that are there and cannot be read, or do not follow */
  char damage[200]; /* why OUT.h5 cannot be read, and the segments are; "": it can */
  hid_t file;  /* the last piece: its structure, constants and checkpoint are those of the record */
  hid_t other; /* another piece that is open */
  hid_t base;  /* number 0, once it is open; 0: it is not */
  size_t open; /* which */
  hid_t before; /* what `file` was before the record was joined, 0: it was not; who goes through it may go on */
} cb_record_pieces;

/* Opens the record at path: a plain file, or segments, being written or left. Everything in the last piece is checked. */
cb_status cb_pieces_open(const char *path, cb_record_pieces *out);
/* Of a record that the caller has the folder of, which goes to *out. */
cb_status cb_pieces_open_own(const char *path, cb_segments *folder, cb_record_pieces *out);
void cb_pieces_close(cb_record_pieces *p);
/* Whether there is a file of that name that is not a virtual one over segments. */
bool cb_record_is_plain(const char *path);
bool cb_pieces_add(cb_record_pieces *p, const cb_piece *piece);
/* Rows, or events, from first on of the series of that name, as memory_type. width: values a row. */
cb_status cb_pieces_read(cb_record_pieces *p, const char *name, bool is_event, size_t width, hid_t memory_type,
                         uint64_t first, uint64_t count, void *out);
/* Opens a piece; the file stays the pieces'. */
cb_status cb_pieces_file(cb_record_pieces *p, size_t i, hid_t *file);
/* The newest piece that has a checkpoint; the last one if none has. The file stays the pieces'. */
cb_status cb_pieces_checkpoint(cb_record_pieces *p, hid_t *file);
/* A dataset that does not grow: of the last piece, or of number 0 where it is virtual there. */
cb_status cb_pieces_constant(cb_record_pieces *p, const char *name, hid_t *out);

/* ---- layout.c: what a file consists of */

/* How a file stores its rows. */
typedef struct cb_filing {
  int deflate;         /* 0: not compressed */
  uint64_t chunk_rows; /* maximum of rows per chunk; long rows have fewer */
} cb_filing;

cb_status cb_layout_check(const cb_record_layout *layout);
void cb_layout_shape(const cb_record_layout *layout, const cb_field *field, hsize_t *shape); /* of a row */
size_t cb_layout_count(const cb_record_layout *layout, const cb_field *field);               /* values a row */
bool cb_layout_takes(const char *name); /* a path from the root that every record has, or that is below one */
/* over: the series are virtual ones over these pieces; NULL: they grow. base: where large constants are, as the file
 * names it; NULL: in the file. */
cb_status cb_layout_build(hid_t file, const char *path, const cb_record_layout *layout, const cb_filing *how,
                          const cb_record_pieces *over, const char *base);
/* The image of a record of that layout without rows. */
cb_status cb_layout_image(const char *path, const cb_record_layout *layout, const cb_filing *how, const char *base,
                          cb_image *out);
/* The rows per chunk of a file with so many rows: CB_CHUNK_ROWS, or more once the file has 16 of the larger chunks. The
 * larger number is a power of two, which UINT64_MAX gives. */
uint64_t cb_layout_chunk_rows(const cb_record_layout *layout, uint64_t rows);
int cb_layout_deflate(hid_t file); /* how its rows are compressed; 0: they are not */
/* A copy that lasts as long as the arena, but for the data of its state; NULL: no memory. */
const cb_record_layout *cb_layout_copy(cb_arena *arena, const cb_record_layout *layout);
/* What says where a record comes from, as the file has it: title, attributes, texts of the scenario. */
cb_status cb_layout_take_origin(cb_arena *arena, hid_t file, const char *path, cb_record_layout *layout);

/* The fields of cb_event_row as they lie in the file: /event and /event_NAME. */
typedef struct cb_event_field {
  const char *name;
  cb_field_type type;
  size_t offset; /* in cb_event_row; unused for the first, the index */
  const char *doc;
} cb_event_field;
extern const cb_event_field cb_event_fields[CB_EVENT_FIELDS];

/* ---- virtual.c */

/* Properties of a virtual dataset of that name, and its extent in dims[0]. Negative on failure. */
hid_t cb_virtual_properties(const cb_record_pieces *over, const char *name, bool is_event, hid_t type, int rank,
                            hsize_t *dims);
/* Writes the virtual file over the segments in place of the record's. */
typedef struct cb_virtual {
  const cb_record_layout *layout;
  cb_record_warnings *warnings;
  size_t warnings_length;
  bool completed, synced;
} cb_virtual;
cb_status cb_virtual_write(const cb_record_pieces *over, const cb_virtual *v);
/* Whether the file is a virtual one of ours. */
bool cb_virtual_is(hid_t file);
/* Tells of each segment that is not as the virtual file says. CB_ERROR_FILE, CB_ERROR_MEMORY where one cannot be read. */
cb_status cb_virtual_check(const cb_record_pieces *pieces, cb_verify_tell tell, void *user);

/* ---- join.c */

/* What the joined file has besides the rows and events of the pieces. Its bytes depend on these, the layout and the rows
 * alone. */
typedef struct cb_join {
  const cb_image *layout;
  const cb_blob *state; /* NULL: no checkpoint */
  size_t n_state;
  cb_record_position checkpoint;
  cb_record_warnings *warnings;
  bool completed, synced;
  double most_bytes; /* above it is not joined; 0: no limit */
} cb_join;
/* *joined false with CB_OK: it is larger than most_bytes. Whether so or with a failure, nothing has changed then. */
cb_status cb_join_write(cb_record_pieces *pieces, const cb_join *j, bool *joined);

/* A file that is opened from the image of its beginning and filled: in memory where it is small, on the disk under a name
 * of its own, once there is room for so many bytes, where it is not. Then it takes the name of the record. */
typedef struct cb_whole {
  const char *path, *record; /* for messages; with links followed */
  const cb_image *start;
  double bytes, room; /* of it, and what is asked of the disk */
  bool synced;
  cb_status (*fill)(void *context, hid_t file);
  void *context;
} cb_whole;
/* When it fails, what had the name before is as it was. */
cb_status cb_whole_write(const cb_whole *whole);

/* ---- checkpoint.c */

cb_status cb_checkpoint_create(hid_t file, const char *path, const cb_blob *state, size_t n_state);
/* It is written once, and not into every segment. */
bool cb_checkpoint_is_large(const cb_blob *state, size_t n_state);
bool cb_checkpoint_write(hid_t file, const cb_blob *state, size_t n_state, cb_record_position at);
/* Where the checkpoint stands; zeros: there is none. */
cb_status cb_checkpoint_position(hid_t file, const char *path, cb_record_position have, cb_record_position *at);
/* The checkpoint of a file, with no more rows and events than there are. CB_ERROR_INPUT where there is none. */
cb_status cb_checkpoint_read(hid_t file, const char *path, cb_record_position have, cb_blob *state, size_t n_state,
                             cb_record_position *position);
/* Names, types and counts of the state of a file, with room for the data: for repair. */
cb_status cb_checkpoint_shape(cb_arena *arena, hid_t file, const char *path, cb_blob **state, size_t *n_state);

/* ---- check.c: CB_ERROR_INPUT if the file has not the mark of a record that we know, or is not a record in itself. */
cb_status cb_record_check(hid_t file, const char *path, bool based);
cb_status cb_record_check_mark(hid_t file, const char *path, int *version);

/* ---- series.c: for each dataset at the root that grows, in order of creation */
typedef cb_status (*cb_series_visit)(void *context, hid_t dataset, const char *name, bool is_event);
cb_status cb_series_each(hid_t file, const char *path, cb_series_visit visit, void *context);
/* Rows and events that every series has; checkpoints is left as it is. */
cb_status cb_series_extent(hid_t file, const char *path, cb_record_position *whole);

/* ---- record.c */

/* A dataset that grows along its first dimension, and the rows of it that are in memory: event n is at place
 * n % capacity of the ring, a row where its batch lies. */
typedef struct cb_series {
  const char *name;
  hid_t dataset, memory_type; /* of the segment in memory */
  int rank;                   /* with the growing dimension */
  hsize_t shape[4];           /* of one row: shape[0] = 1 */
  size_t row_bytes;           /* 0: a field without values, not in the file */
  unsigned char *ring;
} cb_series;

/* Series that grow together. The stepping thread moves head, the writer moves tail; both count from the record's
 * first row. */
typedef struct cb_table {
  cb_series *series;
  size_t count;
  uint64_t capacity, batch; /* rows in memory; rows written at once, a power of two that divides capacity */
  _Atomic uint64_t head, tail;
} cb_table;

typedef struct cb_batch {
  uint64_t place, events; /* of its first row in the rings; events before its end */
} cb_batch;

struct cb_record {
  char *path;
  cb_arena *arena;
  const cb_record_layout *layout;
  cb_filing filing;
  cb_image image, lean; /* of the layout without rows; without what number 0 has for all segments (none: the former) */
  cb_record_options options;
  double flush_interval;

  cb_table rows, events;
  cb_batch *batch; /* of the rows in memory */

  /* The writer's. */
  cb_record_pieces pieces; /* segments on the disk, and the one in memory last; folder and path */
  hid_t file;              /* the segment in memory */
  cb_file_memory memory;   /* of it */
  bool numbered;           /* number 0 in the folder is the present image */
  bool published;          /* OUT.h5 is the virtual file */
  cb_record_position put;  /* what was published last */
  double virtual_due;     /* when OUT.h5 is written again */
  cb_blob *taken;         /* the state of a checkpoint that was taken from the stepping thread */
  cb_record_position taken_at;
  size_t taken_warnings;
  uint64_t in_file, kept; /* the checkpoint that the segment in memory has, and that those before it have */
  bool fresh, ended;      /* the segment in memory has just begun; there are no more rows */

  /* The stepping thread's; under the mutex. */
  cb_blob *state; /* of the newest checkpoint */
  size_t n_state;
  cb_record_position checkpoint;
  cb_record_warnings warnings;

  bool threaded, looked; /* it has a thread, which has looked for its memory */
  pthread_t thread;
  pthread_mutex_t mutex; /* guards what follows, and sleeping on tail */
  pthread_cond_t wake, done;
  bool urgent, closing, completing;
  struct timespec deadline; /* of the next flush; the writer's */

  bool closed, joined;
  bool in_segments; /* all of it, which stays there */
  atomic_bool failed;
  cb_status status; /* once failed: what the writer met */
  char text[600];
};

static inline cb_batch *cb_batch_of(const cb_record *record, uint64_t batch) {
  return &record->batch[batch % (record->rows.capacity / record->rows.batch)];
}

/* A record whose pieces are open for writing and that stands at `position`: makes the rings, starts the writer. Takes the
 * arena and the pieces in any case. state: of the checkpoint, NULL: none yet. */
cb_status cb_record_attach(const char *path, cb_arena *arena, cb_record_pieces *pieces, const cb_record_layout *layout,
                           int deflate, const cb_record_options *options, const cb_blob *state,
                           cb_record_position position, cb_record **out);

/* ---- writer.c */
cb_status cb_writer_start(cb_record *record);
void cb_writer_stop(cb_record *record);
/* Without a thread: what the thread would do now. Called by the stepping thread with the mutex free. */
void cb_writer_work(cb_record *record, bool everything);
/* The segment in memory, and the virtual file, to the disk. */
cb_status cb_writer_publish(cb_record *record, bool completed);
/* A new segment in memory, after the last piece. */
cb_status cb_writer_begin_segment(cb_record *record);
