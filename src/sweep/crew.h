/* A sweep is done: the threads of this process, with other ranks or shards, into a folder.
 *
 * Each process writes segments of its own. Rank 0, or each shard, shows them as one result, about once a second, and at the
 * end joins them.
 */
#pragma once

#include "sweep/folder.h"
#include "sweep/ranks.h"

typedef struct cb_crew_progress {
  int64_t members, done, failed; /* of all of the sweep; those of this start with those before it */
  int64_t before;                /* ended before this start */
  double seconds;                /* since this start */
  int64_t warned, first_warned;  /* members that were warned of, of all of the sweep; at its end */
  char warning[CB_STORE_WORDS + 1]; /* of that member */
  bool unjoined; /* all have ended, and could not be joined */
} cb_crew_progress;

typedef struct cb_crew_options {
  const char *output;
  const cb_ranks *ranks;
  int threads;
  int shard, shards; /* from 1; 0 of 0: all members */
  bool retry_failed;
  bool joins; /* results of members that have all ended: CB_ERROR_FILE where some have not */
  void (*progress)(void *user, const cb_crew_progress *p); /* twice a second; NULL */
  void *user;
  const volatile sig_atomic_t *stop;
} cb_crew_options;

/* Ends with what there is of the sweep, in *out, whatever the status: CB_ERROR_INTERRUPTED where it was stopped.
 * Members that failed are no failure of the sweep. */
cb_status cb_crew_go(cb_sweep *sweep, const cb_crew_options *options, cb_crew_progress *out);

/* What a sweep would take: its members are checked, and some of them run, for two seconds at most. */
typedef struct cb_crew_estimate {
  int64_t members;
  double disk, memory; /* bytes: of the result; of the values of members in hand */
  int64_t sample, failed;
  double seconds_a_member, seconds; /* of the sample; of all, in so many threads */
} cb_crew_estimate;
cb_status cb_crew_estimate_of(cb_sweep *sweep, int threads, const volatile sig_atomic_t *stop, cb_crew_estimate *out);

/* How far a sweep has come that is in a folder, whoever runs it. */
typedef struct cb_crew_status {
  cb_survey survey;
  int64_t count[3];     /* of cb_member_status */
  bool runs;            /* a process is at it */
  int64_t failed[8];    /* the first that failed */
  char *words[8];
} cb_crew_status;
cb_status cb_crew_status_of(const cb_folder *folder, cb_crew_status *out);
void cb_crew_status_free(cb_crew_status *status);

/* Members of shard k of n: [*first, *end). */
void cb_crew_shard(int64_t members, int shard, int shards, int64_t *first, int64_t *end);
