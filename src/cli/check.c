/* curvebody check SCENARIO [--set KEY=VALUE]... */
#include "cli/cli.h"
#include "cli/warnings.h"

#include <curvebody/scenario.h>
#include <stdio.h>

static int run(int argc, char **argv) {
  cb_words sets = {0};
  const cb_option options[] = {{"--set", NULL, true, cb_take_word, &sets}, {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_check, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_check);
  cb_scenario *scenario = NULL;
  cb_status status = cb_scenario_open(argv[0], sets.word, sets.count, &scenario);
  if (status) return cb_report(status);
  fputs(cb_scenario_resolved(scenario), stdout);
  status = cb_warn_of_bodies(scenario);
  cb_scenario_free(scenario);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_check = {"check", "SCENARIO [--set KEY=VALUE]...",
                                     "Validates a scenario and prints it with all defaults.", run};
