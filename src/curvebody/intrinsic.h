/* Intrinsic spaces, which are given only by the metric of one chart. Other quantities are computed by integrating
 * geodesics,
 *   q'' = -Gamma(q)(q', q').
 * q are the coordinates, and Gamma the Christoffel symbols. exp_q(u) is the point at time 1 of the geodesic that starts
 * at q with the velocity u. The distance of q and y is the smallest |u| with exp_q(u) = y.
 *
 * The functions of curvebody/space.h, such as cb_exp, cb_log, cb_distance, cb_transport, cb_space_frame and
 * cb_killing_at, work in the coordinates of this chart wherever they have points or vectors of the embedding. The
 * library computes quantities numerically if a class gives no closed form for them.
 * For authors of spaces, and for users who want curvature.
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2, 3 and 5.
 */
#ifndef CURVEBODY_INTRINSIC_H
#define CURVEBODY_INTRINSIC_H

#include <curvebody/space.h>
#include <curvebody/jet.h>

CB_API_BEGIN

/* Functions and data of an intrinsic space besides its chart. Any member may be NULL or 0. */
struct cb_intrinsic {
  /* Computes the point q1 and the velocity u1 at time 1 of the geodesic from q with velocity u. NULL: the library
   * integrates the geodesic. */
  cb_status (*exp)(const cb_space *g, const double *q, const double *u, double *q1, double *u1);
  /* Computes the shortest u with exp_q(u) = y. NULL: the library uses Newton's method. */
  cb_status (*log)(const cb_space *g, const double *q, const double *y, double *u);
  /* The names of the Killing fields, ended by NULL, and a function that computes the contravariant components x[dim] of
   * the field `index` at q. killing_names NULL: the fields are those that the class has written to g->killing. */
  const char *const *killing_names;
  void (*killing)(const cb_space *g, int index, const double *q, double *x);
  /* Returns CB_OK if q is inside the domain of the chart; otherwise CB_ERROR_DOMAIN, with q and the allowed range in
   * the error text. NULL: all q are inside. */
  cb_status (*inside)(const cb_space *g, const double *q);
  /* Sets *margin to a smooth function of q that is positive if q satisfies condition i = 0, 1, .. of the domain, and
   * negative otherwise. Returns false if there is no condition i. Geodesics are integrated in steps and call `inside`
   * at their ends; with `margin` they also find where they leave the domain between the ends of a step. If the member
   * is NULL, they find this only at the ends. */
  bool (*margin)(const cb_space *g, int i, const double *q, double *margin);
  double period[CB_Q_MAX]; /* period of a coordinate; 0: not periodic */
  double base[CB_Q_MAX];   /* the point that cb_space_base_point returns */
  /* A lower bound of the injectivity radius. Within this distance there is only one shortest geodesic; 0: not known. */
  double injectivity;
  /* For a space that is a group with a left-invariant metric: with this function bodies have moving origins, and may be
   * at any distance from the base. The identity must have the coordinates 0, base must be 0, and left translation by
   * the element a must be the affine map q -> a + m(a) q of coordinates. The function computes the matrix m(a) in
   * m[dim*dim], and in low[dim*dim] (may be NULL) the part of m(a) below double precision. Each Killing field that is
   * not 0 at the base must be the unit vector e_i of a coordinate there, and its flow for the time s must be the left
   * translation by s e_i. NULL: the space is no such group. */
  void (*translation)(const cb_space *g, const double *a, double *m, double *low);
  /* Computes the plot coordinates x[3] of the point q, and jacobian = dx/dq[3][dim]. NULL: the plot coordinates are
   * q. */
  void (*plot)(const cb_space *g, const double *q, double *x, double *jacobian);
  /* Computes the metric gij[dim*dim] as jets in the coordinates q[dim] (curvebody/jet.h). It is used if the chart has
   * no function `metric`. CB_ERROR_DOMAIN outside the chart. */
  cb_status (*metric_on_jets)(const cb_space *g, const cb_jet *q, cb_jet *gij);
  void (*free)(cb_space *g); /* frees memory to which g->data refers; the library then frees g->data itself */
};

/* For functions cb_space_class.init: makes g an intrinsic space of this dimension. The chart is copied; its members
 * to_point and from_point are filled in, and so is `distance` if it is NULL. Either chart->metric or
 * intrinsic->metric_on_jets must not be NULL. `intrinsic` is borrowed and must outlive the space. */
cb_status cb_space_init_intrinsic(cb_space *g, int dim, const cb_chart *chart, const struct cb_intrinsic *intrinsic);

/* --- numerical functions in the coordinates of g->chart, also for other spaces in which `chart` is set --- */
/* Computes the Christoffel symbols gamma[i][j][k] = Gamma^i_jk and, unless dgamma is NULL, their derivatives
 * dgamma[l][i][j][k] = d_l Gamma^i_jk, where d_l is the derivative by q_l. */
cb_status cb_christoffel(const cb_space *g, const double *q, double gamma[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX],
                         double dgamma[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX]);
typedef struct cb_curvature {
  /* [i][j][k][l] = R^i_jkl = d_k Gamma^i_lj - d_l Gamma^i_kj + sum_m (Gamma^i_km Gamma^m_lj - Gamma^i_lm Gamma^m_kj) */
  double riemann[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX];
  double ricci[CB_DIM_MAX][CB_DIM_MAX], scalar;
  double sectional[CB_DIM_MAX][CB_DIM_MAX]; /* [i][j]: sectional curvature of the plane of the coordinates i and j */
} cb_curvature;
cb_status cb_curvature_at(const cb_space *g, const double *q, cb_curvature *out);
/* Computes the sectional curvature of the plane spanned by u and v. */
cb_status cb_sectional(const cb_space *g, const double *q, const double *u, const double *v, double *k);
/* Derivatives of the end point q1 and the end velocity u1 of a geodesic by its start point q and start velocity u:
 * q_q = dq1/dq, q_u = dq1/du, u_q = du1/dq, u_u = du1/du. They are ordinary partial derivatives of the coordinates,
 * each [dim*dim] in row-major order. */
typedef struct cb_jacobi {
  double q_q[CB_DIM_MAX * CB_DIM_MAX], q_u[CB_DIM_MAX * CB_DIM_MAX], u_q[CB_DIM_MAX * CB_DIM_MAX],
      u_u[CB_DIM_MAX * CB_DIM_MAX];
} cb_jacobi;
/* Computes q1 = exp_q(u), the velocity u1 there, and its derivatives j; u1 and j may be NULL. The relative error is
 * about 1e-13. CB_ERROR_DOMAIN if the geodesic leaves the chart. */
cb_status cb_numeric_exp(const cb_space *g, const double *q, const double *u, double *q1, double *u1, cb_jacobi *j);
/* Transports the vector w at q in parallel along the geodesic with the initial velocity u, and writes the vector at
 * time 1 to w1. */
cb_status cb_numeric_transport(const cb_space *g, const double *q, const double *u, const double *w, double *w1);
/* Computes the shortest u with exp_q(u) = y by Newton's method, and the derivatives j of this geodesic (j may be NULL).
 * The iteration starts from the given u if `guess` is true, otherwise from several vectors. These follow from the
 * differences of coordinates from q to y, and from q to the images of y in periodic coordinates. CB_ERROR_DOMAIN if u
 * is not unique or is not found, or if the geodesic has a conjugate point. */
cb_status cb_numeric_log(const cb_space *g, const double *q, const double *y, bool guess, double *u, cb_jacobi *j);
/* Computes the distance with derivatives as in cb_chart.distance, from the shortest geodesic. */
cb_status cb_numeric_distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                              double *hessian);

CB_API_END
#endif
