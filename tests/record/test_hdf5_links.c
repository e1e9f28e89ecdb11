/* Tests that each link of a group is visited once, by name or in the order of creation, for any number of links and any
 * storage of the group, until a visit fails. */
#include "hdf5_file.h"

enum { MAXIMUM = 200, COMPACT = 0, DENSE = 1, OLD = 2, WAYS = 3 };

static const int counts[] = {0, 1, 8, 9, 63, 64, 65, 128, 129, MAXIMUM};

/* Makes names whose order is neither alphabetical nor by length. */
static void name_of(int i, char name[16]) { snprintf(name, 16, "%c%d", 'a' + i * 7 % 26, i); }

static hid_t make(int way, int count) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_GROUP_CREATE), space = H5Screate(H5S_SCALAR);
  if (way != OLD) {
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_link_phase_change(how, way == COMPACT ? MAXIMUM : 0, 0);
  }
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access),
              group = H5Gcreate2(file, "g", H5P_DEFAULT, how, H5P_DEFAULT);
  H5Lcreate_soft("/there/or/elsewhere", group, "gap", H5P_DEFAULT, H5P_DEFAULT); /* this link is removed before the last
                                                                                  * one is created */
  for (int i = 0; i < count; i++) {
    char name[16];
    name_of(i, name);
    if (i == count - 1) H5Ldelete(group, "gap", H5P_DEFAULT);
    if (i % 3)
      H5Dclose(H5Dcreate2(group, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    else
      H5Lcreate_soft("/there", group, name, H5P_DEFAULT, H5P_DEFAULT);
  }
  if (!count) H5Ldelete(group, "gap", H5P_DEFAULT);
  H5Gclose(group);
  H5Sclose(space);
  H5Pclose(how);
  H5Pclose(access);
  return file;
}

typedef struct seen {
  int times[MAXIMUM], visits, last; /* last: the number of the visit that fails */
  bool in_order;
} seen;

static cb_status visit(void *context, hid_t group, const char *name, const H5L_info_t *link) {
  seen *s = context;
  const int i = atoi(name + 1);
  char whole[16];
  H5L_info_t info;
  assert_in_range(i, 0, MAXIMUM - 1);
  name_of(i, whole);
  assert_string_equal(name, whole);
  assert_true(H5Lget_info(group, name, &info, H5P_DEFAULT) >= 0);
  assert_int_equal(link->type, info.type);
  assert_int_equal(link->type, i % 3 ? H5L_TYPE_HARD : H5L_TYPE_SOFT);
  if (i % 3) assert_int_equal(link->u.address, info.u.address);
  s->in_order &= i == s->visits;
  s->times[i]++;
  return s->visits++ == s->last ? cb_fail(CB_ERROR_INPUT, "no more") : CB_OK;
}

static void each_is_visited_once(void **unused) {
  for (int way = 0; way < WAYS; way++)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
      for (int made = 0; made < (way == OLD ? 1 : 2); made++) {
        const hid_t file = make(way, counts[c]), group = H5Gopen2(file, "g", H5P_DEFAULT);
        seen s = {.last = MAXIMUM, .in_order = true};
        check_ok(cb_hdf5_each_link(group, path, made ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, visit, &s));
        assert_int_equal(s.visits, counts[c]);
        for (int i = 0; i < counts[c]; i++) assert_int_equal(s.times[i], 1);
        if (made) assert_true(s.in_order);
        H5Gclose(group);
        H5Fclose(file);
      }
}

static void a_visit_that_fails_is_the_last(void **unused) {
  static const int last[] = {0, 63, 64, MAXIMUM - 1};
  for (int way = 0; way < WAYS; way++)
    for (size_t k = 0; k < sizeof last / sizeof *last; k++) {
      const hid_t file = make(way, MAXIMUM), group = H5Gopen2(file, "g", H5P_DEFAULT);
      seen s = {.last = last[k]};
      assert_int_equal(cb_hdf5_each_link(group, path, H5_INDEX_NAME, visit, &s), CB_ERROR_INPUT);
      assert_string_equal(cb_error_text(), "no more");
      assert_int_equal(s.visits, last[k] + 1);
      H5Gclose(group);
      H5Fclose(file);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_visited_once),
                                     cmocka_unit_test(a_visit_that_fails_is_the_last)};
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
