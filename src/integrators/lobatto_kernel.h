/* The inner loops of Lobatto IIIA-IIIB for spaces of four coordinates, one vector per point: a curved factor (S3, H3),
 * or a curved and a flat factor (H2xE, S2xE). On flat coordinates `form` and `on` are 0; on the others `on` is 1.
 *
 * The files that include this file define KERNEL and compile it once per instruction set. The compiler must not fuse
 * multiplications and additions, so that all instruction sets give the same bits. The formulae are those of
 * lobatto_sweep.c, which serves all other spaces.
 */
#include "integrators/lobatto.h"
#include "numerics/dd.h"

#include <string.h>

typedef double vec __attribute__((vector_size(32)));
#define INLINE static inline __attribute__((always_inline))

INLINE void load(vec *v, const double *p) { memcpy(v, p, sizeof *v); }
INLINE void store(double *p, const vec *v) { memcpy(p, v, sizeof *v); }
INLINE double total(const vec *v) { return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]); }
INLINE double dot(const vec *formed, const vec *v) {
  const vec product = *formed * *v;
  return total(&product);
}
INLINE void keep_larger(vec *largest, const vec *v) {
  typedef long long mask __attribute__((vector_size(32)));
  const vec size = (vec)((mask)*v & (mask){INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX});
  const mask larger = size > *largest;
  *largest = (vec)(((mask)size & larger) | ((mask)*largest & ~larger));
}
INLINE double largest_of(const vec *v) {
  const double a = (*v)[0] > (*v)[1] ? (*v)[0] : (*v)[1], b = (*v)[2] > (*v)[3] ? (*v)[2] : (*v)[3];
  return a > b ? a : b;
}

INLINE double *residual_of(const cb_lobatto *l, int a) { return l->residual + a * l->n_factors + l->curved; }

/* Loads X_k of the curved factor (the caller has set X_0), and sets G_k to F_k plus the normal part of the last G_k. */
INLINE void load_stages(const cb_lobatto *l, const int s, const vec *form, const vec *on, size_t at, vec *X, vec *G) {
#pragma GCC unroll 5
  for (int k = 0; k < s - 1; k++) {
    vec F, old;
    if (k > 0) {
      load(&X[k], l->X[k] + at);
      X[k] *= *on;
    }
    load(&F, l->F[k] + at);
    load(&old, l->G[k] + at);
    const vec off = *form * (old - F);
    G[k] = F + l->K * dot(&off, &X[k]) * X[k];
  }
}

INLINE double sweep_stages(cb_lobatto *l, const int s, int begin, int end, const double *x0_, const double *p0_,
                           double h, double *size_) {
  vec form, on, change = {0}, size = {0}, poison = {0};
  load(&form, l->form);
  load(&on, l->on);
  for (int a = begin; a < end; a++) {
    const size_t at = 4 * (size_t)a;
    const double inv_mass = 1 / l->mass[a], hhw = h * h * inv_mass, per_hhw = 1 / hhw;
    vec x0, p0, X[CB_LOBATTO_MAX], G[CB_LOBATTO_MAX], D[CB_LOBATTO_MAX];
    double r[CB_LOBATTO_MAX], y[CB_LOBATTO_MAX];
    load(&x0, x0_ + at);
    load(&p0, p0_ + at);
    const vec formed0 = form * x0;
    X[0] = on * x0;
    load_stages(l, s, &form, &on, at, X, G);
#pragma GCC unroll 5
    for (int i = 1; i < s; i++) {
      vec sum = l->W[i][0] * G[0];
#pragma GCC unroll 5
      for (int k = 1; k < s - 1; k++) sum += l->W[i][k] * G[k];
      D[i] = h * l->c[i] * inv_mass * p0 + hhw * sum;
      const vec both = 2 * formed0 + form * D[i];
      r[i] = *residual_of(l, a) + dot(&both, &D[i]);
    }
#pragma GCC unroll 5
    for (int k = 0; k < s - 1; k++) {
      double sum = 0;
#pragma GCC unroll 5
      for (int i = 1; i < s; i++) sum += l->Winv[k][i - 1] * r[i];
      y[k] = 0.5 * l->K * sum; /* (h^2/m) times the change of Lambda_k */
    }
#pragma GCC unroll 5
    for (int k = 0; k < s - 1; k++) {
      const vec yX = y[k] * X[k];
      G[k] -= per_hhw * yX;
      store(l->G[k] + at, &G[k]);
#pragma GCC unroll 5
      for (int i = 1; i < s; i++) D[i] -= l->W[i][k] * yX;
    }
#pragma GCC unroll 5
    for (int i = 1; i < s; i++) {
      vec before;
      load(&before, l->D[i] + at);
      const vec delta = D[i] - before, now = x0 + D[i];
      keep_larger(&change, &delta);
      keep_larger(&size, &D[i]);
      poison += 0 * delta; /* 0, or nan if a number is not finite */
      store(l->D[i] + at, &D[i]);
      store(l->X[i] + at, &now);
    }
  }
  const double largest = largest_of(&size);
  *size_ = largest > *size_ ? largest : *size_;
  return largest_of(&change) + total(&poison);
}

static double sweep(cb_lobatto *l, int begin, int end, const double *x0, const double *p0, double h, double *size) {
  switch (l->s) {
    case 2: return sweep_stages(l, 2, begin, end, x0, p0, h, size);
    case 3: return sweep_stages(l, 3, begin, end, x0, p0, h, size);
    case 4: return sweep_stages(l, 4, begin, end, x0, p0, h, size);
    default: return sweep_stages(l, 5, begin, end, x0, p0, h, size);
  }
}

static void residuals(cb_lobatto *l, int begin, int end, const double *x, const double *x_low) {
  for (int a = begin; a < end; a++)
    *residual_of(l, a) = cb_compensated_norm(4, l->form, x + 4 * (size_t)a, x_low + 4 * (size_t)a, 1 / l->K);
}

INLINE void predict_stages(cb_lobatto *l, const int s, int begin, int end, const double *x0_, const double *p0_,
                           double h) {
  for (int a = begin; a < end; a++) {
    const size_t at = 4 * (size_t)a;
    const double step = h / l->mass[a];
    vec x0, p0, last[CB_LOBATTO_MAX], G[CB_LOBATTO_MAX];
    load(&x0, x0_ + at);
    load(&p0, p0_ + at);
#pragma GCC unroll 5
    for (int j = 0; j < s; j++) load(&last[j], l->G[j] + at);
#pragma GCC unroll 5
    for (int i = 0; i < s; i++) {
      G[i] = l->E[i][0] * last[0];
#pragma GCC unroll 5
      for (int j = 1; j < s; j++) G[i] += l->E[i][j] * last[j];
      store(l->G[i] + at, &G[i]);
    }
    store(l->X[0] + at, &x0);
#pragma GCC unroll 5
    for (int i = 1; i < s; i++) {
      vec sum = l->W[i][0] * G[0];
#pragma GCC unroll 5
      for (int j = 1; j < s - 1; j++) sum += l->W[i][j] * G[j];
      const vec D = step * (l->c[i] * p0 + h * sum), X = x0 + D;
      store(l->D[i] + at, &D);
      store(l->X[i] + at, &X);
    }
  }
}

static void predict(cb_lobatto *l, int begin, int end, const double *x0, const double *p0, double h) {
  switch (l->s) {
    case 2: predict_stages(l, 2, begin, end, x0, p0, h); break;
    case 3: predict_stages(l, 3, begin, end, x0, p0, h); break;
    case 4: predict_stages(l, 4, begin, end, x0, p0, h); break;
    default: predict_stages(l, 5, begin, end, x0, p0, h);
  }
}

static void finish(cb_lobatto *l, int begin, int end, const double *x1_, const double *p0_, double h, double *p_low,
                   double *dp) {
  const int s = l->s;
  vec form, on;
  load(&form, l->form);
  load(&on, l->on);
  for (int a = begin; a < end; a++) {
    const size_t at = 4 * (size_t)a;
    vec x1, p0, F, G, low, sum = {0}, rest = {0};
    load(&x1, x1_ + at);
    x1 *= on;
    load(&low, p_low + at);
    load(&p0, p0_ + at);
    load(&F, l->F[s - 1] + at);
    load(&G, l->G[s - 1] + at);
    /* any normal part is sufficient here, because the projection below replaces it */
    const vec formed = form * x1, off = G - F;
    G = F + l->K * dot(&formed, &off) * x1;
    for (int k = 0; k < s - 1; k++) {
      vec Gk;
      load(&Gk, l->G[k] + at);
      sum += l->b[k] * Gk;
      rest += l->b_low[k] * Gk;
    }
    low += h * (rest + l->b_low[s - 1] * G);
    vec change = h * (sum + l->b[s - 1] * G);
    const vec p1 = p0 + change;
    const double normal = l->K * dot(&formed, &p1);
    change -= normal * x1;
    G -= normal / (h * l->b[s - 1]) * x1;
    store(p_low + at, &low);
    store(dp + at, &change);
    store(l->G[s - 1] + at, &G);
  }
}

const cb_lobatto_kernel KERNEL = {residuals, sweep, predict, finish};
