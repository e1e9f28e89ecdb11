/* curvebody: motion of extended bodies in curved spaces. This file contains the main function of the program, and the
 * handlers of crashes.
 *
 * If memory is lacking, libgomp and HDF5 end the program, and HDF5 may crash. The handlers remove temporary files.
 * After a crash the process still ends by the signal. A record already has its final name and remains, as after a
 * killed writer. */
#include "cli/cli.h"

#include "cli/probe.h"
#include "core/threads.h"
#include "record/hdf5.h"
#include "record/output.h"
#include <curvebody/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- crashes --- */

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

/* From this call on, if a library calls exit or crashes, temporary files are removed and a message is printed; the
 * process then ends with CLI_EXIT_RUN_FAILED, or by the signal. */
static void crash_handler_install(void) {
  static char stack[1 << 15]; /* a stack of its own, since the cause may be endless recursion */
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_sigaction = handle_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < SIGNALS; i++) sigaction(signals[i], &action, &before[i]);
  atexit(handle_exit);
}

/* Disables the crash handler at the end of main: an exit after this call is not an error. */
static void crash_handler_end(void) { finished = 1; }

/* --- the program --- */

const char cli_program_summary[] = "motion of extended bodies in curved spaces";

const cli_command *const cli_commands[] = {&cli_command_run,
                                           &cli_command_check,
                                           &cli_command_resume,
                                           &cli_command_repair,
                                           &cli_command_verify,
                                           &cli_command_export,
                                           &cli_command_view,
                                           &cli_command_sweep,
                                           &cli_command_classify,
                                           &cli_command_gait,
                                           &cli_command_inertia,
                                           &cli_command_space,
                                           &cli_command_geodesic,
                                           &cli_command_import,
                                           &cli_command_list,
                                           &cli_command_completion,
                                           NULL};
enum { COMMANDS = sizeof cli_commands / sizeof *cli_commands - 1 };

typedef struct arguments {
  const char *isa, *threads;
  cli_list plugins;
  bool help, man, version;
} arguments;

const cli_option cli_program_options[] = {
    CLI_OPTION("threads", 0, CLI_VALUE, threads, "N", "the number of cores", NULL,
               "number of threads for large systems and sweeps, from 1 to 1024"),
    CLI_OPTION("isa", 0, CLI_VALUE, isa, "NAME", "auto, the best that the processor has", CB_ISA_NAMES,
               "instruction set of the vector kernels, one of: " CB_ISA_NAMES),
    CLI_OPTION("plugin", 0, CLI_LIST, plugins, "FILE.so", NULL, "@files",
               "loads your own space, body or other class; see curvebody/plugin.h"),
    CLI_OPTION("help", 'h', CLI_FLAG, help, NULL, NULL, NULL, "prints this help"),
    CLI_OPTION("man", 0, CLI_FLAG, man, NULL, NULL, NULL, "prints the man page, for `man -l -`"),
    CLI_OPTION("version", 0, CLI_FLAG, version, NULL, NULL, NULL, "prints the version"),
    CLI_END};

/* Flushes stdout, and reports an error if output was lost. */
static int flushed(int code) {
  const bool lost = fflush(stdout) != 0 || ferror(stdout);
  if (lost) fprintf(stderr, "curvebody: error: cannot write to the standard output: %s\n", strerror(errno));
  return lost && code == CLI_EXIT_DONE ? CLI_EXIT_FILE : code;
}

/* If a standard stream is closed, the next file would get its descriptor, and output would be printed into that file.
 * So closed streams are opened on /dev/null. The input is then empty; the output is opened only for reading, so that
 * writing fails as on a closed stream; messages on stderr are dropped. */
static bool open_streams(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd) return false;
  return true;
}

static const cli_command *find_command(const char *name) {
  const char *names[COMMANDS];
  for (size_t i = 0; i < COMMANDS; i++) {
    if (!strcmp(cli_commands[i]->name, name)) return cli_commands[i];
    names[i] = cli_commands[i]->name;
  }
  cli_unknown(NULL, "no command", name, names, COMMANDS);
  return NULL;
}

/* Applies the options of the program before a command begins. */
static int prepare(const arguments *a) {
  const cb_status isa = a->isa ? cb_isa_set(a->isa) : CB_OK;
  if (isa) {
    cli_report(isa);
    return CLI_EXIT_USAGE;
  }
  if (a->threads) {
    char *end;
    const long threads = strtol(a->threads, &end, 10);
    if (*end || end == a->threads || threads < 1 || threads > 1024) {
      fprintf(stderr, "curvebody: error: expected a number of threads from 1 to 1024, not `%s`\n", a->threads);
      return CLI_EXIT_USAGE;
    }
    cb_threads_set((int)threads);
  }
  for (size_t i = 0; i < a->plugins.count; i++) {
    const cb_status status = cb_plugin_load(a->plugins.item[i]);
    if (status) return cli_report(status);
    cli_plugin_add(a->plugins.item[i]);
  }
  return CLI_EXIT_DONE;
}

/* Prints the version, man page or help if an option asks for it; true if something was printed. */
static bool printed(const arguments *a, const cli_command *command) {
  if (a->version)
    printf("curvebody %s\n", CB_VERSION);
  else if (a->man)
    cli_man_page(stdout, command);
  else if (a->help)
    cli_help(stdout, command);
  return a->version || a->man || a->help;
}

static int check_operands(const cli_command *command, int count, char **operand) {
  int known = 0;
  while (command->operands[known].name) known++;
  if (count < command->required) return cli_misuse(command, "%s is missing", command->operands[count].name);
  if (count > known) return cli_misuse(command, "unexpected operand `%s`", operand[known]);
  operand[count] = NULL;
  return CLI_EXIT_DONE;
}

/* Runs a command. argv[0] is its name; `a` already holds the options before the name. */
static int run_command(const cli_command *command, arguments *a, int argc, char **argv) {
  void *taken = calloc(1, command->size + 1);
  if (!taken) return cli_report(cb_fail(CB_ERROR_MEMORY, "no memory for options"));
  const cli_target targets[] = {{command->options, taken}, {cli_program_options, a}, {NULL, NULL}};
  int operands, code = cli_options_take(command, targets, argc, argv, &operands);
  if (!code) code = prepare(a);
  const bool done = !code && printed(a, command);
  if (!code && !done) code = check_operands(command, operands, argv + 1);
  if (!code && !done) code = command->run(taken, argv + 1);
  free(taken);
  return code;
}

static int run(int argc, char **argv) {
  arguments a = {0};
  const cli_target targets[] = {{cli_program_options, &a}, {NULL, NULL}};
  int left;
  if (!open_streams()) {
    fprintf(stderr, "curvebody: error: cannot open /dev/null for a closed stream: %s\n", strerror(errno));
    return CLI_EXIT_FILE;
  }
  int code = cli_options_take(NULL, targets, argc, argv, &left);
  if (code) return code;
  if (left > 0) {
    const cli_command *command = find_command(argv[argc - left]);
    return command ? flushed(run_command(command, &a, left, argv + argc - left)) : CLI_EXIT_USAGE;
  }
  code = prepare(&a);
  if (code || printed(&a, NULL)) return flushed(code);
  cli_help(stderr, NULL);
  return CLI_EXIT_USAGE;
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--probe")) cli_probe_read(argv[2]);
  gsl_set_error_handler_off();
  signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit then fails like a write to a full disk */
  cb_hdf5_rests_at_exit();
  cli_probe_enable();
  crash_handler_install();
  cli_print_warnings(true);
  const int code = run(argc, argv);
  crash_handler_end();
  return code;
}
