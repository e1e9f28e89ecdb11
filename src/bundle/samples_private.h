/* What the files of samples share: splines through the points of a grid. */
#ifndef CB_BUNDLE_SAMPLES_PRIVATE_H
#define CB_BUNDLE_SAMPLES_PRIVATE_H

#include "bundle/samples.h"
#include "core/arena.h"

#include <stdbool.h>

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

#endif
