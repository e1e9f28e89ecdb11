/* Principal bundles over shape space: connection, curvature, cost metric.
 *
 *   xi = g^-1 g' = -A(r) r';   B_ij = d_i A_j - d_j A_i - [A_i, A_j];   cost ds^2 = M_ij dr_i dr_j
 * A is dim(G) x n. A kind of bundle is one file src/bundle/models/NAME.c with one const object cb_bundle_NAME. Its
 * author writes A and M once on jets (second-order truncated Taylor numbers in the shape): dA and dM are exact; or
 * gives values, and derivatives in closed form.
 * For authors of bundles (cb_bundle_class; `curvebody/plugin.h`) and for users. Units are the model's. The caller frees
 * what is created. Evaluation allocates nothing that stays, from any thread; a failure names bundle and shape.
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
  /* Fills group, n, names of shape variables, self. */
  cb_status (*init)(cb_bundle *b, const void *params);
  void (*destroy)(cb_bundle *b);
  /* A[dim*n] and M[n*n] (either may be NULL) as jets in the n shape variables (n <= CB_JET_MAX), or NULL */
  cb_status (*on_jets)(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M);
  /* A[dim*n], dA[n][dim*n] (NULL), M[n*n] (NULL), dM[n][n*n] (NULL). NULL: from on_jets. CB_STEP_SINGULAR at singular
   * shapes (locked inertia not invertible), CB_STEP_DOMAIN outside. */
  cb_status (*connection)(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM);
  /* ddA[n][n][dim*n], ddM[n][n][n*n] (either may be NULL). NULL: from on_jets, or by differences of dA and dM. */
  cb_status (*second)(const cb_bundle *b, const double *r, double *ddA, double *ddM);
  /* Where A and M come from a symmetric form on (xi, r'): G = ((P, Q), (Q^T, R)), [dim + n][dim + n], A = P^-1 Q,
   * M = R - Q^T A. P is the locked inertia, or the drag of the locked body. NULL: the model has none. */
  cb_status (*form)(const cb_bundle *b, const double *r, double *G);
  /* The body drawn at shape r and group element g, in the picture coordinates of its space. NULL: nothing to draw. */
  cb_status (*picture)(const cb_bundle *b, const double *r, const double *g, double (*x)[3]);
} cb_bundle_class;

struct cb_bundle {
  const cb_bundle_class *kind;
  const cb_group *group;
  int n; /* shape variables */
  const char *shape[CB_SHAPE_MAX];
  double period[CB_SHAPE_MAX]; /* of a shape variable that is an angle or a phase; 0: none */
  int breaks[CB_SHAPE_MAX];    /* where A or M is not smooth in a shape variable: at[i][breaks[i]], ascending, within */
  const double *at[CB_SHAPE_MAX]; /* [0, period) where there is one; borrowed. Steps along a gait end there */
  int points, lines;           /* of the picture */
  const int (*line)[2];        /* [lines]: pairs of points, borrowed from the bundle */
  void *self;
};

extern const cb_bundle_class *const *const cb_bundle_classes;

/* By its name, of a class of the registry; node: its map (`name` and its parameters; NULL: all defaults). */
cb_status cb_bundle_create(const char *name, const cb_node *node, cb_bundle **out);
/* The same from a class that need not be in the registry. */
cb_status cb_bundle_create_class(const cb_bundle_class *class_, const cb_node *node, cb_bundle **out);
void cb_bundle_free(cb_bundle *b);

cb_status cb_bundle_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM);
/* ddA[n][n][dim*n] and ddM[n][n][n*n], d_i d_j first (either may be NULL). By differences of order 8 where the kind has
 * neither a closed form nor jets: they steer Newton's method. */
cb_status cb_bundle_second(const cb_bundle *b, const double *r, double *ddA, double *ddM);

/* A cost metric in place of a bundle's own: its own (all 0), the identity, or entries; and what is added to it. */
typedef struct cb_bundle_metric {
  bool identity;
  const cb_expression *const *entry; /* [n][n], of the n shape variables in their order; an entry that is NULL is 0 */
  const cb_expression *const *add;   /* the same; NULL: nothing */
} cb_bundle_metric;
/* A bundle like b (borrowed, must outlive it) with this metric; expressions are copied, derivatives are exact. It has no
 * form. Where M is asked: CB_STEP_SINGULAR at a shape where it is not positive definite, CB_ERROR_ARGUMENT where its two
 * halves differ, CB_STEP_DOMAIN where it is not finite. */
cb_status cb_bundle_with_metric(const cb_bundle *b, const cb_bundle_metric *m, cb_bundle **out);

/* B[dim] of the pair i < j, and of all pairs B[n(n-1)/2][dim], i first. */
cb_status cb_bundle_curvature(const cb_bundle *b, const double *r, int i, int j, double *B);
cb_status cb_bundle_curvatures(const cb_bundle *b, const double *r, double *B);
/* dB[n][pairs][dim] - [A, B]: covariant derivative, from cb_bundle_second. */
cb_status cb_bundle_covariant(const cb_bundle *b, const double *r, double *DB);
/* P of G, [dim][dim]. CB_ERROR_UNSUPPORTED where the model has no form. */
cb_status cb_bundle_locked(const cb_bundle *b, const double *r, double *P);

CB_API_END
#endif
