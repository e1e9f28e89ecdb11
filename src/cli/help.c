/* `--help` and `--man`, from the tables that read the command line. A man page is written in man(7): .SH is a section,
 * .TP a paragraph with a tag, \fB and \fI change the font. */
#include "cli/cli.h"

#include "core/file.h"
#include <curvebody/api.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, COLUMN = 26, NAMES = 512 };

static const struct {
  const char *code, *doc;
} exits[] = {{"0", "The command succeeded."},
             {"1", "The run failed, or the program ran out of memory or threads."},
             {"2", "The command line or the content of a file is wrong."},
             {"3", "A file cannot be opened, read or written."},
             {"130", "The command was interrupted by a signal. The same work can be continued."}};
enum { EXITS = sizeof exits / sizeof *exits };

static const cli_example program_examples[] = {
    {"curvebody run rod.yaml -o rod.h5", "Runs a scenario and records it."},
    {"curvebody view rod.h5", "Writes rod.html, a page that shows the record."},
    {NULL, NULL}};

/* --- As text --- */

/* Prints words of text from `column` on and wraps them; further lines are indented. Ends the line. */
static void wrap(FILE *out, int column, int indent, const char *text) {
  bool first = true;
  while (*text) {
    const int length = (int)strcspn(text, " \n");
    const bool fits = column + !first + length <= WIDTH;
    if (!first) column += fits ? fprintf(out, " ") : fprintf(out, "\n%*s", indent, "") - 1 - column;
    column += fprintf(out, "%.*s", length, text);
    text += length;
    first = false;
    if (text[0] == '\n' && text[1] == '\n') {
      fputs("\n\n", out);
      column = 0;
      first = true;
    }
    text += strspn(text, " \n");
  }
  fputc('\n', out);
}

/* Prints a row of two columns: `tag`, and the wrapped text `doc`. */
static void put_row(FILE *out, int indent, const char *tag, const char *doc) {
  int column = fprintf(out, "%*s%s", indent, "", tag);
  if (column > COLUMN - 2) {
    fputc('\n', out);
    column = 0;
  }
  fprintf(out, "%*s", COLUMN - column, "");
  wrap(out, COLUMN, COLUMN, doc);
}

/* Makes the name of an option: "--name", "--name VALUE" or "--name[=VALUE]". */
static void name_option(const cli_option *row, char *out, size_t size) {
  const char *format = !row->value ? "--%s" : row->form == CLI_OPTIONAL ? "--%s[=%s]" : "--%s %s";
  snprintf(out, size, format, row->name, row->value);
}

/* Makes the description of an option: its doc, the default, and whether it may be repeated. */
static void describe_option(const cli_option *row, char *out, size_t size) {
  snprintf(out, size, "%s%s%s%s%s", row->doc, row->form == CLI_LIST ? "; may be repeated" : "",
           row->fallback ? " (default: " : "", row->fallback ? row->fallback : "", row->fallback ? ")" : "");
}

static void put_options(FILE *out, const char *title, const cli_option *row) {
  char name[96], tag[112], doc[768];
  if (!row->doc) return;
  fprintf(out, "\n%s:\n", title);
  for (; row->doc; row++) {
    if (!row->name) {
      fprintf(out, "\n  %s:\n", row->doc);
      continue;
    }
    name_option(row, name, sizeof name);
    const char letter[] = {'-', row->letter, ',', ' ', 0};
    snprintf(tag, sizeof tag, "%s%s", row->letter ? letter : "    ", name);
    describe_option(row, doc, sizeof doc);
    put_row(out, 2, tag, doc);
  }
}

/* State for the callbacks of lists, which have no context argument. Names without a doc are collected in `names`. */
static FILE *stream;
static char names[NAMES];

static void collect(const char *name) {
  const size_t used = strlen(names);
  snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
}

static void put_value(const char *name, const char *doc) {
  if (doc)
    put_row(stream, 4, name, doc);
  else
    collect(name);
}

static void put_operands(FILE *out, const cli_operand *operand) {
  if (operand->name) fputc('\n', out);
  for (; operand->name; operand++) {
    put_row(out, 2, operand->name, operand->doc);
    stream = out;
    names[0] = 0;
    if (operand->list) operand->list(put_value);
    if (*names) put_row(out, 2, "", names);
  }
}

static void put_usage(FILE *out, const cli_command *command) {
  const char *line = command->usage, *before = "Usage";
  while (*line) {
    const int length = (int)strcspn(line, "\n");
    fprintf(out, "%s: curvebody %s %.*s\n", before, command->name, length, line);
    before = "   or";
    line += length + (line[length] == '\n');
  }
}

static void put_examples(FILE *out, const cli_example *example) {
  fputs("\nExamples:\n", out);
  for (; example->line; example++) {
    fprintf(out, "  %s\n", example->line);
    fprintf(out, "%*s", 6, "");
    wrap(out, 6, 6, example->doc);
  }
}

static void put_exits(FILE *out, const char *more) {
  fputs("\nExit status:\n", out);
  for (int i = 0; i < EXITS; i++) fprintf(out, "  %-4s %s\n", exits[i].code, exits[i].doc);
  if (more) wrap(out, fprintf(out, "  "), 2, more);
}

/* Prints the folder of the manual, if it is installed with the program. */
static void put_manual(FILE *out) {
  char path[2 * PATH_MAX],
      *manual = cb_beside_program(CURVEBODY_MANUAL, path, sizeof path) ? realpath(path, NULL) : NULL;
  if (manual) fprintf(out, "\nManual: %s\n", manual);
  free(manual);
}

static void help_program(FILE *out) {
  fprintf(out, "curvebody: %s\n\nUsage: curvebody [OPTION]... COMMAND [OPTION]...\n\nCommands:\n", cli_program_summary);
  for (size_t i = 0; cli_commands[i]; i++) put_row(out, 2, cli_commands[i]->name, cli_commands[i]->summary);
  fputs("\n`curvebody COMMAND --help` lists the options of a command.\n", out);
  put_options(out, "Options of every command, before or after its name", cli_program_options);
  put_examples(out, program_examples);
  put_exits(out, NULL);
  put_manual(out);
}

void cli_help(FILE *out, const cli_command *command) {
  if (!command) {
    help_program(out);
    return;
  }
  put_usage(out, command);
  fputc('\n', out);
  wrap(out, 0, 0, command->summary);
  if (command->details) {
    fputc('\n', out);
    wrap(out, 0, 0, command->details);
  }
  put_operands(out, command->operands);
  put_options(out, "Options", command->options);
  put_options(out, "Options of every command, before or after its name", cli_program_options);
  put_examples(out, command->examples);
  put_exits(out, command->exits);
}

/* --- As a man page --- */

/* Prints text for roff. "-" is printed as a minus sign, so that it can be copied, and no line may begin with "." or
 * "'". */
static void put_roff(FILE *out, const char *text) {
  for (const char *c = text; *c; c++) {
    if ((*c == '.' || *c == '\'') && (c == text || c[-1] == '\n')) fputs("\\&", out);
    if (*c == '\\')
      fputs("\\e", out);
    else if (*c == '-')
      fputs("\\-", out);
    else if (*c == '\n' && c[1] == '\n')
      fputs("\n.PP", out);
    else
      fputc(*c, out);
  }
}

static void put_tag(FILE *out, const char *font, const char *tag) {
  fprintf(out, ".TP\n%s", font);
  put_roff(out, tag);
  fputs("\\fR\n", out);
}

static void man_options(FILE *out, const cli_option *row) {
  char doc[768];
  for (; row->doc; row++) {
    if (!row->name) {
      fprintf(out, ".SS %s\n", row->doc);
      continue;
    }
    fputs(".TP\n", out);
    if (row->letter) fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", out);
    put_roff(out, row->name);
    fputs("\\fR", out);
    if (row->value) fprintf(out, row->form == CLI_OPTIONAL ? "[=\\fI%s\\fR]" : " \\fI%s\\fR", row->value);
    describe_option(row, doc, sizeof doc);
    fputc('\n', out);
    put_roff(out, doc);
    fputc('\n', out);
  }
}

static void man_value(const char *name, const char *doc) {
  if (!doc) {
    collect(name);
    return;
  }
  put_tag(stream, "\\fB", name);
  put_roff(stream, doc);
  fputc('\n', stream);
}

static void man_operands(FILE *out, const cli_operand *operand) {
  for (; operand->name; operand++) {
    put_tag(out, "\\fI", operand->name);
    put_roff(out, operand->doc);
    fputc('\n', out);
    stream = out;
    names[0] = 0;
    if (operand->list) operand->list(man_value);
    if (*names) put_roff(out, names);
    if (*names) fputc('\n', out);
  }
}

static void man_end(FILE *out, const cli_example *example, const char *more) {
  fputs(".SH EXAMPLES\n", out);
  for (; example->line; example++) {
    put_tag(out, "\\fB", example->line);
    put_roff(out, example->doc);
    fputc('\n', out);
  }
  fputs(".SH EXIT STATUS\n", out);
  for (int i = 0; i < EXITS; i++) fprintf(out, ".TP\n\\fB%s\\fR\n%s\n", exits[i].code, exits[i].doc);
  if (!more) return;
  fputs(".PP\n", out);
  put_roff(out, more);
  fputc('\n', out);
}

static void man_program(FILE *out) {
  fprintf(out,
          ".TH CURVEBODY 1 \"\" \"curvebody %s\" \"User Commands\"\n.SH NAME\ncurvebody \\- %s\n.SH SYNOPSIS\n"
          "\\fBcurvebody\\fR [\\fIOPTION\\fR]... \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH COMMANDS\n",
          CB_VERSION, cli_program_summary);
  for (size_t i = 0; cli_commands[i]; i++)
    fprintf(out, ".TP\n\\fBcurvebody\\-%s\\fR(1)\n%s\n", cli_commands[i]->name, cli_commands[i]->summary);
  fputs(".SH OPTIONS\nPlace them before or after the name of a command.\n", out);
  man_options(out, cli_program_options);
  man_end(out, program_examples, NULL);
}

void cli_man_page(FILE *out, const cli_command *command) {
  if (!command) {
    man_program(out);
    return;
  }
  fprintf(out, ".TH CURVEBODY\\-%s 1 \"\" \"curvebody %s\" \"User Commands\"\n.SH NAME\ncurvebody\\-%s \\- ",
          command->name, CB_VERSION, command->name);
  put_roff(out, command->summary);
  fputs("\n.SH SYNOPSIS\n", out);
  for (const char *line = command->usage; *line; line += line[strcspn(line, "\n")] == '\n') {
    const int length = (int)strcspn(line, "\n");
    char text[256];
    snprintf(text, sizeof text, "%.*s", length, line);
    fprintf(out, "\\fBcurvebody %s\\fR ", command->name);
    put_roff(out, text);
    fputs("\n.br\n", out);
    line += length;
  }
  fputs(".SH DESCRIPTION\n", out);
  put_roff(out, command->summary);
  if (command->details) {
    fputs("\n.PP\n", out);
    put_roff(out, command->details);
  }
  fputc('\n', out);
  man_operands(out, command->operands);
  fputs(".SH OPTIONS\n", out);
  man_options(out, command->options);
  fputs(".SS Options of every command\n", out);
  man_options(out, cli_program_options);
  man_end(out, command->examples, command->exits);
  fputs(".SH SEE ALSO\n\\fBcurvebody\\fR(1)\n", out);
}
