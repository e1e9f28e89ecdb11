/* The numerical geometry of a chart, and functions that its files share: the metric in its domain, the metric's
 * Cholesky factor, geodesics by integration and by minimisation, and the functions of spaces that are given by their
 * metric. q: position; u: velocity; g_ij: metric; d_l: derivative with respect to coordinate l. */
#pragma once

#include "numerics/small.h"
#include <curvebody/intrinsic.h>
#include <curvebody/space.h>
#include <curvebody/status.h>

#include <stdbool.h>
#include <string.h>

enum { CB_POSITION_TEXT = 160 };

/* Writes a position as a text for messages, such as "(1.5, 0.25, -3)", and returns `text`. */
const char *cb_numeric_position(int n, const double *q, char text[CB_POSITION_TEXT]);

/* Tests whether q is in the domain of the space (otherwise returns CB_ERROR_DOMAIN), and computes the metric of the
 * chart there. */
cb_status cb_numeric_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg);
/* Computes the lower triangle c with c c^T = g. Returns CB_ERROR_DOMAIN if g is not positive definite. q is only for
 * the message. */
cb_status cb_numeric_factor(const cb_space *g, const double *q, const double *gij, double c[CB_DIM_MAX * CB_DIM_MAX]);

/* Computes an upper bound of the number of Killing fields, from the curvature and its derivatives at q and at points
 * near it. Returns the errors of cb_curvature_at. */
cb_status cb_killing_bound(const cb_space *g, const double *q, int *count);

/* Replaces x, which has m columns, by a^-1 x; both are row-major. Returns false if a is singular. */
bool cb_numeric_divide(int n, const double *a, int m, double *x);

/* The end of a geodesic that runs from time 0 to 1, and quantities that were computed along the geodesic. */
typedef struct cb_geodesic_end {
  double q[CB_DIM_MAX], u[CB_DIM_MAX]; /* position and velocity at the end */
  double moved[CB_DIM_MAX];            /* q - q(0), without the round-off of q */
  double w[CB_DIM_MAX];                /* the transported vector, if requested */
  cb_jacobi jacobi;                    /* the Jacobi fields, if requested */
  bool conjugate;                      /* if Jacobi fields are requested: there is a conjugate point on the way */
  int evaluations;                     /* number of evaluations of the metric, also on failure */
} cb_geodesic_end;

/* Integrates the geodesic from q with velocity u, with an estimated error of `tolerance` per step, relative to the
 * length. Transports w (NULL: none) along it. Returns CB_ERROR_DOMAIN if the geodesic leaves the chart. */
cb_status cb_flow_geodesic(const cb_space *g, const double *q, const double *u, const double *w, bool jacobi,
                           double tolerance, cb_geodesic_end *out);

/* The shortest geodesic from q to an image of y. */
typedef struct cb_shortest {
  double u[CB_DIM_MAX], length;
  cb_geodesic_end end;                                                       /* end.u is the velocity at y */
  double metric0[CB_DIM_MAX * CB_DIM_MAX], metric1[CB_DIM_MAX * CB_DIM_MAX]; /* the metric at q and at y */
} cb_shortest;

/* Finds the shortest geodesic as cb_numeric_log does, and computes all its quantities. `guess`, an approximation of u,
 * may be NULL. */
cb_status cb_numeric_shortest(const cb_space *g, const double *q, const double *y, const double *guess,
                              cb_shortest *out);
/* Computes the derivatives of the distance along the geodesic `path`, as in cb_numeric_distance. gradient or hessian
 * may be NULL. */
cb_status cb_numeric_distance_of(const cb_space *g, const double *q1, const double *q2, const cb_shortest *path,
                                 double *gradient, double *hessian);

/* --- short geodesics as minima of the discrete energy (energy.c), for distances of near points --- */
/* Computes the length of the geodesic near the straight line from q to q + move, and its velocity u at q. gradient and
 * hessian are the derivatives of the length with respect to both ends, as in cb_chart.distance. gradient, hessian and u
 * may be NULL. The geodesic has no conjugate point, but another geodesic may be shorter. Returns CB_ERROR_DOMAIN if no
 * geodesic is found near this line, or if it is not accurate to round-off; the geodesic must then be integrated. */
cb_status cb_energy_geodesic(const cb_space *g, const double *q, const double *move, double *length, double *gradient,
                             double *hessian, double *u);

/* Computes, to a few digits, the velocity u at q of a geodesic from q to q + move. The geodesic is found by deforming
 * the curve q + s move + 4 s (1 - s) bulge, 0 <= s <= 1. u is a start for Newton's method. Returns CB_ERROR_DOMAIN if
 * the curve or its deformation leaves the chart. */
cb_status cb_energy_start(const cb_space *g, const double *q, const double *move, const double *bulge, double *u);

/* Computes the distance as in cb_chart.distance. The images of y differ from y by periods of the coordinates. The
 * function succeeds if it finds the geodesic to the nearest image, and if no geodesic to another image is as short.
 * Otherwise returns CB_ERROR_DOMAIN; then cb_numeric_shortest is needed. */
cb_status cb_energy_distance(const cb_space *g, const double *q, const double *y, double *d, double *gradient,
                             double *hessian);

/* --- a polynomial curve with its energy, gradient and Hessian: see energy.c --- */

enum {
  CB_CURVE_DIM = 3,
  CB_CURVE_DEGREE_MAX = 24,
  CB_CURVE_POINTS = CB_CURVE_DEGREE_MAX + 1,
  CB_CURVE_SIZE = CB_CURVE_POINTS * CB_CURVE_DIM,
};

/* The metric at a point with its derivatives, as in cb_chart.metric. */
typedef struct cb_curve_metric {
  double g[CB_CURVE_DIM * CB_CURVE_DIM], dg[CB_CURVE_DIM * CB_CURVE_DIM * CB_CURVE_DIM],
      ddg[CB_CURVE_DIM * CB_CURVE_DIM * CB_CURVE_DIM * CB_CURVE_DIM];
} cb_curve_metric;

/* The two points that a curve joins; many curves share them. */
typedef struct cb_curve_ends {
  const cb_space *g;
  const double *q;           /* the start */
  double move[CB_CURVE_DIM]; /* displacement from the start to the end */
  cb_curve_metric metric[2];
} cb_curve_ends;

/* A polynomial curve. Its nodes are in this order: inner nodes, start, end. The rows of the matrix, and its columns,
 * are in this order: coordinate i of inner node j in row i (degree - 1) + j, then the coordinates of the start, then
 * those of the end. */
typedef struct cb_curve {
  const cb_curve_ends *ends;
  int n, degree;
  /* nodes on [0, 1], weights, and the values of Legendre's polynomial P_N at the nodes (N: the degree) */
  double s[CB_CURVE_POINTS], w[CB_CURVE_POINTS], legendre[CB_CURVE_POINTS];
  /* d[a][j]: the derivative at node a of the polynomial that is 1 at node j and 0 at the other nodes; transpose: its
   * transpose */
  double d[CB_CURVE_POINTS][CB_CURVE_POINTS], transpose[CB_CURVE_POINTS][CB_CURVE_POINTS];
  double x[CB_CURVE_DIM][CB_CURVE_POINTS]; /* the curve at the nodes, minus q */
  double v[CB_CURVE_DIM][CB_CURVE_POINTS];
  double energy, gradient[CB_CURVE_SIZE]; /* the energy and its gradient, in the order of the matrix */
  /* values at the nodes, with the weight w of the node: metric[i][j] is w g_ij, turn[i][l] is w d_l g_ik v^k, and
   * bend[l][m] is w d_l d_m g(v, v)/2 */
  double metric[CB_CURVE_DIM][CB_CURVE_DIM][CB_CURVE_POINTS], turn[CB_CURVE_DIM][CB_CURVE_DIM][CB_CURVE_POINTS],
      bend[CB_CURVE_DIM][CB_CURVE_DIM][CB_CURVE_POINTS];
  double h[CB_CURVE_SIZE][CB_CURVE_SIZE], inverse_pivot[CB_CURVE_SIZE];
  double least; /* the smallest ratio of a pivot to its diagonal entry before elimination */
} cb_curve;

/* cb_curve_degrees holds the degrees of curves, ended by 0. cb_curve_begin begins a curve of one of these degrees: it
 * sets nodes, weights, derivatives and ends. */
extern const int cb_curve_degrees[];
void cb_curve_begin(const cb_curve_ends *ends, int degree, cb_curve *c);
/* Sets the inner nodes of `to` from a curve of another degree. */
void cb_curve_prolong(const cb_curve *from, cb_curve *to);
/* Returns the size of the two highest Legendre coefficients of the velocity, relative to the largest velocity at the
 * nodes. */
double cb_curve_rest(const cb_curve *c);
/* Computes the energy and the gradient, and for order 2 also the data of the matrix. Returns CB_ERROR_DOMAIN if the
 * curve leaves the chart. */
cb_status cb_curve_evaluate(cb_curve *c, int order);
/* Makes the upper triangle h of the Hessian. Factors the block of the inner nodes in place, H_ii = U^T U (i: inner
 * nodes, e: ends). The columns of the ends become U^-T H_ie. If with_ends is true, the block of the ends becomes the
 * Hessian with respect to the ends. `convex` omits the terms that may be negative. Returns false if a pivot of the
 * inner block is not above 1e-4 of its diagonal entry. */
bool cb_curve_factor(cb_curve *c, bool convex, bool with_ends);
/* Computes y = U^-T times the gradient of the inner nodes, and returns |y|^2. */
double cb_curve_newton(const cb_curve *c, double *y);
/* Computes step = U^-1 y. */
void cb_curve_step(const cb_curve *c, const double *y, double *step);

/* --- the functions of curvebody/space.h for a space with g->intrinsic (intrinsic.c) --- */
cb_status cb_intrinsic_check(const cb_space *g, const double *q);
/* The results q1 and u1 are NaN if the geodesic leaves the chart. */
void cb_intrinsic_exp(const cb_space *g, const double *q, const double *u, double *q1, double *u1);
cb_status cb_intrinsic_log(const cb_space *g, const double *q, const double *y, double *u);
cb_status cb_intrinsic_transport(const cb_space *g, const double *q, const double *y, const double *w, double *w1);
/* Computes a frame of the metric of g->chart, in any space with a chart. It is not finite if the metric has no
 * frame. */
void cb_intrinsic_frame(const cb_space *g, const double *q, double *e);
void cb_intrinsic_killing_at(const cb_space *g, int index, const double *q, double *x);
void cb_intrinsic_killing_momentum_add(const cb_space *g, const double *q, const double *p, double *momentum);
void cb_intrinsic_plot(const cb_space *g, const double *q, const double *v, double *plot, double *velocity);
cb_status cb_intrinsic_karcher_mean(const cb_space *g, size_t n, const double *x, const double *weight, double *mean);

/* --- extrapolated steps of y' = f(y) ---
 *
 * The modified midpoint rule with 2, 4, 6, ... parts is extrapolated in h^2 by the scheme of Aitken and Neville.
 * Source: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), section II.9.
 */

enum { CB_EXTRAPOLATION_MAX = 48 };

typedef struct cb_extrapolation {
  cb_status (*rate)(void *problem, const double *y, double *f);
  void *problem;
  int size;                  /* length of y, at most CB_EXTRAPOLATION_MAX */
  const double *start, *at0; /* y and f(y) at the start of the step */
} cb_extrapolation;

/* Computes y(H) - y(0) by m midpoint substeps of a step of length H. */
static inline cb_status cb_midpoint(const cb_extrapolation *e, double H, int m, double *out) {
  const double h = H / m;
  double before[CB_EXTRAPOLATION_MAX] = {0}, now[CB_EXTRAPOLATION_MAX], y[CB_EXTRAPOLATION_MAX],
         f[CB_EXTRAPOLATION_MAX];
  for (int i = 0; i < e->size; i++) now[i] = h * e->at0[i];
  for (int k = 1; k < m; k++) {
    for (int i = 0; i < e->size; i++) y[i] = e->start[i] + now[i];
    const cb_status status = e->rate(e->problem, y, f);
    if (status) return status;
    for (int i = 0; i < e->size; i++) {
      const double next = before[i] + 2 * h * f[i];
      before[i] = now[i];
      now[i] = next;
    }
  }
  memcpy(out, now, (size_t)e->size * sizeof *out);
  return CB_OK;
}

/* Computes row j = 0, 1, ... of the table for a step of length H, from the rows before it. table[j * size + i] becomes
 * the last increment y(H) - y(0) of the row. `error` (from row 1 on) becomes the difference of this increment from the
 * entry before it in the row. */
static inline cb_status cb_extrapolation_row(const cb_extrapolation *e, double H, int j, double *table, double *error) {
  double last[CB_EXTRAPOLATION_MAX];
  const cb_status status = cb_midpoint(e, H, 2 * (j + 1), last);
  if (status) return status;
  for (int k = 0; k < j; k++) { /* table[k] is entry k of row j - 1 and becomes that of row j */
    const double ratio = (double)(j + 1) / (j - k), denominator = 1 / (ratio * ratio - 1);
    for (int i = 0; i < e->size; i++) {
      double *at = table + k * e->size + i;
      error[i] = (last[i] - *at) * denominator;
      *at = last[i];
      last[i] += error[i];
    }
  }
  memcpy(table + j * e->size, last, (size_t)e->size * sizeof *table);
  return CB_OK;
}
