/* The HDF5 record of a run. Every program can read it while it grows, after its writer was killed, and when it is
 * complete.
 *
 * A record is never overwritten in place. During a run its rows are in segments, complete HDF5 files in the folder
 * OUT.h5.parts, and OUT.h5 is a virtual file over them, replaced by a rename: h5py, xarray, netCDF4 and ParaView can
 * open it at any time. The last segment is rewritten every second until it has 16 MiB. When the record is closed the
 * segments are joined to one plain file (root layout, netCDF-4 style dimension scales, H5MD through hard links), and
 * the folder is removed. If this fails, for example because the disk is full, closing the record fails with the reason
 * (CB_ERROR_FILE); the segments then contain everything that was recorded, and cb_record_repair joins them later.
 *
 * Rows go into memory, and a thread of the record writes them. If it fails, the next call returns its status. Between
 * create and close only this thread calls HDF5. If the HDF5 library was built without thread safety, the caller's
 * thread writes.
 * For users.
 */
#ifndef CURVEBODY_RECORD_H
#define CURVEBODY_RECORD_H

#include <curvebody/sink.h>

CB_API_BEGIN

typedef struct cb_record cb_record;

/* Whether files are synced before they are renamed to their final names. After a power failure a synced record has lost
 * at most the last second. */
typedef enum cb_record_sync {
  CB_SYNC_CHECKPOINT, /* every file of the record */
  CB_SYNC_NEVER,      /* left to the operating system */
  CB_SYNC_FLUSH       /* as CB_SYNC_CHECKPOINT */
} cb_record_sync;

/* Zeros are the defaults. */
typedef struct cb_record_options {
  bool overwrite;        /* replaces an existing file, in one rename; false: an existing file is an error */
  int deflate;           /* 0: not compressed; 1 to 9: shuffle and deflate */
  double flush_interval; /* maximum time that a row stays in memory, in seconds; 0: 1 s */
  size_t buffer_bytes;   /* memory for rows that are not yet written; 0: 64 MiB. The minimum is two rows. */
  cb_record_sync sync;
  bool discard;      /* deletes the segments of a killed run; false: they are not overwritten */
  double join_bytes; /* a record with more bytes stays in segments; 0: no limit */
} cb_record_options;

/* Position in a record: rows and events so far, and the number of checkpoints written since its creation. */
typedef struct cb_record_position {
  uint64_t rows, events, checkpoints;
} cb_record_position;

/* CB_ERROR_INPUT if `path` is one of the files of `inputs`, under any name or link. Call it for every output of a
 * program before anything is written. */
cb_status cb_output_check(const char *path, const cb_files *inputs);

/* Creates the record. The file gets its name after one second or when the record is closed; until then an existing file
 * stays unchanged. If several threads or processes create a record at one path at the same time, one succeeds; the
 * others fail, and the message has the path. Dimensions with count 0, and the fields and constants on them, have no
 * values and are left out of the file. The layout is copied. options may be NULL. Fails with CB_ERROR_FILE (path exists
 * and must not be overwritten, is not a regular file, is being written by another run, was left by a killed run, cannot
 * be written: with the reason), CB_ERROR_ARGUMENT (a layout that contradicts itself). */
cb_status cb_record_create(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                           cb_record **out);

/* Opens a record for appending at its newest checkpoint. Its run may be completed, interrupted or killed; a record of
 * version 0.1 must be closed. state[n_state] has the names, types and counts of the layout's state; its data are filled
 * from the checkpoint. Rows and events after the checkpoint are discarded. The layout must have the fields and state of
 * the file; title, attributes and scenario are those of the file. position (may be NULL) is the position at which the
 * run continues. Fails with CB_ERROR_FILE, or CB_ERROR_INPUT if the file is not a record, has no checkpoint or has
 * another layout; the record is then unchanged, but the data of state may have changed. */
cb_status cb_record_open_for_resume(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                                    cb_blob *state, size_t n_state, cb_record_position *position, cb_record **out);

/* Returns the sink for the run loop. It is valid until cb_record_free; after close it accepts no more data. */
cb_sink cb_record_sink(cb_record *record);

/* Adds a line to the attribute `warnings` of the root, which has space for 3 kB. It is written with the next checkpoint
 * and when the record is closed. time nan: no time. A line that is already there is not repeated; in a resumed record
 * the lines up to the checkpoint are kept. self: the record (cb_run_on_warning). Call it before the record is
 * closed. */
cb_status cb_record_warning(void *self, double time, const char *text);

/* Frees the record; an open record is closed and marked as not completed. NULL is allowed. */
void cb_record_free(cb_record *record);

/* Result of cb_record_repair. */
typedef struct cb_repair_report {
  bool was_closed;       /* the file was already joined and is unchanged */
  uint64_t rows, events; /* numbers of rows and events in the joined file */
  uint64_t rows_cut;     /* number of rows that are lost because their segments could not be read */
} cb_repair_report;

/* Joins the segments of a record to one plain file, after a run was killed or the disk was full. report may be NULL.
 * Fails with CB_ERROR_FILE (the file cannot be opened or written, another process is writing it, or the disk is full)
 * or CB_ERROR_INPUT (not a record). */
cb_status cb_record_repair(const char *path, cb_repair_report *report);

/* Result of cb_record_verify; rows and events are the numbers that all fields have. */
typedef struct cb_verify_report {
  uint64_t rows, events, checkpoints; /* checkpoints: number written, up to the newest complete one; 0: none */
  uint64_t states;                    /* number of states whose observables were computed again */
  size_t faults;
  bool completed, digests;
} cb_verify_report;

/* Called with each error found in a record: one line, without the record's name. */
typedef void (*cb_verify_listener)(void *user, const char *text);

/* Checks everything in a record that can be checked from the record itself: how it was closed, its structure, that all
 * of it can be read (rows and events have checksums, segments a SHA-256), the order of time and step, its checkpoint,
 * the digests of the scenario and of the files that it names, and the rows against their states. Nothing is written.
 * tell and report may be NULL. Returns CB_OK whether or not errors were found; CB_ERROR_FILE if the file cannot be
 * read; CB_ERROR_MEMORY. */
cb_status cb_record_verify(const char *path, cb_verify_listener tell, void *user, cb_verify_report *report);

/* ---- Reading, for resume and export ---------------------------------------------------------------------------- */

typedef struct cb_reader cb_reader;

typedef struct cb_reader_field {
  const char *name, *units;
  const char *stored; /* name of the field in the file, which differs in a record of an older version */
  cb_field_type type;
  int rank; /* dimensions after time */
  size_t shape[3];
  const char *dims[3]; /* names of the dimensions */
  size_t count;        /* values per row */
} cb_reader_field;

/* Opens a record for reading: closed, being written, or left by a killed run (cb_warn then gives a warning).
 * CB_ERROR_INPUT if the file is not a record, if anything in it refers to another file (links, external storage,
 * virtual datasets over files other than the segments in its own folder) or uses a filter other than shuffle, deflate
 * and fletcher32. */
cb_status cb_reader_open(const char *path, cb_reader **out);
void cb_reader_close(cb_reader *reader);

/* Return the complete rows, events and checkpoints at the time when the file was opened, and whether the run reached
 * its end. */
cb_record_position cb_reader_position(const cb_reader *reader);
bool cb_reader_completed(const cb_reader *reader);

/* Get the scenario as given (`source`) or resolved (`resolved`), or a text attribute of the root; "" if the file has
 * none, CB_ERROR_INPUT if the attribute is not a text. The text lives as long as the reader. */
cb_status cb_reader_scenario(cb_reader *reader, const char *name, const char **text);
cb_status cb_reader_attribute(cb_reader *reader, const char *name, const char **text);

/* Reads the newest complete checkpoint into state[n_state].data: names, types and counts must be those of the file. */
cb_status cb_reader_checkpoint(cb_reader *reader, cb_blob *state, size_t n_state, cb_record_position *position);

/* Sets *fields to the fields in the order of the file, time and step first; returns their number. */
size_t cb_reader_fields(const cb_reader *reader, const cb_reader_field **fields);

/* Reads count rows, starting at row first, of field f into out[count][fields[f].count]; integers are converted. */
cb_status cb_reader_rows(cb_reader *reader, size_t f, uint64_t first, uint64_t count, double *out);
cb_status cb_reader_events(cb_reader *reader, uint64_t first, uint64_t count, cb_event_row *out);

/* Gets the number of values of a constant array such as particle_mass; 0 if the file has no array of that name. */
cb_status cb_reader_count(cb_reader *reader, const char *name, size_t *count);

/* Reads the n numbers of a constant array, in the order of the file; CB_ERROR_INPUT if the count differs or they are
 * not numbers. */
cb_status cb_reader_constant(cb_reader *reader, const char *name, size_t n, double *out);

/* Gets the labels of a dimension, or NULL if it has none; they live as long as the reader. */
cb_status cb_reader_labels(cb_reader *reader, const char *dimension, const char *const **labels);

/* ---- Export ---------------------------------------------------------------------------------------------------- */

typedef struct cb_export_options {
  uint64_t every;            /* every n-th row; 0: all for CSV, at most 10 000 frames for XDMF */
  const char *const *fields; /* CSV: names of the fields wanted; NULL: all with at most one dimension and 64 values */
  size_t n_fields;
} cb_export_options;

/* Writes an XDMF 3 description of the record, for ParaView: one frame per row, positions /plot_position with bonds as
 * lines (points if there are none), velocity and the other fields on particles and bonds. The numbers stay in the
 * record; the description refers to it by a path relative to `out` if both are in one folder. options may be NULL.
 *
 * For bodies in a fluid the frames show their surfaces, moving and deforming: triangles, with the body and part of each
 * and the velocity of the vertices. These numbers go to a second file, `out` with -surface.h5 in place of its
 * extension, of at most 2 GiB unless `every` is given. */
cb_status cb_record_export_xdmf(const char *path, const char *out, const cb_export_options *options);

/* Writes the rows as comma-separated values under one line of names, numbers with the fewest digits that read back
 * exactly. Events, if there are any, go to a second file, `out` with -events before its extension. A field selected by
 * name may have up to 4096 values per row. options may be NULL. `out` "-" is the standard output, without events; an
 * XDMF description without surfaces can also go there. */
cb_status cb_record_export_csv(const char *path, const char *out, const cb_export_options *options);

CB_API_END
#endif
