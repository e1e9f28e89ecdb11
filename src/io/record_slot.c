/* Checkpoints: /checkpoint/slot0 and /checkpoint/slot1, written in turn, so that a writer killed in the middle of one
 * leaves the other whole.
 *
 * A slot has a dataset for each piece of state and `seal` = (checkpoints, rows, events, checksum), unsigned 64-bit.
 * The datasets are contiguous and laid out when the file is created: a checkpoint changes no metadata. The checksum
 * covers the other three numbers and every piece's bytes; a slot counts if its checksum is right. Slots of a new file
 * are all zero, which is not right.
 */
#include "core/failure.h"
#include "core/file.h"
#include "io/record_digest.h"
#include "io/record_internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHECKPOINTS, ROWS, EVENTS, CHECKSUM, SEAL };

static uint64_t checksum(const uint64_t seal[SEAL], const cb_blob *state, size_t n_state) {
  uint64_t hash = cb_digest_begin(seal[CHECKPOINTS]);
  hash = cb_digest_word(cb_digest_word(hash, seal[ROWS]), seal[EVENTS]);
  for (size_t b = 0; b < n_state; b++)
    if (state[b].count) hash = cb_digest_bytes(hash, state[b].data, state[b].count * cb_hdf5_type_size(state[b].type));
  return hash;
}

static void slot_name(char name[32], int slot) { snprintf(name, 32, "checkpoint/slot%d", slot); }

cb_status cb_slot_create(hid_t file, const char *path, const cb_blob *state, size_t n_state) {
  const hsize_t seal_dims[1] = {SEAL};
  const uint64_t unsealed[SEAL] = {0};
  hid_t parent = cb_hdf5_put_group(file, "checkpoint");
  bool made = parent >= 0 && cb_series_prepare_cut(parent);
  if (parent >= 0) H5Gclose(parent);
  if (!made) return cb_hdf5_fail(path, "create group checkpoint");
  for (int slot = 0; slot < CB_SLOTS; slot++) {
    char name[32];
    slot_name(name, slot);
    hid_t group = cb_hdf5_put_group(file, name), dataset = H5I_INVALID_HID;
    bool ok = group >= 0;
    if (ok) dataset = cb_hdf5_put_dataset(group, "seal", H5T_STD_U64LE, 1, seal_dims, H5T_NATIVE_UINT64, unsealed);
    ok = ok && dataset >= 0;
    if (dataset >= 0) H5Dclose(dataset);
    for (size_t b = 0; ok && b < n_state; b++) {
      const hsize_t dims[1] = {state[b].count};
      if (!state[b].count) continue;
      dataset =
          cb_hdf5_put_dataset(group, state[b].name, cb_hdf5_file_type(state[b].type), 1, dims, H5I_INVALID_HID, NULL);
      ok = dataset >= 0;
      if (ok) H5Dclose(dataset);
    }
    if (group >= 0) H5Gclose(group);
    if (!ok) return cb_hdf5_fail(path, "create %s", name);
  }
  return CB_OK;
}

/* Other versions keep other pieces of state, without which no run goes on bit for bit. */
static cb_status refuse_state(const char *path, const char *slot, const char *has) {
  return cb_fail_placed(
      CB_ERROR_INPUT,
      "%s: error: this version of curvebody cannot go on from the record: %s has %s: expected a record "
      "of this version, or the version that wrote it (attributes curvebody_version and git_commit)",
      path, slot, has);
}

/* The dataset of a slot, if it has this type and so many values. */
static cb_status open_piece(hid_t group, const char *path, const char *slot, const char *name, hid_t type, size_t count,
                            hid_t *out) {
  const hsize_t dims[1] = {count};
  hid_t dataset = H5Lexists(group, name, H5P_DEFAULT) > 0 ? H5Dopen2(group, name, H5P_DEFAULT) : H5I_INVALID_HID;
  char has[64];
  snprintf(has, sizeof has, "no `%.40s`", name);
  if (dataset < 0) return refuse_state(path, slot, has);
  *out = dataset;
  if (cb_hdf5_dataset_is(dataset, type, 1, dims)) return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s/%s has another type or length, expected %zu values", path, slot,
                        name, count);
}

static cb_status open_slot(hid_t file, const char *path, int number, const cb_blob *state, size_t n_state,
                           cb_slot *slot) {
  char name[32];
  slot_name(name, number);
  hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
  if (group < 0) return cb_fail_placed(CB_ERROR_INPUT, "%s: error: no group %s", path, name);
  hsize_t expected = 1; /* seal */
  cb_status status = open_piece(group, path, name, "seal", H5T_STD_U64LE, SEAL, &slot->seal);
  for (size_t b = 0; !status && b < n_state; b++) {
    if (!state[b].count) continue;
    expected++;
    status =
        open_piece(group, path, name, state[b].name, cb_hdf5_file_type(state[b].type), state[b].count, &slot->blobs[b]);
  }
  H5G_info_t info = {.nlinks = 0};
  if (!status && H5Gget_info(group, &info) >= 0 && info.nlinks != expected) {
    char has[96];
    snprintf(has, sizeof has, "%llu pieces of state, not %llu", (unsigned long long)info.nlinks - 1,
             (unsigned long long)expected - 1);
    status = refuse_state(path, name, has);
  }
  H5Gclose(group);
  return status;
}

cb_status cb_slot_open(hid_t file, const char *path, const cb_blob *state, size_t n_state, cb_slot slots[CB_SLOTS]) {
  cb_status status = CB_OK;
  for (int slot = 0; slot < CB_SLOTS; slot++) {
    slots[slot].seal = H5I_INVALID_HID;
    for (size_t b = 0; b < n_state; b++) slots[slot].blobs[b] = H5I_INVALID_HID;
  }
  for (int slot = 0; !status && slot < CB_SLOTS; slot++)
    status = open_slot(file, path, slot, state, n_state, &slots[slot]);
  return status;
}

cb_status cb_slot_write(const cb_record *record) {
  const cb_record_position *at = &record->checkpoint;
  const cb_slot *slot = &record->slots[at->checkpoints % CB_SLOTS];
  uint64_t seal[SEAL] = {at->checkpoints, at->rows, at->events, 0};
  seal[CHECKSUM] = checksum(seal, record->state, record->n_state);
  bool ok = true;
  for (size_t b = 0; ok && b < record->n_state; b++)
    if (record->state[b].count)
      ok = H5Dwrite(slot->blobs[b], cb_hdf5_memory_type(record->state[b].type), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    record->state[b].data) >= 0;
  ok = ok && H5Dwrite(slot->seal, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, seal) >= 0;
  return ok ? CB_OK : cb_hdf5_fail(record->path, "write checkpoint %llu", (unsigned long long)at->checkpoints);
}

size_t cb_slot_stretches(cb_record *record) {
  const cb_slot *slot = &record->slots[record->sealed % CB_SLOTS];
  size_t n = 0;
  for (size_t b = 0; b <= record->n_state && record->sealed; b++) {
    const hid_t dataset = b < record->n_state ? slot->blobs[b] : slot->seal;
    /* within the file: record_check.c */
    const haddr_t at = dataset < 0 ? HADDR_UNDEF : H5Dget_offset(dataset);
    if (at != HADDR_UNDEF) record->keep[n++] = (cb_stretch){at, H5Dget_storage_size(dataset)};
  }
  return n;
}

/* Reads one slot into state; false if it cannot be read, is not whole or is ahead of the rows. */
static bool read_slot(const cb_slot *slot, cb_record_position have, cb_blob *state, size_t n_state,
                      uint64_t seal[SEAL]) {
  bool ok = cb_hdf5_read(slot->seal, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, seal);
  if (!ok || seal[CHECKPOINTS] == 0 || seal[ROWS] > have.rows || seal[EVENTS] > have.events) return false;
  for (size_t b = 0; ok && b < n_state; b++)
    ok = !state[b].count ||
         cb_hdf5_read(slot->blobs[b], cb_hdf5_memory_type(state[b].type), H5S_ALL, H5S_ALL, state[b].data);
  return ok && checksum(seal, state, n_state) == seal[CHECKSUM];
}

static void close_slots(cb_slot slots[CB_SLOTS], size_t n_state) {
  for (int slot = 0; slot < CB_SLOTS; slot++) {
    if (slots[slot].seal >= 0) H5Dclose(slots[slot].seal);
    for (size_t b = 0; b < n_state; b++)
      if (slots[slot].blobs[b] >= 0) H5Dclose(slots[slot].blobs[b]);
  }
}

static void free_copy(cb_blob *copy, size_t count) {
  for (size_t b = 0; copy && b < count; b++) free(copy[b].data);
  free(copy);
}

static cb_blob *copy_shape(const cb_blob *state, size_t n_state) {
  cb_blob *copy = calloc(n_state ? n_state : 1, sizeof *copy);
  bool ok = copy;
  for (size_t b = 0; ok && b < n_state; b++) {
    copy[b] = state[b];
    ok = (copy[b].data = malloc(state[b].count * cb_hdf5_type_size(state[b].type) + 1));
  }
  if (ok) return copy;
  free_copy(copy, n_state);
  return NULL;
}

/* The newer of two whole slots into state. */
static cb_status read_newest(const char *path, const cb_slot slots[CB_SLOTS], cb_record_position have, cb_blob *state,
                             size_t n_state, cb_record_position *position) {
  cb_blob *copy = copy_shape(state, n_state);
  if (!copy) return cb_fail(CB_ERROR_MEMORY, "no memory to read a checkpoint");
  uint64_t newest = 0;
  for (int slot = 0; slot < CB_SLOTS; slot++) {
    uint64_t seal[SEAL];
    if (!read_slot(&slots[slot], have, copy, n_state, seal) || seal[CHECKPOINTS] <= newest) continue;
    newest = seal[CHECKPOINTS];
    for (size_t b = 0; b < n_state; b++)
      if (state[b].count) memcpy(state[b].data, copy[b].data, state[b].count * cb_hdf5_type_size(state[b].type));
    *position = (cb_record_position){seal[ROWS], seal[EVENTS], seal[CHECKPOINTS]};
  }
  free_copy(copy, n_state);
  if (newest) return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: no whole checkpoint in it; run its scenario again", path);
}

cb_status cb_slot_read(hid_t file, const char *path, cb_record_position have, cb_blob *state, size_t n_state,
                       cb_record_position *position) {
  hid_t *blobs = malloc(CB_SLOTS * (n_state + 1) * sizeof *blobs);
  if (!blobs) return cb_fail(CB_ERROR_MEMORY, "no memory to read a checkpoint");
  cb_slot slots[CB_SLOTS] = {{.blobs = blobs}, {.blobs = blobs + n_state}};
  cb_status status = cb_slot_open(file, path, state, n_state, slots);
  if (!status) status = read_newest(path, slots, have, state, n_state, position);
  close_slots(slots, n_state);
  free(blobs);
  return status;
}

/* ---- Of whatever state */

typedef struct any_slot {
  const char *path;
  uint64_t bytes; /* of the file */
  uint64_t seal[SEAL], hash;
  bool whole;
} any_slot;

/* A piece, in the order of their creation; the first is the seal. */
static cb_status visit_piece(void *context, hid_t group, const char *name, const H5L_info_t *link) {
  any_slot *a = context;
  hid_t dataset = link->type == H5L_TYPE_HARD ? H5Dopen2(group, name, H5P_DEFAULT) : H5I_INVALID_HID;
  const hid_t type = dataset < 0 ? dataset : H5Dget_type(dataset);
  const hsize_t bytes = dataset < 0 ? 0 : H5Dget_storage_size(dataset);
  const bool seal = !strcmp(name, "seal");
  void *data = NULL;
  a->whole = a->whole && bytes && bytes <= a->bytes && (!seal || bytes == sizeof a->seal);
  if (a->whole && !(data = malloc(bytes))) {
    H5Tclose(type), H5Dclose(dataset);
    return cb_fail(CB_ERROR_MEMORY, "%s: no memory to read a checkpoint", a->path);
  }
  a->whole = a->whole && cb_hdf5_read(dataset, type, H5S_ALL, H5S_ALL, data);
  if (a->whole && seal) {
    memcpy(a->seal, data, sizeof a->seal);
    a->hash = checksum(a->seal, NULL, 0);
  } else if (a->whole) {
    a->hash = cb_digest_bytes(a->hash, data, bytes);
  }
  free(data);
  if (type >= 0) H5Tclose(type);
  if (dataset >= 0) H5Dclose(dataset);
  return CB_OK;
}

cb_status cb_slot_newest(hid_t file, const char *path, cb_record_position have, cb_record_position *position) {
  struct stat info;
  if (stat(path, &info) != 0) return cb_fail_file(path, "read", errno);
  *position = (cb_record_position){0};
  for (int slot = 0; slot < CB_SLOTS; slot++) {
    any_slot a = {.path = path, .bytes = (uint64_t)info.st_size, .whole = true};
    char name[32];
    slot_name(name, slot);
    const hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
    if (group < 0) continue;
    const cb_status status = cb_hdf5_each_link(group, path, H5_INDEX_CRT_ORDER, visit_piece, &a);
    H5Gclose(group);
    if (status == CB_ERROR_MEMORY) return status;
    if (!status && a.whole && a.hash == a.seal[CHECKSUM] && a.seal[CHECKPOINTS] > position->checkpoints &&
        a.seal[ROWS] <= have.rows && a.seal[EVENTS] <= have.events)
      *position = (cb_record_position){a.seal[ROWS], a.seal[EVENTS], a.seal[CHECKPOINTS]};
  }
  return CB_OK;
}
