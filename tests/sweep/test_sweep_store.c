/* Tests of the files of the results of sweeps. Every stored member can be read from segments and from the joined file,
 * for any worker and any order. The joined file is always the same, bit for bit. Damaged segments are renamed and not
 * read. Locks exclude other processes, and files of other programs are rejected. */
#include "check.h"

#include "numerics/random.h"
#include "sweep/store.h"

#include <hdf5.h>
#include <unistd.h>

enum { A = 5, B = 4, C = 3, MEMBERS = A * B * C, PARTS = 3, STORES = 4 };

static const cb_store_axis axes[] = {{"a", A}, {"b", B}, {"c", C}};
static const double a_values[A] = {1, 2, 4, 8, 16};
static const char *const b_labels[B] = {"one", "two", "three", "four"};
static const cb_store_coordinate coordinates[] = {{.name = "a", .axis = 0, .values = a_values, .doc = "a number"},
                                                  {.name = "b", .axis = 1, .labels = b_labels, .doc = "a word"}};
static const cb_dimension dimensions[] = {{.name = "part", .count = PARTS, .doc = "of a vector"}};
static const cb_store_field fields[] = {{"top", CB_FIELD_DOUBLE, 0, {NULL}, {0}, "1", "a number"},
                                        {"vector", CB_FIELD_DOUBLE, 1, {"part"}, {PARTS}, "m", "some numbers"},
                                        {"count", CB_FIELD_INT64, 0, {NULL}, {0}, "1", "an integer"},
                                        {"small", CB_FIELD_INT32, 0, {NULL}, {0}, "1", "a small one"}};
static const cb_store_layout layout = {.title = "a title",
                                       .sweep = "text: of the sweep\n",
                                       .checked = "rows 1\n",
                                       .digest = "digest",
                                       .axes = axes,
                                       .n_axes = 3,
                                       .coordinates = coordinates,
                                       .n_coordinates = 2,
                                       .dimensions = dimensions,
                                       .n_dimensions = 1,
                                       .fields = fields,
                                       .n_fields = 4,
                                       .members = MEMBERS};

static char joined[300];
static cb_segments folder;

static int make(void **unused) {
  snprintf(joined, sizeof joined, "%s/sweep_store_%d.h5", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
  return cb_segments_name(joined, &folder) || cb_segments_take(&folder);
}
static int unmake(void **unused) {
  cb_segments_leave(&folder, true);
  remove(joined);
  return 0;
}

static void remove_all(void) {
  assert_int_equal(cb_segments_cut(&folder, 0), 0);
  remove(joined);
}

static double top_of(int64_t m) { return 1.5 * (double)m + 0.25; }

/* Stores a member. The last of every ten members has failed. */
static void put(cb_store *store, int64_t m) {
  struct __attribute__((packed)) {
    double top, vector[PARTS];
    int64_t count;
    int32_t small;
  } values = {.count = 7 * m, .small = (int32_t)-m};
  cb_member_result r = {.member = m, .status = m % 10 == 9 ? CB_MEMBER_FAILED : CB_MEMBER_DONE, .seconds = 0.5};
  values.top = r.status == CB_MEMBER_DONE ? top_of(m) : NAN;
  for (int k = 0; k < PARTS; k++) values.vector[k] = top_of(m) + k;
  cb_store_text(r.status == CB_MEMBER_FAILED ? "the step failed" : "", r.failure);
  r.values = malloc(sizeof values);
  memcpy(r.values, &values, sizeof values);
  check_ok(cb_store_put(store, &r));
}

static void read_all(hid_t file, const char *name, hid_t type, void *out) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(set >= 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
  H5Dclose(set);
}

/* Checks that the joined result has the members for which done[m] is set, and no others. */
static void check_joined(const bool *done) {
  const hid_t file = H5Fopen(joined, H5F_ACC_RDONLY, H5P_DEFAULT);
  double top[MEMBERS], vector[MEMBERS][PARTS];
  int64_t count[MEMBERS];
  int status[MEMBERS];
  assert_true(file >= 0);
  read_all(file, "top", H5T_NATIVE_DOUBLE, top);
  read_all(file, "vector", H5T_NATIVE_DOUBLE, vector);
  read_all(file, "count", H5T_NATIVE_INT64, count);
  read_all(file, "status", H5T_NATIVE_INT, status);
  for (int m = 0; m < MEMBERS; m++) {
    const bool failed = m % 10 == 9;
    assert_int_equal(status[m], !done[m] ? CB_MEMBER_MISSING : failed ? CB_MEMBER_FAILED : CB_MEMBER_DONE);
    assert_true(done[m] && !failed ? top[m] == top_of(m) : isnan(top[m]));
    for (int k = 0; k < PARTS; k++) assert_true(done[m] ? vector[m][k] == top_of(m) + k : isnan(vector[m][k]));
    assert_int_equal(count[m], done[m] ? 7 * m : 0);
  }
  H5Fclose(file);
}

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(*size);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  fclose(file);
  return bytes;
}

/* Joins the existing segments into the result; `plain` requests a plain file. Checks that the result is a plain file if
 * and only if `expected` is true. */
static void show(bool plain, bool expected) {
  cb_results_scan scan;
  bool is_plain;
  check_ok(cb_results_scan_read(&folder, &layout, true, &scan));
  check_ok(cb_result_write(&folder, &scan, plain, &is_plain));
  assert_int_equal(is_plain, expected);
  cb_results_scan_free(&scan);
}

/* Members are stored in any order by any worker and saved at any time, some of them twice. They are joined to the
 * complete grid, first as virtual datasets and then as a plain file, which is always bit for bit the same. */
static void segments_joined_are_the_whole(void **unused) {
  uint64_t seed = check_seed();
  uint8_t *first = NULL;
  size_t first_size = 0;
  for (int turn = 0; turn < 12; turn++) {
    cb_store *store[STORES];
    bool done[MEMBERS] = {false};
    remove_all();
    for (int s = 0; s < STORES; s++) check_ok(cb_store_open(&folder, &layout, s, NULL, &store[s]));
    for (int round = 0; round < 2; round++) {
      for (int64_t m = 0; m < MEMBERS;) {
        const int64_t n = 1 + (int64_t)(cb_uniform(&seed) * (turn % 3 ? 25 : 4)),
                      end = m + n < MEMBERS ? m + n : MEMBERS;
        cb_store *to = store[(int)(cb_uniform(&seed) * STORES)];
        for (int64_t k = end; k-- > m;) {
          if (round ? done[k] && cb_uniform(&seed) < 0.9 : cb_uniform(&seed) < 0.2) continue;
          put(to, k);
          done[k] = true;
        }
        m = end;
        if (cb_uniform(&seed) < 0.3) check_ok(cb_store_save(to));
      }
      for (int s = 0; s < STORES; s++) check_ok(cb_store_save(store[s]));
      show(round == 1, round == 1);
      check_joined(done);
    }
    for (int s = 0; s < STORES; s++) cb_store_free(store[s]);
    size_t size;
    uint8_t *bytes = read_file(joined, &size);
    if (!first) {
      first = bytes;
      first_size = size;
    }
    assert_int_equal(size, first_size);
    assert_memory_equal(bytes, first, size);
    if (bytes != first) free(bytes);
  }
  free(first);
}

/* A result file of virtual datasets contains the members that were saved before it was written; later ones appear when
 * it is written again. A store that is opened again begins a new segment. The failures of members can be read. */
static void a_store_goes_on(void **unused) {
  cb_store *store;
  cb_results_scan scan;
  bool done[MEMBERS] = {false};
  remove_all();
  for (int turn = 0; turn < 2; turn++) {
    check_ok(cb_store_open(&folder, &layout, 0, NULL, &store));
    for (int64_t m = 19 - turn; m > 2; m -= 2) {
      put(store, m);
      done[m] = true;
    }
    check_ok(cb_store_save(store));
    show(false, false);
    for (int64_t m = 40 + turn; m < 50; m += 2) put(store, m);
    check_ok(cb_store_save(store));
    check_joined(done);
    for (int64_t m = 40 + turn; m < 50; m += 2) done[m] = true;
    show(true, false);
    check_joined(done);
    put(store, 1); /* this result is lost, as if the process had been killed */
    cb_store_free(store);
  }
  check_ok(cb_results_scan_read(&folder, &layout, true, &scan));
  assert_int_equal(scan.count, 2);
  for (int m = 0; m < MEMBERS; m++)
    assert_int_equal(scan.status[m], !done[m] ? CB_MEMBER_MISSING : m % 10 == 9 ? CB_MEMBER_FAILED : CB_MEMBER_DONE);
  char *words = cb_results_scan_failure(&scan, 9);
  assert_string_equal(words, "the step failed");
  free(words);
  assert_true(scan.seconds == 0.5 * 24); /* 24 of 27 members took 0.5 s each; three failed */
  cb_results_scan_free(&scan);
}

/* The members of a result file are written into segments again. The result file that is made from these segments is the
 * same. */
static void a_result_goes_on(void **unused) {
  cb_store *store;
  cb_results_scan scan;
  size_t size, again;
  remove_all();
  check_ok(cb_store_open(&folder, &layout, 0, NULL, &store));
  for (int64_t m = 0; m < MEMBERS; m++) put(store, m);
  check_ok(cb_store_save(store));
  cb_store_free(store);
  show(true, true);
  uint8_t *before = read_file(joined, &size);
  assert_int_equal(cb_segments_cut(&folder, 0), 0);
  check_ok(cb_store_open(&folder, &layout, 0, NULL, &store));
  for (int64_t m = 20; m < 33; m++) put(store, m);
  check_ok(cb_store_save(store));
  check_ok(cb_results_scan_read(&folder, &layout, true, &scan));
  check_ok(cb_results_scan_add_result(&scan, joined));
  for (int m = 0; m < MEMBERS; m++) assert_int_equal(scan.sources[scan.source[m]].number == 0, m < 20 || m >= 33);
  check_ok(cb_results_scan_import(&scan, store));
  cb_results_scan_free(&scan);
  cb_store_free(store);
  show(true, true);
  uint8_t *after = read_file(joined, &again);
  assert_int_equal(size, again);
  assert_memory_equal(before, after, size);
  free(before);
  free(after);
}

/* Consecutive members are written together, also if only some of them have warnings. */
static void warnings_are_those_of_their_members(void **unused) {
  enum { N = 4 };
  for (int pattern = 0; pattern < 1 << N; pattern++) {
    char words[N][40] = {""};
    cb_store *store;
    cb_results_scan scan;
    remove_all();
    check_ok(cb_store_open(&folder, &layout, 3, NULL, &store));
    for (int i = 0; i < N; i++) {
      cb_member_result r = {.member = 2 * i, .status = CB_MEMBER_DONE, .warned = pattern >> i & 1 ? i + 1 : 0};
      if (r.warned) snprintf(words[i], sizeof words[i], "warning of %d", i);
      cb_store_text(words[i], r.warning);
      r.values = calloc(1, cb_store_bytes(&layout));
      check_ok(cb_store_put(store, &r));
    }
    check_ok(cb_store_save(store));
    cb_store_free(store);
    check_ok(cb_results_scan_read(&folder, &layout, true, &scan));
    for (int i = 0; i < N; i++) {
      char *text = cb_results_scan_warning(&scan, 2 * i);
      assert_int_equal(scan.warned[2 * i], pattern >> i & 1);
      assert_string_equal(text ? text : "", words[i]);
      free(text);
    }
    cb_results_scan_free(&scan);
  }
}

/* If a bit of a value in a segment is changed, all members of this segment are missing, and the segment gets the suffix
 * .part. The members of other segments are present. */
static void damaged_segments_are_set_aside(void **unused) {
  uint64_t seed = check_seed();
  cb_store *store;
  remove_all();
  for (int worker = 0; worker < 2; worker++) {
    check_ok(cb_store_open(&folder, &layout, worker, NULL, &store));
    for (int64_t m = worker; m < MEMBERS; m += 2) put(store, m);
    check_ok(cb_store_save(store));
    cb_store_free(store);
  }
  char *path = cb_segment_name(&folder, 1), part[400];
  size_t size;
  uint8_t *bytes = read_file(path, &size);
  snprintf(part, sizeof part, "%s.part", path);
  for (int turn = 0; turn < 16; turn++) {
    const double top = top_of(2 * (int64_t)(cb_uniform(&seed) * (MEMBERS / 2))),
                 vector[PARTS] = {top, top + 1, top + 2};
    uint8_t *at = memmem(bytes, size, vector, sizeof vector);
    cb_results_scan scan;
    assert_non_null(at);
    at += (size_t)(cb_uniform(&seed) * sizeof vector);
    *at ^= (uint8_t)(1 << (turn % 8));
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    *at ^= (uint8_t)(1 << (turn % 8));
    check_ok(cb_results_scan_read(&folder, &layout, true, &scan));
    for (int64_t m = 0; m < MEMBERS; m++) assert_int_equal(scan.status[m] == CB_MEMBER_MISSING, m % 2 == 0);
    cb_results_scan_free(&scan);
    assert_int_equal(remove(part), 0);
  }
  free(bytes);
  free(path);
}

static void what_is_of_others_is_refused(void **unused) {
  cb_store *store;
  cb_results_scan scan;
  cb_segments other, none;
  remove_all();
  check_ok(cb_segments_name(joined, &other));
  assert_int_equal(cb_segments_take(&other), CB_ERROR_FILE);
  assert_non_null(strstr(cb_error_text(), "in use"));
  assert_int_equal(cb_segments_take_part(&other, 3), CB_ERROR_FILE);
  cb_segments_leave(&other, false);
  check_ok(cb_store_open(&folder, &layout, 0, NULL, &store));
  put(store, 1);
  check_ok(cb_store_save(store));
  cb_store_layout changed = layout;
  changed.digest = "another";
  assert_int_equal(cb_results_scan_read(&folder, &changed, true, &scan), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "is a result of another sweep"));
  cb_store_free(store);
  check_ok(cb_segments_name("no/such.h5", &none));
  check_ok(cb_store_open(&none, &layout, 0, NULL, &store));
  put(store, 1);
  assert_int_equal(cb_store_save(store), CB_ERROR_FILE);
  cb_store_free(store);
  cb_segments_leave(&none, false);
}

/* A process can lock one part of a folder. This excludes processes that want to lock the complete folder or the same
 * part. If only one process has locked a part, it can lock the rest. */
static void parts_of_a_folder(void **unused) {
  char path[320];
  cb_segments s[3];
  snprintf(path, sizeof path, "%s.shards.h5", joined);
  for (int i = 0; i < 3; i++) check_ok(cb_segments_name(path, &s[i]));
  check_ok(cb_segments_take_part(&s[0], 1));
  check_ok(cb_segments_take_part(&s[1], 2));
  assert_int_equal(cb_segments_take_part(&s[2], 2), CB_ERROR_FILE);
  assert_int_equal(cb_segments_take(&s[2]), CB_ERROR_FILE);
  assert_int_equal(cb_segments_state(&s[2]), CB_FOLDER_HELD);
  assert_false(cb_segments_take_rest(&s[0]));
  assert_true(cb_segments_take_rest(&s[1]));
  assert_int_equal(cb_segments_take_part(&s[2], 1), CB_ERROR_FILE);
  cb_segments_leave(&s[1], true);
  check_ok(cb_segments_take(&s[2]));
  cb_segments_leave(&s[2], true);
  cb_segments_leave(&s[0], false);
  assert_int_equal(access(path, F_OK), -1);
}

/* A cut from number 20 removes all segments from number 20 on, also if they are more than are removed at a time.
 * Segment 0 is removed only by a cut from 0. */
static void all_segments_from_a_number_on_are_removed(void **unused) {
  uint64_t *number;
  size_t n;
  remove_all();
  for (uint64_t i = 0; i < 200; i++) {
    char *name = cb_segment_name(&folder, i);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fclose(file);
    free(name);
  }
  assert_int_equal(cb_segments_cut(&folder, 20), 0);
  check_ok(cb_segments_list(&folder, &number, &n));
  assert_int_equal(n, 19);
  for (size_t i = 0; i < n; i++) assert_int_equal(number[i], i + 1);
  free(number);
  char *name = cb_segment_name(&folder, 0);
  assert_int_equal(access(name, F_OK), 0);
  assert_int_equal(cb_segments_cut(&folder, 0), 0);
  assert_int_equal(access(name, F_OK), -1);
  free(name);
  check_ok(cb_segments_list(&folder, &number, &n));
  assert_int_equal(n, 0);
  free(number);
}

static void words_end_with_a_character(void **unused) {
  char text[400] = "", words[CB_STORE_TEXT];
  for (int i = 0; i < 150; i++) strcat(text, "\303\251"); /* each of the 150 characters has two bytes */
  text[0] = 'a';
  memmove(text + 1, text + 2, strlen(text + 2) + 1); /* the position 200 is then inside a character */
  cb_store_text(text, words);
  assert_memory_equal(words, text, CB_STORE_TEXT - 1);
  assert_int_equal(words[CB_STORE_TEXT - 1], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(segments_joined_are_the_whole),
                                     cmocka_unit_test(a_store_goes_on),
                                     cmocka_unit_test(a_result_goes_on),
                                     cmocka_unit_test(warnings_are_those_of_their_members),
                                     cmocka_unit_test(damaged_segments_are_set_aside),
                                     cmocka_unit_test(what_is_of_others_is_refused),
                                     cmocka_unit_test(parts_of_a_folder),
                                     cmocka_unit_test(all_segments_from_a_number_on_are_removed),
                                     cmocka_unit_test(words_end_with_a_character)};
  return cmocka_run_group_tests_name("sweep_store", tests, make, unmake);
}
