/* Links of a group, and the dimension scale that a dataset names (HDF5 Dimension Scale Specification, The HDF Group). */
#include "core/failure.h"
#include "record/hdf5.h"

#include <hdf5_hl.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_AT_ONCE = 64 };

typedef struct links {
  char *name[LINKS_AT_ONCE];
  H5L_info_t link[LINKS_AT_ONCE];
  int count;
  bool lacking; /* memory for a name */
} links;

static herr_t take_link(hid_t group, const char *name, const H5L_info_t *link, void *context) {
  links *l = context;
  (void)group;
  if (l->count == LINKS_AT_ONCE) return 1;
  if (!(l->name[l->count] = strdup(name))) return l->lacking = true, 1;
  l->link[l->count++] = *link;
  return 0;
}

/* Some at once, as HDF5 lets no other thread in while it goes through them. In the order in which those of a dense group
 * lie, which is that of their index: in another H5Literate makes a table of all first, and frees what it has not yet filled
 * of it in a damaged file. */
cb_status cb_hdf5_each_link(hid_t group, const char *path, H5_index_t by, cb_hdf5_link_visit visit, void *context) {
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) return cb_hdf5_fail(path, "list its arrays");
  const bool as_they_lie = by == H5_INDEX_NAME || info.storage_type == H5G_STORAGE_TYPE_DENSE;
  const H5_iter_order_t order = as_they_lie ? H5_ITER_NATIVE : H5_ITER_INC;
  cb_status status = CB_OK;
  herr_t more = info.nlinks > 0;
  for (hsize_t done = 0; more && !status;) {
    links l;
    l.count = 0, l.lacking = false;
    hsize_t from = done;
    more = H5Literate(group, by, order, &from, take_link, &l);
    if (l.lacking)
      status = cb_fail(CB_ERROR_MEMORY, "no memory for the names of %s", path);
    else if (more < 0)
      status = cb_hdf5_fail(path, "list its arrays");
    for (int i = 0; i < l.count; free(l.name[i++]))
      if (!status) status = visit(context, group, l.name[i], &l.link[i]);
    done += (hsize_t)l.count;
  }
  return status;
}

static herr_t take_scale(hid_t dataset, unsigned d, hid_t scale, void *context) {
  char name[256] = "";
  (void)dataset, (void)d;
  const ssize_t length = H5DSget_scale_name(scale, name, sizeof name);
  *(char **)context = length > 0 && length < (ssize_t)sizeof name ? strdup(name) : NULL;
  return 1;
}

char *cb_hdf5_scale_name(hid_t dataset, int rank, int d) {
  char *name = NULL;
  (void)rank;
  const bool scale = H5DSis_scale(dataset) > 0;
  if (!scale && H5DSget_num_scales(dataset, (unsigned)d) > 0)
    H5DSiterate_scales(dataset, (unsigned)d, NULL, take_scale, &name);
  return name;
}
