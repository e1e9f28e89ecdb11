/* The inner loops of Lobatto IIIA-IIIB in the embedding.
 *
 *   D_i = h c_i p0/m + (h^2/m) sum_{k<s} W_ik G_k,  G_k = F_k - Lambda_k X_k,  <x0 + D_i, x0 + D_i> = 1/K,  i = 2..s
 *
 * The constraint is solved for Lambda by its Newton step with the matrix taken at X_k = X_i: -2 (h^2/m) W <X_i,X_k>
 * becomes -2 (h^2/m) W / K, a constant, and what is neglected is O(h^2) of the correction, as in the force iteration
 * around it. The residual is formed from D, so that it has the accuracy of D and not of x0.
 *
 * Source: Jay, SIAM J. Numer. Anal. 33 (1996) 368, doi:10.1137/0733019 (the method); the iteration is this project's.
 */
#include "integrators/lobatto.h"

#include "core/threads.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

INLINE double inner(const double *form, int count, const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < count; a++) sum += form[a] * u[a] * v[a];
  return sum;
}

/* One factor of one particle; s, count and curved are constants where it is called, so that the loops unroll. */
INLINE double factor_sweep(cb_lobatto *l, int s, int count, bool curved, const double *form, double K, size_t at,
                           double residual0, double inv_mass, const double *x0, const double *p0, double h,
                           double *size) {
  const double hhw = h * h * inv_mass;
  double G[CB_LOBATTO_MAX][CB_COORD_MAX], D[CB_LOBATTO_MAX][CB_COORD_MAX];

  for (int k = 0; k < s - 1; k++) {
    const double *F = l->F[k] + at, *X = l->X[k] + at, *old = l->G[k] + at;
    const double normal = curved ? K * (inner(form, count, old, X) - inner(form, count, F, X)) : 0;
    for (int a = 0; a < count; a++) G[k][a] = curved ? F[a] + normal * X[a] : F[a];
  }
  for (int i = 1; i < s; i++)
    for (int a = 0; a < count; a++) {
      double sum = 0;
      for (int k = 0; k < s - 1; k++) sum += l->W[i][k] * G[k][a];
      D[i][a] = h * l->c[i] * inv_mass * p0[a] + hhw * sum;
    }
  if (curved) {
    double r[CB_LOBATTO_MAX], y[CB_LOBATTO_MAX];
    for (int i = 1; i < s; i++) r[i] = residual0 + 2 * inner(form, count, x0, D[i]) + inner(form, count, D[i], D[i]);
    for (int k = 0; k < s - 1; k++) {
      double sum = 0;
      for (int i = 1; i < s; i++) sum += l->Winv[k][i - 1] * r[i];
      y[k] = 0.5 * K * sum; /* (h^2/m) times the change of Lambda_k */
    }
    for (int k = 0; k < s - 1; k++) {
      const double *X = l->X[k] + at;
      for (int a = 0; a < count; a++) G[k][a] -= y[k] / hhw * X[a];
      for (int i = 1; i < s; i++)
        for (int a = 0; a < count; a++) D[i][a] -= l->W[i][k] * y[k] * X[a];
    }
  }

  double change = 0, largest = 0, poison = 0; /* 0, or nan once a number is not finite */
  for (int k = 0; k < s - 1; k++)
    for (int a = 0; a < count; a++) l->G[k][at + a] = G[k][a];
  for (int i = 1; i < s; i++)
    for (int a = 0; a < count; a++) {
      const double delta = fabs(D[i][a] - l->D[i][at + a]), d = fabs(D[i][a]);
      change = delta > change ? delta : change;
      largest = d > largest ? d : largest;
      poison += 0 * delta;
      l->D[i][at + a] = D[i][a];
      l->X[i][at + a] = x0[a] + D[i][a];
    }
  *size = largest > *size ? largest : *size;
  return change + poison;
}

/* A range of particles of one factor of three coordinates, or of any factors. */
#define SWEEP_RANGE(s_, curved_)                                                                         \
  for (int a = begin; a < end; a++) {                                                                    \
    const size_t at = (size_t)a * 3;                                                                     \
    const double d = factor_sweep(l, (s_), 3, (curved_), g->form, K, at, (curved_) ? l->residual[a] : 0, \
                                  1 / l->mass[a], x0 + at, p0 + at, h, size);                            \
    change = d > change ? d : change;                                                                    \
    poison += 0 * d;                                                                                     \
  }

#define SWEEP_THREE(name, curved)                                                                                 \
  static double name(cb_lobatto *l, const cb_geometry *g, int begin, int end, const double *x0, const double *p0, \
                     double h, double *size) {                                                                    \
    const double K = g->factor[0].curvature;                                                                      \
    double change = 0, poison = 0;                                                                                \
    switch (l->s) {                                                                                               \
      case 2: SWEEP_RANGE(2, curved) break;                                                                       \
      case 3: SWEEP_RANGE(3, curved) break;                                                                       \
      case 4: SWEEP_RANGE(4, curved) break;                                                                       \
      default: SWEEP_RANGE(5, curved)                                                                             \
    }                                                                                                             \
    return change + poison;                                                                                       \
  }
SWEEP_THREE(sweep_flat3, false)
SWEEP_THREE(sweep_curved3, true)

static double sweep_product(cb_lobatto *l, const cb_geometry *g, int begin, int end, const double *x0, const double *p0,
                            double h, double *size) {
  double change = 0, poison = 0;
  for (int a = begin; a < end; a++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *factor = &g->factor[f];
      const size_t at = (size_t)a * l->k + factor->offset;
      const double d =
          factor_sweep(l, l->s, factor->count, factor->curvature != 0, g->form + factor->offset, factor->curvature, at,
                       l->residual[a * g->n_factors + f], 1 / l->mass[a], x0 + at, p0 + at, h, size);
      change = d > change ? d : change;
      poison += 0 * d;
    }
  return change + poison;
}

static double sweep_range(cb_lobatto *l, const cb_geometry *g, int begin, int end, const double *x0, const double *p0,
                          double h, double *size) {
  if (l->kernel) return l->kernel->sweep(l, begin, end, x0, p0, h, size);
  if (g->n_factors > 1 || l->k != 3) return sweep_product(l, g, begin, end, x0, p0, h, size);
  return (g->factor[0].curvature == 0 ? sweep_flat3 : sweep_curved3)(l, g, begin, end, x0, p0, h, size);
}

double cb_lobatto_sweep(cb_lobatto *l, const cb_geometry *g, const double *x0, const double *p0, double h,
                        double *size) {
  if (l->threads <= 1) return sweep_range(l, g, 0, l->n, x0, p0, h, size);
  double change = 0, largest = 0;
  bool finite = true;
#pragma omp parallel for num_threads(l->threads) schedule(static) reduction(max : change, largest) reduction(&& : finite)
  for (int part = 0; part < l->threads; part++) {
    double part_size = 0;
    const int begin = (int)((int64_t)l->n * part / l->threads), end = (int)((int64_t)l->n * (part + 1) / l->threads);
    const double d = sweep_range(l, g, begin, end, x0, p0, h, &part_size);
    finite = finite && isfinite(d);
    change = fmax(change, d);
    largest = fmax(largest, part_size);
  }
  *size = fmax(*size, largest);
  return finite ? change : NAN;
}

void cb_lobatto_velocity(cb_lobatto *l, const cb_geometry *g, const double *p0, double h, int i) {
  for (int a = 0; a < l->n; a++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *factor = &g->factor[f];
      const size_t at = (size_t)a * l->k + factor->offset;
      const double *X = l->X[i] + at;
      double *V = l->V + at;
      for (int e = 0; e < factor->count; e++) {
        double sum = 0;
        for (int k = 0; k < l->s; k++) sum += l->Ahat[i][k] * l->G[k][at + e];
        V[e] = (p0[at + e] + h * sum) / l->mass[a];
      }
      if (factor->curvature != 0) {
        const double normal = factor->curvature * inner(g->form + factor->offset, factor->count, X, V);
        for (int e = 0; e < factor->count; e++) V[e] -= normal * X[e];
      }
    }
}

void cb_lobatto_end(cb_lobatto *l, const cb_geometry *g, int begin, int end, const double *x1, const double *p0,
                    double h, double *p_low, double *dp) {
  const int s = l->s;
  if (l->kernel) {
    l->kernel->finish(l, begin, end, x1, p0, h, p_low, dp);
    return;
  }
  for (int a = begin; a < end; a++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *factor = &g->factor[f];
      const int count = factor->count;
      const double *form = g->form + factor->offset;
      const double K = factor->curvature;
      const size_t at = (size_t)a * l->k + factor->offset;
      double *G = l->G[s - 1] + at, p1[CB_COORD_MAX];
      const double *F = l->F[s - 1] + at, *X = x1 + at;
      /* any normal part does for the start: the projection below replaces it */
      const double normal = K != 0 ? K * (inner(form, count, G, X) - inner(form, count, F, X)) : 0;
      for (int e = 0; e < count; e++) {
        G[e] = F[e] + normal * X[e];
        double sum = 0, rest = 0;
        for (int k = 0; k < s; k++) {
          sum += l->b[k] * l->G[k][at + e];
          rest += l->b_low[k] * l->G[k][at + e];
        }
        p_low[at + e] += h * rest;
        dp[at + e] = h * sum;
        p1[e] = p0[at + e] + dp[at + e];
      }
      if (K == 0) continue;
      const double off = K * inner(form, count, X, p1);
      for (int e = 0; e < count; e++) {
        dp[at + e] -= off * X[e];
        G[e] -= off / (h * l->b[s - 1]) * X[e];
      }
    }
}
