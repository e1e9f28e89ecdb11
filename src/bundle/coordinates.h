/* Minimum-perturbation coordinates: the body frame g h(r) in which a connection over a window of shape space is as
 * small as it can be, so that the body velocity integral of a gait comes near its holonomy.
 *
 *   A' = Ad_h^-1 A - h^-1 dh;   h minimises int sum_i L_i^2 |A'_i|^2 dr over the window of widths L_i,
 *   |.| in the basis of the algebra, among h = exp(w), w a polynomial in r with the mean 0 over the window
 * Source: Hatton & Choset, Int. J. Robotics Research 30 (2011) 988, doi:10.1177/0278364910394392; IEEE Trans. Robotics
 * 29 (2013) 615, doi:10.1109/TRO.2013.2251211.
 */
#ifndef CB_BUNDLE_COORDINATES_H
#define CB_BUNDLE_COORDINATES_H

#include <curvebody/bundle.h>

/* A bundle like b (borrowed, must outlive it), n <= 3, in minimum-perturbation coordinates on the window low[n] <= r <=
 * high[n]; w has a degree below points[n] in each variable, at most 24, 12 or 6 for one, two or three variables. Free
 * with cb_bundle_free. A' and dA' are exact for this h: holonomies are conjugates of b's to round-off. CB_STEP_DOMAIN
 * outside the window; CB_STEP_SINGULAR where b is singular in it; CB_STEP_NO_CONVERGENCE. */
cb_status cb_bundle_minimum_perturbation(const cb_bundle *b, const double *low, const double *high, const int *points,
                                         cb_bundle **out);
/* h(r) of a bundle made so. */
cb_status cb_bundle_frame(const cb_bundle *b, const double *r, double *h);

#endif
