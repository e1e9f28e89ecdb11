/* curvebody gait SCENARIO path: the path of a gait's cycles in the group, with plot coordinates of the body.
 *
 *   /time[T]  /shape[T, n]  /group[T, number]  /plot_position[T, point, 3]  /length[T]  /cost[T]  /lines[line, 2]
 *
 * T: times; n: shape variables; number: numbers of a group element; /lines: the two points of each line of the body. */
#include "cli/gait_job.h"

#include "bundle/bundle_private.h"
#include "core/arena.h"
#include "record/arrays.h"

#include <string.h>

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
