/* The folder of a sweep that is not complete, OUT.h5.parts, next to the result OUT.h5: as that of a record
 * (record/folder.h), with
 *
 *   sweep.yaml     the sweep with its scenario, as it was begun
 *   checked        what was found of its members, and the digests of the files that they name
 *   000001.h5 ...  segments of results (sweep/store.h)
 *   NUMBER.state   members in the midst (sweep/midst.h)
 *   lock           held by what runs: alone, with its ranks, or a part of it by each shard
 *
 * The result has the two texts, too. When it is complete the folder goes.
 */
#pragma once

#include "sweep/sweep.h"

typedef struct cb_folder {
  cb_segments segments; /* with the lock */
  char result[3600];
} cb_folder;

/* The names of folder and result. `out`: with or without .h5. CB_ERROR_ARGUMENT where it is too long. The caller closes
 * it. */
cb_status cb_folder_name(const char *out, cb_folder *folder);

/* Makes the folder, or finds in it, or in the result, the same sweep, and checks the members where this was not done yet.
 * shard > 0: other shards may run too. CB_ERROR_FILE: another process has it; CB_ERROR_INPUT: it is another sweep's, or a
 * file has changed: with what is different. The folder is locked until cb_folder_close. */
cb_status cb_folder_open(cb_folder *folder, cb_sweep *sweep, int shard, int threads, const volatile sig_atomic_t *stop);
/* complete: nothing in the folder is of use any more. */
void cb_folder_close(cb_folder *folder, bool complete);

/* CB_ERROR_FILE where there is no room for so many bytes. */
cb_status cb_folder_check_room(const cb_folder *folder, double bytes);
/* Whether there is a result. */
cb_status cb_folder_has_result(const cb_folder *folder, bool *there);
