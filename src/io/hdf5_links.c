/* Links of a group, and the dimension scale at the root that a dataset names: by the address of its link, as
 * H5Rdereference would take whatever lies at a reference for an object.
 *
 * HDF5 Dimension Scale Specification (The HDF Group): attribute DIMENSION_LIST, references by dimension. */
#include "core/failure.h"
#include "io/record_hdf5.h"
#include "io/record_superblock.h"

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
    if (l.lacking) status = cb_fail(CB_ERROR_MEMORY, "no memory for the names of %s", path);
    else if (more < 0) status = cb_hdf5_fail(path, "list its arrays");
    for (int i = 0; i < l.count; free(l.name[i++]))
      if (!status) status = visit(context, group, l.name[i], &l.link[i]);
    done += (hsize_t)l.count;
  }
  return status;
}

typedef struct target {
  haddr_t address;
  char *name;
} target;

static cb_status take_name(void *context, hid_t group, const char *name, const H5L_info_t *link) {
  target *t = context;
  (void)group;
  if (!t->name && link->type == H5L_TYPE_HARD && link->u.address == t->address) t->name = strdup(name);
  return CB_OK;
}

char *cb_hdf5_scale_name(hid_t dataset, int rank, int d) {
  static const char list[] = "DIMENSION_LIST"; /* HDF5 Dimension Scale Specification */
  hid_t attribute = cb_hdf5_attribute(dataset, ".", list, H5T_VLEN, (size_t)rank);
  if (attribute < 0) return NULL;
  hid_t type = H5Aget_type(attribute), of = H5Tget_super(type);
  size_t bytes = 0;
  char *reference = NULL;
  if (H5Tequal(of, H5T_STD_REF_OBJ) > 0) reference = cb_hdf5_varying_attribute(dataset, list, (size_t)d, 8, &bytes);
  H5Tclose(of);
  H5Tclose(type);
  H5Aclose(attribute);
  target t = {HADDR_UNDEF, NULL};
  if (reference && bytes >= 8) t.address = cb_little_endian((const unsigned char *)reference, 8);
  free(reference);
  hid_t file = H5Iget_file_id(dataset);
  if (t.address != HADDR_UNDEF) cb_hdf5_each_link(file, "", H5_INDEX_NAME, take_name, &t);
  H5Fclose(file);
  return t.name;
}
