/* Poses that jump. See poses.h.
 *
 * A sequence has its poses, and of vertices that are nowhere between two of them it cannot be known what they do: it is
 * its steps that are compared with one another. An expression has exact velocities: over a time h a continuous motion
 * differs from h (v_0 + v_1)/2 by what goes to 0 with h, a jump by its own size. The times where it differs most are
 * halved until h is round-off.
 */
#include "fluid/poses.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>

/* Shares of the body's extent: of a step that is too far by itself, of one that is by others, of what counts as a jump
 * of an expression. */
static const double far = 0.5, farther = 0.1, least = 1e-3;
static const double faster = 20; /* than the middle one of the steps */
enum { MOST_SAMPLES = 1024, FEWEST_SAMPLES = 16, MOST_PLACES = 1 << 24, CANDIDATES = 4, HALVINGS = 50 };

/* The diagonal of the box around n places. */
static double extent(int n, const double (*x)[3]) {
  double low[3], high[3], side[3];
  for (int k = 0; k < 3; k++) {
    low[k] = high[k] = x[0][k];
    for (int i = 1; i < n; i++) low[k] = fmin(low[k], x[i][k]), high[k] = fmax(high[k], x[i][k]);
    side[k] = high[k] - low[k];
  }
  return sqrt(cb_dot3(side, side));
}

/* ---- of a sequence ---- */

/* From a pose to the next: the vertex that moves farthest. */
typedef struct step {
  int vertex;
  double distance, speed;
} step;

static int compare(const void *a, const void *b) {
  const step *p = a, *q = b;
  return (p->speed > q->speed) - (p->speed < q->speed);
}

static step step_from(const cb_poses *p, int i) {
  const bool last = i + 1 == p->poses;
  const double(*x)[3] = cb_poses_pose(p, i), (*y)[3] = cb_poses_pose(p, last ? 0 : i + 1);
  step out = {.distance = -1};
  for (int v = 0; v < p->vertices; v++) {
    const double d[3] = {y[v][0] - x[v][0], y[v][1] - x[v][1], y[v][2] - x[v][2]}, square = cb_dot3(d, d);
    if (square > out.distance) out.distance = square, out.vertex = v;
  }
  out.distance = sqrt(out.distance);
  out.speed = out.distance / ((last ? p->time[0] + p->period : p->time[i + 1]) - p->time[i]);
  return out;
}

static cb_status of_sequence(const cb_poses *p, cb_poses_jump *out) {
  const int n = p->poses - (p->end == CB_POSES_CLAMPED);
  const double size = extent(p->vertices, cb_poses_pose(p, 0));
  step *all = malloc(2 * (size_t)n * sizeof *all);
  if (!all) return cb_fail(CB_ERROR_MEMORY, "no memory for the steps of %d poses", n);
  step *sorted = all + n;
  for (int i = 0; i < n; i++) all[i] = sorted[i] = step_from(p, i);
  qsort(sorted, (size_t)n, sizeof *sorted, compare);
  for (int i = 0; i < n; i++) {
    const step *own = &all[i];
    const double most = (own->speed > faster * sorted[n / 2].speed ? farther : far) * size;
    if (own->distance > most && own->distance > out->distance)
      *out = (cb_poses_jump){own->vertex, i, (i + 1) % p->poses, p->time[i], own->distance};
  }
  free(all);
  return CB_OK;
}

/* ---- of expressions ---- */

/* All vertices at a time. */
typedef struct instant {
  double t, (*x)[3], (*v)[3];
} instant;

/* How far the vertex that differs most is from where the velocities take it, and which. */
static double unexplained(int n, const instant *a, const instant *b, int *vertex) {
  const double half = (b->t - a->t) / 2;
  double most = 0;
  *vertex = 0;
  for (int i = 0; i < n; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = b->x[i][k] - a->x[i][k] - half * (a->v[i][k] + b->v[i][k]);
    const double square = cb_dot3(d, d);
    if (square > most) most = square, *vertex = i;
  }
  return sqrt(most);
}

static cb_status at(const cb_poses *p, double t, instant *out) {
  out->t = t;
  return cb_poses_at(p, t, out->x, out->v);
}

typedef struct candidate {
  double a, b, off;
} candidate;

/* Halves the time of a candidate, keeping the half that differs more. */
static cb_status halve(const cb_poses *p, const candidate *c, instant w[3], double size, cb_poses_jump *out) {
  int vertex = 0;
  double off = c->off;
  cb_status status = at(p, c->a, &w[0]);
  if (!status) status = at(p, c->b, &w[1]);
  for (int i = 0; i < HALVINGS && !status && off > least * size; i++) {
    const double middle = w[0].t + (w[1].t - w[0].t) / 2;
    if (!(middle > w[0].t && middle < w[1].t)) break;
    if ((status = at(p, middle, &w[2]))) break;
    int before, after;
    const double first = unexplained(p->vertices, &w[0], &w[2], &before),
                 second = unexplained(p->vertices, &w[2], &w[1], &after);
    const int old = first > second ? 1 : 0; /* the end that is left */
    const instant left = w[old];
    w[old] = w[2], w[2] = left;
    off = old ? first : second, vertex = old ? before : after;
  }
  if (!status && off > least * size && off > out->distance) *out = (cb_poses_jump){vertex, -1, -1, w[1].t, off};
  return status;
}

static void offer(candidate best[CANDIDATES], candidate c) {
  for (int i = 0; i < CANDIDATES; i++)
    if (c.off > best[i].off) {
      const candidate less = best[i];
      best[i] = c, c = less;
    }
}

static cb_status of_expressions(const cb_poses *p, double start, double end, int samples, cb_poses_jump *out) {
  const size_t n = (size_t)p->vertices;
  double(*room)[3] = malloc(6 * n * sizeof *room);
  if (!room) return cb_fail(CB_ERROR_MEMORY, "no memory for poses of %zu vertices", n);
  instant w[3];
  candidate best[CANDIDATES] = {{.off = 0}};
  for (size_t i = 0; i < 3; i++) w[i] = (instant){0, room + 2 * i * n, room + (2 * i + 1) * n};
  cb_status status = at(p, start, &w[0]);
  const double size = status ? 0 : extent(p->vertices, (const double(*)[3])w[0].x);
  for (int i = 1; i <= samples && !status; i++) {
    int vertex;
    instant *const last = &w[(i - 1) % 2], *const next = &w[i % 2];
    if ((status = at(p, start + (end - start) * i / samples, next))) break;
    offer(best, (candidate){last->t, next->t, unexplained(p->vertices, last, next, &vertex)});
  }
  for (int i = 0; i < CANDIDATES && !status; i++)
    if (best[i].off > least * size) status = halve(p, &best[i], w, size, out);
  free(room);
  return status;
}

cb_status cb_poses_find_jump(const cb_poses *p, double start, double end, int64_t steps, cb_poses_jump *out) {
  *out = (cb_poses_jump){.vertex = -1};
  if (p->poses) return of_sequence(p, out);
  if (!(end > start) || !isfinite(end - start)) return CB_OK;
  int most = MOST_PLACES / p->vertices;
  most = most > MOST_SAMPLES ? MOST_SAMPLES : most < FEWEST_SAMPLES ? FEWEST_SAMPLES : most;
  return of_expressions(p, start, end, steps < 1 ? 1 : steps > most ? most : (int)steps, out);
}
