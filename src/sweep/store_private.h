/* Where a store has its datasets. Shared by the files that write and read it. */
#ifndef CB_SWEEP_STORE_PRIVATE_H
#define CB_SWEEP_STORE_PRIVATE_H

#include "record/hdf5.h"
#include "sweep/store.h"

enum {
  CB_STORE_MEMBER,
  CB_STORE_STATUS,
  CB_STORE_DIGEST,
  CB_STORE_SECONDS,
  CB_STORE_FAILURE,
  CB_STORE_WARNED,
  CB_STORE_WARNING,
  CB_STORE_OWN
};

typedef struct cb_store_map {
  size_t capacity;
  uint64_t own[CB_STORE_OWN]; /* offsets in the file; 0: it has none of that name */
  uint64_t *field;            /* [fields] */
  size_t *bytes;              /* [fields]: of a member */
} cb_store_map;

/* Finds the places of a whole store of this layout; CB_ERROR_INPUT, CB_ERROR_FILE. */
cb_status cb_store_map_read(const char *path, const cb_store_layout *layout, cb_store_map *out);
cb_status cb_store_map_alloc(const cb_store_layout *layout, cb_store_map *out);
void cb_store_map_free(cb_store_map *map);

/* Writes a new store, whole or not at all. */
cb_status cb_store_make(const char *path, const cb_store_layout *layout, size_t capacity, int64_t first);

/* Of a member, its status, and its values: the i-th of those of each field; never 0. */
int32_t cb_store_digest(int64_t member, int32_t status, const cb_store_layout *layout, const cb_store_map *map,
                        const unsigned char *const *values, size_t i);

/* Names and types of the datasets that all stores have. */
typedef struct cb_store_own {
  const char *name;
  size_t bytes; /* of a slot */
} cb_store_own;
extern const cb_store_own cb_store_owns[CB_STORE_OWN];
static inline bool cb_store_own_is_text(int which) { return which == CB_STORE_FAILURE || which == CB_STORE_WARNING; }
hid_t cb_store_own_type(int which); /* the caller closes it */

#endif
