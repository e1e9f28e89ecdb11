/* Reads poses from numbered files of surfaces that have the same faces. Also returns counts, times and units of poses,
 * and finds poses that jump. */
#include "core/failure.h"
#include "fluid/poses_private.h"
#include "numerics/vec3.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <math.h>

cb_status cb_poses_file(const char *pattern, int number, char name[CB_POSES_LONGEST_NAME]) {
  const char *mark = strchr(pattern, '#');
  size_t digits = mark ? strspn(mark, "#") : 0;
  if (!mark || strchr(mark + digits, '#'))
    return cb_fail(CB_ERROR_INPUT, "poses '%s': expected a name with one run of '#' in place of the number", pattern);
  int n = snprintf(name, CB_POSES_LONGEST_NAME, "%.*s%0*d%s", (int)(mark - pattern), pattern,
                   (int)(digits < 20 ? digits : 20), number, mark + digits);
  if (n < 0 || n >= CB_POSES_LONGEST_NAME)
    return cb_fail(CB_ERROR_INPUT, "poses: expected a shorter file name, found one of %d characters", n);
  return CB_OK;
}

/* Returns whether the file exists. It need not be readable. */
static bool is_there(const char *name) { return access(name, F_OK) == 0; }

static cb_status check_whole(const char *name, const cb_surface *body, const double (*x)[3]) {
  const int apart = cb_surface_torn(body, x);
  if (apart < 0) return CB_OK;
  const int other = body->number[body->vertex[apart]];
  return cb_fail_placed(CB_ERROR_INPUT,
                        "%s:1:1: error: `weld` joins vertices %d and %d, but they are not at the same place in this "
                        "file: expected no `weld`, or a larger tolerance",
                        name, apart + 1, other);
}

/* Reads the poses of a body with this mesh into *x, which grows, and counts them in *poses. own: the mesh of the first
 * file if it was already read, or NULL. */
static cb_status read_all(const char *pattern, int first, int count, const cb_mesh *mesh, const cb_mesh *own,
                          const cb_surface *body, double (**x)[3], int *poses) {
  const cb_mesh_reading how = {.like = mesh};
  size_t size = (size_t)body->vertices;
  int capacity = 0;
  cb_status status = CB_OK;
  for (int i = 0; !status && (count == 0 || i < count); i++) {
    char name[CB_POSES_LONGEST_NAME];
    if (first > INT_MAX - i) break; /* this happens only if count is 0 */
    status = cb_poses_file(pattern, first + i, name);
    if (status || (count == 0 && !is_there(name))) break;
    if (i == capacity) {
      capacity = capacity ? 2 * capacity : 16;
      double(*larger)[3] = realloc(*x, (size_t)capacity * size * sizeof **x);
      if (!larger) return cb_fail(CB_ERROR_MEMORY, "no memory for %d poses of %zu vertices", capacity, size);
      *x = larger;
    }
    const cb_mesh *pose = own;
    cb_mesh *read = NULL;
    if (i || !own) {
      status = cb_surface_read_mesh(name, &how, &read);
      pose = read;
    }
    if (!status) status = check_whole(name, body, (const double(*)[3])pose->vertices);
    if (!status) cb_surface_gather(body, (const double(*)[3])pose->vertices, *x + (size_t)i * size);
    cb_mesh_free(read);
    *poses = i + 1;
  }
  return status;
}

/* Checks whether a sequence of files ends at the number `missing`, whose file does not exist. Returns CB_ERROR_INPUT if
 * one of the next 100 files exists. */
static cb_status check_gap(const char *pattern, int missing) {
  enum { LOOKED_AT = 100 };
  char gone[CB_POSES_LONGEST_NAME], name[CB_POSES_LONGEST_NAME];
  cb_status status = cb_poses_file(pattern, missing, gone);
  for (int i = 1; i <= LOOKED_AT && missing <= INT_MAX - i && !status; i++) {
    status = cb_poses_file(pattern, missing + i, name);
    if (!status && is_there(name))
      status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: the file is missing, although '%s' exists", gone, name);
  }
  return status;
}

/* Returns the number of a file in a folder if its name matches the pattern, which begins at `begin` and has a run of
 * `digits` characters '#' at `mark`; otherwise -1. */
static int number_of(const char *name, const char *mark, const char *begin, size_t digits) {
  const size_t before = (size_t)(mark - begin), length = strlen(name), after = strlen(mark + digits);
  if (length < before + digits + after || strncmp(name, begin, before) != 0 ||
      strcmp(name + length - after, mark + digits) != 0)
    return -1;
  const size_t found = length - before - after;
  long long number = 0;
  for (size_t i = 0; i < found; i++) {
    const char c = name[before + i];
    if (c < '0' || c > '9' || (number = 10 * number + c - '0') > INT_MAX) return -1;
  }
  return found > digits && name[before] == '0' ? -1 : (int)number;
}

/* Returns CB_ERROR_FILE if the file `first` is missing, but files with other numbers exist in its folder; the message
 * has the smallest of these numbers. Otherwise returns CB_OK, and the caller fails when it reads the file. */
static cb_status fail_missing(const char *pattern, const char *first) {
  const char *mark = strchr(pattern, '#'), *slash = mark;
  while (slash > pattern && slash[-1] != '/') slash--;
  char folder[CB_POSES_LONGEST_NAME];
  snprintf(folder, sizeof folder, "%.*s", slash > pattern ? (int)(slash - pattern) : 1,
           slash > pattern ? pattern : ".");
  DIR *stream = strchr(mark, '/') ? NULL : opendir(folder);
  int least = -1;
  for (struct dirent *entry; stream && (entry = readdir(stream));) {
    const int number = number_of(entry->d_name, mark, slash, strspn(mark, "#"));
    if (number >= 0 && (least < 0 || number < least)) least = number;
  }
  if (stream) closedir(stream);
  if (least < 0) return CB_OK;
  return cb_fail(CB_ERROR_FILE, "cannot read '%s': %s; the files of '%s' begin with number %d: expected `first: %d`",
                 first, strerror(ENOENT), pattern, least, least);
}

cb_status cb_poses_read(const char *pattern, int first, int count, const cb_poses_times *times, const cb_mesh *mesh,
                        const cb_mending *how, cb_surface **rest, cb_poses **out) {
  char name[CB_POSES_LONGEST_NAME];
  cb_mesh *own = NULL;
  cb_mending posed = how ? *how : (cb_mending){.weld = false};
  cb_surface *surface = NULL;
  double(*x)[3] = NULL;
  int poses = 0;
  if (first < 0 || count < 0)
    return cb_fail(CB_ERROR_ARGUMENT, "poses '%s': %d files from number %d on: expected numbers >= 0", pattern, count,
                   first);
  if (count > 0 && first > INT_MAX - (count - 1))
    return cb_fail(CB_ERROR_ARGUMENT, "poses '%s': %d files from number %d on: expected numbers up to %d", pattern,
                   count, first, INT_MAX);
  posed.posed = true;
  cb_status status = cb_poses_file(pattern, first, name);
  if (!status && !is_there(name)) status = fail_missing(pattern, name);
  if (!status && !mesh) status = cb_surface_read_mesh(name, NULL, &own);
  if (!status && !mesh) status = cb_surface_of_mesh(own, &posed, &surface);
  const cb_surface *body = mesh ? *rest : surface;
  if (!status) status = read_all(pattern, first, count, mesh ? mesh : own, own, body, &x, &poses);
  if (!status && count == 0 && first <= INT_MAX - poses) status = check_gap(pattern, first + poses);
  if (!status) status = cb_poses_from_arrays(body->vertices, poses, (const double(*)[3])x, times, out);
  free(x);
  cb_mesh_free(own);
  if (status)
    cb_surface_free(surface);
  else if (!mesh)
    *rest = surface;
  return status;
}

/* Counts, times, periods and units of poses. */

int cb_poses_count(const cb_poses *p) { return p->gait ? 0 : p->poses; }

double cb_poses_time(const cb_poses *p, int i) { return p->time[i]; }

const double (*cb_poses_pose(const cb_poses *p, int i))[3] {
  return (const double(*)[3])p->place + (size_t)i * (size_t)p->vertices;
}

void cb_poses_scale(cb_poses *p, double factor) {
  const size_t n = (size_t)p->vertices * (size_t)p->poses;
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) p->place[i][k] *= factor;
}

bool cb_poses_span(const cb_poses *p, double *begin, double *end) {
  if (p->gait) {
    *begin = 0;
    *end = p->cycle;
    return true;
  }
  const bool periodic = p->poses ? p->end == CB_POSES_PERIODIC : p->period > 0;
  *begin = p->poses ? p->time[0] : 0;
  *end = periodic ? *begin + p->period : p->poses ? p->time[p->poses - 1] : 0;
  return periodic;
}

/* Returns CB_ERROR_DOMAIN if a vertex is not at the same position one period later, up to 1e-9 of the extent, at one of
 * four phases. x and y are work arrays. */
static cb_status check_period(const cb_poses *p, double period, double (*x)[3], double (*y)[3]) {
  static const double phase[] = {0, 0.271, 0.618, 0.9};
  for (int k = 0; k < 4; k++) {
    double extent = 0, maximum = 0;
    int vertex = 0;
    cb_status status = cb_poses_at(p, phase[k] * period, x, NULL);
    if (!status) status = cb_poses_at(p, (1 + phase[k]) * period, y, NULL);
    if (status) return status;
    for (int i = 0; i < p->vertices; i++)
      for (int c = 0; c < 3; c++) {
        extent = fmax(extent, fabs(x[i][c] - x[0][c]));
        if (fabs(x[i][c] - y[i][c]) > maximum) {
          maximum = fabs(x[i][c] - y[i][c]);
          vertex = i;
        }
      }
    if (maximum > 1e-9 * extent)
      return cb_fail(
          CB_ERROR_DOMAIN,
          "the poses have no period %g: vertex %d is at (%g, %g, %g) at t = %g, and at (%g, %g, %g) a period "
          "later",
          period, p->number[vertex], x[vertex][0], x[vertex][1], x[vertex][2], phase[k] * period, y[vertex][0],
          y[vertex][1], y[vertex][2]);
  }
  return CB_OK;
}

cb_status cb_poses_set_period(cb_poses *p, double period) {
  if (p->poses)
    return cb_fail(CB_ERROR_ARGUMENT, "the period of a sequence of poses follows from its times: expected no period");
  if (!(period > 0) || !isfinite(period)) return cb_fail(CB_ERROR_ARGUMENT, "period %g: expected a number > 0", period);
  double(*x)[3] = malloc(2 * (size_t)p->vertices * sizeof *x);
  if (!x) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", p->vertices);
  const cb_status status = check_period(p, period, x, x + p->vertices);
  free(x);
  if (!status) p->period = period;
  return status;
}

/* Poses that jump (see cb_poses_jump).
 *
 * For a sequence only the poses are known, but not the path of a vertex between two poses. Therefore the steps from
 * pose to pose are compared with each other. An expression has exact velocities v. From a time t_0 to t_1 = t_0 + h a
 * continuous motion differs from h (v_0 + v_1)/2 by an amount that tends to 0 with h. At a jump the difference is the
 * size of the jump. The time spans with the largest differences are halved until h is only round-off. */

/* Lengths as shares of the body's extent. A step of a vertex that is longer than `far` is a jump. A step that is longer
 * than `farther` is a jump if it is also faster than the others (see `faster`). `least` is the smallest jump of an
 * expression. */
static const double far = 0.5, farther = 0.1, least = 1e-3;
/* A step is faster than the others if its speed is more than this many times that of the median step. */
static const double faster = 20;
enum { MAX_SAMPLES = 1024, FEWEST_SAMPLES = 16, MAX_PLACES = 1 << 24, CANDIDATES = 4, HALVINGS = 50 };

/* Returns the diagonal of the box around n positions. */
static double extent(int n, const double (*x)[3]) {
  double low[3], high[3], side[3];
  for (int k = 0; k < 3; k++) {
    low[k] = high[k] = x[0][k];
    for (int i = 1; i < n; i++) {
      low[k] = fmin(low[k], x[i][k]);
      high[k] = fmax(high[k], x[i][k]);
    }
    side[k] = high[k] - low[k];
  }
  return sqrt(cb_dot3(side, side));
}

/* ---- sequences ---- */

/* A step from one pose to the next: the vertex that moves farthest, with its distance and speed. */
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
    if (square > out.distance) {
      out.distance = square;
      out.vertex = v;
    }
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
    const double maximum = (own->speed > faster * sorted[n / 2].speed ? farther : far) * size;
    if (own->distance > maximum && own->distance > out->distance)
      *out = (cb_poses_jump){own->vertex, i, (i + 1) % p->poses, p->time[i], own->distance};
  }
  free(all);
  return CB_OK;
}

/* ---- expressions ---- */

/* Positions and velocities of all vertices at one time. */
typedef struct instant {
  double t, (*x)[3], (*v)[3];
} instant;

/* For each vertex, compares its displacement from the instant a to the instant b with h (v_0 + v_1)/2 (equations
 * above). Returns the largest difference, and sets *vertex to the vertex that has it. */
static double unexplained(int n, const instant *a, const instant *b, int *vertex) {
  const double half = (b->t - a->t) / 2;
  double maximum = 0;
  *vertex = 0;
  for (int i = 0; i < n; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = b->x[i][k] - a->x[i][k] - half * (a->v[i][k] + b->v[i][k]);
    const double square = cb_dot3(d, d);
    if (square > maximum) {
      maximum = square;
      *vertex = i;
    }
  }
  return sqrt(maximum);
}

static cb_status at(const cb_poses *p, double t, instant *out) {
  out->t = t;
  return cb_poses_at(p, t, out->x, out->v);
}

typedef struct candidate {
  double a, b, off;
} candidate;

/* Halves the time span of a candidate up to HALVINGS times, and keeps the half with the larger difference. If a jump
 * remains that is larger than the jump *out, *out becomes this jump. */
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
    const int old = first > second ? 1 : 0; /* index of the instant that the middle replaces */
    const instant left = w[old];
    w[old] = w[2];
    w[2] = left;
    off = old ? first : second;
    vertex = old ? before : after;
  }
  if (!status && off > least * size && off > out->distance) *out = (cb_poses_jump){vertex, -1, -1, w[1].t, off};
  return status;
}

static void offer(candidate best[CANDIDATES], candidate c) {
  for (int i = 0; i < CANDIDATES; i++)
    if (c.off > best[i].off) {
      const candidate less = best[i];
      best[i] = c;
      c = less;
    }
}

static cb_status of_expressions(const cb_poses *p, double start, double end, int samples, cb_poses_jump *out) {
  const size_t n = (size_t)p->vertices;
  double(*buffer)[3] = malloc(6 * n * sizeof *buffer);
  if (!buffer) return cb_fail(CB_ERROR_MEMORY, "no memory for poses of %zu vertices", n);
  instant w[3];
  candidate best[CANDIDATES] = {{.off = 0}};
  for (size_t i = 0; i < 3; i++) w[i] = (instant){0, buffer + 2 * i * n, buffer + (2 * i + 1) * n};
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
  free(buffer);
  return status;
}

cb_status cb_poses_find_jump(const cb_poses *p, double start, double end, int64_t steps, cb_poses_jump *out) {
  *out = (cb_poses_jump){.vertex = -1};
  if (cb_poses_count(p)) return of_sequence(p, out);
  if (!(end > start) || !isfinite(end - start)) return CB_OK;
  int maximum = MAX_PLACES / p->vertices;
  maximum = maximum > MAX_SAMPLES ? MAX_SAMPLES : maximum < FEWEST_SAMPLES ? FEWEST_SAMPLES : maximum;
  return of_expressions(p, start, end, steps < 1 ? 1 : steps > maximum ? maximum : (int)steps, out);
}
