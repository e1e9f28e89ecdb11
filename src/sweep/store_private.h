/* The columns of results, as segments and the result have them. Shared by the files that write and read them. */
#pragma once

#include "record/internal.h"
#include "sweep/store.h"

enum { CB_STORE_STATUS, CB_STORE_FAILURE, CB_STORE_WARNED, CB_STORE_WARNING, CB_STORE_OWN, CB_STORE_AXES = 16 };

/* A column: one of the sweep's own, or a field. */
typedef struct cb_store_column {
  const char *name;
  hid_t file_type, memory_type;
  int rank; /* of a member's value */
  hsize_t shape[CB_STORE_RANK];
  const char *const *dims;
  const char *units, *doc;
  size_t bytes; /* of a member */
  bool is_text; /* letters, 0 where there are none */
  bool is_real; /* missing values are nan; else 0 */
} cb_store_column;

size_t cb_store_columns(const cb_store_layout *layout);
cb_store_column cb_store_column_of(const cb_store_layout *layout, size_t c);

/* Opens a segment from its image: the system's failures are told, and HDF5 does not meet them. The caller closes it. */
cb_status cb_segment_open(const char *path, hid_t *file);

static const char cb_store_mark[] = "sweep_digest";

/* Members [m, end) of a grid are boxes, each the longest that begins at m along one axis: calls visit for each, with its
 * start and size along the axes, and its first member. */
typedef bool (*cb_store_box)(void *context, const hsize_t *start, const hsize_t *count, int64_t m, size_t n);
bool cb_store_boxes(const cb_store_layout *layout, int64_t m, int64_t end, cb_store_box visit, void *context);
