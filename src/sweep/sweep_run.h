/* Runs a sweep with all threads of this process, possibly together with other ranks or shards, writing into a folder.
 *
 * Each process writes its own segments. Rank 0, or each shard, shows them as one result about once a second, and joins
 * them at the end.
 */
#pragma once

#include "sweep/scheduler.h"
#include "sweep/sweep.h"

/* --- the folder of an incomplete sweep ---
 *
 * Its name is OUT.h5.parts. It is next to the result OUT.h5 and similar to the folder of a record (record/folder.h). It
 * contains
 *
 *   sweep.yaml     the sweep with its scenario, as at the start
 *   checked        the result of the check of its members, and the digests of the files that they use
 *   000001.h5 ...  segments of results (sweep/store.h)
 *   NUMBER.state   checkpoints of members (sweep/store.h)
 *   lock           locked by every process that runs the sweep: a single process, each rank, or the process of a shard
 *
 * The result also contains the first two texts. The folder is removed when the result is complete.
 */

typedef struct cb_folder {
  cb_segments segments; /* the names of the folder, and its lock */
  char result[3600];    /* the path of the result, OUT.h5 */
} cb_folder;

/* Makes the names of the folder and the result from `out`, a name with or without .h5. CB_ERROR_ARGUMENT: the name is
 * empty or too long. The caller closes the folder. */
cb_status cb_folder_name(const char *out, cb_folder *folder);

/* Makes the folder, or finds the same sweep in it or in the result, and checks the members if this was not done before.
 * shard > 0: other shards may run at the same time. CB_ERROR_FILE: another process holds the lock; CB_ERROR_INPUT, with
 * the difference: the folder contains another sweep, or a file has changed. The folder is locked until
 * cb_folder_close. */
cb_status cb_folder_open(cb_folder *folder, cb_sweep *sweep, int shard, int threads, const volatile sig_atomic_t *stop);
/* Releases the lock and frees the names. complete: also removes the folder, which is not needed any more. */
void cb_folder_close(cb_folder *folder, bool complete);

/* Fails with CB_ERROR_FILE if the disk has no space for this number of bytes. */
cb_status cb_folder_check_disk(const cb_folder *folder, double bytes);
/* Sets *there to whether the folder has a result. */
cb_status cb_folder_has_result(const cb_folder *folder, bool *there);

typedef struct cb_sweep_progress {
  int64_t members, done, failed;   /* of the complete sweep; done and failed: since this start and before it */
  int64_t before;                  /* members that ended before this start */
  double seconds;                  /* the time since this start */
  int64_t warned, first_warned;    /* how many members have warnings, and the first of them; known at the end */
  char warning[CB_STORE_TEXT + 1]; /* the first warning of member first_warned */
  bool unjoined;                   /* all members have ended, but their results could not be joined */
} cb_sweep_progress;

typedef struct cb_sweep_options {
  const char *output;
  const cb_ranks *ranks;
  int threads;
  int shard, shards; /* counted from 1; 0 of 0: all members */
  bool retry_failed;
  bool joins; /* runs no member, only joins the results: CB_ERROR_FILE if some members have not ended */
  void (*progress)(void *user, const cb_sweep_progress *p); /* called twice a second; may be NULL */
  void *user;
  const volatile sig_atomic_t *stop;
} cb_sweep_options;

/* Runs the sweep. *out is its progress at the end, also after a failure. CB_ERROR_INTERRUPTED: the sweep was stopped. A
 * failed member is not a failure of the sweep. */
cb_status cb_sweep_run(cb_sweep *sweep, const cb_sweep_options *options, cb_sweep_progress *out);

/* The cost of a sweep: its members are checked, and some of them are run, for two seconds at most. */
typedef struct cb_sweep_estimate {
  int64_t members;
  double disk, memory; /* bytes of the result, and of the values of running members */
  int64_t sample, failed;
  double seconds_a_member, seconds; /* mean over the sample; for all members with this number of threads */
} cb_sweep_estimate;
cb_status cb_sweep_estimate_of(cb_sweep *sweep, int threads, const volatile sig_atomic_t *stop, cb_sweep_estimate *out);

/* The progress of a sweep in a folder, also of a sweep that another process runs. */
typedef struct cb_sweep_status {
  cb_results_scan scan;
  int64_t count[3];  /* the number of members with each cb_member_status */
  bool runs;         /* a process is running the sweep */
  int64_t failed[8]; /* the first members that failed */
  char *text[8];     /* the error messages of these members */
} cb_sweep_status;
cb_status cb_sweep_status_of(const cb_folder *folder, cb_sweep_status *out);
void cb_sweep_status_free(cb_sweep_status *status);
