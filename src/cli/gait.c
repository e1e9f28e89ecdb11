/* curvebody gait SCENARIO holonomy|connection|curvature|path|optimize|family|verdict
 *
 * A gait in a bundle: what a cycle of it does, the connection at a shape, curvature over a window, the path in the
 * group; and the gait of least cost. Of the scenario, `bundle`, `gait`, `start` and `optimum` are read. */
#include "cli/gait.h"
#include "cli/warnings.h"

#include "record/warnings.h"
#include "scenario/warnings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
  const char *name;
  cb_status (*run)(const cb_gait_job *job);
  bool writes, moves;  /* a file; it needs a gait */
  const char *instead; /* of a shape that fails; NULL: its failures say themselves what to try */
} part;

static const char elsewhere[] = "try a gait that keeps away from this shape";
static const part parts[] = {{"holonomy", cb_gait_holonomy, false, true, elsewhere},
                             {"connection", cb_gait_connection, false, false, elsewhere},
                             {"curvature", cb_gait_curvature, true, false, elsewhere},
                             {"path", cb_gait_path, true, true, elsewhere},
                             {"optimize", cb_gait_optimize, false, false, NULL},
                             {"family", cb_gait_family, true, false, NULL},
                             {"verdict", cb_gait_verdict, false, true, elsewhere}};
enum { PARTS = sizeof parts / sizeof *parts };

cb_status cb_gait_count(const char *option, const char *text, int most, int *out) {
  double count;
  const cb_status status = text ? cb_ambient_numbers(option, text, 1, &count) : CB_OK;
  if (status || !text) return status;
  if (!(count >= 2 && count <= most && count == floor(count)))
    return cb_fail(CB_ERROR_INPUT, "%s: error: expected a whole number from 2 to %d, found %g", option, most, count);
  *out = (int)count;
  return CB_OK;
}

cb_status cb_gait_grid(const char *text, int most, int out[2]) {
  char *end, *last;
  if (!text) return CB_OK;
  const long one = strtol(text, &end, 10), two = *end == 'x' ? strtol(end + 1, &last, 10) : 0;
  if (*end != 'x' || *last || one < 2 || two < 2 || one > most || two > most)
    return cb_fail(CB_ERROR_INPUT, "--grid: error: expected two numbers from 2 to %d, N1xN2, found '%.40s'", most,
                   text);
  out[0] = (int)one, out[1] = (int)two;
  return CB_OK;
}

void cb_gait_row(const char *title, int n, const char *const *names, const double *values) {
  printf("%-12s", title);
  for (int i = 0; i < n; i++) printf("%s%s = %.15g", i ? ", " : "", names[i], cb_shown(values[i]));
  printf("\n");
}

void cb_gait_json_words(const char *key, int count, const char *const *words) {
  printf("\"%s\": [", key);
  for (int i = 0; i < count; i++) {
    printf("%s", i ? ", " : "");
    cb_json_text(stdout, words[i]);
  }
  printf("]");
}

void cb_gait_begin_json(const cb_gait_job *job) {
  printf("{\"bundle\": ");
  cb_json_text(stdout, cb_bundle_scenario_name(job->motion));
  printf(", \"group\": ");
  cb_json_text(stdout, job->bundle->group->name);
  printf(",\n ");
  cb_gait_json_words("shape", job->bundle->n, job->bundle->shape);
  printf(",\n ");
}

cb_families_job cb_gait_families_job(const cb_gait_job *job) {
  return (cb_families_job){.read = job->read,
                           .motion = job->motion,
                           .bundle = job->bundle,
                           .title = job->title,
                           .output = job->output,
                           .warnings = job->warnings,
                           .set = job->sets->word,
                           .sets = job->sets->count};
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
  cb_note_left_out(s);
  job->read = s;
  job->sets = sets;
  job->motion = cb_bundle_scenario_of(s);
  job->bundle = job->motion->bundle;
  job->title = cb_scenario_title(s);
  if (what->moves && !job->motion->gait)
    status = cb_fail(CB_ERROR_INPUT, "%s:1:1: error: the key `gait` is missing: `%s` is of a gait", job->scenario,
                     what->name);
  if (!status && job->output) status = cb_check_output(job->output, cb_scenario_files(s));
  cb_warning_log log;
  cb_warning_log_begin(&log);
  job->warnings = log.list.text;
  cb_scenario_warn_again(s);
  if (!status) status = cb_scenario_warn_of_bundle(s);
  if (!status) status = what->run(job);
  cb_warning_log_end(&log);
  cb_scenario_free(s);
  if (status <= 0 || !what->instead) return status;
  return cb_fail(status, "%s: %.1500s; %s", status == CB_STEP_SINGULAR ? "singular shape" : cb_status_name(status),
                 cb_error_text(), what->instead);
}

static void words_known(void (*each)(const char *)) {
  for (size_t i = 0; i < PARTS; i++) each(parts[i].name);
}

static int run(int argc, char **argv) {
  cb_words sets = {0};
  cb_gait_job job = {0};
  cb_gait_asked asked = {0};
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
                               {"--over", NULL, true, cb_take_text, &job.over},
                               {"--members", NULL, true, cb_take_text, &job.members},
                               {"--move", NULL, true, cb_take_text, &asked.move},
                               {"--turn", NULL, true, cb_take_text, &asked.turn},
                               {"--element", NULL, true, cb_take_text, &asked.element},
                               {"--parts", NULL, true, cb_take_text, &asked.parts},
                               {"--seek", NULL, true, cb_take_text, &asked.seek},
                               {"--length", NULL, true, cb_take_text, &asked.length},
                               {"--base", NULL, true, cb_take_text, &asked.base},
                               {"--bounds", NULL, true, cb_take_text, &asked.bounds},
                               {"--apart", NULL, false, cb_take_flag, &asked.apart},
                               {"--starts", NULL, true, cb_take_text, &asked.starts},
                               {"--seed", NULL, true, cb_take_text, &asked.seed},
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
  cb_arena *arena = cb_arena_create();
  const bool family = what->run == cb_gait_family;
  cb_status status = arena ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for options");
  if (!status && family) status = cb_gait_take_sweep(&asked, arena, &job, &sets);
  if (!status) status = cb_gait_sets(&asked, arena, &sets, family ? &job.to : NULL);
  if (!status) status = go(what, &job, &sets);
  cb_arena_free(arena);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_gait = {
    "gait",
    "SCENARIO holonomy [--error E] | connection [--at R] | curvature [--grid N1xN2] [--window LO:HI,LO:HI] [--plane "
    "NAME,NAME] [--coordinates minimum_perturbation] -o OUT.h5 | path [--times N] -o OUT.h5 | optimize [--move X | "
    "--turn T | "
    "--element NUMBERS | --parts NAME=X,...] [--seek cost|efficiency|target] [--length L] [--base R] [--bounds LO:HI | "
    "--bounds NAME=LO:HI,...] [--apart] [--starts N] [--seed N] [--error E] [-o OUT.yaml|OUT.h5] | family [--move "
    "LO:HI|LO:fold | --over KEY=LO:HI | --move LO:HI --turn LO:HI --grid N1xN2] [--members N] -o OUT.h5 | verdict; "
    "each "
    "with [--set "
    "KEY=VALUE]... [--json]",
    "Follows a gait in a bundle: group element, length, cost and efficiency of a cycle; connection, curvature and "
    "metric at a shape R, or over a window of shape space; the path in the group; the gait of least cost at a target, "
    "or "
    "the most efficient one, and how it is known to be. Of the scenario, bundle, gait, start and optimum are read.",
    run, words_known};
