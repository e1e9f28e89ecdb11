/* See record_taken.h. */
#include "io/record_taken.h"
#include "core/failure.h"
#include "io/record_internal.h"
#include <stdlib.h>

typedef struct cb_taken_part part;

void cb_taken_add(cb_taken *t, uint64_t at, uint64_t size, bool numbers) {
  if (!t || !size) return;
  if (t->count == t->room) {
    const size_t room = t->room ? 2 * t->room : 128;
    part *grown = realloc(t->part, room * sizeof *grown);
    if (!grown) return (void)(t->lacking = true);
    t->part = grown, t->room = room;
  }
  t->part[t->count++] = (part){at, size, numbers};
}

void cb_taken_free(cb_taken *t) {
  free(t->part);
  *t = (cb_taken){0};
}

typedef struct look {
  cb_taken *taken;
  const char *path;
  cb_record_position keep;
} look;

static bool is_next(hsize_t *at, const hsize_t *first, const hsize_t *dims, const hsize_t *chunk, int rank) {
  int d = rank - 1;
  while (d >= 0 && dims[d] - at[d] <= chunk[d]) at[d] = first[d], d--;
  if (d >= 0) at[d] += chunk[d];
  return d >= 0;
}

/* The chunks that are not before what is kept. */
static cb_status take_chunks(void *context, hid_t dataset, const char *name, bool is_event) {
  const look *l = context;
  hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK], first[H5S_MAX_RANK] = {0}, at[H5S_MAX_RANK] = {0}, size = 0;
  const hid_t create = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
  if (create < 0 || space < 0) return cb_hdf5_fail(l->path, "read how /%s is laid out", name);
  const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
  bool any = H5Pget_layout(create) == H5D_CHUNKED && H5Pget_chunk(create, H5S_MAX_RANK, chunk) == rank;
  H5Sclose(space);
  H5Pclose(create);
  for (int d = 0; any && d < rank; d++) any = dims[d] > 0;
  if (any) at[0] = first[0] = (is_event ? l->keep.events : l->keep.rows) / chunk[0] * chunk[0];
  for (bool more = any && at[0] < dims[0]; more; more = is_next(at, first, dims, chunk, rank)) {
    haddr_t address = HADDR_UNDEF;
    if (H5Dget_chunk_info_by_coord(dataset, at, NULL, &address, &size) >= 0 && address != HADDR_UNDEF)
      cb_taken_add(l->taken, address, size, true);
  }
  return CB_OK;
}

static int by_place(const void *one, const void *other) {
  const part *a = one, *b = other;
  return a->at < b->at ? -1 : a->at > b->at;
}

/* In the order of the file: none begins in numbers before it, nor numbers in what is before them. */
static bool lie_by_themselves(cb_taken *t) {
  uint64_t end[2] = {0}; /* of what is HDF5's own so far, of numbers */
  bool alone = true;
  qsort(t->part, t->count, sizeof *t->part, by_place);
  for (size_t i = 0; i < t->count && alone; i++) {
    const part *p = &t->part[i];
    alone = p->at >= end[1] && (!p->numbers || p->at >= end[0]);
    const uint64_t its = p->size > UINT64_MAX - p->at ? UINT64_MAX : p->at + p->size;
    if (end[p->numbers] < its) end[p->numbers] = its;
  }
  return alone;
}

cb_status cb_taken_check(cb_taken *t, hid_t file, const char *path, cb_record_position keep) {
  look l = {t, path, keep};
  const cb_status status = cb_series_each(file, path, take_chunks, &l);
  if (t->lacking) return cb_fail(CB_ERROR_MEMORY, "no memory to check %s", path);
  if (status || lie_by_themselves(t)) return status;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: damaged: it has numbers where other parts of it are", path);
}
