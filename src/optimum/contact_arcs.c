/* Times at which a gait is cut into arcs: its breaks, the bundle's, and where it meets walls and leaves them. */
#include "optimum/contact.h"

#include "optimum/crossing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 1024, BREAKS = 16, SHORT = 2 };

/* Edges that are nearer are one. */
static const double apart = 1e-7;

typedef struct edges {
  int count;
  bool touches;
  double time[CB_CONTACT_EDGES_MAX];
  double *s; /* [SAMPLES][walls] */
} edges;

/* Unless there is one within `near`. */
static cb_status add(edges *e, double t, double near) {
  t -= floor(t);
  for (int k = 0; k < e->count; k++) {
    const double way = fabs(t - e->time[k]);
    if (fmin(way, 1 - way) <= near) return CB_OK;
  }
  if (e->count == CB_CONTACT_EDGES_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED, "a gait that meets walls and breaks of the bundle more than %d times",
                   CB_CONTACT_EDGES_MAX);
  e->time[e->count++] = t;
  return CB_OK;
}

/* s_k; infinite where it cannot be told. */
static double distance(cb_walls *w, const cb_gait *gait, int k, double t, double *s) {
  double r[CB_SHAPE_MAX];
  cb_gait_at(gait, t, r, NULL);
  return cb_walls_at(w, 0, r, s, NULL, NULL) ? INFINITY : s[k];
}

/* Least s_k between two times, by golden sections. */
static double nearest(cb_walls *w, const cb_gait *gait, int k, double low, double high, double *s, double *least) {
  const double golden = (sqrt(5) - 1) / 2;
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double fa = distance(w, gait, k, a, s), fb = distance(w, gait, k, b, s);
  while (high - low > 1e-9) {
    if (fa < fb)
      high = b, b = a, fb = fa, a = high - golden * (high - low), fa = distance(w, gait, k, a, s);
    else
      low = a, a = b, fa = fb, b = low + golden * (high - low), fb = distance(w, gait, k, b, s);
  }
  *least = fmin(fa, fb);
  return (low + high) / 2;
}

/* Where s_k passes its slack between two times, at the first of which it is within. */
static double leaves(cb_walls *w, const cb_gait *gait, int k, double within, double beyond, double *s) {
  while (fabs(beyond - within) > 1e-12) {
    const double middle = (within + beyond) / 2;
    if (distance(w, gait, k, middle, s) <= cb_wall_slack(w, k))
      within = middle;
    else
      beyond = middle;
  }
  return within;
}

static cb_status passes(const cb_walls *w, int k, double s, double t) {
  char name[96];
  cb_wall_name(w, k, sizeof name, name);
  return cb_fail(CB_ERROR_ARGUMENT, "the gait passes a wall: %s, by %.3g at time %.6g", name, -s, t - floor(t));
}

/* Runs of samples at wall k: short ones and lone minima are touches, the others begin and end somewhere. */
static cb_status add_wall(edges *e, cb_walls *w, const cb_gait *gait, int k, double *scratch) {
  const double near = 2. / SAMPLES, tiny = cb_wall_slack(w, k), *s = e->s + k;
  const int count = w->count;
  cb_status status = CB_OK;
  for (int i = 0; !status && i < SAMPLES; i++) {
    const int next = (i + 1) % SAMPLES, last = (i + SAMPLES - 1) % SAMPLES;
    const double here = s[i * count], t = (double)i / SAMPLES;
    if (here < -tiny) return passes(w, k, here, t);
    int run = 0;
    while (run < SAMPLES && s[(i + run) % SAMPLES * count] <= tiny) run++;
    e->touches |= run > 0;
    if (run == SAMPLES) return CB_OK;
    const bool begins = run > 0 && s[last * count] > tiny;
    if (begins && run > SHORT) {
      status = add(e, leaves(w, gait, k, t, t - 1. / SAMPLES, scratch), near);
      const double end = t + (run - 1.) / SAMPLES;
      if (!status) status = add(e, leaves(w, gait, k, end, end + 1. / SAMPLES, scratch), near);
    } else if (begins || (run == 0 && here <= s[last * count] && here < s[next * count])) {
      double least, at = nearest(w, gait, k, t - 1. / SAMPLES, t + fmax(run, 1) / SAMPLES, scratch, &least);
      for (int b = 0; b < e->count; b++) { /* a kink is a least place that sections see from afar */
        const double way = remainder(e->time[b] - at, 1), there = distance(w, gait, k, e->time[b], scratch);
        if (fabs(way) < near && there <= least + tiny) at = e->time[b], least = there;
      }
      if (least < -tiny) return passes(w, k, least, at);
      if (least <= tiny) e->touches = true, status = add(e, at, apart);
    }
  }
  return status;
}

static cb_status add_walls(edges *e, cb_walls *w, const cb_gait *gait) {
  double *scratch = malloc((size_t)w->count * sizeof *scratch);
  e->s = malloc((size_t)(w->count * SAMPLES) * sizeof *e->s);
  cb_status status = scratch && e->s ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d walls", w->count);
  for (int i = 0; !status && i < SAMPLES; i++) {
    double r[CB_SHAPE_MAX];
    cb_gait_at(gait, (double)i / SAMPLES, r, NULL);
    status = cb_walls_at(w, 0, r, e->s + i * w->count, NULL, NULL);
  }
  for (int k = 0; !status && k < w->count; k++) status = add_wall(e, w, gait, k, scratch);
  free(scratch);
  free(e->s);
  return status;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

cb_status cb_gait_contact_arcs(const cb_bundle *b, cb_walls *walls, const cb_gait *gait, int *arcs, double *ends,
                               bool *touches) {
  const double *at;
  edges e = {.count = 1};
  const int breaks = cb_gait_breaks(gait, &at);
  cb_status status = CB_OK;
  for (int k = 0; !status && breaks <= BREAKS && k < breaks; k++) status = add(&e, at[k], apart);
  cb_crossing list[CB_CROSSINGS_MAX];
  int crossings = 0;
  if (!status) status = cb_gait_crossings(b, gait, &crossings, list);
  for (int k = 0; !status && k < crossings; k++) status = add(&e, list[k].time, apart);
  if (!status && walls) status = add_walls(&e, walls, gait);
  if (status) return status;
  qsort(e.time, (size_t)e.count, sizeof *e.time, ascending);
  memcpy(ends, e.time, (size_t)e.count * sizeof *ends);
  ends[e.count] = 1;
  *arcs = e.count, *touches = e.touches;
  return CB_OK;
}
