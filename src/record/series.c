/* The datasets of a record that grow: all at the root whose first dimension is unlimited. Those named event or event_...
 * grow with the events, the others with the rows.
 */
#include "core/failure.h"
#include "record/internal.h"
#include <string.h>

/* Whether dataset grows, and its length. */
static bool is_series(hid_t dataset, uint64_t *length) {
  hid_t space = H5Dget_space(dataset);
  hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
  int rank = H5Sget_simple_extent_dims(space, dims, most);
  H5Sclose(space);
  if (rank < 1 || rank > 4 || most[0] != H5S_UNLIMITED) return false;
  *length = dims[0];
  return true;
}

typedef struct series_visit {
  const char *path;
  cb_series_visit function;
  void *context;
} series_visit;

static cb_status visit_object(const series_visit *visit, hid_t object, const char *name, bool is_event) {
  if (object < 0)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s cannot be opened: the file is damaged", visit->path, name);
  uint64_t length;
  cb_status status = CB_OK;
  if (H5Iget_type(object) == H5I_DATASET && is_series(object, &length))
    status = visit->function(visit->context, object, name, is_event);
  H5Oclose(object);
  return status;
}

/* A link of the root; soft ones (aliases) are passed over. */
static cb_status visit_link(void *context, hid_t file, const char *name, const H5L_info_t *link) {
  if (link->type != H5L_TYPE_HARD) return CB_OK;
  const bool is_event = !strcmp(name, "event") || !strncmp(name, "event_", 6);
  return visit_object(context, H5Oopen(file, name, H5P_DEFAULT), name, is_event);
}

cb_status cb_series_each(hid_t file, const char *path, cb_series_visit function, void *context) {
  series_visit visit = {path, function, context};
  return cb_hdf5_each_link(file, path, H5_INDEX_CRT_ORDER, visit_link, &visit);
}

typedef struct extent {
  cb_record_position whole;
  bool rows, events;
} extent;

static cb_status shorten(void *context, hid_t dataset, const char *name, bool is_event) {
  extent *e = context;
  uint64_t length = 0, *whole = is_event ? &e->whole.events : &e->whole.rows;
  bool *seen = is_event ? &e->events : &e->rows;
  (void)name;
  is_series(dataset, &length);
  if (!*seen || length < *whole) *whole = length;
  *seen = true;
  return CB_OK;
}

cb_status cb_series_extent(hid_t file, const char *path, cb_record_position *whole) {
  extent e = {.rows = false};
  const cb_status status = cb_series_each(file, path, shorten, &e);
  whole->rows = e.whole.rows;
  whole->events = e.whole.events;
  return status;
}
