/* Contents of the files of a record that other folders also use: warnings, and the names that datasets had in records
 * of older versions. Internal.
 *
 * Warnings are in the attribute `warnings` of the root, a text of lines. It is a text of fixed length that ends with
 * zero bytes, and is overwritten at checkpoints and when the record is closed. A warning with a time begins with `at
 * time T, `, where T has enough digits to give the same number when it is read. A resumed run needs T: it keeps the
 * warnings up to its start time and generates the later ones again. If the text is full, its last line is `...`.
 */
#pragma once

#include "core/arena.h"
#include "core/failure.h"
#include <curvebody/record.h>
#include <curvebody/sink.h>

#include <hdf5.h>

enum { CB_RECORD_WARNINGS = 3072 }; /* maximum size of the text of warnings in bytes */

typedef struct cb_record_warnings {
  char text[CB_RECORD_WARNINGS];
  size_t length;
  size_t sealed, written; /* sealed: `length` at the newest checkpoint; written: number of bytes in the file */
} cb_record_warnings;

/* Creates the attribute in a new file; false, with HDF5's error stack set, on failure. */
bool cb_warnings_make(hid_t file);
/* Reads the warnings of a file; if the attribute is missing, the result is false and an empty list. */
bool cb_warnings_read(hid_t file, cb_record_warnings *out);
/* Writes the first `length` bytes into the file, unless it already contains them. */
bool cb_warnings_write(hid_t file, cb_record_warnings *w, size_t length);
/* Adds a line with a warning if the list does not contain it. time nan: the warning has no time. */
void cb_warnings_add(cb_record_warnings *w, double time, const char *text);
/* Removes the lines with a time after `time`, and a line `...` that follows them. `time` = -inf removes all lines that
 * have a time. */
void cb_warnings_cut(cb_record_warnings *w, double time);

/* A log of the warnings of this thread, for the attribute of a file that is not a record. Each warning is also passed
 * once to the previous receiver. */
typedef struct cb_warning_log {
  cb_record_warnings list;
  cb_warning_taker before;
} cb_warning_log;
void cb_warning_log_begin(cb_warning_log *log);
void cb_warning_log_end(cb_warning_log *log);

/* Reports the lines of an attribute `warnings` again by cb_warn: at most `maximum` of the lines with a time, and if
 * `all` is set also all lines without a time. */
void cb_warnings_repeat(const char *lines, int maximum, bool all);
/* Reports again, by cb_warn, at most `maximum` of the warnings with a time that a resumed record keeps. The run that
 * was killed may not have reported them. */
void cb_record_repeat_warnings(const cb_record *record, int maximum);

/* --- names of older versions --- */

/* Returns the present name of a dataset with the old name `old`; NULL if `old` is not an old name. */
const char *cb_record_renamed(const char *old);

/* Returns whether the file has the old names. Either all files of a record have them or none. */
bool cb_record_has_old_names(hid_t file);

/* Returns the name in the file of the dataset whose present name is `name`. `old`: the record has the old names. */
const char *cb_record_name(const char *name, bool old);

/* Replaces the names in the layout by the old names, because a record with old names keeps them when it is resumed. */
cb_status cb_record_use_old_names(cb_arena *arena, cb_record_layout *layout);
