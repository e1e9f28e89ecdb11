/* curvebody gait SCENARIO holonomy|connection|curvature|path
 *
 * A gait in a bundle: what a cycle of it does, the connection at a shape, curvature over a window, the path in the
 * group. Of the scenario, `bundle`, `gait` and `start` are read. */
#include "cli/gait.h"

#include "cli/ambient.h"
#include "io/arrays.h"
#include <curvebody/node.h>
#include <math.h>
#include <string.h>

typedef struct part {
  const char *name;
  cb_status (*run)(const cb_gait_job *job);
  bool writes, moves; /* a file; it needs a gait */
} part;

static const part parts[] = {{"holonomy", cb_gait_holonomy, false, true},
                             {"connection", cb_gait_connection, false, false},
                             {"curvature", cb_gait_curvature, true, false},
                             {"path", cb_gait_path, true, true}};
enum { PARTS = sizeof parts / sizeof *parts };

cb_status cb_gait_numbers(const char *option, const char *text, int n, double *out) {
  return cb_ambient_numbers(option, text, n, out);
}

void cb_gait_json_words(const char *key, int count, const char *const *words) {
  printf("\"%s\": [", key);
  for (int i = 0; i < count; i++) {
    printf("%s", i ? ", " : "");
    cb_json_text(stdout, words[i]);
  }
  printf("]");
}

void cb_gait_attributes(const cb_gait_job *job, struct cb_arrays *a) {
  cb_arrays_text(a, "Conventions", "CF-1.10");
  cb_arrays_text(a, "title", job->title);
  cb_arrays_text(a, "curvebody_version", CB_VERSION);
  cb_arrays_text(a, "bundle", cb_bundle_scenario_name(job->motion));
  cb_arrays_text(a, "group", job->bundle->group->name);
}

static const double *put(int rank, const int *dims, const double *values) {
  if (rank == 0) {
    if (isfinite(*values))
      printf("%.17g", *values);
    else
      printf("null");
    return values + 1;
  }
  printf("[");
  for (int i = 0; i < *dims; i++) {
    printf("%s", i ? ", " : "");
    values = put(rank - 1, dims + 1, values);
  }
  printf("]");
  return values;
}

void cb_gait_json(const char *key, int rank, const int *dims, const double *values, bool last) {
  printf("\"%s\": ", key);
  put(rank, dims, values);
  printf("%s", last ? "}\n" : ",\n ");
}

static const part *find(const char *word) {
  const char *names[PARTS];
  for (int i = 0; i < PARTS; i++) {
    if (!strcmp(parts[i].name, word)) return &parts[i];
    names[i] = parts[i].name;
  }
  const char *near = cb_nearest_name(word, names, PARTS);
  fprintf(stderr, "curvebody gait: error: nothing is called `%s`", word);
  if (near) fprintf(stderr, "; did you mean `%s`?", near);
  fputc('\n', stderr);
  return NULL;
}

static cb_status go(const part *what, cb_gait_job *job, const cb_words *sets) {
  cb_scenario *s = NULL;
  cb_status status = cb_scenario_open_bundle(job->scenario, sets->word, sets->count, &s);
  if (status) return status;
  job->motion = cb_scenario_bundle(s);
  job->bundle = job->motion->bundle;
  job->title = cb_scenario_title(s);
  if (what->moves && !job->motion->gait)
    status = cb_fail(CB_ERROR_INPUT, "%s:1:1: error: the key `gait` is missing: `%s` is of a gait", job->scenario,
                     what->name);
  if (!status && what->writes) status = cb_check_output(job->output, cb_scenario_files(s));
  if (!status) status = what->run(job);
  cb_scenario_free(s);
  if (status <= 0) return status;
  return cb_fail(status, "%s: %.1500s; try a gait that keeps away from this shape",
                 status == CB_STEP_SINGULAR ? "singular shape" : cb_status_name(status), cb_error_text());
}

static int run(int argc, char **argv) {
  cb_words sets = {0};
  cb_gait_job job = {0};
  const cb_option options[] = {{"--set", NULL, true, cb_take_word, &sets},
                               {"--json", NULL, false, cb_take_flag, &job.json},
                               {"--output", "-o", true, cb_take_text, &job.output},
                               {"--error", NULL, true, cb_take_text, &job.error},
                               {"--at", NULL, true, cb_take_text, &job.at},
                               {"--grid", NULL, true, cb_take_text, &job.grid},
                               {"--window", NULL, true, cb_take_text, &job.window},
                               {"--plane", NULL, true, cb_take_text, &job.plane},
                               {"--coordinates", NULL, true, cb_take_text, &job.coordinates},
                               {"--times", NULL, true, cb_take_text, &job.times},
                               {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_gait, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 2) return cb_usage(&cb_command_gait);
  const part *what = find(argv[1]);
  if (!what) return cb_usage(&cb_command_gait);
  if (what->writes && !job.output) {
    fprintf(stderr, "curvebody gait: error: `%s` writes a file; expected its name after -o\n", what->name);
    return cb_usage(&cb_command_gait);
  }
  job.scenario = argv[0];
  const cb_status status = go(what, &job, &sets);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_gait = {
    "gait",
    "SCENARIO holonomy [--error E] | connection [--at R] | curvature [--grid N1xN2] [--window LO:HI,LO:HI] [--plane "
    "NAME,NAME] [--coordinates minimum_perturbation] -o OUT.h5 | path [--times N] -o OUT.h5; each with [--set "
    "KEY=VALUE]... [--json]",
    "Follows a gait in a bundle: group element, length, cost and efficiency of a cycle; connection, curvature and "
    "metric at a shape R, or over a window of shape space; the path in the group. Of the scenario, bundle, gait and "
    "start are read.",
    run};
