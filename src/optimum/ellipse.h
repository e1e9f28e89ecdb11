/* Small ellipses: what a gait of least cost begins as.
 *
 *   a loop of area eps^2 pi in the plane p, q of shapes, M(p, p) = M(q, q) = 1, M(p, q) = 0:
 *     log g = -eps^2 pi B(p, q) + O(eps^3),  E = (2 pi eps)^2;   E/<lambda, log g> = 4 pi/mu
 *   p, q: the plane of the largest eigenvalue i mu of L^-1 <lambda, B_ij> L^-T, M = L L^T
 *   r: a minimum of 4 pi/mu (1 + share of log g beside lambda that the target does not want)
 * lambda is along the target: an axis of translation for move, of rotation for turn, the log of an element.
 * Source: Montgomery, A Tour of Subriemannian Geometries (2002), chapter 12; Hatton & Choset, IEEE Trans. Robotics 29
 * (2013) 615, doi:10.1109/TRO.2013.2251211.
 */
#ifndef CB_OPTIMUM_ELLIPSE_H
#define CB_OPTIMUM_ELLIPSE_H

#include "optimum/target.h"

enum { CB_ELLIPSES_MAX = 6 };

typedef struct cb_ellipse {
  double r[CB_SHAPE_MAX], p[CB_SHAPE_MAX], q[CB_SHAPE_MAX];
  double B[CB_GROUP_DIM]; /* B(p, q) */
  double mu;              /* <lambda, B(p, q)> */
  double unwanted;        /* beside it */
} cb_ellipse;

/* At a shape, for lambda[dim]. CB_STEP_SINGULAR where M is not positive. */
cb_status cb_ellipse_at(const cb_optimum_problem *o, const double *r, const double *lambda, cb_ellipse *out);
/* The cheapest of the minima that are found, those about one shape told once. Returns how many; none where the curvature
 * is 0 along the target wherever it was looked at. */
int cb_ellipses_find(const cb_optimum_problem *o, cb_ellipse *out);
/* The gait, of a size for the amount of the target; no larger than the window of shapes. */
cb_status cb_ellipse_gait(const cb_optimum_problem *o, const cb_ellipse *e, cb_gait **out);
/* Where shapes are drawn from: bounds, else a period, else a quarter turn to each side of 0, times `wide`. */
void cb_shape_window(const cb_optimum_problem *o, int i, double wide, double *low, double *high);

#endif
