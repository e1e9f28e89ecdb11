/* The fluid that a surface displaces, as an integral over its faces.
 *
 *   closed   mass = sum_f <a, up> mean(p_1),  moment across up = sum_f <a, up> mean(p_1 x),
 *            along up = sum_f <a, up> mean(p_2) + Q_0 volume,  volume = sum_f <a, up> mean(h)
 *   sheet    the same with p_0, p_0 x, p_1 and 1 in the means, and the weight |a| thickness
 *
 * a is the area vector of a face f, and mean() the mean over it. p_j are the repeated integrals of the density rho
 * along up (fluid/medium_surfaces.h). Places x and heights h are measured from a point o: a corner, or for smooth
 * densities the mean of all corners. Q_0 is the integral of rho from height 0 of the world to o. Sums are made over
 * pieces of the surface, whose number does not depend on the number of threads.
 */
#include "core/threads.h"
#include "fluid/medium_surfaces.h"

#include <math.h>
#include <string.h>

enum { PIECES = 64 };

/* The sums of a piece: in a first pass the sum of its corners and the range of its heights, then the sums above. */
typedef struct piece {
  double corners[3], low, high;
  double mass, first[3], along, volume;
} piece;

typedef struct task {
  cb_medium_origin from;
  int n, pieces;
  const double (*corner)[3][3];
  const double *thickness;
  piece piece[PIECES];
  atomic_int failed;
} task;

static int first_face(const task *t, int i) { return (int)((long long)t->n * i / t->pieces); }

static void measure_pieces(void *context, int begin, int end) {
  task *t = context;
  for (int i = begin; i < end; i++) {
    piece sum = {.low = INFINITY, .high = -INFINITY};
    for (int f = first_face(t, i); f < first_face(t, i + 1); f++)
      for (int k = 0; k < 3; k++) {
        const double *x = t->corner[f][k], h = cb_dot3(x, t->from.m->up);
        for (int s = 0; s < 3; s++) sum.corners[s] += x[s];
        sum.low = h < sum.low ? h : sum.low;
        sum.high = h > sum.high ? h : sum.high;
      }
    t->piece[i] = sum;
  }
}

static inline __attribute__((always_inline)) void add_face(const task *t, int f, const cb_medium_means *mean,
                                                           piece *sum) {
  const double *up = t->from.m->up, (*x)[3] = t->corner[f];
  double e1[3], e2[3], a[3], h = 0;
  for (int i = 0; i < 3; i++) {
    e1[i] = x[1][i] - x[0][i];
    e2[i] = x[2][i] - x[0][i];
    h += (x[0][i] - t->from.o[i] + (e1[i] + e2[i]) / 3) * up[i];
  }
  cb_cross3(e1, e2, a);
  const double weight = t->thickness ? sqrt(cb_dot3(a, a)) / 2 * t->thickness[f] : cb_dot3(a, up) / 2;
  sum->mass += weight * mean->p;
  for (int i = 0; i < 3; i++) sum->first[i] += weight * mean->px[i];
  sum->along += weight * mean->next;
  sum->volume += weight * (t->thickness ? 1 : h);
}

/* Adds n faces from f on. */
static inline __attribute__((always_inline)) cb_status add_block(const task *t, int f, int n, piece *sum, int *at) {
  const cb_medium_origin *from = &t->from;
  const int j = !t->thickness;
  cb_medium_means mean[CB_MEDIUM_BLOCK];
  if (from->m->smooth) {
    const cb_status status = cb_smooth_means(from, n, t->corner + f, j, mean, at);
    if (status) return status;
  } else {
    for (int i = 0; i < n; i++) {
      double y[3][3];
      for (int k = 0; k < 9; k++) y[k / 3][k % 3] = t->corner[f + i][k / 3][k % 3] - from->o[k % 3];
      cb_layers_means(from, y, j, &mean[i]);
    }
  }
  for (int i = 0; i < n; i++) add_face(t, f + i, &mean[i], sum);
  return CB_OK;
}

static void add_pieces(void *context, int begin, int end) {
  task *t = context;
  for (int i = begin; i < end; i++) {
    piece sum = {0};
    const int last = first_face(t, i + 1);
    for (int f = first_face(t, i), at = 0; f < last; f += CB_MEDIUM_BLOCK)
      if (add_block(t, f, last - f < CB_MEDIUM_BLOCK ? last - f : CB_MEDIUM_BLOCK, &sum, &at)) {
        cb_threads_least(&t->failed, f + at);
        break;
      }
    t->piece[i] = sum;
  }
}

/* Finds the mean o of the corners, and how the density is integrated from there. For n faces let e = sqrt(n)/6, rounded
 * up. This is about half the height of a closed surface divided by the edge of a face. Then e/2 panels are used along a
 * line (at most CB_MEDIUM_PANELS). If the density depends only on the height, a profile of 4 e cells (at most
 * CB_PROFILE_CELLS) over the full height is used. */
static cb_status begin_smooth(task *t, int threads, cb_medium_profile *profile) {
  cb_medium_origin *from = &t->from;
  cb_threads_range(threads, t->pieces, measure_pieces, t);
  const double edges = ceil(sqrt(t->n) / 6);
  double low = INFINITY, high = -INFINITY;
  memset(from->o, 0, sizeof from->o);
  for (int i = 0; i < t->pieces; i++) {
    for (int s = 0; s < 3; s++) from->o[s] += t->piece[i].corners[s];
    low = fmin(low, t->piece[i].low);
    high = fmax(high, t->piece[i].high);
  }
  for (int s = 0; s < 3; s++) from->o[s] /= 3. * t->n;
  from->panels = (int)fmin(ceil(edges / 2), CB_MEDIUM_PANELS);
  if (!from->m->profile) return CB_OK;
  const double middle = cb_dot3(from->o, from->m->up);
  from->profile = profile;
  return cb_profile_make(from->m, from->o, low - middle, high - middle, (int)fmin(4 * edges, CB_PROFILE_CELLS),
                         profile);
}

static cb_status finish(const task *t, const piece *sum, double *mass, double moment[3], double *along) {
  const double *o = t->from.o, *up = t->from.m->up;
  double column = 0, first[3];
  if (along && t->from.m->smooth) {
    const cb_status status = cb_smooth_column(t->from.m, o, &column);
    if (status) return status;
  } else if (along) {
    column = cb_layers_column(t->from.m, cb_dot3(o, up));
  }
  if (!isfinite(sum->mass + sum->first[0] + sum->first[1] + sum->first[2] + sum->along))
    return cb_fail(CB_STEP_NOT_FINITE,
                   "the displaced mass of a surface at (%g, %g, %g) is %g: expected a finite number", o[0], o[1], o[2],
                   sum->mass);
  for (int i = 0; i < 3; i++) first[i] = sum->first[i] + sum->mass * o[i];
  const double across = cb_dot3(first, up);
  *mass = sum->mass;
  for (int i = 0; i < 3; i++) moment[i] = first[i] - across * up[i];
  for (int i = 0; along && i < 3; i++) along[i] += (sum->along + column * sum->volume) * up[i];
  return CB_OK;
}

cb_status cb_medium_displaced(const cb_medium *m, int n, const double (*corner)[3][3], const double *thickness,
                              double *mass, double moment[3], double along[3]) {
  if (n == 0) {
    *mass = moment[0] = moment[1] = moment[2] = 0;
    return CB_OK;
  }
  const int threads = cb_threads_for((size_t)n), pieces = n < CB_THREADS_MIN_ELEMENTS ? 1 : PIECES;
  task t = {.from = {.m = m}, .n = n, .pieces = pieces, .corner = corner, .thickness = thickness, .failed = n};
  cb_medium_profile profile;
  memcpy(t.from.o, corner[0][0], sizeof t.from.o);
  const cb_status status = m->smooth ? begin_smooth(&t, threads, &profile) : CB_OK;
  if (status) return status;
  t.from.layer = cb_medium_layer(m, cb_dot3(t.from.o, m->up));
  cb_threads_range(threads, pieces, add_pieces, &t);
  piece sum = {0};
  int at;
  if (t.failed < n) return add_block(&t, t.failed, 1, &sum, &at);
  for (int i = 0; i < pieces; i++) {
    const piece *p = &t.piece[i];
    sum.mass += p->mass;
    for (int s = 0; s < 3; s++) sum.first[s] += p->first[s];
    sum.along += p->along;
    sum.volume += p->volume;
  }
  return finish(&t, &sum, mass, moment, along);
}
