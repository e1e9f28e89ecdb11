/* labels: medium
 *
 * Records made by HDF5's own functions that are not what a record is: refused by name before memory or a file is
 * touched that is not theirs. */
#include "lying_record.h"

#include "check_error.h"

#include "io/record_internal.h"

static char *victim;

static int make(void **state) {
  const int failed = lying_make(state);
  victim = sample_path("victim.h5");
  sample_copy(whole, victim);
  return failed;
}
static int remove_all(void **state) {
  free(victim);
  return lying_remove(state);
}

/* ---- Changing a copy */

static void put_attribute(hid_t file, const char *of, const char *name, hid_t type, hsize_t count, const void *data) {
  hid_t space = H5Screate_simple(1, &count, NULL);
  H5Adelete_by_name(file, of, name, H5P_DEFAULT);
  hid_t attribute = H5Acreate_by_name(file, of, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, type, data) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

/* ---- Asking for it */

static cb_status open_reader(void) {
  cb_reader *reader = NULL;
  cb_status status = cb_reader_open(lying, &reader);
  if (!status) cb_reader_close(reader);
  return status;
}

static const char *error_of(const char *reason) {
  static char text[600];
  snprintf(text, sizeof text, "%s: error: %s", lying, reason);
  return text;
}

static uint64_t rows_of(const char *path, const char *name) {
  hsize_t dims[4] = {0};
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, name, H5P_DEFAULT),
        space = H5Dget_space(dataset);
  assert_true(H5Sget_simple_extent_dims(space, dims, NULL) >= 1);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return dims[0];
}

/* ---- Claims */

static void an_attribute_of_another_type_or_length_is_not_written_over(void **unused) {
  (void)unused;
  const int64_t numbers[5] = {-1, -1, -1, -1, -1};
  const double reals[2] = {-1, -1};
  hid_t five = H5Tarray_create2(H5T_STD_I64LE, 1, (const hsize_t[]){5}), pair = H5Tcreate(H5T_COMPOUND, 16),
        text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  H5Tinsert(pair, "rows", 0, H5T_STD_I64LE);
  H5Tinsert(pair, "events", 8, H5T_STD_I64LE);
  const char *const words[2] = {"a", "b"};
  const struct {
    hid_t type;
    hsize_t count;
    const void *data;
  } wrong[] = {{H5T_STD_I64LE, 5, numbers}, {H5T_STD_I64LE, 1, numbers}, {H5T_IEEE_F64LE, 2, reals},
               {five, 1, numbers},          {pair, 2, numbers},          {text, 2, words}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    for (int killed = 0; killed < 2; killed++) {
      hid_t file = open_copy();
      put_attribute(file, "checkpoint", "cutting", wrong[i].type, wrong[i].count, wrong[i].data);
      leave(file, killed);
      check_error(killed ? cb_record_repair(lying, NULL) : resume_lying(), CB_ERROR_INPUT,
                  error_of("attribute 'cutting' of /checkpoint: expected 2 integers"));
      check_error(resume_lying(), CB_ERROR_INPUT, cb_error_text());
      check_error(open_reader(), CB_ERROR_INPUT, cb_error_text());
    }
  H5Tclose(text), H5Tclose(pair), H5Tclose(five);
  for (hsize_t count = 0; count < 4; count += 3) {
    hid_t file = open_copy();
    put_attribute(file, ".", "completed", H5T_STD_I32LE, count, (const int[]){1, 1, 1});
    leave(file, false);
    check_error_begins(resume_lying(), CB_ERROR_FILE, lying);
    assert_int_equal(rows_of(lying, "energy"), 100);
  }
}

static void a_checkpoint_of_another_type_or_length_is_not_written_over(void **unused) {
  (void)unused;
  static const hsize_t four[] = {4}, thousand[] = {1000}, two[] = {2, 2}, state[] = {SAMPLE_STATE};
  static const hsize_t more[] = {SAMPLE_STATE + 1};
  const struct {
    const char *name;
    hid_t type;
    int rank;
    const hsize_t *dims;
    int values; /* expected */
  } wrong[] = {{"checkpoint/slot1/seal", H5T_STD_U64LE, 1, thousand, 4},
               {"checkpoint/slot1/seal", H5T_STD_U64BE, 1, four, 4},
               {"checkpoint/slot0/seal", H5T_IEEE_F64LE, 1, four, 4},
               {"checkpoint/slot0/seal", H5T_STD_U64LE, 2, two, 4},
               {"checkpoint/slot1/state", H5T_IEEE_F64LE, 1, more, SAMPLE_STATE},
               {"checkpoint/slot0/state", H5T_IEEE_F32LE, 1, state, SAMPLE_STATE}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char reason[200];
    hid_t file = open_copy();
    put_dataset(file, wrong[i].name, wrong[i].type, wrong[i].rank, wrong[i].dims, NULL, NULL, H5D_CONTIGUOUS);
    leave(file, false);
    snprintf(reason, sizeof reason, "%s has another type or length, expected %d values", wrong[i].name,
             wrong[i].values);
    check_error(resume_lying(), CB_ERROR_INPUT, error_of(reason));
    assert_int_equal(rows_of(lying, "energy"), 100);
  }
}

static void a_checkpoint_of_other_state_names_the_version_as_the_cause(void **unused) {
  (void)unused;
  static const char *const advice =
      ": expected a record of this version, or the version that wrote it (attributes curvebody_version and git_commit)";
  char reason[300];
  hid_t file = open_copy();
  assert_true(H5Ldelete(file, "checkpoint/slot0/state", H5P_DEFAULT) >= 0);
  leave(file, false);
  snprintf(reason, sizeof reason,
           "this version of curvebody cannot go on from the record: checkpoint/slot0 has no `state`%s", advice);
  check_error(resume_lying(), CB_ERROR_INPUT, error_of(reason));
  file = open_copy();
  put_dataset(file, "checkpoint/slot1/more", H5T_IEEE_F64LE, 1, (const hsize_t[]){1}, NULL, NULL, H5D_CONTIGUOUS);
  leave(file, false);
  check_error_begins(resume_lying(), CB_ERROR_INPUT,
                     error_of("this version of curvebody cannot go on from the record: checkpoint/slot1 has "));
  assert_int_equal(rows_of(lying, "energy"), 100);
}

static void a_row_of_more_values_than_memory_has_is_refused(void **unused) {
  (void)unused;
  const hsize_t chunk[] = {1, 1, 1, 1}, most[] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
  /* products of the last three are 0 and 1 modulo 2^64 */
  const hsize_t zero[] = {1, 1 << 22, 1 << 22, 1 << 22}, one[] = {1, 12160749, 6102343, 13920371};
  hid_t file = open_copy();
  put_dataset(file, "x", H5T_IEEE_F64LE, 4, zero, most, chunk, H5D_CHUNKED);
  leave(file, false);
  check_error_begins(open_reader(), CB_ERROR_INPUT, error_of("/x has wider rows than were written of it"));
  file = open_copy();
  put_dataset(file, "event_gap", H5T_IEEE_F64LE, 4, one, most, chunk, H5D_CHUNKED);
  leave(file, false);
  check_error_begins(cb_record_export_csv(lying, out, NULL), CB_ERROR_INPUT, error_of("/event_gap has wider rows"));
  check_error_begins(resume_lying(), CB_ERROR_INPUT, error_of("/event_gap has wider rows"));
}

/* ---- What lies elsewhere */

typedef struct lie {
  const char *name, *reason;
  void (*put)(hid_t file, const char *name); /* in place of what has the name */
} lie;

static hid_t dataset_like(hid_t file, const char *name, hid_t *space) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(dataset);
  *space = H5Dget_space(dataset);
  H5Dclose(dataset);
  assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  return type;
}

static void put_like(hid_t file, const char *name, hid_t create) {
  hid_t space, type = dataset_like(file, name, &space);
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  assert_true(dataset >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Tclose(type);
  H5Pclose(create);
}

static void put_external(hid_t file, const char *name) {
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(create, victim, 0, H5F_UNLIMITED);
  put_like(file, name, create);
}

static void put_virtual(hid_t file, const char *name) {
  hid_t create = H5Pcreate(H5P_DATASET_CREATE), dataset = H5Dopen2(file, name, H5P_DEFAULT),
        space = H5Dget_space(dataset);
  H5Pset_virtual(create, space, victim, name, space);
  H5Sclose(space);
  H5Dclose(dataset);
  put_like(file, name, create);
}

static void put_filter(hid_t file, const char *name) {
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(create, 1, (const hsize_t[]){1});
  H5Pset_fletcher32(create);
  put_like(file, name, create);
}

static void put_external_link(hid_t file, const char *name) {
  assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_external(victim, name, file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

/* To the same, under another name, in a folder that has another name too. */
static void put_soft_link(hid_t file, const char *name) {
  assert_true(H5Lcreate_hard(file, "checkpoint", file, "also", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_hard(file, "checkpoint/slot1", file, "also_slot1", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_true(H5Lmove(file, name, file, "/aside", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_soft("/aside", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static hid_t follow(const char *name, hid_t group, const void *data, size_t size, hid_t links, hid_t transfer) {
  (void)data, (void)size, (void)transfer;
  fail_msg("a link of a kind of its own was followed: %s", name);
  return H5Oopen(group, "/energy", links);
}

static void put_own_link(hid_t file, const char *name) {
  const H5L_class_t class = {
      .version = H5L_LINK_CLASS_T_VERS, .id = (H5L_type_t)100, .comment = "to energy", .trav_func = follow};
  assert_true(H5Lregister(&class) >= 0);
  assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_ud(file, name, class.id, "", 0, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

/* The other file is a record too, that what leads to it would find all in. */
static void what_lies_in_other_files_is_refused_and_left_alone(void **unused) {
  (void)unused;
  static const char storage[] = "has its numbers in other files (external storage)",
                    virtual[] = "takes its numbers from other datasets (it is virtual)",
                    external[] = "is a link to another file", own[] = "is a link of a kind that records do not have",
                    soft[] = "is a soft link, expected what it leads to",
                    filter[] = "passes through filter 3, expected none but shuffle and deflate";
  const lie lies[] = {{"checkpoint/slot0/state", storage, put_external},
                      {"checkpoint/slot1/seal", storage, put_external},
                      {"particle_mass", storage, put_external},
                      {"checkpoint/slot0/history", virtual, put_virtual},
                      {"connectivity/bonds", virtual, put_virtual},
                      {"checkpoint", external, put_external_link},
                      {"checkpoint/slot1", external, put_external_link},
                      {"energy", external, put_external_link},
                      {"scenario/resolved", external, put_external_link},
                      {"event_gap", external, put_external_link},
                      {"h5md/author", external, put_external_link},
                      {"particles/bodies/mass", own, put_own_link},
                      {"checkpoint/slot0/seal", own, put_own_link},
                      {"checkpoint/slot1/seal", soft, put_soft_link},
                      {"checkpoint", soft, put_soft_link},
                      {"scenario/resolved", soft, put_soft_link},
                      {"event_gap", soft, put_soft_link},
                      {"bond_i", filter, put_filter}};
  size_t size, size_after;
  char *before = sample_read(victim, &size);
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
    for (int killed = 0; killed < 2; killed++) {
      char reason[200];
      hid_t file = open_copy();
      lies[i].put(file, lies[i].name);
      leave(file, killed);
      size_t lying_size, lying_after;
      char *as_it_was = sample_read(lying, &lying_size);
      snprintf(reason, sizeof reason, "/%s %s", lies[i].name, lies[i].reason);
      check_error(resume_lying(), CB_ERROR_INPUT, error_of(reason));
      check_error(cb_record_repair(lying, NULL), CB_ERROR_INPUT, error_of(reason));
      check_error(open_reader(), CB_ERROR_INPUT, error_of(reason));
      check_error(cb_record_export_csv(lying, out, NULL), CB_ERROR_INPUT, error_of(reason));
      char *after = sample_read(victim, &size_after), *as_it_is = sample_read(lying, &lying_after);
      assert_true(size == size_after && !memcmp(before, after, size));
      assert_true(lying_size == lying_after && !memcmp(as_it_was, as_it_is, lying_size));
      free(after), free(as_it_was), free(as_it_is);
    }
  free(before);
}

/* Of a root that HDF5 opens, and of which it cannot tell how it was made: its group info has flags that there are not. */
static void a_root_that_is_read_in_part_hides_nothing(void **unused) {
  (void)unused;
  hid_t file = open_copy();
  put_external(file, "checkpoint/slot1/seal");
  leave(file, false);
  size_t size;
  unsigned char *bytes = (unsigned char *)sample_read(lying, &size);
  const size_t root = (size_t)cb_little_endian(bytes + 36, 8);
  unsigned char *info = memmem(bytes + root, 400, (const char[]){10, 2, 0, 1, 0, 0}, 6); /* message 10, of 2 bytes */
  assert_non_null(info);
  lying_put(bytes, size, root, (size_t)(info - bytes) + 5, 1, 0x3a);
  lying_write(bytes, size);
  free(bytes);
  const char *reason = error_of("/checkpoint/slot1/seal has its numbers in other files (external storage)");
  check_error(open_reader(), CB_ERROR_INPUT, reason);
  check_error(resume_lying(), CB_ERROR_INPUT, reason);
}

/* Names that others gave to what is in a record, and groups of theirs, do no harm. */
static void aliases_at_the_root_are_left_alone(void **unused) {
  (void)unused;
  hid_t file = open_copy();
  assert_true(H5Lcreate_soft("/x", file, "places", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  H5Gclose(H5Gcreate2(file, "mine", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  assert_true(H5Lcreate_hard(file, "/", file, "mine/all", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  put_dataset(file, "mine/notes", H5T_IEEE_F32BE, 2, (const hsize_t[]){3, 4}, NULL, NULL, H5D_CONTIGUOUS);
  leave(file, false);
  check_ok(open_reader());
  check_ok(resume_lying());
  check_ok(cb_record_repair(lying, NULL));
}

static void extend(hid_t file, const char *name, const hsize_t *dims) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(H5Dset_extent(dataset, dims) >= 0);
  H5Dclose(dataset);
}

static void rows_that_were_never_written_are_not_counted(void **unused) {
  (void)unused;
  const hsize_t more = 1 << 28, most = 1 << 30;
  for (int killed = 0; killed < 2; killed++) {
    hid_t file = open_copy();
    for (int f = 0; f < SAMPLE_FIELDS - 1; f++) { /* the last has no values, and is not there */
      hsize_t dims[4] = {more};
      for (int d = 0; d < sample_fields[f].rank; d++)
        for (int k = 0; k < 6; k++)
          if (!strcmp(sample_dimensions[k].name, sample_fields[f].dims[d])) dims[d + 1] = sample_dimensions[k].count;
      extend(file, sample_fields[f].name, dims);
    }
    extend(file, "checkpoint/row_digest", &more);
    leave(file, killed);
    cb_reader *reader = NULL;
    check_ok(cb_reader_open(lying, &reader));
    assert_int_equal(cb_reader_position(reader).rows, killed ? 100 : 256); /* digests, or a chunk */
    cb_reader_close(reader);
    if (killed) {
      check_ok(cb_record_repair(lying, NULL));
      check_ok(resume_lying());
      assert_int_equal(rows_of(lying, "energy"), 100);
    } else { /* each row of one that was closed has a digest */
      check_error(cb_record_repair(lying, NULL), CB_ERROR_INPUT, error_of("damaged: row 100 is not as it was written"));
      check_error(resume_lying(), CB_ERROR_INPUT, cb_error_text());
    }
    file = open_copy();
    extend(file, "energy", &most);
    leave(file, killed);
    check_error(resume_lying(), CB_ERROR_INPUT, error_of("/energy is longer than what was written of it"));
    check_error(cb_record_repair(lying, NULL), CB_ERROR_INPUT, cb_error_text());
    check_error(open_reader(), CB_ERROR_INPUT, cb_error_text());
  }
}

/* The first chunk of each array is said to be at 0, where the file says what it is. */
static void chunks_at_the_begin_of_the_file_are_not_given_free(void **unused) {
  (void)unused;
  size_t size, found = 0;
  unsigned char *bytes = (unsigned char *)sample_read(whole, &size);
  for (size_t at = 0; at + 400 < size; at++)
    if (!memcmp(bytes + at, "EAIB", 4)) lying_put(bytes, size, at, at + 14, 8, 0), found++;
  assert_true(found > 3);
  lying_write(bytes, size);
  free(bytes);
  assert_int_equal(resume_lying(), CB_ERROR_INPUT);
  const char *told = strstr(cb_error_text(), " has chunks where none can be");
  assert_true(told && !told[29]);
  check_error(cb_record_repair(lying, NULL), CB_ERROR_INPUT, cb_error_text());
  check_error(open_reader(), CB_ERROR_INPUT, cb_error_text());
}

static void chunks_that_take_all_memory_are_refused(void **unused) {
  (void)unused;
  const hsize_t length = 100, most = H5S_UNLIMITED, chunk = 1 << 28;
  hid_t file = open_copy();
  put_dataset(file, "energy", H5T_IEEE_F64LE, 1, &length, &most, &chunk, H5D_CHUNKED);
  leave(file, false);
  check_error(resume_lying(), CB_ERROR_INPUT, error_of("/energy has chunks of more than 64 MiB"));
  check_error(open_reader(), CB_ERROR_INPUT, cb_error_text());
}

/* More than the file has bytes, and none of them written. */
static void labels_that_were_never_written_take_no_memory(void **unused) {
  (void)unused;
  const hsize_t many[] = {1 << 30};
  const char *const *labels;
  cb_reader *reader = NULL;
  hid_t file = open_copy(), text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  put_dataset(file, "particle", text, 1, many, NULL, NULL, H5D_CONTIGUOUS);
  H5Tclose(text);
  leave(file, false);
  check_ok(cb_reader_open(lying, &reader));
  check_ok(cb_reader_labels(reader, "particle", &labels));
  assert_null(labels);
  cb_reader_close(reader);
}

/* A record of one ball, with poses of one body and twists of as many as are asked for. */
static void record_ball(const char *path, size_t twists) {
  static const char ball[] =
      "curvebody: 1\n"
      "fluid: {medium: water}\n"
      "bodies: [{name: ball, shape: {name: ellipsoid, resolution: 8}, density: 1200}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\n"
      "time: {end: 0.1}\n";
  const cb_dimension dimensions[] = {{.name = "body", .count = 1},
                                     {.name = "bodies", .count = twists},
                                     {.name = "seven", .count = 7},
                                     {.name = "six", .count = 6}};
  const cb_field fields[] = {{"time", CB_FIELD_DOUBLE, 0, {NULL}, "s", "time"},
                             {"step", CB_FIELD_INT64, 0, {NULL}, "1", "step"},
                             {"pose", CB_FIELD_DOUBLE, 2, {"body", "seven"}, "1", "pose"},
                             {"twist", CB_FIELD_DOUBLE, 2, {"bodies", "six"}, "1", "twist"}};
  const cb_record_layout layout = {.title = "a ball",
                                   .scenario_source = ball,
                                   .scenario_resolved = ball,
                                   .dimensions = dimensions,
                                   .n_dimensions = 4,
                                   .fields = fields,
                                   .n_fields = 4};
  const double time = 0, pose[7] = {0, 0, 0, 1};
  const int64_t step = 0;
  double *twist = calloc(6 * twists, sizeof *twist);
  cb_record *record = NULL;
  assert_non_null(twist);
  check_ok(cb_record_create(path, &layout, &(cb_record_options){.overwrite = true}, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sink.row(sink.self, (const void *[]){&time, &step, pose, twist}));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  free(twist);
}

static void twists_are_of_the_bodies_of_the_scenario(void **unused) {
  (void)unused;
  record_ball(lying, 1);
  check_ok(cb_record_export_xdmf(lying, out, NULL));
  record_ball(lying, 5000);
  check_error(cb_record_export_xdmf(lying, out, NULL), CB_ERROR_INPUT,
              error_of("twists of 5000 bodies, but its scenario has 1"));
}

int main(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of the calls made here */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chunks_at_the_begin_of_the_file_are_not_given_free),
      cmocka_unit_test(an_attribute_of_another_type_or_length_is_not_written_over),
      cmocka_unit_test(a_checkpoint_of_another_type_or_length_is_not_written_over),
      cmocka_unit_test(a_checkpoint_of_other_state_names_the_version_as_the_cause),
      cmocka_unit_test(a_row_of_more_values_than_memory_has_is_refused),
      cmocka_unit_test(what_lies_in_other_files_is_refused_and_left_alone),
      cmocka_unit_test(a_root_that_is_read_in_part_hides_nothing),
      cmocka_unit_test(aliases_at_the_root_are_left_alone),
      cmocka_unit_test(rows_that_were_never_written_are_not_counted),
      cmocka_unit_test(chunks_that_take_all_memory_are_refused),
      cmocka_unit_test(labels_that_were_never_written_take_no_memory),
      cmocka_unit_test(twists_are_of_the_bodies_of_the_scenario),
  };
  return cmocka_run_group_tests(tests, make, remove_all);
}
