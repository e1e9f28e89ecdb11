/* A run of bodies in a fluid: its creation, its steps, and its parts. Each part is stepped by one thread. */
#include "run/fluid_private.h"
#include "run/exponent.h"
#include "core/threads.h"
#include "numerics/dd.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- steps ---
 *
 * In one step of all bodies each body has its own retries: if its step fails, only this body repeats the step as two
 * halves. This is different if wrenches use quantities of other bodies (run/fluid_controls.c), and with points
 * (run/fluid_points.c). The record receives reflections off the floor, halved steps and warnings in the order of the
 * bodies.
 */

enum { FLOOR = 0 };

typedef struct reporter {
  cb_fluid_run_part *part;
  int body;
} reporter;

void cb_fluid_run_report(cb_fluid_run_part *part, const cb_event_row *event, char *text) {
  if (part->events == part->event_capacity) {
    const size_t capacity = part->event_capacity ? 2 * part->event_capacity : 64;
    cb_fluid_run_event *more = realloc(part->event, capacity * sizeof *more);
    if (!more) {
      free(text);
      return (void)(part->lost = true);
    }
    part->event = more;
    part->event_capacity = capacity;
  }
  part->event[part->events++] = (cb_fluid_run_event){.row = *event, .text = text};
}

static void hit(void *user, const cb_floor_hit *h) {
  const reporter *to = user;
  const cb_event_row row = {.time = h->time,
                            .kind = CB_EVENT_REFLECT,
                            .particle = to->body,
                            .other = -1,
                            .wall = FLOOR,
                            .gap = h->gap,
                            .speed_before = h->speed_before,
                            .speed_after = h->speed_after,
                            .impulse = h->impulse};
  const size_t count = to->part->events;
  cb_fluid_run_report(to->part, &row, NULL);
  if (to->part->events == count) return; /* there was no memory */
  cb_fluid_run_event *e = &to->part->event[count];
  e->known = true;
  e->pose = h->pose;
  memcpy(e->momentum, h->momentum, sizeof e->momentum);
}

cb_status cb_fluid_run_integrate(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations) {
  cb_integrator *in = self;
  const cb_rigid_state before = *s;
  in->problem = p;
  const cb_status status = cb_integrator_step(in, s, h);
  if (status) *s = before; /* a composed step may have failed after some of its parts */
  *iterations = in->iterations;
  return status;
}

/* An integrator, and the body that it moves. */
typedef struct moving_body {
  cb_integrator *integrator;
  const cb_body_interaction *interaction;
  int body;
} moving_body;

/* Makes one part of a composed step. Bodies that act on each other make each part together. */
static cb_status integrate_part(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations) {
  const moving_body *m = self;
  cb_integrator *in = m->integrator;
  in->problem = cb_body_interaction_problem(m->interaction, m->body, p);
  const cb_status status = cb_integrator_substep(in, s, h);
  *iterations = in->iterations;
  return status;
}

cb_status cb_fluid_run_whole(cb_run *run, cb_fluid_run_part *part, int body, double h, int *iterations) {
  const cb_fluid_run *b = run->own;
  cb_immersed_workspace *workspace = part->workspace[body - part->first];
  cb_rigid_state *s = &b->state[body];
  moving_body together = {part->integrator, b->interaction, body};
  const bool parts = b->coupling || b->interaction;
  const cb_body_stepper stepper = {parts ? (void *)&together : part->integrator,
                                   parts ? integrate_part : cb_fluid_run_integrate};
  if (b->fluid->floor.kind != CB_FLOOR_REFLECTING)
    return cb_immersed_workspace_step(workspace, &stepper, h, s, iterations);
  const cb_floor_shape shape = cb_immersed_workspace_floor_shape(workspace);
  reporter to = {part, body};
  const cb_floor_setup with = {.floor = &b->fluid->floor,
                               .shape = &shape,
                               .stepper = &stepper,
                               .problem = cb_immersed_workspace_problem(workspace),
                               .hit = hit,
                               .user = &to,
                               .work = part->floor};
  return cb_floor_step(&with, h, s, iterations);
}

cb_status cb_fluid_run_attempt(cb_run *run, cb_fluid_run_part *part, int body, double h) {
  int iterations = 0;
  cb_rigid_state *s = &cb_fluid_run_of(run)->state[body];
  const cb_rigid_state before = *s;
  cb_status status = cb_fluid_run_whole(run, part, body, h, &iterations);
  if (!status && (status = cb_immersed_workspace_check_place(part->workspace[body - part->first], s))) *s = before;
  if (iterations > part->iterations) part->iterations = iterations;
  if (!status && !cb_fluid_run_of(run)->coupling) cb_fluid_run_doubt_step(run, part, body, h);
  return status;
}

static cb_status halves(cb_run *run, cb_fluid_run_part *part, int body, double h, int depth) {
  cb_status status = cb_fluid_run_attempt(run, part, body, h);
  if (status <= 0 || depth == run->options.retries) return status;
  const cb_event_row retry = {.time = cb_fluid_run_of(run)->state[body].t,
                              .kind = CB_EVENT_RETRY,
                              .particle = body,
                              .other = -1,
                              .wall = -1,
                              .gap = h};
  cb_fluid_run_report(part, &retry, NULL);
  for (int half = 0; half < 2; half++)
    if ((status = halves(run, part, body, h / 2, depth + 1))) return status;
  return CB_OK;
}

static cb_status one(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  const double h = *(const double *)context;
  cb_rigid_state *s = &cb_fluid_run_of(run)->state[body];
  const cb_rigid_state before = *s;
  s->t = cb_fluid_run_of(run)->t;
  const cb_status status = halves(run, part, body, h, 0);
  if (status) *s = before;
  return status;
}

/* Gives an event to the sink. Each body makes its steps on its own, so that the state of the others at the time of the
 * event is not known, and is recorded as nan. */
static cb_status forward(cb_run *run, cb_sink *sink, cb_fluid_run_event *e) {
  char *text = e->text;
  e->text = NULL;
  cb_fluid_run *b = run->own;
  cb_rigid_state *const states = b->state;
  const double now = b->t;
  cb_status status = text ? cb_run_warn(run, e->row.time, text) : CB_OK;
  if (status) return status;
  const bool known = b->at_event && e->known;
  if (known) {
    for (int i = 0; i < b->n; i++) {
      cb_rigid_state *s = &b->at_event[i];
      const bool own = i == e->row.particle;
      for (int a = 0; a < 3; a++) s->g.x[a] = own ? e->pose.x[a] : NAN;
      for (int a = 0; a < 4; a++) s->g.q[a] = own ? e->pose.q[a] : NAN;
      for (int a = 0; a < 6; a++) s->momentum[a] = own ? e->momentum[a] : NAN;
    }
    b->state = b->at_event;
    b->t = e->row.time;
  }
  status = cb_run_event(run, sink, &e->row, known);
  b->state = states;
  b->t = now;
  return status;
}

static cb_status fail_step(const cb_run *run, cb_status status, int failed, double h) {
  const cb_fluid_run *b = run->own;
  char who[256] = "";
  if (failed >= 0) snprintf(who, sizeof who, ", body `%.200s`", b->start[failed].name);
  if (status < 0)
    return cb_fail(status, "at time %.17g, step %lld%s: %s", b->t, (long long)b->step, who, cb_error_text());
  return cb_fail(CB_ERROR_STEP, "%s at time %.17g, step %lld%s: %s (step %g, halved %d times)%s",
                 cb_status_name(status), b->t, (long long)b->step, who, cb_error_text(), h, run->options.retries,
                 status == CB_STEP_DOMAIN ? "" : "; try a smaller integrator.step");
}

/* Moves all bodies by *h seconds from the time b->t, which it does not change. If an event stops the run, *h becomes
 * the time until then. */
static cb_status advance(cb_run *run, cb_sink *sink, double *h) {
  cb_fluid_run *b = run->own;
  for (int i = 0; i < b->threads; i++) {
    b->part[i].events = 0;
    b->part[i].iterations = 0;
    b->part[i].lost = false;
  }
  int failed = 0;
  const cb_status status = b->coupling   ? cb_fluid_coupling_step(run, h, &failed)
                           : b->controls ? cb_fluid_controls_step(run, *h, &failed)
                                         : cb_fluid_run_each(run, one, h, &failed);
  for (int i = 0; i < b->threads; i++) {
    if (b->part[i].iterations > b->iterations) b->iterations = b->part[i].iterations;
    if (b->part[i].lost) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu events of a step", b->part[i].events);
    for (size_t e = 0; e < b->part[i].events; e++) {
      const cb_status forwarded = forward(run, sink, &b->part[i].event[e]);
      if (forwarded) return forwarded;
    }
  }
  return status ? fail_step(run, status, failed, *h) : CB_OK;
}

/* Returns the first time after t at which a gait of a body has a break; INFINITY if there is none. *slack becomes a
 * time that is small next to its period. */
static double next_break(const cb_fluid_run *b, double t, double *slack) {
  double first = INFINITY;
  const cb_immersed *last = NULL;
  for (int i = 0; i < b->n; i++) {
    const cb_immersed *body = b->start[i].body;
    const cb_poses *poses = body == last ? NULL : cb_immersed_poses(body);
    const double at = poses ? cb_poses_next_break(poses, t) : INFINITY;
    last = body;
    if (!(at < first)) continue;
    first = at;
    *slack = 2e-12 * poses->cycle;
  }
  return first;
}

/* A step is divided at the breaks of gaits, where velocities of a shape jump, so that the integrator keeps its order
 * there. An integrator of cb_problem_lie_group may evaluate the shape at the ends of a part. Its parts end shortly
 * before the break, so that the shape still has the velocity before the break. */
static cb_status step(cb_run *run, cb_sink *sink, double h) {
  cb_fluid_run *b = run->own;
  const double t = b->t, t_low = b->t_low;
  const bool at_ends = b->integrator->class_->solves != &cb_problem_discrete_lagrangian;
  double done = 0;
  b->iterations = 0;
  do {
    double slack = 0;
    const double at = next_break(b, b->t, &slack) - t - t_low;
    const bool broken = at < h - slack;
    const double to = broken ? at : h;
    const double part = to - done - (at_ends && at <= h + slack ? slack : 0);
    double made = part;
    const cb_status status = advance(run, sink, &made);
    if (status) return status;
    if (run->stopped) h = done + made;
    done = run->stopped ? h : to;
    if (broken) b->t = t + done;
  } while (done < h);
  b->t = t;
  cb_compensated_add_one(&b->t, &b->t_low, h);
  b->step++;
  cb_fluid_run_fall(run);
  return cb_fluid_run_near(run, sink);
}

/* --- the run and its threads --- */

typedef cb_status body_task(cb_run *run, cb_fluid_run_part *part, int body, void *context);

static void do_part(cb_run *run, cb_fluid_run_part *part, body_task *task, void *context) {
  part->status = CB_OK;
  for (int body = part->first; body < part->end && !part->status; body++)
    if ((part->status = task(run, part, body, context))) {
      part->failed = body;
      strncpy(part->cause, cb_error_text(), sizeof part->cause - 1);
    }
}

cb_status cb_fluid_run_each(cb_run *run, body_task *task, void *context, int *failed) {
  cb_fluid_run *b = run->own;
  if (b->threads == 1) { /* a parallel region of one thread would cost a microsecond, and memory */
    do_part(run, &b->part[0], task, context);
  } else {
#pragma omp parallel for num_threads(b->threads) schedule(static, 1)
    for (int i = 0; i < b->threads; i++) do_part(run, &b->part[i], task, context);
  }
  for (int i = 0; i < b->threads; i++)
    if (b->part[i].status) {
      *failed = b->part[i].failed;
      return cb_fail(b->part[i].status, "%s", b->part[i].cause);
    }
  return CB_OK;
}

/* A control may have changed since the forces between points were computed. */
static void forget(cb_run *run) {
  if (run->options.controls) cb_fluid_coupling_restored(cb_fluid_run_of(run)->coupling);
  for (int i = 0; i < cb_fluid_run_of(run)->threads; i++) cb_integrator_reset(cb_fluid_run_of(run)->part[i].integrator);
}

static cb_status restored(cb_run *run) {
  forget(run);
  cb_fluid_coupling_restored(cb_fluid_run_of(run)->coupling);
  return CB_OK;
}

static void free_(cb_run *run) {
  cb_fluid_run *b = run->own;
  if (b) cb_fluid_coupling_free(b->coupling);
  if (b) cb_fluid_joined_free(run);
  if (b) cb_body_interaction_free(run);
  for (int i = 0; b && b->part && i < b->threads; i++) {
    for (int k = 0; k < b->part[i].n_own; k++) cb_immersed_workspace_free(b->part[i].own[k]);
    cb_integrator_free(b->part[i].integrator);
    cb_floor_work_free(b->part[i].floor);
    for (size_t e = 0; e < b->part[i].events; e++) free(b->part[i].event[e].text);
    free(b->part[i].event);
  }
}

static cb_status begin(cb_run *run) {
  cb_fluid_run_fall(run);
  return CB_OK;
}

static cb_status plate(const cb_run *run, int body, cb_falling_plate *out) {
  if (body >= cb_fluid_run_of(run)->n)
    return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                      "`falling_regime` needs a rigid body: the scenario has only particles");
  return cb_falling_plate_of_body(cb_fluid_run_of(run)->start[body].body, run->options.start, out);
}

/* The fields of a row from which the state is restored. They suffice for bodies without joints, coupled points and
 * interaction (row_suffices). */
static const char *const state[] = {"pose", "twist", NULL};

static bool row_suffices(const cb_run *run) {
  const cb_fluid_run *b = run->own;
  return !b->coupling && !b->joined && !b->interaction;
}

static cb_status restore_row(cb_run *run, const cb_row_state *row) {
  cb_fluid_run *b = run->own;
  const cb_fluid_run_part *part = b->part;
  for (int i = 0; i < b->n; i++) {
    const double *at = row->field[0] + 7 * i;
    const cb_pose g = {.q = {at[3], at[4], at[5], at[6]}, .x = {at[0], at[1], at[2]}};
    while (i >= part->end) part++;
    const cb_status status = cb_rigid_start(cb_immersed_workspace_problem(part->workspace[i - part->first]), row->time,
                                            &g, row->field[1] + 6 * i, &b->state[i]);
    if (status) return status;
  }
  return CB_OK;
}

static const char *const measured[] = {
    "time", "step",  "plot_position", "plot_velocity",    "energy",  "kinetic_energy", "potential_energy",
    "pose", "twist", "body_momentum", "spatial_momentum", "casimir", "centre",         NULL};
static const cb_motion motion = {.begin = begin,
                                 .step = step,
                                 .measure = cb_fluid_run_measure,
                                 .compare = cb_fluid_run_compare,
                                 .forget = forget,
                                 .restored = restored,
                                 .free = free_,
                                 .state = state,
                                 .row_suffices = row_suffices,
                                 .restore_row = restore_row,
                                 .measured = measured,
                                 .tangent = cb_fluid_run_tangent,
                                 .find_quantity = cb_fluid_run_find_quantity,
                                 .quantity = cb_fluid_run_quantity,
                                 .quantities =
                                     "quantities of bodies such as NAME.x or NAME.spin_z, and coordinates of "
                                     "joints and their rates, NAME and NAME_rate",
                                 .plate = plate};

/* Makes the workspaces of a part: one for each distinct body in it. */
static cb_status make_part(cb_run *run, cb_fluid_run_part *part) {
  const cb_fluid_run *b = run->own;
  const size_t count = (size_t)(part->end - part->first);
  part->workspace = cb_arena_alloc(run->arena, count, sizeof *part->workspace);
  part->own = cb_arena_alloc(run->arena, count, sizeof *part->own);
  if (!part->workspace || !part->own) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", count);
  for (int i = part->first; i < part->end; i++) {
    const cb_immersed *body = b->start[i].body;
    cb_immersed_workspace *found = NULL;
    for (int k = i - 1; k >= part->first && !found; k--) /* copies are next to each other */
      if (b->start[k].body == body) found = part->workspace[k - part->first];
    if (!found) {
      const cb_status status = cb_immersed_workspace_create(body, &found);
      if (status) return status;
      part->own[part->n_own++] = found;
    }
    part->workspace[i - part->first] = found;
  }
  const cb_status status = cb_integrator_like(b->integrator, NULL, &part->integrator);
  return status ? status : cb_floor_work_create(&part->floor);
}

static cb_status make_parts(cb_run *run) {
  cb_fluid_run *b = run->own;
  size_t faces = 0;
  for (int i = 0; i < b->n; i++) faces += (size_t)cb_immersed_surface(b->start[i].body)->faces;
  const int wanted = b->serial ? 1 : cb_threads_for(faces), threads = wanted < b->n ? wanted : b->n > 1 ? b->n : 1;
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
  const cb_fluid_run *b = run->own;
  cb_body_start *start = &b->start[body];
  cb_immersed_workspace *workspace = part->workspace[body - part->first];
  cb_status status = CB_OK;
  if (start->released && b->serial)
    return cb_fail(CB_ERROR_UNSUPPORTED, "`momentum: zero` applies only to a body alone: expected no `joints`");
  if (start->released)
    status = cb_immersed_workspace_released(workspace, run->options.start, &start->pose, start->twist);
  if (status) return status;
  status = cb_rigid_start(cb_immersed_workspace_problem(workspace), run->options.start, &start->pose, start->twist,
                          &cb_fluid_run_of(run)->state[body]);
  cb_immersed_workspace_know_caps(workspace);
  return status;
}

/* Checks that no vertex begins below a reflecting floor. A depth up to round-off is allowed, because a scenario may
 * place a body exactly on the floor. */
static cb_status above(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  (void)context;
  const cb_floor *floor = &cb_fluid_run_of(run)->fluid->floor;
  if (floor->kind != CB_FLOOR_REFLECTING) return CB_OK;
  const cb_surface *surface = cb_immersed_surface(cb_fluid_run_of(run)->start[body].body);
  const cb_floor_shape shape = cb_immersed_workspace_floor_shape(part->workspace[body - part->first]);
  const cb_pose *pose = &cb_fluid_run_of(run)->state[body].g;
  int n;
  const double(*x)[3], (*v)[3];
  double r[3][3], up[3]; /* in the body's axes */
  cb_pose_rotation(pose, r);
  cb_apply3_transposed((const double(*)[3])r, floor->up, up);
  const double origin = cb_dot3(floor->up, pose->x) - floor->height;
  const cb_status status = shape.at(shape.self, run->options.start, &n, &x, &v);
  for (int i = 0; i < n && !status; i++) {
    const double gap = origin + cb_dot3(up, x[i]);
    const double tolerance =
        16 * DBL_EPSILON * (fabs(floor->height) + sqrt(cb_dot3(pose->x, pose->x)) + sqrt(cb_dot3(x[i], x[i])));
    if (gap < -tolerance)
      return cb_fail(CB_ERROR_DOMAIN, "vertex %d starts %.3g below the floor at height %g: expected no vertex below it",
                     surface->number[i], -gap, floor->height);
  }
  return status;
}

static cb_status start(cb_run *run) {
  cb_fluid_run *b = run->own;
  int failed = 0;
  cb_status status = make_parts(run);
  if (!status) status = cb_fluid_run_each(run, start_one, NULL, &failed);
  if (!status) status = cb_fluid_run_each(run, above, NULL, &failed);
  if (!status || status == CB_ERROR_MEMORY) return status;
  return cb_fail(status > 0 ? CB_ERROR_DOMAIN : status, "body `%s`: %s", b->start[failed].name, cb_error_text());
}

cb_status cb_run_create_fluid(const cb_fluid *fluid, int n, const cb_body_start *bodies, const cb_fluid_points *points,
                              cb_integrator *integrator, const cb_run_options *options, cb_run **out) {
  cb_run *run;
  if (n < 1 && !points) return cb_fail(CB_ERROR_ARGUMENT, "a run needs bodies: expected 1 or more, found %d", n);
  cb_status status =
      cb_run_new(&motion, options, (size_t)n * sizeof(cb_rigid_state) / sizeof(double), sizeof(cb_fluid_run), &run);
  if (status) return status;
  cb_fluid_run *b = run->own;
  cb_body_start *starts = cb_arena_alloc(run->arena, (size_t)n, sizeof *starts);
  cb_rigid_state *states = cb_arena_alloc(run->arena, (size_t)n, sizeof *states);
  int32_t *warned = cb_arena_alloc(run->arena, (size_t)n, sizeof *warned);
  cb_body_watch *watch = cb_arena_alloc(run->arena, (size_t)n, sizeof *watch);
  if (!starts || !states || !warned || !watch) {
    cb_run_free(run);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", n);
  }
  if (n) memcpy(starts, bodies, (size_t)n * sizeof *starts);
  *b = (cb_fluid_run){.fluid = fluid,
                      .integrator = integrator,
                      .n = n,
                      .start = starts,
                      .state = states,
                      .warned = warned,
                      .watch = watch,
                      .serial = points && points->joints,
                      .t = options->start};
  cb_run_clock(run, &b->t, &b->t_low, &b->step, &b->iterations);
  status = start(run);
  if (!status) status = cb_body_interaction_create(run, points ? points->joints : NULL);
  if (!status) status = cb_fluid_coupling_create(run, points);
  if (!status) status = cb_fluid_controls_create(run);
  if (!status) status = cb_fluid_run_layout(run);
  if (!status) status = cb_fluid_run_remember(run);
  if (!status) cb_fluid_joined_remember(run);
  if (!status) status = cb_fluid_run_near_create(run);
  if (status) {
    cb_run_free(run);
    return status;
  }
  *out = run;
  return CB_OK;
}

bool cb_run_coupling_error(const cb_run *run, cb_coupling_error *out) {
  return run->motion == &motion && cb_fluid_run_of(run)->interaction && !cb_body_interaction_error(run, out) &&
         out->body[0] >= 0;
}

const cb_rigid_state *cb_run_body(const cb_run *run, int i) {
  return run->motion == &motion && i >= 0 && i < cb_fluid_run_of(run)->n ? &cb_fluid_run_of(run)->state[i] : NULL;
}
