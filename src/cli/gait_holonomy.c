/* curvebody gait SCENARIO holonomy, connection, path: the holonomy of a cycle, the connection at one shape, and the
 * path of a gait's cycles in the group, with plot coordinates of the body:
 *
 *   /time[T]  /shape[T, n]  /group[T, number]  /plot_position[T, point, 3]  /length[T]  /cost[T]  /lines[line, 2]
 *
 * T: times; n: shape variables; number: numbers of a group element; /lines: the two points of each line of the body. */
#include "cli/gait_job.h"

#include "scenario/bundle_scenario.h"
#include "bundle/bundle_private.h"
#include "core/arena.h"
#include "record/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the holonomy of a cycle --- */

static void holonomy_text(const cli_gait_job *job, const cb_gait_cycle *c) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  printf("%s: %d shape variable%s, fibre %s\n", cb_bundle_scenario_name(job->motion), b->n, b->n == 1 ? "" : "s",
         G->name);
  cli_gait_row("holonomy", G->size, G->number, c->g);
  if (c->has_log)
    cli_gait_row("its log", G->dim, G->axis, c->log);
  else
    printf("its log     is not unique\n");
  if (c->has_table) cli_gait_row("within", G->dim, G->axis, c->table);
  if (c->has_integral) cli_gait_row("integral", G->dim, G->axis, c->cbvi); /* see curvebody/holonomy.h */
  printf("length      %.15g\ncost        %.15g\nefficiency  %.15g\n", c->length, c->cost, c->efficiency);
  if (job->motion->repeat > 1) {
    char title[24];
    snprintf(title, sizeof title, "%d cycles", job->motion->repeat);
    cli_gait_row(title, G->size, G->number, c->repeated);
  }
}

static void holonomy_json(const cli_gait_job *job, const cb_gait_cycle *c) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  cli_gait_begin_json(job);
  cli_gait_json_texts("numbers", G->size, G->number);
  printf(",\n ");
  cli_gait_json_texts("axes", G->dim, G->axis);
  printf(",\n ");
  cli_gait_json("g", 1, &G->size, c->g, false);
  cli_gait_json("log", 1, &G->dim, c->log, false);
  if (c->has_table) cli_gait_json("table_error", 1, &G->dim, c->table, false);
  cli_gait_json("length", 0, NULL, &c->length, false);
  cli_gait_json("cost", 0, NULL, &c->cost, false);
  cli_gait_json("efficiency", 0, NULL, &c->efficiency, false);
  cli_gait_json("cbvi", 1, &G->dim, c->cbvi, false);
  cli_gait_json("period", 0, NULL, &job->motion->period, false);
  printf("\"repeat\": %d,\n ", job->motion->repeat);
  cli_gait_json("g_repeated", 1, &G->size, c->repeated, true);
}

cb_status cli_gait_holonomy(const cli_gait_job *job) {
  cb_gait_cycle c;
  double error = 0;
  cb_status status = job->error ? cli_ambient_numbers("--error", job->error, 1, &error) : CB_OK;
  if (!status && !(error >= 0)) status = cb_fail(CB_ERROR_INPUT, "--error: error: expected a number >= 0");
  if (!status) status = cb_gait_cycle_find(job->motion, job->bundle, error, true, &c);
  if (!status) (job->json ? holonomy_json : holonomy_text)(job, &c);
  return status;
}

/* --- at a shape --- */

typedef struct local {
  double r[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], *B,
      P[CB_GROUP_DIM * CB_GROUP_DIM];
  int pairs;
  bool has_P;
} local;

static cb_status find_local(const cli_gait_job *job, local *at) {
  const cb_bundle *b = job->bundle;
  cb_status status = CB_OK;
  if (job->at)
    status = cli_ambient_numbers("--at", job->at, b->n, at->r);
  else if (job->motion->gait)
    cb_gait_at(job->motion->gait, 0, at->r, NULL);
  else
    status = cb_fail(CB_ERROR_INPUT, "--at: error: expected a shape, since the scenario has no gait");
  at->pairs = b->n * (b->n - 1) / 2;
  at->B = calloc((size_t)(at->pairs * b->group->dim) + 1, sizeof *at->B);
  if (!status && !at->B) status = cb_fail(CB_ERROR_MEMORY, "no memory for a curvature");
  if (!status) status = cb_bundle_connection(b, at->r, at->A, NULL, at->M, NULL);
  if (!status && at->pairs) status = cb_bundle_curvatures(b, at->r, at->B);
  if (status) return status;
  status = cb_bundle_locked(b, at->r, at->P);
  at->has_P = !status;
  return status == CB_ERROR_UNSUPPORTED ? CB_OK : status;
}

static void matrix(const char *title, int rows, int columns, const char *const *names, const char *const *heads,
                   const double *m) {
  printf("\n%s\n%10s", title, "");
  for (int j = 0; j < columns; j++) printf(" %22s", heads[j]);
  printf("\n");
  for (int i = 0; i < rows; i++) {
    printf("%10s", names[i]);
    for (int j = 0; j < columns; j++) printf(" %22.15g", cli_unsigned_nan(m[i * columns + j]));
    printf("\n");
  }
}

static void local_text(const cli_gait_job *job, const local *at) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  printf("%s: fibre %s, at ", cb_bundle_scenario_name(job->motion), G->name);
  for (int i = 0; i < b->n; i++) printf("%s%s = %.15g", i ? ", " : "", b->shape[i], at->r[i]);
  printf("\n");
  matrix("connection A: xi = -A r'", G->dim, b->n, G->axis, b->shape, at->A);
  printf("\ncurvature B_ij\n%10s", "");
  for (int k = 0; k < G->dim; k++) printf(" %22s", G->axis[k]);
  printf("\n");
  for (int i = 0, p = 0; i < b->n; i++)
    for (int j = i + 1; j < b->n; j++, p++) {
      printf("%s, %s", b->shape[i], b->shape[j]);
      for (int k = 0; k < G->dim; k++) printf(" %22.15g", cli_unsigned_nan(at->B[p * G->dim + k]));
      printf("\n");
    }
  matrix("cost metric M", b->n, b->n, b->shape, b->shape, at->M);
  if (at->has_P) matrix("locked form P", G->dim, G->dim, G->axis, G->axis, at->P);
}

static void local_json(const cli_gait_job *job, const local *at) {
  const cb_bundle *b = job->bundle;
  const cb_group *G = b->group;
  const int A[] = {G->dim, b->n}, B[] = {at->pairs, G->dim}, M[] = {b->n, b->n}, P[] = {G->dim, G->dim};
  cli_gait_begin_json(job);
  cli_gait_json_texts("axes", G->dim, G->axis);
  printf(",\n \"pairs\": [");
  for (int i = 0, p = 0; i < b->n; i++)
    for (int j = i + 1; j < b->n; j++, p++) {
      printf("%s[", p ? ", " : "");
      cli_json_text(stdout, b->shape[i]);
      printf(", ");
      cli_json_text(stdout, b->shape[j]);
      printf("]");
    }
  printf("],\n ");
  cli_gait_json("at", 1, &b->n, at->r, false);
  cli_gait_json("A", 2, A, at->A, false);
  cli_gait_json("B", 2, B, at->B, false);
  cli_gait_json("M", 2, M, at->M, !at->has_P);
  if (at->has_P) cli_gait_json("P", 2, P, at->P, true);
}

cb_status cli_gait_connection(const cli_gait_job *job) {
  local at = {.pairs = 0};
  const cb_status status = find_local(job, &at);
  if (!status) (job->json ? local_json : local_text)(job, &at);
  free(at.B);
  return status;
}

/* --- path --- */

enum { USUAL = 257, MAXIMUM = 10000000 };

static const double usual_error = 1e-13;

typedef struct way {
  cb_arena *arena;
  int count;
  double *t, *shape, *group, *x, *length, *cost;
} way;

static cb_status make_way(const cb_bundle *b, int count, way *w) {
  const size_t n = (size_t)count;
  w->count = count;
  w->arena = cb_arena_create();
  cb_arena_doubles(w->arena, n, &w->t, &w->length, &w->cost);
  w->shape = cb_arena_alloc(w->arena, n * (size_t)b->n, sizeof *w->shape);
  w->group = cb_arena_alloc(w->arena, n * (size_t)b->group->size, sizeof *w->group);
  w->x = cb_arena_alloc(w->arena, n * (size_t)b->points * 3, sizeof *w->x);
  return cb_arena_lost(w->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %d times", count) : CB_OK;
}

static cb_status put_row(const cb_bundle *b, const cb_bundle_path *p, const cb_bundle_state *s, int k, way *w) {
  double *r = w->shape + k * b->n;
  cb_bundle_shape(p, s, r, NULL);
  w->t[k] = s->t;
  w->length[k] = s->length;
  w->cost[k] = s->cost;
  memcpy(w->group + k * b->group->size, s->g, (size_t)b->group->size * sizeof *s->g);
  if (!b->points || !b->class_->plot) return CB_OK;
  return b->class_->plot(b, r, s->g, (double(*)[3])(w->x + (size_t)k * (size_t)b->points * 3));
}

static cb_status follow(const cli_gait_job *job, double error, way *w) {
  const cb_bundle_scenario *m = job->motion;
  const cb_bundle_path p = {.bundle = job->bundle, .gait = m->gait, .period = m->period};
  cb_bundle_state s = {.t = 0};
  cb_status status = CB_OK;
  memcpy(s.g, m->start, sizeof s.g);
  for (int k = 0; k < w->count && !status; k++) {
    const double t = m->repeat * m->period * k / (w->count > 1 ? w->count - 1 : 1);
    int steps;
    if (k) status = cb_bundle_step(&p, 6, error, t - s.t, &s, &steps);
    s.t = t;
    if (!status) status = put_row(job->bundle, &p, &s, k, w);
  }
  return status;
}

static cb_status write_file(const cli_gait_job *job, const way *w) {
  static const char *const axes[] = {"x", "y", "z"}, *const on_time[] = {"time"}, *const shape[] = {"time", "variable"},
                           *const group[] = {"time", "number"}, *const x[] = {"time", "point", "axis"},
                           *const lines[] = {"line", "end"};
  const cb_bundle *b = job->bundle;
  const size_t points = b->class_->plot ? (size_t)b->points : 0;
  cb_arrays *a;
  const cb_status status = cb_arrays_create(job->output, false, &a);
  if (status) return status;
  const cb_families_job of = cli_gait_families_job(job);
  cb_families_attributes(&of, a);
  cb_arrays_number(a, "period", job->motion->period);
  cb_arrays_number(a, "repeat", job->motion->repeat);
  cb_arrays_dimension(a, &(cb_dimension){"time", (size_t)w->count, w->t, NULL, "time"}, "s");
  cb_arrays_dimension(a, &(cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_dimension(
      a, &(cb_dimension){"number", (size_t)b->group->size, NULL, b->group->number, "number of a group element"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"axis", 3, NULL, axes, "axis of the plot coordinates"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"point", points, NULL, NULL, "point of the body"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"line", points ? (size_t)b->lines : 0, NULL, NULL, "line of the body"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"end", 2, NULL, NULL, "end of a line"}, NULL);
  cb_arrays_put(a, "shape", 2, shape, w->shape, NULL, "shape variables");
  cb_arrays_put(a, "group", 2, group, w->group, NULL, "element of the group");
  cb_arrays_put(a, "length", 1, on_time, w->length, NULL, "int sqrt(r'Mr') dt");
  cb_arrays_put(a, "cost", 1, on_time, w->cost, NULL, "int r'Mr' dt");
  cb_arrays_put(a, "plot_position", 3, x, w->x, NULL, "plot coordinates of the points of the body");
  if (points && b->lines) {
    cb_arrays_put_integers(a, "lines", 2, lines, &b->line[0][0], "indices of the two points of a line");
    cb_arrays_pairs(a, "plot_position", "lines", b->lines, b->line);
  }
  return cb_arrays_close(a, CB_OK);
}

cb_status cli_gait_path(const cli_gait_job *job) {
  int times = USUAL;
  double error = usual_error;
  way w = {0};
  cb_status status = cli_gait_count("--times", job->times, MAXIMUM, &times);
  if (!status && job->error) status = cli_ambient_numbers("--error", job->error, 1, &error);
  if (!status && !(error > 0))
    status = cb_fail(CB_ERROR_INPUT, "--error: error: expected a number > 0, found %g", error);
  if (!status) status = make_way(job->bundle, times, &w);
  if (!status) status = follow(job, error, &w);
  if (!status) status = write_file(job, &w);
  if (!status && job->json) {
    printf("{\"output\": ");
    cli_json_text(stdout, job->output);
    printf(", \"times\": %d}\n", w.count);
  }
  cb_arena_free(w.arena);
  return status;
}
