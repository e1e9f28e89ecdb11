/* The ranks of mpirun, by MPI: a module that the program loads when it was started so (sweep/ranks.c).
 * Only the thread that begins calls MPI: MPI_THREAD_FUNNELED. Nothing here waits within MPI, which would take a core.
 * */
#include "sweep/ranks.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 19, NAP = 200000 }; /* ns */

static void nap(void) { nanosleep(&(struct timespec){0, NAP}, NULL); }

static bool wait_for(MPI_Request *request) {
  for (int done = 0;;) {
    if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
    nap();
  }
}

static bool send(void *self, int to, const int64_t words[CB_RANKS_WORDS]) {
  (void)self;
  int64_t copy[CB_RANKS_WORDS];
  memcpy(copy, words, sizeof copy);
  return MPI_Send(copy, CB_RANKS_WORDS, MPI_INT64_T, to, TAG, MPI_COMM_WORLD) == MPI_SUCCESS; /* so short: at once */
}

static bool poll(void *self, int *from, int64_t words[CB_RANKS_WORDS]) {
  (void)self;
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status);
  if (!there) return false;
  *from = status.MPI_SOURCE;
  return MPI_Recv(words, CB_RANKS_WORDS, MPI_INT64_T, *from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static bool broadcast(void *self, void *data, size_t bytes) {
  (void)self;
  enum { PIECE = 1 << 30 };
  for (size_t at = 0; at < bytes; at += PIECE) {
    MPI_Request request;
    const int n = (int)(bytes - at < PIECE ? bytes - at : PIECE);
    if (MPI_Ibcast((char *)data + at, n, MPI_BYTE, 0, MPI_COMM_WORLD, &request) != MPI_SUCCESS || !wait_for(&request))
      return false;
  }
  return true;
}

static void finish(void *self, bool failed) {
  (void)self;
  MPI_Request request;
  if (failed) MPI_Abort(MPI_COMM_WORLD, 1);
  if (MPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS) wait_for(&request);
  MPI_Finalize();
}

__attribute__((visibility("default"))) bool cb_ranks_mpi(cb_ranks *ranks) {
  int provided, rank, size;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED)
    return false;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  *ranks = (cb_ranks){CB_RANKS_VERSION, rank, size, NULL, send, poll, broadcast, finish};
  return true;
}
