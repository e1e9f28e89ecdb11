/* A sweep that is ready to run: its plan, its first member as the model of all, and the layout of its result.
 *
 * model.c    the model and the layout of the result        sweep_check.c   opens all members once, before any runs
 * runner.c   runs members, in any thread                   sweep_run.c     threads, ranks, and the folder
 */
#pragma once

#include "core/failure.h"
#include "sweep/plan.h"
#include "sweep/reduce.h"
#include "sweep/scheduler.h"
#include "sweep/store.h"
#include "sweep/task.h"

#include <signal.h>

enum { CB_SWEEP_FIELDS = 128, CB_SWEEP_COORDINATES = 64, CB_SWEEP_SHA = 65 };

typedef struct cb_sweep {
  cb_arena *arena;
  cb_sweep_plan *plan;
  const cb_sweep_task_class *task;
  cb_scenario *model;                /* the scenario of member 0 */
  cb_record_layout rows;             /* the layout of the model's record */
  size_t row_bytes[CB_SWEEP_FIELDS]; /* the size in bytes of each field of a row */
  size_t row_units;                  /* the size of a row in units of 8 bytes, field after field */
  int64_t rows_max;                  /* maximum number of rows of a member; found by cb_sweep_check */
  cb_reduction *reduction[CB_SWEEP_COLLECTS];
  size_t doubles;         /* the number of doubles in the states of all reductions */
  cb_store_layout layout; /* the layout of the result */
  cb_store_field field[CB_SWEEP_FIELDS];
  cb_store_axis axis[CB_SWEEP_AXES];
  cb_store_coordinate coordinate[CB_SWEEP_COORDINATES];
  cb_dimension dimension[32];
  double seconds_to_open; /* the time to open one member; found by cb_sweep_check */
  char **file;            /* [files]: the files that members name; found by cb_sweep_check */
  size_t files;
  char digest[CB_SWEEP_SHA]; /* digest of the sweep and of these files */
} cb_sweep;

/* Opens the model and makes the layout of the result, except for the parts that depend on rows_max. Always takes
 * ownership of the plan. */
cb_status cb_sweep_create(cb_sweep_plan *plan, cb_sweep **out);
void cb_sweep_free(cb_sweep *sweep);
/* Completes the layout when rows_max is known. */
void cb_sweep_layout_rows(cb_sweep *sweep);

/* Opens member m. The arena holds its values and must live as long as the scenario. */
cb_status cb_sweep_open(const cb_sweep *sweep, int64_t m, cb_arena *arena, cb_scenario **out);
/* Opens member m, with *number as the value of the only key of the axis; NULL: with the member's own value. */
cb_status cb_sweep_open_at(const cb_sweep *sweep, int64_t m, size_t axis, const double *number, cb_arena *arena,
                           cb_scenario **out);
/* Makes the layout of a member's rows. */
cb_status cb_sweep_rows_of(const cb_sweep *sweep, cb_scenario *scenario, cb_arena *arena, cb_record_layout *out);
/* Returns CB_OK if the rows of a member have the same layout as the rows of the model; otherwise fails with a message
 * about the difference. */
cb_status cb_sweep_same_rows(const cb_sweep *sweep, const cb_record_layout *rows);
/* Fails with the text of the last failure, as a failure of member m. */
cb_status cb_sweep_fail_member(const cb_sweep *sweep, int64_t m, cb_status status);

/* Opens members [first, end) on `threads` threads, and finds rows_max, seconds_to_open and files. Fails for the first
 * member that cannot be opened, with its description. If opening all members would take more than a minute, only some
 * are opened: in a grid, for each value of each axis, the member with this value and the first value of the other axes;
 * the last member; and some random members. */
cb_status cb_sweep_check(cb_sweep *sweep, int64_t first, int64_t end, int threads, const volatile sig_atomic_t *stop);

/* A runner runs members in one thread, and keeps its memory from one member to the next. checkpoint NULL: running
 * members have no checkpoints. */
typedef struct cb_runner cb_runner;
cb_status cb_runner_create(const cb_sweep *sweep, const cb_member_checkpoint *checkpoint, cb_runner **out);
void cb_runner_free(cb_runner *runner);
/* Returns the number of members that run at once. */
size_t cb_runner_width(const cb_runner *runner);
/* Runs members m[n] and puts their results into the store (NULL: results are discarded). Failures of members are stored
 * in the store and counted in *failed. A status other than CB_OK is a failure of the sweep: CB_ERROR_FILE,
 * CB_ERROR_MEMORY or CB_ERROR_INTERRUPTED. After an interruption, members that have run for long have checkpoints. */
cb_status cb_runner_go(cb_runner *runner, const int64_t *m, size_t n, cb_store *store,
                       const volatile sig_atomic_t *stop, size_t *failed);
/* Puts a row of a task that computes all members at once into the store, with the state from which the task continues
 * after an interruption; CB_MEMBER_MISSING: the row contains the results so far. */
cb_status cb_runner_put(cb_runner *runner, int64_t m, cb_member_status status, const void *const *row,
                        const double *state, size_t states, cb_store *store);

/* --- runs ---
 *
 * A run of a sweep uses all threads of this process, possibly together with other ranks or shards, and writes into a
 * folder.
 *
 * Each process writes its own segments. About once a second rank 0, or each shard, writes a result file that shows all
 * segments. At the end it joins the segments.
 */

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

/* Makes the names of the folder and the result from `out`, a name with or without .h5. Fails with CB_ERROR_ARGUMENT if
 * the name is empty or too long. The caller closes the folder. */
cb_status cb_folder_name(const char *out, cb_folder *folder);

/* Makes the folder, or finds the same sweep in it or in the result, and checks the members if this was not done before.
 * shard > 0: other shards may run at the same time. Fails with CB_ERROR_FILE if another process holds the lock. Fails
 * with CB_ERROR_INPUT and a message about the difference if the folder contains another sweep or if a file has changed.
 * The folder is locked until cb_folder_close. */
cb_status cb_folder_open(cb_folder *folder, cb_sweep *sweep, int shard, int threads, const volatile sig_atomic_t *stop);
/* Releases the lock and frees the names. complete: also removes the folder, which is not needed any more. */
void cb_folder_close(cb_folder *folder, bool complete);

/* Fails with CB_ERROR_FILE if the disk has no space for this number of bytes. */
cb_status cb_folder_check_disk(const cb_folder *folder, double bytes);
/* Sets *there to whether the folder has a result. */
cb_status cb_folder_has_result(const cb_folder *folder, bool *there);

typedef struct cb_sweep_progress {
  /* all members; done and failed members, including members that ended before this start */
  int64_t members, done, failed;
  int64_t before;                  /* members that ended before this start */
  double seconds;                  /* the time since this start */
  int64_t warned, first_warned;    /* number of members with warnings, and the first such member; known at the end */
  char warning[CB_STORE_TEXT + 1]; /* the first warning of member first_warned */
  bool unjoined;                   /* all members have ended, but their results could not be joined */
} cb_sweep_progress;

typedef struct cb_sweep_options {
  const char *output;
  const cb_ranks *ranks;
  int threads;
  int shard, shards; /* number of this shard, from 1, and number of shards; both 0: the sweep is not divided */
  bool retry_failed;
  /* only the results are joined and no member runs; fails with CB_ERROR_FILE if some members have not ended */
  bool joins;
  void (*progress)(void *user, const cb_sweep_progress *p); /* called twice a second; may be NULL */
  void *user;
  const volatile sig_atomic_t *stop;
} cb_sweep_options;

/* Runs the sweep. *out is its progress at the end, also after a failure. Fails with CB_ERROR_INTERRUPTED if the sweep
 * was stopped. A failed member is not a failure of the sweep. */
cb_status cb_sweep_run(cb_sweep *sweep, const cb_sweep_options *options, cb_sweep_progress *out);

/* The cost of a sweep: its members are checked, and some of them are run, for two seconds at most. */
typedef struct cb_sweep_estimate {
  int64_t members;
  double disk, memory; /* bytes of the result on the disk, and bytes of memory for the values of running members */
  int64_t sample, failed;
  /* mean time of a member of the sample; estimated time of all members with these threads */
  double seconds_a_member, seconds;
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
