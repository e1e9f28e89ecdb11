/* A member in the midst of its run, on disk: what it goes on from after a kill.
 *
 * One file a member, NUMBER.state: a line of text with the sweep's digest and the sizes, the bytes of the pieces in the
 * machine's order, SHA-256 of all of it. It is written beside and renamed, and counts only if it is whole.
 */
#pragma once

#include <curvebody/sink.h>

/* The folder of such files, and the digest of the sweep that they are of. */
typedef struct cb_midst {
  const char *folder, *digest;
} cb_midst;

/* Writes piece[n]. CB_ERROR_FILE with the reason. */
cb_status cb_midst_save(const cb_midst *midst, int64_t member, const cb_blob *piece, size_t n);
/* Whether there is a whole one of just these sizes but for the last piece, which may be shorter: then *last, its count,
 * and all data are read. What is there and is not whole is none. */
bool cb_midst_load(const cb_midst *midst, int64_t member, cb_blob *piece, size_t n, size_t *last);
void cb_midst_remove(const cb_midst *midst, int64_t member);
