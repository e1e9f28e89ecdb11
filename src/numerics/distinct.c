/* Points that differ: open addressing. See distinct.h. */
#include "numerics/distinct.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

cb_status cb_distinct_begin(cb_distinct *d, size_t most, double (*x)[3]) {
  size_t room = 16;
  while (room < 2 * most) room *= 2;
  *d = (cb_distinct){.x = x, .slot = malloc(room * sizeof *d->slot), .mask = room - 1};
  if (!d->slot) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu points", most);
  memset(d->slot, 0xff, room * sizeof *d->slot);
  return CB_OK;
}

void cb_distinct_end(cb_distinct *d) { free(d->slot); }

/* Fowler, Noll and Vo's hash over three 64-bit words, with a last mixing. */
static uint64_t hash(const double x[3]) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (int k = 0; k < 3; k++) {
    uint64_t bits;
    memcpy(&bits, &x[k], sizeof bits);
    h = (h ^ bits) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
  }
  return h ^ h >> 32;
}

int cb_distinct_add(cb_distinct *d, const double point[3]) {
  /* + 0: one zero instead of two. */
  const double x[3] = {point[0] + 0.0, point[1] + 0.0, point[2] + 0.0};
  for (size_t i = hash(x) & d->mask;; i = (i + 1) & d->mask) {
    int v = d->slot[i];
    if (v >= 0 && memcmp(d->x[v], x, sizeof x) != 0) continue;
    if (v < 0) {
      v = d->slot[i] = (int)d->n;
      memcpy(d->x[d->n++], x, sizeof x);
    }
    return v;
  }
}
