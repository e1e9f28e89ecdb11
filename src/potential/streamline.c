/* Streamlines by the integrator of Dormand & Prince (equations and sources in field.h). */
#include "potential/field.h"

#include "numerics/vec3.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 7 };
static const double tableau[STAGES][STAGES - 1] = {{0},
                                                   {1. / 5},
                                                   {3. / 40, 9. / 40},
                                                   {44. / 45, -56. / 15, 32. / 9},
                                                   {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                                   {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                                   {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
/* difference: the weights of order 5 minus those of order 4. dense: the weights of the interpolation of order 4 within
 * a step. */
static const double difference[STAGES] = {71. / 57600,      0,         -71. / 16695, 71. / 1920,
                                          -17253. / 339200, 22. / 525, -1. / 40},
                    dense[STAGES] = {-12715105075. / 11282082432,  0,
                                     87487479700. / 32700410799,   -10690763975. / 1880347072,
                                     701980252875. / 199316789632, -1453857185. / 822651844,
                                     69997945. / 29380423};
/* The longest and the shortest step, in units of the distance between points. The longest step is limited so that no
 * step skips details of the flow.
 */
static const double longest = 4, shortest = 1e-9;

typedef struct line {
  double x[3], to[3], k[STAGES][3], s, h;
  int number, next; /* next: index of the next point to be found */
  bool bad;         /* u is not finite at a stage */
} line;

typedef struct stream {
  cb_stream_velocity velocity;
  void *context;
  int points, n;
  double apart, error;
  line *line; /* the n lines that have not ended */
  double (*x)[3], (*u)[3];
} stream;

static void combine(const line *l, const double weight[], int stages, double by, double out[3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < stages; j++) out[i] += by * weight[j] * l->k[j][i];
}

/* Evaluates the derivatives k of one stage for all lines. */
static cb_status find_stage(stream *all, int stage) {
  for (int i = 0; i < all->n; i++) {
    line *l = &all->line[i];
    memcpy(l->to, l->x, sizeof l->to);
    combine(l, tableau[stage], stage, l->h, l->to);
    memcpy(all->x[i], l->to, sizeof l->to);
  }
  const cb_status status = all->velocity(all->context, all->n, (const double(*)[3])all->x, all->u);
  for (int i = 0; i < all->n && !status; i++) {
    line *l = &all->line[i];
    const double speed = sqrt(cb_dot3(all->u[i], all->u[i])), by = all->apart < 0 ? -1 : 1;
    l->bad = l->bad || !isfinite(speed);
    for (int k = 0; k < 3; k++) l->k[stage][k] = speed > 0 && isfinite(speed) ? by * all->u[i][k] / speed : 0;
  }
  return status;
}

/* Sets the points of the line that lie within an accepted step. */
static void take_points(const stream *all, line *l, double (*x)[3]) {
  const double apart = fabs(all->apart);
  double rest[3] = {0};
  combine(l, dense, STAGES, l->h, rest);
  for (; l->next < all->points && l->next * apart <= l->s + l->h * (1 + 1e-9); l->next++) {
    const double t = fmin((l->next * apart - l->s) / l->h, 1);
    for (int i = 0; i < 3; i++) {
      const double d = l->to[i] - l->x[i], first = l->h * l->k[0][i] - d, last = d - l->h * l->k[6][i] - first;
      x[(size_t)l->number * (size_t)all->points + (size_t)l->next][i] =
          l->x[i] + t * (d + (1 - t) * (first + t * (last + (1 - t) * rest[i])));
    }
  }
}

static void step(const stream *all, line *l, double (*x)[3]) {
  double e[3] = {0};
  combine(l, difference, STAGES, l->h, e);
  const double error = fmax(fabs(e[0]), fmax(fabs(e[1]), fabs(e[2])));
  const bool good = !l->bad && error <= all->error;
  const double by = l->bad ? 0.2 : fmin(fmax(0.9 * pow(all->error / error, 0.2), 0.2), 5);
  if (good) {
    take_points(all, l, x);
    l->s += l->h;
    memcpy(l->x, l->to, sizeof l->x);
    memcpy(l->k[0], l->k[STAGES - 1], sizeof l->k[0]);
  }
  l->bad = false;
  l->h = fmin(l->h * by, longest * fabs(all->apart));
}

static cb_status follow(stream *all, double (*x)[3]) {
  const double apart = fabs(all->apart), length = (all->points - 1) * apart;
  cb_status status = find_stage(all, 0);
  while (all->n && !status) {
    int n = 0;
    for (int i = 0; i < all->n; i++) {
      line *l = &all->line[i];
      if (l->next == all->points) continue;
      if (l->bad || !(l->h > shortest * apart))
        return cb_fail(CB_ERROR_STEP,
                       "streamlines: steps became too small at length %g of %g: expected seeds farther from the "
                       "bodies, or finer faces",
                       l->s, length);
      l->h = fmin(l->h, fmax(length - l->s, 2 * shortest * apart));
      all->line[n++] = *l;
    }
    all->n = n;
    for (int stage = 1; stage < STAGES && n && !status; stage++) status = find_stage(all, stage);
    for (int i = 0; i < n && !status; i++) step(all, &all->line[i], x);
  }
  return status;
}

cb_status cb_streamlines(cb_stream_velocity velocity, void *context, cb_stream_lines form, const double (*seed)[3],
                         double (*x)[3], double (*u)[3]) {
  const int lines = form.lines, points = form.points;
  if (lines < 1 || points < 1) return CB_OK;
  stream all = {velocity, context, points, lines, form.apart, form.error, NULL, NULL, NULL};
  all.line = calloc((size_t)lines, sizeof *all.line);
  all.x = malloc((size_t)lines * sizeof *all.x);
  all.u = malloc((size_t)lines * sizeof *all.u);
  cb_status status = CB_ERROR_MEMORY;
  if (!all.line || !all.x || !all.u)
    cb_fail(status, "no memory for %d streamlines", lines);
  else {
    for (int i = 0; i < lines; i++) {
      line *l = &all.line[i];
      memcpy(l->x, seed[i], sizeof l->x);
      memcpy(x[(size_t)i * (size_t)points], seed[i], sizeof *x);
      l->h = fabs(form.apart);
      l->number = i;
      l->next = 1;
    }
    status = follow(&all, x);
  }
  free(all.line);
  free(all.x);
  free(all.u);
  return status ? status : velocity(context, lines * points, (const double(*)[3])x, u);
}
