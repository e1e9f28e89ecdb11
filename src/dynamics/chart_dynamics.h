/* The motion of one particle in the coordinates of a fixed chart with metric g_ij(q), and the derivatives of this
 * motion.
 *
 *   canonical  p_i = m g_ij u^j,   dp_i/dt = F_i + (m/2) d_i g_jk u^j u^k  (q' = u = dH/dp, p' = -dH/dq + other forces)
 *   velocity   du^i/dt = g^il (F_l/m - (d_j g_lk - (1/2) d_l g_jk) u^j u^k)      (q'' = -Gamma(u,u) + g^-1 F/m)
 *
 * q are the coordinates, u = q' the velocity, p the momentum, m the mass, H the energy, F the force (a covector), d_i
 * the derivative by q^i, and Gamma the Christoffel symbols. Both forms use the Lagrangian variables (q, u). The
 * integrated variable is w, with w = p or w = u, and w' = W(q, u, F). Source: Arnold, Mathematical Methods of Classical
 * Mechanics, 2nd ed. (1989), section 19.
 */
#pragma once

#include "core/arena.h"
#include <curvebody/space.h>

#include <stdbool.h>

/* The metric of a chart with d coordinates: g and its inverse have d^2 numbers, dg d^3, and ddg d^4, in memory that
 * belongs to the caller (cb_chart_metric_in). d_l is the derivative by coordinate l. */
typedef struct cb_chart_metric {
  double *g, *inverse;
  double *dg;  /* [(l*d + i)*d + j] = d_l g_ij */
  double *ddg; /* [((m*d + l)*d + i)*d + j] = d_m d_l g_ij */
} cb_chart_metric;

enum {
  /* How many numbers of memory are enough for a chart with any number d of coordinates. */
  CB_CHART_METRIC_CAPACITY = CB_Q_MAX * CB_Q_MAX * (2 + CB_Q_MAX + CB_Q_MAX * CB_Q_MAX),
  CB_CHART_JET_CAPACITY = 5 * CB_Q_MAX * CB_Q_MAX
};
/* Returns how many numbers of memory a cb_chart_metric needs for derivatives up to `order`. */
static inline size_t cb_chart_metric_size(int d, int order) {
  return (size_t)(d * d) * (size_t)(2 + (order > 0 ? d : 0) + (order > 1 ? d * d : 0));
}
static inline cb_chart_metric cb_chart_metric_in(int d, double *memory) {
  double *dg = memory + 2 * d * d;
  return (cb_chart_metric){memory, memory + d * d, dg, dg + d * d * d};
}

/* Allocate n objects, with their memory, in the arena. Return NULL if memory runs out. */
cb_chart_metric *cb_chart_metrics(cb_arena *arena, int d, int order, size_t n);
struct cb_chart_jet *cb_chart_jets(cb_arena *arena, int d, size_t n);

/* Computes the metric and its derivatives up to `order` (0, 1 or 2) at q. Returns CB_ERROR_DOMAIN outside the chart, or
 * where the metric is singular. */
cb_status cb_chart_metric_at(const cb_space *g, const double *q, int order, const cb_chart_metric *out);

/* Compute the velocity u = g^-1 p/m of a momentum p, and the momentum p = m g u of a velocity u. */
void cb_chart_velocity_of(int d, const cb_chart_metric *x, double m, const double *p, double *u);
void cb_chart_momentum_of(int d, const cb_chart_metric *x, double m, const double *u, double *p);

/* Computes rate[d] = w', for the integrated variable w = p (canonical) or w = u (velocity), from F at (q, u). Needs the
 * first derivatives of the metric. */
typedef void cb_chart_rate(int d, const cb_chart_metric *x, double m, const double *u, const double *F, double *rate);
cb_chart_rate cb_chart_rate_canonical, cb_chart_rate_velocity;

/* The derivatives of w(q, u) and of its rate W(q, u, F): w_q[i*d + j] = dw_i/dq^j, and W_F is dW/dF. Computing them
 * needs the second derivatives of the metric. */
typedef struct cb_chart_jet {
  double *w_q, *w_u, *W_q, *W_u, *W_F; /* d x d each */
} cb_chart_jet;
static inline size_t cb_chart_jet_size(int d) { return (size_t)(5 * d * d); }
static inline cb_chart_jet cb_chart_jet_in(int d, double *memory) {
  const int n = d * d;
  return (cb_chart_jet){memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n};
}
typedef void cb_chart_derivatives(int d, const cb_chart_metric *x, double m, const double *u, const double *F,
                                  const cb_chart_jet *out);
cb_chart_derivatives cb_chart_derivatives_canonical, cb_chart_derivatives_velocity;
