/* A worker's file: the results of its members, each in a slot.
 *
 * Plain HDF5, whose datasets are contiguous and have their places from the start: values missing (nan; 0 for integers
 * and texts) until they are written, straight to those places. Nothing else of the file ever changes, so that any
 * reader opens it at any moment, and a kill leaves it whole.
 *
 *   /member[slot]            int64; -1: of none
 *   /status[slot]            int32; written last
 *   /digest[slot]            int32: of the member and all its values. A slot whose digest is not that of its values was
 *                            torn by a loss of power: the member is missing
 *   /failure[slot, letter]   why it failed
 *   /warned[slot]            int32: how often it was warned of
 *   /warning[slot, letter]   the first of these warnings; stores of before there were any have neither
 *   /seconds[slot]           its own time, of no interest to the result
 *   /NAME[slot, ...]         the fields of the result
 *
 * While a store is open NAME.lock beside it is locked: it has one writer. Values of different members may be written by
 * different threads. Slots are taken by one thread at a time.
 */
#ifndef CB_SWEEP_STORE_H
#define CB_SWEEP_STORE_H

#include <curvebody/sink.h>

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
} cb_store_layout;

typedef enum cb_member_status { CB_MEMBER_MISSING, CB_MEMBER_DONE, CB_MEMBER_FAILED } cb_member_status;

/* Bytes of a member in a store, and of one value of a field. */
size_t cb_store_bytes(const cb_store_layout *layout);
size_t cb_store_field_count(const cb_store_field *field);

typedef struct cb_store cb_store;

/* Makes the store at path with `capacity` slots, or opens the one that is there. first >= 0: its slots are those of
 * members first .. first + capacity; else they are taken as members come, and what is not done is free again. The
 * layout is borrowed. CB_ERROR_FILE: it cannot be written (no room: said with sizes), or another sweep writes it;
 * CB_ERROR_INPUT: what is there is no store, or another sweep's. */
cb_status cb_store_open(const char *path, const cb_store_layout *layout, size_t capacity, int64_t first,
                        cb_store **out);
void cb_store_free(cb_store *store);

/* How many members more it has room for. */
size_t cb_store_room(const cb_store *store);
/* Takes slots for members [first, first + n), where they have none yet. */
cb_status cb_store_lease(cb_store *store, int64_t first, size_t n);
/* Whether it has a slot. */
bool cb_store_has(cb_store *store, int64_t member);
/* What has come of some members that have slots. */
typedef struct cb_store_results {
  size_t n;
  const int64_t *member;
  const int32_t *status;               /* cb_member_status */
  const char (*words)[CB_STORE_WORDS]; /* why it failed, not ended where it is as long as that */
  const double *seconds;
  const unsigned char *const *values; /* [fields]: of all of them, one after another */
} cb_store_results;
/* Members of consecutive slots are written at once, values before digests and these before what says that they are. */
cb_status cb_store_put(cb_store *store, const cb_store_results *results);
/* How often members that have slots were warned of, and the first of it, as `words`; before their results are put. */
cb_status cb_store_put_warnings(cb_store *store, size_t n, const int64_t *member, const int32_t *warned,
                                const char (*warning)[CB_STORE_WORDS]);
/* As much of a text as fits, which does not end within a character. */
void cb_store_words(const char *text, char words[CB_STORE_WORDS]);
/* To the disk. */
cb_status cb_store_sync(cb_store *store);

/* What the stores of a folder have. */
typedef struct cb_survey {
  int64_t members;
  uint8_t *status; /* [members]: cb_member_status */
  int32_t *store;  /* [members]: which has it; -1: none */
  int32_t *slot;
  char **name; /* [stores]: file names */
  size_t stores;
  double seconds; /* of finished members, together */
  uint8_t *warned; /* [members]: whether it was warned of */
} cb_survey;

/* Reads the stores of a folder. A member that is done in one of them is; else failed; else its last place is known.
 * whole: digests are compared with values. */
cb_status cb_survey_take(const char *folder, const cb_store_layout *layout, bool whole, cb_survey *out);
void cb_survey_free(cb_survey *survey);
/* The words of a failed member, or the first warning of one, from malloc; NULL: none can be read. */
char *cb_survey_words(const char *folder, const cb_store_layout *layout, const cb_survey *survey, int64_t member);
char *cb_survey_warning(const char *folder, const cb_store_layout *layout, const cb_survey *survey, int64_t member);

/* Writes `path`, virtual datasets over the stores of `folder`, which is named as seen from path's own folder. The same
 * stores give the same bytes. */
cb_status cb_join(const char *path, const char *folder, const cb_store_layout *layout, const cb_survey *survey);

#endif
