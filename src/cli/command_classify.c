/* curvebody classify OUT.h5: prints how a body falls.
 *
 * It prints the regime of the fall, by the rule of run/falling.h, from the rows of the record; and the largest Lyapunov
 * exponent of the motion (run/exponent.h). To compute the exponent, the motion continues from the newest checkpoint. */
#include "cli/cli.h"
#include "scenario/private.h"

#include "core/failure.h"
#include "run/exponent.h"
#include "run/falling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256 };

typedef struct job {
  const char *path, *body;
  bool json, follow_given; /* follow_given: --exponent is given */
  double follow;
  cb_reader *reader;
  cb_scenario *scenario;
} job;

typedef struct fall {
  const char *name;
  cb_falling_class class_;
  bool plate, exponent;
  cb_exponent of;
} fall;

/* --- reading --- */

static cb_status open_all(job *j) {
  const char *text;
  cb_status status = cb_reader_open(j->path, &j->reader);
  if (!status) status = cb_reader_scenario(j->reader, "resolved", &text);
  if (!status) status = cb_scenario_open_record(j->path, text, NULL, 0, &j->scenario);
  return status ? status : cli_check_inputs(j->reader, j->path, j->scenario);
}

static cb_status restore(const job *j) {
  size_t count;
  cb_run *run = cb_scenario_run(j->scenario);
  cb_blob *state = cb_run_state(run, &count);
  const cb_status status = cb_reader_checkpoint(j->reader, state, count, NULL);
  return status ? status : cb_run_restore(run);
}

static cb_status read_time(job *j, const char *text) {
  size_t at = 0;
  if (!text) return CB_OK;
  j->follow_given = true;
  const cb_status status = cb_expression_constant(text, &at, &j->follow);
  if (status == CB_ERROR_INPUT) return cb_fail(CB_ERROR_INPUT, "--exponent:1:%zu: error: %s", at + 1, cb_error_text());
  if (!status && !(j->follow >= 0))
    return cb_fail(CB_ERROR_INPUT, "--exponent:1:1: error: expected a time >= 0, found %g", j->follow);
  return status;
}

/* --- rows --- */

/* Finds the field `name` of a recorded row, and sets *at to its index. Returns NULL if there is no such field. */
static const cb_reader_field *place_of(const cb_reader *reader, const char *name, size_t *at) {
  const cb_reader_field *field;
  const size_t n = cb_reader_fields(reader, &field);
  for (*at = 0; *at < n; (*at)++)
    if (!strcmp(field[*at].name, name)) return &field[*at];
  return NULL;
}

static cb_status read_fall(const job *j, const cb_falling_plate *plate, int body, cb_falling *to) {
  const uint64_t rows = cb_reader_position(j->reader).rows;
  size_t at;
  const cb_reader_field *field = place_of(j->reader, plate->field, &at);
  if (!field)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected the positions of the body, /%s, in the record", j->path,
                          plate->field);
  size_t needs = plate->body ? 7 * ((size_t)body + 1) : 0;
  for (int k = 0; k < 3 && !plate->body; k++)
    if (needs <= (size_t)plate->at[k]) needs = (size_t)plate->at[k] + 1;
  if (field->count < needs)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s has %zu values per row, expected at least %zu", j->path,
                          field->name, field->count, needs);
  double *value = malloc(ROWS * field->count * sizeof *value), time[ROWS];
  if (!value) return cb_fail(CB_ERROR_MEMORY, "no memory for %d rows", ROWS);
  cb_status status = CB_OK;
  for (uint64_t first = 0; first < rows && !status; first += ROWS) {
    const uint64_t count = rows - first < ROWS ? rows - first : ROWS;
    status = cb_reader_rows(j->reader, 0, first, count, time);
    if (!status) status = cb_reader_rows(j->reader, at, first, count, value);
    for (uint64_t k = 0; k < count && !status; k++)
      cb_falling_plate_add(plate, time[k], value + k * field->count + (plate->body ? 7 * body : 0), to);
  }
  free(value);
  return status;
}

/* Classifies the motion of a body and computes its exponent. known: the result for the previous body. If all bodies
 * have one common exponent, it is taken from `known`. The exponent of this body would be computed over the same time,
 * because all bodies are recorded at the same times. */
static cb_status classify(const job *j, int body, const fall *known, fall *out) {
  const cb_run *run = cb_scenario_run(j->scenario);
  cb_falling_plate plate;
  cb_falling falling = {0};
  cb_status status = cb_falling_plate_of_run(run, body, &plate);
  out->plate = !status;
  if (!status) status = read_fall(j, &plate, body, &falling);
  /* A body that is not a plate has no regime. The command computes only its exponent, if --exponent is given. */
  if (status && (out->plate || !j->follow_given))
    return cb_failure_last().placed || status != CB_ERROR_ARGUMENT
               ? status
               : cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s", j->path, cb_error_text());
  out->class_ = cb_falling_judge(&falling);
  const double follow = j->follow_given ? j->follow : (falling.last.t - falling.sample[0].t) / 2;
  if (!(follow > 0)) return CB_OK;
  if (known->exponent && known->of.shared) {
    out->of = known->of;
    out->exponent = true;
    return CB_OK;
  }
  status = cb_run_exponent(run, body, follow, &out->of);
  out->exponent = !status;
  return !j->follow_given && (status == CB_ERROR_UNSUPPORTED || status == CB_ERROR_ARGUMENT) ? CB_OK : status;
}

/* --- printing --- */

static void json_number(const char *name, double value) {
  if (isfinite(value))
    printf(", \"%s\": %.17g", name, value);
  else
    printf(", \"%s\": null", name);
}

static void text_number(const char *name, double value) {
  if (isfinite(value)) printf(", %s %.6g", name, value);
}

static void print_fall(const job *j, const fall *f) {
  void (*number)(const char *, double) = j->json ? json_number : text_number;
  const cb_falling_class *v = &f->class_;
  if (j->json) {
    printf("{\"body\": ");
    cli_json_text(stdout, f->name);
    printf(f->plate ? ", \"regime\": \"%s\"" : ", \"regime\": null", cb_falling_names[v->regime]);
  } else {
    printf("%s: %s", f->name, f->plate ? cb_falling_names[v->regime] : "no plate");
  }
  number("period", v->period);
  number("turns", v->turns);
  number("angle", v->angle);
  number("swing", v->swing);
  number("turn_rate", v->turn_rate);
  number("drift", v->drift);
  number("descent", v->descent);
  if (f->exponent || j->json) {
    number("exponent", f->exponent ? f->of.value : NAN);
    number("exponent_error", f->exponent ? f->of.error : NAN);
    number("exponent_from", f->exponent ? f->of.from : NAN);
    number("exponent_to", f->exponent ? f->of.to : NAN);
  }
  fputs(j->json ? "}" : "\n", stdout);
}

static cb_status classify_all(const job *j) {
  const int bodies = cb_scenario_bodies(j->scenario), n = bodies ? bodies : 1;
  bool any = false;
  fall known = {.exponent = false};
  cb_status status = CB_OK;
  for (int body = 0; body < n && !status; body++) {
    fall f = {.name = cb_scenario_body_name(j->scenario, body)};
    if (j->body && strcmp(j->body, f.name)) continue;
    status = classify(j, body, &known, &f);
    if (status) continue;
    known = f;
    if (j->json) fputs(any ? ",\n " : "{\"bodies\": [", stdout);
    print_fall(j, &f);
    any = true;
  }
  if (j->json && any) puts("]}");
  if (status || any) return status;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: no body `%s` in the record", j->path, j->body);
}

typedef struct arguments {
  const char *body, *exponent;
  bool json;
} arguments;

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  job j = {.path = operand[0], .body = a->body, .json = a->json};
  cb_status status = read_time(&j, a->exponent);
  if (!status) status = open_all(&j);
  if (!status) status = restore(&j);
  if (!status) status = classify_all(&j);
  const int code = status ? cli_report(status) : CLI_EXIT_DONE;
  cb_reader_close(j.reader);
  cb_scenario_free(j.scenario);
  return code;
}

static const cli_option options[] = {
    CLI_OPTION("body", 0, CLI_VALUE, body, "NAME", "all bodies", NULL, "classifies only this body"),
    CLI_OPTION("exponent", 0, CLI_VALUE, exponent, "T", "half of the record", NULL,
               "time after the newest checkpoint over which the largest Lyapunov exponent is computed; 0: none"),
    CLI_OPTION("json", 0, CLI_FLAG, json, NULL, NULL, NULL, "prints JSON"), CLI_END};
static const cli_operand operands[] = {{"OUT.h5", "@files", "a record", NULL}, {.name = NULL}};
static const cli_example examples[] = {
    {"curvebody classify plate.h5", "Prints whether the plate falls steadily, flutters, tumbles or is chaotic."},
    {NULL, NULL}};

const cli_command cli_command_classify = {
    .name = "classify",
    .usage = "OUT.h5 [OPTION]...",
    .summary = "Classifies how a plate, disc or other body of a record falls.",
    .details =
        "It prints the regime (steady, flutter, tumble, chaotic or undecided), period, angles, drift and descent, "
        "and the largest Lyapunov exponent of the motion.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
