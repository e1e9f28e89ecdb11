/* curvebody view OUT.h5: writes a page that shows a record. */
#include "cli/cli.h"
#include "record/folder.h"

#include <curvebody/view.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAUSE = 1 };

static bool is_written(const char *path) { return cb_record_state(path) == CB_FOLDER_HELD; }

/* Writes the page once per second until no process writes the record, and then a last time. If the record cannot be
 * read at one time, for example while it is being closed, this time is skipped. */
static cb_status watch(const char *path, const char *output, cb_view_options how) {
  how.watched = true;
  while (is_written(path)) {
    const cb_status status = cb_view_write(path, output, &how);
    if (status && is_written(path) && status != CB_ERROR_FILE) return status;
    sleep(PAUSE);
  }
  how.watched = false;
  return cb_view_write(path, output, &how);
}

typedef struct arguments {
  const char *output, *frames;
  bool watched;
} arguments;

static int run(void *taken, char **operand) {
  arguments *a = taken;
  cb_view_options how = {0};
  char name[4096], *end;
  if (a->frames) {
    const long long value = strtoll(a->frames, &end, 10);
    if (*end || end == a->frames || value < 1 || value > 1000000)
      return cli_misuse(&cli_command_view, "expected a number of frames from 1 to 1000000, not `%s`", a->frames);
    how.frames = (uint64_t)value;
  }
  cli_output_beside(operand[0], ".html", name, sizeof name);
  if (!a->output) a->output = name;
  const bool prints = !strcmp(a->output, "-");
  if (prints && a->watched) return cli_misuse(&cli_command_view, "--watch needs a file: expected its name after -o");
  cb_status status = cli_check_output(a->output, (cb_files){(const char **)operand, 1});
  if (!status) status = a->watched ? watch(operand[0], a->output, how) : cb_view_write(operand[0], a->output, &how);
  if (status) return cli_report(status);
  if (!prints) printf("%s\n", a->output);
  return CLI_EXIT_DONE;
}

static const cli_option options[] = {
    CLI_OPTION("output", 'o', CLI_VALUE, output, "PAGE.html", "the record's name with .html", "@files",
               "the page; - is the standard output"),
    CLI_OPTION("frames", 0, CLI_VALUE, frames, "N", "the number of rows that fits into 16 MB, at most 2000", NULL,
               "number of frames, from 1 to 1000000"),
    CLI_OPTION("watch", 0, CLI_FLAG, watched, NULL, NULL, NULL,
               "writes the page once per second while the run continues; the page reloads itself"),
    CLI_END};
static const cli_operand operands[] = {
    {"OUT.h5", "@files", "a record, or the result of a sweep, `gait .. curvature` or `gait .. family`", NULL},
    {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody view rod.h5", "Writes rod.html."},
    {"curvebody view rod.h5 -o few.html --frames 50", "Writes a page with 50 frames."},
    {NULL, NULL}};

const cli_command cli_command_view = {
    .name = "view",
    .usage = "OUT.h5 [OPTION]...",
    .summary = "Writes one page that shows a record in a browser, without server or network.",
    .details =
        "The page shows the motion from outside, from inside the space, or from a moving body, and can follow a body; "
        "next to it are plots of every observable. Results of sweeps and of `curvebody gait` are shown as maps and "
        "curves.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
