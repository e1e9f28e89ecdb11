/* Warnings in a record: the attribute `warnings` of the root, a text of lines. Internal, but for resuming.
 *
 * A file that is being written takes no new attribute, so this one has its bytes from the start (a text of fixed
 * length, ended by 0) and is written over: at checkpoints with what there was by then, and when the record is closed. A
 * line of a time begins with `at time T, `, T in the digits that read back the same: a resumed run keeps those up to
 * where it goes on, and a killed one loses none that it does not find again. Lines beyond the room end in `...`.
 */
#pragma once

#include "core/warning.h"
#include <curvebody/record.h>
#include <hdf5.h>

enum { CB_RECORD_WARNINGS = 3072 }; /* bytes */

typedef struct cb_record_warnings {
  char text[CB_RECORD_WARNINGS];
  size_t length;
  size_t sealed, written; /* of the newest checkpoint; in the file */
} cb_record_warnings;

/* The attribute of a new file; false with HDF5's error stack set. */
bool cb_warnings_make(hid_t file);
/* What a file has, nothing where it has no such attribute; then false. */
bool cb_warnings_read(hid_t file, cb_record_warnings *out);
/* The first `length` bytes into the file, unless they are there. */
bool cb_warnings_write(hid_t file, cb_record_warnings *w, size_t length);
/* A line, unless it is there. time nan: of no time. */
void cb_warnings_add(cb_record_warnings *w, double time, const char *text);
/* Without lines of later times; -inf: without any of a time. */
void cb_warnings_cut(cb_record_warnings *w, double time);

/* Warnings of this thread from its beginning on, which go to who had them before as well, each once: for the attribute
 * of a file that is not a record. */
typedef struct cb_warning_log {
  cb_record_warnings list;
  cb_warning_taker before;
} cb_warning_log;
void cb_warning_log_begin(cb_warning_log *log);
void cb_warning_log_end(cb_warning_log *log);

/* Lines of such an attribute again, by cb_warn: those of a time, `most` at most, and with `all` those of none. */
void cb_warnings_repeat(const char *lines, int most, bool all);
/* Those of a time that a record which is resumed keeps: a run that was killed told nobody. */
void cb_record_repeat_warnings(const cb_record *record, int most);
