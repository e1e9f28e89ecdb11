/* Starts of a search. */
#include "optimum/find.h"

#include "optimum/ellipse.h"
#include "numerics/random.h"

#include <curvebody/holonomy.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HARMONICS = 2, ROW = 2 * HARMONICS, LAGS = 3, WIDTHS = 2, WAVES = LAGS * WIDTHS };

/* The greatest efficiency has a size of its own: starts keep theirs. */
static bool free_size(const cb_optimum_problem *p) { return p->seek == CB_SEEK_EFFICIENCY; }

/* A gait of mean and rows cosine 1.., sine 1.., scaled by s; through the base, where there is one. */
static cb_status loop(const cb_optimum_problem *p, const double *mean, const double *rows, double s, cb_gait **out) {
  const int n = p->bundle->n;
  double m[CB_SHAPE_MAX], x[ROW * CB_SHAPE_MAX];
  for (int k = 0; k < ROW * n; k++) x[k] = s * rows[k];
  for (int i = 0; i < n; i++) {
    m[i] = p->base ? p->base[i] : mean[i];
    for (int k = 0; p->base && k < HARMONICS; k++) m[i] -= x[k * n + i];
  }
  return cb_gait_fourier(n, HARMONICS, m, x, x + HARMONICS * n, out);
}

/* Size of what a gait does; nan where the bundle does not let it. back: run backwards it is nearer the target. */
static double reach(const cb_optimum_problem *p, const cb_gait *gait, bool *back) {
  const cb_group *G = p->bundle->group;
  double g[CB_GROUP_SIZE], y[CB_GROUP_DIM], c[CB_CONDITIONS_MAX], off[2] = {0}, sum = 0;
  if (cb_holonomy(p->bundle, gait, 1e-3, g, NULL, NULL) || G->log(G, g, y)) return NAN;
  for (int a = 0; a < G->dim; a++) sum += y[a] * y[a];
  for (int way = 0; way < 2; way++) {
    if (!cb_gait_target_at(G, &p->target, g, c, NULL, NULL))
      for (int k = 0; k < cb_gait_target_count(G, &p->target); k++) off[way] += c[k] * c[k];
    G->inverse(G, g, g);
  }
  *back = off[1] < off[0];
  return sqrt(sum);
}

static double wanted(const cb_optimum_problem *p) {
  const cb_group *G = p->bundle->group;
  const double amount = cb_gait_target_get(G, &p->target);
  double y[CB_GROUP_DIM], sum = 0;
  if (isfinite(amount)) return fabs(amount);
  if (p->target.kind != CB_GAIT_ELEMENT || G->log(G, p->target.element, y)) return 1;
  for (int a = 0; a < G->dim; a++) sum += y[a] * y[a];
  return sqrt(sum);
}

/* The k-th; NULL where the bundle allows none of some tries. */
static cb_status random_start(const cb_optimum_problem *p, int k, cb_gait **out) {
  enum { TRIES = 40, WIDENED = 5 }; /* a domain may be far off: after some tries the window is twice as wide */
  const int n = p->bundle->n;
  uint64_t seed = p->seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15);
  *out = NULL;
  for (int tries = 0; tries < TRIES; tries++) {
    double mean[CB_SHAPE_MAX], rows[ROW * CB_SHAPE_MAX], s = 1;
    for (int i = 0; i < n; i++) {
      double low, high;
      cb_shape_window(p, i, 1 << tries / WIDENED, &low, &high);
      mean[i] = low + (high - low) * cb_uniform(&seed);
      const double wide = (high - low) * exp(2 * (cb_uniform(&seed) - .5));
      for (int h = 0; h < ROW; h++) rows[h * n + i] = wide / (h % HARMONICS ? 12 : 3) * (cb_uniform(&seed) - .5);
    }
    for (int pass = 0; pass < 3; pass++) {
      cb_gait *gait;
      bool back = false;
      const cb_status status = loop(p, mean, rows, s, &gait);
      if (status) return status;
      const double far = reach(p, gait, &back);
      if (pass == 2 && isfinite(far)) return *out = gait, CB_OK;
      cb_gait_free(gait);
      for (int h = HARMONICS * n; back && h < ROW * n; h++) rows[h] = -rows[h];
      if (isfinite(far) && free_size(p)) continue;
      s *= isfinite(far) && far > 0 ? fmin(2, fmax(.2, sqrt(wanted(p) / far))) : .3;
    }
  }
  return CB_OK;
}

/* The k-th wave of large loops: variables run one after the other by an eighth, a quarter or three eighths of a cycle, with
 * the amplitude of half the window or all of it; NULL where the bundle does not let it. */
static cb_status wave(const cb_optimum_problem *p, int k, cb_gait **out) {
  enum { TRIES = 6 };
  const double lag = (k % LAGS + 1) * M_PI / 4;
  double mean[CB_SHAPE_MAX], rows[ROW * CB_SHAPE_MAX] = {0}, s = 1;
  bool back = false;
  const int n = p->bundle->n;
  for (int i = 0; i < n; i++) {
    double low, high;
    cb_shape_window(p, i, 1, &low, &high);
    const bool bound =
        p->bundle->period[i] > 0 || (p->lower && isfinite(p->lower[i])) || (p->upper && isfinite(p->upper[i]));
    const double wide = .45 * (high - low) * (bound || k < LAGS ? 1 : 2);
    mean[i] = (low + high) / 2;
    rows[i] = wide * cos(i * lag), rows[HARMONICS * n + i] = wide * sin(i * lag);
  }
  for (int tries = 0; tries < TRIES; tries++, s /= 2) {
    const cb_status status = loop(p, mean, rows, s, out);
    if (status) return status;
    const bool before = back;
    if (isfinite(reach(p, *out, &back)) && (before || !back)) return CB_OK;
    cb_gait_free(*out), *out = NULL;
    if (!before && back) {
      for (int i = 0; i < n; i++) rows[HARMONICS * n + i] *= -1;
      s *= 2; /* the same size the other way round */
    }
  }
  return CB_OK;
}

cb_status cb_start_gaits(const cb_optimum_problem *p, int *count, cb_gait ***gaits) {
  *count = 0;
  cb_ellipse ellipse[CB_ELLIPSES_MAX];
  *gaits = calloc((size_t)p->starts + 1 + CB_ELLIPSES_MAX + WAVES, sizeof **gaits);
  if (!*gaits) return cb_fail(CB_ERROR_MEMORY, "no memory for %d starts", p->starts);
  cb_status status = p->start ? cb_gait_shifted(p->start, 0, &(*gaits)[(*count)++]) : CB_OK;
  const int ellipses = p->start && p->starts == 0 ? 0 : cb_ellipses_find(p, ellipse);
  for (int k = 0; !status && k < ellipses; k++) status = cb_ellipse_gait(p, &ellipse[k], &(*gaits)[(*count)++]);
  for (int k = 0; !status && p->starts > 0 && p->bundle->n > 1 && k < WAVES; k++) {
    status = wave(p, k, &(*gaits)[*count]);
    *count += (*gaits)[*count] != NULL;
  }
  for (int k = 0; !status && k < p->starts; k++) {
    status = random_start(p, k, &(*gaits)[*count]);
    *count += (*gaits)[*count] != NULL;
  }
  return status;
}
