/* Ranks of a sweep by MPI: a module that the program loads when mpirun has started it (sweep/scheduler.c).
 *
 * Only the main thread calls MPI (MPI_THREAD_FUNNELED). No call waits inside MPI, because MPI would keep a core busy.
 */
#include "sweep/scheduler.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 19, NAP = 200000 }; /* NAP: the time between two tests of a request, in ns */

static void nap(void) { nanosleep(&(struct timespec){0, NAP}, NULL); }

static bool wait_for(MPI_Request *request) {
  for (int done = 0;;) {
    if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
    nap();
  }
}

static bool send(void *self, int to, const int64_t message[CB_RANKS_MESSAGE]) {
  (void)self;
  int64_t copy[CB_RANKS_MESSAGE];
  memcpy(copy, message, sizeof copy);
  return MPI_Send(copy, CB_RANKS_MESSAGE, MPI_INT64_T, to, TAG, MPI_COMM_WORLD) ==
         MPI_SUCCESS; /* a message this short is sent immediately */
}

static bool poll(void *self, int *from, int64_t message[CB_RANKS_MESSAGE]) {
  (void)self;
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status);
  if (!there) return false;
  *from = status.MPI_SOURCE;
  return MPI_Recv(message, CB_RANKS_MESSAGE, MPI_INT64_T, *from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
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
