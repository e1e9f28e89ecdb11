/* curvebody check SCENARIO [--set KEY=VALUE]... */
#include "cli/cli.h"
#include "cli/warnings.h"
#include "scenario/warnings.h"

#include <curvebody/immersed.h>
#include <stdio.h>

/* As comments, by which the output is a scenario still; copies are told of once. */
static void print_solutions(cb_scenario *scenario) {
  const int n = cb_scenario_bodies(scenario);
  const cb_immersed *before = NULL;
  for (int i = 0; i < n; i++) {
    const cb_immersed *body = cb_scenario_body(scenario, i);
    cb_added_mass told;
    char text[160];
    int points;
    const char *model = body == before ? NULL : cb_immersed_solved(body, &told);
    before = body;
    if (!model) continue;
    snprintf(text, sizeof text, "# body `%.100s`: ", cb_scenario_body_name(scenario, i));
    cb_print_solution(text, model, cb_surface_is_shape(cb_immersed_surface(body)) && !cb_immersed_poses(body), &told);
    const double error = cb_immersed_tabulated(body, &points);
    if (points) printf("%sa table of %d points along its poses, relative error %.2g (measured)\n", text, points, error);
  }
}

static int run(int argc, char **argv) {
  cb_words sets = {0};
  const cb_option options[] = {{"--set", NULL, true, cb_take_word, &sets}, {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_check, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_check);
  cb_scenario *scenario = NULL;
  cb_say_beforehand(argv[0]);
  cb_status status = cb_scenario_open(argv[0], sets.word, sets.count, &scenario);
  if (status) return cb_report(status);
  fputs(cb_scenario_resolved(scenario), stdout);
  print_solutions(scenario);
  cb_note_dropped(scenario);
  status = cb_scenario_warn(scenario);
  cb_print_run_warnings(cb_scenario_run(scenario), 0, "the record");
  cb_scenario_free(scenario);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_check = {
    "check", "SCENARIO [--set KEY=VALUE]...",
    "Validates a scenario and prints it with all defaults, and how its added masses were found.", run, NULL};
