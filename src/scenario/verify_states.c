/* Rows measured again: those of particles that have their state, evenly chosen, and that of the newest checkpoint. Of
 * what a row has the fields that a state alone determines are compared. */
#include "scenario/verify_states.h"
#include "run/recall.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 2000, MOST_NUMBERS = 1 << 26 };
static const double tolerance = 1e-9; /* of the largest number of the row */

static const char *const measured[] = {"time",
                                       "step",
                                       "x",
                                       "v",
                                       "position",
                                       "momentum",
                                       "origin",
                                       "separation",
                                       "energy",
                                       "kinetic_energy",
                                       "potential_energy",
                                       "killing_momentum",
                                       "coordinates",
                                       "pose",
                                       "twist",
                                       "body_momentum",
                                       "spatial_momentum",
                                       "casimir",
                                       "centre",
                                       "shape",
                                       "group"};

static bool is_measured(const char *name) {
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
    if (!strcmp(measured[i], name)) return true;
  return false;
}

typedef struct states {
  cb_verify *v;
  cb_reader *reader;
  cb_run *run;
  const cb_record_layout *layout;
  const cb_reader_field *field;
  size_t fields, numbers; /* numbers: of the longest row */
  double *row;
  int position, momentum, origin; /* fields, or -1 */
} states;

static int find(const states *s, const char *name) {
  for (size_t f = 0; f < s->fields; f++)
    if (!strcmp(s->field[f].name, name)) return (int)f;
  return -1;
}

static double again(const cb_field *field, const void *value, size_t i) {
  return field->type == CB_FIELD_DOUBLE  ? ((const double *)value)[i]
         : field->type == CB_FIELD_INT64 ? (double)((const int64_t *)value)[i]
                                         : ((const int32_t *)value)[i];
}

/* The largest of the numbers that are compared, of those measured. */
static double largest(const states *s, const void *const *row) {
  double most = 0;
  for (size_t f = 0; f < s->layout->n_fields; f++) {
    const int at = find(s, s->layout->fields[f].name);
    for (size_t i = 0; at >= 0 && is_measured(s->field[at].name) && i < s->field[at].count; i++) {
      const double value = fabs(again(&s->layout->fields[f], row[f], i));
      if (value > most && isfinite(value)) most = value;
    }
  }
  return most;
}

/* The state that the run has, and row `number`. */
static cb_status compare(states *s, uint64_t number, const char *of) {
  const void *const *row;
  cb_status status = cb_run_look(s->run, &row);
  const double scale = status ? 0 : largest(s, row);
  for (size_t f = 0; f < s->layout->n_fields && !status; f++) {
    const int at = find(s, s->layout->fields[f].name);
    if (at < 0 || !is_measured(s->field[at].name)) continue;
    status = cb_reader_rows(s->reader, (size_t)at, number, 1, s->row);
    for (size_t i = 0; i < s->field[at].count && !status; i++) {
      const double value = again(&s->layout->fields[f], row[f], i);
      if (fabs(value - s->row[i]) <= tolerance * scale || (isnan(value) && isnan(s->row[i])) || value == s->row[i])
        continue;
      cb_verify_say(s->v, "/%s of row %llu is %.17g, %s has %.17g", s->field[at].name, (unsigned long long)number,
                    s->row[i], of, value);
      break;
    }
  }
  s->v->report.states += !status;
  return status;
}

/* ---- Rows of particles */

static cb_status recall(states *s, double *state, uint64_t number) {
  const int of[] = {s->position, s->momentum, s->origin};
  const double *part[3];
  double time, step;
  cb_status status = cb_reader_rows(s->reader, 0, number, 1, &time);
  if (!status) status = cb_reader_rows(s->reader, 1, number, 1, &step);
  for (int i = 0; i < 3 && !status; i++) {
    status = cb_reader_rows(s->reader, (size_t)of[i], number, 1, state);
    part[i] = state;
    state += s->field[of[i]].count;
  }
  if (status) return status;
  status = cb_run_recall(s->run, &(cb_recalled){time, (int64_t)step, part[0], part[1], part[2]});
  return status ? status : compare(s, number, "its state");
}

static cb_status compare_rows(states *s) {
  if (!cb_run_recalls(s->run) || s->position < 0 || s->momentum < 0 || s->origin < 0) return CB_OK;
  const size_t count = s->field[s->position].count + s->field[s->momentum].count + s->field[s->origin].count;
  double *state = malloc(count * sizeof *state);
  if (!state) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for a state", s->v->path);
  uint64_t rows = s->v->good.rows, most = MOST_NUMBERS / count + 1;
  if (most > MOST_ROWS) most = MOST_ROWS;
  if (most > rows) most = rows;
  cb_status status = CB_OK;
  const size_t before = s->v->report.faults;
  for (uint64_t i = 0; i < most && !status && s->v->report.faults < before + 3; i++)
    status = recall(s, state, most > 1 ? i * (rows - 1) / (most - 1) : 0);
  free(state);
  return status;
}

/* ---- The newest checkpoint: the row before it has its step */

static cb_status compare_checkpoint(states *s) {
  cb_record_position at;
  size_t n;
  double step;
  cb_blob *blob = cb_run_state(s->run, &n);
  cb_status status = s->v->report.checkpoints ? cb_reader_checkpoint(s->reader, blob, n, &at) : CB_ERROR_INPUT;
  if (status == CB_ERROR_INPUT) return CB_OK; /* told */
  if (!status) status = cb_run_restore(s->run);
  const uint64_t row = !status && at.rows ? at.rows - 1 : 0;
  if (status || row >= s->v->good.rows) return status;
  status = cb_reader_rows(s->reader, 1, row, 1, &step);
  if (status || (int64_t)step != cb_run_steps(s->run)) return status;
  return compare(s, row, "the newest checkpoint");
}

/* The layout of the scenario is that of the record. */
static bool fits(const states *s) {
  for (size_t f = 0; f < s->layout->n_fields; f++) {
    const cb_field *field = &s->layout->fields[f];
    const int at = find(s, field->name);
    size_t count = 1;
    for (int d = 0; d < field->rank; d++)
      for (size_t i = 0; i < s->layout->n_dimensions; i++)
        if (!strcmp(s->layout->dimensions[i].name, field->dims[d])) count *= s->layout->dimensions[i].count;
    if (count && (at < 0 || s->field[at].count != count)) return false;
  }
  return true;
}

cb_status cb_verify_states(cb_verify *v, cb_reader *reader, cb_scenario *scenario) {
  states s = {.v = v, .reader = reader, .run = cb_scenario_run(scenario), .layout = cb_scenario_layout(scenario)};
  s.fields = cb_reader_fields(reader, &s.field);
  if (!fits(&s)) return cb_verify_say(v, "has other fields than a run of its scenario"), CB_OK;
  for (size_t f = 0; f < s.fields; f++)
    if (s.field[f].count > s.numbers) s.numbers = s.field[f].count;
  s.position = find(&s, "position"), s.momentum = find(&s, "momentum"), s.origin = find(&s, "origin");
  s.row = malloc(s.numbers * sizeof *s.row);
  cb_status status = s.row ? compare_rows(&s) : cb_fail(CB_ERROR_MEMORY, "%s: no memory for a row", v->path);
  if (!status) status = compare_checkpoint(&s);
  free(s.row);
  if (status != CB_ERROR_MEMORY && status != CB_ERROR_FILE && status) cb_verify_say_failure(v), status = CB_OK;
  return status;
}
