/* curvebody check SCENARIO: validates a scenario and prints it with all defaults. */
#include "cli/cli.h"
#include "run/fluid_run.h"
#include "scenario/warnings.h"

#include <curvebody/immersed.h>
#include <stdio.h>

/* Prints how added masses were found, as YAML comments, so that the output is still a scenario. Copies of a body are
 * listed once. */
static void print_solutions(cb_scenario *scenario) {
  const int n = cb_scenario_bodies(scenario);
  const cb_immersed *before = NULL;
  for (int i = 0; i < n; i++) {
    const cb_immersed *body = cb_scenario_body(scenario, i);
    cb_added_mass added;
    char text[160];
    int points;
    const char *model = body == before ? NULL : cb_immersed_solved(body, &added);
    before = body;
    if (!model) continue;
    snprintf(text, sizeof text, "# body `%.100s`: ", cb_scenario_body_name(scenario, i));
    cli_print_solution(text, model, cb_surface_is_shape(cb_immersed_surface(body)) && !cb_immersed_poses(body), &added);
    const double error = cb_immersed_tabulated(body, &points);
    if (points)
      printf("%sthe added mass is a table of %d points along the poses, relative error %.2g (measured)\n", text, points,
             error);
  }
}

/* Prints the estimated error of the coupling of bodies in one fluid at the start, as a YAML comment. */
static void print_coupling(cb_scenario *scenario) {
  cb_coupling_error e;
  if (!cb_run_coupling_error(cb_scenario_run(scenario), &e)) return;
  printf("# coupling: estimated error %.2g of the added mass, largest for body `%.100s` and ", e.error,
         cb_scenario_body_name(scenario, e.body[0]));
  if (e.body[0] == e.body[1])
    printf("the wall\n");
  else
    printf("body `%.100s`\n", cb_scenario_body_name(scenario, e.body[1]));
}

typedef struct arguments {
  cli_list sets;
} arguments;

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  cb_scenario *scenario = NULL;
  cli_announce_large_work(operand[0]);
  cb_status status = cb_scenario_open(operand[0], a->sets.item, a->sets.count, &scenario);
  if (status) return cli_report(status);
  fputs(cb_scenario_resolved(scenario), stdout);
  print_solutions(scenario);
  print_coupling(scenario);
  cli_note_dropped(scenario);
  status = cb_scenario_warn(scenario);
  cli_print_run_warnings(cb_scenario_run(scenario), 0, "the record");
  cb_scenario_free(scenario);
  return status ? cli_report(status) : CLI_EXIT_DONE;
}

static const cli_option options[] = {
    CLI_OPTION("set", 0, CLI_LIST, sets, "KEY=VALUE", NULL, CLI_KEYS, "changes a value of the scenario"), CLI_END};
static const cli_operand operands[] = {{"SCENARIO", "@files", "a scenario file; - is the standard input", NULL},
                                       {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody check rod.yaml", "Prints the scenario with all defaults, or its errors with file, line and column."},
    {NULL, NULL}};

const cli_command cli_command_check = {
    .name = "check",
    .usage = "SCENARIO [OPTION]...",
    .summary = "Validates a scenario and prints it with all defaults.",
    .details =
        "The output is a scenario again. Comments in it describe how the added masses of bodies in a fluid were "
        "found, and the error of the coupling of these bodies at the start.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
