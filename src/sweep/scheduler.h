/* The ranks of a sweep, and the scheduler that distributes members among the threads of all ranks. Members are counted
 * from 0.
 *
 * Rank 0 gives out the remaining members in blocks by guided self-scheduling. The size of a block is proportional to
 * the number of remaining members and to the number of threads of the process that gets it; it is at least one member
 * per thread (Polychronopoulos & Kuck, IEEE Trans. Comput. C-36 (1987) 1425, doi:10.1109/TC.1987.5009495). Another rank
 * asks rank 0 for its next block before its own members run out. The threads of a process take members from its blocks
 * in the same way, in shrinking shares.
 *
 * One thread, the coordinator, exchanges messages; any number of other threads take members. Every member is given out
 * once.
 */
#pragma once

#include <curvebody/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- ranks: processes that run a sweep together, and short messages between them; sending and receiving never wait ---
 *
 * The processes of one mpirun are ranks. A separate module (src/mpi) implements them; it is loaded if mpirun started
 * the program. Only one thread of a process calls these functions.
 */

enum { CB_RANKS_MESSAGE = 6, CB_RANKS_VERSION = 1 };

typedef struct cb_ranks {
  int version; /* the CB_RANKS_VERSION of the module */
  int rank, size;
  void *self;
  /* Sends a message to a rank. Messages arrive in the order in which they were sent. */
  bool (*send)(void *self, int to, const int64_t message[CB_RANKS_MESSAGE]);
  /* Takes the next message; false: there is no message. */
  bool (*poll)(void *self, int *from, int64_t message[CB_RANKS_MESSAGE]);
  /* Copies data from rank 0 to all ranks: all of them call it, and sleep while they wait. */
  bool (*broadcast)(void *self, void *data, size_t bytes);
  /* Waits until all ranks call it, and ends their communication; failed: this process has failed, which ends the other
   * processes immediately. */
  void (*finish)(void *self, bool failed);
} cb_ranks;

/* Fills *out for a single process, or for one of the ranks of mpirun. Fails with CB_ERROR_UNSUPPORTED if mpirun started
 * the program, but the module is not installed, has another version, or cannot start MPI. The caller calls
 * out->finish. */
cb_status cb_ranks_begin(cb_ranks *out);

typedef struct cb_scheduler cb_scheduler;

/* Makes a scheduler. Every rank must give the same count of members. threads: the number of threads of this process
 * that take members. */
cb_status cb_scheduler_create(const cb_ranks *ranks, int64_t count, int threads, cb_scheduler **out);
void cb_scheduler_free(cb_scheduler *scheduler);

/* Takes up to `maximum` members, from *first on; waits until there are some. 0: there are no more members, or the
 * scheduler was stopped. */
int64_t cb_scheduler_next(cb_scheduler *scheduler, int64_t maximum, int64_t *first);
/* Reports that n of the taken members have ended, and that `failed` of these have failed. */
void cb_scheduler_done(cb_scheduler *scheduler, int64_t n, int64_t failed);
/* Stops the sweep: no rank gets more members, and running members may be aborted. */
void cb_scheduler_stop(cb_scheduler *scheduler);
/* Every thread calls this once, when it takes no more members. */
void cb_scheduler_leave(cb_scheduler *scheduler);

/* Does one round of the coordinator, which waits at most 0.5 ms for messages, or 50 ms if there is only one rank.
 * *over: all threads of this rank have left; in rank 0: all threads of all ranks have left. */
cb_status cb_scheduler_serve(cb_scheduler *scheduler, bool *over);
/* cb_scheduler_stopped returns whether any rank was stopped. cb_scheduler_progress finds the numbers of ended members:
 * in rank 0 the numbers of all ranks, in another rank its own numbers. */
bool cb_scheduler_stopped(cb_scheduler *scheduler);
void cb_scheduler_progress(cb_scheduler *scheduler, int64_t *done, int64_t *failed);
