/* Minimum-perturbation coordinates: the body frame g h(r) in which a connection is smallest over a window of shape
 * space. The body velocity integral of a gait is then close to its holonomy.
 *
 *   A' = Ad_h^-1 A - h^-1 dh;   h minimises int sum_i L_i^2 |A'_i|^2 dr over the window of widths L_i,
 *   with |.| in the basis of the algebra, among h = exp(w), w a polynomial in r with mean 0 over the window
 * g: group element of the given body frame; A: connection in this frame; A'_i: column of A' for the shape variable r_i.
 * Source: Hatton & Choset, Int. J. Robotics Research 30 (2011) 988, doi:10.1177/0278364910394392; IEEE Trans. Robotics
 * 29 (2013) 615, doi:10.1109/TRO.2013.2251211.
 */
#pragma once

#include <curvebody/bundle.h>

/* Creates the bundle b in minimum-perturbation coordinates on the window low[n] <= r <= high[n]; n <= 3. b is borrowed
 * and must outlive the result. The degree of w in variable i is below points[i], and at most 24, 12 or 6 for one, two
 * or three variables. A' and dA' are exact for the h that is found: holonomies are conjugate to those of b, to
 * round-off. The caller frees the result with cb_bundle_free.
 *
 * Outside the window, evaluation of the result returns CB_STEP_DOMAIN. This function returns CB_ERROR_ARGUMENT for n >
 * 3, for a window that is not finite with low < high, or for points[i] outside [2, 200]. It returns CB_STEP_SINGULAR if
 * b is singular in the window, and CB_STEP_NO_CONVERGENCE if the search for h does not converge. */
cb_status cb_bundle_minimum_perturbation(const cb_bundle *b, const double *low, const double *high, const int *points,
                                         cb_bundle **out);
/* Computes h(r) at the shape r, for a bundle that cb_bundle_minimum_perturbation created. Returns CB_ERROR_ARGUMENT for
 * another bundle, and CB_STEP_DOMAIN if r is outside the window of the bundle. */
cb_status cb_bundle_frame(const cb_bundle *b, const double *r, double *h);
