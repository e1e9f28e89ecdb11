/* curvebody gait SCENARIO holonomy|connection|curvature|path|optimize|family|optimality|cycle
 *
 * The command reads the keys `bundle`, `gait`, `shape`, `start` and `optimum` of the scenario; `cycle` also reads
 * `integrator` and `time`. The parts of the command are in the files gait_*.c. Options for keys of `optimum` are
 * converted to the form of --set:
 *
 *   --move 0.03                    optimum.target={move: 0.03}
 *   --parts x=0.03,theta=0         optimum.target={parts: {x: 0.03, theta: 0}}
 *   --move 0.001:0.05              optimum.target={move: 0.001}, for a family
 *   --bounds=-pi/2:pi/2            optimum.bounds=[-pi/2, pi/2]
 *   --bounds alpha1=-1:,alpha2=:2  optimum.bounds={alpha1: [-1, ~], alpha2: [~, 2]} */
#include "cli/gait_job.h"

#include "record/output.h"
#include "record/record_contents.h"
#include "core/arena.h"
#include "core/text.h"
#include "scenario/warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cb_status cli_gait_write_text(const char *output, const cb_text *text) {
  cb_output o;
  FILE *stream;
  const cb_status status = cb_output_open_text(output, &o, &stream);
  if (status) return status;
  fwrite(text->data, 1, text->length, stream);
  return cb_output_close_text(&o, stream, CB_OK);
}

/* --- options for keys of `optimum` --- */

static cb_status add(struct cb_arena *arena, cli_list *sets, cb_text *text) {
  const char *item = text->failed ? NULL : cb_arena_strdup(arena, text->data);
  const bool added = cli_list_add(sets, item);
  cb_text_free(text);
  if (!item) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  return added ? CB_OK
               : cb_fail(CB_ERROR_INPUT,
                         "--set: error: used too often: expected fewer uses; write the values into the scenario");
}

/* Appends `optimum.KEY=`, followed by before, value and after; nothing if value is NULL. */
static cb_status set_key(struct cb_arena *arena, cli_list *sets, const char *key, const char *before, const char *value,
                         const char *after) {
  cb_text text = {0};
  if (!value) return CB_OK;
  cb_text_puts(&text, "optimum.");
  cb_text_puts(&text, key);
  cb_text_puts(&text, "=");
  cb_text_puts(&text, before);
  cb_text_puts(&text, value);
  cb_text_puts(&text, after);
  return add(arena, sets, &text);
}

/* Appends "LO:HI" as "[LO, HI]"; an end that is not given becomes ~. */
static cb_status put_range(cb_text *text, const char *range, size_t n) {
  const char *colon = memchr(range, ':', n);
  const size_t low = colon ? (size_t)(colon - range) : 0, high = colon ? n - low - 1 : 0;
  if (!colon || memchr(colon + 1, ':', high))
    return cb_fail(CB_ERROR_INPUT, "--bounds: error: expected LO:HI, or NAME=LO:HI,.., found '%s'",
                   cb_quoted(range, n).text);
  cb_text_puts(text, "[");
  cb_text_put(text, low ? range : "~", low ? low : 1);
  cb_text_puts(text, ", ");
  cb_text_put(text, high ? colon + 1 : "~", high ? high : 1);
  cb_text_puts(text, "]");
  return CB_OK;
}

/* Appends "NAME=..,NAME=.." as "{NAME: .., NAME: ..}"; range: each value is a range. */
static cb_status put_named(cb_text *text, const char *option, const char *list, bool range) {
  cb_status status = CB_OK;
  cb_text_puts(text, "{");
  for (const char *item = list; !status && *item;) {
    const size_t n = strcspn(item, ",");
    const char *equals = memchr(item, '=', n);
    if (!equals)
      return cb_fail(CB_ERROR_INPUT, "%s: error: expected NAME=%s,.., found '%s'", option, range ? "LO:HI" : "NUMBER",
                     cb_quoted(item, n).text);
    const size_t name = (size_t)(equals - item), rest = n - name - 1;
    if (item > list) cb_text_puts(text, ", ");
    cb_text_put(text, item, name);
    cb_text_puts(text, ": ");
    if (range)
      status = put_range(text, equals + 1, rest);
    else
      cb_text_put(text, equals + 1, rest);
    item += n + (item[n] == ',');
  }
  cb_text_puts(text, "}");
  return status;
}

/* Replaces "LO:HI" by "LO" in a copy of the list; *to becomes HI. */
static cb_status split(struct cb_arena *arena, const char **list, const char **to) {
  const char *colon = *list && to ? strchr(*list, ':') : NULL;
  if (!colon) return CB_OK;
  char *low = cb_arena_strdup(arena, *list), *high = cb_arena_strdup(arena, colon + 1);
  if (!low || !high) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  const size_t at = (size_t)(colon - *list), end = strcspn(high, ",");
  memmove(low + at, high + end, strlen(high + end) + 1); /* moves the text after the range to its place in the copy */
  high[end] = 0;
  *list = low;
  *to = high;
  return CB_OK;
}

static cb_status set_parts(const char *parts, struct cb_arena *arena, cli_list *sets) {
  cb_text text = {0};
  if (!parts) return CB_OK;
  cb_text_puts(&text, "optimum.target={parts: ");
  const cb_status status = put_named(&text, "--parts", parts, false);
  cb_text_puts(&text, "}");
  if (status) {
    cb_text_free(&text);
    return status;
  }
  return add(arena, sets, &text);
}

static cb_status set_bounds(const cli_optimum_options *a, struct cb_arena *arena, cli_list *sets) {
  cb_text text = {0};
  if (!a->bounds) return CB_OK;
  cb_text_puts(&text, "optimum.bounds=");
  const cb_status status = strchr(a->bounds, '=') ? put_named(&text, "--bounds", a->bounds, true)
                                                  : put_range(&text, a->bounds, strlen(a->bounds));
  if (status) {
    cb_text_free(&text);
    return status;
  }
  return add(arena, sets, &text);
}

/* Appends the options in the form of --set; arena owns the texts. to: if it is not NULL, the target may be a range
 * LO:HI, and *to becomes HI. CB_ERROR_INPUT for options that exclude each other. */
static cb_status gait_take_optimum(const cli_optimum_options *a, cb_arena *arena, cli_list *sets, const char **to) {
  const char *move = a->move, *turn = a->turn, *parts = a->parts;
  const int targets = !!a->move + !!a->turn + !!a->element + !!a->parts;
  if (targets > 1)
    return cb_fail(CB_ERROR_INPUT, "--%s: error: expected only one target: --move, --turn, --element or --parts",
                   a->parts     ? "parts"
                   : a->element ? "element"
                                : "turn");
  cb_status status = split(arena, &move, to);
  if (!status) status = split(arena, &turn, to);
  if (!status) status = split(arena, &parts, to);
  if (!status) status = set_key(arena, sets, "target", "{move: ", move, "}");
  if (!status) status = set_key(arena, sets, "target", "{turn: ", turn, "}");
  if (!status) status = set_key(arena, sets, "target", "{element: [", a->element, "]}");
  if (!status) status = set_parts(parts, arena, sets);
  if (!status) status = set_key(arena, sets, "objective", "", a->objective, "");
  if (!status) status = set_key(arena, sets, "length", "", a->length, "");
  if (!status) status = set_key(arena, sets, "start_shape", "[", a->start_shape, "]");
  if (!status) status = set_bounds(a, arena, sets);
  if (!status) status = set_key(arena, sets, "no_crossing", "", a->no_crossing ? "true" : NULL, "");
  if (!status) status = set_key(arena, sets, "starts", "", a->starts, "");
  return status ? status : set_key(arena, sets, "seed", "", a->seed, "");
}

/* --- the command --- */
/* Says whether a part of the command writes the file of --output. NO_FILE: never. MAY_WRITE: only if the user gives
 * --output, whose file is then a scenario. WRITES: always. */
enum { NO_FILE, MAY_WRITE, WRITES };

typedef struct part {
  const char *name, *doc;
  cb_status (*run)(const cli_gait_job *job);
  int writes;
  bool moves;          /* the part needs a gait */
  const char *instead; /* advice if a shape is singular; NULL: the error message has advice already */
} part;

static const char elsewhere[] = "try a gait that keeps away from this shape";
static const part parts[] = {
    {"holonomy", "prints group element, length, cost and efficiency of a cycle", cli_gait_holonomy, NO_FILE, true,
     elsewhere},
    {"connection", "prints connection, curvature and metric at a shape", cli_gait_connection, NO_FILE, false,
     elsewhere},
    {"curvature", "writes connection, curvature and metric over a window of shape space to an HDF5 file",
     cli_gait_curvature, WRITES, false, elsewhere},
    {"path", "writes the path in the group to an HDF5 file", cli_gait_path, WRITES, true, elsewhere},
    {"optimize", "finds the cheapest gait for a target, or the most efficient gait", cli_gait_optimize, MAY_WRITE,
     false, NULL},
    {"family", "writes optimal gaits for a range of targets, or of values of one scenario key, to an HDF5 file",
     cli_gait_family, WRITES, false, NULL},
    {"optimality", "prints the distance of the scenario's gait from a local optimum", cli_gait_optimality, NO_FILE,
     true, elsewhere},
    {"cycle", "prints the periodic motion of shape variables that move by themselves, or finds the best one",
     cli_gait_cycle, MAY_WRITE, false, NULL}};
enum { PARTS = sizeof parts / sizeof *parts };

cb_status cli_gait_count(const char *option, const char *text, int maximum, int *out) {
  double count;
  const cb_status status = text ? cli_ambient_numbers(option, text, 1, &count) : CB_OK;
  if (status || !text) return status;
  if (!(count >= 2 && count <= maximum && count == floor(count)))
    return cb_fail(CB_ERROR_INPUT, "%s: error: expected a whole number from 2 to %d, found %g", option, maximum, count);
  *out = (int)count;
  return CB_OK;
}

cb_status cli_gait_grid(const char *text, int maximum, int out[2]) {
  char *end, *last;
  if (!text) return CB_OK;
  const long one = strtol(text, &end, 10), two = *end == 'x' ? strtol(end + 1, &last, 10) : 0;
  if (*end != 'x' || *last || one < 2 || two < 2 || one > maximum || two > maximum)
    return cb_fail(CB_ERROR_INPUT, "--grid: error: expected two numbers from 2 to %d, N1xN2, found '%.40s'", maximum,
                   text);
  out[0] = (int)one;
  out[1] = (int)two;
  return CB_OK;
}

void cli_gait_row(const char *title, int n, const char *const *names, const double *values) {
  printf("%-12s", title);
  for (int i = 0; i < n; i++) printf("%s%s = %.15g", i ? ", " : "", names[i], cli_unsigned_nan(values[i]));
  printf("\n");
}

void cli_gait_json_texts(const char *key, int count, const char *const *names) {
  printf("\"%s\": [", key);
  for (int i = 0; i < count; i++) {
    printf("%s", i ? ", " : "");
    cli_json_text(stdout, names[i]);
  }
  printf("]");
}

void cli_gait_begin_json(const cli_gait_job *job) {
  printf("{\"bundle\": ");
  cli_json_text(stdout, cb_bundle_scenario_name(job->motion));
  printf(", \"group\": ");
  cli_json_text(stdout, job->bundle->group->name);
  printf(",\n ");
  cli_gait_json_texts("shape", job->bundle->n, job->bundle->shape);
  printf(",\n ");
}

cb_families_job cli_gait_families_job(const cli_gait_job *job) {
  return (cb_families_job){.read = job->read,
                           .motion = job->motion,
                           .bundle = job->bundle,
                           .title = job->title,
                           .output = job->output,
                           .warnings = job->warnings,
                           .set = job->sets->item,
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

void cli_gait_json(const char *key, int rank, const int *dims, const double *values, bool last) {
  printf("\"%s\": ", key);
  put(rank, dims, values);
  printf("%s", last ? "}\n" : ",\n ");
}

static const part *find(const char *name) {
  const char *names[PARTS];
  for (int i = 0; i < PARTS; i++) {
    if (!strcmp(parts[i].name, name)) return &parts[i];
    names[i] = parts[i].name;
  }
  cli_unknown(&cli_command_gait, "no part", name, names, PARTS);
  return NULL;
}

/* Fails unless there is a gait that all shape variables follow. */
static cb_status check_gait(const cli_gait_job *job, const char *name) {
  int other;
  if (cb_bundle_scenario_follows(job->motion, &other)) return CB_OK;
  if (other < 0)
    return cb_fail(CB_ERROR_INPUT, "%s:1:1: error: the key `gait` is missing: `%s` needs a gait%s", job->scenario, name,
                   job->motion->moving ? "; the motion of `shape` is that of `curvebody run`" : "");
  return cb_fail(CB_ERROR_INPUT,
                 "%s:1:1: error: `shape`: the variable `%s` does not follow the gait: `%s` needs a gait that all "
                 "variables follow; expected no `%s` in `shape`, or `curvebody run`",
                 job->scenario, job->bundle->shape[other], name, job->bundle->shape[other]);
}

static cb_status run_part(const part *what, cli_gait_job *job, const cli_list *sets) {
  cb_scenario *s = NULL;
  cb_status status = cb_scenario_open_bundle(job->scenario, sets->item, sets->count, &s);
  if (status) return status;
  cli_note_left_out(s);
  job->read = s;
  job->sets = sets;
  job->motion = cb_bundle_scenario_of(s);
  job->bundle = job->motion->bundle;
  job->title = cb_scenario_title(s);
  if (what->moves) status = check_gait(job, what->name);
  if (!status && job->output) status = cli_check_output(job->output, cb_scenario_files(s));
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

static void list_parts(void (*each)(const char *name, const char *doc)) {
  for (size_t i = 0; i < PARTS; i++) each(parts[i].name, parts[i].doc);
}

typedef struct arguments {
  cli_list sets;
  cli_gait_job job;
  cli_optimum_options optimum;
} arguments;

static int run(void *taken, char **operand) {
  arguments *a = taken;
  cli_gait_job *job = &a->job;
  const part *what = find(operand[1]);
  if (!what) return CLI_EXIT_USAGE;
  if (what->writes == WRITES && !job->output)
    return cli_misuse(&cli_command_gait, "`%s` writes a file: expected its name after -o", what->name);
  if (job->output && what->writes == NO_FILE)
    return cli_misuse(&cli_command_gait, "`%s` writes no file: expected no --output", what->name);
  job->scenario = operand[0];
  cb_arena *arena = cb_arena_create();
  const bool family = what->run == cli_gait_family, cycle = what->run == cli_gait_cycle;
  if (job->varied.count > 1 && !cycle)
    return cli_misuse(&cli_command_gait, "`%s` varies one key: expected --vary once", what->name);
  job->vary = job->varied.count && !cycle ? job->varied.item[0] : NULL;
  if (cycle) {
    job->objective = a->optimum.objective;
    job->starts = a->optimum.starts;
    job->seed = a->optimum.seed;
    a->optimum.objective = a->optimum.starts = a->optimum.seed = NULL;
  }
  cb_status status = arena ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for options");
  if (!status && what->writes == WRITES) status = cli_check_hdf5(job->output);
  if (!status && family) status = cli_gait_take_sweep(&a->optimum, arena, job, &a->sets);
  if (!status) status = gait_take_optimum(&a->optimum, arena, &a->sets, family ? &job->to : NULL);
  if (!status && job->vary && job->to)
    status = cb_fail(CB_ERROR_INPUT,
                     "--vary: error: expected one number for the target, found a range that ends with %s", job->to);
  if (!status) status = run_part(what, job, &a->sets);
  cb_arena_free(arena);
  return status ? cli_report(status) : CLI_EXIT_DONE;
}

static const cli_option options[] = {
    CLI_OPTION("output", 'o', CLI_VALUE, job.output, "FILE", NULL, "@files",
               "the file OUT.h5. With optimize, OUT.yaml is a scenario with the best gait, with cycle one with the "
               "start of the periodic motion, and - prints this scenario in place of the report"),
    CLI_OPTION("set", 0, CLI_LIST, sets, "KEY=VALUE", NULL, "bundle. gait. shape. start. optimum.",
               "changes a value of the scenario"),
    CLI_OPTION("json", 0, CLI_FLAG, job.json, NULL, NULL, NULL, "prints JSON"),
    CLI_OPTION(
        "error", 0, CLI_VALUE, job.error, "E", "round-off; 1e-13 for path; one halving for cycle", NULL,
        "tolerance of the path in the group, for holonomy, path and optimize. With cycle, steps are halved until "
        "the results change by at most E (relative)"),
    CLI_HEADING("Options of connection, curvature and path"),
    CLI_OPTION("at", 0, CLI_VALUE, job.at, "R", "the start of the gait; for curvature its mean", NULL,
               "shape variables, separated by commas"),
    CLI_OPTION("grid", 0, CLI_VALUE, job.grid, "N1xN2", "51x51; 21x21 for family", NULL,
               "number of grid points for curvature, or of gaits for family with --move and --turn"),
    CLI_OPTION("window", 0, CLI_VALUE, job.window, "LO:HI,LO:HI",
               "the range of the gait, with a margin of a quarter of its width on each side", NULL,
               "ranges of the two shape variables of curvature"),
    CLI_OPTION("plane", 0, CLI_VALUE, job.plane, "NAME,NAME", "the first two", NULL,
               "the two shape variables of curvature"),
    CLI_OPTION("coordinates", 0, CLI_VALUE, job.coordinates, "minimum_perturbation", "the body frame of the bundle",
               "minimum_perturbation", "body frame for curvature"),
    CLI_OPTION("times", 0, CLI_VALUE, job.times, "N", "257", NULL, "number of times of path"),
    CLI_HEADING("Options of optimize, optimality and family, in place of keys of `optimum`"),
    CLI_OPTION("move", 0, CLI_VALUE, optimum.move, "X", NULL, NULL,
               "target: a displacement X, or `any` for the most efficient gait"),
    CLI_OPTION("turn", 0, CLI_VALUE, optimum.turn, "T", NULL, NULL, "target: a rotation by the angle T"),
    CLI_OPTION("element", 0, CLI_VALUE, optimum.element, "NUMBERS", NULL, NULL,
               "target: a group element, numbers separated by commas"),
    CLI_OPTION("parts", 0, CLI_VALUE, optimum.parts, "NAME=X,...", NULL, NULL,
               "target: some numbers of the group element"),
    CLI_OPTION("objective", 0, CLI_VALUE, optimum.objective, "NAME", "cost; displacement for cycle",
               "cost efficiency target torque work displacement",
               "minimum cost, squared torque or work at a target, maximum efficiency, or maximum amount at a length. "
               "With cycle --vary: "
               "displacement, efficiency, or an axis of the group's algebra, such as v_x"),
    CLI_OPTION("length", 0, CLI_VALUE, optimum.length, "L", NULL, NULL, "length of the cycle, with --objective target"),
    CLI_OPTION("start-shape", 0, CLI_VALUE, optimum.start_shape, "R", "any", NULL,
               "shape at which the cycle starts, numbers separated by commas"),
    CLI_OPTION("bounds", 0, CLI_VALUE, optimum.bounds, "LO:HI|NAME=LO:HI,...", "none", NULL,
               "bounds of all shape variables, or of some; write --bounds=-1:1 if the value begins with a minus sign"),
    CLI_OPTION("no-crossing", 0, CLI_FLAG, optimum.no_crossing, NULL, NULL, NULL,
               "lines of the body that share no point may touch but not cross"),
    CLI_OPTION("starts", 0, CLI_VALUE, optimum.starts, "N", "24; 8 for cycle", NULL,
               "number of random starts of the search"),
    CLI_OPTION("seed", 0, CLI_VALUE, optimum.seed, "N", "1", NULL, "seed of the random starts"),
    CLI_HEADING("Options of family and cycle"),
    CLI_OPTION(
        "vary", 0, CLI_LIST, job.varied, "KEY=LO:HI", NULL, CLI_KEYS,
        "family follows the best gait as a number of the scenario changes; cycle finds the best values of up to 6 "
        "numbers, such as shape.alpha2.spring.stiffness, by their logarithms if HI >= 10 LO > 0. Family without it: "
        "--move LO:HI or LO:fold follows gaits "
        "as their target grows, and --move LO:HI with --turn LO:HI and --grid finds gaits for a grid of both targets"),
    CLI_OPTION("members", 0, CLI_VALUE, job.members, "N", "100; 21 with --vary", NULL, "number of gaits"),
    CLI_END};
static const cli_operand operands[] = {
    {"SCENARIO", "@files",
     "a scenario file with the key `bundle`; the keys gait, shape, start and optimum are read too", NULL},
    {"PART", NULL, "one of:", list_parts},
    {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody gait purcell.yaml holonomy", "Prints the displacement and the cost of one cycle of the gait."},
    {"curvebody gait purcell.yaml optimize --move 0.03 -o best.yaml",
     "Finds the cheapest gait with the displacement 0.03."},
    {"curvebody gait purcell.yaml family --vary bundle.ratio=1.5:2 --move 0.03 -o ratio.h5",
     "Follows the best gait as the key `ratio` changes."},
    {"curvebody gait elastic.yaml cycle --vary shape.alpha2.spring.stiffness=0.001:0.1",
     "Finds the stiffness of a spring with the largest displacement in a cycle."},
    {NULL, NULL}};

const cli_command cli_command_gait = {
    .name = "gait",
    .usage = "SCENARIO PART [OPTION]...",
    .summary = "Computes the holonomy of a gait in a bundle, connection and curvature, and optimal gaits.",
    .options = options,
    .operands = operands,
    .required = 2,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
