/* Checkpoints: /checkpoint/slot0 and /checkpoint/slot1, written in turn, so that a writer killed in the middle of one
 * leaves the other whole.
 *
 * A slot has a dataset for each piece of state and `seal` = (checkpoints, rows, events, checksum), unsigned 64-bit.
 * The datasets are contiguous and laid out when the file is created: a checkpoint changes no metadata. The checksum
 * covers the other three numbers and every piece's bytes; a slot counts if its checksum is right. Slots of a new file
 * are all zero, which is not right.
 */
#include "io/record_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKPOINTS, ROWS, EVENTS, CHECKSUM, SEAL };

/* Every word passes through a bijection of the 64-bit state (xor, odd multiple, shift-xor), so that a difference in one
 * word is never lost; the multiplier is 2^64 over the golden ratio. */
static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

static uint64_t checksum(const uint64_t seal[SEAL], const cb_blob *state, size_t n_state) {
  uint64_t hash = UINT64_C(0x6375727665626f64); /* not 0 for a slot of zeros */
  for (int i = 0; i < CHECKSUM; i++) hash = mix(hash, seal[i]);
  for (size_t b = 0; b < n_state; b++) {
    size_t bytes = state[b].count * cb_hdf5_type_size(state[b].type);
    const unsigned char *data = state[b].data;
    hash = mix(hash, bytes);
    for (size_t at = 0; at < bytes; at += 8) {
      uint64_t word = 0;
      memcpy(&word, data + at, bytes - at < 8 ? bytes - at : 8);
      hash = mix(hash, word);
    }
  }
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

/* The dataset of a piece of state, if it has its type and count. */
static cb_status open_blob(hid_t group, const char *path, const char *slot, const cb_blob *blob, hid_t *out) {
  hid_t dataset = H5Dopen2(group, blob->name, H5P_DEFAULT);
  if (dataset < 0) return cb_fail(CB_ERROR_INPUT, "%s: error: %s has no %s", path, slot, blob->name);
  hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  cb_field_type stored;
  hssize_t count = H5Sget_simple_extent_npoints(space);
  bool ok = cb_hdf5_type_of(type, &stored) && stored == blob->type && count == (hssize_t)blob->count;
  H5Sclose(space);
  H5Tclose(type);
  if (!ok) {
    H5Dclose(dataset);
    return cb_fail(CB_ERROR_INPUT, "%s: error: %s/%s has %lld values or another type, expected %zu values", path, slot,
                   blob->name, (long long)count, blob->count);
  }
  *out = dataset;
  return CB_OK;
}

cb_status cb_slot_open(hid_t file, const char *path, const cb_blob *state, size_t n_state, cb_slot slots[CB_SLOTS]) {
  for (int slot = 0; slot < CB_SLOTS; slot++) {
    char name[32];
    slot_name(name, slot);
    hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
    if (group < 0) return cb_fail(CB_ERROR_INPUT, "%s: error: no group %s", path, name);
    cb_status status = CB_OK;
    slots[slot].seal = H5Dopen2(group, "seal", H5P_DEFAULT);
    if (slots[slot].seal < 0) status = cb_fail(CB_ERROR_INPUT, "%s: error: %s has no seal", path, name);
    for (size_t b = 0; !status && b < n_state; b++) {
      slots[slot].blobs[b] = H5I_INVALID_HID;
      if (state[b].count) status = open_blob(group, path, name, &state[b], &slots[slot].blobs[b]);
    }
    H5Gclose(group);
    if (status) return status;
  }
  return CB_OK;
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

/* Reads one slot into state; false if it cannot be read, is not whole or is ahead of the rows. */
static bool read_slot(hid_t file, int slot, cb_record_position have, cb_blob *state, size_t n_state,
                      uint64_t seal[SEAL]) {
  char name[64];
  slot_name(name, slot);
  strcat(name, "/seal");
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0) return false;
  hid_t space = H5Dget_space(dataset);
  bool ok = H5Sget_simple_extent_npoints(space) == SEAL &&
            H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, seal) >= 0;
  H5Sclose(space);
  H5Dclose(dataset);
  if (!ok || seal[CHECKPOINTS] == 0 || seal[ROWS] > have.rows || seal[EVENTS] > have.events) return false;
  slot_name(name, slot);
  hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
  for (size_t b = 0; ok && b < n_state; b++) {
    if (!state[b].count) continue;
    ok = open_blob(group, "", name, &state[b], &dataset) == CB_OK;
    if (!ok) break;
    ok = H5Dread(dataset, cb_hdf5_memory_type(state[b].type), H5S_ALL, H5S_ALL, H5P_DEFAULT, state[b].data) >= 0;
    H5Dclose(dataset);
  }
  if (group >= 0) H5Gclose(group);
  return ok && checksum(seal, state, n_state) == seal[CHECKSUM];
}

static void free_copy(cb_blob *copy, size_t count) {
  for (size_t b = 0; copy && b < count; b++) free(copy[b].data);
  free(copy);
}

cb_status cb_slot_read(hid_t file, const char *path, cb_record_position have, cb_blob *state, size_t n_state,
                       cb_record_position *position) {
  /* The shapes first, so that a state of another layout is told from a damaged checkpoint. */
  hid_t group = H5Gopen2(file, "checkpoint/slot0", H5P_DEFAULT), dataset;
  if (group < 0) return cb_fail(CB_ERROR_INPUT, "%s: error: no group checkpoint/slot0", path);
  cb_status status = CB_OK;
  hsize_t links = 0, expected = 1; /* seal */
  for (size_t b = 0; !status && b < n_state; b++) {
    if (!state[b].count) continue;
    expected++;
    status = open_blob(group, path, "checkpoint", &state[b], &dataset);
    if (!status) H5Dclose(dataset);
  }
  H5G_info_t info;
  if (!status && H5Gget_info(group, &info) >= 0) links = info.nlinks;
  H5Gclose(group);
  if (status) return status;
  if (links != expected)
    return cb_fail(CB_ERROR_INPUT, "%s: error: the checkpoint has %llu pieces of state, expected %llu", path,
                   (unsigned long long)links - 1, (unsigned long long)expected - 1);

  cb_blob *copy = calloc(n_state ? n_state : 1, sizeof *copy);
  if (!copy) return cb_fail(CB_ERROR_MEMORY, "no memory to read a checkpoint");
  for (size_t b = 0; b < n_state; b++) {
    copy[b] = state[b];
    if (!(copy[b].data = malloc(state[b].count * cb_hdf5_type_size(state[b].type) + 1)))
      status = cb_fail(CB_ERROR_MEMORY, "no memory to read a checkpoint");
  }
  uint64_t newest = 0;
  for (int slot = 0; !status && slot < CB_SLOTS; slot++) {
    uint64_t seal[SEAL];
    if (!read_slot(file, slot, have, copy, n_state, seal) || seal[CHECKPOINTS] <= newest) continue;
    newest = seal[CHECKPOINTS];
    for (size_t b = 0; b < n_state; b++)
      if (state[b].count) memcpy(state[b].data, copy[b].data, state[b].count * cb_hdf5_type_size(state[b].type));
    *position = (cb_record_position){seal[ROWS], seal[EVENTS], seal[CHECKPOINTS]};
  }
  free_copy(copy, n_state);
  if (!status && !newest) status = cb_fail(CB_ERROR_INPUT, "%s: error: no whole checkpoint in it; run its scenario again", path);
  return status;
}
