/* curvebody export OUT.h5 --xdmf|--csv|--flow [-o FILE] [--field NAME]... [--every N] [--at T] [--grid NxNxN]
 * [--streamlines N] */
#include "cli/cli.h"
#include "export/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STREAMLINES = 10000 };

/* What a flow is asked for; false after a message. */
static bool take_flow(const char *at, const char *grid, const char *streamlines, cb_flow_options *how) {
  char rest, *end;
  *how = (cb_flow_options){.at = NAN, .grid = {41, 41, 41}};
  if (at && (how->at = strtod(at, &end), end == at || *end || !isfinite(how->at)))
    return fprintf(stderr, "curvebody export: error: expected a time in seconds after --at, not `%s`\n", at), false;
  int *n = how->grid;
  if (grid && (sscanf(grid, "%6dx%6dx%6d%c", n, n + 1, n + 2, &rest) != 3 || n[0] < 1 || n[1] < 1 || n[2] < 1))
    return fprintf(stderr, "curvebody export: error: expected numbers of points like 41x41x1 after --grid, not `%s`\n",
                   grid),
           false;
  if (streamlines) {
    const long value = strtol(streamlines, &end, 10);
    if (end == streamlines || *end || value < 0 || value > MOST_STREAMLINES)
      return fprintf(stderr, "curvebody export: error: expected a number up to %d after --streamlines, not `%s`\n",
                     MOST_STREAMLINES, streamlines),
             false;
    how->streamlines = (int)value;
  }
  return true;
}

static int run(int argc, char **argv) {
  bool xdmf = false, csv = false, flow = false;
  const char *output = NULL, *every = NULL, *at = NULL, *grid = NULL, *streamlines = NULL;
  cb_words fields = {0};
  const cb_option options[] = {{"--xdmf", NULL, false, cb_take_flag, &xdmf},
                               {"--csv", NULL, false, cb_take_flag, &csv},
                               {"--output", "-o", true, cb_take_text, &output},
                               {"--every", NULL, true, cb_take_text, &every},
                               {"--field", NULL, true, cb_take_word, &fields},
                               {"--flow", NULL, false, cb_take_flag, &flow},
                               {"--at", NULL, true, cb_take_text, &at},
                               {"--grid", NULL, true, cb_take_text, &grid},
                               {"--streamlines", NULL, true, cb_take_text, &streamlines},
                               {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_export, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1 || xdmf + csv + flow != 1 || (flow ? every || fields.count : at || grid || streamlines))
    return cb_usage(&cb_command_export);
  cb_flow_options about;
  if (!take_flow(at, grid, streamlines, &about)) return CB_EXIT_USAGE;
  cb_export_options how = {.fields = fields.count ? fields.word : NULL, .n_fields = fields.count};
  if (every) {
    char *end;
    const long long value = strtoll(every, &end, 10);
    if (*end || end == every || value < 1)
      return fprintf(stderr, "curvebody export: error: expected a positive number of rows after --every, not `%s`\n",
                     every),
             CB_EXIT_USAGE;
    how.every = (uint64_t)value;
  }
  char name[4096];
  if (!output) {
    const size_t length = strlen(argv[0]),
                 cut = length > 3 && !strcmp(argv[0] + length - 3, ".h5") ? length - 3 : length;
    snprintf(name, sizeof name, "%.*s%s", (int)cut, argv[0], flow ? "-flow.xdmf" : xdmf ? ".xdmf" : ".csv");
    output = name;
  }
  cb_status status = cb_check_output(output, (cb_files){(const char **)argv, 1});
  if (!status)
    status = flow   ? cb_record_export_flow(argv[0], output, &about)
             : xdmf ? cb_record_export_xdmf(argv[0], output, &how)
                    : cb_record_export_csv(argv[0], output, &how);
  if (status) return cb_report(status);
  printf("%s\n", output);
  return CB_EXIT_DONE;
}

const cb_command cb_command_export = {
    "export",
    "OUT.h5 --xdmf|--csv|--flow [-o FILE] [--field NAME]... [--every N] [--at T] [--grid NxNxN] [--streamlines N]",
    "Describes a record for ParaView (XDMF), or writes its rows as comma-separated values. Surfaces of bodies in a "
    "fluid go to a second file, with -surface.h5 in place of the ending. --flow: of a perfect fluid about "
    "bodies at a time, the sum of those about each by itself, u and p on a grid (NxNx1: a plane), phi and p on the "
    "surfaces, streamlines as the first body "
    "sees "
    "them.",
    run, NULL};
