/* Processes that do a sweep together, and how they speak: short messages, none of which waits.
 *
 * The processes of one mpirun are ranks by a module of its own (src/mpi), which is loaded where the program was started
 * so. Only one thread of a process calls these functions.
 */
#pragma once

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CB_RANKS_WORDS = 6, CB_RANKS_VERSION = 1 };

typedef struct cb_ranks {
  int version; /* CB_RANKS_VERSION of who made it */
  int rank, size;
  void *self;
  /* Sends words to a rank; what was sent before arrives before. */
  bool (*send)(void *self, int to, const int64_t words[CB_RANKS_WORDS]);
  /* Takes the next message, if there is one. */
  bool (*poll)(void *self, int *from, int64_t words[CB_RANKS_WORDS]);
  /* data of rank 0 to all: all of them call it, and wait asleep. */
  bool (*broadcast)(void *self, void *data, size_t bytes);
  /* The end of all of them; failed: of this process, which ends the others where they are. */
  void (*finish)(void *self, bool failed);
} cb_ranks;

/* A process by itself, or the ranks of mpirun. CB_ERROR_UNSUPPORTED: it was started by mpirun and the module is not
 * installed. The caller calls finish. */
cb_status cb_ranks_begin(cb_ranks *out);
