/* curvebody export OUT.h5 --xdmf|--csv [-o FILE] [--field NAME]... [--every N] */
#include "cli/cli.h"

#include <curvebody/record.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv) {
  bool xdmf = false, csv = false;
  const char *output = NULL, *every = NULL;
  cb_words fields = {0};
  const cb_option options[] = {
      {"--xdmf", NULL, false, cb_take_flag, &xdmf},    {"--csv", NULL, false, cb_take_flag, &csv},
      {"--output", "-o", true, cb_take_text, &output}, {"--every", NULL, true, cb_take_text, &every},
      {"--field", NULL, true, cb_take_word, &fields},  {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_export, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1 || xdmf == csv) return cb_usage(&cb_command_export);
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
    snprintf(name, sizeof name, "%.*s.%s", (int)cut, argv[0], xdmf ? "xdmf" : "csv");
    output = name;
  }
  cb_status status = cb_check_output(output, (cb_files){(const char **)argv, 1});
  if (!status)
    status = xdmf ? cb_record_export_xdmf(argv[0], output, &how) : cb_record_export_csv(argv[0], output, &how);
  if (status) return cb_report(status);
  printf("%s\n", output);
  return CB_EXIT_DONE;
}

const cb_command cb_command_export = {
    "export", "OUT.h5 --xdmf|--csv [-o FILE] [--field NAME]... [--every N]",
    "Describes a record for ParaView (XDMF), or writes its rows as comma-separated values. Surfaces of bodies in a "
    "fluid go to a second file, with -surface.h5 in place of the ending.",
    run};
