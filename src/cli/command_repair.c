/* curvebody repair OUT.h5: joins the segments of a record or of a sweep. */
#include "cli/cli.h"

static int run(void *taken, char **operand) {
  (void)taken;
  int code;
  if (cli_sweep_repair(operand[0], &code)) return code;
  cb_repair_report report;
  const cb_status status = cb_record_repair(operand[0], &report);
  if (status) return cli_report(status);
  if (report.was_closed)
    printf("%s: complete, %llu rows, unchanged\n", operand[0], (unsigned long long)report.rows);
  else
    printf("%s: repaired, %llu rows, %llu events, joined from %s.parts\n", operand[0], (unsigned long long)report.rows,
           (unsigned long long)report.events, operand[0]);
  return CLI_EXIT_DONE;
}

static const cli_option options[] = {CLI_END};
static const cli_operand operands[] = {
    {"OUT.h5", "@files", "a record or the result of a sweep, with its segments in OUT.h5.parts", NULL}, {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody repair rod.h5", "Joins the segments in rod.h5.parts into rod.h5; a complete record does not change."},
    {NULL, NULL}};

const cli_command cli_command_repair = {
    .name = "repair",
    .usage = "OUT.h5",
    .summary = "Joins segments into one file: those of a killed run, or of a run or sweep that could not join them.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .run = run,
};
