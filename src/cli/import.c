/* curvebody import MODEL.xml [-o OUT.yaml] [--end T] [--key NAME]
 *
 * Makes a scenario of the free bodies of an MJCF file (mjcf/mjcf.h), and says on stderr what it leaves out, a line each. */
#include "cli/cli.h"

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

/* What is written is a scenario that can be run. */
static cb_status check(const char *name, const cb_text *text) {
  cb_scenario *s = NULL;
  const cb_status status = cb_scenario_open_text(name, text->data, NULL, 0, &s);
  cb_scenario_free(s);
  return status;
}

/* An output may not take the place of a file that is part of the model. */
static cb_status check_parts(const char *output, const cb_mjcf *model) {
  cb_status status = CB_OK;
  for (const cb_mjcf_file *f = model->files; f && output && !status; f = f->next)
    status = cb_check_output(output, (cb_files){(const char **)&f->path, 1});
  return status;
}

static cb_status write_text(const char *path, const cb_text *text) {
  cb_output o;
  FILE *stream;
  if (!path) return fwrite(text->data, 1, text->length, stdout), CB_OK;
  const cb_status status = cb_output_open_text(path, &o, &stream);
  if (status) return status;
  fwrite(text->data, 1, text->length, stream);
  return cb_output_close_text(&o, stream, CB_OK);
}

static int run(int argc, char **argv) {
  const char *output = NULL, *given = NULL, *key = NULL;
  double end = 1;
  const cb_option options[] = {{"--output", "-o", true, cb_take_text, &output},
                               {"--end", NULL, true, cb_take_text, &given},
                               {"--key", NULL, true, cb_take_text, &key},
                               {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_import, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1) return cb_usage(&cb_command_import);
  const char *path = argv[0];
  cb_mjcf *model = NULL;
  cb_text text = {0};
  cb_status status = end_of(given, &end);
  if (!status && output) status = cb_check_output(output, (cb_files){&path, 1});
  if (!status) status = cb_mjcf_read_file(path, key, &model);
  if (!status) status = check_parts(output, model);
  if (!status) status = cb_mjcf_write(model, end, &text);
  if (!status) status = check(output ? output : path, &text);
  if (!status) status = write_text(output, &text);
  if (!status) fputs(model->left_out, stderr);
  cb_mjcf_free(model);
  cb_text_free(&text);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_import = {"import", "MODEL.xml [-o OUT.yaml] [--end T] [--key NAME]",
                                      "Makes a scenario of the free bodies of an MJCF file, MuJoCo's, on stdout or in "
                                      "OUT.yaml, of T s (default 1), from the "
                                      "start that the file has or from its key NAME (its name, or its number from 0), "
                                      "and lists on stderr what it leaves out.",
                                      run, NULL};
