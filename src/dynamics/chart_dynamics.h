/* The motion of one particle in the coordinates of a fixed chart, with metric g_ij(q), and its derivatives.
 *
 *   canonical  p_i = m g_ij u^j,   dp_i/dt = F_i + (m/2) d_i g_jk u^j u^k      (q' = u = dH/dp, p' = -dH/dq + damping)
 *   velocity   du^i/dt = g^il (F_l/m - (d_j g_lk - (1/2) d_l g_jk) u^j u^k)      (q'' = -Gamma(u,u) + g^-1 F/m)
 *
 * Both in the Lagrangian variables (q, u), w the variable that is integrated along: w = p or w = u, w' = W(q, u).
 * F is a covector. Source: Arnold, Mathematical Methods of Classical Mechanics, 2nd ed. (1989), section 19.
 */
#ifndef CB_DYNAMICS_CHART_DYNAMICS_H
#define CB_DYNAMICS_CHART_DYNAMICS_H

#include <curvebody/geometry.h>
#include <stdbool.h>

typedef struct cb_chart_metric {
  double g[CB_DIM_MAX][CB_DIM_MAX], inverse[CB_DIM_MAX][CB_DIM_MAX];
  double dg[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX];              /* [l][i][j] = d_l g_ij */
  double ddg[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX]; /* [m][l][i][j] */
} cb_chart_metric;

/* The metric and its derivatives up to `order` (0, 1 or 2) at q. CB_ERROR_DOMAIN outside the chart or where it is
 * singular. */
cb_status cb_chart_metric_at(const cb_geometry *g, const double *q, int order, cb_chart_metric *out);

/* u = g^-1 p/m and p = m g u */
void cb_chart_velocity_of(int d, const cb_chart_metric *x, double m, const double *p, double *u);
void cb_chart_momentum_of(int d, const cb_chart_metric *x, double m, const double *u, double *p);

/* w' of the two forms, from F at (q, u); needs first derivatives of the metric. */
typedef void cb_chart_rate(int d, const cb_chart_metric *x, double m, const double *u, const double *F, double *rate);
cb_chart_rate cb_chart_rate_canonical, cb_chart_rate_velocity;

/* Derivatives of w(q, u) and of its rate W(q, u, F): W_F is dW/dF. Needs second derivatives of the metric. */
typedef struct cb_chart_jet {
  double w_q[CB_DIM_MAX][CB_DIM_MAX], w_u[CB_DIM_MAX][CB_DIM_MAX];
  double W_q[CB_DIM_MAX][CB_DIM_MAX], W_u[CB_DIM_MAX][CB_DIM_MAX], W_F[CB_DIM_MAX][CB_DIM_MAX];
} cb_chart_jet;
typedef void cb_chart_derivatives(int d, const cb_chart_metric *x, double m, const double *u, const double *F,
                                  cb_chart_jet *out);
cb_chart_derivatives cb_chart_derivatives_canonical, cb_chart_derivatives_velocity;

#endif
