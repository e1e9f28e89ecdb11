/* Principal bundles over shape space: connection, curvature, cost metric.
 *
 *   xi = g^-1 g' = -A(r) r';   B_ij = d_i A_j - d_j A_i - [A_i, A_j];   cost ds^2 = M_ij dr_i dr_j
 * r: the n shape variables; g: element of the group G of the fibre; xi: body velocity; A: connection, dim(G) x n, with
 * the columns A_i; B: curvature; M: cost metric; d_i: derivative by r_i; [.,.]: bracket of the algebra. A class of
 * bundles is one file src/bundle/models/NAME.c with one const object cb_bundle_NAME. Its author writes A and M once on
 * jets (second-order truncated Taylor numbers in the shape), and then dA and dM are exact; or the author gives values
 * and derivatives in closed form.
 * For authors of bundles (cb_bundle_class; `curvebody/plugin.h`) and for users. Units are those of the model. The
 * caller frees every object that is created. Evaluation works from any thread and leaves nothing allocated; an error
 * names the bundle and the shape.
 * Sources: Kelly & Murray, J. Robotic Systems 12 (1995) 417, doi:10.1002/rob.4620120607; Hatton & Choset, IEEE Trans.
 * Robotics 29 (2013) 615, doi:10.1109/TRO.2013.2251211.
 */
#ifndef CURVEBODY_BUNDLE_H
#define CURVEBODY_BUNDLE_H

#include <curvebody/expression.h>
#include <curvebody/jet.h>
#include <curvebody/lie.h>
#include <curvebody/param.h>

CB_API_BEGIN

enum { CB_SHAPE_MAX = 16 };

typedef struct cb_bundle cb_bundle;

typedef struct cb_bundle_class {
  const char *name, *title, *doc;
  const cb_param *params;
  size_t params_size;
  /* Fills group, n, the names of the shape variables and self. */
  cb_status (*init)(cb_bundle *b, const void *params);
  void (*destroy)(cb_bundle *b);
  /* A[dim*n] and M[n*n] (either may be NULL) as jets in the n shape variables (n <= CB_JET_MAX). The member may
   * be NULL if the class has `connection`. */
  cb_status (*on_jets)(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M);
  /* A[dim*n], dA[n][dim*n] (may be NULL), M[n*n] (may be NULL), dM[n][n*n] (may be NULL). If the member is NULL: from
   * on_jets. CB_STEP_SINGULAR at singular shapes (locked inertia not invertible), CB_STEP_DOMAIN outside the domain. */
  cb_status (*connection)(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM);
  /* ddA[n][n][dim*n], ddM[n][n][n*n] (either may be NULL). If the member is NULL: from on_jets, or by differences of dA
   * and dM. */
  cb_status (*second)(const cb_bundle *b, const double *r, double *ddA, double *ddM);
  /* For models whose A and M come from a symmetric form on (xi, r'): G = ((P, Q), (Q^T, R)), [dim + n][dim + n],
   * A = P^-1 Q, M = R - Q^T A. P is the locked inertia, or the drag of the locked body. NULL: the model has no such
   * form. */
  cb_status (*form)(const cb_bundle *b, const double *r, double *G);
  /* Plot coordinates of the body at shape r and group element g. NULL: the bundle has no drawing. */
  cb_status (*plot)(const cb_bundle *b, const double *r, const double *g, double (*x)[3]);
} cb_bundle_class;

struct cb_bundle {
  const cb_bundle_class *class_;
  const cb_group *group;
  int n; /* shape variables */
  const char *shape[CB_SHAPE_MAX];
  double period[CB_SHAPE_MAX]; /* period of a shape variable that is an angle or a phase; 0: none */
  int breaks[CB_SHAPE_MAX];    /* number of values in at[i] */
  /* at[i][breaks[i]]: the values of shape variable i where A or M is not smooth, ascending, within [0, period) if the
   * variable has a period; borrowed. Steps along a gait end at these values */
  const double *at[CB_SHAPE_MAX];
  int points, lines;    /* numbers of points and of lines in the drawing (the function `plot`) */
  const int (*line)[2]; /* [lines]: the two points that each line joins; borrowed from the bundle */
  void *self;
};

extern const cb_bundle_class *const *const cb_bundle_classes;

/* Makes a bundle from the name of its class in the registry; node: its map (`name` and parameters; NULL: all defaults).
 */
cb_status cb_bundle_create(const char *name, const cb_node *node, cb_bundle **out);
/* As cb_bundle_create, with a class that need not be in the registry. */
cb_status cb_bundle_create_class(const cb_bundle_class *class_, const cb_node *node, cb_bundle **out);
void cb_bundle_free(cb_bundle *b);

cb_status cb_bundle_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM);
/* Computes ddA[n][n][dim*n] and ddM[n][n][n*n] with the indices of d_i d_j first (either may be NULL). They come from
 * differences of order 8 if the class has neither a closed form nor jets. */
cb_status cb_bundle_second(const cb_bundle *b, const double *r, double *ddA, double *ddM);

/* A cost metric that replaces the metric of a bundle: the bundle's own metric (all members 0), the identity, or
 * entries. `add` is added to it. */
typedef struct cb_bundle_metric {
  bool identity;
  const cb_expression *const *entry; /* [n][n], functions of the n shape variables in their order; NULL entries are 0 */
  const cb_expression *const *add;   /* [n][n] as `entry`; NULL: nothing is added */
} cb_bundle_metric;
/* Makes a copy of b (borrowed; b must outlive the copy) with this metric; expressions are copied, derivatives are
 * exact. The copy has no form. An evaluation of M fails with CB_STEP_SINGULAR at a shape where M is not positive
 * definite, with CB_ERROR_ARGUMENT where M is not symmetric, with CB_STEP_DOMAIN where M is not finite. */
cb_status cb_bundle_with_metric(const cb_bundle *b, const cb_bundle_metric *m, cb_bundle **out);

/* Compute B[dim] of the pair i, j (CB_ERROR_ARGUMENT if i = j), and B[n(n-1)/2][dim] of all pairs i < j, ordered by i
 * first. */
cb_status cb_bundle_curvature(const cb_bundle *b, const double *r, int i, int j, double *B);
cb_status cb_bundle_curvatures(const cb_bundle *b, const double *r, double *B);
/* Computes DB[n][pairs][dim], D_k B_ij = d_k B_ij - [A_k, B_ij], the covariant derivative of the curvature, from
 * cb_bundle_second. */
cb_status cb_bundle_covariant(const cb_bundle *b, const double *r, double *DB);
/* Computes the block P[dim][dim] of G (cb_bundle_class.form). CB_ERROR_UNSUPPORTED if the model has no form. */
cb_status cb_bundle_locked(const cb_bundle *b, const double *r, double *P);

CB_API_END
#endif
