/* Runs a scenario that is given as text, and keeps chosen fields of every row in memory. */
#pragma once

#include "check.h"
#include <curvebody/scenario.h>

enum { SIMULATE_FIELDS = 10 };

/* The recorded rows: the width[f] numbers of field f in row r begin at value[f][r * width[f]]. */
typedef struct simulation {
  cb_scenario *scenario;
  const char *name[SIMULATE_FIELDS];
  size_t index[SIMULATE_FIELDS], width[SIMULATE_FIELDS], room;
  int n_fields;
  double *value[SIMULATE_FIELDS];
  size_t rows, events;
  cb_event_row last; /* the last event */
  size_t warnings;
} simulation;

static inline size_t simulate_extent(const cb_record_layout *layout, const char *dim) {
  for (size_t i = 0; i < layout->n_dimensions; i++)
    if (!strcmp(layout->dimensions[i].name, dim)) return layout->dimensions[i].count;
  return 0;
}

static inline cb_status simulate_row(void *self, const void *const *data) {
  simulation *s = self;
  if (s->rows == s->room) {
    s->room = s->room ? 2 * s->room : 64;
    for (int f = 0; f < s->n_fields; f++) s->value[f] = realloc(s->value[f], s->room * s->width[f] * sizeof(double));
  }
  for (int f = 0; f < s->n_fields; f++)
    memcpy(s->value[f] + s->rows * s->width[f], data[s->index[f]], s->width[f] * sizeof(double));
  s->rows++;
  return CB_OK;
}

static inline cb_status simulate_event(void *self, const cb_event_row *event) {
  simulation *s = self;
  s->last = *event;
  s->events++;
  return CB_OK;
}

static inline cb_status simulate_checkpoint(void *self, const cb_blob *state, size_t count) { return CB_OK; }

/* Runs the scenario `text`, changed by the n_sets texts `sets` (as KEY=VALUE of --set). `fields` are the names of
 * fields of doubles, ended by NULL. simulation_free frees the result. */
static inline simulation *simulate(const char *text, const char *const *sets, size_t n_sets,
                                   const char *const *fields) {
  simulation *s = calloc(1, sizeof *s);
  check_ok(cb_scenario_open_text("test", text, sets, n_sets, &s->scenario));
  const cb_record_layout *layout = cb_scenario_layout(s->scenario);
  for (; fields[s->n_fields]; s->n_fields++) {
    const int f = s->n_fields;
    s->name[f] = fields[f];
    s->index[f] = layout->n_fields;
    for (size_t i = 0; i < layout->n_fields; i++)
      if (!strcmp(layout->fields[i].name, fields[f])) s->index[f] = i;
    if (s->index[f] == layout->n_fields) fail_msg("no field %s", fields[f]);
    s->width[f] = 1;
    for (int d = 0; d < layout->fields[s->index[f]].rank; d++)
      s->width[f] *= simulate_extent(layout, layout->fields[s->index[f]].dims[d]);
  }
  cb_sink sink = {s, simulate_row, simulate_event, simulate_checkpoint, NULL};
  check_ok(cb_run_go(cb_scenario_run(s->scenario), &sink, NULL, NULL, NULL));
  const cb_run_warning *warning;
  s->warnings = cb_run_warnings(cb_scenario_run(s->scenario), &warning);
  return s;
}

static inline void simulation_free(simulation *s) {
  for (int f = 0; f < s->n_fields; f++) free(s->value[f]);
  cb_scenario_free(s->scenario);
  free(s);
}
