/* Bodies in a fluid as a run: what it is made of, and its parts by threads. */
#include "run/fluid_private.h"

#include "core/threads.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef cb_status body_task(cb_run *run, cb_fluid_run_part *part, int body, void *context);

static void do_part(cb_run *run, cb_fluid_run_part *part, body_task *one, void *context) {
  part->status = CB_OK;
  for (int body = part->first; body < part->end && !part->status; body++)
    if ((part->status = one(run, part, body, context))) {
      part->failed = body;
      strncpy(part->cause, cb_error_text(), sizeof part->cause - 1);
    }
}

cb_status cb_fluid_run_each(cb_run *run, body_task *one, void *context, int *failed) {
  cb_fluid_run *b = run->fluid;
  if (b->threads == 1) { /* a parallel region of one thread costs a microsecond, and memory */
    do_part(run, &b->part[0], one, context);
  } else {
#pragma omp parallel for num_threads(b->threads) schedule(static, 1)
    for (int i = 0; i < b->threads; i++) do_part(run, &b->part[i], one, context);
  }
  for (int i = 0; i < b->threads; i++)
    if (b->part[i].status) {
      *failed = b->part[i].failed;
      return cb_fail(b->part[i].status, "%s", b->part[i].cause);
    }
  return CB_OK;
}

static void forget(cb_run *run) {
  for (int i = 0; i < run->fluid->threads; i++) cb_integrator_reset(run->fluid->part[i].integrator);
}

static cb_status restored(cb_run *run) {
  forget(run);
  return CB_OK;
}

static void free_(cb_run *run) {
  cb_fluid_run *b = run->fluid;
  for (int i = 0; b && b->part && i < b->threads; i++) {
    for (int k = 0; k < b->part[i].n_own; k++) cb_swimmer_free(b->part[i].own[k]);
    cb_integrator_free(b->part[i].integrator);
    cb_floor_work_free(b->part[i].floor);
    for (size_t e = 0; e < b->part[i].events; e++) free(b->part[i].event[e].words);
    free(b->part[i].event);
  }
}

static cb_status begin(cb_run *run) {
  cb_fluid_run_fall(run);
  return CB_OK;
}

static const cb_run_class class = {
    begin, cb_fluid_run_step, cb_fluid_run_measure, cb_fluid_run_compare, forget, restored, free_, NULL};

/* The swimmers of a part: one for each different body in it. */
static cb_status make_part(cb_run *run, cb_fluid_run_part *part) {
  const cb_fluid_run *b = run->fluid;
  const size_t count = (size_t)(part->end - part->first);
  part->swimmer = cb_arena_alloc(run->arena, count, sizeof *part->swimmer);
  part->own = cb_arena_alloc(run->arena, count, sizeof *part->own);
  if (!part->swimmer || !part->own) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", count);
  for (int i = part->first; i < part->end; i++) {
    const cb_immersed *body = b->start[i].body;
    cb_swimmer *found = NULL;
    for (int k = i - 1; k >= part->first && !found; k--) /* copies stand beside one another */
      if (b->start[k].body == body) found = part->swimmer[k - part->first];
    if (!found) {
      const cb_status status = cb_swimmer_create(body, &found);
      if (status) return status;
      part->own[part->n_own++] = found;
    }
    part->swimmer[i - part->first] = found;
  }
  const cb_status status = cb_integrator_like(b->integrator, NULL, &part->integrator);
  return status ? status : cb_floor_work_create(&part->floor);
}

static cb_status make_parts(cb_run *run) {
  cb_fluid_run *b = run->fluid;
  size_t faces = 0;
  for (int i = 0; i < b->n; i++) faces += (size_t)cb_immersed_surface(b->start[i].body)->faces;
  const int most = cb_threads_for(faces), threads = most < b->n ? most : b->n;
  b->part = cb_arena_alloc(run->arena, (size_t)threads, sizeof *b->part);
  if (!b->part) return cb_fail(CB_ERROR_MEMORY, "no memory for %d threads", threads);
  b->threads = threads;
  cb_status status = CB_OK;
  for (int i = 0; i < threads && !status; i++) {
    b->part[i].first = (int)((long long)b->n * i / threads);
    b->part[i].end = (int)((long long)b->n * (i + 1) / threads);
    status = make_part(run, &b->part[i]);
  }
  return status;
}

static cb_status start_one(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  (void)context;
  const cb_body_start *start = &run->fluid->start[body];
  cb_swimmer *swimmer = part->swimmer[body - part->first];
  const cb_status status = cb_rigid_start(cb_swimmer_problem(swimmer), run->options.start, &start->pose, start->twist,
                                          &run->fluid->state[body]);
  cb_swimmer_know_caps(swimmer);
  return status;
}

/* No vertex begins below a floor that reflects, but for round-off: what is to rest on it may stand there by its numbers. */
static cb_status above(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  (void)context;
  const cb_floor *floor = &run->fluid->fluid->floor;
  if (floor->kind != CB_FLOOR_REFLECTING) return CB_OK;
  const cb_surface *surface = cb_immersed_surface(run->fluid->start[body].body);
  const cb_floor_shape shape = cb_swimmer_floor_shape(part->swimmer[body - part->first]);
  const cb_pose *pose = &run->fluid->state[body].g;
  int n;
  const double(*x)[3], (*v)[3];
  double r[3][3], up[3]; /* in the body's axes */
  cb_pose_rotation(pose, r);
  cb_apply3_transposed((const double(*)[3])r, floor->up, up);
  const double origin = cb_dot3(floor->up, pose->x) - floor->height;
  const cb_status status = shape.at(shape.self, run->options.start, &n, &x, &v);
  for (int i = 0; i < n && !status; i++) {
    const double gap = origin + cb_dot3(up, x[i]);
    const double room =
        16 * DBL_EPSILON * (fabs(floor->height) + sqrt(cb_dot3(pose->x, pose->x)) + sqrt(cb_dot3(x[i], x[i])));
    if (gap < -room)
      return cb_fail(CB_ERROR_DOMAIN, "vertex %d begins %.3g below the floor at height %g", surface->number[i], -gap,
                     floor->height);
  }
  return status;
}

static cb_status start(cb_run *run) {
  cb_fluid_run *b = run->fluid;
  int failed = 0;
  cb_status status = make_parts(run);
  if (!status) status = cb_fluid_run_each(run, start_one, NULL, &failed);
  if (!status) status = cb_fluid_run_each(run, above, NULL, &failed);
  if (!status || status == CB_ERROR_MEMORY) return status;
  return cb_fail(status > 0 ? CB_ERROR_DOMAIN : status, "body `%s`: %s", b->start[failed].name, cb_error_text());
}

cb_status cb_run_create_fluid(const cb_fluid *fluid, int n, const cb_body_start *bodies, cb_integrator *integrator,
                              const cb_run_options *options, cb_run **out) {
  cb_run *run;
  if (n < 1) return cb_fail(CB_ERROR_ARGUMENT, "a run of %d bodies", n);
  cb_status status = cb_run_new(&class, options, (size_t)n * sizeof(cb_rigid_state) / sizeof(double), &run);
  if (status) return status;
  cb_fluid_run *b = run->fluid = cb_arena_alloc(run->arena, 1, sizeof *b);
  cb_body_start *starts = cb_arena_alloc(run->arena, (size_t)n, sizeof *starts);
  cb_rigid_state *states = cb_arena_alloc(run->arena, (size_t)n, sizeof *states);
  int32_t *warned = cb_arena_alloc(run->arena, (size_t)n, sizeof *warned);
  cb_body_watch *watch = cb_arena_alloc(run->arena, (size_t)n, sizeof *watch);
  if (!b || !starts || !states || !warned || !watch) {
    cb_run_free(run);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", n);
  }
  memcpy(starts, bodies, (size_t)n * sizeof *starts);
  *b = (cb_fluid_run){.fluid = fluid,
                      .integrator = integrator,
                      .n = n,
                      .start = starts,
                      .state = states,
                      .warned = warned,
                      .watch = watch,
                      .t = options->start};
  run->t = &b->t;
  run->t_low = &b->t_low;
  run->step = &b->step;
  run->iterations = &b->iterations;
  status = start(run);
  if (!status) status = cb_fluid_run_layout(run);
  if (!status) status = cb_fluid_run_remember(run);
  if (!status) status = cb_fluid_run_near_create(run);
  if (status) return cb_run_free(run), status;
  *out = run;
  return CB_OK;
}

const cb_rigid_state *cb_run_body(const cb_run *run, int i) {
  return run->kind == &class && i >= 0 && i < run->fluid->n ? &run->fluid->state[i] : NULL;
}
