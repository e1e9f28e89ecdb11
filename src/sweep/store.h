/* The results of a sweep's members: in memory, in segments and in the result; and the checkpoints of running members.
 *
 * A process puts the results of ended members into its store, in memory. About once a second it writes them as a
 * segment: a complete HDF5 file in the folder of the sweep, which is made in memory and gets its name by a rename
 * (record/folder.h). The last segment is written again, with more members after the old ones, until it has about 16
 * MiB. No file is changed in place: a reader can open each file at any time, and the file stays complete if the process
 * is killed.
 *
 *   /member[row]             int64: the number of the member
 *   /status[row]             int32: CB_MEMBER_DONE or CB_MEMBER_FAILED; CB_MEMBER_MISSING: see below
 *   /failure[row, letter]    the error message of a failed member; only if a member has failed
 *   /warned[row]             int32: the number of warnings
 *   /warning[row, letter]    the first of these warnings; only if there is one
 *   /seconds[row]            the running time of the member; not in the result
 *   /state[row, number]      the state from which later members, or this one, continue, padded with zeros; only if
 *                            there is one, and never in a result
 *   /NAME[row, ...]          the fields of the result
 *
 * A row with the status CB_MEMBER_MISSING contains the results so far of a member that has not ended. The result file
 * shows this row until a later row of the same member replaces it.
 *
 * The result OUT.h5 has the same arrays over the axes of the sweep. While members are missing it consists of virtual
 * datasets over the segments; at the end these are joined into one plain file. The contents of that file do not depend
 * on which process computed a member, or when.
 */
#pragma once

#include "record/folder.h"
#include <curvebody/sink.h>

/* --- the checkpoint of a running member, from which it continues after a kill ---
 *
 * There is one file per member, NUMBER.state: a line of text with the digest of the sweep and the sizes, the bytes of
 * the pieces in the byte order of the machine, and a SHA-256 of everything. It is written under another name and
 * renamed, and is used only if it is complete.
 */

/* The folder of the checkpoints of members, and the digest of the sweep. */
typedef struct cb_member_checkpoint {
  const char *folder, *digest;
} cb_member_checkpoint;

/* Writes a checkpoint of the member with the pieces piece[n]. Fails with CB_ERROR_FILE and the reason. */
cb_status cb_member_checkpoint_save(const cb_member_checkpoint *checkpoint, int64_t member, const cb_blob *piece,
                                    size_t n);
/* Reads the checkpoint of a member into the data of all pieces. The pieces of the checkpoint must have exactly these
 * sizes; only the last piece may be shorter, and *last becomes its count. If there is no such checkpoint, or if it is
 * not complete, the function returns false and reads nothing. */
bool cb_member_checkpoint_load(const cb_member_checkpoint *checkpoint, int64_t member, cb_blob *piece, size_t n,
                               size_t *last);

enum { CB_STORE_RANK = 4, CB_STORE_TEXT = 200 };

/* A field of the result: one array of this shape per member. */
typedef struct cb_store_field {
  const char *name;
  cb_field_type type;
  int rank;
  const char *dims[CB_STORE_RANK];
  size_t shape[CB_STORE_RANK];
  const char *units, *doc;
} cb_store_field;

typedef struct cb_store_axis {
  const char *name;
  size_t count;
} cb_store_axis;

/* The coordinate of an axis at each of its count values: values[count][components], or labels[count]; if both are NULL,
 * the numbers 0 .. count - 1. */
typedef struct cb_store_coordinate {
  const char *name;
  int axis;
  size_t components; /* 0: a number; otherwise the length of a list */
  const double *values;
  const char *const *labels;
  const char *doc;
} cb_store_coordinate;

/* The layout of the result of a sweep. A coordinate with the name of an axis is the dimension scale of this axis. */
typedef struct cb_store_layout {
  const char *title, *sweep; /* sweep: the text of the sweep, with the scenario */
  const char *checked;       /* the result of the check of the members, as text (sweep/sweep.h) */
  const char *digest;        /* digest of everything on which the result depends */
  const cb_store_axis *axes;
  size_t n_axes;
  const cb_store_coordinate *coordinates;
  size_t n_coordinates;
  const cb_dimension *dimensions; /* the dimensions of the fields */
  size_t n_dimensions;
  const cb_store_field *fields;
  size_t n_fields;
  int64_t members;
  bool goes_on; /* members continue from the states of other members: the store keeps the newest row of each */
} cb_store_layout;

typedef enum cb_member_status { CB_MEMBER_MISSING, CB_MEMBER_DONE, CB_MEMBER_FAILED } cb_member_status;

/* Return the size in bytes of a member's results, with and without its texts; and the number of values of a field. */
size_t cb_store_bytes(const cb_store_layout *layout);
static inline size_t cb_store_result_bytes(const cb_store_layout *layout) {
  return cb_store_bytes(layout) - 2 * CB_STORE_TEXT;
}
size_t cb_store_field_count(const cb_store_field *field);

/* ---- store.c: the results that a process has computed */

typedef struct cb_store cb_store;

/* The results of a member. */
typedef struct cb_member_result {
  int64_t member;
  cb_member_status status;
  int32_t warned; /* the number of warnings */
  char failure[CB_STORE_TEXT],
      warning[CB_STORE_TEXT]; /* the error message and the first warning, made by cb_store_text */
  double seconds;
  unsigned char *values; /* the values of the fields, one after another; from malloc, then owned by the store */
  double *state;         /* [states]: the state from which members continue; also owned by the store; NULL: none */
  size_t states;
} cb_member_result;

/* The part of a member's results that the store keeps. */
typedef struct cb_store_row {
  cb_member_status status;
  double *state; /* [states]: the state from which members continue */
  size_t states;
} cb_store_row;

/* Opens the store of a worker, which must have locked its part of the folder. New segments follow the existing segments
 * of this worker. The layout and the folder are borrowed. checkpoint: the checkpoints of running members, which the
 * store removes when the results of these members are on disk; NULL: no checkpoints. */
cb_status cb_store_open(const cb_segments *folder, const cb_store_layout *layout, int worker,
                        const cb_member_checkpoint *checkpoint, cb_store **out);
/* Frees the store. Results that were not saved are lost. */
void cb_store_free(cb_store *store);
/* Adds a result; any thread may call it. Takes ownership of the values and the state, also on failure. */
cb_status cb_store_put(cb_store *store, const cb_member_result *result);
/* Returns the newest row of a member, on disk or only in memory. The store keeps these rows only in sweeps whose
 * members continue from states of other members. Such sweeps run in a single thread. */
const cb_store_row *cb_store_row_of(const cb_store *store, int64_t member);
/* Writes everything that was put so far to the disk; any thread may call it. */
cb_status cb_store_save(cb_store *store);
/* Copies as much of a text as the array can hold, without a partial character at the end. */
void cb_store_text(const char *text, char out[CB_STORE_TEXT]);

/* ---- results_scan.c: the members that have results in segments or in the result file */

/* A file with results. */
typedef struct cb_store_source {
  char *path;
  uint64_t number; /* the number of the segment; 0: the file is a result, whose row m belongs to member m */
  size_t rows;
} cb_store_source;

typedef struct cb_results_scan {
  const cb_store_layout *layout;
  int64_t members;
  uint8_t *status;     /* [members]: cb_member_status */
  uint8_t *warned;     /* [members]: whether it has warnings */
  cb_store_row *known; /* [members], from segments; NULL: members do not continue from states of other members */
  int32_t *source;     /* [members]: index of the source with its result; -1: none */
  int32_t *row;        /* [members]: its row in that source */
  cb_store_source *sources;
  size_t count;
  double seconds; /* the sum of the running times of finished members; nan: a result does not contain them */
} cb_results_scan;

/* Reads the segments of a folder. A member is done if one of them contains it as done. It has failed if none contains
 * it as done and one as failed. The other members are missing. whole: reads all data of the segments; a damaged segment
 * is renamed with a warning, and its members are missing. */
cb_status cb_results_scan_read(const cb_segments *folder, const cb_store_layout *layout, bool whole,
                               cb_results_scan *out);
/* Adds the members that were not found so far and that the plain result at `path` contains. Fails with CB_ERROR_INPUT
 * if the file is the result of another sweep. */
cb_status cb_results_scan_add_result(cb_results_scan *scan, const char *path);
void cb_results_scan_free(cb_results_scan *scan);
/* Return the failure of a member, and its first warning, from malloc; NULL: there is no such text, or it cannot be
 * read. */
char *cb_results_scan_failure(const cb_results_scan *scan, int64_t member);
char *cb_results_scan_warning(const cb_results_scan *scan, int64_t member);
/* Puts the results of members that exist only in a result file into the store. */
cb_status cb_results_scan_import(const cb_results_scan *scan, cb_store *store);

/* ---- sweep_folder.c */

/* Writes the result file. If `plain` is set and no member is missing, it is a plain file, which contains all values. In
 * other cases it is a virtual file, whose datasets refer to the segments of the folder. If the plain file cannot be
 * written, a virtual file is written and the failure is returned. *joined: the file is plain. */
cb_status cb_result_write(const cb_segments *folder, const cb_results_scan *scan, bool plain, bool *joined);
