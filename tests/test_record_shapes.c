/* labels: medium
 * timeout: 900
 *
 * Records in which an array has been put that no record has: sizes up to 2^62, products of them that overflow, other
 * types and layouts; and more groups than anyone needs, in each other and in a ring. Each is read, exported, shown,
 * repaired and resumed, closed or killed: refused by its name, or as it was, within seconds. */
#include "lying_record.h"

#include <curvebody/view.h>

static cb_status go(int way) {
  switch (way) {
    case 0: return cb_record_export_csv(lying, out, NULL);
    case 1: return cb_record_export_xdmf(lying, out, NULL);
    case 2: return cb_view_write(lying, out, NULL);
    case 3: return cb_record_repair(lying, NULL);
    default: return resume_lying();
  }
}

/* Closes the file; all that can be done with it is. */
static void try_all(hid_t file, const char *what) {
  size_t size;
  int refused = 0;
  assert_true(H5Fclose(file) >= 0);
  char *bytes = sample_read(lying, &size);
  for (int way = 0; way < 5; way++) {
    FILE *again = fopen(lying, "wb");
    assert_int_equal(fwrite(bytes, 1, size, again), size);
    fclose(again);
    alarm(60);
    const cb_status status = go(way);
    alarm(0);
    refused += status != CB_OK;
    if (!status) continue;
    assert_true(status == CB_ERROR_INPUT || status == CB_ERROR_FILE || status == CB_ERROR_ARGUMENT);
    assert_memory_equal(cb_error_text(), lying, strlen(lying));
  }
  free(bytes);
  print_message("%s: refused %d of 5\n", what, refused);
}

static void put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims, H5D_layout_t layout) {
  const hsize_t most[4] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED}, chunk[4] = {1, 1, 1, 1};
  const bool chunked = layout == H5D_CHUNKED;
  put_dataset(file, name, type, rank, dims, chunked ? most : NULL, chunked ? chunk : NULL, layout);
}

static const char *const names[] = {"time",
                                    "energy",
                                    "x",
                                    "event",
                                    "event_gap",
                                    "checkpoint/slot0/state",
                                    "checkpoint/slot1/seal",
                                    "checkpoint/row_digest",
                                    "particle_mass",
                                    "bond_i",
                                    "connectivity/bonds",
                                    "particle"};
enum { NAMES = sizeof names / sizeof *names };

static void sizes_that_no_file_has(void **unused) {
  (void)unused;
  static const hsize_t dims[][3] = {{(hsize_t)1 << 28, 2, 3},   {(hsize_t)1 << 40, 2, 3},
                                    {(hsize_t)1 << 62, 1, 1},   {1, (hsize_t)1 << 31, (hsize_t)1 << 31},
                                    {100, (hsize_t)1 << 28, 3}, {(hsize_t)1 << 33, (hsize_t)1 << 16, (hsize_t)1 << 13}};
  for (int n = 0; n < NAMES; n++)
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
      const hid_t file = open_copy();
      const int rank = n == 2 || n == 10 || i > 2 ? 3 : 1;
      char what[100];
      put(file, names[n], H5T_IEEE_F64LE, rank, dims[i], H5D_CHUNKED);
      snprintf(what, sizeof what, "%s of %llu x %llu x %llu", names[n], (unsigned long long)dims[i][0],
               rank > 1 ? (unsigned long long)dims[i][1] : 1, rank > 1 ? (unsigned long long)dims[i][2] : 1);
      try_all(file, what);
    }
}

static void other_types_and_layouts(void **unused) {
  (void)unused;
  enum { TYPES = 7 };
  hid_t compound = H5Tcreate(H5T_COMPOUND, 8), opaque = H5Tcreate(H5T_OPAQUE, 8), words = H5Tcopy(H5T_C_S1),
        list = H5Tvlen_create(H5T_IEEE_F64LE), kinds = H5Tenum_create(H5T_STD_I32LE);
  const int one = 1;
  H5Tinsert(compound, "a", 0, H5T_IEEE_F64LE);
  H5Tset_tag(opaque, "what");
  H5Tset_size(words, H5T_VARIABLE);
  H5Tenum_insert(kinds, "one", &one);
  const hid_t types[TYPES] = {compound, opaque, words, list, kinds, H5T_IEEE_F64BE, H5T_STD_REF_OBJ};
  static const char *const type_name[TYPES] = {"compound", "opaque",     "words",     "lists",
                                               "kinds",    "big endian", "references"};
  static const char *const layout_name[] = {"compact", "contiguous", "chunked"};
  static const hsize_t hundred = 100;
  for (int n = 0; n < NAMES; n++)
    for (int t = 0; t < TYPES; t++)
      for (int layout = H5D_COMPACT; layout <= H5D_CHUNKED; layout++) {
        char what[100];
        const hid_t file = open_copy();
        put(file, names[n], types[t], 1, &hundred, (H5D_layout_t)layout);
        snprintf(what, sizeof what, "%s, %s, %s", names[n], type_name[t], layout_name[layout]);
        try_all(file, what);
      }
  H5Tclose(compound), H5Tclose(opaque), H5Tclose(words), H5Tclose(list), H5Tclose(kinds);
}

static void groups_in_each_other_and_in_a_ring(void **unused) {
  (void)unused;
  hid_t file = open_copy(), in = H5Gopen2(file, "/", H5P_DEFAULT);
  for (int depth = 0; depth < 2000; depth++) {
    const hid_t next = H5Gcreate2(in, "deep", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(in);
    in = next;
  }
  assert_true(H5Lcreate_hard(file, "/", in, "ring", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_hard(file, "checkpoint", in, "time", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  H5Gclose(in);
  try_all(file, "2000 groups in each other, the last of which holds the first");
  file = open_copy();
  for (int i = 0; i < 100000; i++) {
    char name[20];
    snprintf(name, sizeof name, "g%d", i);
    H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  try_all(file, "100000 groups");
}

static void an_attribute_of_megabytes(void **unused) {
  (void)unused;
  const hsize_t many = 1 << 20;
  hid_t file = open_copy(), space = H5Screate_simple(1, &many, NULL);
  double *numbers = calloc(many, sizeof *numbers);
  H5Adelete(file, "completed");
  hid_t attribute = H5Acreate2(file, "completed", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, numbers) >= 0);
  free(numbers);
  H5Aclose(attribute), H5Sclose(space);
  try_all(file, "an attribute of 8 MiB");
}

int main(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of the calls made here */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_that_no_file_has), cmocka_unit_test(other_types_and_layouts),
      cmocka_unit_test(groups_in_each_other_and_in_a_ring), cmocka_unit_test(an_attribute_of_megabytes)};
  return cmocka_run_group_tests(tests, lying_make, lying_remove);
}
