/* Whether a file is a record in itself: everything that can be reached from its root is looked at, once, by the public
 * interface of HDF5.
 *
 * Refused are links to other files, links of a kind that programs define, and soft links where something of the layout
 * should be (others are aliases, and are not followed); datasets whose numbers lie in other files (external storage, a
 * virtual dataset that is not ours), and datasets that a filter passes through other than shuffle, deflate and fletcher32,
 * for which HDF5 would load a plugin.
 */
#include "core/failure.h"
#include "record/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OBJECTS = 20000, DEEPEST = 8, LARGEST_CHUNK = 64 << 20 };

typedef struct walk {
  const char *path;
  const char *in; /* the group that is walked through, from the root */
  int depth, objects;
  bool based; /* it is a segment: what is the same in all may be virtual over number 0 */
} walk;

static cb_status refuse(const walk *w, const char *name, const char *why) {
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: /%s %s", w->path, name, why);
}

static cb_status check_filters(const walk *w, const char *name, hid_t create) {
  const int filters = H5Pget_nfilters(create);
  char why[100];
  for (int f = 0; f < filters; f++) {
    unsigned flags;
    size_t none = 0;
    const H5Z_filter_t filter = H5Pget_filter2(create, (unsigned)f, &flags, &none, NULL, 0, NULL, NULL);
    if (filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_FLETCHER32) continue;
    snprintf(why, sizeof why, "passes through filter %d, expected none but shuffle, deflate and fletcher32",
             (int)filter);
    return refuse(w, name, why);
  }
  return CB_OK;
}

static cb_status check_chunk(const walk *w, const char *name, hid_t dataset, hid_t create) {
  hsize_t chunk[H5S_MAX_RANK];
  const int rank = H5Pget_layout(create) == H5D_CHUNKED ? H5Pget_chunk(create, H5S_MAX_RANK, chunk) : 0;
  const hid_t type = H5Dget_type(dataset);
  uint64_t bytes = H5Tget_size(type);
  H5Tclose(type);
  bool small = true;
  for (int d = 0; d < rank; d++) small = small && cb_times(&bytes, chunk[d]) && bytes <= LARGEST_CHUNK;
  return small ? CB_OK : refuse(w, name, "has chunks of more than 64 MiB");
}

static bool is_based(hid_t create) {
  char name[32] = "";
  size_t count = 0;
  return H5Pget_layout(create) == H5D_VIRTUAL && H5Pget_virtual_count(create, &count) >= 0 && count == 1 &&
         H5Pget_virtual_filename(create, 0, name, sizeof name) > 0 && !strcmp(name, cb_segment_base);
}

static cb_status check_dataset(const walk *w, const char *name, hid_t dataset) {
  const hid_t create = H5Dget_create_plist(dataset);
  const char *elsewhere = w->based && create >= 0 && is_based(create) ? NULL : cb_hdf5_elsewhere(create);
  cb_status status = elsewhere ? refuse(w, name, elsewhere) : check_filters(w, name, create);
  if (!status) status = check_chunk(w, name, dataset, create);
  if (create >= 0) H5Pclose(create);
  return status;
}

static cb_status visit_link(void *context, hid_t group, const char *name, const H5L_info_t *link);

static cb_status check_group(const walk *w, const char *name, hid_t group) {
  walk below = {w->path, name, w->depth + 1, w->objects, w->based};
  return w->depth >= DEEPEST ? refuse(w, name, "lies too deep, expected a record")
                             : cb_hdf5_each_link(group, w->path, H5_INDEX_NAME, visit_link, &below);
}

static cb_status check_object(walk *w, hid_t group, const char *link, const char *name) {
  if (++w->objects > MOST_OBJECTS)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: more than %d objects, expected a record", w->path, MOST_OBJECTS);
  const hid_t object = H5Oopen(group, link, H5P_DEFAULT);
  if (object < 0) return cb_hdf5_fail(w->path, "read /%s", name);
  const H5I_type_t type = H5Iget_type(object);
  cb_status status = CB_OK;
  if (type == H5I_DATASET) status = check_dataset(w, name, object);
  if (type == H5I_GROUP) status = check_group(w, name, object);
  H5Oclose(object);
  return status;
}

static cb_status visit_link(void *context, hid_t group, const char *name, const H5L_info_t *link) {
  walk *w = context;
  char whole[1024];
  if (snprintf(whole, sizeof whole, "%s%s%s", w->in, *w->in ? "/" : "", name) >= (int)sizeof whole)
    return refuse(w, w->in, "has names that are too long");
  if (link->type == H5L_TYPE_HARD) return check_object(w, group, name, whole);
  if (link->type == H5L_TYPE_EXTERNAL) return refuse(w, whole, "is a link to another file");
  if (link->type != H5L_TYPE_SOFT) return refuse(w, whole, "is a link of a kind that records do not have");
  return cb_layout_takes(whole) ? refuse(w, whole, "is a soft link, expected what it leads to") : CB_OK;
}

cb_status cb_record_check_mark(hid_t file, const char *path, int *version) {
  if (H5Aexists(file, "curvebody_record") <= 0)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: an HDF5 file, but not a record of curvebody", path);
  *version = 0;
  if (cb_hdf5_get_numbers(file, ".", "curvebody_record", H5T_INTEGER, H5T_NATIVE_INT, 1, version) &&
      (*version == CB_RECORD_VERSION || *version == CB_RECORD_OLD))
    return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: a record of version %d, expected %d", path, *version,
                        CB_RECORD_VERSION);
}

cb_status cb_record_check(hid_t file, const char *path, bool based) {
  walk w = {path, "", 0, 0, based};
  int version;
  const cb_status status = cb_record_check_mark(file, path, &version);
  return status ? status : cb_hdf5_each_link(file, path, H5_INDEX_NAME, visit_link, &w);
}
