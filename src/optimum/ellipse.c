/* Small ellipses about the shapes where they do most for their cost. */
#include "optimum/ellipse.h"

#include "core/failure.h"
#include "numerics/small.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <string.h>

enum { PAIRS_MAX = CB_SHAPE_MAX * (CB_SHAPE_MAX - 1) / 2, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

void cb_shape_window(const cb_optimum_problem *o, int i, double wide, double *low, double *high) {
  const double period = o->bundle->period[i];
  *low = period > 0 ? -period / 2 : -M_PI / 2 * wide, *high = -*low;
  if (o->lower && isfinite(o->lower[i])) *low = o->lower[i];
  if (o->upper && isfinite(o->upper[i])) *high = o->upper[i];
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

static bool turns(const cb_group *G, int a) { return !strncmp(G->axis[a], "omega", 5); }

/* What a target of this kind wants of an axis: 1 all of it, -1 none, 0 whatever. */
static int wish(const cb_optimum_problem *o, int a) {
  const cb_group *G = o->bundle->group;
  switch (o->target.kind) {
    case CB_GAIT_MOVE: return turns(G, a) ? -1 : 1;
    case CB_GAIT_TURN: return turns(G, a) || G->dim == 1 ? 1 : 0;
    default: return 0;
  }
}

cb_status cb_ellipse_at(const cb_optimum_problem *o, const double *r, const double *lambda, cb_ellipse *e) {
  const cb_bundle *b = o->bundle;
  const int n = b->n, dim = b->group->dim;
  double M[SQUARE], l[SQUARE], K[SQUARE], B[PAIRS_MAX * CB_GROUP_DIM];
  cb_status status = cb_bundle_connection(b, r, NULL, NULL, M, NULL);
  if (!status) status = cb_bundle_curvatures(b, r, B);
  if (status) return status;
  if (!cb_cholesky(n, M, 1e-14, l)) return cb_fail(CB_STEP_SINGULAR, "a cost metric that is not positive");
  memcpy(e->r, r, (size_t)n * sizeof *r);
  whitened(n, dim, B, lambda, l, K);
  e->mu = leading_plane(n, K, e->p, e->q);
  unwhiten(n, l, e->p), unwhiten(n, l, e->q);
  memset(e->B, 0, sizeof e->B);
  const double *at = B;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, at += dim)
      for (int a = 0; a < dim; a++) e->B[a] += at[a] * (e->p[i] * e->q[j] - e->p[j] * e->q[i]);
  double along = 0, size = 0, beside = 0;
  for (int a = 0; a < dim; a++) along += lambda[a] * e->B[a], size += lambda[a] * lambda[a];
  for (int a = 0; a < dim; a++) {
    const double off = o->target.kind == CB_GAIT_ELEMENT ? e->B[a] - along * lambda[a] / size : e->B[a];
    if (o->target.kind == CB_GAIT_ELEMENT || wish(o, a) < 0) beside += off * off;
  }
  e->mu = fabs(along), e->unwanted = sqrt(beside);
  return CB_OK;
}

/* --- the shapes where they do most --- */

/* A direction of the algebra that the target has: an axis, or the way of its element or parts. Returns false beyond. */
static bool direction(const cb_optimum_problem *o, int k, double *lambda) {
  const cb_group *G = o->bundle->group;
  double size = 0;
  memset(lambda, 0, (size_t)G->dim * sizeof *lambda);
  if (o->target.kind == CB_GAIT_MOVE || o->target.kind == CB_GAIT_TURN) {
    for (int a = 0; a < G->dim; a++)
      if (wish(o, a) > 0 && k-- == 0) return lambda[a] = 1, true;
    return false;
  }
  if (k > 0) return false;
  if (o->target.kind == CB_GAIT_ELEMENT) {
    if (G->log(G, o->target.element, lambda)) return false;
  } else {
    double one[CB_GROUP_SIZE], c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM];
    G->identity(G, one);
    if (cb_gait_target_at(G, &o->target, one, c, first, NULL)) return false;
    for (int row = 0; row < cb_gait_target_count(G, &o->target); row++)
      for (int a = 0; a < G->dim; a++) lambda[a] -= c[row] * first[row * G->dim + a];
  }
  for (int a = 0; a < G->dim; a++) size += lambda[a] * lambda[a];
  for (int a = 0; a < G->dim && size > 0; a++) lambda[a] /= sqrt(size);
  return size > 0;
}

/* The best of its directions, turned to what the plane does best where the target leaves it open. */
static bool best_at(const cb_optimum_problem *o, const double *r, cb_ellipse *best) {
  const cb_group *G = o->bundle->group;
  double lambda[CB_GROUP_DIM];
  bool any = false;
  for (int i = 0; i < o->bundle->n; i++)
    if ((o->lower && r[i] < o->lower[i]) || (o->upper && r[i] > o->upper[i])) return false;
  for (int k = 0; direction(o, k, lambda); k++)
    for (int pass = 0; pass < 4; pass++) {
      cb_ellipse e;
      if (cb_ellipse_at(o, r, lambda, &e) || !isfinite(e.mu)) break;
      if (!any || e.mu - e.unwanted > best->mu - best->unwanted) *best = e, any = true;
      double size = 0;
      for (int a = 0; a < G->dim; a++) size += wish(o, a) > 0 ? e.B[a] * e.B[a] : 0;
      if (!(size > 0)) break;
      for (int a = 0; a < G->dim; a++) lambda[a] = wish(o, a) > 0 ? e.B[a] / sqrt(size) : 0;
    }
  return any;
}

static double price(const cb_ellipse *e) { return 4 * M_PI * (1 + 3 * e->unwanted / e->mu) / e->mu; }

static double price_at(const gsl_vector *x, void *context) {
  const cb_optimum_problem *o = context;
  cb_ellipse e;
  return best_at(o, x->data, &e) && e.mu > 0 ? price(&e) : 1e300;
}

/* The minimum beside e; of the simplex of Nelder & Mead. */
static void descend(const cb_optimum_problem *o, cb_ellipse *e) {
  enum { STEPS = 120 };
  const size_t n = (size_t)o->bundle->n;
  gsl_multimin_function f = {price_at, n, (void *)o};
  gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
  gsl_vector *size = gsl_vector_alloc(n);
  gsl_vector_view x = gsl_vector_view_array(e->r, n);
  if (m && size) {
    gsl_vector_set_all(size, .2);
    int going = gsl_multimin_fminimizer_set(m, &f, &x.vector, size);
    for (int k = 0; !going && k < STEPS && gsl_multimin_fminimizer_size(m) > 1e-6; k++)
      going = gsl_multimin_fminimizer_iterate(m);
    double r[CB_SHAPE_MAX];
    memcpy(r, m->x->data, n * sizeof *r);
    best_at(o, r, e);
  }
  if (m) gsl_multimin_fminimizer_free(m);
  if (size) gsl_vector_free(size);
}

/* Radical inverses: points that fill a box evenly. */
static double spread(int k, int base) {
  double sum = 0, share = 1;
  for (k++; k > 0; k /= base) sum += (share /= base) * (k % base);
  return sum;
}

int cb_ellipses_find(const cb_optimum_problem *o, cb_ellipse *out) {
  enum { LOOKED = 64 };
  static const int prime[CB_SHAPE_MAX] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  const int n = o->bundle->n;
  int count = 0, kept = 0;
  for (int k = -1; k < LOOKED; k++) {
    double r[CB_SHAPE_MAX];
    cb_ellipse e;
    for (int i = 0; i < n; i++) {
      double low, high;
      cb_shape_window(o, i, 1, &low, &high);
      r[i] = o->base ? o->base[i] : k < 0 ? (low + high) / 2 : low + (high - low) * spread(k, prime[i]);
    }
    if ((k >= 0 && o->base) || !best_at(o, r, &e) || !(e.mu > 0)) continue;
    if (count == CB_ELLIPSES_MAX && price(&e) >= price(&out[count - 1])) continue;
    int at = count < CB_ELLIPSES_MAX ? count++ : count - 1;
    for (; at > 0 && price(&e) < price(&out[at - 1]); at--) out[at] = out[at - 1];
    out[at] = e;
  }
  for (int k = 0; k < count; k++) {
    cb_ellipse e = out[k];
    bool again = false;
    if (!o->base) descend(o, &e);
    for (int j = 0; j < kept; j++) again |= fabs(price(&e) - price(&out[j])) < 1e-3 * price(&e);
    if (!again) out[kept++] = e;
  }
  return kept;
}

cb_status cb_ellipse_gait(const cb_optimum_problem *o, const cb_ellipse *e, cb_gait **out) {
  const cb_group *G = o->bundle->group;
  const int n = o->bundle->n;
  double y[CB_GROUP_DIM], wanted = cb_gait_target_get(G, &o->target), size = INFINITY;
  double mean[CB_SHAPE_MAX], cosine[CB_SHAPE_MAX], sine[CB_SHAPE_MAX];
  if (!isfinite(wanted) && !G->log(G, o->target.element, y)) {
    wanted = 0;
    for (int a = 0; a < G->dim; a++) wanted += y[a] * y[a];
    wanted = sqrt(wanted);
  }
  for (int i = 0; i < n; i++) {
    double low, high;
    cb_shape_window(o, i, 1, &low, &high);
    size = fmin(size, .45 * (high - low) / fmax(fabs(e->p[i]), fabs(e->q[i])));
  }
  size = fmin(size, sqrt(fabs(wanted) / (M_PI * e->mu)));
  for (int i = 0; i < n; i++) {
    cosine[i] = size * e->p[i], sine[i] = size * e->q[i];
    mean[i] = e->r[i] - (o->base ? cosine[i] : 0);
  }
  return cb_gait_fourier(n, 1, mean, cosine, sine, out);
}
