/* The frame field h(r) = exp(w(r)) of minimum-perturbation coordinates, and what it makes of a connection. */
#ifndef CB_BUNDLE_COORDINATES_PRIVATE_H
#define CB_BUNDLE_COORDINATES_PRIVATE_H

#include "bundle/coordinates.h"

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

#endif
