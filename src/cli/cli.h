/* The command line: one file a sub-command, each with one const object. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <curvebody/scenario.h>

/* Exit codes. */
enum { CB_EXIT_DONE = 0, CB_EXIT_RUN_FAILED = 1, CB_EXIT_USAGE = 2, CB_EXIT_FILE = 3, CB_EXIT_INTERRUPTED = 130 };

typedef struct cb_command {
  const char *name, *usage, *doc;
  /* argv[0] is the first word after the command's name. Returns an exit code. */
  int (*run)(int argc, char **argv);
  /* Words that it knows, where they are not names of files; or NULL. */
  void (*words)(void (*each)(const char *word));
} cb_command;

extern const cb_command cb_command_run, cb_command_check, cb_command_resume, cb_command_list, cb_command_repair,
    cb_command_export, cb_command_space, cb_command_geodesic, cb_command_inertia, cb_command_gait, cb_command_import,
    cb_command_classify, cb_command_sweep, cb_command_view, cb_command_verify;

/* An option of a command. With a value: `--name VALUE`, `--name=VALUE` or, for a letter, `-n VALUE`. */
typedef struct cb_option {
  const char *name;   /* "--until" */
  const char *letter; /* "-o", or NULL */
  bool has_value;
  bool (*take)(void *target, const char *value); /* false: no room for another */
  void *target;
} cb_option;

/* Takes options (ended by a NULL name) out of argv and leaves *n_words words in argv. Returns CB_EXIT_DONE, or
 * CB_EXIT_USAGE after a message with the nearest option. */
int cb_options_take(const cb_command *command, const cb_option *options, int argc, char **argv, int *n_words);
/* Calls each for every option of a command: those that its run() takes. run() takes them before it does anything. */
void cb_options_each(const cb_command *command, void (*each)(const cb_option *));
/* For options: stores the text, sets a bool, appends to a list; stores the text of `--name=VALUE`, "" of `--name`. */
bool cb_take_optional(void *target, const char *value);
typedef struct cb_words {
  const char *word[64];
  size_t count;
} cb_words;
bool cb_take_text(void *target, const char *value); /* target: const char ** */
bool cb_take_flag(void *target, const char *value); /* target: bool * */
bool cb_take_word(void *target, const char *value); /* target: cb_words * */

/* Says on stderr how a command is used. Returns CB_EXIT_USAGE. */
/* False: the output is of no sweep that has a folder. Otherwise its members are joined, or the error is told: *code. */
bool cb_sweep_repair(const char *output, int *code);
int cb_usage(const cb_command *command);
/* Says the error text on stderr and returns the exit code that belongs to the status. */
int cb_report(cb_status status);
int cb_exit_code(cb_status status);

/* CB_ERROR_INPUT where an output would take the place of one of `inputs` or of a plugin. */
cb_status cb_check_output(const char *path, cb_files inputs);
/* Keeps the name of a plugin for that. */
void cb_plugin_named(const char *path);

/* A number as it is printed: nan without the sign that C gives it. */
static inline double cb_shown(double value) { return isnan(value) ? NAN : value; }

/* text as a JSON string, with quotes. */
void cb_json_text(FILE *out, const char *text);

/* The completion of bash, of these commands, on stdout. */
void cb_print_completion(const cb_command *const *commands, size_t n);

/* From here on a library that calls exit, or crashes, leaves no half-made file, and that it was so is told: exit code
 * CB_EXIT_RUN_FAILED, or the signal. */
void cb_ends_watch(void);
/* Main is over: what follows is its end. */
void cb_ends_over(void);

/* Running what a scenario describes, with progress and interruption: shared by run, resume and classify. */
typedef struct cb_go_options {
  bool quiet, json, resumes; /* resumes: the event that has stopped the run is told in any case */
  const char *output;
} cb_go_options;

/* Runs to the end into the record, closes it, and reports; unless status, of what came before, is a failure to report.
 * Frees scenario and record. Returns an exit code. */
int cb_go(cb_status status, cb_scenario *scenario, cb_record *record, const cb_go_options *options);

/* Files that the scenario names are not in the record, their digest is: CB_ERROR_INPUT where a body has changed
 * since. */
cb_status cb_check_inputs(cb_reader *reader, const char *path, cb_scenario *scenario);
