/* A file that is written gets its name when it is whole. Internal.
 *
 * Until then it has a name of its own next to the final one, PATH.PROCESS-NUMBER.part, which no other process takes; that
 * of a record is in its folder. The final name is taken in one step: a free one by a rename that replaces nothing, another
 * by a rename over the file, unless that is a record which a run is writing or of which a killed run left a folder
 * (record/folder.h).
 */
#pragma once

#include "record/hdf5.h"
#include <curvebody/record.h>
#include <stdio.h>

typedef struct cb_output {
  char *path;   /* as it was asked for */
  char *target; /* the same with links followed */
  char *part;   /* where it is written meanwhile */
  bool unsynced;
  bool owner; /* of the record of that name */
} cb_output;

/* Makes `part`, empty. Fails with CB_ERROR_FILE: path is there and may not be replaced (`replace` false), is not a
 * regular file, is in use, or cannot be written. */
cb_status cb_output_begin(const char *path, bool replace, cb_output *out);
/* The same of a file that the writer of the record replaces. */
cb_status cb_output_begin_own(const char *path, bool replace, cb_output *out);

/* What was written is on the disk before the file takes its name, and the name before `end` returns, unless `unsynced`
 * is set in between.
 * With CB_OK the file takes its name; with anything else, or where it cannot, `part` goes. The file may still be open.
 * Returns status, or why it failed. Frees what begin made in any case. */
cb_status cb_output_end(cb_output *o, bool replace, cb_status status);

/* Syncs the folder that a file is in: its name is then there after a loss of power. 0 or errno. */
int cb_sync_folder(const char *path);

/* A stream for text into o->part, and its end: what could not be written is told. */
cb_status cb_output_open_text(const char *path, cb_output *o, FILE **stream);
cb_status cb_output_close_text(cb_output *o, FILE *stream, cb_status status);

/* The same for HDF5. `close` writes what HDF5 holds, or leaves it where status is not CB_OK. */
cb_status cb_output_open_hdf5(const char *path, bool own, cb_output *o, hid_t *file);
cb_status cb_output_close_hdf5(cb_output *o, hid_t file, cb_status status);

/* The HDF5 file of o->part, its links kept in order of their creation; negative where HDF5 fails. */
hid_t cb_output_create_hdf5(const cb_output *o);
