/* A table without a lock: a signal handler reads it. What does not fit is not noted. */
#include "record/parts.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { MOST = 256 };
static _Atomic(const char *) parts[MOST];

static void replace(const char *old, const char *new) {
  for (int i = 0; i < MOST; i++) {
    const char *expected = old;
    if (atomic_compare_exchange_strong(&parts[i], &expected, new)) return;
  }
}

void cb_part_begin(const char *part) { replace(NULL, part); }
void cb_part_end(const char *part) {
  if (part) replace(part, NULL);
}

void cb_parts_remove(void) {
  for (int i = 0; i < MOST; i++) {
    const char *part = atomic_load(&parts[i]);
    if (part) unlink(part);
  }
}
