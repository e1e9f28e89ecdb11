/* The store: results in memory, the segments that are made from them, their columns, and the checkpoints of members. */
#include "sweep/store_private.h"
#include "core/failure.h"
#include "record/hdf5.h"
#include "sweep/store.h"
#include "core/file.h"
#include "core/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <unistd.h>

enum { HEAD = 512, DIGEST = SHA256_DIGEST_SIZE };

static size_t bytes_of(const cb_blob *piece) { return piece->count * (piece->type == CB_FIELD_INT32 ? 4 : 8); }

static void path_of(const cb_member_checkpoint *checkpoint, int64_t member, const char *ending, char *out,
                    size_t size) {
  snprintf(out, size, "%s/%lld%s", checkpoint->folder, (long long)member, ending);
}

/* Makes the first line of a checkpoint, padded with blanks to HEAD bytes. */
static void head_of(const cb_member_checkpoint *checkpoint, int64_t member, const cb_blob *piece, size_t n, size_t last,
                    char head[HEAD]) {
  size_t total = 0;
  for (size_t i = 0; i + 1 < n; i++) total += bytes_of(&piece[i]);
  memset(head, ' ', HEAD);
  const int length = snprintf(head, HEAD, "curvebody member 1 %s %lld %zu %zu %zu", checkpoint->digest,
                              (long long)member, n, total, last);
  head[length < HEAD ? length : HEAD - 1] = ' ';
  head[HEAD - 1] = '\n';
}

static bool put(FILE *file, struct sha256_ctx *sum, const void *data, size_t bytes) {
  sha256_update(sum, bytes, data);
  return fwrite(data, 1, bytes, file) == bytes;
}

cb_status cb_member_checkpoint_save(const cb_member_checkpoint *checkpoint, int64_t member, const cb_blob *piece,
                                    size_t n) {
  char path[4096], part[4096], head[HEAD];
  uint8_t digest[DIGEST];
  path_of(checkpoint, member, ".state", path, sizeof path);
  path_of(checkpoint, member, ".part", part, sizeof part);
  head_of(checkpoint, member, piece, n, piece[n - 1].count, head);
  FILE *file = cb_open_stream(part, O_CREAT | O_TRUNC);
  if (!file) return cb_fail_file(part, "write", errno);
  struct sha256_ctx sum;
  sha256_init(&sum);
  bool good = put(file, &sum, head, HEAD);
  for (size_t i = 0; i < n && good; i++) good = put(file, &sum, piece[i].data, bytes_of(&piece[i]));
  sha256_digest(&sum, DIGEST, digest);
  good = good && fwrite(digest, 1, DIGEST, file) == DIGEST && fflush(file) == 0;
  int reason = errno;
  if (fclose(file) && good) {
    good = false;
    reason = errno;
  }
  if (good && rename(part, path)) {
    good = false;
    reason = errno;
  }
  if (good) return CB_OK;
  unlink(part);
  return cb_fail_file(path, "write", reason);
}

/* Reads the pieces of a checkpoint from the contents of its file; false: the file is not valid, and nothing is read. */
static bool take(char *data, size_t bytes, const cb_member_checkpoint *checkpoint, int64_t member, cb_blob *piece,
                 size_t n, size_t *last) {
  char head[HEAD];
  uint8_t digest[DIGEST];
  size_t total = HEAD + DIGEST;
  for (size_t i = 0; i + 1 < n; i++) total += bytes_of(&piece[i]);
  const size_t unit = piece[n - 1].type == CB_FIELD_INT32 ? 4 : 8;
  if (bytes < total || (bytes - total) % unit || (bytes - total) / unit > piece[n - 1].count) return false;
  *last = (bytes - total) / unit;
  head_of(checkpoint, member, piece, n, *last, head);
  struct sha256_ctx sum;
  sha256_init(&sum);
  sha256_update(&sum, bytes - DIGEST, (const uint8_t *)data);
  sha256_digest(&sum, DIGEST, digest);
  if (memcmp(head, data, HEAD) || memcmp(digest, data + bytes - DIGEST, DIGEST)) return false;
  const char *from = data + HEAD;
  for (size_t i = 0; i < n; i++) {
    const size_t size = i + 1 < n ? bytes_of(&piece[i]) : *last * unit;
    if (size) memcpy(piece[i].data, from, size);
    from += size;
  }
  return true;
}

bool cb_member_checkpoint_load(const cb_member_checkpoint *checkpoint, int64_t member, cb_blob *piece, size_t n,
                               size_t *last) {
  char path[4096], *data;
  size_t bytes, limit = HEAD + DIGEST;
  for (size_t i = 0; i < n; i++) limit += bytes_of(&piece[i]);
  path_of(checkpoint, member, ".state", path, sizeof path);
  if (access(path, R_OK) || cb_read_whole_file(path, limit, &data, &bytes)) return false;
  const bool good = take(data, bytes, checkpoint, member, piece, n, last);
  free(data);
  return good;
}

static void remove_checkpoint(const cb_member_checkpoint *checkpoint, int64_t member) {
  char path[4096];
  path_of(checkpoint, member, ".state", path, sizeof path);
  unlink(path);
}

enum { CHUNK_BYTES = 1 << 20, CHUNK_MAX = 1 << 30 };
static const double long_seconds = 1; /* shorter members have no checkpoints (sweep/runner.c) */

struct cb_store {
  const cb_segments *folder;
  const cb_store_layout *layout;
  const cb_member_checkpoint *checkpoint;
  uint64_t number; /* the number of the segment that is being filled */
  cb_member_result *row;
  cb_store_row *known;                  /* [members], if members continue from states of other members; or NULL */
  size_t count, capacity, saved, bytes; /* saved: the number of rows on disk, which are the first rows */
  pthread_mutex_t saving, mutex; /* `mutex` guards all members of the store; `saving` must be locked before `mutex` */
};

cb_status cb_store_open(const cb_segments *folder, const cb_store_layout *layout, int worker,
                        const cb_member_checkpoint *checkpoint, cb_store **out) {
  const uint64_t first = (uint64_t)worker * CB_SEGMENTS_OF_WORKER + 1;
  uint64_t *number;
  size_t count;
  cb_status status = cb_segments_list(folder, &number, &count);
  if (status) return status;
  cb_store *store = calloc(1, sizeof *store);
  if (store) {
    *store = (cb_store){.folder = folder, .layout = layout, .checkpoint = checkpoint, .number = first};
    for (size_t i = 0; i < count; i++)
      if (number[i] >= first && number[i] < first + CB_SEGMENTS_OF_WORKER) store->number = number[i] + 1;
    pthread_mutex_init(&store->saving, NULL);
    pthread_mutex_init(&store->mutex, NULL);
  }
  free(number);
  if (!store) return cb_fail(CB_ERROR_MEMORY, "no memory for results");
  cb_results_scan scan;
  if (layout->goes_on && (status = cb_results_scan_read(folder, layout, false, &scan))) {
    cb_store_free(store);
    return status;
  }
  if (layout->goes_on) {
    store->known = scan.known;
    scan.known = NULL;
    cb_results_scan_free(&scan);
  }
  *out = store;
  return CB_OK;
}

static void clear(cb_store *store) {
  for (size_t i = 0; i < store->count; i++) {
    free(store->row[i].values);
    free(store->row[i].state);
  }
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

/* Stores a copy of the member's row, and removes an earlier row that is not on disk yet; false: there is no memory. */
static bool know(cb_store *store, const cb_member_result *r) {
  cb_store_row *known = &store->known[r->member];
  double *copy = malloc((r->states + 1) * sizeof *copy);
  if (!copy) return false;
  if (r->states) memcpy(copy, r->state, r->states * sizeof *copy);
  free(known->state);
  *known = (cb_store_row){r->status, copy, r->states};
  for (size_t i = store->saved; i < store->count; i++)
    if (store->row[i].member == r->member) {
      free(store->row[i].values);
      free(store->row[i].state);
      store->row[i] = store->row[--store->count];
    }
  return true;
}

const cb_store_row *cb_store_row_of(const cb_store *store, int64_t member) { return &store->known[member]; }

static bool is_full(const cb_store *store) { return store->bytes >= CB_SEGMENT_BYTES; }

cb_status cb_store_put(cb_store *store, const cb_member_result *result) {
  pthread_mutex_lock(&store->mutex);
  bool there = !store->known || know(store, result);
  if (there && store->count == store->capacity) {
    const size_t capacity = store->capacity ? 2 * store->capacity : 64;
    cb_member_result *more = realloc(store->row, capacity * sizeof *more);
    there = more != NULL;
    if (more) {
      store->row = more;
      store->capacity = capacity;
    }
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
  if (bytes && bytes <= CHUNK_MAX) {
    H5Pset_chunk(create, rank, chunk);
    H5Pset_fletcher32(create);
  }
  return create;
}

/* Writes a dataset of all rows. */
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
  size_t maximum = states_of(s) * sizeof(double);
  if (maximum < sizeof(int64_t)) maximum = sizeof(int64_t);
  for (size_t c = 0; c < cb_store_columns(s->layout); c++) {
    const size_t bytes = cb_store_column_of(s->layout, c).bytes;
    if (bytes > maximum) maximum = bytes;
  }
  unsigned char *block = malloc(s->count * maximum);
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

/* Lists the members whose checkpoints are not needed after this save; *n becomes their number. Returns NULL if there is
 * no such member, or no memory; the checkpoints then remain. */
static int64_t *find_long(const cb_store *s, size_t *n) {
  *n = 0;
  int64_t *member = s->checkpoint ? malloc((s->count - s->saved + 1) * sizeof *member) : NULL;
  for (size_t i = s->saved; member && i < s->count; i++)
    if (s->row[i].seconds > long_seconds) member[(*n)++] = s->row[i].member;
  return member;
}

/* Makes the image of the segment that is to be written. The caller holds both mutexes. Rows that are on disk keep their
 * indices, because the result refers to them. */
static cb_status take_image(cb_store *s, char **path, cb_image *image, int64_t **member, size_t *n) {
  *path = cb_segment_name(s->folder, s->number);
  if (!*path) return cb_fail(CB_ERROR_MEMORY, "no memory for the name of a segment");
  qsort(s->row + s->saved, s->count - s->saved, sizeof *s->row, by_member);
  const cb_status status = make_image(s, *path, image);
  if (status) return status;
  *member = find_long(s, n);
  s->saved = s->count;
  if (is_full(s)) {
    clear(s);
    s->number++;
  }
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
  for (size_t i = 0; i < n && !status; i++) remove_checkpoint(s->checkpoint, member[i]);
  pthread_mutex_unlock(&s->saving);
  cb_hdf5_quiet_end(quiet);
  free(member);
  free(image.bytes);
  free(path);
  return status;
}

/* --- the columns of results, and boxes of members --- */

static const char *const letter[] = {"letter"};

size_t cb_store_columns(const cb_store_layout *layout) { return CB_STORE_OWN + layout->n_fields; }

static cb_store_column own_column(size_t c) {
  static const struct {
    const char *name, *doc;
    bool is_text;
  } own[CB_STORE_OWN] = {{"status", "status of a member", false},
                         {"failure", "error message of a failed member", true},
                         {"warned", "number of warnings of a member", false},
                         {"warning", "first warning of a member", true}};
  cb_store_column out = {.name = own[c].name, .doc = own[c].doc, .is_text = own[c].is_text};
  out.file_type = out.is_text ? H5T_C_S1 : H5T_STD_I32LE;
  out.memory_type = out.is_text ? H5T_C_S1 : H5T_NATIVE_INT32;
  out.bytes = out.is_text ? CB_STORE_TEXT : sizeof(int32_t);
  if (out.is_text) {
    out.rank = 1;
    out.shape[0] = CB_STORE_TEXT;
    out.dims = letter;
  }
  return out;
}

cb_store_column cb_store_column_of(const cb_store_layout *layout, size_t c) {
  if (c < CB_STORE_OWN) return own_column(c);
  const cb_store_field *f = &layout->fields[c - CB_STORE_OWN];
  cb_store_column out = {.name = f->name,
                         .file_type = cb_hdf5_file_type(f->type),
                         .memory_type = cb_hdf5_memory_type(f->type),
                         .rank = f->rank,
                         .dims = f->dims,
                         .units = f->units,
                         .doc = f->doc,
                         .bytes = cb_store_field_count(f) * cb_hdf5_type_size(f->type),
                         .is_real = f->type == CB_FIELD_DOUBLE};
  for (int d = 0; d < f->rank; d++) out.shape[d] = f->shape[d];
  return out;
}

size_t cb_store_field_count(const cb_store_field *field) {
  size_t count = 1;
  for (int d = 0; d < field->rank; d++) count *= field->shape[d];
  return count;
}

size_t cb_store_bytes(const cb_store_layout *layout) {
  size_t bytes = 0;
  for (size_t c = 0; c < cb_store_columns(layout); c++) bytes += cb_store_column_of(layout, c).bytes;
  return bytes;
}

void cb_store_text(const char *text, char out[CB_STORE_TEXT]) {
  size_t n = strlen(text);
  if (n > CB_STORE_TEXT)
    for (n = CB_STORE_TEXT; n && ((unsigned char)text[n] & 0xc0) == 0x80;) n--;
  memset(out, 0, CB_STORE_TEXT);
  memcpy(out, text, n);
}

bool cb_store_boxes(const cb_store_layout *l, int64_t m, int64_t end, cb_store_box visit, void *context) {
  const int axes = (int)l->n_axes;
  bool good = true;
  while (m < end && good) {
    hsize_t start[CB_STORE_AXES] = {0}, count[CB_STORE_AXES];
    int64_t rest = m, whole = 1;
    for (int d = axes; d-- > 0;) {
      start[d] = (hsize_t)(rest % (int64_t)l->axes[d].count);
      rest /= (int64_t)l->axes[d].count;
      count[d] = 1;
    }
    int along = axes - 1; /* the first axis such that all later axes are complete */
    while (along > 0 && start[along] == 0 && whole * (int64_t)l->axes[along].count <= end - m)
      whole *= (int64_t)l->axes[along--].count;
    const int64_t maximum = (int64_t)(l->axes[along].count - start[along]);
    int64_t fit = (end - m) / whole;
    if (fit > maximum) fit = maximum;
    for (int d = along + 1; d < axes; d++) count[d] = l->axes[d].count;
    count[along] = (hsize_t)fit;
    good = visit(context, start, count, m, (size_t)(fit * whole));
    m += fit * whole;
  }
  return good;
}
