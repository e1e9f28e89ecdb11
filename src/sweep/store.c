/* Results in memory, and the segment that is made of them. */
#include "sweep/store_private.h"

#include "core/failure.h"
#include "record/hdf5.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20, MOST_CHUNK = 1 << 30 };
static const double long_seconds = 1; /* states of shorter members are none (sweep/runner.c) */

struct cb_store {
  const cb_segments *folder;
  const cb_store_layout *layout;
  const cb_midst *midst;
  uint64_t number; /* of the segment that is being filled */
  cb_member_result *row;
  cb_store_row *known;              /* [members], of a layout that goes on */
  size_t count, room, saved, bytes; /* saved: rows that are on the disk, in this order */
  pthread_mutex_t saving, mutex;    /* the second guards all of it; the first is taken before */
};

cb_status cb_store_open(const cb_segments *folder, const cb_store_layout *layout, int worker, const cb_midst *midst,
                        cb_store **out) {
  const uint64_t first = (uint64_t)worker * CB_SEGMENTS_OF_WORKER + 1;
  uint64_t *number;
  size_t count;
  cb_status status = cb_segments_list(folder, &number, &count);
  if (status) return status;
  cb_store *store = calloc(1, sizeof *store);
  if (store) {
    *store = (cb_store){.folder = folder, .layout = layout, .midst = midst, .number = first};
    for (size_t i = 0; i < count; i++)
      if (number[i] >= first && number[i] < first + CB_SEGMENTS_OF_WORKER) store->number = number[i] + 1;
    pthread_mutex_init(&store->saving, NULL);
    pthread_mutex_init(&store->mutex, NULL);
  }
  free(number);
  if (!store) return cb_fail(CB_ERROR_MEMORY, "no memory for results");
  cb_survey survey;
  if (layout->goes_on && (status = cb_survey_take(folder, layout, false, &survey))) {
    cb_store_free(store);
    return status;
  }
  if (layout->goes_on) store->known = survey.known, survey.known = NULL, cb_survey_free(&survey);
  *out = store;
  return CB_OK;
}

static void clear(cb_store *store) {
  for (size_t i = 0; i < store->count; i++) free(store->row[i].values), free(store->row[i].state);
  store->count = store->saved = store->bytes = 0;
}

void cb_store_free(cb_store *store) {
  if (!store) return;
  clear(store);
  free(store->row);
  for (int64_t m = 0; store->known && m < store->layout->members; m++) free(store->known[m].state);
  free(store->known);
  pthread_mutex_destroy(&store->saving);
  pthread_mutex_destroy(&store->mutex);
  free(store);
}

/* It knows a copy, and what was put of that member and is not on the disk yet goes. */
static bool know(cb_store *store, const cb_member_result *r) {
  cb_store_row *known = &store->known[r->member];
  double *copy = malloc((r->states + 1) * sizeof *copy);
  if (!copy) return false;
  if (r->states) memcpy(copy, r->state, r->states * sizeof *copy);
  free(known->state);
  *known = (cb_store_row){r->status, copy, r->states};
  for (size_t i = store->saved; i < store->count; i++)
    if (store->row[i].member == r->member) {
      free(store->row[i].values), free(store->row[i].state);
      store->row[i] = store->row[--store->count];
    }
  return true;
}

const cb_store_row *cb_store_row_of(const cb_store *store, int64_t member) { return &store->known[member]; }

static bool is_full(const cb_store *store) { return store->bytes >= CB_SEGMENT_BYTES; }

cb_status cb_store_put(cb_store *store, const cb_member_result *result) {
  pthread_mutex_lock(&store->mutex);
  bool there = !store->known || know(store, result);
  if (there && store->count == store->room) {
    const size_t room = store->room ? 2 * store->room : 64;
    cb_member_result *more = realloc(store->row, room * sizeof *more);
    there = more != NULL;
    if (more) store->row = more, store->room = room;
  }
  if (there) {
    store->row[store->count++] = *result;
    store->bytes += cb_store_bytes(store->layout) + sizeof(int64_t) + (1 + result->states) * sizeof(double);
  } else {
    free(result->values);
    free(result->state);
  }
  const bool full = is_full(store);
  pthread_mutex_unlock(&store->mutex);
  if (!there) return cb_fail(CB_ERROR_MEMORY, "no memory for results");
  return full ? cb_store_save(store) : CB_OK;
}

/* --- a segment --- */

static hid_t chunked(size_t rows, int rank, const hsize_t *dims, size_t bytes) {
  hsize_t chunk[1 + CB_STORE_RANK];
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  if (create < 0) return create;
  H5Pset_obj_track_times(create, false);
  chunk[0] = bytes && CHUNK_BYTES / bytes < rows ? CHUNK_BYTES / bytes : rows;
  if (!chunk[0]) chunk[0] = 1;
  for (int d = 1; d < rank; d++) chunk[d] = dims[d];
  if (bytes && bytes <= MOST_CHUNK) {
    H5Pset_chunk(create, rank, chunk);
    H5Pset_fletcher32(create);
  }
  return create;
}

/* A dataset of all rows. */
static bool put_rows(hid_t file, const char *name, hid_t type, hid_t memory, int rank, const hsize_t *dims,
                     size_t bytes, const void *data) {
  const hid_t create = chunked((size_t)dims[0], rank, dims, bytes), space = H5Screate_simple(rank, dims, NULL),
              set =
                  create < 0 || space < 0 ? -1 : H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  bool good = set >= 0 && H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  if (set >= 0) good = H5Dclose(set) >= 0 && good;
  if (space >= 0) H5Sclose(space);
  if (create >= 0) H5Pclose(create);
  return good;
}

static const void *value_at(const cb_member_result *r, size_t c, size_t at) {
  switch (c) {
    case CB_STORE_STATUS: return &r->status;
    case CB_STORE_FAILURE: return r->failure;
    case CB_STORE_WARNED: return &r->warned;
    case CB_STORE_WARNING: return r->warning;
    default: return r->values + at;
  }
}

static size_t states_of(const cb_store *s) {
  size_t states = 0;
  for (size_t i = 0; i < s->count; i++)
    if (s->row[i].states > states) states = s->row[i].states;
  return states;
}

static bool put_states(hid_t file, const cb_store *s, unsigned char *block) {
  const hsize_t dims[] = {s->count, states_of(s)};
  const size_t bytes = (size_t)dims[1] * sizeof(double);
  if (!bytes) return true;
  memset(block, 0, s->count * bytes);
  for (size_t i = 0; i < s->count; i++)
    if (s->row[i].states) memcpy(block + i * bytes, s->row[i].state, s->row[i].states * sizeof(double));
  return put_rows(file, "state", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, dims, bytes, block);
}

static bool build(hid_t file, const cb_store *s, unsigned char *block) {
  const cb_store_layout *l = s->layout;
  hsize_t dims[1 + CB_STORE_RANK] = {s->count};
  bool good = cb_hdf5_put_text(file, cb_store_mark, l->digest);
  _Static_assert(sizeof(cb_member_status) == sizeof(int32_t), "status is an int32");
  for (size_t i = 0; i < s->count; i++) memcpy(block + i * sizeof(int64_t), &s->row[i].member, sizeof(int64_t));
  good = good && put_rows(file, "member", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, dims, sizeof(int64_t), block);
  for (size_t i = 0; i < s->count; i++) memcpy(block + i * sizeof(double), &s->row[i].seconds, sizeof(double));
  good = good && put_rows(file, "seconds", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, dims, sizeof(double), block);
  good = good && put_states(file, s, block);
  for (size_t c = 0, at = 0; c < cb_store_columns(l) && good; c++) {
    const cb_store_column column = cb_store_column_of(l, c);
    bool any = !column.is_text;
    for (size_t i = 0; i < s->count; i++) {
      memcpy(block + i * column.bytes, value_at(&s->row[i], c, at), column.bytes);
      any = any || block[i * column.bytes];
    }
    for (int d = 0; d < column.rank; d++) dims[d + 1] = column.shape[d];
    if (any)
      good =
          put_rows(file, column.name, column.file_type, column.memory_type, column.rank + 1, dims, column.bytes, block);
    if (c >= CB_STORE_OWN) at += column.bytes;
  }
  return good;
}

static cb_status make_image(const cb_store *s, const char *path, cb_image *out) {
  size_t most = states_of(s) * sizeof(double);
  if (most < sizeof(int64_t)) most = sizeof(int64_t);
  for (size_t c = 0; c < cb_store_columns(s->layout); c++) {
    const size_t bytes = cb_store_column_of(s->layout, c).bytes;
    if (bytes > most) most = bytes;
  }
  unsigned char *block = malloc(s->count * most);
  if (!block) return cb_fail(CB_ERROR_MEMORY, "no memory for a segment of %zu members", s->count);
  const hid_t file = cb_memory_create();
  cb_status status = file < 0 || !build(file, s, block) ? cb_hdf5_fail(path, "write") : CB_OK;
  free(block);
  if (!status) status = cb_memory_image(file, path, out);
  if (file >= 0) H5Fclose(file);
  return status;
}

static int by_member(const void *a, const void *b) {
  const int64_t x = ((const cb_member_result *)a)->member, y = ((const cb_member_result *)b)->member;
  return (x > y) - (x < y);
}

/* Members whose states are of no use once this is saved; *n of them. NULL: none, or no memory: then they stay. */
static int64_t *find_long(const cb_store *s, size_t *n) {
  *n = 0;
  int64_t *member = s->midst ? malloc((s->count - s->saved + 1) * sizeof *member) : NULL;
  for (size_t i = s->saved; member && i < s->count; i++)
    if (s->row[i].seconds > long_seconds) member[(*n)++] = s->row[i].member;
  return member;
}

/* Under both mutexes: what is to be written. Rows that are on the disk keep their places, as the result names them. */
static cb_status take_image(cb_store *s, char **path, cb_image *image, int64_t **member, size_t *n) {
  *path = cb_segment_name(s->folder, s->number);
  if (!*path) return cb_fail(CB_ERROR_MEMORY, "no memory for the name of a segment");
  qsort(s->row + s->saved, s->count - s->saved, sizeof *s->row, by_member);
  const cb_status status = make_image(s, *path, image);
  if (status) return status;
  *member = find_long(s, n);
  s->saved = s->count;
  if (is_full(s)) clear(s), s->number++;
  return CB_OK;
}

cb_status cb_store_save(cb_store *s) {
  cb_image image = {NULL, 0};
  char *path = NULL;
  int64_t *member = NULL;
  size_t n = 0;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  pthread_mutex_lock(&s->saving);
  pthread_mutex_lock(&s->mutex);
  const bool any = s->count > s->saved;
  cb_status status = any ? take_image(s, &path, &image, &member, &n) : CB_OK;
  pthread_mutex_unlock(&s->mutex);
  if (!status && any) status = cb_image_save(&image, path, true, NULL);
  if (!status && any) cb_probe_trust(path);
  for (size_t i = 0; i < n && !status; i++) cb_midst_remove(s->midst, member[i]);
  pthread_mutex_unlock(&s->saving);
  cb_hdf5_quiet_end(quiet);
  free(member);
  free(image.bytes);
  free(path);
  return status;
}
