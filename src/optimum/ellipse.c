/* The starts of a search: small ellipses, waves and random loops. Ellipses are examined at many shapes in the window
 * (cb_shape_window): at each shape the plane of the cheapest ellipse is found for each direction of the displacement.
 * The cheapest of all these ellipses are moved to minima of their cost (find.h). */

#include "numerics/random.h"
#include "numerics/small.h"
#include "optimum/find.h"
#include <curvebody/holonomy.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED = 64, PAIRS_MAX = CB_SHAPE_MAX * (CB_SHAPE_MAX - 1) / 2, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

void cb_shape_window(const cb_optimum_problem *o, int i, double wide, double *low, double *high) {
  const double period = o->bundle->period[i];
  *low = period > 0 ? -period / 2 : -M_PI / 2 * wide;
  *high = -*low;
  if (o->lower && isfinite(o->lower[i])) *low = o->lower[i];
  if (o->upper && isfinite(o->upper[i])) *high = o->upper[i];
}

/* --- the target of small gaits --- */

static bool turns(const cb_group *G, int a) { return !strncmp(G->axis[a], "omega", 5); }

/* Writes the conditions c + L y = 0 at the identity, where L are the first derivatives of the target, as P y = |c| and
 * Z y = 0. For this, a reflection makes c parallel to the first axis; it is also applied to the rows of L. Returns
 * false if the identity meets the conditions, or if they cannot be evaluated at the identity. */
static bool numbers(const cb_group *G, const cb_gait_target *target, cb_small_target *t) {
  const int count = cb_gait_target_count(G, target);
  double one[CB_GROUP_SIZE], c[CB_CONDITIONS_MAX], L[CB_CONDITIONS_MAX * CB_GROUP_DIM], size = 0;
  G->identity(G, one);
  if (cb_gait_target_at(G, target, one, c, L, NULL)) return false;
  for (int k = 0; k < count; k++) size += c[k] * c[k];
  t->amount = size = sqrt(size);
  if (!(size > 0)) return false;
  const double way = c[0] > 0 ? 1 : -1; /* the reflection 1 - 2 v v'/v'v, v = c/|c| +- e_1, maps c to -+ |c| e_1 */
  for (int a = 0; a < G->dim; a++) {
    double along = 0;
    for (int k = 0; k < count; k++) along += (c[k] / size + (k == 0 ? way : 0)) * L[k * G->dim + a];
    for (int k = 0; k < count; k++) {
      const double v = c[k] / size + (k == 0 ? way : 0), x = L[k * G->dim + a] - v * along / (1 + fabs(c[0]) / size);
      if (k == 0)
        t->P[0][a] = way * x;
      else
        t->Z[k - 1][a] = x;
    }
  }
  t->wanted = 1;
  t->zeros = count - 1;
  return true;
}

/* Computes the target of small gaits. Returns false if small gaits cannot contribute to the target of the problem. */
static bool small_target(const cb_optimum_problem *o, cb_small_target *t) {
  const cb_group *G = o->bundle->group;
  *t = (cb_small_target){0};
  if (o->target.kind != CB_GAIT_MOVE && o->target.kind != CB_GAIT_TURN) return numbers(G, &o->target, t);
  const bool turn = o->target.kind == CB_GAIT_TURN;
  for (int a = 0; a < G->dim; a++) {
    if (turns(G, a) == turn || G->dim == 1)
      t->P[t->wanted++][a] = 1;
    else if (!turn)
      t->Z[t->zeros++][a] = 1;
  }
  t->amount = o->target.value;
  return t->wanted > 0;
}

/* --- an ellipse at a shape --- */

/* Computes K[n][n] = L^-1 <lambda, B> L^-T, where B is the curvature. L, in the lower triangle of l, is the Cholesky
 * factor of the cost metric. */
static void whitened(int n, int dim, const double *B, const double *lambda, const double *l, double *K) {
  memset(K, 0, (size_t)(n * n) * sizeof *K);
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, B += dim) {
      for (int a = 0; a < dim; a++) K[i * n + j] += lambda[a] * B[a];
      K[j * n + i] = -K[i * n + j];
    }
  for (int side = 0; side < 2; side++) /* side 0: L^-1 K, by columns; side 1: this result times L^-T, by rows */
    for (int c = 0; c < n; c++)
      for (int i = 0; i < n; i++) {
        double *x = side ? &K[c * n + i] : &K[i * n + c];
        for (int k = 0; k < i; k++) *x -= l[i * n + k] * (side ? K[c * n + k] : K[k * n + c]);
        *x /= l[i * n + i];
      }
}

/* Finds the plane of the largest eigenvalue mu of the antisymmetric matrix K: unit vectors u and w with K w = mu u and
 * K u = -mu w. Uses powers of K'K = -K^2. Returns mu, or 0 if K u = 0. */
static double leading_plane(int n, const double *K, double *u, double *w) {
  enum { POWERS = 60 };
  double mu = 0;
  for (int i = 0; i < n; i++) u[i] = 1 + .37 * i - .11 * i * i;
  for (int step = 0; step < POWERS; step++) {
    double size = 0, next = 0;
    for (int i = 0; i < n; i++) size += u[i] * u[i];
    for (int i = 0; i < n; i++) u[i] /= sqrt(size);
    for (int i = 0; i < n; i++) {
      w[i] = 0;
      for (int j = 0; j < n; j++) w[i] -= K[i * n + j] * u[j];
      next += w[i] * w[i];
    }
    next = sqrt(next);
    if (!(next > 0)) return 0;
    for (int i = 0; i < n; i++) w[i] /= next;
    for (int i = 0; i < n; i++) {
      u[i] = 0;
      for (int j = 0; j < n; j++) u[i] += K[i * n + j] * w[j];
    }
    if (fabs(next - mu) <= 1e-14 * next) step = POWERS;
    mu = next;
  }
  double size = 0;
  for (int i = 0; i < n; i++) size += u[i] * u[i];
  for (int i = 0; i < n; i++) u[i] /= sqrt(size);
  return mu;
}

/* Replaces x by L^-T x for the Cholesky factor L in l. */
static void unwhiten(int n, const double *l, double *x) {
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= l[k * n + i] * x[k];
    x[i] /= l[i * n + i];
  }
}

/* Finds the plane of the largest eigenvalue for the direction lambda (find.h), and the ellipse in it. The displacement
 * y of the ellipse is along lambda, which determines the direction of the motion, and |P y| = 1, which determines the
 * size. Returns false if the cost metric is not positive definite, or if the curvature has no part along P. */
static bool plane_at(const cb_optimum_problem *o, const cb_small_target *t, const double *r, const double *lambda,
                     cb_ellipse *e) {
  const cb_bundle *b = o->bundle;
  const int n = b->n, dim = b->group->dim;
  double M[SQUARE], l[SQUARE], K[SQUARE], B[PAIRS_MAX * CB_GROUP_DIM], y[CB_GROUP_DIM] = {0}, along = 0, aside = 0;
  if (cb_bundle_connection(b, r, NULL, NULL, M, NULL) || cb_bundle_curvatures(b, r, B)) return false;
  if (!cb_cholesky(n, M, 1e-14, l)) return false;
  memcpy(e->r, r, (size_t)n * sizeof *r);
  whitened(n, dim, B, lambda, l, K);
  if (!(leading_plane(n, K, e->p, e->q) > 0)) return false;
  unwhiten(n, l, e->p);
  unwhiten(n, l, e->q);
  const double *pair = B;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, pair += dim)
      for (int a = 0; a < dim; a++) y[a] -= pair[a] * (e->p[i] * e->q[j] - e->p[j] * e->q[i]);
  for (int k = 0; k < t->wanted + t->zeros; k++) {
    double value = 0;
    for (int a = 0; a < dim; a++) value += (k < t->wanted ? t->P[k] : t->Z[k - t->wanted])[a] * y[a];
    *(k < t->wanted ? &along : &aside) += value * value;
  }
  if (!(along > 0 && isfinite(along))) return false;
  for (int i = 0; i < n; i++) {
    e->p[i] /= pow(along, .25);
    e->q[i] /= -pow(along, .25);
  }
  e->price = 4 * M_PI / sqrt(along);
  e->unwanted = sqrt(aside / along);
  for (int a = 0; a < dim; a++) e->lambda[a] = e->price / 2 * lambda[a];
  return true;
}

/* Returns the price, increased by an estimate of the cost to compensate the unwanted displacement. */
static double dearness(const cb_ellipse *e) { return e->price * (1 + 3 * e->unwanted); }

static bool allowed(const cb_optimum_problem *o, const double *r) {
  for (int i = 0; i < o->bundle->n; i++)
    if ((o->lower && r[i] < o->lower[i]) || (o->upper && r[i] > o->upper[i])) return false;
  return true;
}

/* Finds the best plane at a shape over the directions that the target prescribes. Returns false if there is none. */
static bool best_at(const cb_optimum_problem *o, const cb_small_target *t, const double *r, cb_ellipse *best) {
  bool any = false;
  for (int k = 0; k < t->wanted; k++) {
    cb_ellipse e = {0};
    double lambda[CB_GROUP_DIM];
    for (int a = 0; a < o->bundle->group->dim; a++) lambda[a] = t->amount < 0 ? -t->P[k][a] : t->P[k][a];
    if (!plane_at(o, t, r, lambda, &e) || (any && dearness(&e) >= dearness(best))) continue;
    *best = e;
    any = true;
  }
  return any;
}

/* --- the best shapes for ellipses --- */

/* Returns the radical inverse of k + 1 in this base, a number in [0, 1). With a different prime base for each
 * coordinate, these numbers are points that fill a box evenly. */
static double spread(int k, int base) {
  double sum = 0, share = 1;
  for (k++; k > 0; k /= base) sum += (share /= base) * (k % base);
  return sum;
}

static int cheaper(const void *a, const void *b) {
  const double x = dearness(a), y = dearness(b);
  return (x > y) - (x < y);
}

/* Lists the best planes at many shapes (or only at the start shape if there is one), the cheapest first. Returns the
 * number of these planes. */
static int best_planes(const cb_optimum_problem *o, const cb_small_target *t, cb_ellipse *list) {
  static const int prime[CB_SHAPE_MAX] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  int count = 0;
  for (int k = -1; k < (o->start_shape ? 0 : LOOKED); k++) {
    double r[CB_SHAPE_MAX];
    for (int i = 0; i < o->bundle->n; i++) {
      double low, high;
      cb_shape_window(o, i, 1, &low, &high);
      r[i] = o->start_shape ? o->start_shape[i] : k < 0 ? (low + high) / 2 : low + (high - low) * spread(k, prime[i]);
    }
    count += allowed(o, r) && best_at(o, t, r, &list[count]);
  }
  qsort(list, (size_t)count, sizeof *list, cheaper);
  return count;
}

/* Returns whether the centres of two ellipses differ by less than an eighth of the window in every variable. */
static bool are_near(const cb_optimum_problem *o, const cb_ellipse *a, const cb_ellipse *b) {
  bool near = true;
  for (int i = 0; i < o->bundle->n; i++) {
    double low, high;
    cb_shape_window(o, i, 1, &low, &high);
    near &= fabs(a->r[i] - b->r[i]) < (high - low) / 8;
  }
  return near;
}

int cb_ellipses_find(const cb_optimum_problem *o, cb_ellipse *out) {
  cb_small_target t;
  cb_ellipse list[LOOKED + 1], from[CB_ELLIPSES_MAX];
  cb_ellipse_work *w = NULL;
  if (o->bundle->n < 2 || !small_target(o, &t)) return 0;
  const int count = best_planes(o, &t, list);
  int kept = 0, tried = 0;
  if (count == 0 || cb_ellipse_work_create(o, &t, &w)) return 0;
  for (int k = 0; k < count && tried < CB_ELLIPSES_MAX; k++) {
    cb_ellipse e = list[k];
    bool again = false;
    for (int j = 0; j < tried; j++) again |= are_near(o, &e, &from[j]);
    for (int j = 0; j < kept; j++) again |= are_near(o, &e, &out[j]);
    if (again) continue;
    from[tried++] = e;
    again = cb_ellipse_solve(w, &e) != CB_OK;
    for (int j = 0; j < kept; j++) again |= fabs(e.price - out[j].price) < 1e-7 * e.price;
    if (!again) out[kept++] = e;
  }
  cb_ellipse_work_free(w);
  if (kept == 0) memcpy(out, from, (size_t)(kept = tried) * sizeof *out);
  qsort(out, (size_t)kept, sizeof *out, cheaper);
  return kept;
}

cb_status cb_ellipse_gait(const cb_optimum_problem *o, const cb_ellipse *e, cb_gait **out) {
  const int n = o->bundle->n;
  double mean[CB_SHAPE_MAX], cosine[CB_SHAPE_MAX], sine[CB_SHAPE_MAX], size;
  cb_small_target t;
  if (!small_target(o, &t))
    return cb_fail(CB_ERROR_ARGUMENT, "no ellipse has this target: give a `gait` to start from");
  const bool free_size = o->objective == CB_OBJECTIVE_EFFICIENCY;
  size = free_size ? INFINITY : sqrt(fabs(t.amount) / M_PI);
  for (int i = 0; i < n; i++) {
    double low, high;
    cb_shape_window(o, i, 1, &low, &high);
    size = fmin(size, (free_size ? .15 : .45) * (high - low) / hypot(e->p[i], e->q[i]));
  }
  for (int i = 0; i < n; i++) {
    const double wide = size * hypot(e->p[i], e->q[i]);
    cosine[i] = size * e->p[i];
    sine[i] = size * e->q[i];
    mean[i] = e->r[i];
    if (o->lower) mean[i] = fmax(mean[i], o->lower[i] + wide);
    if (o->upper) mean[i] = fmin(mean[i], o->upper[i] - wide);
    if (o->start_shape) mean[i] = o->start_shape[i] - cosine[i];
  }
  return cb_gait_fourier(n, 1, mean, cosine, sine, out);
}

/* --- starts of a search (find.h) --- */

enum { HARMONICS = 2, ROW = 2 * HARMONICS, LAGS = 3, WIDTHS = 2, WAVES = LAGS * WIDTHS };

/* Returns whether the search also finds the size of the gait, as for the most efficient gait. The starts then keep
 * their size. */
static bool free_size(const cb_optimum_problem *p) { return p->objective == CB_OBJECTIVE_EFFICIENCY; }

/* Creates the gait with this mean and with Fourier coefficients that are s times the rows, in the order cosine 1,
 * cosine 2, sine 1, sine 2. If there is a start shape, the gait passes through the start shape instead of having this
 * mean. */
static cb_status loop(const cb_optimum_problem *p, const double *mean, const double *rows, double s, cb_gait **out) {
  const int n = p->bundle->n;
  double m[CB_SHAPE_MAX], x[ROW * CB_SHAPE_MAX];
  for (int k = 0; k < ROW * n; k++) x[k] = s * rows[k];
  for (int i = 0; i < n; i++) {
    m[i] = p->start_shape ? p->start_shape[i] : mean[i];
    for (int k = 0; p->start_shape && k < HARMONICS; k++) m[i] -= x[k * n + i];
  }
  return cb_gait_fourier(n, HARMONICS, m, x, x + HARMONICS * n, out);
}

/* Returns the size |log g| of the holonomy g of a gait; nan if the gait leaves the domain of the bundle, or if log g
 * does not exist. *back becomes true if the reversed gait is nearer to the target. */
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

/* Returns the size of the target, for comparison with the result of `reach`; 1 if it is unknown. */
static double wanted(const cb_optimum_problem *p) {
  const cb_group *G = p->bundle->group;
  const double amount = cb_gait_target_get(G, &p->target);
  double y[CB_GROUP_DIM], sum = 0;
  if (isfinite(amount)) return fabs(amount);
  if (p->target.kind != CB_GAIT_ELEMENT || G->log(G, p->target.element, y)) return 1;
  for (int a = 0; a < G->dim; a++) sum += y[a] * y[a];
  return sqrt(sum);
}

/* Creates the k-th random gait. *out is NULL if each of several tries leaves the domain of the bundle. */
static cb_status random_start(const cb_optimum_problem *p, int k, cb_gait **out) {
  enum {
    TRIES = 40,
    WIDENED = 5
  }; /* the window of a variable without bound or period doubles after every WIDENED tries, since the domain may be far
      * away */
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
      if (pass == 2 && isfinite(far)) {
        *out = gait;
        return CB_OK;
      }
      cb_gait_free(gait);
      for (int h = HARMONICS * n; back && h < ROW * n; h++) rows[h] = -rows[h];
      if (isfinite(far) && free_size(p)) continue;
      s *= isfinite(far) && far > 0 ? fmin(2, fmax(.2, sqrt(wanted(p) / far))) : .3;
    }
  }
  return CB_OK;
}

/* Creates the k-th wave: a large loop in which each variable lags the previous one by an eighth, a quarter or three
 * eighths of a cycle. Its amplitude is .45 or .9 of the window. If a loop leaves the domain of the bundle, its
 * amplitude is halved. If the reversed loop is nearer to the target, it is used instead. *out is NULL if 6 tries give
 * no loop within the domain. */
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
    rows[i] = wide * cos(i * lag);
    rows[HARMONICS * n + i] = wide * sin(i * lag);
  }
  for (int tries = 0; tries < TRIES; tries++, s /= 2) {
    const cb_status status = loop(p, mean, rows, s, out);
    if (status) return status;
    const bool before = back;
    if (isfinite(reach(p, *out, &back)) && (before || !back)) return CB_OK;
    cb_gait_free(*out);
    *out = NULL;
    if (!before && back) {
      for (int i = 0; i < n; i++) rows[HARMONICS * n + i] *= -1;
      s *= 2; /* the next loop has the same size, and runs in the other direction */
    }
  }
  return CB_OK;
}

/* Creates the start for a motion from rest to rest. The path is the straight line r_0 + (r_1 - r_0) (10 t^3 - 15 t^4 +
 * 6 t^5). The gait contains the path without the drift (r_1 - r_0) t, which is added elsewhere (variation.h). */
static cb_status straight(const cb_optimum_problem *p, cb_gait **out) {
  enum { DEGREE = 5 };
  const int n = p->bundle->n;
  double value[(DEGREE + 1) * CB_SHAPE_MAX];
  for (int k = 0; k <= DEGREE; k++)
    for (int i = 0; i < n; i++) {
      const double t = (1 - cos(M_PI * k / DEGREE)) / 2, way = p->end_shape ? p->end_shape[i] - p->start_shape[i] : 0;
      value[k * n + i] = p->start_shape[i] + way * (t * t * t * (10 - 15 * t + 6 * t * t) - t);
    }
  return cb_gait_arcs(n, 1, (const double[2]){0, 1}, DEGREE, value, out);
}

cb_status cb_start_gaits(const cb_optimum_problem *p, int *count, cb_gait ***gaits) {
  *count = 0;
  const bool targeted = cb_gait_target_count(p->bundle->group, &p->target) > 0,
             effort = cb_objective_is_effort(p->objective);
  cb_ellipse ellipse[CB_ELLIPSES_MAX];
  *gaits = calloc((size_t)p->starts + 2 + CB_ELLIPSES_MAX + WAVES, sizeof **gaits);
  if (!*gaits) return cb_fail(CB_ERROR_MEMORY, "no memory for %d starts", p->starts);
  cb_status status = p->start ? cb_gait_shifted(p->start, 0, &(*gaits)[(*count)++]) : CB_OK;
  if (!status && effort && p->start_shape && !p->start) status = straight(p, &(*gaits)[(*count)++]);
  const int ellipses = !targeted || (p->start && p->starts == 0) ? 0 : cb_ellipses_find(p, ellipse);
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
