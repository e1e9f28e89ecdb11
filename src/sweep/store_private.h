/* The columns of results in segments and in the result. The files that write and read results share this header. */
#pragma once

#include "record/internal.h"
#include "sweep/store.h"

enum { CB_STORE_STATUS, CB_STORE_FAILURE, CB_STORE_WARNED, CB_STORE_WARNING, CB_STORE_OWN, CB_STORE_AXES = 16 };

/* A column with one value per member: the status, failure or warnings of the member, or a field of its result. */
typedef struct cb_store_column {
  const char *name;
  hid_t file_type, memory_type;
  int rank; /* rank of the value of one member */
  hsize_t shape[CB_STORE_RANK];
  const char *const *dims;
  const char *units, *doc;
  size_t bytes; /* bytes per member */
  bool is_text; /* characters, padded with 0 */
  bool is_real; /* missing values are nan; otherwise 0 */
} cb_store_column;

/* Return the number of columns, and column c. The columns that every sweep has come first; the fields follow. */
size_t cb_store_columns(const cb_store_layout *layout);
cb_store_column cb_store_column_of(const cb_store_layout *layout, size_t c);

/* Opens a segment from an image in memory, so that errors of the operating system are reported and do not reach HDF5.
 * The caller closes it. */
cb_status cb_segment_open(const char *path, hid_t *file);

static const char cb_store_mark[] = "sweep_digest";

/* Divides the members [m, end) of a grid into boxes: each is the largest box of consecutive members that begins at its
 * first member m. Calls visit for each box with its start and size along the axes, its first member and its number of
 * members. */
typedef bool (*cb_store_box)(void *context, const hsize_t *start, const hsize_t *count, int64_t m, size_t n);
bool cb_store_boxes(const cb_store_layout *layout, int64_t m, int64_t end, cb_store_box visit, void *context);
