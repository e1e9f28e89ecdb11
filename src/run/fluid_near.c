/* Bodies that come close to each other, of which neither knows of the other: they do not touch, and the fluid about one
 * does not feel the other. Told once a run, of the first pair whose gap is below the size of the smaller one.
 *
 *   gap >= <c_b - c_a, d> - max_a <x - c_a, d> - max_b <c_b - x, d>,   d = (c_b - c_a)/|c_b - c_a|
 * with which it is told; first looked for where balls about the boxes come as close. size: the largest side of the box.
 * By the shapes at rest, in flat space. Balls that are farther apart than they have moved since are not looked at: what
 * is told does not depend on where a run was resumed. A pair that is near at the start is the scenario's to tell, before
 * the run (cb_run_near_at_start), as all that is known then. Copies of a body that start at one place are apart by intent: each
 * is a run by itself.
 */
#include "run/fluid_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cb_fluid_ball {
  double middle[3], radius, size; /* in the body frame */
  double at[3], seen[3];          /* in the world: now, and when all were looked at */
} ball;

typedef struct cb_fluid_span {
  double low, high;
  int body;
} span;

static void measure(const cb_surface *s, ball *out) {
  double low[3], high[3], square = 0;
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY, high[k] = -INFINITY;
    for (int i = 0; i < s->vertices; i++) low[k] = fmin(low[k], s->x[i][k]), high[k] = fmax(high[k], s->x[i][k]);
    out->middle[k] = (low[k] + high[k]) / 2;
    out->size = fmax(out->size, high[k] - low[k]);
  }
  for (int i = 0; i < s->vertices; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = s->x[i][k] - out->middle[k];
    square = fmax(square, cb_dot3(d, d));
  }
  out->radius = sqrt(square);
}

/* Where the balls are; the farthest that one has moved since all were looked at. */
static double place(const cb_fluid_run *b) {
  double most = 0;
  for (int i = 0; i < b->n; i++) {
    ball *own = &b->ball[i];
    double d[3];
    cb_pose_point(&b->state[i].g, own->middle, own->at);
    for (int k = 0; k < 3; k++) d[k] = own->at[k] - own->seen[k];
    most = fmax(most, sqrt(cb_dot3(d, d)));
  }
  return most;
}

static bool by_intent(const cb_fluid_run *b, int i, int j) {
  return b->start[i].body == b->start[j].body &&
         !memcmp(b->start[i].pose.x, b->start[j].pose.x, sizeof b->start[i].pose.x);
}

/* max <x - middle, d> of a body in the world, d = sign times the direction. */
static double reach(const cb_fluid_run *b, int i, const double d[3], double sign) {
  const cb_surface *s = cb_immersed_surface(b->start[i].body);
  double r[3][3], e[3], most = -INFINITY;
  cb_pose_rotation(&b->state[i].g, r);
  cb_apply3_transposed(r, d, e);
  for (int v = 0; v < s->vertices; v++) most = fmax(most, sign * cb_dot3(s->x[v], e));
  return most - sign * cb_dot3(b->ball[i].middle, e);
}

static double gap_of(const cb_fluid_run *b, int i, int j) {
  double d[3];
  for (int k = 0; k < 3; k++) d[k] = b->ball[j].at[k] - b->ball[i].at[k];
  const double apart = sqrt(cb_dot3(d, d));
  if (!(apart > 0)) return -b->ball[i].radius;
  for (int k = 0; k < 3; k++) d[k] /= apart;
  return apart - reach(b, i, d, 1) - reach(b, j, d, -1);
}

static int by_low(const void *a, const void *b) {
  const span *p = a, *q = b;
  return p->low != q->low ? (p->low > q->low) - (p->low < q->low) : p->body - q->body;
}

/* The first pair, by numbers of bodies, that is nearer than its size; *slack: by how much all balls are farther apart. */
static bool find(cb_fluid_run *b, cb_fluid_pair *out) {
  double reach_of_all = 0;
  bool found = false;
  for (int i = 0; i < b->n; i++) reach_of_all = fmax(reach_of_all, b->ball[i].size + b->ball[i].radius);
  for (int i = 0; i < b->n; i++) {
    const double x = b->ball[i].at[0], r = b->ball[i].radius + reach_of_all;
    b->span[i] = (span){x - r, x + r, i};
  }
  qsort(b->span, (size_t)b->n, sizeof *b->span, by_low);
  b->slack = reach_of_all;
  for (int p = 0; p < b->n; p++)
    for (int q = p + 1; q < b->n && b->span[q].low < b->span[p].high; q++) {
      const int one = b->span[p].body, other = b->span[q].body, i = one < other ? one : other, j = one + other - i;
      const ball *u = &b->ball[i], *v = &b->ball[j];
      const double d[3] = {v->at[0] - u->at[0], v->at[1] - u->at[1], v->at[2] - u->at[2]},
                   size = fmin(u->size, v->size), of_balls = sqrt(cb_dot3(d, d)) - u->radius - v->radius - size;
      if (by_intent(b, i, j)) continue;
      b->slack = fmin(b->slack, of_balls);
      if (of_balls >= 0 || (found && (i > out->i || (i == out->i && j > out->j)))) continue;
      const double gap = gap_of(b, i, j);
      if (gap >= size) continue;
      *out = (cb_fluid_pair){i, j, gap, size};
      found = true;
    }
  return found;
}

static bool look(cb_fluid_run *b, cb_fluid_pair *out) {
  if (2 * place(b) < b->slack) return false;
  const bool found = find(b, out);
  for (int i = 0; i < b->n; i++) memcpy(b->ball[i].seen, b->ball[i].at, sizeof b->ball[i].seen);
  return found;
}

static void know(cb_fluid_run *b) {
  for (int i = 0; i < b->n; i++) b->warned[i] |= 1 << CB_DOUBT_NEAR;
}

static void describe(const cb_fluid_run *b, const cb_fluid_pair *of, cb_near_text *out) {
  char apart[64] = "overlap or nearly so";
  if (of->gap > 0) snprintf(apart, sizeof apart, "are %.3g m apart", of->gap);
  snprintf(
      out->text, sizeof out->text,
      "bodies `%.200s` and `%.200s` %s, less than the size of the smaller one, %.3g m: bodies in one fluid neither "
      "touch nor feel each other",
      b->start[of->i].name, b->start[of->j].name, apart, of->size);
}

static bool in_a_fluid(const cb_fluid *fluid) {
  static const double origin[3] = {0};
  double density = 1;
  if (!fluid->medium || fluid->curvature != 0) return false;
  return !cb_medium_is_uniform(fluid->medium) || (!cb_medium_at(fluid->medium, origin, &density) && density > 0);
}

cb_status cb_fluid_run_near_create(cb_run *run) {
  cb_fluid_run *b = run->fluid;
  if (b->n < 2 || !in_a_fluid(b->fluid)) return CB_OK;
  b->ball = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->ball);
  b->span = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->span);
  if (!b->ball || !b->span) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", b->n);
  for (int i = 0; i < b->n; i++)
    if (i && b->start[i].body == b->start[i - 1].body)
      b->ball[i] = b->ball[i - 1];
    else
      measure(cb_immersed_surface(b->start[i].body), &b->ball[i]);
  b->near_at_start = look(b, &b->near);
  if (b->near_at_start) know(b);
  return CB_OK;
}

bool cb_run_near_at_start(const cb_run *run, cb_near_text *out) {
  const cb_fluid_run *b = run->fluid;
  if (b->near_at_start) describe(b, &b->near, out);
  return b->near_at_start;
}

cb_status cb_fluid_run_near(cb_run *run, cb_sink *sink) {
  cb_fluid_run *b = run->fluid;
  cb_fluid_pair pair;
  cb_near_text text;
  if (!b->ball || b->warned[0] >> CB_DOUBT_NEAR & 1 || !look(b, &pair)) return CB_OK;
  know(b);
  describe(b, &pair, &text);
  const cb_event_row row = {.time = b->t, .kind = CB_EVENT_WARN, .i = pair.i, .j = -2 - CB_DOUBT_NEAR, .gap = pair.gap};
  const cb_status status = cb_run_warn(run, b->t, strdup(text.text));
  return status || !sink->event ? status : sink->event(sink->self, &row);
}
