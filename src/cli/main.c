/* curvebody: motion of extended bodies in curved spaces. */
#include "cli/cli.h"
#include "cli/probe.h"
#include "cli/warnings.h"

#include "core/isa.h"
#include "core/threads.h"
#include "record/hdf5.h"
#include <curvebody/node.h>
#include <curvebody/plugin.h>
#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cb_command *const commands[] = {
    &cb_command_run,    &cb_command_check,    &cb_command_resume,   &cb_command_list,    &cb_command_repair,
    &cb_command_export, &cb_command_space,    &cb_command_geodesic, &cb_command_inertia, &cb_command_gait,
    &cb_command_import, &cb_command_classify, &cb_command_sweep,    &cb_command_view,    &cb_command_verify};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* What was printed may not have arrived. */
static int flushed(int code) {
  const bool lost = fflush(stdout) != 0 || ferror(stdout);
  if (lost) fprintf(stderr, "curvebody: error: cannot write to the standard output: %s\n", strerror(errno));
  return lost && code == CB_EXIT_DONE ? CB_EXIT_FILE : code;
}

static void help(FILE *out) {
  fputs("curvebody: motion of extended bodies in curved spaces\n\nUsage:\n", out);
  for (size_t i = 0; i < COMMANDS; i++)
    fprintf(out, "  curvebody %s %s\n      %s\n", commands[i]->name, commands[i]->usage, commands[i]->doc);
  fputs(
      "  curvebody --help | --version | --completion\n      --completion: that of bash, `source <(curvebody "
      "--completion)`\n\n"
      "Options of every command, before its name:\n"
      "  --isa NAME                      instruction set of the vector kernels, one of: " CB_ISA_NAMES
      "\n"
      "                                  (auto, the default: the best there is)\n"
      "  --threads N                     threads of large systems (default: the number of cores)\n"
      "  --plugin FILE.so                spaces of your own; see curvebody/plugin.h (may be repeated)\n\n"
      "Exit codes: 0 done; 1 the run failed; 2 usage, or a file whose content is wrong; 3 a file that cannot be "
      "opened, read\n"
      "or written; 130 interrupted, with a checkpoint on disk.\n",
      out);
}

static int help_on(const cb_command *command) {
  printf("usage: curvebody %s %s\n%s\n", command->name, command->usage, command->doc);
  return CB_EXIT_DONE;
}

static int unknown(const char *word) {
  const char *names[COMMANDS];
  for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i]->name;
  const char *near = cb_nearest_name(word, names, COMMANDS);
  fprintf(stderr, "curvebody: error: no command `%s`", word);
  if (near) fprintf(stderr, "; did you mean `%s`?", near);
  fputs("\nSee `curvebody --help`.\n", stderr);
  return CB_EXIT_USAGE;
}

/* A closed stream is a descriptor that the next file would get, and what is printed there would be in that file. On
 * /dev/null the input is at its end, and the output, opened to be read, refuses what is printed as a closed one does. */
static bool open_streams(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd) return false;
  return true;
}

static int go(int argc, char **argv) {
  if (!open_streams())
    return fprintf(stderr, "curvebody: error: cannot open /dev/null for a closed stream: %s\n", strerror(errno)),
           CB_EXIT_FILE;
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return help(stdout), flushed(CB_EXIT_DONE);
    if (!strcmp(argv[i], "--version")) return printf("curvebody %s\n", CB_VERSION), flushed(CB_EXIT_DONE);
    if (!strcmp(argv[i], "--completion")) return cb_print_completion(commands, COMMANDS), flushed(CB_EXIT_DONE);
    if (i + 1 < argc && !strcmp(argv[i], "--isa")) {
      const cb_status status = cb_isa_set(argv[++i]);
      if (status) return cb_report(status), CB_EXIT_USAGE;
    } else if (i + 1 < argc && !strcmp(argv[i], "--threads")) {
      char *end;
      const long threads = strtol(argv[++i], &end, 10);
      if (*end || end == argv[i] || threads < 1 || threads > 1024)
        return fprintf(stderr, "curvebody: error: expected a number of threads from 1 to 1024, not `%s`\n", argv[i]),
               CB_EXIT_USAGE;
      cb_threads_set((int)threads);
    } else if (i + 1 < argc && !strcmp(argv[i], "--plugin")) {
      const cb_status status = cb_plugin_load(argv[++i]);
      if (status) return cb_report(status);
      cb_plugin_named(argv[i]);
    } else {
      return fprintf(stderr, "curvebody: error: no option `%s`; see `curvebody --help`\n", argv[i]), CB_EXIT_USAGE;
    }
  }
  if (i == argc) return help(stderr), CB_EXIT_USAGE;
  for (size_t c = 0; c < COMMANDS; c++) {
    if (strcmp(commands[c]->name, argv[i])) continue;
    for (int w = i + 1; w < argc; w++)
      if (!strcmp(argv[w], "--help") || !strcmp(argv[w], "-h")) return flushed(help_on(commands[c]));
    return flushed(commands[c]->run(argc - i - 1, argv + i + 1));
  }
  return unknown(argv[i]);
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--probe")) cb_probe_read(argv[2]);
  gsl_set_error_handler_off();
  signal(SIGXFSZ, SIG_IGN); /* a write beyond a limit of the system is refused, as on a full disk */
  cb_hdf5_rests_at_exit();
  cb_probe_enable();
  cb_ends_watch();
  cb_print_warnings(true);
  const int code = go(argc, argv);
  cb_ends_over();
  return code;
}
