/* The members that a process has to do: those that have not ended. */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>
#include <stdint.h>

/* Members member .. member + n, the at-th of those to be done and what follows it. */
typedef struct cb_span {
  int64_t member, n, at;
} cb_span;

/* Members that are to be done, counted from 0. */
typedef struct cb_to_do {
  cb_span *span;
  size_t spans;
  int64_t count;
} cb_to_do;
/* Those of first .. end of which ended[m] is 0. */
cb_status cb_to_do_find(const uint8_t *ended, int64_t first, int64_t end, cb_to_do *out);
/* The at-th of them, and how many in a row there are from it on. */
int64_t cb_to_do_member(const cb_to_do *t, int64_t at, int64_t *row);
