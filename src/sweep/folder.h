/* The folder of a sweep: OUT/, beside the result OUT.h5.
 *
 *   sweep.yaml     the sweep with its scenario, as it was begun; checked: what was found of its members, and the
 * digests of
 *                  the files that they name
 *   *.h5           stores (sweep/store.h), and their locks
 *   NUMBER.state   members in the midst (sweep/midst.h)
 *   lock           held by what runs: alone, or shared by shards
 */
#ifndef CB_SWEEP_FOLDER_H
#define CB_SWEEP_FOLDER_H

#include "sweep/sweep.h"

typedef struct cb_folder {
  char path[3500], result[3600]; /* of the folder, of the result */
  int lock;
} cb_folder;

/* The names of folder and result. `out`: with or without .h5. CB_ERROR_ARGUMENT where it is too long. */
cb_status cb_folder_name(const char *out, cb_folder *folder);

/* Makes the folder, or finds in it the same sweep, and checks the members where this was not done yet. shared: other
 * shards may run too. CB_ERROR_FILE: another sweep runs there; CB_ERROR_INPUT: it is another sweep's, or a file has
 * changed: with what is different. The folder is locked until cb_folder_close. */
cb_status cb_folder_open(cb_folder *folder, cb_sweep *sweep, bool shared, int threads,
                         const volatile sig_atomic_t *stop);
void cb_folder_close(cb_folder *folder);

/* The text of the sweep in a folder, from malloc. */
cb_status cb_folder_sweep(const cb_folder *folder, char **text);

/* What cb_sweep_check finds, as a folder has it. */
cb_status cb_folder_read_checked(const cb_folder *folder, cb_sweep *sweep);

#endif
