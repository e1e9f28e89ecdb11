/* curvebody check SCENARIO [--set KEY=VALUE]... */
#include "cli/cli.h"
#include "cli/warnings.h"

#include "geometry/distance_table.h"
#include <curvebody/scenario.h>
#include <stdio.h>

/* As comments, so that what is printed stays a scenario. */
static void print_table(const cb_distance_table_size *s) {
  if (!s) return;
  printf("# table of distances: %zu boxes of %d variables, degree %d, %.3g MiB, for %.4g %% of its region\n", s->boxes,
         s->variables, s->degree, (double)s->bytes * 0x1p-20, 100 * s->covered);
  printf("# measured errors: %.2g of distances, %.2g of gradients, %.2g of second derivatives\n", s->distance,
         s->gradient, s->hessian);
}

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
  if (cb_scenario_space(scenario)) print_table(cb_distance_table_size_of(cb_scenario_space(scenario)));
  status = cb_warn_of_bodies(scenario);
  cb_scenario_free(scenario);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_check = {"check", "SCENARIO [--set KEY=VALUE]...",
                                     "Validates a scenario and prints it with all defaults.", run};
