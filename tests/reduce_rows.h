/* An artificial record for the tests of reductions (curvebody/reduction.h), whose rows are functions of time. The
 * functions here parse the text of a reduction and compute its value over these rows. */
#pragma once

#include "check.h"
#include "yaml/yaml.h"
#include "sweep/reduce.h"
#include <curvebody/run.h>

enum { PARTICLES = 3, AXES = 3, MOST_DOUBLES = 32 * 8 };

static const char *const axis[] = {"x", "y", "z"}, *const particle[] = {"bob", "tip", "end"};
static const cb_dimension dimensions[] = {{.name = "particle", .count = PARTICLES},
                                          {.name = "axis", .count = AXES, .labels = axis},
                                          {.name = "one", .count = 1},
                                          {.name = "wall", .count = 0}};
static const cb_constant constants[] = {{.name = "particle_mass", .dim = "particle"},
                                        {.name = "particle_name", .dim = "particle", .labels = particle}};
static const cb_field fields[] = {{.name = "time", .type = CB_FIELD_DOUBLE},
                                  {.name = "step", .type = CB_FIELD_INT64},
                                  {.name = "x", .type = CB_FIELD_DOUBLE, .rank = 2, .dims = {"particle", "axis"}},
                                  {.name = "energy", .type = CB_FIELD_DOUBLE},
                                  {.name = "regime", .type = CB_FIELD_INT32, .rank = 1, .dims = {"particle"}},
                                  {.name = "gap", .type = CB_FIELD_DOUBLE, .rank = 1, .dims = {"one"}},
                                  {.name = "hits", .type = CB_FIELD_INT32, .rank = 1, .dims = {"wall"}}};
static const cb_record_layout layout = {.dimensions = dimensions,
                                        .n_dimensions = 4,
                                        .constants = constants,
                                        .n_constants = 2,
                                        .fields = fields,
                                        .observables = cb_observable_groups,
                                        .n_fields = sizeof fields / sizeof *fields};

/* A row of the record; `data` points to its fields. */
typedef struct row {
  double time;
  int64_t step;
  double x[PARTICLES][AXES], energy;
  int32_t regime[PARTICLES];
  double gap;
  const void *data[sizeof fields / sizeof *fields];
} row;

static inline void fill(row *r, int64_t step) {
  const double t = (double)step / 100;
  r->time = t;
  r->step = step;
  for (int i = 0; i < PARTICLES; i++)
    for (int a = 0; a < AXES; a++) r->x[i][a] = cos(t + i) * (a + 1) + 0.1 * i;
  r->energy = 1 + (t - 4) * (t - 4);
  for (int i = 0; i < PARTICLES; i++) r->regime[i] = (int32_t)(step / 300) + i;
  r->gap = t - 2.345;
  const void *data[] = {&r->time, &r->step, r->x, &r->energy, r->regime, &r->gap, NULL};
  memcpy(r->data, data, sizeof data);
}

/* --- one reduction --- */

static inline cb_status parse(const char *text, const cb_record_layout *of, cb_reduction **out) {
  char yaml[8192];
  snprintf(yaml, sizeof yaml, "r: '%s'\n", text);
  cb_tree *tree = NULL;
  cb_status status = cb_yaml_read_text("a.yaml", yaml, strlen(yaml), &tree);
  if (!status) status = cb_reduction_parse(cb_node_get(cb_tree_root(tree), "r"), of, out);
  cb_tree_free(tree);
  return status;
}

static inline cb_reduction *read_good(const char *text) {
  cb_reduction *r = NULL;
  const cb_status status = parse(text, &layout, &r);
  if (status) print_error("%s\n", text);
  check_ok(status);
  assert_true(cb_reduction_doubles(r) <= MOST_DOUBLES);
  return r;
}

/* Returns the value of the reduction `text` over the rows 0 to n - 1 and the events. If `number` is not NULL, row k has
 * the time k and the energy number[k]. */
static inline double reduce_all(const char *text, int n, const double *number, const cb_event_row *event, int events) {
  cb_reduction *r = read_good(text);
  double state[MOST_DOUBLES];
  cb_reduction_start(r, state);
  row now;
  for (int k = 0; k < n; k++) {
    fill(&now, k);
    if (number) {
      now.time = k;
      now.energy = number[k];
    }
    cb_reduction_row(r, now.data, state);
  }
  for (int k = 0; k < events; k++) cb_reduction_event(r, &event[k], state);
  const double value = cb_reduction_value(r, state);
  cb_reduction_free(r);
  return value;
}

static inline double reduce(const char *text, int n, const cb_event_row *event, int events) {
  return reduce_all(text, n, NULL, event, events);
}
