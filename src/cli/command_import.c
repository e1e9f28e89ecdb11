/* curvebody import MODEL.xml: makes a scenario from the moving bodies of an MJCF file (mjcf/mjcf.h), and lists omitted
 * elements on stderr, one per line. */
#include "cli/cli.h"
#include "scenario/private.h"

#include "mjcf/mjcf.h"
#include "record/output.h"

#include <string.h>

static cb_status end_of(const char *text, double *end) {
  size_t at = 0;
  if (!text) return CB_OK;
  const cb_status status = cb_expression_constant(text, &at, end);
  if (status == CB_ERROR_INPUT) return cb_fail(CB_ERROR_INPUT, "--end:1:%zu: error: %s", at + 1, cb_error_text());
  if (!status && !(*end > 0)) return cb_fail(CB_ERROR_INPUT, "--end:1:1: error: expected a time > 0, found %g", *end);
  return status;
}

/* Checks that the text is a scenario that can be run. */
static cb_status check(const char *name, const cb_text *text) {
  cb_scenario *s = NULL;
  const cb_status status = cb_scenario_open_record(name, text->data, NULL, 0, &s);
  cb_scenario_free(s);
  return status;
}

/* Fails if an output would replace a file that is part of the model. */
static cb_status check_parts(const char *output, const cb_mjcf *model) {
  cb_status status = CB_OK;
  for (const cb_mjcf_file *f = model->files; f && !status; f = f->next)
    status = cli_check_output(output, (cb_files){(const char **)&f->path, 1});
  return status;
}

static cb_status write_text(const char *path, const cb_text *text) {
  cb_output o;
  FILE *stream;
  const cb_status status = cb_output_open_text(path, &o, &stream);
  if (status) return status;
  fwrite(text->data, 1, text->length, stream);
  return cb_output_close_text(&o, stream, CB_OK);
}

typedef struct arguments {
  const char *output, *end, *key;
  cli_list control;
} arguments;

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  const char *path = operand[0], *output = a->output ? a->output : "-";
  const bool named = strcmp(output, "-");
  double end = 1;
  cb_mjcf *model = NULL;
  const cb_mjcf_choices choices = {a->key, a->control.item, (int)a->control.count};
  cb_text text = {0};
  cb_status status = end_of(a->end, &end);
  if (!status) status = cli_check_output(output, (cb_files){&path, 1});
  if (!status) status = cb_mjcf_read_file(path, &choices, &model);
  if (!status) status = check_parts(output, model);
  if (!status) status = cb_mjcf_write(model, end, &text);
  if (!status) status = check(named ? output : path, &text);
  if (!status) status = write_text(output, &text);
  if (!status) fputs(model->left_out, stderr);
  cb_mjcf_free(model);
  cb_text_free(&text);
  return status ? cli_report(status) : CLI_EXIT_DONE;
}

static const cli_option options[] = {
    CLI_OPTION("output", 'o', CLI_VALUE, output, "OUT.yaml", "-, the standard output", "@files", "the scenario"),
    CLI_OPTION("end", 0, CLI_VALUE, end, "T", "1", NULL, "end time of the scenario in s"),
    CLI_OPTION("key", 0, CLI_VALUE, key, "NAME", NULL, NULL,
               "starts from a keyframe, given by its name or by its number, counted from 0"),
    CLI_OPTION("control", 0, CLI_LIST, control, "NAME=EXPR", "0", NULL,
               "control of the actuator NAME, an expression of the time t; may be repeated"),
    CLI_END};
static const cli_operand operands[] = {{"MODEL.xml", "@files", "a model in MJCF, the format of MuJoCo", NULL},
                                       {.name = NULL}};
static const cli_example examples[] = {{"curvebody import cards.xml -o cards.yaml --end 3",
                                        "Writes a scenario of 3 s, and lists omitted elements on stderr."},
                                       {NULL, NULL}};

const cli_command cli_command_import = {
    .name = "import",
    .usage = "MODEL.xml [OPTION]...",
    .summary = "Makes a scenario from the moving bodies of a MuJoCo model.",
    .details = "It lists omitted elements on stderr, one per line.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
