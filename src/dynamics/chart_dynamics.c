/* The motion of one particle in a chart (equations in chart_dynamics.h). */
#include "dynamics/chart_dynamics.h"

#include "numerics/small.h"

#include <string.h>

enum { D = CB_Q_MAX };

cb_chart_metric *cb_chart_metrics(cb_arena *arena, int d, int order, size_t n) {
  const size_t size = cb_chart_metric_size(d, order);
  cb_chart_metric *out = cb_arena_alloc(arena, n, sizeof *out);
  double *memory = cb_arena_alloc_aligned(arena, n * size, sizeof(double), CB_CACHE_LINE);
  for (size_t i = 0; out && memory && i < n; i++) out[i] = cb_chart_metric_in(d, memory + i * size);
  return memory ? out : NULL;
}

cb_chart_jet *cb_chart_jets(cb_arena *arena, int d, size_t n) {
  const size_t size = cb_chart_jet_size(d);
  cb_chart_jet *out = cb_arena_alloc(arena, n, sizeof *out);
  double *memory = cb_arena_alloc_aligned(arena, n * size, sizeof(double), CB_CACHE_LINE);
  for (size_t i = 0; out && memory && i < n; i++) out[i] = cb_chart_jet_in(d, memory + i * size);
  return memory ? out : NULL;
}

/* Computes the inverse of the d x d metric g. Returns false if g is singular. */
static inline __attribute__((always_inline)) bool invert(int d, const double *g, double *inverse) {
  double l[D * D];
  if (!cb_cholesky(d, g, 0, l)) return false;
  cb_cholesky_whole_inverse(d, l, inverse);
  return true;
}

cb_status cb_chart_metric_at(const cb_space *g, const double *q, int order, const cb_chart_metric *out) {
  const cb_status status = g->chart->metric(g, q, out->g, order > 0 ? out->dg : NULL, order > 1 ? out->ddg : NULL);
  if (status) return status;
  /* with the constant 3 the compiler unrolls the loops */
  if (!(g->dim == 3 ? invert(3, out->g, out->inverse) : invert(g->dim, out->g, out->inverse)))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the metric of chart `%s` is singular at coordinate %s = %.6g: start farther away from this point, "
                   "or use another chart",
                   g->chart->name, g->chart->coordinates[0], q[0]);
  return CB_OK;
}

void cb_chart_velocity_of(int d, const cb_chart_metric *x, double m, const double *p, double *u) {
  for (int i = 0; i < d; i++) {
    double sum = 0;
    for (int j = 0; j < d; j++) sum += x->inverse[i * d + j] * p[j];
    u[i] = sum / m;
  }
}

void cb_chart_momentum_of(int d, const cb_chart_metric *x, double m, const double *u, double *p) {
  for (int i = 0; i < d; i++) {
    double sum = 0;
    for (int j = 0; j < d; j++) sum += x->g[i * d + j] * u[j];
    p[i] = m * sum;
  }
}

/* Returns a(u, v) for a symmetric matrix a. */
static double form(int d, const double *a, const double *u, const double *v) {
  double sum = 0;
  for (int i = 0; i < d; i++)
    for (int j = 0; j < d; j++) sum += a[i * d + j] * u[i] * v[j];
  return sum;
}

static double row(int d, const double *a, const double *u) {
  double sum = 0;
  for (int j = 0; j < d; j++) sum += a[j] * u[j];
  return sum;
}

void cb_chart_rate_canonical(int d, const cb_chart_metric *x, double m, const double *u, const double *F,
                             double *rate) {
  for (int i = 0; i < d; i++) rate[i] = F[i] + m / 2 * form(d, x->dg + i * d * d, u, u);
}

/* Sets b[l] = F_l/m - (d_j g_lk - d_l g_jk/2) u^j u^k, where g is the metric and d_l its derivative by coordinate l. */
static void lowered_acceleration(int d, const cb_chart_metric *x, double m, const double *u, const double *F,
                                 double *b) {
  for (int l = 0; l < d; l++) {
    double sum = F[l] / m + form(d, x->dg + l * d * d, u, u) / 2;
    for (int j = 0; j < d; j++) sum -= u[j] * row(d, x->dg + (j * d + l) * d, u);
    b[l] = sum;
  }
}

void cb_chart_rate_velocity(int d, const cb_chart_metric *x, double m, const double *u, const double *F, double *rate) {
  double b[D];
  lowered_acceleration(d, x, m, u, F, b);
  for (int i = 0; i < d; i++) rate[i] = row(d, x->inverse + i * d, b);
}

void cb_chart_derivatives_canonical(int d, const cb_chart_metric *x, double m, const double *u, const double *F,
                                    const cb_chart_jet *out) {
  (void)F;
  for (int i = 0; i < d; i++)
    for (int j = 0; j < d; j++) {
      out->w_q[i * d + j] = m * row(d, x->dg + (j * d + i) * d, u);
      out->w_u[i * d + j] = m * x->g[i * d + j];
      out->W_q[i * d + j] = m / 2 * form(d, x->ddg + (j * d + i) * d * d, u, u);
      out->W_u[i * d + j] = m * row(d, x->dg + (i * d + j) * d, u);
      out->W_F[i * d + j] = i == j;
    }
}

void cb_chart_derivatives_velocity(int d, const cb_chart_metric *x, double m, const double *u, const double *F,
                                   const cb_chart_jet *out) {
  double b[D], a[D], b_q[D][D], b_u[D][D];
  lowered_acceleration(d, x, m, u, F, b);
  for (int i = 0; i < d; i++) a[i] = row(d, x->inverse + i * d, b);
  for (int l = 0; l < d; l++)
    for (int j = 0; j < d; j++) {
      /* d(g^-1 b) = g^-1 (db - dg a) with a = g^-1 b */
      double q = form(d, x->ddg + (j * d + l) * d * d, u, u) / 2 - row(d, x->dg + (j * d + l) * d, a);
      double v = row(d, x->dg + (l * d + j) * d, u) - row(d, x->dg + (j * d + l) * d, u);
      for (int k = 0; k < d; k++) {
        q -= u[k] * row(d, x->ddg + ((j * d + k) * d + l) * d, u);
        v -= u[k] * x->dg[(k * d + l) * d + j];
      }
      b_q[l][j] = q;
      b_u[l][j] = v;
    }
  for (int i = 0; i < d; i++)
    for (int j = 0; j < d; j++) {
      double q = 0, v = 0;
      for (int l = 0; l < d; l++) {
        q += x->inverse[i * d + l] * b_q[l][j];
        v += x->inverse[i * d + l] * b_u[l][j];
      }
      out->w_q[i * d + j] = 0;
      out->w_u[i * d + j] = i == j;
      out->W_q[i * d + j] = q;
      out->W_u[i * d + j] = v;
      out->W_F[i * d + j] = x->inverse[i * d + j] / m;
    }
}
