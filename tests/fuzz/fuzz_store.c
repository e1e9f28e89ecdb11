/* libFuzzer entry of the stores of sweeps (sweep/store.h): one whose members are in part done, changed as the input
 * says, is surveyed, joined and gone on with. Whatever it has become: no crash, no undefined behaviour, no leak, no
 * wait. */
#include "hdf5_target.h"

#include "sweep/store.h"

enum { MEMBERS = 6, PARTS = 2 };

static const cb_store_axis axes[] = {{"a", 3}, {"b", 2}};
static const double a_values[] = {1, 2, 4};
static const cb_store_coordinate coordinates[] = {{.name = "a", .axis = 0, .values = a_values, .doc = "a number"}};
static const cb_dimension dimensions[] = {{.name = "part", .count = PARTS, .doc = "of a vector"}};
static const cb_store_field fields[] = {{"top", CB_FIELD_DOUBLE, 0, {NULL}, {0}, "1", "a number"},
                                        {"vector", CB_FIELD_DOUBLE, 1, {"part"}, {PARTS}, "m", "some numbers"},
                                        {"small", CB_FIELD_INT32, 0, {NULL}, {0}, "1", "a small one"}};
static const cb_store_layout layout = {"a title", "text\n",   "digest", axes,   2, coordinates,
                                       1,         dimensions, 1,        fields, 3, MEMBERS};
static char stores[100], store_path[120], joined[100];

static void put_members(cb_store *store, int64_t first, int64_t n) {
  double top[MEMBERS], vector[MEMBERS][PARTS], seconds[MEMBERS];
  int64_t member[MEMBERS];
  int32_t small[MEMBERS], status[MEMBERS];
  static char words[MEMBERS][CB_STORE_WORDS];
  for (int64_t i = 0; i < n; i++) {
    member[i] = first + i, status[i] = CB_MEMBER_DONE, seconds[i] = 0.5, small[i] = (int32_t)(first + i);
    top[i] = vector[i][0] = vector[i][1] = (double)(first + i);
  }
  const unsigned char *const values[] = {(void *)top, (void *)vector, (void *)small};
  check_status(cb_store_put(
      store, &(cb_store_results){(size_t)n, member, status, (const char(*)[CB_STORE_WORDS])words, seconds, values}));
}

/* Three of its members are done; slots by member, and slots that are taken as members come. */
static void make_files(void) {
  target_begin();
  snprintf(stores, sizeof stores, "%s/stores", target_folder);
  snprintf(store_path, sizeof store_path, "%s/all.h5", stores);
  snprintf(joined, sizeof joined, "%s/joined.h5", target_folder);
  char command[120];
  snprintf(command, sizeof command, "mkdir %s", stores);
  if (system(command)) exit(2);
  for (int kind = 0; kind < 2; kind++) {
    cb_store *store = NULL;
    unlink(store_path);
    if (cb_store_open(store_path, &layout, MEMBERS, kind - 1 ? 0 : -1, &store) || cb_store_lease(store, 0, 3)) exit(2);
    put_members(store, 0, 3);
    cb_store_free(store);
    target_add(store_path);
  }
}

static void try_store(const uint8_t *data, size_t size) {
  const unsigned flags = size ? data[0] >> 1 : 0;
  const int kind = (int)(flags % 2);
  cb_survey survey;
  cb_store *store = NULL;
  target_change(kind, data, size, store_path);
  cb_status status = cb_survey_take(stores, &layout, true, &survey);
  check_unchanged(status, size);
  if (!status) {
    const int64_t one = flags / 8 % MEMBERS;
    for (int64_t m = 0; m < MEMBERS; m++) demand(survey.status[m] <= CB_MEMBER_FAILED);
    if (survey.store[one] >= 0) free(cb_survey_words(stores, &layout, &survey, one));
    if (flags & 2) check_status(cb_join(joined, stores, &layout, &survey));
    cb_survey_free(&survey);
  }
  if (!(flags & 4)) return;
  status = cb_store_open(store_path, &layout, MEMBERS, kind - 1 ? 0 : -1, &store);
  check_unchanged(status, size);
  if (status) return;
  if (cb_store_room(store) >= 2 && !cb_store_lease(store, 4, 2)) put_members(store, 4, 2);
  cb_store_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!target_files) make_files();
  try_store(data, size);
  return 0;
}
