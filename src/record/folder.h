/* The folder of a record that is being written, OUT.h5.parts: its segments, and the lock of its writer. Internal.
 *
 *   000000.h5       the layout, without rows
 *   000001.h5 ...   segments: whole records of some rows; attributes first_row and first_event of the root
 *   lock            locked by the writer (fcntl, F_OFD_SETLK); its text says who that is
 *
 * A folder whose lock nobody holds is that of a killed run, or of one that could not be joined.
 *
 * A sweep has such a folder, too (sweep/folder.h), which several processes write: each numbers its segments from
 * WORKER * CB_SEGMENTS_OF_WORKER on, and locks a byte of the lock.
 */
#pragma once

#include <curvebody/record.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CB_SEGMENTS_OF_WORKER = 1000000, CB_FOLDER_PARTS = 1 << 20 };

typedef enum cb_folder_state {
  CB_FOLDER_NONE, /* it is not there, or has no segment */
  CB_FOLDER_LEFT, /* nobody holds it */
  CB_FOLDER_HELD  /* it is being written */
} cb_folder_state;

typedef struct cb_segments {
  char *record; /* OUT.h5, with links followed */
  char *path;   /* OUT.h5.parts */
  int lock;     /* -1: not held */
} cb_segments;

/* The names of the folder of a record. Nothing is made. CB_ERROR_FILE, CB_ERROR_MEMORY. */
cb_status cb_segments_name(const char *path, cb_segments *out);

/* Makes the folder, unless it is there, and takes its lock. CB_ERROR_FILE where another has it, with its name. */
cb_status cb_segments_take(cb_segments *s);

/* The same for one of many: parts 0 .. CB_FOLDER_PARTS - 1 exclude who takes all of it, those beyond exclude who comes
 * after them. Equal parts exclude one another. */
cb_status cb_segments_take_part(cb_segments *s, int part);

/* Whether nobody else has a part: then all of it is taken. Else its own part is given back. */
bool cb_segments_take_rest(cb_segments *s);

/* Gives the lock back, and frees the names. `remove`: the folder goes with all that is in it; without, one that has no
 * segment goes as well. */
void cb_segments_leave(cb_segments *s, bool remove);

/* Removes the segments from that number on, the last one first. 0 or errno. */
int cb_segments_cut(const cb_segments *s, uint64_t from);

/* Removes all that a run or a sweep has there, but the lock, which is held. 0 or errno. */
int cb_segments_clear(const cb_segments *s);

/* Removes what a killed writer left half made. The lock is held. */
void cb_segments_tidy(const cb_segments *s);

/* Any segment, or a sweep that was begun. CB_ERROR_FILE where it cannot be read, which the other takes for yes. */
cb_status cb_segments_look(const cb_segments *s, bool *found);
bool cb_segments_has(const cb_segments *s);
cb_folder_state cb_segments_state(const cb_segments *s);

/* That somebody has the lock: CB_ERROR_FILE, "PATH: in use: ...". */
cb_status cb_segments_in_use(const cb_segments *s, const char *path);

/* Next to a plain record a folder has nothing that the record has not. HDF5 is quiet. */
bool cb_segments_needed(const cb_segments *s);

/* That a killed run left the folder, and the only rows that there are: CB_ERROR_FILE. */
cb_status cb_segments_left(const cb_segments *s, const char *path);

/* CB_ERROR_FILE where a run is writing the record of that name, or a killed one left it in its folder. */
cb_status cb_record_check_unwritten(const char *path);

/* The state of the record's folder by the record's name; CB_FOLDER_NONE where that cannot be told. */
cb_folder_state cb_record_state(const char *path);

/* Where a record that was closed has its rows. */
typedef enum cb_record_outcome {
  CB_OUTCOME_NOTHING, /* nothing was written: what had its name before is as it was */
  CB_OUTCOME_PARTLY,  /* in segments, up to where the writer failed */
  CB_OUTCOME_SEGMENTS,
  CB_OUTCOME_JOINED
} cb_record_outcome;
struct cb_record;
cb_record_outcome cb_record_outcome_of(const struct cb_record *record);

/* Rows that any program finds under the record's name: while it is written, segments have more for a moment. */
cb_status cb_reader_rows_by_name(cb_reader *reader, uint64_t *rows);
/* The numbers of all segments, in order; malloc'd. */
cb_status cb_segments_list(const cb_segments *s, uint64_t **number, size_t *count);

/* The name of a segment, malloc'd; NULL: no memory. */
extern const char cb_segment_base[];      /* the name of number 0 in the folder: a record without rows */
extern const char cb_segments_of_sweep[]; /* the name of the text of a sweep in the folder of its results */
char *cb_segment_name(const cb_segments *s, uint64_t number);
