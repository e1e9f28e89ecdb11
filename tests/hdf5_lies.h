/* Groups of many links and objects of many attributes, and changes to their file of which the checksums are right. */
#ifndef CB_TESTS_HDF5_LIES_H
#define CB_TESTS_HDF5_LIES_H

#include "hdf5_file.h"

#include "io/record_hdf5.h"
#include "io/record_structure.h"
#include "io/record_superblock.h"

/* Links in a group "g", attributes of it: each in a tree from the first on. long_one: one of more than a heap takes. */
static inline void make(int links, int attributes, bool by_order, bool long_one) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_GROUP_CREATE);
  const unsigned order = by_order ? H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED : 0;
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_link_phase_change(how, 0, 0), H5Pset_attr_phase_change(how, 0, 0);
  H5Pset_link_creation_order(how, order), H5Pset_attr_creation_order(how, order);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access),
              group = H5Gcreate2(file, "g", H5P_DEFAULT, how, H5P_DEFAULT);
  char name[32];
  for (int i = 0; i < links; i++) {
    snprintf(name, sizeof name, "link %d", i);
    assert_true(H5Lcreate_soft("/g", group, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
  }
  const hid_t one = H5Screate(H5S_SCALAR), many = H5Screate_simple(1, (const hsize_t[]){1000}, NULL);
  for (int i = 0; i < attributes; i++) {
    snprintf(name, sizeof name, "attribute %d", i);
    H5Aclose(H5Acreate2(group, name, H5T_STD_I64LE, one, H5P_DEFAULT, H5P_DEFAULT));
  }
  if (long_one) H5Aclose(H5Acreate2(group, "long", H5T_STD_I64LE, many, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(one), H5Sclose(many), H5Gclose(group), H5Pclose(how), H5Pclose(access), H5Fclose(file);
}

static inline const char *fault(void) {
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY);
  assert_true(file >= 0);
  const char *found = cb_structure_fault_at(file, "g");
  H5Fclose(file);
  cb_hdf5_quiet_end(quiet);
  return found;
}

static unsigned char *bytes;
static size_t n_bytes;

/* The n'th part of that name; 0: there is none. */
static inline size_t part(const char *name, int n) {
  for (size_t at = 0; at + 40 < n_bytes; at++)
    if (!memcmp(bytes + at, name, 5) && n-- == 0) return at;
  return 0;
}

static inline void read_all(void) {
  FILE *f = fopen(path, "rb");
  fseek(f, 0, SEEK_END);
  n_bytes = (size_t)ftell(f);
  rewind(f);
  free(bytes);
  bytes = malloc(n_bytes);
  assert_int_equal(fread(bytes, 1, n_bytes, f), n_bytes);
  fclose(f);
}

/* A byte of a part is another; its checksum, which is somewhere behind, is right again. */
static inline void lie(size_t at, size_t place, unsigned char byte) {
  size_t end = at + place + 1;
  while (end + 4 < n_bytes && cb_lookup3(bytes + at, end - at) != cb_little_endian(bytes + end, 4)) end++;
  assert_true(end + 4 < n_bytes);
  bytes[at + place] = byte;
  cb_put_little_endian(bytes + end, 4, cb_lookup3(bytes + at, end - at));
  write_bytes(bytes, n_bytes);
}

static inline int end(void **state) {
  free(bytes);
  return remove_path(state);
}

#endif
