/* Takes options out of a command line, and reports errors in them. */
#include "cli/cli.h"
#include "export/export.h"
#include "core/failure.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

/* --- Messages --- */

static void begin_error(const cli_command *command) {
  fprintf(stderr, "curvebody%s%s: error: ", command ? " " : "", command ? command->name : "");
}

int cli_usage(const cli_command *command) {
  const char *line = command ? command->usage : "";
  const char *before = "usage";
  while (command && *line) {
    const int length = (int)strcspn(line, "\n");
    fprintf(stderr, "%s: curvebody %s %.*s\n", before, command->name, length, line);
    before = "   or";
    line += length + (line[length] == '\n');
  }
  fprintf(stderr, "See `curvebody%s%s --help`.\n", command ? " " : "", command ? command->name : "");
  return CLI_EXIT_USAGE;
}

int cli_misuse(const cli_command *command, const char *format, ...) {
  va_list values;
  begin_error(command);
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
  return cli_usage(command);
}

/* Old names of options and operands, and the new ones; command NULL: an option of the program. */
static const struct {
  const char *command, *name, *now;
} renamed[] = {{"gait", "verdict", "optimality"},    {"gait", "--over", "--vary"},
               {"gait", "--seek", "--objective"},    {"gait", "--base", "--start-shape"},
               {"gait", "--apart", "--no-crossing"}, {"list", "works", "tasks"},
               {NULL, "--completion", "completion"}};

static const char *new_name(const char *command, const char *name) {
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
    const bool same =
        command && renamed[i].command ? !strcmp(command, renamed[i].command) : command == renamed[i].command;
    if (same && !strcmp(renamed[i].name, name)) return renamed[i].now;
  }
  return NULL;
}

int cli_unknown(const cli_command *command, const char *what, const char *name, const char *const *names,
                size_t count) {
  const char *now = new_name(command ? command->name : NULL, name);
  begin_error(command);
  if (now) {
    fprintf(stderr, "%s was renamed to %s\n", name, now);
    return CLI_EXIT_USAGE;
  }
  const char *near = cb_nearest_name(name, names, count);
  fprintf(stderr, "%s `%s`", what, name);
  if (near) fprintf(stderr, "; did you mean `%s`?", near);
  fputc('\n', stderr);
  return cli_usage(command);
}

/* --- Options --- */

enum { OPTIONS = 64, LONG = 256 }; /* LONG + k is the code of the long name of the k-th option */

/* The rows of all tables, in the form that getopt_long needs. */
typedef struct parser {
  const cli_command *command;
  const cli_option *row[OPTIONS];
  void *target[OPTIONS];
  int count;
  struct option longs[OPTIONS + 1];
  char letters[3 * OPTIONS + 3];
} parser;

static void add_row(parser *p, const cli_option *row, void *arguments) {
  static const int kinds[] = {no_argument, required_argument, required_argument, optional_argument};
  const int k = p->count++;
  p->row[k] = row;
  p->target[k] = (char *)arguments + row->offset;
  p->longs[k] = (struct option){.name = row->name, .has_arg = kinds[row->form], .val = LONG + k};
  if (row->letter) sprintf(p->letters + strlen(p->letters), "%c%s", row->letter, row->form == CLI_FLAG ? "" : ":");
}

/* With "+" getopt_long stops at the first operand; with "-" it returns operands as options with the code 1. The ":"
 * makes it print no messages. */
static void make_parser(const cli_command *command, const cli_target *targets, parser *p) {
  *p = (parser){.command = command};
  strcpy(p->letters, command ? "-:" : "+:");
  for (; targets->options; targets++)
    for (const cli_option *row = targets->options; row->doc && p->count < OPTIONS; row++)
      if (row->name) add_row(p, row, targets->arguments);
}

static int find_row(const parser *p, int code) {
  int k = code - LONG;
  if (code < LONG)
    for (k = 0; k < p->count && p->row[k]->letter != code;) k++;
  return k;
}

bool cli_list_add(cli_list *list, const char *item) {
  if (list->count == sizeof list->item / sizeof *list->item) return false;
  list->item[list->count++] = item;
  return true;
}

/* Stores an option in its target. Returns false if the list is full. */
static bool take(const cli_option *row, void *target, const char *value) {
  switch (row->form) {
    case CLI_FLAG: *(bool *)target = true; return true;
    case CLI_VALUE: *(const char **)target = value; return true;
    case CLI_OPTIONAL: *(const char **)target = value ? value : ""; return true;
    case CLI_LIST: return cli_list_add(target, value);
  }
  return false;
}

/* Reports an option that getopt_long does not accept; its code is '?' or ':'. */
static int refuse(const parser *p, int code, char **argv) {
  enum { COMMANDS = 32 };
  char name[64], dashed[OPTIONS][32];
  const char *names[OPTIONS + COMMANDS];
  const char letter[] = {'-', (char)optopt, 0};
  if (code == ':') return cli_misuse(p->command, "`%s` needs a value", optopt < LONG ? letter : argv[optind - 1]);
  if (optopt >= LONG) return cli_misuse(p->command, "`--%s` takes no value", p->row[optopt - LONG]->name);
  for (int k = 0; k < p->count; k++) {
    snprintf(dashed[k], sizeof dashed[k], "--%s", p->row[k]->name);
    names[k] = dashed[k];
  }
  size_t count = (size_t)p->count;
  for (size_t i = 0; !p->command && cli_commands[i] && i < COMMANDS; i++) names[count++] = cli_commands[i]->name;
  const char *text = optopt ? letter : argv[optind - 1];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
  return cli_unknown(p->command, "no option", name, names, count);
}

int cli_options_take(const cli_command *command, const cli_target *targets, int argc, char **argv, int *operands) {
  parser p;
  int code;
  make_parser(command, targets, &p);
  *operands = 0;
  optind = 0; /* restarts getopt_long in glibc */
  while ((code = getopt_long(argc, argv, p.letters, p.longs, NULL)) >= 0) {
    if (code == '?' || code == ':') return refuse(&p, code, argv);
    if (code == 1) {
      argv[++*operands] = optarg;
      continue;
    }
    const int k = find_row(&p, code);
    if (!take(p.row[k], p.target[k], optarg))
      return cli_misuse(command, "`--%s` is used too often: expected at most %d uses", p.row[k]->name, CLI_USES_MAX);
  }
  if (!command) {
    *operands = argc - optind;
    return CLI_EXIT_DONE;
  }
  while (optind < argc) argv[++*operands] = argv[optind++]; /* operands after `--` */
  return CLI_EXIT_DONE;
}

/* --- an output may not replace an input of the command --- */

enum { PLUGINS = 64 };

/* The files of plugins, which cli_plugin_add stores before any other file is read. */
static const char *plugin[PLUGINS];
static size_t plugins;

void cli_plugin_add(const char *path) {
  if (plugins < PLUGINS) plugin[plugins++] = path;
}

static cb_status check_name(const char *path) {
  return *path ? CB_OK : cb_fail(CB_ERROR_ARGUMENT, "--output: expected the name of a file, found ''");
}

cb_status cli_check_output(const char *path, cb_files inputs) {
  if (!strcmp(path, "-") || !*path) return check_name(path);
  const cb_status status = cb_output_check(path, &inputs);
  return status ? status : cb_output_check(path, &(cb_files){plugin, plugins});
}

cb_status cli_check_hdf5(const char *path) {
  if (strcmp(path, "-")) return check_name(path);
  return cb_fail(CB_ERROR_ARGUMENT,
                 "--output: expected the name of a file, found `-`: HDF5 cannot be written to the standard output");
}

void cli_default_output(const char *scenario, const char *ending, char *out, size_t size) {
  const char *slash = strrchr(scenario, '/'), *base = slash ? slash + 1 : scenario, *dot = strrchr(base, '.');
  const size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base), left = size - strlen(ending);
  snprintf(out, size, "%.*s%s", (int)(length < left ? length : left - 1), base, ending);
}

void cli_output_beside(const char *record, const char *ending, char *out, size_t size) {
  const size_t length = strlen(record), cut = length > 3 && !strcmp(record + length - 3, ".h5") ? length - 3 : length;
  snprintf(out, size, "%.*s%s", (int)cut, record, ending);
}

/* --- Errors and JSON --- */

int cli_exit_code(cb_status status) {
  switch (status) {
    case CB_OK: return CLI_EXIT_DONE;
    case CB_ERROR_ARGUMENT:
    case CB_ERROR_INPUT:
    case CB_ERROR_DOMAIN:
    case CB_ERROR_UNSUPPORTED: return CLI_EXIT_USAGE;
    case CB_ERROR_FILE: return CLI_EXIT_FILE;
    case CB_ERROR_INTERRUPTED: return CLI_EXIT_INTERRUPTED;
    default: return CLI_EXIT_RUN_FAILED;
  }
}

int cli_report(cb_status status) {
  const char *text = cb_error_text();
  /* input errors begin with their position in the file */
  if (status == CB_ERROR_INPUT || cb_failure_last().placed)
    fprintf(stderr, "%s\n", text);
  else
    fprintf(stderr, "curvebody: %s: %s\n", status == CB_ERROR_INTERRUPTED ? "note" : "error", text);
  return cli_exit_code(status);
}

void cli_json_text(FILE *out, const char *text) { cb_json_put_text(out, text); }
