/* Short geodesics of a chart as minima of the discrete energy: the quick way to distances of points near each other. */
#pragma once

#include <curvebody/geometry.h>
#include <stdbool.h>

/* Length of the geodesic from q to q + move along the chart, with its derivatives in both ends as in cb_chart.distance,
 * and its velocity at q (gradient, hessian and u may be NULL). It has no conjugate point; whether another geodesic is
 * shorter is not asked. CB_ERROR_DOMAIN where none is found near the chart's straight line, or none that is resolved to
 * rounding: then the geodesic must be integrated. */
cb_status cb_energy_geodesic(const cb_geometry *g, const double *q, const double *move, double *length,
                             double *gradient, double *hessian, double *u);

/* The velocity at q, to a few digits, of a geodesic from q to q + move that the curve q + s move + 4 s (1 - s) bulge is
 * deformed to, as a start for Newton's method. CB_ERROR_DOMAIN where the curve or its deformation leaves the chart. */
cb_status cb_energy_start(const cb_geometry *g, const double *q, const double *move, const double *bulge, double *u);

/* Distance as in cb_chart.distance, where the geodesic to the nearest image of y by the periods of the coordinates is
 * found so and none to another image is as short. CB_ERROR_DOMAIN otherwise: the thorough search has to answer. */
cb_status cb_energy_distance(const cb_geometry *g, const double *q, const double *y, double *d, double *gradient,
                             double *hessian);

/* --- a polynomial curve with the energy, its gradient and its Hessian: see energy.c --- */

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
