/* Spaces that are given by the metric of one chart: quantities that follow from it by integrating geodesics.
 *
 *   q'' = -Gamma(q)(q', q');  exp_q(u) = q(1) for q'(0) = u;  distance: u with exp_q(u) = y, |u| minimal
 *
 * q: coordinates; Gamma: Christoffel symbols; u: a tangent vector; y: a second point. Such a space has only this chart.
 * "Points of the embedding" are its coordinates, and cb_exp, cb_log, cb_distance, cb_transport, cb_space_frame,
 * cb_killing_at and similar functions work in these coordinates. A function that a class does not give in closed form
 * is computed numerically.
 * For authors of spaces, and for users who want curvature.
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2, 3 and 5.
 */
#ifndef CURVEBODY_INTRINSIC_H
#define CURVEBODY_INTRINSIC_H

#include <curvebody/space.h>
#include <curvebody/jet.h>

CB_API_BEGIN

/* Functions and data of an intrinsic space in addition to its chart; any member may be NULL or 0. */
struct cb_intrinsic {
  /* Geodesic from q with velocity u, to time 1: q1, u1. NULL: integrated. */
  cb_status (*exp)(const cb_space *g, const double *q, const double *u, double *q1, double *u1);
  /* u with exp_q(u) = y, of minimal length. NULL: Newton's method on exp. */
  cb_status (*log)(const cb_space *g, const double *q, const double *y, double *u);
  /* Names of the Killing fields, ended by NULL (NULL: the fields that the class has put into g->killing), and the
   * fields X_index(q), contravariant. */
  const char *const *killing_names;
  void (*killing)(const cb_space *g, int index, const double *q, double *x);
  /* CB_ERROR_DOMAIN if q is outside the chart's domain; the message has the position and the expected range. NULL: all
   * q are inside. */
  cb_status (*inside)(const cb_space *g, const double *q);
  /* The domain is given by conditions i = 0, 1, ..: *margin is positive if q satisfies condition i and negative
   * outside, and is as smooth as the condition. Returns false if there is no condition i. Geodesics check the margin
   * between the points at which they call `inside`. NULL: they do not. */
  bool (*margin)(const cb_space *g, int i, const double *q, double *margin);
  double period[CB_Q_MAX]; /* period of a coordinate; 0: not periodic */
  double base[CB_Q_MAX];   /* a start point: cb_space_base_point */
  /* A lower bound of the injectivity radius. Within this distance there is only one shortest geodesic; 0: not known. */
  double injectivity;
  /* For a space that is a group whose identity has the coordinates 0, with base 0, and left translations that are
   * affine in the coordinates, L_a q = a + m(a) q: the matrix m(a)[dim*dim], and its part below double precision, low
   * (may be NULL). m is a homomorphism; its inverse is m(b) with b = a^-1 = -m(a)^-1 a. A Killing field that is not 0
   * at the base is a coordinate axis there, and generates the left translations along that axis, L_(s e_i). Bodies then
   * have moving origins and may be moved any distance. NULL: no such group. */
  void (*translation)(const cb_space *g, const double *a, double *m, double *low);
  /* Three plot coordinates of a point, with dplot/dq[3*dim]; NULL: the coordinates. */
  void (*plot)(const cb_space *g, const double *q, double *x, double *jacobian);
  /* The metric g_ij[dim*dim] written once, on jets in the coordinates q[dim]: for a chart without `metric`, the metric
   * and its derivatives come from here. CB_ERROR_DOMAIN outside the chart. */
  cb_status (*metric_on_jets)(const cb_space *g, const cb_jet *q, cb_jet *gij);
  void (*free)(cb_space *g); /* frees what g->data owns; the library then frees g->data itself */
};

/* For init functions: makes g an intrinsic space of this dimension with this chart. At least metric of the chart or
 * intrinsic->metric_on_jets must be given; to_point, from_point and, if NULL, distance are filled in. `intrinsic` is
 * borrowed for the space's life. */
cb_status cb_space_init_intrinsic(cb_space *g, int dim, const cb_chart *chart, const struct cb_intrinsic *intrinsic);

/* --- numerical versions in the coordinates of g->chart (also for the charts of quadric spaces, to test them) --- */
/* Computes Christoffel symbols gamma[i][j][k] = Gamma^i_jk and, if not NULL, dgamma[l][i][j][k] = d_l Gamma^i_jk. */
cb_status cb_christoffel(const cb_space *g, const double *q, double gamma[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX],
                         double dgamma[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX]);
typedef struct cb_curvature {
  double riemann[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX]; /* R^i_jkl = d_k Gamma^i_lj - d_l Gamma^i_kj + ... */
  double ricci[CB_DIM_MAX][CB_DIM_MAX], scalar;
  double sectional[CB_DIM_MAX][CB_DIM_MAX]; /* curvature of the plane of coordinates i and j */
} cb_curvature;
cb_status cb_curvature_at(const cb_space *g, const double *q, cb_curvature *out);
/* Computes the sectional curvature of the plane spanned by u and v. */
cb_status cb_sectional(const cb_space *g, const double *q, const double *u, const double *v, double *k);
/* Computes exp with (each may be NULL) u1 and the Jacobi fields: dq1/dq, dq1/du, du1/dq, du1/du, each [dim*dim]
 * row-major (ordinary partial derivatives of the coordinates). The relative error is about 1e-13. CB_ERROR_DOMAIN if
 * the geodesic leaves the chart. */
typedef struct cb_jacobi {
  double q_q[CB_DIM_MAX * CB_DIM_MAX], q_u[CB_DIM_MAX * CB_DIM_MAX], u_q[CB_DIM_MAX * CB_DIM_MAX],
      u_u[CB_DIM_MAX * CB_DIM_MAX];
} cb_jacobi;
cb_status cb_numeric_exp(const cb_space *g, const double *q, const double *u, double *q1, double *u1, cb_jacobi *j);
/* Transports w in parallel along the geodesic with initial velocity u, to time 1. */
cb_status cb_numeric_transport(const cb_space *g, const double *q, const double *u, const double *w, double *w1);
/* Computes u with exp_q(u) = y by Newton's method on exp. The iteration starts from u if `guess` is true, otherwise
 * from a guess by the chart; the result is the shortest among periodic images and starts. CB_ERROR_DOMAIN if it is not
 * unique, has a conjugate point on the way, or is not found. */
cb_status cb_numeric_log(const cb_space *g, const double *q, const double *y, bool guess, double *u, cb_jacobi *j);
/* Computes the distance with derivatives as in cb_chart.distance, from the Jacobi fields of the shortest geodesic. */
cb_status cb_numeric_distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                              double *hessian);

CB_API_END
#endif
