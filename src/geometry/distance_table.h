/* A table of distances for many pairs of near points in a space whose distances are geodesic boundary-value problems:
 *
 *   space: {name: ellipsoid, table: {error: 1e-10, reach: 0.5, memory: 64, box: [[0, 2*pi], [-1, 1]]}}
 *
 *   error    bound of what interpolation adds to a distance (a length) and to its gradient at either end (in the norm
 *            of the metric; the gradient itself has norm 1), measured at points that the table was not made from
 *   reach    pairs nearer than this are looked up; all others, and pairs that no box of the table covers, have the
 *            distance that the space has without it
 *   memory   most that it may take, in MiB; more is an error
 *   box      where the middle of a pair may be: [lowest, highest] of each coordinate. A periodic coordinate, and one
 *            that the metric does not depend on, need none: write [] for it, or leave `box` out where all are such
 *
 * The table is made when the space is, on all threads, with the same numbers for any number of them, and never changes.
 * With sigma = d^2/2 and, along the chart, m = (q1 + q2)/2 and delta = q2 - q1 (the image nearest to q1),
 *
 *   sigma = g(m)(delta, delta)/2 + sum_k sum_{|a| = 2k} c_a(m) delta'^a,  k = 2 ... K,   delta' = L^T delta/r
 *
 * exactly even in delta; c_a are Chebyshev sums of a total degree that falls with k, over boxes of m that are halved
 * until the error is small enough; L L^T = g at the middle of the box. The quadratic part is the metric itself, so that
 * relative errors vanish for short distances; the shorter a pair, the fewer powers are summed. Derivatives are those of
 * this sum: forces keep the energy but for jumps of the size of the error where a pair crosses from box to box.
 * Source: Synge, Relativity: The General Theory (1960), chapter II (world function); Trefethen, Multivariate polynomial
 * approximation in the hypercube (2017), doi:10.1090/proc/13623.
 */
#ifndef CB_GEOMETRY_DISTANCE_TABLE_H
#define CB_GEOMETRY_DISTANCE_TABLE_H

#include <curvebody/intrinsic.h>

/* What was measured while it was made. */
typedef struct cb_distance_table_size {
  size_t boxes, bare; /* that hold numbers; that do not cover their part of the region */
  size_t bytes;
  double covered;                  /* part of the region, by its volume in coordinates */
  int variables, degree;           /* coordinates of m that the metric depends on; highest degree in delta */
  double error, reach;             /* as asked for */
  double distance, gradient;       /* largest measured errors */
  double hessian;                  /* of the second derivatives in orthonormal frames */
} cb_distance_table_size;

/* Makes the table that the map `node` of key `table` asks for (NULL: none, nothing is done) and lets g->chart->distance
 * take it. CB_ERROR_INPUT with the place of what is wrong; CB_ERROR_MEMORY where it would be larger than allowed. */
cb_status cb_distance_table_read(cb_geometry *g, const cb_node *node);
void cb_distance_table_free(cb_distance_table *table);

/* NULL where there is none. */
const cb_distance_table_size *cb_distance_table_size_of(const cb_geometry *g);
/* The distance of the space without its table. */
cb_status cb_distance_exact(const cb_geometry *g, const double *q1, const double *q2, double *d, double *gradient,
                            double *hessian);
/* Does the table answer for this pair? */
bool cb_distance_table_covers(const cb_geometry *g, const double *q1, const double *q2);

#endif
