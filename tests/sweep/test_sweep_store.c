/* Stores of sweeps: what is put is what readers see, alone and joined; what a kill or a loss of power leaves is told
 * from what is whole; slots, locks and foreign files. */
#include "check.h"

#include "numerics/random.h"
#include "sweep/store.h"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
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
static const cb_store_layout layout = {
    "a title", "text: of the sweep\n", "digest", axes, 3, coordinates, 2, dimensions, 1, fields, 4, MEMBERS};

static char folder[256], joined[300];

static int make(void **unused) {
  (void)unused;
  snprintf(folder, sizeof folder, "%s/sweep_store_%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
  snprintf(joined, sizeof joined, "%s.h5", folder);
  return mkdir(folder, 0777);
}
static int unmake(void **unused) {
  (void)unused;
  char command[600];
  snprintf(command, sizeof command, "rm -rf %s %s", folder, joined);
  return system(command);
}

static const char *in(const char *name) {
  static char path[2][400];
  static int turn;
  snprintf(path[turn ^= 1], sizeof path[0], "%s/%s", folder, name);
  return path[turn];
}

static double top_of(int64_t m) { return 1.5 * (double)m + 0.25; }

/* Some members, the last of each ten failed. */
static void put(cb_store *store, const int64_t *m, size_t n) {
  double top[MEMBERS], vector[MEMBERS][PARTS], seconds[MEMBERS];
  int64_t count[MEMBERS];
  int32_t small[MEMBERS], status[MEMBERS];
  static char words[MEMBERS][CB_STORE_WORDS];
  for (size_t i = 0; i < n; i++) {
    status[i] = m[i] % 10 == 9 ? CB_MEMBER_FAILED : CB_MEMBER_DONE;
    top[i] = status[i] == CB_MEMBER_DONE ? top_of(m[i]) : NAN;
    for (int k = 0; k < PARTS; k++) vector[i][k] = top_of(m[i]) + k;
    count[i] = 7 * m[i];
    small[i] = (int32_t)-m[i];
    seconds[i] = 0.5;
    cb_store_words(status[i] == CB_MEMBER_FAILED ? "the step failed" : "", words[i]);
  }
  const unsigned char *const values[] = {(void *)top, (void *)vector, (void *)count, (void *)small};
  check_ok(
      cb_store_put(store, &(cb_store_results){n, m, status, (const char(*)[CB_STORE_WORDS])words, seconds, values}));
}

static void read_all(hid_t file, const char *name, hid_t type, void *out) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(set >= 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
  H5Dclose(set);
}

/* The joined result has the members of which done[m], and no others. */
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

static void remove_all(void) {
  char command[600];
  snprintf(command, sizeof command, "rm -f %s/*", folder);
  assert_int_equal(system(command), 0);
}

/* Runs of members of any length in stores that take them as they come: boxes of the grid put together again. */
static void stores_joined_are_the_whole(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int turn = 0; turn < 60; turn++) {
    cb_store *store[STORES];
    bool done[MEMBERS] = {false};
    remove_all();
    for (int s = 0; s < STORES; s++) {
      char name[32];
      snprintf(name, sizeof name, "rank-%d.h5", s);
      check_ok(cb_store_open(in(name), &layout, MEMBERS, -1, &store[s]));
    }
    for (int64_t m = 0; m < MEMBERS;) {
      const int64_t n = 1 + (int64_t)(cb_uniform(&seed) * (turn % 3 ? 25 : 4)), end = m + n < MEMBERS ? m + n : MEMBERS;
      cb_store *to = store[(int)(cb_uniform(&seed) * STORES)];
      check_ok(cb_store_lease(to, m, (size_t)(end - m)));
      int64_t some[MEMBERS];
      size_t count = 0;
      for (; m < end; m++) {
        assert_true(cb_store_has(to, m));
        if (cb_uniform(&seed) < 0.2) continue; /* in hand when all ends */
        done[m] = true;
        some[count++] = m;
      }
      put(to, some, count);
    }
    cb_survey survey;
    check_ok(cb_survey_take(folder, &layout, true, &survey));
    check_ok(cb_join(joined, folder, &layout, &survey));
    check_joined(done);
    cb_survey_free(&survey);
    for (int s = 0; s < STORES; s++) cb_store_free(store[s]);
  }
}

static void a_store_goes_on(void **unused) {
  (void)unused;
  cb_store *store, *other;
  cb_survey survey;
  bool done[MEMBERS] = {false};
  remove_all();
  check_ok(cb_store_open(in("all.h5"), &layout, MEMBERS, 0, &store));
  assert_int_equal(cb_store_open(in("all.h5"), &layout, MEMBERS, 0, &other), CB_ERROR_FILE);
  assert_non_null(strstr(cb_error_text(), "another sweep"));
  for (int64_t m = 3; m < 20; m++) put(store, &m, 1), done[m] = true;
  cb_store_free(store);
  check_ok(cb_store_open(in("all.h5"), &layout, MEMBERS, 0, &store));
  check_ok(cb_survey_take(folder, &layout, true, &survey));
  for (int m = 0; m < MEMBERS; m++)
    assert_int_equal(survey.status[m], !done[m] ? CB_MEMBER_MISSING : m % 10 == 9 ? CB_MEMBER_FAILED : CB_MEMBER_DONE);
  char *words = cb_survey_words(folder, &layout, &survey, 9);
  assert_string_equal(words, "the step failed");
  free(words);
  assert_true(survey.seconds == 0.5 * 15); /* two of them failed */
  check_ok(cb_join(joined, folder, &layout, &survey));
  check_joined(done);
  cb_survey_free(&survey);
  /* a joined file shows what comes later */
  const int64_t later[] = {40, 41, 42};
  put(store, later, 3);
  for (int i = 0; i < 3; i++) done[later[i]] = true;
  check_joined(done);
  assert_int_equal(cb_store_put(store, &(cb_store_results){.n = 1, .member = &(int64_t){MEMBERS}}), CB_ERROR_ARGUMENT);
  cb_store_free(store);
  assert_int_equal(cb_store_open(in("all.h5"), &layout, MEMBERS + 1, 0, &store), CB_ERROR_INPUT);
}

/* Members in a row are written at once, whichever of them were warned of. */
static void warnings_are_those_of_their_members(void **unused) {
  (void)unused;
  enum { N = 7 };
  static char words[N][CB_STORE_WORDS];
  for (int pattern = 0; pattern < 1 << N; pattern++) {
    int64_t member[N];
    int32_t warned[N];
    cb_store *store;
    cb_survey survey;
    for (int i = 0; i < N; i++) {
      char text[40] = "";
      member[i] = 2 * i + (pattern & 1) * (i > 3); /* two rows, too */
      warned[i] = pattern >> i & 1 ? i + 1 : 0;
      if (warned[i]) snprintf(text, sizeof text, "warning of %d", i);
      cb_store_words(text, words[i]);
    }
    if (pattern & 2)
      for (int i = 0; i < N; i++) member[i] = 3 + i;
    remove_all();
    check_ok(cb_store_open(in("all.h5"), &layout, MEMBERS, 0, &store));
    check_ok(cb_store_put_warnings(store, N, member, warned, (const char(*)[CB_STORE_WORDS])words));
    put(store, member, N);
    cb_store_free(store);
    check_ok(cb_survey_take(folder, &layout, true, &survey));
    for (int i = 0; i < N; i++) {
      char *text = cb_survey_warning(folder, &layout, &survey, member[i]);
      assert_int_equal(survey.warned[member[i]], warned[i] > 0);
      assert_string_equal(text, words[i]);
      free(text);
    }
    cb_survey_free(&survey);
  }
}

static uint64_t offset_of(const char *path, const char *name) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, name, H5P_DEFAULT);
  const haddr_t at = H5Dget_offset(set);
  H5Dclose(set);
  H5Fclose(file);
  return at;
}

/* Any bit of a member's values that is another makes it missing, and no other member. */
static void torn_members_are_missing(void **unused) {
  (void)unused;
  static const struct {
    const char *name;
    size_t bytes;
  } torn[] = {{"top", 8}, {"vector", 24}, {"count", 8}, {"small", 4}, {"digest", 4}};
  uint64_t seed = check_seed();
  cb_store *store;
  remove_all();
  check_ok(cb_store_open(in("all.h5"), &layout, MEMBERS, 0, &store));
  int64_t all[MEMBERS];
  for (int64_t m = 0; m < MEMBERS; m++) all[m] = m;
  put(store, all, MEMBERS);
  cb_store_free(store);
  const char *path = strdup(in("all.h5"));
  for (int turn = 0; turn < 300; turn++) {
    const size_t f = (size_t)(cb_uniform(&seed) * 5);
    const int64_t m = (int64_t)(cb_uniform(&seed) * MEMBERS);
    const off_t at = (off_t)(offset_of(path, torn[f].name) + (uint64_t)m * torn[f].bytes +
                             (uint64_t)(cb_uniform(&seed) * (double)torn[f].bytes));
    const int file = open(path, O_RDWR);
    unsigned char byte, other;
    assert_int_equal(pread(file, &byte, 1, at), 1);
    other = byte ^ (unsigned char)(1 << (int)(cb_uniform(&seed) * 8));
    assert_int_equal(pwrite(file, &other, 1, at), 1);
    cb_survey survey;
    check_ok(cb_survey_take(folder, &layout, true, &survey));
    for (int64_t k = 0; k < MEMBERS; k++) assert_true((survey.status[k] == CB_MEMBER_MISSING) == (k == m));
    cb_survey_free(&survey);
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
  }
  free((char *)path);
}

static void what_is_no_store_is_refused(void **unused) {
  (void)unused;
  cb_store *store;
  cb_survey survey;
  remove_all();
  const int file = open(in("all.h5"), O_WRONLY | O_CREAT, 0666);
  assert_int_equal(write(file, "mine", 4), 4);
  close(file);
  assert_int_equal(cb_store_open(in("all.h5"), &layout, MEMBERS, 0, &store), CB_ERROR_FILE);
  assert_int_equal(cb_survey_take(folder, &layout, true, &survey), CB_ERROR_FILE);
  remove_all();
  check_ok(cb_store_open(in("all.h5"), &layout, MEMBERS, 0, &store));
  cb_store_free(store);
  cb_store_layout other = layout;
  other.digest = "another";
  assert_int_equal(cb_store_open(in("all.h5"), &other, MEMBERS, 0, &store), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "of another sweep"));
  cb_store_field less[4];
  memcpy(less, fields, sizeof less);
  less[1].shape[0] = PARTS + 1;
  other = layout;
  other.fields = less;
  assert_int_equal(cb_store_open(in("all.h5"), &other, MEMBERS, 0, &store), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "damaged"));
  assert_int_equal(truncate(in("all.h5"), 3000), 0);
  assert_true(cb_store_open(in("all.h5"), &layout, MEMBERS, 0, &store) != CB_OK);
  assert_int_equal(cb_store_open(in("no/all.h5"), &layout, MEMBERS, 0, &store), CB_ERROR_FILE);
}

static void words_end_with_a_character(void **unused) {
  (void)unused;
  char text[400] = "", words[CB_STORE_WORDS];
  for (int i = 0; i < 150; i++) strcat(text, "\303\251"); /* two bytes each */
  text[0] = 'a';
  memmove(text + 1, text + 2, strlen(text + 2) + 1); /* so that 200 is within one */
  cb_store_words(text, words);
  assert_memory_equal(words, text, CB_STORE_WORDS - 1);
  assert_int_equal(words[CB_STORE_WORDS - 1], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stores_joined_are_the_whole),         cmocka_unit_test(a_store_goes_on),
      cmocka_unit_test(warnings_are_those_of_their_members), cmocka_unit_test(torn_members_are_missing),
      cmocka_unit_test(what_is_no_store_is_refused),         cmocka_unit_test(words_end_with_a_character)};
  return cmocka_run_group_tests_name("sweep_store", tests, make, unmake);
}
