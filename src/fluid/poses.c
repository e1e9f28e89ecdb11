/* Poses: sequences in time, by Hermite's cubics. */
#include "fluid/poses_private.h"

#include <math.h>
#include <string.h>

static cb_status check_times(int poses, const cb_poses_times *times) {
  bool periodic = times->end == CB_POSES_PERIODIC;
  if (poses < 2 + periodic)
    return cb_fail(CB_ERROR_ARGUMENT, "%d poses, expected at least %d", poses, 2 + periodic);
  if (!times->time) {
    if (!(times->step > 0) || !isfinite(times->step) || !isfinite(times->start))
      return cb_fail(CB_ERROR_ARGUMENT, "poses from time %g on with step %g, expected a step above 0", times->start,
                     times->step);
  } else {
    for (int i = 0; i < poses; i++)
      if (!isfinite(times->time[i]) || (i && !(times->time[i] > times->time[i - 1])))
        return cb_fail(CB_ERROR_ARGUMENT, "pose %d at time %g, expected finite times that ascend", i + 1,
                       times->time[i]);
  }
  double length = times->time ? times->time[poses - 1] - times->time[0] : times->step * (poses - 1);
  bool given = times->time || times->period != 0;
  if (periodic && given && (!(times->period > length) || !isfinite(times->period)))
    return cb_fail(CB_ERROR_ARGUMENT, "period %g of poses that take %g from first to last, expected more",
                   times->period, length);
  return CB_OK;
}

cb_status cb_poses_from_arrays(int vertices, int poses, const double (*x)[3], const cb_poses_times *times,
                               cb_poses **out) {
  cb_status status = check_times(poses, times);
  if (status) return status;
  if (vertices < 1) return cb_fail(CB_ERROR_ARGUMENT, "poses of %d vertices", vertices);
  size_t n = (size_t)vertices * (size_t)poses;
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i][0]) || !isfinite(x[i][1]) || !isfinite(x[i][2]))
      return cb_fail(CB_ERROR_DOMAIN, "pose %zu: vertex %zu is not finite: (%g, %g, %g)", i / (size_t)vertices + 1,
                     i % (size_t)vertices + 1, x[i][0], x[i][1], x[i][2]);
  cb_arena *arena = cb_arena_create();
  cb_poses *p = cb_arena_alloc(arena, 1, sizeof *p);
  double(*place)[3] = cb_arena_alloc_aligned(arena, n, sizeof *place, CB_CACHE_LINE);
  double *time = cb_arena_alloc(arena, (size_t)poses, sizeof *time);
  if (!p || !place || !time) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d poses of %d vertices", poses, vertices);
  }
  memcpy(place, x, n * sizeof *x);
  for (int i = 0; i < poses; i++) time[i] = times->time ? times->time[i] : times->start + i * times->step;
  *p = (cb_poses){
      .arena = arena, .vertices = vertices, .poses = poses, .end = times->end, .time = time, .place = place};
  p->period = times->period != 0 ? times->period : poses * times->step;
  *out = p;
  return CB_OK;
}

void cb_poses_free(cb_poses *p) {
  if (!p) return;
  for (size_t i = 0; i < p->laws; i++)
    for (int k = 0; k < 3; k++) cb_expression_free(p->law[i].e[k]);
  cb_arena_free(p->arena);
}

int cb_poses_vertices(const cb_poses *p) { return p->vertices; }

/* ---- at a time ---- */

/* Time of pose i, which may lie beyond the sequence by a turn: t_(i + poses) = t_i + period. */
static double time_of(const cb_poses *p, int i) {
  if (i < 0) return p->time[i + p->poses] - p->period;
  if (i >= p->poses) return p->time[i - p->poses] + p->period;
  return p->time[i];
}

/* The last pose whose time is not after t. */
static int pose_before(const cb_poses *p, double t) {
  int low = 0, high = p->poses;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (p->time[middle] <= t) low = middle;
    else high = middle;
  }
  return low;
}

/* Weights of the values at four poses i-1, i, i+1, i+2: w += a slope_i, slope_i through the times of three of them; at
 * an end of a clamped sequence the slope is 0. */
static void add_slope(const cb_poses *p, int i, double a, double w[3]) {
  if (p->end == CB_POSES_CLAMPED && (i == 0 || i == p->poses - 1)) return;
  double before = time_of(p, i) - time_of(p, i - 1), after = time_of(p, i + 1) - time_of(p, i), both = before + after;
  w[0] -= a * after / (before * both);
  w[1] += a * (after / before - before / after) / both;
  w[2] += a * before / (after * both);
}

cb_status cb_poses_sequence_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]) {
  double first = p->time[0], last = p->time[p->poses - 1];
  if (!isfinite(t)) return cb_fail(CB_STEP_NOT_FINITE, "poses at the time %g", t);
  if (p->end == CB_POSES_PERIODIC) {
    t -= floor((t - first) / p->period) * p->period;
    if (t >= first + p->period) t = first; /* round-off */
    if (t < first) t = first;
  }
  bool rests = p->end == CB_POSES_CLAMPED && (t <= first || t >= last);
  if (rests) t = t <= first ? first : last;
  int i = pose_before(p, t);
  if (p->end == CB_POSES_CLAMPED && i == p->poses - 1) i--;
  double d = time_of(p, i + 1) - time_of(p, i), s = (t - time_of(p, i)) / d;
  /* Hermite's basis and its derivative; then as weights of the four poses around. */
  double w[4] = {0, (1 + 2 * s) * (1 - s) * (1 - s), s * s * (3 - 2 * s), 0};
  double dw[4] = {0, -6 * s * (1 - s) / d, 6 * s * (1 - s) / d, 0};
  add_slope(p, i, d * s * (1 - s) * (1 - s), w);
  add_slope(p, i + 1, -d * s * s * (1 - s), w + 1);
  add_slope(p, i, (1 - s) * (1 - 3 * s), dw);
  add_slope(p, i + 1, s * (3 * s - 2), dw + 1);
  const double(*pose[4])[3];
  for (int k = 0; k < 4; k++) {
    int j = i - 1 + k;
    if (p->end == CB_POSES_PERIODIC) j = (j + p->poses) % p->poses;
    else j = j < 0 ? 0 : j >= p->poses ? p->poses - 1 : j; /* their weights are 0 */
    pose[k] = (const double(*)[3])p->place + (size_t)j * (size_t)p->vertices;
  }
  for (int n = 0; n < p->vertices; n++)
    for (int c = 0; c < 3; c++)
      x[n][c] = w[0] * pose[0][n][c] + w[1] * pose[1][n][c] + w[2] * pose[2][n][c] + w[3] * pose[3][n][c];
  for (int n = 0; v && n < p->vertices; n++)
    for (int c = 0; c < 3; c++)
      v[n][c] =
          rests ? 0 : dw[0] * pose[0][n][c] + dw[1] * pose[1][n][c] + dw[2] * pose[2][n][c] + dw[3] * pose[3][n][c];
  return CB_OK;
}

cb_status cb_poses_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]) {
  return p->poses ? cb_poses_sequence_at(p, t, x, v) : cb_poses_expressions_at(p, t, x, v);
}
