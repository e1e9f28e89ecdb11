/* See record_taken.h. */
#include "io/record_taken.h"
#include "core/failure.h"
#include "io/record_internal.h"
#include <stdlib.h>

static bool add(cb_stretch **list, size_t *n, size_t *room, uint64_t at, uint64_t size) {
  if (*n == *room) {
    const size_t more = *room ? 2 * *room : 64;
    cb_stretch *grown = realloc(*list, more * sizeof *grown);
    if (!grown) return false;
    *list = grown, *room = more;
  }
  (*list)[(*n)++] = (cb_stretch){at, size};
  return true;
}

void cb_taken_add(cb_taken *t, uint64_t at, uint64_t size) {
  if (t && !add(&t->own, &t->n_own, &t->room_own, at, size)) t->lacking = true;
}

void cb_taken_add_numbers(cb_taken *t, uint64_t at, uint64_t size) {
  if (t && !add(&t->numbers, &t->n_numbers, &t->room_numbers, at, size)) t->lacking = true;
}

void cb_taken_free(cb_taken *t) {
  free(t->own), free(t->numbers);
  *t = (cb_taken){0};
}

/* Differences, for at + size may be more than there are numbers. */
static bool meet(cb_stretch a, cb_stretch b) {
  return a.at <= b.at ? b.at - a.at < a.size && b.size : a.at - b.at < b.size && a.size;
}

/* Numbers, the n'th or others. */
static bool lie_alone(const cb_taken *t, cb_stretch s, size_t n) {
  bool alone = true;
  for (size_t i = 0; i < t->n_own && alone; i++) alone = !meet(t->own[i], s);
  for (size_t i = 0; i < t->n_numbers && alone; i++) alone = i == n || !meet(t->numbers[i], s);
  return alone;
}

typedef struct look {
  cb_taken *taken;
  const char *path;
  cb_record_position keep;
} look;

static cb_status refuse(const char *path, const char *name) {
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: damaged: /%s has numbers where other parts of the file are", path,
                        name);
}

static bool is_next(hsize_t *at, const hsize_t *first, const hsize_t *dims, const hsize_t *chunk, int rank) {
  int d = rank - 1;
  while (d >= 0 && dims[d] - at[d] <= chunk[d]) at[d] = first[d], d--;
  if (d >= 0) at[d] += chunk[d];
  return d >= 0;
}

static cb_status look_at_series(void *context, hid_t dataset, const char *name, bool is_event) {
  const look *l = context;
  hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK], first[H5S_MAX_RANK] = {0}, at[H5S_MAX_RANK] = {0}, size = 0;
  const hid_t create = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
  const int rank = H5Sget_simple_extent_dims(space, dims, NULL), of_chunk = H5Pget_chunk(create, H5S_MAX_RANK, chunk);
  bool any = rank > 0 && of_chunk == rank;
  H5Sclose(space);
  H5Pclose(create);
  for (int d = 0; any && d < rank; d++) any = dims[d] > 0;
  if (any) at[0] = first[0] = (is_event ? l->keep.events : l->keep.rows) / chunk[0] * chunk[0];
  for (bool more = any && at[0] < dims[0]; more; more = is_next(at, first, dims, chunk, rank)) {
    haddr_t address = HADDR_UNDEF;
    if (H5Dget_chunk_info_by_coord(dataset, at, NULL, &address, &size) < 0 || address == HADDR_UNDEF) continue;
    if (!lie_alone(l->taken, (cb_stretch){address, size}, SIZE_MAX)) return refuse(l->path, name);
    cb_taken_add_numbers(l->taken, address, size);
  }
  return CB_OK;
}

cb_status cb_taken_check(cb_taken *t, hid_t file, const char *path, cb_record_position keep) {
  look l = {t, path, keep};
  cb_status status = CB_OK;
  for (size_t i = 0; i < t->n_numbers && !status; i++)
    if (!lie_alone(t, t->numbers[i], i)) status = refuse(path, "");
  if (!status) status = cb_series_each(file, path, look_at_series, &l);
  return t->lacking ? cb_fail(CB_ERROR_MEMORY, "no memory to check %s", path) : status;
}
