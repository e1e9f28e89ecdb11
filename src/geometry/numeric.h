/* What the numerical geometry of a chart shares: the metric in its domain, its Cholesky factor, the geodesic flow. */
#pragma once

#include "numerics/small.h"
#include <curvebody/intrinsic.h>

#include <stdbool.h>

enum { CB_POSITION_TEXT = 160 };

/* "(1.5, 0.25, -3)" */
const char *cb_numeric_position(int n, const double *q, char text[CB_POSITION_TEXT]);

/* The chart's metric, after the space's own test of its domain. */
cb_status cb_numeric_metric(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg);
/* Lower triangle c with c c^T = g; CB_ERROR_DOMAIN where g is not positive definite. q only for the text. */
cb_status cb_numeric_factor(const cb_geometry *g, const double *q, const double *gij,
                            double c[CB_DIM_MAX * CB_DIM_MAX]);

/* An upper bound of the number of Killing fields, from the curvature and its derivatives at q and at points near it.
 * Fails as cb_curvature_at. */
cb_status cb_killing_bound(const cb_geometry *g, const double *q, int *count);

/* x becomes a^-1 x, x of m columns, both row-major; false where a is singular. */
bool cb_numeric_divide(int n, const double *a, int m, double *x);

/* A geodesic from time 0 to 1. */
typedef struct cb_geodesic_end {
  double q[CB_DIM_MAX], u[CB_DIM_MAX]; /* at the end */
  double moved[CB_DIM_MAX];            /* q - q(0), without the rounding of q */
  double w[CB_DIM_MAX];                /* transported, where asked for */
  cb_jacobi jacobi;                    /* where asked for */
  bool conjugate;                      /* where Jacobi fields are asked for: is there a conjugate point on the way? */
  int evaluations;                     /* of the metric, also where it fails */
} cb_geodesic_end;

/* Integrates with an estimated error of `tolerance` a step, relative to the length; w may be NULL. */
cb_status cb_flow_geodesic(const cb_geometry *g, const double *q, const double *u, const double *w, bool jacobi,
                           double tolerance, cb_geodesic_end *out);

/* The shortest geodesic from q to an image of y. */
typedef struct cb_shortest {
  double u[CB_DIM_MAX], length;
  cb_geodesic_end end;                                                       /* end.u at y */
  double metric0[CB_DIM_MAX * CB_DIM_MAX], metric1[CB_DIM_MAX * CB_DIM_MAX]; /* at q and y */
} cb_shortest;

/* As cb_numeric_log, with all that comes with it; guess (of u) may be NULL. */
cb_status cb_numeric_shortest(const cb_geometry *g, const double *q, const double *y, const double *guess,
                              cb_shortest *out);
/* Derivatives of the distance along it, as in cb_numeric_distance; either may be NULL. */
cb_status cb_numeric_distance_of(const cb_geometry *g, const double *q1, const double *q2, const cb_shortest *path,
                                 double *gradient, double *hessian);
