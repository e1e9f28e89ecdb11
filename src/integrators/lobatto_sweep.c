/* The inner loops of Lobatto IIIA-IIIB in the embedding, and the tables of coefficients.
 *
 *   D_i = h c_i p0/m + (h^2/m) sum_{k<s} W_ik G_k,  G_k = F_k - Lambda_k X_k,  <x0 + D_i, x0 + D_i> = 1/K,  i = 2..s
 *
 * with the symbols of lobatto_embedding.c. A Newton step with the matrix at X_k = X_i solves the constraint for
 * Lambda: -2 (h^2/m) W <X_i,X_k> becomes -2 (h^2/m) W / K, a constant. The neglected part is O(h^2) of the correction,
 * as is the error of the fixed-point iteration of the forces, of which this step is a part. The residual is formed from
 * D, so that it has the accuracy of D and not of x0.
 *
 * Source: Jay, SIAM J. Numer. Anal. 33 (1996) 368, doi:10.1137/0733019 (the integrator); the iteration is this
 * project's.
 */
#include "integrators/lobatto.h"
#include "core/threads.h"
#include "numerics/tableau.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

INLINE double inner(const double *form, int count, const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < count; a++) sum += form[a] * u[a] * v[a];
  return sum;
}

/* The data of a sweep over particles: the start and the length of the step. */
typedef struct sweep {
  cb_lobatto *l;
  const cb_space *g;
  const double *x0, *p0;
  double h;
} sweep;

/* Makes the sweep for factor f of a particle. s, count and curved are constants in most calls, so that the loops
 * unroll. Returns the largest change of a D; *size becomes the largest D if that is larger. */
INLINE double factor_sweep(const sweep *w, int s, int count, bool curved, int particle, int f, double *size) {
  cb_lobatto *l = w->l;
  const cb_factor *factor = &w->g->factor[f];
  const size_t at = (size_t)particle * l->k + factor->offset;
  const double *form = w->g->form + factor->offset, *x0 = w->x0 + at, *p0 = w->p0 + at;
  const double K = factor->curvature, h = w->h, inv_mass = 1 / l->mass[particle];
  const double residual0 = curved ? l->residual[particle * w->g->n_factors + f] : 0;
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

  double change = 0, largest = 0, poison = 0; /* poison is 0, or nan if a number is not finite */
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

/* Makes the sweep for the particles begin .. end - 1, in a space that is one factor of three coordinates. */
INLINE double sweep_three(const sweep *w, int s, bool curved, int begin, int end, double *size) {
  double change = 0, poison = 0;
  for (int a = begin; a < end; a++) {
    const double d = factor_sweep(w, s, 3, curved, a, 0, size);
    change = d > change ? d : change;
    poison += 0 * d;
  }
  return change + poison;
}

INLINE double sweep_by_stages(const sweep *w, bool curved, int begin, int end, double *size) {
  switch (w->l->s) {
    case 2: return sweep_three(w, 2, curved, begin, end, size);
    case 3: return sweep_three(w, 3, curved, begin, end, size);
    case 4: return sweep_three(w, 4, curved, begin, end, size);
    default: return sweep_three(w, 5, curved, begin, end, size);
  }
}

static double sweep_flat3(const sweep *w, int begin, int end, double *size) {
  return sweep_by_stages(w, false, begin, end, size);
}

static double sweep_curved3(const sweep *w, int begin, int end, double *size) {
  return sweep_by_stages(w, true, begin, end, size);
}

static double sweep_product(const sweep *w, int begin, int end, double *size) {
  double change = 0, poison = 0;
  for (int a = begin; a < end; a++)
    for (int f = 0; f < w->g->n_factors; f++) {
      const cb_factor *factor = &w->g->factor[f];
      const double d = factor_sweep(w, w->l->s, factor->count, factor->curvature != 0, a, f, size);
      change = d > change ? d : change;
      poison += 0 * d;
    }
  return change + poison;
}

static double sweep_range(const sweep *w, int begin, int end, double *size) {
  if (w->l->kernel) return w->l->kernel->sweep(w->l, begin, end, w->x0, w->p0, w->h, size);
  if (w->g->n_factors > 1 || w->l->k != 3) return sweep_product(w, begin, end, size);
  return (w->g->factor[0].curvature == 0 ? sweep_flat3 : sweep_curved3)(w, begin, end, size);
}

double cb_lobatto_sweep(cb_lobatto *l, const cb_space *g, const double *x0, const double *p0, double h, double *size) {
  const sweep w = {l, g, x0, p0, h};
  if (l->threads <= 1) return sweep_range(&w, 0, l->n, size);
  double change = 0, largest = 0;
  bool finite = true;
#pragma omp parallel for num_threads(l->threads) schedule(static) reduction(max : change, largest) reduction(&& : finite)
  for (int part = 0; part < l->threads; part++) {
    double part_size = 0;
    const int begin = (int)((int64_t)l->n * part / l->threads), end = (int)((int64_t)l->n * (part + 1) / l->threads);
    const double d = sweep_range(&w, begin, end, &part_size);
    finite = finite && isfinite(d);
    change = fmax(change, d);
    largest = fmax(largest, part_size);
  }
  *size = fmax(*size, largest);
  return finite ? change : NAN;
}

void cb_lobatto_velocity(cb_lobatto *l, const cb_space *g, const double *p0, double h, int i) {
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

void cb_lobatto_end(cb_lobatto *l, int begin, int end, const double *x1, const double *p0, double h, double *p_low,
                    double *dp) {
  const cb_space *g = l->g;
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
      /* any normal part is sufficient here, because the projection below replaces it */
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

/* --- the tables of the equations without P: W = A A^, the inverse of its block, extrapolation from step to step --- */

/* Inverts the upper left m x m block of a by Gauss-Jordan elimination with pivoting. m is at most 4, and the blocks
 * are well conditioned. */
void cb_lobatto_invert(int m, long double a[CB_LOBATTO_MAX][CB_LOBATTO_MAX], double inverse[][CB_LOBATTO_MAX - 1]) {
  long double w[CB_LOBATTO_MAX][2 * CB_LOBATTO_MAX] = {{0}};
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) w[i][j] = a[i][j];
    w[i][m + i] = 1;
  }
  for (int i = 0; i < m; i++) {
    int pivot = i;
    for (int r = i + 1; r < m; r++)
      if (fabsl(w[r][i]) > fabsl(w[pivot][i])) pivot = r;
    for (int j = 0; j < 2 * m; j++) {
      const long double swap = w[i][j];
      w[i][j] = w[pivot][j];
      w[pivot][j] = swap;
    }
    for (int r = 0; r < m; r++) {
      if (r == i) continue;
      const long double factor = w[r][i] / w[i][i];
      for (int j = i; j < 2 * m; j++) w[r][j] -= factor * w[i][j];
    }
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) inverse[i][j] = (double)(w[i][m + j] / w[i][i]);
}

cb_status cb_lobatto_tables(cb_lobatto *l) {
  cb_tableau t;
  const cb_status status = cb_tableau_lobatto(l->s, &t);
  if (status) return status;
  const int s = l->s;
  long double block[CB_LOBATTO_MAX][CB_LOBATTO_MAX];
  for (int i = 0; i < s; i++) {
    l->c[i] = t.c[i];
    l->b[i] = t.b[i];
    l->b_low[i] = t.b_low[i];
    for (int j = 0; j < s; j++) {
      long double sum = 0;
      for (int k = 0; k < s; k++) sum += (long double)t.a[i][k] * t.a_hat[k][j];
      l->Ahat[i][j] = t.a_hat[i][j];
      l->W[i][j] = j < s - 1 && i > 0 ? (double)sum : 0;
      if (i > 0 && j < s - 1) block[i - 1][j] = sum;
      long double lagrange = 1;
      for (int k = 0; k < s; k++)
        if (k != j) lagrange *= (1 + (long double)t.c[i] - t.c[k]) / ((long double)t.c[j] - t.c[k]);
      l->E[i][j] = (double)lagrange;
    }
  }
  cb_lobatto_invert(s - 1, block, l->Winv);
  return CB_OK;
}
