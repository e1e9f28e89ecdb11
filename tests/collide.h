/* Balls in any space, and runs that record their contacts, for the tests of contacts. */
#pragma once

#include "integrate.h"
#include <curvebody/contact.h>
#include <curvebody/run.h>

typedef struct collision {
  body_case c;
  cb_run *run;
  cb_event_row *event;
  size_t events, room;
  int balls;
} collision;

static const cb_contact_options elastic = {.restitution = 1};

/* Opens a space with one body whose particles have contacts with these options. NULL means elastic contacts by the
 * sequential rule. */
static inline void open_collision(collision *k, const char *space, const cb_contact_options *options) {
  memset(k, 0, sizeof *k);
  open_space(&k->c, space);
  check_ok(cb_builder_contacts(k->c.builder, options ? options : &elastic));
  check_ok(cb_builder_contact_bodies(k->c.builder, 0, 0, true));
}

/* Adds a ball at the point x of the embedding with the velocity v, and returns its number. In an intrinsic space x and
 * v are coordinates and their rates. If another space is used in a chart, x and v are converted to the chart. */
static inline int add_ball(collision *k, double mass, double radius, const double *x, const double *v) {
  const cb_space *g = k->c.g;
  double q[CB_COORD_MAX], u[CB_COORD_MAX];
  const bool chart = g->chart && !g->intrinsic;
  if (chart) check_ok(cb_chart_pull(g, g->chart, x, v, q, u));
  check_ok(cb_builder_particle(k->c.builder, NULL, mass, 0, radius, chart ? q : x, chart ? u : v, NULL));
  return k->balls++;
}

static inline cb_status collision_row(void *self, const void *const *data) { return CB_OK; }

static inline cb_status collision_checkpoint(void *self, const cb_blob *state, size_t count) { return CB_OK; }

static inline cb_status collision_event(void *self, const cb_event_row *event) {
  collision *k = self;
  if (k->events == k->room) {
    k->room = k->room ? 2 * k->room : 64;
    k->event = realloc(k->event, k->room * sizeof *k->event);
  }
  k->event[k->events++] = *event;
  return CB_OK;
}

/* Creates a run from the start to `end` with this integrator and step. */
static inline cb_status prepare(collision *k, const char *method, double step, double end) {
  static const char *const none[] = {NULL};
  const cb_run_options options = {
      .end = end, .step = step, .every = 1000000, .observables = none, .state = true, .project = true};
  cb_run_free(k->run);
  k->run = NULL;
  k->events = 0;
  if (!k->c.system) finish_system(&k->c);
  use_method(&k->c, method);
  return cb_run_create(k->c.system, k->c.integrator, &options, &k->run);
}

static inline cb_status go_on(collision *k) {
  cb_sink sink = {k, collision_row, collision_event, collision_checkpoint, NULL};
  const cb_status status = cb_run_go(k->run, &sink, NULL, NULL, NULL);
  cb_state_copy(k->c.state, cb_run_current(k->run));
  check_ok(cb_forces_set_origins(k->c.forces, k->c.state->origin));
  return status;
}

/* Runs from the start to `end`. It can be called again with another integrator. */
static inline void collide(collision *k, const char *method, double step, double end) {
  check_ok(prepare(k, method, step, end));
  check_ok(go_on(k));
}

static inline void close_collision(collision *k) {
  cb_run_free(k->run);
  free(k->event);
  close_case(&k->c);
}

/* Computes the position x and the velocity v of a ball, in the embedding of the world or, in an intrinsic space, in its
 * coordinates. */
static inline void where_is(const collision *k, int ball, double *x, double *v) {
  const cb_space *g = k->c.g;
  const int place = cb_system_index(k->c.system, ball), n = g->k;
  const double *q = k->c.state->x + place * n, *p = k->c.state->p + place * n,
               mass = cb_system_masses(k->c.system)[place];
  double u[CB_COORD_MAX];
  check_ok(cb_space_raise(g, q, p, u));
  for (int a = 0; a < n; a++) u[a] /= mass;
  if (g->chart && !g->intrinsic) {
    check_ok(cb_chart_push(g, g->chart, q, u, x, v));
  } else if (cb_origin_moves(g) && !g->intrinsic) {
    const cb_origin *origin = &k->c.state->origin[cb_system_component(k->c.system, place)];
    cb_origin_world_point(g, origin, q, x);
    cb_origin_world_vector(g, origin, u, v);
  } else {
    memcpy(x, q, (size_t)n * sizeof *x);
    memcpy(v, u, (size_t)n * sizeof *v);
  }
}

/* Returns the distance of the centres of two balls. */
static inline double apart(const collision *k, int i, int j) {
  const cb_space *g = k->c.g;
  const int a = cb_system_index(k->c.system, i), b = cb_system_index(k->c.system, j);
  const double *x = k->c.state->x + a * g->k, *y = k->c.state->x + b * g->k;
  double d;
  if (g->chart) {
    check_ok(g->chart->distance(g, x, y, &d, NULL, NULL));
  } else if (cb_origin_moves(g)) {
    cb_frames frames;
    cb_frames_make(g, &k->c.state->origin[cb_system_component(k->c.system, a)],
                   &k->c.state->origin[cb_system_component(k->c.system, b)], &frames);
    check_ok(cb_frames_distance(g, &frames, x, y, &d, NULL, NULL));
  } else {
    d = cb_distance(g, x, y);
  }
  return d;
}

/* Returns the number of contacts in the recorded events, and writes the times of the first `most` contacts. */
static inline int contact_times(const collision *k, int most, double *times) {
  int n = 0;
  for (size_t i = 0; i < k->events; i++)
    if (k->event[i].kind == 0) {
      if (n < most) times[n] = k->event[i].time;
      n++;
    }
  return n;
}
