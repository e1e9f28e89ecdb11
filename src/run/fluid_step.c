/* One step of all bodies, each with its own retries: a step that fails is done again as two halves by that body alone.
 * Reflections off the floor, halved steps and warnings are told to the record in the order of bodies. */
#include "numerics/compensated.h"
#include "run/fluid_private.h"

#include <stdlib.h>

enum { FLOOR = -2 };

typedef struct teller {
  cb_fluid_run_part *part;
  int body;
} teller;

void cb_fluid_run_tell(cb_fluid_run_part *part, const cb_event_row *event, char *words) {
  if (part->events == part->event_room) {
    const size_t room = part->event_room ? 2 * part->event_room : 64;
    cb_fluid_run_event *more = realloc(part->event, room * sizeof *more);
    if (!more) return free(words), (void)(part->lost = true);
    part->event = more;
    part->event_room = room;
  }
  part->event[part->events++] = (cb_fluid_run_event){*event, words};
}

static void hit(void *user, const cb_floor_hit *h) {
  const teller *to = user;
  const cb_event_row row = {.time = h->time,
                            .kind = CB_EVENT_REFLECT,
                            .i = to->body,
                            .j = FLOOR,
                            .gap = h->gap,
                            .speed_before = h->speed_before,
                            .speed_after = h->speed_after,
                            .impulse = h->impulse};
  cb_fluid_run_tell(to->part, &row, NULL);
}

cb_status cb_fluid_run_method(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations) {
  cb_integrator *in = self;
  in->problem = p;
  const cb_status status = cb_integrator_step(in, s, h);
  *iterations = in->iterations;
  return status;
}

static cb_status whole(cb_run *run, cb_fluid_run_part *part, int body, double h, int *iterations) {
  const cb_fluid_run *b = run->fluid;
  cb_swimmer *swimmer = part->swimmer[body - part->first];
  cb_rigid_state *s = &b->state[body];
  const cb_body_stepper stepper = {part->integrator, cb_fluid_run_method};
  if (b->fluid->floor.kind != CB_FLOOR_REFLECTING) return cb_swimmer_step(swimmer, &stepper, h, s, iterations);
  const cb_floor_shape shape = cb_swimmer_floor_shape(swimmer);
  teller to = {part, body};
  return cb_floor_step(&b->fluid->floor, &shape, &stepper, cb_swimmer_problem(swimmer), h, s, iterations, hit, &to,
                       part->floor);
}

static cb_status halves(cb_run *run, cb_fluid_run_part *part, int body, double h, int depth) {
  int iterations = 0;
  cb_rigid_state *s = &run->fluid->state[body];
  const cb_rigid_state before = *s;
  cb_status status = whole(run, part, body, h, &iterations);
  if (!status && (status = cb_swimmer_check_place(part->swimmer[body - part->first], s))) *s = before;
  if (iterations > part->iterations) part->iterations = iterations;
  if (!status) cb_fluid_run_doubt_step(run, part, body, h);
  if (status <= 0 || depth == run->options.retries) return status;
  const cb_event_row retry = {.time = run->fluid->state[body].t, .kind = CB_EVENT_RETRY, .i = body, .j = -1, .gap = h};
  cb_fluid_run_tell(part, &retry, NULL);
  for (int half = 0; half < 2; half++)
    if ((status = halves(run, part, body, h / 2, depth + 1))) return status;
  return CB_OK;
}

static cb_status one(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  const double h = *(const double *)context;
  cb_rigid_state *s = &run->fluid->state[body];
  const cb_rigid_state before = *s;
  s->t = run->fluid->t;
  const cb_status status = halves(run, part, body, h, 0);
  if (status) *s = before;
  return status;
}

static cb_status forward(cb_run *run, cb_sink *sink, cb_fluid_run_event *e) {
  char *words = e->words;
  e->words = NULL;
  const cb_status status = words ? cb_run_warn(run, e->row.time, words) : CB_OK;
  return status || !sink->event ? status : sink->event(sink->self, &e->row);
}

cb_status cb_fluid_run_step(cb_run *run, cb_sink *sink, double h) {
  cb_fluid_run *b = run->fluid;
  for (int i = 0; i < b->threads; i++) b->part[i].events = 0, b->part[i].iterations = 0, b->part[i].lost = false;
  int failed = 0;
  const cb_status status = cb_fluid_run_each(run, one, &h, &failed);
  b->iterations = 0;
  for (int i = 0; i < b->threads; i++) {
    if (b->part[i].iterations > b->iterations) b->iterations = b->part[i].iterations;
    if (b->part[i].lost) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu events of a step", b->part[i].events);
    for (size_t e = 0; e < b->part[i].events; e++) {
      const cb_status told = forward(run, sink, &b->part[i].event[e]);
      if (told) return told;
    }
  }
  if (!status) {
    run->step_size = h;
    cb_compensated_add_one(&b->t, &b->t_low, h);
    b->step++;
    cb_fluid_run_fall(run);
    return cb_fluid_run_near(run, sink);
  }
  if (status < 0)
    return cb_fail(status, "at time %.17g, step %lld, body `%s`: %s", b->t, (long long)b->step, b->start[failed].name,
                   cb_error_text());
  return cb_fail(CB_ERROR_STEP, "%s at time %.17g, step %lld, body `%s`: %s (step %g, halved %d times)%s",
                 cb_status_name(status), b->t, (long long)b->step, b->start[failed].name, cb_error_text(), h,
                 run->options.retries, status == CB_STEP_DOMAIN ? "" : "; try a smaller integrator.step");
}
