/* curvebody run SCENARIO [-o OUT.h5] [--set KEY=VALUE]... [--force] [--quiet|--json] */
#include "cli/cli.h"
#include "cli/warnings.h"
#include "scenario/warnings.h"

#include <math.h>
#include <string.h>

/* The scenario's file name with .h5 for its ending, in the current folder. */
static void default_output(const char *scenario, char *out, size_t size) {
  const char *slash = strrchr(scenario, '/'), *base = slash ? slash + 1 : scenario, *dot = strrchr(base, '.');
  const size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
  snprintf(out, size, "%.*s.h5", (int)(length < size - 4 ? length : size - 4), base);
}

/* Corrections of the start that are told of: more than numbers typed with nine digits need. */
static const double noted = 1e-9;

static int run(int argc, char **argv) {
  cb_go_options go = {0};
  cb_words sets = {0};
  bool force = false;
  const cb_option options[] = {
      {"--output", "-o", true, cb_take_text, &go.output}, {"--set", NULL, true, cb_take_word, &sets},
      {"--force", NULL, false, cb_take_flag, &force},     {"--quiet", "-q", false, cb_take_flag, &go.quiet},
      {"--json", NULL, false, cb_take_flag, &go.json},    {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_run, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_run);
  char output[4096];
  default_output(argv[0], output, sizeof output);
  if (!go.output) go.output = output;

  cb_scenario *scenario = NULL;
  cb_record *record = NULL;
  cb_status status = cb_check_output(go.output, (cb_files){(const char **)argv, 1});
  if (!go.quiet) cb_say_beforehand(argv[0]);
  cb_print_warnings(!go.quiet);
  if (!status) status = cb_scenario_open(argv[0], sets.word, sets.count, &scenario);
  if (!status && !go.quiet) cb_note_left_out(scenario);
  if (!status) status = cb_check_output(go.output, cb_scenario_files(scenario));
  if (!status) {
    cb_record_options how = cb_scenario_record(scenario);
    how.overwrite = true;
    how.discard = force;
    status = cb_record_create(go.output, cb_scenario_layout(scenario), &how, &record);
  }
  if (!status) status = cb_scenario_warn(scenario);
  const cb_run *made = status ? NULL : cb_scenario_run(scenario);
  if (made && !go.quiet && fmax(cb_run_start_moved(made), cb_run_start_turned(made)) > noted)
    fprintf(stderr,
            "curvebody: note: the start was brought to the constraints: coordinates by up to %.3g, velocities by up to "
            "%.3g\n",
            cb_run_start_moved(made), cb_run_start_turned(made));
  if (!status && !go.quiet) cb_note_dropped(scenario);
  return cb_go(status, scenario, record, &go);
}

const cb_command cb_command_run = {"run", "SCENARIO [-o OUT.h5] [--set KEY=VALUE]... [--force] [--quiet|--json]",
                                   "Runs a scenario and records it to an HDF5 file (default: the scenario's name with "
                                   ".h5). --force: rows that a killed run of that name left are given up.",
                                   run, NULL};
