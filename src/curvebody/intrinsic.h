/* Spaces known by the metric of one chart: what is derived from it by integrating geodesics.
 *
 *   q'' = -Gamma(q)(q', q');  exp_q(u) = q(1) for q'(0) = u;  distance: u with exp_q(u) = y, |u| least
 *
 * The chart of such a space is its only one, points of the "embedding" are its coordinates, and cb_exp, cb_log,
 * cb_distance, cb_transport, cb_geometry_frame, cb_killing_at and their like work in them. What a class does not give
 * in closed form is done numerically.
 * For authors of spaces, and for users who want curvature.
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2, 3 and 5.
 */
#ifndef CURVEBODY_INTRINSIC_H
#define CURVEBODY_INTRINSIC_H

#include <curvebody/geometry.h>
#include <curvebody/jet.h>

CB_API_BEGIN

/* What an intrinsic space has beside its chart; any member may be NULL or 0. */
struct cb_intrinsic {
  /* Geodesic from q with velocity u, to time 1: q1, u1. NULL: integrated. */
  cb_status (*exp)(const cb_geometry *g, const double *q, const double *u, double *q1, double *u1);
  /* u with exp_q(u) = y, the shortest. NULL: Newton's method on exp. */
  cb_status (*log)(const cb_geometry *g, const double *q, const double *y, double *u);
  /* Names of the Killing fields, ended by NULL (NULL: those that the class has put into g->killing), and the fields
   * X_index(q), contravariant. */
  const char *const *killing_names;
  void (*killing)(const cb_geometry *g, int index, const double *q, double *x);
  /* CB_ERROR_DOMAIN with position and what was expected outside the chart's domain. NULL: everywhere. */
  cb_status (*inside)(const cb_geometry *g, const double *q);
  /* By how much q is inside the domain by its condition i = 0, 1, ..: negative outside, and as smooth as the condition
   * is; false: there is no such condition. Geodesics follow it between the places where they ask `inside`. NULL: they
   * do not. */
  bool (*margin)(const cb_geometry *g, int i, const double *q, double *margin);
  double period[CB_Q_MAX]; /* of a coordinate; 0: not periodic */
  double base[CB_Q_MAX];   /* a point to start from: cb_geometry_base_point */
  /* A lower bound of the injectivity radius, within which a geodesic is the only shortest one; 0: not known. */
  double injectivity;
  /* Where the space is a group with coordinates 0 of the identity, base 0, and left translations that are affine in
   * its coordinates, L_a q = a + m(a) q: the matrix m(a)[dim*dim] and what it leaves beyond double precision, low (may
   * be NULL). m is a homomorphism, its inverse m(b) with b = a^-1 = -m(a)^-1 a. A Killing field that is not 0 at the
   * base is there a coordinate axis and generates the left translations along that axis, L_(s e_i). Bodies then have
   * moving origins and may be moved any distance. NULL: no such group. */
  void (*translation)(const cb_geometry *g, const double *a, double *m, double *low);
  /* Three numbers to draw a point by, with dpicture/dq[3*dim]; NULL: the coordinates. */
  void (*picture)(const cb_geometry *g, const double *q, double *x, double *jacobian);
  /* The metric g_ij[dim*dim] written once, on jets in the coordinates q[dim]: where the chart has no `metric`, it and
   * its derivatives come from here. CB_ERROR_DOMAIN outside the chart. */
  cb_status (*metric_on_jets)(const cb_geometry *g, const cb_jet *q, cb_jet *gij);
  void (*free)(cb_geometry *g); /* of what data owns; data itself is freed after it */
};

/* For init functions: makes g an intrinsic space of this dimension with this chart (metric at least, or
 * intrinsic->metric_on_jets; to_point, from_point and, where NULL, distance are filled in). `intrinsic` is borrowed for
 * the space's life. */
cb_status cb_geometry_init_intrinsic(cb_geometry *g, int dim, const cb_chart *chart,
                                     const struct cb_intrinsic *intrinsic);

/* --- numerically, in the coordinates of g->chart (also for the charts of quadric spaces, as their test) --- */
/* Christoffel symbols gamma[i][j][k] = Gamma^i_jk and, where not NULL, dgamma[l][i][j][k] = d_l Gamma^i_jk. */
cb_status cb_christoffel(const cb_geometry *g, const double *q, double gamma[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX],
                         double dgamma[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX]);
typedef struct cb_curvature {
  double riemann[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX]; /* R^i_jkl = d_k Gamma^i_lj - d_l Gamma^i_kj + ... */
  double ricci[CB_DIM_MAX][CB_DIM_MAX], scalar;
  double sectional[CB_DIM_MAX][CB_DIM_MAX]; /* of the planes of coordinates i, j */
} cb_curvature;
cb_status cb_curvature_at(const cb_geometry *g, const double *q, cb_curvature *out);
/* Sectional curvature of the plane of u and v. */
cb_status cb_sectional(const cb_geometry *g, const double *q, const double *u, const double *v, double *k);
/* exp with (any may be NULL) u1 and the Jacobi fields: dq1/dq, dq1/du, du1/dq, du1/du, each [dim*dim] row-major
 * (ordinary partial derivatives of the coordinates). Relative error about 1e-13. CB_ERROR_DOMAIN where the geodesic
 * leaves the chart. */
typedef struct cb_jacobi {
  double q_q[CB_DIM_MAX * CB_DIM_MAX], q_u[CB_DIM_MAX * CB_DIM_MAX], u_q[CB_DIM_MAX * CB_DIM_MAX],
      u_u[CB_DIM_MAX * CB_DIM_MAX];
} cb_jacobi;
cb_status cb_numeric_exp(const cb_geometry *g, const double *q, const double *u, double *q1, double *u1, cb_jacobi *j);
/* Transport of w along the geodesic of u, to time 1. */
cb_status cb_numeric_transport(const cb_geometry *g, const double *q, const double *u, const double *w, double *w1);
/* u with exp_q(u) = y by Newton's method on exp, from the guess in u where `guess`, else from the chart; the shortest
 * among periodic images and starts. CB_ERROR_DOMAIN where it is not unique, has a conjugate point on the way, or is not
 * found. */
cb_status cb_numeric_log(const cb_geometry *g, const double *q, const double *y, bool guess, double *u, cb_jacobi *j);
/* Distance with derivatives as in cb_chart.distance, from the Jacobi fields of the shortest geodesic. */
cb_status cb_numeric_distance(const cb_geometry *g, const double *q1, const double *q2, double *d, double *gradient,
                              double *hessian);

CB_API_END
#endif
