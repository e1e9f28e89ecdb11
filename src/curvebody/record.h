/* The HDF5 record of a run. Other programs can read a record while it grows, after its run was killed, and when it is
 * complete.
 *
 * Files of a record are replaced by a rename, and never changed in place, so that h5py, xarray, netCDF4 and ParaView
 * can open them at any time. During a run the rows are in segments, which are complete HDF5 files in the folder
 * OUT.h5.parts. The file OUT.h5 then consists of virtual datasets that refer to the segments. The last segment is
 * written again every second until it has 16 MiB. When the record is closed, the segments are joined to one plain file,
 * and the folder is removed. In that file every array is at the root and has dimension scales as in netCDF-4; hard
 * links give it the structure of H5MD. If joining fails, for example because the disk is full, closing the record fails
 * with CB_ERROR_FILE and the reason. The segments then contain everything that was recorded, and cb_record_repair joins
 * them later.
 *
 * The functions of the sink copy rows to memory, from which a thread of the record writes them. If this thread fails,
 * the next call returns its status. Between creating and closing a record only this thread calls HDF5. If the HDF5
 * library was built without thread safety, there is no such thread, and the functions of the sink write the rows.
 * For users.
 */
#ifndef CURVEBODY_RECORD_H
#define CURVEBODY_RECORD_H

#include <curvebody/sink.h>

CB_API_BEGIN

typedef struct cb_record cb_record;

/* Says whether files are synced to the disk before they are renamed to their final names. After a power failure a
 * record whose files were synced has lost at most the rows of the last second. */
typedef enum cb_record_sync {
  CB_SYNC_CHECKPOINT, /* every file is synced */
  CB_SYNC_NEVER,      /* no file is synced; the operating system decides when it writes */
  CB_SYNC_FLUSH       /* the same as CB_SYNC_CHECKPOINT */
} cb_record_sync;

/* Members that are 0 mean the defaults. */
typedef struct cb_record_options {
  bool overwrite;        /* true: an existing file is replaced, by a rename; false: an existing file is an error */
  int deflate;           /* 0: not compressed; 1 to 9: shuffle and deflate with this level */
  double flush_interval; /* maximum time that a row stays in memory, in seconds; 0: 1 s */
  size_t buffer_bytes;   /* memory for rows that are not yet written; 0: 64 MiB. At least two rows are always kept. */
  cb_record_sync sync;
  bool discard;      /* true: segments that a killed run left are deleted; false: such segments are an error */
  double join_bytes; /* a record with more bytes is not joined when it is closed; 0: no limit */
} cb_record_options;

/* A position in a record: numbers of rows and events so far, and of checkpoints since the record was created. */
typedef struct cb_record_position {
  uint64_t rows, events, checkpoints;
} cb_record_position;

/* Checks that the output file `path` is none of the input files, under any name or link; otherwise CB_ERROR_INPUT. Call
 * it for every output of a program before anything is written. */
cb_status cb_output_check(const char *path, const cb_files *inputs);

/* Creates a record with the file name `path`. The caller frees it with cb_record_free. The layout is copied. options
 * may be NULL. The file gets its name after one second or when the record is closed; until then an existing file stays
 * unchanged. If several threads or processes create a record at one path at the same time, one succeeds and the others
 * fail. Dimensions with count 0, and the fields and constants on them, are left out of the file.
 *
 * CB_ERROR_FILE if the file exists and must not be overwritten, is not a regular file, is being written by another run,
 * has segments that a killed run left, or cannot be written. CB_ERROR_ARGUMENT for a layout that contradicts itself. */
cb_status cb_record_create(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                           cb_record **out);

/* Opens a record, to continue it after its newest checkpoint. Its run may be completed, interrupted or killed; but a
 * file that version 0.1 of the program left open cannot be continued. Rows and events after the checkpoint are
 * discarded.
 *
 * The layout must have the fields and the state of the file; title, attributes and scenario stay those of the file.
 * state[n_state] has the names, types and counts of the layout's state, and its data are filled from the checkpoint.
 * *position (position may be NULL) is the position of the checkpoint. options may be NULL; `overwrite`, `deflate` and
 * `discard` are not used. The caller frees *out with cb_record_free.
 *
 * CB_ERROR_FILE if the file cannot be read or written; CB_ERROR_INPUT if it is not a record, has no checkpoint or has
 * another layout; CB_ERROR_ARGUMENT if `state` differs from the layout's. On failure the record is unchanged, but the
 * data of `state` may have changed. */
cb_status cb_record_open_for_resume(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                                    cb_blob *state, size_t n_state, cb_record_position *position, cb_record **out);

/* Returns the sink for the run loop (cb_run_go), which is valid until cb_record_free. After its function `close` was
 * called it accepts no more data. */
cb_sink cb_record_sink(cb_record *record);

/* Adds a line to the attribute `warnings` of the root, which has space for 3 kB. `self` is the record, as
 * cb_run_on_warning requires it. The line begins with the time unless time is nan. A line that is already there is not
 * repeated. The lines are written with the next checkpoint, and when the record is closed; call the function before
 * that. In a resumed record the lines up to the checkpoint are kept. */
cb_status cb_record_warning(void *self, double time, const char *text);

/* Frees the record. A record that was not closed is closed first, and marked as not completed. NULL is allowed. */
void cb_record_free(cb_record *record);

/* Result of cb_record_repair. */
typedef struct cb_repair_report {
  bool was_closed;       /* true: the record was already one plain file, which is unchanged */
  uint64_t rows, events; /* numbers of rows and events in the joined file */
  uint64_t rows_cut;     /* number of rows that are lost because their segments could not be read */
} cb_repair_report;

/* Joins the segments of a record to one plain file, after a run was killed or the disk was full. report may be NULL.
 * Fails with CB_ERROR_FILE (the file cannot be opened or written, another process is writing it, or the disk is full)
 * or CB_ERROR_INPUT (not a record). */
cb_status cb_record_repair(const char *path, cb_repair_report *report);

/* Result of cb_record_verify. */
typedef struct cb_verify_report {
  /* numbers of rows, of events, and of checkpoints up to the newest complete one (0: there is none) */
  uint64_t rows, events, checkpoints;
  uint64_t states; /* number of states whose observables were computed again */
  size_t faults;   /* number of errors that were found */
  /* completed: the run has reached its end. digests: the record consists of segments, whose SHA-256 digests were
   * compared */
  bool completed, digests;
} cb_verify_report;

/* A function that is called with each error in a record. The text is one line, without the record's name. */
typedef void (*cb_verify_listener)(void *user, const char *text);

/* Checks everything in a record that can be checked without another run:
 *   - how the record was closed, its structure, and its checkpoint;
 *   - that all rows and events can be read and have correct checksums, and segments the correct SHA-256;
 *   - that time and step increase from row to row;
 *   - the digests of the scenario and of the files that the scenario names;
 *   - the values of some rows, which are computed again from the recorded states.
 * Nothing is written. `tell` (may be NULL) is called with `user` and each error. report may be NULL. Returns CB_OK
 * whether or not errors were found; CB_ERROR_FILE if the system cannot read the file; CB_ERROR_MEMORY. */
cb_status cb_record_verify(const char *path, cb_verify_listener tell, void *user, cb_verify_report *report);

/* ---- Reading, for resume and export ---------------------------------------------------------------------------- */

typedef struct cb_reader cb_reader;

typedef struct cb_reader_field {
  const char *name, *units;
  const char *stored; /* name of the field in the file; in a record of an older version it may differ from `name` */
  cb_field_type type;
  int rank;            /* number of dimensions after time, 0 to 3 */
  size_t shape[3];     /* [rank]: lengths of these dimensions */
  const char *dims[3]; /* [rank]: their names */
  size_t count;        /* number of values per row */
} cb_reader_field;

/* Opens a record for reading. The record may be closed, be written at the same time, or have been left by a killed run,
 * about which a warning or a note is issued. The caller closes the reader. Fields, texts and labels that its functions
 * return are valid until then.
 *
 * CB_ERROR_FILE if the file cannot be read. CB_ERROR_INPUT if it is not a record, if it has a filter other than
 * shuffle, deflate and fletcher32, or if it refers to files other than the segments in its own folder, by links,
 * external storage or virtual datasets. */
cb_status cb_reader_open(const char *path, cb_reader **out);
void cb_reader_close(cb_reader *reader);

/* Return the numbers of complete rows, events and checkpoints when the file was opened, and whether the run had reached
 * its end. */
cb_record_position cb_reader_position(const cb_reader *reader);
bool cb_reader_completed(const cb_reader *reader);

/* cb_reader_scenario sets *text to the scenario as it was given (name "source") or with all defaults (name "resolved");
 * cb_reader_attribute sets it to the attribute `name` of the root. The text is "" if the file has no such object.
 * CB_ERROR_INPUT if the object is not a text. */
cb_status cb_reader_scenario(cb_reader *reader, const char *name, const char **text);
cb_status cb_reader_attribute(cb_reader *reader, const char *name, const char **text);

/* Reads the newest complete checkpoint into the data of state[n_state], and sets *position (position may be NULL).
 * CB_ERROR_INPUT if there is no checkpoint, or if its names, types and counts differ from those of `state`. */
cb_status cb_reader_checkpoint(cb_reader *reader, cb_blob *state, size_t n_state, cb_record_position *position);

/* Sets *fields to the fields in the order of the file, of which the first two are time and step. Returns their
 * number. */
size_t cb_reader_fields(const cb_reader *reader, const cb_reader_field **fields);

/* cb_reader_rows reads the rows first .. first + count - 1 of field number f into out[count][fields[f].count], with
 * integers converted to doubles. cb_reader_events reads the events with these numbers into out[count].
 * CB_ERROR_ARGUMENT if the record has no such rows or events. */
cb_status cb_reader_rows(cb_reader *reader, size_t f, uint64_t first, uint64_t count, double *out);
cb_status cb_reader_events(cb_reader *reader, uint64_t first, uint64_t count, cb_event_row *out);

/* Sets *count to the number of values of a constant array, such as particle_mass; to 0 if there is no such array. */
cb_status cb_reader_count(cb_reader *reader, const char *name, size_t *count);

/* Reads the n numbers of a constant array into out[n], in the order of the file. CB_ERROR_INPUT if the array does not
 * have n elements, or if they are not numbers. */
cb_status cb_reader_constant(cb_reader *reader, const char *name, size_t n, double *out);

/* Sets *labels to the labels of a dimension, one for each index; to NULL if the dimension has no labels. */
cb_status cb_reader_labels(cb_reader *reader, const char *dimension, const char *const **labels);

/* ---- Export ---------------------------------------------------------------------------------------------------- */

typedef struct cb_export_options {
  uint64_t every; /* rows 0, every, 2 every, ... are exported; 0: all rows for CSV, at most 10 000 rows for XDMF */
  /* CSV: names of the fields to export, besides time and step. NULL: all fields with at most one dimension after time
   * and at most 64 values per row. */
  const char *const *fields;
  size_t n_fields;
} cb_export_options;

/* Writes to the file `out` an XDMF 3 description of the record `path`, for ParaView. Each exported row is a frame. It
 * has the positions /plot_position, as points, or as lines if there are bonds, and the velocities and other fields of
 * particles and bonds. The numbers stay in the record, to which the description refers; the reference is relative if
 * both files are in one folder. options may be NULL. `out` "-" is the standard output.
 *
 * For bodies in a fluid a frame has their surfaces at that time, as triangles, with the body and the part of each
 * triangle and the velocities of the vertices. These numbers are written to a second file, whose name is `out` with
 * -surface.h5 in place of the extension; "-" is then CB_ERROR_ARGUMENT. Unless `every` is given, this file has at most
 * 2 GiB. */
cb_status cb_record_export_xdmf(const char *path, const char *out, const cb_export_options *options);

/* Writes the rows of the record `path` to the file `out`, as comma-separated values under one line of names. Numbers
 * have 15 significant digits, or 16 or 17 if fewer would not read back as the same number. Events, if there are any,
 * are written to a second file, whose name is `out` with -events before its extension. `out` "-" is the standard
 * output; events are then not written. options may be NULL. CB_ERROR_ARGUMENT if a field of `options` does not exist or
 * has more than 4096 values per row. */
cb_status cb_record_export_csv(const char *path, const char *out, const cb_export_options *options);

CB_API_END
#endif
