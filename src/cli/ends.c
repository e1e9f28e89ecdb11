/* For want of memory libgomp and HDF5 end the program, and HDF5 may crash. What they leave half made is taken away here;
 * the crash stays one. A record has its name by then and stays as a killed writer leaves it. */
#include "cli/cli.h"
#include "record/parts.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void say(const char *text) {
  const ssize_t n = write(STDERR_FILENO, text, strlen(text));
  (void)n;
}

static void exits(void) {
  if (over) return;
  cb_parts_remove();
  say("curvebody: error: a library ended the program, as they do for want of memory or threads\n");
  _exit(CB_EXIT_RUN_FAILED);
}

static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];

/* What failed is tried again on return, with the signal as it was before: a sanitizer may have it. One that was sent is
 * sent again. */
static void crashes(int number, siginfo_t *info, void *context) {
  (void)context;
  cb_parts_remove();
  say("curvebody: error: crashed, as libraries do for want of memory\n");
  for (size_t i = 0; i < SIGNALS; i++)
    if (signals[i] == number) sigaction(number, &before[i], NULL);
  if (info->si_code <= 0) raise(number);
}

void cb_ends_watch(void) {
  static char room[1 << 15]; /* a crash may be of calls without end */
  sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
  struct sigaction action = {.sa_sigaction = crashes, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < SIGNALS; i++) sigaction(signals[i], &action, &before[i]);
  atexit(exits);
}

void cb_ends_over(void) { over = 1; }
