/* The ranks: either the ranks of mpirun, from a module, or a single process (sweep/scheduler.h). */
#include "sweep/scheduler.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool send_none(void *self, int to, const int64_t message[CB_RANKS_MESSAGE]) {
  (void)self;
  (void)to;
  (void)message;
  return true;
}
static bool poll_none(void *self, int *from, int64_t message[CB_RANKS_MESSAGE]) {
  (void)self;
  (void)from;
  (void)message;
  return false;
}
static bool broadcast_none(void *self, void *data, size_t bytes) {
  (void)self;
  (void)data;
  (void)bytes;
  return true;
}
static void finish_none(void *self, bool failed) {
  (void)self;
  (void)failed;
}

/* Returns the number of ranks according to the program that started this one; 1: no environment variable gives a
 * number. */
static long started_with(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = getenv(names[i]);
    if (text && atol(text) > 1) return atol(text);
  }
  return 1;
}

/* Loads the module. In the build folder it is next to the program, and in the installation in the folder of
 * libraries. */
static void *load(void) {
  static const char *const places[] = {"curvebody-mpi.so", "../" CURVEBODY_LIBDIR "/curvebody/curvebody-mpi.so"};
  char program[PATH_MAX], path[2 * PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  char *slash = n > 0 ? (program[n] = 0, strrchr(program, '/')) : NULL;
  if (!slash) return NULL;
  *slash = 0;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    snprintf(path, sizeof path, "%s/%s", program, places[i]);
    if (access(path, R_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  }
  return NULL;
}

cb_status cb_ranks_begin(cb_ranks *out) {
  *out = (cb_ranks){CB_RANKS_VERSION, 0, 1, NULL, send_none, poll_none, broadcast_none, finish_none};
  const long size = started_with();
  if (size <= 1) return CB_OK;
  void *module = load();
  if (!module)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the program was started with %ld ranks, but their module, curvebody-mpi.so, is not installed: "
                   "install it (Debian: build with libopenmpi-dev installed), or use `--shard`",
                   size);
  bool (*begin)(cb_ranks *);
  *(void **)&begin = dlsym(module, "cb_ranks_mpi");
  if (!begin || !begin(out) || out->version != CB_RANKS_VERSION)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the module curvebody-mpi.so has another version, or MPI does not start: expected the module of "
                   "this installation");
  return CB_OK;
}
