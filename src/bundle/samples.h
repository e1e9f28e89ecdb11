/* A bundle from a table: connection A and cost metric M are given at the points of a grid in shape space, and a spline
 * interpolates between them.
 *
 *   A(r) = sum c_k1..kn N_k1(r_1) .. N_kn(r_n)     M in the same way
 * N_k are B-splines of degree 3 or 5 in each variable, and the coefficients c are those for which the spline passes
 * through every sample. dA, dM and second derivatives are those of the spline. Axes need not be evenly spaced. If a
 * variable has a period, the spline is periodic in it; otherwise its knots are the samples except the (degree - 1)/2
 * next to each end ("not a knot"). Evaluation returns CB_STEP_DOMAIN outside the grid. With the spacing h of the
 * samples the error is O(h^(degree + 1)) in A and M, and O(h^degree) in dA and the curvature.
 *
 * The error is estimated with a second spline through every second sample. Its error at the other samples is about
 * 2^(degree + 1) times that of the first spline. If a table is too coarse for this factor, the factor is measured
 * with every fourth sample. The estimate is the difference between the second spline and the samples, divided by the
 * factor. For safety only a quarter of the factor is used, or 1 if this quarter is below 1.
 * Source: C. de Boor, A Practical Guide to Splines (2001), chapters IX, X, XIII, XVII.
 */
#pragma once

#include <curvebody/bundle.h>
#include "core/arena.h"
#include <stdbool.h>

struct cb_gait;

enum { CB_SAMPLES_AXES = 4 };

typedef struct cb_bundle_table {
  const cb_group *group; /* in static memory (cb_group_find) */
  int n;                 /* number of shape variables, up to CB_SAMPLES_AXES */
  const char *shape[CB_SAMPLES_AXES];
  int points[CB_SAMPLES_AXES];
  const double *axis[CB_SAMPLES_AXES]; /* [points]: the values of the shape variable at the samples, ascending */
  double period[CB_SAMPLES_AXES];      /* 0: none. Otherwise the axis is within one period. A last point exactly one
                                        * period after the first must have the same samples, and counts once */
  const double *connection;            /* [points_1]..[points_n][dim][n]: the connection A at the samples */
  /* [points_1]..[points_n][n][n]: the symmetric metric M at the samples; NULL: the identity */
  const double *metric;
} cb_bundle_table;

/* Creates a bundle from a table, which is copied. `degree` is 3 or 5; for 0 it becomes 5 if the table has enough
 * points, and otherwise 3. Returns CB_ERROR_ARGUMENT for fewer than degree + 1 points, an axis whose values do not
 * increase or exceed its period, a number that is not finite, a metric that is not symmetric, or samples that are not
 * periodic; the message names the axis or sample. The caller frees the result with cb_bundle_free. */
cb_status cb_bundle_samples(const cb_bundle_table *table, int degree, cb_bundle **out);
/* Estimates the error of A at the shape r: error[dim*n] >= 0. If r is NULL, computes the maximum over the grid. Returns
 * CB_ERROR_ARGUMENT if the bundle is not from a table, and CB_STEP_DOMAIN if r is outside the table. */
cb_status cb_bundle_samples_error(const cb_bundle *b, const double *r, double *error);
/* Computes how the errors of A change the holonomy g of a gait, to first order. bounds[dim] are bounds on the
 * components of log(h g^-1), where h is the exact holonomy. They follow from |(dg) g^-1| <= int |Ad_g| |error(r)| |r'|
 * dt. */
cb_status cb_bundle_samples_holonomy_error(const cb_bundle *b, const struct cb_gait *gait, double *bounds);

/* --- splines through the points of a grid, shared by the files of samples --- */
enum { CB_SPLINE_DEGREE = 5, CB_SPLINE_BASIS = CB_SPLINE_DEGREE + 1 };

/* Splines of odd degree p in one variable through `points` samples; the number of B-splines is `points` too. The knots
 * of a periodic spline are the samples; the first knot is p samples before the first sample. Without a period, each end
 * is a knot p + 1 times, and the samples between the ends are knots except (p - 1)/2 at each end. */
typedef struct cb_spline_axis {
  int points, degree;
  double low, high, period; /* period: 0 if there is none */
  const double *x;          /* [points]: positions of the samples */
  double *knot;             /* the knots of the splines; the first span begins at knot[degree] = low */
  int spans;                /* number of spans */
} cb_spline_axis;

/* Creates an axis. degree is odd and less than points; x[points] is borrowed. */
cb_status cb_spline_axis_create(int degree, int points, const double *x, double period, cb_arena *arena,
                                cb_spline_axis *out);
/* Returns the span (the interval between two knots) that contains *x, or -1 outside. With a period, *x is first reduced
 * by full periods. */
int cb_spline_span(const cb_spline_axis *a, double *x);
/* Computes the degree + 1 B-splines that are not 0 in a span, their derivatives up to `order` <= 2, and the index of
 * the coefficient of each. */
void cb_spline_basis(const cb_spline_axis *a, int span, double x, int order, double (*basis)[CB_SPLINE_BASIS],
                     int *coefficient);

/* Tensor products of splines in one variable: `entries` functions on one grid. */
typedef struct cb_spline_grid {
  int n, entries;
  cb_spline_axis axis[CB_SAMPLES_AXES];
  double *coefficient; /* [points_1]..[points_n][entries]: the coefficients of the functions */
} cb_spline_grid;

/* Replaces the samples in `coefficient` by the coefficients of the spline through them. The axes must already exist. */
cb_status cb_spline_grid_solve(cb_spline_grid *g);
/* Computes the functions first .. last - 1 of the grid at r: value, slope[n] and curve[n(n+1)/2] (packed as in a jet),
 * each with `last - first` numbers. slope and curve may be NULL. Returns false if r is outside the grid; *outside is
 * then the axis on which it is outside. */
bool cb_spline_grid_at(const cb_spline_grid *g, const double *r, int first, int last, double *value, double *slope,
                       double *curve, int *outside);

typedef struct cb_samples {
  cb_arena *arena;
  cb_spline_grid grid; /* its functions are the entries of A, row by row, then those of the lower triangle of M */
  bool metric;
  /* [cells_1]..[cells_n][dim n]: the estimate of the error of A in each cell between neighbouring samples */
  double *error;
  double *greatest; /* [dim n]: the maximum of this estimate over all samples */
} cb_samples;
