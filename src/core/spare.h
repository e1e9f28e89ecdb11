/* Work memory that any number of threads use, each piece by one thread at a time: taken where one is spare, else made
 * by whoever asks, and kept when it is left. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { CB_SPARE_MAX = 32 };

typedef struct cb_spare {
  _Atomic(void *) piece[CB_SPARE_MAX];
} cb_spare;

/* NULL: none is spare. */
static inline void *cb_spare_take(cb_spare *s) {
  void *piece = NULL;
  for (int k = 0; k < CB_SPARE_MAX && !piece; k++) piece = atomic_exchange(&s->piece[k], NULL);
  return piece;
}

/* False: no place is left, and the piece is the caller's to free. */
static inline bool cb_spare_leave(cb_spare *s, void *piece) {
  bool kept = false;
  for (int k = 0; k < CB_SPARE_MAX && !kept; k++) {
    void *none = NULL;
    kept = atomic_compare_exchange_strong(&s->piece[k], &none, piece);
  }
  return kept;
}
