/* Prints warnings and notes, which are not results, on stderr. Also prints the line about an added mass (cli/cli.h). */
#include "cli/cli.h"

#include "fluid/fluid_shared.h"
#include "scenario/warnings.h"

#include <curvebody/constraint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_line(void *name, const char *line) {
  fprintf(stderr, "curvebody: %s: %s\n", (const char *)name, line);
}

void cli_announce_large_work(const char *name) { cb_fluid_model_set_report(print_line, (void *)name); }

static void print(void *context, const char *text) {
  (void)context;
  fprintf(stderr, "curvebody: warning: %s\n", text);
}

static void print_note(void *context, const char *text) {
  (void)context;
  fprintf(stderr, "curvebody: note: %s\n", text);
}

void cli_print_warnings(bool notes) {
  cb_warnings_to((cb_warning_taker){.take = print, .note = notes ? print_note : NULL});
}

size_t cli_print_run_warnings(const cb_run *run, size_t first, const char *output) {
  const cb_run_warning *list;
  const size_t count = cb_run_warnings(run, &list);
  size_t timed = 0;
  for (size_t i = first; i < count; i++)
    if (isnan(list[i].time))
      cb_warn("%s", list[i].text);
    else if (timed++ < CLI_WARNINGS_PRINTED)
      cb_warn("at time %.6g, %s", list[i].time, list[i].text);
  if (timed > CLI_WARNINGS_PRINTED)
    cb_warn("%zu more warnings are in %s, where /event_kind is %d", timed - CLI_WARNINGS_PRINTED, output,
            CB_EVENT_WARN);
  return count;
}

void cli_note_left_out(const cb_scenario *scenario) {
  const char *line = cb_scenario_notes(scenario);
  while (*line) {
    const size_t length = strcspn(line, "\n");
    fprintf(stderr, "curvebody: note: %.*s\n", (int)length - 2, line + 2);
    line += length + (line[length] == '\n');
  }
}

void cli_note_dropped(const cb_scenario *scenario) {
  const cb_system *system = cb_scenario_system(scenario), *dropped = system ? cb_system_dropped(system) : NULL;
  for (int r = 0; dropped && r < cb_system_constraints(dropped); r++)
    fprintf(stderr,
            "curvebody: note: constraint `%s` is dropped, because the others imply it at the start; the run stops if "
            "this changes\n",
            cb_system_constraint_name(dropped, r));
}

void cli_print_solution(const char *before, const char *model, bool shape, const cb_added_mass *added) {
  printf("%s%s: ", before, model);
  if (added->error > 0)
    printf("relative error %.2g (estimated%s), ", added->error, shape ? "" : "; for the flow around these flat faces");
  printf("raw asymmetry %.2g, %d faces, %s", added->asymmetry, added->faces, added->method);
  if (added->iterations) printf(", %d iterations", added->iterations);
  printf("\n");
}
