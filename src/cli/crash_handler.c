/* If memory is lacking, libgomp and HDF5 end the program, and HDF5 may crash. The handlers here remove temporary files.
 * After a crash the process still ends by the signal. A record already has its final name and remains, as after a
 * killed writer. */
#include "cli/cli.h"
#include "record/output.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t finished;

static void write_error(const char *text) {
  const ssize_t n = write(STDERR_FILENO, text, strlen(text));
  (void)n;
}

static void handle_exit(void) {
  if (finished) return;
  cb_tempfile_remove_all();
  write_error(
      "curvebody: error: a library terminated the program, probably out of memory or threads: try fewer threads or a "
      "smaller problem\n");
  _exit(CLI_EXIT_RUN_FAILED);
}

static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];

/* On return the failed instruction runs again, with the previous handler of the signal, for example that of a
 * sanitizer. A signal that does not come from an instruction but was sent, as by abort or kill, is sent again. */
static void handle_crash(int number, siginfo_t *info, void *context) {
  (void)context;
  cb_tempfile_remove_all();
  write_error(
      "curvebody: error: the program crashed, probably because a library ran out of memory: try a smaller problem\n");
  for (size_t i = 0; i < SIGNALS; i++)
    if (signals[i] == number) sigaction(number, &before[i], NULL);
  if (info->si_code <= 0) raise(number);
}

void cli_crash_handler_install(void) {
  static char stack[1 << 15]; /* a stack of its own, since the cause may be endless recursion */
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_sigaction = handle_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < SIGNALS; i++) sigaction(signals[i], &action, &before[i]);
  atexit(handle_exit);
}

void cli_crash_handler_end(void) { finished = 1; }
