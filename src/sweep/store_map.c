/* The datasets of a store, and their places in its file. */
#include "core/failure.h"
#include "sweep/store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const cb_store_own cb_store_owns[CB_STORE_OWN] = {{"member", 8},
                                                  {"status", 4},
                                                  {"digest", 4},
                                                  {"seconds", 8},
                                                  {"failure", CB_STORE_WORDS},
                                                  {"warned", 4},
                                                  {"warning", CB_STORE_WORDS}};

hid_t cb_store_own_type(int which) {
  switch (which) {
    case CB_STORE_MEMBER: return H5Tcopy(H5T_STD_I64LE);
    case CB_STORE_SECONDS: return H5Tcopy(H5T_IEEE_F64LE);
    case CB_STORE_FAILURE:
    case CB_STORE_WARNING: return H5Tcopy(H5T_C_S1);
    default: return H5Tcopy(H5T_STD_I32LE);
  }
}

size_t cb_store_field_count(const cb_store_field *field) {
  size_t count = 1;
  for (int d = 0; d < field->rank; d++) count *= field->shape[d];
  return count;
}

size_t cb_store_bytes(const cb_store_layout *layout) {
  size_t bytes = 0;
  for (int i = 0; i < CB_STORE_OWN; i++) bytes += cb_store_owns[i].bytes;
  for (size_t f = 0; f < layout->n_fields; f++)
    bytes += cb_store_field_count(&layout->fields[f]) * cb_hdf5_type_size(layout->fields[f].type);
  return bytes;
}

cb_status cb_store_map_alloc(const cb_store_layout *layout, cb_store_map *out) {
  *out = (cb_store_map){.field = calloc(layout->n_fields + 1, sizeof *out->field),
                        .bytes = calloc(layout->n_fields + 1, sizeof *out->bytes)};
  if (!out->field || !out->bytes) return cb_store_map_free(out), cb_fail(CB_ERROR_MEMORY, "no memory for a store");
  for (size_t f = 0; f < layout->n_fields; f++)
    out->bytes[f] = cb_store_field_count(&layout->fields[f]) * cb_hdf5_type_size(layout->fields[f].type);
  return CB_OK;
}

void cb_store_map_free(cb_store_map *map) {
  free(map->field);
  free(map->bytes);
  *map = (cb_store_map){0};
}

/* Words of 8 bytes are mixed by the finalizer of splitmix64 (numerics/random.h). */
static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

int32_t cb_store_digest(int64_t member, int32_t status, const cb_store_layout *layout, const cb_store_map *map,
                        const unsigned char *const *values_, size_t i) {
  uint64_t sum = mix((uint64_t)member + UINT64_C(0x9e3779b97f4a7c15)) ^ (uint64_t)status;
  for (size_t f = 0; f < layout->n_fields; f++) {
    const unsigned char *values = values_[f] + i * map->bytes[f];
    size_t at = 0;
    for (; at + 8 <= map->bytes[f]; at += 8) {
      uint64_t word;
      memcpy(&word, values + at, 8);
      sum = mix(sum * UINT64_C(0x9e3779b97f4a7c15) + word);
    }
    uint64_t rest = 0;
    memcpy(&rest, values + at, map->bytes[f] - at);
    sum = mix(sum * UINT64_C(0x9e3779b97f4a7c15) + rest + 1);
  }
  const int32_t digest = (int32_t)(uint32_t)(sum >> 32);
  return digest ? digest : 1;
}

/* The place of a dataset of just this type and shape; dims[0] is found. */
static bool place_of(hid_t file, const char *name, hid_t type, int rank, hsize_t *dims, uint64_t *offset) {
  const hid_t set = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
  if (set < 0) return false;
  const hid_t create = H5Dget_create_plist(set), space = H5Dget_space(set);
  hsize_t found[H5S_MAX_RANK] = {0};
  const hsize_t known = dims[0];
  dims[0] = H5S_UNLIMITED;
  bool good = cb_hdf5_dataset_is(set, type, rank, dims) && !cb_hdf5_elsewhere(create) &&
              H5Pget_layout(create) == H5D_CONTIGUOUS && H5Sget_simple_extent_dims(space, found, NULL) == rank;
  dims[0] = found[0];
  good = good && (!known || known == found[0]);
  const haddr_t at = good ? H5Dget_offset(set) : HADDR_UNDEF;
  H5Sclose(space);
  H5Pclose(create);
  H5Dclose(set);
  *offset = at;
  return good && at != HADDR_UNDEF;
}

static bool places(hid_t file, const cb_store_layout *layout, cb_store_map *map) {
  hsize_t dims[1 + CB_STORE_RANK] = {0};
  for (int i = 0; i < CB_STORE_OWN; i++) {
    const hid_t type = cb_store_own_type(i);
    dims[1] = CB_STORE_WORDS;
    const char *name = cb_store_owns[i].name;
    const bool later = i >= CB_STORE_WARNED && H5Lexists(file, name, H5P_DEFAULT) <= 0,
               good = later || place_of(file, name, type, cb_store_own_is_text(i) ? 2 : 1, dims, &map->own[i]);
    H5Tclose(type);
    if (!good) return false;
    if (later) map->own[i] = 0;
  }
  for (size_t f = 0; f < layout->n_fields; f++) {
    const cb_store_field *field = &layout->fields[f];
    for (int d = 0; d < field->rank; d++) dims[d + 1] = field->shape[d];
    if (!place_of(file, field->name, cb_hdf5_file_type(field->type), field->rank + 1, dims, &map->field[f]))
      return false;
  }
  map->capacity = dims[0];
  return true;
}

/* All of it lies within the file. */
static bool fits(const cb_store_layout *layout, const cb_store_map *map, uint64_t size) {
  bool good = map->capacity > 0 && map->capacity < INT32_MAX;
  for (int i = 0; i < CB_STORE_OWN && good; i++)
    good = !map->own[i] || (map->own[i] <= size && map->capacity <= (size - map->own[i]) / cb_store_owns[i].bytes);
  for (size_t f = 0; f < layout->n_fields && good; f++)
    good = map->field[f] <= size && (!map->bytes[f] || map->capacity <= (size - map->field[f]) / map->bytes[f]);
  return good;
}

cb_status cb_store_map_read(const char *path, const cb_store_layout *layout, cb_store_map *out) {
  cb_status status = cb_store_map_alloc(layout, out);
  if (status) return status;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY);
  hsize_t size = 0;
  errno = 0;
  char *digest = file >= 0 ? cb_hdf5_get_text_attribute(file, "sweep_digest") : NULL;
  if (file < 0)
    status = cb_hdf5_fail(path, "read");
  else if (!digest && errno == ENOMEM)
    status = cb_fail(CB_ERROR_MEMORY, "no memory to read %s", path);
  else if (!digest)
    status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: this is no file of a sweep", path);
  else if (strcmp(digest, layout->digest))
    status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: this is of another sweep", path);
  else if (!places(file, layout, out) || H5Fget_filesize(file, &size) < 0 || !fits(layout, out, size))
    status = cb_fail_placed(CB_ERROR_INPUT,
                            "%s: error: this file of a sweep is damaged: its arrays are not as they were "
                            "made",
                            path);
  free(digest);
  if (file >= 0) cb_hdf5_close_read(file, path);
  status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  if (status) cb_store_map_free(out);
  return status;
}
