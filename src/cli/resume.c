/* curvebody resume OUT.h5 [--until T] [--quiet|--json]
 *
 * To T, or to the end of the scenario, which is the resolved one that the record keeps. The run goes on from
 * the newest whole checkpoint, and what was recorded after it is computed again to the same bytes, with the instruction
 * set that the record names. */
#include "cli/cli.h"
#include "cli/warnings.h"

#include "core/isa.h"
#include "record/warnings.h"
#include "scenario/warnings.h"
#include <stdlib.h>

static cb_status take_isa(cb_reader *reader) {
  const char *isa;
  const cb_status status = cb_reader_attribute(reader, "isa", &isa);
  if (!status && *isa && cb_isa_set(isa))
    fprintf(stderr, "curvebody: note: %s: what follows will differ in the last digits\n", cb_error_text());
  return status;
}

/* A record is not cut short: CB_ERROR_INPUT where it goes beyond the end of the scenario. */
static cb_status check_end(cb_reader *reader, const char *path, cb_scenario *scenario) {
  const uint64_t rows = cb_reader_position(reader).rows;
  double last;
  cb_status status = rows ? cb_reader_rows(reader, 0, rows - 1, 1, &last) : CB_OK;
  if (status || !rows) return status;
  const cb_run *run = cb_scenario_run(scenario);
  if (cb_run_end(run) > last - 0.5 * cb_run_step(run)) return CB_OK;
  return cb_fail(CB_ERROR_INPUT,
                 "%s: error: the record goes to time %.17g: expected --until of at least that, found %.17g", path, last,
                 cb_run_end(run));
}

/* What a killed writer or a loss of power left may have to be repaired to be read. */
static cb_status open_repaired(const char *path, cb_status unread, cb_reader **reader) {
  cb_status status = unread;
  cb_reader_close(*reader);
  *reader = NULL;
  if (status != CB_ERROR_MEMORY && !(status = cb_record_repair(path, NULL))) status = cb_reader_open(path, reader);
  return status;
}

static int run(int argc, char **argv) {
  cb_go_options go = {0};
  const char *until = NULL;
  const cb_option options[] = {{"--until", "-u", true, cb_take_text, &until},
                               {"--quiet", "-q", false, cb_take_flag, &go.quiet},
                               {"--json", NULL, false, cb_take_flag, &go.json},
                               {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_resume, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_resume);
  go.output = argv[0];
  go.resumes = true;
  cb_print_warnings(!go.quiet);

  cb_reader *reader = NULL;
  cb_scenario *scenario = NULL;
  cb_record *record = NULL;
  const char *text;
  char set[256];
  const char *sets[] = {set};
  if (until && (size_t)snprintf(set, sizeof set, "time.end=%s", until) >= sizeof set)
    return cb_usage(&cb_command_resume);
  cb_status status = cb_reader_open(argv[0], &reader);
  if (status) status = open_repaired(argv[0], status, &reader);
  if (!status) status = cb_reader_scenario(reader, "resolved", &text);
  if (!status) status = take_isa(reader);
  if (!status) status = cb_scenario_open_text(argv[0], text, sets, until != NULL, &scenario);
  if (!status) status = check_end(reader, argv[0], scenario);
  if (status == CB_ERROR_FILE && scenario && !(status = open_repaired(argv[0], status, &reader)))
    status = check_end(reader, argv[0], scenario);
  if (!status) status = cb_check_inputs(reader, argv[0], scenario);
  if (!status) status = cb_check_output(argv[0], cb_scenario_files(scenario));
  cb_reader_close(reader);
  if (!status) {
    size_t count;
    cb_blob *state = cb_run_state(cb_scenario_run(scenario), &count);
    const cb_record_options how = cb_scenario_record(scenario);
    status = cb_record_open_for_resume(argv[0], cb_scenario_layout(scenario), &how, state, count, NULL, &record);
  }
  if (!status) status = cb_scenario_warn(scenario);
  if (!status) cb_record_repeat_warnings(record, CB_WARNINGS_PRINTED);
  if (!status) status = cb_run_restore(cb_scenario_run(scenario));
  return cb_go(status, scenario, record, &go);
}

const cb_command cb_command_resume = {
    "resume", "OUT.h5 [--until T] [--quiet|--json]",
    "Goes on with a completed, interrupted or killed run, bit for bit as if it had never stopped.", run, NULL};
