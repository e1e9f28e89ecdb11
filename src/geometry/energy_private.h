/* A polynomial curve with the energy, its gradient and its Hessian: see energy.c. */
#ifndef CB_GEOMETRY_ENERGY_PRIVATE_H
#define CB_GEOMETRY_ENERGY_PRIVATE_H

#include "geometry/energy.h"

#include <stdbool.h>

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

/* What all curves between two points share. */
typedef struct cb_curve_ends {
  const cb_geometry *g;
  const double *q;           /* the start */
  double move[CB_CURVE_DIM]; /* from it to the end */
  cb_curve_metric metric[2];
} cb_curve_ends;

/* Nodes stand inner ones first, then the start, then the end. The matrix has the inner nodes by coordinate, row
 * i (degree - 1) + j, then the start's coordinates, then the end's. */
typedef struct cb_curve {
  const cb_curve_ends *ends;
  int n, degree;
  double s[CB_CURVE_POINTS], w[CB_CURVE_POINTS], legendre[CB_CURVE_POINTS]; /* nodes on [0, 1], weights, P_N there */
  double d[CB_CURVE_POINTS][CB_CURVE_POINTS], transpose[CB_CURVE_POINTS][CB_CURVE_POINTS]; /* d[a][j]: of node j at a */
  double x[CB_CURVE_DIM][CB_CURVE_POINTS];                                  /* less q */
  double v[CB_CURVE_DIM][CB_CURVE_POINTS];
  double energy, gradient[CB_CURVE_SIZE]; /* in the order of the matrix */
  /* at the nodes: w g_ij, w d_l g_ik v^k at [i][l], w d_l d_m g(v, v)/2 at [l][m] */
  double metric[CB_CURVE_DIM][CB_CURVE_DIM][CB_CURVE_POINTS], turn[CB_CURVE_DIM][CB_CURVE_DIM][CB_CURVE_POINTS],
      bend[CB_CURVE_DIM][CB_CURVE_DIM][CB_CURVE_POINTS];
  double h[CB_CURVE_SIZE][CB_CURVE_SIZE], inverse_pivot[CB_CURVE_SIZE];
  double least; /* of its pivots, relative to what stood there before */
} cb_curve;

/* Nodes, weights and differentiation of one of the degrees cb_curve_degrees, ended by 0. */
extern const int cb_curve_degrees[];
void cb_curve_begin(const cb_curve_ends *ends, int degree, cb_curve *c);
/* x of `to` from that of a curve of another degree. */
void cb_curve_prolong(const cb_curve *from, cb_curve *to);
/* The two highest Legendre coefficients of the velocity that the nodes tell, relative to the largest velocity. */
double cb_curve_rest(const cb_curve *c);
/* Energy and gradient; order 2: what the matrix needs as well. CB_ERROR_DOMAIN where the curve leaves the chart. */
cb_status cb_curve_evaluate(cb_curve *c, int order);
/* h: the upper triangle of the Hessian, and Cholesky's factor of its inner part, transposed, in place, H_ii = U^T U,
 * with the columns of the ends along, U^-T H_ie; the ends' own block becomes the Hessian of the ends. convex: without
 * terms that may be negative. False: not positive. */
bool cb_curve_factor(cb_curve *c, bool convex, bool with_ends);
/* y = U^-T gradient; the value is |y|^2. */
double cb_curve_newton(const cb_curve *c, double *y);
/* U^-1 y */
void cb_curve_step(const cb_curve *c, const double *y, double *step);

#endif
