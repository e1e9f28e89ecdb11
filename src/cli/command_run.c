/* curvebody run SCENARIO: runs a scenario into a record. */
#include "cli/cli.h"
#include "record/folder.h"
#include "scenario/warnings.h"

#include <math.h>
#include <string.h>

/* Larger corrections of the start are reported. A start that was typed with nine digits needs only smaller
 * corrections. */
static const double noted_correction = 1e-9;

typedef struct arguments {
  const char *output;
  cli_list sets;
  bool force, quiet, json;
} arguments;

static cb_status open_record(const arguments *a, cb_scenario *scenario, cb_record **record) {
  const cb_status status = a->force ? CB_OK : cb_scenario_check_replaced(scenario, a->output);
  if (status) return status;
  cb_record_options how = cb_scenario_record(scenario);
  how.overwrite = true;
  how.discard = a->force;
  return cb_record_create(a->output, cb_scenario_layout(scenario), &how, record);
}

static void note_correction(const cb_run *run) {
  if (fmax(cb_run_start_position_change(run), cb_run_start_velocity_change(run)) > noted_correction)
    fprintf(stderr,
            "curvebody: note: the start was corrected to satisfy the constraints: coordinates by up to %.3g, "
            "velocities by up to %.3g\n",
            cb_run_start_position_change(run), cb_run_start_velocity_change(run));
}

static int run(void *taken, char **operand) {
  arguments *a = taken;
  char output[4096];
  if (!a->output && !strcmp(operand[0], "-"))
    return cli_misuse(&cli_command_run, "a scenario from the standard input has no name: expected -o OUT.h5");
  cli_default_output(operand[0], ".h5", output, sizeof output);
  if (!a->output) a->output = output;

  cb_scenario *scenario = NULL;
  cb_record *record = NULL;
  cb_status status = cli_check_hdf5(a->output);
  if (!status) status = cli_check_output(a->output, (cb_files){(const char **)operand, 1});
  if (!a->quiet) cli_announce_large_work(operand[0]);
  cli_print_warnings(!a->quiet);
  if (!status) status = cb_scenario_open(operand[0], a->sets.item, a->sets.count, &scenario);
  if (!status && !a->quiet) cli_note_left_out(scenario);
  if (!status) status = cli_check_output(a->output, cb_scenario_files(scenario));
  if (!status) status = open_record(a, scenario, &record);
  if (!status) status = cb_scenario_warn(scenario);
  if (!status && !a->quiet) {
    note_correction(cb_scenario_run(scenario));
    cli_note_dropped(scenario);
  }
  const cli_run_options how = {.quiet = a->quiet, .json = a->json, .output = a->output};
  return cli_run_scenario(status, scenario, record, &how);
}

static const cli_option options[] = {
    CLI_OPTION("output", 'o', CLI_VALUE, output, "OUT.h5", "the scenario's name with .h5, in this folder", "@files",
               "the record; this option is required if the scenario comes from the standard input"),
    CLI_OPTION("set", 0, CLI_LIST, sets, "KEY=VALUE", NULL, CLI_KEYS,
               "changes a value of the scenario, such as time.end=20 or bodies.0.mass=2"),
    CLI_OPTION("force", 0, CLI_FLAG, force, NULL, NULL, NULL,
               "replaces a record that is unfinished or longer, and discards the rows that a killed run left"),
    CLI_OPTION("quiet", 'q', CLI_FLAG, quiet, NULL, NULL, NULL,
               "prints no progress, no notes and no last line, only warnings"),
    CLI_OPTION("json", 0, CLI_FLAG, json, NULL, NULL, NULL, "prints the last line, with the warnings, as JSON"),
    CLI_END};
static const cli_operand operands[] = {{"SCENARIO", "@files", "a scenario file; - is the standard input", NULL},
                                       {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody run rod.yaml -o rod.h5", "Runs the scenario to its end and records it in rod.h5."},
    {"curvebody run rod.yaml -o gauss.h5 --set integrator.name=gauss --set integrator.step=0.1",
     "Runs the same scenario with another integrator and step."},
    {NULL, NULL}};

const cli_command cli_command_run = {
    .name = "run",
    .usage = "SCENARIO [OPTION]...",
    .summary = "Runs a scenario and records it to an HDF5 file.",
    .details =
        "During the run, progress is shown if the output is a terminal. If the run is interrupted (Ctrl-C), the record "
        "is closed with all rows so far, and `curvebody resume` continues it from its last checkpoint.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
