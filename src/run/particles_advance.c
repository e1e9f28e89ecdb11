/* One step with retries: a step that fails is done again as two halves, each of which may be halved again.
 * A halved step is told to the record: it breaks the constant step on which symplecticity rests. */
#include "dynamics/antipodes.h"
#include "run/particles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The particle, in the order a user sees, where the last step went wrong; -1 if not known. */
static int worst(const cb_run *run) {
  return run->particles->integrator->worst < 0
             ? -1
             : cb_system_particle(run->particles->system, run->particles->integrator->worst);
}

/* A `stop` event at 0 where the run starts: a user who starts there asks for the next. */
static cb_status warn_of_start(cb_run *run, cb_sink *sink, const char *event) {
  static const char format[] = "the event `%s` is at its zero where the run starts: it stops the run at the next one";
  const cb_event_row row = {.time = run->options.start, .kind = CB_EVENT_WARN, .i = -1, .j = -1};
  const size_t room = sizeof format + strlen(event);
  char *text = malloc(room);
  if (!text) return cb_fail(CB_ERROR_MEMORY, "no memory for a warning");
  snprintf(text, room, format, event);
  const cb_status status = cb_run_warn(run, row.time, text);
  return status || !sink->event ? status : sink->event(sink->self, &row);
}

static cb_status with_contacts(cb_run *run, cb_sink *sink, double h) {
  cb_contacts_stop stop;
  const cb_status status = cb_contacts_step(run->particles->contacts, run->particles->state, h, sink, &stop);
  if (!status) run->stopped = stop.by;
  return status || !stop.at_start ? status : warn_of_start(run, sink, stop.at_start);
}

/* One step without contacts; where it has led points past one another's antipode it fails, and is undone. It may fail
 * for that reason by itself. */
static cb_status without_contacts(cb_run *run, double h) {
  cb_particles *p = run->particles;
  if (p->before) cb_state_copy(p->before, p->state);
  cb_status status = cb_integrator_step(p->integrator, p->state, h);
  if (!p->before) return status;
  if (status) return cb_antipodes_explain(p->system, p->state, h, status, &p->integrator->worst);
  status = cb_antipodes_check(p->system, p->state, h, &p->integrator->worst);
  if (status) cb_state_copy(p->state, p->before);
  return status;
}

static cb_status halves(cb_run *run, cb_sink *sink, double h, int depth) {
  cb_status status = run->particles->contacts ? with_contacts(run, sink, h) : without_contacts(run, h);
  if (status <= 0 || depth == run->options.retries) return status;
  if (depth == 0) cb_state_copy(run->particles->spare, run->particles->state); /* a failed step has left it as it was */
  const cb_event_row event = {
      .time = run->particles->state->t, .kind = CB_EVENT_RETRY, .i = worst(run), .j = -1, .gap = h};
  if (sink->event && (status = sink->event(sink->self, &event))) return status;
  for (int half = 0; half < 2; half++) {
    cb_integrator_reset(run->particles->integrator);
    if ((status = halves(run, sink, h / 2, depth + 1))) return status;
    if (run->stopped) break;
  }
  cb_integrator_reset(run->particles->integrator);
  return CB_OK;
}

/* Where methods do not say which particle failed, the one with the greatest acceleration is the likeliest; -1 if
 * there are no forces to tell. The state stands before the step; the spare one is free. */
static int most_accelerated(cb_run *run) {
  const cb_state *s = run->particles->state;
  const double *mass = cb_system_masses(run->particles->system);
  double *velocity = run->particles->spare->x, *force = run->particles->spare->p, most = -1;
  int found = -1;
  for (int a = 0; a < s->n; a++)
    for (int e = 0; e < s->k; e++) velocity[a * s->k + e] = s->p[a * s->k + e] / mass[a];
  if (cb_forces_eval(run->particles->integrator->forces, s->t, s->x, velocity, force)) return -1;
  for (int a = 0; a < s->n; a++) {
    double square = 0;
    for (int e = 0; e < s->k; e++) square += force[a * s->k + e] * force[a * s->k + e];
    const double acceleration = isnan(square) ? INFINITY : sqrt(square) / mass[a];
    if (acceleration <= most) continue;
    most = acceleration;
    found = cb_system_particle(run->particles->system, a);
  }
  return found;
}

/* From this on, in radii, round-off of a wide component may be what an iteration cannot overcome. */
static const double wide = 3.5;

/* In a space of one chart that halved steps leave too: the coordinates end there, as at a horizon. */
static bool at_border(const cb_run *run, cb_status status) {
  const cb_geometry *space = cb_system_space(run->particles->system);
  return status == CB_STEP_DOMAIN && space && space->intrinsic && run->options.retries > 0;
}

cb_status cb_particles_advance(cb_run *run, cb_sink *sink, double h) {
  const double time = run->particles->state->t;
  const cb_status status = halves(run, sink, h, 0);
  if (status == CB_OK) {
    run->step_size = h;
    run->particles->state->step++;
    return CB_OK;
  }
  if (run->options.retries > 0 && status > 0) cb_state_copy(run->particles->state, run->particles->spare);
  cb_integrator_reset(run->particles->integrator);
  if (status < 0) return status;

  char cause[1024];
  strncpy(cause, cb_error_text(), sizeof cause - 1);
  cause[sizeof cause - 1] = 0;
  const bool known = worst(run) >= 0;
  const int particle = known ? worst(run) : most_accelerated(run);
  char where[256] = "";
  if (particle >= 0) {
    snprintf(where, sizeof where, ", %sbody `%s`, particle `%s`", known ? "" : "most accelerated: ",
             cb_system_body_name(run->particles->system, cb_system_body(run->particles->system, particle)),
             cb_system_particle_name(run->particles->system, particle));
  }
  char advice[160] = "try a smaller integrator.step";
  int furthest;
  const double width = acosh(cb_particles_width(run, &furthest));
  if (status == CB_STEP_NO_CONVERGENCE && width > wide)
    snprintf(
        advice, sizeof advice,
        "its particles are up to %.3g radii from their middle, where round-off may stand in the way of `radau_iia` "
        "and `ida`: try lobatto, gauss or rk4",
        width);
  if (at_border(run, status))
    snprintf(advice, sizeof advice, "the path comes to the border of the chart, which no smaller step crosses");
  return cb_fail(CB_ERROR_STEP, "%s at time %.17g, step %lld%s: %s (step %g, halved %d times); %s",
                 cb_status_name(status), time, (long long)run->particles->state->step, where, cause, h,
                 run->options.retries, advice);
}
