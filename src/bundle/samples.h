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
#ifndef CB_BUNDLE_SAMPLES_H
#define CB_BUNDLE_SAMPLES_H

#include <curvebody/bundle.h>

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

#endif
