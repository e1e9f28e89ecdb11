/* Minimum-perturbation coordinates: the body frame g h(r) in which a connection over a window of shape space is as
 * small as it can be, so that the body velocity integral of a gait comes near its holonomy.
 *
 *   A' = Ad_h^-1 A - h^-1 dh;   h minimises int sum_i L_i^2 |A'_i|^2 dr over the window of widths L_i,
 *   |.| in the basis of the algebra, among h = exp(w), w a polynomial in r with the mean 0 over the window
 * Source: Hatton & Choset, Int. J. Robotics Research 30 (2011) 988, doi:10.1177/0278364910394392; IEEE Trans. Robotics
 * 29 (2013) 615, doi:10.1109/TRO.2013.2251211.
 */
#pragma once

#include <curvebody/bundle.h>

/* A bundle like b (borrowed, must outlive it), n <= 3, in minimum-perturbation coordinates on the window low[n] <= r <=
 * high[n]; w has a degree below points[n] in each variable, at most 24, 12 or 6 for one, two or three variables. Free
 * with cb_bundle_free. A' and dA' are exact for this h: holonomies are conjugates of b's to round-off. CB_STEP_DOMAIN
 * outside the window; CB_STEP_SINGULAR where b is singular in it; CB_STEP_NO_CONVERGENCE. */
cb_status cb_bundle_minimum_perturbation(const cb_bundle *b, const double *low, const double *high, const int *points,
                                         cb_bundle **out);
/* h(r) of a bundle made so. */
cb_status cb_bundle_frame(const cb_bundle *b, const double *r, double *h);

/* --- the frame field h(r) = exp(w(r)), and what it makes of a connection --- */

enum {
  CB_FRAME_VARIABLES = 3,
  CB_FRAME_DEGREE = 24,
  CB_FRAME_TERMS = 96,
  CB_FRAME_PAIRS = CB_FRAME_VARIABLES * (CB_FRAME_VARIABLES + 1) / 2
};

/* w_a(r) = sum_k coefficient[k][a] prod_i P_degree[k][i](x_i), Legendre's polynomials,
 * x = (2 r - low - high)/(high - low) */
typedef struct cb_frame {
  cb_bundle_class kind;
  const cb_bundle *inner;
  double low[CB_FRAME_VARIABLES], high[CB_FRAME_VARIABLES];
  int terms, degree[CB_FRAME_TERMS][CB_FRAME_VARIABLES];
  double coefficient[CB_FRAME_TERMS][CB_GROUP_DIM];
} cb_frame;

/* Value, first and second derivatives (packed as cb_jet's) in r of each term. */
typedef struct cb_frame_basis {
  double value[CB_FRAME_TERMS], d[CB_FRAME_TERMS][CB_FRAME_VARIABLES], dd[CB_FRAME_TERMS][CB_FRAME_PAIRS];
} cb_frame_basis;
void cb_frame_basis_at(const cb_frame *f, const double *r, cb_frame_basis *out);

/* h, theta_i = h^-1 d_i h (columns [n][dim]) and d_j theta_i [j][i][dim] (NULL: not wanted). */
typedef struct cb_frame_value {
  double w[CB_GROUP_DIM], dw[CB_FRAME_VARIABLES][CB_GROUP_DIM], h[CB_GROUP_SIZE], back[CB_GROUP_SIZE];
  double theta[CB_FRAME_VARIABLES][CB_GROUP_DIM], dtheta[CB_FRAME_VARIABLES][CB_FRAME_VARIABLES][CB_GROUP_DIM];
} cb_frame_value;
void cb_frame_at(const cb_frame *f, const cb_frame_basis *basis, bool derivatives, cb_frame_value *out);

/* J u and d_i (J u), J = dexp_-w: h^-1 dh = J dw. u[dim], du[n][dim] (NULL: 0). */
void cb_frame_dexp(const cb_frame *f, const cb_frame_value *at, const double *u, const double (*du)[CB_GROUP_DIM],
                   double *Ju, double (*dJu)[CB_GROUP_DIM]);

/* A' = Ad_h^-1 A - theta from A[dim][n], as columns [n][dim]. */
void cb_frame_transform(const cb_frame *f, const cb_frame_value *at, const double *A,
                        double (*out)[CB_GROUP_DIM]);

/* The coefficients that make the integral of |A'|^2 over the window least. */
cb_status cb_frame_fit(cb_frame *f);
