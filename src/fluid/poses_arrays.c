/* Pose sequences in time, interpolated by Hermite's cubics, and poses that follow a gait (equations: below). */
#include "fluid/poses_private.h"

#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double time_at(const cb_poses_times *times, int i) {
  return times->time ? times->time[i] : times->start + i * times->step;
}

static cb_status check_times(int poses, const cb_poses_times *times) {
  bool periodic = times->end == CB_POSES_PERIODIC;
  if (poses < 2 + periodic) return cb_fail(CB_ERROR_ARGUMENT, "%d poses: expected at least %d", poses, 2 + periodic);
  if (!times->time && (!(times->step > 0) || !isfinite(times->step) || !isfinite(times->start)))
    return cb_fail(CB_ERROR_ARGUMENT, "poses from time %g on with step %g: expected a finite start and a step > 0",
                   times->start, times->step);
  for (int i = 0; i < poses; i++)
    if (!isfinite(time_at(times, i)) || (i && !(time_at(times, i) > time_at(times, i - 1))))
      return cb_fail(CB_ERROR_ARGUMENT, "pose %d at time %g: expected finite times that ascend", i + 1,
                     time_at(times, i));
  double first = time_at(times, 0), last = time_at(times, poses - 1), period = times->period;
  if (!times->time && period == 0) period = poses * times->step;
  if (periodic && (!(period > last - first) || !(first + period > last) || !isfinite(first + period)))
    return cb_fail(CB_ERROR_ARGUMENT, "period %g: expected more than the time from the first pose to the last, %g",
                   period, last - first);
  return CB_OK;
}

cb_status cb_poses_from_arrays(int vertices, int poses, const double (*x)[3], const cb_poses_times *times,
                               cb_poses **out) {
  cb_status status = check_times(poses, times);
  if (status) return status;
  if (vertices < 1) return cb_fail(CB_ERROR_ARGUMENT, "poses of %d vertices: expected at least one", vertices);
  size_t n = (size_t)vertices * (size_t)poses;
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i][0]) || !isfinite(x[i][1]) || !isfinite(x[i][2]))
      return cb_fail(CB_ERROR_DOMAIN, "pose %zu: vertex %zu: expected finite coordinates, found (%g, %g, %g)",
                     i / (size_t)vertices + 1, i % (size_t)vertices + 1, x[i][0], x[i][1], x[i][2]);
  cb_arena *arena = cb_arena_create();
  cb_poses *p = cb_arena_alloc(arena, 1, sizeof *p);
  double(*place)[3] = cb_arena_alloc_aligned(arena, n, sizeof *place, CB_CACHE_LINE);
  double *time = cb_arena_alloc(arena, (size_t)poses, sizeof *time);
  if (!p || !place || !time) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d poses of %d vertices", poses, vertices);
  }
  memcpy(place, x, n * sizeof *x);
  for (int i = 0; i < poses; i++) time[i] = time_at(times, i);
  *p = (cb_poses){.arena = arena,
                  .vertices = vertices,
                  .placed = vertices,
                  .poses = poses,
                  .end = times->end,
                  .time = time,
                  .place = place};
  p->period = times->period != 0 ? times->period : poses * times->step;
  *out = p;
  return CB_OK;
}

void cb_poses_free(cb_poses *p) {
  if (!p) return;
  for (size_t i = 0; i < p->formulas && !p->borrows; i++)
    for (int k = 0; k < 3; k++) cb_expression_free(p->formula[i].e[k]);
  cb_gait_free(p->gait);
  cb_arena_free(p->arena);
}

int cb_poses_vertices(const cb_poses *p) { return p->vertices; }

/* ---- at a time ---- */

/* Returns the time of pose i. For a periodic sequence i may be up to one period outside: t_(i + poses) = t_i + period.
 */
static double time_of(const cb_poses *p, int i) {
  if (i < 0) return p->time[i + p->poses] - p->period;
  if (i >= p->poses) return p->time[i - p->poses] + p->period;
  return p->time[i];
}

/* Returns the last pose whose time is not after t, or the first pose. */
static int pose_before(const cb_poses *p, double t) {
  int low = 0, high = p->poses;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (p->time[middle] <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Adds a times the slope at pose i, written as weights w of the poses i - 1, i and i + 1. The slope is that of the
 * parabola through these three poses; at an end of a clamped sequence it is 0. */
static void add_slope(const cb_poses *p, int i, double a, double w[3]) {
  if (p->end == CB_POSES_CLAMPED && (i == 0 || i == p->poses - 1)) return;
  double before = time_of(p, i) - time_of(p, i - 1), after = time_of(p, i + 1) - time_of(p, i), both = before + after;
  w[0] -= a * after / (before * both);
  w[1] += a * (after / before - before / after) / both;
  w[2] += a * before / (after * both);
}

typedef struct blend {
  cb_poses_blend of;
  double *x, *v; /* v may be NULL */
  bool failed;   /* a sum is not finite */
} blend;

typedef double lanes __attribute__((vector_size(64), aligned(8), may_alias));
enum { LANES = sizeof(lanes) / sizeof(double) };

/* Finds the coordinates begin .. end - 1 of the list of the coordinates of all vertices. Each coordinate is the same
 * sum in the same order, whether or not the compiler uses vector instructions. */
static inline __attribute__((always_inline)) void blend_range(blend *b, size_t begin, size_t end) {
  const cb_poses_blend *of = &b->of;
  const double *p0 = of->pose[0][0], *p1 = of->pose[1][0], *p2 = of->pose[2][0], *p3 = of->pose[3][0], *w = of->w,
               *dw = of->dw;
  size_t i = begin;
  lanes sums = {0}, sums_v = {0};
  double sum = 0;
  for (; i + LANES <= end; i += LANES) {
    const lanes a0 = *(const lanes *)(p0 + i), a1 = *(const lanes *)(p1 + i), a2 = *(const lanes *)(p2 + i),
                a3 = *(const lanes *)(p3 + i);
    const lanes x = w[0] * a0 + w[1] * a1 + w[2] * a2 + w[3] * a3;
    *(lanes *)(b->x + i) = x;
    sums += x;
    if (!b->v) continue;
    const lanes v = dw[0] * a0 + dw[1] * a1 + dw[2] * a2 + dw[3] * a3;
    *(lanes *)(b->v + i) = v;
    sums_v += v;
  }
  for (; i < end; i++) {
    sum += b->x[i] = w[0] * p0[i] + w[1] * p1[i] + w[2] * p2[i] + w[3] * p3[i];
    if (b->v) sum += b->v[i] = dw[0] * p0[i] + dw[1] * p1[i] + dw[2] * p2[i] + dw[3] * p3[i];
  }
  for (int lane = 0; lane < LANES; lane++) sum += sums[lane] + sums_v[lane];
  if (!isfinite(sum)) __atomic_store_n(&b->failed, true, __ATOMIC_RELAXED);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void blend_avx512(blend *b, size_t begin, size_t end) {
  blend_range(b, begin, end);
}
__attribute__((target("avx2"))) static void blend_avx2(blend *b, size_t begin, size_t end) {
  blend_range(b, begin, end);
}
#endif

static void blend_vertices(void *context, int first, int last) {
  const size_t begin = 3 * (size_t)first, end = 3 * (size_t)last;
#if defined(__x86_64__)
  if (cb_isa_get() == CB_ISA_AVX512) {
    blend_avx512(context, begin, end);
    return;
  }
  if (cb_isa_get() == CB_ISA_AVX2) {
    blend_avx2(context, begin, end);
    return;
  }
#endif
  blend_range(context, begin, end);
}

/* Finds the four poses next to t, and their weights for positions, for velocities, and for second derivatives in time
 * (dd, may be NULL). */
static void weigh(const cb_poses *p, double t, cb_poses_blend *out, double *dd) {
  const double first = p->time[0], last = p->time[p->poses - 1];
  if (p->end == CB_POSES_PERIODIC) {
    t -= floor((t - first) / p->period) * p->period;
    if (t >= first + p->period) t = first; /* possible by round-off */
    if (t < first) t = first;
  }
  bool rests = p->end == CB_POSES_CLAMPED && (t <= first || t >= last);
  if (rests) t = t <= first ? first : last;
  int i = pose_before(p, t);
  if (p->end == CB_POSES_CLAMPED && i == p->poses - 1) i--;
  double d = time_of(p, i + 1) - time_of(p, i), s = (t - time_of(p, i)) / d;
  /* w and dw are first the weights that the positions of the two poses next to t have in Hermite's cubic. add_slope
   * then adds the weights that follow from the slopes of the cubic at these poses. */
  double w[4] = {0, (1 + 2 * s) * (1 - s) * (1 - s), s * s * (3 - 2 * s), 0};
  double dw[4] = {0, -6 * s * (1 - s) / d, 6 * s * (1 - s) / d, 0};
  add_slope(p, i, d * s * (1 - s) * (1 - s), w);
  add_slope(p, i + 1, -d * s * s * (1 - s), w + 1);
  add_slope(p, i, (1 - s) * (1 - 3 * s), dw);
  add_slope(p, i + 1, s * (3 * s - 2), dw + 1);
  if (dd) {
    const double bend = (12 * s - 6) / (d * d);
    dd[0] = dd[3] = 0;
    dd[1] = bend;
    dd[2] = -bend;
    add_slope(p, i, (6 * s - 4) / d, dd);
    add_slope(p, i + 1, (6 * s - 2) / d, dd + 1);
  }
  for (int k = 0; k < CB_POSES_AROUND; k++) {
    int j = i - 1 + k;
    if (p->end == CB_POSES_PERIODIC)
      j = (j + p->poses) % p->poses;
    else
      /* A pose outside the sequence has the weight 0, so any pose may take its place. */
      j = j < 0 ? 0 : j >= p->poses ? p->poses - 1 : j;
    out->number[k] = j;
    out->pose[k] = cb_poses_pose(p, j);
    out->w[k] = w[k];
    out->dw[k] = rests ? 0 : dw[k];
    if (dd && rests) dd[k] = 0;
  }
}

cb_status cb_poses_blend_at(const cb_poses *p, double t, cb_poses_blend *out) {
  if (!isfinite(t)) return cb_fail(CB_STEP_NOT_FINITE, "poses at the time %g: expected a finite time", t);
  weigh(p, t, out, NULL);
  return CB_OK;
}

static cb_status poses_sequence_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]) {
  blend both = {.x = x[0], .v = v ? v[0] : NULL};
  const cb_status status = cb_poses_blend_at(p, t, &both.of);
  if (status) return status;
  cb_threads_range(cb_threads_for((size_t)p->vertices), p->vertices, blend_vertices, &both);
  return both.failed ? cb_poses_check(p, &t, (const double(*)[3])x, (const double(*)[3])v) : CB_OK;
}

cb_status cb_poses_sequence_second(const cb_poses *p, double t, double (*a)[3]) {
  if (!isfinite(t)) return cb_fail(CB_STEP_NOT_FINITE, "poses at the time %g: expected a finite time", t);
  blend both = {.x = a[0]};
  double dd[CB_POSES_AROUND];
  weigh(p, t, &both.of, dd);
  memcpy(both.of.w, dd, sizeof dd);
  cb_threads_range(cb_threads_for((size_t)p->vertices), p->vertices, blend_vertices, &both);
  return both.failed ? cb_poses_check(p, &t, (const double(*)[3])a, NULL) : CB_OK;
}

cb_status cb_poses_check(const cb_poses *p, const double *r, const double (*x)[3], const double (*v)[3]) {
  char when[300] = "t = ";
  size_t used = p->variables ? 0 : strlen(when);
  for (int i = 0; used < sizeof when && i < (p->variables ? p->variables : 1); i++) {
    const char *name = p->variables ? p->name[i] : "";
    const int more =
        snprintf(when + used, sizeof when - used, "%s%.30s%s%g", i ? ", " : "", name, p->variables ? " = " : "", r[i]);
    if (more < 0) break;
    used += (size_t)more;
  }
  for (int i = 0; i < p->placed; i++) {
    const int at = p->vertex ? p->vertex[i] : i;
    for (int k = 0; k < 3; k++) {
      const bool there = isfinite(x[at][k]);
      if (there && (!v || isfinite(v[at][k]))) continue;
      char rest[100] = "";
      if (p->vertex)
        snprintf(rest, sizeof rest, ", at rest at (%g, %g, %g),", p->rest[0][i], p->rest[1][i], p->rest[2][i]);
      return cb_fail(CB_STEP_NOT_FINITE, "pose at %s: %c%s of vertex %d%s is %g", when, "xyz"[k],
                     there ? "'s velocity" : "", p->number ? p->number[at] : at + 1, rest, there ? v[at][k] : x[at][k]);
    }
  }
  return CB_OK;
}

cb_status cb_poses_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]) {
  static const double one = 1;
  if (p->gait) return cb_poses_gait_at(p, t, x, v);
  return p->poses ? poses_sequence_at(p, t, x, v) : cb_poses_expressions_at(p, &t, &one, x, v);
}

/* --- gaits ---
 *
 * Poses whose shape variables follow a gait.
 *
 *   x(t) = x(r(t/T)),   v(t) = sum_i (dx/dr_i) r_i'(t/T)/T
 *   poses over their phase r:  x(t) = X(s + d r(t/T)),  v(t) = (d/T) r'(t/T) X'(s + d r(t/T))
 * x: the position of a vertex; r: the shape variables; T: the period of the gait in s. X: the poses as functions of
 * their own time, of which the phase runs over d seconds from s on.
 */

/* A break is a time in the cycle at which the velocities of the vertices jump, such as a corner of the gait. Times are
 * sums that contain round-off, so a break counts as reached if it is at most `near` periods later. */
static const double near = 1e-12;

/* Returns the time in its cycle, in units of the period, from 0 to 1 (without 1). Up to `near` before a break the
 * result is the time of the break, so that the velocities are those after the break. */
static double time_in_cycle(const cb_poses *p, double t) {
  const double *at;
  const int breaks = cb_gait_breaks(p->gait, &at);
  double u = fmod(t, p->cycle) / p->cycle;
  if (u < 0) u += 1;
  for (int k = 0; k < breaks; k++)
    if (at[k] > u && at[k] - u <= near) u = at[k];
  return 1 - u <= near ? 0 : u;
}

cb_status cb_poses_follow(cb_poses *p, cb_gait *gait, double period, const cb_poses_phase *phase) {
  const int n = phase ? 1 : p->variables;
  cb_status status = CB_OK;
  if (p->gait) status = cb_fail(CB_ERROR_ARGUMENT, "the poses follow a gait already: expected one gait");
  if (!status && cb_gait_variables(gait) != n)
    status = cb_fail(CB_ERROR_ARGUMENT, "the gait has %d shape variables: expected those of the poses, %d",
                     cb_gait_variables(gait), n);
  if (!status && (!(period > 0) || !isfinite(period)))
    status = cb_fail(CB_ERROR_ARGUMENT, "the period of a gait is %g: expected a number > 0", period);
  if (!status && (phase ? !(phase->duration > 0) : p->poses > 0))
    status = cb_fail(CB_ERROR_ARGUMENT, "a gait of poses over their phase: expected a phase with a duration > 0");
  if (status) {
    cb_gait_free(gait);
    return status;
  }
  p->gait = gait;
  p->cycle = period;
  if (phase) p->phase = *phase;
  return CB_OK;
}

double cb_poses_next_break(const cb_poses *p, double t) {
  const double *at;
  const int breaks = p->gait ? cb_gait_breaks(p->gait, &at) : 0;
  if (!breaks) return INFINITY;
  const double cycle = floor(t / p->cycle + near), u = t / p->cycle - cycle;
  for (int k = 0; k < breaks; k++)
    if (at[k] > u + near) return (cycle + at[k]) * p->cycle;
  return (cycle + 1 + at[0]) * p->cycle;
}

cb_status cb_poses_gait_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]) {
  static const double one = 1;
  double r[CB_POSES_VARIABLES], rate[CB_POSES_VARIABLES];
  if (!isfinite(t)) return cb_fail(CB_STEP_NOT_FINITE, "poses at the time %g: expected a finite time", t);
  cb_gait_at(p->gait, time_in_cycle(p, t), r, rate);
  if (!(p->phase.duration > 0)) {
    for (int i = 0; i < p->variables; i++) rate[i] /= p->cycle;
    return cb_poses_expressions_at(p, r, rate, x, v);
  }
  const double own = p->phase.start + p->phase.duration * (p->phase.turns ? r[0] - floor(r[0]) : r[0]);
  const double speed = p->phase.duration * rate[0] / p->cycle;
  const cb_status status = p->poses ? poses_sequence_at(p, own, x, v) : cb_poses_expressions_at(p, &own, &one, x, v);
  for (int i = 0; !status && v && i < p->vertices; i++)
    for (int k = 0; k < 3; k++) v[i][k] *= speed;
  return status;
}
