#include "sweep/to_do.h"

#include "core/failure.h"

#include <stdlib.h>

cb_status cb_to_do_find(const uint8_t *ended, int64_t first, int64_t end, cb_to_do *t) {
  size_t room = 0;
  *t = (cb_to_do){0};
  for (int64_t m = first; m < end;) {
    if (ended[m]) {
      m++;
      continue;
    }
    int64_t to = m;
    while (to < end && !ended[to]) to++;
    if (t->spans == room) {
      room = room ? 2 * room : 64;
      cb_span *more = realloc(t->span, room * sizeof *more);
      if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
      t->span = more;
    }
    t->span[t->spans++] = (cb_span){m, to - m, t->count};
    t->count += to - m;
    m = to;
  }
  return CB_OK;
}

int64_t cb_to_do_member(const cb_to_do *t, int64_t at, int64_t *row) {
  size_t low = 0, high = t->spans;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (t->span[middle].at <= at)
      low = middle;
    else
      high = middle;
  }
  *row = t->span[low].n - (at - t->span[low].at);
  return t->span[low].member + (at - t->span[low].at);
}
