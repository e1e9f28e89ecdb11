/* Small ellipses about the shapes where they do most for their cost: of the planes that are best for one direction at
 * shapes that fill the window, the cheapest, and from these to minima. */
#include "optimum/ellipse.h"

#include "numerics/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED = 64, PAIRS_MAX = CB_SHAPE_MAX * (CB_SHAPE_MAX - 1) / 2, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

void cb_shape_window(const cb_optimum_problem *o, int i, double wide, double *low, double *high) {
  const double period = o->bundle->period[i];
  *low = period > 0 ? -period / 2 : -M_PI / 2 * wide, *high = -*low;
  if (o->lower && isfinite(o->lower[i])) *low = o->lower[i];
  if (o->upper && isfinite(o->upper[i])) *high = o->upper[i];
}

/* --- what a target wants of small gaits --- */

static bool turns(const cb_group *G, int a) { return !strncmp(G->axis[a], "omega", 5); }

/* Numbers c + L y = 0 at the identity, as P y = |c| and Z y = 0: the rows of L mirrored so that c is along the
 * first. */
static bool numbers(const cb_group *G, const cb_gait_target *target, cb_small_target *t) {
  const int count = cb_gait_target_count(G, target);
  double one[CB_GROUP_SIZE], c[CB_CONDITIONS_MAX], L[CB_CONDITIONS_MAX * CB_GROUP_DIM], size = 0;
  G->identity(G, one);
  if (cb_gait_target_at(G, target, one, c, L, NULL)) return false;
  for (int k = 0; k < count; k++) size += c[k] * c[k];
  t->amount = size = sqrt(size);
  if (!(size > 0)) return false;
  const double way = c[0] > 0 ? 1 : -1; /* v = c/|c| +- the first axis: (1 - 2 v v'/v'v) takes c to -+ |c| there */
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
  t->wanted = 1, t->zeros = count - 1;
  return true;
}

/* False where small gaits do nothing of it. */
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

/* K = L^-1 <lambda, B> L^-T, [n][n], for L in the lower triangle of l. */
static void whitened(int n, int dim, const double *B, const double *lambda, const double *l, double *K) {
  memset(K, 0, (size_t)(n * n) * sizeof *K);
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, B += dim) {
      for (int a = 0; a < dim; a++) K[i * n + j] += lambda[a] * B[a];
      K[j * n + i] = -K[i * n + j];
    }
  for (int side = 0; side < 2; side++) /* L^-1 K, transposed, twice: K' = -K */
    for (int c = 0; c < n; c++)
      for (int i = 0; i < n; i++) {
        double *x = side ? &K[c * n + i] : &K[i * n + c];
        for (int k = 0; k < i; k++) *x -= l[i * n + k] * (side ? K[c * n + k] : K[k * n + c]);
        *x /= l[i * n + i];
      }
}

/* The plane u, w of the largest eigenvalue, K w = mu u, by powers of K'K = -K^2. */
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

/* x <- L^-T x */
static void unwhiten(int n, const double *l, double *x) {
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= l[k * n + i] * x[k];
    x[i] /= l[i * n + i];
  }
}

/* The plane of the largest eigenvalue for the direction lambda, round which y is along lambda, of a size for |P y| = 1;
 * false where the cost metric is not positive, or the curvature has nothing of P. */
static bool plane_at(const cb_optimum_problem *o, const cb_small_target *t, const double *r, const double *lambda,
                     cb_ellipse *e) {
  const cb_bundle *b = o->bundle;
  const int n = b->n, dim = b->group->dim;
  double M[SQUARE], l[SQUARE], K[SQUARE], B[PAIRS_MAX * CB_GROUP_DIM], y[CB_GROUP_DIM] = {0}, along = 0, beside = 0;
  if (cb_bundle_connection(b, r, NULL, NULL, M, NULL) || cb_bundle_curvatures(b, r, B)) return false;
  if (!cb_cholesky(n, M, 1e-14, l)) return false;
  memcpy(e->r, r, (size_t)n * sizeof *r);
  whitened(n, dim, B, lambda, l, K);
  if (!(leading_plane(n, K, e->p, e->q) > 0)) return false;
  unwhiten(n, l, e->p), unwhiten(n, l, e->q);
  const double *pair = B;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, pair += dim)
      for (int a = 0; a < dim; a++) y[a] -= pair[a] * (e->p[i] * e->q[j] - e->p[j] * e->q[i]);
  for (int k = 0; k < t->wanted + t->zeros; k++) {
    double value = 0;
    for (int a = 0; a < dim; a++) value += (k < t->wanted ? t->P[k] : t->Z[k - t->wanted])[a] * y[a];
    *(k < t->wanted ? &along : &beside) += value * value;
  }
  if (!(along > 0 && isfinite(along))) return false;
  for (int i = 0; i < n; i++) e->p[i] /= pow(along, .25), e->q[i] /= -pow(along, .25);
  e->price = 4 * M_PI / sqrt(along), e->unwanted = sqrt(beside / along);
  for (int a = 0; a < dim; a++) e->lambda[a] = e->price / 2 * lambda[a];
  return true;
}

/* Dearer by what it does beside: about what taking that back costs. */
static double dearness(const cb_ellipse *e) { return e->price * (1 + 3 * e->unwanted); }

static bool allowed(const cb_optimum_problem *o, const double *r) {
  for (int i = 0; i < o->bundle->n; i++)
    if ((o->lower && r[i] < o->lower[i]) || (o->upper && r[i] > o->upper[i])) return false;
  return true;
}

/* The best of the directions that are wanted. */
static bool best_at(const cb_optimum_problem *o, const cb_small_target *t, const double *r, cb_ellipse *best) {
  bool any = false;
  for (int k = 0; k < t->wanted; k++) {
    cb_ellipse e = {0};
    double lambda[CB_GROUP_DIM];
    for (int a = 0; a < o->bundle->group->dim; a++) lambda[a] = t->amount < 0 ? -t->P[k][a] : t->P[k][a];
    if (!plane_at(o, t, r, lambda, &e) || (any && dearness(&e) >= dearness(best))) continue;
    *best = e, any = true;
  }
  return any;
}

/* --- the shapes where they do most --- */

/* Radical inverses: points that fill a box evenly. */
static double spread(int k, int base) {
  double sum = 0, share = 1;
  for (k++; k > 0; k /= base) sum += (share /= base) * (k % base);
  return sum;
}

static int cheaper(const void *a, const void *b) {
  const double x = dearness(a), y = dearness(b);
  return (x > y) - (x < y);
}

/* The best planes at many shapes, the cheapest first. */
static int best_planes(const cb_optimum_problem *o, const cb_small_target *t, cb_ellipse *list) {
  static const int prime[CB_SHAPE_MAX] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  int count = 0;
  for (int k = -1; k < (o->base ? 0 : LOOKED); k++) {
    double r[CB_SHAPE_MAX];
    for (int i = 0; i < o->bundle->n; i++) {
      double low, high;
      cb_shape_window(o, i, 1, &low, &high);
      r[i] = o->base ? o->base[i] : k < 0 ? (low + high) / 2 : low + (high - low) * spread(k, prime[i]);
    }
    count += allowed(o, r) && best_at(o, t, r, &list[count]);
  }
  qsort(list, (size_t)count, sizeof *list, cheaper);
  return count;
}

/* About one shape, to an eighth of the window. */
static bool beside(const cb_optimum_problem *o, const cb_ellipse *a, const cb_ellipse *b) {
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
    for (int j = 0; j < tried; j++) again |= beside(o, &e, &from[j]);
    for (int j = 0; j < kept; j++) again |= beside(o, &e, &out[j]);
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
  if (!small_target(o, &t)) return cb_fail(CB_ERROR_ARGUMENT, "no ellipse has this target");
  const bool free_size = o->seek == CB_SEEK_EFFICIENCY;
  size = free_size ? INFINITY : sqrt(fabs(t.amount) / M_PI);
  for (int i = 0; i < n; i++) {
    double low, high;
    cb_shape_window(o, i, 1, &low, &high);
    size = fmin(size, (free_size ? .15 : .45) * (high - low) / hypot(e->p[i], e->q[i]));
  }
  for (int i = 0; i < n; i++) {
    const double wide = size * hypot(e->p[i], e->q[i]);
    cosine[i] = size * e->p[i], sine[i] = size * e->q[i];
    mean[i] = e->r[i];
    if (o->lower) mean[i] = fmax(mean[i], o->lower[i] + wide);
    if (o->upper) mean[i] = fmin(mean[i], o->upper[i] - wide);
    if (o->base) mean[i] = o->base[i] - cosine[i];
  }
  return cb_gait_fourier(n, 1, mean, cosine, sine, out);
}
