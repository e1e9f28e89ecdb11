/* The HDF5 record of a run: readable by every program while it grows, after its writer was killed, and when it is complete.
 *
 * A record is never overwritten in place. While a run goes on its rows are in segments, whole HDF5 files in the folder
 * OUT.h5.parts, and OUT.h5 is a virtual file over them, replaced by a rename: h5py, xarray, netCDF4 and ParaView open it at
 * any moment. The last segment is written again every second until it has 16 MiB. When the record is closed the segments
 * are joined to one plain file (root layout, netCDF-4 style dimension scales, H5MD through hard links), and the folder is
 * removed. Where that is refused, as for want of room, closing the record fails with the reason (CB_ERROR_FILE); the
 * segments then have all that was recorded, and cb_record_repair joins them later.
 *
 * Rows go into memory; a thread of the record's own writes them. What it could not write is the status of the next call.
 * HDF5 is entered by that thread alone between create and close. If the HDF5 library was built without thread safety, the
 * caller's thread writes.
 * For users.
 */
#ifndef CURVEBODY_RECORD_H
#define CURVEBODY_RECORD_H

#include <curvebody/sink.h>

CB_API_BEGIN

typedef struct cb_record cb_record;

/* Whether files are synced before they take their names. After a loss of power a record that was synced has what it had a
 * second before, at least. */
typedef enum cb_record_sync {
  CB_SYNC_CHECKPOINT, /* every file of the record */
  CB_SYNC_NEVER,      /* when the system pleases */
  CB_SYNC_FLUSH       /* as CB_SYNC_CHECKPOINT */
} cb_record_sync;

/* Zeros are the defaults. */
typedef struct cb_record_options {
  bool overwrite;        /* an existing file is replaced, in one rename; otherwise refused */
  int deflate;           /* 0: not compressed; 1 to 9: shuffle and deflate */
  double flush_interval; /* longest time that a row stays in memory, in seconds; 0: 1 s */
  size_t buffer_bytes;   /* memory for rows that are not yet written; 0: 64 MiB. At least two rows are kept. */
  cb_record_sync sync;
  bool discard;          /* the segments that a killed run left are given up; otherwise they are not written over */
  double join_bytes;     /* a record of more bytes stays in segments; 0: no limit */
} cb_record_options;

/* Where a record stands: rows and events so far, and how many checkpoints were written since it was created. */
typedef struct cb_record_position {
  uint64_t rows, events, checkpoints;
} cb_record_position;

/* CB_ERROR_INPUT where `path` is one of the files of `inputs`, by whatever name or link: asked before anything is
 * written, of every output that a program makes. */
cb_status cb_output_check(const char *path, const cb_files *inputs);

/* Creates the record. Nothing has its name before the first second has passed, or the record is closed: until then a file
 * that is there stays as it is. Of several that create a record at one path at the same time, one gets it; the others fail
 * with its name. Dimensions with count 0 and the fields and constants on them are left out of the file: they have no
 * values. The layout is copied. options may be NULL. Fails with CB_ERROR_FILE (path exists and must not be overwritten, is
 * not a regular file, is being written by another run, was left by a killed one, cannot be written: with the reason),
 * CB_ERROR_ARGUMENT (a layout that contradicts itself). */
cb_status cb_record_create(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                           cb_record **out);

/* Opens a record for appending at its newest checkpoint: a completed, interrupted or killed one, or a closed one of version
 * 0.1. state[n_state] has the names, types and counts of the layout's state; its data are filled from the checkpoint. Rows
 * and events after the checkpoint do not count any more. The layout must have the fields and state that the file was
 * created with; title, attributes and scenario are those of the file. position (may be NULL) tells where the run goes on.
 * Fails with CB_ERROR_FILE, or CB_ERROR_INPUT if the file is no record, has no checkpoint or is of another layout; the
 * record is then as it was, but the data of state may have changed. */
cb_status cb_record_open_for_resume(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                                    cb_blob *state, size_t n_state, cb_record_position *position, cb_record **out);

/* What the run loop writes to. The sink is valid until cb_record_free; after close it takes nothing more. */
cb_sink cb_record_sink(cb_record *record);

/* A line of the attribute `warnings` of the root, which has room for 3 kB: at the next checkpoint, and when the record
 * is closed. time nan: of no time. One that is there already is not put there twice; those of a record that is resumed
 * are kept up to where it goes on. self: the record (cb_run_on_warning). Before it is closed. */
cb_status cb_record_warning(void *self, double time, const char *text);

/* Frees the record; one that was not closed is closed as not completed. NULL is allowed. */
void cb_record_free(cb_record *record);

/* What cb_record_repair found. */
typedef struct cb_repair_report {
  bool was_closed;           /* the file was a plain one and is unchanged */
  uint64_t rows, events;     /* that it has */
  uint64_t rows_cut;         /* rows of segments that could not be read; 0: none */
} cb_repair_report;

/* Joins the segments of a killed run, or of one that had no room for it, to one plain file. report may be NULL. Fails with
 * CB_ERROR_FILE (cannot be opened or written, is being written by another process, or there is no room) or CB_ERROR_INPUT
 * (no record). */
cb_status cb_record_repair(const char *path, cb_repair_report *report);

/* What cb_record_verify found; rows and events are those that all fields have. */
typedef struct cb_verify_report {
  uint64_t rows, events, checkpoints; /* checkpoints: written up to the newest whole one, 0: none */
  uint64_t states;                    /* that were measured again */
  size_t faults;
  bool completed, digests;
} cb_verify_report;

/* A fault of a record, in a line without its name. */
typedef void (*cb_verify_tell)(void *user, const char *text);

/* Checks everything that can be told of a record from itself: how it was closed, its structure, that all of it can be read
 * (rows and events have checksums, segments a SHA-256), the order of time and step, its checkpoint, the digests of the
 * scenario and of the files that it names, and what rows say against their states. Nothing is written. tell and report may
 * be NULL. CB_OK whether or not there are faults; CB_ERROR_FILE where the file cannot be read, CB_ERROR_MEMORY. */
cb_status cb_record_verify(const char *path, cb_verify_tell tell, void *user, cb_verify_report *report);

/* ---- Reading, as resume and export need it -------------------------------------------------------------------- */

typedef struct cb_reader cb_reader;

typedef struct cb_reader_field {
  const char *name, *units;
  cb_field_type type;
  int rank;            /* dimensions after time */
  size_t shape[3];
  const char *dims[3]; /* names of the dimensions */
  size_t count;        /* values a row */
} cb_reader_field;

/* Opens a record for reading: closed, being written, or left by a killed run, of which cb_warn tells. CB_ERROR_INPUT if it
 * is none, or if anything in it leads to another file (links, external storage, virtual datasets but over the segments in
 * its own folder) or through a filter other than shuffle, deflate and fletcher32. */
cb_status cb_reader_open(const char *path, cb_reader **out);
void cb_reader_close(cb_reader *reader);

/* Whole rows, events and checkpoints when the file was opened; whether the run reached its end. */
cb_record_position cb_reader_position(const cb_reader *reader);
bool cb_reader_completed(const cb_reader *reader);

/* The scenario as it was given (`source`) or resolved (`resolved`), or a text attribute of the root; "" if the file has
 * none, CB_ERROR_INPUT if what it has is no text. The text lives as long as the reader. */
cb_status cb_reader_scenario(cb_reader *reader, const char *name, const char **text);
cb_status cb_reader_attribute(cb_reader *reader, const char *name, const char **text);

/* The newest whole checkpoint into state[n_state].data: names, types and counts must be those of the file. */
cb_status cb_reader_checkpoint(cb_reader *reader, cb_blob *state, size_t n_state, cb_record_position *position);

/* Fields in the order of the file: time and step first. */
size_t cb_reader_fields(const cb_reader *reader, const cb_reader_field **fields);

/* count rows from first on of field f, into out[count][fields[f].count]; integers are converted. */
cb_status cb_reader_rows(cb_reader *reader, size_t f, uint64_t first, uint64_t count, double *out);
cb_status cb_reader_events(cb_reader *reader, uint64_t first, uint64_t count, cb_event_row *out);

/* How many values a constant array has, such as particle_mass; 0 if the file has none of that name. */
cb_status cb_reader_count(cb_reader *reader, const char *name, size_t *count);

/* Its n numbers, in the order of the file; CB_ERROR_INPUT where it has others, or no numbers. */
cb_status cb_reader_constant(cb_reader *reader, const char *name, size_t n, double *out);

/* The labels of a dimension, or NULL if it has none; they live as long as the reader. */
cb_status cb_reader_labels(cb_reader *reader, const char *dimension, const char *const **labels);

/* ---- Export ---------------------------------------------------------------------------------------------------- */

typedef struct cb_export_options {
  uint64_t every;            /* every n-th row; 0: all for CSV, at most 10 000 frames for XDMF */
  const char *const *fields; /* CSV: names of the fields wanted; NULL: all with at most one dimension and 64 values */
  size_t n_fields;
} cb_export_options;

/* Writes an XDMF 3 description of the record, for ParaView: one frame a row, positions /x with bonds as lines
 * (points if there are none), velocity and the other fields on particles and bonds. The numbers stay in the record,
 * which is referred to by its path relative to `out` if both are in one folder. options may be NULL.
 *
 * Of bodies in a fluid it is their surfaces, moving and deforming: triangles, with body and part of each and the
 * velocity of the vertices. Their numbers go to a second file, `out` with -surface.h5 in place of its ending, with at
 * most 2 GiB unless `every` is given. */
cb_status cb_record_export_xdmf(const char *path, const char *out, const cb_export_options *options);

/* Writes the rows as comma-separated values under one line of names, numbers in the fewest digits that read back
 * the same. Events, if there are any, go to a second file, `out` with -events before its ending. A field by name
 * may have up to 4096 values a row. options may be NULL. */
cb_status cb_record_export_csv(const char *path, const char *out, const cb_export_options *options);

CB_API_END
#endif
