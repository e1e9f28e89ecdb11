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
/* Computes h(r) of a bundle in minimum-perturbation coordinates. Returns CB_ERROR_ARGUMENT for other bundles, and
 * CB_STEP_DOMAIN outside the window. */
cb_status cb_bundle_frame(const cb_bundle *b, const double *r, double *h);

/* --- the frame field h(r) = exp(w(r)), and the connection in it --- */

enum {
  CB_FRAME_VARIABLES = 3,
  CB_FRAME_DEGREE = 24,
  CB_FRAME_TERMS = 96,
  CB_FRAME_PAIRS = CB_FRAME_VARIABLES * (CB_FRAME_VARIABLES + 1) / 2
};

/* w_a(r) = sum_k coefficient[k][a] prod_i P_degree[k][i](x_i), P: Legendre's polynomials, x = (2 r - low - high)/(high
 * - low) */
typedef struct cb_frame {
  cb_bundle_class class;
  const cb_bundle *inner;
  double low[CB_FRAME_VARIABLES], high[CB_FRAME_VARIABLES];
  int terms, degree[CB_FRAME_TERMS][CB_FRAME_VARIABLES];
  double coefficient[CB_FRAME_TERMS][CB_GROUP_DIM];
} cb_frame;

/* The value of each term, and its first and second derivatives in r (packed as in cb_jet). */
typedef struct cb_frame_basis {
  double value[CB_FRAME_TERMS], d[CB_FRAME_TERMS][CB_FRAME_VARIABLES], dd[CB_FRAME_TERMS][CB_FRAME_PAIRS];
} cb_frame_basis;
void cb_frame_basis_at(const cb_frame *f, const double *r, cb_frame_basis *out);

/* The frame field at a shape: w and dw[i] = d_i w; h = exp(w) and back = h^-1; theta[i] = h^-1 d_i h; dtheta[j][i] =
 * d_j theta_i, which is only set if derivatives are requested. */
typedef struct cb_frame_value {
  double w[CB_GROUP_DIM], dw[CB_FRAME_VARIABLES][CB_GROUP_DIM], h[CB_GROUP_SIZE], back[CB_GROUP_SIZE];
  double theta[CB_FRAME_VARIABLES][CB_GROUP_DIM], dtheta[CB_FRAME_VARIABLES][CB_FRAME_VARIABLES][CB_GROUP_DIM];
} cb_frame_value;
void cb_frame_at(const cb_frame *f, const cb_frame_basis *basis, bool derivatives, cb_frame_value *out);

/* Computes Ju = J u and dJu[i] = d_i (J u) (NULL: not requested) for u[dim] and its derivatives du[n][dim] (NULL: 0),
 * where J = dexp_-w, so that h^-1 dh = J dw. */
void cb_frame_dexp(const cb_frame *f, const cb_frame_value *at, const double *u, const double (*du)[CB_GROUP_DIM],
                   double *Ju, double (*dJu)[CB_GROUP_DIM]);

/* Computes A' = Ad_h^-1 A - theta from A[dim][n], as columns [n][dim]. */
void cb_frame_transform(const cb_frame *f, const cb_frame_value *at, const double *A, double (*out)[CB_GROUP_DIM]);

/* Finds the coefficients that minimise the integral of |A'|^2 over the window. */
cb_status cb_frame_fit(cb_frame *f);
