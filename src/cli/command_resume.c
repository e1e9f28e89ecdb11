/* curvebody resume OUT.h5: continues a run to --until T, or to the end of the scenario.
 *
 * The scenario is the resolved one in the record. The run continues from the newest complete checkpoint. Rows after
 * this checkpoint are computed again; they are the same bit for bit, with the instruction set that the record names. */
#include "cli/cli.h"
#include "scenario/private.h"

#include "core/threads.h"
#include "record/record_contents.h"
#include "scenario/warnings.h"
#include <stdlib.h>

static cb_status take_isa(cb_reader *reader) {
  const char *isa;
  const cb_status status = cb_reader_attribute(reader, "isa", &isa);
  if (!status && *isa && cb_isa_set(isa))
    fprintf(stderr, "curvebody: note: %s: the last digits of the new rows will differ\n", cb_error_text());
  return status;
}

/* Returns CB_ERROR_INPUT if the record already ends after the end of the scenario, because a record is never
 * shortened. */
static cb_status check_end(cb_reader *reader, const char *path, cb_scenario *scenario) {
  const uint64_t rows = cb_reader_position(reader).rows;
  double last;
  cb_status status = rows ? cb_reader_rows(reader, 0, rows - 1, 1, &last) : CB_OK;
  if (status || !rows) return status;
  const cb_run *run = cb_scenario_run(scenario);
  if (cb_run_end(run) > last - 0.5 * cb_run_step(run)) return CB_OK;
  return cb_fail(CB_ERROR_INPUT,
                 "%s: error: the record ends at time %.17g: expected --until of at least this time, found %.17g", path,
                 last, cb_run_end(run));
}

/* Repairs a record that could not be read, and opens it again: after a killed writer or a loss of power a record may
 * need a repair. unread: the error of reading; if it is CB_ERROR_MEMORY, it is returned without a repair. */
static cb_status open_repaired(const char *path, cb_status unread, cb_reader **reader) {
  cb_status status = unread;
  cb_reader_close(*reader);
  *reader = NULL;
  if (status != CB_ERROR_MEMORY && !(status = cb_record_repair(path, NULL))) status = cb_reader_open(path, reader);
  return status;
}

typedef struct arguments {
  const char *until;
  bool quiet, json;
} arguments;

static cb_status open_run(const char *path, const char *const *sets, size_t n_sets, cb_reader **reader,
                          cb_scenario **scenario) {
  const char *text;
  cb_status status = cb_reader_open(path, reader);
  if (status) status = open_repaired(path, status, reader);
  if (!status) status = cb_reader_scenario(*reader, "resolved", &text);
  if (!status) status = take_isa(*reader);
  if (!status) status = cb_scenario_open_record(path, text, sets, n_sets, scenario);
  if (!status) status = check_end(*reader, path, *scenario);
  if (status == CB_ERROR_FILE && *scenario && !(status = open_repaired(path, status, reader)))
    status = check_end(*reader, path, *scenario);
  if (!status) status = cli_check_inputs(*reader, path, *scenario);
  return status ? status : cli_check_output(path, cb_scenario_files(*scenario));
}

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  cb_reader *reader = NULL;
  cb_scenario *scenario = NULL;
  cb_record *record = NULL;
  char set[256];
  const char *const sets[] = {set};
  if (a->until && (size_t)snprintf(set, sizeof set, "time.end=%s", a->until) >= sizeof set)
    return cli_misuse(&cli_command_resume, "--until: expected a time, such as 20");
  cli_print_warnings(!a->quiet);
  cb_status status = open_run(operand[0], sets, a->until != NULL, &reader, &scenario);
  cb_reader_close(reader);
  if (!status) {
    size_t count;
    cb_blob *state = cb_run_state(cb_scenario_run(scenario), &count);
    const cb_record_options how = cb_scenario_record(scenario);
    status = cb_record_open_for_resume(operand[0], cb_scenario_layout(scenario), &how, state, count, NULL, &record);
  }
  if (!status) status = cb_scenario_warn(scenario);
  if (!status) cb_record_repeat_warnings(record, CLI_WARNINGS_PRINTED);
  if (!status) status = cb_run_restore(cb_scenario_run(scenario));
  const cli_run_options how = {.quiet = a->quiet, .json = a->json, .resumes = true, .output = operand[0]};
  return cli_run_scenario(status, scenario, record, &how);
}

static const cli_option options[] = {
    CLI_OPTION("until", 'u', CLI_VALUE, until, "T", "the end of the scenario", NULL,
               "time at which the run ends, in the unit of the scenario"),
    CLI_OPTION("quiet", 'q', CLI_FLAG, quiet, NULL, NULL, NULL,
               "prints no progress, no notes and no last line, only warnings"),
    CLI_OPTION("json", 0, CLI_FLAG, json, NULL, NULL, NULL, "prints the last line, with the warnings, as JSON"),
    CLI_END};
static const cli_operand operands[] = {{"OUT.h5", "@files", "a record", NULL}, {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody resume rod.h5", "Continues an interrupted or killed run to the end of its scenario."},
    {"curvebody resume rod.h5 --until 20", "Continues a run to time 20, even if it is complete."},
    {NULL, NULL}};

const cli_command cli_command_resume = {
    .name = "resume",
    .usage = "OUT.h5 [OPTION]...",
    .summary =
        "Continues a completed, interrupted or killed run. The file is identical to the file of a run that was never "
        "stopped.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
