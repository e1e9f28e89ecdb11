/* The results of a sweep's members: in memory, in segments, and in the result.
 *
 * A process puts the results of members that have ended into its store, which is memory. At least once a second what
 * there is becomes a segment: a whole HDF5 file in the folder of the sweep, made in memory and named by a rename
 * (record/folder.h). The last segment is written anew, with more members after those that it had, until it has about
 * 16 MiB. No file is changed in place, so that any reader opens it at any moment, and a kill leaves it whole.
 *
 *   /member[row]             int64: which member it is
 *   /status[row]             int32: CB_MEMBER_DONE or CB_MEMBER_FAILED
 *   /failure[row, letter]    why it failed; only where one of them did
 *   /warned[row]             int32: how often it was warned of
 *   /warning[row, letter]    the first of these warnings; only where there is one
 *   /seconds[row]            its own time, of no interest to the result
 *   /state[row, number]      what other members go on from, padded with zeros; only where there is any, and in no result
 *   /NAME[row, ...]          the fields of the result
 *
 * A row of status CB_MEMBER_MISSING is what a member has come to so far: the result shows it, and a later row replaces it.
 *
 * The result OUT.h5 has the same arrays over the axes of the sweep. While members are missing it is virtual datasets over
 * the segments; at the end they are joined into one plain file, whose bytes do not depend on who computed what, and when.
 */
#pragma once

#include "record/folder.h"
#include "sweep/midst.h"

enum { CB_STORE_RANK = 4, CB_STORE_WORDS = 200 };

/* A field of the result: one array of `shape` a member. */
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

/* What an axis is at each of its values: numbers[count][components] or words[count]; neither: 0 .. count - 1. */
typedef struct cb_store_coordinate {
  const char *name;
  int axis;
  size_t components; /* 0: a number, else a list */
  const double *values;
  const char *const *labels;
  const char *doc;
} cb_store_coordinate;

/* The result of a sweep. A coordinate of an axis' own name is its scale. */
typedef struct cb_store_layout {
  const char *title, *sweep; /* its text, with the scenario */
  const char *checked;       /* what was found of its members, as text (sweep/folder.h) */
  const char *digest;        /* of all that the result depends on */
  const cb_store_axis *axes;
  size_t n_axes;
  const cb_store_coordinate *coordinates;
  size_t n_coordinates;
  const cb_dimension *dimensions; /* of the fields */
  size_t n_dimensions;
  const cb_store_field *fields;
  size_t n_fields;
  int64_t members;
  bool goes_on; /* members go on from one another: the store knows what there is of all of them */
} cb_store_layout;

typedef enum cb_member_status { CB_MEMBER_MISSING, CB_MEMBER_DONE, CB_MEMBER_FAILED } cb_member_status;

/* Bytes of a member's results, with its words, and without, and how many values a field has. */
size_t cb_store_bytes(const cb_store_layout *layout);
static inline size_t cb_store_result_bytes(const cb_store_layout *layout) {
  return cb_store_bytes(layout) - 2 * CB_STORE_WORDS;
}
size_t cb_store_field_count(const cb_store_field *field);

/* ---- store.c: the results that a process puts */

typedef struct cb_store cb_store;

/* What has come of a member. */
typedef struct cb_member_result {
  int64_t member;
  cb_member_status status;
  int32_t warned;                                        /* how often */
  char failure[CB_STORE_WORDS], warning[CB_STORE_WORDS]; /* why it failed, the first warning: as cb_store_words */
  double seconds;
  unsigned char *values; /* of the fields, one after another; malloc'd, and then the store's */
  double *state;         /* [states]: what others go on from; the same, or NULL */
  size_t states;
} cb_member_result;

/* What the store knows of a member. */
typedef struct cb_store_row {
  cb_member_status status;
  double *state; /* [states] */
  size_t states;
} cb_store_row;

/* The store of a worker, which has its part of the folder's lock: its segments come after those that it has there. The
 * layout and the folder are borrowed. midst: members in the midst of their runs, whose states go once their results are on
 * the disk; NULL: there are none. */
cb_status cb_store_open(const cb_segments *folder, const cb_store_layout *layout, int worker, const cb_midst *midst,
                        cb_store **out);
/* What was not saved is lost. */
void cb_store_free(cb_store *store);
/* From any thread. Takes the values in any case. */
cb_status cb_store_put(cb_store *store, const cb_member_result *result);
/* Of the newest row of each member, on the disk or put since: of a layout that goes on, in a process of one thread. */
const cb_store_row *cb_store_row_of(const cb_store *store, int64_t member);
/* All that was put to the disk. From any thread. */
cb_status cb_store_save(cb_store *store);
/* As much of a text as fits, which does not end within a character. */
void cb_store_words(const char *text, char words[CB_STORE_WORDS]);

/* ---- survey.c: what segments, and a result, have */

/* A file with results. */
typedef struct cb_store_source {
  char *path;
  uint64_t number; /* of the segment; 0: it is a result, and rows are members */
  size_t rows;
} cb_store_source;

typedef struct cb_survey {
  const cb_store_layout *layout;
  int64_t members;
  uint8_t *status;     /* [members]: cb_member_status */
  uint8_t *warned;     /* [members]: whether it was warned of */
  cb_store_row *known; /* [members], of segments; NULL: the layout does not go on */
  int32_t *source;     /* [members]: which has it; -1: none */
  int32_t *row;
  cb_store_source *sources;
  size_t count;
  double seconds; /* of finished members, together; nan: the result does not say */
} cb_survey;

/* Reads the segments of a folder: a member that is done in one of them is; else it failed. whole: everything in them is
 * read, and a segment that is damaged is set aside, with a warning: its members are missing. */
cb_status cb_survey_take(const cb_segments *folder, const cb_store_layout *layout, bool whole, cb_survey *out);
/* What a result that is no virtual file has of members that are missing. CB_ERROR_INPUT: it is another sweep's. */
cb_status cb_survey_add_result(cb_survey *survey, const char *path);
void cb_survey_free(cb_survey *survey);
/* The words of a failed member, or the first warning of one, from malloc; NULL: none can be read. */
char *cb_survey_failure(const cb_survey *survey, int64_t member);
char *cb_survey_warning(const cb_survey *survey, int64_t member);
/* Puts the members that only a result has into the store. */
cb_status cb_survey_import(const cb_survey *survey, cb_store *store);

/* ---- join.c */

/* Writes the result over the segments of the folder: virtual datasets, or, where no member is missing and `plain`, one
 * plain file of them, unless there is no room for it: *joined. */
cb_status cb_result_write(const cb_segments *folder, const cb_survey *survey, bool plain, bool *joined);
