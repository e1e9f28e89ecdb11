/* labels: short
 * Types as HDF5 writes them are taken, whole; what is cut off, or says of its parts what cannot be, is refused. */
#include "check.h"

#include "io/record_superblock.h"
#include "io/record_type.h"
#include <hdf5.h>

enum { MOST = 4096, ENCODED = 2 /* bytes of H5Tencode before the message */ };
static unsigned char bytes[MOST];
static size_t n_bytes;

/* As in a file of the oldest or the newest format. Takes the type. */
static void encode(hid_t type, bool newest) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const H5F_libver_t bound = newest ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST;
  H5Pset_fapl_core(access, 1 << 16, false);
  H5Pset_libver_bounds(access, bound, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate("types", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  assert_true(H5Tcommit2(file, "t", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
  unsigned char all[MOST];
  size_t size = 0;
  assert_true(H5Tencode(type, NULL, &size) >= 0 && size <= sizeof all && H5Tencode(type, all, &size) >= 0);
  n_bytes = size - ENCODED;
  memcpy(bytes, all + ENCODED, n_bytes);
  H5Tclose(type), H5Fclose(file), H5Pclose(access);
}

static hid_t a_text(size_t size) {
  const hid_t text = H5Tcopy(H5T_C_S1);
  assert_true(H5Tset_size(text, size) >= 0);
  return text;
}

static hid_t opaque(void) {
  const hid_t type = H5Tcreate(H5T_OPAQUE, 5);
  H5Tset_tag(type, "a tag");
  return type;
}

static hid_t compound(hid_t inner) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 12 + H5Tget_size(inner));
  H5Tinsert(type, "a", 0, H5T_STD_I32LE);
  H5Tinsert(type, "a longer name", 4, inner);
  H5Tinsert(type, "c", 4 + H5Tget_size(inner), H5T_IEEE_F64BE);
  H5Tclose(inner);
  return type;
}

static hid_t enumeration(void) {
  const hid_t type = H5Tenum_create(H5T_STD_I16LE);
  for (int16_t i = 0; i < 5; i++) {
    const char name[] = {(char)('a' + i), 0};
    H5Tenum_insert(type, name, &i);
  }
  return type;
}

static hid_t array(hid_t inner, unsigned rank) {
  const hsize_t extents[H5S_MAX_RANK] = {2, 3, 1, 2};
  const hid_t type = H5Tarray_create2(inner, rank, extents);
  H5Tclose(inner);
  return type;
}

static hid_t varying(hid_t inner) {
  const hid_t type = H5Tvlen_create(inner);
  H5Tclose(inner);
  return type;
}

static hid_t type_of(int kind) {
  switch (kind) {
    case 0: return H5Tcopy(H5T_STD_I8LE);
    case 1: return H5Tcopy(H5T_STD_U64BE);
    case 2: return H5Tcopy(H5T_IEEE_F32LE);
    case 3: return H5Tcopy(H5T_NATIVE_LDOUBLE);
    case 4: return a_text(7);
    case 5: return a_text(H5T_VARIABLE);
    case 6: return H5Tcopy(H5T_STD_B16LE);
    case 7: return opaque();
    case 8: return H5Tcopy(H5T_STD_REF_OBJ);
    case 9: return H5Tcopy(H5T_STD_REF_DSETREG);
    case 10: return enumeration();
    case 11: return array(H5Tcopy(H5T_IEEE_F64LE), 4);
    case 12: return varying(H5Tcopy(H5T_STD_REF_OBJ));
    case 13: return compound(H5Tcopy(H5T_STD_REF_OBJ));
    case 14: return compound(array(enumeration(), 2));
    case 15: return compound(compound(varying(a_text(3))));
    case 16: return array(compound(a_text(300)), 1);
    case 17: return H5Tcopy(H5T_UNIX_D32LE);
    default: return H5I_INVALID_HID;
  }
}

static void types_of_hdf5_are_taken_and_parts_of_them_are_not(void **unused) {
  (void)unused;
  hid_t type;
  for (int newest = 0; newest < 2; newest++)
    for (int kind = 0; (type = type_of(kind)) >= 0; kind++) {
      encode(type, newest);
      const char *fault = cb_type_fault(bytes, n_bytes);
      if (fault) fail_msg("kind %d, newest %d: %s", kind, newest, fault);
      for (size_t n = 0; n < n_bytes; n++) {
        unsigned char *cut = malloc(n + 1); /* for the sanitizer, which sees what is read behind it */
        memcpy(cut + 1, bytes, n);
        if (!cb_type_fault(cut + 1, n)) fail_msg("kind %d, newest %d: cut to %zu of %zu", kind, newest, n, n_bytes);
        free(cut);
      }
    }
}

static void put(size_t at, int count, uint64_t number) { cb_put_little_endian(bytes + at, count, number); }

static void check_refused(void) {
  const char *fault = cb_type_fault(bytes, n_bytes);
  assert_non_null(fault);
  assert_string_equal(fault, "has a type that cannot be read");
}

static void what_cannot_be_is_refused(void **unused) {
  (void)unused;
  static const struct {
    int kind, newest;
    size_t at;
    int count;
    uint64_t number;
  } lie[] = {
      {0, 0, 4, 4, 0},         /* of no size */
      {0, 0, 0, 1, 0x1b},      /* of a class that there is not */
      {0, 0, 0, 1, 0x40},      /* of a version that there is not */
      {0, 0, 8, 2, 1},         /* bits 1 to 8 of 8 */
      {0, 0, 10, 2, 0},        /* no bits */
      {2, 0, 2, 1, 32},        /* the sign is bit 32 of 32 */
      {2, 0, 12, 1, 25},       /* an exponent of 8 bits from the 25th on */
      {2, 0, 15, 1, 33},       /* a mantissa of 33 */
      {8, 0, 4, 4, 4},         /* a reference of four bytes */
      {9, 0, 4, 4, 8},         /* to a region, of eight */
      {10, 1, 4, 4, 4},        /* of another size than its numbers */
      {11, 1, 8, 1, 33},       /* of more ranks than there are */
      {11, 1, 8, 1, 0},        /* of none */
      {11, 1, 9, 4, 3},        /* of more numbers than have room */
      {13, 1, 8 + 2, 1, 17},   /* a member that begins in it and ends behind it */
      {13, 0, 8 + 8, 4, 18},   /* the same, of the older format */
      {13, 0, 8 + 8 + 4, 1, 5} /* a member of five ranks */
  };
  for (size_t i = 0; i < sizeof lie / sizeof *lie; i++) {
    encode(type_of(lie[i].kind), lie[i].newest);
    assert_null(cb_type_fault(bytes, n_bytes));
    put(lie[i].at, lie[i].count, lie[i].number);
    if (!cb_type_fault(bytes, n_bytes)) fail_msg("lie %zu is believed", i);
    check_refused();
  }
}

/* A number, in as many others: of varying length, or arrays of one. */
static void wrap(int times, int head, void (*put_head)(size_t at)) {
  encode(H5Tcopy(H5T_STD_I32LE), false);
  memmove(bytes + times * head, bytes, n_bytes);
  for (int i = 0; i < times; i++) put_head((size_t)(i * head));
  n_bytes += (size_t)(times * head);
}

static void put_varying(size_t at) { put(at, 4, 0x19), put(at + 4, 4, 16); }

/* Each takes eight bytes, and HDF5 a call. */
static void types_of_types_without_end_are_refused(void **unused) {
  (void)unused;
  wrap(15, 8, put_varying);
  assert_null(cb_type_fault(bytes, n_bytes));
  wrap(16, 8, put_varying);
  check_refused();
  wrap(300, 8, put_varying);
  check_refused();
}

/* HDF5 has room for 32. */
static void arrays_of_more_ranks_than_hdf5_has_are_refused(void **unused) {
  (void)unused;
  for (int rank = 31; rank < 35; rank++) {
    encode(H5Tcopy(H5T_STD_I32LE), false);
    memmove(bytes + 9 + 4 * rank, bytes, n_bytes);
    put(0, 4, 0x3a), put(4, 4, 4), put(8, 1, (uint64_t)rank);
    for (int d = 0; d < rank; d++) put(9 + 4 * (size_t)d, 4, 1);
    n_bytes += 9 + 4 * (size_t)rank;
    if (rank <= 32)
      assert_null(cb_type_fault(bytes, n_bytes));
    else
      check_refused();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(types_of_hdf5_are_taken_and_parts_of_them_are_not),
                                     cmocka_unit_test(what_cannot_be_is_refused),
                                     cmocka_unit_test(types_of_types_without_end_are_refused),
                                     cmocka_unit_test(arrays_of_more_ranks_than_hdf5_has_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
