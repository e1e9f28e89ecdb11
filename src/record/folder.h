/* The folder OUT.h5.parts of a record that is being written: its segments, and the lock of its writer. Internal.
 *
 *   000000.h5       the layout, without rows
 *   000001.h5 ...   segments: complete records of some rows; attributes first_row and first_event of the root
 *   lock            locked by the writer (fcntl, F_OFD_SETLK); its text names the writer
 *
 * If no process holds the lock, the run was killed, or its segments were not joined.
 *
 * A sweep also has such a folder (sweep/sweep.h), which several processes may write. The process with the number w, a
 * rank or a shard, numbers its segments from w * CB_SEGMENTS_OF_WORKER + 1 on. Rank 0 locks the complete folder. Each
 * other rank and each shard locks its own part of the folder (cb_segments_take_part).
 */
#pragma once

#include <curvebody/record.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CB_SEGMENTS_OF_WORKER = 1000000, CB_FOLDER_PARTS = 1 << 20 };

typedef enum cb_folder_state {
  CB_FOLDER_NONE, /* there is no folder, or it has no segment except segment 0 */
  CB_FOLDER_LEFT, /* there are segments, and no process holds the lock */
  CB_FOLDER_HELD  /* a writer holds the lock */
} cb_folder_state;

typedef struct cb_segments {
  char *record; /* OUT.h5, with links followed */
  char *path;   /* the folder, OUT.h5.parts */
  int lock;     /* the descriptor of the open lock file; -1: the lock is not held */
} cb_segments;

/* Sets the names of the folder of a record, without creating it. Returns CB_ERROR_FILE or CB_ERROR_MEMORY on
 * failure. */
cb_status cb_segments_name(const char *path, cb_segments *out);

/* Creates the folder if it does not exist, and takes its lock. Returns CB_ERROR_FILE, with the name of the holder, if
 * another process has the lock. */
cb_status cb_segments_take(cb_segments *s);

/* Does the same as cb_segments_take, for one of several writers, which locks byte `part` of the lock file. Equal parts
 * exclude each other. Parts 0 .. CB_FOLDER_PARTS - 1 also exclude a writer that takes the complete folder. A part from
 * CB_FOLDER_PARTS on excludes a writer of the complete folder only if that writer comes later. */
cb_status cb_segments_take_part(cb_segments *s, int part);

/* Locks the complete folder if no other process has locked a part, and returns true. Otherwise releases the caller's
 * part and returns false. */
bool cb_segments_take_rest(cb_segments *s);

/* Releases the lock and frees the names. With `remove` the folder is removed with its content. Without `remove` the
 * folder is removed only if it has no segment except segment 0 and no text of a sweep, and no other process has locked
 * a part. */
void cb_segments_leave(cb_segments *s, bool remove);

/* Removes the segments from number `from` on, the last one first. Returns 0 or errno. */
int cb_segments_cut(const cb_segments *s, uint64_t from);

/* Removes all files of a run or a sweep except the lock, which the caller holds. Returns 0 or errno. */
int cb_segments_clear(const cb_segments *s);

/* Removes the unfinished files of a killed writer. The caller holds the lock. */
void cb_segments_tidy(const cb_segments *s);

/* Sets *found to whether the folder has a segment other than segment 0, or is the folder of a sweep that has begun.
 * Returns CB_ERROR_FILE if the folder cannot be read. */
cb_status cb_segments_look(const cb_segments *s, bool *found);
cb_folder_state cb_segments_state(const cb_segments *s);

/* Fails because another process holds the lock: CB_ERROR_FILE, "PATH: in use: ...". */
cb_status cb_segments_in_use(const cb_segments *s, const char *path);

/* Returns whether the folder has data that exist nowhere else. This is always so for the folder of a sweep, and never
 * for the folder next to a plain record. Call it between cb_hdf5_quiet_begin and cb_hdf5_quiet_end. */
bool cb_segments_needed(const cb_segments *s);

/* Returns CB_ERROR_FILE, with the message that a killed run or sweep has left its rows or members in the folder. */
cb_status cb_segments_left(const cb_segments *s, const char *path);

/* Returns CB_ERROR_FILE if a run is writing the record of that name, or if a killed run has left segments in the folder
 * of the record. */
cb_status cb_record_check_unwritten(const char *path);

/* Returns the state of the folder of the record with that name; CB_FOLDER_NONE if the folder cannot be read. */
cb_folder_state cb_record_state(const char *path);

/* The location of the rows of a closed record. */
typedef enum cb_record_outcome {
  CB_OUTCOME_NOTHING,  /* nothing was written: an existing file with that name is unchanged */
  CB_OUTCOME_PARTLY,   /* only the rows before the failure of the writer are in segments */
  CB_OUTCOME_SEGMENTS, /* all rows are in segments */
  CB_OUTCOME_JOINED    /* all rows are in one plain file */
} cb_record_outcome;
struct cb_record;
cb_record_outcome cb_record_outcome_of(const struct cb_record *record);

/* Gets the number of rows that any program finds in the file with the record's name. While the record is being written,
 * its segments, which `reader` reads, may briefly have more rows. */
cb_status cb_reader_rows_by_name(cb_reader *reader, uint64_t *rows);
/* Lists the numbers of all segments except segment 0 in ascending order; *number is malloc'd. */
cb_status cb_segments_list(const cb_segments *s, uint64_t **number, size_t *count);

extern const char cb_segment_base[];      /* the file name of segment 0, a record without rows */
extern const char cb_segments_of_sweep[]; /* the file in the folder of a sweep that holds the text of the sweep */
/* Returns the malloc'd path of a segment; NULL if there is no memory. */
char *cb_segment_name(const cb_segments *s, uint64_t number);
