/* A bundle from a table: connection and cost metric at the points of a grid in shape space, between them a spline.
 *
 *   A(r) = sum c_k1..kn N_k1(r_1) .. N_kn(r_n)     N: B-splines of degree 3 or 5 in each variable, through every sample
 * dA, dM and second derivatives are those of the spline. Axes need not be evenly spaced. Where a variable has a period
 * the spline is periodic; otherwise its knots are the samples but the (degree - 1)/2 next to each end ("not a knot").
 * Outside the grid CB_STEP_DOMAIN. Error O(h^(degree + 1)) in A and M, O(h^degree) in dA, the curvature.
 * The error is told by the spline through every second sample: at the samples it leaves out it errs as a grid twice as
 * coarse does, 2^(degree + 1) times more; that factor is taken from every fourth sample where the table has not come to
 * it, and a quarter of it used. Of Purcell's swimmer the estimate is above the error at every shape, its greatest 4
 * times (coarse tables: up to 22 times) that of the error.
 * Source: C. de Boor, A Practical Guide to Splines (2001), chapters IX, X, XIII, XVII.
 */
#pragma once

#include <curvebody/bundle.h>
#include "core/arena.h"
#include <stdbool.h>

struct cb_gait;

enum { CB_SAMPLES_AXES = 4 };

typedef struct cb_bundle_table {
  const cb_group *group; /* of static memory (cb_group_find) */
  int n;                 /* shape variables, up to CB_SAMPLES_AXES */
  const char *shape[CB_SAMPLES_AXES];
  int points[CB_SAMPLES_AXES];
  const double *axis[CB_SAMPLES_AXES]; /* [points], ascending */
  double period[CB_SAMPLES_AXES];      /* 0: none. The axis then lies within one period; a last point that is a whole
                                        * period after the first has the same samples, and counts once */
  const double *connection;            /* [points_1]..[points_n][dim][n] */
  const double *metric;                /* [points_1]..[points_n][n][n], symmetric; NULL: the identity */
} cb_bundle_table;

/* degree 3 or 5, or 0: 5 where the table has points enough, else 3. Everything is copied. CB_ERROR_ARGUMENT with the
 * axis or the sample that is wrong: fewer than degree + 1 points, an axis that does not ascend, a number that is not
 * finite, a metric that is not symmetric. */
cb_status cb_bundle_samples(const cb_bundle_table *table, int degree, cb_bundle **out);
/* The estimated error of A at r, error[dim*n], each at least 0; NULL r: its greatest over the grid. CB_ERROR_ARGUMENT
 * for a bundle that was not made from samples. */
cb_status cb_bundle_samples_error(const cb_bundle *b, const double *r, double *error);
/* What these errors can do to the holonomy g of a gait, to first order: bounds[dim] on the components of log(h g^-1),
 * h the exact one:  |(dg) g^-1| <= int |Ad_g| |error(r)| |r'| dt. */
cb_status cb_bundle_samples_holonomy_error(const cb_bundle *b, const struct cb_gait *gait, double *bounds);

/* What the files of samples share: splines through the points of a grid. */
enum { CB_SPLINE_DEGREE = 5, CB_SPLINE_BASIS = CB_SPLINE_DEGREE + 1 };

/* Splines of odd degree p in one variable, through `points` samples: as many B-splines. Knots: periodic, the samples,
 * from p before the first on; otherwise the ends p + 1 times and between them the samples but (p - 1)/2 at each end. */
typedef struct cb_spline_axis {
  int points, degree;
  double low, high, period; /* 0: none */
  const double *x;          /* [points] samples */
  double *knot;             /* spans begin at knot[degree] = low */
  int spans;
} cb_spline_axis;

/* degree is odd and less than points. x is borrowed. */
cb_status cb_spline_axis_create(int degree, int points, const double *x, double period, cb_arena *arena,
                                cb_spline_axis *out);
/* Where x lies: the span (periodic: of x less whole periods, which *x becomes); -1 outside. */
int cb_spline_span(const cb_spline_axis *a, double *x);
/* The degree + 1 B-splines that are not 0 in a span and their derivatives up to `order` (at most 2), and the number of
 * the coefficient of each. */
void cb_spline_basis(const cb_spline_axis *a, int span, double x, int order, double (*basis)[CB_SPLINE_BASIS],
                     int *coefficient);

/* A tensor product of such splines, `entries` of them on one grid. */
typedef struct cb_spline_grid {
  int n, entries;
  cb_spline_axis axis[CB_SAMPLES_AXES];
  double *coefficient; /* [points_1] .. [points_n][entries] */
} cb_spline_grid;

/* Where the axes are made; coefficients hold the samples on entry. */
cb_status cb_spline_grid_solve(cb_spline_grid *g);
/* Entries first .. last - 1 at r: value, and slope[n] and curve[n(n+1)/2] (packed as in a jet) of them (NULL), each
 * `last - first` numbers. False outside, with the axis. */
bool cb_spline_grid_at(const cb_spline_grid *g, const double *r, int first, int last, double *value, double *slope,
                       double *curve, int *outside);

typedef struct cb_samples {
  cb_arena *arena;
  cb_spline_grid grid; /* A row by row, then the lower triangle of M */
  bool metric;
  double *error;    /* by spans of the first variable, .., of the last: [dim*n] */
  double *greatest; /* [dim*n] */
} cb_samples;

extern const cb_bundle_class cb_samples_class;
/* Fills error and greatest from the samples [points_1] .. [points_n][entries] that the grid goes through. */
cb_status cb_samples_estimate(cb_samples *s, int count, const double *samples);
