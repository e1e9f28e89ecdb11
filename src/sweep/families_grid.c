/* curvebody gait SCENARIO family --move A:B --turn A:B --grid N1xN2: steering, gaits that move by x and turn by theta.
 *
 *   /move[N1] /turn[N2]  x and theta of the holonomy, seen from the start of the cycle; its other numbers are free
 *   /cost[N1, N2]  nan where none was found;  /index;  /multiplier[N1, N2, 2]  d(cost) = 2 sum multiplier d(x, theta)
 *   /shape[N1, N2, T, n], /time[T]
 * From time to time what is found so far is written, with /log[search, entry], those that changed a node, and
 * /state[N1, N2, states], from which the same command goes on. */
#include "sweep/families.h"

#include "bundle/gait_state.h"
#include "optimum/family_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 129 };

typedef struct steering {
  int count[2], number[2];
  double *value[2], *cost, *multiplier, *shape, *time;
  int *index, found;
  cb_family_node *node;
  const cb_families_job *job;
  cb_families_unfinished unfinished;
} steering;

static void free_nodes(const steering *s, cb_family_node *node) {
  for (int k = 0; node && k < s->count[0] * s->count[1]; k++) cb_gait_free(node[k].gait);
  free(node);
}

static void free_steering(steering *s) {
  free_nodes(s, s->node);
  cb_families_unfinished_end(&s->unfinished);
  free(s->value[0]);
  free(s->index);
}

static cb_status make_axes(const cb_families_axes *axes, int shape, steering *s) {
  memcpy(s->count, axes->count, sizeof s->count);
  memcpy(s->number, axes->number, sizeof s->number);
  const size_t all = (size_t)s->count[0] * (size_t)s->count[1], n = (size_t)shape;
  s->node = calloc(all, sizeof *s->node);
  s->index = calloc(all, sizeof *s->index);
  s->value[0] = calloc((size_t)(s->count[0] + s->count[1]) + 3 * all + all * TIMES * n + TIMES, sizeof(double));
  if (!s->node || !s->index || !s->value[0]) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu gaits", all);
  s->value[1] = s->value[0] + s->count[0], s->cost = s->value[1] + s->count[1];
  s->multiplier = s->cost + all, s->shape = s->multiplier + 2 * all, s->time = s->shape + all * TIMES * n;
  for (int i = 0; i < 2; i++) {
    const double from = axes->from[i], to = axes->to[i];
    for (int k = 0; k < s->count[i]; k++) s->value[i][k] = from + (to - from) * k / (s->count[i] - 1);
    for (int k = 0; k < s->count[i]; k++) /* 0 is to be 0 */
      if (fabs(s->value[i][k]) < 1e-12 * fabs(to - from)) s->value[i][k] = 0;
  }
  return CB_OK;
}

/* --- the file --- */

static void fill(steering *s, const cb_family_node *nodes) {
  const size_t all = (size_t)s->count[0] * (size_t)s->count[1], n = (size_t)s->job->bundle->n;
  s->found = 0;
  for (size_t t = 0; t < TIMES; t++) s->time[t] = (double)t / (TIMES - 1);
  for (size_t k = 0; k < all; k++) {
    const cb_family_node *node = &nodes[k];
    s->cost[k] = node->cost, s->index[k] = node->index;
    s->found += isfinite(node->cost);
    for (size_t i = 0; i < 2; i++) s->multiplier[2 * k + i] = node->multiplier[i];
    for (size_t t = 0; t < TIMES; t++) {
      double *r = s->shape + (k * TIMES + t) * n;
      for (size_t i = 0; i < n && !node->gait; i++) r[i] = NAN;
      if (node->gait) cb_gait_at(node->gait, s->time[t], r, NULL);
    }
  }
}

/* What the grid goes on from: a gait of the node, after how its second variation is. */
enum { INDEX, MULTIPLIER, HEAD = MULTIPLIER + 2 };
enum { NUMBER, NODE, COST, ENTRY };

static cb_status put_state(const steering *s, const cb_family_log *log, cb_arrays *a) {
  static const char *const search[] = {"search", "entry"}, *const entry[] = {"number", "node", "cost"},
                           *const state[] = {"move", "turn", "states"};
  const size_t all = (size_t)s->count[0] * (size_t)s->count[1], rows = (size_t)log->count + 1;
  size_t states = HEAD;
  for (size_t k = 0; k < all; k++)
    if (log->node[k].gait && states < HEAD + cb_gait_state_size(log->node[k].gait))
      states = HEAD + cb_gait_state_size(log->node[k].gait);
  double *table = calloc(rows * ENTRY + all * states, sizeof *table);
  if (!table) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu gaits", all);
  double *row = table + rows * ENTRY;
  for (size_t k = 0; k < rows; k++) {
    const cb_family_search end = {log->searches, -1, 0}, *of = k + 1 < rows ? &log->search[k] : &end;
    table[k * ENTRY + NUMBER] = of->number, table[k * ENTRY + NODE] = of->node, table[k * ENTRY + COST] = of->cost;
  }
  for (size_t k = 0; k < all; k++, row += states) {
    const cb_family_node *node = &log->node[k];
    if (!node->gait) continue;
    row[INDEX] = node->index, row[MULTIPLIER] = node->multiplier[0], row[MULTIPLIER + 1] = node->multiplier[1];
    cb_gait_state(node->gait, row + HEAD);
  }
  cb_arrays_dimension(a, &(cb_dimension){"search", rows, NULL, NULL, "that changed a node; the last: all so far"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"entry", ENTRY, NULL, entry, "of a search"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"states", states, NULL, NULL, "of a node"}, NULL);
  cb_arrays_put(a, "log", 2, search, table, NULL, "what the command goes on from");
  cb_arrays_put(a, "state", 3, state, table + rows * ENTRY, NULL, "what the command goes on from");
  free(table);
  return CB_OK;
}

static cb_status write_file(const steering *s, const cb_family_log *log) {
  static const char *const on[] = {"move", "turn"}, *const asked[] = {"x", "theta"},
                           *const multiplier[] = {"move", "turn", "asked"},
                           *const way[] = {"move", "turn", "time", "variable"};
  const cb_bundle *b = s->job->bundle;
  cb_arrays *a;
  const cb_status status = cb_arrays_create(s->job->output, &a);
  if (status) return status;
  cb_families_unfinished_attributes(&s->unfinished, !log, a);
  cb_arrays_dimension(a, &(cb_dimension){"move", (size_t)s->count[0], s->value[0], NULL, "x of the holonomy"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"turn", (size_t)s->count[1], s->value[1], NULL, "theta of the holonomy"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"asked", 2, NULL, asked, "number that is asked"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"time", TIMES, s->time, NULL, "part of the cycle"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_put(a, "cost", 2, on, s->cost, NULL, "int r'Mr' dt; nan: no gait was found");
  cb_arrays_put_integers(a, "index", 2, on, s->index, "negative directions of the second variation; -1: no gait");
  cb_arrays_put(a, "multiplier", 3, multiplier, s->multiplier, NULL, "half the derivatives of cost");
  cb_arrays_put(a, "shape", 4, way, s->shape, NULL, "r");
  return cb_arrays_close(a, log ? put_state(s, log, a) : CB_OK);
}

static cb_status tell(void *context, const cb_family_log *so_far) {
  steering *s = context;
  if (!cb_families_unfinished_due(&s->unfinished)) return CB_OK;
  fill(s, so_far->node);
  const cb_status status = write_file(s, so_far);
  cb_families_unfinished_written(&s->unfinished);
  return status;
}

/* Searches and nodes of the watch, which are freed by the caller; none where they are not as expected. */
static cb_status recall(const steering *s, int n, const cb_hdf5_array *log, const cb_hdf5_array *state,
                        cb_family_grid_watch *w) {
  const int all = s->count[0] * s->count[1], states = state->dims[2];
  cb_status status = CB_OK;
  if (!log->value || !state->value || log->dims[1] != ENTRY || state->dims[0] != s->count[0] ||
      state->dims[1] != s->count[1] || states < HEAD)
    return CB_OK;
  cb_family_search *search = calloc((size_t)log->dims[0], sizeof *search);
  w->node = calloc((size_t)all, sizeof *w->node);
  if (!search || !w->node) return free(search), cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", all);
  w->search = search;
  for (int k = 0; k < log->dims[0]; k++) {
    const double *row = log->value + (size_t)k * ENTRY;
    search[k] = (cb_family_search){(int)row[NUMBER], (int)row[NODE], row[COST]};
  }
  w->count = log->dims[0] - 1, w->searches = search[w->count].number;
  for (int k = 0; k < all && !status; k++) {
    const double *row = state->value + (size_t)k * (size_t)states;
    w->node[k] = (cb_family_node){.index = (int)row[INDEX], .multiplier = {row[MULTIPLIER], row[MULTIPLIER + 1]}};
    status = cb_gait_from_state(n, (size_t)(states - HEAD), row + HEAD, &w->node[k].gait);
  }
  return status;
}

static cb_status follow(const cb_optimum_problem *p, steering *s) {
  const cb_family_axis axis[2] = {{s->number[0], s->count[0], s->value[0]}, {s->number[1], s->count[1], s->value[1]}};
  cb_families_kept kept[] = {{"log", 2, H5T_FLOAT, {0}}, {"state", 3, H5T_FLOAT, {0}}};
  cb_family_grid_watch watch = {.tell = tell, .context = s};
  char what[256];
  snprintf(what, sizeof what, "of %d x %d gaits, x from %.17g to %.17g, theta from %.17g to %.17g", s->count[0],
           s->count[1], s->value[0][0], s->value[0][s->count[0] - 1], s->value[1][0], s->value[1][s->count[1] - 1]);
  cb_status status = cb_families_unfinished_begin(s->job, what, 2, kept, &s->unfinished);
  if (!status) status = recall(s, p->bundle->n, &kept[0].array, &kept[1].array, &watch);
  free(kept[0].array.value);
  free(kept[1].array.value);
  if (!status) status = cb_family_grid(p, axis, &watch, s->node);
  free_nodes(s, watch.node);
  free((void *)watch.search);
  return status;
}

cb_status cb_families_grid(const cb_families_job *job, const cb_optimum_problem *p, const cb_families_axes *axes,
                           int *found) {
  steering s = {.job = job};
  cb_status status = make_axes(axes, job->bundle->n, &s);
  if (!status) status = follow(p, &s);
  if (!status) fill(&s, s.node);
  if (!status) status = write_file(&s, NULL);
  *found = s.found;
  free_steering(&s);
  return status;
}
