/* The HDF5 file of a run: written row by row, readable while it grows and after the writer was killed.
 *
 * The file (root layout, netCDF-4 style dimension scales, H5MD through hard links) is plain HDF5: h5py, xarray and
 * netCDF4 open a finished or repaired one as it is. A file that is being written, or whose writer was killed, opens in
 * single-writer-multiple-reader mode only (h5py: swmr=True, libver='latest'); cb_record_repair makes it plain.
 *
 * Rows go into memory; a thread of the record's own writes them: each full chunk (256 rows), and at least every second
 * whatever there is. What it could not write is the status of the next call. HDF5 is entered by that thread alone
 * between create and close. If the HDF5 library was built without thread safety, the caller's thread writes, and a row
 * waits for the next row or checkpoint after its second.
 * For users.
 */
#ifndef CURVEBODY_RECORD_H
#define CURVEBODY_RECORD_H

#include <curvebody/sink.h>

CB_API_BEGIN

typedef struct cb_record cb_record;

/* When what was written is made to last: told to the disk, and waited for. After a loss of power a record has at least
 * what it had at the last sync, and what it has besides is known by digests. */
typedef enum cb_record_sync {
  CB_SYNC_CHECKPOINT, /* at checkpoints, once a second or in a 32nd of the time at most, and when the record is closed */
  CB_SYNC_NEVER,      /* when the system pleases */
  CB_SYNC_FLUSH       /* whenever rows go to the file */
} cb_record_sync;

/* Zeros are the defaults.
 *
 * Compressing makes a row ten times dearer, and pays only if chunks fill within the flush interval: a compressed chunk
 * that is flushed before it is full takes a new place at each flush, and the old ones stay in the file. */
typedef struct cb_record_options {
  bool overwrite;        /* an existing file is replaced, in one rename, once the new one is whole; otherwise refused */
  int deflate;           /* 0: not compressed; 1 to 9: shuffle and deflate */
  double flush_interval; /* longest time that a row stays in memory, in seconds; 0: 1 s */
  size_t buffer_bytes;   /* memory for rows that are not yet written; 0: 64 MiB. At least two rows are kept. */
  cb_record_sync sync;
} cb_record_options;

/* Where a record stands: rows and events so far, and how many checkpoints were written since it was created. */
typedef struct cb_record_position {
  uint64_t rows, events, checkpoints;
} cb_record_position;

/* CB_ERROR_INPUT where `path` is one of the files of `inputs`, by whatever name or link: asked before anything is
 * written, of every output that a program makes. */
cb_status cb_output_check(const char *path, const cb_files *inputs);

/* Creates the record. The file is built beside `path` as a .part of its own name and takes its name when it is whole,
 * with no rows: whenever the writer is killed, under `path` there is nothing, what was there before, or a whole file.
 * Of several that create a record at one path at the same time, one gets it; the others fail. Dimensions with
 * count 0 and the fields and constants on them are left out of the file: they have no values. options may be NULL.
 * Fails with CB_ERROR_FILE (path exists and must not be overwritten, is not a regular file, is being written by
 * another run, cannot be written: with the reason), CB_ERROR_ARGUMENT (a layout that contradicts itself). */
cb_status cb_record_create(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                           cb_record **out);

/* Opens a record for appending at its newest whole checkpoint: a completed, interrupted or killed one.
 * state[n_state] has the names, types and counts of the layout's state; its data are filled from the checkpoint.
 * Rows and events after the checkpoint are removed. The layout must have the fields and state that the file was
 * created with; its other parts must be readable. position (may be NULL) tells where the run goes on. Fails with
 * CB_ERROR_FILE, or CB_ERROR_INPUT if the file is no record, has no whole checkpoint or is of another layout;
 * nothing has been removed from the file then, but the data of state may have changed. */
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
  bool was_closed;           /* the file was whole and is unchanged */
  uint64_t rows, events;     /* whole rows and events, all kept */
  uint64_t rows_cut;         /* rows that only some of the fields had */
} cb_repair_report;

/* Makes the file of a killed writer a plain HDF5 file, with every row up to the first that is not whole and as it was
 * written; where the machine was started again since, with what it had at its last sync. report may be NULL. Fails with
 * CB_ERROR_FILE (cannot be opened or written, or is being written by another process) or CB_ERROR_INPUT (no record, or
 * one in which what had been synced has changed). */
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

/* Checks everything that can be told of a record from itself: how it was closed, its structure, its rows and events
 * against their digests, the order of time and step, its checkpoints, the digests of the scenario and of the files that
 * it names, and what rows say against their states. Nothing is written. tell and report may be NULL. CB_OK whether or
 * not there are faults; CB_ERROR_FILE where the file cannot be read, CB_ERROR_MEMORY. */
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

/* Opens a record for reading: closed, being written, or killed. CB_ERROR_INPUT if it is none, or if anything in it
 * leads to another file (links, external storage, virtual datasets) or through a filter other than shuffle and
 * deflate. */
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
