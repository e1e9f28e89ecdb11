/* Declarations of the command-line program. Each command has its own file with one const object, cli_command_NAME. */
#pragma once

#include "yaml/yaml.h"
#include <curvebody/fluid_model.h>
#include <curvebody/scenario.h>

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit status. */
enum { CLI_EXIT_DONE = 0, CLI_EXIT_RUN_FAILED = 1, CLI_EXIT_USAGE = 2, CLI_EXIT_FILE = 3, CLI_EXIT_INTERRUPTED = 130 };

/* --- Tables. The command line is read with them, and help, completion and man pages are made from them --- */

/* The forms of options, and the type of the member of `arguments` that gets the value of an option. Flag: bool. Value:
 * const char *, NULL if the option is absent. List: cli_list, which takes one value per use. Optional: const char * for
 * `--name[=VALUE]`, "" without a value, NULL if the option is absent. */
typedef enum cli_form { CLI_FLAG, CLI_VALUE, CLI_LIST, CLI_OPTIONAL } cli_form;

typedef struct cli_option {
  const char *name; /* long name, such as "until" for --until; NULL: `doc` is a heading of the rows that follow */
  char letter;      /* short name, such as 'u' for -u; 0: none */
  cli_form form;
  size_t offset;        /* offset of the target in the arguments of the command */
  const char *value;    /* name of the value in the help: "T"; NULL for a flag */
  const char *fallback; /* the default as the help prints it; NULL: none */
  const char *choices;  /* values for completion: see cli_choices_each; NULL: unknown */
  const char *doc;      /* description, a phrase; a row with NULL ends the table */
} cli_option;

/* Makes a row of a table. `field` is the member of the struct `arguments` of the file that gets the value; the other
 * parameters are the members of cli_option in their order. */
#define CLI_OPTION(name, letter, form, field, ...) \
  { name, letter, form, offsetof(arguments, field), __VA_ARGS__ }
/* Keys of a scenario, for completion. */
#define CLI_KEYS "integrator. space. fluid. bundle. bodies.0. gait. shape. start. time. record."
#define CLI_HEADING(text) \
  { .doc = (text) }
#define CLI_END \
  { .doc = NULL }

typedef struct cli_operand {
  const char *name;    /* name in the help, such as "SCENARIO"; a row with NULL ends the table */
  const char *choices; /* values for completion: see cli_choices_each; NULL: unknown */
  const char *doc;
  /* Calls `each` with every possible value and its description, which may be NULL. `list` is NULL if there is no list
   * of possible values. */
  void (*list)(void (*each)(const char *name, const char *doc));
} cli_operand;

typedef struct cli_example {
  const char *line, *doc; /* a command line, such as "curvebody check rod.yaml"; NULL ends the table */
} cli_example;

typedef struct cli_command {
  const char *name;
  const char *usage;   /* the text after the name, one line per form */
  const char *summary; /* one sentence */
  const char *details; /* paragraphs, separated by an empty line; NULL: none */
  const char *exits;   /* meanings of the exit status besides the usual ones; NULL: none */
  const cli_option *options;
  const cli_operand *operands;
  int required; /* the first `required` operands must be given */
  const cli_example *examples;
  size_t size; /* size of the struct `arguments` in bytes; its members are 0 unless their options are given */
  /* Operands that are absent are NULL. Returns an exit status. */
  int (*run)(void *arguments, char **operand);
} cli_command;

extern const cli_command cli_command_run, cli_command_check, cli_command_resume, cli_command_list, cli_command_repair,
    cli_command_export, cli_command_space, cli_command_geodesic, cli_command_inertia, cli_command_gait,
    cli_command_import, cli_command_classify, cli_command_sweep, cli_command_view, cli_command_verify,
    cli_command_completion;

extern const cli_command *const cli_commands[]; /* NULL ends the list */
extern const cli_option cli_program_options[];  /* options before or after the name of a command */
extern const char cli_program_summary[];

enum { CLI_USES_MAX = 64 }; /* maximum number of uses of an option that may be repeated */
typedef struct cli_list {
  const char *item[CLI_USES_MAX];
  size_t count;
} cli_list;
/* Adds an item, which is borrowed. Returns false if the list is full. */
bool cli_list_add(cli_list *list, const char *item);

/* --- Reading the command line --- */

/* A table of options and the arguments that it fills. */
typedef struct cli_target {
  const cli_option *options;
  void *arguments;
} cli_target;

/* Takes the options of the tables out of argv[1 .. argc - 1] with getopt_long. A target with options NULL ends the list
 * of tables. The operands that remain are moved to argv[1] and the following places, and *operands is their number. If
 * command is NULL, only options before the first operand are taken, the remaining arguments stay in place, and
 * *operands is their number. Returns CLI_EXIT_DONE, or CLI_EXIT_USAGE after a message with the nearest option. */
int cli_options_take(const cli_command *command, const cli_target *targets, int argc, char **argv, int *operands);

/* Prints the usage of a command on stderr. Returns CLI_EXIT_USAGE. */
int cli_usage(const cli_command *command);
/* Prints an error in the use of a command. Returns CLI_EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_misuse(const cli_command *command, const char *format, ...);
/* Reports on stderr that `name` is not one of `names`, and prints the nearest of them, or the new name if it was
 * renamed. what: for example "no option"; command: NULL for the program. Returns CLI_EXIT_USAGE. */
int cli_unknown(const cli_command *command, const char *what, const char *name, const char *const *names, size_t count);

/* Calls `each` for every word of `choices`, which are separated by spaces. @spaces, @shapes, @models and @integrators
 * mean the names in these registries; @files is skipped. choices may be NULL. */
void cli_choices_each(const char *choices, void (*each)(const char *word));

/* Print the help and the man page of a command, or of the program if command is NULL. */
void cli_help(FILE *out, const cli_command *command);
void cli_man_page(FILE *out, const cli_command *command);

/* --- Functions that commands share --- */

/* Prints the text of the last error on stderr and returns the exit status of this error. */
int cli_report(cb_status status);
int cli_exit_code(cb_status status);

/* Fails with CB_ERROR_INPUT if the output `path` would replace one of `inputs` or a plugin. "-" is the standard
 * output. */
cb_status cli_check_output(const char *path, cb_files inputs);
/* Fails with CB_ERROR_ARGUMENT if the path of an HDF5 output is "-" or empty. */
cb_status cli_check_hdf5(const char *path);
/* Stores the name of a plugin for cli_check_output. */
void cli_plugin_add(const char *path);

/* Joins the segments of a sweep for `curvebody repair`. Returns false if `output` has neither the folder nor the
 * complete result of a sweep. Otherwise joins the segments (a complete result does not change) or reports the error;
 * *code is the exit status. */
bool cli_sweep_repair(const char *output, int *code);

/* Makes the default name of an output, in the current folder: the name of the scenario's file without folder and
 * ending, then `ending`. */
void cli_default_output(const char *scenario, const char *ending, char *out, size_t size);
/* Makes the name of a record with `ending` in place of .h5. */
void cli_output_beside(const char *record, const char *ending, char *out, size_t size);

/* Returns a number for printing. C may print nan with a sign; the result has none. */
static inline double cli_unsigned_nan(double value) { return isnan(value) ? NAN : value; }

/* Prints text as a JSON string, with quotes. */
void cli_json_text(FILE *out, const char *text);

/* Options of cli_run_scenario, which the commands run and resume use. */
typedef struct cli_run_options {
  bool quiet, json, resumes; /* resumes: an event that stopped an earlier run is reported too */
  const char *output;
} cli_run_options;

/* Between these calls the signals SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 set the returned flag, which asks the
 * command to stop after it has written its results. before: the previous actions. */
enum { CLI_STOP_SIGNALS = 5 };
const volatile sig_atomic_t *cli_stop_begin(struct sigaction before[CLI_STOP_SIGNALS]);
void cli_stop_end(const struct sigaction before[CLI_STOP_SIGNALS]);

/* Runs the scenario to its end, closes the record, and prints a summary. Shows the progress, and stops at a signal
 * (cli_stop_begin). If `status`, the result of earlier steps, is a failure, it only reports this failure. Frees the
 * scenario and the record. Returns an exit status. */
int cli_run_scenario(cb_status status, cb_scenario *scenario, cb_record *record, const cli_run_options *options);

/* Compares the files that the scenario names with the digest of them that the record contains: CB_ERROR_INPUT if one of
 * them has changed. */
cb_status cli_check_inputs(cb_reader *reader, const char *path, cb_scenario *scenario);

/* --- Output besides results: warnings, which no option disables, and notes (print_warnings.c) --- */

/* From this call on, work that needs much time or memory is announced on stderr before it begins, under `name`, which
 * is borrowed. */
void cli_announce_large_work(const char *name);
/* From this call on, warnings of this thread, and notes if requested, are printed on stderr, one per line
 * (core/failure.h). */
void cli_print_warnings(bool notes);
enum { CLI_WARNINGS_PRINTED = 10 }; /* maximum number of printed warnings that have a time */
/* Prints the warnings of a run from number `first` on. Returns the number of all warnings of the run so far. output:
 * the record, which contains all of them. */
size_t cli_print_run_warnings(const cb_run *run, size_t first, const char *output);
/* Prints the keys that were removed because --set named another class than the one to which they belong, one per line
 * on stderr. */
void cli_note_left_out(const cb_scenario *scenario);
/* Prints the names of constraints that were dropped as redundant. */
void cli_note_dropped(const cb_scenario *scenario);
/* Prints one line on stdout: the text `before`, then the fluid model of an added mass, its error and its method. shape:
 * the body is a shape of the library, so refined faces follow the exact shape and not the planes of the given faces. */
void cli_print_solution(const char *before, const char *model, bool shape, const cb_added_mass *added);

/* --- A space named on the command line, and points of it in the coordinates of one chart --- */

typedef struct cli_ambient {
  cb_tree *tree;
  cb_space *space;
  const cb_chart *chart; /* the chart of the coordinates; it has a metric */
  const char *file;      /* the file that the space was read from, or NULL */
} cli_ambient;

/* Opens a space. argument: a name, `name:key=value,...`, or a scenario file, from which only `space` is read. sets:
 * changes KEY=VALUE of the scenario, such as `space.curvature=-2`. chart: the name of a chart with a metric; NULL: the
 * chart of the space if it has one, otherwise polar, or the first chart with a metric if there is no polar chart. */
cb_status cli_ambient_open(const char *argument, const cli_list *sets, const char *chart, cli_ambient *out);
void cli_ambient_close(cli_ambient *a);

/* Reads n numbers or constant expressions, separated by commas, from the value `text` of an option. */
cb_status cli_ambient_numbers(const char *option, const char *text, int n, double *out);
/* Chooses the default point: the base point in an intrinsic space, and otherwise a generic point, since a chart may be
 * singular at the base point. */
void cli_ambient_default_point(const cli_ambient *a, double *q);
/* push converts coordinates q and their velocity u to a point x and a vector v of the embedding; in an intrinsic space
 * x and v are the same numbers as q and u. pull converts back. */
cb_status cli_ambient_push(const cli_ambient *a, const double *q, const double *u, double *x, double *v);
cb_status cli_ambient_pull(const cli_ambient *a, const double *x, const double *v, double *q, double *u);
/* Computes the length of a velocity u at q. */
cb_status cli_ambient_length(const cli_ambient *a, const double *q, const double *u, double *length);
